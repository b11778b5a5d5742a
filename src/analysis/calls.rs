//! The calls of a session by tool, by arguments and by time, for what can be said of one of them: how it
//! compares with others of its tool, which ones ran meanwhile, which ones asked for the same before.
//!
//! Invariant: an entry costs its own calls when it comes or changes; a question about a call costs as
//! much in a long session as in a short one, but for the distinct durations of its tool.

pub(crate) mod asking;
pub(crate) mod awaited;
mod durations;
pub mod flights;
mod listing;
pub mod pairing;
mod tools;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

pub(crate) use self::tools::{Outcome, Tool, Tools};
use super::index::Index;
use crate::model::body::{Body, Held, Tree};
use crate::model::entry::{BlockKind, Entry, EntryId};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{Clocked, Took, ToolCall, ToolKind};
use crate::model::transcript::Transcript;

/// Where a block stands: a call, a text, what a reader goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The entry.
    pub entry: EntryId,
    /// Place of the block in it.
    pub block: usize,
}

impl Place {
    /// Where it stands in the order of the file.
    pub(crate) fn in_file(self, transcript: &Transcript) -> (usize, usize) {
        (transcript.place_of(self.entry).unwrap_or(0), self.block)
    }
}

/// A call by its place: that of the entry in the order of the file, then of the block in its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    place: u32,
    block: u32,
    entry: EntryId,
}

impl Rank {
    const FIRST: Self = Self { place: 0, block: 0, entry: EntryId(0) };

    fn call(&self) -> Place {
        Place { entry: self.entry, block: usize::try_from(self.block).unwrap_or(usize::MAX) }
    }
}

/// Calls that overlap are sought among so many that began before.
const LOOKED_AT: usize = 2_000;

/// Which calls ran at the same time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Overlaps {
    /// In the order in which they began, the latest first.
    pub(crate) calls: Vec<Place>,
    /// Whether there may be more.
    pub(crate) is_cut: bool,
}

/// Earlier calls of the same tool with the same arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    /// The latest first.
    pub(crate) calls: Vec<Place>,
    /// Whether only so many were looked at.
    pub(crate) is_cut: bool,
    /// Calls that look the same, but whose arguments are on disk.
    pub(crate) unread: Vec<EntryId>,
}

/// What is kept of a call.
#[derive(Clone, Debug)]
struct Known {
    block: usize,
    name: Name,
    likeness: u64,
    took: Option<Took>,
    outcome: Outcome,
    /// Size of the result, in bytes.
    bytes: u64,
    starts_agent: bool,
    span: Option<(i64, i64)>,
}

impl Known {
    fn rank(&self, place: u32, entry: EntryId) -> Rank {
        Rank { place, block: u32::try_from(self.block).unwrap_or(u32::MAX), entry }
    }
}

/// The index.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    /// With the place of the entry in the order.
    of_entry: HashMap<EntryId, (u32, Vec<Known>)>,
    all: Vec<Rank>,
    tools: Tools,
    /// Calls that start sub-agents.
    delegates: BTreeSet<Rank>,
    alike: HashMap<u64, Vec<Rank>>,
    spans: BTreeMap<(i64, Rank), i64>,
    longest: i64,
    prints: HashMap<Place, (u32, u64)>,
}

impl Index for Calls {
    type Reads = ();

    fn add(&mut self, transcript: &Transcript, place: usize, id: EntryId) {
        let (Some(entry), Ok(place)) = (transcript.get(id), u32::try_from(place)) else { return };
        let calls: Vec<Known> = known_of(entry).collect();
        for known in &calls {
            let rank = known.rank(place, id);
            insert(&mut self.all, rank);
            insert(self.alike.entry(known.likeness).or_default(), rank);
            self.tools.add(rank, known);
            if known.starts_agent {
                self.delegates.insert(rank);
            }
            if let Some((from, to)) = known.span {
                self.spans.insert((from, rank), to);
                self.longest = self.longest.max(to - from);
            }
        }
        if !calls.is_empty() {
            self.of_entry.insert(id, (place, calls));
        }
    }

    fn change(&mut self, transcript: &Transcript, place: usize, id: EntryId) -> bool {
        self.remove(id);
        self.add(transcript, place, id);
        true
    }

    /// Notes what its calls ask for.
    fn learn(&mut self, transcript: &Transcript, _place: usize, id: EntryId) {
        let Some((_, calls)) = self.of_entry.get(&id) else { return };
        let places: Vec<Place> = calls.iter().map(|known| Place { entry: id, block: known.block }).collect();
        for place in places {
            self.print(transcript, place);
        }
    }
}

impl Calls {
    fn known(&self, place: Place) -> Option<(Rank, &Known)> {
        let (order, calls) = self.of_entry.get(&place.entry)?;
        let known = calls.get(calls.binary_search_by_key(&place.block, |known| known.block).ok()?)?;
        Some((known.rank(*order, place.entry), known))
    }

    fn remove(&mut self, id: EntryId) {
        let Some((place, calls)) = self.of_entry.remove(&id) else { return };
        // Those of an entry stand together, and all of them go at once: one by one they would cost their square.
        take_out_of(&mut self.all, place);
        for known in calls {
            let rank = known.rank(place, id);
            if let Some(alike) = self.alike.get_mut(&known.likeness) {
                take_out_of(alike, place);
            }
            self.tools.remove(place, &known);
            self.delegates.remove(&rank);
            if let Some((from, _)) = known.span {
                self.spans.remove(&(from, rank));
            }
        }
    }

    // === questions ===

    /// How many calls there are.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// The number of a call among all, from 1 in the order of the file.
    pub(crate) fn number(&self, place: Place) -> Option<usize> {
        self.all.binary_search(&self.known(place)?.0).ok().map(|at| at + 1)
    }

    /// Calls that ran while this one did; at most `most`.
    pub(crate) fn overlaps(&self, place: Place, most: usize) -> Overlaps {
        let mut found = Overlaps::default();
        let Some((own, (from, to))) = self.known(place).and_then(|(rank, known)| Some((rank, known.span?)))
        else {
            return found;
        };
        let before_its_end = self.spans.range(..(to, Rank::FIRST)).rev();
        for (looked_at, ((start, rank), end)) in before_its_end.enumerate() {
            if *start < from.saturating_sub(self.longest) {
                return found;
            }
            if looked_at >= LOOKED_AT || found.calls.len() > most {
                found.is_cut = true;
                found.calls.truncate(most);
                return found;
            }
            if *rank != own && *end > from {
                found.calls.push(rank.call());
            }
        }
        found.is_cut = found.calls.len() > most;
        found.calls.truncate(most);
        found
    }

    /// Calls before this one that asked the same tool for the same, by what is in memory or in mind; at most `most`
    /// are looked at.
    pub(crate) fn earlier(&self, transcript: &Transcript, place: Place, most: usize) -> Earlier {
        let mut found = Earlier::default();
        let mut before = self.alike_before(place);
        let looked_at: Vec<Place> = before.by_ref().take(most).collect();
        found.is_cut = before.next().is_some();
        if looked_at.is_empty() {
            return found;
        }
        let Some(print) = self.print_known(transcript, place) else {
            found.unread = looked_at.iter().map(|place| place.entry).chain([place.entry]).collect();
            return found;
        };
        for other in looked_at {
            match self.print_known(transcript, other) {
                Some(known) if known == print => found.calls.push(other),
                Some(_) => {}
                None => found.unread.push(other.entry),
            }
        }
        found
    }

    /// Calls before this one that look the same, the latest first.
    fn alike_before(&self, place: Place) -> impl Iterator<Item = Place> {
        let own = self.known(place).map(|(rank, known)| (rank, known.likeness));
        let before = own.and_then(|(own, likeness)| {
            let alike = self.alike.get(&likeness)?;
            alike.get(..alike.partition_point(|rank| *rank < own))
        });
        before.unwrap_or_default().iter().rev().map(Rank::call)
    }

    fn print(&mut self, transcript: &Transcript, place: Place) {
        let revision = transcript.get(place.entry).map(|entry| entry.revision);
        if let Some((revision, print)) = revision.zip(self.print_known(transcript, place)) {
            self.prints.insert(place, (revision, print));
        }
    }

    /// A number for the arguments of a call; nothing if they are on disk and were never seen.
    fn print_known(&self, transcript: &Transcript, place: Place) -> Option<u64> {
        let entry = transcript.get(place.entry)?;
        let kept = self.prints.get(&place).filter(|(revision, _)| *revision == entry.revision);
        kept.map(|(_, print)| *print).or_else(|| print_of(&call_at(entry, place.block)?.input))
    }
}

/// The call in a block.
pub(crate) fn call_at(entry: &Entry, block: usize) -> Option<&ToolCall> {
    match &entry.blocks.get(block)?.kind {
        BlockKind::Call(call) => Some(call),
        _ => None,
    }
}

fn known_of(entry: &Entry) -> impl Iterator<Item = Known> {
    // A copy of an entry is no call of its own.
    let blocks = entry.blocks.iter().enumerate().filter(|_| !entry.marks.copy);
    blocks.filter_map(|(block, kind)| {
        let BlockKind::Call(call) = &kind.kind else { return None };
        Some(Known {
            block,
            name: call.name.clone(),
            likeness: likeness_of(call),
            took: call.took(entry.said(call)),
            outcome: Outcome::of(&call.state),
            bytes: call.state.result().map_or(0, |result| u64::from(result.body.bytes)),
            starts_agent: call.kind == ToolKind::Delegate || call.lane.is_some(),
            span: span_of(call, entry.said(call)).map(|(from, to)| (from.0, to.0)),
        })
    })
}

/// From when to when a call ran, as far as its times say.
pub(crate) fn span_of(call: &ToolCall, said: Option<Timestamp>) -> Option<(Timestamp, Timestamp)> {
    let took = call.took(said)?;
    let ended = call.state.result()?.at;
    let started = call.started.or(said);
    let ms = i64::try_from(took.ms).ok()?;
    match (started, ended) {
        (Some(from), Some(to)) if from <= to => Some((from, to)),
        (Some(from), None) if took.by == Clocked::Measured => {
            Some((from, Timestamp(from.0.checked_add(ms)?)))
        }
        (_, Some(to)) if took.by == Clocked::Measured => Some((Timestamp(to.0.checked_sub(ms)?), to)),
        _ => None,
    }
}

/// A number for a call, the same for calls that may be the same: made of what is always in memory of their
/// arguments.
pub(crate) fn likeness_of(call: &ToolCall) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&call.name, &call.input.stub, call.input.bytes, call.input.lines).hash(&mut hasher);
    hasher.finish()
}

/// A number for the whole of a body; nothing if that is on disk.
pub(crate) fn print_of(input: &Body) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    match &input.held {
        Held::Stub => input.stub.hash(&mut hasher),
        Held::Text(text) => text.hash(&mut hasher),
        Held::Tree(tree) => hash_tree(tree, &mut hasher),
        Held::Away => return None,
    }
    Some(hasher.finish())
}

fn hash_tree(tree: &Tree, hasher: &mut DefaultHasher) {
    std::mem::discriminant(tree).hash(hasher);
    match tree {
        Tree::Null => {}
        Tree::Bool(flag) => flag.hash(hasher),
        Tree::Number(text) | Tree::Text(text) => text.hash(hasher),
        Tree::List(items) => {
            items.len().hash(hasher);
            for item in items {
                hash_tree(item, hasher);
            }
        }
        Tree::Map(members) => {
            members.len().hash(hasher);
            for (name, value) in members {
                name.hash(hasher);
                hash_tree(value, hasher);
            }
        }
    }
}

/// Mostly what is new comes last.
fn insert(ranks: &mut Vec<Rank>, rank: Rank) {
    if let Err(at) = ranks.binary_search(&rank) {
        ranks.insert(at, rank);
    }
}

/// Takes out all of an entry.
fn take_out_of(ranks: &mut Vec<Rank>, place: u32) {
    let first = ranks.partition_point(|rank| rank.place < place);
    let end = ranks.partition_point(|rank| rank.place <= place);
    ranks.drain(first..end);
}

#[cfg(test)]
mod tests;
