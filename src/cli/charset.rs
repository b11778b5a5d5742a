//! The charset of the output, and whether secrets are masked in it.

use std::ffi::OsString;

use super::surroundings::Surroundings;
use crate::model::text::outlet::Charset;

/// The charset, from locale and arguments; determined before arguments are parsed, because errors
/// are written in it, too.
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

/// Whether the arguments request that secrets are masked; determined before anything is read.
pub fn redacts(arguments: impl IntoIterator<Item = OsString>) -> bool {
    has(arguments, "--redact")
}

fn has(arguments: impl IntoIterator<Item = OsString>, switch: &str) -> bool {
    arguments
        .into_iter()
        .take_while(|typed| typed != "--")
        .any(|typed| typed == switch)
}
