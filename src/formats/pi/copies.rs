//! Finds lines that are copies of earlier lines. A gateway that rewrites a session appends its
//! history again, with new ids, while each message keeps its own time. Lines between messages have
//! no such time; the copy of one is below the copy of its parent.
//!
//! Invariant: two lines are copies only if their messages have the same time in milliseconds and
//! the same compared fields; lines without a message only if they have the same content below the
//! same line.

use std::collections::HashMap;
use std::hash::Hash;

use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::fingerprint::{ByPrint, Print, Seed};
use crate::model::text::prefix;

/// The number of bytes of the first text that are compared.
const WORDS: usize = 160;

/// Members that differ between copies of a line.
const PLACES: [&str; 3] = ["id", "parentId", "timestamp"];

/// Fingerprints of messages, each with the first line that had it.
#[derive(Default)]
pub(crate) struct Copies {
    seed: Seed,
    first: ByPrint<Key>,
    /// Fingerprints of other lines with their parents, each with the first line.
    others: ByPrint<Key>,
    /// The original of each copied line.
    originals: HashMap<Key, Key>,
}

impl Copies {
    /// The earlier line with the same message. `None` if there is none; then this line is recorded
    /// as the first.
    pub(crate) fn find_original(&mut self, line: &Key, message: &Json<'_>) -> Option<&Key> {
        let print = self.sign(message)?;
        let first = self.first.get_or_insert_with(print, || line.clone());
        first.filter(|first| *first != line)
    }

    /// The earlier line with the same content below the same parent. `None` if there is none; then
    /// this line is recorded as the first.
    pub(crate) fn find_original_record(
        &mut self,
        line: &Key,
        parent: &Key,
        record: &Json<'_>,
    ) -> Option<&Key> {
        let print = self.seed.print_of(|hasher| {
            parent.hash(hasher);
            let own = record
                .members()
                .iter()
                .filter(|(name, _)| !PLACES.contains(&name.as_ref()));
            for (name, value) in own {
                name.hash(hasher);
                value.print(hasher);
            }
        });
        let first = self.others.get_or_insert_with(print, || line.clone());
        first.filter(|first| *first != line)
    }

    /// A fingerprint that two copies of a message share. An answer is identified by its time and
    /// usage alone.
    fn sign(&self, message: &Json<'_>) -> Option<Print> {
        let at = message.get("timestamp").moment()?;
        let role = message.get("role").filled()?;
        let usage = message.get("usage");
        let is_of_an_answer = is_of_an_answer(usage);
        Some(self.seed.print_of(|hasher| {
            (is_of_an_answer, role, at).hash(hasher);
            if is_of_an_answer {
                return usage.print(hasher);
            }
            let call = message.get("toolCallId").str_or_empty();
            if !call.is_empty() {
                // The output of a tool may have been cut when the history was rewritten.
                return call.hash(hasher);
            }
            let content = message.get("content");
            let words = content.blocks().iter().find_map(|block| block.part_text());
            (content.weight(), prefix(words.unwrap_or_default(), WORDS)).hash(hasher);
            let calls = content.blocks().iter();
            for call in calls.filter(|block| block.kind() == "toolCall") {
                call.get("id").str_or_empty().hash(hasher);
            }
        }))
    }

    /// Records that a line is a copy.
    pub(crate) fn record(&mut self, copy: Key, original: Key) {
        self.originals.insert(copy, original);
    }

    /// The original of a line, so that children of a copy become children of the original.
    pub(crate) fn meant(&self, line: Key) -> Key {
        self.originals.get(&line).cloned().unwrap_or(line)
    }
}

/// Whether this is the usage of an answer, which no other message has.
pub(super) fn is_of_an_answer(usage: &Json<'_>) -> bool {
    usage.get("output").count().is_some_and(|tokens| tokens > 0)
}
