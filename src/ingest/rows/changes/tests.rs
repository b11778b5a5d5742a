use std::path::Path;
use std::time::Instant;

use rusqlite::Connection;

use super::{Changes, LONGEST, MANY, Rows};
use crate::formats::named;
use crate::ingest::bodies::Bodies;
use crate::ingest::emitter::Emitter;
use crate::ingest::files::Files;
use crate::ingest::target::Target;
use crate::ingest::{catalog, open};
use crate::model::edit::Stage;
use crate::source::rows::{Database, State};

/// The sessions that a statement concerns; `all` if it may be any.
fn touched(changes: &mut Changes, path: &Path, format: &str) -> Vec<String> {
    let before = changes.last;
    let database = Database::open(path).unwrap();
    let queries = catalog::queries(&database, named(format).unwrap()).unwrap().unwrap();
    changes.follow(State::of(path).unwrap(), &database, &queries).unwrap();
    let own = changes.of_session.iter().filter(|(_, number)| **number > before);
    let mut names: Vec<String> = own.map(|(name, _)| name.clone()).collect();
    names.extend((changes.of_all > before).then(|| "all".to_owned()));
    names.sort();
    names
}

fn fixture(sql: &str) -> (tempfile::TempDir, std::path::PathBuf, Connection) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(sql).unwrap();
    (folder, path, connection)
}

#[test]
fn a_write_names_the_sessions_that_it_concerns() {
    let (_folder, path, connection) = fixture(
        "CREATE TABLE session (id text PRIMARY KEY, parent_id text, title text, time_updated integer);
         CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, \
           time_updated integer, data text);
         CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, \
           time_created integer, time_updated integer, data text);
         INSERT INTO session VALUES ('a', NULL, 'A', 10), ('b', NULL, 'B', 20);
         INSERT INTO message VALUES ('m1', 'a', 1, 1, '{}'), ('m2', 'b', 1, 1, '{}');",
    );
    let mut changes = Changes::default();
    let mut after = |sql: &str| {
        connection.execute_batch(sql).unwrap();
        touched(&mut changes, &path, "opencode")
    };
    assert_eq!(after(""), ["all"], "nothing was known");
    assert_eq!(after(""), [""; 0]);
    assert_eq!(after("INSERT INTO message VALUES ('m3', 'b', 2, 2, '{}');"), ["b"]);
    assert_eq!(after("INSERT INTO part VALUES ('p1', 'm1', 'a', 3, 3, '{}');"), ["a"]);
    assert_eq!(after("UPDATE session SET title = 'C', time_updated = 30 WHERE id = 'a';"), ["a"]);
    assert_eq!(after("INSERT INTO session VALUES ('c', 'b', 'sub', 5);"), ["b", "c"]);
    assert_eq!(after("UPDATE part SET data = '{ }' WHERE id = 'p1';"), [""; 0], "it is looked at when warm");
    assert_eq!(after("DELETE FROM session WHERE id = 'c';"), ["all"]);
    assert_eq!(after("DELETE FROM part;"), ["all"]);
}

/// A database of OpenCode with so many sessions, each of one message, that rest for long.
fn resting(count: usize) -> (tempfile::TempDir, std::path::PathBuf, Connection) {
    let (folder, path, connection) = fixture(
        "CREATE TABLE session (id text PRIMARY KEY, parent_id text, title text, time_updated integer);
         CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, \
           time_updated integer, data text);
         CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, \
           time_created integer, time_updated integer, data text);",
    );
    for number in 0..count {
        let sql = format!(
            "INSERT INTO session VALUES ('s{number}', NULL, 'A', 1); \
             INSERT INTO message VALUES ('m{number}', 's{number}', 1, 1, '{{\"role\":\"user\"}}');"
        );
        connection.execute_batch(&sql).unwrap();
    }
    (folder, path, connection)
}

/// Which of the sessions look at the database after a write, the others resting.
fn lookers(all: &mut [(Rows, Emitter<'_>)], path: &Path, now: Instant) -> Vec<String> {
    let state = State::of(path).unwrap();
    let mut lookers = Vec::new();
    for (rows, emitter) in all {
        if !rows.rests(state, now) {
            lookers.push(rows.sessions[0].id.clone());
            rows.look(state, emitter, now).unwrap();
            while rows.step(emitter, now) {}
        }
    }
    lookers
}

#[test]
fn who_has_no_part_in_a_write_rests_but_not_for_ever() {
    let (_folder, path, connection) = resting(MANY);
    let outlet = |_| true;
    let open = |number: usize| {
        let target = Target { path: path.clone(), session: Some(format!("s{number}")) };
        let plan = open::plan(&target).unwrap();
        let emitter = Emitter::new(plan.format.decoder(), Stage::Whole, &outlet);
        (Rows::open(&plan, &Files::default(), Bodies::Recent).unwrap(), emitter)
    };
    let mut all: Vec<(Rows, Emitter<'_>)> = (0..MANY).map(open).collect();
    let now = Instant::now();
    for (rows, emitter) in &mut all {
        while rows.step(emitter, now) {}
    }
    let say = |number: usize, session: &str| {
        let message = format!("('n{number}', '{session}', 2, 2, '{{\"role\":\"user\"}}')");
        connection.execute_batch(&format!("INSERT INTO message VALUES {message};")).unwrap();
    };
    say(1, "s3");
    assert_eq!(lookers(&mut all, &path, now).len(), MANY, "nothing was known before");
    say(2, "s3");
    assert_eq!(lookers(&mut all, &path, now), ["s3"]);
    say(3, "s5");
    assert_eq!(lookers(&mut all, &path, now), ["s3", "s5"], "what was changed lately may be edited");
    say(4, "s5");
    assert_eq!(lookers(&mut all, &path, now + LONGEST).len(), MANY);
    // Of few sessions each is looked at.
    all.truncate(MANY - 1);
    say(5, "s5");
    assert_eq!(lookers(&mut all, &path, now).len(), MANY - 1);
}

#[test]
fn databases_of_definitions_name_them_too() {
    let sql = std::fs::read_to_string("tests/fixtures/goose/sessions.sql").unwrap();
    let (_folder, path, connection) = fixture(&sql);
    let mut changes = Changes::default();
    assert_eq!(touched(&mut changes, &path, "goose"), ["all"]);
    let sql = "INSERT INTO messages (session_id, role, content_json, created_timestamp) \
               VALUES ('20260919_1', 'user', '[]', 1)";
    connection.execute_batch(sql).unwrap();
    assert_eq!(touched(&mut changes, &path, "goose"), ["20260919_1"]);
}

#[test]
fn tables_of_openclaw_name_them_too() {
    let sql = std::fs::read_to_string("tests/fixtures/openclaw/openclaw-agent.sql").unwrap();
    let (_folder, path, connection) = fixture(&sql);
    let mut changes = Changes::default();
    let mut after = |sql: &str| {
        connection.execute_batch(sql).unwrap();
        touched(&mut changes, &path, "openclaw")
    };
    let id = "33330000-aaaa-4bbb-8ccc-000000000003";
    assert_eq!(after(""), ["all"]);
    let event = format!(
        "INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES ('{id}', 99, '{{}}', 1)"
    );
    assert_eq!(after(&event), [id]);
    let node = "UPDATE session_nodes SET updated_at = 1999999999999, status = 'running' WHERE session_key = 'agent:main:main'";
    assert_eq!(after(node), ["11110000-aaaa-4bbb-8ccc-000000000001"]);
    assert_eq!(after("UPDATE schema_meta SET updated_at = 1"), [""; 0]);
}
