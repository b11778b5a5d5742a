//! Sessions made by hand: short constructors of edits, and the two sessions about boats that
//! journeys use.

use tv::model::body::Tree;
use tv::model::edit::{Batch, Edit, MetaEdit};
use tv::model::entry::{Block, BlockKind, Break, Entry, Piece, Role};
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;
use tv::model::tool::{ToolCall, ToolKind, ToolResult, ToolState, Verdict};
use tv::model::usage::Usage;

use crate::stage::Stage;

/// When the first second of these sessions is, in ms.
pub(crate) const START: i64 = 1_700_000_000_000;

#[expect(
    clippy::unnecessary_wraps,
    reason = "what has a time has it as an option"
)]
fn at(seconds: i64) -> Option<Timestamp> {
    Some(Timestamp(START + seconds * 1_000))
}

/// An entry so many seconds after the start; its blocks come in one piece each.
pub(crate) fn entry(
    key: &str,
    seconds: i64,
    role: Role,
    kinds: impl FnOnce(&mut Batch) -> Vec<BlockKind>,
) -> Edit {
    let mut batch = Batch::default();
    let kinds = kinds(&mut batch);
    let mut entry: Entry = batch.new_entry(Text::from(key), role, at(seconds));
    entry.marks.prompt = role == Role::User;
    let blocks = kinds
        .into_iter()
        .zip(0..)
        .map(|(kind, piece)| Block::new(Piece(piece), kind));
    entry.blocks = blocks.collect();
    Edit::Entry(Box::new(entry))
}

/// An entry of one text.
pub(crate) fn says(key: &str, seconds: i64, role: Role, text: &str) -> Edit {
    entry(key, seconds, role, |batch| {
        vec![BlockKind::Text(batch.prose(text))]
    })
}

/// What the user says at the start.
pub(crate) fn prompt(key: &str, text: &str) -> Edit {
    says(key, 0, Role::User, text)
}

/// What the model says at the start.
pub(crate) fn answer(key: &str, text: &str) -> Edit {
    says(key, 0, Role::Assistant, text)
}

/// What the model thinks at the start.
pub(crate) fn thought(key: &str, text: &str) -> Edit {
    entry(key, 0, Role::Assistant, |batch| {
        vec![BlockKind::Thinking(batch.prose(text))]
    })
}

/// A line across.
pub(crate) fn rule(key: &str, seconds: i64, what: Break) -> Edit {
    entry(key, seconds, Role::Harness, |_| {
        vec![BlockKind::Break(what)]
    })
}

/// A call as a block of an entry.
pub(crate) fn call_of(
    batch: &mut Batch,
    key: &str,
    name: &str,
    kind: ToolKind,
    headline: &str,
) -> BlockKind {
    let headline = Text::from(headline);
    let tree = Tree::Map(vec![(Text::from("command"), Tree::Text(headline.clone()))]);
    BlockKind::Call(Box::new(ToolCall {
        key: Text::from(key),
        name: Text::from(name),
        kind,
        input: batch.tree(&headline, headline.len(), || tree),
        headline,
        state: ToolState::Pending,
        started: None,
        lane: None,
    }))
}

/// An entry of one call.
pub(crate) fn calls(key: &str, seconds: i64, name: &str, kind: ToolKind, headline: &str) -> Edit {
    entry(key, seconds, Role::Assistant, |batch| {
        vec![call_of(batch, key, name, kind, headline)]
    })
}

/// A command at the start.
pub(crate) fn call(key: &str, command: &str) -> Edit {
    calls(key, 0, "bash", ToolKind::Run, command)
}

/// The result of a call, from a record without a time.
pub(crate) fn result(call: &str, text: &str, verdict: Verdict) -> Edit {
    let mut batch = Batch::default();
    let result = ToolResult {
        key: Text::from(format!("result of {call}").as_str()),
        tool: None,
        body: batch.output(text),
        patch: None,
        images: Vec::new(),
        verdict,
        facts: Text::from(""),
        duration_ms: None,
        work: None,
        at: None,
    };
    Edit::Result {
        call: Text::from(call),
        result: Box::new(result),
        lane: None,
    }
}

/// The result of a call after so many seconds.
pub(crate) fn result_at(call: &str, seconds: i64, text: &str, verdict: Verdict) -> Edit {
    match result(call, text, verdict) {
        Edit::Result {
            call,
            mut result,
            lane,
        } => {
            result.at = at(seconds);
            Edit::Result { call, result, lane }
        }
        other => other,
    }
}

/// The same entry, changed.
pub(crate) fn with(edit: Edit, change: impl FnOnce(&mut Entry)) -> Edit {
    let Edit::Entry(mut entry) = edit else {
        return edit;
    };
    change(&mut entry);
    Edit::Entry(entry)
}

/// The same entry in the lane of a sub-agent.
pub(crate) fn in_lane(edit: Edit, lane: &str) -> Edit {
    with(edit, |entry| entry.lane = Some(Text::from(lane)))
}

/// A sub-agent, and the call that started it.
pub(crate) fn lane(name: &str, call: &str) -> Edit {
    Edit::Meta(MetaEdit::Lane {
        name: Text::from(name),
        label: None,
        call: Some(Text::from(call)),
    })
}

/// A text of so many lines.
pub(crate) fn lines(count: usize, with: impl Fn(usize) -> String) -> String {
    (1..=count).map(with).collect::<Vec<_>>().join("\n")
}

/// Three turns; the second one with a failed call, thinking and a sub-agent that lists words.
pub(crate) fn boats() -> Stage {
    let mut stage = Stage::made((80, 24));
    stage.add([
        prompt("p1", "count the boats"),
        answer("a1", "There are three boats."),
        prompt("p2", "and what do they carry?"),
        thought(
            "t2",
            "Maybe *herring*, maybe nothing.\n\nI have to look into the hold.",
        ),
        call("c1", "ls hold"),
        result(
            "c1",
            &lines(90, |n| format!("crate {n} of herring")),
            Verdict::Done,
        ),
        call("c2", "ls lantern"),
        result("c2", "ls: no such lantern", Verdict::Failed),
        call("c3", "ask the mate"),
        lane("mate", "c3"),
        in_lane(prompt("m1", "what is in the hold?"), "mate"),
        in_lane(answer("m2", "Only the barnacle knows."), "mate"),
        result("c3", "the mate does not know", Verdict::Done),
        answer("a2", "Herring, ninety crates."),
        prompt("p3", "thank you"),
        answer("a3", "You are welcome."),
    ]);
    stage
}

/// More answers, with the numbers from `from` on.
pub(crate) fn talk(stage: &mut Stage, from: usize, count: usize) {
    stage.add((from..from + count).map(|n| answer(&format!("talk {n}"), &format!("sentence {n}"))));
}

fn crates() -> String {
    (1..=60)
        .map(|n| {
            if n % 20 == 0 {
                format!("crate {n} of herring\n")
            } else {
                format!("crate {n}\n")
            }
        })
        .collect()
}

/// Two turns on a boat; one answer says something, thinks and calls two tools.
pub(crate) fn harbour() -> Vec<Edit> {
    vec![
        says("p1", 0, Role::User, "count the boats in src/harbour.rs"),
        with(
            says("a1", 2, Role::Assistant, "There are three boats."),
            |entry| {
                entry.model = Some(Text::from("claude-opus-4-6"));
                entry.usage = Some(Box::new(Usage {
                    input: Some(900),
                    cost: Some(0.05),
                    ..Usage::default()
                }));
            },
        ),
        with(
            says("p2", 60, Role::User, "and what do they carry?"),
            |_| {},
        ),
        with(
            entry("a2", 62, Role::Assistant, |batch| {
                vec![
                    BlockKind::Thinking(batch.prose("Maybe herring.")),
                    BlockKind::Text(batch.prose("I look into the hold.")),
                    call_of(batch, "c1", "bash", ToolKind::Run, "ls hold"),
                    call_of(batch, "c2", "Read", ToolKind::Read, "src/harbour.rs"),
                ]
            }),
            |entry| {
                entry.model = Some(Text::from("gpt-5"));
                entry.usage = Some(Box::new(Usage {
                    input: Some(9_000),
                    cost: Some(0.5),
                    ..Usage::default()
                }));
            },
        ),
        result_at("c1", 80, &crates(), Verdict::Done),
        result_at("c2", 63, "fn harbour() {}", Verdict::Done),
        calls("c3", 81, "bash", ToolKind::Run, "ls lantern"),
        result_at("c3", 82, "ls: no such lantern", Verdict::Failed),
        calls("c4", 83, "task", ToolKind::Delegate, "ask the mate"),
        lane("mate", "c4"),
        with(
            says("m1", 84, Role::User, "what is in the hold?"),
            |entry| {
                entry.lane = Some(Text::from("mate"));
            },
        ),
        with(
            calls("m2", 85, "bash", ToolKind::Run, "cat hold"),
            |entry| {
                entry.lane = Some(Text::from("mate"));
            },
        ),
        result_at("m2", 86, "permission denied", Verdict::Failed),
        result_at("c4", 90, "the mate does not know", Verdict::Done),
        entry("w1", 91, Role::Harness, |_| {
            vec![BlockKind::Break(Break::Error(Text::from(
                "the tide is late",
            )))]
        }),
        says("a3", 92, Role::Assistant, "Herring, sixty crates."),
    ]
}
