//! Tests that several commands report the same on a session, however it is named and stored.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tv::ingest::Target;
use tv::ingest::find::{DiscoveryQuery, sessions};
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;
use tv::render::theme::Theme;

use crate::fixtures;
use crate::stage::Stage;

/// Longer ago than anything that was ever written.
const EVER: &str = "90000d";

fn tv_with(home: &Path, arguments: &[&str], input: Stdio) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
    command.env_clear();
    command
        .args(arguments)
        .env("HOME", home)
        .env("LC_ALL", "C.UTF-8")
        .env("TZ", "UTC");
    let output = command.stdin(input).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn tv(home: &Path, arguments: &[&str]) -> (i32, String, String) {
    tv_with(home, arguments, Stdio::null())
}

fn objects(out: &str) -> Vec<Value> {
    out.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn fixture(path: &str) -> String {
    fixtures::root().join(path).display().to_string()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for child in fs::read_dir(from).unwrap().flatten() {
            copy(&child.path(), &to.join(child.file_name()));
        }
    } else {
        fs::copy(from, to).unwrap();
    }
}

#[test]
fn of_each_session_top_tells_what_stats_does() {
    let home = tempfile::tempdir().unwrap();
    let files: Vec<String> = fixtures::all()
        .into_iter()
        .filter(|path| {
            path.is_file()
                && !path
                    .components()
                    .any(|part| part.as_os_str() == "openhands-events")
        })
        .map(|path| path.display().to_string())
        .collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let facts = |object: &Value| {
        let names = ["id", "agent", "models", "started", "ended", "state"];
        names.map(|name| (name, object["session"][name].clone()))
    };
    let by_path = |out: &str| -> BTreeMap<String, Value> {
        objects(out)
            .into_iter()
            .map(|object| (object["path"].as_str().unwrap().to_owned(), object))
            .collect()
    };
    let (_, top, _) = tv(
        home.path(),
        &[&["top", "--once", "--json", "--since", EVER][..], &files].concat(),
    );
    let (_, stats, _) = tv(home.path(), &[&["stats", "--json"][..], &files].concat());
    let (top, stats) = (by_path(&top), by_path(&stats));
    assert!(
        top.len() > 60 && stats.len() >= top.len(),
        "{} {}",
        top.len(),
        stats.len()
    );
    for (path, row) in top {
        assert_eq!(row["complete"], json!(true), "{path}");
        assert_eq!(facts(&row), facts(&stats[&path]), "{path}");
    }
}

#[test]
fn compressed_sessions_are_told_of_like_others() {
    let home = tempfile::tempdir().unwrap();
    let packed = "rollout-2026-09-20T08-00-00-01a0bd66-6700-7000-8000-0000000000d1.jsonl.zst";
    let lies = home.path().join(".codex/sessions/2026/09/20").join(packed);
    copy(&fixtures::root().join("codex").join(packed), &lies);
    copy(
        &fixtures::root().join("inspect-eval/log.eval"),
        &home.path().join("logs/log.eval"),
    );
    let (_, top, _) = tv(home.path(), &["top", "--once", "--json", "--since", EVER]);
    let rows = objects(&top);
    assert_eq!(rows.len(), 2, "{top}");
    for row in rows {
        let path = row["path"].as_str().unwrap();
        let stats = objects(&tv(home.path(), &["stats", "--json", path]).1).remove(0);
        assert_eq!(
            (&row["complete"], &row["problem"]),
            (&json!(true), &Value::Null),
            "{path}"
        );
        assert_ne!(row["session"]["models"], json!([]), "{path}");
        for name in ["models", "state", "started", "ended"] {
            assert_eq!(
                row["session"][name], stats["session"][name],
                "{path}: {name}"
            );
        }
        assert_eq!(row["cost"]["usd"], stats["cost"]["usd"], "{path}");
        // It stands as it did before it was compressed.
        let state = stats["session"]["state"].as_str().unwrap();
        assert_eq!(
            tv(
                home.path(),
                &["wait", path, "--until", state, "--timeout", "60s"]
            )
            .0,
            0,
            "{path}"
        );
    }
    let (code, _, error) = tv(home.path(), &["wait", "01a0bd66", "--until", "cost>1000"]);
    assert_eq!(code, 1, "it will not go on: {error}");
}

#[test]
fn a_session_of_many_files_is_searched_whole_by_whichever_is_named() {
    let home = tempfile::tempdir().unwrap();
    let storage = home.path().join(".local/share/opencode/storage");
    copy(&fixtures::root().join("opencode/storage"), &storage);
    let events = home.path().join(".openhands/sessions/kite/events");
    copy(
        &fixtures::root().join("openhands-events/conv-kite/events"),
        &events,
    );
    let session = storage
        .join("session/fixtproject/ses_0fixtmain01.json")
        .display()
        .to_string();
    let first = events.join("0.json").display().to_string();
    for (names, format) in [
        (
            vec![
                session.as_str(),
                "ses_0fixtmain01",
                storage.to_str().unwrap(),
            ],
            "opencode",
        ),
        (
            vec![first.as_str(), events.to_str().unwrap()],
            "openhands-events",
        ),
    ] {
        let hits = |places: &[&str]| {
            let (_, out, error) = tv(
                home.path(),
                &[&["grep", "--json", "the"][..], places].concat(),
            );
            assert_eq!(error, "", "{places:?}");
            objects(&out)
                .into_iter()
                .filter(|hit| hit["format"] == format)
                .collect::<Vec<_>>()
        };
        let all = hits(&[]);
        assert!(!all.is_empty(), "{format}");
        for name in names {
            assert_eq!(hits(&[name]), all, "{name}");
        }
    }
}

#[test]
fn lists_tell_when_a_session_of_many_files_began_and_who_answers() {
    let home = tempfile::tempdir().unwrap();
    let storage = home.path().join(".local/share/opencode/storage");
    copy(&fixtures::root().join("opencode/storage"), &storage);
    let listed = objects(&tv(home.path(), &["list", "--json"]).1);
    let stats = objects(
        &tv(
            home.path(),
            &["stats", "--json", listed[0]["path"].as_str().unwrap()],
        )
        .1,
    );
    let stats = &stats[0]["session"];
    assert_ne!(
        (&stats["started"], &stats["agent"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(
        (&listed[0]["started"], &listed[0]["agent"]),
        (&stats["started"], &stats["agent"])
    );
    assert!(
        stats["models"]
            .as_array()
            .unwrap()
            .contains(&listed[0]["model"]),
        "{stats}"
    );
}

#[cfg(feature = "sqlite")]
#[test]
fn rows_of_a_database_are_listed_by_their_first_ones_and_without_titles_that_say_nothing() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(".local/share/opencode/opencode.db");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute_batch(&fs::read_to_string(fixture("opencode/opencode.sql")).unwrap())
        .unwrap();
    let add = |number: i64| {
        let at = 1_790_000_100_000 + number;
        let data = json!({"role": "user", "time": {"created": at}, "agent": "build"}).to_string();
        let (message, part) = (format!("msg_n{number:02}"), format!("prt_n{number:02}"));
        let session = "ses_0lakenew2";
        let text = json!({"type": "text", "text": format!("Row {number} times.")}).to_string();
        connection
            .execute(
                "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)",
                (&message, session, at, data),
            )
            .unwrap();
        connection
            .execute(
                "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)",
                (part, message, session, at, text),
            )
            .unwrap();
    };
    (0..40).for_each(add);
    drop(connection);
    let path = path.display().to_string();
    let listed = objects(&tv(home.path(), &["list", "--json", &path]).1);
    let new = listed
        .iter()
        .find(|found| found["id"] == "ses_0lakenew2")
        .unwrap();
    let stats = objects(
        &tv(
            home.path(),
            &["stats", "--json", &format!("{path}#ses_0lakenew2")],
        )
        .1,
    )
    .remove(0);
    assert_eq!(new["title"], "Row 0 times.");
    for name in ["title", "started", "agent"] {
        assert_eq!(new[name], stats["session"][name], "{name}");
    }

    // The database is what opens, and with it and its key a hit does.
    let hits = objects(&tv(home.path(), &["grep", "--json", "Row 7 times", &path]).1);
    assert_eq!(
        (hits.len(), hits[0]["path"].as_str()),
        (1, Some(path.as_str()))
    );
    let entry = format!("{path}#ses_0lakenew2#{}", hits[0]["key"].as_str().unwrap());
    let short = format!("ses_0lakenew2#{}", hits[0]["key"].as_str().unwrap());
    for command in ["show", "stats", "brief", "check", "doctor", "usage"] {
        for name in [&entry, &short] {
            let (code, _, error) = tv(home.path(), &[command, name]);
            assert_eq!((code, error.as_str()), (0, ""), "{command} {name}");
        }
        let (code, _, error) = tv(
            home.path(),
            &[command, &format!("{path}#ses_0lakenew2#msg_none")],
        );
        assert!(
            code == 2 && error.contains("msg_none"),
            "{command}: {code} {error}"
        );
    }
    for command in [&["usage"][..], &["grep", "Row"]] {
        let (code, _, error) = tv(
            home.path(),
            &[command, &[&format!("{path}#nobody")]].concat(),
        );
        assert!(
            code == 2 && error.contains("no session nobody"),
            "{command:?}: {code} {error}"
        );
    }
}

#[test]
fn an_entry_is_named_behind_its_session_in_all_commands() {
    let home = tempfile::tempdir().unwrap();
    let session = fixture("pi/branches.jsonl");
    let key = objects(&tv(home.path(), &["show", "--json", &session]).1)[1]["key"]
        .as_str()
        .unwrap()
        .to_owned();
    for command in [
        &["show"][..],
        &["stats"],
        &["brief"],
        &["doctor"],
        &["usage"],
    ] {
        let with = |key: &str| {
            tv(
                home.path(),
                &[command, &[&format!("{session}#{key}")]].concat(),
            )
        };
        let alone = tv(home.path(), &[command, &[&session]].concat());
        assert_eq!(with(&key), alone, "{command:?}");
        let (code, _, error) = with("no-such-key");
        assert!(
            code == 2 && error.contains("no entry no-such-key"),
            "{command:?}: {code} {error}"
        );
    }
    assert_eq!(
        tv(
            home.path(),
            &["grep", "zzz-nowhere", &format!("{session}#no-such-key")]
        )
        .0,
        2
    );
}

/// Reviewers and guardians of Codex do not say whose they are.
#[test]
fn a_thread_that_names_nobody_who_started_it_is_listed() {
    let home = tempfile::tempdir().unwrap();
    let thread = "01a0fbd7-8280-7000-8000-0000000000b7";
    let path = home.path().join(format!(
        ".codex/sessions/2026/10/02/rollout-2026-10-02T11-00-00-{thread}.jsonl"
    ));
    let line = |kind: &str, payload: Value| {
        json!({"timestamp": "2026-10-02T11:00:00.000Z", "type": kind, "payload": payload})
            .to_string()
            + "\n"
    };
    let meta = json!({"id": thread, "timestamp": "2026-10-02T11:00:00.000Z", "cwd": "/work",
        "originator": "codex_cli", "cli_version": "0.99.0", "source": {"subagent": "review"}});
    let said = json!({"type": "message", "role": "user",
        "content": [{"type": "input_text", "text": "Review the mill."}]});
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(
        &path,
        line("session_meta", meta) + &line("response_item", said),
    )
    .unwrap();
    let ids = |arguments: &[&str], id: fn(&Value) -> &Value| {
        objects(&tv(home.path(), arguments).1)
            .iter()
            .map(|one| id(one).clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&["list", "--json"], |one| &one["id"]), [json!(thread)]);
    assert_eq!(
        ids(
            &["top", "--once", "--json", "--since", EVER],
            |one| &one["session"]["id"]
        ),
        [json!(thread)]
    );
}

#[test]
fn what_is_no_session_is_refused_by_all() {
    let home = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        fs::write(home.path().join(name), bytes).unwrap();
        home.path().join(name).display().to_string()
    };
    let noise: Vec<u8> = (0..3_000_u32)
        .map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[1] | 1)
        .collect();
    let (binary, text) = (
        write("rand.bin", &noise),
        write("text.txt", b"Nothing of an agent.\n"),
    );
    for (path, what) in [(&binary, "a binary file"), (&text, "text without")] {
        for command in [
            &["list"][..],
            &["usage"],
            &["top", "--once"],
            &["grep", "a"],
            &["stats"],
            &["show"],
            &["check"],
            &["doctor"],
        ] {
            let (code, out, error) = tv(home.path(), &[command, &[path]].concat());
            assert!(
                code == 2 && error.contains(what),
                "{command:?}: {code} {out} {error}"
            );
        }
    }
    let archive = fs::File::open(fixture("inspect-eval/log.eval")).unwrap();
    let (code, out, error) = tv_with(home.path(), &["stats", "-"], archive.into());
    assert!(
        (code, out.as_str()) == (2, "") && error.contains("compressed with zip"),
        "{code} {out} {error}"
    );
    let bytes = write("nul.bin", &[0, 1, 2, 0, 3].repeat(100));
    let (code, out, error) = tv_with(
        home.path(),
        &["stats", "-"],
        fs::File::open(bytes).unwrap().into(),
    );
    assert!(
        (code, out.as_str()) == (2, "") && error.contains("a binary file"),
        "{code} {out} {error}"
    );
}

#[test]
fn a_session_is_opened_by_the_id_in_it_whatever_its_file_is_called() {
    let home = tempfile::tempdir().unwrap();
    let vibe = home
        .path()
        .join(".vibe/logs/session/session_20260613_100000_0e000000");
    copy(
        &fixtures::root().join("mistral-vibe/session_20260613_100000_0e000000"),
        &vibe,
    );
    let stats = |name: &str| objects(&tv(home.path(), &["stats", "--json", name]).1);
    let id = stats(vibe.join("messages.jsonl").to_str().unwrap())[0]["session"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(!"session_20260613_100000_0e000000".starts_with(&id), "{id}");
    assert_eq!(stats(&id)[0]["session"]["id"], json!(id));
    assert_eq!(stats(&id[..6])[0]["session"]["id"], json!(id));
    assert_eq!(tv(home.path(), &["stats", "nobody"]).0, 2);
}

#[test]
fn hidden_folders_of_agents_are_entered_wherever_they_lie() {
    let home = tempfile::tempdir().unwrap();
    let claw = home
        .path()
        .join("copies/claw/.openclaw/agents/main/sessions/oc-1.jsonl");
    let header = r#"{"type":"session","version":3,"id":"oc-1","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/work"}"#;
    let said = r#"{"type":"message","id":"e1","parentId":null,"timestamp":"2026-03-01T10:00:01.000Z","message":{"role":"user","content":"Hello bot"}}"#;
    fs::create_dir_all(claw.parent().unwrap()).unwrap();
    fs::write(&claw, format!("{header}\n{said}\n")).unwrap();
    fs::create_dir_all(home.path().join("copies/claw/.git")).unwrap();
    copy(&claw, &home.path().join("copies/claw/.git/oc-2.jsonl"));
    let folder = home.path().join("copies/claw").display().to_string();
    let listed = objects(&tv(home.path(), &["list", "--json", &folder]).1);
    let paths: Vec<PathBuf> = listed
        .iter()
        .map(|one| one["path"].as_str().unwrap().into())
        .collect();
    assert_eq!(paths, [claw]);
    let brain = home.path().join("brain/conv1");
    copy(
        &fixtures::root().join("antigravity-cli/transcript_full.jsonl"),
        &brain.join(".system_generated/logs/transcript_full.jsonl"),
    );
    let (code, out, error) = tv(home.path(), &[brain.to_str().unwrap()]);
    assert!(code == 0 && !out.is_empty(), "{error}");
}

#[test]
fn several_sessions_are_written_as_one() {
    let home = tempfile::tempdir().unwrap();
    let two = ["pi/branches.jsonl", "cline/contract.messages.json"].map(fixture);
    let first_words = |path: &str| {
        let entries = objects(&tv(home.path(), &["show", "--json", path]).1);
        let texts = entries
            .iter()
            .filter(|entry| entry["role"] == "user")
            .flat_map(|entry| {
                entry["blocks"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter_map(|block| block["text"].as_str().map(str::to_owned))
            });
        texts
            .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
            .find(|line| line.len() > 8)
            .unwrap()
    };
    let (code, out, error) = tv(home.path(), &[&two[0], &two[1], "--level", "4"]);
    assert_eq!((code, error.as_str()), (0, ""));
    for path in &two {
        let words: String = first_words(path).chars().take(20).collect();
        assert!(out.contains(&words), "{path}: {words}");
    }
}

#[test]
fn names_of_files_stay_on_one_line() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("two\nlines.jsonl");
    fs::copy(fixture("pi/branches.jsonl"), &path).unwrap();
    let path = path.to_str().unwrap();
    let (_, stats, _) = tv(home.path(), &["stats", path]);
    assert!(
        stats.contains("two\\nlines.jsonl") && !stats.contains("two\nlines"),
        "{stats}"
    );
    let missing = home.path().join("no\nsuch").display().to_string();
    assert_eq!(tv(home.path(), &["show", &missing]).2.lines().count(), 1);
}

/// What the beginning of a long document says of a run need not hold at its end.
#[test]
fn a_run_that_a_document_says_to_be_over_at_its_end_is_not_listed_as_live() {
    let home = tempfile::tempdir().unwrap();
    let mut events: Vec<Value> =
        serde_json::from_str(&fs::read_to_string(fixture("opencode/events.json")).unwrap())
            .unwrap();
    let status = |kind: &str| {
        json!({"type": "session.status",
            "properties": {"sessionID": "ses_0fixtevent1", "status": {"type": kind}}})
    };
    events.insert(2, status("busy"));
    let beat = json!({"type": "server.heartbeat", "properties": {"of": "x".repeat(1_000)}});
    events.extend(std::iter::repeat_n(beat, 200));
    events.push(status("idle"));
    let path = home.path().join("events.json");
    fs::write(&path, serde_json::to_string_pretty(&events).unwrap()).unwrap();
    let hour_ago =
        path.metadata().unwrap().modified().unwrap() - std::time::Duration::from_secs(3_600);
    fs::File::options()
        .append(true)
        .open(&path)
        .unwrap()
        .set_modified(hour_ago)
        .unwrap();
    let listed = objects(&tv(home.path(), &["list", "--json", path.to_str().unwrap()]).1);
    assert_eq!((listed.len(), &listed[0]["live"]), (1, &Value::Null));
}

#[test]
fn formats_are_told_with_as_many_sessions_as_are_listed() {
    let home = tempfile::tempdir().unwrap();
    for name in [
        "rollout-2026-10-02T11-00-00-01a0fbd7-8280-7000-8000-0000000000a1.jsonl",
        "rollout-2026-10-02T11-00-20-01a0fbd7-d0a0-7000-8000-0000000000a2.jsonl",
    ] {
        let lies = home.path().join(".codex/sessions/2026/10/02").join(name);
        copy(&fixtures::root().join("codex").join(name), &lies);
    }
    assert_eq!(objects(&tv(home.path(), &["list", "--json"]).1).len(), 1);
    let formats = tv(home.path(), &["formats"]).1;
    let line = formats
        .lines()
        .find(|line| line.starts_with("codex "))
        .unwrap();
    assert_eq!(line.split_whitespace().nth(1), Some("1"), "{line}");
}

/// What a list reads of the ends of a session and what its header knows of all of it.
#[test]
fn a_session_is_called_the_same_in_lists_and_in_its_header() {
    let mut compared = 0;
    for path in fixtures::all() {
        for target in fixtures::targets(&path) {
            let search = DiscoveryQuery {
                targets: vec![Target::at(&target.path)],
                ..DiscoveryQuery::default()
            };
            let mut found = sessions(&search, Timestamp(0)).map(Result::unwrap);
            let Some(found) =
                found.find(|found| found.session == target.session && found.path == target.path)
            else {
                continue;
            };
            let whole = fixtures::read(&target).transcript;
            let of_list = [&found.title, &found.cwd].map(|fact| fact.as_ref().map(Text::as_str));
            let of_header = [whole.meta().title(), whole.meta().cwd.as_ref()]
                .map(|fact| fact.map(Text::as_str));
            assert_eq!(of_list, of_header, "{}", fixtures::name(&path));
            compared += 1;
        }
    }
    assert!(compared > 150, "{compared}");
}

/// Names whose kinds (run, read, edit) are called otherwise, also in lower case, and one of a server.
#[test]
fn a_call_has_the_same_name_wherever_it_is_shown() {
    let names = ["Bash", "TaskOutput", "NotebookEdit", "mcp__mill__grind"];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let record = |n: usize, kind: &str, content: Value| {
        json!({"type": kind, "uuid": format!("{kind}{n}"), "parentUuid": null, "sessionId": "s",
            "cwd": "/w", "version": "2.1.0", "timestamp": format!("2026-10-01T09:00:{n:02}.000Z"),
            "message": {"id": format!("m{n}"), "role": kind, "model": "claude-opus-4-6", "content": content}})
        .to_string()
    };
    let mut lines = vec![record(0, "user", json!("Grind"))];
    for (n, name) in names.iter().enumerate() {
        let id = format!("toolu_{n}");
        let input =
            json!({"command": "oats", "file_path": "oats", "notebook_path": "oats", "id": "oats"});
        let call = json!([{"type": "tool_use", "id": id, "name": name, "input": input}]);
        let result = json!([{"type": "tool_result", "tool_use_id": id, "is_error": true,
            "content": format!("jammed {n}")}]);
        lines.push(record(n + 1, "assistant", call));
        lines.push(record(n + 1, "user", result));
    }
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    let of_command = |arguments: &[&str]| {
        let (_, out, err) = tv(
            folder.path(),
            &[arguments, &[path.to_str().unwrap()]].concat(),
        );
        assert_eq!(err, "");
        out
    };
    let of_view = |keys: &str| {
        let mut stage = Stage::open(&path, (120, 40), Theme::dark());
        stage.press(keys).wait(300).picture()
    };
    let surfaces = [
        ("text", of_view("g g")),
        ("calls", of_view("3")),
        ("tools", of_view("3 >")),
        ("failures", of_view("!")),
        ("tv tools", of_command(&["tools"])),
        ("tv tools --sums", of_command(&["tools", "--sums"])),
        ("tv tools --json", of_command(&["tools", "--json"])),
        ("tv tools --by", of_command(&["tools", "--by", "tool"])),
        ("tv grep", of_command(&["grep", "jammed"])),
        ("tv brief", of_command(&["brief"])),
        ("tv show", of_command(&["show"])),
    ];
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    for (surface, text) in surfaces {
        let words: Vec<&str> = text.split(|c| !is_part(c)).collect();
        for name in names {
            assert!(words.contains(&name), "{surface} {name}: {text}");
        }
        for other in ["run", "edit", "bash", "taskoutput", "grind"] {
            assert!(!words.contains(&other), "{surface} {other}: {text}");
        }
    }
}

/// A title that was given far from both ends.
#[test]
fn a_title_in_the_middle_of_a_long_session_is_that_of_its_header() {
    let home = tempfile::tempdir().unwrap();
    let claude = |n: usize, text: &str| {
        json!({"type": "user", "uuid": format!("0000000{n}-0000-4000-8000-00000000000a"), "parentUuid": null,
            "sessionId": "s", "cwd": "/w", "version": "2.1.0", "timestamp": "2026-10-01T09:00:00.000Z",
            "message": {"role": "user", "content": text}})
    };
    let codex = |kind: &str, payload: Value| json!({"timestamp": "2026-10-01T09:00:00.000Z", "type": kind, "payload": payload});
    let (id, leaf) = (
        "01a0f000-0000-7000-8000-00000000000a",
        "00000004-0000-4000-8000-00000000000a",
    );
    let long = "the mill turns ".repeat(8_000);
    let quoted = r#"{"type":"custom-title","customTitle":"Quoted","sessionId":"s"}"#;
    let prompts = [
        claude(1, "Grind"),
        claude(2, &long),
        claude(3, quoted),
        claude(4, "On"),
    ];
    let end = [claude(5, &long), claude(6, "Done")];
    let of_claude = |own: &[Value]| [&prompts[..], own, &end].concat();
    let message = |text: &str| {
        codex(
            "event_msg",
            json!({"type": "user_message", "message": text, "images": [], "local_images": []}),
        )
    };
    let named = |name: &str| {
        codex(
            "event_msg",
            json!({"type": "thread_name_updated", "thread_id": id, "thread_name": name}),
        )
    };
    let meta = codex(
        "session_meta",
        json!({"id": id, "cwd": "/w", "cli_version": "0.150.0",
        "timestamp": "2026-10-01T09:00:00.000Z", "originator": "codex_cli_rs", "source": "cli"}),
    );
    let pi = |entry: Value| {
        let mut entry = entry;
        (entry["timestamp"], entry["parentId"]) = (json!("2026-10-01T09:00:00.000Z"), Value::Null);
        entry
    };
    let said = |id: &str, text: &str| {
        pi(json!({"type": "message", "id": id, "message": {"role": "user", "content": text}}))
    };
    let title = |key: &str, name: &str| json!({"type": key, "customTitle": name, "aiTitle": name, "sessionId": "s"});
    let sessions = [
        (
            "custom.jsonl",
            of_claude(&[
                title("custom-title", "First"),
                title("custom-title", "By hand"),
            ]),
            "By hand",
        ),
        (
            "ai.jsonl",
            of_claude(&[title("ai-title", "By the model")]),
            "By the model",
        ),
        (
            "old.jsonl",
            of_claude(&[json!({"type": "summary", "summary": "A summary", "leafUuid": leaf})]),
            "A summary",
        ),
        (
            "other.jsonl",
            of_claude(&[json!({"type": "summary", "summary": "Of another", "leafUuid": id})]),
            "Grind",
        ),
        (
            "rollout-2026-10-01T09-00-00-01a0f000-0000-7000-8000-00000000000a.jsonl",
            vec![
                meta,
                message("Grind"),
                named("First"),
                message(&long),
                named("Renamed"),
                message(&long),
                message("Done"),
            ],
            "Renamed",
        ),
        (
            "2026-10-01T09-00-00-000Z_p.jsonl",
            vec![
                json!({"type": "session", "version": 3, "id": "p", "timestamp": "2026-10-01T09:00:00.000Z", "cwd": "/w"}),
                said("a1", "Grind"),
                said("a2", &long),
                pi(json!({"type": "session_info", "id": "a3", "name": "Named"})),
                said("a4", &long),
            ],
            "Named",
        ),
    ];
    for (name, records, expected) in sessions {
        let path = home.path().join(name);
        let text: String = records
            .iter()
            .flat_map(|record| [record.to_string(), "\n".to_owned()])
            .collect();
        fs::write(&path, text).unwrap();
        let path = path.display().to_string();
        let listed = objects(&tv(home.path(), &["list", "--json", &path]).1);
        let header = objects(&tv(home.path(), &["brief", "--json", &path]).1);
        assert_eq!(
            [&listed[0]["title"], &header[0]["title"]],
            [expected, expected],
            "{name}"
        );
    }
}
