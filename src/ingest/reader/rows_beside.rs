//! Rows that an agent keeps on a session in a database beside its file. They are one record, which is read anew when the
//! database was written to.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{Reader, Todo};
use crate::formats::definition::store::query_beside;
use crate::formats::definition::template::filled;
use crate::ingest::catalog;
use crate::ingest::files::Kind;
use crate::ingest::plan::Plan;
use crate::ingest::whole::Small;
use crate::model::record::Shape;
use crate::source::regular::Fence;
use crate::source::rows::{Cell, Database, Failure, State};

/// How long a writer is waited for, if all is read at once.
const PATIENCE: Duration = Duration::from_secs(2);

/// The database beside one session, whether it is there already or not.
pub(super) struct RowsBeside {
    path: PathBuf,
    /// Its rows, once it is there.
    small: Option<Small>,
    /// What it was like when the rows were read.
    read: Option<State>,
}

impl RowsBeside {
    /// The folder that is to be watched.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.path.parent()
    }

    /// Whether it was written to since it was read.
    fn has_news(&self) -> bool {
        State::of(&self.path)
            .is_ok_and(|now| now.base.is_file && self.read.is_none_or(|read| read != now))
    }
}

impl Reader<'_> {
    /// Looks for a database beside the session.
    pub(super) fn find_rows_beside(&mut self) {
        if matches!(
            self.plan.shape,
            Shape::Lines | Shape::Document | Shape::Stream
        ) {
            let rows = self.plan.format.head().rows_beside.as_ref();
            let path = rows.and_then(|rows| filled(&rows.database, &self.plan.path));
            self.rows_beside = path.map(|path| RowsBeside {
                path,
                small: None,
                read: None,
            });
            self.poll_rows_beside();
        }
    }

    /// Has the rows read if they may be others.
    pub(super) fn poll_rows_beside(&mut self) {
        if self.rows_beside.as_ref().is_some_and(RowsBeside::has_news) {
            self.queue.push_back(Todo::RowsBeside);
        }
    }

    /// Reads the rows. While somebody writes, a reading that goes on tries again later.
    pub(super) fn read_rows_beside(&mut self) {
        let Some(beside) = &mut self.rows_beside else {
            return;
        };
        let small = beside.small.get_or_insert_with(|| {
            let path: Arc<Path> = Arc::from(&*beside.path);
            let id = self
                .files
                .announce(Arc::clone(&path), Kind::Small, &mut self.emitter);
            Small::new(path, id, Kind::Small, Fence::default())
        });
        let patience = if self.bodies.is_live() {
            Duration::ZERO
        } else {
            PATIENCE
        };
        let state = State::of(&beside.path).ok();
        match rows(&beside.path, &self.plan, patience) {
            Ok(Some(bytes)) => small.emit(&mut self.emitter, &bytes),
            Ok(None) => {}
            Err(Failure::Busy) if self.bodies.is_live() => return,
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

/// The rows of a database as JSON; nothing if it has none such.
fn rows(path: &Path, plan: &Plan, patience: Duration) -> Result<Option<Vec<u8>>, Failure> {
    let database = Database::open_patiently(path, patience)?;
    let tables = catalog::tables(&database)?;
    let rows = plan.format.head().rows_beside.as_ref();
    let sql = rows.and_then(|rows| query_beside(rows, &tables));
    let (Some(sql), Some(session)) = (sql, plan.format.named(&plan.path)) else {
        return Ok(None);
    };
    Ok(database
        .value(&sql, &[Cell::from(session.id)])?
        .map(Cell::content))
}
