//! Branches: which entries the session left behind. File order stays the reading order.

use std::collections::{HashMap, HashSet};

use super::entry::{Entry, EntryId, Key};

/// What the parent links say about branches.
#[derive(Clone, Debug, Default)]
pub struct Branches {
    /// Entries that are not on the active branch.
    pub abandoned: HashSet<EntryId>,
    /// First entry of each abandoned branch, in file order.
    pub roots: Vec<EntryId>,
}

/// The links of a transcript, in file order.
pub struct Links<'a> {
    /// Entries of the main lane in file order.
    pub entries: Vec<(EntryId, &'a Entry)>,
    /// Records that are links without being entries.
    pub others: &'a HashMap<Key, Option<Key>>,
    /// The record with the last id in the file, if the format says that all records are linked.
    pub leaf: Option<&'a Key>,
}

impl Branches {
    /// Derives the branches. A complete tree (`leaf`) is walked from its leaf; otherwise only two
    /// prompts with the same parent make a branch, and the later one is active: all that lies
    /// between them in the file belongs to the earlier one. Broken chains make no branch.
    pub fn derive(links: &Links<'_>) -> Self {
        let mut branches =
            links.leaf.and_then(|leaf| from_leaf(links, leaf)).unwrap_or_else(|| from_prompts(links));
        let undone: Vec<EntryId> =
            links.entries.iter().filter(|(_, entry)| entry.marks.undone).map(|(id, _)| *id).collect();
        if let Some(first) = undone.first() {
            if !branches.abandoned.contains(first) {
                branches.roots.push(*first);
            }
            branches.abandoned.extend(undone);
        }
        branches
    }
}

/// `None` if a link does not resolve.
fn from_leaf(links: &Links<'_>, leaf: &Key) -> Option<Branches> {
    let mut parents: HashMap<&Key, Option<&Key>> = HashMap::new();
    for (key, parent) in links.others {
        parents.insert(key, parent.as_ref());
    }
    for (_, entry) in &links.entries {
        parents.insert(&entry.key, entry.parent.as_ref());
    }
    if parents.values().flatten().any(|parent| !parents.contains_key(parent)) {
        return None;
    }
    let is_parent: HashSet<&Key> = parents.values().copied().flatten().collect();
    let mut path = HashSet::new();
    let mut at = Some(leaf);
    while let Some(key) = at {
        if !path.insert(key) {
            return None;
        }
        at = parents.get(key).copied().flatten();
    }
    let mut branches = Branches::default();
    for (id, entry) in &links.entries {
        // Copies hang beside the path by design and were never a branch of the conversation. What has
        // no parent and no child, such as a damaged line, stands outside the tree.
        let is_linked = entry.parent.is_some() || is_parent.contains(&entry.key);
        if path.contains(&entry.key) || entry.marks.copy || !is_linked {
            continue;
        }
        let parent_is_on_path = entry.parent.as_ref().is_none_or(|parent| path.contains(parent));
        if parent_is_on_path {
            branches.roots.push(*id);
        }
        branches.abandoned.insert(*id);
    }
    Some(branches)
}

fn from_prompts(links: &Links<'_>) -> Branches {
    let mut last_with_parent: HashMap<&Key, usize> = HashMap::new();
    let mut ranges = Vec::new();
    for (place, (_, entry)) in links.entries.iter().enumerate() {
        let (true, Some(parent)) = (entry.marks.prompt, &entry.parent) else { continue };
        if let Some(earlier) = last_with_parent.insert(parent, place) {
            ranges.push(earlier..place);
        }
    }
    let mut branches = Branches::default();
    for range in ranges {
        for (id, _) in links.entries.get(range.clone()).unwrap_or_default() {
            branches.abandoned.insert(*id);
        }
        branches.roots.extend(links.entries.get(range.start).map(|(id, _)| *id));
    }
    branches.roots.sort_unstable();
    branches.roots.dedup();
    branches
}

#[cfg(test)]
mod tests {
    use crate::model::edit::{Batch, MetaEdit};
    use crate::model::entry::{Key, Role};
    use crate::model::transcript::Transcript;

    fn tree(links: &[(&str, Option<&str>)]) -> Transcript {
        let mut batch = Batch::default();
        batch.meta(MetaEdit::LinkedTree);
        for (key, parent) in links {
            let mut entry = batch.new_entry(Key::from(*key), Role::User, None);
            entry.parent = parent.map(Key::from);
            batch.entry(entry);
        }
        let mut transcript = Transcript::new();
        transcript.apply(batch);
        transcript.settle();
        transcript
    }

    fn abandoned(transcript: &Transcript) -> Vec<&str> {
        let is_abandoned =
            |key: &&str| transcript.find(key).is_some_and(|id| transcript.branches().abandoned.contains(&id));
        transcript.entries().map(|entry| entry.key.as_str()).filter(is_abandoned).collect()
    }

    #[test]
    fn what_is_off_the_path_of_the_last_record_is_abandoned() {
        let links = [("a", None), ("b", Some("a")), ("c", Some("b")), ("d", Some("a"))];
        assert_eq!(abandoned(&tree(&links)), ["b", "c"]);
    }

    #[test]
    fn an_unlinked_record_is_no_branch_and_ends_none() {
        let links = [("a", None), ("x", None), ("b", Some("a")), ("@0:9", None)];
        assert!(abandoned(&tree(&links)).is_empty());
    }
}
