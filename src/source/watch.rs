//! When to poll files: on events of the operating system, and at intervals as a safety net.
//!
//! An event only means "poll now": network file systems, memory-mapped writers and some platforms
//! send none, and a queue may overflow. Access events are ignored, else reading would wake the
//! reader.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use notify::{ErrorKind, Event, RecursiveMode, Watcher as Native};

use super::fs;
use super::remote::{FarWatch, Host, is_far, split};

/// Interval between polls while events arrive.
const CALM: Duration = Duration::from_millis(500);
/// Interval between polls without events.
const BUSY: Duration = Duration::from_millis(250);
/// Directories to watch: a share of the watches that the system grants to all programs of a user,
/// within bounds. The others are left to the polls.
const SHARE: usize = 8;
const FEWEST: usize = 512;
const MOST: usize = 8_192;

/// The paths to poll.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hints {
    paths: HashSet<PathBuf>,
    pub(crate) everything: bool,
}

impl Hints {
    /// Paths that events named.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.paths.iter()
    }

    /// Adds changes that another machine reported.
    fn add(&mut self, paths: Vec<PathBuf>, everything: bool) {
        self.paths.extend(paths);
        self.everything |= everything;
    }

    /// Adds an event. Returns whether it means anything.
    fn add_event(&mut self, event: &notify::Result<Event>) -> bool {
        match event {
            Ok(event) if event.need_rescan() => self.everything = true,
            Ok(event) if event.kind.is_access() => return false,
            Ok(event) => self.paths.extend(event.paths.iter().cloned()),
            Err(_) => self.everything = true,
        }
        true
    }

    /// Events were lost, or there are none: everything must be polled.
    #[cfg(test)]
    pub(crate) fn everything() -> Self {
        Self {
            everything: true,
            ..Self::default()
        }
    }
}

/// Waits for changes of files and directories, on the thread that made it.
pub(crate) struct Watcher {
    native: Option<Box<dyn Native + Send>>,
    /// The shares in the events of other machines.
    far: Vec<FarWatch>,
    watched: HashSet<PathBuf>,
    /// Most directories to watch.
    most: usize,
    hints: Arc<Mutex<Hints>>,
    failure: Option<String>,
    /// Whether events may be missing for the watched paths.
    is_unsure: bool,
}

impl Watcher {
    /// A watcher that wakes the calling thread; without `native` it only polls.
    pub(crate) fn new(native: bool) -> Self {
        let mut watcher = Self::of(None);
        if native {
            let (hints, reader) = (Arc::clone(&watcher.hints), thread::current());
            match notify::recommended_watcher(move |event| record_event(&hints, &reader, &event)) {
                Ok(native) => watcher.native = Some(Box::new(native)),
                Err(error) => watcher.give_up(&error),
            }
        }
        watcher
    }

    /// A watcher with this source of events, or with none.
    pub(crate) fn of(native: Option<Box<dyn Native + Send>>) -> Self {
        let hints = Arc::new(Mutex::new(Hints::default()));
        Self {
            native,
            far: Vec::new(),
            watched: HashSet::new(),
            most: watch_limit(),
            hints,
            failure: None,
            is_unsure: false,
        }
    }

    /// Polls more often if a path lies where others may write without an event. Returns the kind of
    /// file system.
    pub(crate) fn check_file_system(&mut self, path: &Path) -> Option<&'static str> {
        let kind = eventless(path);
        self.is_unsure |= kind.is_some();
        kind
    }

    /// Whether events are reliable, so that a poll without one is only a safety net.
    pub(crate) fn is_trusted(&self) -> bool {
        self.native.is_some() && !self.is_unsure
    }

    /// Why there are no events, once.
    pub(crate) fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }

    /// Watches exactly these paths. With `renew` also those that it watches already: a watch stays
    /// with a file that was replaced, and the new file of that name has none. Returns whether a
    /// path is watched that was not before.
    pub(crate) fn watch<'a>(
        &mut self,
        paths: impl IntoIterator<Item = &'a Path>,
        renew: bool,
    ) -> bool {
        let Some(native) = &mut self.native else {
            return false;
        };
        let paths = paths.into_iter().take(self.most);
        let (far, here): (Vec<&Path>, _) = paths.partition(|path| is_far(path));
        watch_far(&mut self.far, far, renew, &self.hints);
        let wanted: HashSet<PathBuf> = here
            .into_iter()
            .map(|path| fs::or_here(path).to_owned())
            .collect();
        let (watched, wanted) = (&mut self.watched, &wanted);
        watched.retain(|path| {
            let keep = wanted.contains(path) && !renew;
            if !keep {
                // The file may be gone, and its watch with it.
                let _ = native.unwatch(path);
            }
            keep
        });
        let (mut is_new, mut failure) = (false, None);
        for path in wanted {
            // The native watcher has a thread of its own: adding a path that does not exist would
            // wake it at every poll.
            if watched.contains(path) || path.symlink_metadata().is_err() {
                continue;
            }
            match native.watch(path, RecursiveMode::NonRecursive) {
                Ok(()) => is_new |= watched.insert(path.clone()),
                Err(error) if is_exhaustion(&error) => failure = Some(error),
                // Missing or unreadable: a poll sees it when that changes.
                Err(_) => {}
            }
        }
        if let Some(error) = failure {
            self.give_up(&error);
        }
        is_new
    }

    /// What events named since the last call.
    pub(crate) fn take(&self) -> Hints {
        std::mem::take(&mut *self.hints.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for an event, for the next poll, or for `soon` if that comes before. Also returns when
    /// the thread is unparked.
    pub(crate) fn wait(&self, soon: Option<Duration>) {
        let calm = if self.is_trusted() { CALM } else { BUSY };
        thread::park_timeout(soon.map_or(calm, |soon| soon.min(calm)));
    }

    fn give_up(&mut self, error: &notify::Error) {
        self.native = None;
        self.watched.clear();
        let is_full = matches!(error.kind, ErrorKind::MaxFilesWatch);
        self.failure = Some(if is_full {
            "no watches left".to_owned()
        } else {
            error.to_string()
        });
    }
}

/// Limit of watched directories. Where each of them takes an open file, it is low.
fn watch_limit() -> usize {
    let granted = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches");
    let granted = granted
        .ok()
        .and_then(|number| number.trim().parse::<usize>().ok());
    granted.map_or(FEWEST, |granted| (granted / SHARE).clamp(FEWEST, MOST))
}

/// Watches these paths of other machines, and no others.
fn watch_far(
    shares: &mut Vec<FarWatch>,
    paths: Vec<&Path>,
    renew: bool,
    hints: &Arc<Mutex<Hints>>,
) {
    let mut by_host: Vec<(Arc<Host>, Vec<PathBuf>)> = Vec::new();
    for (host, path) in paths.into_iter().filter_map(split) {
        match by_host
            .iter_mut()
            .find(|(known, _)| Arc::ptr_eq(known, &host))
        {
            Some((_, paths)) => paths.push(path),
            None => by_host.push((host, vec![path])),
        }
    }
    shares.retain(|share| by_host.iter().any(|(host, _)| share.is_of(host)));
    for (host, paths) in by_host {
        if !shares.iter().any(|share| share.is_of(&host)) {
            let (hints, reader) = (Arc::clone(hints), thread::current());
            let wake = move |paths, everything| {
                let mut hints = hints.lock().unwrap_or_else(PoisonError::into_inner);
                hints.add(paths, everything);
                drop(hints);
                reader.unpark();
            };
            shares.push(FarWatch::new(Arc::clone(&host), Box::new(wake)));
        }
        if let Some(share) = shares.iter().find(|share| share.is_of(&host)) {
            share.watch(paths, renew);
        }
    }
}

fn record_event(hints: &Mutex<Hints>, reader: &Thread, event: &notify::Result<Event>) {
    let means_something = hints
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .add_event(event);
    if means_something {
        reader.unpark();
    }
}

/// The kind of a file system whose events are incomplete: others write to it over the network, or
/// to its layers.
fn eventless(path: &Path) -> Option<&'static str> {
    eventless_kind(i128::from(match split(path) {
        Some((host, path)) => host.file_system(&path)?,
        None => file_system(path)?,
    }))
}

/// The number of the file system of a path; `None` on other systems than Linux.
pub(super) fn file_system(path: &Path) -> Option<i64> {
    #[cfg(target_os = "linux")]
    #[expect(clippy::useless_conversion, reason = "it is narrower on some machines")]
    return i64::try_from(rustix::fs::statfs(path).ok()?.f_type).ok();
    #[cfg(not(target_os = "linux"))]
    return None.filter(|_: &i64| path.is_absolute());
}

/// File system numbers of Linux.
fn eventless_kind(magic: i128) -> Option<&'static str> {
    Some(match magic & 0xffff_ffff {
        0x6969 => "nfs",
        0x517b | 0xfe53_4d42 | 0xff53_4d42 => "smb",
        0x0102_1997 => "9p",
        0x6573_5546 => "fuse",
        0x794c_7630 => "overlay",
        0x5346_414f | 0x6b41_4653 => "afs",
        0x7375_7245 => "coda",
        0x00c3_6400 => "ceph",
        0x0bd0_0bd0 => "lustre",
        0x4750_4653 => "gpfs",
        0x786f_4256 => "vboxsf",
        0xbacb_acbc => "vmhgfs",
        _ => return None,
    })
}

/// The system has no watches left.
fn is_exhaustion(error: &notify::Error) -> bool {
    let code = |error: &std::io::Error| {
        error
            .raw_os_error()
            .map(rustix::io::Errno::from_raw_os_error)
    };
    match &error.kind {
        ErrorKind::MaxFilesWatch => true,
        ErrorKind::Io(error) => {
            use rustix::io::Errno;
            matches!(
                code(error),
                Some(Errno::NOSPC | Errno::MFILE | Errno::NFILE | Errno::NOMEM)
            )
        }
        ErrorKind::Generic(_)
        | ErrorKind::PathNotFound
        | ErrorKind::WatchNotFound
        | ErrorKind::InvalidConfig(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use notify::event::{AccessKind, EventKind, Flag, ModifyKind};
    use notify::{Config, Error, Event, EventHandler, NullWatcher, RecursiveMode, WatcherKind};

    use super::{BUSY, CALM, FEWEST, Hints, MOST, Watcher, is_exhaustion};

    #[test]
    fn access_means_nothing_and_a_rescan_everything() {
        let mut hints = Hints::default();
        let access = Event::new(EventKind::Access(AccessKind::Any)).add_path(PathBuf::from("/a"));
        assert!(!hints.add_event(&Ok(access)));
        let change = Event::new(EventKind::Modify(ModifyKind::Any)).add_path(PathBuf::from("/a"));
        assert!(hints.add_event(&Ok(change)));
        assert_eq!(hints.paths().collect::<Vec<_>>(), [&PathBuf::from("/a")]);
        assert!(!hints.everything);
        assert!(hints.add_event(&Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan))));
        assert!(hints.everything);
        let mut hints = Hints::default();
        assert!(hints.add_event(&Err(Error::generic("the queue is full"))));
        assert!(hints.everything);
    }

    /// Grants so many watches, and then none.
    struct Stingy {
        left: usize,
        granted: Arc<AtomicUsize>,
    }

    impl notify::Watcher for Stingy {
        fn new<F: EventHandler>(_: F, _: Config) -> notify::Result<Self> {
            Ok(Self {
                left: 0,
                granted: Arc::default(),
            })
        }

        fn watch(&mut self, _: &Path, _: RecursiveMode) -> notify::Result<()> {
            let no_space = || Error::io(std::io::Error::from_raw_os_error(28));
            self.left = self.left.checked_sub(1).ok_or_else(no_space)?;
            self.granted.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }

        fn unwatch(&mut self, _: &Path) -> notify::Result<()> {
            Ok(())
        }

        fn kind() -> WatcherKind {
            WatcherKind::NullWatcher
        }
    }

    fn folders(count: usize) -> (tempfile::TempDir, Vec<PathBuf>) {
        let dir = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = (0..count)
            .map(|number| dir.path().join(number.to_string()))
            .collect();
        for path in &paths {
            std::fs::create_dir(path).unwrap();
        }
        (dir, paths)
    }

    #[test]
    fn without_watches_there_is_the_poll_and_one_notice() {
        for number in [23, 24, 28] {
            assert!(is_exhaustion(&Error::io(
                std::io::Error::from_raw_os_error(number)
            )));
        }
        assert!(!is_exhaustion(&Error::path_not_found()));
        let (_dir, paths) = folders(4);
        let mut watcher = Watcher::of(Some(Box::new(Stingy {
            left: 2,
            granted: Arc::default(),
        })));
        watcher.watch(paths.iter().map(PathBuf::as_path).take(2), false);
        assert!(watcher.take_failure().is_none() && watcher.native.is_some());
        watcher.watch(paths.iter().map(PathBuf::as_path), false);
        assert!(watcher.take_failure().is_some());
        assert!(watcher.native.is_none());
        watcher.watch(paths.iter().map(PathBuf::as_path), true);
        assert!(watcher.take_failure().is_none(), "it is reported once");
    }

    #[test]
    fn so_many_folders_never_need_more_watches_than_there_may_be() {
        let (_dir, paths) = folders(4 * FEWEST);
        let granted = Arc::new(AtomicUsize::new(0));
        let mut watcher = Watcher::of(Some(Box::new(Stingy {
            left: usize::MAX,
            granted: Arc::clone(&granted),
        })));
        assert!((FEWEST..=MOST).contains(&watcher.most));
        watcher.most = FEWEST;
        for _ in 0..3 {
            watcher.watch(paths.iter().map(PathBuf::as_path), false);
        }
        assert_eq!(
            (watcher.watched.len(), granted.load(Ordering::Relaxed)),
            (FEWEST, FEWEST)
        );
    }

    #[test]
    fn a_wait_ends_without_any_event() {
        assert!(BUSY <= CALM && CALM <= Duration::from_millis(600));
        for native in [
            None,
            Some(Box::new(NullWatcher) as Box<dyn notify::Watcher + Send>),
        ] {
            Watcher::of(native).wait(None);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn file_systems_that_others_write_to_are_looked_at_more_often() {
        for (magic, kind) in [
            (0x6969, Some("nfs")),
            (0x517b, Some("smb")),
            (0xff53_4d42, Some("smb")),
            (0xfe53_4d42, Some("smb")),
            // As a number of 32 bits with a sign.
            (-0x00ac_b2be, Some("smb")),
            (0x0102_1997, Some("9p")),
            (0x6573_5546, Some("fuse")),
            (0x794c_7630, Some("overlay")),
            (0xef53, None),
            (0x0102_1994, None),
            (0x9123_683e, None),
            (0x5846_5342, None),
            (0x2fc1_2fc1, None),
        ] {
            assert_eq!(super::eventless_kind(magic), kind, "{magic:x}");
        }
        let mut watcher = Watcher::new(true);
        assert_eq!(watcher.check_file_system(Path::new("/proc")), None);
        assert!(!watcher.is_unsure);
    }
}
