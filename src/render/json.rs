//! Parses JSON texts for display: tool results are often JSON, and a tree is easier to read.
//!
//! Invariant: never fails and never recurses deeper than `MAX_DEPTH`; text that is not JSON to its
//! end gives `None` and is shown as text.

mod parts;

pub(crate) use parts::JsonChildren;
use serde_json::value::RawValue;

use crate::model::body::Tree;
use crate::model::text::Text;

/// Deeper values are shown as text.
const MAX_DEPTH: usize = 64;
/// Larger texts are not parsed.
const MAX_BYTES: usize = 512 * 1024;

/// Parses a text that is one JSON object or array.
pub fn parse(text: &str) -> Option<Tree> {
    let trimmed = text.trim();
    if trimmed.len() > MAX_BYTES || !is_enclosed(trimmed) {
        return None;
    }
    value(trimmed)
}

/// Parses any JSON value.
pub(crate) fn value(text: &str) -> Option<Tree> {
    serde_json::from_str::<&RawValue>(text).ok()?;
    tree(text.trim(), 0)
}

/// The value of a text that is JSON.
fn tree(text: &str, depth: usize) -> Option<Tree> {
    if depth > MAX_DEPTH {
        return None;
    }
    Some(match text.chars().next()? {
        '{' => {
            let members = JsonChildren::of(text)
                .map(|(key, value)| Some((key.unwrap_or_default(), tree(value, depth + 1)?)));
            Tree::Map(members.collect::<Option<_>>()?)
        }
        '[' => {
            let items = JsonChildren::of(text).map(|(_, value)| tree(value, depth + 1));
            Tree::List(items.collect::<Option<_>>()?)
        }
        '"' => Tree::Text(string(text)),
        'n' => Tree::Null,
        't' => Tree::Bool(true),
        'f' => Tree::Bool(false),
        _ => Tree::Number(Text::clean(text)),
    })
}

/// A string; a literal with half of a surrogate pair is shown as written.
fn string(literal: &str) -> Text {
    match serde_json::from_str::<String>(literal) {
        Ok(text) => Text::output(&text),
        Err(_) => Text::output(literal.trim_matches('"')),
    }
}

/// A text too large to parse that looks like an object or array by its start and end.
pub(crate) fn large(text: &str) -> Option<&str> {
    let trimmed = text.trim();
    let is_large = trimmed.len() > MAX_BYTES && is_enclosed(trimmed);
    (is_large && JsonChildren::of(trimmed).next().is_some()).then_some(trimmed)
}

/// Whether a part of a large text is small enough to be parsed.
pub(crate) fn is_small(text: &str) -> bool {
    text.len() <= MAX_BYTES
}

fn is_enclosed(text: &str) -> bool {
    (text.starts_with('{') && text.ends_with('}')) || (text.starts_with('[') && text.ends_with(']'))
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::model::body::Tree;

    #[test]
    fn reads_json() {
        let tree =
            parse(r#" {"a": [1, -2.5e3, true, null], "b": "x\n\ud83d\ude00\u00e9", "c": {}} "#)
                .unwrap();
        assert_eq!(tree.get("a").unwrap().items().len(), 4);
        assert_eq!(tree.get("b").unwrap().as_text().unwrap().as_str(), "x\n😀é");
        assert_eq!(tree.get("c"), Some(&Tree::Map(Vec::new())));
    }

    #[test]
    fn leaves_other_texts_alone() {
        for text in [
            "",
            "x",
            "12",
            "{",
            "{}x}",
            "[1,]",
            "{\"a\"}",
            "[\"\\u12\"]",
            "[1] and [2]",
            "[INFO] ok [x]",
        ] {
            assert!(parse(text).is_none(), "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).is_none());
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert!(parse(&deep).is_none());
    }

    #[test]
    fn escapes_cannot_smuggle_control_characters() {
        let tree = parse(r#"["\u001b]0;x\u0007\u202e"]"#).unwrap();
        assert!(
            !tree.items()[0]
                .as_text()
                .unwrap()
                .chars()
                .any(char::is_control)
        );
    }
}
