//! What a file tells twice, once completely: records that stand behind all others, unless an answer says the same.

use std::collections::HashSet;

use crate::model::body::Body;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{BlockKind, Entry, Role};
use crate::model::text::Text;

/// What tells one text from another: its beginning and its size.
type Print = (Text, u32);

/// What answers say, and the edits that are held back until all of them are known.
#[derive(Default)]
pub(super) struct Unsaid {
    said: HashSet<Print>,
    held: Vec<(Print, Vec<Edit>)>,
}

impl Unsaid {
    /// An answer was emitted.
    pub(super) fn note(&mut self, entry: &Entry) {
        if entry.role == Role::Assistant {
            self.said
                .extend(entry.blocks.iter().filter_map(|block| match &block.kind {
                    BlockKind::Text(body) => Some(print_of(body)),
                    _ => None,
                }));
        }
    }

    /// Holds edits back, which say this text.
    pub(super) fn hold(&mut self, text: &str, edits: Vec<Edit>) {
        let print = print_of(&Batch::default().prose(text));
        // What they say themselves is no other answer.
        self.said.remove(&print);
        self.held.push((print, edits));
    }

    /// Gives out what no answer said.
    pub(super) fn finish(&mut self, out: &mut Batch) {
        for (text, edits) in std::mem::take(&mut self.held) {
            if !self.said.contains(&text) {
                out.edits.extend(edits);
            }
        }
    }
}

fn print_of(body: &Body) -> Print {
    (body.stub.clone(), body.bytes)
}
