//! Announces alarms: by the terminal's bell, by a notification where the terminal supports them,
//! and by the user's own command.
//!
//! Invariant: text of a session never becomes part of a command line, and only plain text of it
//! part of an escape sequence.

use std::process::{Command, Stdio};

use super::clipboard::Multiplexer;
use super::graphics::TerminalEnvironment;
use crate::app::alarms::{AlarmNotice, NotifyMeans};
use crate::model::text::harmless;

/// Limit of a notification in characters.
const LONGEST: usize = 200;
const BELL: &str = "\u{7}";

/// The notification protocols of terminals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NotificationKind {
    /// `OSC 9`: a text.
    Text,
    /// `OSC 777`: a title and a text.
    Titled,
    /// None: the terminal would show the sequence as text.
    None,
}

/// By the terminal's name. Most unknown ones support `OSC 9` or ignore it.
fn kind(environment: &TerminalEnvironment) -> NotificationKind {
    let term = environment.term.as_str();
    let is = |name: &str| environment.program.eq_ignore_ascii_case(name);
    if matches!(term, "" | "dumb" | "linux" | "ansi") || term.starts_with("vt") {
        NotificationKind::None
    } else if ["foot", "rxvt", "xterm-ghostty"]
        .iter()
        .any(|name| term.starts_with(name))
        || is("ghostty")
        || is("WezTerm")
        || environment.is_wezterm
    {
        NotificationKind::Titled
    } else {
        NotificationKind::Text
    }
}

/// The sequence to be written to the terminal.
pub(crate) fn sequence(
    notice: &AlarmNotice,
    means: NotifyMeans,
    multiplexer: Multiplexer,
    environment: &TerminalEnvironment,
) -> String {
    let bell = matches!(means, NotifyMeans::Bell | NotifyMeans::Both);
    let osc = matches!(means, NotifyMeans::Osc | NotifyMeans::Both);
    let (title, text) = (plain(&notice.session), plain(&notice.words));
    let title = if title.is_empty() {
        "tv".to_owned()
    } else {
        format!("tv: {title}")
    };
    let notification = match kind(environment) {
        _ if !osc => String::new(),
        NotificationKind::None => String::new(),
        NotificationKind::Text => multiplexer.wrap(&format!("\u{1b}]9;{title}: {text}\u{7}")),
        // A semicolon would end the title.
        NotificationKind::Titled => multiplexer.wrap(&format!(
            "\u{1b}]777;notify;{};{text}\u{7}",
            title.replace(';', ",")
        )),
    };
    // A multiplexer handles the bell itself, and marks the window.
    if bell {
        format!("{notification}{BELL}")
    } else {
        notification
    }
}

/// A text without control characters, and without characters that change how the rest of a line is
/// shown.
fn plain(text: &str) -> String {
    let (text, _) = harmless(text);
    let text: String = text
        .chars()
        .filter(|c| !c.is_control())
        .take(LONGEST)
        .collect();
    text.trim().to_owned()
}

/// Starts the user's command, and returns what waits for its end. Facts are passed in environment
/// variables.
pub(crate) fn start(
    command: &str,
    notice: &AlarmNotice,
    missed: u64,
) -> Result<impl FnOnce() + use<>, String> {
    let started = Command::new("sh")
        .arg("-c")
        .arg(command)
        .env("TV_SESSION", notice.address.as_deref().unwrap_or_default())
        .env("TV_EXPRESSION", &notice.expression)
        .env("TV_STATE", notice.activity)
        .env("TV_MISSED", missed.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child =
        started.map_err(|error| format!("the command of the alarm cannot be started: {error}"))?;
    Ok(move || drop(child.wait()))
}

#[cfg(test)]
mod tests {
    use super::sequence;
    use crate::app::alarms::{AlarmNotice, NotifyMeans};
    use crate::runtime::clipboard::Multiplexer;
    use crate::runtime::graphics::TerminalEnvironment;

    fn notice(session: &str, words: &str) -> AlarmNotice {
        AlarmNotice {
            session: session.to_owned(),
            words: words.to_owned(),
            expression: "waiting".to_owned(),
            address: None,
            activity: "waiting",
            command: None,
        }
    }

    fn environment(term: &str, program: &str) -> TerminalEnvironment {
        TerminalEnvironment {
            term: term.to_owned(),
            program: program.to_owned(),
            ..TerminalEnvironment::default()
        }
    }

    #[test]
    fn each_terminal_is_notified_in_its_way() {
        let written = |means, term: &str, program: &str, multiplexer| {
            sequence(
                &notice("fix; it", "waits"),
                means,
                multiplexer,
                &environment(term, program),
            )
        };
        let (plain, tmux) = (Multiplexer::None, Multiplexer::Tmux);
        assert_eq!(
            written(NotifyMeans::Both, "xterm-kitty", "", plain),
            "\u{1b}]9;tv: fix; it: waits\u{7}\u{7}"
        );
        assert_eq!(
            written(NotifyMeans::Osc, "xterm-256color", "iTerm.app", plain),
            "\u{1b}]9;tv: fix; it: waits\u{7}"
        );
        assert_eq!(
            written(NotifyMeans::Osc, "foot", "", plain),
            "\u{1b}]777;notify;tv: fix, it;waits\u{7}"
        );
        assert_eq!(written(NotifyMeans::Bell, "foot", "", plain), "\u{7}");
        assert_eq!(written(NotifyMeans::Both, "linux", "", plain), "\u{7}");
        assert_eq!(written(NotifyMeans::Off, "foot", "", plain), "");
        assert_eq!(
            written(NotifyMeans::Both, "tmux-256color", "tmux", tmux),
            "\u{1b}Ptmux;\u{1b}\u{1b}]9;tv: fix; it: waits\u{7}\u{1b}\\\u{7}",
            "the notification goes on to the terminal, the bell is for tmux"
        );
    }

    #[test]
    fn nothing_of_a_session_is_an_order() {
        let hostile = "a\u{1b}]52;c;eA==\u{7}\u{9c}b\u{202e}\n\u{90}c";
        let written = sequence(
            &notice(hostile, hostile),
            NotifyMeans::Osc,
            Multiplexer::None,
            &environment("foot", ""),
        );
        assert_eq!(
            written,
            "\u{1b}]777;notify;tv: a]52,c,eA==bc;a]52;c;eA==bc\u{7}"
        );
        let long = "x".repeat(10_000);
        let written = sequence(
            &notice(&long, &long),
            NotifyMeans::Osc,
            Multiplexer::None,
            &environment("foot", ""),
        );
        assert!(written.len() < 500);
    }
}
