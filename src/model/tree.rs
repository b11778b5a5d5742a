//! Branches: which entries the session left behind. File order stays the reading order.

use std::collections::{HashMap, HashSet};

use super::body::Key;
use super::entry::{Entry, EntryId};

/// What the parent links say about branches.
#[derive(Clone, Debug, Default)]
pub struct Branches {
    /// Entries that are not on the active branch.
    pub abandoned: HashSet<EntryId>,
    /// First entry of each abandoned branch, in file order.
    pub roots: Vec<EntryId>,
    basis: Basis,
    /// Parents of the prompts so far.
    prompted: HashSet<Key>,
}

/// What branches were derived from.
#[derive(Clone, Debug, Default)]
enum Basis {
    /// Prompts with the same parent.
    #[default]
    Prompts,
    /// The path from the leaf.
    Path,
    /// Prompts, because these parents are not there.
    Dangling(HashSet<Key>),
    /// Prompts, because the path from the leaf leads back to itself.
    Cyclic,
}

/// A new record at the end of the main lane.
pub struct Growth<'a> {
    /// Its key.
    pub key: &'a Key,
    /// Its parent.
    pub parent: Option<&'a Key>,
    /// Whether the parent is there.
    pub resolves: bool,
    /// The leaf before it, if all records are linked.
    pub leaf: Option<&'a Key>,
    /// Whether it is a leaf of a complete tree now.
    pub leads: bool,
    /// Whether it opens a turn.
    pub is_prompt: bool,
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
        let mut branches = match links.leaf.map(|leaf| from_leaf(links, leaf)) {
            Some(Ok(branches)) => branches,
            Some(Err(basis)) => Self { basis, ..from_prompts(links) },
            None => from_prompts(links),
        };
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

    /// Takes note of a record that was added. `false` if the branches must be derived anew; mostly a
    /// record goes on where the last one ended, and costs nothing, however long the session is.
    pub fn grow(&mut self, new: &Growth<'_>) -> bool {
        if new.is_prompt
            && let Some(parent) = new.parent
            && !self.prompted.insert(parent.clone())
        {
            return false;
        }
        match &self.basis {
            Basis::Prompts => !new.leads,
            Basis::Path if new.leads => new.parent.is_some() && new.parent == new.leaf,
            Basis::Path => new.parent.is_none(),
            Basis::Dangling(missing) => !missing.contains(new.key) && (new.parent.is_none() || new.resolves),
            Basis::Cyclic => false,
        }
    }
}

/// Says what stands against it if there is no path.
fn from_leaf(links: &Links<'_>, leaf: &Key) -> Result<Branches, Basis> {
    let mut parents: HashMap<&Key, Option<&Key>> = HashMap::new();
    for (key, parent) in links.others {
        parents.insert(key, parent.as_ref());
    }
    for (_, entry) in &links.entries {
        parents.insert(&entry.key, entry.parent.as_ref());
    }
    let unknown = parents.values().flatten().filter(|parent| !parents.contains_key(*parent));
    let missing: HashSet<Key> = unknown.map(|parent| Key::clone(parent)).collect();
    if !missing.is_empty() {
        return Err(Basis::Dangling(missing));
    }
    let is_parent: HashSet<&Key> = parents.values().copied().flatten().collect();
    let mut path = HashSet::new();
    let mut at = Some(leaf);
    while let Some(key) = at {
        if !path.insert(key) {
            return Err(Basis::Cyclic);
        }
        at = parents.get(key).copied().flatten();
    }
    let mut branches = Branches { basis: Basis::Path, ..Branches::default() };
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
    Ok(branches)
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
    branches.prompted = last_with_parent.into_keys().cloned().collect();
    branches.roots.sort_unstable();
    branches.roots.dedup();
    branches
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop, proptest};

    use crate::model::body::Key;
    use crate::model::edit::{Batch, Edit, MetaEdit};
    use crate::model::entry::Role;
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

    type Step = (bool, u8, Option<u8>, bool, bool, bool);

    /// One batch: a link or an entry, some of them prompts, copies or told again.
    fn batch((is_link, key, parent, prompt, copy, undone): Step) -> Batch {
        let key = Key::from(format!("k{key}").as_str());
        let parent = parent.map(|parent| Key::from(format!("k{parent}").as_str()));
        let mut batch = Batch::default();
        if is_link {
            batch.push(Edit::Link { key, parent });
            return batch;
        }
        let mut entry = batch.new_entry(key, Role::User, None);
        entry.parent = parent;
        entry.marks.prompt = prompt;
        entry.marks.copy = copy;
        entry.marks.undone = undone;
        batch.entry(entry);
        batch
    }

    #[test]
    fn a_link_with_the_key_of_an_entry_does_not_move_what_is_known() {
        let mut growing = tree(&[("a", None), ("b", Some("a")), ("x", None)]);
        let mut link = Batch::default();
        link.push(Edit::Link { key: Key::from("x"), parent: Some(Key::from("b")) });
        growing.apply(link.clone());
        growing.settle();
        let mut whole = Transcript::new();
        let mut batch = Batch::default();
        batch.meta(MetaEdit::LinkedTree);
        whole.apply(batch);
        for (key, parent) in [("a", None), ("b", Some("a")), ("x", None)] {
            let mut batch = Batch::default();
            let mut entry = batch.new_entry(Key::from(key), Role::User, None);
            entry.parent = parent.map(Key::from);
            batch.entry(entry);
            whole.apply(batch);
        }
        whole.apply(link);
        whole.settle();
        assert_eq!(growing.branches().abandoned, whole.branches().abandoned);
    }

    proptest! {
        /// What is derived step by step is what is derived from the whole.
        #[test]
        fn growing_branches_are_those_of_the_whole(
            is_tree: bool,
            steps in prop::collection::vec(
                (
                    prop::bool::weighted(0.2),
                    0u8..14,
                    prop::option::weighted(0.9, 0u8..14),
                    prop::bool::weighted(0.3),
                    prop::bool::weighted(0.1),
                    prop::bool::weighted(0.05),
                ),
                0..24,
            ),
            chained in prop::bool::weighted(0.7),
        ) {
            let mut growing = Transcript::new();
            let mut told = Vec::new();
            let mut tree = Batch::default();
            if is_tree {
                tree.meta(MetaEdit::LinkedTree);
            }
            growing.apply(tree.clone());
            for (place, mut step) in steps.into_iter().enumerate() {
                if chained && place % 5 != 4 {
                    // Mostly a record follows the one before it, as in real sessions.
                    let place = u8::try_from(place).unwrap();
                    step = (step.0, 20 + place, (place > 0).then(|| 19 + place), step.3, false, false);
                }
                told.push(step);
                growing.apply(batch(step));
                growing.settle();
                let mut whole = Transcript::new();
                whole.apply(tree.clone());
                for step in &told {
                    whole.apply(batch(*step));
                }
                whole.settle();
                assert_eq!(growing.branches().abandoned, whole.branches().abandoned);
                assert_eq!(growing.branches().roots, whole.branches().roots);
                assert_eq!(growing.turns(), whole.turns());
            }
        }
    }
}
