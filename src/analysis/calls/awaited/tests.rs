use super::Awaited;
use crate::analysis::calls::pairing;
use crate::analysis::lint::Findings;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{BlockKind, Break, Marks, Piece, Role};
use crate::model::samples;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;

/// A session that grows record by record.
#[derive(Default)]
struct Fixture {
    transcript: Transcript,
    clock: i64,
}

impl Fixture {
    fn feed(&mut self, work: impl FnOnce(&mut Batch, Timestamp)) -> &mut Self {
        self.clock += 1_000;
        let mut batch = Batch::default();
        work(&mut batch, Timestamp(self.clock));
        self.transcript.apply(batch);
        self.transcript.update_derived();
        self
    }

    fn prompt(&mut self, key: &str) -> &mut Self {
        self.feed(|out, at| {
            let mut entry = out.new_entry(Key::from(key), Role::User, Some(at));
            entry.marks = Marks {
                prompt: true,
                ..Marks::default()
            };
            out.entry(entry);
        })
    }

    fn answer(&mut self, key: &str, lane: Option<&str>, calls: &[&str]) -> &mut Self {
        self.feed(|out, at| {
            let mut entry = out.new_entry(Key::from(key), Role::Assistant, Some(at));
            entry.lane = lane.map(Text::from);
            for (place, id) in (0..).zip(calls) {
                let call = samples::call(out, id);
                entry.push_piece(Piece(place), BlockKind::Call(Box::new(call)));
            }
            out.entry(entry);
        })
    }

    fn result(&mut self, call: &str) -> &mut Self {
        self.feed(|out, at| {
            let result = samples::result(out, &format!("result of {call}"), Some(at));
            out.push(Edit::Result {
                call: Key::from(call),
                result: Box::new(result),
                lane: None,
            });
        })
    }

    fn compaction(&mut self, partial: bool) -> &mut Self {
        self.feed(|out, at| {
            let mut entry = out.new_entry(
                Key::from(format!("c{}", at.0).as_str()),
                Role::Harness,
                Some(at),
            );
            let line = Break::Compaction {
                before: None,
                after: None,
                trigger: Text::default(),
                partial,
                took: None,
            };
            entry.push(line);
            out.entry(entry);
        })
    }

    fn live(&mut self, is_live: bool) -> &mut Self {
        self.feed(|out, _| out.meta(MetaEdit::Live(Some(is_live))))
    }

    /// Whether the calls of an entry are awaited; checks that figures and findings agree.
    fn awaits(&self, key: &str) -> bool {
        let awaited = Awaited::of(&self.transcript);
        let counts = pairing::count(&self.transcript, true);
        let findings = Findings::of(&self.transcript);
        let orphans = findings
            .iter()
            .filter(|finding| finding.rule.id == "orphan-call")
            .count();
        assert_eq!(counts.orphan_calls, orphans as u64);
        awaited.has(&self.transcript, self.transcript.find(key).unwrap())
    }
}

#[test]
fn the_newest_answer_is_awaited_until_the_model_is_asked_again() {
    let mut fixture = Fixture::default();
    fixture
        .prompt("p")
        .answer("a", None, &["1", "2"])
        .result("1");
    assert!(fixture.awaits("a"));
    fixture.answer("b", Some("scout"), &["3"]);
    assert!(
        fixture.awaits("a") && fixture.awaits("b"),
        "each lane has an answer of its own"
    );
    fixture.answer("c", None, &[]);
    assert!(!fixture.awaits("a") && fixture.awaits("b"));
    fixture.result("2");
    assert!(
        fixture.awaits("b"),
        "a late result takes nothing from others"
    );
}

#[test]
fn another_turn_a_compaction_and_the_end_leave_calls_behind() {
    let mut fixture = Fixture::default();
    fixture
        .prompt("p")
        .answer("a", None, &["1"])
        .answer("b", Some("scout"), &["2"])
        .compaction(true);
    assert!(
        fixture.awaits("a"),
        "old outputs that are dropped take no call along"
    );
    fixture.compaction(false);
    assert!(
        !fixture.awaits("a") && fixture.awaits("b"),
        "the history of another lane was shortened"
    );
    fixture.live(false);
    assert!(!fixture.awaits("b"));
    fixture.live(true);
    assert!(fixture.awaits("b"), "the session goes on");
    fixture.prompt("q");
    assert!(!fixture.awaits("b"));
    fixture.answer("c", None, &["3"]);
    assert!(fixture.awaits("c"));
}

#[test]
fn a_sub_agent_recorded_behind_all_else_belongs_to_the_turn_of_its_time() {
    let mut fixture = Fixture::default();
    fixture
        .prompt("p")
        .answer("a", None, &[])
        .prompt("q")
        .answer("b", None, &[]);
    fixture.clock = 1_500;
    fixture.answer("early", Some("scout"), &["1"]);
    fixture.clock = 9_000;
    fixture.answer("late", Some("other"), &["2"]);
    assert!(!fixture.awaits("early") && fixture.awaits("late"));
}

#[test]
fn what_is_taken_back_is_as_if_it_had_not_come() {
    let mut fixture = Fixture::default();
    fixture
        .prompt("p")
        .answer("a", None, &["1"])
        .answer("b", None, &[]);
    assert!(!fixture.awaits("a"));
    fixture.feed(|out, _| out.push(Edit::Retire(Key::from("b"))));
    assert!(fixture.awaits("a"));
}
