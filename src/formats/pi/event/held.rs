//! What a stream tells again in a moment. Only the last telling of a reading is given out: earlier
//! ones would be outdated before anybody sees them.

use crate::model::body::Key;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{Entry, Piece};
use crate::model::merge::merge_head;
use crate::model::tool::{ToolResult, ToolState};

/// What is held back.
#[derive(Default)]
pub struct Held {
    /// The entry that was told last; it stays while it is open.
    entry: Option<Box<Entry>>,
    is_due: bool,
    /// An open entry that was given out because another one came between.
    aside: Option<Box<Entry>>,
    states: Vec<(Key, ToolState)>,
    results: Vec<(Key, Box<ToolResult>)>,
    /// The entry that was given out with blocks.
    filled: Option<Key>,
}

impl Held {
    /// Holds an entry, in place of what was told of it before. What only the tellings before said of it
    /// stays, as if each had been given out.
    pub fn entry(&mut self, mut entry: Box<Entry>, out: &mut Batch) {
        if self.entry.as_ref().is_some_and(|held| held.key != entry.key) {
            self.give_out_entry(out);
            self.aside = self.entry.take().or(self.aside.take());
        }
        self.aside = self.aside.take().filter(|aside| aside.key != entry.key);
        if let Some(mut held) = self.entry.take() {
            let known: Vec<Piece> = held.blocks.iter().map(|block| block.piece).collect();
            merge_head(&mut held, &entry, &known);
            entry = Box::new(Entry { blocks: std::mem::take(&mut entry.blocks), ..*held });
        }
        self.entry = Some(entry);
        self.is_due = true;
    }

    /// Holds how a call fares.
    pub fn state(&mut self, call: Key, state: ToolState) {
        self.states.retain(|(held, _)| *held != call);
        self.states.push((call, state));
    }

    /// Lets go of how calls fared that are gone: another call with the id of one fared otherwise.
    pub fn forget_states(&mut self, is_gone: impl Fn(&Key) -> bool) {
        self.states.retain(|(call, _)| !is_gone(call));
    }

    /// Holds a result. How the call fared before stays held: where ids come again, the result may answer
    /// another call than the one that ran last.
    pub fn result(&mut self, call: Key, result: Box<ToolResult>) {
        self.results.retain(|(held, _)| *held != call);
        self.results.push((call, result));
    }

    /// A call was answered in full: gives out how it fared before, and lets go of the result that was held.
    pub fn settle(&mut self, call: &Key, out: &mut Batch) {
        let states = self.states.extract_if(.., |(held, _)| held == call);
        out.edits.extend(states.map(|(call, state)| Edit::State { call, state }));
        self.results.retain(|(held, _)| held != call);
    }

    /// The entry will not go on.
    pub fn close_entry(&mut self, out: &mut Batch) {
        if let Some(entry) = self.entry.as_mut().filter(|entry| entry.marks.open) {
            entry.marks.open = false;
            self.is_due = true;
        }
        self.give_out_entry(out);
        if let Some(mut entry) = self.aside.take() {
            entry.marks.open = false;
            out.push(Edit::Entry(entry));
        }
        self.give_out_answers(out);
    }

    /// Gives out the entry.
    pub fn give_out_entry(&mut self, out: &mut Batch) {
        let Some(entry) = self.entry.take() else { return };
        let kept = entry.marks.open.then(|| entry.clone());
        if std::mem::take(&mut self.is_due) {
            if !entry.blocks.is_empty() {
                self.filled = Some(entry.key.clone());
            } else if self.filled.as_ref() == Some(&entry.key) {
                out.push(Edit::RetirePiece { of: entry.key.clone(), piece: Piece(0) });
            }
            out.push(Edit::Entry(entry));
        }
        self.entry = kept;
    }

    /// Gives out all.
    pub fn give_out(&mut self, out: &mut Batch) {
        self.give_out_entry(out);
        self.give_out_answers(out);
    }

    /// Results that no entry asks for any more stand where they are given out: behind the entry that was told
    /// last, and before the next one.
    fn give_out_answers(&mut self, out: &mut Batch) {
        out.edits.extend(self.states.drain(..).map(|(call, state)| Edit::State { call, state }));
        let results = self.results.drain(..);
        out.edits.extend(results.map(|(call, result)| Edit::Result { call, result, lane: None }));
    }
}
