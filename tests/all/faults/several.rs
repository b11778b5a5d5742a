//! Tests of several programs at one session, several sessions in one program, and a full disk.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{TV, Wrapper, assert_idle, handles};
use crate::pty::{Console, append, line, session};

#[test]
fn two_viewers_of_one_file_are_none_of_each_others_business() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("project");
    fs::create_dir(&folder).unwrap();
    let path = session(&folder);
    let state = dir.path().join("state").display().to_string();
    let environment = [("TV_STATE", "on"), ("XDG_STATE_HOME", state.as_str())];
    let name = path.to_str().unwrap();
    let mut two = [
        Console::start(&[name], &environment),
        Console::start(&[name], &environment),
    ];
    for (number, console) in two.iter_mut().enumerate() {
        console.wait_for("FIRST ANSWER");
        console.send(["ma", "mb"][number]);
        console.wait_for(["marked a", "marked b"][number]);
    }
    for number in 3..6 {
        append(
            &path,
            &line("assistant", &format!("FOR BOTH {number}"), number),
        );
        for console in &mut two {
            console.wait_for(&format!("FOR BOTH {number}"));
        }
    }
    // Reading is no event that would have the other one read.
    for console in &two {
        assert_idle(console.process());
    }
    let files: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(files, ["session.jsonl"], "no lock, no copy, no trace");
    for console in &mut two {
        console.send("q");
        assert_eq!(console.wait_for_exit(), 0);
    }
    // Both have kept what they know.
    let mut third = Console::start(&[name], &environment);
    third.wait_for("FOR BOTH 5");
    for mark in ["'a", "'b"] {
        third.send("G");
        third.send(mark);
        third.wait("the mark is there", |console| {
            !console.text().contains("nothing is marked")
        });
    }
    third.send("Q");
    assert_eq!(third.wait_for_exit(), 0);
}

#[test]
fn output_that_goes_into_the_session_itself_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = session(dir.path());
    let before = fs::read(&path).unwrap();
    for options in ["", "--follow", "--json", "--follow --json"] {
        let script = format!("\"$0\" show {options} \"$1\" >> \"$1\"");
        let output = Command::new("sh")
            .args(["-c", &script, TV])
            .arg(&path)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{options}: {errors}");
        assert!(
            errors.starts_with("tv: ")
                && errors.contains("the output goes into the session itself"),
            "{errors}"
        );
        assert!(
            fs::read(&path).unwrap() == before,
            "{options}: nothing is written to it"
        );
    }
    let script = "\"$0\" show \"$1\" >> \"$1.txt\"";
    let status = Command::new("sh")
        .args(["-c", script, TV])
        .arg(&path)
        .stdin(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    assert!(
        fs::read_to_string(path.with_extension("jsonl.txt"))
            .unwrap()
            .contains("FIRST ANSWER")
    );
}

#[test]
fn a_viewer_of_its_own_state_costs_nothing_while_nothing_happens() {
    let dir = tempfile::tempdir().unwrap();
    let path = session(dir.path());
    let state = dir.path().join("state");
    let environment = [
        ("TV_STATE", "on"),
        ("XDG_STATE_HOME", state.to_str().unwrap()),
    ];
    let mut first = Console::start(&[path.to_str().unwrap()], &environment);
    first.wait_for("FIRST ANSWER");
    first.send("ma");
    first.wait_for("marked a");
    first.send("/boats\r");
    first.wait_for("/boats");
    first.send("Q");
    assert_eq!(first.wait_for_exit(), 0);
    let mut own = Console::start(
        &[state.join("tv/reader.json").to_str().unwrap()],
        &environment,
    );
    own.wait_for("boats");
    own.send("mb");
    own.wait_for("marked b");
    assert_idle(own.process());
    own.send("Q");
    assert_eq!(own.wait_for_exit(), 0);
}

/// Everything that is written below `$ROOM` fails, or there is no room for it.
const FULL: &str = "mount -t tmpfs -o size=64k tmpfs \"${ROOM:-/mnt}\" && \
     { test -z \"$SOURCE\" || cp \"$SOURCE\" \"$ROOM/session.jsonl\"; } && \
     { cat /dev/zero > \"${ROOM:-/mnt}/fill\" 2>/dev/null; exec \"$0\" \"$@\"; }";
const SEALED: &str = "mount -t tmpfs tmpfs \"${ROOM:-/mnt}\" && \
     { test -z \"$SOURCE\" || cp \"$SOURCE\" \"$ROOM/session.jsonl\"; } && \
     mount -o remount,ro \"${ROOM:-/mnt}\" && exec \"$0\" \"$@\"";

const ROOMS: [&[&str]; 2] = [
    &["unshare", "-U", "-r", "-m", "sh", "-c", FULL],
    &["unshare", "-U", "-r", "-m", "sh", "-c", SEALED],
];

/// The viewer in a room without room.
fn within(
    wrapper: &'static [&'static str],
    path: &Path,
    environment: &[(&str, &str)],
) -> Option<Console> {
    Wrapper(wrapper).before(&[])?;
    let (program, rest) = wrapper.split_first()?;
    let arguments = [rest, &[TV, path.to_str()?]].concat();
    Some(Console::run(program, &arguments, environment))
}

#[test]
fn a_state_folder_that_is_full_or_sealed_is_reported_and_hinders_nothing() {
    for wrapper in ROOMS {
        let dir = tempfile::tempdir().unwrap();
        let path = session(dir.path());
        let room = dir.path().join("room");
        fs::create_dir(&room).unwrap();
        let room = room.to_str().unwrap();
        let environment = [
            ("TV_STATE", "on"),
            ("XDG_STATE_HOME", room),
            ("ROOM", room),
            ("SOURCE", ""),
        ];
        let Some(mut console) = within(wrapper, &path, &environment) else {
            return;
        };
        console.wait_for("FIRST ANSWER");
        console.send("ma");
        console.wait_for("not kept");
        append(&path, &line("assistant", "GOES ON", 3));
        console.wait_for("GOES ON");
        console.send("/boats\r");
        console.wait_for("/boats");
        // The first one closes the search.
        console.send("qq");
        assert_eq!(console.wait_for_exit(), 0);
        console.assert_restored();
        assert!(
            console.text().contains("tv: not kept"),
            "{}",
            console.text()
        );
    }
}

#[test]
fn a_session_on_a_full_or_sealed_disk_is_read() {
    for wrapper in ROOMS {
        let dir = tempfile::tempdir().unwrap();
        let path = session(dir.path());
        let room = dir.path().join("room");
        fs::create_dir(&room).unwrap();
        let environment = [
            ("ROOM", room.to_str().unwrap()),
            ("SOURCE", path.to_str().unwrap()),
        ];
        let Some(mut console) = within(wrapper, &room.join("session.jsonl"), &environment) else {
            return;
        };
        console.wait_for("FIRST ANSWER");
        console.send("gr");
        console.wait_for("raw record");
        console.send("q");
        console.wait_for("FIRST PROMPT");
        assert_idle(console.process());
        console.send("q");
        assert_eq!(console.wait_for_exit(), 0);
    }
}

#[test]
fn five_growing_sessions_are_read_in_turn_with_few_open_files() {
    const WORDS: [&str; 5] = ["anchor", "bulwark", "cutter", "dinghy", "engine"];
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".pi/agent/sessions/--work--");
    fs::create_dir_all(&folder).unwrap();
    let path = |number: usize| folder.join(format!("2026-03-0{number}_s{number}.jsonl"));
    for number in 1..6 {
        let header = format!(
            r#"{{"type":"session","version":3,"id":"s{number}","timestamp":"2026-03-0{number}T10:00:00.000Z","cwd":"/tmp"}}"#
        );
        let lines = line("user", &format!("PAINT the {}", WORDS[number - 1]), 1)
            + &line("assistant", &format!("ANSWER {number}"), 2);
        fs::write(path(number), format!("{header}\n{lines}")).unwrap();
    }
    let environment = [
        ("HOME", home.path().to_str().unwrap()),
        ("PI_CODING_AGENT_DIR", ""),
        ("PI_CODING_AGENT_SESSION_DIR", ""),
    ];
    let mut console = Console::run(
        "sh",
        &["-c", "ulimit -n 64 && exec \"$0\"", TV],
        &environment,
    );
    console.wait_for("5 sessions");
    let mut open = Vec::new();
    for round in 0..20 {
        let number = 1 + round * 3 % 5;
        if round > 0 {
            console.send("s");
            console.wait_for("esc clear");
        }
        console.send(&format!("\u{15}{}", WORDS[number - 1]));
        console.wait_for("1 of 5");
        console.send("\r");
        console.wait_for(&format!("tmp › PAINT the {}", WORDS[number - 1]));
        for other in 1..6 {
            append(
                &path(other),
                &line(
                    "assistant",
                    &format!("ROUND {round} OF {other}"),
                    100 + round,
                ),
            );
        }
        console.wait_for(&format!("ROUND {round} OF {number}"));
        open.push(handles(console.process()).0);
    }
    let (first, last) = (open[2], open[open.len() - 1]);
    assert!(
        last <= first + 4 && open.iter().all(|count| *count < 48),
        "open files: {open:?}"
    );
    assert!(!console.text().contains("Too many open files"));
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
}

#[test]
fn of_sessions_opened_within_sessions_one_lies_below() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".pi/agent/sessions/--work--");
    fs::create_dir_all(&folder).unwrap();
    let path = |number: usize| folder.join(format!("2026-03-01_s{number}.jsonl"));
    for number in 0..8 {
        let header = format!(
            r#"{{"type":"session","version":3,"id":"s{number}","timestamp":"2026-03-01T10:00:0{number}.000Z","cwd":"/tmp"}}"#
        );
        let texts: String = (2..300)
            .map(|count| {
                line(
                    "assistant",
                    &format!("ANSWER {number} {}", "x".repeat(400)),
                    count,
                )
            })
            .collect();
        fs::write(
            path(number),
            format!(
                "{header}\n{}{texts}",
                line("user", &format!("PROMPT{number} it"), 1)
            ),
        )
        .unwrap();
    }
    let environment = [
        ("HOME", home.path().to_str().unwrap()),
        ("PI_CODING_AGENT_DIR", ""),
        ("PI_CODING_AGENT_SESSION_DIR", ""),
    ];
    let mut console = Console::start(&[path(0).to_str().unwrap()], &environment);
    console.wait_for("ANSWER 0");
    let alone = handles(console.process());
    let mut taken = Vec::new();
    for round in 0..40 {
        let number = 1 + round % 7;
        console.send("s");
        console.wait_for(if round == 0 {
            "8 sessions"
        } else {
            "esc clear"
        });
        console.send(&format!("\u{15}PROMPT{number}"));
        console.wait_for("1 of 8");
        console.send("\r");
        console.wait_for(&format!("ANSWER {number}"));
        std::thread::sleep(std::time::Duration::from_millis(100));
        let (files, threads) = handles(console.process());
        let resident = super::figure(console.process(), "VmRSS:").unwrap_or(0);
        taken.push((files, threads, resident));
    }
    // Another session is as much again, and no more of them whatever was looked at.
    let limit = (alone.0 * 2 + 6, alone.1 * 2 + 2);
    assert!(
        taken
            .iter()
            .all(|(files, threads, _)| *files <= limit.0 && *threads <= limit.1),
        "{alone:?}: {taken:?}"
    );
    let most = |range: std::ops::Range<usize>| {
        taken[range]
            .iter()
            .map(|(_, _, resident)| *resident)
            .max()
            .unwrap()
    };
    assert!(most(30..40) < most(5..15) * 3 / 2 + 8_000, "KB: {taken:?}");
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
}

#[test]
fn a_session_that_cannot_be_joined_is_told_and_holds_up_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = session(dir.path());
    let name = |name: &str| dir.path().join(name);
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(
        rustix::fs::CWD,
        name("pipe"),
        rustix::fs::FileType::Fifo,
        mode,
        0,
    )
    .unwrap();
    fs::write(name("bytes"), [0, 255, 0, 1].repeat(500)).unwrap();
    std::os::unix::fs::symlink("loop", name("loop")).unwrap();
    let other = name("other.jsonl");
    fs::write(
        &other,
        line("user", "OTHER PROMPT", 3) + &line("assistant", "OTHER ANSWER", 4),
    )
    .unwrap();
    let mut console = Console::start(&[path.to_str().unwrap()], &[]);
    console.wait_for("FIRST ANSWER");
    let join =
        |console: &mut Console, other: &Path| console.send(&format!(":join {}\r", other.display()));
    for (other, words) in [
        (name("pipe"), "a named pipe cannot be read as one"),
        (
            Path::new("/dev/zero").to_owned(),
            "a device cannot be read as one",
        ),
        (name("missing"), "no such file"),
        (name("bytes"), "a binary file"),
        (name("loop"), "a link that leads back to itself"),
    ] {
        join(&mut console, &other);
        console.wait_for(words);
    }
    append(&path, &line("assistant", "GOES ON", 5));
    console.wait_for("GOES ON");
    join(&mut console, &other);
    console.wait_for("OTHER ANSWER");
    // Another file takes the place of one of them.
    let new = name("new.jsonl");
    fs::write(&new, line("user", "REPLACED PROMPT", 3)).unwrap();
    fs::rename(&new, &other).unwrap();
    console.wait_for("REPLACED PROMPT");
    assert!(!console.text().contains("OTHER ANSWER"));
    // One of them goes, and the other one is followed.
    fs::remove_file(&other).unwrap();
    console.wait_for("the file is gone");
    append(&path, &line("assistant", "STILL GOES ON", 6));
    console.wait_for("STILL GOES ON");
    // Without it all others are joined.
    let third = name("third.jsonl");
    fs::write(&third, line("user", "THIRD PROMPT", 7)).unwrap();
    join(&mut console, &third);
    console.wait_for("THIRD PROMPT");
    console.wait_for("no such file");
    append(&path, &line("assistant", "GOES ON WITH IT", 8));
    console.wait_for("GOES ON WITH IT");
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
}
