//! Tests of records of Kimi Code that depend on each other.

use std::path::Path;

use super::KimiCode;
use crate::formats::decoder::RecordPlace;
use crate::formats::fed;
use crate::model::entry::{BlockKind, Entry};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolState;
use crate::model::transcript::Transcript;

fn transcript(files: &[(RecordPlace<'_>, &[&str])]) -> Transcript {
    fed::transcript(&KimiCode, files)
}

const PROMPT: &str = r#"{"type":"turn.prompt","input":[{"type":"text","text":"go"}],"origin":{"kind":"user"},"time":1790000000000}"#;
const APPENDED: &str = r#"{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"go"}],"origin":{"kind":"user"}},"time":1790000000001}"#;
const SPENT: &str = r#"{"type":"usage.record","model":"kimi-k2","usage":{"inputOther":10,"output":5,"inputCacheRead":2,"inputCacheCreation":0},"usageScope":"turn","time":1790000000003}"#;

#[test]
fn a_prompt_and_its_message_are_one() {
    let prompts = |lines: &[&str]| {
        let transcript = transcript(&[(RecordPlace::Line, lines)]);
        transcript
            .entries()
            .filter(|entry| entry.marks.prompt)
            .count()
    };
    assert_eq!(prompts(&[PROMPT, APPENDED]), 1);
    assert_eq!(prompts(&[APPENDED]), 1);
    assert_eq!(prompts(&[PROMPT, APPENDED, PROMPT, APPENDED]), 2);
    let more = APPENDED.replace(
        r#""text":"go"}"#,
        r#""text":"go"},{"type":"hologram","text":"hm"}"#,
    );
    assert_eq!(
        prompts(&[PROMPT, &more]),
        1,
        "with a part that nobody knows"
    );
    let injected = APPENDED.replace(
        r#"{"kind":"user"}"#,
        r#"{"kind":"injection","variant":"plan_mode"}"#,
    );
    assert_eq!(prompts(&[&injected]), 0);
}

#[test]
fn a_copy_of_a_prompt_has_the_slots_that_it_has_when_it_is_read_alone() {
    let strange = r#""text":"go"},{"type":"hologram","light":"green"}"#;
    let copy = APPENDED.replace(r#""text":"go"}"#, strange);
    let other = APPENDED
        .replace(r#""kind":"user""#, r#""kind":"moon""#)
        .replace(r#""text":"go"}"#, strange);
    for copy in [copy, other] {
        let slots = |lines: &[&str]| {
            let transcript = transcript(&[(RecordPlace::Line, lines)]);
            let unknown = |entry: &Entry| {
                let mut blocks = entry.blocks.iter();
                let aside = blocks.find(|block| matches!(block.kind, BlockKind::Aside(..)))?;
                aside.kind.bodies().next().map(|body| body.slot)
            };
            transcript.entries().find_map(unknown)
        };
        let alone = slots(&[&copy]);
        assert_eq!((alone, slots(&[PROMPT, &copy])), (Some(1), alone), "{copy}");
    }
}

#[test]
fn usage_is_counted_by_its_own_records() {
    let begin = r#"{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"s"},"time":1790000000001}"#;
    let part = r#"{"type":"context.append_loop_event","event":{"type":"content.part","part":{"type":"text","text":"hi"}},"time":1790000000002}"#;
    let end = r#"{"type":"context.append_loop_event","event":{"type":"step.end","usage":{"inputOther":10,"output":5,"inputCacheRead":2},"finishReason":"end_turn"},"time":1790000000002}"#;
    let beside = SPENT.replace("turn", "session");
    let transcript = transcript(&[(RecordPlace::Line, &[begin, part, end, SPENT, &beside])]);
    let own: Vec<u64> = transcript
        .entries()
        .filter_map(|entry| Some(entry.usage.as_ref()?.total()))
        .collect();
    assert_eq!(own, [17]);
    let sum = transcript.totals().sum();
    assert_eq!(
        sum.input.total + sum.output.total + sum.cache_read.total,
        34
    );
    let models: Vec<Text> = transcript
        .totals()
        .by_model()
        .iter()
        .map(|(name, _)| name.clone())
        .collect();
    assert_eq!(
        models,
        [Text::from("kimi-k2")],
        "the record of usage tells the model of the answer"
    );
}

#[test]
fn sub_agents_are_lanes_of_the_call_that_names_them() {
    let call = r#"{"type":"context.append_loop_event","event":{"type":"tool.call","toolCallId":"Agent_1","name":"Agent","args":{"prompt":"look"}},"time":1790000000001}"#;
    let result = r#"{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"Agent_1","result":{"output":"agent_id: agent-0\nactual_subagent_type: explore\nstatus: completed"}},"time":1790000000002}"#;
    let path = Path::new("/s/agents/agent-0/wire.jsonl");
    let own = r#"{"type":"context.append_loop_event","event":{"type":"content.part","part":{"type":"text","text":"seen"}},"time":1790000000002}"#;
    let state = Path::new("/s/state.json");
    let transcript = transcript(&[
        (RecordPlace::Line, &[PROMPT, call, result]),
        (RecordPlace::CompanionLine(path), &[own]),
        (
            RecordPlace::File(state),
            &[r#"{"title":"A title","isCustomTitle":true,"workDir":"/w"}"#],
        ),
    ]);
    let lanes: Vec<_> = transcript
        .lanes()
        .iter()
        .map(|lane| (lane.label.clone(), lane.call.clone()))
        .collect();
    assert_eq!(lanes, [("explore".into(), Some("Agent_1".into()))]);
    let is_seen = |entry: &Entry| {
        entry.lane.as_deref() == Some("agent-0")
            && matches!(
                entry.blocks.first().map(|block| &block.kind),
                Some(BlockKind::Text(_))
            )
    };
    assert!(transcript.entries().any(is_seen));
    assert_eq!(transcript.meta().title().map(Text::as_str), Some("A title"));
}

#[test]
fn turns_that_were_taken_back_are_undone() {
    let part = r#"{"type":"context.append_loop_event","event":{"type":"content.part","part":{"type":"text","text":"hi"}},"time":1790000000002}"#;
    let injected = r#"{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"note"}],"origin":{"kind":"injection"}},"time":1790000000003}"#;
    let undo = r#"{"type":"context.undo","count":1,"time":1790000000004}"#;
    let compacted =
        r#"{"type":"context.apply_compaction","summary":"so far","time":1790000000005}"#;
    let undone = |lines: &[&str]| -> Vec<bool> {
        let transcript = transcript(&[(RecordPlace::Line, lines)]);
        transcript
            .entries()
            .map(|entry| entry.marks.undone)
            .collect()
    };
    let turn = [
        PROMPT, APPENDED, part, PROMPT, APPENDED, part, injected, undo, PROMPT,
    ];
    assert_eq!(
        undone(&turn),
        [false, false, true, true, true, false, false]
    );
    assert_eq!(
        undone(&[PROMPT, part, compacted, undo]),
        [false; 4],
        "it stops at a compaction"
    );
}

#[test]
fn a_call_that_was_not_approved_is_refused() {
    let call = r#"{"type":"context.append_loop_event","event":{"type":"tool.call","toolCallId":"t","name":"Bash","args":{"command":"rm x"}},"time":1790000000001}"#;
    let result = r#"{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"t","result":{"output":"Tool \"Bash\" was not run because the user rejected the approval request. Reason: no","isError":true}},"time":1790000000002}"#;
    let transcript = transcript(&[(RecordPlace::Line, &[PROMPT, call, result])]);
    let states: Vec<_> = transcript
        .entries()
        .flat_map(Entry::calls)
        .map(|call| &call.state)
        .collect();
    assert!(matches!(states[..], [ToolState::Refused(_)]));
}

#[test]
fn the_file_of_a_task_says_how_and_when_it_ended() {
    let begin = r#"{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"s"},"time":1790000000001}"#;
    let call = r#"{"type":"context.append_loop_event","event":{"type":"tool.call","toolCallId":"c1","name":"Bash","args":{"command":"serve"}},"time":1790000000002}"#;
    let begun = r#"{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"c1","result":{"output":"task_id: bash-gxt3i7jc\npid: 7\nstatus: running\nautomatic_notification: true\n"}},"time":1790000000003}"#;
    let notice = r#"{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"<notification>x</notification>"}],"origin":{"kind":"background_task","taskId":"bash-gxt3i7jc","status":"failed"}},"time":1790000090000}"#;
    let place = RecordPlace::File(Path::new("/k/s/tasks/bash-gxt3i7jc.json"));
    let read =
        |lines: &[&str], task: &str| transcript(&[(RecordPlace::Line, lines), (place, &[task])]);
    let ends = |lines: &[&str], task: &str| {
        let transcript = read(lines, task);
        let (_, call) = transcript.calls_with_work().next().unwrap();
        let work = call.state.work().unwrap();
        let end = work.completed().map(|(end, _)| (end.exit, end.at));
        let delivered = work.delivered().and_then(|update| update.at);
        (call.state.word(), end, delivered, work.endings().len())
    };
    let failed = r#"{"status":"failed","exitCode":4,"endedAt":1790000060000}"#;
    let (at, later) = (Timestamp(1_790_000_060_000), Timestamp(1_790_000_090_000));
    let begun = [PROMPT, begin, call, begun];
    assert_eq!(
        ends(&begun, failed),
        ("failed", Some((Some(4), Some(at))), None, 1)
    );
    let all = [&begun[..], &[notice]].concat();
    assert_eq!(
        ends(&all, failed),
        ("failed", Some((Some(4), Some(at))), Some(later), 1),
        "one end, told half a minute later"
    );
    assert_eq!(
        ends(&begun, r#"{"status":"running"}"#),
        ("unknown", None, None, 0)
    );
    assert_eq!(ends(&begun, r#"{"status":"lost"}"#).0, "stopped");
    let title = read(&begun, r#"{"title":"serve","status":"running"}"#);
    assert_eq!(title.meta().title().map(Text::as_str), Some("go"));
}
