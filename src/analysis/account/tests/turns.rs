//! Which requests, calls and lanes belong to a turn, and when its figures are complete.

use super::{Seconds, account_of, answer, at, call, entry, prompt, result};
use crate::analysis::account::{Account, Class, PAGE, Sums};
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{Block, BlockKind, Break, Piece, Role, Stop};
use crate::model::samples;
use crate::model::text::Text;
use crate::model::tool::{ToolCall, ToolKind, ToolResult};
use crate::model::transcript::Transcript;
use crate::model::turn::TurnFacts;
use crate::model::usage::Usage;

/// The usage of one request.
fn spend(out: &mut Batch, key: &str, time: Seconds, lane: Option<&str>) {
    let mut entry = out.new_entry(Text::clean(key), Role::Assistant, at(time));
    entry.lane = lane.map(Text::clean);
    entry.model = Some(Text::from("claude-opus-4-6"));
    entry.usage = Some(Box::new(Usage {
        input: Some(1_000),
        ..Usage::default()
    }));
    entry.blocks = vec![Block::new(Piece(0), BlockKind::Text(out.prose("said")))];
    out.entry(entry);
}

fn requests(transcript: &Transcript, account: &Account) -> Vec<u64> {
    let of = |turn| account.turn(transcript, turn).facts.totals.sum().requests;
    (0..transcript.turns().len()).map(of).collect()
}

#[test]
fn every_request_has_one_turn_or_is_overhead() {
    let (transcript, account) = account_of(|out| {
        spend(out, "before", Some(-5), None);
        prompt(out, "p1", Some(0));
        let kinds = vec![call(out, "c", "task", Some(1))];
        entry(out, "m", Role::Assistant, Some(1), kinds);
        prompt(out, "p2", Some(100));
        spend(out, "a2", Some(110), None);
        prompt(out, "p3", Some(200));
        // Lanes are read after the main one, whenever they ran.
        spend(out, "s1", Some(250), Some("called"));
        spend(out, "s2", Some(150), Some("stray"));
        spend(out, "s3", Some(260), Some("stray"));
        spend(out, "h", Some(150), Some("helper"));
        out.meta(MetaEdit::Lane {
            name: Text::from("called"),
            label: None,
            call: Some(Text::from("c")),
        });
        out.meta(MetaEdit::Helper(Text::from("helper")));
    });
    assert_eq!(
        requests(&transcript, &account),
        [1, 3, 0],
        "its call's, and the one of its first record"
    );
    let turn = |key: &str| account.turn_of(&transcript, transcript.find(key).unwrap());
    let of = ["before", "s1", "s3", "h", "a2"].map(turn);
    assert_eq!(of, [None, Some(0), Some(1), None, Some(1)]);
    let of_turns: u64 = requests(&transcript, &account).iter().sum();
    assert_eq!(of_turns + 2, transcript.totals().sum().requests);
}

#[test]
fn a_turn_is_known_when_all_of_it_was_taken_in() {
    let number = PAGE * 3;
    let (transcript, _) = account_of(|out| {
        prompt(out, "p1", Some(0));
        spend(out, "a", Some(1), None);
        prompt(out, "p2", Some(2));
        (0..number).for_each(|n| {
            spend(
                out,
                &format!("m{n}"),
                Some(3 + i64::try_from(n).unwrap()),
                None,
            );
        });
    });
    let mut account = Account::default();
    account.follow(&transcript, 10);
    assert_eq!(
        [0, 1].map(|turn| account.is_turn_complete(&transcript, turn)),
        [true, false]
    );
    account.follow(&transcript, usize::MAX);
    assert!(account.is_turn_complete(&transcript, 1) && account.is_whole(&transcript));
}

#[test]
fn lanes_that_grow_change_only_their_turn() {
    let (mut transcript, mut account) = account_of(|out| {
        prompt(out, "p1", Some(0));
        let kinds = vec![call(out, "c", "task", Some(1))];
        entry(out, "m", Role::Assistant, Some(1), kinds);
        out.meta(MetaEdit::Lane {
            name: Text::from("lane"),
            label: None,
            call: Some(Text::from("c")),
        });
        prompt(out, "p2", Some(100));
    });
    for n in 0..3 {
        let mut batch = Batch::default();
        spend(&mut batch, &format!("s{n}"), Some(200 + n), Some("lane"));
        let touched = transcript.apply(batch);
        transcript.update_derived();
        account.invalidate(&transcript, &touched);
        account.follow(&transcript, usize::MAX);
        assert_eq!(
            requests(&transcript, &account),
            [u64::try_from(n).unwrap() + 1, 0]
        );
    }
    assert_eq!(
        account.turn(&transcript, 0).span_ms(),
        Some(202_000),
        "until its sub-agent is done"
    );
}

#[test]
fn a_turn_of_many_pages_is_the_sum_of_them() {
    let number = PAGE * 3;
    let (mut transcript, mut account) = account_of(|out| {
        prompt(out, "p1", Some(0));
        spend(out, "a", Some(1), None);
        prompt(out, "p2", Some(2));
        (0..number).for_each(|n| {
            spend(
                out,
                &format!("m{n}"),
                Some(3 + i64::try_from(n).unwrap()),
                None,
            );
        });
        prompt(out, "p3", Some(5_000));
    });
    let all = u64::try_from(number).unwrap();
    assert_eq!(requests(&transcript, &account), [1, all, 0]);
    assert_eq!(account.turn(&transcript, 1).work_ms(), Some(all * 1_000));
    // An entry in the middle becomes a prompt.
    let mut batch = Batch::default();
    prompt(
        &mut batch,
        &format!("m{}", PAGE + 20),
        Some(3 + 20 + i64::try_from(PAGE).unwrap()),
    );
    let touched = transcript.apply(batch);
    transcript.update_derived();
    account.invalidate(&transcript, &touched);
    while !account.follow(&transcript, 1) {}
    let first = u64::try_from(PAGE).unwrap() + 20;
    assert_eq!(requests(&transcript, &account), [1, first, all - first, 0]);
}

#[test]
fn some_entries_are_added_up_by_pages_and_come_to_the_same() {
    let number = PAGE * 3 + 9;
    let (transcript, mut account) = account_of(|out| {
        (0..number)
            .for_each(|n| spend(out, &format!("m{n}"), Some(i64::try_from(n).unwrap()), None));
    });
    let order = transcript.order().to_vec();
    let gap = [
        order.get(..7).unwrap(),
        order.get(9..PAGE * 2 + 40).unwrap(),
    ]
    .concat();
    let first = [
        order.get(..PAGE * 2).unwrap(),
        order.get(PAGE * 3..).unwrap(),
    ]
    .concat();
    for (ids, single) in [(order.clone(), 4), (gap, PAGE - 2 + 1 + 40), (first, 3)] {
        let (mut most, mut facts, mut known) = (10_000, TurnFacts::default(), 0);
        known += account.add_some(
            &transcript,
            ids.get(known..).unwrap(),
            &mut most,
            &mut facts,
        );
        let each = TurnFacts::of(ids.iter().filter_map(|id| transcript.get(*id)));
        assert_eq!((known, facts.totals.sum()), (ids.len(), each.totals.sum()));
        assert_eq!((facts.started, facts.ended), (each.started, each.ended));
        assert_eq!(10_000 - most, single, "pages count as one");
    }
    let mut most = 2;
    let mut facts = TurnFacts::default();
    assert_eq!(
        account.add_some(&transcript, &order, &mut most, &mut facts),
        2 * PAGE,
        "no more than that"
    );
    account = Account::default();
    assert_eq!(
        account.add_some(&transcript, &order, &mut most, &mut facts),
        0,
        "nothing is judged yet"
    );
}

/// A work time that the agent recorded.
fn took(out: &mut Batch, key: &str, time: Seconds, ms: u64) {
    entry(
        out,
        key,
        Role::Harness,
        time,
        vec![BlockKind::Break(Break::Took(ms))],
    );
}

#[test]
fn what_the_agent_was_not_at_work_its_tools_waited_for_the_human() {
    let (transcript, account) = account_of(|out| {
        prompt(out, "p1", Some(0));
        let kinds = vec![
            call(out, "a", "bash", Some(2)),
            call(out, "b", "bash", Some(2)),
        ];
        entry(out, "m1", Role::Assistant, Some(2), kinds);
        result(out, "a", Some(500));
        result(out, "b", Some(600));
        answer(out, "m2", Some(605));
        took(out, "t1", Some(605), 27_000);
        prompt(out, "p2", Some(700));
        let kinds = vec![call(out, "c", "bash", Some(702))];
        entry(out, "m3", Role::Assistant, Some(702), kinds);
        result(out, "c", Some(710));
        took(out, "t2", Some(711), 9_000);
    });
    let seconds =
        |time: &Sums| [Class::Model, Class::Tool, Class::Human].map(|class| time.of(class) / 1_000);
    let first = account.turn(&transcript, 0);
    assert_eq!(
        (seconds(&first.time), first.work_ms()),
        ([7, 20, 578], Some(27_000))
    );
    assert_eq!(
        seconds(&account.turn(&transcript, 1).time),
        [2, 8, 0],
        "a second more or less says nothing"
    );
    let within = account.time_within(None, at(Some(0)).unwrap(), at(Some(605)).unwrap());
    assert_eq!(seconds(&within), seconds(&first.time), "whatever asks");
    let as_of = account.as_of(&transcript, transcript.find("t1").unwrap());
    assert_eq!(
        seconds(&account.turn_as_of(&transcript, &as_of, 0).time),
        seconds(&first.time)
    );
}

#[test]
fn what_the_agent_was_not_at_work_the_machine_slept() {
    let times = |measured: Option<u64>, answered: i64| {
        let (_, account) = account_of(|out| {
            prompt(out, "p1", Some(0));
            let kinds = vec![call(out, "a", "bash", Some(2))];
            entry(out, "m1", Role::Assistant, Some(2), kinds);
            let result = ToolResult {
                duration_ms: measured,
                ..samples::result(out, "ra", at(Some(1_002)))
            };
            out.push(Edit::Result {
                call: Text::from("a"),
                result: Box::new(result),
                lane: None,
            });
            answer(out, "m2", Some(answered));
            took(out, "t1", Some(answered), 30_000);
        });
        let time = account.time(None);
        [Class::Model, Class::Tool, Class::Human, Class::Unknown]
            .map(|class| time.of(class) / 1_000)
    };
    assert_eq!(
        times(None, 1_007),
        [7, 23, 977, 0],
        "who was to allow a call was waited for"
    );
    assert_eq!(
        times(Some(1_000_000), 1_007),
        [7, 23, 0, 977],
        "what a clock measured was no permission"
    );
    assert_eq!(
        times(Some(8_000), 1_907),
        [22, 8, 0, 992 + 885],
        "nor does a model wait for one"
    );
}

/// An answered question, recorded where it was asked.
fn allowed(out: &mut Batch, key: &str, times: [Seconds; 2], lane: Option<&str>) {
    let mut entry = out.new_entry(Text::clean(key), Role::Harness, at(times[0]));
    (entry.ended, entry.lane) = (at(times[1]), lane.map(Text::clean));
    let said = Break::Setting(Text::from("permission: rm x: approved"));
    entry.blocks = vec![Block::new(Piece(0), BlockKind::Break(said))];
    out.entry(entry);
}

#[test]
fn until_a_call_was_allowed_the_human_was_waited_for() {
    let times = |lane: Option<&str>, kind: ToolKind, beside: Option<i64>| {
        let (_, account) = account_of(|out| {
            prompt(out, "p1", Some(0));
            let mut kinds = vec![call(out, "a", "rm", Some(4))];
            if let Some(BlockKind::Call(call)) = kinds.first_mut() {
                call.kind = kind;
            }
            kinds.extend(beside.map(|_| call(out, "b", "ls", Some(4))));
            entry(out, "m1", Role::Assistant, Some(4), kinds);
            if let Some(ended) = beside {
                result(out, "b", Some(ended));
            }
            spend(out, "s1", Some(8), lane);
            allowed(out, "w1", [Some(10), Some(910)], lane);
            spend(out, "s2", Some(920), lane);
            result(out, "a", Some(930));
            answer(out, "m2", Some(935));
            let of = lane.map(|_| Text::from("a"));
            out.meta(MetaEdit::Lane {
                name: Text::clean(lane.unwrap_or("none")),
                label: None,
                call: of,
            });
        });
        let time = account.time(None);
        [Class::Model, Class::Tool, Class::Human].map(|class| time.of(class) / 1_000)
    };
    assert_eq!(
        times(Some("sub"), ToolKind::Delegate, None),
        [9, 26, 900],
        "in its sub-agent"
    );
    assert_eq!(
        times(Some("sub"), ToolKind::Delegate, Some(310)),
        [9, 326, 600],
        "beside another call"
    );
    assert_eq!(times(None, ToolKind::Run, None), [9, 26, 900], "itself");
}

#[test]
fn a_compaction_that_was_asked_for_works_as_long_as_it_took() {
    let compaction = |took| {
        let trigger = Text::from("manual");
        vec![BlockKind::Break(Break::Compaction {
            before: None,
            after: None,
            trigger,
            partial: false,
            took,
        })]
    };
    let times = |took| {
        let (_, account) = account_of(|out| {
            prompt(out, "p1", Some(0));
            answer(out, "m1", Some(10));
            entry(out, "c1", Role::Harness, Some(200), compaction(took));
            prompt(out, "p2", Some(260));
            answer(out, "m2", Some(265));
        });
        let time = account.time(None);
        [Class::Model, Class::Human, Class::Unknown].map(|class| time.of(class) / 1_000)
    };
    assert_eq!(times(Some(40_000)), [10 + 40 + 5, 150 + 60, 0]);
    assert_eq!(
        times(Some(900_000)),
        [10 + 190 + 5, 60, 0],
        "no longer than since the answer"
    );
    assert_eq!(
        times(None),
        [10 + 5, 60, 190],
        "nobody knows when it was asked for"
    );
}

#[test]
fn after_all_was_said_nobody_works_until_somebody_asks() {
    let done = |out: &mut Batch, key: &str, time: Seconds| {
        let mut entry = out.new_entry(Text::clean(key), Role::Assistant, at(time));
        entry.stop = Stop::Done;
        entry.blocks = vec![Block::new(Piece(0), BlockKind::Text(out.prose("done")))];
        out.entry(entry);
    };
    let compaction = || Break::compaction("auto");
    let (transcript, account) = account_of(|out| {
        prompt(out, "p1", Some(0));
        done(out, "m1", Some(10));
        let note = BlockKind::Text(out.prose("a task has ended"));
        entry(out, "n1", Role::Harness, Some(2_600), vec![note]);
        done(out, "m2", Some(2_604));
        entry(
            out,
            "c1",
            Role::Harness,
            Some(2_605),
            vec![BlockKind::Break(compaction())],
        );
        prompt(out, "p2", Some(3_000));
        done(out, "m3", Some(3_005));
        let mut late = out.new_entry(Text::from("snapshot"), Role::Harness, at(Some(9_000)));
        late.marks.trace = true;
        out.entry(late);
    });
    let first = account.turn(&transcript, 0);
    assert_eq!(first.work_ms(), Some(14_000));
    assert_eq!(
        (first.time.of(Class::Human), first.time.of(Class::Unknown)),
        (2_590_000, 1_000)
    );
    assert_eq!(
        account.turn(&transcript, 1).span_ms(),
        Some(5_000),
        "a snapshot may be of the next turn"
    );
    assert_eq!(account.time(None).of(Class::Human), 2_590_000 + 395_000);
}

#[test]
fn a_sub_agent_that_is_recorded_elsewhere_leaves_its_turn_lacking() {
    let build = |has_lane: bool, is_copy: bool| {
        account_of(|out| {
            prompt(out, "p1", Some(0));
            let started = ToolCall {
                kind: ToolKind::Delegate,
                ..samples::call(out, "c")
            };
            entry(
                out,
                "m",
                Role::Assistant,
                Some(1),
                vec![BlockKind::Call(Box::new(started))],
            );
            result(out, "c", Some(9));
            prompt(out, "p2", Some(100));
            spend(out, "a2", Some(110), None);
            if is_copy {
                let mut copy = out.new_entry(Text::from("s1"), Role::Harness, at(Some(5)));
                (copy.marks.copy, copy.lane) = (true, Some(Text::from("called")));
                out.entry(copy);
            } else if has_lane {
                spend(out, "s1", Some(5), Some("called"));
            }
            if has_lane {
                let call = Some(Text::from("c"));
                out.meta(MetaEdit::Lane {
                    name: Text::from("called"),
                    label: None,
                    call,
                });
            }
        })
    };
    for (has_lane, is_copy) in [(false, false), (true, false), (true, true)] {
        let (transcript, account) = build(has_lane, is_copy);
        let lacking = [0, 1].map(|turn| account.turn(&transcript, turn).lacks_agents);
        let is_lacking = !has_lane || is_copy;
        assert_eq!(lacking, [is_lacking, false]);
        assert_eq!(account.cost(&transcript).is_lower_bound(), is_lacking);
    }
}

/// A result with a duration measured by the agent, in seconds.
fn measured(out: &mut Batch, call: &str, time: Seconds, seconds: u64) {
    let mut result = samples::result(out, &format!("r{call}"), at(time));
    result.duration_ms = Some(seconds * 1_000);
    out.push(Edit::Result {
        call: Text::clean(call),
        result: Box::new(result),
        lane: None,
    });
}

fn time_of(account: &Account, transcript: &Transcript) -> [u64; 3] {
    let time = account.turn(transcript, 0).time;
    [time.work(), time.of(Class::Human), time.of(Class::Unknown)].map(|ms| ms / 1_000)
}

#[test]
fn a_call_that_stood_still_is_work_as_long_as_it_ran() {
    let (transcript, account) = account_of(|out| {
        prompt(out, "p", Some(0));
        let kinds = vec![
            call(out, "a", "bash", Some(10)),
            call(out, "b", "bash", Some(20)),
        ];
        entry(out, "m", Role::Assistant, Some(10), kinds);
        measured(out, "a", Some(1_000), 50);
        measured(out, "b", Some(30), 10);
        answer(out, "end", Some(1_005));
    });
    // The model 10 s and 5 s, one call 10 s, the other the last 50 s.
    assert_eq!(time_of(&account, &transcript), [75, 0, 930]);
}

#[test]
fn a_sub_agent_without_a_sign_for_hours_was_not_at_work() {
    for is_first in [true, false] {
        let lane = |out: &mut Batch| {
            for (key, time) in [("s1", 20), ("s2", 60), ("s3", 40_000), ("s4", 40_010)] {
                spend(out, key, Some(time), Some("lane"));
            }
        };
        let (transcript, account) = account_of(|out| {
            if is_first {
                lane(out);
            }
            prompt(out, "p", Some(0));
            let kinds = vec![call(out, "c", "task", Some(10))];
            entry(out, "m", Role::Assistant, Some(10), kinds);
            result(out, "c", Some(40_020));
            answer(out, "end", Some(40_030));
            out.meta(MetaEdit::Lane {
                name: Text::from("lane"),
                label: None,
                call: Some(Text::from("c")),
            });
            if !is_first {
                lane(out);
            }
        });
        assert_eq!(
            time_of(&account, &transcript),
            [90, 0, 39_940],
            "first: {is_first}"
        );
    }
}

/// A call in a lane, with the times of its start and end.
fn call_of(out: &mut Batch, key: &str, lane: &str, kind: ToolKind, (from, to): (i64, i64)) {
    let call = ToolCall {
        kind,
        started: at(Some(from)),
        ..samples::call(out, key)
    };
    let mut entry = out.new_entry(
        Text::clean(&format!("m{key}")),
        Role::Assistant,
        at(Some(from)),
    );
    entry.lane = Some(Text::clean(lane)).filter(|lane| !lane.is_blank());
    entry.blocks = vec![Block::new(Piece(0), BlockKind::Call(Box::new(call)))];
    out.entry(entry);
    result(out, key, Some(to));
}

#[test]
fn a_sub_agent_that_waits_to_be_allowed_is_not_at_work() {
    let started = |out: &mut Batch, lane: &str, call: &str| {
        out.meta(MetaEdit::Lane {
            name: Text::clean(lane),
            label: None,
            call: Some(Text::clean(call)),
        });
    };
    let lane_of =
        |first: (ToolKind, (i64, i64)), second: Option<(ToolKind, (i64, i64))>, is_nested: bool| {
            let (transcript, account) = account_of(|out| {
                prompt(out, "p", Some(0));
                call_of(out, "c", "", ToolKind::Delegate, (10, 5_010));
                let lane = if is_nested { "inner" } else { "lane" };
                started(out, "lane", "c");
                spend(out, "s0", Some(20), Some("lane"));
                if is_nested {
                    call_of(out, "n", "lane", ToolKind::Delegate, (25, 5_000));
                    started(out, "inner", "n");
                }
                call_of(out, "x", lane, first.0, first.1);
                if let Some((kind, times)) = second {
                    call_of(out, "y", lane, kind, times);
                }
                spend(out, "s1", Some(4_990), Some(lane));
                answer(out, "end", Some(5_020));
            });
            time_of(&account, &transcript)
        };
    let edit = (ToolKind::Edit, (30, 4_030));
    for is_nested in [false, true] {
        assert_eq!(
            lane_of(edit, None, is_nested),
            [1_020, 0, 4_000],
            "nested: {is_nested}"
        );
        let beside = Some((ToolKind::Run, (30, 530)));
        assert_eq!(
            lane_of(edit, beside, is_nested),
            [1_520, 0, 3_500],
            "another call ran: {is_nested}"
        );
        assert_eq!(
            lane_of((ToolKind::Run, (30, 3_030)), None, is_nested),
            [5_020, 0, 0],
            "it ran: {is_nested}"
        );
    }
}

#[test]
fn a_sub_agent_is_at_work_while_one_that_it_started_is() {
    let (transcript, account) = account_of(|out| {
        prompt(out, "p", Some(0));
        call_of(out, "c", "", ToolKind::Delegate, (10, 20_000));
        call_of(out, "n", "lane", ToolKind::Delegate, (20, 19_900));
        for time in (30..19_000).step_by(1_000) {
            spend(out, &format!("s{time}"), Some(time), Some("inner"));
        }
        for (lane, call) in [("lane", "c"), ("inner", "n")] {
            out.meta(MetaEdit::Lane {
                name: Text::from(lane),
                label: None,
                call: Some(Text::from(call)),
            });
        }
        answer(out, "end", Some(20_010));
    });
    assert_eq!(time_of(&account, &transcript), [20_010, 0, 0]);
}

#[test]
fn a_sub_agent_that_has_said_all_waits_for_the_others() {
    let (transcript, account) = account_of(|out| {
        prompt(out, "p", Some(0));
        call_of(out, "c", "", ToolKind::Delegate, (10, 1_010));
        spend(out, "s", Some(110), Some("lane"));
        if let Some(Edit::Entry(entry)) = out.edits.last_mut() {
            entry.stop = Stop::Done;
        }
        out.meta(MetaEdit::Lane {
            name: Text::from("lane"),
            label: None,
            call: Some(Text::from("c")),
        });
        answer(out, "end", Some(1_020));
    });
    assert_eq!(time_of(&account, &transcript), [120, 0, 900]);
}

#[test]
fn time_of_sub_agents_is_held_against_what_the_agent_says() {
    let (transcript, account) = account_of(|out| {
        prompt(out, "p", Some(0));
        let agent = ToolCall {
            kind: ToolKind::Delegate,
            started: at(Some(10)),
            ..samples::call(out, "c")
        };
        entry(
            out,
            "m",
            Role::Assistant,
            Some(10),
            vec![BlockKind::Call(Box::new(agent))],
        );
        measured(out, "c", Some(610), 600);
        answer(out, "end", Some(620));
        entry(
            out,
            "took",
            Role::Harness,
            Some(621),
            vec![BlockKind::Break(Break::Took(120_000))],
        );
    });
    assert_eq!(
        time_of(&account, &transcript),
        [120, 500, 0],
        "its own clock ran while it waited to be allowed"
    );
}
