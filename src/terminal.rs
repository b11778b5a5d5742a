//! The terminal: raw mode and alternate screen, put back on every way out.
//!
//! Invariant: after [`Guard`] is gone, or a panic, or a signal that the runtime handles, the terminal
//! is as it was.

use std::io::{self, BufWriter, Stdout, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal};
use rustix::stdio::stdout;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::model::text::outlet::{Charset, Form, Outlet};

/// A frame is written at once; this is more than a full redraw of a large screen takes.
const FRAME_BYTES: usize = 1 << 18;

/// Whether the terminal is in our hands, for the panic hook.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// What must be written before the terminal is given back.
static OWED: Mutex<String> = Mutex::new(String::new());

/// Whether the terminal is to report the mouse while it is in our hands.
static MOUSE: AtomicBool = AtomicBool::new(false);

/// Presses, releases, the wheel, and motion while a button is held; places beyond column 223, too.
const MOUSE_ON: &str = "\u{1b}[?1000h\u{1b}[?1002h\u{1b}[?1006h";
const MOUSE_OFF: &str = "\u{1b}[?1006l\u{1b}[?1002l\u{1b}[?1000l";

/// What another program may have left on: the alternate screen (between keeping and fetching the cursor's place, that
/// it stays where it is), margins, the mouse in all its ways, focus, paste, keys and keypad of applications, insertion,
/// another character set, colours; lines are wrapped, the cursor is shown.
const RIGHT: &str = "\u{1b}7\u{1b}[?1049l\u{1b}7\u{1b}[r\u{1b}8\u{1b}[?1006l\u{1b}[?1015l\u{1b}[?1005l\u{1b}[?1003l\
    \u{1b}[?1002l\u{1b}[?1000l\u{1b}[?9l\u{1b}[?1004l\u{1b}[?2004l\u{1b}[?2026l\u{1b}[?1l\u{1b}>\u{1b}[4l\u{1b}[?7h\
    \u{f}\u{1b}(B\u{1b}[0m\u{1b}[?25h";

/// The terminal's modes as they were found.
static FOUND: Mutex<Option<Termios>> = Mutex::new(None);

/// The screen.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Out>>,
}

/// What is written to the terminal goes through the gate for what it knows.
type Out = BufWriter<Outlet<Stdout>>;

/// Puts the terminal back when it goes.
pub(crate) struct Guard;

impl Guard {
    /// Takes the terminal, and makes a panic of this thread put it back before it speaks. Panics of
    /// other threads stay silent: the viewer goes on without what they did, and says so if it matters.
    pub(crate) fn new() -> io::Result<Self> {
        find();
        take()?;
        let speak = std::panic::take_hook();
        let viewer = std::thread::current().id();
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().id() == viewer {
                give_back();
                speak(panic);
            }
        }));
        Ok(Self)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        give_back();
    }
}

/// Notes how the terminal is found.
pub(crate) fn find() {
    if let (Ok(mut found), Ok(modes)) = (FOUND.lock(), tcgetattr(stdout())) {
        *found = Some(modes);
    }
}

/// Puts the modes back as they were found.
fn restore_modes() {
    // A panic may come while they are noted.
    let found = FOUND.try_lock().ok().and_then(|found| found.clone());
    if let Some(modes) = found {
        let _ = tcsetattr(stdout(), OptionalActions::Now, &modes);
    }
}

/// Puts right what another program has left the terminal like.
pub(crate) fn put_right() {
    let mut out = io::stdout();
    let _ = out.write_all(RIGHT.as_bytes());
    let _ = out.flush();
    let _ = disable_raw_mode();
    restore_modes();
}

/// Takes the terminal: raw mode, alternate screen, no cursor.
pub fn take() -> io::Result<()> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    execute!(
        io::stdout(),
        EnterAlternateScreen,
        EnableBracketedPaste,
        Hide
    )?;
    if MOUSE.load(Ordering::SeqCst) {
        report_mouse(true)
    } else {
        Ok(())
    }
}

/// Has the terminal report the mouse or not, now if it is in our hands, and whenever it comes back.
pub(crate) fn set_mouse(is_on: bool) -> io::Result<()> {
    MOUSE.store(is_on, Ordering::SeqCst);
    if TAKEN.load(Ordering::SeqCst) {
        report_mouse(is_on)
    } else {
        Ok(())
    }
}

fn report_mouse(is_on: bool) -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(if is_on { MOUSE_ON } else { MOUSE_OFF }.as_bytes())?;
    out.flush()
}

/// Gives the terminal back. Errors are ignored: the terminal may be gone.
pub(crate) fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // A panic may come while it is changed; then there is nothing to be done.
        if let Ok(owed) = OWED.try_lock() {
            let _ = io::stdout().write_all(owed.as_bytes());
        }
        if MOUSE.load(Ordering::SeqCst) {
            let _ = report_mouse(false);
        }
        let _ = execute!(
            io::stdout(),
            EndSynchronizedUpdate,
            DisableBracketedPaste,
            Show,
            LeaveAlternateScreen
        );
        let _ = disable_raw_mode();
        restore_modes();
    }
}

/// What must be written before the terminal is given back, in place of what it was so far.
pub(crate) fn owe(what: String) {
    if let Ok(mut owed) = OWED.lock() {
        *owed = what;
    }
}

impl Screen {
    /// The screen of standard output.
    pub fn new(charset: Charset) -> io::Result<Self> {
        let out = Outlet::new(io::stdout(), charset, Form::Text);
        let backend = CrosstermBackend::new(BufWriter::with_capacity(FRAME_BYTES, out));
        Ok(Self {
            terminal: Terminal::new(backend)?,
        })
    }

    /// Columns and lines.
    pub(crate) fn size(&self) -> (u16, u16) {
        self.terminal
            .size()
            .map_or((80, 24), |size| (size.width, size.height))
    }

    /// Paints a frame; only what changed is written, in one piece with what goes before it, and what the
    /// painter wants to be written after it.
    pub(crate) fn draw(
        &mut self,
        before: &str,
        paint: impl FnOnce(&mut Frame<'_>) -> String,
    ) -> io::Result<()> {
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        self.terminal.backend_mut().write_all(before.as_bytes())?;
        let mut after = String::new();
        self.terminal.draw(|frame| after = paint(frame))?;
        self.terminal.backend_mut().write_all(after.as_bytes())?;
        queue!(self.terminal.backend_mut(), EndSynchronizedUpdate)?;
        self.terminal.backend_mut().flush()
    }

    /// Pixels of a cell, across and down, if the terminal knows its size in pixels.
    pub(crate) fn cell() -> Option<(u16, u16)> {
        let size = rustix::termios::tcgetwinsize(stdout()).ok()?;
        let cell = (
            size.ws_xpixel.checked_div(size.ws_col)?,
            size.ws_ypixel.checked_div(size.ws_row)?,
        );
        Some(cell).filter(|(width, height)| *width > 0 && *height > 0)
    }

    /// Makes the next frame paint every cell.
    pub(crate) fn forget(&mut self) -> io::Result<()> {
        // Not `clear`: that asks the terminal where the cursor is, and some never answer.
        let (width, height) = self.size();
        self.terminal.resize(Rect {
            x: 0,
            y: 0,
            width,
            height,
        })
    }

    /// Writes a sequence to the terminal; if it answers, the answer comes among the keys.
    pub(crate) fn send(&mut self, sequence: &str) -> io::Result<()> {
        let backend = self.terminal.backend_mut();
        write!(backend, "{sequence}")?;
        backend.flush()
    }
}
