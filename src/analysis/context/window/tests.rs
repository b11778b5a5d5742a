//! Requests with what filled them, compactions with what they left, and rows that grow as the whole has them.

use proptest::prelude::{Strategy, prop, prop_oneof, proptest};

use super::carried::Carried;
use super::weigh::{self, ContextClass};
use super::{ContextRow, Request, TokenCount, Windows, shares};
use crate::analysis::calls::Place;
use crate::analysis::context::cache_breaks::Cause;
use crate::analysis::derived::Memo;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{Block, BlockKind, Break, Entry, Marks, Piece, Raw, Role, Sent};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolKind, ToolResult, ToolState, Verdict};
use crate::model::transcript::Transcript;
use crate::model::usage::Usage;

fn say(out: &mut Batch, key: &str, role: Role, bytes: usize) -> Entry {
    let mut entry = out.new_entry(Key::from(key), role, Some(Timestamp(1_700_000_000_000)));
    entry.marks = Marks {
        prompt: role == Role::User,
        ..Marks::default()
    };
    entry.model = (role == Role::Assistant).then(|| Text::from("claude-opus-4-6"));
    let body = out.prose(&"x".repeat(bytes));
    entry.push(BlockKind::Text(body));
    entry
}

fn spent(entry: &mut Entry, [input, read, write]: [u64; 3]) {
    entry.usage = Some(Box::new(Usage {
        input: Some(input),
        cache_read: Some(read),
        cache_write: Some(write),
        output: Some(100),
        ..Usage::default()
    }));
}

fn call(out: &mut Batch, key: &str, name: &str) -> BlockKind {
    BlockKind::Call(Box::new(ToolCall {
        key: Text::clean(key),
        name: Text::clean(name),
        kind: ToolKind::Read,
        headline: Text::from("src/big.rs"),
        input: out.prose("{}"),
        state: ToolState::Pending,
        started: None,
        lane: None,
    }))
}

fn result(out: &mut Batch, of: &str, bytes: usize) {
    let result = ToolResult {
        key: Text::clean(&format!("r{of}")),
        tool: None,
        verdict: Verdict::Done,
        body: out.output(&"y".repeat(bytes)),
        patch: None,
        images: Vec::new(),
        facts: Text::default(),
        at: None,
        duration_ms: None,
        work: None,
    };
    out.push(Edit::Result {
        call: Text::clean(of),
        result: Box::new(result),
        lane: None,
    });
}

fn compaction(out: &mut Batch, key: &str, before: Option<u64>, after: Option<u64>) -> Entry {
    let mut entry = say(out, key, Role::Harness, 4_000);
    let line = Break::Compaction {
        before,
        after,
        trigger: Text::default(),
        partial: false,
        took: None,
    };
    entry
        .blocks
        .insert(0, Block::new(Piece(9), BlockKind::Break(line)));
    entry
}

fn windows_of(fill: impl FnOnce(&mut Batch)) -> (Transcript, Memo<Windows>) {
    let mut transcript = Transcript::new();
    let mut batch = Batch::default();
    fill(&mut batch);
    transcript.apply(batch);
    transcript.update_derived();
    let mut windows = Memo::<Windows>::default();
    while !windows.follow(&transcript, 3) {}
    (transcript, windows)
}

fn requests(windows: &Windows) -> Vec<&Request> {
    windows
        .rows(None)
        .iter()
        .filter_map(ContextRow::request)
        .collect()
}

#[test]
fn a_prompt_is_what_was_said_before_it() {
    let (transcript, windows) = windows_of(|out| {
        let entry = say(out, "u1", Role::User, 4_000);
        out.entry(entry);
        let mut entry = say(out, "a1", Role::Assistant, 8_000);
        spent(&mut entry, [3, 0, 20_000]);
        let called = call(out, "t1", "read");
        entry.push_piece(Piece(1), called);
        out.entry(entry);
        result(out, "t1", 40_000);
        let mut entry = say(out, "a2", Role::Assistant, 400);
        spent(&mut entry, [3, 20_000, 12_000]);
        out.entry(entry);
    });
    let requests = requests(&windows);
    let [first, second] = requests.as_slice() else {
        panic!("{requests:?}")
    };
    assert_eq!(
        (first.sizes.of(ContextClass::Prompt), first.sizes.total()),
        (4_000, 4_000)
    );
    assert!(first.opens_turn && !second.opens_turn);
    assert_eq!(second.sizes.of(ContextClass::Result), 40_000);
    assert_eq!(second.sizes.of(ContextClass::Answer), 8_000);
    assert_eq!(second.before, Some(20_003));
    let grown = second.grown.unwrap();
    assert_eq!(
        (grown.class, grown.bytes, grown.block),
        (ContextClass::Result, 40_000, 1)
    );
    assert_eq!(transcript.get(grown.entry).unwrap().key.as_str(), "a1");
    assert_eq!(second.limit, Some(200_000));
    // 48,006 bytes of texts made 12,000 tokens.
    assert!(
        (windows.density(None) - 4.0).abs() < 0.01,
        "{}",
        windows.density(None)
    );
    let shares = shares::of(second, windows.density(None));
    assert!(!shares.is_scaled);
    let sum: u64 = shares.classes.iter().map(|(_, tokens)| tokens).sum();
    assert_eq!(
        sum + shares.rest,
        second.prompt,
        "what no entry explains is the rest"
    );
    assert!((18_900..19_100).contains(&shares.rest), "{shares:?}");
    let tools = shares::results_by_tool(&transcript, &windows.cuts, second.entry);
    assert_eq!(tools, [(Text::from("read"), 40_000)]);
}

#[test]
fn estimates_never_surpass_the_prompt() {
    let (_, windows) = windows_of(|out| {
        let entry = say(out, "u1", Role::User, 400_000);
        out.entry(entry);
        let mut entry = say(out, "a1", Role::Assistant, 10);
        spent(&mut entry, [20_000, 0, 0]);
        out.entry(entry);
    });
    let shares = shares::of(requests(&windows)[0], 4.0);
    assert!(shares.is_scaled);
    assert_eq!(
        (shares.rest, shares.classes.as_slice()),
        (0, &[(ContextClass::Prompt, 20_000)][..])
    );
}

fn compacted(recorded: (Option<u64>, Option<u64>)) -> (Transcript, Memo<Windows>) {
    windows_of(|out| {
        let entry = say(out, "u1", Role::User, 80_000);
        out.entry(entry);
        let mut entry = say(out, "a1", Role::Assistant, 8_000);
        spent(&mut entry, [3, 0, 40_000]);
        out.entry(entry);
        let entry = compaction(out, "c", recorded.0, recorded.1);
        out.entry(entry);
        let entry = say(out, "u2", Role::User, 400);
        out.entry(entry);
        let mut entry = say(out, "a2", Role::Assistant, 8);
        spent(&mut entry, [3, 0, 12_000]);
        out.entry(entry);
    })
}

fn compaction_row(windows: &Windows) -> (Option<TokenCount>, Option<TokenCount>) {
    let row = windows.rows(None).iter().find_map(|row| match row {
        ContextRow::Compaction(row) => Some((row.before, row.after)),
        ContextRow::Request(_) => None,
    });
    row.unwrap()
}

#[test]
fn the_size_of_a_compaction_is_recorded_or_that_of_the_requests_around_it() {
    let (_, windows) = compacted((Some(41_000), Some(9_000)));
    let recorded = |tokens| {
        Some(TokenCount {
            tokens,
            is_recorded: true,
        })
    };
    assert_eq!(
        compaction_row(&windows),
        (recorded(41_000), recorded(9_000))
    );
    let (_, windows) = compacted((None, None));
    let around = |tokens| {
        Some(TokenCount {
            tokens,
            is_recorded: false,
        })
    };
    assert_eq!(compaction_row(&windows), (around(40_103), around(12_003)));
    let requests = requests(&windows);
    assert_eq!(requests[1].sizes.of(ContextClass::Summary), 4_000);
    assert_eq!(
        requests[1].sizes.total(),
        4_400,
        "what came before it is gone"
    );
    assert_eq!(requests[1].before, None);
    assert_eq!(
        requests[1].cache_break.as_ref().unwrap().cause,
        Cause::Compaction
    );
    assert_eq!(windows.sums(None).compactions, 1);
}

#[test]
fn lanes_have_windows_of_their_own() {
    let (transcript, windows) = windows_of(|out| {
        for (key, lane) in [("a1", None), ("x1", Some("scout")), ("a2", None)] {
            let mut entry = say(out, key, Role::Assistant, 4_000);
            entry.lane = lane.map(Text::from);
            spent(&mut entry, [9_000, 0, 0]);
            out.entry(entry);
        }
    });
    let lanes: Vec<_> = windows
        .lanes()
        .map(|lane| lane.map(ToString::to_string))
        .collect();
    assert_eq!(lanes, [None, Some("scout".to_owned())]);
    assert_eq!(requests(&windows).len(), 2);
    assert_eq!(windows.sums(Some(&Text::from("scout"))).requests, 1);
    let id = transcript.find("x1").unwrap();
    assert_eq!(
        windows.row_at(&transcript, id),
        Some((Some(&Text::from("scout")), 0))
    );
}

#[test]
fn a_branch_that_was_left_does_not_fill_the_next() {
    let (_, windows) = windows_of(|out| {
        out.meta(MetaEdit::LinkedTree);
        let links = [
            ("u1", None),
            ("a1", Some("u1")),
            ("u2", Some("a1")),
            ("a2", Some("u2")),
        ];
        for (key, parent) in links
            .into_iter()
            .chain([("v2", Some("a1")), ("b2", Some("v2"))])
        {
            let is_answer = !key.starts_with(['u', 'v']);
            let role = if is_answer {
                Role::Assistant
            } else {
                Role::User
            };
            let mut entry = say(out, key, role, 4_000);
            entry.parent = parent.map(Key::from);
            if is_answer {
                spent(&mut entry, [3, 0, 10_000]);
            }
            out.entry(entry);
        }
    });
    let requests = requests(&windows);
    let totals: Vec<u64> = requests
        .iter()
        .map(|request| request.sizes.total())
        .collect();
    assert_eq!(totals, [4_000, 12_000, 12_000]);
    let causes: Vec<_> = requests
        .iter()
        .map(|one| one.cache_break.as_ref().map(|found| found.cause))
        .collect();
    assert_eq!(causes, [None, Some(Cause::Unknown), Some(Cause::Rewind)]);
}

/// One record of a session.
#[derive(Clone, Debug)]
enum Step {
    Prompt(u8, Option<u8>),
    Answer(u8, Option<u8>, bool, [u64; 3], bool),
    Result(u8, u16),
    Compaction(u8, bool),
    Model(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let parent = || prop::option::weighted(0.8, 0u8..16);
    let tokens = [0u64..9_000, 0u64..90_000, 0u64..9_000];
    let step = prop_oneof![
        2 => (0u8..16, parent()).prop_map(|(key, parent)| Step::Prompt(key, parent)),
        6 => (0u8..16, parent(), prop::bool::weighted(0.2), tokens, prop::bool::ANY)
            .prop_map(|(key, parent, lane, tokens, has_call)| Step::Answer(key, parent, lane, tokens, has_call)),
        3 => (0u8..16, 0u16..9_000).prop_map(|(call, bytes)| Step::Result(call, bytes)),
        1 => (16u8..19, prop::bool::ANY).prop_map(|(key, says)| Step::Compaction(key, says)),
        1 => (0u8..16).prop_map(Step::Model),
    ];
    prop::collection::vec(step, 0..40)
}

fn batch(step: &Step) -> Batch {
    let mut out = Batch::default();
    let name = |number: u8| format!("k{number}");
    let key = |number: u8| Key::from(name(number).as_str());
    match step {
        Step::Prompt(number, parent) => {
            let mut entry = say(&mut out, &name(*number), Role::User, 400);
            entry.parent = parent.filter(|parent| parent < number).map(key);
            out.entry(entry);
        }
        Step::Answer(number, parent, lane, tokens, has_call) => {
            let mut entry = say(&mut out, &name(*number), Role::Assistant, 800);
            entry.parent = parent.filter(|parent| parent < number).map(key);
            entry.lane = lane.then(|| Text::from("scout"));
            spent(&mut entry, *tokens);
            if *has_call {
                let called = call(&mut out, &format!("t{number}"), "read");
                entry.push_piece(Piece(1), called);
            }
            out.entry(entry);
        }
        Step::Result(of, bytes) => result(&mut out, &format!("t{of}"), usize::from(*bytes)),
        Step::Compaction(number, says) => {
            let mut entry = compaction(&mut out, &name(*number), None, None);
            if !says {
                entry.blocks.truncate(1);
            }
            // What a compaction kept is counted with it, and once.
            if *number > 16 {
                out.meta(MetaEdit::FirstKept {
                    compaction: key(*number),
                    first: key(number - 14),
                });
            }
            out.entry(entry);
        }
        Step::Model(number) => {
            let mut entry = say(&mut out, &name(*number), Role::Assistant, 800);
            entry.model = Some(Text::from("claude-haiku-4-5"));
            out.entry(entry);
        }
    }
    out
}

proptest! {
    /// What is kept up to date is what the whole has, whatever comes late or goes elsewhere.
    #[test]
    fn growing_windows_are_those_of_the_whole(
        is_tree: bool,
        steps in steps(),
        pace in 1usize..4,
    ) {
        let mut transcript = Transcript::new();
        if is_tree {
            let mut tree = Batch::default();
            tree.meta(MetaEdit::LinkedTree);
            transcript.apply(tree);
        }
        let mut growing = Memo::<Windows>::default();
        for step in &steps {
            let touched = transcript.apply(batch(step));
            transcript.update_derived();
            growing.invalidate(&transcript, &touched);
            growing.follow(&transcript, pace);
        }
        while !growing.follow(&transcript, pace) {}
        let whole = Memo::<Windows>::of(&transcript);
        for lane in [None, Some(Text::from("scout"))] {
            assert_eq!(growing.rows(lane.as_ref()), whole.rows(lane.as_ref()));
            assert_eq!(growing.sums(lane.as_ref()), whole.sums(lane.as_ref()));
            assert!((growing.density(lane.as_ref()) - whole.density(lane.as_ref())).abs() < 1e-9);
        }
    }
}

#[test]
fn what_the_agent_does_not_send_fills_nothing() {
    let (transcript, windows) = windows_of(|out| {
        let entry = say(out, "u1", Role::User, 4_000);
        out.entry(entry);
        let mut left_out = say(out, "failed", Role::Assistant, 9_000);
        left_out.marks.unsent = true;
        out.entry(left_out);
        let mut entry = say(out, "run", Role::User, 100);
        let output = Raw {
            title: Text::from("output"),
            body: out.prose(&"z".repeat(700)),
        };
        entry.blocks.push(Block {
            sent: Sent::Whole,
            ..Block::new(Piece(1), BlockKind::Raw(output))
        });
        let aside = BlockKind::Text(out.prose(&"z".repeat(800)));
        entry.blocks.push(Block {
            sent: Sent::Never,
            ..Block::new(Piece(2), aside)
        });
        let asked = BlockKind::Text(out.prose(&"z".repeat(900)));
        let words = Sent::As(Box::new(Text::from("ran a tool")));
        entry.blocks.push(Block {
            sent: words,
            ..Block::new(Piece(3), asked)
        });
        out.entry(entry);
        let mut entry = say(out, "a1", Role::Assistant, 8_000);
        spent(&mut entry, [3, 0, 20_000]);
        out.entry(entry);
    });
    let requests = requests(&windows);
    assert_eq!(
        requests[0].sizes.of(ContextClass::Prompt),
        4_000 + 100 + 700 + 10
    );
    assert_eq!(
        requests[0].sizes.total(),
        requests[0].sizes.of(ContextClass::Prompt)
    );
    let lost = transcript.get(transcript.find("failed").unwrap()).unwrap();
    assert_eq!(weigh::parts(lost, None).count(), 0);
}

#[test]
fn a_result_that_is_dropped_fills_the_window_until_then() {
    let start = 1_700_000_000_000;
    let (transcript, windows) = windows_of(|out| {
        let entry = say(out, "u1", Role::User, 4_000);
        out.entry(entry);
        for (number, sent) in [Sent::Until(Timestamp(start + 3_000)), Sent::Usual]
            .into_iter()
            .enumerate()
        {
            let key = format!("t{number}");
            let mut entry = say(out, &format!("a{number}"), Role::Assistant, 80);
            spent(&mut entry, [3, 0, 20_000]);
            let called = call(out, &key, "read");
            entry.blocks.push(Block {
                sent,
                ..Block::new(Piece(1), called)
            });
            out.entry(entry);
            result(out, &key, 40_000);
        }
        for (key, second) in [("before", 2), ("after", 4)] {
            let mut entry = say(out, key, Role::Assistant, 80);
            entry.at = Some(Timestamp(start + second * 1_000));
            spent(&mut entry, [3, 20_000, 12_000]);
            out.entry(entry);
        }
    });
    let results: Vec<u64> = requests(&windows)
        .iter()
        .map(|one| one.sizes.of(ContextClass::Result))
        .collect();
    assert_eq!(results, [0, 40_000, 80_000, 40_000]);
    let tools = |key: &str| {
        shares::results_by_tool(&transcript, &windows.cuts, transcript.find(key).unwrap())
    };
    assert_eq!(tools("before"), [(Text::from("read"), 80_000)]);
    assert_eq!(tools("after"), [(Text::from("read"), 40_000)]);
}

#[test]
fn system_prompt_and_tools_fill_the_window_until_others_take_their_place() {
    let start = 1_700_000_000_000;
    let tools = |out: &mut Batch, key: &str, bytes: usize, sent: Sent| {
        let mut entry = say(out, key, Role::System, 2 * bytes);
        entry
            .blocks
            .iter_mut()
            .for_each(|block| block.sent = sent.clone());
        let raw = Raw {
            title: Text::from("tools: read"),
            body: out.output(&"z".repeat(bytes)),
        };
        let sent = if sent == Sent::Usual {
            Sent::Whole
        } else {
            sent
        };
        entry.blocks.push(Block {
            sent,
            ..Block::new(Piece(1), BlockKind::Raw(raw))
        });
        entry.marks.quiet = true;
        out.entry(entry);
    };
    let (_, windows) = windows_of(|out| {
        tools(out, "first", 4_000, Sent::Until(Timestamp(start + 3_000)));
        let mut listed = say(out, "listed", Role::Harness, 0);
        let raw = Raw {
            title: Text::from("skills"),
            body: out.output(&"z".repeat(500)),
        };
        listed.blocks.push(Block {
            sent: Sent::Whole,
            ..Block::new(Piece(1), BlockKind::Raw(raw))
        });
        listed.marks.trace = true;
        out.entry(listed);
        for (key, second) in [("before", 2), ("after", 4)] {
            let mut entry = say(out, key, Role::Assistant, 80);
            entry.at = Some(Timestamp(start + second * 1_000));
            spent(&mut entry, [3, 20_000, 12_000]);
            out.entry(entry);
            if key == "before" {
                tools(out, "second", 6_000, Sent::Usual);
            }
        }
    });
    let sizes = |class: ContextClass| {
        requests(&windows)
            .iter()
            .map(|one| one.sizes.of(class))
            .collect::<Vec<_>>()
    };
    assert_eq!(sizes(ContextClass::System), [8_000, 12_000]);
    assert_eq!(sizes(ContextClass::Tools), [4_000, 6_000]);
    assert_eq!(
        sizes(ContextClass::Added),
        [500, 500],
        "bookkeeping that the model was sent"
    );
}

#[test]
fn branches_go_on_from_where_they_were_left() {
    const BRANCHES: usize = 300;
    let (transcript, windows) = windows_of(|out| {
        let entry = say(out, "u", Role::User, 100);
        out.entry(entry);
        for number in 0..BRANCHES {
            let mut prompt = say(out, &format!("u{number}"), Role::User, 50);
            prompt.parent = Some(Key::from("u"));
            out.entry(prompt);
            let mut answer = say(out, &format!("a{number}"), Role::Assistant, 10);
            answer.parent = Some(Key::clean(&format!("u{number}")));
            spent(&mut answer, [40, 0, 0]);
            out.entry(answer);
        }
    });
    assert_eq!(transcript.branches().list.len(), BRANCHES - 1);
    let requests = requests(&windows);
    assert_eq!(requests.len(), BRANCHES);
    assert!(
        requests.iter().all(|request| request.sizes.total() == 150),
        "the root and its own prompt"
    );
}

#[test]
fn a_result_is_paid_for_with_every_request_until_a_compaction() {
    let answer = |out: &mut Batch, key: &str, bytes: usize, tokens: [u64; 3]| {
        let mut entry = say(out, key, Role::Assistant, bytes);
        spent(&mut entry, tokens);
        entry
    };
    let (transcript, windows) = windows_of(|out| {
        let entry = say(out, "u1", Role::User, 4_000);
        out.entry(entry);
        let mut entry = answer(out, "a1", 8_000, [20_000, 0, 0]);
        let called = call(out, "t1", "read");
        entry.push_piece(Piece(1), called);
        out.entry(entry);
        result(out, "t1", 40_000);
        let entry = answer(out, "a2", 400, [0, 20_000, 12_000]);
        out.entry(entry);
        let entry = answer(out, "a3", 400, [100, 32_000, 0]);
        out.entry(entry);
        let entry = compaction(out, "c1", None, None);
        out.entry(entry);
        let entry = answer(out, "a4", 400, [0, 0, 21_000]);
        out.entry(entry);
    });
    let carried = Memo::<Carried>::compute(&transcript, &windows);
    let place = Place {
        entry: transcript.find("a1").unwrap(),
        block: 1,
    };
    let one = carried.of_call(place).unwrap();
    assert_eq!((one.requests, one.tokens), (2, 9_999));
    // 10,000 tokens are written to the cache at $6.25 a million, and read once at $0.50.
    let micros = one.picos / 1_000_000;
    assert!((67_400..=67_500).contains(&micros), "{micros}");
    assert_eq!(carried.expensive().collect::<Vec<_>>(), [place]);
}

#[test]
fn a_result_is_paid_for_on_each_branch_that_has_it() {
    let (transcript, windows) = windows_of(|out| {
        let entry = say(out, "u", Role::User, 100);
        out.entry(entry);
        let mut entry = say(out, "a", Role::Assistant, 10);
        entry.parent = Some(Key::from("u"));
        let called = call(out, "shared", "read");
        entry.push_piece(Piece(1), called);
        out.entry(entry);
        result(out, "shared", 4_000);
        for branch in ["left", "kept"] {
            let mut prompt = say(out, &format!("u-{branch}"), Role::User, 50);
            prompt.parent = Some(Key::from("a"));
            out.entry(prompt);
            let mut entry = say(out, branch, Role::Assistant, 10);
            entry.parent = Some(Key::clean(&format!("u-{branch}")));
            spent(&mut entry, [2_000, 0, 0]);
            let called = call(out, &format!("own-{branch}"), "read");
            entry.push_piece(Piece(1), called);
            out.entry(entry);
            result(out, &format!("own-{branch}"), 400);
            let mut entry = say(out, &format!("{branch}-2"), Role::Assistant, 10);
            entry.parent = Some(Key::clean(branch));
            spent(&mut entry, [2_104, 0, 0]);
            out.entry(entry);
        }
    });
    let carried = Memo::<Carried>::compute(&transcript, &windows);
    let requests = ["a", "left", "kept"].map(|key| {
        let entry = transcript.find(key).unwrap();
        let one = carried.of_call(Place { entry, block: 1 }).unwrap();
        (one.requests, one.carried)
    });
    assert_eq!(requests, [(4, 4_000), (1, 100), (1, 100)]);
}
