//! An argument that is the name of a format.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};

use crate::ingest::find;
use crate::model::text::likeness::near_words;

/// Parses the name of a format. The possible values are determined lazily, since the user's
/// definitions must be loaded first.
#[derive(Clone, Copy, Debug)]
pub(super) struct FormatName;

impl TypedValueParser for FormatName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        _: Option<&Arg>,
        typed: &OsStr,
    ) -> Result<String, Error> {
        let (typed, formats) = (typed.to_string_lossy(), find::formats());
        if formats.contains(&typed.as_ref()) {
            return Ok(typed.into_owned());
        }
        let near = near_words(&typed, formats);
        let what = format!("no agent is called {typed}{near}; `tv formats` lists all\n");
        Err(Error::raw(ErrorKind::InvalidValue, what).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(
            find::formats().into_iter().map(PossibleValue::new),
        ))
    }
}
