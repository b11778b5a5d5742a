//! Tests of `tv export`: sums of rows, continued exports into a folder, and names of files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::fixtures;

fn tv(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
    command.env_clear().args(arguments).current_dir(home);
    command.env("HOME", home).env("LC_ALL", "C.UTF-8");
    command.env("TZ", "UTC").env("HOSTNAME", "here");
    command.stdin(Stdio::null()).output().unwrap()
}

/// What is written to standard output, of an export that ends well.
fn exported(home: &Path, arguments: &[&str]) -> String {
    let output = tv(home, &[&["export"], arguments].concat());
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn objects(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn of_kind<'v>(rows: &'v [Value], kind: &str) -> Vec<&'v Value> {
    let schema = format!("tv.row.{kind}/1");
    rows.iter()
        .filter(|row| row["schema"] == schema.as_str())
        .collect()
}

fn line(key: &str, value: &Value) -> String {
    let mut line = json!({ "uuid": key, "sessionId": "s", "cwd": "/work", "version": "2.1.0",
        "timestamp": format!("2026-02-03T10:00:{:02}Z", key.len() % 60) });
    let more = value.as_object().unwrap().clone();
    line.as_object_mut().unwrap().extend(more);
    format!("{line}\n")
}

/// A session of Claude Code with a prompt, an answer with a call, and its result.
fn session(id: &str, [prompt, answer, command, output]: [&str; 4]) -> String {
    let at = |line: String| line.replace("\"s\"", &json!(id).to_string());
    let user = json!({ "type": "user", "parentUuid": null, "message": { "role": "user", "content": prompt } });
    let assistant = json!({ "type": "assistant", "parentUuid": "a", "message": { "id": "m", "role": "assistant",
        "model": "claude-sonnet-4-5", "usage": { "input_tokens": 10, "output_tokens": 20,
            "cache_read_input_tokens": 30, "cache_creation_input_tokens": 40 },
        "content": [ { "type": "text", "text": answer },
            { "type": "tool_use", "id": "toolu_1", "name": "Bash", "input": { "command": command } } ] } });
    let result = json!({ "type": "user", "parentUuid": "bb", "message": { "role": "user", "content": [
        { "type": "tool_result", "tool_use_id": "toolu_1", "content": output } ] } });
    [
        at(line("a", &user)),
        at(line("bb", &assistant)),
        at(line("ccc", &result)),
    ]
    .concat()
}

fn home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// A session of Claude Code where Claude Code has it.
fn place(home: &Path, id: &str, content: &str) -> PathBuf {
    let folder = home.join(".claude/projects/-work");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{id}.jsonl"));
    fs::write(&path, content).unwrap();
    path
}

fn id(number: u32) -> String {
    format!("{number:08}-0000-4000-8000-000000000000")
}

#[test]
fn rows_add_up_to_the_figures_of_every_fixture() {
    let home = home();
    let mut sessions = 0;
    for path in fixtures::all() {
        let path = path.to_str().unwrap();
        let stats = tv(home.path(), &["stats", "--json", path]);
        let output = tv(home.path(), &["export", "--to", "jsonl", path]);
        let rows = objects(&String::from_utf8(output.stdout).unwrap());
        let mut figures: BTreeMap<String, Value> = BTreeMap::new();
        for of_one in objects(&String::from_utf8(stats.stdout).unwrap()) {
            let id = of_one["session"]["id"].as_str().unwrap_or(path).to_owned();
            figures.insert(id, of_one);
        }
        for row in of_kind(&rows, "session") {
            // A folder that is one session is exported as the file in it that is listed, which may
            // lack what lies beside it.
            let named = figures.get(row["session"].as_str().unwrap());
            let Some(figures) = named.filter(|figures| figures["path"] == row["path"]) else {
                continue;
            };
            sessions += 1;
            let own = |kind| -> Vec<&Value> {
                let rows = of_kind(&rows, kind).into_iter();
                rows.filter(|other| {
                    other["session"] == row["session"] && other["path"] == row["path"]
                })
                .collect()
            };
            for class in ["input", "output", "cache_read", "cache_write", "requests"] {
                let sum: i64 = own("request")
                    .iter()
                    .filter_map(|row| row["usage"][class].as_i64())
                    .sum();
                assert_eq!(
                    sum,
                    figures["usage"][class].as_i64().unwrap_or(0),
                    "{path}: {class}"
                );
            }
            let usd: f64 = own("request")
                .iter()
                .filter_map(|row| row["cost"]["usd"].as_f64())
                .sum();
            let expected = figures["cost"]["usd"].as_f64().unwrap_or(0.0);
            assert!(
                (usd - expected).abs() < 1e-4,
                "{path}: {usd} is not {expected}"
            );
            assert_eq!(
                own("turn").len() as u64,
                figures["turns"].as_u64().unwrap(),
                "{path}"
            );
            assert_eq!(row["pairing"], figures["pairing"], "{path}");
            let calls = own("call");
            let failed = calls
                .iter()
                .filter(|call| !call["call_id"].is_null() && call["state"] == "failed")
                .count() as u64;
            // A result whose call is not there has no row.
            assert!(
                failed <= figures["pairing"]["failed"].as_u64().unwrap(),
                "{path}: failed calls"
            );
        }
        let mut ids: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all, "{path}: a row is known by its id");
    }
    assert!(sessions > 100, "{sessions}");
}

#[test]
fn a_folder_is_gone_on_with() {
    let home = home();
    let texts = ["ask", "answer", "ls", "a"];
    for number in 0..3 {
        place(home.path(), &id(number), &session(&id(number), texts));
    }
    let folder = home.path().join("rows");
    let export = || {
        let output = tv(home.path(), &["export", "--to", "jsonl", "-o", "rows/"]);
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(export().contains("3 sessions written\n"));
    let calls = folder.join(format!("{}.calls.jsonl", id(1)));
    let before = fs::read_to_string(&calls).unwrap();
    assert_eq!(objects(&before)[0]["result"]["text"], "a");
    assert!(export().contains("0 sessions written, 3 lay there already"));
    assert_eq!(fs::read_to_string(&calls).unwrap(), before);
    let more = session(&id(1), texts).replace("\"a\"", "\"b\"");
    place(home.path(), &id(1), &more.replace("ask", "ask more"));
    fs::remove_file(folder.join(format!("{}.turns.jsonl", id(2)))).unwrap();
    assert!(export().contains("2 sessions written, 1 lay there already"));
    // With other masking nothing that lies there is what was asked for.
    let output = tv(
        home.path(),
        &["export", "--to", "jsonl", "-o", "rows/", "--redact"],
    );
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("3 sessions written\n")
    );
    let parts = fs::read_dir(&folder).unwrap();
    let names: Vec<String> = parts
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 3 * 6 + 1, "{names:?}");
}

#[test]
fn names_of_files_are_safe_and_differ_also_where_case_does_not() {
    let home = home();
    let folder = home.path().join("mine");
    fs::create_dir(&folder).unwrap();
    let long = "x".repeat(300);
    let names = ["../../up/and/away", "UPPER", "upper", "a\nb", long.as_str()];
    for (number, name) in names.iter().enumerate() {
        fs::write(
            folder.join(format!("{number}.jsonl")),
            session(name, ["ask", "answer", "ls", "a"]),
        )
        .unwrap();
    }
    exported(home.path(), &["--to", "jsonl", "mine", "-o", "out/"]);
    let files = fs::read_dir(home.path().join("out")).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut sessions: Vec<String> = files
        .filter_map(|name| name.strip_suffix(".sessions.jsonl").map(str::to_lowercase))
        .collect();
    sessions.sort();
    sessions.dedup();
    assert_eq!(sessions.len(), 5, "{sessions:?}");
    assert!(
        sessions
            .iter()
            .all(|name| name.len() < 120 && !name.starts_with('.')),
        "{sessions:?}"
    );
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2);
}

#[test]
fn what_cannot_be_written_is_a_sentence() {
    let home = home();
    let path = place(
        home.path(),
        &id(1),
        &session(&id(1), ["ask", "answer", "ls", "a"]),
    );
    let before = fs::read(&path).unwrap();
    let path = path.to_str().unwrap();
    for (arguments, words) in [
        (
            vec!["--to", "jsonl", path, "-o", path],
            "goes into the session itself",
        ),
        (
            vec!["--to", "jsonl", "-o", "none/of/this"],
            "cannot write to none/of/this",
        ),
        (vec!["--to", "jsonl", "-o", "/dev/full"], "cannot write"),
        (vec!["--to", "jsonl", "gone.jsonl"], "gone.jsonl"),
    ] {
        let output = tv(home.path(), &[&["export"], arguments.as_slice()].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(words), "{arguments:?}: {error}");
    }
    assert_eq!(fs::read(path).unwrap(), before);
    let mut out = Command::new(env!("CARGO_BIN_EXE_tv"))
        .args(["export", "--to", "jsonl", path])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(out.stdout.take());
    assert_eq!(out.wait().unwrap().code(), Some(0), "a closed pipe is fine");
}
