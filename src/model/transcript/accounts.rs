//! Parts of the usage that are compared separately: for one session all of it; for several joined
//! sessions that of each session with run totals, and that of all others.
//!
//! Two files may record the same session, as the output of a run and the agent's own file do. If
//! all requests of the run are recorded by the other file, or the run has no requests, they are one
//! part; so are copies of a session whose agent records running totals. A running total includes
//! that of the session it was forked from: that share is subtracted and counted with the other
//! session, or both are one part. Of two sessions forked from the same one, only one total keeps
//! the shared usage.
//!
//! Invariant: each usage record is in exactly one part.

use std::borrow::Cow;

use super::Transcript;
use crate::model::totals::Totals;

pub(crate) struct UsagePart<'t> {
    /// Numbers of the sessions in it; empty if there is only one session.
    sessions: Vec<usize>,
    pub(crate) totals: Cow<'t, Totals>,
}

impl UsagePart<'_> {
    /// Whether it includes a session; `None` is the only one.
    pub(crate) fn has(&self, session: Option<usize>) -> bool {
        session.is_none_or(|session| self.sessions.contains(&session))
    }
}

impl Transcript {
    pub(crate) fn parts(&self) -> Vec<UsagePart<'_>> {
        let spent = &self.ledger.sessions;
        let whole = |sessions| UsagePart {
            sessions,
            totals: Cow::Borrowed(self.totals()),
        };
        if !spent.iter().any(Totals::has_runs) {
            return vec![whole((0..spent.len()).collect())];
        }
        let is_such =
            |session: usize, is_it: fn(&Totals) -> bool| spent.get(session).is_some_and(is_it);
        let same = |session: usize| self.lanes().get(session).and_then(|lane| lane.duplicate_of);
        let shares = |session: usize| {
            self.lanes()
                .get(session)
                .map_or(&[][..], |lane| &lane.shares)
        };
        // The running total of `session` includes what it shares with `other`, and nothing else
        // includes the rest of `other`.
        let has_its = |session: usize, other: usize| {
            shares(session).iter().any(|share| share.session == other)
        };
        // The share of another running total that includes this one may have been counted already.
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
                .for_each(|own| totals.merge(own));
            for share in sessions.iter().filter_map(|session| counted(*session)) {
                if totals.is_so_far() {
                    totals.subtract_runs(&share.sums);
                }
            }
            if sessions.len() > 1 {
                totals.drop_runs_of_requests();
            }
            UsagePart {
                sessions,
                totals: Cow::Owned(totals),
            }
        };
        groups.into_iter().map(part).collect()
    }
}
