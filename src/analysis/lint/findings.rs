//! All findings of a session, kept up to date while it grows.
//!
//! Invariant: however the session arrived in batches, the findings are those of the session judged
//! as a whole. The cost of an update depends on what was touched, not on the length of the session;
//! only a change of the order, of branches or of the session's end starts over. However entries
//! depend on each other, an update stops after the steps that it was given, and resumes from there.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use hashbrown::HashSet;

use super::dependents::{Dependency, Dependents};
use super::scene::{LintScene, LintState, Memory, counts};
use super::{Finding, GROUPS};
use crate::analysis::calls::awaited::Awaited;
use crate::model::edit::Severity;
use crate::model::entry::glance::{Boundary, CompactionKind};
use crate::model::entry::{BlockKind, EntryId};
use crate::model::record::Origin;
use crate::model::text::Name;
use crate::model::transcript::{Touched, Transcript};

/// Number of findings by severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    pub(crate) notes: usize,
}

impl Counts {
    /// Number of all findings.
    pub fn total(self) -> usize {
        self.errors + self.warnings + self.notes
    }

    fn of(&mut self, severity: Severity) -> &mut usize {
        match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
            Severity::Note => &mut self.notes,
        }
    }
}

impl std::ops::Add for Counts {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            errors: self.errors + other.errors,
            warnings: self.warnings + other.warnings,
            notes: self.notes + other.notes,
        }
    }
}

const ALL: Range<EntryId> = EntryId(0)..EntryId(u32::MAX);

/// The findings of a session.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    by_entry: BTreeMap<EntryId, Vec<Finding>>,
    pub counts: Counts,
    dependents: Dependents,
    frame: LintState,
    /// Records of compactions, by entry.
    compacts_at: HashMap<EntryId, Origin>,
    /// Abandoned entries, as of `branches_seen`.
    abandoned: HashSet<EntryId>,
    branches_seen: u32,
    /// Whether the transcript had links when the entries were judged.
    has_links: bool,
    answers_seen: u32,
    touched: BTreeSet<EntryId>,
    moved: BTreeSet<EntryId>,
    /// Entries to be judged again.
    queue: BTreeSet<EntryId>,
    /// Number of entries of the order that were added.
    read: usize,
    /// Number of entries of the order that were judged.
    judged: usize,
    /// Change counter of the transcript at the last update.
    changes_seen: u64,
    memory: Memory,
    pub(crate) generation: u64,
}

/// Steps for an entry of any size. Each block, each other entry that is read, and each link that is
/// followed is one more.
const AN_ENTRY: usize = 16;

impl Findings {
    /// Judges the session as it is now.
    pub fn of(transcript: &Transcript) -> Self {
        let mut findings = Self::default();
        findings.follow(transcript, usize::MAX);
        findings
    }

    /// Invalidates what a change of the session touched; [`Findings::follow`] judges it again.
    pub fn invalidate(&mut self, transcript: &Transcript, touched: &Touched) {
        if self.read > 0 {
            self.touched.extend(&touched.moved);
            self.moved.extend(&touched.moved);
        }
        if touched.reordered {
            self.restart();
        }
        for id in &touched.changed {
            self.change(transcript, *id);
        }
    }

    /// Marks an entry as changed; takes effect with [`Findings::follow`].
    pub(crate) fn change(&mut self, transcript: &Transcript, id: EntryId) {
        if self.read > 0
            && transcript
                .place_of(id)
                .is_some_and(|place| place < self.read)
        {
            self.touched.insert(id);
        }
    }

    /// Judges new and changed entries. Returns whether all are judged. The limit is that of the
    /// steps of `most` plain entries, since an entry may be judged again for many others.
    pub fn follow(&mut self, transcript: &Transcript, most: usize) -> bool {
        if self.read > 0 && self.needs_restart(transcript) {
            self.restart();
        }
        let new = transcript.portion(self.read, most);
        self.touched.extend(new);
        self.read += new.len();
        self.update_context(transcript);
        let end = self
            .memory
            .work
            .saturating_add(most.saturating_mul(2 * AN_ENTRY));
        while self.memory.work < end {
            if let Some(id) = self.queue.pop_first() {
                self.judge_again(transcript, id);
            } else if let Some(id) = transcript
                .order()
                .get(self.judged)
                .filter(|_| self.judged < self.read)
            {
                self.judge(transcript, *id, self.judged);
                self.judged += 1;
                self.queue_call_dependents(transcript, *id);
            } else {
                break;
            }
        }
        self.queue.is_empty() && self.judged >= transcript.order().len()
    }

    /// Continues the generations of the findings that these replace, which may belong to another
    /// transcript of the session.
    pub(crate) fn continue_from(&mut self, before: &Self) {
        self.generation += before.generation + 1;
    }

    fn needs_restart(&self, transcript: &Transcript) -> bool {
        // A moved entry changes what is between calls and results, except the last entry.
        let last = transcript.order().last();
        // Orphaned calls may be waiting again.
        let newest_turn = transcript.turns().last().map_or(0, |turn| turn.first);
        transcript.turns_need_full_update()
            || self.answers_seen != transcript.retracted_answers()
            || self.moved.iter().any(|id| Some(id) != last)
            || (self.frame.awaited.has_ended && !transcript.has_ended())
            || newest_turn < self.frame.awaited.turn.0
            || self.frame.model.as_ref() != first_model(transcript)
            || (self.judged > 0 && self.has_links != transcript.has_links())
    }

    fn restart(&mut self) {
        if self.read == 0 {
            return;
        }
        let (memory, generation) = (std::mem::take(&mut self.memory), self.generation + 1);
        *self = Self {
            memory,
            generation,
            ..Self::default()
        };
    }

    /// Updates what all judgements depend on, and queues the entries that are affected.
    fn update_context(&mut self, transcript: &Transcript) {
        self.answers_seen = transcript.retracted_answers();
        self.frame.model = first_model(transcript).cloned();
        self.has_links = transcript.has_links();
        self.moved.clear();
        if self.branches_seen != transcript.branches_changed() {
            self.branches_seen = transcript.branches_changed();
            self.queue_branches(&transcript.branches().abandoned);
        }
        let awaited = Awaited::of(transcript);
        if awaited != self.frame.awaited {
            self.queue.extend(self.dependents.on(Dependency::Turn, ALL));
        }
        self.frame.awaited = awaited;
        self.queue_dependents(transcript);
        self.changes_seen = transcript.changes();
    }

    /// Steps taken so far: a measure of cost that does not depend on the machine.
    pub fn work(&self) -> usize {
        self.memory.work
    }

    /// Touches entries that were abandoned or resumed, because it changes severities. Entries
    /// without findings and dependencies are not affected.
    fn queue_branches(&mut self, left: &HashSet<EntryId>) {
        for id in self.abandoned.symmetric_difference(left).copied() {
            let weighs = self.by_entry.contains_key(&id) || self.dependents.has(id);
            self.touched.extend(Some(id).filter(|_| weighs));
            self.touched
                .extend(self.dependents.on(Dependency::Entry(id), ALL));
        }
        self.abandoned.clone_from(left);
    }

    /// Queues the entries that depend on what was touched.
    fn queue_dependents(&mut self, transcript: &Transcript) {
        let touched = std::mem::take(&mut self.touched);
        if self.changes_seen != transcript.changes() {
            let records = self.dependents.records();
            let there = records.filter(|(record, _)| transcript.parent_of(*record).is_some());
            self.queue.extend(there.map(|(_, id)| id));
        }
        // Many entries depend on the next one in a lane: the set queries each dependency once.
        let mut happened = BTreeSet::new();
        for id in touched {
            let lane = transcript.lane_at(id).cloned();
            if transcript
                .boundary(id)
                .is_some_and(|boundary| boundary != Boundary::None)
            {
                happened.insert(Dependency::Answer(lane.clone()));
            }
            happened.extend([Dependency::Next(lane), Dependency::Entry(id)]);
            self.update_compaction(transcript, id);
            if self.is_judged(transcript, id) {
                self.queue.insert(id);
                self.queue_call_dependents(transcript, id);
            }
        }
        for what in happened {
            self.queue.extend(self.dependents.on(what, ALL));
        }
    }

    /// Queues entries that depend on the calls of this entry: the next entry with a call of the
    /// same id, and the results without calls that are nearest to it. All others depend on nearer
    /// calls.
    fn queue_call_dependents(&mut self, transcript: &Transcript, id: EntryId) {
        let Some(entry) = transcript.get(id) else {
            return;
        };
        for call in entry.calls() {
            let callers = transcript.entries_with_call(&call.key);
            let after = callers.partition_point(|other| *other <= id);
            let next = callers.get(after).copied();
            if next.is_some_and(|next| self.is_judged(transcript, next)) {
                self.queue.extend(next);
                let in_lane = transcript.several_with_call(&call.key, entry.lane.as_ref());
                let after = in_lane.partition_point(|other| *other <= id);
                let mut later = in_lane.get(after..).unwrap_or_default().iter().copied();
                self.queue
                    .extend(later.find(|other| counts(transcript, *other)));
            }
            let is_first = callers.first().is_none_or(|first| *first >= id);
            let from = if is_first { EntryId(0) } else { id };
            let to = next.unwrap_or(EntryId(u32::MAX)).max(from);
            let strays = self
                .dependents
                .on(Dependency::Call(call.key.clone()), from..to);
            self.queue.extend(strays);
        }
    }

    fn is_judged(&self, transcript: &Transcript, id: EntryId) -> bool {
        transcript
            .place_of(id)
            .is_some_and(|place| place < self.judged)
    }

    /// Judges a queued entry again, unless its first judgement is still to come.
    fn judge_again(&mut self, transcript: &Transcript, id: EntryId) {
        self.memory.work += 1;
        if let Some(place) = transcript.place_of(id).filter(|place| *place < self.judged) {
            self.judge(transcript, id, place);
        }
    }

    fn update_compaction(&mut self, transcript: &Transcript, id: EntryId) {
        let Some(glance) = transcript.glance(id) else {
            return;
        };
        if let Some(origin) = self.compacts_at.remove(&id) {
            self.frame.compactions.remove(&(origin, id));
        }
        if glance.compaction == CompactionKind::Whole
            && let Some(entry) = transcript.get(id)
        {
            self.frame.compactions.insert((entry.origin, id));
            self.compacts_at.insert(id, entry.origin);
        }
    }

    fn judge(&mut self, transcript: &Transcript, id: EntryId, place: usize) {
        let Some(entry) = transcript.get(id) else {
            return;
        };
        self.memory.work += AN_ENTRY + entry.blocks.len();
        // Results without calls, and notices of ended work, name calls of other entries.
        let strays = entry.blocks.iter().filter_map(|block| match &block.kind {
            BlockKind::Result(stray) => Some(&stray.call).filter(|call| !call.is_blank()),
            _ => None,
        });
        let notices = transcript.odd_notices(&entry.key).iter();
        let named = notices.filter_map(|about| about.call.as_ref());
        let calls = strays
            .chain(named)
            .map(|call| Dependency::Call(call.clone()));
        let mut scene = LintScene {
            transcript,
            entry,
            id,
            place,
            frame: &self.frame,
            findings: Vec::new(),
            depends_on: calls.collect(),
            memory: &mut self.memory,
        };
        // The original of a copy is judged instead.
        if !entry.marks.copy {
            for group in GROUPS {
                (group.judge)(&mut scene);
            }
        }
        let LintScene {
            findings,
            depends_on,
            ..
        } = scene;
        self.dependents.set(id, depends_on);
        self.store(id, findings);
    }

    fn store(&mut self, id: EntryId, findings: Vec<Finding>) {
        if self.of_entry(id) == findings {
            return;
        }
        self.generation += 1;
        for finding in self.by_entry.remove(&id).into_iter().flatten() {
            *self.counts.of(finding.severity) -= 1;
        }
        for finding in &findings {
            *self.counts.of(finding.severity) += 1;
        }
        if !findings.is_empty() {
            self.by_entry.insert(id, findings);
        }
    }

    /// Number of missing records that entries depend on.
    #[cfg(test)]
    pub(super) fn records_awaited(&self) -> usize {
        self.dependents.records().count()
    }

    pub(crate) fn of_entry(&self, id: EntryId) -> &[Finding] {
        self.by_entry.get(&id).map_or(&[], Vec::as_slice)
    }

    /// All findings, by entry in the order of the session.
    pub fn iter(&self) -> impl Iterator<Item = &Finding> {
        self.by_entry.values().flatten()
    }
}

/// The first model of the session.
fn first_model(transcript: &Transcript) -> Option<&Name> {
    let meta = transcript.meta();
    meta.models.first().or(meta.model.as_ref())
}
