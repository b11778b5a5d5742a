//! Builds values with serde_json's parser. Strings without escapes borrow from the text.
//!
//! Invariant: nothing recurses deeper than `MAX_DEPTH`; deeper values stay source text, and so does
//! a text of more than `MOST` values.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::python::without_python;
use super::{Json, MAX_DEPTH};

/// The maximum number of values of a text, since a tree of two-byte values takes twenty times the
/// memory of its text.
const MOST: usize = 1 << 20;

/// Parses a text that is one JSON value. The values of members named in `closed` are not parsed and
/// stay source text.
pub(crate) fn read_without<'a>(text: &'a str, closed: &'static [&'static str]) -> Option<Json<'a>> {
    read_strictly(text, closed).ok().or_else(|| {
        match without_python(text, |word| format!("\"{word}\"")) {
            Cow::Borrowed(_) => None,
            Cow::Owned(mended) => read_strictly(&mended, closed).ok().map(Json::into_owned),
        }
    })
}

/// As [`read_without`], for strict JSON, with the reason for a failure.
pub(super) fn read_strictly<'a>(
    text: &'a str,
    closed: &'static [&'static str],
) -> serde_json::Result<Json<'a>> {
    let values = Cell::new(0);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = ValueSeed {
        depth: 0,
        values: &values,
        closed,
    }
    .deserialize(&mut deserializer);
    if values.get() > MOST {
        return serde_json::from_str(text).map(|raw: &RawValue| Json::Deep(raw.get().into()));
    }
    value.and_then(|value| deserializer.end().map(|()| value))
}

/// Deserializes a value within the limits of depth and number of values.
#[derive(Clone, Copy)]
struct ValueSeed<'c> {
    depth: u8,
    /// The number of values so far.
    values: &'c Cell<usize>,
    closed: &'static [&'static str],
}

impl ValueSeed<'_> {
    fn inner(self) -> Self {
        Self {
            depth: self.depth + 1,
            ..self
        }
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Json<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json<'de>, D::Error> {
        if self.depth >= MAX_DEPTH {
            return <&RawValue>::deserialize(deserializer).map(|raw| Json::Deep(raw.get().into()));
        }
        self.values.set(self.values.get() + 1);
        if self.values.get() > MOST {
            return Err(D::Error::custom("too many values"));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Json<'de>, E> {
        Ok(Json::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json<'de>, E> {
        Ok(Json::Integer(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json<'de>, E> {
        Ok(i64::try_from(number).map_or(Json::Number(number as f64), Json::Integer))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json<'de>, E> {
        Ok(Json::Number(number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::Str(text.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json<'de>, E> {
        Ok(Json::Str(text.to_owned().into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json<'de>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(self.inner())? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json<'de>, A::Error> {
        // Most records and blocks have about this many members.
        let mut members = Vec::with_capacity(8);
        while let Some(KeySeed(key)) = access.next_key()? {
            let value = if self.closed.contains(&&*key) {
                let source = access.next_value::<&RawValue>()?.get();
                as_written(source).ok_or_else(|| A::Error::custom("no value"))?
            } else {
                access.next_value_seed(self.inner())?
            };
            members.push((key, value));
        }
        Ok(Json::Object(members))
    }
}

/// The source text of a member that is not parsed. Numbers, booleans and null are parsed.
fn as_written(source: &str) -> Option<Json<'_>> {
    match source.as_bytes() {
        [b'"', .., b'"'] => Some(Json::Str(source.get(1..source.len() - 1)?.into())),
        [b'[' | b'{', ..] => Some(Json::Str(source.into())),
        _ => read_strictly(source, &[]).ok(),
    }
}

#[derive(Deserialize)]
struct KeySeed<'a>(#[serde(borrow)] Cow<'a, str>);
