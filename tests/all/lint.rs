//! Tests of the lint: every rule finds its fault and nothing that only resembles it; the output of
//! `tv check`; the list in the viewer.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tv::analysis::calls::pairing;
use tv::analysis::lint::{Findings, Severity, rules, word};
use tv::app::outline::row::SectionKind;
use tv::ingest::Target;
use tv::model::body::Key;
use tv::model::tool::ToolKind;
use tv::render::theme::Theme;

use crate::corpus::corpora;
use crate::fixtures::{children, read, root};
use crate::made::{calls, prompt};
use crate::stage::Stage;

fn folder() -> PathBuf {
    root().join("lint")
}

/// Sessions of a rule whose name begins so.
fn sessions(rule: &str, begin: &str) -> Vec<PathBuf> {
    let named = |path: &PathBuf| {
        path.file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with(begin)
    };
    children(&folder().join(rule))
        .into_iter()
        .filter(named)
        .collect()
}

fn found_in(path: &Path) -> Vec<(&'static str, Severity)> {
    let session = read(&Target {
        path: path.to_owned(),
        session: None,
    });
    Findings::of(&session.transcript)
        .iter()
        .map(|found| (found.rule.id, found.severity))
        .collect()
}

#[test]
fn every_rule_finds_its_flaw_and_nothing_that_looks_alike() {
    for rule in rules() {
        let (bad, good) = (sessions(rule.id, "bad"), sessions(rule.id, "good"));
        assert!(
            !bad.is_empty() && !good.is_empty(),
            "{} lacks a session that it finds, or that it must not",
            rule.id
        );
        for path in &bad {
            let found = found_in(path);
            assert!(
                found.contains(&(rule.id, rule.severity)),
                "{}: {found:?}",
                path.display()
            );
        }
        for path in &good {
            assert_eq!(found_in(path), [], "{}", path.display());
        }
        for path in &sessions(rule.id, "note") {
            let found = found_in(path);
            assert!(
                found.contains(&(rule.id, Severity::Note)),
                "{}: {found:?}",
                path.display()
            );
            assert!(
                found
                    .iter()
                    .all(|(_, severity)| *severity == Severity::Note),
                "{found:?}"
            );
        }
    }
    let known: BTreeSet<&str> = rules().map(|rule| rule.id).collect();
    assert_eq!(known.len(), rules().count(), "two rules have one name");
    for path in children(&folder()).iter().filter(|path| path.is_dir()) {
        let name = path.file_name().unwrap().to_string_lossy();
        assert!(known.contains(&*name), "{name} is no rule");
    }
}

#[test]
fn records_that_are_no_entries_are_known_as_links() {
    let path = root().join("claude-code/5d0c1c52-7f4e-4a39-9d5b-2f6f0c9b1e01.jsonl");
    let known = read(&Target {
        path,
        session: None,
    })
    .transcript;
    let parents: Vec<&Key> = known
        .entries()
        .filter(|entry| entry.lane.is_none())
        .filter_map(|entry| entry.parent.as_ref())
        .collect();
    let is_entry = |key: &&&Key| known.find(key).is_some();
    assert!(
        parents.iter().filter(is_entry).count() < parents.len(),
        "some hang below results"
    );
    let missing: Vec<_> = parents
        .iter()
        .filter(|key| known.parent_of(known.print_of(key)).is_none())
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_manual_has_the_rules() {
    let page = include_str!("../../assets/manual/checks.md");
    for rule in rules() {
        let row = format!(
            "| `{}` | {} | {} |",
            rule.id,
            word(rule.severity),
            rule.what
        );
        assert!(page.contains(&row), "checks.md lacks the row {row}");
    }
}

fn check(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
    command
        .arg("check")
        .args(arguments)
        .stdin(Stdio::null())
        .current_dir(folder())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn lines_lead_an_editor_to_the_id() {
    let output = check(&["duplicate-result/bad.jsonl"]);
    assert_eq!(output.status.code(), Some(1));
    let output = text(&output.stdout);
    let mut lines = output.lines();
    let place = lines.next().unwrap();
    let expected = "duplicate-result/bad.jsonl:5:141: error[duplicate-result]: a further result of bash \
                    (toolu_01Qz4vK1mB7nR2sT8wX3yA1); Anthropic answers 400: each tool_use must have a single result. \
                    Found multiple `tool_result` blocks with id: toolu_01Qz4vK1mB7nR2sT8wX3yA1";
    assert_eq!(place, expected);
    assert_eq!(lines.next(), Some("1 error in 1 session"));
    let file = std::fs::read_to_string(folder().join("duplicate-result/bad.jsonl")).unwrap();
    assert!(file.lines().nth(4).unwrap()[140..].starts_with("toolu_01Qz4vK1mB7nR2sT8wX3yA1"));
}

#[test]
fn the_exit_code_says_whether_an_error_was_found() {
    assert_eq!(check(&["orphan-call/good.jsonl"]).status.code(), Some(0));
    assert_eq!(
        check(&["name-mismatch/bad.jsonl"]).status.code(),
        Some(0),
        "a warning is no error"
    );
    assert_eq!(
        check(&["name-mismatch/bad.jsonl", "orphan-call/bad.jsonl"])
            .status
            .code(),
        Some(1)
    );
    assert_eq!(
        check(&["orphan-call/bad.jsonl", "missing.jsonl"])
            .status
            .code(),
        Some(2)
    );
    assert_eq!(check(&[]).status.code(), Some(2));
    let rules_listed = check(&["--rules"]);
    assert_eq!(rules_listed.status.code(), Some(0));
    assert_eq!(text(&rules_listed.stdout).lines().count(), rules().count());
}

#[test]
fn what_is_less_than_asked_for_is_only_counted() {
    let output = text(&check(&["empty-result/bad.jsonl"]).stdout);
    assert_eq!(output, "1 note (not shown) in 1 session\n");
    let output = text(&check(&["--severity", "info", "empty-result/bad.jsonl"]).stdout);
    assert!(
        output.starts_with("empty-result/bad.jsonl:4:141: note[empty-result]: "),
        "{output}"
    );
    let hidden = check(&["--severity", "error", "--json", "name-mismatch/bad.jsonl"]);
    assert!(hidden.stdout.is_empty());
}

#[test]
fn json_has_a_finding_a_line() {
    let output = text(&check(&["--json", "partial-batch/bad.jsonl"]).stdout);
    let findings: Vec<Value> = output
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(findings.len(), 2);
    for finding in &findings {
        assert_eq!(finding["schema"], "tv.check/1");
        assert_eq!(finding["path"], "partial-batch/bad.jsonl");
        assert_eq!(
            (&finding["entry"], &finding["line"]),
            (&Value::from(2), &Value::from(3))
        );
        assert_eq!(finding["call_id"], "toolu_01Qz4vK1mB7nR2sT8wX3yB2");
        assert!(finding["byte"].as_u64().unwrap() > 0);
        assert!(!finding["message"].as_str().unwrap().is_empty());
        assert!(
            finding["consequence"]
                .as_str()
                .unwrap()
                .starts_with("Anthropic answers 400: ")
        );
    }
    assert_eq!(
        (&findings[0]["rule"], &findings[0]["severity"]),
        (&"orphan-call".into(), &"error".into())
    );
    assert_eq!(
        (&findings[1]["rule"], &findings[1]["severity"]),
        (&"partial-batch".into(), &"warning".into())
    );
}

#[test]
fn sarif_names_its_rules_and_places() {
    let output = check(&["--sarif", "partial-batch/bad.jsonl", "empty-id/bad.jsonl"]);
    assert_eq!(output.status.code(), Some(1));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["version"], "2.1.0");
    let run = &document["runs"][0];
    let listed = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(listed.len(), rules().count());
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(listed[index]["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        let place = &result["locations"][0]["physicalLocation"];
        assert!(
            place["artifactLocation"]["uri"]
                .as_str()
                .unwrap()
                .ends_with("/bad.jsonl")
        );
        assert!(place["region"]["startLine"].as_u64().unwrap() >= 1);
        assert!(place["region"]["byteLength"].as_u64().unwrap() >= 1);
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
    }
}

/// The messages of a document are not its lines.
#[test]
fn sarif_names_a_line_only_where_records_are_lines() {
    let folder = tempfile::tempdir().unwrap();
    let task = folder.path().join("tasks/1767225600000");
    std::fs::create_dir_all(&task).unwrap();
    let messages = json!([
        {"role": "user", "content": [{"type": "text", "text": "<task>\nlook\n</task>"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "", "name": "read_file", "input": {"path": "a"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "nobody", "content": "b"}]},
    ]);
    let path = task.join("api_conversation_history.json");
    std::fs::write(&path, messages.to_string()).unwrap();
    let output = check(&["--sarif", "--severity", "note", path.to_str().unwrap()]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let results = document["runs"][0]["results"].as_array().unwrap();
    assert!(
        !results.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    for result in results {
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert!(
            region["startLine"].is_null() && region["byteOffset"].is_u64(),
            "{region}"
        );
    }
}

#[test]
fn no_session_has_orphans_that_the_figures_do_not_have() {
    for corpus in corpora() {
        let formats = [
            "claude-code",
            "claude-stream-json",
            "pi",
            "openclaw",
            "cline",
            "opencode",
            "roo-code",
        ];
        let mut checked = 0;
        for path in corpus.of(&formats) {
            if path
                .extension()
                .is_some_and(|ending| ending == "db" || ending == "sqlite" || ending == "lock")
            {
                continue;
            }
            let Ok(session) = tv::ingest::open(&Target {
                path: path.clone(),
                session: None,
            }) else {
                continue;
            };
            let mut batches = Vec::new();
            session.read_whole(true, &mut |feed| {
                if let tv::model::edit::Feed::Batch {
                    stage: tv::model::edit::Stage::Whole,
                    batch,
                } = feed
                {
                    batches.push(*batch);
                }
            });
            let transcript = crate::fixtures::transcript_of(batches);
            let counts = pairing::count(&transcript, true);
            let findings = Findings::of(&transcript);
            let of = |rule: &str| {
                findings
                    .iter()
                    .filter(|found| found.rule.id == rule)
                    .count() as u64
            };
            // A result without an id has no call either, but the finding is that it has no id.
            let strays = of("orphan-result")..=of("orphan-result") + of("empty-id");
            assert!(
                strays.contains(&counts.orphan_results),
                "{}",
                path.display()
            );
            assert!(
                of("orphan-call") <= counts.orphan_calls + counts.pending,
                "{}",
                path.display()
            );
            checked += 1;
        }
        assert!(checked > corpus.least(30, 50), "{checked} sessions");
    }
}

#[test]
fn the_list_of_checks_leads_to_what_was_found() {
    let path = folder().join("partial-batch/bad.jsonl");
    let mut stage = Stage::open(&path, (100, 24), Theme::dark());
    stage.press("!");
    insta::assert_snapshot!("checks", stage.picture());
    stage.press("g j enter");
    assert_eq!(stage.app.reader.views.open(), None);
    let focus = stage.app.reader.text.view.focus.unwrap();
    let found = stage
        .app
        .reader
        .session
        .indexes
        .findings
        .iter()
        .next()
        .unwrap();
    assert_eq!((focus.entry, focus.block), (found.entry, found.block));
    stage.press("! !");
    assert_eq!(
        stage.app.reader.views.open(),
        None,
        "the key that opens the list closes it"
    );
}

#[test]
fn a_session_without_flaws_has_an_empty_list() {
    let mut stage = Stage::open(
        &folder().join("orphan-call/good.jsonl"),
        (80, 24),
        Theme::dark(),
    );
    stage.press("!");
    assert!(
        stage.picture().contains("Nothing found"),
        "{}",
        stage.picture()
    );
    stage.press("j k enter q");
    assert_eq!(stage.app.reader.views.open(), None);
}

#[test]
fn the_list_of_checks_fits_all_sizes() {
    let path = folder().join("partial-batch/bad.jsonl");
    for (columns, lines) in [(80, 24), (120, 40), (200, 60), (44, 14)] {
        let mut stage = Stage::open(&path, (columns, lines), Theme::dark());
        stage.press("!");
        insta::assert_snapshot!(format!("checks-{columns}x{lines}"), stage.picture());
    }
}

#[test]
fn the_list_of_checks_grows_with_the_session() {
    let mut stage = Stage::made((100, 24));
    stage.add([
        prompt("p1", "build it"),
        calls("c1", 5, "bash", ToolKind::Run, "cargo build"),
    ]);
    stage.press("!");
    assert!(
        !stage.picture().contains("orphan-call"),
        "the call may still end: {}",
        stage.picture()
    );
    stage.add([prompt("p2", "and now test it")]);
    assert!(
        stage.picture().contains("orphan-call"),
        "{}",
        stage.picture()
    );
}

/// A session with so many results that have no call, one of them named in each line.
fn strays(name: &str, count: usize) -> PathBuf {
    let path = std::env::temp_dir().join(format!("tv-lint-{name}-{}.jsonl", std::process::id()));
    let user = |n: usize, content: String| {
        format!(
            r#"{{"type":"user","uuid":"u{n}","parentUuid":null,"sessionId":"s","timestamp":"2026-06-01T00:00:{:02}.000Z","message":{{"role":"user","content":{content}}}}}"#,
            n % 60
        )
    };
    let result = |n: usize| {
        user(
            n,
            format!(r#"[{{"type":"tool_result","tool_use_id":"toolu_{n:03}","content":"ok"}}]"#),
        )
    };
    let mut lines = vec![user(0, r#""build it""#.to_owned())];
    lines.extend((1..=count).map(result));
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    path
}

#[test]
fn what_a_rule_finds_many_times_is_one_line_and_each_in_json() {
    let path = strays("lines", 60);
    let name = path.to_str().unwrap();
    let output = text(&check(&[name]).stdout);
    assert_eq!(output.lines().count(), 2, "{output}");
    assert!(
        output.contains(":2:") && output.contains("error[orphan-result]: "),
        "{output}"
    );
    assert!(
        output.contains(" (the first of 60, the last in line 61); "),
        "{output}"
    );
    assert!(output.ends_with("60 errors in 1 session\n"), "{output}");
    assert_eq!(text(&check(&["--json", name]).stdout).lines().count(), 60);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn what_a_rule_finds_many_times_is_one_row_that_opens() {
    let path = strays("rows", 60);
    let mut stage = Stage::open(&path, (120, 24), Theme::dark());
    std::fs::remove_file(&path).unwrap();
    stage.press("!");
    let rows = |stage: &Stage| {
        stage
            .picture()
            .lines()
            .filter(|line| line.contains(" has no call"))
            .count()
    };
    assert!(
        stage.picture().contains("2   60 orphan-result"),
        "{}",
        stage.picture()
    );
    assert_eq!(rows(&stage), 2, "the row and its foot: {}", stage.picture());
    stage.press("enter j j");
    assert!(rows(&stage) > 10, "{}", stage.picture());
    let second = stage
        .app
        .reader
        .session
        .indexes
        .findings
        .iter()
        .nth(1)
        .unwrap();
    assert_eq!(
        stage.app.reader.text.view.focus.map(|focus| focus.entry),
        Some(second.entry)
    );
    stage.press("h");
    assert_eq!(rows(&stage), 2, "{}", stage.picture());
    stage.press("enter j enter");
    assert_eq!(
        stage.app.reader.views.open(),
        None,
        "a single finding is gone to"
    );
}

/// Texts of the rows below FAILURES in the outline.
fn outlined(stage: &Stage) -> Vec<String> {
    let sections = &stage.app.reader.outline.sections;
    let checks = sections
        .iter()
        .filter(|section| section.part == SectionKind::Checks);
    checks
        .flat_map(|section| section.rows.iter().map(|row| row.title.clone()))
        .collect()
}

#[test]
fn outline_and_list_show_the_same_kinds_by_the_same_names() {
    for session in [
        "claude-code/5d0c1c52-7f4e-4a39-9d5b-2f6f0c9b1e01.jsonl",
        "lint/partial-batch/bad.jsonl",
    ] {
        let mut stage = Stage::open(&root().join(session), (240, 60), Theme::dark());
        stage.press(":").type_in("set outline").press("enter");
        let outlined = outlined(&stage);
        assert!(!outlined.is_empty(), "{}", stage.picture());
        stage.press("!");
        let page: Vec<String> = stage
            .app
            .reader
            .views
            .sheet
            .rows
            .iter()
            .map(|row| {
                row.line
                    .spans
                    .iter()
                    .map(|span| span.content.as_ref())
                    .collect::<String>()
            })
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        for words in outlined {
            let (count, name) = words.split_once(' ').unwrap();
            let holds = |line: &&String| {
                line.to_lowercase().contains(name) && line.contains(count.trim_start_matches("1 "))
            };
            let is_notes = name.starts_with("note");
            let found = page
                .iter()
                .find(|line| holds(line) || is_notes && line.starts_with("NOTES"));
            assert!(found.is_some(), "{words} is not in {page:#?}");
        }
    }
}

#[test]
fn a_check_of_the_outline_leads_to_the_first_of_its_kind() {
    let path = root().join("claude-code/5d0c1c52-7f4e-4a39-9d5b-2f6f0c9b1e01.jsonl");
    let mut stage = Stage::open(&path, (120, 40), Theme::dark());
    let failures = outlined(&stage)
        .iter()
        .position(|words| words.ends_with("failures"))
        .unwrap();
    stage.press("tab } }");
    for _ in 0..failures {
        stage.press("j");
    }
    stage.press("enter");
    let focus = stage.app.reader.text.view.focus.unwrap();
    let entry = stage
        .app
        .reader
        .session
        .transcript
        .get(focus.entry)
        .unwrap();
    assert!(
        entry.has_failed(&entry.blocks[focus.block].kind),
        "{}",
        stage.picture()
    );
}
