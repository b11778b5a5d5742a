//! What an agent does that leads nowhere: the same call again and again, edits that are turned back.
//!
//! Invariant: an entry that comes costs its own calls. One that changes costs no more, unless it asks for
//! something else now; then what its lane did since the last prompt is gone over anew.

mod churn;
mod runs;
mod steps;

use std::collections::{HashMap, HashSet};

pub(crate) use churn::Undone;
pub(crate) use runs::{Results, Run};

use self::churn::Churn;
use self::runs::Lane;
use self::steps::LaneStep;
use super::calls::Place;
use super::expression::LOOP;
use super::index::Index;
use super::index::places::Places;
use crate::model::entry::{Entry, EntryId};
use crate::model::text::Name;
use crate::model::transcript::Transcript;

/// The loops of a session.
#[derive(Clone, Debug, Default)]
pub struct Loops {
    numbers: HashMap<Option<Name>, usize>,
    lanes: Vec<Lane>,
    /// The lane of each entry that has steps, and the first of them.
    places: Places,
    /// Sub-agents that did something since the last prompt.
    awake: HashSet<Name>,
    /// Of these, those whose newest call repeats the one before it.
    repeating: HashSet<Name>,
    churn: Churn,
    /// The entry that was taken in last.
    last: Option<EntryId>,
    /// Whether something was found, or is no longer true.
    has_news: bool,
}

impl Index for Loops {
    type Reads = ();

    fn add(&mut self, transcript: &Transcript, _place: usize, id: EntryId) {
        self.last = Some(id);
        let Some(entry) = transcript.get(id) else { return };
        self.has_news |= self.churn.note(id, entry);
        let steps = steps::steps_of(id, entry, &[]);
        if steps.is_empty() {
            return;
        }
        let has_prompt = entry.lane.is_none() && steps.iter().any(LaneStep::is_prompt);
        if has_prompt {
            // What sub-agents did for the turn before is over.
            self.repeating.clear();
            for name in std::mem::take(&mut self.awake) {
                let number = self.numbers.get(&Some(name)).copied();
                if let Some(lane) = number.and_then(|number| self.lanes.get_mut(number)) {
                    lane.rest(Place { entry: id, block: 0 });
                }
            }
        }
        self.append(id, entry.lane.as_ref(), steps);
    }

    fn change(&mut self, transcript: &Transcript, _place: usize, id: EntryId) -> bool {
        let Some(entry) = transcript.get(id) else { return true };
        self.has_news |= self.churn.note(id, entry);
        let Some((number, first)) = self.places.get(id) else {
            let steps = steps::steps_of(id, entry, &[]);
            // It had nothing to compare so far, and others may stand behind it.
            let is_last = self.last == Some(id);
            if is_last && !steps.is_empty() {
                self.append(id, entry.lane.as_ref(), steps);
                return true;
            }
            return steps.is_empty();
        };
        let is_its_lane = self.numbers.get(&entry.lane) == Some(&number);
        let Some(lane) = self.lanes.get_mut(number).filter(|_| is_its_lane) else {
            return false;
        };
        let steps = steps::steps_of(id, entry, &lane.steps_of(id, first));
        let Some(is_news) = lane.replace(id, first, steps) else { return false };
        self.has_news |= is_news;
        self.note_repeating(entry.lane.as_ref());
        true
    }

    fn has_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }
}
impl Loops {
    fn append(&mut self, id: EntryId, name: Option<&Name>, steps: Vec<LaneStep>) {
        let number = *self.numbers.entry(name.cloned()).or_insert(self.lanes.len());
        if number == self.lanes.len() {
            self.lanes.push(Lane::default());
        }
        if let Some(lane) = self.lanes.get_mut(number) {
            self.places.insert(id, number, lane.len());
            self.has_news |= lane.append(steps);
        }
        self.note_repeating(name);
    }

    fn lane(&self, name: Option<&Name>) -> Option<&Lane> {
        self.lanes.get(*self.numbers.get(&name.cloned())?)
    }

    fn note_repeating(&mut self, name: Option<&Name>) {
        let Some(name) = name else { return };
        let lane = self.lane(Some(name));
        if lane.and_then(Lane::current).is_some_and(|run| run.count() > 1) {
            self.repeating.insert(name.clone());
        } else {
            self.repeating.remove(name);
        }
        self.awake.insert(name.clone());
    }

    /// All runs of equal calls that are long enough for a loop, in the order in which they began.
    pub(crate) fn loops(&self) -> Vec<Run<'_>> {
        let mut loops: Vec<Run<'_>> = self.lanes.iter().flat_map(Lane::loops).collect();
        loops.sort_by_key(Run::first);
        loops
    }

    /// All edits that were turned back, in the order in which that happened.
    pub(crate) fn undone(&self) -> impl Iterator<Item = &Undone> {
        self.churn.found()
    }

    /// The longest run that a lane is in right now: its newest call asks for the same as those before it.
    /// Of sub-agents only those count that repeat themselves, so the thousands that do not cost nothing.
    pub(crate) fn current(&self, transcript: &Transcript) -> Option<Run<'_>> {
        let is_over = |name: &Name| {
            let lane = transcript.lane(name);
            let call = lane.and_then(|lane| lane.call.as_ref());
            let entries = call.map(|call| transcript.entries_with_call(call)).unwrap_or_default();
            let entries = entries.iter().filter_map(|id| transcript.get(*id));
            let mut calls = entries.flat_map(Entry::calls);
            calls.any(|own| Some(&own.key) == call && own.state.result().is_some())
        };
        let agents = self.repeating.iter().filter(|name| !is_over(name)).map(Some);
        let lanes = std::iter::once(None).chain(agents).filter_map(|name| self.lane(name));
        lanes.filter_map(Lane::current).max_by_key(Run::count)
    }

    /// Entries whose calls are at least the third of a loop, or turn an edit back.
    pub(crate) fn entries(&self) -> HashSet<EntryId> {
        let least = usize::try_from(LOOP).unwrap_or(usize::MAX);
        let of_loops = self.lanes.iter().flat_map(Lane::loops).flat_map(move |run| {
            run.places().skip(least.saturating_sub(1)).map(|place| place.entry).collect::<Vec<_>>()
        });
        of_loops.chain(self.churn.found().map(|undone| undone.by.entry)).collect()
    }
}

/// What a loop is, in a few words: `loop ×6 bash, same result`.
pub(crate) fn loop_words(run: &Run<'_>, times: &str) -> String {
    let results = match run.results() {
        Results::Same => ", same result",
        Results::Differ => ", results differ",
        Results::Unknown => "",
    };
    let like = if run.is_sure() { "" } else { ", as far as their beginnings tell" };
    format!("loop {times}{} {}{results}{like}", run.count(), run.tool())
}

/// Where an item is, for whoever sorts them.
fn rank(place: Place) -> (EntryId, usize) {
    (place.entry, place.block)
}

#[cfg(test)]
mod tests;
