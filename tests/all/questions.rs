//! The questions for which users open sessions, and the keys that answer them from the end of the
//! session, where it opens: two keys at most, three for a result without its call. The answer is
//! then visible without scrolling, on a small terminal as well.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use tv::app::input::keys::parse_keys;
use tv::model::timestamp::Timestamp;
use tv::render::theme::Theme;

use crate::corpus::beside;
use crate::fleet::made;
use crate::pty::Console;
use crate::stage::{Stage, demo, fixture};

/// The question, the keys that answer it, and words that the screen must have then.
type Answer = (&'static str, &'static str, &'static [&'static str]);

const SIZES: [(u16, u16); 2] = [(80, 24), (120, 40)];

#[track_caller]
fn asks(path: PathBuf, most: usize, answers: &[Answer]) {
    for (size, (question, keys, words)) in SIZES
        .into_iter()
        .flat_map(|size| answers.iter().map(move |answer| (size, answer)))
    {
        let mut stage = Stage::open(&path, size, Theme::dark());
        // Some answers are on the first screen.
        if !keys.is_empty() {
            assert!(
                parse_keys(keys).unwrap().len() <= most,
                "{question}: {keys}"
            );
            stage.press(keys);
            stage.wait(300);
            stage.arrange();
        }
        let picture = stage.picture();
        for words in *words {
            assert!(
                picture.contains(words),
                "{question} ({keys}) at {size:?}: {words} is not on the screen:\n{picture}"
            );
        }
    }
}

#[test]
fn a_session_of_claude_code_answers_in_two_keys() {
    asks(
        fixture("claude-code/5d0c1c52-7f4e-4a39-9d5b-2f6f0c9b1e01.jsonl"),
        2,
        &[
            (
                "what was asked",
                "B",
                &[
                    "asked",
                    "The forecast prints Fahrenheit as Celsius",
                    "answer",
                ],
            ),
            ("what was done", "B", &["src/parse.rs  +1 -1", "not mended"]),
            (
                "what failed and why",
                "!",
                &["FAILURES", "Bash cargo test", "exit 101"],
            ),
            (
                "where else that error is",
                "! *",
                &["mentioned nowhere else", "line 18"],
            ),
            (
                "what an edit changed",
                "7 enter",
                &["-        \"fahrenheit\" => Unit::Celsius"],
            ),
            ("what it cost", "", &["$0.18"]),
            ("what a sub-agent did", "[ s", &["Find other unit mix-ups"]),
            ("which call was slowest", "3", &["took↓", "#4 Bash"]),
            ("where an orphan belongs", "!", &["8/9 calls paired"]),
            (
                "where the time went",
                "2",
                &["TIME  session", "model", "you"],
            ),
            ("what the model saw", "5", &["CONTEXT"]),
        ],
    );
}

#[test]
fn a_thread_of_codex_answers_in_two_keys() {
    asks(
        fixture("codex/rollout-2026-07-28T15-42-00-019fa8f5-f840-7000-8000-0000000000c1.jsonl"),
        2,
        &[
            ("what was asked", "B", &["asked"]),
            (
                "what failed and why",
                "!",
                &["FAILURES", "TypeError: sacks is undefined"],
            ),
            ("what was done", "B", &["flour.txt  +1 -1", "not mended"]),
            ("what an edit changed", "7 enter", &["FILES", "-0", "+5"]),
            ("what it cost", "", &["$0.026"]),
            ("what a sub-agent did", "[ s", &["no sub-agent before this"]),
            ("which call was slowest", "3", &["took↓", "#1 exec"]),
            ("where an orphan belongs", "!", &["4/5 calls paired"]),
            ("where the time went", "2", &["TIME  session"]),
            ("what the model saw", "5", &["CONTEXT"]),
        ],
    );
}

#[test]
fn a_session_of_openclaw_answers_in_two_keys() {
    asks(
        demo(),
        2,
        &[
            ("what was asked", "B", &["asked"]),
            ("what failed and why", "!", &["FAILURES", "✗"]),
            ("what an edit changed", "7 enter", &["FILES", "+"]),
            ("what it cost", "", &["$"]),
            ("which call was slowest", "3", &["took↓"]),
            ("where the time went", "2", &["TIME  session"]),
        ],
    );
}

#[test]
fn a_session_of_pi_answers_in_two_keys() {
    asks(
        fixture("pi/sub-agents.jsonl"),
        2,
        &[
            (
                "what was asked",
                "B",
                &["asked", "how many sacks, and do the sails turn?"],
            ),
            ("what it cost", "", &["$0.25"]),
            ("what a sub-agent did", "[ s", &["count the sacks"]),
            ("which call was slowest", "3", &["took↓", "#1 "]),
        ],
    );
}

/// Where a session has nothing of the kind, the same keys say so.
#[test]
fn a_session_of_opencode_2_answers_in_two_keys() {
    let Some(path) = beside("made/opencode/fresh.db") else {
        return;
    };
    asks(
        path,
        2,
        &[
            ("what was asked", "B", &["asked", "please fix the dns"]),
            (
                "what was done",
                "B",
                &["The DNS works again.", "systemctl restart unbound"],
            ),
            (
                "what failed and why",
                "!",
                &["FAILURES", "shell dig x", "dig: not found", "not mended"],
            ),
            (
                "what an edit changed",
                "7 enter",
                &["No file was read or changed."],
            ),
            ("what it cost", "", &["$0.042"]),
            ("what a sub-agent did", "[ s", &["no sub-agent before this"]),
            (
                "which call was slowest",
                "3",
                &["took↓", "▸     2 00:00:00 shell ", "dig x"],
            ),
            ("where an orphan belongs", "!", &["2/2 calls paired"]),
            (
                "where the time went",
                "2",
                &["TIME", "model 23.8s", "tools 5.2s"],
            ),
            ("what the model saw", "5", &["CONTEXT", "system and tools"]),
        ],
    );
}

/// Writes a file of a session to which nothing was written since then.
fn kept(path: &Path, text: &str, age: Duration) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    let file = File::options().append(true).open(path).unwrap();
    file.set_modified(made() - age).unwrap();
}

/// A home with a session that asks its user, one of five days ago in which a command failed, and one of yesterday, each
/// of another agent and project.
fn home() -> tempfile::TempDir {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let home = tempfile::tempdir().unwrap();
    let stamp = |age: Duration| {
        let since = (made() - age).duration_since(SystemTime::UNIX_EPOCH);
        Timestamp(i64::try_from(since.unwrap().as_millis()).unwrap()).to_rfc3339()
    };
    let id = "c0000000-0000-4000-8000-000000000001";
    let at = stamp(Duration::ZERO);
    let head = format!(
        r#""parentUuid":null,"isSidechain":false,"timestamp":"{at}","sessionId":"{id}","cwd":"/work/mill","version":"2.1.0""#
    );
    let usage = r#""usage":{"input_tokens":100,"output_tokens":20,"cache_read_input_tokens":1000,"cache_creation_input_tokens":0}"#;
    let question = r#"{"type":"tool_use","id":"t1","name":"AskUserQuestion","input":{"questions":[{"question":"Rye or wheat?"}]}}"#;
    kept(
        &home
            .path()
            .join(format!(".claude/projects/-work-mill/{id}.jsonl")),
        &format!(
            "{{\"type\":\"user\",\"uuid\":\"u1\",{head},\"message\":{{\"role\":\"user\",\"content\":\"Grind the corn\"}}}}\n\
             {{\"type\":\"assistant\",\"uuid\":\"a1\",{head},\"requestId\":\"r1\",\"message\":{{\"id\":\"m1\",\"type\":\"message\",\
             \"role\":\"assistant\",\"model\":\"claude-opus-4-6\",\"content\":[{question}],\"stop_reason\":\"tool_use\",{usage}}}}}\n"
        ),
        Duration::ZERO,
    );
    let id = "019cadc6-9a80-7000-8000-000000000002";
    let at = stamp(5 * DAY);
    let line = |kind: &str, payload: &str| {
        format!(r#"{{"timestamp":"{at}","type":"{kind}","payload":{payload}}}"#) + "\n"
    };
    let tokens = r#"{"input_tokens":1000,"cached_input_tokens":500,"output_tokens":50,"reasoning_output_tokens":0,"total_tokens":1050}"#;
    let lines = [
        line(
            "session_meta",
            &format!(
                r#"{{"id":"{id}","timestamp":"{at}","cwd":"/work/sieve","cli_version":"0.106.0"}}"#
            ),
        ),
        line(
            "turn_context",
            r#"{"turn_id":"t1","cwd":"/work/sieve","model":"gpt-5.2-codex"}"#,
        ),
        line(
            "response_item",
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"Start the sieve"}]}"#,
        ),
        line(
            "response_item",
            r#"{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"sieve serve\"}","call_id":"k1"}"#,
        ),
        line(
            "event_msg",
            &format!(
                r#"{{"type":"token_count","info":{{"total_token_usage":{tokens},"last_token_usage":{tokens},"model_context_window":258400}}}}"#
            ),
        ),
        line(
            "response_item",
            r#"{"type":"function_call_output","call_id":"k1","output":"Chunk ID: a1b2c3\nWall time: 0.1 seconds\nProcess exited with code 98\nOriginal token count: 7\nOutput:\nbind: address already in use"}"#,
        ),
        line(
            "event_msg",
            r#"{"type":"task_complete","turn_id":"t1","last_agent_message":null}"#,
        ),
    ];
    kept(
        &home.path().join(format!(
            ".codex/sessions/2026/11/22/rollout-2026-11-22T10-00-00-{id}.jsonl"
        )),
        &lines.concat(),
        5 * DAY,
    );
    let at = stamp(DAY);
    let lines = [
        format!(
            r#"{{"type":"session","version":3,"id":"a0000000-0000-4000-8000-000000000003","timestamp":"{at}","cwd":"/work/oven"}}"#
        ),
        format!(
            r#"{{"type":"message","id":"u1","parentId":null,"timestamp":"{at}","message":{{"role":"user","content":[{{"type":"text","text":"Bake the bread"}}]}}}}"#
        ),
        format!(
            r#"{{"type":"message","id":"a1","parentId":"u1","timestamp":"{at}","message":{{"role":"assistant","content":[{{"type":"text","text":"Baked."}}],"provider":"p","model":"some-model","stopReason":"stop","usage":{{"input":100,"output":10,"cacheRead":0,"cacheWrite":0,"cost":{{"total":0.25}}}}}}}}"#
        ),
    ];
    kept(
        &home
            .path()
            .join(".pi/agent/sessions/--work-oven--/2026-11-26T08-00-00-000Z_a3.jsonl"),
        &(lines.join("\n") + "\n"),
        DAY,
    );
    home
}

#[test]
fn what_is_asked_of_all_sessions_is_answered_by_one_command() {
    let home = home();
    let answers: [(&str, &[&str], &[&str]); 3] = [
        (
            "who needs me",
            &["top", "--once"],
            &["! question", "Rye or wheat?", "1 needs somebody"],
        ),
        (
            "that error last week",
            &["grep", "address already in use", "--since", "1w"],
            &["Start the sieve", "bind: address already in use"],
        ),
        (
            "this week per project",
            &["usage", "--by", "project", "--since", "1w"],
            &["/work/mill", "/work/oven", "/work/sieve", "$0.25", "total"],
        ),
    ];
    for (width, (question, arguments, words)) in ["80", "120"]
        .into_iter()
        .flat_map(|width| answers.iter().map(move |answer| (width, answer)))
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
        command
            .env_clear()
            .env("HOME", home.path())
            .env("LC_ALL", "C.UTF-8");
        command.args(*arguments).args(["--width", width]);
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        for words in *words {
            assert!(
                text.contains(words),
                "{question} at {width}: {words}:\n{text}"
            );
        }
    }
}

#[test]
fn what_is_asked_of_all_sessions_is_two_keys_from_the_first_screen() {
    let home = home();
    let environment = [
        ("HOME", home.path().to_str().unwrap()),
        ("PI_CODING_AGENT_DIR", ""),
        ("PI_CODING_AGENT_SESSION_DIR", ""),
    ];
    let answers: [(&str, &[&str], &[&str]); 3] = [
        ("who needs me", &["S"], &["! question", "Rye or wheat?"]),
        (
            "that error last week",
            &["address already in use", "\r"],
            &["sieve serve", "/address already in use 1/1", "✗"],
        ),
        (
            "this week per project",
            &["$", "4"],
            &["/work/mill", "/work/oven", "/work/sieve", "total"],
        ),
    ];
    for ((columns, lines), (question, keys, words)) in SIZES
        .into_iter()
        .flat_map(|size| answers.iter().map(move |answer| (size, answer)))
    {
        let mut console = Console::start(&[], &environment);
        console.resize(lines, columns);
        console.wait_for("Grind the corn");
        console.wait_for("3 sessions");
        for keys in *keys {
            console.send(keys);
            if keys.len() > 1 {
                console.wait_for("1 by text");
            }
        }
        for words in *words {
            console.wait(
                &format!("{question} at {columns} columns: {words} on the screen"),
                |console| console.text().contains(words),
            );
        }
    }
}

#[test]
fn an_orphan_is_found_and_led_to_where_it_may_belong_in_three_keys() {
    let words = "no call has the id toolu_01Qz4vK1mB7nR2sT8wX3yA1; nothing near it fits";
    let path = fixture("lint/orphan-result/bad.jsonl");
    for size in SIZES {
        let mut stage = Stage::open(&path, size, Theme::dark());
        stage.press("! %");
        assert!(stage.picture().contains(words), "{}", stage.picture());
        stage.press("i");
        let picture = stage.picture();
        assert!(
            picture.contains("found     ") && picture.contains("has no call"),
            "the inspector tells it, too: {picture}"
        );
    }
}

/// The list of what failed, its heading, its title, FAILURES beside the text and the filter of errors all count the same.
#[test]
fn what_failed_is_counted_once() {
    let sessions = [
        fixture("claude-code/5d0c1c52-7f4e-4a39-9d5b-2f6f0c9b1e01.jsonl"),
        demo(),
    ];
    for path in sessions {
        let mut stage = Stage::open(&path, (120, 60), Theme::dark());
        let beside = stage.picture();
        stage.press("!");
        let rows: Vec<String> = stage
            .app
            .reader
            .views
            .sheet
            .rows
            .iter()
            .map(|row| row.line.to_string())
            .collect();
        // Errors of the lint have the line of their record there, in a column of its own.
        let is_failure = |row: &&String| {
            row.starts_with("✗ ") && row.chars().nth(2).is_some_and(|c| c.is_ascii_digit())
        };
        let listed = rows.iter().filter(is_failure).count();
        let words = format!("{listed} failures");
        let title: String = stage
            .app
            .reader
            .views
            .sheet
            .title
            .iter()
            .map(|span| span.content.as_ref())
            .collect();
        assert!(title.contains(&words), "{title}: {listed} are listed");
        assert!(beside.contains(&words), "{words}:\n{beside}");
        assert!(
            rows.contains(&format!("FAILURES  {listed}")),
            "{listed}: {rows:#?}"
        );
        stage.press("q f e g");
        let has_failed = |stage: &Stage| {
            let focus = stage.app.reader.text.view.focus.unwrap();
            let entry = stage
                .app
                .reader
                .session
                .transcript
                .get(focus.entry)
                .unwrap();
            entry.has_failed(&entry.blocks[focus.block].kind)
        };
        let mut found = usize::from(has_failed(&stage));
        let mut here = stage.app.reader.text.view.focus;
        loop {
            stage.press("e");
            if stage.app.reader.text.view.focus == here {
                break;
            }
            here = stage.app.reader.text.view.focus;
            found += 1;
        }
        assert_eq!(found, listed, "{}", stage.picture());
    }
}
