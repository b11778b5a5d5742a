//! The sessions that laws are checked over: the invented ones in every run, and real ones where
//! they are available.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tv::formats::decoder::{Decoder, Format, RecordPlace, feed};

use tv::formats::probe::Probe;

use tv::formats::json::{self, Json};
use tv::formats::roots::{FileRole, Pattern};
use tv::formats::{DetectMode, Detection, detect, named};
use tv::model::body::Body;
use tv::model::edit::{Batch, Edit, saturating_u32};
use tv::model::entry::{Block, BlockKind, Piece, Role, StrayResult};
use tv::model::record::{FileId, Origin, Record, Shape};
use tv::model::tool::ToolState;
use tv::model::transcript::Transcript;

use crate::fixtures;

/// A folder with sessions, in a folder for each format.
pub(crate) struct Corpus {
    pub(crate) folder: PathBuf,
    is_real: bool,
    /// Whether it is large enough that a law must have found much in it.
    is_large: bool,
}

/// Ours, and then the real ones beside the crate or beside its worktree, if they are there.
pub(crate) fn corpora() -> Vec<Corpus> {
    let ours = Corpus {
        folder: fixtures::root(),
        is_real: false,
        is_large: true,
    };
    std::iter::once(ours)
        .chain(real())
        .chain(recent())
        .collect()
}

/// The real corpus.
pub(crate) fn real() -> Option<Corpus> {
    beside("corpus").map(|folder| Corpus {
        folder,
        is_real: true,
        is_large: true,
    })
}

/// What agents wrote in the second half of 2026: a hundred files of which some kinds are not among.
fn recent() -> Option<Corpus> {
    beside("corpus-2026-11").map(|folder| Corpus {
        folder,
        is_real: true,
        is_large: false,
    })
}

/// A folder or a file that is shared by all clones of the crate and no part of it: nothing depends on it, so who runs
/// the tests without it is named once.
pub(crate) fn beside(name: &str) -> Option<PathBuf> {
    static NAMED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = home
        .ancestors()
        .skip(1)
        .map(|above| above.join("shared").join(name))
        .find(|path| path.exists());
    if found.is_none() && NAMED.lock().unwrap().insert(name.to_owned()) {
        // What is printed by `println` is kept from the terminal as long as a test passes.
        let mut terminal = std::io::stderr();
        let _ = writeln!(
            terminal,
            "no shared/{name} above {}: fixtures alone are tested",
            home.display()
        );
    }
    found
}

impl Corpus {
    /// How much a law must have looked at, so that it cannot hold by looking at nothing.
    pub(crate) fn least(&self, ours: usize, real: usize) -> usize {
        match (self.is_real, self.is_large) {
            (false, _) => ours,
            (true, true) => real,
            (true, false) => 0,
        }
    }

    /// Whether these are our own sessions.
    pub(crate) fn is_ours(&self) -> bool {
        !self.is_real
    }

    /// All files, in the order of their names; those that databases are made of as these databases.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.below("")
    }

    /// The files of these formats.
    pub(crate) fn of(&self, formats: &[&str]) -> Vec<PathBuf> {
        formats
            .iter()
            .flat_map(|format| self.below(format))
            .collect()
    }

    fn below(&self, name: &str) -> Vec<PathBuf> {
        let is_sql =
            |path: &PathBuf| !self.is_real && path.extension().is_some_and(|end| end == "sql");
        let found = files(&self.folder.join(name)).into_iter();
        let found = found.filter(|path| self.is_real || !path.ends_with("ORIGIN.md"));
        #[cfg(feature = "sqlite")]
        let found = found.map(|path| {
            if is_sql(&path) {
                crate::databases::made_from(&path)
            } else {
                path
            }
        });
        #[cfg(not(feature = "sqlite"))]
        let found = found.filter(|path| !is_sql(path));
        found.collect()
    }
}

#[expect(clippy::print_stdout, reason = "figures are for who runs the test")]
pub(crate) fn say(what: &str) {
    println!("{what}");
}

/// All files under a folder, in the order of their names.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
        {
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Files that match a pattern with `*` in its components.
pub(crate) fn matching(pattern: &Pattern) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in pattern.0.components() {
        let part = part.as_os_str().to_string_lossy().into_owned();
        found = found
            .into_iter()
            .flat_map(|folder| children(&folder, &part))
            .collect();
    }
    found
}

fn children(folder: &Path, part: &str) -> Vec<PathBuf> {
    let Some((head, tail)) = part.split_once('*') else {
        let path = folder.join(part);
        return if path.exists() {
            vec![path]
        } else {
            Vec::new()
        };
    };
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let fits = |name: &String| {
        name.len() >= part.len() - 1 && name.starts_with(head) && name.ends_with(tail)
    };
    let mut found: Vec<PathBuf> = names.filter(fits).map(|name| folder.join(name)).collect();
    found.sort();
    found
}

/// A file cut into what a probe shows and a decoder reads.
pub(crate) struct Cut<'t> {
    text: &'t str,
    lines: Vec<Json<'t>>,
    header: Option<Json<'t>>,
    elements: Vec<Json<'t>>,
}

impl<'t> Cut<'t> {
    /// Cuts a file's text.
    pub(crate) fn new(text: &'t str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        let objects = text
            .lines()
            .filter_map(|line| json::parse(line.trim()).ok())
            .filter(Json::is_object);
        let lines = objects.take(50).collect();
        let (header, elements) = match json::parse(text.trim()) {
            Ok(Json::Array(items)) => (None, items),
            Ok(Json::Object(mut members)) => {
                let size = |value: &Json<'_>| match value {
                    Json::Array(items) if items.iter().all(Json::is_object) => items.len(),
                    _ => 0,
                };
                let longest = members.iter_mut().max_by_key(|(_, value)| size(value));
                let elements = longest
                    .filter(|(_, value)| size(value) > 0)
                    .map(|(_, value)| {
                        let Json::Array(items) = std::mem::replace(value, Json::Array(Vec::new()))
                        else {
                            return Vec::new();
                        };
                        items
                    });
                (Some(Json::Object(members)), elements.unwrap_or_default())
            }
            _ => (None, Vec::new()),
        };
        Self {
            text,
            lines,
            header,
            elements,
        }
    }

    /// Finds the format.
    pub(crate) fn detect(&self, path: &Path) -> Detection {
        let is_one_line = self.text.trim().lines().count() <= 1;
        let probe = Probe {
            path,
            text: None,
            children: &[],
            lines: &self.lines,
            header: self.header.as_ref(),
            elements: self
                .elements
                .get(..self.elements.len().min(50))
                .unwrap_or_default(),
            is_document: !self.elements.is_empty() || (self.header.is_some() && !is_one_line),
            is_whole: true,
        };
        detect(&probe, DetectMode::All)
    }

    /// Its records, with their numbers as offsets.
    pub(crate) fn records(&self, shape: Shape) -> Vec<(Origin, String, RecordPlace<'static>)> {
        let mut records = Vec::new();
        if shape == Shape::Document {
            records.extend(
                self.header
                    .iter()
                    .map(|header| (header.to_source(), RecordPlace::Header)),
            );
            records.extend(
                self.elements
                    .iter()
                    .map(|element| (element.to_source(), RecordPlace::Element)),
            );
        } else {
            records.extend(
                self.text
                    .lines()
                    .map(|line| (line.to_owned(), RecordPlace::Line)),
            );
        }
        let origin = |at, len| Origin {
            file: FileId(0),
            at,
            len: saturating_u32(len),
            line: 0,
        };
        (0..)
            .zip(records)
            .map(|(at, (text, place))| (origin(at, text.len()), text, place))
            .collect()
    }

    /// Feeds all records to a decoder.
    pub(crate) fn feed(&self, shape: Shape, decoder: &mut dyn Decoder, out: &mut Batch) {
        for (origin, text, place) in self.records(shape) {
            feed(
                decoder,
                Record {
                    origin,
                    bytes: text.as_bytes(),
                },
                place,
                out,
            );
        }
        decoder.finish(out);
    }
}

/// The transcript of a batch.
pub(crate) fn transcript(batch: Batch) -> Transcript {
    let mut transcript = Transcript::new();
    transcript.apply(batch);
    transcript.update_derived();
    transcript
}

/// Reads a session of a folder, with the files that its records ask for.
pub(crate) fn read_folder(format: &dyn Format, path: &Path, session: &str) -> Transcript {
    let mut decoder = format.decoder(None);
    let mut out = Batch::default();
    let mut seen = Vec::new();
    let mut patterns = format.files(path, FileRole::Part(session));
    while !patterns.is_empty() {
        for file in patterns.iter().flat_map(matching) {
            if seen.contains(&file) {
                continue;
            }
            let Ok(bytes) = fs::read(&file) else { continue };
            let origin = Origin {
                file: FileId(saturating_u32(seen.len())),
                at: 0,
                len: saturating_u32(bytes.len()),
                line: 0,
            };
            feed(
                &mut *decoder,
                Record {
                    origin,
                    bytes: &bytes,
                },
                RecordPlace::File(&file),
                &mut out,
            );
            seen.push(file);
        }
        let wanted = std::mem::take(&mut out.requested_files);
        patterns = wanted
            .iter()
            .flat_map(|wanted| format.files(path, FileRole::Requested(wanted)))
            .collect();
    }
    decoder.finish(&mut out);
    transcript(out)
}

/// Entries of users, of assistants and of the harness, calls, results, failures, stray results, images,
/// thoughts.
fn entry_figures(transcript: &Transcript) -> [u32; 9] {
    let mut counts = [0; 9];
    for entry in transcript.entries() {
        counts[0] += u32::from(entry.role == Role::User);
        counts[1] += u32::from(entry.role == Role::Assistant);
        counts[2] += u32::from(entry.role == Role::Harness);
        for block in &entry.blocks {
            match &block.kind {
                BlockKind::Call(call) => {
                    counts[3] += 1;
                    counts[4] += u32::from(call.state.result().is_some());
                    let failed = matches!(
                        call.state,
                        ToolState::Failed(_) | ToolState::Refused(_) | ToolState::Stopped(_)
                    );
                    counts[5] += u32::from(failed);
                }
                BlockKind::Result(_) => counts[6] += 1,
                BlockKind::Image(_) => counts[7] += 1,
                BlockKind::Thinking(_) => counts[8] += 1,
                _ => {}
            }
        }
    }
    counts
}

/// The figures of a transcript on one line.
fn figures(transcript: &Transcript) -> String {
    let [
        user,
        assistant,
        harness,
        calls,
        results,
        failed,
        strays,
        images,
        thinking,
    ] = entry_figures(transcript);
    let tally = transcript.tally();
    let [mut input, mut output, mut read, mut write, mut requests] = [0; 5];
    let mut cost = 0.0;
    for usage in transcript
        .entries()
        .filter_map(|entry| entry.usage.as_deref())
    {
        input += usage.input.unwrap_or(0);
        output += usage.output.unwrap_or(0);
        read += usage.cache_read.unwrap_or(0);
        write += usage.cache_write.unwrap_or(0);
        requests += u64::from(usage.total() > 0);
        cost += usage.cost.unwrap_or(0.0);
    }
    format!(
        "records {} = {}+{}+{}+{} user {user} assistant {assistant} harness {harness} calls {calls} results \
         {results} failed {failed} strays {strays} images {images} thinking {thinking} turns {} input {input} \
         output {output} read {read} write {write} requests {requests} cost {cost:.6} unknown {:?}",
        tally.records(),
        tally.shown,
        tally.merged,
        tally.passed,
        tally.faulty,
        transcript.turns().len(),
        tally.unknown.keys().collect::<Vec<_>>(),
    )
}

#[test]
fn every_record_of_a_corpus_is_accounted_for() {
    for corpus in corpora() {
        let mut seen = 0;
        for path in corpus.of(&["cline", "opencode", "roo-code", "lookalikes"]) {
            let is_in_tree = path.components().any(|part| part.as_os_str() == "storage");
            let Ok(text) = fs::read_to_string(&path) else {
                continue;
            };
            if is_in_tree {
                continue;
            }
            let cut = Cut::new(&text);
            let found = cut.detect(&path);
            let mut decoder = found.format.decoder(None);
            let mut out = Batch::default();
            cut.feed(found.verdict.shape, &mut *decoder, &mut out);
            let transcript = transcript(out);
            assert_eq!(transcript.tally().faulty, 0, "{}", path.display());
            println!(
                "{} [{}] {}",
                path.display(),
                found.format.name(),
                figures(&transcript)
            );
            seen += 1;
        }
        assert!(seen >= corpus.least(20, 50), "{seen}");
    }
}

#[test]
fn storage_folders_give_the_same_as_their_event_streams() {
    let Some(Corpus { folder: corpus, .. }) = real() else {
        return;
    };
    let opencode = named("opencode").unwrap();
    let trees = fs::read_dir(corpus.join("opencode/derived_storage_tree_from_events")).unwrap();
    let mut compared = 0;
    for tree in trees.flatten().map(|entry| entry.path()) {
        let name = tree.file_name().unwrap().to_string_lossy().into_owned();
        let stream = corpus.join(format!(
            "opencode/sudo-tee__opencode.nvim__events_{name}.json"
        ));
        let Ok(text) = fs::read_to_string(&stream) else {
            continue;
        };
        let mut decoder = opencode.decoder(None);
        let mut out = Batch::default();
        Cut::new(&text).feed(Shape::Document, &mut *decoder, &mut out);
        let stored = entry_figures(&transcript(out));
        let sessions = opencode.files(&tree, FileRole::Session);
        let sessions = sessions.iter().flat_map(matching).filter_map(|file| {
            let session = file.file_stem()?.to_str()?.to_owned();
            let transcript = read_folder(opencode, &tree, &session);
            println!("{}#{session} {}", tree.display(), figures(&transcript));
            Some(entry_figures(&transcript))
        });
        let sessions: Vec<_> = sessions.collect();
        assert!(
            sessions.is_empty() || sessions.contains(&stored),
            "{name}: {stored:?} and {sessions:?}"
        );
        compared += usize::from(!sessions.is_empty());
    }
    assert!(compared > 0);
}

/// The bodies that an edit brings.
fn bodies(edit: Edit) -> Vec<Body> {
    let mut blocks = match edit {
        Edit::Entry(entry) => entry.blocks,
        Edit::Result { call, result, .. } => {
            let stray = StrayResult {
                call,
                result: *result,
                duplicate: false,
            };
            vec![Block::new(
                Piece::default(),
                BlockKind::Result(Box::new(stray)),
            )]
        }
        _ => Vec::new(),
    };
    blocks
        .iter_mut()
        .flat_map(|block| block.kind.bodies_mut())
        .map(|body| body.clone())
        .collect()
}

#[test]
fn bodies_come_again_from_their_records_alone() {
    for path in corpora()
        .iter()
        .flat_map(|corpus| corpus.of(&["cline", "opencode", "roo-code"]))
    {
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let cut = Cut::new(&text);
        let found = cut.detect(&path);
        let mut decoder = found.format.decoder(None);
        let mut out = Batch::default();
        cut.feed(found.verdict.shape, &mut *decoder, &mut out);
        let whole: Vec<Body> = out.edits.into_iter().flat_map(bodies).collect();
        for (origin, text, place) in cut.records(found.verdict.shape) {
            let mut decoder = found.format.decoder(None);
            let mut out = Batch::default();
            feed(
                &mut *decoder,
                Record {
                    origin,
                    bytes: text.as_bytes(),
                },
                place,
                &mut out,
            );
            decoder.finish(&mut out);
            let alone: Vec<Body> = out.edits.into_iter().flat_map(bodies).collect();
            for body in whole.iter().filter(|body| body.from.at == origin.at) {
                let same = alone
                    .iter()
                    .any(|other| other.slot == body.slot && other == body);
                assert!(
                    same,
                    "{} record {} slot {}",
                    path.display(),
                    origin.at,
                    body.slot
                );
            }
        }
    }
}
