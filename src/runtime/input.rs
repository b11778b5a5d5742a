//! Reads keys and signals, each on its own thread.
//!
//! The input thread polls the terminal and a pipe that wakes it, so that it can be paused while an
//! editor has the terminal. Bytes are parsed by [`super::terminal_input`].

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

/// Two presses within this time are a double press.
const DOUBLE: Duration = Duration::from_millis(400);
/// Size of the read buffer.
const AT_ONCE: usize = 4_096;

/// Exit code after the loss of the terminal, as after SIGHUP.
pub(crate) const TERMINAL_LOST: u8 = 129;

/// What a signal requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The size of the screen changed.
    Resize,
    /// Stop until `fg`.
    Suspend,
    /// End with this exit code.
    End(u8),
}

/// The threads and their channels.
pub struct InputThreads {
    /// InputThread, pastes and the mouse.
    pub(crate) events: Receiver<Event>,
    pub(crate) signals: Receiver<Signal>,
    /// Replies of the terminal.
    pub(crate) answers: Receiver<InputEvent>,
    is_paused: Arc<AtomicBool>,
    wake: File,
    paused: Receiver<()>,
    /// Changes of size while another program has the terminal.
    resized: Receiver<()>,
}

impl InputThreads {
    pub(crate) fn start() -> io::Result<Self> {
        let (events_out, events) = unbounded();
        let (signals_out, signals) = unbounded();
        let (answers_out, answers) = unbounded();
        let (paused_out, paused) = unbounded();
        let (resized_out, resized) = unbounded();
        let (reader, writer) = io::pipe()?;
        let is_paused = Arc::new(AtomicBool::new(false));
        let keys = InputThread {
            terminal: TerminalReader::new()?,
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

    /// Stops reading keys; returns when the thread has stopped.
    pub(crate) fn pause(&mut self) {
        self.is_paused.store(true, Ordering::SeqCst);
        if self.wake.write_all(b"p").is_ok() {
            let _ = self.paused.recv_timeout(Duration::from_secs(1));
        }
    }

    /// Reads keys again. A SIGINT meant for the program that had the terminal may still be
    /// pending. Signals are delivered in the order of their numbers, so after the SIGWINCH raised
    /// here it has been seen and ignored.
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

/// The file keys are read from: standard input, or the terminal itself while a session is piped in.
fn terminal() -> io::Result<OwnedFd> {
    if io::stdin().is_terminal() {
        return io::stdin().as_fd().try_clone_to_owned();
    }
    Ok(File::open("/dev/tty")?.into())
}

/// Whether a signal is meant for the program that has the terminal: SIGINT is ignored meanwhile,
/// and SIGTSTP stops this program, too, so that the shell gets the terminal. SIGQUIT is meant for
/// all.
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

/// Stops the process as Ctrl-Z does; returns when it is continued.
pub(crate) fn stop_process() {
    let _ = signal_hook::low_level::emulate_default_handler(SIGTSTP);
}

/// Reads and parses what the terminal sends.
struct TerminalReader {
    terminal: OwnedFd,
    parser: InputParser,
}

enum Ready {
    /// Parsed input; empty while a sequence is incomplete.
    Input(Vec<InputEvent>),
    /// The wake pipe is readable.
    Woken,
    /// The terminal is gone. A process that is not controlled by the terminal gets no SIGHUP.
    Gone,
}

impl TerminalReader {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminal: terminal()?,
            parser: InputParser::default(),
        })
    }

    /// Polls the terminal and the wake pipe.
    fn listen(&mut self, wake: Option<BorrowedFd<'_>>) -> Ready {
        let terminal = PollFd::new(&self.terminal, PollFlags::IN);
        let woken = wake.as_ref().map(|wake| PollFd::new(wake, PollFlags::IN));
        let mut fds: Vec<PollFd<'_>> = std::iter::once(terminal).chain(woken).collect();
        let patience = self
            .parser
            .timeout()
            .and_then(|patience| Timespec::try_from(patience).ok());
        match poll(&mut fds, patience.as_ref()) {
            Err(Errno::INTR | Errno::AGAIN) => return Ready::Input(Vec::new()),
            Err(_) => return Ready::Gone,
            Ok(0) => return Ready::Input(self.parser.flush()),
            Ok(_) => {}
        }
        let mut woken = fds.iter().map(PollFd::revents);
        let keys = woken.next().unwrap_or(PollFlags::empty());
        // A pipe whose writer is gone is readable, too; reading it finds the end.
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
            Ok(count) => Ready::Input(self.parser.push(bytes.get(..count).unwrap_or_default())),
            Err(Errno::INTR | Errno::AGAIN) => Ready::Input(Vec::new()),
            Err(_) => Ready::Gone,
        }
    }
}

struct InputThread {
    terminal: TerminalReader,
    wake: File,
    is_paused: Arc<AtomicBool>,
    events: Sender<Event>,
    answers: Sender<InputEvent>,
    paused: Sender<()>,
    /// Time and cell of the last press.
    clicked: Option<(Instant, (u16, u16))>,
}

impl InputThread {
    fn run(mut self) {
        loop {
            let goes_on = match self.terminal.listen(Some(self.wake.as_fd())) {
                Ready::Woken => self.wait_while_paused(),
                Ready::Input(input) => self.send(input),
                Ready::Gone => false,
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Reads the byte that woke the thread; if a pause is requested, waits for its end. Returns
    /// `false` when the other end of the pipe is closed.
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

    /// Sends input to the loop. Returns `false` when nothing receives it.
    fn send(&mut self, input: Vec<InputEvent>) -> bool {
        input.into_iter().all(|input| match input {
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

    /// The gesture; a second press soon after the first one becomes a double press.
    fn gesture(&mut self, pointer: Pointer) -> Gesture {
        if pointer.gesture != Gesture::Press {
            return pointer.gesture;
        }
        let (now, at) = (Instant::now(), (pointer.column, pointer.line));
        let is_second = |(when, place): (Instant, (u16, u16))| place == at && now - when < DOUBLE;
        let is_double = self.clicked.take().is_some_and(is_second);
        // A third press is a first one again.
        self.clicked = (!is_double).then_some((now, at));
        if is_double {
            Gesture::Double
        } else {
            Gesture::Press
        }
    }
}
