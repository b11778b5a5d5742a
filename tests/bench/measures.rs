//! What is measured, and how it is printed.

use std::borrow::Cow;
use std::fs::{self, OpenOptions};
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use tv::formats::decoder::{Format, Place, feed};
use tv::formats::json;
use tv::ingest::{self, Target, WatchMode};
use tv::model::edit::{Batch, Edit, Feed, Stage};
use tv::model::entry::Entry;
use tv::model::record::{FileId, Origin, Record};
use tv::model::transcript::Transcript;
use tv::render::code::Colours;
use tv::render::row::{Item, Level, Look};
use tv::render::theme::Theme;

use crate::sessions::{self, Session};

/// The yardstick for decoding: the fields that a reader needs, parsed by hand-made types.
#[derive(Deserialize)]
struct TypedLine<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    uuid: Cow<'a, str>,
    #[serde(borrow)]
    timestamp: Cow<'a, str>,
    #[serde(borrow)]
    message: TypedMessage<'a>,
}

#[derive(Deserialize)]
struct TypedMessage<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    content: &'a RawValue,
}

fn print(what: &str, value: String, note: &str) {
    println!("{what:<44}{value:>14}   {note}");
}

fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

/// The middle one of five runs.
fn median(mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..5)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

/// Decoding, beside a newline scan and two ways of bare parsing.
pub(crate) fn throughput(session: &Session) {
    let bytes = fs::read(&session.path).unwrap();
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let scan = median(|| assert_eq!(memchr::memchr_iter(b'\n', &bytes).count() as u64, session.records));
    let skip = median(|| {
        for line in &lines {
            black_box(serde_json::from_slice::<IgnoredAny>(line).unwrap());
        }
    });
    let typed = median(|| {
        for line in &lines {
            let line: TypedLine<'_> = serde_json::from_slice(line).unwrap();
            black_box((line.kind, line.uuid, line.timestamp, line.message.role, line.message.content));
        }
    });
    let parse = median(|| {
        for line in &lines {
            black_box(json::parse(std::str::from_utf8(line).unwrap()).is_ok());
        }
    });
    let decode = median(|| assert_eq!(decoded(&lines, true).tally.records(), session.records));
    let apply = median(|| {
        let mut transcript = Transcript::new();
        transcript.apply(decoded(&lines, true));
        assert_eq!(transcript.order().len() as u64, session.entries);
    });
    let rate = |time: Duration| format!("{:.2} GB/s", session.bytes as f64 / time.as_secs_f64() / 1e9);
    print("newline scan (memchr)", rate(scan), "yardstick");
    print("serde_json, all ignored", rate(skip), "yardstick");
    print("serde_json, typed", rate(typed), "yardstick");
    let share =
        |time: Duration| format!("{:.0} % of typed", typed.as_secs_f64() / time.as_secs_f64() * 100.0);
    print("records to JSON values", rate(parse), &share(parse));
    print("records to edits", rate(decode), &share(decode));
    print("records to a transcript, one thread", rate(apply), &share(apply));
}

fn decoded(lines: &[&[u8]], stubs_only: bool) -> Batch {
    let mut decoder = tv::formats::claude::Claude.decoder();
    let mut batch = Batch::default();
    batch.stubs_only = stubs_only;
    let mut at = 0;
    for (number, bytes) in lines.iter().enumerate() {
        let (len, line) = (u32::try_from(bytes.len()).unwrap(), u32::try_from(number + 1).unwrap());
        let origin = Origin { file: FileId(0), at, len, line };
        feed(&mut *decoder, Record { origin, bytes }, Place::Line, &mut batch);
        at += u64::from(len) + 1;
    }
    decoder.finish(&mut batch);
    batch
}

/// A session that is being followed.
struct Followed {
    feed: Receiver<Feed>,
    stop: Arc<AtomicBool>,
    started: Instant,
}

impl Followed {
    fn start(path: &Path) -> Self {
        let started = Instant::now();
        let target = Target { path: path.to_owned(), session: None };
        let session = ingest::open(&target).unwrap_or_else(|error| panic!("{error}"));
        let (send, feed) = bounded(64);
        let stop = Arc::new(AtomicBool::new(false));
        session.follow(send, WatchMode::Native, Arc::clone(&stop), Box::new(|| {}));
        Self { feed, stop, started }
    }

    fn next(&self) -> Feed {
        self.feed.recv_timeout(Duration::from_secs(60)).expect("the feed goes on")
    }

    /// Waits for everything; says when the last entry came and when the whole was known.
    fn read_whole(&self, last: &str) -> (Duration, Duration, u64) {
        let mut last_at = None;
        let mut transcript = Transcript::new();
        loop {
            match self.next() {
                Feed::Batch { stage, batch } => {
                    if last_at.is_none() && has_entry(&batch, last) {
                        last_at = Some(self.started.elapsed());
                    }
                    if stage == Stage::Whole {
                        transcript.apply(*batch);
                    }
                }
                Feed::CaughtUp => {
                    let whole_at = self.started.elapsed();
                    return (last_at.unwrap_or(whole_at), whole_at, transcript.order().len() as u64);
                }
                _ => {}
            }
        }
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn has_entry(batch: &Batch, mark: &str) -> bool {
    let is_it = |edit: &Edit| match edit {
        Edit::Entry(entry) => {
            entry.key.contains(mark) || entry.parent.as_ref().is_some_and(|p| p.contains(mark))
        }
        _ => false,
    };
    batch.edits.iter().rev().any(is_it)
}

/// From opening to the last entry, and to the whole.
pub(crate) fn opening(session: &Session) {
    let turns = session.records / 5;
    let last = format!("{:09}", turns - 1);
    let mut times: Vec<(Duration, Duration)> = (0..5)
        .map(|_| {
            let (last_at, whole_at, entries) = Followed::start(&session.path).read_whole(&last);
            assert_eq!(entries, session.entries);
            (last_at, whole_at)
        })
        .collect();
    times.sort();
    let (last_at, whole_at) = times[times.len() / 2];
    let rate = session.bytes as f64 / whole_at.as_secs_f64() / 1e9;
    print("open: last entry received", ms(last_at), "");
    print("open: whole session known", ms(whole_at), &format!("{rate:.2} GB/s"));
}

/// From writing a line to its batch.
pub(crate) fn appends(session: &Session) {
    const LINES: u64 = 50;
    let path = session.path.with_extension("live.jsonl");
    fs::copy(&session.path, &path).unwrap();
    let followed = Followed::start(&path);
    followed.read_whole("-");
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    let mut times = Vec::new();
    for n in 0..LINES {
        let prompt = format!(r#""type":"user","message":{{"role":"user","content":"Appended {n}"}}"#);
        let line = sessions::envelope(900_000_000 + n, 0, &prompt);
        let mark = format!("{:09}-0", 900_000_000 + n);
        std::thread::sleep(Duration::from_millis(20));
        let start = Instant::now();
        file.write_all(line.as_bytes()).unwrap();
        loop {
            if let Feed::Batch { batch, .. } = followed.next()
                && has_entry(&batch, &mark)
            {
                break;
            }
        }
        times.push(start.elapsed());
    }
    assert_eq!(times.len() as u64, LINES);
    times.sort();
    print("append: line written to batch, median", ms(times[times.len() / 2]), "");
    print("append: slowest", ms(times[times.len() - 1]), &format!("of {LINES}"));
    drop(followed);
    drop(fs::remove_file(path));
}

/// Laying out pages of 40 rows.
pub(crate) fn layout(session: &Session) {
    const PAGES: usize = 1000;
    const ROWS: usize = 40;
    let bytes = fs::read(&session.path).unwrap();
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let mut transcript = Transcript::new();
    transcript.apply(decoded(&lines, false));
    let (theme, colours) = (Theme::dark(), Colours::default());
    let look = Look { level: Level::Preview, ..Look::full(116, &theme, &colours) };
    let mut rows = 0;
    let mut laid_out = 0;
    let start = Instant::now();
    let entries: Vec<&Entry> = transcript.entries().collect();
    for entry in entries.into_iter().cycle() {
        if rows >= PAGES * ROWS {
            break;
        }
        let item = Item {
            entry,
            folds: &[],
            nodes: None,
            plans: &[],
            turn: None,
            spent: None,
            dim: false,
            lanes: &[],
            depth: 0,
            raw: None,
            only: None,
        };
        rows += tv::render::lay_out(&item, &look).len();
        laid_out += 1;
    }
    let time = start.elapsed();
    assert!(rows >= PAGES * ROWS);
    let pages = u32::try_from(PAGES).unwrap();
    print(
        "layout of 1000 pages of 40 rows",
        ms(time),
        &format!("{laid_out} entries, {:?} a page", time / pages),
    );
}
