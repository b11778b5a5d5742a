//! What happened in entries, without a look at each of them.

use super::Transcript;
use crate::model::entry::EntryId;
use crate::model::turn::TurnFacts;

impl Transcript {
    /// Adds what happened in entries, until so many were taken one by one, from their pages; those of a page that
    /// all belong to them come without it. Answers how many were added.
    pub fn sum_some(&self, ids: &[EntryId], most: &mut usize, facts: &mut TurnFacts) -> usize {
        let mut passing = self.entries.passing();
        let mut rest = ids;
        while let Some((id, others)) = rest.split_first() {
            if let Some((of_page, len)) = self.entries.facts_of_first(rest) {
                facts.join(of_page);
                rest = rest.get(len..).unwrap_or_default();
                continue;
            }
            let Some(left) = most.checked_sub(1) else { break };
            *most = left;
            passing.get(*id).into_iter().for_each(|entry| facts.add(entry));
            rest = others;
        }
        ids.len() - rest.len()
    }
}
