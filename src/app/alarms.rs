//! Alarms, set with `:watch EXPR` or `watch` in the settings.
//!
//! Invariants: an alarm rings only for entries that arrive after it was set and after the session
//! was read to its end; no text of the session becomes part of a shell command.

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

/// How the user is notified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NotifyMeans {
    Bell,
    /// A notification of the terminal (OSC 9 or 777), where it supports that.
    Osc,
    #[default]
    Both,
    /// A message on the screen only.
    Off,
}

/// An alarm as typed: the expression, and an optional shell command.
#[derive(Clone, Debug, PartialEq)]
pub struct AlarmSpec {
    pub expr: Expr,
    /// The shell command to run; `None` only notifies.
    pub command: Option<String>,
}

/// An alarm that rang, to be announced to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlarmNotice {
    /// The session's name, as the lists show it.
    pub session: String,
    /// The message: what happened.
    pub words: String,
    pub expression: String,
    /// The argument that opens the session on the command line; `None` if there is none.
    pub address: Option<String>,
    /// The activity of the agent, as JSON outputs name it.
    pub activity: &'static str,
    /// The user's shell command, if the alarm has one.
    pub command: Option<String>,
}

#[derive(Clone, Debug)]
struct ActiveAlarm {
    spec: AlarmSpec,
    alarm: Alarm,
    fired: u64,
    last: Option<(Timestamp, String)>,
}

/// All alarms of a session.
#[derive(Clone, Debug, Default)]
pub struct Alarms {
    list: Vec<ActiveAlarm>,
    /// Entries added or changed since the last check.
    touched: Vec<EntryId>,
    /// Entries at which an alarm rang.
    pub marks: HashSet<EntryId>,
    /// Whether the spine does not show all marks yet.
    pub(crate) has_new_marks: bool,
    /// Orphans that the lint had found at the last check; only new ones ring.
    orphans: Option<HashSet<Place>>,
    has_begun: bool,
}

impl NotifyMeans {
    const ALL: [(&'static str, Self); 4] = [
        ("bell", Self::Bell),
        ("osc", Self::Osc),
        ("both", Self::Both),
        ("off", Self::Off),
    ];

    /// The name in settings.
    pub fn word(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, means)| *means == self)
            .map_or("", |(word, _)| word)
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        let mut all = Self::ALL.iter();
        all.find(|(known, _)| *known == word)
            .map(|(_, means)| *means)
    }
}

impl FromStr for AlarmSpec {
    type Err = Mistake;

    /// Parses `EXPR` or `EXPR | COMMAND`. A bar within quotes or a regular expression belongs to
    /// the expression.
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
        // An error before the bar is reported first.
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

impl std::fmt::Display for AlarmSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.command {
            Some(command) => write!(f, "{} | {command}", self.expr),
            None => write!(f, "{}", self.expr),
        }
    }
}

impl Alarms {
    /// Creates the alarms of the settings.
    pub fn of(wishes: &[AlarmSpec]) -> Self {
        let list = wishes
            .iter()
            .map(|wish| ActiveAlarm::new(wish.clone(), None))
            .collect();
        Self {
            list,
            ..Self::default()
        }
    }

    /// The same alarms for a reloaded session, without their state.
    #[must_use]
    pub fn restarted(self) -> Self {
        Self {
            list: self.list,
            ..Self::default()
        }
    }

    /// Whether an alarm can ring because time passes, without a new entry.
    pub(crate) fn needs_clock(&self) -> bool {
        !self.list.is_empty() && self.has_begun
    }

    /// Whether an alarm depends on findings of the lint.
    pub(crate) fn needs_findings(&self) -> bool {
        self.list
            .iter()
            .any(|watch| watch.alarm.has_state(|fact| *fact == Fact::Orphan))
    }

    /// Whether an alarm with this expression is set.
    pub(crate) fn has(&self, wish: &AlarmSpec) -> bool {
        self.list.iter().any(|watch| watch.spec.expr == wish.expr)
    }

    /// The alarms by their numbers, from 1.
    pub(crate) fn named(&self) -> impl Iterator<Item = (usize, String)> {
        let alarms = (1..).zip(&self.list);
        alarms.map(|(number, alarm)| (number, alarm.spec.to_string()))
    }

    /// Maps all ids to another transcript of the session.
    pub(crate) fn remap(&mut self, lookup: &Lookup<'_>) {
        self.touched = lookup.entries(&self.touched);
        self.marks = lookup.entries(&self.marks);
        self.orphans = self.orphans.take().map(|orphans| lookup.blocks(&orphans));
        self.list
            .iter_mut()
            .for_each(|watch| watch.alarm.remap(lookup));
    }

    /// Queues the entries that a batch touched for the next check.
    pub fn update(&mut self, touched: &Touched) {
        if !self.list.is_empty() {
            self.touched
                .extend(touched.added.iter().chain(&touched.changed));
        }
    }
}

impl ActiveAlarm {
    fn new(wish: AlarmSpec, last: Option<Timestamp>) -> Self {
        let alarm = Alarm::new(wish.expr.clone(), last);
        Self {
            spec: wish,
            alarm,
            fired: 0,
            last: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::AlarmSpec;

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
            let wish: AlarmSpec = typed.parse().unwrap();
            assert_eq!(wish.command.as_deref(), command, "{typed}");
            assert_eq!(wish.to_string(), typed);
        }
    }

    #[test]
    fn mistakes_are_those_of_the_expression() {
        let mistake = |typed: &str| typed.parse::<AlarmSpec>().unwrap_err().what;
        assert!(mistake("wating | true").contains("wating"));
        assert!(
            mistake("waiting |").contains('|'),
            "{}",
            mistake("waiting |")
        );
        assert!(mistake("").contains("missing"));
    }
}
