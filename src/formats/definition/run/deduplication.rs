//! Deduplicates calls and results that several records have, such as the model's answer and the
//! tool's log.

use std::collections::HashMap;

use crate::model::body::Key;
use crate::model::edit::Edit;
use crate::model::text::Name;
use crate::model::tool::{self, ToolCall, ToolState};

/// The entries in which each call and its result came first. The same entry has them again when its
/// record is read again.
#[derive(Default)]
pub(super) struct Deduplicated {
    calls: HashMap<Key, FirstEntries>,
}

#[derive(Default)]
struct FirstEntries {
    asked: Option<Key>,
    answered: Option<Key>,
}

impl Deduplicated {
    /// Whether no other entry has this call. A call whose id does not identify it is always new.
    pub(super) fn is_new(&mut self, call: &ToolCall, entry: &Key) -> bool {
        if !tool::identifies(&call.key) {
            return true;
        }
        let by = self.calls.entry(call.key.clone()).or_default();
        let is_new = by.asked.get_or_insert_with(|| entry.clone()) == entry;
        if is_new && call.state.result().is_some() {
            by.answered.get_or_insert_with(|| entry.clone());
        }
        is_new
    }

    /// Whether no other entry has the result of this call.
    pub(super) fn is_answer(&mut self, call: &Key, entry: &Key) -> bool {
        let by = self.calls.entry(call.clone()).or_default();
        by.answered.get_or_insert_with(|| entry.clone()) == entry
    }

    /// What a call that was already emitted says of how it ended, with the duration, which only the
    /// tool's log records.
    pub(super) fn result_of(
        &mut self,
        call: ToolCall,
        entry: &Key,
        lane: Option<Name>,
    ) -> Option<Edit> {
        let mut result = match call.state {
            ToolState::Acknowledged(result)
            | ToolState::Done(result)
            | ToolState::Failed(result)
            | ToolState::Refused(result)
            | ToolState::Stopped(result) => result,
            ToolState::Lost => {
                let (call, state) = (call.key, ToolState::Lost);
                return Some(Edit::State { call, state });
            }
            ToolState::Pending | ToolState::Running | ToolState::Streaming(_) => return None,
        };
        if !self.is_answer(&call.key, entry) {
            return None;
        }
        let took = result
            .at
            .zip(call.started)
            .map(|(ended, started)| ended.since(started));
        result.duration_ms = result.duration_ms.or(took);
        Some(Edit::Result {
            call: call.key,
            result,
            lane,
        })
    }
}
