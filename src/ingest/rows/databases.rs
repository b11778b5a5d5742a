//! Databases that are open during a scan. Sessions of one database that are followed together share
//! the handle, and wait together for its writer.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use crate::ingest::bodies::Bodies;
use crate::source::rows::{Database, DatabaseFailure};

/// How long a reading without following waits for a writer, because it cannot try again later.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a busy database is not tried again for another session; less than until the same
/// session tries again.
const BUSY: Duration = Duration::from_millis(40);

/// The database while it is in use, or when it was busy.
type LastOpened = Result<Weak<Database>, Instant>;

#[derive(Clone, Default)]
pub(crate) struct Databases(Rc<RefCell<HashMap<PathBuf, LastOpened>>>);

impl Databases {
    /// Whether a database is busy at the moment, so that no session of it can be read.
    pub(crate) fn is_busy(&self, path: &Path) -> bool {
        matches!(self.open(path, Bodies::Recent), Err(DatabaseFailure::Busy))
    }

    /// Opens the database in its current state.
    pub(super) fn open(
        &self,
        path: &Path,
        bodies: Bodies,
    ) -> Result<Rc<Database>, DatabaseFailure> {
        if !bodies.is_live() {
            return Database::open_patiently(path, PATIENCE).map(Rc::new);
        }
        let known = self.0.borrow().get(path).cloned();
        match known {
            Some(Err(at)) if at.elapsed() < BUSY => return Err(DatabaseFailure::Busy),
            Some(Ok(known)) => {
                if let Some(database) = known.upgrade().filter(|database| database.is_current()) {
                    return Ok(database);
                }
            }
            Some(Err(_)) | None => {}
        }
        let database = Database::open(path).map(Rc::new);
        let opened = match &database {
            Ok(database) => Ok(Rc::downgrade(database)),
            Err(DatabaseFailure::Busy) => Err(Instant::now()),
            Err(_) => Ok(Weak::new()),
        };
        self.0.borrow_mut().insert(path.to_owned(), opened);
        database
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use std::rc::Rc;

    use super::{Bodies, Databases};

    #[test]
    fn sessions_of_one_database_read_it_together() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch("CREATE TABLE a (b);").unwrap();
        let databases = Databases::default();
        let open = || databases.clone().open(&path, Bodies::Recent).unwrap();
        let (first, second) = (open(), open());
        assert!(Rc::ptr_eq(&first, &second));
        connection
            .execute_batch("INSERT INTO a VALUES (1);")
            .unwrap();
        let (third, fourth) = (open(), open());
        assert!(!Rc::ptr_eq(&first, &third) && Rc::ptr_eq(&third, &fourth));
    }
}
