//! Finds the reason why a text is not one JSON value.

use super::python::{as_wide, without_python};
use super::reader::read_strictly;

/// The reason why a text is not one JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The byte offset of the error in the text.
    pub(crate) at: usize,
    pub(crate) what: String,
    /// Whether a value was parsed and more text follows, so that the text may contain several
    /// values.
    pub(crate) trailing: bool,
    /// Whether the text ends within a value.
    pub(crate) unfinished: bool,
}

/// The damage of a text; `None` if it is one JSON value.
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
