use std::sync::LazyLock;

use super::{OPEN, PAGE, Pages, RECENT};
use crate::model::body::{Held, Key};
use crate::model::edit::Batch;
use crate::model::entry::glance::EntrySummary;
use crate::model::entry::{Block, BlockKind, Break, Entry, EntryId, Piece, Raw, Role, StrayResult};
use crate::model::fingerprint::{ByKey, Print};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolKind, ToolResult, ToolState, Verdict, ended};
use crate::model::usage::{Scope, Usage};

/// An entry with every field set, and with bodies on disk.
fn full(number: usize) -> Entry {
    let mut batch = Batch::default();
    batch.stubs_only = true;
    let text = |words: &str| Text::clean(&format!("{words} {number}"));
    let long = "one line\n".repeat(number % 40 + 1);
    let result = |batch: &mut Batch| ToolResult {
        key: text("result"),
        tool: Some(text("tool")),
        verdict: Verdict::Failed,
        body: batch.output(&format!("\u{1b}[31m{long}\u{1b}[0m")),
        patch: Some(batch.output(&long)),
        images: Vec::new(),
        facts: text("exit"),
        at: Some(Timestamp(17)),
        duration_ms: Some(3),
        work: None,
    };
    let call = ToolCall {
        key: text("call"),
        name: text("Bash"),
        kind: ToolKind::Run,
        headline: text("ls"),
        input: batch.prose(&long),
        state: ended(result(&mut batch)),
        started: None,
        lane: Some(text("lane")),
    };
    let stray = StrayResult {
        call: text("call"),
        result: result(&mut batch),
        duplicate: true,
    };
    let kinds = vec![
        BlockKind::Text(batch.prose(&long)),
        BlockKind::Thinking(batch.prose("short")),
        BlockKind::Call(Box::new(call.clone())),
        BlockKind::Call(Box::new(ToolCall {
            state: ToolState::Lost,
            ..call.clone()
        })),
        BlockKind::Call(Box::new(ToolCall {
            state: ToolState::Streaming(Box::new(batch.output(&long))),
            ..call
        })),
        BlockKind::Result(Box::new(stray)),
        BlockKind::Break(Break::Compaction {
            before: Some(9),
            after: None,
            trigger: text("auto"),
            partial: false,
            took: None,
        }),
        BlockKind::Raw(Raw {
            title: text("not JSON"),
            body: batch.output(&long),
        }),
    ];
    let mut entry = batch.new_entry(text("entry"), Role::Assistant, Some(Timestamp(5)));
    entry.parent = (!number.is_multiple_of(5)).then(|| text("parent"));
    entry.lane = number.is_multiple_of(3).then(|| text("lane"));
    entry.model = Some(text("model"));
    entry.usage = Some(Box::new(Usage {
        scope: Scope::Extra,
        input: Some(4),
        cost: Some(0.5),
        ..Usage::default()
    }));
    entry.marks.prompt = number.is_multiple_of(2);
    entry.blocks = kinds
        .into_iter()
        .zip(0..)
        .map(|(kind, piece)| Block::new(Piece(piece), kind))
        .collect();
    entry
}

/// A fingerprint with a fixed seed.
fn print(key: &Key) -> Print {
    static PRINTS: LazyLock<ByKey<()>> = LazyLock::new(ByKey::default);
    PRINTS.print(key)
}

fn filled(entries: usize) -> Pages {
    let mut pages = Pages::default();
    (0..entries).for_each(|number| pages.push(full(number)));
    pages
}

const MANY: usize = PAGE * (OPEN + RECENT + 3) + 7;

/// Asserts full equality, including positions of bodies and whether they are in memory, which `==`
/// ignores.
fn assert_same(left: Option<&Entry>, right: &Entry) {
    assert_eq!(format!("{left:?}"), format!("{:?}", Some(right)));
}

#[test]
fn what_is_packed_reads_as_before() {
    let mut pages = filled(MANY);
    pages.tidy(&print);
    assert_eq!(pages.open_pages(), RECENT);
    for number in 0..MANY {
        let entry = full(number);
        assert_eq!(pages.glance(number), Some(EntrySummary::of(&entry)));
        assert_eq!(pages.lane(number), entry.lane.as_ref());
        assert_eq!(
            pages.parent(number, &print),
            entry.parent.as_ref().map(print)
        );
    }
    assert_eq!(pages.open_pages(), RECENT, "a glance unpacks nothing");
    for number in (0..MANY).rev() {
        assert_same(pages.get(number), &full(number));
    }
    assert!(pages.get(MANY).is_none() && pages.glance(MANY).is_none());
}

#[test]
fn what_is_changed_after_packing_stays_changed() {
    let mut pages = filled(MANY);
    pages.tidy(&print);
    pages.get_mut(3).unwrap().revision = 42;
    let mut changed = full(3);
    changed.revision = 42;
    assert!((0..MANY).all(|number| pages.get(number).is_some()));
    pages.tidy(&print);
    assert_eq!(pages.open_pages(), RECENT);
    assert_same(pages.get(3), &changed);
    assert_same(pages.get(4), &full(4));
}

#[test]
fn pages_with_bodies_in_memory_are_not_packed() {
    let mut pages = filled(MANY);
    let held = Held::Text(Text::clean("all of it"));
    pages.get_mut(PAGE + 6).unwrap().blocks[0]
        .kind
        .bodies_mut()
        .next()
        .unwrap()
        .held = held.clone();
    pages.tidy(&print);
    assert_eq!(pages.open_pages(), RECENT + 1);
    assert_eq!(
        pages.get(PAGE + 6).unwrap().blocks[0]
            .kind
            .bodies()
            .next()
            .unwrap()
            .held,
        held
    );
    let numbers: Vec<usize> = pages.open_mut().map(|(number, _)| number).collect();
    assert_eq!(numbers, (PAGE..2 * PAGE).collect::<Vec<_>>());
}

fn id(number: usize) -> EntryId {
    EntryId(u32::try_from(number).unwrap())
}

#[test]
fn a_look_at_one_after_the_other_unpacks_nothing() {
    let mut pages = filled(MANY);
    pages.pack(&print);
    let mut passing = pages.cursor();
    for number in (0..MANY).chain([3, MANY - 1, 4]) {
        assert_same(passing.get(id(number)), &full(number));
    }
    assert!(passing.get(id(MANY)).is_none());
    assert_eq!(pages.open_pages(), 0);
}

#[test]
fn a_glance_is_that_of_the_entry_as_it_is_now_and_is_taken_once() {
    let mut pages = filled(PAGE + 3);
    let assert_is_now = |pages: &Pages, number: usize| {
        assert_eq!(
            pages.glance(number),
            pages.get(number).map(EntrySummary::of),
            "{number}"
        );
    };
    let is_kept = |pages: &Pages, number: usize| {
        pages.list[number / PAGE].glances[number % PAGE]
            .get()
            .is_some()
    };
    for number in [0, 5, PAGE + 1] {
        assert_is_now(&pages, number);
        assert!(is_kept(&pages, number));
        pages.get_mut(number).unwrap().blocks.pop();
        assert!(!is_kept(&pages, number), "it may be another one");
        assert_is_now(&pages, number);
    }
    pages.pack(&print);
    pages.get_mut(5).unwrap().blocks.clear();
    pages.push(full(PAGE + 3));
    assert!(
        is_kept(&pages, 6),
        "what packing said of the others stays true"
    );
    (0..PAGE + 4).for_each(|number| assert_is_now(&pages, number));
}
