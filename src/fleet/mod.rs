//! Many sessions at once, followed by one thread with one watcher: a row each
//! ([`analysis::wall`](crate::analysis::wall)), sent when it changes.
//!
//! The end of each session is read first, so that all rows show what their agents do; then each is
//! read completely, newest first, for its cost. From then on a file is read further when an event
//! or a poll reports that it has grown. Scans for new sessions run when an event names an unknown
//! file, and periodically.
//!
//! Invariant: a session that cannot be read blocks nothing: it has a row that says so, and is tried
//! again.

mod follower;
mod glance;
mod member;
mod options;
mod row;
mod sweep;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use self::follower::FleetFollower;
pub use self::glance::{end, glance};
pub use self::options::{FleetOptions, MOST};
use crate::analysis::expression::Expr;
use crate::analysis::wall::News;

/// Limit of events in the queue before the thread waits for the receiver.
const WAITING: usize = 256;

/// Sessions that are followed until this is dropped.
pub struct Fleet {
    pub news: Receiver<News>,
    alarms: Sender<Vec<Expr>>,
    stop: Arc<AtomicBool>,
    thread: Thread,
}

impl Fleet {
    pub fn start(options: FleetOptions) -> Self {
        let (send, news) = bounded(WAITING);
        let (alarms, orders) = unbounded();
        let stop = Arc::new(AtomicBool::new(false));
        let is_stopped = Arc::clone(&stop);
        let handle =
            thread::spawn(move || FleetFollower::run(options, &send, &orders, &is_stopped));
        Self {
            news,
            alarms,
            stop,
            thread: handle.thread().clone(),
        }
    }

    pub fn watch(&self, alarms: Vec<Expr>) {
        let _ = self.alarms.send(alarms);
        self.thread.unpark();
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Releases the thread if it waits for room in the channel.
        self.news = crossbeam_channel::never();
        self.thread.unpark();
    }
}
