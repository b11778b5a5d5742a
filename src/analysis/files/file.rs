//! One file with its uses, in the order of their times.
//!
//! Invariant: what is noted again of a use that stays where it is moves no other one.

use std::collections::BTreeSet;

use super::flags;
use super::uses::{Op, Outcome, Use};
use crate::model::entry::EntryId;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;

/// A file with its uses.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    /// In the order of their times.
    pub(crate) uses: Vec<Use>,
    /// Calls that read or searched it.
    pub(crate) reads: usize,
    /// Calls that changed it.
    pub(crate) edits: usize,
    /// Calls that wrote all of it.
    pub(crate) writes: usize,
    /// Uses with a flag.
    pub(crate) flags: usize,
    /// Lanes that used it.
    pub(crate) lanes: usize,
    /// When it was used last.
    pub(crate) last: Option<Timestamp>,
    /// Whether a tool for files used it, and not only a command.
    pub(crate) is_listed: bool,
    /// Whether its uses may not be in the order of their times.
    is_unordered: bool,
    /// Whether some have times, and whether some have none.
    times: (bool, bool),
}

impl File {
    /// Adds a use. What comes last is last, and nothing has to be put in order when it is judged.
    pub(super) fn append(&mut self, one: Use) {
        let is_last = self.uses.last().is_none_or(|last| last.key() <= one.key());
        self.see_time(&one);
        self.is_unordered |= !is_last;
        self.uses.push(one);
    }

    /// Adds a use in its place.
    pub(super) fn insert(&mut self, one: Use) {
        self.see_time(&one);
        if self.is_unordered {
            self.uses.push(one);
        } else {
            let at = self.uses.partition_point(|other| other.key() <= one.key());
            self.uses.insert(at, one);
        }
    }

    /// What has no time among what has one takes it from what came before it in the session: then all are put in
    /// order.
    fn see_time(&mut self, one: &Use) {
        self.times.0 |= one.at.is_some();
        self.times.1 |= one.at.is_none();
        self.is_unordered |= self.times == (true, true);
    }

    /// Takes in the uses of a known entry as they are now. Says whether any of it is news.
    pub(super) fn update(&mut self, entry: EntryId, mut now: Vec<Use>) -> bool {
        now.sort_by_key(Use::key);
        let places = self.of_entry(entry, now.first().map_or(0, |one| one.order), now.len());
        let known = places.iter().filter_map(|at| self.uses.get(*at));
        let stay = known.map(Use::key).eq(now.iter().map(Use::key));
        if !stay {
            for at in places.into_iter().rev() {
                self.remove(at);
            }
            for one in now {
                self.insert(one);
            }
            return true;
        }
        let mut is_news = false;
        for (at, one) in places.into_iter().zip(now) {
            let Some(known) = self.uses.get_mut(at) else { continue };
            let one = Use { flag: known.flag.clone(), ..one };
            is_news |= *known != one;
            *known = one;
        }
        is_news
    }

    /// Takes back a use of this entry.
    pub(super) fn take_back(&mut self, entry: EntryId) {
        // What changes is mostly new, and so among the last of perhaps very many uses.
        if let Some(at) = self.uses.iter().rposition(|one| one.place.entry == entry) {
            self.remove(at);
        }
    }

    fn remove(&mut self, at: usize) {
        self.uses.remove(at);
        self.is_unordered |= self.times == (true, true);
    }

    /// Places of the uses of an entry that has this place in the session. Mostly times go as the session does, and
    /// they lie together.
    fn of_entry(&self, entry: EntryId, order: u32, count: usize) -> Vec<usize> {
        let first = self.uses.partition_point(|one| one.order < order);
        let is_it = |at: &usize| self.uses.get(*at).is_some_and(|one| one.place.entry == entry);
        let together: Vec<usize> = (first..first + count).take_while(is_it).collect();
        if together.len() == count { together } else { (0..self.uses.len()).filter(is_it).collect() }
    }

    /// Puts the uses in order, and judges them.
    pub(super) fn settle(&mut self) {
        if std::mem::take(&mut self.is_unordered) {
            self.sort();
        }
        self.judge();
    }

    fn sort(&mut self) {
        self.uses.sort_by_key(Use::rank);
        // What has no time stands behind what came before it in the file.
        let mut last = None;
        let mut timed: Vec<(Option<Timestamp>, Use)> = Vec::with_capacity(self.uses.len());
        for one in std::mem::take(&mut self.uses) {
            last = one.at.or(last);
            timed.push((last, one));
        }
        timed.sort_by_key(|(at, one)| (*at, one.rank()));
        self.uses = timed.into_iter().map(|(_, one)| one).collect();
    }

    fn judge(&mut self) {
        flags::judge(&mut self.uses);
        let count = |ops: &[Op]| {
            self.uses.iter().filter(|one| one.outcome != Outcome::Failed && ops.contains(&one.op)).count()
        };
        (self.reads, self.edits, self.writes) =
            (count(&[Op::Read, Op::Grep]), count(&[Op::Edit]), count(&[Op::Write]));
        self.flags = self.uses.iter().filter(|one| one.flag.is_some()).count();
        let lanes: BTreeSet<Option<&Name>> = self.uses.iter().map(|one| one.lane.as_ref()).collect();
        self.lanes = lanes.len();
        self.last = self.uses.iter().filter_map(|one| one.at).max();
        // Searches name what may be no file, and what failed may not be there.
        let is_sure = |one: &Use| one.op != Op::Grep && one.outcome != Outcome::Failed;
        self.is_listed = self.uses.iter().any(|one| !one.by_shell && is_sure(one)) || self.flags > 0;
    }
}
