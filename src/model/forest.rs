//! The parent links of a session as a forest: who hangs below whom, and where paths part.
//!
//! Invariant: links are evidence of a file that may lie; walks end in circles too.

// A session is walked over node by node: this one hashes several times as fast.
use hashbrown::HashSet;

use super::body::Key;
use super::entry::{EntryId, Marks};
use super::fingerprint::{ByPrint, Print};

/// What the links of a transcript are made of.
pub struct Links<'a> {
    /// Entries of the main lane in file order.
    pub entries: Vec<Placed>,
    /// Parents of records that are links without being entries.
    pub others: &'a ByPrint<Option<Print>>,
    /// The record with the last id in the file, if the format says that all records are linked.
    pub leaf: Option<Print>,
    /// When the last record moved to another path.
    pub departures: &'a [Departure],
    /// The fingerprint of a key.
    pub print: &'a dyn Fn(&Key) -> Print,
}

/// An entry of the main lane.
#[derive(Clone, Copy)]
pub struct Placed {
    /// Its id.
    pub id: EntryId,
    /// Its place in the order of the transcript, all lanes counted.
    pub place: usize,
    /// Its key.
    pub key: Print,
    /// The key of its parent.
    pub parent: Option<Print>,
    /// Its marks.
    pub marks: Marks,
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
pub struct Forest {
    nodes: Vec<Node>,
    /// Parents and places among the entries, by number of the node.
    index: ByPrint<(Option<Print>, Option<u32>)>,
    /// Parents that are not there.
    pub missing: HashSet<Print>,
}

struct Node {
    parent: Option<u32>,
    has_child: bool,
    /// Place among the entries of the main lane.
    entry: Option<u32>,
}

impl Forest {
    /// The links as a forest.
    pub fn of(links: &Links<'_>) -> Self {
        let mut index = ByPrint::default();
        for (key, parent) in links.others.iter() {
            index.insert(key, (*parent, None));
        }
        for (one, at) in links.entries.iter().zip(0..) {
            index.insert(one.key, (one.parent, Some(at)));
        }
        let mut missing = HashSet::new();
        let mut nodes: Vec<Node> = Vec::new();
        for (_, (parent, entry)) in index.iter() {
            let known = parent.and_then(|parent| index.place(parent));
            missing.extend(parent.filter(|_| known.is_none()));
            let parent = known.and_then(|known| u32::try_from(known).ok());
            nodes.push(Node { parent, has_child: false, entry: *entry });
        }
        for at in 0..nodes.len() {
            let parent = nodes.get(at).and_then(Node::parent);
            if let Some(node) = parent.and_then(|parent| nodes.get_mut(parent)) {
                node.has_child = true;
            }
        }
        Self { nodes, index, missing }
    }

    fn node(&self, key: Print) -> Option<&Node> {
        self.nodes.get(self.index.place(key)?)
    }

    /// The entry with this key, as a place among those of the main lane.
    pub fn entry(&self, key: Print) -> Option<usize> {
        self.node(key)?.entry()
    }

    /// Whether an entry was never part of the conversation's path: copies hang beside it by design, and
    /// what has no parent and no child, such as a damaged line, stands outside the tree.
    pub fn is_beside(&self, one: &Placed) -> bool {
        one.marks.copy || (one.parent.is_none() && !self.node(one.key).is_some_and(|node| node.has_child))
    }

    /// Entries from this record up to the root, as places among those of the main lane. The path of a
    /// record that leads back to itself ends there, and is told to do so.
    pub fn path(&self, from: Print) -> (Vec<usize>, IsCircle) {
        let mut entries = Vec::new();
        let mut seen = vec![false; self.nodes.len()];
        let mut at = self.index.place(from);
        while let Some((number, node)) = at.and_then(|number| Some((number, self.nodes.get(number)?))) {
            if seen.get_mut(number).is_some_and(|seen| std::mem::replace(seen, true)) {
                return (entries, IsCircle(true));
            }
            entries.extend(node.entry());
            at = node.parent();
        }
        (entries, IsCircle(false))
    }

    /// Entries of the path to `tip` that are not on the path to `next`, the last first. Both paths are
    /// walked at once up to where they meet, so that a short detour costs little in a long session.
    pub fn left_behind(&self, tip: Print, next: Print) -> Vec<usize> {
        let [mut tip, mut next] = [tip, next].map(|key| Walk::from(self.index.place(key)));
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
        left.filter_map(|node| self.nodes.get(*node)?.entry()).collect()
    }

    /// The entry that this one hangs below, whatever lies between.
    pub fn entry_above(&self, key: Print) -> Option<usize> {
        let mut seen = HashSet::new();
        let mut at = self.node(key)?.parent();
        while let Some(number) = at.filter(|number| seen.insert(*number)) {
            let node = self.nodes.get(number)?;
            if node.entry.is_some() {
                return node.entry();
            }
            at = node.parent();
        }
        None
    }
}

impl Node {
    fn parent(&self) -> Option<usize> {
        self.parent.and_then(|parent| usize::try_from(parent).ok())
    }

    fn entry(&self) -> Option<usize> {
        self.entry.and_then(|entry| usize::try_from(entry).ok())
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
        let parent = self.at.and_then(|at| nodes.get(at)?.parent());
        self.at = parent.filter(|parent| self.seen.insert(*parent));
        self.passed.extend(self.at);
    }
}
