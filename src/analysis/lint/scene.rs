//! One entry as the rules see it, with what they may ask about the rest of the session.

use std::collections::BTreeSet;

use super::dependents::Dependency;
use super::links::{Above, Links, is_said};
use super::provider::Provider;
use super::{Finding, Harmless, Rule};
use crate::analysis::calls::awaited::Awaited;
use crate::model::body::Key;
use crate::model::edit::Severity;
use crate::model::entry::glance::Compaction;
use crate::model::entry::{BlockKind, Break, Entry, EntryId, Role};
use crate::model::fingerprint::Print;
use crate::model::record::Origin;
use crate::model::text::Name;
use crate::model::tool::is_textual;
use crate::model::tool::{ToolCall, ToolResult};
use crate::model::transcript::Transcript;

/// More entries than these are not looked through: what is farther is no evidence.
const FAR: usize = 10_000;
/// So many links are walked; a longer way is known to [`Links`].
const NEAR: usize = 64;
/// Of others that are involved so many are named.
pub(super) const OTHERS: usize = 8;

/// What holds for the whole session while its entries are judged.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    /// Which calls may still get their results.
    pub(super) awaited: Awaited,
    /// The first model of the session: whose API it is as far as an entry says nothing of its own. The last one may
    /// be another with each answer.
    pub(super) model: Option<Name>,
    /// Where the history was shortened.
    pub(super) compactions: BTreeSet<(Origin, EntryId)>,
}

/// An entry before the rules.
pub(crate) struct Scene<'a> {
    /// The session.
    pub(super) transcript: &'a Transcript,
    /// The entry.
    pub(super) entry: &'a Entry,
    /// Its number.
    pub(super) id: EntryId,
    /// Its place in the order.
    pub(super) place: usize,
    /// What holds for the whole session.
    pub(super) frame: &'a Frame,
    /// What was found.
    pub(super) findings: Vec<Finding>,
    /// What the judgement depends on.
    pub(super) depends_on: BTreeSet<Dependency>,
    /// What is remembered from one entry to the next.
    pub(super) memory: &'a mut Memory,
}

/// What is remembered while entries are judged one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// Steps that judging took: entries and blocks that were looked at, links that were followed.
    pub(super) work: usize,
    links: Links,
}

/// What the links lead past between a result and the entry of its call.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// What the user said there.
    pub(super) said: Vec<EntryId>,
    /// Where the history was shortened, and it is not recorded what was kept of it.
    pub(super) compaction: Option<EntryId>,
}

/// A call with its place in the entry.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    /// The block.
    pub(super) block: usize,
    /// The call.
    pub(super) call: &'a ToolCall,
}

/// A result with the call that it answers, if that is known.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    /// The block.
    pub(super) block: usize,
    /// The id of the call.
    pub(super) id: &'a Key,
    /// The call.
    pub(super) call: Option<&'a ToolCall>,
    /// The result.
    pub(super) result: &'a ToolResult,
}

impl<'a> Scene<'a> {
    /// Calls as the provider saw them: those that were written into prose, or come from a log for readers,
    /// have no ids of their own and prove nothing.
    pub(super) fn calls(&self) -> Vec<Asked<'a>> {
        self.entry
            .numbered_calls()
            .filter(|(_, call)| has_own_id(call))
            .map(|(block, call)| Asked { block, call })
            .collect()
    }

    /// Results, with their calls or without.
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

    /// Whether the session left the entry behind, so that no provider sees it any more.
    pub(super) fn is_abandoned(&self) -> bool {
        self.transcript.branches().abandoned.contains(&self.id)
    }

    /// Whether calls of the entry that have no result may still get one.
    pub(super) fn may_go_on(&mut self) -> bool {
        let goes_on = self.frame.awaited.has(self.transcript, self.id);
        if goes_on {
            self.wait_for(Dependency::Answer(self.entry.lane.clone()));
        }
        goes_on
    }

    /// Whether the session went on after the entry with an answer or a compaction, so that what is missing in the entry
    /// stopped nothing: agents mend a history before they send it.
    pub(super) fn went_on(&mut self) -> Option<Harmless> {
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
        self.decided_by(id);
        Some(how)
    }

    /// The entries of the same lane that follow.
    pub(super) fn next_in_lane(&self) -> impl Iterator<Item = (EntryId, &'a Entry)> + use<'a> {
        self.transcript.behind_in_lane(self.id, FAR)
    }

    /// Notes that an entry that follows decided.
    pub(super) fn decided_by(&mut self, id: EntryId) {
        let place = self.transcript.place_of(id).unwrap_or(self.place);
        self.memory.work += place.saturating_sub(self.place);
        self.looked_at(id);
    }

    /// Notes what may come with which the judgement is another one, if no other turn does.
    pub(super) fn wait_for(&mut self, what: Dependency) {
        self.depends_on.extend([what, Dependency::Turn]);
    }

    /// Notes that the judgement may be another one with a record that is missing.
    pub(super) fn lacks(&mut self, record: Print) {
        self.depends_on.insert(Dependency::Record(record));
    }

    /// Notes that the judgement depends on another entry.
    pub(super) fn looked_at(&mut self, other: EntryId) {
        self.memory.work += 1;
        self.depends_on.insert(Dependency::Entry(other));
    }

    /// The nearest entry of the lane that has a call of this id, too, and comes before this one: copies and what the
    /// session left are in other requests.
    pub(super) fn earlier_caller(&mut self, call: &Key) -> Option<EntryId> {
        let transcript = self.transcript;
        let callers = transcript.several_with_call(call, self.entry.lane.as_ref());
        let before = callers
            .get(..callers.partition_point(|id| *id < self.id))
            .unwrap_or_default();
        for id in before.iter().rev().copied() {
            self.looked_at(id);
            if self.is_abandoned() {
                return None;
            }
            if counts(transcript, id) {
                return Some(id);
            }
        }
        None
    }

    /// The entry with a call of this id that a result stands nearest to: the last one before it, or the first one.
    pub(super) fn nearest_caller(&mut self, call: &Key) -> Option<EntryId> {
        let callers = self.transcript.entries_with_call(call);
        let before = callers.partition_point(|id| *id <= self.id);
        let nearest = callers.get(before.saturating_sub(1)).copied()?;
        self.looked_at(nearest);
        Some(nearest)
    }

    /// Where the links above a result lead: to the entry of its call, or past that to the root, which is `Err`.
    /// Nothing if the links do not show it; where not all records are linked, only a way to the call shows something.
    pub(super) fn way_to(&mut self, result: &Key, call: &Key) -> Option<Result<Way, ()>> {
        // Where nothing is linked each result would wait for a record that never comes.
        if !self.transcript.has_links() {
            return None;
        }
        let way = self.walk(
            self.transcript.print_of(result),
            self.transcript.print_of(call),
        );
        way.filter(|way| way.is_ok() || self.transcript.is_linked_tree())
    }

    fn walk(&mut self, result: Print, call: Print) -> Option<Result<Way, ()>> {
        let mut way = Way::default();
        let mut at = result;
        for _ in 0..NEAR {
            self.memory.work += 1;
            let Some(parent) = self.transcript.parent_of(at) else {
                self.lacks(at);
                return None;
            };
            match parent {
                Some(parent) if parent == call => return Some(Ok(way)),
                Some(parent) => at = parent,
                None => {
                    self.passed_to(Some(at).filter(|root| *root != result));
                    return Some(Err(()));
                }
            }
            if is_said(self.transcript, at) && way.said.len() < OTHERS {
                way.said.extend(self.transcript.find_print(at));
            }
            way.compaction = way.compaction.or_else(|| self.compaction_at(at));
        }
        self.far_way(result, call)
    }

    /// The compaction that a record is, if it does not say what it kept.
    fn compaction_at(&self, record: Print) -> Option<EntryId> {
        let id = self.transcript.find_print(record)?;
        let is_whole = self.transcript.glance(id)?.compaction == Compaction::Whole;
        let keeps_unknown = || {
            Some(
                self.transcript
                    .kept_by(&self.transcript.get(id)?.key)
                    .is_none(),
            )
        };
        (is_whole && keeps_unknown()?).then_some(id)
    }

    fn far_way(&mut self, result: Print, call: Print) -> Option<Result<Way, ()>> {
        let Memory { links, work, .. } = &mut *self.memory;
        let step = match links.above(self.transcript, result, work) {
            Above::Rooted(step) => step,
            Above::Broken(missing) => {
                self.lacks(missing);
                return None;
            }
            Above::Circle => return None,
        };
        links.above(self.transcript, call, work);
        if !links.is_above(call, result, work) {
            self.passed_to(Some(step.root));
            return Some(Err(()));
        }
        let said = links.said_between(call, result, OTHERS);
        let said = said
            .into_iter()
            .filter_map(|record| self.transcript.find_print(record))
            .collect();
        Some(Ok(Way {
            said,
            compaction: None,
        }))
    }

    /// Whether a record stands above another one, not far from it.
    pub(super) fn is_above(&mut self, upper: &Key, lower: &Key) -> bool {
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

    /// A root may be recorded with its parent.
    fn passed_to(&mut self, root: Option<Print>) {
        if let Some(root) = root.and_then(|root| self.transcript.find_print(root)) {
            self.looked_at(root);
        }
    }

    /// Whose API the entry's history goes to.
    pub(super) fn provider(&self, call: &Key) -> Provider {
        let model = self.entry.model.as_ref().or(self.frame.model.as_ref());
        Provider::of(model, call)
    }

    /// Begins a finding at a block.
    pub(super) fn found(
        &self,
        rule: &'static Rule,
        block: usize,
        call: &Key,
        place: Origin,
    ) -> Finding {
        // What the session left behind is sent to nobody.
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
            message: String::new(),
            provider: self.provider(call),
            harmless,
        }
    }

    /// Adds a finding about a call, at its record.
    pub(super) fn add_call(&mut self, rule: &'static Rule, asked: Asked<'_>, message: String) {
        let found = self.found(rule, asked.block, &asked.call.key, asked.call.input.from);
        self.findings.push(Finding { message, ..found });
    }

    /// Adds a finding about a result, at its record.
    pub(super) fn add_result(&mut self, rule: &'static Rule, given: Given<'_>, message: String) {
        let found = self.found(rule, given.block, given.id, given.result.body.from);
        self.findings.push(Finding { message, ..found });
    }
}

/// Whether an entry is part of what is sent: copies say what others say, and what the session left is gone.
pub(super) fn counts(transcript: &Transcript, id: EntryId) -> bool {
    let is_copy = transcript.marks(id).is_none_or(|marks| marks.copy);
    !is_copy && !transcript.branches().abandoned.contains(&id)
}

fn has_own_id(call: &ToolCall) -> bool {
    !is_textual(&call.key) && !call.input.flags.unnamed
}

/// A call as messages name it: `bash (toolu_01)`.
pub(super) fn named(call: &ToolCall) -> String {
    match (call.name.is_blank(), call.key.is_blank()) {
        (false, false) => format!("{} ({})", call.name, call.key),
        (false, true) => call.name.to_string(),
        (true, false) => call.key.to_string(),
        (true, true) => "a call without a name".to_owned(),
    }
}

/// A result as messages name it: by its call, else by its id.
pub(super) fn named_result(given: Given<'_>) -> String {
    match (given.call, &given.result.tool) {
        (Some(call), _) => named(call),
        (None, Some(tool)) => format!("{tool} ({})", given.id),
        (None, None) => given.id.to_string(),
    }
}
