//! Columns of session lists as text: the same for the wall and for the written table.

use super::{LastWords, Need, SessionRow, Voice};
use crate::analysis::activity::Activity;
use crate::analysis::phrases;
use crate::model::figures;
use crate::model::timestamp::Timestamp;

impl SessionRow {
    /// Activity and its duration; or what it needs the user for; or an error of its file.
    pub fn state(&self, now: Timestamp, ascii: bool) -> String {
        let sign = match (self.need == Need::Error, ascii) {
            (true, _) => "!",
            (false, true) => "x",
            (false, false) => "✗",
        };
        if let Some(problem) = &self.problem {
            return format!("{sign} {problem}");
        }
        if let Some(reason) = self.reason(ascii) {
            let since = self.since().map(|since| figures::elapsed(now.since(since)));
            return format!("! {reason} {}", since.unwrap_or_default());
        }
        let words = phrases::activity_in_short(&self.activity, self.flags.running, now, ascii);
        match self.head.ended {
            // Ended sessions have no other time.
            Some(ended) if matches!(self.activity, Activity::Ended | Activity::Unclean) => {
                format!("{words} {}", figures::age(now.since(ended)))
            }
            _ => words,
        }
    }

    /// [`Self::state`], in lists that have the age in a column of its own.
    pub(crate) fn state_without_age(&self, now: Timestamp, ascii: bool) -> String {
        let short = |activity| phrases::activity_in_short(activity, 0, now, ascii);
        match &self.activity {
            _ if self.problem.is_some() || self.need < Need::Prompt => self.state(now, ascii),
            Activity::Idle { .. } => short(&Activity::Idle { since: None }),
            activity @ (Activity::Ended | Activity::Unclean) => short(activity),
            _ => self.state(now, ascii),
        }
    }

    /// What it needs the user for, except the next prompt.
    fn reason(&self, ascii: bool) -> Option<String> {
        let words = match self.need {
            Need::Permission => "permission",
            Need::Answer => "question",
            Need::Error => "unclean end",
            Need::Stuck => match &self.flags.same {
                Some((count, _)) if self.flags.is_loop => {
                    return Some(format!("loop {}{count}", if ascii { "x" } else { "×" }));
                }
                _ => "silent",
            },
            Need::Undelivered => "end not told",
            Need::Prompt | Need::Works | Need::Rests => return None,
        };
        Some(words.to_owned())
    }

    /// The question to the user, the subject of the running call, the call that is in a loop, or the
    /// error at which the agent stopped.
    pub(crate) fn call_words(&self) -> String {
        let call = self.call.as_ref().map(|call| &call.headline);
        let is_why = |last: &&LastWords| {
            self.flags.is_loop || (last.voice == Voice::Note && self.need.needs_user())
        };
        let last = self.last.last().filter(is_why);
        let words = self.wish().or(call).or(last.map(|last| &last.text));
        words.map(ToString::to_string).unwrap_or_default()
    }

    /// The fill level of the context: `53%`, or `84k tok` if the window is unknown.
    pub fn context_words(&self) -> String {
        let Some(context) = self.context else {
            return String::new();
        };
        match context.window.filter(|window| *window > 0) {
            Some(window) => format!("{}%", figures::percent(context.tokens, window)),
            None => format!("{} tok", figures::tokens(context.tokens)),
        }
    }

    /// The cost; an ellipsis until the session is read completely.
    pub fn cost_words(&self, ascii: bool) -> String {
        let Some(cost) = &self.cost else {
            let is_read = self.is_complete || self.problem.is_some();
            return if is_read {
                String::new()
            } else if ascii {
                "...".to_owned()
            } else {
                "…".to_owned()
            };
        };
        let unknown = || {
            if cost.unpriced_models.is_empty() {
                String::new()
            } else {
                "$?".to_owned()
            }
        };
        phrases::cost(cost).unwrap_or_else(unknown)
    }
}
