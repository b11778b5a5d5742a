//! One session's rows: what of them was told, and what a look at rows that are only added finds to be new.

use std::collections::BTreeSet;
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Todo;
use super::edited::{Look, Walk};
use super::known::Known;
use crate::formats::tables::{Growth, Queries};
use crate::ingest::emitter::Emitter;
use crate::ingest::files::{Files, Kind};
use crate::model::edit::{Feed, MetaEdit};
use crate::model::record::FileId;
use crate::model::text::Text;
use crate::source::rows::{Cell, Database, Trouble};

/// Appended rows that are read at once.
const CHUNK: i64 = 64;
/// Contents of rows are compared up to this sum; above it their times and sizes must do.
pub(crate) const COMPARED: u64 = 64 << 20;
/// Counting all rows takes no more than this share of the time between two looks.
const PACE: u32 = 20;

/// The place of an appended row, and the row if it was read.
pub(crate) type Appended = (i64, Option<Vec<u8>>);

/// What a look finds.
pub(crate) enum News {
    /// Rows to be read.
    More(Vec<Todo>),
    /// All must be read again; says why.
    Anew(&'static str),
}

/// The rows of one session.
pub(crate) struct SessionRows {
    /// Its id.
    pub(crate) id: String,
    /// The name by which another session asked for it.
    pub(crate) lane: Option<String>,
    /// How many rows it had at the last look.
    pub(crate) expected: u64,
    files: Vec<Option<(FileId, Kind, PathBuf)>>,
    generation: Option<Cell>,
    /// The place of the last appended row that was read, and how many were.
    last: i64,
    appended: u64,
    abandoned: BTreeSet<i64>,
    /// How many rows have no place that could be told.
    unplaced: i64,
    /// The rows that were listed or told.
    pub(crate) known: Known,
    /// How far rows that change are known.
    pub(crate) walk: Walk,
    /// When all rows were counted, and how long that took.
    counted: Option<(Instant, Duration)>,
    looks: u32,
    facts: Vec<MetaEdit>,
}

impl SessionRows {
    /// A session of which nothing is known yet.
    pub(crate) fn new(id: String, lane: Option<String>) -> Self {
        Self {
            id,
            lane,
            expected: 0,
            files: Vec::new(),
            generation: None,
            last: i64::MIN,
            appended: 0,
            abandoned: BTreeSet::new(),
            unplaced: 0,
            known: Known::default(),
            walk: Walk::default(),
            counted: None,
            looks: 0,
            facts: Vec::new(),
        }
    }

    /// Asks what is new. `is_touched`: the database was written to since the last look; `is_settling`: it was not for
    /// the first time, so all is looked at.
    pub(crate) fn look(
        &mut self,
        number: usize,
        database: &Database,
        queries: &Queries,
        (is_touched, is_settling): (bool, bool),
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
            Growth::Appended { .. } => self.look_beyond(number, database, queries, is_settling),
            Growth::Edited(edited) => {
                self.look_through(Look { number, database, queries, edited, is_touched, is_settling })
            }
        }
    }

    fn look_beyond(
        &mut self,
        number: usize,
        database: &Database,
        queries: &Queries,
        is_settling: bool,
    ) -> Result<News, Trouble> {
        let Growth::Appended { count, last, abandoned, unplaced, .. } = &queries.growth else {
            return Ok(News::More(Vec::new()));
        };
        let number_of = |sql: &str, at: i64| -> Result<Option<i64>, Trouble> {
            Ok(database.value(sql, &[self.key(), Cell::Int(at)])?.and_then(|cell| cell.int()))
        };
        let up_to = |at: i64| {
            Ok::<_, Trouble>(number_of(count, at)?.and_then(|n| u64::try_from(n).ok()).unwrap_or(0))
        };
        let is_due = is_settling
            || self.counted.is_none_or(|(when, cost)| when.elapsed() >= cost.saturating_mul(PACE));
        let begun = Instant::now();
        let was_cut = self.appended > 0
            && match database.value(last, &[self.key()])?.and_then(|cell| cell.int()) {
                Some(at) if at >= self.last => is_due && up_to(self.last)? != self.appended,
                _ => true,
            };
        if was_cut {
            return Ok(News::Anew("rows were removed"));
        }
        let is_first = self.looks == 0;
        self.expected = if is_first { up_to(i64::MAX)? } else { self.expected };
        self.looks += 1;
        let mut todo = Vec::new();
        if let Some(sql) = abandoned.as_ref().filter(|_| is_due) {
            todo = self.abandon(number, database, sql)?;
        }
        if is_first || is_due {
            let now = database.value(unplaced, &[self.key()])?.and_then(|cell| cell.int()).unwrap_or(0);
            if now < self.unplaced {
                return Ok(News::Anew("rows were removed"));
            }
            todo.extend((self.unplaced..now).map(|nth| Todo::Unplaced { session: number, nth }));
            self.unplaced = now;
        }
        if is_due {
            self.counted = Some((Instant::now(), begun.elapsed()));
        }
        todo.push(Todo::More(number));
        if is_first && self.expected == 0 && self.unplaced == 0 && queries.archive.is_some() {
            todo.push(Todo::Archive(number));
        }
        Ok(News::More(todo))
    }

    /// Asks which rows the agent has abandoned. Those of which that is news are told again.
    fn abandon(&mut self, number: usize, database: &Database, sql: &str) -> Result<Vec<Todo>, Trouble> {
        let mut now = BTreeSet::new();
        database.each(sql, &[self.key()], &mut |row| now.extend(row.first().and_then(Cell::int)))?;
        let changed = self.abandoned.symmetric_difference(&now).filter(|at| **at <= self.last);
        let changed: Vec<i64> = changed.copied().collect();
        self.abandoned = now;
        for at in &changed {
            self.known.forget_content(0, *at);
        }
        Ok(changed.into_iter().map(|at| Todo::Row { session: number, table: 0, at }).collect())
    }

    /// The next appended rows; of a damaged table only their places.
    pub(crate) fn read_on(
        &mut self,
        database: &Database,
        (beyond, places): (&str, &str),
    ) -> Result<Vec<Appended>, Trouble> {
        let last = if self.appended == 0 { Cell::FIRST } else { Cell::Int(self.last) };
        let next = [self.key(), last, Cell::Int(CHUNK)];
        let read = |sql: &str| {
            let mut rows = Vec::new();
            database.each(sql, &next, &mut |row| {
                let mut cells = row.into_iter();
                let Some(at) = cells.next().and_then(|cell| cell.int()) else { return };
                rows.push((at, cells.next().map(Cell::content)));
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
    pub(crate) fn facts(&mut self, database: &Database, sql: &str) -> Result<Vec<MetaEdit>, Trouble> {
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
    pub(crate) fn children(&self, database: &Database, queries: &Queries) -> Result<Vec<String>, Trouble> {
        let mut names = Vec::new();
        if let Some(sql) = &queries.children {
            database.each(sql, &[self.key()], &mut |row| names.extend(row.first().and_then(Cell::text)))?;
        }
        Ok(names)
    }

    /// Whether the agent has abandoned the row.
    pub(crate) fn is_abandoned(&self, at: i64) -> bool {
        self.abandoned.contains(&at)
    }

    /// The number that rows of a table have in origins, what they are, and the name they go by.
    pub(crate) fn file(
        &mut self,
        (files, base): (&Files, &Path),
        table: usize,
        queries: &Queries,
        emitter: &mut Emitter<'_>,
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
        let file = self.register((files, base), kind, rows.name, emitter);
        self.files.resize((table + 1).max(self.files.len()), None);
        if let Some(place) = self.files.get_mut(table) {
            *place = Some(file.clone());
        }
        Some(file)
    }

    /// Gives a table of this session a number. A lane goes by the name of the file that it once was.
    pub(crate) fn register(
        &self,
        (files, base): (&Files, &Path),
        kind: Kind,
        table: &str,
        emitter: &mut Emitter<'_>,
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
            emitter.send(Feed::File { id, path: path.as_path().into() });
        }
        (id, kind, path)
    }

    /// Its id, as a parameter.
    pub(crate) fn key(&self) -> Cell {
        Cell::from(self.id.as_str())
    }
}

/// Tells one content from another.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}
