//! Calls aggregated by tool.

use std::collections::BTreeMap;

use super::durations::Durations;
use super::{CallFacts, Place};
use crate::model::text::Name;
use crate::model::tool::{Took, ToolState};

/// Outcome of a call, the most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// Ended with an error.
    Failed,
    /// Refused by the user or a policy.
    Refused,
    /// Interrupted, with or without a result.
    Lost,
    /// No result so far.
    Open,
    /// The outcome is not recorded.
    Unrecorded,
    Done,
}

impl Outcome {
    /// The outcome of a call in this state.
    pub(crate) fn of(state: &ToolState) -> Self {
        match state {
            ToolState::Failed(_) => Self::Failed,
            ToolState::Refused(_) => Self::Refused,
            ToolState::Stopped(_) | ToolState::Lost => Self::Lost,
            ToolState::Pending
            | ToolState::Running
            | ToolState::Streaming(_)
            | ToolState::Acknowledged(_) => Self::Open,
            ToolState::Done(_) if state.is_unrecorded() => Self::Unrecorded,
            ToolState::Done(_) => Self::Done,
        }
    }

    /// Whether it succeeded, or its outcome is not recorded.
    pub(crate) fn is_good(self) -> bool {
        matches!(self, Self::Done | Self::Unrecorded)
    }

    /// Whether it ended without success.
    pub(crate) fn is_undone(self) -> bool {
        matches!(self, Self::Failed | Self::Refused | Self::Lost)
    }
}

/// Outcomes and durations of calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CallSums {
    outcomes: [usize; 6],
    pub(crate) durations: Durations,
}

impl CallSums {
    /// Adds a call; takes effect on the durations when they are sorted.
    pub(super) fn add(&mut self, outcome: Outcome, took: Option<Took>) {
        if let Some(count) = self.outcomes.get_mut(outcome as usize) {
            *count += 1;
        }
        self.durations.extend(took);
    }

    pub(crate) fn count(&self) -> usize {
        self.outcomes.iter().sum()
    }

    /// The number of calls with this outcome.
    pub(crate) fn ended(&self, outcome: Outcome) -> usize {
        self.outcomes.get(outcome as usize).copied().unwrap_or(0)
    }

    /// The number of calls without a result.
    pub(crate) fn open(&self) -> usize {
        self.ended(Outcome::Open) + self.ended(Outcome::Lost)
    }
}

/// The calls of one tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tool {
    /// The calls in file order.
    pub(crate) calls: Vec<Place>,
    pub(crate) sums: CallSums,
    /// Size of all results.
    pub(crate) bytes: u64,
}

/// All tools by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tools {
    pub(crate) by_name: BTreeMap<Name, Tool>,
}

impl Tools {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Name, &Tool)> {
        self.by_name.iter()
    }

    /// Sum of durations in ms, parallel calls counted separately; and whether a part of it is an
    /// upper bound.
    pub(crate) fn time(&self) -> (u64, bool) {
        let spreads = self
            .iter()
            .filter_map(|(_, tool)| tool.sums.durations.spread());
        spreads.fold((0, false), |(sum, is_bound), spread| {
            (sum.saturating_add(spread.sum), is_bound || spread.is_bound)
        })
    }

    /// Adds a call; takes effect with [`Tools::sort`].
    pub(super) fn add(&mut self, place: Place, known: &CallFacts) {
        let tool = self.by_name.entry(known.name.clone()).or_default();
        tool.calls.push(place);
        tool.bytes = tool.bytes.saturating_add(known.bytes);
        tool.sums.add(known.outcome, known.took);
    }

    /// To be called after calls were added.
    pub(super) fn sort(&mut self) {
        self.by_name
            .values_mut()
            .for_each(|tool| tool.sums.durations.sort());
    }
}
