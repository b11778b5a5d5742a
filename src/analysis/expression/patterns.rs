//! Compiles regular expressions that the user typed, within limits.
//!
//! Invariant: the time of a search is linear in the text. The pattern adds a factor, which is
//! bounded here.

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Hir, HirKind};

/// Limit in bytes: longer patterns are not parsed, which would take many times their size in
/// memory.
pub(crate) const LONGEST_PATTERN: usize = 1 << 16;
/// Limit in bytes of a compiled pattern.
const LARGEST_PATTERN: usize = 1 << 22;
/// Limit of repeated characters: each of them may be a state at every byte of a text.
const MOST_REPEATED: usize = 1000;
/// Limit in bytes of the cache of DFA states, which makes searches fast.
const REMEMBERED: usize = 1 << 24;

/// Compiles a pattern within the limits.
pub(crate) fn compile(builder: &mut RegexBuilder, source: &str) -> Result<Regex, regex::Error> {
    let is_large = || {
        regex_syntax::parse(source).is_ok_and(|pattern| repeated(&pattern, false) > MOST_REPEATED)
    };
    if source.len() > LONGEST_PATTERN || is_large() {
        return Err(regex::Error::CompiledTooBig(LARGEST_PATTERN));
    }
    builder
        .size_limit(LARGEST_PATTERN)
        .dfa_size_limit(REMEMBERED)
        .build()
}

/// The number of repeated characters, each times its repetitions. Within a repetition all
/// characters count.
fn repeated(pattern: &Hir, is_within: bool) -> usize {
    match pattern.kind() {
        HirKind::Repetition(repetition) => {
            let times = repetition
                .max
                .unwrap_or(repetition.min.saturating_add(1))
                .max(1);
            repeated(&repetition.sub, is_within || times > 1)
                .saturating_mul(usize::try_from(times).unwrap_or(usize::MAX))
        }
        HirKind::Capture(capture) => repeated(&capture.sub, is_within),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().fold(0, |sum: usize, part| {
                sum.saturating_add(repeated(part, is_within))
            })
        }
        HirKind::Literal(literal) if is_within => literal.0.len(),
        HirKind::Class(_) => usize::from(is_within),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Look(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use regex::RegexBuilder;

    use super::{LONGEST_PATTERN, compile};

    #[test]
    fn what_is_longer_than_anybody_types_is_not_even_parsed() {
        for part in ["(", "[", "ab|", r"\w{2}", "(?i)x"] {
            for bytes in [LONGEST_PATTERN + 1, 1 << 20] {
                let pattern = part.repeat(bytes / part.len() + 1);
                let built = compile(&mut RegexBuilder::new(&pattern), &pattern);
                assert!(
                    matches!(built, Err(regex::Error::CompiledTooBig(_))),
                    "{part}"
                );
            }
        }
    }

    #[test]
    fn what_repeats_without_measure_is_not_compiled_and_all_else_is_searched_for_in_time() {
        let text = [
            "a".repeat(20_000),
            "ab".repeat(10_000),
            "aab a_b word\n".repeat(2_000),
        ];
        for refused in [
            "a.{2000}b",
            "(a|ab){1001}",
            "(.{1,40}){1,40}z",
            "((a{1,100}){1,100}){1,100}",
            "a{4294967295}",
            r"(\w{3}\s){500}",
            "(?:a{0,500}){0,500}b",
        ] {
            assert!(
                compile(&mut RegexBuilder::new(refused), refused).is_err(),
                "{refused}"
            );
        }
        let begun = Instant::now();
        for pattern in [
            "a.{990}z",
            "(a+)+z",
            "(a|a)*z",
            "(.*)*z",
            "(.+){50}z",
            "a{1000}z",
            "(a|b|ab)*z",
            r"\w{30}z",
            "x|y{3}|(foo.{0,200}bar)",
            r"^\s*$",
        ] {
            let pattern = compile(&mut RegexBuilder::new(pattern), pattern).expect(pattern);
            assert!(text.iter().all(|text| !pattern.is_match(text)), "{pattern}");
        }
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "{:?}",
            begun.elapsed()
        );
    }
}
