//! Parses conditions, and reports the position of a mistake.
//!
//! In a filter on blocks a bare word is text. In an alarm it must be a fact, so that a typing error
//! does not become an alarm that never fires; and `cost` is that of the session. In a filter on
//! sessions it is a fact of the session, otherwise text.

use regex::RegexBuilder;

use super::patterns::compile;
use super::{Compare, Expr, Fill, STATES, Speaker, State, TIMES, TOKENS, Term, When};
use crate::model::text::likeness::near_words;
use crate::model::timestamp::{Clock, Day, Timestamp, WEEKDAYS};

/// Limit of nested parentheses.
const DEEPEST: usize = 32;

/// A mistake and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Offset in the line, in characters from 0.
    pub at: usize,
    pub(crate) what: String,
}

/// Parses a filter on blocks.
pub fn parse(typed: &str) -> Result<Expr, Mistake> {
    read(typed, Subject::Blocks)
}

/// Parses a filter on sessions.
pub fn parse_for_sessions(typed: &str) -> Result<Expr, Mistake> {
    read(typed, Subject::Sessions)
}

pub fn parse_alarm(typed: &str) -> Result<Expr, Mistake> {
    read(typed, Subject::Alarm)
}

/// Parses a duration such as `90s` or `1m30s`, in ms; a number alone is in seconds.
pub(crate) fn duration(typed: &str) -> Option<u64> {
    amount(typed, TIMES)
}

/// What an expression is evaluated on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// Blocks of a session.
    Blocks,
    /// A live session and its new blocks.
    Alarm,
    Sessions,
}

fn read(typed: &str, about: Subject) -> Result<Expr, Mistake> {
    let is_alarm = about == Subject::Alarm;
    let mut reader = ExpressionParser {
        chars: typed.chars().collect(),
        at: 0,
        depth: 0,
        is_alarm,
        about,
    };
    let expr = reader.any()?;
    match reader.peek() {
        None => Ok(expr),
        Some(_) => Err(reader.mistake("this parenthesis closes nothing")),
    }
}

struct ExpressionParser {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    is_alarm: bool,
    about: Subject,
}

impl ExpressionParser {
    /// Whether facts of the session are allowed.
    fn allows_states(&self) -> bool {
        self.about != Subject::Blocks
    }

    fn allows_blocks(&self) -> bool {
        self.about != Subject::Sessions
    }

    fn mistake(&self, what: impl Into<String>) -> Mistake {
        Mistake {
            at: self.at,
            what: what.into(),
        }
    }

    fn current(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    /// The next character that is not whitespace.
    fn peek(&mut self) -> Option<char> {
        while self.current().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
        self.current()
    }

    /// The bare word at the current offset.
    fn word(&self) -> String {
        let rest = self.chars.iter().skip(self.at);
        rest.take_while(|c| !c.is_whitespace() && !"()\"".contains(**c))
            .collect()
    }

    fn is_at_or(&mut self) -> bool {
        let is_word = self.peek().is_some() && self.word() == "or";
        is_word && self.chars.get(self.at + 2) != Some(&'"')
    }

    fn any(&mut self) -> Result<Expr, Mistake> {
        let mut parts = vec![self.all()?];
        while self.is_at_or() {
            self.at += 2;
            parts.push(self.all()?);
        }
        Ok(Expr::any(parts))
    }

    fn all(&mut self) -> Result<Expr, Mistake> {
        let mut parts = Vec::new();
        loop {
            let ends = matches!(self.peek(), None | Some(')')) || self.is_at_or();
            if ends && parts.is_empty() {
                return Err(self.mistake("something to look for is missing here"));
            }
            if ends {
                return Ok(Expr::all(parts));
            }
            if self.is_alarm && !parts.is_empty() && self.word() == "and" {
                self.at += 3;
            }
            parts.push(self.one()?);
        }
    }

    fn one(&mut self) -> Result<Expr, Mistake> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.mistake("too deep"));
        }
        let read = match self.peek() {
            Some('-') => {
                self.at += 1;
                if self.current().is_none_or(char::is_whitespace) {
                    return Err(self.mistake("what is to be left out must follow the -"));
                }
                self.one().map(|inner| Expr::Not(Box::new(inner)))
            }
            Some('(') => self.group(),
            Some('"') => self.quoted().map(|text| Expr::Term(Term::Text(text))),
            Some('/') => self.pattern().map(Expr::Term),
            Some(')') | None => Err(self.mistake("something to look for is missing here")),
            Some(_) if self.is_alarm && self.word() == "not" => {
                self.at += 3;
                self.one().map(|inner| Expr::Not(Box::new(inner)))
            }
            Some(_) => self
                .file_use()
                .unwrap_or_else(|| self.fact().map(Expr::Term)),
        };
        self.depth -= 1;
        read
    }

    /// Parses `read:x` and `wrote:x`, which abbreviate `file:x` with kinds of tools.
    fn file_use(&mut self) -> Option<Result<Expr, Mistake>> {
        let word = self.word();
        let (name, kinds): (_, &[&str]) = match word.split_once(':')?.0 {
            name @ "read" => (name, &["read"]),
            name @ "wrote" => (name, &["edit", "write"]),
            _ => return None,
        };
        if !self.allows_blocks() {
            return Some(Err(of_blocks(self.at, name)));
        }
        self.at += name.len();
        let kinds = kinds
            .iter()
            .map(|kind| Expr::Term(Term::Tool((*kind).into())));
        let kinds = Expr::any(kinds.collect());
        Some(
            self.value()
                .map(|path| Expr::all(vec![Expr::Term(Term::File(path)), kinds])),
        )
    }

    fn group(&mut self) -> Result<Expr, Mistake> {
        let opened = self.at;
        self.at += 1;
        let inner = self.any()?;
        if self.peek() != Some(')') {
            return Err(Mistake {
                at: opened,
                what: "this parenthesis is not closed".to_owned(),
            });
        }
        self.at += 1;
        Ok(inner)
    }

    fn quoted(&mut self) -> Result<String, Mistake> {
        let opened = self.at;
        self.at += 1;
        let mut text = String::new();
        while let Some(c) = self.current() {
            self.at += 1;
            match c {
                '"' if text.is_empty() => {
                    return Err(Mistake {
                        at: opened,
                        what: "nothing is between the quotes".to_owned(),
                    });
                }
                '"' => return Ok(text),
                '\\' => {
                    text.extend(self.current());
                    self.at += 1;
                }
                c => text.push(c),
            }
        }
        Err(Mistake {
            at: opened,
            what: "this quote is not closed".to_owned(),
        })
    }

    /// Parses a regular expression, which ends with a slash at the end of a word; without one it is
    /// a path.
    fn pattern(&mut self) -> Result<Term, Mistake> {
        let ends_word = |c: Option<&char>| c.is_none_or(|c| c.is_whitespace() || *c == ')');
        let mut end = self.at + 1;
        let mut is_escaped = false;
        loop {
            match self.chars.get(end) {
                None => return self.fact(),
                Some('/') if !is_escaped && ends_word(self.chars.get(end + 1)) => break,
                Some(c) => is_escaped = *c == '\\' && !is_escaped,
            }
            end += 1;
        }
        let pattern: String = self.chars.iter().take(end).skip(self.at + 1).collect();
        let built = compile(&mut RegexBuilder::new(&pattern), &pattern);
        let wrong = match built {
            _ if pattern.is_empty() => Some("nothing is between the slashes"),
            Err(regex::Error::CompiledTooBig(_)) => Some("the regular expression is too large"),
            Err(_) => Some("no regular expression"),
            Ok(_) => None,
        };
        if let Some(what) = wrong {
            return Err(self.mistake(what));
        }
        self.at = end + 1;
        Ok(Term::Pattern(pattern))
    }

    fn fact(&mut self) -> Result<Term, Mistake> {
        let word = self.word();
        let equals = || {
            word.strip_prefix("running=")
                .map(|figure| ("running", figure))
        };
        let Some((name, _)) = word.split_once([':', '<', '>']).or_else(equals) else {
            return self.bare_word(word);
        };
        let start = self.at;
        self.at += name.chars().count();
        match (name, self.current()) {
            ("agent", Some(':')) if !self.allows_blocks() => self.value().map(Term::Agent),
            ("project", Some(':')) if !self.allows_blocks() => self.value().map(Term::Project),
            ("tok" | "dur" | "role" | "lane" | "session" | "file", Some('<' | '>' | ':'))
                if !self.allows_blocks() =>
            {
                Err(of_blocks(start, name))
            }
            ("cost" | "tok" | "dur", Some('<' | '>')) => self.figure(name),
            ("silent" | "ctx" | "same-call", Some('<' | '>'))
            | ("running", Some('<' | '>' | '='))
                if self.allows_states() =>
            {
                self.figure(name)
            }
            ("silent" | "ctx" | "same-call" | "running", Some('<' | '>' | '=')) => {
                Err(of_session(start, name))
            }
            ("since", Some(':')) => self.time().map(Term::Since),
            ("before", Some(':')) => self.time().map(Term::Before),
            ("role", Some(':')) => self.speaker().map(Term::Role),
            ("tool", Some(':')) => self.value().map(Term::Tool),
            ("done", Some(':')) => self.value().map(Term::Done),
            ("lane", Some(':')) => self.value().map(Term::Lane),
            ("session", Some(':')) => self.value().map(Term::Session),
            ("id", Some(':')) => self.value().map(Term::Id),
            ("file", Some(':')) => self.value().map(Term::File),
            ("model", Some(':')) => self.value().map(Term::Model),
            ("cost" | "tok" | "dur" | "silent" | "ctx" | "same-call" | "running", _) => {
                Err(self.mistake(format!("< or > and a figure follow {name}")))
            }
            _ if is_misspelt(name, &word) => Err(Mistake {
                at: start,
                what: format!("{}; \"{word}\" is text", unknown(name, self.about)),
            }),
            _ => {
                self.at = start;
                self.text(word)
            }
        }
    }

    /// Parses a word without a value: a fact, otherwise text.
    fn bare_word(&mut self, word: String) -> Result<Term, Mistake> {
        let state = STATES
            .iter()
            .find(|(name, _)| *name == word)
            .map(|(_, state)| *state);
        let term = match (word.as_str(), state) {
            ("err" | "error", _) => Term::Error,
            (name @ ("silent" | "ctx" | "same-call" | "running" | "cost" | "tok" | "dur"), _)
                if self.is_alarm =>
            {
                let example = match name {
                    "silent" => "silent>90s",
                    "ctx" => "ctx>80%",
                    "same-call" => "same-call>=3",
                    "running" => "running=0",
                    "cost" => "cost>2",
                    "tok" => "tok>5k",
                    _ => "dur>10s",
                };
                return Err(self.mistake(format!("{name} needs a figure, as in {example}")));
            }
            (_, Some(state)) if self.allows_states() => Term::State(state),
            (_, Some(_)) => return Err(of_session(self.at, &word)),
            _ => return self.text(word),
        };
        self.at += word.chars().count();
        Ok(term)
    }

    fn text(&mut self, word: String) -> Result<Term, Mistake> {
        if self.is_alarm {
            return Err(self.mistake(format!(
                "{}; in quotes it is text: \"{word}\"",
                unknown(&word, self.about)
            )));
        }
        self.at += word.chars().count();
        Ok(Term::Text(word))
    }

    /// Parses the value after the colon.
    fn value(&mut self) -> Result<String, Mistake> {
        self.at += 1;
        if self.current() == Some('"') {
            return self.quoted();
        }
        let word = self.word();
        if word.is_empty() {
            return Err(self.mistake("a word is missing here"));
        }
        self.at += word.chars().count();
        Ok(word)
    }

    fn speaker(&mut self) -> Result<Speaker, Mistake> {
        let at = self.at + 1;
        match self.value()?.as_str() {
            "user" | "you" => Ok(Speaker::User),
            "bot" | "assistant" => Ok(Speaker::Bot),
            "sys" | "system" => Ok(Speaker::Sys),
            "note" | "harness" => Ok(Speaker::Note),
            _ => Err(Mistake {
                at,
                what: "a role is user, bot, sys or note".to_owned(),
            }),
        }
    }

    fn time(&mut self) -> Result<When, Mistake> {
        let at = self.at + 1;
        let typed = self.value()?;
        moment(&typed).ok_or_else(|| Mistake {
            at,
            what: "a time is 10m, 10:42 or 2026-01-31T10:42".to_owned(),
        })
    }

    fn figure(&mut self, name: &str) -> Result<Term, Mistake> {
        let sign: String = self.word().chars().take(2).collect();
        let (compare, length) = match (sign.as_str(), sign.chars().next()) {
            (">=", _) => (Compare::AtLeast, 2),
            ("<=", _) => (Compare::AtMost, 2),
            (_, Some('>')) => (Compare::More, 1),
            (_, Some('=')) => (Compare::Equal, 1),
            _ => (Compare::Less, 1),
        };
        self.at += length;
        let typed = self.word();
        let term = match name {
            "cost" if self.allows_states() => {
                usd(&typed).map(|usd| Term::State(State::Spent(compare, usd)))
            }
            "silent" => amount(&typed, TIMES).map(|ms| Term::State(State::Silent(compare, ms))),
            "same-call" => typed
                .parse()
                .ok()
                .map(|n| Term::State(State::Same(compare, n))),
            "running" => typed
                .parse()
                .ok()
                .map(|n| Term::State(State::Running(compare, n))),
            "ctx" => fill(&typed).map(|fill| Term::State(State::Context(compare, fill))),
            "cost" => usd(&typed).map(|usd| Term::Cost(compare, usd)),
            "tok" => amount(&typed, TOKENS).map(|n| Term::Tokens(compare, n)),
            _ => amount(&typed, TIMES).map(|ms| Term::Took(compare, ms)),
        };
        let term = term.ok_or_else(|| match name {
            "cost" => self.mistake("an amount in USD such as .1 is missing here"),
            "tok" => self.mistake("a number such as 5k is missing here"),
            "ctx" => self.mistake("a share such as 80% or a number such as 150k is missing here"),
            "same-call" | "running" => self.mistake("a number such as 3 is missing here"),
            _ => self.mistake("a duration such as 10s is missing here"),
        })?;
        self.at += typed.chars().count();
        Ok(term)
    }
}

/// Words for completion; facts with a value end with their operator.
const OF_BLOCKS: &[&str] = &[
    "err",
    "tool:",
    "done:",
    "role:user",
    "role:bot",
    "role:sys",
    "role:note",
    "file:",
    "read:",
    "wrote:",
    "dur>",
    "cost>",
    "tok>",
    "since:",
    "before:",
    "lane:",
    "session:",
    "id:",
    "model:",
    "or",
];
const OF_SESSIONS: &[&str] = &[
    "err",
    "agent:",
    "project:",
    "model:",
    "tool:",
    "cost>",
    "ctx>",
    "silent>",
    "same-call>=",
    "running=",
    "since:",
    "before:",
    "or",
];
const OF_ALARMS: &[&str] = &[
    "err",
    "silent>",
    "cost>",
    "ctx>",
    "same-call>=",
    "running=",
    "tool:",
    "done:",
    "dur>",
    "role:user",
    "file:",
    "and",
    "or",
    "not",
];

/// The words for the completion of a point in time.
pub(crate) fn time_words() -> Vec<&'static str> {
    let days = WEEKDAYS.iter().map(|(_, name)| *name);
    ["today", "yesterday", "1h", "24h", "7d", "30d"]
        .into_iter()
        .chain(days)
        .collect()
}

/// The words for the completion of an expression.
pub(crate) fn words(about: Subject) -> Vec<&'static str> {
    let states = STATES.iter().map(|(name, _)| *name);
    match about {
        Subject::Blocks => OF_BLOCKS.to_vec(),
        Subject::Sessions => states.chain(OF_SESSIONS.iter().copied()).collect(),
        Subject::Alarm => states.chain(OF_ALARMS.iter().copied()).collect(),
    }
}

/// Completes the last word as far as it is unambiguous, and returns the matching words.
pub(crate) fn complete(typed: &str, words: Vec<&'static str>) -> (String, Vec<&'static str>) {
    let begins = typed.rfind([' ', '(', '-']).map_or(0, |at| at + 1);
    let (before, word) = typed.split_at(begins);
    let mut fitting = words;
    fitting.retain(|known| known.starts_with(word));
    let Some(first) = fitting.first() else {
        return (typed.to_owned(), fitting);
    };
    let is_shared = |end: &usize| {
        first
            .get(..*end)
            .is_some_and(|start| fitting.iter().all(|word| word.starts_with(start)))
    };
    let sure = (0..=first.len()).rev().find(is_shared).unwrap_or(0);
    let gap = if fitting.len() == 1 && first.ends_with(char::is_alphanumeric) {
        " "
    } else {
        ""
    };
    (
        format!("{before}{}{gap}", first.get(..sure).unwrap_or_default()),
        fitting,
    )
}

/// Examples of points in time, for error messages.
pub(crate) const MOMENTS: &str =
    "2h, 7d, 1w, 1y, 10:42, today, monday, 2026, 2026-01 or 2026-01-31";

/// Parses a point in time such as `10m`, `10:42`, `yesterday` or `2026-01-31`.
pub(crate) fn moment(typed: &str) -> Option<When> {
    let ago = amount(typed, TIMES)
        .filter(|_| typed.ends_with(char::is_alphabetic))
        .map(When::Ago);
    let clock = || Clock::parse(typed).map(When::Clock);
    let day = || Day::parse(typed).map(When::Day);
    let year = || {
        let is_year = typed.len() == 4 && typed.bytes().all(|digit| digit.is_ascii_digit());
        is_year.then(|| format!("{typed}-01"))
    };
    let timestamp = || {
        Timestamp::parse(typed)
            .or_else(|| Timestamp::parse_local(&year().unwrap_or_else(|| typed.to_owned())))
            .map(When::Timestamp)
    };
    ago.or_else(clock).or_else(day).or_else(timestamp)
}

/// Whether a word looks like a misspelled fact: `rol:user` does, `std::fs`, `http://x` and
/// `watch.rs:44` do not.
fn is_misspelt(name: &str, word: &str) -> bool {
    let rest = word.strip_prefix(name).unwrap_or_default();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase());
    is_name && !rest.starts_with("::") && !rest.starts_with(":/")
}

/// That no fact has a name, and the facts with similar names.
fn unknown(name: &str, about: Subject) -> String {
    format!("no fact is called {name}{}", near_words(name, words(about)))
}

fn of_session(at: usize, name: &str) -> Mistake {
    let what =
        format!("{name} is a fact of the session, for :watch and tv wait; in quotes it is text");
    Mistake { at, what }
}

fn of_blocks(at: usize, name: &str) -> Mistake {
    let what =
        format!("{name} is a fact of what is in a session, for & within it; in quotes it is text");
    Mistake { at, what }
}

fn fill(typed: &str) -> Option<Fill> {
    match typed.strip_suffix('%') {
        Some(percent) => percent.parse().ok().map(Fill::Percent),
        None => amount(typed, TOKENS).map(Fill::Tokens),
    }
}

fn usd(typed: &str) -> Option<f64> {
    let digits = typed.strip_prefix('$').unwrap_or(typed);
    let is_plain = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    digits
        .parse()
        .ok()
        .filter(|usd: &f64| is_plain && usd.is_finite())
}

/// Parses `10s`, `1m30s`, `1.5k`; a number without a unit is in seconds or ones.
fn amount(typed: &str, units: &[(&str, u64)]) -> Option<u64> {
    let mut rest = typed;
    let mut sum: Option<u64> = None;
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, behind) = rest.split_at_checked(end)?;
        let end = behind
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(behind.len());
        let (unit, behind) = behind.split_at_checked(end)?;
        let of_unit = units
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(unit))
            .map(|(_, size)| *size);
        let size = of_unit.or((unit.is_empty() && sum.is_none()).then_some(1_000))?;
        sum = Some(sum.unwrap_or(0).checked_add(scaled(number, size)?)?);
        rest = behind;
    }
    sum
}

/// Parses a decimal number of units.
fn scaled(number: &str, size: u64) -> Option<u64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && part.is_empty()) || part.len() > 9 {
        return None;
    }
    let digits = |text: &str| {
        if text.is_empty() {
            Some(0)
        } else {
            text.parse::<u64>().ok()
        }
    };
    let ten = 10_u64.checked_pow(u32::try_from(part.len()).ok()?)?;
    digits(whole)?
        .checked_mul(size)?
        .checked_add(digits(part)?.checked_mul(size)? / ten)
}

#[cfg(test)]
mod tests;
