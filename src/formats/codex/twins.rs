//! Texts that are written twice: as what the model said or was told, and as what the program saw. The program's event
//! mostly comes first, a line or two before.
//!
//! Invariant: each text makes one block, whichever of the two comes first; one that has no twin keeps its own.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::sync::LazyLock;

use hashbrown::DefaultHashBuilder;
use memchr::memmem::Finder;

use crate::model::body::Key;
use crate::model::entry::Piece;

/// What the program takes out of the model's words before it shows them.
static CITATION: Tags = Tags::new(|| Finder::new("<oai-mem-citation>"), "</oai-mem-citation>");
static PLAN: Tags = Tags::new(|| Finder::new("<proposed_plan>"), "</proposed_plan>");
/// So many texts wait for their twins.
const NEAR: usize = 16;

/// Whose text it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Voice {
    /// The user's.
    User,
    /// The model's, to the user.
    Answer,
    /// The model's, to itself.
    Thought,
    /// The model's plan, which its answer holds as well.
    Plan,
    /// A search of the web.
    Search,
}

/// Which of the two records it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// A response item.
    Item,
    /// An event.
    Event,
}

/// A text, and the block that it made.
#[derive(Clone, Debug)]
pub(crate) struct Twin {
    /// The entry.
    pub(crate) key: Key,
    /// The piece of the entry.
    pub(crate) piece: Piece,
    voice: Voice,
    side: Side,
    print: Print,
}

/// What distinguishes a text from others, in one run of the program: all that is said goes through it, several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Print(u64);

/// What a part of a text stands between. Few texts have one, and many are long.
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

    /// What stands before the first part, and what behind its opening tag.
    fn split<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let at = self.open.find(text.as_bytes())?;
        Some((text.get(..at)?, text.get(at + self.open.needle().len()..)?))
    }
}

/// The texts of late.
#[derive(Debug, Default)]
pub(crate) struct Twins(VecDeque<Twin>);

impl Twins {
    /// Keeps a text until its twin comes.
    pub(crate) fn wait(
        &mut self,
        voice: Voice,
        side: Side,
        print: Print,
        (key, piece): (Key, Piece),
    ) {
        if self.0.len() == NEAR {
            self.0.pop_front();
        }
        self.0.push_back(Twin {
            key,
            piece,
            voice,
            side,
            print,
        });
    }

    /// The text that the other side wrote, if it did; it waits no longer.
    pub(crate) fn take(&mut self, voice: Voice, side: Side, print: Print) -> Option<Twin> {
        let is_twin = |twin: &Twin| twin.voice == voice && twin.side != side && twin.print == print;
        let at = self.0.iter().position(is_twin)?;
        self.0.remove(at)
    }
}

/// What distinguishes texts; white space around them does not, nor what the program takes out of an answer.
pub(crate) fn print(voice: Voice, text: &str) -> Print {
    static SEED: LazyLock<DefaultHashBuilder> = LazyLock::new(DefaultHashBuilder::default);
    let print = |text: &str| Print(SEED.hash_one(text.trim()));
    match voice {
        Voice::Answer => print(&without(&without(text, &CITATION), &PLAN)),
        _ => print(text),
    }
}

/// The plan in an answer.
pub(crate) fn plan(text: &str) -> Option<&str> {
    let (_, plan) = PLAN.split(text)?;
    plan.split_once(PLAN.close).map(|(plan, _)| plan)
}

/// Whether a text has parts that the program takes out.
pub(crate) fn is_tagged(text: &str) -> bool {
    CITATION.split(text).is_some() || PLAN.split(text).is_some()
}

/// An answer as one reads it: its plan without the tags around it, and what it cites from its memory apart.
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

/// A text without what stands between two tags; a plan has lines of its own.
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
    use super::{Side, Twins, Voice, print, read};
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
        let mut twins = Twins::default();
        let done = print(Voice::Answer, "Done.");
        let waiting = print(
            Voice::Answer,
            "Done.<oai-mem-citation>a</oai-mem-citation>\n",
        );
        twins.wait(Voice::Answer, Side::Event, waiting, ("a".into(), Piece(1)));
        assert!(
            twins.take(Voice::Answer, Side::Event, done).is_none(),
            "not of its own side"
        );
        assert!(
            twins.take(Voice::Thought, Side::Item, done).is_none(),
            "not another voice"
        );
        assert_eq!(
            twins
                .take(Voice::Answer, Side::Item, done)
                .unwrap()
                .key
                .as_str(),
            "a"
        );
        assert!(
            twins.take(Voice::Answer, Side::Item, done).is_none(),
            "said again"
        );
    }
}
