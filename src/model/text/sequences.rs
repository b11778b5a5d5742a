//! What the output of tools says to a terminal: colours stay, all else goes.

use std::borrow::Cow;

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

/// A terminal overwrites a line after `\r`; what stays visible is the text after the last one.
pub(super) fn reduce_returns(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\r') {
        return raw.into();
    }
    let visible = |line: &str| {
        let line = line.trim_end_matches('\r');
        line.rsplit('\r').next().unwrap_or(line).to_owned()
    };
    raw.split('\n')
        .map(visible)
        .collect::<Vec<_>>()
        .join("\n")
        .into()
}

/// Drops every escape sequence but SGR. Unfinished sequences are dropped up to the line's end. Characters from U+0080 to
/// U+009F begin none: a terminal that reads UTF-8 may take them so, but in a text they are quotation marks and the
/// like that were decoded wrongly, so they get marks like all that is not seen.
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

/// After `ESC [`: consumes the sequence, copies it when it is a colour.
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

/// After the opening of OSC, DCS, APC, PM or SOS: consumes up to its terminator or the line's end.
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

/// A text without SGR sequences, for searching, copying and plain printing.
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
