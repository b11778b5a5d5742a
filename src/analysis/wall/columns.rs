//! What lists say of a session, in words: the same for the wall and for the table that is written.

use super::{Need, SessionRow};
use crate::analysis::activity::Activity;
use crate::analysis::phrases;
use crate::model::figures;
use crate::model::timestamp::Timestamp;

impl SessionRow {
    /// What its agent does, since when; for what it needs somebody; or what is wrong with its file.
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
            // What is over has no other time.
            Some(ended) if matches!(self.activity, Activity::Ended | Activity::Unclean) => {
                format!("{words} {}", figures::age(now.since(ended)))
            }
            _ => words,
        }
    }

    /// What it needs somebody for, where that is more than the next prompt.
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

    /// What is asked, or what the call is about.
    pub(crate) fn call_words(&self) -> String {
        let call = self.call.as_ref().map(|call| call.headline.to_string());
        self.wish()
            .map(ToString::to_string)
            .or(call)
            .unwrap_or_default()
    }

    /// How full the context is: `53%`, or `84k` where nobody knows of what.
    pub fn context_words(&self) -> String {
        let Some(context) = self.context else {
            return String::new();
        };
        match context.window.filter(|window| *window > 0) {
            Some(window) => format!("{}%", figures::percent(context.tokens, window)),
            None => figures::tokens(context.tokens),
        }
    }

    /// What it has cost; an ellipsis until all of it is read.
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
