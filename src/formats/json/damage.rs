//! Why a text is not one JSON value, in the parser's words.

use super::python::{as_wide, without_python};
use super::reader::read_strictly;

/// Why a text is not one JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Byte offset of the error in the text.
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

fn offset_of(text: &str, error: &serde_json::Error) -> usize {
    let line_start: usize = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum();
    line_start + error.column().saturating_sub(1)
}

fn describe(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message
        .split(" at line ")
        .next()
        .unwrap_or(&message)
        .to_owned()
}
