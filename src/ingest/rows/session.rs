//! One session's rows: which of them were read, what a look at them finds, and the files that they count as.

use std::path::{Path, PathBuf};

use super::appended::{Appended, Tail};
use super::edited::{Portion, Walk};
use super::known::Known;
use super::look::{Look, News};
use crate::formats::tables::{Edited, Growth, Queries};
use crate::ingest::emitter::Emitter;
use crate::ingest::files::{Files, Kind};
use crate::model::edit::{Feed, MetaEdit};
use crate::model::record::FileId;
use crate::model::text::Text;
use crate::source::rows::{Cell, Database, Failure};

/// The rows of one session.
pub(crate) struct SessionRows {
    /// Its id.
    pub(crate) id: String,
    /// The name by which another session asked for it.
    pub(crate) lane: Option<String>,
    files: Vec<Option<(FileId, Kind, PathBuf)>>,
    generation: Option<Cell>,
    /// The rows that were listed or read.
    pub(crate) known: Known,
    /// How far rows that are only added were read.
    tail: Tail,
    /// How far rows that change are known.
    walk: Walk,
    facts: Vec<MetaEdit>,
}

impl SessionRows {
    /// A session of which nothing is known yet.
    pub(crate) fn new(id: String, lane: Option<String>) -> Self {
        Self {
            id,
            lane,
            files: Vec::new(),
            generation: None,
            known: Known::default(),
            tail: Tail::default(),
            walk: Walk::default(),
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
    ) -> Result<News, Failure> {
        if let Some(sql) = &queries.generation {
            // None yet is a generation too.
            let generation = Some(database.value(sql, &[self.key()])?.unwrap_or(Cell::Null));
            if self.generation.is_some() && self.generation != generation {
                return Ok(News::Anew("rewritten by its agent"));
            }
            self.generation = generation;
        }
        let look = Look { number, id: &self.id, database, queries, is_touched, is_settling };
        match &queries.growth {
            Growth::Appended { .. } => self.tail.look(look, &mut self.known),
            Growth::Edited(edited) => self.walk.look(look, edited, &mut self.known),
        }
    }

    /// The next appended rows; of a damaged table only their places.
    pub(crate) fn read_on(
        &mut self,
        database: &Database,
        beyond_and_places: (&str, &str),
    ) -> Result<Vec<Appended>, Failure> {
        let key = self.key();
        self.tail.read_on(database, key, beyond_and_places)
    }

    /// The next rows of those that may be edited, and whether there may be more.
    pub(crate) fn next_portion(
        &mut self,
        number: usize,
        database: &Database,
        (queries, edited): (&Queries, &Edited),
    ) -> Result<Portion, Failure> {
        let look = Look { number, id: &self.id, database, queries, is_touched: false, is_settling: false };
        self.walk.next_portion(look, edited, &mut self.known)
    }

    /// How many rows it had when they were looked at last.
    pub(crate) fn expected(&self) -> u64 {
        // Its rows grow in one of the two ways; nothing is known of the other.
        self.tail.expected().max(self.walk.expected(&self.known))
    }

    /// Whether all rows were looked at since the database was written to.
    pub(crate) fn is_settled(&self) -> bool {
        self.walk.is_settled()
    }

    /// Whether the agent has abandoned the row.
    pub(crate) fn is_abandoned(&self, at: i64) -> bool {
        self.tail.is_abandoned(at)
    }

    /// What the database says of the session where no row of it does, if it is news.
    pub(crate) fn facts(&mut self, database: &Database, sql: &str) -> Result<Vec<MetaEdit>, Failure> {
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
    pub(crate) fn children(&self, database: &Database, queries: &Queries) -> Result<Vec<String>, Failure> {
        let mut names = Vec::new();
        if let Some(sql) = &queries.children {
            database.each(sql, &[self.key()], &mut |row| names.extend(row.first().and_then(Cell::text)))?;
        }
        Ok(names)
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
            Kind::RowLine { session, table, is_lane: self.lane.is_some() }
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
            (Some(lane), Kind::RowLine { .. }) => format!("{table}/{lane}.jsonl"),
            (Some(lane), Kind::Archive { .. }) => format!("{lane}.jsonl"),
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
