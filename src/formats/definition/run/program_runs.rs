//! Several runs of the program in one file.
//!
//! A run begins with a record of its own. If that is missing, ids that restart with each run reveal
//! the beginning: an item occurs again after its run ended, or after it was complete, with other
//! content.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

use super::DefinitionDecoder;
use crate::formats::definition::path::{PathScope, RecordPath};
use crate::formats::definition::rule::{Numbered, RecordRule};
use crate::model::body::Key;
use crate::model::text::{Text, text};

/// The runs so far.
#[derive(Default)]
pub(super) struct ProgramRuns {
    number: u32,
    /// Whether the current run has an entry.
    pub(super) is_used: bool,
    name: Option<Text>,
    /// Items of the current run; complete ones with the hash of their record.
    items: HashMap<Text, Option<u64>>,
    is_over: bool,
    /// Whether the run was detected by its ids, without a record of its beginning.
    is_guessed: bool,
    /// The name from a record that belongs either to such a run or to the one after it; the next
    /// item decides.
    pending_name: Option<RunName>,
}

/// The name of a run; `None` if its record gives none.
#[derive(Clone, Default)]
struct RunName(Option<Text>);

impl ProgramRuns {
    /// Makes an id unique within the file: later runs add their number.
    pub(super) fn id(&self, path: &RecordPath, scope: PathScope<'_>) -> Option<Key> {
        let id = path.word(scope)?;
        Some(if self.number > 1 {
            text!("{id}#{}", self.number)
        } else {
            id
        })
    }

    /// Whether an item shows that a new run has begun.
    fn begins_with(&self, item: &Text, print: u64) -> bool {
        let Some(known) = self.items.get(item) else {
            return false;
        };
        self.is_over || known.is_some_and(|known| self.pending_name.is_some() || known != print)
    }
}

impl DefinitionDecoder {
    pub(super) fn begin_run(&mut self, rule: &RecordRule, scope: PathScope<'_>) {
        if rule.resets.sums {
            self.counting.so_far.reset();
        }
        let Some(run) = &rule.resets.run else { return };
        let name = run.word(scope);
        if self.runs.is_guessed && !self.runs.is_over {
            self.runs.pending_name = Some(RunName(name));
        } else {
            self.begin(name);
        }
    }

    /// Begins a run: calls and sums of the previous one no longer count.
    fn begin(&mut self, name: Option<Text>) {
        // A run without entries keeps its number, so that a repeated record begins only one run.
        let number = self.runs.number.max(1) + u32::from(self.runs.is_used);
        self.waiting.clear();
        if self.runs.name != name {
            self.counting.reset();
        }
        self.runs = ProgramRuns {
            number,
            name,
            ..ProgramRuns::default()
        };
    }

    /// Detects the beginning of a run by ids that restart with each run.
    pub(super) fn read_item(&mut self, scope: PathScope<'_>) {
        let Some(Numbered { item, done, over }) = &self.definition.needs.numbered else {
            return;
        };
        if let Some(item) = item.word(scope) {
            let mut hasher = DefaultHasher::new();
            scope.record.print(&mut hasher);
            let print = hasher.finish();
            let said = self.runs.pending_name.clone();
            if self.runs.begins_with(&item, print) {
                let is_guessed = said.is_none();
                self.begin(said.unwrap_or_default().0);
                self.runs.is_guessed = is_guessed;
            } else {
                self.runs.is_over = false;
                if let Some(RunName(name)) = said {
                    (self.runs.name, self.runs.pending_name, self.runs.is_guessed) =
                        (name, None, false);
                }
            }
            let is_done = done.holds(scope);
            let known = self.runs.items.entry(item).or_default();
            *known = known.or_else(|| is_done.then_some(print));
        }
        self.runs.is_over |= over.holds(scope);
    }
}
