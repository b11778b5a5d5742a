//! Compares the viewport with a plain model: all rows in one list, and an offset.

use std::sync::Arc;

use tv::app::text::viewport::{Focus, Motion, RowSource, Viewport};
use tv::model::entry::EntryId;
use tv::render::row::{Row, RowKind};

/// Entries with a number of rows for each of their blocks.
struct Flat(Vec<Vec<usize>>);

/// Limit of blocks of an entry in one portion.
const PORTION: usize = 2;

impl Flat {
    /// Where each portion begins; an entry without blocks has one portion.
    fn starts(&self) -> impl Iterator<Item = Focus> {
        self.0.iter().enumerate().flat_map(|(entry, blocks)| {
            let entry = EntryId(u32::try_from(entry).expect("few"));
            (0..blocks.len().max(1))
                .step_by(PORTION)
                .map(move |block| Focus { entry, block })
        })
    }

    /// Position and row number of all rows.
    fn all(&mut self) -> Vec<(usize, usize)> {
        (0..self.len())
            .flat_map(|place| (0..self.rows(place).len()).map(move |row| (place, row)))
            .collect()
    }
}

impl RowSource for Flat {
    fn len(&self) -> usize {
        self.starts().count()
    }

    fn start(&self, place: usize) -> Option<Focus> {
        self.starts().nth(place)
    }

    fn place(&self, focus: Focus) -> Option<usize> {
        let is_of = |start: &Focus| start.entry == focus.entry && start.block <= focus.block;
        let found = self
            .starts()
            .enumerate()
            .filter(|(_, start)| is_of(start))
            .last();
        found.map(|(place, _)| place)
    }

    fn rows(&mut self, place: usize) -> Arc<Vec<Row>> {
        let start = self.start(place).expect("a portion");
        let blocks = self.0[start.entry.index()].iter().enumerate();
        let kind = |n| if n == 0 { RowKind::Head } else { RowKind::Body };
        Arc::new(
            blocks
                .skip(start.block)
                .take(PORTION)
                .flat_map(|(block, count)| {
                    (0..*count).map(move |n| Row {
                        block,
                        kind: kind(n),
                        ..Row::default()
                    })
                })
                .collect(),
        )
    }
}

/// Runs steps of two bytes: the operation, and how often or where.
pub fn viewport(data: &[u8]) {
    let mut flat = Flat(Vec::new());
    let mut view = Viewport::default();
    let mut height = 10;
    let mut before: Option<usize> = None;
    for step in data.chunks_exact(2).take(100) {
        let (what, n) = (step[0] % 16, usize::from(step[1]));
        let by = isize::from(i8::from_ne_bytes([step[1]]));
        let focus = Focus {
            entry: EntryId(u32::try_from(n % (flat.0.len() + 1)).expect("few")),
            block: n % 3,
        };
        match what {
            0 => flat.0.push(vec![n % 7, n % 5]),
            1 => flat.0.push(vec![n % 40]),
            2 => drop(flat.0.pop()),
            3 => flat
                .0
                .get_mut(n % 16)
                .into_iter()
                .for_each(|blocks| *blocks = vec![n % 9, n % 4, n % 3]),
            4 => height = n % 60,
            5 | 6 => view.push_motion(Motion::Lines(by)),
            7 => view.push_motion(Motion::HalfPages(by / 16)),
            8 | 9 => view.push_motion(Motion::Items(by / 8)),
            10 => view.push_motion(Motion::Top),
            11 => view.push_motion(Motion::Tail),
            12 => view.push_motion(Motion::Pause),
            13 => view.push_motion(Motion::Show(focus)),
            14 => view.push_motion(Motion::ShowRow(focus, n)),
            _ if n & 1 == 0 => view.push_motion(Motion::Select),
            _ => view.pin(),
        }
        let was_following = view.follows();
        view.arrange(&mut flat, height);
        let all = flat.all();
        let shown: Vec<(usize, usize)> = view
            .lines
            .iter()
            .map(|line| (line.place, line.row))
            .collect();
        assert_eq!(shown.len(), height.min(all.len()), "the window is full");
        let top = shown
            .first()
            .map(|first| all.iter().position(|row| row == first).expect("a row"));
        if let Some(top) = top {
            assert_eq!(all[top..top + shown.len()], shown, "rows follow each other");
        }
        if view.follows() && !shown.is_empty() {
            assert_eq!(shown.last(), all.last(), "who follows sees the end");
        }
        if let (5 | 6, Some(before), Some(top), false) = (what, before, top, was_following) {
            let most = all.len() - shown.len();
            let wanted = before.saturating_add_signed(by).min(most);
            assert_eq!(top, wanted, "scrolled by {by} from {before} of {most}");
        }
        assert!(
            view.focus
                .is_none_or(|focus| focus.entry.index() < flat.0.len()),
            "the focus is there"
        );
        before = top;
    }
}
