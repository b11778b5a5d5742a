//! Shared by settings and theme files: the members of a TOML table in order, and positions in the
//! text.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The members of a table in the order of the file; the table itself is sorted by name.
pub(crate) fn in_order<'t>(
    table: &'t DeTable<'t>,
) -> Vec<(&'t Spanned<Cow<'t, str>>, &'t Spanned<DeValue<'t>>)> {
    let mut members: Vec<_> = table.iter().collect();
    members.sort_by_key(|(key, _)| key.span().start);
    members
}

/// `line:column` of an offset.
pub(crate) fn position_of(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .map_or(0, |line| line.chars().count())
        + 1;
    format!("{line}:{column}")
}
