//! Tests of OpenCode's databases of version 2, whose rows are whole messages: which generation
//! counts, what a fork copied, and rows that arrive while OpenCode writes.

use std::path::{Path, PathBuf};

use rusqlite::params;
use tempfile::TempDir;
use tv::ingest::{Target, WatchMode, sessions};
use tv::model::edit::LinkState;
use tv::model::entry::{BlockKind, Entry};
use tv::model::transcript::Transcript;

use crate::databases::{Writer, listing, tables_of, write};
use crate::fixtures::{read, root};
use crate::follow::Followed;

const SESSION: &str = "INSERT INTO session_v2 (id, project_id, slug, directory, title, version, time_created, time_updated) \
     VALUES ('ses_1', 'p', 's', '/quay', 'Boats', '2.0.12', 1000, 1000)";

/// A database with the tables of a fixture.
fn database(fixture: &str) -> (TempDir, PathBuf, Writer) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let writer = Writer::open(&path);
    writer.run(&tables_of(&root().join("opencode").join(fixture)));
    (folder, path, writer)
}

/// Adds a row, or edits it in place.
fn row(writer: &Writer, session: &str, seq: i64, kind: &str, data: &str) {
    let sql = "INSERT INTO session_message VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6) \
               ON CONFLICT (id) DO UPDATE SET data = ?6, time_updated = time_updated + 1";
    let mut insert = writer.connection.prepare_cached(sql).unwrap();
    let id = format!("msg_{session}_{seq:04}");
    insert
        .execute(params![id, session, kind, seq, 1000 + seq, data])
        .unwrap();
}

fn user(text: &str, at: i64) -> String {
    format!(r#"{{"text":"{text}","time":{{"created":{at}}}}}"#)
}

/// An answer as it grows, or with its end and what it cost.
fn answer(text: &str, at: i64, cost: Option<f64>) -> String {
    let end = cost.map_or_else(String::new, |cost| {
        format!(
            r#","finish":"stop","cost":{cost},"tokens":{{"input":10,"output":5,"reasoning":0,"cache":{{"read":0,"write":0}}}}"#
        )
    });
    let completed = cost.map_or_else(String::new, |_| format!(r#","completed":{}"#, at + 1));
    format!(
        r#"{{"agent":"build","model":{{"id":"tern-2","providerID":"shore"}},"content":[{{"type":"text","text":"{text}"}}],"time":{{"created":{at}{completed}}}{end}}}"#
    )
}

fn words(entry: &Entry) -> String {
    let bodies = entry.blocks.iter().flat_map(|block| block.kind.bodies());
    bodies
        .map(|body| body.stub.to_string())
        .collect::<Vec<_>>()
        .join("|")
}

fn said(transcript: &Transcript) -> Vec<String> {
    transcript
        .entries()
        .filter(|entry| !entry.marks.trace)
        .map(words)
        .collect()
}

fn session(path: &Path, id: &str) -> Target {
    Target {
        path: path.to_owned(),
        session: Some(id.to_owned()),
    }
}

#[test]
fn rows_that_are_edited_in_place_come_in_their_place_and_count_once() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let (folder, path, writer) = database("opencode-2.sql");
        writer.run(SESSION);
        row(&writer, "ses_1", 1, "user", &user("How many boats?", 1000));
        let mut followed = Followed::start(&path, mode);
        followed.until("the prompt", |f| said(&f.whole) == ["How many boats?"]);
        for text in ["I", "I count", "I count four."] {
            row(&writer, "ses_1", 2, "assistant", &answer(text, 1001, None));
            followed.until(text, |f| said(&f.whole) == ["How many boats?", text]);
        }
        assert!(followed.whole.entries().last().unwrap().marks.open);
        row(
            &writer,
            "ses_1",
            2,
            "assistant",
            &answer("I count four.", 1001, Some(0.25)),
        );
        followed.until("what it cost", |f| f.whole.totals().sum().requests == 1);
        row(
            &writer,
            "ses_1",
            3,
            "idle",
            r#"{"outcome":"succeeded","time":{"created":1003}}"#,
        );
        followed.until("the end of the turn", |f| f.whole.tally().records() == 4);
        for seq in 4..400 {
            row(
                &writer,
                "ses_1",
                seq,
                "user",
                &user(&format!("boat {seq}"), 1000 + seq),
            );
        }
        followed.until("all rows", |f| f.whole.tally().records() == 400);
        row(&writer, "ses_1", 200, "user", &user("edited later", 1200));
        followed.until("an edit", |f| said(&f.whole)[198] == "edited later");
        let expected: Vec<String> = ["How many boats?".to_owned(), "I count four.".to_owned()]
            .into_iter()
            .chain((4..400).map(|seq| {
                if seq == 200 {
                    "edited later".to_owned()
                } else {
                    format!("boat {seq}")
                }
            }))
            .collect();
        assert_eq!(said(&followed.whole), expected);
        assert_eq!(followed.whole.tally().faulty, 0);
        assert!(
            followed
                .links
                .iter()
                .all(|link| !matches!(link, LinkState::Reread(_))),
            "{:?}",
            followed.links
        );
        followed.end();
        drop(writer);
        assert_eq!(
            listing(folder.path()),
            ["opencode.db"],
            "nothing is left beside it"
        );
    }
}

#[test]
fn a_prompt_that_waits_is_shown_until_it_is_delivered() {
    let (_folder, path, writer) = database("opencode-2.sql");
    writer.run(SESSION);
    row(&writer, "ses_1", 1, "user", &user("How many boats?", 1000));
    row(
        &writer,
        "ses_1",
        2,
        "assistant",
        &answer("I count", 1001, None),
    );
    let mut followed = Followed::start(&path, WatchMode::Poll);
    let before = ["How many boats?", "I count"];
    followed.until("a turn", |f| said(&f.whole) == before);
    writer.run(
        "INSERT INTO session_pending VALUES ('msg_ses_1_0003', 'ses_1', 'user', '{\"text\":\"And ships?\"}', 'queue', 3, 1003)",
    );
    followed.until("what waits", |f| {
        said(&f.whole) == ["How many boats?", "I count", "And ships?"]
    });
    let is_prompt = |f: &Followed| f.whole.entries().last().unwrap().marks.prompt;
    assert!(!is_prompt(&followed), "it was not asked yet");
    writer.run("DELETE FROM session_pending");
    row(
        &writer,
        "ses_1",
        2,
        "assistant",
        &answer("I count four.", 1001, Some(0.1)),
    );
    row(&writer, "ses_1", 3, "user", &user("And ships?", 1003));
    followed.until("it was delivered", |f| {
        said(&f.whole) == ["How many boats?", "I count four.", "And ships?"] && is_prompt(f)
    });
    assert!(
        followed
            .links
            .iter()
            .all(|link| !matches!(link, LinkState::Reread(_))),
        "{:?}",
        followed.links
    );
    followed.end();
}

/// The texts that count as a session's own, and what its requests cost.
fn own(path: &Path, id: &str) -> (Vec<String>, i64) {
    let transcript = read(&session(path, id)).transcript;
    let own = transcript
        .entries()
        .filter(|entry| !entry.marks.copy && entry.role.word() != "harness");
    let texts = own.map(words).collect();
    (texts, transcript.totals().sum().recorded_nanos / 1_000_000)
}

/// A boundary is the id of a message of either session, by itself or with the word whether it was copied, too. Where it
/// leads nowhere, the time of the fork tells.
#[test]
fn what_a_fork_took_over_counts_in_the_session_that_paid_for_it() {
    let copied = [
        ("'msg_ses_1_0004'", 4),
        ("'msg_ses_2_0002'", 2),
        (r#"'{"type":"through","messageID":"msg_ses_1_0002"}'"#, 2),
        (r#"'{"type":"before","messageID":"msg_ses_1_0003"}'"#, 2),
        ("'msg_of_nobody'", 4),
        ("NULL", 4),
    ];
    for (boundary, count) in copied {
        let (_folder, path, writer) = database("opencode-2.sql");
        writer.run(SESSION);
        writer.run(&format!(
            "INSERT INTO session_v2 (id, project_id, fork_session_id, fork_boundary, slug, directory, version, cost, time_created, time_updated) \
             VALUES ('ses_2', 'p', 'ses_1', {boundary}, 's', '/quay', '2.0.12', 9.0, 5000, 6000)"
        ));
        for (of, up_to) in [("ses_1", 4), ("ses_2", count)] {
            for seq in (1..=up_to).step_by(2) {
                row(
                    &writer,
                    of,
                    seq,
                    "user",
                    &user(&format!("prompt {seq}"), 1000 + seq),
                );
                row(
                    &writer,
                    of,
                    seq + 1,
                    "assistant",
                    &answer(&format!("answer {seq}"), 1001 + seq, Some(0.25)),
                );
            }
        }
        row(
            &writer,
            "ses_2",
            count + 1,
            "user",
            &user("own prompt", 5001),
        );
        row(
            &writer,
            "ses_2",
            count + 2,
            "assistant",
            &answer("own answer", 5002, Some(0.5)),
        );
        let own_time = "UPDATE session_message SET time_created = 5000 + seq WHERE session_id = 'ses_2' AND data LIKE '%own%'";
        writer.run(own_time);
        assert_eq!(
            own(&path, "ses_2"),
            (vec!["own prompt".to_owned(), "own answer".to_owned()], 500),
            "{boundary}"
        );
        assert_eq!(own(&path, "ses_1").1, 500);
        let transcript = read(&session(&path, "ses_2")).transcript;
        let is_line = |entry: &&Entry| {
            let of = |kind: &BlockKind| matches!(kind, BlockKind::Break(line) if line.words().contains("ses_1"));
            entry.blocks.iter().any(|block| of(&block.kind))
        };
        let line = transcript.entries().position(|entry| is_line(&entry));
        assert_eq!(
            line,
            usize::try_from(count).ok(),
            "{boundary}: it says where it begins"
        );
        let title = transcript.meta().title().map(ToString::to_string);
        assert_eq!(
            title.as_deref(),
            Some("prompt 1"),
            "it is called after the first prompt of all"
        );
    }
}

#[test]
fn of_both_generations_the_newer_one_counts() {
    let (_folder, path, writer) = database("upgraded.sql");
    drop(writer);
    write(&root().join("opencode/upgraded.sql"), &path);
    let heads = sessions(&Target {
        path: path.clone(),
        session: None,
    })
    .unwrap();
    let listed: Vec<_> = heads
        .iter()
        .map(|head| (head.title.as_deref().unwrap_or_default(), head.messages))
        .collect();
    let expected = [
        ("New session", Some(2)),
        ("How high is the hill", Some(5)),
        ("Where is the path", Some(2)),
    ];
    assert_eq!(listed, expected);
    let texts = |id: &str| said(&read(&session(&path, id)).transcript);
    assert_eq!(
        texts("ses_1hillmoved"),
        [
            "How high is the hill?",
            "High enough.",
            "Tools have other names now.",
            "In feet?",
            "Many."
        ]
    );
    assert_eq!(
        texts("ses_1hillstays"),
        ["Where is the path?", "Behind the barn.", "[x] Walk it"]
    );
}

/// While it is taken over, a session changes from one generation to the other.
#[test]
fn a_session_that_is_taken_over_while_it_is_followed_is_read_again() {
    let (_folder, path, writer) = database("upgraded.sql");
    writer.run(
        "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) \
         VALUES ('ses_1', 'p', 's', '/', 'Old', '1.17.9', 1, 1)",
    );
    writer.message("ses_1", 1, "user");
    writer.part("ses_1", 1, 1, "the old prompt", 1);
    let mut followed = Followed::start(&path, WatchMode::Poll);
    followed.until("the old one", |f| said(&f.whole) == ["the old prompt"]);
    writer.run(SESSION);
    row(&writer, "ses_1", 1, "user", &user("the old prompt", 1));
    row(&writer, "ses_1", 2, "user", &user("a new one", 2));
    followed.until("the new one", |f| {
        said(&f.whole) == ["the old prompt", "a new one"]
    });
    followed.until("each row once", |f| f.whole.tally().records() == 3);
    followed.end();
}

/// MiMo copies sessions of other agents, which keep them.
#[test]
fn sessions_that_were_copied_from_other_agents_are_not_listed() {
    let (_folder, path, writer) = database("opencode.sql");
    writer.run(
        "CREATE TABLE external_import (id text, session_id text); \
         INSERT INTO external_import VALUES ('1', 'ses_copied'); \
         INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) \
         VALUES ('ses_copied', 'p', 's', '/', 'Copied', '1', 1, 1), ('ses_own', 'p', 's', '/', 'Own', '1', 1, 1)",
    );
    let heads = sessions(&Target {
        path,
        session: None,
    })
    .unwrap();
    assert_eq!(
        heads
            .iter()
            .map(|head| head.id.as_str())
            .collect::<Vec<_>>(),
        ["ses_own"]
    );
}

/// What a session spent beside its messages, as for its title, is in its total alone.
#[test]
fn a_total_tells_what_no_message_does() {
    let (_folder, path, writer) = database("opencode-2.sql");
    writer.run(SESSION);
    row(&writer, "ses_1", 1, "user", &user("How many boats?", 1000));
    row(
        &writer,
        "ses_1",
        2,
        "assistant",
        &answer("Four.", 1001, Some(0.25)),
    );
    let total = |cost: f64, tokens: i64| {
        writer.run(&format!(
            "UPDATE session_v2 SET cost = {cost}, tokens_input = {tokens}, tokens_output = 5"
        ));
    };
    total(0.25, 10);
    let mut followed = Followed::start(&path, WatchMode::Poll);
    let spent = |f: &Followed| {
        let sum = f.whole.totals().sum();
        (
            sum.recorded_nanos / 1_000_000,
            sum.input.value(),
            sum.requests,
        )
    };
    followed.until("its messages alone", |f| spent(f) == (250, Some(10), 1));
    total(0.26, 30);
    followed.until("the title, too", |f| spent(f) == (260, Some(30), 1));
    row(
        &writer,
        "ses_1",
        3,
        "assistant",
        &answer("Or five.", 1003, Some(0.5)),
    );
    total(0.76, 40);
    followed.until("another answer", |f| spent(f) == (760, Some(40), 2));
    followed.end();
}

/// A sub-agent that no call names belongs to the last one before it.
#[test]
fn a_sub_agent_without_a_name_is_linked_by_its_time() {
    let (_folder, path, writer) = database("opencode-2.sql");
    writer.run(SESSION);
    let call = |id: &str, at: i64| {
        format!(
            r#"{{"type":"tool","id":"{id}","name":"subagent","state":{{"status":"running","input":{{"description":"look {id}"}}}},"time":{{"created":{at},"ran":{at}}}}}"#
        )
    };
    let calls = format!(
        r#"{{"content":[{},{}],"time":{{"created":1001}}}}"#,
        call("call_1", 1002),
        call("call_2", 2002)
    );
    row(&writer, "ses_1", 1, "assistant", &calls);
    for (child, at) in [("ses_a", 1003), ("ses_b", 2003)] {
        writer.run(&format!(
            "INSERT INTO session_v2 (id, project_id, parent_id, slug, directory, version, time_created, time_updated) \
             VALUES ('{child}', 'p', 'ses_1', 's', '/quay', '2.0.12', {at}, {at})"
        ));
        row(&writer, child, 1, "user", &user("look", at));
    }
    let transcript = read(&session(&path, "ses_1")).transcript;
    let lanes: Vec<_> = transcript
        .lanes()
        .iter()
        .map(|lane| (lane.name.to_string(), lane.call.clone()))
        .collect();
    let expected = [("ses_a", "call_1"), ("ses_b", "call_2")]
        .map(|(lane, call)| (lane.to_owned(), Some(call.into())));
    assert_eq!(lanes, expected);
}

/// What messages and parts record and no block shows: in a folder and in databases as in an export.
#[test]
fn all_that_is_recorded_is_there_at_the_last_level() {
    let fixtures = root().join("opencode");
    let database = |name: &str| {
        crate::databases::made_from(&fixtures.join(name))
            .display()
            .to_string()
    };
    for (session, words) in [
        (
            fixtures.join("storage").display().to_string() + "#ses_0fixtmain01",
            [
                "providerID",
                "mode",
                "finish",
                "step-start",
                "step-finish",
                "snapshot",
            ],
        ),
        (
            database("opencode.sql") + "#ses_0lakemain1",
            [
                "providerID",
                "mode",
                "finish",
                "step-start",
                "step-finish",
                "snapshot",
            ],
        ),
        (
            database("opencode-2.sql") + "#ses_2quaymain1",
            [
                "providerID",
                "variant",
                "rawFinish",
                "streamed",
                "start",
                "bb22",
            ],
        ),
    ] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_tv"))
            .args(["show", "--width", "300", "--level", "5", &session])
            .output()
            .unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        let lacking: Vec<_> = words.iter().filter(|word| !shown.contains(*word)).collect();
        assert!(lacking.is_empty(), "{session}: {lacking:?} in\n{shown}");
    }
}
