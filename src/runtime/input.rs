//! Keys and signals, each on a thread of its own.
//!
//! The key thread waits for the terminal and for a pipe that wakes it, so that it can be kept from
//! the keys while an editor has the terminal, and be told that answers are about to come.
//!
//! The library that reads keys is told of what comes only once, and forgets it where it learns of a resize in
//! the same moment. So it is shown each resize at once, and what it leaves unread is read here.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};
use crossterm::event::{
    self, Event as Raw, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent,
    MouseEventKind,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::Signals;

use super::answers::{Answers, Heard};
use super::replies::Replies;
use crate::app::keys::{Code, Press};
use crate::app::mouse::{Gesture, Pointer};
use crate::app::update::Event;

/// Two presses within this time are a double one.
const DOUBLE: Duration = Duration::from_millis(400);
/// Answers to questions come within this time, or are late.
const ANSWERS: Duration = Duration::from_millis(400);
/// What has begun to come goes on within this time.
const PIECES: Duration = Duration::from_millis(50);

/// The exit code when the terminal is gone, as after its signal.
pub const GONE: u8 = 129;

/// What signals ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The screen has another size.
    Resize,
    /// Stop until `fg`.
    Suspend,
    /// End with this exit code.
    End(u8),
}

/// The two threads.
pub struct Input {
    /// Keys and pastes.
    pub events: Receiver<Event>,
    /// Signals.
    pub signals: Receiver<Signal>,
    /// What the terminal answered.
    pub answers: Receiver<Heard>,
    is_paused: Arc<AtomicBool>,
    is_asking: Arc<AtomicBool>,
    wake: File,
    paused: Receiver<()>,
}

impl Input {
    /// Starts listening.
    pub fn start(replies: Replies) -> io::Result<Self> {
        let (events_out, events) = unbounded();
        let (signals_out, signals) = unbounded();
        let (answers_out, answers) = unbounded();
        let (paused_out, paused) = unbounded();
        let (reader, writer) = io::pipe()?;
        let is_paused = Arc::new(AtomicBool::new(false));
        let is_asking = Arc::new(AtomicBool::new(false));
        let keys = Keys {
            terminal: terminal()?,
            wake: File::from(OwnedFd::from(reader)),
            is_paused: Arc::clone(&is_paused),
            is_asking: Arc::clone(&is_asking),
            events: events_out,
            answers: answers_out,
            paused: paused_out,
            replies,
            clicked: None,
            has_read_past: false,
        };
        std::thread::Builder::new().name("keys".to_owned()).spawn(move || keys.run())?;
        let mut caught = Signals::new([SIGWINCH, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP])?;
        let is_away = Arc::clone(&is_paused);
        let wake = File::from(OwnedFd::from(writer));
        let mut resized = wake.try_clone()?;
        let listen = move || {
            for signal in caught.forever() {
                if is_away.load(Ordering::SeqCst) && is_for_others(signal) {
                    continue;
                }
                if signal == SIGWINCH {
                    let _ = resized.write_all(b"w");
                }
                if signals_out.send(meaning(signal)).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("signals".to_owned()).spawn(listen)?;
        Ok(Self { events, signals, answers, is_paused, is_asking, wake, paused })
    }

    /// Makes ready for the answers to questions that end with one that every terminal answers. They must
    /// be asked right after it.
    pub fn expect_answers(&mut self) {
        self.is_asking.store(true, Ordering::SeqCst);
        if self.wake.write_all(b"a").is_ok() {
            let _ = self.paused.recv_timeout(Duration::from_millis(100));
        }
    }

    /// Keeps away from the keys; returns when the thread has let go of them.
    pub fn pause(&mut self) {
        self.is_paused.store(true, Ordering::SeqCst);
        if self.wake.write_all(b"p").is_ok() {
            let _ = self.paused.recv_timeout(Duration::from_secs(1));
        }
    }

    /// Listens to the keys again.
    pub fn resume(&mut self) {
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
/// business, and if it is stopped, so are we, that the shell gets the terminal.
fn is_for_others(signal: i32) -> bool {
    if signal == SIGTSTP {
        stop_process();
    }
    matches!(signal, SIGINT | SIGQUIT | SIGTSTP)
}

fn meaning(signal: i32) -> Signal {
    match signal {
        SIGWINCH => Signal::Resize,
        SIGTSTP => Signal::Suspend,
        other => Signal::End(u8::try_from(128 + other).unwrap_or(1)),
    }
}

/// Stops the process as Ctrl-Z would have done; returns when it goes on.
pub fn stop_process() {
    let _ = signal_hook::low_level::emulate_default_handler(SIGTSTP);
}

struct Keys {
    terminal: OwnedFd,
    wake: File,
    is_paused: Arc<AtomicBool>,
    is_asking: Arc<AtomicBool>,
    events: Sender<Event>,
    answers: Sender<Heard>,
    paused: Sender<()>,
    replies: Replies,
    /// When and where a button was pressed last.
    clicked: Option<(Instant, (u16, u16))>,
    /// Whether bytes were read here of which the library may still believe that they are there: it would
    /// wait for them.
    has_read_past: bool,
}

impl Keys {
    fn run(mut self) {
        loop {
            let ready = wait(self.terminal.as_fd(), self.wake.as_fd());
            let goes_on = match ready {
                Ready::Woken => self.wait_while_paused(),
                Ready::Keys => self.pass_on(),
                Ready::Nothing => true,
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
        let mut is_told = || self.wake.read(&mut byte).is_ok_and(|count| count > 0);
        if !is_told() {
            return false;
        }
        if self.is_asking.swap(false, Ordering::SeqCst) {
            let _ = self.paused.send(());
            return self.listen();
        }
        if !self.is_paused.load(Ordering::SeqCst) {
            return self.has_read_past || self.pass_on();
        }
        let _ = self.paused.send(());
        while self.is_paused.load(Ordering::SeqCst) {
            if !is_told() {
                return false;
            }
        }
        true
    }

    /// Reads what comes until all answers are there, or until they are late; keys are passed on. `false`
    /// when nobody listens.
    fn listen(&mut self) -> bool {
        let deadline = Instant::now() + ANSWERS;
        let mut answers = Answers::default();
        let mut bytes = [0; 1_024];
        let mut is_over = false;
        self.has_read_past = true;
        while !is_over || answers.is_open() {
            let left = deadline.saturating_duration_since(Instant::now());
            // What has begun is waited for a little, beyond the end, too; Escape alone never goes on.
            let patience = if answers.is_open() { PIECES } else { left };
            let heard = match read_within(self.terminal.as_fd(), patience, &mut bytes) {
                Some(read) => answers.take(bytes.get(..read).unwrap_or_default()),
                None if answers.is_open() => answers.give_back(),
                None => Vec::new(),
            };
            is_over |= left.is_zero() || heard.iter().any(|heard| matches!(heard, Heard::Attributes(_)));
            if !self.send(heard) {
                return false;
            }
        }
        true
    }

    /// Reads all keys that are there. `false` when nobody listens or the terminal is gone.
    fn pass_on(&mut self) -> bool {
        while event::poll(self.replies.patience()).unwrap_or(false) {
            let Ok(raw) = event::read() else { return false };
            self.has_read_past &= matches!(raw, Raw::Resize(..));
            let heard = match raw {
                Raw::Key(key) if key.kind != KeyEventKind::Release => {
                    press(key).map_or_else(Vec::new, |press| self.replies.take(press))
                }
                Raw::Paste(text) => {
                    if self.events.send(Event::Paste(text)).is_err() {
                        return false;
                    }
                    Vec::new()
                }
                Raw::Mouse(mouse) => {
                    if let Some(pointer) = self.pointer(mouse)
                        && self.events.send(Event::Mouse(pointer)).is_err()
                    {
                        return false;
                    }
                    Vec::new()
                }
                _ => Vec::new(),
            };
            if !self.send(heard) {
                return false;
            }
        }
        let typed = self.replies.give_back();
        self.send(typed) && self.read_rest()
    }

    /// Reads what the library has left unread. `false` when nobody listens.
    fn read_rest(&mut self) -> bool {
        let mut answers = Answers::default();
        let mut bytes = [0; 1_024];
        loop {
            let patience = if answers.is_open() { PIECES } else { Duration::ZERO };
            let Some(read) = read_within(self.terminal.as_fd(), patience, &mut bytes) else {
                return self.send(answers.give_back());
            };
            self.has_read_past = true;
            let heard = answers.take(bytes.get(..read).unwrap_or_default());
            if !self.send(heard) {
                return false;
            }
        }
    }

    fn pointer(&mut self, mouse: MouseEvent) -> Option<Pointer> {
        let at = (mouse.column, mouse.row);
        let gesture = match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                let now = Instant::now();
                let is_second = |(when, place): (Instant, (u16, u16))| place == at && now - when < DOUBLE;
                let is_double = self.clicked.take().is_some_and(is_second);
                // A third press begins anew.
                self.clicked = (!is_double).then_some((now, at));
                if is_double { Gesture::Double } else { Gesture::Press }
            }
            MouseEventKind::Drag(MouseButton::Left) => Gesture::Drag,
            MouseEventKind::Up(MouseButton::Left) => Gesture::Release,
            MouseEventKind::ScrollUp => Gesture::WheelUp,
            MouseEventKind::ScrollDown => Gesture::WheelDown,
            _ => return None,
        };
        Some(Pointer { gesture, column: mouse.column, line: mouse.row })
    }

    fn send(&self, heard: Vec<Heard>) -> bool {
        heard.into_iter().all(|heard| match heard {
            Heard::Key(press) => self.events.send(Event::Key(press)).is_ok(),
            Heard::Background(is_light) => self.events.send(Event::Background(is_light)).is_ok(),
            answer => self.answers.send(answer).is_ok(),
        })
    }
}

/// Reads what comes within a time; nothing if nothing does.
fn read_within(terminal: BorrowedFd<'_>, patience: Duration, bytes: &mut [u8]) -> Option<usize> {
    let patience = Timespec::try_from(patience).ok()?;
    let mut fds = [PollFd::new(&terminal, PollFlags::IN)];
    let [ready] = match poll(&mut fds, Some(&patience)) {
        Ok(_) => &fds,
        Err(_) => return None,
    };
    if !ready.revents().contains(PollFlags::IN) {
        return None;
    }
    rustix::io::read(terminal, bytes).ok().filter(|count| *count > 0)
}

/// What there is for the key thread.
enum Ready {
    /// The program wants something of it.
    Woken,
    /// The terminal has something to read.
    Keys,
    /// The terminal is gone. Mostly a signal says so, too, but not to a program that it does not control.
    Gone,
    Nothing,
}

fn wait(terminal: BorrowedFd<'_>, wake: BorrowedFd<'_>) -> Ready {
    let mut fds = [PollFd::new(&terminal, PollFlags::IN), PollFd::new(&wake, PollFlags::IN)];
    if poll(&mut fds, None).is_err() {
        return Ready::Nothing;
    }
    let [keys, woken] = &fds;
    // A pipe whose other end is gone is readable, too: the thread reads its end and ends.
    if !woken.revents().is_empty() {
        Ready::Woken
    } else if keys.revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
        Ready::Gone
    } else if keys.revents().contains(PollFlags::IN) {
        Ready::Keys
    } else {
        Ready::Nothing
    }
}

fn press(key: KeyEvent) -> Option<Press> {
    let code = match key.code {
        KeyCode::Char(c) => Code::Char(c),
        KeyCode::Enter => Code::Enter,
        KeyCode::Esc => Code::Esc,
        KeyCode::Tab => Code::Tab,
        KeyCode::BackTab => Code::BackTab,
        KeyCode::Backspace => Code::Backspace,
        KeyCode::Delete => Code::Delete,
        KeyCode::Up => Code::Up,
        KeyCode::Down => Code::Down,
        KeyCode::Left => Code::Left,
        KeyCode::Right => Code::Right,
        KeyCode::Home => Code::Home,
        KeyCode::End => Code::End,
        KeyCode::PageUp => Code::PageUp,
        KeyCode::PageDown => Code::PageDown,
        KeyCode::F(number) => Code::F(number),
        _ => return None,
    };
    let held = |modifier| key.modifiers.contains(modifier);
    Some(Press { code, ctrl: held(KeyModifiers::CONTROL), alt: held(KeyModifiers::ALT) })
}
