//! Tests that files beside a database are unchanged, whatever state the reader finds.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use rusqlite::{Connection, ErrorCode};
use tempfile::TempDir;
use tv::ingest::{Target, WatchMode};
use tv::model::transcript::Transcript;

use crate::databases::{Writer, event, listing, tables_of};
use crate::fixtures::{asked, read, root};
use crate::follow::{Followed, said};

fn openclaw() -> PathBuf {
    root().join("openclaw/openclaw-agent.sql")
}

/// A database with the tables of OpenClaw.
fn home(journal: &str) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("agent.db");
    let tables =
        tables_of(&openclaw()).replace("journal_mode = wal", &format!("journal_mode = {journal}"));
    let writer = Writer {
        connection: Connection::open(&path).unwrap(),
    };
    writer.run(&tables);
    writer.events("s", 0..2);
    (dir, path)
}

/// `tv` on a session in a process of its own, writing every record as a line.
struct Viewer {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    seen: i64,
}

impl Viewer {
    fn start(path: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tv"))
            .args(["show", "--follow", "--json", &path.display().to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self {
            child,
            lines,
            seen: 0,
        }
    }

    /// Waits for the message with this number.
    fn wait_for(&mut self, number: i64) {
        while self.seen < number {
            let line = self.lines.next().expect("it goes on").unwrap();
            assert!(
                line.contains(&format!("message {}", self.seen + 1)),
                "{line}"
            );
            self.seen += 1;
        }
    }

    fn end(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Names, inodes and owners of all files in a folder.
fn files(folder: &Path) -> Vec<(String, u64, u32, u32)> {
    let file = |name: String| {
        let about = fs::metadata(folder.join(&name)).unwrap();
        (name, about.ino(), about.uid(), about.gid())
    };
    listing(folder).into_iter().map(file).collect()
}

/// As many as are asked for, else some hundred: the last close of an agent takes its log away, and no reader that it
/// meets keeps it from that or makes another.
#[test]
fn an_agent_that_comes_and_goes_leaves_what_it_would_leave_alone() {
    let rounds = i64::try_from(asked("CLOSES").unwrap_or(400)).unwrap();
    let (dir, path) = home("wal");
    let alone = files(dir.path());
    assert_eq!(alone.len(), 1);
    let mut viewer = Viewer::start(&path);
    viewer.wait_for(1);
    for round in 0..rounds {
        assert_eq!(files(dir.path()), alone, "before round {round}");
        let writer = Writer::open(&path);
        let next = 2 + round;
        writer.events("s", next..next + 1);
        let during = files(dir.path());
        assert_eq!(during.len(), 3, "round {round}");
        if round % 20 == 0 {
            viewer.wait_for(next);
        }
        assert_eq!(files(dir.path()), during, "in round {round}");
        drop(writer);
        assert_eq!(files(dir.path()), alone, "after round {round}");
    }
    viewer.wait_for(1 + rounds);
    viewer.end();
    assert_eq!(files(dir.path()), alone);
}

/// With a journal every commit needs all readers gone. Nobody is there.
#[test]
fn no_commit_of_an_agent_meets_a_reader() {
    for journal in ["delete", "truncate", "persist"] {
        let (_dir, path) = home(journal);
        let writer = Writer {
            connection: Connection::open(&path).unwrap(),
        };
        writer.run(&format!("PRAGMA journal_mode = {journal}"));
        writer
            .connection
            .busy_timeout(std::time::Duration::ZERO)
            .unwrap();
        let mut viewer = Viewer::start(&path);
        viewer.wait_for(1);
        let rounds = i64::try_from(asked("COMMITS").unwrap_or(400)).unwrap();
        for seq in 2..2 + rounds {
            let sql = "INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES ('s', ?1, ?2, 0)";
            let commit = writer.connection.execute(sql, (seq, event(seq)));
            let busy = |error: &rusqlite::Error| {
                error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
            };
            assert!(
                !commit.as_ref().is_err_and(busy),
                "{journal}: commit {seq} met a reader"
            );
            commit.unwrap();
        }
        viewer.wait_for(1 + rounds);
        viewer.end();
    }
}

/// Checkpoints move changes into the database while it is read: what is read is of one state.
#[test]
fn what_is_read_while_changes_move_is_sound() {
    let (_dir, path) = home("wal");
    let writer = Writer::open(&path);
    writer.run("PRAGMA wal_autocheckpoint = 3");
    let mut followed = Followed::start(&path, WatchMode::Poll);
    let mut next = 2;
    for round in 0..300 {
        writer.events("s", next..next + 5);
        next += 5;
        if round % 7 == 0 {
            writer.run("PRAGMA wal_checkpoint(restart)");
        }
    }
    let expected: Vec<String> = (1..next)
        .map(|number| format!("message {number}"))
        .collect();
    followed.until("all", |f| said(&f.whole) == expected);
    assert_eq!(followed.whole.tally().faulty, 0);
    assert!(
        followed.whole.notices().is_empty(),
        "{:?}",
        followed.whole.notices()
    );
    followed.end();
}

fn transcript_at(path: &Path) -> Transcript {
    read(&Target {
        path: path.to_owned(),
        session: Some("s".to_owned()),
    })
    .transcript
}

/// The header says twice how changes are kept. SQLite obeys the second word, and a copy may have them unlike.
#[test]
fn a_header_at_odds_with_itself_makes_no_files() {
    for (first, second) in [(1, 2), (2, 1), (1, 1), (2, 2)] {
        let (dir, path) = home("wal");
        let mut bytes = fs::read(&path).unwrap();
        (bytes[18], bytes[19]) = (first, second);
        fs::write(&path, &bytes).unwrap();
        let before = files(dir.path());
        assert_eq!(said(&transcript_at(&path)), ["message 1"]);
        let mut followed = Followed::start(&path, WatchMode::Native);
        followed.until("the message", |f| said(&f.whole) == ["message 1"]);
        followed.end();
        assert_eq!(
            (files(dir.path()), fs::read(&path).unwrap()),
            (before, bytes),
            "{first} {second}"
        );
    }
}

/// A log that is empty, cut, garbage, or another's: nothing ends in it, the rest is shown, and it is said.
#[test]
fn a_log_that_is_none_is_reported_and_the_rest_is_shown() {
    let (dir, path) = home("wal");
    let writer = Writer::open(&path);
    writer.events("s", 2..10);
    writer.events("s", 10..30);
    let log = PathBuf::from(format!("{}-wal", path.display()));
    let sound = fs::read(&log).unwrap();
    let base = fs::read(&path).unwrap();
    let index = fs::read(format!("{}-shm", path.display())).unwrap();
    drop((writer, dir));
    let frames = (sound.len() - 32) / 4120;
    assert!(frames > 2);
    let cut = |len: usize| sound[..len].to_vec();
    let changed = |at: usize| {
        let mut bytes = sound.clone();
        bytes[at] ^= 0xff;
        bytes
    };
    let cases: Vec<(&str, Vec<u8>, bool, usize)> = vec![
        ("sound", sound.clone(), false, 29),
        ("empty", Vec::new(), false, 1),
        ("cut in its header", cut(20), true, 1),
        ("no frames", cut(32), false, 1),
        ("another magic", changed(0), true, 1),
        ("another salt", changed(17), true, 1),
        ("another sum", changed(25), true, 1),
        ("a frame in the middle", changed(32 + 4120 + 3000), true, 1),
        ("the last frame", changed(sound.len() - 1), true, 9),
        (
            "half a frame more",
            [&sound[..], &sound[32..2000]].concat(),
            false,
            29,
        ),
        (
            "frames of an older log",
            [&sound[..], &vec![7; 8240]].concat(),
            false,
            29,
        ),
        ("garbage", vec![0x5a; 40_000], true, 1),
        ("zeros", vec![0; 40_000], true, 1),
    ];
    for (what, bytes, is_broken, entries) in cases {
        for with_index in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("agent.db");
            fs::write(&path, &base).unwrap();
            fs::write(format!("{}-wal", path.display()), &bytes).unwrap();
            if with_index {
                fs::write(format!("{}-shm", path.display()), &index).unwrap();
            }
            let before = files(dir.path());
            let transcript = transcript_at(&path);
            assert_eq!(transcript.order().len(), entries, "{what} {with_index}");
            let notices: Vec<String> = transcript
                .notices()
                .iter()
                .map(|notice| notice.what.to_string())
                .collect();
            // Only the index knows how many changes there should be.
            let is_reported = is_broken || (with_index && what == "no frames");
            assert_eq!(
                notices.iter().any(|what| what.contains("-wal")),
                is_reported,
                "{what} {with_index} {notices:?}"
            );
            assert_eq!(files(dir.path()), before, "{what}");
        }
    }
}

/// SQLite gives what lies beside a database to its owner, if it may. Only root may.
#[test]
fn files_of_other_owners_stay_theirs() {
    let (dir, path) = home("wal");
    let writer = Writer::open(&path);
    writer.events("s", 2..4);
    for (ending, owner) in [("-wal", 4711), ("-shm", 4712)] {
        let file = format!("{}{ending}", path.display());
        if std::os::unix::fs::chown(file, Some(owner), Some(owner)).is_err() {
            println!("skipped: only root can give files away");
            return;
        }
    }
    let before = files(dir.path());
    assert_eq!(said(&transcript_at(&path)).len(), 3);
    let mut followed = Followed::start(&path, WatchMode::Native);
    followed.until("all", |f| said(&f.whole).len() == 3);
    followed.end();
    assert_eq!(files(dir.path()), before);
}

/// A journal with changes to undo, and nobody who would: the database is half of one state and half of another.
#[test]
fn a_change_that_nobody_finishes_is_reported() {
    let (dir, path) = home("delete");
    let journal = PathBuf::from(format!("{}-journal", path.display()));
    fs::write(&journal, b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7\0\0\0\x01").unwrap();
    let before = files(dir.path());
    let refusal = tv::ingest::open(&Target {
        path: path.clone(),
        session: None,
    })
    .err()
    .unwrap()
    .0;
    assert!(refusal.contains("not finished"), "{refusal}");
    // One that was done with says nothing.
    fs::write(&journal, [0; 512]).unwrap();
    assert_eq!(said(&transcript_at(&path)), ["message 1"]);
    assert_eq!(files(dir.path()), before);
}
