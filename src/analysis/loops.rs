//! Detects loops and churn: repeated equal calls, and edits that are undone.

mod churn;
mod runs;
mod steps;

use std::collections::HashSet;

pub(crate) use churn::Undone;
pub(crate) use runs::{CallRun, Results};

use self::churn::Churn;
use self::runs::RunSweep;
use self::steps::StepFact;
use super::derived::{Derived, Facts, Out};
use super::expression::LOOP;
use crate::model::entry::{Entry, EntryId};
use crate::model::text::Name;
use crate::model::transcript::Transcript;

/// The loops of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loops {
    /// Runs that are long enough for a loop, in the order of their starts.
    pub(crate) runs: Vec<CallRun>,
    /// The current run of the main lane, and those of sub-agents with more than one call, so that
    /// thousands of others take no memory.
    main: Option<CallRun>,
    agents: Vec<(Name, CallRun)>,
    /// Edits that were undone, in the order in which that happened.
    pub(crate) undone: Vec<Undone>,
}

impl Derived for Loops {
    type Row = StepFact;
    type Reads = ();
    const IS_OF_ROWS: bool = true;

    fn rows(
        _transcript: &Transcript,
        (_, entry): (EntryId, &Entry),
        before: &[StepFact],
        out: &mut Out<'_, StepFact>,
    ) {
        steps::read(entry, before, out);
    }

    fn of(transcript: &Transcript, facts: &Facts<StepFact>, _reads: &()) -> Self {
        let (mut lanes, mut churn) = (RunSweep::new(facts), Churn::new(facts));
        for (_, id, rows) in facts
            .in_order(transcript)
            .filter(|(.., rows)| !rows.is_empty())
        {
            lanes.add(transcript.lane_at(id), id, rows);
            churn.add(id, rows);
        }
        let mut loops = Self {
            undone: churn.undone(),
            ..Self::default()
        };
        for lane in lanes.list {
            match (lane.name, lane.current(facts)) {
                (None, current) => loops.main = current,
                (Some(name), Some(current)) if current.count() > 1 => {
                    loops.agents.push((name.clone(), current));
                }
                _ => {}
            }
            loops.runs.extend(lane.into_loops(facts));
        }
        loops.runs.sort_by_key(CallRun::first);
        loops
    }
}

impl Loops {
    /// The longest current run of a lane, up to its newest call.
    pub(crate) fn current(&self, transcript: &Transcript) -> Option<&CallRun> {
        let is_over = |name: &Name| {
            let lane = transcript.lane(name);
            let call = lane.and_then(|lane| lane.call.as_ref());
            let entries = call
                .map(|call| transcript.entries_with_call(call))
                .unwrap_or_default();
            let entries = entries.iter().filter_map(|id| transcript.get(*id));
            let mut calls = entries.flat_map(Entry::calls);
            calls.any(|own| Some(&own.key) == call && own.state.result().is_some())
        };
        let agents = self
            .agents
            .iter()
            .filter(|(name, _)| !is_over(name))
            .map(|(_, run)| run);
        self.main.iter().chain(agents).max_by_key(|run| run.count())
    }

    /// Entries with calls from the third of a loop on, or with an edit that undoes another.
    pub(crate) fn entries(&self) -> HashSet<EntryId> {
        let least = usize::try_from(LOOP).unwrap_or(usize::MAX);
        let of_loops = self
            .runs
            .iter()
            .flat_map(|run| run.places().skip(least.saturating_sub(1)));
        of_loops
            .chain(self.undone.iter().map(|undone| undone.by))
            .map(|place| place.entry)
            .collect()
    }
}

/// A short description of a loop: `loop ×6 bash, same result`.
pub(crate) fn loop_words(run: &CallRun, times: &str) -> String {
    let results = match run.results() {
        Results::Same => ", same result",
        Results::Differ => ", results differ",
        Results::Unknown => "",
    };
    let like = if run.is_sure() {
        ""
    } else {
        ", as far as their beginnings tell"
    };
    format!("loop {times}{} {}{results}{like}", run.count(), run.tool)
}

#[cfg(test)]
mod tests;
