//! Tests of the command line as a process: exit codes, streams and output.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use assert_cmd::assert::Assert;
use serde_json::Value;

/// A small session in Claude Code's shape: a prompt, an answer with a call, its result with colours and
/// a hostile title sequence, and a broken line.
const SESSION: &str = concat!(
    r#"{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"run the tests"},"uuid":"u1","timestamp":"2026-01-31T10:41:07.000Z","sessionId":"s1","cwd":"/work","version":"2.1.0"}"#,
    "\n",
    r#"{"parentUuid":"u1","isSidechain":false,"type":"assistant","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-4-6","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"cargo test"}}],"usage":{"input_tokens":10,"output_tokens":20,"cache_read_input_tokens":0,"cache_creation_input_tokens":0}},"requestId":"req_1","uuid":"a1","timestamp":"2026-01-31T10:41:09.000Z","sessionId":"s1"}"#,
    "\n",
    r#"{"parentUuid":"a1","isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"\u001b[31mred\u001b[0m\u001b]0;PWNED\u0007 ok","is_error":false}]},"uuid":"u2","timestamp":"2026-01-31T10:41:10.000Z","sessionId":"s1"}"#,
    "\nthis line is broken\n",
);

fn tv() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
    for name in [
        "NO_COLOR",
        "LC_ALL",
        "LC_CTYPE",
        "LANG",
        "VISUAL",
        "EDITOR",
        "TV_TEST_PANIC",
    ] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm-256color");
    command
}

fn run(command: &mut Command) -> Assert {
    Assert::new(command.stdin(Stdio::null()).output().unwrap())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn session(folder: &Path) -> PathBuf {
    file(folder, "session.jsonl", SESSION.as_bytes())
}

fn file(folder: &Path, name: &str, content: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path
}

fn stdout_of(command: &mut Command) -> String {
    text(&run(command).success().get_output().stdout)
}

/// Exit code 2 and one sentence on stderr, whatever the command.
fn refuses(path: &Path) {
    for command in [
        &["show"][..],
        &["stats", "--json"],
        &["check"],
        &["doctor"],
        &[],
    ] {
        let output = run(tv().args(command).arg(path))
            .code(2)
            .get_output()
            .clone();
        let sentence = text(&output.stderr);
        assert!(sentence.starts_with("tv: "), "{command:?}: {sentence}");
        assert_eq!(sentence.lines().count(), 1, "{command:?}: {sentence}");
        assert!(
            !sentence.contains('\u{1b}') && !sentence.contains("panicked"),
            "{command:?}: {sentence}"
        );
    }
}

#[test]
fn usage_errors_are_2_and_help_is_0() {
    run(&mut tv()).code(2);
    run(tv().arg("stats")).code(2);
    run(tv().args(["show", "--level", "9", "x"])).code(2);
    let help = stdout_of(tv().arg("--help"));
    for command in [
        "show",
        "stats",
        "doctor",
        "check",
        "list",
        "demo",
        "completions",
    ] {
        assert!(help.contains(command), "{help}");
    }
    assert!(stdout_of(tv().arg("--version")).starts_with("tv "));
}

#[test]
fn completions_are_written_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(
            stdout_of(tv().args(["completions", shell])).contains("doctor"),
            "{shell}"
        );
    }
}

/// Ids of sessions come with their beginnings, and with words of their titles.
#[test]
fn a_shell_completes_sessions() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-work");
    fs::create_dir_all(&folder).unwrap();
    let id = "11111111-2222-4333-8444-555555555555";
    let record = SESSION
        .replace("run the tests", "mend the watcher")
        .replace("\"sessionId\":\"s1\"", &format!("\"sessionId\":\"{id}\""));
    fs::write(folder.join(format!("{id}.jsonl")), record).unwrap();
    let script = "source <(\"$TV\" completions bash); tv() { \"$TV\" \"$@\"; }; COMP_WORDS=(tv show \"$1\"); \
                  COMP_CWORD=2; _tv_sessions tv \"$1\" show; printf '%s\\n' \"${COMPREPLY[@]}\"";
    for (word, is_there) in [("111", true), ("watch", true), ("zebra", false)] {
        let mut bash = Command::new("bash");
        bash.args(["-c", script, "bash", word])
            .env("TV", env!("CARGO_BIN_EXE_tv"))
            .env("HOME", home.path());
        let written = stdout_of(&mut bash);
        assert_eq!(
            written.lines().any(|line| line == id),
            is_there,
            "{word}: {written}"
        );
    }
    // A word that names nothing leads to what is near it, also if it is mistyped.
    for word in ["watch", "wacther", "mend the watcher"] {
        let wrong = run(tv().args(["show", word]).env("HOME", home.path())).code(2);
        let said = text(&wrong.get_output().stderr);
        assert!(
            said.contains("near: 11111111 mend the watcher; `tv list`"),
            "{said}"
        );
        assert!(said.lines().count() == 1 && said.len() < 160, "{said}");
    }
}

#[test]
fn what_is_not_there_is_reported_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    refuses(&folder.path().join("missing\u{1b}[2J.jsonl"));
    refuses(folder.path());
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_reported_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    std::os::unix::fs::symlink(&a, &b).unwrap();
    std::os::unix::fs::symlink(&b, &a).unwrap();
    refuses(&a);
    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    refuses(&socket);
}

#[test]
fn empty_and_binary_files_end_cleanly() {
    let folder = tempfile::tempdir().unwrap();
    let noise: Vec<u8> = (0..4096_u32)
        .map(|n| u8::try_from((n * 97 + n / 7) % 256).unwrap())
        .collect();
    for (name, content) in [("empty.jsonl", &[][..]), ("noise.bin", &noise)] {
        let path = file(folder.path(), name, content);
        for command in ["show", "stats", "doctor"] {
            let output = run(tv().arg(command).arg(&path)).get_output().clone();
            assert!(
                matches!(output.status.code(), Some(0 | 2)),
                "{command} {name}: {:?}",
                output.status
            );
            assert!(
                !output.stdout.contains(&0x1b) && !output.stderr.contains(&0x1b),
                "{command} {name}"
            );
            assert!(
                !text(&output.stderr).contains("panicked"),
                "{command} {name}"
            );
        }
    }
}

#[test]
fn one_bad_session_does_not_hide_the_good_ones() {
    let folder = tempfile::tempdir().unwrap();
    let good = session(folder.path());
    let missing = folder.path().join("missing.jsonl");
    let output = run(tv().args(["stats", "--json"]).args([&missing, &good]))
        .code(2)
        .get_output()
        .clone();
    assert_eq!(text(&output.stdout).lines().count(), 1);
    assert!(text(&output.stderr).contains("missing.jsonl"));
}

#[test]
fn text_has_no_escape_byte_unless_colours_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path());
    for level in ["1", "2", "3", "4", "5"] {
        let plain = stdout_of(tv().args(["show", "--level", level]).arg(&path));
        assert!(
            !plain.contains(['\u{1b}', '\u{7}']),
            "level {level}: {plain:?}"
        );
        // In the record itself the title stands as text, its signs made visible.
        assert_eq!(
            plain.contains("PWNED"),
            level == "5",
            "level {level}: {plain}"
        );
        assert_eq!(
            plain.contains("␛]0;PWNED␇"),
            level == "5",
            "level {level}: {plain}"
        );
        let coloured = stdout_of(
            tv().args(["show", "--color", "always", "--level", level])
                .arg(&path),
        );
        assert_eq!(without_colours(&coloured), plain, "level {level}");
    }
    let plain = stdout_of(tv().arg("show").arg(&path));
    assert!(
        plain.contains("run the tests") && plain.contains("cargo test"),
        "{plain}"
    );
    assert!(plain.contains("this line is broken"), "{plain}");
    let no_color = stdout_of(tv().env("NO_COLOR", "1").arg("show").arg(&path));
    assert_eq!(no_color, plain);
}

/// Fails on any sequence but SGR. Colours may keep trailing spaces that plain text drops.
fn without_colours(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text.split('\u{1b}');
    plain.push_str(rest.next().unwrap_or_default());
    for part in rest {
        let (parameters, after) = part.split_once('m').unwrap();
        assert!(parameters.starts_with('['), "{part:?}");
        assert!(
            parameters
                .chars()
                .skip(1)
                .all(|c| c.is_ascii_digit() || c == ';'),
            "{part:?}"
        );
        plain.push_str(after);
    }
    let lines: Vec<&str> = plain
        .lines()
        .map(|line| line.trim_end_matches(' '))
        .collect();
    lines.join("\n") + "\n"
}

#[test]
fn no_line_is_wider_than_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path());
    for width in [20, 60, 200] {
        let shown = stdout_of(
            tv().args(["show", "--width", &width.to_string()])
                .arg(&path),
        );
        let widest = shown
            .lines()
            .map(|line| line.chars().count())
            .max()
            .unwrap_or_default();
        assert!(widest <= width, "{widest} > {width}:\n{shown}");
    }
}

#[test]
fn without_a_terminal_viewing_is_showing() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path());
    assert_eq!(
        stdout_of(tv().arg(&path)),
        stdout_of(tv().arg("show").arg(&path))
    );
    let ascii = stdout_of(tv().env("LC_ALL", "C").arg(&path));
    assert!(ascii.is_ascii(), "{ascii}");
}

#[test]
fn nothing_but_ascii_is_written_where_that_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let odd = SESSION
        .replace("run the tests", "“é” — 宽 👩 \u{9b}31m\u{2028}…")
        .replace(" ok", " \u{9d}ok ✓");
    let path = file(folder.path(), "sé宽sion.jsonl", odd.as_bytes());
    for words in [
        "show",
        "show --level 5",
        "stats",
        "check --severity note",
        "doctor",
        "list",
        "check --sarif",
    ] {
        let is_list = words == "list";
        for more in ["", "--json"]
            .into_iter()
            .filter(|more| more.is_empty() || !words.contains("--sarif"))
        {
            let command = || {
                let mut command = tv();
                command
                    .args(words.split(' '))
                    .args(more.split_terminator(' '));
                command.arg(if is_list { folder.path() } else { &path });
                command
            };
            let by_flag = command().arg("--ascii").output().unwrap();
            let by_locale = command()
                .env("LC_ALL", "de_DE.ISO-8859-1")
                .output()
                .unwrap();
            assert!(
                by_flag.stdout.is_ascii() && by_flag.stderr.is_ascii(),
                "{words} {more}"
            );
            assert_eq!(by_flag, by_locale, "{words} {more}");
            assert!(
                words.starts_with("check") || !by_flag.stdout.is_empty(),
                "{words} {more}"
            );
            if more.is_empty() && words != "check --sarif" {
                continue;
            }
            let plain = command().output().unwrap().stdout;
            let values = |bytes: &[u8]| -> Vec<Value> {
                serde_json::Deserializer::from_slice(bytes)
                    .into_iter()
                    .map(Result::unwrap)
                    .collect()
            };
            assert_eq!(values(&by_flag.stdout), values(&plain), "{words} {more}");
        }
    }
    let shown = stdout_of(tv().args(["show", "--ascii"]).arg(&path));
    assert!(
        shown.contains("\"<U+00E9>\" - <U+5BBD> <U+1F469> <U+009B>31m"),
        "{shown}"
    );
    let refusal = tv().args(["--ascii", "show"]).arg("é").output().unwrap();
    assert_eq!(
        (refusal.status.code(), refusal.stderr.is_ascii()),
        (Some(2), true)
    );
}

#[test]
fn a_name_that_nothing_in_a_file_has_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path());
    let named = |entry: &str| format!("{}#{entry}", path.display());
    for command in ["show", "stats", "check", "doctor", ""] {
        let words = command.split_terminator(' ');
        let refused = tv()
            .args(words.clone())
            .arg(named("nope"))
            .output()
            .unwrap();
        assert_eq!(
            (refused.status.code(), text(&refused.stdout).as_str()),
            (Some(2), ""),
            "{command}"
        );
        assert!(
            text(&refused.stderr).contains("has no entry nope"),
            "{}",
            text(&refused.stderr)
        );
        for there in ["msg_1", "toolu_1"] {
            let output = tv().args(words.clone()).arg(named(there)).output().unwrap();
            assert_ne!(
                output.status.code(),
                Some(2),
                "{command} {there}: {}",
                text(&output.stderr)
            );
        }
    }
}

#[test]
fn standard_input_is_a_session_too() {
    let output = assert_cmd::Command::new(env!("CARGO_BIN_EXE_tv"))
        .args(["show", "-"])
        .write_stdin(SESSION)
        .assert()
        .success()
        .get_output()
        .clone();
    assert!(text(&output.stdout).contains("run the tests"));
}

#[test]
fn a_closed_pipe_is_success() {
    let folder = tempfile::tempdir().unwrap();
    let long = SESSION.repeat(2000);
    let path = file(folder.path(), "long.jsonl", long.as_bytes());
    for command in [&["show"][..], &["show", "--json"]] {
        let mut child = tv()
            .args(command)
            .arg(&path)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0; 16]).unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{command:?}");
        assert_eq!(text(&output.stderr), "", "{command:?}");
    }
}

#[test]
fn stats_are_one_object_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path());
    let line = stdout_of(tv().args(["stats", "--json"]).arg(&path));
    let stats: Value = serde_json::from_str(line.trim_end()).unwrap();
    assert_eq!(stats["schema"], "tv.stats/2");
    assert_eq!(stats["format"], "claude-code");
    assert_eq!(stats["path"], path.to_str().unwrap());
    let records = &stats["records"];
    let fates = ["shown", "merged", "passed", "faulty"].map(|fate| records[fate].as_u64().unwrap());
    assert_eq!(records["total"], fates.iter().sum::<u64>());
    assert_eq!(
        (&records["total"], &records["faulty"]),
        (&4.into(), &1.into())
    );
    assert_eq!(records["faults"][0]["line"], 4);
    assert_eq!(stats["entries"]["user"], 1);
    assert_eq!(
        (&stats["pairing"]["calls"], &stats["pairing"]["paired"]),
        (&1.into(), &1.into())
    );
    assert_eq!(
        (&stats["usage"]["output"], &stats["usage"]["reasoning"]),
        (&20.into(), &Value::Null)
    );
    assert_eq!(stats["cost"]["source"], "estimated");
    assert_eq!(stats["cost"]["usd"], 0.000_55);
    for part in [
        "session",
        "blocks",
        "turns",
        "lanes",
        "branches",
        "compactions",
        "active",
    ] {
        assert!(!stats[part].is_null(), "{part}");
    }
    let table = stdout_of(tv().arg("stats").arg(&path));
    assert!(
        table.contains("claude-code") && table.contains("1: 1 paired"),
        "{table}"
    );
}

#[test]
fn entries_as_json_have_their_bodies_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path());
    let lines = stdout_of(tv().args(["show", "--json"]).arg(&path));
    let entries: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(entries.iter().all(|entry| entry["schema"] == "tv.entry/2"));
    let call = entries
        .iter()
        .flat_map(|entry| entry["blocks"].as_array().unwrap())
        .find(|block| block["type"] == "call")
        .unwrap();
    assert_eq!(
        (&call["state"], &call["name"]),
        (&"done".into(), &"Bash".into())
    );
    assert_eq!(call["input"]["command"], "cargo test");
    assert_eq!(call["result"]["text"], "red ok");
    assert_eq!(call["duration_ms"], 1000);
}

#[test]
fn the_doctor_names_the_broken_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path());
    let report = stdout_of(tv().arg("doctor").arg(&path));
    assert!(
        report.contains("claude-code") && report.contains("session.jsonl:4: byte "),
        "{report}"
    );
    let json: Value =
        serde_json::from_str(&stdout_of(tv().args(["doctor", "--json"]).arg(&path))).unwrap();
    assert_eq!(json["schema"], "tv.doctor/2");
    assert!(json["formats"].as_array().unwrap().len() > 3);
}

#[test]
fn the_text_of_a_session_begins_with_which_it_is_also_while_it_is_followed() {
    use std::io::{BufRead as _, BufReader};

    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path());
    for arguments in [&["show"][..], &["show", "--follow"]] {
        let mut child = tv()
            .args(arguments)
            .arg(&path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let head: Vec<String> = lines.take(2).map(Result::unwrap).collect();
        assert_eq!(head[0], "  run the tests", "{arguments:?}");
        assert!(
            head[1].starts_with("  claude-code · opus-4-6 · /work · "),
            "{arguments:?}: {head:?}"
        );
        drop(child.kill());
        child.wait().unwrap();
    }
}

#[cfg(unix)]
#[test]
fn following_writes_what_is_appended_and_ends_on_interrupt() {
    use std::io::{BufRead as _, BufReader, Write as _};

    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path());
    let mut child = tv()
        .args(["show", "--follow", "--json"])
        .arg(&path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    while !next().contains("this line is broken") {}
    let appended = SESSION
        .lines()
        .next()
        .unwrap()
        .replace("u1", "u9")
        .replace("run the tests", "and now");
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    writeln!(file, "{appended}").unwrap();
    assert!(next().contains("and now"));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
