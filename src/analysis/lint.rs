//! The lint: what is wrong with a session's calls and results, and what a provider would answer to it.
//!
//! A rule belongs to a group; a group is a file that looks at one entry at a time and says what it finds.
//! All groups stand in [`GROUPS`]: a new rule is a `Rule` in its group, a new group one line there.
//!
//! **Work is counted in steps, not in entries.** The lint is a queue of entries to be judged and stops in the middle
//! of it when a frame's steps are taken (`analysis::lint`); the other indexes take in as many entries as are no more
//! work than a number of plain ones (`model::transcript::Transcript::portion`). Who has an id, who waits for a result
//! and where the blocks of a large entry stand is remembered, ways along links are walked once, and an entry is
//! judged again only for what it waits for: tests hold the number of steps for a record, whatever repeats.
//!
//! **A finding is judged from what stays in memory.** What the lint must know of bodies is read off when they are
//! decoded (`model::body_flags`), so it needs no second look at the disk and finds the same in a session that is read
//! whole and in one that grows; each judgement names the entries that it looked at (`analysis::lint`).
//!
//! Invariant: judging an entry looks at that entry and at entries that it names as such
//! ([`Scene::looked_at`]), so findings can be kept up to date while a session grows ([`Findings`]).

mod alike;
mod answers;
mod dependents;
mod findings;
mod ids;
mod links;
mod order;
mod pairs;
mod provider;
mod results;
mod scene;
mod stops;
mod work;

pub use crate::model::edit::Severity;
pub(crate) use alike::{Alike, alike};
pub use findings::{Counts, Findings};
pub(crate) use provider::Provider;
pub(crate) use scene::Scene;

use crate::model::body::Key;
use crate::model::entry::EntryId;
use crate::model::record::Origin;

/// A rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name; never changes.
    pub id: &'static str,
    /// How bad a finding is at worst.
    pub severity: Severity,
    /// What it finds, in plain words.
    pub what: &'static str,
}

/// Rules that one look at an entry serves.
pub struct Group {
    /// The rules.
    pub(crate) rules: &'static [&'static Rule],
    /// Looks at an entry.
    pub(crate) judge: fn(&mut Scene<'_>),
}

/// All rules by group, in the order in which they are listed.
pub const GROUPS: &[Group] = &[
    pairs::GROUP,
    ids::GROUP,
    results::GROUP,
    order::GROUP,
    stops::GROUP,
    work::GROUP,
];

/// All rules.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    GROUPS.iter().flat_map(|group| group.rules.iter().copied())
}

/// Something that a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// How bad it is here.
    pub severity: Severity,
    /// The entry.
    pub entry: EntryId,
    /// The block of the entry.
    pub block: usize,
    /// The id of the call; empty if there is none.
    pub(crate) call: Key,
    /// The record that shows it.
    pub(crate) place: Origin,
    /// Other entries that are involved.
    pub(crate) others: Vec<EntryId>,
    /// What is wrong, in plain words.
    pub(crate) message: String,
    /// Whose API the history would be sent to.
    pub(crate) provider: Provider,
    /// Why no provider complains all the same.
    pub(crate) harmless: Option<Harmless>,
}

/// Why no provider complains of a history that breaks its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Harmless {
    /// The session left that branch.
    Abandoned,
    /// A later compaction took it out of the history.
    Compacted,
    /// The model was asked again after it, and answered.
    Answered,
}

impl Finding {
    /// Whether a call or a result has lost its other half.
    pub(crate) fn is_orphan(&self) -> bool {
        matches!(self.rule.id, "orphan-call" | "orphan-result")
    }

    /// What the provider would answer to a history with this in it, or what follows otherwise.
    pub(crate) fn consequence(&self) -> String {
        answers::consequence(self)
    }
}

/// The word for a severity in outputs.
pub fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

#[cfg(test)]
mod tests;
