//! Strings that are safe to show: [`Text::clean`] is the one gate from file to screen.
//!
//! Invariant: a `Text` holds no control character but `\n` and `\t`; a `Text` made by
//! [`Text::output`] may also hold complete SGR sequences (`ESC [ digits ; m`), nothing else.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::digits;
use super::stub::{Manner, seen};

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
        let (short, is_cut) = first_line(raw, max);
        match (is_plain(short), is_cut) {
            (true, false) => Self(Arc::from(short)),
            (true, true) => Self(Arc::from([short, "…"].concat())),
            (false, false) => Self(Arc::from(cleaned(short))),
            (false, true) => Self(Arc::from(cleaned(short) + "…")),
        }
    }

    /// The stub of a text that is cleaned before its first line is taken, without colours.
    pub(super) fn stub_cleaned(raw: &str, max: usize, manner: Manner) -> Self {
        match seen(raw, max, manner) {
            Some((line, false)) => Self(Arc::from(line)),
            Some((line, true)) => Self(Arc::from(line + "…")),
            None => Self::stub(&without_sgr(&manner.clean(raw)), max),
        }
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

impl Serialize for Text {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() { to.serialize_str(&self.0) } else { digits::serialize(&self.0, to) }
    }
}

/// Takes what was safe when it was written, and refuses anything else.
impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let safe = |raw: &str| (is_plain(raw) || is_plain(&without_sgr(raw))).then(|| Self(Arc::from(raw)));
        digits::deserialize(from, safe)
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

/// What is left of the first line with something in it, and whether anything is missing then.
fn first_line(raw: &str, max: usize) -> (&str, bool) {
    // As cleaning has it, these end lines, too.
    let ends = ['\n', '\u{2028}', '\u{2029}'];
    let trimmed = raw.trim_start_matches(|c| ends.contains(&c) || matches!(c, '\r' | ' '));
    let (line, rest) = trimmed.split_once(ends).unwrap_or((trimmed, ""));
    let line = line.strip_suffix('\r').unwrap_or(line);
    let cut = if line.len() <= max { None } else { line.char_indices().nth(max).map(|(at, _)| at) };
    let short = cut.and_then(|at| line.get(..at)).unwrap_or(line);
    (short, cut.is_some() || !rest.is_empty())
}

/// Bytes that are looked at together.
const STRETCH: usize = 64;

/// Whether a string needs no cleaning; printable ASCII is decided without decoding.
fn is_plain(raw: &str) -> bool {
    let mut at = 0;
    while let Some(stretch) = raw.as_bytes().get(at..raw.len().min(at + STRETCH)).filter(|s| !s.is_empty()) {
        // Without an early end within a stretch, so that the compiler looks at many bytes at once.
        if stretch.iter().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
            at += stretch.len();
            continue;
        }
        // Characters up to the end of the stretch, or beyond it with the last one.
        let end = at + stretch.len();
        for c in raw.get(at..).unwrap_or_default().chars() {
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
    use proptest::prelude::{Just, prop, prop_oneof, proptest};

    use super::{Manner, Text, harmless, without_marks, without_sgr};

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

    proptest! {
        #[test]
        fn a_stub_is_that_of_the_whole(
            parts in prop::collection::vec(
                prop_oneof![
                    "[a-z ]{1,12}", "[\n ]{1,2}", Just("\r".to_owned()), Just("\r\n".to_owned()),
                    Just("\u{1b}[31m".to_owned()), Just("\u{1b}[2K".to_owned()), Just("\u{1b}(".to_owned()),
                    Just("\u{1b}]0;".to_owned()), Just("\u{7}".to_owned()), Just("\u{1b}".to_owned()),
                    Just("\u{ad}".to_owned()), Just("\u{2028}".to_owned()), Just("é\t".to_owned()),
                ],
                0..12,
            ),
        ) {
            let raw = parts.concat();
            for manner in [Manner::Prose, Manner::Output] {
                let all = Text::stub(&without_sgr(&manner.clean(&raw)), 20);
                assert_eq!(Text::stub_cleaned(&raw, 20, manner), all, "{raw:?}");
            }
        }
    }

    #[test]
    fn stubs_need_no_cleaning_of_common_texts() {
        let seen =
            |raw: &str, manner| super::seen(raw, 8, manner).map(|(line, is_cut)| format!("{line}{is_cut}"));
        let colours = "\n \u{1b}[1;31mred\u{1b}[0m\n\u{1b}[32mgreen";
        assert_eq!(seen(colours, Manner::Output).as_deref(), Some("redtrue"));
        assert_eq!(seen("one — two", Manner::Prose).as_deref(), Some("one — twtrue"));
        assert_eq!(seen("one\n", Manner::Prose).as_deref(), Some("onefalse"));
        assert_eq!(seen(colours, Manner::Prose), None);
        assert_eq!(seen("1%\r2%", Manner::Output), None);
    }

    #[test]
    fn plain_text_is_found_at_any_place() {
        for at in 0..200 {
            let plain = format!("{}…{}", "x".repeat(at), "é".repeat(90));
            assert!(super::is_plain(&plain));
            assert!(!super::is_plain(&plain.replace('…', "\u{202e}")));
            assert!(!super::is_plain(&(plain + "\u{7f}")));
        }
    }

    #[test]
    fn message_text_shows_what_was_hidden() {
        assert_eq!(Text::clean("a\u{1b}[0mb\u{202e}c").as_str(), "a␛[0mb⟨U+202E⟩c");
    }

    #[test]
    fn all_that_turns_a_text_round_or_is_not_seen_has_a_mark_that_can_be_taken_out() {
        let bidi = ('\u{202a}'..='\u{202e}')
            .chain('\u{2066}'..='\u{2069}')
            .chain(['\u{200e}', '\u{200f}', '\u{61c}']);
        let unseen =
            ['\u{200b}', '\u{200c}', '\u{2060}', '\u{feff}', '\u{ad}', '\u{180e}', '\u{e0001}', '\u{e0041}'];
        assert_eq!(bidi.clone().count(), 12, "the whole set of Bidi_Control");
        for c in bidi.chain(unseen) {
            let marked = format!("a⟨U+{:04X}⟩b", u32::from(c));
            for text in [Text::clean(&format!("a{c}b")), Text::output(&format!("a{c}b"))] {
                assert_eq!(text.as_str(), marked);
                assert_eq!(without_marks(&text).as_deref(), Some("ab"));
            }
        }
        for kept in ["", "ab", "⟨U+", "⟨U+0041⟩", "⟨U+XYZ⟩ ⟨", "e\u{301}👨\u{200d}👩\u{fe0f}"]
        {
            assert_eq!((without_marks(kept), Text::clean(kept).as_str()), (None, kept));
        }
    }

    #[test]
    fn harmless_text_has_neither_control_characters_nor_what_stands_for_them() {
        let raw = "a\u{1b}[201~\u{9b}b\tc\r\nd\u{202e}e␛f⟨U+202E⟩g⟨U+0041⟩";
        assert_eq!(harmless(raw), ("a[201~b\tc\ndefg⟨U+0041⟩".to_owned(), 5));
        assert_eq!(harmless("plain\n"), ("plain\n".to_owned(), 0));
    }
}
