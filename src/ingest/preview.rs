//! Shows the end of a long session while the whole is read.

use std::io;
use std::path::Path;

use super::emitter::{Emitter, Outlet};
use super::files::{FileKind, FileTable};
use super::line_file::emit_line;
use super::plan::{Plan, files_of};
use super::rows;
use super::whole::{Small, is_whole_value};
use crate::formats::roots::FileRole;
use crate::model::edit::{Feed, Stage};
use crate::model::record::Shape;
use crate::source::lines::{Line, LineBuffer};
use crate::source::read::read_range;
use crate::source::regular;

/// Files must be at least this many times longer than the preview.
const WORTH_IT: u64 = 4;
/// Bytes of the preview; eight times as many if no line begins in them, but at most what can be
/// read at once.
pub(crate) const WINDOW: u64 = 1 << 20;
const WIDEST: u64 = 64 << 20;
/// Folders with fewer messages are read whole at once.
const MANY_FILES: usize = 200;
/// Number of messages of a larger folder that are shown first.
const NEWEST_FILES: usize = 30;

/// Sends the end of a session, if it is a few times longer than that: `window` bytes of a line
/// file. Errors are left to the reading of the whole.
pub(crate) fn show_end(plan: &Plan, files: &FileTable, outlet: Outlet<'_>, window: u64) {
    let mut emitter = Emitter::new(plan.format.decoder(None), Stage::Preview, outlet);
    let is_shown = match plan.shape {
        Shape::Lines => last_lines(plan, files, window, &mut emitter).unwrap_or(false),
        Shape::Folder => newest_files(plan, files, &mut emitter),
        Shape::Rows => rows::emit_newest(plan, files, &mut emitter).unwrap_or(false),
        Shape::Document | Shape::Values | Shape::Text | Shape::Stream => false,
    };
    if is_shown {
        emitter.finish();
        emitter.flush(true);
        // Signals to the receiver that the preview is complete.
        outlet(Feed::Progress { done: 0, total: 0 });
    }
}

fn last_lines(
    plan: &Plan,
    files: &FileTable,
    window: u64,
    emitter: &mut Emitter<'_>,
) -> io::Result<bool> {
    let file = regular::open(&plan.path)?;
    let len = file.metadata()?.len;
    let mut size = if len > WORTH_IT * window { window } else { len };
    while size < len && size <= WIDEST {
        let bytes = read_range(
            &file,
            len - size,
            usize::try_from(size).unwrap_or(usize::MAX),
        )?;
        // A line that ends with the file may be the only one in the window.
        let newline = bytes
            .split_last()
            .and_then(|(_, rest)| memchr::memchr(b'\n', rest));
        if let Some((_, lines)) = newline.and_then(|newline| bytes.split_at_checked(newline + 1)) {
            let id = files.number(&plan.path, FileKind::Lines);
            let mut buffer = LineBuffer::in_the_middle(id, len - lines.len() as u64);
            let mut emit = |line: Line<'_>| emit_line(line, FileKind::Lines, &plan.path, emitter);
            buffer.feed(lines, &mut emit);
            if let Some(line) = buffer
                .unfinished()
                .filter(|line| is_whole_value(line.record().bytes))
            {
                emit(line);
            }
            return Ok(true);
        }
        size = size.saturating_mul(8);
    }
    Ok(false)
}

/// The newest files of a large folder, and those that they request.
fn newest_files(plan: &Plan, files: &FileTable, emitter: &mut Emitter<'_>) -> bool {
    let found = files_of(&plan.format.files(&plan.path, FileRole::Part(&plan.session)));
    if found.len() <= MANY_FILES {
        return false;
    }
    for path in found.iter().skip(found.len() - NEWEST_FILES) {
        emit_small(path, files, emitter);
        for wanted in emitter.take_wanted() {
            for part in files_of(&plan.requested_files(&wanted)) {
                emit_small(&part, files, emitter);
            }
        }
    }
    true
}

/// Incomplete files are left to the reading of the whole.
fn emit_small(path: &Path, files: &FileTable, emitter: &mut Emitter<'_>) {
    let id = files.announce(path.into(), FileKind::Small, emitter);
    let mut small = Small::new(path, id, FileKind::Small, files.fence_of(path));
    if let Some(bytes) = small.file.read().ok().filter(|bytes| is_whole_value(bytes)) {
        small.emit(emitter, &bytes);
    }
}
