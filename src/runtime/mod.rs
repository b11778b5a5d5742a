//! The loop: receive, drain, update, arrange, draw; and the threads that do what it must not wait for.
//!
//! Invariant: the only place that carries out [`Effect`]s. Nothing is drawn unless something changed,
//! and never more often than a frame each `FRAME`.

pub mod config;
mod editor;
mod images;
mod input;
mod look;
mod replies;
mod workers;

use std::mem::ManuallyDrop;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, UNIX_EPOCH};

use crossbeam_channel::{Receiver, Sender, bounded, select_biased, unbounded};

use crate::app::arrange::arrange;
use crate::app::filter::Filter;
use crate::app::state::{Effect, State};
use crate::app::update::{Event, update};
use crate::demo::Demo;
use crate::ingest::{self, Session, Target};
use crate::model::edit::{Feed, Stage};
use crate::model::moment::Moment;
use crate::render::code::Colours;
use crate::terminal::{self, Guard, Screen};
use crate::ui;
use config::ViewConfig;
use input::{Input, Signal};
use replies::Replies;
use workers::Workers;

/// At least so long between two frames, so that a flood of events costs no flood of frames.
const FRAME: Duration = Duration::from_millis(8);
/// The first frame waits at most so long for the end of the session.
const FIRST_FRAME: Duration = Duration::from_millis(40);
/// Messages that may wait before the reading thread waits for the screen.
const FEED_DEPTH: usize = 64;
/// Messages taken in one go before the screen gets its turn.
const DRAIN: usize = 256;
/// The second hand.
const TICK: Duration = Duration::from_secs(1);

/// Shows a session until the reader quits.
pub fn view(config: &ViewConfig) -> anyhow::Result<ExitCode> {
    let demo = config.demo.map(|speed| Demo::start_at(speed.0, now())).transpose()?;
    let target = match &demo {
        Some(demo) => Target { path: demo.path().to_owned(), session: None },
        None => config.target.clone(),
    };
    let session = ingest::open(&target)?;
    let _guard = Guard::new()?;
    // A long session is freed faster by the end of the process than piece by piece.
    let mut viewer = ManuallyDrop::new(Viewer::new(config, session, target)?);
    let end = viewer.run(config.test_panic.as_deref());
    viewer.stop();
    end
}

struct Viewer {
    state: State,
    screen: Screen,
    target: Target,
    config: ViewConfig,
    colours: Arc<Colours>,
    input: Input,
    feed: Receiver<Feed>,
    follower: Option<Follower>,
    workers: Workers,
    events: Receiver<Event>,
    say: Sender<Event>,
}

struct Follower {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

enum Next {
    Go,
    End(ExitCode),
}

impl Viewer {
    fn new(config: &ViewConfig, session: Session, target: Target) -> anyhow::Result<Self> {
        let colours = Arc::new(Colours::default());
        let theme = look::first(config).map_err(anyhow::Error::msg)?;
        let mut state = State::new(theme, config.level, Arc::clone(&colours), now());
        let screen = Screen::new()?;
        state.size = screen.size();
        apply(config, &mut state);
        if let Some(complaint) = &config.complaint {
            state.say(complaint.clone());
        }
        let (say, events) = unbounded();
        let workers = start(&session, &state, &say);
        let (feed, follower) = follow(session, config, &mut state);
        let asks = look::asks_for_background(config);
        let input = Input::start(Replies::new(asks))?;
        let config = config.clone();
        Ok(Self {
            state,
            screen,
            target,
            config,
            colours,
            input,
            feed,
            follower: Some(follower),
            workers,
            events,
            say,
        })
    }

    fn run(&mut self, test_panic: Option<&str>) -> anyhow::Result<ExitCode> {
        self.wait_for_content();
        if test_panic == Some("worker") {
            drop(std::thread::spawn(provoke_panic));
        }
        let (mut is_stale, mut has_drawn) = (true, false);
        let mut drawn = Instant::now().checked_sub(FRAME).unwrap_or_else(Instant::now);
        loop {
            if is_stale && drawn.elapsed() >= FRAME {
                if test_panic == Some("ui") {
                    provoke_panic();
                }
                self.draw()?;
                if !std::mem::replace(&mut has_drawn, true) {
                    self.ask_for_background()?;
                }
                drawn = Instant::now();
                is_stale = false;
            }
            let patience = if is_stale {
                FRAME.saturating_sub(drawn.elapsed())
            } else if self.state.ticks() {
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
        while let Ok(feed) = self.feed.recv_deadline(deadline) {
            // Both come after the end of the session: of the preview, or of the whole.
            let is_settled = matches!(feed, Feed::Progress { .. } | Feed::CaughtUp);
            self.update(Event::Feed(Box::new(feed)));
            if is_settled {
                return;
            }
        }
    }

    /// After the first frame, so that nothing waits for an answer.
    fn ask_for_background(&mut self) -> anyhow::Result<()> {
        if look::asks_for_background(&self.config) {
            self.screen.ask(replies::QUESTION)?;
        }
        Ok(())
    }

    fn draw(&mut self) -> anyhow::Result<()> {
        self.state.now = now();
        let effects = arrange(&mut self.state);
        let state = &self.state;
        self.screen.draw(|frame| ui::view(state, frame))?;
        for effect in effects {
            self.carry_out(effect)?;
        }
        Ok(())
    }

    /// Waits for something to happen, then takes all that has happened meanwhile. Says whether the
    /// screen may look different now.
    fn receive(&mut self, patience: Duration) -> anyhow::Result<(Next, bool)> {
        let Some((mut next, mut changed)) = self.take_one(patience)? else {
            return Ok((Next::Go, self.tick()));
        };
        for _ in 0..DRAIN {
            if matches!(next, Next::End(_)) {
                break;
            }
            let Some((further, is_news)) = self.take_one(Duration::ZERO)? else { break };
            next = further;
            changed |= is_news;
        }
        Ok((next, changed))
    }

    /// Takes one thing that has happened; nothing if there is none for so long.
    fn take_one(&mut self, patience: Duration) -> anyhow::Result<Option<(Next, bool)>> {
        let next = select_biased! {
            recv(self.input.signals) -> signal => self.signal(signal.unwrap_or(Signal::End(1)))?,
            recv(self.input.events) -> event => event.map_or(Ok(Next::Go), |event| self.event(event))?,
            recv(self.events) -> event => event.map_or(Ok(Next::Go), |event| self.event(event))?,
            recv(self.feed) -> feed => return Ok(Some((Next::Go, self.take(feed.ok())))),
            default(patience) => return Ok(None),
        };
        Ok(Some((next, true)))
    }

    /// A second has passed, or nothing at all.
    fn tick(&mut self) -> bool {
        let ticks = self.state.ticks();
        self.update(Event::Tick { now: now() });
        ticks
    }

    /// Takes one message of the session. What is read behind a preview changes nothing on the screen.
    fn take(&mut self, feed: Option<Feed>) -> bool {
        let Some(feed) = feed else {
            self.feed = crossbeam_channel::never();
            return false;
        };
        if matches!(feed, Feed::Batch { .. }) && self.state.is_caught_up {
            self.update(Event::Written(now()));
        }
        let is_behind = matches!(feed, Feed::Batch { stage: Stage::Whole, .. }) && self.state.whole.is_some();
        self.update(Event::Feed(Box::new(feed)));
        !is_behind
    }

    fn update(&mut self, event: Event) {
        for effect in update(&mut self.state, event) {
            if let Err(error) = self.carry_out(effect) {
                self.state.say(error.to_string());
            }
        }
    }

    fn event(&mut self, event: Event) -> anyhow::Result<Next> {
        let effects = update(&mut self.state, event);
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
                let (columns, lines) = self.screen.size();
                self.event(Event::Resize(columns, lines))
            }
            Signal::Suspend => self.suspend().map(|()| Next::Go),
            Signal::End(code) => Ok(Next::End(ExitCode::from(code))),
        }
    }

    fn carry_out(&mut self, effect: Effect) -> anyhow::Result<Next> {
        match effect {
            Effect::Page { entries, origins } => self.workers.page(entries, origins),
            Effect::Search(job) => self.workers.search(job),
            Effect::CancelSearch => self.workers.cancel_search(),
            Effect::Filter(job) => self.workers.filter(job),
            Effect::CancelFilter => self.workers.cancel_filter(),
            Effect::Copy(text) => self.copy(&text)?,
            Effect::CopyRecords(origins) => match self.workers.bytes(&origins) {
                Some(text) => self.copy(&text)?,
                None => self.state.say("the record cannot be read any more"),
            },
            Effect::ShowRecords(origins) => self.workers.show(origins),
            Effect::Edit(origin) => self.edit(origin)?,
            Effect::View(image) => self.workers.view(image),
            Effect::Theme(name) => self.set_theme(&name),
            Effect::Reload => self.reload(),
            Effect::Redraw => self.screen.forget()?,
            Effect::Suspend => self.suspend()?,
            Effect::Quit => return Ok(Next::End(ExitCode::SUCCESS)),
        }
        Ok(Next::Go)
    }

    fn copy(&mut self, text: &str) -> anyhow::Result<()> {
        self.screen.copy(text)?;
        let lines = text.lines().count();
        self.state.say(format!("copied {lines} line{}", if lines == 1 { "" } else { "s" }));
        Ok(())
    }

    fn edit(&mut self, origin: crate::model::record::Origin) -> anyhow::Result<()> {
        let Some(path) = usize::try_from(origin.file.0).ok().and_then(|n| self.state.files.get(n)).cloned()
        else {
            self.state.say("there is no file to open");
            return Ok(());
        };
        let Some(editor) = self.config.editor.clone() else {
            self.state.say("neither $VISUAL nor $EDITOR is set");
            return Ok(());
        };
        let outcome = self.away(|| editor::run(&editor, &path, origin.line))?;
        if let Err(why) = outcome {
            self.state.say(why);
        }
        Ok(())
    }

    fn set_theme(&mut self, name: &str) {
        match look::named(name, &self.config) {
            Ok(theme) => {
                self.state.theme = theme;
                self.state.look_changed();
            }
            Err(why) => self.state.say(why),
        }
    }

    /// Gives the terminal away while something else has it.
    fn away<T>(&mut self, while_away: impl FnOnce() -> T) -> anyhow::Result<T> {
        self.input.pause();
        terminal::give_back();
        let outcome = while_away();
        terminal::take()?;
        self.input.resume();
        self.screen.forget()?;
        let (columns, lines) = self.screen.size();
        self.update(Event::Resize(columns, lines));
        Ok(outcome)
    }

    fn suspend(&mut self) -> anyhow::Result<()> {
        self.away(input::stop_process)
    }

    /// Opens the session anew; the keys of entries keep the place.
    fn reload(&mut self) {
        match ingest::open(&self.target) {
            Ok(session) => {
                self.stop_following();
                let mut state =
                    State::new(self.state.theme.clone(), self.state.level, Arc::clone(&self.colours), now());
                state.size = self.state.size;
                apply(&self.config, &mut state);
                state.marks = std::mem::take(&mut self.state.marks);
                state.searches = std::mem::take(&mut self.state.searches);
                state.filters = std::mem::take(&mut self.state.filters);
                let filter = self.state.next_filter.take().or(self.state.filter.take());
                state.filter = filter.map(Filter::emptied);
                self.state.pictures.stop();
                self.workers = start(&session, &state, &self.say);
                let (feed, follower) = follow(session, &self.config, &mut state);
                self.state = state;
                self.feed = feed;
                self.follower = Some(follower);
                self.state.say("read anew");
            }
            Err(error) => self.state.say(error.to_string()),
        }
    }

    fn stop_following(&mut self) {
        if let Some(follower) = self.follower.take() {
            follower.stop.store(true, Ordering::SeqCst);
            self.feed = crossbeam_channel::never();
            follower.thread.thread().unpark();
        }
    }

    fn stop(&mut self) {
        self.stop_following();
        self.workers.stop();
        self.state.pictures.stop();
        terminal::give_back();
    }
}

fn start(session: &Session, state: &State, say: &Sender<Event>) -> Workers {
    let shared = (Arc::clone(&state.colours), Arc::clone(&state.pictures));
    Workers::start([session.pager(), session.pager(), session.pager()], shared, say)
}

fn follow(session: Session, config: &ViewConfig, state: &mut State) -> (Receiver<Feed>, Follower) {
    update(state, Event::Feed(Box::new(Feed::Opened(Box::new(session.opened.clone())))));
    state.last_write = written(&session.opened.path);
    let (sender, receiver) = bounded(FEED_DEPTH);
    let stop = Arc::new(AtomicBool::new(false));
    let thread = session.follow(sender, config.watch, Arc::clone(&stop), Box::new(|| {}));
    (receiver, Follower { stop, thread })
}

/// What the reader set.
fn apply(config: &ViewConfig, state: &mut State) {
    state.keymap = config.keymap.clone();
    state.shows_thinking = config.thinking;
    state.wants_outline = config.outline;
    state.shows_hints = config.hints;
}

fn written(path: &Path) -> Option<Moment> {
    let modified = std::fs::metadata(path).and_then(|facts| facts.modified()).ok()?;
    let since = modified.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(Moment)
}

/// The clock. Everything below the runtime is told the time.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock for the viewer")]
pub fn now() -> Moment {
    let since = std::time::SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// For the test that a panic restores the terminal.
#[expect(clippy::panic, reason = "the test asks for it")]
fn provoke_panic() {
    panic!("provoked");
}
