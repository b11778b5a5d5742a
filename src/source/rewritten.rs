//! A file that its writer rewrites whole, perhaps in pieces: the last complete content stays until
//! the next one is complete.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::follow::{is_absence, why_unread};
use super::fs::{self, Metadata};
use super::regular::{Fence, LARGEST};
use crate::model::fingerprint::hash_of;

/// Delay before a file that is being written is read again.
pub(crate) const RETRY: Duration = Duration::from_millis(100);
/// A broken file that stays unchanged for so long is not being written.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// The result of a poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RewriteCheck {
    Quiet,
    Content(Vec<u8>),
    /// New content that stays broken.
    Broken(Vec<u8>),
    Deleted,
    /// It exists again, unchanged.
    Back,
    /// It cannot be read; says why.
    Unreadable(String),
}

#[derive(Debug)]
pub(crate) struct Rewritten {
    path: Arc<Path>,
    stamp: Option<Metadata>,
    /// The hash of the content that was returned last.
    hash: Option<u64>,
    /// Read twice in the same state: two changes may share one time stamp.
    is_settled: bool,
    fence: Fence,
    broken_since: Option<Instant>,
    /// When to poll again.
    retry: Option<Instant>,
    /// Why it cannot be read, as it was reported.
    unreadable_reason: Option<Box<str>>,
}

impl Rewritten {
    /// A file within the fence of which nothing has been read.
    pub(crate) fn new(path: impl Into<Arc<Path>>, fence: Fence) -> Self {
        Self {
            path: path.into(),
            stamp: None,
            hash: None,
            is_settled: true,
            fence,
            broken_since: None,
            retry: None,
            unreadable_reason: None,
        }
    }

    /// The same file, of which nothing has been read.
    #[must_use]
    pub(crate) fn restarted(&self) -> Self {
        Self::new(Arc::clone(&self.path), self.fence.clone())
    }

    pub(crate) fn path(&self) -> &Arc<Path> {
        &self.path
    }

    /// Its length in bytes at the last reading.
    pub(crate) fn len(&self) -> u64 {
        self.stamp.map_or(0, |stamp| stamp.len)
    }

    /// When to poll again without an event.
    pub(crate) fn retry_at(&self) -> Option<Instant> {
        self.retry
    }

    /// Checks the file, and reads it if it may have changed.
    pub(crate) fn poll(
        &mut self,
        now: Instant,
        is_complete: impl Fn(&[u8]) -> bool,
    ) -> RewriteCheck {
        match self.check(now, is_complete) {
            Ok(look) if self.unreadable_reason.take().is_some() && look == RewriteCheck::Quiet => {
                RewriteCheck::Back
            }
            Ok(look) => look,
            Err(error) => self.record_absence(&error),
        }
    }

    /// Reads the file as it is now, broken or not.
    pub(crate) fn read(&mut self) -> io::Result<Vec<u8>> {
        let file = self.fence.open(&self.path)?;
        let stamp = file.metadata()?;
        let too_large = || io::Error::other(format!("it has more than {} MiB", LARGEST >> 20));
        if stamp.len > LARGEST {
            return Err(too_large());
        }
        let mut bytes = Vec::with_capacity(usize::try_from(stamp.len).unwrap_or(0));
        // It may grow meanwhile, and some files do not tell their size.
        if file.take(LARGEST + 1).read_to_end(&mut bytes)? as u64 > LARGEST {
            return Err(too_large());
        }
        self.stamp = Some(stamp);
        self.is_settled = false;
        self.broken_since = None;
        self.hash = Some(hash_of(&bytes));
        Ok(bytes)
    }

    fn check(
        &mut self,
        now: Instant,
        is_complete: impl Fn(&[u8]) -> bool,
    ) -> io::Result<RewriteCheck> {
        let stamp = fs::metadata(&self.path)?;
        let is_touched = self.stamp != Some(stamp);
        if (!is_touched && self.is_settled && self.broken_since.is_none())
            || self.retry.is_some_and(|retry| now < retry)
        {
            return Ok(RewriteCheck::Quiet);
        }
        let (before, broken_since) = (self.hash, self.broken_since);
        let bytes = self.read()?;
        let is_same = self.hash == before;
        if is_same {
            self.is_settled = !is_touched;
            self.retry = (!self.is_settled).then(|| now + RETRY);
            return Ok(RewriteCheck::Quiet);
        }
        let is_complete = is_complete(&bytes);
        let is_first = before.is_none() && broken_since.is_none();
        self.retry = (!is_first || !is_complete).then(|| now + RETRY);
        if is_complete {
            return Ok(RewriteCheck::Content(bytes));
        }
        let since = broken_since.filter(|_| !is_touched).unwrap_or(now);
        if now.duration_since(since) >= PATIENCE && !bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(RewriteCheck::Broken(bytes));
        }
        self.hash = before;
        self.broken_since = Some(since);
        Ok(RewriteCheck::Quiet)
    }

    fn record_absence(&mut self, error: &io::Error) -> RewriteCheck {
        let what = why_unread(error);
        self.retry = None;
        let is_news = self
            .unreadable_reason
            .replace(what.clone().into())
            .as_deref()
            != Some(&what);
        match (is_news, is_absence(error)) {
            (false, _) => RewriteCheck::Quiet,
            (true, true) => RewriteCheck::Deleted,
            (true, false) => RewriteCheck::Unreadable(what),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, Instant};

    use super::{Fence, RewriteCheck, Rewritten};

    #[test]
    fn the_last_good_state_stays_while_a_file_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("messages.json");
        fs::write(&path, "{1}").unwrap();
        let is_complete = |bytes: &[u8]| bytes.ends_with(b"}");
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut file = Rewritten::new(&*path, Fence::default());
        assert_eq!(
            file.poll(at(0), is_complete),
            RewriteCheck::Content(b"{1}".to_vec())
        );
        for (ms, text) in [(200, ""), (400, "{1,"), (600, "{1,2")] {
            fs::write(&path, text).unwrap();
            assert_eq!(file.poll(at(ms), is_complete), RewriteCheck::Quiet);
            assert!(file.retry_at().is_some());
        }
        fs::write(&path, "{1,2}").unwrap();
        assert_eq!(
            file.poll(at(800), is_complete),
            RewriteCheck::Content(b"{1,2}".to_vec())
        );
        assert_eq!(file.poll(at(1000), is_complete), RewriteCheck::Quiet);
        fs::write(&path, "{1,").unwrap();
        assert_eq!(file.poll(at(2000), is_complete), RewriteCheck::Quiet);
        assert_eq!(file.poll(at(3000), is_complete), RewriteCheck::Quiet);
        assert_eq!(
            file.poll(at(4100), is_complete),
            RewriteCheck::Broken(b"{1,".to_vec())
        );
        assert_eq!(file.poll(at(4300), is_complete), RewriteCheck::Quiet);
        fs::remove_file(&path).unwrap();
        assert_eq!(file.poll(at(5000), is_complete), RewriteCheck::Deleted);
        assert_eq!(file.poll(at(5300), is_complete), RewriteCheck::Quiet);
        fs::write(&path, "{1,").unwrap();
        assert_eq!(file.poll(at(6000), is_complete), RewriteCheck::Back);
    }

    /// A clock of seconds stamps two changes alike: what was written right after the first reading is read by a second.
    #[test]
    fn a_change_with_the_same_stamp_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("messages.json");
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let write = |text: &str| {
            fs::write(&path, text).unwrap();
            let file = fs::OpenOptions::new().append(true).open(&path).unwrap();
            file.set_modified(std::time::SystemTime::UNIX_EPOCH)
                .unwrap();
        };
        write("{1}");
        let mut file = Rewritten::new(&*path, Fence::default());
        assert_eq!(
            file.poll(at(0), |_| true),
            RewriteCheck::Content(b"{1}".to_vec())
        );
        write("{2}");
        assert_eq!(
            file.poll(at(300), |_| true),
            RewriteCheck::Content(b"{2}".to_vec())
        );
        write("{3}");
        assert_eq!(
            file.poll(at(600), |_| true),
            RewriteCheck::Content(b"{3}".to_vec())
        );
        // Read twice alike it is what it is: it is not read again and again.
        assert_eq!(file.poll(at(900), |_| true), RewriteCheck::Quiet);
        write("{4}");
        assert_eq!(file.poll(at(1200), |_| true), RewriteCheck::Quiet);
    }
}
