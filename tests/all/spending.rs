//! Tests of usage and cost: the sums of all groupings equal the totals of the session, recorded
//! cost is the agent's, and estimates follow the price table. Over all fixtures, and over real
//! files where they are available.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tv::analysis::account::Account;
use tv::analysis::context::window::Windows;
use tv::analysis::context::window::carried::Carried;
use tv::analysis::context::window::weigh::ContextClass;
use tv::analysis::derived::Memo;
use tv::analysis::money::cost::usd;
use tv::analysis::money::cost::{self, CostSource};
use tv::analysis::money::models;
use tv::analysis::money::spending::amount::Amount;
use tv::analysis::money::spending::arithmetic::{Arithmetic, Bill};
use tv::analysis::money::spending::statement::{Grouping, Statement};
use tv::analysis::money::spending::{Charge, For};
use tv::ingest::{self, Target};
use tv::model::edit::{Feed, Stage};
use tv::model::entry::Role;
use tv::model::text::Name;
use tv::model::totals::ModelUsage;
use tv::model::transcript::Transcript;
use tv::model::usage::Scope;

use crate::corpus::{self, corpora, say};
use crate::fixtures;

const GROUPINGS: [Grouping; 4] = [
    Grouping::Models,
    Grouping::Lanes,
    Grouping::Turns,
    Grouping::Requests,
];

fn statement(transcript: &Transcript) -> Statement {
    Memo::<Statement>::compute(transcript, &Account::of(transcript))
}

fn tokens(amount: &Amount) -> [i64; 6] {
    amount.tokens().map(|tokens| tokens.total)
}

fn tokens_of(spent: &ModelUsage) -> [i64; 6] {
    let sums = [
        spent.input,
        spent.output,
        spent.reasoning,
        spent.cache_read,
        spent.cache_write,
        spent.cache_write_1h,
    ];
    sums.map(|sum| i64::try_from(sum.total).unwrap())
}

/// Whether the agent sums up whole runs.
fn has_runs(transcript: &Transcript) -> bool {
    let own = transcript
        .entries()
        .filter_map(|entry| entry.usage.as_deref());
    let beside = transcript.asides().map(|(_, aside)| &aside.usage);
    own.chain(beside)
        .any(|usage| matches!(usage.scope, Scope::Run | Scope::Total | Scope::Fallback))
}

/// Requests = turns with what lies outside = models = lanes = totals, in tokens and in money.
fn check(name: &str, transcript: &Transcript) -> Statement {
    let statement = statement(transcript);
    let sum = transcript.totals().sum();
    for by in GROUPINGS {
        let mut all = Amount::default();
        statement
            .rows(by)
            .iter()
            .for_each(|row| all.plus(&row.amount));
        assert_eq!(tokens(&all), tokens_of(&sum), "{name}: tokens by {by:?}");
        assert_eq!(all.requests, sum.requests, "{name}: requests by {by:?}");
        assert_eq!(all.money, statement.total.money, "{name}: money by {by:?}");
        assert_eq!(all.saved, statement.total.saved, "{name}: {by:?}");
        let last = statement.rows(by).last().map_or(0, |row| row.cumulative);
        assert_eq!(
            last,
            statement.total.money.picos(),
            "{name}: cumulative by {by:?}"
        );
    }
    let cost = cost::of(transcript.totals());
    let total = usd(statement.total.money.picos());
    assert!(
        (cost.usd.unwrap_or(0.0) - total).abs() < 1e-9,
        "{name}: {cost:?} and {total}"
    );
    check_without_runs(name, transcript, &statement);
    check_arithmetic(name, &statement);
    check_carried(name, transcript, &statement);
    statement
}

/// What was carried and what was answered is the cost of all requests; nothing of it is less than nothing but for
/// rounding, and calls have what their class has.
fn check_carried(name: &str, transcript: &Transcript, statement: &Statement) {
    let windows = Memo::<Windows>::of(transcript);
    let carried = Memo::<Carried>::compute(transcript, &windows);
    let is_request = |charge: &&Charge| {
        let entry = charge.entry.filter(|_| charge.is_own);
        entry
            .and_then(|id| transcript.get(id))
            .is_some_and(|entry| {
                let usage = entry.usage.as_ref();
                let has_prompt = usage.is_some_and(|usage| {
                    let parts = [usage.input, usage.cache_read, usage.cache_write];
                    parts.into_iter().flatten().sum::<u64>() > 0
                });
                entry.role == Role::Assistant
                    && charge.what == For::Request
                    && has_prompt
                    && !entry.marks.copy
            })
    };
    let requests = statement.charges.iter().filter(is_request);
    let paid: i128 = requests.map(|charge| charge.amount.money.picos()).sum();
    assert_eq!(carried.total(), paid, "{name}");
    let rounding = -1_000 - paid / 1_000_000_000;
    let parts = carried.classes().map(|(_, picos)| picos);
    for picos in parts.chain([carried.unexplained, carried.answers]) {
        assert!(picos >= rounding, "{name}: {picos} of {paid}: {carried:?}");
    }
    let results: i128 = carried.results().map(|(_, one)| one.picos).sum();
    let class = carried
        .classes()
        .find(|(class, _)| *class == ContextClass::Result);
    assert_eq!(class.map(|(_, picos)| picos), Some(results), "{name}");
}

/// Without sums of runs there is nothing beyond the requests, and each model has what the totals say.
fn check_without_runs(name: &str, transcript: &Transcript, statement: &Statement) {
    let beyond = statement
        .charges
        .iter()
        .filter(|charge| charge.what == For::Run)
        .count();
    if has_runs(transcript) {
        return;
    }
    assert_eq!(beyond, 0, "{name}");
    let by_model = transcript.totals().by_model();
    let mut sums: BTreeMap<Name, Amount> = BTreeMap::new();
    for charge in &statement.charges {
        sums.entry(charge.model.clone())
            .or_default()
            .plus(&charge.amount);
    }
    for (model, spent) in by_model.iter() {
        let sum = sums.remove(model).unwrap_or_default();
        assert_eq!(tokens(&sum), tokens_of(spent), "{name}: {model}");
        assert_eq!(
            sum.money.recorded,
            i128::from(spent.recorded_nanos) * 1_000,
            "{name}: {model}"
        );
    }
    assert!(sums.values().all(Amount::is_nothing), "{name}: {sums:?}");
    let source = statement.total.money.source();
    assert_eq!(source, cost::of(transcript.totals()).source, "{name}");
}

/// The products of each row are its estimate.
fn check_arithmetic(name: &str, statement: &Statement) {
    for by in [Grouping::Turns, Grouping::Requests] {
        for row in statement.rows(by) {
            let made = Arithmetic::of(&statement.charges_of(Some(&row.group), by));
            let products: i128 = made.estimated.iter().map(Bill::picos).sum();
            let sum =
                products + made.recorded.map_or(0, |(picos, _)| picos) + made.runs.unwrap_or(0);
            assert_eq!(sum, row.amount.money.picos(), "{name}: {:?}", row.group);
        }
    }
}

#[test]
fn all_groupings_of_all_fixtures_add_up_to_their_totals() {
    let (mut sessions, mut spent) = (0, 0);
    for path in fixtures::all() {
        for target in fixtures::targets(&path) {
            let transcript = fixtures::read(&target).transcript;
            let statement = check(&fixtures::name(&path), &transcript);
            sessions += 1;
            spent += usize::from(!statement.charges.is_empty());
        }
    }
    assert!(
        sessions > 40 && spent > 25,
        "{spent} of {sessions} fixtures spent anything"
    );
}

#[test]
fn what_is_read_twice_is_spent_once() {
    for path in fixtures::all() {
        for target in fixtures::targets(&path) {
            let session = fixtures::read(&target);
            let before = statement(&session.transcript);
            let mut transcript = session.transcript;
            for batch in fixtures::reread(session.batches) {
                transcript.apply(batch);
            }
            transcript.update_derived();
            let after = statement(&transcript);
            assert_eq!(before.charges, after.charges, "{}", fixtures::name(&path));
            assert_eq!(before.rows(Grouping::Turns), after.rows(Grouping::Turns));
        }
    }
}

/// Sessions of a real file; nothing if no format knows it.
fn read(path: &Path) -> Vec<(String, String, Transcript)> {
    let whole = Target {
        path: path.to_owned(),
        session: None,
    };
    let is_many = path
        .extension()
        .is_some_and(|end| end == "db" || end == "sqlite");
    let targets = match ingest::sessions(&whole) {
        Ok(heads) if is_many && !heads.is_empty() => {
            let of = |head: ingest::SessionHead| Target {
                path: path.to_owned(),
                session: Some(head.id),
            };
            heads.into_iter().map(of).collect()
        }
        _ => vec![whole],
    };
    let mut found = Vec::new();
    for target in targets {
        let Ok(session) = ingest::open(&target) else {
            continue;
        };
        let format = session.opened.format.to_string();
        let mut transcript = Transcript::new();
        session.read_whole(true, &mut |feed| {
            if let Feed::Batch {
                stage: Stage::Whole,
                batch,
            } = feed
            {
                transcript.apply(*batch);
            }
        });
        transcript.update_derived();
        let id = target
            .session
            .as_ref()
            .map(|id| format!("#{id}"))
            .unwrap_or_default();
        found.push((format!("{}{id}", path.display()), format, transcript));
    }
    found
}

#[test]
fn all_groupings_of_real_files_add_up_to_their_totals() {
    for corpus in corpora() {
        let (mut files, mut spent, mut requests, mut recorded) = (0, 0, 0, 0);
        let mut largest: f64 = 0.0;
        for path in corpus.files() {
            for (name, _, transcript) in read(&path) {
                let statement = check(&name, &transcript);
                files += 1;
                requests += statement.total.requests;
                spent += usize::from(!statement.is_empty());
                // What is recorded of single requests adds up to the session's figure, added as it was written.
                let usages = transcript
                    .entries()
                    .filter_map(|entry| entry.usage.as_deref());
                let beside = transcript.asides().map(|(_, aside)| &aside.usage);
                let costs: Vec<f64> = usages
                    .chain(beside)
                    .filter_map(|usage| usage.cost)
                    .collect();
                let cost = cost::of(transcript.totals());
                if !costs.is_empty()
                    && cost.source == CostSource::Recorded
                    && !has_runs(&transcript)
                {
                    recorded += 1;
                    let off = (costs.iter().sum::<f64>() - cost.usd.unwrap()).abs();
                    assert!(off < 1e-6, "{name}: off by {off}");
                    largest = largest.max(off);
                }
            }
        }
        say(&format!(
            "{files} sessions, {spent} of them with usage, {requests} requests; {recorded} with recorded cost only, off by {largest:e} USD at most"
        ));
        assert!(files > corpus.least(40, 200) && recorded > corpus.least(5, 20));
    }
}

/// What a second program counts in a file, with and without its companions: of our fixtures it is kept in
/// `counted.jsonl`, real files it is asked for.
fn counted(path: &Path) -> Vec<Value> {
    let lines =
        |text: &str| -> Vec<Value> { text.lines().flat_map(serde_json::from_str).collect() };
    if let Ok(name) = path.strip_prefix(fixtures::root()) {
        let mut kept = lines(include_str!("../fixtures/counted.jsonl"));
        kept.retain(|kept| kept["path"].as_str().map(Path::new) == Some(name));
        return kept;
    }
    let Some(tool) = corpus::beside("tools/reference.py") else {
        return Vec::new();
    };
    let asked = [&[][..], &["--companions"][..]].map(|options| {
        let done = Command::new("python3")
            .arg(&tool)
            .args(options)
            .arg(path)
            .output()
            .unwrap();
        lines(&String::from_utf8_lossy(&done.stdout))
    });
    asked.concat()
}

#[test]
fn recorded_cost_of_real_files_is_what_the_reference_counts() {
    for corpus in corpora() {
        let (mut compared, mut largest) = (0, 0.0_f64);
        for path in corpus.of(&["pi", "openclaw", "opencode", "cline", "claude-code"]) {
            let sessions = read(&path);
            let [(name, format, transcript)] = sessions.as_slice() else {
                continue;
            };
            // The reference does not look into results, where pi keeps what sub-agents did, nor for files that only
            // records of ours name.
            if (format == "pi" || corpus.is_ours()) && !transcript.lanes().is_empty() {
                continue;
            }
            // Nor does it count what was paid for messages that a rewind deleted.
            let beside = std::fs::read_to_string(path.with_file_name("ui_messages.json"));
            if beside.is_ok_and(|text| text.contains("deleted_api_reqs")) {
                continue;
            }
            let cost = cost::of(transcript.totals());
            if cost.source != CostSource::Recorded {
                continue;
            }
            let counts = counted(&path);
            let costs: Vec<f64> = counts
                .iter()
                .filter_map(|count| count["cost_usd"].as_f64())
                .collect();
            let Some(off) = costs
                .iter()
                .map(|usd| (usd - cost.usd.unwrap()).abs())
                .min_by(f64::total_cmp)
            else {
                continue;
            };
            // The reference rounds to six decimals.
            assert!(off < 1.5e-6, "{name}: {costs:?} and {cost:?}");
            compared += 1;
            largest = largest.max(off);
        }
        say(&format!(
            "{compared} files with recorded cost, off by {largest:e} USD at most"
        ));
        assert!(compared > corpus.least(5, 10));
    }
}

#[test]
fn tokens_and_estimates_of_claude_code_are_what_the_reference_counts() {
    for corpus in corpora() {
        let (mut files, mut requests, mut largest) = (0, 0_u64, 0.0_f64);
        for path in corpus.of(&["claude-code"]) {
            let counts = counted(&path);
            for (name, format, transcript) in read(&path) {
                let is_elsewhere = corpus.is_ours() && !transcript.lanes().is_empty();
                if format != "claude-code" || counts.is_empty() || is_elsewhere {
                    continue;
                }
                let sum = transcript.totals().sum();
                let ours =
                    [sum.input, sum.output, sum.cache_read, sum.cache_write].map(|sum| sum.total);
                let theirs: Vec<[u64; 4]> = counts
                    .iter()
                    .map(|count| {
                        ["input", "output", "cache_read", "cache_write"]
                            .map(|class| count["usage"][class].as_u64().unwrap_or(0))
                    })
                    .collect();
                let reading = theirs.iter().position(|theirs| *theirs == ours);
                assert!(reading.is_some(), "{name}: {ours:?} and {theirs:?}");
                files += 1;
                requests += sum.requests;
                let with_companions =
                    reading.is_some_and(|reading| reading >= counts.len() / 2 && theirs[0] != ours);
                // It knows list prices alone.
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                if ["\"inference_geo\":\"us\"", "\"speed\":\"fast\""]
                    .iter()
                    .any(|term| text.contains(term))
                {
                    continue;
                }
                let wanted = reckoned(&path, with_companions);
                let estimate = usd(statement(&transcript).total.money.estimated);
                let off = (wanted - estimate).abs();
                assert!(off < 1e-6, "{name}: {wanted} and {estimate}");
                largest = largest.max(off);
            }
        }
        say(&format!(
            "{files} files, {requests} requests; estimates off by {largest:e} USD at most"
        ));
        assert!(files > corpus.least(2, 15) && requests > corpus.least(3, 100) as u64);
    }
}

/// A second reckoning from the records themselves, in floating point: of the lines of one answer and
/// request the one with most output, times the prices of the table as it is written.
fn reckoned(path: &Path, with_companions: bool) -> f64 {
    let table: Value = serde_json::from_str(include_str!("../../assets/prices.json")).unwrap();
    let mut paths = vec![path.to_owned()];
    if with_companions {
        let below = corpus::files(&path.with_extension("").join("subagents"));
        paths.extend(
            below
                .into_iter()
                .filter(|path| path.extension().is_some_and(|end| end == "jsonl")),
        );
    }
    let mut seen: HashSet<String> = HashSet::new();
    let mut uses: HashMap<(String, String), Value> = HashMap::new();
    for (place, line) in paths
        .iter()
        .flat_map(|path| {
            std::fs::read_to_string(path)
                .unwrap()
                .lines()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .enumerate()
    {
        let Ok(line) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        let message = &line["message"];
        let is_answer = line["type"] == "assistant" && message["model"] != "<synthetic>";
        if !is_answer
            || !message["usage"].is_object()
            || line["costUSD"].as_f64().is_some_and(|usd| usd > 0.0)
        {
            continue;
        }
        if !line["uuid"]
            .as_str()
            .is_none_or(|uuid| seen.insert(uuid.to_owned()))
        {
            continue;
        }
        let id = message["id"]
            .as_str()
            .filter(|id| !id.starts_with("[REDACTED"));
        let id = id.map_or_else(|| place.to_string(), str::to_owned);
        let output = |value: &Value| {
            value["message"]["usage"]["output_tokens"]
                .as_u64()
                .unwrap_or(0)
        };
        let known = uses
            .entry((id, line["requestId"].to_string()))
            .or_insert_with(|| line.clone());
        if output(&line) > output(known) {
            *known = line;
        }
    }
    uses.values()
        .map(|line| priced(&line["message"], &table))
        .sum()
}

fn priced(message: &Value, table: &Value) -> f64 {
    let prices = &table["models"][models::canonical(message["model"].as_str().unwrap_or(""))];
    let usage = &message["usage"];
    let count = |name: &str| usage[name].as_f64().unwrap_or(0.0).max(0.0);
    let [input, output] = ["input_tokens", "output_tokens"].map(count);
    let [read, write] = ["cache_read_input_tokens", "cache_creation_input_tokens"].map(count);
    let long = usage["cache_creation"]["ephemeral_1h_input_tokens"]
        .as_f64()
        .unwrap_or(0.0)
        .min(write);
    let searches = usage["server_tool_use"]["web_search_requests"]
        .as_f64()
        .unwrap_or(0.0);
    let beyond = prices["above"]["200000"].is_object() && input + read + write > 200_000.0;
    let rate = |name: &str, otherwise: &str| {
        let usual = prices[name]
            .as_f64()
            .or(prices[otherwise].as_f64())
            .or(prices["input"].as_f64());
        let above = beyond
            .then(|| prices["above"]["200000"][name].as_f64())
            .flatten();
        above.or(usual).unwrap_or(0.0)
    };
    let micros = input * rate("input", "input")
        + output * rate("output", "output")
        + read * rate("cache_read", "input")
        + (write - long) * rate("cache_write_5m", "input")
        + long * rate("cache_write_1h", "cache_write_5m");
    micros / 1e12 + searches * prices["search"].as_f64().unwrap_or(0.0) / 1e6
}
