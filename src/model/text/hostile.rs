//! Characters that could control a terminal or deceive a reader, and the visible marks that replace
//! them.

use std::sync::Arc;

use super::Text;
use super::unseen::{is_needed, is_unseen};
use crate::model::text::octets;

/// Whether a string needs no cleaning. Printable ASCII is recognized without decoding.
pub(super) fn is_plain(raw: &str) -> bool {
    let mut at = 0;
    while let Some(rest) = raw.get(at..).filter(|rest| !rest.is_empty()) {
        let (words, _) = rest.as_bytes().as_chunks::<8>();
        let plain = words.iter().take_while(|word| is_printable(**word)).count() * 8;
        at += plain;
        let end = at + 8;
        for c in rest.get(plain..).unwrap_or_default().chars() {
            if is_hostile(c) && !is_kept(raw, at, c) {
                return false;
            }
            at += c.len_utf8();
            if at >= end {
                break;
            }
        }
    }
    true
}

/// Whether all of these bytes are printable ASCII, newlines or tabs.
fn is_printable(bytes: [u8; 8]) -> bool {
    let word = u64::from_le_bytes(bytes);
    let odd = octets::less_than(word, b' ') | octets::equal(word, 0x7f) | octets::non_ascii(word);
    odd == 0
        || bytes
            .iter()
            .all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'))
}

/// Whether a character could control a terminal or deceive a reader, regardless of context; see
/// [`first_hostile`].
pub(crate) fn is_hostile(c: char) -> bool {
    is_control(c) || is_unseen(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

/// The first hostile character of a text and its offset, except those that their neighbours need.
pub(crate) fn first_hostile(text: &str) -> Option<(usize, char)> {
    text.char_indices()
        .find(|(at, c)| is_hostile(*c) && !is_kept(text, *at, *c))
}

/// Whether the neighbours of a character in a text need it.
fn is_kept(text: &str, at: usize, c: char) -> bool {
    let parts = text.split_at_checked(at).zip(text.get(at + c.len_utf8()..));
    is_unseen(c) && parts.is_some_and(|((before, _), after)| is_needed(before, c, after))
}

/// Whether it is a control character other than line end and tab.
fn is_control(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}')
}

/// Length of a `⟨U+202E⟩` mark at the beginning of a text, if there is one.
fn mark(text: &str) -> Option<usize> {
    let (digits, _) = text.strip_prefix("⟨U+")?.split_once('⟩')?;
    let code = u32::from_str_radix(digits, 16)
        .ok()
        .filter(|_| (2..=6).contains(&digits.len()))?;
    char::from_u32(code).filter(|c| is_hostile(*c))?;
    Some("⟨U+".len() + digits.len() + '⟩'.len_utf8())
}

/// A text without marks of invisible characters; `None` if there are none.
pub(crate) fn without_marks(text: &str) -> Option<Text> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.find("⟨U+").and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        let length = mark(after);
        let (kept, further) = after
            .split_at_checked(length.unwrap_or("⟨".len()))
            .unwrap_or((after, ""));
        if length.is_none() {
            out.push_str(kept);
        }
        rest = further;
    }
    out.push_str(rest);
    (out.len() < text.len()).then(|| Text(Arc::from(out)))
}

/// A text for other programs, without control characters, invisible characters and their marks; and
/// how many were removed.
pub(crate) fn harmless(text: &str) -> (String, usize) {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut left_out) = (text, 0);
    while let Some(c) = rest.chars().next() {
        let length = mark(rest);
        let (_, after) = rest
            .split_at_checked(length.unwrap_or(c.len_utf8()))
            .unwrap_or((rest, ""));
        let is_line_end = c == '\r' && after.starts_with('\n');
        let is_out = is_hostile(c) && !is_kept(text, text.len() - rest.len(), c);
        rest = after;
        if length.is_some() || is_out || matches!(c, '\u{2400}'..='\u{2421}') {
            left_out += usize::from(!is_line_end);
        } else {
            out.push(c);
        }
    }
    (out, left_out)
}

pub(super) fn cleaned(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len() + 16);
    for (at, c) in raw.char_indices() {
        if c != '\r' || !raw.get(at + 1..).is_some_and(|rest| rest.starts_with('\n')) {
            push_visible(&mut out, raw, (at, c));
        }
    }
    out
}

/// Copies the character at an offset of a text, or the mark that replaces it.
pub(super) fn push_visible(out: &mut String, text: &str, (at, c): (usize, char)) {
    match c {
        '\n' | '\t' => out.push(c),
        '\0'..='\u{1f}' => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')),
        '\u{7f}' => out.push('\u{2421}'),
        '\u{2028}' | '\u{2029}' => out.push('\n'),
        c if is_hostile(c) && !is_kept(text, at, c) => {
            out.push_str(&format!("⟨U+{:04X}⟩", u32::from(c)));
        }
        c => out.push(c),
    }
}
