//! Tests of `tv wait` as a process: exit codes, the line with the reason, sessions that grow
//! meanwhile.

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::fixtures::PATIENCE;

const PROMPT: &str = r#"{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"run the tests"},"uuid":"u1","timestamp":"2026-01-31T10:41:07.000Z","sessionId":"s1","cwd":"/w","version":"2.1.0"}"#;
const ANSWER: &str = r#"{"parentUuid":"u1","isSidechain":false,"type":"assistant","message":{"id":"msg_9","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn"},"uuid":"a9","timestamp":"2026-01-31T10:41:09.000Z","sessionId":"s1"}"#;

/// A call that fails.
fn failing(number: usize) -> String {
    format!(
        r#"{{"parentUuid":null,"isSidechain":false,"type":"assistant","message":{{"id":"msg_{number}","type":"message","role":"assistant","model":"m","content":[{{"type":"tool_use","id":"toolu_{number}","name":"Bash","input":{{"command":"make {number}"}}}}]}},"uuid":"a{number}","timestamp":"2026-01-31T10:41:09.000Z","sessionId":"s1"}}
{{"parentUuid":"a{number}","isSidechain":false,"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{number}","content":"boom","is_error":true}}]}},"uuid":"r{number}","timestamp":"2026-01-31T10:41:10.000Z","sessionId":"s1"}}
"#
    )
}

fn session(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("session.jsonl");
    fs::write(&path, fresh(text)).unwrap();
    path
}

/// The same records as if they had been written just now.
fn fresh(text: &str) -> String {
    let made = tempfile::tempfile()
        .unwrap()
        .metadata()
        .unwrap()
        .modified()
        .unwrap();
    let now = made.duration_since(std::time::UNIX_EPOCH).unwrap();
    let now = tv::model::timestamp::Timestamp(i64::try_from(now.as_millis()).unwrap()).to_rfc3339();
    let (minute, _) = now.rsplit_once(':').unwrap();
    text.replace("2026-01-31T10:41", minute)
}

fn append(path: &Path, text: &str) {
    OpenOptions::new()
        .append(true)
        .open(path)
        .unwrap()
        .write_all(fresh(text).as_bytes())
        .unwrap();
}

fn start(path: &Path, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
    command.arg("wait").arg(path).args(arguments);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for the end; meanwhile does this again and again.
#[track_caller]
fn end(mut child: Child, mut meanwhile: impl FnMut()) -> Output {
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < PATIENCE, "tv wait did not end");
        meanwhile();
        std::thread::sleep(Duration::from_millis(100));
    }
    child.wait_with_output().unwrap()
}

#[track_caller]
fn expect(output: &Output, code: i32, stdout: &str, stderr: &str) {
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert_eq!(output.status.code(), Some(code), "{out}{err}");
    assert!(out.contains(stdout) && err.contains(stderr), "{out}\n{err}");
    assert_eq!(out.lines().count(), usize::from(code == 0), "{out}");
    assert!(!out.contains('\u{1b}') && !err.contains('\u{1b}'));
}

#[test]
fn a_state_that_holds_is_an_answer_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path(), &format!("{PROMPT}\n{ANSWER}\n"));
    expect(
        &end(start(&path, &["--until", "waiting"]), || {}),
        0,
        "waits for the next prompt",
        "",
    );
    expect(
        &end(start(&path, &["--until", "not model"]), || {}),
        0,
        "-model",
        "",
    );
    let loops: String = (1..4)
        .map(|n| failing(n).replace(&format!("make {n}"), "make"))
        .collect();
    let path = session(folder.path(), &format!("{PROMPT}\n{loops}"));
    expect(
        &end(start(&path, &["--until", "loop"]), || {}),
        0,
        "loop ×3 Bash, same result: Bash make",
        "",
    );
}

#[test]
fn only_new_errors_are_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path(), &format!("{PROMPT}\n{}", failing(1)));
    let output = end(start(&path, &["--until", "err", "--timeout", "1s"]), || {});
    expect(&output, 1, "", "not within 1.0s: err");
    for poll in [&[][..], &["--poll"]] {
        let mut number = 1;
        let arguments = [&["--until", "err"][..], poll].concat();
        let output = end(start(&path, &arguments), || {
            number += 1;
            append(&path, &failing(number));
        });
        expect(&output, 0, "err: Bash make", "");
        assert!(!String::from_utf8_lossy(&output.stdout).contains("make 1\n"));
        fs::write(&path, format!("{PROMPT}\n{}", failing(1))).unwrap();
    }
}

#[test]
fn it_waits_until_the_agent_waits() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path(), &format!("{PROMPT}\n"));
    let mut child = start(&path, &["--until", "waiting or unclean"]);
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "the model answers");
    append(&path, &format!("{ANSWER}\n"));
    expect(&end(child, || {}), 0, "waits for the next prompt", "");
}

#[test]
fn a_session_that_ended_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = crate::fixtures::root().join("claude-stream-json");
    let ended = crate::corpus::files(&fixture).into_iter().find(|path| {
        let output = Command::new(env!("CARGO_BIN_EXE_tv"))
            .args(["stats", "--json"])
            .arg(path)
            .output();
        String::from_utf8_lossy(&output.unwrap().stdout).contains(r#""state":"ended""#)
    });
    let path = folder.path().join("run.jsonl");
    fs::copy(ended.expect("a run that ended"), &path).unwrap();
    expect(
        &end(start(&path, &["--until", "waiting"]), || {}),
        1,
        "",
        "the session ended without it: waiting",
    );
    expect(
        &end(start(&path, &["--until", "ended"]), || {}),
        0,
        "ended",
        "",
    );
}

#[test]
fn what_cannot_be_waited_for_is_2() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.jsonl");
    expect(
        &end(start(&missing, &["--until", "waiting"]), || {}),
        2,
        "",
        "tv: ",
    );
    let path = session(folder.path(), &format!("{PROMPT}\n"));
    for wrong in ["wating", "silent>", ""] {
        let output = end(start(&path, &["--until", wrong]), || {});
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
    assert_eq!(end(start(&path, &[]), || {}).status.code(), Some(2));
    let output = end(
        start(&path, &["--until", "waiting", "--timeout", "soon"]),
        || {},
    );
    expect(&output, 2, "", "10m");
}

#[cfg(unix)]
#[test]
fn an_interrupt_is_130() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path(), &format!("{PROMPT}\n"));
    let child = start(&path, &["--until", "ended"]);
    let id = child.id().to_string();
    // Until it has begun, an interrupt ends it as it ends every program.
    std::thread::sleep(Duration::from_secs(1));
    let output = end(child, || {
        drop(
            Command::new("kill")
                .args(["-INT", &id])
                .stderr(Stdio::null())
                .status(),
        );
    });
    assert_eq!(output.status.code(), Some(130));
}

#[test]
fn a_pipe_is_news_from_its_beginning_and_its_end_is_the_end() {
    let piped = |until: &str, text: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
        command.args(["wait", "-", "--until", until]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        end(child, || {})
    };
    expect(
        &piped("err", &format!("{PROMPT}\n{}", failing(1))),
        0,
        "err: Bash make 1",
        "",
    );
    expect(
        &piped("cost>2", &format!("{PROMPT}\n{ANSWER}\n")),
        1,
        "",
        "the input ended without it: cost>2",
    );
}

#[test]
fn nothing_of_a_session_is_an_order_for_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path(), &format!("{PROMPT}\n"));
    let mut number = 1;
    let output = end(start(&path, &["--until", "err"]), || {
        number += 1;
        let name = format!("make {number}");
        append(
            &path,
            &failing(number).replace(&name, r"make \u001b]0;PWNED\u0007\u009b31m x"),
        );
    });
    expect(&output, 0, "err: Bash make", "");
    assert!(output.stdout.iter().all(|byte| *byte != 7));
}

#[cfg(feature = "sqlite")]
#[test]
fn a_database_is_followed_too() {
    use crate::databases::{Writer, tables_of};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.db");
    let writer = Writer::open(&path);
    writer.run(&tables_of(
        &crate::fixtures::root().join("openclaw/openclaw-agent.sql"),
    ));
    writer.events("s", 0..4);
    let mut next = 4;
    let output = end(
        start(&path, &["--until", "role:user /message [0-9]+/"]),
        || {
            writer.events("s", next..next + 1);
            next += 1;
        },
    );
    expect(&output, 0, "message", "");
    let output = end(
        start(&path, &["--until", "\"message 1\"", "--timeout", "500ms"]),
        || {},
    );
    expect(&output, 1, "", "not within 500ms");
}

#[test]
fn of_a_folder_with_several_sessions_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let one = session(folder.path(), &format!("{PROMPT}\n{ANSWER}\n"));
    let until = ["--until", "waiting or idle"];
    let output = end(start(folder.path(), &until), || {});
    assert_eq!(output.status.code(), Some(0), "a folder with one session");
    fs::copy(one, folder.path().join("other.jsonl")).unwrap();
    let output = end(start(folder.path(), &until), || {});
    expect(&output, 2, "", "has several sessions");
    let output = end(
        start(folder.path(), &[&until[..], &["--newest"]].concat()),
        || {},
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn the_help_says_what_can_be_waited_for() {
    let mut child = start(Path::new("x"), &["--help"]);
    let mut help = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut help)
        .unwrap();
    assert!(child.wait().unwrap().success());
    for word in ["--until", "--timeout", "silent>90s", "130"] {
        assert!(help.contains(word), "{word}: {help}");
    }
}

/// A file that was copied today was not written to by its agent, and nobody waits for that.
#[test]
fn a_copy_of_an_old_session_is_not_at_work() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    fs::write(
        &path,
        format!("{PROMPT}\n").replace("2026-01-31", "2025-01-31"),
    )
    .unwrap();
    let output = end(
        start(&path, &["--until", "unclean", "--timeout", "20s"]),
        || {},
    );
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}
