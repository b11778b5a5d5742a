//! What became of the records: the conservation law that nothing is dropped silently.

use std::collections::BTreeMap;

use super::record::Origin;
use super::text::Text;

/// What became of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It made an entry of its own.
    Shown,
    /// It became part of another entry: a result, a further block, a title, a repeated line.
    Merged,
    /// It is known to hold nothing to show; the reason is named.
    Passed(&'static str),
    /// It could not be read; it is shown raw with a notice.
    Faulty,
}

/// Counts of fates. `records == shown + merged + passed + faulty`, always.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Records that made an entry.
    pub shown: u64,
    /// Records that became part of another entry.
    pub merged: u64,
    /// Records that hold nothing to show.
    pub passed: u64,
    /// Records that could not be read.
    pub faulty: u64,
    /// Why records were passed, and how often.
    pub reasons: BTreeMap<&'static str, u64>,
    /// Types and fields that the format does not know: how often, and where first.
    pub unknown: BTreeMap<Text, (u64, Origin)>,
    /// Where faulty records are and what is wrong; the first thousand.
    pub faults: Vec<(Origin, Text)>,
}

/// More faults than this are counted but not kept.
const FAULTS_KEPT: usize = 1000;

impl Tally {
    /// All records.
    pub fn records(&self) -> u64 {
        self.shown + self.merged + self.passed + self.faulty
    }

    /// Counts one record.
    pub fn count(&mut self, fate: Fate) {
        match fate {
            Fate::Shown => self.shown += 1,
            Fate::Merged => self.merged += 1,
            Fate::Passed(reason) => {
                self.passed += 1;
                *self.reasons.entry(reason).or_default() += 1;
            }
            Fate::Faulty => self.faulty += 1,
        }
    }

    /// Takes a count back, when a record was rewritten and will be counted anew.
    pub fn uncount(&mut self, fate: Fate) {
        match fate {
            Fate::Shown => self.shown = self.shown.saturating_sub(1),
            Fate::Merged => self.merged = self.merged.saturating_sub(1),
            Fate::Passed(reason) => {
                self.passed = self.passed.saturating_sub(1);
                if let Some(n) = self.reasons.get_mut(reason) {
                    *n = n.saturating_sub(1);
                }
            }
            Fate::Faulty => self.faulty = self.faulty.saturating_sub(1),
        }
    }

    /// Adds the counts of further records.
    pub fn absorb(&mut self, other: &Self) {
        self.shown += other.shown;
        self.merged += other.merged;
        self.passed += other.passed;
        self.faulty += other.faulty;
        for (reason, n) in &other.reasons {
            *self.reasons.entry(reason).or_default() += n;
        }
        for (what, (n, origin)) in &other.unknown {
            self.unknown.entry(what.clone()).or_insert((0, *origin)).0 += n;
        }
        let room = FAULTS_KEPT.saturating_sub(self.faults.len());
        self.faults.extend(other.faults.iter().take(room).cloned());
    }

    /// Takes back what was absorbed, when its records were rewritten and will be counted anew.
    pub fn give_back(&mut self, other: &Self) {
        self.shown = self.shown.saturating_sub(other.shown);
        self.merged = self.merged.saturating_sub(other.merged);
        self.passed = self.passed.saturating_sub(other.passed);
        self.faulty = self.faulty.saturating_sub(other.faulty);
        for (reason, n) in &other.reasons {
            if let Some(count) = self.reasons.get_mut(reason) {
                *count = count.saturating_sub(*n);
            }
        }
        self.reasons.retain(|_, n| *n > 0);
        for (what, (n, _)) in &other.unknown {
            if let Some((count, _)) = self.unknown.get_mut(what) {
                *count = count.saturating_sub(*n);
            }
        }
        self.unknown.retain(|_, (n, _)| *n > 0);
        self.faults.retain(|fault| !other.faults.contains(fault));
    }

    /// Notes a type or field that the format does not know.
    pub fn note_unknown(&mut self, what: Text, origin: Origin) {
        self.unknown.entry(what).or_insert((0, origin)).0 += 1;
    }

    /// Notes what is wrong with a faulty record.
    pub fn note_fault(&mut self, origin: Origin, what: Text) {
        if self.faults.len() < FAULTS_KEPT {
            self.faults.push((origin, what));
        }
    }
}
