//! The escapes in JSON strings: finding, counting and resolving them.
//!
//! Invariant: whatever [`end_of_string`] takes, the others can resolve; its rules are those of the parser
//! that describes damage.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memrchr};

use crate::model::text::octets;
use crate::model::text::prefix;

/// What is counted of a string while its end is looked for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Figures {
    /// Bytes without the escapes.
    pub(crate) size: usize,
    /// Newlines.
    pub(crate) newlines: usize,
    /// White space that is written by its number: lines do not end only at `\n`.
    pub(crate) has_odd_space: bool,
}

/// Where a string ends whose first byte after the quote is the first one here, and what is in it.
/// `None` for escapes that are none, and without an end. The figures are there only if it has escapes.
pub(super) fn end_of_string(rest: &[u8]) -> Option<(usize, Option<Figures>)> {
    let mut at = special(rest)?;
    if rest.get(at) == Some(&b'"') {
        return Some((at, None));
    }
    let mut figures = Figures::default();
    let mut resolved = 0;
    while rest.get(at) == Some(&b'\\') {
        let (c, taken) = escape(rest.get(at..)?)?;
        figures.newlines += usize::from(c == '\n');
        figures.has_odd_space |= taken > 2 && c.is_whitespace();
        resolved += taken - c.len_utf8();
        at += taken;
        at += special(rest.get(at..)?)?;
    }
    figures.size = at - resolved;
    Some((at, Some(figures)))
}

/// As [`end_of_string`], of a string that nobody asks for.
pub(super) fn string_len(rest: &[u8]) -> Option<usize> {
    let mut at = special(rest)?;
    while rest.get(at) == Some(&b'\\') {
        at += match rest.get(at + 1)? {
            b'n' | b'"' | b'\\' | b't' | b'r' | b'/' | b'b' | b'f' => 2,
            _ => escape(rest.get(at..)?)?.1,
        };
        at += special(rest.get(at..)?)?;
    }
    Some(at)
}

/// How far the next quote or backslash is. Most are near: looking at a few words first is cheaper than
/// getting ready for many.
fn special(rest: &[u8]) -> Option<usize> {
    const NEAR: usize = 64;
    let mut at = 0;
    while at < NEAR
        && let Some(word) = rest.get(at..).and_then(<[u8]>::first_chunk)
    {
        let word = u64::from_le_bytes(*word);
        let found = octets::equal(word, b'"') | octets::equal(word, b'\\');
        if found != 0 {
            return Some(at + usize::try_from(found.trailing_zeros() / 8).unwrap_or_default());
        }
        at += size_of::<u64>();
    }
    memchr2(b'"', b'\\', rest.get(at..)?).map(|found| at + found)
}

/// Whether any byte is a control character. This goes over every byte there is: where it asks for no more than the least
/// of many, vectors do it.
pub(super) fn has_controls(bytes: &[u8]) -> bool {
    let (chunks, rest) = bytes.as_chunks::<64>();
    let least = |bytes: &[u8]| bytes.iter().fold(u8::MAX, |least, byte| least.min(*byte));
    chunks.iter().any(|chunk| least(chunk) < b' ') || least(rest) < b' '
}

/// The character of the escape at the beginning, and how many bytes it takes.
fn escape(bytes: &[u8]) -> Option<(char, usize)> {
    let c = match bytes.get(1)? {
        b'n' => '\n',
        b'"' => '"',
        b'\\' => '\\',
        b't' => '\t',
        b'r' => '\r',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return by_number(bytes),
        _ => return None,
    };
    Some((c, 2))
}

fn by_number(bytes: &[u8]) -> Option<(char, usize)> {
    let unit = hex(bytes.get(2..6)?)?;
    match unit {
        0xd800..=0xdbff => {
            let low = hex(bytes.get(6..12)?.strip_prefix(b"\\u")?)?;
            let low = low.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
            Some((char::from_u32(0x10000 + ((unit - 0xd800) << 10) + low)?, 12))
        }
        _ => Some((char::from_u32(unit)?, 6)),
    }
}

fn hex(digits: &[u8]) -> Option<u32> {
    let mut number = 0;
    for digit in digits {
        number = number << 4 | char::from(*digit).to_digit(16)?;
    }
    Some(number)
}

/// The string that is written here.
pub(super) fn resolved(raw: &str, size: usize) -> String {
    let mut out = String::with_capacity(size);
    let mut rest = raw;
    while let Some(end) = memchr(b'\\', rest.as_bytes()) {
        out.push_str(rest.get(..end).unwrap_or_default());
        let Some((c, taken)) = rest.as_bytes().get(end..).and_then(escape) else { return out };
        out.push(c);
        rest = rest.get(end + taken..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// At most `max` bytes of the beginning of the string that is written here.
pub(super) fn beginning(raw: &str, max: usize) -> String {
    let mut out = String::with_capacity(raw.len().min(max));
    resolve(raw, max, &mut out);
    out
}

fn resolve(raw: &str, max: usize, out: &mut String) {
    let mut rest = raw;
    loop {
        let end = memchr(b'\\', rest.as_bytes()).unwrap_or(rest.len());
        let run = rest.get(..end).unwrap_or_default();
        let kept = prefix(run, max - out.len());
        out.push_str(kept);
        let Some((c, taken)) = rest.as_bytes().get(end..).and_then(escape) else { return };
        if kept.len() < run.len() || c.len_utf8() > max - out.len() {
            return;
        }
        out.push(c);
        rest = rest.get(end + taken..).unwrap_or_default();
    }
}

/// The text before the escape that it ends with, if it is one of these.
pub(super) fn ends_with<'a>(raw: &'a str, escapes: &[u8]) -> Option<&'a str> {
    let (last, before) = raw.as_bytes().split_last()?;
    let slashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
    (slashes % 2 == 1 && escapes.contains(last)).then(|| raw.get(..raw.len() - 2)).flatten()
}

/// The last line of the string that is written here without white space at its end. All of its white
/// space is written as itself or by a letter.
pub(super) fn last_line(raw: &str) -> Cow<'_, str> {
    let mut text = raw.trim_end();
    while let Some(before) = ends_with(text, b"nrtf") {
        text = before.trim_end();
    }
    let mut end = text.len();
    while let Some(slash) = memrchr(b'\\', text.as_bytes().get(..end).unwrap_or_default()) {
        let upto = text.get(..slash + 2).unwrap_or_default();
        if ends_with(upto, b"n").is_some() {
            let line = text.get(slash + 2..).unwrap_or_default();
            return if line.contains('\\') { resolved(line, line.len()).into() } else { line.into() };
        }
        end = slash;
    }
    resolved(text, text.len()).into()
}
