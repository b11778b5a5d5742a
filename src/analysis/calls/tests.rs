//! Calls by tool, time and arguments, while they are added and changed.

use super::{Calls, Earlier, Outcome, Place};
use crate::analysis::derived::Memo;
use crate::model::body::Tree;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{BlockKind, Entry, EntryId, Piece, Role};
use crate::model::record::Origin;
use crate::model::samples;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolResult, Verdict};
use crate::model::transcript::Transcript;

fn message(out: &mut Batch, key: &str, at: Option<i64>, calls: &[(&str, &str, &str, Option<i64>)]) {
    out.begin_record(Origin {
        at: Piece::of(key).0,
        ..Origin::default()
    });
    let mut entry = out.new_entry(Text::clean(key), Role::Assistant, at.map(Timestamp));
    for (number, (id, name, command, started)) in calls.iter().enumerate() {
        let tree = Tree::Map(vec![(
            Text::from("command"),
            Tree::Text(Text::from(*command)),
        )]);
        let call = ToolCall {
            name: Text::clean(name),
            headline: Text::clean(command),
            input: out.tree(&Text::stub(command, 8), command.len(), || tree),
            started: started.map(Timestamp),
            ..samples::call(out, id)
        };
        let piece = Piece(u64::try_from(number).unwrap());
        entry.push_piece(piece, BlockKind::Call(Box::new(call)));
    }
    out.entry(entry);
}

fn result(out: &mut Batch, call: &str, at: Option<i64>, verdict: Verdict) {
    let result = ToolResult {
        verdict,
        ..samples::result(out, &format!("r{call}"), at.map(Timestamp))
    };
    out.push(Edit::Result {
        call: Text::clean(call),
        result: Box::new(result),
        lane: None,
    });
}

#[derive(Default)]
struct Fixture {
    transcript: Transcript,
    calls: Memo<Calls>,
}

impl Fixture {
    fn feed(&mut self, fill: impl FnOnce(&mut Batch)) -> &mut Self {
        let mut batch = Batch::default();
        fill(&mut batch);
        let touched = self.transcript.apply(batch);
        self.calls.invalidate(&self.transcript, &touched);
        assert!(self.calls.follow(&self.transcript, usize::MAX));
        self
    }

    fn place(&self, key: &str, block: usize) -> Place {
        Place {
            entry: self.transcript.find(key).unwrap(),
            block,
        }
    }

    /// Keys of the calls at these positions.
    fn keys(&self, places: &[Place]) -> Vec<String> {
        let key = |place: &Place| {
            place
                .call(&self.transcript)
                .map(|call| call.key.to_string())
        };
        places.iter().filter_map(key).collect()
    }
}

#[test]
fn calls_overlap_if_they_ran_at_the_same_time() {
    let mut fixture = Fixture::default();
    fixture.feed(|out| {
        message(
            out,
            "m",
            Some(0),
            &[
                ("long", "bash", "a", Some(0)),
                ("early", "grep", "b", Some(1)),
                ("late", "grep", "c", Some(50)),
            ],
        );
        message(
            out,
            "n",
            Some(200),
            &[
                ("after", "read", "d", Some(200)),
                ("open", "read", "e", Some(10)),
            ],
        );
        result(out, "long", Some(100), Verdict::Done);
        result(out, "early", Some(5), Verdict::Done);
        result(out, "late", Some(90), Verdict::Done);
        result(out, "after", Some(210), Verdict::Done);
    });
    let overlaps =
        |key, block| fixture.keys(&fixture.calls.overlaps(fixture.place(key, block), 10).calls);
    assert_eq!(overlaps("m", 0), ["late", "early"]);
    assert_eq!(overlaps("m", 1), ["long"]);
    assert!(overlaps("n", 0).is_empty());
    assert!(
        overlaps("n", 1).is_empty(),
        "a call without an end has no time to be compared"
    );
    let cut = fixture.calls.overlaps(fixture.place("m", 0), 1);
    assert_eq!(
        (fixture.keys(&cut.calls), cut.is_cut),
        (vec!["late".to_owned()], true)
    );
}

#[test]
fn one_call_after_the_other_does_not_overlap() {
    let mut fixture = Fixture::default();
    fixture.feed(|out| {
        let calls = [
            ("a", "bash", "x", Some(0)),
            ("b", "bash", "y", Some(10)),
            ("c", "bash", "z", Some(20)),
        ];
        message(out, "m", Some(0), &calls);
        for (call, at) in [("a", 10), ("b", 20), ("c", 30)] {
            result(out, call, Some(at), Verdict::Done);
        }
    });
    for block in 0..3 {
        assert!(
            fixture
                .calls
                .overlaps(fixture.place("m", block), 10)
                .calls
                .is_empty(),
            "{block}"
        );
    }
}

#[test]
fn calls_that_are_recorded_late_overlap_by_their_times() {
    let mut fixture = Fixture::default();
    fixture.feed(|out| {
        message(out, "m", Some(50), &[("second", "bash", "x", Some(50))]);
        message(
            out,
            "n",
            Some(60),
            &[
                ("third", "bash", "y", Some(60)),
                ("first", "bash", "z", Some(0)),
            ],
        );
        for (call, at) in [("first", 100), ("second", 90), ("third", 70)] {
            result(out, call, Some(at), Verdict::Done);
        }
    });
    let overlaps =
        |key, block| fixture.keys(&fixture.calls.overlaps(fixture.place(key, block), 10).calls);
    assert_eq!(overlaps("n", 0), ["second", "first"], "the latest first");
    assert_eq!(overlaps("n", 1), ["third", "second"]);
}

#[test]
fn durations_are_those_of_the_tool() {
    let mut fixture = Fixture::default();
    fixture.feed(|out| {
        message(
            out,
            "m",
            None,
            &[("a", "bash", "x", Some(0)), ("b", "bash", "y", Some(0))],
        );
        message(
            out,
            "n",
            None,
            &[("c", "grep", "x", Some(0)), ("d", "bash", "z", Some(900))],
        );
        result(out, "a", Some(10), Verdict::Failed);
        result(out, "c", Some(7), Verdict::Done);
        // The clock went backwards: the duration is unknown.
        result(out, "d", Some(100), Verdict::Done);
    });
    let bash = fixture.calls.tool(&Text::from("bash")).unwrap();
    let spread = bash.sums.durations.spread().unwrap();
    assert_eq!(
        (
            bash.calls.len(),
            bash.sums.ended(Outcome::Failed),
            spread.count,
            spread.max
        ),
        (3, 1, 1, 10)
    );
    fixture.feed(|out| result(out, "b", Some(40), Verdict::Done));
    let spread = fixture
        .calls
        .tool(&Text::from("bash"))
        .unwrap()
        .sums
        .durations
        .spread()
        .unwrap();
    assert_eq!((spread.count, spread.p50, spread.max), (2, 10, 40));
}

#[test]
fn calls_have_numbers_in_the_order_of_the_file() {
    let mut fixture = Fixture::default();
    fixture.feed(|out| {
        message(out, "m", None, &[("a", "bash", "x", None)]);
        message(out, "n", None, &[("c", "bash", "z", None)]);
    });
    fixture.feed(|out| {
        message(
            out,
            "m",
            None,
            &[("a", "bash", "x", None), ("b", "bash", "y", None)],
        );
    });
    let number = |key, block| fixture.calls.number(fixture.place(key, block));
    assert_eq!(
        (number("m", 0), number("m", 1), number("n", 0)),
        (Some(1), Some(2), Some(3))
    );
    assert_eq!(fixture.calls.count(), 3);
}

#[test]
fn the_same_call_is_one_with_the_same_arguments() {
    let mut fixture = Fixture::default();
    // Equal stubs and sizes.
    fixture.feed(|out| {
        message(out, "m", None, &[("a", "bash", "cargo test --lib", None)]);
        message(out, "n", None, &[("b", "bash", "cargo test --doc", None)]);
        message(out, "o", None, &[("c", "grep", "cargo test --lib", None)]);
        message(out, "p", None, &[("d", "bash", "cargo test --lib", None)]);
        message(out, "q", None, &[("e", "bash", "cargo test --lib", None)]);
    });
    let place = fixture.place("q", 0);
    let earlier = fixture.calls.earlier(place, 10);
    assert_eq!(
        (fixture.keys(&earlier.calls), earlier.unread.len()),
        (vec!["d".to_owned(), "a".to_owned()], 0)
    );
    let earlier = fixture.calls.earlier(place, 1);
    assert_eq!(
        (fixture.keys(&earlier.calls), earlier.is_cut),
        (vec!["d".to_owned()], true)
    );
    let first = fixture.place("m", 0);
    assert!(fixture.calls.earlier(first, 10).calls.is_empty());
}

#[test]
fn arguments_on_disk_are_not_guessed_but_remembered() {
    let mut fixture = Fixture::default();
    fixture.feed(|out| {
        message(out, "m", None, &[("a", "bash", "cargo test --lib", None)]);
        message(out, "n", None, &[("b", "bash", "cargo test --lib", None)]);
    });
    let content = |entry: &Entry| {
        (
            entry.origin,
            vec![entry.call(0).map(|call| call.input.held.clone()).unwrap()],
        )
    };
    let contents: Vec<_> = fixture.transcript.entries().map(content).collect();
    let place = fixture.place("n", 0);
    fixture.transcript.release(0, |_| false);
    let mut fresh = Memo::<Calls>::of(&fixture.transcript);
    let ids: Vec<EntryId> = fixture.transcript.order().to_vec();
    assert_eq!(
        fresh.earlier(place, 10),
        Earlier {
            unread: ids.clone(),
            ..Earlier::default()
        }
    );
    // Only the result changes the call; its arguments were read before.
    fixture.feed(|out| result(out, "b", Some(40), Verdict::Done));
    assert_eq!(fixture.keys(&fixture.calls.earlier(place, 10).calls), ["a"]);
    fixture.transcript.fill(&ids, &contents);
    for id in ids {
        fresh.change(&fixture.transcript, id);
    }
    fixture.transcript.release(0, |_| false);
    fresh.follow(&fixture.transcript, usize::MAX);
    let earlier = fresh.earlier(place, 10);
    assert_eq!(
        (fixture.keys(&earlier.calls), earlier.unread.len()),
        (vec!["a".to_owned()], 0)
    );
}
