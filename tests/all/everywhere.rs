//! Tests of `tv tools` over many sessions: its sums are those of the sessions, however they are grouped.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tv::analysis::by::By;

use crate::fixtures;

fn rows(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
    command
        .env_clear()
        .env("HOME", home.path())
        .env("LC_ALL", "C.UTF-8");
    let output = command
        .args(["tools", "--json"])
        .args(arguments)
        .arg(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Calls, failures and calls without a result, by name.
fn sums(rows: &[Value], name: &str) -> BTreeMap<String, [u64; 3]> {
    let mut sums: BTreeMap<String, [u64; 3]> = BTreeMap::new();
    for row in rows {
        let sum = sums
            .entry(row[name].as_str().unwrap_or_default().to_owned())
            .or_default();
        for (sum, field) in sum.iter_mut().zip(["calls", "failed", "open"]) {
            *sum += row[field].as_u64().unwrap();
        }
    }
    sums
}

#[test]
fn sums_over_sessions_are_those_of_the_sessions() {
    for format in ["pi", "codex", "copilot"] {
        let folder = fixtures::root().join(format);
        if !folder.exists() {
            continue;
        }
        let own = sums(&rows(&folder, &["--sums"]), "tool");
        assert!(!own.is_empty(), "{format}");
        assert_eq!(
            sums(&rows(&folder, &["--by", "tool"]), "name"),
            own,
            "{format}"
        );
        let all = |sums: BTreeMap<String, [u64; 3]>| {
            sums.into_values()
                .fold([0; 3], |all, sum| [0, 1, 2].map(|at| all[at] + sum[at]))
        };
        let whole = all(own);
        for (_, by) in By::ALL {
            let rows = rows(&folder, &["--by", by]);
            assert_eq!(all(sums(&rows, "name")), whole, "{format} by {by}");
            for row in rows {
                let failures = row["failures"].as_array().unwrap();
                let counted: u64 = failures
                    .iter()
                    .map(|same| same["count"].as_u64().unwrap())
                    .sum();
                assert_eq!(counted, row["failed"].as_u64().unwrap(), "{format} by {by}");
            }
        }
    }
}
