//! Tests of decoded logs.

use super::Inspect;
use crate::formats::decoder::{Format, RecordPlace};
use crate::formats::fed;
use crate::formats::json;
use crate::formats::probe::{Confidence, Probe};
use crate::model::entry::{BlockKind, Entry};
use crate::model::text::Text;
use crate::model::tool::ToolState;

const START: &str = r#"{"version":2,"eval":{"task":"mill","model":"openai/gpt-5-mini","dataset":{"samples":2}},"plan":{"steps":[]}}"#;
const END: &str = r#"{"version":2,"status":"success","eval":{"task":"mill","model":"openai/gpt-5-mini","dataset":{"samples":2}},"plan":{"steps":[]},"results":{"total_samples":2,"completed_samples":2,"scores":[{"name":"match","metrics":{"accuracy":{"value":0.5}}}]}}"#;

fn sample(id: u64) -> String {
    let text = r#"{"id":ID,"epoch":1,"input":"?","target":"two","messages":[{"id":"u","role":"user","content":"attachment://long"},
        {"id":"a","role":"assistant","content":[{"type":"reasoning","reasoning":"hm"},{"type":"text","text":"I count."}],"model":"gpt-5-mini","tool_calls":[{"id":"call_1","function":"bash","arguments":{"cmd":"ls"}}]},
        {"id":"t","role":"tool","content":"two","tool_call_id":"call_1","function":"bash","error":ERROR}],
        "scores":{"match":{"value":"C","answer":"two","explanation":"as it should be"}},
        "events":[{"event":"model","timestamp":"2026-10-05T09:00:01+00:00","completed":"2026-10-05T09:00:02+00:00","model":"openai/gpt-5-mini","output":{"model":"gpt-5-mini","choices":[{"message":{"id":"a"}}],"usage":{"input_tokens":10,"output_tokens":2}}}],
        "model_usage":{"openai/gpt-5-mini":{"input_tokens":30,"output_tokens":5}},"attachments":{"long":"How many stones?"}}"#;
    let error = if id == 1 {
        "null"
    } else {
        r#"{"type":"timeout","message":"too slow"}"#
    };
    text.replace("ID", &id.to_string())
        .replace("ERROR", error)
        .replace('\n', " ")
}

#[test]
fn samples_follow_one_another_and_each_has_its_own_calls() {
    let lines = [END.to_owned(), START.to_owned(), sample(1), sample(2)];
    let transcript = fed::transcript(&Inspect, &[(RecordPlace::Line, &lines)]);
    let calls: Vec<_> = transcript.entries().flat_map(Entry::calls).collect();
    let keys: Vec<&str> = calls.iter().map(|call| call.key.as_str()).collect();
    assert_eq!(keys, ["1.1/call_1", "2.1/call_1"]);
    assert!(
        matches!(calls[0].state, ToolState::Done(_))
            && matches!(calls[1].state, ToolState::Failed(_))
    );
    let first_words = |entry: &Entry| match &entry.blocks.first()?.kind {
        BlockKind::Text(body) => Some(body.stub.to_string()),
        _ => None,
    };
    let prompts = transcript.entries().filter(|entry| entry.marks.prompt);
    assert_eq!(
        prompts.filter_map(first_words).collect::<Vec<_>>(),
        ["How many stones?"; 2]
    );
    let sum = transcript.totals().sum();
    assert_eq!(
        sum.input.total + sum.output.total,
        70,
        "what the samples sum up, scorers included"
    );
    let own: Vec<u64> = transcript
        .entries()
        .filter_map(|entry| Some(entry.usage.as_ref()?.total()))
        .collect();
    assert_eq!(own, [12, 12]);
    let models: Vec<Text> = transcript
        .totals()
        .by_model()
        .iter()
        .map(|(name, _)| name.clone())
        .collect();
    assert_eq!(
        models,
        [Text::from("gpt-5-mini")],
        "sums are of the model that answered"
    );
    assert_eq!(
        (transcript.tally().shown, transcript.tally().merged),
        (3, 1)
    );
    assert_eq!(transcript.turns().len(), 2);
}

#[test]
fn calls_of_one_id_have_their_results_in_order() {
    let text = r#"{"id":1,"epoch":1,"input":"?","messages":[
        {"role":"assistant","content":"","tool_calls":[{"id":"bash","function":"bash","arguments":{}}]},
        {"role":"tool","content":"two","tool_call_id":"bash","error":{"type":"timeout","message":"slow"}},
        {"role":"assistant","content":"","tool_calls":[{"id":"bash","function":"bash","arguments":{}}]},
        {"role":"tool","content":"three","tool_call_id":"bash"}]}"#;
    let transcript = fed::transcript(&Inspect, &[(RecordPlace::Line, &[text.replace('\n', " ")])]);
    let calls: Vec<_> = transcript.entries().flat_map(Entry::calls).collect();
    let keys: Vec<&str> = calls.iter().map(|call| call.key.as_str()).collect();
    assert_eq!(keys, ["1.1/bash", "1.1/bash#2"]);
    assert!(
        matches!(calls[0].state, ToolState::Failed(_))
            && matches!(calls[1].state, ToolState::Done(_))
    );
}

#[test]
fn what_was_thought_counts_once() {
    let usage = |text: &str| super::references::usage_of(&json::parse(text).unwrap()).output;
    assert_eq!(
        usage(r#"{"input_tokens":50,"output_tokens":1,"total_tokens":651,"reasoning_tokens":600}"#),
        Some(601)
    );
    assert_eq!(
        usage(
            r#"{"input_tokens":50,"output_tokens":700,"total_tokens":750,"reasoning_tokens":600}"#
        ),
        Some(700)
    );
}

#[test]
fn a_log_is_known_by_its_parts() {
    let verdict = |line: &str| {
        let lines = [json::parse(line).unwrap()];
        let probe = Probe {
            path: std::path::Path::new("x"),
            text: None,
            children: &[],
            lines: &lines,
            header: None,
            elements: &[],
            is_document: false,
            is_whole: true,
        };
        Inspect.sniff(&probe).confidence
    };
    assert_eq!(verdict(START), Confidence::Certain);
    assert_eq!(verdict(&sample(1)), Confidence::Certain);
    assert_eq!(
        verdict(r#"{"eval":{"task":"x"},"version":1}"#),
        Confidence::No
    );
    assert_eq!(
        verdict(r#"{"id":1,"input":"x","messages":[]}"#),
        Confidence::No
    );
}

#[test]
fn a_log_on_one_line_has_its_samples_within() {
    let samples = format!(
        "\"samples\":[{},{}],\"reductions\":[]}}",
        sample(1),
        sample(2)
    );
    let line = format!("{},{samples}", END.strip_suffix('}').unwrap());
    let transcript = fed::transcript(&Inspect, &[(RecordPlace::Line, &[line])]);
    let calls: Vec<&str> = transcript
        .entries()
        .flat_map(Entry::calls)
        .map(|call| call.key.as_str())
        .collect();
    assert_eq!(calls, ["1.1/call_1", "2.1/call_1"]);
    assert_eq!(transcript.turns().len(), 2);
    assert_eq!(
        (transcript.tally().shown, transcript.tally().merged),
        (1, 0)
    );
}

#[test]
fn what_python_writes_for_no_number_breaks_nothing() {
    let line = sample(1)
        .replace(r#""value":"C""#, r#""value":NaN"#)
        .replace(
            r#""cmd":"ls""#,
            r#""cmd":"ls","low":-Infinity,"high":Infinity"#,
        );
    let end = END.replace("0.5", "NaN");
    let transcript = fed::transcript(&Inspect, &[(RecordPlace::Line, &[end, line])]);
    assert_eq!(
        (
            transcript.tally().shown,
            transcript.tally().faulty,
            transcript.notices().len()
        ),
        (2, 0, 0)
    );
    assert!(
        titles(&transcript).contains(&"score match: NaN".to_owned()),
        "{:?}",
        titles(&transcript)
    );
}

fn titles(transcript: &crate::model::transcript::Transcript) -> Vec<String> {
    let title = |kind: &BlockKind| match kind {
        BlockKind::Raw(raw) => Some(raw.title.to_string()),
        _ => None,
    };
    transcript
        .entries()
        .flat_map(|entry| &entry.blocks)
        .filter_map(|block| title(&block.kind))
        .collect()
}

#[test]
fn a_sample_that_never_began_shows_what_was_asked_and_why() {
    let rest = r#""target":"two","error_retries":[{"message":"no model"}],"limit":{"type":"token","limit":5},"invalidation":{"author":"ann","reason":"leaked"}"#;
    let lines = [
        format!(r#"{{"id":1,"epoch":1,"input":"How many?","messages":[],{rest}}}"#),
        format!(r#"{{"id":2,"epoch":1,"input":[{{"role":"user","content":"And now?"}}],{rest}}}"#),
    ];
    let transcript = fed::transcript(&Inspect, &[(RecordPlace::Line, &lines)]);
    let prompts = transcript.entries().filter(|entry| entry.marks.prompt);
    let words: Vec<String> = prompts
        .filter_map(|entry| match &entry.blocks.first()?.kind {
            BlockKind::Text(body) => Some(body.stub.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(words, ["How many?", "And now?"]);
    let told = titles(&transcript);
    for name in ["limit", "error_retries", "invalidation"] {
        assert_eq!(
            told.iter().filter(|title| *title == name).count(),
            2,
            "{name}: {told:?}"
        );
    }
}

#[test]
fn an_error_says_where_it_came_about() {
    let error = r#""error":{"message":"no stones","traceback":"mill.py, line 3\n  grind()"}"#;
    let lines = [
        END.replace("\"results\"", &format!("{error},\"results\"")),
        sample(1).replace("\"attachments\"", &format!("{error},\"attachments\"")),
    ];
    let transcript = fed::transcript(&Inspect, &[(RecordPlace::Line, &lines)]);
    assert_eq!(
        titles(&transcript)
            .iter()
            .filter(|title| *title == "traceback")
            .count(),
        2
    );
    let errors = transcript
        .entries()
        .flat_map(|entry| &entry.blocks)
        .filter(|block| block.kind.is_error());
    assert_eq!(errors.count(), 2);
}

#[test]
fn a_sample_without_sums_counts_beside_one_with_them() {
    let bare = sample(2).replace("model_usage", "other_usage");
    let transcript = fed::transcript(&Inspect, &[(RecordPlace::Line, &[sample(1), bare])]);
    let sum = transcript.totals().sum();
    assert_eq!(sum.input.total + sum.output.total, 35 + 12);
}
