//! Parses the envelopes that OpenClaw puts around chat messages. The gateway's own messages are
//! recognized by [`wakes`].
//!
//! Invariant: facts, envelope and text together contain every word of the message, except the id of
//! a message that has no other facts.

use super::wakes;
use crate::formats::json::{self, Json};
use crate::formats::pi::message::{Prompt, PromptAuthor};

/// The maximum length of a stamp in brackets, in bytes. Longer brackets belong to the prompt.
const STAMP_CHARS: usize = 160;
/// The maximum length of a fact, in characters. Metadata with a longer one stays in the envelope.
const FACT_CHARS: usize = 60;
/// Fields with the sender's name, in order of preference.
const WHO: [&str; 4] = ["name", "label", "sender", "username"];

/// Parses the text of a user message.
pub fn open(text: &str) -> Prompt<'_> {
    let mut facts: Vec<String> = Vec::new();
    let mut parts: Vec<&str> = Vec::new();
    let mut events = None;
    let mut rest = text.trim();
    while let Some(end) = head(rest) {
        let part = rest.get(..end).unwrap_or("").trim();
        events = events.or_else(|| wakes::is_event(part).then(|| wakes::of_events(part)));
        match facts_of(part) {
            Some(recorded) => facts.extend(recorded),
            None => parts.push(part),
        }
        rest = rest.get(end..).unwrap_or("").trim_start();
    }
    let (said, tail) = message_id(rest);
    // An id alone is not worth showing.
    if !facts.is_empty() {
        facts.extend(tail.map(|tail| tail.trim_matches(['[', ']']).to_owned()));
    }
    if said.is_empty() {
        // Without a message the envelope is the text itself.
        let voice = events.map_or(PromptAuthor::Person, PromptAuthor::Sender);
        return Prompt {
            facts: String::new(),
            envelope: String::new(),
            text,
            voice,
        };
    }
    let mut recorded: Vec<String> = Vec::new();
    for fact in facts {
        if !recorded.contains(&fact) {
            recorded.push(fact);
        }
    }
    let voice = match wakes::sender(said) {
        _ if said.starts_with("OpenClaw runtime context") => PromptAuthor::Background,
        Some(sender) => PromptAuthor::Sender(sender),
        None => PromptAuthor::Person,
    };
    Prompt {
        facts: recorded.join(" · "),
        envelope: parts.join("\n"),
        text: said,
        voice,
    }
}

/// The facts in a piece of the envelope, if they fit on a row.
fn facts_of(part: &str) -> Option<Vec<String>> {
    if let Some(stamp) = part.strip_prefix('[').filter(|stamp| stamp.ends_with(']')) {
        return Some(vec![stamp.trim_end_matches(']').to_owned()]);
    }
    let (title, fence) = part.split_once('\n')?;
    let fenced = fence
        .trim()
        .trim_start_matches("```json")
        .trim_matches('`')
        .trim();
    let metadata = json::parse(fenced).ok()?;
    let members = metadata.members();
    let scalar = |value: &Json<'_>| match value {
        Json::Object(_) | Json::Array(_) | Json::Deep(_) => None,
        Json::Str(text) => Some(text.to_string()),
        other => Some(other.to_source()),
    };
    let mut facts = Vec::new();
    if !title.starts_with("Sender") {
        facts.push(
            title
                .split(" (untrusted")
                .next()
                .unwrap_or(title)
                .to_lowercase(),
        );
    }
    let who = WHO
        .iter()
        .find(|name| metadata.get(name).filled().is_some());
    facts.extend(who.map(|name| format!("from {}", metadata.get(name).str_or_empty())));
    for (name, value) in members
        .iter()
        .filter(|(name, _)| who.is_none_or(|who| *who != name))
    {
        facts.push(format!("{} {}", name.replace('_', " "), scalar(value)?));
    }
    let is_brief = |fact: &String| fact.chars().count() <= FACT_CHARS && !fact.contains('\n');
    (!members.is_empty() && facts.iter().all(is_brief)).then_some(facts)
}

/// The end of the piece of envelope at the beginning of a text.
fn head(text: &str) -> Option<usize> {
    metadata(text)
        .or_else(|| system_lines(text))
        .or_else(|| stamp(text))
        .or_else(|| brief(text))
}

/// A sub-agent's introduction to its role; its task follows.
fn brief(text: &str) -> Option<usize> {
    let task = "[Subagent Task]:";
    let end = text.find(task)? + task.len();
    text.starts_with("[Subagent Context]").then_some(end)
}

/// `Sender (untrusted metadata):` with a fenced JSON value below it.
fn metadata(text: &str) -> Option<usize> {
    let line = text.lines().next()?;
    let is_title = line.ends_with(':') && line.contains("(untrusted");
    let fence = line.len() + 1;
    if !is_title || !text.get(fence..)?.starts_with("```") {
        return None;
    }
    let close = text.get(fence + 3..)?.find("\n```")?;
    Some(fence + 3 + close + "\n```".len())
}

/// Events since the last prompt: `System: [2026-01-31 19:25:33 GMT+8] Exec failed …`. Each line has
/// this prefix, and the first one the time; before 2026 further lines of an event had no prefix. A
/// blank line ends them.
fn system_lines(text: &str) -> Option<usize> {
    let lines = text
        .split_inclusive('\n')
        .take_while(|line| !line.trim().is_empty());
    wakes::is_event(text).then(|| lines.map(str::len).sum())
}

/// `[Sun 2026-03-08 22:03 GMT+9]`, `[Telegram Ann id:7 2026-03-08 22:03]`, `[cron:<id> name]`.
fn stamp(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('[')?;
    let end = inner.find([']', '\n']).filter(|end| *end <= STAMP_CHARS)?;
    let words = inner.get(..end)?;
    let is_stamp = words.starts_with("cron:") || words.split(' ').any(is_date);
    (is_stamp && inner.get(end..)?.starts_with(']')).then_some(end + 2)
}

fn is_date(word: &str) -> bool {
    let digits = |part: Option<&str>, count: usize| {
        part.is_some_and(|part| {
            part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let word = word.split('T').next().unwrap_or(word);
    let mut parts = word.split('-');
    digits(parts.next(), 4)
        && digits(parts.next(), 2)
        && digits(parts.next(), 2)
        && parts.next().is_none()
}

/// Splits off the `[message_id: …]` line at the end of a text.
fn message_id(text: &str) -> (&str, Option<&str>) {
    let text = text.trim_end();
    let at = text.rfind("[message_id: ").filter(|_| text.ends_with(']'));
    match at.and_then(|at| Some((text.get(..at)?, text.get(at..)?))) {
        Some((said, id)) if !id.contains('\n') && (said.is_empty() || said.ends_with('\n')) => {
            (said.trim_end(), Some(id))
        }
        _ => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::open;
    use crate::formats::pi::message::PromptAuthor;
    use crate::model::entry::sender::SenderKind;

    #[test]
    fn prompts_read_clean() {
        for (raw, facts, envelope, said) in [
            ("hi\n[message_id: 1-2]", "", "", "hi"),
            (
                "[Sun 2026-03-08 22:03 GMT+9] hello",
                "Sun 2026-03-08 22:03 GMT+9",
                "",
                "hello",
            ),
            ("[cron:7 news] do it", "cron:7 news", "", "do it"),
            ("[1] see the list", "", "", "[1] see the list"),
            ("[ ] 2026-01-01", "", "", "[ ] 2026-01-01"),
            (
                "Conversation info (untrusted metadata):\n```json\n{\"message_id\":\"9\"}\n```\n\nSender (untrusted metadata):\n```json\n{\"id\":7,\"name\":\"Ann\"}\n```\n\n[Sun 2026-03-08 22:03 GMT+9] hey",
                "conversation info · message id 9 · from Ann · id 7 · Sun 2026-03-08 22:03 GMT+9",
                "",
                "hey",
            ),
            (
                "Chat history since last reply (untrusted, for context):\n```json\n[{\"body\":\"hi\"}]\n```\n\nhey",
                "",
                "Chat history since last reply (untrusted, for context):\n```json\n[{\"body\":\"hi\"}]\n```",
                "hey",
            ),
            (
                "System: [2026-01-31 19:25] Exec failed\n\nwhat now?",
                "",
                "System: [2026-01-31 19:25] Exec failed",
                "what now?",
            ),
            (
                "[Wed 2026-03-11 08:17] [Subagent Context] Depth 1.\n\n[Subagent Task]: count the files",
                "Wed 2026-03-11 08:17",
                "[Subagent Context] Depth 1.\n\n[Subagent Task]:",
                "count the files",
            ),
            (
                "Sender (untrusted metadata):\nno fence",
                "",
                "",
                "Sender (untrusted metadata):\nno fence",
            ),
        ] {
            let prompt = open(raw);
            assert_eq!(
                (
                    prompt.facts.as_str(),
                    prompt.envelope.as_str(),
                    prompt.text,
                    prompt.voice
                ),
                (facts, envelope, said, PromptAuthor::Person)
            );
        }
    }

    #[test]
    fn what_nobody_said_is_known() {
        for (raw, kind) in [
            (
                "System: [2026-01-31 19:25] Exec failed (a, code 1)",
                SenderKind::Task,
            ),
            (
                "System (untrusted): [2026-01-31 19:25] Exec failed (a, code 1)\nSystem (untrusted): [2026-01-31 19:26] b",
                SenderKind::Task,
            ),
            (
                "System: [2026-01-31 19:25] Check the mail:\nSystem: \nSystem: run it",
                SenderKind::Runtime,
            ),
            (
                "System: [2026-01-31 19:25] Node: Ann's\n  connected\nSystem: [2026-01-31 19:26] b",
                SenderKind::Runtime,
            ),
            (
                "System: [2026-01-31 19:25] Exec failed (a, code 1)\n  no such file",
                SenderKind::Task,
            ),
            (
                "System: [2026-01-31 19:25] Hi\n\nA scheduled reminder has been triggered. It is:\n\nhi",
                SenderKind::Schedule,
            ),
            (
                "System: [2026-01-31 19:25] Hi\n\nCurrent time: Sunday",
                SenderKind::Runtime,
            ),
            (
                "[Sun 2026-03-08 22:03] Pre-compaction memory flush. Store",
                SenderKind::Runtime,
            ),
        ] {
            let PromptAuthor::Sender(sender) = open(raw).voice else {
                panic!("{raw}")
            };
            assert_eq!(sender.kind, kind, "{raw}");
        }
        assert_eq!(
            open("OpenClaw runtime context (internal):").voice,
            PromptAuthor::Background
        );
        for raw in [
            "[message_id: only]",
            "",
            "System: what does it say?",
            "System: [2026-01-31 19:25] Hi\n\nwhat now?",
        ] {
            assert_eq!(open(raw).voice, PromptAuthor::Person, "{raw}");
        }
    }
}
