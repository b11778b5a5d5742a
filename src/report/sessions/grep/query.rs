//! The query: a pattern as in the viewer's search, restricted by conditions as in its filter.

use std::cmp::Reverse;
use std::ops::Range;

use regex::Regex;

use super::options::{Case, GrepQuery};
use crate::analysis::expression::{Expr, Term, When};
use crate::analysis::search::literal_prefilter::LiteralPrefilter;
use crate::analysis::search::scope::TextScope;
use crate::analysis::search::texts;
use crate::model::timestamp::Timestamp;

pub(super) struct Query {
    pub(super) pattern: Regex,
    /// Further patterns that must match in the line.
    others: Vec<Regex>,
    prefilter: LiteralPrefilter,
    pub(super) scope: Option<TextScope>,
    pub(super) filter: Option<Expr>,
    pub(super) since: Option<Timestamp>,
    /// Whether any text matches: of each block only its first line is a hit.
    pub(super) is_filter_alone: bool,
    /// Whether a block and the call or result that it pairs with suffice to decide whether it
    /// matches.
    pub(super) is_local: bool,
}

impl Query {
    /// Compiles a query. The second value is a warning: a pattern that is not a valid regular
    /// expression is taken literally.
    pub(super) fn new(asked: &GrepQuery, now: Timestamp) -> Result<(Self, Option<String>), String> {
        let (scope, text) = TextScope::split(&asked.pattern);
        let (scope, text) = if text.is_empty() {
            (None, asked.pattern.as_str())
        } else {
            (scope, text)
        };
        let is_filter_alone = text.is_empty();
        if is_filter_alone && (asked.filter.is_none() || asked.is_literal) {
            return Err("there is nothing to look for; `.` stands for any text".to_owned());
        }
        let text = if is_filter_alone { "." } else { text };
        let ignores_case = asked.case == Case::Ignored || texts::ignores_case(text);
        let pattern_of = |is_literal| texts::pattern_in_case(text, is_literal, ignores_case);
        let described = pattern_of(false).filter(|_| !asked.is_literal);
        let is_literal = described.is_none();
        let mistake = texts::mistake(text).filter(|_| is_literal && !asked.is_literal);
        let said = mistake.map(|mistake| {
            format!(
                "{text}: at {}: {}; it was taken literally, as -F does",
                mistake.at + 1,
                mistake.what
            )
        });
        let pattern = described
            .or_else(|| pattern_of(true))
            .ok_or_else(|| "the pattern is too long".to_owned())?;
        let since = When::option(asked.since, now);
        let from = since.map(|since| Expr::Term(Term::Since(When::Timestamp(since))));
        let parts: Vec<Expr> = asked.filter.clone().into_iter().chain(from).collect();
        let filter = (!parts.is_empty()).then(|| Expr::all(parts));
        let is_local = scope != Some(TextScope::Errors)
            && filter
                .as_ref()
                .is_none_or(|filter| filter.terms().into_iter().all(is_local));
        let prefilter = LiteralPrefilter::of(text, is_literal, ignores_case);
        Ok((
            Self {
                pattern,
                others: Vec::new(),
                prefilter,
                scope,
                filter,
                since,
                is_filter_alone,
                is_local,
            },
            said,
        ))
    }

    /// A query for lines with all of these words. `None` if there are no words.
    pub(super) fn of_words(words: &[String]) -> Option<Self> {
        let mut words: Vec<&String> = words.iter().collect();
        words.sort_by_key(|word| Reverse(word.len()));
        let (longest, others) = words.split_first()?;
        let pattern = texts::pattern(longest, true)?;
        let others = others
            .iter()
            .filter_map(|word| texts::pattern(word, true))
            .collect();
        let prefilter = texts::prefilter(longest, true);
        Some(Self {
            pattern,
            others,
            prefilter,
            scope: None,
            filter: None,
            since: None,
            is_filter_alone: false,
            is_local: true,
        })
    }

    /// Whether the further patterns match in a line.
    pub(super) fn has_others(&self, line: &str) -> bool {
        self.others.iter().all(|other| other.is_match(line))
    }

    /// The lines of a text that may contain a match.
    pub(super) fn lines_in(&self, text: &[u8]) -> Vec<Range<usize>> {
        self.prefilter.lines_in(text)
    }

    /// Whether a record may contain a match.
    pub(super) fn may_be_in(&self, record: &[u8]) -> bool {
        self.prefilter.may_be_in(record)
    }
}

/// Whether a condition on a block can be decided without the rest of its session.
fn is_local(term: &Term) -> bool {
    match term {
        Term::Tool(_) | Term::Role(_) | Term::File(_) => true,
        Term::Since(when) | Term::Before(when) => matches!(when, When::Timestamp(_)),
        Term::Error
        | Term::Done(_)
        | Term::Cost(..)
        | Term::Tokens(..)
        | Term::Took(..)
        | Term::Lane(_)
        | Term::Session(_)
        | Term::Id(_)
        | Term::Model(_)
        | Term::Agent(_)
        | Term::Project(_)
        | Term::Text(_)
        | Term::Pattern(_)
        | Term::State(_) => false,
    }
}
