//! The law of lanes: the file of a sub-agent may begin with a copy of any part of the main lane,
//! with the ids of its records or others; neither the main lane nor the sub-agent's own work
//! changes.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::{ProptestConfig, any, prop_assert};
use proptest::sample::{Index, select};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::insertion::{all_seen, changes, changes_of_main, copy};
use crate::fixtures;

/// What sub-agents are called whose files repeat the conversation: an aside, a helper that compacts, a fork.
const AGENTS: [&str; 3] = [
    "aaside_question-1f2e3d4c5b6a7988",
    "acompact-1f2e3d4c5b6a7988",
    "a0000000000000f01",
];

/// The records of the main lane of a session of Claude Code that a sub-agent may repeat.
fn main_lane(session: &Path) -> Vec<Value> {
    let text = fs::read_to_string(session).unwrap();
    let records = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let is_main = |record: &Value| {
        record["uuid"].is_string()
            && record["isSidechain"] != true
            && ["user", "assistant", "system", "attachment"]
                .iter()
                .any(|kind| record["type"] == *kind)
    };
    records.filter(is_main).collect()
}

/// The same as the sub-agent's file has them.
fn repeated(records: &[Value], agent: &str, is_renamed: bool) -> Vec<Value> {
    let mut records = records.to_vec();
    for record in &mut records {
        record["agentId"] = json!(agent);
        record["isSidechain"] = json!(true);
        for name in ["uuid", "parentUuid"] {
            if let Some(id) = record[name].as_str().filter(|_| is_renamed) {
                record[name] = json!(format!("{agent}-{id}"));
            }
        }
    }
    records
}

/// What the sub-agent does itself.
fn own(agent: &str, last: &Value) -> Vec<Value> {
    let line = |number: u32, kind: &str, message: Value| {
        json!({
            "uuid": format!("{agent}-own-{number}"),
            "parentUuid": (number > 1).then(|| format!("{agent}-own-{}", number - 1)),
            "type": kind, "agentId": agent, "isSidechain": true, "sessionId": last["sessionId"],
            "timestamp": last["timestamp"], "version": last["version"], "message": message,
        })
    };
    let answer = |number: u32, block: Value| {
        json!({
            "id": format!("msg_{agent}_{number}"), "role": "assistant", "model": "claude-opus-4-8", "content": [block],
            "usage": {"input_tokens": 3, "output_tokens": 4},
        })
    };
    let call = json!({"type": "tool_use", "id": format!("toolu_{agent}"), "name": "Bash", "input": {"command": "ls"}});
    let result =
        json!({"type": "tool_result", "tool_use_id": format!("toolu_{agent}"), "content": "seen"});
    vec![
        line(1, "user", json!({"role": "user", "content": "What is it?"})),
        line(2, "assistant", answer(2, call)),
        line(3, "user", json!({"role": "user", "content": [result]})),
        line(
            4,
            "assistant",
            answer(4, json!({"type": "text", "text": "It is done."})),
        ),
    ]
}

fn write(file: &Path, lines: impl Iterator<Item = Value>) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let text: String = lines
        .flat_map(|line| [line.to_string(), "\n".to_owned()])
        .collect();
    fs::write(file, text).unwrap();
}

#[test]
fn what_a_lane_repeats_of_the_main_one_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    copy(&fixtures::root().join("claude-code"), home.path());
    let is_session = |path: &PathBuf| {
        path.extension()
            .is_some_and(|extension| extension == "jsonl")
    };
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for session in fixtures::children(home.path())
        .into_iter()
        .filter(is_session)
    {
        let records = main_lane(&session);
        let Some(last) = records.last() else { continue };
        tried += 1;
        let plan = (
            select(&AGENTS[..]),
            any::<bool>(),
            any::<Index>(),
            any::<Index>(),
        );
        let config = ProptestConfig {
            failure_persistence: None,
            ..fixtures::cases(6)
        };
        let outcome = TestRunner::new(config).run(&plan, |(agent, is_renamed, one, other)| {
            let (one, other) = (one.index(records.len()), other.index(records.len()));
            let part = &records[one.min(other)..=one.max(other)];
            let file = session
                .with_extension("")
                .join(format!("subagents/agent-{agent}.jsonl"));
            let is_new = !file.parent().unwrap().exists();
            write(&file, own(agent, last).into_iter());
            let before = all_seen(&session);
            write(
                &file,
                repeated(part, agent, is_renamed)
                    .into_iter()
                    .chain(own(agent, last)),
            );
            let after = all_seen(&session);
            // With other ids a record behind the last answer is like one that the sub-agent was told itself.
            let is_told = is_renamed
                && part
                    .last()
                    .is_some_and(|record| record["type"] != "assistant");
            let changes = if is_told {
                changes_of_main(&before, &after)
            } else {
                changes(&before, &after)
            };
            fs::remove_file(&file).unwrap();
            if is_new {
                fs::remove_dir(file.parent().unwrap()).unwrap();
            }
            prop_assert!(
                changes.is_empty(),
                "{} of {}: {}",
                part.len(),
                records.len(),
                changes.join("\n")
            );
            Ok(())
        });
        wrong.extend(
            outcome
                .err()
                .map(|error| format!("{}: {error}", session.display())),
        );
    }
    assert!(tried > 5, "{tried} sessions");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
