//! Content of other lanes that is repeated in the files of sub-agents, in any order of the files.

use std::path::Path;

use proptest::prelude::{ProptestConfig, any, prop, proptest};
use serde_json::{Value, json};

use super::{Claude, transcript_of};
use crate::formats::decoder::{Decoder, Format, RecordPlace, feed};
use crate::model::edit::{Batch, BatchMode, Edit};
use crate::model::entry::{Block, BlockKind, Entry};
use crate::model::record::{FileId, Origin, Record};
use crate::model::text::Name;
use crate::model::tool::ToolState;
use crate::model::transcript::Transcript;

const FORK: &str = "a0000000000000f01";
const NESTED: &str = "a0000000000000f02";

/// A line of the chain; `agent` is the id of its sub-agent.
fn line(uuid: &str, parent: &str, agent: Option<&str>, second: u32, rest: &Value) -> Value {
    let mut line = json!({
        "uuid": uuid, "parentUuid": (!parent.is_empty()).then_some(parent), "sessionId": "s-1",
        "isSidechain": agent.is_some(), "timestamp": format!("2026-10-20T10:00:{second:02}.000Z"),
    });
    let members = line.as_object_mut().unwrap();
    members.extend(agent.map(|agent| ("agentId".to_owned(), json!(agent))));
    members.extend(rest.as_object().unwrap().clone());
    line
}

fn said(words: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": words}})
}

fn answer(id: &str, block: &Value, output: u64, stop: Option<&str>) -> Value {
    json!({"type": "assistant", "requestId": format!("req_{id}"), "message": {
        "id": id, "role": "assistant", "model": "claude-opus-5-5", "content": [block], "stop_reason": stop,
        "usage": {"input_tokens": 2, "output_tokens": output},
    }})
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

fn call(id: &str, name: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

fn returned(call: &str, words: &str, more: &Value) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": call, "content": words});
    let mut line = json!({"type": "user", "message": {"role": "user", "content": [block]}});
    line.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    line
}

fn directive(call: &str, words: &str) -> Value {
    let whole = format!(
        "<fork-boilerplate>\nYou are a fork.\n</fork-boilerplate>\n\nYour directive: {words}"
    );
    let block = json!({"type": "tool_result", "tool_use_id": call, "content": "Fork started"});
    json!({"type": "user", "message": {"role": "user", "content": [block, text(&whole)]}})
}

/// The main lane: its second answer starts a fork, and the file has only the initial usage of that
/// answer.
fn main_lane() -> Vec<Value> {
    let input = json!({"subagent_type": "fork", "description": "Docs", "prompt": "check"});
    vec![
        line("u1", "", None, 1, &said("FIRST")),
        line(
            "a1",
            "u1",
            None,
            2,
            &answer("msg_one", &text("ONE"), 10, Some("end_turn")),
        ),
        line("u2", "a1", None, 3, &said("SECOND")),
        line(
            "a2",
            "u2",
            None,
            4,
            &answer("msg_two", &text("TWO"), 5, None),
        ),
        line(
            "a3",
            "a2",
            None,
            5,
            &answer("msg_two", &call("toolu_fork", "Agent", &input), 5, None),
        ),
        line(
            "r1",
            "a3",
            None,
            6,
            &returned("toolu_fork", "launched", &json!({})),
        ),
        line(
            "a4",
            "r1",
            None,
            7,
            &answer("msg_three", &text("THREE"), 30, Some("end_turn")),
        ),
    ]
}

/// How a file repeats earlier content.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Copies {
    /// With the ids of the records.
    Verbatim,
    /// With new ids, except for those of messages.
    Renamed,
}

/// The first lines of another lane as the file of this sub-agent repeats them, with the final
/// usage.
fn repeated(lines: &[Value], agent: &str, copies: Copies) -> Vec<Value> {
    let repeat = |line: &Value| {
        let mut line = line.clone();
        line["agentId"] = json!(agent);
        line["isSidechain"] = json!(true);
        if line["message"]["id"] == "msg_two" {
            line["message"]["usage"]["output_tokens"] = json!(80);
            line["message"]["stop_reason"] = json!("tool_use");
        }
        if copies == Copies::Renamed {
            line["uuid"] = json!(format!("{agent}-{}", line["uuid"].as_str().unwrap()));
        }
        line
    };
    lines.iter().map(repeat).collect()
}

/// A sub-agent's own lines: a call and an answer.
fn work(agent: &str) -> Vec<Value> {
    let (own, look) = (
        Some(agent),
        call(&format!("toolu_{agent}"), "Bash", &json!({"command": "ls"})),
    );
    vec![
        line(
            &format!("{agent}-w1"),
            "",
            own,
            10,
            &answer(&format!("msg_{agent}_1"), &look, 7, None),
        ),
        line(
            &format!("{agent}-w2"),
            "",
            own,
            11,
            &returned(&format!("toolu_{agent}"), "seen", &json!({})),
        ),
        line(
            &format!("{agent}-w3"),
            "",
            own,
            12,
            &answer(&format!("msg_{agent}_2"), &text("DONE"), 8, None),
        ),
    ]
}

/// The file of a fork, with only the answer that started it or with the whole history.
fn fork(agent: &str, history: &[Value], copies: Copies, with_all: bool) -> Vec<Value> {
    let mut lines = vec![json!({
        "type": "fork-context-ref", "agentId": agent, "parentSessionId": "s-1", "parentLastUuid": "u2",
    })];
    let from = if with_all { 0 } else { history.len() - 2 };
    lines.extend(repeated(&history[from..], agent, copies));
    lines.push(line(
        &format!("{agent}-d"),
        "",
        Some(agent),
        9,
        &directive("toolu_fork", "check the docs"),
    ));
    lines.extend(work(agent));
    lines
}

/// The file of an aside, or of a helper that compacts.
fn replay(agent: &str, copies: Copies) -> Vec<Value> {
    let mut lines = repeated(&main_lane()[..6], agent, copies);
    lines.push(line(
        &format!("{agent}-q"),
        "",
        Some(agent),
        9,
        &said("QUESTION"),
    ));
    lines.extend(work(agent));
    lines
}

/// A file of a session: its number and name, its lines, and the number of lines read.
struct File {
    name: Option<&'static str>,
    lines: Vec<Value>,
    next: usize,
    at: u64,
}

/// Reads files, a line of one of them per step, and then the rest of all.
fn read(
    files: Vec<(Option<&'static str>, Vec<Value>)>,
    metas: &[(&str, Value)],
    steps: &[u8],
) -> Transcript {
    let (mut decoder, mut transcript) = (Claude.decoder(None), Transcript::new());
    let mut files: Vec<File> = files
        .into_iter()
        .map(|(name, lines)| File {
            name,
            lines,
            next: 0,
            at: 0,
        })
        .collect();
    let mut batch = Batch::default();
    for (number, (agent, meta)) in (100..).zip(metas) {
        let path = if agent.starts_with("wf_") {
            Path::new("s-1/workflows").join(format!("{agent}.json"))
        } else {
            Path::new("s-1/subagents").join(format!("agent-{agent}.meta.json"))
        };
        emit(
            &mut *decoder,
            meta,
            (number, 0),
            RecordPlace::File(&path),
            &mut batch,
        );
    }
    let count = files.len();
    let steps = steps.iter().map(|step| usize::from(*step) % count);
    let rest = (0..count).flat_map(|number| std::iter::repeat_n(number, 100));
    for number in steps.chain(rest) {
        let file = &mut files[number];
        let Some(line) = file.lines.get(file.next) else {
            continue;
        };
        let path = file.name.map(|name| {
            let (folder, name) = name.rsplit_once('/').unwrap_or(("", name));
            Path::new("s-1/subagents")
                .join(folder)
                .join(format!("agent-{name}.jsonl"))
        });
        let place = path
            .as_deref()
            .map_or(RecordPlace::Line, RecordPlace::CompanionLine);
        let id = u32::try_from(number).unwrap();
        file.at += emit(&mut *decoder, line, (id, file.at), place, &mut batch);
        file.next += 1;
        let full = std::mem::take(&mut batch);
        batch.tally = full.tally.clone();
        transcript.apply(full);
    }
    decoder.finish(&mut batch);
    transcript.apply(batch);
    transcript.update_derived();
    transcript
}

fn emit(
    decoder: &mut dyn Decoder,
    line: &Value,
    (file, at): (u32, u64),
    place: RecordPlace<'_>,
    out: &mut Batch,
) -> u64 {
    let bytes = line.to_string();
    let len = u32::try_from(bytes.len()).unwrap();
    let origin = Origin {
        file: FileId(file),
        at,
        len,
        line: 1,
    };
    feed(
        decoder,
        Record {
            origin,
            bytes: bytes.as_bytes(),
        },
        place,
        out,
    );
    u64::from(len) + 1
}

/// The entries of a lane: their keys, and their calls with states.
fn of_lane(transcript: &Transcript, lane: Option<&str>) -> Vec<String> {
    let calls = |entry: &Entry| {
        let state = |state: &ToolState| match state.result() {
            Some(result) => format!("{}:{}", state.word(), result.body.stub),
            None => state.word().to_owned(),
        };
        let calls = entry
            .calls()
            .map(|call| format!(" {} {}", call.key, state(&call.state)));
        calls.collect::<Vec<_>>().concat()
    };
    let own = transcript
        .entries()
        .filter(|entry| entry.lane.as_deref() == lane);
    own.filter(|entry| !entry.marks.quiet)
        .map(|entry| format!("{}{}", entry.key, calls(entry)))
        .collect()
}

const MAIN: [&str; 5] = [
    "u1",
    "msg_one",
    "u2",
    "msg_two toolu_fork done:launched",
    "msg_three",
];

fn check_main(transcript: &Transcript, others: u64, what: &str) {
    assert_eq!(of_lane(transcript, None), MAIN, "{what}");
    let sum = transcript.totals().sum();
    // The end of the second answer is only in copies.
    assert_eq!(
        (sum.requests, sum.output.value()),
        (3 + 2 * others, Some(120 + 15 * others)),
        "{what}"
    );
    assert_eq!(transcript.turns().len(), 2, "{what}");
}

fn check_own(transcript: &Transcript, agent: &str, first: &str, what: &str) {
    let own = [
        first.to_owned(),
        format!("msg_{agent}_1 toolu_{agent} done:seen"),
        format!("msg_{agent}_2"),
    ];
    assert_eq!(of_lane(transcript, Some(agent)), own, "{what}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_fork_takes_nothing_from_its_parent(
        steps in prop::collection::vec(any::<u8>(), 0..30),
        with_all in any::<bool>(),
        verbatim in any::<bool>(),
        names_call in any::<bool>(),
    ) {
        let copies = if verbatim { Copies::Verbatim } else { Copies::Renamed };
        let meta = if names_call {
            json!({"agentType": "fork", "toolUseId": "toolu_fork"})
        } else {
            json!({"agentType": "fork", "toolUseId": "toolu_of_nobody"})
        };
        let files = vec![(None, main_lane()), (Some(FORK), fork(FORK, &main_lane()[..5], copies, with_all))];
        let transcript = read(files, &[(FORK, meta)], &steps);
        check_main(&transcript, 1, "fork");
        check_own(&transcript, FORK, &format!("{FORK}-d"), "fork");
        let lane = transcript.lane(&Name::from(FORK)).unwrap();
        assert_eq!(lane.call.as_deref(), Some("toolu_fork"));
        assert_eq!(transcript.caller(lane), transcript.find("msg_two"));
    }

    #[test]
    fn what_replays_the_conversation_takes_nothing_from_it(
        steps in prop::collection::vec(any::<u8>(), 0..40),
        verbatim in any::<bool>(),
        is_aside in any::<bool>(),
    ) {
        let copies = if verbatim { Copies::Verbatim } else { Copies::Renamed };
        let agent =
            if is_aside { "aaside_question-1f2e3d4c5b6a7988" } else { "acompact-1f2e3d4c5b6a7988" };
        let files = vec![(None, main_lane()), (Some(agent), replay(agent, copies))];
        let transcript = read(files, &[], &steps);
        check_main(&transcript, 1, agent);
        check_own(&transcript, agent, &format!("{agent}-q"), agent);
    }

    #[test]
    fn a_fork_of_a_fork_takes_nothing_from_either(
        steps in prop::collection::vec(any::<u8>(), 0..60),
        verbatim in any::<bool>(),
        order in any::<bool>(),
    ) {
        let copies = if verbatim { Copies::Verbatim } else { Copies::Renamed };
        let first = fork(FORK, &main_lane()[..5], copies, true);
        // It was forked while the first one was running: the first one's lines so far are at the
        // head of its file.
        let own: Vec<Value> = first.iter().skip(6).take(3).cloned().collect();
        let mut nested = repeated(&own, NESTED, copies);
        nested.insert(0, json!({"type": "fork-context-ref", "agentId": NESTED, "parentSessionId": "s-1"}));
        nested.push(line("n-d", "", Some(NESTED), 13, &directive("toolu_nobody", "look deeper")));
        nested.extend(work(NESTED));
        let mut files = vec![(None, main_lane()), (Some(FORK), first), (Some(NESTED), nested)];
        if order {
            files.reverse();
        }
        let metas = [
            (FORK, json!({"agentType": "fork", "toolUseId": "toolu_fork", "spawnDepth": 1})),
            (NESTED, json!({"agentType": "fork", "spawnDepth": 2})),
        ];
        let transcript = read(files, &metas, &steps);
        check_main(&transcript, 2, "nested");
        check_own(&transcript, FORK, &format!("{FORK}-d"), "outer");
        check_own(&transcript, NESTED, "n-d", "nested");
    }
}

#[test]
fn a_call_that_stands_in_its_own_lane_only_leads_nowhere() {
    let input = json!({"subagent_type": "fork", "prompt": "check"});
    let mut lines = vec![line(
        "x1",
        "",
        Some(FORK),
        8,
        &answer("msg_x", &call("toolu_x", "Agent", &input), 3, None),
    )];
    lines.extend(work(FORK));
    let meta = json!({"agentType": "fork", "toolUseId": "toolu_x"});
    let transcript = read(
        vec![(None, main_lane()), (Some(FORK), lines)],
        &[(FORK, meta)],
        &[],
    );
    let lane = transcript.lane(&Name::from(FORK)).unwrap();
    assert_eq!(
        transcript.caller(lane),
        None,
        "so it stands where it stands in time"
    );
    assert_eq!(lane.entries.len(), 3);
    assert!(transcript.top_lane(lane).is_some());
}

#[test]
fn the_same_tool_id_in_two_answers_is_two_calls() {
    let agent = "a0000000000000001";
    let other = call("toolu_fork", "Bash", &json!({"command": "ls"}));
    let lines = vec![
        line("y1", "", Some(agent), 8, &answer("msg_y", &other, 3, None)),
        line(
            "y2",
            "y1",
            Some(agent),
            9,
            &returned("toolu_fork", "own", &json!({})),
        ),
    ];
    for steps in [
        vec![],
        vec![1, 1],
        vec![0, 0, 0, 0, 0, 1, 1],
        vec![1, 0, 0, 0, 0, 0, 0],
    ] {
        let files = vec![(None, main_lane()), (Some(agent), lines.clone())];
        let transcript = read(files, &[], &steps);
        assert_eq!(of_lane(&transcript, None), MAIN, "{steps:?}");
        assert_eq!(
            of_lane(&transcript, Some(agent)),
            ["msg_y toolu_fork done:own"],
            "{steps:?}"
        );
    }
}

#[test]
fn sub_agents_of_a_workflow_hang_below_its_call() {
    let path = Path::new("s-1/subagents/workflows/wf_7");
    let main = [
        line("u1", "", None, 1, &said("audit")),
        line(
            "a1",
            "u1",
            None,
            2,
            &answer("msg_w", &call("toolu_w", "Workflow", &json!({})), 9, None),
        ),
        line(
            "r1",
            "a1",
            None,
            3,
            &returned(
                "toolu_w",
                "launched",
                &json!({"toolUseResult": {"runId": "wf_7"}}),
            ),
        ),
    ];
    let journal = [
        json!({"type": "launched"}),
        json!({"type": "started", "agentId": "w1", "key": "k", "label": "Parser", "phase": "Scan"}),
        json!({"type": "result", "agentId": "w1", "key": "k", "result": {"found": 3}}),
        json!({"type": "failed", "agentId": "w2", "key": "k2"}),
    ];
    for is_late in [false, true] {
        let (mut decoder, mut out) = (Claude.decoder(None), Batch::default());
        let emit_main = |decoder: &mut dyn Decoder, out: &mut Batch| {
            let mut at = 0;
            for line in &main {
                at += emit(decoder, line, (0, at), RecordPlace::Line, out);
            }
        };
        if !is_late {
            emit_main(&mut *decoder, &mut out);
        }
        for (file, agent) in [(1, "w1"), (2, "w2")] {
            let meta = path.join(format!("agent-{agent}.meta.json"));
            emit(
                &mut *decoder,
                &json!({"agentType": "workflow-agent"}),
                (file + 10, 0),
                RecordPlace::File(&meta),
                &mut out,
            );
            let own = path.join(format!("agent-{agent}.jsonl"));
            let mut at = 0;
            for line in work(agent) {
                at += emit(
                    &mut *decoder,
                    &line,
                    (file, at),
                    RecordPlace::CompanionLine(&own),
                    &mut out,
                );
            }
        }
        let mut at = 0;
        for line in &journal {
            at += emit(
                &mut *decoder,
                line,
                (3, at),
                RecordPlace::CompanionLine(&path.join("journal.jsonl")),
                &mut out,
            );
        }
        if is_late {
            emit_main(&mut *decoder, &mut out);
        }
        assert!(out.tally.unknown.is_empty());
        assert_eq!(out.mode, BatchMode::Append);
        let transcript = transcript_of(out);
        let lanes: Vec<_> = transcript
            .lanes()
            .iter()
            .map(|lane| (lane.label.as_str(), lane.call.as_deref()))
            .collect();
        assert_eq!(
            lanes,
            [
                ("Scan: Parser", Some("toolu_w")),
                ("workflow-agent", Some("toolu_w"))
            ],
            "{is_late}"
        );
        assert_eq!(
            transcript
                .lanes_begun(transcript.find("msg_w").unwrap(), &"toolu_w".into())
                .count(),
            2
        );
    }
}

#[test]
fn a_sub_agent_that_is_woken_again_stays_below_the_call_that_started_it() {
    let finished = json!({"toolUseResult": {"status": "completed", "agentId": "a1"}});
    let main = vec![
        line("u1", "", None, 1, &said("LOOK")),
        line(
            "c1",
            "u1",
            None,
            2,
            &answer(
                "m1",
                &call("toolu_1", "Agent", &json!({"prompt": "look"})),
                5,
                None,
            ),
        ),
        line(
            "r1",
            "c1",
            None,
            20,
            &returned("toolu_1", "seen", &finished),
        ),
        line(
            "c2",
            "r1",
            None,
            21,
            &answer(
                "m2",
                &call("toolu_2", "Agent", &json!({"resume": "a1"})),
                5,
                None,
            ),
        ),
        line(
            "r2",
            "c2",
            None,
            40,
            &returned("toolu_2", "seen again", &finished),
        ),
    ];
    let own = vec![
        line("a1-1", "", Some("a1"), 3, &said("look")),
        line(
            "a1-2",
            "a1-1",
            Some("a1"),
            4,
            &answer("m3", &text("SEEN"), 5, Some("end_turn")),
        ),
        line(
            "a1-3",
            "a1-2",
            Some("a1"),
            30,
            &answer("m4", &text("SEEN AGAIN"), 5, Some("end_turn")),
        ),
    ];
    for steps in [&[][..], &[1, 1, 1], &[0, 0, 0, 0, 1, 1, 1]] {
        let transcript = read(
            vec![(None, main.clone()), (Some("a1"), own.clone())],
            &[],
            steps,
        );
        let lane = transcript.lane(&Name::from("a1")).unwrap();
        assert_eq!(lane.call.as_deref(), Some("toolu_1"), "{steps:?}");
        let [started, woken] = ["toolu_1", "toolu_2"].map(|call| {
            transcript
                .lanes_of_call(&call.into())
                .map(|lane| lane.name.to_string())
                .collect::<Vec<_>>()
        });
        assert_eq!(
            (started, woken),
            (vec!["a1".to_owned()], Vec::new()),
            "{steps:?}"
        );
    }
}

#[test]
fn agents_of_a_workflow_are_named_by_its_report_and_stay_below_its_first_call() {
    let run = |task: &str| {
        json!({"toolUseResult": {"status": "async_launched", "taskId": task, "taskType": "local_workflow",
            "runId": "wf_9"}})
    };
    let script = json!({"script": "await agent('a')"});
    let main = vec![
        line("u1", "", None, 1, &said("AUDIT")),
        line(
            "c1",
            "u1",
            None,
            2,
            &answer("m1", &call("toolu_1", "Workflow", &script), 5, None),
        ),
        line(
            "r1",
            "c1",
            None,
            3,
            &returned("toolu_1", "launched", &run("w1")),
        ),
        line(
            "c2",
            "r1",
            None,
            4,
            &answer("m2", &call("toolu_2", "Workflow", &script), 5, None),
        ),
        line(
            "r2",
            "c2",
            None,
            5,
            &returned("toolu_2", "launched", &run("w2")),
        ),
    ];
    let own = vec![line(
        "a1-1",
        "",
        Some("a1"),
        6,
        &answer("m3", &text("FINE"), 5, Some("end_turn")),
    )];
    for steps in [&[][..], &[1], &[0, 0, 0, 1, 0]] {
        let report = json!({"runId": "wf_9", "status": "completed", "workflowProgress": [
            {"type": "workflow_phase", "index": 0, "title": "Scan"},
            {"type": "workflow_agent", "index": 1, "label": "parser", "phaseTitle": "Scan", "agentId": "a1"},
            {"type": "workflow_agent", "index": 2, "label": "lexer", "phaseTitle": "Scan", "cached": true},
        ]});
        let files = vec![
            (None, main.clone()),
            (Some("workflows/wf_9/a1"), own.clone()),
        ];
        let transcript = read(files, &[("wf_9", report)], steps);
        let lane = transcript.lane(&Name::from("a1")).unwrap();
        assert_eq!(
            (lane.call.as_deref(), lane.label.as_str()),
            (Some("toolu_1"), "Scan: parser"),
            "{steps:?}"
        );
    }
}

/// Titles of the blocks of unknown kinds, in order.
fn asides(transcript: &Transcript) -> Vec<String> {
    let blocks = transcript.entries().flat_map(|entry| &entry.blocks);
    let aside = |block: &Block| match &block.kind {
        BlockKind::Aside(_, raw) => Some(raw.title.to_string()),
        _ => None,
    };
    blocks.filter_map(aside).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_not_understood_is_not_lost_with_a_copy(
        steps in prop::collection::vec(any::<u8>(), 0..40),
        verbatim in any::<bool>(),
        within in any::<bool>(),
    ) {
        let copies = if verbatim { Copies::Verbatim } else { Copies::Renamed };
        let agent = "aaside_question-1f2e3d4c5b6a7988";
        let strange = |name: &str| json!({"type": name, "words": name});
        let mut main = main_lane();
        main[3]["message"]["content"].as_array_mut().unwrap().push(strange("both"));
        main.insert(3, line("z1", "u2", None, 3, &json!({"type": "both-records", "text": "seen by all"})));
        let mut aside = repeated(&main[..6], agent, copies);
        if within {
            aside[4]["message"]["content"].as_array_mut().unwrap().push(strange("copy"));
        } else {
            aside.insert(4, line("z2", "u2", Some(agent), 4, &json!({"type": "copy", "text": "seen here"})));
        }
        aside.push(line(&format!("{agent}-q"), "", Some(agent), 9, &said("QUESTION")));
        aside.extend(work(agent));
        let transcript = read(vec![(None, main), (Some(agent), aside)], &[], &steps);
        check_main(&transcript, 1, agent);
        check_own(&transcript, agent, &format!("{agent}-q"), agent);
        let mut found = asides(&transcript);
        found.sort();
        let class = if within { "block" } else { "type" };
        let mut wanted = ["block/both".to_owned(), "type/both-records".to_owned(), format!("{class}/copy")];
        wanted.sort();
        assert_eq!(found, wanted);
    }
}

/// The slots of the bodies of unknown kinds, with the titles of their blocks.
fn slots(batch: &Batch) -> Vec<(String, u16)> {
    let entries = batch.edits.iter().filter_map(|edit| match edit {
        Edit::Entry(entry) => Some(entry),
        _ => None,
    });
    let aside = |block: &Block| match &block.kind {
        BlockKind::Aside(_, raw) => Some((raw.title.to_string(), raw.body.slot)),
        _ => None,
    };
    entries
        .flat_map(|entry| &entry.blocks)
        .filter_map(aside)
        .collect()
}

#[test]
fn a_copy_has_the_slots_that_it_has_when_it_is_read_alone() {
    let strange = |name: &str| json!({"type": name, "words": name});
    let user = |blocks: Value, details: Value| json!({"type": "user", "message": {"role": "user", "content": blocks}, "toolUseResult": details});
    let result =
        |words: &str| json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": words});
    let stored = "<persisted-output>\nOutput too large. Full output saved to: /t/b.txt\n\nPreview:\na\n</persisted-output>";
    let patch = json!({"structuredPatch": [{"oldStart": 1, "newStart": 1, "lines": ["-a", "+b"]}]});
    let note = "Look.<system-reminder>\nMind the tests.\n</system-reminder>";
    let look = call("toolu_1", "Bash", &json!({"command": "ls"}));
    let mut two = answer("msg_one", &text("ONE"), 5, None);
    two["message"]["content"]
        .as_array_mut()
        .unwrap()
        .extend([look, strange("both")]);
    let variants = [
        (user(json!([result("seen")]), json!({})), 1),
        (user(json!([result(stored)]), patch), 3),
        (
            user(
                json!([result("seen"), result("again"), strange("both")]),
                json!({}),
            ),
            3,
        ),
        (
            user(json!([text(note), text(" "), strange("both")]), json!({})),
            3,
        ),
        (user(json!([]), json!({})), 0),
        (two, 3),
    ];
    let path = Path::new("s-1/subagents/agent-a1.jsonl");
    for (original, expected) in variants {
        let mut copy = original.clone();
        let blocks = copy["message"]["content"].as_array_mut().unwrap();
        blocks.push(strange("copy"));
        blocks.insert(0, strange("begin"));
        let (first, copy) = (
            line("x1", "", None, 1, &original),
            line("x1", "", Some("a1"), 1, &copy),
        );
        let (mut decoder, mut out) = (Claude.decoder(None), Batch::default());
        emit(&mut *decoder, &first, (0, 0), RecordPlace::Line, &mut out);
        let mut own = Batch::default();
        emit(
            &mut *decoder,
            &copy,
            (1, 0),
            RecordPlace::CompanionLine(path),
            &mut own,
        );
        let mut alone = Batch::default();
        emit(
            &mut *Claude.decoder(None),
            &copy,
            (1, 0),
            RecordPlace::CompanionLine(path),
            &mut alone,
        );
        let last = ("block/copy".to_owned(), expected + 1);
        assert_eq!(slots(&own), [("block/begin".to_owned(), 0), last], "{copy}");
        let alone = slots(&alone);
        assert!(
            slots(&own).iter().all(|slot| alone.contains(slot)),
            "{alone:?} {copy}"
        );
        assert_eq!(
            own.tally.unknown.len(),
            2,
            "each is counted where it is told"
        );
    }
}
