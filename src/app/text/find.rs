//! The search and the filter of the transcript pane.

pub mod filter;
mod first_seen;
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
    pub search: Option<Search>,
    /// A hit to scroll to as soon as its rows are laid out.
    pub(crate) sought: Option<PendingHit>,
    pub(crate) current_hit: Option<CurrentHit>,
    pub(crate) opened: OpenedFolds,
    /// The id that `o` steps along, and the item that the last step reached; another focus resets
    /// it.
    pub(crate) same_id: Option<(Focus, String)>,
    /// The item that the last step along a call reached, and the call.
    pub(crate) call_step: Option<(Focus, Focus)>,
    /// Whether typed searches are literal text.
    pub is_literal: bool,
    /// The search that is being typed.
    pub(crate) typing: Option<Box<TypedSearch>>,
    pub filter: Option<Filter>,
    /// The filter that replaces the active one as soon as all texts are read.
    pub next_filter: Option<Filter>,
    /// Generation of the current search or filter; answers for earlier generations are dropped.
    pub generation: u32,
}

/// The line of a search while it is typed.
#[derive(Debug)]
pub(crate) struct TypedSearch {
    /// The pattern typed so far.
    pub text: String,
    /// Whether the pattern changed since the last search for it.
    pub(crate) is_new: bool,
    /// The position before the typing, restored on cancel.
    pub from: SavedPosition,
    /// Folds that earlier searches opened.
    pub(crate) opened: OpenedFolds,
}

/// A hit to scroll to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PendingHit {
    /// The block with the hit, and the edge from which its hits count.
    pub(crate) block: Option<(Focus, Edge)>,
    /// Number of hits to step on from there; negative steps back.
    pub(crate) steps: isize,
}

/// The first or the last hit of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    First,
    Last,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CurrentHit {
    pub(crate) focus: Focus,
    /// Row within the block.
    pub(crate) row: usize,
    /// Index of the row among the block's rows with hits, from 0.
    pub(crate) number: usize,
}

impl Find {
    /// Whether the active filter shows a block.
    pub fn shows(&self, focus: Focus) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| filter.shows(focus))
    }

    /// Number of the current hit within a block, from 1; `None` if it is not in this block.
    pub fn number(&self, focus: Focus) -> Option<usize> {
        let at = self.current_hit.filter(|at| at.focus == focus);
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
        self.current_hit = self.current_hit.and_then(|at| {
            Some(CurrentHit {
                focus: lookup.block(at.focus)?,
                ..at
            })
        });
    }
}
