//! Prints expressions as they are typed.

use std::fmt;

use super::{Compare, Expr, Fill, STATES, Speaker, State, TIMES, TOKENS, Term, When};
use crate::model::timestamp::Timestamp;

impl fmt::Display for Compare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::More => ">",
            Self::AtLeast => ">=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Equal => "=",
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
            Self::Done(what) => write!(f, "done:{}", value(what)),
            Self::Cost(compare, usd) => write!(f, "cost{compare}{usd}"),
            Self::Tokens(compare, n) => write!(f, "tok{compare}{}", rounded(*n, TOKENS)),
            Self::Took(compare, ms) => write!(f, "dur{compare}{}", rounded(*ms, TIMES)),
            Self::Since(when) => write!(f, "since:{when}"),
            Self::Before(when) => write!(f, "before:{when}"),
            Self::Role(speaker) => write!(f, "role:{speaker}"),
            Self::Lane(name) => write!(f, "lane:{}", value(name)),
            Self::Session(name) => write!(f, "session:{}", value(name)),
            Self::Id(id) => write!(f, "id:{}", value(id)),
            Self::File(path) => write!(f, "file:{}", value(path)),
            Self::Model(name) => write!(f, "model:{}", value(name)),
            Self::Agent(name) => write!(f, "agent:{}", value(name)),
            Self::Project(name) => write!(f, "project:{}", value(name)),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Pattern(pattern) => write!(f, "/{pattern}/"),
            Self::State(state) => write!(f, "{state}"),
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((word, _)) = STATES.iter().find(|(_, state)| state == self) {
            return f.write_str(word);
        }
        match self {
            Self::Silent(compare, ms) => write!(f, "silent{compare}{}", rounded(*ms, TIMES)),
            Self::Spent(compare, usd) => write!(f, "cost{compare}{usd}"),
            Self::Context(compare, Fill::Percent(n)) => write!(f, "ctx{compare}{n}%"),
            Self::Context(compare, Fill::Tokens(n)) => {
                write!(f, "ctx{compare}{}", rounded(*n, TOKENS))
            }
            Self::Running(compare, n) => write!(f, "running{compare}{n}"),
            Self::Same(compare, n) => write!(f, "same-call{compare}{n}"),
            // The others are in `STATES`.
            _ => Ok(()),
        }
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ago(ms) => f.write_str(&rounded(*ms, TIMES)),
            Self::Clock(clock) => write!(f, "{clock}"),
            Self::Day(day) => write!(f, "{day}"),
            Self::Timestamp(timestamp) => {
                let short = timestamp.date_and_clock().replace(' ', "T");
                let is_exact = Timestamp::parse_local(&short) == Some(*timestamp);
                f.write_str(&if is_exact {
                    short
                } else {
                    timestamp.to_rfc3339()
                })
            }
        }
    }
}

/// A number in the largest unit in which it is whole.
fn rounded(n: u64, units: &[(&str, u64)]) -> String {
    let unit = units
        .iter()
        .find(|(_, size)| n > 0 && n.is_multiple_of(*size))
        .or(units.last());
    unit.map_or_else(
        || n.to_string(),
        |(name, size)| format!("{}{name}", n / size),
    )
}

/// A value as it is typed after a colon, in quotes if necessary.
fn value(text: &str) -> String {
    let is_bare = !text.is_empty()
        && !text
            .chars()
            .any(|c| c.is_whitespace() || "()\"".contains(c));
    if is_bare {
        text.to_owned()
    } else {
        quoted(text)
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
