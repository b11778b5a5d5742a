use std::fs;
use std::path::Path;

use rusqlite::{Connection, params};

use super::super::catalog;
use super::super::look::{News, Todo};
use super::super::session::SessionRows;
use super::{PORTION, SMALL_PIECE};
use crate::formats::named;
use crate::formats::tables::{Growth, Queries};
use crate::model::record::FileId;
use crate::model::tally::{Fate, Tally};
use crate::source::rows::{Cell, Database};

const MESSAGES: i64 = 3_000;

fn writer(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE session (id text PRIMARY KEY, title text, time_updated integer);
             CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, \
               time_updated integer, data text);
             CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, \
               time_created integer, time_updated integer, data text);
             CREATE INDEX a ON message (session_id, time_created, id);
             CREATE INDEX b ON part (message_id, id);
             CREATE INDEX c ON part (session_id);
             INSERT INTO session VALUES ('s', 'a title', 1);",
        )
        .unwrap();
    connection
}

fn add(connection: &Connection, numbers: std::ops::Range<i64>) {
    let text = format!(r#"{{"type":"text","text":"{}"}}"#, "tide ".repeat(600));
    connection.execute_batch("BEGIN").unwrap();
    for number in numbers {
        // Rows lie in another order than they are read.
        let time = if number < MESSAGES { MESSAGES - number } else { number + 1 };
        let message = params![format!("msg_{time:05}"), time];
        connection
            .execute(r#"INSERT INTO message VALUES (?1, 's', ?2, ?2, '{"role":"user"}')"#, message)
            .unwrap();
        let part = params![format!("prt_{time:05}"), format!("msg_{time:05}"), time, text];
        connection.execute("INSERT INTO part VALUES (?1, ?2, 's', ?3, ?3, ?4)", part).unwrap();
    }
    connection.execute_batch("COMMIT").unwrap();
}

fn known_to(database: &Database) -> Queries {
    let format = named("opencode").unwrap();
    catalog::queries(database, format).unwrap().unwrap()
}

/// Takes what is to be done as done, and counts the rows of it.
fn mark_read(session: &mut SessionRows, database: &Database, queries: &Queries, todo: &[Todo]) -> usize {
    let mut tally = Tally::default();
    tally.count(Fate::Shown, FileId(1), 1_000_000);
    for row in todo {
        let Todo::Row { table, at, .. } = row else { continue };
        let one = &queries.tables[*table].one;
        let cell = database.value(one, &[session.key(), Cell::Int(*at)]).unwrap().expect("a row is there");
        session.known.note(*table, *at, (super::hash(&cell.content()), FileId(1)), tally.clone());
    }
    todo.iter().filter(|todo| matches!(todo, Todo::Row { .. })).count()
}

/// Bytes that this thread has read, where the system counts them.
fn bytes_read() -> u64 {
    let counts = fs::read_to_string("/proc/thread-self/io").unwrap_or_default();
    let read = counts.lines().find_map(|line| line.strip_prefix("rchar: "));
    read.map_or(0, |read| read.parse().unwrap())
}

fn look(session: &mut SessionRows, path: &Path, is_touched: bool) -> Result<Vec<Todo>, &'static str> {
    let database = Database::open(path).unwrap();
    let queries = known_to(&database);
    match session.look(0, &database, &queries, (is_touched, !is_touched)).unwrap() {
        News::Anew(why) => Err(why),
        News::More(todo) => {
            mark_read(session, &database, &queries, &todo);
            Ok(todo)
        }
    }
}

/// Reads all rows, and says how many each portion had.
fn read(session: &mut SessionRows, path: &Path) -> Vec<usize> {
    let database = Database::open(path).unwrap();
    let queries = known_to(&database);
    let Growth::Edited(edited) = &queries.growth else { panic!("rows are edited") };
    assert!(matches!(look(session, path, true).unwrap()[..], [Todo::Portion(0)]));
    let mut portions = Vec::new();
    loop {
        let todo = session.next_portion(0, &database, (&queries, edited)).unwrap().todo;
        portions.push(mark_read(session, &database, &queries, &todo));
        if !todo.iter().any(|todo| matches!(todo, Todo::Portion(_))) {
            return portions;
        }
    }
}

/// A session all of whose rows were read, and who writes to it.
fn settled(path: &Path) -> (Connection, SessionRows) {
    let writer = writer(path);
    add(&writer, 0..MESSAGES);
    let mut session = SessionRows::new("s".to_owned(), None);
    read(&mut session, path);
    while !session.is_settled() {
        look(&mut session, path, false).unwrap();
    }
    (writer, session)
}

fn rows(todo: &[Todo]) -> Vec<(usize, i64)> {
    let row = |todo: &Todo| match todo {
        Todo::Row { table, at, .. } => Some((*table, *at)),
        _ => None,
    };
    todo.iter().filter_map(row).collect()
}

#[test]
fn a_large_session_is_read_in_portions_and_a_look_reads_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.db");
    let writer = writer(&path);
    add(&writer, 0..MESSAGES);
    let mut session = SessionRows::new("s".to_owned(), None);
    let portions = read(&mut session, &path);
    let most = usize::try_from(2 * PORTION).unwrap() + 1;
    assert!(portions.iter().all(|rows| *rows <= most), "{portions:?}");
    assert_eq!(portions.iter().sum::<usize>(), 6_001);
    assert_eq!((session.known.len(), session.expected()), (6_001, 6_001));

    // What is new, and a piece of what is old.
    assert!(look(&mut session, &path, true).unwrap().is_empty());
    add(&writer, MESSAGES..MESSAGES + 3);
    let before = bytes_read();
    let new = rows(&look(&mut session, &path, true).unwrap());
    let read = bytes_read() - before;
    assert_eq!(new, [(1, 3_001), (2, 3_001), (1, 3_002), (2, 3_002), (1, 3_003), (2, 3_003)]);
    let size = fs::metadata(&path).unwrap().len();
    assert!(size > 10 << 20 && read < size / 4, "{read} of {size} bytes were read for a look");

    // More messages than a look asks for at first.
    add(&writer, MESSAGES + 3..MESSAGES + 1_000);
    assert_eq!(rows(&look(&mut session, &path, true).unwrap()).len(), 2 * 997);
    assert_eq!(session.known.len(), 8_001);
}

#[test]
fn what_changed_far_back_is_found_when_it_is_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.db");
    let writer = writer(&path);
    add(&writer, 0..MESSAGES);
    let mut session = SessionRows::new("s".to_owned(), None);
    read(&mut session, &path);
    // Rows are read from the greatest place to the least.
    writer.execute_batch("UPDATE part SET time_updated = 9 WHERE rowid = 2900").unwrap();
    writer.execute_batch("UPDATE part SET time_updated = 9 WHERE rowid = 7").unwrap();
    let mut found = rows(&look(&mut session, &path, true).unwrap());
    assert_eq!(found, [(2, 7)], "an edit of the last messages at once");
    for _ in 0..2 * 6_000 / SMALL_PIECE {
        found.extend(rows(&look(&mut session, &path, true).unwrap()));
    }
    assert_eq!(found, [(2, 7), (2, 2900)], "any other one in turn, also while rows are written");
    assert!(!session.is_settled());
    writer.execute_batch("UPDATE part SET time_updated = 10 WHERE rowid = 2900").unwrap();
    let mut found = rows(&look(&mut session, &path, true).unwrap());
    while !session.is_settled() {
        found.extend(rows(&look(&mut session, &path, false).unwrap()));
    }
    assert_eq!(found, [(2, 2900)]);
    assert!(look(&mut session, &path, false).unwrap().is_empty());
    writer.execute_batch("DELETE FROM part WHERE rowid = 2900").unwrap();
    look(&mut session, &path, true).unwrap();
    let end = (0..3).find_map(|_| look(&mut session, &path, false).err());
    assert_eq!(end, Some("rows were removed"));
}

#[test]
fn a_row_that_is_gone_from_the_end_is_missed_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.db");
    let writer = writer(&path);
    add(&writer, 0..MESSAGES + 10);
    let mut session = SessionRows::new("s".to_owned(), None);
    read(&mut session, &path);
    look(&mut session, &path, true).unwrap();
    // What is pushed out by what is new is not gone.
    add(&writer, MESSAGES + 10..MESSAGES + 40);
    assert_eq!(rows(&look(&mut session, &path, true).unwrap()).len(), 60);
    writer.execute_batch("DELETE FROM message WHERE id = 'msg_03030'").unwrap();
    assert_eq!(look(&mut session, &path, true).unwrap_err(), "rows were removed");
}

#[test]
fn new_rows_come_in_their_order_though_a_look_at_the_first_of_them_failed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.db");
    let (writer, mut session) = settled(&path);
    let database = Database::open(&path).unwrap();
    let mut broken = known_to(&database);
    let Growth::Edited(edited) = &mut broken.growth else { panic!("rows are edited") };
    edited.beyond.iter_mut().for_each(|(_, sql)| *sql = "SELECT nothing".to_owned());
    add(&writer, MESSAGES..MESSAGES + 300);
    assert!(session.look(0, &database, &broken, (true, false)).is_err());
    add(&writer, MESSAGES + 300..MESSAGES + 700);
    let todo = look(&mut session, &path, true).unwrap();
    let mut messages: Vec<i64> =
        rows(&todo).into_iter().filter_map(|(table, at)| (table == 1).then_some(at)).collect();
    let mut seen = std::collections::HashSet::new();
    messages.retain(|at| seen.insert(*at));
    assert_eq!(messages, (MESSAGES + 1..=MESSAGES + 700).collect::<Vec<_>>());
}

#[test]
fn what_was_found_while_the_database_could_not_be_read_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.db");
    let (writer, mut session) = settled(&path);
    writer.execute_batch("UPDATE part SET time_updated = 9 WHERE rowid IN (7, 2900)").unwrap();
    let database = Database::open(&path).unwrap();
    let mut broken = known_to(&database);
    let Growth::Edited(edited) = &mut broken.growth else { panic!("rows are edited") };
    let (_, last) = edited.beyond.last_mut().unwrap();
    *last = "SELECT nothing".to_owned();
    let quiet = |session: &mut SessionRows, queries| session.look(0, &database, queries, (false, true));
    assert!(
        session.look(0, &database, &broken, (true, false)).is_ok(),
        "a small piece does not come that far"
    );
    assert!(quiet(&mut session, &broken).is_err());
    let queries = known_to(&database);
    let mut found = Vec::new();
    for _ in 0..3 {
        let Ok(News::More(todo)) = quiet(&mut session, &queries) else { panic!("rows are there") };
        found.extend(rows(&todo));
        mark_read(&mut session, &database, &queries, &todo);
    }
    found.sort_unstable();
    found.dedup();
    assert_eq!(found, [(2, 7), (2, 2900)]);
    assert!(session.is_settled());
}
