//! Sessions that are large in one dimension: `cargo bench -- big`. Measures from the start of the
//! program to the newest entry on the screen, and to the end of reading.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::console::{Console, SIZE};
use crate::sessions::{Emitter, LAST, Shape};
use crate::terminal::{middle, ms};
use crate::words::Words;

const PATIENCE: Duration = Duration::from_secs(120);
const STARTS: usize = 3;

/// A kind of large session: its name, and what makes one below a folder.
type Case = (&'static str, fn(&Path, &Words) -> PathBuf);

const CASES: [Case; 5] = [
    ("one line of 50 MB", long_line),
    ("200 000 entries", many_entries),
    ("5 000 sub-agents", many_lanes),
    ("50 000 part files", many_files),
    ("database of 2 GB", database),
];

/// Opens each of them, and prints a table. Those whose name holds one of the words, or all.
pub(crate) fn run(folder: &Path, asked: &[String], keep: bool, words: &Words) {
    println!("\n| session | on disk | newest entry, ms | whole known, ms | peak memory, MB |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    for (name, make) in CASES {
        if !asked.is_empty() && !asked.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        let place = folder.join(name.replace(' ', "-"));
        let done = place.join("done");
        if !done.exists() {
            drop(fs::remove_dir_all(&place));
            fs::create_dir_all(&place).unwrap();
            let path = make(&place, words);
            fs::write(&done, path.to_str().unwrap()).unwrap();
        }
        let path = PathBuf::from(fs::read_to_string(&done).unwrap());
        measure(name, &path);
        if !keep && size(&place) > 200_000_000 {
            fs::remove_dir_all(&place).unwrap();
        }
    }
}

fn measure(name: &str, path: &Path) {
    let home = tempfile::tempdir().unwrap();
    let program = [crate::program(), path.to_str().unwrap().to_owned()];
    let (mut newest, mut whole, mut peaks) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let mut console = Console::start(&program, SIZE, home.path());
        let Some(shown) = console.wait(PATIENCE, |console| console.shows(LAST)) else {
            println!(
                "the newest entry never came; the screen:\n{}",
                console.text()
            );
            continue;
        };
        newest.push(ms(shown - console.started));
        let known = console.known(shown, PATIENCE);
        whole.extend(known.map(|known| ms(known - console.started)));
        console.quiet(Duration::from_millis(300));
        peaks.push(console.facts().peak);
        console.quit("Q");
    }
    let cell = |figures: &mut [f64]| {
        middle(figures).map_or("–".to_owned(), |figure| format!("{figure:.0}"))
    };
    println!(
        "| {name} | {:.0} MB | {} | {} | {} |",
        size(path.parent().unwrap()) as f64 / 1e6,
        cell(&mut newest),
        cell(&mut whole),
        cell(&mut peaks),
    );
}

/// Bytes of all files below a folder.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let of = |entry: fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => size(&entry.path()),
        found => found.map_or(0, |found| found.len()),
    };
    entries.map(of).sum()
}

fn write(path: &Path, records: impl IntoIterator<Item = String>) {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
    records
        .into_iter()
        .for_each(|record| writeln!(out, "{record}").unwrap());
    out.flush().unwrap();
}

fn long_line(folder: &Path, words: &Words) -> PathBuf {
    let path = folder.join("session.jsonl");
    let mut emitter = Emitter::new(Shape::Claude, words);
    let mut records: Vec<String> = (0..50).flat_map(|_| emitter.turn(false)).collect();
    let text = words
        .prose
        .iter()
        .map(|text| &**text)
        .collect::<Vec<_>>()
        .join(r"\n");
    records.push(emitter.answer(&text.repeat(50_000_000 / text.len() + 1)));
    records.extend(emitter.end());
    write(&path, records);
    path
}

fn many_entries(folder: &Path, words: &Words) -> PathBuf {
    let path = folder.join("session.jsonl");
    let mut emitter = Emitter::new(Shape::Claude, words);
    let mut records = emitter.turn(false);
    records.extend((0..200_000).map(|number| emitter.answer(&format!("Entry {number} of many."))));
    records.extend(emitter.end());
    write(&path, records);
    path
}

fn many_lanes(folder: &Path, words: &Words) -> PathBuf {
    let path = folder.join("bench.jsonl");
    let agents = folder.join("bench/subagents");
    fs::create_dir_all(&agents).unwrap();
    let mut emitter = Emitter::new(Shape::Claude, words);
    let mut records = emitter.turn(false);
    for number in 0..5_000 {
        let call = format!("toolu_agent{number}");
        records.extend(emitter.task(&call, &format!("Sound the harbour {number}")));
        let lines = [emitter.answer("I sound."), emitter.answer("It is deep.")];
        let agent = format!(r#""isSidechain":true,"agentId":"a{number:06}""#);
        let lines = lines.map(|line| line.replacen(r#""isSidechain":false"#, &agent, 1));
        write(&agents.join(format!("agent-a{number:06}.jsonl")), lines);
        let facts = format!(
            r#"{{"agentType":"Explore","description":"Sound {number}","toolUseId":"{call}"}}"#
        );
        fs::write(agents.join(format!("agent-a{number:06}.meta.json")), facts).unwrap();
    }
    records.extend(emitter.end());
    write(&path, records);
    path
}

/// The id of the message that a part belongs to, else that of the message itself.
fn message_of(record: &str) -> &str {
    let name = if record.contains(r#""messageID":""#) {
        r#""messageID":""#
    } else {
        r#""id":""#
    };
    let at = record.find(name).unwrap() + name.len();
    let rest = &record[at..];
    &rest[..rest.find('"').unwrap()]
}

fn id_of(record: &str) -> &str {
    let rest = &record[r#"{"id":""#.len()..];
    &rest[..rest.find('"').unwrap()]
}

fn is_part(record: &str) -> bool {
    record.contains(r#""messageID":""#)
}

const SESSION: &str = r#"{"id":"ses_bench","version":"1.0.0","projectID":"harbour","directory":"/srv/harbour","title":"The tide","time":{"created":1772000000000,"updated":1772000000000}}"#;

fn many_files(folder: &Path, words: &Words) -> PathBuf {
    let storage = folder.join("storage");
    fs::create_dir_all(storage.join("session/harbour")).unwrap();
    fs::write(storage.join("session/harbour/ses_bench.json"), SESSION).unwrap();
    let messages = storage.join("message/ses_bench");
    fs::create_dir_all(&messages).unwrap();
    let mut teller = Emitter::new(Shape::Opencode, words);
    let mut parts = 0;
    let mut put = |record: &str| {
        if is_part(record) {
            parts += 1;
            let place = storage.join("part").join(message_of(record));
            fs::create_dir_all(&place).unwrap();
            fs::write(place.join(format!("{}.json", id_of(record))), record).unwrap();
        } else {
            fs::write(messages.join(format!("{}.json", id_of(record))), record).unwrap();
        }
        parts
    };
    let mut made = 0;
    while made < 50_000 {
        for record in teller.turn(false) {
            made = put(&record);
        }
    }
    for record in teller.end() {
        put(&record);
    }
    storage
}

#[cfg(not(feature = "sqlite"))]
fn database(folder: &Path, words: &Words) -> PathBuf {
    many_entries(folder, words)
}

#[cfg(feature = "sqlite")]
fn database(folder: &Path, words: &Words) -> PathBuf {
    use rusqlite::{Connection, params};

    let path = folder.join("opencode.db");
    let mut connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = wal; PRAGMA synchronous = off;
             CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, \
               directory text NOT NULL, title text NOT NULL, version text NOT NULL, \
               time_created integer NOT NULL, time_updated integer NOT NULL);
             CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, \
               time_updated integer NOT NULL, data text NOT NULL);
             CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, \
               time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
             CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
             CREATE INDEX part_message_id_id_idx ON part (message_id, id);
             CREATE INDEX part_session_idx ON part (session_id);
             INSERT INTO session VALUES ('ses_bench', 'harbour', NULL, '/srv/harbour', 'The tide', '1.16.0', \
               1772000000000, 1772000000000);",
        )
        .unwrap();
    let mut teller = Emitter::new(Shape::Opencode, words);
    let (mut size, mut at) = (0_usize, 1_772_000_000_000_i64);
    while size < 2_000_000_000 {
        let transaction = connection.transaction().unwrap();
        let mut records: Vec<String> = (0..500).flat_map(|_| teller.turn(false)).collect();
        size += records.iter().map(String::len).sum::<usize>();
        if size >= 2_000_000_000 {
            records.extend(teller.end());
        }
        for record in &records {
            at += 1_000;
            let values = params![id_of(record), message_of(record), at, record];
            let sql = if is_part(record) {
                "INSERT INTO part VALUES (?1, ?2, 'ses_bench', ?3, ?3, ?4)"
            } else {
                "INSERT INTO message SELECT ?1, 'ses_bench', ?3, ?3, ?4 WHERE ?2 = ?1"
            };
            transaction
                .prepare_cached(sql)
                .unwrap()
                .execute(values)
                .unwrap();
        }
        transaction.commit().unwrap();
    }
    connection
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    path
}
