//! What the reports write of sessions with branches and sub-agents: tables, lists, single branches, and
//! what the doctor says.

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
