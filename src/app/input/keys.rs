//! Key presses, with their names in bindings: `j`, `ctrl-d`, `pgdn`, `esc`.
//!
//! Invariant: this module does not depend on a terminal library; the runtime translates its events.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Press {
    pub code: Code,
    /// Whether Ctrl was held.
    pub ctrl: bool,
    /// Whether Alt was held.
    pub alt: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// A character; letters include their case, so Shift has no flag.
    Char(char),
    Enter,
    Esc,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    F(u8),
    /// In bindings only: any letter or digit, for the name of a mark.
    Letter,
}

/// Names of keys that are not characters.
const NAMED: [(&str, Code); 16] = [
    ("enter", Code::Enter),
    ("esc", Code::Esc),
    ("tab", Code::Tab),
    ("shift-tab", Code::BackTab),
    ("backspace", Code::Backspace),
    ("del", Code::Delete),
    ("up", Code::Up),
    ("down", Code::Down),
    ("left", Code::Left),
    ("right", Code::Right),
    ("home", Code::Home),
    ("end", Code::End),
    ("pgup", Code::PageUp),
    ("pgdn", Code::PageDown),
    ("space", Code::Char(' ')),
    ("a-z", Code::Letter),
];

impl Press {
    /// A key without modifiers.
    pub fn plain(code: Code) -> Self {
        Self {
            code,
            ctrl: false,
            alt: false,
        }
    }

    /// Parses a name such as `ctrl-d`.
    pub fn parse(name: &str) -> Option<Self> {
        if let Some(rest) = name.strip_prefix("ctrl-") {
            return Self::parse(rest).map(|press| Self {
                ctrl: true,
                ..press
            });
        }
        if let Some(rest) = name.strip_prefix("alt-") {
            return Self::parse(rest).map(|press| Self { alt: true, ..press });
        }
        if let Some((_, code)) = NAMED.iter().find(|(known, _)| *known == name) {
            return Some(Self::plain(*code));
        }
        if let Some(number) = name
            .strip_prefix('F')
            .and_then(|digits| digits.parse().ok())
        {
            return Some(Self::plain(Code::F(number)));
        }
        let mut chars = name.chars();
        let first = chars.next()?;
        chars
            .next()
            .is_none()
            .then(|| Self::plain(Code::Char(first)))
    }

    /// Whether this binding matches a pressed key; [`Code::Letter`] matches any letter or digit.
    pub(crate) fn covers(self, pressed: Self) -> bool {
        let is_letter =
            self.code == Code::Letter && pressed.typed().is_some_and(char::is_alphanumeric);
        self == pressed || is_letter
    }

    /// The character that the key types; `None` if it types none.
    pub(crate) fn typed(self) -> Option<char> {
        match self.code {
            Code::Char(c) if !self.ctrl && !self.alt => Some(c),
            _ => None,
        }
    }
}

/// Parses a sequence of keys: `g g`, `y j`, `ctrl-d`.
pub fn parse_keys(names: &str) -> Option<Vec<Press>> {
    names.split(' ').map(Press::parse).collect()
}

impl fmt::Display for Press {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ctrl {
            f.write_str("ctrl-")?;
        }
        if self.alt {
            f.write_str("alt-")?;
        }
        match (NAMED.iter().find(|(_, code)| *code == self.code), self.code) {
            (Some((name, _)), _) => f.write_str(name),
            (None, Code::Char(c)) => write!(f, "{c}"),
            (None, Code::F(number)) => write!(f, "F{number}"),
            (None, _) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Code, Press};

    #[test]
    fn names_and_presses_agree() {
        for name in [
            "j",
            "G",
            "ctrl-d",
            "alt-left",
            "space",
            "F1",
            "pgdn",
            "{",
            "ctrl-z",
            "shift-tab",
        ] {
            assert_eq!(Press::parse(name).unwrap().to_string(), name);
        }
        assert_eq!(Press::parse("ctrl-"), None);
        assert_eq!(Press::parse("G"), Some(Press::plain(Code::Char('G'))));
    }
}
