//! What the terminal sends: keys, the mouse, pasted text, and answers to what it was asked.
//!
//! All of it comes on one line, in pieces of any size, and answers come whenever they like: late, in the middle of
//! keys, or never. So one reader takes all of it apart. A library for keys alone takes answers for typed, drops those
//! that it does not know and forgets what stands behind them.
//!
//! Invariant: every byte becomes a key, a gesture, a paste or an answer, or belongs to a sequence that means nothing
//! here.

pub(crate) mod event;

use std::time::Duration;

use memchr::memmem;

use self::event::InputEvent;
use super::answers;
use crate::app::input::keys::{Code, Press};
use crate::app::input::mouse::{Gesture, Pointer};

/// Escape alone is a key, unless the rest of a sequence follows at once.
const ESCAPE: Duration = Duration::from_millis(25);
/// The pieces of a sequence follow each other within this time.
const PIECES: Duration = Duration::from_millis(100);
/// What can only be an answer or a paste is waited for so long.
const STALLED: Duration = Duration::from_secs(2);
/// Longer sequences are none.
const LONGEST: usize = 1_024;
/// No more of a paste is kept.
const MOST_PASTED: usize = 1 << 16;
const PASTE_END: &[u8] = b"\x1b[201~";
/// Bits of the mouse for Shift, Alt and Ctrl, which say nothing here.
const HELD: u16 = 0b1_1100;

/// Bytes that are not understood yet.
#[derive(Debug, Default)]
pub(crate) struct InputParser {
    held: Vec<u8>,
    /// What was pasted so far, while the end of it has not come.
    pasted: Option<Vec<u8>>,
}

/// What the beginning of the bytes is.
enum Front {
    /// Something of so many bytes.
    Is(usize, Option<InputEvent>),
    /// Text that is pasted follows so many bytes.
    Paste(usize),
    /// The beginning of something.
    Open,
}

impl InputParser {
    /// Takes bytes in; gives what has become clear.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Vec<InputEvent> {
        self.held.extend_from_slice(bytes);
        let mut out = Vec::new();
        loop {
            if self.pasted.is_some() {
                match self.take_pasted() {
                    Some(paste) => out.push(paste),
                    None => return out,
                }
            }
            self.take_sequences(&mut out);
            if self.pasted.is_none() {
                break;
            }
        }
        if self.held.len() > LONGEST {
            out.extend(self.give_back());
        }
        out
    }

    /// Takes what is complete, up to the beginning of a paste.
    fn take_sequences(&mut self, out: &mut Vec<InputEvent>) {
        let mut done = 0;
        while let Some(rest) = self.held.get(done..).filter(|rest| !rest.is_empty()) {
            match front(rest) {
                Front::Is(length, heard) => {
                    done += length;
                    out.extend(heard);
                }
                Front::Paste(length) => {
                    done += length;
                    self.pasted = Some(Vec::new());
                    break;
                }
                Front::Open => break,
            }
        }
        self.held.drain(..done.min(self.held.len()));
    }

    /// Goes on with a paste; gives it if its end is there.
    fn take_pasted(&mut self) -> Option<InputEvent> {
        let pasted = self.pasted.as_mut()?;
        let end = memmem::find(&self.held, PASTE_END);
        // The end may have come in part.
        let until = end.unwrap_or((self.held.len() + 1).saturating_sub(PASTE_END.len()));
        let room = MOST_PASTED.saturating_sub(pasted.len());
        pasted.extend(self.held.iter().take(until.min(room)));
        self.held
            .drain(..until + end.map_or(0, |_| PASTE_END.len()));
        end?;
        self.pasted
            .take()
            .map(|pasted| InputEvent::Paste(String::from_utf8_lossy(&pasted).into_owned()))
    }

    /// How long more is waited for; nothing if nothing has begun.
    pub(crate) fn patience(&self) -> Option<Duration> {
        match self.held.as_slice() {
            _ if self.pasted.is_some() => Some(STALLED),
            [] => None,
            [0x1b] => Some(ESCAPE),
            held if is_answer(held) => Some(STALLED),
            _ => Some(PIECES),
        }
    }

    /// Nothing more has come: what is left was typed, unless nobody could have typed it.
    pub(crate) fn give_back(&mut self) -> Vec<InputEvent> {
        let held = std::mem::take(&mut self.held);
        if let Some(mut pasted) = self.pasted.take() {
            pasted.extend(held);
            return vec![InputEvent::Paste(
                String::from_utf8_lossy(&pasted).into_owned(),
            )];
        }
        if is_answer(&held) {
            return Vec::new();
        }
        let (first, rest) = match held.as_slice() {
            [0x1b, byte, rest @ ..] if byte.is_ascii_graphic() => (Some(alt(*byte)), rest),
            [0x1b, rest @ ..] => (Some(Press::plain(Code::Esc)), rest),
            rest => (None, rest),
        };
        let text = String::from_utf8_lossy(rest).into_owned();
        first
            .into_iter()
            .chain(text.chars().filter_map(typed))
            .map(InputEvent::Key)
            .collect()
    }
}

/// Whether bytes are the beginning of an answer, or of what the mouse did: nobody types so much of one within
/// the time in which its pieces follow each other.
fn is_answer(held: &[u8]) -> bool {
    match held {
        [0x1b, b']', first, _, ..] => first.is_ascii_digit(),
        [0x1b, b'P', first, _, ..] => matches!(first, b'>' | b'!' | b'0'..=b'9'),
        [0x1b, b'_', first, _, ..] => *first == b'G',
        [0x1b, b'[', first, _, ..] => matches!(first, b'?' | b'>' | b'<' | b'0'..=b'9'),
        _ => false,
    }
}

fn front(bytes: &[u8]) -> Front {
    match bytes {
        [] | [0x1b] | [0x1b, b'O'] => Front::Open,
        [0x1b, b'[', rest @ ..] => control(rest),
        [0x1b, b'O', letter, ..] => match named(*letter, 1) {
            Some(key) => Front::Is(3, Some(key)),
            None => Front::Is(2, Some(InputEvent::Key(alt(b'O')))),
        },
        [0x1b, kind @ (b']' | b'P' | b'_'), rest @ ..] => string(*kind, rest),
        [0x1b, 0x1b, ..] => Front::Is(1, Some(InputEvent::Key(Press::plain(Code::Esc)))),
        [0x1b, rest @ ..] => match character(rest) {
            Some((c, length)) => {
                let press = typed(c).map(|press| InputEvent::Key(Press { alt: true, ..press }));
                Front::Is(length + 1, press)
            }
            None => Front::Open,
        },
        _ => match character(bytes) {
            Some((c, length)) => Front::Is(length, typed(c).map(InputEvent::Key)),
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
        Err(error) => error
            .error_len()
            .map(|length| (char::REPLACEMENT_CHARACTER, length)),
    }
}

/// The key of a character.
fn typed(c: char) -> Option<Press> {
    let control = |byte: u8| Press {
        ctrl: true,
        ..Press::plain(Code::Char(char::from(byte)))
    };
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

fn alt(byte: u8) -> Press {
    Press {
        alt: true,
        ..Press::plain(Code::Char(char::from(byte)))
    }
}

/// What follows `ESC [`.
fn control(rest: &[u8]) -> Front {
    match rest {
        // Function keys of the Linux console.
        [b'[' | b'M'] | [b'M', _] | [b'M', _, _] => return Front::Open,
        [b'[', letter @ b'A'..=b'E', ..] => {
            return Front::Is(4, Some(with(Code::F(letter - b'A' + 1), 1)));
        }
        // The mouse, as old terminals report it, in single bytes.
        [b'M', button, column, line, ..] => {
            let number = |byte: &u8| u16::from(byte.saturating_sub(32));
            let is_up = number(button) & !HELD == 3;
            let button = if is_up { 0 } else { number(button) };
            return Front::Is(6, mouse(&[button, number(column), number(line)], is_up));
        }
        _ => {}
    }
    let Some(end) = rest.iter().position(|byte| !(0x20..=0x3f).contains(byte)) else {
        return Front::Open;
    };
    let last = rest.get(end).copied().unwrap_or_default();
    if !(0x40..=0x7e).contains(&last) {
        return Front::Is(2, Some(InputEvent::Key(alt(b'['))));
    }
    let text = String::from_utf8_lossy(rest.get(..end).unwrap_or_default());
    let (sign, parameters) = match text.chars().next() {
        Some(sign @ ('?' | '<' | '=' | '>')) => (sign, text.get(1..).unwrap_or_default()),
        _ => (' ', text.as_ref()),
    };
    let numbers: Vec<u16> = parameters
        .split(';')
        .filter_map(|part| part.parse().ok())
        .collect();
    let heard = match (sign, last, numbers.as_slice()) {
        (' ', b'~', [200]) => return Front::Paste(end + 3),
        ('?', b'c', attributes) => Some(InputEvent::Attributes(attributes.to_vec())),
        ('<', b'M' | b'm', numbers) => mouse(numbers, last == b'm'),
        (' ', b't', [6, height, width]) if *height > 0 && *width > 0 => {
            Some(InputEvent::Cell(*width, *height))
        }
        (' ', b'~', [number, rest @ ..]) => numbered(*number, rest.first().copied().unwrap_or(1)),
        (' ', b'u', [code, rest @ ..]) => lettered(*code, rest.first().copied().unwrap_or(1)),
        (' ', letter, rest) => named(letter, rest.get(1).copied().unwrap_or(1)),
        _ => None,
    };
    Front::Is(end + 3, heard)
}

/// What the mouse did: button, column and line.
fn mouse(numbers: &[u16], is_up: bool) -> Option<InputEvent> {
    let [button, column, line] = numbers else {
        return None;
    };
    let gesture = match (button & !HELD, is_up) {
        (0, false) => Gesture::Press,
        (0, true) => Gesture::Release,
        (32, _) => Gesture::Drag,
        (64, _) => Gesture::WheelUp,
        (65, _) => Gesture::WheelDown,
        _ => return None,
    };
    let (column, line) = (column.checked_sub(1)?, line.checked_sub(1)?);
    Some(InputEvent::Mouse(Pointer {
        gesture,
        column,
        line,
    }))
}

/// The key of a letter, with the modifiers that are held.
fn named(letter: u8, held: u16) -> Option<InputEvent> {
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
fn numbered(number: u16, held: u16) -> Option<InputEvent> {
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

/// The key of a character that is given by its number.
fn lettered(number: u16, held: u16) -> Option<InputEvent> {
    typed(char::from_u32(u32::from(number))?).map(|press| with(press.code, held))
}

fn with(code: Code, held: u16) -> InputEvent {
    let bits = held.saturating_sub(1);
    InputEvent::Key(Press {
        code,
        ctrl: bits & 4 != 0,
        alt: bits & 2 != 0,
    })
}

/// What follows `ESC ]`, `ESC P` or `ESC _`, up to ST or BEL. Another control byte ends what is none.
fn string(kind: u8, rest: &[u8]) -> Front {
    let Some(end) = rest.iter().position(u8::is_ascii_control) else {
        return Front::Open;
    };
    let (text, tail) = rest.split_at(end);
    let length = match tail {
        [7, ..] if kind == b']' => end + 1,
        [0x1b, b'\\', ..] => end + 2,
        [0x1b] => return Front::Open,
        _ if is_answer(&[&[0x1b, kind], text].concat()) => return Front::Is(2 + end, None),
        _ => return Front::Is(2, Some(InputEvent::Key(alt(kind)))),
    };
    Front::Is(
        2 + length,
        answers::meaning(kind, &String::from_utf8_lossy(text)),
    )
}

#[cfg(test)]
mod tests {
    use super::{InputEvent, InputParser, MOST_PASTED};

    fn described(heard: &[InputEvent]) -> String {
        let word = |heard: &InputEvent| match heard {
            InputEvent::Key(press) => format!("{press} "),
            InputEvent::Mouse(at) => format!("<{:?} {} {}> ", at.gesture, at.column, at.line),
            other => format!("<{other:?}> "),
        };
        heard
            .iter()
            .map(word)
            .collect::<String>()
            .trim_end()
            .to_owned()
    }

    const ALL: &str = "j\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\\x1b]11;rgb:ff/ff/ff\x07\x1bP>|kitty(0.40.1)\x1b\\\
        \x1b_Gi=31;OK\x1b\\\x1b_Gi=31;ENOENT\x1b\\\x1b]10;rgb:0/0/0\x07\x1b[6;20;9t\x1b[?62;4;22ck\
        \x1b[<64;20;10M\x1b[<0;3;4M\x1b[<32;5;4M\x1b[<0;5;4m\x1b[<35;9;9M\x1b[200~a\x1b[A\nä\x1b[201~l";
    const PARSED: &str = "j <Background(false)> <Background(true)> <Name(\"kitty(0.40.1)\")> <Kitty> \
        <Cell(9, 20)> <Attributes([62, 4, 22])> k <WheelUp 19 9> <Press 2 3> <Drag 4 3> <Release 4 3> \
        <Paste(\"a\\u{1b}[A\\nä\")> l";

    #[test]
    fn input_is_parsed_alike_whole_and_in_pieces() {
        assert_eq!(
            described(&InputParser::default().take(ALL.as_bytes())),
            PARSED
        );
        for size in [1, 2, 3, 7] {
            let mut parser = InputParser::default();
            let heard: Vec<InputEvent> = ALL
                .as_bytes()
                .chunks(size)
                .flat_map(|piece| parser.take(piece))
                .collect();
            assert_eq!(described(&heard), PARSED, "in pieces of {size}");
            assert_eq!(parser.patience(), None);
        }
    }

    #[test]
    fn keys_are_keys() {
        let typed = "aä\x1b[A\x1b[1;5C\x1bOB\x1b[5~\x1b[3;3~\r\t\x7f\x03\x1bx\x1b[Z\x1bOQ\x1b[15~\x1b[[B\x1b[97;5u\
            \x1b[I\x1b[99~\x1b\x1b[Bq";
        assert_eq!(
            described(&InputParser::default().take(typed.as_bytes())),
            "a ä up ctrl-right down pgup alt-del enter tab backspace ctrl-c alt-x shift-tab F2 F5 F2 ctrl-a esc down q"
        );
        assert_eq!(
            described(&InputParser::default().take(b"\x1b[M`!\"\x1b[M#!!q")),
            "<WheelUp 0 1> <Release 0 0> q"
        );
    }

    #[test]
    fn what_was_only_begun_was_typed() {
        for (bytes, wanted) in [
            ("\x1b", "esc"),
            ("\x1b]", "alt-]"),
            ("\x1b_Hx", "alt-_ H x"),
            ("\x1b[", "alt-["),
            ("\x1bO", "alt-O"),
        ] {
            let mut parser = InputParser::default();
            assert_eq!(parser.take(bytes.as_bytes()), []);
            assert!(parser.patience().is_some());
            assert_eq!(described(&parser.give_back()), wanted);
        }
        let mut parser = InputParser::default();
        assert_eq!(parser.take(&[b"\xc3" as &[u8], b"\xa4"].concat()).len(), 1);
        assert_eq!(described(&parser.take(b"\xff!")), "!");
        // Only ST or BEL end an answer; other keys show that there was none.
        assert_eq!(
            described(&InputParser::default().take(b"\x1b]\x1b]\rj\x1b[\x1b[A")),
            "alt-] alt-] enter j alt-[ up"
        );
    }

    #[test]
    fn the_beginning_of_an_answer_is_never_typed() {
        for bytes in [
            "\x1b]11;rgb:1e",
            "\x1bP>|foo",
            "\x1b_Gi=31;",
            "\x1b[?62;",
            "\x1b[<64;2",
        ] {
            let mut parser = InputParser::default();
            assert_eq!(parser.take(bytes.as_bytes()), []);
            assert_eq!(parser.give_back(), [], "{bytes:?}");
            assert_eq!(described(&parser.take(b"q")), "q");
        }
        assert_eq!(
            described(&InputParser::default().take(b"\x1b]11;rgb:1e\rq")),
            "enter q"
        );
    }

    #[test]
    fn a_paste_without_end_takes_no_more_memory_than_one_with_an_end() {
        let mut parser = InputParser::default();
        assert_eq!(parser.take(b"\x1b[200~"), []);
        for _ in 0..1_000 {
            assert_eq!(parser.take(&[b'x'; 1_000]), []);
        }
        assert!(parser.pasted.as_ref().unwrap().len() <= MOST_PASTED && parser.held.len() < 10);
        let heard = parser.take(b"yz\x1b[201~q");
        let [InputEvent::Paste(text), InputEvent::Key(_)] = &heard[..] else {
            panic!("{heard:?}")
        };
        assert_eq!(text.len(), MOST_PASTED);
        parser.take(b"\x1b[200~stalled");
        assert_eq!(described(&parser.give_back()), "<Paste(\"stalled\")>");
        assert_eq!(described(&parser.take(b"q")), "q");
    }
}
