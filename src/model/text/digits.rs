//! Texts for packing: ids, which agents write as hexadecimal digits, take half the room as bytes.
//!
//! Invariant: what is taken apart comes back letter by letter; what would not is left as it is.

use serde::de::{Error, SeqAccess, Visitor};
use serde::ser::SerializeTuple;
use serde::{Deserializer, Serializer};

/// Fewer digits are not worth it.
const WORTH_IT: usize = 16;
/// Places of the dashes in a UUID.
const DASHES: [usize; 4] = [8, 13, 18, 23];
/// Letters of a UUID.
const UUID: usize = 36;

/// How a text was written.
const AS_IT_IS: u8 = 0;
const AS_UUID: u8 = 1;
const AS_DIGITS: u8 = 2;

/// Writes a text.
pub(super) fn serialize<S: Serializer>(text: &str, to: S) -> Result<S::Ok, S::Error> {
    let mut tuple = to.serialize_tuple(3)?;
    if let Some(bytes) = bytes_of_uuid(text) {
        tuple.serialize_element(&AS_UUID)?;
        tuple.serialize_element(bytes.as_slice())?;
    } else if let Some((before, bytes)) = bytes_at_end(text) {
        tuple.serialize_element(&AS_DIGITS)?;
        tuple.serialize_element(before)?;
        tuple.serialize_element(bytes.as_slice())?;
    } else {
        tuple.serialize_element(&AS_IT_IS)?;
        tuple.serialize_element(text)?;
    }
    tuple.end()
}

/// Reads a text that was written so, and hands it to a function.
pub(super) fn deserialize<'de, D: Deserializer<'de>, T>(
    from: D,
    make: impl Fn(&str) -> Option<T>,
) -> Result<T, D::Error> {
    from.deserialize_tuple(3, Texts(make))
}

struct Texts<F>(F);

impl<'de, T, F: Fn(&str) -> Option<T>> Visitor<'de> for Texts<F> {
    type Value = T;

    fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("a text as it was packed")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<T, A::Error> {
        let lacks = || A::Error::custom("a part of a text is missing");
        let made = match parts.next_element::<u8>()? {
            Some(AS_IT_IS) => (self.0)(parts.next_element::<&str>()?.ok_or_else(lacks)?),
            Some(AS_UUID) => {
                let bytes: &[u8] = parts.next_element()?.ok_or_else(lacks)?;
                let mut text = String::with_capacity(UUID);
                push_digits(&mut text, bytes, &DASHES);
                (self.0)(&text)
            }
            Some(AS_DIGITS) => {
                let before: &str = parts.next_element()?.ok_or_else(lacks)?;
                let bytes: &[u8] = parts.next_element()?.ok_or_else(lacks)?;
                let mut text = String::with_capacity(before.len() + 2 * bytes.len());
                text.push_str(before);
                push_digits(&mut text, bytes, &[]);
                (self.0)(&text)
            }
            _ => None,
        };
        made.ok_or_else(|| A::Error::custom("a text that is not safe to show"))
    }
}

fn bytes_of_uuid(text: &str) -> Option<[u8; 16]> {
    let letters: &[u8; UUID] = text.as_bytes().try_into().ok()?;
    let mut digits =
        letters.iter().enumerate().filter(|(at, _)| !DASHES.contains(at)).map(|(_, digit)| *digit);
    let mut bytes = [0; 16];
    for byte in &mut bytes {
        *byte = value(digits.next()?)? << 4 | value(digits.next()?)?;
    }
    DASHES.iter().all(|at| letters.get(*at) == Some(&b'-')).then_some(bytes)
}

/// The bytes for the digits at the end of a text, and what stands before them.
fn bytes_at_end(text: &str) -> Option<(&str, Vec<u8>)> {
    let digits = text.bytes().rev().take_while(|byte| value(*byte).is_some()).count() & !1;
    (digits >= WORTH_IT).then_some(())?;
    let (before, digits) = text.split_at_checked(text.len() - digits)?;
    let (pairs, _) = digits.as_bytes().as_chunks();
    let bytes: Option<_> = pairs.iter().map(|[high, low]| Some(value(*high)? << 4 | value(*low)?)).collect();
    Some((before, bytes?))
}

/// Only small letters, so that a digit can be written in one way.
fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

fn push_digits(text: &mut String, bytes: &[u8], dashes: &[usize]) {
    for byte in bytes {
        if dashes.contains(&text.len()) {
            text.push('-');
        }
        text.extend(
            [byte >> 4, byte & 15].into_iter().filter_map(|digit| char::from_digit(digit.into(), 16)),
        );
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use crate::model::text::Text;

    fn assert_comes_back(raw: &str) -> usize {
        let text = Text::output(raw);
        let bytes = postcard::to_stdvec(&text).unwrap();
        assert_eq!(postcard::from_bytes::<Text>(&bytes).unwrap(), text);
        bytes.len()
    }

    #[test]
    fn ids_take_half_the_room_and_come_back() {
        assert_eq!(assert_comes_back("c597741d-72cf-45db-98dc-6664e6af0661"), 18);
        assert_eq!(assert_comes_back("toolu_a6e47ad8b2864a4290c7a2e5"), 21);
        for odd in [
            "",
            "c597741d-72cf-45db-98dc-6664e6af066",
            "C597741D-72CF-45DB-98DC-6664E6AF0661",
            "c597741d-72cf-45db-98dc-6664e6af066é",
            "c597741d072cf-45db-98dc-6664e6af0661",
            "0123456789abcdef0",
            "é0123456789abcdef",
            "01234567",
        ] {
            assert_comes_back(odd);
        }
    }

    #[test]
    fn json_shows_the_text() {
        let id = "c597741d-72cf-45db-98dc-6664e6af0661";
        assert_eq!(serde_json::to_string(&Text::from(id)).unwrap(), format!("\"{id}\""));
    }

    proptest! {
        #[test]
        fn any_text_comes_back(raw: String, digits in "[0-9a-f-]{0,40}") {
            assert_comes_back(&raw);
            assert_comes_back(&(raw + &digits));
            assert_comes_back(&digits);
        }
    }
}
