//! A filter and its verdicts: which blocks of which entries are shown.
//!
//! What is known of a session for a filter is here, who wants it is a reader's: two readers of one session hide
//! different things.
//!
//! Invariant: every block of the session is either shown or counted as hidden.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::analysis::calls::Place;
use crate::analysis::expression::Expr;
use crate::analysis::expression::judge::{Judge, Unsure, Verdict};
use crate::model::entry::EntryId;
use crate::model::transcript::Transcript;

/// A filter and what it shows.
#[derive(Clone, Debug)]
pub struct Filter {
    /// As it was typed.
    pub(crate) typed: String,
    /// What it asks.
    pub(crate) expr: Expr,
    /// Distinguishes answers for this filter from those for an earlier one.
    pub(crate) generation: u32,
    /// How much has been read for it, in percent; 100 once all is judged.
    pub(crate) percent: u8,
    judge: Arc<Judge>,
    verdicts: HashMap<EntryId, Shown>,
    /// Items that it hides.
    pub hidden: usize,
}

/// Of an entry's blocks, these are shown.
#[derive(Clone, Debug, Default)]
struct Shown {
    blocks: Vec<usize>,
    of: usize,
    /// The state of the entry that was judged.
    revision: u32,
}

/// Texts to be read on a thread.
#[derive(Clone, Debug)]
pub struct FilterJob {
    /// What is asked.
    pub judge: Arc<Judge>,
    /// See [`Filter::generation`].
    pub generation: u32,
    /// Whether it is for all entries; else for some that have come or changed.
    pub(crate) is_whole: bool,
    /// What to read, in the order of the file.
    pub unsure: Vec<Open>,
}

/// A block whose text decides.
#[derive(Clone, Debug)]
pub struct Open {
    /// The block.
    pub focus: Place,
    /// The state of its entry: an answer on an earlier one is out of date.
    pub revision: u32,
    /// What is known of it.
    pub unsure: Unsure,
}

impl Filter {
    /// A filter that has judged nothing yet.
    pub(crate) fn new(typed: &str, expr: Expr, transcript: &Transcript, generation: u32) -> Self {
        let last = transcript.newest();
        Self {
            typed: typed.to_owned(),
            judge: Arc::new(Judge::new(&expr, last)),
            expr,
            generation,
            percent: 100,
            verdicts: HashMap::new(),
            hidden: 0,
        }
    }

    /// The same filter, for the session as it was read anew.
    #[must_use]
    pub(crate) fn again(&self, transcript: &Transcript, generation: u32) -> Self {
        Self::new(&self.typed, self.expr.clone(), transcript, generation)
    }

    /// The same filter, for a session that is read from the start.
    #[must_use]
    pub(crate) fn emptied(self) -> Self {
        Self {
            verdicts: HashMap::new(),
            hidden: 0,
            percent: 100,
            ..self
        }
    }

    /// Judges entries by what is known of them at once; what must be read stays hidden meanwhile.
    pub(crate) fn judge(
        &mut self,
        transcript: &Transcript,
        ids: &[EntryId],
        reads_memory: bool,
    ) -> Option<FilterJob> {
        let mut unsure = Vec::new();
        for id in ids {
            let Some(entry) = transcript.get(*id) else {
                continue;
            };
            let revision = entry.revision;
            let mut shown = Shown {
                blocks: Vec::new(),
                of: entry.blocks.len(),
                revision,
            };
            for (place, block) in entry.blocks.iter().enumerate() {
                match self
                    .judge
                    .judge(transcript, entry, (place, block), reads_memory)
                {
                    Verdict::Known(true) => shown.blocks.push(place),
                    Verdict::Known(false) => {}
                    Verdict::Unsure(open) => {
                        let focus = Place {
                            entry: *id,
                            block: place,
                        };
                        unsure.push(Open {
                            focus,
                            revision,
                            unsure: *open,
                        });
                    }
                }
            }
            self.set(*id, shown);
        }
        let (judge, generation) = (Arc::clone(&self.judge), self.generation);
        (!unsure.is_empty()).then_some(FilterJob {
            judge,
            generation,
            is_whole: !reads_memory,
            unsure,
        })
    }

    /// Shows a block after all, unless its entry has been judged in a later state.
    pub(crate) fn show(&mut self, focus: Place, revision: u32) {
        let Some(shown) = self.verdicts.get_mut(&focus.entry) else {
            return;
        };
        if shown.revision == revision
            && focus.block < shown.of
            && !shown.blocks.contains(&focus.block)
        {
            shown.blocks.push(focus.block);
            shown.blocks.sort_unstable();
            self.hidden = self.hidden.saturating_sub(1);
        }
    }

    /// Forgets entries that are gone.
    pub(crate) fn keep(&mut self, transcript: &Transcript) {
        let known: HashSet<EntryId> = transcript.order().iter().copied().collect();
        self.verdicts.retain(|id, _| known.contains(id));
        self.hidden = self
            .verdicts
            .values()
            .map(|shown| shown.of - shown.blocks.len())
            .sum();
    }

    fn set(&mut self, id: EntryId, shown: Shown) {
        self.hidden += shown.of - shown.blocks.len();
        if let Some(before) = self.verdicts.insert(id, shown) {
            self.hidden = self.hidden.saturating_sub(before.of - before.blocks.len());
        }
    }

    /// The blocks of an entry that are shown.
    pub fn blocks(&self, id: EntryId) -> &[usize] {
        self.verdicts
            .get(&id)
            .map_or(&[], |shown| shown.blocks.as_slice())
    }

    /// Whether a block is shown.
    pub(crate) fn shows(&self, focus: Place) -> bool {
        self.blocks(focus.entry).contains(&focus.block)
    }
}
