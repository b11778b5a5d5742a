//! The folder in which an agent writes a file for each running process, with the session that it
//! has open.
//!
//! **Files outlive their processes.** A file counts only while its process runs, and is the one
//! that wrote it, because process ids are reused. All sessions of an agent share a folder, so its
//! content is cached for a moment.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::formats::decoder::Format;

use crate::formats::json;
use crate::formats::roots::{FileRole, Process};
use crate::model::meta::Running;
use crate::model::text::text_of;
use crate::source::fs;
use crate::source::watch::Hints;
use crate::source::{process, regular};

/// Limit of the file of a process, in bytes.
const SMALL: usize = 64 << 10;
/// Limit of the files in such a folder; more are no list of processes.
const MOST: usize = 1_000;
/// How long the content of a folder is cached.
const KEPT: Duration = Duration::from_millis(400);
/// Interval at which a process is checked for running.
const AGAIN: Duration = Duration::from_secs(2);

/// Running processes, and when they were listed.
type ProcessList = (Instant, Arc<Vec<Process>>);

/// Cached content of each folder.
static LOOKS: Mutex<Option<HashMap<PathBuf, ProcessList>>> = Mutex::new(None);

/// The process that has a session open.
pub(crate) struct Registry {
    folder: PathBuf,
    session: String,
    pub(crate) last: Option<Running>,
    looked: Option<Instant>,
}

impl Registry {
    /// For the session in the file at `path`; `None` if its agent has no such folder.
    pub(crate) fn of(format: &dyn Format, path: &Path) -> Option<Self> {
        let folder = format.file(path, FileRole::Processes)?;
        let session = format.session_name(path)?.id.to_owned();
        Some(Self {
            folder,
            session,
            last: None,
            looked: None,
        })
    }

    /// The folder to watch.
    pub(crate) fn folder(&self) -> Option<&Path> {
        Some(self.folder.as_path()).filter(|folder| fs::is_dir(folder))
    }

    /// The process that has the session open: of several the one that was active last.
    pub(crate) fn newest_process(&self) -> Option<Process> {
        let all = processes(&self.folder);
        let own = all.iter().filter(|process| process.session == self.session);
        own.max_by_key(|process| process.updated).cloned()
    }

    /// Polls the folder if necessary. Returns whether the state changed.
    pub(crate) fn poll(&mut self, hints: &Hints, now: Instant) -> bool {
        let is_named = || hints.paths().any(|path| path.starts_with(&self.folder));
        let is_due = self
            .looked
            .is_none_or(|looked| now.duration_since(looked) >= AGAIN);
        if !is_due && !is_named() {
            return false;
        }
        if is_named() {
            invalidate(&self.folder);
        }
        self.looked = Some(now);
        let running = self.newest_process().and_then(|process| process.running);
        std::mem::replace(&mut self.last, running) != running
    }

    /// When to poll without an event: a process may end without a write.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.last.and(self.looked)?.checked_add(AGAIN)
    }
}

/// The running processes of a folder.
fn processes(folder: &Path) -> Arc<Vec<Process>> {
    let now = Instant::now();
    let mut looks = LOOKS.lock().unwrap_or_else(PoisonError::into_inner);
    let looks = looks.get_or_insert_default();
    if let Some((at, found)) = looks.get(folder)
        && now.duration_since(*at) < KEPT
    {
        return Arc::clone(found);
    }
    let found = Arc::new(read(folder));
    looks.insert(folder.to_owned(), (now, Arc::clone(&found)));
    found
}

fn invalidate(folder: &Path) {
    if let Some(looks) = &mut *LOOKS.lock().unwrap_or_else(PoisonError::into_inner) {
        looks.remove(folder);
    }
}

fn read(folder: &Path) -> Vec<Process> {
    let Ok(entries) = fs::entries(folder) else {
        return Vec::new();
    };
    let paths = entries
        .into_iter()
        .take(MOST)
        .map(|(name, _)| folder.join(name));
    let files = paths.filter(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    let runs = |process: &Process| {
        process::is_running_since(folder, process.number, process.start.as_deref())
    };
    files
        .filter_map(|path| of_file(&path))
        .filter(runs)
        .collect()
}

fn of_file(path: &Path) -> Option<Process> {
    let bytes = regular::read_small(path, SMALL)?;
    Process::of(&json::parse(&text_of(&bytes)).ok()?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Instant;

    use super::{AGAIN, Registry};
    use crate::formats::named;
    use crate::model::meta::RunStatus;
    use crate::source::process::started;
    use crate::source::watch::Hints;

    #[test]
    fn only_a_process_that_runs_says_how_a_session_stands() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("projects/-work");
        let files = home.path().join("sessions");
        fs::create_dir_all(&folder).unwrap();
        fs::create_dir_all(&files).unwrap();
        let path = folder.join("5d0c.jsonl");
        let mut registry = Registry::of(named("claude-code").unwrap(), &path).unwrap();
        let own = std::process::id();
        let file = |pid: u32, session: &str, status: &str, start: &str| {
            format!(
                r#"{{"pid":{pid},"sessionId":"{session}","status":"{status}","statusUpdatedAt":1790000000000,"updatedAt":1790000000001,"procStart":"{start}"}}"#
            )
        };
        let mut now = Instant::now();
        let mut seen = || {
            now += AGAIN;
            super::invalidate(&registry.folder);
            registry
                .poll(&Hints::default(), now)
                .then(|| registry.last.map(|running| running.status))
        };
        assert_eq!(seen(), None, "nothing is there");
        let write = |text: String| fs::write(files.join(format!("{own}.json")), text).unwrap();
        let start = started(own.into()).unwrap_or_default();
        write(file(own, "5d0c", "busy", &start));
        fs::write(
            files.join("pid-7.json"),
            r#"{"session_id":"5d0c","cwd":"/work"}"#,
        )
        .unwrap();
        fs::write(
            files.join("9.json"),
            file(i32::MAX.unsigned_abs(), "5d0c", "waiting", "1"),
        )
        .unwrap();
        let running = |status| Some(Some(status));
        assert_eq!(seen(), running(RunStatus::Busy));
        assert_eq!(seen(), None, "nothing new");
        write(file(own, "5d0c", "shell", &start));
        assert_eq!(seen(), running(RunStatus::Idle));
        write(file(own, "other", "busy", &start));
        assert_eq!(seen(), Some(None), "it has another session open");
        write(file(own, "5d0c", "waiting", &start));
        assert_eq!(seen(), running(RunStatus::Waiting));
        if cfg!(target_os = "linux") {
            write(file(own, "5d0c", "waiting", "1"));
            assert_eq!(seen(), Some(None), "another process had this number");
        }
        write(file(own, "5d0c", "", &start));
        assert_ne!(
            seen(),
            running(RunStatus::Waiting),
            "what says nothing leaves it to the records"
        );
    }
}
