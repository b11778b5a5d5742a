//! Abandoned branches: their heads, and the entries hidden by their folds.

use std::collections::HashSet;

use super::folds::Folds;
use super::viewport::Focus;
use crate::model::branches::Branch;
use crate::model::entry::EntryId;
use crate::model::transcript::Transcript;

/// A branch and all branches nested in it.
fn with_nested<'a>(transcript: &'a Transcript, branch: &'a Branch) -> Vec<&'a Branch> {
    let mut found = vec![branch];
    let mut next = 0;
    while let Some(above) = found.get(next).copied() {
        let list = transcript.branches().list.iter();
        let within = list.filter(|one| one.parent == Some(above.number) && !found.contains(one));
        let within: Vec<&Branch> = within.collect();
        found.extend(within);
        next += 1;
    }
    found
}

/// The entries that folded branches hide: all except their heads.
pub(crate) fn hidden(transcript: &Transcript, folds: &Folds) -> HashSet<EntryId> {
    let branches = transcript.branches();
    let mut hidden = HashSet::new();
    for branch in branches
        .list
        .iter()
        .filter(|branch| folds.branches.contains(&branch.number))
    {
        let entries = with_nested(transcript, branch)
            .into_iter()
            .flat_map(|one| one.entries.iter().copied());
        let head = branches.head(branch);
        hidden.extend(entries.filter(|id| branches.abandoned.contains(id) && Some(*id) != head));
    }
    hidden
}

/// The head of a branch, to jump to.
pub(crate) fn head_of(transcript: &Transcript, number: usize) -> Option<Focus> {
    let branch = transcript.branches().list.get(number.checked_sub(1)?)?;
    Some(Focus {
        entry: transcript.branches().head(branch)?,
        block: 0,
    })
}
