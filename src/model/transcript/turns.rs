//! Turns and latest answers, derived from the order of the entries.
//!
//! Invariant: covers the first `known` entries of the order; [`TurnTable::update`] adds appended
//! entries, and any change of the order restarts the derivation.

use super::lanes::LaneTable;
use super::latest::Latest;
use super::pages::Pages;
use crate::model::edit::saturating_u32;
use crate::model::entry::glance::Boundary;
use crate::model::entry::{Entry, EntryId};
use crate::model::turn::Turn;

/// Turns of the main lane, or of all joined sessions.
#[derive(Clone, Debug, Default)]
pub(super) struct TurnTable {
    pub(super) list: Vec<Turn>,
    /// Indexes of the turns, by session.
    of_session: Vec<Vec<usize>>,
    /// Latest answers among the entries covered.
    pub(super) latest: Latest,
    /// Number of entries of the order that are covered.
    pub(super) known: usize,
}

impl TurnTable {
    /// Adds entries appended to the order.
    pub(super) fn update(&mut self, order: &[EntryId], entries: &Pages, lanes: &LaneTable) {
        let new = order.get(self.known..).unwrap_or_default();
        for (place, id) in (self.known..).zip(new.iter().copied()) {
            let lane = entries.lane(id.index());
            if let Some(boundary) = entries.boundary(id.index()) {
                self.latest.add(place, id, lane, boundary);
            }
            let is_prompt = entries.marks(id.index()).is_some_and(|marks| marks.prompt);
            if let Some(session) = lanes.session_of_main_agent(lane).filter(|_| is_prompt) {
                self.add(session, id, place);
            }
        }
        self.known = order.len();
    }

    fn add(&mut self, session: usize, prompt: EntryId, first: usize) {
        if self.of_session.len() <= session {
            self.of_session.resize_with(session + 1, Vec::new);
        }
        self.of_session
            .get_mut(session)
            .into_iter()
            .for_each(|own| own.push(self.list.len()));
        self.list.push(Turn {
            prompt,
            first,
            session: saturating_u32(session),
        });
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.of_session.clear();
        self.latest.by_lane.clear();
        self.known = 0;
    }

    /// Updates the latest answers after the entry at this position changed.
    pub(super) fn update_boundary(
        &mut self,
        (place, id): (usize, EntryId),
        before: &Entry,
        now: &Entry,
    ) {
        let (was, is) = (Boundary::of(before), Boundary::of(now));
        if (was, &before.lane) == (is, &now.lane) || place >= self.known {
            return;
        }
        if was == Boundary::None {
            self.latest.add(place, id, now.lane.as_ref(), is);
        } else {
            self.clear();
            self.latest.retractions += 1;
        }
    }

    /// Index of the turn of a session that contains this position of the order.
    pub(super) fn at(&self, session: usize, place: usize) -> Option<usize> {
        let own = self.of_session(session);
        let is_before = |turn: &usize| self.list.get(*turn).is_some_and(|turn| turn.first <= place);
        own.get(own.partition_point(is_before).checked_sub(1)?)
            .copied()
    }

    /// Indexes of the turns of a session.
    pub(super) fn of_session(&self, session: usize) -> &[usize] {
        self.of_session.get(session).map_or(&[], Vec::as_slice)
    }

    /// The turn of the same session that is `by` turns later, or earlier if negative.
    pub(super) fn neighbour(&self, number: usize, by: isize) -> Option<&Turn> {
        let own = self.of_session(self.list.get(number)?.session as usize);
        let place = own.binary_search(&number).ok()?.checked_add_signed(by)?;
        self.list.get(*own.get(place)?)
    }
}
