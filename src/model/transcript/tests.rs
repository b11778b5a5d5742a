//! Applying batches to a transcript, and the differences when a session is read again.

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert_eq, prop_oneof, proptest};

use super::large::Large;
use super::{Differences, Replaced, Transcript};
use crate::model::body::Tree;
use crate::model::edit::{Batch, BatchMode, Edit, MetaEdit};
use crate::model::entry::{Block, BlockKind, Entry, Piece, Raw, Role};
use crate::model::record::Origin;
use crate::model::samples;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::work::{Carrier, EndRecording, Update, Work, WorkEnd, WorkReference};
use crate::model::tool::{ToolCall, ToolKind, ToolResult, ToolState, Verdict};
use crate::model::usage::Usage;

fn entry(out: &mut Batch, key: &str, pieces: &[(&str, &str)]) -> Entry {
    let mut entry = out.new_entry(Text::from(key), Role::Assistant, None);
    for (piece, words) in pieces {
        let body = out.prose(words);
        entry.push_piece(Piece::of(piece), BlockKind::Text(body));
    }
    entry
}

fn batch_of(mode: BatchMode, entries: &[(&str, &[(&str, &str)])]) -> Batch {
    let mut batch = Batch::default();
    batch.mode = mode;
    for (key, pieces) in entries {
        let entry = entry(&mut batch, key, pieces);
        batch.push(Edit::Entry(Box::new(entry)));
    }
    batch
}

fn words(transcript: &Transcript) -> Vec<String> {
    let texts = |entry: &Entry| {
        entry
            .blocks
            .iter()
            .flat_map(|b| {
                b.kind
                    .bodies()
                    .map(|body| body.stub.to_string())
                    .collect::<Vec<_>>()
            })
            .collect::<Vec<_>>()
    };
    transcript
        .entries()
        .map(|entry| format!("{}: {}", entry.key, texts(entry).join(", ")))
        .collect()
}

/// Reads a session again, batch by batch, into a transcript that replaces another.
fn read_anew(shown: &mut Transcript, batches: Vec<Batch>) -> Replaced {
    let (mut now, mut differences) = (shown.emptied(), Differences::default());
    for batch in batches {
        let touched = now.apply(batch);
        differences.compare(shown, &now, &touched);
    }
    differences.replace(shown, now)
}

#[test]
fn where_a_file_only_grew_nothing_is_looked_for() {
    let mut transcript = Transcript::new();
    transcript.apply(batch_of(
        BatchMode::Append,
        &[("a", &[("1", "one")]), ("b", &[("2", "two")])],
    ));
    let replaced = read_anew(
        &mut transcript,
        vec![
            batch_of(
                BatchMode::ReplaceStart,
                &[("a", &[("1", "one")]), ("b", &[("2", "tow")])],
            ),
            batch_of(
                BatchMode::ReplaceEnd,
                &[
                    ("b", &[("2", "two"), ("3", "three")]),
                    ("c", &[("4", "four")]),
                ],
            ),
        ],
    );
    assert!(replaced.before.is_none(), "all have the ids that they had");
    let [_, b, c] = transcript.order()[..] else {
        panic!("three entries")
    };
    let touched = replaced.touched;
    assert_eq!((touched.added, touched.changed), (vec![c], vec![b]));
    assert!(touched.moved.is_empty() && !touched.reordered && !touched.lanes && !touched.meta);
    assert_eq!(words(&transcript), ["a: one", "b: two, three", "c: four"]);
}

#[test]
fn where_entries_went_or_came_between_they_are_others_by_id() {
    let a: (&str, &[(&str, &str)]) = ("a", &[("1", "one")]);
    let b: (&str, &[(&str, &str)]) = ("b", &[("2", "two")]);
    let c: (&str, &[(&str, &str)]) = ("c", &[("3", "three")]);
    for (anew, added) in [
        ([c, a].as_slice(), "c"),
        (&[a, c, b], "c"),
        (&[b, a], ""),
        (&[a], ""),
        (&[], ""),
    ] {
        let mut transcript = Transcript::new();
        transcript.apply(batch_of(BatchMode::Append, &[a, b]));
        let Replaced { touched, before } =
            read_anew(&mut transcript, vec![batch_of(BatchMode::Replace, anew)]);
        assert_eq!(before.unwrap().order().len(), 2);
        assert_eq!(
            touched.added,
            Vec::from_iter(transcript.find(added)),
            "{anew:?}"
        );
        assert!(touched.changed.is_empty());
    }
}

#[test]
fn where_all_entries_stay_and_other_branches_are_left_they_are_looked_up() {
    let of = |mode, is_undone| {
        let mut batch = batch_of(mode, &[("a", &[("1", "one")])]);
        let mut entry = entry(&mut batch, "b", &[("2", "two")]);
        entry.marks.undone = is_undone;
        batch.push(Edit::Entry(Box::new(entry)));
        batch
    };
    for (was, is) in [(false, true), (true, false), (true, true), (false, false)] {
        let mut transcript = Transcript::new();
        transcript.apply(of(BatchMode::Append, was));
        transcript.update_derived();
        assert_eq!(transcript.branches().roots.len(), usize::from(was));
        let replaced = read_anew(&mut transcript, vec![of(BatchMode::Replace, is)]);
        assert_eq!(replaced.before.is_some(), was != is, "{was} {is}");
    }
}

#[test]
fn lanes_that_are_announced_otherwise_are_others() {
    let of = |mode, label: &str| {
        let mut batch = batch_of(mode, &[("a", &[("1", "one")])]);
        batch.meta(MetaEdit::Lane {
            name: Text::from("x"),
            label: Some(Text::from(label)),
            call: None,
        });
        batch
    };
    for (label, is_other) in [("mate", false), ("cook", true)] {
        let mut transcript = Transcript::new();
        transcript.apply(of(BatchMode::Append, "mate"));
        let Replaced { touched, before } =
            read_anew(&mut transcript, vec![of(BatchMode::Replace, label)]);
        assert_eq!(
            (touched.lanes, before.is_none()),
            (is_other, true),
            "{label}"
        );
        assert!(touched.is_empty(), "nothing else tells of it");
    }
}

/// As at the end of a stream: the last update determines the entry.
#[test]
fn what_is_corrected_while_it_is_read_anew_differs_from_what_is_shown_only_in_the_end() {
    let mut transcript = Transcript::new();
    transcript.apply(batch_of(BatchMode::Append, &[("a", &[("1", "one")])]));
    let steps = [
        batch_of(
            BatchMode::ReplaceStart,
            &[("a", &[("1", "on")]), ("b", &[("2", "two")])],
        ),
        batch_of(BatchMode::ReplaceMore, &[("a", &[("1", "one")])]),
    ];
    let mut gone = batch_of(BatchMode::ReplaceEnd, &[]);
    gone.push(Edit::Retire(Text::from("b")));
    let Replaced { touched, before } =
        read_anew(&mut transcript, steps.into_iter().chain([gone]).collect());
    assert!(touched.is_empty() && before.is_none(), "{touched:?}");
}

#[test]
fn what_stands_elsewhere_has_moved() {
    let at = |mode, at: u64| {
        let mut batch = batch_of(mode, &[]);
        batch.begin_record(Origin {
            at,
            ..Origin::default()
        });
        let entry = entry(&mut batch, "a", &[("1", "one")]);
        batch.push(Edit::Entry(Box::new(entry)));
        batch
    };
    let mut transcript = Transcript::new();
    transcript.apply(at(BatchMode::Append, 7));
    let Replaced { touched, before } = read_anew(&mut transcript, vec![at(BatchMode::Replace, 9)]);
    assert_eq!(
        (touched.moved.as_slice(), before.is_none()),
        (transcript.order(), true)
    );
    assert!(touched.is_empty());
}

#[test]
fn a_message_of_several_records_keeps_its_order_when_it_is_replaced() {
    let batch = |mode| {
        let mut batch = batch_of(
            mode,
            &[
                ("a", &[("0", "zero")]),
                ("a", &[("1", "one"), ("2", "two"), ("1", "three")]),
            ],
        );
        // Removing a piece before it comes has no effect.
        batch.push(Edit::RetirePiece {
            of: Text::from("a"),
            piece: Piece::of("4"),
        });
        for piece in [("4", "not yet"), ("4", "four"), ("5", "five")] {
            let further = entry(&mut batch, "a", &[piece]);
            batch.entry(further);
            if piece.1 == "not yet" {
                batch.push(Edit::RetirePiece {
                    of: Text::from("a"),
                    piece: Piece::of("4"),
                });
            }
        }
        batch
    };
    let mut transcript = Transcript::new();
    transcript.apply(batch(BatchMode::Append));
    let order = ["a: zero, one, two, three, four, five"];
    assert_eq!(words(&transcript), order);
    transcript.apply(batch(BatchMode::Replace));
    assert_eq!(words(&transcript), order);
}

#[test]
fn what_comes_from_memory_is_not_looked_for_on_disk() {
    let batch = |stubs_only| {
        let mut batch = Batch::default();
        batch.stubs_only = stubs_only;
        let mut entry = batch.new_entry(Text::from("a"), Role::Assistant, None);
        let body = batch.tree(&Text::from("tree"), 9, || Tree::Number(Text::from("0.1")));
        entry.push(BlockKind::Raw(Raw {
            title: Text::from("tree"),
            body,
        }));
        batch.entry(entry);
        batch
    };
    let mut transcript = Transcript::new();
    transcript.apply(batch(true));
    assert_eq!(transcript.loaded_bytes(), 0);
    // As at the end of a stream, which consists of deltas: no record holds all of it.
    transcript.apply(batch(false));
    assert_eq!(transcript.loaded_bytes(), 9);
    let bodies = transcript
        .entries()
        .flat_map(|entry| &entry.blocks)
        .flat_map(|block| block.kind.bodies());
    assert!(bodies.map(|body| body.tree().is_some()).eq([true]));
}

#[test]
fn a_message_spread_over_records_is_one_entry() {
    let mut transcript = Transcript::new();
    for piece in [("1", "one"), ("2", "two"), ("1", "one, corrected")] {
        transcript.apply(batch_of(BatchMode::Append, &[("a", &[piece])]));
    }
    assert_eq!(words(&transcript), ["a: one, corrected, two"]);
}

/// An entry from a small set, with `times` calls of a small set of ids, in one of a few pieces.
fn asking(out: &mut Batch, [entry, piece, call, times]: [usize; 4], spent: u64) -> Edit {
    let call = ToolCall {
        key: Text::from(["x", "y"][call]),
        name: Text::from("Bash"),
        kind: ToolKind::Run,
        headline: Text::from("ls"),
        input: out.prose("input"),
        state: ToolState::Pending,
        started: None,
        lane: None,
    };
    let (key, lane) = [("a", None), ("b", None), ("c", Some("scout"))][entry];
    let mut entry = out.new_entry(Text::from(key), Role::Assistant, None);
    entry.lane = lane.map(Text::from);
    let block = Block::new(
        Piece::of(["1", "2"][piece]),
        BlockKind::Call(Box::new(call)),
    );
    entry.blocks = vec![block; times];
    // Requests repeat their tokens in each of their records.
    entry.usage = Some(Box::new(Usage {
        output: Some(spent),
        ..Usage::default()
    }));
    Edit::Entry(Box::new(entry))
}

fn answer(out: &mut Batch, call: usize, key: usize) -> Edit {
    let result = ToolResult {
        key: Text::clean(&format!("result {key}")),
        tool: None,
        verdict: Verdict::Done,
        body: out.output("output"),
        patch: None,
        images: Vec::new(),
        facts: Text::default(),
        at: None,
        duration_ms: None,
        work: None,
    };
    Edit::Result {
        call: Text::from(["x", "y"][call]),
        result: Box::new(result),
        lane: None,
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Ask([usize; 4], u64),
    Answer(usize, usize),
    Fares(usize, bool),
    Drop(usize, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0_usize..3, 0_usize..2, 0_usize..2, 0_usize..3, 0_u64..3)
            .prop_map(|(entry, piece, call, times, spent)| Step::Ask([entry, piece, call, times], spent)),
        3 => (0_usize..2, 0_usize..3).prop_map(|(call, key)| Step::Answer(call, key)),
        1 => (0_usize..2, any::<bool>()).prop_map(|(call, is_lost)| Step::Fares(call, is_lost)),
        1 => (0_usize..3, 0_usize..2).prop_map(|(entry, piece)| Step::Drop(entry, piece)),
    ];
    vec(step, 0..9)
}

fn batch(mode: BatchMode, steps: &[Step]) -> Batch {
    let mut batch = Batch::default();
    batch.mode = mode;
    for step in steps {
        let edit = match *step {
            Step::Ask(what, spent) => asking(&mut batch, what, spent),
            Step::Answer(call, key) => answer(&mut batch, call, key),
            Step::Fares(call, is_lost) => {
                let state = if is_lost {
                    ToolState::Lost
                } else {
                    ToolState::Running
                };
                Edit::State {
                    call: Text::from(["x", "y"][call]),
                    state,
                }
            }
            Step::Drop(entry, piece) => Edit::RetirePiece {
                of: Text::from(["a", "b", "c"][entry]),
                piece: Piece::of(["1", "2"][piece]),
            },
        };
        batch.push(edit);
    }
    batch
}

fn timeless(transcript: &Transcript) -> Vec<Entry> {
    transcript
        .entries()
        .map(|entry| Entry {
            revision: 0,
            ..entry.clone()
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    /// The indexes of calls and of large entries match a full search.
    #[test]
    fn what_is_remembered_is_what_a_look_at_all_finds(steps in vec(steps(), 1..5)) {
        let (mut remembers, mut looks) = (Transcript::new(), Transcript::new());
        remembers.large = Large::with_threshold(0);
        looks.large = Large::with_threshold(usize::MAX);
        for step in steps.into_iter().flatten() {
            let touched = remembers.apply(batch(BatchMode::Append, &[step]));
            looks.remember_calls_anew();
            let looked = looks.apply(batch(BatchMode::Append, &[step]));
            prop_assert_eq!(touched.changed, looked.changed, "{:?}", step);
        }
        prop_assert_eq!(timeless(&remembers), timeless(&looks));
        prop_assert_eq!(remembers.loaded_bytes(), looks.loaded_bytes());
        prop_assert_eq!(remembers.totals().sum(), looks.totals().sum());
    }
}

impl Transcript {
    /// Indexes all calls as if they had just come.
    fn remember_calls_anew(&mut self) {
        self.pairs.clear_calls();
        for id in self.order.iter().copied().collect::<Vec<_>>() {
            let entry = self.get(id).cloned().unwrap();
            self.index_calls(id, &entry, &entry.blocks);
        }
    }
}

#[test]
fn a_call_that_another_piece_brings_now_stays() {
    let mut transcript = Transcript::new();
    transcript.apply(batch(BatchMode::Append, &[Step::Ask([0, 1, 0, 1], 0)]));
    transcript.apply(batch(BatchMode::Replace, &[Step::Ask([0, 0, 0, 1], 0)]));
    assert_eq!(transcript.entries().flat_map(Entry::calls).count(), 1);
}

#[test]
fn a_result_stays_when_its_call_goes() {
    let mut transcript = Transcript::new();
    transcript.apply(batch(
        BatchMode::Append,
        &[Step::Ask([0, 0, 0, 1], 0), Step::Answer(0, 0)],
    ));
    assert_eq!(transcript.order().len(), 1);
    transcript.apply(batch(BatchMode::Replace, &[Step::Answer(0, 0)]));
    let kinds: Vec<&BlockKind> = transcript
        .entries()
        .flat_map(|entry| &entry.blocks)
        .map(|block| &block.kind)
        .collect();
    assert!(matches!(kinds[..], [BlockKind::Result(_)]), "{kinds:?}");
}

#[test]
fn a_result_joins_the_call_of_its_own_lane() {
    for lanes in [
        [None, Some("one")],
        [Some("one"), None],
        [Some("one"), Some("two")],
    ] {
        let mut batch = Batch::default();
        for (number, lane) in lanes.iter().enumerate() {
            let Edit::Entry(mut caller) = asking(&mut batch, [number, number, 1, 1], 0) else {
                panic!()
            };
            caller.lane = lane.map(Text::from);
            batch.push(Edit::Entry(caller));
        }
        let Edit::Result { call, result, .. } = answer(&mut batch, 1, 7) else {
            panic!()
        };
        // The call of the other lane came last.
        batch.push(Edit::Result {
            call,
            result,
            lane: lanes[0].map(Text::from),
        });
        let mut asked = batch.clone();
        asked.edits.pop();
        let is_answered = |entry: &Entry| entry.calls().all(|call| call.state.result().is_some());
        let answered = |batch: [Batch; 2]| {
            let mut transcript = Transcript::new();
            for batch in batch {
                transcript.apply(batch);
            }
            transcript.entries().map(is_answered).collect::<Vec<bool>>()
        };
        assert_eq!(
            answered([batch.clone(), Batch::default()]),
            [true, false],
            "{lanes:?}"
        );
        // Also in a replacement, where only the calls were read before.
        batch.mode = BatchMode::Replace;
        assert_eq!(
            answered([asked, batch]),
            [true, false],
            "{lanes:?} replaced"
        );
    }
}

#[test]
fn usage_of_entries_that_a_rewrite_drops_leaves_the_totals() {
    let batch = |mode: BatchMode, keys: &[&str]| {
        let mut batch = batch_of(mode, &[]);
        for key in keys {
            let mut entry = entry(&mut batch, key, &[("1", "said")]);
            entry.usage = Some(Box::new(Usage {
                input: Some(10),
                cost: Some(0.5),
                ..Usage::default()
            }));
            batch.push(Edit::Entry(Box::new(entry)));
        }
        batch
    };
    let mut transcript = Transcript::new();
    transcript.apply(batch(BatchMode::Append, &["a", "b", "c"]));
    transcript.apply(batch(BatchMode::Replace, &["a", "c"]));
    let mut plain = Transcript::new();
    plain.apply(batch(BatchMode::Append, &["a", "c"]));
    assert_eq!(transcript.totals().sum(), plain.totals().sum());
    let mut last = batch(BatchMode::Append, &[]);
    last.push(Edit::Retire(Text::from("a")));
    transcript.apply(last);
    assert_eq!(transcript.totals().sum().requests, 1);
}

#[test]
fn usage_that_comes_before_its_entry_becomes_that_of_the_entry() {
    let batch = |mode: BatchMode| {
        let mut batch = batch_of(mode, &[]);
        let usage = Box::new(Usage {
            output: Some(61),
            ..Usage::default()
        });
        batch.push(Edit::Usage {
            of: Text::from("a"),
            usage,
            model: None,
        });
        let entry = entry(&mut batch, "a", &[("1", "said")]);
        batch.push(Edit::Entry(Box::new(entry)));
        batch
    };
    let mut transcript = Transcript::new();
    transcript.apply(batch(BatchMode::Append));
    let first = transcript.clone();
    transcript.apply(batch(BatchMode::Replace));
    for transcript in [first, transcript] {
        let of_entry = transcript
            .entries()
            .next()
            .and_then(|entry| entry.usage.as_ref()?.output);
        assert_eq!(
            (of_entry, transcript.totals().sum().output.total),
            (Some(61), 61)
        );
        assert_eq!(transcript.asides().count(), 0);
    }
}

#[test]
fn an_entry_that_goes_to_another_lane_stands_in_that() {
    let batch = |lane: Option<&str>| {
        let mut batch = batch_of(BatchMode::Append, &[]);
        let mut entry = entry(&mut batch, "a", &[("1", "said")]);
        entry.lane = lane.map(Text::from);
        batch.push(Edit::Entry(Box::new(entry)));
        batch
    };
    let mut transcript = Transcript::new();
    for lane in [None, Some("one"), Some("two")] {
        let touched = transcript.apply(batch(lane));
        let a = transcript.find("a").unwrap();
        assert_eq!(transcript.lane_at(a).map(Text::as_str), lane);
        let holding = transcript.lanes().iter().filter(|lane| lane.entries == [a]);
        assert_eq!(
            holding.map(|lane| lane.name.as_str()).collect::<Vec<_>>(),
            Vec::from_iter(lane)
        );
        assert_eq!(touched.reordered, lane.is_some());
    }
}

#[test]
fn the_newest_entry_may_stand_before_a_sub_agents_last() {
    let mut transcript = Transcript::new();
    let mut batch = Batch::default();
    for (key, lane, at) in [
        ("a", None, 1_000),
        ("b", None, 9_000),
        ("c", Some("helper"), 5_000),
    ] {
        let mut entry = batch.new_entry(key.into(), Role::Assistant, Some(Timestamp(at)));
        entry.lane = lane.map(Into::into);
        batch.entry(entry);
    }
    transcript.apply(batch);
    transcript.update_derived();
    assert_eq!(transcript.newest(), Some(Timestamp(9_000)));
}

#[test]
fn what_is_told_of_work_finds_its_call_in_any_order() {
    let report = |out: &mut Batch, about: WorkReference, by: &str, carrier: Carrier, exit: i64| {
        let end = WorkEnd::from_word(None, Some(exit));
        let update = Update {
            by: Text::from(by),
            at: Some(Timestamp(exit)),
            carrier,
            end,
            reason: None,
        };
        // The child of a call reports by the id of the work, from a lane of its own.
        let lane = about.handle.is_some().then(|| Text::from("child"));
        out.push(Edit::Update {
            about,
            update,
            lane,
        });
    };
    let noted = |out: &mut Batch, key: &str| {
        let mut noted = entry(out, key, &[]);
        noted.role = Role::Harness;
        out.entry(noted);
    };
    let parts: [&dyn Fn(&mut Batch); 6] = [
        &|out| noted(out, "queue"),
        &|out| noted(out, "notice"),
        &|out| {
            let mut asked = entry(out, "asked", &[]);
            let call = samples::call(out, "c1");
            asked.push(BlockKind::Call(Box::new(call)));
            out.entry(asked);
        },
        &|out| {
            let work = Some(Box::new(Work::begun(
                Text::from("w1"),
                EndRecording::Announced,
            )));
            let result = ToolResult {
                work,
                ..samples::result(out, "r1", Some(Timestamp(1)))
            };
            out.push(Edit::Result {
                call: Text::from("c1"),
                result: Box::new(result),
                lane: None,
            });
        },
        &|out| {
            report(
                out,
                WorkReference {
                    call: Some(Text::from("c1")),
                    handle: None,
                },
                "queue",
                Carrier::Queue,
                3,
            );
        },
        &|out| {
            report(
                out,
                WorkReference {
                    call: None,
                    handle: Some(Text::from("w1")),
                },
                "notice",
                Carrier::Notice,
                3,
            );
        },
    ];
    let orders = [
        [0, 1, 2, 3, 4, 5],
        [5, 4, 3, 2, 1, 0],
        [4, 2, 5, 3, 1, 0],
        [1, 3, 5, 2, 0, 4],
    ];
    for order in orders {
        let mut transcript = Transcript::new();
        for _ in 0..2 {
            for part in order {
                let mut out = Batch::default();
                parts[part](&mut out);
                transcript.apply(out);
            }
        }
        let id = transcript.find("asked").unwrap();
        let call = transcript.get(id).unwrap().calls().next().unwrap();
        assert!(
            matches!(&call.state, ToolState::Failed(result) if result.facts == "exit 3".into()),
            "{order:?}"
        );
        let work = call.state.work().unwrap();
        assert_eq!(work.updates.len(), 2, "{order:?}");
        assert_eq!(
            work.delivered().map(|report| report.by.as_str()),
            Some("notice"),
            "{order:?}"
        );
        assert_eq!(transcript.order().len(), 3, "no stray is left: {order:?}");
        let marks = |key: &str| transcript.marks(transcript.find(key).unwrap()).unwrap();
        assert!(
            marks("notice").reports && !marks("notice").is_hidden(),
            "{order:?}"
        );
        assert!(
            marks("queue").again && marks("queue").is_hidden(),
            "one row stands for both: {order:?}"
        );
        let report = transcript
            .reported_by(&Text::from("notice"))
            .map(|(entry, _)| entry);
        assert_eq!(report.collect::<Vec<_>>(), [id], "{order:?}");
    }
}

#[test]
fn work_that_is_taken_up_again_ends_anew() {
    let mut work = Work::begun(Text::from("w1"), EndRecording::Announced);
    let mut hear = |by: &str, at: i64, carrier: Carrier| {
        let end = WorkEnd::from_word(None, None);
        work.add_update(Update {
            by: by.into(),
            at: Some(Timestamp(at)),
            carrier,
            end,
            reason: None,
        });
    };
    hear("q1", 1, Carrier::Queue);
    hear("n1", 2, Carrier::Notice);
    hear("n2", 3, Carrier::Notice);
    assert_eq!(work.endings().len(), 1, "told again, it is the same end");
    let mut hear = |by: &str, at: i64, carrier: Carrier| {
        let end = WorkEnd::from_word(None, None);
        work.add_update(Update {
            by: by.into(),
            at: Some(Timestamp(at)),
            carrier,
            end,
            reason: None,
        });
    };
    hear("q2", 8, Carrier::Queue);
    assert_eq!(work.endings().len(), 2);
    let (end, report) = work.completed().unwrap();
    assert_eq!(
        (end.at, report.by.as_str(), work.delivered()),
        (Some(Timestamp(8)), "q2", None)
    );
}

#[test]
fn what_the_program_noted_in_another_file_stands_at_its_time() {
    let update = |by: &str, at: i64, carrier, is_end: bool| Update {
        by: by.into(),
        at: Some(Timestamp(at * 1_000)),
        carrier,
        end: WorkEnd::from_word(None, None).filter(|_| is_end),
        reason: None,
    };
    let own = [
        update("p1", 10, Carrier::Poll, false),
        update("n1", 60, Carrier::Notice, true),
        update("n2", 120, Carrier::Notice, true),
    ];
    let other = [
        update("begun", 1, Carrier::Record, false),
        update("e1", 40, Carrier::Record, true),
        update("again", 80, Carrier::Record, false),
        update("e2", 100, Carrier::Record, true),
    ];
    // Set bits select records of the other file.
    let read = |mut order: u8| {
        let mut work = Work::begun(Text::from("w1"), EndRecording::Announced);
        let (mut own, mut other) = (own.iter(), other.iter());
        for _ in 0..7 {
            let next = if order & 1 == 1 {
                other.next()
            } else {
                own.next()
            };
            work.add_update(next.unwrap().clone());
            order >>= 1;
        }
        work
    };
    let mut work = read(0b111_1000);
    for order in (0..0b1000_0000_u8).filter(|order| order.count_ones() == 4) {
        assert_eq!(read(order), work, "{order:b}");
    }
    let ends: Vec<_> = work
        .endings()
        .iter()
        .map(|ending| {
            let delivered = ending.delivered().map(|update| update.by.to_string());
            (
                ending.first().map(|(_, first)| first.by.to_string()),
                delivered,
            )
        })
        .collect();
    let pair = |end: &str, notice: &str| (Some(end.to_owned()), Some(notice.to_owned()));
    assert_eq!(ends, [pair("e1", "n1"), pair("e2", "n2")]);
    assert_eq!(work.contradiction(), None);
    // The polled program may not have seen yet what another one just recorded, but later it has.
    work.add_update(update("p2", 100, Carrier::Poll, false));
    assert_eq!(work.contradiction(), None);
    work.add_update(update("p3", 130, Carrier::Poll, false));
    assert!(work.contradiction().is_some());
}

#[test]
fn a_result_that_says_again_that_work_goes_on_is_a_poll_in_any_order() {
    let asked = |out: &mut Batch, key: &str| {
        let mut asked = entry(out, key, &[]);
        let call = samples::call(out, key);
        asked.push(BlockKind::Call(Box::new(call)));
        out.entry(asked);
    };
    let answered = |out: &mut Batch, key: &str| {
        let work = Some(Box::new(Work::begun(
            Text::from("w1"),
            EndRecording::Announced,
        )));
        let result = ToolResult {
            work,
            ..samples::result(out, &format!("r{key}"), Some(Timestamp(1)))
        };
        out.push(Edit::Result {
            call: Text::from(key),
            result: Box::new(result),
            lane: None,
        });
    };
    for order in [["c1", "c2"], ["c2", "c1"]] {
        let mut transcript = Transcript::new();
        let mut out = Batch::default();
        for key in ["c1", "c2"] {
            asked(&mut out, key);
        }
        for key in order {
            answered(&mut out, key);
        }
        transcript.apply(out);
        let states = |transcript: &Transcript| -> Vec<&str> {
            transcript
                .entries()
                .flat_map(Entry::calls)
                .map(|call| call.state.word())
                .collect()
        };
        assert_eq!(states(&transcript), ["unknown", "done"], "{order:?}");
        let polls = |transcript: &Transcript| {
            let first = transcript.entries().next().unwrap().calls().next().unwrap();
            first.state.work().map(|work| work.polls().count())
        };
        assert_eq!(polls(&transcript), Some(1), "{order:?}");
        // If it is read again when the work has ended, it is still a poll.
        let mut out = Batch::default();
        let about = WorkReference {
            call: None,
            handle: Some(Text::from("w1")),
        };
        let end = WorkEnd::from_word(None, Some(2));
        let update = Update {
            by: Text::from("n"),
            at: Some(Timestamp(9)),
            carrier: Carrier::Notice,
            end,
            reason: None,
        };
        out.push(Edit::Update {
            about,
            update,
            lane: None,
        });
        for key in order {
            answered(&mut out, key);
        }
        transcript.apply(out);
        assert_eq!(states(&transcript), ["failed", "done"], "{order:?}");
        assert_eq!(polls(&transcript), Some(1), "{order:?}");
    }
}

#[test]
fn what_is_told_of_work_again_and_again_is_kept_within_bounds() {
    let mut work = Work::begun(Text::from("w1"), EndRecording::Announced);
    let mut hear = |by: usize, exit: Option<i64>| {
        let end = exit.and_then(|exit| WorkEnd::from_word(None, Some(exit)));
        work.add_update(Update {
            by: Text::clean(&by.to_string()),
            at: None,
            carrier: Carrier::Poll,
            end,
            reason: None,
        })
    };
    assert_eq!((0..3_000).filter(|by| hear(*by, None)).count(), 1_000);
    assert!(hear(3_000, Some(0)) && hear(3_001, Some(1)));
    assert_eq!(
        work.completed().map(|(end, _)| end.exit),
        Some(Some(1)),
        "the last end counts"
    );
    assert_eq!(work.updates.len(), 1_000);
}
