//! Which requests, calls and lanes are a turn's, and how much of it is known.

use super::{Seconds, at, call, entry, prompt, told};
use crate::analysis::account::{Account, PAGE};
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{BlockKind, Piece, Role};
use crate::model::text::Text;
use crate::model::transcript::Transcript;
use crate::model::turn::TurnFacts;
use crate::model::usage::Usage;

/// What a model spent on one request.
fn spend(out: &mut Batch, key: &str, time: Seconds, lane: Option<&str>) {
    let mut entry = out.new_entry(Text::clean(key), Role::Assistant, at(time));
    entry.lane = lane.map(Text::clean);
    entry.model = Some(Text::from("claude-opus-4-6"));
    entry.usage = Some(Box::new(Usage { input: Some(1_000), ..Usage::default() }));
    entry.blocks = vec![Batch::block(Piece(0), BlockKind::Text(out.prose("said")))];
    out.entry(entry);
}

fn requests(transcript: &Transcript, account: &Account) -> Vec<u64> {
    let of = |turn| account.turn(transcript, turn).facts.totals.sum().requests;
    (0..transcript.turns().len()).map(of).collect()
}

#[test]
fn every_request_has_one_turn_or_is_overhead() {
    let (transcript, account) = told(|out| {
        spend(out, "before", Some(-5), None);
        prompt(out, "p1", Some(0));
        let kinds = vec![call(out, "c", "task", Some(1))];
        entry(out, "m", Role::Assistant, Some(1), kinds);
        prompt(out, "p2", Some(100));
        spend(out, "a2", Some(110), None);
        prompt(out, "p3", Some(200));
        // Lanes are read behind the main one, whenever they ran.
        spend(out, "s1", Some(250), Some("called"));
        spend(out, "s2", Some(150), Some("stray"));
        spend(out, "s3", Some(260), Some("stray"));
        spend(out, "h", Some(150), Some("helper"));
        out.meta(MetaEdit::Lane { name: Text::from("called"), label: None, call: Some(Text::from("c")) });
        out.meta(MetaEdit::Helper(Text::from("helper")));
    });
    assert_eq!(requests(&transcript, &account), [1, 3, 0], "its call's, and the one of its first record");
    let turn = |key: &str| account.turn_of(&transcript, transcript.find(key).unwrap());
    let of = ["before", "s1", "s3", "h", "a2"].map(turn);
    assert_eq!(of, [None, Some(0), Some(1), None, Some(1)]);
    assert_eq!(account.turns(&transcript).sum().requests + 2, transcript.totals().sum().requests);
}

#[test]
fn a_turn_is_known_when_all_of_it_was_taken_in() {
    let number = PAGE * 3;
    let (transcript, _) = told(|out| {
        prompt(out, "p1", Some(0));
        spend(out, "a", Some(1), None);
        prompt(out, "p2", Some(2));
        (0..number).for_each(|n| spend(out, &format!("m{n}"), Some(3 + i64::try_from(n).unwrap()), None));
    });
    let mut account = Account::default();
    account.follow(&transcript, 10);
    assert_eq!([0, 1].map(|turn| account.knows(&transcript, turn)), [true, false]);
    account.follow(&transcript, usize::MAX);
    assert!(account.knows(&transcript, 1) && account.is_whole(&transcript));
}

#[test]
fn lanes_that_grow_change_only_their_turn() {
    let (mut transcript, mut account) = told(|out| {
        prompt(out, "p1", Some(0));
        let kinds = vec![call(out, "c", "task", Some(1))];
        entry(out, "m", Role::Assistant, Some(1), kinds);
        out.meta(MetaEdit::Lane { name: Text::from("lane"), label: None, call: Some(Text::from("c")) });
        prompt(out, "p2", Some(100));
    });
    for n in 0..3 {
        let mut batch = Batch::default();
        spend(&mut batch, &format!("s{n}"), Some(200 + n), Some("lane"));
        let touched = transcript.apply(batch);
        transcript.settle();
        assert!(account.note(&transcript, &touched));
        account.follow(&transcript, usize::MAX);
        assert_eq!(requests(&transcript, &account), [u64::try_from(n).unwrap() + 1, 0]);
    }
    assert_eq!(account.turn(&transcript, 0).span_ms(), Some(202_000), "until its sub-agent is done");
}

#[test]
fn a_turn_of_many_pages_is_the_sum_of_them() {
    let number = PAGE * 3;
    let (mut transcript, mut account) = told(|out| {
        prompt(out, "p1", Some(0));
        spend(out, "a", Some(1), None);
        prompt(out, "p2", Some(2));
        (0..number).for_each(|n| spend(out, &format!("m{n}"), Some(3 + i64::try_from(n).unwrap()), None));
        prompt(out, "p3", Some(5_000));
    });
    let all = u64::try_from(number).unwrap();
    assert_eq!(requests(&transcript, &account), [1, all, 0]);
    assert_eq!(account.turn(&transcript, 1).work_ms(), Some(all * 1_000));
    // An entry in the middle becomes a prompt.
    let mut batch = Batch::default();
    prompt(&mut batch, &format!("m{}", PAGE + 20), Some(3 + 20 + i64::try_from(PAGE).unwrap()));
    let touched = transcript.apply(batch);
    transcript.settle();
    assert!(account.note(&transcript, &touched));
    while !account.follow(&transcript, 1) {}
    let first = u64::try_from(PAGE).unwrap() + 20;
    assert_eq!(requests(&transcript, &account), [1, first, all - first, 0]);
}

#[test]
fn some_entries_are_added_up_by_pages_and_come_to_the_same() {
    let number = PAGE * 3 + 9;
    let (transcript, mut account) = told(|out| {
        (0..number).for_each(|n| spend(out, &format!("m{n}"), Some(i64::try_from(n).unwrap()), None));
    });
    let order = transcript.order().to_vec();
    let gap = [order.get(..7).unwrap(), order.get(9..PAGE * 2 + 40).unwrap()].concat();
    let first = [order.get(..PAGE * 2).unwrap(), order.get(PAGE * 3..).unwrap()].concat();
    for (ids, single) in [(order.clone(), 4), (gap, PAGE - 2 + 1 + 40), (first, 3)] {
        let (mut most, mut facts, mut known) = (10_000, TurnFacts::default(), 0);
        known += account.add_some(&transcript, ids.get(known..).unwrap(), &mut most, &mut facts);
        let each = TurnFacts::of(ids.iter().filter_map(|id| transcript.get(*id)));
        assert_eq!((known, facts.totals.sum()), (ids.len(), each.totals.sum()));
        assert_eq!((facts.started, facts.ended), (each.started, each.ended));
        assert_eq!(10_000 - most, single, "pages count as one");
    }
    let mut most = 2;
    let mut facts = TurnFacts::default();
    assert_eq!(account.add_some(&transcript, &order, &mut most, &mut facts), 2 * PAGE, "no more than that");
    account.clear();
    assert_eq!(account.add_some(&transcript, &order, &mut most, &mut facts), 0, "nothing is judged yet");
}
