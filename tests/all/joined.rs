//! Tests of joined sessions: merged by time, each with its own calls, entries and files.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, unbounded};
use tv::analysis::account::Account;
use tv::analysis::activity::{self, Activity, LastWrite, Wish};
use tv::analysis::by::By;
use tv::analysis::derived::Memo;
use tv::analysis::ledger::Ledger;
use tv::analysis::money;
use tv::analysis::money::spending::amount::Amount;
use tv::analysis::money::spending::statement::Statement;
use tv::app::outline::OutlineSection;
use tv::app::outline::row::SectionKind;
use tv::ingest::{self, Target, WatchMode};
use tv::model::body::Held;
use tv::model::edit::{Batch, Feed, LinkState, OpenedSession, Stage as Stretch};
use tv::model::entry::{BlockKind, Entry};
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;
use tv::model::transcript::Transcript;
use tv::report::reading;
use tv::report::sessions::usage::spender;

use crate::fixtures;
use crate::stage::Stage;
use crate::usage::{claude, cost_state, fork_of, stream};

/// Sessions that are read as one.
pub(crate) struct Joined {
    pub(crate) transcript: Transcript,
    opened: OpenedSession,
    pub(crate) batches: Vec<Batch>,
    /// What was shown before all was read.
    ends: Vec<Batch>,
    feeds: Receiver<Feed>,
    stop: Arc<AtomicBool>,
    pager: ingest::Pager,
}

impl Joined {
    pub(crate) fn of(paths: &[&Path]) -> Self {
        let open = |path: &&Path| {
            ingest::open(&Target {
                path: path.to_path_buf(),
                session: None,
            })
            .unwrap()
        };
        let mut sessions: Vec<ingest::SessionSource> = paths.iter().map(open).collect();
        let others = sessions.split_off(1);
        let session = sessions.remove(0).join(others);
        let (sender, feeds) = unbounded();
        let stop = Arc::new(AtomicBool::new(false));
        let pager = session.pager();
        let opened = session.opened.clone();
        session.follow(sender, WatchMode::Poll, Arc::clone(&stop), Box::new(|| {}));
        let mut joined = Self {
            transcript: Transcript::new(),
            opened,
            batches: Vec::new(),
            ends: Vec::new(),
            feeds,
            stop,
            pager,
        };
        joined.until(|_, feed| matches!(feed, Feed::CaughtUp));
        joined
    }

    /// Takes what comes until it is such a thing.
    pub(crate) fn until(&mut self, is_it: impl Fn(&Transcript, &Feed) -> bool) {
        loop {
            let feed = self
                .feeds
                .recv_timeout(Duration::from_secs(20))
                .expect("it comes");
            if let Feed::Batch {
                stage: Stretch::Preview,
                batch,
            } = &feed
            {
                self.ends.push((**batch).clone());
            }
            if let Feed::Batch {
                stage: Stretch::Whole,
                batch,
            } = &feed
            {
                self.transcript.apply((**batch).clone());
                self.transcript.update_derived();
                self.batches.push((**batch).clone());
            }
            if is_it(&self.transcript, &feed) {
                return;
            }
        }
    }

    /// A viewer on what was read.
    pub(crate) fn stage(&self) -> Stage {
        let mut stage = Stage::made((120, 40));
        stage.feed(Feed::Opened(Box::new(self.opened.clone())));
        for batch in self.batches.clone() {
            stage.feed(Feed::Batch {
                stage: Stretch::Whole,
                batch: Box::new(batch),
            });
        }
        stage
    }

    fn texts(&self) -> Vec<String> {
        texts(&self.transcript)
    }
}

fn texts(transcript: &Transcript) -> Vec<String> {
    transcript
        .entries()
        .map(first_text)
        .filter(|text| !text.is_empty())
        .collect()
}

impl Drop for Joined {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}

fn first_text(entry: &Entry) -> String {
    let text = entry.blocks.iter().find_map(|block| match &block.kind {
        BlockKind::Text(body) => Some(body.stub.to_string()),
        _ => None,
    });
    text.unwrap_or_default()
}

pub(crate) fn says(id: &str, text: &str, at: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"{id}\",\"parentUuid\":null,\"sessionId\":\"s\",\"cwd\":\"/work\",\"timestamp\":\"2026-05-01T{at}Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    )
}

pub(crate) fn calls(message: &str, tool: &str, path: &str, at: &str) -> String {
    format!(
        "{{\"type\":\"assistant\",\"uuid\":\"u-{message}\",\"parentUuid\":null,\"sessionId\":\"s\",\"cwd\":\"/work\",\"requestId\":\"req-{message}\",\"timestamp\":\"2026-05-01T{at}Z\",\"message\":{{\"id\":\"{message}\",\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"toolu_{message}\",\"name\":\"{tool}\",\"input\":{{\"file_path\":\"{path}\",\"old_string\":\"a\",\"new_string\":\"b\",\"content\":\"c\"}}}}],\"usage\":{{\"input_tokens\":10,\"output_tokens\":7}}}}}}\n"
    )
}

pub(crate) fn answers(message: &str, text: &str, at: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"r-{message}\",\"parentUuid\":null,\"sessionId\":\"s\",\"cwd\":\"/work\",\"timestamp\":\"2026-05-01T{at}Z\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_{message}\",\"content\":\"{text}\"}}]}}}}\n"
    )
}

fn section(stage: &Stage, part: SectionKind) -> &OutlineSection {
    let found = stage
        .app
        .reader
        .outline
        .sections
        .iter()
        .find(|section| section.part == part);
    found.unwrap_or_else(|| panic!("{}", stage.picture()))
}

pub(crate) fn write(dir: &Path, name: &str, lines: &[String]) -> PathBuf {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, lines.concat()).unwrap();
    path
}

#[test]
fn entries_stand_by_time_and_those_of_one_time_as_their_sessions_were_named() {
    let dir = tempfile::tempdir().unwrap();
    let one = [
        says("a", "a1", "10:00:00"),
        says("b", "a2", "10:00:02"),
        says("c", "a3", "10:00:01"),
    ];
    let two = [
        says("d", "b1", "10:00:00"),
        says("e", "b2", "10:00:01"),
        says("f", "b3", "10:00:03"),
    ];
    let (one, two) = (
        write(dir.path(), "one.jsonl", &one),
        write(dir.path(), "two.jsonl", &two),
    );
    let joined = Joined::of(&[&one, &two]);
    // What a session says later stands behind what it said before, whatever its clock shows.
    assert_eq!(joined.texts(), ["a1", "b1", "b2", "a2", "a3", "b3"]);
    assert_eq!(
        Joined::of(&[&two, &one]).texts(),
        ["b1", "a1", "b2", "a2", "a3", "b3"]
    );
}

#[test]
fn what_has_no_time_stays_beside_what_its_session_says_then() {
    let dir = tempfile::tempdir().unwrap();
    let untimed =
        |id: &str, text: &str| says(id, text, "").replace("\"timestamp\":\"2026-05-01TZ\",", "");
    let one = [says("a", "a1", "10:00:00"), says("b", "a2", "10:00:05")];
    let two = [
        untimed("c", "b0"),
        says("d", "b1", "10:00:03"),
        untimed("e", "b2"),
        says("f", "b3", "10:00:09"),
    ];
    let (one, two) = (
        write(dir.path(), "one.jsonl", &one),
        write(dir.path(), "two.jsonl", &two),
    );
    let joined = Joined::of(&[&one, &two]);
    assert_eq!(joined.texts(), ["a1", "b0", "b1", "b2", "a2", "b3"]);
}

#[test]
fn the_ends_are_shown_before_all_is_read_and_stay_where_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let clock = |n: usize| format!("{:02}:{:02}:{:02}", 10 + n / 3_600, n / 60 % 60, n % 60);
    let said = |who: &str, n: usize, at: usize, more: usize| {
        let id = format!("{who}{n}");
        says(&id, &format!("{id} {}", "x ".repeat(more)), &clock(at))
    };
    let long: Vec<String> = (0..1_500).map(|n| said("l", n, 2 * n, 2_000)).collect();
    let short: Vec<String> = (0..300).map(|n| said("s", n, 10 * n + 1, 4)).collect();
    let (long, short) = (
        write(dir.path(), "long.jsonl", &long),
        write(dir.path(), "short.jsonl", &short),
    );
    let joined = Joined::of(&[&long, &short]);
    let mut stage = Stage::made((120, 40));
    for batch in joined.ends.clone() {
        stage.feed(Feed::Batch {
            stage: Stretch::Preview,
            batch: Box::new(batch),
        });
    }
    stage.arrange();
    let (whole, shown) = (joined.texts(), texts(&stage.app.reader.session.transcript));
    assert!(
        shown.len() > 100 && shown.len() < 600,
        "{} of {}",
        shown.len(),
        whole.len()
    );
    assert!(shown.iter().any(|text| text.starts_with('s')), "{shown:?}");
    assert!(
        whole.ends_with(&shown),
        "none is missing between two of them"
    );

    let window = |stage: &mut Stage| {
        stage.arrange();
        stage
            .window()
            .iter()
            .map(|(_, _, row)| row.clone())
            .collect::<Vec<_>>()
    };
    let before = window(stage.press("k k k"));
    for batch in joined.batches.clone() {
        stage.feed(Feed::Batch {
            stage: Stretch::Whole,
            batch: Box::new(batch),
        });
    }
    stage.feed(Feed::CaughtUp);
    assert_eq!(window(&mut stage), before);
    assert_eq!(texts(&stage.app.reader.session.transcript), whole);
}

#[test]
fn short_sessions_are_shown_once() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = ([says("a", "a1", "10:00:00")], [says("b", "b1", "10:00:01")]);
    let (one, two) = (
        write(dir.path(), "one.jsonl", &one),
        write(dir.path(), "two.jsonl", &two),
    );
    assert!(Joined::of(&[&one, &two]).ends.is_empty());
}

#[test]
fn the_outline_lists_the_sessions_and_marks_that_of_the_cursor() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = ([says("a", "a1", "10:00:00")], [says("b", "b1", "10:00:01")]);
    let (one, two) = (
        write(dir.path(), "one.jsonl", &one),
        write(dir.path(), "two.jsonl", &two),
    );
    let mut stage = Joined::of(&[&one, &two]).stage();
    let marked = |stage: &mut Stage, keys: &str| {
        stage.press(keys);
        stage.arrange();
        let section = section(stage, SectionKind::Sessions);
        section
            .rows
            .iter()
            .map(|row| row.is_current)
            .collect::<Vec<bool>>()
    };
    assert_eq!(
        marked(&mut stage, "G"),
        [false, true],
        "{}",
        stage.picture()
    );
    assert_eq!(
        marked(&mut stage, "g g"),
        [true, false],
        "{}",
        stage.picture()
    );
}

#[test]
fn turns_of_all_sessions_are_listed_by_their_beginnings_and_each_is_of_its_session() {
    let dir = tempfile::tempdir().unwrap();
    let one = [
        says("a", "a1", "10:00:00"),
        calls("m1", "Read", "/work/x", "10:00:01"),
        says("b", "a2", "10:00:06"),
        calls("m2", "Read", "/work/y", "10:00:08"),
    ];
    let two = [
        says("d", "b1", "10:00:03"),
        calls("n1", "Read", "/work/x", "10:00:07"),
        answers("n1", "done", "10:00:09"),
        calls("n2", "Read", "/work/z", "10:00:10"),
    ];
    let (one, two) = (
        write(dir.path(), "one.jsonl", &one),
        write(dir.path(), "two.jsonl", &two),
    );
    let joined = Joined::of(&[&one, &two]);
    let account = Account::of(&joined.transcript);
    let figures = |turn| account.turn(&joined.transcript, turn).facts;
    let requests = [0, 1, 2].map(|turn| figures(turn).totals.sum().requests);
    assert_eq!(
        requests,
        [1, 2, 1],
        "what a session said belongs to its own turn"
    );
    let worked = account.turn(&joined.transcript, 1).work_ms();
    assert_eq!(worked, Some(7_000), "it goes on beside that of the other");

    let mut stage = joined.stage();
    let listed = |stage: &mut Stage, keys: &str| {
        stage.press(keys);
        stage.arrange();
        let rows = &section(stage, SectionKind::Turns).rows;
        rows.iter()
            .map(|row| (row.title.clone(), row.session, row.is_current))
            .collect::<Vec<_>>()
    };
    let row = |title: &str, session, is_current| (title.to_owned(), Some(session), is_current);
    let at_end = [row("a1", 0, false), row("b1", 1, true), row("a2", 0, false)];
    assert_eq!(listed(&mut stage, "G"), at_end, "{}", stage.picture());
    let at_first = [row("a1", 0, true), row("b1", 1, false), row("a2", 0, false)];
    assert_eq!(listed(&mut stage, "g g"), at_first, "{}", stage.picture());
    assert!(
        stage.picture().contains("turn 1 of 3"),
        "{}",
        stage.picture()
    );
}

#[test]
fn a_sub_agent_of_one_of_the_sessions_belongs_to_a_turn_of_that_session() {
    let dir = tempfile::tempdir().unwrap();
    let line = |id: &str, at: &str| {
        calls(id, "Read", "/work/x", at).replace(
            "\"type\":\"assistant\"",
            "\"isSidechain\":true,\"agentId\":\"k\",\"type\":\"assistant\"",
        )
    };
    let one = write(
        dir.path(),
        "one.jsonl",
        &[says("a", "a1", "10:00:00"), says("c", "a2", "10:00:08")],
    );
    let two = write(dir.path(), "two.jsonl", &[says("d", "b1", "10:00:03")]);
    let agents = dir.path().join("one/subagents");
    fs::create_dir_all(&agents).unwrap();
    write(&agents, "agent-k.jsonl", &[line("k1", "10:00:05")]);
    let joined = Joined::of(&[&one, &two]);
    let account = Account::of(&joined.transcript);
    let requests = |turn| {
        account
            .turn(&joined.transcript, turn)
            .facts
            .totals
            .sum()
            .requests
    };
    assert_eq!([0, 1, 2].map(requests), [1, 0, 0]);
}

#[test]
fn a_session_is_called_by_its_title_also_by_one_that_comes_later() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = ([says("a", "a1", "10:00:00")], [says("b", "b1", "10:00:01")]);
    let (one, two) = (
        write(dir.path(), "one.jsonl", &one),
        write(dir.path(), "two.jsonl", &two),
    );
    let mut joined = Joined::of(&[&one, &two]);
    let labels = |joined: &Joined| -> Vec<String> {
        joined
            .transcript
            .lanes()
            .iter()
            .map(|lane| lane.label.to_string())
            .collect()
    };
    assert_eq!(labels(&joined), ["a1 (claude-code)", "b1 (claude-code)"]);
    let mut file = OpenOptions::new().append(true).open(&two).unwrap();
    writeln!(
        file,
        "{{\"type\":\"ai-title\",\"aiTitle\":\"Mend the net\",\"sessionId\":\"s\"}}"
    )
    .unwrap();
    joined.until(|transcript, _| {
        transcript.lanes()[1].label.as_str() == "Mend the net (claude-code)"
    });
    let title = joined.transcript.meta().title().map(ToString::to_string);
    assert_eq!(
        title.as_deref(),
        Some("2 sessions joined: a1 (claude-code), Mend the net (claude-code)")
    );
}

#[test]
fn what_takes_the_place_of_a_session_has_its_own_entries_and_title() {
    let dir = tempfile::tempdir().unwrap();
    let one = write(dir.path(), "one.jsonl", &[says("a", "a1", "10:00:00")]);
    let two = write(
        dir.path(),
        "two.jsonl",
        &[says("b", "b1", "10:00:01"), says("c", "b2", "10:00:03")],
    );
    let mut joined = Joined::of(&[&one, &two]);
    let other = write(dir.path(), "other", &[says("d", "d1", "10:00:02")]);
    fs::rename(other, &two).unwrap();
    joined.until(|transcript, _| transcript.lanes()[1].label.as_str() == "d1 (claude-code)");
    assert_eq!(joined.texts(), ["a1", "d1"]);
    let title = joined.transcript.meta().title().map(ToString::to_string);
    assert_eq!(
        title.as_deref(),
        Some("2 sessions joined: a1 (claude-code), d1 (claude-code)")
    );
    OpenOptions::new()
        .append(true)
        .open(&one)
        .unwrap()
        .write_all(says("e", "a2", "10:00:04").as_bytes())
        .unwrap();
    joined.until(|transcript, _| transcript.order().len() == 3);
    assert_eq!(joined.texts(), ["a1", "d1", "a2"]);
}

#[test]
fn a_filter_shows_one_of_the_sessions() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = ([says("a", "a1", "10:00:00")], [says("b", "b1", "10:00:01")]);
    let (one, two) = (
        write(dir.path(), "one.jsonl", &one),
        write(dir.path(), "two.jsonl", &two),
    );
    let mut stage = Joined::of(&[&one, &two]).stage();
    let shown = |stage: &mut Stage| {
        stage.arrange();
        ["a1", "b1"].map(|text| stage.window().iter().any(|(_, _, row)| row.ends_with(text)))
    };
    assert_eq!(shown(&mut stage), [true, true], "{}", stage.picture());
    stage.press("&").type_in("session:b1").press("enter");
    assert_eq!(shown(&mut stage), [false, true], "{}", stage.picture());
}

#[test]
fn a_path_is_that_of_the_folder_where_its_session_began() {
    let dir = tempfile::tempdir().unwrap();
    let lines = [
        calls("m1", "Edit", "src/a.rs", "10:00:00"),
        answers("m1", "done", "10:00:01"),
    ];
    let there = lines
        .clone()
        .map(|line| line.replace("\"/work\"", "\"/other\"").replace("m1", "m2"));
    let (one, two) = (
        write(dir.path(), "one.jsonl", &lines),
        write(dir.path(), "two.jsonl", &there),
    );
    let mut stage = Joined::of(&[&one, &two]).stage();
    stage.arrange();
    let files = stage
        .app
        .reader
        .outline
        .sections
        .iter()
        .find(|section| section.part == SectionKind::Files);
    let rows: Vec<String> = files
        .expect("files are listed")
        .rows
        .iter()
        .map(|row| format!("{:?} {}", row.session, row.title))
        .collect();
    // They are told apart by the number and the colour of their session.
    assert_eq!(rows, ["Some(1) src/a.rs", "Some(0) src/a.rs"]);
}

#[test]
fn what_two_sessions_call_the_same_stays_paired_within_each() {
    let dir = tempfile::tempdir().unwrap();
    let lines = |said: &str, at: &str| {
        let (first, then) = (format!("10:00:0{at}"), format!("10:00:1{at}"));
        [
            says("p", said, &first),
            calls("m", "Read", "/work/x", &first),
            answers("m", said, &then),
        ]
    };
    let one = write(dir.path(), "one.jsonl", &lines("of-one", "1"));
    let two = write(dir.path(), "two.jsonl", &lines("of-two", "2"));
    let joined = Joined::of(&[&one, &two, &one]);
    let results: Vec<(String, String)> = joined
        .transcript
        .entries()
        .flat_map(|entry| entry.calls().map(move |call| (entry, call)))
        .map(|(entry, call)| {
            (
                entry.lane.clone().unwrap().to_string(),
                call.state.result().unwrap().body.stub.to_string(),
            )
        })
        .collect();
    let lanes = ["1:one", "2:two"];
    assert_eq!(
        results,
        [
            (lanes[0].to_owned(), "of-one".to_owned()),
            (lanes[1].to_owned(), "of-two".to_owned())
        ]
    );
    assert!(joined.transcript.entries().all(|entry| {
        !entry
            .blocks
            .iter()
            .any(|b| matches!(b.kind, BlockKind::Result(_)))
    }));
}

#[test]
fn sessions_stand_together_as_the_one_that_needs_somebody_or_works() {
    let dir = tempfile::tempdir().unwrap();
    let answer = r#""id":"mm","role":"assistant","model":"claude-sonnet-4-5","stop_reason":"end_turn","content":[{"type":"text","text":"done"}]"#;
    let answered =
        says("s", "done", "10:00:05").replace(r#""type":"user""#, r#""type":"assistant""#);
    let answered = answered.replace(r#""role":"user","content":"done""#, answer);
    let done = [says("p", "go", "10:00:00"), answered];
    let works = [
        says("q", "go", "10:00:00"),
        calls("n", "Bash", "/work/y", "10:00:03"),
    ];
    let asks = [
        says("r", "go", "10:00:00"),
        calls("o", "AskUserQuestion", "/work/z", "10:00:04"),
    ];
    let [done, works, asks] = [("done", &done[..]), ("works", &works), ("asks", &asks)]
        .map(|(name, lines)| write(dir.path(), &format!("{name}.jsonl"), lines));
    let at = |clock: &str| Timestamp::parse(&format!("2026-05-01T{clock}Z")).unwrap();
    let stands = |paths: &[&Path], clock: &str| {
        let transcript = &Joined::of(paths).transcript;
        // When the files of several sessions were written to says nothing of each.
        activity::judge(
            transcript,
            Some(LastWrite::observed(at("10:30:00"))),
            at(clock),
        )
    };
    let since = Some(at("10:00:03"));
    assert_eq!(
        stands(&[&done, &works], "10:01:00"),
        Activity::Tool {
            name: Text::from("Bash"),
            since
        }
    );
    assert!(matches!(
        stands(&[&done, &works, &asks], "10:01:00"),
        Activity::Waiting {
            wish: Wish::Question,
            ..
        }
    ));
    assert!(matches!(
        stands(&[&works, &done], "10:30:00"),
        Activity::Waiting {
            wish: Wish::Prompt,
            ..
        }
    ));
}

#[test]
fn a_request_that_a_fork_has_copied_counts_once() {
    let dir = tempfile::tempdir().unwrap();
    let shared = [
        says("p", "go", "10:00:00"),
        calls("m", "Read", "/work/x", "10:00:01"),
    ];
    let own = [calls("n", "Read", "/work/y", "10:00:05")];
    let one = write(dir.path(), "one.jsonl", &shared);
    let two = write(dir.path(), "two.jsonl", &[&shared[..], &own[..]].concat());
    let joined = Joined::of(&[&one, &two]);
    let spent = joined
        .transcript
        .entries()
        .filter(|entry| entry.usage.is_some())
        .count();
    assert_eq!(spent, 2, "m once, n once");
}

/// Requests, input, output and what caches gave and took.
fn figures(amount: &Amount) -> (u64, [i64; 4]) {
    let tokens = [
        amount.input,
        amount.output,
        amount.cache_read,
        amount.cache_write,
    ];
    (amount.requests, tokens.map(|tokens| tokens.total))
}

/// What sessions come to when they are read as one, and what the ledger says of them.
fn sums(paths: [&Path; 2]) -> [(u64, [i64; 4]); 2] {
    let transcript = &Joined::of(&paths).transcript;
    let together = Memo::<Statement>::compute(transcript, &Account::of(transcript));
    [
        figures(&together.total),
        figures(&ledger_of(&paths).rows(&[By::Session], &[]).1.amount),
    ]
}

/// What sessions cost when they are read as one, and their input.
fn joined_sum(paths: &[&Path]) -> (f64, i64) {
    let transcript = &Joined::of(paths).transcript;
    let account = Account::of(transcript);
    let statement = Memo::<Statement>::compute(transcript, &account);
    let [usd, charged] =
        [account.cost(transcript), statement.total.money.cost()].map(|cost| cost.usd);
    assert!(
        (usd.unwrap() - charged.unwrap()).abs() < 1e-6,
        "{paths:?}: {usd:?} and {charged:?}"
    );
    (usd.unwrap(), statement.total.input.total)
}

/// The same by the ledger.
fn ledger_sum(paths: &[&Path]) -> (f64, i64) {
    let total = ledger_of(paths).rows(&[By::Session], &[]).1;
    (total.cost().usd.unwrap(), total.amount.input.total)
}

fn ledger_of(paths: &[&Path]) -> Ledger {
    let mut ledger = Ledger::new(None..None);
    for path in paths {
        let reading = reading::read(
            &Target {
                path: path.to_path_buf(),
                session: None,
            },
            true,
        )
        .unwrap();
        ledger.add(spender(fixtures::session_at(path), &reading, false));
    }
    ledger
}

#[test]
fn sessions_come_to_the_same_together_as_in_the_ledger() {
    let files: Vec<PathBuf> = fixtures::all()
        .into_iter()
        .filter(|path| path.is_file())
        .collect();
    let sessions = files
        .iter()
        .filter(|path| path.extension().is_none_or(|kind| kind != "sql"));
    let sessions: Vec<&PathBuf> = sessions.collect();
    let dir = tempfile::tempdir().unwrap();
    let mut pairs = 0;
    let mut differing = Vec::new();
    let mut compare = |one: &Path, other: &Path| {
        pairs += 1;
        let [together, ledger] = sums([one, other]);
        if together != ledger {
            let names = [one, other].map(fixtures::name);
            differing.push(format!(
                "{names:?}: {together:?} together, {ledger:?} in the ledger"
            ));
        }
    };
    for (place, one) in sessions.iter().enumerate() {
        let is_sibling = |other: &&&PathBuf| other.parent() == one.parent();
        let siblings = sessions.iter().skip(place + 1).take(2).filter(is_sibling);
        siblings.for_each(|other| compare(one, other));
        // A copy, as in a folder that was moved.
        if one.extension().is_some_and(|kind| kind == "jsonl") {
            let copy = dir
                .path()
                .join(place.to_string())
                .join(one.file_name().unwrap());
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            fs::copy(one, &copy).unwrap();
            compare(one, &copy);
        }
    }
    // A sum instead of requests beside a session that has some.
    let is_of =
        |format: &'static str| move |path: &&&PathBuf| path.iter().any(|part| part == format);
    let other = sessions.iter().find(is_of("claude-code")).unwrap();
    for one in sessions.iter().filter(is_of("continue")) {
        compare(one, other);
        compare(other, one);
    }
    assert!(pairs > 100, "{pairs}");
    assert!(
        differing.is_empty(),
        "{} of {pairs}:\n{}",
        differing.len(),
        differing.join("\n")
    );
}

#[test]
fn what_an_agent_tells_of_its_cost_so_far_counts_once_in_forks_and_copies() {
    let dir = tempfile::tempdir().unwrap();
    let place = |name: &str, content: String| write(dir.path(), name, &[content]);
    let parent = place(
        "one.jsonl",
        claude("one", None, 5, &[1, 2]) + &cost_state("one", 0.75, 0.25, [500, 900]),
    );
    let later = place(
        "later.jsonl",
        claude("one", None, 5, &[1, 2, 9]) + &cost_state("one", 0.75, 0.75, [500, 990]),
    );
    let told = fork_of("one", &[1, 2]) + &claude("two", None, 5, &[3, 4]);
    let fork = place(
        "two.jsonl",
        told.clone() + &cost_state("two", 1.0, 0.5, [1000, 1900]),
    );
    let copy = place("copy.jsonl", fs::read_to_string(&fork).unwrap());
    let silent = place("silent.jsonl", told);
    let bare = place("bare.jsonl", claude("one", None, 5, &[1, 2]));
    let sum = joined_sum;
    let is = |paths: &[&Path], usd: f64, input: i64| {
        let found = sum(paths);
        assert!(
            (found.0 - usd).abs() < 1e-6 && found.1 == input,
            "{paths:?}: {found:?}"
        );
    };
    is(&[&parent, &fork], 1.5, 2900);
    is(&[&fork, &parent], 1.5, 2900);
    is(&[&fork, &copy], 1.5, 2900);
    is(&[&copy, &parent, &fork], 1.5, 2900);
    is(&[&bare, &fork], 1.5, 2900);
    // As much of what either has told by now as the first two requests take of those on their model, whichever is less. Of
    // tokens besides those of the requests it is the same.
    let of = |n: u32, other: u32| price_of(n) / (price_of(n) + price_of(other));
    let (opus, haiku) = (of(2, 4), f64::min(0.75 * of(1, 9), 0.5 * of(1, 3)));
    #[expect(clippy::cast_possible_truncation, reason = "these are whole tokens")]
    let tokens = |all: i64, n: i64, other: i64, share: f64| {
        10 + n + ((all - 20 - n - other) as f64 * share) as i64
    };
    let common = tokens(1000, 2, 4, of(2, 4)) + tokens(990, 1, 9, of(1, 9));
    is(
        &[&later, &fork],
        1.5 + 1.5 - opus - haiku,
        2900 + 1490 - common,
    );
    // What the parent spent since the fork is in no sum, and is estimated.
    let went_on = place("went-on.jsonl", claude("one", None, 5, &[1, 2, 9]));
    let alone = place("alone.jsonl", claude("alone", None, 5, &[9]));
    let (since, tokens) = sum(&[&alone, &silent]);
    let (others, other_tokens) = sum(&[&bare, &silent]);
    for pair in [[&went_on, &fork], [&fork, &went_on]] {
        is(
            &pair.map(PathBuf::as_path),
            1.5 + since - others,
            2900 + tokens - other_tokens,
        );
    }
    let [together, ledger] = sums([&went_on, &fork]);
    assert_eq!(together, ledger);
    let (usd, input) = sum(&[&parent, &silent]);
    assert!(
        usd > 1.0 && usd < 1.1 && input == 1400 + 13 + 14,
        "what the fork spent is estimated: {usd} {input}"
    );
}

/// How much a request costs beside others.
fn price_of(n: u32) -> f64 {
    f64::from(20 * (10 + n) + 100 * (100 + n) + 2 * 1_000 * n + 25 * 7)
}

/// Forks of a session that tells no sum itself: each sum has in it what was before the fork, also what sub-agents did
/// then, of which a fork has no copies.
#[test]
fn what_forks_of_one_session_have_in_common_counts_once() {
    let dir = tempfile::tempdir().unwrap();
    let place = |name: &str, content: String| write(dir.path(), name, &[content]);
    let fork = |id: &str, own: [u32; 2], usd: f64, tokens: u32| {
        let begun = fork_of("one", &[1, 2]).replace("\"two\"", &format!("\"{id}\""));
        let told = begun + &claude(id, None, 5, &own) + &cost_state(id, usd, usd, [tokens, tokens]);
        place(&format!("{id}.jsonl"), told)
    };
    let [two, three, four] =
        [("two", 3), ("three", 5), ("four", 7)].map(|(id, own)| fork(id, [own, own + 1], 1.0, 400));
    let bare = place("one.jsonl", claude("one", None, 5, &[1, 2]));
    let near = |(usd, input): (f64, i64), expected: (f64, i64)| {
        assert!(
            (usd - expected.0).abs() < 0.01 && (input - expected.1).abs() < 15,
            "{usd} {input}, not {expected:?}"
        );
    };
    let both = |paths: &[&Path], expected: (f64, i64)| {
        near(joined_sum(paths), expected);
        near(ledger_sum(paths), expected);
    };
    // Of each model one request of two is the other's, too: at most so much of both that it is no more than of either.
    let shared = |n: u32, own: u32| price_of(n) / (price_of(n) + price_of(own));
    let common = |own: u32| shared(1, own) + shared(2, own + 1);
    #[expect(clippy::cast_possible_truncation, reason = "these are whole tokens")]
    let left = |all: f64, common: f64| (all - common, ((all - common) * 400.0) as i64);
    for paths in [
        vec![&two, &three],
        vec![&bare, &two, &three],
        vec![&three, &bare, &two],
    ] {
        both(
            &paths.iter().map(|path| path.as_path()).collect::<Vec<_>>(),
            left(4.0, common(5)),
        );
    }
    let of_four = joined_sum(&[&four, &bare, &two, &three]);
    near(ledger_sum(&[&four, &bare, &two, &three]), of_four);
    let (most, least) = (6.0 - 2.0 * common(7), 6.0 - 2.0 * common(3));
    assert!(least < of_four.0 && of_four.0 < most, "{of_four:?}");
    // A sub-agent that ended before the fork, and one that went on behind it.
    write(
        dir.path(),
        "one/subagents/agent-a1.jsonl",
        &[claude("one", Some("a1"), 5, &[1, 2]).replace("KlMnOp", "KlMnXx")],
    );
    both(&[&bare, &two], (2.0, 800));
    both(&[&two, &bare, &three], left(4.0, common(5)));
    write(
        dir.path(),
        "one/subagents/agent-a2.jsonl",
        &[claude("one", Some("a2"), 5, &[58]).replace("KlMnOp", "KlMnYy")],
    );
    let later = joined_sum(&[&bare, &two]);
    assert!(later.0 > 2.02 && later.1 == 868, "{later:?}");
    near(ledger_sum(&[&bare, &two]), later);
}

/// What the agent kept of a run is that run; what goes on beside it is none of it.
#[test]
fn what_a_run_sums_up_stands_for_its_own_session() {
    let dir = tempfile::tempdir().unwrap();
    let place = |name: &str, content: &str| {
        let path = dir.path().join(name);
        fs::write(&path, content).unwrap();
        path
    };
    let run = place("run.jsonl", &stream("one", &[2, 4], &[2, 4, 6]));
    let kept = place("kept.jsonl", &claude("one", None, 5, &[2, 4]));
    let other = place("other.jsonl", &claude("two", None, 5, &[11, 12, 13]));
    for pair in [[&run, &kept], [&kept, &run], [&run, &other], [&other, &run]] {
        let [together, ledger] = sums(pair.map(PathBuf::as_path));
        assert_eq!(together, ledger, "{pair:?}");
    }
    let cost = |paths: &[&Path]| {
        let transcript = &Joined::of(paths).transcript;
        let statement = Memo::<Statement>::compute(transcript, &Account::of(transcript));
        (
            statement.cost.and_then(|cost| cost.usd).unwrap(),
            statement.total.money.picos(),
        )
    };
    let [(one, _), (two, _), (both, charged)] =
        [vec![&*run], vec![&*other], vec![&*run, &*other]].map(|paths| cost(&paths));
    assert!(
        (one + two - both).abs() < 1e-9,
        "{one} and {two} are {both}"
    );
    assert!(
        (both - money::cost::usd(charged)).abs() < 1e-9,
        "{both} of which {charged} are charged"
    );
}

#[test]
fn all_entries_of_each_are_there_and_their_bodies_can_be_read_again() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let paths = [
        fixtures.join("claude-code/busy.jsonl"),
        fixtures.join("pi/version-3.jsonl"),
        fixtures
            .join("codex/rollout-2026-03-02T10-00-00-019cadc6-9a80-7000-8000-0000000000e1.jsonl"),
    ];
    let mut joined = Joined::of(&paths.each_ref().map(PathBuf::as_path));
    let mut records = 0;
    let mut alone = Vec::new();
    for path in &paths {
        let mut transcript = Transcript::new();
        let session = ingest::open(&Target {
            path: path.clone(),
            session: None,
        })
        .unwrap();
        session.read_whole(false, &mut |feed| {
            if let Feed::Batch { batch, .. } = feed {
                transcript.apply(*batch);
            }
        });
        records += transcript.tally().records();
        let blocks = |entry: &Entry| (first_text(entry), entry.at, entry.role, entry.blocks.len());
        alone.extend(
            transcript
                .entries()
                .map(|entry| format!("{:?}", blocks(entry))),
        );
    }
    let blocks = |entry: &Entry| (first_text(entry), entry.at, entry.role, entry.blocks.len());
    let mut together: Vec<String> = joined
        .transcript
        .entries()
        .map(|entry| format!("{:?}", blocks(entry)))
        .collect();
    alone.sort();
    together.sort();
    assert_eq!(together, alone);
    assert_eq!(joined.transcript.tally().records(), records);

    for entry in joined.transcript.entries() {
        for body in entry.blocks.iter().flat_map(|block| block.kind.bodies()) {
            let Held::Text(text) = &body.held else {
                continue;
            };
            let again = joined.pager.read(body.from);
            let Some(Held::Text(read)) = again.get(usize::from(body.slot)) else {
                panic!("{:?} cannot be read again", body.from)
            };
            assert_eq!(read, text);
        }
    }
}

#[test]
fn what_is_appended_to_either_comes_and_a_lost_file_keeps_nothing_from_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let one = write(dir.path(), "one.jsonl", &[says("a", "a1", "10:00:00")]);
    let two = write(dir.path(), "two.jsonl", &[says("a", "b1", "10:00:01")]);
    let mut joined = Joined::of(&[&one, &two]);
    let mut append = |path: &Path, line: &str| {
        OpenOptions::new()
            .append(true)
            .open(path)
            .unwrap()
            .write_all(line.as_bytes())
            .unwrap();
        let before = joined.transcript.order().len();
        joined.until(|transcript, _| transcript.order().len() > before);
    };
    append(&two, &says("b", "b2", "10:00:02"));
    append(&one, &says("b", "a2", "10:00:03"));
    fs::remove_file(&one).unwrap();
    let is_lost = |feed: &Feed| matches!(feed, Feed::Link(LinkState::InPart(what)) if what.as_str() == "1: file gone");
    joined.until(|_, feed| is_lost(feed));
    let mut append = |path: &Path, line: &str| {
        OpenOptions::new()
            .append(true)
            .open(path)
            .unwrap()
            .write_all(line.as_bytes())
            .unwrap();
        let before = joined.transcript.order().len();
        joined.until(|transcript, _| transcript.order().len() > before);
    };
    append(&two, &says("c", "b3", "10:00:04"));
    assert_eq!(joined.texts(), ["a1", "b1", "b2", "a2", "b3"]);
}

/// Whatever an agent charges for its requests and for helpers that stand nowhere, and whenever it tells of that.
#[test]
fn a_fork_costs_what_its_own_requests_do() {
    let opus = "claude-opus-4-6";
    // What a request took, and what it cost by this price of a token of input.
    let tokens = |n: u64| [10 + n, 100 + n * n * 40, 1_000 * n, 7 + 3_000 * (n % 3)];
    let cost = |ns: &[u64], price: f64| {
        let terms = ns
            .iter()
            .flat_map(|n| tokens(*n))
            .zip([1.0, 5.0, 0.1, 1.25].into_iter().cycle());
        terms
            .map(|(count, times)| count as f64 * times * price)
            .sum::<f64>()
    };
    let session = |id: &str,
                   from: Option<&str>,
                   copied: &[u64],
                   own: &[u64],
                   told: &[u64],
                   price: f64| {
        let mut lines = Vec::new();
        let mut made: Vec<u64> = Vec::new();
        for n in copied.iter().chain(own) {
            let [input, output, read, written] = tokens(*n);
            let mut line = serde_json::json!({"type": "assistant", "requestId": format!("req_{n:026}"),
                "uuid": format!("a-{n}"), "parentUuid": null, "isSidechain": false, "sessionId": id,
                "timestamp": format!("2026-01-05T10:{n:02}:00.000Z"),
                "message": {"id": format!("msg_{n:026}"), "type": "message", "role": "assistant", "model": opus,
                    "stop_reason": "end_turn", "content": [{"type": "text", "text": format!("{n}")}],
                    "usage": {"input_tokens": input, "output_tokens": output, "cache_read_input_tokens": read,
                        "cache_creation_input_tokens": written}}});
            if let Some(from) = from.filter(|_| copied.contains(n)) {
                line["forkedFrom"] =
                    serde_json::json!({"sessionId": from, "messageUuid": format!("a-{n}")});
            }
            made.push(*n);
            lines.push(line.to_string());
            if told.contains(n) && !copied.contains(n) {
                let sum = |at: usize| made.iter().map(|n| tokens(*n)[at]).sum::<u64>();
                lines.push(
                    serde_json::json!({"type": "cost-state", "sessionId": id, "hasUnknownModelCost": false,
                        "totalCostUSD": cost(&made, price), "modelUsage": {opus: {"inputTokens": sum(0),
                            "outputTokens": sum(1), "cacheReadInputTokens": sum(2),
                            "cacheCreationInputTokens": sum(3), "costUSD": cost(&made, price)}}})
                    .to_string(),
                );
            }
        }
        lines
            .iter()
            .map(|line| line.clone() + "\n")
            .collect::<String>()
    };
    let list = 5e-6;
    let dir = tempfile::tempdir().unwrap();
    for (case, (price, told)) in [list, list * 0.7, list * 2.0]
        .into_iter()
        .flat_map(|price| {
            [
                vec![1, 2, 3, 4, 5, 6],
                vec![4, 6],
                vec![1, 4, 6],
                vec![2, 6],
            ]
            .map(|told| (price, told))
        })
        .enumerate()
    {
        let place =
            |name: &str, text: String| write(dir.path(), &format!("{case}/{name}.jsonl"), &[text]);
        let parent = place(
            "one",
            session("one", None, &[], &[1, 2, 3, 4], &told, price),
        );
        let fork = place(
            "two",
            session("two", Some("one"), &[1, 2], &[5, 6], &told, price),
        );
        let all = [1, 2, 3, 4, 5, 6];
        // What is told last is what it cost; what came after that is estimated.
        let since: &[u64] = if told.contains(&4) { &[] } else { &[3, 4] };
        let expected = cost(&all, price) + cost(since, list) - cost(since, price);
        let input = all.iter().map(|n| tokens(*n)[0]).sum::<u64>().cast_signed();
        for paths in [[&*parent, &*fork], [&*fork, &*parent]] {
            for (way, (usd, tokens)) in [
                ("joined", joined_sum(&paths)),
                ("ledger", ledger_sum(&paths)),
            ] {
                assert!(
                    (usd - expected).abs() < 1e-6,
                    "{way} {price} {told:?}: {usd}, not {expected}"
                );
                assert_eq!(tokens, input, "{way} {price} {told:?}");
            }
        }
    }
}
