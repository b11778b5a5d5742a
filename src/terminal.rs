//! The terminal: raw mode and alternate screen, restored on every way out.
//!
//! Invariant: after [`Guard`] is dropped, after a panic, and after a handled signal the terminal
//! is as it was found.

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

use crate::model::text::outlet::{Charset, Outlet, OutletForm};

/// Size of the output buffer, more than a full redraw of a large screen: a frame is written at
/// once.
const FRAME_BYTES: usize = 1 << 18;

/// Whether the terminal is taken, for the panic hook.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// What must be written before the terminal is given back.
static OWED: Mutex<String> = Mutex::new(String::new());

/// Whether the terminal is to report the mouse while it is taken.
static MOUSE: AtomicBool = AtomicBool::new(false);

/// Presses, releases, the wheel, and motion while a button is held, in SGR encoding for columns
/// beyond 223.
const MOUSE_ON: &str = "\u{1b}[?1000h\u{1b}[?1002h\u{1b}[?1006h";
const MOUSE_OFF: &str = "\u{1b}[?1006l\u{1b}[?1002l\u{1b}[?1000l";

/// Resets what another program may have left on: the alternate screen (the cursor is saved and
/// restored around it, so that it does not move), margins, all mouse modes, focus events,
/// bracketed paste, application keys and keypad, insert mode, another character set, colours.
/// Wrapping and cursor are switched on.
const RIGHT: &str = "\u{1b}7\u{1b}[?1049l\u{1b}7\u{1b}[r\u{1b}8\u{1b}[?1006l\u{1b}[?1015l\u{1b}[?1005l\u{1b}[?1003l\
    \u{1b}[?1002l\u{1b}[?1000l\u{1b}[?9l\u{1b}[?1004l\u{1b}[?2004l\u{1b}[?2026l\u{1b}[?1l\u{1b}>\u{1b}[4l\u{1b}[?7h\
    \u{f}\u{1b}(B\u{1b}[0m\u{1b}[?25h";

/// The terminal's modes as they were found.
static FOUND: Mutex<Option<Termios>> = Mutex::new(None);

/// Draws frames on standard output.
pub struct TerminalScreen {
    terminal: Terminal<CrosstermBackend<TerminalOut>>,
}

/// Output to the terminal, through the conversion to its charset.
type TerminalOut = BufWriter<Outlet<Stdout>>;

/// Gives the terminal back when dropped.
pub(crate) struct Guard;

impl Guard {
    /// Takes the terminal, and sets a panic hook: a panic of this thread gives the terminal back
    /// before the message is printed. Panics of other threads are silent: the viewer goes on
    /// without their results, and reports it if it matters.
    pub(crate) fn new() -> io::Result<Self> {
        find();
        enter()?;
        let speak = std::panic::take_hook();
        let viewer = std::thread::current().id();
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().id() == viewer {
                leave();
                speak(panic);
            }
        }));
        Ok(Self)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        leave();
    }
}

/// Remembers the terminal's modes.
pub(crate) fn find() {
    if let (Ok(mut found), Ok(modes)) = (FOUND.lock(), tcgetattr(stdout())) {
        *found = Some(modes);
    }
}

/// Restores the modes that were found.
fn restore_modes() {
    // A panic may come while the lock is held.
    let found = FOUND.try_lock().ok().and_then(|found| found.clone());
    if let Some(modes) = found {
        let _ = tcsetattr(stdout(), OptionalActions::Now, &modes);
    }
}

/// Resets the terminal after another program.
pub(crate) fn reset() {
    let mut out = io::stdout();
    let _ = out.write_all(RIGHT.as_bytes());
    let _ = out.flush();
    let _ = disable_raw_mode();
    restore_modes();
}

/// Takes the terminal: raw mode, alternate screen, no cursor.
pub fn enter() -> io::Result<()> {
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

/// Switches mouse reports on or off, now if the terminal is taken, and whenever it is taken again.
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

/// Gives the terminal back. Errors are ignored, because the terminal may be gone.
pub(crate) fn leave() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // A panic may come while the lock is held; then this is left out.
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

/// Replaces what must be written before the terminal is given back.
pub(crate) fn set_exit_sequence(what: String) {
    if let Ok(mut owed) = OWED.lock() {
        *owed = what;
    }
}

impl TerminalScreen {
    /// The screen of standard output.
    pub fn new(charset: Charset) -> io::Result<Self> {
        let out = Outlet::new(io::stdout(), charset, OutletForm::Text);
        let backend = CrosstermBackend::new(BufWriter::with_capacity(FRAME_BYTES, out));
        Ok(Self {
            terminal: Terminal::new(backend)?,
        })
    }

    /// Size in columns and lines; 80 by 24 if unknown.
    pub(crate) fn size(&self) -> (u16, u16) {
        self.terminal
            .size()
            .map_or((80, 24), |size| (size.width, size.height))
    }

    /// Draws a frame in one write: `before`, the cells that changed, and what `paint` returns.
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

    /// Width and height of a cell in pixels, if the terminal reports them.
    pub(crate) fn cell() -> Option<(u16, u16)> {
        let size = rustix::termios::tcgetwinsize(stdout()).ok()?;
        let cell = (
            size.ws_xpixel.checked_div(size.ws_col)?,
            size.ws_ypixel.checked_div(size.ws_row)?,
        );
        Some(cell).filter(|(width, height)| *width > 0 && *height > 0)
    }

    /// Makes the next frame draw every cell.
    pub(crate) fn invalidate(&mut self) -> io::Result<()> {
        // Not `clear`: it queries the cursor's position, and some terminals never reply.
        let (width, height) = self.size();
        self.terminal.resize(Rect {
            x: 0,
            y: 0,
            width,
            height,
        })
    }

    /// Writes a sequence; a reply to it arrives in the input.
    pub(crate) fn send(&mut self, sequence: &str) -> io::Result<()> {
        let backend = self.terminal.backend_mut();
        write!(backend, "{sequence}")?;
        backend.flush()
    }
}
