//! Tests of the decoder of pi sessions.

use super::{Container, Pi, container};
use crate::formats::decoder::{Format, RecordPlace, feed};
use crate::formats::json;
use crate::model::edit::Batch;
use crate::model::entry::{Block, BlockKind, Break, Entry, Role, Sent};
use crate::model::record::{FileId, Origin, Record};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{Clocked, ToolCall, ToolState};
use crate::model::transcript::Transcript;
use crate::model::usage::Scope;

const VERSION_1: &str = include_str!("../../../tests/fixtures/pi/version-1.jsonl");
const VERSION_3: &str = include_str!("../../../tests/fixtures/pi/version-3.jsonl");
const VERSION_4: &str = include_str!("../../../tests/fixtures/pi/version-4.jsonl");
const EVENTS: &str = include_str!("../../../tests/fixtures/pi/mode-json.jsonl");
const SUB_AGENTS: &str = include_str!("../../../tests/fixtures/pi/sub-agents.jsonl");
const OPEN_EVENTS: &str = include_str!("../../../tests/fixtures/pi/mode-json-open.jsonl");

fn read(text: &str) -> Transcript {
    read_by(text, usize::MAX)
}

/// Reads `portion` lines at a time.
fn read_by(text: &str, portion: usize) -> Transcript {
    let mut decoder = Pi.decoder(None);
    let mut transcript = Transcript::new();
    let mut at = 0;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for lines in lines.chunks(portion) {
        let mut batch = Batch::default();
        for line in lines {
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
        transcript.apply(batch);
    }
    transcript.update_derived();
    transcript
}

fn entry<'t>(transcript: &'t Transcript, key: &str) -> &'t Entry {
    transcript.get(transcript.find(key).unwrap()).unwrap()
}

fn breaks(transcript: &Transcript) -> Vec<&Break> {
    let blocks = transcript.entries().flat_map(|entry| &entry.blocks);
    blocks
        .filter_map(|block| {
            if let BlockKind::Break(one) = &block.kind {
                Some(one)
            } else {
                None
            }
        })
        .collect()
}

fn calls(transcript: &Transcript) -> Vec<(&str, &str)> {
    let calls = transcript.entries().flat_map(Entry::calls);
    calls
        .map(|call| (call.name.as_str(), call.state.word()))
        .collect()
}

#[test]
fn version_1_pairs_calls_and_shows_what_went_wrong() {
    let transcript = read(VERSION_1);
    assert_eq!(
        calls(&transcript),
        [
            ("read", "done"),
            ("bash", "failed"),
            ("edit", "done"),
            ("write", "lost")
        ]
    );
    let breaks = breaks(&transcript);
    assert!(breaks.contains(&&Break::Interrupted("Request was aborted.".into())));
    assert!(breaks.contains(&&Break::Error("429 too many requests".into())));
    assert!(breaks.iter().any(|one| matches!(
        one,
        Break::Compaction {
            before: Some(18400),
            partial: false,
            ..
        }
    )));
    let results = transcript
        .entries()
        .flat_map(Entry::calls)
        .filter_map(|call| call.state.result());
    let results: Vec<_> = results.collect();
    assert_eq!(results[1].facts.as_str(), "exit 1");
    let patch = results[2].patch.as_ref().unwrap().text().unwrap();
    assert!(
        patch.starts_with("@@ -1,4 +1,5 @@\n import random\n"),
        "{patch}"
    );
    assert!(!transcript.entries().any(|entry| entry.parent.is_some()));
}

#[test]
fn a_typed_command_is_said_by_the_user_and_starts_no_turn() {
    let transcript = read(VERSION_1);
    assert_eq!(transcript.turns().len(), 2);
    let typed = transcript
        .entries()
        .find(|entry| entry.role == Role::User && !entry.marks.prompt)
        .unwrap();
    assert!(
        matches!(&typed.blocks[0].kind, BlockKind::Text(body) if body.stub.as_str() == "!git diff --stat")
    );
}

#[test]
fn version_3_knows_its_branches_though_results_and_labels_are_links() {
    let transcript = read(VERSION_3);
    let abandoned = |key: &str| {
        transcript
            .branches()
            .abandoned
            .contains(&transcript.find(key).unwrap())
    };
    assert!(abandoned("a0000007") && abandoned("a0000008"));
    assert_eq!(transcript.branches().abandoned.len(), 2);
    assert_eq!(transcript.tally().faulty, 1);
    assert_eq!(transcript.meta().title().unwrap().as_str(), "Weather card");
}

#[test]
fn usage_counts_compactions_and_tools_and_nothing_twice() {
    let transcript = read(VERSION_3);
    let sum = transcript.totals().sum();
    assert_eq!(sum.input.value(), Some(40 + 500 + 10 + 5 + 950 + 2));
    assert_eq!(sum.requests, 6, "the tool's own spending is no request");
    assert_eq!(
        entry(&transcript, "a0000012").usage.as_ref().unwrap().scope,
        Scope::Request
    );
    let free = entry(&transcript, "a0000005").usage.as_ref().unwrap();
    assert_eq!(
        (free.input, free.cost),
        (Some(0), Some(0.0)),
        "beside costs of others 0 is one"
    );
}

#[test]
fn unknown_types_and_blocks_are_shown_and_named() {
    let transcript = read(VERSION_3);
    let unknown: Vec<&str> = transcript
        .tally()
        .unknown
        .keys()
        .map(Text::as_str)
        .collect();
    assert_eq!(unknown, ["block/sketch", "type/weather_report"]);
    assert_eq!(
        entry(&transcript, "a0000014").parent.as_deref(),
        Some("a0000013")
    );
}

#[test]
fn ids_that_do_not_distinguish_lines_collapse_nothing() {
    let line = |id: &str, text: &str| {
        format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":null,\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        )
    };
    let redacted = read(&(line("[REDACTED]", "a") + &line("[REDACTED]", "b")));
    assert_eq!(redacted.entries().count(), 2);
    let taken = read(&(line("x1", "a") + &line("x1", "another")));
    assert_eq!(taken.entries().count(), 2);
    let repeated = read(&(line("x1", "a") + &line("x1", "a")));
    assert_eq!(
        (repeated.entries().count(), repeated.tally().merged),
        (1, 1)
    );
}

#[test]
fn version_4_reads_transactions_and_lanes() {
    let transcript = read(VERSION_4);
    assert_eq!(calls(&transcript), [("ls", "done")]);
    assert_eq!(entry(&transcript, "m4").lane.as_deref(), Some("scout"));
    assert_eq!(transcript.meta().title().unwrap().as_str(), "Files");
    assert_eq!(transcript.tally().records(), 8);
}

#[test]
fn an_event_stream_gives_each_message_once() {
    let transcript = read(EVENTS);
    let roles: Vec<Role> = transcript.entries().map(|entry| entry.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Assistant]);
    assert_eq!(calls(&transcript), [("bash", "done")]);
    let sum = transcript.totals().sum();
    assert_eq!((sum.requests, sum.output.value()), (2, Some(36)));
}

#[test]
fn a_stream_that_is_cut_off_shows_what_is_there() {
    let transcript = read(OPEN_EVENTS);
    let last = transcript.entries().last().unwrap();
    assert!(last.marks.open);
    assert_eq!(last.blocks.len(), 2);
    let call = transcript.entries().flat_map(Entry::calls).next().unwrap();
    assert!(matches!(call.state, ToolState::Failed(_)));
}

#[test]
fn what_closes_a_turn_or_run_adds_only_what_no_other_line_held() {
    let summary = r#"{"type":"agent_end","messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b"}]}]}"#;
    assert_eq!(read(summary).entries().count(), 2);
    assert_eq!(
        read(&format!("{summary}\n{summary}\n")).entries().count(),
        2
    );
    assert_eq!(read(&format!("{EVENTS}{summary}\n")).entries().count(), 5);
    let closing = EVENTS.lines().last().unwrap();
    assert_eq!(read(&format!("{EVENTS}{closing}\n")).entries().count(), 3);
}

#[test]
fn two_prompts_of_the_same_millisecond_stay_two() {
    let prompt =
        |text: &str| format!(r#"{{"role":"user","content":"{text}","timestamp":1780315200000}}"#);
    let end = format!(
        r#"{{"type":"agent_end","messages":[{},{}]}}"#,
        prompt("a"),
        prompt("b")
    );
    assert_eq!(read(&end).entries().count(), 2);
    let both = format!(
        "{{\"type\":\"message_end\",\"message\":{}}}\n{end}\n",
        prompt("a")
    );
    assert_eq!(read(&both).entries().count(), 2);
}

#[test]
fn calls_without_messages_are_one_entry_that_the_message_takes_over() {
    let running = concat!(
        r#"{"type":"turn_start"}"#,
        "\n",
        r#"{"type":"tool_execution_start","toolCallId":"c1","toolName":"bash","args":{"command":"seq 2"},"timestamp":1780315200000}"#,
        "\n",
        r#"{"type":"tool_execution_update","toolCallId":"c1","toolName":"bash","args":{"command":"seq 2"},"partialResult":{"content":[{"type":"text","text":"1\n"}]}}"#,
        "\n",
    );
    let transcript = read(running);
    let call = transcript.entries().flat_map(Entry::calls).next().unwrap();
    assert_eq!(
        call.state.live_output().unwrap().text_or_stub().as_str(),
        "1\n"
    );
    assert_eq!(call.started.unwrap().0, 1_780_315_200_000);
    let ended = concat!(
        r#"{"type":"tool_execution_start","toolCallId":"c2","toolName":"read","args":{"path":"a"}}"#,
        "\n",
        r#"{"type":"tool_execution_end","toolCallId":"c1","toolName":"bash","result":{"content":[{"type":"text","text":"1\n2\n"}]},"isError":false,"timestamp":1780315202500}"#,
        "\n",
        r#"{"type":"turn_end","message":{"role":"assistant","content":[{"type":"text","text":"Both."},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"seq 2"}},{"type":"toolCall","id":"c2","name":"read","arguments":{"path":"a"}}],"usage":{"input":1,"output":2},"timestamp":1780315199000},"toolResults":[]}"#,
        "\n",
    );
    let transcript = read(&format!("{running}{ended}"));
    assert_eq!(transcript.entries().count(), 1);
    assert_eq!(calls(&transcript), [("bash", "done"), ("read", "pending")]);
    let first = transcript.entries().flat_map(Entry::calls).next().unwrap();
    assert_eq!(first.state.result().unwrap().duration_ms, Some(2500));
    assert_eq!(transcript.totals().sum().requests, 1);
}

#[test]
fn an_answer_by_bare_deltas_is_built() {
    let stream = concat!(
        r#"{"type":"start"}"#,
        "\n",
        r#"{"type":"text_start","contentIndex":0}"#,
        "\n",
        r#"{"type":"text_delta","contentIndex":0,"delta":"Good "}"#,
        "\n",
        r#"{"type":"toolcall_start","contentIndex":1,"id":"c1","toolName":"bash"}"#,
        "\n",
        r#"{"type":"toolcall_delta","contentIndex":1,"delta":"{\"command\":"}"#,
        "\n",
        r#"{"type":"text_delta","contentIndex":0,"delta":"day"}"#,
        "\n",
    );
    let open = read(stream);
    assert!(open.entries().next().unwrap().marks.open);
    assert_eq!(calls(&open), [("bash", "pending")]);
    let rest = r#"{"type":"toolcall_delta","contentIndex":1,"delta":"\"ls\"}"}
{"type":"done","reason":"toolUse","usage":{"input":3,"output":4}}
"#;
    let transcript = read(&format!("{stream}{rest}"));
    let entry = transcript.entries().next().unwrap();
    assert!(!entry.marks.open);
    assert!(
        matches!(&entry.blocks[0].kind, BlockKind::Text(body) if body.stub.as_str() == "Good day")
    );
    assert_eq!(entry.calls().next().unwrap().headline.as_str(), "ls");
    assert_eq!(transcript.totals().sum().output.value(), Some(4));
}

#[test]
fn each_agent_event_is_known_by_itself() {
    for line in EVENTS.lines().skip(1) {
        let lines = [json::parse(line).unwrap()];
        assert_eq!(container(&lines), Some(Container::Events), "{line}");
    }
}

/// A line of this type with a message that has calls with these ids.
fn message(kind: &str, time: u32, calls: &[&str]) -> String {
    let calls = calls
        .iter()
        .map(|id| format!(r#"{{"type":"toolCall","id":"{id}","name":"{id}","arguments":{{}}}}"#));
    let calls = calls.collect::<Vec<_>>().join(",");
    format!(
        "{{\"type\":\"{kind}\",\"message\":{{\"role\":\"assistant\",\"content\":[{calls}],\"timestamp\":178031520000{time}}}}}\n"
    )
}

fn ended(id: &str) -> String {
    format!(
        "{{\"type\":\"tool_execution_end\",\"toolCallId\":\"{id}\",\"toolName\":\"{id}\",\"result\":\"{id}\"}}\n"
    )
}

/// The calls of each entry, with the texts of their results.
fn answered(text: &str) -> Vec<Vec<(String, String)>> {
    let of = |call: &ToolCall| {
        let result = call
            .state
            .result()
            .map_or("", |result| result.body.stub.as_str());
        (call.key.to_string(), result.to_owned())
    };
    read(text)
        .entries()
        .map(|entry| entry.calls().map(of).collect())
        .collect()
}

#[test]
fn calls_that_a_message_leaves_out_stay_until_another_one_holds_them() {
    let done = |ids: &[&str]| {
        ids.iter()
            .map(|id| ((*id).to_owned(), (*id).to_owned()))
            .collect::<Vec<_>>()
    };
    let executions = ended("a") + &ended("b") + &ended("c");
    let first = executions.clone() + &message("message_start", 1, &["b"]);
    assert_eq!(answered(&first), [done(&["b"]), done(&["a", "c"])]);
    // The message grows, and another execution occurs in between.
    let grown = first + &ended("d") + &message("message_update", 1, &["b", "c"]);
    assert_eq!(answered(&grown), [done(&["b", "c"]), done(&["a", "d"])]);
    let second = grown.clone()
        + &message("message_end", 1, &["b", "c"])
        + &message("message_end", 2, &["a"]);
    assert_eq!(
        answered(&second),
        [done(&["b", "c"]), done(&["a"]), done(&["d"])]
    );
    let all = grown + &message("message_end", 1, &["b", "c", "a", "d"]);
    assert_eq!(answered(&all), [done(&["b", "c", "a", "d"])]);
    // A message that is sent again at the end of its turn is the same message.
    let again = executions + &message("message_end", 1, &["a", "b", "c"]);
    let again =
        again + "{\"type\":\"turn_start\"}\n" + &message("message_end", 1, &["a", "b", "c"]);
    assert_eq!(answered(&again), [done(&["a", "b", "c"])]);
}

#[test]
fn results_stay_when_their_message_ends_without_the_calls() {
    let begun = ended("a") + &message("message_start", 1, &["b"]);
    let grown = begun + &message("message_update", 1, &["b", "a"]) + &ended("b");
    let text = grown + &message("message_end", 1, &[]) + &message("message_end", 2, &["c"]);
    for portion in [usize::MAX, 1, 3, 4, 5] {
        let transcript = read_by(&text, portion);
        let shown = transcript
            .entries()
            .flat_map(|entry| &entry.blocks)
            .map(|block| match &block.kind {
                BlockKind::Result(stray) => (stray.call.as_str(), stray.result.body.stub.as_str()),
                BlockKind::Call(call) => (call.key.as_str(), "asked"),
                _ => ("", ""),
            });
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [("a", "a"), ("b", "b"), ("c", "asked")],
            "{portion}"
        );
    }
}

#[test]
fn a_call_that_comes_again_in_a_later_run_is_the_same_in_any_portions() {
    let turn = "{\"type\":\"turn_start\"}\n".to_owned();
    let asked = turn.clone() + &message("message_end", 1, &["a"]);
    let update =
        "{\"type\":\"tool_execution_update\",\"toolCallId\":\"a\",\"partialResult\":\"so far\"}\n";
    let text = ended("a") + &asked + update + &ended("a") + &turn;
    let timeless = |transcript: &Transcript| -> Vec<Entry> {
        transcript
            .entries()
            .map(|entry| Entry {
                revision: 0,
                ..entry.clone()
            })
            .collect()
    };
    let whole = timeless(&read(&text));
    assert_eq!(calls(&read(&text)), [("a", "done"), ("a", "pending")]);
    for portion in 1..5 {
        assert_eq!(timeless(&read_by(&text, portion)), whole, "{portion}");
    }
}

#[test]
fn what_a_message_leaves_out_does_not_run_in_another() {
    let text = message("message_end", 1, &["b"])
        + &ended("b")
        + &message("message_end", 2, &["b"])
        + &message("message_update", 3, &["b"])
        + &ended("b")
        + &message("message_end", 3, &[]);
    for portion in [usize::MAX, 1, 2, 3, 5] {
        let transcript = read_by(&text, portion);
        assert_eq!(
            calls(&transcript),
            [("b", "done"), ("b", "pending")],
            "{portion}"
        );
    }
}

#[test]
fn sub_agents_within_a_result_are_lanes_and_are_counted_once() {
    let transcript = read(SUB_AGENTS);
    let lanes = transcript.lanes().iter().map(|lane| {
        (
            lane.label.as_str(),
            lane.call.as_deref().unwrap_or_default(),
            lane.entries.len(),
        )
    });
    assert_eq!(
        lanes.collect::<Vec<_>>(),
        [
            ("count the sacks", "call_s", 4),
            ("sort the grain", "sub_2", 2),
            ("watch the sails", "call_s", 0)
        ],
        "results of another tool are no sub-agents, and a lane says what it is for"
    );
    assert_eq!(
        calls(&transcript)[1..3],
        [("bash", "done"), ("subagent", "done")]
    );
    let sum = transcript.totals().sum();
    assert_eq!((sum.requests, sum.recorded_nanos), (7, 250_000_000));
    assert_eq!(
        transcript.turns().len(),
        1,
        "what is said to a sub-agent opens no turn"
    );
    assert_eq!(
        transcript.meta().title().unwrap().as_str(),
        "how many sacks, and do the sails turn?"
    );
}

#[test]
fn an_answer_of_a_sub_agent_begins_at_its_time_and_is_complete_before_what_follows() {
    let transcript = read(SUB_AGENTS);
    let second = |at: Timestamp| at.0 % 60_000 / 1000 - 20;
    let answers = transcript.lanes()[0]
        .entries
        .iter()
        .filter_map(|id| transcript.get(*id));
    let answers: Vec<&Entry> = answers
        .filter(|entry| entry.role == Role::Assistant)
        .collect();
    let times = answers
        .iter()
        .map(|entry| (entry.at.map(second), entry.ended.map(second)));
    assert_eq!(
        times.collect::<Vec<_>>(),
        [(Some(4), Some(5)), (Some(6), Some(8)), (Some(9), Some(10))],
        "the last one is complete when the result comes that holds it"
    );
    let took = answers.iter().flat_map(|entry| {
        let calls = entry.blocks.iter().filter_map(Block::call);
        calls
            .filter_map(|call| call.duration(entry.call_time(call)))
            .map(|took| (took.ms, took.by))
    });
    let bounds = [(1000, Clocked::Bound), (2000, Clocked::Bound)];
    assert_eq!(
        took.collect::<Vec<_>>(),
        bounds,
        "nobody says when the calls began"
    );
}

#[test]
fn lines_say_what_the_model_was_sent_of_them() {
    let line = |members: &str| {
        read(&format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/\"}}\n{{\"id\":\"a\",\"parentId\":null,{members}}}\n"
        ))
    };
    let sent = |members: &str| {
        let transcript = line(members);
        let entry = entry(&transcript, "a");
        (
            entry.marks.unsent,
            entry
                .blocks
                .last()
                .map(|block| block.sent.clone())
                .unwrap_or_default(),
        )
    };
    let run = |more: &str| {
        format!(
            r#""type":"message","message":{{"role":"bashExecution","command":"ls","output":"a","exitCode":0{more}}}"#
        )
    };
    let answer = |stop: &str| {
        format!(
            r#""type":"message","message":{{"role":"assistant","content":"I","stopReason":"{stop}"}}"#
        )
    };
    assert_eq!(
        sent(&run("")),
        (false, Sent::Whole),
        "the output of a command"
    );
    assert!(sent(&run(r#","excludeFromContext":true"#)).0);
    assert!(sent(r#""type":"custom","customType":"todo","data":{"open":1}"#).0);
    let custom =
        r#""type":"custom_message","customType":"hint","content":"mind it","details":{"n":1}"#;
    assert_eq!(
        sent(custom),
        (false, Sent::Never),
        "only the details are the extension's own"
    );
    assert_eq!(
        [answer("stop"), answer("error"), answer("aborted")].map(|one| sent(&one).0),
        [false, true, true]
    );
}
