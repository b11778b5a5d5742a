//! The keymap in force, and the unfinished chord and count.

use super::keymap::Keymap;
use super::keys::Press;
use crate::model::timestamp::Timestamp;

/// The keymap, and the pressed keys of a chord.
#[derive(Debug, Default)]
pub struct KeyState {
    /// The bindings of this user.
    pub keymap: Keymap,
    /// Keys of an unfinished chord.
    pub pressed: Vec<Press>,
    /// A count typed before a key.
    pub count: Option<usize>,
    /// When the digit was typed that opened a view and may still begin a count.
    pub(crate) typed_digit: Option<Timestamp>,
    /// The character of the key that ended the last chord: the name of a mark.
    pub letter: Option<char>,
}

/// A digit that opened a view begins a count after all if another key follows within this time, in ms: sooner than
/// anybody reacts to the view.
const DIGIT_MS: i64 = 200;

impl KeyState {
    /// Called with each key: whether the digit before it, which opened a view, began a count.
    pub(crate) fn was_count(&mut self, now: Timestamp) -> bool {
        let Some(since) = self.typed_digit.take() else {
            return false;
        };
        let is_count = now.0 < since.0 + DIGIT_MS;
        if !is_count {
            self.count = None;
        }
        is_count
    }

    /// The count to show; a digit that opened a view is not shown as one.
    pub(crate) fn shown_count(&self) -> Option<usize> {
        self.count.filter(|_| self.typed_digit.is_none())
    }

    /// Drops the unfinished chord and count.
    pub(crate) fn forget_typed(&mut self) {
        self.pressed.clear();
        (self.count, self.typed_digit, self.letter) = (None, None, None);
    }
}
