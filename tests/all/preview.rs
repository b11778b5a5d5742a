//! Tests of a large session whose end is shown while all of it is read.

use std::fs;

use tv::analysis::activity::{Activity, LastWrite};
use tv::analysis::lint::Findings;
use tv::app::input::mouse::{Gesture, Pointer};
use tv::app::update::Event;
use tv::model::edit::{Batch, BatchMode, Edit, Feed, Stage as Stretch};

use crate::made::{answer, call, prompt};
use crate::pty::{Console, line};
use crate::stage::Stage;

fn part(numbers: std::ops::Range<usize>) -> Vec<Edit> {
    numbers
        .map(|n| answer(&format!("talk {n}"), &format!("sentence {n}")))
        .collect()
}

/// The last 40 of 300 entries are shown, and so many of all are read.
fn reading(known: usize) -> Stage {
    let mut stage = Stage::made((80, 24));
    stage.add_as(BatchMode::Append, Stretch::Preview, part(260..300));
    stage.add_as(
        BatchMode::Append,
        Stretch::Whole,
        [prompt("p0", "before all that")],
    );
    stage.add_as(BatchMode::Append, Stretch::Whole, part(0..known));
    stage.feed(Feed::Progress {
        done: 10,
        total: 100,
    });
    stage.arrange();
    stage
}

/// The rest of the whole is read, from here on.
fn read_the_rest(stage: &mut Stage, from: usize) {
    stage.add_as(BatchMode::Append, Stretch::Whole, part(from..300));
    stage.feed(Feed::CaughtUp);
    stage.arrange();
}

fn shows(stage: &Stage, words: &str) -> bool {
    stage.window().iter().any(|row| row.2.contains(words))
}

fn texts(stage: &Stage) -> Vec<String> {
    stage.window().into_iter().map(|row| row.2).collect()
}

#[test]
fn the_beginning_waits_until_all_is_read() {
    let mut stage = reading(30);
    assert!(
        stage.status().contains("end only, reading 10%"),
        "{}",
        stage.status()
    );
    // How far up that is nobody knows.
    assert!(!stage.status().contains("100%"), "{}", stage.status());
    stage.press("g");
    assert!(
        shows(&stage, "sentence 260"),
        "as far as is read: {}",
        stage.picture()
    );
    assert!(
        stage
            .status()
            .contains("reading 10%  then to the beginning"),
        "{}",
        stage.status()
    );
    stage.add_as(BatchMode::Append, Stretch::Whole, part(30..60));
    assert!(
        shows(&stage, "sentence 260"),
        "what is read beside it moves nothing: {}",
        stage.picture()
    );
    read_the_rest(&mut stage, 60);
    assert!(
        shows(&stage, "before all that") && shows(&stage, "sentence 0"),
        "{}",
        stage.picture()
    );
    assert!(
        !stage.status().contains("only") && !stage.status().contains("then"),
        "{}",
        stage.status()
    );
    stage.press("alt-left");
    assert!(
        shows(&stage, "sentence 299"),
        "back to where the jump came from: {}",
        stage.picture()
    );
}

#[test]
fn a_further_key_takes_the_wish_for_the_beginning_back() {
    for key in ["j", "ctrl-d", "G", "esc", "n", "m a", "V"] {
        let mut stage = reading(30);
        stage.press(&format!("g {key}"));
        assert!(
            !stage.status().contains("then to the beginning"),
            "{key}: {}",
            stage.status()
        );
        let before = (texts(&stage), stage.focused_key());
        read_the_rest(&mut stage, 30);
        assert_eq!((texts(&stage), stage.focused_key()), before, "{key}");
    }
    let mut stage = reading(30);
    stage.press("F12 g");
    stage.happen(Event::Mouse(Pointer {
        gesture: Gesture::WheelDown,
        column: 20,
        line: 10,
    }));
    stage.arrange();
    assert!(
        !stage.status().contains("then to the beginning"),
        "the wheel: {}",
        stage.status()
    );
}

#[test]
fn what_is_read_stays_when_the_whole_is_known() {
    for keys in [
        "k k",
        "k k k k V k k",
        "/ 2 8 enter n",
        "/ 2 7 5",
        "ctrl-u o j",
        "f e",
        "m a k k",
    ] {
        let mut stage = reading(30);
        stage.press(keys);
        let selected = |stage: &Stage| stage.app.reader.text.view.selected;
        let before = (texts(&stage), stage.focused_key(), selected(&stage));
        read_the_rest(&mut stage, 30);
        assert_eq!(
            (texts(&stage), stage.focused_key(), selected(&stage)),
            before,
            "{keys}"
        );
        let known = stage.app.reader.session.transcript.order().len();
        assert_eq!(known, 301, "and all is there");
    }
}

#[test]
fn what_is_written_meanwhile_is_new_and_what_is_read_is_not() {
    let mut stage = reading(30);
    stage.press("g j");
    stage.add_as(BatchMode::Append, Stretch::Whole, part(30..60));
    assert_eq!(stage.app.reader.text.unseen, 0);
    stage.add_as(
        BatchMode::Append,
        Stretch::Preview,
        [answer("late", "written just now")],
    );
    stage.arrange();
    assert_eq!(stage.app.reader.text.unseen, 1);
    stage.add_as(BatchMode::Append, Stretch::Whole, part(60..300));
    stage.add_as(
        BatchMode::Append,
        Stretch::Whole,
        [answer("late", "written just now")],
    );
    stage.feed(Feed::CaughtUp);
    stage.arrange();
    assert_eq!(stage.app.reader.text.unseen, 1);
    stage.press("G");
    assert!(shows(&stage, "written just now"), "{}", stage.picture());
}

#[test]
fn what_the_agent_does_is_known_by_the_end() {
    let mut stage = reading(30);
    stage.add_as(BatchMode::Append, Stretch::Whole, [call("c1", "ls hold")]);
    stage.add_as(
        BatchMode::Append,
        Stretch::Preview,
        [call("c9", "pump the bilge")],
    );
    stage.app.reader.session.file.last_write =
        Some(LastWrite::observed(stage.app.reader.screen.now));
    stage.arrange();
    let activity = &stage.app.reader.session.status.activity;
    let Activity::Tool { .. } = activity else {
        panic!("{activity:?}")
    };
}

/// While another file in its place is read, all that is shown is of the one before, and so is its beginning.
#[test]
fn the_beginning_of_a_file_that_was_replaced_is_its_own() {
    let mut stage = Stage::made((80, 24));
    stage.add_as(BatchMode::Append, Stretch::Whole, part(0..4_500));
    stage.feed(Feed::CaughtUp);
    let mut batch = Batch::default();
    batch.mode = BatchMode::ReplaceStart;
    (0..50).for_each(|n| batch.push(answer(&format!("other {n}"), "of the other file")));
    stage.feed(Feed::Batch {
        stage: Stretch::Whole,
        batch: Box::new(batch),
    });
    let mut batch = Batch::default();
    (0..50).for_each(|n| batch.push(answer(&format!("more {n}"), "of the other file")));
    stage.feed(Feed::Batch {
        stage: Stretch::Whole,
        batch: Box::new(batch),
    });
    stage.press("g");
    assert!(
        shows(&stage, "sentence 0") && !shows(&stage, "of the other file"),
        "{}",
        stage.picture()
    );
    assert!(
        stage.status().contains("then to the beginning"),
        "{}",
        stage.status()
    );
    let mut batch = Batch::default();
    batch.mode = BatchMode::ReplaceEnd;
    stage.feed(Feed::Batch {
        stage: Stretch::Whole,
        batch: Box::new(batch),
    });
    stage.arrange();
    assert!(shows(&stage, "of the other file"), "{}", stage.picture());
}

/// More than is taken in for one frame.
#[test]
fn what_is_known_of_the_whole_is_there_with_it() {
    let mut stage = Stage::made((200, 60));
    let calls =
        |numbers: std::ops::Range<usize>| numbers.map(|n| call(&format!("c{n}"), "ls hold"));
    stage.add_as(BatchMode::Append, Stretch::Preview, calls(4_990..5_000));
    stage.press("!");
    for from in (0..5_000).step_by(100) {
        stage.add_as(BatchMode::Append, Stretch::Whole, calls(from..from + 100));
    }
    stage.feed(Feed::CaughtUp);
    stage.arrange();
    assert!(
        !stage.app.reader.session.indexes.is_behind,
        "nothing is left to be taken in"
    );
    let judged = Findings::of(&stage.app.reader.session.transcript);
    assert_eq!(
        stage.app.reader.session.indexes.findings.counts,
        judged.counts
    );
    assert!(judged.counts.total() > 4_000, "calls without results");
}

/// A session of so many prompts and answers.
fn long_session(count: usize) -> String {
    let prose =
        "The tide table was read twice, once for each pier; see the harbour book. ".repeat(12);
    let header = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/tmp"}"#;
    let mut text = format!("{header}\n{}", line("user", "THE FIRST PROMPT", 1));
    for number in 2..count {
        text += &line("assistant", &prose, number);
    }
    text + &line("assistant", "THE LAST ANSWER", count)
}

#[test]
fn a_reader_goes_to_the_beginning_and_stays_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    fs::write(&path, long_session(60_000)).unwrap();
    let mut console = Console::start(&[path.to_str().unwrap()], &[]);
    console.wait_for("THE LAST ANSWER");
    console.send("g");
    console.wait_for("THE FIRST PROMPT");
    console.wait("the whole is known", |console| {
        !console.text().contains("reading")
    });
    assert!(
        console.text().contains("THE FIRST PROMPT"),
        "{}",
        console.text()
    );
    console.send("G");
    console.wait_for("THE LAST ANSWER");
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
}
