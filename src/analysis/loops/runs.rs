//! Runs of equal calls: the same tool is asked for the same, and nothing else that may change anything
//! happens in between.
//!
//! Invariant: a prompt ends all runs of its lane, so what lies before one never has to be looked at again.

use std::collections::HashMap;

use super::steps::{Asked, LaneStep, Steps, What};
use crate::analysis::calls::Place;
use crate::analysis::expression::LOOP;
use crate::model::entry::EntryId;
use crate::model::text::Name;

/// A run goes on if one of so many newest steps is its own.
const RECENT: usize = 8;

/// Steps with equal calls, by their places in the lane.
type Equal = Vec<usize>;

/// What is going on at a place of a lane: of each tool the run that its newest call belongs to.
#[derive(Clone, Debug, Default)]
struct Carry {
    open: HashMap<Name, Equal>,
}

/// A lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lane {
    steps: Steps,
    carry: Carry,
    /// As it was before the last entry.
    before_last: Carry,
    loops: Vec<Equal>,
}

/// Calls that ask for the same, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    lane: &'a Lane,
    steps: &'a [usize],
}

/// Whether equal calls had equal results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Results {
    /// All that came were the same.
    Same,
    /// Not all.
    Differ,
    /// Fewer than two have come.
    Unknown,
}

impl Lane {
    /// Number of its steps.
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Takes in the steps of an entry behind all others. Says whether a loop began, grew or ended.
    pub(crate) fn append(&mut self, steps: Vec<LaneStep>) -> bool {
        self.before_last = self.carry.clone();
        let from = self.steps.len();
        for step in steps {
            self.steps.push(step);
        }
        self.go_on(from)
    }

    /// Goes over all steps from here on.
    fn go_on(&mut self, from: usize) -> bool {
        let mut is_news = false;
        for at in from..self.steps.len() {
            is_news |= self.take(at);
        }
        is_news
    }

    fn take(&mut self, at: usize) -> bool {
        let Some(call) = self.asked(at) else {
            self.carry = Carry::default();
            return false;
        };
        if call.changes {
            self.carry.open.retain(|tool, _| *tool == call.tool);
        }
        let known = self.carry.open.get(&call.tool).and_then(|run| self.asked(*run.last()?));
        let is_same = known.is_some_and(|known| known.is_same(&call));
        let run = self.carry.open.entry(call.tool.clone()).or_default();
        if !is_same {
            run.clear();
        }
        run.push(at);
        if (run.len() as u64) < LOOP {
            return false;
        }
        match self.loops.iter_mut().rev().find(|known| known.first() == run.first()) {
            // A run grows by one call after the other, and to copy all of them each time would cost their square.
            Some(known) if known.len() + 1 == run.len() => known.push(at),
            Some(known) => known.clone_from(run),
            None => self.loops.push(run.clone()),
        }
        true
    }

    /// What an entry does, from its first step on, has changed. Nothing if that cannot be known without the
    /// whole lane.
    pub(crate) fn replace(&mut self, id: EntryId, first: usize, steps: Vec<LaneStep>) -> Option<bool> {
        let old = self.steps_of(id, first);
        let is_last = first + old.len() == self.steps.len();
        let is_alike = old.len() == steps.len()
            && old.iter().zip(&steps).all(|(old, new)| match (&old.what, &new.what) {
                (What::Call(old), What::Call(new)) => old.asks_the_same(new),
                (old, new) => old == new,
            });
        if is_alike {
            self.set(first, steps);
            // Its result may be another one than those of the others.
            return Some(self.loops.last().is_some_and(|run| run.last() >= Some(&first)));
        }
        if !is_last && old.len() != steps.len() {
            return None;
        }
        if is_last {
            self.steps.truncate(first);
            self.cut_loops(first);
            self.carry = self.before_last.clone();
            self.append(steps);
            return Some(true);
        }
        self.set(first, steps);
        let prompt = (0..=first).rev().find(|at| self.steps.is_prompt(*at)).unwrap_or(0);
        self.cut_loops(prompt);
        self.carry = Carry::default();
        self.go_on(prompt);
        Some(true)
    }

    fn set(&mut self, first: usize, steps: Vec<LaneStep>) {
        for (at, step) in (first..).zip(steps) {
            self.steps.set(at, step);
        }
    }

    /// Takes back what was found from this step on.
    fn cut_loops(&mut self, from: usize) {
        for run in &mut self.loops {
            run.retain(|at| *at < from);
        }
        self.loops.retain(|run| run.len() as u64 >= LOOP);
    }

    /// The steps of an entry, from its first one on.
    pub(crate) fn steps_of(&self, id: EntryId, first: usize) -> Vec<LaneStep> {
        let steps = (first..self.steps.len()).map_while(|at| self.steps.get(at));
        steps.take_while(|step| step.place.entry == id).collect()
    }

    fn asked(&self, at: usize) -> Option<Asked> {
        match self.steps.get(at)?.what {
            What::Call(asked) => Some(asked),
            What::Prompt => None,
        }
    }

    /// A prompt of the main lane came: what was going on here is over.
    pub(crate) fn rest(&mut self, prompt: Place) {
        if self.steps.len().checked_sub(1).is_some_and(|last| !self.steps.is_prompt(last)) {
            self.steps.push(LaneStep { place: prompt, what: What::Prompt });
            (self.carry, self.before_last) = (Carry::default(), Carry::default());
        }
    }

    /// The longest run that goes on: nothing has changed since, and its last call is not long ago.
    pub(crate) fn current(&self) -> Option<Run<'_>> {
        let least = self.steps.len().saturating_sub(RECENT);
        let open = self.carry.open.values().filter(|steps| steps.last().is_some_and(|last| *last >= least));
        open.max_by_key(|steps| (steps.len(), steps.last().copied())).map(|steps| Run { lane: self, steps })
    }

    /// Runs that are long enough for a loop.
    pub(crate) fn loops(&self) -> impl Iterator<Item = Run<'_>> {
        self.loops.iter().map(|steps| Run { lane: self, steps })
    }
}

impl<'a> Run<'a> {
    /// How many calls.
    pub(crate) fn count(&self) -> usize {
        self.steps.len()
    }

    /// The calls in their order.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place> + 'a {
        let lane = self.lane;
        self.steps.iter().filter_map(move |at| lane.steps.get(*at)).map(|step| step.place)
    }

    /// The first call, to sort by.
    pub(crate) fn first(&self) -> Option<(EntryId, usize)> {
        self.places().next().map(super::rank)
    }

    /// The newest call.
    pub(crate) fn last(&self) -> Option<Place> {
        self.places().last()
    }

    fn calls(&self) -> impl Iterator<Item = Asked> + 'a {
        let lane = self.lane;
        self.steps.iter().filter_map(move |at| lane.asked(*at))
    }

    /// The tool.
    pub(crate) fn tool(&self) -> Name {
        self.calls().next().map(|call| call.tool).unwrap_or_default()
    }

    /// Whether their results were the same.
    pub(crate) fn results(&self) -> Results {
        let mut outcomes = self.calls().filter_map(|call| call.outcome);
        let first = outcomes.next();
        let mut others = outcomes.peekable();
        match first {
            Some(first) if others.peek().is_some() => {
                if others.all(|outcome| outcome == first) {
                    Results::Same
                } else {
                    Results::Differ
                }
            }
            _ => Results::Unknown,
        }
    }

    /// Whether the whole of their arguments was compared, and not only their beginning and size.
    pub(crate) fn is_sure(&self) -> bool {
        self.calls().all(|call| call.print.is_some())
    }
}
