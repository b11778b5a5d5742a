//! Tests of `tv waste`: each kind in a session that has it, its cost as other commands tell it, and sums.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tv::analysis::by::By;
use tv::analysis::waste::WasteKind;

use crate::fixtures;

fn tv(arguments: &[&str], sessions: &[&Path]) -> Vec<Value> {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
    command
        .env_clear()
        .env("HOME", home.path())
        .env("LC_ALL", "C.UTF-8");
    let output = command
        .args(arguments)
        .arg("--json")
        .args(sessions)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The records of a session, whose answers cost 0.125 each.
#[derive(Default)]
struct Session {
    records: Vec<Value>,
    prompt: u64,
}

impl Session {
    fn push(&mut self, kind: &str, message: Value, more: &[(&str, Value)]) -> usize {
        let number = self.records.len();
        let mut record = json!({"type": kind, "uuid": format!("u{number}"), "isSidechain": false,
            "parentUuid": number.checked_sub(1).map(|before| format!("u{before}")), "sessionId": "mill",
            "cwd": "/work/mill", "version": "2.1.0", "message": message,
            "timestamp": format!("2026-01-05T10:{:02}:{:02}.000Z", number / 60, number % 60)});
        for (name, value) in more {
            record[*name] = value.clone();
        }
        self.records.push(record);
        number
    }

    /// An answer whose prompt is longer by so many tokens; all but those are read from the cache,
    /// unless `is_cold`.
    fn answer(&mut self, content: Value, is_cold: bool) -> String {
        let known = self.prompt;
        self.prompt += 3_000;
        let (read, written) = if is_cold {
            (0, self.prompt)
        } else {
            (known, 3_000)
        };
        let number = self.records.len();
        let key = format!("msg_{number}");
        let message = json!({"id": key, "role": "assistant", "model": "claude-opus-4-6", "content": content,
            "stop_reason": "end_turn", "usage": {"input_tokens": 3, "output_tokens": 40,
                "cache_read_input_tokens": read, "cache_creation_input_tokens": written}});
        let more = [
            ("requestId", json!(format!("req_{number}"))),
            ("costUSD", json!(0.125)),
        ];
        self.push("assistant", message, &more);
        key
    }

    /// A call with its result; returns the key of the answer.
    fn call(&mut self, name: &str, input: Value, result: &str, has_failed: bool) -> String {
        let id = format!("toolu_{}", self.records.len());
        let key = self.answer(
            json!([{"type": "tool_use", "id": id, "name": name, "input": input}]),
            false,
        );
        let content = json!([{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": has_failed}]);
        self.push("user", json!({"role": "user", "content": content}), &[]);
        key
    }

    fn write(&self, path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let lines = self.records.iter().map(|record| record.to_string() + "\n");
        fs::write(path, lines.collect::<String>()).unwrap();
    }
}

fn words(of: &str) -> String {
    let words: Vec<String> = (0..30).map(|n| format!("{of}{n}word")).collect();
    words.join("\n")
}

/// A session with waste of each kind, and the keys of the entries that show it.
fn wasteful(folder: &Path) -> (PathBuf, BTreeMap<&'static str, String>) {
    let mut session = Session::default();
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let mut keys = BTreeMap::new();
    session.push(
        "user",
        json!({"role": "user", "content": "Mend the mill"}),
        &[],
    );
    let read = json!({"file_path": "/work/mill/gear.rs"});
    session.call("Read", read.clone(), &words("gear"), false);
    session.answer(text("I see gear3word."), false);
    keys.insert(
        "reread",
        session.call("Read", read.clone(), &words("gear"), false),
    );
    session.call(
        "Edit",
        json!({"file_path": "/work/mill/gear.rs", "old_string": "gear3word", "new_string": "gear4word"}),
        "done",
        false,
    );
    // It was changed.
    session.call("Read", read, &words("gear"), false);
    keys.insert(
        "retried",
        session.call(
            "Bash",
            json!({"command": "grindstone --fast"}),
            "grindstone: no such option",
            true,
        ),
    );
    session.call(
        "Bash",
        json!({"command": "grindstone --slow"}),
        "turning",
        false,
    );
    // Something else is no second try.
    session.call("Bash", json!({"command": "cargo test"}), "1 failed", true);
    session.call("Grep", json!({"pattern": "axle"}), &words("axle"), false);
    session.answer(text("There is axle7word."), false);
    keys.insert(
        "unused",
        session.call("Grep", json!({"pattern": "spoke"}), &words("spoke"), false),
    );
    session.call("Bash", json!({"command": "ls"}), "gear.rs", false);
    keys.insert(
        "repeated",
        session.call("Bash", json!({"command": "ls"}), "gear.rs", false),
    );
    session.call("Bash", json!({"command": "ls"}), "gear.rs", false);
    keys.insert(
        "cache",
        session.answer(text("Another model of the mill."), true),
    );
    let id = format!("toolu_{}", session.records.len());
    let input = json!({"description": "Look for leaks", "prompt": "Look for leaks", "subagent_type": "Explore"});
    let task = json!([{"type": "tool_use", "id": id, "name": "Task", "input": input}]);
    keys.insert("unread", session.answer(task, false));
    let result = json!([{"type": "tool_result", "tool_use_id": id, "content": "No leaks.", "is_error": false}]);
    session.push(
        "user",
        json!({"role": "user", "content": result}),
        &[(
            "toolUseResult",
            json!({"agentId": "a1", "status": "completed"}),
        )],
    );
    let path = folder.join("mill.jsonl");
    session.write(&path);
    let mut agent = Session::default();
    agent.push(
        "user",
        json!({"role": "user", "content": "Look for leaks"}),
        &[],
    );
    agent.answer(text("No leaks."), false);
    for record in &mut agent.records {
        record["isSidechain"] = json!(true);
        record["agentId"] = json!("a1");
        record["uuid"] = json!(format!("a1-{}", record["uuid"].as_str().unwrap()));
        record["message"]["id"] = json!("msg_of_a1");
        record["requestId"] = json!("req_of_a1");
        // While the call ran.
        record["timestamp"] = json!("2026-01-05T10:00:31.000Z");
    }
    agent.write(&folder.join("mill/subagents/agent-a1.jsonl"));
    (path, keys)
}

#[test]
fn waste_of_each_kind_is_found_once_at_the_place_that_shows_it() {
    let folder = tempfile::tempdir().unwrap();
    let (path, keys) = wasteful(folder.path());
    let rows = tv(&["waste"], &[&path]);
    let found: Vec<(&str, &str)> = rows
        .iter()
        .map(|row| (row["kind"].as_str().unwrap(), row["key"].as_str().unwrap()))
        .collect();
    let expected: Vec<(&str, &str)> = keys
        .iter()
        .map(|(kind, key)| (*kind, key.as_str()))
        .collect();
    let mut sorted = found.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, expected, "{rows:#?}");
    let cost = |kind: &str| {
        let row = rows.iter().find(|row| row["kind"] == kind).unwrap();
        row["usd"].clone()
    };
    let usd = |kind: &str| cost(kind).as_f64().unwrap();
    let dear: Vec<f64> = rows
        .iter()
        .map(|row| row["usd"].as_f64().unwrap())
        .collect();
    assert!(dear.is_sorted_by(|one, other| one >= other), "{dear:?}");
    // Requests that did nothing else, and a sub-agent of one request.
    assert_eq!(cost("retried"), json!(0.125));
    assert_eq!(cost("repeated"), json!(0.25));
    assert_eq!(cost("unread"), json!(0.125));
    // What carried results cost stands in the list of calls.
    let calls = tv(&["tools"], &[&path]);
    for kind in ["reread", "unused"] {
        let call = calls
            .iter()
            .find(|call| call["key"] == keys[kind].as_str())
            .unwrap();
        assert_eq!(call["carried_usd"], cost(kind), "{kind}");
        assert!(usd(kind) > 0.0, "{kind}");
    }
    // Written for 6.25 instead of read for 0.50 a million: the tokens that the request before left.
    let held = 14 * 3_000;
    assert!(
        (usd("cache") - f64::from(held) * 5.75e-6).abs() < 1e-6,
        "{}",
        usd("cache")
    );
    for row in &rows {
        let address = format!(
            "{}#{}",
            row["path"].as_str().unwrap(),
            row["key"].as_str().unwrap()
        );
        let shown = tv(&["show"], &[Path::new(&address)]);
        assert!(
            shown.iter().any(|entry| entry["key"] == row["key"]),
            "{address}"
        );
    }
}

/// How often and for how much, by kind.
type Sums = BTreeMap<String, (u64, f64)>;

fn sums(rows: &[Value]) -> Sums {
    let mut sums = Sums::new();
    for row in rows {
        let kinds = WasteKind::ALL.map(|(_, kind, usd)| {
            let is_own = u64::from(row["kind"] == kind);
            match row[usd].as_f64() {
                _ if row["kind"].is_string() => (
                    kind,
                    is_own,
                    row["usd"].as_f64().unwrap_or(0.0) * is_own as f64,
                ),
                usd => (kind, row[kind].as_u64().unwrap(), usd.unwrap_or(0.0)),
            }
        });
        for (kind, count, usd) in kinds {
            let sum = sums.entry(kind.to_owned()).or_default();
            *sum = (sum.0 + count, sum.1 + usd);
        }
    }
    sums
}

#[test]
fn sums_of_waste_are_those_of_the_sessions_whatever_they_are_grouped_by() {
    let made = tempfile::tempdir().unwrap();
    wasteful(made.path());
    let own = ["claude-code", "codex"].map(|format| fixtures::root().join(format));
    let corpora = crate::corpus::corpora().into_iter();
    let corpora = corpora.map(|corpus| corpus.folder.join("pi"));
    let all = own
        .into_iter()
        .chain([made.path().to_owned()])
        .chain(corpora);
    for folder in all.filter(|folder| folder.exists()) {
        let all = tv(&["waste"], &[&folder]);
        let whole = sums(&all);
        let is_same = |other: &Sums| {
            whole.iter().all(|(kind, (count, usd))| {
                let (others, its) = other.get(kind).copied().unwrap_or_default();
                // Each figure is rounded to a millionth.
                others == *count && (its - usd).abs() <= 1e-6 * (*count as f64 + 1.0)
            })
        };
        let sessions: BTreeSet<&str> = all
            .iter()
            .map(|row| row["path"].as_str().unwrap())
            .collect();
        let own: Vec<Value> = sessions
            .iter()
            .flat_map(|path| tv(&["waste"], &[Path::new(path)]))
            .collect();
        assert!(
            is_same(&sums(&own)),
            "{}: {whole:?}, {:?}",
            folder.display(),
            sums(&own)
        );
        for (_, by) in By::ALL {
            let grouped = sums(&tv(&["waste", "--by", by], &[&folder]));
            assert!(
                is_same(&grouped),
                "{} by {by}: {whole:?}, {grouped:?}",
                folder.display()
            );
        }
    }
}
