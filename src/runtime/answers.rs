//! What the terminal answers when it is asked what it is and what it can show.
//!
//! For a short time after the question its bytes are read here, because the library that reads keys drops
//! most answers. The last question is one that every terminal answers (DA1), so the time ends as soon as
//! all answers are there; keys that are pressed meanwhile are told as keys. Answers that come later are
//! taken out of the keys by [`super::replies`].
//!
//! Invariant: every byte becomes an answer or a key, or belongs to a sequence that means nothing here.

use crate::app::keys::{Code, Press};
use crate::render::colour::luminance;
use crate::render::picture::kitty;

/// Asks the terminal for its background (OSC 11).
pub const BACKGROUND: &str = "\x1b]11;?\x1b\\";
/// Asks for its name (XTVERSION).
pub const NAME: &str = "\x1b[>0q";
/// Asks for the pixels of a cell.
pub const CELL: &str = "\x1b[16t";
/// Asks for what it is (DA1); all terminals answer.
pub const ATTRIBUTES: &str = "\x1b[c";

/// A background is light from this luminance on.
const LIGHT: f64 = 0.4;
/// Longer sequences are no answers.
const LONGEST: usize = 4_096;

/// Something that came from the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A key.
    Key(Press),
    /// Its background is light, or dark.
    Background(bool),
    /// It knows the kitty graphics protocol.
    Kitty,
    /// Its name and version.
    Name(String),
    /// Pixels of a cell, across and down.
    Cell(u16, u16),
    /// What it can do (DA1); 4 are sixels.
    Attributes(Vec<u16>),
}

/// Bytes that are not understood yet.
#[derive(Debug, Default)]
pub struct Answers {
    held: Vec<u8>,
}

/// What the beginning of the bytes is.
enum Front {
    /// Something of so many bytes.
    Is(usize, Option<Heard>),
    /// The beginning of something.
    Open,
}

impl Answers {
    /// Takes bytes in; gives what has become clear.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<Heard> {
        self.held.extend_from_slice(bytes);
        let mut out = Vec::new();
        while !self.held.is_empty() {
            match front(&self.held) {
                Front::Is(length, heard) => {
                    self.held.drain(..length.min(self.held.len()));
                    out.extend(heard);
                }
                Front::Open if self.held.len() > LONGEST => out.extend(self.give_back()),
                Front::Open => break,
            }
        }
        out
    }

    /// Whether something has begun and not ended.
    pub fn is_open(&self) -> bool {
        !self.held.is_empty()
    }

    /// Nothing more has come: what is left was typed.
    pub fn give_back(&mut self) -> Vec<Heard> {
        let mut out = Vec::new();
        let mut held = std::mem::take(&mut self.held);
        if let (Some(0x1b), rest) = (held.first().copied(), held.get(1..).unwrap_or_default().to_vec()) {
            // Escape alone, or Alt with what follows.
            let alt = rest.first().filter(|byte| byte.is_ascii_graphic());
            out.push(Heard::Key(match alt {
                Some(byte) => Press { alt: true, ..Press::plain(Code::Char(char::from(*byte))) },
                None => Press::plain(Code::Esc),
            }));
            held = rest.get(usize::from(alt.is_some())..).unwrap_or_default().to_vec();
        }
        let text = String::from_utf8_lossy(&held);
        out.extend(text.chars().filter_map(|c| typed(c).map(Heard::Key)));
        out
    }
}

fn front(bytes: &[u8]) -> Front {
    match bytes {
        [0x1b] | [] => Front::Open,
        [0x1b, b'[', rest @ ..] => control(rest),
        [0x1b, b'O', rest @ ..] => rest.first().map_or(Front::Open, |byte| Front::Is(3, named(*byte, 1))),
        [0x1b, kind @ (b']' | b'P' | b'_'), rest @ ..] => string(*kind, rest),
        [0x1b, 0x1b, ..] => Front::Is(1, Some(Heard::Key(Press::plain(Code::Esc)))),
        [0x1b, rest @ ..] => match character(rest) {
            Some((c, length)) => {
                let press = typed(c).map(|press| Heard::Key(Press { alt: true, ..press }));
                Front::Is(length + 1, press)
            }
            None => Front::Open,
        },
        _ => match character(bytes) {
            Some((c, length)) => Front::Is(length, typed(c).map(Heard::Key)),
            None => Front::Open,
        },
    }
}

/// The first character and its bytes; nothing if it is not complete.
fn character(bytes: &[u8]) -> Option<(char, usize)> {
    let head = bytes.get(..4).unwrap_or(bytes);
    match std::str::from_utf8(head) {
        Ok(text) => text.chars().next().map(|c| (c, c.len_utf8())),
        Err(error) if error.valid_up_to() > 0 => {
            let text = String::from_utf8_lossy(head.get(..error.valid_up_to())?);
            text.chars().next().map(|c| (c, c.len_utf8()))
        }
        Err(error) => error.error_len().map(|length| (char::REPLACEMENT_CHARACTER, length)),
    }
}

/// The key of a character.
fn typed(c: char) -> Option<Press> {
    let control = |byte: u8| Press { ctrl: true, ..Press::plain(Code::Char(char::from(byte))) };
    Some(match c {
        '\r' | '\n' => Press::plain(Code::Enter),
        '\t' => Press::plain(Code::Tab),
        '\x1b' => Press::plain(Code::Esc),
        '\x7f' => Press::plain(Code::Backspace),
        '\0' => control(b' '),
        '\x01'..='\x1a' => control(u8::try_from(c).ok()? - 1 + b'a'),
        '\x1c'..='\x1f' => control(u8::try_from(c).ok()? - 0x1c + b'4'),
        char::REPLACEMENT_CHARACTER => return None,
        c => Press::plain(Code::Char(c)),
    })
}

/// What follows `ESC [`.
fn control(rest: &[u8]) -> Front {
    let Some(end) = rest.iter().position(|byte| (0x40..=0x7e).contains(byte)) else { return Front::Open };
    let text = String::from_utf8_lossy(rest.get(..end).unwrap_or_default());
    let last = rest.get(end).copied().unwrap_or_default();
    let numbers = |text: &str| -> Vec<u16> { text.split(';').filter_map(|part| part.parse().ok()).collect() };
    let heard = match (text.strip_prefix('?'), last, numbers(&text).as_slice()) {
        (Some(attributes), b'c', _) => Some(Heard::Attributes(numbers(attributes))),
        (None, b't', [6, height, width]) if *height > 0 && *width > 0 => Some(Heard::Cell(*width, *height)),
        (None, b'~', [number, rest @ ..]) => numbered(*number, rest.first().copied().unwrap_or(1)),
        (None, byte, rest) => named(byte, rest.get(1).copied().unwrap_or(1)),
        _ => None,
    };
    Front::Is(end + 3, heard)
}

/// The key of a letter, with the modifiers that are held.
fn named(letter: u8, held: u16) -> Option<Heard> {
    let code = match letter {
        b'A' => Code::Up,
        b'B' => Code::Down,
        b'C' => Code::Right,
        b'D' => Code::Left,
        b'H' => Code::Home,
        b'F' => Code::End,
        b'Z' => Code::BackTab,
        b'P'..=b'S' => Code::F(letter - b'P' + 1),
        _ => return None,
    };
    Some(with(code, held))
}

/// The key of a number.
fn numbered(number: u16, held: u16) -> Option<Heard> {
    let code = match number {
        1 | 7 => Code::Home,
        3 => Code::Delete,
        4 | 8 => Code::End,
        5 => Code::PageUp,
        6 => Code::PageDown,
        11..=15 => Code::F(u8::try_from(number - 10).ok()?),
        17..=21 => Code::F(u8::try_from(number - 11).ok()?),
        23 | 24 => Code::F(u8::try_from(number - 12).ok()?),
        _ => return None,
    };
    Some(with(code, held))
}

fn with(code: Code, held: u16) -> Heard {
    let bits = held.saturating_sub(1);
    Heard::Key(Press { code, ctrl: bits & 4 != 0, alt: bits & 2 != 0 })
}

/// What follows `ESC ]`, `ESC P` or `ESC _`, up to ST or BEL.
fn string(kind: u8, rest: &[u8]) -> Front {
    let bell = rest.iter().position(|byte| *byte == 7).map(|at| (at, 1));
    let st = rest.windows(2).position(|two| two == b"\x1b\\").map(|at| (at, 2));
    let end = match (bell.filter(|_| kind == b']'), st) {
        (Some(bell), Some(st)) => bell.min(st),
        (bell, st) => match bell.or(st) {
            Some(end) => end,
            None => return Front::Open,
        },
    };
    let text = String::from_utf8_lossy(rest.get(..end.0).unwrap_or_default());
    Front::Is(2 + end.0 + end.1, meaning(kind, &text))
}

/// What a string says that began with `ESC` and this byte.
pub fn meaning(kind: u8, text: &str) -> Option<Heard> {
    match kind {
        b']' => is_light(text.strip_prefix("11;rgb")?).map(Heard::Background),
        b'P' => text.strip_prefix(">|").map(|name| Heard::Name(name.to_owned())),
        b'_' => kitty::is_yes(text).then_some(Heard::Kitty),
        _ => None,
    }
}

/// Reads `:1e1e/1e1e/2e2e`; after `a:` there is a fourth part.
fn is_light(answer: &str) -> Option<bool> {
    let (_, colour) = answer.split_once(':')?;
    let part = |digits: &str| {
        let most = 16_u32.checked_pow(u32::try_from(digits.len()).ok()?)?.checked_sub(1)?;
        let value = u32::from_str_radix(digits, 16).ok()?;
        u8::try_from(u64::from(value) * 255 / u64::from(most.max(1))).ok()
    };
    let mut parts = colour.split('/').map(part);
    let rgb = (parts.next()??, parts.next()??, parts.next()??);
    Some(luminance(rgb) >= LIGHT)
}

#[cfg(test)]
mod tests {
    use super::{Answers, Heard};

    fn told(heard: &[Heard]) -> String {
        let word = |heard: &Heard| match heard {
            Heard::Key(press) => format!("{press} "),
            other => format!("<{other:?}> "),
        };
        heard.iter().map(word).collect::<String>().trim_end().to_owned()
    }

    const ALL: &str = "j\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\\x1b]11;rgb:ff/ff/ff\x07\x1bP>|kitty(0.40.1)\x1b\\\
        \x1b_Gi=31;OK\x1b\\\x1b[6;20;9t\x1b[?62;4;22ck";
    const TOLD: &str = "j <Background(false)> <Background(true)> <Name(\"kitty(0.40.1)\")> <Kitty> \
        <Cell(9, 20)> <Attributes([62, 4, 22])> k";

    #[test]
    fn answers_are_told_apart_from_keys_however_they_come() {
        assert_eq!(told(&Answers::default().take(ALL.as_bytes())), TOLD);
        for size in [1, 2, 3, 7] {
            let mut answers = Answers::default();
            let heard: Vec<Heard> =
                ALL.as_bytes().chunks(size).flat_map(|piece| answers.take(piece)).collect();
            assert_eq!(told(&heard), TOLD, "in pieces of {size}");
            assert!(!answers.is_open());
        }
    }

    #[test]
    fn keys_are_keys() {
        let typed =
            "aä\x1b[A\x1b[1;5C\x1bOB\x1b[5~\x1b[3;3~\r\t\x7f\x03\x1bx\x1b[Z\x1bOQ\x1b[15~\x1b[I\x1b[99~q";
        assert_eq!(
            told(&Answers::default().take(typed.as_bytes())),
            "a ä up ctrl-right down pgup alt-del enter tab backspace ctrl-c alt-x shift-tab F2 F5 q"
        );
    }

    #[test]
    fn what_was_only_begun_was_typed() {
        for (bytes, wanted) in
            [("\x1b", "esc"), ("\x1b]", "alt-]"), ("\x1b_Gx", "alt-_ G x"), ("\x1b[", "alt-[")]
        {
            let mut answers = Answers::default();
            assert_eq!(answers.take(bytes.as_bytes()), []);
            assert!(answers.is_open());
            assert_eq!(told(&answers.give_back()), wanted);
        }
        let mut answers = Answers::default();
        assert_eq!(answers.take(&[b"\xc3" as &[u8], b"\xa4"].concat()).len(), 1);
        assert_eq!(told(&answers.take(b"\xff!")), "!");
    }
}
