//! Rows that an agent stores about a session in a database beside its file. They are one record,
//! which is read again when the database was written to.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{PendingStep, SessionReader};
use crate::formats::definition::store::companion_query;
use crate::formats::definition::template::filled;
use crate::ingest::catalog;
use crate::ingest::files::FileKind;
use crate::ingest::plan::Plan;
use crate::ingest::whole::Small;
use crate::model::record::Shape;
use crate::source::regular::Fence;
use crate::source::rows::{Database, DatabaseFailure, DatabaseState, SqlValue};

/// How long to wait for a writer if everything is read at once.
const PATIENCE: Duration = Duration::from_secs(2);

/// The database beside a session, whether it exists yet or not.
pub(super) struct DatabaseBeside {
    path: PathBuf,
    /// The record of its rows, once it exists.
    small: Option<Small>,
    /// State of the database when the rows were read.
    read: Option<DatabaseState>,
}

impl DatabaseBeside {
    /// The folder to watch.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.path.parent()
    }

    /// Whether it was written to since it was read.
    fn has_changed(&self) -> bool {
        DatabaseState::of(&self.path)
            .is_ok_and(|now| now.base.is_file() && self.read.is_none_or(|read| read != now))
    }
}

impl SessionReader<'_> {
    /// Searches a database beside the session.
    pub(super) fn find_rows_beside(&mut self) {
        if matches!(
            self.plan.shape,
            Shape::Lines | Shape::Document | Shape::Stream
        ) {
            let rows = self.plan.format.head().rows_beside.as_ref();
            let path = rows.and_then(|rows| filled(&rows.database, &self.plan.path));
            self.rows_beside = path.map(|path| DatabaseBeside {
                path,
                small: None,
                read: None,
            });
            self.poll_rows_beside();
        }
    }

    /// Schedules a reading of the rows if they may have changed.
    pub(super) fn poll_rows_beside(&mut self) {
        if self
            .rows_beside
            .as_ref()
            .is_some_and(DatabaseBeside::has_changed)
        {
            self.queue.push_back(PendingStep::RowsBeside);
        }
    }

    /// Reads the rows. If the database is busy, a session that is followed tries again later.
    pub(super) fn read_rows_beside(&mut self) {
        let Some(beside) = &mut self.rows_beside else {
            return;
        };
        let small = beside.small.get_or_insert_with(|| {
            let path: Arc<Path> = Arc::from(&*beside.path);
            let id = self
                .files
                .announce(Arc::clone(&path), FileKind::Small, &mut self.emitter);
            Small::new(path, id, FileKind::Small, Fence::default())
        });
        let patience = if self.bodies.is_live() {
            Duration::ZERO
        } else {
            PATIENCE
        };
        let state = DatabaseState::of(&beside.path).ok();
        match rows(&beside.path, &self.plan, patience) {
            Ok(Some(bytes)) => small.emit(&mut self.emitter, &bytes),
            Ok(None) => {}
            Err(DatabaseFailure::Busy) if self.bodies.is_live() => return,
            Err(failure) => {
                let what = format!(
                    "{} cannot be read: {}",
                    beside.path.display(),
                    failure.words()
                );
                self.emitter.notice(small.id, &what);
            }
        }
        beside.read = state;
    }
}

/// The rows of a database as JSON; `None` if it has none.
fn rows(path: &Path, plan: &Plan, patience: Duration) -> Result<Option<Vec<u8>>, DatabaseFailure> {
    let database = Database::open_patiently(path, patience)?;
    let tables = catalog::tables(&database)?;
    let rows = plan.format.head().rows_beside.as_ref();
    let sql = rows.and_then(|rows| companion_query(rows, &tables));
    let (Some(sql), Some(session)) = (sql, plan.format.session_name(&plan.path)) else {
        return Ok(None);
    };
    Ok(database
        .value(&sql, &[SqlValue::from(session.id)])?
        .map(SqlValue::content))
}
