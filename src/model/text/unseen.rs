//! Invisible characters, and which of them their neighbours need.
//!
//! Invariant: whether one is needed depends only on its direct neighbours.

use std::sync::LazyLock;

use regex_syntax::hir::{ClassUnicode, HirKind};

/// Characters of the longest subdivision in a flag, such as `gbsct`.
const LONGEST_TAGS: usize = 6;
const BLACK_FLAG: char = '\u{1f3f4}';
const END_OF_TAGS: char = '\u{e007f}';
const KEYCAP: char = '\u{20e3}';
const JOINER: char = '\u{200d}';

/// Whether a character is invisible: `Default_Ignorable_Code_Point` in `DerivedCoreProperties.txt`
/// of Unicode 16.0 (which includes the bidirectional controls), and the interlinear annotation
/// characters.
pub(super) fn is_unseen(c: char) -> bool {
    // Most characters are ASCII.
    !c.is_ascii()
        && matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether an invisible character only affects the rendering of its neighbours: it selects the form
/// of an emoji or an ideograph, joins emoji or consonants, or spells a flag.
pub(super) fn is_needed(before: &str, c: char, after: &str) -> bool {
    let last = before.chars().next_back();
    match c {
        '\u{fe0e}' | '\u{fe0f}' => last.is_some_and(|base| match base {
            '0'..='9' | '#' | '*' => after.starts_with(KEYCAP),
            base => EMOJI.contains(base),
        }),
        '\u{fe00}'..='\u{fe02}' | '\u{e0100}'..='\u{e01ef}' => {
            last.is_some_and(|base| IDEOGRAPHS.contains(base))
        }
        JOINER => last.is_some_and(is_virama) || joins_emoji(before, after),
        '\u{e0020}'..=END_OF_TAGS => is_in_flag(before, c, after),
        _ => false,
    }
}

/// Whether it is a virama, which removes the vowel of a consonant; a joiner after it selects the
/// form of both.
fn is_virama(c: char) -> bool {
    c == '\u{dca}' || matches!(c, '\u{900}'..='\u{d7f}') && u32::from(c) & 0x7f == 0x4d
}

/// Whether there are emoji on both sides; the first may have a variation selector or a skin tone.
fn joins_emoji(before: &str, after: &str) -> bool {
    let base = before.trim_end_matches([
        '\u{fe0f}',
        '\u{1f3fb}',
        '\u{1f3fc}',
        '\u{1f3fd}',
        '\u{1f3fe}',
        '\u{1f3ff}',
    ]);
    let is_close = before.len() - base.len() <= '\u{fe0f}'.len_utf8() + '\u{1f3fb}'.len_utf8();
    let is_picture = |c: Option<char>| c.is_some_and(|c| PICTURES.contains(c));
    is_close && is_picture(base.chars().next_back()) && is_picture(after.chars().next())
}

/// Whether a tag is one of a few letters and digits between a flag and the cancel tag. More of
/// them, or others, could be hidden text.
fn is_in_flag(before: &str, c: char, after: &str) -> bool {
    let is_letter = |c: &char| matches!(c, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}');
    let earlier = before
        .chars()
        .rev()
        .take(LONGEST_TAGS + 1)
        .take_while(is_letter)
        .count();
    let (letters, is_ended) = if c == END_OF_TAGS {
        (earlier, true)
    } else {
        let later = after
            .chars()
            .take(LONGEST_TAGS + 1)
            .take_while(is_letter)
            .count();
        (
            earlier + 1 + later,
            is_letter(&c) && after.chars().nth(later) == Some(END_OF_TAGS),
        )
    };
    let begins = before.chars().rev().nth(earlier) == Some(BLACK_FLAG);
    is_ended && begins && (3..=LONGEST_TAGS).contains(&letters)
}

/// All characters with a Unicode property.
struct Property(LazyLock<ClassUnicode>);

/// Characters that may be rendered as emoji.
static EMOJI: Property = Property(LazyLock::new(|| class(r"\p{Emoji}")));
/// Characters that joined emoji consist of.
static PICTURES: Property = Property(LazyLock::new(|| class(r"\p{Extended_Pictographic}")));
/// Han ideographs and similar characters.
static IDEOGRAPHS: Property = Property(LazyLock::new(|| class(r"\p{Ideographic}")));

impl Property {
    fn contains(&self, c: char) -> bool {
        let ranges = self.0.ranges();
        let place = ranges.partition_point(|range| range.end() < c);
        ranges.get(place).is_some_and(|range| range.start() <= c)
    }
}

/// The class that a pattern names; empty if the tables lack it, which a test rules out.
fn class(pattern: &str) -> ClassUnicode {
    let parsed = regex_syntax::Parser::new()
        .parse(pattern)
        .map(regex_syntax::hir::Hir::into_kind);
    match parsed {
        Ok(HirKind::Class(regex_syntax::hir::Class::Unicode(class))) => class,
        _ => ClassUnicode::empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::{class, is_unseen};
    use crate::model::text::{Text, harmless};

    #[test]
    fn all_that_is_ignorable_by_default_is_unseen() {
        let ignorable = class(r"\p{Default_Ignorable_Code_Point}");
        assert!(ignorable.ranges().len() > 10);
        let all = || {
            ignorable
                .ranges()
                .iter()
                .flat_map(|range| range.start()..=range.end())
        };
        let missing: Vec<char> = all().filter(|c| !is_unseen(*c)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let further = ('\0'..=char::MAX).filter(|c| is_unseen(*c)).count() - all().count();
        assert_eq!(further, 3, "only U+FFF9 to U+FFFB are seen by default");
        for c in all() {
            let marked = format!("a⟨U+{:04X}⟩b", u32::from(c));
            assert_eq!(Text::clean(&format!("a{c}b")).as_str(), marked);
            assert_eq!(Text::output(&format!("a{c}b")).as_str(), marked);
            assert_eq!(harmless(&format!("a{c}b")), ("ab".to_owned(), 1));
        }
    }

    #[test]
    fn what_others_need_stays() {
        let flag = "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}";
        for kept in [
            "☎\u{fe0e} ☎\u{fe0f} 1\u{fe0f}\u{20e3} #\u{fe0f}\u{20e3}",
            "👨\u{200d}👩\u{200d}👧 👩🏽\u{200d}🚀 🏳\u{fe0f}\u{200d}🌈 ❤\u{fe0f}\u{200d}🔥 🕵🏽\u{200d}♀\u{fe0f}",
            "葛\u{e0100}飾 辻\u{e0101} 神\u{fe00}",
            "ශ\u{dca}\u{200d}රී क\u{94d}\u{200d}ष",
            flag,
        ] {
            assert_eq!(Text::clean(kept).as_str(), kept);
            assert_eq!(Text::output(kept).as_str(), kept);
            assert_eq!(harmless(kept), (kept.to_owned(), 0));
        }
    }

    #[test]
    fn what_nobody_needs_has_a_mark() {
        for (raw, marks) in [
            ("☎\u{fe0f}\u{fe0f}\u{fe0e}", 2),
            ("1\u{fe0f}2\u{fe0f}", 2),
            ("\u{fe0f}", 1),
            (
                "a\u{200d}b 👨\u{200d} \u{200d}👨 👨\u{fe0f}\u{fe0f}\u{fe0f}\u{200d}👨",
                6,
            ),
            ("葛\u{e0100}\u{e0101} 葛\u{fe05} a\u{e0100}", 3),
            ("🏴\u{e0067}\u{e0062}\u{e007f}", 3),
            ("🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}", 5),
            (
                "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}\u{e007f}",
                1,
            ),
            (
                "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e0061}\u{e0062}\u{e007f}",
                8,
            ),
            ("🏳\u{e0067}\u{e0062}\u{e0073}\u{e007f}", 4),
        ] {
            let clean = Text::clean(raw);
            assert_eq!(clean.matches('⟨').count(), marks, "{clean}");
            assert_eq!(harmless(raw).1, marks, "{clean}");
        }
    }
}
