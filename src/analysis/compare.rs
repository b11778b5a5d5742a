//! Compares an abandoned branch with the active path.

use std::collections::HashSet;

use super::account::PathFacts;
use super::calls::{Place, likeness_of};
use crate::model::branches::Branch;
use crate::model::entry::{BlockKind, Entry, EntryId};
use crate::model::fingerprint::hash_of;
use crate::model::transcript::Transcript;

/// The entries of a branch that are not on the active path; valid until the branches change.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sides {
    /// The last common entry; `None` if nothing is shared.
    pub(crate) common: Option<EntryId>,
    /// Entries only of the branch.
    own: Vec<EntryId>,
    /// Entries of the active path that existed when the branch was abandoned.
    seen: HashSet<EntryId>,
}

/// The comparison of both sides after the last common entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct ComparedSides {
    /// What only the branch has.
    pub(crate) branch: PathFacts,
    /// What only the active path has.
    pub(crate) active: PathFacts,
    /// Number of equal prompts and calls before the first that differs.
    pub(crate) same: usize,
    /// The first prompt or call that differs, on the branch and on the active path; `None` where a
    /// side ends.
    pub(crate) differs: [Option<Place>; 2],
}

impl Sides {
    /// The sides of a branch by its number.
    pub(crate) fn of(transcript: &Transcript, number: usize) -> Option<Self> {
        let branches = transcript.branches();
        let branch = branches.list.get(number.checked_sub(1)?)?;
        let seen = transcript.visible_on_branch(number)?;
        let is_left = |id: &EntryId| branches.abandoned.contains(id);
        Some(Self {
            common: common(transcript, branch),
            own: seen.iter().copied().filter(is_left).collect(),
            seen: seen.into_iter().filter(|id| !is_left(id)).collect(),
        })
    }

    /// Compares the sides in the current state of the session.
    pub(crate) fn compare(&self, transcript: &Transcript) -> ComparedSides {
        let abandoned = &transcript.branches().abandoned;
        let since = self
            .common
            .and_then(|id| transcript.place_of(id))
            .map_or(0, |place| place + 1);
        let after = transcript.order().get(since..).unwrap_or_default();
        let active: Vec<EntryId> = after
            .iter()
            .copied()
            .filter(|id| !abandoned.contains(id) && !self.seen.contains(id))
            .filter(|id| {
                transcript
                    .get(*id)
                    .is_some_and(|entry| entry.lane.is_none())
            })
            .collect();
        let facts =
            |ids: &[EntryId]| PathFacts::of(ids.iter().filter_map(|id| transcript.get(*id)));
        let mut ours = steps(transcript, &self.own);
        let mut theirs = steps(transcript, &active);
        let mut same = 0;
        let differs = loop {
            match (ours.next(), theirs.next()) {
                (Some((our, _)), Some((their, _))) if our == their => same += 1,
                (our, their) => break [our, their].map(|step| step.map(|(_, place)| place)),
            }
        };
        ComparedSides {
            branch: facts(&self.own),
            active: facts(&active),
            same,
            differs,
        }
    }
}

/// The last entry that a branch shares with the active path; the branch may start from another
/// branch.
fn common(transcript: &Transcript, branch: &Branch) -> Option<EntryId> {
    let branches = transcript.branches();
    let mut point = branch.point?;
    for _ in 0..=branches.list.len() {
        match branches.of(point) {
            Some(above) => point = above.point?,
            None => return Some(point),
        }
    }
    None
}

fn steps<'a>(
    transcript: &'a Transcript,
    ids: &'a [EntryId],
) -> impl Iterator<Item = (u64, Place)> + 'a {
    let entries = ids
        .iter()
        .filter_map(|id| Some((*id, transcript.get(*id)?)));
    entries
        .filter(|(_, entry)| !entry.marks.copy)
        .flat_map(|(id, entry)| {
            let steps = entry
                .blocks
                .iter()
                .enumerate()
                .filter_map(move |(block, one)| {
                    let likeness = match &one.kind {
                        BlockKind::Text(body)
                            if entry.marks.prompt && is_first_text(entry, block) =>
                        {
                            hash_of(&(&body.stub, body.bytes, body.lines))
                        }
                        BlockKind::Call(call) => likeness_of(call),
                        _ => return None,
                    };
                    Some((likeness, Place { entry: id, block }))
                });
            steps.collect::<Vec<_>>()
        })
}

fn is_first_text(entry: &Entry, block: usize) -> bool {
    entry
        .blocks
        .iter()
        .position(|one| matches!(one.kind, BlockKind::Text(_)))
        == Some(block)
}

#[cfg(test)]
mod tests;
