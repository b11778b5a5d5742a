//! Tests of files and data that records refer to: files outside of the session are not opened, too
//! large ones are not read, and invalid images are not shown.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use super::{TV, peak};
use crate::fixtures;
use crate::follow::agent_line;
use crate::pty::{Console, append, line, session};

/// What a program may take beside what is asked of it, in KB; programs made for tests are large.
const BASE: u64 = 120 << 10;
pub(super) const SECRET: &str = "SECRET OF THE MACHINE";

/// All that reports and the viewer's records say of a session.
pub(super) fn doctor_says(path: &Path) -> String {
    let run = |arguments: &[&str]| {
        let output = Command::new(TV)
            .args(arguments)
            .arg(path)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{arguments:?} {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    };
    [
        &["show", "--level", "5"][..],
        &["show", "--json"],
        &["stats", "--json"],
        &["check"],
        &["doctor"],
    ]
    .into_iter()
    .map(run)
    .collect()
}

#[test]
fn names_of_sub_agents_lead_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    fs::create_dir_all(home.join("s-1/subagents")).unwrap();
    let secret = agent_line("u-5", None, Some("a1"), SECRET) + "\n";
    // Wherever the names below would lead if they were taken for paths.
    for place in [
        "secret.jsonl",
        "agent-secret.jsonl",
        "home/other/secret.jsonl",
        "home/s-1/secret.jsonl",
    ] {
        let place = folder.path().join(place);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, &secret).unwrap();
    }
    let absolute = folder.path().join("secret").display().to_string();
    let path = home.join("s-1.jsonl");
    for name in [
        "../secret",
        "../../secret",
        "../../../secret",
        "../other/secret",
        "x/../../../secret",
        "*",
        "**",
        &absolute,
    ] {
        let call = json!({"parentUuid": "u-1", "isSidechain": false, "sessionId": "s-1", "version": "2.1.0", "cwd": "/x",
            "type": "assistant", "uuid": "u-2", "timestamp": "2026-01-01T00:00:01.000Z", "message": {"id": "m1",
            "role": "assistant", "model": "m", "content": [{"type": "tool_use", "id": "t1", "name": "Task",
            "input": {"prompt": "look", "subagent_type": name, "description": name}}]}});
        let result = json!({"parentUuid": "u-2", "isSidechain": false, "sessionId": "s-1", "version": "2.1.0", "cwd": "/x",
            "type": "user", "uuid": "u-3", "timestamp": "2026-01-01T00:00:02.000Z", "message": {"role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "done"}]},
            "toolUseResult": {"agentId": name, "status": "completed", "outputFile": name, "transcriptPath": name}});
        let lines = [
            agent_line("u-1", None, None, "begin"),
            call.to_string(),
            result.to_string(),
        ];
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        assert!(!doctor_says(&path).contains(SECRET), "{name}");
    }
    // The same words in the session's own folder are read, so they are looked for in the right way.
    fs::write(home.join("s-1/subagents/agent-a1.jsonl"), secret).unwrap();
    assert!(doctor_says(&path).contains(SECRET));
}

#[test]
fn a_stored_output_that_is_too_large_is_named_and_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("busy.jsonl");
    fs::copy(fixtures::root().join("claude-code/busy.jsonl"), &path).unwrap();
    fs::create_dir_all(folder.path().join("busy/tool-results")).unwrap();
    let stored = folder.path().join("busy/tool-results/btest01.txt");
    File::create(&stored).unwrap().set_len(3 << 30).unwrap();
    let mut child = Command::new(TV)
        .args(["show", "--level", "5"])
        .arg(&path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let output = std::thread::scope(|scope| {
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let read = |mut from: Box<dyn std::io::Read + Send>| {
            scope.spawn(move || {
                let mut text = String::new();
                from.read_to_string(&mut text).unwrap();
                text
            })
        };
        let (out, err) = (read(Box::new(out)), read(Box::new(err)));
        let mut most = 0;
        while child.try_wait().unwrap().is_none() {
            most = most.max(peak(child.id()));
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        assert!(most < BASE, "{most} KB");
        out.join().unwrap() + &err.join().unwrap()
    });
    assert!(
        output.contains("tide 2 ok"),
        "the beginning is shown: {output}"
    );
    assert!(output.contains("btest01.txt"), "{output}");
    let report = Command::new(TV).arg("doctor").arg(&path).output().unwrap();
    let report = String::from_utf8(report.stdout).unwrap();
    assert!(
        report.contains("btest01.txt cannot be read: it has more than 256 MiB"),
        "{report}"
    );
}

/// A message with a text behind an image, or what is said to be one.
fn with_image(image: &str, text: &str, number: usize) -> String {
    let plain = line("user", text, number);
    let cut = plain.find(r#"{"type":"text""#).unwrap();
    format!("{}{image},{}", &plain[..cut], &plain[cut..])
}

#[test]
fn images_that_are_huge_broken_or_none_are_placeholders() {
    let dir = tempfile::tempdir().unwrap();
    let path = session(dir.path());
    let environment = [("KITTY_WINDOW_ID", "1"), ("COLORTERM", "truecolor")];
    let mut console = Console::start(&["--level", "4", path.to_str().unwrap()], &environment);
    console.wait_for("FIRST ANSWER");
    let data = "iVBORw0KGgoAAAANSUhE".repeat(30 * 1024 * 1024 / 20);
    let bytes = data.len() as u64 / 1024;
    let of =
        |kind: &str, data: &str| format!(r#"{{"type":"image","mimeType":{kind},"data":{data}}}"#);
    let text = |data: &str| format!("\"{data}\"");
    append(
        &path,
        &with_image(&of("\"image/png\"", &text(&data)), "BEHIND THE HUGE ONE", 3),
    );
    drop(data);
    console.wait_for("BEHIND THE HUGE ONE");
    console.wait_for("image png 23 MB");
    let broken = [
        of("\"image/png\"", &text(&"!no base64!".repeat(100))),
        of("\"image/png\"", &text(&"iVBORw0KGgo".repeat(99))),
        of(
            "\"image/png\"",
            &text("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ=====AAA"),
        ),
        of("\"image/png\"", &text(&"aGVsbG8g".repeat(100))),
        of("\"image/jpeg\"", &text(&"iVBORw0KGgoAAAANSUhE".repeat(100))),
        of("\"text/html\"", &text(&"PGgxPmhpPC9oMT4K".repeat(100))),
        of("\"image/\\u001b[2J\"", &text(&"aGVsbG8g".repeat(100))),
        of("7", "[1,2,3]"),
        of("null", "null"),
        r#"{"type":"image"}"#.to_owned(),
    ];
    for (number, image) in broken.iter().enumerate() {
        let words = format!("BEHIND BROKEN {number}");
        append(&path, &with_image(image, &words, 4 + number));
        console.wait_for(&words);
        assert!(
            console.text().contains("image"),
            "{image}\n{}",
            console.text()
        );
    }
    // Once more over all of them, with time to decode what is in sight.
    console.send("g");
    console.wait_for("FIRST PROMPT");
    for _ in 0..12 {
        console.send("\u{4}");
        std::thread::sleep(std::time::Duration::from_millis(60));
    }
    console.send("G");
    console.wait_for("BEHIND BROKEN 9");
    // The line as it was read, once more while it is decoded, and both again for the picture.
    let peak = peak(console.process());
    assert!(
        peak < BASE + 6 * bytes,
        "{peak} KB for an image of {bytes} KB"
    );
    console.send("q");
    assert_eq!(console.wait_for_exit(), 0);
}
