//! Characters that could steer a terminal or deceive a reader, and the marks that are seen in their place.

use std::sync::Arc;

use super::Text;
use crate::model::octets;

/// Whether a string needs no cleaning; printable ASCII is decided without decoding.
pub(super) fn is_plain(raw: &str) -> bool {
    let mut at = 0;
    while let Some(rest) = raw.get(at..).filter(|rest| !rest.is_empty()) {
        let (words, _) = rest.as_bytes().as_chunks::<8>();
        let plain = words.iter().take_while(|word| is_printable(**word)).count() * 8;
        at += plain;
        let end = at + 8;
        for c in rest.get(plain..).unwrap_or_default().chars() {
            if is_hostile(c) {
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
    let odd = octets::below(word, b' ') | octets::equal(word, 0x7f) | octets::beyond_ascii(word);
    odd == 0 || bytes.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'))
}

/// Characters that could steer a terminal or deceive a reader. The zero-width joiner and the
/// variation selectors stay: emoji need them and they cannot move the cursor.
pub fn is_hostile(c: char) -> bool {
    is_control(c) || is_unseen(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Control characters but line ends and tabs.
fn is_control(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}')
}

/// Characters that turn the direction of a text round, and those that are there but not seen.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200c}' | '\u{200e}' | '\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}')
}

/// The length of the mark `⟨U+202E⟩` at the beginning of a text, if one stands there.
fn mark(text: &str) -> Option<usize> {
    let (digits, _) = text.strip_prefix("⟨U+")?.split_once('⟩')?;
    let code = u32::from_str_radix(digits, 16).ok().filter(|_| (2..=6).contains(&digits.len()))?;
    char::from_u32(code).filter(|c| is_hostile(*c))?;
    Some("⟨U+".len() + digits.len() + '⟩'.len_utf8())
}

/// A text without the marks of characters that are not seen; nothing if there are none.
pub fn without_marks(text: &str) -> Option<Text> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.find("⟨U+").and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        let length = mark(after);
        let (kept, further) = after.split_at_checked(length.unwrap_or("⟨".len())).unwrap_or((after, ""));
        if length.is_none() {
            out.push_str(kept);
        }
        rest = further;
    }
    out.push_str(rest);
    (out.len() < text.len()).then(|| Text(Arc::from(out)))
}

/// A text for other programs without control characters and such as are not seen, and without what stands
/// for them here; and how many they were.
pub fn harmless(text: &str) -> (String, usize) {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut left_out) = (text, 0);
    while let Some(c) = rest.chars().next() {
        let length = mark(rest);
        let (_, after) = rest.split_at_checked(length.unwrap_or(c.len_utf8())).unwrap_or((rest, ""));
        let is_line_end = c == '\r' && after.starts_with('\n');
        rest = after;
        if length.is_some() || is_hostile(c) || matches!(c, '\u{2400}'..='\u{2421}') {
            left_out += usize::from(!is_line_end);
        } else {
            out.push(c);
        }
    }
    (out, left_out)
}

pub(super) fn cleaned(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len() + 16);
    let mut rest = raw.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '\r' && rest.peek() == Some(&'\n') {
            continue;
        }
        push_visible(&mut out, c);
    }
    out
}

pub(super) fn push_visible(out: &mut String, c: char) {
    match c {
        '\n' | '\t' => out.push(c),
        '\0'..='\u{1f}' => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')),
        '\u{7f}' => out.push('\u{2421}'),
        '\u{2028}' | '\u{2029}' => out.push('\n'),
        c if is_hostile(c) => out.push_str(&format!("⟨U+{:04X}⟩", u32::from(c))),
        c => out.push(c),
    }
}
