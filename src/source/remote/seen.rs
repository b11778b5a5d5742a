//! What another machine said a moment ago, so that nobody waits for the same answer twice.
//!
//! A session is opened several times while it is listed and read: on this machine that costs
//! nothing, there each time is a way there and back. As network file systems do, answers are used
//! again for a moment; any event of the far side ends that at once, and what was asked before the
//! event is not used after it.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;

use crate::source::metadata::Metadata;
use crate::source::wire::{BEGINNING, Reply, WireAnswer};

/// How long an answer is used again.
const MOMENT: Duration = Duration::from_secs(1);
/// Most answers, and most files whose beginnings are in memory.
const MOST_ANSWERS: usize = 1024;
const MOST_FILES: usize = 128;
/// Most parts of one file.
const MOST_PARTS: usize = 3;

/// When something was asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    at: Instant,
    /// The number of events before.
    events: u64,
}

impl Asked {
    pub(super) fn now(events: u64) -> Self {
        Self {
            at: Instant::now(),
            events,
        }
    }

    /// The same, once the answer is there: it may have waited behind others for longer than a
    /// moment.
    pub(super) fn answered(self) -> Self {
        Self {
            at: Instant::now(),
            ..self
        }
    }

    /// Whether the answer may still be used.
    pub(super) fn is_new(&self, events: u64) -> bool {
        self.events == events && self.at.elapsed() < MOMENT
    }
}

/// An answer, or the system's number of the error.
type Kept = Result<WireAnswer, i32>;

/// The last answers of a host.
#[derive(Default)]
pub(super) struct Answers {
    /// By the encoded question.
    kept: HashMap<Vec<u8>, (Asked, Kept)>,
    /// Folders that do not exist, and so nothing below them.
    missing: HashMap<PathBuf, Asked>,
    files: HashMap<PathBuf, Expected>,
}

/// The beginning of a file.
enum Expected {
    Seen(Arc<SeenFile>),
    /// It was asked for ahead.
    Asked(Asked, Receiver<io::Result<Reply>>),
}

impl Answers {
    pub(super) fn find(&self, question: &[u8], events: u64) -> Option<io::Result<WireAnswer>> {
        let (asked, kept) = self.kept.get(question)?;
        asked
            .is_new(events)
            .then(|| kept.clone().map_err(io::Error::from_raw_os_error))
    }

    pub(super) fn keep(
        &mut self,
        question: Vec<u8>,
        asked: Asked,
        answer: &io::Result<WireAnswer>,
    ) {
        let kept = match answer {
            Ok(answer) => Ok(answer.clone()),
            Err(error) => match error.raw_os_error() {
                Some(number) => Err(number),
                None => return,
            },
        };
        make_room(&mut self.kept, MOST_ANSWERS, |(kept, _)| {
            kept.is_new(asked.events)
        });
        self.kept.insert(question, (asked, kept));
    }

    /// Notes that a folder does not exist.
    pub(super) fn lacks(&mut self, folder: PathBuf, asked: Asked) {
        make_room(&mut self.missing, MOST_ANSWERS, |kept| {
            kept.is_new(asked.events)
        });
        self.missing.insert(folder, asked);
    }

    /// Whether a path is in a folder that does not exist.
    pub(super) fn is_missing(&self, path: &Path, events: u64) -> bool {
        let known = |folder| self.missing.get(folder);
        path.ancestors()
            .filter_map(known)
            .any(|asked| asked.is_new(events))
    }

    /// The file at a path, or the answer that is on its way.
    pub(super) fn file(&mut self, path: &Path, events: u64) -> Option<FileSaid> {
        match self.files.get(path)? {
            Expected::Seen(seen) => seen
                .is_new(events)
                .then(|| FileSaid::Seen(Arc::clone(seen))),
            Expected::Asked(..) => match self.files.remove(path)? {
                Expected::Asked(asked, reply) => Some(FileSaid::Coming(asked, reply)),
                Expected::Seen(seen) => Some(FileSaid::Seen(seen)),
            },
        }
    }

    pub(super) fn has_file(&self, path: &Path, events: u64) -> bool {
        self.files.get(path).is_some_and(|file| file.is_new(events))
    }

    pub(super) fn keep_file(&mut self, path: PathBuf, seen: &Arc<SeenFile>, events: u64) {
        self.insert(path, Expected::Seen(Arc::clone(seen)), events);
    }

    pub(super) fn expect_file(
        &mut self,
        path: PathBuf,
        asked: Asked,
        reply: Receiver<io::Result<Reply>>,
    ) {
        self.insert(path, Expected::Asked(asked, reply), asked.events);
    }

    fn insert(&mut self, path: PathBuf, file: Expected, events: u64) {
        // What is on its way would come twice.
        if self.files.len() >= MOST_FILES {
            let is_coming = |file: &Expected| matches!(file, Expected::Asked(..));
            self.files.retain(|_, file| is_coming(file));
        }
        make_room(&mut self.files, MOST_FILES, |file| file.is_new(events));
        self.files.insert(path, file);
    }
}

/// What is known of a file when it is opened.
pub(super) enum FileSaid {
    Seen(Arc<SeenFile>),
    Coming(Asked, Receiver<io::Result<Reply>>),
}

impl Expected {
    fn is_new(&self, events: u64) -> bool {
        match self {
            Self::Seen(seen) => seen.is_new(events),
            Self::Asked(asked, _) => asked.events == events,
        }
    }
}

/// Drops what is old if there are too many, and all if that is not enough.
fn make_room<K: std::hash::Hash + Eq, V>(
    map: &mut HashMap<K, V>,
    most: usize,
    is_new: impl Fn(&V) -> bool,
) {
    if map.len() >= most {
        map.retain(|_, value| is_new(value));
    }
    if map.len() >= most {
        map.clear();
    }
}

/// What is known of a file that is read: its facts, and the last parts of it.
#[derive(Debug)]
pub(super) struct SeenFile {
    pub(super) metadata: Metadata,
    pub(super) real: Option<PathBuf>,
    asked: Asked,
    parts: Mutex<Vec<CachedPart>>,
}

#[derive(Debug)]
struct CachedPart {
    at: u64,
    bytes: Vec<u8>,
    /// Whether the file ended behind it.
    is_last: bool,
    asked: Asked,
}

impl CachedPart {
    fn end(&self) -> u64 {
        self.at + self.bytes.len() as u64
    }
}

impl SeenFile {
    pub(super) fn new(metadata: Metadata, real: Option<PathBuf>, asked: Asked) -> Self {
        Self {
            metadata,
            real,
            asked,
            parts: Mutex::default(),
        }
    }

    pub(super) fn is_new(&self, events: u64) -> bool {
        self.asked.is_new(events)
    }

    /// Fills a buffer from a part that was read a moment ago. Returns how much of it.
    pub(super) fn read(&self, buffer: &mut [u8], at: u64, now: Asked) -> Option<usize> {
        let mut parts = self.parts();
        parts.retain(|part| part.asked.is_new(now.events));
        let has = |part: &&CachedPart| {
            part.at <= at && (at < part.end() || (part.is_last && at >= part.end()))
        };
        let part = parts.iter().find(has)?;
        let from = usize::try_from(at - part.at).ok()?;
        let bytes = part.bytes.get(from..).unwrap_or_default();
        let most = bytes.len().min(buffer.len());
        buffer.get_mut(..most)?.copy_from_slice(bytes.get(..most)?);
        Some(most)
    }

    /// Whether something is read on from where a part ended.
    pub(super) fn goes_on(&self, at: u64) -> bool {
        self.parts().iter().any(|part| part.end() == at)
    }

    /// Keeps a part of which `wanted` bytes were asked for.
    pub(super) fn keep(&self, at: u64, bytes: Vec<u8>, wanted: usize, asked: Asked) {
        let mut parts = self.parts();
        if parts.len() >= MOST_PARTS {
            // The beginning is read again, what lies behind it is read on from.
            parts.remove(1);
        }
        let is_last = bytes.len() < wanted;
        parts.push(CachedPart {
            at,
            bytes,
            is_last,
            asked,
        });
    }

    /// Drops parts longer than a beginning: who opens the file again rather reads its ends.
    pub(super) fn trim(&self) {
        self.parts().retain(|part| part.bytes.len() <= BEGINNING);
    }

    fn parts(&self) -> MutexGuard<'_, Vec<CachedPart>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::{Answers, Asked, MOST_FILES, SeenFile};
    use crate::source::metadata::Metadata;

    #[test]
    fn what_is_on_its_way_is_not_dropped_for_what_was_seen() {
        let asked = Asked::now(0);
        let mut answers = Answers::default();
        for number in 0..MOST_FILES / 4 {
            let reply = crossbeam_channel::never();
            answers.expect_file(format!("/ahead/{number}").into(), asked, reply);
        }
        for number in 0..2 * MOST_FILES {
            let seen = Arc::new(SeenFile::new(Metadata::FOLDER, None, asked));
            answers.keep_file(format!("/seen/{number}").into(), &seen, 0);
        }
        let is_kept = |number: usize| answers.has_file(Path::new(&format!("/ahead/{number}")), 0);
        assert!((0..MOST_FILES / 4).all(is_kept));
        assert!(answers.files.len() <= MOST_FILES);
    }
}
