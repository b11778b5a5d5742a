//! The one rule for a record, an attachment, a subtype, a part or a block of a kind for which a decoder has no code.
//!
//! A decoder calls [`record`] for a record, [`show_outside`] for one that the agent marks as outside the conversation, and
//! [`block`] for a part of a message. It passes the class of the kind, which is a key of `[kinds]` in the format's file
//! (`type`, `attachment.type`), and its name. If that file or an overlay of the user names the kind, that counts; otherwise
//! its content decides:
//!
//! * a role, usage, a call or a result: **loud**, because a part of the conversation may be lost;
//! * else a text that somebody wrote or read: **text**, a dim row;
//! * anything else: a **trace**, which has no row below level 4.
//!
//! Files of no known format are not handled here: there the tree is the content.

use std::borrow::Cow;

use itertools::Itertools as _;

use super::attached::joined;
use super::definition::heads;
use super::definition::kinds::{KindRule, Kinds, label};
use super::json::Json;
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Break, Entry, Piece, Raw};
use crate::model::tally::Fate;
use crate::model::tally::unknown::Judged;
use crate::model::text::Text;

/// The class of a kind, a key of `[kinds]`, and its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedKind<'a>(pub(crate) &'static str, pub(crate) &'a str);

/// Members with text for people, the best one first.
const TEXTS: [&str; 9] = [
    "text",
    "content",
    "message",
    "summary",
    "prompt",
    "body",
    "output",
    "rendered",
    "renderedInHumanTurn",
];
/// Members in which agents wrap the content of a record.
const WRAPPERS: [&str; 12] = [
    "message",
    "payload",
    "attachment",
    "data",
    "item",
    "part",
    "event",
    "params",
    "request",
    "properties",
    "update",
    "info",
];
const LISTS: [&str; 3] = ["content", "parts", "blocks"];
/// Members with the usage of a request.
const USAGES: [&str; 7] = [
    "usage",
    "token_usage",
    "tokenUsage",
    "usageMetadata",
    "usage_metadata",
    "modelUsage",
    "last_token_usage",
];
/// Calls of a message beside its content.
const CALLS: [&str; 5] = [
    "tool_calls",
    "toolCalls",
    "function_call",
    "functionCall",
    "functionCalls",
];
/// Endings of the types of calls and results.
const ENDS: [&str; 8] = [
    "tool_use",
    "tool_call",
    "toolcall",
    "function_call",
    "tool_result",
    "toolresult",
    "call_output",
    "function_response",
];
/// Members with the id of a call.
const IDS: [&str; 7] = [
    "id",
    "call_id",
    "callId",
    "callID",
    "tool_call_id",
    "toolCallId",
    "tool_use_id",
];
/// Limit of nested wrappers.
const DEEPEST: u8 = 4;
/// Length limit of a title, in characters.
const TITLE: usize = 80;
/// Length limit of the row of a tree, in characters.
const HEADLINE: usize = 160;

/// Shows a record: `entry` is an empty one with its position in the session.
pub(crate) fn record(kind: NamedKind<'_>, json: &Json<'_>, entry: Entry, out: &mut Batch) -> Fate {
    show(kind, json, judge, entry, out)
}

/// Shows a record that the agent marks as outside the conversation.
pub(crate) fn show_outside(
    kind: NamedKind<'_>,
    json: &Json<'_>,
    entry: Entry,
    out: &mut Batch,
) -> Fate {
    show(kind, json, |_| Judged::Trace, entry, out)
}

/// Makes a block of a part of a message.
pub(crate) fn block(kind: NamedKind<'_>, json: &Json<'_>, out: &mut Batch) -> BlockKind {
    match kind.rule(out) {
        Some(known) => {
            known.emit(kind.0, json, out);
            // Only its text is shown, or the named object: the model was sent no more.
            let (judged, said) = match (known, known.text(kind.0, json)) {
                (KindRule::Setting(_), Some(said)) => {
                    let said = said.split_whitespace().join(" ");
                    return BlockKind::Break(Break::setting(&said));
                }
                (_, Some(said)) => (Judged::Text, Some(said)),
                (_, None) => (Judged::Trace, text_of(json, 0).map(Cow::into_owned)),
            };
            aside(kind.title(), within(kind, json), (judged, said), out)
        }
        None => unknown(kind, json, judge(json), out),
    }
}

fn show(
    kind: NamedKind<'_>,
    json: &Json<'_>,
    judge: impl FnOnce(&Json<'_>) -> Judged,
    mut entry: Entry,
    out: &mut Batch,
) -> Fate {
    let block = match kind.rule(out) {
        Some(KindRule::Passed(reason)) => return Fate::Passed(reason),
        Some(known @ KindRule::State(_)) => {
            known.emit(kind.0, json, out);
            return Fate::Merged;
        }
        Some(_) => block(kind, json, out),
        None => unknown(kind, json, judge(json), out),
    };
    entry.push_piece(Piece::default(), block);
    entry.mark_by_asides();
    out.show(entry)
}

/// The object that the class is named after, or the content of the record.
fn within<'j, 'a>(kind: NamedKind<'_>, json: &'j Json<'a>) -> &'j Json<'a> {
    let mut inner = std::iter::once(label(kind.0))
        .chain(WRAPPERS)
        .map(|name| json.get(name));
    inner.find(|inner| inner.is_object()).unwrap_or(json)
}

fn unknown(kind: NamedKind<'_>, json: &Json<'_>, judged: Judged, out: &mut Batch) -> BlockKind {
    let name = kind.to_string();
    out.unknown(&name, judged);
    let said = if judged == Judged::Text {
        text_of(json, 0).map(Cow::into_owned)
    } else {
        None
    };
    aside(Text::stub(&name, TITLE), json, (judged, said), out)
}

/// A row with the text; without one the whole record as a tree, with a text as headline if it has any.
fn aside(
    title: Text,
    json: &Json<'_>,
    (judged, said): (Judged, Option<String>),
    out: &mut Batch,
) -> BlockKind {
    let body = if let Some(said) = said {
        out.output(said.trim())
    } else {
        let text = if judged == Judged::Text {
            None
        } else {
            text_of(json, 0)
        };
        let headline = Text::stub(text.as_deref().unwrap_or_default(), HEADLINE);
        json.to_body(&headline, out)
    };
    BlockKind::Aside(judged, Raw { title, body })
}

/// The kinds of the format whose records are decoded.
pub(crate) fn kinds(out: &Batch) -> &'static Kinds {
    heads::kinds_of(out.format)
}

impl NamedKind<'_> {
    /// The rule for the kind in the format's definition or in an overlay.
    pub(crate) fn rule(self, out: &Batch) -> Option<&'static KindRule> {
        kinds(out).get(self.0, self.1).filter(|_| !out.is_nameless)
    }

    /// The name of a kind with a rule, in plain words.
    fn title(self) -> Text {
        Text::stub(&self.1.replace(['_', '-'], " "), TITLE)
    }
}

impl std::fmt::Display for NamedKind<'_> {
    /// `attachment/new`: the class without the member that names the kind.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(class, name) = self;
        let class = label(class);
        if name.trim().is_empty() {
            write!(f, "{class} without a name")
        } else {
            write!(f, "{class}/{name}")
        }
    }
}

/// Judges how an unknown kind is shown, by its content.
fn judge(json: &Json<'_>) -> Judged {
    if carries(json, 0) {
        Judged::Loud
    } else if text_of(json, 0).is_some() {
        Judged::Text
    } else {
        Judged::Trace
    }
}

/// Whether a value has a role, usage, a call or a result.
fn carries(json: &Json<'_>, depth: u8) -> bool {
    if !json.is_object() || depth > DEEPEST {
        return false;
    }
    let within = || {
        let wrapped = WRAPPERS.iter().map(|name| json.get(name));
        let listed = LISTS.iter().flat_map(|name| json.get(name).items());
        wrapped.chain(listed).any(|inner| carries(inner, depth + 1))
    };
    json.get("role").filled().is_some()
        || has_usage(json)
        || is_call(json)
        || is_result(json)
        || within()
}

fn has_usage(json: &Json<'_>) -> bool {
    let counts = |usage: &Json<'_>| {
        let numbers = usage.members().iter().map(|(_, value)| value);
        let nested = numbers
            .clone()
            .flat_map(|value| value.members().iter().map(|(_, value)| value));
        numbers
            .chain(nested)
            .any(|value| value.number().is_some_and(|n| n > 0.0))
    };
    USAGES.iter().any(|name| counts(json.get(name)))
}

fn is_call(json: &Json<'_>) -> bool {
    let has_calls = CALLS.iter().any(|name| {
        let calls = json.get(name);
        calls.is_object() || !calls.items().is_empty()
    });
    let named = ["name", "tool", "toolName", "tool_name"]
        .iter()
        .any(|name| json.get(name).filled().is_some());
    let given = ["input", "arguments", "args"]
        .iter()
        .any(|name| json.has(name));
    has_calls || ends_like_call(json) || (named && given && has_id(json))
}

fn is_result(json: &Json<'_>) -> bool {
    let is_of_call = IDS
        .iter()
        .skip(1)
        .any(|name| json.get(name).filled().is_some());
    is_of_call
        && ["output", "result", "content", "is_error", "isError"]
            .iter()
            .any(|name| json.has(name))
}

fn ends_like_call(json: &Json<'_>) -> bool {
    let kind = json.kind().to_lowercase();
    ENDS.iter().any(|end| kind.ends_with(end)) && has_id(json)
}

fn has_id(json: &Json<'_>) -> bool {
    IDS.iter().any(|name| json.get(name).filled().is_some())
}

/// The text for people in a value, by the same rule for all formats.
pub(crate) fn text_of<'j>(json: &'j Json<'_>, depth: u8) -> Option<Cow<'j, str>> {
    match json {
        Json::Str(_) => json
            .filled()
            .filter(|text| is_prose(text))
            .map(Cow::Borrowed),
        Json::Array(items) => {
            let mut texts = items
                .iter()
                .filter_map(|item| text_of(item, depth + 1))
                .peekable();
            texts.peek().is_some().then(|| joined(texts))
        }
        Json::Object(_) if depth <= DEEPEST => {
            let own = TEXTS
                .iter()
                .find_map(|name| text_of(json.get(name), depth + 1));
            own.or_else(|| {
                let wrapped = WRAPPERS
                    .iter()
                    .map(|name| json.get(name))
                    .filter(|inner| inner.is_object());
                wrapped
                    .into_iter()
                    .find_map(|inner| text_of(inner, depth + 1))
            })
        }
        _ => None,
    }
}

/// Whether a string is text, not data, an id or a number.
fn is_prose(text: &str) -> bool {
    let text = text.trim();
    let is_data = text.starts_with("data:") || super::details::is_opaque(text);
    let is_code = !text.contains(char::is_whitespace)
        && text.len() >= ID
        && text
            .bytes()
            .all(|c| c.is_ascii_alphanumeric() || c == b'-' || c == b'_')
        && text.bytes().any(|c| c.is_ascii_digit());
    !is_data && !is_code && text.chars().any(char::is_alphabetic)
}

/// A word with a digit, of at least this many letters, digits and hyphens, is an id.
const ID: usize = 16;
