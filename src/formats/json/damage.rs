//! Why a text is not one JSON value, in the parser's words.

use std::borrow::Cow;

use super::reader::read_strictly;

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
    let error = read_strictly(text, &[]).err()?;
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
    if !["NaN", "Infinity"].iter().any(|word| text.contains(word)) {
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
