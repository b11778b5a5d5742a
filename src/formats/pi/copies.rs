//! Lines that stand in a session twice: a gateway that rewrites a session appends its history once more, with new ids, but
//! each message with its own time. What stands between messages has none, and hangs below a copy as it hung below what
//! that is a copy of.
//!
//! Invariant: two lines are one message only if the message itself has the same time, to the millisecond, and the same of
//! all that is looked at; other lines are one only if they say the same below the same line.

use std::collections::HashMap;
use std::hash::Hash;

use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::fingerprint::{ByPrint, Print, Seed};
use crate::model::text::prefix;

/// Bytes of the first text that are compared.
const WORDS: usize = 160;

/// Members of a line that say where and when it was written.
const PLACES: [&str; 3] = ["id", "parentId", "timestamp"];

/// Messages by what they say of themselves, each with the line that held it first.
#[derive(Default)]
pub(crate) struct Copies {
    seed: Seed,
    first: ByPrint<Key>,
    /// Other lines by what they say and hang below.
    others: ByPrint<Key>,
    /// Lines that are copies, each with the line that it is a copy of.
    originals: HashMap<Key, Key>,
}

impl Copies {
    /// The line that held the message before, if another one did; else this is the line.
    pub(crate) fn look_up(&mut self, line: &Key, message: &Json<'_>) -> Option<&Key> {
        let print = self.sign(message)?;
        let first = self.first.entry(print).or_insert_with(|| line.clone());
        Some(&*first).filter(|first| *first != line)
    }

    /// The line that is no message and said the same below the same line before, if another one did; else this is the
    /// line.
    pub(crate) fn look_up_other(
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
        let first = self.others.entry(print).or_insert_with(|| line.clone());
        Some(&*first).filter(|first| *first != line)
    }

    /// What two copies of a message have in common. A request is known by its time and what it spent.
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
                // What a tool gave may have been cut when the history was written again.
                return call.hash(hasher);
            }
            let content = message.get("content");
            let words = content
                .blocks()
                .iter()
                .find_map(|block| block.str().or(block.get("text").str()));
            (content.weight(), prefix(words.unwrap_or_default(), WORDS)).hash(hasher);
        }))
    }

    /// A line is a copy.
    pub(crate) fn note(&mut self, copy: Key, original: Key) {
        self.originals.insert(copy, original);
    }

    /// The line that is meant by a name: what goes on with a copy goes on with the original.
    pub(crate) fn meant(&self, line: Key) -> Key {
        self.originals.get(&line).cloned().unwrap_or(line)
    }
}

/// Whether a record that spent something is known without what is said in it.
pub(crate) fn is_known_by_usage(record: &Json<'_>) -> bool {
    let usage = record.at(&["message", "usage"]);
    !usage.is_object() || is_of_an_answer(usage)
}

/// Whether usage is that of an answer, which no other one has.
pub(super) fn is_of_an_answer(usage: &Json<'_>) -> bool {
    usage.get("output").count().is_some_and(|tokens| tokens > 0)
}
