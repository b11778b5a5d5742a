//! Strings that are safe to show: every string of a file passes [`Text::clean`] before it reaches
//! the screen.
//!
//! Invariant: a `Text` holds no control character but `\n` and `\t`; a `Text` made by
//! [`Text::output`] may also hold complete SGR sequences (`ESC [ digits ; m`), nothing else.

mod ascii;
mod hostile;
pub(crate) mod likeness;
pub(crate) mod octets;
pub mod outlet;
pub mod secrets;
mod sequences;
pub(super) mod stub;
pub(crate) mod tags;
mod unseen;
mod uuid;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::de::Error as _;
use serde::{Deserialize, Serialize};

use self::hostile::{cleaned, is_plain};
use self::sequences::{cleaned_keeping_sgr, reduce_returns, strip_escapes};
use self::stub::{Manner, visible_line};

pub(crate) use self::ascii::ascii;
pub(crate) use self::hostile::{first_hostile, harmless, is_hostile, without_marks};
pub use self::sequences::without_sgr;

/// A sanitized string that is cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text(Arc<str>);

/// A short name shared by many entries: a model, a tool, a lane.
pub type Name = Text;

/// A clean text of formatted words.
macro_rules! text {
    ($($words:tt)*) => {
        $crate::model::text::Text::clean(&format!($($words)*))
    };
}
pub(crate) use text;

impl Text {
    /// Sanitizes a string: control characters become visible pictures (`␛`), bidirectional controls
    /// and invisible format characters become `⟨U+202E⟩` marks, `\r\n` becomes `\n`.
    pub fn clean(raw: &str) -> Self {
        if is_plain(raw) {
            return Self(Arc::from(raw));
        }
        Self(Arc::from(cleaned(raw)))
    }

    /// Like [`Text::clean`] for tool output: retains SGR colours, drops all other escape sequences
    /// with their payload, and reduces `\r` progress lines to their last state.
    pub fn output(raw: &str) -> Self {
        if is_plain(raw) {
            return Self(Arc::from(raw));
        }
        let unescaped: Cow<'_, str> = if raw.contains('\u{1b}') {
            strip_escapes(raw).into()
        } else {
            raw.into()
        };
        Self(Arc::from(cleaned_keeping_sgr(&reduce_returns(&unescaped))))
    }

    /// The first line, cut after `max` characters, with an ellipsis where text is missing.
    pub fn stub(raw: &str, max: usize) -> Self {
        let (short, is_cut) = first_line(raw, max);
        match (is_plain(short), is_cut) {
            (true, false) => Self(Arc::from(short)),
            (true, true) => Self(Arc::from([short, "…"].concat())),
            (false, false) => Self(Arc::from(cleaned(short))),
            (false, true) => Self(Arc::from(cleaned(short) + "…")),
        }
    }

    /// The stub of a text that must be cleaned before its first line is taken, without colours.
    pub(super) fn stub_cleaned(raw: &str, max: usize, manner: Manner) -> Self {
        match visible_line(raw, max, manner) {
            Some((line, false)) => Self(Arc::from(line)),
            Some((line, true)) => Self(Arc::from(line + "…")),
            None => Self::stub(&without_sgr(&manner.clean(raw)), max),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is empty or white space.
    pub(crate) fn is_blank(&self) -> bool {
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

/// The first byte of a UUID in its binary form, which no text holds.
const UUID: u8 = 0;

/// In a binary format a UUID takes half of its length.
impl Serialize for Text {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() {
            return to.serialize_str(&self.0);
        }
        let Some(value) = uuid::value_of(&self.0) else {
            return to.serialize_bytes(self.0.as_bytes());
        };
        let mut bytes = [UUID; 17];
        bytes[1..].copy_from_slice(&value.to_be_bytes());
        to.serialize_bytes(&bytes)
    }
}

/// Accepts only strings that satisfy the invariant of `Text`, in a binary format.
impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let bytes = <&[u8]>::deserialize(from)?;
        if let Some(value) = bytes.strip_prefix(&[UUID]) {
            let value = value.try_into().map_err(D::Error::custom)?;
            return Ok(Self(Arc::from(uuid::spelling_of(u128::from_be_bytes(
                value,
            )))));
        }
        let raw = std::str::from_utf8(bytes).map_err(D::Error::custom)?;
        let is_safe = is_plain(raw) || is_plain(&without_sgr(raw));
        is_safe
            .then(|| Self(Arc::from(raw)))
            .ok_or_else(|| D::Error::custom("a text that is not safe to show"))
    }
}

impl Default for Text {
    fn default() -> Self {
        // Shared by all empty texts, such as stubs that are not needed.
        static EMPTY: LazyLock<Text> = LazyLock::new(|| Text(Arc::from("")));
        EMPTY.clone()
    }
}

impl std::borrow::Borrow<str> for Text {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Whether a word is in a space-separated list.
pub(crate) fn is_listed(word: &str, list: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

/// The first bytes, at most `max`, cut at a character boundary.
pub(crate) fn prefix(raw: &str, max: usize) -> &str {
    let mut end = raw.len().min(max);
    while !raw.is_char_boundary(end) {
        end -= 1;
    }
    raw.get(..end).unwrap_or(raw)
}

/// The number of lines that `str::lines` would yield, computed at memory speed.
pub(crate) fn count_lines(text: &str) -> usize {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    ends + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

/// The first non-blank line, cut after `max` characters, and whether text is missing then.
fn first_line(raw: &str, max: usize) -> (&str, bool) {
    // Cleaning treats these as line ends, too.
    let ends = ['\n', '\u{2028}', '\u{2029}'];
    let trimmed = raw.trim_start_matches(|c| ends.contains(&c) || matches!(c, '\r' | ' '));
    let (line, rest) = trimmed.split_once(ends).unwrap_or((trimmed, ""));
    let line = line.strip_suffix('\r').unwrap_or(line);
    let cut = if line.len() <= max {
        None
    } else {
        line.char_indices().nth(max).map(|(at, _)| at)
    };
    // A joiner at the cut has nothing to join.
    let short = cut
        .and_then(|at| line.get(..at))
        .map_or(line, |cut| cut.trim_end_matches('\u{200d}'));
    (short, cut.is_some() || !rest.is_empty())
}

/// Splits off the line number that agents write: `   12→text`, `12\ttext`, `12: text`, `12| text`.
pub(crate) fn split_number(line: &str) -> (&str, &str) {
    let trimmed = line.trim_start_matches(' ');
    let end = trimmed
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(trimmed.len());
    let (number, rest) = trimmed.split_at_checked(end).unwrap_or(("", trimmed));
    if number.is_empty() || number.len() > 7 {
        return ("", line);
    }
    if let Some(text) = rest.strip_prefix('→').or_else(|| rest.strip_prefix('\t')) {
        return (number, text);
    }
    match rest
        .strip_prefix(" | ")
        .or_else(|| rest.strip_prefix('|'))
        .or_else(|| rest.strip_prefix(": "))
    {
        Some(text) => (number, text),
        None => ("", line),
    }
}

/// Bytes as text; invalid UTF-8 is replaced.
pub(crate) fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    simdutf8::basic::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
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
            assert!(
                plain
                    .chars()
                    .all(|c| c == '\n' || c == '\t' || !c.is_control())
            );
            assert!(!plain.contains('\u{202e}'));
        }
    }

    #[test]
    fn output_keeps_colours_and_drops_the_rest() {
        let raw = "\u{1b}[31mred\u{1b}[0m \u{1b}]0;PWNED\u{7}\u{1b}[2Jx\u{1b}P1;q\u{1b}\\y\u{1b}[32mz\u{1b}[?1049l";
        assert_eq!(
            Text::output(raw).as_str(),
            "\u{1b}[31mred\u{1b}[0m xy\u{1b}[32mz"
        );
    }

    #[test]
    fn characters_that_were_decoded_wrongly_hide_nothing() {
        for c in '\u{80}'..='\u{9f}' {
            let raw = format!("he said \u{1b}[31m\u{e2}\u{80}{c} and more\u{1b}[0m\nnext");
            let shown = format!(
                "he said \u{1b}[31mâ⟨U+0080⟩⟨U+{:04X}⟩ and more\u{1b}[0m\nnext",
                u32::from(c)
            );
            assert_eq!(Text::output(&raw).as_str(), shown);
        }
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
            ("👩\u{200d}🚀 lands", "👩…"),
        ] {
            let max = match raw {
                "one two" => 3,
                raw if raw.starts_with('👩') => 2,
                _ => 40,
            };
            assert_eq!(Text::stub(raw, max).as_str(), stub, "{raw:?}");
        }
    }

    #[test]
    fn progress_bars_show_their_last_state() {
        assert_eq!(
            Text::output("10%\r50%\r100%\r\ndone\r\n").as_str(),
            "100%\ndone\n"
        );
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
        let seen = |raw: &str, manner| {
            super::visible_line(raw, 8, manner).map(|(line, is_cut)| format!("{line}{is_cut}"))
        };
        let colours = "\n \u{1b}[1;31mred\u{1b}[0m\n\u{1b}[32mgreen";
        assert_eq!(seen(colours, Manner::Output).as_deref(), Some("redtrue"));
        assert_eq!(
            seen("one — two", Manner::Prose).as_deref(),
            Some("one — twtrue")
        );
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
        assert_eq!(
            Text::clean("a\u{1b}[0mb\u{202e}c").as_str(),
            "a␛[0mb⟨U+202E⟩c"
        );
    }

    #[test]
    fn all_that_turns_a_text_round_or_is_not_seen_has_a_mark_that_can_be_taken_out() {
        let bidi = ('\u{202a}'..='\u{202e}')
            .chain('\u{2066}'..='\u{2069}')
            .chain(['\u{200e}', '\u{200f}', '\u{61c}']);
        let unseen = [
            '\u{200b}',
            '\u{200c}',
            '\u{200d}',
            '\u{fe0f}',
            '\u{2060}',
            '\u{feff}',
            '\u{ad}',
            '\u{180e}',
            '\u{e0001}',
            '\u{e0041}',
        ];
        assert_eq!(bidi.clone().count(), 12, "the whole set of Bidi_Control");
        for c in bidi.chain(unseen) {
            let marked = format!("a⟨U+{:04X}⟩b", u32::from(c));
            for text in [
                Text::clean(&format!("a{c}b")),
                Text::output(&format!("a{c}b")),
            ] {
                assert_eq!(text.as_str(), marked);
                assert_eq!(without_marks(&text).as_deref(), Some("ab"));
            }
        }
        for kept in [
            "",
            "ab",
            "⟨U+",
            "⟨U+0041⟩",
            "⟨U+XYZ⟩ ⟨",
            "e\u{301}👨\u{200d}👩\u{fe0f}",
        ] {
            assert_eq!(
                (without_marks(kept), Text::clean(kept).as_str()),
                (None, kept)
            );
        }
    }

    #[test]
    fn harmless_text_has_neither_control_characters_nor_what_stands_for_them() {
        let raw = "a\u{1b}[201~\u{9b}b\tc\r\nd\u{202e}e␛f⟨U+202E⟩g⟨U+0041⟩";
        assert_eq!(harmless(raw), ("a[201~b\tc\ndefg⟨U+0041⟩".to_owned(), 5));
        assert_eq!(harmless("plain\n"), ("plain\n".to_owned(), 0));
    }
}
