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
    /// When a digit was typed that may be a count or a key of its own.
    pub(crate) typed_digit: Option<Timestamp>,
    /// The key that ended the last chord, if it types a character.
    pub letter: Option<char>,
}

impl Keys {
    /// Forgets what was pressed of a chord.
    pub(crate) fn forget_typed(&mut self) {
        self.pressed.clear();
        (self.count, self.typed_digit, self.letter) = (None, None, None);
    }
}
