//! Strings that are safe to show: [`Text::clean`] is the one gate from file to screen.
//!
//! Invariant: a `Text` holds no control character but `\n` and `\t`; a `Text` made by
//! [`Text::output`] may also hold complete SGR sequences (`ESC [ digits ; m`), nothing else.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A cleaned, cheaply cloned string.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text(Arc<str>);

/// A short name that many entries share: a model, a tool, a lane.
pub type Name = Text;

impl Text {
    /// Makes any string safe: control characters become visible pictures (`␛`), bidirectional
    /// controls and invisible format characters become `⟨U+202E⟩` marks, `\r\n` becomes `\n`.
    pub fn clean(raw: &str) -> Self {
        if is_plain(raw) {
            return Self(Arc::from(raw));
        }
        Self(Arc::from(cleaned(raw)))
    }

    /// As [`Text::clean`] for the output of tools: keeps SGR colours, drops all other escape
    /// sequences with their payload, and reduces `\r` progress lines to their last state.
    pub fn output(raw: &str) -> Self {
        if is_plain(raw) {
            return Self(Arc::from(raw));
        }
        let unescaped: Cow<'_, str> = if raw.contains(['\u{1b}', '\u{9b}', '\u{9d}', '\u{90}']) {
            strip_escapes(raw).into()
        } else {
            raw.into()
        };
        Self(Arc::from(cleaned_keeping_sgr(&reduce_returns(&unescaped))))
    }

    /// The first line, cut after `max` characters, with an ellipsis where something is missing.
    pub fn stub(raw: &str, max: usize) -> Self {
        // As cleaning has it, these end lines, too.
        let ends = ['\n', '\u{2028}', '\u{2029}'];
        let trimmed = raw.trim_start_matches(|c| ends.contains(&c) || matches!(c, '\r' | ' '));
        let (line, rest) = trimmed.split_once(ends).unwrap_or((trimmed, ""));
        let line = line.strip_suffix('\r').unwrap_or(line);
        let cut = if line.len() <= max { None } else { line.char_indices().nth(max).map(|(at, _)| at) };
        let short = cut.and_then(|at| line.get(..at)).unwrap_or(line);
        if cut.is_some() || !rest.is_empty() {
            return Self::clean(&format!("{short}…"));
        }
        Self::clean(short)
    }

    /// The string.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether nothing but white space is in it.
    pub fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }
}

impl std::ops::Deref for Text {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Text {
    fn from(raw: &str) -> Self {
        Self::clean(raw)
    }
}

impl Default for Text {
    fn default() -> Self {
        Self(Arc::from(""))
    }
}

impl std::borrow::Borrow<str> for Text {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Bytes that are looked at together.
const STRETCH: usize = 256;

/// Whether a string needs no cleaning; printable ASCII is decided without decoding.
fn is_plain(raw: &str) -> bool {
    // Without an early end within a stretch, so that the compiler looks at many bytes at once.
    let is_ascii = |stretch: &[u8]| {
        stretch.iter().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~' | b'\n' | b'\t'))
    };
    raw.as_bytes().chunks(STRETCH).all(is_ascii) || raw.chars().all(|c| !is_hostile(c))
}

/// Characters that could steer a terminal or deceive a reader. The zero-width joiner and the
/// variation selectors stay: emoji need them and they cannot move the cursor.
fn is_hostile(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn cleaned(raw: &str) -> String {
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

fn cleaned_keeping_sgr(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len() + 16);
    for c in raw.chars() {
        if c == '\u{1b}' {
            out.push(c);
        } else {
            push_visible(&mut out, c);
        }
    }
    out
}

fn push_visible(out: &mut String, c: char) {
    match c {
        '\n' | '\t' => out.push(c),
        '\0'..='\u{1f}' => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')),
        '\u{7f}' => out.push('\u{2421}'),
        '\u{feff}' | '\u{ad}' => {}
        '\u{2028}' | '\u{2029}' => out.push('\n'),
        c if is_hostile(c) => out.push_str(&format!("⟨U+{:04X}⟩", u32::from(c))),
        c => out.push(c),
    }
}

/// A terminal overwrites a line after `\r`; what stays visible is the text after the last one.
fn reduce_returns(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\r') {
        return raw.into();
    }
    let visible = |line: &str| {
        let line = line.trim_end_matches('\r');
        line.rsplit('\r').next().unwrap_or(line).to_owned()
    };
    raw.split('\n').map(visible).collect::<Vec<_>>().join("\n").into()
}

/// Drops every escape sequence but SGR. Unfinished sequences are dropped up to the line's end.
fn strip_escapes(raw: &str) -> String {
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
            '\u{9b}' => copy_sgr(&mut rest, &mut out),
            '\u{90}' | '\u{9d}' | '\u{9e}' | '\u{9f}' | '\u{98}' => skip_string(&mut rest),
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

#[cfg(test)]
mod tests {
    use super::{Text, without_sgr};

    #[test]
    fn clean_text_has_no_control_character() {
        let hostile: String = (0..0x3000).filter_map(char::from_u32).collect();
        for text in [Text::clean(&hostile), Text::output(&hostile)] {
            let plain = without_sgr(&text).into_owned();
            assert!(plain.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
            assert!(!plain.contains('\u{202e}'));
        }
    }

    #[test]
    fn output_keeps_colours_and_drops_the_rest() {
        let raw =
            "\u{1b}[31mred\u{1b}[0m \u{1b}]0;PWNED\u{7}\u{1b}[2Jx\u{1b}P1;q\u{1b}\\y\u{9b}32mz\u{1b}[?1049l";
        assert_eq!(Text::output(raw).as_str(), "\u{1b}[31mred\u{1b}[0m xy\u{1b}[32mz");
    }

    #[test]
    fn a_stub_is_one_line() {
        for (raw, stub) in [
            ("\n one\r\ntwo", "one…"),
            ("one\n", "one"),
            ("one\n\n", "one…"),
            ("\u{2028}one\u{2028}two", "one…"),
            ("one\u{2029}", "one"),
            ("one two", "one…"),
        ] {
            let max = if raw == "one two" { 3 } else { 40 };
            assert_eq!(Text::stub(raw, max).as_str(), stub, "{raw:?}");
        }
    }

    #[test]
    fn progress_bars_show_their_last_state() {
        assert_eq!(Text::output("10%\r50%\r100%\r\ndone\r\n").as_str(), "100%\ndone\n");
    }

    #[test]
    fn message_text_shows_what_was_hidden() {
        assert_eq!(Text::clean("a\u{1b}[0mb\u{202e}c").as_str(), "a␛[0mb⟨U+202E⟩c");
    }
}
