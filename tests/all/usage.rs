//! Tests of `tv usage` over a generated home directory: forks, continued sessions, archives and
//! sub-agents, compared with sums made by hand.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proptest::prelude::{
    Just, ProptestConfig, Strategy, any, prop, prop_assert, prop_oneof, proptest,
};
use serde_json::{Value, json};
use tv::analysis::by::By;
use tv::analysis::ledger::{Ledger, Spender};
use tv::analysis::money::cost::Cost;
use tv::ingest::{self, OpenError, Target};
use tv::model::found::FoundSession;
use tv::report::reading::{self, Reading};
use tv::report::sessions::usage::spender;

struct Home(tempfile::TempDir);

impl Home {
    fn write(&self, name: &str, content: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn usage(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
        command.env_clear();
        let command = command
            .arg("usage")
            .args(arguments)
            .env("HOME", self.0.path())
            .env("LC_ALL", "C.UTF-8");
        let output = command
            .env("TZ", "UTC")
            .current_dir(self.0.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (
            output.status.code().unwrap(),
            text(output.stdout),
            text(output.stderr),
        )
    }

    fn rows(&self, arguments: &[&str]) -> Vec<Value> {
        let (code, out, error) = self.usage(&[arguments, &["--json"]].concat());
        assert_eq!((code, error.as_str()), (0, ""));
        out.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

fn lines(records: &[Value]) -> String {
    records
        .iter()
        .map(|record| record.to_string() + "\n")
        .collect()
}

/// A prompt, and answers by the numbers of their requests.
pub(crate) fn claude(session: &str, agent: Option<&str>, day: u32, requests: &[u32]) -> String {
    let at = |n: u32| format!("2026-01-{day:02}T10:{:02}:00.000Z", n % 60);
    let own = |mut record: Value| {
        if let Some(agent) = agent {
            record["isSidechain"] = json!(true);
            record["agentId"] = json!(agent);
        }
        record
    };
    let prompt = own(
        json!({"parentUuid": null, "isSidechain": false, "type": "user",
        "message": {"role": "user", "content": format!("Go {session}")},
        "uuid": format!("u-{session}-{}", agent.unwrap_or("main")), "timestamp": at(0), "sessionId": session,
        "cwd": format!("/work/{session}"), "version": "2.1.0"}),
    );
    let mut records = vec![prompt];
    for n in requests {
        // Each answer takes two lines, of which the first was written before it was complete.
        for (part, output) in [(1, 1), (2, 100 + n)] {
            records.push(own(json!({"parentUuid": null, "isSidechain": false, "type": "assistant",
                "requestId": format!("req_011CabcdefghijklmnoP{n:04}"),
                "message": {"id": format!("msg_01AbCdEfGhIjKlMnOp{n:04}"), "type": "message", "role": "assistant",
                    "model": if n % 2 == 0 { "claude-opus-4-6" } else { "claude-haiku-4-5" },
                    "content": [{"type": "text", "text": format!("Part {part} of {n}.")}],
                    "usage": {"input_tokens": 10 + n, "output_tokens": output,
                        "cache_read_input_tokens": 1_000 * n, "cache_creation_input_tokens": 7}},
                "uuid": format!("a-{session}-{n}-{part}"), "timestamp": at(*n), "sessionId": session})));
        }
    }
    lines(&records)
}

fn pi(session: &str, entries: &[(&str, u32, u64)]) -> String {
    let mut records = vec![json!({"type": "session", "version": 3, "id": session,
        "timestamp": "2026-02-01T08:00:00.000Z", "cwd": "/work/pi"})];
    for (id, minute, input) in entries {
        records.push(json!({"type": "message", "id": id, "parentId": null,
            "timestamp": format!("2026-02-01T08:{minute:02}:00.000Z"),
            "message": {"role": "assistant", "content": [{"type": "text", "text": "Yes."}], "provider": "p",
                "model": "some-model", "stopReason": "stop", "timestamp": 1,
                "usage": {"input": input, "output": 3, "cacheRead": 0, "cacheWrite": 0, "totalTokens": input + 3,
                    "cost": {"input": 0.25, "output": 0.25, "cacheRead": 0, "cacheWrite": 0, "total": 0.5}}}}));
    }
    lines(&records)
}

fn home() -> Home {
    let home = Home(tempfile::tempdir().unwrap());
    let project = ".claude/projects/-work";
    home.write(
        &format!("{project}/one.jsonl"),
        &claude("one", None, 5, &[1, 2, 3]),
    );
    home.write(
        &format!("{project}/one/subagents/agent-a1.jsonl"),
        &claude("one", Some("a1"), 5, &[4, 5]),
    );
    // A fork: all of the first session, and more on another day.
    let fork = claude("one", None, 5, &[1, 2, 3])
        .replace("\"sessionId\":\"one\"", "\"sessionId\":\"fork\"");
    home.write(
        &format!("{project}/fork.jsonl"),
        &(fork + &claude("fork", None, 12, &[6, 7])),
    );
    home.write(
        &format!("{project}/other.jsonl"),
        &claude("other", None, 12, &[8]),
    );
    // pi: a fork has the ids and times of what it was forked from; the same short id elsewhere is another request.
    let sessions = ".pi/agent/sessions/--work--";
    home.write(
        &format!("{sessions}/2026-02-01T08-00-00-000Z_p1.jsonl"),
        &pi("p1", &[("aa11", 1, 20), ("bb22", 2, 30)]),
    );
    home.write(
        &format!("{sessions}/2026-02-01T08-00-00-000Z_p2.jsonl"),
        &pi("p2", &[("aa11", 1, 20), ("cc33", 3, 40)]),
    );
    home.write(
        &format!("{sessions}/2026-02-01T08-00-00-000Z_p3.jsonl"),
        &pi("p3", &[("aa11", 9, 50)]),
    );
    home
}

/// Requests, input, output and cache reads by some name, counted line by line without anything of tv.
fn by_hand(folder: &Path, name: &dyn Fn(&Value, &Path) -> String) -> BTreeMap<String, [u64; 4]> {
    let mut requests: HashMap<(String, String, u64), (String, [u64; 4])> = HashMap::new();
    let mut files = crate::corpus::files(folder);
    // The fork is the younger one.
    files.sort_by_key(|path| path.ends_with("fork.jsonl"));
    for path in files {
        for line in fs::read_to_string(&path).unwrap().lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            let message = &record["message"];
            let (id, usage) = match message["id"].as_str() {
                Some(id) => ((id.to_owned(), String::new(), 0), &message["usage"]),
                None if message["usage"].is_object() => {
                    let text = |value: &Value| value.as_str().unwrap().to_owned();
                    let input = message["usage"]["input"].as_u64().unwrap();
                    (
                        (text(&record["id"]), text(&record["timestamp"]), input),
                        &message["usage"],
                    )
                }
                None => continue,
            };
            let figure = |names: [&str; 2]| {
                names
                    .iter()
                    .find_map(|name| usage[*name].as_u64())
                    .unwrap_or(0)
            };
            let own = [
                1,
                figure(["input_tokens", "input"]),
                figure(["output_tokens", "output"]),
                figure(["cache_read_input_tokens", "cacheRead"]),
            ];
            let known = requests
                .entry(id)
                .or_insert_with(|| (name(&record, &path), own));
            if known.1[2] < own[2] {
                known.1 = own;
            }
        }
    }
    let mut sums: BTreeMap<String, [u64; 4]> = BTreeMap::new();
    for (name, own) in requests.into_values() {
        let sum = sums.entry(name).or_default();
        sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
    }
    sums
}

fn by_tv(home: &Home, by: &str, field: &str) -> BTreeMap<String, [u64; 4]> {
    let figure = |row: &Value, name: &str| row["usage"][name].as_u64().unwrap_or(0);
    let sums = home.rows(&["--by", by]).into_iter().map(|row| {
        let name = row[field].as_str().unwrap_or("?").to_owned();
        let sums = ["requests", "input", "output", "cache_read"].map(|name| figure(&row, name));
        (name, sums)
    });
    sums.collect()
}

#[test]
fn every_request_counts_once_over_all_sessions() {
    let home = home();
    let folder = home.0.path();
    let day = |record: &Value, _: &Path| record["timestamp"].as_str().unwrap()[..10].to_owned();
    let model = |record: &Value, _: &Path| record["message"]["model"].as_str().unwrap().to_owned();
    let days = by_tv(&home, "day", "period");
    assert_eq!(days, by_hand(folder, &day));
    assert_eq!(days["2026-01-05"][0], 5);
    assert_eq!(days["2026-02-01"], [4, 140, 12, 0]);
    assert_eq!(by_tv(&home, "model", "model"), by_hand(folder, &model));
    let whole: [u64; 4] = by_hand(folder, &|_, _| String::new())
        .into_values()
        .next()
        .unwrap();
    for (by, field) in [
        ("week", "period"),
        ("month", "period"),
        ("project", "project"),
        ("agent", "agent"),
        ("session", "session"),
    ] {
        let mut sum = [0; 4];
        for own in by_tv(&home, by, field).into_values() {
            sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        }
        assert_eq!(sum, whole, "{by}");
    }
    // What an agent recorded is shown as it is, once each.
    let pi = home.rows(&["--by", "agent", "--agent", "pi"]);
    assert_eq!(
        (pi.len(), &pi[0]["cost"]["usd"], &pi[0]["cost"]["source"]),
        (1, &json!(2.0), &json!("recorded"))
    );
}

#[test]
fn times_places_and_forms() {
    let home = home();
    let days = |arguments: &[&str]| {
        let rows = home.rows(arguments);
        rows.iter()
            .map(|row| row["period"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        days(&["--since", "2026-01-10", "--until", "2026-02-01"]),
        ["2026-01-12"]
    );
    assert_eq!(days(&["--by", "month"]), ["2026-02", "2026-01"]);
    assert_eq!(days(&["--by", "week", ".claude"]), ["2026-W03", "2026-W02"]);
    let rows = home.rows(&["--by", "month,agent"]);
    let names: Vec<_> = rows
        .iter()
        .map(|row| (&row["period"], &row["agent"], &row["model"]))
        .collect();
    let (month, next, none) = (json!("2026-01"), json!("2026-02"), json!(null));
    assert_eq!(
        names,
        [
            (&next, &json!("pi"), &none),
            (&month, &json!("claude-code"), &none)
        ]
    );
    assert_eq!(rows[0]["schema"], "tv.usage/1");

    let (code, out, _) = home.usage(&["--by", "agent", "--csv"]);
    assert_eq!((code, out.lines().count()), (0, 3));
    assert!(out.contains(",pi,") || out.contains("\n,pi,"), "{out}");
    assert!(out.contains(",2,recorded,,,,,,\n"), "{out}");
    let (code, out, _) = home.usage(&["--by", "project"]);
    assert_eq!(code, 0);
    assert!(
        out.starts_with("project") && out.contains("/work/pi") && out.contains("total"),
        "{out}"
    );
    assert!(out.ends_with("are counted there: 4\n"), "{out}");
    let (code, out, error) = home.usage(&["missing"]);
    assert_eq!(
        (code, out.as_str()),
        (2, "not known: 1 place cannot be read\n")
    );
    assert!(error.contains("missing"), "{error}");
    assert!(
        Command::new("mkfifo")
            .arg(home.0.path().join("pipe"))
            .status()
            .unwrap()
            .success()
    );
    let (code, _, error) = home.usage(&["pipe"]);
    assert_eq!(code, 2);
    assert!(error.contains("a named pipe"), "{error}");
}

#[test]
fn csv_says_what_json_does_whatever_stands_in_names() {
    let home = home();
    let odd =
        claude("odd", None, 6, &[20]).replace("/work", r#"/work/grain, \"flour\"\n and bread"#);
    assert!(odd.contains("flour"), "{odd}");
    home.write(".claude/projects/-odd/odd.jsonl", &odd);
    let by = ["--by", "month,agent,project,model,session"];
    let (code, out, _) = home.usage(&[&by[..], &["--csv"]].concat());
    assert_eq!(code, 0);
    let mut csv = csv::Reader::from_reader(out.as_bytes());
    let heads = csv.headers().unwrap().clone();
    let rows = home.rows(&by);
    let read: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
    assert_eq!(read.len(), rows.len());
    let spoken = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        number => number.as_f64().unwrap().to_string(),
    };
    for (read, row) in read.iter().zip(&rows) {
        for (head, cell) in heads.iter().zip(read) {
            let value = match head {
                "input" | "output" | "cache_read" | "cache_write" | "reasoning" => {
                    &row["usage"][head]
                }
                "usd" => &row["cost"]["usd"],
                "cost_source" => &row["cost"]["source"],
                head => &row[head],
            };
            assert_eq!(cell, spoken(value), "{head} of {row}");
        }
    }
    assert!(
        read.iter().any(|row| row
            .iter()
            .any(|cell| cell.starts_with(r#"/work/grain, "flour" and bread"#))),
        "{out}"
    );
}

#[test]
fn a_table_is_no_wider_than_it_may_be() {
    let home = home();
    let id = "0c2a8f3e-1d2b-4c3d-8e9f-0a1b2c3d4e5f";
    home.write(
        &format!(".claude/projects/-work/{id}.jsonl"),
        &claude(id, None, 6, &[20]),
    );
    for by in [
        "session",
        "project",
        "project,agent,model",
        "session,model",
        "day",
    ] {
        let (code, whole, _) = home.usage(&["--by", by, "--width", "300"]);
        assert_eq!(code, 0);
        for width in [80, 100, 140] {
            let (_, out, _) = home.usage(&["--by", by, "--width", &width.to_string()]);
            let table: Vec<&str> = out.lines().take_while(|line| !line.is_empty()).collect();
            assert_eq!(
                table.len(),
                whole.lines().take_while(|line| !line.is_empty()).count()
            );
            let widest = table.iter().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= width, "{by} {width}:\n{out}");
        }
    }
    let (_, out, _) = home.usage(&["--by", "session", "--width", "80"]);
    assert!(out.contains("\n0c2a8f3e-1d2… "), "{out}");
    assert!(!out.lines().next().unwrap().contains("sessions"), "{out}");
}

/// Codex tells of an account's limits, in three ways over time; what was recorded last counts.
#[test]
fn limits_are_those_that_were_recorded_last() {
    let home = Home(tempfile::tempdir().unwrap());
    let (code, out, _) = home.usage(&["--limits"]);
    assert_eq!((code, out.as_str()), (0, "no session tells of limits\n"));
    let rollout = |day: u32, limits: Value| {
        let at = format!("2026-01-{day:02}T10:00:00.000Z");
        let id = format!("019cadc6-9a80-7000-8000-{day:012}");
        let line =
            |kind: &str, payload: Value| json!({"timestamp": at, "type": kind, "payload": payload});
        let text = lines(&[
            line(
                "session_meta",
                json!({"id": id, "timestamp": at, "cwd": "/work/sieve", "cli_version": "0.106.0"}),
            ),
            line(
                "event_msg",
                json!({"type": "token_count", "info": null, "rate_limits": limits}),
            ),
        ]);
        home.write(
            &format!(
                ".codex/sessions/2026/01/{day:02}/rollout-2026-01-{day:02}T10-00-00-{id}.jsonl"
            ),
            &text,
        );
    };
    let recorded = |arguments: &[&str]| -> Vec<Value> {
        let (code, out, error) = home.usage(&[&["--limits", "--json"], arguments].concat());
        assert_eq!((code, error.as_str()), (0, ""));
        out.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    rollout(
        2,
        json!({"primary_used_percent": 8.0, "secondary_used_percent": 2.0,
        "primary_window_minutes": 299, "secondary_window_minutes": 10_079}),
    );
    assert_eq!(recorded(&[]).len(), 2);
    rollout(
        3,
        json!({"primary": {"used_percent": 12.5, "window_minutes": 299, "resets_in_seconds": 600},
        "secondary": {"used_percent": 30.0, "window_minutes": 10_079, "resets_in_seconds": 60_000}}),
    );
    rollout(
        1,
        json!({"primary": {"used_percent": 99.0, "window_minutes": 300}, "secondary": null}),
    );
    rollout(
        4,
        json!({"primary": {"used_percent": 65.0, "window_minutes": 10_080, "resets_at": 1_777_971_833},
        "secondary": null, "plan_type": "plus"}),
    );
    rollout(5, Value::Null);
    // A window that it was not told.
    rollout(
        6,
        json!({"primary_used_percent": 0.0, "secondary_used_percent": 0.0,
        "primary_window_minutes": 0, "secondary_window_minutes": 0}),
    );
    let limit = |minutes: u64, used: f64, resets: &str, recorded: &str| {
        json!({"schema": "tv.limits/1", "agent": "codex", "minutes": minutes, "used_percent": used,
            "resets": resets, "recorded": recorded})
    };
    assert_eq!(
        recorded(&[]),
        [
            limit(
                299,
                12.5,
                "2026-01-03T10:10:00.000Z",
                "2026-01-03T10:00:00.000Z"
            ),
            limit(
                10_080,
                65.0,
                "2026-05-05T09:03:53.000Z",
                "2026-01-04T10:00:00.000Z"
            ),
        ]
    );
    let (_, out, _) = home.usage(&["--limits"]);
    assert!(out.starts_with("codex 5h: 13% used, began anew "), "{out}");
    assert!(
        out.contains("\ncodex week: 65% used, began anew ") && out.contains(", recorded "),
        "{out}"
    );
}

/// What `claude -p --output-format stream-json` printed of requests whose answers were not complete, and what the run
/// came to; a model that no request is on stands in its total only.
pub(crate) fn stream(session: &str, requests: &[u32], counted: &[u32]) -> String {
    let init = json!({"type": "system", "subtype": "init", "cwd": "/work/one", "session_id": session, "tools": [],
        "mcp_servers": [], "model": "claude-opus-4-6", "permissionMode": "default",
        "uuid": "0dd50001-1111-4222-8333-444455556666"});
    let mut records = vec![init];
    for n in requests {
        records.push(json!({"type": "assistant", "parent_tool_use_id": null, "session_id": session,
            "uuid": format!("0dd50002-1111-4222-8333-44445555{n:04}"),
            "message": {"id": format!("msg_01AbCdEfGhIjKlMnOp{n:04}"), "type": "message", "role": "assistant",
                "model": "claude-opus-4-6", "content": [{"type": "text", "text": "Part 1."}],
                "usage": {"input_tokens": 10 + n, "output_tokens": 1, "cache_read_input_tokens": 1_000 * n,
                    "cache_creation_input_tokens": 7}}}));
    }
    let sum = |of: fn(u32) -> u32| counted.iter().map(|n| of(*n)).sum::<u32>();
    records.push(
        json!({"type": "result", "subtype": "success", "is_error": false, "duration_ms": 9, "num_turns": 1,
        "result": "Done.", "session_id": session, "uuid": "0dd50003-1111-4222-8333-444455556666",
        "usage": {"input_tokens": 1, "output_tokens": 1}, "modelUsage": {
            "claude-opus-4-6": {"inputTokens": sum(|n| 10 + n), "outputTokens": sum(|n| 100 + n),
                "cacheReadInputTokens": sum(|n| 1_000 * n), "cacheCreationInputTokens": sum(|_| 7)},
            "claude-haiku-4-5": {"inputTokens": 5, "outputTokens": 4, "cacheReadInputTokens": 0,
                "cacheCreationInputTokens": 0}}}),
    );
    lines(&records)
}

#[test]
fn a_run_that_its_session_tells_of_counts_what_no_request_says() {
    let sums = |files: &[(&str, &str)]| {
        let home = Home(tempfile::tempdir().unwrap());
        for (name, content) in files {
            home.write(name, content);
        }
        let models = home.rows(&["--by", "model", "."]);
        let figures = models.iter().map(|row| {
            let figure = |name: &str| row["usage"][name].as_i64().unwrap_or(0);
            let sums = ["requests", "input", "output", "cache_read"].map(figure);
            (row["model"].as_str().unwrap().to_owned(), sums)
        });
        figures.collect::<BTreeMap<_, _>>()
    };
    let live = ".claude/projects/-work/one.jsonl";
    let agent = ".claude/projects/-work/one/subagents/agent-a1.jsonl";
    let (own, started) = (
        claude("one", None, 5, &[2, 6]),
        claude("one", Some("a1"), 5, &[4]),
    );
    let opus = |requests: i64, all: &[i64]| {
        let sum = |of: fn(i64) -> i64| all.iter().map(|n| of(*n)).sum::<i64>();
        [
            requests,
            sum(|n| 10 + n),
            sum(|n| 100 + n),
            sum(|n| 1_000 * n),
        ]
    };
    // What no request says: the other model.
    let expected = |opus: [i64; 4]| {
        BTreeMap::from([
            ("claude-haiku-4-5".to_owned(), [0, 5, 4, 0]),
            ("claude-opus-4-6".to_owned(), opus),
        ])
    };
    let run = stream("one", &[2, 6], &[2, 4, 6]);
    assert_eq!(sums(&[("run.jsonl", &run)]), expected(opus(2, &[2, 4, 6])));
    // The same run twice.
    assert_eq!(
        sums(&[("run.jsonl", &run), ("runs/again.jsonl", &run)]),
        expected(opus(2, &[2, 4, 6]))
    );
    // Requests of a sub-agent that nobody else tells of, then those that have a file.
    assert_eq!(
        sums(&[("run.jsonl", &run), (live, &own)]),
        expected(opus(2, &[2, 4, 6]))
    );
    let all = [("run.jsonl", run.as_str()), (live, &own), (agent, &started)];
    assert_eq!(sums(&all), expected(opus(3, &[2, 4, 6])));
    let reversed = [(live, own.as_str()), (agent, &started), ("run.jsonl", &run)];
    assert_eq!(sums(&reversed), expected(opus(3, &[2, 4, 6])));
    // A run of which nothing but its end was kept.
    let end = stream("one", &[], &[2, 4, 6]);
    assert_eq!(
        sums(&[("run.jsonl", &end), (live, &own), (agent, &started)]),
        expected(opus(3, &[2, 4, 6]))
    );
    // The session went on in other runs.
    let longer = claude("one", None, 5, &[2, 6, 8]);
    let rest = [
        ("run.jsonl", run.as_str()),
        (live, &longer),
        (agent, &started),
    ];
    assert_eq!(sums(&rest), expected(opus(4, &[2, 4, 6, 8])));
}

/// Requests of a session with a skill, a server and another branch, and of a sub-agent.
#[test]
fn usage_is_split_by_what_records_name() {
    let home = Home(tempfile::tempdir().unwrap());
    let own = claude("mill", None, 5, &[1, 2, 3, 4]);
    let facts = [
        json!({"gitBranch": "main"}),
        json!({"gitBranch": "main", "attributionSkill": "grind"}),
        json!({"gitBranch": "sieve", "attributionMcpServer": "scales", "attributionMcpTool": "weigh"}),
        json!({"gitBranch": "sieve"}),
    ];
    let call =
        |name: &str, id: String| json!({"type": "tool_use", "id": id, "name": name, "input": {}});
    let mut number = 0;
    let mut records = Vec::new();
    for line in own.lines() {
        let mut record: Value = serde_json::from_str(line).unwrap();
        if record["type"] == "assistant" {
            // An answer has two lines.
            let of = &facts[number / 2];
            for (name, value) in of.as_object().unwrap() {
                record[name] = value.clone();
            }
            let name = ["Bash", "mcp__mill__turn", "Read", "Bash"][number / 2];
            record["message"]["content"] = json!([call(name, format!("c{number}"))]);
            if number == 7 {
                record["message"]["content"] = json!([call("Write", format!("c{number}"))]);
            }
            number += 1;
        }
        records.push(record);
    }
    home.write(".claude/projects/-work/mill.jsonl", &lines(&records));
    let sub = claude("mill", Some("a1"), 5, &[5, 6]).replace(
        r#""type":"assistant""#,
        r#""type":"assistant","attributionAgent":"Explore""#,
    );
    home.write(".claude/projects/-work/mill/subagents/agent-a1.jsonl", &sub);
    let split = |by: &str| -> BTreeMap<String, (u64, u64)> {
        let rows = home.rows(&["--by", by]);
        let field = by.replace('-', "_");
        let of = |row: &Value| {
            (
                row[&field].as_str().unwrap_or("-").to_owned(),
                (
                    row["requests"].as_u64().unwrap(),
                    row["usage"]["output"].as_u64().unwrap(),
                ),
            )
        };
        rows.iter().map(of).collect()
    };
    let rows = |rows: &[(&str, u64, u64)]| -> BTreeMap<String, (u64, u64)> {
        let rows = rows.iter();
        rows.map(|(name, requests, output)| ((*name).to_owned(), (*requests, *output)))
            .collect()
    };
    assert_eq!(split("skill"), rows(&[("-", 5, 519), ("grind", 1, 102)]));
    assert_eq!(
        split("branch"),
        rows(&[("main", 2, 203), ("sieve", 4, 418)])
    );
    assert_eq!(
        split("sub-agent"),
        rows(&[("-", 4, 410), ("Explore", 2, 211)])
    );
    assert_eq!(
        split("mcp"),
        rows(&[("-", 4, 416), ("mill", 1, 102), ("scales", 1, 103)])
    );
    assert_eq!(
        split("tool"),
        rows(&[
            ("(several)", 1, 104),
            ("-", 2, 211),
            ("Bash", 1, 101),
            ("Read", 1, 103),
            ("mcp__mill__turn", 1, 102)
        ])
    );
    let (_, table, _) = home.usage(&["--by", "skill"]);
    assert!(table.contains("(none)"), "{table}");
}

/// What `tv usage` says of a session alone is what all other reports say of it, and the rows of each grouping add up.
#[test]
fn a_session_alone_costs_what_its_own_account_says() {
    let all = By::ALL.map(|(by, _)| by);
    let mut groupings: Vec<Vec<By>> = all.map(|by| vec![by]).to_vec();
    groupings.extend([vec![By::Day, By::Model], all.to_vec()]);
    for corpus in crate::corpus::corpora() {
        let (mut seen, mut differing) = (0, Vec::new());
        let targets = corpus.files().into_iter().map(|path| Target {
            path,
            session: None,
        });
        for target in targets.flat_map(|target| reading::sessions(&target).unwrap_or_default()) {
            let Ok(reading) = reading::read(&target, true) else {
                continue;
            };
            let found = FoundSession {
                session: target.session.clone(),
                ..crate::fixtures::session_at(&target.path)
            };
            let mut ledger = Ledger::new(None..None);
            // Failures alone have a row, too, and no cost.
            let failed = Vec::new();
            ledger.add(Spender {
                failed,
                ..spender(found, &reading, true)
            });
            let (_, total) = ledger.rows(&[By::Session], &[]);
            seen += usize::from(total.sessions() > 0);
            let name = target.path.display();
            for by in &groupings {
                let (rows, _) = ledger.rows(by, &[]);
                let mut sum = [0; 6];
                for row in &rows {
                    sum.iter_mut()
                        .zip(row.amount.tokens())
                        .for_each(|(sum, tokens)| *sum += tokens.total);
                }
                let usd: f64 = rows.iter().filter_map(|row| row.cost().usd).sum();
                let is_same = (usd - total.cost().usd.unwrap_or(0.0)).abs() < 1e-9;
                if sum != total.amount.tokens().map(|tokens| tokens.total) || !is_same {
                    differing.push(format!("{name}: {by:?}: {usd} of {:?}", total.cost().usd));
                }
            }
            let (of_all, own) = (total.cost(), reading.account.cost(&reading.transcript));
            let is_same = (of_all.usd.unwrap_or(0.0) - own.usd.unwrap_or(0.0)).abs() < 1e-6;
            let marks = |cost: &Cost| (cost.source, cost.is_lower_bound());
            if total.sessions() > 0 && (!is_same || marks(&of_all) != marks(&own)) {
                differing.push(format!("{name}: {of_all:?}, and {own:?}"));
            }
        }
        assert!(seen > corpus.least(20, 200), "{seen}");
        assert!(differing.is_empty(), "{differing:#?}");
    }
}

/// A folder that the reader names has each session once, however many files tell of it.
#[test]
fn a_file_that_another_one_stands_for_counts_only_there() {
    let home = Home(tempfile::tempdir().unwrap());
    let wire = include_str!("../fixtures/kimi-cli/wire.jsonl");
    home.write("kimi/sessions/abc/0a-1/wire.jsonl", wire);
    let alone = requests(&home, &["kimi"]);
    home.write(
        "kimi/sessions/abc/0a-1/subagents/ag1/wire.jsonl",
        &wire.replace('5', "6"),
    );
    assert_eq!((alone > 0, requests(&home, &["kimi"])), (true, alone));
    let screen = json!([{"ts": 1_790_000_000_000_u64, "type": "say", "say": "text", "text": "Go"},
        {"ts": 1_790_000_000_001_u64, "type": "say", "say": "api_req_started",
            "text": json!({"request": "Go", "tokensIn": 10, "tokensOut": 5, "cost": 0.5}).to_string()},
        {"ts": 1_790_000_000_002_u64, "type": "say", "say": "text", "text": "Done."}]);
    let history = json!([{"role": "user", "content": [{"type": "text", "text": "<task>\nGo\n</task>"}],
            "ts": 1_790_000_000_000_u64},
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}], "ts": 1_790_000_000_002_u64,
            "metrics": {"tokens": {"prompt": 10, "completion": 5}, "cost": 0.5}}]);
    home.write("roo/tasks/n1/ui_messages.json", &screen.to_string());
    assert_eq!(requests(&home, &["roo"]), 1);
    home.write(
        "roo/tasks/n1/api_conversation_history.json",
        &history.to_string(),
    );
    assert_eq!(requests(&home, &["roo"]), 1);
    // An answer of which only the history tells counts, too.
    for name in ["ui_messages.json", "api_conversation_history.json"] {
        let text = fs::read_to_string(Path::new("tests/fixtures/cline/legacy").join(name)).unwrap();
        home.write(&format!("cline/tasks/n2/{name}"), &text);
    }
    assert_eq!(requests(&home, &["cline"]), 2);
}

/// An index of sessions has less than their files: it stands for those that are gone.
#[test]
fn a_session_of_which_only_the_index_knows_is_one_and_any_other_is_its_file() {
    let home = Home(tempfile::tempdir().unwrap());
    let database = home.0.path().join(".copilot/session-store.db");
    fs::create_dir_all(database.parent().unwrap()).unwrap();
    crate::databases::write(
        &crate::fixtures::root().join("copilot-cli/session-store.sql"),
        &database,
    );
    let kept = "9b1d0004-2222-4333-8444-555566667777";
    let gone = "5e7a0001-1c2d-4e3f-8a9b-0c1d2e3f4a5b";
    rusqlite::Connection::open(&database)
        .unwrap()
        .execute_batch(&format!(
            "INSERT INTO sessions VALUES ('{kept}', '/home/ada/mill', NULL, NULL, NULL, 'A title of the index', \
             '2026-09-14T07:30:00Z', '2026-09-14T07:30:25Z'); \
             INSERT INTO turns (session_id, turn_index, user_message, assistant_response, timestamp) \
             VALUES ('{kept}', 0, 'Grind the corn.', 'flour', '2026-09-14T07:30:25Z'); \
             INSERT INTO assistant_usage_events (session_id, model, input_tokens, output_tokens, total_nano_aiu) \
             VALUES ('{kept}', 'gpt-5.2', 1000, 40, 700000000)"
        ))
        .unwrap();
    let file = include_str!("../fixtures/copilot-cli/permission.jsonl");
    home.write(&format!(".copilot/session-state/{kept}/events.jsonl"), file);
    let rows = |by: &str| home.rows(&["--by", by]);
    let sessions: BTreeMap<String, (f64, u64)> = rows("session")
        .iter()
        .map(|row| {
            let (usd, requests) = (
                row["cost"]["usd"].as_f64().unwrap(),
                row["requests"].as_u64().unwrap(),
            );
            (
                row["session"].as_str().unwrap().to_owned(),
                ((usd * 1e6).round() / 1e6, requests),
            )
        })
        .collect();
    assert_eq!(
        sessions,
        BTreeMap::from([(gone.to_owned(), (0.015, 2)), (kept.to_owned(), (0.007, 1))])
    );
    let titles = listed(&home);
    assert_eq!(titles.len(), 2, "{titles:?}");
    fs::remove_dir_all(home.0.path().join(".copilot/session-state")).unwrap();
    assert_eq!(listed(&home).len(), 2, "its index knows it still");
}

#[test]
fn newest_takes_one_session_of_a_folder_or_a_database_whatever_the_command() {
    let home = Home(tempfile::tempdir().unwrap());
    home.write("logs/elder.jsonl", &claude("elder", None, 5, &[1, 2]));
    home.write("logs/newborn.jsonl", &claude("newborn", None, 6, &[3]));
    home.write("logs/midway.jsonl", &claude("midway", None, 4, &[4]));
    crate::databases::write(
        &crate::fixtures::root().join("hermes/state.sql"),
        &home.0.path().join("state.db"),
    );
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
        command
            .env_clear()
            .args(arguments)
            .env("HOME", home.0.path())
            .stdin(Stdio::null());
        String::from_utf8(command.current_dir(home.0.path()).output().unwrap().stdout).unwrap()
    };
    let few = ["check", "doctor", "stats", "wait"];
    for command in [
        &["list", "--json"][..],
        &["stats", "--json"],
        &["brief", "--json"],
        &["doctor", "--json"],
        &["show", "--json"],
        &["check", "--json", "--severity", "note"],
        &["usage", "--json", "--by", "session"],
        &["grep", "--json", "Go"],
        &["top", "--once", "--json", "--since", "90000d"],
        &["wait", "--until", "idle"],
    ] {
        for (place, newest, others) in [
            ("logs", "newborn", ["elder", "midway"]),
            ("state.db", "cc0003", ["dd0004", "ee0005"]),
        ] {
            let out = run(&[command, &["--newest", place]].concat());
            let has = |name: &str| {
                out.contains(&format!("{name}\"")) || out.contains(&format!("{name}.jsonl"))
            };
            assert!(
                !others.iter().any(|other| has(other)),
                "{command:?} {place}: {out}"
            );
            let is_silent = few.contains(&command[0])
                || place == "state.db" && ["brief", "grep", "usage"].contains(&command[0]);
            assert!(is_silent || has(newest), "{command:?} {place}: {out}");
        }
    }
    // A file is what it is.
    assert!(run(&["stats", "--json", "--newest", "logs/elder.jsonl"]).contains("elder.jsonl"));
    assert_eq!(run(&["stats", "--json", "logs"]).lines().count(), 3);
}

/// Sets when a file was written last.
fn age(home: &Home, name: &str, day: u64) {
    let at =
        std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_767_225_600 + (day - 1) * 86_400);
    fs::File::options()
        .append(true)
        .open(home.0.path().join(name))
        .unwrap()
        .set_modified(at)
        .unwrap();
}

fn requests(home: &Home, arguments: &[&str]) -> u64 {
    let rows = home.rows(arguments);
    rows.iter()
        .map(|row| row["usage"]["requests"].as_u64().unwrap())
        .sum()
}

#[test]
fn what_sub_agents_wrote_later_makes_a_session_newer() {
    let home = Home(tempfile::tempdir().unwrap());
    let (main, agent) = (
        "-work/one.jsonl",
        "-work/one/subagents/workflows/w/agent-a1.jsonl",
    );
    for root in [".claude/projects", "elsewhere/projects"] {
        let [main, agent] = [main, agent].map(|name| format!("{root}/{name}"));
        home.write(&main, &claude("one", None, 5, &[1]));
        home.write(&agent, &claude("one", Some("a1"), 20, &[4, 5]));
        age(&home, &main, 5);
        age(&home, &agent, 20);
    }
    assert_eq!(requests(&home, &["--since", "2026-01-10"]), 2);
    assert_eq!(requests(&home, &["--since", "2026-01-10", "elsewhere"]), 2);
    assert_eq!(
        requests(
            &home,
            &[
                "--since",
                "2026-01-10",
                "elsewhere/projects/-work/one.jsonl"
            ]
        ),
        2
    );
}

#[test]
fn what_was_copied_is_of_the_session_that_said_it_first() {
    let home = Home(tempfile::tempdir().unwrap());
    let (origin, fork) = (
        ".pi/agent/sessions/--w--/2026-02-01T08-00-00-000Z_p1.jsonl",
        ".pi/agent/sessions/--w--/2026-02-01T08-02-00-000Z_p2.jsonl",
    );
    home.write(origin, &pi("p1", &[("aa11", 1, 20), ("bb22", 9, 30)]));
    let later = pi("p2", &[("aa11", 1, 20), ("cc33", 3, 40)])
        .replace("02-01T08:00:00", "02-01T08:02:00")
        .replace("\"cwd\"", "\"parentSession\":\"p1\",\"cwd\"");
    home.write(fork, &later);
    // Claude Code says of copies whence they are, and keeps their times.
    let (one, two) = (
        ".claude/projects/-w/one.jsonl",
        ".claude/projects/-w/two.jsonl",
    );
    home.write(one, &claude("one", None, 5, &[1, 2, 9]));
    let copied =
        claude("one", None, 5, &[1, 2]).replace("\"sessionId\":\"one\"", "\"sessionId\":\"two\"");
    let from = "\"forkedFrom\":{\"sessionId\":\"one\",\"messageUuid\":\"u\"},\"sessionId\"";
    home.write(
        two,
        &(copied.replace("\"sessionId\"", from) + &claude("two", None, 5, &[3])),
    );
    for days in [[8, 9], [9, 8]] {
        for (files, day) in [[origin, one], [fork, two]].into_iter().zip(days) {
            for file in files {
                age(&home, file, day);
            }
        }
        let sessions = by_tv(&home, "session", "session");
        let of = |name: &str| sessions.get(name).map_or(0, |sums| sums[0]);
        assert_eq!(
            [of("p1"), of("p2"), of("one"), of("two")],
            [2, 1, 3, 1],
            "{days:?}"
        );
    }
}

/// What Claude Code says that a session has cost so far, by model.
pub(crate) fn cost_state(session: &str, opus: f64, haiku: f64, tokens: [u32; 2]) -> String {
    let model = |usd: f64, tokens: u32| json!({"inputTokens": tokens, "outputTokens": tokens, "costUSD": usd});
    lines(&[
        json!({"type": "cost-state", "sessionId": session, "totalCostUSD": opus + haiku,
        "hasUnknownModelCost": false, "modelUsage": {"claude-opus-4-6": model(opus, tokens[0]),
            "claude-haiku-4-5": model(haiku, tokens[1])}}),
    ])
}

/// What the session "two" has of one that it was forked from.
pub(crate) fn fork_of(session: &str, requests: &[u32]) -> String {
    let id = |id: &str| format!("\"sessionId\":\"{id}\"");
    let from = format!(
        "\"forkedFrom\":{{{},\"messageUuid\":\"u\"}},{}",
        id(session),
        id("two")
    );
    claude(session, None, 5, requests).replace(&id(session), &from)
}

#[test]
fn what_a_fork_records_has_what_its_parent_cost_in_it() {
    let fork = fork_of("one", &[1, 2]) + &claude("two", None, 5, &[3, 4]);
    // More than the requests come to by list prices, then less.
    for (parent, child) in [
        ([0.75, 0.25], [1.0, 0.5]),
        ([0.0005, 0.000_1], [0.001, 0.000_2]),
    ] {
        let home = Home(tempfile::tempdir().unwrap());
        let told = |session: &str, [opus, haiku]: [f64; 2], tokens| {
            cost_state(session, opus, haiku, tokens)
        };
        let one = claude("one", None, 5, &[1, 2]) + &told("one", parent, [500, 900]);
        home.write(".claude/projects/-w/one.jsonl", &one);
        home.write(
            ".claude/projects/-w/two.jsonl",
            &(fork.clone() + &told("two", child, [1000, 1900])),
        );
        let usd = |by: &str, field: &str| {
            let rows = home.rows(&["--by", by, "."]);
            let row = |row: &Value| {
                let micros = (row["cost"]["usd"].as_f64().unwrap() * 1e6).round() / 1e6;
                (row[field].as_str().unwrap_or("").to_owned(), micros)
            };
            rows.iter().map(row).collect::<BTreeMap<_, _>>()
        };
        let micros = |usd: f64| (usd * 1e6).round() / 1e6;
        let (own, all) = (micros(parent[0] + parent[1]), child[0] + child[1]);
        for days in [[8, 9], [9, 8]] {
            for (name, day) in ["one", "two"].into_iter().zip(days) {
                age(&home, &format!(".claude/projects/-w/{name}.jsonl"), day);
            }
            let sessions = BTreeMap::from([
                ("one".to_owned(), own),
                ("two".to_owned(), micros(all - own)),
            ]);
            assert_eq!(usd("session", "session"), sessions);
            let models = [
                ("claude-haiku-4-5".to_owned(), child[1]),
                ("claude-opus-4-6".to_owned(), child[0]),
            ];
            assert_eq!(usd("model", "model"), BTreeMap::from(models));
            for by in ["day", "week", "month", "project", "agent"] {
                let sum: f64 = usd(by, by).values().sum();
                assert!((sum - all).abs() < 2e-6, "{by}: {sum}, and {all}");
            }
        }
        let input: i64 = home
            .rows(&["--by", "model", "."])
            .iter()
            .filter_map(|row| row["usage"]["input"].as_i64())
            .sum();
        assert_eq!(input, 2900, "tokens that stand in no request, too");
    }
}

#[test]
fn a_fork_of_a_fork_has_in_it_what_that_one_records() {
    let id = |id: &str| format!("\"sessionId\":\"{id}\"");
    let from = format!(
        "\"forkedFrom\":{{{},\"messageUuid\":\"u\"}},{}",
        id("two"),
        id("three")
    );
    let two = fork_of("one", &[1, 2]) + &claude("two", None, 5, &[3]);
    let three =
        (fork_of("one", &[1, 2]) + &claude("two", None, 5, &[3])).replace(&id("two"), &from);
    let sessions = [
        ("one", claude("one", None, 5, &[1, 2]), 1.0),
        ("two", two, 1.4),
        ("three", three + &claude("three", None, 5, &[4]), 1.9),
    ];
    for days in [[7, 8, 9], [9, 8, 7], [8, 9, 7]] {
        let home = Home(tempfile::tempdir().unwrap());
        for ((name, text, usd), day) in sessions.iter().zip(days) {
            let path = format!(".claude/projects/-w/{name}.jsonl");
            home.write(
                &path,
                &(text.clone() + &cost_state(name, *usd, 0.0, [1000, 0])),
            );
            age(&home, &path, day);
        }
        let rows = home.rows(&["--by", "session", "."]);
        let sum: f64 = rows
            .iter()
            .filter_map(|row| row["cost"]["usd"].as_f64())
            .sum();
        assert!((sum - 1.9).abs() < 1e-6, "{days:?}: {sum}");
        let requests: u64 = rows.iter().filter_map(|row| row["requests"].as_u64()).sum();
        assert_eq!(requests, 4, "{days:?}");
    }
}

#[test]
fn a_fork_goes_on_from_what_its_parent_had_cost_by_then() {
    for (then, last, more) in [(0.4, 2.0, 0.3), (1.0, 1.2, 0.5), (0.0002, 0.0009, 0.0001)] {
        let home = Home(tempfile::tempdir().unwrap());
        let told = |session: &str, usd: f64| cost_state(session, usd, usd / 2.0, [1000, 500]);
        let one = claude("one", None, 5, &[1, 2]) + &told("one", then);
        home.write(
            ".claude/projects/-w/one.jsonl",
            &(one + &claude("one", None, 5, &[5, 6]) + &told("one", last)),
        );
        let two = fork_of("one", &[1, 2]) + &claude("two", None, 5, &[3]);
        home.write(
            ".claude/projects/-w/two.jsonl",
            &(two + &told("two", then + more)),
        );
        for days in [[8, 9], [9, 8]] {
            for (name, day) in ["one", "two"].into_iter().zip(days) {
                age(&home, &format!(".claude/projects/-w/{name}.jsonl"), day);
            }
            for by in ["session", "model", "day"] {
                let rows = home.rows(&["--by", by, "."]);
                let sum: f64 = rows
                    .iter()
                    .filter_map(|row| row["cost"]["usd"].as_f64())
                    .sum();
                assert!(
                    (sum - 1.5 * (last + more)).abs() < 2e-6,
                    "{then} {by}: {sum}, {rows:?}"
                );
            }
        }
    }
}

#[test]
fn a_model_that_the_agent_had_no_price_for_makes_its_sum_a_lower_bound() {
    let home = Home(tempfile::tempdir().unwrap());
    let unknown = |text: String| text.replace("claude-haiku-4-5", "mystery-9");
    let told = cost_state("one", 0.5, 0.0, [500, 900]).replace("Cost\":false", "Cost\":true");
    home.write(
        ".claude/projects/-w/one.jsonl",
        &unknown(claude("one", None, 5, &[1, 2]) + &told),
    );
    for by in ["session", "day", "model"] {
        let rows = home.rows(&["--by", by, "."]);
        let lacks = rows.iter().any(|row| row["cost"]["is_partial"] == true);
        let sum: f64 = rows
            .iter()
            .filter_map(|row| row["cost"]["usd"].as_f64())
            .sum();
        assert!(lacks && (sum - 0.5).abs() < 1e-6, "{by}: {rows:?}");
    }
    let (_, table, _) = home.usage(&["--by", "session", "."]);
    assert!(table.contains("$0.50+"), "{table}");
}

#[test]
fn sub_agents_whose_session_is_gone_are_found() {
    let home = Home(tempfile::tempdir().unwrap());
    let project = ".claude/projects/-work";
    home.write(
        &format!("{project}/gone/subagents/agent-a1.jsonl"),
        &claude("gone", Some("a1"), 5, &[4, 5]),
    );
    home.write(
        &format!("{project}/one.jsonl"),
        &claude("one", None, 5, &[1]),
    );
    home.write(
        &format!("{project}/one/subagents/agent-b1.jsonl"),
        &claude("one", Some("b1"), 5, &[6]),
    );
    // Up to 2.0 they lay beside their sessions, and only what is in them tells whose they are.
    home.write(
        &format!("{project}/agent-c1.jsonl"),
        &claude("lost", Some("c1"), 5, &[7]),
    );
    home.write(
        &format!("{project}/agent-d1.jsonl"),
        &claude("one", Some("d1"), 5, &[8]),
    );
    assert_eq!(requests(&home, &["--by", "session"]), 6);
    assert_eq!(requests(&home, &["--by", "session", ".claude"]), 6);
    assert_eq!(listed(&home), ["agent-a1", "agent-c1", "one"]);
    let mut grep = Command::new(env!("CARGO_BIN_EXE_tv"));
    grep.env_clear()
        .args(["grep", "--json", "Part 2 of [4-8]"])
        .env("HOME", home.0.path());
    let output = grep
        .current_dir(home.0.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let hits = String::from_utf8(output.stdout).unwrap();
    for agent in ["agent-a1", "agent-b1", "agent-c1", "agent-d1"] {
        assert!(hits.contains(&format!("{agent}.jsonl")), "{agent}: {hits}");
    }
}

/// A session with a sub-agent, whose call and result are in the session itself.
fn starting(session: &str, agent: &str) -> String {
    let at = "2026-01-05T10:30:00.000Z";
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "Task",
        "input": {"description": "Count", "prompt": "Count the mills", "subagent_type": "scout"}});
    let result = json!({"type": "tool_result", "tool_use_id": "toolu_1",
        "content": [{"type": "text", "text": "Four."}]});
    let own = |kind: &str, id: &str, message: Value| {
        json!({"parentUuid": null, "isSidechain": false, "type": kind, "message": message, "uuid": id,
            "timestamp": at, "sessionId": session, "cwd": "/work", "version": "2.1.0"})
    };
    let answer = own(
        "assistant",
        "a-9",
        json!({"id": "msg_01AbCdEfGhIjKlMnOp9999", "type": "message",
        "role": "assistant", "model": "claude-opus-4-6", "content": [call],
        "usage": {"input_tokens": 10, "output_tokens": 20}}),
    );
    let mut answered = own("user", "r-9", json!({"role": "user", "content": [result]}));
    answered["toolUseResult"] = json!({"status": "completed", "agentId": agent, "totalTokens": 9});
    claude(session, None, 5, &[1]) + &lines(&[answer, answered])
}

/// What sub-agents spent may be recorded in files that are not here: then all sums with the session say so, as the
/// session itself does.
#[test]
fn a_sum_that_lacks_sub_agents_is_a_lower_bound() {
    let home = Home(tempfile::tempdir().unwrap());
    let project = ".claude/projects/-work";
    home.write(&format!("{project}/gone.jsonl"), &starting("gone", "a1"));
    // Another one has it, and so does a fork, whose requests are those of the other.
    let here = starting("here", "a2")
        .replace("OpQr", "OpQs")
        .replace("KlMn", "KlMm");
    home.write(&format!("{project}/here.jsonl"), &here);
    home.write(
        &format!("{project}/here/subagents/agent-a2.jsonl"),
        &claude("here", Some("a2"), 5, &[4]),
    );
    home.write(
        &format!("{project}/other.jsonl"),
        &claude("other", None, 12, &[8]),
    );
    let marks = |by: &str, name: &str| -> BTreeMap<String, bool> {
        let rows = home.rows(&["--by", by]);
        let mark = |row: &Value| {
            (
                row[name].as_str().unwrap().to_owned(),
                row["cost"]["is_partial"].as_bool().unwrap(),
            )
        };
        rows.iter().map(mark).collect()
    };
    let own = |pairs: &[(&str, bool)]| -> BTreeMap<String, bool> {
        pairs
            .iter()
            .map(|(name, mark)| ((*name).to_owned(), *mark))
            .collect()
    };
    assert_eq!(
        marks("session", "session"),
        own(&[("gone", true), ("here", false), ("other", false)])
    );
    assert_eq!(
        marks("day", "period"),
        own(&[("2026-01-05", true), ("2026-01-12", false)])
    );
    let (_, table, _) = home.usage(&["--by", "session"]);
    let (row, total) = (
        table.lines().find(|row| row.contains("gone")),
        table.lines().find(|row| row.starts_with("total")),
    );
    let is_partial = |row: &str| row.split_whitespace().any(|cell| cell.ends_with('+'));
    assert!(
        is_partial(row.unwrap()) && is_partial(total.unwrap()),
        "{table}"
    );
    for (id, lacks) in [("gone", true), ("here", false)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
        let command = command
            .env_clear()
            .env("HOME", home.0.path())
            .args(["stats", id, "--json"]);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let stats: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(stats["cost"]["is_partial"], lacks, "{id}");
    }
}

fn listed(home: &Home) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
    command
        .env_clear()
        .args(["list", "--json"])
        .env("HOME", home.0.path())
        .stdin(Stdio::null());
    let output = command.current_dir(home.0.path()).output().unwrap();
    let rows = String::from_utf8(output.stdout).unwrap();
    let id = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        row["id"].as_str().unwrap_or_default().to_owned()
    };
    let mut ids: Vec<String> = rows.lines().map(id).collect();
    ids.sort();
    ids
}

#[test]
fn a_session_under_two_names_is_one() {
    let home = Home(tempfile::tempdir().unwrap());
    home.write(
        ".claude/projects/-work/one.jsonl",
        &claude("one", None, 5, &[1]),
    );
    let folder = home.0.path();
    fs::create_dir_all(folder.join(".config/claude")).unwrap();
    std::os::unix::fs::symlink(
        folder.join(".claude/projects"),
        folder.join(".config/claude/projects"),
    )
    .unwrap();
    std::os::unix::fs::symlink(
        "one.jsonl",
        folder.join(".claude/projects/-work/latest.jsonl"),
    )
    .unwrap();
    assert_eq!(listed(&home), ["one"]);
    let (_, out, _) = home.usage(&["--by", "day"]);
    assert!(!out.contains("are counted there"), "{out}");
    assert_eq!(home.rows(&["--by", "day"])[0]["sessions"], 1);
}

/// What a session spent, told by all of its records and by those that counting needs, and how many records that are.
fn both_ways(target: &Target) -> Option<[(String, u64); 2]> {
    let found = || FoundSession {
        session: target.session.clone(),
        ..crate::fixtures::session_at(&target.path)
    };
    let tell = |read: Result<Reading, OpenError>| {
        let reading = read.ok()?;
        Some((
            format!("{:#?}", spender(found(), &reading, false)),
            reading.transcript.tally().records(),
        ))
    };
    let format = ingest::open(target).ok()?.opened.format;
    Some([
        tell(reading::read(target, true))?,
        tell(reading::count(target, format))?,
    ])
}

/// Counting passes over records that say nothing of what was spent, and comes to the same.
#[test]
fn counting_comes_to_what_all_records_tell() {
    for corpus in crate::corpus::corpora() {
        let (mut spent, mut passed, mut differing) = (0, 0, Vec::new());
        let targets = corpus.files().into_iter().map(|path| Target {
            path,
            session: None,
        });
        let sessions = targets.flat_map(|target| reading::sessions(&target).unwrap_or_default());
        for target in sessions {
            let Some([(whole, all), (counted, needed)]) = both_ways(&target) else {
                continue;
            };
            passed += all - needed;
            spent += whole.matches("UsageRecord {").count();
            if whole != counted {
                let pairs = whole
                    .lines()
                    .zip(counted.lines())
                    .find(|(whole, counted)| whole != counted);
                differing.push(format!("{}: {pairs:?}", target.path.display()));
            }
        }
        assert!(spent > corpus.least(500, 5_000), "{spent}");
        assert!(passed > corpus.least(100, 100) as u64, "{passed}");
        assert!(differing.is_empty(), "{differing:#?}");
    }
}

/// What happens to a line: its place in the file and the place in it are of a thousand.
#[derive(Clone, Copy, Debug)]
enum Damage {
    Dropped,
    Doubled,
    Cut,
    Joined,
    Without,
    With(u8),
    Repeated,
}

type Damages = Vec<(usize, usize, Damage)>;

fn damages() -> impl Strategy<Value = Damages> {
    let byte = prop::sample::select(b"{}[]\",:\\0x \t\x01\xff".to_vec());
    let damage = prop_oneof![
        1 => Just(Damage::Dropped),
        1 => Just(Damage::Doubled),
        1 => Just(Damage::Cut),
        1 => Just(Damage::Joined),
        1 => Just(Damage::Repeated),
        4 => Just(Damage::Without),
        8 => byte.prop_map(Damage::With),
    ];
    prop::collection::vec((0..1_000_usize, 0..1_000_usize, damage), 1..6)
}

fn damaged(sound: &[u8], damages: &Damages) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = sound
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    for (line, place, damage) in damages {
        let number = line * lines.len() / 1_000;
        let Some(line) = lines.get_mut(number).filter(|line| !line.is_empty()) else {
            continue;
        };
        let at = place * line.len() / 1_000;
        match damage {
            Damage::Dropped => line.clear(),
            Damage::Doubled => line.extend(line.clone()),
            Damage::Cut => drop(line.drain(at..line.len() - 1)),
            Damage::Joined => drop(line.pop()),
            Damage::Without => drop(line.remove(at)),
            Damage::With(byte) => line[at] = *byte,
            Damage::Repeated => {
                let copy = line.clone();
                lines.push(copy);
            }
        }
    }
    lines.concat()
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 1_000, ..crate::fixtures::cases(512) })]

    /// Full decoding decides what a broken line still says: counting must not know better.
    #[test]
    fn counting_comes_to_the_same_in_broken_files(which in any::<prop::sample::Index>(), damages in damages()) {
        let is_counted = |path: &PathBuf| {
            ["claude-code", "codex", "openclaw", "pi"].iter().any(|format| path.parent().unwrap().ends_with(format))
        };
        let files: Vec<PathBuf> = crate::fixtures::line_files().into_iter().filter(is_counted).collect();
        let sound = which.get(&files);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(sound.file_name().unwrap());
        fs::write(&path, damaged(&fs::read(sound).unwrap(), &damages)).unwrap();
        if let Some([(whole, _), (counted, _)]) = both_ways(&Target { path, session: None }) {
            let differs = whole.lines().zip(counted.lines()).find(|(whole, counted)| whole != counted);
            prop_assert!(whole == counted, "{}: {differs:?}", sound.display());
        }
    }
}

/// A process whose result counting does not look at stands between the count and the end of the turn: either way the
/// count has the time of the last that tells one.
#[test]
fn a_count_behind_the_end_of_a_turn_has_the_time_of_what_stands_before_it() {
    let sound = crate::fixtures::root()
        .join("codex/rollout-2026-11-03T10-00-00-01a1f3b0-1c80-7000-8000-0000000000b7.jsonl");
    let sound = fs::read(sound).unwrap();
    let counts = sound.split_inclusive(|byte| *byte == b'\n');
    let counts: Vec<&[u8]> = counts
        .filter(|line| line.windows(13).any(|word| word == b"\"token_count\""))
        .collect();
    assert_eq!(counts.len(), 5);
    let folder = tempfile::tempdir().unwrap();
    // The last one says nothing new; the others are what another process counted.
    for (number, count) in counts.iter().enumerate() {
        let path = folder.path().join(format!("rollout-{number}.jsonl"));
        fs::write(&path, [&sound, *count].concat()).unwrap();
        let [(whole, _), (counted, _)] = both_ways(&Target {
            path,
            session: None,
        })
        .unwrap();
        assert_eq!(whole, counted, "{number}");
        assert_eq!(
            whole.matches("UsageRecord {").count(),
            if number < 4 { 6 } else { 5 },
            "{whole}"
        );
        assert!(!whole.contains("at: None"), "{whole}");
    }
}

/// What has lost its time was spent by the newest record, which may be a result that counting does not look at.
#[test]
fn what_has_no_time_has_that_of_the_newest_record_for_whoever_only_counts() {
    let is_sound = |path: &PathBuf| {
        path.to_string_lossy()
            .ends_with(".jsonl.deleted.1773046800")
    };
    let sound = crate::fixtures::line_files()
        .into_iter()
        .find(is_sound)
        .unwrap();
    let sound = fs::read_to_string(sound).unwrap();
    let timeless = |line: &str| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        let is_result = record["message"]["role"] == "toolResult";
        record
            .as_object_mut()
            .unwrap()
            .retain(|name, _| is_result || name != "timestamp");
        record
    };
    // Without its call the result is one of its own.
    let has_call = |record: &Value| record.to_string().contains("\"toolCall\"");
    let records: Vec<Value> = sound
        .lines()
        .map(timeless)
        .filter(|record| !has_call(record))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder
        .path()
        .join("d3000000-0000-4000-8000-000000000003.jsonl");
    fs::write(&path, lines(&records)).unwrap();
    let [(whole, _), (counted, _)] = both_ways(&Target {
        path,
        session: None,
    })
    .unwrap();
    assert_eq!(whole, counted);
    assert!(whole.contains("newest: Some("), "{whole}");
}

/// A line of which only counting is done and one that is read as a whole, for it has lost its end, may be the same.
#[test]
fn a_line_that_comes_again_is_known_by_whoever_only_counts() {
    let sound = crate::fixtures::line_files()
        .into_iter()
        .find(|path| path.ends_with("openclaw/rewritten.jsonl"));
    let sound = fs::read(sound.unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // An answer that others were made from, and one that the file holds only so.
    for (repeated, joined) in [(534, 438), (467, 400), (467, 467), (534, 534)] {
        let path = folder.path().join(format!("{repeated}-{joined}.jsonl"));
        let damages = vec![(repeated, 0, Damage::Repeated), (joined, 0, Damage::Joined)];
        fs::write(&path, damaged(&sound, &damages)).unwrap();
        let [(whole, _), (counted, _)] = both_ways(&Target {
            path,
            session: None,
        })
        .unwrap();
        assert_eq!(whole, counted, "{repeated} {joined}");
        assert_eq!(
            whole.matches("UsageRecord {").count(),
            4,
            "{repeated} {joined}"
        );
    }
}
