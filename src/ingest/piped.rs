//! A session from a pipe. It cannot be read again, so all bodies stay in memory; if records may be
//! requested as written, an unlinked file holds a copy.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, TryRecvError};

use super::bodies::Bodies;
use super::emitter::{Emitter, Outlet};
use super::files::{FileKind, FileTable, TextCopy};
use super::line_file::emit_line;
use super::plan::Plan;
use super::probe::{self, HEAD, LONGEST};
use super::whole::{emit_whole, is_whole_value, kind_of};
use crate::model::edit::{Feed, LinkState, Stage};
use crate::model::record::FileId;
use crate::model::text::Text;
use crate::source::lines::{Line, LineBuffer};
use crate::source::packed::Packing;
use crate::source::rows::is_database;
use crate::source::stream::{StreamPiece, pipe, start};

/// After this time without data, the format is detected from what has come.
const SILENCE: Duration = Duration::from_millis(200);
/// Interval at which the stop flag is checked.
const CALM: Duration = Duration::from_millis(500);

/// Reads a pipe to its end, or until the stop flag is set, with a copy in these files for pagers.
pub(crate) fn run(plan: Plan, files: &FileTable, outlet: Outlet<'_>, stop: &AtomicBool) {
    let mut piped = Piped::new(plan, files, outlet);
    if piped.run(stop) {
        piped.emitter.send(Feed::Link(LinkState::Closed));
    }
}

struct Piped<'o> {
    plan: Plan,
    /// Files for the pagers.
    files: FileTable,
    copy: TextCopy,
    emitter: Emitter<'o>,
    /// What came so far, until the format is detected; a document until its end.
    head: Vec<u8>,
    is_decided: bool,
    /// Whether it is nothing readable.
    is_refused: bool,
    buffer: LineBuffer,
    /// Whether the unfinished line was sent.
    is_shown: bool,
    is_caught_up: bool,
}

impl<'o> Piped<'o> {
    fn new(plan: Plan, files: &FileTable, outlet: Outlet<'o>) -> Self {
        let is_paged = plan.is_paged;
        let emitter = Emitter::new(plan.decoder(), Stage::Whole, outlet).of_pipe(true);
        plan.send_opened(outlet);
        Self {
            plan,
            files: files.clone(),
            copy: TextCopy::of(files, is_paged),
            emitter,
            head: Vec::new(),
            is_decided: false,
            is_refused: false,
            buffer: LineBuffer::new(FileId(0)),
            is_shown: false,
            is_caught_up: false,
        }
    }

    /// Reads from beginning to end. Returns whether the end was reached.
    fn run(&mut self, stop: &AtomicBool) -> bool {
        self.copy.begin();
        self.copy.show();
        let reader = thread::current();
        let path = self.plan.path.clone();
        let pieces = start(move || pipe(&path), move || reader.unpark());
        self.pump(&pieces, stop)
    }

    /// Processes the data. Returns whether the end was reached.
    fn pump(&mut self, pieces: &Receiver<StreamPiece>, stop: &AtomicBool) -> bool {
        let mut last = Instant::now();
        while self.emitter.is_open() && !self.is_refused && !stop.load(Ordering::Relaxed) {
            match pieces.try_recv() {
                Ok(StreamPiece::Bytes(bytes)) => {
                    last = Instant::now();
                    self.feed(&bytes);
                }
                Ok(StreamPiece::End(why)) => {
                    self.end(why);
                    return true;
                }
                Err(TryRecvError::Disconnected) => {
                    self.end(None);
                    return true;
                }
                Err(TryRecvError::Empty) => thread::park_timeout(self.pause(last.elapsed())),
            }
        }
        false
    }

    /// The pipe is silent. Returns how long to wait for more.
    fn pause(&mut self, silence: Duration) -> Duration {
        // An incomplete line is not enough.
        let can_decide = self.head.contains(&b'\n') || is_whole_value(&self.head);
        if self.is_decided || (silence >= SILENCE && can_decide) {
            self.emit_rest();
        }
        if self.is_decided || !can_decide {
            CALM
        } else {
            SILENCE.saturating_sub(silence)
        }
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.copy.add(bytes);
        let is_document = self.plan.shape.is_rewritten();
        if !self.is_decided || is_document || self.plan.is_provisional {
            self.head.extend_from_slice(bytes);
        }
        if !self.is_decided {
            // A pipe can be detected only once.
            let has_record = self.head.len() >= LONGEST || self.head.contains(&b'\n');
            if self.head.len() >= HEAD && has_record {
                self.detect_and_emit(false);
            }
        } else if self.plan.is_provisional {
            self.redetect(bytes);
        } else if !is_document {
            self.emit_lines(bytes);
        }
    }

    /// Detects the format. From here on lines are sent as they come, a document at its end.
    fn detect_and_emit(&mut self, is_whole: bool) {
        if let Some(what) = self.refusal() {
            self.is_refused = true;
            self.emitter.send(Feed::Fault(Text::clean(&what)));
            return;
        }
        if let Some(plan) = self.detect(is_whole) {
            self.plan = plan;
        }
        self.is_decided = true;
        self.emit_head();
    }

    /// Why the data is no session.
    fn refusal(&self) -> Option<String> {
        if let Some(packing) = Packing::of(&self.head) {
            return Some(format!(
                "compressed with {}; name the file instead, or unpack it first",
                packing.name()
            ));
        }
        if is_database(&self.head) {
            return Some("a database; name its file instead".to_owned());
        }
        probe::foreign(&self.head).map(str::to_owned)
    }

    /// Detects the format again, because more data may show another one.
    fn redetect(&mut self, new: &[u8]) {
        let plan = self
            .detect(false)
            .filter(|plan| !plan.reads_like(&self.plan));
        if let Some(plan) = plan {
            self.plan = plan;
            self.buffer = LineBuffer::new(FileId(0));
            self.is_shown = false;
            return self.emit_head();
        }
        self.plan.is_provisional &= self.head.len() < HEAD;
        if !self.plan.shape.is_rewritten() {
            self.emit_lines(new);
        }
    }

    fn detect(&self, is_whole: bool) -> Option<Plan> {
        let head = &self.head;
        let detection = probe::detect_file(&self.plan.path, head, is_whole && head.len() <= HEAD);
        if probe::is_unclaimed(&detection) {
            return None;
        }
        let mut plan = Plan::new(&self.plan.path, self.plan.session.clone(), detection);
        plan.survey.clone_from(&self.plan.survey);
        Some(plan)
    }

    /// Emits everything that came so far, from the beginning, by the plan.
    fn emit_head(&mut self) {
        let is_rewritten = self.plan.shape.is_rewritten();
        let kind = if is_rewritten {
            kind_of(self.plan.shape)
        } else {
            FileKind::Lines
        };
        self.files.number(&self.plan.path, kind);
        self.files.set_format(self.plan.format, &self.plan.path);
        self.emitter.restart(self.plan.decoder());
        self.emitter
            .send(Feed::Opened(Box::new(self.plan.opened.clone())));
        if !self.plan.shape.is_rewritten() {
            let head = std::mem::take(&mut self.head);
            self.emit_lines(&head);
            self.head = head;
        }
    }

    fn emit_lines(&mut self, bytes: &[u8]) {
        let (emitter, is_shown) = (&mut self.emitter, &mut self.is_shown);
        self.buffer.feed(bytes, |line| {
            if !std::mem::take(is_shown) {
                emit_line(line, FileKind::Lines, Path::new("-"), emitter);
            }
        });
    }

    /// Emits the rest at the end.
    fn emit_rest(&mut self) {
        if !self.is_decided {
            self.detect_and_emit(false);
        }
        if self.is_refused {
            return;
        }
        if !self.plan.is_provisional && !self.plan.shape.is_rewritten() {
            self.head = Vec::new();
        }
        let unfinished = self.buffer.unfinished().filter(|_| !self.is_shown);
        if let Some(line @ Line::Whole(record)) = unfinished
            && is_whole_value(record.bytes)
        {
            self.is_shown = true;
            emit_line(line, FileKind::Lines, Path::new("-"), &mut self.emitter);
        }
        self.emitter.finish();
        self.emitter.flush(true);
        if !self.plan.shape.is_rewritten() {
            self.send_caught_up();
        }
    }

    fn end(&mut self, why: Option<io::Error>) {
        if !self.is_decided {
            self.detect_and_emit(true);
        }
        if self.is_refused {
            return;
        }
        if self.plan.shape.is_rewritten() {
            let kind = kind_of(self.plan.shape);
            let all = std::mem::take(&mut self.head);
            emit_whole(&mut self.emitter, kind, FileId(0), &all, Bodies::InMemory);
        } else if let Some(line) = self.buffer.unfinished().filter(|_| !self.is_shown) {
            emit_line(line, FileKind::Lines, Path::new("-"), &mut self.emitter);
        }
        if let Some(why) = why {
            self.emitter
                .notice(FileId(0), &format!("the pipe broke: {why}"));
        }
        self.emitter.finish();
        self.emitter.flush(true);
        self.send_caught_up();
    }

    fn send_caught_up(&mut self) {
        if !std::mem::replace(&mut self.is_caught_up, true) {
            self.emitter.send(Feed::CaughtUp);
        }
    }
}
