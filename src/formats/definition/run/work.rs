//! How much rules may make of a record. A list of lists may be gone over as often as it has elements, and so on within:
//! what a definition makes of a record is bounded by what is in it.

use super::Run;
use crate::formats::definition::path::Scope;
use crate::formats::json::Json;
use crate::model::edit::{Batch, Severity};

/// So much may be made of the smallest record, in bytes.
const FREE: usize = 64 << 10;
/// So many times as much as is in it may be made of a larger one.
const TIMES: usize = 32;
/// What it takes to look at a value.
pub(super) const LOOK: usize = 16;
/// What it takes to apply a rule.
pub(super) const RULE: usize = 64;

/// What was made of a record so far.
#[derive(Default)]
pub(super) struct Work {
    done: usize,
    weight: Option<usize>,
    /// It was too much of a record, of which a notice says so.
    has_stopped: bool,
}

impl Work {
    /// Another record.
    pub(super) fn begin(&mut self) {
        (self.done, self.weight) = (0, None);
    }

    /// Weighs the record, of which parts will be looked at as records.
    pub(super) fn weigh(&mut self, record: &Json<'_>) -> usize {
        *self.weight.get_or_insert_with(|| record.weight())
    }

    /// Adds to it.
    pub(super) fn add(&mut self, cost: usize) {
        self.done = self.done.saturating_add(cost);
    }

    /// Whether it is not too much, with so many bytes of texts.
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
    /// Whether something of this cost may still be made of the record. Says so once if not.
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
