//! The one language of conditions: what a filter asks of a block, what an alarm asks of the session, with
//! `-`, `or` and parentheses.
//!
//! Facts of entries are true of a block, facts of the session of a time; a filter has no use for the
//! latter. Invariant: an expression prints as it is parsed.

pub mod judge;
pub mod parse;
pub(crate) mod patterns;
mod print;

use crate::model::timestamp::{Clock, Day, Timestamp};

/// What a block must be to be shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// This holds.
    Term(Term),
    /// That does not hold.
    Not(Box<Self>),
    /// All of these hold; at least two.
    All(Vec<Self>),
    /// One of these holds; at least two.
    Any(Vec<Self>),
}

/// One condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// A failed call, a stray result, an error of the agent, a broken record.
    Error,
    /// A call of this tool, by its name or by what it does.
    Tool(String),
    /// Of an entry that cost so many dollars.
    Cost(Compare, f64),
    /// Of an entry that took so many tokens.
    Tokens(Compare, u64),
    /// A call of this tool or with this id that came to its end, that of its work in the background included.
    Done(String),
    /// A call that took so many milliseconds.
    Took(Compare, u64),
    /// At this time or later.
    Since(When),
    /// Before this time.
    Before(When),
    /// Said by this one.
    Role(Speaker),
    /// Of the sub-agent with this in its name; `main` is none.
    Lane(String),
    /// Of the one of several sessions opened together with this in its name.
    Session(String),
    /// With this id: of the call, the entry, its parent, or the call that started its sub-agent.
    Id(String),
    /// A call on a file with this in its path.
    File(String),
    /// Answered by a model with this in its name.
    Model(String),
    /// Of an agent with this in its name. A fact of sessions, as the next one is.
    Agent(String),
    /// Of a session in a folder with this in its name.
    Project(String),
    /// With this text, letter by letter.
    Text(String),
    /// With text that this regular expression describes.
    Pattern(String),
    /// A fact of the session, whatever the block.
    State(State),
}

/// A fact of the session at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// It waits for its user: a question, a permission, the next prompt.
    Waiting,
    /// The same, for so long that nobody is expected.
    Idle,
    /// It ended, cleanly or not.
    Ended,
    /// It stopped in the middle of work.
    Unclean,
    /// The model answers.
    Model,
    /// A tool runs.
    Tool,
    /// A request failed and is made again.
    Retry,
    /// A call or a result has lost its other half since the last look.
    Orphan,
    /// At work, and nothing was written for so many milliseconds.
    Silent(Compare, u64),
    /// The session has cost so many dollars.
    Spent(Compare, f64),
    /// The context is so full.
    Context(Compare, Fill),
    /// The newest call asked for the same as so many before it, itself included.
    Same(Compare, u64),
    /// So many calls and sub-agents go on in the background.
    Running(Compare, u64),
}

/// How full the context is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// In percent of the window.
    Percent(u64),
    /// In tokens.
    Tokens(u64),
}

/// Facts of the session that are a word of their own.
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

/// So many equal calls in a row are a loop.
pub(crate) const LOOP: u64 = 3;

/// How a figure compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// `>`
    More,
    /// `>=`
    AtLeast,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `=`
    Equal,
}

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    /// So many milliseconds before the last entry.
    Ago(u64),
    /// At this time of the day of the last entry.
    Clock(Clock),
    /// At the beginning of the day that is called so on the day of the last entry.
    Day(Day),
    /// Now.
    Timestamp(Timestamp),
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The user, or the calling agent.
    User,
    /// The model.
    Bot,
    /// The system prompt.
    Sys,
    /// The agent program.
    Note,
}

impl Expr {
    /// All conditions of it, however they are joined.
    pub(crate) fn terms(&self) -> Vec<&Term> {
        match self {
            Self::Term(term) => vec![term],
            Self::Not(inner) => inner.terms(),
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::terms).collect(),
        }
    }

    /// The truth of the whole, as far as it follows from what is known of its terms. Asks for each of them, in their order.
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

    /// All of these; one alone stands for itself.
    pub(crate) fn all(parts: Vec<Self>) -> Self {
        let inner = |part| match part {
            Self::All(inner) => inner,
            other => vec![other],
        };
        Self::joined(parts, inner, Self::All)
    }

    /// One of these; one alone stands for itself.
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
    /// Whether a value compares so.
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
    // Read, and never written: seven days say the same.
    ("w", 604_800_000),
];
/// Units of tokens, the largest first.
pub(crate) const TOKENS: &[(&str, u64)] = &[
    ("G", 1_000_000_000),
    ("M", 1_000_000),
    ("k", 1_000),
    ("", 1),
];
