use std::path::Path;

use super::ClaudeStream;
use crate::formats::decoder::{Decoder, Format, RecordPlace, feed};
use crate::formats::json::{self, Json};
use crate::formats::probe::{Confidence, Probe};
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Break, Entry};
use crate::model::record::{FileId, Origin, Record};
use crate::model::transcript::Transcript;

const RUN: &str = include_str!("../../../tests/fixtures/claude-stream-json/run.jsonl");
const BARE: &str = include_str!("../../../tests/fixtures/claude-stream-json/bare.ndjson");
const TURNS: &str = include_str!("../../../tests/fixtures/claude-stream-json/turns.jsonl");
const ARRAY: &str = include_str!("../../../tests/fixtures/claude-stream-json/array.json");

/// Feeds lines as one batch; `first` is the index of the first line.
fn reading(
    decoder: &mut dyn Decoder,
    first: usize,
    lines: &[&str],
    place: RecordPlace<'_>,
) -> Batch {
    let mut out = Batch::default();
    for (number, line) in lines.iter().enumerate() {
        let number = u32::try_from(first + number).unwrap();
        let len = u32::try_from(line.len()).unwrap();
        let origin = Origin {
            file: FileId(0),
            at: u64::from(number) * 10_000,
            len,
            line: number + 1,
        };
        feed(
            decoder,
            Record {
                origin,
                bytes: line.as_bytes(),
            },
            place,
            &mut out,
        );
    }
    decoder.finish(&mut out);
    out
}

fn transcript_of(batches: impl IntoIterator<Item = Batch>) -> Transcript {
    let mut transcript = Transcript::new();
    for batch in batches {
        transcript.apply(batch);
    }
    transcript.update_derived();
    transcript
}

fn read(text: &str) -> Transcript {
    let lines: Vec<&str> = text.lines().collect();
    transcript_of([reading(
        &mut *ClaudeStream.decoder(None),
        0,
        &lines,
        RecordPlace::Line,
    )])
}

fn entry<'t>(transcript: &'t Transcript, key: &str) -> &'t Entry {
    transcript.get(transcript.find(key).unwrap()).unwrap()
}

fn timeless(transcript: &Transcript) -> Vec<Entry> {
    transcript
        .entries()
        .map(|entry| Entry {
            revision: 0,
            ..entry.clone()
        })
        .collect()
}

#[test]
fn partial_messages_grow_until_their_full_lines_come() {
    let lines: Vec<&str> = RUN.lines().collect();
    let upto = |mark: &str| lines.iter().position(|line| line.contains(mark)).unwrap() + 1;
    let mut decoder = ClaudeStream.decoder(None);
    let mut transcript = Transcript::new();

    let half = upto("lines of the list.");
    transcript.apply(reading(&mut *decoder, 0, &lines[..half], RecordPlace::Line));
    let open = entry(&transcript, "msg_0sAAAA");
    assert!(open.marks.open);
    let BlockKind::Thinking(body) = &open.blocks[0].kind else {
        panic!("thinking first")
    };
    assert_eq!(
        body.text().unwrap().as_str(),
        "Count the lines of the list."
    );
    let id = transcript.find("msg_0sAAAA");

    let call = upto("stations.csv\\\"}");
    transcript.apply(reading(
        &mut *decoder,
        half,
        &lines[half..call],
        RecordPlace::Line,
    ));
    let open = entry(&transcript, "msg_0sAAAA");
    assert_eq!(open.blocks.len(), 2);
    assert!(open.marks.open && matches!(&open.blocks[1].kind, BlockKind::Raw(_)));

    transcript.apply(reading(
        &mut *decoder,
        call,
        &lines[call..],
        RecordPlace::Line,
    ));
    let full = entry(&transcript, "msg_0sAAAA");
    assert_eq!(transcript.find("msg_0sAAAA"), id);
    assert_eq!(
        (full.blocks.len(), full.calls().count(), full.marks.open),
        (2, 1, false)
    );
}

#[test]
fn any_portions_make_the_same_transcript() {
    let lines: Vec<&str> = RUN.lines().collect();
    let whole = read(RUN);
    for cut in 1..lines.len() {
        let mut decoder = ClaudeStream.decoder(None);
        let first = reading(&mut *decoder, 0, &lines[..cut], RecordPlace::Line);
        let rest = reading(&mut *decoder, cut, &lines[cut..], RecordPlace::Line);
        let parts = transcript_of([first, rest]);
        assert_eq!(timeless(&parts), timeless(&whole), "cut after line {cut}");
        assert_eq!(parts.totals().sum(), whole.totals().sum());
    }
}

#[test]
fn a_killed_run_keeps_what_was_said() {
    let lines: Vec<&str> = RUN.lines().collect();
    let end = lines
        .iter()
        .position(|line| line.contains("lines of the list."))
        .unwrap()
        + 1;
    let transcript = read(&lines[..end].join("\n"));
    assert!(entry(&transcript, "msg_0sAAAA").marks.open);
    assert_eq!(transcript.meta().live, Some(true));
}

#[test]
fn a_run_knows_best_what_it_spent() {
    let transcript = read(RUN);
    let sum = transcript.totals().sum();
    assert_eq!(
        (sum.input.value(), sum.output.value()),
        (Some(18), Some(170))
    );
    assert_eq!(
        (sum.cache_read.value(), sum.cache_write.value()),
        (Some(4020), Some(210))
    );
    assert_eq!(sum.requests, 5);
    assert!((transcript.totals().run_cost().unwrap() - 0.031_915).abs() < 1e-9);
    assert_eq!(transcript.meta().window, Some(200_000));
    assert_eq!(transcript.meta().live, Some(false));
}

#[test]
fn without_requests_the_result_gives_the_usage() {
    let text = "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}}\n\
                {\"type\":\"result\",\"subtype\":\"success\",\"result\":\"bye\",\
                \"usage\":{\"input_tokens\":45,\"output_tokens\":28}}";
    let transcript = read(text);
    let sum = transcript.totals().sum();
    assert_eq!(
        (sum.input.value(), sum.cache_read.value(), sum.requests),
        (Some(45), None, 0)
    );
    assert_eq!(transcript.totals().run_cost(), None);
    let answer = transcript.entries().last().unwrap();
    assert!(
        !answer.marks.copy,
        "a result that says something else is shown"
    );
}

#[test]
fn a_sub_agent_is_a_lane_of_its_call() {
    let transcript = read(RUN);
    let [lane] = transcript.lanes() else {
        panic!("one lane")
    };
    assert_eq!(
        (lane.name.as_str(), lane.label.as_str()),
        ("toolu_0sTask", "Find doubles")
    );
    assert_eq!(lane.call.as_deref(), Some("toolu_0sTask"));
    assert_eq!((lane.entries.len(), transcript.turns().len()), (3, 1));
}

#[test]
fn messages_without_ids_and_flat_control_messages_are_read() {
    let transcript = read(BARE);
    let calls: Vec<&str> = transcript
        .entries()
        .flat_map(Entry::calls)
        .map(|call| call.state.word())
        .collect();
    assert_eq!(calls, ["failed"]);
    let breaks = transcript
        .entries()
        .flat_map(|entry| &entry.blocks)
        .filter_map(|block| match &block.kind {
            BlockKind::Break(what) => Some(what),
            _ => None,
        });
    let waiting = breaks
        .filter(|what| matches!(what, Break::Waiting(_)))
        .count();
    assert_eq!(waiting, 1, "one was answered");
    assert!(transcript.tally().unknown.is_empty());
}

#[test]
fn an_array_reads_as_the_lines_do() {
    let document = json::parse(ARRAY).unwrap();
    let lines: Vec<String> = document.items().iter().map(Json::to_source).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let as_elements = transcript_of([reading(
        &mut *ClaudeStream.decoder(None),
        0,
        &lines,
        RecordPlace::Element,
    )]);
    let as_lines = transcript_of([reading(
        &mut *ClaudeStream.decoder(None),
        0,
        &lines,
        RecordPlace::Line,
    )]);
    assert_eq!(timeless(&as_elements), timeless(&as_lines));
    assert_eq!(as_elements.totals().run_cost(), Some(0.0021));
}

fn settings(transcript: &Transcript) -> Vec<&str> {
    let blocks = transcript.entries().flat_map(|entry| &entry.blocks);
    let settings = blocks.filter_map(|block| match &block.kind {
        BlockKind::Break(Break::Setting(words)) => Some(words.as_str()),
        _ => None,
    });
    settings.collect()
}

#[test]
fn a_process_that_serves_several_turns_is_counted_once() {
    let transcript = read(TURNS);
    let sum = transcript.totals().sum();
    // Both turns of the first process, and the second process.
    assert_eq!(
        (sum.input.value(), sum.output.value()),
        (Some(24 + 9), Some(70 + 20))
    );
    assert!((transcript.totals().run_cost().unwrap() - 0.038).abs() < 1e-9);
}

#[test]
fn what_a_run_without_an_end_spends_comes_on_top_of_those_that_ended() {
    let open = r#"{"type":"assistant","message":{"id":"msg_0sOPEN","model":"claude-sonnet-4-5","content":[{"type":"text","text":"On it."}],"usage":{"input_tokens":1000,"output_tokens":50}}}"#;
    let ended = read(TURNS);
    let transcript = read(&format!("{}\n{open}\n{open}", TURNS.trim_end()));
    let (before, now) = (ended.totals().sum(), transcript.totals().sum());
    assert_eq!(
        (
            now.input.total - before.input.total,
            now.output.total - before.output.total
        ),
        (1000, 50)
    );
    assert_eq!(transcript.totals().run_cost(), ended.totals().run_cost());
    assert!(ended.totals().is_covered() && !transcript.totals().is_covered());
    // With a result it is a run like the others.
    let result = r#"{"type":"result","subtype":"success","total_cost_usd":0.25,"modelUsage":{"claude-sonnet-4-5":{"inputTokens":1000,"outputTokens":60}}}"#;
    let transcript = read(&format!("{}\n{open}\n{result}", TURNS.trim_end()));
    assert_eq!(
        transcript.totals().sum().output.total - before.output.total,
        60
    );
    assert!(transcript.totals().is_covered());
}

#[test]
fn a_run_that_counts_more_than_its_messages_says_so() {
    let transcript = read(TURNS);
    let notices: Vec<&str> = settings(&transcript)
        .into_iter()
        .filter(|words| words.contains("add up"))
        .collect();
    assert_eq!(
        notices,
        ["the run counts 924 in, 40 out; its messages add up to 924 in, 8 out"]
    );
}

#[test]
fn the_last_answer_is_shown_once() {
    let transcript = read(TURNS);
    let texts = transcript
        .entries()
        .flat_map(|entry| &entry.blocks)
        .filter_map(|block| match &block.kind {
            BlockKind::Text(body) => Some(body.stub.as_str()),
            _ => None,
        });
    let texts: Vec<&str> = texts.collect();
    let count = |begin: &str| texts.iter().filter(|text| text.starts_with(begin)).count();
    assert_eq!((count("At **nine**"), count("I may not")), (1, 1));
}

#[test]
fn steps_of_a_task_and_a_question_with_its_answer_are_one_entry_each() {
    let transcript = read(TURNS);
    let settings = settings(&transcript);
    let task = entry(&transcript, "task:t7");
    let [BlockKind::Raw(begun), BlockKind::Raw(ended)] =
        [&task.blocks[0].kind, &task.blocks[1].kind]
    else {
        panic!("two steps are kept")
    };
    assert_eq!(begun.body.stub.as_str(), "Watch the gauge");
    assert_eq!(
        (ended.title.as_str(), ended.body.stub.as_str()),
        ("task failed", "no gauge")
    );
    assert!(
        settings.contains(&"permission denied for Bash: make tide > out: not now"),
        "{settings:?}"
    );
    assert!(
        settings.contains(&"not allowed: Bash make tide > out"),
        "{settings:?}"
    );
    let lost = transcript
        .entries()
        .flat_map(Entry::calls)
        .filter(|call| call.state.word() == "lost")
        .count();
    assert_eq!(
        lost, 0,
        "a run that ended well gave nothing up: a call without a result has lost it"
    );
    assert_eq!(transcript.tally().passed, 0);
}

#[test]
fn a_failure_that_the_end_of_the_run_calls_a_denial_is_one() {
    let call = |id: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"msg_{id}","role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"x > y"}}}}]}},"session_id":"s"}}"#
        )
    };
    let failed = |id: &str| {
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"no","is_error":true}}]}},"session_id":"s"}}"#
        )
    };
    let end = r#"{"type":"result","subtype":"success","is_error":false,"num_turns":1,"session_id":"s","permission_denials":[{"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"x > y"}}]}"#;
    let lines = [
        call("t1"),
        failed("t1"),
        call("t2"),
        failed("t2"),
        end.to_owned(),
    ];
    let transcript = read(&lines.join("\n"));
    let calls: Vec<_> = transcript.entries().flat_map(Entry::calls).collect();
    let words: Vec<&str> = calls.iter().map(|call| call.state.word()).collect();
    assert_eq!(words, ["refused", "failed"], "only what is named");
    assert_eq!(
        calls[0]
            .state
            .result()
            .map(|result| result.body.stub.as_str()),
        Some("no")
    );
}

fn confidence(text: &str) -> Confidence {
    let document = json::parse(text)
        .ok()
        .filter(|value| !value.items().is_empty());
    let lines: Vec<Json<'_>> = text
        .lines()
        .filter_map(|line| json::parse(line).ok())
        .collect();
    let probe = Probe {
        path: Path::new("-"),
        text: None,
        children: &[],
        lines: if document.is_some() { &[] } else { &lines },
        header: None,
        elements: document.as_ref().map_or(&[], Json::items),
        is_document: document.is_some(),
        is_whole: true,
    };
    ClaudeStream.sniff(&probe).confidence
}

#[test]
fn content_decides() {
    for text in [RUN, BARE, TURNS, ARRAY] {
        assert_eq!(confidence(text), Confidence::Certain);
    }
    let line = BARE.lines().nth(4).unwrap();
    assert_eq!(confidence(line), Confidence::Likely);
    let thinking =
        "{\"type\":\"thinking\",\"subtype\":\"delta\",\"text\":\"\",\"session_id\":\"s\"}";
    assert_eq!(
        confidence(&format!("{}\n{thinking}", RUN.lines().nth(2).unwrap())),
        Confidence::No
    );
    assert_eq!(
        confidence("{\"type\":\"message\",\"role\":\"user\",\"session_id\":\"s\"}"),
        Confidence::No
    );
    let chain = "{\"type\":\"user\",\"parentUuid\":null,\"message\":{\"content\":\"hi\"}}";
    assert_eq!(confidence(chain), Confidence::No);
}

#[test]
fn a_denied_call_did_not_fail() {
    let lines = [
        r#"{"type":"assistant","message":{"id":"a1","role":"assistant","content":[{"type":"tool_use","id":"k1","name":"Bash","input":{"command":"sleep 5"}}]},"session_id":"s","uuid":"u1"}"#,
        r#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"sleep 5"},"tool_use_id":"k1"}}"#,
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"deny","message":"no"}}}"#,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"k1","content":"no","is_error":true}]},"session_id":"s","uuid":"u2"}"#,
    ];
    let state = |lines: &[&str]| {
        let transcript = read(&lines.join("\n"));
        transcript
            .entries()
            .flat_map(Entry::calls)
            .next()
            .unwrap()
            .state
            .word()
    };
    assert_eq!(state(&lines), "refused");
    let allowed = lines[2].replace("deny", "allow");
    assert_eq!(state(&[lines[0], lines[1], &allowed, lines[3]]), "failed");
}

#[test]
fn an_error_that_the_result_repeats_is_one_error() {
    let said = r#"{"type":"assistant","message":{"id":"syn","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"API Error: 500 internal"}]},"session_id":"s","uuid":"u1","error":"server_error"}"#;
    let result = r#"{"type":"result","subtype":"success","is_error":true,"num_turns":1,"result":"API Error: 500 internal","session_id":"s","uuid":"u2","api_error_status":500}"#;
    let errors = |text: &str| {
        let transcript = read(text);
        let blocks = transcript.entries().flat_map(|entry| &entry.blocks);
        blocks
            .filter(|block| matches!(block.kind, BlockKind::Break(Break::Error(_))))
            .count()
    };
    assert_eq!(errors(&format!("{said}\n{result}")), 1);
    assert_eq!(errors(result), 1, "nothing else tells it");
    assert_eq!(
        errors(&format!(
            "{said}\n{}",
            result.replace("500 internal", "529 busy")
        )),
        2
    );
}
