//! The texts of blocks for search and filters, including folded ones and those on disk.

use std::ops::Range;

use itertools::Itertools as _;
use regex::{Regex, RegexBuilder};

use super::literal_prefilter::{LiteralPrefilter, without_width};
use super::scope::{self, TextScope};
use crate::analysis::calls::lifecycle;
use crate::analysis::expression::parse::Mistake;
use crate::analysis::expression::patterns::{LONGEST_PATTERN, compile};
use crate::analysis::phrases;
use crate::model::body::{Body, Held, Tree};
use crate::model::entry::{Block, BlockKind, Entry};
use crate::model::record::Origin;
use crate::model::text::{Text, without_sgr};
use crate::model::tool::ToolResult;
use crate::model::tool::work::EndLine;
use crate::model::transcript::Transcript;

/// All text of a block.
#[derive(Clone, Debug)]
pub struct BlockText {
    /// Index of the block in its entry.
    pub(crate) block: usize,
    pub(crate) scopes: Vec<TextScope>,
    /// The text of its head row; the input of a call may repeat it.
    pub(crate) head: Option<Text>,
    pub(crate) pieces: Vec<TextPiece>,
}

#[derive(Clone, Debug)]
pub(crate) enum TextPiece {
    InMemory(Held),
    /// A body on disk.
    OnDisk(Origin, u16),
}

/// Loads a body from disk.
pub(crate) type Read<'a> = dyn FnMut(Origin, u16) -> Option<Held> + 'a;

/// A line of a block with a match.
pub(crate) struct MatchingLine<'a> {
    /// The index of its piece; `None` for the head row.
    pub(crate) piece: Option<usize>,
    /// The line without colours.
    pub(crate) text: &'a str,
    /// The range of the first match in it.
    pub(crate) found: Range<usize>,
    /// Whether it is only the name of a field.
    pub(crate) is_name: bool,
}

/// Called for a line with a match: see [`each_line`].
pub(crate) type Take<'a> = dyn FnMut(MatchingLine<'_>) + 'a;

/// Compiles a text or a regular expression, ignoring case unless it has capitals.
pub(crate) fn pattern(typed: &str, is_literal: bool) -> Option<Regex> {
    pattern_in_case(typed, is_literal, ignores_case(typed))
}

/// As [`pattern`], with case explicitly ignored or not.
pub(crate) fn pattern_in_case(typed: &str, is_literal: bool, ignores_case: bool) -> Option<Regex> {
    let source = if is_literal {
        literal(typed)
    } else {
        typed.to_owned()
    };
    compile(
        RegexBuilder::new(&source)
            .case_insensitive(ignores_case)
            .multi_line(true),
        &source,
    )
    .ok()
}

/// Limit in bytes for texts in which zero-width characters are ignored.
const LONGEST_LITERAL: usize = 256;
/// Visible marks of zero-width characters, which occur within words of some scripts, and anywhere
/// in copied text.
const MARKS: &str = r"(?:⟨U\+(?:AD|FEFF|200[B-F]|202[A-E]|206[0-9A-F])⟩)*";

/// A pattern for the text as it is seen: zero-width characters do not split it, and need not be
/// typed.
fn literal(typed: &str) -> String {
    let seen = without_width(typed);
    if seen.is_empty() || typed.len() > LONGEST_LITERAL {
        return regex::escape(typed);
    }
    let mut buffer = [0; 4];
    let mut letters = seen
        .chars()
        .map(|c| regex::escape(c.encode_utf8(&mut buffer)));
    letters.join(MARKS)
}

/// Why a text is not a valid regular expression, and at which character.
pub(crate) fn mistake(typed: &str) -> Option<Mistake> {
    if typed.len() > LONGEST_PATTERN {
        return Some(Mistake {
            at: 0,
            what: "it is too long".to_owned(),
        });
    }
    let (at, what) = match regex_syntax::Parser::new().parse(typed) {
        Err(regex_syntax::Error::Parse(wrong)) => {
            (wrong.span().start.offset, wrong.kind().to_string())
        }
        Err(regex_syntax::Error::Translate(wrong)) => {
            (wrong.span().start.offset, wrong.kind().to_string())
        }
        Err(_) => (0, "it cannot be read".to_owned()),
        Ok(_) if pattern(typed, false).is_some() => return None,
        Ok(_) => (0, "it would become too large".to_owned()),
    };
    Some(Mistake {
        at: typed.get(..at).map_or(0, |before| before.chars().count()),
        what,
    })
}

/// The prefilter of records for such a pattern.
pub fn prefilter(typed: &str, is_literal: bool) -> LiteralPrefilter {
    LiteralPrefilter::of(typed, is_literal, ignores_case(typed))
}

/// Whether case is ignored: without capitals.
pub(crate) fn ignores_case(typed: &str) -> bool {
    !typed.chars().any(char::is_uppercase)
}

/// All text of an entry, including the rows that are shown in place of notices about the end of
/// background work.
pub(crate) fn of_entry_in(transcript: &Transcript, entry: &Entry) -> Vec<BlockText> {
    let mut blocks = of_entry(entry);
    if !(entry.marks.reports || entry.marks.again) {
        return blocks;
    }
    let root = transcript.meta().root.as_deref();
    let reports = lifecycle::reports(transcript, entry, true);
    let lines = |is_by_intent: bool| -> Vec<EndLine> {
        let line = |report| phrases::end(report, root, is_by_intent);
        reports.iter().map(line).collect()
    };
    let (plain, by_intent) = (lines(false), lines(true));
    for text in &mut blocks {
        let ends = [&plain, &by_intent].map(|all| entry.work_ends_at(all, text.block));
        let mut rows: Vec<String> = ends.into_iter().flatten().map(EndLine::words).collect();
        rows.dedup();
        if !rows.is_empty() {
            text.head = Some(Text::clean(&rows.join("\n")));
        }
    }
    blocks
}

/// All text of an entry.
pub fn of_entry(entry: &Entry) -> Vec<BlockText> {
    let blocks = entry.blocks.iter().enumerate();
    blocks
        .map(|(place, block)| of_block(entry, block, place))
        .collect()
}

/// All text of a block.
pub(crate) fn of_block(entry: &Entry, block: &Block, place: usize) -> BlockText {
    let (head, pieces) = match &block.kind {
        BlockKind::Text(body) | BlockKind::Thinking(body) => (None, vec![piece_of(body)]),
        BlockKind::Call(call) => {
            let head = Text::clean(&format!("{} {}", call.name, call.headline));
            let input = std::iter::once(piece_of(&call.input))
                .chain(call.state.live_output().map(piece_of));
            (
                Some(head),
                input
                    .chain(call.state.result().into_iter().flat_map(result_pieces))
                    .collect(),
            )
        }
        BlockKind::Result(stray) => (None, result_pieces(&stray.result).collect()),
        BlockKind::Raw(raw) | BlockKind::Aside(_, raw) => {
            (Some(raw.title.clone()), vec![piece_of(&raw.body)])
        }
        BlockKind::Image(image) => (image.source.clone(), Vec::new()),
        BlockKind::Break(what) => (Some(what.words()), Vec::new()),
    };
    BlockText {
        block: place,
        scopes: scope::of_block(entry, block),
        head,
        pieces,
    }
}

fn result_pieces(result: &ToolResult) -> impl Iterator<Item = TextPiece> {
    std::iter::once(piece_of(&result.body)).chain(result.patch.as_ref().map(piece_of))
}

fn piece_of(body: &Body) -> TextPiece {
    match &body.held {
        Held::Stub => TextPiece::InMemory(Held::Text(body.stub.clone())),
        Held::Text(_) | Held::Tree(_) => TextPiece::InMemory(body.held.clone()),
        Held::OnDisk => TextPiece::OnDisk(body.from, body.slot),
    }
}

/// The number of lines of a block with a match.
pub fn count(pattern: &Regex, text: &BlockText, read: &mut Read<'_>) -> usize {
    let mut lines = 0;
    each_line(pattern, None, text, read, &mut |_| lines += 1);
    lines
}

/// Visits the lines of a block with a match, if the block is of the scope: those in values before
/// names of fields. No error is told by a name, so in that scope names are not searched.
pub(crate) fn each_line(
    pattern: &Regex,
    scope: Option<TextScope>,
    text: &BlockText,
    read: &mut Read<'_>,
    each: &mut Take<'_>,
) {
    if scope.is_some_and(|scope| !text.scopes.contains(&scope)) {
        return;
    }
    let mut each = |piece, text: &str, found, is_name| {
        each(MatchingLine {
            piece,
            text,
            found,
            is_name,
        });
    };
    let head = text.head.as_deref().unwrap_or_default();
    let plain = without_sgr(head);
    let in_head = (!head.is_empty()).then(|| pattern.find(&plain)).flatten();
    if let Some(found) = &in_head {
        each(None, &plain, found.range(), false);
    }
    // Matches in the head row are not counted again in the input.
    let said = if in_head.is_some() { head } else { "" };
    let mut names = Vec::new();
    for (place, piece) in text.pieces.iter().enumerate() {
        let mut each = |line: &str, found: Range<usize>| each(Some(place), line, found, false);
        let held = match piece {
            TextPiece::InMemory(held) => Some(held.clone()),
            TextPiece::OnDisk(origin, slot) => read(*origin, *slot),
        };
        match held {
            Some(Held::Text(text)) => lines_of(pattern, &text, &mut each),
            Some(Held::Tree(tree)) => {
                let named = lines_of_tree(pattern, &tree, said, &mut each);
                names.extend(named.into_iter().map(|name| (place, name)));
            }
            Some(Held::Stub | Held::OnDisk) | None => {}
        }
    }
    for (place, name) in names {
        if scope == Some(TextScope::Errors) {
            break;
        }
        lines_of(pattern, &name, &mut |line, found| {
            each(Some(place), line, found, true);
        });
    }
}

/// The first line of a block with a match, and the range of the match; bodies on disk are skipped.
pub(crate) fn first_match(pattern: &Regex, text: &BlockText) -> Option<(String, Range<usize>)> {
    let in_pieces = text.pieces.iter().find_map(|piece| match piece {
        TextPiece::InMemory(Held::Text(text)) => line_of(pattern, text),
        TextPiece::InMemory(Held::Tree(tree)) => line_of_tree(pattern, tree),
        TextPiece::InMemory(Held::Stub | Held::OnDisk) | TextPiece::OnDisk(..) => None,
    });
    let in_head = || text.head.as_ref().and_then(|head| line_of(pattern, head));
    in_pieces.or_else(in_head)
}

fn line_of(pattern: &Regex, text: &str) -> Option<(String, Range<usize>)> {
    let plain = without_sgr(text);
    let found = pattern.find_iter(&plain).find(|found| !found.is_empty())?;
    let start = plain
        .get(..found.start())?
        .rfind('\n')
        .map_or(0, |end| end + 1);
    let line = plain.get(start..)?.lines().next()?;
    Some((
        line.to_owned(),
        found.start() - start..(found.end() - start).min(line.len()),
    ))
}

fn line_of_tree(pattern: &Regex, tree: &Tree) -> Option<(String, Range<usize>)> {
    match tree {
        Tree::Text(text) | Tree::Number(text) => line_of(pattern, text),
        Tree::List(items) => items.iter().find_map(|item| line_of_tree(pattern, item)),
        Tree::Map(fields) => fields
            .iter()
            .find_map(|(_, value)| line_of_tree(pattern, value)),
        Tree::Null | Tree::Bool(_) => None,
    }
}

/// Whether a block has a match; `None` if that depends on bodies on disk.
pub(crate) fn has_match(
    pattern: &Regex,
    text: &BlockText,
    read: Option<&mut Read<'_>>,
) -> Option<bool> {
    let mut is_away = false;
    let mut in_memory = |origin: Origin, slot: u16| {
        is_away = true;
        let _ = (origin, slot);
        None
    };
    let found = match read {
        Some(read) => count(pattern, text, read) > 0,
        None => count(pattern, text, &mut in_memory) > 0,
    };
    (found || !is_away).then_some(found)
}

fn lines_of(pattern: &Regex, text: &str, each: &mut dyn FnMut(&str, Range<usize>)) {
    let plain = without_sgr(text);
    let mut next = 0;
    for found in pattern.find_iter(&plain).filter(|found| !found.is_empty()) {
        if found.start() < next {
            continue;
        }
        let (before, rest) = plain.split_at_checked(found.end()).unwrap_or((&plain, ""));
        let end = rest.find('\n').map_or(plain.len(), |at| found.end() + at);
        let start = before
            .get(..found.start())
            .and_then(|before| before.rfind('\n'))
            .map_or(0, |at| at + 1);
        let line = plain.get(start..end).unwrap_or_default();
        // A match across lines belongs to the first one.
        let line = line.lines().next().unwrap_or_default();
        each(
            line,
            (found.start() - start).min(line.len())..(found.end() - start).min(line.len()),
        );
        next = end + 1;
    }
}

/// The first line that is not blank, which is what a head row shows.
fn first_line(text: &str) -> &str {
    text.lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default()
}

/// Whether a head row includes a line, after the name of the tool, up to an offset in it: long
/// lines are truncated.
fn head_includes(head: &str, line: &str, end: usize) -> bool {
    let begun = line.trim_start();
    let end = end.saturating_sub(line.len() - begun.len());
    let whole = head.strip_suffix('…').unwrap_or(head);
    let cut = whole
        .split_once(' ')
        .map(|(_, headline)| headline)
        .filter(|headline| begun.starts_with(headline));
    whole.ends_with(begun.trim_end()) || cut.is_some_and(|headline| end <= headline.len())
}

/// Visits matching lines of the values. Returns the names of fields that match where their values
/// do not.
fn lines_of_tree(
    pattern: &Regex,
    tree: &Tree,
    said: &str,
    each: &mut dyn FnMut(&str, Range<usize>),
) -> Vec<String> {
    let mut names = Vec::new();
    match tree {
        Tree::Null | Tree::Bool(_) => {}
        Tree::Text(text) if !said.is_empty() => {
            let mut first = Some(first_line(text));
            lines_of(pattern, text, &mut |line, found| {
                let is_said = first.take_if(|first| *first == line);
                if !is_said.is_some_and(|line| head_includes(said, line, found.end)) {
                    each(line, found);
                }
            });
        }
        Tree::Number(text) | Tree::Text(text) => lines_of(pattern, text, each),
        Tree::List(items) => {
            for item in items {
                names.extend(lines_of_tree(pattern, item, said, each));
            }
        }
        Tree::Map(members) => {
            for (key, value) in members {
                let mut has_line = false;
                let inner = lines_of_tree(pattern, value, said, &mut |line, found| {
                    has_line = true;
                    each(line, found);
                });
                if inner.is_empty() && !has_line && pattern.is_match(key) {
                    names.push(key.to_string());
                }
                names.extend(inner);
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{BlockText, MatchingLine, TextPiece, TextScope, each_line, lines_of, pattern};
    use crate::model::body::{Held, Tree};
    use crate::model::text::Text;

    #[test]
    fn names_of_fields_come_after_values() {
        let field = |name: &str, value: &str| (name.into(), Tree::Text(Text::from(value)));
        let tree = Tree::Map(vec![
            field("timeout", "10"),
            field("command", "sleep until timeout"),
        ]);
        let text = BlockText {
            block: 0,
            scopes: vec![TextScope::Tools, TextScope::Errors],
            head: None,
            pieces: vec![
                TextPiece::InMemory(Held::Tree(Arc::new(tree))),
                TextPiece::InMemory(Held::Text(Text::from("the timeout passed"))),
            ],
        };
        let lines = |scope: TextScope| {
            let (pattern, mut lines) = (pattern("timeout", false).unwrap(), Vec::new());
            let mut take =
                |line: MatchingLine<'_>| lines.push((line.text.to_owned(), line.is_name));
            each_line(&pattern, Some(scope), &text, &mut |_, _| None, &mut take);
            lines
        };
        let own = |text: &str, is_name: bool| (text.to_owned(), is_name);
        let values = [
            own("sleep until timeout", false),
            own("the timeout passed", false),
        ];
        assert_eq!(lines(TextScope::Errors), values);
        let all = [&values[..], &[own("timeout", true)]].concat();
        assert_eq!(lines(TextScope::Tools), all);
        assert!(lines(TextScope::Prompts).is_empty());
    }

    #[test]
    fn case_matters_only_with_capitals() {
        assert!(pattern("error", false).unwrap().is_match("ERROR"));
        assert!(!pattern("Error", false).unwrap().is_match("ERROR"));
        assert!(pattern("foo(", false).is_none());
        assert!(pattern("foo(", true).unwrap().is_match("a foo( b"));
    }

    #[test]
    fn characters_without_width_tear_no_literal_apart() {
        for (typed, text) in [
            ("keel", "a ke\u{200b}el"),
            ("ke\u{200c}el", "a keel"),
            (
                "\u{645}\u{6cc}\u{200c}\u{62e}",
                "\u{645}\u{6cc}\u{200c}\u{62e}",
            ),
            ("\u{645}\u{6cc}\u{62e}", "\u{645}\u{6cc}\u{200c}\u{62e}"),
            ("a.b", "a\u{feff}.\u{2060}b"),
        ] {
            let shown = Text::clean(text);
            assert!(
                pattern(typed, true).unwrap().is_match(&shown),
                "{typed:?} in {shown}"
            );
            let prefilter = super::prefilter(typed, true);
            let escaped: String = text
                .chars()
                .map(|c| match c {
                    '!'..='~' => c.to_string(),
                    c => format!("\\u{:04x}", u32::from(c)),
                })
                .collect();
            assert!(
                prefilter.may_be_in(text.as_bytes()) && prefilter.may_be_in(escaped.as_bytes()),
                "{text:?}"
            );
            assert!(!prefilter.lines_in(text.as_bytes()).is_empty(), "{text:?}");
        }
        assert!(!pattern("a.b", true).unwrap().is_match("axb"));
        assert!(pattern("\u{200b}", true).is_some());
    }

    #[test]
    fn what_a_head_row_says_is_not_told_again() {
        let told = |head: &str, input: &str, typed: &str| {
            let (head, tree) = (Text::clean(head), Arc::new(Tree::Text(Text::clean(input))));
            let text = BlockText {
                block: 0,
                scopes: Vec::new(),
                head: Some(head),
                pieces: vec![TextPiece::InMemory(Held::Tree(tree))],
            };
            let mut told = Vec::new();
            each_line(
                &pattern(typed, true).unwrap(),
                None,
                &text,
                &mut |_, _| None,
                &mut |line| told.push((line.piece, line.text.to_owned())),
            );
            told
        };
        let (head, body) = (None, Some(0));
        let own = |place: Option<usize>, line: &str| (place, line.to_owned());
        assert_eq!(
            told("Bash make keel", "make keel\n", "keel"),
            [own(head, "Bash make keel")]
        );
        let several = "\n make keel\nmake hull\nmake keel";
        assert_eq!(
            told("Bash make keel…", several, "keel"),
            [own(head, "Bash make keel…"), own(body, "make keel")]
        );
        assert_eq!(
            told("Bash make keel…", several, "hull"),
            [own(body, "make hull")]
        );
        // A match in the truncated part of the head row is reported.
        assert_eq!(
            told("Bash make ke…", "make keel hull", "ke"),
            [own(head, "Bash make ke…")]
        );
        assert_eq!(
            told("Bash make ke…", "make keel hull", "hull"),
            [own(body, "make keel hull")]
        );
    }

    #[test]
    fn lines_are_counted_not_matches() {
        let found = |typed: &str, text: &str| {
            let mut found = Vec::new();
            lines_of(&pattern(typed, false).unwrap(), text, &mut |line, at| {
                found.push((line.to_owned(), line.get(at).unwrap().to_owned()));
            });
            found
        };
        let own = |line: &str, hit: &str| (line.to_owned(), hit.to_owned());
        assert_eq!(
            found("a+", "aa a\nb\nca"),
            [own("aa a", "aa"), own("ca", "a")]
        );
        assert_eq!(
            found("b\\nc", "a\nab\ncd\nb\nc"),
            [own("ab", "b"), own("b", "b")]
        );
        assert!(found("a+", "").is_empty());
        assert!(found("x*", "abc").is_empty());
    }
}
