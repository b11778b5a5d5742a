mod chains;
mod company;
mod copies;
mod spent;

use std::path::Path;

use serde_json::{Value, json};

use super::Claude;
use crate::formats::decoder::{Decoder, Format, RecordPlace, feed};
use crate::formats::json::{self, Json};
use crate::formats::probe::{Confidence, Probe};
use crate::formats::roots::FileRole;
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Break, Entry, Role};
use crate::model::record::{FileId, Origin, Record};
use crate::model::tool::ToolResult;
use crate::model::transcript::Transcript;

const SESSION: &str =
    include_str!("../../../tests/fixtures/claude-code/5d0c1c52-7f4e-4a39-9d5b-2f6f0c9b1e01.jsonl");
const AGENT: &str = include_str!(
    "../../../tests/fixtures/claude-code/5d0c1c52-7f4e-4a39-9d5b-2f6f0c9b1e01/subagents/agent-c4d5e6f.jsonl"
);
const AGENT_META: &str = include_str!(
    "../../../tests/fixtures/claude-code/5d0c1c52-7f4e-4a39-9d5b-2f6f0c9b1e01/subagents/agent-c4d5e6f.meta.json"
);
const BUSY: &str = include_str!("../../../tests/fixtures/claude-code/busy.jsonl");
const STORED: &str =
    include_str!("../../../tests/fixtures/claude-code/busy/tool-results/btest01.txt");
const EARLY: &str = include_str!("../../../tests/fixtures/claude-code/early.jsonl");

/// Feeds the lines of one file.
fn feed_file(
    decoder: &mut dyn Decoder,
    text: &str,
    file: u32,
    place: RecordPlace<'_>,
    out: &mut Batch,
) {
    let mut at = 0;
    for (number, line) in text.split('\n').enumerate() {
        let line_number = u32::try_from(number).unwrap() + 1;
        let len = u32::try_from(line.len()).unwrap();
        let origin = Origin {
            file: FileId(file),
            at,
            len,
            line: line_number,
        };
        feed(
            decoder,
            Record {
                origin,
                bytes: line.as_bytes(),
            },
            place,
            out,
        );
        at += u64::from(len) + 1;
    }
}

fn batch_of(text: &str) -> Batch {
    let mut out = Batch::default();
    feed_file(
        &mut *Claude.decoder(None),
        text,
        0,
        RecordPlace::Line,
        &mut out,
    );
    out
}

fn transcript_of(batch: Batch) -> Transcript {
    let mut transcript = Transcript::new();
    transcript.apply(batch);
    transcript.update_derived();
    transcript
}

fn read(text: &str) -> Transcript {
    transcript_of(batch_of(text))
}

fn with_agent() -> Transcript {
    let mut decoder = Claude.decoder(None);
    let mut out = Batch::default();
    feed_file(&mut *decoder, SESSION, 0, RecordPlace::Line, &mut out);
    let folder = Path::new("session/subagents");
    let place = folder.join("agent-c4d5e6f.meta.json");
    feed_file(
        &mut *decoder,
        AGENT_META,
        1,
        RecordPlace::File(&place),
        &mut out,
    );
    let place = folder.join("agent-c4d5e6f.jsonl");
    feed_file(
        &mut *decoder,
        AGENT,
        2,
        RecordPlace::CompanionLine(&place),
        &mut out,
    );
    transcript_of(out)
}

fn of_role(transcript: &Transcript, role: Role) -> Vec<&Entry> {
    transcript
        .entries()
        .filter(|entry| entry.role == role)
        .collect()
}

fn lines_of<'a>(records: impl Iterator<Item = &'a Value>) -> String {
    records.map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn lines_of_one_answer_are_one_entry_with_its_last_usage() {
    let transcript = read(SESSION);
    let first = transcript
        .get(transcript.find("msg_01AAAAfix").unwrap())
        .unwrap();
    assert_eq!(
        first.blocks.len(),
        4,
        "thinking, text, two calls; the blank line is none"
    );
    assert_eq!(first.usage.as_ref().unwrap().output, Some(212));
    assert_eq!(first.usage.as_ref().unwrap().cache_write_1h, Some(400));
    assert_eq!(of_role(&transcript, Role::Assistant).len(), 8);
    assert_eq!(
        transcript.totals().sum().requests,
        7,
        "an error of the program is no request"
    );
}

#[test]
fn results_find_their_calls_and_bring_facts() {
    let transcript = read(SESSION);
    let states: Vec<(String, String)> = transcript
        .entries()
        .flat_map(Entry::calls)
        .map(|call| {
            let facts = call.state.result().map(|result| result.facts.to_string());
            (
                call.name.to_string(),
                format!("{}: {}", call.state.word(), facts.unwrap_or_default()),
            )
        })
        .collect();
    let states: Vec<(&str, &str)> = states
        .iter()
        .map(|(name, state)| (name.as_str(), state.as_str()))
        .collect();
    let expected = [
        ("Grep", "done: 2 lines"),
        ("Read", "done: 4 of 31 lines"),
        ("Edit", "done: +1 −1"),
        ("Bash", "failed: exit 101"),
        ("Task", "done: 1 call · 9140 tokens"),
        ("Write", "refused: refused"),
        ("Bash", "done: "),
        ("Bash", "pending: "),
    ];
    assert_eq!(states, expected);
}

#[test]
fn only_the_user_speaks_as_the_user() {
    let transcript = read(SESSION);
    let said: Vec<&str> = of_role(&transcript, Role::User)
        .iter()
        .filter_map(|entry| {
            entry.blocks.iter().find_map(|block| match &block.kind {
                BlockKind::Text(body) => Some(body.stub.as_str()),
                _ => None,
            })
        })
        .collect();
    let expected = [
        "The forecast prints Fahrenheit as Celsius. Find out why and fix it.",
        "The old test expected the wrong value, change it too.",
        "Is this table right?",
        "Fix `config.rs` as well.",
        "/compact keep the file names",
        "!git status --short",
        "Thanks. Commit it.",
    ];
    assert_eq!(said, expected);
    assert_eq!(transcript.turns().len(), expected.len());
}

#[test]
fn two_prompts_with_one_parent_are_a_rewind() {
    let transcript = read(SESSION);
    let roots: Vec<&str> = transcript
        .branches()
        .roots
        .iter()
        .filter_map(|id| transcript.get(*id))
        .map(|entry| entry.key.as_str())
        .collect();
    assert_eq!(roots, ["a1b20025-1111-4222-8333-444455556666"]);
}

#[test]
fn a_summary_belongs_to_its_compaction() {
    let transcript = read(SESSION);
    let mut compactions = transcript.entries().filter(|entry| {
        matches!(
            &entry.blocks.first().unwrap().kind,
            BlockKind::Break(Break::Compaction { .. })
        )
    });
    let compaction = compactions.next().unwrap();
    assert!(matches!(&compaction.blocks[1].kind, BlockKind::Text(_)));
    assert!(compactions.next().is_none());
}

#[test]
fn a_sub_agents_file_is_a_lane_of_its_call() {
    let transcript = with_agent();
    let [lane] = transcript.lanes() else {
        panic!("one lane")
    };
    assert_eq!(lane.label.as_str(), "Find other unit mix-ups");
    assert_eq!(lane.call.as_deref(), Some("toolu_01Task"));
    assert_eq!(lane.entries.len(), 3);
    assert_eq!(transcript.turns().len(), read(SESSION).turns().len());
}

#[test]
fn a_sub_agents_own_file_reads_as_a_session() {
    let transcript = read(AGENT);
    assert!(transcript.lanes().is_empty());
    assert_eq!(transcript.turns().len(), 1);
}

#[test]
fn copies_in_progress_lines_stay_until_the_message_comes() {
    let transcript = read(EARLY);
    let copies = |transcript: &Transcript| {
        transcript
            .entries()
            .filter(|entry| entry.marks.copy)
            .count()
    };
    assert_eq!(copies(&transcript), 3);
    assert_eq!(
        of_role(&transcript, Role::Assistant).len(),
        3,
        "a copy is no answer"
    );

    let mut decoder = Claude.decoder(None);
    let mut out = Batch::default();
    feed_file(&mut *decoder, EARLY, 0, RecordPlace::Line, &mut out);
    let own = "{\"type\":\"user\",\"isSidechain\":true,\"agentId\":\"0a1b2c3\",\
               \"uuid\":\"dddd0000-1111-4222-8333-444455556666\",\
               \"message\":{\"role\":\"user\",\"content\":\"Read each card.\"}}";
    feed_file(
        &mut *decoder,
        own,
        1,
        RecordPlace::CompanionLine(Path::new("agent-0a1b2c3.jsonl")),
        &mut out,
    );
    assert_eq!(copies(&transcript_of(out)), 2);
}

#[test]
fn summaries_of_other_sessions_are_no_title() {
    let transcript = read(EARLY);
    assert_eq!(
        transcript.meta().title().unwrap().as_str(),
        "Rhubarb, once more"
    );
    assert_eq!(
        read(SESSION).meta().title().unwrap().as_str(),
        "Fix unit mix-up in the forecast"
    );
}

#[test]
fn a_session_is_called_as_its_user_says_whatever_is_written_again() {
    let record = |kind: &str, member: &str, value: &str| json!({"type": kind, "sessionId": "s", member: value});
    let titled = |records: &[Value]| {
        let prompt = json!({"type": "user", "uuid": "u", "message": {"role": "user", "content": "Find the leak"}});
        let lines = lines_of([&prompt].into_iter().chain(records));
        read(&lines).meta().title().unwrap().to_string()
    };
    let named = record("agent-name", "agentName", "leak-hunt");
    let made = record("ai-title", "aiTitle", "Hunt for a leak");
    let typed = record("custom-title", "customTitle", "The leak");
    assert_eq!(titled(std::slice::from_ref(&made)), "Hunt for a leak");
    assert_eq!(titled(&[named.clone(), made.clone()]), "leak-hunt");
    assert_eq!(titled(&[typed, named, made]), "The leak");
}

#[test]
fn who_left_a_worktree_is_in_none() {
    let state = |session: Value| json!({"type": "worktree-state", "sessionId": "s", "worktreeSession": session});
    let entered = state(
        json!({"originalCwd": "/w/mill", "worktreePath": "/w/trees/wheel", "worktreeBranch": "wheel"}),
    );
    let facts = |records: &[Value]| {
        let prompt =
            json!({"type": "user", "uuid": "u", "message": {"role": "user", "content": "Go"}});
        let lines = lines_of([&prompt].into_iter().chain(records));
        let facts = read(&lines).meta().facts.clone();
        ["worktree", "worktree branch"].map(|name| facts.get(name).map(ToString::to_string))
    };
    let there = ["/w/trees/wheel", "wheel"].map(|value| Some(value.to_owned()));
    assert_eq!(facts(std::slice::from_ref(&entered)), there);
    assert_eq!(facts(&[entered, state(Value::Null)]), [None, None]);
}

#[test]
fn records_of_a_workflow_in_a_session_are_no_unknown_kinds() {
    let of_journal = |kind: &str| json!({"type": kind, "sessionId": "s", "key": "k", "agentId": "a", "result": "r"});
    let prompt = json!({"type": "user", "uuid": "u", "message": {"role": "user", "content": "Go"}});
    let mailbox = json!({"type": "attachment", "uuid": "m", "attachment": {"type": "teammate_mailbox", "messages": []}});
    let records = ["launched", "started", "result", "failed"].map(of_journal);
    let lines = lines_of([&prompt, &mailbox].into_iter().chain(&records));
    let transcript = read(&lines);
    assert!(
        transcript.tally().unknown.is_empty(),
        "{:?}",
        transcript.tally().unknown
    );
    assert_eq!(
        transcript
            .entries()
            .filter(|entry| !entry.marks.trace)
            .count(),
        1
    );
}

#[test]
fn recorded_cost_of_early_versions_counts() {
    let spent = read(EARLY).totals().sum();
    assert_eq!(spent.recorded_nanos, 4_125_000);
    assert_eq!(spent.priced, 1);
}

#[test]
fn a_line_with_the_id_of_another_and_other_words_is_no_copy_of_it() {
    let line = |words: &str| {
        format!(
            r#"{{"type":"user","uuid":"u1","parentUuid":null,"isSidechain":false,"sessionId":"s","message":{{"role":"user","content":"{words}"}}}}"#
        )
    };
    let batch = batch_of(&format!(
        "{}\n{}\n{}\n",
        line("yes"),
        line("yes"),
        line("not")
    ));
    assert_eq!(batch.notices.len(), 1, "{:?}", batch.notices);
    assert_eq!(
        batch.notices.first().map(|notice| notice.origin.line),
        Some(3)
    );
    let transcript = transcript_of(batch);
    let said = transcript
        .entries()
        .flat_map(|entry| &entry.blocks)
        .find_map(|block| match &block.kind {
            BlockKind::Text(body) => Some(body.stub.to_string()),
            _ => None,
        });
    assert_eq!(said.as_deref(), Some("not"));
}

#[test]
fn a_repeated_line_is_merged() {
    let resumed = format!("{SESSION}{SESSION}");
    let (once, twice) = (read(SESSION), read(&resumed));
    assert_eq!(once.totals(), twice.totals());
    assert_eq!(once.turns().len(), twice.turns().len());
    assert_eq!(
        of_role(&once, Role::Assistant).len(),
        of_role(&twice, Role::Assistant).len()
    );
}

#[test]
fn an_answer_is_complete_with_its_last_line() {
    let line = |id: &str, second: u32, text: &str| {
        format!(
            "{{\"type\":\"assistant\",\"uuid\":\"{id}\",\"isSidechain\":false,\
             \"timestamp\":\"2026-01-05T10:00:{second:02}.000Z\",\"message\":{{\"id\":\"msg_{text}\",\
             \"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}"
        )
    };
    let lines = [
        line("u1", 2, "a"),
        line("u2", 42, "a"),
        line("u3", 50, "b"),
        line("u1", 55, "a"),
    ];
    let transcript = read(&lines.join("\n"));
    let times = |entry: &Entry| {
        [entry.at, entry.ended, entry.end()].map(|at| at.map(|at| at.0 / 1_000 % 60))
    };
    let found: Vec<_> = transcript.entries().map(times).collect();
    assert_eq!(
        found,
        [[Some(2), Some(42), Some(42)], [Some(50), None, Some(50)]]
    );
}

/// The states of the calls, by the suffixes of their ids.
fn states(transcript: &Transcript) -> Vec<(String, &'static str)> {
    let calls = transcript.entries().flat_map(Entry::calls);
    calls
        .map(|call| (call.key.replace("toolu_b", ""), call.state.word()))
        .collect()
}

fn result_of<'t>(transcript: &'t Transcript, call: &str) -> &'t ToolResult {
    let mut calls = transcript.entries().flat_map(Entry::calls);
    calls
        .find(|other| other.key.as_str() == call)
        .unwrap()
        .state
        .result()
        .unwrap()
}

fn feed_stored(decoder: &mut dyn Decoder, out: &mut Batch) {
    let path = Path::new("busy/tool-results/btest01.txt");
    let len = u32::try_from(STORED.len()).unwrap();
    let origin = Origin {
        file: FileId(3),
        at: 0,
        len,
        line: 3,
    };
    feed(
        decoder,
        Record {
            origin,
            bytes: STORED.as_bytes(),
        },
        RecordPlace::Text(path),
        out,
    );
}

#[test]
fn nothing_is_passed_and_bookkeeping_needs_no_row() {
    let transcript = read(BUSY);
    assert_eq!(transcript.tally().passed, 0);
    assert!(transcript.tally().unknown.is_empty());
    let traces: Vec<&Entry> = transcript
        .entries()
        .filter(|entry| entry.marks.trace)
        .collect();
    assert!(traces.iter().all(|entry| entry.role == Role::Harness));
    let keys: Vec<&str> = traces.iter().map(|entry| entry.key.as_str()).collect();
    let hooks: Vec<&&str> = keys
        .iter()
        .filter(|key| key.starts_with("hook:toolu_bTest"))
        .collect();
    assert_eq!(hooks.len(), 1, "the hooks of one call are one entry");
    assert_eq!(
        keys.iter()
            .filter(|key| key.starts_with("snapshot:"))
            .count(),
        1
    );
}

#[test]
fn a_running_call_shows_its_newest_output_until_the_result_comes() {
    let cut = |mark: &str| {
        let last = BUSY.lines().rfind(|line| line.contains(mark)).unwrap();
        let (before, _) = BUSY.split_once(last).unwrap();
        read(&format!("{before}{last}"))
    };
    let live = |transcript: &Transcript| {
        let calls = transcript.entries().flat_map(Entry::calls);
        calls
            .filter_map(|call| call.state.live_output()?.text().map(ToString::to_string))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        live(&cut("tide 2 ok\\n\",\"elapsed")),
        ["tide 1 ok\ntide 2 ok"]
    );
    assert_eq!(
        live(&read(BUSY)),
        ["storing tide 1\nstoring tide 2"],
        "no result came for the last one"
    );
}

#[test]
fn an_interruption_says_that_no_result_will_come() {
    let transcript = read(BUSY);
    let states = states(&transcript);
    let lost: Vec<&str> = states
        .iter()
        .filter(|(_, s)| *s == "lost")
        .map(|(key, _)| key.as_str())
        .collect();
    assert_eq!(lost, ["Slow"]);
    let open: Vec<&str> = states
        .iter()
        .filter(|(_, s)| *s == "pending")
        .map(|(key, _)| key.as_str())
        .collect();
    assert_eq!(open, ["Plan", "End"]);
}

#[test]
fn a_stored_output_opens_in_its_result_whichever_comes_first() {
    for comes_first in [false, true] {
        let mut decoder = Claude.decoder(None);
        let mut out = Batch::default();
        if comes_first {
            feed_stored(&mut *decoder, &mut out);
        }
        feed_file(&mut *decoder, BUSY, 0, RecordPlace::Line, &mut out);
        if !comes_first {
            feed_stored(&mut *decoder, &mut out);
        }
        decoder.finish(&mut out);
        let records = BUSY.lines().count() as u64;
        let transcript = transcript_of(out);
        let body = &result_of(&transcript, "toolu_bTest").body;
        assert_eq!((body.lines, body.from.file), (40, FileId(3)));
        assert_eq!(transcript.tally().records(), records, "a text is no record");
        assert!(transcript.find("stored:btest01.txt").is_none());
        let gone = transcript
            .notices()
            .iter()
            .filter(|notice| notice.what.contains("bgone01.txt"))
            .count();
        assert_eq!(gone, 1);
        let kept = &result_of(&transcript, "toolu_bLong").body;
        assert!(
            kept.text_or_stub().contains("chart 6"),
            "the longer copy of the beginning is kept"
        );
    }
}

#[test]
fn a_stored_output_decoded_alone_gives_its_text() {
    let mut out = Batch::default();
    feed_stored(&mut *Claude.decoder(None), &mut out);
    let transcript = transcript_of(out);
    let BlockKind::Raw(raw) = &transcript.entries().next().unwrap().blocks[0].kind else {
        panic!("raw")
    };
    assert_eq!(raw.body.text().unwrap().as_str(), STORED);
}

#[test]
fn retries_of_one_request_are_one_entry() {
    let transcript = read(BUSY);
    let errors: Vec<String> = transcript
        .entries()
        .flat_map(|entry| &entry.blocks)
        .filter_map(|block| match &block.kind {
            BlockKind::Break(Break::Error(words)) => Some(words.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(
        errors,
        ["API error 529 overloaded error, retry 3 of 10 in 1.5 s"]
    );
}

#[test]
fn what_an_error_holds_besides_its_words_stands_below_them() {
    let line = r#"{"type":"assistant","uuid":"e1","sessionId":"s","isApiErrorMessage":true,"message":{"id":"m1",
        "role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"API Error"},
        {"type":"next-year","content":[{"type":"tool_use","id":"t1","name":"Zap","input":{}}]},
        {"type":"text","text":"Try again"}]}}"#;
    let transcript = read(&line.replace('\n', ""));
    let [entry] = transcript.entries().collect::<Vec<_>>()[..] else {
        panic!("one entry")
    };
    let [error, other] = &entry.blocks[..] else {
        panic!("{:?}", entry.blocks)
    };
    assert!(
        matches!(&error.kind, BlockKind::Break(Break::Error(words)) if words.as_str() == "API Error\nTry again")
    );
    assert!(matches!(other.kind, BlockKind::Aside(..)), "{other:?}");
    assert_eq!(transcript.tally().loud(), 1);
}

#[test]
fn what_hangs_between_a_command_and_its_output_does_not_part_them() {
    let line = |uuid: &str, parent: &str, rest: &str| {
        format!(
            r#"{{"uuid":"{uuid}","parentUuid":"{parent}","sessionId":"s","isSidechain":false,{rest}}}"#
        )
    };
    let command =
        |text: &str| format!(r#""type":"system","subtype":"local_command","content":"{text}""#);
    let lines = [
        line("c1", "", &command("<command-name>/model</command-name>")),
        line("n1", "c1", r#""type":"next-year","text":"new""#),
        line("n2", "n1", r#""type":"system","subtype":"next-year""#),
        line(
            "c2",
            "n2",
            &command("<local-command-stdout>Kept</local-command-stdout>"),
        ),
    ];
    let transcript = read(&lines.join("\n"));
    let blocks: Vec<usize> = transcript
        .entries()
        .map(|entry| entry.blocks.len())
        .collect();
    assert_eq!(blocks, [2, 1, 1], "the output stands with its command");
}

#[test]
fn a_command_and_its_output_are_one_entry_and_no_title() {
    let transcript = read(BUSY);
    assert_eq!(
        transcript.meta().title().unwrap().as_str(),
        "Run the tide tests and store the table."
    );
    let model = transcript.entries().find(|entry| {
        matches!(&entry.blocks[0].kind, BlockKind::Break(Break::Setting(words)) if words.as_str() == "/model")
    });
    assert!(
        matches!(model.unwrap().blocks.as_slice(), [_, block] if matches!(block.kind, BlockKind::Raw(_)))
    );
}

#[test]
fn a_queued_prompt_waits_until_it_is_taken() {
    let transcript = read(BUSY);
    let queued = transcript.entries().filter(
        |entry| matches!(&entry.blocks[0].kind, BlockKind::Raw(raw) if raw.title.as_str() == "queued"),
    );
    let ends: Vec<bool> = queued.map(|entry| entry.marks.trace).collect();
    assert_eq!(ends, [true, true]);
}

#[test]
fn parallel_results_are_no_branch_and_another_session_id_is_shown() {
    let transcript = read(BUSY);
    assert!(transcript.branches().roots.is_empty());
    let resumed = transcript
        .entries()
        .flat_map(|entry| &entry.blocks)
        .filter_map(|block| match &block.kind {
            BlockKind::Break(Break::Resumed(words)) => Some(words.as_str()),
            _ => None,
        });
    let resumed: Vec<&str> = resumed.collect();
    assert!(
        matches!(resumed.as_slice(), [words] if words.ends_with("goes on as b05e0b3e-7a11-4c2d-8e55-0c9d1e2f3a4c"))
    );
    let facts = &transcript.meta().facts;
    assert_eq!(facts["git branch"].as_str(), "tides");
    assert_eq!(facts["permission mode"].as_str(), "acceptEdits");
}

#[test]
fn a_sub_agent_beside_its_session_is_asked_for() {
    let out = batch_of(BUSY);
    let wanted: Vec<&str> = out
        .requested_files
        .iter()
        .map(crate::model::text::Text::as_str)
        .collect();
    assert_eq!(wanted, ["77e1f02"]);
    let files = Claude.files(
        Path::new("project/busy.jsonl"),
        FileRole::Requested("77e1f02"),
    );
    assert_eq!(files[0].0, Path::new("project/agent-77e1f02.jsonl"));
    assert!(
        Claude
            .files(Path::new("project/busy.jsonl"), FileRole::Requested("../x"))
            .is_empty()
    );
}

#[test]
fn redacted_ids_identify_nothing() {
    let line = |n: u32, text: &str| {
        format!(
            "{{\"type\":\"assistant\",\"uuid\":\"[REDACTED]\",\"isSidechain\":false,\"message\":\
             {{\"id\":\"[REDACTED]\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}],\
             \"usage\":{{\"input_tokens\":{n},\"output_tokens\":-1}}}}}}"
        )
    };
    let transcript = read(&format!("{}\n{}", line(1, "one"), line(2, "two")));
    assert_eq!(of_role(&transcript, Role::Assistant).len(), 2);
    assert_eq!(transcript.totals().sum().input.value(), Some(3));
    assert_eq!(transcript.totals().sum().output.value(), Some(0));
    assert_eq!(transcript.notices().len(), 2, "negative counts are noted");
}

fn confidence(text: &str) -> Confidence {
    let lines: Vec<Json<'_>> = text
        .lines()
        .filter_map(|line| json::parse(line).ok())
        .collect();
    let probe = Probe {
        path: Path::new("-"),
        text: None,
        children: &[],
        lines: &lines,
        header: None,
        elements: &[],
        is_document: false,
        is_whole: true,
    };
    Claude.sniff(&probe).confidence
}

#[test]
fn content_decides() {
    assert_eq!(confidence(SESSION), Confidence::Certain);
    assert_eq!(confidence(AGENT), Confidence::Certain);
    assert_eq!(confidence(EARLY), Confidence::Certain);
    assert_eq!(
        confidence("{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"y\"}"),
        Confidence::Likely
    );
    assert_eq!(confidence(""), Confidence::NeedMore);
    let qwen =
        "{\"type\":\"user\",\"parentUuid\":null,\"message\":{\"role\":\"user\",\"parts\":[]}}";
    assert_eq!(confidence(qwen), Confidence::No);
    assert_eq!(
        confidence("{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}"),
        Confidence::No
    );
}

#[test]
fn the_session_goes_on_in_another_one_unless_something_is_said_here() {
    let line = r#"{"type":"continued-in","timestamp":"2026-10-20T10:00:05.000Z","sessionId":"s-1","continuedInSessionId":"s-2"}"#;
    let later = [
        r#"{"type":"cost-state","sessionId":"s-1","totalCostUSD":1}"#,
        r#"{"type":"user","uuid":"u9","parentUuid":null,"isSidechain":false,"sessionId":"s-1","message":{"role":"user","content":"here"}}"#,
    ];
    let last = |text: &str| {
        let transcript = read(text);
        let breaks = transcript.entries().flat_map(|entry| &entry.blocks);
        let last = breaks.filter_map(|block| match &block.kind {
            BlockKind::Break(line) => Some(line.clone()),
            _ => None,
        });
        (last.last(), transcript.has_ended())
    };
    let continued = Some(Break::Continued("s-2".into()));
    assert_eq!(last(line), (continued.clone(), true));
    assert_eq!(last(&format!("{line}\n{}", later[0])), (continued, true));
    let (line, has_ended) = last(&format!("{line}\n{}\n{}", later[0], later[1]));
    assert_eq!(
        (line.map(|line| line.words().to_string()), has_ended),
        (Some("continued in s-2, and went on here".to_owned()), false)
    );
}
