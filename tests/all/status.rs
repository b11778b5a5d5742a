//! Tests of `tv status`: the line, stored costs, and the input of Claude Code's status line; and of
//! `tv check --secrets`.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tv::model::timestamp::Timestamp;

fn run(home: &Path, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
    command.env_clear().args(arguments).env("HOME", home);
    command.env("LC_ALL", "C.UTF-8").env("TZ", "UTC");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // One that does not read it may be gone.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn line(home: &Path, arguments: &[&str]) -> String {
    line_of(home, arguments, "")
}

/// What is left to be read after a call is read by the next ones: one session at least by each.
fn line_of(home: &Path, arguments: &[&str], input: &str) -> String {
    let call = |_| {
        let output = run(home, &[&["status"], arguments].concat(), input);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(
            (output.status.code(), &*error),
            (Some(0), ""),
            "{arguments:?}"
        );
        String::from_utf8(output.stdout).unwrap()
    };
    let line = (0..4).map(call).find(|line| !line.contains('+'));
    line.unwrap().trim_end().to_owned()
}

/// The time of a fresh file.
fn now() -> Timestamp {
    let written = tempfile::tempfile()
        .unwrap()
        .metadata()
        .unwrap()
        .modified()
        .unwrap();
    let since = written.duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp(i64::try_from(since.as_millis()).unwrap())
}

/// A record of Claude Code, so many seconds ago.
fn record(id: &str, ago: i64, value: &Value) -> String {
    let at = Timestamp(now().0 - ago * 1_000).to_rfc3339();
    let mut record = json!({ "uuid": format!("{id}-{ago}"), "sessionId": id, "cwd": "/work", "version": "2.1.0", "timestamp": at });
    record
        .as_object_mut()
        .unwrap()
        .extend(value.as_object().unwrap().clone());
    format!("{record}\n")
}

fn prompt(id: &str, ago: i64) -> String {
    record(
        id,
        ago,
        &json!({ "type": "user", "message": { "role": "user", "content": "bake" } }),
    )
}

/// An answer that costs $1.5: 100 000 tokens of output of Sonnet.
fn answer(id: &str, ago: i64, content: &Value) -> String {
    let request = format!("msg_01{}{ago:012}", &id[..8]);
    record(
        id,
        ago,
        &json!({ "type": "assistant", "message": { "id": request, "role": "assistant",
        "model": "claude-sonnet-4-5", "content": content, "stop_reason": "end_turn",
        "usage": { "input_tokens": 0, "output_tokens": 100_000 } } }),
    )
}

fn text() -> Value {
    json!([{ "type": "text", "text": "done" }])
}

fn call() -> Value {
    json!([{ "type": "tool_use", "id": "toolu_1", "name": "Bash", "input": { "command": "make" } }])
}

fn place(home: &Path, id: &str, content: &str) -> PathBuf {
    let folder = home.join(".claude/projects/-work");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{id}.jsonl"));
    fs::write(&path, content).unwrap();
    path
}

const ONE: &str = "00000001-0000-4000-8000-000000000000";
const TWO: &str = "00000002-0000-4000-8000-000000000000";

#[test]
fn a_line_counts_who_needs_you_and_what_today_cost() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(line(home.path(), &[]), "");
    let done = prompt(ONE, 9) + &answer(ONE, 8, &text());
    let first = place(home.path(), ONE, &done);
    place(
        home.path(),
        TWO,
        &(prompt(TWO, 6) + &answer(TWO, 5, &call())),
    );
    let expected = "1 needs you · 1 working · ~$3.00 today";
    assert_eq!(line(home.path(), &[]), expected);
    let stored = home.path().join(".local/state/tv/today.json");
    assert!(fs::read_to_string(&stored).unwrap().contains(ONE));
    assert_eq!(line(home.path(), &[]), expected);
    let mut file = OpenOptions::new().append(true).open(&first).unwrap();
    file.write_all((prompt(ONE, 3) + &answer(ONE, 2, &text())).as_bytes())
        .unwrap();
    assert_eq!(
        line(home.path(), &["--line", "{needs}/{working} {{{cost}}"]),
        "1/1 {~$4.50}"
    );
    // What cannot be read hinders nothing.
    fs::write(&stored, "{").unwrap();
    assert_eq!(line(home.path(), &["--line", "{cost}"]), "~$4.50");
    let refused = run(home.path(), &["status", "--line", "{cots}"], "");
    assert_eq!(refused.status.code(), Some(2));
}

/// A question that nobody has answered for hours needs the user still; and a file is read again only
/// after a write.
#[test]
fn a_session_at_rest_is_counted_and_not_read_again() {
    let home = tempfile::tempdir().unwrap();
    let question = json!([{ "type": "tool_use", "id": "toolu_1", "name": "AskUserQuestion",
        "input": { "questions": [{ "question": "Rye or wheat?", "options": [] }] } }]);
    let asks = prompt(ONE, 7_300) + &answer(ONE, 7_200, &question);
    let done = prompt(TWO, 400) + &answer(TWO, 300, &text());
    let place_ago = |id: &str, content: &str, ago: u64| {
        let file = fs::File::open(place(home.path(), id, content)).unwrap();
        let written = file.metadata().unwrap().modified().unwrap();
        file.set_modified(written - std::time::Duration::from_secs(ago))
            .unwrap();
        file.metadata().unwrap().modified().unwrap()
    };
    place_ago(ONE, &asks, 7_200);
    let written = place_ago(TWO, &done, 300);
    let needs = || {
        let output = run(home.path(), &["status", "--line", "{needs}"], "");
        String::from_utf8(output.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    };
    assert_eq!([needs(), needs()], ["2", "2"]);
    let path = place(home.path(), TWO, &" ".repeat(done.len()));
    fs::File::open(path).unwrap().set_modified(written).unwrap();
    assert_eq!(needs(), "2");
    fs::remove_file(home.path().join(".local/state/tv/today.json")).unwrap();
    assert_eq!(needs(), "1");
}

#[test]
fn the_session_of_a_status_line_is_not_among_those_that_need_you() {
    let home = tempfile::tempdir().unwrap();
    let own = place(
        home.path(),
        ONE,
        &(prompt(ONE, 9) + &answer(ONE, 8, &text())),
    );
    place(
        home.path(),
        TWO,
        &(prompt(TWO, 6) + &answer(TWO, 5, &text())),
    );
    let input = json!({ "hook_event_name": "Status", "session_id": ONE, "transcript_path": own,
        "model": { "id": "claude-sonnet-4-5", "display_name": "Sonnet\u{1b}[31m 4.5" },
        "cost": { "total_cost_usd": 14.32 } });
    let told = line_of(home.path(), &["--stdin"], &input.to_string());
    assert!(told.starts_with("Sonnet␛[31m 4.5 · "), "{told}");
    assert!(
        told.ends_with("$14.32 · 1 needs you · ~$3.00 today"),
        "{told}"
    );
    let refused = run(home.path(), &["status", "--stdin"], "no JSON");
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn secrets_are_listed_by_place_and_never_shown() {
    let home = tempfile::tempdir().unwrap();
    let secret = format!("ghp_{}", "Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7j");
    let said = |ago, what: String| {
        record(
            ONE,
            ago,
            &json!({ "type": "user", "message": { "role": "user", "content": what } }),
        )
    };
    let path = place(
        home.path(),
        ONE,
        &(said(9, "hello".to_owned())
            + &said(8, format!("use {secret}, and password=hunter2!"))
            + &said(7, format!("again {secret}"))),
    );
    let path = path.to_str().unwrap();
    let output = run(home.path(), &["check", "--secrets", "--json", path], "");
    assert_eq!(output.status.code(), Some(1));
    let listed = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Value> = listed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let facts: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row["line"].as_u64(),
                row["kind"].as_str().unwrap(),
                row["key"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    let key = |ago| format!("{ONE}-{ago}");
    assert_eq!(
        facts,
        [
            (Some(2), "ghp_", key(8)),
            (Some(2), "password=", key(8)),
            (Some(3), "ghp_", key(7))
        ]
    );
    assert_eq!(rows[0]["secret"], rows[2]["secret"]);
    assert_ne!(rows[0]["secret"], rows[1]["secret"]);
    let plain = run(home.path(), &["check", "--secrets", path], "");
    let plain = String::from_utf8(plain.stdout).unwrap();
    assert!(
        plain.contains(&format!("{path}:3: warning[secret]: ghp_ (secret ")),
        "{plain}"
    );
    assert!(
        plain.ends_with("2 secrets, 3 places in 1 session\n"),
        "{plain}"
    );
    for shown in [&listed, &plain] {
        assert!(
            !shown.contains("Ab3dEf6h") && !shown.contains("hunter"),
            "{shown}"
        );
    }
    let clean = place(home.path(), TWO, &said(5, "nothing".to_owned()));
    let clean = run(
        home.path(),
        &["check", "--secrets", clean.to_str().unwrap()],
        "",
    );
    assert_eq!(clean.status.code(), Some(0));
}
