//! An argument that is the name of a format.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command, Error};

use crate::ingest::find;

/// Parses the name of a format. The possible values are determined lazily, since the user's
/// definitions must be loaded first.
#[derive(Clone, Copy, Debug)]
pub(super) struct FormatName;

impl TypedValueParser for FormatName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        typed: &OsStr,
    ) -> Result<String, Error> {
        PossibleValuesParser::new(find::formats()).parse_ref(command, arg, typed)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(
            find::formats().into_iter().map(PossibleValue::new),
        ))
    }
}
