//! The thread that follows a session: sends the preview, the whole session, and then every change.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{SendTimeoutError, Sender};

use super::emitter::Outlet;
use super::files::FileTable;
use super::followed::FollowedSession;
use super::plan::Plan;
use super::preview::WINDOW;
use crate::model::edit::{Feed, LinkState, Polled};
use crate::model::memory;
use crate::model::text::Text;
use crate::source::follow::why_unread;
use crate::source::watch::Watcher;

/// Interval of progress events.
const PROGRESS: Duration = Duration::from_millis(100);
/// Changes within this interval are processed together.
const GATHER: Duration = Duration::from_millis(4);
/// Interval at which a blocked sender checks the stop flag.
const SEND: Duration = Duration::from_millis(50);
/// Delay before opening is tried again.
const REOPEN: Duration = Duration::from_millis(250);

/// Sends an event, until the stop flag is set or the receiver is gone.
pub(crate) fn send<T>(feed: T, sender: &Sender<T>, stop: &AtomicBool, wake: &dyn Fn()) -> bool {
    let mut feed = feed;
    while !stop.load(Ordering::Relaxed) {
        match sender.send_timeout(feed, SEND) {
            Ok(()) => {
                wake();
                return true;
            }
            Err(SendTimeoutError::Timeout(back)) => feed = back,
            Err(SendTimeoutError::Disconnected(_)) => return false,
        }
    }
    false
}

/// Runs something that decodes; a panic becomes a fault event and ends the reading.
pub(crate) fn guarded(outlet: Outlet<'_>, run: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
        let what = panic.downcast_ref::<String>().map(String::as_str);
        let what = what
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("unknown");
        let fault = format!("reading stopped because of an error in tv: {what}");
        outlet(Feed::Fault(Text::clean(&fault)));
    }
}

/// Follows a session of files until the stop flag is set.
pub fn follow(plan: &Plan, files: &FileTable, outlet: Outlet<'_>, native: bool, stop: &AtomicBool) {
    let session = FollowedSession::begin(plan.clone(), files.clone(), outlet);
    let watcher = plan.watcher(native, outlet);
    Follow {
        session,
        outlet,
        stop,
        watcher,
        has_read: true,
    }
    .run();
}

struct Follow<'f> {
    session: FollowedSession<'f>,
    outlet: Outlet<'f>,
    stop: &'f AtomicBool,
    watcher: Watcher,
    /// Whether memory that reading took is to be given back at the next rest.
    has_read: bool,
}

impl Follow<'_> {
    fn run(&mut self) {
        while !self.is_stopped() {
            if !self.session.is_open() {
                // Before steps that take long with thousands of files.
                self.session.send_preview(WINDOW);
                self.open();
            }
            while self.session.read(PROGRESS).unwrap_or(false) && !self.is_stopped() {
                self.session.report();
                self.has_read = true;
            }
            self.session.free_buffer();
            if self.session.is_over() {
                (self.outlet)(Feed::Link(LinkState::Closed));
                return;
            }
            let read = Instant::now();
            self.wait();
            let too_soon = GATHER.saturating_sub(read.elapsed());
            if !too_soon.is_zero() {
                std::thread::sleep(too_soon);
            }
        }
    }

    /// Opens the files, retrying until that succeeds.
    fn open(&mut self) {
        let mut last = String::new();
        while let Err(error) = self.session.open()
            && !self.is_stopped()
        {
            let error = why_unread(&error);
            if error != last {
                (self.outlet)(Feed::Link(LinkState::Unreadable(Text::clean(&error))));
                last = error;
            }
            self.watcher.wait(Some(REOPEN));
        }
        self.watch(true);
    }

    /// Waits until there is something to read.
    fn wait(&mut self) {
        while !self.is_stopped() {
            let is_anew = self.session.poll(&self.watcher.take()).is_anew;
            if is_anew {
                self.watch(true);
            }
            if self.session.has_more {
                return;
            }
            self.watch(false);
            let due = self.session.due();
            self.watcher
                .wait(due.map(|due| due.saturating_duration_since(Instant::now())));
            // Most of what was sent has been freed by the receiver meanwhile, which only this thread
            // can give back.
            if std::mem::take(&mut self.has_read) {
                memory::release_free();
            }
        }
    }

    fn watch(&mut self, renew: bool) {
        self.watcher.watch(self.session.watched(), renew);
        if let Some(failure) = self.watcher.take_failure() {
            (self.outlet)(Feed::Polled(Polled::Refused(Text::clean(&failure))));
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || !self.session.has_receiver()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use crossbeam_channel::unbounded;
    use notify::{Config, Error, EventHandler, NullWatcher, RecursiveMode, WatcherKind};

    use super::Follow;
    use crate::ingest::files::{FileKind, FileTable};
    use crate::ingest::followed::FollowedSession;
    use crate::ingest::open::plan;
    use crate::model::edit::{Feed, LinkState, Polled, Stage};
    use crate::model::found::Target;
    use crate::source::watch::Watcher;

    /// A watcher that has no watches left.
    struct Exhausted;

    impl notify::Watcher for Exhausted {
        fn new<F: EventHandler>(_: F, _: Config) -> notify::Result<Self> {
            Ok(Self)
        }

        fn watch(&mut self, _: &Path, _: RecursiveMode) -> notify::Result<()> {
            Err(Error::io(std::io::Error::from_raw_os_error(28)))
        }

        fn unwatch(&mut self, _: &Path) -> notify::Result<()> {
            Ok(())
        }

        fn kind() -> WatcherKind {
            WatcherKind::NullWatcher
        }
    }

    /// Appends lines one by one to a file followed with this watcher, each after the previous one
    /// was seen. Returns the number of lines seen, and why the file was polled.
    fn followed(native: impl notify::Watcher + Send + 'static) -> (u64, Vec<Polled>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("session.jsonl");
        let line = "{\"role\":\"user\",\"content\":\"hello\"}\n";
        fs::write(&path, line).unwrap();
        let (sender, feeds) = unbounded();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let plan = plan(&Target::at(&path)).unwrap();
                let files = FileTable::default();
                files.number(&path, FileKind::Lines);
                let outlet = |feed| sender.send(feed).is_ok();
                let session = FollowedSession::begin(plan, files.clone(), &outlet);
                let watcher = Watcher::of(Some(Box::new(native)));
                Follow {
                    session,
                    outlet: &outlet,
                    stop: &stop,
                    watcher,
                    has_read: false,
                }
                .run();
            });
            let (mut polled, mut written, mut is_live) = (Vec::new(), 1, false);
            while written < 4 {
                let Ok(feed) = feeds.recv_timeout(Duration::from_secs(20)) else {
                    break;
                };
                match feed {
                    Feed::Polled(why) => polled.push(why),
                    Feed::Link(LinkState::Live) => is_live = true,
                    Feed::Batch {
                        stage: Stage::Whole,
                        batch,
                    } if batch.tally.records() > written => {
                        written = batch.tally.records();
                    }
                    _ => continue,
                }
                if is_live {
                    OpenOptions::new()
                        .append(true)
                        .open(&path)
                        .unwrap()
                        .write_all(line.as_bytes())
                        .unwrap();
                }
            }
            stop.store(true, Ordering::Relaxed);
            reader.thread().unpark();
            reader.join().unwrap();
            (written, polled)
        })
    }

    #[test]
    fn what_no_event_announces_is_seen_nevertheless() {
        assert_eq!(followed(NullWatcher), (4, Vec::new()));
    }

    #[test]
    fn without_watches_it_goes_on_and_says_so_once() {
        let (written, polled) = followed(Exhausted);
        assert_eq!(written, 4);
        assert!(
            matches!(&polled[..], [Polled::Refused(why)] if why.contains("No space")),
            "{polled:?}"
        );
    }
}
