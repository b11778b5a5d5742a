//! The loop: receive, drain, update, arrange, draw; and the threads that do what it must not wait for.
//!
//! Invariant: the only layer that carries out effects, in `effects`. Nothing is drawn unless
//! something changed, and never more often than a frame each `FRAME`; but the frame of a key does not wait for
//! one that no key asked for.

mod answers;
mod child;
pub mod clipboard;
pub(crate) mod clock;
mod commands;
pub mod config;
mod counting;
mod editor;
mod effects;
mod gallery;
pub mod graphics;
mod handing;
mod images;
mod input;
mod lending;
pub mod look;
mod memory;
mod notify;
mod opened;
mod painting;
mod pipe;
mod session_discovery;
mod terminal_input;
mod workers;

use std::mem::ManuallyDrop;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, never, select_biased, unbounded};

use crate::analysis::ledger::counting::Counted;
use crate::analysis::wall::News;
use crate::app::dispatch::act;
use crate::app::input::action::Action;
use crate::app::mode::Mode;
use crate::app::state::App;
use crate::app::text::moving;
use crate::app::update::{Event, update};
use crate::demo::Demo;
use crate::fleet::Fleet;
use crate::ingest::{self, OpenError, Session, Target};
use crate::model::edit::{Feed, Stage};
use crate::model::found::Sighting;
use crate::model::text::outlet::Charset;
use crate::render::code::Colours;
use crate::terminal::{self, Guard, Screen};
use clock::now;
use commands::Commands;
use config::{Start, ViewConfig};
use counting::Counting;
use gallery::Gallery;
use graphics::TerminalAnswers;
use input::{Input, Signal};
use memory::Keeper;
use opened::{Aside, Kept, Opened};
use session_discovery::Discovery;

/// At least so long between two frames, so that a flood of events costs no flood of frames.
const FRAME: Duration = Duration::from_millis(8);
/// The first frame waits at most so long for the end of the session.
const FIRST_FRAME: Duration = Duration::from_millis(40);
/// So long messages are taken in one go before the screen gets its turn.
const DRAIN: Duration = Duration::from_millis(4);
/// The second hand.
const TICK: Duration = Duration::from_secs(1);

/// Shows a session, or those to choose from, until the reader quits.
pub fn view(config: &ViewConfig) -> anyhow::Result<ExitCode> {
    let demo = match &config.start {
        Start::Demo(speed) => Some(Demo::start_at(speed.0, now())?),
        Start::Session(_) | Start::Picker | Start::Wall => None,
    };
    let target = match (&config.start, &demo) {
        (Start::Session(target), _) => Some(target.clone()),
        (_, Some(demo)) => Some(Target {
            path: demo.path().to_owned(),
            session: None,
        }),
        (Start::Picker | Start::Wall | Start::Demo(_), None) => None,
    };
    let session = target
        .map(|target| first_of(target, &config.joined))
        .transpose()?;
    terminal::set_mouse(config.mouse)?;
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
                .wanted
                .clone_from(&config.entry);
            for effect in viewer.app.reader.with_text(moving::go_to_wanted) {
                viewer.carry_out(effect)?;
            }
        }
        None if config.start == Start::Wall => viewer.show_all(Action::Wall)?,
        None => viewer.show_all(Action::Sessions)?,
    }
    let end = viewer.run(config.test_panic.as_deref());
    viewer.stop();
    end
}

/// The first session that can be opened, of one and those that are read as one with it.
fn first_of(target: Target, joined: &[Target]) -> Result<(Session, Target), OpenError> {
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
    screen: Screen,
    config: ViewConfig,
    colours: Arc<Colours>,
    input: Input,
    opened: Option<Opened>,
    /// The session over which others were chosen, while one of them is shown.
    aside: Option<Aside>,
    seeking: Option<Discovery>,
    fleet: Option<Fleet>,
    counting: Option<Counting>,
    keeper: Keeper,
    gallery: Gallery,
    /// What the terminal has said of itself.
    answers: TerminalAnswers,
    events: Receiver<Event>,
    say: Sender<Event>,
    commands: Commands,
    /// A key came since the last frame.
    has_key: bool,
}

enum Next {
    Go,
    End(ExitCode),
}

impl Viewer {
    fn new(config: &ViewConfig) -> anyhow::Result<Self> {
        let colours = Arc::new(Colours::default());
        let (theme, unfit) = look::first_of_all(config).map_err(anyhow::Error::msg)?;
        let answers = TerminalAnswers::default();
        let theme = theme.with_canvas(config.terminal.graphics.canvas(&answers, Screen::cell()));
        let mut app = App::new(theme, config.defaults.level, Arc::clone(&colours), now());
        let charset = if config.terminal.ascii {
            Charset::Ascii
        } else {
            Charset::Unicode
        };
        let screen = Screen::new(charset)?;
        app.reader.screen.size = screen.size();
        config.apply(&mut app);
        let mut keeper = Keeper::new(config.state.clone(), config.environment.home.as_deref());
        keeper.recall_habits(&mut app.history, &mut app.reader);
        if let Some(complaint) = config.complaint.clone().or(unfit) {
            app.reader.screen.say(complaint);
        }
        let (say, events) = unbounded();
        workers::start_colouring(Arc::clone(&colours), say.clone());
        let input = Input::start()?;
        let config = config.clone();
        let (opened, aside, seeking, fleet, counting) = (None, None, None, None, None);
        let gallery = Gallery::default();
        Ok(Self {
            app,
            screen,
            config,
            colours,
            input,
            opened,
            aside,
            seeking,
            fleet,
            counting,
            keeper,
            gallery,
            answers,
            events,
            say,
            commands: Commands::default(),
            has_key: false,
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
            let is_urgent = self.has_key && !was_for_key;
            if is_stale && (is_urgent || drawn.elapsed() >= FRAME) {
                if test_panic == Some("ui") {
                    provoke_panic();
                }
                self.draw()?;
                if !std::mem::replace(&mut has_drawn, true) {
                    self.ask()?;
                }
                drawn = Instant::now();
                was_for_key = std::mem::take(&mut self.has_key);
                is_stale = self.app.is_unfinished();
            }
            let patience = if is_stale {
                FRAME.saturating_sub(drawn.elapsed())
            } else if let Some(ms) = self.app.rests_for() {
                Duration::from_millis(ms)
            } else if self.app.ticks() {
                TICK
            } else {
                Duration::from_secs(3_600)
            };
            let (next, changed) = self.receive(patience)?;
            if let Next::End(code) = next {
                return Ok(code);
            }
            is_stale |= changed;
        }
    }

    /// The first frame shows the end of the session if that comes quickly, and what is there if not.
    fn wait_for_content(&mut self) {
        let deadline = Instant::now() + FIRST_FRAME;
        while let Some(Ok(feed)) = self
            .opened
            .as_ref()
            .map(|opened| opened.feed.recv_deadline(deadline))
        {
            // Both come after the end of the session: of the preview, or of the whole.
            let is_settled = matches!(feed, Feed::Progress { .. } | Feed::CaughtUp);
            self.update(Event::Feed(Box::new(feed)));
            if is_settled {
                return;
            }
        }
    }

    /// Waits for something to happen, then takes all that has happened meanwhile. Says whether the
    /// screen may look different now.
    fn receive(&mut self, patience: Duration) -> anyhow::Result<(Next, bool)> {
        let Some((mut next, mut changed)) = self.take_one(patience)? else {
            return Ok((Next::Go, self.tick()));
        };
        let begun = Instant::now();
        while begun.elapsed() < DRAIN && !matches!(next, Next::End(_)) {
            let Some((further, is_news)) = self.take_one(Duration::ZERO)? else {
                break;
            };
            next = further;
            changed |= is_news;
        }
        Ok((next, changed))
    }

    /// Takes one thing that has happened; nothing if there is none for so long.
    fn take_one(&mut self, patience: Duration) -> anyhow::Result<Option<(Next, bool)>> {
        let (feed, answers) = match &self.opened {
            Some(opened) => (opened.feed.clone(), opened.answers.clone()),
            None => (never(), never()),
        };
        let (sightings, previews) = match &self.seeking {
            Some(seeking) => (seeking.sightings.clone(), seeking.previews.clone()),
            None => (never(), never()),
        };
        let news = self
            .fleet
            .as_ref()
            .map_or_else(never, |fleet| fleet.news.clone());
        let counted = self
            .counting
            .as_ref()
            .map_or_else(never, |counting| counting.answers.clone());
        let next = select_biased! {
            recv(self.input.signals) -> signal => self.signal(signal.unwrap_or(Signal::End(1)))?,
            recv(self.input.answers) -> heard => self.hear(heard.ok()),
            recv(self.input.events) -> event => match event {
                Ok(event) => self.event(event)?,
                // Nobody listens to the keys any more: the terminal is gone.
                Err(_) => Next::End(ExitCode::from(input::GONE)),
            },
            recv(self.events) -> event => event.map_or(Ok(Next::Go), |event| self.event(event))?,
            recv(answers) -> event => event.map_or(Ok(Next::Go), |event| self.event(event))?,
            recv(previews) -> event => event.map_or(Ok(Next::Go), |event| self.event(event))?,
            recv(sightings) -> sighting => self.see(sighting.ok())?,
            recv(news) -> news => return Ok(Some(self.hear_of_all(news.ok())?)),
            recv(counted) -> counted => return Ok(Some(self.hear_of_sums(counted.ok())?)),
            recv(feed) -> feed => return Ok(Some((Next::Go, self.take(feed.ok())))),
            default(patience) => return Ok(None),
        };
        Ok(Some((next, true)))
    }

    /// A second has passed, or nothing at all.
    fn tick(&mut self) -> bool {
        let changes = self.app.ticks() || self.app.rests_for().is_some();
        self.update(Event::Tick { now: now() });
        changes
    }

    /// Takes one message of the session. What is read beside the end of a session changes nothing on the screen.
    fn take(&mut self, feed: Option<Feed>) -> bool {
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
        !(is_of_whole && self.app.reader.session.is_read_beside())
    }

    fn update(&mut self, event: Event) {
        for effect in update(&mut self.app, event) {
            if let Err(error) = self.carry_out(effect) {
                self.app.reader.screen.say(error.to_string());
            }
        }
    }

    fn event(&mut self, event: Event) -> anyhow::Result<Next> {
        if matches!(event, Event::Key(_)) {
            self.has_key = true;
            // What a key means may hang on how long the one before it is past.
            self.update(Event::Tick { now: now() });
        }
        let effects = update(&mut self.app, event);
        for effect in effects {
            if let Next::End(code) = self.carry_out(effect)? {
                return Ok(Next::End(code));
            }
        }
        Ok(Next::Go)
    }

    fn signal(&mut self, signal: Signal) -> anyhow::Result<Next> {
        match signal {
            Signal::Resize => {
                self.gallery.doubt();
                self.set_canvas();
                let (columns, lines) = self.screen.size();
                self.event(Event::Resize(columns, lines))
            }
            Signal::Suspend => self.suspend().map(|()| Next::Go),
            Signal::End(code) => Ok(Next::End(ExitCode::from(code))),
        }
    }

    /// Takes what the search for sessions came by.
    fn see(&mut self, sighting: Option<Sighting>) -> anyhow::Result<Next> {
        let Some(seeking) = &mut self.seeking else {
            return Ok(Next::Go);
        };
        match seeking.event(sighting) {
            Some(event) => self.event(event),
            None => Ok(Next::Go),
        }
    }

    /// Shows a session that was not shown before, as the reader left it.
    fn begin(&mut self, session: Session, target: Target) {
        self.keeper.put_away(&mut self.app.reader);
        let is_kept = !matches!(self.config.start, Start::Demo(_));
        let subject = memory::subject_of(&session).filter(|_| is_kept);
        let memory = self.keeper.take_out(subject, &mut self.app.reader.screen);
        self.show(session, target, Kept::remembered(memory));
    }

    /// Shows a session in place of whatever is shown.
    fn show(&mut self, session: Session, target: Target, kept: Kept) {
        // The earlier one goes first.
        self.opened = None;
        self.opened = Some(Opened::show(
            session,
            target,
            &self.config,
            kept,
            &mut self.app,
        ));
        self.wait_for_content();
    }

    /// Takes news of all sessions. What is behind something else changes nothing on the screen, but for alarms.
    fn hear_of_all(&mut self, news: Option<News>) -> anyhow::Result<(Next, bool)> {
        let Some(news) = news else {
            self.fleet = None;
            return Ok((Next::Go, false));
        };
        let is_shown = self.app.mode.is_wall() || matches!(news, News::Rang(_));
        Ok((self.event(Event::News(Box::new(news)))?, is_shown))
    }

    /// Takes sums of all sessions. Behind something else they change nothing on the screen.
    fn hear_of_sums(&mut self, counted: Option<Counted>) -> anyhow::Result<(Next, bool)> {
        let Some(counted) = counted else {
            self.counting = None;
            return Ok((Next::Go, false));
        };
        let is_shown = matches!(self.app.mode, Mode::Ledger);
        Ok((self.event(Event::Counted(Box::new(counted)))?, is_shown))
    }

    /// Shows the sessions to choose from, or all of the last hours.
    fn show_all(&mut self, how: Action) -> anyhow::Result<()> {
        for effect in act(&mut self.app, how, 1) {
            self.carry_out(effect)?;
        }
        Ok(())
    }

    fn stop(&mut self) {
        let unkept = self.keeper.close(&self.app);
        (self.opened, self.aside) = (None, None);
        self.seeking = None;
        self.fleet = None;
        self.counting = None;
        self.colours.stop();
        terminal::give_back();
        memory::write_unkept(unkept);
    }
}

/// For the test that a panic restores the terminal.
#[expect(clippy::panic, reason = "the test asks for it")]
fn provoke_panic() {
    panic!("provoked");
}
