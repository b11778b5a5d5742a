//! A listing and its columns: which of them a line has room for, and rows that are cut to them.

use std::borrow::Cow;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::sort::{Order, Sort, Value};
use crate::render::theme::Theme;
use crate::render::wrap;

/// A list of rows with columns. It lends what rows are made of; who shows it has the keys of the rows.
pub(crate) trait Listing {
    /// What a row is known by while others come and go.
    type Key: Clone + PartialEq;
    /// What cells are made of.
    type Row;
    /// The name of the column by which keys are sorted as they come; none for another order.
    const ORDER: &'static str = "";
    /// Columns of the screen between those of the list.
    const GAP: usize = 1;
    /// Whether columns are no wider than what stands in them, and go where nothing does.
    const SHRINKS: bool = false;

    /// The columns for lines of this width.
    fn columns(&self, width: usize) -> Vec<Column<Self::Row>>;

    /// The row of a key.
    fn row(&self, key: &Self::Key) -> Option<Self::Row>;

    /// The sum of all rows, which stands below them.
    fn total(&self) -> Option<Self::Row> {
        None
    }

    /// What stands on the line of a key that has no row.
    fn heading(&self, _key: &Self::Key, _width: usize, _theme: &Theme) -> Line<'static> {
        Line::default()
    }
}

impl Sort {
    /// Sorts keys that stand in the order of the listing. What is not known comes last, whichever way rows are sorted;
    /// equal rows keep their order.
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

/// What a cell shows.
pub(crate) type Cell = Vec<Span<'static>>;

/// A cell of one style.
pub(crate) fn cell(text: impl Into<Cow<'static, str>>, style: Style) -> Cell {
    vec![Span::styled(text, style)]
}

/// How a cell is to be drawn.
pub(crate) struct Look<'a> {
    /// Colours and glyphs.
    pub(crate) theme: &'a Theme,
    /// The width of its column.
    pub(crate) width: usize,
    /// The widths of all columns; none of those that gave way.
    pub(crate) widths: &'a [Option<usize>],
    /// Whether the cursor is on its row.
    pub(crate) is_chosen: bool,
}

impl Look<'_> {
    /// A style; that of the cursor for the row on which it is.
    pub(crate) fn focus_or(&self, style: Style) -> Style {
        if self.is_chosen {
            self.theme.focus
        } else {
            style
        }
    }
}

/// A column: what it is called, how much room it has, and what it has of a row. It shows the value, unless it has cells of
/// its own.
pub(crate) struct Column<R> {
    title: &'static str,
    width: Width,
    /// Whether its cells stand at the right: figures.
    is_right: bool,
    /// Columns with a lower figure give way first where there is no room.
    keep: u8,
    /// Its name in JSON and CSV, and the order in which rows are sorted by it at first.
    pub(crate) sort: Option<Sort>,
    /// What it has of a row.
    pub(crate) value: fn(&R) -> Value,
    style: fn(&R, &Look<'_>) -> Style,
    cell: Option<fn(&R, &Look<'_>) -> Cell>,
}

/// How wide a column is, without the blank behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    /// So many columns of the screen.
    Fixed(usize),
    /// All that others leave; it is shared, and none has less than this.
    Rest(usize),
    /// From this to that, by what others leave.
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
            value: |_| Value::None,
            style: |_, look| look.theme.text,
            cell: None,
        }
    }

    /// A column of words.
    pub(crate) fn words(title: &'static str, width: usize, keep: u8) -> Self {
        Self::new(title, Width::Fixed(width), keep)
    }

    /// A column of figures.
    pub(crate) fn figures(title: &'static str, width: usize, keep: u8) -> Self {
        Self {
            is_right: true,
            ..Self::words(title, width, keep)
        }
    }

    /// A column that takes a part of what others leave, up to so much.
    pub(crate) fn between(title: &'static str, least: usize, most: usize, keep: u8) -> Self {
        Self::new(title, Width::Between(least, most), keep)
    }

    /// The column that takes what others leave, at least so much.
    pub(crate) fn rest(title: &'static str, least: usize) -> Self {
        Self::new(title, Width::Rest(least), u8::MAX)
    }

    /// A column that is never shown.
    pub(crate) fn data(name: &'static str, value: fn(&R) -> Value) -> Self {
        Self::words("", 0, 0).by(name, value)
    }

    /// It has values.
    pub(crate) fn value(self, value: fn(&R) -> Value) -> Self {
        Self { value, ..self }
    }

    /// It has values of this name, and rows can be sorted by them: figures at first with the greatest on top.
    pub(crate) fn by(self, name: &'static str, value: fn(&R) -> Value) -> Self {
        let order = if self.is_right {
            Order::Falling
        } else {
            Order::Rising
        };
        let sort = Some(Sort { by: name, order });
        Self { sort, ..self }.value(value)
    }

    /// Rows are sorted by it the other way round at first.
    pub(crate) fn turned(self) -> Self {
        let sort = self.sort.map(Sort::reversed);
        Self { sort, ..self }
    }

    /// Its values have this style.
    pub(crate) fn style(self, style: fn(&R, &Look<'_>) -> Style) -> Self {
        Self { style, ..self }
    }

    /// Its values are of minor interest.
    pub(crate) fn dim(self) -> Self {
        self.style(|_, look| look.theme.dim)
    }

    /// It shows this instead of its values.
    pub(crate) fn cell(self, cell: fn(&R, &Look<'_>) -> Cell) -> Self {
        let cell = Some(cell);
        Self { cell, ..self }
    }

    /// Makes it no wider than what stands in it, and takes it out if nothing does.
    pub(crate) fn shrink<'r>(&mut self, rows: impl Iterator<Item = &'r R>, theme: &Theme)
    where
        R: 'r,
    {
        let (Width::Fixed(most) | Width::Between(_, most)) = self.width else {
            return;
        };
        let look = Look {
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
            // The head has the sign of the direction behind it.
            widest => widest.max(wrap::width(self.title) + usize::from(self.sort.is_some())),
        };
        self.width = match self.width {
            Width::Between(least, most) if wanted > least => {
                Width::Between(least, wanted.min(most))
            }
            _ => Width::Fixed(wanted.min(most)),
        };
    }

    fn shown(&self, row: &R, look: &Look<'_>) -> Cell {
        match self.cell {
            Some(cell) => cell(row, look),
            None => cell((self.value)(row).words(), (self.style)(row, look)),
        }
    }
}

/// A column by which rows can be sorted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sortable {
    /// The way in which it is sorted at first.
    pub(crate) sort: Sort,
    /// What stands above it.
    pub(crate) title: &'static str,
    /// Whether there is room for it.
    pub(crate) is_shown: bool,
}

/// Columns that were given their room.
pub(crate) struct Table<R> {
    columns: Vec<Column<R>>,
    /// Columns of the screen for each; none for those that gave way.
    widths: Vec<Option<usize>>,
    /// Columns of the screen between them.
    gap: usize,
}

impl<R> Table<R> {
    /// The columns of a listing on lines of this width.
    pub(crate) fn of<L: Listing<Row = R>>(listing: &L, width: usize) -> Self {
        Self::new(listing.columns(width), width, L::GAP)
    }

    /// The same, as wide as these rows need them if the listing shrinks.
    pub(crate) fn around<'r, L: Listing<Row = R>>(
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

    /// Columns on lines of this width, with a gap of so much between them. A column of no width is not shown.
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

    /// Columns of the screen that a column has; none if it gave way.
    pub(crate) fn width_of(&self, column: usize) -> Option<usize> {
        self.widths.get(column).copied().flatten()
    }

    /// The columns by which rows can be sorted.
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

    /// The titles; that of the column by which rows are sorted stands out, with the direction.
    pub(crate) fn heads(&self, sort: Option<Sort>, theme: &Theme) -> Line<'static> {
        self.line(theme, |column, _| {
            let own = column.sort.map(|own| own.by);
            match sort.filter(|sort| own == Some(sort.by)) {
                Some(sort) => cell(format!("{}{}", column.title, sort.sign(theme)), theme.focus),
                None => cell(column.title, theme.dim),
            }
        })
    }

    /// A row: each cell cut to its column.
    pub(crate) fn row(&self, row: &R, theme: &Theme, is_chosen: bool) -> Line<'static> {
        self.line(theme, |column, width| {
            let look = Look {
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

/// Divides a line of this width among columns.
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
            // Half of what is there is for them, so that those without a bound have the most.
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

/// A bar that is filled by a share of 1.
pub(crate) fn gauge(
    share: f64,
    width: usize,
    (full, empty): (Style, Style),
    theme: &Theme,
) -> Cell {
    let filled = (share.clamp(0.0, 1.0) * width as f64).round();
    // Whatever is more than nothing shows.
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

    /// Two listings of one row: what happened, and a bar beside words.
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
                Column::figures("time", 6, 5).by("time", |()| Value::ms(Some(1_200))),
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
        let table = Table::around(&Words, ["me", "you"].iter(), 22, &theme);
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
