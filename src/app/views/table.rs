//! Columns of a page: which of them have room, and rows cut to them.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::render::theme::Theme;
use crate::render::wrap;

/// A column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    /// What stands above it.
    pub(crate) title: &'static str,
    /// How wide it is.
    pub(crate) width: Width,
    /// Whether its cells stand at the right: figures.
    pub(crate) is_right: bool,
    /// Columns with a lower figure give way first where there is no room.
    pub(crate) keep: u8,
}

/// How wide a column is, without the blank behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
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

impl Column {
    /// A column of words.
    pub(crate) const fn words(title: &'static str, width: usize, keep: u8) -> Self {
        Self {
            title,
            width: Width::Fixed(width),
            is_right: false,
            keep,
        }
    }

    /// A column of figures.
    pub(crate) const fn figures(title: &'static str, width: usize, keep: u8) -> Self {
        Self {
            title,
            width: Width::Fixed(width),
            is_right: true,
            keep,
        }
    }

    /// A column that takes a part of what others leave, up to so much.
    pub(crate) const fn between(title: &'static str, least: usize, most: usize, keep: u8) -> Self {
        Self {
            title,
            width: Width::Between(least, most),
            is_right: false,
            keep,
        }
    }

    /// The column that takes what others leave, at least so much.
    pub(crate) const fn rest(title: &'static str, least: usize) -> Self {
        Self {
            title,
            width: Width::Rest(least),
            is_right: false,
            keep: u8::MAX,
        }
    }
}

/// Columns that were given their room.
#[derive(Clone, Debug)]
pub struct Table {
    columns: &'static [Column],
    /// Columns of the screen for each; none for those that gave way.
    widths: Vec<Option<usize>>,
}

impl Table {
    /// Divides so many columns of the screen. A column of no width is not shown.
    pub(crate) fn fit(columns: &'static [Column], width: usize) -> Self {
        let has_width = |place: &usize| {
            columns
                .get(*place)
                .is_some_and(|one| one.width != Width::Fixed(0))
        };
        let mut shown: Vec<usize> = (0..columns.len()).filter(has_width).collect();
        let needed = |shown: &[usize]| {
            let least = shown
                .iter()
                .filter_map(|place| columns.get(*place))
                .map(|one| one.width.least() + 1);
            least.sum::<usize>().saturating_sub(1)
        };
        while shown.len() > 1 && needed(&shown) > width {
            let keep = |place: &usize| columns.get(*place).map_or(0, |column| column.keep);
            let Some(out) = shown.iter().rev().copied().min_by_key(keep) else {
                break;
            };
            shown.retain(|place| *place != out);
        }
        let mut spare = width.saturating_sub(needed(&shown));
        let bounded = |place: &usize| match columns.get(*place)?.width {
            Width::Between(least, most) => Some((*place, least, most)),
            Width::Fixed(_) | Width::Rest(_) => None,
        };
        // Half of what is there is for them, so that those without a bound have the most.
        let mut given = vec![0; columns.len()];
        for (place, least, most) in shown.iter().filter_map(bounded) {
            let more = (most - least.min(most)).min(spare / 2);
            spare -= more;
            if let Some(given) = given.get_mut(place) {
                *given = more;
            }
        }
        let is_rest = |place: &&usize| {
            columns
                .get(**place)
                .is_some_and(|column| matches!(column.width, Width::Rest(_)))
        };
        let rests = shown.iter().filter(is_rest).count().max(1);
        let widths = columns.iter().enumerate().map(|(place, column)| {
            let width = match column.width {
                Width::Fixed(width) => width,
                Width::Rest(least) => least + spare / rests,
                Width::Between(least, _) => least + given.get(place).copied().unwrap_or(0),
            };
            shown.contains(&place).then_some(width)
        });
        Self {
            columns,
            widths: widths.collect(),
        }
    }

    /// Columns of the screen that a column has; none if it gave way.
    pub(crate) fn width_of(&self, column: usize) -> Option<usize> {
        self.widths.get(column).copied().flatten()
    }

    /// The titles; that of the column by which rows are sorted stands out, with the direction.
    pub(crate) fn heads(&self, sorted: Option<(usize, Order)>, theme: &Theme) -> Line<'static> {
        let title = |(place, column): (usize, &Column)| match sorted {
            Some((by, order)) if by == place => {
                let sign = match order {
                    Order::Rising => theme.glyphs().rising,
                    Order::Falling => theme.glyphs().falling,
                };
                Span::styled(format!("{}{sign}", column.title), theme.focus)
            }
            _ => Span::styled(column.title, theme.dim),
        };
        let titles = self.columns.iter().enumerate().map(title).collect();
        self.row(titles, theme)
    }

    /// A row: each cell cut to its column.
    pub(crate) fn row(&self, cells: Vec<Span<'static>>, theme: &Theme) -> Line<'static> {
        let cut = theme.glyphs().cut;
        let mut spans: Vec<Span<'static>> = Vec::new();
        let shown = self.columns.iter().zip(&self.widths).zip(cells);
        let shown = shown.filter_map(|((column, width), cell)| Some((column, (*width)?, cell)));
        for (place, (column, width, cell)) in shown.enumerate() {
            if place > 0 {
                spans.push(Span::raw(" "));
            }
            let cell = wrap::fit(&[cell], width, cut);
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

/// How rows are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Order {
    /// The least first.
    #[default]
    Rising,
    /// The greatest first.
    Falling,
}

impl Order {
    /// The other one.
    #[must_use]
    pub(crate) fn reversed(self) -> Self {
        match self {
            Self::Rising => Self::Falling,
            Self::Falling => Self::Rising,
        }
    }
}

/// A bar that is filled by a share of 1.
pub(crate) fn gauge(
    share: f64,
    width: usize,
    (full, empty): (Style, Style),
    theme: &Theme,
) -> Vec<Span<'static>> {
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
    use super::{Column, Order, Table, gauge};
    use crate::render::theme::Theme;
    use ratatui::text::Span;

    const COLUMNS: &[Column] = &[
        Column::figures("#", 3, 9),
        Column::rest("what", 6),
        Column::words("lane", 5, 1),
        Column::figures("time", 6, 5),
    ];

    fn row(width: usize) -> String {
        let cells = ["7", "a long argument", "main", "1.2 s"]
            .map(Span::raw)
            .to_vec();
        Table::fit(COLUMNS, width)
            .row(cells, &Theme::dark())
            .to_string()
    }

    #[test]
    fn columns_give_way_one_after_the_other() {
        assert_eq!(row(30), "  7 a long argum… main   1.2 s");
        assert_eq!(row(22), "  7 a long arg…  1.2 s", "the lane went first");
        assert_eq!(row(12), "  7 a long …");
        assert_eq!(
            row(3),
            "a lon…",
            "the last column stays, whatever the width"
        );
    }

    #[test]
    fn a_column_with_a_bound_leaves_the_most_to_the_others() {
        const COLUMNS: &[Column] = &[Column::between("bar", 4, 8, 9), Column::rest("what", 6)];
        let widths = |width| [0, 1].map(|column| Table::fit(COLUMNS, width).width_of(column));
        assert_eq!(widths(15), [Some(6), Some(8)]);
        assert_eq!(widths(40), [Some(8), Some(31)]);
    }

    #[test]
    fn the_sorted_column_is_marked() {
        let table = Table::fit(COLUMNS, 30);
        assert_eq!(
            table
                .heads(Some((3, Order::Falling)), &Theme::dark())
                .to_string(),
            "  # what          lane   time↓"
        );
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
