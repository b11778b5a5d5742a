//! The state of following one session: its reader, and what was reported so far. The caller waits
//! for changes of the files; this module decides what a poll of them means.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::bodies::Bodies;
use super::emitter::{Emitter, Outlet};
use super::files::FileTable;
use super::plan::Plan;
use super::preview::show_end;
use super::reader::{PollResult, SessionReader};
use super::rows::Databases;
use crate::model::edit::{Feed, LinkState, Stage};
use crate::model::text::Text;
use crate::source::watch::Hints;

pub(crate) struct FollowedSession<'f> {
    plan: Plan,
    files: FileTable,
    databases: Databases,
    outlet: Outlet<'f>,
    reader: Option<SessionReader<'f>>,
    /// Whether there is something to read.
    pub(crate) has_more: bool,
    is_caught_up: bool,
    /// Why everything is read again, reported when that is done.
    reread: Option<String>,
    has_been_read: bool,
    /// Whether the file may have grown between the detection of its format and the first read.
    may_have_grown: bool,
}

/// Result of a poll of the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FollowResult {
    pub(crate) has_changed: bool,
    /// Whether everything is read again, so that the watched paths may have changed.
    pub(crate) is_anew: bool,
}

impl<'f> FollowedSession<'f> {
    /// Starts with nothing read.
    pub(crate) fn begin(plan: Plan, files: FileTable, outlet: Outlet<'f>) -> Self {
        plan.send_opened(outlet);
        Self {
            plan,
            files,
            databases: Databases::default(),
            outlet,
            reader: None,
            has_more: true,
            is_caught_up: false,
            reread: None,
            has_been_read: false,
            may_have_grown: false,
        }
    }

    /// Shares open databases with other sessions followed on this thread.
    #[must_use]
    pub(crate) fn with(self, databases: Databases) -> Self {
        Self { databases, ..self }
    }

    /// Opens the files, unless they are open.
    pub(crate) fn open(&mut self) -> io::Result<()> {
        if self.is_open() {
            return Ok(());
        }
        let mut emitter = Emitter::new(self.plan.decoder(), Stage::Whole, self.outlet);
        if self.has_been_read {
            emitter.replace();
        }
        let now = (Instant::now(), &self.databases);
        self.reader = Some(SessionReader::new(
            &self.plan,
            &self.files,
            Bodies::Recent,
            emitter,
            now,
        )?);
        self.has_been_read = true;
        self.may_have_grown = self.plan.is_provisional;
        Ok(())
    }

    /// Whether the files are open; they are not if they turned out to have another format.
    pub(crate) fn is_open(&self) -> bool {
        self.reader.is_some()
    }

    /// Whether the session is complete and nothing more can come.
    pub(crate) fn is_over(&self) -> bool {
        self.reader.as_ref().is_some_and(SessionReader::is_over)
    }

    /// Whether the receiver still accepts events.
    pub(crate) fn has_receiver(&self) -> bool {
        self.reader
            .as_ref()
            .is_none_or(|reader| reader.emitter.is_open())
    }

    /// When to poll without an event.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.reader.as_ref().and_then(SessionReader::due)
    }

    /// The paths to watch, the most important ones first.
    pub(crate) fn watched(&self) -> impl Iterator<Item = &Path> {
        self.reader.iter().flat_map(SessionReader::watched)
    }

    /// Sends the end of a long session before the whole is read: `window` bytes of a line file.
    pub(crate) fn send_preview(&self, window: u64) {
        if !self.is_caught_up {
            show_end(&self.plan, &self.files, self.outlet, window);
        }
    }

    /// Reads for the given time. Returns whether there is more to read.
    pub(crate) fn read(&mut self, slice: Duration) -> io::Result<bool> {
        self.open()?;
        self.has_more = self
            .reader
            .as_mut()
            .is_some_and(|reader| read_for(reader, slice));
        if !self.has_more {
            self.emit_state();
        }
        Ok(self.has_more)
    }

    pub(crate) fn report(&mut self) {
        if let Some(reader) = &mut self.reader {
            let (done, total) = reader.progress();
            reader.emitter.flush(false);
            reader.emitter.send(Feed::Progress { done, total });
        }
    }

    /// Closes files that are read to the end and not written to.
    pub(crate) fn close(&mut self) {
        self.reader.iter_mut().for_each(SessionReader::close);
    }

    /// Frees the read buffer while there is nothing to read.
    pub(crate) fn free_buffer(&mut self) {
        self.reader.iter_mut().for_each(SessionReader::free_buffer);
    }

    /// Reports that everything is read, and whether it was read again.
    fn emit_state(&mut self) {
        let Some(reader) = &mut self.reader else {
            return;
        };
        if !std::mem::replace(&mut self.is_caught_up, true) {
            reader.emitter.send(Feed::CaughtUp);
            reader.emitter.send(Feed::Link(LinkState::Live));
        }
        if let Some(why) = self.reread.take() {
            reader
                .emitter
                .send(Feed::Link(LinkState::Reread(Text::clean(&why))));
        }
    }

    /// Checks whether files have changed.
    pub(crate) fn poll(&mut self, hints: &Hints) -> FollowResult {
        let now = Instant::now();
        let Some(reader) = &mut self.reader else {
            return FollowResult::default();
        };
        let seen = reader.poll(hints, now);
        self.has_more |= reader.has_more() || reader.is_overdue(now);
        let has_links = !seen.links.is_empty();
        let is_anew = self.apply_poll(seen);
        FollowResult {
            has_changed: has_links || self.has_more,
            is_anew,
        }
    }

    /// Applies the result of a poll. Returns whether everything is read again.
    fn apply_poll(&mut self, seen: PollResult) -> bool {
        for link in seen.links {
            (self.outlet)(Feed::Link(link));
        }
        let is_anew = seen.anew.is_some();
        if is_anew {
            self.reread = seen.anew.filter(|why| !why.is_empty());
        }
        let has_grown = std::mem::take(&mut self.may_have_grown) || seen.has_grown;
        let is_clear = !(self.plan.is_provisional && has_grown);
        let next = if is_anew || !is_clear {
            self.plan.detect_again()
        } else {
            None
        };
        let Some(plan) = next else { return is_anew };
        let is_same = plan.reads_like(&self.plan);
        let is_clearer = plan.opened.confidence != self.plan.opened.confidence
            || plan.opened.reason != self.plan.opened.reason;
        self.plan = plan;
        if !is_same || is_clearer {
            (self.outlet)(Feed::Opened(Box::new(self.plan.opened.clone())));
        }
        if !is_same {
            (self.reader, self.has_more) = (None, true);
        }
        is_anew
    }
}

/// Reads for the given time. Returns whether there is more to read.
fn read_for(reader: &mut SessionReader<'_>, slice: Duration) -> bool {
    let begun = Instant::now();
    loop {
        let now = Instant::now();
        if !reader.step(now) && !reader.finish_reading(now, false) {
            return false;
        }
        if begun.elapsed() >= slice || !reader.emitter.is_open() {
            return true;
        }
    }
}
