//! Tests of sessions in databases, read and followed while their agents write.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tempfile::TempDir;
use tv::formats::registry;
use tv::formats::tables::{DatabaseTable, Queries, RowListing, Tables};
use tv::ingest::{Target, WatchMode, open, sessions};
use tv::model::edit::LinkState;
use tv::model::entry::{BlockKind, Entry};
use tv::model::timestamp::Timestamp;
use tv::model::transcript::Transcript;
use tv::report::reading;

use crate::corpus::{Corpus, files, real};
use crate::databases::{Elsewhere, Writer, event, listing, tables_of, write};
use crate::fixtures::{self, read, root};
use crate::follow::Followed;

fn openclaw() -> PathBuf {
    root().join("openclaw/openclaw-agent.sql")
}

fn opencode() -> PathBuf {
    root().join("opencode/opencode.sql")
}

/// A folder with one database.
struct Home {
    dir: TempDir,
    path: PathBuf,
}

impl Home {
    /// With the tables of a fixture, and nothing in them.
    fn with_tables_of(sql: &Path) -> (Self, Writer) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("agent.db");
        let writer = Writer::open(&path);
        writer.run(&tables_of(sql));
        (Self { dir, path }, writer)
    }

    /// With all of a fixture, as its agent left it.
    fn of(sql: &Path) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("agent.db");
        write(sql, &path);
        Self { dir, path }
    }

    fn files(&self) -> Vec<String> {
        listing(self.dir.path())
    }

    fn session(&self, name: &str) -> Target {
        Target {
            path: self.path.clone(),
            session: Some(name.to_owned()),
        }
    }
}

/// What the texts of entries begin with, in order.
fn said(transcript: &Transcript) -> Vec<String> {
    let text = |entry: &Entry| {
        let stubs = entry.blocks.iter().filter_map(|block| match &block.kind {
            BlockKind::Text(body) => Some(body.stub.to_string()),
            _ => None,
        });
        stubs.collect::<Vec<_>>().join("|")
    };
    transcript.entries().map(text).collect()
}

fn messages(numbers: std::ops::Range<i64>) -> Vec<String> {
    numbers.map(|number| format!("message {number}")).collect()
}

fn was_read_again(followed: &Followed, why: &str) -> bool {
    followed
        .links
        .iter()
        .any(|link| matches!(link, LinkState::Reread(reason) if reason.contains(why)))
}

const SESSION: &str = "s";

/// An OpenClaw session of three messages, followed in both ways.
fn following(case: impl Fn(&Home, &Writer, &mut Followed)) {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let (home, writer) = Home::with_tables_of(&openclaw());
        writer.events(SESSION, 0..4);
        let mut followed = Followed::start(&home.path, mode);
        followed.until("three messages", |f| said(&f.whole) == messages(1..4));
        case(&home, &writer, &mut followed);
        followed.end();
    }
}

#[test]
fn each_of_5000_appended_rows_comes_once_in_order_and_soon() {
    following(|_, writer, followed| {
        let mut lags = Vec::new();
        let mut next = 4;
        for count in [1, 1, 700, 3, 1500, 1, 250, 1, 2500, 40] {
            writer.events(SESSION, next..next + count);
            next += count;
            let written = Instant::now();
            followed.until("the last row", |f| {
                f.whole.tally().records() == next.unsigned_abs()
            });
            lags.push(written.elapsed());
        }
        assert!(next > 5000);
        assert_eq!(said(&followed.whole), messages(1..next));
        assert_eq!(followed.whole.tally().faulty, 0);
        lags.sort_unstable();
        assert!(lags[lags.len() / 2] < Duration::from_secs(1), "{lags:?}");
    });
}

/// A table that is not strict may hold anything where a number should be, also in a row that comes later.
#[test]
fn a_row_without_a_place_is_told_of_when_it_comes() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let (home, writer) = Home::with_tables_of(&openclaw());
        writer.run(
            "DROP TABLE transcript_events; CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, \
             event_json TEXT, created_at INTEGER, PRIMARY KEY (session_id, seq))",
        );
        writer.events(SESSION, 0..4);
        let mut followed = Followed::start(&home.path, mode);
        followed.until("three messages", |f| said(&f.whole) == messages(1..4));
        let odd = |seq: &str| {
            writer.run(&format!(
                "INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES ('s', {seq}, '{{}}', 0)"
            ));
        };
        odd("'x'");
        followed.until("the row", |f| f.whole.tally().faulty == 1);
        writer.events(SESSION, 4..5);
        odd("2.5");
        odd("NULL");
        followed.until("both of the others", |f| f.whole.tally().faulty == 3);
        let texts = said(&followed.whole)
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>();
        assert_eq!(texts, messages(1..5));
        assert!(
            !followed
                .links
                .iter()
                .any(|link| matches!(link, LinkState::Reread(_))),
            "{:?}",
            followed.links
        );
        followed.end();
    }
}

/// By a definition, as Crush writes: a row grows, its result comes late, the session's own row changes.
#[test]
fn rows_of_a_defined_database_grow_and_pair() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let (home, writer) = Home::with_tables_of(&root().join("crush/crush.sql"));
        writer.run("INSERT INTO sessions VALUES ('s', NULL, 'New Session', 1, 0, 0, 0.0, 1790000001, 1790000000, NULL)");
        let row = |id: &str, role: &str, parts: &str| {
            format!(
                "INSERT INTO messages VALUES ('{id}', 's', '{role}', '{parts}', '', 1790000001, 1790000001, NULL, 'x', 0)"
            )
        };
        writer.run(&row(
            "m1",
            "user",
            r#"[{"type":"text","data":{"text":"Mend it."}}]"#,
        ));
        let mut followed = Followed::start(&home.path, mode);
        followed.until("the prompt", |f| said(&f.whole) == ["", "Mend it."]);
        writer.run(&row(
            "m2",
            "assistant",
            r#"[{"type":"text","data":{"text":"I me"}}]"#,
        ));
        followed.until("half an answer", |f| {
            said(&f.whole) == ["", "Mend it.", "I me"]
        });
        let call = r#"{"type":"tool_call","data":{"id":"c1","name":"bash","input":"{}"}}"#;
        let parts = format!(r#"[{{"type":"text","data":{{"text":"I mend."}}}},{call}]"#);
        writer.run(&format!(
            "UPDATE messages SET parts = '{parts}', updated_at = 1790000002 WHERE id = 'm2'"
        ));
        followed.until("all of it", |f| {
            said(&f.whole) == ["", "Mend it.", "I mend."]
        });
        writer.run(&row(
            "m3",
            "tool",
            r#"[{"type":"tool_result","data":{"tool_call_id":"c1","content":"done"}}]"#,
        ));
        writer.run("UPDATE sessions SET cost = 0.5, updated_at = 1790000003");
        let has_result = |entry: &Entry| entry.calls().any(|call| call.state.result().is_some());
        followed.until("the result", |f| f.whole.entries().any(has_result));
        assert_eq!(followed.whole.tally().records(), 4);
        assert_eq!(followed.whole.tally().faulty, 0);
        followed.end();
    }
}

/// By a definition, as Hermes writes: a rewind takes rows back in their place, a compaction writes some of them again.
#[test]
fn rows_that_a_defined_database_takes_back_are_gone() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let (home, writer) = Home::with_tables_of(&root().join("hermes/state.sql"));
        writer
            .run("INSERT INTO sessions (id, source, started_at) VALUES ('s', 'cli', 1792490400.0)");
        let say = |number: i64| {
            writer.run(&format!(
                "INSERT INTO messages (session_id, role, content, timestamp, display_identity) \
                 VALUES ('s', 'user', 'message {number}', 1792490400.0 + {number}, x'0{number}')"
            ));
        };
        (1..4).for_each(say);
        let mut followed = Followed::start(&home.path, mode);
        let said = |followed: &Followed| -> Vec<String> {
            said(&followed.whole)
                .into_iter()
                .filter(|text| !text.is_empty())
                .collect()
        };
        followed.until("three messages", |f| said(f) == messages(1..4));
        writer.run("UPDATE messages SET active = 0 WHERE id = 3");
        followed.until("the rewind", |f| said(f) == messages(1..3));
        writer.run("UPDATE messages SET active = 0, compacted = 1 WHERE active = 1");
        say(2);
        say(4);
        followed.until("the copy once", |f| {
            said(f) == ["message 1", "message 2", "message 4"]
        });
        followed.end();
    }
}

/// Each row of a session says what that one spent: a sub-agent that no call names stands in its time with its own.
#[test]
fn sub_agents_of_a_defined_database_have_what_they_spent() {
    let (home, writer) = Home::with_tables_of(&root().join("hermes/state.sql"));
    let session = |id: &str, parent: &str, at: u32, usd: f64| {
        writer.run(&format!(
            "INSERT INTO sessions (id, source, model, parent_session_id, started_at, ended_at) \
             VALUES ('{id}', 'subagent', 'm', {parent}, 1792490400.0 + {at}, 1792490400.0 + {at} + 5); \
             INSERT INTO session_model_usage (session_id, model, input_tokens, output_tokens, estimated_cost_usd) \
             VALUES ('{id}', 'm', {at}, 7, {usd})"
        ));
    };
    session("top", "NULL", 0, 0.5);
    session("early", "'top'", 12, 0.0625);
    session("late", "'top'", 32, 0.125);
    for (of, role, text, at) in [
        ("top", "user", "one", 10),
        ("top", "assistant", "first", 20),
        ("top", "user", "two", 30),
        ("top", "assistant", "second", 40),
        ("early", "user", "look", 12),
        ("early", "assistant", "seen", 14),
        ("late", "user", "look again", 32),
        ("late", "assistant", "seen again", 34),
    ] {
        writer.run(&format!(
            "INSERT INTO messages (session_id, role, content, timestamp) \
             VALUES ('{of}', '{role}', '{text}', 1792490400.0 + {at})"
        ));
    }
    let reading = reading::read(&home.session("top"), false).unwrap();
    let figures = serde_json::to_value(tv::report::figures::of(
        &reading,
        Timestamp(1_792_500_000_000),
    ))
    .unwrap();
    let list = |name: &str| figures[name].as_array().unwrap().clone();
    let lanes: Vec<_> = list("lane_list")
        .iter()
        .map(|lane| {
            (
                lane["name"].clone(),
                lane["cost"]["usd"].clone(),
                lane["usage"]["input"].clone(),
            )
        })
        .collect();
    assert_eq!(
        serde_json::to_value(lanes).unwrap(),
        serde_json::json!([["early", 0.0625, 12], ["late", 0.125, 32]])
    );
    let turns: Vec<_> = list("turn_list")
        .iter()
        .map(|turn| turn["cost"]["usd"].clone())
        .collect();
    assert_eq!(
        serde_json::to_value(turns).unwrap(),
        serde_json::json!([0.0625, 0.125])
    );
    assert_eq!(
        figures["overhead"]["cost"]["usd"], 0.5,
        "what the session itself spent is of no turn"
    );
}

#[test]
fn edited_rows_come_in_their_place_and_count_once() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let (home, writer) = Home::with_tables_of(&opencode());
        writer.session("ses_1");
        writer.message("ses_1", 1, "user");
        writer.part("ses_1", 1, 1, "part 1", 1);
        let mut followed = Followed::start(&home.path, mode);
        followed.until("the first part", |f| said(&f.whole) == ["part 1"]);
        // In a burst, as an agent that runs many tools.
        for number in 2..2500 {
            writer.message("ses_1", number, "user");
            writer.part("ses_1", number, number, &format!("part {number}"), number);
        }
        let mut expected: Vec<String> = (1..2500).map(|number| format!("part {number}")).collect();
        followed.until("all parts", |f| said(&f.whole) == expected);
        for edit in 0..200 {
            let number = 1 + (edit * 37) % 2499;
            let text = format!("edit {edit} of {number}");
            expected[usize::try_from(number - 1).unwrap()].clone_from(&text);
            writer.part("ses_1", number, number, &text, 10_000 + edit);
        }
        followed.until("all edits", |f| said(&f.whole) == expected);
        assert_eq!(followed.whole.tally().records(), 1 + 2 * 2499);
        assert_eq!(followed.whole.tally().faulty, 0);
        // Neither its time nor its size shows this one: it is found because another one is news.
        writer.run(
            "UPDATE part SET data = replace(data, 'part 7', 'trap 7') WHERE id = 'prt_00000007'",
        );
        writer.part("ses_1", 8, 8, "edit of 8", 20_000);
        expected[7] = "edit of 8".to_owned();
        expected[6] = expected[6].replace("part 7", "trap 7");
        followed.until("the silent edit", |f| said(&f.whole) == expected);
        writer.run("DELETE FROM part WHERE message_id = 'msg_00002499'; DELETE FROM message WHERE id = 'msg_00002499'");
        expected.pop();
        followed.until("the removed row", |f| said(&f.whole) == expected);
        followed.until("said why", |f| was_read_again(f, "removed"));
        followed.end();
    }
}

/// By a definition, as Goose writes: its rows have no time of a change.
#[test]
fn rows_that_tell_no_time_are_followed() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let (home, writer) = Home::with_tables_of(&root().join("goose/sessions.sql"));
        writer
            .run("INSERT INTO sessions (id, description, working_dir, accumulated_cost) VALUES ('s', 'Paint', '/', 0.5)");
        let say = |number: i64| {
            let text = format!(r#"[{{"type":"text","text":"message {number}"}}]"#);
            writer.run(&format!(
                "INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp) \
                 VALUES ('m{number}', 's', 'user', '{text}', {number})"
            ));
        };
        (1..4).for_each(say);
        let mut followed = Followed::start(&home.path, mode);
        let said = |followed: &Followed| -> Vec<String> {
            said(&followed.whole)
                .into_iter()
                .filter(|text| !text.is_empty())
                .collect()
        };
        followed.until("three messages", |f| said(f) == messages(1..4));
        writer.run(
            "UPDATE messages SET content_json = replace(content_json, 'message 2', 'message X')",
        );
        followed.until("an edit of the same size", |f| {
            said(f) == ["message 1", "message X", "message 3"]
        });
        writer.run("UPDATE sessions SET description = 'Varnish'");
        followed.until("the title", |f| {
            f.whole
                .meta()
                .title()
                .is_some_and(|title| title.as_str() == "Varnish")
        });
        assert_eq!(followed.whole.tally().records(), 4);
        writer.run("DELETE FROM messages WHERE message_id = 'm1'");
        followed.until("the removed row", |f| said(f) == ["message X", "message 3"]);
        followed.until("said why", |f| was_read_again(f, "removed"));
        followed.end();
    }
}

/// What is said after an undo takes the place of what was undone: SQLite gives the last places of a table again.
#[test]
fn a_row_in_the_place_of_one_that_was_removed_is_no_edit_of_it() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let (home, writer) = Home::with_tables_of(&opencode());
        writer.session("ses_1");
        for number in 1..4 {
            writer.message("ses_1", number, "user");
            writer.part(
                "ses_1",
                number,
                number,
                &format!("message {number}"),
                number,
            );
        }
        let mut followed = Followed::start(&home.path, mode);
        followed.until("three messages", |f| said(&f.whole) == messages(1..4));
        writer.run("BEGIN; DELETE FROM part WHERE message_id = 'msg_00000003'; DELETE FROM message WHERE id = 'msg_00000003'");
        writer.message("ses_1", 7, "user");
        writer.part("ses_1", 7, 7, "message 7", 7);
        writer.run("COMMIT");
        followed.until("what came after the undo", |f| {
            said(&f.whole) == ["message 1", "message 2", "message 7"]
        });
        assert_eq!(followed.whole.tally().records(), 7);
        followed.end();
    }
}

#[test]
fn a_rewritten_session_is_read_again() {
    following(|_, writer, followed| {
        writer.run(
            "BEGIN; DELETE FROM transcript_events; \
             INSERT INTO transcript_rewrite_watermarks VALUES ('s', 'second', 1); COMMIT",
        );
        writer.events(SESSION, 0..2);
        followed.until("the rewritten session", |f| {
            said(&f.whole) == messages(1..2)
        });
        writer.run(
            "UPDATE transcript_events SET event_json = replace(event_json, 'message 1', 'message X'); \
                    UPDATE transcript_rewrite_watermarks SET generation = 'third'",
        );
        followed.until("the new generation", |f| said(&f.whole) == ["message X"]);
        followed.until("said why", |f| was_read_again(f, "rewritten"));
    });
}

#[test]
fn a_replaced_database_is_read_again_and_a_lost_one_stays_on_the_screen() {
    following(|home, writer, followed| {
        writer.run("PRAGMA wal_checkpoint(truncate)");
        for name in ["agent.db", "agent.db-wal", "agent.db-shm"] {
            let _ = fs::remove_file(home.dir.path().join(name));
        }
        followed.until("gone", |f| f.links.contains(&LinkState::Deleted));
        assert_eq!(said(&followed.whole), messages(1..4));
        let other = home.dir.path().join("other.db");
        let second = Writer::open(&other);
        second.run(&tables_of(&openclaw()));
        second.events(SESSION, 0..6);
        drop(second);
        fs::rename(&other, &home.path).unwrap();
        followed.until("the other database", |f| said(&f.whole) == messages(1..6));
    });
}

#[test]
fn an_agent_that_ends_and_begins_again_is_followed() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let (home, writer) = Home::with_tables_of(&openclaw());
        writer.events(SESSION, 0..2);
        drop(writer);
        assert_eq!(home.files(), ["agent.db"]);
        let mut followed = Followed::start(&home.path, mode);
        let mut next = 2;
        for _ in 0..3 {
            let writer = Writer::open(&home.path);
            writer.events(SESSION, next..next + 5);
            next += 5;
            followed.until("the new rows", |f| said(&f.whole) == messages(1..next));
            drop(writer);
            // Nobody reads now, so its own last connection could put the log away.
            assert_eq!(home.files(), ["agent.db"], "{mode:?} {next}");
        }
        followed.end();
        assert_eq!(home.files(), ["agent.db"]);
    }
}

#[test]
fn a_change_that_goes_on_is_waited_for() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("agent.db");
        let writer = Writer {
            connection: Connection::open(&path).unwrap(),
        };
        writer.run(&tables_of(&openclaw()).replace("journal_mode = wal", "journal_mode = delete"));
        writer.events(SESSION, 0..3);
        drop(writer);
        let mut writer = Elsewhere::open(&path);
        let add = |seq: i64| {
            let values = format!("'s', {seq}, '{}', 0", event(seq));
            format!(
                "INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES ({values});"
            )
        };
        let mut followed = Followed::start(&path, mode);
        followed.until("two messages", |f| said(&f.whole) == messages(1..3));
        // A change that is only prepared keeps nobody out.
        writer.run(&format!("BEGIN IMMEDIATE; {}", add(3)));
        assert_eq!(
            said(
                &read(&Target {
                    path: path.clone(),
                    session: None
                })
                .transcript
            ),
            messages(1..3)
        );
        writer.run("COMMIT");
        followed.until("the third", |f| said(&f.whole) == messages(1..4));
        writer.run("BEGIN EXCLUSIVE; UPDATE transcript_events SET created_at = 1");
        // A look has to come across the lock; the poll of a quiet database takes its time.
        followed.until("busy", |f| {
            let busy = |link: &LinkState| matches!(link, LinkState::Unreadable(why) if why.contains("busy"));
            f.links.iter().any(busy)
        });
        assert_eq!(said(&followed.whole), messages(1..4));
        writer.run("COMMIT");
        writer.run(&add(4));
        followed.until("the rows behind the lock", |f| {
            said(&f.whole) == messages(1..5)
        });
        followed.until("live", |f| f.links.last() == Some(&LinkState::Live));
        followed.end();
        assert_eq!(listing(dir.path()), ["agent.db"]);
    }
}

#[test]
fn rows_in_a_log_are_seen_and_nothing_is_left_beside_it() {
    let (home, writer) = Home::with_tables_of(&openclaw());
    writer.events(SESSION, 0..4);
    let copies = |with_index: bool| {
        let copy = Home {
            dir: tempfile::tempdir().unwrap(),
            path: PathBuf::new(),
        };
        let path = copy.dir.path().join("copy.db");
        let endings: &[&str] = if with_index {
            &["", "-wal", "-shm"]
        } else {
            &["", "-wal"]
        };
        for ending in endings {
            fs::copy(
                format!("{}{ending}", home.path.display()),
                format!("{}{ending}", path.display()),
            )
            .unwrap();
        }
        Home { path, ..copy }
    };
    for (copy, is_writable) in [
        (copies(true), true),
        (copies(false), true),
        (copies(true), false),
        (copies(false), false),
    ] {
        let before: Vec<_> = copy
            .files()
            .iter()
            .map(|name| fs::read(copy.dir.path().join(name)).unwrap())
            .collect();
        let names = copy.files();
        let mode = if is_writable { 0o755 } else { 0o555 };
        fs::set_permissions(copy.dir.path(), fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(
            said(&read(&copy.session(SESSION)).transcript),
            messages(1..4)
        );
        let mut followed = Followed::start(&copy.path, WatchMode::Native);
        followed.until("three messages", |f| said(&f.whole) == messages(1..4));
        followed.end();
        fs::set_permissions(copy.dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(copy.files(), names);
        let after: Vec<_> = names
            .iter()
            .map(|name| fs::read(copy.dir.path().join(name)).unwrap())
            .collect();
        assert!(before == after, "nothing is written");
    }
}

/// Breaks the page of a closed database that holds a text.
fn damage(path: &Path, text: &str) {
    let mut bytes = fs::read(path).unwrap();
    let at = bytes
        .windows(text.len())
        .position(|window| window == text.as_bytes())
        .unwrap();
    let page = at / 4096 * 4096;
    bytes[page..page + 64].fill(0xff);
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_damaged_page_costs_only_its_rows() {
    let (lines, writer) = Home::with_tables_of(&openclaw());
    writer.events(SESSION, 0..400);
    drop(writer);
    let (parts, writer) = Home::with_tables_of(&opencode());
    writer.session(SESSION);
    for number in 0..400 {
        writer.message(SESSION, number, "user");
        writer.part(
            SESSION,
            number,
            number,
            &format!("message {number}"),
            number,
        );
    }
    drop(writer);
    for (home, records) in [(lines, 400), (parts, 801)] {
        damage(&home.path, "message 200");
        let transcript = read(&home.session(SESSION)).transcript;
        assert_eq!(transcript.tally().records(), records);
        let faults = &transcript.tally().faults;
        assert!(faults.len() > 1 && faults.len() < 100, "{}", faults.len());
        assert!(
            faults.iter().all(|(_, what)| what.contains("malformed")),
            "{faults:?}"
        );
        let said = said(&transcript);
        for message in ["message 20", "message 399"] {
            assert!(said.iter().any(|text| text == message), "{message}");
        }
        let mut followed = Followed::start(&home.path, WatchMode::Poll);
        followed.until("the same", |f| f.whole.tally().records() == records);
        followed.end();
    }
}

#[test]
fn a_session_is_the_same_in_a_folder_and_in_a_database() {
    // Databases keep no list of changed files.
    let folder = tempfile::tempdir().unwrap();
    let storage = folder.path().join("storage");
    let fixture = root().join("opencode/storage");
    for file in files_below(&fixture)
        .iter()
        .filter(|file| !file.starts_with(fixture.join("session_diff")))
    {
        let copy = storage.join(file.strip_prefix(&fixture).unwrap());
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(file, copy).unwrap();
    }
    let (home, writer) = Home::with_tables_of(&opencode());
    let (of_session, of_message) = ("json ->> 'sessionID'", "json ->> 'messageID'");
    let time = "coalesce(json ->> '$.time.created', 0), 0";
    let rest = "json_remove(json, '$.id', '$.sessionID', '$.messageID')";
    let session =
        "json ->> 'parentID', '', json ->> 'directory', json ->> 'title', json ->> 'version'";
    for (table, columns, values) in [
        (
            "session",
            "project_id, parent_id, slug, directory, title, version, revert, time_created, time_updated",
            format!("'p', {session}, json -> 'revert', {time}"),
        ),
        (
            "message",
            "session_id, time_created, time_updated, data",
            format!("{of_session}, {time}, {rest}"),
        ),
        (
            "part",
            "message_id, session_id, time_created, time_updated, data",
            format!("{of_message}, {of_session}, {time}, {rest}"),
        ),
    ] {
        let sql = format!(
            "INSERT INTO {table} (id, {columns}) SELECT json ->> 'id', {values} FROM (SELECT ?1 AS json)"
        );
        for file in files_below(&storage.join(table)) {
            writer
                .connection
                .execute(&sql, [fs::read_to_string(file).unwrap()])
                .unwrap();
        }
    }
    let plan = fs::read_to_string(storage.join("todo/ses_0fixtmain01.json")).unwrap();
    let sql = "INSERT INTO todo (session_id, content, status, priority, position, time_created, time_updated) \
               SELECT 'ses_0fixtmain01', value ->> 'content', value ->> 'status', value ->> 'priority', key, 0, 0 \
               FROM json_each(?1)";
    writer.connection.execute(sql, [plan]).unwrap();
    let entries_of = |path: &Path| {
        let target = Target {
            path: path.to_owned(),
            session: Some("ses_0fixtmain01".to_owned()),
        };
        let transcript = read(&target).transcript;
        let mut entries: Vec<String> = transcript
            .entries()
            .map(|entry| {
                let texts: Vec<String> = entry
                    .blocks
                    .iter()
                    .flat_map(|block| block.kind.bodies())
                    .map(|body| body.stub.to_string())
                    .collect();
                format!(
                    "{} {:?} {:?} {:?} {:?} {texts:?}",
                    entry.key, entry.role, entry.lane, entry.usage, entry.marks
                )
            })
            .collect();
        entries.sort();
        (entries, transcript.tally().records())
    };
    let (folder, database) = (entries_of(&storage), entries_of(&home.path));
    assert!(folder.0.len() > 5);
    for (file, row) in folder.0.iter().zip(&database.0) {
        assert_eq!(file, row);
    }
    assert_eq!(folder, database);
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

#[test]
fn sessions_are_listed_and_named() {
    let home = Home::of(&openclaw());
    // A table of a module that only its agent has.
    let writer = Writer::open(&home.path);
    writer.run(
        "PRAGMA writable_schema = on; INSERT INTO sqlite_schema VALUES \
         ('table', 'memories', 'memories', 0, 'CREATE VIRTUAL TABLE memories USING vec0(embedding)')",
    );
    drop(writer);
    let heads = sessions(&Target {
        path: home.path.clone(),
        session: None,
    })
    .unwrap();
    let listed: Vec<_> = heads
        .iter()
        .map(|head| {
            (
                head.id.as_str(),
                head.key.as_deref(),
                head.title.as_deref(),
                head.messages,
            )
        })
        .map(|(id, key, title, messages)| format!("{} {key:?} {title:?} {messages:?}", &id[..4]))
        .collect();
    assert_eq!(
        listed,
        [
            r#"1111 Some("agent:main:main") Some("Water the ferns") Some(9)"#,
            r#"2222 Some("agent:main:subagent:5a5a0000-0000-4000-8000-00000000005a") Some("Count pots") Some(5)"#,
            r#"3333 Some("agent:main:main") None Some(4)"#,
            r#"4444 Some("agent:main:cron:check") None Some(0)"#,
        ]
    );
    for name in [
        "agent:main:main",
        "11110000-aaaa-4bbb-8ccc-000000000001",
        "1111",
    ] {
        let transcript = read(&home.session(name)).transcript;
        assert_eq!(
            transcript.meta().id.as_deref(),
            Some("11110000-aaaa-4bbb-8ccc-000000000001"),
            "{name}"
        );
    }
    let error = open(&home.session("nobody")).err().unwrap().0;
    assert!(error.contains("no session nobody"), "{error}");
}

#[test]
fn only_what_the_store_has_judged_counts_as_abandoned() {
    let home = Home::of(&openclaw());
    let undone = |transcript: &Transcript| {
        let undone = transcript.entries().filter(|entry| entry.marks.undone);
        undone
            .map(|entry| entry.key.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(undone(&read(&home.session("1111")).transcript), ["a5"]);
    let session = open(&home.session("1111")).unwrap();
    let mut followed = Followed::of(session, WatchMode::Native);
    followed.until("caught up", |f| f.is_caught_up);
    let records = followed.whole.tally().records();
    let writer = Writer::open(&home.path);
    writer.run("DELETE FROM session_transcript_active_events WHERE event_seq = 6; \
                INSERT INTO session_transcript_active_events VALUES ('11110000-aaaa-4bbb-8ccc-000000000001', 9, 5, 5, 1)");
    followed.until("the other answer", |f| undone(&f.whole) == ["a6"]);
    assert_eq!(followed.whole.tally().records(), records);
    followed.end();
}

#[test]
fn children_become_lanes_and_bodies_come_again() {
    let home = Home::of(&openclaw());
    let session = open(&home.session("1111")).unwrap();
    let mut pager = session.pager();
    let mut transcript = Transcript::new();
    session.read_whole(true, &mut |feed| {
        if let tv::model::edit::Feed::Batch { batch, .. } = feed {
            transcript.apply(*batch);
        }
    });
    transcript.update_derived();
    assert_eq!(transcript.tally().records(), 9 + 5);
    assert_eq!(transcript.lanes().len(), 1);
    let lanes = transcript
        .entries()
        .filter(|entry| entry.lane.is_some())
        .count();
    assert_eq!(lanes, 3);
    let whole = read(&home.session("1111")).transcript;
    let mut away = 0;
    for (stub, held) in transcript.entries().zip(whole.entries()) {
        let bodies = stub.blocks.iter().flat_map(|b| b.kind.bodies());
        for (body, held) in bodies.zip(held.blocks.iter().flat_map(|b| b.kind.bodies())) {
            if body.is_on_disk() {
                away += 1;
                assert_eq!(pager.read(body.from)[usize::from(body.slot)], held.held);
            }
        }
    }
    assert!(away > 2, "{away}");
    let archived = read(&home.session("4444"));
    assert_eq!(said(&archived.transcript), ["Is anybody there?", "Yes."]);
    let mut pager = archived.pager;
    let last = archived.transcript.entries().last().unwrap().origin;
    assert!(
        String::from_utf8(pager.bytes(last).unwrap())
            .unwrap()
            .contains("Yes.")
    );
    drop(fixtures::all());
}

#[test]
fn a_large_database_shows_its_newest_rows_first() {
    let (home, writer) = Home::with_tables_of(&openclaw());
    writer.events(SESSION, 0..3);
    let filler = "x".repeat(100_000);
    for seq in 3..80 {
        let event = event(seq).replace("message ", &format!("message {filler} "));
        let sql = "INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES ('s', ?1, ?2, 0)";
        writer.connection.execute(sql, (seq, event)).unwrap();
    }
    writer.events(SESSION, 80..100);
    drop(writer);
    let mut followed = Followed::start(&home.path, WatchMode::Poll);
    followed.until("all", |f| f.whole.tally().records() == 100);
    let preview = said(&followed.preview);
    assert_eq!(preview.len(), 60);
    assert_eq!(preview[40..], messages(80..100));
    assert_eq!(followed.whole.order().len(), 99);
    followed.end();
}

// === what the formats ask for ===

const SECRETS: [&str; 6] = [
    "auth",
    "account",
    "credential",
    "session_share",
    "secret",
    "token",
];

fn tables_in(sql: &Path) -> Tables {
    let connection = Connection::open_in_memory().unwrap();
    connection
        .execute_batch(&fs::read_to_string(sql).unwrap())
        .unwrap();
    let query = "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' \
         AND t.name NOT LIKE 'sqlite_%'";
    let mut statement = connection.prepare(query).unwrap();
    let rows = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    let mut tables: Vec<DatabaseTable> = Vec::new();
    for (name, column) in rows.map(Result::unwrap) {
        let (name, column): (String, String) = (name, column);
        match tables.last_mut() {
            Some(last) if last.name == name => last.columns.push(column),
            _ => tables.push(DatabaseTable {
                name,
                columns: vec![column],
            }),
        }
    }
    Tables(tables)
}

fn all_sql(queries: &Queries) -> Vec<String> {
    let mut sql = vec![
        queries.heads.clone(),
        queries.named.clone(),
        queries.count.clone(),
        queries.newest.clone(),
    ];
    let RowListing {
        count,
        single,
        strays,
        portion,
        beyond,
        places,
    } = &queries.listing;
    let optional = [
        &queries.children,
        &queries.facts,
        &queries.generation,
        &queries.archive,
        &queries.abandoned,
    ];
    sql.extend(
        optional
            .into_iter()
            .chain([single, strays])
            .flatten()
            .cloned(),
    );
    sql.extend(queries.tables.iter().map(|table| table.one.clone()));
    sql.extend(
        [count, portion, places]
            .into_iter()
            .chain(beyond.iter().map(|(_, sql)| sql))
            .cloned(),
    );
    sql
}

#[test]
fn no_query_asks_for_credentials_and_each_runs_on_the_tables_it_was_made_for() {
    let mut seen = 0;
    let defined = [
        "opencode/early.sql",
        "opencode/opencode-2.sql",
        "opencode/upgraded.sql",
        "crush/crush.sql",
        "goose/sessions.sql",
        "otel-genai/agent-traces.sql",
        "hermes/state.sql",
        "devin/devin.sql",
        "copilot-cli/session-store.sql",
    ]
    .map(|sql| root().join(sql));
    for sql in [openclaw(), opencode()].into_iter().chain(defined) {
        let tables = tables_in(&sql);
        // Whatever is missing, the queries name only what is there.
        for left_out in 0..=tables.0.len() {
            let mut some = tables.clone();
            if left_out > 0 {
                some.0.remove(left_out - 1);
            }
            for queries in registry().filter_map(|format| format.queries(&some)) {
                let connection = Connection::open_in_memory().unwrap();
                for table in &some.0 {
                    let columns = table.columns.join(", ");
                    connection
                        .execute_batch(&format!("CREATE TABLE {} ({columns})", table.name))
                        .unwrap();
                }
                for query in all_sql(&queries) {
                    connection
                        .prepare(&query)
                        .unwrap_or_else(|error| panic!("{error}: {query}"));
                    let other = query.replace("tokens", "").replace("token_count", "");
                    assert!(
                        !SECRETS.iter().any(|secret| other.contains(secret)),
                        "{query}"
                    );
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 50);
}

/// Of all calls none changes a file in a folder or locks one, or wishes to and is refused.
fn assert_only_reads(calls: &str, folder: &str) {
    let changes = [
        "creat",
        "mkdir",
        "rename",
        "unlink",
        "rmdir",
        "chmod",
        "chown",
        "fchmod",
        "fchown",
        "ftruncate",
        "fallocate",
        "truncate",
        "link",
        "utime",
        "mknod",
    ];
    let wishes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"];
    assert!(
        calls.lines().any(|line| line.contains(folder)),
        "the trace is of the right program"
    );
    for line in calls.lines() {
        let (is_ours, call) = (
            line.contains(folder),
            line.split('(').next().unwrap_or_default(),
        );
        let is_change = changes.iter().any(|change| call.starts_with(change));
        assert!(!((is_ours || call.starts_with('f')) && is_change), "{line}");
        assert!(
            !(is_ours && wishes.iter().any(|wish| line.contains(wish))),
            "{line}"
        );
        assert!(
            !line.contains("F_SETLK"),
            "not even a lock that others could share: {line}"
        );
    }
}

/// `strace` of the program while an agent writes: it writes nothing, and takes no lock for itself.
#[test]
fn following_a_database_touches_nothing() {
    if std::process::Command::new("strace")
        .arg("-V")
        .output()
        .is_err()
    {
        println!("strace is not installed, so what the program does to files is not looked at");
        return;
    }
    let (home, mut writer) = Home::with_tables_of(&openclaw());
    writer.events(SESSION, 0..10);
    // A file for each thread, so that no call comes in two pieces.
    let traces = tempfile::tempdir().unwrap();
    let mut child = std::process::Command::new("strace")
        .args([
            "-ff",
            "-o",
            &traces.path().join("trace").display().to_string(),
        ])
        .args([
            "-e",
            "trace=%file,%desc,fcntl,flock,ftruncate,fchmod,fchown,fallocate",
        ])
        .arg(env!("CARGO_BIN_EXE_tv"))
        .args([
            "show",
            "--follow",
            "--json",
            &home.path.display().to_string(),
        ])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let mut seen = 0;
    for next in 10..40 {
        if next % 5 == 0 {
            drop(writer);
            assert_eq!(home.files(), ["agent.db"]);
            writer = Writer::open(&home.path);
        }
        writer.events(SESSION, next..next + 1);
        while seen < next {
            assert!(lines.next().unwrap().is_ok());
            seen += 1;
        }
    }
    assert_eq!(home.files(), ["agent.db", "agent.db-shm", "agent.db-wal"]);
    // It ends when nobody reads on.
    drop(lines);
    let mut next = 40;
    while child.try_wait().unwrap().is_none() {
        writer.events(SESSION, next..next + 1);
        next += 1;
        std::thread::sleep(Duration::from_millis(50));
    }
    let text: String = files_below(traces.path())
        .iter()
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    assert_only_reads(&text, &home.dir.path().display().to_string());
    drop(writer);
    assert_eq!(home.files(), ["agent.db"]);
}

#[test]
fn messages_of_the_second_model_come_with_their_columns() {
    let (home, writer) = Home::with_tables_of(&opencode());
    writer.run(
        "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) \
         VALUES ('ses_1', 'p', '', '/', 'Second model', '2.0.0', 0, 0); \
         INSERT INTO session_message VALUES ('msg_2', 'ses_1', 'assistant', 2, 2, '{\"content\":[]}', 2); \
         INSERT INTO session_message VALUES ('msg_1', 'ses_1', 'user', 1, 1, '{\"text\":\"hello\"}', 1)",
    );
    drop(writer);
    let session = open(&home.session("ses_1")).unwrap();
    let mut pager = session.pager();
    let mut transcript = Transcript::new();
    session.read_whole(false, &mut |feed| {
        if let tv::model::edit::Feed::Batch { batch, .. } = feed {
            transcript.apply(*batch);
        }
    });
    assert_eq!(transcript.tally().records(), 3);
    let records: Vec<String> = transcript
        .entries()
        .map(|entry| String::from_utf8(pager.bytes(entry.origin).unwrap()).unwrap())
        .collect();
    let expected = r#"{"text":"hello","id":"msg_1","type":"user","seq":1,"sessionID":"ses_1","time_created":1}"#;
    assert_eq!(records.first().map(String::as_str), Some(expected));
    assert_eq!(
        sessions(&home.session("ses_1")).unwrap()[0].messages,
        Some(2)
    );
}

// === real databases ===

/// The entries of a session, whatever it lies in.
fn entries_of(target: &Target) -> Vec<String> {
    let transcript = read(target).transcript;
    let entry = |entry: &Entry| {
        let bodies = entry.blocks.iter().flat_map(|block| block.kind.bodies());
        // Parts of an export that came within one tick are in no order of their ids.
        let mut bodies: Vec<_> = bodies
            .map(|body| format!("{} {}", body.bytes, body.stub))
            .collect();
        bodies.sort();
        format!(
            "{} {:?} {:?} {:?} {bodies:?}",
            entry.key, entry.role, entry.at, entry.usage
        )
    };
    transcript.entries().map(entry).collect()
}

#[test]
fn real_databases_hold_what_the_files_beside_them_hold() {
    let Some(Corpus { folder: corpus, .. }) = real() else {
        return;
    };
    let mut compared = 0;
    for (database, folders) in [
        ("openclaw/derived_openclaw-agent.sqlite", ["openclaw", "pi"]),
        (
            "opencode/derived_opencode_from_exports.db",
            ["opencode", "opencode"],
        ),
        (
            "opencode/suhd550-dev__stunning-memory__opencode.db",
            ["opencode", "opencode"],
        ),
    ] {
        let path = corpus.join(database);
        let heads = sessions(&Target {
            path: path.clone(),
            session: None,
        })
        .unwrap();
        assert!(!heads.is_empty());
        for head in heads {
            let target = Target {
                path: path.clone(),
                session: Some(head.id.clone()),
            };
            let rows = read(&target).transcript;
            assert_eq!(rows.tally().faulty, 0, "{database}#{}", head.id);
            assert!(
                rows.tally().unknown.is_empty(),
                "{database}#{}: {:?}",
                head.id,
                rows.tally().unknown
            );
            for file in folders.iter().flat_map(|name| files(&corpus.join(name))) {
                // Exports that were joined of several hold messages twice; a database cannot.
                let name = file.display().to_string();
                let holds = name.contains(&head.id)
                    || EXPORTED
                        .iter()
                        .any(|(id, end)| *id == head.id && name.ends_with(end));
                if holds && !name.contains("trajectory") && !name.contains(".lock") {
                    assert_eq!(
                        entries_of(&target),
                        entries_of(&Target {
                            path: file,
                            session: None
                        }),
                        "{name}"
                    );
                    compared += 1;
                }
            }
        }
    }
    assert!(compared >= 10, "{compared}");
    let other = corpus.join("lookalikes/cachebag__rlox__go-opencode.db");
    let refusal = open(&Target {
        path: other,
        session: None,
    })
    .err()
    .unwrap()
    .0;
    assert!(refusal.contains("Crush"), "{refusal}");
}

/// What Copilot's requests took stands in a database beside all sessions, which may come later than a session, and goes on.
#[test]
fn rows_beside_a_session_come_and_grow() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("session-state/c1/events.jsonl");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let line = |n: u32, kind: &str, data: &str| {
            format!(
                r#"{{"type":"{kind}","data":{data},"id":"e{n}","timestamp":"2026-09-01T10:00:0{n}.000Z","parentId":null}}"#
            ) + "\n"
        };
        let start = line(
            0,
            "session.start",
            r#"{"sessionId":"c1","producer":"copilot-agent"}"#,
        );
        let said = r#"{"messageId":"m1","model":"claude-sonnet-4.5","content":"Yes.","toolRequests":[],"outputTokens":200}"#;
        fs::write(
            &path,
            start
                + &line(1, "user.message", r#"{"content":"do it"}"#)
                + &line(2, "assistant.message", said),
        )
        .unwrap();
        let mut followed = Followed::start(&path, mode);
        let sums = |followed: &mut Followed| {
            let sum = followed.whole.totals().sum();
            (
                sum.input.total,
                sum.cache_read.total,
                sum.output.total,
                sum.recorded_nanos,
            )
        };
        assert_eq!(sums(&mut followed).3, 0);
        let writer = Writer::open(&home.path().join("session-store.db"));
        writer.run(
            "CREATE TABLE assistant_usage_events (id INTEGER PRIMARY KEY, session_id TEXT, model TEXT, input_tokens INTEGER,
             output_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER, reasoning_tokens INTEGER,
             total_nano_aiu INTEGER, created_at TEXT)",
        );
        let request = |session: &str, output: u32, cost: u64| {
            writer.run(&format!(
                "INSERT INTO assistant_usage_events (session_id, model, input_tokens, output_tokens, cache_read_tokens,
                 cache_write_tokens, reasoning_tokens, total_nano_aiu)
                 VALUES ('{session}', 'claude-sonnet-4.5', 12000, {output}, 9000, 1000, 0, {cost})"
            ));
        };
        request("c1", 200, 2_500_000_000);
        followed.until("the request", |f| sums(f) == (2000, 9000, 200, 25_000_000));
        request("other", 70, 7_000_000_000);
        request("c1", 300, 1_500_000_000);
        followed.until("another one", |f| {
            sums(f) == (4000, 18_000, 500, 40_000_000)
        });
        followed.end();
    }
}

/// Sessions of the database that are whole in an export, and how the export's name ends.
const EXPORTED: [(&str, &str); 2] = [
    (
        "ses_0aaca5626ffe0Qik8RnPS5pLrz",
        "export_opencode-session.json",
    ),
    (
        "ses_336b87d74ffeCuyeb83qyHVYRA",
        "export_ac__0b718eb874__0.json",
    ),
];
