//! The parent links of a session as a forest: who hangs below whom, and where paths part.
//!
//! Invariant: links are evidence of a file that may lie; walks end in circles too.

use std::collections::{HashMap, HashSet};

use super::body::Key;
use super::entry::{Entry, EntryId};

/// What the links of a transcript are made of.
pub struct Links<'a> {
    /// Entries of the main lane in file order.
    pub entries: Vec<Placed<'a>>,
    /// Records that are links without being entries.
    pub others: &'a HashMap<Key, Option<Key>>,
    /// The record with the last id in the file, if the format says that all records are linked.
    pub leaf: Option<&'a Key>,
    /// When the last record moved to another path.
    pub departures: &'a [Departure],
}

/// An entry of the main lane.
#[derive(Clone, Copy)]
pub struct Placed<'a> {
    /// Its id.
    pub id: EntryId,
    /// Its place in the order of the transcript, all lanes counted.
    pub place: usize,
    /// The entry.
    pub entry: &'a Entry,
}

/// A record that does not go on from the last one: the session left that one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The last record of what was left.
    pub tip: Key,
    /// The record with which the session went on.
    pub next: Key,
    /// Entries of all lanes that were there.
    pub place: usize,
}

/// Links between records, by number.
pub struct Forest<'a> {
    nodes: Vec<Node>,
    index: HashMap<&'a Key, usize>,
    /// Parents that are not there.
    pub missing: HashSet<Key>,
}

struct Node {
    parent: Option<usize>,
    has_child: bool,
    /// Place among the entries of the main lane.
    entry: Option<usize>,
}

impl<'a> Forest<'a> {
    /// The links as a forest.
    pub fn of(links: &Links<'a>) -> Self {
        let others = links.others.iter().map(|(key, parent)| (key, parent.as_ref(), None));
        let entries = links.entries.iter().enumerate();
        let entries = entries.map(|(at, one)| (&one.entry.key, one.entry.parent.as_ref(), Some(at)));
        let mut parents: HashMap<&Key, (Option<&Key>, Option<usize>)> = HashMap::new();
        for (key, parent, entry) in others.chain(entries) {
            parents.insert(key, (parent, entry));
        }
        let index: HashMap<&Key, usize> =
            parents.keys().enumerate().map(|(node, key)| (*key, node)).collect();
        let mut nodes: Vec<Node> = Vec::with_capacity(parents.len());
        let mut missing = HashSet::new();
        for (parent, entry) in parents.values() {
            let known = parent.and_then(|parent| index.get(parent)).copied();
            if let (Some(parent), None) = (parent, known) {
                missing.insert(Key::clone(parent));
            }
            nodes.push(Node { parent: known, has_child: false, entry: *entry });
        }
        for parent in nodes.iter().filter_map(|node| node.parent).collect::<Vec<_>>() {
            if let Some(node) = nodes.get_mut(parent) {
                node.has_child = true;
            }
        }
        Self { nodes, index, missing }
    }

    /// Whether an entry was never part of the conversation's path: copies hang beside it by design, and
    /// what has no parent and no child, such as a damaged line, stands outside the tree.
    pub fn is_beside(&self, entry: &Entry) -> bool {
        let node = self.index.get(&entry.key).and_then(|node| self.nodes.get(*node));
        entry.marks.copy || (entry.parent.is_none() && !node.is_some_and(|node| node.has_child))
    }

    /// Entries from this record up to the root, as places among those of the main lane. The path of a
    /// record that leads back to itself ends there, and is told to do so.
    pub fn path(&self, from: &Key) -> (Vec<usize>, IsCircle) {
        let mut entries = Vec::new();
        let mut seen = HashSet::new();
        let mut at = self.index.get(from).copied();
        while let Some((number, node)) = at.and_then(|number| Some((number, self.nodes.get(number)?))) {
            if !seen.insert(number) {
                return (entries, IsCircle(true));
            }
            entries.extend(node.entry);
            at = node.parent;
        }
        (entries, IsCircle(false))
    }

    /// Entries of the path to `tip` that are not on the path to `next`, the last first. Both paths are
    /// walked at once up to where they meet, so that a short detour costs little in a long session.
    pub fn left_behind(&self, tip: &Key, next: &Key) -> Vec<usize> {
        let [mut tip, mut next] = [tip, next].map(|key| Walk::from(self.index.get(key).copied()));
        let mut meeting = None;
        while tip.at.is_some() || next.at.is_some() {
            let met = tip.at.filter(|at| next.seen.contains(at));
            meeting = met.or_else(|| next.at.filter(|at| tip.seen.contains(at)));
            if meeting.is_some() {
                break;
            }
            tip.step(&self.nodes);
            next.step(&self.nodes);
        }
        let left = tip.passed.iter().take_while(|node| Some(**node) != meeting);
        left.filter_map(|node| self.nodes.get(*node)?.entry).collect()
    }

    /// The entry that this one hangs below, whatever lies between.
    pub fn entry_above(&self, key: &Key) -> Option<usize> {
        let mut seen = HashSet::new();
        let mut at = self.nodes.get(*self.index.get(key)?)?.parent;
        while let Some(number) = at.filter(|number| seen.insert(*number)) {
            let node = self.nodes.get(number)?;
            if node.entry.is_some() {
                return node.entry;
            }
            at = node.parent;
        }
        None
    }
}

/// Whether a path leads back to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IsCircle(pub bool);

/// On the way to the root.
struct Walk {
    at: Option<usize>,
    passed: Vec<usize>,
    seen: HashSet<usize>,
}

impl Walk {
    fn from(at: Option<usize>) -> Self {
        Self { at, passed: at.into_iter().collect(), seen: at.into_iter().collect() }
    }

    fn step(&mut self, nodes: &[Node]) {
        let parent = self.at.and_then(|at| nodes.get(at)?.parent);
        self.at = parent.filter(|parent| self.seen.insert(*parent));
        self.passed.extend(self.at);
    }
}
