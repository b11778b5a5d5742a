//! Reading JSON values in one pass, without copying what can be borrowed.
//!
//! It takes what the parser of [`super::damage`] takes, and besides the numbers that Python writes and JSON has no words
//! for, as texts; why it does not take a text is asked of that one.
//!
//! Invariant: nothing recurses deeper than `MAX_DEPTH`; what lies deeper stays text, and so does what has more than
//! `MOST` values.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::escape::{end_of_string, has_controls, string_len};
use super::string::Str;
use super::{Json, MAX_DEPTH, is_named};

/// So many values of a text are taken apart: of two bytes for each a tree of values takes twenty times the room.
const MOST: usize = 1 << 20;

/// The value that a text is; `None` if it is none. What is the value of a member of one of these names is not taken
/// apart: it is a string, as it is written.
pub(super) fn read<'a>(text: &'a str, closed: &'static [&'static str]) -> Option<Json<'a>> {
    // Strings hold no bare control characters; where there are none at all, strings need no second look.
    let has_controls = has_controls(text.as_bytes());
    let (items, members) = (Vec::new(), Vec::with_capacity(if text.len() < SMALL { 0 } else { MEMBERS }));
    let closed_lens = closed.iter().fold(0, |lens, name| lens | len_bit(name));
    let mut lexer = Lexer { text, at: 0, has_controls, closed, closed_lens, values: 0, items, members };
    let value = lexer.value(0);
    if lexer.values > MOST {
        drop(lexer);
        return serde_json::from_str(text).ok().map(|raw: &RawValue| Json::Deep(raw.get()));
    }
    let value = value?;
    lexer.skip_space();
    (lexer.at == text.len()).then_some(value)
}

/// A text of so many bytes is no record, and has few members; most records have no more than so many.
const SMALL: usize = 128;
const MEMBERS: usize = 32;

/// Stands for the length of a name.
fn len_bit(name: &str) -> u64 {
    1 << name.len().min(63)
}

type Member<'a> = (Cow<'a, str>, Json<'a>);

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    has_controls: bool,
    /// How many values were begun.
    values: usize,
    closed: &'static [&'static str],
    /// The lengths of their names: most others differ in that.
    closed_lens: u64,
    /// Items of the arrays that are being read, so that each is made with its true size.
    items: Vec<Json<'a>>,
    /// Members of the objects that are being read.
    members: Vec<Member<'a>>,
}

impl<'a> Lexer<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// The next byte that is no white space; takes it.
    fn next(&mut self) -> Option<u8> {
        self.skip_space();
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn value(&mut self, depth: u8) -> Option<Json<'a>> {
        self.skip_space();
        if depth >= MAX_DEPTH {
            return self.deep();
        }
        self.values += 1;
        if self.values > MOST {
            return None;
        }
        match self.peek()? {
            b'"' => {
                self.at += 1;
                self.string().map(Json::Str)
            }
            b'{' => {
                self.at += 1;
                self.object(depth)
            }
            b'[' => {
                self.at += 1;
                self.array(depth)
            }
            b'-' if self.text.as_bytes().get(self.at + 1) == Some(&b'I') => self.no_number("-Infinity"),
            b'I' => self.no_number("Infinity"),
            b'N' => self.no_number("NaN"),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            b'n' => self.word("null", Json::Null),
            _ => None,
        }
    }

    fn word(&mut self, word: &str, value: Json<'a>) -> Option<Json<'a>> {
        let is_it = self.text.as_bytes().get(self.at..)?.starts_with(word.as_bytes());
        self.at += word.len();
        is_it.then_some(value)
    }

    fn no_number(&mut self, word: &'static str) -> Option<Json<'a>> {
        self.word(word, Json::Str(word.into()))
    }

    /// A value that lies too deep to be taken apart.
    fn deep(&mut self) -> Option<Json<'a>> {
        let mut rest = serde_json::Deserializer::from_str(self.text.get(self.at..)?);
        let raw = <&RawValue>::deserialize(&mut rest).ok()?.get();
        self.at += raw.len();
        Some(Json::Deep(raw))
    }

    /// A value that is not taken apart, unless it holds no more than itself.
    fn closed(&mut self, depth: u8) -> Option<Json<'a>> {
        self.skip_space();
        let is_string = self.peek()? == b'"';
        if self.has_controls || !is_string && !matches!(self.peek()?, b'[' | b'{') {
            return self.value(depth);
        }
        let start = self.at;
        self.pass(depth)?;
        let quote = usize::from(is_string);
        Some(Json::Str(self.text.get(start + quote..self.at - quote)?.into()))
    }

    /// Passes over a value: all that [`Self::value`] takes, and nothing else.
    fn pass(&mut self, depth: u8) -> Option<()> {
        self.skip_space();
        let (first, end) = match self.peek()? {
            b'"' if depth < MAX_DEPTH => (b'"', b'"'),
            b'{' if depth < MAX_DEPTH => (b'{', b'}'),
            b'[' if depth < MAX_DEPTH => (b'[', b']'),
            _ => return self.value(depth).map(drop),
        };
        self.values += 1;
        if self.values > MOST {
            return None;
        }
        self.at += 1;
        if first == b'"' {
            return self.pass_string();
        }
        self.skip_space();
        if self.peek()? == end {
            self.at += 1;
            return Some(());
        }
        loop {
            if first == b'{' {
                (self.next()? == b'"').then_some(())?;
                self.pass_string()?;
                (self.next()? == b':').then_some(())?;
            }
            self.pass(depth + 1)?;
            match self.next()? {
                b',' => {}
                byte => return (byte == end).then_some(()),
            }
        }
    }

    /// Passes over the string whose quote is read.
    fn pass_string(&mut self) -> Option<()> {
        self.at += 1 + string_len(self.text.as_bytes().get(self.at..)?)?;
        Some(())
    }

    /// The string whose quote is read.
    fn string(&mut self) -> Option<Str<'a>> {
        let rest = self.text.get(self.at..)?;
        let (end, figures) = end_of_string(rest.as_bytes())?;
        let raw = rest.get(..end)?;
        if self.has_controls && raw.bytes().any(|byte| byte < b' ') {
            return None;
        }
        self.at += end + 1;
        Some(figures.map_or_else(|| raw.into(), |figures| Str::escaped(raw, figures)))
    }

    fn number(&mut self) -> Option<Json<'a>> {
        /// Numbers with so many digits fit.
        const DIGITS: usize = 18;
        let rest = self.text.as_bytes().get(self.at..)?;
        let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let len = rest.iter().take_while(is_part).count();
        let number = rest.get(..len)?;
        self.at += len;
        let (is_negative, digits) =
            number.strip_prefix(b"-").map_or((false, number), |digits| (true, digits));
        let is_short = digits.len() <= DIGITS && digits.iter().all(u8::is_ascii_digit);
        match digits {
            [b'0'] if !is_negative => Some(Json::Integer(0)),
            [b'1'..=b'9', ..] if is_short => {
                let sum = digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
                Some(Json::Integer(if is_negative { -sum } else { sum }))
            }
            _ => odd_number(number),
        }
    }

    fn array(&mut self, depth: u8) -> Option<Json<'a>> {
        let start = self.items.len();
        self.skip_space();
        if self.peek()? == b']' {
            self.at += 1;
            return Some(Json::Array(Vec::new()));
        }
        loop {
            let item = self.value(depth + 1)?;
            self.items.push(item);
            match self.next()? {
                b',' => {}
                b']' => return Some(Json::Array(self.items.split_off(start))),
                _ => return None,
            }
        }
    }

    fn object(&mut self, depth: u8) -> Option<Json<'a>> {
        let start = self.members.len();
        let mut byte = self.next()?;
        if byte == b'}' {
            return Some(Json::Object(Vec::new()));
        }
        loop {
            if byte != b'"' {
                return None;
            }
            let key = self.string()?.into_cow();
            if self.next()? != b':' {
                return None;
            }
            let is_closed = self.closed_lens & len_bit(&key) != 0
                && self.closed.iter().any(|closed| is_named(&key, closed));
            let value = if is_closed { self.closed(depth + 1) } else { self.value(depth + 1) }?;
            self.members.push((key, value));
            match self.next()? {
                b',' => byte = self.next()?,
                b'}' => return Some(Json::Object(self.members.split_off(start))),
                _ => return None,
            }
        }
    }
}

/// Fractions, numbers without end, and `-0`, by the rules of the parser.
fn odd_number(number: &[u8]) -> Option<Json<'static>> {
    let number: serde_json::Number = serde_json::from_slice(number).ok()?;
    let integer = number.as_i64().map(Json::Integer);
    integer.or_else(|| number.as_f64().map(Json::Number))
}
