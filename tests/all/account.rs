//! Tests of the account: all surfaces show the same figures for a turn and for the session, and
//! turns plus overhead add up to the session. Over all fixtures, and over real files where they are
//! available.

use std::collections::HashSet;

use tv::analysis::derived::Memo;
use tv::analysis::money::cost;
use tv::analysis::money::cost::usd;
use tv::analysis::money::spending::amount::Amount;
use tv::analysis::money::spending::statement::{Group, Grouping, Statement, StatementRow};
use tv::analysis::phrases;
use tv::ingest::Target;
use tv::model::entry::EntryId;
use tv::model::text::Name;
use tv::model::timestamp::Timestamp;
use tv::model::transcript::Transcript;
use tv::report::figures;
use tv::report::reading::{self, Reading};

use crate::corpus::{corpora, say};
use crate::fixtures;

/// JSON outputs round money to a millionth of a dollar.
const ROUNDED: f64 = 1e-6;

fn reading_with_figures(target: &Target) -> Option<(Reading, serde_json::Value)> {
    let reading = reading::read(target, true).ok()?;
    let figures = figures::of(&reading, Timestamp(1_700_000_000_000));
    let figures = serde_json::to_value(figures).unwrap();
    Some((reading, figures))
}

fn statement(reading: &Reading) -> Statement {
    Memo::<Statement>::compute(&reading.transcript, &reading.account)
}

/// Tokens of all classes, and requests.
fn of_amount(amount: &Amount) -> [i64; 6] {
    let tokens = [
        amount.input,
        amount.output,
        amount.cache_read,
        amount.cache_write,
        amount.reasoning,
    ];
    let [input, output, read, write, reasoning] = tokens.map(|tokens| tokens.total);
    [
        input,
        output,
        read,
        write,
        reasoning,
        i64::try_from(amount.requests).unwrap(),
    ]
}

fn of_json(usage: &serde_json::Value) -> [i64; 6] {
    let classes = [
        "input",
        "output",
        "cache_read",
        "cache_write",
        "reasoning",
        "requests",
    ];
    classes.map(|class| usage[class].as_i64().unwrap_or(0))
}

/// The statement of money, the list of turns, and the session say the same.
fn check(name: &str, target: &Target) -> Option<usize> {
    let (reading, json) = reading_with_figures(target)?;
    let (transcript, account) = (&reading.transcript, &reading.account);
    let statement = statement(&reading);
    let rows = statement.rows(Grouping::Turns);
    let turns = json["turn_list"].as_array().unwrap();
    assert_eq!(turns.len(), transcript.turns().len(), "{name}");
    for (number, turn) in transcript.turns().iter().enumerate() {
        let spent = account.turn(transcript, number);
        let row = rows
            .iter()
            .find(|row| row.group == Group::Turn(turn.prompt));
        let amount = row.map(|row| row.amount).unwrap_or_default();
        let place = format!("{name}, turn {}", number + 1);
        assert_eq!(
            of_json(&turns[number]["usage"]),
            of_amount(&amount),
            "{place}"
        );
        let (mine, theirs) = (
            spent.cost(),
            row.map_or_else(|| amount.money.cost(), StatementRow::cost),
        );
        assert_eq!(phrases::cost(&mine), phrases::cost(&theirs), "{place}");
        let written = turns[number]["cost"]["usd"].as_f64();
        assert!(
            (written.unwrap_or(0.0) - mine.usd.unwrap_or(0.0)).abs() < ROUNDED,
            "{place}"
        );
        assert_eq!(
            turns[number]["work_ms"].as_u64(),
            spent.work_ms(),
            "{place}"
        );
    }
    let mut beside = Amount::default();
    let of_none = rows
        .iter()
        .filter(|row| !matches!(row.group, Group::Turn(_)));
    of_none.for_each(|row| beside.plus(&row.amount));
    assert_eq!(
        of_json(&json["overhead"]["usage"]),
        of_amount(&beside),
        "{name}: what belongs to no turn"
    );
    let sum: f64 = turns
        .iter()
        .chain([&json["overhead"]])
        .filter_map(|part| part["cost"]["usd"].as_f64())
        .sum();
    let session = cost::of(transcript.totals()).usd.unwrap_or(0.0);
    let rounded = ROUNDED * (turns.len() + 1) as f64;
    assert!(
        (sum - session).abs() < rounded,
        "{name}: {sum} and {session}"
    );
    let left = json["overhead"]["cost"]["usd"].as_f64().unwrap_or(0.0);
    assert!(
        (left - usd(beside.money.picos())).abs() < rounded,
        "{name}: {left}"
    );
    Some(turns.len())
}

/// The entries that were there when an entry came: its own lane up to it, others up to what came later.
fn known_by(transcript: &Transcript, id: EntryId) -> HashSet<EntryId> {
    let cursor = transcript.get(id).unwrap();
    let mut is_over: HashSet<Option<Name>> = HashSet::new();
    let mut known = HashSet::new();
    for entry in transcript
        .order()
        .iter()
        .filter_map(|id| Some((*id, transcript.get(*id)?)))
    {
        let (other, lane) = (entry.1, entry.1.lane.clone());
        if lane != cursor.lane && (cursor.at.is_none() || other.at > cursor.at) {
            is_over.insert(lane.clone());
        }
        if !is_over.contains(&lane) {
            known.insert(entry.0);
        }
        if entry.0 == id {
            is_over.insert(lane);
        }
    }
    known
}

/// Tokens that were written in these entries, as far as they belong to a turn.
fn output_of(
    transcript: &Transcript,
    known: &HashSet<EntryId>,
    is_of_turn: impl Fn(EntryId) -> bool,
) -> u64 {
    let entries = known
        .iter()
        .filter(|id| is_of_turn(**id))
        .filter_map(|id| transcript.get(*id));
    let usages = entries.filter_map(|entry| entry.usage.as_ref());
    let of_entries = usages
        .filter(|usage| usage.scope.is_of_requests())
        .filter_map(|usage| usage.output);
    let asides = transcript
        .asides()
        .filter(|(_, aside)| aside.usage.scope.is_of_requests());
    let is_known = |id: EntryId| known.contains(&id) && is_of_turn(id);
    let asides = asides.filter(|(_, aside)| aside.after.is_some_and(is_known));
    of_entries
        .chain(asides.filter_map(|(_, aside)| aside.usage.output))
        .sum()
}

#[test]
fn as_of_an_entry_counts_what_was_known_by_then() {
    let (mut looks, mut parts) = (0, 0);
    for path in fixtures::all() {
        for target in fixtures::targets(&path) {
            let Some((
                Reading {
                    transcript,
                    account,
                    ..
                },
                _,
            )) = reading_with_figures(&target)
            else {
                continue;
            };
            let order: Vec<EntryId> = transcript.order().to_vec();
            for id in order
                .iter()
                .step_by(order.len() / 20 + 1)
                .chain(order.last())
            {
                let then = account.as_of(&transcript, *id);
                let known = known_by(&transcript, *id);
                for turn in 0..transcript.turns().len() {
                    let is_of_turn = |id: EntryId| account.turn_of(&transcript, id) == Some(turn);
                    let output = output_of(&transcript, &known, is_of_turn);
                    let figures = account.turn_as_of(&transcript, &then, turn);
                    let place = format!(
                        "{}, turn {turn}, entry {}",
                        fixtures::name(&path),
                        id.index()
                    );
                    assert_eq!(figures.facts.totals.sum().output.total, output, "{place}");
                    let whole = account.turn(&transcript, turn);
                    assert!(figures.time.work() <= whole.time.work(), "{place}");
                    parts += usize::from(output < whole.facts.totals.sum().output.total);
                }
                looks += 1;
            }
        }
    }
    assert!(looks > 500 && parts > 300, "{looks} {parts}");
}

#[test]
fn all_surfaces_show_the_same_of_every_turn() {
    let mut turns = 0;
    for path in fixtures::all() {
        for target in fixtures::targets(&path) {
            turns += check(&fixtures::name(&path), &target).unwrap();
        }
    }
    assert!(turns > 80, "{turns}");
}

#[test]
fn all_surfaces_show_the_same_of_every_turn_of_real_files() {
    for corpus in corpora() {
        let (mut sessions, mut turns) = (0, 0);
        for path in corpus.files() {
            let Ok(targets) = reading::sessions(&Target {
                path: path.clone(),
                session: None,
            }) else {
                continue;
            };
            for target in targets {
                let Some(known) = check(&path.display().to_string(), &target) else {
                    continue;
                };
                turns += known;
                sessions += 1;
            }
        }
        say(&format!("{sessions} sessions, {turns} turns"));
        assert!(sessions > corpus.least(40, 200) && turns > corpus.least(80, 1_000));
    }
}
