//! Tests of records, blocks and fields that no known version of a format has: they are shown at
//! their position, as prominent as their content requires, and counted.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tv::ingest::Target;
use tv::model::entry::BlockKind;
use tv::render::theme::Theme;

use crate::fixtures;
use crate::stage::Stage;

/// Sessions with one thing in them that nobody has ever heard of, called `quux`, and good ones around it.
fn cases() -> Vec<(&'static str, String)> {
    let pi = |inner: &str| {
        let says = |id: &str, text: &str| {
            format!(
                r#"{{"type":"message","id":"{id}","parentId":null,"timestamp":"2026-03-01T10:00:00.000Z","message":{{"role":"user","content":[{{"type":"text","text":"{text}"}}],"timestamp":1}}}}"#
            )
        };
        format!(
            "{}\n{}\n{inner}\n{}\n",
            r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/tmp"}"#,
            says("e1", "BEFORE"),
            says("e9", "AFTER")
        )
    };
    let message = |message: &str| {
        format!(
            r#"{{"type":"message","id":"e2","parentId":"e1","timestamp":"2026-03-01T10:00:01.000Z","message":{message}}}"#
        )
    };
    let claude = |inner: &str| {
        let says = |uuid: &str, text: &str| crate::follow::agent_line(uuid, None, None, text);
        format!(
            "{}\n{inner}\n{}\n",
            says("u-1", "BEFORE"),
            says("u-9", "AFTER")
        )
    };
    let line = |kind: &str, message: &str| {
        format!(
            r#"{{"parentUuid":"u-1","isSidechain":false,"sessionId":"s-1","version":"2.1.0","cwd":"/x","type":"{kind}","uuid":"u-2","timestamp":"2026-01-01T00:00:01.000Z","message":{message}}}"#
        )
    };
    vec![
        (
            "record",
            pi(
                r#"{"type":"quux","id":"e2","parentId":"e1","timestamp":"2026-03-01T10:00:01.000Z","what":"WORD"}"#,
            ),
        ),
        (
            "role",
            pi(&message(
                r#"{"role":"quux","content":[{"type":"text","text":"WORD"}],"timestamp":2}"#,
            )),
        ),
        (
            "block",
            pi(&message(
                r#"{"role":"assistant","content":[{"type":"quux","what":"WORD"}],"timestamp":2}"#,
            )),
        ),
        (
            "stop reason",
            pi(&message(
                r#"{"role":"assistant","content":[{"type":"text","text":"WORD"}],"stopReason":"quux","timestamp":2}"#,
            )),
        ),
        ("record", claude(&line("quux", r#"{"what":"WORD"}"#))),
        (
            "block",
            claude(&line(
                "assistant",
                r#"{"id":"m1","role":"assistant","model":"x","content":[{"type":"quux","what":"WORD"}]}"#,
            )),
        ),
        (
            "stop reason",
            claude(&line(
                "assistant",
                r#"{"id":"m1","role":"assistant","model":"x","content":[{"type":"text","text":"WORD"}],"stop_reason":"quux"}"#,
            )),
        ),
    ]
}

fn written(text: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s-1.jsonl");
    fs::write(&path, text).unwrap();
    (dir, path)
}

#[test]
fn what_nobody_has_heard_of_is_shown_raw_in_its_place_and_counted() {
    for (what, text) in cases() {
        let (_dir, path) = written(&text);
        let session = fixtures::read(&Target {
            path: path.clone(),
            session: None,
        });
        let records = text.lines().count() as u64;
        assert_eq!(
            session.transcript.tally().records(),
            records,
            "{what} {text}"
        );
        assert_eq!(
            session.transcript.tally().faulty,
            0,
            "it is no fault: {what} {text}"
        );
        let mut stage = Stage::open(&path, (90, 40), Theme::dark());
        stage.press("z 5 g");
        let picture = stage.picture();
        let place = |words: &str| {
            picture
                .find(words)
                .unwrap_or_else(|| panic!("{words} {what}\n{picture}"))
        };
        assert!(
            place("BEFORE") < place("WORD") && place("WORD") < place("AFTER"),
            "{picture}"
        );
        // Why an answer ended changes nothing of what it says.
        let is_named = what == "stop reason" || picture.contains("quux");
        assert!(is_named, "its name is shown: {what}\n{picture}");
    }
}

/// What somebody said is a dim row, what may be a part of the conversation is one in the colour of trouble, and all else has
/// none below level 4.
#[test]
fn what_nobody_has_heard_of_is_as_loud_as_what_it_carries() {
    let uuid = r#""uuid":"u-2","parentUuid":"u-1","timestamp":"2026-01-01T00:00:01.000Z""#;
    let claude = |record: String| {
        let says = |uuid: &str, text: &str| crate::follow::agent_line(uuid, None, None, text);
        format!(
            "{}\n{record}\n{}\n",
            says("u-1", "BEFORE"),
            says("u-9", "AFTER")
        )
    };
    let cases = [
        (
            "text",
            format!(r#"{{"type":"quux",{uuid},"content":"SAID to you"}}"#),
        ),
        (
            "text",
            format!(r#"{{"type":"system","subtype":"quux",{uuid},"content":"SAID to you"}}"#),
        ),
        (
            "text",
            format!(
                r#"{{"type":"attachment",{uuid},"attachment":{{"type":"quux","n":1}},"rendered":[{{"content":"SAID to you"}}]}}"#
            ),
        ),
        (
            "trace",
            format!(r#"{{"type":"quux",{uuid},"state":"SAID"}}"#),
        ),
        (
            "trace",
            r#"{"type":"quux","sessionId":"s-1","content":"SAID to you"}"#.to_owned(),
        ),
        (
            "trace",
            format!(r#"{{"type":"system","subtype":"quux",{uuid},"n":"SAID"}}"#),
        ),
        (
            "trace",
            format!(r#"{{"type":"attachment",{uuid},"attachment":{{"type":"quux","n":"SAID"}}}}"#),
        ),
        (
            "loud",
            format!(
                r#"{{"type":"quux",{uuid},"message":{{"role":"assistant","content":"SAID to you"}}}}"#
            ),
        ),
        (
            "loud",
            format!(
                r#"{{"type":"quux",{uuid},"text":"SAID to you","usage":{{"input_tokens":7}}}}"#
            ),
        ),
        (
            "loud",
            format!(
                r#"{{"type":"quux",{uuid},"content":[{{"type":"tool_use","id":"c1","name":"Bash","input":{{"command":"SAID"}}}}]}}"#
            ),
        ),
    ];
    for (fate, record) in cases {
        let (_dir, path) = written(&claude(record.clone()));
        let session = fixtures::read(&Target {
            path: path.clone(),
            session: None,
        });
        let tally = session.transcript.tally();
        let judged: Vec<&str> = tally
            .unknown
            .values()
            .map(|unknown| unknown.judged().word())
            .collect();
        assert_eq!(judged, [fate], "{record}");
        let asides = session
            .transcript
            .entries()
            .flat_map(|entry| &entry.blocks)
            .filter(|block| match &block.kind {
                BlockKind::Aside(judged, _) => judged.word() == fate,
                _ => false,
            });
        assert_eq!(asides.count(), 1, "{record}");
        let mut stage = Stage::open(&path, (100, 40), Theme::dark());
        assert_eq!(
            stage.status().contains("1 unknown"),
            fate == "loud",
            "{}",
            stage.status()
        );
        for (level, has_row) in [
            ("z 2", fate != "trace"),
            ("z 3", fate != "trace"),
            ("z 4", true),
        ] {
            stage.press(level).press("g");
            let rows = (0..39).filter(|y| stage.line(*y).contains("/quux"));
            let rows: Vec<u16> = rows.collect();
            assert_eq!(
                rows.len(),
                usize::from(has_row),
                "{record} at {level}\n{}",
                stage.picture()
            );
            let Some(row) = rows.first() else { continue };
            let buffer = stage.buffer();
            let at = (0..100)
                .find(|x| buffer[(*x, *row)].symbol() == "q")
                .unwrap();
            let theme = Theme::dark();
            let expected = if fate == "loud" {
                theme.bad.fg
            } else {
                theme.dim.fg
            };
            assert_eq!(
                buffer[(at, *row)].style().fg,
                expected,
                "{record} at {level}"
            );
        }
        stage.press("z 5 g");
        assert!(
            stage.picture().contains("SAID"),
            "all of it is there\n{}",
            stage.picture()
        );
    }
}

/// Traces of one kind in a row are one row, where traces have rows.
#[test]
fn a_run_of_traces_is_one_row_with_its_number() {
    let says = |uuid: &str, text: &str| crate::follow::agent_line(uuid, None, None, text);
    let latch = |kind: &str| format!(r#"{{"type":"{kind}","sessionId":"s-1","side":"x"}}"#);
    let lines = [
        says("u-1", "BEFORE"),
        latch("quux"),
        latch("quux"),
        latch("quux"),
        latch("corge"),
    ];
    let (_dir, path) = written(&(lines.join("\n") + "\n" + &says("u-9", "AFTER") + "\n"));
    let mut stage = Stage::open(&path, (100, 40), Theme::dark());
    stage.press("z 4 g");
    let rows =
        |stage: &Stage, words: &str| (0..39).filter(|y| stage.line(*y).contains(words)).count();
    assert_eq!(
        (
            rows(&stage, "type/quux"),
            rows(&stage, "×3"),
            rows(&stage, "type/corge")
        ),
        (1, 1, 1)
    );
    stage.press("z 5 g");
    assert!(rows(&stage, "quux") >= 3, "{}", stage.picture());
    // What is printed folds as the screen does; as JSON each is one.
    let printed = |arguments: &[&str]| {
        let output = std::process::Command::new(super::TV)
            .arg("show")
            .args(arguments)
            .arg(&path)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let lines = |text: &str, words: &str| text.lines().filter(|line| line.contains(words)).count();
    let text = printed(&["--level", "4"]);
    assert_eq!(
        (
            lines(&text, "type/quux"),
            lines(&text, "×3"),
            lines(&text, "type/corge")
        ),
        (1, 1, 1),
        "{text}"
    );
    assert!(text.contains("BEFORE") && text.contains("AFTER"), "{text}");
    assert_eq!(lines(&printed(&["--level", "5"]), "      quux"), 3);
    assert_eq!(lines(&printed(&["--level", "4", "--json"]), "type/quux"), 3);
}

/// A state of a call that is not known is no end of it.
#[test]
fn a_status_nobody_has_heard_of_is_reported() {
    let text = fs::read_to_string(fixtures::root().join("opencode/export.json")).unwrap();
    let mut export: Value = serde_json::from_str(&text).unwrap();
    let mut changed = 0;
    rename_status(&mut export, &mut changed);
    assert!(changed > 0, "there are calls in it");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("export.json");
    fs::write(&path, export.to_string()).unwrap();
    let before = fixtures::read(&Target {
        path: fixtures::root().join("opencode/export.json"),
        session: None,
    });
    let after = fixtures::read(&Target {
        path: path.clone(),
        session: None,
    });
    assert_eq!(
        after.transcript.tally().records(),
        before.transcript.tally().records()
    );
    assert_eq!(
        after.transcript.tally().faulty,
        before.transcript.tally().faulty
    );
    let stage = Stage::open(&path, (90, 40), Theme::dark());
    assert!(stage.status().contains("1 unknown"), "{}", stage.status());
    let report = |command: &str| {
        let output = std::process::Command::new(super::TV)
            .arg(command)
            .arg(&path)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(
        report("doctor").contains("tool status/quux"),
        "{}",
        report("doctor")
    );
    // What the call has put out is there all the same.
    assert!(
        report("show").contains("squeak.log: No such file"),
        "{}",
        report("show")
    );
}

fn rename_status(value: &mut Value, changed: &mut usize) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                if key == "status" && value.as_str() == Some("completed") && *changed == 0 {
                    *value = "quux".into();
                    *changed += 1;
                }
                rename_status(value, changed);
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| rename_status(item, changed)),
        _ => {}
    }
}

/// The file of a fork begins with what its session said. Opened by itself that is passed, and said why; what is not
/// understood in it nobody else may have, so it is shown.
#[test]
fn what_is_unknown_in_the_history_of_a_fork_that_is_opened_stays() {
    let source = fixtures::root().join("claude-code/fork/subagents/agent-a4f00e0000000001.jsonl");
    let text = fs::read_to_string(source).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let unknown = r#"{"parentUuid":"f00d0003-0000-4000-8000-0000000f0f0f","isSidechain":true,"agentId":"a4f00e0000000001","type":"quux","uuid":"f00d0900-0000-4000-8000-0000000f0f0f","timestamp":"2026-10-12T08:00:14.000Z","sessionId":"0f0e0d0c-0b0a-4000-8000-00000000f0f0","text":"HIGH WATER"}"#;
    lines.insert(1, unknown);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent-a4f00e0000000001.jsonl");
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    let session = fixtures::read(&Target {
        path: path.clone(),
        session: None,
    });
    let (transcript, tally) = (&session.transcript, session.transcript.tally());
    assert_eq!(tally.records(), lines.len() as u64);
    assert_eq!(
        tally.reasons["the history that a fork begins with"], 1,
        "its session's answer: {tally:?}"
    );
    assert_eq!(tally.unknown.len(), 1);
    assert_eq!(transcript.turns().len(), 1, "the directive");
    assert!(
        transcript
            .entries()
            .all(|entry| entry.key.as_str() != "msg_01MillFork")
    );
    let screen = Stage::open(&path, (120, 40), Theme::dark()).picture();
    assert!(screen.contains("HIGH WATER"), "{screen}");
}
