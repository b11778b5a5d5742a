//! One entry as the rules see it, with what they may ask about the rest of the session.

use std::collections::BTreeSet;

use super::provider::Provider;
use super::{Finding, Rule};
use crate::model::body::Key;
use crate::model::edit::Severity;
use crate::model::entry::{BlockKind, Entry, EntryId, Role};
use crate::model::fingerprint::Print;
use crate::model::pairing::is_textual;
use crate::model::record::Origin;
use crate::model::tool::{ToolCall, ToolResult, ToolState};
use crate::model::transcript::Transcript;

/// More links or entries than these are not followed: a longer way is no evidence.
const FAR: usize = 10_000;

/// What holds for the whole session while its entries are judged.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    /// Place of the newest turn in the order.
    pub(super) newest_turn: usize,
    /// Whether the session has ended.
    pub(super) has_ended: bool,
    /// Where the history was shortened.
    pub(super) compactions: BTreeSet<(Origin, EntryId)>,
}

/// An entry before the rules.
pub struct Scene<'a> {
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
    /// Entries that the judgement depends on.
    pub(super) seen: BTreeSet<EntryId>,
    /// Whether the judgement may be another one as soon as the session goes on.
    pub(super) may_change: bool,
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
    /// Calls as the provider saw them: those that were written into prose, or are told by a log for readers,
    /// have no ids of their own and prove nothing.
    pub(super) fn calls(&self) -> Vec<Asked<'a>> {
        let calls = self.entry.blocks.iter().enumerate().filter_map(|(block, one)| match &one.kind {
            BlockKind::Call(call) if has_own_id(call) => Some(Asked { block, call }),
            _ => None,
        });
        calls.collect()
    }

    /// Results, with their calls or without.
    pub(super) fn results(&self) -> Vec<Given<'a>> {
        let given = self.entry.blocks.iter().enumerate().filter_map(|(block, one)| match &one.kind {
            BlockKind::Call(call) if has_own_id(call) => {
                let result = call.state.result()?;
                Some(Given { block, id: &call.key, call: Some(&**call), result })
            }
            BlockKind::Result(stray) => {
                Some(Given { block, id: &stray.call, call: None, result: &stray.result })
            }
            _ => None,
        });
        given.collect()
    }

    /// Whether the session left the entry behind, so that no provider sees it any more.
    pub(super) fn is_abandoned(&self) -> bool {
        self.transcript.branches().abandoned.contains(&self.id)
    }

    /// Whether a call without a result may still get one: in the newest turn of a session that goes on,
    /// as long as the model has not answered without it.
    pub(super) fn may_go_on(&mut self, call: &ToolCall) -> bool {
        let waits = self.place >= self.frame.newest_turn && !self.frame.has_ended && !self.is_abandoned();
        let goes_on = waits && (call.state != ToolState::Pending || !self.is_answered_without());
        self.may_change |= goes_on;
        goes_on
    }

    /// Whether the model answered again after this entry, in the same lane.
    fn is_answered_without(&mut self) -> bool {
        let after = self.next_entries().find(|(_, entry)| {
            entry.role == Role::Assistant && !entry.marks.copy && entry.lane == self.entry.lane
        });
        let after = after.map(|(id, _)| id);
        after.inspect(|id| self.looked_at(*id)).is_some()
    }

    /// The entries that follow, with their numbers.
    pub(super) fn next_entries(&self) -> impl Iterator<Item = (EntryId, &'a Entry)> + use<'a> {
        let transcript = self.transcript;
        let after = transcript.order().get(self.place + 1..).unwrap_or_default();
        after.iter().take(FAR).filter_map(|id| Some((*id, transcript.get(*id)?)))
    }

    /// Notes that the judgement depends on another entry.
    pub(super) fn looked_at(&mut self, other: EntryId) {
        self.seen.insert(other);
    }

    /// Keys of the records from a result up to the entry of its call, that one left out; `Err` if the links
    /// lead past it to the root. Nothing if the links do not tell.
    pub(super) fn chain_to(&mut self, result: &Key, call: &Key) -> Option<Result<Vec<Print>, ()>> {
        if !self.transcript.is_linked_tree() {
            return None;
        }
        let call = self.transcript.print_of(call);
        let mut chain = Vec::new();
        let mut at = Some(self.transcript.print_of(result));
        while let Some(key) = at {
            let Some(parent) = self.transcript.parent_of(key) else {
                // A record that is missing may still come.
                self.may_change = true;
                return None;
            };
            if parent == Some(call) {
                return Some(Ok(chain));
            }
            if chain.len() >= FAR {
                return None;
            }
            chain.extend(parent);
            at = parent;
        }
        // A root may be told with its parent.
        if let Some(root) = chain.pop().and_then(|root| self.transcript.find_print(root)) {
            self.looked_at(root);
        }
        Some(Err(()))
    }

    /// Whose API the entry's history goes to.
    pub(super) fn provider(&self, call: &Key) -> Provider {
        let model = self.entry.model.as_ref().or(self.transcript.meta().model.as_ref());
        Provider::of(model, call)
    }

    /// Begins a finding at a block.
    pub(super) fn found(&self, rule: &'static Rule, block: usize, call: &Key, place: Origin) -> Finding {
        // What the session left behind is sent to nobody.
        let severity = if self.is_abandoned() { Severity::Note } else { rule.severity };
        Finding {
            rule,
            severity,
            entry: self.id,
            block,
            call: call.clone(),
            place,
            others: Vec::new(),
            message: String::new(),
            provider: self.provider(call),
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

fn has_own_id(call: &ToolCall) -> bool {
    !is_textual(&call.key) && !call.input.signs.unnamed
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
