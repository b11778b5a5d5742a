//! Entries that a stream is still writing. They are closed when another entry follows or the stream
//! ends.

use crate::model::body::Key;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{Entry, Piece};

#[derive(Default)]
pub(crate) struct OpenEntries {
    /// The last one emitted.
    entry: Option<Box<Entry>>,
    /// The one before it, if that is still open.
    aside: Option<Box<Entry>>,
    /// The last one emitted with blocks.
    filled: Option<Key>,
}

impl OpenEntries {
    /// Emits an entry, replacing its earlier version.
    pub(crate) fn emit(&mut self, entry: Box<Entry>, out: &mut Batch) {
        if self
            .entry
            .as_ref()
            .is_some_and(|open| open.key != entry.key)
        {
            self.aside = self.entry.take().or(self.aside.take());
        }
        self.aside = self.aside.take().filter(|aside| aside.key != entry.key);
        self.entry = entry.marks.open.then(|| entry.clone());
        if !entry.blocks.is_empty() {
            self.filled = Some(entry.key.clone());
        } else if self.filled.as_ref() == Some(&entry.key) {
            out.retire_piece(entry.key.clone(), Piece(0));
        }
        out.push(Edit::Entry(entry));
    }

    /// Closes all open entries.
    pub(crate) fn close(&mut self, out: &mut Batch) {
        for mut entry in self.entry.take().into_iter().chain(self.aside.take()) {
            entry.marks.open = false;
            out.push(Edit::Entry(entry));
        }
    }
}
