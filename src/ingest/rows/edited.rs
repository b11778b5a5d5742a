//! Rows that are added, edited and removed: first read in portions, then looked at again and again.
//!
//! A look at a session asks for its last messages, which are those that change, and for a bounded piece of all
//! others in turn, as long as the database was written to since they were looked at last.
//!
//! Invariant: reading in portions ends and leaves no row out, whatever the columns hold that order it. A portion
//! must bring a row that is new, and what no portion brought comes at the end.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::Todo;
use super::session::{COMPARED, News, SessionRows, hash};
use super::telling::AT_ONCE;
use crate::formats::tables::{Edited, Queries};
use crate::source::rows::{Cell, Database, Trouble};

/// Messages that a look asks for with their parts.
const RECENT: i64 = 64;
/// Rows besides these that a look asks for, while nothing is written and while something is.
const PIECE: i64 = 8_192;
const SMALL_PIECE: i64 = 256;
/// Messages that are read at once in the beginning; more if that takes long, which tables without an index do.
const PORTION: i64 = 64;
const LONG: Duration = Duration::from_millis(500);

/// Said of a database whose times and ids cannot be asked for as they lie in it.
const OUT_OF_ORDER: &str =
    "times or ids in this database are damaged; the rest of its rows come as they lie in it";

/// How far the rows of a session are known.
#[derive(Default)]
pub(crate) struct Walk {
    stage: Stage,
    /// What the last look asked for.
    window: Vec<(usize, i64)>,
    /// Whether older rows may have changed since they were looked at.
    is_dirty: bool,
    /// The table, by its number in the list, and the place up to which older rows were looked at.
    round: Option<(usize, i64)>,
    /// A page cannot be read: rows are known by their places alone.
    is_damaged: bool,
}

#[derive(Default)]
enum Stage {
    #[default]
    New,
    Reading(Cursor),
    Known,
}

/// The message up to which rows were told: its time and its id as they lie there, which may be of any type.
struct Cursor {
    after: (Cell, Cell),
    portion: i64,
    /// Rows of no message, and the message before which each stands.
    strays: VecDeque<Row>,
}

/// A row as it is listed.
struct Row {
    table: usize,
    at: i64,
    change: (i64, i64),
    /// Time and id of its message.
    order: (Cell, Cell),
}

/// What is read next, and what is to be said of it.
pub(crate) struct Portion {
    /// What is to be read.
    pub(crate) todo: Vec<Todo>,
    /// Why the order of the rows is not that of the conversation.
    pub(crate) notice: Option<&'static str>,
}

impl Row {
    fn of(cells: &[Cell]) -> Option<Self> {
        let int = |place: usize| cells.get(place).and_then(Cell::int);
        let cell = |place: usize| cells.get(place).cloned().unwrap_or(Cell::Null);
        Some(Self {
            table: usize::try_from(int(0)?).ok()?,
            at: int(1)?,
            change: (int(2).unwrap_or(0), int(3).unwrap_or(0)),
            order: (cell(4), cell(5)),
        })
    }

    fn is_before(&self, other: &Self) -> bool {
        self.order.0.order(&other.order.0).then_with(|| self.order.1.order(&other.order.1)).is_lt()
    }
}

impl Walk {
    /// Whether all rows were looked at since the database was written to.
    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.stage, Stage::New) || (self.round.is_none() && !self.is_dirty)
    }
}

/// A look at the rows of a session.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    /// The session's number.
    pub(crate) number: usize,
    /// Where its rows lie.
    pub(crate) database: &'a Database,
    /// How they are read.
    pub(crate) queries: &'a Queries,
    /// How edited ones are found.
    pub(crate) edited: &'a Edited,
    /// The database was written to since the last look.
    pub(crate) is_touched: bool,
    /// Nobody writes to it, so contents can be compared.
    pub(crate) is_settling: bool,
}

impl SessionRows {
    /// Asks what is new.
    pub(crate) fn look_through(&mut self, look: Look<'_>) -> Result<News, Trouble> {
        if self.walk.is_damaged {
            return self.look_at_places(look);
        }
        let looked = match self.walk.stage {
            Stage::New => self.begin(look.number, look.database, look.edited),
            // Its next portion waits to be read.
            Stage::Reading(_) => Ok(News::More(Vec::new())),
            Stage::Known => {
                self.walk.is_dirty |= look.is_touched;
                self.look_around(look)
            }
        };
        match looked {
            // Each damaged row is told as such then.
            Err(Trouble::Damaged(_)) => self.look_at_places(look),
            news => news,
        }
    }

    /// Gets ready to read all rows.
    fn begin(&mut self, number: usize, database: &Database, edited: &Edited) -> Result<News, Trouble> {
        self.expected = self.count(database, edited)?;
        let mut strays = VecDeque::new();
        database.each(&edited.strays, &[self.key()], &mut |cells| strays.extend(Row::of(&cells)))?;
        let cursor = Cursor { after: (Cell::FIRST, Cell::from("")), portion: PORTION, strays };
        self.walk.stage = Stage::Reading(cursor);
        self.walk.is_dirty = true;
        Ok(News::More(vec![Todo::Portion(number)]))
    }

    /// The next rows to be told, and whether there may be more.
    pub(crate) fn next_portion(
        &mut self,
        number: usize,
        database: &Database,
        (queries, edited): (&Queries, &Edited),
    ) -> Result<Portion, Trouble> {
        let key = self.key();
        let Stage::Reading(cursor) = &mut self.walk.stage else {
            return Ok(Portion { todo: Vec::new(), notice: None });
        };
        let begun = Instant::now();
        let (time, id) = cursor.after.clone();
        let mut rows = Vec::new();
        let next = [key, time, id, Cell::Int(cursor.portion)];
        if let Err(trouble) = database.each(&edited.portion, &next, &mut |cells| rows.extend(Row::of(&cells)))
        {
            if !matches!(trouble, Trouble::Damaged(_)) {
                return Err(trouble);
            }
            let look = Look { number, database, queries, edited, is_touched: false, is_settling: false };
            let News::More(todo) = self.look_at_places(look)? else {
                return Ok(Portion { todo: Vec::new(), notice: None });
            };
            return Ok(Portion { todo, notice: None });
        }
        if begun.elapsed() > LONG {
            cursor.portion = cursor.portion.saturating_mul(4);
        }
        let is_empty = rows.is_empty();
        let known = &self.known;
        rows.retain(|row| !known.has(row.table, row.at));
        let mut told = Vec::new();
        for row in rows {
            while cursor.strays.front().is_some_and(|stray| stray.is_before(&row)) {
                told.extend(cursor.strays.pop_front());
            }
            cursor.after = row.order.clone();
            told.push(row);
        }
        if !told.is_empty() {
            let mut todo = self.list(number, told);
            todo.push(Todo::Portion(number));
            return Ok(Portion { todo, notice: None });
        }
        told.extend(std::mem::take(&mut cursor.strays));
        self.walk.stage = Stage::Known;
        let mut todo = self.list(number, told);
        let left = self.left_out(database, edited)?;
        let notice = (!is_empty).then_some(OUT_OF_ORDER);
        todo.extend(self.list(number, left));
        Ok(Portion { todo, notice })
    }

    fn count(&self, database: &Database, edited: &Edited) -> Result<u64, Trouble> {
        let count = database.value(&edited.count, &[self.key()])?.and_then(|cell| cell.int());
        Ok(count.and_then(|count| u64::try_from(count).ok()).unwrap_or(0))
    }

    /// Rows that no portion brought: what has no time is after nothing and before nothing.
    fn left_out(&self, database: &Database, edited: &Edited) -> Result<Vec<Row>, Trouble> {
        let mut left = Vec::new();
        if self.count(database, edited)? == self.known.len() as u64 {
            return Ok(left);
        }
        let listed = database.each(&edited.places, &[self.key()], &mut |cells| {
            left.extend(Row::of(&cells).filter(|row| !self.known.has(row.table, row.at)));
        });
        match listed {
            // All that can be listed was.
            Err(Trouble::Damaged(_)) => Ok(Vec::new()),
            listed => listed.map(|()| left),
        }
    }

    fn list(&mut self, number: usize, rows: Vec<Row>) -> Vec<Todo> {
        let listed = rows.into_iter().map(|row| {
            self.known.see(row.table, row.at, row.change);
            Todo::Row { session: number, table: row.table, at: row.at }
        });
        listed.collect()
    }

    fn look_around(&mut self, look: Look<'_>) -> Result<News, Trouble> {
        let Look { number, database, edited, .. } = look;
        let mut todo = Vec::new();
        let recent = self.recent(database, edited)?;
        let window: Vec<(usize, i64)> = recent.iter().map(|row| (row.table, row.at)).collect();
        for row in recent {
            if !self.known.see(row.table, row.at, row.change) {
                todo.push(Todo::Row { session: number, table: row.table, at: row.at });
            }
        }
        for (table, at) in self.walk.window.iter().filter(|row| !window.contains(row)) {
            let Some(sql) = edited.exists.get(*table) else { continue };
            if database.value(sql, &[self.key(), Cell::Int(*at)])?.is_none() {
                return Ok(News::Anew("rows were removed"));
            }
        }
        self.walk.window = window;
        // Where no event tells of changes, what was found tells that there were some.
        self.walk.is_dirty |= !todo.is_empty();
        if self.walk.round.is_none() && self.walk.is_dirty {
            self.walk.round = Some((0, i64::MIN));
            // What was seen of the round while rows were written may be old when it ends.
            self.walk.is_dirty = !look.is_settling;
        }
        let mut same = Vec::new();
        if !self.look_at_piece(look, &mut todo, &mut same)? {
            return Ok(News::Anew("rows were removed"));
        }
        self.compare(look, same, &mut todo)?;
        self.expected = self.known.len() as u64;
        Ok(News::More(todo))
    }

    /// The last messages with their parts, and what belongs to none: back to a message that is known.
    fn recent(&self, database: &Database, edited: &Edited) -> Result<Vec<Row>, Trouble> {
        let mut messages = RECENT;
        loop {
            let mut rows = Vec::new();
            let asked = [self.key(), Cell::Int(messages)];
            database.each(&edited.recent, &asked, &mut |cells| rows.extend(Row::of(&cells)))?;
            let reaches = |table: usize| {
                let mut of_table = rows.iter().filter(|row: &&Row| row.table == table);
                let oldest = of_table.next();
                oldest.is_none_or(|row| self.known.has(table, row.at))
                    || i64::try_from(of_table.count() + 1).is_ok_and(|count| count < messages)
            };
            if edited.leading.iter().all(|table| reaches(*table)) {
                return Ok(rows);
            }
            messages = messages.saturating_mul(8);
        }
    }

    /// Looks at some of all rows, in the order of their places. Answers whether none was removed.
    fn look_at_piece(
        &mut self,
        look: Look<'_>,
        todo: &mut Vec<Todo>,
        same: &mut Vec<(usize, i64)>,
    ) -> Result<bool, Trouble> {
        let Look { number, database, edited, .. } = look;
        let mut left = if look.is_settling { PIECE } else { SMALL_PIECE };
        while left > 0
            && let Some((place, after)) = self.walk.round
        {
            let Some((table, sql)) = edited.beyond.get(place) else {
                self.walk.round = None;
                break;
            };
            let (mut seen, mut last) = (0, after);
            let asked = [self.key(), Cell::Int(after), Cell::Int(left)];
            let known = &mut self.known;
            database.each(sql, &asked, &mut |cells| {
                let mut numbers = cells.iter().map(|cell| cell.int().unwrap_or(0));
                let mut next = || numbers.next().unwrap_or(0);
                let at = next();
                (seen, last) = (seen + 1, at);
                if known.see(*table, at, (next(), next())) {
                    same.push((*table, at));
                } else {
                    todo.push(Todo::Row { session: number, table: *table, at });
                }
            })?;
            let is_end = seen < left;
            let up_to = if is_end { i64::MAX } else { last };
            if i64::try_from(self.known.count(*table, (after, up_to))) != Ok(seen) {
                return Ok(false);
            }
            left -= seen;
            self.walk.round = Some(if is_end { (place + 1, i64::MIN) } else { (place, last) });
        }
        Ok(true)
    }

    /// Finds rows that were edited without a trace in their time and size, if there is the time for that.
    fn compare(&self, look: Look<'_>, same: Vec<(usize, i64)>, todo: &mut Vec<Todo>) -> Result<(), Trouble> {
        if !look.is_settling || self.known.bytes() > COMPARED {
            return Ok(());
        }
        let Look { number, database, queries, .. } = look;
        let mut rest = same.as_slice();
        while !rest.is_empty() {
            let mut questions = rest.iter().take(AT_ONCE).map_while(|(table, at)| {
                Some((queries.tables.get(*table)?.one.as_str(), vec![self.key(), Cell::Int(*at)]))
            });
            let answers = database.values(&mut questions)?;
            for ((table, at), answer) in rest.iter().zip(&answers) {
                let cell = match answer {
                    // A damaged row was told as such.
                    Err(Trouble::Damaged(_)) => None,
                    cell => cell.clone()?,
                };
                if cell.is_some_and(|cell| self.known.is_told_otherwise(*table, *at, hash(&cell.content()))) {
                    todo.push(Todo::Row { session: number, table: *table, at: *at });
                }
            }
            rest = rest.get(answers.len().max(1)..).unwrap_or_default();
        }
        Ok(())
    }

    /// All rows by their places, which indexes tell.
    fn look_at_places(&mut self, look: Look<'_>) -> Result<News, Trouble> {
        let Look { number, database, edited, .. } = look;
        self.walk.is_damaged = true;
        self.walk.stage = Stage::Known;
        (self.walk.is_dirty, self.walk.round) = (false, None);
        let (mut todo, mut same, mut seen) = (Vec::new(), Vec::new(), 0);
        let known = &mut self.known;
        database.each(&edited.places, &[Cell::from(self.id.as_str())], &mut |cells| {
            let Some(Row { table, at, .. }) = Row::of(&cells) else { return };
            seen += 1;
            if known.see(table, at, (0, 0)) {
                same.push((table, at));
            } else {
                todo.push(Todo::Row { session: number, table, at });
            }
        })?;
        self.expected = seen as u64;
        if self.known.len() > seen {
            return Ok(News::Anew("rows were removed"));
        }
        self.compare(look, same, &mut todo)?;
        Ok(News::More(todo))
    }
}

#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests;
