//! Measurements of single components, without the program around them.

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
use tv::app::update::Event;
use tv::formats::decoder::{RecordPlace, feed};
use tv::formats::json;
use tv::formats::named;
use tv::ingest::{self, Target, WatchMode};
use tv::model::body::Held;
use tv::model::edit::{Batch, Edit, Feed, Stage};
use tv::model::record::{FileId, Origin, Record};
use tv::model::transcript::Transcript;
use tv::session::search::hits_of;

use crate::sessions::{self, Emitter, FAR, LAST, Shape};
use crate::viewer::Viewer;
use crate::words::Words;

/// The yardstick for decoding: the fields that a reader needs of any format, parsed by hand-made types.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Typed<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, alias = "uuid")]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, alias = "ts", alias = "created_at", alias = "time")]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<TypedMessage<'a>>,
    #[serde(borrow, alias = "sender")]
    role: Option<Cow<'a, str>>,
    #[serde(borrow, alias = "text", alias = "event", alias = "state")]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct TypedMessage<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    content: &'a RawValue,
}

fn print(what: &str, value: String, note: &str) {
    println!("{what:<50}{value:>14}   {note}");
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

/// Decoding of each format, beside a newline scan and bare parsing of the same bytes.
pub(crate) fn formats(words: &Words) {
    println!(
        "\n| MB/s, one thread | newline scan | serde_json typed | JSON values | edits | edits ÷ typed |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for shape in Shape::ALL {
        let records = sessions::records(shape, 10_000_000, words);
        let bytes = records.join("\n");
        let rate = |time: Duration| bytes.len() as f64 / time.as_secs_f64() / 1e6;
        let scan = median(|| {
            assert_eq!(
                memchr::memchr_iter(b'\n', bytes.as_bytes()).count(),
                records.len() - 1
            );
        });
        let typed = median(|| {
            for record in &records {
                let record: Typed<'_> = serde_json::from_str(record).unwrap();
                let message = record
                    .message
                    .map(|message| (message.role, message.content));
                black_box((
                    record.kind,
                    record.id,
                    record.timestamp,
                    message,
                    record.role,
                    record.content,
                ));
            }
        });
        let values = median(|| {
            for record in &records {
                black_box(json::parse(record).is_ok());
            }
        });
        let edits = median(|| {
            let tally = &decoded(shape, &records, true).tally;
            assert_eq!(
                (tally.records(), tally.faulty),
                (records.len() as u64, 0),
                "{}",
                shape.name()
            );
        });
        println!(
            "| `{}` | {:.0} | {:.0} | {:.0} | {:.0} | {:.2} |",
            shape.name(),
            rate(scan),
            rate(typed),
            rate(values),
            rate(edits),
            typed.as_secs_f64() / edits.as_secs_f64(),
        );
    }
    println!();
}

fn decoded(shape: Shape, records: &[String], stubs_only: bool) -> Batch {
    let format = named(shape.name()).unwrap();
    let mut decoder = format.decoder(None);
    let mut batch = Batch::default();
    batch.stubs_only = stubs_only;
    let mut at = 0;
    for (number, record) in records.iter().enumerate() {
        let (len, line) = (
            u32::try_from(record.len()).unwrap(),
            u32::try_from(number + 1).unwrap(),
        );
        let origin = Origin {
            file: FileId(0),
            at,
            len,
            line,
        };
        let place = match shape {
            Shape::Cline => RecordPlace::Element,
            Shape::Opencode if record.contains(r#""messageID":""#) => RecordPlace::Row("part"),
            Shape::Opencode => RecordPlace::Row("message"),
            _ => RecordPlace::Line,
        };
        feed(
            &mut *decoder,
            Record {
                origin,
                bytes: record.as_bytes(),
            },
            place,
            &mut batch,
        );
        at += u64::from(len) + 1;
    }
    decoder.finish(&mut batch);
    batch
}

/// Skipping, and taking edits in.
pub(crate) fn apply(words: &Words) {
    let records = sessions::records(Shape::Claude, 10_000_000, words);
    let bytes: usize = records.iter().map(|record| record.len() + 1).sum();
    let rate = |time: Duration| format!("{:.2} GB/s", bytes as f64 / time.as_secs_f64() / 1e9);
    let skip = median(|| {
        for record in &records {
            black_box(serde_json::from_str::<IgnoredAny>(record).unwrap());
        }
    });
    print("serde_json, all ignored (yardstick)", rate(skip), "");
    let mut batches: Vec<Batch> = (0..5)
        .map(|_| decoded(Shape::Claude, &records, true))
        .collect();
    let edits = batches[0].edits.len();
    let mut entries = 0;
    let apply = median(|| {
        let mut transcript = Transcript::new();
        transcript.apply(batches.pop().unwrap());
        entries = transcript.order().len();
        black_box(transcript);
    });
    print(
        "apply: edits to a transcript",
        ms(apply),
        &format!("{edits} edits, {entries} entries"),
    );
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
        let target = Target {
            path: path.to_owned(),
            session: None,
        };
        let session = ingest::open(&target).unwrap_or_else(|error| panic!("{error}"));
        let (send, feed) = bounded(64);
        let stop = Arc::new(AtomicBool::new(false));
        session.follow(send, WatchMode::Native, Arc::clone(&stop), Box::new(|| {}));
        Self {
            feed,
            stop,
            started,
        }
    }

    fn next(&self) -> Feed {
        self.feed
            .recv_timeout(Duration::from_secs(60))
            .expect("the feed goes on")
    }

    /// Waits for everything; says when the last entry came and when the whole was known.
    fn read_whole(&self) -> (Duration, Duration) {
        let mut last_at = None;
        let mut transcript = Transcript::new();
        loop {
            match self.next() {
                Feed::Batch { stage, batch } => {
                    if last_at.is_none() && has_entry(&batch, LAST) {
                        last_at = Some(self.started.elapsed());
                    }
                    if stage == Stage::Whole {
                        transcript.apply(*batch);
                    }
                }
                Feed::CaughtUp => {
                    let whole_at = self.started.elapsed();
                    assert!(!transcript.order().is_empty());
                    return (last_at.unwrap_or(whole_at), whole_at);
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
            let mut bodies = entry.blocks.iter().flat_map(|block| block.kind.bodies());
            bodies.any(|body| body.stub.contains(mark))
        }
        _ => false,
    };
    batch.edits.iter().rev().any(is_it)
}

/// From opening to the last entry, and to the whole.
pub(crate) fn opening(path: &Path) {
    let mut times: Vec<(Duration, Duration)> =
        (0..5).map(|_| Followed::start(path).read_whole()).collect();
    times.sort();
    let (last_at, whole_at) = times[times.len() / 2];
    let rate = fs::metadata(path).unwrap().len() as f64 / whole_at.as_secs_f64() / 1e9;
    print("open: last entry received", ms(last_at), "");
    print(
        "open: whole session known",
        ms(whole_at),
        &format!("{rate:.2} GB/s"),
    );
}

/// From the bytes of a line on disk to the cells of the frame that shows it.
pub(crate) fn appends(path: &Path, words: &Words) {
    const LINES: usize = 50;
    let live = path.with_extension("live.jsonl");
    fs::copy(path, &live).unwrap();
    let followed = Followed::start(&live);
    let mut viewer = Viewer::open(&live, (120, 40), false);
    loop {
        let feed = followed.next();
        let is_done = matches!(feed, Feed::CaughtUp);
        viewer.feed(feed);
        if is_done {
            break;
        }
    }
    viewer.frame();
    let mut file = OpenOptions::new().append(true).open(&live).unwrap();
    let mut teller = Emitter::new(Shape::Claude, words);
    let mut times = Vec::new();
    for number in 0..LINES {
        let mark = format!("APPENDED-{number:05}");
        let line = teller.answer(&mark) + "\n";
        std::thread::sleep(Duration::from_millis(20));
        let start = Instant::now();
        file.write_all(line.as_bytes()).unwrap();
        loop {
            let feed = followed.next();
            let is_it = matches!(&feed, Feed::Batch { batch, .. } if has_entry(batch, &mark));
            viewer.feed(feed);
            if is_it {
                break;
            }
        }
        viewer.frame();
        times.push(start.elapsed());
    }
    times.sort();
    print(
        "append: bytes written to frame, median",
        ms(times[times.len() / 2]),
        "",
    );
    print(
        "append: slowest",
        ms(times[times.len() - 1]),
        &format!("of {LINES}"),
    );
    drop(followed);
    drop(fs::remove_file(live));
}

/// Frames of 200 columns and 60 lines: a key, the rows for it, the cells.
pub(crate) fn frames(path: &Path) {
    const FRAMES: usize = 200;
    let mut viewer = Viewer::open(path, (200, 60), true);
    viewer.frame();
    for (place, there, key) in [
        ("at the end, line by line", "G", "ctrl-y"),
        ("in the middle, line by line", ": 5 0 % enter", "ctrl-e"),
        ("in the middle, page by page", ": 5 0 % enter", "space"),
        ("at the start, item by item", "g", "j"),
        ("nothing changes", "g", "x"),
    ] {
        viewer.press(there);
        viewer.frame();
        viewer.app.reader.text.cache.laid_out = 0;
        let mut times: Vec<Duration> = (0..FRAMES)
            .map(|_| {
                let start = Instant::now();
                viewer.press(key);
                viewer.frame();
                start.elapsed()
            })
            .collect();
        times.sort();
        let laid_out = viewer.app.reader.text.cache.laid_out as f64 / FRAMES as f64;
        let note = format!(
            "p99 {}, {laid_out:.2} entries laid out",
            ms(times[FRAMES * 99 / 100])
        );
        print(
            &format!("frame 200x60 {place}, p50"),
            ms(times[FRAMES / 2]),
            &note,
        );
    }
}

/// The whole session searched by one thread, its texts read from the disk.
pub(crate) fn search(path: &Path) {
    let mut viewer = Viewer::open(path, (120, 40), true);
    viewer.frame();
    let bytes = fs::metadata(path).unwrap().len() as f64;
    for (what, typed) in [("literal", FAR), ("regex", r"spring\s+tide|cor[a-z]+ant")] {
        viewer.press("esc /");
        let keys: Vec<String> = typed
            .chars()
            .map(|c| {
                if c == ' ' {
                    "space".into()
                } else {
                    c.to_string()
                }
            })
            .collect();
        viewer.press(&keys.join(" "));
        let start = Instant::now();
        let mut first = None;
        let mut found = 0;
        while let Some(job) = viewer.searches.pop_front() {
            let is_worth = |record: &[u8]| job.prefilter.may_be_in(record);
            let mut known: Option<(Origin, Vec<Held>)> = None;
            let mut read = |origin: Origin, slot: u16| {
                if known.as_ref().is_none_or(|(at, _)| *at != origin) {
                    known = Some((origin, viewer.pager.read_next(origin, &is_worth)));
                }
                known.as_ref()?.1.get(usize::from(slot)).cloned()
            };
            let mut hits = Vec::new();
            for (entry, blocks) in &job.entries {
                hits.extend(hits_of(
                    &job.pattern,
                    job.scope,
                    (*entry, blocks),
                    &mut read,
                ));
            }
            viewer.pager.free_window();
            found += hits.len();
            if found > 0 {
                first.get_or_insert_with(|| start.elapsed());
            }
            let (generation, number) = (job.generation, job.number);
            viewer.happen(Event::Searched {
                generation,
                number,
                hits,
            });
        }
        let time = start.elapsed();
        assert!(found > 0, "{typed} stands in a prompt");
        let rate = bytes / time.as_secs_f64() / 1e9;
        let first = ms(first.unwrap_or(time));
        print(
            &format!("search: {what}"),
            ms(time),
            &format!("{rate:.2} GB/s, {found} blocks, first after {first}"),
        );
    }
}
