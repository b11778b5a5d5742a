//! The turns, and with them the newest answers, as far as the order of the entries is known.
//!
//! Invariant: what is known here is what the first entries of the order tell; what is appended is taken in by
//! [`Turns::follow`], and what moves makes it begin anew.

use super::lanes::Lanes;
use super::latest::Latest;
use super::pages::Pages;
use crate::model::entry::glance::Boundary;
use crate::model::entry::{Entry, EntryId};
use crate::model::turn::Turn;

/// Turns of the main lane, or of each of several sessions.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    pub(super) list: Vec<Turn>,
    /// Their numbers, by session.
    of_session: Vec<Vec<usize>>,
    /// The newest answers of those entries whose turns are known.
    pub(super) latest: Latest,
    /// Entries of the order whose turns are known.
    pub(super) known: usize,
}

impl Turns {
    /// Takes in what is new at the end of the order.
    pub(super) fn follow(&mut self, order: &[EntryId], entries: &Pages, lanes: &Lanes) {
        let new = order.get(self.known..).unwrap_or_default();
        for (place, id) in (self.known..).zip(new.iter().copied()) {
            let lane = entries.lane(id.index());
            if let Some(boundary) = entries.boundary(id.index()) {
                self.latest.see(place, id, lane, boundary);
            }
            let is_prompt = entries.marks(id.index()).is_some_and(|marks| marks.prompt);
            if let Some(session) = lanes.spoken_to(lane).filter(|_| is_prompt) {
                self.add(Turn {
                    prompt: id,
                    first: place,
                    session,
                });
            }
        }
        self.known = order.len();
    }

    fn add(&mut self, turn: Turn) {
        if self.of_session.len() <= turn.session {
            self.of_session.resize_with(turn.session + 1, Vec::new);
        }
        self.of_session
            .get_mut(turn.session)
            .into_iter()
            .for_each(|own| own.push(self.list.len()));
        self.list.push(turn);
    }

    /// Begins anew.
    pub(super) fn forget(&mut self) {
        self.list.clear();
        self.of_session.clear();
        self.latest.by_lane.clear();
        self.known = 0;
    }

    /// An entry that stands at this place is another one now.
    pub(super) fn see_boundary_again(
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
            self.latest.see(place, id, now.lane.as_ref(), is);
        } else {
            self.forget();
            self.latest.taken_back += 1;
        }
    }

    /// The turn that the entry of a session at this place of the order belongs to.
    pub(super) fn at(&self, session: usize, place: usize) -> Option<usize> {
        let own = self.of_session(session);
        let is_before = |turn: &usize| self.list.get(*turn).is_some_and(|turn| turn.first <= place);
        own.get(own.partition_point(is_before).checked_sub(1)?)
            .copied()
    }

    /// The numbers of those of a session.
    pub(super) fn of_session(&self, session: usize) -> &[usize] {
        self.of_session.get(session).map_or(&[], Vec::as_slice)
    }

    /// The one of the same session that stands so many places behind this one, or before it.
    pub(super) fn beside(&self, number: usize, by: isize) -> Option<&Turn> {
        let own = self.of_session(self.list.get(number)?.session);
        let place = own.binary_search(&number).ok()?.checked_add_signed(by)?;
        self.list.get(*own.get(place)?)
    }
}
