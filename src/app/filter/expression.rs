//! What a filter asks of a block: facts and texts, with `-`, `or` and parentheses.
//!
//! Invariant: an expression prints as it is parsed.

use std::fmt;

use crate::model::moment::{Clock, Moment};

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
    /// With this id: of the call, the entry, its parent, or the call that started its sub-agent.
    Id(String),
    /// A call on a file with this in its path.
    File(String),
    /// Answered by a model with this in its name.
    Model(String),
    /// With this text, letter by letter.
    Text(String),
    /// With text that this regular expression describes.
    Pattern(String),
}

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
}

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    /// So many milliseconds before the last entry.
    Ago(u64),
    /// At this time of the day of the last entry.
    Clock(Clock),
    /// This moment.
    Moment(Moment),
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
    /// All of these; one alone stands for itself.
    pub fn all(parts: Vec<Self>) -> Self {
        let flat = parts.into_iter().flat_map(|part| match part {
            Self::All(inner) => inner,
            other => vec![other],
        });
        let mut flat: Vec<Self> = flat.collect();
        match (flat.len(), flat.pop()) {
            (1, Some(only)) => only,
            (_, last) => Self::All(flat.into_iter().chain(last).collect()),
        }
    }

    /// One of these; one alone stands for itself.
    pub fn any(parts: Vec<Self>) -> Self {
        let flat = parts.into_iter().flat_map(|part| match part {
            Self::Any(inner) => inner,
            other => vec![other],
        });
        let mut flat: Vec<Self> = flat.collect();
        match (flat.len(), flat.pop()) {
            (1, Some(only)) => only,
            (_, last) => Self::Any(flat.into_iter().chain(last).collect()),
        }
    }
}

impl Compare {
    /// Whether a value compares so.
    pub fn holds<T: PartialOrd>(self, value: T, bound: T) -> bool {
        match self {
            Self::More => value > bound,
            Self::AtLeast => value >= bound,
            Self::Less => value < bound,
            Self::AtMost => value <= bound,
        }
    }
}

impl fmt::Display for Compare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::More => ">",
            Self::AtLeast => ">=",
            Self::Less => "<",
            Self::AtMost => "<=",
        })
    }
}

impl fmt::Display for Speaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Bot => "bot",
            Self::Sys => "sys",
            Self::Note => "note",
        })
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Term(term) => write!(f, "{term}"),
            Self::Not(inner) => match **inner {
                Self::All(_) | Self::Any(_) => write!(f, "-({inner})"),
                Self::Term(_) | Self::Not(_) => write!(f, "-{inner}"),
            },
            Self::All(parts) => {
                for (place, part) in parts.iter().enumerate() {
                    let gap = if place == 0 { "" } else { " " };
                    match part {
                        Self::Any(_) => write!(f, "{gap}({part})")?,
                        Self::All(_) | Self::Term(_) | Self::Not(_) => write!(f, "{gap}{part}")?,
                    }
                }
                Ok(())
            }
            Self::Any(parts) => {
                for (place, part) in parts.iter().enumerate() {
                    write!(f, "{}{part}", if place == 0 { "" } else { " or " })?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error => f.write_str("err"),
            Self::Tool(name) => write!(f, "tool:{}", value(name)),
            Self::Cost(compare, usd) => write!(f, "cost{compare}{usd}"),
            Self::Tokens(compare, n) => write!(f, "tok{compare}{}", rounded(*n, TOKENS)),
            Self::Took(compare, ms) => write!(f, "dur{compare}{}", rounded(*ms, TIMES)),
            Self::Since(when) => write!(f, "since:{when}"),
            Self::Before(when) => write!(f, "before:{when}"),
            Self::Role(speaker) => write!(f, "role:{speaker}"),
            Self::Lane(name) => write!(f, "lane:{}", value(name)),
            Self::Id(id) => write!(f, "id:{}", value(id)),
            Self::File(path) => write!(f, "file:{}", value(path)),
            Self::Model(name) => write!(f, "model:{}", value(name)),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Pattern(pattern) => write!(f, "/{pattern}/"),
        }
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ago(ms) => f.write_str(&rounded(*ms, TIMES)),
            Self::Clock(clock) => write!(f, "{clock}"),
            Self::Moment(moment) => {
                let short = moment.date_and_clock().replace(' ', "T");
                let is_exact = Moment::parse_local(&short) == Some(*moment);
                f.write_str(&if is_exact { short } else { moment.to_rfc3339() })
            }
        }
    }
}

/// Units of time in ms, the largest first.
pub const TIMES: &[(&str, u64)] =
    &[("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
/// Units of tokens, the largest first.
pub const TOKENS: &[(&str, u64)] = &[("G", 1_000_000_000), ("M", 1_000_000), ("k", 1_000), ("", 1)];

/// A figure in the largest unit in which it is whole.
fn rounded(n: u64, units: &[(&str, u64)]) -> String {
    let unit = units.iter().find(|(_, size)| n > 0 && n.is_multiple_of(*size)).or(units.last());
    unit.map_or_else(|| n.to_string(), |(name, size)| format!("{}{name}", n / size))
}

/// A value as it can be typed behind a colon.
fn value(text: &str) -> String {
    let is_bare = !text.is_empty() && !text.chars().any(|c| c.is_whitespace() || "()\"".contains(c));
    if is_bare { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
