//! Work that goes on after the result of its call: what is told of it finds the call, whichever of the two comes first.
//!
//! Invariant: what a record tells belongs to one call, that of the id which it names, in its own lane before any other.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Touched, Transcript};
use crate::model::body::Key;
use crate::model::entry::{Block, BlockKind, Break, Entry, EntryId, Role};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolCall;
use crate::model::tool::work::{About, Carrier, Ends, Update, Work};

/// An id that was given to more works than these stands for the newest of them.
const GIVEN_AGAIN: usize = 64;

/// Calls by the ids of the work that they began, and what was told of work that no result has begun so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Works {
    by_handle: HashMap<Key, Vec<Begun>>,
    /// Calls whose results say again that work goes on which another call began.
    polls: HashSet<(EntryId, Key)>,
    early: HashMap<Key, Vec<Early>>,
    /// The calls of whose work entries and results tell, by their keys.
    reports: HashMap<Key, Vec<Begun>>,
    /// All calls that began work, with their entries.
    all: BTreeSet<(EntryId, Key)>,
    /// By the key of a record that tells the model of an end: of what, if that is not plainly the work of the call that it
    /// names.
    odd: HashMap<Key, Vec<About>>,
    /// The records among them by the ids of work that they name.
    odd_by_handle: HashMap<Key, Vec<Key>>,
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
        let of_call = about
            .call
            .as_ref()
            .and_then(|call| self.began(call, lane.as_ref()));
        self.note_odd(&about, &update, of_call.as_ref(), touched);
        let of_work = || self.newest_work(about.handle.as_ref()?, lane.as_ref(), update.carrier);
        if let Some(begun) = of_call.or_else(of_work) {
            return self.take_in(&begun, update, touched);
        }
        if let Some(id) = about.call.or(about.handle) {
            self.works
                .early
                .entry(id)
                .or_default()
                .push(Early { lane, update });
        }
    }

    /// Calls that began work which went on after their results, with their entries.
    pub(crate) fn works(&self) -> impl DoubleEndedIterator<Item = (EntryId, &ToolCall)> {
        let begun = |(entry, call): &(EntryId, Key)| Begun {
            lane: None,
            entry: *entry,
            call: call.clone(),
        };
        self.works
            .all
            .iter()
            .filter_map(move |all| Some((all.0, self.call_of(&begun(all))?)))
    }

    /// How many ends are told of work that no call began.
    pub(crate) fn ends_of_nothing(&self) -> usize {
        let early = self.works.early.values().flatten();
        early.filter(|early| early.update.end.is_some()).count()
    }

    /// Of what a record of this key tells that names a call, if that is not plainly the work of this call.
    pub(crate) fn odd_notices(&self, by: &Key) -> &[About] {
        self.works
            .odd
            .get(by)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// The calls that began work of this id, the newest of them, with their entries.
    pub(crate) fn beginners<'t>(
        &'t self,
        handle: &Key,
    ) -> impl Iterator<Item = (EntryId, &'t Key)> + use<'t> {
        let begun = self.works.by_handle.get(handle).into_iter().flatten();
        begun.map(|begun| (begun.entry, &begun.call))
    }

    fn note_odd(
        &mut self,
        about: &About,
        update: &Update,
        of_call: Option<&Begun>,
        touched: &mut Touched,
    ) {
        let is_notice = update.carrier == Carrier::Notice && update.end.is_some();
        let is_own = |begun: &Begun| {
            let handle = self.work_of(begun).map(|work| &work.handle);
            about.handle.is_none() || about.handle.as_ref() == handle
        };
        if about.call.is_none() || !is_notice || of_call.is_some_and(is_own) {
            return;
        }
        let odd = self.works.odd.entry(update.by.clone()).or_default();
        if odd.contains(about) {
            return;
        }
        odd.push(about.clone());
        if let Some(handle) = &about.handle {
            self.works
                .odd_by_handle
                .entry(handle.clone())
                .or_default()
                .push(update.by.clone());
        }
        touched.changed.extend(self.find(&update.by));
    }

    /// Notes the work that calls of an entry began, each with its id, and gives them what was told of it before.
    pub(super) fn note_work(&mut self, id: EntryId, begun: Vec<(Key, Key)>, touched: &mut Touched) {
        for (call, handle) in begun {
            let begun = Begun {
                lane: self.lane_at(id).cloned(),
                entry: id,
                call,
            };
            if self.is_poll(&begun, &handle, touched) {
                continue;
            }
            let known = self.works.by_handle.entry(handle.clone()).or_default();
            self.works.all.insert((id, begun.call.clone()));
            if !handle.is_empty() && !known.contains(&begun) {
                known.push(begun.clone());
                known.drain(..known.len().saturating_sub(GIVEN_AGAIN));
            }
            let work = self
                .work_of(&begun)
                .map(|work| work.updates.clone())
                .unwrap_or_default();
            for update in &work {
                self.note_report(&update.by, &begun);
            }
            self.beginners_changed(&handle, touched);
            let at = self
                .call_of(&begun)
                .and_then(|call| call.state.result()?.at);
            for key in [&begun.call, &handle] {
                let Some(early) = self.works.early.get_mut(key) else {
                    continue;
                };
                // A poll before the work began was about other work of this id.
                let is_older =
                    |early: &Early| early.update.carrier == Carrier::Poll && early.update.at < at;
                let is_own = |early: &Early| {
                    *key == begun.call || early.lane == begun.lane && !is_older(early)
                };
                let own: Vec<Early> = early.extract_if(.., |early| is_own(early)).collect();
                for early in own {
                    self.take_in(&begun, early.update, touched);
                }
            }
        }
    }

    /// Whether a result only says again that work goes on which a call before it began: then it is a poll. If that call
    /// comes after it, the other one is.
    fn is_poll(&mut self, begun: &Begun, handle: &Key, touched: &mut Touched) -> bool {
        if self
            .works
            .polls
            .contains(&(begun.entry, begun.call.clone()))
        {
            self.end_work(begun);
            return true;
        }
        let all = self
            .works
            .by_handle
            .get(handle)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let goes_on = |other: &&Begun| {
            let is_of_lane = *other != begun && other.lane == begun.lane;
            is_of_lane
                && self
                    .work_of(other)
                    .is_some_and(|work| work.completed().is_none())
        };
        let Some(other) = all.iter().find(goes_on).cloned() else {
            return false;
        };
        let is_poll = self.stands_before(&other, begun);
        let (first, poll) = if is_poll {
            (&other, begun)
        } else {
            (begun, &other)
        };
        if let Some(known) = self.works.by_handle.get_mut(handle) {
            known.retain(|known| known != poll);
        }
        self.beginners_changed(handle, touched);
        self.works.polls.insert((poll.entry, poll.call.clone()));
        if let Some((work, by, at)) = self.end_work(poll) {
            let asked = Update {
                by,
                at,
                carrier: Carrier::Poll,
                end: None,
                reason: None,
            };
            for update in std::iter::once(asked).chain(work.updates) {
                self.take_in(first, update, touched);
            }
            self.changed(poll, touched);
        }
        is_poll
    }

    /// What is said of notices about work of an id depends on who began it, and on no more than whether that is one call.
    fn beginners_changed(&self, handle: &Key, touched: &mut Touched) {
        if self.beginners(handle).nth(2).is_none() {
            let odd = self.works.odd_by_handle.get(handle).into_iter().flatten();
            touched.changed.extend(odd.filter_map(|by| self.find(by)));
        }
    }

    fn end_work(&mut self, begun: &Begun) -> Option<(Box<Work>, Key, Option<Timestamp>)> {
        self.call_of_mut(begun)?.state.end_work()
    }

    fn stands_before(&self, one: &Begun, other: &Begun) -> bool {
        if one.entry != other.entry {
            return one.entry < other.entry;
        }
        let mut calls = self.get(one.entry).into_iter().flat_map(Entry::calls);
        calls
            .find(|call| call.key == one.call || call.key == other.call)
            .is_some_and(|call| call.key == one.call)
    }

    /// The call of this id, if its result began work: the newest, of its own lane before any other.
    fn began(&self, call: &Key, lane: Option<&Name>) -> Option<Begun> {
        let entries = self.pairs.entries_with(call).iter().rev().take(GIVEN_AGAIN);
        let all = entries.map(|id| Begun {
            lane: self.lane_at(*id).cloned(),
            entry: *id,
            call: call.clone(),
        });
        let mut all: Vec<Begun> = all.filter(|begun| self.work_of(begun).is_some()).collect();
        let own = all
            .iter()
            .position(|begun| begun.lane.as_ref() == lane)
            .unwrap_or(0);
        (own < all.len()).then(|| all.swap_remove(own))
    }

    /// The newest call that began work of this id: of its own lane, of those the one whose work goes on, and of another
    /// lane only if no two have such work. What a poll gave is about work of its lane of which the model does not know
    /// yet that it ended.
    fn newest_work(&self, handle: &Key, lane: Option<&Name>, carrier: Carrier) -> Option<Begun> {
        let all = self.works.by_handle.get(handle)?;
        let own = || all.iter().rev().filter(|begun| begun.lane.as_ref() == lane);
        let is_waited_for = |begun: &&Begun| match self.work_of(begun) {
            Some(work) if carrier == Carrier::Poll => work.delivered().is_none(),
            work => work.is_some_and(|work| work.completed().is_none()),
        };
        let found = own().find(is_waited_for);
        // Where ends are always told, ids of work are not given again.
        let is_announced = |begun: &&Begun| {
            self.work_of(begun)
                .is_some_and(|work| work.ends == Ends::Announced)
        };
        if carrier == Carrier::Poll {
            return found.or_else(|| own().find(is_announced)).cloned();
        }
        let is_only = || {
            all.iter()
                .all(|begun| Some(&begun.lane) == all.first().map(|first| &first.lane))
        };
        found
            .or_else(|| own().next())
            .or_else(|| all.last().filter(|_| is_only()))
            .cloned()
    }

    fn call_of(&self, begun: &Begun) -> Option<&ToolCall> {
        let blocks = &self.get(begun.entry)?.blocks;
        let is_it = |call: &&ToolCall| call.key == begun.call && call.state.work().is_some();
        match self.large.of_call(begun.entry, &begun.call) {
            Some(places) => places
                .iter()
                .filter_map(|place| blocks.get(*place)?.call())
                .find(is_it),
            None => blocks.iter().filter_map(Block::call).find(is_it),
        }
    }

    fn call_of_mut(&mut self, begun: &Begun) -> Option<&mut ToolCall> {
        let entry = self.entries.get_mut(begun.entry.index())?;
        self.large.note(begun.entry, entry);
        let is_it = |block: &Block| {
            block
                .call()
                .is_some_and(|call| call.key == begun.call && call.state.work().is_some())
        };
        let place = match self.large.of_call(begun.entry, &begun.call) {
            Some(places) => places
                .iter()
                .copied()
                .find(|place| entry.blocks.get(*place).is_some_and(is_it)),
            None => entry.blocks.iter().position(is_it),
        };
        entry.blocks.get_mut(place?)?.call_mut()
    }

    fn work_of(&self, begun: &Begun) -> Option<&Work> {
        self.call_of(begun)?.state.work()
    }

    fn take_in(&mut self, begun: &Begun, update: Update, touched: &mut Touched) {
        let by = update.by.clone();
        let Some(call) = self.call_of_mut(begun) else {
            return;
        };
        let before = foremost(call.state.work());
        if !call.state.take_in(update) {
            return;
        }
        let now = foremost(call.state.work());
        self.changed(begun, touched);
        self.note_report(&by, begun);
        for key in before.into_iter().chain(now).chain([by]) {
            self.mark_report(&key, touched);
        }
    }

    fn note_report(&mut self, by: &Key, begun: &Begun) {
        let calls = self.works.reports.entry(by.clone()).or_default();
        if !calls.contains(begun) {
            calls.push(begun.clone());
        }
    }

    /// The calls of whose work a record tells that has this key.
    pub(crate) fn reported_by<'t>(
        &'t self,
        key: &Key,
    ) -> impl Iterator<Item = (EntryId, &'t ToolCall)> + use<'t> {
        let calls = self.works.reports.get(key).into_iter().flatten();
        calls.filter_map(|begun| Some((begun.entry, self.call_of(begun)?)))
    }

    /// Marks an entry by what it tells of the ends of work, if it tells nothing else.
    fn mark_report(&mut self, key: &Key, touched: &mut Touched) {
        let Some(id) = self.find(key) else { return };
        let (reports, again) = self.report_marks(key);
        let Some(entry) = self.entries.get_mut(id.index()) else {
            return;
        };
        let before = entry.marks;
        entry.set_report((reports, again));
        if before != entry.marks {
            entry.revision += 1;
            touched.reordered |= before.is_hidden() != entry.marks.is_hidden();
            touched.changed.push(id);
        }
    }

    /// The same for an entry that is new.
    pub(super) fn see_report(&self, entry: &mut Entry) {
        if self.works.reports.contains_key(&entry.key) {
            entry.set_report(self.report_marks(&entry.key));
        }
    }

    /// Whether what tells of ends of work is the first to tell one, and whether it tells one again.
    fn report_marks(&self, key: &Key) -> (bool, bool) {
        let (mut reports, mut again) = (false, false);
        for (_, call) in self.reported_by(key) {
            for ending in call.state.work().into_iter().flat_map(Work::endings) {
                let is_report = ending.by(key).is_some();
                let is_first = ending.foremost().is_some_and(|update| update.by == *key);
                reports |= is_report && is_first;
                again |= is_report && !is_first;
            }
        }
        (reports, again && !reports)
    }

    fn changed(&mut self, begun: &Begun, touched: &mut Touched) {
        if let Some(entry) = self.entries.get_mut(begun.entry.index()) {
            entry.revision += 1;
            touched.changed.push(begun.entry);
        }
    }
}

/// The key of what stands for all that tells the last end of work.
fn foremost(work: Option<&Work>) -> Option<Key> {
    Some(work?.endings().pop()?.foremost()?.by.clone())
}

impl Entry {
    /// Takes in whether it is the first to tell how work ended, or tells it again. What somebody said, or asked of
    /// tools, and an error stand for themselves.
    fn set_report(&mut self, (reports, again): (bool, bool)) {
        let is_error = |block: &Block| matches!(block.kind, BlockKind::Break(Break::Error(_)));
        let speaks = self.marks.prompt || self.blocks.iter().any(is_error);
        if matches!(self.role, Role::System | Role::Harness) && !speaks {
            (self.marks.reports, self.marks.again) = (reports, again);
        }
    }
}

/// The calls of these blocks that began work, each with the id of the work.
pub(super) fn begun(blocks: &[Block]) -> Vec<(Key, Key)> {
    let calls = blocks.iter().filter_map(Block::call);
    calls
        .filter_map(|call| Some((call.key.clone(), call.state.work()?.handle.clone())))
        .collect()
}
