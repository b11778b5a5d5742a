//! A log of changes: pages that wait to be moved into the database. It counts up to the first frame that is not sound;
//! whether a change is lost behind that is another question.
//!
//! Invariant: reads only what is there, in one pass; a writer may append meanwhile.

use std::collections::HashMap;
use std::fs::File;

use crate::source::stamp::{read_at, read_range};

/// The header of a log.
pub(crate) const HEADER: usize = 32;
/// What it begins with, but for its last bit, which is the order of the bytes in sums.
const MAGIC: u32 = 0x377f_0682;
/// Before the page of each frame: its number, the size of the database if the frame ends a change, salts, sums.
const FRAME: usize = 24;

/// The header of a log that SQLite takes for one.
pub(crate) struct Header {
    /// Bytes of a frame.
    pub(crate) frame: usize,
    salts: [u8; 8],
    /// The words that are summed have their first byte first.
    is_big: bool,
    sums: (u32, u32),
}

impl Header {
    /// Reads a header, if it is sound.
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

    /// Whether frames were written after these salts.
    pub(crate) fn has_salts(&self, salts: [u8; 8]) -> bool {
        self.salts == salts
    }
}

/// So many frames are read at once.
const AT_ONCE: usize = 64;

/// What a log changes, up to the last change that was completed.
pub(crate) struct Changes {
    /// Bytes of a page.
    pub(crate) page: usize,
    /// How many pages the database has.
    pub(crate) pages: u32,
    /// Where in the log the newest state of a page is, by its number, counted from 1.
    pub(crate) newest: HashMap<u32, u64>,
}

impl Changes {
    /// Reads a log; `None` if no change in it was completed.
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

/// Where the first frame is that is not sound, if a change was completed behind it: that is lost.
pub(crate) fn first_lost(file: &File) -> Option<u64> {
    let (mut broken, mut lost) = (None, None);
    each_frame(file, |frame| {
        broken = broken.or((!frame.is_sound).then_some(frame.at));
        // Others are left from before the log began anew.
        lost = broken.filter(|_| frame.is_of_log && frame.pages != 0);
        lost.is_none()
    })?;
    lost
}

/// A frame of a log.
struct Frame {
    /// Where it is.
    at: u64,
    /// The number of its page.
    page: u32,
    /// How many pages the database has after it, if it ends a change.
    pages: u32,
    /// Whether it was written since the log began.
    is_of_log: bool,
    /// Whether it and all before it are as they were written.
    is_sound: bool,
}

/// Goes through the frames of a log as long as `each` wants more. Gives the bytes of a page; `None` for what is no log.
fn each_frame(file: &File, mut each: impl FnMut(&Frame) -> bool) -> Option<usize> {
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
            if !each(&Frame {
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

/// The checksums as they are written.
fn written_sums(bytes: &[u8], at: usize) -> Option<(u32, u32)> {
    Some((
        word(bytes, at, u32::from_be_bytes)?,
        word(bytes, at + 4, u32::from_be_bytes)?,
    ))
}

/// The sums of all before, with these bytes.
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
