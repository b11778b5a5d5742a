//! What both kinds of files need: members in their order, and places in the text.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The members of a table as they stand in the file: a map has them by name.
pub(crate) fn in_order<'t>(
    table: &'t DeTable<'t>,
) -> Vec<(&'t Spanned<Cow<'t, str>>, &'t Spanned<DeValue<'t>>)> {
    let mut members: Vec<_> = table.iter().collect();
    members.sort_by_key(|(key, _)| key.span().start);
    members
}

/// `line:column` of a byte.
pub(crate) fn place_of(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .map_or(0, |line| line.chars().count())
        + 1;
    format!("{line}:{column}")
}
