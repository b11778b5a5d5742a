//! The charset and the form of what the program writes.

use std::ffi::OsString;

use super::{Config, Surroundings};
use crate::model::text::outlet::{Charset, Form};
use crate::report;

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

impl Config {
    /// Whether the report is text or JSON.
    pub fn form(&self) -> Form {
        let is_json = match self {
            Self::Show(options) | Self::Print(options) => options.json,
            Self::Brief(options) => options.form == report::brief::Form::Json,
            Self::Stats(options) => options.json,
            Self::Listing(options) => options.form == report::listing::Form::Json,
            Self::Doctor(options) => options.json,
            Self::Health(options) => options.json,
            Self::List(options) => options.json,
            Self::Top(options) => options.form != report::top::Form::Table,
            Self::Grep(options) => options.form == report::sessions::grep::Form::Json,
            Self::Usage(options) => options.form == report::sessions::usage::Form::Json,
            Self::Export(options) => !options.form.is_for_people(),
            Self::Check(report::check::Options { form, .. }) | Self::Rules(form) => {
                *form != report::check::Form::Text
            }
            Self::View(_)
            | Self::Wait(_)
            | Self::Refuse(_)
            | Self::Formats(_)
            | Self::Completions(_)
            | Self::Man(_)
            | Self::Keys(_)
            | Self::Help(_)
            | Self::Themes(_) => false,
        };
        if is_json { Form::Json } else { Form::Text }
    }
}
