//! Generates the grammars for syntax highlighting: `assets/grammars.bin` has those of `two-face`, with
//! patterns that compile to less. Run by `cargo test --test all grammars -- --ignored`.
//!
//! The patterns name letters by their Unicode categories, a dozen times in each grammar, and the
//! automata of these use most of the time and memory. Here each character beyond ASCII is a letter,
//! as it usually is within a word.

use std::path::Path;

use syntect::dumps::{dump_to_uncompressed_file, from_uncompressed_dump_file};
use syntect::parsing::syntax_definition::{Pattern, SyntaxDefinition};
use syntect::parsing::{ParseState, Regex, SyntaxSet, SyntaxSetBuilder};

const BEYOND_ASCII: &str = r"\x{80}-\x{10FFFF}";

fn path() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/grammars.bin"))
}

fn of_the_crate() -> SyntaxSet {
    two_face::syntax::extra_newlines()
}

fn definitions(grammars: SyntaxSet) -> Vec<SyntaxDefinition> {
    grammars.into_builder().syntaxes().to_vec()
}

/// The patterns of a grammar.
fn patterns(grammar: &mut SyntaxDefinition) -> impl Iterator<Item = &mut Regex> {
    let all = grammar
        .contexts
        .values_mut()
        .flat_map(|context| &mut context.patterns);
    all.filter_map(|pattern| match pattern {
        Pattern::Match(found) => Some(&mut found.regex),
        Pattern::Include(_) => None,
    })
}

/// The pattern with ranges in the place of categories.
fn lean(pattern: &str) -> String {
    let mut lean = String::new();
    // Brackets that are open: what stands in them are members of a class.
    let mut classes = 0;
    let mut rest = pattern;
    while let Some(next) = rest.chars().next() {
        let (taken, members) = match rest.as_bytes() {
            [b'\\', b'p', b'{', ..] => {
                let end = rest.find('}').map_or(rest.len(), |end| end + 1);
                (end, members_of(rest[3..end].trim_end_matches('}')))
            }
            [b'\\', kind, ..] => (
                1 + rest[1..].chars().next().map_or(0, char::len_utf8),
                short(*kind),
            ),
            _ => (next.len_utf8(), None),
        };
        let (token, after) = rest.split_at(taken);
        match members {
            Some(members) if classes > 0 => lean += &members,
            Some(members) => lean += &format!("[{members}]"),
            None => lean += token,
        }
        rest = after;
        match token {
            "[" if classes > 0 && rest.starts_with(':') => {
                let end = rest.find(']').map_or(rest.len(), |end| end + 1);
                lean += &rest[..end];
                rest = &rest[end..];
            }
            "[" => {
                classes += 1;
                // A bracket that comes first is a member.
                for (first, written) in [("^", "^"), ("]", r"\]")] {
                    if let Some(after) = rest.strip_prefix(first) {
                        lean += written;
                        rest = after;
                    }
                }
            }
            "]" => classes = classes.max(1) - 1,
            _ => {}
        }
    }
    // A comment in the pattern has a bracket that is none.
    if classes > 0 {
        pattern.to_owned()
    } else {
        lean
    }
}

fn members_of(category: &str) -> Option<String> {
    let ascii = match category {
        "L" | "Letter" | "Alpha" | "alpha" | "Alphabetic" => "A-Za-z",
        "N" | "Nd" | "Digit" | "digit" => return Some("0-9".to_owned()),
        "Alnum" | "alnum" => "0-9A-Za-z",
        "word" => "0-9A-Za-z_",
        "Lu" | "Upper" | "upper" => return Some("A-Z".to_owned()),
        "Ll" | "Lower" | "lower" => "a-z",
        "Pc" => return Some("_".to_owned()),
        "Nl" | "M" | "Mn" | "Mc" | "Lt" | "Lm" | "Lo" => "",
        _ => return None,
    };
    Some(format!("{ascii}{BEYOND_ASCII}"))
}

fn short(kind: u8) -> Option<String> {
    match kind {
        b'w' => members_of("word"),
        b'd' => members_of("Nd"),
        b's' => Some(r" \t\n\r".to_owned()),
        _ => None,
    }
}

/// The grammars of the crate with these patterns.
fn made() -> SyntaxSet {
    let mut builder = SyntaxSetBuilder::new();
    for mut grammar in definitions(of_the_crate()) {
        patterns(&mut grammar).for_each(|pattern| *pattern = Regex::new(lean(pattern.regex_str())));
        builder.add(grammar);
    }
    builder.build()
}

fn kept() -> SyntaxSet {
    from_uncompressed_dump_file(path()).unwrap()
}

#[test]
fn categories_become_ranges() {
    for (pattern, expected) in [
        (
            r"\b[\p{L}_]\w*\b",
            r"\b[A-Za-z\x{80}-\x{10FFFF}_][0-9A-Za-z_\x{80}-\x{10FFFF}]*\b",
        ),
        (r"[^\]\s[:alpha:]\d]\\w", r"[^\] \t\n\r[:alpha:]0-9]\\w"),
        (r"[]\d]\p{Greek}ä\d", r"[\]0-9]\p{Greek}ä[0-9]"),
        (r"\[\w]", r"\[[0-9A-Za-z_\x{80}-\x{10FFFF}]]"),
    ] {
        assert_eq!(lean(pattern), expected);
    }
}

#[test]
fn the_grammars_are_those_of_the_crate() {
    let (kept, made) = (definitions(kept()), definitions(made()));
    assert_eq!(kept.len(), made.len());
    for (kept, made) in kept.iter().zip(&made) {
        assert!(
            kept == made,
            "{}: make {} anew",
            kept.name,
            path().display()
        );
    }
}

#[test]
fn code_has_the_same_parts() {
    let (kept, plain) = (kept(), of_the_crate());
    for (language, code) in [
        (
            "rs",
            "/// Größe\nfn größe(n: u32) -> Option<String> {\n    println!(\"{n} Äpfel\"); // µ\n    None\n}\n",
        ),
        (
            "py",
            "class Ärger(Exception):\n    def __init__(self, größe=1):\n        self.größe = f\"{größe!r}\"\n",
        ),
        (
            "bash",
            "größe=1\nfor f in *.rs; do if [ -f \"$f\" ]; then echo \"${größe}\" <<EOF\nx\nEOF\nfi; done\n",
        ),
        ("json", "{\"größe\": [1, true, null]}\n"),
    ] {
        let parts = |grammars: &SyntaxSet| -> Vec<_> {
            let mut state = ParseState::new(grammars.find_syntax_by_token(language).unwrap());
            code.split_inclusive('\n')
                .map(|line| state.parse_line(line, grammars).unwrap())
                .collect()
        };
        assert_eq!(parts(&kept), parts(&plain), "{language}");
    }
}

#[test]
#[ignore = "writes assets/grammars.bin"]
fn make_the_grammars() {
    for mut grammar in definitions(of_the_crate()) {
        let name = grammar.name.clone();
        for pattern in patterns(&mut grammar) {
            let lean = lean(pattern.regex_str());
            let is_broken = lean != pattern.regex_str()
                && Regex::try_compile(&lean).is_some()
                && Regex::try_compile(pattern.regex_str()).is_none();
            assert!(!is_broken, "{name}: {} became {lean}", pattern.regex_str());
        }
    }
    dump_to_uncompressed_file(&made(), path()).unwrap();
}
