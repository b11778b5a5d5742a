//! The last column: where prompts, errors, compactions and hits lie in the whole, and which part of it
//! the window shows.

use std::ops::Range;

use super::heights::Heights;
use super::sequence::Sequence;
use crate::model::entry::EntryId;
use crate::model::entry::glance::{Compaction, Glance};
use crate::model::transcript::Transcript;

/// What a cell of the spine stands for; the greatest of a cell's entries is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// Nothing special.
    #[default]
    None,
    /// A prompt.
    Prompt,
    /// A compaction.
    Compaction,
    /// A loop, or an edit that turns another one back.
    Loop,
    /// A search hit.
    Hit,
    /// An error.
    Error,
    /// An alarm rang.
    Alarm,
    /// An item that the reader marked.
    Marked,
}

/// Marks by place.
#[derive(Clone, Debug, Default)]
struct Marks {
    list: Vec<(usize, Mark)>,
    /// The greatest of each `RUN`, as far as they are known.
    tops: Vec<Mark>,
}

/// So many marks are seen as one.
const RUN: usize = 64;

impl Marks {
    /// Marks a place, or takes its mark away.
    fn set(&mut self, place: usize, mark: Mark) {
        let at = self.list.partition_point(|(known, _)| *known < place);
        let known = self.list.get_mut(at).filter(|(known, _)| *known == place);
        match (known, mark) {
            (Some(_), Mark::None) => drop(self.list.remove(at)),
            (Some(known), mark) => known.1 = mark,
            (None, Mark::None) => {}
            (None, mark) => self.list.insert(at, (place, mark)),
        }
        self.tops.truncate(at / RUN);
    }

    /// Sums up what has changed.
    fn settle(&mut self) {
        let runs = self.list.chunks(RUN).skip(self.tops.len());
        self.tops.extend(runs.map(greatest));
    }

    /// The greatest mark of some places, once it is settled.
    fn greatest(&self, places: Range<usize>) -> Mark {
        let [first, last] = [places.start, places.end]
            .map(|end| self.list.partition_point(|(place, _)| *place < end));
        let whole = first.div_ceil(RUN)..last / RUN;
        if whole.is_empty() {
            return greatest(self.list.get(first..last).unwrap_or_default());
        }
        let before = greatest(self.list.get(first..whole.start * RUN).unwrap_or_default());
        let after = greatest(self.list.get(whole.end * RUN..last).unwrap_or_default());
        let within = self
            .tops
            .get(whole)
            .into_iter()
            .flatten()
            .copied()
            .max()
            .unwrap_or_default();
        before.max(within).max(after)
    }
}

fn greatest(marks: &[(usize, Mark)]) -> Mark {
    marks
        .iter()
        .map(|(_, mark)| *mark)
        .max()
        .unwrap_or_default()
}

/// Marks of all visible entries by place.
#[derive(Clone, Debug, Default)]
pub struct Spine {
    /// What entries stand for by themselves.
    own: Marks,
    /// What they stand for beyond that.
    special: Marks,
    /// The cells from top to bottom.
    pub(crate) cells: Vec<Mark>,
    /// State of the loops and of edits turned back when they were last marked.
    pub(crate) loops_seen: u64,
}

impl Spine {
    /// Collects what the entries of a sequence stand for by themselves.
    pub(crate) fn rebuild(&mut self, transcript: &Transcript, sequence: &Sequence) {
        let marks = sequence
            .order()
            .iter()
            .enumerate()
            .filter_map(|(place, id)| {
                let mark = mark_of(&transcript.glance(*id)?);
                (mark != Mark::None).then_some((place, mark))
            });
        self.own = Marks {
            list: marks.collect(),
            tops: Vec::new(),
        };
    }

    /// Notes an entry that is new or has changed. Costs little if it stands near the end.
    pub(crate) fn note(&mut self, transcript: &Transcript, id: EntryId, place: usize) {
        let mark = transcript
            .glance(id)
            .as_ref()
            .map(mark_of)
            .unwrap_or_default();
        self.own.set(place, mark);
    }

    /// Marks entries for more than what they are by themselves. The greatest mark counts.
    pub(crate) fn mark(&mut self, sequence: &Sequence, marked: Vec<(EntryId, Mark)>) {
        let mut list: Vec<_> = marked
            .into_iter()
            .filter_map(|(id, mark)| Some((sequence.place_of(id)?, mark)))
            .collect();
        list.sort_unstable();
        self.special = Marks {
            list,
            tops: Vec::new(),
        };
    }

    /// Spreads the marks over a column. Each cell has its share of the rows, and the entries that begin there.
    pub(crate) fn arrange(&mut self, height: usize, heights: &Heights) {
        self.own.settle();
        self.special.settle();
        let total = heights.total();
        let begins_at = |row: u64| {
            let place = heights.place_at(row);
            place + usize::from(heights.before(place) < row)
        };
        let cells = height as u64;
        let mut first = 0;
        self.cells.clear();
        for cell in 1..=cells {
            let end = if cell < cells {
                begins_at((cell * total).div_ceil(cells))
            } else {
                usize::MAX
            };
            let places = first..end;
            first = end;
            self.cells.push(
                self.own
                    .greatest(places.clone())
                    .max(self.special.greatest(places)),
            );
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

/// The cell of a row, of all rows in a column.
pub(crate) fn cell_of(row: u64, total: u64, height: usize) -> usize {
    let cell = row.saturating_mul(height as u64) / total.max(1);
    usize::try_from(cell)
        .unwrap_or(usize::MAX)
        .min(height.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, proptest};

    use super::{Heights, Mark, Marks, Spine, cell_of};

    fn mark(number: u8) -> Mark {
        [Mark::None, Mark::Prompt, Mark::Hit, Mark::Error][usize::from(number % 4)]
    }

    proptest! {
        #[test]
        fn a_cell_shows_the_greatest_mark_of_what_begins_in_it(
            rows in prop::collection::vec(1u32..9, 1..400),
            own in prop::collection::vec((any::<usize>(), any::<u8>()), 0..400),
            special in prop::collection::vec((any::<usize>(), any::<u8>()), 0..9),
            height in 1usize..60,
        ) {
            let mut spine = Spine::default();
            let mut heights = Heights::default();
            heights.reset(rows.iter().copied());
            let mut plain = [vec![Mark::None; rows.len()], vec![Mark::None; rows.len()]];
            for (side, marks) in [own, special].into_iter().enumerate() {
                for (place, number) in marks {
                    let place = place % rows.len();
                    plain[side][place] = mark(number);
                    [&mut spine.own, &mut spine.special][side].set(place, mark(number));
                    if number % 3 == 0 {
                        spine.arrange(height, &heights);
                    }
                }
            }
            spine.arrange(height, &heights);
            let mut cells = vec![Mark::None; height];
            for (place, mark) in plain.iter().flat_map(|marks| marks.iter().copied().enumerate()) {
                let cell = &mut cells[cell_of(heights.before(place), heights.total(), height)];
                *cell = (*cell).max(mark);
            }
            assert_eq!(spine.cells, cells);
        }
    }

    #[test]
    fn one_place_may_have_several_marks() {
        let list = vec![(3, Mark::Hit), (3, Mark::Marked), (4, Mark::Hit)];
        let mut marks = Marks {
            list,
            tops: Vec::new(),
        };
        marks.settle();
        assert_eq!(
            [0..3, 3..4, 4..9].map(|places| marks.greatest(places)),
            [Mark::None, Mark::Marked, Mark::Hit]
        );
    }
}
