//! Makes the stub of a text without cleaning the part that stays on disk.

use memchr::memchr2;

use crate::model::text::{Text, is_hostile};

/// How a text is cleaned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::model) enum Manner {
    /// Like [`Text::clean`].
    Prose,
    /// Like [`Text::output`].
    Output,
}

impl Manner {
    pub(in crate::model) fn clean(self, raw: &str) -> Text {
        match self {
            Self::Prose => Text::clean(raw),
            Self::Output => Text::output(raw),
        }
    }
}

/// The visible part of the first non-blank line, at most `max` characters and without colours, and
/// whether text is missing then. `None` if the whole text must be cleaned to find out.
pub(super) fn visible_line(raw: &str, max: usize, manner: Manner) -> Option<(String, bool)> {
    let mut seen = String::with_capacity(max.min(raw.len()));
    let mut left = max;
    let mut rest = raw;
    while let Some(c) = rest.chars().next() {
        match c {
            ' ' | '\n' if seen.is_empty() => rest = rest.get(1..)?,
            '\n' => return Some((seen, has_more(rest.get(1..)?, manner)?)),
            '\u{1b}' if manner == Manner::Output => rest = after_sequence(rest)?,
            c if is_hostile(c) => return None,
            _ if left == 0 => return is_not_overwritten(rest).then_some((seen, true)),
            ' '..='~' | '\t' => {
                let run = rest
                    .bytes()
                    .take(left)
                    .take_while(|byte| matches!(byte, b' '..=b'~' | b'\t'))
                    .count();
                seen.push_str(rest.get(..run)?);
                left -= run;
                rest = rest.get(run..)?;
            }
            c => {
                seen.push(c);
                left -= 1;
                rest = rest.get(c.len_utf8()..)?;
            }
        }
    }
    Some((seen, false))
}

/// Whether there is text after the first line; `None` if only cleaning can tell.
fn has_more(rest: &str, manner: Manner) -> Option<bool> {
    let mut rest = rest;
    while let Some(c) = rest.chars().next() {
        match c {
            '\n' => return Some(true),
            '\u{1b}' if manner == Manner::Output => rest = after_sequence(rest)?,
            c if is_hostile(c) => return None,
            _ => return is_not_overwritten(rest).then_some(true),
        }
    }
    Some(false)
}

/// Whether the rest of a line does not overwrite the text before it.
fn is_not_overwritten(rest: &str) -> bool {
    let end = memchr2(b'\r', b'\n', rest.as_bytes());
    end.is_none_or(|end| rest.as_bytes().get(end) == Some(&b'\n'))
}

/// Skips a control sequence, which is invisible.
fn after_sequence(rest: &str) -> Option<&str> {
    let bytes = rest.strip_prefix("\u{1b}[")?.as_bytes();
    let parameters = bytes
        .iter()
        .take_while(|byte| matches!(byte, b' '..=b'?'))
        .count();
    let is_whole = matches!(bytes.get(parameters)?, b'@'..=b'~');
    is_whole.then(|| rest.get(parameters + 3..)).flatten()
}
