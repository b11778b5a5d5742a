//! A line file that is followed: its follower, its unfinished line, and what was sent of that.
//!
//! Invariant: a line counts once, however often it was sent while it was unfinished.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::bodies::Bodies;
use super::emitter::Emitter;
use super::files::{FileKind, FileTable};
use super::plan::{Plan, files_of};
use super::whole::is_whole_value;
use crate::formats::counting::{Counting, CountingNeed};
use crate::formats::decoder::{Format, value_without};
use crate::formats::json::Json;
use crate::formats::roots::FileRole;
use crate::model::edit::LinkState;
use crate::model::record::{FileId, Origin};
use crate::model::tally::Tally;
use crate::model::text::Text;
use crate::source::follow::Follower;
use crate::source::lines::{Line, LineBuffer};

/// An unfinished last line is shown after this time.
const PATIENCE: Duration = Duration::from_secs(5);

/// A line file that is followed.
pub(crate) struct LineFile {
    pub(crate) id: FileId,
    kind: FileKind,
    pub(crate) follower: Follower,
    pub(crate) buffer: LineBuffer,
    /// Which lines are needed, if only figures are requested.
    counting: Option<Counting>,
    shown: Option<SentLine>,
    last_bytes: Instant,
}

/// The unfinished line as it was sent.
struct SentLine {
    origin: Origin,
    tally: Tally,
    is_damaged: bool,
}

impl LineFile {
    /// Opens a file at its beginning.
    pub(crate) fn open(
        path: &Path,
        kind: FileKind,
        files: &FileTable,
        now: Instant,
    ) -> io::Result<Self> {
        let follower = Follower::open(path, files.fence_of(path))?;
        let id = files.number(path, kind);
        let buffer = LineBuffer::new(id);
        Ok(Self {
            id,
            kind,
            follower,
            buffer,
            counting: None,
            shown: None,
            last_bytes: now,
        })
    }

    /// Skips lines that counting does not need, if the plan is to count.
    pub(crate) fn planned(mut self, plan: &Plan) -> Self {
        self.counting = plan.counting(self.kind.place(self.follower.path(), 0));
        self
    }

    /// Restarts at the beginning; the follower is there already.
    pub(crate) fn restart(&mut self) {
        self.buffer = LineBuffer::new(self.id);
        self.shown = None;
    }

    /// State of a file that was moved away, perhaps to `there`: its agent may have archived it.
    pub(crate) fn moved_state(&self, format: &dyn Format, there: Option<PathBuf>) -> LinkState {
        let files = files_of(&format.files(self.follower.path(), FileRole::Archive));
        match files.iter().find(|path| self.follower.is_at(path)) {
            Some(path) => LinkState::Archived(name_of(path)),
            None => LinkState::Moved(there.map(|there| self.new_name(&there))),
        }
    }

    /// The new name of a moved file, or of its folder if only that is new.
    fn new_name(&self, there: &Path) -> Text {
        let has_its_name = there.file_name() == self.follower.path().file_name();
        name_of(there.parent().filter(|_| has_its_name).unwrap_or(there))
    }

    /// Reads and emits further lines. Returns the number of bytes read.
    pub(crate) fn read(
        &mut self,
        emitter: &mut Emitter<'_>,
        room: &mut [u8],
        bodies: Bodies,
        now: Instant,
    ) -> io::Result<usize> {
        let Self {
            kind,
            follower,
            buffer,
            counting,
            shown,
            ..
        } = self;
        let (path, len) = (follower.path().to_owned(), follower.len());
        let read = follower.read(room)?;
        buffer.feed(room.get(..read).unwrap_or_default(), |line| {
            let need = counting.as_mut().map_or(CountingNeed::Whole, |counting| {
                counting.need(line.record().bytes)
            });
            if need == CountingNeed::Nothing {
                return;
            }
            // The shown line was the unfinished one, so the first finished line replaces it.
            let is_wanted = shown
                .take()
                .is_none_or(|shown| retract_sent(&shown, line, emitter));
            if !is_wanted {
                return;
            }
            emitter.set_stubs_only(bodies.is_away_at(line.record().origin.at, len));
            let counting = counting.as_ref().filter(|_| need == CountingNeed::Account);
            match (
                line,
                counting.and_then(|counting| account_of(line, counting)),
            ) {
                (Line::Whole(record), Some(value)) => {
                    emitter.emit_read(record, &value, kind.place(&path, record.origin.line));
                }
                (line, _) => emit_line(line, *kind, &path, emitter),
            }
        });
        if read > 0 {
            self.last_bytes = now;
        }
        Ok(read)
    }

    /// At the end of the file: emits the unfinished line if it is a whole record that only lacks
    /// its newline, or if nothing more is expected.
    pub(crate) fn emit_unfinished(
        &mut self,
        emitter: &mut Emitter<'_>,
        now: Instant,
        is_final: bool,
    ) {
        let Some(line) = self.buffer.unfinished() else {
            return;
        };
        let origin = line.record().origin;
        if self
            .shown
            .as_ref()
            .is_some_and(|shown| shown.origin == origin)
        {
            return;
        }
        // A number or a literal could continue.
        let is_whole = matches!(line, Line::Whole(record) if is_whole_value(record.bytes));
        if !is_whole && !is_final && now.duration_since(self.last_bytes) < PATIENCE {
            return;
        }
        if let Some(shown) = self.shown.take() {
            retract_sent(&shown, line, emitter);
        }
        let tally = match line {
            Line::Whole(record) => {
                let place = self.kind.place(self.follower.path(), origin.line);
                emitter.emit_provisional(record, place, false)
            }
            Line::TooLong(record) => emitter.fault_provisional(record, &too_long(record.origin)),
        };
        self.shown = Some(SentLine {
            origin,
            tally,
            is_damaged: !is_whole,
        });
    }

    /// When the unfinished line will be shown.
    pub(crate) fn due(&self) -> Option<Instant> {
        let line = self.buffer.unfinished()?;
        let is_shown = self
            .shown
            .as_ref()
            .is_some_and(|shown| shown.origin == line.record().origin);
        (!is_shown).then(|| self.last_bytes + PATIENCE)
    }
}

/// The value of a line without texts, if that suffices for counting.
fn account_of<'a>(line: Line<'a>, counting: &Counting) -> Option<Json<'a>> {
    value_without(line.record().bytes, counting.rules.closed)
        .filter(|value| counting.suffices(value))
}

/// Takes back the sent form of a line. Returns whether the line must be emitted.
fn retract_sent(shown: &SentLine, line: Line<'_>, emitter: &mut Emitter<'_>) -> bool {
    let origin = line.record().origin;
    if shown.origin.at != origin.at || (shown.origin == origin && !shown.is_damaged) {
        return shown.origin.at != origin.at;
    }
    emitter.retract(&shown.tally, shown.origin);
    true
}

pub(crate) fn emit_line(line: Line<'_>, kind: FileKind, path: &Path, emitter: &mut Emitter<'_>) {
    match line {
        Line::Whole(record) => emitter.emit(record, kind.place(path, record.origin.line)),
        Line::TooLong(record) => emitter.fault(record, &too_long(record.origin)),
    }
}

fn name_of(path: &Path) -> Text {
    Text::clean(&path.file_name().unwrap_or_default().to_string_lossy())
}

fn too_long(origin: Origin) -> String {
    format!(
        "a line of {} MB is too long to be a record",
        origin.len / 1_000_000
    )
}
