//! The budget of work per record. Nested lists may multiply the work of a rule; the budget limits
//! it to a multiple of the record's size.

use super::DefinitionDecoder;
use crate::formats::definition::path::PathScope;
use crate::formats::json::Json;
use crate::model::edit::{Batch, Severity};

/// The budget that each record gets, in bytes.
const FREE: usize = 64 << 10;
/// The additional budget, as a multiple of the record's size.
const TIMES: usize = 32;
/// The cost of visiting a value.
pub(super) const LOOK: usize = 16;
/// The cost of trying a rule.
pub(super) const RULE: usize = 64;

/// The cost of decoding the current record so far.
#[derive(Default)]
pub(super) struct RecordBudget {
    done: usize,
    weight: Option<usize>,
    /// Whether a notice about the exceeded budget has been emitted.
    has_stopped: bool,
}

impl RecordBudget {
    pub(super) fn begin(&mut self) {
        (self.done, self.weight) = (0, None);
    }

    /// The size of the record, computed once.
    pub(super) fn weigh(&mut self, record: &Json<'_>) -> usize {
        *self.weight.get_or_insert_with(|| record.weight())
    }

    pub(super) fn add(&mut self, cost: usize) {
        self.done = self.done.saturating_add(cost);
    }

    /// Whether the cost exceeds the budget, including the bytes of texts made so far.
    fn is_exceeded(&mut self, texts: usize, record: &Json<'_>) -> bool {
        let all = self.done.saturating_add(texts);
        all > FREE
            && all
                > self
                    .weigh(record)
                    .saturating_mul(TIMES)
                    .saturating_add(FREE)
    }
}

impl DefinitionDecoder {
    /// Adds a cost and returns whether the budget allows it. Emits a notice the first time that it
    /// does not.
    pub(super) fn spend_budget(
        &mut self,
        cost: usize,
        scope: PathScope<'_>,
        out: &mut Batch,
    ) -> bool {
        self.budget.add(cost);
        let is_exceeded = self.budget.is_exceeded(out.made(), scope.record);
        if is_exceeded && !std::mem::replace(&mut self.budget.has_stopped, true) {
            let what =
                "rules make far more of a record than is in it; the rest of that is left out";
            out.notice(Severity::Warning, what);
        }
        !is_exceeded
    }
}
