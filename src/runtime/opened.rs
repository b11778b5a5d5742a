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
use crate::app::text::folds::Folds;
use crate::app::text::places::{Left, Marks};
use crate::app::update::{Event, update};
use crate::app::views::Views;
use crate::ingest::{self, Session, Target};
use crate::model::body::Key;
use crate::model::edit::Feed;
use crate::model::record::Shape;
use crate::render::picture::Pictures;
use crate::session::filter::Filter;
use crate::session::news::Seen;
use crate::settings::memory::{Memory, Subject};

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
    pub fn show(
        session: Session,
        target: Target,
        config: &ViewConfig,
        kept: Kept,
        app: &mut App,
    ) -> Self {
        drop(clear(app, config));
        let target = resolved(target, &session);
        kept.give_back(&mut app.reader);
        update(
            app,
            Event::Feed(Box::new(Feed::Opened(Box::new(session.opened.clone())))),
        );
        app.reader.session.file.address = address_of(&target).filter(|_| !session.is_joined());
        app.reader.session.file.last_write = session
            .opened
            .written
            .or_else(|| written(&session.opened.path))
            .map(LastWrite::found);
        let (say, answers) = unbounded();
        let pictures = Arc::clone(&app.reader.screen.pictures);
        let pagers = std::array::from_fn(|_| session.pager());
        let workers = Workers::start(pagers, Arc::clone(&pictures), say.clone());
        let (sender, feed) = bounded(FEED_DEPTH);
        let stop = Arc::new(AtomicBool::new(false));
        let thread = session.follow(sender, config.watch, Arc::clone(&stop), Box::new(|| {}));
        Self {
            target,
            joined: Vec::new(),
            feed,
            workers,
            answers,
            _say: say,
            pictures,
            stop,
            thread,
        }
    }
}

/// What opens a session on the command line; nothing opens what came from a pipe.
fn address_of(target: &Target) -> Option<String> {
    if target.is_stdin() {
        return None;
    }
    let path = std::path::absolute(&target.path).unwrap_or_else(|_| target.path.clone());
    let session = target
        .session
        .as_ref()
        .map(|session| format!("#{session}"))
        .unwrap_or_default();
    Some(format!("{}{session}", path.display()))
}

/// What was opened, by a name that goes on meaning the same session: in a folder or database another one may become
/// the newest.
pub(crate) fn resolved(target: Target, session: &Session) -> Target {
    let is_choice = target.path.is_dir() || session.shape() == Shape::Rows;
    if target.is_stdin() || !is_choice {
        return target;
    }
    let name = session
        .name()
        .filter(|name| !name.is_empty())
        .map(str::to_owned);
    Target {
        path: session.opened.path.clone(),
        session: name,
    }
}

/// A session over which another one is shown: all of it stands as it was left.
pub(super) struct Aside {
    opened: Opened,
    reader: Reader,
    came_from: CameFrom,
    subject: Option<Subject>,
}

impl Aside {
    /// Puts a session aside.
    pub(super) fn put(
        opened: Opened,
        subject: Option<Subject>,
        config: &ViewConfig,
        app: &mut App,
    ) -> Self {
        let came_from = app.came_from;
        Self {
            opened,
            reader: clear(app, config),
            came_from,
            subject,
        }
    }

    /// Whether it is of this session.
    pub(super) fn is_of(&self, target: &Target) -> bool {
        self.opened.target == *target
    }

    /// Shows it again, on the screen as it is now.
    pub(super) fn take_up(self, config: &ViewConfig, app: &mut App) -> (Opened, Option<Subject>) {
        let Self {
            opened,
            mut reader,
            came_from,
            subject,
        } = self;
        let pictures = Arc::clone(&reader.screen.pictures);
        reader.screen = Screen {
            pictures,
            ..clear(app, config).screen
        };
        reader.text.look_changed();
        app.reader = reader;
        app.came_from = came_from;
        (opened, subject)
    }
}

/// What a session that is read anew keeps of the reader's doing.
#[derive(Default)]
pub struct Kept {
    marks: Marks,
    left: Option<Left>,
    folds: Folds,
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
            left: Left::of(&reader.text.view, &reader.session.transcript),
            folds: std::mem::take(&mut reader.text.folds).again(),
            marks: std::mem::take(&mut reader.text.places.marks),
            seen: reader.text.places.seen.take(),
            filter: reader
                .text
                .find
                .next_filter
                .take()
                .or_else(|| reader.text.find.filter.take()),
            alarms: Some(std::mem::take(&mut reader.alarms).again()),
            views: std::mem::take(&mut reader.views),
        }
    }

    /// The same where the session is read as the first of several.
    pub(crate) fn among_others(mut self) -> Self {
        let name = |key: &Key| ingest::joined::key_at(0, key);
        self.left.iter_mut().for_each(|left| left.rename(name));
        self.marks
            .values_mut()
            .for_each(|(key, _)| *key = name(key));
        // What was seen of one says nothing of several.
        Self {
            seen: None,
            folds: self.folds.renamed(name),
            ..self
        }
    }

    /// As the reader left it another time.
    pub(crate) fn remembered(memory: Memory) -> Self {
        Self {
            marks: memory.marks,
            seen: memory.seen,
            ..Self::default()
        }
    }

    /// Puts it back before any entry comes, so that the filter judges entries as they come.
    fn give_back(self, reader: &mut Reader) {
        reader.text.places.marks = self.marks;
        reader.text.places.left = self.left;
        reader.text.folds = self.folds;
        reader.text.places.seen = self.seen;
        reader.text.find.filter = self.filter.map(Filter::emptied);
        reader.alarms = self
            .alarms
            .unwrap_or_else(|| std::mem::take(&mut reader.alarms));
        reader.views = self.views;
        reader.views.clear();
    }
}

/// Nothing read yet; gives what was shown. What is one for all sessions stays as it is, and so does the division of the
/// screen.
pub fn clear(app: &mut App, config: &ViewConfig) -> Reader {
    let Screen {
        theme,
        colours,
        size,
        message,
        ..
    } = &mut app.reader.screen;
    let mut fresh = Reader::new(
        theme.clone(),
        app.reader.text.level,
        Arc::clone(colours),
        now(),
    );
    (fresh.screen.size, fresh.screen.message) = (*size, message.take());
    config.apply_to(&mut fresh);
    fresh.panes = Panes {
        focus: Pane::default(),
        is_pushed: false,
        ..app.reader.panes
    };
    fresh.text.wrapping = app.reader.text.wrapping;
    app.keys.forget_typed();
    app.mode = Mode::Normal;
    app.came_from = CameFrom::Outside;
    std::mem::replace(&mut app.reader, fresh)
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
