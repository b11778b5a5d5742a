//! Searches the bytes of a session's files for lines that may match, before anything is decoded.
//!
//! **Bytes first.** Decoding a record costs a hundred times more than searching it for a word. A
//! file without a candidate line is read once, in blocks, and never parsed; of one with such lines
//! often only they are decoded ([`read_lines`]).
//!
//! Invariant: no line is missed because of block boundaries, and at most a block and a line are in
//! memory.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread;

use memchr::memmem::Finder;
use memchr::{memchr, memchr_iter, memrchr};

use super::emitter::{Emitter, Outlet};
use super::files::{FileKind, FileTable};
use super::line_file::emit_line;
use super::plan::Plan;
use crate::formats;
use crate::formats::decoder::Format;
use crate::formats::roots::{FileRole, Pattern, file_name};
use crate::model::edit::{Feed, Stage, saturating_u32};
use crate::model::record::{Origin, Record};
use crate::source::fs::{self, File};
use crate::source::lines::Line;
use crate::source::packed::{self, Packing};
use crate::source::pattern::{Listings, expand, from_root};
use crate::source::read::{read_at, read_range};
use crate::source::regular::{self, Fence};

/// Bytes that are searched at once; small enough to stay in the processor's cache.
const BLOCK: usize = 256 << 10;
/// Limit of a line in bytes; a longer one is damage.
const LONGEST: usize = 256 << 20;
/// Files above this size in bytes are searched by two threads.
const WORTH_A_THREAD: u64 = 16 << 20;

thread_local! {
    /// Read buffer of this thread, reused for all files.
    static ROOM: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Returns the lines of a text that may match, in order and without line ends.
pub type LineSieve<'s> = &'s (dyn Fn(&[u8]) -> Vec<Range<usize>> + Sync);

/// Result of searching the files of a session.
#[derive(Debug, PartialEq, Eq)]
pub enum Sifted {
    /// No line may match.
    Nothing,
    /// No line may match, and the first one does not begin like a record.
    NotRecords,
    /// Some line may match, and the session can only be read as a whole: these files of it, or all.
    Whole(Option<Vec<PathBuf>>),
    /// These lines may match.
    Lines(Vec<Picked>),
}

/// Lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picked {
    /// Path of the file.
    pub path: PathBuf,
    /// Its lines, in order.
    pub lines: Vec<PickedLine>,
}

/// Position of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PickedLine {
    /// Offset of its first byte.
    pub at: u64,
    /// Length in bytes, without the line end.
    pub len: u32,
    /// Line number from 1.
    pub line: u32,
}

/// Searches the file of a session, its companions, and the files of sub-agents elsewhere.
/// Companions that cannot be read are left to the reading of the session.
pub(crate) fn search(
    (path, is_file): (&Path, bool),
    format: Option<&'static dyn Format>,
    agents: &[PathBuf],
    listings: &Listings,
    sieve: LineSieve<'_>,
) -> io::Result<Sifted> {
    let of_all = || {
        formats::registry()
            .filter_map(|format| format.head().deltas)
            .collect()
    };
    let pieces: BTreeSet<&str> =
        format.map_or_else(of_all, |format| format.head().deltas.into_iter().collect());
    let pieces: Vec<Finder<'_>> = pieces.into_iter().map(Finder::new).collect();
    let mut picked = Vec::new();
    let (mut is_whole, mut is_strange) = (false, false);
    let beside =
        format.map(|format| companions_if(path, format, &mut |folder| listings.may_have(folder)));
    let beside = beside.unwrap_or_default();
    let own = std::iter::once(path.to_owned())
        .chain(beside)
        .chain(agents.iter().cloned());
    let own: Vec<PathBuf> = own.collect();
    let home = format
        .filter(|_| own.len() > 1)
        .map(|format| format.home(&from_root(path)));
    let fence = home
        .map(|home| Fence::around(move || vec![home]))
        .unwrap_or_default();
    for file in &own {
        let within = || {
            fence
                .open(file)
                .and_then(|opened| Ok((opened.metadata()?, opened)))
        };
        let open = if is_file {
            regular::open_seen
        } else {
            regular::open_with_metadata
        };
        let opened = if file == path { open(file) } else { within() };
        let found = match opened
            .and_then(|(stamp, opened)| search_file(&opened, stamp.len, sieve, &pieces))
        {
            Ok(found) => found,
            Err(error) if file == path => return Err(error),
            Err(_) => continue,
        };
        match found {
            SiftedFile::Something => is_whole = true,
            SiftedFile::NotRecords => is_strange |= file == path,
            SiftedFile::Lines(lines) if lines.is_empty() => {}
            SiftedFile::Lines(lines) => {
                // Which entries are in a file elsewhere is only known after everything was read.
                is_whole |= !is_of_lines(file) || agents.contains(file);
                picked.push(Picked {
                    path: file.clone(),
                    lines,
                });
            }
        }
    }
    Ok(match (is_whole, picked.is_empty()) {
        (true, _) => Sifted::Whole(Some(own)),
        (false, true) if is_strange => Sifted::NotRecords,
        (false, true) => Sifted::Nothing,
        (false, false) => Sifted::Lines(picked),
    })
}

/// The companions of a session, without files about many sessions.
pub(crate) fn companions(path: &Path, format: &'static dyn Format) -> Vec<PathBuf> {
    companions_if(path, format, &mut fs::is_dir)
}

fn companions_if(
    path: &Path,
    format: &'static dyn Format,
    may_be: &mut dyn FnMut(&Path) -> bool,
) -> Vec<PathBuf> {
    let mut files = files_of(
        path,
        format.files(path, FileRole::Companion).into_iter(),
        may_be,
    );
    if !files.is_empty() {
        let index = format.file(path, FileRole::Index);
        files.retain(|file| Some(file) != index.as_ref());
    }
    files
}

fn files_of(
    path: &Path,
    patterns: impl Iterator<Item = Pattern>,
    may_be: &mut dyn FnMut(&Path) -> bool,
) -> Vec<PathBuf> {
    let home = path.parent().unwrap_or(path);
    let mut known: Option<(PathBuf, bool)> = None;
    // Most sessions have no companions: then one query answers for all patterns.
    let may_be = |Pattern(pattern): &Pattern| {
        let Some(folder) = folder_below(home, pattern) else {
            return true;
        };
        let is_there = known
            .as_ref()
            .filter(|(known, _)| *known == folder)
            .map(|(_, is_there)| *is_there);
        let is_there = is_there.unwrap_or_else(|| may_be(&folder));
        known = Some((folder, is_there));
        is_there
    };
    let files = patterns
        .filter(may_be)
        .flat_map(|Pattern(pattern)| expand(&pattern).files);
    files.filter(|file| file != path).collect()
}

/// The direct subfolder of `home` that contains all files of a pattern, if its name is fixed.
fn folder_below(home: &Path, pattern: &Path) -> Option<PathBuf> {
    let mut names = pattern.strip_prefix(home).ok()?.iter();
    let first = names
        .next()
        .filter(|name| !name.as_bytes().contains(&b'*'))?;
    names.next().map(|_| home.join(first))
}

/// Whether the records of a file are its lines, by its name.
fn is_of_lines(path: &Path) -> bool {
    let name = file_name(path);
    name.contains(".jsonl") || name.ends_with(".ndjson")
}

enum SiftedFile {
    Lines(Vec<PickedLine>),
    /// No candidate, and it does not begin like a file of records.
    NotRecords,
    /// A candidate without a usable position: in an archive, or in pieces over several records.
    Something,
}

fn search_file(
    file: &File,
    len: u64,
    sieve: LineSieve<'_>,
    pieces: PieceMarkers<'_>,
) -> io::Result<SiftedFile> {
    let middle = if len > WORTH_A_THREAD {
        line_from(file, len / 2, len)?
    } else {
        len
    };
    let (first, second) = thread::scope(|scope| {
        let second = || search_part(file, middle..len, sieve, pieces);
        let second = (middle < len).then(|| scope.spawn(second));
        let first = search_part(file, 0..middle, sieve, pieces);
        let second = second.map(|second| {
            second
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        Ok::<_, io::Error>((first?, second.transpose()?.unwrap_or_default()))
    })?;
    if let Some(packing) = first.packing {
        return search_packed(packed::open(file.try_clone()?, packing)?, sieve, pieces);
    }
    if first.grows || second.grows {
        return Ok(SiftedFile::Something);
    }
    let is_last = second.lines.is_empty();
    let before = if is_last {
        0
    } else {
        first.count + count_in(file, first.counted..middle)?
    };
    let mut lines = first.lines;
    lines.extend(second.lines.into_iter().map(|line| PickedLine {
        line: line.line + before,
        ..line
    }));
    Ok(if lines.is_empty() && first.is_strange {
        SiftedFile::NotRecords
    } else {
        SiftedFile::Lines(lines)
    })
}

fn begins_unlike_json(text: &[u8]) -> bool {
    let text = text
        .strip_prefix("\u{feff}".as_bytes())
        .unwrap_or(text)
        .trim_ascii_start();
    text.first().is_some_and(|byte| !b"{[".contains(byte))
}

/// Offset of the first line after an offset.
fn line_from(file: &File, place: u64, len: u64) -> io::Result<u64> {
    let mut at = place;
    while at < len {
        let bytes = read_range(file, at, BLOCK)?;
        if let Some(end) = memchr(b'\n', &bytes) {
            return Ok(at + end as u64 + 1);
        }
        if bytes.is_empty() {
            break;
        }
        at += bytes.len() as u64;
    }
    Ok(len)
}

/// Result for a part of a file.
#[derive(Default)]
struct SiftedPart {
    lines: Vec<PickedLine>,
    /// Number of line ends before the position up to which they are counted, at most the last
    /// candidate.
    count: u32,
    counted: u64,
    /// Compression, if a compressed file begins here: then there are no other results.
    packing: Option<Packing>,
    /// Whether the file begins here, and not like one of records. Unknown for an empty file.
    is_strange: bool,
    /// Whether texts may be split into pieces: then a line without a match proves nothing.
    grows: bool,
}

impl SiftedPart {
    /// Searches whole lines that begin at an offset of the file.
    fn search_lines(
        &mut self,
        file: &File,
        (text, at): (&[u8], u64),
        sieve: LineSieve<'_>,
    ) -> io::Result<()> {
        for range in sieve(text) {
            let line = text.get(range.clone()).unwrap_or_default();
            let len = line.strip_suffix(b"\r").unwrap_or(line).len();
            let start = at + range.start as u64;
            self.count += count_in(file, self.counted..at)?;
            let known = usize::try_from(self.counted.saturating_sub(at)).unwrap_or(usize::MAX);
            self.count += count_lines(text.get(known..range.start).unwrap_or_default());
            self.counted = start;
            self.lines.push(PickedLine {
                at: start,
                len: saturating_u32(len),
                line: self.count + 1,
            });
        }
        Ok(())
    }
}

fn count_lines(text: &[u8]) -> u32 {
    saturating_u32(memchr_iter(b'\n', text).count())
}

/// Counts lines in a part of a file in which nothing was found.
fn count_in(file: &File, part: Range<u64>) -> io::Result<u32> {
    let (mut at, mut count) = (part.start, 0);
    let mut room = Vec::new();
    while at < part.end {
        room.resize(
            usize::try_from(part.end - at)
                .unwrap_or(usize::MAX)
                .min(BLOCK),
            0,
        );
        let read = read_at(file, &mut room, at)?;
        if read == 0 {
            break;
        }
        count += count_lines(room.get(..read).unwrap_or_default());
        at += read as u64;
    }
    Ok(count)
}

/// Markers of records that hold pieces of texts.
type PieceMarkers<'p> = &'p [Finder<'p>];

/// Whether a text may hold such pieces.
fn has_pieces(text: &[u8], pieces: PieceMarkers<'_>) -> bool {
    pieces.iter().any(|piece| piece.find(text).is_some())
}

/// Searches the lines that begin in a part of a file.
fn search_part(
    file: &File,
    part: Range<u64>,
    sieve: LineSieve<'_>,
    pieces: PieceMarkers<'_>,
) -> io::Result<SiftedPart> {
    let mut found = SiftedPart {
        counted: part.start,
        ..SiftedPart::default()
    };
    let mut room = ROOM.take();
    room.resize(BLOCK, 0);
    let (mut at, mut held) = (part.start, 0);
    while at < part.end {
        // A line longer than the buffer makes it grow; one above the limit is no line of a session.
        if held == room.len() {
            if room.len() >= LONGEST {
                at = line_from(file, at + held as u64, part.end)?;
                held = 0;
                continue;
            }
            room.resize(room.len() * 4, 0);
        }
        let wanted = usize::try_from(part.end - at)
            .unwrap_or(usize::MAX)
            .min(room.len());
        let read = read_at(
            file,
            room.get_mut(held..wanted).unwrap_or_default(),
            at + held as u64,
        )?;
        let text = room.get(..held + read).unwrap_or_default();
        if at == 0 && held == 0 {
            found.packing = Packing::of(text);
            found.is_strange = begins_unlike_json(text);
        }
        let is_end = held + read < wanted || at + (held + read) as u64 >= part.end;
        let whole = if is_end {
            text.len()
        } else {
            memrchr(b'\n', text).map_or(0, |end| end + 1)
        };
        let lines = text.get(..whole).unwrap_or_default();
        found.grows = has_pieces(lines, pieces);
        if found.grows || found.packing.is_some() {
            break;
        }
        found.search_lines(file, (lines, at), sieve)?;
        if is_end {
            break;
        }
        at += whole as u64;
        held = text.len() - whole;
        room.copy_within(whole..whole + held, 0);
        // Shrinks the buffer, because such long lines are rare.
        if whole > 0 && room.len() > BLOCK && held < BLOCK {
            room.truncate(BLOCK);
            room.shrink_to_fit();
        }
    }
    if room.len() == BLOCK {
        ROOM.set(room);
    }
    Ok(found)
}

/// Searches the text of an archive up to the first line that may match. An incomplete archive is
/// searched as far as it goes.
fn search_packed(
    mut text: Box<dyn Read>,
    sieve: LineSieve<'_>,
    pieces: PieceMarkers<'_>,
) -> io::Result<SiftedFile> {
    let mut held = Vec::new();
    loop {
        let from = held.len();
        let room = u64::try_from(BLOCK.max(from)).unwrap_or(u64::MAX);
        let read = (&mut text).take(room).read_to_end(&mut held);
        let is_end = !matches!(read, Ok(read) if read > 0);
        let whole = if is_end || held.len() > LONGEST {
            held.len()
        } else {
            memrchr(b'\n', &held).map_or(0, |end| end + 1)
        };
        let lines = held.get(..whole).unwrap_or_default();
        if has_pieces(lines, pieces) || !sieve(lines).is_empty() {
            return Ok(SiftedFile::Something);
        }
        held.drain(..whole);
        if is_end {
            // A damaged archive may contain anything; reading it will report the damage.
            return Ok(if read.is_err() {
                SiftedFile::Something
            } else {
                SiftedFile::Lines(Vec::new())
            });
        }
    }
}

/// Whether a line decodes differently by itself, or cannot be read any more.
pub(crate) fn is_entangled(format: &'static dyn Format, picked: &[Picked]) -> bool {
    let Some(words) = &format.head().dependent else {
        return true;
    };
    let words: Vec<Finder<'_>> = words.iter().map(Finder::new).collect();
    let is_entangled = |file: &File, PickedLine { at, len, .. }: PickedLine| {
        let line =
            read_range(file, at, usize::try_from(len).unwrap_or(usize::MAX)).unwrap_or_default();
        words.iter().any(|word| word.find(&line).is_some())
    };
    !words.is_empty()
        && picked.iter().any(|Picked { path, lines }| {
            regular::open(path).map_or(true, |file| {
                lines.iter().any(|line| is_entangled(&file, *line))
            })
        })
}

/// Decodes some lines of a session as if there were no others.
pub(crate) fn read_lines(plan: &Plan, files: &FileTable, picked: &[Picked], outlet: Outlet<'_>) {
    files.set_format(plan.format, &plan.path);
    plan.send_opened(outlet);
    // Names of entries contain the numbers of their files.
    let companions = plan
        .format
        .files(&plan.path, FileRole::Companion)
        .into_iter();
    for path in files_of(&plan.path, companions, &mut fs::is_dir) {
        files.number(&path, FileKind::CompanionLines);
    }
    let mut emitter = Emitter::new(plan.decoder(), Stage::Whole, outlet);
    for Picked { path, lines } in picked {
        let kind = if *path == plan.path {
            FileKind::Lines
        } else {
            FileKind::CompanionLines
        };
        let id = files.number(path, kind);
        emitter.send(Feed::File {
            id,
            path: path.as_path().into(),
        });
        let file = match files.fence_of(path).open(path) {
            Ok(file) => file,
            Err(error) => {
                emitter.notice(id, &format!("{} cannot be opened: {error}", path.display()));
                continue;
            }
        };
        for PickedLine { at, len, line } in lines.iter().copied() {
            // A file that was truncated meanwhile has fewer lines.
            let bytes = read_range(&file, at, usize::try_from(len).unwrap_or(usize::MAX))
                .unwrap_or_default();
            if !bytes.is_empty() {
                let origin = Origin {
                    file: id,
                    at,
                    len,
                    line,
                };
                emit_line(
                    Line::Whole(Record {
                        origin,
                        bytes: &bytes,
                    }),
                    kind,
                    path,
                    &mut emitter,
                );
            }
        }
    }
    emitter.finish();
    emitter.flush(true);
    outlet(Feed::CaughtUp);
}

/// Lines of a part of a file, including the one in which it ends, numbered from its beginning.
pub(crate) fn lines_within(
    path: &Path,
    part: Range<u64>,
    sieve: LineSieve<'_>,
) -> io::Result<Vec<PickedLine>> {
    let file = regular::open(path)?;
    let len = file.metadata()?.len;
    let start = if part.start == 0 {
        0
    } else {
        line_from(&file, part.start, len)?
    };
    let end = line_from(&file, part.end, len)?.max(start);
    Ok(search_part(&file, start..end, sieve, &[])?.lines)
}

#[cfg(test)]
mod tests;
