//! Tests of ends of background work that are removed or falsified: the lint finds each by the rule
//! for it, in every session with background work.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use tv::analysis::lint::Findings;
use tv::ingest::{self, Target};
use tv::model::body::Key;
use tv::model::entry::Role;
use tv::model::timestamp::Timestamp;
use tv::model::tool::Verdict;
use tv::model::tool::work::{Carrier, EndRecording, Update, Work};
use tv::model::transcript::Transcript;

use crate::corpus::corpora;
use crate::fixtures::read;

/// The formats whose agents have such work, and the sessions of the lint.
const FORMATS: [&str; 8] = [
    "claude-code",
    "claude-stream-json",
    "codex",
    "copilot-cli",
    "hermes",
    "kimi-code",
    "lint",
    "openclaw",
];

/// A session of lines with work that went on after the result of its call.
struct Sample {
    lines: Vec<String>,
    /// By the key of a record: its line.
    line_of: HashMap<Key, usize>,
    works: Vec<(Key, Work)>,
    /// When the model answered last, and when the last turn began.
    last: (Option<Timestamp>, Option<Timestamp>),
}

impl Sample {
    fn of(path: &Path) -> Option<Self> {
        let is_lines = path.extension().is_some_and(|end| end == "jsonl");
        let text = fs::read_to_string(path)
            .ok()
            .filter(|text| is_lines && text.len() < 8 << 20)?;
        let target = Target {
            path: path.to_owned(),
            session: None,
        };
        ingest::sessions(&target)
            .ok()
            .filter(|ids| !ids.is_empty())?;
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let transcript = read(&target).transcript;
        let mut line_of = HashMap::new();
        let mut works = Vec::new();
        for entry in transcript
            .entries()
            .filter(|entry| !entry.marks.copy && entry.lane.is_none())
        {
            line_of
                .entry(entry.key.clone())
                .or_insert(entry.origin.line as usize);
            for call in entry.calls() {
                let Some(result) = call.state.result() else {
                    continue;
                };
                for key in [&call.key, &result.key] {
                    line_of.insert(key.clone(), result.body.from.line as usize);
                }
                works.extend(
                    call.state
                        .work()
                        .map(|work| (call.key.clone(), work.clone())),
                );
            }
        }
        let answers = transcript
            .entries()
            .filter(|entry| entry.role == Role::Assistant && entry.lane.is_none());
        let answered = answers.filter_map(|entry| entry.at).max();
        let prompted = transcript
            .entries()
            .filter(|entry| entry.marks.prompt)
            .filter_map(|entry| entry.at)
            .max();
        works.retain(|(_, work)| work.ends != EndRecording::Unrecorded);
        (!works.is_empty()).then_some(Self {
            lines,
            line_of,
            works,
            last: (answered, prompted),
        })
    }

    /// The lines that tell an end of work, by those who get to see them.
    fn told<'w>(&self, work: &'w Work) -> Option<Vec<(usize, &'w Update)>> {
        let ends = work.updates.iter().filter(|update| update.end.is_some());
        ends.map(|update| Some((*self.line_of.get(&update.by)?, update)))
            .collect()
    }

    /// The rules that find something in a session of these lines.
    fn found(path: &Path, lines: &[String]) -> Vec<&'static str> {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join(path.file_name().unwrap());
        fs::write(&copy, lines.join("\n") + "\n").unwrap();
        let transcript: Transcript = read(&Target {
            path: copy,
            session: None,
        })
        .transcript;
        Findings::of(&transcript)
            .iter()
            .map(|found| found.rule.id)
            .collect()
    }

    fn without(&self, gone: &[usize]) -> Vec<String> {
        let kept = self
            .lines
            .iter()
            .zip(1..)
            .filter(|(_, number)| !gone.contains(number));
        kept.map(|(line, _)| line.clone()).collect()
    }
}

/// A line that tells the other outcome, under another id; none if no word of it tells an outcome.
fn told_otherwise(line: &str, update: &Update) -> Option<String> {
    let words: &[(&str, &str)] = match update.end.map(|end| end.verdict) {
        Some(Verdict::Done) => &[
            ("completed", "failed"),
            ("exited", "failed"),
            ("exit code 0", "exit code 9"),
            ("exit_code=0", "exit_code=9"),
            ("code 0", "code 9"),
        ],
        _ => &[
            ("failed", "completed"),
            ("errored", "completed"),
            ("killed", "completed"),
            ("stopped", "completed"),
            ("signal SIGKILL", "code 0"),
        ],
    };
    let code = update
        .end
        .and_then(|end| end.exit)
        .filter(|code| *code != 0)
        .unwrap_or(-1);
    let other = words
        .iter()
        .fold(line.to_owned(), |line, (from, to)| line.replace(from, to));
    let other = ["exit code ", "exit_code=", "code "]
        .iter()
        .fold(other, |line, before| {
            line.replace(&format!("{before}{code}"), &format!("{before}0"))
        });
    let other = Some(other).filter(|other| other != line)?;
    Some(match update.by.strip_prefix('@') {
        Some(_) => other,
        None => other.replace(
            update.by.as_str(),
            &format!("{}0", &update.by[..update.by.len() - 1]),
        ),
    })
}

#[test]
fn what_is_wrong_with_ends_is_found_by_its_rule() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for corpus in corpora() {
        for path in corpus.of(&FORMATS) {
            let Some(sample) = Sample::of(&path) else {
                continue;
            };
            let mut check = |what: &'static str, lines: &[String], rules: &[&str]| {
                let found = Sample::found(&path, lines);
                assert!(
                    rules.iter().any(|rule| found.contains(rule)),
                    "{what} of {}: {found:?}",
                    path.display()
                );
                *counts.entry(what).or_default() += 1;
            };
            for (call, work) in &sample.works {
                let Some(told) = sample.told(work).filter(|told| !told.is_empty()) else {
                    continue;
                };
                let seen = |carrier| matches!(carrier, Carrier::Notice | Carrier::Poll);
                let (delivered, kept): (Vec<_>, Vec<_>) =
                    told.iter().partition(|(_, update)| seen(update.carrier));
                let first = told.iter().filter_map(|(_, update)| update.at).min();
                // Where the model never answered after it, the end is on its way.
                if !delivered.is_empty() && !kept.is_empty() && sample.last.0 > first {
                    let gone: Vec<usize> = delivered.iter().map(|(line, _)| *line).collect();
                    check(
                        "deliveries",
                        &sample.without(&gone),
                        &["undelivered-completion"],
                    );
                }
                // Where no other turn began, it may go on.
                if sample.last.1 > work.updates.first().and_then(|update| update.at) {
                    let gone: Vec<usize> = told.iter().map(|(line, _)| *line).collect();
                    check(
                        "carriers",
                        &sample.without(&gone),
                        &["no-completion", "unpolled-session"],
                    );
                }
                let notice = told
                    .iter()
                    .rfind(|(_, update)| update.carrier == Carrier::Notice);
                let otherwise = notice.and_then(|(line, update)| {
                    Some((*line, told_otherwise(&sample.lines[line - 1], update)?))
                });
                if let Some((line, other)) = otherwise {
                    let mut lines = sample.lines.clone();
                    lines.insert(line, other);
                    check("another outcome", &lines, &["early-completion"]);
                }
                let others = sample.works.iter().filter(|(other, _)| other != call);
                let other = others
                    .filter_map(|(other, work)| Some((other, sample.told(work)?)))
                    .find(|(_, told)| !told.is_empty());
                let names = |told: &[(usize, &Update)], call: &Key| {
                    told.iter()
                        .all(|(line, _)| sample.lines[line - 1].contains(call.as_str()))
                };
                let own_notice = told
                    .iter()
                    .any(|(_, update)| update.carrier == Carrier::Notice);
                let is_wrong =
                    || Sample::found(&path, &sample.lines).contains(&"misrouted-completion");
                if let Some((other, others)) = other
                    && own_notice
                    && !is_wrong()
                    && names(&told, call)
                    && names(&others, other)
                {
                    let own = told.iter().map(|(line, _)| (line - 1, call, other));
                    let swapped = own.chain(others.iter().map(|(line, _)| (line - 1, other, call)));
                    let lines = swapped.fold(sample.lines.clone(), with_other_name);
                    check("two ids", &lines, &["misrouted-completion"]);
                }
            }
        }
    }
    println!("found: {counts:?}");
    for what in ["deliveries", "carriers", "another outcome", "two ids"] {
        assert!(
            counts.get(what).copied().unwrap_or_default() > 0,
            "none of: {what}"
        );
    }
}

fn told_by(arguments: &[&str]) -> (Option<i32>, serde_json::Value) {
    let path = crate::fixtures::root().join("claude-code/background.jsonl");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_tv"));
    let output = command
        .args(arguments)
        .arg(path)
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    (
        output.status.code(),
        serde_json::from_slice(&output.stdout).unwrap_or_default(),
    )
}

#[test]
fn time_of_work_in_the_background_is_neither_work_nor_the_humans() {
    let (_, stats) = told_by(&["stats", "--json"]);
    let turn = &stats["turn_list"][0];
    assert_eq!(
        (&turn["background_ms"], &turn["waiting_ms"]),
        (&308_000.into(), &0.into()),
        "{turn}"
    );
    assert_eq!(stats["session"]["running"], 0, "nobody writes the file");
}

#[test]
fn the_brief_lists_work_that_nobody_told_the_end_of() {
    let (_, brief) = told_by(&["brief", "--json"]);
    let states: Vec<&str> = brief["open"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|open| open["state"].as_str())
        .collect();
    assert_eq!(states, ["undelivered", "unknown"]);
    let failed = brief["failed"].as_array().unwrap();
    assert!(
        failed.iter().any(|failed| failed["reason"] == "exit 3"),
        "{failed:?}"
    );
}

#[test]
fn calls_are_waited_for_by_their_ids_and_those_of_their_work() {
    for (until, code) in [
        ("done:toolu_01Dredge", 0),
        ("done:b1dredge1", 0),
        ("running=0", 0),
        ("running>0", 1),
        ("done:b4wreck44", 1),
    ] {
        let (found, _) = told_by(&["wait", "--timeout", "1s", "--until", until]);
        assert_eq!(found, Some(code), "{until}");
    }
}

/// The lines with another name in one of them.
fn with_other_name(mut lines: Vec<String>, (at, from, to): (usize, &Key, &Key)) -> Vec<String> {
    lines[at] = lines[at].replace(from.as_str(), to.as_str());
    lines
}
