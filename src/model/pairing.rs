//! Which calls wait for which results: an index of facts. Judgements are made elsewhere.

use std::collections::HashMap;

use super::body::Key;
use super::entry::{Block, BlockKind, Entry, EntryId};
use super::fingerprint::ByKey;
use super::tool::ToolCall;

/// Whether an id tells things apart. Empty and redacted ids do not.
pub fn identifies(id: &str) -> bool {
    !id.trim().is_empty() && !id.trim_start_matches('[').starts_with("REDACTED")
}

/// The key of a call that the model wrote into its text: it has no id, only its place.
pub fn textual_key(message: &Key, number: usize) -> Key {
    Key::clean(&format!("{TEXTUAL}{message}/{number}"))
}

/// Whether a call was written into a text, so that nothing proves which result is its own.
pub fn is_textual(call: &Key) -> bool {
    call.starts_with(TEXTUAL)
}

/// How the keys of such calls begin.
const TEXTUAL: &str = "text:";

/// Calls and stray results by the agent's ids.
#[derive(Clone, Debug, Default)]
pub struct PairIndex {
    /// The entry with a call: nearly always one.
    calls: ByKey<EntryId>,
    /// All entries with a call, in order, if there are several or were once.
    several: HashMap<Key, Vec<EntryId>>,
    strays: HashMap<Key, Vec<Key>>,
}

impl PairIndex {
    /// Notes the calls of an entry.
    pub fn add_calls(&mut self, id: EntryId, entry: &Entry) {
        for call in calls_of(entry) {
            if let Some(holders) = self.several_with(&call.key) {
                if let Err(place) = holders.binary_search(&id) {
                    holders.insert(place, id);
                }
                continue;
            }
            match self.calls.get(&call.key).copied() {
                Some(known) if known != id => {
                    self.several.insert(call.key.clone(), vec![known.min(id), known.max(id)]);
                }
                Some(_) => {}
                None => drop(self.calls.insert(&call.key, id)),
            }
        }
    }

    /// Forgets the calls of an entry.
    pub fn remove_calls(&mut self, id: EntryId, entry: &Entry) {
        for call in calls_of(entry) {
            if let Some(holders) = self.several_with(&call.key) {
                holders.retain(|other| *other != id);
            } else if self.calls.get(&call.key) == Some(&id) {
                self.calls.remove(&call.key);
            }
        }
    }

    fn several_with(&mut self, call: &Key) -> Option<&mut Vec<EntryId>> {
        if self.several.is_empty() { None } else { self.several.get_mut(call) }
    }

    /// Entries with calls of this id, in file order. An empty id names nothing.
    pub fn entries_with(&self, call: &Key) -> &[EntryId] {
        if call.is_empty() {
            return &[];
        }
        let several = if self.several.is_empty() { None } else { self.several.get(call) };
        let one = || self.calls.get(call).map(std::slice::from_ref).unwrap_or_default();
        several.map_or_else(one, Vec::as_slice)
    }

    /// Notes a stray entry that holds a result for this call.
    pub fn add_stray(&mut self, call: &Key, stray: Key) {
        let strays = self.strays.entry(call.clone()).or_default();
        if !strays.contains(&stray) {
            strays.push(stray);
        }
    }

    /// Stray entries with results for this call, in the order in which they came. An empty id names nothing.
    pub fn strays_of(&self, call: &Key) -> &[Key] {
        self.strays.get(call).filter(|_| !call.is_empty()).map_or(&[], Vec::as_slice)
    }

    /// Forgets a stray entry.
    pub fn remove_stray(&mut self, call: &Key, stray: &Key) {
        if let Some(strays) = self.strays.get_mut(call) {
            strays.retain(|known| known != stray);
        }
    }
}

/// The calls of an entry.
pub fn calls_of(entry: &Entry) -> impl Iterator<Item = &ToolCall> {
    entry.blocks.iter().filter_map(call_in)
}

/// The calls of an entry, to be changed.
pub fn calls_of_mut(entry: &mut Entry) -> impl Iterator<Item = &mut ToolCall> {
    entry.blocks.iter_mut().filter_map(call_in_mut)
}

/// The call that a block is.
pub fn call_in(block: &Block) -> Option<&ToolCall> {
    match &block.kind {
        BlockKind::Call(call) => Some(call),
        _ => None,
    }
}

/// The call that a block is, to be changed.
pub fn call_in_mut(block: &mut Block) -> Option<&mut ToolCall> {
    match &mut block.kind {
        BlockKind::Call(call) => Some(call),
        _ => None,
    }
}
