use std::fs;
use std::path::Path;

use rusqlite::{Connection, params};

use super::super::look::{ReadStep, ScanResult};
use super::super::session::SessionRows;
use super::{PORTION, SMALL_PIECE, TAIL};
use crate::formats::named;
use crate::formats::tables::Queries;
use crate::ingest::catalog;
use crate::model::record::FileId;
use crate::model::tally::{Fate, Tally};
use crate::source::rows::{Database, SqlValue};

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
        // Row ids are in another order than times.
        let time = if number < MESSAGES {
            MESSAGES - number
        } else {
            number + 1
        };
        let message = params![format!("msg_{time:05}"), time];
        connection
            .execute(
                r#"INSERT INTO message VALUES (?1, 's', ?2, ?2, '{"role":"user"}')"#,
                message,
            )
            .unwrap();
        let part = params![
            format!("prt_{time:05}"),
            format!("msg_{time:05}"),
            time,
            text
        ];
        connection
            .execute("INSERT INTO part VALUES (?1, ?2, 's', ?3, ?3, ?4)", part)
            .unwrap();
    }
    connection.execute_batch("COMMIT").unwrap();
}

fn known_to(database: &Database) -> Queries {
    let format = named("opencode").unwrap();
    catalog::queries(database, format).unwrap().unwrap()
}

/// Reads the queued rows, and returns those whose content changed.
fn read(session: &mut SessionRows, database: &Database, todo: &[ReadStep]) -> Vec<(usize, i64)> {
    let queries = known_to(database);
    let mut tally = Tally::default();
    tally.count(Fate::Shown, FileId(1), 1_000);
    let mut news = Vec::new();
    for row in todo {
        let ReadStep::Row { table, at, .. } = row else {
            continue;
        };
        let one = &queries.tables[*table].one;
        let cell = database
            .value(one, &[session.key(), SqlValue::Int(*at)])
            .unwrap()
            .expect("a row is there");
        let hash = crate::model::fingerprint::hash_of(&cell.content());
        if !session.walk.known.read(*table, *at, hash) {
            session
                .walk
                .known
                .record(*table, *at, (hash, FileId(1)), tally.clone());
            news.push((*table, *at));
        }
    }
    news
}

/// Bytes that this thread has read, where the system counts them.
fn bytes_read() -> u64 {
    let counts = fs::read_to_string("/proc/thread-self/io").unwrap_or_default();
    let read = counts.lines().find_map(|line| line.strip_prefix("rchar: "));
    read.map_or(0, |read| read.parse().unwrap())
}

/// Number of a table, and the id of a row in it.
type Row = (usize, i64);

/// The changes that a scan finds, and the number of rows that it read for that.
fn look_for(
    session: &mut SessionRows,
    path: &Path,
    is_touched: bool,
) -> Result<(Vec<Row>, usize), &'static str> {
    let database = Database::open(path).unwrap();
    match session
        .scan(
            0,
            &database,
            &known_to(&database),
            (is_touched, !is_touched),
        )
        .unwrap()
    {
        ScanResult::Restart(why) => Err(why),
        ScanResult::More(todo) => Ok((read(session, &database, &todo), todo.len())),
    }
}

fn look(
    session: &mut SessionRows,
    path: &Path,
    is_touched: bool,
) -> Result<Vec<(usize, i64)>, &'static str> {
    look_for(session, path, is_touched).map(|(news, _)| news)
}

/// Reads all rows for the first time, and returns the sizes of the portions.
fn read_all(session: &mut SessionRows, path: &Path) -> Vec<usize> {
    let database = Database::open(path).unwrap();
    let queries = known_to(&database);
    let ScanResult::More(first) = session.scan(0, &database, &queries, (true, false)).unwrap()
    else {
        panic!()
    };
    assert!(matches!(first[..], [ReadStep::Portion(0)]));
    let mut portions = Vec::new();
    loop {
        let todo = session.next_portion(0, &database, &queries).unwrap().todo;
        portions.push(read(session, &database, &todo).len());
        if !todo.iter().any(|todo| matches!(todo, ReadStep::Portion(_))) {
            return portions;
        }
    }
}

/// A session whose rows were all read, and its writer.
fn settled(path: &Path) -> (Connection, SessionRows) {
    let writer = writer(path);
    add(&writer, 0..MESSAGES);
    let mut session = SessionRows::new("s".to_owned(), None);
    read_all(&mut session, path);
    while !session.walk.is_settled() {
        look(&mut session, path, false).unwrap();
    }
    (writer, session)
}

fn folder() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.db");
    (folder, path)
}

#[test]
fn a_large_session_is_read_in_portions_and_a_look_reads_its_end() {
    let (_folder, path) = folder();
    let writer = writer(&path);
    add(&writer, 0..MESSAGES);
    let mut session = SessionRows::new("s".to_owned(), None);
    let portions = read_all(&mut session, &path);
    let most = usize::try_from(2 * PORTION).unwrap() + 1;
    assert!(portions.iter().all(|rows| *rows <= most), "{portions:?}");
    assert_eq!(portions.iter().sum::<usize>(), 6_001);
    assert_eq!(
        (session.walk.known.len(), session.walk.expected()),
        (6_001, 6_001)
    );

    // New rows, and a piece of the old ones.
    assert!(look(&mut session, &path, true).unwrap().is_empty());
    add(&writer, MESSAGES..MESSAGES + 3);
    let before = bytes_read();
    let (new, count) = look_for(&mut session, &path, true).unwrap();
    let read = bytes_read() - before;
    assert_eq!(
        new,
        [
            (1, 3_001),
            (2, 3_001),
            (1, 3_002),
            (2, 3_002),
            (1, 3_003),
            (2, 3_003)
        ]
    );
    assert!(count < 12, "{count} rows were read for six");
    let size = fs::metadata(&path).unwrap().len();
    assert!(
        size > 10 << 20 && read < size / 4,
        "{read} of {size} bytes were read for a look"
    );

    // More than the last rows.
    add(&writer, MESSAGES + 3..MESSAGES + 1_000);
    assert_eq!(look(&mut session, &path, true).unwrap().len(), 2 * 997);
    assert_eq!(session.walk.known.len(), 8_001);
}

/// Edits a row; the time does not always change.
fn edit(writer: &Connection, at: i64, word: &str, time: &str) {
    let set = format!("data = replace(data, 'tide', '{word}'), time_updated = {time}");
    writer
        .execute_batch(&format!("UPDATE part SET {set} WHERE rowid = {at}"))
        .unwrap();
}

#[test]
fn what_changed_far_back_is_found_in_turn() {
    let (_folder, path) = folder();
    let (writer, mut session) = settled(&path);
    edit(&writer, 2_900, "ebb!", "9");
    edit(&writer, 7, "ebb!", "9");
    let mut found = look(&mut session, &path, true).unwrap();
    assert_eq!(found, [(2, 2_900)], "an edit of the last rows at once");
    edit(&writer, 2_000, "ebb!", "9");
    for _ in 0..2 * 6_000 / SMALL_PIECE {
        found.extend(look(&mut session, &path, true).unwrap());
    }
    assert_eq!(
        found,
        [(2, 2_900), (2, 7), (2, 2_000)],
        "also while rows are written"
    );
    assert!(!session.walk.is_settled());
    while !session.walk.is_settled() {
        assert!(look(&mut session, &path, false).unwrap().is_empty());
    }
}

#[test]
fn an_edit_that_no_time_tells_is_found_when_it_is_quiet() {
    let (_folder, path) = folder();
    let (writer, mut session) = settled(&path);
    for (number, at) in [(MESSAGES, 2_999), (MESSAGES + 1, 2_000)] {
        edit(&writer, at, "ebb!", "time_updated");
        add(&writer, number..number + 1);
        assert!(!look(&mut session, &path, true).unwrap().contains(&(2, at)));
        let mut found = Vec::new();
        while !session.walk.is_settled() {
            found.extend(look(&mut session, &path, false).unwrap());
        }
        assert_eq!(found, [(2, at)]);
    }
    // The write concerns another session: the rows are not read again for it.
    let (_, mut count) = look_for(&mut session, &path, true).unwrap();
    while !session.walk.is_settled() {
        count += look_for(&mut session, &path, false).unwrap().1;
    }
    assert!(count < 12, "{count} rows were read for none");
    // Rows as new as the newest are always compared, because a clock of seconds does not
    // distinguish two edits.
    let last = MESSAGES + 2;
    add(&writer, last..last + 1);
    assert!(
        look(&mut session, &path, true)
            .unwrap()
            .contains(&(2, last + 1))
    );
    edit(&writer, last + 1, "ebb!", "time_updated");
    assert_eq!(look(&mut session, &path, true).unwrap(), [(2, last + 1)]);
}

#[test]
fn rows_that_are_gone_are_missed() {
    let (_folder, path) = folder();
    let (writer, mut session) = settled(&path);
    // Rows pushed out of the last ones by new rows are not gone.
    let many = i64::try_from(TAIL).unwrap() + 40;
    add(&writer, MESSAGES..MESSAGES + many);
    assert_eq!(
        look(&mut session, &path, true).unwrap().len(),
        usize::try_from(2 * many).unwrap()
    );
    let again = |path: &Path| {
        let mut session = SessionRows::new("s".to_owned(), None);
        read_all(&mut session, path);
        look(&mut session, path, true).unwrap();
        session
    };
    let mut session = again(&path);
    writer
        .execute_batch("DELETE FROM message WHERE id = 'msg_03290'")
        .unwrap();
    assert_eq!(
        look(&mut session, &path, true),
        Err("rows were removed"),
        "at once at the end"
    );
    let mut session = again(&path);
    writer
        .execute_batch("DELETE FROM part WHERE rowid = 2000")
        .unwrap();
    let found = (0..100).find_map(|_| look(&mut session, &path, false).err());
    assert_eq!(found, Some("rows were removed"), "far back in turn");
    // Another row with the id of a deleted one: SQLite reuses the last ids.
    let mut session = again(&path);
    let last = writer
        .query_row("SELECT max(rowid) FROM message", [], |row| {
            row.get::<_, i64>(0)
        })
        .unwrap();
    writer
        .execute_batch(&format!("BEGIN; DELETE FROM message WHERE rowid = {last};"))
        .unwrap();
    writer
        .execute_batch(
            "INSERT INTO message VALUES ('msg_x', 's', 99999, 99999, '{\"role\":\"user\"}'); COMMIT",
        )
        .unwrap();
    let now = writer
        .query_row("SELECT max(rowid) FROM message", [], |row| {
            row.get::<_, i64>(0)
        })
        .unwrap();
    assert_eq!(now, last);
    assert_eq!(look(&mut session, &path, true), Err("rows were removed"));
}

#[test]
fn what_could_not_be_listed_is_found_again_in_its_order() {
    let (_folder, path) = folder();
    let (writer, mut session) = settled(&path);
    edit(&writer, 7, "ebb!", "9");
    add(&writer, MESSAGES..MESSAGES + 300);
    let database = Database::open(&path).unwrap();
    for broken in 0..2 {
        let mut queries = known_to(&database);
        queries.listing.beyond[broken].1 = "SELECT nothing".to_owned();
        assert!(session.scan(0, &database, &queries, (true, false)).is_err());
    }
    add(&writer, MESSAGES + 300..MESSAGES + 700);
    let news = look(&mut session, &path, true).unwrap();
    let messages: Vec<i64> = news
        .iter()
        .filter_map(|(table, at)| (*table == 1).then_some(*at))
        .collect();
    assert_eq!(
        messages,
        (MESSAGES + 1..=MESSAGES + 700).collect::<Vec<_>>()
    );
    let mut found = news.contains(&(2, 7));
    while !session.walk.is_settled() {
        found |= look(&mut session, &path, false).unwrap().contains(&(2, 7));
    }
    assert!(found);
}
