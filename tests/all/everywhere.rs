//! Tests of `tv tools` over many sessions: its sums are those of the sessions, however they are grouped.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tv::analysis::by::By;

use crate::fixtures;

fn rows(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    rows_of("tools", folder, arguments)
}

fn rows_of(command: &str, folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let text = written(&[&[command, "--json"], arguments].concat(), folder);
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn written(arguments: &[&str], folder: &Path) -> String {
    let home = tempfile::tempdir().unwrap();
    let mut tv = Command::new(env!("CARGO_BIN_EXE_tv"));
    tv.env_clear()
        .env("HOME", home.path())
        .env("LC_ALL", "C.UTF-8");
    let output = tv
        .args(arguments)
        .arg(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn csv_has_the_rows_and_columns_of_json() {
    let folder = fixtures::root().join("claude-code");
    for arguments in [["tools", "--by", "tool"], ["waste", "--by", "agent"]] {
        let text = written(&[&arguments[..], &["--csv"]].concat(), &folder);
        let mut csv = csv::Reader::from_reader(text.as_bytes());
        let heads = csv.headers().unwrap().clone();
        let json = rows_of(arguments[0], &folder, &arguments[1..]);
        let lines: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
        assert!(!json.is_empty() && lines.len() == json.len(), "{text}");
        for (line, row) in lines.iter().zip(&json) {
            let names = row.as_object().unwrap().keys();
            let names: Vec<&String> = names.filter(|name| *name != "schema").collect();
            assert!(
                names
                    .iter()
                    .all(|name| heads.iter().any(|head| head == *name)),
                "{text}"
            );
            assert_eq!(line.get(1), row["name"].as_str());
        }
    }
}

/// Calls, failures and calls without a result, by name.
fn sums(rows: &[Value], name: &str) -> BTreeMap<String, [u64; 3]> {
    let mut sums: BTreeMap<String, [u64; 3]> = BTreeMap::new();
    for row in rows {
        let sum = sums
            .entry(row[name].as_str().unwrap_or_default().to_owned())
            .or_default();
        for (sum, field) in sum.iter_mut().zip(["calls", "failed", "open"]) {
            *sum += row[field].as_u64().unwrap();
        }
    }
    sums
}

#[test]
fn sums_over_sessions_are_those_of_the_sessions() {
    for format in ["pi", "codex", "copilot"] {
        let folder = fixtures::root().join(format);
        if !folder.exists() {
            continue;
        }
        let own = sums(&rows(&folder, &["--sums"]), "tool");
        assert!(!own.is_empty(), "{format}");
        assert_eq!(
            sums(&rows(&folder, &["--by", "tool"]), "name"),
            own,
            "{format}"
        );
        let all = |sums: BTreeMap<String, [u64; 3]>| {
            sums.into_values()
                .fold([0; 3], |all, sum| [0, 1, 2].map(|at| all[at] + sum[at]))
        };
        let whole = all(own);
        for (_, by) in By::ALL {
            let rows = rows(&folder, &["--by", by]);
            assert_eq!(all(sums(&rows, "name")), whole, "{format} by {by}");
            for row in rows {
                let failures = row["failures"].as_array().unwrap();
                let counted: u64 = failures
                    .iter()
                    .map(|same| same["count"].as_u64().unwrap())
                    .sum();
                assert_eq!(counted, row["failed"].as_u64().unwrap(), "{format} by {by}");
            }
        }
    }
}

/// Failed calls by name.
fn failed(rows: &[Value], name: &str) -> BTreeMap<String, u64> {
    let mut failed: BTreeMap<String, u64> = BTreeMap::new();
    for row in rows {
        let count = row["failed"].as_u64().unwrap();
        let name = row[name].as_str().unwrap_or_default().to_owned();
        *failed.entry(name).or_default() += count;
    }
    failed.retain(|_, count| *count > 0);
    failed
}

#[test]
fn usage_has_the_failures_that_tools_have() {
    let root = fixtures::root();
    for (by, name) in [("agent", "agent"), ("project", "project"), ("tool", "tool")] {
        let of_tools = failed(&rows(&root, &["--by", by]), "name");
        let of_usage = failed(&rows_of("usage", &root, &["--failures", "--by", by]), name);
        assert!(of_tools.values().sum::<u64>() > 50, "{by}");
        assert_eq!(of_usage, of_tools, "{by}");
    }
}

/// A session with a failed call, whose records a fork begins with.
#[test]
fn what_a_fork_copied_failed_once() {
    let folder = tempfile::tempdir().unwrap();
    let record = |session: &str, number: u32| {
        let call = format!("toolu_01AbCdEfGhIjKlMnOp{number:04}");
        let base = |kind: &str, half: u32, message: Value| {
            json!({"type": kind, "sessionId": session, "cwd": "/work", "version": "2.1.0", "isSidechain": false,
                "uuid": format!("0dd5000{half}-1111-4222-8333-44445555{number:04}"),
                "timestamp": format!("2026-02-03T04:05:{number:02}.000Z"), "message": message})
        };
        let made = json!({"id": format!("msg_01AbCdEfGhIjKlMnOp{number:04}"), "type": "message",
            "role": "assistant", "model": "claude-opus-4-6", "usage": {"input_tokens": 1, "output_tokens": 1},
            "content": [{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "make"}}]});
        let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": call,
            "is_error": true, "content": "Exit code 2"}]});
        [base("assistant", 1, made), base("user", 2, result)]
            .map(|record| format!("{record}\n"))
            .concat()
    };
    let write = |session: &str, numbers: &[u32]| {
        let records = numbers.iter().map(|number| record(session, *number));
        let path = folder.path().join(format!("{session}.jsonl"));
        std::fs::write(path, records.collect::<String>()).unwrap();
    };
    write("0dd50009-1111-4222-8333-444455550001", &[1, 2]);
    write("0dd50009-1111-4222-8333-444455550002", &[1, 2, 3]);
    let of_tools = failed(&rows(folder.path(), &["--by", "agent"]), "name");
    let of_usage = failed(
        &rows_of("usage", folder.path(), &["--failures", "--by", "agent"]),
        "agent",
    );
    assert_eq!(of_tools.values().sum::<u64>(), 3, "{of_tools:?}");
    assert_eq!(of_usage, of_tools);
    let counted = rows_of("usage", folder.path(), &["--by", "agent"]);
    assert!(counted[0]["failed"].is_null(), "{counted:?}");
}
