//! What the reader searches for, and the filter that hides the rest.

pub mod filter;
pub(crate) mod mention;
pub(crate) mod opened;
pub(crate) mod reveal;
pub mod search;

use self::opened::Opened;
use super::places::saved_position::SavedPosition;
use super::viewport::Focus;
use crate::analysis::calls::lookup::Lookup;
use crate::session::filter::Filter;
use crate::session::search::Search;

/// Searches and filters of a session.
#[derive(Debug, Default)]
pub struct Find {
    /// The search.
    pub search: Option<Search>,
    /// A hit to be brought into view, as soon as its rows are known.
    pub(crate) sought: Option<Sought>,
    /// The hit that was brought into view last.
    pub(crate) at_hit: Option<AtHit>,
    /// What searches opened.
    pub(crate) opened: Opened,
    /// The id that is gone along, while the reader is where that led.
    pub(crate) same_id: Option<(Focus, String)>,
    /// Whether searches take what is typed literally.
    pub is_literal: bool,
    /// A search that is being typed.
    pub(crate) typing: Option<Box<Typing>>,
    /// The filter in force.
    pub filter: Option<Filter>,
    /// A filter that takes its place as soon as all texts are read.
    pub next_filter: Option<Filter>,
    /// Distinguishes answers for the current search, or filter, from earlier ones.
    pub generation: u32,
}

/// A search that is being typed.
#[derive(Debug)]
pub(crate) struct Typing {
    /// What is typed so far.
    pub text: String,
    /// Whether more was typed since the last search.
    pub(crate) is_new: bool,
    /// Where the reader was before.
    pub from: SavedPosition,
    /// What earlier searches had opened.
    pub(crate) opened: Opened,
}

/// A hit that the view is going to, and how many to go on from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sought {
    /// A block with hits.
    pub(crate) block: Option<(Focus, Edge)>,
    /// So many hits further; back if negative.
    pub(crate) steps: isize,
}

/// Which of a block's hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    /// The first one.
    First,
    /// The last one.
    Last,
}

/// The hit at which the reader is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AtHit {
    /// The block.
    pub(crate) focus: Focus,
    /// Row of the block.
    pub(crate) row: usize,
    /// Number of the row among those with hits, from 0.
    pub(crate) number: usize,
}

impl Find {
    /// Whether the filter in force shows a block.
    pub fn shows(&self, focus: Focus) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| filter.shows(focus))
    }

    /// The number (from 1) of the hit at which the reader is, of those of the search.
    pub fn number(&self, focus: Focus) -> Option<usize> {
        let at = self.at_hit.filter(|at| at.focus == focus);
        self.search
            .as_ref()?
            .number_of(focus, at.map_or(0, |at| at.number))
    }

    /// A number for the next search or filter.
    pub(crate) fn next_generation(&mut self) -> u32 {
        self.generation = self.generation.wrapping_add(1).max(1);
        self.generation
    }

    /// The same places in another transcript of the session.
    pub(crate) fn look_up(&mut self, lookup: &Lookup<'_>) {
        self.sought = self.sought.map(|sought| Sought {
            block: sought
                .block
                .and_then(|(focus, edge)| Some((lookup.block(focus)?, edge))),
            ..sought
        });
        self.opened.look_up(lookup);
        self.same_id = self
            .same_id
            .take()
            .and_then(|(focus, id)| Some((lookup.block(focus)?, id)));
        if let Some(typing) = &mut self.typing {
            typing.from.look_up(lookup);
            typing.opened.look_up(lookup);
        }
        self.at_hit = self.at_hit.and_then(|at| {
            Some(AtHit {
                focus: lookup.block(at.focus)?,
                ..at
            })
        });
    }
}
