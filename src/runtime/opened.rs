//! The session that is shown: the thread that follows it and those that read it again.
//!
//! Invariant: dropping it ends its threads, and nothing that they say later reaches another session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use super::clock::{now, written};
use super::config::ViewConfig;
use super::workers::Workers;
use crate::app::state::State;
use crate::app::update::{Event, update};
use crate::ingest::{Session, Target};
use crate::model::edit::Feed;
use crate::render::picture::Pictures;

/// Messages that may wait before the reading thread waits for the screen.
const FEED_DEPTH: usize = 64;

/// A session that is shown.
pub struct Opened {
    /// What was opened.
    pub target: Target,
    /// What the session says.
    pub feed: Receiver<Feed>,
    /// Reads bodies again, and searches.
    pub workers: Workers,
    /// What they found.
    pub answers: Receiver<Event>,
    _say: Sender<Event>,
    pictures: Arc<Pictures>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Opened {
    /// Shows a session in place of whatever the state shows, and follows it.
    pub fn show(session: Session, target: Target, config: &ViewConfig, state: &mut State) -> Self {
        clear(state, config);
        update(state, Event::Feed(Box::new(Feed::Opened(Box::new(session.opened.clone())))));
        state.last_write = written(&session.opened.path);
        let (say, answers) = unbounded();
        let pictures = Arc::clone(&state.pictures);
        let pagers = [session.pager(), session.pager(), session.pager()];
        let workers = Workers::start(pagers, Arc::clone(&pictures), say.clone());
        let (sender, feed) = bounded(FEED_DEPTH);
        let stop = Arc::new(AtomicBool::new(false));
        let thread = session.follow(sender, config.watch, Arc::clone(&stop), Box::new(|| {}));
        Self { target, feed, workers, answers, _say: say, pictures, stop, thread }
    }
}

/// Nothing read yet. The picker stays as it is.
pub fn clear(state: &mut State, config: &ViewConfig) {
    let mut fresh = State::new(state.theme.clone(), state.level, Arc::clone(&state.colours), now());
    fresh.size = state.size;
    config.apply(&mut fresh);
    fresh.picker = std::mem::take(&mut state.picker);
    fresh.message = state.message.take();
    *state = fresh;
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        self.pictures.stop();
        // Who waits for room in the channel is let go, too.
        self.feed = crossbeam_channel::never();
        self.thread.thread().unpark();
    }
}
