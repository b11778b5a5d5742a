//! Classes of time, and sums of time by class.

use crate::analysis::calls::asking::asks_user;
use crate::model::entry::EntryId;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{Clocked, ToolCall, ToolKind, ToolState};

/// What a span of time was spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// The model was answering.
    Model,
    Tool,
    /// The agent waited for a human: the next prompt, an answer, a permission.
    Human,
    /// Only background work was running.
    Background,
    /// A failed request was retried.
    Retry,
    /// A long time until the next prompt.
    Idle,
    Unknown,
}

impl Class {
    /// In the order in which they are shown.
    pub(crate) const ALL: [Self; 7] = [
        Self::Model,
        Self::Tool,
        Self::Human,
        Self::Background,
        Self::Retry,
        Self::Idle,
        Self::Unknown,
    ];

    /// Index in [`Self::ALL`].
    fn place(self) -> Option<usize> {
        Self::ALL.iter().position(|one| *one == self)
    }

    /// Whether the agent is working: the model, a tool, or a retry.
    pub(crate) fn is_work(self) -> bool {
        matches!(self, Self::Model | Self::Tool | Self::Retry)
    }

    /// The name on the screen.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Tool => "tools",
            Self::Human => "you",
            Self::Background => "background",
            Self::Retry => "retry",
            Self::Idle => "idle",
            Self::Unknown => "unknown",
        }
    }
}

/// Limit in ms for tools that read or edit files, which take seconds. A longer call was held up,
/// possibly by a permission prompt.
pub(crate) const STILL_MS: u64 = 10 * 60_000;

/// Time in ms that a human needs at least to read a permission prompt.
const ASKED_MS: u64 = 1_000;

impl Class {
    /// The class of a call's time.
    pub(crate) fn of_call(call: &ToolCall, said: Option<Timestamp>) -> Self {
        let took = call
            .duration(said)
            .filter(|took| took.by != Clocked::Measured);
        let is_quick = matches!(
            call.kind,
            ToolKind::Read | ToolKind::Edit | ToolKind::Write | ToolKind::Search
        );
        match &call.state {
            // Faster than a human can answer: a rule or a hook refused it.
            ToolState::Refused(_) if took.is_some_and(|took| took.ms < ASKED_MS) => Self::Tool,
            ToolState::Refused(_) => Self::Human,
            _ if asks_user(call) => Self::Human,
            _ if is_quick && took.is_some_and(|took| took.ms > STILL_MS) => Self::Unknown,
            _ => Self::Tool,
        }
    }
}

/// A span of time in a lane with its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeSpan {
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
    pub(crate) class: Class,
    /// The entry at its end, or with the call that ran.
    pub(crate) entry: EntryId,
    /// The block of the call that ran.
    pub(crate) block: Option<u32>,
}

impl TimeSpan {
    pub(crate) fn ms(&self) -> u64 {
        self.to.since(self.from)
    }
}

/// Time by class, in ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Below 0 where more was moved to another class than is counted here.
    spent: [i64; Class::ALL.len()],
}

impl Sums {
    pub(super) fn add(&mut self, class: Class, ms: u64) {
        self.change(class, i64::try_from(ms).unwrap_or(i64::MAX));
    }

    /// Moves time from one class to another, where the agent's own record of a turn's duration
    /// corrects what is computed.
    pub(super) fn reclassify(&mut self, from: Class, to: Class, ms: u64) {
        let ms = i64::try_from(ms).unwrap_or(i64::MAX);
        self.change(from, ms.saturating_neg());
        self.change(to, ms);
    }

    fn change(&mut self, class: Class, ms: i64) {
        if let Some(sum) = class.place().and_then(|at| self.spent.get_mut(at)) {
            *sum = sum.saturating_add(ms);
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (sum, more) in self.spent.iter_mut().zip(other.spent) {
            *sum = sum.saturating_add(more);
        }
    }

    /// Time in ms of the model, of tools and of retries.
    pub fn work(&self) -> u64 {
        Class::ALL
            .into_iter()
            .filter(|class| class.is_work())
            .map(|class| self.of(class))
            .sum()
    }

    /// Time of a class in ms.
    pub(crate) fn of(&self, class: Class) -> u64 {
        let spent = class.place().and_then(|at| self.spent.get(at));
        spent.map_or(0, |ms| u64::try_from(*ms).unwrap_or(0))
    }

    /// The time of all classes in ms.
    pub(crate) fn total(&self) -> u64 {
        let total: i64 = self.spent.iter().fold(0, |sum, ms| sum.saturating_add(*ms));
        u64::try_from(total).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::Class;
    use crate::model::body::Tree;
    use crate::model::edit::Batch;
    use crate::model::text::Text;
    use crate::model::timestamp::Timestamp;
    use crate::model::tool::{ToolCall, ToolKind, ToolResult, ToolState, Verdict};

    #[test]
    fn a_refusal_that_comes_at_once_is_nobodys_time() {
        let class = |ms: i64| {
            let mut out = Batch::default();
            let result = ToolResult {
                key: Text::from("r"),
                tool: None,
                verdict: Verdict::Refused,
                body: out.output("no"),
                patch: None,
                images: Vec::new(),
                facts: Text::default(),
                at: Some(Timestamp(ms)),
                duration_ms: None,
                work: None,
            };
            let call = ToolCall {
                key: Text::from("c"),
                name: Text::from("bash"),
                kind: ToolKind::Run,
                headline: Text::from("rm"),
                input: out.tree(&Text::from("rm"), 2, || Tree::Null),
                state: ToolState::Refused(Box::new(result)),
                started: Some(Timestamp(0)),
                lane: None,
            };
            Class::of_call(&call, None)
        };
        assert_eq!((class(642), class(4_000)), (Class::Tool, Class::Human));
    }
}
