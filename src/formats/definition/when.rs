//! Conditions on a record or on a value in it.

use super::path::parse::parts;
use super::path::{PathScope, RecordPath, word_of};
use crate::formats::json::Json;

/// A constant in a definition.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Text(Box<str>),
    Number(f64),
    Bool(bool),
}

impl Literal {
    fn is(&self, value: &Json<'_>) -> bool {
        match self {
            Self::Text(text) => word_of(value).is_some_and(|word| word == **text),
            Self::Number(number) => value.number() == Some(*number),
            Self::Bool(flag) => *value == Json::Bool(*flag),
        }
    }

    /// The constant as text, as written in a definition.
    pub(super) fn word(&self) -> String {
        match self {
            Self::Text(text) => (**text).to_owned(),
            Self::Number(number) => number.to_string(),
            Self::Bool(flag) => flag.to_string(),
        }
    }
}

/// A condition on the value at a path.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) path: RecordPath,
    pub(super) want: Want,
}

#[derive(Debug)]
pub(super) enum Want {
    /// It exists.
    There,
    /// It does not exist.
    Missing,
    /// It equals one of these.
    OneOf(Vec<Literal>),
    /// It exists and equals none of these.
    Other(Vec<Literal>),
    /// It is a text that begins with one of these.
    Starts(Vec<Box<str>>),
    /// It exists and is neither `false` nor 0.
    True,
    /// It is missing, `false` or 0.
    False,
}

impl Condition {
    pub(super) fn holds(&self, scope: PathScope<'_>) -> bool {
        let any = |is_such: &dyn Fn(&Json<'_>) -> bool| {
            let mut holds = false;
            self.path
                .each(scope, &mut |found| holds |= is_such(found.here));
            holds
        };
        let is_true = |value: &Json<'_>| *value != Json::Bool(false) && value.number() != Some(0.0);
        match &self.want {
            Want::There => self.path.exists(scope),
            Want::Missing => !self.path.exists(scope),
            Want::OneOf(these) => any(&|value| these.iter().any(|one| one.is(value))),
            Want::Other(these) => any(&|value| !these.iter().any(|one| one.is(value))),
            Want::Starts(these) => any(&|value| {
                value.str().is_some_and(|text| {
                    these
                        .iter()
                        .any(|one| text.trim_start().starts_with(&**one))
                })
            }),
            Want::True => any(&is_true),
            Want::False => !any(&is_true),
        }
    }

    /// Parses `path`, `!path`, `path=value` or `path!=value`, with alternative values separated by
    /// `|`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let literals = |text: &str| parts(text).into_iter().map(literal).collect();
        // A path that is a constant begins with `=`, so the search for the operator skips the first
        // character.
        let split = text
            .get(1..)
            .and_then(|rest| rest.find('='))
            .map(|at| text.split_at(at + 1));
        let (path, want) = match split {
            Some((path, values)) => {
                let values = values.trim_start_matches('=');
                match path.strip_suffix('!') {
                    Some(path) => (path, Want::Other(literals(values))),
                    None => (path, Want::OneOf(literals(values))),
                }
            }
            None => match text.strip_prefix('!') {
                Some(path) => (path, Want::False),
                None => (text, Want::True),
            },
        };
        Ok(Self {
            path: RecordPath::parse(path)?,
            want,
        })
    }
}

fn literal(text: &str) -> Literal {
    let text = text.trim();
    match (text, text.parse()) {
        ("true", _) => Literal::Bool(true),
        ("false", _) => Literal::Bool(false),
        (_, Ok(number)) => Literal::Number(number),
        (text, Err(_)) => Literal::Text(text.trim_matches('\'').into()),
    }
}

/// Conditions on a record: all of `all` and none of `none` must hold.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    pub(super) all: Vec<Condition>,
    pub(super) none: Vec<Condition>,
}

impl Conditions {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty() && self.none.is_empty()
    }

    pub(super) fn holds(&self, scope: PathScope<'_>) -> bool {
        self.all.iter().all(|test| test.holds(scope))
            && !self.none.iter().any(|test| test.holds(scope))
    }
}

#[cfg(test)]
mod tests {
    use super::Condition;
    use crate::formats::definition::path::PathScope;
    use crate::formats::json::parse;

    #[test]
    fn tests_hold_or_not() {
        let record =
            parse(r#"{"a":{"b":[{"type":"text"},{"type":"x"}]},"n":3,"ok":false}"#).unwrap();
        let scope = PathScope::of(&record);
        for (test, expected) in [
            ("ok", false),
            ("!ok", true),
            ("n", true),
            ("n=3", true),
            ("n!=3|0", false),
            ("missing!=3", false),
            ("a.b[].type=image|x", true),
            ("!missing", true),
            ("missing", false),
        ] {
            assert_eq!(
                Condition::parse(test).unwrap().holds(scope),
                expected,
                "{test}"
            );
        }
    }
}
