//! The window against the plain idea of it: all rows in one list, and an offset.

use std::sync::Arc;

use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};

use super::{Focus, Motion, Rows, Viewport};
use crate::model::entry::EntryId;
use crate::render::row::{Row, RowKind};

/// Entries with a number of rows for each of their blocks.
struct Flat {
    entries: Vec<Vec<usize>>,
    laid_out: usize,
}

impl Rows for Flat {
    fn len(&self) -> usize {
        self.entries.len()
    }

    fn id(&self, place: usize) -> Option<EntryId> {
        (place < self.entries.len()).then(|| EntryId(u32::try_from(place).unwrap()))
    }

    fn place(&self, id: EntryId) -> Option<usize> {
        (id.index() < self.entries.len()).then(|| id.index())
    }

    fn rows(&mut self, place: usize) -> Arc<Vec<Row>> {
        self.laid_out += 1;
        let blocks = self.entries[place].iter().enumerate();
        let row = |block, kind| Row { block, kind, ..Row::default() };
        Arc::new(
            blocks
                .flat_map(|(block, count)| {
                    (0..*count).map(move |n| row(block, if n == 0 { RowKind::Head } else { RowKind::Body }))
                })
                .collect(),
        )
    }
}

impl Flat {
    fn all(&mut self) -> Vec<(u32, usize)> {
        let places: Vec<usize> = (0..self.entries.len()).collect();
        places
            .into_iter()
            .flat_map(|place| {
                (0..self.rows(place).len()).map(move |row| (u32::try_from(place).unwrap(), row))
            })
            .collect()
    }
}

fn window(view: &Viewport) -> Vec<(u32, usize)> {
    view.lines.iter().map(|line| (line.entry.0, line.row)).collect()
}

fn motion() -> impl Strategy<Value = Motion> {
    prop_oneof![
        (-30isize..30).prop_map(Motion::Lines),
        (-4isize..4).prop_map(Motion::HalfPages),
        (-5isize..5).prop_map(Motion::Items),
        Just(Motion::Top),
        Just(Motion::Tail),
        Just(Motion::Pause),
        (0u32..12, 0usize..3).prop_map(|(entry, block)| Motion::Show(Focus { entry: EntryId(entry), block })),
    ]
}

proptest! {
    /// Whatever is done, the window is a run of consecutive rows, full if there are enough of them.
    #[test]
    fn the_window_is_a_part_of_the_flat_list(
        entries in proptest::collection::vec(proptest::collection::vec(0usize..9, 1..4), 0..12),
        motions in proptest::collection::vec((motion(), 0usize..20, any::<bool>()), 1..25),
    ) {
        let mut flat = Flat { entries, laid_out: 0 };
        let mut view = Viewport::default();
        for (motion, height, grows) in motions {
            if grows {
                flat.entries.push(vec![height % 5 + 1]);
            }
            view.ask(motion);
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
    Flat { entries: entries.iter().map(|blocks| blocks.to_vec()).collect(), laid_out: 0 }
}

#[test]
fn scrolling_moves_by_exactly_the_lines_asked_for() {
    let mut rows = flat(&[&[3, 2], &[5], &[1, 1, 1], &[8], &[2]]);
    let all = rows.all();
    let mut view = Viewport::default();
    view.ask(Motion::Top);
    for offset in 0..all.len() - 6 {
        view.arrange(&mut rows, 6);
        assert_eq!(window(&view), all[offset..offset + 6]);
        view.ask(Motion::Lines(1));
    }
}

#[test]
fn a_paused_window_stays_when_entries_arrive() {
    let mut rows = flat(&[&[4], &[4], &[4]]);
    let mut view = Viewport::default();
    view.ask(Motion::Top);
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
    view.ask(Motion::Top);
    view.ask(Motion::Lines(2));
    view.ask(Motion::Items(2));
    view.arrange(&mut rows, 8);
    let line_of_focus =
        |view: &Viewport| view.lines.iter().position(|line| super::focus_of(line) == view.focus);
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
    view.ask(Motion::Top);
    view.ask(Motion::Items(3));
    view.arrange(&mut rows, 6);
    assert_eq!(view.focus, Some(Focus { entry: EntryId(0), block: 0 }));
    assert_eq!(window(&view).first(), Some(&(0, 3)));
}

#[test]
fn work_depends_on_the_window_only() {
    let mut rows = Flat { entries: vec![vec![3]; 100_000], laid_out: 0 };
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
        view.ask(motion);
        view.arrange(&mut rows, 40);
        assert!(rows.laid_out < 700, "{motion:?}: {}", rows.laid_out);
    }
}

#[test]
fn a_huge_count_takes_few_steps_whatever_the_window() {
    for height in [1, 40] {
        let mut rows = Flat { entries: vec![vec![3, 50]; 3_000], laid_out: 0 };
        let mut view = Viewport::default();
        view.ask(Motion::Top);
        view.arrange(&mut rows, height);
        for (by, entry) in
            [(99_999, 2_999), (-99_999, 0), (1_500, 1_005), (-isize::MAX, 0), (isize::MAX, 2_999)]
        {
            rows.laid_out = 0;
            view.ask(Motion::Items(by));
            view.arrange(&mut rows, height);
            let focus = view.focus.map(|focus| focus.entry.0);
            assert!(rows.laid_out < 20_000, "{by}: {}", rows.laid_out);
            assert!(focus.is_some_and(|focus| focus.abs_diff(entry) <= 250), "{by} of {height}: {focus:?}");
        }
    }
}
