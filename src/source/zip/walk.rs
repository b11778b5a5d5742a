//! Reads an archive without a valid directory: its members one behind the other.
//!
//! Where the length of a member is unknown, because it was written behind the data or is damaged,
//! the member ends at the next header.

use std::collections::BTreeMap;
use std::io;

use memchr::memmem;

use super::{
    CENTRAL, ELSEWHERE, LOCAL, LOCAL_LEN, Member, MemberOrder, insert, long_numbers, number,
};
use crate::source::fs::File;
use crate::source::read::read_range;

/// Bytes searched at once at first: most headers are where they are expected.
const FIRST: usize = 4 << 10;
const BLOCK: usize = 1 << 20;
/// The optional mark before the lengths that follow a member's data.
const DESCRIPTOR: &[u8] = b"PK\x07\x08";
const WITH_DESCRIPTOR: u64 = 8;

pub(super) fn walk(file: &File) -> io::Result<BTreeMap<MemberOrder, Member>> {
    let mut members = BTreeMap::new();
    let mut window = ReadWindow {
        file,
        at: 0,
        bytes: Vec::new(),
    };
    let mut from = 0;
    while let Some((at, is_member)) = window.next_header(from)? {
        from = at + LOCAL.len() as u64;
        let header = if is_member {
            window.at(at, LOCAL_LEN + 1024)?
        } else {
            &[]
        };
        let Some(local) = Local::read(header.get(..LOCAL_LEN + 1024).unwrap_or(header)) else {
            continue;
        };
        let Local {
            len,
            method,
            packed,
            ..
        } = local;
        let name = local.name.to_owned();
        let begin = at + len;
        let end = match packed.and_then(|len| begin.checked_add(len)) {
            // The last one may break off.
            Some(end) if is_at_header(file, end)? => end,
            known => match window.next_header(begin)? {
                Some((next, _)) => next - descriptor(file, begin, next)?,
                None => known.map_or(file.metadata()?.len, |end| end.max(begin)),
            },
        };
        insert(
            &name,
            Member {
                at,
                len: end.saturating_sub(begin),
                method,
            },
            &mut members,
        );
        from = end.max(from);
    }
    Ok(members)
}

/// The header of a member.
struct Local<'h> {
    name: &'h [u8],
    /// Its own length in bytes.
    len: u64,
    method: u64,
    /// Compressed length of the data, if the header has it.
    packed: Option<u64>,
}

impl<'h> Local<'h> {
    fn read(header: &'h [u8]) -> Option<Self> {
        let (name, extra) = (number(header, 26, 2)?, number(header, 28, 2)?);
        let name_end = LOCAL_LEN + usize::try_from(name).ok()?;
        let extra_end = name_end + usize::try_from(extra).ok()?;
        let mut long = long_numbers(
            header
                .get(name_end..extra_end.min(header.len()))
                .unwrap_or_default(),
        );
        let mut or_long = |short: u64| {
            if short == ELSEWHERE {
                long.pop_front()
            } else {
                Some(short)
            }
        };
        // The extra field stores them in this order.
        let _size = or_long(number(header, 22, 4)?);
        let packed = or_long(number(header, 18, 4)?);
        Some(Self {
            name: header.get(LOCAL_LEN..name_end)?,
            len: LOCAL_LEN as u64 + name + extra,
            method: number(header, 8, 2)?,
            packed: packed
                .filter(|_| number(header, 6, 2).is_some_and(|flags| flags & WITH_DESCRIPTOR == 0)),
        })
    }
}

/// Whether a header begins here, or the file ends.
fn is_at_header(file: &File, at: u64) -> io::Result<bool> {
    let bytes = read_range(file, at, LOCAL.len())?;
    Ok(bytes.starts_with(LOCAL) || bytes.starts_with(CENTRAL))
}

/// A buffer over a part of the file: most reads are near the one before.
struct ReadWindow<'f> {
    file: &'f File,
    at: u64,
    bytes: Vec<u8>,
}

impl ReadWindow<'_> {
    /// At least `len` bytes at an offset, unless the file ends.
    fn at(&mut self, at: u64, len: usize) -> io::Result<&[u8]> {
        let end = self.at + self.bytes.len() as u64;
        let is_here = self.at <= at && at.saturating_add(len as u64) <= end;
        if !is_here {
            let is_next = self.at <= at && at <= end;
            let size = if is_next {
                (self.bytes.len() * 4).clamp(FIRST, BLOCK)
            } else {
                FIRST
            };
            (self.at, self.bytes) = (at, read_range(self.file, at, size.max(len))?);
        }
        let from = usize::try_from(at - self.at).unwrap_or(usize::MAX);
        Ok(self.bytes.get(from..).unwrap_or_default())
    }

    /// Offset of the next header, and whether it is that of a member.
    fn next_header(&mut self, mut at: u64) -> io::Result<Option<(u64, bool)>> {
        loop {
            let bytes = self.at(at, LOCAL.len())?;
            for place in memmem::find_iter(bytes, b"PK") {
                let header = bytes.get(place..).unwrap_or_default();
                if header.starts_with(LOCAL) || header.starts_with(CENTRAL) {
                    return Ok(Some((at + place as u64, header.starts_with(LOCAL))));
                }
            }
            if bytes.len() < LOCAL.len() {
                return Ok(None);
            }
            // A header may begin at the end of the buffer.
            at += (bytes.len() - LOCAL.len() + 1) as u64;
        }
    }
}

/// Length in bytes of the record before `next` that tells the length of the data from `begin` on.
fn descriptor(file: &File, begin: u64, next: u64) -> io::Result<u64> {
    // With or without the mark, with 64-bit or 32-bit numbers.
    for (len, mark, size) in [(24, 4, 8), (20, 0, 8), (16, 4, 4), (12, 0, 4)] {
        let Some(end) = next.checked_sub(len as u64).filter(|end| *end >= begin) else {
            continue;
        };
        let bytes = read_range(file, end, len)?;
        let is_marked = mark == 0 || bytes.starts_with(DESCRIPTOR);
        if is_marked && number(&bytes, mark + 4, size) == Some(end - begin) {
            return Ok(len as u64);
        }
    }
    Ok(0)
}
