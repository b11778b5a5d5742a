//! Reads the rows of a session in a database, and those of the sessions that it started.
//!
//! A scan opens the database, queries what is new, and queues what is to be read; then rows are
//! read one by one. The database stays open until its state changes, or the session is
//! closed.
//!
//! Invariant: new rows are read once, in order; rows that are edited in place are read again, and
//! counted once. Of a row that was read only what reveals an edit is stored here.

mod databases;
mod emit;
mod known;
mod look;
mod schedule;
mod session;
mod walk;

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) use self::databases::Databases;
pub(crate) use self::emit::unpacked;
pub(crate) use self::look::{ListedRow, listed};

use self::look::{ReadStep, ScanResult};
use self::schedule::Schedule;
use self::session::SessionRows;
use super::bodies::Bodies;
use super::catalog;
use super::emitter::Emitter;
use super::files::FileTable;
use super::plan::Plan;
use crate::formats::decoder::Format;
use crate::formats::tables::Queries;
use crate::model::edit::{Feed, LinkState};
use crate::model::text::Text;
use crate::source::rows::{Database, DatabaseFailure, DatabaseState, SqlValue};

/// While a database above this size in bytes is read, bodies stay in it.
const KEPT: u64 = 32 << 20;
/// Databases below this size in bytes are read whole, without a preview.
const WORTH_A_PREVIEW: u64 = 4 << 20;

/// Emits the newest rows of a session in a large database. Returns whether there may be others.
pub(crate) fn emit_newest(
    plan: &Plan,
    files: &FileTable,
    emitter: &mut Emitter<'_>,
) -> Result<bool, DatabaseFailure> {
    if DatabaseState::of(&plan.path).is_ok_and(|state| state.base.len <= WORTH_A_PREVIEW) {
        return Ok(false);
    }
    let mut rows = RowFollower::open(plan, files, Bodies::Recent, &Databases::default())?;
    (rows.queue, rows.leaves_bodies) = (VecDeque::new(), false);
    let database = rows.database()?;
    let newest = listed(&database, &plan.session, &rows.queries.newest, [])?;
    rows.queue
        .extend(newest.into_iter().map(|row| row.into_step(0)));
    while rows.step(emitter, Instant::now()) {}
    Ok(true)
}

fn queries_of(database: &Database, format: &dyn Format) -> Result<Arc<Queries>, DatabaseFailure> {
    let other =
        || DatabaseFailure::Unreadable("these are the tables of another program".to_owned());
    catalog::queries(database, format)?
        .map(Arc::new)
        .ok_or_else(other)
}

/// Reads the rows of one session.
pub(crate) struct RowFollower {
    path: PathBuf,
    format: &'static dyn Format,
    files: FileTable,
    bodies: Bodies,
    queries: Arc<Queries>,
    schema: i64,
    databases: Databases,
    database: Option<Rc<Database>>,
    /// State of the files at the last scan.
    state: Option<DatabaseState>,
    /// The session, and those that it started.
    sessions: Vec<SessionRows>,
    requested: HashSet<String>,
    /// Sessions that records requested and that do not exist yet.
    missing: Vec<String>,
    queue: VecDeque<ReadStep>,
    read: u64,
    /// Whether bodies currently stay in the database.
    leaves_bodies: bool,
    schedule: Schedule,
    /// The reported anomaly of the files beside the database.
    anomaly: Option<&'static str>,
}

impl RowFollower {
    /// Prepares the reading of a session.
    pub(crate) fn open(
        plan: &Plan,
        files: &FileTable,
        bodies: Bodies,
        databases: &Databases,
    ) -> Result<Self, DatabaseFailure> {
        let database = databases.open(&plan.path, bodies)?;
        let queries = queries_of(&database, plan.format)?;
        let schema = database.schema()?;
        files.set_queries(Arc::clone(&queries), schema);
        let mut rows = Self {
            path: plan.path.clone(),
            format: plan.format,
            files: files.clone(),
            bodies,
            queries,
            schema,
            databases: databases.clone(),
            database: Some(database),
            state: None,
            sessions: Vec::new(),
            requested: HashSet::new(),
            missing: Vec::new(),
            queue: VecDeque::new(),
            read: 0,
            leaves_bodies: false,
            schedule: Schedule::default(),
            anomaly: None,
        };
        rows.begin(plan.session.clone());
        Ok(rows)
    }

    /// Restarts with nothing read.
    pub(crate) fn restart(&mut self) {
        let main = self
            .sessions
            .first()
            .map(|session| session.id.clone())
            .unwrap_or_default();
        self.begin(main);
    }

    fn begin(&mut self, main: String) {
        self.sessions = vec![SessionRows::new(main, None)];
        self.requested.clear();
        self.missing.clear();
        self.queue = VecDeque::from([ReadStep::Look]);
        let is_large = DatabaseState::of(&self.path).is_ok_and(|state| state.base.len > KEPT);
        self.leaves_bodies = is_large && self.bodies == Bodies::Recent;
        self.read = 0;
    }

    /// Whether there is something to read.
    pub(crate) fn has_more(&self) -> bool {
        !self.queue.is_empty() && !self.schedule.is_failing()
    }

    /// Rows read, and rows listed.
    pub(crate) fn progress(&self) -> (u64, u64) {
        let sessions = self.sessions.iter();
        let known: u64 = sessions.map(|session| session.walk.expected()).sum();
        (self.read, known.max(self.read))
    }

    /// When to scan without an event.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.schedule.next()
    }

    /// Closes the database until it is written to: each open one has a thread, and a session may be
    /// at rest for days.
    pub(crate) fn close(&mut self) {
        if self.queue.is_empty() {
            self.database = None;
        }
    }

    /// Ends the first reading: rows from here on are new, and their bodies will be needed.
    pub(crate) fn end_first_reading(&mut self) {
        self.leaves_bodies &= !self.queue.is_empty();
    }

    /// Scans for changes. Returns the state of the database, if it changed, and why everything must
    /// be read again, if so.
    pub(crate) fn poll(
        &mut self,
        emitter: &mut Emitter<'_>,
        now: Instant,
    ) -> (Option<LinkState>, Option<String>) {
        let state = match DatabaseState::of(&self.path) {
            Ok(state) => state,
            Err(error) => return (self.fail(DatabaseFailure::of(&error), now), None),
        };
        let is_due = self.schedule.is_due(now);
        let waits = self.schedule.is_failing() || self.state == Some(state);
        if waits && !is_due || self.schedule.defers(now) {
            return (None, None);
        }
        let is_same =
            self.state == Some(state) && self.schedule.is_settled() && !self.schedule.is_failing();
        if is_same
            && self
                .database
                .as_ref()
                .is_none_or(|database| database.is_current())
        {
            self.schedule.record_scan(now, Duration::ZERO, true);
            return (None, None);
        }
        match self.scan(state, emitter, now) {
            Ok(anew) => (self.schedule.recover(), anew),
            Err(failure) => (self.fail(failure, now), None),
        }
    }

    /// Reads a row. Returns whether there is more to read.
    pub(crate) fn step(&mut self, emitter: &mut Emitter<'_>, now: Instant) -> bool {
        if self.schedule.is_failing() {
            return false;
        }
        let Some(todo) = self.queue.pop_front() else {
            return false;
        };
        let done = match todo {
            ReadStep::Look => self.first_scan(emitter, now),
            ReadStep::Portion(session) => self.read_portion(session, emitter),
            ReadStep::Have {
                session,
                table,
                at,
                ref content,
            } => {
                self.emit_read((session, table, at), content, emitter);
                Ok(())
            }
            ReadStep::Row { session, table, at } => self.read_rows((session, table, at)),
            ReadStep::Archive(session) => self.read_archive(session, emitter),
            ReadStep::Children(session) => self.read_children(session, emitter),
        };
        let Err(failure) = done else { return true };
        self.queue.push_front(todo);
        if !self.bodies.is_live() {
            emitter.send(Feed::Fault(Text::clean(&failure.words())));
            self.queue.clear();
            return false;
        }
        if let Some(link) = self.fail(failure, now) {
            emitter.send(Feed::Link(link));
        }
        false
    }

    /// Adds sessions that records requested; they are read next.
    pub(crate) fn request_sessions(&mut self, wanted: Vec<Text>, emitter: &mut Emitter<'_>) {
        let names = wanted.iter().filter(|wanted| !wanted.starts_with("part/"));
        let names =
            names.filter_map(|wanted| wanted.rsplit('/').next().filter(|name| !name.is_empty()));
        self.add_sessions(names.map(str::to_owned).collect(), emitter);
    }

    /// Adds sessions that were not requested before; they are read next.
    fn add_sessions(&mut self, mut names: Vec<String>, emitter: &mut Emitter<'_>) {
        names.retain(|name| self.requested.insert(name.clone()));
        let todo = self.add_found(names, emitter);
        self.read_next(todo);
    }

    /// Adds those of these sessions that exist.
    fn add_found(&mut self, names: Vec<String>, emitter: &mut Emitter<'_>) -> Vec<ReadStep> {
        let mut todo = Vec::new();
        for name in names {
            if !self.add_session(&name, &mut todo, emitter) {
                self.missing.push(name);
            }
        }
        todo
    }

    /// Adds a session by one of its names. Returns whether it exists.
    fn add_session(
        &mut self,
        name: &str,
        todo: &mut Vec<ReadStep>,
        emitter: &mut Emitter<'_>,
    ) -> bool {
        let named = self.find_session(name).ok().flatten();
        let Some(id) = named.as_ref().and_then(SqlValue::text) else {
            return false;
        };
        if self.sessions.iter().all(|session| session.id != id) {
            let number = self.sessions.len();
            let lane = name.rsplit(':').next().unwrap_or(name);
            self.sessions
                .push(SessionRows::new(id, Some(lane.to_owned())));
            // If it cannot be read at the moment, the next scan finds it.
            if let Ok(ScanResult::More(more)) = self.scan_session(number, (false, false), emitter) {
                todo.extend(more);
            }
        }
        true
    }

    /// Id of the session with a name.
    fn find_session(&mut self, name: &str) -> Result<Option<SqlValue>, DatabaseFailure> {
        self.database()?
            .value(&self.queries.named, &[SqlValue::from(name)])
    }

    fn database(&mut self) -> Result<Rc<Database>, DatabaseFailure> {
        let database = match self.database.take() {
            Some(database) => database,
            None => self.databases.open(&self.path, self.bodies)?,
        };
        Ok(Rc::clone(self.database.insert(database)))
    }

    fn first_scan(
        &mut self,
        emitter: &mut Emitter<'_>,
        now: Instant,
    ) -> Result<(), DatabaseFailure> {
        let state = DatabaseState::of(&self.path).map_err(|error| DatabaseFailure::of(&error))?;
        let anew = self.scan(state, emitter, now)?;
        // Nothing was emitted yet that would have to be replaced.
        if anew.is_some() {
            self.first_scan(emitter, now)
        } else {
            Ok(())
        }
    }

    /// Queries what is new. Returns why everything must be read again, if so.
    fn scan(
        &mut self,
        state: DatabaseState,
        emitter: &mut Emitter<'_>,
        now: Instant,
    ) -> Result<Option<String>, DatabaseFailure> {
        let start = Instant::now();
        let is_touched = self.state != Some(state);
        self.database = self
            .database
            .take()
            .filter(|database| database.is_current());
        let schema = self.database()?.schema()?;
        let is_other = self
            .state
            .is_some_and(|known| !known.base.is_same_file(&state.base));
        if is_other || schema != self.schema {
            self.read_schema(schema)?;
            self.state = Some(state);
            let why = if is_other {
                "replaced by another database"
            } else {
                "its tables were changed"
            };
            return Ok(Some(why.to_owned()));
        }
        self.check_deleted()?;
        // The first scan without a write before it compares the contents of rows.
        let is_settling = !is_touched && self.state.is_some() && !self.schedule.is_settled();
        for number in 0..self.sessions.len() {
            match self.scan_session(number, (is_touched, is_settling), emitter)? {
                // At once: the next session may not be readable.
                ScanResult::More(more) => self.queue.extend(more),
                ScanResult::Restart(why) => {
                    self.state = Some(state);
                    return Ok(Some(why.to_owned()));
                }
            }
        }
        let missing = std::mem::take(&mut self.missing);
        let todo = self.add_found(missing, emitter);
        self.queue.extend(todo);
        if self.state.is_none() || is_settling {
            self.report_anomaly(emitter)?;
        }
        self.state = Some(state);
        let is_settled = !is_touched && self.sessions.iter().all(|one| one.walk.is_settled());
        self.schedule.record_scan(now, start.elapsed(), is_settled);
        Ok(None)
    }

    /// Rows read of a deleted session stay, as those of a deleted file do.
    fn check_deleted(&mut self) -> Result<(), DatabaseFailure> {
        let Some(id) = self.sessions.first().map(|session| session.id.clone()) else {
            return Ok(());
        };
        let is_gone = self.state.is_some() && self.find_session(&id)?.is_none();
        if is_gone {
            Err(DatabaseFailure::Deleted)
        } else {
            Ok(())
        }
    }

    fn read_schema(&mut self, schema: i64) -> Result<(), DatabaseFailure> {
        let database = self.database()?;
        self.queries = queries_of(&database, self.format)?;
        self.schema = schema;
        self.files.set_queries(Arc::clone(&self.queries), schema);
        Ok(())
    }

    fn scan_session(
        &mut self,
        number: usize,
        (is_touched, is_settling): (bool, bool),
        emitter: &mut Emitter<'_>,
    ) -> Result<ScanResult, DatabaseFailure> {
        let database = self.database()?;
        let Some(session) = self.sessions.get_mut(number) else {
            return Ok(ScanResult::More(Vec::new()));
        };
        if session.lane.is_none()
            && let Some(sql) = &self.queries.facts
        {
            session
                .facts(&database, sql)?
                .into_iter()
                .for_each(|fact| emitter.emit_fact(fact));
        }
        let news = session.scan(number, &database, &self.queries, (is_touched, is_settling))?;
        let ScanResult::More(mut todo) = news else {
            return Ok(news);
        };
        todo.extend(
            self.queries
                .children
                .is_some()
                .then_some(ReadStep::Children(number)),
        );
        Ok(ScanResult::More(todo))
    }

    fn read_next(&mut self, todo: Vec<ReadStep>) {
        for todo in todo.into_iter().rev() {
            self.queue.push_front(todo);
        }
    }

    fn fail(&mut self, failure: DatabaseFailure, now: Instant) -> Option<LinkState> {
        self.database = None;
        self.schedule.fail(failure, now)
    }
}
