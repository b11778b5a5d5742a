//! The event loop (receive, drain, update, arrange, draw) and the threads for work that would
//! block it.
//!
//! Invariant: effects are carried out in this layer only, in `effects`. A frame is drawn only
//! after something changed and at most once per [`FRAME`]; only the frame that answers a key press
//! comes sooner.

mod alarm_commands;
mod child;
pub mod clipboard;
pub(crate) mod clock;
pub mod config;
mod editor;
mod effects;
mod foreground;
mod frame;
pub mod graphics;
mod hand_over;
mod images;
mod input;
mod notify;
pub(crate) mod open_session;
mod pipe;
mod session_discovery;
pub(crate) mod state_store;
mod terminal_images;
mod terminal_input;
mod terminal_queries;
pub mod theme_choice;
mod usage_worker;
mod workers;

use std::mem::ManuallyDrop;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, never, select_biased, unbounded};

use crate::analysis::ledger::counting::CountedUsage;
use crate::analysis::wall::News;
use crate::app::dispatch::act;
use crate::app::input::action::Action;
use crate::app::mode::Mode;
use crate::app::state::App;
use crate::app::text::jumps;
use crate::app::update::{Event, update};
use crate::demo::Demo;
use crate::fleet::Fleet;
use crate::ingest::{self, OpenError, SessionSource, Target};
use crate::model::edit::{Feed, Stage};
use crate::model::found::Sighting;
use crate::model::memory;
use crate::model::text::outlet::Charset;
use crate::render::code::Colours;
use crate::settings::themes;
use crate::terminal::{self, Guard, TerminalScreen};
use alarm_commands::AlarmCommands;
use clock::now;
use config::{Start, ViewConfig};
use graphics::TerminalAnswers;
use input::{InputThreads, Signal};
use open_session::{OpenSession, ParkedSession, ReaderState};
use session_discovery::Discovery;
use state_store::StateStore;
use terminal_images::TerminalImages;
use usage_worker::UsageWorker;

/// Least time between two frames, so that a flood of events does not cause a flood of frames.
const FRAME: Duration = Duration::from_millis(8);
/// How long the first frame waits for the end of the session.
const FIRST_FRAME: Duration = Duration::from_millis(40);
/// How long events are drained before the screen is drawn.
const DRAIN: Duration = Duration::from_millis(4);
/// How often running times on the screen are updated.
const TICK: Duration = Duration::from_secs(1);

/// Runs the viewer until the user quits.
pub fn view(config: &ViewConfig) -> anyhow::Result<ExitCode> {
    let demo = match &config.start {
        Start::Demo(speed) => Some(Demo::start_at(speed.0, now())?),
        Start::Session(_) | Start::Picker | Start::Wall => None,
    };
    let target = match (&config.start, &demo) {
        (Start::Session(target), _) => Some(target.clone()),
        (_, Some(demo)) => Some(Target::at(demo.path())),
        (Start::Picker | Start::Wall | Start::Demo(_), None) => None,
    };
    let session = target
        .map(|target| first_of(target, &config.joined))
        .transpose()?;
    terminal::set_mouse(config.has_mouse())?;
    let _guard = Guard::new()?;
    // A long session is freed faster by the end of the process than piece by piece.
    let mut viewer = ManuallyDrop::new(Viewer::new(config)?);
    match session {
        Some((session, target)) => {
            viewer.begin(session, target.clone());
            if let (Start::Session(named), false) = (&config.start, config.joined.is_empty()) {
                viewer.join(
                    &target,
                    [named].into_iter().chain(&config.joined).cloned().collect(),
                );
            }
            viewer
                .app
                .reader
                .text
                .places
                .requested_entry
                .clone_from(&config.entry);
            for effect in viewer.app.reader.with_text(jumps::go_to_requested) {
                viewer.run_effect(effect)?;
            }
        }
        None if config.start == Start::Wall => viewer.run_action(Action::Wall)?,
        None => viewer.run_action(Action::Sessions)?,
    }
    let end = viewer.run(config.test_panic.as_deref());
    viewer.stop();
    end
}

/// Opens the first target that can be opened: the named session or, failing that, one joined to it.
fn first_of(target: Target, joined: &[Target]) -> Result<(SessionSource, Target), OpenError> {
    let error = match ingest::open(&target) {
        Ok(session) => return Ok((session, target)),
        Err(error) => error,
    };
    joined
        .iter()
        .find_map(|other| Some((ingest::open(other).ok()?, other.clone())))
        .ok_or(error)
}

struct Viewer {
    app: App,
    screen: TerminalScreen,
    config: ViewConfig,
    colours: Arc<Colours>,
    input: InputThreads,
    opened: Option<OpenSession>,
    /// The session that another one was opened over; it is shown again when that one is left.
    parked: Option<ParkedSession>,
    discovery: Option<Discovery>,
    fleet: Option<Fleet>,
    usage: Option<UsageWorker>,
    state: StateStore,
    images: TerminalImages,
    /// What the terminal replied to queries so far.
    answers: TerminalAnswers,
    events: Receiver<Event>,
    /// What is told of other machines.
    hosts: Receiver<String>,
    events_in: Sender<Event>,
    alarm_commands: AlarmCommands,
    /// Whether a key was pressed since the last frame.
    has_pressed_key: bool,
    /// Whether memory that reading took is to be given back at the next rest.
    has_read: bool,
}

enum Flow {
    Continue,
    Exit(ExitCode),
}

impl Viewer {
    fn new(config: &ViewConfig) -> anyhow::Result<Self> {
        let colours = Arc::new(Colours::default());
        let (theme, unfit) = theme_choice::first_of_all(config).map_err(anyhow::Error::msg)?;
        let answers = TerminalAnswers::default();
        let theme = theme.with_canvas(
            config
                .terminal
                .graphics
                .canvas(&answers, TerminalScreen::cell()),
        );
        let mut app = App::new(theme, config.level, Arc::clone(&colours), now());
        app.themes = themes::names().collect();
        let charset = if config.terminal.ascii {
            Charset::Ascii
        } else {
            Charset::Unicode
        };
        let screen = TerminalScreen::new(charset)?;
        app.reader.screen.size = screen.size();
        config.apply(&mut app);
        let mut state = StateStore::new(config.state.clone(), config.environment.home.as_deref());
        state.restore_history(&mut app);
        if let Some(complaint) = config.complaint.clone().or(unfit) {
            app.reader.screen.set_status(complaint);
        }
        let (events_in, events) = unbounded();
        workers::start_colouring(Arc::clone(&colours), events_in.clone());
        let input = InputThreads::start()?;
        let config = config.clone();
        let (opened, parked, discovery, fleet, usage) = (None, None, None, None, None);
        let images = TerminalImages::default();
        Ok(Self {
            app,
            screen,
            config,
            colours,
            input,
            opened,
            parked,
            discovery,
            fleet,
            usage,
            state,
            images,
            answers,
            events,
            events_in,
            hosts: ingest::remote::news(),
            alarm_commands: AlarmCommands::default(),
            has_pressed_key: false,
            has_read: false,
        })
    }

    fn run(&mut self, test_panic: Option<&str>) -> anyhow::Result<ExitCode> {
        if test_panic == Some("worker") {
            drop(std::thread::spawn(provoke_panic));
        }
        let (mut is_stale, mut has_drawn, mut was_for_key) = (true, false, false);
        let mut drawn = Instant::now()
            .checked_sub(FRAME)
            .unwrap_or_else(Instant::now);
        loop {
            let is_urgent = self.has_pressed_key && !was_for_key;
            if is_stale && (is_urgent || drawn.elapsed() >= FRAME) {
                if test_panic == Some("ui") {
                    provoke_panic();
                }
                self.draw()?;
                if !std::mem::replace(&mut has_drawn, true) {
                    self.send_queries()?;
                }
                drawn = Instant::now();
                was_for_key = std::mem::take(&mut self.has_pressed_key);
                is_stale = self.app.is_unfinished();
            }
            if !is_stale && std::mem::take(&mut self.has_read) {
                memory::release_free();
            }
            let patience = if is_stale {
                FRAME.saturating_sub(drawn.elapsed())
            } else if let Some(ms) = self.app.ms_until_follow() {
                Duration::from_millis(ms)
            } else if self.app.ticks() {
                TICK
            } else {
                Duration::from_secs(3_600)
            };
            let (next, changed) = self.receive(patience)?;
            if let Flow::Exit(code) = next {
                return Ok(code);
            }
            is_stale |= changed;
        }
    }

    /// Waits up to [`FIRST_FRAME`] for the end of the session, so that the first frame shows it;
    /// on a timeout the first frame shows what was read so far.
    fn wait_for_content(&mut self) {
        let deadline = Instant::now() + FIRST_FRAME;
        while let Some(Ok(feed)) = self
            .opened
            .as_ref()
            .map(|opened| opened.feed.recv_deadline(deadline))
        {
            // Both come after the end of the session: of the preview, or of the whole session.
            let is_settled = matches!(feed, Feed::Progress { .. } | Feed::CaughtUp);
            self.update(Event::Feed(Box::new(feed)));
            if is_settled {
                return;
            }
        }
    }

    /// Waits for an event, then drains the queue. Returns whether the screen may have changed.
    fn receive(&mut self, patience: Duration) -> anyhow::Result<(Flow, bool)> {
        let Some((mut next, mut changed)) = self.receive_one(patience)? else {
            return Ok((Flow::Continue, self.tick()));
        };
        let begun = Instant::now();
        while begun.elapsed() < DRAIN && !matches!(next, Flow::Exit(_)) {
            let Some((further, is_news)) = self.receive_one(Duration::ZERO)? else {
                break;
            };
            next = further;
            changed |= is_news;
        }
        Ok((next, changed))
    }

    /// Receives one event; `None` on a timeout.
    fn receive_one(&mut self, patience: Duration) -> anyhow::Result<Option<(Flow, bool)>> {
        let (feed, answers) = match &self.opened {
            Some(opened) => (opened.feed.clone(), opened.answers.clone()),
            None => (never(), never()),
        };
        let (sightings, previews) = match &self.discovery {
            Some(discovery) => (discovery.sightings.clone(), discovery.previews.clone()),
            None => (never(), never()),
        };
        let news = self
            .fleet
            .as_ref()
            .map_or_else(never, |fleet| fleet.news.clone());
        let counted = self
            .usage
            .as_ref()
            .map_or_else(never, |usage| usage.answers.clone());
        let next = select_biased! {
            recv(self.input.signals) -> signal => self.handle_signal(signal.unwrap_or(Signal::End(1)))?,
            recv(self.input.answers) -> heard => self.apply_reply(heard.ok()),
            recv(self.input.events) -> event => match event {
                Ok(event) => self.handle_event(event)?,
                // The input thread is gone, and with it the terminal.
                Err(_) => Flow::Exit(ExitCode::from(input::TERMINAL_LOST)),
            },
            recv(self.events) -> event => event.map_or(Ok(Flow::Continue), |event| self.handle_event(event))?,
            recv(answers) -> event => event.map_or(Ok(Flow::Continue), |event| self.handle_event(event))?,
            recv(previews) -> event => event.map_or(Ok(Flow::Continue), |event| self.handle_event(event))?,
            recv(sightings) -> sighting => self.apply_sighting(sighting.ok())?,
            recv(news) -> news => return Ok(Some(self.apply_fleet_news(news.ok())?)),
            recv(self.hosts) -> words => {
                self.set_status(words.unwrap_or_default());
                Flow::Continue
            }
            recv(counted) -> counted => return Ok(Some(self.apply_usage(counted.ok())?)),
            recv(feed) -> feed => return Ok(Some((Flow::Continue, self.apply_feed(feed.ok())))),
            default(patience) => return Ok(None),
        };
        Ok(Some((next, true)))
    }

    /// Handles a timeout of the loop.
    fn tick(&mut self) -> bool {
        let changes = self.app.ticks() || self.app.ms_until_follow().is_some();
        self.update(Event::Tick { now: now() });
        changes
    }

    /// Applies one message of the session. What is read beside the end of a session does not
    /// change the screen.
    fn apply_feed(&mut self, feed: Option<Feed>) -> bool {
        let Some(feed) = feed else {
            if let Some(opened) = &mut self.opened {
                opened.feed = never();
            }
            return false;
        };
        if matches!(feed, Feed::Batch { .. }) && self.app.reader.session.file.is_caught_up {
            self.update(Event::Written(now()));
        }
        let is_of_whole = matches!(
            feed,
            Feed::Batch {
                stage: Stage::Whole,
                ..
            }
        );
        self.update(Event::Feed(Box::new(feed)));
        !(is_of_whole && self.app.reader.session.is_replacement_pending())
    }

    fn update(&mut self, event: Event) {
        self.has_read |= matches!(&event, Event::Feed(feed) if matches!(**feed, Feed::CaughtUp));
        for effect in update(&mut self.app, event) {
            if let Err(error) = self.run_effect(effect) {
                self.set_status(error.to_string());
            }
        }
    }

    fn handle_event(&mut self, event: Event) -> anyhow::Result<Flow> {
        if matches!(event, Event::Key(_)) {
            self.has_pressed_key = true;
            // What a key means may depend on the time since the key before it.
            self.update(Event::Tick { now: now() });
        }
        let effects = update(&mut self.app, event);
        for effect in effects {
            if let Flow::Exit(code) = self.run_effect(effect)? {
                return Ok(Flow::Exit(code));
            }
        }
        Ok(Flow::Continue)
    }

    fn handle_signal(&mut self, signal: Signal) -> anyhow::Result<Flow> {
        match signal {
            Signal::Resize => {
                self.images.invalidate();
                self.set_canvas();
                let (columns, lines) = self.screen.size();
                self.handle_event(Event::Resize(columns, lines))
            }
            Signal::Suspend => self.suspend().map(|()| Flow::Continue),
            Signal::End(code) => Ok(Flow::Exit(ExitCode::from(code))),
        }
    }

    /// Applies a result of the search for sessions.
    fn apply_sighting(&mut self, sighting: Option<Sighting>) -> anyhow::Result<Flow> {
        let Some(discovery) = &mut self.discovery else {
            return Ok(Flow::Continue);
        };
        match discovery.event(sighting) {
            Some(event) => self.handle_event(event),
            None => Ok(Flow::Continue),
        }
    }

    /// Opens a session that was not shown before, with the marks that were saved for it.
    fn begin(&mut self, session: SessionSource, target: Target) {
        self.state.save_session(&mut self.app.reader);
        let is_kept = !matches!(self.config.start, Start::Demo(_));
        let key = state_store::key_of(&session).filter(|_| is_kept);
        let memory = self.state.load_session(key, &mut self.app.reader.screen);
        self.show(session, target, ReaderState::from_saved(memory));
    }

    /// Replaces the shown session.
    fn show(&mut self, session: SessionSource, target: Target, state: ReaderState) {
        // Dropped before the new one opens, so that its threads end.
        self.opened = None;
        self.opened = Some(OpenSession::show(
            session,
            target,
            &self.config,
            state,
            &mut self.app,
        ));
        self.wait_for_content();
    }

    /// Applies news of all sessions. While another screen covers the wall, only alarms change what
    /// is shown.
    fn apply_fleet_news(&mut self, news: Option<News>) -> anyhow::Result<(Flow, bool)> {
        let Some(news) = news else {
            self.fleet = None;
            return Ok((Flow::Continue, false));
        };
        let is_shown = self.app.mode.is_wall() || matches!(news, News::AlarmFired(_));
        Ok((self.handle_event(Event::News(Box::new(news)))?, is_shown))
    }

    /// Applies new usage figures, which only the ledger shows.
    fn apply_usage(&mut self, counted: Option<CountedUsage>) -> anyhow::Result<(Flow, bool)> {
        let Some(counted) = counted else {
            self.usage = None;
            return Ok((Flow::Continue, false));
        };
        let is_shown = matches!(self.app.mode, Mode::Ledger);
        Ok((
            self.handle_event(Event::Counted(Box::new(counted)))?,
            is_shown,
        ))
    }

    /// Shows a message in the status line.
    fn set_status(&mut self, sentence: impl Into<String>) {
        self.app.reader.screen.set_status(sentence);
    }

    /// Runs the action that opens the picker, the wall or the ledger.
    fn run_action(&mut self, how: Action) -> anyhow::Result<()> {
        for effect in act(&mut self.app, how) {
            self.run_effect(effect)?;
        }
        Ok(())
    }

    fn stop(&mut self) {
        let errors = self.state.close(&mut self.app);
        (self.opened, self.parked) = (None, None);
        self.discovery = None;
        self.fleet = None;
        self.usage = None;
        self.colours.stop();
        terminal::leave();
        state_store::write_errors(errors);
    }
}

/// Panics so that a test can see the terminal restored.
#[expect(clippy::panic, reason = "the test asks for it")]
fn provoke_panic() {
    panic!("provoked");
}
