//! Logs of evaluations are zip archives. Their members are read one after the other, each as one
//! line of text, the one that tells most of the whole first.
//!
//! The archive's directory is used, because a member that was rewritten occurs twice. An archive
//! that is still being written has no directory, and is read member by member, as is one whose
//! directory is damaged.
//!
//! Invariant: no byte of the file belongs to two members, so reading all of them takes time linear
//! in the file.

mod walk;

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufReader, Read};
use std::sync::Arc;

use flate2::bufread::DeflateDecoder;
use memchr::memmem;

use self::walk::walk;
use super::budget::{LONGEST, exceeded};
use super::fs::File;
use super::read::read_range;
use super::zstd::Zstd;

const LOCAL: &[u8] = b"PK\x03\x04";
const CENTRAL: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";
const LONG_END: &[u8] = b"PK\x06\x06";
/// Length of a header without names, in bytes.
const LOCAL_LEN: usize = 30;
const CENTRAL_LEN: usize = 46;
/// The end record of the directory is within so many last bytes: a comment may follow it.
const TAIL: usize = (64 << 10) + 256;
/// Marks a number that is stored in the 64-bit extra field instead.
const ELSEWHERE: u64 = 0xffff_ffff;
/// Limit of members: each is a record that takes memory.
const MEMBERS: usize = 400_000;
/// Limit of the directory in bytes: enough for that many members.
const DIRECTORY: u64 = 128 << 20;
/// Names of the members of a log.
const NAMES: [&str; 4] = ["header.json", "_journal/", "samples/", "summaries.json"];

/// Whether a file with this beginning is the log of an evaluation, and no other archive.
pub(crate) fn is_log(head: &[u8]) -> bool {
    let name = head.get(LOCAL_LEN..).unwrap_or_default();
    head.starts_with(LOCAL) && NAMES.iter().any(|known| name.starts_with(known.as_bytes()))
}

/// Whether an archive has its directory.
pub(crate) fn is_whole(file: &File) -> bool {
    directory(file).is_ok()
}

/// Reads the members as lines.
pub(crate) struct Zip {
    file: Arc<File>,
    members: VecDeque<Member>,
    current: Option<Box<dyn Read>>,
    /// Bytes that may still be read of the current member.
    remaining: u64,
    /// Why a member could not be read, reported after the last member.
    failure: Option<io::Error>,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    /// Offset of its header.
    at: u64,
    /// Compressed length in bytes.
    len: u64,
    method: u64,
}

/// The order of reading: the log, then its samples by number, then the summaries.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct MemberOrder {
    rank: usize,
    numbers: [u64; 2],
    name: String,
}

impl MemberOrder {
    fn of(name: String) -> Self {
        let known = ["header.json", "_journal/start.json", "samples/"];
        let rank = known
            .iter()
            .position(|known| name.starts_with(known))
            .unwrap_or(known.len());
        let stem = name
            .trim_start_matches("samples/")
            .trim_end_matches(".json");
        let (id, epoch) = stem.rsplit_once("_epoch_").unwrap_or((stem, ""));
        let numbers = [id, epoch].map(|digits| digits.parse().unwrap_or(u64::MAX));
        Self {
            rank,
            numbers,
            name,
        }
    }
}

impl Zip {
    pub(crate) fn new(file: File) -> io::Result<Self> {
        let (members, failure) = match directory(&file) {
            Ok(members) => (members, None),
            Err(error) => (walk(&file)?, Some(error)),
        };
        let failure = if members.len() < MEMBERS {
            failure
        } else {
            Some(exceeded("zip"))
        };
        let members = members.into_values().collect();
        Ok(Self {
            file: Arc::new(file),
            members,
            current: None,
            remaining: 0,
            failure,
        })
    }

    fn open(&self, member: Member) -> io::Result<Box<dyn Read>> {
        let size = self.file.metadata()?.len;
        let at = begin_of(&self.file, member)?;
        if at.checked_add(member.len).is_none_or(|end| end > size) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let bytes = BufReader::new(CompressedMember {
            file: Arc::clone(&self.file),
            at,
            remaining: member.len,
        });
        Ok(match member.method {
            0 => Box::new(bytes),
            8 => Box::new(DeflateDecoder::new(bytes)),
            93 => Box::new(Zstd::new(bytes)),
            other => {
                return Err(io::Error::other(format!(
                    "method {other} of compression is not known"
                )));
            }
        })
    }
}

/// Offset of the data of a member.
fn begin_of(file: &File, member: Member) -> io::Result<u64> {
    let header = read_range(file, member.at, LOCAL_LEN)?;
    let names = number(&header, 26, 2).zip(number(&header, 28, 2));
    let (name, extra) = names
        .filter(|_| header.starts_with(LOCAL))
        .ok_or(io::ErrorKind::InvalidData)?;
    Ok(member.at.saturating_add(LOCAL_LEN as u64 + name + extra))
}

impl Read for Zip {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(text) = &mut self.current {
                let read = match text.read(buffer) {
                    Ok(read) if read > 0 && self.remaining == 0 => {
                        self.failure.get_or_insert_with(member_too_large);
                        0
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
                    Err(error) => {
                        self.failure.get_or_insert(error);
                        0
                    }
                    Ok(read) => within(read, self.remaining, &mut self.failure),
                };
                self.remaining -= read as u64;
                if read > 0 || buffer.is_empty() {
                    // Line ends occur only between values of JSON.
                    let line_ends = buffer
                        .iter_mut()
                        .take(read)
                        .filter(|byte| matches!(byte, b'\n' | b'\r'));
                    line_ends.for_each(|byte| *byte = b' ');
                    return Ok(read);
                }
                self.current = None;
                if let Some(first) = buffer.first_mut() {
                    *first = b'\n';
                    return Ok(1);
                }
            }
            let Some(member) = self.members.pop_front() else {
                return self.failure.take().map_or(Ok(0), Err);
            };
            match self.open(member) {
                Ok(text) => {
                    self.current = Some(text);
                    self.remaining = LONGEST;
                }
                Err(error) => drop(self.failure.get_or_insert(error)),
            }
        }
    }
}

/// How many of the bytes read are within the limit; records a failure if there were more.
fn within(read: usize, left: u64, failure: &mut Option<io::Error>) -> usize {
    if read as u64 > left {
        failure.get_or_insert_with(member_too_large);
    }
    read.min(usize::try_from(left).unwrap_or(usize::MAX))
}

fn member_too_large() -> io::Error {
    let what =
        "a member of the zip archive is too large to be a record; the rest of it is left out";
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}

/// The compressed bytes of a member.
struct CompressedMember {
    file: Arc<File>,
    at: u64,
    remaining: u64,
}

impl Read for CompressedMember {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer
            .len()
            .min(usize::try_from(self.remaining).unwrap_or(usize::MAX));
        let read = self
            .file
            .read_at(buffer.get_mut(..most).unwrap_or_default(), self.at)?;
        self.at += read as u64;
        self.remaining -= read as u64;
        Ok(read)
    }
}

/// The members by their order, as the directory lists them; the last one of a name counts. Fails if
/// the directory is missing or inconsistent.
fn directory(file: &File) -> io::Result<BTreeMap<MemberOrder, Member>> {
    let len = file.metadata()?.len;
    let tail = read_range(file, len.saturating_sub(TAIL as u64), TAIL)?;
    let Some(end) = memmem::rfind(&tail, END).and_then(|at| tail.get(at..)) else {
        return Err(io::ErrorKind::UnexpectedEof.into());
    };
    let mut place = number(end, 12, 4).zip(number(end, 16, 4));
    if place.is_some_and(|(size, at)| size == ELSEWHERE || at == ELSEWHERE) {
        let end = memmem::rfind(&tail, LONG_END)
            .and_then(|at| tail.get(at..))
            .unwrap_or_default();
        place = number(end, 40, 8).zip(number(end, 48, 8));
    }
    let Some((size, at)) =
        place.filter(|(size, at)| size.checked_add(*at).is_some_and(|end| end <= len))
    else {
        return Err(io::ErrorKind::UnexpectedEof.into());
    };
    let size = usize::try_from(size.min(DIRECTORY)).unwrap_or(usize::MAX);
    let listed = read_range(file, at, size)?;
    let mut rest = listed.as_slice();
    let mut members = BTreeMap::new();
    while let Some((name, member, after)) = listed_member(rest) {
        insert(name, member, &mut members);
        rest = after;
    }
    // A damaged directory would hide the members that it no longer lists.
    if !rest.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut ranges: Vec<(u64, u64)> = members
        .values()
        .map(|member| {
            let begin =
                begin_of(file, *member).unwrap_or(member.at.saturating_add(LOCAL_LEN as u64));
            (member.at, begin.saturating_add(member.len))
        })
        .collect();
    ranges.sort_unstable();
    let ends = ranges.iter().map(|(_, end)| *end);
    if ends
        .zip(ranges.iter().skip(1))
        .any(|(end, (next, _))| end > *next)
    {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "its members overlap",
        ));
    }
    Ok(members)
}

/// The first entry of a directory, and the rest of it.
fn listed_member(bytes: &[u8]) -> Option<(&[u8], Member, &[u8])> {
    let [name, extra, comment] = [28, 30, 32].map(|at| number(bytes, at, 2));
    let name = usize::try_from(name?).ok()?;
    let extra = usize::try_from(extra?).ok()?;
    let end = CENTRAL_LEN.checked_add(name)?.checked_add(extra)?;
    let mut long = long_numbers(bytes.get(CENTRAL_LEN + name..end)?);
    let mut at_or_long = |at: usize| {
        let short = number(bytes, at, 4)?;
        if short == ELSEWHERE {
            long.pop_front()
        } else {
            Some(short)
        }
    };
    // The extra field stores them in this order.
    let _size = at_or_long(24)?;
    let member = Member {
        len: at_or_long(20)?,
        at: at_or_long(42)?,
        method: number(bytes, 10, 2)?,
    };
    let after = bytes.get(end.checked_add(usize::try_from(comment?).ok()?)?..)?;
    bytes.starts_with(CENTRAL).then_some((
        bytes.get(CENTRAL_LEN..CENTRAL_LEN + name)?,
        member,
        after,
    ))
}

/// The 64-bit numbers in the extra fields of an entry.
fn long_numbers(mut extra: &[u8]) -> VecDeque<u64> {
    while let Some((id, len)) = number(extra, 0, 2).zip(number(extra, 2, 2)) {
        let end = usize::try_from(len).map_or(4, |len| 4 + len);
        let field = extra.get(4..end).unwrap_or_default();
        if id == 1 {
            return (0..field.len() / 8)
                .filter_map(|n| number(field, n * 8, 8))
                .collect();
        }
        extra = extra.get(end..).unwrap_or_default();
    }
    VecDeque::new()
}

fn insert(name: &[u8], member: Member, members: &mut BTreeMap<MemberOrder, Member>) {
    let name = String::from_utf8_lossy(name).into_owned();
    if name.strip_suffix(".json").is_some() && members.len() < MEMBERS {
        members.insert(MemberOrder::of(name), member);
    }
}

/// A little-endian number of `len` bytes.
fn number(bytes: &[u8], at: usize, len: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(len)?)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |sum, byte| (sum << 8) | u64::from(*byte)),
    )
}

#[cfg(test)]
mod tests;
