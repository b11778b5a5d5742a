//! Collects what the sessions of all agents did to one file. Sessions that do not name it are
//! rejected by their bytes, and not decoded.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::memmem::Finder;

use super::BlameOptions;
use crate::analysis::derived::Memo;
use crate::analysis::expression::When;
use crate::analysis::files::steps::FileStep;
use crate::analysis::files::{Files, paths};
use crate::analysis::search::literal_prefilter::LiteralPrefilter;
use crate::ingest::find::{self, FactReader, Listings, Looked, Unread};
use crate::ingest::sift::{LineSieve, Sifted};
use crate::ingest::{self, cannot_open, fs};
use crate::model::entry::BlockKind;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;
use crate::report::history::{Texts, steps};
use crate::report::outcome::Missed;
use crate::report::outcome::ReadFailure;
use crate::report::reading::Reading;
use crate::report::sessions::walk::walk;

/// A call that changed or showed the file.
#[derive(Clone, Debug)]
pub(super) struct FileCall {
    /// Number of the path that it names it by.
    pub(super) place: usize,
    pub(super) at: Timestamp,
    pub(super) step: FileStep,
    pub(super) call: Arc<Call>,
}

/// Where a step was made.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) format: &'static str,
    /// The id of the session.
    pub(super) session: Option<String>,
    pub(super) path: String,
    /// The argument that opens the session at the call.
    pub(super) address: String,
    pub(super) key: String,
    pub(super) id: Option<String>,
    pub(super) tool: Name,
    pub(super) lane: Option<Name>,
    pub(super) turn: Option<usize>,
    pub(super) prompt: Option<String>,
    pub(super) model: Option<Name>,
}

/// A message from a reading thread.
enum Message {
    Events(Vec<FileCall>),
    Failure(ReadFailure),
}

/// The paths that are meant, the file's own first.
pub(super) struct WantedPaths {
    /// Each as it is written, and without links.
    all: Vec<(String, PathBuf)>,
    name: String,
}

impl WantedPaths {
    pub(super) fn of(own: &Path, others: impl Iterator<Item = PathBuf>) -> Self {
        let place = |path: PathBuf| {
            let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
            (path.to_string_lossy().into_owned(), real)
        };
        let name = own
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let own = place(own.to_owned());
        let mut all = vec![own];
        for other in others.map(place) {
            if all.iter().all(|(_, real)| *real != other.1) {
                all.push(other);
            }
        }
        Self {
            all,
            name: name.unwrap_or_default(),
        }
    }

    /// The number of the place that a path of a session names.
    fn number(&self, path: &str, root: Option<&str>) -> Option<usize> {
        let whole = if path.starts_with('/') {
            path.to_owned()
        } else {
            paths::normal(&format!("{}/{path}", root?.trim_end_matches('/')), None)
        };
        if !whole.ends_with(&self.name) {
            return None;
        }
        let known = self.all.iter().position(|(written, _)| *written == whole);
        known.or_else(|| {
            let whole = Path::new(&whole);
            let folder = fs::canonicalize(whole.parent()?).ok()?;
            let real = folder.join(whole.file_name()?);
            self.all.iter().position(|(_, known)| *known == real)
        })
    }

    /// Which lines of a session may name the file.
    fn sieve(&self) -> impl Fn(&[u8]) -> Vec<std::ops::Range<usize>> + Sync + use<> {
        let words = LiteralPrefilter::of(&self.name, true, false);
        let name = Finder::new(self.name.as_bytes()).into_owned();
        let folders: Vec<Vec<u8>> = self
            .all
            .iter()
            .filter_map(|(path, _)| Path::new(path).parent()?.file_name()?.to_str())
            .map(|folder| folder.as_bytes().to_vec())
            .chain([b".".to_vec(), b"..".to_vec()])
            .collect();
        let is_plain = self.name.is_ascii();
        // Many files are called the same: one that stands in another folder is not meant.
        let is_meant = move |line: &[u8]| {
            !is_plain
                || name.find_iter(line).any(|at| {
                    let before = line.get(..at).unwrap_or_default();
                    let Some(above) = before.strip_suffix(b"/") else {
                        return true;
                    };
                    let above = above.strip_suffix(b"\\").unwrap_or(above);
                    folders.iter().any(|folder| above.ends_with(folder))
                })
        };
        move |text: &[u8]| {
            let mut lines = words.lines_in(text);
            lines.retain(|line| text.get(line.clone()).is_some_and(&is_meant));
            lines
        }
    }
}

/// The events of all sessions, in order of time.
pub(super) fn collect(
    options: &BlameOptions,
    places: &WantedPaths,
    now: Timestamp,
    missed: &mut Missed,
) -> Vec<FileCall> {
    let Looked {
        mut sessions,
        unreadable,
        refused,
        listings,
    } = find::unread(&options.search);
    missed.refused.extend(refused);
    missed.unreadable.extend(unreadable);
    let since = When::option(options.since, now);
    sessions.retain(|session| since.is_none_or(|since| session.is_since(since)));
    let sessions = find::with_sub_agents(sessions);
    let sieve = places.sieve();
    let mut events: Vec<FileCall> = Vec::new();
    let mut known = HashSet::new();
    let end = walk(
        &sessions,
        Unread::path,
        || FactReader::new(now),
        |reader, session, say| read(options, places, &sieve, (reader, &listings, session), say),
        |message| {
            match message {
                // A fork has the calls of the session that it was made from, too.
                Message::Events(new) => events.extend(new.into_iter().filter(|event| {
                    let call = &event.call;
                    let name = call.id.clone().unwrap_or_else(|| call.key.clone());
                    let is_before = matches!(event.step, FileStep::Before(_));
                    known.insert((name, event.at, event.place, is_before))
                })),
                Message::Failure(failure) => missed.push(failure),
            }
            Ok::<(), ()>(())
        },
    );
    debug_assert!(end.is_ok(), "nothing ends it");
    events.sort_by_key(|event| event.at);
    events
}

fn read(
    options: &BlameOptions,
    places: &WantedPaths,
    sieve: LineSieve<'_>,
    (reader, listings, unread): (&mut FactReader, &Listings, &Unread),
    say: &mut dyn FnMut(Message) -> bool,
) {
    let search = &options.search;
    let mut failed = |why| {
        say(Message::Failure(ReadFailure::of(unread, search, why)));
    };
    match unread.search(listings, sieve) {
        Ok(Sifted::Nothing | Sifted::NotRecords) => return,
        Ok(Sifted::Whole(_) | Sifted::Lines(_)) => {}
        Err(error) => return failed(cannot_open(unread.path(), &error)),
    }
    let found = reader.found(unread);
    let Some(found) = found.filter(|found| search.matches(found)) else {
        return;
    };
    if found.unreadable.is_some() {
        say(Message::Failure(ReadFailure::CameBy(Box::new(found))));
        return;
    }
    let session = match ingest::open(&unread.target()) {
        Ok(session) => session,
        Err(failure) => return failed(failure),
    };
    let mut reading = Reading::whole(&unread.target(), session);
    if let Some(failure) = reading.failure() {
        failed(failure);
    }
    let events = events_of(&mut reading, places, found.format);
    if !events.is_empty() {
        say(Message::Events(events));
    }
}

fn events_of(reading: &mut Reading, places: &WantedPaths, format: &'static str) -> Vec<FileCall> {
    let files = Memo::<Files>::of(&reading.transcript);
    let root = reading.transcript.meta().root.clone();
    let meant: Vec<_> = files
        .all()
        .filter_map(|(path, file)| Some((places.number(path, root.as_deref())?, path, file)))
        .collect();
    let fields = reading.fields();
    let address = reading.address();
    let mut events = Vec::new();
    for (place, path, file) in meant {
        for (used, step) in steps(reading, (path, file), Texts::Clean) {
            let transcript = &reading.transcript;
            let (Some(at), Some(entry)) = (used.at, transcript.get(used.place.entry)) else {
                continue;
            };
            let Some(call) = entry.call(used.place.block) else {
                continue;
            };
            let turn = transcript.turn_of(used.place.entry);
            events.push(FileCall {
                place,
                at,
                step,
                call: Arc::new(Call {
                    format,
                    session: fields.session.clone(),
                    path: fields.path.clone(),
                    address: format!("{address}#{}", entry.key),
                    key: entry.key.to_string(),
                    id: Some(call.key.to_string()).filter(|id| !id.is_empty()),
                    tool: call.name.clone(),
                    lane: used.lane.clone(),
                    turn: turn.map(|turn| turn + 1),
                    prompt: turn.and_then(|turn| prompt_of(transcript, turn)),
                    model: entry.model.clone(),
                }),
            });
        }
    }
    events
}

/// The first line of the prompt of a turn.
fn prompt_of(transcript: &Transcript, turn: usize) -> Option<String> {
    let entry = transcript.get(transcript.turns().get(turn)?.prompt)?;
    let texts = entry.blocks.iter().filter_map(|block| match &block.kind {
        BlockKind::Text(body) => Some(body.text_or_stub()),
        _ => None,
    });
    let mut lines = texts.flat_map(|text: &Text| text.lines());
    lines
        .find(|line| !line.trim().is_empty())
        .map(|line| line.trim().to_owned())
}
