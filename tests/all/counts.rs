//! Counts work instead of timing it: the rows laid out and bytes allocated for a frame, and the
//! bytes read of a large file, depend on the screen and not on the session.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crossbeam_channel::bounded;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use tv::ingest::{self, Target, WatchMode};
use tv::model::edit::{Edit, Feed, Stage as Stretch};
use tv::ui;

use crate::fixtures::PATIENCE;
use crate::stage::Stage;

const SIZE: (u16, u16) = (120, 40);
const LAST: &str = "THE LAST ANSWER";

/// A session of prompts, calls with a long output each, and answers.
fn session(folder: &Path, turns: usize) -> PathBuf {
    let output =
        "   Compiling harbour v0.1.0\\ntest tides::spring_tide_is_higher ... ok\\n".repeat(60);
    let prose =
        "The tide table was read **twice**, once for each pier; see `src/tides.rs`. ".repeat(8);
    let mut text = String::new();
    for n in 0..turns {
        let answer = if n + 1 == turns { LAST } else { &prose };
        let usage = r#""usage":{"input_tokens":3,"output_tokens":310}"#;
        let assistant = |message: usize, block: &str| {
            format!(
                r#""type":"assistant","message":{{"id":"m{n}.{message}","role":"assistant","model":"claude-sonnet-4-5","content":[{block}],{usage}}}"#
            )
        };
        let lines = [
            format!(r#""type":"user","message":{{"role":"user","content":"Prompt {n}"}}"#),
            assistant(
                1,
                &format!(
                    r#"{{"type":"tool_use","id":"t{n}","name":"Bash","input":{{"command":"make {n}"}}}}"#
                ),
            ),
            format!(
                r#""type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{n}","content":"{output}"}}]}}"#
            ),
            assistant(2, &format!(r#"{{"type":"text","text":"{answer}"}}"#)),
        ];
        for (place, line) in lines.iter().enumerate() {
            let (minute, second) = (n / 60 % 60, n % 60);
            writeln!(
                text,
                r#"{{"parentUuid":null,"isSidechain":false,"sessionId":"s","version":"2.1.157",{line},"uuid":"{n}-{place}","timestamp":"2026-03-13T10:{minute:02}:{second:02}.000Z"}}"#
            )
            .unwrap();
        }
    }
    let path = folder.join("session.jsonl");
    fs::write(&path, text).unwrap();
    path
}

/// Bytes that this thread has read of files, where the system counts them.
pub(crate) fn bytes_read() -> Option<u64> {
    let counts = fs::read_to_string("/proc/thread-self/io").ok()?;
    counts
        .lines()
        .find_map(|line| line.strip_prefix("rchar: "))?
        .parse()
        .ok()
}

/// What a thread has read after each message that it sends, and what it must call then.
pub(crate) fn counting() -> (Arc<Mutex<Vec<u64>>>, impl Fn()) {
    let counts = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&counts);
    (counts, move || {
        noted.lock().unwrap().push(bytes_read().unwrap());
    })
}

#[test]
fn a_frame_lays_out_what_the_screen_shows_wherever_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path(), 1_000);
    let mut stage = Stage::open_from_disk(&path, SIZE);
    let screen = usize::from(SIZE.1);
    let laid_out = |stage: &mut Stage, keys: &str| {
        stage.app.reader.text.cache.laid_out = 0;
        stage.press(keys);
        stage.app.reader.text.cache.laid_out
    };
    for place in ["G", "g", ": 5 0 % enter"] {
        // An entry has at least a row: two screens show no more entries than they have lines.
        let jump = laid_out(&mut stage, place);
        assert!(jump <= 2 * screen, "{place:?} laid {jump} entries out");
        for (key, most) in [
            ("ctrl-e", screen / 4),
            ("ctrl-y", screen / 4),
            ("j", screen / 4),
            ("k", screen / 4),
            ("ctrl-d", screen),
            ("ctrl-u", screen),
            ("space", 2 * screen),
            ("b", 2 * screen),
        ] {
            for _ in 0..20 {
                let frame = laid_out(&mut stage, key);
                assert!(
                    frame <= most,
                    "{key:?} at {place:?} laid {frame} entries out"
                );
            }
        }
    }
    stage.app.reader.text.cache.laid_out = 0;
    stage.arrange();
    assert_eq!(stage.app.reader.text.cache.laid_out, 0, "nothing changed");
}

#[test]
fn the_first_paint_of_a_large_file_reads_its_ends_only() {
    let Some(before) = bytes_read() else {
        println!("skipped: this system does not count what threads read");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path(), 5_000);
    let size = fs::metadata(&path).unwrap().len();
    assert!(size > 20 << 20);
    let session = ingest::open(&Target {
        path,
        session: None,
    })
    .unwrap();
    let opening = bytes_read().unwrap() - before;
    let (send, feeds) = bounded(1_000);
    let stop = Arc::new(AtomicBool::new(false));
    let (counts, count) = counting();
    session.follow(send, WatchMode::Poll, Arc::clone(&stop), Box::new(count));
    let is_last = |edit: &Edit| {
        let Edit::Entry(entry) = edit else {
            return false;
        };
        entry
            .blocks
            .iter()
            .flat_map(|block| block.kind.bodies())
            .any(|body| body.stub.contains(LAST))
    };
    for number in 0.. {
        let feed = feeds.recv_timeout(PATIENCE).expect("the end is shown");
        let Feed::Batch { stage, batch } = feed else {
            continue;
        };
        if batch.edits.iter().any(is_last) {
            assert_eq!(stage, Stretch::Preview, "before the whole is read");
            // The message is here before the count is.
            while counts.lock().unwrap().len() <= number {
                std::thread::yield_now();
            }
            let read = counts.lock().unwrap()[number];
            stop.store(true, Ordering::Relaxed);
            assert!(opening < 1 << 20, "{opening} bytes to find out what it is");
            assert!(
                read < 3 << 20,
                "{read} of {size} bytes were read for the end"
            );
            return;
        }
    }
}

#[test]
fn a_jump_reads_the_records_that_it_shows() {
    if bytes_read().is_none() {
        println!("skipped: this system does not count what threads read");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path(), 1_000);
    let mut stage = Stage::open_from_disk(&path, SIZE);
    for place in [
        "g",
        "G",
        ": 5 0 % enter",
        "space",
        "/ P r o m p t space 7 7 0 enter",
    ] {
        let before = bytes_read().unwrap();
        if place.starts_with('/') {
            stage.press("esc");
        }
        stage.press(place);
        let read = bytes_read().unwrap() - before;
        // A search looks into all texts; what is on the screen is a small part of the session.
        let most = if place.starts_with('/') {
            u64::MAX
        } else {
            256 << 10
        };
        assert!(read <= most, "{place:?} read {read} bytes");
    }
}

#[test]
fn frames_allocate_little_and_no_more_in_a_long_session() {
    let folder = tempfile::tempdir().unwrap();
    let mut report = String::new();
    let mut all = Vec::new();
    for turns in [30, 1_000] {
        let path = session(folder.path(), turns);
        let mut stage = Stage::open_from_disk(&path, SIZE);
        let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).unwrap();
        stage.press("G");
        stage.press("ctrl-y ctrl-y ctrl-y ctrl-y");
        terminal.draw(|frame| ui::view(&stage.app, frame)).unwrap();
        let idle = allocation_counter::measure(|| {
            stage.arrange();
            terminal.draw(|frame| ui::view(&stage.app, frame)).unwrap();
        });
        let mut scrolled = Vec::new();
        for _ in 0..40 {
            let count = allocation_counter::measure(|| {
                stage.press("ctrl-y");
                terminal.draw(|frame| ui::view(&stage.app, frame)).unwrap();
            });
            scrolled.push(count.count_total);
        }
        scrolled.sort_unstable();
        let middle = scrolled[scrolled.len() / 2];
        writeln!(
            report,
            "{turns} turns: {} idle, {middle} scrolled (at most {})",
            idle.count_total, scrolled[39]
        )
        .unwrap();
        all.push((idle.count_total, middle));
    }
    println!("{report}");
    for (idle, scrolled) in &all {
        assert!(*idle <= 1_500 && *scrolled <= 2_500, "{report}");
    }
    let ((few, few_scrolled), (many, many_scrolled)) = (all[0], all[1]);
    assert!(
        many <= few + few / 4 && many_scrolled <= few_scrolled + few_scrolled / 2,
        "{report}"
    );
}

/// One answer with so many calls, in one record or in one for each.
fn one_answer(folder: &Path, calls: usize, is_one_record: bool) -> PathBuf {
    let head = r#""isSidechain":false,"sessionId":"s","version":"2.1.157","timestamp":"2026-03-13T10:00:00.000Z""#;
    let call = |n: usize| {
        format!(
            r#"{{"type":"tool_use","id":"t{n}","name":"Bash","input":{{"command":"make pier{n}"}}}}"#
        )
    };
    let result = |n: usize| {
        format!(r#"{{"type":"tool_result","tool_use_id":"t{n}","content":"pier {n} is made"}}"#)
    };
    let per = if is_one_record { calls } else { 1 };
    let mut text = String::new();
    for first in (0..calls).step_by(per) {
        let all = |block: &dyn Fn(usize) -> String| {
            (first..first + per)
                .map(block)
                .collect::<Vec<_>>()
                .join(",")
        };
        let (asked, answered) = (all(&call), all(&result));
        writeln!(text, r#"{{{head},"uuid":"a{first}","parentUuid":null,"type":"assistant","message":{{"id":"m","role":"assistant","model":"claude-sonnet-4-5","content":[{asked}],"usage":{{"input_tokens":3,"output_tokens":4}}}}}}"#).unwrap();
        writeln!(text, r#"{{{head},"uuid":"b{first}","parentUuid":"a{first}","type":"user","message":{{"role":"user","content":[{answered}]}}}}"#).unwrap();
    }
    let path = folder.join("session.jsonl");
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn keys_within_one_answer_cost_the_same_however_many_calls_it_has() {
    let folder = tempfile::tempdir().unwrap();
    for is_one_record in [true, false] {
        let mut costs = Vec::new();
        for calls in [300, 6_000] {
            let mut stage =
                Stage::open_from_disk(&one_answer(folder.path(), calls, is_one_record), (200, 50));
            // A large answer is judged some frames after the last of its results.
            while stage.app.reader.session.indexes.is_behind {
                stage.arrange();
            }
            let mut terminal = Terminal::new(TestBackend::new(200, 50)).unwrap();
            let mut most = (0, 0);
            for key in [
                "g",
                "j",
                "j",
                "ctrl-d",
                "G",
                "k",
                "k",
                "ctrl-u",
                ": 5 0 % enter",
                "ctrl-e",
                "enter",
                "enter",
            ] {
                // Twice, so that what is made once is there.
                stage.press(key);
                stage.app.reader.text.cache.laid_out = 0;
                let count = allocation_counter::measure(|| {
                    stage.press(key);
                    terminal.draw(|frame| ui::view(&stage.app, frame)).unwrap();
                });
                most = (
                    most.0.max(count.count_total),
                    most.1.max(stage.app.reader.text.cache.laid_out),
                );
            }
            costs.push(most);
        }
        let [(few, few_laid_out), (many, many_laid_out)] = costs[..] else {
            unreachable!()
        };
        assert!(
            many <= few + few / 2,
            "{few} and {many} allocations, one record: {is_one_record}"
        );
        assert!(
            many_laid_out <= few_laid_out.max(4),
            "{few_laid_out} and {many_laid_out} portions"
        );
    }
}
