//! Values that are derived from a session: each is a pure function of a few facts of every entry, and is computed whole.
//! [`Memo`] keeps the facts while entries come and change, and computes the value again when somebody looks. Nothing is
//! ever taken back out of a value, so a value need not know what it was made of.
//!
//! Facts are read while an entry is at hand: later its bodies may be on disk, and the entry itself may be packed. They are
//! flat rows of a fixed size ([`Facts`]), so that all values of a session of a gigabyte are computed in milliseconds.
//!
//! Invariant: once all is read, a value is what a fresh one would be, whatever came in whatever order.

use std::ops::Deref;

use crate::model::entry::EntryId;
use crate::model::transcript::{Touched, Transcript};

mod facts;
pub(crate) mod lanes;

pub use facts::{Facts, Out};

/// A value that is derived from a session.
pub trait Derived: Default + PartialEq {
    /// What the function needs of an entry: so many rows of these. Names and paths in them are numbers
    /// ([`Facts::name`]), texts that are only compared are hashes.
    type Row: Clone + PartialEq;
    /// Another value that the function reads; `()` for most.
    type Reads: Generation;
    /// Whether an entry without rows makes no difference to the value: it depends neither on how the session stands
    /// nor on its branches.
    const IS_OF_ROWS: bool = false;

    /// The rows of an entry as it is now. `before` are those that were known: they have what bodies told that are on
    /// disk by now.
    fn rows(
        transcript: &Transcript,
        id: EntryId,
        before: &[Self::Row],
        out: &mut Out<'_, Self::Row>,
    );

    /// The value of all facts. To look at the entries themselves would unpack all of them: of the transcript only the
    /// order, lanes, turns and what is known of the session as a whole is for this function.
    fn of(transcript: &Transcript, facts: &Facts<Self::Row>, reads: &Self::Reads) -> Self;
}

/// Tells when a value that another one reads has become another one.
pub trait Generation {
    /// Rises with every change.
    fn generation(&self) -> u64;

    /// Whether it is the value of all that is there.
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
    /// What is known of the entries, also while nobody asks for the value.
    pub(crate) facts: Facts<D::Row>,
    value: D,
    /// Whether the value is that of the facts.
    is_current: bool,
    /// How many facts the value was computed from.
    computed: usize,
    /// The generation of what it reads that it was computed from.
    seen: u64,
    pub(crate) generation: u64,
}

impl<D: Derived> Default for Memo<D> {
    fn default() -> Self {
        Self {
            facts: Facts::default(),
            value: D::default(),
            is_current: false,
            computed: 0,
            seen: 0,
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
    /// The value of a transcript as it is.
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
    /// The value of a transcript as it is, for whoever asks for it once.
    pub fn once(transcript: &Transcript, reads: &D::Reads) -> D {
        let mut memo = Self::default();
        memo.follow_with(transcript, reads, usize::MAX);
        memo.value
    }

    /// Reads facts of entries that came, with no more work than so many entries are, and computes the value if anything
    /// changed. Says whether that was all, also by the value that this one reads. Before all is read it computes only when
    /// twice as many facts are known as the last time: all of it together costs no more than twice the last time, and
    /// nobody looks at nothing meanwhile.
    pub(crate) fn follow_with(
        &mut self,
        transcript: &Transcript,
        reads: &D::Reads,
        most: usize,
    ) -> bool {
        let is_all = self.watch(transcript, most) && reads.is_complete();
        self.is_current &= self.seen == reads.generation();
        if !self.is_current && (is_all || self.facts.len() >= 2 * self.computed) {
            let value = D::of(transcript, &self.facts, reads);
            self.generation += u64::from(value != self.value);
            self.value = value;
            (self.is_current, self.computed, self.seen) =
                (true, self.facts.len(), reads.generation());
        }
        is_all
    }

    /// Reads facts while entries come and nobody looks. Says whether that was all.
    pub(crate) fn watch(&mut self, transcript: &Transcript, most: usize) -> bool {
        for id in transcript.ids_from(self.facts.len(), most) {
            let has_rows = self
                .facts
                .add(|before, out| D::rows(transcript, id, before, out));
            self.is_current &= D::IS_OF_ROWS && !has_rows;
        }
        self.facts.len() >= transcript.ids()
    }

    /// The session has changed; takes effect with [`Memo::follow_with`].
    pub fn note(&mut self, transcript: &Transcript, touched: &Touched) {
        for id in touched.changed.iter().chain(&touched.moved) {
            self.change(transcript, *id);
        }
        let is_other = touched.reordered || touched.meta || !touched.moved.is_empty();
        self.is_current &= !is_other && (D::IS_OF_ROWS || touched.is_empty());
    }

    /// An entry has changed, or its bodies were read again; takes effect with [`Memo::follow_with`].
    pub(crate) fn change(&mut self, transcript: &Transcript, id: EntryId) {
        let is_other = self
            .facts
            .change(id, |before, out| D::rows(transcript, id, before, out));
        self.is_current &= !is_other;
    }

    /// Takes the place of another one, of whose value this one may differ.
    pub(crate) fn go_on_from(&mut self, before: &Self) {
        self.generation += before.generation + 1;
    }
}

#[cfg(test)]
mod tests;
