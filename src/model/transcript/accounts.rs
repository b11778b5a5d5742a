//! Parts of what was spent that are held against each other: of one session all of it, of several that are read as one
//! what each of those spent that sum up their runs, and what all others did.
//!
//! Two files may tell of the same session, as the output of a run and what its agent kept of it. Where all requests of the
//! run were told by another file, or the run's tells of none, they are one part; and so are copies of a session whose agent
//! tells what all of it came to so far. What a session goes on from is in its own sum: what that had cost by then is the
//! other one's, or its requests are one part with it. Of two that go on from the same, the sum of one
//! leaves what both have to the other.
//!
//! Invariant: each record of usage is in one part.

use std::borrow::Cow;

use super::Transcript;
use crate::model::totals::Totals;

/// A part of what was spent.
pub(crate) struct Part<'t> {
    /// The sessions that spent it, by their numbers; none if there is only one.
    sessions: Vec<usize>,
    /// What it comes to.
    pub(crate) totals: Cow<'t, Totals>,
}

impl Part<'_> {
    /// Whether a session, or the only one, is in it.
    pub(crate) fn has(&self, session: Option<usize>) -> bool {
        session.is_none_or(|session| self.sessions.contains(&session))
    }
}

impl Transcript {
    /// What was spent, by parts.
    pub(crate) fn parts(&self) -> Vec<Part<'_>> {
        let spent = &self.ledger.sessions;
        let whole = |sessions| Part {
            sessions,
            totals: Cow::Borrowed(self.totals()),
        };
        if !spent.iter().any(Totals::has_runs) {
            return vec![whole((0..spent.len()).collect())];
        }
        let is_such =
            |session: usize, is_it: fn(&Totals) -> bool| spent.get(session).is_some_and(is_it);
        let same = |session: usize| self.lanes().get(session).and_then(|lane| lane.same);
        let shares = |session: usize| {
            self.lanes()
                .get(session)
                .map_or(&[][..], |lane| &lane.shares)
        };
        // This one's sum has in it what it went on from, and what that spent besides is known to be in none.
        let has_its = |session: usize, other: usize| {
            shares(session).iter().any(|share| share.session == other)
        };
        // That sum may have been counted with another one that has it, too.
        let counted = |session: usize| {
            let sums = shares(session)
                .iter()
                .filter(|share| is_such(share.session, Totals::is_so_far));
            sums.max_by_key(|share| (share.requests, std::cmp::Reverse(share.of)))
        };
        let mut left: Vec<usize> = (0..spent.len()).collect();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let next = |left: &[usize]| {
            let summed = left
                .iter()
                .copied()
                .filter(|session| is_such(*session, Totals::has_runs));
            summed.min_by_key(|session| counted(*session).is_some())
        };
        while let Some(summed) = next(&left) {
            let lacks_requests = !is_such(summed, Totals::has_requests);
            let grows = is_such(summed, Totals::is_so_far);
            let is_same = |other: &usize| {
                let are_same = same(*other) == Some(summed) || same(summed) == Some(*other);
                let is_of_it = grows && !is_such(*other, Totals::has_runs);
                let are_copies = are_same && shares(*other).is_empty() && shares(summed).is_empty();
                *other == summed
                    || (are_same && lacks_requests)
                    || (is_of_it && (are_copies || has_its(summed, *other)))
            };
            let (alike, others) = left.into_iter().partition(is_same);
            left = others;
            groups.push(alike);
        }
        if !left.is_empty() {
            groups.push(left);
        }
        let part = |sessions: Vec<usize>| {
            let mut totals = Totals::default();
            sessions
                .iter()
                .filter_map(|session| spent.get(*session))
                .for_each(|own| totals.join(own));
            for share in sessions.iter().filter_map(|session| counted(*session)) {
                if totals.is_so_far() {
                    totals.leave_runs(&share.sums);
                }
            }
            if sessions.len() > 1 {
                totals.drop_runs_of_requests();
            }
            Part {
                sessions,
                totals: Cow::Owned(totals),
            }
        };
        groups.into_iter().map(part).collect()
    }
}
