use super::amount::Amount;
use super::arithmetic::{Arithmetic, precise};
use super::statement::{Group, Grouping, Statement};
use super::{For, RequestOutcome};
use crate::analysis::account::Account;
use crate::analysis::derived::Memo;
use crate::analysis::money::cost::CostSource;
use crate::analysis::money::prices::Tier;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{Block, BlockKind, Break, Entry, EntryId, Piece, Role, Stop};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolKind, ToolState};
use crate::model::transcript::Transcript;
use crate::model::usage::{Scope, Usage};

const OPUS: &str = "claude-opus-4-6";

fn entry(batch: &mut Batch, key: &str, role: Role) -> Entry {
    batch.new_entry(Key::from(key), role, None)
}

fn prompt(batch: &mut Batch, key: &str) {
    let mut entry = entry(batch, key, Role::User);
    entry.marks.prompt = true;
    batch.entry(entry);
}

fn usage(input: u64, cost: Option<f64>) -> Usage {
    Usage {
        input: Some(input),
        output: Some(0),
        cost,
        ..Usage::default()
    }
}

fn answer(batch: &mut Batch, key: &str, model: &str, usage: Usage) -> Entry {
    let mut entry = entry(batch, key, Role::Assistant);
    entry.model = Some(model.into());
    entry.usage = Some(Box::new(usage));
    entry
}

fn said(break_: Break) -> Block {
    Block::new(Piece(7), BlockKind::Break(break_))
}

fn transcript_of(batch: Batch) -> Transcript {
    let mut transcript = Transcript::new();
    transcript.apply(batch);
    transcript.update_derived();
    transcript
}

fn statement(transcript: &Transcript) -> Statement {
    Memo::compute(transcript, &Account::of(transcript))
}

/// Checks that the sums of all groupings are the totals of the session.
fn check(transcript: &Transcript) -> Statement {
    let statement = statement(transcript);
    let sum = transcript.totals().sum();
    for by in [
        Grouping::Models,
        Grouping::Lanes,
        Grouping::Turns,
        Grouping::Requests,
    ] {
        let mut all = Amount::default();
        statement
            .rows(by)
            .iter()
            .for_each(|row| all.plus(&row.amount));
        assert_eq!(all.requests, sum.requests, "{by:?}");
        let tokens = all
            .tokens()
            .map(|tokens| u64::try_from(tokens.total).unwrap());
        let wanted = [
            sum.input,
            sum.output,
            sum.reasoning,
            sum.cache_read,
            sum.cache_write,
            sum.cache_write_1h,
        ];
        assert_eq!(tokens, wanted.map(|sum| sum.total), "{by:?}");
        assert_eq!(all.money.picos(), statement.total.money.picos(), "{by:?}");
    }
    statement
}

fn money(statement: &Statement, by: Grouping) -> Vec<(Group, i128)> {
    statement
        .rows(by)
        .into_iter()
        .map(|row| (row.group, row.amount.money.picos() / 1_000_000))
        .collect()
}

#[test]
fn every_request_counts_once_in_every_grouping() {
    let mut batch = Batch::default();
    let early = answer(&mut batch, "early", OPUS, usage(1, None));
    batch.entry(early);
    prompt(&mut batch, "p1");
    let one = answer(&mut batch, "a1", OPUS, usage(1_000, None));
    batch.entry(one);
    let sub = Entry {
        lane: Some("helper".into()),
        ..answer(&mut batch, "s1", "unheard-of-5", usage(10, Some(0.5)))
    };
    batch.entry(sub);
    prompt(&mut batch, "p2");
    let two = answer(&mut batch, "a2", OPUS, usage(2_000, None));
    batch.entry(two);
    let transcript = transcript_of(batch);
    let statement = check(&transcript);
    let id = |key: &str| transcript.find(key).unwrap();
    assert_eq!(
        money(&statement, Grouping::Turns),
        [
            (Group::Outside, 5),
            (Group::Turn(id("p1")), 505_000),
            (Group::Turn(id("p2")), 10_000)
        ]
    );
    assert_eq!(
        money(&statement, Grouping::Models),
        [
            (Group::Model(OPUS.into()), 15_005),
            (Group::Model("unheard-of-5".into()), 500_000)
        ]
    );
    assert_eq!(
        money(&statement, Grouping::Lanes),
        [
            (Group::Lane(None), 15_005),
            (Group::Lane(Some("helper".into())), 500_000)
        ]
    );
    assert_eq!(statement.rows(Grouping::Requests).len(), 4);
    assert_eq!(
        statement
            .rows(Grouping::Requests)
            .last()
            .unwrap()
            .cumulative,
        statement.total.money.picos()
    );
    assert_eq!(statement.total.money.source(), CostSource::Mixed);
}

#[test]
fn a_sub_agent_read_later_belongs_to_the_turn_that_started_it() {
    let mut batch = Batch::default();
    prompt(&mut batch, "p1");
    let mut caller = answer(&mut batch, "a1", OPUS, usage(1_000, None));
    let call = ToolCall {
        key: "c1".into(),
        name: "task".into(),
        kind: ToolKind::Delegate,
        headline: Text::default(),
        input: batch.prose("look"),
        state: ToolState::Pending,
        started: None,
        lane: None,
    };
    caller.push_piece(Piece(1), BlockKind::Call(Box::new(call)));
    batch.entry(caller);
    prompt(&mut batch, "p2");
    batch.meta(MetaEdit::Lane {
        name: "helper".into(),
        label: None,
        call: Some("c1".into()),
    });
    let sub = Entry {
        lane: Some("helper".into()),
        ..answer(&mut batch, "s1", OPUS, usage(3_000, None))
    };
    batch.entry(sub);
    let transcript = transcript_of(batch);
    let statement = check(&transcript);
    let p1 = Group::Turn(transcript.find("p1").unwrap());
    assert_eq!(money(&statement, Grouping::Turns), [(p1, 20_000)]);
    let account = Account::of(&transcript);
    let spent = |turn| {
        account
            .turn(&transcript, turn)
            .facts
            .totals
            .sum()
            .input
            .total
    };
    assert!(
        spent(0) > 0 && spent(1) == 0,
        "the outline and the header say the same"
    );
}

#[test]
fn what_is_recorded_beside_the_entries_has_a_place() {
    let mut batch = Batch::default();
    prompt(&mut batch, "p1");
    let of_tool = Usage {
        scope: Scope::Extra,
        ..usage(10, Some(0.25))
    };
    batch.push(Edit::Usage {
        of: "tool".into(),
        usage: Box::new(of_tool),
        model: None,
    });
    prompt(&mut batch, "p2");
    let transcript = transcript_of(batch);
    let statement = check(&transcript);
    assert_eq!(
        money(&statement, Grouping::Turns),
        [(Group::Turn(transcript.find("p1").unwrap()), 250_000)]
    );
    assert_eq!(
        (statement.charges[0].what, statement.charges[0].is_own),
        (For::Extra, false)
    );
}

#[test]
fn runs_count_beyond_their_requests() {
    let mut batch = Batch::default();
    prompt(&mut batch, "p1");
    let one = answer(&mut batch, "a1", OPUS, usage(1_000, None));
    batch.entry(one);
    let run = Usage {
        scope: Scope::Run,
        ..usage(4_000, None)
    };
    batch.push(Edit::Usage {
        of: "r:m".into(),
        usage: Box::new(run),
        model: Some(OPUS.into()),
    });
    let cost = Usage {
        scope: Scope::Fallback,
        cost: Some(0.021),
        ..Usage::default()
    };
    batch.push(Edit::Usage {
        of: "r".into(),
        usage: Box::new(cost),
        model: None,
    });
    let transcript = transcript_of(batch);
    let statement = check(&transcript);
    let p1 = Group::Turn(transcript.find("p1").unwrap());
    assert_eq!(
        money(&statement, Grouping::Turns),
        [(p1, 5_000), (Group::Run, 16_000)]
    );
    assert_eq!(
        money(&statement, Grouping::Models),
        [(Group::Model(OPUS.into()), 20_000), (Group::Run, 1_000)]
    );
    assert_eq!(statement.cost.as_ref().unwrap().usd, Some(0.021));
    assert_eq!(
        (
            statement.total.money.compared,
            statement.total.money.expected
        ),
        (21_000_000_000, 20_000_000_000)
    );
}

#[test]
fn what_was_spent_for_nothing_is_counted_apart() {
    let mut batch = Batch::default();
    let mut failed = answer(&mut batch, "a1", OPUS, usage(1_000, None));
    failed.blocks.push(said(Break::Error("overloaded".into())));
    batch.entry(failed);
    let again = Entry {
        stop: Stop::Other,
        ..answer(&mut batch, "a2", OPUS, usage(1_000, None))
    };
    batch.entry(again);
    let mut mended = answer(&mut batch, "a3", OPUS, usage(1_000, None));
    mended
        .blocks
        .push(said(Break::Error("attempt 1 failed".into())));
    mended.push_piece(Piece(9), BlockKind::Text(batch.prose("done")));
    batch.entry(mended);
    let mut stopped = answer(&mut batch, "a4", OPUS, usage(2_000, None));
    stopped.push_piece(Piece(9), BlockKind::Text(batch.prose("I will")));
    batch.entry(stopped);
    let mut stop = entry(&mut batch, "u1", Role::User);
    stop.blocks.push(said(Break::Interrupted(Text::default())));
    batch.entry(stop);
    let mut nothing = entry(&mut batch, "e1", Role::Harness);
    nothing.blocks.push(said(Break::Error("429".into())));
    batch.entry(nothing);
    let statement = check(&transcript_of(batch));
    let fates: Vec<RequestOutcome> = statement.charges.iter().map(|charge| charge.fate).collect();
    assert_eq!(
        fates,
        [
            RequestOutcome::Failed,
            RequestOutcome::Failed,
            RequestOutcome::Fine,
            RequestOutcome::Aborted
        ]
    );
    assert_eq!(
        (statement.failed.input.total, statement.aborted.input.total),
        (2_000, 2_000)
    );
    assert_eq!(statement.without_tokens, 1);
}

#[test]
fn an_answer_that_called_tools_was_complete_when_it_was_stopped() {
    let mut batch = Batch::default();
    let done = Entry {
        stop: Stop::Calls,
        ..answer(&mut batch, "a1", OPUS, usage(1_000, None))
    };
    batch.entry(done);
    let mut stop = entry(&mut batch, "u1", Role::User);
    stop.blocks.push(said(Break::Interrupted(Text::default())));
    batch.entry(stop);
    assert_eq!(
        check(&transcript_of(batch)).charges[0].fate,
        RequestOutcome::Fine
    );
}

#[test]
fn branches_that_were_left_have_their_bill() {
    let mut batch = Batch::default();
    batch.meta(MetaEdit::LinkedTree);
    let linked = |batch: &mut Batch, key: &str, parent: Option<&str>| {
        let entry = answer(batch, key, OPUS, usage(1_000, None));
        batch.entry(Entry {
            parent: parent.map(Key::from),
            ..entry
        });
    };
    linked(&mut batch, "a", None);
    linked(&mut batch, "b", Some("a"));
    linked(&mut batch, "c", Some("a"));
    let transcript = transcript_of(batch);
    let statement = check(&transcript);
    assert_eq!(statement.left.len(), 1);
    assert_eq!(
        (
            statement.left[0].branch,
            statement.abandoned_total().input.total
        ),
        (1, 1_000)
    );
}

#[test]
fn the_cache_saves_what_reads_cost_less_and_writes_cost_more() {
    let mut batch = Batch::default();
    let cached = Usage {
        input: Some(0),
        output: Some(0),
        cache_read: Some(1_000_000),
        cache_write: Some(300_000),
        cache_write_1h: Some(100_000),
        ..Usage::default()
    };
    // A single request, so the limit for long prompts applies; this model has none.
    let one = answer(&mut batch, "a", OPUS, cached.clone());
    batch.entry(one);
    let two = answer(&mut batch, "b", "unheard-of-5", cached);
    batch.entry(two);
    let statement = check(&transcript_of(batch));
    // 1 M × (5 − 0.5) − 0.2 M × (6.25 − 5) − 0.1 M × (10 − 5)
    assert_eq!(statement.total.saved, 3_750_000_000_000);
    assert_eq!(
        (statement.total.cached, statement.total.cached_priced),
        (2, 1)
    );
    assert_eq!(statement.total.hit_percent(), Some(76));
}

#[test]
fn the_products_are_the_estimate() {
    let mut batch = Batch::default();
    let one = Usage {
        input: Some(12_345),
        output: Some(1_200),
        cache_read: Some(7),
        cache_write: Some(30),
        cache_write_1h: Some(10),
        searches: Some(2),
        ..Usage::default()
    };
    let usual = answer(&mut batch, "a", OPUS, one.clone());
    batch.entry(usual);
    let batched = answer(
        &mut batch,
        "b",
        OPUS,
        Usage {
            terms: vec!["batch".into()],
            ..one.clone()
        },
    );
    batch.entry(batched);
    let long = answer(&mut batch, "c", "gpt-5.4", usage(300_000, None));
    batch.entry(long);
    let recorded = answer(
        &mut batch,
        "d",
        OPUS,
        Usage {
            cost: Some(1.0),
            ..one
        },
    );
    batch.entry(recorded);
    let unknown = answer(&mut batch, "e", "unheard-of-5", usage(9, None));
    batch.entry(unknown);
    let statement = check(&transcript_of(batch));
    let made = Arithmetic::of(&statement.charges_of(None, Grouping::Turns));
    let sum: i128 = made
        .estimated
        .iter()
        .map(super::arithmetic::Bill::picos)
        .sum();
    assert_eq!(sum, statement.total.money.estimated);
    let tiers: Vec<Tier> = made
        .estimated
        .iter()
        .map(|bill| bill.tier.clone())
        .collect();
    let long = Tier {
        above: Some(272_000),
        ..Tier::default()
    };
    let batch = Tier {
        terms: vec!["batch".into()],
        ..Tier::default()
    };
    assert_eq!(tiers, [long, Tier::default(), batch], "the greatest first");
    let words: Vec<String> = made.estimated[1]
        .products
        .iter()
        .map(|p| format!("{} {} × {}", p.count, p.class, p.price()))
        .collect();
    assert_eq!(
        words,
        [
            "12345 input × $5.00/M",
            "1200 output × $25.00/M",
            "7 cache read × $0.50/M",
            "20 cache write × $6.25/M",
            "10 cache write 1h × $10.00/M",
            "2 search × $0.01 each",
        ]
    );
    assert_eq!(made.recorded, Some((1_000_000_000_000, 1)));
    assert_eq!(made.expected[0].picos(), made.estimated[1].picos());
    assert_eq!(made.unpriced, [("unheard-of-5".into(), 9)]);
    assert_eq!(precise(37_035_000_000), "$0.037035");
}

#[test]
fn what_changes_later_is_counted_anew() {
    let mut batch = Batch::default();
    prompt(&mut batch, "p1");
    let bare = entry(&mut batch, "a1", Role::Assistant);
    batch.entry(bare);
    let two = answer(&mut batch, "a2", OPUS, usage(1_000, None));
    batch.entry(two);
    let mut transcript = transcript_of(batch);
    let mut grown = Memo::<Statement>::default();
    let mut follow = |transcript: &Transcript, changed: &[EntryId]| {
        for id in changed {
            grown.change(transcript, *id);
        }
        assert!(grown.follow_with(transcript, &Account::of(transcript), usize::MAX));
        assert_eq!(*grown, statement(transcript));
        grown.total.input.total
    };
    assert_eq!(follow(&transcript, &[]), 1_000);
    let mut later = Batch::default();
    let one = Entry {
        at: Some(Timestamp(5)),
        ..answer(&mut later, "a1", OPUS, usage(500, None))
    };
    later.entry(one);
    let changed = transcript.apply(later).changed;
    assert_eq!(follow(&transcript, &changed), 1_500);
    let mut more = Batch::default();
    more.push(Edit::Usage {
        of: "a1".into(),
        usage: Box::new(usage(900, None)),
        model: None,
    });
    let changed = transcript.apply(more).changed;
    assert_eq!(follow(&transcript, &changed), 1_900);
}
