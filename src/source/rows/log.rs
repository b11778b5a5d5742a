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
        (is_sound && is_size).then_some(Self { frame: FRAME + page, salts, is_big, sums })
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
        let header = Header::of(&read_range(file, 0, HEADER).ok()?)?;
        let mut changes = Self { page: header.frame - FRAME, pages: 0, newest: HashMap::new() };
        let mut buffer = vec![0; header.frame * AT_ONCE];
        let (mut sums, mut pending, mut at) = (header.sums, Vec::new(), HEADER as u64);
        'frames: loop {
            let read = read_at(file, &mut buffer, at).ok()?;
            for frame in buffer.get(..read)?.chunks_exact(header.frame) {
                let number = word(frame, 0, u32::from_be_bytes)?;
                sums = summed(sums, frame.get(..8)?, header.is_big);
                sums = summed(sums, frame.get(FRAME..)?, header.is_big);
                let is_sound =
                    frame.get(8..16) == Some(&header.salts) && written_sums(frame, 16) == Some(sums);
                if !is_sound || number == 0 {
                    break 'frames;
                }
                pending.push((number, at + FRAME as u64));
                at += header.frame as u64;
                let pages = word(frame, 4, u32::from_be_bytes)?;
                if pages != 0 {
                    changes.newest.extend(pending.drain(..));
                    changes.pages = pages;
                }
            }
            if read < buffer.len() {
                break;
            }
        }
        (changes.pages != 0).then_some(changes)
    }
}

/// The first frame that is not sound, if a change was completed behind it: that is lost.
pub(crate) fn first_lost(file: &File) -> Option<u64> {
    let header = Header::of(&read_range(file, 0, HEADER).ok()?)?;
    let mut frame = vec![0; header.frame];
    let (mut sums, mut broken) = (header.sums, None);
    for number in 0.. {
        let at = HEADER as u64 + number * header.frame as u64;
        if read_at(file, &mut frame, at).ok()? < frame.len() {
            return None;
        }
        // Others are left from before the log began anew.
        if frame.get(8..16) != Some(&header.salts) {
            broken = broken.or(Some(number));
            continue;
        }
        if broken.is_none() {
            sums = summed(sums, frame.get(..8)?, header.is_big);
            sums = summed(sums, frame.get(FRAME..)?, header.is_big);
            broken = (written_sums(&frame, 16) != Some(sums)).then_some(number);
        }
        let ends_change = word(&frame, 4, u32::from_be_bytes) != Some(0);
        if ends_change && broken.is_some() {
            return broken;
        }
    }
    None
}

fn word(bytes: &[u8], at: usize, order: fn([u8; 4]) -> u32) -> Option<u32> {
    Some(order(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// The checksums as they are written.
fn written_sums(bytes: &[u8], at: usize) -> Option<(u32, u32)> {
    Some((word(bytes, at, u32::from_be_bytes)?, word(bytes, at + 4, u32::from_be_bytes)?))
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
    pairs.iter().fold(before, |(a, b), [w, x, y, z, rest @ ..]| {
        let a = a.wrapping_add(order([*w, *x, *y, *z])).wrapping_add(b);
        (a, b.wrapping_add(order(*rest)).wrapping_add(a))
    })
}
