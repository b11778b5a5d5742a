//! Databases of both schemas with any values in their cells, read as the program reads them.
//!
//! An input consists of lines: the first byte chooses the schema, then each line changes a cell.
//! Its first bytes choose table, column and row, the fourth the type (`n`ull, `i`nteger, `r`eal,
//! `t`ext, else bytes); the rest is the value.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, ValueRef};
use tv::ingest::{Target, open, sessions};
use tv::model::edit::{Batch, Feed, Stage};

use crate::laws;

/// Rows of a session named `s`, in tables without type constraints.
struct Schema {
    tables: &'static str,
    rows: &'static str,
    /// How many records that session has.
    count: &'static str,
}

const SCHEMAS: [Schema; 2] = [
    Schema {
        tables: include_str!("../../fixtures/opencode/opencode.sql"),
        rows: r#"INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated)
              VALUES ('s', 'p', 's', '/', 'A title', '1.16.0', 1, 1), ('c', 'p', 'c', '/', 'A child', '1.16.0', 1, 1);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70)
              INSERT INTO message SELECT printf('msg_%03d', i), 's', i, i, '{"role":"user"}' FROM n;
            INSERT INTO part SELECT 'prt' || substr(id, 4), id, 's', time_created, time_updated,
              '{"type":"text","text":"words"}' FROM message;
            INSERT INTO session_message VALUES ('msg_1', 'c', 'user', 1, 1, '{"text":"hello"}', 1),
              ('msg_2', 'c', 'assistant', 2, 2, '{"content":[]}', 2);
            INSERT INTO todo VALUES ('s', 'water', 'pending', 'high', 0, 1, 1);"#,
        count: "SELECT (SELECT count(*) FROM session WHERE id = 's') \
            + (SELECT count(*) FROM message WHERE session_id = 's') \
            + (SELECT count(*) FROM part WHERE session_id = 's') \
            + (SELECT count(*) FROM session_message WHERE session_id = 's' \
               AND NOT EXISTS (SELECT 1 FROM message WHERE session_id = 's')) \
            + EXISTS (SELECT 1 FROM todo WHERE session_id = 's')",
    },
    Schema {
        tables: include_str!("../../fixtures/openclaw/openclaw-agent.sql"),
        rows: r#"INSERT INTO session_nodes (session_key, current_session_id) VALUES ('agent:main:main', 's');
            INSERT INTO transcript_rewrite_watermarks VALUES ('s', 'first', 1);
            INSERT INTO session_transcript_active_events VALUES ('s', 1, 1, 1, 1), ('s', 2, 3, 2, 1);
            INSERT INTO session_transcript_index_state VALUES ('s', 4, 'e3', 0, 1);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70)
              INSERT INTO transcript_events (session_id, seq, event_json, created_at) SELECT 's', i,
              '{"type":"message","id":"e' || i || '","message":{"role":"user","content":"words"}}', i FROM n;"#,
        count: "SELECT count(*) FROM transcript_events WHERE session_id = 's'",
    },
];

/// A database without changed cells, the columns of its tables, and the file for a changed one.
struct Made {
    sound: Vec<u8>,
    columns: Vec<(String, Vec<String>)>,
    path: PathBuf,
}

impl Made {
    fn of(schema: &Schema) -> Self {
        let folder = PathBuf::from("/dev/shm");
        let folder = if folder.is_dir() {
            folder
        } else {
            std::env::temp_dir()
        };
        let path = folder.join(format!("tv-fuzz-cells-{}.db", std::process::id()));
        fs::remove_file(&path).ok();
        let connection = Connection::open(&path).expect("a database");
        let lines = schema
            .tables
            .lines()
            .take_while(|line| !line.starts_with("INSERT"));
        let tables: String = lines.flat_map(|line| [line, "\n"]).collect();
        let lax = tables
            .replace("STRICT", "")
            .replace("NOT NULL", "")
            .replace("= wal", "= memory");
        connection
            .execute_batch(&(lax + schema.rows))
            .expect("sound SQL");
        let columns = columns(&connection);
        drop(connection);
        Self {
            sound: fs::read(&path).expect("it was made"),
            columns,
            path,
        }
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        fs::remove_file(&self.path).ok();
    }
}

/// The tables with rows, and their columns.
fn columns(connection: &Connection) -> Vec<(String, Vec<String>)> {
    let sql = "SELECT t.name, group_concat(c.name) FROM sqlite_schema t, pragma_table_info(t.name) c \
               WHERE t.type = 'table' GROUP BY t.name";
    let mut statement = connection.prepare(sql).expect("sound SQL");
    let rows = statement.query_map([], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    });
    let all = rows.expect("a schema").map(|row| row.expect("two names"));
    let is_filled = |table: &str| {
        connection
            .query_row(&format!("SELECT 1 FROM {table}"), [], |_| Ok(()))
            .is_ok()
    };
    let split = |columns: String| columns.split(',').map(str::to_owned).collect();
    all.filter(|(table, _)| is_filled(table))
        .map(|(table, columns)| (table, split(columns)))
        .collect()
}

thread_local! {
    static MADE: RefCell<Vec<Made>> = RefCell::new(SCHEMAS.iter().map(Made::of).collect());
}

/// Changes cells as the input says, then reads the database to its end and counts each row once.
pub fn read(data: &[u8]) {
    let Some((schema, changes)) = data.split_first() else {
        return;
    };
    let number = usize::from(*schema) % SCHEMAS.len();
    MADE.with_borrow(|all| {
        let made = &all[number];
        fs::write(&made.path, &made.sound).expect("a file in memory");
        let connection = Connection::open(&made.path).expect("it was made");
        connection
            .execute_batch("PRAGMA journal_mode = off; PRAGMA synchronous = off; BEGIN")
            .expect("sound SQL");
        for change in changes.split(|byte| *byte == b'\n').take(40) {
            set(&connection, made, change);
        }
        connection
            .execute_batch("COMMIT")
            .expect("cells are changed");
        let expected: i64 = connection
            .query_row(SCHEMAS[number].count, [], |row| row.get(0))
            .expect("a number");
        drop(connection);
        check(made, expected.unsigned_abs());
    });
}

/// Changes a cell; a key that exists already is left unchanged.
fn set(connection: &Connection, made: &Made, change: &[u8]) {
    let [table, column, row, kind, value @ ..] = change else {
        return;
    };
    let (table, columns) = &made.columns[usize::from(*table) % made.columns.len()];
    let column = &columns[usize::from(*column) % columns.len()];
    let written = || std::str::from_utf8(value).ok().map(str::trim);
    let value = match kind {
        b'n' => ValueRef::Null,
        b'i' => ValueRef::Integer(written().and_then(|text| text.parse().ok()).unwrap_or(0)),
        b'r' => ValueRef::Real(written().and_then(|text| text.parse().ok()).unwrap_or(0.5)),
        b't' => ValueRef::Text(value),
        _ => ValueRef::Blob(value),
    };
    let sql = format!(
        "UPDATE OR IGNORE {table} SET {column} = ?1 \
         WHERE rowid = (SELECT rowid FROM {table} ORDER BY rowid LIMIT 1 OFFSET ?2 % (SELECT count(*) FROM {table}))"
    );
    connection
        .execute(&sql, (ToSqlOutput::Borrowed(value), row))
        .expect("any value fits a lax table");
}

fn check(made: &Made, expected: u64) {
    let whole = Target {
        path: made.path.clone(),
        session: None,
    };
    sessions(&whole).expect("the tables are known");
    let target = Target {
        session: Some("s".to_owned()),
        ..whole
    };
    // The session may be gone.
    let Ok(session) = open(&target) else { return };
    let (mut batches, mut is_whole): (Vec<Batch>, bool) = (Vec::new(), false);
    session.read_whole(false, &mut |message| match message {
        Feed::Batch {
            stage: Stage::Whole,
            batch,
        } => batches.push(*batch),
        Feed::CaughtUp => is_whole = true,
        Feed::Fault(what) => panic!("{what}"),
        _ => {}
    });
    assert!(is_whole, "the feed ends with CaughtUp");
    laws::assert_clean_within(&batches);
    let transcript = laws::tell(batches);
    let tally = transcript.tally();
    laws::assert_conserved(tally);
    // A child is read into a lane.
    assert!(
        tally.records() >= expected,
        "{} of {expected} rows",
        tally.records()
    );
    let is_alone = transcript.lanes().is_empty();
    assert!(
        !is_alone || tally.records() == expected,
        "{} of {expected} rows",
        tally.records()
    );
    laws::assert_transcript_clean(&transcript);
}
