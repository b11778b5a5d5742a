//! Texts that are written twice: as a response item and as an event of the program, which mostly
//! comes a line or two earlier.
//!
//! Invariant: each text makes one block, whichever record comes first; a text without a twin keeps
//! its own.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::sync::LazyLock;

use hashbrown::DefaultHashBuilder;
use memchr::memmem::Finder;

use crate::model::body::Key;
use crate::model::entry::Piece;

/// Parts of an answer that the program removes before it shows it.
static CITATION: Tags = Tags::new(|| Finder::new("<oai-mem-citation>"), "</oai-mem-citation>");
static PLAN: Tags = Tags::new(|| Finder::new("<proposed_plan>"), "</proposed_plan>");
/// Limit of the texts that wait for their twins.
const NEAR: usize = 16;

/// The author of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RepeatedAuthor {
    User,
    /// The model, to the user.
    Answer,
    Thought,
    /// The model's plan, which its answer contains as well.
    Plan,
    Search,
}

/// Which of the two records it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// A response item.
    Item,
    Event,
}

/// A text, and the block that it made.
#[derive(Clone, Debug)]
pub(crate) struct RepeatedText {
    /// The key of the entry.
    pub(crate) key: Key,
    /// The piece of the block.
    pub(crate) piece: Piece,
    voice: RepeatedAuthor,
    side: Side,
    print: TextHash,
}

/// A hash of a text, valid within one process. It is fast because all texts are hashed, several
/// times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextHash(u64);

/// Tags around a part of a text. Few texts have them, and many are long.
struct Tags {
    open: LazyLock<Finder<'static>>,
    close: &'static str,
}

impl Tags {
    const fn new(open: fn() -> Finder<'static>, close: &'static str) -> Self {
        Self {
            open: LazyLock::new(open),
            close,
        }
    }

    /// Splits a text at the first opening tag.
    fn split<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let at = self.open.find(text.as_bytes())?;
        Some((text.get(..at)?, text.get(at + self.open.needle().len()..)?))
    }
}

/// The most recent texts.
#[derive(Debug, Default)]
pub(crate) struct RepeatedTexts(VecDeque<RepeatedText>);

impl RepeatedTexts {
    /// Adds a text that waits for its twin.
    pub(crate) fn wait(
        &mut self,
        voice: RepeatedAuthor,
        side: Side,
        print: TextHash,
        (key, piece): (Key, Piece),
    ) {
        if self.0.len() == NEAR {
            self.0.pop_front();
        }
        self.0.push_back(RepeatedText {
            key,
            piece,
            voice,
            side,
            print,
        });
    }

    /// Takes the text that the other record has, if there is one.
    pub(crate) fn take(
        &mut self,
        voice: RepeatedAuthor,
        side: Side,
        print: TextHash,
    ) -> Option<RepeatedText> {
        let is_twin =
            |twin: &RepeatedText| twin.voice == voice && twin.side != side && twin.print == print;
        let at = self.0.iter().position(is_twin)?;
        self.0.remove(at)
    }
}

/// Hashes a text without surrounding white space, and without the parts that the program removes
/// from an answer.
pub(crate) fn print(voice: RepeatedAuthor, text: &str) -> TextHash {
    static SEED: LazyLock<DefaultHashBuilder> = LazyLock::new(DefaultHashBuilder::default);
    let print = |text: &str| TextHash(SEED.hash_one(text.trim()));
    match voice {
        RepeatedAuthor::Answer => print(&without(&without(text, &CITATION), &PLAN)),
        _ => print(text),
    }
}

/// The plan in an answer.
pub(crate) fn plan(text: &str) -> Option<&str> {
    let (_, plan) = PLAN.split(text)?;
    plan.split_once(PLAN.close).map(|(plan, _)| plan)
}

/// Whether a text has parts that the program removes.
pub(crate) fn is_tagged(text: &str) -> bool {
    CITATION.split(text).is_some() || PLAN.split(text).is_some()
}

/// Splits an answer into its text, with the plan but without tags, and its citations of memory.
pub(crate) fn read(text: &str) -> (Cow<'_, str>, Vec<&str>) {
    let mut rest = text;
    let mut cited = Vec::new();
    while let Some((_, inside)) = CITATION.split(rest) {
        let (citation, behind) = inside.split_once(CITATION.close).unwrap_or((inside, ""));
        cited.push(citation.trim());
        rest = behind;
    }
    let mut words = without(text, &CITATION);
    while let Some((before, inside)) = PLAN.split(&words) {
        let (plan, behind) = inside.split_once(PLAN.close).unwrap_or((inside, ""));
        let lines = [plan, behind].map(|part| part.strip_prefix('\n').unwrap_or(part));
        words = Cow::Owned([before, lines[0], lines[1]].concat());
    }
    (words, cited)
}

/// Removes the parts between two tags from a text, with the line break after them if they are on
/// lines of their own.
fn without<'t>(text: &'t str, tags: &Tags) -> Cow<'t, str> {
    let Some((before, inside)) = tags.split(text) else {
        return Cow::Borrowed(text);
    };
    let behind = inside
        .split_once(tags.close)
        .map_or("", |(_, behind)| behind);
    let is_line = before.is_empty() || before.ends_with('\n');
    let behind = if is_line {
        behind.strip_prefix('\n').unwrap_or(behind)
    } else {
        behind
    };
    Cow::Owned(format!("{before}{}", without(behind, tags)))
}

#[cfg(test)]
mod tests {
    use super::{RepeatedAuthor, RepeatedTexts, Side, print, read};
    use crate::model::entry::Piece;

    #[test]
    fn an_answer_is_read_without_tags() {
        let text = "So:\n<proposed_plan>\n# Do\n</proposed_plan>\nIt is.\n<oai-mem-citation>\nM.md:1\n</oai-mem-citation>";
        assert_eq!(read(text), ("So:\n# Do\nIt is.\n".into(), vec!["M.md:1"]));
        assert_eq!(read("a <b> c"), ("a <b> c".into(), vec![]));
        assert_eq!(read("x<oai-mem-citation>cut"), ("x".into(), vec!["cut"]));
    }

    #[test]
    fn each_text_has_one_twin() {
        let mut twins = RepeatedTexts::default();
        let done = print(RepeatedAuthor::Answer, "Done.");
        let waiting = print(
            RepeatedAuthor::Answer,
            "Done.<oai-mem-citation>a</oai-mem-citation>\n",
        );
        twins.wait(
            RepeatedAuthor::Answer,
            Side::Event,
            waiting,
            ("a".into(), Piece(1)),
        );
        assert!(
            twins
                .take(RepeatedAuthor::Answer, Side::Event, done)
                .is_none(),
            "not of its own side"
        );
        assert!(
            twins
                .take(RepeatedAuthor::Thought, Side::Item, done)
                .is_none(),
            "not another voice"
        );
        assert_eq!(
            twins
                .take(RepeatedAuthor::Answer, Side::Item, done)
                .unwrap()
                .key
                .as_str(),
            "a"
        );
        assert!(
            twins
                .take(RepeatedAuthor::Answer, Side::Item, done)
                .is_none(),
            "said again"
        );
    }
}
