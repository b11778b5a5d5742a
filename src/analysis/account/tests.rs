//! Classes of time with parallel calls, missing timestamps, a clock that is set back, and late
//! results.

mod turns;

use proptest::prelude::{Strategy, any, prop, proptest};

use super::{Account, Class, Figures, PAGE, TimeSpan};
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::sender::{Sender, SenderKind};
use crate::model::entry::{Block, BlockKind, Break, Piece, Role, Stop};
use crate::model::samples;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolKind};
use crate::model::transcript::Transcript;

type Seconds = Option<i64>;

fn at(seconds: Seconds) -> Option<Timestamp> {
    seconds.map(|seconds| Timestamp(1_700_000_000_000 + seconds * 1_000))
}

fn entry(out: &mut Batch, key: &str, role: Role, time: Seconds, kinds: Vec<BlockKind>) {
    let mut entry = out.new_entry(Text::clean(key), role, at(time));
    entry.marks.prompt = role == Role::User;
    let block = |(n, kind): (usize, BlockKind)| Block::new(Piece(u64::try_from(n).unwrap()), kind);
    entry.blocks = kinds.into_iter().enumerate().map(block).collect();
    out.entry(entry);
}

fn prompt(out: &mut Batch, key: &str, time: Seconds) {
    let text = BlockKind::Text(out.prose("go on"));
    entry(out, key, Role::User, time, vec![text]);
}

fn answer(out: &mut Batch, key: &str, time: Seconds) {
    let text = BlockKind::Text(out.prose("done"));
    entry(out, key, Role::Assistant, time, vec![text]);
}

fn call(out: &mut Batch, key: &str, name: &str, started: Seconds) -> BlockKind {
    BlockKind::Call(Box::new(ToolCall {
        name: Text::clean(name),
        started: at(started),
        ..samples::call(out, key)
    }))
}

fn result(out: &mut Batch, call: &str, time: Seconds) {
    let result = samples::result(out, &format!("r{call}"), at(time));
    out.push(Edit::Result {
        call: Text::clean(call),
        result: Box::new(result),
        lane: None,
    });
}

fn account_of(fill: impl FnOnce(&mut Batch)) -> (Transcript, Account) {
    let mut batch = Batch::default();
    fill(&mut batch);
    let mut transcript = Transcript::new();
    transcript.apply(batch);
    transcript.update_derived();
    let account = Account::of(&transcript);
    (transcript, account)
}

/// All spans of the main lane.
fn all(account: &Account) -> Vec<TimeSpan> {
    account
        .spans()
        .filter(|(lane, _)| lane.is_none())
        .map(|(_, span)| span)
        .collect()
}

/// Class, tool and seconds of all spans.
fn words(transcript: &Transcript, account: &Account) -> Vec<String> {
    let word = |span: &TimeSpan| {
        let call = transcript.get(span.entry).zip(span.block);
        let call = call.and_then(|(entry, block)| entry.call(usize::try_from(block).ok()?));
        let tool = call
            .map(|call| format!(" {}", call.name))
            .unwrap_or_default();
        format!("{}{tool} {}", span.class.word(), span.ms() / 1_000)
    };
    all(account).iter().map(word).collect()
}

/// Completes the newest entry at a time.
fn complete(out: &mut Batch, time: Seconds) {
    if let Some(Edit::Entry(entry)) = out.edits.last_mut() {
        entry.ended = at(time);
    }
}

#[test]
fn a_message_is_the_models_until_it_is_complete() {
    let (transcript, account) = account_of(|out| {
        prompt(out, "p1", Some(0));
        let kinds = vec![
            call(out, "a", "bash", Some(6)),
            call(out, "b", "grep", Some(30)),
        ];
        entry(out, "m1", Role::Assistant, Some(4), kinds);
        complete(out, Some(50));
        result(out, "a", Some(20));
        result(out, "b", Some(32));
        answer(out, "m2", Some(60));
        complete(out, Some(95));
        prompt(out, "p2", Some(100));
    });
    let first = [
        "model 4",
        "model 2",
        "tools bash 14",
        "model 10",
        "tools grep 2",
        "model 18",
    ];
    assert_eq!(
        words(&transcript, &account),
        [&first[..], &["model 45", "you 5"]].concat()
    );
    let m2 = transcript.find("m2").unwrap();
    assert_eq!(
        account.before(m2).map(|span| span.ms()),
        Some(45_000),
        "until it was complete"
    );
}

#[test]
fn a_call_without_a_result_leaves_open_whose_time_it_is() {
    let (transcript, account) = account_of(|out| {
        prompt(out, "p1", Some(0));
        let kinds = vec![call(out, "a", "bash", Some(6))];
        entry(out, "m1", Role::Assistant, Some(4), kinds);
        complete(out, Some(10));
        answer(out, "m2", Some(60));
    });
    assert_eq!(
        words(&transcript, &account),
        ["model 4", "model 6", "unknown 50"]
    );
}

#[test]
fn a_turn_is_model_tool_model_and_then_the_human() {
    let (transcript, account) = account_of(|out| {
        prompt(out, "p1", Some(0));
        let kinds = vec![call(out, "a", "bash", Some(5))];
        entry(out, "m1", Role::Assistant, Some(4), kinds);
        result(out, "a", Some(45));
        answer(out, "m2", Some(50));
        prompt(out, "p2", Some(80));
        answer(out, "m3", Some(90));
        prompt(out, "p3", Some(90 + 7_200));
    });
    assert_eq!(
        words(&transcript, &account),
        [
            "model 4",
            "model 1",
            "tools bash 40",
            "model 5",
            "you 30",
            "model 10",
            "idle 7200"
        ]
    );
    let sums = account.time(None);
    assert_eq!(
        (
            sums.of(Class::Model),
            sums.of(Class::Tool),
            sums.of(Class::Human)
        ),
        (20_000, 40_000, 30_000)
    );
    assert_eq!(sums.total(), (90 + 7_200) * 1_000);
    let turn = account.turn(&transcript, 0);
    assert_eq!(
        (
            turn.time.total(),
            turn.work_ms(),
            turn.time.of(Class::Human)
        ),
        (50_000, Some(50_000), 0)
    );
    assert_eq!(
        (turn.span_ms(), turn.facts.calls),
        (Some(50_000), 1),
        "the pause is no part of it"
    );
}

#[test]
fn parallel_calls_count_once() {
    let (transcript, account) = account_of(|out| {
        prompt(out, "p", Some(0));
        let kinds = vec![
            call(out, "a", "bash", Some(2)),
            call(out, "b", "grep", Some(2)),
            call(out, "c", "bash", Some(3)),
        ];
        entry(out, "m", Role::Assistant, Some(2), kinds);
        result(out, "b", Some(4));
        result(out, "a", Some(20));
        result(out, "c", Some(12));
        answer(out, "n", Some(21));
    });
    assert_eq!(
        words(&transcript, &account),
        ["model 2", "tools grep 2", "tools bash 16", "model 1"]
    );
    assert_eq!(account.time(None).of(Class::Tool), 18_000);
}

#[test]
fn without_times_nothing_is_claimed() {
    let (transcript, account) = account_of(|out| {
        prompt(out, "p", Some(0));
        let kinds = vec![call(out, "a", "bash", None)];
        entry(out, "m", Role::Assistant, None, kinds);
        result(out, "a", None);
        answer(out, "n", Some(30));
        prompt(out, "q", None);
    });
    assert_eq!(words(&transcript, &account), ["unknown 30"]);
}

#[test]
fn results_alone_say_how_long_it_took_but_not_whose_time_it_was() {
    let (transcript, account) = account_of(|out| {
        prompt(out, "p", None);
        for (number, time) in [("a", 10), ("b", 70), ("c", 100)] {
            let kinds = vec![call(out, number, "bash", None)];
            entry(out, &format!("m{number}"), Role::Assistant, None, kinds);
            result(out, number, Some(time));
        }
        answer(out, "n", None);
    });
    assert_eq!(words(&transcript, &account), ["unknown 60", "unknown 30"]);
    let turn = account.turn(&transcript, 0);
    assert_eq!(
        (turn.work_ms(), turn.duration_ms(), turn.span_ms()),
        (None, Some(90_000), Some(90_000))
    );
}

#[test]
fn a_run_without_times_took_what_its_end_says() {
    let work = |times: [Seconds; 3]| {
        let (transcript, account) = account_of(|out| {
            let [asked, answered, ended] = times;
            prompt(out, "p", asked);
            answer(out, "a", answered);
            let end = [Break::Ended(Text::from("success")), Break::Took(4_000)];
            entry(
                out,
                "e",
                Role::Harness,
                ended,
                end.map(BlockKind::Break).into(),
            );
        });
        (
            account.turn(&transcript, 0).work_ms(),
            account.time(None).work(),
        )
    };
    assert_eq!(work([None; 3]), (Some(4_000), 4_000));
    assert_eq!(
        work([0, 3, 9].map(Some)),
        (Some(3_000), 3_000),
        "times of entries say more"
    );
}

#[test]
fn a_gap_before_a_machine_wakes_the_model_is_not_the_humans() {
    let gap = |from: Option<SenderKind>| {
        let (transcript, account) = account_of(|out| {
            prompt(out, "p", Some(0));
            answer(out, "m", Some(4));
            if let Some(Edit::Entry(entry)) = out.edits.last_mut() {
                entry.stop = Stop::Done;
            }
            let text = BlockKind::Text(out.prose("a timer rang"));
            entry(out, "w", Role::Harness, Some(34), vec![text]);
            if let Some(Edit::Entry(entry)) = out.edits.last_mut() {
                entry.from = from.map(|kind| Box::new(Sender::of(kind)));
            }
            answer(out, "n", Some(36));
        });
        assert_eq!(
            account.turn(&transcript, 0).work_ms(),
            Some(6_000),
            "{from:?}"
        );
        words(&transcript, &account)
    };
    for kind in [
        SenderKind::Schedule,
        SenderKind::Task,
        SenderKind::Peer,
        SenderKind::Runtime,
    ] {
        assert_eq!(
            gap(Some(kind)),
            ["model 4", "unknown 30", "model 2"],
            "{kind:?}"
        );
    }
    for kind in [None, Some(SenderKind::Channel)] {
        assert_eq!(gap(kind), ["model 4", "you 30", "model 2"], "{kind:?}");
    }
}

#[test]
fn a_call_without_a_result_leaves_its_time_unknown() {
    let (transcript, account) = account_of(|out| {
        prompt(out, "p", Some(0));
        let kinds = vec![call(out, "a", "bash", Some(3))];
        entry(out, "m", Role::Assistant, Some(3), kinds);
        answer(out, "n", Some(63));
        answer(out, "o", Some(65));
    });
    assert_eq!(
        words(&transcript, &account),
        ["model 3", "unknown 60", "model 2"]
    );
}

#[test]
fn a_clock_that_is_set_back_loses_nothing_that_follows() {
    let (transcript, account) = account_of(|out| {
        prompt(out, "p", Some(10_000));
        answer(out, "m", Some(10_010));
        prompt(out, "q", Some(5_000));
        answer(out, "n", Some(5_007));
        // Out of order by a second: no time passes, and none is counted twice.
        answer(out, "o", Some(5_006));
        answer(out, "r", Some(5_009));
    });
    assert_eq!(
        words(&transcript, &account),
        ["model 10", "model 7", "model 2"]
    );
}

#[test]
fn a_failed_request_is_made_again() {
    let (transcript, account) = account_of(|out| {
        prompt(out, "p", Some(0));
        let error = vec![BlockKind::Break(Break::Error(Text::from("overloaded")))];
        entry(out, "e", Role::Harness, Some(10), error);
        answer(out, "m", Some(25));
    });
    assert_eq!(words(&transcript, &account), ["model 10", "retry 15"]);
}

#[test]
fn sub_agents_have_their_own_time() {
    let (transcript, account) = account_of(|out| {
        prompt(out, "p", Some(0));
        let kinds = vec![call(out, "a", "task", Some(1))];
        entry(out, "m", Role::Assistant, Some(1), kinds);
        for (key, time) in [("s1", 2), ("s2", 20)] {
            let text = BlockKind::Text(out.prose("in the lane"));
            let mut inner = out.new_entry(Text::from(key), Role::Assistant, at(Some(time)));
            inner.lane = Some(Text::from("worker"));
            inner.blocks = vec![Block::new(Piece(0), text)];
            out.entry(inner);
        }
        result(out, "a", Some(30));
    });
    assert_eq!(words(&transcript, &account), ["model 1", "tools task 29"]);
    assert_eq!(
        account.time(Some(&Text::from("worker"))).of(Class::Model),
        18_000
    );
    assert_eq!(account.time(Some(&Text::from("nobody"))).total(), 0);
}

#[test]
fn a_late_result_changes_what_follows_over_many_pages() {
    let number = PAGE * 3;
    let fill = |out: &mut Batch, has_result: bool| {
        prompt(out, "p", Some(0));
        let kinds = vec![call(out, "a", "bash", Some(1))];
        entry(out, "m", Role::Assistant, Some(1), kinds);
        for n in 0..number {
            answer(out, &format!("m{n}"), Some(2 + i64::try_from(n).unwrap()));
        }
        if has_result {
            result(out, "a", Some(i64::try_from(number / 2).unwrap()));
        }
    };
    let (_, whole) = account_of(|out| fill(out, true));
    let (mut transcript, mut account) = account_of(|out| fill(out, false));
    let mut late = Batch::default();
    result(&mut late, "a", Some(i64::try_from(number / 2).unwrap()));
    let touched = transcript.apply(late);
    account.invalidate(&transcript, &touched);
    assert!(account.follow(&transcript, usize::MAX));
    assert_eq!(all(&account), all(&whole));
    assert_eq!(account.time(None), whole.time(None));
    assert_eq!(
        account.time(None).of(Class::Tool),
        u64::try_from(number / 2 - 1).unwrap() * 1_000
    );
}

fn figures(of: &Figures) -> impl PartialEq + std::fmt::Debug + use<> {
    let facts = &of.facts;
    (
        of.time,
        facts.calls,
        facts.errors,
        facts.open,
        facts.started,
        facts.ended,
        facts.totals.sum().requests,
    )
}

#[test]
fn a_search_that_took_hours_stood_still() {
    let took = |kind: ToolKind, seconds: i64, measured: Option<u64>| {
        let (transcript, account) = account_of(|out| {
            prompt(out, "p", Some(0));
            let BlockKind::Call(mut call) = call(out, "a", "grep", Some(1)) else {
                panic!()
            };
            call.kind = kind;
            entry(
                out,
                "m",
                Role::Assistant,
                Some(1),
                vec![BlockKind::Call(call)],
            );
            result(out, "a", Some(1 + seconds));
            if let (Some(Edit::Result { result, .. }), Some(_)) = (out.edits.last_mut(), measured) {
                result.duration_ms = measured;
            }
        });
        words(&transcript, &account).pop()
    };
    assert_eq!(
        took(ToolKind::Search, 6_000, None).as_deref(),
        Some("unknown grep 6000")
    );
    assert_eq!(
        took(ToolKind::Search, 500, None).as_deref(),
        Some("tools grep 500")
    );
    assert_eq!(
        took(ToolKind::Run, 6_000, None).as_deref(),
        Some("tools grep 6000"),
        "commands may take long"
    );
    assert_eq!(
        took(ToolKind::Search, 6_000, Some(6_000_000)).as_deref(),
        Some("tools grep 6000"),
        "measured"
    );
}

/// Kind of step, time, duration of its call, whether the result is late.
type Step = (u8, Seconds, Seconds, bool);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let time = || prop::option::weighted(0.9, 0i64..400);
    prop::collection::vec((0u8..4, time(), time(), any::<bool>()), 1..40)
}

fn step(
    out: &mut Batch,
    number: usize,
    (kind, time, took, is_late): Step,
    late: &mut Vec<(String, Seconds)>,
) {
    let key = format!("k{number}");
    match kind {
        0 => prompt(out, &key, time),
        1 => answer(out, &key, time),
        _ => {
            let kinds = vec![call(out, &key, "bash", time)];
            entry(out, &key, Role::Assistant, time, kinds);
            let end = time.zip(took).map(|(time, took)| time + took);
            if is_late {
                late.push((key, end));
            } else {
                result(out, &key, end);
            }
        }
    }
}

proptest! {
    /// Incremental updates give the same account as one pass, and the parts add up to the sum.
    #[test]
    fn growing_is_the_same_as_the_whole(steps in steps()) {
        let mut late = Vec::new();
        let (mut growing, mut account) = (Transcript::new(), Account::default());
        let mut whole = Batch::default();
        for (number, one) in steps.iter().enumerate() {
            let mut batch = Batch::default();
            step(&mut batch, number, *one, &mut late);
            step(&mut whole, number, *one, &mut Vec::new());
            let touched = growing.apply(batch);
            account.invalidate(&growing, &touched);
            growing.update_derived();
            assert!(account.follow(&growing, usize::MAX));
        }
        for (key, end) in late {
            let mut batch = Batch::default();
            result(&mut batch, &key, end);
            result(&mut whole, &key, end);
            let touched = growing.apply(batch);
            account.invalidate(&growing, &touched);
            growing.update_derived();
            assert!(account.follow(&growing, usize::MAX));
        }
        let mut transcript = Transcript::new();
        transcript.apply(whole);
        transcript.update_derived();
        let judged = Account::of(&transcript);
        assert_eq!(all(&account), all(&judged));
        let sum: u64 = all(&account).iter().map(TimeSpan::ms).sum();
        assert_eq!(account.time(None).total(), sum);
        assert!(all(&account).iter().all(|span| span.from < span.to));
        for turn in 0..transcript.turns().len() {
            assert_eq!(figures(&account.turn(&growing, turn)), figures(&judged.turn(&transcript, turn)));
        }
    }
}

#[test]
fn a_sub_agent_that_is_announced_last_counts_in_the_turn_of_its_call() {
    let mut transcript = Transcript::new();
    let mut account = Account::default();
    let mut feed = |fill: &dyn Fn(&mut Batch)| {
        let mut batch = Batch::default();
        fill(&mut batch);
        let touched = transcript.apply(batch);
        transcript.update_derived();
        account.invalidate(&transcript, &touched);
        assert!(account.follow(&transcript, usize::MAX));
        let turn = account.turn(&transcript, 0);
        let fresh = Account::of(&transcript).turn(&transcript, 0);
        assert_eq!(turn.facts.calls, fresh.facts.calls);
        turn.facts.calls
    };
    let first = feed(&|out| {
        prompt(out, "p", Some(0));
        let kinds = vec![call(out, "t", "task", Some(1))];
        entry(out, "m", Role::Assistant, Some(1), kinds);
        prompt(out, "q", Some(100));
        let kinds = vec![call(out, "a", "bash", Some(102))];
        entry(out, "in it", Role::Assistant, Some(102), kinds);
        if let Some(Edit::Entry(entry)) = out.edits.last_mut() {
            entry.lane = Some(Text::from("mate"));
        }
    });
    let then = feed(&|out| {
        let (name, call) = (Text::from("mate"), Some(Text::from("t")));
        out.meta(MetaEdit::Lane {
            name,
            label: None,
            call,
        });
    });
    assert_eq!((first, then), (1, 2));
}
