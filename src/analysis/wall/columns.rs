//! What lists say of a session, in words: the same for the wall and for the table that is written.

use super::SessionRow;
use crate::analysis::phrases;
use crate::model::figures;
use crate::model::timestamp::Timestamp;

impl SessionRow {
    /// What its agent does; or what is wrong with its file.
    pub fn state(&self, now: Timestamp, ascii: bool) -> String {
        match &self.problem {
            Some(problem) => format!("{} {problem}", if ascii { "x" } else { "✗" }),
            None => phrases::activity_in_short(&self.activity, self.flags.running, now, ascii),
        }
    }

    /// What is asked, or what the call is about.
    pub(crate) fn call_words(&self) -> String {
        let call = self.call.as_ref().map(|call| call.headline.to_string());
        self.wish()
            .map(ToString::to_string)
            .or(call)
            .unwrap_or_default()
    }

    /// `loop ×4`, `silent 2m10s`, `3✗`.
    pub fn flag_words(&self, now: Timestamp, ascii: bool) -> String {
        let (times, failed) = if ascii { ("x", "x") } else { ("×", "✗") };
        let flags = &self.flags;
        let count = flags
            .same
            .as_ref()
            .filter(|_| flags.is_loop)
            .map(|(count, _)| *count);
        let silent = flags.quiet_since.filter(|_| flags.is_silent);
        let words = [
            count.map(|count| format!("loop {times}{count}")),
            silent.map(|since| format!("silent {}", figures::age(now.since(since)))),
            (flags.errors > 0).then(|| format!("{}{failed}", flags.errors)),
        ];
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
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
