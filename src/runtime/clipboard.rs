//! The clipboard: the terminal's own by an escape sequence, which works over ssh, and that of this machine
//! where the reader sits at it.
//!
//! Invariant: nothing here waits; programs get their input from a thread of their own.

use std::io::Write;
use std::process::{Child, Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::model::figures;

/// Many terminals cut what is longer, in bytes of the sequence.
const CUT_BY_MANY: usize = 74_000;
/// More is not sent: a terminal would be busy with it for seconds.
const LONGEST: usize = 8 << 20;
/// Bytes that GNU screen passes on in one piece, its marks included.
const SCREEN_PIECE: usize = 768;

/// What stands between the program and the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Between {
    /// Nothing that is known.
    #[default]
    Nothing,
    /// tmux.
    Tmux,
    /// GNU screen.
    Screen,
}

impl Between {
    /// A sequence so that the terminal behind gets it.
    pub(crate) fn pass_on(self, plain: &str) -> String {
        match self {
            Self::Nothing => plain.to_owned(),
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

/// How the clipboard is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clipboard {
    /// What stands between.
    pub(crate) between: Between,
    /// Commands that take the text on standard input; the first one that is there is used.
    pub(crate) programs: Vec<Vec<&'static str>>,
}

/// What came of copying.
pub(crate) struct Copied {
    /// For the terminal.
    pub(crate) sequence: String,
    /// For the reader.
    pub(crate) words: String,
}

/// The commands of a machine whose reader sits at it, by what its environment says.
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
    /// Copies a text: starts the programs, and says what is to be written to the terminal.
    pub(crate) fn copy(&self, text: &str) -> Copied {
        let program = self
            .programs
            .iter()
            .find(|command| start(command, text))
            .and_then(|it| it.first());
        // It sets tmux's buffer and the terminal's clipboard, in the state in which tmux is installed.
        let has_tmux_copy =
            self.between == Between::Tmux && start(&["tmux", "load-buffer", "-w", "-"], text);
        let sequence = sequence(text, self.between, has_tmux_copy);
        let lines = figures::count(text.lines().count() as u64, "line");
        let size = figures::bytes(text.len() as u64);
        let words = match (program, sequence.len()) {
            (Some(program), _) => format!("copied {lines} ({program})"),
            (None, 0) => {
                format!("not copied: {size} are too much for a terminal; | pipes the record")
            }
            (None, length) if length > CUT_BY_MANY => {
                format!(
                    "copied {lines}, {size}: many terminals cut what is longer than 74 KB in base64"
                )
            }
            (None, _) => format!("copied {lines}"),
        };
        Copied { sequence, words }
    }
}

/// What is written to the terminal (OSC 52); empty if that would be too long. `has_tmux_copy`: tmux has the text
/// already, so only the terminal behind it is spoken to, and no second buffer comes of it.
fn sequence(text: &str, between: Between, has_tmux_copy: bool) -> String {
    let encoded = STANDARD.encode(text);
    if encoded.len() > LONGEST {
        return String::new();
    }
    let plain = format!("\u{1b}]52;c;{encoded}\u{7}");
    let passed = between.pass_on(&plain);
    // tmux takes the plain one if `set-clipboard` is on, and passes the other one on if `allow-passthrough`
    // is; if it comes twice, the terminal holds the same text.
    if between == Between::Tmux && !has_tmux_copy {
        passed + &plain
    } else {
        passed
    }
}

/// Starts a program and gives it the text. Whether it could be started.
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
    // Windows knows no UTF-8 there.
    let bytes = if *program == "clip.exe" {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    } else {
        text.as_bytes().to_vec()
    };
    std::thread::spawn(move || feed(child, &bytes));
    true
}

fn feed(mut child: Child, bytes: &[u8]) {
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all(bytes);
    }
    // Those that keep the text leave a process of their own behind.
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::{Between, Clipboard, programs, sequence};

    #[test]
    fn tmux_is_asked_to_pass_on() {
        assert_eq!(
            sequence("hi", Between::Nothing, false),
            "\u{1b}]52;c;aGk=\u{7}"
        );
        let passed = "\u{1b}Ptmux;\u{1b}\u{1b}]52;c;aGk=\u{7}\u{1b}\\";
        assert_eq!(sequence("hi", Between::Tmux, true), passed);
        assert_eq!(
            sequence("hi", Between::Tmux, false),
            format!("{passed}\u{1b}]52;c;aGk=\u{7}")
        );
    }

    #[test]
    fn screen_gets_pieces_that_it_passes_on() {
        let text = "x".repeat(2_000);
        let whole = sequence(&text, Between::Screen, false);
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
        assert_eq!(joined, sequence(&text, Between::Nothing, false));
    }

    #[test]
    fn sizes_are_honest() {
        let copied = |text: &str| Clipboard::default().copy(text);
        assert_eq!(copied("a\nb").words, "copied 2 lines");
        assert!(
            copied(&"x".repeat(80_000))
                .words
                .contains("many terminals cut")
        );
        let huge = copied(&"x".repeat(9 << 20));
        assert!(
            huge.sequence.is_empty() && huge.words.starts_with("not copied"),
            "{}",
            huge.words
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
