//! The charset of what the program writes, and whether secrets are masked in it.

use std::ffi::OsString;

use super::surroundings::Surroundings;
use crate::model::text::outlet::Charset;

/// The charset by locale and arguments; known before arguments are parsed, because errors are
/// written in it, too.
pub fn charset(
    arguments: impl IntoIterator<Item = OsString>,
    surroundings: &Surroundings,
) -> Charset {
    if has(arguments, "--ascii") || surroundings.is_ascii() {
        Charset::Ascii
    } else {
        Charset::Unicode
    }
}

/// Whether secrets are masked by the word of the reader; known before anything is read.
pub fn redacts(arguments: impl IntoIterator<Item = OsString>) -> bool {
    has(arguments, "--redact")
}

fn has(arguments: impl IntoIterator<Item = OsString>, switch: &str) -> bool {
    arguments
        .into_iter()
        .take_while(|typed| typed != "--")
        .any(|typed| typed == switch)
}
