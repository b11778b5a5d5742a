//! A system that refuses: no watches, a disk that fails, nothing that may be written, few files.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use super::{READ_ONLY, TV, Wrapper, assert_idle};
use crate::follow::{agent_line, append};
use crate::pty::{self, Console, session};

fn say(path: &std::path::Path, text: &str, number: usize) {
    pty::append(path, &pty::line("assistant", text, number));
}

/// Starts the viewer behind a wrapper, sees a line come, and gives both for more.
fn viewed(wrapper: Wrapper) -> Option<(Console, std::path::PathBuf, tempfile::TempDir)> {
    let dir = tempfile::tempdir().unwrap();
    let path = session(dir.path());
    let mut console = wrapper.view(&[path.to_str().unwrap()])?;
    console.wait_for("FIRST ANSWER");
    Some((console, path, dir))
}

#[test]
fn without_watches_the_poll_shows_what_comes() {
    const NO_INSTANCES: &str = "echo 0 > /proc/sys/user/max_inotify_instances && exec \"$0\" \"$@\"";
    const NO_WATCHES: &str = "echo 0 > /proc/sys/user/max_inotify_watches && exec \"$0\" \"$@\"";
    for wrapper in [
        Wrapper(&["unshare", "-U", "-r", "sh", "-c", NO_INSTANCES]),
        Wrapper(&["unshare", "-U", "-r", "sh", "-c", NO_WATCHES]),
    ] {
        let Some((mut console, path, _dir)) = viewed(wrapper) else { return };
        console.wait_for("no file events");
        console.wait_for("FOLLOW  poll");
        say(&path, "SEEN NEVERTHELESS", 3);
        console.wait_for("SEEN NEVERTHELESS");
        assert_idle(console.process());
        console.send("q");
        assert_eq!(console.wait_for_exit(), 0);
    }
}

/// The system itself makes reads of the file fail, for some tries.
#[test]
fn a_read_that_fails_is_told_and_tried_again() {
    for (errno, words) in [("EIO", "Input/output error"), ("ESTALE", "Stale file handle")] {
        let dir = tempfile::tempdir().unwrap();
        let path = session(dir.path());
        let name = path.to_str().unwrap();
        let probe = Wrapper(&["strace", "-f", "-qq", "-o", "/dev/null"]);
        if probe.before(&[]).is_none() {
            return;
        }
        // The first reading takes three or four.
        let fails = format!("inject=pread64:error={errno}:when=6..8");
        let arguments =
            ["-f", "-qq", "-o", "/dev/null", "-P", name, "-e", "trace=pread64", "-e", &fails, TV, name];
        let mut console = Console::run("strace", &arguments, &[]);
        console.wait_for("FIRST ANSWER");
        let mut number = 3;
        while !console.text().contains("unreadable") && number < 9 {
            say(&path, &format!("LINE {number}"), number);
            let shown = format!("LINE {number}");
            console.wait("the line or the trouble", |console| {
                console.text().contains(&shown) || console.text().contains("unreadable")
            });
            number += 1;
        }
        console.wait_for(&format!("unreadable: {words}"));
        console.wait("an end of the trouble", |console| !console.text().contains("unreadable"));
        say(&path, "AFTER IT", 20);
        console.wait_for("AFTER IT");
        for number in 3..number {
            assert!(console.text().contains(&format!("LINE {number}")), "{}", console.text());
        }
        console.send("q");
        console.wait_for_exit();
    }
}

#[test]
fn interrupted_reads_are_no_trouble() {
    let dir = tempfile::tempdir().unwrap();
    let path = session(dir.path());
    if Wrapper(&["strace", "-f", "-qq", "-o", "/dev/null"]).before(&[]).is_none() {
        return;
    }
    let arguments =
        ["-f", "-qq", "-o", "/dev/null", "-e", "trace=pread64,read", "-P", path.to_str().unwrap()];
    let plain = Command::new(TV).args(["show", "--json"]).arg(&path).output().unwrap();
    let interrupted = Command::new("strace")
        .args(arguments)
        .args(["-e", "inject=pread64,read:error=EINTR:when=1+2", TV, "show", "--json"])
        .arg(&path)
        .output()
        .unwrap();
    assert!(plain.status.success() && !plain.stdout.is_empty());
    assert_eq!(String::from_utf8_lossy(&interrupted.stdout), String::from_utf8_lossy(&plain.stdout));
}

/// What is mounted read-only for the viewer still grows by others.
#[test]
fn a_read_only_mount_is_followed() {
    let dir = tempfile::tempdir().unwrap();
    let path = session(dir.path());
    let Some(mut console) = READ_ONLY.view(&["--level=2", path.to_str().unwrap()]) else { return };
    console.wait_for("FIRST ANSWER");
    say(&path, "FROM OUTSIDE", 3);
    console.wait_for("FROM OUTSIDE");
    console.send("q");
    assert_eq!(console.wait_for_exit(), 0);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left");
}

/// A session with more sub-agents than files may be open, five of which grow side by side.
#[test]
fn many_files_that_grow_need_few_to_be_open() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s-1.jsonl");
    let folder = dir.path().join("s-1/subagents");
    fs::create_dir_all(&folder).unwrap();
    fs::write(&path, agent_line("u-1", None, None, "begin") + "\n").unwrap();
    let agent = |number: usize| folder.join(format!("agent-a{number}.jsonl"));
    let told = |number: usize, step: usize| {
        agent_line(
            &format!("u-{number}-{step}"),
            None,
            Some(&format!("a{number}")),
            &format!("said {number} {step}"),
        ) + "\n"
    };
    for number in 0..200 {
        fs::write(agent(number), told(number, 0)).unwrap();
    }
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -n 64 && exec \"$0\" \"$@\"", TV, "show", "--follow", "--json"])
        .arg(&path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut missing: HashSet<String> = (0..200).map(|number| format!("\"said {number} 0\"")).collect();
    let mut until_all = |missing: &mut HashSet<String>| {
        while !missing.is_empty() {
            let line = lines.next().unwrap().unwrap();
            missing.retain(|words| !line.contains(words.trim_matches('"')));
        }
    };
    until_all(&mut missing);
    for step in 1..6 {
        for number in 0..5 {
            append(&agent(number), told(number, step));
            missing.insert(format!("\"said {number} {step}\""));
        }
        until_all(&mut missing);
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn one_file_at_a_time_is_enough() {
    let dir = tempfile::tempdir().unwrap();
    let paths: Vec<_> = (0..5).map(|number| dir.path().join(format!("{number}.jsonl"))).collect();
    for path in &paths {
        fs::write(path, "{\"role\":\"user\",\"content\":\"hello\"}\n").unwrap();
    }
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 6 && exec \"$0\" \"$@\"", TV, "stats", "--json"])
        .args(&paths)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 5);
    assert!(output.status.success() && output.stderr.is_empty());
}
