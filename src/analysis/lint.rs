//! The lint: defects of a session's calls and results, and how a provider would respond to them.
//!
//! A rule belongs to a group; a group is a file that judges one entry at a time. All groups are in
//! [`GROUPS`]: a new rule is a `Rule` in its group, a new group one line there.
//!
//! Work is counted in steps, not in entries, because an entry may have any number of blocks and
//! links: [`Findings`] has a queue of entries and stops within it once the steps of a frame are
//! used up. Lookups by id, positions and paths along links are cached, and an entry is judged again
//! only if something that it depends on changes; tests limit the steps per record.
//!
//! A finding depends only on what is in memory: facts about bodies are extracted when they are
//! decoded (`model::body_flags`), so that findings do not depend on how a session was read.
//!
//! Invariant: judging an entry reads that entry and entries that it registers as dependencies
//! ([`LintScene::depend_on`]), so findings can be kept up to date while a session grows ([`Findings`]).

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
pub(crate) use alike::{Alike, group_findings};
pub use findings::{Counts, Findings};
pub(crate) use provider::Provider;
pub(crate) use scene::LintScene;

use crate::model::body::Key;
use crate::model::entry::EntryId;
use crate::model::record::Origin;

/// A rule of the lint.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The id of the rule; never changes.
    pub id: &'static str,
    /// The highest severity of its findings.
    pub severity: Severity,
    /// Description of its findings.
    pub what: &'static str,
    pub(crate) consequence: Consequence,
}

/// What follows from a defect that nothing makes harmless.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Consequence {
    /// No provider checks it.
    Words(&'static str),
    /// Providers refuse the history, because a call has no result.
    Unanswered,
    /// They refuse it, because a result has no call.
    Uncalled,
    /// They refuse it, because a call has two results.
    Twice,
    /// They refuse it, because a call has no id.
    Nameless,
    /// Some refuse it, because two calls have one id.
    Reused,
}

/// Rules that are checked in one pass over an entry.
pub struct RuleGroup {
    pub(crate) rules: &'static [&'static Rule],
    /// Checks the rules on an entry.
    pub(crate) judge: fn(&mut LintScene<'_>),
}

/// All groups, in the order of listings.
pub const GROUPS: &[RuleGroup] = &[
    pairs::GROUP,
    ids::GROUP,
    results::GROUP,
    order::GROUP,
    stops::GROUP,
    work::GROUP,
];

/// All rules, in the order of listings.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    GROUPS.iter().flat_map(|group| group.rules.iter().copied())
}

/// A finding of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that found it.
    pub rule: &'static Rule,
    /// Its severity here, at most that of the rule.
    pub severity: Severity,
    /// The entry in which it was found.
    pub entry: EntryId,
    /// The index of the block.
    pub block: usize,
    /// The id of the call; empty if there is none.
    pub(crate) call: Key,
    /// The record with the defect.
    pub(crate) place: Origin,
    pub(crate) others: Vec<EntryId>,
    /// Description of the defect.
    pub(crate) message: String,
    /// The provider whose API the history would be sent to.
    pub(crate) provider: Provider,
    /// Why the provider would not reject the history; `None` if it would.
    pub(crate) harmless: Option<Harmless>,
}

/// Why a provider does not reject a history that breaks its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Harmless {
    /// The branch was abandoned.
    Abandoned,
    /// A later compaction removed it from the history.
    Compacted,
    /// A later request was answered.
    Answered,
}

impl Finding {
    /// Whether a call has no result, or a result no call.
    pub(crate) fn is_orphan(&self) -> bool {
        matches!(self.rule.id, "orphan-call" | "orphan-result")
    }

    /// The provider's response to a history with this defect, or another consequence.
    pub(crate) fn consequence(&self) -> String {
        answers::consequence(self)
    }
}

/// The name of a severity in outputs.
pub fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

#[cfg(test)]
mod tests;
