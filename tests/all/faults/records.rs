//! Tests of files that no agent would write: no panic, nothing else is lost, and the fault is
//! reported.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tv::formats::json;
use tv::ingest::Target;
use tv::model::entry::{BlockKind, Entry};
use tv::model::transcript::Transcript;
use tv::render::theme::Theme;

use crate::fixtures;
use crate::stage::Stage;

const HEADER: &str = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/tmp"}"#;

fn record(id: &str, parent: &str, role: &str, content: &str) -> String {
    let message = format!(r#"{{"role":"{role}","content":[{content}],"timestamp":1772359200000}}"#);
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-03-01T10:00:00.000Z","message":{message}}}"#
    )
}

fn says(id: &str, text: &str) -> String {
    record(
        id,
        "null",
        "user",
        &format!(r#"{{"type":"text","text":"{text}"}}"#),
    )
}

fn file(folder: &Path, lines: &[String]) -> PathBuf {
    let path = folder.join("session.jsonl");
    fs::write(&path, format!("{HEADER}\n{}\n", lines.join("\n"))).unwrap();
    path
}

fn read(path: &Path) -> Transcript {
    fixtures::read(&Target {
        path: path.to_owned(),
        session: None,
    })
    .transcript
}

fn texts(transcript: &Transcript) -> Vec<String> {
    let of = |entry: &Entry| -> Vec<String> {
        let text = |kind: &BlockKind| match kind {
            BlockKind::Text(body) => Some(body.text_or_stub().to_string()),
            _ => None,
        };
        entry
            .blocks
            .iter()
            .filter_map(|block| text(&block.kind))
            .collect()
    };
    transcript.entries().flat_map(of).collect()
}

fn tv(arguments: &[&str], path: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
    command
        .args(arguments)
        .arg(path)
        .stdin(Stdio::null())
        .env("TERM", "xterm")
        .output()
        .unwrap()
}

#[test]
fn deep_values_are_read_shown_and_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let objects = format!("{}1{}", r#"{"a":"#.repeat(3_000), "}".repeat(3_000));
    let call = format!(r#"{{"type":"toolCall","id":"c1","name":"bash","arguments":{objects}}}"#);
    let lines = [
        says("e1", "BEFORE"),
        format!(r#"{{"type":"deep","id":"e2","data":{}}}"#, deep(200_000)),
        record("e3", "null", "assistant", &call),
        deep(200_000),
        says("e4", "AFTER"),
    ];
    let path = file(folder.path(), &lines);
    let transcript = read(&path);
    let shown: Vec<String> = transcript
        .entries()
        .map(|entry| format!("{entry:?}"))
        .collect();
    assert!(shown.len() >= 4 && shown.last().unwrap().contains("AFTER"));
    let value = json::parse(&lines[1]).unwrap();
    assert!(!format!("{value:?}{:?}", value.to_tree()).is_empty());
    drop((value, transcript));
    let mut stage = Stage::open(&path, (80, 24), Theme::dark());
    for keys in ["z 5", "z R", "g", "i", "alt-2", "r", "q"] {
        stage.press(keys).picture();
    }
    for arguments in [
        &["show", "--level", "5"][..],
        &["show", "--json"],
        &["doctor"],
        &["check"],
    ] {
        let output = tv(arguments, &path);
        let finds = arguments == ["check"];
        assert_eq!(
            output.status.code(),
            Some(i32::from(finds)),
            "{arguments:?}"
        );
    }
    assert!(
        String::from_utf8(tv(&["show"], &path).stdout)
            .unwrap()
            .contains("AFTER")
    );
}

#[test]
fn numbers_and_keys_of_any_kind_are_values() {
    for (text, shown) in [
        ("1e999", None),
        ("NaN", None),
        ("-0", Some(0.0)),
        ("1e2", Some(100.0)),
        ("18446744073709551616", Some(18_446_744_073_709_551_616.0)),
        ("9223372036854775807", Some(9_223_372_036_854_775_807.0)),
    ] {
        assert_eq!(
            json::parse(text).ok().and_then(|value| value.number()),
            shown,
            "{text}"
        );
    }
    let twice = json::parse(r#"{"a":1,"a":2}"#).unwrap();
    assert_eq!(twice.get("a").int(), Some(2), "the last one counts");
    let many: Vec<String> = (0..50_000).map(|n| format!(r#""k{n}":{n}"#)).collect();
    let many = format!("{{{},\"z\":1}}", many.join(","));
    assert_eq!(json::parse(&many).unwrap().get("z").int(), Some(1));
    let folder = tempfile::tempdir().unwrap();
    let odd = format!(r#"{{"type":"odd","id":"e2","n":1e999,"data":{many}}}"#);
    let path = file(
        folder.path(),
        &[says("e1", "BEFORE"), odd, says("e3", "AFTER")],
    );
    assert_eq!(
        texts(&read(&path)).last().map(String::as_str),
        Some("AFTER")
    );
}

#[test]
fn odd_lines_between_good_ones_are_counted_and_cost_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let odd = [
        "",
        "   ",
        "null",
        "[]",
        "\"x\"",
        "{}",
        "7",
        "no json at all",
        "{\"cut\":",
        "\\ud800",
    ];
    let mut lines = vec![says("e0", "good 0")];
    for (n, line) in odd.iter().enumerate() {
        lines.push((*line).to_owned());
        lines.push(says(&format!("e{}", n + 1), &format!("good {}", n + 1)));
    }
    let transcript = read(&file(folder.path(), &lines));
    let good: Vec<String> = texts(&transcript)
        .into_iter()
        .filter(|text| text.starts_with("good"))
        .collect();
    let wanted: Vec<String> = (0..=odd.len()).map(|n| format!("good {n}")).collect();
    assert_eq!(good, wanted);
    // The header, the good ones, and all that are not blank.
    let records = 1 + wanted.len() + odd.len() - 2;
    assert_eq!(transcript.tally().records(), records as u64);
    assert!(transcript.tally().faulty > 0);
}

#[test]
fn broken_characters_are_replaced_and_the_line_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let mut bytes = format!(
        "\u{feff}{HEADER}\r\n{}\r\n",
        says("e1", r"lone \ud800 and \u0000 end")
    )
    .into_bytes();
    bytes.extend(says("e2", "BYTES").replace("BYTES", "a\u{1}").into_bytes());
    bytes.extend(b"\r\n");
    bytes.extend(
        says("e3", "XX")
            .into_bytes()
            .iter()
            .map(|byte| if *byte == b'X' { 0xff } else { *byte }),
    );
    bytes.extend(format!("\r\n{}\r\n", says("e4", "AFTER")).into_bytes());
    fs::write(&path, bytes).unwrap();
    let transcript = read(&path);
    assert_eq!(
        texts(&transcript),
        ["lone \u{fffd} and ␀ end", "a␁", "\u{fffd}\u{fffd}", "AFTER"]
    );
    let report = String::from_utf8(tv(&["doctor"], &path).stdout).unwrap();
    assert!(report.contains("pi"), "{report}");
}

#[test]
fn a_file_of_utf_16_is_refused_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    for mark in [0xfeff_u16, 0xfffe] {
        let units = std::iter::once(mark).chain(HEADER.encode_utf16());
        fs::write(&path, units.flat_map(u16::to_le_bytes).collect::<Vec<u8>>()).unwrap();
        let output = tv(&["show"], &path);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8(output.stderr).unwrap().contains("iconv"));
    }
}

#[test]
fn parents_in_a_circle_keep_the_order_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let text = |n: usize| format!(r#"{{"type":"text","text":"{n}"}}"#);
    let mut lines = vec![
        record("a", "\"b\"", "user", &text(0)),
        record("b", "\"a\"", "assistant", &text(1)),
        record("c", "\"c\"", "user", &text(2)),
        record("d", "\"nobody\"", "assistant", &text(3)),
    ];
    for n in 4..10_000 {
        lines.push(record(
            &format!("x{n}"),
            &format!("\"x{}\"", n - 1),
            "assistant",
            &text(n),
        ));
    }
    let read_texts = texts(&read(&file(folder.path(), &lines)));
    let wanted: Vec<String> = (0..10_000).map(|n| n.to_string()).collect();
    assert!(
        read_texts == wanted,
        "{} of {}",
        read_texts.len(),
        wanted.len()
    );
}

#[test]
fn fifty_parallel_calls_of_one_name_keep_their_results() {
    let folder = tempfile::tempdir().unwrap();
    let call = |n: usize| {
        format!(
            r#"{{"type":"toolCall","id":"c{n}","name":"bash","arguments":{{"command":"echo {n}"}}}}"#
        )
    };
    let calls = (0..50).map(call).collect::<Vec<_>>().join(",");
    let mut lines = vec![says("p", "go"), record("a", "null", "assistant", &calls)];
    for n in (0..50).rev() {
        let message = format!(
            r#"{{"role":"toolResult","toolCallId":"c{n}","toolName":"bash","content":[{{"type":"text","text":"out {n}"}}],"isError":false}}"#
        );
        lines.push(format!(r#"{{"type":"message","id":"r{n}","parentId":null,"timestamp":"2026-03-01T10:00:01.000Z","message":{message}}}"#));
    }
    let transcript = read(&file(folder.path(), &lines));
    let mut paired = 0;
    for block in transcript.entries().flat_map(|entry| &entry.blocks) {
        let BlockKind::Call(call) = &block.kind else {
            continue;
        };
        let result = call.state.result().expect("it has its result");
        assert_eq!(
            result.body.text_or_stub().as_str(),
            format!("out {}", &call.key[1..])
        );
        paired += 1;
    }
    assert_eq!(paired, 50);
}

#[test]
fn names_of_stored_outputs_lead_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret.txt");
    fs::write(&secret, "SECRET OF THE MACHINE").unwrap();
    let home = folder.path().join("home");
    fs::create_dir_all(home.join("s/tool-results")).unwrap();
    let path = home.join("s.jsonl");
    let fixture = fs::read_to_string(fixtures::root().join("claude-code/busy.jsonl")).unwrap();
    for name in [
        "../../../secret.txt",
        secret.to_str().unwrap(),
        "..\\\\..\\\\secret.txt",
        "*",
    ] {
        fs::write(&path, fixture.replace("btest01.txt", name)).unwrap();
        let shown = tv(&["show", "--level", "5"], &path);
        assert_eq!(shown.status.code(), Some(0), "{name}");
        assert!(
            !String::from_utf8(shown.stdout).unwrap().contains("SECRET"),
            "{name}"
        );
    }
}

#[test]
fn keys_are_masked_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let key = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let hidden = "DATABASE_PASSWORD=hunter2";
    let with_more = |line: String| line.replacen('{', &format!("{{\"more\":\"{hidden}\","), 1);
    let lines = [
        says("e1", &format!("use {key} twice: {key}")),
        with_more(says("e2", "AFTER")),
    ];
    let path = file(folder.path(), &lines);
    for (arguments, quotes) in [
        (&["show"][..], true),
        (&["show", "--json"], true),
        (&["show", "--level", "1"], false),
        (&["show", "--level", "4"], true),
        (&["show", "--level", "5", "--color", "always"], true),
        (&["brief"], false),
        (&["brief", "--json"], false),
        (&["brief", "--markdown"], false),
        (&["stats"], false),
        (&["doctor"], false),
        (&["list", "--json"], false),
        (&["grep", "twice"], true),
        (&["grep", "--json", "use"], true),
        (&["check"], false),
    ] {
        let output = tv(&[arguments, &["--redact"]].concat(), &path);
        let (shown, said) = (
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        );
        assert_eq!(output.status.code(), Some(0), "{arguments:?} {said}");
        assert!(
            !shown.contains("0123456789") && !shown.contains("hunter2"),
            "{arguments:?} {shown}"
        );
        assert!(
            !quotes || shown.contains("ghp_[masked]"),
            "{arguments:?} {shown}"
        );
        assert_eq!(
            said, "tv: 2 keys or tokens masked; only known shapes are found\n",
            "{arguments:?}"
        );
    }
    let sought = tv(&["grep", "--redact", "0123456789"], &path);
    assert_eq!(
        (sought.status.code(), sought.stdout.len()),
        (Some(1), 0),
        "what is masked is not found"
    );
    assert!(
        String::from_utf8(tv(&["show"], &path).stdout)
            .unwrap()
            .contains(key)
    );
}
