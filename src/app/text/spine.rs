//! The spine: the last column, with marks for prompts, errors, compactions and hits of the whole
//! session, and the range that the window shows.

use std::ops::Range;

use super::heights::Heights;
use super::sequence::Sequence;
use crate::model::entry::EntryId;
use crate::model::entry::glance::{CompactionKind, EntrySummary};
use crate::model::transcript::Transcript;

/// A mark of the spine; a cell shows the greatest mark of its entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SpineMark {
    #[default]
    None,
    Prompt,
    Compaction,
    /// A loop, or an edit that undoes another one.
    Loop,
    Hit,
    Error,
    Alarm,
    /// An item that the user marked.
    Marked,
}

#[derive(Clone, Debug, Default)]
struct SpineMarks {
    list: Vec<(usize, SpineMark)>,
    /// The greatest mark of each chunk of [`RUN`], up to the first chunk that changed.
    tops: Vec<SpineMark>,
}

/// Marks per chunk.
const RUN: usize = 64;

impl SpineMarks {
    /// Sets or removes the mark of an index.
    fn set(&mut self, place: usize, mark: SpineMark) {
        let at = self.list.partition_point(|(known, _)| *known < place);
        let known = self.list.get_mut(at).filter(|(known, _)| *known == place);
        match (known, mark) {
            (Some(_), SpineMark::None) => drop(self.list.remove(at)),
            (Some(known), mark) => known.1 = mark,
            (None, SpineMark::None) => {}
            (None, mark) => self.list.insert(at, (place, mark)),
        }
        self.tops.truncate(at / RUN);
    }

    fn update_tops(&mut self) {
        let runs = self.list.chunks(RUN).skip(self.tops.len());
        self.tops.extend(runs.map(greatest));
    }

    /// The greatest mark of a range of indexes; `tops` must be up to date.
    fn greatest(&self, places: Range<usize>) -> SpineMark {
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

fn greatest(marks: &[(usize, SpineMark)]) -> SpineMark {
    marks
        .iter()
        .map(|(_, mark)| *mark)
        .max()
        .unwrap_or_default()
}

/// Marks of all shown entries.
#[derive(Clone, Debug, Default)]
pub struct Spine {
    /// Marks of entries by their content.
    own: SpineMarks,
    /// Marks of hits, user's marks, loops and alarms.
    special: SpineMarks,
    /// The cells from top to bottom.
    pub(crate) cells: Vec<SpineMark>,
    /// Generations of loops and findings at the last update of their marks.
    pub(crate) seen: (u64, u64),
}

impl Spine {
    /// Collects the marks of all entries by their content.
    pub(crate) fn rebuild(&mut self, transcript: &Transcript, sequence: &Sequence) {
        let marks = sequence
            .order()
            .iter()
            .enumerate()
            .filter_map(|(place, id)| {
                let mark = mark_of(&transcript.glance(*id)?);
                (mark != SpineMark::None).then_some((place, mark))
            });
        self.own = SpineMarks {
            list: marks.collect(),
            tops: Vec::new(),
        };
    }

    /// Updates the mark of a new or changed entry; cheap near the end.
    pub(crate) fn update(&mut self, transcript: &Transcript, id: EntryId, place: usize) {
        let mark = transcript
            .glance(id)
            .as_ref()
            .map(mark_of)
            .unwrap_or_default();
        self.own.set(place, mark);
    }

    /// Replaces the marks of hits, user's marks, loops and alarms. An entry shows its greatest
    /// mark.
    pub(crate) fn mark(&mut self, sequence: &Sequence, marked: Vec<(EntryId, SpineMark)>) {
        let mut list: Vec<_> = marked
            .into_iter()
            .filter_map(|(id, mark)| Some((sequence.place_of(id)?, mark)))
            .collect();
        list.sort_unstable();
        self.special = SpineMarks {
            list,
            tops: Vec::new(),
        };
    }

    /// Distributes the marks over the cells of a column; each cell covers an equal share of the
    /// rows.
    pub(crate) fn arrange(&mut self, height: usize, heights: &Heights) {
        self.own.update_tops();
        self.special.update_tops();
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

/// The mark of an entry by its content.
fn mark_of(glance: &EntrySummary) -> SpineMark {
    match glance {
        _ if glance.is_error => SpineMark::Error,
        _ if glance.compaction != CompactionKind::None => SpineMark::Compaction,
        _ if glance.marks.prompt => SpineMark::Prompt,
        _ => SpineMark::None,
    }
}

/// The cell for a row, out of `total` rows.
pub(crate) fn cell_of(row: u64, total: u64, height: usize) -> usize {
    let cell = row.saturating_mul(height as u64) / total.max(1);
    usize::try_from(cell)
        .unwrap_or(usize::MAX)
        .min(height.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, proptest};

    use super::{Heights, Spine, SpineMark, SpineMarks, cell_of};

    fn mark(number: u8) -> SpineMark {
        [
            SpineMark::None,
            SpineMark::Prompt,
            SpineMark::Hit,
            SpineMark::Error,
        ][usize::from(number % 4)]
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
            let mut plain = [vec![SpineMark::None; rows.len()], vec![SpineMark::None; rows.len()]];
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
            let mut cells = vec![SpineMark::None; height];
            for (place, mark) in plain.iter().flat_map(|marks| marks.iter().copied().enumerate()) {
                let cell = &mut cells[cell_of(heights.before(place), heights.total(), height)];
                *cell = (*cell).max(mark);
            }
            assert_eq!(spine.cells, cells);
        }
    }

    #[test]
    fn one_place_may_have_several_marks() {
        let list = vec![
            (3, SpineMark::Hit),
            (3, SpineMark::Marked),
            (4, SpineMark::Hit),
        ];
        let mut marks = SpineMarks {
            list,
            tops: Vec::new(),
        };
        marks.update_tops();
        assert_eq!(
            [0..3, 3..4, 4..9].map(|places| marks.greatest(places)),
            [SpineMark::None, SpineMark::Marked, SpineMark::Hit]
        );
    }
}
