//! Tests of the demo session: it is consistent, covers every kind of entry, and replays byte for
//! byte.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use tv::demo::Demo;
use tv::ingest::Target;
use tv::model::entry::{BlockKind, Break, Role};
use tv::model::tool::{ToolKind, ToolState};

use crate::fixtures::{self, PATIENCE, ReadSession};

fn asset() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo/session.jsonl")
}

fn read_demo() -> ReadSession {
    fixtures::read(&Target {
        path: asset(),
        session: None,
    })
}

#[test]
fn every_line_is_understood() {
    let session = read_demo();
    assert_eq!(
        (session.opened.format, session.opened.confidence),
        ("claude-code", "certain")
    );
    let tally = session.transcript.tally();
    assert_eq!(tally.faulty, 0, "{:?}", tally.faults);
    assert!(tally.unknown.is_empty(), "{:?}", tally.unknown);
    assert_eq!(session.transcript.notices(), []);
}

#[test]
fn it_shows_every_kind_of_block() {
    let session = read_demo();
    let mut blocks = HashSet::new();
    let mut tools = HashSet::new();
    let mut states = HashSet::new();
    let mut patches = 0;
    for block in session.transcript.entries().flat_map(|entry| &entry.blocks) {
        blocks.insert(match &block.kind {
            BlockKind::Text(_) => "text",
            BlockKind::Thinking(_) => "thinking",
            BlockKind::Image(_) => "image",
            BlockKind::Break(Break::Compaction { .. }) => "compaction",
            BlockKind::Break(Break::Error(_)) => "error",
            BlockKind::Break(Break::Interrupted(_)) => "interrupted",
            BlockKind::Break(_) => "other break",
            BlockKind::Raw(_) | BlockKind::Aside(..) | BlockKind::Result(_) => "odd",
            BlockKind::Call(call) => {
                tools.insert(call.kind);
                states.insert(call.state.word());
                patches += usize::from(
                    call.state
                        .result()
                        .is_some_and(|result| result.patch.is_some()),
                );
                "call"
            }
        });
    }
    for kind in [
        "text",
        "thinking",
        "image",
        "call",
        "compaction",
        "error",
        "interrupted",
    ] {
        assert!(blocks.contains(kind), "{kind} is missing in {blocks:?}");
    }
    for kind in [
        ToolKind::Run,
        ToolKind::Read,
        ToolKind::Edit,
        ToolKind::Write,
        ToolKind::Search,
        ToolKind::Fetch,
        ToolKind::Delegate,
        ToolKind::Plan,
    ] {
        assert!(tools.contains(&kind), "{kind:?} is missing in {tools:?}");
    }
    assert_eq!(states, HashSet::from(["done", "failed", "refused"]));
    assert!(patches >= 3, "{patches}");
}

#[test]
fn its_calls_pair_its_sub_agents_have_lanes_and_its_requests_are_counted() {
    let session = read_demo();
    let transcript = &session.transcript;
    let calls = || {
        transcript
            .entries()
            .flat_map(|entry| &entry.blocks)
            .filter_map(|block| match &block.kind {
                BlockKind::Call(call) => Some(call),
                _ => None,
            })
    };
    assert_eq!(calls().count(), 43);
    assert!(calls().all(|call| call.state.result().is_some()));
    let delegates: Vec<_> = calls()
        .filter(|call| call.kind == ToolKind::Delegate)
        .collect();
    assert_eq!((delegates.len(), transcript.lanes().len()), (3, 3));
    for delegate in delegates {
        assert!(matches!(delegate.state, ToolState::Done(_)));
        let lane = transcript
            .lane_of_call(&delegate.key)
            .expect("the call leads to its lane");
        assert!(lane.entries.len() >= 4);
    }
    assert_eq!(transcript.totals().sum().requests, 39);
    assert_eq!(transcript.meta().models.len(), 3);
    assert!(transcript.turns().len() >= 4, "{:?}", transcript.turns());
    assert!(
        transcript
            .entries()
            .any(|entry| entry.role == Role::Harness)
    );
}

#[test]
fn a_replay_ends_with_the_whole_session_and_leaves_nothing_behind() {
    let whole = fs::read(asset()).unwrap();
    let demo = Demo::start(f64::INFINITY).unwrap();
    let path = demo.path().to_owned();
    let deadline = Instant::now() + PATIENCE;
    while fs::read(&path).unwrap().len() < whole.len() {
        assert!(Instant::now() < deadline, "the replay stands still");
        std::thread::yield_now();
    }
    assert_eq!(fs::read(&path).unwrap(), whole);
    drop(demo);
    assert!(!path.exists());
}

#[test]
fn a_replay_starts_with_the_prompt_and_stops_at_once() {
    let started = Instant::now();
    let demo = Demo::start(0.5).unwrap();
    let text = fs::read_to_string(demo.path()).unwrap();
    assert!(text.contains("The harbour master says"));
    drop(demo);
    assert!(
        started.elapsed() < Duration::from_secs(2),
        "it must not sit out its pauses"
    );
}
