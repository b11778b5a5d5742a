//! A filter and its verdicts: which blocks of which entries are shown.
//!
//! Verdicts are here, the choice of a filter belongs to the view: two views of one session may hide
//! different blocks.
//!
//! Invariant: every block of the session is either shown or counted as hidden.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::analysis::calls::Place;
use crate::analysis::expression::Expr;
use crate::analysis::expression::judge::{Judge, Judgement, Unsure};
use crate::model::entry::EntryId;
use crate::model::transcript::Transcript;

/// A filter and its verdicts.
#[derive(Clone, Debug)]
pub struct Filter {
    /// The text as typed.
    pub(crate) typed: String,
    pub(crate) expr: Expr,
    /// Distinguishes answers for this filter from those for earlier ones.
    pub(crate) generation: u32,
    /// Progress of reading texts, in percent; 100 when all blocks are judged.
    pub(crate) percent: u8,
    judge: Arc<Judge>,
    verdicts: HashMap<EntryId, ShownBlocks>,
    /// Number of hidden items.
    pub hidden: usize,
}

/// Shown blocks of an entry.
#[derive(Clone, Debug, Default)]
struct ShownBlocks {
    blocks: Vec<usize>,
    of: usize,
    /// Revision of the entry that was judged.
    revision: u32,
}

/// Texts to read and judge on another thread.
#[derive(Clone, Debug)]
pub struct FilterJob {
    pub judge: Arc<Judge>,
    /// See [`Filter::generation`].
    pub generation: u32,
    /// Whether it covers all entries; else some that are new or have changed.
    pub(crate) is_whole: bool,
    /// Blocks to read, in file order.
    pub unsure: Vec<UndecidedBlock>,
}

/// A block that only its text can decide.
#[derive(Clone, Debug)]
pub struct UndecidedBlock {
    /// Position of the block.
    pub focus: Place,
    /// Revision of its entry; answers for an earlier one are outdated.
    pub revision: u32,
    /// What the filter still needs.
    pub unsure: Unsure,
}

impl Filter {
    /// A filter without verdicts.
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

    /// The same filter, for a session that was read again.
    #[must_use]
    pub(crate) fn rebuilt(&self, transcript: &Transcript, generation: u32) -> Self {
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

    /// Judges entries by what is in memory; blocks whose text must be read are hidden until then.
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
            let mut shown = ShownBlocks {
                blocks: Vec::new(),
                of: entry.blocks.len(),
                revision,
            };
            for (place, block) in entry.blocks.iter().enumerate() {
                match self
                    .judge
                    .judge(transcript, entry, (place, block), reads_memory)
                {
                    Judgement::Known(true) => shown.blocks.push(place),
                    Judgement::Known(false) => {}
                    Judgement::Unsure(open) => {
                        let focus = Place {
                            entry: *id,
                            block: place,
                        };
                        unsure.push(UndecidedBlock {
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

    /// Shows a block after its text was read, unless a later revision of its entry has been judged.
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

    /// Drops verdicts of removed entries.
    pub(crate) fn retain_known(&mut self, transcript: &Transcript) {
        let known: HashSet<EntryId> = transcript.order().iter().copied().collect();
        self.verdicts.retain(|id, _| known.contains(id));
        self.hidden = self
            .verdicts
            .values()
            .map(|shown| shown.of - shown.blocks.len())
            .sum();
    }

    fn set(&mut self, id: EntryId, shown: ShownBlocks) {
        self.hidden += shown.of - shown.blocks.len();
        if let Some(before) = self.verdicts.insert(id, shown) {
            self.hidden = self.hidden.saturating_sub(before.of - before.blocks.len());
        }
    }

    /// Shown blocks of an entry.
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
