//! The comparison of a session with another run: the value that the runtime reads and the views show.

use std::collections::HashSet;
use std::sync::Arc;

use super::text::viewport::Focus;
use crate::analysis::run_diff::{RunDiff, StepFacts};
use crate::model::found::Target;
use crate::model::transcript::Transcript;

/// A comparison with another run.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What the runs are called.
    pub names: [String; 2],
    pub(crate) state: ComparisonState,
}

#[derive(Clone, Debug)]
pub(crate) enum ComparisonState {
    Reading,
    Failed(String),
    Done(Compared),
}

/// Two runs that were read.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Their steps side by side.
    pub diff: Arc<RunDiff>,
    /// The session of the other run; `None` if it is the shown one.
    pub other: Option<Target>,
}

/// The run that a session is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OtherRun {
    /// A run of the same session: what this entry belongs to, or the main agent.
    Here(Option<String>),
    /// A session, or `SESSION#KEY`.
    Named(String),
}

impl Comparison {
    /// The comparison, once both runs are read.
    pub(crate) fn done(&self) -> Option<&Compared> {
        match &self.state {
            ComparisonState::Done(compared) => Some(compared),
            _ => None,
        }
    }

    /// The first item of each difference in this session.
    pub(crate) fn differences(&self, transcript: &Transcript) -> HashSet<Focus> {
        let Some(compared) = self.done() else {
            return HashSet::new();
        };
        let steps = &compared.diff.steps;
        let starts = compared.diff.differences();
        let first = |at: usize| {
            let pairs = steps.iter().skip(at).take_while(|pair| pair.parts);
            let mut ours = pairs.filter_map(|pair| pair.sides.first()?.as_ref());
            ours.next().and_then(|step| place_of(transcript, step))
        };
        starts.filter_map(first).collect()
    }
}

/// The item of a step in the shown session.
pub(crate) fn place_of(transcript: &Transcript, step: &StepFacts) -> Option<Focus> {
    let entry = transcript.find(&step.key)?;
    Some(Focus {
        entry,
        block: step.block,
    })
}
