//! Tests of going back: from a session to the list in which it was chosen, to the session below,
//! and to the same position after a reload.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use super::{Console, append, home, line, session};

/// A session of many short answers, each on a line of its own.
fn long(folder: &Path) -> PathBuf {
    let path = session(folder);
    let lines: Vec<String> = (200..300)
        .map(|number| line("assistant", &format!("SENTENCE {number}."), number))
        .collect();
    append(&path, &lines.concat());
    path
}

/// The first sentence in the window.
fn first_sentence(console: &Console) -> Option<String> {
    let text = console.text();
    text.lines()
        .find_map(|line| Some(line.get(line.find("SENTENCE ")?..)?.trim().to_owned()))
}

fn go_away_from_the_end(console: &mut Console) -> String {
    console.wait_for("SENTENCE 299.");
    console.send("/sentence 240.\r");
    console.wait("the window is elsewhere", |console| {
        console.text().contains("SENTENCE 240.") && !console.text().contains("SENTENCE 299.")
    });
    console.send("\u{1b}");
    console.wait("the search is over", |console| {
        !console.text().contains("/sentence")
    });
    first_sentence(console).expect("a sentence")
}

#[test]
fn a_session_that_is_read_anew_stands_where_it_stood() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = long(folder.path());
    let mut console = Console::start(&[path.to_str().expect("a plain path")], &[]);
    let place = go_away_from_the_end(&mut console);
    console.send("R");
    console.wait_for("read anew");
    console.wait("the place is the same", |console| {
        first_sentence(console).as_ref() == Some(&place)
    });
    append(&path, &line("assistant", "SENTENCE 300.", 300));
    console.wait_for("1 new below");
    assert_eq!(first_sentence(&console), Some(place));
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
}

#[test]
fn what_was_opened_stays_open_when_the_session_is_read_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let lines: Vec<String> = (0..60).map(|number| format!("LINE {number}.")).collect();
    append(&path, &line("assistant", &lines.join(" "), 3));
    let mut console = Console::start(&[path.to_str().expect("a plain path")], &[]);
    console.wait_for("LINE 59.");
    console.send("-");
    console.wait("one row each", |console| {
        !console.text().contains("LINE 30.")
    });
    console.send("\r");
    console.wait_for("LINE 30.");
    console.send("R");
    console.wait_for("read anew");
    console.wait_for("LINE 30.");
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
}

#[test]
fn joining_and_reading_anew_keep_filter_alarms_and_place() {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let (one, two) = (long(folders[0].path()), session(folders[1].path()));
    let mut console = Console::start(&[one.to_str().expect("a plain path")], &[]);
    console.wait_for("SENTENCE 299.");
    console.send(":watch \"WORD\"\r");
    console.wait_for("watching \"WORD\"");
    console.send("&\"SENTENCE\"\r");
    console.wait_for("&\"SENTENCE\"");
    let place = go_away_from_the_end(&mut console);
    for keys in [format!(":join {}\r", two.display()), "R".to_owned()] {
        console.send(&keys);
        console.wait_for("2 sessions joined");
        console.wait("the place is the same", |console| {
            first_sentence(console).as_ref() == Some(&place)
        });
        assert!(
            console.text().contains("&\"SENTENCE\""),
            "{}",
            console.text()
        );
    }
    // What comes before all is read again is no news yet.
    let number = Cell::new(300);
    console.wait("the alarm", |console| {
        number.set(number.get() + 1);
        append(&one, &line("assistant", "the WORD", number.get()));
        console.text().contains("! \"WORD\"")
    });
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
}

#[test]
fn another_session_leads_back_to_the_one_below_as_it_was_left() {
    let home = home();
    let folder = tempfile::tempdir().expect("a folder");
    let path = long(folder.path());
    let environment = [
        ("HOME", home.path().to_str().expect("a plain path")),
        ("PI_CODING_AGENT_DIR", ""),
        ("PI_CODING_AGENT_SESSION_DIR", ""),
    ];
    let script = format!(
        "cat '{}' | '{}' -",
        path.display(),
        env!("CARGO_BIN_EXE_tv")
    );
    let file = path.to_str().expect("a plain path");
    for (program, arguments) in [
        (env!("CARGO_BIN_EXE_tv"), vec![file]),
        ("sh", vec!["-c", script.as_str()]),
    ] {
        let mut console = Console::run(program, &arguments, &environment);
        console.wait_for("SENTENCE 299.");
        console.send("&\"SENTENCE\"\r");
        console.wait_for("&\"SENTENCE\"");
        let place = go_away_from_the_end(&mut console);
        console.send("s");
        console.wait_for("PAINT the boat");
        console.send("paint\r");
        console.wait_for("It is blue");
        console.send("q");
        console.wait_for("1 of 2");
        console.send("\u{15}");
        console.wait_for("esc back");
        console.send("\u{1b}");
        console.wait("the place is the same", |console| {
            first_sentence(console).as_ref() == Some(&place)
        });
        assert!(
            console.text().contains("&\"SENTENCE\""),
            "{}",
            console.text()
        );
        console.send("q");
        assert_eq!(console.wait_for_exit(), 0);
        console.assert_restored();
    }
}

#[test]
fn what_came_through_a_pipe_is_not_given_up_for_what_cannot_be_had() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let script = format!(
        "cat '{}' | '{}' -",
        path.display(),
        env!("CARGO_BIN_EXE_tv")
    );
    let mut console = Console::run("sh", &["-c", &script], &[]);
    console.wait_for("FIRST ANSWER");
    console.send("R");
    console.wait_for("cannot be read anew");
    console.send(&format!(":join {}\r", path.display()));
    console.wait_for("cannot be read as one");
    assert!(
        console.text().contains("FIRST ANSWER"),
        "{}",
        console.text()
    );
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
}

#[test]
fn the_newest_of_a_folder_stays_what_it_was_when_it_is_read_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    session(folder.path());
    let mut console = Console::start(&[folder.path().to_str().expect("a plain path")], &[]);
    console.wait_for("FIRST ANSWER");
    let newer = tempfile::tempdir().expect("a folder");
    let other = session(newer.path());
    append(&other, &line("user", "ANOTHER ONE", 3));
    std::fs::rename(&other, folder.path().join("newer.jsonl")).expect("it can be moved");
    console.send("R");
    console.wait_for("read anew");
    console.wait_for("FIRST ANSWER");
    assert!(
        !console.text().contains("ANOTHER ONE"),
        "{}",
        console.text()
    );
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
}
