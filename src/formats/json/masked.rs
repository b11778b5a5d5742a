//! Masks secrets in the strings of a record.
//!
//! Invariant: everything else keeps its offset; a string that becomes shorter is followed by
//! spaces.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::{Json, parse, push_quoted};
use crate::model::text::secrets::Mask;
use crate::model::text::{text_of, without_sgr};

/// A copy of the record with its secrets masked; `None` if it has none. `is_text`: the record is
/// text, even if it looks like JSON.
pub(crate) fn masked(bytes: &[u8], is_text: bool, mask: &mut Mask) -> Option<Vec<u8>> {
    if is_text || !matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'[' | b'"')) {
        return mask
            .apply(&without_sgr(&text_of(bytes)))
            .map(String::into_bytes);
    }
    let mut out = Vec::new();
    let mut taken = 0;
    let mut name: &[u8] = &[];
    let mut at = 0;
    while let Some(start) =
        memchr(b'"', bytes.get(at..).unwrap_or_default()).map(|found| at + found + 1)
    {
        let end = end_of_string(bytes, start);
        let content = bytes.get(start..end).unwrap_or_default();
        let is_named = bytes.get(at..start - 1).unwrap_or_default().trim_ascii() == b":";
        let new = string(if is_named { name } else { &[] }, content, mask);
        if let Some(new) = new {
            out.extend_from_slice(bytes.get(taken..start).unwrap_or_default());
            out.extend_from_slice(new.as_bytes());
            taken = (end + 1).min(bytes.len());
            out.extend_from_slice(bytes.get(end..taken).unwrap_or_default());
            let missing = content.len().saturating_sub(new.len());
            out.resize(out.len() + missing, b' ');
        }
        name = if is_named { &[] } else { content };
        at = end + 1;
    }
    if taken == 0 {
        return None;
    }
    out.extend_from_slice(bytes.get(taken..).unwrap_or_default());
    Some(out)
}

/// The offset of the quotation mark that ends the string whose content begins at `start`.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    loop {
        let Some(found) = memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) else {
            return bytes.len();
        };
        at += found;
        if bytes.get(at) == Some(&b'"') {
            return at;
        }
        at += 2;
    }
}

/// The content of a string with its secrets masked; `None` if it has none.
fn string(name: &[u8], content: &[u8], mask: &mut Mask) -> Option<String> {
    let name = text_of(name);
    if memchr(b'\\', content).is_none() {
        return mask
            .apply_named(&name, &text_of(content))
            .map(|text| written(&text));
    }
    let quoted = format!("\"{}\"", text_of(content));
    let Ok(Json::Str(read)) = parse(&quoted) else {
        // A lone surrogate, or an unknown escape.
        return mask.apply(&text_of(content));
    };
    let plain: Cow<'_, str> = without_sgr(&read);
    mask.apply_named(&name, &plain).map(|text| written(&text))
}

fn written(text: &str) -> String {
    let mut quoted = String::new();
    push_quoted(&mut quoted, text);
    quoted
        .get(1..quoted.len().saturating_sub(1))
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::masked;
    use crate::formats::json::parse;
    use crate::model::text::secrets::Mask;

    fn of(record: &str) -> (String, usize) {
        let mut mask = Mask::default();
        let new = masked(record.as_bytes(), false, &mut mask);
        (
            new.map_or(record.to_owned(), |new| String::from_utf8(new).unwrap()),
            mask.count(),
        )
    }

    #[test]
    fn strings_lose_their_secrets_and_all_else_stays_where_it_is() {
        let key = "ghp_0123456789abcdefghijABCDEFGHIJ";
        for (record, expected) in [
            (
                format!(r#"{{"a":"x {key} y","b":[1,"{key}"]}}"#),
                vec!["x ghp_[masked] y", "ghp_[masked]"],
            ),
            (
                format!(r#"{{"a":"q\"\\ {key}\né","n":2}}"#),
                vec!["ghp_[masked]\\né"],
            ),
            (format!(r#"{{"{key}":1}}"#), vec!["ghp_[masked]"]),
            (
                r#"{"password":"hunter2","max_tokens":4096,"p":"hunter2"}"#.to_owned(),
                vec!["\"password\":\"[masked]\""],
            ),
            (
                format!(r#"{{"arguments":"{{\"cmd\":\"echo \\n{key}\"}}"}}"#),
                vec!["ghp_[masked]"],
            ),
            (
                format!(
                    "{{\"a\":\"\\u001b[31mghp_\\u001b[0m{}\"}}",
                    key.get(4..).unwrap()
                ),
                vec!["ghp_[masked]"],
            ),
            (format!(r#"{{"a":"\ud800 {key}"}}"#), vec!["ghp_[masked]"]),
            (format!(r#"{{"a":"torn {key}"#), vec!["ghp_[masked]"]),
        ] {
            let (new, count) = of(&record);
            assert_eq!(count, 1, "{record} {new}");
            assert!(
                expected.iter().all(|part| new.contains(part)),
                "{record} {new}"
            );
            assert!(!new.contains("0123456789"), "{new}");
            assert_eq!(parse(&new).is_ok(), parse(&record).is_ok(), "{new}");
            if !record.contains("hunter2") {
                assert_eq!(new.len(), record.len(), "{new}");
            }
        }
        let plain = r#"{"a":"nothing","token":"","tokens":"12345678","b":null}"#;
        assert_eq!(of(plain), (plain.to_owned(), 0));
        let mut mask = Mask::default();
        let text = masked(b"# Notes\nPASSWORD=hunter2\n", false, &mut mask).unwrap();
        assert_eq!(text, b"# Notes\nPASSWORD=[masked]\n");
    }
}
