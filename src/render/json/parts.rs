//! Iterates over the children of a JSON text that is too large to be parsed, as slices of the
//! text.
//!
//! Invariant: reads only up to the requested child, and stores only its position.

use super::string;
use crate::model::text::Text;

/// A child: its key if it is a member of an object, and the text of its value.
pub(crate) type JsonChild<'a> = (Option<Text>, &'a str);

/// Iterator over the children of an object or array; ends where the text is not JSON.
pub(crate) struct JsonChildren<'a> {
    pub(crate) rest: &'a str,
    is_map: bool,
}

impl<'a> JsonChildren<'a> {
    /// `text` begins with `{` or `[`.
    pub(crate) fn of(text: &'a str) -> Self {
        let is_map = text.starts_with('{');
        Self {
            rest: text.get(1..).unwrap_or_default(),
            is_map,
        }
    }
}

impl<'a> Iterator for JsonChildren<'a> {
    type Item = JsonChild<'a>;

    fn next(&mut self) -> Option<JsonChild<'a>> {
        let mut rest = self.rest.trim_start();
        rest = rest.strip_prefix(',').map_or(rest, str::trim_start);
        let mut key = None;
        if self.is_map {
            let (name, after) = rest.split_at_checked(length_of_string(rest)?)?;
            key = Some(string(name));
            rest = after.trim_start().strip_prefix(':')?.trim_start();
        }
        let (value, after) = rest.split_at_checked(length(rest)?)?;
        self.rest = after;
        Some((key, value))
    }
}

/// Length in bytes of the value at the start of a text.
fn length(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'}' | b']' | b',' | b' ' | b'\n' | b'\r' | b'\t' if depth == 0 => {
                return (at > 0).then_some(at);
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 1 => return Some(at + 1),
            b'}' | b']' => depth -= 1,
            b'"' => {
                let end = end_of_string(&mut bytes)?;
                if depth == 0 {
                    return Some(end + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn length_of_string(text: &str) -> Option<usize> {
    let mut bytes = text.bytes().enumerate();
    let begins = bytes.next().is_some_and(|(_, byte)| byte == b'"');
    begins.then(|| end_of_string(&mut bytes))?.map(|at| at + 1)
}

fn end_of_string(bytes: &mut impl Iterator<Item = (usize, u8)>) -> Option<usize> {
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => return Some(at),
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::JsonChildren;

    fn parts(text: &str) -> Vec<(String, &str)> {
        JsonChildren::of(text)
            .map(|(key, value)| (key.map(|key| key.to_string()).unwrap_or_default(), value))
            .collect()
    }

    #[test]
    fn children_are_parts_of_the_text() {
        let found = parts(r#"{"a": [1, "]\"", {"b": 2}] , "c\n" : "x,}", "d":-1.5}"#);
        let texts: Vec<&str> = found.iter().map(|(_, value)| *value).collect();
        assert_eq!(texts, [r#"[1, "]\"", {"b": 2}]"#, r#""x,}""#, "-1.5"]);
        assert_eq!(found[1].0, "c\n");
        assert_eq!(parts("[ 1,2 , [] ]").len(), 3);
        assert_eq!(parts("[]"), []);
    }

    #[test]
    fn a_broken_text_ends_the_children() {
        assert_eq!(parts(r#"{"a": 1, b}"#).len(), 1);
        assert_eq!(parts(r#"["open"#).len(), 0);
        assert_eq!(parts("[1, [2").len(), 1);
    }
}
