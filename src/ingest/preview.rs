//! The end of a long line file, shown at once and kept up to date while the whole is being read.

use std::io;
use std::time::Instant;

use super::files::{Files, Kind};
use super::plan::Plan;
use super::reader::CHUNK;
use super::strand::Strand;
use super::teller::{Outlet, Teller};
use crate::model::edit::Stage;
use crate::source::follow::Change;
use crate::source::stamp::read_range;

/// Shorter files are read whole at once.
const WORTH_IT: u64 = 4 << 20;
/// How much of the end is read; eight times as much if no line begins in it.
const WINDOW: u64 = 1 << 20;

/// A preview.
pub struct Preview<'o> {
    teller: Teller<'o>,
    strand: Strand,
    chunk: Vec<u8>,
}

impl<'o> Preview<'o> {
    /// Opens a preview, if the file is long enough to need one.
    pub fn open(plan: &Plan, files: &Files, outlet: Outlet<'o>, now: Instant) -> io::Result<Option<Self>> {
        let mut strand = Strand::open(&plan.path, Kind::Lines, files, now)?;
        let len = strand.follower.len();
        if len <= WORTH_IT {
            return Ok(None);
        }
        strand.seek(last_lines(plan, len)?)?;
        let teller = Teller::new(plan.format.decoder(), Stage::Preview, outlet);
        Ok(Some(Self { teller, strand, chunk: vec![0; CHUNK] }))
    }

    /// Shows what was appended. Answers whether the preview still shows the file: once it is cut or
    /// replaced, it is of no use.
    pub fn update(&mut self, now: Instant) -> bool {
        loop {
            match self.strand.follower.poll(now) {
                Change::Grown => {}
                Change::Anew(_) => return false,
                Change::Quiet | Change::Gone | Change::Back | Change::Unreadable(_) => return true,
            }
            while self.strand.read(&mut self.teller, &mut self.chunk, now).is_ok_and(|read| read > 0) {}
            self.strand.rest(&mut self.teller, now, false);
            self.teller.finish();
            self.teller.flush(true);
        }
    }
}

/// Where the first line of the window at the end begins.
fn last_lines(plan: &Plan, len: u64) -> io::Result<u64> {
    let file = std::fs::File::open(&plan.path)?;
    let mut window = WINDOW;
    while window < len {
        let at = len - window;
        let bytes = read_range(&file, at, usize::try_from(window).unwrap_or(usize::MAX))?;
        let before_last = bytes.get(..bytes.len().saturating_sub(1)).unwrap_or_default();
        if let Some(newline) = memchr::memchr(b'\n', before_last) {
            return Ok(at + newline as u64 + 1);
        }
        window = window.saturating_mul(8);
    }
    Ok(0)
}
