//! Values of rows in columns, and the order of rows.

use itertools::Itertools as _;

use crate::analysis::money::cost::usd;
use crate::analysis::phrases;
use crate::model::figures;
use crate::model::timestamp::Timestamp;
use crate::render::theme::Theme;
use crate::render::wrap;

/// The value of a row in a column. Rows are sorted by it, and JSON and CSV contain it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    /// Unknown; it sorts behind all others.
    None,
    Bool(bool),
    /// A number with its unit.
    Figure(i128, Unit),
    Time(Timestamp),
    Text(String),
    Texts(Vec<String>),
    /// Rows of its own, as JSON in CSV and without a place in text.
    Rows(Vec<Vec<(&'static str, Self)>>),
    /// A value that is sorted by the given figure instead.
    Ranked(i128, Box<Self>),
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unit {
    /// Without a unit.
    Count,
    Bytes,
    Ms,
    Tokens,
    Percent,
    /// Pico-dollars.
    Usd,
}

impl Value {
    fn figure(figure: Option<impl TryInto<i128>>, unit: Unit) -> Self {
        let figure = figure.and_then(|figure| figure.try_into().ok());
        figure.map_or(Self::None, |figure| Self::Figure(figure, unit))
    }

    pub(crate) fn int(figure: Option<impl TryInto<i128>>) -> Self {
        Self::figure(figure, Unit::Count)
    }

    /// A size in bytes.
    pub(crate) fn bytes(figure: Option<impl TryInto<i128>>) -> Self {
        Self::figure(figure, Unit::Bytes)
    }

    /// A duration in ms.
    pub(crate) fn ms(figure: Option<impl TryInto<i128>>) -> Self {
        Self::figure(figure, Unit::Ms)
    }

    /// A number of tokens.
    pub(crate) fn tokens(figure: Option<impl TryInto<i128>>) -> Self {
        Self::figure(figure, Unit::Tokens)
    }

    /// A cost in pico-dollars.
    pub(crate) fn usd(picos: Option<i128>) -> Self {
        Self::figure(picos, Unit::Usd)
    }

    /// A share in percent.
    pub(crate) fn percent(figure: Option<impl TryInto<i128>>) -> Self {
        Self::figure(figure, Unit::Percent)
    }

    pub(crate) fn time(time: Option<Timestamp>) -> Self {
        time.map_or(Self::None, Self::Time)
    }

    pub(crate) fn text(text: Option<impl Into<String>>) -> Self {
        text.map_or(Self::None, |text| Self::Text(text.into()))
    }

    /// A text with each run of whitespace replaced by a blank.
    pub(crate) fn line(text: &str) -> Self {
        Self::Text(text.split_whitespace().join(" "))
    }

    /// This value, sorted by `rank` instead.
    pub(crate) fn ranked(self, rank: impl TryInto<i128>) -> Self {
        let rank = rank.try_into().unwrap_or(i128::MAX);
        Self::Ranked(rank, Box::new(self))
    }

    /// The value as lists show it; empty for a count of 0.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::None | Self::Bool(_) | Self::Rows(_) | Self::Figure(0, Unit::Count) => {
                String::new()
            }
            Self::Figure(figure, unit) => {
                let size = u64::try_from(figure.unsigned_abs()).unwrap_or(u64::MAX);
                let sign = if *figure < 0 { "-" } else { "" };
                let words = match unit {
                    Unit::Count => size.to_string(),
                    Unit::Bytes => figures::bytes(size),
                    Unit::Ms => figures::duration(size),
                    Unit::Tokens => figures::tokens(size),
                    Unit::Percent => format!("{size}%"),
                    // Has a sign of its own.
                    Unit::Usd => return phrases::usd(usd(*figure)),
                };
                format!("{sign}{words}")
            }
            Self::Time(at) => at.clock(),
            Self::Text(text) => wrap::head(text, LONGEST).to_owned(),
            Self::Texts(texts) => texts.join(", "),
            Self::Ranked(_, value) => value.words(),
        }
    }
}

/// Maximum length of a text in a column, in bytes.
const LONGEST: usize = 2_000;

/// The direction of sorting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Order {
    /// The smallest first.
    #[default]
    Rising,
    /// The largest first.
    Falling,
}

/// The column by which rows are sorted, and the direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sort {
    /// The name of the column.
    pub(crate) by: &'static str,
    pub(crate) order: Order,
}

impl Sort {
    /// The same column in the other direction.
    #[must_use]
    pub(crate) fn reversed(self) -> Self {
        let order = match self.order {
            Order::Rising => Order::Falling,
            Order::Falling => Order::Rising,
        };
        Self { order, ..self }
    }

    /// The sign of the direction.
    pub(crate) fn sign(self, theme: &Theme) -> &'static str {
        match self.order {
            Order::Rising => theme.glyphs().rising,
            Order::Falling => theme.glyphs().falling,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Order, Sort, Value};
    use crate::listing::table::{Column, Listing};

    struct Numbers([Option<u64>; 5]);

    impl Listing for Numbers {
        type Key = usize;
        type Row = Option<u64>;
        const ORDER: &'static str = "place";

        fn columns(&self, _: usize) -> Vec<Column<Option<u64>>> {
            vec![Column::data("figure", |row| Value::int(*row))]
        }

        fn row(&self, key: &usize) -> Option<Option<u64>> {
            self.0.get(*key).copied()
        }
    }

    #[test]
    fn what_is_not_known_comes_last() {
        let numbers = Numbers([Some(2), None, Some(9), Some(2), Some(1)]);
        let sorted = |by, order| Sort { by, order }.sort(&numbers, (0..5).collect::<Vec<usize>>());
        assert_eq!(sorted("figure", Order::Rising), [4, 0, 3, 2, 1]);
        assert_eq!(sorted("figure", Order::Falling), [2, 0, 3, 4, 1]);
        assert_eq!(sorted("place", Order::Falling), [4, 3, 2, 1, 0]);
    }
}
