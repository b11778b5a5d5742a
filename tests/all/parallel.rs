//! Tests of parallel calls: in whatever order they end, each output is shown under its own call,
//! and each duration is measured between the two records of the call.
//!
//! The sessions are generated: turns with many calls of one tool in one message, with ids that
//! repeat from turn to turn, results in any order, some of them missing, the file read at once or
//! while it grows.

use std::collections::HashMap;

use proptest::prelude::{Strategy, any, proptest};
use serde_json::{Value, json};
use tv::formats::named;
use tv::model::edit::Batch;
use tv::model::entry::BlockKind;
use tv::model::record::{FileId, Origin, Record};
use tv::model::timestamp::Timestamp;
use tv::model::tool::{Clocked, ToolCall};
use tv::model::transcript::Transcript;

use crate::fixtures;

/// Calls of a turn.
const CALLS: usize = 50;
/// When the session begins, in ms since 1970.
const BEGIN: i64 = 1_780_315_200_000;

/// A turn: for each call in the order in which they end, which it is and how many ms pass before its result;
/// calls that are not named have none.
type Turn = Vec<(usize, i64)>;

/// What a session must show.
#[derive(Debug, Default)]
struct Truth {
    /// The record of each call's result, ms from call to result, by what the call asked.
    by_question: HashMap<String, Option<i64>>,
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let order = proptest::sample::subsequence((0..CALLS).collect::<Vec<_>>(), CALLS - 5..=CALLS);
    let turn = (
        order.prop_shuffle(),
        proptest::collection::vec(1_i64..5_000, CALLS),
    )
        .prop_map(|(order, waits)| order.into_iter().zip(waits).collect::<Turn>());
    proptest::collection::vec(turn, 1..5)
}

/// How an agent writes calls and results.
trait Hand {
    fn format(&self) -> &'static str;
    fn open(&self) -> Vec<Value>;
    fn prompt(&mut self, at: i64, text: &str) -> Vec<Value>;
    fn calls(&mut self, at: i64, calls: &[(String, String)]) -> Vec<Value>;
    fn result(&mut self, at: i64, id: &str, text: &str) -> Vec<Value>;
}

fn stamp(at: i64) -> String {
    Timestamp(at).to_rfc3339()
}

/// A line for each call, all of one message.
#[derive(Default)]
struct Claude {
    written: usize,
}

impl Claude {
    fn line(&mut self, at: i64, kind: &str, message: &Value) -> Value {
        self.written += 1;
        json!({"parentUuid": (self.written > 1).then(|| format!("u{}", self.written - 1)), "isSidechain": false,
            "userType": "external", "cwd": "/work", "sessionId": "s1", "version": "2.1.140", "type": kind,
            "message": message, "uuid": format!("u{}", self.written), "timestamp": stamp(at)})
    }
}

impl Hand for Claude {
    fn format(&self) -> &'static str {
        "claude-code"
    }

    fn open(&self) -> Vec<Value> {
        Vec::new()
    }

    fn prompt(&mut self, at: i64, text: &str) -> Vec<Value> {
        vec![self.line(at, "user", &json!({"role": "user", "content": text}))]
    }

    fn calls(&mut self, at: i64, calls: &[(String, String)]) -> Vec<Value> {
        let id = format!("msg_{}", self.written);
        let message = |(call, command): &(String, String)| {
            let block = json!({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}});
            json!({"id": id, "type": "message", "role": "assistant", "model": "claude-opus-4-6",
                "content": [block], "stop_reason": "tool_use", "usage": {"input_tokens": 3, "output_tokens": 9}})
        };
        calls
            .iter()
            .map(|call| self.line(at, "assistant", &message(call)))
            .collect()
    }

    fn result(&mut self, at: i64, id: &str, text: &str) -> Vec<Value> {
        let block =
            json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": false});
        vec![self.line(at, "user", &json!({"role": "user", "content": [block]}))]
    }
}

/// One record for all calls.
#[derive(Default)]
struct Pi {
    written: usize,
}

impl Pi {
    fn line(&mut self, at: i64, message: &Value) -> Value {
        self.written += 1;
        json!({"type": "message", "id": format!("e{}", self.written),
            "parentId": (self.written > 1).then(|| format!("e{}", self.written - 1)),
            "timestamp": stamp(at), "message": message})
    }
}

impl Hand for Pi {
    fn format(&self) -> &'static str {
        "pi"
    }

    fn open(&self) -> Vec<Value> {
        vec![
            json!({"type": "session", "version": 3, "id": "s1", "timestamp": stamp(BEGIN), "cwd": "/work"}),
        ]
    }

    fn prompt(&mut self, at: i64, text: &str) -> Vec<Value> {
        let message =
            json!({"role": "user", "content": [{"type": "text", "text": text}], "timestamp": at});
        vec![self.line(at, &message)]
    }

    fn calls(&mut self, at: i64, calls: &[(String, String)]) -> Vec<Value> {
        let block = |(id, command): &(String, String)| json!({"type": "toolCall", "id": id, "name": "bash", "arguments": {"command": command}});
        let content: Vec<Value> = calls.iter().map(block).collect();
        let message = json!({"role": "assistant", "content": content, "api": "anthropic-messages",
            "provider": "anthropic", "model": "claude-opus-4-7", "stopReason": "toolUse", "timestamp": at,
            "usage": {"input": 3, "output": 9, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 12}});
        vec![self.line(at, &message)]
    }

    fn result(&mut self, at: i64, id: &str, text: &str) -> Vec<Value> {
        let message = json!({"role": "toolResult", "toolCallId": id, "toolName": "bash",
            "content": [{"type": "text", "text": text}], "isError": false, "timestamp": at});
        vec![self.line(at, &message)]
    }
}

/// Writes a session, and what it must show.
fn write(turns: &[Turn], hand: &mut dyn Hand) -> (Vec<String>, Truth) {
    let mut records = hand.open();
    let mut truth = Truth::default();
    let mut now = BEGIN;
    for (number, turn) in turns.iter().enumerate() {
        now += 1_000;
        records.extend(hand.prompt(now, &format!("turn {number}")));
        now += 1_000;
        let said = now;
        // The same ids in each turn.
        let calls: Vec<(String, String)> = (0..CALLS)
            .map(|call| (format!("call_{call}"), format!("turn {number} call {call}")))
            .collect();
        records.extend(hand.calls(said, &calls));
        truth
            .by_question
            .extend(calls.iter().map(|(_, question)| (question.clone(), None)));
        for (call, wait) in turn {
            now += wait;
            let question = format!("turn {number} call {call}");
            records.extend(hand.result(
                now,
                &format!("call_{call}"),
                &format!("answer to {question}"),
            ));
            truth.by_question.insert(question, Some(now - said));
        }
    }
    (records.iter().map(Value::to_string).collect(), truth)
}

/// Reads lines as the file grew: in parts that end at these lines.
fn read(lines: &[String], format: &str, cuts: &[usize]) -> Transcript {
    let format = named(format).unwrap();
    let mut decoder = format.decoder(None);
    let mut at = 0;
    let origins = lines.iter().enumerate().map(|(number, line)| {
        let len = u32::try_from(line.len()).unwrap();
        let origin = Origin {
            file: FileId(0),
            at,
            len,
            line: u32::try_from(number + 1).unwrap(),
        };
        at += u64::from(len) + 1;
        origin
    });
    let origins: Vec<Origin> = origins.collect();
    let records: Vec<Record<'_>> = lines
        .iter()
        .zip(origins)
        .map(|(line, origin)| Record {
            origin,
            bytes: line.as_bytes(),
        })
        .collect();
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (records.len() + 1)).collect();
    cuts.push(records.len());
    cuts.sort_unstable();
    let mut batches: Vec<Batch> = Vec::new();
    let mut from = 0;
    for cut in cuts {
        let before = batches.last().cloned().unwrap_or_default();
        batches.push(fixtures::decode(
            &mut *decoder,
            &records[from..cut],
            &before,
        ));
        from = cut;
    }
    fixtures::transcript_of(batches)
}

fn calls(transcript: &Transcript) -> Vec<(Option<Timestamp>, &ToolCall)> {
    let entries = transcript
        .order()
        .iter()
        .filter_map(|id| transcript.get(*id));
    let blocks = entries.flat_map(|entry| entry.blocks.iter().map(|block| (entry.at, &block.kind)));
    blocks
        .filter_map(|(at, kind)| {
            if let BlockKind::Call(call) = kind {
                Some((at, &**call))
            } else {
                None
            }
        })
        .collect()
}

fn assert_paired(transcript: &Transcript, truth: &Truth) {
    let calls = calls(transcript);
    assert_eq!(calls.len(), truth.by_question.len(), "every call once");
    for (said, call) in calls {
        let question = call.headline.to_string();
        let expected = truth.by_question[&question];
        let answer = call
            .state
            .result()
            .map(|result| result.body.stub.to_string());
        assert_eq!(
            answer,
            expected.map(|_| format!("answer to {question}")),
            "{question}"
        );
        let took = call.duration(said);
        assert_eq!(
            took.map(|took| i64::try_from(took.ms).unwrap()),
            expected,
            "{question}"
        );
        assert!(
            took.is_none_or(|took| took.by != Clocked::Measured),
            "{question}: nobody measured it"
        );
    }
    let stray = |entry: &&tv::model::entry::Entry| {
        entry
            .blocks
            .iter()
            .any(|block| matches!(block.kind, BlockKind::Result(_)))
    };
    let strays = transcript
        .order()
        .iter()
        .filter_map(|id| transcript.get(*id))
        .filter(stray)
        .count();
    assert_eq!(strays, 0, "no result stands by itself");
}

proptest! {
    #![proptest_config(fixtures::cases(64))]

    #[test]
    fn every_output_stands_under_its_own_call(
        turns in turns(),
        is_pi in any::<bool>(),
        cuts in proptest::collection::vec(any::<usize>(), 0..6),
    ) {
        let mut hand: Box<dyn Hand> = if is_pi { Box::new(Pi::default()) } else { Box::new(Claude::default()) };
        let (lines, truth) = write(&turns, &mut *hand);
        assert_paired(&read(&lines, hand.format(), &cuts), &truth);
    }
}
