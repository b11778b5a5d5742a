//! Sessions in plain text: a line of its own names the role, and prefixes of lines within an answer
//! mark thoughts, calls and results. Each message is converted to a record of the kind that agents
//! write today, `{ role, message: { content: [parts] } }`, so that the same rules decode both.
//!
//! These texts have no escaping. A line in a message that resembles a role begins the next message
//! only where the agent itself would begin one: after a blank line, at the end of a tag, or after a
//! call or a result.

use std::borrow::Cow;
use std::ops::Range;

use crate::formats::json::{self, Json};

/// The role lines and prefixes of a format.
#[derive(Debug)]
pub(super) struct Chat {
    /// The lines that begin a message, with their roles.
    pub(super) voices: Vec<(&'static str, &'static str)>,
    /// A text that only this agent writes, which identifies a session with only one message.
    pub(super) sign: Option<&'static str>,
    /// The prefix of a thought, which is the rest of its line, or the lines below up to a blank
    /// one.
    pub(super) thinking: Option<&'static str>,
    /// The prefix of a call, followed by the name of the tool; the arguments are indented lines `
    /// name: value`.
    pub(super) call: Option<&'static str>,
    /// The prefix of a result, followed by the name of the tool.
    pub(super) result: Option<&'static str>,
}

/// A part of an answer, with its byte range in the text.
enum AnswerPart<'t> {
    Text(Range<usize>),
    Thinking(Range<usize>),
    Call {
        tool: &'t str,
        arguments: Vec<(&'t str, Range<usize>)>,
        output: Option<Range<usize>>,
    },
    Result {
        tool: &'t str,
        text: Range<usize>,
    },
}

impl Chat {
    /// Whether a text begins like a session of this format.
    pub(super) fn is_start(&self, text: &str) -> bool {
        let mut lines = text
            .lines()
            .map(unmarked)
            .filter(|line| !line.trim().is_empty());
        let Some(first) = lines.next().and_then(|line| self.role_of(line)) else {
            return false;
        };
        // Many texts begin with `user:`, so another role or the agent's sign must follow.
        lines.any(|line| {
            self.role_of(line).is_some_and(|voice| voice != first)
                || self
                    .sign
                    .is_some_and(|sign| line.trim_start().starts_with(sign))
        })
    }

    /// The byte ranges of the messages in a text.
    pub(super) fn passages(&self, text: &str) -> Vec<Range<usize>> {
        let mut passages = Vec::new();
        let (mut begin, mut at) = (0, 0);
        let (mut has_voice, mut may_end) = (false, true);
        for line in text.split_inclusive('\n') {
            if may_end && self.role_of(unmarked(line)).is_some() {
                if has_voice {
                    passages.push(begin..at);
                    begin = at;
                }
                has_voice = true;
            }
            may_end = self.may_end(line);
            at += line.len();
        }
        passages.push(begin..at);
        passages
    }

    /// Whether a message may end with this line.
    fn may_end(&self, line: &str) -> bool {
        let trimmed = line.trim();
        let is_marked = |mark: Option<&str>| mark.is_some_and(|mark| trimmed.starts_with(mark));
        trimmed.is_empty()
            || trimmed.ends_with('>') && trimmed.contains("</")
            || is_marked(self.call)
            || is_marked(self.result)
    }

    /// The role of the message that begins with this line.
    fn role_of(&self, line: &str) -> Option<&'static str> {
        let line = line.trim_end();
        self.voices
            .iter()
            .find(|(begins, _)| *begins == line)
            .map(|(_, role)| *role)
    }

    /// The record for the text of a message.
    pub(super) fn record<'t>(&self, passage: &'t str) -> Json<'t> {
        let mut at = 0;
        let mut role = None;
        for line in passage.split_inclusive('\n') {
            at += line.len();
            role = self.role_of(unmarked(line));
            if role.is_some() || !unmarked(line).trim().is_empty() {
                break;
            }
        }
        let Some(role) = role else {
            return object([
                ("type", Json::Str("text".into())),
                ("text", Json::Str(passage.trim().into())),
            ]);
        };
        let parts = if role == "assistant" {
            self.parts(passage, at)
        } else {
            vec![AnswerPart::Text(at..passage.len())]
        };
        let content = parts
            .into_iter()
            .filter_map(|part| part.block(passage))
            .collect();
        let message = object([("content", Json::Array(content))]);
        object([("role", Json::Str(role.into())), ("message", message)])
    }

    fn parts<'t>(&self, text: &'t str, from: usize) -> Vec<AnswerPart<'t>> {
        let mut parts = vec![AnswerPart::Text(from..from)];
        let mut at = from;
        for line in text.get(from..).unwrap_or_default().split_inclusive('\n') {
            let (start, end) = (at, at + line.len());
            at = end;
            let behind =
                |mark: Option<&str>| mark.and_then(|mark| line.strip_prefix(mark)).map(str::trim);
            if let Some(thought) = behind(self.thinking) {
                if thought.is_empty() {
                    parts.push(AnswerPart::Thinking(end..end));
                } else {
                    let begin = start + line.find(thought).unwrap_or(0);
                    parts.extend([AnswerPart::Thinking(begin..end), AnswerPart::Text(end..end)]);
                }
            } else if let Some(tool) = behind(self.call) {
                parts.push(AnswerPart::Call {
                    tool,
                    arguments: Vec::new(),
                    output: None,
                });
            } else if let Some(tool) = behind(self.result) {
                parts.push(AnswerPart::Result {
                    tool,
                    text: end..end,
                });
            } else if !parts
                .last_mut()
                .is_some_and(|part| part.continue_with(line, start..end))
            {
                parts.push(AnswerPart::Text(start..end));
            }
        }
        joined(parts, text)
    }
}

impl<'t> AnswerPart<'t> {
    /// Whether a line continues this part. If so, it is added.
    fn continue_with(&mut self, line: &'t str, at: Range<usize>) -> bool {
        let is_blank = line.trim().is_empty();
        match self {
            Self::Text(text) | Self::Result { text, .. } => text.end = at.end,
            Self::Thinking(thought) if is_blank && thought.start < thought.end => return false,
            Self::Thinking(thought) => thought.end = at.end,
            Self::Call { arguments, .. } => {
                if let Some((name, value)) = argument(line) {
                    arguments.push((name, at.end - value.len()..at.end));
                } else if let Some((_, last)) = arguments.last_mut() {
                    last.end = at.end;
                } else {
                    return is_blank;
                }
            }
        }
        true
    }

    /// The block of a message for this part; `None` if it is empty.
    fn block(self, text: &'t str) -> Option<Json<'t>> {
        let slice = |range: Range<usize>| text.get(range).unwrap_or_default();
        let words = |range| Json::Str(slice(range).trim().into());
        let name = |name: &'t str| Json::Str(name.into());
        let kind = |kind: &'static str| ("type", Json::Str(kind.into()));
        Some(match self {
            Self::Text(range) | Self::Thinking(range) if slice(range.clone()).trim().is_empty() => {
                return None;
            }
            Self::Text(range) => object([kind("text"), ("text", words(range))]),
            Self::Thinking(range) => object([kind("thinking"), ("thinking", words(range))]),
            Self::Call {
                tool,
                arguments,
                output,
            } => {
                let value = |range| value(slice(range).trim_end());
                let input = arguments
                    .into_iter()
                    .map(|(name, range)| (Cow::Borrowed(name), value(range)));
                let input = Json::Object(input.collect());
                let call = [kind("tool_use"), ("name", name(tool)), ("input", input)];
                object(
                    call.into_iter()
                        .chain(output.map(|range| ("output", words(range)))),
                )
            }
            Self::Result { tool, text } => object([
                kind("tool_result"),
                ("name", name(tool)),
                ("content", words(text)),
            ]),
        })
    }
}

/// Gives each result the id of its call, which is the first call of the same tool without a result.
/// Empty results are dropped.
fn joined<'t>(parts: Vec<AnswerPart<'t>>, text: &str) -> Vec<AnswerPart<'t>> {
    let mut whole: Vec<AnswerPart<'t>> = Vec::with_capacity(parts.len());
    let mut answered = Vec::new();
    for part in parts {
        let AnswerPart::Result { tool, text: said } = &part else {
            whole.push(part);
            continue;
        };
        let is_waiting = |(at, one): &(usize, &AnswerPart<'_>)| {
            matches!(one, AnswerPart::Call { tool: called, .. } if called == tool)
                && !answered.contains(at)
        };
        let call = whole.iter().enumerate().find(is_waiting).map(|(at, _)| at);
        let is_empty = text
            .get(said.clone())
            .is_none_or(|said| said.trim().is_empty());
        match call.map(|at| (at, whole.get_mut(at))) {
            Some((at, Some(AnswerPart::Call { output, .. }))) => {
                answered.push(at);
                *output = (!is_empty).then(|| said.clone());
            }
            _ if is_empty => {}
            _ => whole.push(part),
        }
    }
    whole
}

/// Parses an argument, such as `  path: src/main.rs`.
fn argument(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix("  ")?.split_once(':')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let value = value.strip_prefix(' ').unwrap_or(value);
    (name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_name))
        .then_some((name, value))
}

/// The value of an argument. Numbers, booleans, lists and objects are JSON; any other text is
/// itself.
fn value(text: &str) -> Json<'_> {
    let is_json = matches!(text, "true" | "false" | "null")
        || text.starts_with(['{', '[', '-'])
        || text.starts_with(|c: char| c.is_ascii_digit());
    is_json
        .then(|| json::parse(text).ok())
        .flatten()
        .unwrap_or_else(|| Json::Str(text.into()))
}

/// The line without a byte order mark.
fn unmarked(line: &str) -> &str {
    line.trim_start_matches('\u{feff}')
}

fn object<'t>(members: impl IntoIterator<Item = (&'static str, Json<'t>)>) -> Json<'t> {
    Json::Object(
        members
            .into_iter()
            .map(|(name, value)| (Cow::Borrowed(name), value))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::Chat;
    use crate::formats::json::Json;

    const CHAT: Chat = Chat {
        voices: Vec::new(),
        sign: Some("<user_query>"),
        thinking: Some("[Thinking]"),
        call: Some("[Tool call]"),
        result: Some("[Tool result]"),
    };

    fn chat() -> Chat {
        Chat {
            voices: vec![
                ("user:", "user"),
                ("assistant:", "assistant"),
                ("A:", "assistant"),
            ],
            ..CHAT
        }
    }

    fn records(text: &str) -> Vec<(String, Vec<String>)> {
        let chat = chat();
        let passages = chat.passages(text);
        assert_eq!(
            passages.iter().map(ExactSizeIterator::len).sum::<usize>(),
            text.len()
        );
        let read = passages.into_iter().map(|range| {
            let record = chat.record(text.get(range).unwrap());
            let block = |block: &Json<'_>| {
                block
                    .members()
                    .iter()
                    .map(|(_, value)| told(value))
                    .collect::<Vec<_>>()
            };
            let blocks = record
                .at("message.content")
                .items()
                .iter()
                .map(|one| block(one).join(" "));
            (
                record.get("role").str_or_empty().to_owned(),
                blocks.collect(),
            )
        });
        read.collect()
    }

    fn told(value: &Json<'_>) -> String {
        match value {
            Json::Str(text) => text.to_string(),
            Json::Integer(number) => number.to_string(),
            Json::Bool(flag) => flag.to_string(),
            value => value
                .members()
                .iter()
                .map(|(name, value)| format!("{name}={}", told(value)))
                .collect::<Vec<_>>()
                .join(","),
        }
    }

    #[test]
    fn a_line_by_itself_says_who_speaks() {
        let text = "user:\n<user_query>\nIs the mill dry?\n\nname:\nuser:\n  me\n</user_query>\nA:\n[Thinking] Look.\nI look.\n\nassistant:\nIt is.\n";
        let all = records(text);
        let roles: Vec<&str> = all.iter().map(|(role, _)| role.as_str()).collect();
        assert_eq!(roles, ["user", "assistant", "assistant"]);
        assert_eq!(all[1].1, ["thinking Look.", "text I look."]);
        assert!(all[0].1[0].contains("user:\n  me"), "{all:?}");
    }

    #[test]
    fn results_are_those_of_calls_of_the_same_tool() {
        let text = "assistant:\n[Thinking]\nTwo\nlines\n\nI run both.\n[Tool call] Shell\n  command: make\n  and more\n  timeout: 30\n[Tool call] Read\n  path: a.rs\n  whole: true\n\n[Tool result] Read\n[Tool result] Shell\nok\n\n[Tool result] Grep\nleft over\n";
        let all = records(text);
        assert_eq!(
            all[0].1,
            [
                "thinking Two\nlines",
                "text I run both.",
                "tool_use Shell command=make\n  and more,timeout=30 ok",
                "tool_use Read path=a.rs,whole=true",
                "tool_result Grep left over",
            ]
        );
    }

    #[test]
    fn only_a_text_with_two_voices_or_a_query_is_a_chat() {
        let chat = chat();
        for text in [
            "user:\n<user_query>\nGo\n",
            "\nuser:\nGo\n\nassistant:\nGone\n",
            "\u{feff}A:\nx\n\nuser:\ny\n",
        ] {
            assert!(chat.is_start(text), "{text}");
        }
        for text in [
            "user:\n  name: me\n",
            "Notes\n\nuser:\nGo\n\nassistant:\n",
            "user: Go\nassistant: Gone\n",
            "",
        ] {
            assert!(!chat.is_start(text), "{text}");
        }
    }
}
