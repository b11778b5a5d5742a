//! What the terminal answers late, told apart from what is typed.
//!
//! An answer comes as keys: `alt-]`, `alt-P` or `alt-_`, then its text, then BEL or ST. It may come late or
//! never, so nobody waits for it; keys that only look like its beginning are passed on.

use std::time::Duration;

use super::answers::{Heard, meaning};
use crate::app::keys::{Code, Press};

/// An answer is shorter.
const LONGEST: usize = 80;
/// The pieces of an answer follow each other within this time.
const PIECES: Duration = Duration::from_millis(100);
/// How answers begin: the byte after ESC, and their text.
const BEGINNINGS: [(char, &str); 3] = [(']', "11;rgb"), ('P', ">|"), ('_', "Gi=")];

/// Takes answers out of the stream of keys.
#[derive(Debug, Default)]
pub struct Replies {
    is_expected: bool,
    held: Vec<Press>,
}

impl Replies {
    /// Expects answers, or none.
    pub fn new(is_expected: bool) -> Self {
        Self { is_expected, held: Vec::new() }
    }

    /// Takes a key in; gives what has become clear: keys, or an answer.
    pub fn take(&mut self, press: Press) -> Vec<Heard> {
        let begins = press.alt && BEGINNINGS.iter().any(|(kind, _)| press.code == Code::Char(*kind));
        if self.held.is_empty() && !(self.is_expected && begins) {
            return vec![Heard::Key(press)];
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
        let kind = kind_of(&self.held);
        let text: String = self.held.drain(..).skip(1).filter_map(Press::typed).collect();
        kind.and_then(|kind| meaning(u8::try_from(kind).ok()?, &text)).into_iter().collect()
    }

    /// How long the rest of what has begun to come is waited for: it may arrive in pieces.
    pub fn patience(&self) -> Duration {
        if self.held.is_empty() { Duration::ZERO } else { PIECES }
    }

    /// Nothing more has come with these keys: they were typed.
    pub fn give_back(&mut self) -> Vec<Heard> {
        self.held.drain(..).map(Heard::Key).collect()
    }
}

fn kind_of(held: &[Press]) -> Option<char> {
    match held.first()?.code {
        Code::Char(kind) => Some(kind),
        _ => None,
    }
}

/// Whether keys can be the beginning of an answer.
fn fits(held: &[Press]) -> bool {
    let typed: String = held.iter().skip(1).filter_map(|press| press.typed()).collect();
    let wanted = BEGINNINGS.iter().find(|(kind, _)| kind_of(held) == Some(*kind)).map(|(_, text)| *text);
    wanted.is_some_and(|wanted| wanted.starts_with(typed.get(..wanted.len()).unwrap_or(&typed)))
        && held.len() <= LONGEST
}

#[cfg(test)]
mod tests {
    use super::Replies;
    use crate::app::keys::{Code, Press};
    use crate::runtime::answers::Heard;

    fn keys(text: &str) -> Vec<Press> {
        text.chars().map(|c| Press::plain(Code::Char(c))).collect()
    }

    fn alt(c: char) -> Press {
        Press { alt: true, ..Press::plain(Code::Char(c)) }
    }

    fn told(events: &[Heard]) -> String {
        let word = |event: &Heard| match event {
            Heard::Key(press) => press.to_string(),
            Heard::Background(is_light) => format!("<{}>", if *is_light { "light" } else { "dark" }),
            other => format!("{other:?}"),
        };
        events.iter().map(word).collect()
    }

    #[test]
    fn an_answer_is_no_key() {
        let bell = Press { ctrl: true, ..Press::plain(Code::Char('g')) };
        for (kind, text, end, wanted) in [
            (']', "11;rgb:1e1e/1e1e/2e2e", alt('\\'), "<dark>"),
            (']', "11;rgb:ffff/ffff/f0f0", bell, "<light>"),
            (']', "11;rgba:ff/ff/ff/ff", alt('\\'), "<light>"),
            ('P', ">|foot(1.16)", alt('\\'), "Name(\"foot(1.16)\")"),
            ('_', "Gi=31;OK", alt('\\'), "Kitty"),
            ('_', "Gi=31;ENOENT", alt('\\'), ""),
        ] {
            let mut replies = Replies::new(true);
            let mut events = replies.take(keys("j")[0]);
            events.extend(replies.take(alt(kind)));
            for press in keys(text) {
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
