//! The budget of rules for a record. Nested lists may multiply the work of a rule: the budget bounds it by the size of the
//! record.

use super::Run;
use crate::formats::definition::path::Scope;
use crate::formats::json::Json;
use crate::model::edit::{Batch, Severity};

/// The budget of the smallest record, in bytes.
const FREE: usize = 64 << 10;
/// The budget of a larger record, as a multiple of its size.
const TIMES: usize = 32;
/// The cost of a value.
pub(super) const LOOK: usize = 16;
/// The cost of a rule.
pub(super) const RULE: usize = 64;

/// The cost of a record so far.
#[derive(Default)]
pub(super) struct Work {
    done: usize,
    weight: Option<usize>,
    /// Whether a notice has said that the budget is exceeded.
    has_stopped: bool,
}

impl Work {
    /// Starts a record.
    pub(super) fn begin(&mut self) {
        (self.done, self.weight) = (0, None);
    }

    /// Sets the budget by the size of a record with records in it.
    pub(super) fn weigh(&mut self, record: &Json<'_>) -> usize {
        *self.weight.get_or_insert_with(|| record.weight())
    }

    /// Adds a cost.
    pub(super) fn add(&mut self, cost: usize) {
        self.done = self.done.saturating_add(cost);
    }

    /// Whether the budget allows so many more bytes of texts.
    fn is_enough(&mut self, texts: usize, record: &Json<'_>) -> bool {
        let all = self.done.saturating_add(texts);
        all > FREE
            && all
                > self
                    .weigh(record)
                    .saturating_mul(TIMES)
                    .saturating_add(FREE)
    }
}

impl Run {
    /// Spends a cost if the budget allows it; emits a notice once if not.
    pub(super) fn goes_on(&mut self, cost: usize, scope: Scope<'_>, out: &mut Batch) -> bool {
        self.work.add(cost);
        let is_enough = self.work.is_enough(out.made(), scope.record);
        if is_enough && !std::mem::replace(&mut self.work.has_stopped, true) {
            let what =
                "rules make far more of a record than is in it; the rest of that is left out";
            out.notice(Severity::Warning, what);
        }
        !is_enough
    }
}
