//! Tests of the reports on sessions with branches and sub-agents: tables, lists, single branches,
//! and `tv doctor`.

use std::process::{Command, Stdio};

use serde_json::Value;
use tv::formats::registry;

use crate::stage::fixture;

/// A tree of entries, sub-agents under a rewound prompt, and undone messages.
const SESSIONS: &[(&str, &str)] = &[
    ("pi", "pi/branches.jsonl"),
    (
        "claude-code",
        "claude-code/5d0c1c52-7f4e-4a39-9d5b-2f6f0c9b1e01.jsonl",
    ),
    ("opencode", "opencode/export.json"),
];

/// Runs the program in the folder of the fixture, so that no path of this machine is written.
fn tv(arguments: &[&str], session: &str) -> (Option<i32>, String, String) {
    let path = fixture(session);
    let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
    command
        .current_dir(path.parent().unwrap())
        .args(arguments)
        .arg(path.file_name().unwrap());
    command
        .env("LC_ALL", "C.UTF-8")
        .env("TZ", "UTC")
        .env_remove("NO_COLOR")
        .stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn written(arguments: &[&str], session: &str) -> String {
    let (code, out, errors) = tv(arguments, session);
    assert_eq!(
        (code, errors.as_str()),
        (Some(0), ""),
        "{arguments:?} {session}"
    );
    out
}

#[test]
fn the_doctor_says_what_it_found() {
    for (name, session) in SESSIONS {
        insta::assert_snapshot!(format!("doctor-{name}"), written(&["doctor"], session));
        let json: Value = serde_json::from_str(&written(&["doctor", "--json"], session)).unwrap();
        assert_eq!(json["schema"], "tv.doctor/2");
        let files = json["file_list"].as_array().unwrap();
        let in_files: u64 = files
            .iter()
            .map(|file| file["records"].as_u64().unwrap())
            .sum();
        assert_eq!(
            json["records"]["total"], in_files,
            "{name}: every record lies in a file"
        );
        assert_eq!(json["records"]["bytes"]["total"], {
            files
                .iter()
                .map(|file| file["record_bytes"].as_u64().unwrap())
                .sum::<u64>()
        });
    }
}

#[test]
fn a_folder_is_all_its_sessions() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("older")).unwrap();
    for (name, words) in [
        ("older/one.jsonl", "Count the fish"),
        ("two.jsonl", "Count the birds"),
    ] {
        let prompt = serde_json::json!({"parentUuid": null, "isSidechain": false, "type": "user", "uuid": name,
            "sessionId": name, "timestamp": "2026-01-05T10:00:00.000Z", "version": "2.1.331",
            "message": {"role": "user", "content": words}});
        std::fs::write(folder.path().join(name), format!("{prompt}\n")).unwrap();
    }
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
        let output = command
            .args(arguments)
            .arg(folder.path())
            .env("HOME", folder.path())
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    for command in ["stats", "brief"] {
        let (code, out) = run(&[command, "--json"]);
        let has = |words| out.lines().filter(|line| line.contains(words)).count();
        assert_eq!(
            (code, has("Count the fish"), has("Count the birds")),
            (Some(0), 1, 1),
            "{command}: {out}"
        );
    }
    assert_eq!(
        run(&["check"]),
        (Some(0), "nothing found in 2 sessions\n".to_owned())
    );
}

#[test]
fn branches_and_lanes_have_figures_of_their_own() {
    for (name, session) in SESSIONS {
        let stats = written(&["stats"], session);
        let tables: Vec<&str> = stats.lines().skip_while(|line| !line.is_empty()).collect();
        insta::assert_snapshot!(format!("tables-{name}"), tables.join("\n"));
    }
    let json: Value =
        serde_json::from_str(&written(&["stats", "--json"], "pi/branches.jsonl")).unwrap();
    insta::assert_snapshot!(
        "branch-list",
        serde_json::to_string_pretty(&json["branch_list"]).unwrap()
    );
}

#[test]
fn a_branch_is_shown_as_the_model_saw_it() {
    for choice in ["all", "active", "1", "2", "3"] {
        let shown = written(
            &["show", "--width", "80", "--branch", choice],
            "pi/branches.jsonl",
        );
        insta::assert_snapshot!(format!("show-branch-{choice}"), shown);
    }
    let (code, _, errors) = tv(&["show", "--branch", "4"], "pi/branches.jsonl");
    assert_eq!(code, Some(2));
    assert!(errors.contains("only branches 1 to 3"), "{errors}");
    let (code, _, errors) = tv(&["show", "--branch", "0"], "pi/branches.jsonl");
    assert_eq!(code, Some(2));
    assert!(errors.contains("a number from 1"), "{errors}");
}

#[test]
fn several_sessions_are_shown_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["old.jsonl", "new.jsonl"].map(|name| folder.path().join(name));
    for (path, session) in paths
        .iter()
        .zip(["pi/branches.jsonl", "claude-code/busy.jsonl"])
    {
        std::fs::copy(fixture(session), path).unwrap();
    }
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_tv"))
            .env("HOME", folder.path())
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let [old, new] = [0, 1].map(|at| paths[at].to_str().unwrap());
    let alone = [old, new].map(|path| run(&["show", path]));
    let both = format!("{old}\n{}\n{new}\n{}", alone[0], alone[1]);
    assert_eq!(run(&["show", old, new]), both);
    let rows = |arguments: &[&str]| {
        let lines = run(arguments);
        let rows = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        rows.map(|row: Value| (row["path"].clone(), row["session"].clone()))
            .collect::<std::collections::HashSet<_>>()
    };
    let ids = [old, new].map(|path| {
        let stats: Value = serde_json::from_str(&run(&["stats", "--json", path])).unwrap();
        (Value::from(path), stats["session"]["id"].clone())
    });
    assert!(ids.iter().all(|(_, id)| id.is_string()), "{ids:?}");
    assert_eq!(rows(&["show", "--json", old, new]), ids.into());
    assert_eq!(
        run(&["doctor", "--json", folder.path().to_str().unwrap()])
            .lines()
            .count(),
        2
    );
}

#[test]
fn a_brief_says_what_a_session_came_to() {
    for (name, session) in SESSIONS {
        insta::assert_snapshot!(format!("brief-{name}"), written(&["brief"], session));
        insta::assert_snapshot!(
            format!("brief-markdown-{name}"),
            written(&["brief", "--markdown"], session)
        );
        let brief: Value = serde_json::from_str(&written(&["brief", "--json"], session)).unwrap();
        let stats: Value = serde_json::from_str(&written(&["stats", "--json"], session)).unwrap();
        assert_eq!(brief["schema"], "tv.brief/2");
        assert_eq!(brief["cost"], stats["cost"], "{name}");
        assert_eq!(
            brief["asked"].as_array().unwrap().len(),
            stats["turns"],
            "{name}"
        );
        assert_eq!(brief["waste"]["branches"], stats["branches"], "{name}");
        let lines = written(&["show", "--json"], session);
        let keys: Vec<Value> = lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["key"].take())
            .collect();
        let said = ["asked", "failed", "open"]
            .iter()
            .flat_map(|part| brief[part].as_array().unwrap());
        let done = ["files", "commands", "commits", "tests"];
        let done = done
            .iter()
            .flat_map(|part| brief["done"][part].as_array().unwrap());
        for item in said.chain(done) {
            assert!(keys.contains(&item["key"]), "{name}: {item}");
        }
    }
}

#[test]
fn the_manual_says_what_agents_do_not_record() {
    let page = include_str!("../../assets/manual/formats.md");
    for format in registry() {
        let heading = format!("\n## {}\n", format.name());
        let (_, section) = page
            .split_once(&heading)
            .unwrap_or_else(|| panic!("{heading}"));
        let section = section.split("\n## ").next().unwrap();
        let (_, omitted) = section
            .split_once("**Not recorded:**")
            .unwrap_or_else(|| panic!("{heading}"));
        let omitted = omitted
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .replace('`', "");
        let omits = if format.head().omits.is_empty() {
            "–"
        } else {
            format.head().omits
        };
        assert_eq!(omitted, omits, "{}", format.name());
    }
}

/// The lists of a session: what is asked for, and the schema of its rows.
const LISTS: [(&[&str], &str); 3] = [
    (&["tools"], "tv.tool/1"),
    (&["tools", "--sums"], "tv.tool.sums/1"),
    (&["files"], "tv.file/1"),
];
/// A session with calls of all outcomes, and one with a change of a file that went wrong.
const LISTED: [&str; 2] = ["claude-code/outcomes.jsonl", "pi/skill-and-retries.jsonl"];

#[test]
fn lists_are_tables_to_read() {
    for (list, schema) in LISTS {
        for session in LISTED {
            let name = format!("{schema}-{session}").replace(['/', '.'], "-");
            insta::assert_snapshot!(name, written(list, session));
        }
    }
}

#[test]
fn a_list_has_the_same_rows_in_every_form() {
    let sessions = SESSIONS.iter().map(|(_, session)| *session).chain(LISTED);
    for (session, (list, schema)) in sessions.flat_map(|session| LISTS.map(|list| (session, list)))
    {
        let form = |form: &'static str| written(&[list, &[form]].concat(), session);
        let json: Vec<Value> = form("--json")
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let csv = form("--csv");
        let mut csv = csv::Reader::from_reader(csv.as_bytes());
        let heads = csv.headers().unwrap().clone();
        let records: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
        assert_eq!(json.len(), records.len(), "{session} {schema}");
        for (row, record) in json.iter().zip(&records) {
            assert_eq!(row["schema"], schema);
            assert_eq!(row.as_object().unwrap().len(), heads.len() + 1);
            for (head, cell) in heads.iter().zip(record) {
                let cell = cell.to_owned();
                match &row[head] {
                    Value::Null => assert_eq!(cell, "", "{head}"),
                    Value::String(text) => assert_eq!(cell, text.replace('\n', "\\n"), "{head}"),
                    Value::Array(texts) => {
                        let texts: Vec<&str> = texts.iter().filter_map(Value::as_str).collect();
                        assert_eq!(cell, texts.join(", "), "{head}");
                    }
                    other => assert_eq!(cell, other.to_string(), "{head}"),
                }
            }
        }
        let text = written(list, session);
        let lines = if json.is_empty() { 1 } else { json.len() + 1 };
        assert_eq!(text.lines().count(), lines, "{session} {schema}: {text}");
    }
}

#[test]
fn calls_by_tool_are_all_calls() {
    for session in SESSIONS.iter().map(|(_, session)| *session).chain(LISTED) {
        let rows = |list: &[&str]| -> Vec<Value> {
            let out = written(list, session);
            let lines = out.lines().map(serde_json::from_str);
            lines.map(Result::unwrap).collect()
        };
        let (tools, calls) = (
            rows(&["tools", "--sums", "--json"]),
            rows(&["tools", "--json"]),
        );
        for tool in &tools {
            let own = || calls.iter().filter(|call| call["name"] == tool["tool"]);
            let failed = own().filter(|call| call["state"] == "failed").count();
            assert_eq!(tool["calls"], own().count(), "{session} {tool}");
            assert_eq!(tool["failed"], failed, "{session} {tool}");
            let bytes: u64 = own().filter_map(|call| call["bytes"].as_u64()).sum();
            assert_eq!(tool["bytes"], bytes, "{session} {tool}");
        }
        let all: u64 = tools.iter().filter_map(|tool| tool["calls"].as_u64()).sum();
        assert_eq!(all, calls.len() as u64, "{session}");
        let stats: Value = serde_json::from_str(&written(&["stats", "--json"], session)).unwrap();
        assert_eq!(stats["pairing"]["calls"], all, "{session}");
        // What is told of a call is what its entry tells.
        let entries = written(&["show", "--json"], session);
        let entries: Vec<Value> = entries
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        for call in &calls {
            let entry = entries.iter().find(|entry| entry["key"] == call["key"]);
            let mut blocks = entry.unwrap()["blocks"].as_array().unwrap().iter();
            let block = blocks.find(|block| block["type"] == "call" && block["id"] == call["id"]);
            for field in ["name", "state", "started"] {
                assert_eq!(call[field], block.unwrap()[field], "{session} {field}");
            }
        }
    }
}
