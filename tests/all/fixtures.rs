//! The fixtures and ways to read them: whole sessions through `ingest`, and the records of line
//! files one by one through a decoder.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use proptest::prelude::ProptestConfig;
use tv::formats::decoder::{Decoder, Format, RecordPlace, feed};
use tv::formats::registry;
use tv::ingest::{self, Pager, SessionSource, Target};
use tv::model::edit::{Batch, BatchMode, Feed, OpenedSession, Stage};
use tv::model::found::FoundSession;
use tv::model::record::{FileId, Origin, Record};
use tv::model::text::Text;
use tv::model::transcript::Transcript;

/// A session read through `ingest`.
pub(crate) struct ReadSession {
    pub(crate) opened: OpenedSession,
    pub(crate) batches: Vec<Batch>,
    pub(crate) transcript: Transcript,
    pub(crate) pager: Pager,
}

/// How long a test waits for another thread or another program before it gives up; on a machine that is busy with
/// other things, both may stand still for long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// The folder with the fixtures.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// All sessions among the fixtures: the files and folders in the formats' folders. A folder that is no
/// session by itself only keeps files together.
pub(crate) fn all() -> Vec<PathBuf> {
    // The lint has sessions of its own, one flaw in each; of what others write nothing is known but that it is theirs.
    let is_format = |folder: &PathBuf| {
        folder.is_dir()
            && !["lint", "lookalikes", "specs"]
                .iter()
                .any(|other| folder.ends_with(other))
    };
    let formats = children(&root()).into_iter().filter(is_format);
    let (folders, mut sessions): (Vec<PathBuf>, Vec<PathBuf>) = formats
        .flat_map(|folder| children(&folder))
        .filter(|path| is_session(path))
        .partition(|p| p.is_dir());
    for folder in folders {
        let target = Target {
            path: folder.clone(),
            session: None,
        };
        if ingest::sessions(&target).is_ok_and(|ids| !ids.is_empty()) {
            sessions.push(folder);
        } else {
            sessions.extend(
                children(&folder)
                    .into_iter()
                    .filter(|path| path.is_file() && is_session(path)),
            );
        }
    }
    sessions.sort();
    sessions
}

/// A session at a path of which nothing else is known.
pub(crate) fn session_at(path: &Path) -> FoundSession {
    let place = Target::at(path);
    FoundSession::new(
        place,
        "any",
        Text::from(&*path.file_stem().unwrap().to_string_lossy()),
    )
}

/// Fixtures that hold one JSON value a line.
pub(crate) fn line_files() -> Vec<PathBuf> {
    let is_lines = |path: &PathBuf| {
        let is_other = |e: &OsStr| {
            ["json", "traj", "sql", "md", "txt"]
                .iter()
                .any(|other| e == *other)
        };
        path.is_file() && path.extension().is_some_and(|e| !is_other(e))
    };
    all().into_iter().filter(is_lines).collect()
}

/// Whether a file is a journal: one JSON value a line, of a format whose definition has a `[journal]`.
pub(crate) fn is_journal(path: &Path, format: &str) -> bool {
    let definition = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("assets/formats")
        .join(format!("{format}.toml"));
    let has_journal = |text: String| text.lines().any(|line| line == "[journal]");
    path.extension()
        .is_some_and(|extension| extension == "jsonl")
        && fs::read_to_string(definition).is_ok_and(has_journal)
}

/// Inputs of a format that fuzzing found, one JSON value a line.
pub(crate) fn found(format: &dyn Format) -> Vec<PathBuf> {
    children(&found_in(format))
}

fn found_in(format: &dyn Format) -> PathBuf {
    root()
        .with_file_name("fuzz")
        .join("seeds")
        .join(format.name().replace('-', "_"))
}

/// Whether a fixture is the SQL of a database.
fn is_database(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "sql")
}

/// Whether a fixture is a session of its own, not a note or a companion of its neighbour.
fn is_session(path: &Path) -> bool {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let is_note = name == "ORIGIN.md" || name.starts_with('.');
    let is_companion = path.is_dir() && path.with_file_name(format!("{name}.jsonl")).exists();
    let is_manifest = name.strip_suffix(".json").is_some_and(|stem| {
        !stem.ends_with(".messages")
            && path
                .with_file_name(format!("{stem}.messages.json"))
                .exists()
    });
    let is_readable = !is_database(path) || cfg!(feature = "sqlite");
    // What is compressed is read as a pipe is: it has tests of its own.
    let is_packed = path
        .extension()
        .is_some_and(|extension| extension == "zst" || extension == "eval");
    !is_note && !is_companion && !is_manifest && !is_packed && is_readable
}

/// Names a fixture in messages of failed tests.
pub(crate) fn name(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string()
}

pub(crate) fn children(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The sessions in a fixture; mostly one.
pub(crate) fn targets(path: &Path) -> Vec<Target> {
    #[cfg(feature = "sqlite")]
    let path = &if is_database(path) {
        crate::databases::made_from(path)
    } else {
        path.to_owned()
    };
    #[cfg(not(feature = "sqlite"))]
    let path = &path.to_owned();
    let whole = Target {
        path: path.clone(),
        session: None,
    };
    if path.is_file() && path.extension().is_none_or(|extension| extension != "db") {
        return vec![whole];
    }
    let heads = ingest::sessions(&whole).unwrap_or_else(|error| panic!("{}: {error}", name(path)));
    heads
        .into_iter()
        .map(|head| Target {
            path: path.clone(),
            session: Some(head.id),
        })
        .collect()
}

/// Opens a session that must open.
pub(crate) fn open(target: &Target) -> SessionSource {
    ingest::open(target).unwrap_or_else(|error| panic!("{}: {error}", name(&target.path)))
}

/// Reads a session whole.
pub(crate) fn read(target: &Target) -> ReadSession {
    let session = open(target);
    let opened = session.opened.clone();
    let pager = session.pager();
    let mut batches = Vec::new();
    let mut is_whole = false;
    session.read_whole(false, &mut |message| match message {
        Feed::Batch {
            stage: Stage::Whole,
            batch,
        } => batches.push(*batch),
        Feed::CaughtUp => is_whole = true,
        Feed::Fault(what) => panic!("{}: {what}", name(&target.path)),
        _ => {}
    });
    assert!(
        is_whole,
        "{}: the feed must end with CaughtUp",
        name(&target.path)
    );
    let transcript = transcript_of(batches.clone());
    ReadSession {
        opened,
        batches,
        transcript,
        pager,
    }
}

/// A transcript of these batches.
pub(crate) fn transcript_of(batches: Vec<Batch>) -> Transcript {
    let mut transcript = Transcript::new();
    for batch in batches {
        transcript.apply(batch);
    }
    transcript.update_derived();
    transcript
}

/// The same batches, as they come when the whole session is read anew.
pub(crate) fn reread(mut batches: Vec<Batch>) -> Vec<Batch> {
    let last = batches.len().saturating_sub(1);
    for (n, batch) in batches.iter_mut().enumerate() {
        batch.mode = match (n == 0, n == last) {
            (true, true) => BatchMode::Replace,
            (true, false) => BatchMode::ReplaceStart,
            (false, false) => BatchMode::ReplaceMore,
            (false, true) => BatchMode::ReplaceEnd,
        };
    }
    batches
}

/// The lines of a fixture with their places, blank ones left out.
pub(crate) struct Lines {
    pub(crate) format: &'static dyn Format,
    bytes: Vec<u8>,
    origins: Vec<Origin>,
}

impl Lines {
    /// Reads a line file of the format that its folder is named after.
    pub(crate) fn of(path: &Path) -> Self {
        let is_its = |format: &&'static dyn Format| {
            path.starts_with(root().join(format.name())) || path.starts_with(found_in(*format))
        };
        let format = registry().find(is_its).unwrap();
        let bytes = fs::read(path).unwrap();
        let mut origins = Vec::new();
        let mut at = 0;
        for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let len = u32::try_from(line.len()).unwrap();
            if !line.trim_ascii().is_empty() {
                let line = u32::try_from(number + 1).unwrap();
                origins.push(Origin {
                    file: FileId(0),
                    at,
                    len,
                    line,
                });
            }
            at += u64::from(len) + 1;
        }
        Self {
            format,
            bytes,
            origins,
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.origins.len()
    }

    /// One of them.
    pub(crate) fn record(&self, n: usize) -> Record<'_> {
        let origin = self.origins[n];
        let start = usize::try_from(origin.at).unwrap();
        Record {
            origin,
            bytes: &self.bytes[start..start + origin.len as usize],
        }
    }

    /// All of them.
    pub(crate) fn records(&self) -> Vec<Record<'_>> {
        (0..self.count()).map(|n| self.record(n)).collect()
    }

    /// A place behind all of them.
    pub(crate) fn end(&self) -> Origin {
        let at = self.bytes.len() as u64 + 1;
        Origin {
            file: FileId(0),
            at,
            len: 0,
            line: u32::try_from(self.count() + 1).unwrap(),
        }
    }
}

/// Feeds records to a decoder as one reading.
pub(crate) fn decode(decoder: &mut dyn Decoder, records: &[Record<'_>], before: &Batch) -> Batch {
    let mut batch = Batch::default();
    batch.tally = before.tally.clone();
    for record in records {
        feed(decoder, *record, RecordPlace::Line, &mut batch);
    }
    decoder.finish(&mut batch);
    batch
}

/// How much of something is asked for by whoever runs the tests, in a variable of the environment.
#[expect(
    clippy::disallowed_methods,
    reason = "how long to look is said by whoever runs the test"
)]
pub(crate) fn asked(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

/// So many cases of a property, the same ones in every run: `.cargo/config.toml` holds their seed. Others are asked
/// for by `PROPTEST_RNG_SEED`, more of them by `CASES_TIMES`.
pub(crate) fn cases(count: u32) -> ProptestConfig {
    let times = asked("CASES_TIMES").map_or(1, |times| u32::try_from(times).unwrap());
    ProptestConfig {
        cases: count * times,
        ..ProptestConfig::default()
    }
}
