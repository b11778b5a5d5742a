//! Runs of equal calls: the same tool and arguments, without another call in between that may
//! change anything. A prompt ends all runs of its lane, and one of the main lane those of all
//! lanes.

use hashbrown::HashMap;

use super::steps::{CallStep, ResultFacts, StepFact};
use crate::analysis::calls::Place;
use crate::analysis::derived::Facts;
use crate::analysis::expression::LOOP;
use crate::model::entry::EntryId;
use crate::model::text::Name;

/// A run is current if its last call is among this many newest calls of the lane.
const RECENT: usize = 8;

#[derive(Clone, Debug, PartialEq)]
pub struct CallRun {
    pub(crate) tool: Name,
    calls: Vec<RepeatedCall>,
}

/// A call of a run.
#[derive(Clone, Debug, PartialEq)]
struct RepeatedCall {
    place: Place,
    outcome: Option<ResultFacts>,
    /// Whether the whole arguments were compared, rather than only their beginning and size.
    is_sure: bool,
}

/// Whether the results of equal calls are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Results {
    /// All results are equal.
    Same,
    Differ,
    /// There are fewer than two results.
    Unknown,
}

impl CallRun {
    fn of(calls: &[(EntryId, &CallStep)], facts: &Facts<StepFact>) -> Self {
        let tool = calls
            .first()
            .map(|(_, step)| facts.name(step.tool))
            .unwrap_or_default();
        let call = |(entry, step): &(EntryId, &CallStep)| RepeatedCall {
            place: Place {
                entry: *entry,
                block: step.block as usize,
            },
            outcome: step.outcome(),
            is_sure: step.print.is_some(),
        };
        Self {
            tool,
            calls: calls.iter().map(call).collect(),
        }
    }

    /// The number of calls.
    pub(crate) fn count(&self) -> usize {
        self.calls.len()
    }

    /// Positions of the calls, in order.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place> {
        self.calls.iter().map(|call| call.place)
    }

    /// A sort key: the position of the first call.
    pub(crate) fn first(&self) -> Option<Place> {
        self.places().next()
    }

    /// The position of the newest call.
    pub(crate) fn last(&self) -> Option<Place> {
        self.places().last()
    }

    /// Whether the results are equal.
    pub(crate) fn results(&self) -> Results {
        let mut outcomes = self.calls.iter().filter_map(|call| call.outcome);
        let first = outcomes.next();
        let mut others = outcomes.peekable();
        match first {
            Some(first) if others.peek().is_some() => {
                if others.all(|outcome| outcome.is_same(first)) {
                    Results::Same
                } else {
                    Results::Differ
                }
            }
            _ => Results::Unknown,
        }
    }

    /// Whether the whole arguments were compared, rather than only their beginning and size.
    pub(crate) fn is_sure(&self) -> bool {
        self.calls.iter().all(|call| call.is_sure)
    }
}

/// The state of the pass over all lanes.
pub(super) struct RunSweep<'a> {
    facts: &'a Facts<StepFact>,
    numbers: HashMap<Option<&'a Name>, usize>,
    pub(super) list: Vec<LaneRuns<'a>>,
    /// Sub-agents with entries since the last prompt of the main lane.
    active: Vec<usize>,
}

/// The state of a lane.
#[derive(Default)]
pub(super) struct LaneRuns<'a> {
    pub(super) name: Option<&'a Name>,
    /// Number of calls so far.
    steps: usize,
    is_active: bool,
    /// The current run of each tool, by the number of the tool.
    open: HashMap<u32, OpenRun<'a>>,
    loops: Vec<CallRun>,
}

/// A run, and the index in the lane of its newest call.
#[derive(Default)]
struct OpenRun<'a> {
    calls: Vec<(EntryId, &'a CallStep)>,
    last: usize,
}

impl<'a> RunSweep<'a> {
    pub(super) fn new(facts: &'a Facts<StepFact>) -> Self {
        Self {
            facts,
            numbers: HashMap::new(),
            list: Vec::new(),
            active: Vec::new(),
        }
    }

    /// Adds the rows of the next entry.
    pub(super) fn add(&mut self, name: Option<&'a Name>, id: EntryId, rows: &'a [StepFact]) {
        let is_prompt = matches!(rows.first(), Some(StepFact::Prompt));
        if name.is_none() && is_prompt {
            for number in std::mem::take(&mut self.active) {
                self.list
                    .get_mut(number)
                    .into_iter()
                    .for_each(|lane| lane.end(self.facts));
            }
        }
        let number = *self.numbers.entry(name).or_insert(self.list.len());
        if number == self.list.len() {
            self.list.push(LaneRuns {
                name,
                ..LaneRuns::default()
            });
        }
        let Some(lane) = self.list.get_mut(number) else {
            return;
        };
        if name.is_some() && !std::mem::replace(&mut lane.is_active, true) {
            self.active.push(number);
        }
        if is_prompt {
            lane.end(self.facts);
        }
        rows.iter()
            .filter_map(StepFact::step)
            .for_each(|step| lane.call(id, step, self.facts));
    }
}

impl<'a> LaneRuns<'a> {
    fn call(&mut self, id: EntryId, step: &'a CallStep, facts: &Facts<StepFact>) {
        let Self { open, loops, .. } = self;
        if step.changes {
            open.extract_if(|tool, _| *tool != step.tool)
                .for_each(|(_, run)| run.end(loops, facts));
        }
        let run = open.entry(step.tool).or_default();
        if run
            .calls
            .last()
            .is_some_and(|(_, last)| !last.is_same(step))
        {
            std::mem::take(run).end(loops, facts);
        }
        run.calls.push((id, step));
        run.last = self.steps;
        self.steps += 1;
    }

    fn end(&mut self, facts: &Facts<StepFact>) {
        self.is_active = false;
        self.open
            .drain()
            .for_each(|(_, run)| run.end(&mut self.loops, facts));
    }

    /// The longest run that nothing ended and whose last call is recent.
    pub(super) fn current(&self, facts: &Facts<StepFact>) -> Option<CallRun> {
        let least = self.steps.saturating_sub(RECENT);
        let open = self.open.values().filter(|run| run.last >= least);
        open.max_by_key(|run| (run.calls.len(), run.last))
            .map(|run| CallRun::of(&run.calls, facts))
    }

    /// Runs that are long enough for a loop, unsorted.
    pub(super) fn into_loops(mut self, facts: &Facts<StepFact>) -> Vec<CallRun> {
        self.end(facts);
        self.loops
    }
}

impl OpenRun<'_> {
    fn end(self, loops: &mut Vec<CallRun>, facts: &Facts<StepFact>) {
        if self.calls.len() as u64 >= LOOP {
            loops.push(CallRun::of(&self.calls, facts));
        }
    }
}
