//! Tests of records of Kimi CLI that depend on each other.

use super::KimiCli;
use crate::formats::decoder::RecordPlace;
use crate::formats::fed;
use crate::model::change;
use crate::model::entry::{BlockKind, Break, Entry};
use crate::model::text::Text;
use crate::model::tool::{ToolCall, ToolKind, ToolState};
use crate::model::transcript::Transcript;

fn transcript(records: &[(&str, &str)]) -> Transcript {
    fed::transcript(&KimiCli, &[(RecordPlace::Line, &lines(records))])
}

fn lines(records: &[(&str, &str)]) -> Vec<String> {
    let line = |(kind, payload): &(&str, &str)| {
        format!(r#"{{"timestamp":1790000000.5,"message":{{"type":"{kind}","payload":{payload}}}}}"#)
    };
    records.iter().map(line).collect()
}

const CALL: (&str, &str) = (
    "ToolCall",
    r#"{"type":"function","id":"a","function":{"name":"Shell","arguments":"{\"command\": \"ec"}}"#,
);

fn command(call: &ToolCall) -> Option<&str> {
    call.input
        .tree()?
        .get("command")?
        .as_text()
        .map(Text::as_str)
}

#[test]
fn streamed_arguments_are_what_they_are_in_one_piece() {
    let whole = r#"{"type":"function","id":"b","function":{"name":"StrReplaceFile","arguments":"{\"path\": \"a.rs\", \"edit\": {\"old\": \"x\", \"new\": \"y\"}}"}}"#;
    let begun = whole.replace(r#", \"edit\": {\"old\": \"x\", \"new\": \"y\"}}"#, "");
    let part = r#"{"arguments_part":", \"edit\": {\"old\": \"x\", \"new\": \"y\"}}"}"#;
    assert_ne!(begun, whole);
    let call = |records: &[(&str, &str)]| {
        transcript(records)
            .entries()
            .flat_map(Entry::calls)
            .next()
            .cloned()
    };
    let (one, pieces) = (
        call(&[("ToolCall", whole)]),
        call(&[("ToolCall", &begun), ("ToolCallPart", part)]),
    );
    let pieces = pieces.unwrap();
    assert_eq!(pieces, one.unwrap());
    assert_eq!(pieces.kind, ToolKind::Edit);
    assert_eq!(
        change::of_call(&pieces).map(|lines| change::counts(&lines)),
        Some((1, 1))
    );
}

#[test]
fn streamed_arguments_are_put_together() {
    let parts = [
        ("ToolCallPart", r#"{"arguments_part":"ho mi"}"#),
        ("ToolCallPart", r#"{"arguments_part":"ll\"}"}"#),
    ];
    let whole = transcript(&[CALL, parts[0], parts[1]]);
    let call = whole.entries().flat_map(Entry::calls).next().unwrap();
    assert_eq!(call.headline.as_str(), "echo mill");
    assert_eq!(command(call), Some("echo mill"));
    assert!(!call.input.flags.broken_off);
    let cut = transcript(&[CALL, parts[0], ("StepInterrupted", "{}")]);
    let call = cut.entries().flat_map(Entry::calls).next().unwrap();
    assert!(call.input.flags.broken_off);
    assert_eq!(call.state, ToolState::Lost);
}

#[test]
fn where_reading_paused_changes_nothing() {
    let result = (
        "ToolResult",
        r#"{"tool_call_id":"a","return_value":{"is_error":false,"output":"mill"}}"#,
    );
    let lines = lines(&[
        CALL,
        ("ToolCallPart", r#"{"arguments_part":"ho mill\"}"}"#),
        result,
    ]);
    let whole = fed::transcript(&KimiCli, &[(RecordPlace::Line, &lines)]);
    for cut in 0..=lines.len() {
        let (head, rest) = lines.split_at(cut);
        let parts = fed::in_portions(&KimiCli, &[(RecordPlace::Line, vec![head, rest])]);
        assert!(parts.entries().eq(whole.entries()), "cut before line {cut}");
    }
}

#[test]
fn other_events_stand_between_the_parts_of_arguments() {
    let part = |text: &str| format!(r#"{{"arguments_part":{text}}}"#);
    let (first, last) = (part(r#""ho mi""#), part(r#""ll\"}""#));
    let (first, last) = (
        ("ToolCallPart", first.as_str()),
        ("ToolCallPart", last.as_str()),
    );
    let result = (
        "ToolResult",
        r#"{"tool_call_id":"b","return_value":{"is_error":false,"output":"of another"}}"#,
    );
    let ask = (
        "ApprovalRequest",
        r#"{"id":"p1","tool_call_id":"b","description":"Run `rm`"}"#,
    );
    let inner = r#"{"task_tool_call_id":"t","event":{"type":"ContentPart","payload":{"type":"text","text":"two"}}}"#;
    for between in [
        result,
        ask,
        ("SubagentEvent", inner),
        ("StatusUpdate", "{}"),
    ] {
        let whole = transcript(&[CALL, first, between, last]);
        let call = whole.entries().flat_map(Entry::calls).next().unwrap();
        assert_eq!(command(call), Some("echo mill"), "{between:?}");
    }
    let late = transcript(&[CALL, first, ("StepBegin", "{}"), last]);
    let shown = late.entries().flat_map(|entry| &entry.blocks);
    let shown = shown
        .filter(|block| matches!(&block.kind, BlockKind::Raw(raw) if raw.body.stub.contains("ll")));
    assert_eq!(shown.count(), 1, "a part of no call is shown");
}

#[test]
fn a_permission_waits_until_it_is_answered() {
    let ask = (
        "ApprovalRequest",
        r#"{"id":"p1","tool_call_id":"a","description":"Run `rm`"}"#,
    );
    let answer = (
        "ApprovalResponse",
        r#"{"request_id":"p1","response":"approve"}"#,
    );
    let question = (
        "QuestionRequest",
        r#"{"id":"q1","tool_call_id":"a","questions":[{"question":"Which?"}]}"#,
    );
    let result = (
        "ToolResult",
        r#"{"tool_call_id":"a","return_value":{"is_error":false,"output":"this one"}}"#,
    );
    let waits = |transcript: &Transcript| {
        let is_waiting = |entry: &Entry| {
            matches!(
                entry.blocks.first().map(|block| &block.kind),
                Some(BlockKind::Break(Break::Waiting(_)))
            )
        };
        transcript
            .entries()
            .filter(|entry| is_waiting(entry))
            .count()
    };
    assert_eq!(waits(&transcript(&[CALL, ask])), 1);
    assert_eq!(waits(&transcript(&[CALL, ask, answer])), 0);
    assert_eq!(waits(&transcript(&[CALL, question])), 1);
    assert_eq!(waits(&transcript(&[CALL, question, result])), 0);
    assert_eq!(
        waits(&transcript(&[CALL, question, ("StepInterrupted", "{}")])),
        0
    );
}

#[test]
fn sub_agents_inside_are_lanes_with_their_own_usage() {
    let inner = |kind: &str, payload: &str| {
        format!(r#"{{"task_tool_call_id":"a","event":{{"type":"{kind}","payload":{payload}}}}}"#)
    };
    let text = inner("ContentPart", r#"{"type":"text","text":"two"}"#);
    let spent = inner(
        "StatusUpdate",
        r#"{"token_usage":{"input_other":5,"output":1},"message_id":"m"}"#,
    );
    let records = [
        CALL,
        ("SubagentEvent", &text),
        ("SubagentEvent", &spent),
        ("SubagentEvent", &spent),
    ];
    let transcript = transcript(&records);
    let lanes: Vec<_> = transcript
        .lanes()
        .iter()
        .map(|lane| lane.call.clone())
        .collect();
    assert_eq!(lanes, [Some("a".into())]);
    let usage: Vec<u64> = transcript
        .entries()
        .filter_map(|entry| Some(entry.usage.as_ref()?.total()))
        .collect();
    assert_eq!(usage, [6], "a repeated message counts once");
}
