//! Fates of the records, counted so that none is dropped silently.

pub mod unknown;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::record::{FileId, Origin};
use super::text::Text;
use unknown::{Judged, Unknown};

/// What became of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It made an entry.
    Shown,
    /// It became part of another entry: a result, a further block, a title, a repeated line.
    Merged,
    /// It holds nothing to show, for this reason.
    Passed(&'static str),
    /// It could not be read; it is shown raw with a notice.
    Faulty,
}

/// Counts of fates. Always `records == shown + merged + passed + faulty`, and the same for bytes.
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
    /// Number of passed records by reason.
    pub reasons: BTreeMap<&'static str, u64>,
    /// Bytes of the records by fate.
    pub bytes: Bytes,
    /// Kinds of records and parts that the format does not know.
    pub unknown: BTreeMap<Text, Unknown>,
    /// Unknown top-level fields of known records: how often, and the first position.
    pub(crate) unknown_fields: BTreeMap<Text, (u64, Origin)>,
    /// Positions of faulty records and what is wrong; the first thousand.
    pub faults: Vec<(Origin, Text)>,
    /// Records and bytes by file.
    pub files: ByFile,
    /// First record of each version of the agent program.
    pub(crate) versions: BTreeMap<Text, Origin>,
}

/// Bytes of records by fate, without separators between records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bytes {
    pub(crate) shown: u64,
    pub(crate) merged: u64,
    /// Bytes of records that hold nothing to show.
    pub passed: u64,
    pub(crate) faulty: u64,
    /// Bytes of passed records by reason.
    pub reasons: BTreeMap<&'static str, u64>,
}

/// Records and bytes by file. There may be tens of thousands of files, and each batch carries a
/// copy of the sums, so copies share unchanged rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ByFile(BTreeMap<u32, Arc<Row>>);

/// Records and bytes of files with consecutive numbers.
type Row = [(u64, u64); ROW as usize];
const ROW: u32 = 64;

impl ByFile {
    /// Records and bytes of a file.
    pub(crate) fn get(&self, file: FileId) -> (u64, u64) {
        let (row, place) = Self::place(file);
        self.0
            .get(&row)
            .and_then(|row| row.get(place))
            .copied()
            .unwrap_or_default()
    }

    /// Records and bytes of all files.
    pub fn total(&self) -> (u64, u64) {
        self.iter().fold((0, 0), |(n, m), (_, (records, bytes))| {
            (n + records, m + bytes)
        })
    }

    fn iter(&self) -> impl Iterator<Item = (FileId, (u64, u64))> {
        self.0.iter().flat_map(|(row, counts)| {
            let files = (0..ROW).map(move |place| FileId(row * ROW + place));
            files
                .zip(counts.iter().copied())
                .filter(|(_, (records, _))| *records > 0)
        })
    }

    fn place(file: FileId) -> (u32, usize) {
        (file.0 / ROW, (file.0 % ROW) as usize)
    }

    fn add(&mut self, file: FileId, (records, bytes): (u64, u64)) {
        let (row, place) = Self::place(file);
        let counts = self
            .0
            .entry(row)
            .or_insert_with(|| Arc::new([(0, 0); ROW as usize]));
        if let Some((n, m)) = Arc::make_mut(counts).get_mut(place) {
            (*n, *m) = (*n + records, *m + bytes);
        }
    }

    fn subtract(&mut self, file: FileId, (records, bytes): (u64, u64)) {
        let (row, place) = Self::place(file);
        let Some(counts) = self.0.get_mut(&row) else {
            return;
        };
        let counts = Arc::make_mut(counts);
        if let Some((n, m)) = counts.get_mut(place) {
            *n = n.saturating_sub(records);
            *m = if *n > 0 { m.saturating_sub(bytes) } else { 0 };
        }
        if counts.iter().all(|(records, _)| *records == 0) {
            self.0.remove(&row);
        }
    }
}

/// Limit of stored faults; more are only counted.
const FAULTS_KEPT: usize = 1000;
/// Limit of stored field names: records that use data as keys would fill the list.
const FIELDS_KEPT: usize = 100;

impl Bytes {
    pub fn total(&self) -> u64 {
        self.shown + self.merged + self.passed + self.faulty
    }
}

impl Tally {
    pub fn records(&self) -> u64 {
        self.shown + self.merged + self.passed + self.faulty
    }

    /// Counts a record and its bytes.
    pub(crate) fn count(&mut self, fate: Fate, file: FileId, bytes: u64) {
        if let Fate::Passed(reason) = fate {
            *self.reasons.entry(reason).or_default() += 1;
        }
        let (records, _) = self.sums_of(fate);
        *records += 1;
        self.files.add(file, (1, 0));
        self.add_bytes(fate, file, bytes);
    }

    /// Adds bytes to a record that was counted already.
    pub(crate) fn add_bytes(&mut self, fate: Fate, file: FileId, bytes: u64) {
        if let Fate::Passed(reason) = fate {
            *self.bytes.reasons.entry(reason).or_default() += bytes;
        }
        let (_, weight) = self.sums_of(fate);
        *weight += bytes;
        self.files.add(file, (0, bytes));
    }

    /// Changes records from shown to passed, because they turned out to belong to another session.
    /// Capped at what is shown: values of the current line are counted later, together with it.
    pub(crate) fn mark_passed(&mut self, reason: &'static str, (records, bytes): (u64, u64)) {
        let (records, bytes) = (records.min(self.shown), bytes.min(self.bytes.shown));
        if records == 0 {
            return;
        }
        self.shown -= records;
        self.passed += records;
        *self.reasons.entry(reason).or_default() += records;
        self.bytes.shown -= bytes;
        self.bytes.passed += bytes;
        *self.bytes.reasons.entry(reason).or_default() += bytes;
    }

    /// Counters of a fate: records and bytes.
    fn sums_of(&mut self, fate: Fate) -> (&mut u64, &mut u64) {
        match fate {
            Fate::Shown => (&mut self.shown, &mut self.bytes.shown),
            Fate::Merged => (&mut self.merged, &mut self.bytes.merged),
            Fate::Passed(_) => (&mut self.passed, &mut self.bytes.passed),
            Fate::Faulty => (&mut self.faulty, &mut self.bytes.faulty),
        }
    }

    /// The tally with other file numbers.
    #[must_use]
    pub(crate) fn renumbered(mut self, to: &dyn Fn(&mut Origin)) -> Self {
        let unknown = self.unknown.values_mut().map(|kind| &mut kind.first);
        let fields = self.unknown_fields.values_mut().map(|(_, origin)| origin);
        unknown
            .chain(fields)
            .chain(self.versions.values_mut())
            .for_each(to);
        self.faults.iter_mut().for_each(|(origin, _)| to(origin));
        let files = std::mem::take(&mut self.files);
        for (file, counts) in files.iter() {
            let mut origin = Origin {
                file,
                ..Origin::default()
            };
            to(&mut origin);
            self.files.add(origin.file, counts);
        }
        self
    }

    /// Adds the counts of further records.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (sum, n) in self.sums().into_iter().zip(other.terms()) {
            *sum += n;
        }
        for (sums, terms) in [
            (&mut self.reasons, &other.reasons),
            (&mut self.bytes.reasons, &other.bytes.reasons),
        ] {
            for (reason, n) in terms {
                *sums.entry(reason).or_default() += n;
            }
        }
        for (kind, unknown) in &other.unknown {
            self.unknown
                .entry(kind.clone())
                .or_insert_with(|| Unknown::at(unknown.first))
                .merge(unknown);
        }
        for (field, (n, origin)) in &other.unknown_fields {
            self.unknown_fields
                .entry(field.clone())
                .or_insert((0, *origin))
                .0 += n;
        }
        for (file, counts) in other.files.iter() {
            self.files.add(file, counts);
        }
        for (version, origin) in &other.versions {
            self.versions.entry(version.clone()).or_insert(*origin);
        }
        let room = FAULTS_KEPT.saturating_sub(self.faults.len());
        self.faults.extend(other.faults.iter().take(room).cloned());
    }

    /// Subtracts a tally that was added, because its records were rewritten and are counted again.
    pub(crate) fn subtract(&mut self, other: &Self) {
        for (sum, n) in self.sums().into_iter().zip(other.terms()) {
            *sum = sum.saturating_sub(n);
        }
        for (reason, n) in &other.bytes.reasons {
            if let Some(bytes) = self.bytes.reasons.get_mut(reason) {
                *bytes = bytes.saturating_sub(*n);
            }
        }
        for (reason, n) in &other.reasons {
            if let Some(count) = self.reasons.get_mut(reason) {
                *count = count.saturating_sub(*n);
            }
        }
        for (file, counts) in other.files.iter() {
            self.files.subtract(file, counts);
        }
        self.reasons.retain(|_, n| *n > 0);
        self.bytes
            .reasons
            .retain(|reason, _| self.reasons.contains_key(reason));
        for (kind, unknown) in &other.unknown {
            if let Some(sum) = self.unknown.get_mut(kind) {
                sum.subtract(unknown);
            }
        }
        self.unknown.retain(|_, unknown| unknown.count() > 0);
        for (field, (n, _)) in &other.unknown_fields {
            if let Some((count, _)) = self.unknown_fields.get_mut(field) {
                *count = count.saturating_sub(*n);
            }
        }
        self.unknown_fields.retain(|_, (n, _)| *n > 0);
        self.faults.retain(|fault| !other.faults.contains(fault));
    }

    /// The counters of records and bytes.
    fn sums(&mut self) -> [&mut u64; 8] {
        let Bytes {
            shown,
            merged,
            passed,
            faulty,
            ..
        } = &mut self.bytes;
        [
            &mut self.shown,
            &mut self.merged,
            &mut self.passed,
            &mut self.faulty,
            shown,
            merged,
            passed,
            faulty,
        ]
    }

    fn terms(&self) -> [u64; 8] {
        let Bytes {
            shown,
            merged,
            passed,
            faulty,
            ..
        } = self.bytes;
        [
            self.shown,
            self.merged,
            self.passed,
            self.faulty,
            shown,
            merged,
            passed,
            faulty,
        ]
    }

    pub(crate) fn count_unknown(&mut self, kind: Text, judged: Judged, origin: Origin) {
        self.unknown
            .entry(kind)
            .or_insert_with(|| Unknown::at(origin))
            .add(judged);
    }

    /// Number of unknown records and parts that may be part of the conversation.
    pub(crate) fn loud(&self) -> u64 {
        self.loud_kinds().map(|(_, unknown)| unknown.count()).sum()
    }

    /// The kinds of those.
    pub(crate) fn loud_kinds(&self) -> impl Iterator<Item = (&Text, &Unknown)> {
        self.unknown
            .iter()
            .filter(|(_, unknown)| unknown.judged() == Judged::Loud)
    }

    /// Counts an unknown field of a known record, up to the limit of distinct names.
    pub(crate) fn count_unknown_field(&mut self, what: Text, origin: Origin) {
        if self.unknown_fields.len() < FIELDS_KEPT || self.unknown_fields.contains_key(&what) {
            self.unknown_fields.entry(what).or_insert((0, origin)).0 += 1;
        }
    }

    /// Stores the first record of a version of the agent program.
    pub(crate) fn record_version(&mut self, version: &Text, origin: Origin) {
        if !self.versions.contains_key(version) {
            self.versions.insert(version.clone(), origin);
        }
    }

    /// Stores what is wrong with a faulty record.
    pub(crate) fn record_fault(&mut self, origin: Origin, what: Text) {
        if self.faults.len() < FAULTS_KEPT {
            self.faults.push((origin, what));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop, proptest};

    use super::{Fate, FileId, Judged, Origin, Tally};

    fn fate(kind: u8) -> Fate {
        match kind {
            0 => Fate::Shown,
            1 => Fate::Merged,
            2 => Fate::Passed("a copy"),
            3 => Fate::Passed("a ping"),
            _ => Fate::Faulty,
        }
    }

    fn tally(records: &[(u8, u64)]) -> Tally {
        let mut tally = Tally::default();
        for (kind, bytes) in records {
            tally.count(fate(*kind), FileId(u32::from(*kind)), *bytes);
            if let Some(judged) = Judged::ALL.get(usize::from(*kind)) {
                tally.count_unknown("type/new".into(), *judged, Origin::default());
            }
        }
        tally
    }

    /// The current line holds several values, none of which is counted yet.
    #[test]
    fn what_is_passed_later_counts_once() {
        let mut tally = tally(&[(0, 10), (1, 5)]);
        let before = (tally.records(), tally.bytes.total());
        tally.mark_passed("a history", (3, 40));
        assert_eq!((tally.records(), tally.bytes.total()), before);
        assert_eq!((tally.passed, tally.shown), (1, 0));
    }

    proptest! {
        #[test]
        fn records_and_bytes_are_conserved_through_what_is_taken_back(
            before in prop::collection::vec((0u8..5, 0u64..1 << 40), 0..20),
            taken in prop::collection::vec((0u8..5, 0u64..1 << 40), 0..20),
        ) {
            let mut sum = tally(&before);
            let part = tally(&taken);
            sum.merge(&part);
            assert_eq!(sum.records(), (before.len() + taken.len()) as u64);
            assert_eq!(sum.bytes.total(), before.iter().chain(&taken).map(|(_, bytes)| bytes).sum::<u64>());
            assert_eq!(sum.files.total(), (sum.records(), sum.bytes.total()));
            assert_eq!(sum.bytes.passed, sum.bytes.reasons.values().sum::<u64>());
            assert_eq!(sum.passed, sum.reasons.values().sum::<u64>());
            sum.subtract(&part);
            assert_eq!(sum, tally(&before));
        }
    }
}
