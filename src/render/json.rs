//! Parses JSON texts for display: tool results are often JSON, and a tree is easier to read.
//!
//! Invariant: never fails and never recurses deeper than `MAX_DEPTH`; text that is not JSON to its
//! end gives `None` and is shown as text.

mod parts;

pub(crate) use parts::JsonChildren;

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
    let mut reader = JsonReader { rest: text };
    let tree = reader.value(0)?;
    reader.skip_blanks();
    reader.rest.is_empty().then_some(tree)
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

struct JsonReader<'a> {
    rest: &'a str,
}

impl JsonReader<'_> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, sign: char) -> bool {
        self.skip_blanks();
        let found = self.rest.strip_prefix(sign);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn value(&mut self, depth: usize) -> Option<Tree> {
        self.skip_blanks();
        match self.rest.chars().next()? {
            _ if depth > MAX_DEPTH => None,
            '{' => self.map(depth),
            '[' => self.list(depth),
            '"' => self.string().map(Tree::Text),
            _ => self.word(),
        }
    }

    fn map(&mut self, depth: usize) -> Option<Tree> {
        let mut members = Vec::new();
        self.eat('{');
        if self.eat('}') {
            return Some(Tree::Map(members));
        }
        loop {
            self.skip_blanks();
            let key = self.string()?;
            if !self.eat(':') {
                return None;
            }
            members.push((key, self.value(depth + 1)?));
            if self.eat('}') {
                return Some(Tree::Map(members));
            }
            if !self.eat(',') {
                return None;
            }
        }
    }

    fn list(&mut self, depth: usize) -> Option<Tree> {
        let mut items = Vec::new();
        self.eat('[');
        if self.eat(']') {
            return Some(Tree::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.eat(']') {
                return Some(Tree::List(items));
            }
            if !self.eat(',') {
                return None;
            }
        }
    }

    fn word(&mut self) -> Option<Tree> {
        let end = self
            .rest
            .find([',', ']', '}', ' ', '\n', '\t', ':'])
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        match word {
            "null" => Some(Tree::Null),
            "true" => Some(Tree::Bool(true)),
            "false" => Some(Tree::Bool(false)),
            _ if word.starts_with(|c: char| c == '-' || c.is_ascii_digit())
                && word.parse::<f64>().is_ok() =>
            {
                Some(Tree::Number(Text::clean(word)))
            }
            _ => None,
        }
    }

    fn string(&mut self) -> Option<Text> {
        let mut rest = self.rest.strip_prefix('"')?;
        let mut out = String::new();
        loop {
            let stop = rest.find(['"', '\\'])?;
            out.push_str(rest.get(..stop)?);
            rest = rest.get(stop..)?;
            if let Some(after) = rest.strip_prefix('"') {
                self.rest = after;
                return Some(Text::output(&out));
            }
            rest = escape(rest.strip_prefix('\\')?, &mut out)?;
        }
    }
}

/// Decodes an escape after its backslash; returns the rest.
fn escape<'a>(rest: &'a str, out: &mut String) -> Option<&'a str> {
    let mut chars = rest.chars();
    let sign = chars.next()?;
    let plain = match sign {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'u' => {
            let code = u32::from_str_radix(rest.get(1..5)?, 16).ok()?;
            let after = rest.get(5..)?;
            let low = after
                .strip_prefix("\\u")
                .and_then(|low| u32::from_str_radix(low.get(..4)?, 16).ok());
            let (code, after) = match (code, low) {
                (0xd800..0xdc00, Some(low @ 0xdc00..0xe000)) => (
                    0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00),
                    after.get(6..)?,
                ),
                (code, _) => (code, after),
            };
            out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
            return Some(after);
        }
        other => other,
    };
    out.push(plain);
    Some(chars.as_str())
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
