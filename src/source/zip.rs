//! The logs of evaluations are zip archives. Their members are read one after the other, each as one line of text; what
//! says most of the whole comes first.
//!
//! Read by the archive's directory, for what was written again is there twice. An archive that is still being written has
//! none, and is read member by member.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, Cursor, Read};

use flate2::bufread::DeflateDecoder;
use memchr::memmem;

use super::regular::LARGEST;
use super::stamp::read_range;
use super::zstd::Zstd;

const LOCAL: &[u8] = b"PK\x03\x04";
const CENTRAL: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";
const LONG_END: &[u8] = b"PK\x06\x06";
/// Bytes of a header without names.
const LOCAL_LEN: usize = 30;
const CENTRAL_LEN: usize = 46;
/// The end of the directory stands in so many last bytes: a comment may follow it.
const TAIL: usize = (64 << 10) + 256;
/// A number that does not fit is written elsewhere.
const ELSEWHERE: u64 = 0xffff_ffff;
/// What the members of a log are called.
const NAMES: [&str; 4] = ["header.json", "_journal/", "samples/", "summaries.json"];

/// Whether a file that begins so is the log of an evaluation, and no other archive.
pub(crate) fn is_log(head: &[u8]) -> bool {
    let name = head.get(LOCAL_LEN..).unwrap_or_default();
    head.starts_with(LOCAL) && NAMES.iter().any(|known| name.starts_with(known.as_bytes()))
}

/// The members as lines.
pub(crate) struct Zip {
    file: File,
    members: VecDeque<Member>,
    current: Option<Box<dyn Read>>,
    /// Why a member could not be read, to be said when the others are.
    failure: Option<io::Error>,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    /// Where its header is.
    at: u64,
    /// How many bytes it takes, compressed.
    len: u64,
    method: u64,
}

/// What is read first: the log, then its samples by number, then what sums them up.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Order {
    rank: usize,
    numbers: [u64; 2],
    name: String,
}

impl Order {
    fn of(name: String) -> Self {
        let known = ["header.json", "_journal/start.json", "samples/"];
        let rank = known.iter().position(|known| name.starts_with(known)).unwrap_or(known.len());
        let stem = name.trim_start_matches("samples/").trim_end_matches(".json");
        let (id, epoch) = stem.rsplit_once("_epoch_").unwrap_or((stem, ""));
        let numbers = [id, epoch].map(|digits| digits.parse().unwrap_or(u64::MAX));
        Self { rank, numbers, name }
    }
}

impl Zip {
    /// Opens an archive.
    pub(crate) fn new(file: File) -> io::Result<Self> {
        let mut failure = None;
        let members = if let Some(members) = directory(&file)? {
            members
        } else {
            failure = Some(io::Error::from(io::ErrorKind::UnexpectedEof));
            walk(&file)?
        };
        Ok(Self { file, members: members.into_values().collect(), current: None, failure })
    }

    fn open(&self, member: Member) -> io::Result<Box<dyn Read>> {
        let header = read_range(&self.file, member.at, LOCAL_LEN)?;
        let names = number(&header, 26, 2).zip(number(&header, 28, 2));
        let (name, extra) = names.filter(|_| header.starts_with(LOCAL)).ok_or(io::ErrorKind::InvalidData)?;
        let len = usize::try_from(member.len.min(LARGEST)).unwrap_or(usize::MAX);
        let bytes = read_range(&self.file, member.at + LOCAL_LEN as u64 + name + extra, len)?;
        if bytes.len() as u64 != member.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let bytes = Cursor::new(bytes);
        Ok(match member.method {
            0 => Box::new(bytes),
            8 => Box::new(DeflateDecoder::new(bytes)),
            93 => Box::new(Zstd::new(bytes)),
            other => return Err(io::Error::other(format!("method {other} of compression is not known"))),
        })
    }
}

impl Read for Zip {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(text) = &mut self.current {
                let read = match text.read(buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
                    Err(error) => {
                        self.failure.get_or_insert(error);
                        0
                    }
                    Ok(read) => read,
                };
                if read > 0 || buffer.is_empty() {
                    // Only between values of JSON may there be ends of lines.
                    let line_ends = buffer.iter_mut().take(read).filter(|byte| matches!(byte, b'\n' | b'\r'));
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
                Ok(text) => self.current = Some(text),
                Err(error) => drop(self.failure.get_or_insert(error)),
            }
        }
    }
}

/// The members by their order, as the directory lists them; of several of one name the last one counts. `None` without a
/// directory.
fn directory(file: &File) -> io::Result<Option<BTreeMap<Order, Member>>> {
    let len = file.metadata()?.len();
    let tail = read_range(file, len.saturating_sub(TAIL as u64), TAIL)?;
    let Some(end) = memmem::rfind(&tail, END).and_then(|at| tail.get(at..)) else { return Ok(None) };
    let mut place = number(end, 12, 4).zip(number(end, 16, 4));
    if place.is_some_and(|(size, at)| size == ELSEWHERE || at == ELSEWHERE) {
        let end = memmem::rfind(&tail, LONG_END).and_then(|at| tail.get(at..)).unwrap_or_default();
        place = number(end, 40, 8).zip(number(end, 48, 8));
    }
    let Some((size, at)) = place.filter(|(size, at)| size.checked_add(*at).is_some_and(|end| end <= len))
    else {
        return Ok(None);
    };
    let size = usize::try_from(size.min(LARGEST)).unwrap_or(usize::MAX);
    let listed = read_range(file, at, size)?;
    let mut rest = listed.as_slice();
    let mut members = BTreeMap::new();
    while let Some((name, member, after)) = listed_member(rest) {
        insert(name, member, &mut members);
        rest = after;
    }
    // A damaged directory would hide what it lists no more.
    Ok(rest.is_empty().then_some(members))
}

/// The first entry of a directory, and what follows it.
fn listed_member(bytes: &[u8]) -> Option<(&[u8], Member, &[u8])> {
    let [name, extra, comment] = [28, 30, 32].map(|at| number(bytes, at, 2));
    let name = usize::try_from(name?).ok()?;
    let extra = usize::try_from(extra?).ok()?;
    let end = CENTRAL_LEN.checked_add(name)?.checked_add(extra)?;
    let mut long = long_numbers(bytes.get(CENTRAL_LEN + name..end)?);
    let mut at_or_long = |at: usize| {
        let short = number(bytes, at, 4)?;
        if short == ELSEWHERE { long.pop_front() } else { Some(short) }
    };
    // In this order they are written elsewhere.
    let _size = at_or_long(24)?;
    let member = Member { len: at_or_long(20)?, at: at_or_long(42)?, method: number(bytes, 10, 2)? };
    let after = bytes.get(end.checked_add(usize::try_from(comment?).ok()?)?..)?;
    bytes.starts_with(CENTRAL).then_some((bytes.get(CENTRAL_LEN..CENTRAL_LEN + name)?, member, after))
}

/// Numbers of 64 bits in the extra fields of an entry.
fn long_numbers(mut extra: &[u8]) -> VecDeque<u64> {
    while let Some((id, len)) = number(extra, 0, 2).zip(number(extra, 2, 2)) {
        let end = usize::try_from(len).map_or(4, |len| 4 + len);
        let field = extra.get(4..end).unwrap_or_default();
        if id == 1 {
            return (0..field.len() / 8).filter_map(|n| number(field, n * 8, 8)).collect();
        }
        extra = extra.get(end..).unwrap_or_default();
    }
    VecDeque::new()
}

/// The members as they lie one behind the other.
fn walk(file: &File) -> io::Result<BTreeMap<Order, Member>> {
    let mut members = BTreeMap::new();
    let mut at = 0;
    loop {
        let header = read_range(file, at, LOCAL_LEN + 1024)?;
        let names = number(&header, 26, 2).zip(number(&header, 28, 2));
        let flags = number(&header, 6, 2).unwrap_or(0);
        let Some((name, extra)) = names.filter(|_| header.starts_with(LOCAL) && flags & 8 == 0) else {
            return Ok(members);
        };
        let (Some(len), Some(method)) = (number(&header, 18, 4), number(&header, 8, 2)) else {
            return Ok(members);
        };
        let name_end = usize::try_from(name).map_or(LOCAL_LEN, |name| LOCAL_LEN + name);
        insert(header.get(LOCAL_LEN..name_end).unwrap_or_default(), Member { at, len, method }, &mut members);
        at += LOCAL_LEN as u64 + name + extra + len;
    }
}

fn insert(name: &[u8], member: Member, members: &mut BTreeMap<Order, Member>) {
    let name = String::from_utf8_lossy(name).into_owned();
    if name.strip_suffix(".json").is_some() {
        members.insert(Order::of(name), member);
    }
}

/// A number of so many bytes, the lowest first.
fn number(bytes: &[u8], at: usize, len: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(len)?)?;
    Some(bytes.iter().rev().fold(0, |sum, byte| (sum << 8) | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::{Read, Write};

    use flate2::Compression;
    use flate2::write::DeflateEncoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::{Zip, is_log};

    /// An archive of these members: name, method, text. With its directory, unless it is being written.
    fn archive(members: &[(&str, u8, &str)], is_whole: bool) -> Vec<u8> {
        let (mut bytes, mut directory) = (Vec::new(), Vec::new());
        for (name, method, text) in members {
            let packed = match method {
                8 => {
                    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
                    encoder.write_all(text.as_bytes()).unwrap();
                    encoder.finish().unwrap()
                }
                93 => compress_to_vec(text.as_bytes(), CompressionLevel::Fastest),
                _ => text.as_bytes().to_vec(),
            };
            let len = |len: usize| u32::try_from(len).unwrap().to_le_bytes();
            let name_len = u16::try_from(name.len()).unwrap().to_le_bytes();
            let about = [
                &[20, 0, 0, 0, *method, 0, 0, 0, 0, 0, 0, 0, 0, 0][..],
                &len(packed.len()),
                &len(text.len()),
                &name_len,
                &[0, 0],
            ]
            .concat();
            directory.extend(
                [b"PK\x01\x02\x14\x00".as_slice(), &about, &[0; 10], &len(bytes.len()), name.as_bytes()]
                    .concat(),
            );
            bytes.extend([b"PK\x03\x04".as_slice(), &about, name.as_bytes(), &packed].concat());
        }
        if is_whole {
            let (at, size) = (bytes.len(), directory.len());
            let count = u16::try_from(members.len()).unwrap().to_le_bytes();
            let place = [size, at].map(|number| u32::try_from(number).unwrap().to_le_bytes()).concat();
            bytes.extend([&directory[..], b"PK\x05\x06\0\0\0\0", &count, &count, &place, &[0, 0]].concat());
        }
        bytes
    }

    fn lines(bytes: &[u8]) -> (String, Option<String>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.eval");
        fs::write(&path, bytes).unwrap();
        let mut text = Vec::new();
        let end = Zip::new(File::open(&path).unwrap()).unwrap().read_to_end(&mut text);
        (String::from_utf8_lossy(&text).into_owned(), end.err().map(|error| error.kind().to_string()))
    }

    const MEMBERS: [(&str, u8, &str); 6] = [
        ("_journal/start.json", 8, "{\"a\":\n1}"),
        ("samples/10_epoch_1.json", 93, "10"),
        ("samples/2_epoch_1.json", 0, "2"),
        ("header.json", 8, "{}"),
        ("notes.txt", 0, "no part of it"),
        ("header.json", 8, "{\"b\":\r\n2}"),
    ];

    #[test]
    fn members_are_lines_and_the_last_of_a_name_counts() {
        let (text, end) = lines(&archive(&MEMBERS, true));
        assert_eq!((text.as_str(), end), ("{\"b\":  2}\n{\"a\": 1}\n2\n10\n", None));
        assert!(is_log(&archive(&MEMBERS, true)) && !is_log(&archive(&MEMBERS[4..], true)));
    }

    #[test]
    fn without_a_directory_all_that_is_there_is_read() {
        let whole = archive(&MEMBERS, false);
        let (text, end) = lines(&whole);
        assert_eq!(text, "{\"b\":  2}\n{\"a\": 1}\n2\n10\n");
        assert!(end.is_some(), "it breaks off");
        for len in 0..whole.len() {
            let (part, _) = lines(&whole[..len]);
            assert!(part.lines().count() <= 4, "{len}: {part}");
        }
    }

    #[test]
    fn a_damaged_directory_hides_nothing() {
        let mut bytes = archive(&MEMBERS, true);
        let at = bytes.windows(4).rposition(|four: &[u8]| four == b"PK\x01\x02").unwrap();
        bytes[at] = 0;
        let (text, end) = lines(&bytes);
        assert_eq!(text, "{\"b\":  2}\n{\"a\": 1}\n2\n10\n");
        assert!(end.is_some(), "the damage is said");
    }

    #[test]
    fn a_broken_member_spares_the_others() {
        let mut bytes = archive(&MEMBERS, true);
        let at = bytes.windows(4).position(|four| four == [0x28, 0xb5, 0x2f, 0xfd]).unwrap();
        bytes[at] = 0;
        let (text, end) = lines(&bytes);
        assert!(text.starts_with("{\"b\":  2}\n{\"a\": 1}\n2\n"), "{text}");
        assert!(end.is_some());
    }
}
