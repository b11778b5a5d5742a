//! Incrementally updated findings equal those of the whole, however a session grows.

mod shapes;

use proptest::prelude::{Strategy, any, prop, prop_oneof, proptest};

use super::{Finding, Findings};
use crate::model::body::Key;
use crate::model::edit::{Batch, BatchMode, Edit, MetaEdit};
use crate::model::entry::{BlockKind, Break, Marks, Piece, Role, Stop};
use crate::model::record::{FileId, Origin};
use crate::model::samples;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::work::{Carrier, EndRecording, Update, Work, WorkEnd, WorkReference};
use crate::model::tool::{ToolCall, ToolResult, ToolState};
use crate::model::transcript::Transcript;

/// Time between two records: a notice some records later is late.
const LINE_MS: i64 = 100_000;

/// One record of a session.
#[derive(Clone, Debug)]
enum Step {
    /// A user message.
    Prompt(u8),
    /// An answer with calls of these ids, in the main lane or another.
    Answer {
        key: u8,
        parent: Option<u8>,
        calls: Vec<u8>,
        stop: u8,
        lane: bool,
    },
    /// A result of the call with this id.
    Result {
        key: u8,
        call: u8,
        lane: bool,
        text: u8,
    },
    /// The result of a call acknowledges work.
    Begin { key: u8, call: u8 },
    /// The work of a call ended: by a record, a notice, or a poll.
    End { key: u8, call: u8, carrier: u8 },
    /// The agent marks the call as lost.
    Lost(u8),
    /// A compaction; `kept` is the first record that it kept.
    Compaction { key: u8, kept: Option<u8> },
    /// The session ends, or continues.
    Live(bool),
    /// An entry is removed.
    Retire(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => (0u8..8).prop_map(Step::Prompt),
        6 => (8u8..20, prop::option::of(0u8..20), prop::collection::vec(0u8..5, 0..4), 0u8..4, prop::bool::weighted(0.2))
            .prop_map(|(key, parent, calls, stop, lane)| Step::Answer { key, parent, calls, stop, lane }),
        6 => (30u8..42, 0u8..5, prop::bool::weighted(0.2), 0u8..4)
            .prop_map(|(key, call, lane, text)| Step::Result { key, call, lane, text }),
        2 => (42u8..48, 0u8..5).prop_map(|(key, call)| Step::Begin { key, call }),
        2 => (48u8..54, 0u8..5, 0u8..3).prop_map(|(key, call, carrier)| Step::End { key, call, carrier }),
        1 => (0u8..5).prop_map(Step::Lost),
        1 => (20u8..24, prop::option::of(0u8..42)).prop_map(|(key, kept)| Step::Compaction { key, kept }),
        1 => any::<bool>().prop_map(Step::Live),
        1 => (0u8..20).prop_map(Step::Retire),
    ];
    prop::collection::vec(step, 0..30)
}

fn key(number: u8) -> Key {
    Key::from(format!("k{number}").as_str())
}

/// The id of a call: one is empty, one is the name of the tool.
fn id(number: u8) -> Key {
    match number {
        0 => Key::default(),
        1 => Key::from("bash"),
        n => Key::from(format!("toolu_{n}").as_str()),
    }
}

/// A shell call without a result.
fn pending(out: &mut Batch, key: Key) -> ToolCall {
    samples::call(out, &key)
}

/// The result of a call.
fn done(out: &mut Batch, key: Key, output: &str) -> ToolResult {
    ToolResult {
        body: out.output(output),
        ..samples::result(out, &key, None)
    }
}

fn batch(step: &Step, line: u32, is_tree: bool) -> Batch {
    let mut out = Batch::default();
    out.begin_record(Origin {
        file: FileId(0),
        at: u64::from(line) * 100,
        len: 99,
        line,
    });
    let lane = |is_in: bool| is_in.then(|| Text::from("scout"));
    match step {
        Step::Prompt(number) => {
            let mut entry = out.new_entry(key(*number), Role::User, None);
            entry.marks = Marks {
                prompt: true,
                ..Marks::default()
            };
            entry.parent = (is_tree && *number > 0).then(|| key(number - 1));
            let body = out.prose("go on");
            entry.push(BlockKind::Text(body));
            out.entry(entry);
        }
        Step::Answer {
            key: number,
            parent,
            calls,
            stop,
            lane: in_lane,
        } => {
            let mut entry = out.new_entry(
                key(*number),
                Role::Assistant,
                Some(Timestamp(i64::from(line) * LINE_MS)),
            );
            entry.parent = parent.filter(|parent| is_tree && parent != number).map(key);
            entry.lane = lane(*in_lane);
            entry.stop =
                [Stop::Unrecorded, Stop::Done, Stop::Calls, Stop::Other][usize::from(*stop)];
            for (place, call) in calls.iter().enumerate() {
                let call = pending(&mut out, id(*call));
                let piece = Piece(u64::try_from(place).unwrap());
                entry.push_piece(piece, BlockKind::Call(Box::new(call)));
            }
            out.entry(entry);
        }
        Step::Result {
            key: number,
            call,
            lane: in_lane,
            text,
        } => {
            let output = ["", "done", "Exit code 1", "Tool execution aborted"][usize::from(*text)];
            let tool = Some(Text::from(if *text == 1 { "read" } else { "bash" }));
            let result = ToolResult {
                tool,
                ..done(&mut out, key(*number), output)
            };
            out.push(Edit::Result {
                call: id(*call),
                result: Box::new(result),
                lane: lane(*in_lane),
            });
            if is_tree || *text < 2 {
                out.push(Edit::Link {
                    key: key(*number),
                    parent: Some(key(number - 22)),
                });
            }
        }
        Step::Begin { key: number, call } => {
            let work = Some(Box::new(Work::begun(key(*number), EndRecording::Announced)));
            let result = ToolResult {
                work,
                ..done(&mut out, key(*number), "it runs")
            };
            out.push(Edit::Result {
                call: id(*call),
                result: Box::new(result),
                lane: None,
            });
        }
        Step::End {
            key: number,
            call,
            carrier,
        } => {
            let carrier = [Carrier::Queue, Carrier::Notice, Carrier::Poll][usize::from(*carrier)];
            let end = WorkEnd::from_word(None, Some(i64::from(number % 2)));
            let at = Some(Timestamp(i64::from(line) * LINE_MS));
            let about = WorkReference {
                call: Some(id(*call)),
                handle: None,
            };
            out.push(Edit::Update {
                about,
                update: Update {
                    by: key(*number),
                    at,
                    carrier,
                    end,
                    reason: None,
                },
                lane: None,
            });
        }
        Step::Lost(call) => out.push(Edit::State {
            call: id(*call),
            state: ToolState::Lost,
        }),
        Step::Compaction { key: number, kept } => {
            let mut entry = out.new_entry(key(*number), Role::Harness, None);
            let line = Break::compaction("");
            entry.push(line);
            if let Some(kept) = kept {
                out.meta(MetaEdit::FirstKept {
                    compaction: key(*number),
                    first: key(*kept),
                });
            }
            out.entry(entry);
        }
        Step::Live(is_live) => out.meta(MetaEdit::Live(Some(*is_live))),
        Step::Retire(number) => out.push(Edit::Retire(key(*number))),
    }
    out
}

/// Without links each result would wait for a record that never comes, and be judged again at each
/// change.
#[test]
fn without_links_no_result_waits_for_a_record() {
    let mut transcript = Transcript::new();
    let mut steps = Vec::new();
    for number in 8..18 {
        steps.push(Step::Answer {
            key: number,
            parent: None,
            calls: vec![number],
            stop: 2,
            lane: false,
        });
        steps.push(Step::Result {
            key: number + 22,
            call: number,
            lane: false,
            text: 2,
        });
    }
    for (line, step) in (1..).zip(&steps) {
        transcript.apply(batch(step, line, false));
    }
    transcript.update_derived();
    assert_eq!(Findings::of(&transcript).records_awaited(), 0);
    let link = batch(
        &Step::Result {
            key: 30,
            call: 8,
            lane: false,
            text: 1,
        },
        21,
        false,
    );
    transcript.apply(link);
    transcript.update_derived();
    assert_eq!(
        Findings::of(&transcript).records_awaited(),
        9,
        "all but the one that is linked"
    );
}

#[test]
fn an_end_is_no_orphan_if_its_call_may_stand_in_a_file_that_is_not_here() {
    let found = |lane: Option<bool>, is_resumed: bool| {
        let mut transcript = Transcript::new();
        if is_resumed {
            let mut out = Batch::default();
            let mut entry = out.new_entry(key(1), Role::Harness, None);
            let line = BlockKind::Break(Break::Resumed(Text::default()));
            entry.push(line);
            out.entry(entry);
            transcript.apply(out);
        }
        let call = Step::Answer {
            key: 8,
            parent: None,
            calls: vec![2],
            stop: 2,
            lane: false,
        };
        transcript.apply(batch(&call, 2, false));
        let mut out = Batch::default();
        if let Some(is_here) = lane {
            let name = Text::from("mate");
            out.meta(MetaEdit::Lane {
                name: name.clone(),
                label: None,
                call: Some(id(2)),
            });
            let mut entry = out.new_entry(key(9), Role::Assistant, None);
            entry.lane = Some(name);
            if is_here {
                out.entry(entry);
            }
        }
        let notice = out.new_entry(key(50), Role::Harness, Some(Timestamp(LINE_MS)));
        out.entry(notice);
        transcript.apply(out);
        let end = Step::End {
            key: 50,
            call: 4,
            carrier: 1,
        };
        transcript.apply(batch(&end, 4, false));
        transcript.update_derived();
        let findings = Findings::of(&transcript);
        findings
            .iter()
            .any(|found| found.rule.id == "orphan-completion")
    };
    assert!(found(None, false));
    assert!(found(Some(true), false));
    assert!(
        !found(Some(false), false),
        "the sub-agent may have made the call"
    );
    assert!(!found(None, true), "the session before may have");
}

fn listed(findings: &Findings) -> Vec<&Finding> {
    findings.iter().collect()
}

proptest! {
    #[test]
    fn what_is_kept_up_to_date_is_what_the_whole_has(
        is_tree: bool,
        steps in steps(),
        pace in 1usize..4,
        is_repeated: bool,
    ) {
        let mut transcript = Transcript::new();
        let mut findings = Findings::of(&transcript);
        if is_tree {
            let mut tree = Batch::default();
            tree.meta(MetaEdit::LinkedTree);
            let touched = transcript.apply(tree);
            findings.invalidate(&transcript, &touched);
        }
        for (place, step) in steps.iter().enumerate() {
            let line = u32::try_from(place).unwrap() + 1;
            let touched = transcript.apply(batch(step, line, is_tree));
            findings.invalidate(&transcript, &touched);
            if place % pace == 0 {
                transcript.update_derived();
                findings.follow(&transcript, usize::MAX);
                let whole = Findings::of(&transcript);
                assert_eq!(listed(&findings), listed(&whole));
                assert_eq!(findings.counts, whole.counts);
            }
        }
        if is_repeated {
            for (place, step) in steps.iter().enumerate() {
                let line = u32::try_from(place).unwrap() + 1;
                let mut again = batch(step, line, is_tree);
                again.mode = if place == 0 { BatchMode::ReplaceStart } else { BatchMode::ReplaceMore };
                let touched = transcript.apply(again);
                findings.invalidate(&transcript, &touched);
            }
            let mut end = Batch::default();
            end.mode = if steps.is_empty() { BatchMode::Replace } else { BatchMode::ReplaceEnd };
            let touched = transcript.apply(end);
            findings.invalidate(&transcript, &touched);
        }
        transcript.update_derived();
        findings.follow(&transcript, usize::MAX);
        assert_eq!(listed(&findings), listed(&Findings::of(&transcript)));
    }
}
