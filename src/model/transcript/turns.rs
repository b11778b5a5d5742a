//! The turns, and with them the newest answers, as far as the order of the entries is known.
//!
//! Invariant: what is known here is what the first entries of the order tell; what is appended is taken in by
//! [`Turns::follow`], and what moves makes it begin anew.

use super::latest::Latest;
use super::pages::Pages;
use crate::model::entry::glance::Boundary;
use crate::model::entry::{Entry, EntryId};
use crate::model::turn::Turn;

/// Turns of the main lane.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    list: Vec<Turn>,
    latest: Latest,
    /// Entries of the order whose turns are known.
    known: usize,
}

impl Turns {
    /// Takes in what is new at the end of the order.
    pub(super) fn follow(&mut self, order: &[EntryId], entries: &Pages) {
        let new = order.get(self.known..).unwrap_or_default();
        for (place, id) in (self.known..).zip(new.iter().copied()) {
            let lane = entries.lane(id.index());
            if let Some(boundary) = entries.boundary(id.index()) {
                self.latest.see(place, id, lane, boundary);
            }
            if lane.is_none() && entries.marks(id.index()).is_some_and(|marks| marks.prompt) {
                self.list.push(Turn { prompt: id, first: place });
            }
        }
        self.known = order.len();
    }

    /// Begins anew.
    pub(super) fn forget(&mut self) {
        self.list.clear();
        self.latest.clear();
        self.known = 0;
    }

    /// Takes the place of what was known before; `is_taken_back`: an answer or a compaction of that is none any more.
    pub(super) fn succeed(&mut self, old: Self, is_taken_back: bool) {
        *self = old;
        self.forget();
        if is_taken_back {
            self.latest.take_back();
        }
    }

    /// An entry that stands at this place is another one now.
    pub(super) fn see_boundary_again(&mut self, (place, id): (usize, EntryId), before: &Entry, now: &Entry) {
        let (was, is) = (Boundary::of(before), Boundary::of(now));
        if (was, &before.lane) == (is, &now.lane) || place >= self.known {
            return;
        }
        if was == Boundary::None {
            self.latest.see(place, id, now.lane.as_ref(), is);
        } else {
            self.forget();
            self.latest.take_back();
        }
    }

    /// All of them.
    pub(super) fn list(&self) -> &[Turn] {
        &self.list
    }

    /// The turn that the entry at this place of the order belongs to.
    pub(super) fn at(&self, place: usize) -> Option<usize> {
        self.list.partition_point(|turn| turn.first <= place).checked_sub(1)
    }

    /// Entries of the order whose turns are known.
    pub(super) fn known(&self) -> usize {
        self.known
    }

    /// The newest answers of those entries.
    pub(super) fn latest(&self) -> &Latest {
        &self.latest
    }
}
