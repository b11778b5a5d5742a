//! The ends of work that continues after the result of its call.

use std::path::Path as FilePath;

use super::{HOME_MADE, built_in, read_lines, states};
use crate::formats;
use crate::formats::decoder::RecordPlace;
use crate::formats::fed;
use crate::formats::roots::FileRole;
use crate::model::entry::Entry;
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolCall;
use crate::model::tool::work::Carrier;
use crate::model::transcript::Transcript;

fn carriers(call: &ToolCall) -> Vec<(Carrier, bool)> {
    let updates = call.state.work().map(|work| work.updates.as_slice());
    let updates = updates.unwrap_or_default().iter();
    updates
        .map(|update| (update.carrier, update.end.is_some()))
        .collect()
}

/// The end of the first call's work, its exit code, and the time when the model was notified.
fn life(transcript: &Transcript) -> (Option<String>, Option<i64>, Option<Timestamp>) {
    let (_, call) = transcript.calls_with_work().next().unwrap();
    let work = call.state.work().unwrap();
    let end = work.completed().map(|(end, _)| end);
    (
        end.and_then(|end| Some(end.at?.to_rfc3339())),
        end.and_then(|end| end.exit),
        work.delivered().and_then(|update| update.at),
    )
}

#[test]
fn a_definition_says_acknowledgement_poll_end_and_delivery() {
    let rules = r#"
[[record]]
when   = { has = "began" }
result = { of = "began", text = "got", acknowledges = "job", handle = "job", ends = "told" }
[[record]]
when   = { has = "looked" }
result = { of = "looked", text = "got" }
completes = { of = "job", status = "is", exit = "code" }
[[record]]
when  = { has = "jobs" }
completes = { each = "jobs[]", when = { has = "over" }, of = "job", status = "parts[]", at = "over", queued = "waits", delivered = "said" }
[[record]]
when  = { who = "bell" }
entry = { role = "harness", from = { kind = "task" } }
block = [{ text = "say" }]
completes = { of = "job", status = "is" }
"#;
    let read = |lines: &[&str]| read_lines(&format!("{HOME_MADE}{rules}"), lines).0;
    let begun = [
        r#"{"who":"bot","id":"e1","step":1,"t":"2026-01-01T10:00:00Z","do":[{"n":"c1","tool":"run","with":{}},{"n":"c2","tool":"look","with":{}}]}"#,
        r#"{"began":"c1","job":"j1","got":"begun","t":"2026-01-01T10:00:01Z"}"#,
    ];
    let with = |line: &'static str| read(&[begun[0], begun[1], line]);
    let first = |transcript: &Transcript| {
        let call = transcript.entries().find_map(|entry| entry.calls().next());
        call.map(|call| (call.state.word(), carriers(call)))
            .unwrap()
    };
    for (line, expected) in [
        (
            r#"{"looked":"c2","job":"j1","is":"running","t":"2026-01-01T10:00:09Z"}"#,
            ("unknown", vec![(Carrier::Poll, false)]),
        ),
        (
            r#"{"looked":"c2","job":"j1","is":"exited","code":3,"t":"2026-01-01T10:00:09Z"}"#,
            ("failed", vec![(Carrier::Poll, true)]),
        ),
        (
            r#"{"who":"bell","job":"j1","is":"killed","say":"gone","t":"2026-01-01T10:00:09Z"}"#,
            ("stopped", vec![(Carrier::Notice, true)]),
        ),
        (
            r#"{"jobs":[{"job":"j0","over":1},{"job":"j1"}]}"#,
            ("unknown", vec![]),
        ),
        (
            r#"{"jobs":[{"job":"j1","over":"2026-01-01T10:00:05Z","parts":["done","failed","killed"]}]}"#,
            ("failed", vec![(Carrier::Record, true)]),
        ),
        (
            r#"{"jobs":[{"job":"j1","over":"2026-01-01T10:00:05Z","parts":["done","running"]}]}"#,
            ("unknown", vec![(Carrier::Record, false)]),
        ),
        (
            r#"{"jobs":[{"job":"j1","over":"2026-01-01T10:00:05Z","waits":true}]}"#,
            ("done", vec![(Carrier::Queue, true)]),
        ),
        (
            r#"{"jobs":[{"job":"j1","over":"2026-01-01T10:00:05Z","said":"2026-01-01T10:00:08Z"}]}"#,
            ("done", vec![(Carrier::Delivered, true)]),
        ),
    ] {
        assert_eq!(first(&with(line)), expected, "{line}");
    }
    let delivered = with(
        r#"{"jobs":[{"job":"j1","over":"2026-01-01T10:00:05Z","said":"2026-01-01T10:00:08Z"}]}"#,
    );
    let at = Timestamp::parse("2026-01-01T10:00:08Z");
    assert_eq!(
        life(&delivered),
        (Some("2026-01-01T10:00:05.000Z".to_owned()), None, at)
    );
}

#[test]
fn a_terminal_of_cursor_says_how_its_command_ended() {
    let cursor = formats::named("cursor").unwrap();
    let shell = |command: &str, wait: u32| {
        format!(
            r#"{{"role":"assistant","message":{{"content":[{{"type":"tool_use","name":"Shell","input":{{"command":"{command}","block_until_ms":{wait}}}}}]}}}}"#
        )
    };
    let terminal = |command: &str, foot: &str| {
        format!(
            "---\npid: 71\ncwd: \"/w\"\ncommand: \"{command}\"\nstatus: running  \nstarted_at: 2026-09-20T10:00:00.000Z\n---\nput out\n{foot}"
        )
    };
    let foot = |code: &str| {
        format!(
            "\n---\nexit_code: {code}\nelapsed_ms: 41023\nended_at: 2026-09-20T10:00:41.023Z\n---\n"
        )
    };
    let read = |lines: &[String], terminals: &[(&str, String)]| {
        let paths: Vec<String> = terminals
            .iter()
            .map(|(name, _)| format!("/p/terminals/{name}.txt"))
            .collect();
        let texts: Vec<[&str; 1]> = terminals.iter().map(|(_, text)| [text.as_str()]).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let mut files: Vec<(RecordPlace<'_>, &[&str])> = vec![(RecordPlace::Line, &lines)];
        for (path, text) in paths.iter().zip(&texts) {
            files.push((RecordPlace::Text(FilePath::new(path)), text));
        }
        fed::transcript(cursor, &files)
    };
    let long = shell("npm test", 0);
    let failed = ("1", terminal("npm test", &foot("3")));
    let one = read(std::slice::from_ref(&long), std::slice::from_ref(&failed));
    assert_eq!(states(&one), ["failed"]);
    assert_eq!(
        life(&one),
        (Some("2026-09-20T10:00:41.023Z".to_owned()), Some(3), None)
    );
    assert_eq!(
        one.meta().title(),
        None,
        "a terminal says nothing of the session"
    );
    for (lines, terminals, expected) in [
        (vec![long.clone()], vec![], "unknown"),
        (
            vec![long.clone()],
            vec![("1", terminal("npm test", ""))],
            "unknown",
        ),
        (
            vec![long.clone()],
            vec![("1", terminal("make", &foot("1")))],
            "unknown",
        ),
        (
            vec![long.clone()],
            vec![("1", terminal("npm test", &foot("unknown")))],
            "done",
        ),
        // Both runs had the same command, so neither can be identified.
        (
            vec![long.clone()],
            vec![failed.clone(), ("12", terminal("npm test", &foot("0")))],
            "unknown",
        ),
        (
            vec![long.clone(), long.clone()],
            vec![failed.clone()],
            "unknown",
        ),
        // The result of a foreground command is not recorded.
        (
            vec![shell("npm test", 30_000)],
            vec![failed.clone()],
            "unrecorded",
        ),
    ] {
        let states = states(&read(&lines, &terminals)).join(" ");
        let all = vec![expected; lines.len()].join(" ");
        assert_eq!(states, all, "{lines:?} {terminals:?}");
    }
    // If the result names the terminal, that identifies the work, and the model may poll it.
    let named = long.replace(
        r#""name":"Shell""#,
        r#""output":"in the background: /p/terminals/12.txt","name":"Shell""#,
    );
    let two = read(
        std::slice::from_ref(&named),
        &[failed, ("12", terminal("npm test", &foot("0")))],
    );
    assert_eq!(states(&two), ["done"]);
    let asks = |output: &str| {
        format!(
            r#"{{"role":"assistant","message":{{"content":[{{"type":"tool_use","name":"Await","input":{{"shell_id":"12","block_until_ms":0}},"output":"{output}"}}]}}}}"#
        )
    };
    let polled = read(
        &[named, asks("still running"), asks("done, exit code 4")],
        &[],
    );
    assert_eq!(states(&polled), ["failed", "done", "done"]);
    let call = polled
        .entries()
        .find_map(|entry| entry.calls().next())
        .unwrap();
    assert_eq!(
        carriers(call),
        [(Carrier::Poll, false), (Carrier::Poll, true)]
    );
    let beside = |path: &str| {
        let patterns = cursor
            .files(FilePath::new(path), FileRole::Companion)
            .into_iter();
        let all: Vec<String> = patterns.map(|it| it.0.display().to_string()).collect();
        (
            all.last().cloned().unwrap(),
            cursor.home(FilePath::new(path)),
        )
    };
    for path in [
        "/h/projects/p/agent-transcripts/a/a.jsonl",
        "/h/projects/p/agent-transcripts/a.jsonl",
    ] {
        let expected = (
            "/h/projects/p/terminals/*.txt".to_owned(),
            "/h/projects/p".into(),
        );
        assert_eq!(beside(path), expected, "{path}");
    }
    assert_eq!(
        beside("/x/a.jsonl"),
        ("/x/terminals/*.txt".to_owned(), "/x".into())
    );
}

const DISPATCHED: [&str; 2] = [
    r#"{"id":2,"role":"assistant","tool_calls":"[{\"id\":\"c1\",\"function\":{\"name\":\"delegate_task\",\"arguments\":\"{}\"}}]","timestamp":1792490510}"#,
    r#"{"id":3,"role":"tool","content":"{\"status\":\"dispatched\",\"mode\":\"background\",\"delegation_id\":\"deleg_9\"}","tool_call_id":"c1","timestamp":1792490511}"#,
];

fn notice(text: &str) -> String {
    format!(r#"{{"id":4,"role":"user","content":"{text}","timestamp":1792490600}}"#)
}

#[test]
fn a_batch_of_hermes_is_as_good_as_the_worst_of_its_tasks() {
    let read = |text: &str| {
        let row = notice(text);
        states(&built_in("hermes", &[DISPATCHED[0], DISPATCHED[1], &row])).join(" ")
    };
    let batch = |status: &str| {
        read(&format!(
            r"[ASYNC DELEGATION BATCH COMPLETE — deleg_9]\nDone.\n\n--- ✓ TASK 1/2: look  (status=completed, api_calls=1, 2.5s) ---\nfine\n--- a diff\n\n--- ✗ TASK 2/2: mend (status {status}) ---\nhm"
        ))
    };
    assert_eq!(batch("=completed"), "done", "what is no status");
    let second = |status: &str| batch(&format!("= x)  (status={status}, 3s"));
    assert_eq!(second("completed"), "done");
    assert_eq!(second("failed"), "failed");
    assert_eq!(second("interrupted"), "stopped");
    let single = |status: &str| {
        read(&format!(
            r"[ASYNC DELEGATION COMPLETE — deleg_9]\nOriginal goal: look\nStatus: {status}   API calls: 4   Duration: 31s\n--- RESULT ---\nx"
        ))
    };
    assert_eq!(single("completed"), "done");
    assert_eq!(single("failed"), "failed");
    let early = r"[ASYNC DELEGATION TASK FAILED — deleg_9, task 2/3]\nTask: b\nconsolidated results will still arrive";
    assert_eq!(read(early), "unknown", "the others go on");
}

#[test]
fn the_table_of_hermes_tells_ends_of_which_no_row_tells() {
    let row = |state: &str, delivery: &str| {
        format!(
            r#"{{"id":"s1","source":"cli","started_at":1792490400,"async_delegations":[{{"delegation_id":"deleg_8","state":"running"}},{{"delegation_id":"deleg_9","state":"{state}","completed_at":1792490550.5,"result_json":"{{\"results\":[{{\"status\":\"{state}\"}},{{\"status\":\"completed\"}}]}}",{delivery}}}]}}"#
        )
    };
    let read = |row: &str, more: &[&str]| {
        let lines = [&[row][..], &DISPATCHED, more].concat();
        built_in("hermes", &lines)
    };
    let end = || Some("2026-10-20T10:02:30.500Z".to_owned());
    let pending = read(&row("failed", r#""delivery_state":"pending""#), &[]);
    assert_eq!(states(&pending), ["failed"]);
    assert_eq!(life(&pending), (end(), None, None));
    let call = pending
        .entries()
        .find_map(|entry| entry.calls().next())
        .unwrap();
    assert_eq!(carriers(call), [(Carrier::Queue, true)]);
    let delivered = row(
        "failed",
        r#""delivery_state":"delivered","delivered_at":1792490590"#,
    );
    let alone = read(&delivered, &[]);
    assert_eq!(
        life(&alone),
        (end(), None, Some(Timestamp(1_792_490_590_000)))
    );
    // The notice that the model received takes precedence over the record of the program.
    let last = notice(
        r"[ASYNC DELEGATION BATCH COMPLETE — deleg_9]\n--- ✗ TASK 1/2: a  (status=failed, 2s) ---\nx\n\n--- ✓ TASK 2/2: b  (status=completed, 3s) ---\ny",
    );
    let both = read(&delivered, &[&last]);
    assert_eq!(
        life(&both),
        (end(), None, Some(Timestamp(1_792_490_600_000)))
    );
    let works = both
        .calls_with_work()
        .map(|(_, call)| call.state.work().unwrap().endings().len());
    assert_eq!(works.collect::<Vec<_>>(), [1], "one end");
}

#[test]
fn antigravity_is_asked_for_its_tasks() {
    let step = |index: u32, kind: &str, content: &str| {
        format!(
            r#"{{"step_index":{index},"source":"MODEL","type":"{kind}","status":"DONE","created_at":"2026-09-29T11:15:{index:02}Z","content":"{content}"}}"#
        )
    };
    let calls = |index: u32, name: &str| {
        format!(
            r#"{{"step_index":{index},"source":"MODEL","type":"PLANNER_RESPONSE","status":"DONE","created_at":"2026-09-29T11:15:{index:02}Z","tool_calls":[{{"name":"{name}","args":{{}}}}]}}"#
        )
    };
    let message = |content: &str| {
        format!(
            r#"{{"step_index":8,"source":"SYSTEM","type":"SYSTEM_MESSAGE","status":"DONE","created_at":"2026-09-29T11:15:40Z","content":"x\n\n<SYSTEM_MESSAGE>\n[Message] timestamp=2026-09-29T11:15:39Z sender={content}\n</SYSTEM_MESSAGE>"}}"#
        )
    };
    let begun = [
        calls(1, "run_command"),
        step(
            2,
            "RUN_COMMAND",
            r"Created At: 2026-09-29T18:15:02+07:00\nTool is running as a background task with task id: 18af-x/task-2\nTask logs are available at: file:///l",
        ),
        calls(3, "manage_task"),
    ];
    let read = |more: String| {
        let lines = [&begun[..], &[more]].concat();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let transcript = built_in("antigravity-cli", &lines);
        let call = transcript.entries().find_map(|entry| entry.calls().next());
        call.map(|call| (call.state.word(), carriers(call)))
            .unwrap()
    };
    let asked = |content: &str| read(step(4, "GENERIC", content));
    let head = r"Created At: 2026-09-29T18:15:04+07:00\nCompleted At: 2026-09-29T18:15:05+07:00\n";
    for (content, expected) in [
        (
            r"Task: 18af-x/task-2\nStatus: RUNNING\nLog: /l\nLog output:\nx",
            ("unknown", vec![(Carrier::Poll, false)]),
        ),
        (
            r"Task: 18af-x/task-2\nStatus: DONE\nLog: /l\nLog output:\nx",
            ("done", vec![(Carrier::Poll, true)]),
        ),
        (
            r"Task: 18af-x/task-2\nStatus: CANCELED\nLog: /l",
            ("stopped", vec![(Carrier::Poll, true)]),
        ),
        (
            r#"Task \"18af-x/task-2\" cancelled."#,
            ("stopped", vec![(Carrier::Poll, true)]),
        ),
        (
            r#"Input sent to task \"18af-x/task-2\"."#,
            ("unknown", vec![]),
        ),
        (
            r#"You have 2 background task(s) currently running:\n{ \"taskId\": \"18af-x/task-1\" }\n{\n  \"taskId\": \"18af-x/task-2\" }"#,
            ("unknown", vec![(Carrier::Poll, false)]),
        ),
        (
            r"The command completed successfully.\nOutput:\nTask: 18af-x/task-2\nStatus: DONE",
            ("unknown", vec![]),
        ),
    ] {
        assert_eq!(asked(&format!("{head}{content}")), expected, "{content}");
    }
    let noticed = |content: &str| read(message(content));
    for (content, expected) in [
        (
            r#"18af-x/task-2 priority=HIGH content=Task id \"18af-x/task-2\" finished with result:\n\n\t\tThe command exited with code 7.\n\t\tStdout:\nThe command exited with code 0."#,
            ("failed", vec![(Carrier::Notice, true)]),
        ),
        (
            r#"18af-x/task-2 priority=HIGH content=Task id \"18af-x/task-2\" finished with result:\n\n\tThe command completed successfully.\n\tOutput:\nx"#,
            ("done", vec![(Carrier::Notice, true)]),
        ),
        (
            r"18af-x/task-2 priority=HIGH content=[2026-09-29] Cron triggered (iteration 3).",
            ("unknown", vec![]),
        ),
    ] {
        assert_eq!(noticed(content), expected, "{content}");
    }
}

#[test]
fn what_no_agent_tells_is_unknown_and_no_fault() {
    let gemini = built_in(
        "gemini",
        &[
            r#"{"id":"m1","timestamp":"2026-06-20T10:00:00Z","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"run_shell_command","args":{"is_background":true,"command":"sleep 40"},"result":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"Command moved to background (PID: 33701). Output hidden. Press Ctrl+B to view."}}}],"status":"success","timestamp":"2026-06-20T10:00:01Z"}]}"#,
            r#"{"id":"m2","timestamp":"2026-06-20T10:00:05Z","type":"gemini","content":"It runs."}"#,
        ],
    );
    assert_eq!(states(&gemini), ["unknown"]);
    let is_reported = |entry: &Entry| {
        let works = entry.calls().filter_map(|call| call.state.work());
        works
            .map(crate::model::tool::work::Work::is_reported)
            .collect::<Vec<_>>()
    };
    let all: Vec<bool> = gemini.entries().flat_map(is_reported).collect();
    assert_eq!(all, [false]);
}
