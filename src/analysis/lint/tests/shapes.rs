//! The cost of judging depends on the number of records, whatever their ids, links and lanes are.

use proptest::prelude::{
    Just, ProptestConfig, Strategy, prop_assert, prop_assert_eq, prop_oneof, proptest,
};

use super::{Findings, MetaEdit, done, pending};
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{BlockKind, Marks, Piece, Role, Stop};
use crate::model::record::{FileId, Origin};
use crate::model::text::Text;
use crate::model::transcript::Transcript;

/// The parents of a session's records.
#[derive(Clone, Copy, Debug)]
enum Parents {
    /// The record before.
    Before,
    /// One of this number of roots.
    OneOf(usize),
    /// The neighbouring record, whose parent is this one.
    Circle,
    /// A record of a cycle through all.
    Ring,
    /// A record that is missing.
    Missing,
}

/// Position of the results relative to their calls.
#[derive(Clone, Copy, Debug)]
enum Results {
    Behind,
    Ahead,
    AtTheEnd,
    Twice,
    Never,
}

/// A session of an adverse shape: ids, links and lanes are drawn from few values.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Number of call ids; one of them is the name of the tool, one is empty.
    ids: usize,
    /// Calls per record.
    calls: usize,
    /// Records per answer.
    pieces: usize,
    lanes: usize,
    prompts: usize,
    parents: Parents,
    results: Results,
}

fn shapes() -> impl Strategy<Value = Shape> {
    let few = || prop_oneof![Just(1), Just(2), Just(3), Just(10), Just(usize::MAX)];
    let parents = prop_oneof![
        Just(Parents::Before),
        Just(Parents::OneOf(1)),
        Just(Parents::OneOf(7)),
        Just(Parents::Circle),
        Just(Parents::Ring),
        Just(Parents::Missing)
    ];
    let results = prop_oneof![
        Just(Results::Behind),
        Just(Results::Ahead),
        Just(Results::AtTheEnd),
        Just(Results::Twice),
        Just(Results::Never)
    ];
    (
        few(),
        prop_oneof![Just(1), Just(3), Just(40)],
        few(),
        1..4_usize,
        few(),
        parents,
        results,
    )
        .prop_map(
            |(ids, calls, pieces, lanes, prompts, parents, results)| Shape {
                ids,
                calls,
                pieces,
                lanes,
                prompts,
                parents,
                results,
            },
        )
}

impl Shape {
    fn key(record: usize) -> Key {
        Text::clean(&format!("k{record}"))
    }

    fn parent(&self, record: usize, records: usize) -> Option<Key> {
        let parent = match self.parents {
            Parents::Before => record.checked_sub(1)?,
            Parents::OneOf(count) => Some(record % count).filter(|parent| *parent != record)?,
            Parents::Circle => record ^ 1,
            Parents::Ring => (record + 1) % records,
            Parents::Missing => record + 10 * records,
        };
        Some(Self::key(parent))
    }

    fn call(&self, number: usize) -> Key {
        match number % self.ids {
            0 => Text::from("bash"),
            1 if self.ids > 2 => Text::default(),
            other => Text::clean(&format!("call_{other}")),
        }
    }

    /// A session of a number of records, one per batch: answers with their calls, then results.
    fn batches(&self, records: usize) -> Vec<Batch> {
        let mut records = Records {
            shape: *self,
            all: records,
            batches: Vec::new(),
        };
        let answers = records.all / 2;
        for answer in 0..answers {
            if matches!(self.results, Results::Ahead) {
                records.result(answer);
            }
            records.answer(answer);
            if matches!(self.results, Results::Behind | Results::Twice) {
                records.result(answer);
            }
            if matches!(self.results, Results::Twice) {
                records.result(answer + answers);
            }
        }
        if matches!(self.results, Results::AtTheEnd) {
            (0..answers).for_each(|answer| records.result(answer));
        }
        records.batches
    }
}

struct Records {
    shape: Shape,
    all: usize,
    batches: Vec<Batch>,
}

impl Records {
    fn begin(&self) -> (Batch, usize) {
        let record = self.batches.len();
        let line = u32::try_from(record).unwrap() + 1;
        let mut out = Batch::default();
        out.begin_record(Origin {
            file: FileId(0),
            at: u64::from(line) * 100,
            len: 99,
            line,
        });
        if record == 0 {
            out.meta(MetaEdit::LinkedTree);
        }
        (out, record)
    }

    fn answer(&mut self, answer: usize) {
        let shape = self.shape;
        let (mut out, record) = self.begin();
        let of_message = if shape.pieces == usize::MAX {
            0
        } else {
            answer - answer % shape.pieces
        };
        let is_prompt = answer % shape.prompts.min(1_000) == 7;
        let key = if is_prompt { record } else { of_message };
        let mut entry = out.new_entry(Shape::key(key), Role::Assistant, None);
        entry.parent = shape.parent(record, self.all);
        entry.stop = Stop::Calls;
        if is_prompt {
            entry.role = Role::User;
            entry.marks = Marks {
                prompt: true,
                ..Marks::default()
            };
        }
        let lane = of_message % shape.lanes;
        entry.lane = (lane > 0).then(|| Text::clean(&format!("scout {lane}")));
        for place in 0..shape.calls {
            let call = pending(&mut out, shape.call(answer * shape.calls + place));
            let piece = Piece(u64::try_from(record * 100 + place).unwrap());
            entry.push_piece(piece, BlockKind::Call(Box::new(call)));
        }
        out.entry(entry);
        self.batches.push(out);
    }

    fn result(&mut self, answer: usize) {
        let shape = self.shape;
        let (mut out, record) = self.begin();
        for place in 0..shape.calls {
            let key = Text::clean(&format!("{}-{place}", Shape::key(record)));
            let result = done(&mut out, key, "done");
            let call = shape.call(answer % (self.all / 2) * shape.calls + place);
            out.push(Edit::Link {
                key: result.key.clone(),
                parent: shape.parent(record, self.all),
            });
            out.push(Edit::Result {
                call,
                result: Box::new(result),
                lane: None,
            });
        }
        self.batches.push(out);
    }
}

/// Steps of judging a session as a whole, and of joining its results before.
fn work(shape: Shape, records: usize) -> (usize, u64) {
    let mut transcript = Transcript::new();
    for batch in shape.batches(records) {
        transcript.apply(batch);
    }
    transcript.update_derived();
    (Findings::of(&transcript).work(), transcript.work())
}

/// Limit of steps per record and per call. A record is judged twice at most, and the entries that
/// it reads are bounded.
const A_CALL: usize = 300;

fn assert_cheap(shape: Shape, records: usize) {
    let calls = records * (1 + shape.calls);
    let (judged, joined) = work(shape, records);
    assert!(
        judged < calls * A_CALL,
        "{judged} steps of judging for {calls} records and calls: {shape:?}"
    );
    assert!(
        joined < u64::try_from(calls * A_CALL).unwrap(),
        "{joined} steps of joining for {calls} records and calls: {shape:?}"
    );
}

const PLAIN: Shape = Shape {
    ids: usize::MAX,
    calls: 1,
    pieces: 1,
    lanes: 1,
    prompts: usize::MAX,
    parents: Parents::Before,
    results: Results::Behind,
};

#[test]
fn calls_that_repeat_their_ids_cost_what_others_do() {
    for ids in [1, 2, 10] {
        for results in [
            Results::Behind,
            Results::Ahead,
            Results::AtTheEnd,
            Results::Twice,
            Results::Never,
        ] {
            assert_cheap(
                Shape {
                    ids,
                    results,
                    ..PLAIN
                },
                4_000,
            );
        }
    }
    assert_cheap(
        Shape {
            ids: 1,
            lanes: 3,
            ..PLAIN
        },
        4_000,
    );
}

#[test]
fn circles_and_ways_without_an_end_are_walked_once() {
    for parents in [
        Parents::Circle,
        Parents::Ring,
        Parents::Missing,
        Parents::OneOf(1),
        Parents::OneOf(7),
    ] {
        for results in [Results::Behind, Results::AtTheEnd, Results::Twice] {
            assert_cheap(
                Shape {
                    parents,
                    results,
                    ..PLAIN
                },
                4_000,
            );
        }
    }
    assert_cheap(
        Shape {
            ids: 1,
            results: Results::Twice,
            ..PLAIN
        },
        4_000,
    );
}

#[test]
fn a_record_with_thousands_of_calls_costs_what_as_many_records_do() {
    for ids in [1, 3, usize::MAX] {
        assert_cheap(
            Shape {
                ids,
                calls: 4_000,
                ..PLAIN
            },
            2,
        );
        assert_cheap(
            Shape {
                ids,
                calls: 4_000,
                results: Results::Never,
                ..PLAIN
            },
            2,
        );
    }
    for results in [Results::Behind, Results::AtTheEnd] {
        assert_cheap(
            Shape {
                pieces: usize::MAX,
                results,
                ..PLAIN
            },
            4_000,
        );
        assert_cheap(
            Shape {
                pieces: usize::MAX,
                ids: 1,
                results,
                ..PLAIN
            },
            4_000,
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// In many small updates a session costs as much as in one, with the same findings.
    #[test]
    fn no_shape_is_dear(shape in shapes(), a_frame in 1..50_usize, pace in 5..20_usize) {
        const RECORDS: usize = 120;
        assert_cheap(shape, RECORDS);
        let mut transcript = Transcript::new();
        let mut findings = Findings::default();
        for (place, batch) in shape.batches(RECORDS).into_iter().enumerate() {
            let touched = transcript.apply(batch);
            findings.invalidate(&transcript, &touched);
            if place % pace > 0 {
                continue;
            }
            transcript.update_derived();
            let before = findings.work();
            findings.follow(&transcript, a_frame);
            // The last entry of a frame is judged as a whole.
            let largest = RECORDS * shape.calls;
            let bound = a_frame * 32 + (largest + 2) * A_CALL;
            let took = findings.work() - before;
            prop_assert!(took < bound, "{} steps in a frame of {}", took, bound);
        }
        transcript.update_derived();
        while !findings.follow(&transcript, a_frame) {}
        let whole = Findings::of(&transcript);
        prop_assert_eq!(findings.iter().collect::<Vec<_>>(), whole.iter().collect::<Vec<_>>());
    }
}
