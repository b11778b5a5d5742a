//! Holds back records at the end of a file that may repeat answers; those whose text no answer has
//! are emitted.

use std::collections::HashSet;

use crate::model::body::Body;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{BlockKind, Entry, Role};
use crate::model::text::Text;

/// Identifies a text by its beginning and its size.
type TextIdentity = (Text, u32);

/// The texts of answers, and the edits that are held back until all answers have been read.
#[derive(Default)]
pub(super) struct HeldEdits {
    answer_hashes: HashSet<TextIdentity>,
    edits: Vec<(TextIdentity, Vec<Edit>)>,
}

impl HeldEdits {
    /// Adds the texts of an answer.
    pub(super) fn add_answer(&mut self, entry: &Entry) {
        if entry.role == Role::Assistant {
            self.answer_hashes
                .extend(entry.blocks.iter().filter_map(|block| match &block.kind {
                    BlockKind::Text(body) => Some(print_of(body)),
                    _ => None,
                }));
        }
    }

    /// Holds back the edits with this text.
    pub(super) fn hold(&mut self, text: &str, edits: Vec<Edit>) {
        let print = print_of(&Batch::default().prose(text));
        // Making these edits added their own text to `said`, where it must not count as an answer.
        self.answer_hashes.remove(&print);
        self.edits.push((print, edits));
    }

    /// Emits the edits whose text no answer has.
    pub(super) fn finish(&mut self, out: &mut Batch) {
        for (text, edits) in std::mem::take(&mut self.edits) {
            if !self.answer_hashes.contains(&text) {
                out.edits.extend(edits);
            }
        }
    }
}

fn print_of(body: &Body) -> TextIdentity {
    (body.stub.clone(), body.bytes)
}
