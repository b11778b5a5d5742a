//! Classifies texts in user lines: Claude Code stores commands, their output, reminders and
//! interrupts under the role of the user. Stream-json carries the same texts.
//!
//! Invariant: a user's text is taken for the program's only if it begins like one.

pub(crate) mod author;
pub(crate) mod background;

use std::borrow::Cow;

use itertools::Itertools as _;
use memchr::memmem;

use crate::model::entry::Raw;
use crate::model::entry::sender::{Sender, SenderKind};
use crate::model::text::Name;

/// Who wrote a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ClaudeAuthor<'a> {
    /// The user, with additions of the program before and after the text.
    Own {
        /// The text without the additions.
        words: &'a str,
        asides: Vec<ProgramNote<'a>>,
    },
    /// A message that the program relayed, with text of its own around it.
    Relayed {
        /// The sender; `None` for the user.
        from: Option<Sender>,
        /// The message without the program's text.
        words: Cow<'a, str>,
        /// What the program added for the model.
        advice: Option<ProgramNote<'a>>,
    },
    /// The user, by a command: `/compact args`, `!ls`.
    Typed(String),
    /// The user interrupted the agent.
    Interrupted(&'a str),
    Program(ProgramNote<'a>),
}

/// A text by the program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ProgramNote<'a> {
    pub(crate) title: &'static str,
    /// The text without its tags.
    pub(crate) text: Cow<'a, str>,
    /// Further facts, such as the id of a task.
    pub(crate) facts: String,
    /// Whether it matters only to the model.
    pub(crate) quiet: bool,
}

impl<'a> ProgramNote<'a> {
    /// Whether it is the output of a command that the user typed.
    pub(crate) fn is_output(&self) -> bool {
        matches!(self.title, Raw::COMMAND_OUTPUT | Raw::COMMAND_ERRORS)
    }

    fn new(title: &'static str, text: &'a str, quiet: bool) -> Self {
        Self {
            title,
            text: text.trim().into(),
            facts: String::new(),
            quiet,
        }
    }
}

/// Tags of additions around a user's text, and their titles.
const ASIDES: [(&str, &str); 3] = [
    ("system-reminder", "reminder"),
    ("ide_opened_file", "opened in the editor"),
    ("ide_selection", "selected in the editor"),
];

/// Tags that begin a text by the program: their titles, and whether the text matters only to the
/// model.
const PROGRAM: [(&str, &str, bool); 8] = [
    ("local-command-stdout", Raw::COMMAND_OUTPUT, false),
    ("local-command-stderr", Raw::COMMAND_ERRORS, false),
    ("local-command-caveat", "caveat", true),
    ("bash-stdout", Raw::COMMAND_OUTPUT, false),
    ("bash-stderr", Raw::COMMAND_ERRORS, false),
    (TASK, TASK_TITLE, false),
    ("session-start-hook", "session start hook", true),
    ("user-prompt-submit-hook", "prompt hook", true),
];

/// Tags around a message from another session or a sub-agent.
const MESSAGES: [&str; 2] = ["cross-session-message", "agent-message"];

/// First lines above a message that arrived while the agent was working, and its sender; `None` for
/// the user.
const LEADS: [(&str, Option<SenderKind>); 5] = [
    ("The user sent a new message while you were working:", None),
    (
        "The coordinator sent a message while you were working:",
        Some(SenderKind::Coordinator),
    ),
    (
        "Another Claude session sent a message while you were working:",
        Some(SenderKind::Peer),
    ),
    (
        "Another Claude session sent a message:",
        Some(SenderKind::Peer),
    ),
    (
        "A peer session sent a message while you were working:",
        Some(SenderKind::Peer),
    ),
];

/// First words of the paragraphs that the program puts below a relayed message.
const ADVICE: [&str; 5] = [
    "IMPORTANT: ",
    "Address this before ",
    "This is how Claude Code ",
    "This is from another Claude session",
    "This came from another Claude session",
];

/// The first line above the notification of a task that ended.
const NOTICE: &str = "[SYSTEM NOTIFICATION - NOT USER INPUT]";
pub(crate) const TASK_TITLE: &str = "task notification";
/// The tag around a task notification.
pub(crate) const TASK: &str = "task-notification";

/// The tag around a message between members of a team.
const MATE: &str = "teammate-message";
/// The id of a team's lead, whose messages are the prompts of the other members.
const LEAD: &str = "team-lead";

/// The tag around the instructions that all forks of an agent share; those of one fork follow it.
pub(crate) const FORK: &str = "fork-boilerplate";

/// Classifies a text that a human wrote. What reads like the message of another sender was quoted.
pub(crate) fn classify_human(text: &str) -> ClaudeAuthor<'_> {
    match classify(text) {
        ClaudeAuthor::Relayed { from: Some(_), .. } => ClaudeAuthor::Own {
            words: text,
            asides: Vec::new(),
        },
        ClaudeAuthor::Program(note) if note.title == TASK_TITLE => ClaudeAuthor::Own {
            words: text,
            asides: Vec::new(),
        },
        voice => voice,
    }
}

pub(crate) fn classify(text: &str) -> ClaudeAuthor<'_> {
    let begin = text.trim_start();
    if let Some(voice) = relayed(begin) {
        return voice;
    }
    if let Some(rest) = begin.strip_prefix("[Request interrupted by user") {
        let end = rest.find(']').unwrap_or(rest.len());
        let how = rest.get(..end).unwrap_or("").trim();
        return ClaudeAuthor::Interrupted(if how == "for tool use" {
            "while a tool ran"
        } else {
            how
        });
    }
    if begin.starts_with("Caveat: The messages below were generated by the user") {
        return ClaudeAuthor::Program(ProgramNote::new("caveat", begin, true));
    }
    if let Some(command) = typed(begin) {
        return ClaudeAuthor::Typed(command);
    }
    if opens(begin, MATE) {
        return team_message(begin);
    }
    if opens(begin, FORK) {
        return directive(begin);
    }
    if let Some((name, title, quiet)) = PROGRAM.iter().find(|(name, ..)| opens(begin, name)) {
        return ClaudeAuthor::Program(program_note(begin, name, title, *quiet));
    }
    let (words, mut asides) = without_asides(begin);
    if words.is_empty() && asides.len() == 1 {
        return asides.pop().map_or(
            ClaudeAuthor::Own {
                words: begin,
                asides: Vec::new(),
            },
            ClaudeAuthor::Program,
        );
    }
    ClaudeAuthor::Own {
        words: if asides.is_empty() { text } else { words },
        asides,
    }
}

/// Classifies messages of team members. The lead is the agent that started the member, so its
/// message is a prompt. Messages of other members are relayed; JSON is between the programs.
fn team_message(text: &str) -> ClaudeAuthor<'_> {
    let close = format!("</{MATE}>");
    let messages = text.split(close.as_str()).filter_map(|message| {
        let (tag, words) = message
            .trim()
            .strip_prefix('<')?
            .strip_prefix(MATE)?
            .split_once('>')?;
        let (_, from) = tag.split_once("teammate_id=\"")?;
        Some((from.split_once('"')?.0, words.trim()))
    });
    let messages: Vec<(&str, &str)> = messages.collect();
    match messages.as_slice() {
        [(LEAD, words)] => ClaudeAuthor::Own {
            words,
            asides: Vec::new(),
        },
        [] => ClaudeAuthor::Program(ProgramNote::new("teammate message", text, false)),
        [(from, words)] if !words.starts_with('{') => {
            let from = Some(Sender {
                kind: SenderKind::Peer,
                name: Some(Name::clean(from)),
            });
            ClaudeAuthor::Relayed {
                from,
                words: (*words).into(),
                advice: None,
            }
        }
        _ => {
            let all: Vec<String> = messages
                .iter()
                .map(|(from, words)| format!("{from}: {words}"))
                .collect();
            let words = all.join("\n").into();
            if messages.iter().all(|(_, words)| words.starts_with('{')) {
                ClaudeAuthor::Program(ProgramNote {
                    title: "teammate message",
                    text: words,
                    facts: String::new(),
                    quiet: true,
                })
            } else {
                ClaudeAuthor::Relayed {
                    from: Some(Sender::of(SenderKind::Peer)),
                    words,
                    advice: None,
                }
            }
        }
    }
}

/// Parses a message that the program relayed.
fn relayed(text: &str) -> Option<ClaudeAuthor<'_>> {
    if let Some(rest) = text.strip_prefix(NOTICE) {
        let tag = format!("<{TASK}");
        let notice = rest.find(&tag).and_then(|at| rest.get(at..));
        let note = notice.map_or_else(
            || ProgramNote::new(TASK_TITLE, rest, false),
            |notice| program_note(notice, TASK, TASK_TITLE, false),
        );
        return Some(ClaudeAuthor::Program(note));
    }
    if let Some((from, words)) = wrapped(text) {
        return Some(ClaudeAuthor::Relayed {
            from: Some(from),
            words: words.into(),
            advice: None,
        });
    }
    let (kind, rest) = LEADS
        .iter()
        .find_map(|(lead, kind)| Some((*kind, text.strip_prefix(lead)?)))?;
    let (words, advice) = without_advice(rest.trim());
    let (from, words) = match kind {
        Some(SenderKind::Peer) => wrapped(words).unwrap_or((Sender::of(SenderKind::Peer), words)),
        Some(kind) => (Sender::of(kind), words),
        None => {
            return Some(ClaudeAuthor::Relayed {
                from: None,
                words: words.into(),
                advice,
            });
        }
    };
    Some(ClaudeAuthor::Relayed {
        from: Some(from),
        words: words.into(),
        advice,
    })
}

/// Parses a message from another session or a sub-agent at the beginning of a text.
fn wrapped(text: &str) -> Option<(Sender, &str)> {
    let tag = MESSAGES.into_iter().find(|tag| opens(text, tag))?;
    let (head, rest) = text.split_once('>')?;
    let words = rest
        .split_once(&format!("</{tag}>"))
        .map_or(rest, |(words, _)| words);
    let attribute = |name: &str| {
        let (_, value) = head.split_once(&format!(" {name}=\""))?;
        value.split_once('"').map(|(value, _)| value)
    };
    let address = || attribute("from").filter(|from| !from.contains([':', '/']));
    let name = attribute("from-name")
        .or_else(address)
        .filter(|name| !name.is_empty());
    Some((
        Sender {
            kind: SenderKind::Peer,
            name: name.map(Name::clean),
        },
        words.trim(),
    ))
}

/// Splits a message from the program's advice below it.
fn without_advice(text: &str) -> (&str, Option<ProgramNote<'_>>) {
    let last = text
        .rfind("\n\n")
        .and_then(|at| Some((text.get(..at)?, text.get(at..)?.trim())));
    match last.filter(|(_, last)| ADVICE.iter().any(|begin| last.starts_with(begin))) {
        Some((words, advice)) => (
            words.trim_end(),
            Some(ProgramNote::new("note to the model", advice, true)),
        ),
        None => (text, None),
    }
}

/// Splits the instructions of one fork from those that all forks share.
fn directive(text: &str) -> ClaudeAuthor<'_> {
    let close = format!("</{FORK}>");
    let (all, own) = text.split_once(close.as_str()).unwrap_or((text, ""));
    let own = own.trim();
    let words = own.strip_prefix("Your directive:").unwrap_or(own).trim();
    let common = all.split_once('>').map_or("", |(_, common)| common);
    ClaudeAuthor::Own {
        words,
        asides: vec![ProgramNote::new("note to every fork", common, true)],
    }
}

/// Whether a text begins with this tag, with or without attributes.
pub(crate) fn opens(text: &str, name: &str) -> bool {
    let rest = text
        .strip_prefix('<')
        .and_then(|rest| rest.strip_prefix(name));
    rest.is_some_and(|rest| rest.starts_with(['>', ' ', '\n']))
}

/// The content of the first element with this name.
pub(crate) fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    // Most outputs of tools are long and have no such element; `memmem` searches them several times
    // faster than `str::find`.
    let open = format!("<{name}>");
    let begin = memmem::find(text.as_bytes(), open.as_bytes())? + open.len();
    let rest = text.get(begin..)?;
    let end = memmem::find(rest.as_bytes(), format!("</{name}>").as_bytes())?;
    rest.get(..end).map(str::trim)
}

fn typed(text: &str) -> Option<String> {
    if opens(text, "bash-input") {
        return element(text, "bash-input").map(|command| format!("!{command}"));
    }
    if !opens(text, "command-name") && !opens(text, "command-message") {
        return None;
    }
    let name = element(text, "command-name").or_else(|| element(text, "command-message"))?;
    let slash = if name.starts_with('/') { "" } else { "/" };
    let arguments = element(text, "command-args").unwrap_or("");
    Some(format!("{slash}{name} {arguments}").trim_end().to_owned())
}

fn program_note<'a>(
    text: &'a str,
    name: &str,
    title: &'static str,
    quiet: bool,
) -> ProgramNote<'a> {
    match name {
        "bash-stdout" | "bash-stderr" => {
            let parts = ["bash-stdout", "bash-stderr"]
                .iter()
                .filter_map(|name| element(text, name));
            let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
            ProgramNote {
                title,
                text: parts.join("\n").into(),
                facts: String::new(),
                quiet,
            }
        }
        TASK => {
            let (text, facts) = notice(element(text, name).unwrap_or(text));
            ProgramNote {
                title,
                text: text.into(),
                facts,
                quiet,
            }
        }
        _ => {
            let after = text.split_once('>').map_or("", |(_, rest)| rest);
            let inner = after
                .split_once(&format!("</{name}>"))
                .map_or(after, |(inner, _)| inner);
            ProgramNote::new(title, inner, quiet)
        }
    }
}

/// Splits a notification into its text and further facts.
fn notice(text: &str) -> (String, String) {
    const WORDS: [&str; 3] = ["summary", "result", "note"];
    let (elements, rest) = elements(text);
    let said = |name: &&str| {
        elements
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, words)| *words)
    };
    let mut words = WORDS
        .iter()
        .filter_map(said)
        .chain([rest.trim()])
        .filter(|words| !words.is_empty());
    let mut facts = elements
        .iter()
        .filter(|(name, _)| !WORDS.contains(name))
        .map(|(name, words)| fact(name, words));
    let facts = facts.join(" · ");
    let words = words.join("\n");
    if words.is_empty() {
        (facts, words)
    } else {
        (words, facts)
    }
}

/// Formats an element as `status completed`; nested elements under their own names.
fn fact(name: &str, words: &str) -> String {
    let (inner, rest) = elements(words);
    if inner.is_empty() || !rest.trim().is_empty() {
        return format!("{name} {words}");
    }
    inner
        .iter()
        .map(|(name, words)| fact(name, words))
        .join(" · ")
}

/// Splits a text into its elements and the text after the last one.
fn elements(text: &str) -> (Vec<(&str, &str)>, &str) {
    let (mut found, mut rest) = (Vec::new(), text);
    loop {
        let next = rest.trim_start().strip_prefix('<').and_then(|tag| {
            let (name, rest) = tag.split_once('>')?;
            let (words, rest) = rest.split_once(&format!("</{name}>"))?;
            Some(((name, words.trim()), rest))
        });
        let Some((element, after)) = next else {
            return (found, rest);
        };
        found.push(element);
        rest = after;
    }
}

/// Strips the program's additions from both ends.
fn without_asides(text: &str) -> (&str, Vec<ProgramNote<'_>>) {
    let mut rest = text.trim();
    let mut asides = Vec::new();
    while let Some((inner, after, title)) = ASIDES
        .iter()
        .find_map(|(name, title)| leading(rest, name, title))
    {
        asides.push(ProgramNote::new(title, inner, true));
        rest = after.trim_start();
    }
    while let Some((inner, before, title)) = ASIDES
        .iter()
        .find_map(|(name, title)| trailing(rest, name, title))
    {
        asides.push(ProgramNote::new(title, inner, true));
        rest = before.trim_end();
    }
    (rest, asides)
}

fn leading<'a>(
    text: &'a str,
    name: &str,
    title: &'static str,
) -> Option<(&'a str, &'a str, &'static str)> {
    let rest = text
        .strip_prefix('<')?
        .strip_prefix(name)?
        .strip_prefix('>')?;
    rest.split_once(&format!("</{name}>"))
        .map(|(inner, after)| (inner, after, title))
}

fn trailing<'a>(
    text: &'a str,
    name: &str,
    title: &'static str,
) -> Option<(&'a str, &'a str, &'static str)> {
    let rest = text
        .strip_suffix('>')?
        .strip_suffix(name)?
        .strip_suffix("</")?;
    rest.rsplit_once(&format!("<{name}>"))
        .map(|(before, inner)| (inner, before, title))
}

#[cfg(test)]
mod tests {
    use super::{ClaudeAuthor, TASK_TITLE, classify, classify_human};
    use crate::model::entry::sender::{Sender, SenderKind};
    use crate::model::text::Name;

    fn own(text: &str) -> Option<(String, usize)> {
        match classify(text) {
            ClaudeAuthor::Own { words, asides } => Some((words.to_owned(), asides.len())),
            _ => None,
        }
    }

    #[test]
    fn commands_read_as_they_were_typed() {
        let command = "<command-name>/compact</command-name>\n  <command-message>compact</command-message>\n  <command-args>keep names</command-args>";
        assert_eq!(
            classify(command),
            ClaudeAuthor::Typed("/compact keep names".to_owned())
        );
        let skill = "<command-message>plan</command-message>\n<command-name>plan</command-name>";
        assert_eq!(classify(skill), ClaudeAuthor::Typed("/plan".to_owned()));
        assert_eq!(
            classify("<bash-input>ls -l</bash-input>"),
            ClaudeAuthor::Typed("!ls -l".to_owned())
        );
    }

    #[test]
    fn words_lose_what_was_put_around_them() {
        let text = "<ide_opened_file>a.rs</ide_opened_file>\nfix it\n<system-reminder>be brief</system-reminder>";
        assert_eq!(own(text), Some(("fix it".to_owned(), 2)));
        assert_eq!(
            own("what does <system-reminder> mean?"),
            Some(("what does <system-reminder> mean?".to_owned(), 0))
        );
        assert_eq!(
            own("<div>hello</div>"),
            Some(("<div>hello</div>".to_owned(), 0))
        );
    }

    #[test]
    fn only_the_lead_of_a_team_speaks_as_a_user() {
        let message = |from: &str, words: &str| {
            format!(
                "<teammate-message teammate_id=\"{from}\" color=\"blue\">\n{words}\n</teammate-message>"
            )
        };
        assert_eq!(
            own(&message("team-lead", "Fix it.")),
            Some(("Fix it.".to_owned(), 0))
        );
        let note_of = |text: &str| match classify(text) {
            ClaudeAuthor::Program(note) => Some((note.text.to_string(), note.quiet)),
            _ => None,
        };
        let relayed = |text: &str| match classify(text) {
            ClaudeAuthor::Relayed { from, words, .. } => Some((
                from.and_then(|from| from.name).map(|name| name.to_string()),
                words.into_owned(),
            )),
            _ => None,
        };
        let done = relayed(&message("fixer", "Done."));
        assert_eq!(done, Some((Some("fixer".to_owned()), "Done.".to_owned())));
        let idle = message("fixer", "{\"type\":\"idle_notification\"}");
        assert_eq!(
            note_of(&idle),
            Some(("fixer: {\"type\":\"idle_notification\"}".to_owned(), true))
        );
        let both = format!("{idle}\n\n{}", message("tester", "All pass."));
        assert!(
            relayed(&both)
                .is_some_and(|(name, text)| name.is_none() && text.ends_with("\ntester: All pass."))
        );
        assert!(note_of("<teammate-message>?").is_some());
    }

    /// Sender, message and advice of a relayed message.
    fn relayed(text: &str) -> Option<(Option<Sender>, String, Option<String>)> {
        match classify(text) {
            ClaudeAuthor::Relayed {
                from,
                words,
                advice,
            } => Some((
                from,
                words.into_owned(),
                advice.map(|note| note.text.into_owned()),
            )),
            _ => None,
        }
    }

    #[test]
    fn a_message_that_was_handed_on_loses_what_the_program_said_of_it() {
        let peer = |name: Option<&str>| {
            Some(Sender {
                kind: SenderKind::Peer,
                name: name.map(Name::from),
            })
        };
        let mine = "The user sent a new message while you were working:\nFirst.\n\nThen that.\n\nIMPORTANT: After completing your current task, address it.";
        let advice = "IMPORTANT: After completing your current task, address it.".to_owned();
        assert_eq!(
            relayed(mine),
            Some((None, "First.\n\nThen that.".to_owned(), Some(advice)))
        );
        let plain = "The coordinator sent a message while you were working:\nStop.\n\nAnd merge.";
        let coordinator = Some(Sender::of(SenderKind::Coordinator));
        assert_eq!(
            relayed(plain),
            Some((coordinator, "Stop.\n\nAnd merge.".to_owned(), None))
        );
        let agent = "Another Claude session sent a message:\n<agent-message from=\"a1b2\">\nDone.\n</agent-message>";
        assert_eq!(
            relayed(agent),
            Some((peer(Some("a1b2")), "Done.".to_owned(), None))
        );
        let session = "<cross-session-message from=\"uds:/tmp/1.sock\" from-name=\"docs\">\nRebase.\n</cross-session-message>";
        assert_eq!(
            relayed(session),
            Some((peer(Some("docs")), "Rebase.".to_owned(), None))
        );
        assert_eq!(relayed("The coordinator said so."), None);
        let notice = "[SYSTEM NOTIFICATION - NOT USER INPUT]\nThis is no message.\n\n<task-notification>\n<summary>ended</summary>\n</task-notification>";
        let ClaudeAuthor::Program(note) = classify(notice) else {
            panic!()
        };
        assert!(note.title == TASK_TITLE && note.text == "ended", "{note:?}");
    }

    #[test]
    fn a_notice_says_what_came_of_a_task_before_what_it_is() {
        let note = |text: &str| match classify(&format!(
            "<task-notification>{text}</task-notification>"
        )) {
            ClaudeAuthor::Program(note) => (note.text.into_owned(), note.facts),
            other => panic!("{other:?}"),
        };
        let of = |text: &str, facts: &str| (text.to_owned(), facts.to_owned());
        let notice = "\n<task-id>a1</task-id>\n<status>completed</status>\n<summary>Agent \"docs\" completed</summary>\n\
                      <result>All is <b>fine</b>.\nSee docs.</result>\n\
                      <usage><subagent_tokens>12</subagent_tokens><tool_uses>3</tool_uses></usage>\n";
        let words = "Agent \"docs\" completed\nAll is <b>fine</b>.\nSee docs.";
        let facts = "task-id a1 · status completed · subagent_tokens 12 · tool_uses 3";
        assert_eq!(note(notice), of(words, facts));
        assert_eq!(note("<status>failed</status>"), of("status failed", ""));
        let read = "\n<summary>Stopped</summary>\nRead the output file.";
        assert_eq!(note(read), of("Stopped\nRead the output file.", ""));
        assert_eq!(note("two of <three"), of("two of <three", ""));
    }

    #[test]
    fn what_a_human_quotes_is_the_humans() {
        for text in [
            "<task-notification>x</task-notification>",
            "<agent-message from=\"a\">x</agent-message>",
        ] {
            assert_eq!(
                classify_human(text),
                ClaudeAuthor::Own {
                    words: text,
                    asides: Vec::new()
                }
            );
        }
        assert!(matches!(
            classify_human("<command-name>/compact</command-name>"),
            ClaudeAuthor::Typed(_)
        ));
    }

    #[test]
    fn the_program_is_distinguished_from_its_user() {
        for text in [
            "<system-reminder>x</system-reminder>",
            "<local-command-stdout></local-command-stdout>",
            "<bash-stdout>a</bash-stdout><bash-stderr>b</bash-stderr>",
            "<task-notification>\n<summary>done</summary>\n</task-notification>",
            "<user-prompt-submit-hook>x",
        ] {
            assert!(matches!(classify(text), ClaudeAuthor::Program(_)), "{text}");
        }
        assert_eq!(
            classify("[Request interrupted by user for tool use]"),
            ClaudeAuthor::Interrupted("while a tool ran")
        );
        assert_eq!(
            classify("[Request interrupted by user at 10:00]"),
            ClaudeAuthor::Interrupted("at 10:00")
        );
    }
}
