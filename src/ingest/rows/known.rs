//! A compact table of the rows of a session that were listed or read: there may be millions.
//!
//! Invariant: each row is in it once, by table and row id.

use std::collections::BTreeMap;

use crate::ingest::whole::CompactTally;
use crate::model::fingerprint::hash_of;
use crate::model::record::FileId;
use crate::model::tally::Tally;

/// Rows whose ids differ only in this many low bits share a page.
const BITS: u32 = 8;

/// Rows by table and id.
#[derive(Default)]
pub(crate) struct KnownRows {
    /// Rows sorted by id, by table and the upper bits of the id.
    pages: BTreeMap<(usize, i64), Vec<KnownRow>>,
    len: usize,
    bytes: u64,
}

/// A row that was listed, and perhaps read.
#[derive(Default)]
struct KnownRow {
    /// Low bits of its id.
    low: u8,
    /// Whether it was listed as new or edited, and not read since.
    is_due: bool,
    /// Its tally when it was read.
    counted: Option<CompactTally>,
    /// Hash of its time and size.
    mark: u32,
    /// Hash of the record's own id, to detect another row with the same row id; 0 without one.
    id: u32,
    /// Hash of its content.
    hash: u32,
}

impl KnownRows {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes of all rows read.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether a row was listed.
    pub(crate) fn has(&self, table: usize, at: i64) -> bool {
        self.row(table, at).is_some()
    }

    /// Lists a row with its time and size. Returns whether they are unchanged since it was read. If
    /// not, it stays due until it is read, because a queued read may fail if the database is busy.
    pub(crate) fn mark_listed(
        &mut self,
        table: usize,
        at: i64,
        change: (i64, i64),
        id: u32,
    ) -> bool {
        let mark = truncated(hash_of(&change));
        self.change(table, at, |row| {
            let before = std::mem::replace(&mut row.mark, mark);
            row.is_due |= before != mark || row.counted.is_none();
            row.id = if id == 0 { row.id } else { id };
            !row.is_due
        })
    }

    /// Whether a row was listed and is to be read.
    pub(crate) fn is_due(&self, table: usize, at: i64) -> bool {
        self.row(table, at).is_some_and(|row| row.is_due)
    }

    /// Whether another record was listed with this row id.
    pub(crate) fn is_other(&self, (table, at): (usize, i64), id: u32) -> bool {
        id != 0
            && self
                .row(table, at)
                .is_some_and(|row| row.id != 0 && row.id != id)
    }

    /// The row id before the last `count` rows of a table.
    pub(crate) fn before_last(&self, table: usize, count: usize) -> i64 {
        self.places(table, (i64::MIN, i64::MAX))
            .nth_back(count)
            .unwrap_or(i64::MIN)
    }

    /// Number of rows of a table with ids above one and up to another.
    pub(crate) fn count(&self, table: usize, (beyond, up_to): (i64, i64)) -> usize {
        if beyond >= up_to {
            0
        } else {
            self.places(table, (beyond + 1, up_to)).count()
        }
    }

    /// Ids of the rows of a table in a range.
    fn places(&self, table: usize, (from, to): (i64, i64)) -> impl DoubleEndedIterator<Item = i64> {
        let pages = self
            .pages
            .range((table, from >> BITS)..=(table, to >> BITS));
        let places = pages.flat_map(|((_, page), rows)| {
            rows.iter()
                .map(move |row| page << BITS | i64::from(row.low))
        });
        places.filter(move |at| (from..=to).contains(at))
    }

    /// Records that a row was read. Returns whether its content is unchanged.
    pub(crate) fn read(&mut self, table: usize, at: i64, hash: u64) -> bool {
        let is_same = |row: &KnownRow| row.counted.is_some() && row.hash == truncated(hash);
        let is_known_so = self.row(table, at).is_some_and(is_same);
        if is_known_so {
            self.change(table, at, |row| row.is_due = false);
        }
        is_known_so
    }

    /// Makes a row be read again, whatever its content.
    pub(crate) fn invalidate(&mut self, table: usize, at: i64) {
        if self.has(table, at) {
            self.change(table, at, |row| row.hash = !row.hash);
        }
    }

    /// The tally of a row when it was read before, for this file.
    pub(crate) fn counted_before(&self, table: usize, at: i64, file: FileId) -> Option<Tally> {
        Some(self.row(table, at)?.counted.as_ref()?.tally(file))
    }

    /// Stores the tally of a row that was read.
    pub(crate) fn record(
        &mut self,
        table: usize,
        at: i64,
        (hash, file): (u64, FileId),
        tally: Tally,
    ) {
        self.bytes += tally.bytes.total();
        let before = self.change(table, at, |row| {
            (row.hash, row.is_due) = (truncated(hash), false);
            row.counted.replace(CompactTally::of(tally, file))
        });
        let before = before.map_or(0, |before| before.tally(file).bytes.total());
        self.bytes = self.bytes.saturating_sub(before);
    }

    fn row(&self, table: usize, at: i64) -> Option<&KnownRow> {
        let rows = self.pages.get(&(table, at >> BITS))?;
        let place = rows
            .binary_search_by_key(&low_byte(at), |row| row.low)
            .ok()?;
        rows.get(place)
    }

    /// Changes a row, adding it if necessary.
    fn change<T: Default>(
        &mut self,
        table: usize,
        at: i64,
        change: impl FnOnce(&mut KnownRow) -> T,
    ) -> T {
        let rows = self.pages.entry((table, at >> BITS)).or_default();
        let place = rows
            .binary_search_by_key(&low_byte(at), |row| row.low)
            .unwrap_or_else(|place| {
                rows.insert(
                    place,
                    KnownRow {
                        low: low_byte(at),
                        ..KnownRow::default()
                    },
                );
                self.len += 1;
                place
            });
        rows.get_mut(place).map(change).unwrap_or_default()
    }
}

/// Hash of a record's id; 0 if it has none.
pub(crate) fn hash_of_id(id: &[u8]) -> u32 {
    if id.is_empty() {
        0
    } else {
        truncated(hash_of(id)).max(1)
    }
}

fn low_byte(at: i64) -> u8 {
    let [low, ..] = at.to_le_bytes();
    low
}

fn truncated(hash: u64) -> u32 {
    let [a, b, c, d, ..] = hash.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use super::{FileId, KnownRow, KnownRows, Tally};
    use crate::model::tally::Fate;

    #[test]
    fn rows_are_known_once_wherever_they_lie() {
        let mut known = KnownRows::default();
        let places = [5, 300, -1, 256, 255, i64::MAX, i64::MIN, 5];
        for at in places {
            known.mark_listed(1, at, (1, 1), 0);
        }
        known.mark_listed(2, 5, (1, 1), 0);
        assert_eq!(known.len(), 8);
        assert_eq!(
            known.count(1, (i64::MIN, i64::MAX)),
            6,
            "the first place is not beyond itself"
        );
        assert_eq!(known.count(1, (5, 256)), 2);
        assert_eq!(known.count(1, (256, 5)), 0);
        assert_eq!(known.count(2, (i64::MIN, i64::MAX)), 1);
        assert!(known.has(2, 5) && !known.has(2, 6));
        let before = [0, 1, 4, 5, 6, 9].map(|count| known.before_last(1, count));
        assert_eq!(before, [i64::MAX, 300, 5, -1, i64::MIN, i64::MIN]);
    }

    #[test]
    fn what_a_row_counted_can_be_taken_back() {
        let mut known = KnownRows::default();
        let file = FileId(3);
        let mut plain = Tally::default();
        plain.count(Fate::Merged, file, 77);
        let mut odd = plain.clone();
        odd.count_unknown(
            "type/x".into(),
            crate::model::tally::unknown::Judged::Loud,
            crate::model::record::Origin::default(),
        );
        for (at, tally) in [(1, &plain), (2, &odd), (2, &plain), (1, &odd)] {
            known.record(0, at, (9, file), tally.clone());
            assert_eq!(known.counted_before(0, at, file).as_ref(), Some(tally));
        }
        assert_eq!((known.len(), known.bytes()), (2, 154));
        assert!(known.read(0, 1, 9) && !known.read(0, 1, 8));
        known.invalidate(0, 1);
        assert!(!known.read(0, 1, 9));
        assert!(!known.read(0, 7, 0) && known.counted_before(0, 7, file).is_none());
    }

    #[test]
    fn an_edit_is_seen_and_a_row_that_was_not_read_is_new() {
        let mut known = KnownRows::default();
        assert!(
            !known.mark_listed(1, 4, (10, 20), 7) && !known.mark_listed(1, 4, (10, 20), 7),
            "it was not counted yet"
        );
        known.record(1, 4, (1, FileId(0)), Tally::default());
        assert!(known.mark_listed(1, 4, (10, 20), 7));
        assert!(
            !known.mark_listed(1, 4, (10, 21), 7) && !known.mark_listed(1, 4, (10, 21), 7),
            "it was not read since"
        );
        assert!(
            !known.read(1, 4, 2) && !known.mark_listed(1, 4, (10, 21), 7),
            "its content is other"
        );
        known.record(1, 4, (2, FileId(0)), Tally::default());
        assert!(known.mark_listed(1, 4, (10, 21), 7));
        assert!(
            !known.mark_listed(1, 4, (10, 22), 7)
                && known.read(1, 4, 2)
                && known.mark_listed(1, 4, (10, 22), 7)
        );
        assert!(
            known.is_other((1, 4), 8) && !known.is_other((1, 4), 7) && !known.is_other((1, 4), 0)
        );
    }

    #[test]
    fn a_row_takes_little_room() {
        assert!(size_of::<KnownRow>() <= 32);
    }
}
