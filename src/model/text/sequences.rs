//! Escape sequences in tool output: colours are retained, everything else is dropped.

use std::borrow::Cow;

use itertools::Itertools as _;

use super::hostile::push_visible;

pub(super) fn cleaned_keeping_sgr(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len() + 16);
    for (at, c) in raw.char_indices() {
        if c == '\u{1b}' {
            out.push(c);
        } else {
            push_visible(&mut out, raw, (at, c));
        }
    }
    out
}

/// Reduces lines with `\r` to the text after the last one, which is what a terminal would show.
pub(super) fn reduce_returns(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\r') {
        return raw.into();
    }
    let visible = |line: &str| {
        let line = line.trim_end_matches('\r');
        line.rsplit('\r').next().unwrap_or(line).to_owned()
    };
    raw.split('\n').map(visible).join("\n").into()
}

/// Drops every escape sequence except SGR. Unfinished sequences are dropped up to the line end.
/// Characters from U+0080 to U+009F do not begin one: a UTF-8 terminal may take them for controls,
/// but in a text they are wrongly decoded quotation marks and the like, so they are marked like all
/// invisible characters.
pub(super) fn strip_escapes(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => match rest.next() {
                Some('[') => copy_sgr(&mut rest, &mut out),
                Some(']' | 'P' | '_' | '^' | 'X') => skip_string(&mut rest),
                Some('(' | ')' | '*' | '+' | '#' | '%' | ' ') => drop(rest.next()),
                Some('\n') => out.push('\n'),
                _ => {}
            },
            c => out.push(c),
        }
    }
    out
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Consumes a sequence after `ESC [`, and copies it if it is a colour.
fn copy_sgr(rest: &mut Chars<'_>, out: &mut String) {
    let mut parameters = String::new();
    while let Some(&c) = rest.peek() {
        match c {
            '0'..='9' | ';' | ':' if parameters.len() < 64 => parameters.push(c),
            ' '..='?' => parameters.push('?'),
            '@'..='~' => {
                rest.next();
                if c == 'm' && !parameters.contains('?') {
                    out.push_str("\u{1b}[");
                    out.push_str(&parameters);
                    out.push('m');
                }
                return;
            }
            _ => return,
        }
        rest.next();
    }
}

/// Consumes a string after OSC, DCS, APC, PM or SOS, up to its terminator or the line end.
fn skip_string(rest: &mut Chars<'_>) {
    while let Some(&c) = rest.peek() {
        if c == '\n' {
            return;
        }
        rest.next();
        match c {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' if rest.peek() == Some(&'\\') => {
                rest.next();
                return;
            }
            _ => {}
        }
    }
}

/// A text without SGR sequences, for search, copying and plain output.
pub fn without_sgr(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut in_sequence = false;
    for c in text.chars() {
        match (in_sequence, c) {
            (false, '\u{1b}') => in_sequence = true,
            (true, 'm') => in_sequence = false,
            (false, c) => out.push(c),
            (true, _) => {}
        }
    }
    out.into()
}
