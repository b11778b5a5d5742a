//! What was told already of a session that has several files.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use super::search::Hit;
use crate::model::fingerprint::hash_of;
use crate::model::found::Found;

/// Hits of sessions with several files, by a hash of what they say, each with the file that said it first.
pub(super) struct Repeats(HashMap<(&'static str, String), HashMap<u64, PathBuf>>);

impl Repeats {
    /// Of files whose sessions are named so, nothing was told yet.
    pub(super) fn of<'a>(names: impl Iterator<Item = (&'static str, &'a str)>) -> Self {
        let mut known = HashSet::new();
        let again = names.filter(|name| !known.insert(*name));
        Self(
            again
                .map(|(format, id)| ((format, id.to_owned()), HashMap::new()))
                .collect(),
        )
    }

    /// Leaves out what another file of the session said before.
    pub(super) fn leave_out(&mut self, found: &Found, hits: &mut Vec<Hit>) {
        let Some(known) = self.0.get_mut(&(found.format, found.id.to_string())) else {
            return;
        };
        hits.retain(|hit| {
            let hash = hash_of(&(&hit.key, &hit.lane, hit.field, &hit.text, &hit.found));
            // What a file says twice is two hits.
            *known.entry(hash).or_insert_with(|| hit.path.clone()) == hit.path
        });
    }
}
