//! Filters on sessions: the same expressions as on blocks, evaluated on a row.

use std::collections::HashMap;

use regex::Regex;

use super::SessionRow;
use crate::analysis::expression::judge::is_like;
use crate::analysis::expression::parse::{Mistake, parse_for_sessions};
use crate::analysis::expression::{Expr, Term};
use crate::analysis::search::texts;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

#[derive(Clone, Debug)]
pub struct SessionFilter {
    pub typed: String,
    expr: Expr,
    patterns: HashMap<String, Regex>,
}

impl SessionFilter {
    pub fn of(typed: &str) -> Result<Self, Mistake> {
        let expr = parse_for_sessions(typed)?;
        let pattern = |term: &Term| match term {
            Term::Text(text) => Some((text.clone(), texts::pattern(text, true)?)),
            Term::Pattern(pattern) => Some((pattern.clone(), texts::pattern(pattern, false)?)),
            _ => None,
        };
        let patterns = expr.terms().into_iter().filter_map(pattern).collect();
        Ok(Self {
            typed: typed.to_owned(),
            expr,
            patterns,
        })
    }

    /// Whether a session matches.
    pub fn fits(&self, row: &SessionRow, now: Timestamp) -> bool {
        self.expr
            .truth(&mut |term| Some(self.is_true(term, row, now)))
            == Some(true)
    }

    fn is_true(&self, term: &Term, row: &SessionRow, now: Timestamp) -> bool {
        let is_in =
            |name: Option<&Text>, wanted: &str| name.is_some_and(|name| is_like(name, wanted));
        match term {
            Term::State(state) => row.facts(now).holds(*state),
            Term::Error => row.flags.errors > 0 || row.need == super::Need::Error,
            Term::Agent(wanted) => is_like(&row.agent(), wanted),
            Term::Project(wanted) => is_in(row.head.cwd.as_ref(), wanted),
            Term::Model(wanted) => is_in(row.head.model.as_ref(), wanted),
            Term::Tool(wanted) => row
                .call
                .as_ref()
                .is_some_and(|call| is_like(&call.name, wanted)),
            Term::Id(wanted) => row
                .head
                .id
                .as_ref()
                .is_some_and(|id| id.starts_with(wanted.as_str())),
            Term::Since(when) => row
                .head
                .ended
                .is_some_and(|at| Some(at) >= when.resolve(Some(now))),
            Term::Before(when) => row
                .head
                .ended
                .is_some_and(|at| Some(at) < when.resolve(Some(now))),
            Term::Text(text) | Term::Pattern(text) => self
                .patterns
                .get(text)
                .is_some_and(|pattern| has(row, pattern)),
            // Rows have no facts of blocks.
            Term::Cost(..)
            | Term::Done(_)
            | Term::Tokens(..)
            | Term::Took(..)
            | Term::Role(_)
            | Term::Lane(_)
            | Term::Session(_)
            | Term::File(_) => false,
        }
    }
}

/// Whether a text of the row matches.
fn has(row: &SessionRow, pattern: &Regex) -> bool {
    let head = &row.head;
    let facts = [&head.title, &head.cwd, &head.id, &head.model, &row.problem];
    let facts = facts.into_iter().flatten().map(Text::as_str);
    let call = row
        .call
        .iter()
        .flat_map(|call| [call.name.as_str(), call.headline.as_str()]);
    facts.chain(call).any(|text| pattern.is_match(text))
        || pattern.is_match(&row.agent())
        || row
            .last_words()
            .is_some_and(|words| pattern.is_match(&words))
}
