//! Lists the rows of a session: first in portions, for reading, then again and again for changes.
//!
//! A scan lists the single rows of a session and the last rows of each table, which are those that
//! come and change; of all others a bounded piece in turn, until each was listed after the last
//! write. A row is read again if its time or its size has changed, if no row is newer (a clock of
//! seconds does not distinguish two edits), and in any case when writing stops after any change:
//! some agents edit rows without a new time, and the write may have been for another session of the
//! database.
//!
//! Invariant: reading in portions ends and omits no row, whatever the columns that order it
//! contain. A portion must bring a new row, and rows that no portion brought come at the end.

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use super::known::KnownRows;
use super::look::{ListedRow, ReadStep, ScanParameters, ScanResult};
use crate::source::rows::{DatabaseFailure, SqlValue};

/// Last rows of each table that a scan lists again.
const TAIL: usize = 256;
/// Limit of the new rows of a table in a scan; further ones wait for the next.
const NEW: i64 = 8_192;
/// Older rows that a scan lists, while nothing is written and while something is.
const PIECE: i64 = 8_192;
const SMALL_PIECE: i64 = 256;
/// Messages that are read at once in the first reading; more if listing them takes long, as in
/// tables without an index.
const PORTION: i64 = 64;
const LONG: Duration = Duration::from_millis(500);
/// Sum of bytes up to which all rows are read again to compare their contents; above it, times and
/// sizes must suffice.
const COMPARED: u64 = 64 << 20;

const REMOVED: &str = "rows were removed";
/// Notice for a database whose times and ids cannot be queried in stored order.
const OUT_OF_ORDER: &str =
    "times or ids in this database are damaged; the rest of its rows come as they lie in it";

/// State of the listing.
#[derive(Default)]
pub(crate) struct RowWalk {
    /// Rows that were listed or read.
    pub(crate) known: KnownRows,
    stage: WalkStage,
    /// Single rows of the session.
    single: Vec<(usize, i64)>,
    /// Time of the newest change.
    latest: i64,
    /// Whether older rows may have changed since they were listed.
    is_stale: bool,
    /// Whether any row was new or changed since all contents were compared.
    has_changed: bool,
    /// Current table and row id of the round through older rows.
    cursor: Option<(usize, i64)>,
    /// Whether a page of the database cannot be read: rows are listed by their ids alone.
    is_damaged: bool,
}

#[derive(Default)]
enum WalkStage {
    #[default]
    New,
    Reading(Cursor),
    Known,
}

/// The last message that was read: its time and id as stored, which may be of any type.
struct Cursor {
    after: (SqlValue, SqlValue),
    portion: i64,
    /// Number of rows at the start.
    expected: u64,
    /// Rows of no message, and the message before which each is read.
    strays: VecDeque<ListedRow>,
}

/// Rows to read next, and a notice about them.
#[derive(Default)]
pub(crate) struct RowPortion {
    pub(crate) todo: Vec<ReadStep>,
    /// Why the order of the rows is not that of the conversation.
    pub(crate) notice: Option<&'static str>,
}

/// A range of rows of a table.
struct RowRange {
    table: usize,
    /// Row ids: above the first, up to the second.
    range: (i64, i64),
    rows: Vec<ListedRow>,
}

impl RowRange {
    /// Lists at most `most` rows in a range of ids.
    fn list(
        look: ScanParameters<'_>,
        (table, sql): &(usize, String),
        (after, end): (i64, i64),
        most: i64,
    ) -> Result<Self, DatabaseFailure> {
        let mut rows = look.list(sql, [SqlValue::Int(after), SqlValue::Int(most)])?;
        let is_end = i64::try_from(rows.len()).is_ok_and(|count| count < most);
        let last = rows
            .last()
            .filter(|row| !is_end && row.at < end)
            .map_or(end, |row| row.at);
        rows.retain(|row| row.at <= last);
        Ok(Self {
            table: *table,
            range: (after, last),
            rows,
        })
    }

    /// Whether a listed row is missing now, or another one has its id.
    fn has_missing(&self, known: &KnownRows) -> bool {
        let before = self
            .rows
            .iter()
            .filter(|row| known.has(row.table, row.at))
            .count();
        known.count(self.table, self.range) != before
            || self
                .rows
                .iter()
                .any(|row| known.is_other(row.place(), row.id))
    }
}

impl RowWalk {
    /// Whether all rows were compared since the database was written to.
    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.stage, WalkStage::New) || (self.cursor.is_none() && !self.is_stale)
    }

    /// Whether no round through older rows is in progress.
    pub(crate) fn is_between_rounds(&self) -> bool {
        self.cursor.is_none()
    }

    /// Number of rows, as far as they are listed.
    pub(crate) fn expected(&self) -> u64 {
        match &self.stage {
            WalkStage::New => 0,
            WalkStage::Reading(cursor) => cursor.expected,
            WalkStage::Known => self.known.len() as u64,
        }
    }

    pub(crate) fn scan(&mut self, look: ScanParameters<'_>) -> Result<ScanResult, DatabaseFailure> {
        let looked = match self.stage {
            _ if self.is_damaged => self.scan_all(look),
            WalkStage::New => self.begin(look),
            // Its next portion is queued already.
            WalkStage::Reading(_) => Ok(ScanResult::More(Vec::new())),
            WalkStage::Known => self.scan_changed(look),
        };
        match looked {
            // Then each damaged row is shown as such.
            Err(DatabaseFailure::Damaged(_)) if !self.is_damaged => self.scan_all(look),
            Err(failure) => {
                self.is_stale = true;
                Err(failure)
            }
            news => news,
        }
    }

    /// Prepares the first reading.
    fn begin(&mut self, look: ScanParameters<'_>) -> Result<ScanResult, DatabaseFailure> {
        let expected = count(look)?;
        let single = single(look)?;
        self.single = single.iter().map(ListedRow::place).collect();
        let mut strays = match &look.queries.listing.strays {
            Some(sql) => look.list(sql, [])?,
            None => Vec::new(),
        };
        strays.extend(single);
        strays.sort_by(ListedRow::order);
        let after = (SqlValue::FIRST, SqlValue::from(""));
        self.stage = WalkStage::Reading(Cursor {
            after,
            portion: PORTION,
            expected,
            strays: VecDeque::from(strays),
        });
        (self.is_stale, self.has_changed) = (true, true);
        let mut todo = vec![ReadStep::Portion(look.number)];
        if expected == 0 && look.queries.archive.is_some() {
            todo.push(ReadStep::Archive(look.number));
        }
        Ok(ScanResult::More(todo))
    }

    /// The next rows to read, and whether there may be more.
    pub(crate) fn next_portion(
        &mut self,
        look: ScanParameters<'_>,
    ) -> Result<RowPortion, DatabaseFailure> {
        let WalkStage::Reading(cursor) = &mut self.stage else {
            return Ok(RowPortion::default());
        };
        let begun = Instant::now();
        let (time, id) = cursor.after.clone();
        let asked = look.list(
            &look.queries.listing.portion,
            [time, id, SqlValue::Int(cursor.portion)],
        );
        let mut rows = match asked {
            Err(DatabaseFailure::Damaged(_)) => {
                let ScanResult::More(todo) = self.scan_all(look)? else {
                    return Ok(RowPortion::default());
                };
                return Ok(RowPortion { todo, notice: None });
            }
            asked => asked?,
        };
        if begun.elapsed() > LONG && rows.iter().all(|row| row.record.is_none()) {
            cursor.portion = cursor.portion.saturating_mul(4);
        }
        let is_empty = rows.is_empty();
        rows.retain(|row| !self.known.has(row.table, row.at));
        let mut next_rows = Vec::new();
        for row in rows {
            while cursor
                .strays
                .front()
                .is_some_and(|stray| stray.order(&row).is_lt())
            {
                next_rows.extend(cursor.strays.pop_front());
            }
            cursor.after = row.order.clone();
            next_rows.push(row);
        }
        if !next_rows.is_empty() {
            let mut todo = self.list(look, next_rows);
            todo.push(ReadStep::Portion(look.number));
            return Ok(RowPortion { todo, notice: None });
        }
        let left = unlisted_rows(look, (&self.known, &cursor.strays))?;
        next_rows.extend(std::mem::take(&mut cursor.strays));
        next_rows.extend(left);
        self.stage = WalkStage::Known;
        let notice = (!is_empty).then_some(OUT_OF_ORDER);
        let todo = self.list(look, next_rows);
        Ok(RowPortion { todo, notice })
    }

    /// Marks rows as listed; all of them are to be read.
    fn list(&mut self, look: ScanParameters<'_>, rows: Vec<ListedRow>) -> Vec<ReadStep> {
        let listed = rows.into_iter().map(|row| {
            row.mark_listed(&mut self.known);
            self.latest = self.latest.max(row.change.0);
            row.into_step(look.number)
        });
        listed.collect()
    }

    /// Lists rows that may have changed. All queries run before any row is marked, so a failed scan
    /// is repeated in full.
    fn scan_changed(&mut self, look: ScanParameters<'_>) -> Result<ScanResult, DatabaseFailure> {
        self.is_stale |= look.is_touched;
        let single = single(look)?;
        let mut pieces = Vec::new();
        for of_table in &look.queries.listing.beyond {
            let after = self.known.before_last(of_table.0, TAIL);
            pieces.push(RowRange::list(look, of_table, (after, i64::MAX), NEW)?);
        }
        let tails: Vec<i64> = pieces.iter().map(|piece| piece.range.0).collect();
        let has_more = pieces.iter().any(|piece| piece.range.1 < i64::MAX);
        let begins = self.cursor.is_none() && self.is_stale;
        let mut round = if begins {
            Some((0, i64::MIN))
        } else {
            self.cursor
        };
        let mut left = if look.is_settling { PIECE } else { SMALL_PIECE };
        while let Some((place, after)) = round.filter(|_| left > 0) {
            let (Some(of_table), Some(end)) =
                (look.queries.listing.beyond.get(place), tails.get(place))
            else {
                round = None;
                break;
            };
            if after >= *end {
                round = Some((place + 1, i64::MIN));
                continue;
            }
            let piece = RowRange::list(look, of_table, (after, *end), left)?;
            left = left.saturating_sub(i64::try_from(piece.rows.len()).unwrap_or(left));
            round = Some((place, piece.range.1));
            pieces.push(piece);
        }
        let is_gone = self
            .single
            .iter()
            .any(|place| single.iter().all(|row| row.place() != *place));
        if is_gone || pieces.iter().any(|piece| piece.has_missing(&self.known)) {
            return Ok(ScanResult::Restart(REMOVED));
        }
        self.single = single.iter().map(ListedRow::place).collect();
        self.cursor = round;
        // Rows listed during writes may be outdated when the round ends.
        self.is_stale = has_more || (self.is_stale && !(begins && look.is_settling));
        let of_content = look.is_settling && self.has_changed && self.known.bytes() <= COMPARED;
        let mut rows: Vec<ListedRow> = pieces.into_iter().flat_map(|piece| piece.rows).collect();
        let latest = rows
            .iter()
            .map(|row| row.change.0)
            .fold(self.latest, i64::max);
        rows.retain(|row| {
            !row.mark_listed(&mut self.known) || of_content || row.change.0 >= self.latest
        });
        self.latest = latest;
        // Without events for changes, the result shows that there were some.
        let is_news = rows.iter().any(|row| self.known.is_due(row.table, row.at));
        self.is_stale |= is_news;
        self.has_changed =
            (self.has_changed || is_news) && !(look.is_settling && self.is_settled());
        rows.sort_by(|one, other| one.order(other).then(one.place().cmp(&other.place())));
        for row in &single {
            row.mark_listed(&mut self.known);
        }
        Ok(ScanResult::More(
            single
                .into_iter()
                .chain(rows)
                .map(|row| row.into_step(look.number))
                .collect(),
        ))
    }

    /// Lists all rows by their ids, which indexes contain.
    fn scan_all(&mut self, look: ScanParameters<'_>) -> Result<ScanResult, DatabaseFailure> {
        self.is_damaged = true;
        self.stage = WalkStage::Known;
        (self.is_stale, self.cursor) = (false, None);
        let mut rows = look.list(&look.queries.listing.places, [])?;
        if self.known.len() > rows.len() {
            return Ok(ScanResult::Restart(REMOVED));
        }
        let of_content = look.is_settling && self.known.bytes() <= COMPARED;
        rows.retain(|row| !row.mark_listed(&mut self.known) || of_content);
        Ok(ScanResult::More(
            rows.into_iter()
                .map(|row| row.into_step(look.number))
                .collect(),
        ))
    }
}

/// The single rows of a session.
fn single(look: ScanParameters<'_>) -> Result<Vec<ListedRow>, DatabaseFailure> {
    match &look.queries.listing.single {
        Some(sql) => look.list(sql, []),
        None => Ok(Vec::new()),
    }
}

fn count(look: ScanParameters<'_>) -> Result<u64, DatabaseFailure> {
    let count = look
        .database
        .value(&look.queries.listing.count, &[look.key()])?
        .and_then(|cell| cell.int());
    Ok(count
        .and_then(|count| u64::try_from(count).ok())
        .unwrap_or(0))
}

/// Rows that no portion brought and that are no strays: a missing time is neither greater nor less
/// than another.
fn unlisted_rows(
    look: ScanParameters<'_>,
    (known, strays): (&KnownRows, &VecDeque<ListedRow>),
) -> Result<Vec<ListedRow>, DatabaseFailure> {
    if count(look)? == (known.len() + strays.len()) as u64 {
        return Ok(Vec::new());
    }
    let strays: HashSet<(usize, i64)> = strays.iter().map(ListedRow::place).collect();
    match look.list(&look.queries.listing.places, []) {
        // Everything that can be listed was.
        Err(DatabaseFailure::Damaged(_)) => Ok(Vec::new()),
        rows => {
            let is_left =
                |row: &ListedRow| !known.has(row.table, row.at) && !strays.contains(&row.place());
            Ok(rows?.into_iter().filter(is_left).collect())
        }
    }
}

#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests;
