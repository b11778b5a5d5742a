//! By which column rows are sorted, and sorting them.
//!
//! Invariant: what is not known comes last, whichever way rows are sorted; equal rows keep their order.

use crate::app::input::action::Way;
use crate::app::views::table::{Order, Table};

/// A column and a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sort {
    /// The number of the column.
    pub(crate) column: usize,
    /// The direction.
    pub(crate) order: Order,
}

impl Sort {
    /// The way in which a column is sorted at first: figures with the greatest on top.
    pub(crate) fn by(column: usize, falling: &[usize]) -> Self {
        let order = if falling.contains(&column) {
            Order::Falling
        } else {
            Order::Rising
        };
        Self { column, order }
    }

    /// Sorts by the next column in sight of those that can be sorted by. `false` if there is none.
    pub(crate) fn shift(
        &mut self,
        way: Way,
        columns: usize,
        table: &Table,
        falling: &[usize],
    ) -> bool {
        let is_shown = |column: &usize| table.width_of(*column).is_some();
        let next = match way {
            Way::Next => (self.column + 1..columns).find(is_shown),
            Way::Previous => (0..self.column).rev().find(is_shown),
        };
        if let Some(column) = next {
            *self = Self::by(column, falling);
        }
        next.is_some()
    }

    /// The other way round.
    pub(crate) fn reverse(&mut self) {
        self.order = self.order.reversed();
    }

    /// Sorts rows that stand in the order of the file.
    pub(crate) fn sort<T, K: Ord>(self, rows: Vec<T>, key: impl Fn(&T) -> Option<K>) -> Vec<T> {
        let mut keyed: Vec<(Option<K>, T)> = rows.into_iter().map(|row| (key(&row), row)).collect();
        keyed.sort_by(|(one, _), (other, _)| match (one, other, self.order) {
            (Some(one), Some(other), Order::Rising) => one.cmp(other),
            (Some(one), Some(other), Order::Falling) => other.cmp(one),
            (one, other, _) => one.is_none().cmp(&other.is_none()),
        });
        keyed.into_iter().map(|(_, row)| row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Sort;
    use crate::app::input::action::Way;
    use crate::app::views::table::{Column, Order, Table};

    const COLUMNS: &[Column] = &[
        Column::figures("#", 3, 9),
        Column::words("lane", 9, 1),
        Column::figures("took", 4, 5),
    ];

    #[test]
    fn what_is_not_known_comes_last() {
        let rows = [Some(2), None, Some(9), Some(2), Some(1)];
        let sorted = |order| {
            let rows = rows.iter().copied().enumerate().collect();
            let sorted = Sort { column: 0, order }.sort(rows, |(_, key)| *key);
            sorted
                .into_iter()
                .map(|(place, _)| place)
                .collect::<Vec<usize>>()
        };
        assert_eq!(sorted(Order::Rising), [4, 0, 3, 2, 1]);
        assert_eq!(sorted(Order::Falling), [2, 0, 3, 4, 1]);
    }

    #[test]
    fn columns_out_of_sight_are_passed_over() {
        let table = Table::fit(COLUMNS, 10);
        let mut sort = Sort::by(0, &[2]);
        assert!(sort.shift(Way::Next, 3, &table, &[2]));
        assert_eq!(
            sort,
            Sort {
                column: 2,
                order: Order::Falling
            }
        );
        assert!(!sort.shift(Way::Next, 3, &table, &[2]));
        sort.reverse();
        assert_eq!(sort.order, Order::Rising);
        assert!(sort.shift(Way::Previous, 3, &table, &[2]));
        assert_eq!(
            sort,
            Sort {
                column: 0,
                order: Order::Rising
            }
        );
    }
}
