//! Values that are derived from a session: each is a pure function of a few facts of every entry,
//! and is computed whole. [`Memo`] maintains the facts while entries are added and changed, and
//! recomputes the value on demand. Nothing is ever subtracted from a value, so a value need not
//! record what it was made of.
//!
//! Facts are extracted while an entry is in memory: later its bodies may be on disk, and the entry
//! itself may be packed. They are flat rows of a fixed size ([`Facts`]), so that all values of a
//! session of a gigabyte are computed in milliseconds.
//!
//! Invariant: once all entries are processed, a value equals one computed from scratch, whatever
//! the order in which entries arrived.

use std::ops::Deref;

use crate::model::entry::{Entry, EntryId};
use crate::model::transcript::{Touched, Transcript};

mod facts;
pub(crate) mod lanes;

pub use facts::{Facts, Out};

/// A value that is derived from a session.
pub trait Derived: Default + PartialEq {
    /// A fact of an entry, which may have any number of rows. Names and paths in them are numbers
    /// ([`Facts::name`]), texts that are only compared are hashes.
    type Row: Clone + PartialEq;
    /// Another value that the function reads; `()` for most.
    type Reads: Generation;
    /// Whether entries without rows do not affect the value: it depends neither on the session's
    /// metadata nor on its branches.
    const IS_OF_ROWS: bool = false;

    /// Extracts the rows of an entry. `before` are its earlier rows, which may have facts of bodies
    /// that are on disk by now.
    fn rows(
        transcript: &Transcript,
        entry: (EntryId, &Entry),
        before: &[Self::Row],
        out: &mut Out<'_, Self::Row>,
    );

    /// Computes the value from all facts. Of the transcript it may read only the order, lanes,
    /// turns and facts of the whole session: reading entries would unpack all of them.
    fn of(transcript: &Transcript, facts: &Facts<Self::Row>, reads: &Self::Reads) -> Self;
}

/// Change tracking for a value that another one reads.
pub trait Generation {
    /// Increases with every change.
    fn generation(&self) -> u64;

    /// Whether the value includes all entries.
    fn is_complete(&self) -> bool;
}

impl Generation for () {
    fn generation(&self) -> u64 {
        0
    }

    fn is_complete(&self) -> bool {
        true
    }
}

/// A derived value, with the facts that it is computed from.
#[derive(Clone, Debug)]
pub struct Memo<D: Derived> {
    /// Facts of entries, maintained even while the value is not needed.
    pub(crate) facts: Facts<D::Row>,
    value: D,
    /// Whether the value is up to date with the facts.
    is_current: bool,
    /// Number of entries in the facts when the value was computed.
    computed: usize,
    /// Generation of `reads` when the value was computed.
    reads_generation: u64,
    pub(crate) generation: u64,
}

impl<D: Derived> Default for Memo<D> {
    fn default() -> Self {
        Self {
            facts: Facts::default(),
            value: D::default(),
            is_current: false,
            computed: 0,
            reads_generation: 0,
            generation: 0,
        }
    }
}

impl<D: Derived> Deref for Memo<D> {
    type Target = D;

    fn deref(&self) -> &D {
        &self.value
    }
}

impl<D: Derived> Generation for Memo<D> {
    fn generation(&self) -> u64 {
        self.generation
    }

    fn is_complete(&self) -> bool {
        self.is_current
    }
}

impl<D: Derived<Reads = ()>> Memo<D> {
    /// Computes the value of a transcript.
    pub fn of(transcript: &Transcript) -> Self {
        let mut memo = Self::default();
        memo.follow(transcript, usize::MAX);
        memo
    }

    /// As [`Memo::follow_with`], for a value that reads no other one.
    pub fn follow(&mut self, transcript: &Transcript, most: usize) -> bool {
        self.follow_with(transcript, &(), most)
    }
}

impl<D: Derived> Memo<D> {
    /// Computes the value of a transcript, without the memo.
    pub fn compute(transcript: &Transcript, reads: &D::Reads) -> D {
        let mut memo = Self::default();
        memo.follow_with(transcript, reads, usize::MAX);
        memo.value
    }

    /// Extracts facts of new entries, within the work of `most` plain entries, and recomputes the
    /// value if anything changed. Returns whether all entries are processed, also by the value that
    /// this one reads. Until then the value is recomputed only when the number of entries has
    /// doubled, so that all computations together cost at most twice the last one, and an early
    /// value is available meanwhile.
    pub(crate) fn follow_with(
        &mut self,
        transcript: &Transcript,
        reads: &D::Reads,
        most: usize,
    ) -> bool {
        let is_all = self.watch(transcript, most) && reads.is_complete();
        self.is_current &= self.reads_generation == reads.generation();
        if !self.is_current && (is_all || self.facts.len() >= 2 * self.computed) {
            let value = D::of(transcript, &self.facts, reads);
            self.generation += u64::from(value != self.value);
            self.value = value;
            (self.is_current, self.computed, self.reads_generation) =
                (true, self.facts.len(), reads.generation());
        }
        is_all
    }

    /// Extracts facts of new entries without computing the value. Returns whether all are
    /// processed.
    pub(crate) fn watch(&mut self, transcript: &Transcript, most: usize) -> bool {
        let mut passing = transcript.cursor();
        for id in transcript.ids_from(self.facts.len(), most) {
            let entry = passing.get(id);
            let has_rows = self.facts.add(|before, out| {
                if let Some(entry) = entry {
                    D::rows(transcript, (id, entry), before, out);
                }
            });
            self.is_current &= D::IS_OF_ROWS && !has_rows;
        }
        self.facts.len() >= transcript.ids()
    }

    /// Invalidates what a change of the session touched; takes effect with [`Memo::follow_with`].
    pub fn invalidate(&mut self, transcript: &Transcript, touched: &Touched) {
        for id in touched.changed.iter().chain(&touched.moved) {
            self.change(transcript, *id);
        }
        let is_other = touched.reordered || touched.meta || !touched.moved.is_empty();
        self.is_current &= !is_other && (D::IS_OF_ROWS || touched.is_empty());
    }

    /// Extracts the facts of an entry again after it changed or its bodies were loaded; takes
    /// effect with [`Memo::follow_with`].
    pub(crate) fn change(&mut self, transcript: &Transcript, id: EntryId) {
        let is_other = self.facts.change(id, |before, out| {
            if let Some(entry) = transcript.get(id) {
                D::rows(transcript, (id, entry), before, out);
            }
        });
        self.is_current &= !is_other;
    }

    /// Continues the generations of the memo that this one replaces, whose value may differ.
    pub(crate) fn continue_from(&mut self, before: &Self) {
        self.generation += before.generation + 1;
    }
}

#[cfg(test)]
mod tests;
