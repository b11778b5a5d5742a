//! Many sessions at once, followed by one thread with one watcher: a row each ([`analysis::wall`](crate::analysis::wall)),
//! sent when something of it changes.
//!
//! The end of each session is read first, so that all rows tell what their agents do; then each is read whole, the
//! newest first, for what it has cost. From then on a file is read on from where it ended, when an event or a look
//! says that it has grown, and all others are left alone. New sessions are looked for when an event names a file that
//! nobody knows, and every now and then.
//!
//! Invariant: nothing waits for a session that cannot be read: it has a row that says so, and is tried again.

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

use self::follower::Follower;
pub use self::glance::glance;
pub use self::options::{MOST, Options};
use crate::analysis::expression::Expr;
use crate::analysis::wall::News;

/// News that may wait before the thread waits for whoever takes them.
const WAITING: usize = 256;

/// Sessions that are followed until this is dropped.
pub struct Fleet {
    /// What comes of it.
    pub news: Receiver<News>,
    alarms: Sender<Vec<Expr>>,
    stop: Arc<AtomicBool>,
    thread: Thread,
}

impl Fleet {
    /// Starts to follow.
    pub fn start(options: Options) -> Self {
        let (send, news) = bounded(WAITING);
        let (alarms, orders) = unbounded();
        let stop = Arc::new(AtomicBool::new(false));
        let is_stopped = Arc::clone(&stop);
        let handle = thread::spawn(move || Follower::run(options, &send, &orders, &is_stopped));
        Self {
            news,
            alarms,
            stop,
            thread: handle.thread().clone(),
        }
    }

    /// Watches for these, in place of what was watched for before.
    pub fn watch(&self, alarms: Vec<Expr>) {
        let _ = self.alarms.send(alarms);
        self.thread.unpark();
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Who waits for room in the channel is let go, too.
        self.news = crossbeam_channel::never();
        self.thread.unpark();
    }
}
