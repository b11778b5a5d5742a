//! Joins reports on background work with the calls that began it, whichever of the two comes first.
//!
//! Invariant: a report belongs to one call, that of the id which it names, in its own lane before
//! any other.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Touched, Transcript};
use crate::model::body::Key;
use crate::model::entry::{Block, BlockKind, Break, Entry, EntryId, Role};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolCall;
use crate::model::tool::work::{Carrier, EndRecording, Update, Work, WorkReference};

/// Limit of calls remembered for one work id; the latest are retained.
const GIVEN_AGAIN: usize = 64;

/// Calls by the ids of the work that they began, and reports on work that no result has begun yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Works {
    by_handle: HashMap<Key, Vec<Begun>>,
    /// Calls whose results only repeat that work of an earlier call continues.
    polls: HashSet<(EntryId, Key)>,
    early: HashMap<Key, Vec<Early>>,
    /// Calls whose work an entry or result reports on, by the key of that record.
    reports: HashMap<Key, Vec<Begun>>,
    /// All calls that began work, with their entries.
    all: BTreeSet<(EntryId, Key)>,
    /// Notices of an end that do not clearly concern the work of the call which they name: what
    /// they name, by the key of the record.
    unclear_notices: HashMap<Key, Vec<WorkReference>>,
    /// Keys of those records, by the work ids that they name.
    odd_by_handle: HashMap<Key, Vec<Key>>,
}

/// A call that began work.
#[derive(Clone, Debug, PartialEq)]
struct Begun {
    lane: Option<Name>,
    entry: EntryId,
    call: Key,
}

/// A report that came before the result which began the work.
#[derive(Clone, Debug)]
struct Early {
    lane: Option<Name>,
    update: Update,
}

impl Transcript {
    /// Applies a report on work.
    pub(super) fn apply_update(
        &mut self,
        about: WorkReference,
        update: Update,
        lane: Option<Name>,
        touched: &mut Touched,
    ) {
        let of_call = about
            .call
            .as_ref()
            .and_then(|call| self.began(call, lane.as_ref()));
        self.record_odd(&about, &update, of_call.as_ref(), touched);
        let of_work = || self.newest_work(about.handle.as_ref()?, lane.as_ref(), update.carrier);
        if let Some(begun) = of_call.or_else(of_work) {
            return self.apply_work_update(&begun, update, touched);
        }
        if let Some(id) = about.call.or(about.handle) {
            self.background_work
                .early
                .entry(id)
                .or_default()
                .push(Early { lane, update });
        }
    }

    /// Calls whose work continued after their results, with their entries.
    pub(crate) fn calls_with_work(&self) -> impl DoubleEndedIterator<Item = (EntryId, &ToolCall)> {
        let begun = |(entry, call): &(EntryId, Key)| Begun {
            lane: None,
            entry: *entry,
            call: call.clone(),
        };
        self.background_work
            .all
            .iter()
            .filter_map(move |all| Some((all.0, self.call_of(&begun(all))?)))
    }

    /// Number of reported ends of work that no call began.
    pub(crate) fn orphaned_ends(&self) -> usize {
        let early = self.background_work.early.values().flatten();
        early.filter(|early| early.update.end.is_some()).count()
    }

    /// What a notice names, if it names a call but does not clearly concern the work of that call.
    pub(crate) fn odd_notices(&self, by: &Key) -> &[WorkReference] {
        self.background_work
            .unclear_notices
            .get(by)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// The latest calls that began work of this id, with their entries.
    pub(crate) fn calls_beginning<'t>(
        &'t self,
        handle: &Key,
    ) -> impl Iterator<Item = (EntryId, &'t Key)> + use<'t> {
        let begun = self
            .background_work
            .by_handle
            .get(handle)
            .into_iter()
            .flatten();
        begun.map(|begun| (begun.entry, &begun.call))
    }

    fn record_odd(
        &mut self,
        about: &WorkReference,
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
        let odd = self
            .background_work
            .unclear_notices
            .entry(update.by.clone())
            .or_default();
        if odd.contains(about) {
            return;
        }
        odd.push(about.clone());
        if let Some(handle) = &about.handle {
            self.background_work
                .odd_by_handle
                .entry(handle.clone())
                .or_default()
                .push(update.by.clone());
        }
        touched.changed.extend(self.find(&update.by));
    }

    /// Indexes the work that calls of an entry began, given as pairs of call and work id, and
    /// applies the reports that came before.
    pub(super) fn index_work(
        &mut self,
        id: EntryId,
        begun: Vec<(Key, Key)>,
        touched: &mut Touched,
    ) {
        for (call, handle) in begun {
            let begun = Begun {
                lane: self.lane_at(id).cloned(),
                entry: id,
                call,
            };
            if self.is_poll(&begun, &handle, touched) {
                continue;
            }
            let known = self
                .background_work
                .by_handle
                .entry(handle.clone())
                .or_default();
            self.background_work.all.insert((id, begun.call.clone()));
            if !handle.is_empty() && !known.contains(&begun) {
                known.push(begun.clone());
                known.drain(..known.len().saturating_sub(GIVEN_AGAIN));
            }
            // Where ends are always announced, work ids are not reused.
            let work = self.work_of(&begun);
            let is_unique = work.is_some_and(|work| work.ends == EndRecording::Announced);
            let updates = work.map(|work| work.updates.clone()).unwrap_or_default();
            for update in &updates {
                self.record_report(&update.by, &begun);
            }
            self.beginners_changed(&handle, touched);
            let at = self
                .call_of(&begun)
                .and_then(|call| call.state.result()?.at);
            for key in [&begun.call, &handle] {
                let Some(early) = self.background_work.early.get_mut(key) else {
                    continue;
                };
                // A poll before the work began concerned other work with the same id.
                let is_older =
                    |early: &Early| early.update.carrier == Carrier::Poll && early.update.at < at;
                // The child of a call reports from a lane of its own.
                let is_own = |early: &Early| {
                    let is_of_lane = early.lane == begun.lane && !is_older(early);
                    let is_elsewhere = is_unique && early.update.carrier != Carrier::Poll;
                    *key == begun.call || is_of_lane || is_elsewhere
                };
                let own: Vec<Early> = early.extract_if(.., |early| is_own(early)).collect();
                for early in own {
                    self.apply_work_update(&begun, early.update, touched);
                }
            }
        }
    }

    /// Whether a result only repeats that work of an earlier call continues: then it is a poll. If
    /// that call turns out to come later in the order, it is the poll instead.
    fn is_poll(&mut self, begun: &Begun, handle: &Key, touched: &mut Touched) -> bool {
        if self
            .background_work
            .polls
            .contains(&(begun.entry, begun.call.clone()))
        {
            self.end_work(begun);
            return true;
        }
        let all = self
            .background_work
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
        let is_poll = self.is_before(&other, begun);
        let (first, poll) = if is_poll {
            (&other, begun)
        } else {
            (begun, &other)
        };
        if let Some(known) = self.background_work.by_handle.get_mut(handle) {
            known.retain(|known| known != poll);
        }
        self.beginners_changed(handle, touched);
        self.background_work
            .polls
            .insert((poll.entry, poll.call.clone()));
        if let Some((work, by, at)) = self.end_work(poll) {
            let asked = Update {
                by,
                at,
                carrier: Carrier::Poll,
                end: None,
                reason: None,
            };
            for update in std::iter::once(asked).chain(work.updates) {
                self.apply_work_update(first, update, touched);
            }
            self.changed(poll, touched);
        }
        is_poll
    }

    /// Marks the notices about work of an id as changed. They depend only on whether exactly one
    /// call began it, so further calls make no difference.
    fn beginners_changed(&self, handle: &Key, touched: &mut Touched) {
        if self.calls_beginning(handle).nth(2).is_none() {
            let odd = self
                .background_work
                .odd_by_handle
                .get(handle)
                .into_iter()
                .flatten();
            touched.changed.extend(odd.filter_map(|by| self.find(by)));
        }
    }

    fn end_work(&mut self, begun: &Begun) -> Option<(Box<Work>, Key, Option<Timestamp>)> {
        self.call_of_mut(begun)?.state.end_work()
    }

    fn is_before(&self, one: &Begun, other: &Begun) -> bool {
        if one.entry != other.entry {
            return one.entry < other.entry;
        }
        let mut calls = self.get(one.entry).into_iter().flat_map(Entry::calls);
        calls
            .find(|call| call.key == one.call || call.key == other.call)
            .is_some_and(|call| call.key == one.call)
    }

    /// The latest call of this id whose result began work, in its own lane before any other.
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

    /// The latest call that began work of this id: in its own lane one whose work continues is
    /// preferred, and another lane is used only if it is the only one with such work. A poll
    /// concerns work of its own lane whose end the model does not know yet.
    fn newest_work(&self, handle: &Key, lane: Option<&Name>, carrier: Carrier) -> Option<Begun> {
        let all = self.background_work.by_handle.get(handle)?;
        let own = || all.iter().rev().filter(|begun| begun.lane.as_ref() == lane);
        let is_waited_for = |begun: &&Begun| match self.work_of(begun) {
            Some(work) if carrier == Carrier::Poll => work.delivered().is_none(),
            work => work.is_some_and(|work| work.completed().is_none()),
        };
        let found = own().find(is_waited_for);
        // Where ends are always announced, work ids are not reused.
        let is_announced = |begun: &&Begun| {
            self.work_of(begun)
                .is_some_and(|work| work.ends == EndRecording::Announced)
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
        self.large.index(begun.entry, entry);
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

    fn apply_work_update(&mut self, begun: &Begun, update: Update, touched: &mut Touched) {
        let by = update.by.clone();
        let Some(call) = self.call_of_mut(begun) else {
            return;
        };
        let before = representative_of(call.state.work());
        if !call.state.apply_update(update) {
            return;
        }
        let now = representative_of(call.state.work());
        self.changed(begun, touched);
        self.record_report(&by, begun);
        for key in before.into_iter().chain(now).chain([by]) {
            self.mark_report(&key, touched);
        }
    }

    fn record_report(&mut self, by: &Key, begun: &Begun) {
        let calls = self.background_work.reports.entry(by.clone()).or_default();
        if !calls.contains(begun) {
            calls.push(begun.clone());
        }
    }

    /// Calls whose work the record with this key reports on.
    pub(crate) fn reported_by<'t>(
        &'t self,
        key: &Key,
    ) -> impl Iterator<Item = (EntryId, &'t ToolCall)> + use<'t> {
        let calls = self.background_work.reports.get(key).into_iter().flatten();
        calls.filter_map(|begun| Some((begun.entry, self.call_of(begun)?)))
    }

    /// Sets the report marks of an entry.
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

    /// Like [`Self::mark_report`], for a new entry.
    pub(super) fn set_report_marks(&self, entry: &mut Entry) {
        if self.background_work.reports.contains_key(&entry.key) {
            entry.set_report(self.report_marks(&entry.key));
        }
    }

    /// Whether a record is the first to report an end of work, and whether it only repeats one.
    fn report_marks(&self, key: &Key) -> (bool, bool) {
        let (mut reports, mut again) = (false, false);
        for (_, call) in self.reported_by(key) {
            for ending in call.state.work().into_iter().flat_map(Work::endings) {
                let is_report = ending.of_record(key).is_some();
                let is_first = ending
                    .representative()
                    .is_some_and(|update| update.by == *key);
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

/// Key of the update that represents the last end of work.
fn representative_of(work: Option<&Work>) -> Option<Key> {
    Some(work?.endings().pop()?.representative()?.by.clone())
}

impl Entry {
    /// Sets the report marks, unless the entry is a prompt, a message or an error, which are shown
    /// anyway.
    fn set_report(&mut self, (reports, again): (bool, bool)) {
        let is_error = |block: &Block| matches!(block.kind, BlockKind::Break(Break::Error(_)));
        let speaks = self.marks.prompt || self.blocks.iter().any(is_error);
        if matches!(self.role, Role::System | Role::Harness) && !speaks {
            (self.marks.reports, self.marks.again) = (reports, again);
        }
    }
}

/// Pairs of call and work id for the calls of these blocks that began work.
pub(super) fn begun(blocks: &[Block]) -> Vec<(Key, Key)> {
    let calls = blocks.iter().filter_map(Block::call);
    calls
        .filter_map(|call| Some((call.key.clone(), call.state.work()?.handle.clone())))
        .collect()
}
