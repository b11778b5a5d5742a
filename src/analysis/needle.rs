//! What the bytes of a record must hold for a pattern to match in it: decoding a record costs a hundred
//! times more than looking for a word in it.
//!
//! Invariant: a record that is refused has no match. So only runs of ASCII letters, digits and `_` count,
//! which no writer escapes; and where something stands in a record that is not shown and may tear a word
//! apart, such as a colour, that is taken out first, or nothing is refused.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::hir::{Hir, HirKind};

/// So many words are looked for, the longest ones.
const MOST: usize = 4;

/// Words of which all must be in a record, each in one of several forms.
#[derive(Clone, Debug, Default)]
pub struct Needle(Vec<Regex>);

/// Any of these.
type Forms = Vec<String>;

impl Needle {
    /// What a text or a regular expression needs; nothing if that cannot be told.
    pub fn of(typed: &str, is_literal: bool, ignores_case: bool) -> Self {
        let hir = if is_literal {
            Some(Hir::literal(typed.as_bytes()))
        } else {
            // Without regard to case, letters would be classes.
            regex_syntax::Parser::new().parse(typed).ok()
        };
        let mut needs = hir.map(|hir| needs_of(&hir)).unwrap_or_default();
        needs.sort_by_key(|forms| std::cmp::Reverse(length(forms)));
        needs.dedup();
        let compiled = needs.iter().take(MOST).filter_map(|forms| {
            let forms: Vec<String> = forms.iter().map(|form| regex::escape(form)).collect();
            RegexBuilder::new(&forms.join("|")).case_insensitive(ignores_case).build().ok()
        });
        Self(compiled.collect())
    }

    /// Whether a record may hold a match.
    pub fn may_be_in(&self, record: &[u8]) -> bool {
        self.is_met_by(record)
            || (TEARS.is_match(record) && {
                let plain = COLOURS.replace_all(record, &b""[..]);
                let is_torn = matches!(plain, Cow::Borrowed(_)) || TEARS.is_match(&plain);
                is_torn || self.is_met_by(&plain)
            })
    }

    fn is_met_by(&self, bytes: &[u8]) -> bool {
        self.0.iter().all(|need| need.is_match(bytes))
    }
}

/// What is not shown, or stands for a letter: escape sequences, soft hyphens, escaped ASCII.
static TEARS: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u)\\u(?:00(?:[0-1][0-9a-fA-F]|3[0-9]|[4-9][0-9a-fA-F]|[aA][dD])|[fF][eE][fF][fF])|\x1b|\xc2[\x80-\x9f\xad]|\xef\xbb\xbf",
    )
});

/// Colours, also in JSON within JSON.
static COLOURS: LazyLock<Regex> = LazyLock::new(|| compiled(r"(?-u)(?:\\+u001[bB]|\x1b)\[[0-9;:]*m"));

#[expect(clippy::expect_used, reason = "the patterns of this file are tested")]
fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of this file")
}

/// How much forms tell: as much as the shortest.
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
            let best = |branch: &Hir| needs_of(branch).into_iter().max_by_key(|forms| length(forms));
            let forms: Option<Vec<Forms>> = branches.iter().map(best).collect();
            forms.map(|forms| forms.concat()).into_iter().collect()
        }
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) | HirKind::Repetition(_) => Vec::new(),
    }
}

fn words(literal: &[u8]) -> impl Iterator<Item = String> {
    let runs = literal.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    runs.filter(|run| run.len() > 1).map(|run| String::from_utf8_lossy(run).into_owned())
}

#[cfg(test)]
mod tests {
    use super::Needle;

    #[test]
    fn records_without_the_words_are_refused() {
        for (typed, record, is_worth) in [
            ("lost keel", r#"{"text":"the keel\tis lost"}"#, true),
            ("lost keel", r#"{"text":"the keel"}"#, false),
            ("LOST", r#"{"text":"lost"}"#, true),
            ("keel", r#"{"text":"ke\u001b[1;31mel\u001b[0m"}"#, true),
            ("keel", r#"{"text":"ma\u001b[1;31mst\u001b[0m"}"#, false),
            ("keel", "ke\u{1b}[1mel", true),
            ("keel", r#"{"text":"ke\u001b]8;;x\u0007el"}"#, true),
            ("keel", "ke\u{ad}el", true),
            ("keel", r#"{"text":"ke\u006cl"}"#, true),
            ("é", "nothing", true),
            (".", "nothing", true),
        ] {
            let needle = Needle::of(typed, true, true);
            assert_eq!(needle.may_be_in(record.as_bytes()), is_worth, "{typed} in {record}");
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
            let needle = Needle::of(typed, false, true);
            assert_eq!(needle.may_be_in(record.as_bytes()), is_worth, "{typed} in {record}");
        }
        assert!(!Needle::of("Keel", true, false).may_be_in(b"keel"));
    }
}
