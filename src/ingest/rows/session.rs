//! One session's rows: what of them was told, and what a look finds to be new.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hasher;
use std::path::{Path, PathBuf};

use super::Todo;
use crate::formats::tables::{Growth, Queries};
use crate::ingest::files::{Files, Kind};
use crate::ingest::teller::Teller;
use crate::model::edit::{Feed, MetaEdit};
use crate::model::record::FileId;
use crate::model::tally::Tally;
use crate::model::text::Text;
use crate::source::rows::{Cell, Database, Trouble};

/// Appended rows that are read at once.
const CHUNK: i64 = 64;
/// Contents of rows are compared up to this sum; above it their times and sizes must do.
const COMPARED: u64 = 64 << 20;

/// The place of an appended row, and the row if it was read.
pub type Appended = (i64, Option<Vec<u8>>);

/// What a look finds.
pub enum News {
    /// Rows to be read.
    More(Vec<Todo>),
    /// All must be read again; says why.
    Anew(&'static str),
}

/// The rows of one session.
pub struct SessionRows {
    /// Its id.
    pub id: String,
    /// The name by which another session asked for it.
    pub lane: Option<String>,
    /// How many rows it had at the last look.
    pub expected: u64,
    files: Vec<Option<(FileId, Kind, PathBuf)>>,
    generation: Option<Cell>,
    /// The place of the last appended row that was read, and how many were.
    last: i64,
    appended: u64,
    abandoned: BTreeSet<i64>,
    known: HashMap<(usize, i64), Known>,
    looks: u32,
    facts: Vec<MetaEdit>,
}

/// A row that was told, or is about to be.
#[derive(Default)]
struct Known {
    changed: i64,
    bytes: i64,
    hash: Option<u64>,
    told: Told,
    look: u32,
}

/// What a row counted. Most count one fate and nothing else.
#[derive(Default)]
enum Told {
    #[default]
    Nothing,
    Shown,
    Merged,
    Other(Box<Tally>),
}

impl Told {
    fn of(tally: &Tally) -> Self {
        if *tally == Self::Shown.tally() {
            Self::Shown
        } else if *tally == Self::Merged.tally() {
            Self::Merged
        } else {
            Self::Other(Box::new(tally.clone()))
        }
    }

    fn tally(&self) -> Tally {
        match self {
            Self::Nothing => Tally::default(),
            Self::Shown => Tally { shown: 1, ..Tally::default() },
            Self::Merged => Tally { merged: 1, ..Tally::default() },
            Self::Other(tally) => (**tally).clone(),
        }
    }
}

impl SessionRows {
    /// A session of which nothing is known yet.
    pub fn new(id: String, lane: Option<String>) -> Self {
        Self {
            id,
            lane,
            expected: 0,
            files: Vec::new(),
            generation: None,
            last: i64::MIN,
            appended: 0,
            abandoned: BTreeSet::new(),
            known: HashMap::new(),
            looks: 0,
            facts: Vec::new(),
        }
    }

    /// Asks what is new. `is_settling`: times and sizes say that nothing is, so contents are compared.
    pub fn look(
        &mut self,
        number: usize,
        database: &Database,
        queries: &Queries,
        is_settling: bool,
    ) -> Result<News, Trouble> {
        if let Some(sql) = &queries.generation {
            // None yet is a generation too.
            let generation = Some(database.value(sql, &[self.key()])?.unwrap_or(Cell::Null));
            if self.generation.is_some() && self.generation != generation {
                return Ok(News::Anew("rewritten by its agent"));
            }
            self.generation = generation;
        }
        match &queries.growth {
            Growth::Appended { count, abandoned, .. } => {
                self.look_beyond(number, database, (count, abandoned.as_deref(), queries))
            }
            Growth::Edited { listing, places } => {
                match self.look_through(number, database, (listing, queries), is_settling) {
                    // Each damaged row is told as such then.
                    Err(Trouble::Damaged(_)) => {
                        self.look_through(number, database, (places, queries), is_settling)
                    }
                    news => news,
                }
            }
        }
    }

    fn look_beyond(
        &mut self,
        number: usize,
        database: &Database,
        (count, abandoned, queries): (&str, Option<&str>, &Queries),
    ) -> Result<News, Trouble> {
        let up_to = |at: i64| -> Result<u64, Trouble> {
            let count = database.value(count, &[self.key(), Cell::Int(at)])?;
            Ok(count.and_then(|cell| cell.int()).and_then(|n| u64::try_from(n).ok()).unwrap_or(0))
        };
        if self.appended > 0 && up_to(self.last)? != self.appended {
            return Ok(News::Anew("rows were removed"));
        }
        let is_first = self.looks == 0;
        self.expected = if is_first { up_to(i64::MAX)? } else { self.expected };
        self.looks += 1;
        let mut todo = Vec::new();
        if let Some(sql) = abandoned {
            let mut now = BTreeSet::new();
            database.each(sql, &[self.key()], &mut |row| now.extend(row.first().and_then(Cell::int)))?;
            let changed = self.abandoned.symmetric_difference(&now).filter(|at| **at <= self.last);
            todo.extend(changed.map(|at| Todo::Row { session: number, table: 0, at: *at }));
            for row in &todo {
                if let Todo::Row { at, .. } = row
                    && let Some(known) = self.known.get_mut(&(0, *at))
                {
                    known.hash = None;
                }
            }
            self.abandoned = now;
        }
        todo.push(Todo::More(number));
        if is_first && self.expected == 0 && queries.archive.is_some() {
            todo.push(Todo::Archive(number));
        }
        Ok(News::More(todo))
    }

    fn look_through(
        &mut self,
        number: usize,
        database: &Database,
        (listing, queries): (&str, &Queries),
        is_settling: bool,
    ) -> Result<News, Trouble> {
        self.looks += 1;
        let mut todo = Vec::new();
        let mut same = Vec::new();
        let (mut seen, mut size) = (0, 0);
        let (looks, known) = (self.looks, &mut self.known);
        database.each(listing, &[Cell::from(self.id.as_str())], &mut |row| {
            let mut numbers = row.iter().map(|cell| cell.int().unwrap_or(0));
            let mut next = || numbers.next().unwrap_or(0);
            let (table, at, changed, bytes) = (next(), next(), next(), next());
            let Ok(table) = usize::try_from(table) else { return };
            let row = known.entry((table, at)).or_default();
            seen += usize::from(row.look != looks);
            let is_same = row.look > 0 && (row.changed, row.bytes) == (changed, bytes);
            (row.changed, row.bytes, row.look) = (changed, bytes, looks);
            size += u64::try_from(bytes).unwrap_or(0);
            if is_same { same.push((table, at)) } else { todo.push(Todo::Row { session: number, table, at }) }
        })?;
        self.expected = seen as u64;
        if known.len() > seen {
            return Ok(News::Anew("rows were removed"));
        }
        if is_settling && size <= COMPARED {
            self.compare(number, database, queries, same, &mut todo)?;
        }
        Ok(News::More(todo))
    }

    /// Finds rows that were edited without a trace in their time and size.
    fn compare(
        &self,
        number: usize,
        database: &Database,
        queries: &Queries,
        same: Vec<(usize, i64)>,
        todo: &mut Vec<Todo>,
    ) -> Result<(), Trouble> {
        for (table, at) in same {
            let told = self.known.get(&(table, at)).and_then(|known| known.hash);
            let (Some(one), Some(told)) = (queries.tables.get(table), told) else { continue };
            match database.value(&one.one, &[self.key(), Cell::Int(at)]) {
                Ok(Some(Cell::Bytes(bytes))) if hash(&bytes) != told => {
                    todo.push(Todo::Row { session: number, table, at });
                }
                // A damaged row was told as such.
                Ok(_) | Err(Trouble::Damaged(_)) => {}
                Err(trouble) => return Err(trouble),
            }
        }
        Ok(())
    }

    /// The next appended rows; of a damaged table only their places.
    pub fn read_on(
        &mut self,
        database: &Database,
        (beyond, places): (&str, &str),
    ) -> Result<Vec<Appended>, Trouble> {
        let next = [self.key(), Cell::Int(self.last), Cell::Int(CHUNK)];
        let read = |sql: &str| {
            let mut rows = Vec::new();
            database.each(sql, &next, &mut |row| {
                let mut cells = row.into_iter();
                let Some(at) = cells.next().and_then(|cell| cell.int()) else { return };
                let bytes = cells.next().map(|cell| match cell {
                    Cell::Bytes(bytes) => bytes,
                    Cell::Null | Cell::Int(_) | Cell::Real(_) => Vec::new(),
                });
                rows.push((at, bytes));
            })?;
            Ok(rows)
        };
        let rows = match read(beyond) {
            Err(Trouble::Damaged(_)) => read(places)?,
            rows => rows?,
        };
        self.appended += rows.len() as u64;
        self.last = rows.last().map_or(self.last, |(at, _)| *at);
        Ok(rows)
    }

    /// What the database says of the session where no row of it does, if it is news.
    pub fn facts(&mut self, database: &Database, sql: &str) -> Result<Vec<MetaEdit>, Trouble> {
        let mut facts = Vec::new();
        database.each(sql, &[self.key()], &mut |row| {
            let mut cells = row.iter();
            let title = cells.next().and_then(Cell::text).unwrap_or_default();
            facts = vec![MetaEdit::Title { rank: 2, title: Text::clean(&title) }];
            facts.extend(cells.next().and_then(Cell::int).map(|is_live| MetaEdit::Live(Some(is_live != 0))));
        })?;
        if facts == self.facts {
            return Ok(Vec::new());
        }
        self.facts.clone_from(&facts);
        Ok(facts)
    }

    /// The names of sessions that this one started, as far as the database says so.
    pub fn children(&self, database: &Database, queries: &Queries) -> Result<Vec<String>, Trouble> {
        let mut names = Vec::new();
        if let Some(sql) = &queries.children {
            database.each(sql, &[self.key()], &mut |row| names.extend(row.first().and_then(Cell::text)))?;
        }
        Ok(names)
    }

    /// Whether a row was told with this content.
    pub fn is_told_so(&self, table: usize, at: i64, hash: u64) -> bool {
        self.known.get(&(table, at)).is_some_and(|known| known.hash == Some(hash))
    }

    /// What a row counted when it was told before.
    pub fn told_before(&self, table: usize, at: i64) -> Option<Tally> {
        let known = self.known.get(&(table, at))?;
        (!matches!(known.told, Told::Nothing)).then(|| known.told.tally())
    }

    /// Notes that a row was told.
    pub fn note(&mut self, table: usize, at: i64, hash: u64, tally: &Tally) {
        let known = self.known.entry((table, at)).or_default();
        known.hash = Some(hash);
        known.told = Told::of(tally);
    }

    /// Whether the agent has abandoned the row.
    pub fn is_abandoned(&self, at: i64) -> bool {
        self.abandoned.contains(&at)
    }

    /// The number that rows of a table have in origins, what they are, and the name they go by.
    pub fn file(
        &mut self,
        (files, base): (&Files, &Path),
        table: usize,
        queries: &Queries,
        teller: &mut Teller<'_>,
    ) -> Option<(FileId, Kind, PathBuf)> {
        if let Some(Some(file)) = self.files.get(table) {
            return Some(file.clone());
        }
        let rows = queries.tables.get(table)?;
        let session = files.session(&self.id);
        let kind = if rows.is_line {
            Kind::RowLine { session, is_lane: self.lane.is_some() }
        } else {
            Kind::Row { session, table, name: rows.name }
        };
        let file = self.register((files, base), kind, rows.name, teller);
        self.files.resize((table + 1).max(self.files.len()), None);
        if let Some(place) = self.files.get_mut(table) {
            *place = Some(file.clone());
        }
        Some(file)
    }

    /// Gives a table of this session a number. A lane goes by the name of the file that it once was.
    pub fn register(
        &self,
        (files, base): (&Files, &Path),
        kind: Kind,
        table: &str,
        teller: &mut Teller<'_>,
    ) -> (FileId, Kind, PathBuf) {
        let name = match (&self.lane, kind) {
            (Some(lane), Kind::RowLine { .. } | Kind::Archive { .. }) => format!("{lane}.jsonl"),
            _ => table.to_owned(),
        };
        let mut path = base.as_os_str().to_owned();
        path.push(format!("#{}/{name}", self.id));
        let path = PathBuf::from(path);
        let (id, is_new) = files.number(&path, kind);
        if is_new {
            teller.send(Feed::File { id, path: path.clone() });
        }
        (id, kind, path)
    }

    fn key(&self) -> Cell {
        Cell::from(self.id.as_str())
    }
}

/// Tells one content from another.
pub fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}
