//! How the reader is notified of an alarm: the terminal's bell, a notification where the terminal has them, and the
//! reader's own command.
//!
//! Invariant: nothing of the session is a part of a command or of an escape sequence but as plain text.

use std::process::{Command, Stdio};

use super::clipboard::Between;
use super::graphics::Environment;
use crate::app::alarms::{Notice, Ring};
use crate::model::text::harmless;

/// Characters of a notification.
const LONGEST: usize = 200;
const BELL: &str = "\u{7}";

/// Which notifications a terminal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `OSC 9`: a text.
    Text,
    /// `OSC 777`: a title and a text.
    Titled,
    /// It would write them on its screen.
    None,
}

/// Which one, by the name of the terminal. Most that are unknown take the first, and the others pass over it.
fn kind(environment: &Environment) -> Kind {
    let term = environment.term.as_str();
    let is = |name: &str| environment.program.eq_ignore_ascii_case(name);
    if matches!(term, "" | "dumb" | "linux" | "ansi") || term.starts_with("vt") {
        Kind::None
    } else if ["foot", "rxvt", "xterm-ghostty"]
        .iter()
        .any(|name| term.starts_with(name))
        || is("ghostty")
        || is("WezTerm")
        || environment.is_wezterm
    {
        Kind::Titled
    } else {
        Kind::Text
    }
}

/// What is written to the terminal.
pub(crate) fn sequence(notice: &Notice, between: Between, environment: &Environment) -> String {
    let bell = matches!(notice.means, Ring::Bell | Ring::Both);
    let osc = matches!(notice.means, Ring::Osc | Ring::Both);
    let (title, text) = (plain(&notice.session), plain(&notice.words));
    let title = if title.is_empty() {
        "tv".to_owned()
    } else {
        format!("tv: {title}")
    };
    let notification = match kind(environment) {
        _ if !osc => String::new(),
        Kind::None => String::new(),
        Kind::Text => between.pass_on(&format!("\u{1b}]9;{title}: {text}\u{7}")),
        // A semicolon would end the title.
        Kind::Titled => between.pass_on(&format!(
            "\u{1b}]777;notify;{};{text}\u{7}",
            title.replace(';', ",")
        )),
    };
    // Multiplexers have a bell of their own, and mark the window with it.
    if bell {
        format!("{notification}{BELL}")
    } else {
        notification
    }
}

/// A text without anything that a terminal, or whoever shows it, could take for an order.
fn plain(text: &str) -> String {
    let (text, _) = harmless(text);
    let text: String = text
        .chars()
        .filter(|c| !c.is_control())
        .take(LONGEST)
        .collect();
    text.trim().to_owned()
}

/// Starts the reader's command; gives what waits for its end. What it must know stands in its environment.
pub(crate) fn start(
    command: &str,
    notice: &Notice,
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
    use crate::app::alarms::{Notice, Ring};
    use crate::runtime::clipboard::Between;
    use crate::runtime::graphics::Environment;

    fn notice(means: Ring, session: &str, words: &str) -> Notice {
        Notice {
            session: session.to_owned(),
            words: words.to_owned(),
            expression: "waiting".to_owned(),
            address: None,
            activity: "waiting",
            command: None,
            means,
        }
    }

    fn environment(term: &str, program: &str) -> Environment {
        Environment {
            term: term.to_owned(),
            program: program.to_owned(),
            ..Environment::default()
        }
    }

    #[test]
    fn each_terminal_is_notified_in_its_way() {
        let written = |means, term: &str, program: &str, between| {
            sequence(
                &notice(means, "fix; it", "waits"),
                between,
                &environment(term, program),
            )
        };
        let (plain, tmux) = (Between::Nothing, Between::Tmux);
        assert_eq!(
            written(Ring::Both, "xterm-kitty", "", plain),
            "\u{1b}]9;tv: fix; it: waits\u{7}\u{7}"
        );
        assert_eq!(
            written(Ring::Osc, "xterm-256color", "iTerm.app", plain),
            "\u{1b}]9;tv: fix; it: waits\u{7}"
        );
        assert_eq!(
            written(Ring::Osc, "foot", "", plain),
            "\u{1b}]777;notify;tv: fix, it;waits\u{7}"
        );
        assert_eq!(written(Ring::Bell, "foot", "", plain), "\u{7}");
        assert_eq!(written(Ring::Both, "linux", "", plain), "\u{7}");
        assert_eq!(written(Ring::Off, "foot", "", plain), "");
        assert_eq!(
            written(Ring::Both, "tmux-256color", "tmux", tmux),
            "\u{1b}Ptmux;\u{1b}\u{1b}]9;tv: fix; it: waits\u{7}\u{1b}\\\u{7}",
            "the notification goes on to the terminal, the bell is for tmux"
        );
    }

    #[test]
    fn nothing_of_a_session_is_an_order() {
        let hostile = "a\u{1b}]52;c;eA==\u{7}\u{9c}b\u{202e}\n\u{90}c";
        let written = sequence(
            &notice(Ring::Osc, hostile, hostile),
            Between::Nothing,
            &environment("foot", ""),
        );
        assert_eq!(
            written,
            "\u{1b}]777;notify;tv: a]52,c,eA==bc;a]52;c;eA==bc\u{7}"
        );
        let long = "x".repeat(10_000);
        let written = sequence(
            &notice(Ring::Osc, &long, &long),
            Between::Nothing,
            &environment("foot", ""),
        );
        assert!(written.len() < 500);
    }
}
