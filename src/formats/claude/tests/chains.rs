//! Sub-agents of versions that store their lines in the session's file without an id.

use serde_json::{Value, json};

use super::read;
use crate::model::entry::Entry;
use crate::model::text::Text;
use crate::model::tool::ToolState;
use crate::model::transcript::Transcript;

fn line(
    id: &str,
    parent: Option<&str>,
    is_sidechain: bool,
    (role, content): (&str, Value),
) -> String {
    let message = json!({"role": role, "content": content, "model": "claude-3-7-sonnet", "id": format!("m{id}"),
        "usage": {"input_tokens": 10, "output_tokens": 5}});
    json!({"type": role, "uuid": id, "parentUuid": parent, "isSidechain": is_sidechain, "sessionId": "s",
        "version": "1.0.30", "cwd": "/w", "timestamp": "2025-06-01T10:00:00.000Z", "message": message})
    .to_string()
}

fn task(id: &str, prompt: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Task", "input": {"description": id, "prompt": prompt}})
}

fn lanes(transcript: &Transcript) -> Vec<(Option<&str>, usize)> {
    let lanes = transcript.lanes().iter();
    lanes
        .map(|lane| (lane.call.as_ref().map(Text::as_str), lane.entries.len()))
        .collect()
}

/// Two concurrent sub-agents with these prompts.
fn both(first: &str, second: &str) -> Transcript {
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let result =
        |call: &str| json!([{"type": "tool_result", "tool_use_id": call, "content": "done"}]);
    let lines = [
        line("u1", None, false, ("user", json!("go"))),
        line(
            "u2",
            Some("u1"),
            false,
            ("assistant", json!([task("a1", first), task("a2", second)])),
        ),
        line("first-chain", None, true, ("user", json!(first))),
        line("second-chain", None, true, ("user", text(second))),
        line("f2", Some("first-chain"), true, ("assistant", text("one"))),
        line("s2", Some("second-chain"), true, ("assistant", text("two"))),
        line("s3", Some("s2"), true, ("user", json!("more"))),
        line("u3", Some("u2"), false, ("user", result("a1"))),
        line("u4", Some("u3"), false, ("user", result("a2"))),
    ];
    read(&lines.join("\n"))
}

#[test]
fn each_chain_is_the_lane_of_the_call_that_it_answers() {
    for (first, second) in [("do A", "do B"), ("do it", "do it")] {
        let transcript = both(first, second);
        assert_eq!(
            lanes(&transcript),
            [(Some("a1"), 2), (Some("a2"), 3)],
            "{first}, {second}"
        );
    }
}

#[test]
fn a_chain_without_a_call_or_a_beginning_is_a_lane_all_the_same() {
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let lines = [
        line("u1", None, false, ("user", json!("go"))),
        line("x1", None, true, ("user", json!("do A"))),
        line("x2", Some("x1"), true, ("assistant", text("one"))),
        line("y2", Some("y1"), true, ("assistant", text("of another"))),
    ];
    let transcript = read(&lines.join("\n"));
    assert_eq!(lanes(&transcript), [(None, 2), (None, 1)]);
}

#[test]
fn a_tool_that_was_stopped_was_not_refused() {
    let stopped = json!([{"type": "tool_result", "tool_use_id": "a1", "is_error": true,
        "content": "[Request interrupted by user for tool use]"}]);
    let lines = [
        line("u1", None, false, ("user", json!("go"))),
        line(
            "u2",
            Some("u1"),
            false,
            ("assistant", json!([task("a1", "do A")])),
        ),
        line("u3", Some("u2"), false, ("user", stopped)),
    ];
    let transcript = read(&lines.join("\n"));
    let call = transcript.entries().flat_map(Entry::calls).next().unwrap();
    assert!(
        matches!(&call.state, ToolState::Stopped(result) if result.facts.as_str() == "interrupted")
    );
}
