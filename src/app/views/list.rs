//! A list on the screen: the cursor, the window, the order of rows, and the actions on them. Only
//! the window is formatted.
//!
//! Invariant: the chosen row stays chosen while rows are added and removed.

use ratatui::text::Line;

use super::page::{Answer, PageScene, SheetRow};
use crate::app::input::action::{Action, Way};
use crate::listing::sort::{Order, Sort};
use crate::listing::table::{Listing, Sortable, Table};
use crate::render::theme::Theme;

/// Rows by their keys, one of them chosen.
#[derive(Clone, Debug)]
pub(crate) struct List<K> {
    keys: Vec<K>,
    chosen: usize,
    top: usize,
    height: usize,
    can_choose: fn(&K) -> bool,
    sort: Option<Sort>,
    /// Columns that rows can be sorted by.
    sortable: Vec<Sortable>,
    /// Whether the cursor stays on the first row when rows change, which ends with the first
    /// movement.
    stays_on_top: bool,
    /// Whether a row outside the window was chosen, which is shown with rows around it.
    is_sought: bool,
}

/// The formatted window of a list.
pub(crate) struct ListLines {
    /// The head of the columns.
    pub(crate) head: Line<'static>,
    pub(crate) rows: Vec<SheetRow>,
    /// The total of all rows.
    pub(crate) total: Option<Line<'static>>,
}

impl<K> Default for List<K> {
    fn default() -> Self {
        Self {
            keys: Vec::new(),
            chosen: 0,
            top: 0,
            height: 1,
            can_choose: |_| true,
            sort: None,
            sortable: Vec::new(),
            stays_on_top: false,
            is_sought: false,
        }
    }
}

impl<K: Clone + PartialEq> List<K> {
    /// A list in which the cursor skips rows that `can_choose` rejects.
    pub(crate) fn with_headings(can_choose: fn(&K) -> bool) -> Self {
        Self {
            can_choose,
            ..Self::default()
        }
    }

    /// Keeps the cursor on the first row until it is moved.
    pub(crate) fn kept_on_top(self) -> Self {
        Self {
            stays_on_top: true,
            ..self
        }
    }

    pub(crate) fn sorted(self, sort: Sort) -> Self {
        Self {
            sort: Some(sort),
            ..self
        }
    }

    /// A list with the same settings and without rows, for another session.
    pub(crate) fn emptied(&self) -> Self {
        Self {
            can_choose: self.can_choose,
            sort: self.sort,
            stays_on_top: self.stays_on_top,
            ..Self::default()
        }
    }

    /// Sets the order; takes effect with [`List::fill`].
    pub(crate) fn sort_by(&mut self, sort: Sort) {
        self.sort = Some(sort);
    }

    /// The order; `None` if rows cannot be sorted.
    pub(crate) fn sort(&self) -> Option<Sort> {
        self.sort
    }

    pub(crate) fn keys(&self) -> &[K] {
        &self.keys
    }

    /// The key of the chosen row.
    pub(crate) fn chosen(&self) -> Option<&K> {
        self.keys
            .get(self.chosen)
            .filter(|key| (self.can_choose)(key))
    }

    /// Replaces the rows by the keys of a listing, sorted. A cursor on the last row moves to the
    /// new last row if the reader follows and new rows are added at the end.
    pub(crate) fn fill<L: Listing<Key = K>>(&mut self, listing: &L, keys: Vec<K>, follows: bool) {
        let keys = match self.sort {
            Some(sort) => sort.sort(listing, keys),
            None => keys,
        };
        self.set(keys, follows && self.is_in_order::<L>());
    }

    /// Whether rows are in the order of the listing.
    pub(crate) fn is_in_order<L: Listing<Key = K>>(&self) -> bool {
        let order = Sort {
            by: L::ORDER,
            order: Order::Rising,
        };
        self.sort.is_none_or(|sort| sort == order)
    }

    /// Formats the head and the rows in the window of a page.
    pub(crate) fn write<L: Listing<Key = K>>(
        &mut self,
        listing: &L,
        scene: &PageScene<'_>,
    ) -> (Line<'static>, Vec<SheetRow>) {
        let ListLines { head, rows, .. } = self.lines(listing, scene.columns(), scene.theme);
        (head, rows)
    }

    /// Formats the window with lines of this width.
    pub(crate) fn lines<L: Listing<Key = K>>(
        &mut self,
        listing: &L,
        width: usize,
        theme: &Theme,
    ) -> ListLines {
        let in_sight: Vec<Option<L::Row>> =
            self.window().map(|(_, key, _)| listing.row(key)).collect();
        let total = listing.total();
        let shown = in_sight.iter().flatten().chain(&total);
        let table = Table::for_rows(listing, shown, width, theme);
        let rows = self.window().zip(&in_sight);
        let rows = rows.map(|((number, key, is_chosen), row)| SheetRow {
            line: match row {
                Some(row) => table.row(row, theme, is_chosen),
                None => listing.heading(key, width, theme),
            },
            is_chosen,
            number,
        });
        let lines = ListLines {
            head: table.heads(self.sort, theme),
            rows: rows.collect(),
            total: total.map(|total| table.row(&total, theme, false)),
        };
        self.sortable = table.sortable().collect();
        lines
    }

    /// Lets rows be sorted by all columns of a listing, whether they are shown or not.
    pub(crate) fn offer<L: Listing<Key = K>>(&mut self, listing: &L) {
        let wide = usize::from(u16::MAX);
        self.sortable = Table::of(listing, wide).sortable().collect();
    }

    pub(crate) fn sorted_by(&self, theme: &Theme) -> String {
        let words = |sort: Sort| {
            let column = self.sortable.iter().find(|one| one.sort.by == sort.by);
            let title = column.map_or("", |column| column.title);
            let title = if title.is_empty() { sort.by } else { title };
            format!("by {title}{}", sort.sign(theme))
        };
        self.sort.map(words).unwrap_or_default()
    }

    /// Sorts by the next visible column, or reverses the order; takes effect with [`List::fill`].
    fn resort(&mut self, action: Action) -> Option<Answer> {
        let sort = self.sort?;
        let shown = self
            .sortable
            .iter()
            .filter(|one| one.is_shown || one.sort.by == sort.by);
        let shown: Vec<Sort> = shown.map(|one| one.sort).collect();
        let here = shown.iter().position(|one| one.by == sort.by)?;
        self.sort = Some(match action {
            Action::Reverse => sort.reversed(),
            Action::Shift(way) => {
                let steps = match way {
                    Way::Next => 1,
                    Way::Previous => shown.len() - 1,
                };
                shown.get((here + steps) % shown.len()).copied()?
            }
            _ => return None,
        });
        Some(Answer::Unfolded)
    }

    /// Replaces the rows. A cursor on the last row moves to the new last row if the reader follows.
    pub(crate) fn set(&mut self, keys: Vec<K>, follows: bool) {
        let was_last = !self.keys.is_empty() && self.chosen + 1 == self.keys.len();
        let chosen = self.chosen().cloned();
        self.keys = keys;
        if self.stays_on_top {
            return self.set_cursor(0);
        }
        if follows && was_last {
            return self.set_cursor(usize::MAX);
        }
        let is_it = |key: &K| chosen.as_ref() == Some(key);
        let here = self.keys.get(self.chosen).is_some_and(is_it);
        let found = if here {
            Some(self.chosen)
        } else {
            self.keys.iter().position(is_it)
        };
        self.set_cursor(found.unwrap_or(self.chosen));
    }

    /// The index of the chosen row.
    pub(crate) fn number(&self) -> usize {
        self.chosen
    }

    /// Chooses a row by its index, or the nearest that can be chosen.
    pub(crate) fn choose(&mut self, number: usize) {
        self.stays_on_top = false;
        self.is_sought |= !(self.top..self.top + self.height).contains(&number);
        self.set_cursor(number);
    }

    /// Chooses the row with a key. Returns whether there is one.
    pub(crate) fn choose_key(&mut self, key: &K) -> bool {
        self.choose_where(|known| known == key)
    }

    /// Chooses the first row whose key matches. Returns whether there is one.
    pub(crate) fn choose_where(&mut self, is_it: impl Fn(&K) -> bool) -> bool {
        let number = self.keys.iter().position(is_it);
        number.inspect(|number| self.choose(*number)).is_some()
    }

    /// Moves the cursor or changes the order, if the action does so.
    pub(crate) fn act(&mut self, action: Action, times: usize) -> Option<Answer> {
        let Some(by) = action.steps(self.height, times) else {
            return self.resort(action);
        };
        if matches!(action, Action::LineDown | Action::LineUp) {
            self.scroll(by);
        } else {
            self.step(by);
        }
        Some(Answer::Done)
    }

    /// Moves the cursor by `by` rows, skipping rows that cannot be chosen.
    pub(crate) fn step(&mut self, by: isize) {
        self.stays_on_top = false;
        let last = self.keys.len().saturating_sub(1);
        let wanted = self.chosen.saturating_add_signed(by).min(last);
        let ahead = if by < 0 {
            self.at_or_before(wanted)
        } else {
            self.at_or_after(wanted)
        };
        self.set_cursor(ahead.unwrap_or(wanted));
    }

    /// Scrolls without moving the cursor, unless it would leave the window.
    fn scroll(&mut self, by: isize) {
        let most = self.keys.len().saturating_sub(self.height);
        self.top = self.top.saturating_add_signed(by).min(most);
        let last = (self.top + self.height).saturating_sub(1);
        let within = self.chosen.clamp(self.top, last);
        let ahead = if by < 0 {
            self.at_or_before(within)
        } else {
            self.at_or_after(within)
        };
        self.stays_on_top = false;
        self.chosen = ahead
            .unwrap_or(within)
            .min(self.keys.len().saturating_sub(1));
    }

    /// Sets the height of the window in rows.
    pub(crate) fn fit(&mut self, height: usize) {
        self.height = height.max(1);
        if std::mem::take(&mut self.is_sought) {
            self.top = self.chosen.saturating_sub(self.height / 3);
        }
        self.set_cursor(self.chosen);
    }

    /// The rows of the window: index, key, and whether it is the chosen one.
    pub(crate) fn window(&self) -> impl Iterator<Item = (usize, &K, bool)> {
        let rows = self
            .keys
            .iter()
            .enumerate()
            .skip(self.top)
            .take(self.height);
        rows.map(|(number, key)| (number, key, number == self.chosen))
    }

    /// Numbers of rows above and below the window.
    pub(crate) fn hidden_counts(&self) -> (usize, usize) {
        (
            self.top,
            self.keys.len().saturating_sub(self.top + self.height),
        )
    }

    fn at_or_after(&self, number: usize) -> Option<usize> {
        let keys = self.keys.iter().enumerate().skip(number);
        keys.into_iter()
            .find(|(_, key)| (self.can_choose)(key))
            .map(|(number, _)| number)
    }

    fn at_or_before(&self, number: usize) -> Option<usize> {
        let keys = self
            .keys
            .iter()
            .enumerate()
            .take(number.saturating_add(1))
            .rev();
        keys.into_iter()
            .find(|(_, key)| (self.can_choose)(key))
            .map(|(number, _)| number)
    }

    /// Chooses the row at or after an index, and keeps it in the window with the heading above it.
    fn set_cursor(&mut self, at: usize) {
        let at = at.min(self.keys.len().saturating_sub(1));
        self.chosen = self
            .at_or_after(at)
            .or_else(|| self.at_or_before(at))
            .unwrap_or(0);
        let above = self.chosen.checked_sub(1);
        let heading = above.filter(|above| {
            self.keys
                .get(*above)
                .is_some_and(|key| !(self.can_choose)(key))
        });
        let most = self.keys.len().saturating_sub(self.height);
        self.top = self.top.min(heading.unwrap_or(self.chosen)).min(most);
        self.top = self.top.max((self.chosen + 1).saturating_sub(self.height));
    }
}

#[cfg(test)]
mod tests {
    use super::List;
    use crate::app::input::action::{Action, Way};
    use crate::app::views::page::Answer;
    use crate::listing::sort::{Order, Sort};
    use crate::listing::table::Sortable;

    fn list(rows: &[i32]) -> List<i32> {
        let mut list = List::with_headings(|key| *key > 0);
        list.fit(4);
        list.set(rows.to_vec(), false);
        list
    }

    fn window(list: &List<i32>) -> Vec<i32> {
        list.window().map(|(_, key, _)| *key).collect()
    }

    #[test]
    fn the_cursor_passes_over_headings_and_keeps_them_in_sight() {
        let mut list = list(&[-1, 1, 2, -2, 3, 4]);
        assert_eq!(list.chosen(), Some(&1));
        assert_eq!(list.act(Action::Next, 2), Some(Answer::Done));
        assert_eq!(
            (list.chosen(), window(&list)),
            (Some(&3), vec![1, 2, -2, 3])
        );
        list.act(Action::Top, 1);
        assert_eq!(
            (list.chosen(), window(&list)),
            (Some(&1), vec![-1, 1, 2, -2])
        );
        list.act(Action::Bottom, 1);
        assert_eq!(
            (list.chosen(), window(&list)),
            (Some(&4), vec![2, -2, 3, 4])
        );
        list.act(Action::Previous, 99);
        assert_eq!(list.chosen(), Some(&1));
    }

    #[test]
    fn a_row_chosen_from_elsewhere_has_rows_around_it() {
        let mut list = list(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        list.choose_key(&6);
        list.fit(4);
        assert_eq!(window(&list), [5, 6, 7, 8]);
        list.choose(7);
        list.fit(4);
        assert_eq!(
            window(&list),
            [5, 6, 7, 8],
            "a row in sight stays where it is"
        );
        list.choose_key(&9);
        list.fit(4);
        assert_eq!(window(&list), [6, 7, 8, 9]);
    }

    #[test]
    fn what_is_chosen_stays_chosen() {
        let mut list = list(&[1, 2, 3]);
        list.act(Action::Next, 1);
        list.set(vec![7, 8, 1, 2, 3], false);
        assert_eq!(list.chosen(), Some(&2));
        list.set(vec![7, 8], false);
        assert_eq!(list.chosen(), Some(&8), "the place if the row is gone");
    }

    #[test]
    fn the_first_row_is_chosen_until_a_key_chose_one() {
        let mut list: List<i32> = List::default().kept_on_top();
        list.fit(4);
        list.set(vec![1, 2], false);
        list.set(vec![7, 1, 2], false);
        assert_eq!(list.chosen(), Some(&7));
        list.act(Action::Next, 1);
        list.set(vec![9, 7, 1, 2], false);
        assert_eq!(list.chosen(), Some(&1));
    }

    #[test]
    fn columns_out_of_sight_are_passed_over() {
        let by = |by, order| Sort { by, order };
        let column = |sort, is_shown| Sortable {
            sort,
            title: "",
            is_shown,
        };
        let (number, lane) = (by("number", Order::Rising), by("lane", Order::Rising));
        let took = by("took_ms", Order::Falling);
        let mut list: List<i32> = List::default().sorted(number);
        list.sortable = vec![
            column(number, true),
            column(lane, false),
            column(took, true),
        ];
        let mut after = |action| {
            assert_eq!(list.act(action, 1), Some(Answer::Unfolded));
            list.sort()
        };
        assert_eq!(after(Action::Shift(Way::Next)), Some(took));
        assert_eq!(after(Action::Reverse), Some(by("took_ms", Order::Rising)));
        assert_eq!(after(Action::Shift(Way::Next)), Some(number));
        assert_eq!(after(Action::Shift(Way::Previous)), Some(took));
        assert_eq!(List::<i32>::default().act(Action::Reverse, 1), None);
    }

    #[test]
    fn the_end_is_followed_only_from_the_end() {
        let mut list = list(&[1, 2, 3]);
        list.set(vec![1, 2, 3, 4], true);
        assert_eq!(list.chosen(), Some(&1));
        list.act(Action::Bottom, 1);
        list.set(vec![1, 2, 3, 4, 5, 6, 7], true);
        assert_eq!((list.chosen(), window(&list)), (Some(&7), vec![4, 5, 6, 7]));
        list.set(vec![1, 2, 3, 4, 5, 6, 7, 8], false);
        assert_eq!(list.chosen(), Some(&7));
    }

    #[test]
    fn scrolling_leaves_the_cursor_where_it_is_while_it_can() {
        let mut list = list(&[1, 2, 3, 4, 5, 6, 7, 8]);
        list.act(Action::Next, 2);
        list.act(Action::LineDown, 2);
        assert_eq!((list.chosen(), window(&list)), (Some(&3), vec![3, 4, 5, 6]));
        list.act(Action::LineDown, 1);
        assert_eq!((list.chosen(), window(&list)), (Some(&4), vec![4, 5, 6, 7]));
        list.act(Action::LineUp, 9);
        assert_eq!((list.chosen(), window(&list)), (Some(&4), vec![1, 2, 3, 4]));
    }

    #[test]
    fn an_empty_list_has_nothing_to_choose() {
        let mut list = list(&[]);
        for action in [
            Action::Next,
            Action::Previous,
            Action::Bottom,
            Action::LineDown,
        ] {
            list.act(action, 3);
            assert_eq!((list.chosen(), window(&list)), (None, vec![]));
        }
        list.set(vec![-1], false);
        assert_eq!(list.chosen(), None, "a heading is not chosen");
    }
}
