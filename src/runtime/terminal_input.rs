//! Parses what the terminal sends: keys, mouse, pasted text, replies to queries.
//!
//! All of it arrives in one stream, in pieces of any size, and replies arrive late, between keys,
//! or never. Libraries that parse keys alone take replies for typed text, or drop unknown ones
//! together with what follows them.
//!
//! Invariant: every byte becomes a key, a gesture, a paste or a reply, or is part of a sequence
//! without a meaning here.

pub(crate) mod event;

use std::time::Duration;

use memchr::memmem;

use self::event::InputEvent;
use super::terminal_queries;
use crate::app::input::keys::{Code, Press};
use crate::app::input::mouse::{Gesture, Pointer};

/// A lone ESC is a key if nothing follows within this time.
const ESCAPE: Duration = Duration::from_millis(25);
/// The pieces of a sequence follow each other within this time.
const PIECES: Duration = Duration::from_millis(100);
/// How long the rest of a reply or of a paste is waited for.
const STALLED: Duration = Duration::from_secs(2);
/// Limit of a sequence in bytes.
const LONGEST: usize = 1_024;
/// Limit of a paste in bytes; the rest is dropped.
const MOST_PASTED: usize = 1 << 16;
const PASTE_END: &[u8] = b"\x1b[201~";
/// Bits of the mouse button for Shift, Alt and Ctrl, which are ignored.
const HELD: u16 = 0b1_1100;

/// A parser with a buffer for the incomplete end of the input.
#[derive(Debug, Default)]
pub(crate) struct InputParser {
    buffer: Vec<u8>,
    /// The paste so far, while its end has not arrived.
    pasted: Option<Vec<u8>>,
}

/// What the buffer begins with.
enum Parsed {
    /// A complete sequence of this many bytes; `None` if it has no meaning here.
    Complete(usize, Option<InputEvent>),
    /// The start of a paste, of this many bytes.
    Paste(usize),
    Incomplete,
}

impl InputParser {
    /// Appends bytes, and returns the input that is complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<InputEvent> {
        self.buffer.extend_from_slice(bytes);
        let mut out = Vec::new();
        loop {
            if self.pasted.is_some() {
                match self.parse_paste() {
                    Some(paste) => out.push(paste),
                    None => return out,
                }
            }
            self.parse_sequences(&mut out);
            if self.pasted.is_none() {
                break;
            }
        }
        if self.buffer.len() > LONGEST {
            out.extend(self.flush());
        }
        out
    }

    /// Parses complete sequences, up to the start of a paste.
    fn parse_sequences(&mut self, out: &mut Vec<InputEvent>) {
        let mut done = 0;
        while let Some(rest) = self.buffer.get(done..).filter(|rest| !rest.is_empty()) {
            match parse_first(rest) {
                Parsed::Complete(length, event) => {
                    done += length;
                    out.extend(event);
                }
                Parsed::Paste(length) => {
                    done += length;
                    self.pasted = Some(Vec::new());
                    break;
                }
                Parsed::Incomplete => break,
            }
        }
        self.buffer.drain(..done.min(self.buffer.len()));
    }

    /// Continues a paste; returns it when its end has arrived.
    fn parse_paste(&mut self) -> Option<InputEvent> {
        let pasted = self.pasted.as_mut()?;
        let end = memmem::find(&self.buffer, PASTE_END);
        // The end mark may have arrived in part.
        let until = end.unwrap_or((self.buffer.len() + 1).saturating_sub(PASTE_END.len()));
        let free = MOST_PASTED.saturating_sub(pasted.len());
        pasted.extend(self.buffer.iter().take(until.min(free)));
        self.buffer
            .drain(..until + end.map_or(0, |_| PASTE_END.len()));
        end?;
        self.pasted
            .take()
            .map(|pasted| InputEvent::Paste(String::from_utf8_lossy(&pasted).into_owned()))
    }

    /// How long to wait for more bytes; `None` if the buffer is empty.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        match self.buffer.as_slice() {
            _ if self.pasted.is_some() => Some(STALLED),
            [] => None,
            [0x1b] => Some(ESCAPE),
            held if is_answer(held) => Some(STALLED),
            _ => Some(PIECES),
        }
    }

    /// Parses the buffer after a timeout: the rest was typed, unless it begins a reply.
    pub(crate) fn flush(&mut self) -> Vec<InputEvent> {
        let held = std::mem::take(&mut self.buffer);
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

/// Whether bytes begin a reply or a mouse event: nobody types this much of one before [`PIECES`]
/// has passed.
fn is_answer(held: &[u8]) -> bool {
    match held {
        [0x1b, b']', first, _, ..] => first.is_ascii_digit(),
        [0x1b, b'P', first, _, ..] => matches!(first, b'>' | b'!' | b'0'..=b'9'),
        [0x1b, b'_', first, _, ..] => *first == b'G',
        [0x1b, b'[', first, _, ..] => matches!(first, b'?' | b'>' | b'<' | b'0'..=b'9'),
        _ => false,
    }
}

fn parse_first(bytes: &[u8]) -> Parsed {
    match bytes {
        [] | [0x1b] | [0x1b, b'O'] => Parsed::Incomplete,
        [0x1b, b'[', rest @ ..] => parse_csi(rest),
        [0x1b, b'O', letter, ..] => match key_of_letter(*letter, 1) {
            Some(key) => Parsed::Complete(3, Some(key)),
            None => Parsed::Complete(2, Some(InputEvent::Key(alt(b'O')))),
        },
        [0x1b, kind @ (b']' | b'P' | b'_'), rest @ ..] => parse_string(*kind, rest),
        [0x1b, 0x1b, ..] => Parsed::Complete(1, Some(InputEvent::Key(Press::plain(Code::Esc)))),
        [0x1b, rest @ ..] => match character(rest) {
            Some((c, length)) => {
                let press = typed(c).map(|press| InputEvent::Key(Press { alt: true, ..press }));
                Parsed::Complete(length + 1, press)
            }
            None => Parsed::Incomplete,
        },
        _ => match character(bytes) {
            Some((c, length)) => Parsed::Complete(length, typed(c).map(InputEvent::Key)),
            None => Parsed::Incomplete,
        },
    }
}

/// The first character and its length in bytes; `None` if it is incomplete.
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

/// The key that sends a character.
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

/// Parses what follows `ESC [` (CSI).
fn parse_csi(rest: &[u8]) -> Parsed {
    match rest {
        // Function keys of the Linux console, and the mouse below, may be incomplete.
        [b'[' | b'M'] | [b'M', _] | [b'M', _, _] => return Parsed::Incomplete,
        [b'[', letter @ b'A'..=b'E', ..] => {
            return Parsed::Complete(4, Some(with(Code::F(letter - b'A' + 1), 1)));
        }
        // X10 mouse encoding: button, column and line in one byte each.
        [b'M', button, column, line, ..] => {
            let number = |byte: &u8| u16::from(byte.saturating_sub(32));
            let is_up = number(button) & !HELD == 3;
            let button = if is_up { 0 } else { number(button) };
            return Parsed::Complete(6, mouse(&[button, number(column), number(line)], is_up));
        }
        _ => {}
    }
    let Some(end) = rest.iter().position(|byte| !(0x20..=0x3f).contains(byte)) else {
        return Parsed::Incomplete;
    };
    let last = rest.get(end).copied().unwrap_or_default();
    if !(0x40..=0x7e).contains(&last) {
        return Parsed::Complete(2, Some(InputEvent::Key(alt(b'['))));
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
    let event = match (sign, last, numbers.as_slice()) {
        (' ', b'~', [200]) => return Parsed::Paste(end + 3),
        ('?', b'c', attributes) => Some(InputEvent::Attributes(attributes.to_vec())),
        ('<', b'M' | b'm', numbers) => mouse(numbers, last == b'm'),
        (' ', b't', [6, height, width]) if *height > 0 && *width > 0 => {
            Some(InputEvent::Cell(*width, *height))
        }
        (' ', b'~', [number, rest @ ..]) => {
            key_of_number(*number, rest.first().copied().unwrap_or(1))
        }
        (' ', b'u', [code, rest @ ..]) => key_of_code(*code, rest.first().copied().unwrap_or(1)),
        (' ', letter, rest) => key_of_letter(letter, rest.get(1).copied().unwrap_or(1)),
        _ => None,
    };
    Parsed::Complete(end + 3, event)
}

/// A mouse event: button, column and line.
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

/// The key of a CSI or SS3 letter. `held` are the modifiers plus 1.
fn key_of_letter(letter: u8, held: u16) -> Option<InputEvent> {
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

/// The key of a CSI number (`CSI 5 ~`).
fn key_of_number(number: u16, held: u16) -> Option<InputEvent> {
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

/// The key of a character code (`CSI 97 u`).
fn key_of_code(number: u16, held: u16) -> Option<InputEvent> {
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

/// Parses what follows `ESC ]`, `ESC P` or `ESC _`, up to ST or BEL. A string cut by another
/// control byte is dropped if it begins a reply, else its start was typed.
fn parse_string(kind: u8, rest: &[u8]) -> Parsed {
    let Some(end) = rest.iter().position(u8::is_ascii_control) else {
        return Parsed::Incomplete;
    };
    let (text, tail) = rest.split_at(end);
    let length = match tail {
        [7, ..] if kind == b']' => end + 1,
        [0x1b, b'\\', ..] => end + 2,
        [0x1b] => return Parsed::Incomplete,
        _ if is_answer(&[&[0x1b, kind], text].concat()) => return Parsed::Complete(2 + end, None),
        _ => return Parsed::Complete(2, Some(InputEvent::Key(alt(kind)))),
    };
    Parsed::Complete(
        2 + length,
        terminal_queries::meaning(kind, &String::from_utf8_lossy(text)),
    )
}

#[cfg(test)]
mod tests {
    use super::{InputEvent, InputParser, MOST_PASTED};

    fn described(event: &[InputEvent]) -> String {
        let word = |event: &InputEvent| match event {
            InputEvent::Key(press) => format!("{press} "),
            InputEvent::Mouse(at) => format!("<{:?} {} {}> ", at.gesture, at.column, at.line),
            other => format!("<{other:?}> "),
        };
        event
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
            described(&InputParser::default().push(ALL.as_bytes())),
            PARSED
        );
        for size in [1, 2, 3, 7] {
            let mut parser = InputParser::default();
            let event: Vec<InputEvent> = ALL
                .as_bytes()
                .chunks(size)
                .flat_map(|piece| parser.push(piece))
                .collect();
            assert_eq!(described(&event), PARSED, "in pieces of {size}");
            assert_eq!(parser.timeout(), None);
        }
    }

    #[test]
    fn keys_are_keys() {
        let typed = "aä\x1b[A\x1b[1;5C\x1bOB\x1b[5~\x1b[3;3~\r\t\x7f\x03\x1bx\x1b[Z\x1bOQ\x1b[15~\x1b[[B\x1b[97;5u\
            \x1b[I\x1b[99~\x1b\x1b[Bq";
        assert_eq!(
            described(&InputParser::default().push(typed.as_bytes())),
            "a ä up ctrl-right down pgup alt-del enter tab backspace ctrl-c alt-x shift-tab F2 F5 F2 ctrl-a esc down q"
        );
        assert_eq!(
            described(&InputParser::default().push(b"\x1b[M`!\"\x1b[M#!!q")),
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
            assert_eq!(parser.push(bytes.as_bytes()), []);
            assert!(parser.timeout().is_some());
            assert_eq!(described(&parser.flush()), wanted);
        }
        let mut parser = InputParser::default();
        assert_eq!(parser.push(&[b"\xc3" as &[u8], b"\xa4"].concat()).len(), 1);
        assert_eq!(described(&parser.push(b"\xff!")), "!");
        // Only ST or BEL end an answer; other keys show that there was none.
        assert_eq!(
            described(&InputParser::default().push(b"\x1b]\x1b]\rj\x1b[\x1b[A")),
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
            assert_eq!(parser.push(bytes.as_bytes()), []);
            assert_eq!(parser.flush(), [], "{bytes:?}");
            assert_eq!(described(&parser.push(b"q")), "q");
        }
        assert_eq!(
            described(&InputParser::default().push(b"\x1b]11;rgb:1e\rq")),
            "enter q"
        );
    }

    #[test]
    fn a_paste_without_end_takes_no_more_memory_than_one_with_an_end() {
        let mut parser = InputParser::default();
        assert_eq!(parser.push(b"\x1b[200~"), []);
        for _ in 0..1_000 {
            assert_eq!(parser.push(&[b'x'; 1_000]), []);
        }
        assert!(parser.pasted.as_ref().unwrap().len() <= MOST_PASTED && parser.buffer.len() < 10);
        let event = parser.push(b"yz\x1b[201~q");
        let [InputEvent::Paste(text), InputEvent::Key(_)] = &event[..] else {
            panic!("{event:?}")
        };
        assert_eq!(text.len(), MOST_PASTED);
        parser.push(b"\x1b[200~stalled");
        assert_eq!(described(&parser.flush()), "<Paste(\"stalled\")>");
        assert_eq!(described(&parser.push(b"q")), "q");
    }
}
