//! Removes repeated hits of sessions that have several files.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use super::search::LineHit;
use crate::model::fingerprint::hash_of;
use crate::model::found::FoundSession;

/// Hits of sessions with several files, by a hash of their text, each with the file that had it
/// first.
pub(super) struct Repeats(HashMap<(&'static str, String), HashMap<u64, PathBuf>>);

impl Repeats {
    /// Starts with no hits. `names` are the format and id of each file's session.
    pub(super) fn of<'a>(names: impl Iterator<Item = (&'static str, &'a str)>) -> Self {
        let mut known = HashSet::new();
        let again = names.filter(|name| !known.insert(*name));
        Self(
            again
                .map(|(format, id)| ((format, id.to_owned()), HashMap::new()))
                .collect(),
        )
    }

    /// Removes hits that another file of the session had before.
    pub(super) fn remove_known(&mut self, found: &FoundSession, hits: &mut Vec<LineHit>) {
        let Some(known) = self.0.get_mut(&(found.format, found.id.to_string())) else {
            return;
        };
        hits.retain(|hit| {
            let hash = hash_of(&(&hit.key, &hit.lane, hit.field, &hit.text, &hit.found));
            // A repetition within a file is two hits.
            *known.entry(hash).or_insert_with(|| hit.path.clone()) == hit.path
        });
    }
}
