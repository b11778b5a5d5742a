//! What all indexes of a session have in common: they go over its entries in their order, portion by portion, and hear
//! of those that change. An [`Index`] says what it keeps of an entry; [`Live`] does the rest: it knows how far the
//! session was read, stops when the work that it was given is done, and begins again when what was read has moved.
//!
//! Invariant: once all is taken in, an index knows what a fresh one would, whatever came in whatever order.

use std::ops::{Deref, DerefMut};

use super::derived::Generation;
use crate::model::entry::EntryId;
use crate::model::transcript::{Touched, Transcript};

pub mod lanes;
pub mod places;

/// What is kept of the entries of a session. An entry that comes or changes must cost no more than its own content,
/// however long the session is.
pub trait Index: Default {
    /// Takes in the entry at this place of the order.
    fn add(&mut self, transcript: &Transcript, place: usize, id: EntryId);

    /// An entry that was taken in has changed. Answers whether the rest still holds: if not, all begins again.
    fn change(&mut self, transcript: &Transcript, place: usize, id: EntryId) -> bool;

    /// What else a batch touched.
    fn note(&mut self, _touched: &Touched) {}

    /// Whether all must begin again, for something else than an entry.
    fn begins_again(&self, _transcript: &Transcript) -> bool {
        false
    }

    /// Forgets what was taken in.
    fn begin_again(&mut self) {
        *self = Self::default();
    }

    /// Brings up to date what depends on several entries, with no more work than so many entries are. Says whether
    /// that was all.
    fn settle(&mut self, _transcript: &Transcript, _most: usize) -> bool {
        true
    }

    /// Whether an answer may be another one since this was asked last.
    fn has_news(&mut self) -> bool {
        true
    }
}

/// An index that is kept up with its transcript.
#[derive(Clone, Debug, Default)]
pub struct Live<I> {
    index: I,
    /// Entries of the order that are taken in.
    read: usize,
    is_complete: bool,
    generation: u64,
}

impl<I> Deref for Live<I> {
    type Target = I;

    fn deref(&self) -> &I {
        &self.index
    }
}

impl<I> DerefMut for Live<I> {
    fn deref_mut(&mut self) -> &mut I {
        &mut self.index
    }
}

impl<I> Generation for Live<I> {
    fn generation(&self) -> u64 {
        self.generation
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }
}

impl<I: Index> Live<I> {
    /// All of a transcript.
    pub(crate) fn of(transcript: &Transcript) -> Self {
        let mut live = Self::default();
        live.follow(transcript, usize::MAX);
        live
    }

    /// Takes in what was changed since the last time, and what was appended, with no more work than so many entries
    /// are. Says whether that was all.
    pub fn follow(&mut self, transcript: &Transcript, most: usize) -> bool {
        let is_read = self.read(transcript, most);
        let is_settled = self.index.settle(transcript, most);
        self.generation += u64::from(self.index.has_news());
        self.is_complete = is_read && is_settled;
        self.is_complete
    }

    /// As [`Live::follow`]: an index reads no other value.
    pub(crate) fn follow_with(&mut self, transcript: &Transcript, _reads: &(), most: usize) -> bool {
        self.follow(transcript, most)
    }

    /// As [`Live::follow`], while entries come and nobody looks.
    pub(crate) fn watch(&mut self, transcript: &Transcript, _reads: &(), most: usize) -> bool {
        self.follow(transcript, most)
    }

    fn read(&mut self, transcript: &Transcript, most: usize) -> bool {
        if self.read > 0 && self.index.begins_again(transcript) {
            self.begin_again();
        }
        for id in transcript.portion(self.read, most) {
            self.index.add(transcript, self.read, *id);
            self.read += 1;
        }
        self.read >= transcript.order().len()
    }

    /// The session has changed; takes effect with [`Live::follow`].
    pub fn note(&mut self, transcript: &Transcript, touched: &Touched) {
        self.index.note(touched);
        if touched.reordered {
            self.begin_again();
        }
        for id in &touched.changed {
            self.change(transcript, *id);
        }
    }

    /// An entry has changed; takes effect with [`Live::follow`].
    pub(crate) fn change(&mut self, transcript: &Transcript, id: EntryId) {
        if let Some(place) = self.place_of(transcript, id)
            && !self.index.change(transcript, place, id)
        {
            self.begin_again();
        }
    }

    /// Bodies of these entries were read again, of which an index knows nothing.
    pub(crate) fn learn(&mut self, _transcript: &Transcript, _ids: &[EntryId]) {}

    /// The place of an entry that was taken in.
    fn place_of(&self, transcript: &Transcript, id: EntryId) -> Option<usize> {
        if self.read == 0 { None } else { transcript.place_of(id).filter(|place| *place < self.read) }
    }

    /// Forgets what was taken in: the order is another one.
    fn begin_again(&mut self) {
        if self.read == 0 {
            return;
        }
        self.index.begin_again();
        self.read = 0;
        self.generation += 1;
    }

    /// Takes the place of another one: its answers may be others.
    pub(crate) fn go_on_from(&mut self, before: &Self) {
        self.generation += before.generation + 1;
    }

    /// Rises whenever an answer may be another one.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }
}
