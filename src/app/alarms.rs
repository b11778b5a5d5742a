//! Alarms that the reader set: `:watch EXPR`, or `watch` in the settings.
//!
//! Invariant: an alarm rings for what comes after the session was read to its end, never for what was there
//! when watching began; and no text of the session is a part of a command.

pub mod actions;

use std::collections::HashSet;
use std::str::FromStr;

use crate::analysis::alarm::Alarm;
use crate::analysis::calls::Place;
use crate::analysis::calls::lookup::Lookup;
use crate::analysis::expression::parse::{Mistake, parse_alarm};
use crate::analysis::expression::{Expr, State as Fact};
use crate::model::entry::EntryId;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Touched;

/// How the reader is notified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ring {
    /// By the terminal's bell.
    Bell,
    /// By a notification, where the terminal has them.
    Osc,
    /// By both.
    #[default]
    Both,
    /// Only on the screen.
    Off,
}

/// What is watched, and the shell command that runs when it comes about.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    /// What is watched.
    pub expr: Expr,
    /// The command.
    pub command: Option<String>,
}

/// Something that came about, to be announced to the reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What the session is called.
    pub session: String,
    /// What came about.
    pub words: String,
    /// What was watched.
    pub expression: String,
    /// What opens the session on the command line.
    pub address: Option<String>,
    /// What the agent does, in the word of the JSON outputs.
    pub activity: &'static str,
    /// A shell command of the reader's.
    pub command: Option<String>,
    /// How the reader is notified.
    pub means: Ring,
}

/// An alarm that was set.
#[derive(Clone, Debug)]
struct Watch {
    wish: Wish,
    alarm: Alarm,
    rung: u64,
    last: Option<(Timestamp, String)>,
}

/// All alarms of a session.
#[derive(Clone, Debug, Default)]
pub struct Alarms {
    /// How the reader is notified.
    pub means: Ring,
    list: Vec<Watch>,
    /// Entries that have come or changed since the last look.
    touched: Vec<EntryId>,
    /// Entries at which an alarm rang.
    pub marks: HashSet<EntryId>,
    /// Whether some of them are not in the spine yet.
    pub(crate) has_new_marks: bool,
    /// Findings of lost halves that were there at the last look.
    orphans: Option<HashSet<Place>>,
    has_begun: bool,
}

impl Ring {
    const ALL: [(&'static str, Self); 4] = [
        ("bell", Self::Bell),
        ("osc", Self::Osc),
        ("both", Self::Both),
        ("off", Self::Off),
    ];

    /// The word for it.
    pub fn word(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, means)| *means == self)
            .map_or("", |(word, _)| word)
    }
}

impl FromStr for Ring {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let means = Self::ALL
            .iter()
            .find(|(word, _)| *word == typed)
            .map(|(_, means)| *means);
        means.ok_or_else(|| "an alarm is told by bell, osc, both or off".to_owned())
    }
}

impl FromStr for Wish {
    type Err = Mistake;

    /// `EXPR` or `EXPR | COMMAND`. A bar within quotes or a regular expression is a part of those.
    fn from_str(typed: &str) -> Result<Self, Mistake> {
        let whole = parse_alarm(typed);
        for (at, _) in typed.match_indices('|').filter(|_| whole.is_err()) {
            let (left, right) = (
                typed.get(..at).unwrap_or_default(),
                typed.get(at + 1..).unwrap_or_default(),
            );
            if let (Ok(expr), command) = (parse_alarm(left), right.trim())
                && !command.is_empty()
            {
                return Ok(Self {
                    expr,
                    command: Some(command.to_owned()),
                });
            }
        }
        // A mistake before the bar is the one to be reported.
        match typed.split_once('|') {
            Some((left, _)) if whole.is_err() => parse_alarm(left).and(whole),
            _ => whole,
        }
        .map(|expr| Self {
            expr,
            command: None,
        })
    }
}

impl std::fmt::Display for Wish {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.command {
            Some(command) => write!(f, "{} | {command}", self.expr),
            None => write!(f, "{}", self.expr),
        }
    }
}

impl Alarms {
    /// The alarms that the settings ask for.
    pub fn of(wishes: &[Wish], means: Ring) -> Self {
        let list = wishes
            .iter()
            .map(|wish| Watch::new(wish.clone(), None))
            .collect();
        Self {
            means,
            list,
            ..Self::default()
        }
    }

    /// The same alarms for the same session, read anew.
    #[must_use]
    pub fn again(self) -> Self {
        Self {
            means: self.means,
            list: self.list,
            ..Self::default()
        }
    }

    /// Whether time alone may make one ring.
    pub(crate) fn needs_clock(&self) -> bool {
        !self.list.is_empty() && self.has_begun
    }

    /// Whether one waits for what the lint finds.
    pub(crate) fn want_findings(&self) -> bool {
        self.list
            .iter()
            .any(|watch| watch.alarm.asks_for(|fact| *fact == Fact::Orphan))
    }

    /// Whether one is set for the same.
    pub(crate) fn has(&self, wish: &Wish) -> bool {
        self.list.iter().any(|watch| watch.wish.expr == wish.expr)
    }

    /// How many are set.
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// The same places in another transcript of the session.
    pub(crate) fn look_up(&mut self, lookup: &Lookup<'_>) {
        self.touched = lookup.entries(&self.touched);
        self.marks = lookup.entries(&self.marks);
        self.orphans = self.orphans.take().map(|orphans| lookup.blocks(&orphans));
        self.list
            .iter_mut()
            .for_each(|watch| watch.alarm.look_up(lookup));
    }

    /// Notes what a batch touched.
    pub fn note(&mut self, touched: &Touched) {
        if !self.list.is_empty() {
            self.touched
                .extend(touched.added.iter().chain(&touched.changed));
        }
    }
}

impl Watch {
    fn new(wish: Wish, last: Option<Timestamp>) -> Self {
        let alarm = Alarm::new(wish.expr.clone(), last);
        Self {
            wish,
            alarm,
            rung: 0,
            last: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Wish;

    #[test]
    fn what_is_watched_prints_as_it_is_parsed() {
        for (typed, command) in [
            ("waiting", None),
            ("err or silent>90s", None),
            ("waiting | notify-send tv", Some("notify-send tv")),
            ("/a|b/ | tee x | wc", Some("tee x | wc")),
            ("\"a|b\"", None),
            ("/a|b/", None),
        ] {
            let wish: Wish = typed.parse().unwrap();
            assert_eq!(wish.command.as_deref(), command, "{typed}");
            assert_eq!(wish.to_string(), typed);
        }
    }

    #[test]
    fn mistakes_are_those_of_the_expression() {
        let mistake = |typed: &str| typed.parse::<Wish>().unwrap_err().what;
        assert!(mistake("wating | true").contains("wating"));
        assert!(
            mistake("waiting |").contains('|'),
            "{}",
            mistake("waiting |")
        );
        assert!(mistake("").contains("missing"));
    }
}
