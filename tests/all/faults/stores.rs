//! Tests of folders of small files and of databases: writers at work, and unexpected tables.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;
use tv::ingest::{Target, WatchMode, open};
use tv::model::edit::{Feed, LinkState};
use tv::model::transcript::Transcript;

use super::READ_ONLY;
use crate::databases::{Writer, listing, tables_of};
use crate::fixtures::root;
use crate::follow::{Followed, message, part, said};

fn openclaw() -> PathBuf {
    root().join("openclaw/openclaw-agent.sql")
}

fn opencode() -> PathBuf {
    root().join("opencode/opencode.sql")
}

fn with_tables_of(sql: &Path) -> (TempDir, PathBuf, Writer) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("agent.db");
    let writer = Writer::open(&path);
    writer.run(&tables_of(sql));
    (dir, path, writer)
}

fn undone(transcript: &Transcript) -> Vec<String> {
    transcript
        .entries()
        .filter(|entry| entry.marks.undone)
        .map(|entry| entry.key.to_string())
        .collect()
}

/// The file of the session in a folder, with what was undone.
fn session(storage: &Path, revert: &str) {
    fs::create_dir_all(storage.join("session/project")).unwrap();
    let json = format!(
        r#"{{"id":"ses_1","projectID":"project","directory":"/x","title":"t","version":"1.0.0",{revert}"time":{{"created":1,"updated":2}}}}"#
    );
    fs::write(storage.join("session/project/ses_1.json"), json).unwrap();
}

#[test]
fn parts_before_their_message_undo_and_redo_in_a_folder() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let dir = tempfile::tempdir().unwrap();
        let storage = dir.path().join("storage");
        session(&storage, "");
        message(&storage, "msg_1", "user");
        part(&storage, "msg_1", "prt_1", "one");
        let mut followed = Followed::start(&storage, mode);
        followed.until("the first message", |f| said(&f.whole) == ["one"]);
        part(&storage, "msg_2", "prt_2", "two");
        part(&storage, "msg_2", "prt_3", "more");
        message(&storage, "msg_2", "assistant");
        followed.until("the message with its parts", |f| {
            said(&f.whole) == ["one", "two|more"]
        });
        message(&storage, "msg_3", "user");
        part(&storage, "msg_3", "prt_4", "three");
        followed.until("the third", |f| said(&f.whole).len() == 3);
        assert!(undone(&followed.whole).is_empty());
        session(&storage, r#""revert":{"messageID":"msg_2"},"#);
        followed.until("undone", |f| undone(&f.whole) == ["msg_2", "msg_3"]);
        assert_eq!(
            said(&followed.whole).len(),
            3,
            "what was undone is still there"
        );
        session(&storage, "");
        followed.until("done again", |f| undone(&f.whole).is_empty());
        fs::remove_dir_all(storage.join("part/msg_3")).unwrap();
        fs::remove_file(storage.join("message/ses_1/msg_3.json")).unwrap();
        followed.until("deleted", |f| said(&f.whole) == ["one", "two|more"]);
        // The session, two messages and three parts.
        followed.until("counted once", |f| {
            f.whole.tally().records() == 6 && f.whole.tally().faulty == 0
        });
        followed.end();
    }
}

#[test]
fn parts_before_their_message_undo_and_redo_in_a_database() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let (_dir, path, writer) = with_tables_of(&opencode());
        writer.run("PRAGMA foreign_keys = off");
        writer.run("INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) \
                    VALUES ('ses_1', 'p', 's', '/', 'A title', '1.16.0', 0, 0)");
        writer.message("ses_1", 1, "user");
        writer.part("ses_1", 1, 1, "one", 1);
        let mut followed = Followed::start(&path, mode);
        followed.until("the first message", |f| said(&f.whole) == ["one"]);
        writer.part("ses_1", 2, 2, "two", 2);
        writer.message("ses_1", 2, "user");
        followed.until("the message with its part", |f| {
            said(&f.whole) == ["one", "two"]
        });
        writer.message("ses_1", 3, "user");
        writer.part("ses_1", 3, 3, "three", 3);
        followed.until("the third", |f| said(&f.whole) == ["one", "two", "three"]);
        writer.run(
            "UPDATE session SET revert = '{\"messageID\":\"msg_00000002\"}', time_updated = 5",
        );
        followed.until("undone", |f| {
            undone(&f.whole) == ["msg_00000002", "msg_00000003"]
        });
        writer.run("UPDATE session SET revert = NULL, time_updated = 6");
        followed.until("done again", |f| undone(&f.whole).is_empty());
        writer.run("DELETE FROM part WHERE message_id = 'msg_00000003'; DELETE FROM message WHERE id = 'msg_00000003'");
        followed.until("deleted", |f| said(&f.whole) == ["one", "two"]);
        assert_eq!(followed.whole.tally().records(), 5);
        followed.end();
    }
}

/// As many part files as are asked for, else some thousand.
#[test]
fn of_many_part_files_one_that_is_half_written_holds_up_no_other() {
    let count = crate::fixtures::asked("PART_FILES").unwrap_or(2_000);
    let dir = tempfile::tempdir().unwrap();
    let storage = dir.path().join("storage");
    session(&storage, "");
    let messages = count / 5;
    for number in 0..messages {
        message(&storage, &format!("msg_{number:06}"), "user");
        for piece in 0..5 {
            part(
                &storage,
                &format!("msg_{number:06}"),
                &format!("prt_{number:06}{piece}"),
                "text",
            );
        }
    }
    let half = storage.join("part/msg_000007/prt_0000072.json");
    let whole = fs::read_to_string(&half).unwrap();
    fs::write(&half, &whole[..whole.len() / 2]).unwrap();
    let mut followed = Followed::start(&storage, WatchMode::Native);
    assert!(
        followed.preview.order().len() < 200,
        "the newest are shown first"
    );
    assert!(!followed.preview.order().is_empty());
    let records = u64::try_from(1 + messages + 5 * messages).unwrap();
    followed.until("all the others", |f| {
        f.whole.tally().records() >= records - 1
    });
    assert_eq!(followed.whole.tally().faulty, 0);
    fs::write(&half, whole.replace("text\"}", "late\"}")).unwrap();
    followed.until("the half one", |f| {
        said(&f.whole).iter().any(|said| said.contains("late"))
    });
    assert_eq!(
        (
            followed.whole.tally().records(),
            followed.whole.tally().faulty
        ),
        (records, 0)
    );
    followed.end();
}

fn numbers(range: std::ops::Range<i64>) -> Vec<String> {
    range.map(|number| format!("message {number}")).collect()
}

fn spoken(transcript: &Transcript) -> Vec<String> {
    said(transcript)
        .into_iter()
        .filter(|said| said.starts_with("message"))
        .collect()
}

#[test]
fn a_writer_that_locks_checkpoints_and_loses_its_log_holds_nobody_up() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let (dir, path, writer) = with_tables_of(&openclaw());
        writer.events("s", 0..4);
        let mut followed = Followed::start(&path, mode);
        followed.until("three", |f| spoken(&f.whole) == numbers(1..4));
        let mut next = 4;
        for sql in [
            "PRAGMA wal_checkpoint(passive)",
            "PRAGMA wal_checkpoint(restart)",
            "PRAGMA wal_checkpoint(truncate)",
            "BEGIN EXCLUSIVE; UPDATE transcript_events SET created_at = 1; COMMIT",
            "VACUUM",
        ] {
            writer.events("s", next..next + 100);
            writer.run(sql);
            writer.events("s", next + 100..next + 101);
            next += 101;
            followed.until(sql, |f| spoken(&f.whole) == numbers(1..next));
        }
        drop(writer);
        assert_eq!(listing(dir.path()), ["agent.db"]);
        // A log that nobody puts away, as after a crash, and that is then deleted.
        let writer = Writer::open(&path);
        writer.run("PRAGMA wal_autocheckpoint = 0");
        writer.events("s", next..next + 5);
        followed.until("more", |f| spoken(&f.whole) == numbers(1..next + 5));
        let crashed = tempfile::tempdir().unwrap();
        let copy = crashed.path().join("agent.db");
        for ending in ["", "-wal"] {
            fs::copy(
                format!("{}{ending}", path.display()),
                format!("{}{ending}", copy.display()),
            )
            .unwrap();
        }
        followed.end();
        let mut followed = Followed::start(&copy, mode);
        followed.until("with its log", |f| spoken(&f.whole) == numbers(1..next + 5));
        fs::remove_file(format!("{}-wal", copy.display())).unwrap();
        followed.until("without it", |f| spoken(&f.whole) == numbers(1..next));
        assert_eq!(listing(crashed.path()), ["agent.db"]);
        followed.end();
    }
}

#[test]
fn a_database_on_a_read_only_mount_is_followed() {
    let (dir, path, writer) = with_tables_of(&openclaw());
    writer.events("s", 0..4);
    for live in [true, false] {
        if !live {
            writer.run("PRAGMA wal_checkpoint(truncate)");
        }
        let before = listing(dir.path());
        let Some(mut console) = READ_ONLY.view(&["--level=3", path.to_str().unwrap()]) else {
            return;
        };
        console.wait_for("message 3");
        let next = if live { 4 } else { 5 };
        writer.events("s", next..next + 1);
        console.wait_for(&format!("message {next}"));
        console.send("q");
        assert_eq!(console.wait_for_exit(), 0);
        assert_eq!(listing(dir.path()), before);
    }
}

/// How many records there are, or why they cannot be read.
fn records_of(target: &Target) -> Result<u64, String> {
    let session = open(target).map_err(|error| error.to_string())?;
    let (mut transcript, mut fault) = (Transcript::new(), None);
    session.read_whole(true, &mut |feed| match feed {
        Feed::Batch { batch, .. } => drop(transcript.apply(*batch)),
        Feed::Fault(what) => fault = Some(what.to_string()),
        _ => {}
    });
    fault.map_or(Ok(transcript.tally().records()), Err)
}

/// Each column of each table is missing once, and once there is one more: what can be read is read, and
/// else it is said why not.
#[test]
fn tables_of_other_versions_are_read_or_refused_by_name() {
    let (mut read_in_full, mut refused) = (0, 0);
    for sql in [openclaw(), opencode()] {
        let text = fs::read_to_string(&sql).unwrap();
        let whole = tempfile::tempdir().unwrap();
        let path = whole.path().join("agent.db");
        Connection::open(&path)
            .unwrap()
            .execute_batch(&text)
            .unwrap();
        let first = |path: &Path| {
            let target = Target {
                path: path.to_owned(),
                session: None,
            };
            let session = tv::ingest::sessions(&target).ok()?.first()?.id.clone();
            Some(Target {
                path: path.to_owned(),
                session: Some(session),
            })
        };
        let expected = records_of(&first(&path).unwrap()).unwrap();
        let connection = Connection::open(&path).unwrap();
        let query = "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c \
                     WHERE t.type = 'table'";
        let mut statement = connection.prepare(query).unwrap();
        let rows = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        let columns: Vec<(String, String)> = rows.map(Result::unwrap).collect();
        for (table, column) in columns {
            let other = whole.path().join("other.db");
            let _ = fs::remove_file(&other);
            fs::copy(&path, &other).unwrap();
            let connection = Connection::open(&other).unwrap();
            connection
                .execute_batch("PRAGMA foreign_keys = off; PRAGMA user_version = 4711")
                .unwrap();
            connection
                .execute_batch(&format!("ALTER TABLE {table} ADD COLUMN later_added TEXT"))
                .unwrap();
            let rename = format!("ALTER TABLE {table} RENAME COLUMN {column} TO {column}_once");
            if connection.execute_batch(&rename).is_err() {
                continue;
            }
            drop(connection);
            let Some(target) = first(&other) else {
                refused += 1;
                continue;
            };
            match records_of(&target) {
                Ok(records) => {
                    assert!(
                        records <= expected,
                        "{table}.{column}: {records} of {expected}"
                    );
                    read_in_full += usize::from(records == expected);
                }
                Err(why) => {
                    assert!(!why.is_empty(), "{table}.{column}");
                    refused += 1;
                }
            }
        }
    }
    assert!(read_in_full > 20 && refused > 2, "{read_in_full} {refused}");
}

#[test]
fn tables_that_change_while_they_are_read_are_read_again() {
    let (_dir, path, writer) = with_tables_of(&openclaw());
    writer.events("s", 0..4);
    let mut followed = Followed::start(&path, WatchMode::Native);
    followed.until("three", |f| spoken(&f.whole) == numbers(1..4));
    writer.run("ALTER TABLE transcript_events ADD COLUMN later_added TEXT");
    writer.events("s", 4..6);
    followed.until("more", |f| spoken(&f.whole) == numbers(1..6));
    writer.run("ALTER TABLE transcript_events RENAME COLUMN event_json TO another_name");
    followed.until("said why", |f| {
        matches!(f.links.last(), Some(LinkState::Unreadable(_)))
    });
    assert_eq!(
        spoken(&followed.whole),
        numbers(1..6),
        "what was read stays"
    );
    writer.run("ALTER TABLE transcript_events RENAME COLUMN another_name TO event_json");
    writer.events("s", 6..8);
    followed.until("again", |f| spoken(&f.whole) == numbers(1..8));
    followed.end();
}

/// Agents keep keys beside their sessions. Whoever reads such a table finds a tripwire: a view that cannot be read.
#[test]
fn tables_of_credentials_are_never_read() {
    const KEY: &str = "sk-ant-NEVER-TO-BE-READ";
    for (sql, tables) in [
        (opencode(), &["account", "control_account"][..]),
        (openclaw(), &["auth_profile_store"][..]),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let made = |name: &str, change: &dyn Fn(&Connection, &str)| {
            let path = dir.path().join(name).join("agent.db");
            fs::create_dir(path.parent().unwrap()).unwrap();
            crate::databases::write(&sql, &path);
            let connection = Connection::open(&path).unwrap();
            for table in tables {
                change(&connection, table);
            }
            drop(connection);
            reports(&path)
        };
        let plain = made("plain", &|_, _| {});
        let keys = made("keys", &|connection, table| {
            let mut columns = connection
                .prepare(&format!("PRAGMA table_info({table})"))
                .unwrap();
            let types = columns
                .query_map([], |row| row.get::<_, String>(2))
                .unwrap();
            let value = |kind: String| {
                if kind.eq_ignore_ascii_case("text") {
                    format!("'{KEY}'")
                } else {
                    "7".to_owned()
                }
            };
            let values: Vec<String> = types.map(|kind| value(kind.unwrap())).collect();
            connection
                .execute_batch(&format!(
                    "INSERT INTO {table} VALUES ({})",
                    values.join(", ")
                ))
                .unwrap();
        });
        assert!(
            !keys.iter().any(|key| key.contains("NEVER-TO-BE")),
            "{keys:?}"
        );
        let wired = made("wired", &|connection, table| {
            let wire = format!(
                "DROP TABLE {table}; CREATE VIEW {table} AS SELECT no_such_function() AS access_token"
            );
            connection.execute_batch(&wire).unwrap();
            assert!(
                connection
                    .prepare(&format!("SELECT * FROM {table}"))
                    .is_err(),
                "the tripwire works"
            );
        });
        // All that is said of the session is the same; sizes of files are another matter.
        assert_eq!(keys[..SAME], plain[..SAME]);
        assert_eq!(wired[..SAME], plain[..SAME]);
        for output in &wired[SAME..] {
            assert!(
                !output.contains("no_such_function") && !output.contains("cannot be read"),
                "{output}"
            );
        }
    }
}

/// So many of the reports depend on the session alone.
const SAME: usize = 4;

/// What reports say of the first session of a database, without its place.
fn reports(path: &Path) -> Vec<String> {
    let session = tv::ingest::sessions(&Target {
        path: path.to_owned(),
        session: None,
    })
    .unwrap()
    .swap_remove(0);
    let (place, one) = (
        path.display().to_string(),
        format!("{}#{}", path.display(), session.id),
    );
    let run = |arguments: &[&str]| {
        let output = std::process::Command::new(super::TV)
            .args(arguments)
            .output()
            .unwrap();
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{arguments:?} {output:?}"
        );
        let output =
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        output.replace(&place, "DATABASE")
    };
    [
        &["show", "--level", "5", &one][..],
        &["show", "--json", &one],
        &["stats", "--json", &one],
        &["check", "--json", &one],
        &["doctor", &one],
        &["doctor", "--json", &one],
        &["list", &place],
        &["list", "--json", &place],
    ]
    .into_iter()
    .map(run)
    .collect()
}
