//! Work that goes on after the result of its call: what is told of it finds the call, whichever of the two comes first.
//!
//! Invariant: what a record tells belongs to one call, that of the id which it names, in its own lane before any other.

use std::collections::HashMap;

use super::{Touched, Transcript};
use crate::model::body::Key;
use crate::model::entry::{Block, EntryId};
use crate::model::text::Name;
use crate::model::tool::work::{About, Carrier, Update, Work};

/// Calls by the ids of the work that they began, and what was told of work that no result has begun so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Works {
    by_handle: HashMap<Key, Vec<Begun>>,
    early: HashMap<Key, Vec<Early>>,
}

/// A call that began work.
#[derive(Clone, Debug, PartialEq)]
struct Begun {
    lane: Option<Name>,
    entry: EntryId,
    call: Key,
}

/// What was told before the result came that it belongs to.
#[derive(Clone, Debug)]
struct Early {
    lane: Option<Name>,
    update: Update,
}

impl Transcript {
    /// Takes in what a record tells of work.
    pub(super) fn apply_update(
        &mut self,
        about: About,
        update: Update,
        lane: Option<Name>,
        touched: &mut Touched,
    ) {
        let of_call = about.call.as_ref().and_then(|call| self.began(call, lane.as_ref()));
        let is_poll = update.carrier == Carrier::Poll;
        let of_work = || self.newest_work(about.handle.as_ref()?, lane.as_ref(), is_poll);
        match of_call.or_else(of_work) {
            Some(begun) => self.take_in(&begun, update, touched),
            None => {
                for id in [about.call, about.handle].into_iter().flatten().take(1) {
                    let early = Early { lane: lane.clone(), update: update.clone() };
                    self.works.early.entry(id).or_default().push(early);
                }
            }
        }
    }

    /// Notes the work that calls of an entry began, and gives them what was told of it before.
    pub(super) fn note_work(&mut self, id: EntryId, begun: Vec<(Key, Key)>, touched: &mut Touched) {
        for (call, handle) in begun {
            let lane = self.lane_at(id).cloned();
            let begun = Begun { lane, entry: id, call };
            if self.is_poll(&begun, &handle, touched) {
                continue;
            }
            let known = self.works.by_handle.entry(handle.clone()).or_default();
            if !handle.is_empty() && !known.contains(&begun) {
                known.push(begun.clone());
            }
            let result = self.get(id).and_then(|entry| entry.calls().find(|call| call.key == begun.call));
            let at = result.and_then(|call| call.state.result()?.at);
            for key in [&begun.call, &handle] {
                let Some(early) = self.works.early.get_mut(key) else { continue };
                // A poll before the work began was about other work of this id.
                let is_older = |early: &Early| early.update.carrier == Carrier::Poll && early.update.at < at;
                let is_own =
                    |early: &Early| *key == begun.call || early.lane == begun.lane && !is_older(early);
                let own: Vec<Early> = early.extract_if(.., |early| is_own(early)).collect();
                for early in own {
                    self.take_in(&begun, early.update, touched);
                }
            }
        }
    }

    /// Whether a result only says again that work goes on which another call began: then it is a poll.
    fn is_poll(&mut self, begun: &Begun, handle: &Key, touched: &mut Touched) -> bool {
        let first = self.newest_work(handle, begun.lane.as_ref(), true).filter(|first| {
            let goes_on = self.work_of(first).is_some_and(|work| work.completed().is_none());
            goes_on && (first.entry, &first.call) < (begun.entry, &begun.call) && first.call != begun.call
        });
        let Some(first) = first.filter(|_| !handle.is_empty()) else { return false };
        let Some(entry) = self.entries.get_mut(begun.entry.index()) else { return false };
        let call = entry.calls_mut().find(|call| call.key == begun.call && call.state.work().is_some());
        let Some(result) = call.and_then(|call| call.state.end_work()) else { return false };
        let update = Update { by: result.0, at: result.1, carrier: Carrier::Poll, end: None };
        self.take_in(&first, update, touched);
        true
    }

    /// The call of this id, if its result began work.
    fn began(&self, call: &Key, lane: Option<&Name>) -> Option<Begun> {
        let entries = self.pairs.entries_with(call).iter().rev().filter_map(|id| Some((*id, self.get(*id)?)));
        let began = entries
            .filter(|(_, entry)| entry.calls().any(|one| one.key == *call && one.state.work().is_some()));
        let mut began: Vec<Begun> = began
            .map(|(id, entry)| Begun { lane: entry.lane.clone(), entry: id, call: call.clone() })
            .collect();
        let own = began.iter().position(|begun| begun.lane.as_ref() == lane).unwrap_or(0);
        (own < began.len()).then(|| began.swap_remove(own))
    }

    /// The newest call that began work of this id: of its own lane, of those the one whose work goes on. Of another lane
    /// only if no two have such work.
    /// What a poll gave is about work of which the model does not know yet that it ended.
    fn newest_work(&self, handle: &Key, lane: Option<&Name>, is_poll: bool) -> Option<Begun> {
        let all = self.works.by_handle.get(handle)?;
        if is_poll {
            let waits = |begun: &&Begun| self.work_of(begun).is_some_and(|work| work.delivered().is_none());
            return all.iter().rev().filter(|begun| begun.lane.as_ref() == lane).find(waits).cloned();
        }
        let own: Vec<&Begun> = all.iter().filter(|begun| begun.lane.as_ref() == lane).collect();
        let goes_on = |begun: &&&Begun| self.work_of(begun).is_some_and(|work| work.completed().is_none());
        let among = || own.iter().rev();
        let found = among().find(goes_on).or_else(|| among().next()).copied();
        let is_only = || all.iter().all(|begun| Some(&begun.lane) == all.first().map(|first| &first.lane));
        found.or_else(|| all.last().filter(|_| is_only())).cloned()
    }

    fn work_of(&self, begun: &Begun) -> Option<&Work> {
        let mut calls = self.get(begun.entry)?.calls().filter(|call| call.key == begun.call);
        calls.find_map(|call| call.state.work())
    }

    fn take_in(&mut self, begun: &Begun, update: Update, touched: &mut Touched) {
        let Some(entry) = self.entries.get_mut(begun.entry.index()) else { return };
        let call = entry.calls_mut().find(|call| call.key == begun.call && call.state.work().is_some());
        if call.is_some_and(|call| call.state.take_in(update)) {
            entry.revision += 1;
            touched.changed.push(begun.entry);
        }
    }
}

/// The calls of these blocks that began work, each with the id of the work.
pub(super) fn begun(blocks: &[Block]) -> Vec<(Key, Key)> {
    let calls = blocks.iter().filter_map(Block::call);
    calls.filter_map(|call| Some((call.key.clone(), call.state.work()?.handle.clone()))).collect()
}
