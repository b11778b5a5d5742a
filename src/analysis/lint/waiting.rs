//! Entries whose judgement may be another one as soon as something comes, by what that is: what comes costs only those
//! who wait for it.
//!
//! Invariant: who waits is here; some that do not wait any more are judged once in vain.

use std::collections::{BTreeSet, HashMap};

use super::scene::Wait;
use crate::model::entry::EntryId;
use crate::model::entry::glance::Boundary;
use crate::model::fingerprint::Print;
use crate::model::text::Name;
use crate::model::transcript::Transcript;

/// Entries by what they wait for.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    /// For another turn, or the end of the session.
    turn: BTreeSet<EntryId>,
    /// For the next answer or compaction of a lane.
    answer: HashMap<Option<Name>, BTreeSet<EntryId>>,
    /// For the next entry of a lane.
    next: HashMap<Option<Name>, BTreeSet<EntryId>>,
    /// For a record that is missing.
    record: HashMap<Print, BTreeSet<EntryId>>,
}

impl Waiting {
    /// Who waits for another turn, or the end of the session.
    pub(super) fn for_turn(&self) -> &BTreeSet<EntryId> {
        &self.turn
    }

    /// Whether an entry is among them.
    pub(super) fn has(&self, id: EntryId) -> bool {
        self.turn.contains(&id)
    }

    /// Notes what an entry waits for; what it waited for before is over.
    pub(super) fn note(&mut self, id: EntryId, lane: Option<&Name>, waits_for: &BTreeSet<Wait>) {
        self.turn.remove(&id);
        for wait in waits_for {
            let waiting = match wait {
                Wait::Answer => self.answer.entry(lane.cloned()).or_default(),
                Wait::Next => self.next.entry(lane.cloned()).or_default(),
                Wait::NextIn(other) => self.next.entry(Some(other.clone())).or_default(),
                Wait::Record(record) => self.record.entry(*record).or_default(),
            };
            waiting.insert(id);
            if !matches!(wait, Wait::Record(_)) {
                self.turn.insert(id);
            }
        }
    }

    /// Who waits for what this entry is. It stays packed: of a session that is judged anew each one is asked for.
    pub(super) fn take_for(&mut self, transcript: &Transcript, id: EntryId) -> BTreeSet<EntryId> {
        let lane = transcript.lane_at(id).cloned();
        let mut found = self.next.remove(&lane).unwrap_or_default();
        if transcript
            .boundary(id)
            .is_some_and(|boundary| boundary != Boundary::None)
        {
            found.extend(self.answer.remove(&lane).unwrap_or_default());
        }
        found
    }

    /// Records that are waited for.
    #[cfg(test)]
    pub(super) fn records(&self) -> usize {
        self.record.len()
    }

    /// Who waits for a record that is there now.
    pub(super) fn take_recorded(&mut self, transcript: &Transcript) -> BTreeSet<EntryId> {
        let there = self
            .record
            .extract_if(|record, _| transcript.parent_of(*record).is_some());
        there.flat_map(|(_, waiting)| waiting).collect()
    }
}
