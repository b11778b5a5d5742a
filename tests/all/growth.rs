//! The law of growth: a session that is followed while it grows record by record ends up equal to
//! the same session opened at its end. For appended lines, rewritten documents and rows of a
//! database, with every fixture of every format.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use regex::Regex;
use tempfile::TempDir;
use tv::ingest::{self, Target, WatchMode};
use tv::model::edit::Feed;
use tv::model::entry::Entry;
use tv::model::record::Origin;
use tv::model::transcript::Transcript;
use tv::source::document::split;

use crate::fixtures::{self, children, name};
use crate::follow::Followed;

/// These grow in another way.
const APART: [&str; 4] = [
    // Two sub-agents hold the same record: it is the one's whose file is found first.
    "claude-code/team.jsonl",
    // What a thread goes on from is there before it.
    "codex/rollout-2026-10-02T11-05-00-01a0fbd7-8280-7000-8000-0000000000a1_01a0fbdc-1660-7000-8000-0000000000a3.jsonl",
    // What is exported is written at once.
    "opencode/rows.jsonl",
    // A span and its attributes are, too.
    "otel-genai/agent-traces.sql",
];
/// A longer session grows by several records at once.
const STEPS: usize = 16;
/// Between two steps: some changes are seen by themselves, some together.
const PAUSE: Duration = Duration::from_millis(12);
/// What is not there then will not come.
const ENOUGH: Duration = Duration::from_secs(12);

/// Takes all steps while the session is followed, as soon as there is anything of it. Answers what is wrong then.
fn grow(place: &str, target: &Target, steps: usize, step: &mut dyn FnMut(usize)) -> Option<String> {
    let mut done = 0;
    let session = loop {
        match ingest::open(target) {
            Ok(session) => break session,
            Err(error) if done == steps => return Some(format!("{place} does not open: {error}")),
            Err(_) => step(done),
        }
        done += 1;
    };
    let mut followed = Followed::of(session, WatchMode::Native);
    followed.until("caught up", |followed| followed.is_caught_up);
    for number in done..steps {
        step(number);
        followed.hear(PAUSE);
    }
    let whole = fixtures::read(target).transcript;
    let start = Instant::now();
    while facts(&followed.whole) != facts(&whole) && start.elapsed() < ENOUGH {
        followed.hear(PAUSE);
    }
    let (grown, known) = (facts(&followed.whole), facts(&whole));
    followed.end();
    let (grown, known) = grown
        .iter()
        .zip(&known)
        .find(|(grown, known)| grown != known)?;
    Some(format!("{place}\n  grown: {grown}\n  whole: {known}"))
}

/// All that is seen of a session: not by which numbers files go, nor what of it is in memory. Whether a record was merged
/// depends on what came before it.
fn facts(transcript: &Transcript) -> Vec<String> {
    let mut transcript = transcript.clone();
    transcript.release(0, |_| false);
    let numbers = Regex::new(r"(FileId|Piece)\(\d+\)|@\d+:").unwrap();
    let mut entries: Vec<String> = transcript
        .entries()
        .map(|entry| Entry {
            revision: 0,
            origin: Origin::default(),
            records: Vec::new(),
            ..entry.clone()
        })
        .map(|entry| numbers.replace_all(&format!("{entry:?}"), "").into_owned())
        .collect();
    entries.sort();
    let (tally, count) = (transcript.tally(), entries.len());
    let sums = [
        format!(
            "{} records, {} faulty, {count} entries, {:?}",
            tally.records(),
            tally.faulty,
            tally.unknown.keys()
        ),
        format!("{:?}", transcript.totals().sum()),
        format!("{:?}", transcript.meta().title()),
    ];
    sums.into_iter().chain(entries).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for path in children(from) {
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(path, to).unwrap();
        }
    }
}

/// A copy of the folder that a fixture lies in, and the fixture there.
fn copied(path: &Path) -> (TempDir, Target) {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join(path.parent().unwrap().file_name().unwrap());
    copy(path.parent().unwrap(), &folder);
    let path = folder.join(path.file_name().unwrap());
    (
        dir,
        Target {
            path,
            session: None,
        },
    )
}

/// Checks all of these, some side by side, and says of all that are wrong what it is.
fn each(is_such: impl Fn(&Path) -> bool, check: impl Fn(&Path) -> Option<String> + Sync) {
    let check = &check;
    let mut paths = fixtures::all();
    paths.retain(|path| path.is_file() && is_such(path) && !APART.contains(&&*name(path)));
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let part = paths.len().div_ceil(6).max(1);
        let threads: Vec<_> = paths
            .chunks(part)
            .map(|part| {
                scope.spawn(move || {
                    part.iter()
                        .filter_map(|path| check(path))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        paths.len(),
        wrong.join("\n")
    );
}

fn ends(path: &Path, with: &str) -> bool {
    path.extension().is_some_and(|end| end == with)
}

fn is_lines(path: &Path) -> bool {
    !["json", "sql", "md"].iter().any(|other| ends(path, other))
}

/// Where to cut so many records into steps.
fn cuts(count: usize) -> Vec<usize> {
    let steps = count.min(STEPS);
    (1..=steps).map(|step| step * count / steps).collect()
}

#[test]
fn lines_that_are_appended_one_by_one() {
    each(is_lines, |path| {
        let (_dir, target) = copied(path);
        let bytes = fs::read(path).unwrap();
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let cuts = cuts(lines.len());
        fs::write(&target.path, lines.first()?).unwrap();
        let mut written = 1;
        grow(&name(path), &target, cuts.len(), &mut |step| {
            let mut file = OpenOptions::new().append(true).open(&target.path).unwrap();
            file.write_all(&lines[written..cuts[step].max(written)].concat())
                .unwrap();
            written = cuts[step].max(written);
        })
    });
}

#[test]
fn documents_that_are_written_again_with_more() {
    each(
        |path| ends(path, "json"),
        |path| {
            let (_dir, target) = copied(path);
            let bytes = fs::read(path).unwrap();
            let elements = split(&bytes)?.elements;
            let (first, last) = elements.first().zip(elements.last())?;
            let until = |count: usize| {
                let end = count
                    .checked_sub(1)
                    .map_or(first.start, |last| elements[last].end);
                [&bytes[..end], &bytes[last.end..]].concat()
            };
            fs::write(&target.path, until(0)).unwrap();
            let cuts = cuts(elements.len());
            grow(&name(path), &target, cuts.len(), &mut |step| {
                fs::write(&target.path, until(cuts[step])).unwrap();
            })
        },
    );
}

/// The files that belong to a session besides its own.
fn beside(target: &Target) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    fixtures::open(target).read_whole(true, &mut |feed| {
        if let Feed::File { path, .. } = feed {
            paths.push(path.to_path_buf());
        }
    });
    paths.retain(|path| *path != target.path && path.is_file());
    paths
}

/// Sub-agents, settings, summaries: they come after the session, line by line or at once.
#[test]
fn files_beside_that_come_later_and_grow() {
    each(
        |path| !ends(path, "sql"),
        |path| {
            let (_dir, target) = copied(path);
            let mut steps: Vec<(PathBuf, Vec<u8>)> = Vec::new();
            for path in beside(&target) {
                let bytes = fs::read(&path).unwrap();
                let is_lines = path.extension().is_some_and(|end| end == "jsonl");
                let lines: Vec<&[u8]> = bytes
                    .split_inclusive(|byte| is_lines && *byte == b'\n')
                    .collect();
                let mut from = 0;
                for cut in cuts(lines.len()) {
                    steps.push((path.clone(), lines[from..cut].concat()));
                    from = cut;
                }
                fs::remove_file(path).unwrap();
            }
            if steps.is_empty() {
                return None;
            }
            grow(&name(path), &target, steps.len(), &mut |step| {
                let (path, bytes) = &steps[step];
                OpenOptions::new()
                    .append(true)
                    .create(true)
                    .open(path)
                    .unwrap()
                    .write_all(bytes)
                    .unwrap();
            })
        },
    );
}

/// Rows of all tables in the order in which the fixture has them.
#[cfg(feature = "sqlite")]
#[test]
fn rows_that_are_written_one_by_one() {
    each(
        |path| ends(path, "sql"),
        |path| {
            let sql = fs::read_to_string(path).unwrap();
            let statements: Vec<&str> = sql.split_inclusive(";\n").collect();
            let begins =
                |statement: &&str| statement.lines().any(|line| line.starts_with("INSERT"));
            let tables = statements.iter().position(begins)?;
            let wrong = fixtures::targets(path).into_iter().filter_map(|known| {
                let dir = tempfile::tempdir().unwrap();
                let target = Target {
                    path: dir.path().join(known.path.file_name().unwrap()),
                    ..known
                };
                let writer = crate::databases::Writer::open(&target.path);
                writer.run(&statements[..tables].concat());
                let place = format!("{}#{:?}", name(path), target.session);
                grow(&place, &target, statements.len() - tables, &mut |step| {
                    writer.run(statements[tables + step]);
                })
            });
            let wrong: Vec<String> = wrong.collect();
            (!wrong.is_empty()).then(|| wrong.join("\n"))
        },
    );
}
