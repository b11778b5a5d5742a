//! A list with a cursor, of which only the window is written out.
//!
//! Invariant: what is chosen stays chosen while rows come and go.

use crate::app::input::action::Action;

/// Rows by their keys, one of them chosen.
#[derive(Clone, Debug)]
pub(crate) struct List<K> {
    keys: Vec<K>,
    chosen: usize,
    top: usize,
    height: usize,
    can_choose: fn(&K) -> bool,
}

impl<K> Default for List<K> {
    fn default() -> Self {
        Self {
            keys: Vec::new(),
            chosen: 0,
            top: 0,
            height: 1,
            can_choose: |_| true,
        }
    }
}

impl<K: Clone + PartialEq> List<K> {
    /// A list in which the cursor passes over some rows.
    pub(crate) fn with_headings(can_choose: fn(&K) -> bool) -> Self {
        Self {
            can_choose,
            ..Self::default()
        }
    }

    /// All rows.
    pub(crate) fn keys(&self) -> &[K] {
        &self.keys
    }

    /// The chosen row.
    pub(crate) fn chosen(&self) -> Option<&K> {
        self.keys
            .get(self.chosen)
            .filter(|key| (self.can_choose)(key))
    }

    /// Takes other rows. A cursor at the end goes on to the new end if the reader follows.
    pub(crate) fn set(&mut self, keys: Vec<K>, follows: bool) {
        let was_last = !self.keys.is_empty() && self.chosen + 1 == self.keys.len();
        let chosen = self.chosen().cloned();
        self.keys = keys;
        if follows && was_last {
            return self.settle(usize::MAX);
        }
        let is_it = |key: &K| chosen.as_ref() == Some(key);
        let here = self.keys.get(self.chosen).is_some_and(is_it);
        let found = if here {
            Some(self.chosen)
        } else {
            self.keys.iter().position(is_it)
        };
        self.settle(found.unwrap_or(self.chosen));
    }

    /// Chooses a row by its number, or the nearest that can be chosen.
    pub(crate) fn choose(&mut self, number: usize) {
        self.settle(number);
    }

    /// Chooses the row with a key, if there is one.
    pub(crate) fn choose_key(&mut self, key: &K) {
        if let Some(number) = self.keys.iter().position(|known| known == key) {
            self.settle(number);
        }
    }

    /// Moves the cursor, if that is what an action does.
    pub(crate) fn act(&mut self, action: Action, times: usize) -> bool {
        let Some(by) = action.steps(self.height, times) else {
            return false;
        };
        if matches!(action, Action::LineDown | Action::LineUp) {
            return self.scroll(by);
        }
        self.step(by);
        true
    }

    /// Chooses a row further down or up; rows that cannot be chosen are passed over.
    pub(crate) fn step(&mut self, by: isize) {
        let last = self.keys.len().saturating_sub(1);
        let wanted = self.chosen.saturating_add_signed(by).min(last);
        let ahead = if by < 0 {
            self.at_or_before(wanted)
        } else {
            self.at_or_after(wanted)
        };
        self.settle(ahead.unwrap_or(wanted));
    }

    /// Scrolls without moving the cursor, unless it would leave the window.
    fn scroll(&mut self, by: isize) -> bool {
        let most = self.keys.len().saturating_sub(self.height);
        self.top = self.top.saturating_add_signed(by).min(most);
        let last = (self.top + self.height).saturating_sub(1);
        let within = self.chosen.clamp(self.top, last);
        let ahead = if by < 0 {
            self.at_or_before(within)
        } else {
            self.at_or_after(within)
        };
        self.chosen = ahead
            .unwrap_or(within)
            .min(self.keys.len().saturating_sub(1));
        true
    }

    /// Rows that the window holds.
    pub(crate) fn fit(&mut self, height: usize) {
        self.height = height.max(1);
        self.settle(self.chosen);
    }

    /// The rows of the window: their numbers, keys, and whether the cursor is on them.
    pub(crate) fn window(&self) -> impl Iterator<Item = (usize, &K, bool)> {
        let rows = self
            .keys
            .iter()
            .enumerate()
            .skip(self.top)
            .take(self.height);
        rows.map(|(number, key)| (number, key, number == self.chosen))
    }

    /// How many rows are above and below the window.
    pub(crate) fn beyond(&self) -> (usize, usize) {
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

    /// Chooses the row at or after a place, and keeps it in sight with the heading above it.
    fn settle(&mut self, at: usize) {
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
    use crate::app::input::action::Action;

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
        assert!(list.act(Action::Next, 2));
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
    fn what_is_chosen_stays_chosen() {
        let mut list = list(&[1, 2, 3]);
        list.act(Action::Next, 1);
        list.set(vec![7, 8, 1, 2, 3], false);
        assert_eq!(list.chosen(), Some(&2));
        list.set(vec![7, 8], false);
        assert_eq!(list.chosen(), Some(&8), "the place if the row is gone");
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
