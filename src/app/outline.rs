//! The outline beside the transcript: turns with their cost and duration, and sub-agents.

use std::collections::HashMap;

use crate::analysis::{cost, phrases};
use crate::model::entry::{BlockKind, Entry, EntryId};
use crate::model::figures;
use crate::model::text::Text;
use crate::model::transcript::Transcript;

/// A turn in the outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineRow {
    /// The prompt.
    pub prompt: EntryId,
    /// Number of the turn, from 1.
    pub number: usize,
    /// First line of the prompt.
    pub title: Text,
    /// `0.21`, `~0.21` for an estimate: the column's head says that it is USD.
    pub cost: String,
    /// `1m52s`
    pub duration: String,
    /// Errors in the turn.
    pub errors: u32,
    /// Whether it lies on an abandoned branch.
    pub is_abandoned: bool,
}

/// Rows made before; those of touched turns are forgotten.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    cache: HashMap<EntryId, OutlineRow>,
    /// The rows that the pane shows, and the current one among them.
    pub rows: Vec<OutlineRow>,
    /// The turn of the focused item.
    pub current: Option<usize>,
}

impl Outline {
    /// Forgets the row of a turn.
    pub fn forget(&mut self, prompt: EntryId) {
        self.cache.remove(&prompt);
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.cache.clear();
    }

    /// Collects the rows for a pane of this height around the current turn.
    pub fn arrange(&mut self, transcript: &Transcript, current: Option<usize>, height: usize) {
        let turns = transcript.turns();
        self.current = current;
        // What stands before the first prompt belongs to no turn; the outline begins with the first one.
        let at = current.unwrap_or(0);
        let first = at.saturating_sub(height / 2).min(turns.len().saturating_sub(height));
        let shown = first..turns.len().min(first + height);
        self.rows = shown.filter_map(|turn| self.row(transcript, turn)).collect();
    }

    fn row(&mut self, transcript: &Transcript, turn: usize) -> Option<OutlineRow> {
        let prompt = transcript.turns().get(turn)?.prompt;
        if let Some(row) = self.cache.get(&prompt) {
            return Some(row.clone());
        }
        let facts = transcript.turn_facts(turn);
        let row = OutlineRow {
            prompt,
            number: turn + 1,
            title: title_of(transcript.get(prompt)?),
            cost: phrases::cost(&cost::of(&facts.totals)).unwrap_or_default().replace('$', ""),
            duration: facts.duration_ms().filter(|ms| *ms > 0).map(figures::duration).unwrap_or_default(),
            errors: facts.errors,
            is_abandoned: transcript.branches().abandoned.contains(&prompt),
        };
        self.cache.insert(prompt, row.clone());
        Some(row)
    }
}

/// The first line of a prompt.
pub fn title_of(entry: &Entry) -> Text {
    let text = entry.blocks.iter().find_map(|block| match &block.kind {
        BlockKind::Text(body) if !body.stub.is_blank() => Some(body.stub.clone()),
        _ => None,
    });
    text.unwrap_or_else(|| Text::from("(no text)"))
}
