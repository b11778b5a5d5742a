//! What stands in the columns of a table of sessions, and which of them a line has room for: the same for the wall and
//! for the table that is written.

use super::SessionRow;
use crate::analysis::phrases;
use crate::model::figures;
use crate::model::timestamp::Timestamp;

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// What the agent does, and for how long.
    State,
    /// The folder.
    Project,
    /// The title.
    Title,
    /// The agent.
    Agent,
    /// The model.
    Model,
    /// What the call is about, or what is asked.
    Call,
    /// What may be wrong.
    Flags,
    /// How full the context is.
    Context,
    /// What it has cost.
    Cost,
    /// What of that in the last hour.
    Hour,
    /// The last line that was said.
    Last,
}

/// What stands between columns.
pub const GAP: usize = 2;
/// A title is no narrower.
const TITLE: usize = 12;

/// The columns that a line of this width has room for, with their widths, in the order of the line. What is worth less
/// is left out first.
pub fn plan(width: usize) -> Vec<(Column, usize)> {
    use Column::{Agent, Call, Context, Cost, Flags, Hour, Last, Model, Project, State, Title};
    let columns: &[(Column, usize)] = match width {
        0..46 => &[(State, 16), (Title, 0)],
        46..64 => &[(State, 16), (Title, 0), (Cost, 7)],
        64..104 => &[
            (State, 19),
            (Project, 12),
            (Title, 0),
            (Context, 4),
            (Cost, 8),
        ],
        104..150 => &[
            (State, 19),
            (Project, 14),
            (Title, 0),
            (Call, 22),
            (Flags, 12),
            (Context, 4),
            (Cost, 8),
        ],
        150..190 => &[
            (State, 20),
            (Project, 16),
            (Title, 0),
            (Agent, 11),
            (Model, 12),
            (Call, 26),
            (Flags, 12),
            (Context, 4),
            (Cost, 8),
            (Hour, 8),
        ],
        _ => &[
            (State, 22),
            (Project, 18),
            (Title, 0),
            (Agent, 14),
            (Model, 14),
            (Call, 30),
            (Flags, 14),
            (Context, 4),
            (Cost, 8),
            (Hour, 8),
            (Last, 0),
        ],
    };
    let taken: usize = columns
        .iter()
        .map(|(_, width)| width + GAP)
        .sum::<usize>()
        .saturating_sub(GAP);
    let open = columns.iter().filter(|(_, width)| *width == 0).count();
    let share = width
        .saturating_sub(taken)
        .checked_div(open)
        .unwrap_or(0)
        .max(TITLE.min(width));
    columns
        .iter()
        .map(|(column, width)| (*column, if *width == 0 { share } else { *width }))
        .collect()
}

impl Column {
    /// Its head.
    pub fn title(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Project => "project",
            Self::Title => "title",
            Self::Agent => "agent",
            Self::Model => "model",
            Self::Call => "call",
            Self::Flags => "flags",
            Self::Context => "ctx",
            Self::Cost => "cost",
            Self::Hour => "per hour",
            Self::Last => "last said",
        }
    }

    /// Whether it holds figures, which stand at its right edge.
    pub fn is_of_figures(self) -> bool {
        matches!(self, Self::Context | Self::Cost | Self::Hour)
    }
}

impl SessionRow {
    /// What stands in a column.
    pub fn cell(&self, column: Column, now: Timestamp, ascii: bool) -> String {
        match column {
            Column::State => self.state(now, ascii),
            Column::Project => self.project(),
            Column::Title => self.name(),
            Column::Agent => self.agent(),
            Column::Model => self
                .head
                .model
                .as_deref()
                .map(phrases::model)
                .unwrap_or_default(),
            Column::Call => self.call_words(),
            Column::Flags => self.flag_words(now, ascii),
            Column::Context => self.context_words(),
            Column::Cost => self.cost_words(ascii),
            Column::Hour => self
                .hour
                .as_ref()
                .and_then(phrases::cost)
                .unwrap_or_default(),
            Column::Last => self.last_line().unwrap_or_default().to_owned(),
        }
    }

    /// What its agent does; or what is wrong with its file.
    pub fn state(&self, now: Timestamp, ascii: bool) -> String {
        match &self.problem {
            Some(problem) => format!("{} {problem}", if ascii { "x" } else { "✗" }),
            None => phrases::activity_in_short(&self.activity, self.flags.running, now, ascii),
        }
    }

    /// What is asked, or what the call is about.
    fn call_words(&self) -> String {
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

#[cfg(test)]
mod tests {
    use super::{Column, GAP, plan};

    #[test]
    fn no_line_is_wider_than_its_room() {
        for width in 30..400 {
            let columns = plan(width);
            let taken: usize = columns.iter().map(|(_, width)| width + GAP).sum::<usize>() - GAP;
            assert!(taken <= width, "{width}: {columns:?}");
            assert!(columns.iter().any(|(column, _)| *column == Column::Title));
        }
    }
}
