//! The envelopes that OpenClaw puts around what people say in chats, and the prompts that it writes
//! itself.
//!
//! Invariant: envelope and text together hold every character of the message but outer white space.

use crate::formats::pi::message::{Prompt, Voice};

/// Longer brackets at the start of a prompt are its own words.
const STAMP_CHARS: usize = 160;

/// Takes the text of a user message apart.
pub fn open(text: &str) -> Prompt<'_> {
    let mut parts: Vec<&str> = Vec::new();
    let mut rest = text.trim();
    while let Some(end) = head(rest) {
        parts.push(rest.get(..end).unwrap_or("").trim());
        rest = rest.get(end..).unwrap_or("").trim_start();
    }
    let (said, tail) = message_id(rest);
    parts.extend(tail);
    if said.is_empty() {
        // Nothing but the envelope: the program says so itself.
        let voice = if text.trim_start().starts_with("System: ") { Voice::Program } else { Voice::Person };
        return Prompt { envelope: String::new(), text, voice };
    }
    Prompt { envelope: parts.join("\n"), text: said, voice: voice(said) }
}

fn voice(said: &str) -> Voice {
    if said.starts_with("OpenClaw runtime context") {
        Voice::Background
    } else if ["Read HEARTBEAT.md", "Pre-compaction memory flush"].iter().any(|start| said.starts_with(start))
    {
        Voice::Program
    } else {
        Voice::Person
    }
}

/// Where the piece of envelope ends that the text begins with.
fn head(text: &str) -> Option<usize> {
    metadata(text).or_else(|| system_lines(text)).or_else(|| stamp(text))
}

/// `Sender (untrusted metadata):` with a fenced JSON value under it.
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

/// Events since the last prompt: `System: [2026-01-31 19:25:33 GMT+8] Exec failed …`.
fn system_lines(text: &str) -> Option<usize> {
    let lines = text.split_inclusive('\n').take_while(|line| line.starts_with("System: ["));
    let end: usize = lines.map(str::len).sum();
    (end > 0).then_some(end)
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
        part.is_some_and(|part| part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let word = word.split('T').next().unwrap_or(word);
    let mut parts = word.split('-');
    digits(parts.next(), 4) && digits(parts.next(), 2) && digits(parts.next(), 2) && parts.next().is_none()
}

/// The text and the `[message_id: …]` line under it.
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
    use crate::formats::pi::message::Voice;

    #[test]
    fn prompts_read_clean() {
        for (raw, envelope, said) in [
            ("hi\n[message_id: 1-2]", "[message_id: 1-2]", "hi"),
            ("[Sun 2026-03-08 22:03 GMT+9] hello", "[Sun 2026-03-08 22:03 GMT+9]", "hello"),
            ("[cron:7 news] do it", "[cron:7 news]", "do it"),
            ("[1] see the list", "", "[1] see the list"),
            ("[ ] 2026-01-01", "", "[ ] 2026-01-01"),
            (
                "Sender (untrusted metadata):\n```json\n{\"a\":1}\n```\n\n[Sun 2026-03-08 22:03 GMT+9] hey",
                "Sender (untrusted metadata):\n```json\n{\"a\":1}\n```\n[Sun 2026-03-08 22:03 GMT+9]",
                "hey",
            ),
            (
                "System: [2026-01-31 19:25] Exec failed\n\nwhat now?",
                "System: [2026-01-31 19:25] Exec failed",
                "what now?",
            ),
            ("Sender (untrusted metadata):\nno fence", "", "Sender (untrusted metadata):\nno fence"),
        ] {
            let prompt = open(raw);
            assert_eq!(
                (prompt.envelope.as_str(), prompt.text, prompt.voice),
                (envelope, said, Voice::Person)
            );
        }
    }

    #[test]
    fn prompts_of_the_program_are_known() {
        for (raw, voice) in [
            ("System: [2026-01-31] Exec failed", Voice::Program),
            ("Read HEARTBEAT.md if it exists", Voice::Program),
            ("[Sun 2026-03-08 22:03] Pre-compaction memory flush. Store", Voice::Program),
            ("OpenClaw runtime context (internal):", Voice::Background),
            ("[message_id: only]", Voice::Person),
            ("", Voice::Person),
        ] {
            assert_eq!(open(raw).voice, voice, "{raw}");
        }
    }
}
