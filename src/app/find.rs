//! What the reader searches for, and the filter that hides the rest.

pub mod filter;
pub mod filtering;
pub(crate) mod mention;
pub mod progress;
pub(crate) mod reveal;
pub mod search;
pub mod searching;

use super::find::filter::Filter;
use super::find::search::{AtHit, Search, Sought};
use super::places::saved_position::SavedPosition;
use super::text::viewport::Focus;
use crate::model::entry::EntryId;

/// Searches and filters of a session.
#[derive(Debug, Default)]
pub struct Find {
    /// The search.
    pub search: Option<Search>,
    /// A hit to be brought into view, as soon as its rows are known.
    pub(crate) sought: Option<Sought>,
    /// The hit that was brought into view last.
    pub(crate) at_hit: Option<AtHit>,
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
}

impl Find {
    /// Whether the filter in force shows a block.
    pub fn shows(&self, focus: Focus) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.shows(focus))
    }

    /// A number for the next search or filter.
    pub(crate) fn next_generation(&mut self) -> u32 {
        self.generation = self.generation.wrapping_add(1).max(1);
        self.generation
    }

    /// Another transcript of the session is shown, with its entries under other numbers.
    pub fn carry(&mut self, moved: &impl Fn(EntryId) -> Option<EntryId>) {
        self.sought = self.sought.map(|sought| Sought {
            block: sought.block.and_then(|(focus, edge)| Some((focus.moved(moved)?, edge))),
            ..sought
        });
        self.same_id = self.same_id.take().and_then(|(focus, id)| Some((focus.moved(moved)?, id)));
        if let Some(typing) = &mut self.typing {
            typing.from.carry(moved);
        }
        self.at_hit = self.at_hit.and_then(|at| Some(AtHit { focus: at.focus.moved(moved)?, ..at }));
    }
}
