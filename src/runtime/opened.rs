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
use crate::analysis::activity::LastWrite;
use crate::app::alarms::Alarms;
use crate::app::mode::Mode;
use crate::app::panes::{Pane, Panes};
use crate::app::reader::Reader;
use crate::app::screen::Screen;
use crate::app::state::{App, CameFrom};
use crate::app::text::places::Marks;
use crate::app::update::{Event, update};
use crate::app::views::Views;
use crate::ingest::{Session, Target};
use crate::model::edit::Feed;
use crate::render::picture::Pictures;
use crate::session::filter::Filter;
use crate::session::news::Seen;
use crate::settings::memory::Memory;

/// Messages that may wait before the reading thread waits for the screen: what was appended stands behind
/// them while a long session is read.
const FEED_DEPTH: usize = 8;

/// A session that is shown.
pub struct Opened {
    /// What was opened.
    pub target: Target,
    /// What is read as one with it.
    pub joined: Vec<Target>,
    /// What the session says.
    pub feed: Receiver<Feed>,
    /// Reads bodies again, and searches.
    pub(crate) workers: Workers,
    /// What they found.
    pub answers: Receiver<Event>,
    _say: Sender<Event>,
    pictures: Arc<Pictures>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Opened {
    /// Shows a session in place of whatever the state shows, and follows it.
    pub fn show(session: Session, target: Target, config: &ViewConfig, kept: Kept, app: &mut App) -> Self {
        clear(app, config);
        kept.give_back(&mut app.reader);
        update(app, Event::Feed(Box::new(Feed::Opened(Box::new(session.opened.clone())))));
        app.reader.session.file.address = address_of(&target).filter(|_| !session.is_joined());
        app.reader.session.file.last_write =
            session.opened.written.or_else(|| written(&session.opened.path)).map(LastWrite::found);
        let (say, answers) = unbounded();
        let pictures = Arc::clone(&app.reader.screen.pictures);
        let pagers = std::array::from_fn(|_| session.pager());
        let workers = Workers::start(pagers, Arc::clone(&pictures), say.clone());
        let (sender, feed) = bounded(FEED_DEPTH);
        let stop = Arc::new(AtomicBool::new(false));
        let thread = session.follow(sender, config.watch, Arc::clone(&stop), Box::new(|| {}));
        Self { target, joined: Vec::new(), feed, workers, answers, _say: say, pictures, stop, thread }
    }
}

/// What opens a session on the command line; nothing opens what came from a pipe.
fn address_of(target: &Target) -> Option<String> {
    if target.is_stdin() {
        return None;
    }
    let path = std::path::absolute(&target.path).unwrap_or_else(|_| target.path.clone());
    let session = target.session.as_ref().map(|session| format!("#{session}")).unwrap_or_default();
    Some(format!("{}{session}", path.display()))
}

/// What a session that is shown again keeps of the reader's doing.
#[derive(Default)]
pub struct Kept {
    marks: Marks,
    seen: Option<Seen>,
    filter: Option<Filter>,
    /// Alarms; none of its own, so those of the settings.
    alarms: Option<Alarms>,
    views: Views,
}

impl Kept {
    /// Takes it out of the state.
    pub fn of(reader: &mut Reader) -> Self {
        Self {
            marks: std::mem::take(&mut reader.text.places.marks),
            seen: reader.text.places.seen.take(),
            filter: reader.text.find.next_filter.take().or_else(|| reader.text.find.filter.take()),
            alarms: Some(std::mem::take(&mut reader.alarms).again()),
            views: std::mem::take(&mut reader.views),
        }
    }

    /// As the reader left it another time.
    pub(crate) fn remembered(memory: Memory) -> Self {
        Self { marks: memory.marks, seen: memory.seen, ..Self::default() }
    }

    /// Puts it back before any entry comes, so that the filter judges entries as they come.
    fn give_back(self, reader: &mut Reader) {
        reader.text.places.marks = self.marks;
        reader.text.places.seen = self.seen;
        reader.text.find.filter = self.filter.map(Filter::emptied);
        reader.alarms = self.alarms.unwrap_or_else(|| std::mem::take(&mut reader.alarms));
        reader.views = self.views;
        reader.views.clear();
    }
}

/// Nothing read yet. What is one for all sessions stays as it is, and so does the division of the screen.
pub fn clear(app: &mut App, config: &ViewConfig) {
    let Screen { theme, colours, size, message, .. } = &mut app.reader.screen;
    let mut fresh = Reader::new(theme.clone(), app.reader.text.level, Arc::clone(colours), now());
    (fresh.screen.size, fresh.screen.message) = (*size, message.take());
    config.apply_to(&mut fresh);
    fresh.panes = Panes { focus: Pane::default(), is_pushed: false, ..app.reader.panes };
    fresh.text.wrapping = app.reader.text.wrapping;
    app.reader = fresh;
    app.keys.forget_typed();
    app.mode = Mode::Normal;
    app.came_from = CameFrom::Outside;
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
