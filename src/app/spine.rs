//! The last column: where prompts, errors, compactions and hits lie in the whole, and which part of it
//! the window shows.

use std::collections::HashMap;

use super::sequence::Sequence;
use crate::model::entry::EntryId;
use crate::model::glance::{Compaction, Glance};
use crate::model::transcript::Transcript;

/// What a cell of the spine stands for; the greatest of a cell's entries is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Nothing special.
    #[default]
    None,
    /// A prompt.
    Prompt,
    /// A compaction.
    Compaction,
    /// A loop, or an edit that turns another one back.
    Trouble,
    /// A search hit.
    Hit,
    /// An error.
    Error,
    /// An alarm rang.
    Alarm,
    /// An item that the reader marked.
    Marked,
}

/// Entries that are marked for more than what they are by themselves.
#[derive(Clone, Debug, Default)]
pub struct Marked {
    of: HashMap<EntryId, Mark>,
}

impl Marked {
    /// Marks entries; the greatest mark counts.
    pub fn add(&mut self, ids: impl IntoIterator<Item = EntryId>, mark: Mark) {
        for id in ids {
            let known = self.of.entry(id).or_default();
            *known = (*known).max(mark);
        }
    }

    fn mark(&self, id: EntryId) -> Mark {
        self.of.get(&id).copied().unwrap_or_default()
    }
}

/// Marks of all visible entries by place; made anew when the session changes.
#[derive(Clone, Debug, Default)]
pub struct Spine {
    marks: Vec<(usize, Mark)>,
    /// The cells from top to bottom.
    pub cells: Vec<Mark>,
    /// State of the loops and of edits turned back when they were last marked.
    pub troubles_seen: u64,
}

impl Spine {
    /// Collects the marks.
    pub fn rebuild(&mut self, transcript: &Transcript, sequence: &Sequence, marked: &Marked) {
        self.marks.clear();
        for (place, id) in sequence.order().iter().enumerate() {
            let Some(glance) = transcript.glance(*id) else { continue };
            let mark = mark_of(&glance).max(marked.mark(*id));
            if mark != Mark::None {
                self.marks.push((place, mark));
            }
        }
    }

    /// Notes an entry that is new or has changed. Costs little if it stands near the end.
    pub fn note(&mut self, transcript: &Transcript, id: EntryId, place: usize) {
        let mark = transcript.glance(id).as_ref().map(mark_of).unwrap_or_default();
        let at = self.marks.partition_point(|(known, _)| *known < place);
        let known = self.marks.get_mut(at).filter(|(known, _)| *known == place);
        match (known, mark) {
            (Some(_), Mark::None) => drop(self.marks.remove(at)),
            (Some(known), mark) => known.1 = mark,
            (None, Mark::None) => {}
            (None, mark) => self.marks.insert(at, (place, mark)),
        }
    }

    /// Spreads the marks over a column; `position` gives an entry's share of the whole.
    pub fn arrange(&mut self, height: usize, position: impl Fn(usize) -> f64) {
        self.cells = vec![Mark::None; height];
        for (place, mark) in &self.marks {
            let cell = cell_of(position(*place), height);
            if let Some(known) = self.cells.get_mut(cell) {
                *known = (*known).max(*mark);
            }
        }
    }
}

/// What an entry stands for by itself.
fn mark_of(glance: &Glance) -> Mark {
    match glance {
        _ if glance.is_error => Mark::Error,
        _ if glance.compaction != Compaction::None => Mark::Compaction,
        _ if glance.marks.prompt => Mark::Prompt,
        _ => Mark::None,
    }
}

/// The cell for a share between 0 and 1.
pub fn cell_of(share: f64, height: usize) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a screen's height"
    )]
    let cell = (share.clamp(0.0, 1.0) * height as f64) as usize;
    cell.min(height.saturating_sub(1))
}
