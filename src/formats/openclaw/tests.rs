//! Tests of the detection and decoding of OpenClaw sessions.

use std::path::Path;

use super::Openclaw;
use crate::formats::decoder::{Format, RecordPlace, feed};
use crate::formats::json::{self, Json};
use crate::formats::pi::Pi;
use crate::formats::probe::{Confidence, Probe};
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Break, Entry, Role, Stop};
use crate::model::record::{FileId, Origin, Record};
use crate::model::text::Text;
use crate::model::transcript::Transcript;

const SESSION: &str = include_str!("../../../tests/fixtures/openclaw/gateway-session.jsonl");
const BROKEN: &str = include_str!("../../../tests/fixtures/openclaw/broken-chain.jsonl");
const MESSAGES: &str = include_str!("../../../tests/fixtures/openclaw/agent-messages.jsonl");
const TURNS: &str = include_str!("../../../tests/fixtures/openclaw/session-turns.jsonl");
const REWRITTEN: &str = include_str!("../../../tests/fixtures/openclaw/rewritten.jsonl");
const ANSWER: &str = include_str!("../../../tests/fixtures/openclaw/answer-events.jsonl");
const FRAMES: &str = include_str!("../../../tests/fixtures/openclaw/gateway-frames.jsonl");
const CHANNELS: &str = include_str!("../../../tests/fixtures/openclaw/channel-messages.jsonl");
const TRAJECTORY: &str = include_str!("../../../tests/fixtures/openclaw/run.trajectory.jsonl");
const PI: &str = include_str!("../../../tests/fixtures/pi/version-3.jsonl");

fn read(text: &str) -> Transcript {
    let mut decoder = Openclaw.decoder(None);
    let mut batch = Batch::default();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let len = u32::try_from(line.trim_end().len()).unwrap();
        let origin = Origin {
            file: FileId(0),
            at,
            len,
            line: 0,
        };
        feed(
            &mut *decoder,
            Record {
                origin,
                bytes: line.as_bytes(),
            },
            RecordPlace::Line,
            &mut batch,
        );
        at += line.len() as u64;
    }
    decoder.finish(&mut batch);
    let mut transcript = Transcript::new();
    transcript.apply(batch);
    transcript.update_derived();
    transcript
}

/// The confidence of OpenClaw and of pi in a file with these lines.
fn sniff(text: &str, path: &str) -> (Confidence, Confidence) {
    let lines: Vec<Json<'_>> = text
        .lines()
        .filter_map(|line| json::parse(line).ok())
        .collect();
    let probe = Probe {
        path: Path::new(path),
        text: None,
        children: &[],
        lines: &lines,
        header: None,
        elements: &[],
        is_document: false,
        is_whole: true,
    };
    (
        Openclaw.sniff(&probe).confidence,
        Pi.sniff(&probe).confidence,
    )
}

fn entry<'t>(transcript: &'t Transcript, key: &str) -> &'t Entry {
    transcript.get(transcript.find(key).unwrap()).unwrap()
}

fn states(transcript: &Transcript) -> Vec<&str> {
    transcript
        .entries()
        .flat_map(Entry::calls)
        .map(|call| call.state.word())
        .collect()
}

fn texts(transcript: &Transcript) -> Vec<(Role, &str)> {
    let each = transcript
        .entries()
        .flat_map(|entry| entry.blocks.iter().map(move |block| (entry.role, block)));
    each.filter_map(|(role, block)| match &block.kind {
        BlockKind::Text(body) => Some((role, body.stub.as_str())),
        _ => None,
    })
    .collect()
}

#[test]
fn failures_are_found_where_is_error_is_false() {
    let transcript = read(SESSION);
    assert_eq!(
        states(&transcript),
        ["failed", "done", "done", "done", "refused"]
    );
    let call = transcript.entries().flat_map(Entry::calls).next().unwrap();
    let result = call.state.result().unwrap();
    assert_eq!(
        (call.key.as_str(), result.facts.as_str(), result.duration_ms),
        ("call_1", "exit 3", Some(812))
    );
}

#[test]
fn prompts_read_clean_and_the_program_does_not_pass_for_a_person() {
    let transcript = read(SESSION);
    let said: Vec<_> = texts(&transcript)
        .into_iter()
        .filter(|(role, _)| *role == Role::User)
        .collect();
    assert_eq!(
        said,
        [
            (Role::User, "Is the door closed?"),
            (Role::User, "and now?")
        ]
    );
    assert_eq!(transcript.turns().len(), 2);
    for key in ["b000000f", "b0000010", "b0000012", "b0000013"] {
        assert_eq!(entry(&transcript, key).role, Role::Harness, "{key}");
    }
}

#[test]
fn mirrors_are_copies_that_cost_nothing_and_make_no_branch() {
    let transcript = read(SESSION);
    let mirror = entry(&transcript, "5d1e0000-aaaa-4bbb-8ccc-ddddeeeeffff");
    assert!(mirror.marks.copy && mirror.usage.is_none() && mirror.model.is_none());
    assert!(transcript.branches().abandoned.is_empty());
    assert_eq!(transcript.totals().sum().requests, 4);
}

#[test]
fn a_sub_agent_is_a_lane_of_the_call_that_started_it() {
    let transcript = read(SESSION);
    let lane = transcript.lane_of_call(&"call_3".into()).unwrap();
    assert_eq!(lane.name.as_str(), "agent:walker:subagent:0001");
}

#[test]
fn a_broken_chain_hides_nothing() {
    let transcript = read(BROKEN);
    assert!(transcript.branches().abandoned.is_empty());
    assert_eq!(states(&transcript), ["done", "pending"]);
    let call = transcript.entries().flat_map(Entry::calls).next().unwrap();
    assert_eq!(call.headline.as_str(), "exec ls reports");
    assert_eq!(
        call.state.result().unwrap().body.stub.as_str(),
        "may.md",
        "from details.aggregated"
    );
}

#[test]
fn turns_carry_call_and_result_beside_their_content() {
    let transcript = read(TURNS);
    assert_eq!(states(&transcript), ["done", "failed"]);
    let roles: Vec<Role> = transcript.entries().map(|entry| entry.role).collect();
    assert_eq!(
        roles,
        [
            Role::System,
            Role::User,
            Role::Assistant,
            Role::Assistant,
            Role::Assistant
        ]
    );
    assert_eq!(
        transcript.entries().next().unwrap().at.unwrap().0,
        1_234_567_800_000,
        "seconds"
    );
    let last = transcript.entries().last().unwrap();
    assert!(matches!(
        last.blocks[0].kind,
        BlockKind::Break(Break::Compaction { partial: false, .. })
    ));
}

#[test]
fn the_frames_of_an_answer_are_one_entry() {
    let transcript = read(FRAMES);
    assert_eq!(
        texts(&transcript),
        [(Role::User, "Hello!"), (Role::Assistant, "Hello, Ann!")]
    );
    let transcript = read(ANSWER);
    assert_eq!(
        texts(&transcript),
        [
            (Role::Assistant, "Good morning."),
            (Role::Assistant, "And then")
        ]
    );
}

#[test]
fn a_trajectory_is_shown_and_counts_nothing() {
    let transcript = read(TRAJECTORY);
    assert!(
        transcript
            .entries()
            .all(|entry| entry.role == Role::Harness)
    );
    assert_eq!(transcript.entries().count(), 5);
    assert_eq!(transcript.totals().sum().requests, 0);
}

#[test]
fn each_form_is_recognised() {
    for (text, sure) in [
        (SESSION, Confidence::Certain),
        (BROKEN, Confidence::Certain),
        (MESSAGES, Confidence::Likely),
        (TURNS, Confidence::Likely),
        (ANSWER, Confidence::Likely),
        (FRAMES, Confidence::Likely),
        (CHANNELS, Confidence::Likely),
        (TRAJECTORY, Confidence::Certain),
    ] {
        assert_eq!(
            sniff(text, "x.jsonl"),
            (sure, Confidence::No),
            "{}",
            text.lines().next().unwrap()
        );
    }
}

#[test]
fn pi_keeps_its_sessions_unless_the_path_says_otherwise() {
    assert_eq!(sniff(PI, "x.jsonl"), (Confidence::No, Confidence::Certain));
    let path = "/home/ann/.openclaw/agents/main/sessions/x.jsonl";
    assert_eq!(sniff(PI, path), (Confidence::Certain, Confidence::No));
    let header = PI.lines().next().unwrap();
    assert_eq!(
        sniff(header, "x.jsonl"),
        (Confidence::NeedMore, Confidence::Certain)
    );
}

#[test]
fn chat_lines_of_others_are_not_taken() {
    for text in [
        r#"{"role":"user","content":"hi"}"#,
        r#"{"role":"tool","tool_call_id":"1","content":"x"}"#,
        r#"{"role":"user","message":{"content":"hi"}}"#,
        r#"{"type":"user","message":{"role":"user","content":"hi"},"uuid":"1","parentUuid":null}"#,
        r#"{"text":"hi"}"#,
        "{}",
    ] {
        assert_eq!(
            sniff(text, "x.jsonl"),
            (Confidence::No, Confidence::No),
            "{text}"
        );
    }
}

#[test]
fn the_end_of_a_run_says_why_it_ended() {
    let event = |event: &str, payload: &str| {
        format!(
            "{{\"type\":\"event\",\"event\":\"{event}\",\"payload\":{{\"runId\":\"r\",{payload}}}}}\n"
        )
    };
    let said = event("agent", r#""stream":"assistant","data":{"text":"It is"}"#);
    let ends = [
        (
            event(
                "chat",
                r#""state":"final","message":{"role":"assistant","content":"It is."}"#,
            ),
            Stop::Done,
        ),
        (
            event("agent", r#""stream":"lifecycle","data":{"phase":"end"}"#),
            Stop::Done,
        ),
        (
            event(
                "chat",
                r#""state":"aborted","message":{"role":"assistant","content":"It"}"#,
            ),
            Stop::Other,
        ),
        (String::new(), Stop::Unrecorded),
    ];
    for (end, stop) in ends {
        let transcript = read(&format!("{said}{end}"));
        let run = entry(&transcript, "run r");
        assert_eq!(
            (run.stop, run.marks.open),
            (stop, stop == Stop::Unrecorded),
            "{end}"
        );
    }
}

#[test]
fn a_history_that_was_written_again_counts_once() {
    let transcript = read(REWRITTEN);
    let sum = transcript.totals().sum();
    assert_eq!((sum.requests, sum.output.total), (4, 75));
    assert_eq!(
        (transcript.turns().len(), transcript.tally().merged),
        (3, 7)
    );
    assert_eq!(states(&transcript), ["done"]);
    assert!(
        transcript.branches().list.is_empty(),
        "the new lines go on with the first reading"
    );
    // The same text at another time is another message.
    let later = REWRITTEN.replacen("1780400063000", "1780400063001", 1);
    assert_eq!(read(&later).totals().sum().requests, 5);
}

#[test]
fn a_history_that_was_written_again_twice_with_what_stands_between_is_no_branch() {
    let transcript = read(include_str!(
        "../../../tests/fixtures/openclaw/rewritten-twice.jsonl"
    ));
    assert!(
        transcript.branches().list.is_empty(),
        "{:?}",
        transcript.branches().list
    );
    let sum = transcript.totals().sum();
    assert_eq!(
        (transcript.turns().len(), sum.requests, sum.output.total),
        (4, 8, 220)
    );
    assert_eq!(states(&transcript), ["done"; 4]);
    let compactions = transcript.entries().flat_map(|entry| &entry.blocks);
    let is_one = |kind: &BlockKind| matches!(kind, BlockKind::Break(Break::Compaction { .. }));
    assert_eq!(compactions.filter(|block| is_one(&block.kind)).count(), 1);
}

#[test]
fn what_wakes_the_model_is_no_prompt() {
    let transcript = read(include_str!("../../../tests/fixtures/openclaw/wakes.jsonl"));
    let prompts: Vec<_> = transcript
        .entries()
        .filter(|entry| entry.marks.prompt)
        .collect();
    assert_eq!((prompts.len(), transcript.turns().len()), (3, 3));
    assert!(prompts.iter().all(|entry| entry.from.is_none()));
    let kinds: Vec<_> = transcript
        .entries()
        .filter_map(|entry| entry.from.as_deref())
        .map(|from| from.kind.word())
        .collect();
    let expected = [
        "schedule", "task", "schedule", "runtime", "schedule", "schedule", "task", "task", "task",
        "handback", "peer",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(
        transcript.meta().title().map(Text::as_str),
        Some("Walk around the house.")
    );
}

/// An answer, its delivered copy, and a tool that reports its failure only in its output.
#[test]
fn a_delivered_copy_is_folded_and_a_failure_in_the_output_is_one() {
    let line = |id: &str, message: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","timestamp":"2026-11-20T10:00:0{id}.000Z","message":{message}}}"#
        )
    };
    let said = |model: &str, provider: &str, text: &str| {
        format!(
            r#"{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}],"provider":"{provider}","model":"{model}","stopReason":"stop"}}"#
        )
    };
    let result = r#"{"role":"toolResult","toolCallId":"c","toolName":"web_fetch","content":[{"type":"text","text":"{\"status\":\"error\",\"tool\":\"web_fetch\",\"error\":\"404\"}"}],"isError":false}"#;
    let ask = r#"{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"web_fetch","arguments":{"url":"http://x"}}],"provider":"anthropic","model":"m","stopReason":"toolUse"}"#;
    let text = [
        line("1", &said("m", "anthropic", "Hola!")),
        line("2", &said("delivery-mirror", "openclaw", "Hola!")),
        line("3", &said("delivery-mirror", "openclaw", "Another text.")),
        line("4", ask),
        line("5", result),
    ];
    let transcript = read(&(text.join("\n") + "\n"));
    let marks = ["1", "2", "3"].map(|key| {
        (
            entry(&transcript, key).marks.copy,
            entry(&transcript, key).marks.quiet,
        )
    });
    assert_eq!(marks, [(false, false), (true, true), (true, false)]);
    let states: Vec<_> = transcript
        .entries()
        .flat_map(Entry::calls)
        .map(|call| call.state.word())
        .collect();
    assert_eq!(states, ["failed"]);
}
