//! The rows of one session: which were read, which changed, and the files that they are numbered
//! as.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::look::{ReadStep, ScanParameters, ScanResult};
use super::walk::{RowPortion, RowWalk};
use crate::formats::tables::Queries;
use crate::ingest::emitter::Emitter;
use crate::ingest::files::{FileKind, FileTable};
use crate::model::edit::MetaEdit;
use crate::model::record::FileId;
use crate::model::text::Text;
use crate::source::rows::{Database, DatabaseFailure, SqlValue};

#[derive(Default)]
pub(crate) struct SessionRows {
    pub(crate) id: String,
    /// Name with which another session requested it.
    pub(crate) lane: Option<String>,
    files: Vec<Option<(FileId, FileKind, PathBuf)>>,
    generation: Option<SqlValue>,
    /// Which rows are known, and how they are listed.
    pub(crate) walk: RowWalk,
    /// Rows that the agent has abandoned.
    pub(crate) abandoned: BTreeSet<i64>,
    facts: Vec<MetaEdit>,
}

impl SessionRows {
    /// A session of which nothing was read.
    pub(crate) fn new(id: String, lane: Option<String>) -> Self {
        Self {
            id,
            lane,
            ..Self::default()
        }
    }

    /// Scans for changes. `is_touched`: the database was written to since the last scan;
    /// `is_settling`: it was not, for the first time, so everything is compared.
    pub(crate) fn scan(
        &mut self,
        number: usize,
        database: &Database,
        queries: &Queries,
        (is_touched, is_settling): (bool, bool),
    ) -> Result<ScanResult, DatabaseFailure> {
        if let Some(sql) = &queries.generation {
            // An empty value counts as a generation, too.
            let generation = Some(
                database
                    .value(sql, &[self.key()])?
                    .unwrap_or(SqlValue::Null),
            );
            if self.generation.is_some() && self.generation != generation {
                return Ok(ScanResult::Restart("rewritten by its agent"));
            }
            self.generation = generation;
        }
        let look = ScanParameters {
            number,
            id: &self.id,
            database,
            queries,
            is_touched,
            is_settling,
        };
        let abandoned = self
            .walk
            .is_between_rounds()
            .then(|| abandoned(look))
            .transpose()?
            .flatten();
        let mut news = self.walk.scan(look)?;
        if let (ScanResult::More(todo), Some(now)) = (&mut news, abandoned) {
            for at in self.abandoned.symmetric_difference(&now).copied() {
                if self.walk.known.has(0, at) {
                    self.walk.known.invalidate(0, at);
                    todo.push(ReadStep::Row {
                        session: number,
                        table: 0,
                        at,
                    });
                }
            }
            self.abandoned = now;
        }
        Ok(news)
    }

    /// The next rows of the first reading, and whether there may be more.
    pub(crate) fn next_portion(
        &mut self,
        number: usize,
        database: &Database,
        queries: &Queries,
    ) -> Result<RowPortion, DatabaseFailure> {
        let look = ScanParameters {
            number,
            id: &self.id,
            database,
            queries,
            is_touched: false,
            is_settling: false,
        };
        self.walk.next_portion(look)
    }

    /// Metadata of the session from outside its rows, if it changed.
    pub(crate) fn facts(
        &mut self,
        database: &Database,
        sql: &str,
    ) -> Result<Vec<MetaEdit>, DatabaseFailure> {
        let mut facts = Vec::new();
        database.each(sql, &[self.key()], &mut |row| {
            let mut cells = row.iter();
            let title = cells.next().and_then(SqlValue::text).unwrap_or_default();
            facts = vec![MetaEdit::Title {
                rank: 2,
                title: Text::clean(&title),
            }];
            facts.extend(
                cells
                    .next()
                    .and_then(SqlValue::int)
                    .map(|is_live| MetaEdit::Live(Some(is_live != 0))),
            );
        })?;
        if facts == self.facts {
            return Ok(Vec::new());
        }
        self.facts.clone_from(&facts);
        Ok(facts)
    }

    /// Names of the sessions that this one started, as far as the database records that.
    pub(crate) fn children(
        &self,
        database: &Database,
        queries: &Queries,
    ) -> Result<Vec<String>, DatabaseFailure> {
        let mut names = Vec::new();
        if let Some(sql) = &queries.children {
            database.each(sql, &[self.key()], &mut |row| {
                names.extend(row.first().and_then(SqlValue::text));
            })?;
        }
        Ok(names)
    }

    /// File number, kind and name for the rows of a table.
    pub(crate) fn file(
        &mut self,
        (files, base): (&FileTable, &Path),
        table: usize,
        queries: &Queries,
        emitter: &mut Emitter<'_>,
    ) -> Option<(FileId, FileKind, PathBuf)> {
        if let Some(Some(file)) = self.files.get(table) {
            return Some(file.clone());
        }
        let rows = queries.tables.get(table)?;
        let session = files.session(&self.id);
        let kind = if rows.is_line {
            FileKind::RowLine {
                session,
                table,
                is_lane: self.lane.is_some(),
            }
        } else {
            FileKind::Row {
                session,
                table,
                name: rows.name,
            }
        };
        let file = self.register((files, base), kind, rows.name, emitter);
        self.files.resize((table + 1).max(self.files.len()), None);
        if let Some(place) = self.files.get_mut(table) {
            *place = Some(file.clone());
        }
        Some(file)
    }

    /// Assigns a file number to a table of this session. The name of a lane is that of the file
    /// that it once was.
    pub(crate) fn register(
        &self,
        (files, base): (&FileTable, &Path),
        kind: FileKind,
        table: &str,
        emitter: &mut Emitter<'_>,
    ) -> (FileId, FileKind, PathBuf) {
        let name = match (&self.lane, kind) {
            (Some(lane), FileKind::RowLine { .. }) => format!("{table}/{lane}.jsonl"),
            (Some(lane), FileKind::Archive { .. }) => format!("{lane}.jsonl"),
            _ => table.to_owned(),
        };
        let mut path = base.as_os_str().to_owned();
        path.push(format!("#{}/{name}", self.id));
        let path = PathBuf::from(path);
        (
            files.announce(path.as_path().into(), kind, emitter),
            kind,
            path,
        )
    }

    /// Id of the session as a query parameter.
    pub(crate) fn key(&self) -> SqlValue {
        SqlValue::from(self.id.as_str())
    }
}

/// The rows that the agent has abandoned, if the database records that.
fn abandoned(look: ScanParameters<'_>) -> Result<Option<BTreeSet<i64>>, DatabaseFailure> {
    let Some(sql) = &look.queries.abandoned else {
        return Ok(None);
    };
    let mut rows = BTreeSet::new();
    look.database.each(sql, &[look.key()], &mut |row| {
        rows.extend(row.first().and_then(SqlValue::int));
    })?;
    Ok(Some(rows))
}
