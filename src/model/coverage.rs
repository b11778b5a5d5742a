//! How much of the strings in records is shown in a transcript, by field path.

use std::collections::BTreeMap;

use super::record::Origin;
use super::text::Text;

/// Limit of distinct paths; the rest is summed under [`OTHER`].
const PATHS: usize = 2_000;
/// The path for strings beyond the limit.
const OTHER: &str = "…";

/// The strings of one field in all records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldCoverage {
    /// Number of strings.
    pub(crate) strings: u64,
    pub(crate) bytes: u64,
    /// Bytes that are shown.
    pub(crate) shown: u64,
    /// Bytes of those that only details show.
    pub(crate) details: u64,
    /// The first record with a string not fully shown; else the first record.
    pub(crate) first: Origin,
}

impl FieldCoverage {
    /// Bytes that are not shown.
    pub(crate) fn missing(&self) -> u64 {
        self.bytes.saturating_sub(self.shown)
    }
}

/// Sums of the strings of all records, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Coverage {
    fields: BTreeMap<Text, FieldCoverage>,
}

impl Coverage {
    /// Adds a string: its bytes, how many of them are shown, and how many of those only in details.
    pub(crate) fn add(
        &mut self,
        path: &str,
        bytes: usize,
        (shown, details): (usize, usize),
        origin: Origin,
    ) {
        let is_known = self.fields.contains_key(path);
        let path = if is_known || self.fields.len() < PATHS {
            path
        } else {
            OTHER
        };
        if !self.fields.contains_key(path) {
            self.fields.insert(
                Text::clean(path),
                FieldCoverage {
                    first: origin,
                    ..FieldCoverage::default()
                },
            );
        }
        let Some(share) = self.fields.get_mut(path) else {
            return;
        };
        if share.missing() == 0 && shown < bytes {
            share.first = origin;
        }
        share.strings += 1;
        share.bytes += bytes as u64;
        share.shown += shown.min(bytes) as u64;
        share.details += details.min(shown).min(bytes) as u64;
    }

    pub(crate) fn total(&self) -> FieldCoverage {
        let mut total = FieldCoverage::default();
        for share in self.fields.values() {
            total.strings += share.strings;
            total.bytes += share.bytes;
            total.shown += share.shown;
            total.details += share.details;
        }
        total
    }

    /// Fields with bytes that are not shown, the most missing first.
    pub(crate) fn missing(&self) -> Vec<(&Text, FieldCoverage)> {
        let mut missing: Vec<(&Text, FieldCoverage)> = self
            .fields
            .iter()
            .map(|(path, share)| (path, *share))
            .filter(|(_, share)| share.missing() > 0)
            .collect();
        missing.sort_by_key(|(path, share)| (std::cmp::Reverse(share.missing()), (*path).clone()));
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::{Coverage, OTHER, Origin, PATHS};

    fn at(line: u32) -> Origin {
        Origin {
            line,
            ..Origin::default()
        }
    }

    #[test]
    fn what_is_missing_most_comes_first_with_its_place() {
        let mut coverage = Coverage::default();
        coverage.add("a", 10, (10, 6), at(1));
        coverage.add("b", 10, (7, 0), at(1));
        coverage.add("c", 10, (10, 0), at(1));
        coverage.add("c", 10, (2, 2), at(2));
        coverage.add("c", 10, (1, 0), at(3));
        let missing: Vec<(&str, u64, u32)> = coverage
            .missing()
            .into_iter()
            .map(|(path, share)| (path.as_str(), share.missing(), share.first.line))
            .collect();
        assert_eq!(missing, [("c", 17, 2), ("b", 3, 1)]);
        let total = coverage.total();
        assert_eq!(
            (total.strings, total.bytes, total.shown, total.details),
            (5, 50, 30, 8)
        );
    }

    #[test]
    fn data_for_keys_does_not_fill_memory() {
        let mut coverage = Coverage::default();
        for number in 0..2 * PATHS {
            coverage.add(&format!("key{number}"), 1, (0, 0), at(1));
        }
        assert_eq!(coverage.total().bytes, 2 * PATHS as u64);
        assert_eq!(
            coverage.missing().first().map(|(path, _)| path.as_str()),
            Some(OTHER)
        );
        assert_eq!(coverage.missing().len(), PATHS + 1);
    }
}
