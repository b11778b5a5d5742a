//! The language of conditions in filters on blocks and alarms on sessions, with `-`, `or` and
//! parentheses.
//!
//! Facts of entries hold for a block, facts of the session at a time; filters on blocks do not use
//! the latter. Invariant: an expression prints as it is parsed.

pub mod judge;
pub mod parse;
pub(crate) mod patterns;
mod print;

use crate::model::timestamp::{Clock, Day, Timestamp};

#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    Term(Term),
    /// The expression does not hold.
    Not(Box<Self>),
    /// All of these hold; at least two.
    All(Vec<Self>),
    /// One of these holds; at least two.
    Any(Vec<Self>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// A failed call, a stray result, an error of the agent, a broken record.
    Error,
    /// A call of a tool, by its name or its kind.
    Tool(String),
    /// The cost of the entry in USD.
    Cost(Compare, f64),
    /// The tokens of the entry.
    Tokens(Compare, u64),
    /// A call with this tool or id that has ended, including its background work.
    Done(String),
    /// The duration of a call in ms.
    Took(Compare, u64),
    /// At this time or later.
    Since(When),
    Before(When),
    /// The speaker of the entry.
    Role(Speaker),
    /// A sub-agent with this in its name; `main` for the main agent.
    Lane(String),
    /// One of several sessions opened together, with this in its name.
    Session(String),
    /// An id: of the call, the entry, its parent, or the call that started its sub-agent.
    Id(String),
    /// A call on a file with this in its path.
    File(String),
    /// Answered by a model with this in its name.
    Model(String),
    /// A session of an agent with this in its name.
    Agent(String),
    /// A session in a directory with this in its name.
    Project(String),
    /// A literal text.
    Text(String),
    /// A regular expression.
    Pattern(String),
    /// A fact of the session.
    State(State),
}

/// A fact of the session at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// It waits for the user: a question, a permission, the next prompt.
    Waiting,
    /// It waits for so long that the user seems to be away.
    Idle,
    /// It ended, cleanly or not.
    Ended,
    /// It stopped in the middle of work.
    Unclean,
    Model,
    Tool,
    /// A failed request is retried.
    Retry,
    /// A new call without result, or result without call, since the last check.
    Orphan,
    /// At work without a new record for this time in ms.
    Silent(Compare, u64),
    /// The cost of the session in USD.
    Spent(Compare, f64),
    /// The fill level of the context.
    Context(Compare, Fill),
    /// The number of equal calls in a row up to the newest one.
    Same(Compare, u64),
    /// The number of calls and sub-agents in the background.
    Running(Compare, u64),
}

/// Fill level of the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Percentage of the window.
    Percent(u64),
    Tokens(u64),
}

/// Names of facts of the session without a value.
pub(crate) const STATES: [(&str, State); 9] = [
    ("waiting", State::Waiting),
    ("idle", State::Idle),
    ("ended", State::Ended),
    ("unclean", State::Unclean),
    ("model", State::Model),
    ("tool", State::Tool),
    ("retry", State::Retry),
    ("orphan", State::Orphan),
    ("loop", State::Same(Compare::AtLeast, LOOP)),
];

/// Equal calls in a row that are a loop.
pub(crate) const LOOP: u64 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    More,
    AtLeast,
    Less,
    AtMost,
    Equal,
}

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    /// In ms before the last entry.
    Ago(u64),
    /// At this time of day, on the day of the last entry.
    Clock(Clock),
    /// At the start of a day that is relative to that of the last entry.
    Day(Day),
    Timestamp(Timestamp),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The user, or the calling agent.
    User,
    Bot,
    /// The system prompt.
    Sys,
    /// What the harness adds by itself.
    Note,
}

impl Expr {
    /// All terms, in order.
    pub(crate) fn terms(&self) -> Vec<&Term> {
        match self {
            Self::Term(term) => vec![term],
            Self::Not(inner) => inner.terms(),
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::terms).collect(),
        }
    }

    /// The value of the expression, if it follows from those of its terms that are known. Calls
    /// `of` for each term in order.
    pub(crate) fn truth(&self, of: &mut dyn FnMut(&Term) -> Option<bool>) -> Option<bool> {
        let (parts, decisive) = match self {
            Self::Term(term) => return of(term),
            Self::Not(inner) => return inner.truth(of).map(|holds| !holds),
            Self::All(parts) => (parts, false),
            Self::Any(parts) => (parts, true),
        };
        let mut truth = Some(!decisive);
        for part in parts {
            truth = match part.truth(of) {
                _ if truth == Some(decisive) => truth,
                Some(holds) if holds != decisive => truth,
                decided => decided,
            };
        }
        truth
    }

    /// Joins expressions with `and`; a single one is not wrapped.
    pub(crate) fn all(parts: Vec<Self>) -> Self {
        let inner = |part| match part {
            Self::All(inner) => inner,
            other => vec![other],
        };
        Self::joined(parts, inner, Self::All)
    }

    /// Joins expressions with `or`; a single one is not wrapped.
    pub(crate) fn any(parts: Vec<Self>) -> Self {
        let inner = |part| match part {
            Self::Any(inner) => inner,
            other => vec![other],
        };
        Self::joined(parts, inner, Self::Any)
    }

    fn joined(parts: Vec<Self>, inner: fn(Self) -> Vec<Self>, join: fn(Vec<Self>) -> Self) -> Self {
        let mut flat: Vec<Self> = parts.into_iter().flat_map(inner).collect();
        match (flat.len(), flat.pop()) {
            (1, Some(only)) => only,
            (_, last) => join(flat.into_iter().chain(last).collect()),
        }
    }
}

impl Compare {
    pub(crate) fn holds<T: PartialOrd>(self, value: T, bound: T) -> bool {
        match self {
            Self::More => value > bound,
            Self::AtLeast => value >= bound,
            Self::Less => value < bound,
            Self::AtMost => value <= bound,
            Self::Equal => value == bound,
        }
    }
}

/// Units of time in ms, the largest first.
pub(crate) const TIMES: &[(&str, u64)] = &[
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
    // Parsed, but not printed: `7d` is printed instead.
    ("w", 604_800_000),
    ("y", 31_536_000_000),
];
/// Units of tokens, the largest first.
pub(crate) const TOKENS: &[(&str, u64)] = &[
    ("G", 1_000_000_000),
    ("M", 1_000_000),
    ("k", 1_000),
    ("", 1),
];
