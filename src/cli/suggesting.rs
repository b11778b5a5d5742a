//! An argument that is typed freely, but with words that shells complete.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};

use crate::analysis::expression::parse::{Subject, time_words, words};

/// A parser of a value, and the words that shells offer for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suggesting<T> {
    parse: fn(&str) -> Result<T, String>,
    words: fn() -> Vec<&'static str>,
}

impl<T> Suggesting<T> {
    /// A parser of a point in time.
    pub(super) fn time(parse: fn(&str) -> Result<T, String>) -> Self {
        Self {
            parse,
            words: time_words,
        }
    }

    /// A parser of an alarm.
    pub(super) fn alarm(parse: fn(&str) -> Result<T, String>) -> Self {
        Self {
            parse,
            words: || words(Subject::Alarm),
        }
    }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Suggesting<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, typed: &OsStr) -> Result<T, Error> {
        self.parse.parse_ref(command, arg, typed)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.words)().into_iter().map(PossibleValue::new)))
    }
}
