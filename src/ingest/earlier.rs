//! Earlier files of a session that continues in another file: a part of each, in order.

use std::collections::HashSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crossbeam_channel::Receiver;

use super::files::FileTable;
use super::plan::{files_of, read_head};
use crate::formats::decoder::Format;
use crate::formats::definition::head::EarlierPart;
use crate::formats::json;
use crate::formats::roots::FileRole;
use crate::model::record::FileId;
use crate::model::text::text_of;
use crate::source::lines::LineBuffer;
use crate::source::packed;
use crate::source::pattern::{from_root, named_like};
use crate::source::stream::{StreamPiece, start};

/// Limit of the files of a session.
const MOST: usize = 256;
/// Bytes before the end of a part in which its last record is searched.
const LAST: u64 = 4 << 20;

pub(crate) struct FilePart {
    pub(crate) path: PathBuf,
    /// Length of the part in bytes, from the beginning of the file.
    pub(crate) bytes: u64,
}

/// The parts before the file at `path`. Each is identified by its last record, because several
/// files may have a matching name.
pub(crate) fn parts(format: &dyn Format, path: &Path, files: &FileTable) -> Vec<FilePart> {
    let mut parts = Vec::new();
    let mut known = HashSet::from([path.to_owned()]);
    let mut next = path.to_owned();
    while parts.len() < MOST
        && let Some(earlier) = before(format, &next)
    {
        let mut names = files_beside(format, &next, FileRole::Earlier(&earlier.id))
            .into_iter()
            .filter(|name| !known.contains(name));
        let Some(found) =
            names.find(|name| ends_with_record(name, format, &earlier, files).unwrap_or(false))
        else {
            break;
        };
        known.insert(found.clone());
        next.clone_from(&found);
        parts.push(FilePart {
            path: found,
            bytes: earlier.bytes,
        });
    }
    parts.reverse();
    parts
}

/// Passes the records of the original session, which the one at `path` copies, to `learn`.
pub(crate) fn originals(
    format: &dyn Format,
    path: &Path,
    files: &FileTable,
    learn: &mut dyn FnMut(&[u8]),
) {
    let continued = format.head().continued.as_ref();
    let Some(head) = continued.and_then(|_| read_head(path).ok()) else {
        return;
    };
    let names = files_beside(format, path, FileRole::Original(&text_of(&head.bytes)));
    let Some(name) = names.into_iter().find(|name| name != path) else {
        return;
    };
    let mut buffer = LineBuffer::new(FileId::default());
    // Without the original, copies are recognized by their timestamps.
    for piece in read(&name, u64::MAX, files) {
        if let StreamPiece::Bytes(read) = piece {
            buffer.feed(&read, |line| learn(line.record().bytes));
        }
    }
}

/// Reads the first bytes of the text in a file beside the session.
pub(crate) fn read(path: &Path, bytes: u64, files: &FileTable) -> Receiver<StreamPiece> {
    let (path, files) = (path.to_owned(), files.clone());
    start(
        move || Ok(Box::new(open(&path, &files)?.take(bytes))),
        || (),
    )
}

/// The file in which a session began that continues in the one at `path`, which begins with `head`:
/// found by names alone, which contain timestamps. That file may itself continue another one.
pub(super) fn first_file(format: &dyn Format, path: &Path, head: &[u8]) -> Option<PathBuf> {
    let own = format.session_name(path)?.id;
    let mut known = HashSet::from([path.to_owned()]);
    let mut earlier = before_in(format, head);
    let mut first: Option<PathBuf> = None;
    while let Some(part) = earlier.filter(|_| known.len() < MOST) {
        let is_before = |name: &PathBuf| {
            !known.contains(name)
                && format
                    .session_name(name)
                    .is_some_and(|named| named.id == own)
        };
        let path = first.as_deref().unwrap_or(path);
        let names = files_beside(format, path, FileRole::Earlier(&part.id));
        let Some(name) = names.into_iter().filter(is_before).min() else {
            break;
        };
        earlier = before(format, &name);
        known.insert(name.clone());
        first = Some(name);
    }
    first
}

/// The files of a role beside the one at `path`, named in the way it is: a relative path does not
/// tell in which folder it lies.
fn files_beside(format: &dyn Format, path: &Path, role: FileRole<'_>) -> Vec<PathBuf> {
    files_of(&format.files(&from_root(path), role))
        .into_iter()
        .map(|found| named_like(found, path))
        .collect()
}

fn before(format: &dyn Format, path: &Path) -> Option<EarlierPart> {
    format.head().continued.as_ref()?;
    before_in(format, &read_head(path).ok()?.bytes)
}

fn before_in(format: &dyn Format, head: &[u8]) -> Option<EarlierPart> {
    let text = text_of(head);
    let first = json::parse(text.lines().next()?).ok()?;
    format.head().continued.as_ref()?.earlier(&first)
}

/// Whether a part of a file ends with the expected record.
fn ends_with_record(
    path: &Path,
    format: &dyn Format,
    earlier: &EarlierPart,
    files: &FileTable,
) -> io::Result<bool> {
    let mut text = open(path, files)?;
    let skipped = earlier.bytes.saturating_sub(LAST);
    io::copy(&mut (&mut text).take(skipped), &mut io::sink())?;
    let mut end = Vec::new();
    text.take(earlier.bytes - skipped).read_to_end(&mut end)?;
    let is_all = end.len() as u64 == earlier.bytes - skipped;
    let text = text_of(&end);
    let last = text
        .lines()
        .next_back()
        .and_then(|line| json::parse(line).ok());
    let continued = format.head().continued.as_ref();
    let number = last.and_then(|last| continued?.number(&last));
    Ok(is_all && number == Some(earlier.last))
}

/// The text of a file beside the session, decompressed if necessary.
fn open(path: &Path, files: &FileTable) -> io::Result<Box<dyn Read>> {
    packed::text_of(files.fence_of(path).open(path)?)
}

/// Whether a file is a compressed archive of lines, by its name.
pub(crate) fn is_packed(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "zst" || extension == "gz")
}
