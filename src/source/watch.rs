//! When to look: events of the operating system, and a poll as a safety net.
//!
//! Events only mean "look now": network file systems, memory-mapped writers and some platforms send
//! none, and a queue may overflow. Access events are ignored, else reading would wake the reader.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use notify::{ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher as _};

/// Time between looks while events arrive.
const CALM: Duration = Duration::from_millis(500);
/// Time between looks without events.
const BUSY: Duration = Duration::from_millis(250);
/// More directories than these are left to the poll.
const WATCHES: usize = 96;

/// What to look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    paths: HashSet<PathBuf>,
    everything: bool,
}

impl Hints {
    /// Events were lost, or none can be had: look at all there is.
    pub fn everything() -> Self {
        Self { everything: true, ..Self::default() }
    }

    /// Whether all there is must be looked at.
    pub fn is_everything(&self) -> bool {
        self.everything
    }

    /// Paths that an event named.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.paths.iter()
    }

    /// Takes an event in. Returns whether it means anything.
    fn take_event(&mut self, event: &notify::Result<Event>) -> bool {
        match event {
            Ok(event) if event.need_rescan() => self.everything = true,
            Ok(event) if event.kind.is_access() => return false,
            Ok(event) => self.paths.extend(event.paths.iter().cloned()),
            Err(_) => self.everything = true,
        }
        true
    }
}

/// Waits for changes of files and directories, on the thread that made it.
pub struct Watcher {
    native: Option<RecommendedWatcher>,
    watched: HashSet<PathBuf>,
    hints: Arc<Mutex<Hints>>,
    trouble: Option<String>,
}

impl Watcher {
    /// A watcher that wakes the calling thread. Without `native` there is the poll alone.
    pub fn new(native: bool) -> Self {
        let hints = Arc::new(Mutex::new(Hints::default()));
        let mut watcher = Self { native: None, watched: HashSet::new(), hints, trouble: None };
        if native {
            let (hints, reader) = (Arc::clone(&watcher.hints), thread::current());
            match notify::recommended_watcher(move |event| note(&hints, &reader, &event)) {
                Ok(native) => watcher.native = Some(native),
                Err(error) => watcher.give_up(&error),
            }
        }
        watcher
    }

    /// Why there are no events, once.
    pub fn take_trouble(&mut self) -> Option<String> {
        self.trouble.take()
    }

    /// Watches these paths and no others. With `renew` also those that it watched before: a watch
    /// stays with a file that was replaced, and the name goes unwatched.
    pub fn watch<'a>(&mut self, paths: impl IntoIterator<Item = &'a Path>, renew: bool) {
        let Some(native) = &mut self.native else { return };
        let wanted: HashSet<PathBuf> = paths.into_iter().take(WATCHES).map(named).collect();
        let (watched, wanted) = (&mut self.watched, &wanted);
        watched.retain(|path| {
            let keep = wanted.contains(path) && !renew;
            if !keep {
                // The file may be gone, and its watch with it.
                let _ = native.unwatch(path);
            }
            keep
        });
        let mut failure = None;
        for path in wanted {
            // The watcher lives on a thread of its own: asking it for what is not there would wake it
            // at every look.
            if watched.contains(path) || path.symlink_metadata().is_err() {
                continue;
            }
            match native.watch(path, RecursiveMode::NonRecursive) {
                Ok(()) => drop(watched.insert(path.clone())),
                Err(error) if is_exhaustion(&error) => failure = Some(error),
                // Missing or unreadable: the poll sees it when that changes.
                Err(_) => {}
            }
        }
        if let Some(error) = failure {
            self.give_up(&error);
        }
    }

    /// What events named since the last call.
    pub fn take(&self) -> Hints {
        std::mem::take(&mut *self.hints.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for an event, for the time of the next look, or for `soon` if that comes before. Also
    /// returns when the thread is unparked.
    pub fn wait(&self, soon: Option<Duration>) {
        let calm = if self.native.is_some() { CALM } else { BUSY };
        thread::park_timeout(soon.map_or(calm, |soon| soon.min(calm)));
    }

    fn give_up(&mut self, error: &notify::Error) {
        self.native = None;
        self.watched.clear();
        self.trouble = Some(format!("no file events ({error}); looking four times a second instead"));
    }
}

fn note(hints: &Mutex<Hints>, reader: &Thread, event: &notify::Result<Event>) {
    let means_something = hints.lock().unwrap_or_else(PoisonError::into_inner).take_event(event);
    if means_something {
        reader.unpark();
    }
}

/// An empty path names the working directory.
fn named(path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_owned() }
}

/// The system has no watches left to give.
fn is_exhaustion(error: &notify::Error) -> bool {
    let code = |error: &std::io::Error| error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
    match &error.kind {
        ErrorKind::MaxFilesWatch => true,
        ErrorKind::Io(error) => {
            use rustix::io::Errno;
            matches!(code(error), Some(Errno::NOSPC | Errno::MFILE | Errno::NFILE | Errno::NOMEM))
        }
        ErrorKind::Generic(_)
        | ErrorKind::PathNotFound
        | ErrorKind::WatchNotFound
        | ErrorKind::InvalidConfig(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use notify::event::{AccessKind, EventKind, Flag, ModifyKind};
    use notify::{Error, Event};

    use super::{Hints, Watcher, is_exhaustion};

    #[test]
    fn access_means_nothing_and_a_rescan_everything() {
        let mut hints = Hints::default();
        let access = Event::new(EventKind::Access(AccessKind::Any)).add_path(PathBuf::from("/a"));
        assert!(!hints.take_event(&Ok(access)));
        let change = Event::new(EventKind::Modify(ModifyKind::Any)).add_path(PathBuf::from("/a"));
        assert!(hints.take_event(&Ok(change)));
        assert_eq!(hints.paths().collect::<Vec<_>>(), [&PathBuf::from("/a")]);
        assert!(!hints.is_everything());
        assert!(hints.take_event(&Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan))));
        assert!(hints.is_everything());
    }

    #[test]
    fn without_watches_there_is_the_poll_and_one_notice() {
        let no_space = Error::io(std::io::Error::from_raw_os_error(28));
        assert!(is_exhaustion(&no_space));
        assert!(!is_exhaustion(&Error::path_not_found()));
        let mut watcher = Watcher::new(true);
        watcher.give_up(&no_space);
        assert!(watcher.take_trouble().is_some() && watcher.take_trouble().is_none());
        assert!(watcher.native.is_none());
    }
}
