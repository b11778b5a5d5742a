//! Databases of agents, generated from SQL: those of fixtures, and those that a test writes to
//! while tv reads.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, params};

/// Fixtures that were made into databases, so that each is made once.
static MADE: Mutex<Option<HashMap<PathBuf, PathBuf>>> = Mutex::new(None);

/// The database that an SQL file describes, as its agent leaves it when it has ended.
pub(crate) fn made_from(sql: &Path) -> PathBuf {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let made = made.get_or_insert_default();
    let make = || {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("databases-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(sql.with_extension("db").file_name().unwrap());
        write(sql, &path);
        path
    };
    made.entry(sql.to_owned()).or_insert_with(make).clone()
}

/// Makes a database of an SQL file.
pub(crate) fn write(sql: &Path, path: &Path) {
    let _ = fs::remove_file(path);
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch(&fs::read_to_string(sql).unwrap())
        .unwrap();
}

/// An agent that holds its database open.
pub(crate) struct Writer {
    pub(crate) connection: Connection,
}

impl Writer {
    /// Opens a database as its agent does.
    pub(crate) fn open(path: &Path) -> Self {
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch("PRAGMA journal_mode = wal; PRAGMA synchronous = normal")
            .unwrap();
        Self { connection }
    }

    pub(crate) fn run(&self, sql: &str) {
        self.connection.execute_batch(sql).unwrap();
    }

    /// Adds events `numbers` to an OpenClaw session, in one transaction.
    pub(crate) fn events(&self, session: &str, numbers: std::ops::Range<i64>) {
        let transaction = self.connection.unchecked_transaction().unwrap();
        for seq in numbers {
            let sql = "INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES (?1, ?2, ?3, 0)";
            let mut insert = transaction.prepare_cached(sql).unwrap();
            insert.execute(params![session, seq, event(seq)]).unwrap();
        }
        transaction.commit().unwrap();
    }

    /// Adds an OpenCode session.
    pub(crate) fn session(&self, id: &str) {
        let sql = "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) \
                   VALUES (?1, 'p', 's', '/', 'A title', '1.16.0', 0, 0)";
        self.connection.execute(sql, [id]).unwrap();
    }

    /// Adds an OpenCode message with one text.
    pub(crate) fn message(&self, session: &str, number: i64, role: &str) {
        let data = format!(r#"{{"role":"{role}","time":{{"created":{number}}}}}"#);
        let sql = "INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES (?1, ?2, ?3, ?3, ?4)";
        let mut insert = self.connection.prepare_cached(sql).unwrap();
        insert
            .execute(params![message_id(number), session, number, data])
            .unwrap();
    }

    /// Adds a part to an OpenCode message, or edits it.
    pub(crate) fn part(&self, session: &str, message: i64, number: i64, text: &str, time: i64) {
        let data = format!(r#"{{"type":"text","text":"{text}"}}"#);
        let sql = "INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) \
                   VALUES (?1, ?2, ?3, ?4, ?4, ?5) \
                   ON CONFLICT (id) DO UPDATE SET data = ?5, time_updated = ?4";
        let mut insert = self.connection.prepare_cached(sql).unwrap();
        let id = format!("prt_{number:08}");
        insert
            .execute(params![id, message_id(message), session, time, data])
            .unwrap();
    }
}

/// An agent in another process: only such a one has locks that this process can see.
pub(crate) struct Elsewhere {
    child: Child,
    answers: Lines<BufReader<ChildStdout>>,
}

const ELSEWHERE: &str = "TV_TEST_WRITES_TO";

impl Elsewhere {
    pub(crate) fn open(path: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "databases::writes_what_another_process_says",
                "--nocapture",
            ])
            .env(ELSEWHERE, path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, answers }
    }

    /// Runs SQL of one line, and waits until that is done.
    pub(crate) fn run(&mut self, sql: &str) {
        let mut input = self.child.stdin.as_ref().unwrap();
        writeln!(input, "{sql}").unwrap();
        input.flush().unwrap();
        assert!(self.answers.any(|line| line.unwrap() == "done"), "{sql}");
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// The other end of [`Elsewhere`]; by itself it has nothing to do.
#[test]
fn writes_what_another_process_says() {
    let Some(path) = std::env::var_os(ELSEWHERE) else {
        return;
    };
    let connection = Connection::open(path).unwrap();
    for line in std::io::stdin().lines() {
        connection.execute_batch(&line.unwrap()).unwrap();
        println!("\ndone");
    }
}

fn message_id(number: i64) -> String {
    format!("msg_{number:08}")
}

/// An event of an OpenClaw session: its header, or a message.
pub(crate) fn event(seq: i64) -> String {
    if seq == 0 {
        return r#"{"type":"session","version":3,"id":"s","timestamp":"2026-09-20T10:00:00.000Z"}"#
            .to_owned();
    }
    let parent = if seq == 1 {
        "null".to_owned()
    } else {
        format!("\"e{}\"", seq - 1)
    };
    format!(
        r#"{{"type":"message","id":"e{seq}","parentId":{parent},"timestamp":"2026-09-20T10:00:00.000Z","message":{{"role":"user","content":"message {seq}"}}}}"#
    )
}

/// The tables of a fixture without its rows.
pub(crate) fn tables_of(sql: &Path) -> String {
    let text = fs::read_to_string(sql).unwrap();
    text.lines()
        .take_while(|line| !line.starts_with("INSERT"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The names of all files in a folder.
pub(crate) fn listing(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
