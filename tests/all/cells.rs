//! Tests with values of every type in every column of the databases: reading terminates, and no row
//! is lost or counted twice.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use rusqlite::Connection;
use tv::ingest::{Target, WatchMode, open, sessions};
use tv::model::edit::{Feed, LinkState, Stage};
use tv::model::transcript::Transcript;

use crate::databases::{tables_of, write};
use crate::fixtures::{PATIENCE, root};
use crate::follow::Followed;

/// A value of each type, as SQL; the last text is no UTF-8.
const VALUES: [&str; 10] = [
    "NULL",
    "-9223372036854775808",
    "1.5",
    "-9e999",
    "''",
    "' '",
    "'x'",
    "CAST(X'6D73675FFF41' AS TEXT)",
    "CAST(X'00FF' AS TEXT)",
    "X'FF00'",
];

/// A schema, its rows, its tables with sessions, and how many records a session named `s` has.
struct Schema {
    tables: PathBuf,
    rows: &'static str,
    names: &'static [&'static str],
    count: &'static str,
}

const OPENCODE: &str = r#"
    INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated)
      VALUES ('s', 'p', 's', '/', 'A title', '1.16.0', 1, 1);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70)
      INSERT INTO message SELECT printf('msg_%03d', i), 's', i, i, '{"role":"user"}' FROM n;
    INSERT INTO part SELECT 'prt' || substr(id, 4), id, 's', time_created, time_updated,
      '{"type":"text","text":"words"}' FROM message;
    INSERT INTO todo VALUES ('s', 'water', 'pending', 'high', 0, 1, 1);"#;

const SECOND: &str = r#"
    INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated)
      VALUES ('s', 'p', 's', '/', 'A title', '2.0.0', 1, 1);
    INSERT INTO session_message VALUES ('msg_1', 's', 'user', 1, 1, '{"text":"hello"}', 1),
      ('msg_2', 's', 'assistant', 2, 2, '{"content":[]}', 2), ('msg_3', 's', 'user', 3, 3, '{"text":"so"}', 3);"#;

const WHOLE: &str = r#"
    INSERT INTO session_v2 (id, project_id, slug, directory, title, version, time_created, time_updated)
      VALUES ('s', 'p', 's', '/', 'A title', '2.0.0', 1, 1);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70)
      INSERT INTO session_message SELECT printf('msg_%03d', i), 's', 'user', i, i, i, '{"text":"words"}' FROM n;
    INSERT INTO session_pending VALUES ('msg_071', 's', 'user', '{"text":"later"}', 'queue', 71, 71);"#;

const WHOLE_COUNT: &str = "SELECT (SELECT count(*) FROM session_v2 WHERE id = 's') \
    + (SELECT count(*) FROM session_message WHERE session_id = 's')";

const OPENCLAW: &str = r#"
    INSERT INTO session_nodes (session_key, current_session_id) VALUES ('agent:main:main', 's');
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70)
      INSERT INTO transcript_events (session_id, seq, event_json, created_at) SELECT 's', i,
      '{"type":"message","id":"e' || i || '","message":{"role":"user","content":"words"}}', i FROM n;"#;

const OPENCODE_COUNT: &str = "SELECT (SELECT count(*) FROM session WHERE id = 's') \
    + (SELECT count(*) FROM message WHERE session_id = 's') + (SELECT count(*) FROM part WHERE session_id = 's') \
    + (SELECT count(*) FROM session_message WHERE session_id = 's' \
       AND NOT EXISTS (SELECT 1 FROM message WHERE session_id = 's')) \
    + EXISTS (SELECT 1 FROM todo WHERE session_id = 's')";

fn schemas() -> [Schema; 4] {
    let (opencode, openclaw) = (
        root().join("opencode/opencode.sql"),
        root().join("openclaw/openclaw-agent.sql"),
    );
    [
        Schema {
            tables: opencode.clone(),
            rows: OPENCODE,
            names: &["session", "message", "part", "todo"],
            count: OPENCODE_COUNT,
        },
        Schema {
            tables: opencode,
            rows: SECOND,
            names: &["session_message"],
            count: OPENCODE_COUNT,
        },
        Schema {
            tables: root().join("opencode/opencode-2.sql"),
            rows: WHOLE,
            names: &["session_v2", "session_message", "session_pending"],
            count: WHOLE_COUNT,
        },
        Schema {
            tables: openclaw,
            rows: OPENCLAW,
            names: &[
                "transcript_events",
                "session_nodes",
                "transcript_rewrite_watermarks",
            ],
            count: "SELECT count(*) FROM transcript_events WHERE session_id = 's'",
        },
    ]
}

/// The tables as they would be without a word on what may be in them.
fn lax(sql: &Path) -> String {
    tables_of(sql)
        .replace("STRICT", "")
        .replace("NOT NULL", "")
        .replace("journal_mode = wal", "journal_mode = delete")
}

/// The whole session, read on a thread of its own, so that an endless reading is a failure.
fn read_to_the_end(target: &Target, place: &str) -> Result<Transcript, String> {
    let (sender, receiver) = mpsc::channel();
    let target = target.clone();
    std::thread::spawn(move || {
        let read = open(&target)
            .map_err(|error| error.to_string())
            .map(|session| {
                let (mut transcript, mut is_whole) = (Transcript::new(), false);
                session.read_whole(false, &mut |feed| match feed {
                    Feed::Batch {
                        stage: Stage::Whole,
                        batch,
                    } => drop(transcript.apply(*batch)),
                    Feed::CaughtUp => is_whole = true,
                    Feed::Fault(fault) => panic!("{fault}"),
                    _ => {}
                });
                assert!(is_whole, "the feed ends");
                transcript
            });
        sender.send(read).unwrap();
    });
    receiver
        .recv_timeout(PATIENCE)
        .unwrap_or_else(|_| panic!("{place}: reading does not end"))
}

fn columns_of(connection: &Connection, tables: &[&str]) -> Vec<(String, String)> {
    let mut statement = connection
        .prepare(
            "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'",
        )
        .unwrap();
    let rows = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    let all = rows.map(Result::unwrap);
    all.filter(|(table, _): &(String, String)| tables.contains(&table.as_str()))
        .collect()
}

#[test]
fn every_type_in_every_column_is_read_to_the_end_and_counted() {
    let (mut read, mut refused) = (0, 0);
    let folder = tempfile::tempdir().unwrap();
    for schema in schemas() {
        let (sql, sound, odd) = (
            folder.path().join("made.sql"),
            folder.path().join("sound.db"),
            folder.path().join("odd.db"),
        );
        fs::write(&sql, lax(&schema.tables) + schema.rows).unwrap();
        write(&sql, &sound);
        let columns = columns_of(&Connection::open(&sound).unwrap(), schema.names);
        assert!(columns.len() > 4);
        for (table, column) in columns {
            // The last row with each value, and all rows with the odd ones.
            let last = VALUES
                .iter()
                .map(|value| (value, "(SELECT max(rowid) FROM"));
            let all = VALUES
                .iter()
                .step_by(3)
                .map(|value| (value, "(SELECT rowid FROM"));
            for (value, rows) in last.chain(all) {
                let place = format!("{table}.{column} = {value} in {rows}");
                fs::copy(&sound, &odd).unwrap();
                let connection = Connection::open(&odd).unwrap();
                let update =
                    format!("UPDATE {table} SET {column} = {value} WHERE rowid IN {rows} {table})");
                if connection.execute(&update, []).is_err() {
                    // A key that is there twice.
                    continue;
                }
                let expected: i64 = connection
                    .query_row(schema.count, [], |row| row.get(0))
                    .unwrap();
                drop(connection);
                let target = Target {
                    path: odd.clone(),
                    session: Some("s".to_owned()),
                };
                assert!(
                    sessions(&Target {
                        session: None,
                        ..target.clone()
                    })
                    .is_ok(),
                    "{place}: listed"
                );
                match read_to_the_end(&target, &place) {
                    Ok(transcript) => {
                        let tally = transcript.tally();
                        assert_eq!(tally.records(), expected.unsigned_abs(), "{place}");
                        assert_eq!(
                            tally.records(),
                            tally.shown + tally.merged + tally.passed + tally.faulty,
                            "{place}"
                        );
                        read += 1;
                    }
                    Err(why) => {
                        assert!(column.ends_with("id"), "{place}: {why}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(read > 300 && refused > 0, "{read} {refused}");
}

/// What orders rows is what a reader that follows asks by.
#[test]
fn odd_values_among_what_orders_rows_do_not_keep_a_reader_busy() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("message", "id"),
        ("message", "time_created"),
        ("part", "message_id"),
        ("part", "id"),
        ("session_message", "id"),
        ("session_message", "seq"),
        ("transcript_events", "seq"),
    ];
    for schema in schemas() {
        for (table, column) in cases
            .iter()
            .filter(|(table, _)| schema.names.contains(table))
        {
            for value in &VALUES {
                let path = folder.path().join(format!("{table}{column}.db"));
                let sql = folder.path().join("made.sql");
                let change = format!("UPDATE {table} SET {column} = {value} WHERE rowid = 70;");
                fs::write(&sql, lax(&schema.tables) + schema.rows + &change).unwrap();
                write(&sql, &path);
                let connection = Connection::open(&path).unwrap();
                let expected: i64 = connection
                    .query_row(schema.count, [], |row| row.get(0))
                    .unwrap();
                let target = Target {
                    path: path.clone(),
                    session: Some("s".to_owned()),
                };
                let mut followed = Followed::of(open(&target).unwrap(), WatchMode::Poll);
                let place = format!("{table}.{column} = {value}");
                followed.until(&place, |f| {
                    f.is_caught_up && f.whole.tally().records() == expected.unsigned_abs()
                });
                // A change is seen, so it is not at something else for ever.
                let copy = match *table {
                    "transcript_events" => {
                        "INSERT INTO transcript_events (session_id, seq, event_json) VALUES ('s', 71, '{}')"
                    }
                    "session_message" if schema.rows == WHOLE => {
                        "INSERT INTO session_message VALUES ('msg_new', 's', 'user', 99, 99, 99, '{\"text\":\"new\"}')"
                    }
                    "session_message" => {
                        "INSERT INTO session_message VALUES ('msg_new', 's', 'user', 99, 99, '{\"text\":\"new\"}', 99)"
                    }
                    _ => {
                        "INSERT INTO part VALUES ('prt_new', 'msg_001', 's', 99, 99, '{\"type\":\"text\",\"text\":\"new\"}')"
                    }
                };
                connection.execute(copy, []).unwrap();
                followed.until(&place, |f| {
                    f.whole.tally().records() == expected.unsigned_abs() + 1
                });
                let anew = followed
                    .links
                    .iter()
                    .filter(|link| matches!(link, LinkState::Reread(_)))
                    .count();
                assert_eq!(anew, 0, "{place}: {:?}", followed.links);
                followed.end();
            }
        }
    }
}
