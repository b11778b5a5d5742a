//! The search and the filter of the transcript pane.

pub mod filter;
pub(crate) mod mention;
pub(crate) mod opened;
pub(crate) mod reveal;
pub mod search;

use self::opened::OpenedFolds;
use super::places::saved_position::SavedPosition;
use super::viewport::Focus;
use crate::analysis::calls::lookup::Lookup;
use crate::session::filter::Filter;
use crate::session::search::Search;

/// State of the search and the filter.
#[derive(Debug, Default)]
pub struct Find {
    /// The search.
    pub search: Option<Search>,
    /// A hit to bring into view as soon as its rows are laid out.
    pub(crate) sought: Option<PendingHit>,
    /// The current hit.
    pub(crate) at_hit: Option<CurrentHit>,
    pub(crate) opened: OpenedFolds,
    /// The id that `o` follows, and the item it led to; another focus ends that.
    pub(crate) same_id: Option<(Focus, String)>,
    /// The item that the last step along a call led to, and the call.
    pub(crate) along: Option<(Focus, Focus)>,
    /// Whether typed searches are literal.
    pub is_literal: bool,
    /// A search that is being typed.
    pub(crate) typing: Option<Box<TypedSearch>>,
    /// The filter in force.
    pub filter: Option<Filter>,
    /// The filter that replaces it as soon as all texts are read.
    pub next_filter: Option<Filter>,
    /// Generation of the current search or filter; answers of earlier ones are dropped.
    pub generation: u32,
}

/// A search that is being typed.
#[derive(Debug)]
pub(crate) struct TypedSearch {
    /// The pattern typed so far.
    pub text: String,
    /// Whether it changed since it was last searched for.
    pub(crate) is_new: bool,
    /// The position before the typing, to go back to.
    pub from: SavedPosition,
    /// Folds that earlier searches had opened.
    pub(crate) opened: OpenedFolds,
}

/// A hit that the view is to go to, and steps from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PendingHit {
    /// A block with hits.
    pub(crate) block: Option<(Focus, Edge)>,
    /// Hits to go on from there; back if negative.
    pub(crate) steps: isize,
}

/// Which of a block's hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    First,
    Last,
}

/// The current hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CurrentHit {
    pub(crate) focus: Focus,
    /// The row within the block.
    pub(crate) row: usize,
    /// The number of the row among the block's rows with hits, from 0.
    pub(crate) number: usize,
}

impl Find {
    /// Whether the filter in force shows a block.
    pub fn shows(&self, focus: Focus) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| filter.shows(focus))
    }

    /// The number of the current hit, from 1.
    pub fn number(&self, focus: Focus) -> Option<usize> {
        let at = self.at_hit.filter(|at| at.focus == focus);
        self.search
            .as_ref()?
            .number_of(focus, at.map_or(0, |at| at.number))
    }

    /// The generation of the next search or filter.
    pub(crate) fn next_generation(&mut self) -> u32 {
        self.generation = self.generation.wrapping_add(1).max(1);
        self.generation
    }

    /// Maps all positions to another transcript of the session.
    pub(crate) fn remap(&mut self, lookup: &Lookup<'_>) {
        self.sought = self.sought.map(|sought| PendingHit {
            block: sought
                .block
                .and_then(|(focus, edge)| Some((lookup.block(focus)?, edge))),
            ..sought
        });
        self.opened.remap(lookup);
        self.same_id = self
            .same_id
            .take()
            .and_then(|(focus, id)| Some((lookup.block(focus)?, id)));
        if let Some(typing) = &mut self.typing {
            typing.from.remap(lookup);
            typing.opened.remap(lookup);
        }
        self.at_hit = self.at_hit.and_then(|at| {
            Some(CurrentHit {
                focus: lookup.block(at.focus)?,
                ..at
            })
        });
    }
}
