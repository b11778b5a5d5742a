//! Queries to the terminal, and what its replies mean.
//!
//! The last query is one that every terminal answers (DA1). Nothing waits for a reply:
//! [`super::terminal_input`] separates replies from keys whenever they arrive.

use super::terminal_input::event::InputEvent;
use crate::render::colour::luminance;
use crate::render::picture::kitty;

/// Queries the background colour (OSC 11).
pub(crate) const BACKGROUND: &str = "\x1b]11;?\x1b\\";
/// Queries name and version (XTVERSION).
pub(crate) const NAME: &str = "\x1b[>0q";
/// Queries the size of a cell in pixels.
pub(crate) const CELL: &str = "\x1b[16t";
/// Queries the attributes (DA1); every terminal answers.
pub(crate) const ATTRIBUTES: &str = "\x1b[c";

/// Least luminance of a light background.
const LIGHT: f64 = 0.4;

/// Parses a control string: its kind (the byte after `ESC`) and its text.
pub(crate) fn meaning(kind: u8, text: &str) -> Option<InputEvent> {
    match kind {
        b']' => is_light(text.strip_prefix("11;rgb")?).map(InputEvent::Background),
        b'P' => text
            .strip_prefix(">|")
            .map(|name| InputEvent::Name(name.to_owned())),
        b'_' => kitty::is_yes(text).then_some(InputEvent::Kitty),
        _ => None,
    }
}

/// Parses `:1e1e/1e1e/2e2e`; after `a:` there is a fourth component, which is ignored.
fn is_light(answer: &str) -> Option<bool> {
    let (_, colour) = answer.split_once(':')?;
    let part = |digits: &str| {
        let most = 16_u32
            .checked_pow(u32::try_from(digits.len()).ok()?)?
            .checked_sub(1)?;
        let value = u32::from_str_radix(digits, 16).ok()?;
        u8::try_from(u64::from(value) * 255 / u64::from(most.max(1))).ok()
    };
    let mut parts = colour.split('/').map(part);
    let rgb = (parts.next()??, parts.next()??, parts.next()??);
    Some(luminance(rgb) >= LIGHT)
}

#[cfg(test)]
mod tests {
    use super::{InputEvent, meaning};

    #[test]
    fn backgrounds_are_light_or_dark_however_their_colour_is_written() {
        for (answer, wanted) in [
            ("11;rgb:1e1e/1e1e/2e2e", Some(false)),
            ("11;rgb:ffff/ffff/f0f0", Some(true)),
            ("11;rgba:ff/ff/ff/ff", Some(true)),
            ("11;rgb:f/f/f", Some(true)),
            ("11;rgb:ff/ff", None),
            ("11;rgb://", None),
            ("10;rgb:ff/ff/ff", None),
        ] {
            assert_eq!(
                meaning(b']', answer),
                wanted.map(InputEvent::Background),
                "{answer}"
            );
        }
    }
}
