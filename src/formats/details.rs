//! Details: the fields of a record that its decoder does not emit.
//!
//! They are found by content ([`Emitted`]), so no decoder has to list what it omits, and a new
//! field of an agent is shown at once. Values that are `null`, `false` or empty are omitted.

use std::borrow::Cow;

use super::decoder::{BESIDE, Decoder, Input};
use super::definition::head::Head;
use super::emitted::Emitted;
use super::fields::KnownFields;
use super::json::Json;
use crate::model::body::Tree;
use crate::model::edit::Batch;
use crate::model::entry::details::Details;
use crate::model::tally::Fate;
use crate::model::text::prefix;
use crate::model::text::{Text, text};

/// Keys whose values decoders use without emitting them: types, ids and signatures.
const USED: [&str; 25] = [
    "id",
    "type",
    "role",
    "subtype",
    "uuid",
    "parentUuid",
    "parent_uuid",
    "parentId",
    "parent_id",
    "sessionId",
    "session_id",
    "sessionID",
    "messageID",
    "messageId",
    "parentID",
    "callID",
    "tool_use_id",
    "toolUseID",
    "toolCallId",
    "call_id",
    "turn_id",
    "timestamp",
    "signature",
    "thinkingSignature",
    "textSignature",
];
/// Strings of base64 characters from this length are data, in bytes.
const OPAQUE: usize = 256;
/// Size limit of a string, in bytes.
const STRING: usize = 4 << 10;
/// Size limit of all strings of a record, in bytes.
const RECORD: usize = 64 << 10;
/// Limit of the fields of a record.
const FIELDS: usize = 400;
/// Values of one object share a line if each is no longer than this with its name, in bytes.
const SHORT: usize = 64;
/// Lists of more words have a line for each item.
const LIST: usize = 200;
/// Values nested deeper than this are shown as source text.
const DEEPEST: usize = 12;

/// Whether a member is one that decoders use without emitting it.
pub(crate) fn is_used(key: &str, is_top: bool, fields: &KnownFields) -> bool {
    USED.contains(&key) || (is_top && fields.common.contains(&key))
}

/// Whether a string is data: an image, a cipher text or a signature.
pub(crate) fn is_opaque(text: &str) -> bool {
    let is_code = |c: u8| c.is_ascii_alphanumeric() || b"+/=_-".contains(&c);
    text.starts_with("data:") || (text.len() >= OPAQUE && text.bytes().all(is_code))
}

/// A string truncated to the limit.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= STRING {
        text.into()
    } else {
        (prefix(text, STRING).to_owned() + "…").into()
    }
}

/// The fields of a record without those that were emitted.
pub fn of(json: &Json<'_>, fields: &KnownFields, emitted: &Emitted) -> Details {
    let mut rest = UnemittedFields {
        emitted,
        fields,
        left: RECORD,
        cut: 0,
    };
    let tree = rest.of(json, 0);
    let mut details = Details {
        cut: rest.cut,
        ..Details::default()
    };
    if let Some(tree) = tree {
        flatten(String::new(), tree, &mut details);
    }
    details
}

struct UnemittedFields<'a> {
    emitted: &'a Emitted,
    fields: &'a KnownFields,
    left: usize,
    cut: u64,
}

impl UnemittedFields<'_> {
    fn of(&mut self, json: &Json<'_>, depth: usize) -> Option<Tree> {
        match json {
            Json::Null | Json::Bool(false) => None,
            Json::Bool(true) => Some(Tree::Bool(true)),
            Json::Integer(number) => self.number(json, *number as f64),
            Json::Number(number) => self.number(json, *number),
            Json::Str(text) => self.string(text),
            Json::Deep(source) => self.string(source),
            _ if depth > DEEPEST => self.string(&json.to_source()),
            Json::Array(items) => {
                let rests: Vec<(Text, Tree)> = items
                    .iter()
                    .enumerate()
                    .filter_map(|(at, item)| Some((at, self.of(item, depth + 1)?)))
                    .map(|(at, rest)| (text!("[{at}]"), rest))
                    .collect();
                if rests.iter().all(|(_, rest)| is_leaf(rest)) && rests.len() <= LIST {
                    return some(Tree::List(
                        rests.into_iter().map(|(_, rest)| rest).collect(),
                    ));
                }
                some(Tree::Map(rests))
            }
            Json::Object(members) => {
                let members = members
                    .iter()
                    .filter(|(key, _)| !is_used(key, depth == 0, self.fields));
                let members: Vec<_> = members.collect();
                let rests = members.into_iter().filter_map(|(key, value)| {
                    Some((Text::clean(&shortened(key)), self.of(value, depth + 1)?))
                });
                some(Tree::Map(rests.collect()))
            }
        }
    }

    fn number(&self, json: &Json<'_>, number: f64) -> Option<Tree> {
        (!self.emitted.has_number(number)).then(|| json.to_tree())
    }

    fn string(&mut self, text: &str) -> Option<Tree> {
        if is_opaque(text) || self.emitted.bytes_of(text) * 10 >= text.len() * 9 {
            return None;
        }
        let short = shortened(text);
        if short.len() > self.left {
            self.cut += text.len() as u64;
            return None;
        }
        self.left -= short.len();
        self.cut += text.len().saturating_sub(STRING) as u64;
        Some(Tree::Text(Text::clean(&short)))
    }
}

fn some(tree: Tree) -> Option<Tree> {
    let is_empty = matches!(&tree, Tree::List(items) if items.is_empty())
        || matches!(&tree, Tree::Map(members) if members.is_empty());
    (!is_empty).then_some(tree)
}

fn is_leaf(tree: &Tree) -> bool {
    !matches!(tree, Tree::List(_) | Tree::Map(_))
}

fn weight(tree: &Tree) -> usize {
    match tree {
        Tree::Null | Tree::Bool(_) => 4,
        Tree::Number(text) | Tree::Text(text) => text.len(),
        Tree::List(items) => items.iter().map(weight).sum(),
        Tree::Map(members) => members
            .iter()
            .map(|(key, value)| key.len() + weight(value))
            .sum(),
    }
}

/// Adds a field for each value; short values of one object share one.
fn flatten(path: String, tree: Tree, out: &mut Details) {
    let Tree::Map(members) = tree else {
        return push(path, tree, out);
    };
    let is_short = |key: &str, value: &Tree| {
        !path.is_empty()
            && is_leaf(value)
            && !key.starts_with('[')
            && key.len() + weight(value) <= SHORT
    };
    let (short, long): (Vec<_>, Vec<_>) = members
        .into_iter()
        .partition(|(key, value)| is_short(key, value));
    match <[(Text, Tree); 1]>::try_from(short) {
        Ok([(key, value)]) => push(format!("{path}.{key}"), value, out),
        Err(several) if several.is_empty() => {}
        Err(several) => push(path.clone(), Tree::Map(several), out),
    }
    for (key, value) in long {
        let dot = if path.is_empty() || key.starts_with('[') {
            ""
        } else {
            "."
        };
        flatten(format!("{path}{dot}{key}"), value, out);
    }
}

fn push(path: String, tree: Tree, out: &mut Details) {
    if out.fields.len() < FIELDS {
        out.fields.push((Text::clean(&path), tree));
    } else {
        out.cut += weight(&tree) as u64;
    }
}

/// A decoder of single records that collects their details.
pub(crate) struct Detailing {
    decoder: Box<dyn Decoder>,
    pub(crate) found: Details,
}

impl Detailing {
    pub(crate) fn new(decoder: Box<dyn Decoder>) -> Self {
        Self {
            decoder,
            found: Details::default(),
        }
    }
}

impl Decoder for Detailing {
    fn head(&self) -> &'static Head {
        self.decoder.head()
    }

    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        let (edits, notices) = (out.edits.len(), out.notices.len());
        let fate = self.decoder.decode(input, out);
        if fate != BESIDE && !input.place.is_text() {
            self.decoder.finish(out);
            let edits = out.edits.get(edits..).unwrap_or_default();
            let emitted = Emitted::of(edits, out.notices.get(notices..).unwrap_or_default());
            let details = of(input.json, &self.decoder.head().fields, &emitted);
            self.found.fields.extend(details.fields);
            self.found.cut += details.cut;
        }
        fate
    }
}

#[cfg(test)]
mod tests {
    use super::{Detailing, STRING};
    use crate::formats::claude_stream::ClaudeStream;
    use crate::formats::decoder::{Format, RecordPlace, feed};
    use crate::formats::pi::Pi;
    use crate::model::body::Tree;
    use crate::model::edit::Batch;
    use crate::model::entry::details::Details;
    use crate::model::record::{Origin, Record};
    use crate::model::text::Text;

    fn details(format: &dyn Format, record: &str) -> Details {
        let mut decoder = Detailing::new(format.decoder(None));
        let record = Record {
            origin: Origin::default(),
            bytes: record.as_bytes(),
        };
        feed(
            &mut decoder,
            record,
            RecordPlace::Line,
            &mut Batch::default(),
        );
        decoder.found
    }

    #[test]
    fn what_a_decoder_leaves_out_is_listed_with_its_path() {
        let found = details(
            &Pi,
            r#"{"type":"message","id":"a1","parentId":"u1","timestamp":"2026-01-02T03:04:05Z","message":{"role":"assistant","content":[{"type":"text","text":"Done."}],"model":"m-1","api":"some-messages","provider":"\u001b[31mp","usage":{"input":7,"output":9,"cost":{"input":0.5,"output":0.25,"total":0.75}},"none":null,"empty":[],"off":false,"stopReason":"stop"}}"#,
        );
        let expected = [
            ("api", "some-messages"),
            ("provider", "␛[31mp"),
            ("stopReason", "stop"),
        ]
        .map(|(key, value)| (Text::from(key), Tree::Text(Text::from(value))));
        let Some((path, Tree::Map(members))) = found.fields.first() else {
            panic!("{found:?}")
        };
        assert_eq!(
            (path.as_str(), members.as_slice()),
            ("message", &expected[..]),
            "no control character passes"
        );
        let Some((path, Tree::Map(members))) = found.fields.get(1) else {
            panic!("{found:?}")
        };
        let parts: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(
            (path.as_str(), parts),
            ("message.usage.cost", vec!["input", "output"]),
            "the total is usage"
        );
        assert_eq!(found.fields.len(), 2);
    }

    #[test]
    fn servers_that_failed_are_listed() {
        let found = details(
            &ClaudeStream,
            r#"{"type":"system","subtype":"init","session_id":"s","tools":["Bash","Read"],"mcp_servers":[{"name":"files","status":"connected"},{"name":"web","status":"failed"}],"model":"m","cwd":"/","uuid":"x"}"#,
        );
        let status = |(_, value): &(Text, Tree)| matches!(value.get("status"), Some(Tree::Text(text)) if text.as_str() == "failed");
        assert!(found.fields.iter().any(status), "{found:?}");
    }

    #[test]
    fn what_is_too_long_is_cut_and_counted() {
        let long = "word ".repeat(STRING);
        let found = details(
            &Pi,
            &format!(
                r#"{{"type":"message","id":"a1","message":{{"role":"assistant","content":[],"x":"{long}"}}}}"#
            ),
        );
        let Some((_, Tree::Text(text))) = found.fields.first() else {
            panic!("{found:?}")
        };
        assert!(text.len() <= STRING + 4 && text.ends_with('…'));
        assert_eq!(found.cut, (long.len() - STRING) as u64);
    }
}
