//! Tests of the window against a naive model: all rows in one list, and an offset.

use std::sync::Arc;

use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};

use super::{Focus, Motion, RowSource, Viewport};
use crate::model::entry::EntryId;
use crate::render::row::{Row, RowKind};

/// Entries with a number of rows for each of their blocks.
struct Flat {
    entries: Vec<Vec<usize>>,
    /// Blocks per portion.
    portion: usize,
    laid_out: usize,
}

impl Flat {
    fn portions(&self) -> Vec<Focus> {
        let of = |(entry, blocks): (usize, &Vec<usize>)| {
            let entry = EntryId(u32::try_from(entry).unwrap());
            let starts = (0..blocks.len().max(1)).step_by(self.portion);
            starts
                .map(move |block| Focus { entry, block })
                .collect::<Vec<_>>()
        };
        self.entries.iter().enumerate().flat_map(of).collect()
    }
}

impl RowSource for Flat {
    fn len(&self) -> usize {
        if self.portion == usize::MAX {
            self.entries.len()
        } else {
            self.portions().len()
        }
    }

    fn start(&self, place: usize) -> Option<Focus> {
        if self.portion == usize::MAX {
            let entry = EntryId(u32::try_from(place).unwrap());
            return (place < self.entries.len()).then_some(Focus { entry, block: 0 });
        }
        self.portions().get(place).copied()
    }

    fn place(&self, focus: Focus) -> Option<usize> {
        if self.portion == usize::MAX {
            return (focus.entry.index() < self.entries.len()).then(|| focus.entry.index());
        }
        let is_it = |start: &Focus| start.entry == focus.entry && start.block <= focus.block;
        self.portions().iter().rposition(is_it)
    }

    fn rows(&mut self, place: usize) -> Arc<Vec<Row>> {
        self.laid_out += 1;
        let start = self.start(place).unwrap();
        let blocks = self.entries[start.entry.index()].iter().enumerate();
        let row = |block, kind| Row {
            block,
            kind,
            ..Row::default()
        };
        Arc::new(
            blocks
                .skip(start.block)
                .take(self.portion)
                .flat_map(|(block, count)| {
                    (0..*count).map(move |n| {
                        row(block, if n == 0 { RowKind::Head } else { RowKind::Body })
                    })
                })
                .collect(),
        )
    }
}

impl Flat {
    /// Entry, block and row within the portion, for all rows.
    fn all(&mut self) -> Vec<(u32, usize, usize)> {
        (0..self.len())
            .flat_map(|place| {
                let entry = self.start(place).unwrap().entry.0;
                let rows = self.rows(place);
                (0..rows.len())
                    .map(move |row| (entry, rows[row].block, row))
                    .collect::<Vec<_>>()
            })
            .collect()
    }
}

fn window(view: &Viewport) -> Vec<(u32, usize, usize)> {
    view.lines
        .iter()
        .map(|line| (line.entry.0, line.row().unwrap().block, line.row))
        .collect()
}

fn motion() -> impl Strategy<Value = Motion> {
    prop_oneof![
        (-30isize..30).prop_map(Motion::Lines),
        (-4isize..4).prop_map(Motion::HalfPages),
        (-5isize..5).prop_map(Motion::Items),
        Just(Motion::Top),
        Just(Motion::Tail),
        Just(Motion::Pause),
        (0u32..12, 0usize..3).prop_map(|(entry, block)| Motion::Show(Focus {
            entry: EntryId(entry),
            block
        })),
    ]
}

proptest! {
    /// After any motions, the window shows consecutive rows, and is full if there are enough of
    /// them.
    #[test]
    fn the_window_is_a_part_of_the_flat_list(
        entries in proptest::collection::vec(proptest::collection::vec(0usize..9, 1..4), 0..12),
        motions in proptest::collection::vec((motion(), 0usize..20, any::<bool>()), 1..25),
        portion in 1usize..5,
    ) {
        let mut flat = Flat { entries, portion, laid_out: 0 };
        let mut view = Viewport::default();
        for (motion, height, grows) in motions {
            if grows {
                flat.entries.push(vec![height % 5 + 1]);
            }
            view.push_motion(motion);
            view.arrange(&mut flat, height);
            let all = flat.all();
            let shown = window(&view);
            assert_eq!(shown.len(), height.min(all.len()), "height {height} of {}", all.len());
            assert!(shown.is_empty() || all.windows(shown.len()).any(|part| part == shown), "{shown:?}");
            if view.follows() && !shown.is_empty() {
                assert_eq!(shown.last(), all.last());
            }
        }
    }
}

fn flat(entries: &[&[usize]]) -> Flat {
    Flat {
        entries: entries.iter().map(|blocks| blocks.to_vec()).collect(),
        portion: usize::MAX,
        laid_out: 0,
    }
}

#[test]
fn scrolling_moves_by_exactly_the_lines_asked_for() {
    let mut rows = flat(&[&[3, 2], &[5], &[1, 1, 1], &[8], &[2]]);
    let all = rows.all();
    let mut view = Viewport::default();
    view.push_motion(Motion::Top);
    for offset in 0..all.len() - 6 {
        view.arrange(&mut rows, 6);
        assert_eq!(window(&view), all[offset..offset + 6]);
        view.push_motion(Motion::Lines(1));
    }
}

#[test]
fn a_paused_window_stays_when_entries_arrive() {
    let mut rows = flat(&[&[4], &[4], &[4]]);
    let mut view = Viewport::default();
    view.push_motion(Motion::Top);
    view.arrange(&mut rows, 5);
    let before = window(&view);
    for _ in 0..500 {
        rows.entries.push(vec![2]);
        view.arrange(&mut rows, 5);
    }
    assert_eq!(window(&view), before);
    assert!(!view.follows());
}

#[test]
fn the_focused_item_keeps_its_line_when_rows_above_it_change() {
    let mut rows = flat(&[&[4, 4], &[6], &[3], &[9]]);
    let mut view = Viewport::default();
    view.push_motion(Motion::Top);
    view.push_motion(Motion::Lines(2));
    view.push_motion(Motion::Items(2));
    view.arrange(&mut rows, 8);
    let line_of_focus = |view: &Viewport| {
        view.lines
            .iter()
            .position(|line| super::focus_of(line) == view.focus)
    };
    let before = line_of_focus(&view);
    assert!(before.is_some());
    rows.entries[0] = vec![9, 4];
    view.arrange(&mut rows, 8);
    assert_eq!(line_of_focus(&view), before);
}

#[test]
fn a_tall_item_is_scrolled_through_before_the_next_one() {
    let mut rows = flat(&[&[20], &[2]]);
    let mut view = Viewport::default();
    view.push_motion(Motion::Top);
    view.push_motion(Motion::Items(3));
    view.arrange(&mut rows, 6);
    assert_eq!(
        view.focus,
        Some(Focus {
            entry: EntryId(0),
            block: 0
        })
    );
    assert_eq!(window(&view).first(), Some(&(0, 0, 3)));
}

#[test]
fn work_depends_on_the_window_only() {
    let mut rows = Flat {
        entries: vec![vec![3]; 100_000],
        portion: usize::MAX,
        laid_out: 0,
    };
    let mut view = Viewport::default();
    view.arrange(&mut rows, 40);
    for motion in [
        Motion::Lines(-400),
        Motion::Pause,
        Motion::HalfPages(-2),
        Motion::Items(-5),
        Motion::Top,
        Motion::Tail,
    ] {
        rows.laid_out = 0;
        view.push_motion(motion);
        view.arrange(&mut rows, 40);
        assert!(rows.laid_out < 700, "{motion:?}: {}", rows.laid_out);
    }
}

#[test]
fn a_huge_count_takes_few_steps_whatever_the_window() {
    for height in [1, 40] {
        let mut rows = Flat {
            entries: vec![vec![3, 50]; 3_000],
            portion: usize::MAX,
            laid_out: 0,
        };
        let mut view = Viewport::default();
        view.push_motion(Motion::Top);
        view.arrange(&mut rows, height);
        for (by, entry) in [
            (99_999, 2_999),
            (-99_999, 0),
            (1_500, 1_005),
            (-isize::MAX, 0),
            (isize::MAX, 2_999),
        ] {
            rows.laid_out = 0;
            view.push_motion(Motion::Items(by));
            view.arrange(&mut rows, height);
            let focus = view.focus.map(|focus| focus.entry.0);
            assert!(rows.laid_out < 20_000, "{by}: {}", rows.laid_out);
            assert!(
                focus.is_some_and(|focus| focus.abs_diff(entry) <= 250),
                "{by} of {height}: {focus:?}"
            );
        }
    }
}

proptest! {
    /// The layout in portions shows the same rows and the same focus as the layout of whole
    /// entries.
    #[test]
    fn portions_of_an_entry_are_walked_over_as_one(
        entries in proptest::collection::vec(proptest::collection::vec(0usize..6, 1..9), 1..5),
        motions in proptest::collection::vec((motion(), 1usize..20), 1..15),
        portion in 1usize..4,
    ) {
        let mut whole = Flat { entries: entries.clone(), portion: usize::MAX, laid_out: 0 };
        let mut parts = Flat { entries, portion, laid_out: 0 };
        let (mut one, mut other) = (Viewport::default(), Viewport::default());
        for (motion, height) in motions {
            for (view, rows) in [(&mut one, &mut whole), (&mut other, &mut parts)] {
                view.push_motion(motion);
                view.arrange(rows, height);
            }
            // Row numbers count from the first row of the portion.
            let blocks = |view: &Viewport| -> Vec<(u32, usize)> {
                window(view).into_iter().map(|(entry, block, _)| (entry, block)).collect()
            };
            assert_eq!(blocks(&one), blocks(&other), "{motion:?}");
            assert_eq!((one.focus, one.anchor), (other.focus, other.anchor), "{motion:?}");
        }
    }
}
