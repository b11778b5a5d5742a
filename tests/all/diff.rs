//! Tests of `tv diff`: a run compared with itself, with a copy that has one argument changed, with another folder and
//! other ids, and with its own branches.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tv::ingest::Target;
use tv::report::diff::{self, DiffOptions};
use tv::report::outcome::ReportOutcome;
use tv::report::rows::Paper;

use crate::fixtures;

/// A session of Claude Code in a folder, with these commands.
fn session(folder: &str, ids: &str, commands: &[&str]) -> String {
    let mut lines = vec![format!(
        r#"{{"parentUuid":null,"isSidechain":false,"type":"user","message":{{"role":"user","content":"mend the hull"}},"uuid":"{ids}u","timestamp":"2026-01-31T10:41:07.000Z","sessionId":"{ids}","cwd":"{folder}","version":"2.1.0"}}"#
    )];
    let mut parent = format!("{ids}u");
    for (number, command) in commands.iter().enumerate() {
        let command = command.replace("FOLDER", folder);
        lines.push(format!(
            r#"{{"parentUuid":"{parent}","isSidechain":false,"type":"assistant","message":{{"id":"msg_{ids}{number}","type":"message","role":"assistant","model":"claude-opus-4-6","content":[{{"type":"text","text":"words of {ids} {number}"}},{{"type":"tool_use","id":"toolu_{ids}{number}","name":"Bash","input":{{"command":"{command}","description":"as {ids} says"}}}}],"usage":{{"input_tokens":10,"output_tokens":20}}}},"requestId":"req_{ids}{number}","uuid":"{ids}a{number}","timestamp":"2026-01-31T10:42:0{number}.000Z","sessionId":"{ids}","cwd":"{folder}"}}"#
        ));
        lines.push(format!(
            r#"{{"parentUuid":"{ids}a{number}","isSidechain":false,"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{ids}{number}","content":"ok","is_error":false}}]}},"uuid":"{ids}r{number}","timestamp":"2026-01-31T10:43:0{number}.000Z","sessionId":"{ids}","cwd":"{folder}"}}"#
        ));
        parent = format!("{ids}r{number}");
    }
    lines.join("\n") + "\n"
}

fn target(path: &Path) -> Target {
    Target {
        path: path.to_owned(),
        session: None,
    }
}

fn compare(
    one: (Target, Option<&str>),
    other: (Target, Option<&str>),
    json: bool,
) -> (ReportOutcome, String) {
    let named = |(target, key): (Target, Option<&str>)| Ok((target, key.map(str::to_owned)));
    let options = DiffOptions {
        runs: [named(one), named(other)],
        json,
        paper: Paper {
            width: 80,
            colour: false,
            ascii: true,
        },
    };
    let mut out = Vec::new();
    let outcome = diff::write(&options, &mut out).unwrap();
    (outcome, String::from_utf8(out).unwrap())
}

#[test]
fn a_run_does_not_part_from_itself() {
    let mut compared = 0;
    for path in fixtures::all() {
        for target in fixtures::targets(&path) {
            let (outcome, words) = compare((target.clone(), None), (target, None), false);
            // Damaged fixtures cannot be read to their ends.
            if !matches!(outcome, ReportOutcome::Failed(_)) {
                assert_eq!(
                    (outcome, words),
                    (ReportOutcome::Complete, String::new()),
                    "{}",
                    path.display()
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn one_argument_is_one_step() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        target(&path)
    };
    let commands = [
        "ls FOLDER/hull",
        "cargo test --lib",
        "cat FOLDER/log",
        "make /tmp/k3j2/out",
    ];
    let a = || write("a.jsonl", session("/home/mira/boats", "aaaa", &commands));
    let again = [
        "ls FOLDER/hull",
        "cargo test --lib",
        "cat FOLDER/log",
        "make /tmp/zz99/out",
    ];
    let same = write("same.jsonl", session("/work/other", "bbbb", &again));
    let (outcome, words) = compare((a(), None), (same, None), false);
    assert_eq!(outcome, ReportOutcome::Complete);
    assert_eq!(words, "same for 4 calls; only the words differ\n");

    let changed = [
        "ls FOLDER/hull",
        "cargo test --doc",
        "cat FOLDER/log",
        "make /tmp/zz99/out",
    ];
    let b = || write("b.jsonl", session("/work/other", "cccc", &changed));
    let (outcome, words) = compare((a(), None), (b(), None), false);
    assert_eq!(outcome, ReportOutcome::Found);
    let first = words.lines().next().unwrap();
    assert_eq!(
        first,
        "same for 1 call; part at turn 1: A ran cargo test --lib, B ran cargo test --doc"
    );
    let (_, json) = compare((a(), None), (b(), None), true);
    let line: Value = serde_json::from_str(&json).unwrap();
    let steps = line["steps"].as_array().unwrap();
    let parted = steps
        .iter()
        .filter(|step| step["same"] == false && step["a"]["what"] == "call");
    let words: Vec<&str> = parted
        .map(|step| step["b"]["words"].as_str().unwrap())
        .collect();
    assert_eq!(words, ["ran cargo test --doc"]);
    assert_eq!(line["schema"], "tv.diff/1");

    // What one run did in between.
    let more = [
        "ls FOLDER/hull",
        "git status",
        "cargo test --lib",
        "cat FOLDER/log",
        "make /tmp/zz99/out",
    ];
    let c = write("c.jsonl", session("/work/other", "dddd", &more));
    let (_, words) = compare((a(), None), (c, None), false);
    let first = words.lines().next().unwrap();
    assert_eq!(
        first,
        "same for 1 call; part at turn 1: A ran cargo test --lib, B ran git status first"
    );
}

#[test]
fn a_branch_parts_from_the_session_where_it_was_left() {
    let path = fixtures::root().join("pi/branches.jsonl");
    let transcript = fixtures::read(&target(&path)).transcript;
    let branches = transcript.branches();
    let mut compared = 0;
    for branch in &branches.list {
        let mut own = branch
            .entries
            .iter()
            .filter(|id| branches.abandoned.contains(*id));
        let Some(key) = own
            .next_back()
            .and_then(|id| transcript.get(*id))
            .map(|entry| entry.key.clone())
        else {
            continue;
        };
        let (outcome, json) = compare((target(&path), None), (target(&path), Some(&key)), true);
        let line: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(outcome, ReportOutcome::Found, "{key}");
        let steps = line["steps"].as_array().unwrap();
        let parting = usize::try_from(line["parting"].as_u64().unwrap()).unwrap();
        for step in &steps[..parting] {
            assert!(
                step["same"] == false || step["a"]["key"] == step["b"]["key"],
                "{step}"
            );
        }
        // From there on the branch has its own entries alone.
        let left = |step: &Value| {
            let key = step["b"]["key"].as_str()?;
            Some(branches.abandoned.contains(&transcript.find(key)?))
        };
        assert!(
            steps[parting..]
                .iter()
                .filter_map(left)
                .all(|is_left| is_left),
            "{json}"
        );
        compared += 1;
    }
    assert!(compared > 0);
}

/// A session of Claude Code with these steps: a prompt, words, or a command.
fn steps(id: &str, steps: &[(&str, &str)]) -> String {
    let mut parent = "null".to_owned();
    let lines = steps.iter().enumerate().map(|(number, (what, text))| {
        let (uuid, second) = (format!("\"{id}{number}\""), number * 2);
        let about = format!(
            r#""parentUuid":{parent},"isSidechain":false,"uuid":{uuid},"timestamp":"2026-01-31T10:42:{second:02}.000Z","sessionId":"{id}","cwd":"/w","version":"2.1.0""#
        );
        let said = |block: String| {
            format!(
                r#"{{{about},"type":"assistant","message":{{"id":"msg_{id}{number}","type":"message","role":"assistant","model":"claude-opus-4-6","content":[{block}],"usage":{{"input_tokens":10,"output_tokens":20}}}},"requestId":"req_{id}{number}"}}"#
            )
        };
        parent.clone_from(&uuid);
        match *what {
            "ask" => format!(
                r#"{{{about},"type":"user","message":{{"role":"user","content":"{text}"}}}}"#
            ),
            "say" => said(format!(r#"{{"type":"text","text":"{text}"}}"#)),
            _ => {
                let call = said(format!(
                    r#"{{"type":"tool_use","id":"toolu_{id}{number}","name":"Bash","input":{{"command":"{text}"}}}}"#
                ));
                parent = format!("\"{id}r{number}\"");
                format!(
                    r#"{call}
{{"parentUuid":{uuid},"isSidechain":false,"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{id}{number}","content":"ok","is_error":false}}]}},"uuid":{parent},"timestamp":"2026-01-31T10:42:{:02}.000Z","sessionId":"{id}","cwd":"/w"}}"#,
                    second + 1
                )
            }
        }
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

fn compared(one: &str, other: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = [("a.jsonl", one), ("b.jsonl", other)].map(|(name, text)| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        target(&path)
    });
    let (_, json) = compare((one, None), (other, None), true);
    serde_json::from_str(&json).unwrap()
}

/// Keys of the steps that are the same in both runs.
fn same(line: &Value) -> Vec<[&str; 2]> {
    let steps = line["steps"].as_array().unwrap().iter();
    let same = steps.filter(|step| step["same"] == true);
    same.map(|step| ["a", "b"].map(|side| step[side]["key"].as_str().unwrap()))
        .collect()
}

#[test]
fn words_tell_which_of_equal_calls_is_the_same() {
    let ask = ("ask", "mend the boat");
    let two = [
        ask,
        ("say", "first the hull"),
        ("run", "make"),
        ("say", "now the mast"),
        ("run", "make"),
    ];
    let one = [ask, ("say", "now the mast"), ("run", "make")];
    let line = compared(&steps("a", &two), &steps("b", &one));
    assert_eq!(
        same(&line),
        [["a0", "b0"], ["msg_a3", "msg_b1"], ["msg_a4", "msg_b2"]]
    );
    // A call says more than words that stand on its other side.
    let after = [ask, ("run", "make"), ("say", "now the mast")];
    let line = compared(&steps("a", &one), &steps("b", &after));
    assert_eq!(same(&line), [["a0", "b0"], ["msg_a2", "msg_b1"]]);
    assert_eq!(line["parts"], false);
}

#[test]
fn a_prompt_that_differs_is_told() {
    let run = |prompt| steps("a", &[("ask", prompt), ("run", "ls"), ("run", "make")]);
    let line = compared(&run("mend the hull"), &run("mend the mast"));
    assert_eq!(
        line["sentence"],
        "same for 0 calls; prompt of turn 1 differs: A was asked mend the hull, B was asked mend the mast; \
         the next 2 calls are the same"
    );
}

#[test]
fn a_fork_parts_where_it_was_made() {
    let shared = [
        ("ask", "mend the boat"),
        ("run", "ls"),
        ("say", "It leaks."),
        ("ask", "find the leak"),
        ("run", "make test"),
        ("say", "It is the hull."),
    ];
    let parent = [
        &shared[..],
        &[("ask", "mend the hull"), ("run", "make hull")],
    ]
    .concat();
    let parent = steps("aaaa", &parent);
    // A fork has copies of the lines with its own id and where they are from.
    let before = steps("aaaa", &shared);
    let copies = before.lines().map(|line| {
        let uuid = line.split(r#""uuid":"#).nth(1).unwrap();
        let uuid = uuid.split(',').next().unwrap();
        let from = format!(
            r#""sessionId":"bbbb","forkedFrom":{{"sessionId":"aaaa","messageUuid":{uuid}}}"#
        );
        line.replace(r#""sessionId":"aaaa""#, &from)
    });
    let own = steps("bbbb", &[("ask", "sell the boat"), ("run", "make hull")]);
    let own = own.replace(r#""parentUuid":null"#, r#""parentUuid":"aaaa5""#);
    let fork = copies.collect::<Vec<_>>().join("\n") + "\n" + &own;
    let line = compared(&parent, &fork);
    assert_eq!(
        line["sentence"],
        "same for 2 calls; prompt of turn 3 differs: A was asked mend the hull, B was asked sell the boat; \
         the next call is the same"
    );
    let parting = usize::try_from(line["parting"].as_u64().unwrap()).unwrap();
    assert_eq!(
        (
            &line["steps"][parting]["a"]["key"],
            &line["steps"][parting]["b"]["key"]
        ),
        (&Value::from("aaaa6"), &Value::from("bbbb0"))
    );
}

#[test]
fn a_fork_that_repeats_its_history_parts_where_it_was_made() {
    let line = |second: u32, kind: &str, payload: &str| {
        format!(
            r#"{{"timestamp":"2026-07-28T14:00:{second:02}.000Z","type":"{kind}","payload":{payload}}}"#
        )
    };
    let meta = |id: &str, more: &str| {
        let payload = format!(
            r#"{{"id":"{id}","timestamp":"2026-07-28T14:00:00.000Z","cwd":"/home/ida/mill","originator":"codex-tui","cli_version":"0.147.0"{more}}}"#
        );
        line(0, "session_meta", &payload)
    };
    let turn = |second: u32, id: &str, asks: &str| {
        [
            line(
                second,
                "event_msg",
                &format!(r#"{{"type":"task_started","turn_id":"{id}"}}"#),
            ),
            line(
                second,
                "response_item",
                &format!(
                    r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{asks}"}}],"internal_chat_message_metadata_passthrough":{{"turn_id":"{id}"}}}}"#
                ),
            ),
            line(
                second,
                "event_msg",
                &format!(r#"{{"type":"user_message","message":"{asks}"}}"#),
            ),
        ]
    };
    let call = [
        line(
            1,
            "response_item",
            r#"{"type":"function_call","name":"shell_command","arguments":"{\"command\":\"ls\"}","call_id":"call_c0"}"#,
        ),
        line(
            1,
            "response_item",
            r#"{"type":"function_call_output","call_id":"call_c0","output":"Exit code: 0\nWall time: 0.1 seconds\nOutput:\ncorn\n"}"#,
        ),
    ];
    let (parent, fork) = (
        "019fa8f5-f840-7000-8000-0000000000c1",
        "019fa906-7300-7000-8000-0000000000f1",
    );
    let shared = [
        &turn(1, "019fa8f5-fc28-7000-8000-0000000000c2", "grind the corn")[..],
        &call,
    ]
    .concat();
    let later = turn(
        20,
        "019fa8f8-b760-7000-8000-0000000000c3",
        "grind it coarser",
    );
    let own = turn(30, "019fa906-e830-7000-8000-0000000000f2", "grind it finer");
    let from = format!(r#","forked_from_id":"{parent}""#);
    let one = [vec![meta(parent, "")], shared.clone(), later.to_vec()].concat();
    let other = [
        vec![meta(fork, &from), meta(parent, "")],
        shared,
        own.to_vec(),
    ]
    .concat();
    let line = compared(&(one.join("\n") + "\n"), &(other.join("\n") + "\n"));
    assert_eq!(
        line["sentence"],
        "same for 1 call; prompt of turn 2 differs: A was asked grind it coarser, B was asked grind it finer"
    );
}
