//! The active keymap, and the unfinished chord.

use super::keymap::Keymap;
use super::keys::Press;

/// The keymap, and the pressed keys of a chord.
#[derive(Debug, Default)]
pub struct KeyState {
    /// The bindings of the user.
    pub keymap: Keymap,
    /// Keys of an unfinished chord.
    pub pressed: Vec<Press>,
    /// Unbound keys for which a message was shown.
    pub(crate) unbound: Vec<Press>,
    /// Whether the user has seen the message that `q` first closes what is open.
    pub(crate) knows_quit: bool,
    /// The character of the key that ended the last chord: the name of a mark.
    pub letter: Option<char>,
}

impl KeyState {
    /// Whether these unbound keys have not had a message yet; marks them as reported.
    pub(crate) fn is_first(&mut self, pressed: &[Press]) -> bool {
        let is_new = pressed.iter().any(|press| !self.unbound.contains(press));
        self.unbound.extend(pressed);
        is_new
    }

    /// Drops the unfinished chord.
    pub(crate) fn clear_typed(&mut self) {
        self.pressed.clear();
        self.letter = None;
    }
}
