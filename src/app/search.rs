//! Searching all text of the session: prompts, answers, thinking, tool input and output, also what is
//! folded away or still on disk.

use std::collections::HashSet;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use super::sequence::place_in_file;
use super::viewport::Focus;
use crate::model::body::{Body, Held, Tree};
use crate::model::entry::{BlockKind, Entry, EntryId};
use crate::model::record::Origin;
use crate::model::text::{Text, without_sgr};
use crate::model::tool::ToolResult;
use crate::model::transcript::Transcript;

/// A search and what it has found so far.
#[derive(Clone, Debug)]
pub struct Search {
    /// What was typed.
    pub typed: String,
    /// The pattern.
    pub pattern: Regex,
    /// Items with hits, in the order of the file.
    pub hits: Vec<Focus>,
    /// Whether the view is still to go to the hit nearest to where the reader stood.
    pub seeks: bool,
    /// Whether everything has been searched.
    pub is_complete: bool,
    /// Tells answers for this search from those for an earlier one.
    pub generation: u32,
}

/// Compiles what was typed: a regular expression, without regard to case unless it has capitals; text
/// that is no regular expression is taken literally.
pub fn compile(typed: &str) -> Option<Regex> {
    if typed.is_empty() {
        return None;
    }
    let build = |pattern: &str| {
        RegexBuilder::new(pattern)
            .case_insensitive(!typed.chars().any(char::is_uppercase))
            .multi_line(true)
            .size_limit(1 << 22)
            .build()
    };
    build(typed).or_else(|_| build(&regex::escape(typed))).ok()
}

/// A search for a thread of its own.
#[derive(Clone, Debug)]
pub struct Job {
    /// The pattern.
    pub pattern: Regex,
    /// See [`Search::generation`].
    pub generation: u32,
    /// What to search, in the order of the file.
    pub entries: Searchable,
}

/// All text of a session by entry and block.
pub type Searchable = Arc<Vec<(EntryId, Vec<(usize, Piece)>)>>;

/// Some text of a block.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Text in memory.
    Here(Text),
    /// A tree in memory.
    Tree(Arc<Tree>),
    /// On disk.
    Away(Origin, u16),
}

/// Takes what is to be searched out of the transcript; only texts on disk are left where they are.
pub fn searchable(transcript: &Transcript) -> Searchable {
    let entries = transcript.order().iter().filter_map(|id| Some((*id, pieces_of(transcript.get(*id)?))));
    Arc::new(entries.collect())
}

/// All text of an entry by block.
pub fn pieces_of(entry: &Entry) -> Vec<(usize, Piece)> {
    let mut pieces = Vec::new();
    for (place, block) in entry.blocks.iter().enumerate() {
        let mut add = |piece: Piece| pieces.push((place, piece));
        match &block.kind {
            BlockKind::Text(body) | BlockKind::Thinking(body) => add(piece_of(body)),
            BlockKind::Call(call) => {
                add(Piece::Here(call.name.clone()));
                add(Piece::Here(call.headline.clone()));
                add(piece_of(&call.input));
                call.state.live().map(piece_of).into_iter().for_each(&mut add);
                call.state.result().into_iter().flat_map(result_pieces).for_each(add);
            }
            BlockKind::Result(stray) => result_pieces(&stray.result).for_each(add),
            BlockKind::Raw(raw) => {
                add(Piece::Here(raw.title.clone()));
                add(piece_of(&raw.body));
            }
            BlockKind::Image(image) => {
                image.source.iter().for_each(|source| add(Piece::Here(source.clone())));
            }
            BlockKind::Break(what) => add(Piece::Here(what.words())),
        }
    }
    pieces
}

fn result_pieces(result: &ToolResult) -> impl Iterator<Item = Piece> {
    std::iter::once(piece_of(&result.body)).chain(result.patch.as_ref().map(piece_of))
}

fn piece_of(body: &Body) -> Piece {
    match &body.held {
        Held::Stub => Piece::Here(body.stub.clone()),
        Held::Text(text) => Piece::Here(text.clone()),
        Held::Tree(tree) => Piece::Tree(Arc::clone(tree)),
        Held::Away => Piece::Away(body.from, body.slot),
    }
}

/// Whether a piece in memory has a hit.
pub fn has_hit(pattern: &Regex, piece: &Piece) -> bool {
    match piece {
        Piece::Here(text) => pattern.is_match(&without_sgr(text)),
        Piece::Tree(tree) => tree_has_hit(pattern, tree),
        Piece::Away(..) => false,
    }
}

/// Whether any key or value of a tree has a hit.
pub fn tree_has_hit(pattern: &Regex, tree: &Tree) -> bool {
    match tree {
        Tree::Null | Tree::Bool(_) => false,
        Tree::Number(text) | Tree::Text(text) => pattern.is_match(text),
        Tree::List(items) => items.iter().any(|item| tree_has_hit(pattern, item)),
        Tree::Map(members) => {
            members.iter().any(|(key, value)| pattern.is_match(key) || tree_has_hit(pattern, value))
        }
    }
}

/// Blocks of an entry with hits in memory.
pub fn blocks_with_hits(pattern: &Regex, entry: &Entry) -> Vec<usize> {
    let pieces = pieces_of(entry);
    let mut blocks: Vec<usize> =
        pieces.iter().filter(|(_, piece)| has_hit(pattern, piece)).map(|(block, _)| *block).collect();
    blocks.dedup();
    blocks
}

impl Search {
    /// Takes over hits of some entries, in place of earlier ones of the same entries.
    pub fn merge(&mut self, transcript: &Transcript, searched: &[EntryId], hits: Vec<Focus>) {
        let searched: HashSet<EntryId> = searched.iter().copied().collect();
        self.hits.retain(|hit| !searched.contains(&hit.entry));
        self.add(transcript, hits);
    }

    /// Adds hits and brings them in the order of the file.
    pub fn add(&mut self, transcript: &Transcript, hits: Vec<Focus>) {
        let is_in_order = |hits: &[Focus]| {
            hits.windows(2).all(|pair| matches!(pair, [a, b] if (a.entry, a.block) < (b.entry, b.block)))
        };
        self.hits.extend(hits);
        if !is_in_order(&self.hits) {
            let place = |hit: &Focus| (place_in_file(transcript, hit.entry).unwrap_or(usize::MAX), hit.block);
            self.hits.sort_by_cached_key(place);
            self.hits.dedup();
        }
    }

    /// The number (from 1) of the hit under the focus.
    pub fn number_of(&self, focus: Focus) -> Option<usize> {
        self.hits.iter().position(|hit| *hit == focus).map(|place| place + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::compile;

    #[test]
    fn case_matters_only_with_capitals() {
        assert!(compile("error").unwrap().is_match("ERROR"));
        assert!(!compile("Error").unwrap().is_match("ERROR"));
        assert!(compile("foo(").unwrap().is_match("a foo( b"));
        assert!(compile("").is_none());
    }
}
