//! Spans, rows and critical paths of sessions, read whole and in pieces.

use proptest::prelude::*;

use super::{CriticalPaths, RowContent, SpanId, Timeline};
use crate::analysis::account::{Account, Class};
use crate::analysis::calls::Outcome;
use crate::analysis::derived::Memo;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{Block, BlockKind, EntryId, Piece, Role};
use crate::model::record::Origin;
use crate::model::samples;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::work::{Carrier, EndRecording, Update, Work, WorkEnd, WorkReference};
use crate::model::tool::{ToolCall, ToolKind, ToolResult, Verdict};
use crate::model::transcript::Transcript;
use crate::model::usage::Usage;

fn at(seconds: i64) -> Timestamp {
    Timestamp(1_700_000_000_000 + seconds * 1_000)
}

/// A session that grows record by record, with its timeline kept up to date.
#[derive(Default)]
struct Fixture {
    transcript: Transcript,
    account: Account,
    timeline: Memo<Timeline>,
    paths: CriticalPaths,
    records: u64,
}

/// Id, tool, start; without a start that of the message applies.
type Asked<'a> = (&'a str, &'a str, Option<i64>);

impl Fixture {
    fn feed(&mut self, fill: impl FnOnce(&mut Batch)) -> &mut Self {
        let mut batch = Batch::default();
        self.records += 1;
        batch.begin_record(Origin {
            at: self.records,
            ..Origin::default()
        });
        fill(&mut batch);
        let touched = self.transcript.apply(batch);
        self.transcript.update_derived();
        self.account.invalidate(&self.transcript, &touched);
        self.timeline.invalidate(&self.transcript, &touched);
        assert!(self.account.follow(&self.transcript, usize::MAX));
        assert!(
            self.timeline
                .follow_with(&self.transcript, &self.account, usize::MAX)
        );
        self
    }

    fn prompt(&mut self, key: &str, time: i64) -> &mut Self {
        self.feed(|out| {
            let mut entry = out.new_entry(Text::clean(key), Role::User, Some(at(time)));
            entry.marks.prompt = true;
            let text = BlockKind::Text(out.prose("go on"));
            entry.blocks = vec![Block::new(Piece(0), text)];
            out.entry(entry);
        })
    }

    fn say(&mut self, key: &str, lane: Option<&str>, time: i64, calls: &[Asked<'_>]) -> &mut Self {
        self.feed(|out| {
            let mut entry = out.new_entry(Text::clean(key), Role::Assistant, Some(at(time)));
            entry.lane = lane.map(Text::from);
            let text = BlockKind::Text(out.prose("so"));
            entry.push(text);
            for (number, (id, tool, started)) in calls.iter().enumerate() {
                let call = ToolCall {
                    name: Text::clean(tool),
                    kind: if *tool == "task" {
                        ToolKind::Delegate
                    } else {
                        ToolKind::Run
                    },
                    started: started.map(at),
                    ..samples::call(out, id)
                };
                let piece = Piece(u64::try_from(number).unwrap() + 1);
                entry.push_piece(piece, BlockKind::Call(Box::new(call)));
            }
            out.entry(entry);
        })
    }

    fn results(&mut self, results: &[(&str, i64)]) -> &mut Self {
        self.feed(|out| {
            for (call, time) in results {
                let result = ToolResult {
                    verdict: if call.starts_with("bad") {
                        Verdict::Failed
                    } else {
                        Verdict::Done
                    },
                    ..samples::result(out, &format!("r{call}"), Some(at(*time)))
                };
                out.push(Edit::Result {
                    call: Text::clean(call),
                    result: Box::new(result),
                    lane: None,
                });
            }
        })
    }

    fn lane(&mut self, name: &str, call: &str) -> &mut Self {
        self.feed(|out| {
            let (name, call) = (Text::clean(name), Some(Text::clean(call)));
            out.push(Edit::Meta(MetaEdit::Lane {
                name,
                label: None,
                call,
            }));
        })
    }

    fn seconds(timestamp: Timestamp) -> i64 {
        (timestamp.0 - at(0).0) / 1_000
    }

    /// The rows: content, then each span as `from-to`.
    fn rows(&self) -> Vec<String> {
        let rows = self
            .timeline
            .rows
            .list
            .iter()
            .filter(|row| !row.spans.is_empty());
        rows.map(|row| {
            let what = match &row.what {
                RowContent::Caller => "caller".to_owned(),
                RowContent::Model => "model".to_owned(),
                RowContent::Human => "you".to_owned(),
                RowContent::Tool(name) => name.to_string(),
            };
            let lane = self.timeline.lanes()[row.lane]
                .name
                .as_ref()
                .map_or("", |name| name);
            let spans: Vec<String> = row
                .spans
                .iter()
                .map(|span| {
                    let to = span
                        .to
                        .map_or_else(String::new, |to| Self::seconds(to).to_string());
                    format!("{}-{to}", Self::seconds(span.id.from))
                })
                .collect();
            format!(
                "{lane}{} {what} {}",
                if lane.is_empty() { "main" } else { "" },
                spans.join(" ")
            )
        })
        .collect()
    }

    /// The spans on the critical path of the turn at a timestamp, in order of time.
    fn path(&mut self, time: i64) -> Vec<String> {
        self.paths.clear_if_stale(self.timeline.generation);
        self.paths
            .compute(&self.timeline, at(time), Timestamp(i64::MIN));
        let (turn, _) = self.timeline.turn_at(at(time));
        let all = self
            .timeline
            .by_time
            .iter()
            .map(|(id, _)| id)
            .filter(|id| self.paths.contains(turn, **id));
        all.map(|id| {
            let (span, _) = self.timeline.get(*id).unwrap();
            let name = match id.call() {
                Some(place) => {
                    let entry = self.transcript.get(place.entry).unwrap();
                    entry.call(place.block).unwrap().key.to_string()
                }
                None => span.class.word().to_owned(),
            };
            format!("{name} {}", Self::seconds(id.from))
        })
        .collect()
    }
}

#[test]
fn a_turn_is_rows_of_model_tools_and_the_human() {
    let mut fixture = Fixture::default();
    fixture.prompt("p", 0).say(
        "m",
        None,
        4,
        &[("a", "bash", Some(5)), ("b", "grep", Some(5))],
    );
    fixture
        .results(&[("b", 6)])
        .results(&[("a", 45)])
        .say("n", None, 50, &[])
        .prompt("q", 80);
    assert_eq!(
        fixture.rows(),
        [
            "main bash 5-45",
            "main grep 5-6",
            "main model 0-4 4-5 45-50",
            "main you 50-80"
        ]
    );
    assert_eq!(fixture.path(3), ["model 0", "model 4", "a 5", "model 45"]);
    assert_eq!(fixture.timeline.extent(), Some((at(0), at(80))));
    let sums = fixture.account.time_within(None, at(2), at(60));
    assert_eq!(
        [Class::Model, Class::Tool, Class::Human].map(|class| sums.of(class)),
        [8_000, 40_000, 10_000]
    );
}

#[test]
fn time_in_which_nothing_happened_is_not_the_models() {
    let mut fixture = Fixture::default();
    fixture
        .prompt("p", 0)
        .say("m", None, 10, &[])
        .prompt("q", 7_210)
        .say("n", None, 7_220, &[]);
    assert_eq!(
        fixture.rows(),
        ["main model 0-10 7210-7220", "main you 10-7210"]
    );
    assert_eq!(fixture.account.time(None).of(Class::Idle), 7_200_000);
}

#[test]
fn what_was_copied_took_no_time_here() {
    let mut fixture = Fixture::default();
    fixture.prompt("p", 0);
    let copied = |out: &mut Batch, key: &str, lane: Option<&str>| {
        let mut entry = out.new_entry(Text::clean(key), Role::Assistant, Some(at(3)));
        entry.lane = lane.map(Text::from);
        entry.marks.copy = true;
        let call = ToolCall {
            started: Some(at(3)),
            ..samples::call(out, &format!("c{key}"))
        };
        entry.blocks = vec![Block::new(Piece(1), BlockKind::Call(Box::new(call)))];
        out.entry(entry);
    };
    fixture
        .feed(|out| copied(out, "x", None))
        .results(&[("cx", 9)]);
    fixture
        .feed(|out| copied(out, "y", Some("mate")))
        .results(&[("cy", 9)]);
    fixture.say("m", None, 20, &[]);
    assert_eq!(fixture.rows(), ["main model 0-20"]);
    assert_eq!(
        fixture.timeline.lanes().len(),
        1,
        "a lane with nothing of its own has no rows"
    );
    assert_eq!((fixture.timeline.count(), fixture.timeline.untimed), (1, 0));
}

#[test]
fn what_was_recorded_late_stands_in_the_order_of_time() {
    let mut fixture = Fixture::default();
    let asked = |key: &str, time: i64, tokens: u64| {
        let key = key.to_owned();
        move |out: &mut Batch| {
            let mut entry = out.new_entry(Text::clean(&key), Role::Assistant, Some(at(time)));
            entry.usage = Some(Box::new(Usage {
                input: Some(tokens),
                output: Some(1),
                ..Usage::default()
            }));
            entry.blocks = vec![Block::new(Piece(0), BlockKind::Text(out.prose("so")))];
            out.entry(entry);
        }
    };
    fixture
        .prompt("q", 60)
        .feed(asked("n", 70, 700))
        .prompt("r", 90)
        .feed(asked("o", 95, 900));
    fixture.prompt("p", 10).feed(asked("m", 20, 200));
    let prompts = |from, to| {
        fixture
            .timeline
            .prompts(at(from), at(to))
            .map(Fixture::seconds)
            .collect::<Vec<_>>()
    };
    assert_eq!((prompts(0, 50), prompts(50, 99)), (vec![10], vec![60, 90]));
    assert_eq!(fixture.timeline.turn_at(at(65)), (at(60), at(90)));
    let tokens = |time| {
        fixture
            .timeline
            .request_at(at(time))
            .map(|request| request.tokens)
    };
    assert_eq!(
        [15, 30, 75, 99].map(tokens),
        [None, Some(201), Some(701), Some(901)]
    );
}

#[test]
fn of_calls_side_by_side_the_last_to_end_is_on_the_path() {
    let mut fixture = Fixture::default();
    let calls = [
        ("a", "bash", Some(2)),
        ("b", "bash", Some(2)),
        ("bad", "bash", Some(2)),
    ];
    fixture.prompt("p", 0).say("m", None, 2, &calls);
    fixture
        .results(&[("b", 40)])
        .results(&[("a", 10)])
        .results(&[("bad", 30)]);
    // A second answer in which one call only began when another had ended.
    fixture.say(
        "n",
        None,
        44,
        &[
            ("c", "read", Some(44)),
            ("d", "bash", Some(44)),
            ("e", "read", Some(50)),
        ],
    );
    fixture
        .results(&[("c", 50)])
        .results(&[("d", 52)])
        .results(&[("e", 59)])
        .say("o", None, 60, &[]);
    let rows = fixture.rows();
    assert_eq!(
        rows.iter()
            .filter(|row| row.starts_with("main bash"))
            .count(),
        3,
        "{rows:?}"
    );
    assert!(
        rows.contains(&"main read 44-50 50-59".to_owned()),
        "one row is enough: {rows:?}"
    );
    assert_eq!(
        fixture.path(1),
        ["model 0", "b 2", "model 40", "c 44", "e 50", "model 59"]
    );
    let bad = fixture
        .timeline
        .rows
        .list
        .iter()
        .flat_map(|row| &row.spans)
        .find(|span| span.outcome == Outcome::Failed);
    assert_eq!(bad.map(|span| Fixture::seconds(span.to.unwrap())), Some(30));
}

#[test]
fn the_path_goes_through_the_sub_agent_that_was_waited_for() {
    let mut fixture = Fixture::default();
    fixture.prompt("p", 0).say(
        "m",
        None,
        2,
        &[("t1", "task", Some(2)), ("t2", "task", Some(2))],
    );
    fixture.lane("slow", "t1").lane("quick", "t2");
    fixture.say(
        "s1",
        Some("slow"),
        5,
        &[("x", "bash", Some(5)), ("y", "grep", Some(5))],
    );
    fixture
        .results(&[("y", 6)])
        .results(&[("x", 30)])
        .say("s2", Some("slow"), 39, &[]);
    fixture
        .say("k1", Some("quick"), 9, &[("z", "bash", Some(9))])
        .results(&[("z", 20)]);
    fixture
        .results(&[("t2", 21)])
        .results(&[("t1", 40)])
        .say("n", None, 45, &[]);
    assert_eq!(
        fixture.path(1),
        ["model 0", "t1 2", "x 5", "model 30", "model 40"]
    );
    let rows = fixture.rows();
    assert!(
        rows.contains(&"slow caller 2-40".to_owned()),
        "the call stands in its sub-agent's lane: {rows:?}"
    );
    assert!(
        !rows.iter().any(|row| row.starts_with("main task")),
        "{rows:?}"
    );
    let lane = fixture
        .timeline
        .lanes()
        .iter()
        .find(|lane| lane.name == Some(Text::from("slow")))
        .unwrap();
    assert_eq!(lane.reach, Some((at(2), at(40))));
}

#[test]
fn a_sub_agent_in_the_background_that_outlasts_everything_decides_the_end() {
    let mut fixture = Fixture::default();
    fixture
        .prompt("p", 0)
        .say("m", None, 2, &[("t", "task", Some(2))])
        .lane("back", "t")
        .results(&[("t", 3)]);
    fixture.say("s1", Some("back"), 5, &[("x", "bash", Some(5))]);
    fixture.say("n", None, 10, &[]);
    fixture
        .results(&[("x", 90)])
        .prompt("q", 200)
        .say("o", None, 210, &[]);
    assert_eq!(fixture.path(1), ["model 0", "t 2", "x 5"]);
    assert_eq!(fixture.path(205), ["model 200"]);
}

#[test]
fn a_call_lasts_until_its_work_has_ended_and_is_waited_for_until_its_result() {
    let mut fixture = Fixture::default();
    fixture.prompt("p", 0).say(
        "m",
        None,
        2,
        &[("a", "bash", Some(2)), ("b", "bash", Some(2))],
    );
    fixture.feed(|out| {
        for call in ["a", "b"] {
            let work = Some(Box::new(Work::begun(
                Text::from(call),
                EndRecording::Announced,
            )));
            let result = ToolResult {
                work,
                ..samples::result(out, &format!("r{call}"), Some(at(3)))
            };
            out.push(Edit::Result {
                call: Text::from(call),
                result: Box::new(result),
                lane: None,
            });
        }
    });
    fixture.say("n", None, 10, &[]).say("o", None, 20, &[]);
    let spans = |fixture: &Fixture| -> Vec<(Outcome, Option<i64>, Option<i64>)> {
        let all = fixture
            .timeline
            .by_call
            .iter()
            .map(|id| fixture.timeline.get(*id).unwrap().0);
        all.map(|span| {
            (
                span.outcome,
                span.to.map(Fixture::seconds),
                span.reported.map(Fixture::seconds),
            )
        })
        .collect()
    };
    assert_eq!(
        spans(&fixture),
        [(Outcome::Open, None, None); 2],
        "the session goes on without them"
    );
    assert_eq!(
        fixture.timeline.open_calls(0).count(),
        0,
        "nobody waits for them"
    );
    fixture.feed(|out| {
        for (by, carrier, time) in [("q", Carrier::Queue, 60), ("n", Carrier::Notice, 90)] {
            let end = WorkEnd::from_word(Some("completed"), Some(2));
            let update = Update {
                by: Text::from(by),
                at: Some(at(time)),
                carrier,
                end,
                reason: None,
            };
            let about = WorkReference {
                call: Some(Text::from("a")),
                handle: None,
            };
            out.push(Edit::Update {
                about,
                update,
                lane: None,
            });
        }
    });
    assert_eq!(
        spans(&fixture),
        [
            (Outcome::Failed, Some(60), Some(90)),
            (Outcome::Open, None, None)
        ]
    );
    assert_eq!(
        fixture.path(1),
        ["model 0", "b 2", "model 3", "model 10"],
        "they decide no more than their results"
    );
}

#[test]
fn what_is_waited_for_is_open_until_the_work_goes_on_without_it() {
    let mut fixture = Fixture::default();
    fixture
        .prompt("p", 0)
        .say("m", None, 2, &[("a", "bash", None), ("b", "bash", None)]);
    assert_eq!(fixture.timeline.open_calls(0).count(), 2);
    assert_eq!(
        fixture.path(1),
        ["model 0", "a 2"],
        "the one that has run for longest decides so far"
    );
    fixture.results(&[("b", 9)]);
    assert_eq!(fixture.timeline.open_calls(0).count(), 1);
    let open: Vec<SpanId> = fixture.timeline.open_calls(0).collect();
    let (span, row) = fixture.timeline.get(open[0]).unwrap();
    assert_eq!((span.end(Some(at(33))), span.end(None)), (at(33), at(2)));
    assert!(span.from_is_bound);
    let row = fixture.timeline.row(row).unwrap();
    assert_eq!(row.within(at(20), at(25), Some(at(33))).len(), 1);
    assert_eq!(row.within(at(20), at(25), None).len(), 0);
    fixture
        .say("n", None, 12, &[])
        .say("o", None, 20, &[("c", "bash", None)])
        .results(&[("c", 22)]);
    assert_eq!(fixture.timeline.open_calls(0).count(), 0);
    assert_eq!(
        fixture.timeline.get(open[0]).unwrap().0.outcome,
        Outcome::Lost
    );
    assert!(
        fixture.rows().contains(&"main bash 2- 20-22".to_owned()),
        "{:?}",
        fixture.rows()
    );
}

#[test]
fn results_that_were_stamped_at_once_are_bounds() {
    let mut fixture = Fixture::default();
    let calls = [
        ("a", "bash", Some(2)),
        ("b", "bash", Some(2)),
        ("c", "bash", Some(2)),
    ];
    fixture
        .prompt("p", 0)
        .say("m", None, 2, &calls)
        .results(&[("a", 9), ("b", 9)])
        .results(&[("c", 9)]);
    let spans = fixture.timeline.rows.list.iter().flat_map(|row| &row.spans);
    let bounds: Vec<(u32, bool)> = spans
        .filter_map(|span| Some((span.id.block?, span.to_is_bound)))
        .collect();
    assert_eq!(bounds, [(1, true), (2, true), (3, false)]);
}

#[test]
fn fifty_calls_at_once_have_fifty_rows_which_are_used_again() {
    let mut fixture = Fixture::default();
    for turn in 0..4 {
        let start = turn * 1_000;
        fixture.prompt(&format!("p{turn}"), start);
        let ids: Vec<String> = (0..50).map(|n| format!("{turn}-{n}")).collect();
        let calls: Vec<Asked<'_>> = ids
            .iter()
            .map(|id| (id.as_str(), "bash", Some(start + 2)))
            .collect();
        fixture.say(&format!("m{turn}"), None, start + 2, &calls);
        for n in 0..50 {
            let which = n * 37 % 50;
            fixture.results(&[(&ids[which], start + 10 + i64::try_from(which).unwrap())]);
        }
        fixture.say(&format!("n{turn}"), None, start + 70, &[]);
    }
    let rows = fixture.rows();
    assert_eq!(
        rows.iter()
            .filter(|row| row.starts_with("main bash"))
            .count(),
        50
    );
    assert_eq!(
        fixture.path(2_001),
        ["model 2000", "2-49 2002", "model 2059"]
    );
    let gaps: Vec<i64> = fixture
        .timeline
        .gaps(at(0), at(4_000))
        .map(|(from, _)| Fixture::seconds(from))
        .collect();
    assert_eq!(gaps, [70, 1_070, 2_070, 3_070]);
}

#[test]
fn items_have_their_spans() {
    let mut fixture = Fixture::default();
    fixture
        .prompt("p", 0)
        .say("m", None, 4, &[("a", "bash", Some(5))])
        .results(&[("a", 9)])
        .say("n", None, 12, &[]);
    let find = |fixture: &Fixture, key: &str, block: usize| -> (i64, Option<u32>) {
        let entry = fixture.transcript.find(key).unwrap();
        let id = fixture
            .timeline
            .span_of(&fixture.transcript, entry, block)
            .unwrap();
        (Fixture::seconds(id.from), id.block)
    };
    assert_eq!(find(&fixture, "m", 1), (5, Some(1)), "the call");
    assert_eq!(
        find(&fixture, "m", 0),
        (0, None),
        "the answer in which it was asked for"
    );
    assert_eq!(find(&fixture, "n", 0), (9, None));
    assert_eq!(
        find(&fixture, "p", 0),
        (0, None),
        "what followed the prompt"
    );
}

/// Kind of step, time since the one before, duration of its call, whether the result is late.
type Step = (u8, i64, Option<i64>, bool);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let took = prop::option::weighted(0.8, 0i64..400);
    prop::collection::vec((0u8..6, -3i64..90, took, any::<bool>()), 1..40)
}

proptest! {
    /// Rows have disjoint spans, every span is in one row, sums and gaps are correct, and
    /// incremental updates equal one pass, except for the rows of spans.
    #[test]
    fn rows_are_sorted_and_complete_however_they_grew(steps in steps()) {
        let mut fixture = Fixture::default();
        let (mut time, mut late) = (0, Vec::new());
        for (number, (kind, gap, took, is_late)) in steps.into_iter().enumerate() {
            time += gap;
            let key = format!("k{number}");
            match kind {
                0 => { fixture.prompt(&key, time); }
                1 => { fixture.say(&key, None, time, &[]); }
                2 => { fixture.say(&key, Some("lane"), time, &[]); }
                _ => {
                    let tool = if kind == 3 { "bash" } else { "grep" };
                    let lane = (kind == 5).then_some("lane");
                    fixture.say(&key, lane, time, &[(&key, tool, Some(time))]);
                    match took {
                        Some(took) if is_late => late.push((key, time + took)),
                        Some(took) => { fixture.results(&[(&key, time + took)]); }
                        None => {}
                    }
                }
            }
        }
        for (key, time) in late {
            fixture.results(&[(&key, time)]);
        }
        let mut account = Account::default();
        let mut whole = Memo::<Timeline>::default();
        prop_assert!(account.follow(&fixture.transcript, usize::MAX));
        prop_assert!(whole.follow_with(&fixture.transcript, &account, usize::MAX));
        let spans = |timeline: &Timeline| -> Vec<(SpanId, Option<Timestamp>, Class, Outcome)> {
            let all = timeline.by_time.iter().map(|(id, _)| timeline.get(*id).unwrap().0);
            all.map(|span| (span.id, span.to, span.class, span.outcome)).collect()
        };
        prop_assert_eq!(spans(&fixture.timeline), spans(&whole));
        prop_assert_eq!(&fixture.timeline.busy, &whole.busy);
        for timeline in [&fixture.timeline, &whole] {
            let number: usize = timeline.rows.list.iter().map(|row| row.spans.len()).sum();
            prop_assert_eq!(number, timeline.count());
            for row in &timeline.rows.list {
                for pair in row.spans.windows(2) {
                    prop_assert!(pair[0].end(None) <= pair[1].id.from, "{:?}", pair);
                }
                let all = 0..row.spans.len();
                let sum: u64 = row.spans.iter().map(|span| span.end(None).since(span.id.from)).sum();
                prop_assert_eq!(row.sum(&all).0, sum);
            }
        }
        let whole_path = fixture.path(i64::from(u8::MAX));
        fixture.paths = CriticalPaths::default();
        for back in [3_000, 200, 100, 0] {
            fixture.paths.compute(&fixture.timeline, at(i64::from(u8::MAX)), at(back));
        }
        prop_assert_eq!(fixture.path(i64::from(u8::MAX)), whole_path, "walked in pieces");
        prop_assert!(fixture.timeline.by_time.iter().all(|(id, _)| id.entry != EntryId(u32::MAX)));
    }
}
