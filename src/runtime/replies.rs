//! What the terminal answers when it is asked for its background, told apart from what is typed.
//!
//! The answer comes as keys: `alt-]`, then `11;rgb:1e1e/1e1e/2e2e`, then BEL or ST. It may come late or
//! never, so nobody waits for it; keys that only look like its beginning are passed on.

use std::time::Duration;

use crate::app::keys::{Code, Press};
use crate::app::update::Event;
use crate::render::colour::luminance;

/// Asks the terminal for its background (OSC 11).
pub const QUESTION: &str = "\x1b]11;?\x1b\\";

/// An answer is shorter.
const LONGEST: usize = 40;
/// The pieces of an answer follow each other within this time.
const PIECES: Duration = Duration::from_millis(100);
/// A background is light from this luminance on.
const LIGHT: f64 = 0.4;

/// Takes the answer out of the stream of keys.
#[derive(Debug, Default)]
pub struct Replies {
    is_expected: bool,
    held: Vec<Press>,
}

impl Replies {
    /// Expects an answer, or none.
    pub fn new(is_expected: bool) -> Self {
        Self { is_expected, held: Vec::new() }
    }

    /// Takes a key in; gives what has become clear: keys, or the answer.
    pub fn take(&mut self, press: Press) -> Vec<Event> {
        let begins = press.alt && press.code == Code::Char(']');
        if self.held.is_empty() && !(self.is_expected && begins) {
            return vec![Event::Key(press)];
        }
        self.held.push(press);
        if !fits(&self.held) {
            return self.give_back();
        }
        let ends_with_bell = press.ctrl && press.code == Code::Char('g');
        let ends_with_st = press.alt && press.code == Code::Char('\\');
        if !ends_with_bell && !ends_with_st {
            return Vec::new();
        }
        let text: String = self.held.drain(..).filter_map(Press::typed).collect();
        self.is_expected = false;
        is_light(&text).map(Event::Background).into_iter().collect()
    }

    /// How long the rest of what has begun to come is waited for: it may arrive in pieces.
    pub fn patience(&self) -> Duration {
        if self.held.is_empty() { Duration::ZERO } else { PIECES }
    }

    /// Nothing more has come with these keys: they were typed.
    pub fn give_back(&mut self) -> Vec<Event> {
        self.held.drain(..).map(Event::Key).collect()
    }
}

/// Whether keys can be the beginning of an answer.
fn fits(held: &[Press]) -> bool {
    let typed: String = held.iter().skip(1).filter_map(|press| press.typed()).collect();
    let begins = "11;rgb".starts_with(typed.get(..6).unwrap_or(&typed));
    begins && held.len() <= LONGEST
}

/// Reads `11;rgb:1e1e/1e1e/2e2e`; `rgba` has a fourth part.
fn is_light(answer: &str) -> Option<bool> {
    let (_, colour) = answer.split_once(':')?;
    let part = |digits: &str| {
        let most = 16_u32.checked_pow(u32::try_from(digits.len()).ok()?)?.checked_sub(1)?;
        let value = u32::from_str_radix(digits, 16).ok()?;
        u8::try_from(value * 255 / most.max(1)).ok()
    };
    let mut parts = colour.split('/').map(part);
    let rgb = (parts.next()??, parts.next()??, parts.next()??);
    Some(luminance(rgb) >= LIGHT)
}

#[cfg(test)]
mod tests {
    use super::Replies;
    use crate::app::keys::{Code, Press};
    use crate::app::update::Event;

    fn keys(text: &str) -> Vec<Press> {
        text.chars().map(|c| Press::plain(Code::Char(c))).collect()
    }

    fn alt(c: char) -> Press {
        Press { alt: true, ..Press::plain(Code::Char(c)) }
    }

    fn told(events: &[Event]) -> String {
        let word = |event: &Event| match event {
            Event::Key(press) => press.to_string(),
            Event::Background(is_light) => format!("<{}>", if *is_light { "light" } else { "dark" }),
            other => format!("{other:?}"),
        };
        events.iter().map(word).collect()
    }

    #[test]
    fn an_answer_is_no_key() {
        for (colour, end, wanted) in [
            ("1e1e/1e1e/2e2e", alt('\\'), "<dark>"),
            ("ffff/ffff/f0f0", Press { ctrl: true, ..Press::plain(Code::Char('g')) }, "<light>"),
            ("ff/ff/ff/ff", alt('\\'), "<light>"),
        ] {
            let mut replies = Replies::new(true);
            let mut events = replies.take(keys("j")[0]);
            events.extend(replies.take(alt(']')));
            for press in keys(&format!("11;rgb:{colour}")) {
                events.extend(replies.take(press));
            }
            events.extend(replies.take(end));
            events.extend(replies.take(keys("k")[0]));
            assert_eq!(told(&events), format!("j{wanted}k"));
        }
    }

    #[test]
    fn what_only_looks_like_one_is_typed() {
        let mut replies = Replies::new(true);
        let mut events = replies.take(alt(']'));
        events.extend(keys("1j").into_iter().flat_map(|press| replies.take(press)));
        assert_eq!(told(&events), "alt-]1j");
        events = replies.take(alt(']'));
        events.extend(replies.give_back());
        assert_eq!(told(&events), "alt-]");
        assert_eq!(told(&Replies::new(false).take(alt(']'))), "alt-]");
    }
}
