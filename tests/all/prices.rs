//! Generates `assets/prices.json` from the price table in the Python package litellm (MIT licence):
//!
//! ```text
//! pip download --no-deps litellm && unzip litellm-*.whl 'litellm/model_prices_and_context_window_backup.json'
//! TV_PRICES=litellm/model_prices_and_context_window_backup.json TV_PRICES_SOURCE='litellm 1.109.1' \
//!     TV_PRICES_DATE=2026-11-21 cargo test --test all make_the_price_table -- --ignored
//! ```
//!
//! Only prices and context limits are copied.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use serde_json::{Map, Value, json};
use tv::analysis::money::models::canonical;
use tv::model::totals::PROMPT_LIMITS;

/// Who sells their own models, and those whose price lists name models that their makers no longer list.
/// The first that names a model counts.
const PROVIDERS: [&str; 17] = [
    "anthropic",
    "openai",
    "gemini",
    "xai",
    "deepseek",
    "zai",
    "moonshot",
    "minimax",
    "mistral",
    "dashscope",
    "qwen_ai_platform",
    "amazon_nova",
    "bedrock_converse",
    "bedrock",
    "vertex_ai-anthropic_models",
    "vertex_ai-language-models",
    "vertex_ai",
];

const RATES: [(&str, &str); 5] = [
    ("input", "input_cost_per_token"),
    ("output", "output_cost_per_token"),
    ("cache_read", "cache_read_input_token_cost"),
    ("cache_write_5m", "cache_creation_input_token_cost"),
    (
        "cache_write_1h",
        "cache_creation_input_token_cost_above_1hr",
    ),
];

/// Terms with rates of their own, and what the keys of these end with.
const TERMS: [(&str, &str); 4] = [
    ("batch", "_batches"),
    ("flex", "_flex"),
    ("priority", "_priority"),
    ("ultrafast", "_ultrafast"),
];

/// Terms that multiply the usual rates: another speed, and inference within the United States.
const TIMES: [&str; 2] = ["fast", "us"];

/// What the table of litellm does not tell: the fast mode of these costs six times as much
/// (github.com/ryoppippi/ccusage/issues/886).
const FAST: [(&str, u64); 2] = [("claude-opus-4-6", 600), ("claude-opus-4-7", 600)];

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "factors are small and positive"
)]
fn hundredths(times: f64) -> u64 {
    (times * 100.0).round() as u64
}

/// USD for a token as USD × 10⁻⁶ for a million tokens.
fn micros(usd: &Value) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "prices are small and positive"
    )]
    usd.as_f64()
        .filter(|usd| *usd >= 0.0)
        .map(|usd| (usd * 1e12).round() as u64)
}

fn rates(of: &Value, suffix: &str) -> Map<String, Value> {
    let rate = |(name, key): &(&str, &str)| {
        Some((
            (*name).to_owned(),
            json!(micros(of.get(format!("{key}{suffix}"))?)?),
        ))
    };
    RATES.iter().filter_map(rate).collect()
}

fn model(of: &Value) -> Option<Value> {
    if !matches!(
        of["mode"].as_str(),
        Some("chat" | "responses" | "completion")
    ) {
        return None;
    }
    let mut prices = rates(of, "");
    // What costs nothing is a model that is given away, or one without a price per token.
    if ["input", "output"]
        .iter()
        .any(|name| prices.get(*name).and_then(Value::as_u64).unwrap_or(0) == 0)
    {
        return None;
    }
    let above = |of: &Value, suffix: &str| -> Option<Value> {
        let above: Map<String, Value> = PROMPT_LIMITS
            .iter()
            .map(|limit| {
                (
                    limit.to_string(),
                    rates(of, &format!("_above_{}k_tokens{suffix}", limit / 1_000)),
                )
            })
            .filter(|(_, rates)| !rates.is_empty())
            .map(|(limit, rates)| (limit, Value::Object(rates)))
            .collect();
        (!above.is_empty()).then_some(Value::Object(above))
    };
    prices.extend(above(of, "").map(|above| ("above".to_owned(), above)));
    for (name, suffix) in TERMS {
        let mut own = rates(of, suffix);
        if own.is_empty() {
            continue;
        }
        own.extend(above(of, suffix).map(|above| ("above".to_owned(), above)));
        prices.insert(name.to_owned(), Value::Object(own));
    }
    let times = TIMES
        .iter()
        .filter_map(|name| Some((*name, of["provider_specific_entry"][*name].as_f64()?)));
    let times: Map<String, Value> = times
        .map(|(name, times)| (name.to_owned(), json!(hundredths(times))))
        .collect();
    if !times.is_empty() {
        prices.insert("times".to_owned(), Value::Object(times));
    }
    if let Some(usd) = of["search_context_cost_per_query"]["search_context_size_medium"].as_f64() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "prices are small and positive"
        )]
        prices.insert("search".to_owned(), json!((usd * 1e6).round() as u64));
    }
    if let Some(window) = of["max_input_tokens"].as_u64() {
        prices.insert("window".to_owned(), json!(window));
    }
    if let Some(source) = of["source"].as_str() {
        prices.insert("source".to_owned(), json!(source));
    }
    Some(Value::Object(prices))
}

/// Anthropic's price list: a cache write costs 1.25 times the input for five minutes and twice for an hour; a batch costs
/// half of all that.
fn add_what_anthropic_tells(name: &str, prices: &mut Value) {
    if !name.starts_with("claude") {
        return;
    }
    add_long_writes(prices);
    match prices.get_mut("batch") {
        Some(batch) => add_long_writes(batch),
        None => prices["times"]["batch"] = json!(50),
    }
    if let Some((_, times)) = FAST.iter().find(|(model, _)| *model == name) {
        prices["times"]["fast"] = json!(times);
    }
}

fn add_long_writes(prices: &mut Value) {
    let input = prices["input"].as_u64().unwrap_or(0);
    let is_usual = prices["cache_write_5m"]
        .as_u64()
        .is_some_and(|rate| rate * 4 == input * 5);
    if is_usual && prices.get("cache_write_1h").is_none() {
        prices["cache_write_1h"] = json!(input * 2);
    }
}

fn table(all: &Map<String, Value>, source: &str, date: &str) -> String {
    let mut models: BTreeMap<String, (usize, usize, Value)> = BTreeMap::new();
    for (name, of) in all {
        let Some(rank) = PROVIDERS
            .iter()
            .position(|provider| of["litellm_provider"] == **provider)
        else {
            continue;
        };
        let Some(mut prices) = model(of) else {
            continue;
        };
        let is_general =
            |name: &str| name.contains('-') || name.contains(|c: char| c.is_ascii_digit());
        // What is sold in a region, and names that stand for whatever is newest, have prices of their own.
        if (of["litellm_provider"]
            .as_str()
            .is_some_and(|name| name.starts_with("bedrock"))
            && !name.starts_with("anthropic."))
            || !is_general(&canonical(name))
        {
            continue;
        }
        add_what_anthropic_tells(&canonical(name), &mut prices);
        // Of one model, the name without a date comes first.
        let entry = (rank, name.len(), prices);
        match models.get(&canonical(name)) {
            Some(known) if (known.0, known.1) <= (entry.0, entry.1) => {}
            _ => drop(models.insert(canonical(name), entry)),
        }
    }
    let mut text = format!(
        "{{\n\"source\": {},\n\"date\": {},\n\"unit\": \"USD * 10^-6 for a million tokens; search: USD * 10^-6 each; window: tokens; times: hundredths\",\n\"models\": {{\n",
        json!(source),
        json!(date)
    );
    let lines: Vec<String> = models
        .iter()
        .map(|(name, (_, _, prices))| format!("{}: {prices}", json!(name)))
        .collect();
    write!(text, "{}\n}}\n}}\n", lines.join(",\n")).unwrap();
    text
}

#[expect(clippy::disallowed_methods, reason = "this is a command, run by hand")]
#[test]
#[ignore = "writes assets/prices.json, run by hand"]
fn make_the_price_table() {
    let wanted = |name: &str| {
        env::var(name).unwrap_or_else(|_| panic!("{name} is not set; see the head of this file"))
    };
    let text = fs::read_to_string(wanted("TV_PRICES")).unwrap();
    let all: Map<String, Value> = serde_json::from_str(&text).unwrap();
    let source = format!(
        "{}: model_prices_and_context_window_backup.json (MIT)",
        wanted("TV_PRICES_SOURCE")
    );
    let made = table(&all, &source, &wanted("TV_PRICES_DATE"));
    fs::write(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/prices.json"),
        made,
    )
    .unwrap();
}

#[test]
fn the_makers_price_counts_and_dates_do_not_matter() {
    let all = json!({
        "vertex_ai/claude-x-1": {"litellm_provider": "vertex_ai-anthropic_models", "mode": "chat", "input_cost_per_token": 9e-06, "output_cost_per_token": 9e-06},
        "claude-x-1-20260101": {"litellm_provider": "anthropic", "mode": "chat", "input_cost_per_token": 8e-06, "output_cost_per_token": 8e-06},
        "claude-x-1": {"litellm_provider": "anthropic", "mode": "chat", "input_cost_per_token": 5e-06, "output_cost_per_token": 2.5e-05,
            "cache_read_input_token_cost": 5e-07, "input_cost_per_token_above_200k_tokens": 1e-05, "max_input_tokens": 200_000,
            "input_cost_per_token_flex": 2.5e-06, "input_cost_per_token_above_200k_tokens_flex": 5e-06,
            "provider_specific_entry": {"us": 1.1, "somewhere": 2.0},
            "search_context_cost_per_query": {"search_context_size_medium": 0.01}},
        "gemini/free": {"litellm_provider": "gemini", "mode": "chat", "input_cost_per_token": 0.0, "output_cost_per_token": 0.0},
        "somebody/claude-y-1": {"litellm_provider": "somebody", "mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06},
    });
    let made: Value = serde_json::from_str(&table(all.as_object().unwrap(), "s", "d")).unwrap();
    let wanted = json!({"claude-x-1": {"input": 5_000_000, "output": 25_000_000, "cache_read": 500_000,
        "above": {"200000": {"input": 10_000_000}}, "search": 10_000, "window": 200_000,
        "flex": {"input": 2_500_000, "above": {"200000": {"input": 5_000_000}}}, "times": {"batch": 50, "us": 110}}});
    assert_eq!(made["models"], wanted);
}

#[test]
fn own_prices_go_before_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let session = folder.path().join("session.jsonl");
    let answer = |model: &str, n: u32| {
        json!({"type": "assistant", "uuid": format!("u{n}"), "parentUuid": null, "sessionId": "s-1", "version": "2.0.0",
            "timestamp": "2026-05-01T10:00:00.000Z", "cwd": "/tmp/x", "isSidechain": false, "userType": "external",
            "requestId": format!("r{n}"), "message": {"id": format!("m{n}"), "type": "message", "role": "assistant",
            "model": model, "content": [{"type": "text", "text": "done"}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 1_000_000, "output_tokens": 0}}})
    };
    fs::write(
        &session,
        format!(
            "{}\n{}\n",
            answer("unheard-of-5", 1),
            answer("claude-opus-4-6", 2)
        ),
    )
    .unwrap();
    let usd = |config: &str| {
        fs::create_dir_all(folder.path().join("config/tv")).unwrap();
        fs::write(folder.path().join("config/tv/config.toml"), config).unwrap();
        let out = assert_cmd::Command::cargo_bin("tv")
            .unwrap()
            .env("XDG_CONFIG_HOME", folder.path().join("config"))
            .args(["stats", "--json"])
            .arg(&session)
            .output()
            .unwrap();
        let stats: Value = serde_json::from_slice(&out.stdout).unwrap();
        stats["cost"].clone()
    };
    let cost = usd("");
    assert_eq!(
        (cost["usd"].as_f64(), cost["unpriced_models"][0].as_str()),
        (Some(5.0), Some("unheard-of-5"))
    );
    let cost = usd(
        "[prices.unheard-of-5]\ninput = 2\noutput = 3\n[prices.\"claude-opus-4-6\"]\ninput = 7\noutput = 7\n",
    );
    assert_eq!(
        (cost["usd"].as_f64(), cost["source"].as_str()),
        (Some(9.0), Some("estimated"))
    );
}

#[test]
fn a_table_beside_the_settings_replaces_that_of_tv() {
    let folder = tempfile::tempdir().unwrap();
    let session = folder.path().join("session.jsonl");
    let line = json!({"type": "assistant", "uuid": "u1", "parentUuid": null, "sessionId": "s-1", "version": "2.0.0",
        "timestamp": "2026-05-01T10:00:00.000Z", "cwd": "/tmp/x", "isSidechain": false, "userType": "external",
        "requestId": "r1", "message": {"id": "m1", "type": "message", "role": "assistant", "model": "claude-opus-4-6",
        "content": [{"type": "text", "text": "done"}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 1_000_000, "output_tokens": 0}}});
    fs::write(&session, format!("{line}\n")).unwrap();
    let table = folder.path().join("config/tv/prices.json");
    fs::create_dir_all(table.parent().unwrap()).unwrap();
    let doctor = |text: &str| {
        fs::write(&table, text).unwrap();
        let out = assert_cmd::Command::cargo_bin("tv")
            .unwrap()
            .env("XDG_CONFIG_HOME", folder.path().join("config"))
            .arg("doctor")
            .arg(&session)
            .output()
            .unwrap();
        [out.stdout, out.stderr].map(|bytes| String::from_utf8(bytes).unwrap())
    };
    let [said, _] = doctor(
        r#"{"source": "the miller", "date": "2020-01-01", "models": {"mill-1": {"input": 1, "output": 1}}}"#,
    );
    assert!(
        said.contains("prices: the miller, taken on 2020-01-01; none for claude-opus-4-6"),
        "{said}"
    );
    assert!(
        said.contains("days old and do not know claude-opus-4-6"),
        "{said}"
    );
    let [said, complaint] = doctor("{}");
    assert!(said.contains("prices: litellm"), "{said}");
    assert!(
        complaint.contains("prices.json:1: this is no table of prices"),
        "{complaint}"
    );
}
