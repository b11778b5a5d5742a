//! Copies to the clipboard: by an escape sequence (OSC 52), which works over ssh, and by the
//! clipboard program of this machine if the user sits at it.
//!
//! Invariant: nothing here blocks; a thread per program writes its standard input.

use std::io::Write;
use std::process::{Child, Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::model::figures;

/// Longer sequences (in bytes) are truncated by many terminals.
const OFTEN_TRUNCATED: usize = 74_000;
/// Longer texts are not sent, because they block a terminal for seconds.
const LONGEST: usize = 8 << 20;
/// Bytes that GNU screen passes through in one piece, its marks included.
const SCREEN_PIECE: usize = 768;

/// The multiplexer between the program and the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Multiplexer {
    /// None that is known.
    #[default]
    None,
    Tmux,
    Screen,
}

impl Multiplexer {
    /// Wraps a sequence so that the multiplexer passes it through to the terminal.
    pub(crate) fn wrap(self, plain: &str) -> String {
        match self {
            Self::None => plain.to_owned(),
            Self::Tmux => format!(
                "\u{1b}Ptmux;{}\u{1b}\\",
                plain.replace('\u{1b}', "\u{1b}\u{1b}")
            ),
            Self::Screen => {
                let bytes: Vec<char> = plain.chars().collect();
                let piece =
                    |part: &[char]| format!("\u{1b}P{}\u{1b}\\", part.iter().collect::<String>());
                bytes.chunks(SCREEN_PIECE - 4).map(piece).collect()
            }
        }
    }
}

/// The ways to the clipboard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clipboard {
    /// What sequences are wrapped for.
    pub(crate) multiplexer: Multiplexer,
    /// Programs that read the text from standard input; the first that can be started is used.
    pub(crate) programs: Vec<Vec<&'static str>>,
}

pub(crate) struct CopyResult {
    /// To be written to the terminal.
    pub(crate) sequence: String,
    /// The message for the user.
    pub(crate) message: String,
}

/// The clipboard programs of this machine, by its environment; none over ssh, where the user sits
/// elsewhere.
pub(crate) fn programs(is_remote: bool, has: impl Fn(&str) -> bool) -> Vec<Vec<&'static str>> {
    let mut programs: Vec<Vec<&'static str>> = Vec::new();
    if is_remote {
        return programs;
    }
    if cfg!(target_os = "macos") {
        programs.push(vec!["pbcopy"]);
    }
    if has("WAYLAND_DISPLAY") {
        programs.push(vec!["wl-copy"]);
    }
    if has("DISPLAY") {
        programs.push(vec!["xclip", "-selection", "clipboard"]);
        programs.push(vec!["xsel", "-b", "-i"]);
    }
    if has("WSL_DISTRO_NAME") {
        programs.push(vec!["clip.exe"]);
    }
    programs
}

impl Clipboard {
    /// Copies a text: starts the programs, and returns what is to be written to the terminal.
    pub(crate) fn copy(&self, text: &str) -> CopyResult {
        let program = self
            .programs
            .iter()
            .find(|command| start(command, text))
            .and_then(|it| it.first());
        // `load-buffer -w` sets tmux's buffer and the terminal's clipboard with tmux's default
        // settings.
        let has_tmux_copy = self.multiplexer == Multiplexer::Tmux
            && start(&["tmux", "load-buffer", "-w", "-"], text);
        let sequence = sequence(text, self.multiplexer, has_tmux_copy);
        let lines = figures::count(text.lines().count() as u64, "line");
        let size = figures::bytes(text.len() as u64);
        let message = match (program, sequence.len()) {
            (Some(program), _) => format!("copied {lines} ({program})"),
            (None, 0) => {
                format!("not copied: {size} are too much for a terminal; | pipes the record")
            }
            (None, length) if length > OFTEN_TRUNCATED => {
                format!(
                    "copied {lines}, {size}: many terminals cut what is longer than 74 KB in base64"
                )
            }
            (None, _) => format!("copied {lines}"),
        };
        CopyResult { sequence, message }
    }
}

/// The OSC 52 sequence; empty if it would be too long. With `has_tmux_copy` tmux has the text
/// already, so the sequence is only passed through to the terminal and creates no second buffer.
fn sequence(text: &str, multiplexer: Multiplexer, has_tmux_copy: bool) -> String {
    let encoded = STANDARD.encode(text);
    if encoded.len() > LONGEST {
        return String::new();
    }
    let plain = format!("\u{1b}]52;c;{encoded}\u{7}");
    let passed = multiplexer.wrap(&plain);
    // tmux handles the plain sequence if `set-clipboard` is on, and passes the wrapped one through
    // if `allow-passthrough` is on; if both are, the terminal gets the same text twice.
    if multiplexer == Multiplexer::Tmux && !has_tmux_copy {
        passed + &plain
    } else {
        passed
    }
}

/// Starts a program with a text as its standard input. Returns whether it started.
fn start(command: &[&str], text: &str) -> bool {
    let Some((program, arguments)) = command.split_first() else {
        return false;
    };
    let started = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(child) = started else { return false };
    // `clip.exe` reads UTF-16.
    let bytes = if *program == "clip.exe" {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    } else {
        text.as_bytes().to_vec()
    };
    std::thread::spawn(move || write_input(child, &bytes));
    true
}

fn write_input(mut child: Child, bytes: &[u8]) {
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all(bytes);
    }
    // Programs that must stay alive to serve the clipboard fork for that.
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::{Clipboard, Multiplexer, programs, sequence};

    #[test]
    fn tmux_is_asked_to_pass_on() {
        assert_eq!(
            sequence("hi", Multiplexer::None, false),
            "\u{1b}]52;c;aGk=\u{7}"
        );
        let passed = "\u{1b}Ptmux;\u{1b}\u{1b}]52;c;aGk=\u{7}\u{1b}\\";
        assert_eq!(sequence("hi", Multiplexer::Tmux, true), passed);
        assert_eq!(
            sequence("hi", Multiplexer::Tmux, false),
            format!("{passed}\u{1b}]52;c;aGk=\u{7}")
        );
    }

    #[test]
    fn screen_gets_pieces_that_it_passes_on() {
        let text = "x".repeat(2_000);
        let whole = sequence(&text, Multiplexer::Screen, false);
        let pieces: Vec<&str> = whole.split_inclusive("\u{1b}\\").collect();
        assert!(
            pieces.len() > 3 && pieces.iter().all(|piece| piece.len() <= 768),
            "{pieces:?}"
        );
        let inner = |piece: &&str| {
            piece
                .strip_prefix("\u{1b}P")
                .unwrap()
                .strip_suffix("\u{1b}\\")
                .unwrap()
                .to_owned()
        };
        let joined: String = pieces.iter().map(inner).collect();
        assert_eq!(joined, sequence(&text, Multiplexer::None, false));
    }

    #[test]
    fn sizes_are_honest() {
        let copied = |text: &str| Clipboard::default().copy(text);
        assert_eq!(copied("a\nb").message, "copied 2 lines");
        assert!(
            copied(&"x".repeat(80_000))
                .message
                .contains("many terminals cut")
        );
        let huge = copied(&"x".repeat(9 << 20));
        assert!(
            huge.sequence.is_empty() && huge.message.starts_with("not copied"),
            "{}",
            huge.message
        );
    }

    #[test]
    fn the_machine_is_that_of_the_reader_or_it_is_left_alone() {
        let has = |name: &str| name == "DISPLAY";
        assert!(programs(true, has).is_empty());
        assert_eq!(programs(false, has).last().unwrap().first(), Some(&"xsel"));
        assert!(programs(false, |name| name == "WAYLAND_DISPLAY").contains(&vec!["wl-copy"]));
    }
}
