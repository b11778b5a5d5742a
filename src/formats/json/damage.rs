//! Why a text is not one JSON value: the words of a parser that builds nothing.
//!
//! Invariant: nothing recurses deeper than `MAX_DEPTH`; what lies deeper is only skipped.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::MAX_DEPTH;

/// Why a text is not one JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Byte offset of the trouble within the text.
    pub(crate) at: usize,
    /// What is wrong, in the parser's words.
    pub(crate) what: String,
    /// A value was read, and more follows: the text may hold several values.
    pub(crate) trailing: bool,
    /// The text ends in the middle of a value.
    pub(crate) unfinished: bool,
}

/// What is wrong with a text; `None` if it is one JSON value.
pub(super) fn find(text: &str) -> Option<Damage> {
    let text = &*without_python(text, as_wide);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = Seed::default().deserialize(&mut deserializer).and_then(|()| deserializer.end());
    let error = read.err()?;
    Some(Damage {
        at: offset_of(text, &error),
        what: describe(&error),
        trailing: error.to_string().starts_with("trailing characters"),
        unfinished: error.is_eof(),
    })
}

/// The numbers that Python writes and JSON has no words for.
const PYTHON: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// An empty array as wide as a word, so that all else stays where it is.
pub(super) fn as_wide(word: &str) -> String {
    format!("[{:1$}]", "", word.len() - 2)
}

/// The text with something that is JSON instead of each number that only Python writes.
pub(super) fn without_python(text: &str, instead: impl Fn(&str) -> String) -> Cow<'_, str> {
    if !PYTHON.iter().any(|word| text.contains(word)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let (mut in_string, mut is_escaped) = (false, false);
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let word = PYTHON.iter().find(|word| !in_string && rest.starts_with(**word));
        if let Some(word) = word {
            out.push_str(&instead(word));
            at += word.len();
            continue;
        }
        let Some(c) = rest.chars().next() else { break };
        at += c.len_utf8();
        in_string ^= c == '"' && !is_escaped;
        is_escaped = in_string && c == '\\' && !is_escaped;
        out.push(c);
    }
    Cow::Owned(out)
}

fn offset_of(text: &str, error: &serde_json::Error) -> usize {
    let line_start: usize =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    line_start + error.column().saturating_sub(1)
}

fn describe(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.split(" at line ").next().unwrap_or(&message).to_owned()
}

/// What a value is looked at by: the depth at which it lies. Unlike `IgnoredAny` it looks into strings
/// and numbers.
#[derive(Clone, Copy, Default)]
struct Seed {
    depth: u8,
}

impl<'de> DeserializeSeed<'de> for Seed {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.depth >= MAX_DEPTH {
            let _: &'de RawValue = serde::Deserialize::deserialize(deserializer)?;
            return Ok(());
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        while access.next_element_seed(Self { depth: self.depth + 1 })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        while access.next_key_seed(Key)?.is_some() {
            access.next_value_seed(Self { depth: self.depth + 1 })?;
        }
        Ok(())
    }
}

/// A key, whose escapes are looked at, too.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(Seed::default())
    }
}
