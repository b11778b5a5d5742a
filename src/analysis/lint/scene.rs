//! An entry under judgement, with the queries that rules may make about the rest of the session.

use std::collections::BTreeSet;

use super::dependents::Dependency;
use super::links::{Above, LinkCache, has_user_message};
use super::provider::Provider;
use super::{Finding, Harmless, Rule};
use crate::analysis::calls::awaited::Awaited;
use crate::model::body::Key;
use crate::model::edit::Severity;
use crate::model::entry::glance::CompactionKind;
use crate::model::entry::{BlockKind, Break, Entry, EntryId, Role};
use crate::model::fingerprint::Print;
use crate::model::record::Origin;
use crate::model::text::Name;
use crate::model::tool::is_textual;
use crate::model::tool::{ToolCall, ToolResult};
use crate::model::transcript::Transcript;

/// Limit of following entries that are searched: farther ones are no evidence.
const FAR: usize = 10_000;
/// Limit of links that are followed one by one; longer chains use [`LinkCache`].
const NEAR: usize = 64;
/// Limit of involved entries in a finding.
pub(super) const OTHERS: usize = 8;

/// State of the whole session while its entries are judged.
#[derive(Clone, Debug, Default)]
pub(super) struct LintState {
    /// Which calls may still get their results.
    pub(super) awaited: Awaited,
    /// The first model of the session, which determines the provider of entries without a model.
    /// The last one may change with each answer.
    pub(super) model: Option<Name>,
    pub(super) compactions: BTreeSet<(Origin, EntryId)>,
}

/// An entry under judgement.
pub(crate) struct LintScene<'a> {
    pub(super) transcript: &'a Transcript,
    pub(super) entry: &'a Entry,
    pub(super) id: EntryId,
    /// Position of the entry in the order.
    pub(super) place: usize,
    pub(super) frame: &'a LintState,
    pub(super) findings: Vec<Finding>,
    /// Dependencies of the judgement.
    pub(super) depends_on: BTreeSet<Dependency>,
    pub(super) memory: &'a mut Memory,
}

/// State that is shared by the judgements of successive entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// Steps taken so far: entries and blocks read, links followed.
    pub(super) work: usize,
    links: LinkCache,
}

/// What is on the chain of links between a result and the entry of its call.
#[derive(Debug, Default)]
pub(super) struct ParentChain {
    pub(super) user_messages: Vec<EntryId>,
    /// A compaction that does not record what it kept.
    pub(super) compaction: Option<EntryId>,
}

#[derive(Clone, Copy)]
pub(super) struct CallWithBlock<'a> {
    pub(super) block: usize,
    pub(super) call: &'a ToolCall,
}

/// A result with its call, if that is found.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) block: usize,
    pub(super) id: &'a Key,
    pub(super) call: Option<&'a ToolCall>,
    pub(super) result: &'a ToolResult,
}

impl<'a> LintScene<'a> {
    /// The calls with ids of their own. Calls in prose, or from a log for humans, have none and
    /// prove nothing.
    pub(super) fn calls(&self) -> Vec<CallWithBlock<'a>> {
        self.entry
            .numbered_calls()
            .filter(|(_, call)| has_own_id(call))
            .map(|(block, call)| CallWithBlock { block, call })
            .collect()
    }

    /// The results, with or without calls.
    pub(super) fn results(&self) -> Vec<Given<'a>> {
        let given = self
            .entry
            .blocks
            .iter()
            .enumerate()
            .filter_map(|(block, one)| match &one.kind {
                BlockKind::Call(call) if has_own_id(call) => {
                    let result = call.state.result()?;
                    Some(Given {
                        block,
                        id: &call.key,
                        call: Some(&**call),
                        result,
                    })
                }
                BlockKind::Result(stray) => Some(Given {
                    block,
                    id: &stray.call,
                    call: None,
                    result: &stray.result,
                }),
                _ => None,
            });
        given.collect()
    }

    /// Whether the entry is on an abandoned branch, which no provider sees.
    pub(super) fn is_abandoned(&self) -> bool {
        self.transcript.branches().abandoned.contains(&self.id)
    }

    /// Whether calls of the entry without results may still get them.
    pub(super) fn may_get_results(&mut self) -> bool {
        let goes_on = self.frame.awaited.has(self.transcript, self.id);
        if goes_on {
            self.wait_for(Dependency::Answer(self.entry.lane.clone()));
        }
        goes_on
    }

    /// How the session continued after the entry, with an answer or a compaction, so that a missing
    /// result is harmless: agents repair a history before they send it.
    pub(super) fn harmless_reason(&mut self) -> Option<Harmless> {
        let found = self
            .next_in_lane()
            .filter(|(_, entry)| !entry.marks.copy)
            .find_map(|(id, entry)| {
                let is_answer = entry.role == Role::Assistant
                    && entry.has(|kind| {
                        matches!(
                            kind,
                            BlockKind::Text(_) | BlockKind::Thinking(_) | BlockKind::Call(_)
                        )
                    })
                    && !entry.has(|kind| matches!(kind, BlockKind::Break(Break::Error(_))));
                let how = match (entry.is_compaction(), is_answer) {
                    (true, _) => Harmless::Compacted,
                    (false, true) => Harmless::Answered,
                    (false, false) => return None,
                };
                Some((id, how))
            });
        let Some((id, how)) = found else {
            self.wait_for(Dependency::Answer(self.entry.lane.clone()));
            return None;
        };
        self.depend_on_following(id);
        Some(how)
    }

    /// The following entries of the same lane.
    pub(super) fn next_in_lane(&self) -> impl Iterator<Item = (EntryId, &'a Entry)> + use<'a> {
        self.transcript.following_in_lane(self.id, FAR)
    }

    /// Registers a dependency on a following entry, and counts the entries up to it.
    pub(super) fn depend_on_following(&mut self, id: EntryId) {
        let place = self.transcript.place_of(id).unwrap_or(self.place);
        self.memory.work += place.saturating_sub(self.place);
        self.depend_on(id);
    }

    /// Registers a dependency on a future event; a new turn always ends the wait.
    pub(super) fn wait_for(&mut self, what: Dependency) {
        self.depends_on.extend([what, Dependency::Turn]);
    }

    /// Registers a dependency on a missing record.
    pub(super) fn depend_on_missing(&mut self, record: Print) {
        self.depends_on.insert(Dependency::Record(record));
    }

    /// Registers a dependency on another entry.
    pub(super) fn depend_on(&mut self, other: EntryId) {
        self.memory.work += 1;
        self.depends_on.insert(Dependency::Entry(other));
    }

    /// The last earlier entry of the lane with a call of this id. Copies and abandoned entries are
    /// skipped: they are in other requests.
    pub(super) fn earlier_caller(&mut self, call: &Key) -> Option<EntryId> {
        let transcript = self.transcript;
        let callers = transcript.several_with_call(call, self.entry.lane.as_ref());
        let before = callers
            .get(..callers.partition_point(|id| *id < self.id))
            .unwrap_or_default();
        for id in before.iter().rev().copied() {
            self.depend_on(id);
            if self.is_abandoned() {
                return None;
            }
            if counts(transcript, id) {
                return Some(id);
            }
        }
        None
    }

    /// The entry with a call of this id that is nearest to a result: the last one before it,
    /// otherwise the first one.
    pub(super) fn nearest_caller(&mut self, call: &Key) -> Option<EntryId> {
        let callers = self.transcript.entries_with_call(call);
        let before = callers.partition_point(|id| *id <= self.id);
        let nearest = callers.get(before.saturating_sub(1)).copied()?;
        self.depend_on(nearest);
        Some(nearest)
    }

    /// Follows the links of a result: `Ok` if they lead to the entry of its call, `Err` if they
    /// lead past it to the root. `None` if the links do not determine it; where not all records are
    /// linked, only a chain to the call is evidence.
    pub(super) fn path_to_call(
        &mut self,
        result: &Key,
        call: &Key,
    ) -> Option<Result<ParentChain, ()>> {
        // Without links each result would wait for a record that never comes.
        if !self.transcript.has_links() {
            return None;
        }
        let way = self.near_path(
            self.transcript.print_of(result),
            self.transcript.print_of(call),
        );
        way.filter(|way| way.is_ok() || self.transcript.is_linked_tree())
    }

    fn near_path(&mut self, result: Print, call: Print) -> Option<Result<ParentChain, ()>> {
        let mut way = ParentChain::default();
        let mut at = result;
        for _ in 0..NEAR {
            self.memory.work += 1;
            let Some(parent) = self.transcript.parent_of(at) else {
                self.depend_on_missing(at);
                return None;
            };
            match parent {
                Some(parent) if parent == call => return Some(Ok(way)),
                Some(parent) => at = parent,
                None => {
                    self.depend_on_root(Some(at).filter(|root| *root != result));
                    return Some(Err(()));
                }
            }
            if has_user_message(self.transcript, at) && way.user_messages.len() < OTHERS {
                way.user_messages.extend(self.transcript.find_print(at));
            }
            way.compaction = way.compaction.or_else(|| self.compaction_at(at));
        }
        self.far_path(result, call)
    }

    /// The compaction in a record, if it does not record what it kept.
    fn compaction_at(&self, record: Print) -> Option<EntryId> {
        let id = self.transcript.find_print(record)?;
        let is_whole = self.transcript.glance(id)?.compaction == CompactionKind::Whole;
        let keeps_unknown = || {
            Some(
                self.transcript
                    .first_kept(&self.transcript.get(id)?.key)
                    .is_none(),
            )
        };
        (is_whole && keeps_unknown()?).then_some(id)
    }

    fn far_path(&mut self, result: Print, call: Print) -> Option<Result<ParentChain, ()>> {
        let Memory { links, work, .. } = &mut *self.memory;
        let step = match links.trace_to_root(self.transcript, result, work) {
            Above::Rooted(step) => step,
            Above::Broken(missing) => {
                self.depend_on_missing(missing);
                return None;
            }
            Above::Circle => return None,
        };
        links.trace_to_root(self.transcript, call, work);
        if !links.is_ancestor(call, result, work) {
            self.depend_on_root(Some(step.root));
            return Some(Err(()));
        }
        let said = links.user_messages_between(call, result, OTHERS);
        let said = said
            .into_iter()
            .filter_map(|record| self.transcript.find_print(record))
            .collect();
        Some(Ok(ParentChain {
            user_messages: said,
            compaction: None,
        }))
    }

    /// Whether a record is an ancestor of another, within [`NEAR`] links.
    pub(super) fn is_ancestor(&mut self, upper: &Key, lower: &Key) -> bool {
        let (upper, lower) = (
            self.transcript.print_of(upper),
            self.transcript.print_of(lower),
        );
        let above = |at: &Print| self.transcript.parent_of(*at).flatten();
        let mut way = std::iter::successors(above(&lower), above).take(NEAR);
        let steps = way.position(|at| at == upper);
        self.memory.work += steps.unwrap_or(NEAR);
        steps.is_some()
    }

    /// Registers a dependency on a root, which may get a parent later.
    fn depend_on_root(&mut self, root: Option<Print>) {
        if let Some(root) = root.and_then(|root| self.transcript.find_print(root)) {
            self.depend_on(root);
        }
    }

    /// The provider that the entry's history is sent to.
    pub(super) fn provider(&self, call: &Key) -> Provider {
        let model = self.entry.model.as_ref().or(self.frame.model.as_ref());
        Provider::of(model, call)
    }

    /// A new finding at a block, without a message.
    pub(super) fn new_finding(
        &self,
        rule: &'static Rule,
        block: usize,
        call: &Key,
        place: Origin,
        message: String,
    ) -> Finding {
        // Abandoned entries are sent to no provider.
        let harmless = self.is_abandoned().then_some(Harmless::Abandoned);
        Finding {
            rule,
            severity: if harmless.is_some() {
                Severity::Note
            } else {
                rule.severity
            },
            entry: self.id,
            block,
            call: call.clone(),
            place,
            others: Vec::new(),
            message,
            provider: self.provider(call),
            harmless,
        }
    }

    /// A finding about a call, at its record.
    pub(super) fn of_call(
        &self,
        rule: &'static Rule,
        CallWithBlock { block, call }: CallWithBlock<'_>,
        message: String,
    ) -> Finding {
        self.new_finding(rule, block, &call.key, call.input.from, message)
    }

    /// A finding about a result, at its record.
    pub(super) fn of_result(
        &self,
        rule: &'static Rule,
        given: Given<'_>,
        message: String,
    ) -> Finding {
        self.new_finding(rule, given.block, given.id, given.result.body.from, message)
    }

    pub(super) fn add_call(
        &mut self,
        rule: &'static Rule,
        asked: CallWithBlock<'_>,
        message: String,
    ) {
        self.findings.push(self.of_call(rule, asked, message));
    }

    pub(super) fn add_result(&mut self, rule: &'static Rule, given: Given<'_>, message: String) {
        self.findings.push(self.of_result(rule, given, message));
    }
}

/// Whether an entry is part of requests: copies and abandoned entries are not.
pub(super) fn counts(transcript: &Transcript, id: EntryId) -> bool {
    let is_copy = transcript.marks(id).is_none_or(|marks| marks.copy);
    !is_copy && !transcript.branches().abandoned.contains(&id)
}

fn has_own_id(call: &ToolCall) -> bool {
    !is_textual(&call.key) && !call.input.flags.unnamed
}

/// The name of a call in messages: `bash (toolu_01)`.
pub(super) fn call_name(call: &ToolCall) -> String {
    match (call.name.is_blank(), call.key.is_blank()) {
        (false, false) => format!("{} ({})", call.name, call.key),
        (false, true) => call.name.to_string(),
        (true, false) => call.key.to_string(),
        (true, true) => "a call without a name".to_owned(),
    }
}

/// The name of a result in messages: that of its call, otherwise its id.
pub(super) fn result_name(given: Given<'_>) -> String {
    match (given.call, &given.result.tool) {
        (Some(call), _) => call_name(call),
        (None, Some(tool)) => format!("{tool} ({})", given.id),
        (None, None) => given.id.to_string(),
    }
}
