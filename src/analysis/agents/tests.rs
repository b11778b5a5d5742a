//! Outcomes of sub-agents by their calls and by their own ends.

use super::{AgentState, fate};
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{Block, BlockKind, Piece, Role, Stop};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolKind, ToolResult, ToolState, Verdict, ended};
use crate::model::transcript::Transcript;

fn call(name: &str, state: ToolState) -> ToolCall {
    let mut batch = Batch::default();
    ToolCall {
        key: Text::from("c"),
        name: Text::from(name),
        kind: ToolKind::Delegate,
        headline: Text::from("look around"),
        input: batch.prose("look around"),
        state,
        started: Some(Timestamp(0)),
        lane: None,
    }
}

fn result(verdict: Verdict, at: i64) -> ToolState {
    let mut batch = Batch::default();
    ended(ToolResult {
        key: Text::from("r"),
        tool: None,
        verdict,
        body: batch.output("done"),
        patch: None,
        images: Vec::new(),
        facts: Text::default(),
        at: Some(Timestamp(at)),
        duration_ms: None,
        work: None,
    })
}

/// A session with a sub-agent whose entries have these timestamps, the last one with these blocks.
fn session(times: &[i64], stop: Stop, last: Vec<Block>) -> Transcript {
    let mut batch = Batch::default();
    batch.meta(MetaEdit::Lane {
        name: Text::from("scout"),
        label: None,
        call: Some(Text::from("c")),
    });
    for (place, at) in times.iter().enumerate() {
        let key = Text::clean(&format!("e{place}"));
        let mut entry = batch.new_entry(key, Role::Assistant, Some(Timestamp(*at)));
        entry.lane = Some(Text::from("scout"));
        if place + 1 == times.len() {
            entry.stop = stop;
            entry.blocks.clone_from(&last);
        }
        batch.entry(entry);
    }
    let mut transcript = Transcript::new();
    transcript.apply(batch);
    transcript.update_derived();
    transcript
}

fn judged(transcript: &Transcript, state: Option<ToolState>, is_awaited: bool) -> AgentState {
    let call = state.map(|state| call("task", state));
    fate(
        transcript,
        transcript.lanes().first(),
        call.as_ref(),
        is_awaited,
    )
}

fn text() -> Vec<Block> {
    vec![Block::new(
        Piece(0),
        BlockKind::Text(Batch::default().prose("found it")),
    )]
}

#[test]
fn the_call_gives_the_fate() {
    let transcript = session(&[10, 20], Stop::Calls, Vec::new());
    for (state, awaited, expected) in [
        (result(Verdict::Done, 30), false, AgentState::Done),
        (result(Verdict::Failed, 30), false, AgentState::Failed),
        (result(Verdict::Refused, 30), false, AgentState::Refused),
        (ToolState::Lost, false, AgentState::Interrupted),
        (ToolState::Pending, false, AgentState::Open),
        (ToolState::Pending, true, AgentState::Running),
        (ToolState::Running, true, AgentState::Running),
    ] {
        assert_eq!(
            judged(&transcript, Some(state.clone()), awaited),
            expected,
            "{state:?}"
        );
    }
    assert_eq!(judged(&transcript, None, false), AgentState::Unknown);
}

#[test]
fn what_goes_on_after_its_call_is_judged_by_its_own_end() {
    let at_work = session(&[10, 90_000], Stop::Calls, Vec::new());
    let answered = || Some(result(Verdict::Done, 30));
    assert_eq!(judged(&at_work, answered(), true), AgentState::Running);
    assert_eq!(judged(&at_work, answered(), false), AgentState::Open);
    let ended = session(&[10, 90_000], Stop::Done, text());
    assert_eq!(judged(&ended, answered(), true), AgentState::Done);
    assert_eq!(judged(&ended, None, false), AgentState::Done);
    let unknown = session(&[10, 90_000], Stop::Unrecorded, text());
    assert_eq!(
        judged(&unknown, answered(), false),
        AgentState::Done,
        "a text without a call ends it"
    );
}

#[test]
fn who_asks_waits() {
    let question = call("AskUserQuestion", ToolState::Pending);
    let blocks = vec![Block::new(Piece(0), BlockKind::Call(Box::new(question)))];
    let transcript = session(&[10, 20], Stop::Calls, blocks);
    assert_eq!(
        judged(&transcript, Some(ToolState::Pending), true),
        AgentState::Waiting
    );
    assert_eq!(
        judged(&transcript, Some(ToolState::Pending), false),
        AgentState::Open
    );
}

#[test]
fn what_is_in_no_file_is_missing() {
    let transcript = Transcript::new();
    let judged = |state, awaited| fate(&transcript, None, Some(&call("task", state)), awaited);
    assert_eq!(judged(result(Verdict::Done, 5), false), AgentState::Missing);
    assert_eq!(
        judged(result(Verdict::Failed, 5), false),
        AgentState::Failed
    );
    assert_eq!(judged(ToolState::Pending, false), AgentState::Missing);
    assert_eq!(
        judged(ToolState::Pending, true),
        AgentState::Running,
        "it may not have written yet"
    );
}
