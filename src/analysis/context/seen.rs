//! What the model saw at an entry: the entries of its lane on the path to it, from the last
//! compaction on, with what that compaction kept.
//!
//! **Prompts are recorded, their composition is estimated.** Files record the tokens of whole
//! prompts. Which texts filled them is estimated from the entries that the model saw, from what
//! each format says was sent of a block (`model::entry::Sent`), and from sizes that stay in memory,
//! at the bytes per token that the growth of the session's own prompts shows. A cache miss is
//! judged from two requests and what the file records between them (`cache_breaks`).
//!
//! Invariant: the result depends on what stands before the entry and on the branches, never on what
//! comes later in its lane.

use std::collections::{BTreeMap, HashMap};

use crate::model::body::Key;
use crate::model::entry::{BlockKind, Entry, EntryId, Role};
use crate::model::text::Name;
use crate::model::transcript::Transcript;

/// Links followed from a record that is no entry to the entry that it belongs to.
const FAR: usize = 1_000;

/// The compaction whose summary this answer writes: agents that request summaries within the
/// session record the compaction before the request.
fn requesting_compaction<'a>(transcript: &'a Transcript, entry: &Entry) -> Option<&'a Entry> {
    let asked = transcript.get(transcript.find(entry.parent.as_ref()?)?)?;
    let says = || asked.has(|kind| matches!(kind, BlockKind::Text(_)));
    (asked.lane == entry.lane && asked.is_compaction() && !says()).then_some(asked)
}

/// The compactions of each lane.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cuts {
    /// By position in the order of the transcript.
    lanes: HashMap<Option<Name>, Vec<(usize, EntryId)>>,
}

impl Cuts {
    /// Adds a compaction behind all others.
    pub(super) fn add(&mut self, lane: Option<&Name>, place: usize, id: EntryId) {
        self.lanes
            .entry(lane.cloned())
            .or_default()
            .push((place, id));
    }

    /// Compactions of a lane before a position, the last one first.
    fn before(&self, lane: Option<&Name>, end: usize) -> impl Iterator<Item = (usize, EntryId)> {
        let lane = self
            .lanes
            .get(&lane.cloned())
            .map(Vec::as_slice)
            .unwrap_or_default();
        let before = lane
            .get(..lane.partition_point(|(place, _)| *place < end))
            .unwrap_or_default();
        before.iter().rev().copied()
    }
}

/// The path from the beginning of the session to an entry: how far it follows the active path, and
/// each branch on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BranchPath {
    active: Option<usize>,
    left: BTreeMap<usize, usize>,
}

impl BranchPath {
    /// The path to an entry, inclusive.
    pub(crate) fn to(transcript: &Transcript, id: EntryId) -> Self {
        let branches = transcript.branches();
        let mut path = Self::default();
        let mut at = Some(id);
        while let Some((id, place)) = at.and_then(|id| Some((id, transcript.place_of(id)?))) {
            let Some(branch) = branches.of(id).filter(|_| branches.abandoned.contains(&id)) else {
                path.active = Some(place);
                break;
            };
            // Branches that name each other as parents would never end.
            if path.left.insert(branch.number, place).is_some() {
                break;
            }
            at = branch.point;
        }
        path
    }

    pub(crate) fn contains(&self, transcript: &Transcript, id: EntryId, place: usize) -> bool {
        let branches = transcript.branches();
        let limit = match branches.of(id).filter(|_| branches.abandoned.contains(&id)) {
            Some(branch) => self.left.get(&branch.number).copied(),
            None => self.active,
        };
        limit.is_some_and(|limit| place <= limit)
    }
}

/// The effect of a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) id: EntryId,
    /// Position of the compaction.
    pub(crate) place: usize,
    /// Position from which on it kept earlier entries.
    pub(crate) kept: Option<usize>,
}

/// The context at an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sight {
    lane: Option<Name>,
    /// Position of the entry.
    at: usize,
    /// Whether the entry itself was part of the prompt; an answer was not.
    is_own: bool,
    path: BranchPath,
    /// The last compaction that had taken effect.
    pub(crate) cut: Option<Cut>,
}

impl Sight {
    /// What the model saw when it wrote an answer; for other entries, what it saw together with
    /// them.
    pub(crate) fn at(transcript: &Transcript, cuts: &Cuts, id: EntryId) -> Option<Self> {
        let at = transcript.place_of(id)?;
        let entry = transcript.get(id)?;
        let path = BranchPath::to(transcript, id);
        let is_own = entry.role != Role::Assistant;
        let writes_summary_of = requesting_compaction(transcript, entry).map(|asked| &asked.key);
        let end = at + usize::from(is_own);
        let cut = cuts.before(entry.lane.as_ref(), end).find(|(place, id)| {
            let key = transcript.get(*id).map(|cut| &cut.key);
            path.contains(transcript, *id, *place) && key != writes_summary_of
        });
        let kept = |id, place| kept_from(transcript, &transcript.get(id)?.key, place);
        let cut = cut.map(|(place, id)| Cut {
            id,
            place,
            kept: kept(id, place),
        });
        Some(Self {
            lane: entry.lane.clone(),
            at,
            is_own,
            path,
            cut,
        })
    }

    /// Whether the model saw an entry.
    pub(crate) fn sees(&self, transcript: &Transcript, id: EntryId, place: usize) -> bool {
        let is_before = place < self.at || (place == self.at && self.is_own);
        let Some(entry) = transcript
            .get(id)
            .filter(|entry| is_before && entry.lane == self.lane)
        else {
            return false;
        };
        let is_left = self.cut.is_some_and(|cut| {
            place < cut.place && (cut.kept.is_none_or(|kept| place < kept) || entry.is_compaction())
        });
        !is_left
            && !entry.marks.copy
            && !entry.marks.unsent
            && self.path.contains(transcript, id, place)
    }

    /// Whether an entry before this one in its lane was not seen any more, or never. Copies do not
    /// count.
    pub(crate) fn has_lost(&self, transcript: &Transcript, id: EntryId) -> bool {
        let Some(place) = transcript.place_of(id).filter(|place| *place < self.at) else {
            return false;
        };
        let is_concerned = transcript
            .get(id)
            .is_some_and(|entry| entry.lane == self.lane && !entry.marks.copy);
        is_concerned && !self.sees(transcript, id, place)
    }

    /// All entries that the model saw: the summary first, then what was kept, then the rest in
    /// order.
    pub(crate) fn entries(&self, transcript: &Transcript) -> Vec<EntryId> {
        let first = self
            .cut
            .map_or(0, |cut| cut.kept.unwrap_or(cut.place).min(cut.place));
        let order = transcript
            .order()
            .iter()
            .enumerate()
            .take(self.at + 1)
            .skip(first);
        let seen = order.filter(|(place, id)| self.sees(transcript, **id, *place));
        let rest = seen
            .map(|(_, id)| *id)
            .filter(|id| self.cut.is_none_or(|cut| cut.id != *id));
        let summary = self.cut.map(|cut| cut.id);
        summary.into_iter().chain(rest).collect()
    }
}

/// Position from which on a compaction kept earlier entries, as recorded. The first kept record may
/// be a result, which is kept together with the answer that holds its call.
pub(crate) fn kept_from(transcript: &Transcript, compaction: &Key, place: usize) -> Option<usize> {
    let mut key = transcript.print_of(transcript.first_kept(compaction)?);
    for _ in 0..FAR {
        if let Some(id) = transcript.find_print(key) {
            return transcript.place_of(id).filter(|kept| *kept < place);
        }
        key = transcript.parent_of(key)??;
    }
    None
}

#[cfg(test)]
mod tests;
