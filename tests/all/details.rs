//! Tests of fields of records that no block shows: they are shown from level 4 on, and read again
//! for visible entries only.

use std::fs;
use std::io::Write;
use std::process::Command;

use serde_json::Value;
use tv::render::theme::Theme;

use crate::stage::Stage;

const LINES: &str = concat!(
    r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-01-02T03:04:05Z","cwd":"/w"}"#,
    "\n",
    r#"{"type":"message","id":"u1","parentId":null,"timestamp":"2026-01-02T03:04:06Z","message":{"role":"user","content":"Look."}}"#,
    "\n",
    r#"{"type":"message","id":"a1","parentId":"u1","timestamp":"2026-01-02T03:04:07Z","message":{"role":"assistant","content":[{"type":"text","text":"It is there."},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls"}}],"model":"m-1","api":"odd-\u001b[31mapi","provider":"someone","stopReason":"toolUse","key":"sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}"#,
    "\n",
    r#"{"type":"message","id":"r1","parentId":"a1","timestamp":"2026-01-02T03:04:08Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"a file"}],"isError":false,"details":{"mood":"failed"}}}"#,
    "\n",
);

fn session() -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    fs::write(&path, LINES).unwrap();
    (dir, path)
}

fn shown(args: &[&str], path: &std::path::Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_tv"))
        .arg("show")
        .args(args)
        .arg(path)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn fields_that_no_block_shows_are_shown_from_level_4_on() {
    let (_dir, path) = session();
    let full = shown(&["--level", "4"], &path);
    for row in [
        "    message  ",
        "api odd-␛[31mapi",
        "provider someone",
        "stopReason toolUse",
        "message.details.mood  failed",
    ] {
        assert!(full.contains(row), "{row:?} is not in\n{full}");
    }
    assert_eq!(
        full.matches("provider someone").count(),
        1,
        "below the last block of the record:\n{full}"
    );
    assert!(!shown(&["--level", "3"], &path).contains("someone"));
    assert!(!shown(&["--level", "4", "--redact"], &path).contains("AAAAAAAA"));
    let ascii = shown(&["--level", "4", "--ascii"], &path);
    assert!(
        ascii.is_ascii() && ascii.contains("provider someone"),
        "{ascii}"
    );
}

/// What is written twice, or with each line, is shown once.
#[test]
fn what_is_told_elsewhere_is_not_listed_again() {
    let shown = |name: &str| shown(&["--level", "4"], &crate::stage::fixture(name));
    let run = shown("swe-agent-traj/bell.traj");
    assert!(
        !run.contains("trajectory") && run.contains("exit_status"),
        "{run}"
    );
    let spans = shown("otel-genai/traces.jsonl");
    assert_eq!(spans.matches("service.version").count(), 1, "{spans}");
}

#[test]
fn a_compressed_session_shows_them_as_its_file_does() {
    let (dir, path) = session();
    let packed = dir.path().join("s.jsonl.gz");
    let mut file = flate2::write::GzEncoder::new(
        fs::File::create(&packed).unwrap(),
        flate2::Compression::fast(),
    );
    file.write_all(LINES.as_bytes()).unwrap();
    file.finish().unwrap();
    for level in ["4", "5"] {
        assert_eq!(
            shown(&["--level", level], &packed),
            shown(&["--level", level], &path)
        );
    }
    let stage = |path: &std::path::Path| {
        let mut stage = Stage::open(path, (100, 40), Theme::dark());
        stage.press("z 4");
        stage.picture()
    };
    assert!(
        stage(&packed).contains("provider someone"),
        "{}",
        stage(&packed)
    );
}

#[test]
fn json_has_them_at_the_block_or_the_result() {
    let (_dir, path) = session();
    let lines = shown(&["--json"], &path);
    let entries: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let answer = entries.iter().find(|entry| entry["key"] == "a1").unwrap();
    assert!(answer["blocks"][0].get("details").is_none());
    let call = &answer["blocks"][1];
    assert_eq!(call["details"]["message"]["provider"], "someone");
    assert_eq!(call["result"]["details"]["message.details.mood"], "failed");
    assert!(!shown(&["--json", "--redact"], &path).contains("AAAAAAAA"));
}

#[test]
fn the_viewer_reads_them_for_what_is_in_sight() {
    let (_dir, path) = session();
    let mut stage = Stage::open(&path, (100, 40), Theme::dark());
    assert!(!stage.picture().contains("someone"));
    stage.press("z 4");
    let picture = stage.picture();
    assert!(
        picture.contains("provider someone") && picture.contains("mood  failed"),
        "{picture}"
    );
    assert!(!picture.contains('\u{1b}'));
    stage.press("z 3");
    assert!(!stage.picture().contains("someone"));
}

#[test]
fn level_5_is_the_records_as_trees() {
    let (_dir, path) = session();
    let raw = shown(&["--level", "5"], &path);
    for row in [
        "stopReason:",
        "- type: text",
        "text: It is there.",
        "command: ls",
        "isError:",
        "mood: failed",
        "line 4 · byte",
    ] {
        assert!(raw.contains(row), "{row:?} is not in\n{raw}");
    }
    let below = |row: &str| row.starts_with("    ") && row.contains("It is there.");
    assert_eq!(
        raw.lines().filter(|row| below(row)).count(),
        1,
        "the record has it, nothing repeats it:\n{raw}"
    );
    assert!(
        !raw.contains('\u{1b}')
            && !shown(&["--level", "5", "--redact"], &path).contains("AAAAAAAA")
    );
    assert!(shown(&["--level", "5", "--ascii"], &path).is_ascii());

    let mut stage = Stage::open(&path, (100, 60), Theme::dark());
    stage.press("z 5");
    let picture = stage.picture();
    assert!(
        picture.contains("stopReason:") && picture.contains("mood: failed"),
        "{picture}"
    );
    stage.press("z 4");
    assert!(!stage.picture().contains("isError:"), "{}", stage.picture());
}

#[test]
fn a_record_of_several_entries_is_told_of_once() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/otel-genai/traces.jsonl");
    for level in ["4", "5"] {
        let full = shown(&["--level", level], &path);
        assert_eq!(
            full.matches("gen_ai.response.finish_reasons").count(),
            1,
            "level {level}:\n{full}"
        );
    }
    let mut stage = Stage::open(&path, (180, 120), Theme::dark());
    stage.press("z 4 g");
    let picture = stage.picture();
    assert_eq!(
        picture.matches("gen_ai.response.finish_reasons").count(),
        1,
        "{picture}"
    );
}

#[test]
fn an_answer_without_words_says_below_its_calls_what_it_cost() {
    let (_dir, path) = session();
    let usage = r#""usage":{"input":700,"output":90,"cacheRead":0,"cacheWrite":0},"model":"m-1""#;
    let spent = LINES.replacen(r#""model":"m-1""#, usage, 1);
    let silent = spent.replacen(r#"{"type":"text","text":"It is there."},"#, "", 1);
    for (lines, at) in [(spent, "bot"), (silent, "")] {
        fs::write(&path, lines).unwrap();
        let full = shown(&["--level", "4"], &path);
        let rows: Vec<&str> = full
            .lines()
            .filter(|row| row.contains("↑700 ↓90"))
            .collect();
        assert!(rows.len() == 1 && rows[0].contains(at), "{full}");
        assert_eq!(
            rows[0].trim() == "↑700 ↓90",
            at.is_empty(),
            "a row of its own:\n{full}"
        );
    }
}
