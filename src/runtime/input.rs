//! Keys and signals, each on a thread of its own.
//!
//! The key thread waits for the terminal and for a pipe that wakes it, so that it can be kept from the keys while an
//! editor has the terminal. What it reads is taken apart by [`super::hearing`].

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::Signals;
use signal_hook::low_level::raise;

use super::terminal_input::InputParser;
use super::terminal_input::event::InputEvent;
use crate::app::input::mouse::{Gesture, Pointer};
use crate::app::update::Event;

/// Two presses within this time are a double one.
const DOUBLE: Duration = Duration::from_millis(400);
/// More than a terminal gives at once.
const AT_ONCE: usize = 4_096;

/// The exit code when the terminal is gone, as after its signal.
pub(crate) const GONE: u8 = 129;

/// What signals ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The screen has another size.
    Resize,
    /// Stop until `fg`.
    Suspend,
    /// End with this exit code.
    End(u8),
}

/// The two threads.
pub struct Input {
    /// Keys, pastes and the mouse.
    pub(crate) events: Receiver<Event>,
    /// Signals.
    pub(crate) signals: Receiver<Signal>,
    /// What the terminal answered.
    pub(crate) answers: Receiver<InputEvent>,
    is_paused: Arc<AtomicBool>,
    wake: File,
    paused: Receiver<()>,
    /// A change of size that came while something else had the terminal.
    resized: Receiver<()>,
}

impl Input {
    /// Starts listening.
    pub(crate) fn start() -> io::Result<Self> {
        let (events_out, events) = unbounded();
        let (signals_out, signals) = unbounded();
        let (answers_out, answers) = unbounded();
        let (paused_out, paused) = unbounded();
        let (resized_out, resized) = unbounded();
        let (reader, writer) = io::pipe()?;
        let is_paused = Arc::new(AtomicBool::new(false));
        let keys = Keys {
            ear: Ear::new()?,
            wake: File::from(OwnedFd::from(reader)),
            is_paused: Arc::clone(&is_paused),
            events: events_out,
            answers: answers_out,
            paused: paused_out,
            clicked: None,
        };
        std::thread::Builder::new()
            .name("keys".to_owned())
            .spawn(move || keys.run())?;
        let mut caught = Signals::new([SIGWINCH, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP])?;
        let is_away = Arc::clone(&is_paused);
        let wake = File::from(OwnedFd::from(writer));
        let listen = move || {
            for signal in caught.forever() {
                let is_away = is_away.load(Ordering::SeqCst);
                if is_away && is_for_others(signal) {
                    continue;
                }
                if is_away && signal == SIGWINCH {
                    let _ = resized_out.send(());
                }
                if signals_out.send(meaning(signal)).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(listen)?;
        Ok(Self {
            events,
            signals,
            answers,
            is_paused,
            wake,
            paused,
            resized,
        })
    }

    /// Keeps away from the keys; returns when the thread has let go of them.
    pub(crate) fn pause(&mut self) {
        self.is_paused.store(true, Ordering::SeqCst);
        if self.wake.write_all(b"p").is_ok() {
            let _ = self.paused.recv_timeout(Duration::from_secs(1));
        }
    }

    /// Listens to the keys again, and to what was typed to interrupt us. An interrupt of what had the terminal may
    /// still wait to be heard: signals come in the order of their numbers, and a change of size comes after it.
    pub(crate) fn resume(&mut self) {
        if !self.is_paused.load(Ordering::SeqCst) {
            return;
        }
        self.resized.try_iter().for_each(drop);
        if raise(SIGWINCH).is_ok() {
            let _ = self.resized.recv_timeout(Duration::from_secs(1));
        }
        self.is_paused.store(false, Ordering::SeqCst);
        let _ = self.wake.write_all(b"r");
    }
}

/// Where keys come from: standard input, or the terminal itself while a session comes from a pipe.
fn terminal() -> io::Result<OwnedFd> {
    if io::stdin().is_terminal() {
        return io::stdin().as_fd().try_clone_to_owned();
    }
    Ok(File::open("/dev/tty")?.into())
}

/// While something else has the terminal, what is typed there is meant for it: an interrupt is none of our
/// business, and if it is stopped, so are we, that the shell gets the terminal. To quit is meant for all.
fn is_for_others(signal: i32) -> bool {
    if signal == SIGTSTP {
        stop_process();
    }
    matches!(signal, SIGINT | SIGTSTP)
}

fn meaning(signal: i32) -> Signal {
    match signal {
        SIGWINCH => Signal::Resize,
        SIGTSTP => Signal::Suspend,
        other => Signal::End(u8::try_from(128 + other).unwrap_or(1)),
    }
}

/// Stops the process as Ctrl-Z would have done; returns when it goes on.
pub(crate) fn stop_process() {
    let _ = signal_hook::low_level::emulate_default_handler(SIGTSTP);
}

/// Hears what the terminal sends.
struct Ear {
    terminal: OwnedFd,
    parser: InputParser,
}

/// What there is for who listens.
enum Ready {
    /// This came; nothing as long as it makes no sense.
    InputEvent(Vec<InputEvent>),
    /// The program wants something.
    Woken,
    /// The terminal is gone. Mostly a signal says so, too, but not to a program that it does not control.
    Gone,
}

impl Ear {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminal: terminal()?,
            parser: InputParser::default(),
        })
    }

    /// Waits for the terminal, and for a pipe that wakes.
    fn listen(&mut self, wake: Option<BorrowedFd<'_>>) -> Ready {
        let terminal = PollFd::new(&self.terminal, PollFlags::IN);
        let woken = wake.as_ref().map(|wake| PollFd::new(wake, PollFlags::IN));
        let mut fds: Vec<PollFd<'_>> = std::iter::once(terminal).chain(woken).collect();
        let patience = self
            .parser
            .patience()
            .and_then(|patience| Timespec::try_from(patience).ok());
        match poll(&mut fds, patience.as_ref()) {
            Err(Errno::INTR | Errno::AGAIN) => return Ready::InputEvent(Vec::new()),
            Err(_) => return Ready::Gone,
            Ok(0) => return Ready::InputEvent(self.parser.give_back()),
            Ok(_) => {}
        }
        let mut woken = fds.iter().map(PollFd::revents);
        let keys = woken.next().unwrap_or(PollFlags::empty());
        // A pipe whose other end is gone is readable, too: who reads it finds its end.
        if woken.any(|events| !events.is_empty()) {
            Ready::Woken
        } else if keys.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            Ready::Gone
        } else {
            self.read()
        }
    }

    fn read(&mut self) -> Ready {
        let mut bytes = [0; AT_ONCE];
        match rustix::io::read(&self.terminal, &mut bytes) {
            Ok(0) => Ready::Gone,
            Ok(count) => {
                Ready::InputEvent(self.parser.take(bytes.get(..count).unwrap_or_default()))
            }
            Err(Errno::INTR | Errno::AGAIN) => Ready::InputEvent(Vec::new()),
            Err(_) => Ready::Gone,
        }
    }
}

struct Keys {
    ear: Ear,
    wake: File,
    is_paused: Arc<AtomicBool>,
    events: Sender<Event>,
    answers: Sender<InputEvent>,
    paused: Sender<()>,
    /// When and where a button was pressed last.
    clicked: Option<(Instant, (u16, u16))>,
}

impl Keys {
    fn run(mut self) {
        loop {
            let goes_on = match self.ear.listen(Some(self.wake.as_fd())) {
                Ready::Woken => self.wait_while_paused(),
                Ready::InputEvent(heard) => self.send(heard),
                Ready::Gone => false,
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Takes the byte that woke us; if it asks for a pause, lets go until that is over. `false` when
    /// nobody is at the other end of the pipe any more.
    fn wait_while_paused(&mut self) -> bool {
        let mut byte = [0];
        let mut has_byte = || self.wake.read(&mut byte).is_ok_and(|count| count > 0);
        if !has_byte() {
            return false;
        }
        if !self.is_paused.load(Ordering::SeqCst) {
            return true;
        }
        let _ = self.paused.send(());
        while self.is_paused.load(Ordering::SeqCst) {
            if !has_byte() {
                return false;
            }
        }
        true
    }

    /// Passes on what came. `false` when nobody listens.
    fn send(&mut self, heard: Vec<InputEvent>) -> bool {
        heard.into_iter().all(|heard| match heard {
            InputEvent::Key(press) => self.events.send(Event::Key(press)).is_ok(),
            InputEvent::Mouse(pointer) => {
                let gesture = self.gesture(pointer);
                self.events
                    .send(Event::Mouse(Pointer { gesture, ..pointer }))
                    .is_ok()
            }
            InputEvent::Paste(text) => self.events.send(Event::Paste(text)).is_ok(),
            InputEvent::Background(is_light) => {
                self.events.send(Event::Background(is_light)).is_ok()
            }
            answer => self.answers.send(answer).is_ok(),
        })
    }

    /// The gesture, with a second press soon after the first as a double one.
    fn gesture(&mut self, pointer: Pointer) -> Gesture {
        if pointer.gesture != Gesture::Press {
            return pointer.gesture;
        }
        let (now, at) = (Instant::now(), (pointer.column, pointer.line));
        let is_second = |(when, place): (Instant, (u16, u16))| place == at && now - when < DOUBLE;
        let is_double = self.clicked.take().is_some_and(is_second);
        // A third press begins anew.
        self.clicked = (!is_double).then_some((now, at));
        if is_double {
            Gesture::Double
        } else {
            Gesture::Press
        }
    }
}
