//! The session that is shown: the thread that follows it, and the worker threads that read its
//! records again.
//!
//! Invariant: dropping it ends its threads, and no late answer of theirs reaches another session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use super::clock::now;
use super::config::ViewConfig;
use super::workers::Workers;
use crate::analysis::activity::LastWrite;
use crate::app::alarms::Alarms;
use crate::app::input::setting;
use crate::app::mode::Mode;
use crate::app::panes::{Pane, Panes};
use crate::app::reader::Reader;
use crate::app::screen::Screen;
use crate::app::screens::AppScreen;
use crate::app::state::App;
use crate::app::text::folds::Folds;
use crate::app::text::places::{KeyedPosition, Marks};
use crate::app::update::{Event, update};
use crate::app::views::Views;
use crate::ingest::{self, SessionSource, Target};
use crate::model::body::Key;
use crate::model::edit::Feed;
use crate::model::record::Shape;
use crate::render::picture::Pictures;
use crate::session::filter::Filter;
use crate::session::news::LastView;
use crate::settings::state_files::{SessionKey, SessionState};
use crate::source::fs;
use crate::source::pattern::from_root;

/// Capacity of the channel from the reading thread. It is small because messages about appended
/// records queue behind those of a long session that is still being read.
const FEED_DEPTH: usize = 8;

/// A session that is shown.
pub struct OpenSession {
    /// Its path and its name within that path.
    pub target: Target,
    /// The sessions joined to it.
    pub joined: Vec<Target>,
    /// Messages of the reading thread.
    pub feed: Receiver<Feed>,
    /// Threads that read bodies again and search.
    pub(crate) workers: Workers,
    /// Events of these threads.
    pub answers: Receiver<Event>,
    _events: Sender<Event>,
    pictures: Arc<Pictures>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl OpenSession {
    /// Replaces what the app shows by a session, and follows it.
    pub fn show(
        session: SessionSource,
        target: Target,
        config: &ViewConfig,
        state: ReaderState,
        app: &mut App,
    ) -> Self {
        drop(clear(app, config));
        let target = with_name(target, &session);
        state.restore(&mut app.reader);
        update(
            app,
            Event::Feed(Box::new(Feed::Opened(Box::new(session.opened.clone())))),
        );
        app.reader.session.file.address = argument_of(&target).filter(|_| !session.is_joined());
        app.reader.session.file.last_write = session
            .opened
            .written
            .or_else(|| fs::written(&session.opened.path))
            .map(LastWrite::from_file_time);
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
            _events: say,
            pictures,
            stop,
            thread,
        }
    }
}

/// The session as an argument of the command line; `None` for a pipe, which cannot be opened again.
fn argument_of(target: &Target) -> Option<String> {
    if target.is_stdin() {
        return None;
    }
    let path = from_root(&target.path);
    let session = target.session.clone();
    Some(Target { path, session }.address())
}

/// The target with the name of the session filled in: "the newest session" of a folder or database
/// may be another one later.
pub(crate) fn with_name(target: Target, session: &SessionSource) -> Target {
    let is_choice = fs::is_dir(&target.path) || session.shape() == Shape::Rows;
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

/// A session that another one was opened over, with the state of its screen as it was left.
pub(super) struct ParkedSession {
    opened: OpenSession,
    reader: Reader,
    /// Height of the stack of screens with this session on top.
    height: usize,
    key: Option<SessionKey>,
}

impl ParkedSession {
    /// Parks a session; the app shows an empty one afterwards.
    pub(super) fn park(
        opened: OpenSession,
        key: Option<SessionKey>,
        config: &ViewConfig,
        app: &mut App,
    ) -> Self {
        let session = app.below.iter().rposition(|at| *at == AppScreen::Session);
        Self {
            opened,
            reader: clear(app, config),
            height: session.map_or(0, |at| at + 1),
            key,
        }
    }

    pub(super) fn is_of(&self, target: &Target) -> bool {
        self.opened.target == *target
    }

    /// Its argument on the command line.
    pub(super) fn address(&self) -> Option<String> {
        self.reader.session.file.address.clone()
    }

    /// Removes sessions that were opened over this one, with the lists over them, from the stack of screens.
    pub(super) fn drop_screens_above(&self, below: &mut Vec<AppScreen>) {
        let above = below.get(self.height..).unwrap_or_default();
        if above.contains(&AppScreen::Session) {
            below.truncate(self.height);
        }
    }

    /// Shows the parked session again, laid out for the screen as it is now.
    pub(super) fn resume(
        self,
        config: &ViewConfig,
        app: &mut App,
    ) -> (OpenSession, Option<SessionKey>) {
        let Self {
            opened,
            mut reader,
            height,
            key,
        } = self;
        let pictures = Arc::clone(&reader.screen.pictures);
        reader.screen = Screen {
            pictures,
            ..clear(app, config).screen
        };
        reader.text.invalidate_rows();
        keeping_settings(app, |app| app.reader = reader);
        app.below.truncate(height.saturating_sub(1));
        (opened, key)
    }
}

/// What the user did in a session, to be restored after it is read again.
#[derive(Default)]
pub struct ReaderState {
    marks: Marks,
    position: Option<KeyedPosition>,
    folds: Folds,
    last_view: Option<LastView>,
    filter: Option<Filter>,
    /// `None` if the session had none, so that those of the settings hold.
    alarms: Option<Alarms>,
    views: Views,
}

impl ReaderState {
    /// Moves the state out of the reader.
    pub fn take_from(reader: &mut Reader) -> Self {
        Self {
            position: KeyedPosition::of(&reader.text.view, &reader.session.transcript),
            folds: std::mem::take(&mut reader.text.folds).without_runs(),
            marks: std::mem::take(&mut reader.text.places.marks),
            last_view: reader.text.places.last_visit.take(),
            filter: reader
                .text
                .find
                .next_filter
                .take()
                .or_else(|| reader.text.find.filter.take()),
            alarms: Some(std::mem::take(&mut reader.alarms).restarted()),
            views: std::mem::take(&mut reader.views),
        }
    }

    /// The same state for a session that becomes the first of several joined ones.
    pub(crate) fn into_first_of_several(mut self) -> Self {
        let name = |key: &Key| ingest::joined::key_at(0, key);
        self.position.iter_mut().for_each(|left| left.rename(name));
        self.marks
            .values_mut()
            .for_each(|(key, _)| *key = name(key));
        // The end that was seen belongs to one session; the joined one has another.
        Self {
            last_view: None,
            folds: self.folds.renamed(name),
            ..self
        }
    }

    /// What was saved when the session was left.
    pub(crate) fn from_saved(memory: SessionState) -> Self {
        Self {
            marks: memory.marks,
            last_view: memory.seen,
            ..Self::default()
        }
    }

    /// Restores the state before any entry arrives, so that the filter judges entries as they arrive.
    fn restore(self, reader: &mut Reader) {
        reader.text.places.marks = self.marks;
        reader.text.places.return_to = self.position;
        reader.text.folds = self.folds;
        reader.text.places.last_visit = self.last_view;
        reader.text.find.filter = self.filter.map(Filter::emptied);
        reader.alarms = self
            .alarms
            .unwrap_or_else(|| std::mem::take(&mut reader.alarms));
        reader.views = self.views;
        reader.views.clear();
    }
}

/// Replaces the reader by an empty one, and returns the old one. What belongs to all sessions
/// stays, and so do settings and the layout of the panes.
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
    fresh.alarms = Alarms::of(&config.watched);
    fresh.panes = Panes {
        focus: Pane::default(),
        is_pushed: false,
        ..app.reader.panes
    };
    app.keys.clear_typed();
    app.mode = Mode::Normal;
    keeping_settings(app, |app| std::mem::replace(&mut app.reader, fresh))
}

/// Does what replaces the reader, and puts the settings into the new one.
fn keeping_settings<T>(app: &mut App, replace: impl FnOnce(&mut App) -> T) -> T {
    let values = setting::values(app);
    let done = replace(app);
    for value in values {
        value.apply(app);
    }
    done
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        self.pictures.stop();
        // A thread that waits for capacity in the channel must end, too.
        self.feed = crossbeam_channel::never();
        self.thread.thread().unpark();
    }
}
