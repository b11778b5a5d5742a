//! The end of a long session, shown at once while the whole is being read. That of a line file is kept
//! up to date meanwhile.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::bodies::Bodies;
use super::emitter::{Emitter, Outlet};
use super::files::{Files, Kind};
use super::line_file::{Allowance, LineFile};
use super::plan::Plan;
use super::whole::{Small, is_whole_value};
use crate::formats::decoder::Pattern;
use crate::model::edit::{Feed, Stage};
use crate::source::follow::Change;
use crate::source::pattern::expand;
use crate::source::regular;
use crate::source::stamp::read_range;

/// Files that are not so many times longer than what would be shown of them are read whole at once.
const WORTH_IT: u64 = 4;
/// How much of the end is read for a reader; eight times as much if no line begins in it, but not more than can be
/// read at once.
pub(crate) const WINDOW: u64 = 1 << 20;
const WIDEST: u64 = 64 << 20;
/// How much is looked at together.
const STEP: usize = 1 << 20;
/// Folders with fewer messages are read whole at once.
const MANY_FILES: usize = 200;
/// How many messages of others are shown first.
const NEWEST_FILES: usize = 30;

/// A preview.
pub struct Preview<'o> {
    emitter: Emitter<'o>,
    line_file: LineFile,
    room: Vec<u8>,
}

impl<'o> Preview<'o> {
    /// Opens a preview, if the file is long enough to need one.
    pub(crate) fn open(
        plan: &Plan,
        files: &Files,
        outlet: Outlet<'o>,
        window: u64,
        now: Instant,
    ) -> io::Result<Option<Self>> {
        let mut line_file = LineFile::open(&plan.path, Kind::Lines, files, now)?;
        let len = line_file.follower.len();
        if len <= WORTH_IT * window {
            return Ok(None);
        }
        let Some(at) = last_lines(plan, len, window)? else { return Ok(None) };
        line_file.seek(at)?;
        let emitter = Emitter::new(plan.format.decoder(), Stage::Preview, outlet);
        Ok(Some(Self { emitter, line_file, room: vec![0; STEP] }))
    }

    /// Lets go of the file until there is something to show.
    pub(crate) fn close(&mut self) {
        self.line_file.follower.rest();
    }

    fn read(&mut self, now: Instant) -> io::Result<usize> {
        let (room, between) = (&mut *self.room, &mut || ());
        self.line_file.read(&mut self.emitter, Allowance { room, bodies: Bodies::Kept, now, between })
    }

    /// Shows what was appended. Answers whether the preview still shows the file: once it is cut or
    /// replaced, it is of no use.
    pub(crate) fn update(&mut self, now: Instant) -> bool {
        loop {
            match self.line_file.follower.poll(now) {
                Change::Grown => {}
                Change::Anew(_) => return false,
                Change::Quiet
                | Change::Emptied
                | Change::Gone
                | Change::Moved(_)
                | Change::Back
                | Change::Unreadable(_) => {
                    return true;
                }
            }
            while self.read(now).is_ok_and(|read| read > 0) {}
            self.line_file.rest(&mut self.emitter, now, false);
            self.emitter.finish();
            self.emitter.flush(true);
        }
    }
}

/// Shows the newest files of a folder with many, and what they ask for. Answers whether it did.
pub(crate) fn show_newest_files(plan: &Plan, files: &Files, outlet: Outlet<'_>) -> bool {
    let found: Vec<PathBuf> = files_of(plan.format.files(&plan.path, &plan.session));
    if found.len() <= MANY_FILES {
        return false;
    }
    let mut emitter = Emitter::new(plan.format.decoder(), Stage::Preview, outlet);
    for path in found.iter().skip(found.len() - NEWEST_FILES) {
        emit_small(path, files, &mut emitter);
        for wanted in emitter.take_wanted() {
            let parts = files_of(plan.follow_up(&wanted));
            for part in parts {
                emit_small(&part, files, &mut emitter);
            }
        }
    }
    emitter.finish();
    emitter.flush(true);
    true
}

fn files_of(patterns: Vec<Pattern>) -> Vec<PathBuf> {
    patterns.iter().flat_map(|Pattern(pattern)| expand(pattern).files).collect()
}

/// Files that are half written are left to the whole reading.
fn emit_small(path: &Path, files: &Files, emitter: &mut Emitter<'_>) {
    let (id, is_new) = files.number(path, Kind::Small);
    if is_new {
        emitter.send(Feed::File { id, path: path.into() });
    }
    let mut small = Small::new(path, id, Kind::Small, files.fence_of(path));
    if let Some(bytes) = small.file.read().ok().filter(|bytes| is_whole_value(bytes)) {
        small.emit(emitter, &bytes);
    }
}

/// Where the first line of the window at the end begins, if one does.
fn last_lines(plan: &Plan, len: u64, window: u64) -> io::Result<Option<u64>> {
    let file = regular::open(&plan.path)?;
    let mut window = window;
    while window < len && window <= WIDEST {
        // Chunk by chunk: a line may be longer than what should be held of it.
        for at in (len - window..len - 1).step_by(STEP) {
            let room = usize::try_from(len - 1 - at).unwrap_or(STEP).min(STEP);
            if let Some(newline) = memchr::memchr(b'\n', &read_range(&file, at, room)?) {
                return Ok(Some(at + newline as u64 + 1));
            }
        }
        window = window.saturating_mul(8);
    }
    Ok(None)
}
