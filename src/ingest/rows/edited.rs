//! Rows that are added, edited and removed: first read in portions, then looked at again and again.
//!
//! A look at a session asks for its last messages, which are those that change, and for a bounded piece of all
//! others in turn, as long as the database was written to since they were looked at last.
//!
//! Invariant: reading in portions ends and leaves no row out, whatever the columns hold that order it. A portion
//! must bring a row that is new, and what no portion brought comes at the end.

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use super::known::{Known, hash};
use super::look::{AT_ONCE, Look, News, Todo};
use crate::formats::tables::Edited;
use crate::source::rows::{Cell, Failure};

/// Messages that a look asks for with their parts.
const RECENT: i64 = 64;
/// Rows besides these that a look asks for, while nothing is written and while something is.
const PIECE: i64 = 8_192;
const SMALL_PIECE: i64 = 256;
/// Messages that are read at once in the beginning; more if that takes long, which tables without an index do.
const PORTION: i64 = 64;
const LONG: Duration = Duration::from_millis(500);
/// Contents of rows are compared up to this sum; above it their times and sizes must do.
const COMPARED: u64 = 64 << 20;

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
    /// What a look had found before it failed. It comes before what the next one finds, for it was written earlier.
    put_off: Vec<Todo>,
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

/// The message up to which rows were read: its time and its id as they lie there, which may be of any type.
struct Cursor {
    after: (Cell, Cell),
    portion: i64,
    /// How many rows there were in the beginning.
    expected: u64,
    /// Rows of no message, and the message before which each stands.
    strays: VecDeque<ListedRow>,
}

/// A row as it is listed.
struct ListedRow {
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

/// Rows that a look has found.
#[derive(Default)]
struct Found {
    /// Those that are to be read.
    todo: Vec<Todo>,
    /// Tables and places of those that are listed as they were.
    same: Vec<(usize, i64)>,
}

impl Found {
    fn add(&mut self, look: Look<'_>, (table, at): (usize, i64), is_same: bool) {
        if is_same {
            self.same.push((table, at));
        } else {
            self.todo.push(Todo::Row { session: look.number, table, at });
        }
    }
}

impl ListedRow {
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

    /// How many rows there are, as far as these are known.
    pub(crate) fn expected(&self, known: &Known) -> u64 {
        match &self.stage {
            Stage::New => 0,
            Stage::Reading(cursor) => cursor.expected,
            Stage::Known => known.len() as u64,
        }
    }

    /// Asks what is new.
    pub(crate) fn look(
        &mut self,
        look: Look<'_>,
        edited: &Edited,
        known: &mut Known,
    ) -> Result<News, Failure> {
        if self.is_damaged {
            return self.look_at_places(look, edited, known);
        }
        let looked = match self.stage {
            Stage::New => self.begin(look, edited),
            // Its next portion waits to be read.
            Stage::Reading(_) => Ok(News::More(Vec::new())),
            Stage::Known => {
                self.is_dirty |= look.is_touched;
                let mut found = Found { todo: std::mem::take(&mut self.put_off), ..Found::default() };
                let looked = self.look_around(look, edited, known, &mut found);
                if looked.is_err() {
                    // The next one may find the same rows again.
                    let mut seen = HashSet::new();
                    found.todo.retain(|todo| match todo {
                        Todo::Row { table, at, .. } => seen.insert((*table, *at)),
                        _ => true,
                    });
                    self.put_off = std::mem::take(&mut found.todo);
                }
                looked.map(|anew| anew.map_or(News::More(found.todo), News::Anew))
            }
        };
        match looked {
            // Each damaged row shows as such then.
            Err(Failure::Damaged(_)) => self.look_at_places(look, edited, known),
            Err(failure) => {
                self.is_dirty = true;
                Err(failure)
            }
            news => news,
        }
    }

    /// Gets ready to read all rows.
    fn begin(&mut self, look: Look<'_>, edited: &Edited) -> Result<News, Failure> {
        let expected = count(look, edited)?;
        let mut strays = VecDeque::new();
        look.database
            .each(&edited.strays, &[look.key()], &mut |cells| strays.extend(ListedRow::of(&cells)))?;
        let cursor = Cursor { after: (Cell::FIRST, Cell::from("")), portion: PORTION, expected, strays };
        self.stage = Stage::Reading(cursor);
        self.is_dirty = true;
        Ok(News::More(vec![Todo::Portion(look.number)]))
    }

    /// The next rows to be read, and whether there may be more.
    pub(crate) fn next_portion(
        &mut self,
        look: Look<'_>,
        edited: &Edited,
        known: &mut Known,
    ) -> Result<Portion, Failure> {
        let Stage::Reading(cursor) = &mut self.stage else {
            return Ok(Portion { todo: Vec::new(), notice: None });
        };
        let begun = Instant::now();
        let (time, id) = cursor.after.clone();
        let mut rows = Vec::new();
        let next = [look.key(), time, id, Cell::Int(cursor.portion)];
        if let Err(failure) =
            look.database.each(&edited.portion, &next, &mut |cells| rows.extend(ListedRow::of(&cells)))
        {
            if !matches!(failure, Failure::Damaged(_)) {
                return Err(failure);
            }
            let News::More(todo) = self.look_at_places(look, edited, known)? else {
                return Ok(Portion { todo: Vec::new(), notice: None });
            };
            return Ok(Portion { todo, notice: None });
        }
        if begun.elapsed() > LONG {
            cursor.portion = cursor.portion.saturating_mul(4);
        }
        let is_empty = rows.is_empty();
        rows.retain(|row| !known.has(row.table, row.at));
        let mut next_rows = Vec::new();
        for row in rows {
            while cursor.strays.front().is_some_and(|stray| stray.is_before(&row)) {
                next_rows.extend(cursor.strays.pop_front());
            }
            cursor.after = row.order.clone();
            next_rows.push(row);
        }
        if !next_rows.is_empty() {
            let mut todo = list(look, next_rows, known);
            todo.push(Todo::Portion(look.number));
            return Ok(Portion { todo, notice: None });
        }
        let left = left_out(look, edited, (known, &cursor.strays))?;
        next_rows.extend(std::mem::take(&mut cursor.strays));
        next_rows.extend(left);
        self.stage = Stage::Known;
        let notice = (!is_empty).then_some(OUT_OF_ORDER);
        let todo = list(look, next_rows, known);
        Ok(Portion { todo, notice })
    }

    /// Answers why all must be read again, if so.
    fn look_around(
        &mut self,
        look: Look<'_>,
        edited: &Edited,
        known: &mut Known,
        found: &mut Found,
    ) -> Result<Option<&'static str>, Failure> {
        let recent = recent(look, edited, known)?;
        let window: Vec<(usize, i64)> = recent.iter().map(|row| (row.table, row.at)).collect();
        for row in recent {
            if !known.see(row.table, row.at, row.change) {
                found.todo.push(Todo::Row { session: look.number, table: row.table, at: row.at });
            }
        }
        for (table, at) in self.window.iter().filter(|row| !window.contains(row)) {
            let Some(sql) = edited.exists.get(*table) else { continue };
            if look.database.value(sql, &[look.key(), Cell::Int(*at)])?.is_none() {
                return Ok(Some("rows were removed"));
            }
        }
        self.window = window;
        // Where no event comes with a change, what was found shows that there were some.
        self.is_dirty |= !found.todo.is_empty();
        if self.round.is_none() && self.is_dirty {
            self.round = Some((0, i64::MIN));
            // What was seen of the round while rows were written may be old when it ends.
            self.is_dirty = !look.is_settling;
        }
        if !self.look_at_piece(look, edited, known, found)? {
            return Ok(Some("rows were removed"));
        }
        compare(look, found, known)?;
        Ok(None)
    }

    /// Looks at some of all rows, in the order of their places. Answers whether none was removed.
    fn look_at_piece(
        &mut self,
        look: Look<'_>,
        edited: &Edited,
        known: &mut Known,
        found: &mut Found,
    ) -> Result<bool, Failure> {
        let mut left = if look.is_settling { PIECE } else { SMALL_PIECE };
        while left > 0
            && let Some((place, after)) = self.round
        {
            let Some((table, sql)) = edited.beyond.get(place) else {
                self.round = None;
                break;
            };
            let (mut seen, mut last) = (0, after);
            let asked = [look.key(), Cell::Int(after), Cell::Int(left)];
            look.database.each(sql, &asked, &mut |cells| {
                let mut numbers = cells.iter().map(|cell| cell.int().unwrap_or(0));
                let mut next = || numbers.next().unwrap_or(0);
                let at = next();
                (seen, last) = (seen + 1, at);
                found.add(look, (*table, at), known.see(*table, at, (next(), next())));
            })?;
            let is_end = seen < left;
            let up_to = if is_end { i64::MAX } else { last };
            if i64::try_from(known.count(*table, (after, up_to))) != Ok(seen) {
                return Ok(false);
            }
            left -= seen;
            self.round = Some(if is_end { (place + 1, i64::MIN) } else { (place, last) });
        }
        Ok(true)
    }

    /// All rows by their places, which indexes hold.
    fn look_at_places(
        &mut self,
        look: Look<'_>,
        edited: &Edited,
        known: &mut Known,
    ) -> Result<News, Failure> {
        self.is_damaged = true;
        self.stage = Stage::Known;
        (self.is_dirty, self.round) = (false, None);
        let (mut found, mut seen) = (Found::default(), 0);
        look.database.each(&edited.places, &[look.key()], &mut |cells| {
            let Some(ListedRow { table, at, .. }) = ListedRow::of(&cells) else { return };
            seen += 1;
            found.add(look, (table, at), known.see(table, at, (0, 0)));
        })?;
        if known.len() > seen {
            return Ok(News::Anew("rows were removed"));
        }
        compare(look, &mut found, known)?;
        Ok(News::More(found.todo))
    }
}

fn count(look: Look<'_>, edited: &Edited) -> Result<u64, Failure> {
    let count = look.database.value(&edited.count, &[look.key()])?.and_then(|cell| cell.int());
    Ok(count.and_then(|count| u64::try_from(count).ok()).unwrap_or(0))
}

/// Rows that no portion brought and that are no strays: what has no time is after nothing and before nothing.
fn left_out(
    look: Look<'_>,
    edited: &Edited,
    (known, strays): (&Known, &VecDeque<ListedRow>),
) -> Result<Vec<ListedRow>, Failure> {
    let mut left = Vec::new();
    if count(look, edited)? == (known.len() + strays.len()) as u64 {
        return Ok(left);
    }
    let strays: HashSet<(usize, i64)> = strays.iter().map(|row| (row.table, row.at)).collect();
    let is_left = |row: &ListedRow| !known.has(row.table, row.at) && !strays.contains(&(row.table, row.at));
    let listed = look.database.each(&edited.places, &[look.key()], &mut |cells| {
        left.extend(ListedRow::of(&cells).filter(is_left));
    });
    match listed {
        // All that can be listed was.
        Err(Failure::Damaged(_)) => Ok(Vec::new()),
        listed => listed.map(|()| left),
    }
}

/// Notes rows as listed; all of them are to be read.
fn list(look: Look<'_>, rows: Vec<ListedRow>, known: &mut Known) -> Vec<Todo> {
    let listed = rows.into_iter().map(|row| {
        known.see(row.table, row.at, row.change);
        Todo::Row { session: look.number, table: row.table, at: row.at }
    });
    listed.collect()
}

/// The last messages with their parts, and what belongs to none: back to a message that is known.
fn recent(look: Look<'_>, edited: &Edited, known: &Known) -> Result<Vec<ListedRow>, Failure> {
    let mut messages = RECENT;
    loop {
        let mut rows = Vec::new();
        let asked = [look.key(), Cell::Int(messages)];
        look.database.each(&edited.recent, &asked, &mut |cells| rows.extend(ListedRow::of(&cells)))?;
        let reaches = |table: usize| {
            let mut of_table = rows.iter().filter(|row: &&ListedRow| row.table == table);
            let oldest = of_table.next();
            oldest.is_none_or(|row| known.has(table, row.at))
                || i64::try_from(of_table.count() + 1).is_ok_and(|count| count < messages)
        };
        if edited.leading.iter().all(|table| reaches(*table)) {
            return Ok(rows);
        }
        messages = messages.saturating_mul(8);
    }
}

/// Finds rows that were edited without a trace in their time and size, if there is the time for that.
fn compare(look: Look<'_>, found: &mut Found, known: &Known) -> Result<(), Failure> {
    if !look.is_settling || known.bytes() > COMPARED {
        return Ok(());
    }
    let Look { number, database, queries, .. } = look;
    let mut rest = found.same.as_slice();
    while !rest.is_empty() {
        let mut questions = rest.iter().take(AT_ONCE).map_while(|(table, at)| {
            Some((queries.tables.get(*table)?.one.as_str(), vec![look.key(), Cell::Int(*at)]))
        });
        let answers = database.values(&mut questions)?;
        for ((table, at), answer) in rest.iter().zip(&answers) {
            let cell = match answer {
                // A damaged row shows as such.
                Err(Failure::Damaged(_)) => None,
                cell => cell.clone()?,
            };
            if cell.is_some_and(|cell| known.differs(*table, *at, hash(&cell.content()))) {
                found.todo.push(Todo::Row { session: number, table: *table, at: *at });
            }
        }
        rest = rest.get(answers.len().max(1)..).unwrap_or_default();
    }
    Ok(())
}

#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests;
