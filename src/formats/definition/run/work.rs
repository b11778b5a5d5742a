//! States of calls, and the ends of background work.

use super::budget::LOOK;
use super::{DefinitionDecoder, EntryHead};
use crate::formats::definition::path::{PathScope, RecordPath, word_of};
use crate::formats::definition::rule::{EndRule, RecordRule};
use crate::formats::json::Json;
use crate::model::edit::Batch;
use crate::model::text::Text;
use crate::model::tool::ToolState;
use crate::model::tool::work::{Carrier, Update, WorkEnd, WorkReference};

/// The maximum length of the reason for the end of work, in characters.
const REASON: usize = 200;

impl DefinitionDecoder {
    /// Emits the states of calls.
    pub(super) fn states(&self, rule: &RecordRule, scope: PathScope<'_>, out: &mut Batch) {
        for state in &rule.states.of_calls {
            if let Some(call) = self.runs.id(&state.of, scope) {
                let state = if state.is_lost {
                    ToolState::Lost
                } else {
                    ToolState::Running
                };
                out.state(call, state);
            }
        }
    }

    /// Emits updates of background work. The model has received an update if it is part of the
    /// conversation, or the result of another call.
    pub(super) fn emit_work_updates(
        &mut self,
        rule: &RecordRule,
        head: &EntryHead,
        scope: PathScope<'_>,
        out: &mut Batch,
    ) {
        for end in &rule.states.of_work {
            let mut one = |scope: PathScope<'_>| {
                if self.spend_budget(LOOK, scope, out) && end.when.holds(scope) {
                    self.end(end, rule, head, scope, out);
                }
            };
            end.each.elements(scope, &mut one);
        }
    }

    fn end(
        &mut self,
        end: &EndRule,
        rule: &RecordRule,
        head: &EntryHead,
        scope: PathScope<'_>,
        out: &mut Batch,
    ) {
        let id = |path: &RecordPath| path.word(scope).filter(|id| !id.is_blank());
        let about = WorkReference {
            call: self.runs.id(&end.call, scope),
            handle: id(&end.of),
        };
        let command = id(&end.command);
        if about == WorkReference::default() && command.is_none() {
            return;
        }
        let exit = end
            .exit
            .number(scope)
            .and_then(|code| Json::Number(code).int());
        let is_queued = end.queued.holds(scope);
        let is_asked = end.asked.holds(scope) || !rule.results.is_empty();
        let delivered = end.delivered.moment(scope);
        let carrier = match delivered {
            _ if is_asked => Carrier::Poll,
            Some(_) => Carrier::Delivered,
            None if is_queued => Carrier::Queue,
            None if rule.blocks.is_empty() => Carrier::Record,
            None => Carrier::Notice,
        };
        let mut words: Vec<Text> = Vec::new();
        end.status.each(scope, &mut |found| {
            words.extend(word_of(found.here).map(|word| Text::clean(&word)));
        });
        let words: Vec<&str> = words.iter().map(Text::as_str).collect();
        let at = end.at.moment(scope);
        let reason = id(&end.reason).map(|reason| Text::stub(&reason, REASON));
        let update = Update {
            by: head.key.clone(),
            at: delivered.or(head.at),
            carrier,
            reason,
            end: WorkEnd::from_words(&words, exit).map(|own| WorkEnd { at, ..own }),
        };
        let lane = head.lane.clone();
        match command {
            Some(command) => self.commands.record(&command, update, lane, out),
            None => out.update(about, update, lane),
        }
    }
}
