//! Lenient access to JSON: values that borrow from the record, members that may be missing or of
//! another type, and repair of damaged text.
//!
//! serde_json parses; [`reader`] builds the tree of values, on the thread that decodes: to hand values
//! from thread to thread took as long as what it saved.
//!
//! Invariant: no input causes recursion deeper than `MAX_DEPTH`; deeper values stay source text.

mod damage;
pub(crate) mod masked;
mod python;
mod reader;
pub(crate) mod repair;

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use serde_json::value::RawValue;

use crate::model::body::{Body, Tree};
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Raw};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
pub(crate) use damage::Damage;
pub(crate) use reader::read_without;

/// The nesting depth from which on values stay source text.
const MAX_DEPTH: u8 = 96;

/// Arrays and objects with more than `MANY` values of fewer than `SHORT` bytes each stay source
/// text, since a value in a tree takes sixty bytes.
const MANY: usize = 1 << 12;
const SHORT: usize = 12;

/// A JSON value that borrows from its record. Objects keep the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Json<'a> {
    Null,
    Bool(bool),
    Number(f64),
    Integer(i64),
    Str(Cow<'a, str>),
    Array(Vec<Self>),
    /// An object. If a key is repeated, the last one counts.
    Object(Vec<(Cow<'a, str>, Self)>),
    /// The source text of a value that is nested too deeply, or contains too many values.
    Deep(Cow<'a, str>),
}

/// The value of a missing member.
static NULL: Json<'static> = Json::Null;

impl<'a> Json<'a> {
    /// The member with this name; `Null` if it is missing or this is not an object.
    pub fn get(&self, name: &str) -> &Self {
        match self {
            Self::Object(members) => members
                .iter()
                .rev()
                .find(|(key, _)| is_named(key, name))
                .map_or(null(), |(_, v)| v),
            _ => null(),
        }
    }

    /// The member at a path of names with dots between them: `message.role`.
    pub(crate) fn at(&self, path: &str) -> &Self {
        path.split('.').fold(self, Self::get)
    }

    /// The result of `read` for the first of these paths for which it succeeds, since agents
    /// rename members.
    pub(crate) fn first<'s, T>(
        &'s self,
        paths: &[&str],
        read: impl Fn(&'s Self) -> Option<T>,
    ) -> Option<T> {
        paths.iter().find_map(|path| read(self.at(path)))
    }

    /// The member at the first path, or that at the second if it is missing or `null`.
    pub(crate) fn either(&self, path: &str, other: &str) -> &Self {
        match self.at(path) {
            Self::Null => self.at(other),
            value => value,
        }
    }

    /// Whether an object has this member, even if it is `null`.
    pub(crate) fn has(&self, name: &str) -> bool {
        matches!(self, Self::Object(members) if members.iter().any(|(key, _)| is_named(key, name)))
    }

    /// The string; `None` for other values.
    pub(crate) fn str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// Whether this is a string that equals `text`.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.str() == Some(text)
    }

    /// The string as a clean text; empty for other values.
    pub(crate) fn clean(&self) -> Text {
        Text::clean(self.str_or_empty())
    }

    /// The string; empty for other values.
    pub(crate) fn str_or_empty(&self) -> &str {
        self.str().unwrap_or("")
    }

    /// The type by which agents name the kind of a record or part; empty without one.
    pub(crate) fn kind(&self) -> &str {
        self.get("type").str_or_empty()
    }

    /// The string, unless it is blank.
    pub(crate) fn filled(&self) -> Option<&str> {
        self.str().filter(|text| !text.trim().is_empty())
    }

    /// The text of a content part, which is a string or an object with a `text`.
    pub(crate) fn part_text(&self) -> Option<&str> {
        self.str().or_else(|| self.get("text").str())
    }

    /// The number. Numeric strings count, as some agents write them.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(n) => Some(*n),
            Self::Integer(n) => Some(*n as f64),
            Self::Str(text) => text.trim().parse().ok().filter(|n: &f64| n.is_finite()),
            _ => None,
        }
    }

    /// The number as a count: negative numbers are 0, fractions are truncated.
    pub(crate) fn count(&self) -> Option<u64> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "float casts saturate"
        )]
        self.number().map(|n| n.max(0.0) as u64)
    }

    /// The integer; fractions are truncated.
    pub fn int(&self) -> Option<i64> {
        match self {
            Self::Integer(n) => Some(*n),
            #[expect(clippy::cast_possible_truncation, reason = "float casts saturate")]
            other => other.number().map(|n| n as i64),
        }
    }

    pub(crate) fn is_true(&self) -> bool {
        matches!(self, Self::Bool(true))
    }

    /// Whether it is `null` or missing.
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// The items of an array; empty for other values.
    pub(crate) fn items(&self) -> &[Self] {
        match self {
            Self::Array(items) => items,
            _ => &[],
        }
    }

    /// The members of an object; empty for other values.
    pub(crate) fn members(&self) -> &[(Cow<'a, str>, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    /// A timestamp: RFC 3339, or a number of seconds or milliseconds.
    pub(crate) fn moment(&self) -> Option<Timestamp> {
        match self {
            Self::Str(text) => Timestamp::parse(text)
                .or_else(|| text.parse().ok().and_then(Timestamp::from_number)),
            other => other.number().and_then(Timestamp::from_number),
        }
    }

    /// The string as a clean text, unless it is blank.
    pub(crate) fn text(&self) -> Option<Text> {
        self.filled().map(Text::clean)
    }

    /// The content blocks: the items of an array, or a plain string or object as the only block.
    pub(crate) fn blocks(&self) -> &[Self] {
        match self {
            Self::Array(items) => items,
            Self::Null => &[],
            other => std::slice::from_ref(other),
        }
    }

    /// A copy that borrows nothing.
    pub(crate) fn into_owned(self) -> Json<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        match self {
            Self::Null => Json::Null,
            Self::Bool(flag) => Json::Bool(flag),
            Self::Number(number) => Json::Number(number),
            Self::Integer(number) => Json::Integer(number),
            Self::Str(text) => Json::Str(owned(text)),
            Self::Deep(source) => Json::Deep(owned(source)),
            Self::Array(items) => Json::Array(items.into_iter().map(Self::into_owned).collect()),
            Self::Object(members) => Json::Object(
                members
                    .into_iter()
                    .map(|(key, value)| (owned(key), value.into_owned()))
                    .collect(),
            ),
        }
    }

    /// Converts the value to a tree of the model. A value whose tree would take many times the
    /// memory of its source stays text.
    pub fn to_tree(&self) -> Tree {
        match self {
            Self::Array(_) | Self::Object(_) if self.is_dense() => {
                Tree::Text(Text::clean(&self.to_source()))
            }
            Self::Null => Tree::Null,
            Self::Bool(flag) => Tree::Bool(*flag),
            Self::Number(n) => Tree::Number(Text::clean(&n.to_string())),
            Self::Integer(n) => Tree::Number(Text::clean(&n.to_string())),
            Self::Str(text) => Tree::Text(Text::clean(text)),
            Self::Array(items) => Tree::List(items.iter().map(Self::to_tree).collect()),
            Self::Object(members) => Tree::Map(
                members
                    .iter()
                    .map(|(k, v)| (Text::clean(k), v.to_tree()))
                    .collect(),
            ),
            Self::Deep(source) => Tree::Text(Text::clean(source)),
        }
    }

    /// Converts the value to a body with a headline.
    pub(crate) fn to_body(&self, headline: &Text, out: &mut Batch) -> Body {
        out.tree(headline, self.weight(), || self.to_tree())
    }

    /// Makes a block that shows the value under a title.
    pub(crate) fn to_block(&self, title: &str, out: &mut Batch) -> BlockKind {
        let title = Text::clean(title);
        let body = self.to_body(&title, out);
        BlockKind::Raw(Raw { title, body })
    }

    /// Whether it contains many values of a few bytes each.
    fn is_dense(&self) -> bool {
        let values = self.values();
        values > MANY && values * SHORT > self.weight()
    }

    fn values(&self) -> usize {
        match self {
            Self::Array(items) => 1 + items.iter().map(Self::values).sum::<usize>(),
            Self::Object(members) => {
                1 + members
                    .iter()
                    .map(|(_, value)| value.values())
                    .sum::<usize>()
            }
            _ => 1,
        }
    }

    /// The approximate size of the value in a file, in bytes.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Integer(_) => 4,
            Self::Str(text) => text.len() + 2,
            Self::Array(items) => 2 + items.iter().map(|item| item.weight() + 1).sum::<usize>(),
            Self::Object(members) => {
                2 + members
                    .iter()
                    .map(|(key, value)| key.len() + 4 + value.weight())
                    .sum::<usize>()
            }
            Self::Deep(source) => source.len(),
        }
    }

    pub(crate) fn print(&self, hasher: &mut impl Hasher) {
        match self {
            Self::Null => hasher.write_u8(0),
            Self::Bool(flag) => hasher.write_u8(1 + u8::from(*flag)),
            Self::Number(n) => hasher.write_u64(n.to_bits()),
            Self::Integer(n) => hasher.write_i64(*n),
            Self::Str(text) => text.hash(hasher),
            Self::Array(items) => {
                hasher.write_usize(items.len());
                for item in items {
                    item.print(hasher);
                }
            }
            Self::Object(members) => {
                hasher.write_usize(members.len());
                for (name, value) in members {
                    name.hash(hasher);
                    value.print(hasher);
                }
            }
            Self::Deep(source) => source.hash(hasher),
        }
    }

    /// The value as compact JSON text.
    pub fn to_source(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
            Self::Number(n) => out.push_str(&n.to_string()),
            Self::Integer(n) => out.push_str(&n.to_string()),
            Self::Str(text) => push_quoted(out, text),
            Self::Array(items) => {
                out.push('[');
                for (place, item) in items.iter().enumerate() {
                    if place > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (place, (key, value)) in members.iter().enumerate() {
                    if place > 0 {
                        out.push(',');
                    }
                    push_quoted(out, key);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
            Self::Deep(source) => out.push_str(source),
        }
    }
}

/// Compares the last bytes first: they differ in most keys of the same length, and this is cheaper
/// than a call to compare the keys.
fn is_named(key: &str, name: &str) -> bool {
    key.len() == name.len() && key.as_bytes().last() == name.as_bytes().last() && key == name
}

fn push_quoted(out: &mut String, text: &str) {
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

/// The shared `null`, with the lifetime of the caller.
fn null<'j, 'a>() -> &'j Json<'a> {
    // `Json` is covariant in its lifetime, so that the static value has any lifetime.
    &NULL
}

/// Parses a text that is one JSON value.
pub fn read(text: &str) -> Option<Json<'_>> {
    read_without(text, &[])
}

/// As [`read`], with the reason for a failure.
pub fn parse(text: &str) -> Result<Json<'_>, Damage> {
    read(text).ok_or_else(|| {
        damage::find(text).unwrap_or_else(|| Damage {
            at: 0,
            what: "no JSON value".to_owned(),
            trailing: false,
            unfinished: false,
        })
    })
}

/// Byte ranges of consecutive JSON values in a text, up to the first damage.
pub fn split(text: &str) -> Vec<std::ops::Range<usize>> {
    let text = python::without_python(text, python::as_wide);
    let mut stream = serde_json::Deserializer::from_str(&text).into_iter::<&RawValue>();
    let mut ranges = Vec::new();
    let mut start = 0;
    while let Some(Ok(_)) = stream.next() {
        let end = stream.byte_offset();
        ranges.push(start..end);
        start = end;
    }
    ranges
}

#[cfg(test)]
mod tests;
