//! Tests with sessions of the core with a sub-agent, and with task files of the older extension.

use std::path::Path;

use super::{Cline, companions};
use crate::formats::decoder::{Format, RecordPlace, feed};
use crate::formats::json::{Json, parse};
use crate::formats::probe::{Confidence, Probe};
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Break, Entry, Role};
use crate::model::record::{FileId, Origin, Record};
use crate::model::text::Text;
use crate::model::tool::ToolState;
use crate::model::transcript::Transcript;

static LEAD: &str = include_str!(
    "../../../tests/fixtures/cline/1790000000000_abcde/1790000000000_abcde.messages.json"
);
static TEAM: &str = include_str!(
    "../../../tests/fixtures/cline/1790000100000_teams/1790000100000_teams.messages.json"
);
static SURVEYOR: &str = include_str!(
    "../../../tests/fixtures/cline/1790000100000_teams/agent_1790000105000_k3j2h1.messages.json"
);
static SINGER: &str = include_str!(
    "../../../tests/fixtures/cline/1790000100000_teams/agent_1790000106000_z9y8x7.messages.json"
);
static TESTER: &str =
    include_str!("../../../tests/fixtures/cline/1790000100000_teams/tester__Ab3dEf.messages.json");
static TEAM_MANIFEST: &str =
    include_str!("../../../tests/fixtures/cline/1790000100000_teams/1790000100000_teams.json");
static SIDECAR: &str = include_str!(
    "../../../tests/fixtures/cline/1790000100000_teams/1790000100000_teams.compaction.json"
);
static FORK: &str = include_str!(
    "../../../tests/fixtures/cline/1790000200000_forkd/1790000200000_forkd.messages.json"
);
static FORK_SINGER: &str =
    include_str!("../../../tests/fixtures/cline/1790000200000_forkd/singer__Zz9yXw.messages.json");
static FORK_MANIFEST: &str =
    include_str!("../../../tests/fixtures/cline/1790000200000_forkd/1790000200000_forkd.json");
static TASK: &str =
    include_str!("../../../tests/fixtures/cline/task/api_conversation_history.json");
static TASK_PANEL: &str = include_str!("../../../tests/fixtures/cline/task/ui_messages.json");
static SCOUT: &str =
    include_str!("../../../tests/fixtures/cline/1790000000000_abcde/scout.messages.json");
static MANIFEST: &str =
    include_str!("../../../tests/fixtures/cline/1790000000000_abcde/1790000000000_abcde.json");
static COMPACTED: &str = include_str!("../../../tests/fixtures/cline/compacted.messages.json");
static RESUMED: &str =
    include_str!("../../../tests/fixtures/cline/resumed/api_conversation_history.json");
static RESUMED_PANEL: &str = include_str!("../../../tests/fixtures/cline/resumed/ui_messages.json");
static HISTORY: &str =
    include_str!("../../../tests/fixtures/cline/legacy/api_conversation_history.json");
static PANEL: &str = include_str!("../../../tests/fixtures/cline/legacy/ui_messages.json");

fn read(document: &str, companions: &[(&str, &str)]) -> Transcript {
    let mut decoder = Cline.decoder(None);
    let mut out = Batch::default();
    let json = parse(document).unwrap();
    let mut records = Vec::new();
    let elements = if let Json::Object(members) = &json {
        let header = members
            .iter()
            .filter(|(name, _)| name != "messages")
            .cloned();
        let empty = ("messages".into(), Json::Array(Vec::new()));
        records.push((
            Json::Object(header.chain([empty]).collect()).to_source(),
            RecordPlace::Header,
        ));
        json.get("messages").items()
    } else {
        json.items()
    };
    records.extend(
        elements
            .iter()
            .map(|element| (element.to_source(), RecordPlace::Element)),
    );
    for (at, (record, place)) in (0..).zip(&records) {
        let origin = Origin {
            at,
            ..Origin::default()
        };
        feed(
            &mut *decoder,
            Record {
                origin,
                bytes: record.as_bytes(),
            },
            *place,
            &mut out,
        );
    }
    for (file, (name, companion)) in (1..).zip(companions) {
        let origin = Origin {
            file: FileId(file),
            ..Origin::default()
        };
        let place = RecordPlace::File(Path::new(name));
        feed(
            &mut *decoder,
            Record {
                origin,
                bytes: companion.as_bytes(),
            },
            place,
            &mut out,
        );
    }
    decoder.finish(&mut out);
    let mut transcript = Transcript::new();
    transcript.apply(out);
    transcript.update_derived();
    transcript
}

fn entry<'t>(transcript: &'t Transcript, key: &str) -> &'t Entry {
    transcript.get(transcript.find(key).unwrap()).unwrap()
}

fn first_text(entry: &Entry) -> Option<String> {
    entry.blocks.iter().find_map(|block| match &block.kind {
        BlockKind::Text(body) => body.text().map(ToString::to_string),
        _ => None,
    })
}

fn states(transcript: &Transcript) -> Vec<&'static str> {
    let blocks = transcript.entries().flat_map(|entry| &entry.blocks);
    let word = |kind: &BlockKind| {
        if let BlockKind::Call(call) = kind {
            Some(call.state.word())
        } else {
            None
        }
    };
    blocks.filter_map(|block| word(&block.kind)).collect()
}

#[test]
fn messages_keep_what_was_said_apart_from_what_was_added() {
    let transcript = read(LEAD, &[]);
    let first = entry(&transcript, "msg_a1");
    assert_eq!(
        first_text(first).as_deref(),
        Some("why does the third gear squeak?")
    );
    assert!(first.role == Role::User && first.marks.prompt && first.blocks.len() == 2);
    let added = entry(&transcript, "msg_a1:notices");
    assert!(added.role == Role::Harness && added.marks.quiet);
    assert!(
        matches!(&added.blocks[0].kind, BlockKind::Raw(raw) if raw.title.as_str() == "environment details")
    );
    let notice = entry(&transcript, "msg_a6");
    assert!(notice.role == Role::Harness && notice.marks.quiet);
    assert_eq!(transcript.find("msg_a3"), None, "results are no entries");
    let summary = entry(&transcript, "msg_a8");
    assert_eq!(summary.role, Role::Harness);
    let BlockKind::Break(Break::Compaction { before, .. }) = summary.blocks[0].kind else {
        panic!()
    };
    assert_eq!(before, Some(2630));
    assert_eq!(transcript.turns().len(), 2);
    let system = transcript.entries().next().unwrap();
    assert_eq!(system.role, Role::System);
}

#[test]
fn results_find_their_calls_and_their_failures() {
    let transcript = read(LEAD, &[]);
    assert_eq!(states(&transcript), ["failed", "done", "done"]);
    let answer = entry(&transcript, "msg_a4");
    let BlockKind::Call(call) = &answer.blocks[0].kind else {
        panic!()
    };
    let output = call.state.result().unwrap().body.text().unwrap();
    assert!(
        output.starts_with("Edited /home/ada/gears/third.txt\n"),
        "{output}"
    );
    let usage = answer.usage.as_ref().unwrap();
    assert_eq!(
        (usage.input, usage.cache_read, usage.cache_write),
        (Some(400), Some(1500), Some(400))
    );
}

#[test]
fn sub_agents_are_lanes_and_the_manifest_describes_the_session() {
    let transcript = read(
        LEAD,
        &[
            ("scout.messages.json", SCOUT),
            ("1790000000000_abcde.json", MANIFEST),
        ],
    );
    let lane = &transcript.lanes()[0];
    assert_eq!(
        (lane.name.as_str(), lane.label.as_str()),
        ("scout", "subagent scout")
    );
    assert_eq!(lane.entries.len(), 3);
    assert_eq!(
        transcript.turns().len(),
        2,
        "prompts of a sub-agent open no turn"
    );
    let meta = transcript.meta();
    assert_eq!(meta.title().unwrap().as_str(), "Oil the third gear");
    assert_eq!(meta.live, Some(false));
    assert_eq!(meta.id.as_deref(), Some("1790000000000_abcde"));
}

#[test]
fn agents_are_tied_to_their_calls_and_a_guess_says_so() {
    let surveyor = ("agent_1790000105000_k3j2h1.messages.json", SURVEYOR);
    let singer = ("agent_1790000106000_z9y8x7.messages.json", SINGER);
    let tester = ("tester__Ab3dEf.messages.json", TESTER);
    for order in [[surveyor, singer, tester], [tester, singer, surveyor]] {
        let transcript = read(TEAM, &order);
        let tie = |lane: &str| {
            let lane = transcript
                .lanes()
                .iter()
                .find(|known| known.name.starts_with(lane))
                .unwrap();
            (
                lane.call.as_deref().unwrap_or_default().to_owned(),
                lane.label.contains("by time"),
            )
        };
        assert_eq!(
            tie("agent_1790000105000"),
            ("toolu_t1".to_owned(), false),
            "by its task"
        );
        assert_eq!(
            tie("agent_1790000106000"),
            ("toolu_t2".to_owned(), true),
            "by time"
        );
        assert_eq!(
            tie("tester"),
            ("toolu_t4".to_owned(), false),
            "by the agent's name"
        );
    }
}

#[test]
fn what_the_lead_and_its_agents_spent_is_summed_once() {
    let transcript = read(
        TEAM,
        &[
            ("agent_a.messages.json", SURVEYOR),
            ("m.json", TEAM_MANIFEST),
        ],
    );
    assert_eq!(
        transcript.totals().sum().recorded_nanos,
        53_000_000,
        "aggregates are not added"
    );
    assert_eq!(
        transcript.notices().len(),
        0,
        "the manifest records the same cost of the lead"
    );
    assert_eq!(transcript.meta().live, Some(false));
    let end = transcript.entries().last().unwrap();
    assert!(
        matches!(&end.blocks[0].kind, BlockKind::Break(Break::Error(_))),
        "the session failed"
    );
    let manifest = TEAM_MANIFEST.replace("\"totalCost\": 0.05", "\"totalCost\": 0.07");
    let transcript = read(TEAM, &[("m.json", manifest.as_str())]);
    assert!(
        transcript.notices()[0].what.contains("$0.070000"),
        "{:?}",
        transcript.notices()
    );
}

#[test]
fn a_sidecar_adds_no_messages() {
    let [alone, beside] = [
        read(TEAM, &[]),
        read(TEAM, &[("x.compaction.json", SIDECAR)]),
    ];
    assert_eq!(beside.entries().count(), alone.entries().count() + 1);
    assert_eq!(beside.totals(), alone.totals());
    let opened = read(SIDECAR, &[]);
    let first = opened.entries().next().unwrap();
    let BlockKind::Break(Break::Setting(what)) = &first.blocks[0].kind else {
        panic!()
    };
    assert!(what.contains("shortened copy"));
}

#[test]
fn copied_history_counts_once_and_a_mere_namesake_stays() {
    let companions = [
        ("singer__Zz9yXw.messages.json", FORK_SINGER),
        ("m.json", FORK_MANIFEST),
    ];
    let transcript = read(FORK, &companions);
    assert_eq!(
        transcript
            .entries()
            .filter(|entry| &*entry.key == "msg_t1")
            .count(),
        1
    );
    assert!(
        entry(&transcript, "msg_t1").lane.is_none(),
        "the lead wrote it first"
    );
    let namesake = entry(&transcript, "singer__Zz9yXw:msg_f1");
    assert_eq!(
        first_text(namesake).as_deref(),
        Some("a message of the same name")
    );
    assert_eq!(
        transcript.lanes()[0].call.as_deref(),
        Some("toolu_t2"),
        "childSessions names the call"
    );
    assert_eq!(transcript.lanes()[0].entries.len(), 3);
    let notices: Vec<_> = transcript
        .notices()
        .iter()
        .map(|notice| notice.what.to_string())
        .collect();
    assert_eq!(
        notices,
        ["100 input tokens hold 200 of the cache: the rest is taken as 0"]
    );
    let manifest = transcript.entries().last().unwrap();
    let BlockKind::Raw(raw) = &manifest.blocks[0].kind else {
        panic!()
    };
    assert!(
        raw.title.contains("forked from 1790000100000_teams")
            && raw.title.contains("another session")
    );
}

#[test]
fn calls_in_text_find_the_results_under_their_titles() {
    let transcript = read(TASK, &[]);
    assert_eq!(states(&transcript), ["done", "failed", "done", "pending"]);
    let said: Vec<_> = transcript.entries().filter_map(first_text).collect();
    assert_eq!(said[1], "I look at the cuckoo.");
    assert_eq!(said[2], "It is **not** louder: the file is locked.");
}

#[test]
fn the_panel_beside_a_history_only_adds_what_was_spent() {
    let [history, panel, both] = [
        read(TASK, &[]),
        read(TASK_PANEL, &[]),
        read(TASK, &[("ui_messages.json", TASK_PANEL)]),
    ];
    assert_eq!(history.totals().sum().priced, 0);
    let spent = |transcript: &Transcript| transcript.totals().sum().recorded_nanos;
    assert_eq!((spent(&both), spent(&panel)), (10_500_000, 10_500_000));
    assert_eq!(both.entries().count(), history.entries().count() + 1);
    let priced = both.entries().filter(|entry| entry.usage.is_some());
    assert_eq!(
        priced.count(),
        3,
        "each answer has the usage of its request"
    );
    // A message that is only text is a row for a known and for an unknown kind.
    let words = |say: &str| {
        format!(r#",{{"ts":1769064454999,"type":"say","say":"{say}","text":"Words."}}]"#)
    };
    for say in ["info", "kind_of_next_week"] {
        let panel = TASK_PANEL.trim_end().trim_end_matches(']').to_owned() + &words(say);
        let more = read(TASK, &[("ui_messages.json", &panel)]);
        assert_eq!(more.entries().count(), both.entries().count() + 1, "{say}");
        assert_eq!(more.tally().unknown.is_empty(), say == "info");
    }
}

/// Whichever file of a task was opened, the other adds what only it has, and nothing twice.
#[test]
fn both_files_of_a_task_count_the_same() {
    let tasks = [
        (HISTORY, PANEL),
        (TASK, TASK_PANEL),
        (RESUMED, RESUMED_PANEL),
    ];
    let inputs = tasks.map(|(history, panel)| {
        let beside = "api_conversation_history.json";
        let [by_history, by_panel] = [
            read(history, &[("ui_messages.json", panel)]),
            read(panel, &[(beside, history)]),
        ];
        assert_eq!(by_history.totals().sum(), by_panel.totals().sum());
        // The history is read again when the agent has written to it.
        let again = read(panel, &[(beside, history), (beside, history)]);
        assert_eq!(again.totals().sum(), by_panel.totals().sum());
        let shown = |transcript: &Transcript| transcript.entries().count();
        assert_eq!(shown(&by_panel), shown(&read(panel, &[])));
        let sum = by_panel.totals().sum();
        (sum.input.total, sum.recorded_nanos)
    });
    assert_eq!(
        inputs,
        [(1910, 6_000_000), (2710, 10_500_000), (942, 25_100_000)]
    );
}

#[test]
fn messages_of_the_panel_go_on_with_earlier_ones() {
    let transcript = read(TASK_PANEL, &[]);
    let tally = transcript.tally();
    assert_eq!((tally.records(), tally.passed, tally.merged), (28, 0, 9));
    assert!(tally.unknown.is_empty());
    assert_eq!(
        states(&transcript),
        ["done", "done", "failed", "done", "lost", "done", "failed"]
    );
    let failures: Vec<_> = transcript
        .entries()
        .filter(|entry| entry.key.ends_with("error_retry"))
        .flat_map(|entry| &entry.blocks)
        .map(|block| {
            if let BlockKind::Break(line) = &block.kind {
                line.words()
            } else {
                panic!()
            }
        })
        .collect();
    assert_eq!(
        failures.iter().map(Text::as_str).collect::<Vec<_>>(),
        [
            "request failed, try 1 of 3, tried again",
            "request gave up, try 3 of 3"
        ]
    );
    let times = |key: &str| {
        let shown = entry(&transcript, &format!("17900003{key}"));
        (
            shown.at.map(|at| at.0 % 100_000),
            shown.ended.map(|ended| ended.0 % 100_000),
        )
    };
    assert_eq!(
        times("03200:error_retry"),
        (Some(3200), Some(3300)),
        "it waited before it tried again"
    );
    assert_eq!(
        times("03400:error_retry"),
        (Some(3400), None),
        "each failure has its own time"
    );
    assert_eq!(
        times("03500:api_req_failed"),
        (Some(3500), None),
        "somebody made it try again"
    );
    assert_eq!(
        times("12000:completion_result"),
        (Some(12_000), Some(12_100)),
        "an answer ends the task"
    );
    let compactions = transcript
        .entries()
        .flat_map(|entry| &entry.blocks)
        .filter(|block| matches!(block.kind, BlockKind::Break(Break::Compaction { .. })));
    assert_eq!(compactions.count(), 2);
}

#[test]
fn only_the_lead_of_a_session_has_sub_agents_beside_it() {
    let patterns = |path: &str| companions(Path::new(path)).len();
    assert_eq!(patterns("/s/1_a/1_a.messages.json"), 3);
    assert_eq!(patterns("/s/1_a/scout.messages.json"), 1);
    assert_eq!(patterns("/s/1_a/1_a.json"), 0);
    assert_eq!(patterns("/tasks/1/api_conversation_history.json"), 2);
    assert_eq!(patterns("/tasks/1/ui_messages.json"), 2);
}

#[test]
fn results_in_plain_text_go_to_the_calls_in_order() {
    let transcript = read(HISTORY, &[]);
    assert_eq!(states(&transcript), ["done", "done"]);
    let users: Vec<&Entry> = transcript
        .entries()
        .filter(|entry| entry.role == Role::User)
        .collect();
    let said: Vec<_> = users.iter().filter_map(|entry| first_text(entry)).collect();
    assert_eq!(said, ["list the gears", "and the second?"]);
}

#[test]
fn the_panel_shows_requests_tools_and_commands() {
    let transcript = read(PANEL, &[]);
    assert_eq!(
        states(&transcript),
        ["pending", "done", "done"],
        "no request brought the first result"
    );
    let usage: Vec<_> = transcript
        .entries()
        .filter_map(|entry| entry.usage.as_deref())
        .collect();
    assert_eq!(
        usage.iter().filter_map(|usage| usage.input).sum::<u64>(),
        910
    );
    let users = transcript
        .entries()
        .filter(|entry| entry.role == Role::User)
        .count();
    assert_eq!((users, transcript.turns().len()), (2, 2));
    let tally = transcript.tally();
    assert_eq!(
        (tally.records(), tally.passed, tally.merged, tally.faulty),
        (17, 0, 4, 0)
    );
}

#[test]
fn the_panel_says_what_an_answer_cost_and_how_its_cache_was_used() {
    let [alone, both] = [
        read(RESUMED, &[]),
        read(RESUMED, &[("ui_messages.json", RESUMED_PANEL)]),
    ]
    .map(|transcript| {
        let sum = transcript.totals().sum();
        (
            sum.requests,
            sum.input.total,
            sum.cache_read.value(),
            sum.cache_write.value(),
            sum.priced,
        )
    });
    assert_eq!(
        alone,
        (4, 942, Some(0), Some(0), 0),
        "a sum of cached tokens is not split"
    );
    assert_eq!(both, (4, 942, Some(10_200), Some(5_300), 4));
}

#[test]
fn a_cost_of_0_counts_beside_other_costs_only() {
    let both = read(RESUMED, &[("ui_messages.json", RESUMED_PANEL)]);
    let cost = |transcript: &Transcript, key: &str| {
        let usage = entry(transcript, key).usage.as_deref().unwrap();
        usage.cost
    };
    assert_eq!(
        cost(&both, "#1@"),
        Some(0.0),
        "the first cost after it says that it was free"
    );
    let panel = read(RESUMED_PANEL, &[]);
    assert_eq!(panel.totals().sum().priced, 4);
    let request = "1790000500100:api_req_started";
    assert_eq!(cost(&panel, request), Some(0.0));
    let prices = ["0.0195", "0.0031", "0.0025"];
    let unknown = prices
        .iter()
        .fold(RESUMED_PANEL.to_owned(), |panel, price| {
            panel.replace(price, "0")
        });
    assert_eq!(
        cost(&read(&unknown, &[]), request),
        None,
        "nobody knows a price"
    );
}

#[test]
fn what_was_not_run_is_refused_and_what_a_resumption_follows_is_lost() {
    let transcript = read(RESUMED, &[]);
    assert_eq!(
        states(&transcript),
        ["done", "refused", "lost", "refused", "refused"]
    );
    // If results name their calls, a missing result alone does not make a call lost; the agent's
    // statement does.
    let named = r#"{"type":"tool_result","tool_use_id":"toolu_r1","content":"half way down"}"#;
    let text = r#"{"type":"text","text":"[read_file for 'left.txt'] Result:\nhalf way down"}"#;
    let skipped = "Tool [read_file] was not executed because a tool has";
    let history = RESUMED
        .replace(text, named)
        .replace(skipped, "Somebody else has");
    assert_eq!(
        states(&read(&history, &[])),
        ["done", "pending", "lost", "refused", "refused"]
    );
}

#[test]
fn the_summary_of_a_compaction_is_no_prompt() {
    let transcript = read(COMPACTED, &[]);
    let summary = entry(&transcript, "msg_k3");
    assert!(summary.role == Role::Harness && !summary.marks.prompt);
    let BlockKind::Break(Break::Compaction {
        before, partial, ..
    }) = summary.blocks[0].kind
    else {
        panic!()
    };
    assert_eq!((before, partial), (Some(150_000), false));
    assert_eq!(transcript.turns().len(), 2);
}

#[test]
fn another_version_of_the_file_is_noted() {
    let newer = COMPACTED.replace("\"version\": 1", "\"version\": 2");
    let notices = |document: &str| read(document, &[]).notices().len();
    assert_eq!((notices(COMPACTED), notices(&newer)), (0, 1));
    let confidence = |document: &str| {
        let header = parse(document).unwrap();
        let probe = Probe {
            path: Path::new("a.messages.json"),
            text: None,
            children: &[],
            lines: &[],
            header: Some(&header),
            elements: &[],
            is_document: true,
            is_whole: true,
        };
        Cline.sniff(&probe).confidence
    };
    assert_eq!(
        (confidence(COMPACTED), confidence(&newer)),
        (Confidence::Certain, Confidence::Likely)
    );
}

#[test]
fn a_task_of_roo_code_has_thoughts_refusals_and_a_folder() {
    let history = r#"[{"role":"user","content":[{"type":"text","text":"<task>\nfix\n</task>"}],"ts":1},
        {"role":"assistant","content":[{"type":"reasoning","text":"hm","summary":[]},
            {"type":"tool_use","id":"t","name":"execute_command","input":{"command":"false"}}],"ts":2},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"The user denied this operation."}],"ts":3}]"#;
    let transcript = read(
        history,
        &[(
            "/t/history_item.json",
            r#"{"id":"x","task":"fix","workspace":"/w/p"}"#,
        )],
    );
    let calls: Vec<_> = transcript.entries().flat_map(Entry::calls).collect();
    assert!(
        matches!(calls[..], [call] if matches!(call.state, ToolState::Refused(_))),
        "{calls:?}"
    );
    let blocks = transcript.entries().flat_map(|entry| &entry.blocks);
    assert_eq!(
        blocks
            .filter(|block| matches!(block.kind, BlockKind::Thinking(_)))
            .count(),
        1
    );
    assert_eq!(transcript.meta().cwd.as_deref(), Some("/w/p"));
}

#[test]
fn a_panel_alone_tells_what_was_denied() {
    let request = |text: &str| {
        let text = serde_json::json!({"request": text}).to_string();
        serde_json::json!({"ts":4,"type":"say","say":"api_req_started","text":text})
    };
    let states = |text: &str| -> Vec<&str> {
        let messages = serde_json::json!([
            {"ts":1,"type":"say","say":"text","text":"Clean up."},
            {"ts":2,"type":"ask","ask":"command","text":"rm a"},
            {"ts":3,"type":"ask","ask":"command","text":"rm b"},
            request(text),
        ]);
        let transcript = read(&messages.to_string(), &[]);
        transcript
            .entries()
            .flat_map(Entry::calls)
            .map(|call| call.state.word())
            .collect::<Vec<_>>()
    };
    let denied = r#"{"status":"denied","message":"The user denied this operation."}"#;
    assert_eq!(
        states(&format!("[Tool]\n{denied}\n\n[Tool (Error)]\nno such file")),
        ["refused", "failed"]
    );
    let named = format!(
        "[execute_command for 'rm a'] Result:\n\n{denied}\n\n[execute_command for 'rm b'] Result:\n\nok"
    );
    assert_eq!(states(&named), ["refused", "done"]);
    let pending = states(&format!("[Tool]\n{denied}"));
    assert!(
        !pending.contains(&"refused"),
        "one result of two: {pending:?}"
    );
}

#[test]
fn a_message_that_was_still_being_written_is_not_shown_twice() {
    let tool = |partial: bool| {
        format!(
            r#"{{"ts":700,"type":"ask","ask":"tool","text":"{{\"tool\":\"appliedDiff\",\"path\":\"a.rs\",\"diff\":\"x\"}}","partial":{partial}}}"#
        )
    };
    let task = r#"{"ts":1,"type":"say","say":"text","text":"fix"}"#;
    let transcript = read(&format!("[{task},{},{}]", tool(true), tool(false)), &[]);
    let calls: Vec<_> = transcript.entries().flat_map(Entry::calls).collect();
    assert!(
        matches!(calls[..], [call] if call.state != ToolState::Lost),
        "{calls:?}"
    );
}

#[test]
fn what_condensing_cost_counts() {
    let panel = r#"[{"ts":1,"type":"say","say":"text","text":"go"},
        {"ts":2,"type":"say","say":"api_req_started","text":"{\"tokensIn\":100,\"tokensOut\":20,\"cost\":0.01}"},
        {"ts":3,"type":"say","say":"condense_context","contextCondense":{"cost":0.005,"prevContextTokens":1000,"newContextTokens":100,"summary":"S"}}]"#;
    let transcript = read(panel, &[]);
    let costs: Vec<f64> = transcript
        .entries()
        .filter_map(|entry| entry.usage.as_ref()?.cost)
        .collect();
    assert_eq!(costs, [0.01, 0.005]);
    assert_eq!(transcript.totals().sum().requests, 1);
}

#[test]
fn what_nobody_knows_answers_no_question_and_asks_for_nothing() {
    let waits = |more: &str| {
        let panel = format!(
            r#"[{{"ts":0,"type":"say","say":"hologram","text":"hm"}},{{"ts":1,"type":"say","say":"text","text":"Clean up."}},
                {{"ts":2,"type":"ask","ask":"command","text":"rm a"}}{more}]"#
        );
        let transcript = read(&panel, &[]);
        let blocks = transcript.entries().flat_map(|entry| &entry.blocks);
        let waiting = blocks
            .filter(|block| matches!(block.kind, BlockKind::Break(Break::Waiting(_))))
            .count();
        (
            transcript
                .entries()
                .filter(|entry| entry.marks.prompt)
                .count(),
            waiting,
        )
    };
    assert_eq!(waits(""), (1, 1));
    assert_eq!(
        waits(r#",{"ts":3,"type":"say","say":"hologram","text":"hm"}"#),
        (1, 1)
    );
    assert_eq!(
        waits(r#",{"ts":3,"type":"say","say":"command_output","text":"gone"}"#),
        (1, 0)
    );
    let role =
        r#"[{"role":"user","content":"<task>\nfix\n</task>"},{"role":"umpire","content":"out"}]"#;
    let transcript = read(role, &[]);
    assert_eq!(transcript.turns().len(), 1);
    assert!(
        transcript
            .tally()
            .unknown
            .keys()
            .any(|kind| kind.as_str() == "role/umpire")
    );
}

#[test]
fn kinds_of_the_panel_that_nobody_knows_are_told_beside_a_history() {
    let before = read(TASK, &[("ui_messages.json", TASK_PANEL)]);
    let new = r#","ts":1790000009000,"type":"say","say":"sang_along"#;
    let sung = format!(r#"{{"text":"La la, says the miller."{new}"}},{{"text":""{new}_again"}},"#);
    let panel = TASK_PANEL.replacen('[', &format!("[{sung}{sung}"), 1);
    let transcript = read(TASK, &[("ui_messages.json", &panel)]);
    let unknown = &transcript.tally().unknown;
    let counts: Vec<_> = unknown
        .iter()
        .map(|(kind, unknown)| (kind.as_str(), unknown.count()))
        .collect();
    assert_eq!(counts, [("say/sang_along", 2), ("say/sang_along_again", 2)]);
    assert!(before.tally().unknown.is_empty());
    assert_eq!(transcript.order().len(), before.order().len() + 4);
    assert_eq!(transcript.totals(), before.totals());
}
