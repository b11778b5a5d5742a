//! A listing and its columns: the layout of columns on a line, and rows that are cut to them.

use std::borrow::Cow;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::sort::{Order, Sort, Value};
use crate::render::theme::Theme;
use crate::render::wrap;

/// A list of rows with columns. It computes rows from keys; the user of the list holds the keys.
pub(crate) trait Listing {
    /// The key of a row, which stays the same while rows are added and removed.
    type Key: Clone + PartialEq;
    /// The data that cells are computed from.
    type Row;
    /// The name of the column that the original order of keys is sorted by; empty if there is none.
    const ORDER: &'static str = "";
    /// Width of the gap between columns.
    const GAP: usize = 1;
    /// Whether columns shrink to their content, and empty ones are hidden.
    const SHRINKS: bool = false;

    /// The columns for lines of this width.
    fn columns(&self, width: usize) -> Vec<Column<Self::Row>>;

    fn row(&self, key: &Self::Key) -> Option<Self::Row>;

    /// The total of all rows, shown below them.
    fn total(&self) -> Option<Self::Row> {
        None
    }

    /// The line of a key that has no row.
    fn heading(&self, _key: &Self::Key, _width: usize, _theme: &Theme) -> Line<'static> {
        Line::default()
    }
}

impl Sort {
    /// Sorts keys, which must be in the listing's order. Unknown values come last in both
    /// directions; equal rows keep their order.
    pub(crate) fn sort<L: Listing>(self, listing: &L, mut keys: Vec<L::Key>) -> Vec<L::Key> {
        if self.by == L::ORDER {
            if self.order == Order::Falling {
                keys.reverse();
            }
            return keys;
        }
        let columns = listing.columns(usize::MAX);
        let is_own = |column: &&Column<L::Row>| column.sort.is_some_and(|own| own.by == self.by);
        let Some(column) = columns.iter().find(is_own) else {
            return keys;
        };
        let value = |key: &L::Key| {
            let row = listing.row(key);
            row.map_or(Value::None, |row| (column.value)(&row))
        };
        let mut keyed: Vec<(Value, L::Key)> =
            keys.into_iter().map(|key| (value(&key), key)).collect();
        keyed.sort_by(|(one, _), (other, _)| match (one, other, self.order) {
            (Value::None, _, _) | (_, Value::None, _) => {
                (*one == Value::None).cmp(&(*other == Value::None))
            }
            (one, other, Order::Rising) => one.cmp(other),
            (one, other, Order::Falling) => other.cmp(one),
        });
        keyed.into_iter().map(|(_, key)| key).collect()
    }
}

/// The content of a cell.
pub(crate) type Cell = Vec<Span<'static>>;

pub(crate) fn cell(text: impl Into<Cow<'static, str>>, style: Style) -> Cell {
    vec![Span::styled(text, style)]
}

/// The context in which a cell is drawn.
pub(crate) struct CellLook<'a> {
    pub(crate) theme: &'a Theme,
    /// The width of its column.
    pub(crate) width: usize,
    /// The widths of all columns; `None` for hidden ones.
    pub(crate) widths: &'a [Option<usize>],
    /// Whether the cursor is on its row.
    pub(crate) is_chosen: bool,
}

impl CellLook<'_> {
    /// `style`, or that of the cursor if it is on this row.
    pub(crate) fn focus_or(&self, style: Style) -> Style {
        if self.is_chosen {
            self.theme.focus
        } else {
            style
        }
    }
}

/// A column: title, width and the values of rows. It shows the value, unless it has cells of its
/// own.
pub(crate) struct Column<R> {
    title: &'static str,
    width: Width,
    /// Whether cells are aligned to the right, as figures are.
    is_right: bool,
    /// Priority: if there is no room, columns with a lower one are hidden first.
    keep: u8,
    /// Its name in JSON and CSV, and its initial direction of sorting.
    pub(crate) sort: Option<Sort>,
    /// The value of a row.
    pub(crate) value: Box<dyn Fn(&R) -> Value>,
    style: fn(&R, &CellLook<'_>) -> Style,
    cell: Option<CellWriter<R>>,
}

type CellWriter<R> = Box<dyn Fn(&R, &CellLook<'_>) -> Cell>;

/// The width of a column, without the gap after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    /// A number of columns.
    Fixed(usize),
    /// A share of the remaining width, at least this much.
    Rest(usize),
    /// A minimum and a maximum; in between as much as is available.
    Between(usize, usize),
}

impl Width {
    fn least(self) -> usize {
        match self {
            Self::Fixed(width) | Self::Rest(width) | Self::Between(width, _) => width,
        }
    }
}

impl<R> Column<R> {
    fn new(title: &'static str, width: Width, keep: u8) -> Self {
        Self {
            title,
            width,
            is_right: false,
            keep,
            sort: None,
            value: Box::new(|_| Value::None),
            style: |_, look| look.theme.text,
            cell: None,
        }
    }

    /// A column of text with a fixed width.
    pub(crate) fn words(title: &'static str, width: usize, keep: u8) -> Self {
        Self::new(title, Width::Fixed(width), keep)
    }

    /// A column of figures, aligned to the right.
    pub(crate) fn figures(title: &'static str, width: usize, keep: u8) -> Self {
        Self {
            is_right: true,
            ..Self::words(title, width, keep)
        }
    }

    /// A column that takes a part of the remaining width, up to a maximum.
    pub(crate) fn between(title: &'static str, least: usize, most: usize, keep: u8) -> Self {
        Self::new(title, Width::Between(least, most), keep)
    }

    /// A column that takes the remaining width, at least this much.
    pub(crate) fn rest(title: &'static str, least: usize) -> Self {
        Self::new(title, Width::Rest(least), u8::MAX)
    }

    /// A column that is not shown, only written to JSON and CSV.
    pub(crate) fn data(name: &'static str, value: impl Fn(&R) -> Value + 'static) -> Self {
        Self::words("", 0, 0).sorted_by(name, value)
    }

    pub(crate) fn value(self, value: impl Fn(&R) -> Value + 'static) -> Self {
        let value = Box::new(value);
        Self { value, ..self }
    }

    /// Sets the value and its name, by which rows can then be sorted: figures initially with the
    /// largest first.
    pub(crate) fn sorted_by(
        self,
        name: &'static str,
        value: impl Fn(&R) -> Value + 'static,
    ) -> Self {
        let order = if self.is_right {
            Order::Falling
        } else {
            Order::Rising
        };
        let sort = Some(Sort { by: name, order });
        Self { sort, ..self }.value(value)
    }

    /// Reverses the initial direction of sorting.
    pub(crate) fn turned(self) -> Self {
        let sort = self.sort.map(Sort::reversed);
        Self { sort, ..self }
    }

    /// Sets the style of values.
    pub(crate) fn style(self, style: fn(&R, &CellLook<'_>) -> Style) -> Self {
        Self { style, ..self }
    }

    /// Makes the values dim.
    pub(crate) fn dim(self) -> Self {
        self.style(|_, look| look.theme.dim)
    }

    /// Sets the cell that is shown instead of the value.
    pub(crate) fn cell(self, cell: impl Fn(&R, &CellLook<'_>) -> Cell + 'static) -> Self {
        Self {
            cell: Some(Box::new(cell)),
            ..self
        }
    }

    /// Shrinks the column to its content, and hides it if it is empty.
    pub(crate) fn shrink<'r>(&mut self, rows: impl Iterator<Item = &'r R>, theme: &Theme)
    where
        R: 'r,
    {
        let (Width::Fixed(most) | Width::Between(_, most)) = self.width else {
            return;
        };
        let look = CellLook {
            theme,
            width: most,
            widths: &[],
            is_chosen: false,
        };
        let widest = rows
            .map(|row| wrap::width_of(&self.shown(row, &look)))
            .max();
        let wanted = match widest.unwrap_or(0) {
            0 => 0,
            // The head needs room for the sign of the direction.
            widest => widest.max(wrap::width(self.title) + usize::from(self.sort.is_some())),
        };
        self.width = match self.width {
            Width::Between(least, most) if wanted > least => {
                Width::Between(least, wanted.min(most))
            }
            _ => Width::Fixed(wanted.min(most)),
        };
    }

    fn shown(&self, row: &R, look: &CellLook<'_>) -> Cell {
        match &self.cell {
            Some(cell) => cell(row, look),
            None => cell((self.value)(row).words(), (self.style)(row, look)),
        }
    }
}

/// A column that rows can be sorted by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sortable {
    /// Its name and initial direction.
    pub(crate) sort: Sort,
    pub(crate) title: &'static str,
    /// Whether it is visible.
    pub(crate) is_shown: bool,
}

/// Columns laid out on a line.
pub(crate) struct Table<R> {
    columns: Vec<Column<R>>,
    /// Width of each column; `None` for hidden ones.
    widths: Vec<Option<usize>>,
    /// Width of the gap between them.
    gap: usize,
}

impl<R> Table<R> {
    /// Lays out a listing's columns on lines of this width.
    pub(crate) fn of<L: Listing<Row = R>>(listing: &L, width: usize) -> Self {
        Self::new(listing.columns(width), width, L::GAP)
    }

    /// Lays out a listing's columns, shrunk to these rows if the listing shrinks.
    pub(crate) fn for_rows<'r, L: Listing<Row = R>>(
        listing: &L,
        rows: impl Iterator<Item = &'r R> + Clone,
        width: usize,
        theme: &Theme,
    ) -> Self
    where
        R: 'r,
    {
        let mut columns = listing.columns(width);
        for column in columns.iter_mut().filter(|_| L::SHRINKS) {
            column.shrink(rows.clone(), theme);
        }
        Self::new(columns, width, L::GAP)
    }

    /// Lays out columns on lines of this width, with a gap between them. Columns of width 0 are not
    /// shown.
    pub(crate) fn new(columns: Vec<Column<R>>, width: usize, gap: usize) -> Self {
        let shapes: Vec<(Width, u8)> = columns
            .iter()
            .map(|column| (column.width, column.keep))
            .collect();
        Self {
            widths: fit(&shapes, width, gap),
            columns,
            gap,
        }
    }

    /// The width of a column; `None` if it is hidden.
    pub(crate) fn width_of(&self, column: usize) -> Option<usize> {
        self.widths.get(column).copied().flatten()
    }

    /// The columns that rows can be sorted by.
    pub(crate) fn sortable(&self) -> impl Iterator<Item = Sortable> {
        self.shown_or_not().filter_map(|(column, width)| {
            (column.width != Width::Fixed(0)).then_some(Sortable {
                sort: column.sort?,
                title: column.title,
                is_shown: width.is_some(),
            })
        })
    }

    fn shown_or_not(&self) -> impl Iterator<Item = (&Column<R>, Option<usize>)> {
        self.columns.iter().zip(self.widths.iter().copied())
    }

    /// The line of titles. That of the sorted column is highlighted and has the sign of the
    /// direction.
    pub(crate) fn heads(&self, sort: Option<Sort>, theme: &Theme) -> Line<'static> {
        self.line(theme, |column, _| {
            let own = column.sort.map(|own| own.by);
            match sort.filter(|sort| own == Some(sort.by)) {
                Some(sort) => cell(format!("{}{}", column.title, sort.sign(theme)), theme.focus),
                None => cell(column.title, theme.dim),
            }
        })
    }

    /// A row, with each cell cut to its column.
    pub(crate) fn row(&self, row: &R, theme: &Theme, is_chosen: bool) -> Line<'static> {
        self.line(theme, |column, width| {
            let look = CellLook {
                theme,
                width,
                widths: &self.widths,
                is_chosen,
            };
            column.shown(row, &look)
        })
    }

    fn line(&self, theme: &Theme, cell: impl Fn(&Column<R>, usize) -> Cell) -> Line<'static> {
        let cut = theme.glyphs().cut;
        let mut spans: Vec<Span<'static>> = Vec::new();
        let shown = self
            .shown_or_not()
            .filter_map(|(column, width)| Some((column, width?)));
        for (number, (column, width)) in shown.enumerate() {
            if number > 0 {
                spans.push(Span::raw(" ".repeat(self.gap)));
            }
            let cell = wrap::fit(&cell(column, width), width, cut);
            let air = Span::raw(" ".repeat(width.saturating_sub(wrap::width_of(&cell))));
            if column.is_right {
                spans.push(air);
                spans.extend(cell);
            } else {
                spans.extend(cell);
                spans.push(air);
            }
        }
        Line::from(spans)
    }
}

/// Divides a line's width among columns.
fn fit(columns: &[(Width, u8)], width: usize, gap: usize) -> Vec<Option<usize>> {
    let mut shown: Vec<bool> = columns
        .iter()
        .map(|(width, _)| *width != Width::Fixed(0))
        .collect();
    let needed = |shown: &[bool]| {
        let shown = columns.iter().zip(shown).filter(|(_, is_shown)| **is_shown);
        let least = shown.map(|((width, _), _)| width.least() + gap);
        least.sum::<usize>().saturating_sub(gap)
    };
    while needed(&shown) > width && shown.iter().filter(|is_shown| **is_shown).count() > 1 {
        let in_sight = shown.iter_mut().zip(columns).rev();
        let in_sight = in_sight.filter(|(is_shown, _)| **is_shown);
        if let Some((is_shown, _)) = in_sight.min_by_key(|(_, (_, keep))| *keep) {
            *is_shown = false;
        }
    }
    let mut spare = width.saturating_sub(needed(&shown));
    let has_rest = columns
        .iter()
        .zip(&shown)
        .any(|((width, _), is_shown)| *is_shown && matches!(width, Width::Rest(_)));
    let mut widths: Vec<Option<usize>> = Vec::new();
    for ((width, _), is_shown) in columns.iter().zip(&shown) {
        widths.push(is_shown.then(|| match width {
            // These columns get at most half of the remaining width, so that those without a
            // maximum get the most.
            Width::Between(least, most) => {
                let given = if has_rest { spare / 2 } else { spare };
                let more = (most - least.min(most)).min(given);
                spare -= more;
                least + more
            }
            Width::Fixed(width) | Width::Rest(width) => *width,
        }));
    }
    let rests = || columns.iter().zip(&shown);
    let rests = rests()
        .filter(|((width, _), is_shown)| **is_shown && matches!(width, Width::Rest(_)))
        .count();
    for ((width, _), given) in columns.iter().zip(&mut widths) {
        if let (Width::Rest(_), Some(given)) = (width, given) {
            *given += spare / rests;
        }
    }
    widths
}

/// A bar that is filled to a share from 0 to 1.
pub(crate) fn gauge(
    share: f64,
    width: usize,
    (full, empty): (Style, Style),
    theme: &Theme,
) -> Cell {
    let filled = (share.clamp(0.0, 1.0) * width as f64).round();
    // Any share above 0 is visible.
    let least = if share > 0.0 && width > 0 { 1.0 } else { 0.0 };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between nothing and the width of a screen"
    )]
    let filled = filled.max(least) as usize;
    let glyphs = theme.glyphs();
    vec![
        Span::styled(glyphs.chart.full.repeat(filled), full),
        Span::styled(
            glyphs.chart.empty.repeat(width.saturating_sub(filled)),
            empty,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::{Column, Listing, Order, Sort, Table, cell, gauge};
    use crate::listing::sort::Value;
    use crate::render::theme::Theme;

    /// A listing with one row: either a few columns, or a bar and a text.
    struct Sample {
        has_bar: bool,
    }

    impl Listing for Sample {
        type Key = ();
        type Row = ();

        fn columns(&self, _: usize) -> Vec<Column<()>> {
            let what = Column::rest("what", 6).value(|()| Value::text(Some("a long argument")));
            if self.has_bar {
                return vec![Column::between("bar", 4, 8, 9), what];
            }
            vec![
                Column::figures("#", 3, 9).value(|()| Value::int(Some(7))),
                what,
                Column::words("lane", 5, 1).cell(|(), look| cell("main", look.theme.dim)),
                Column::figures("time", 6, 5).sorted_by("time", |()| Value::ms(Some(1_200))),
            ]
        }

        fn row(&self, (): &()) -> Option<()> {
            Some(())
        }
    }

    fn table(width: usize) -> Table<()> {
        Table::of(&Sample { has_bar: false }, width)
    }

    #[test]
    fn columns_give_way_one_after_the_other() {
        let row = |width: usize| table(width).row(&(), &Theme::dark(), false).to_string();
        assert_eq!(row(30), "  7 a long argum… main    1.2s");
        assert_eq!(row(22), "  7 a long arg…   1.2s", "the lane went first");
        assert_eq!(row(12), "  7 a long …");
        assert_eq!(
            row(3),
            "a lon…",
            "the last column stays, whatever the width"
        );
    }

    #[test]
    fn a_column_with_a_bound_leaves_the_most_to_the_others() {
        let widths = |width| {
            [0, 1].map(|column| Table::of(&Sample { has_bar: true }, width).width_of(column))
        };
        assert_eq!(widths(15), [Some(6), Some(8)]);
        assert_eq!(widths(40), [Some(8), Some(31)]);
    }

    #[test]
    fn columns_shrink_to_what_stands_in_them() {
        struct Words;
        impl Listing for Words {
            type Key = ();
            type Row = &'static str;
            const GAP: usize = 2;
            const SHRINKS: bool = true;

            fn columns(&self, _: usize) -> Vec<Column<&'static str>> {
                vec![
                    Column::words("who", 9, 2).value(|word| Value::text(Some(*word))),
                    Column::rest("what", 4).value(|_| Value::text(Some("a long argument"))),
                    Column::words("nothing", 20, 9),
                ]
            }

            fn row(&self, (): &()) -> Option<&'static str> {
                None
            }
        }
        let theme = Theme::dark();
        let table = Table::for_rows(&Words, ["me", "you"].iter(), 22, &theme);
        assert_eq!(
            table.row(&"you", &theme, false).to_string(),
            "you  a long argument  "
        );
        assert_eq!(
            table.heads(None, &theme).to_string(),
            "who  what             "
        );
    }

    #[test]
    fn the_sorted_column_is_marked() {
        let sort = Sort {
            by: "time",
            order: Order::Falling,
        };
        let heads = |width| table(width).heads(Some(sort), &Theme::dark()).to_string();
        assert_eq!(heads(30), "  # what          lane   time↓");
        let sortable = |width| {
            table(width)
                .sortable()
                .map(|one| one.is_shown)
                .collect::<Vec<_>>()
        };
        assert_eq!((sortable(30), sortable(12)), (vec![true], vec![false]));
    }

    #[test]
    fn a_gauge_shows_whatever_is_more_than_nothing() {
        let theme = Theme::dark();
        let bar = |share| {
            let spans = gauge(share, 4, (theme.text, theme.dim), &theme);
            spans
                .iter()
                .map(|span| span.content.as_ref())
                .collect::<String>()
        };
        assert_eq!(bar(0.0), "░░░░");
        assert_eq!(bar(0.01), "█░░░");
        assert_eq!(bar(0.5), "██░░");
        assert_eq!(bar(7.0), "████");
    }
}
