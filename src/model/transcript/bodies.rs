//! Contents of bodies: filled from disk, and released when memory is short.

use super::Transcript;
use super::pages::loaded_bytes;
use crate::model::body::Held;
use crate::model::entry::EntryId;
use crate::model::record::Origin;

impl Transcript {
    /// Puts contents that were read from disk into their bodies. Returns the entries that changed.
    pub fn fill(&mut self, ids: &[EntryId], contents: &[(Origin, Vec<Held>)]) -> Vec<EntryId> {
        let mut filled = Vec::new();
        for id in ids {
            let Some(entry) = self.entries.get_mut(id.index()) else {
                continue;
            };
            let before = loaded_bytes(&entry.blocks);
            for body in entry
                .blocks
                .iter_mut()
                .flat_map(|block| block.kind.bodies_mut())
                .filter(|body| body.is_on_disk())
            {
                let record = contents
                    .iter()
                    .find(|(origin, _)| origin.file == body.from.file && origin.at == body.from.at);
                if let Some(held) = record.and_then(|(_, held)| held.get(usize::from(body.slot))) {
                    body.held = held.clone();
                }
            }
            let after = loaded_bytes(&entry.blocks);
            if after != before {
                self.held_bytes = (self.held_bytes + after).saturating_sub(before);
                filled.push(*id);
            }
        }
        filled
    }

    /// If more than `budget` bytes of bodies are in memory, releases them, oldest entries first,
    /// until a quarter of the budget is free, so that this pass over all entries is rare. Entries
    /// for which `keeps` returns true are spared; bodies from a pipe stay, because they cannot be
    /// read again.
    pub fn release(&mut self, budget: u64, keeps: impl Fn(EntryId) -> bool) {
        if self.held_bytes <= budget || self.is_piped {
            return;
        }
        for (number, entry) in self.entries.open_mut() {
            if self.held_bytes <= budget - budget / 4 {
                return;
            }
            let id = EntryId(u32::try_from(number).unwrap_or(u32::MAX));
            if keeps(id) {
                continue;
            }
            for body in entry
                .blocks
                .iter_mut()
                .flat_map(|block| block.kind.bodies_mut())
            {
                self.held_bytes = self.held_bytes.saturating_sub(u64::from(body.release()));
            }
        }
    }

    /// Bytes of bodies in memory.
    pub fn loaded_bytes(&self) -> u64 {
        self.held_bytes
    }
}
