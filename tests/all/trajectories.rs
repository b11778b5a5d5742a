//! Tests of ATIF trajectories whose sub-agents have files of their own: they are one session within
//! its folder, and are counted once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tv::ingest::find::{DiscoveryQuery, Environment, sessions};
use tv::ingest::{Target, WatchMode};
use tv::model::timestamp::Timestamp;
use tv::model::transcript::Transcript;

use crate::fixtures::{self, ReadSession};
use crate::follow::Followed;

fn read(path: &Path) -> ReadSession {
    fixtures::read(&Target {
        path: path.to_owned(),
        session: None,
    })
}

fn step(number: u32, tokens: u64) -> Value {
    json!({"step_id": number, "timestamp": format!("2026-05-01T09:00:{number:02}Z"), "source": "agent",
        "model_name": "gpt-5-mini", "message": format!("step {number}"),
        "metrics": {"prompt_tokens": tokens, "completion_tokens": 1, "cost_usd": 0.5}})
}

/// A trajectory of one step, which refers to others.
fn trajectory(id: &str, tokens: u64, refs: &[Value]) -> Value {
    let results: Vec<Value> = refs
        .iter()
        .map(|one| json!({"subagent_trajectory_ref": [one]}))
        .collect();
    json!({"schema_version": "ATIF-v1.6", "session_id": id,
        "agent": {"name": format!("agent of {id}"), "version": "1", "model_name": "gpt-5-mini"},
        "steps": [step(1, tokens),
            {"step_id": 2, "timestamp": "2026-05-01T09:00:02Z", "source": "system", "message": "Handed on.",
                "observation": {"results": results}}]})
}

fn with_sums(mut trajectory: Value, tokens: u64, cost: f64) -> Value {
    trajectory["final_metrics"] = json!({"total_prompt_tokens": tokens, "total_completion_tokens": 1, "total_cost_usd": cost});
    trajectory
}

fn file(path: &str) -> Value {
    json!({"session_id": "x", "trajectory_path": path})
}

fn write(folder: &Path, name: &str, trajectory: &Value) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, trajectory.to_string()).unwrap();
    path
}

/// Lanes with their labels and how much is in them.
fn lanes(transcript: &Transcript) -> Vec<(&str, &str, usize)> {
    let lane = |name: &str| {
        transcript
            .entries()
            .filter(|entry| entry.lane.as_deref() == Some(name))
            .count()
    };
    let all = transcript.lanes().iter();
    all.map(|facts| (facts.name.as_str(), facts.label.as_str(), lane(&facts.name)))
        .collect()
}

fn input(transcript: &Transcript) -> u64 {
    transcript.totals().sum().input.total
}

fn tv(arguments: &[&str], folder: &Path) -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_tv"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_sub_agent_in_a_file_of_its_own_is_a_lane_below_its_call() {
    let session = read(&fixtures::root().join("atif/crew.json"));
    let transcript = &session.transcript;
    let mast = transcript
        .lanes()
        .iter()
        .find(|lane| lane.label.as_str() == "painter")
        .unwrap();
    let call = mast.call.as_deref();
    assert_eq!(
        (mast.name.as_str(), call, mast.entries.len()),
        ("trajectory.mast.json", Some("c2"), 3)
    );
    let sum = transcript.totals().sum();
    let tokens = (sum.input.total + sum.cache_read.total, sum.output.total);
    assert_eq!(
        tokens,
        (1700 + 640 + 100 + 1000 + 430, 60 + 25 + 3 + 8 + 18)
    );
    assert_eq!(
        transcript.meta().id.as_deref(),
        Some("trial-8"),
        "what a sub-agent says of itself is no fact of it"
    );
}

#[test]
fn sums_that_have_sub_agents_in_them_are_not_added_to() {
    let dir = tempfile::tempdir().unwrap();
    let part = with_sums(trajectory("part", 70, &[]), 70, 0.5);
    write(dir.path(), "part.json", &part);
    let whole = |sums: Option<(u64, f64)>| {
        let plain = trajectory("whole", 100, &[file("part.json")]);
        let whole = sums.map_or(plain.clone(), |(tokens, cost)| {
            with_sums(plain, tokens, cost)
        });
        let path = write(dir.path(), "whole.json", &whole);
        let transcript = read(&path).transcript;
        (input(&transcript), transcript.totals().run_cost())
    };
    assert_eq!(whole(None), (170, None), "requests are added up");
    assert_eq!(whole(Some((100, 0.5))), (170, Some(1.0)));
    assert_eq!(
        whole(Some((170, 1.0))),
        (170, Some(1.0)),
        "as Terminus writes them"
    );
    assert_eq!(
        whole(Some((100, 1.0))),
        (170, Some(1.0)),
        "as they are specified"
    );
}

#[test]
fn what_belongs_to_a_session_is_neither_listed_nor_counted_again() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    write(
        folder,
        "a.json",
        &trajectory("a", 100, &[file("b.json"), file("sub/c.json")]),
    );
    write(folder, "b.json", &trajectory("b", 20, &[]));
    write(folder, "sub/c.json", &trajectory("c", 3, &[]));
    write(folder, "d.json", &trajectory("d", 4000, &[]));
    let listed = |arguments: &[&str]| {
        let mut ids: Vec<String> = tv(arguments, folder)
            .iter()
            .filter_map(|row| Some(row["id"].as_str()?.to_owned()))
            .collect();
        ids.sort();
        ids
    };
    assert_eq!(listed(&["list", "--json", "."]), ["a", "d"]);
    assert_eq!(
        listed(&["list", "--json", "b.json"]),
        ["b"],
        "who asks for a file gets it"
    );
    let counted = |names: &[&str]| {
        let rows = tv(&[&["usage", "--json"], names].concat(), folder);
        rows.last().unwrap()["usage"]["input"].as_u64()
    };
    assert_eq!(counted(&["."]), Some(4123));
    assert_eq!(
        counted(&["a.json", "b.json", "d.json", "sub/c.json"]),
        Some(4123)
    );
    assert_eq!(counted(&["b.json"]), Some(20));
    assert_eq!(lanes(&read(&folder.join("a.json")).transcript).len(), 2);
}

#[test]
fn no_name_leads_out_of_the_folder_of_the_session() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("run");
    let secret = write(dir.path(), "secret.json", &trajectory("secret", 9, &[]));
    write(&folder, "near.json", &trajectory("near", 9, &[]));
    std::os::unix::fs::symlink(&secret, folder.join("link.json")).unwrap();
    let away = secret.display().to_string();
    let names = [
        "../secret.json",
        &away,
        "link.json",
        "*.json",
        "sub/../../secret.json",
        "main.json",
        "near.json",
    ];
    let refs: Vec<Value> = names.iter().map(|name| file(name)).collect();
    let path = write(&folder, "main.json", &trajectory("main", 100, &refs));
    let transcript = read(&path).transcript;
    assert_eq!(lanes(&transcript), [("near.json", "agent of near", 2)]);
    assert_eq!(input(&transcript), 109);
    // Of two that name each other each is a session.
    write(
        &folder,
        "near.json",
        &trajectory("near", 9, &[file("main.json")]),
    );
    let rows = tv(&["list", "--json", "."], &folder);
    assert!(rows.iter().any(|row| row["id"] == "main"), "{rows:?}");
}

#[test]
fn a_file_that_comes_later_is_read_when_it_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = write(
        dir.path(),
        "main.json",
        &trajectory("main", 100, &[file("late.json")]),
    );
    let mut followed = Followed::start(&path, WatchMode::Poll);
    followed.until("the session is there", |followed| {
        followed.whole.entries().count() >= 2
    });
    assert!(
        lanes(&followed.whole).is_empty(),
        "nothing is told of what is not there"
    );
    write(dir.path(), "late.json", &trajectory("late", 20, &[]));
    followed.until("its sub-agent is there", |followed| {
        input(&followed.whole) == 120
    });
    assert_eq!(lanes(&followed.whole), [("late.json", "agent of late", 2)]);
}

/// Runs of the extension pi-subagents have files of their own: they are lanes, and what the result of their call repeats of
/// them counts once.
#[test]
fn runs_of_sub_agents_of_pi_hang_at_the_calls_that_started_them() {
    let stem = "2026-09-13T09-00-00-000Z_0f14b000-0000-4000-8000-0000000000d1";
    let path = fixtures::root().join(format!("pi/{stem}.jsonl"));
    let whole = read(&path).transcript;
    let lanes = whole
        .lanes()
        .iter()
        .map(|lane| (lane.name.as_str(), lane.call.as_deref(), lane.entries.len()));
    let mut lanes: Vec<_> = lanes.collect();
    lanes.sort_unstable();
    assert_eq!(
        lanes,
        [("6e01/run-0", Some("call_w"), 3), ("6e02/run-0", None, 2)]
    );
    let sum = whole.totals().sum();
    assert_eq!(
        (sum.requests, sum.output.total, sum.recorded_nanos),
        (6, 38, 36_000_000)
    );
    assert_eq!(whole.turns().len(), 1);
    // Without its file the result says what the run spent.
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join(format!("{stem}.jsonl"));
    fs::copy(&path, &alone).unwrap();
    let sum = read(&alone).transcript.totals().sum();
    assert_eq!(
        (sum.requests, sum.output.total, sum.recorded_nanos),
        (3, 36, 34_000_000)
    );

    let home = tempfile::tempdir().unwrap();
    let project = home.path().join(".pi/agent/sessions/--home-ada-mill--");
    let lay = |from: &Path, to: PathBuf| {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    };
    for run in ["6e01", "6e02"] {
        let file = format!("{run}/run-0/session.jsonl");
        lay(
            &path.with_extension("").join(&file),
            project.join(stem).join(&file),
        );
    }
    let environment = Environment {
        home: Some(home.path().to_owned()),
        ..Environment::default()
    };
    let search = DiscoveryQuery {
        environment,
        ..DiscoveryQuery::default()
    };
    let found = || sessions(&search, Timestamp(0)).map(Result::unwrap).count();
    assert_eq!(found(), 2, "their session is gone");
    lay(&path, project.join(format!("{stem}.jsonl")));
    assert_eq!(found(), 1);
}
