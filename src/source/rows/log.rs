//! The write-ahead log of a database: pages that are to be moved into it. A log is valid up to its
//! first broken frame; whether a commit is lost behind that is reported apart.
//!
//! Invariant: reads in one pass; a writer may append meanwhile.

use std::collections::HashMap;

use crate::source::fs::File;
use crate::source::read::{read_at, read_range};

/// Length of the header, in bytes.
pub(crate) const HEADER: usize = 32;
/// The magic number without its last bit, which is the byte order of the checksums.
const MAGIC: u32 = 0x377f_0682;
/// Length of a frame header: page number, size of the database if the frame ends a commit, salts,
/// checksums.
const FRAME: usize = 24;

/// The header of a log that SQLite accepts.
pub(crate) struct Header {
    /// Length of a frame, in bytes.
    pub(crate) frame: usize,
    salts: [u8; 8],
    /// Whether checksums are big-endian.
    is_big: bool,
    sums: (u32, u32),
}

impl Header {
    /// Parses a header, if its checksum is right.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        let magic = word(bytes, 0, u32::from_be_bytes)?;
        let is_big = magic & 1 == 1;
        let sums = summed((0, 0), bytes.get(..24)?, is_big);
        let page = usize::try_from(word(bytes, 8, u32::from_be_bytes)?).ok()?;
        let salts = bytes.get(16..24)?.try_into().ok()?;
        let is_sound = magic & !1 == MAGIC && written_sums(bytes, 24) == Some(sums);
        let is_size = page.is_power_of_two() && (512..=65_536).contains(&page);
        (is_sound && is_size).then_some(Self {
            frame: FRAME + page,
            salts,
            is_big,
            sums,
        })
    }

    /// Whether the frames written after it have these salts.
    pub(crate) fn has_salts(&self, salts: [u8; 8]) -> bool {
        self.salts == salts
    }
}

/// Frames that are read at once.
const AT_ONCE: usize = 64;

/// The pages that a log holds, up to its last commit.
pub(crate) struct Changes {
    /// Page size in bytes.
    pub(crate) page: usize,
    /// Size of the database in pages.
    pub(crate) pages: u32,
    /// Offset in the log of the newest version of each page, by page number from 1.
    pub(crate) newest: HashMap<u32, u64>,
}

impl Changes {
    /// Reads a log; `None` if it holds no commit.
    pub(crate) fn of(file: &File) -> Option<Self> {
        let (mut pages, mut newest, mut pending) = (0, HashMap::new(), Vec::new());
        let page = each_frame(file, |frame| {
            if !frame.is_sound || frame.page == 0 {
                return false;
            }
            pending.push((frame.page, frame.at + FRAME as u64));
            if frame.pages != 0 {
                newest.extend(pending.drain(..));
                pages = frame.pages;
            }
            true
        })?;
        (pages != 0).then_some(Self {
            page,
            pages,
            newest,
        })
    }
}

/// Offset of the first broken frame, if a commit follows it: that one is lost.
pub(crate) fn first_lost(file: &File) -> Option<u64> {
    let (mut broken, mut lost) = (None, None);
    each_frame(file, |frame| {
        broken = broken.or((!frame.is_sound).then_some(frame.at));
        // Other frames are left over from before the log was restarted.
        lost = broken.filter(|_| frame.is_of_log && frame.pages != 0);
        lost.is_none()
    })?;
    lost
}

struct LogFrame {
    at: u64,
    page: u32,
    /// Size of the database in pages, if it ends a commit.
    pages: u32,
    /// Whether it was written since the log was restarted.
    is_of_log: bool,
    /// Whether its checksum and all earlier ones are right.
    is_sound: bool,
}

/// Calls `each` for the frames of a log until it returns false. Returns the page size; `None` for
/// what is no log.
fn each_frame(file: &File, mut each: impl FnMut(&LogFrame) -> bool) -> Option<usize> {
    let header = Header::of(&read_range(file, 0, HEADER).ok()?)?;
    let page = header.frame - FRAME;
    let mut buffer = vec![0; header.frame * AT_ONCE];
    let (mut sums, mut is_sound, mut at) = (header.sums, true, HEADER as u64);
    loop {
        let read = read_at(file, &mut buffer, at).ok()?;
        for frame in buffer.get(..read)?.chunks_exact(header.frame) {
            let is_of_log = frame.get(8..16) == Some(&header.salts);
            if is_sound {
                sums = summed(sums, frame.get(..8)?, header.is_big);
                sums = summed(sums, frame.get(FRAME..)?, header.is_big);
                is_sound = is_of_log && written_sums(frame, 16) == Some(sums);
            }
            let number = |place| word(frame, place, u32::from_be_bytes);
            if !each(&LogFrame {
                at,
                page: number(0)?,
                pages: number(4)?,
                is_of_log,
                is_sound,
            }) {
                return Some(page);
            }
            at += header.frame as u64;
        }
        if read < buffer.len() {
            return Some(page);
        }
    }
}

fn word(bytes: &[u8], at: usize, order: fn([u8; 4]) -> u32) -> Option<u32> {
    Some(order(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// The checksums stored in a frame.
fn written_sums(bytes: &[u8], at: usize) -> Option<(u32, u32)> {
    Some((
        word(bytes, at, u32::from_be_bytes)?,
        word(bytes, at + 4, u32::from_be_bytes)?,
    ))
}

/// The checksums after these bytes.
fn summed(before: (u32, u32), bytes: &[u8], is_big: bool) -> (u32, u32) {
    if is_big {
        summed_by(before, bytes, u32::from_be_bytes)
    } else {
        summed_by(before, bytes, u32::from_le_bytes)
    }
}

fn summed_by(before: (u32, u32), bytes: &[u8], order: impl Fn([u8; 4]) -> u32) -> (u32, u32) {
    let (pairs, _) = bytes.as_chunks::<8>();
    pairs
        .iter()
        .fold(before, |(a, b), [w, x, y, z, rest @ ..]| {
            let a = a.wrapping_add(order([*w, *x, *y, *z])).wrapping_add(b);
            (a, b.wrapping_add(order(*rest)).wrapping_add(a))
        })
}
