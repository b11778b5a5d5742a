//! Tests with a system that refuses: no file watches, a failing disk, folders without write
//! permission, few file descriptors.

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
    const NO_INSTANCES: &str =
        "echo 0 > /proc/sys/user/max_inotify_instances && exec \"$0\" \"$@\"";
    const NO_WATCHES: &str = "echo 0 > /proc/sys/user/max_inotify_watches && exec \"$0\" \"$@\"";
    for wrapper in [
        Wrapper(&["unshare", "-U", "-r", "sh", "-c", NO_INSTANCES]),
        Wrapper(&["unshare", "-U", "-r", "sh", "-c", NO_WATCHES]),
    ] {
        let Some((mut console, path, _dir)) = viewed(wrapper) else {
            return;
        };
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
fn a_read_that_fails_is_reported_and_tried_again() {
    for (errno, words) in [
        ("EIO", "Input/output error"),
        ("ESTALE", "Stale file handle"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = session(dir.path());
        let name = path.to_str().unwrap();
        let probe = Wrapper(&["strace", "-f", "-qq", "-o", "/dev/null"]);
        if probe.before(&[]).is_none() {
            return;
        }
        // The first reading takes three or four.
        let fails = format!("inject=pread64:error={errno}:when=6..8");
        let arguments = [
            "-f",
            "-qq",
            "-o",
            "/dev/null",
            "-P",
            name,
            "-e",
            "trace=pread64",
            "-e",
            &fails,
            TV,
            name,
        ];
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
        console.wait("an end of the trouble", |console| {
            !console.text().contains("unreadable")
        });
        say(&path, "AFTER IT", 20);
        console.wait_for("AFTER IT");
        for number in 3..number {
            assert!(
                console.text().contains(&format!("LINE {number}")),
                "{}",
                console.text()
            );
        }
        console.send("q");
        console.wait_for_exit();
    }
}

#[test]
fn interrupted_reads_are_no_trouble() {
    let dir = tempfile::tempdir().unwrap();
    let path = session(dir.path());
    if Wrapper(&["strace", "-f", "-qq", "-o", "/dev/null"])
        .before(&[])
        .is_none()
    {
        return;
    }
    let arguments = [
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "trace=pread64,read",
        "-P",
        path.to_str().unwrap(),
    ];
    let plain = Command::new(TV)
        .args(["show", "--json"])
        .arg(&path)
        .output()
        .unwrap();
    let interrupted = Command::new("strace")
        .args(arguments)
        .args([
            "-e",
            "inject=pread64,read:error=EINTR:when=1+2",
            TV,
            "show",
            "--json",
        ])
        .arg(&path)
        .output()
        .unwrap();
    assert!(plain.status.success() && !plain.stdout.is_empty());
    assert_eq!(
        String::from_utf8_lossy(&interrupted.stdout),
        String::from_utf8_lossy(&plain.stdout)
    );
}

/// What is mounted read-only for the viewer still grows by others.
#[test]
fn a_read_only_mount_is_followed() {
    let dir = tempfile::tempdir().unwrap();
    let path = session(dir.path());
    let Some(mut console) = READ_ONLY.view(&["--level=2", path.to_str().unwrap()]) else {
        return;
    };
    console.wait_for("FIRST ANSWER");
    say(&path, "FROM OUTSIDE", 3);
    console.wait_for("FROM OUTSIDE");
    console.send("q");
    assert_eq!(console.wait_for_exit(), 0);
    assert_eq!(
        fs::read_dir(dir.path()).unwrap().count(),
        1,
        "nothing is left"
    );
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
    let step_of = |number: usize, step: usize| {
        agent_line(
            &format!("u-{number}-{step}"),
            None,
            Some(&format!("a{number}")),
            &format!("said {number} {step}"),
        ) + "\n"
    };
    for number in 0..200 {
        fs::write(agent(number), step_of(number, 0)).unwrap();
    }
    let mut child = Command::new("sh")
        .args([
            "-c",
            "ulimit -n 64 && exec \"$0\" \"$@\"",
            TV,
            "show",
            "--follow",
            "--json",
        ])
        .arg(&path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut missing: HashSet<String> = (0..200)
        .map(|number| format!("\"said {number} 0\""))
        .collect();
    let mut until_all = |missing: &mut HashSet<String>| {
        while !missing.is_empty() {
            let line = lines.next().unwrap().unwrap();
            missing.retain(|words| !line.contains(words.trim_matches('"')));
        }
    };
    until_all(&mut missing);
    for step in 1..6 {
        for number in 0..5 {
            append(&agent(number), step_of(number, step));
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
    let paths: Vec<_> = (0..5)
        .map(|number| dir.path().join(format!("{number}.jsonl")))
        .collect();
    for path in &paths {
        fs::write(path, "{\"role\":\"user\",\"content\":\"hello\"}\n").unwrap();
    }
    let output = Command::new("sh")
        .args([
            "-c",
            "ulimit -n 6 && exec \"$0\" \"$@\"",
            TV,
            "stats",
            "--json",
        ])
        .args(&paths)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 5);
    assert!(output.status.success() && output.stderr.is_empty());
}

/// What `tv` says on both ways, in a folder and with these variables alone beside the search path.
fn says(
    folder: &std::path::Path,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> (String, String) {
    let mut command = Command::new(TV);
    command
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .stdin(Stdio::null());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn what_is_no_time_zone_is_reported_and_read_no_further() {
    let dir = tempfile::tempdir().unwrap();
    let path = session(dir.path());
    let pipe = dir.path().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    let huge = dir.path().join("huge");
    fs::File::create(&huge).unwrap().set_len(3 << 30).unwrap();
    let of_zone = |zone: &str| {
        says(
            dir.path(),
            &["show", "--level", "4", path.to_str().unwrap()],
            &[("TZ", zone)],
        )
    };
    let (utc, quiet) = of_zone("UTC");
    assert!(utc.contains("10:00") || utc.contains("FIRST"), "{utc}");
    assert_eq!(quiet, "");
    for zone in ["", ":UTC", "UTC0"] {
        assert_eq!(of_zone(zone), (utc.clone(), String::new()), "{zone:?}");
    }
    assert_ne!(
        of_zone("JST-9").0,
        utc,
        "times are shown in the zone that is named"
    );
    for zone in [
        "/dev/zero",
        ":/dev/zero",
        "pipe",
        "huge",
        pipe.to_str().unwrap(),
        huge.to_str().unwrap(),
        "/dev/zoneinfo/../zero",
    ] {
        let (times, complaint) = of_zone(zone);
        assert_eq!(times, utc, "{zone}");
        let expected = format!(
            "tv: TZ names no time zone ({}); times are told in UTC\n",
            zone.trim_start_matches(':')
        );
        assert_eq!(complaint, expected);
    }
}

#[test]
fn folders_of_the_current_folder_are_nobodys_home() {
    let dir = tempfile::tempdir().unwrap();
    let path = session(dir.path());
    let settings = "level = 1\nglow = 7\n";
    for name in ["conf/tv", "home/.config/tv", "home/.claude/projects/-x"] {
        fs::create_dir_all(dir.path().join(name)).unwrap();
    }
    for name in ["conf/tv/config.toml", "home/.config/tv/config.toml"] {
        fs::write(dir.path().join(name), settings).unwrap();
    }
    let line = agent_line("u-1", None, None, "PLANTED") + "\n";
    fs::write(dir.path().join("home/.claude/projects/-x/s-1.jsonl"), line).unwrap();
    let relative = [
        ("HOME", "home"),
        ("XDG_CONFIG_HOME", "conf"),
        ("XDG_STATE_HOME", "state"),
        ("XDG_DATA_HOME", "./data"),
    ];
    let (listed, complaints) = says(dir.path(), &["list"], &relative);
    assert!(
        !listed.contains("PLANTED") && !listed.contains("s-1"),
        "{listed}"
    );
    for (name, value) in relative {
        let sentence = format!("tv: {name} is no absolute path ({value}) and is ignored\n");
        assert!(complaints.contains(&sentence), "{complaints}");
    }
    let home = dir.path().join("home");
    let (listed, complaints) = says(dir.path(), &["list"], &[("HOME", home.to_str().unwrap())]);
    assert!(
        listed.contains("PLANTED") && complaints.contains("tv: ~/.config/tv/config.toml:2:1"),
        "{listed} {complaints}"
    );
    assert_eq!(complaints.lines().count(), 1, "{complaints}");
    // The viewer says so in its own line, takes no settings from there, and keeps nothing.
    let script = "cd \"$1\" && exec \"$0\" session.jsonl";
    let arguments = ["-c", script, TV, dir.path().to_str().unwrap()];
    let mut console = Console::run(
        "sh",
        &arguments,
        &[&relative[..], &[("TV_STATE", "on")]].concat(),
    );
    console.wait_for("FIRST ANSWER");
    console.wait_for("HOME is no absolute path (home) and is ignored");
    assert!(!console.text().contains("glow"), "{}", console.text());
    console.send("ma");
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
    assert!(!dir.path().join("state").exists() && !home.join(".local").exists());
    drop(path);
}
