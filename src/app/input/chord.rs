//! What keys mean to this reader, and the keys of a chord that is not ended yet.

use super::keymap::Keymap;
use super::keys::Press;
use crate::model::timestamp::Timestamp;

/// Bindings, and what was pressed.
#[derive(Debug, Default)]
pub struct Keys {
    /// What keys mean to this reader.
    pub keymap: Keymap,
    /// Keys of an unfinished chord.
    pub pressed: Vec<Press>,
    /// A count typed before a key.
    pub count: Option<usize>,
    /// When a digit was typed that has opened a view, and may still be a count.
    pub(crate) typed_digit: Option<Timestamp>,
    /// The key that ended the last chord, if it types a character.
    pub letter: Option<char>,
}

/// A digit that has opened a view is a count after all if another key follows within this time, in ms: sooner than
/// anybody acts on what has come into sight.
const DIGIT_MS: i64 = 200;

impl Keys {
    /// Another key follows: whether the digit before it, which has opened a view, was a count.
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

    /// The count that is being typed, if it is certain to be one.
    pub(crate) fn shown_count(&self) -> Option<usize> {
        self.count.filter(|_| self.typed_digit.is_none())
    }

    /// Forgets what was pressed of a chord.
    pub(crate) fn forget_typed(&mut self) {
        self.pressed.clear();
        (self.count, self.typed_digit, self.letter) = (None, None, None);
    }
}
