//! The beginning and the end of a session of which the middle is still being read.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::bounded;
use tv::analysis::activity::{Activity, LastWrite};
use tv::analysis::lint::Findings;
use tv::ingest::{self, Target, WatchMode};
use tv::model::edit::{Batch, Edit, Feed, Mode, Stage as Stretch};

use crate::counts::{bytes_read, counting};
use crate::fixtures::PATIENCE;
use crate::made::{answer, call, prompt};
use crate::pty::{Console, line};
use crate::stage::Stage;

fn part(numbers: std::ops::Range<usize>) -> Vec<Edit> {
    numbers.map(|n| answer(&format!("talk {n}"), &format!("sentence {n}"))).collect()
}

fn first() -> Vec<Edit> {
    let mut edits = vec![prompt("p0", "before all that")];
    edits.extend(part(0..60));
    edits
}

/// The last 40 of 300 entries are shown, and so many of the first ones are read.
fn reading(known: usize) -> Stage {
    let mut stage = Stage::made((80, 24));
    stage.add_as(Mode::Append, Stretch::Preview, part(260..300));
    if known > 0 {
        stage.add_as(Mode::Append, Stretch::Whole, first().into_iter().take(known));
    }
    stage.feed(Feed::Progress { done: 10, total: 100 });
    stage.arrange();
    stage
}

fn shows(stage: &Stage, words: &str) -> bool {
    stage.window().iter().any(|row| row.2.contains(words))
}

fn texts(stage: &Stage) -> Vec<String> {
    stage.window().into_iter().map(|row| row.2).collect()
}

#[test]
fn the_beginning_is_shown_before_the_middle_is_read() {
    let mut stage = reading(30);
    assert!(stage.status().contains("end only, reading 10%"), "{}", stage.status());
    stage.press("g");
    assert!(shows(&stage, "before all that") && shows(&stage, "sentence 0"), "{}", stage.picture());
    assert!(stage.status().contains("PAUSED  beginning only, reading 10%"), "{}", stage.status());
    // Nobody knows how far down that is.
    assert!(!stage.status().contains("100%"), "{}", stage.status());
    stage.press("G");
    assert!(shows(&stage, "sentence 299") && stage.app.reader.text.view.follows(), "{}", stage.picture());
    assert!(stage.status().contains("FOLLOW  end only"), "{}", stage.status());
    stage.press("g alt-left");
    assert!(shows(&stage, "sentence 299"), "back to where the jump came from: {}", stage.picture());
}

#[test]
fn what_is_read_of_the_beginning_stays_when_the_whole_is_known() {
    let mut stage = reading(30);
    stage.press("k k g ctrl-d j j");
    let before = (texts(&stage), stage.focused());
    stage.add_as(Mode::Append, Stretch::Whole, first().into_iter().skip(30));
    assert_eq!((texts(&stage), stage.focused()), before, "more of the beginning moves nothing");
    stage.add_as(Mode::Append, Stretch::Whole, part(60..300));
    stage.feed(Feed::CaughtUp);
    stage.arrange();
    assert_eq!((texts(&stage), stage.focused()), before, "the whole moves nothing");
    assert!(!stage.status().contains("only"), "{}", stage.status());
    stage.press("alt-left");
    assert!(shows(&stage, "sentence 297"), "the end is where jumps came from: {}", stage.picture());
}

#[test]
fn the_end_of_the_beginning_is_not_the_end_of_the_session() {
    let mut stage = reading(30);
    stage.press("g space space space space");
    let before = texts(&stage);
    assert!(shows(&stage, "sentence 28") && stage.status().contains("PAUSED"), "{}", stage.picture());
    stage.add_as(Mode::Append, Stretch::Whole, first().into_iter().skip(30));
    assert_eq!(texts(&stage), before, "what was read meanwhile is below");
    assert_eq!(stage.app.reader.text.unseen, 0, "and is not new");
    // The session goes on at its end, which is not in sight.
    stage.add_as(Mode::Append, Stretch::Preview, [answer("late", "written just now")]);
    assert_eq!(texts(&stage), before);
    stage.press("space");
    assert!(shows(&stage, "sentence 29"), "{}", stage.picture());
    stage.press("G");
    assert!(shows(&stage, "written just now"), "{}", stage.picture());
}

#[test]
fn the_beginning_comes_as_soon_as_anything_of_it_is_read() {
    let mut stage = reading(0);
    stage.press("g");
    assert!(shows(&stage, "sentence 260"), "{}", stage.picture());
    stage.add_as(Mode::Append, Stretch::Whole, first());
    assert!(shows(&stage, "before all that"), "{}", stage.picture());
    // Who went on meanwhile is left in peace.
    let mut stage = reading(0);
    stage.press("g j");
    stage.add_as(Mode::Append, Stretch::Whole, first());
    assert!(shows(&stage, "sentence 260"), "{}", stage.picture());
}

#[test]
fn what_the_agent_does_is_known_by_the_end() {
    let mut stage = reading(30);
    stage.add_as(Mode::Append, Stretch::Whole, [call("c1", "ls hold")]);
    stage.add_as(Mode::Append, Stretch::Preview, [call("c9", "pump the bilge")]);
    stage.app.reader.session.file.last_write = Some(LastWrite::seen(stage.app.reader.screen.now));
    stage.press("g space space space space");
    let head = stage.app.reader.session.transcript.find("c1").unwrap();
    assert!(shows(&stage, "ls hold"), "{}", stage.picture());
    assert!(
        !stage.app.reader.session.is_at_work_on(head, stage.app.reader.screen.now),
        "its result is not read yet"
    );
    let during = stage.app.reader.session.status.activity.clone();
    stage.press("G");
    assert_eq!(during, stage.app.reader.session.status.activity);
    assert_ne!(during, Activity::Unknown);
}

/// While another file in its place is read, all that is shown is of the one before, and so is its beginning.
#[test]
fn the_beginning_of_a_file_that_was_replaced_is_its_own() {
    let mut stage = Stage::made((80, 24));
    stage.add_as(Mode::Append, Stretch::Whole, part(0..4_500));
    stage.feed(Feed::CaughtUp);
    let mut batch = Batch::default();
    (batch.mode, batch.is_of_other_file) = (Mode::ReplaceStart, true);
    (0..50).for_each(|n| batch.push(answer(&format!("other {n}"), "of the other file")));
    stage.feed(Feed::Batch { stage: Stretch::Whole, batch: Box::new(batch) });
    let mut batch = Batch::default();
    (0..50).for_each(|n| batch.push(answer(&format!("more {n}"), "of the other file")));
    stage.feed(Feed::Batch { stage: Stretch::Whole, batch: Box::new(batch) });
    stage.press("g");
    assert!(shows(&stage, "sentence 0") && !shows(&stage, "of the other file"), "{}", stage.picture());
    let mut batch = Batch::default();
    (batch.mode, batch.is_of_other_file) = (Mode::ReplaceEnd, true);
    stage.feed(Feed::Batch { stage: Stretch::Whole, batch: Box::new(batch) });
    stage.press("g");
    assert!(shows(&stage, "of the other file"), "{}", stage.picture());
}

/// More than is taken in for one frame.
#[test]
fn what_is_known_of_the_whole_is_there_with_it() {
    let mut stage = Stage::made((200, 60));
    let calls = |numbers: std::ops::Range<usize>| numbers.map(|n| call(&format!("c{n}"), "ls hold"));
    stage.add_as(Mode::Append, Stretch::Preview, calls(4_990..5_000));
    stage.press("!");
    for from in (0..5_000).step_by(100) {
        stage.add_as(Mode::Append, Stretch::Whole, calls(from..from + 100));
    }
    stage.feed(Feed::CaughtUp);
    stage.arrange();
    assert!(!stage.app.reader.session.indexes.is_behind(), "nothing is left to be taken in");
    let judged = Findings::of(&stage.app.reader.session.transcript);
    assert_eq!(stage.app.reader.session.indexes.findings.counts(), judged.counts());
    assert!(judged.counts().total() > 4_000, "calls without results");
}

#[test]
fn so_much_of_the_beginning_is_kept_apart() {
    let mut stage = reading(1);
    for chunk in 0..20 {
        let from = chunk * 250;
        stage.add_as(Mode::Append, Stretch::Whole, part(from..from + 250));
    }
    stage.press("g");
    assert!(shows(&stage, "before all that"), "{}", stage.picture());
    let known = stage.app.reader.session.transcript.order().len();
    assert!((1_900..2_500).contains(&known), "{known} of 5 001 entries are arranged for a jump");
}

/// A session of so many prompts and answers.
fn long_session(count: usize) -> String {
    let prose = "The tide table was read twice, once for each pier; see the harbour book. ".repeat(12);
    let header =
        r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/tmp"}"#;
    let mut text = format!("{header}\n{}", line("user", "THE FIRST PROMPT", 1));
    for number in 2..count {
        text += &line("assistant", &prose, number);
    }
    text + &line("assistant", "THE LAST ANSWER", count)
}

#[test]
fn the_beginning_of_a_large_file_takes_one_chunk_of_it() {
    if bytes_read().is_none() {
        println!("skipped: this system does not count what threads read");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    fs::write(&path, long_session(20_000)).unwrap();
    let size = fs::metadata(&path).unwrap().len();
    assert!(size > 16 << 20, "{size}");
    let session = ingest::open(&Target { path, session: None }).unwrap();
    let (send, feeds) = bounded(1_000);
    let stop = Arc::new(AtomicBool::new(false));
    let (counts, count) = counting();
    session.follow(send, WatchMode::Poll, Arc::clone(&stop), Box::new(count));
    let mut stage = Stage::made((80, 24));
    for number in 0.. {
        let feed = feeds.recv_timeout(PATIENCE).expect("the beginning is read");
        let is_first = matches!(feed, Feed::Batch { stage: Stretch::Whole, .. });
        stage.feed(feed);
        if is_first {
            stage.arrange();
            stage.press("g");
            assert!(shows(&stage, "THE FIRST PROMPT"), "{}", stage.picture());
            while counts.lock().unwrap().len() <= number {
                std::thread::yield_now();
            }
            let read = counts.lock().unwrap()[number];
            stop.store(true, Ordering::Relaxed);
            assert!(read < 4 << 20, "{read} of {size} bytes were read for both ends");
            return;
        }
    }
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
    console.wait("the whole is known", |console| !console.text().contains("reading"));
    assert!(console.text().contains("THE FIRST PROMPT"), "{}", console.text());
    console.send("G");
    console.wait_for("THE LAST ANSWER");
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
}
