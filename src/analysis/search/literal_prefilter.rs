//! Prefilter on the bytes of a record: decoding a record costs a hundred times more than a search
//! for a literal in it.
//!
//! Invariant: a rejected record has no match. Therefore only runs of ASCII letters, digits and `_`
//! count, which no writer escapes; and where a record has something invisible that may split a
//! word, such as a colour, that is removed first, or the record is accepted.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::{memchr, memchr_iter, memchr3_iter, memrchr};
use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::hir::{Hir, HirKind};

use crate::model::text::without_marks;

/// Limit of literals, the longest ones first.
const MOST: usize = 4;

/// Literals that must all be in a record, each in one of several forms.
#[derive(Clone, Debug, Default)]
pub struct LiteralPrefilter(Vec<Regex>);

/// Alternative forms of a literal.
type Forms = Vec<String>;

impl LiteralPrefilter {
    /// The literals of a text or a regular expression; without any all records are accepted.
    pub(crate) fn of(typed: &str, is_literal: bool, ignores_case: bool) -> Self {
        let hir = if is_literal {
            Some(Hir::literal(without_width(typed).into_bytes()))
        } else {
            // Parsed with regard to case: otherwise letters would be classes.
            regex_syntax::Parser::new().parse(typed).ok()
        };
        let mut needs = hir.map(|hir| needs_of(&hir)).unwrap_or_default();
        needs.sort_by_key(|forms| std::cmp::Reverse(length(forms)));
        needs.dedup();
        let compiled = needs.iter().take(MOST).filter_map(|forms| {
            let forms: Vec<String> = forms.iter().map(|form| regex::escape(form)).collect();
            RegexBuilder::new(&forms.join("|"))
                .case_insensitive(ignores_case)
                .build()
                .ok()
        });
        Self(compiled.collect())
    }

    /// Whether a record may have a match.
    pub fn may_be_in(&self, record: &[u8]) -> bool {
        self.matches(record) || (is_torn(record) && self.may_be_torn_in(record))
    }

    fn may_be_torn_in(&self, record: &[u8]) -> bool {
        let plain = without_sequences(record);
        matches!(plain, Cow::Borrowed(_)) || is_torn(&plain) || self.matches(&plain)
    }

    /// The lines of a text that may have a match, in order and without line ends. Most of the text
    /// is searched for only one literal, and for what may split it.
    pub(crate) fn lines_in(&self, text: &[u8]) -> Vec<Range<usize>> {
        let Some((rarest, others)) = self.0.split_first() else {
            let lines = memchr_iter(b'\n', text).chain([text.len()]);
            let mut from = 0;
            return lines
                .map(|end| std::mem::replace(&mut from, end + 1)..end)
                .filter(|line| !line.is_empty())
                .collect();
        };
        let has_others = |line: &[u8]| others.iter().all(|need| need.is_match(line));
        let mut lines = Vec::new();
        let mut from = 0;
        while let Some(found) = rarest.find_at(text, from) {
            let line = line_at(text, found.start());
            lines.extend(
                text.get(line.clone())
                    .is_some_and(has_others)
                    .then(|| line.clone()),
            );
            from = line.end;
        }
        let mut torn = 0..0;
        for at in tears(text) {
            if !torn.contains(&at) {
                torn = line_at(text, at);
                let may_match = text
                    .get(torn.clone())
                    .is_some_and(|line| self.may_be_torn_in(line));
                lines.extend(may_match.then(|| torn.clone()));
            }
        }
        lines.sort_unstable_by_key(|line| line.start);
        lines.dedup();
        lines
    }

    fn matches(&self, bytes: &[u8]) -> bool {
        self.0.iter().all(|need| need.is_match(bytes))
    }
}

/// The typed text without zero-width characters and their visible marks, which do not split words.
pub(crate) fn without_width(typed: &str) -> String {
    let is_seen = |c: &char| !matches!(c, '\u{ad}' | '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
    without_marks(typed)
        .as_deref()
        .unwrap_or(typed)
        .chars()
        .filter(is_seen)
        .collect()
}

/// The range of the line around an offset.
fn line_at(text: &[u8], at: usize) -> Range<usize> {
    let (before, behind) = text.split_at_checked(at).unwrap_or((text, &[]));
    let start = memrchr(b'\n', before).map_or(0, |end| end + 1);
    start..at + memchr(b'\n', behind).unwrap_or(behind.len())
}

/// Offsets of what is invisible or represents a letter: escape sequences, soft hyphens, escaped
/// ASCII. Two searches for rare bytes take an eighth of the time of one pattern for all.
fn tears(text: &[u8]) -> impl Iterator<Item = usize> {
    let raw = memchr3_iter(0x1b, 0xc2, 0xef, text).chain(memchr_iter(0xe2, text));
    ESCAPED
        .find_iter(text)
        .map(|found| found.start())
        .chain(raw.filter(|at| is_tear_at(text, *at)))
}

fn is_torn(record: &[u8]) -> bool {
    tears(record).next().is_some()
}

/// Whether the unescaped bytes at an offset are invisible.
fn is_tear_at(record: &[u8], at: usize) -> bool {
    let rest = record.get(at..).unwrap_or_default();
    match rest {
        [0x1b, ..] | [0xc2, 0x80..=0x9f | 0xad, ..] | [0xef, 0xbb, 0xbf, ..] => true,
        // In other scripts such characters are common, but no literal contains those scripts.
        [0xe2, 0x80, 0x8b..=0x8f | 0xaa..=0xae, ..]
        | [0xe2, 0x81, 0xa0..=0xaf, ..]
        | [0xe2, 0x9f, 0xa8, ..] => {
            let before = at.checked_sub(1).and_then(|before| record.get(before));
            before.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        }
        _ => false,
    }
}

/// What splits a word or represents a part of it, in JSON's escapes. Ignoring case, the Kelvin sign
/// matches k, and the long s matches s.
static ESCAPED: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u)\\u(?:00(?:[0-1][0-9a-fA-F]|3[0-9]|[4-9][0-9a-fA-F]|[aA][dD])|[fF][eE][fF][fF]|20(?:0[b-fB-F]|2[a-eA-E]|6[0-9a-fA-F])|27[eE]8|212[aA]|017[fF])",
    )
});

/// The bytes without escaped colours and cursor movements, also in JSON within JSON. JSON has no
/// unescaped ones.
fn without_sequences(record: &[u8]) -> Cow<'_, [u8]> {
    let mut plain = Vec::new();
    let mut from = 0;
    for found in SEQUENCES.find_iter(record) {
        let before = record.get(from..found.start()).unwrap_or_default();
        let backslashes = before
            .iter()
            .rev()
            .take_while(|byte| **byte == b'\\')
            .count();
        if backslashes > 0 {
            plain.extend_from_slice(before.get(..before.len() - backslashes).unwrap_or_default());
            from = found.end();
        }
    }
    if from == 0 {
        return Cow::Borrowed(record);
    }
    plain.extend_from_slice(record.get(from..).unwrap_or_default());
    Cow::Owned(plain)
}

/// Such sequences without the backslashes before them: patterns that begin with a common literal
/// are fastest.
static SEQUENCES: LazyLock<Regex> = LazyLock::new(|| compiled(r"(?-u)u001[bB]\[[0-9;:?]*[A-Za-z]"));

#[expect(clippy::expect_used, reason = "the patterns of this file are tested")]
fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of this file")
}

/// How selective the forms are: as much as the shortest.
fn length(forms: &[String]) -> usize {
    forms.iter().map(String::len).min().unwrap_or(0)
}

fn needs_of(hir: &Hir) -> Vec<Forms> {
    match hir.kind() {
        HirKind::Literal(literal) => words(&literal.0).map(|word| vec![word]).collect(),
        HirKind::Concat(parts) => parts.iter().flat_map(needs_of).collect(),
        HirKind::Capture(capture) => needs_of(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => needs_of(&repetition.sub),
        HirKind::Alternation(branches) => {
            let best = |branch: &Hir| {
                needs_of(branch)
                    .into_iter()
                    .max_by_key(|forms| length(forms))
            };
            let forms: Option<Vec<Forms>> = branches.iter().map(best).collect();
            forms.map(|forms| forms.concat()).into_iter().collect()
        }
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) | HirKind::Repetition(_) => {
            Vec::new()
        }
    }
}

fn words(literal: &[u8]) -> impl Iterator<Item = String> {
    let runs = literal.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    runs.filter(|run| run.len() > 1)
        .map(|run| String::from_utf8_lossy(run).into_owned())
}

#[cfg(test)]
mod tests {
    use super::{LiteralPrefilter, compiled, is_torn, without_sequences};

    #[test]
    fn what_tears_a_word_apart_is_what_the_patterns_say() {
        let tears = compiled(
            r"(?-u)\\u(?:00(?:[0-1][0-9a-fA-F]|3[0-9]|[4-9][0-9a-fA-F]|[aA][dD])|[fF][eE][fF][fF]|20(?:0[b-fB-F]|2[a-eA-E]|6[0-9a-fA-F])|27[eE]8|212[aA]|017[fF])|\x1b|\xc2[\x80-\x9f\xad]|\xef\xbb\xbf|[0-9A-Za-z_]\xe2(?:\x80[\x8b-\x8f\xaa-\xae]|\x81[\xa0-\xaf]|\x9f\xa8)",
        );
        let colours = compiled(r"(?-u)\\+u001[bB]\[[0-9;:?]*[A-Za-z]");
        let parts: [&[u8]; 20] = [
            b"a",
            b"\\",
            b"\\\\",
            b"u",
            b"u001b",
            b"u001B",
            b"u00ad",
            b"u0020",
            b"u0041",
            b"uFeFf",
            b"u212a",
            b"u017F",
            b"[1;31m",
            b"[m",
            b"\x1b",
            b"\xc2",
            b"\xad",
            b"\xef\xbb\xbf",
            b"\xe2\x80\x8b",
            b"u200C",
        ];
        let mut count = 0;
        for number in 0..parts.len().pow(4) {
            let chosen = (0..4).map(|at| parts[number / parts.len().pow(at) % parts.len()]);
            let record = chosen.collect::<Vec<_>>().concat();
            assert_eq!(is_torn(&record), tears.is_match(&record), "{record:?}");
            assert_eq!(
                without_sequences(&record),
                colours.replace_all(&record, &b""[..]),
                "{record:?}"
            );
            count += usize::from(is_torn(&record));
        }
        assert!((10_000..100_000).contains(&count), "{count}");
    }

    #[test]
    fn lines_with_a_word_are_found_whatever_tears_it_apart() {
        let parts = [
            "ke",
            "el",
            " ",
            "\\n",
            "\\\\n",
            "\\u001b[1;31m",
            "\\u001b[m",
            "\\\\u001b[0m",
            "\\u00ad",
            "\u{1b}[m",
            "\u{ad}",
            "\u{200c}",
            "é",
            "\\u006c",
            "\\\"",
        ];
        let prefilter = LiteralPrefilter::of("keel", true, true);
        let (mut found, mut refused) = (0, 0);
        for number in 0..parts.len().pow(4) {
            let chosen = (0..4).map(|at| parts[number / parts.len().pow(at) % parts.len()]);
            let line = chosen.collect::<String>();
            let plain = [
                "\\\\u001b[0m",
                "\\u001b[1;31m",
                "\\u001b[m",
                "\\u00ad",
                "\u{1b}[m",
                "\u{ad}",
                "\u{200c}",
            ];
            let plain = plain
                .iter()
                .fold(line.clone(), |text, tear| text.replace(tear, ""));
            let text = format!("mast\n{line}\nhull");
            let lines = prefilter.lines_in(text.as_bytes());
            let is_there = plain.contains("keel") || line.contains("ke\\u006cl");
            let whole = std::iter::once(5..5 + line.len());
            assert!(
                !is_there || lines.iter().cloned().eq(whole),
                "{line}: {lines:?}"
            );
            assert!(
                lines.is_empty() || prefilter.may_be_in(line.as_bytes()),
                "{line}: {lines:?}"
            );
            found += usize::from(is_there);
            refused += usize::from(lines.is_empty());
        }
        assert!(found > 500 && refused > 5_000, "{found} {refused}");
    }

    #[test]
    fn lines_need_all_words_and_no_word_takes_all() {
        let lines = |typed: &str, text: &str| {
            let prefilter = LiteralPrefilter::of(typed, true, true);
            prefilter
                .lines_in(text.as_bytes())
                .into_iter()
                .map(|line| text.get(line).unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            lines("lost keel", "the lost\nkeel, LOST\n\nkeel"),
            ["keel, LOST"]
        );
        assert_eq!(lines("?", "a\n\nb"), ["a", "b"]);
        assert_eq!(lines("keel", "keel keel\nkeel"), ["keel keel", "keel"]);
        assert!(lines("keel", "").is_empty());
    }

    #[test]
    fn records_without_the_words_are_refused() {
        for (typed, record, is_worth) in [
            ("lost keel", r#"{"text":"the keel\tis lost"}"#, true),
            ("lost keel", r#"{"text":"the keel"}"#, false),
            ("LOST", r#"{"text":"lost"}"#, true),
            ("keel", r#"{"text":"ke\u001b[1;31mel\u001b[0m"}"#, true),
            ("keel", r#"{"text":"ma\u001b[1;31mst\u001b[0m"}"#, false),
            ("keel", r#"{"text":"ke\u001b[2Kel"}"#, true),
            ("keel", r#"{"text":"\u001b[2K\u001b[1A mast"}"#, false),
            ("keel", "ke\u{1b}[1mel", true),
            ("keel", r#"{"text":"ke\u001b]8;;x\u0007el"}"#, true),
            ("keel", "ke\u{ad}el", true),
            ("keel", r#"{"text":"ke\u006cl"}"#, true),
            ("é", "nothing", true),
            (".", "nothing", true),
        ] {
            let prefilter = LiteralPrefilter::of(typed, true, true);
            assert_eq!(
                prefilter.may_be_in(record.as_bytes()),
                is_worth,
                "{typed} in {record}"
            );
        }
    }

    #[test]
    fn patterns_need_what_each_of_their_matches_holds() {
        for (typed, record, is_worth) in [
            (r"fn \w+_keel\(", "fn lost_keel(", true),
            (r"fn \w+_keel\(", "fn lost_mast(", false),
            (r"keel|mast", "the mast", true),
            (r"keel|mast", "the hull", false),
            (r"(keel|.)x", "ax", true),
            (r"(?:keel)*", "", true),
            (r"(?:keel)+", "mast", false),
            (r"(?i)KEEL", "keel", true),
            (r"^\s+keel$", r"\n  keel\n", true),
            (r"k[e3]el", "k3el", true),
        ] {
            let prefilter = LiteralPrefilter::of(typed, false, true);
            assert_eq!(
                prefilter.may_be_in(record.as_bytes()),
                is_worth,
                "{typed} in {record}"
            );
        }
        assert!(!LiteralPrefilter::of("Keel", true, false).may_be_in(b"keel"));
    }
}
