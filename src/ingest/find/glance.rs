//! Reads facts about a session by feeding its decoder with the beginning and the end only.
//!
//! Invariant: reads at most the first and the last [`STEP`] bytes of a file, except for a beginning
//! without a title, of which up to [`LONGEST`] are read, and for an end without a timestamp, of
//! which up to a mebibyte is read ([`ENDS`]). Another [`MIDDLE`] bytes are searched, but not
//! decoded, for lines that agents write when a title changes. Of a database only a few rows are
//! read.

use std::collections::HashSet;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use memchr::memmem;

use super::candidates::Candidate;
use crate::formats::decoder::{Decoder, Format, RecordPlace, feed};
use crate::formats::definition::head::TitleMark;
use crate::formats::json;
use crate::formats::roots::{FileRole, Pattern, file_name};
use crate::formats::tables::Queries;
use crate::ingest::catalog;
use crate::ingest::earlier::{self, is_packed};
use crate::ingest::plan::{FileHead, files_of, read_head};
use crate::ingest::probe::{self, LONGEST};
use crate::ingest::rows::{ListedRow, listed, unpacked};
use crate::model::edit::{Batch, Edit, MetaEdit, saturating_u32};
use crate::model::entry::Entry;
use crate::model::record::{FileId, Origin, Record, Shape};
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;
use crate::source::document::{elements_at_end, split, split_values};
use crate::source::fs::File;
use crate::source::lines::{Line, LineBuffer};
use crate::source::pattern::{expand, from_root, named_like};
use crate::source::read::read_range;
use crate::source::regular;
use crate::source::rows::{Database, DatabaseFailure, SqlValue};

/// Bytes that are read at a time: of the beginning until there is a title, and once of the end.
const STEP: usize = 32 << 10;
/// Bytes at the end that are searched for a timestamp, in steps, because the last records may be
/// large.
const ENDS: [usize; 3] = [STEP, 256 << 10, 1 << 20];
/// Bytes before the end that are searched for titles.
const MIDDLE: usize = 1 << 20;
/// Limit of titles that are linked to other lines.
const LINKED: usize = 16;
/// Rows that are read at the beginning of a session, and at its end.
const ROWS: i64 = 24;
/// Files of a folder that are read if the first has no title, and else at the beginning and the
/// end.
const FILES: usize = 8;
const FEW_FILES: usize = 2;
/// Messages that are read at the beginning of a session with a row of its own.
const FEW_ROWS: i64 = 2;

/// Facts read from the beginning and the end of a session.
pub struct SessionGlance {
    pub(crate) format: &'static dyn Format,
    /// Whether another session started it.
    pub(crate) is_child: bool,
    /// Whether the file is only one of many of the session.
    pub(crate) is_part: bool,
    /// Whether all of the session was read.
    pub(crate) is_whole: bool,
    /// Whether its end was read.
    pub(crate) has_end: bool,
    /// Whether the last timestamp that was read is the last one of the session.
    is_dated: bool,
    /// The last timestamp, if it was found in a longer part of the end than was decoded.
    last: Option<Timestamp>,
    decoder: Box<dyn Decoder>,
    out: Batch,
}

impl SessionGlance {
    /// An empty glance for the file at a path. With `stubs_only` texts are reduced to their stubs.
    pub(crate) fn empty(format: &'static dyn Format, path: &Path, stubs_only: bool) -> Self {
        let mut out = Batch::default();
        out.stubs_only = stubs_only;
        let decoder = format.decoder(Some(&from_root(path)));
        Self {
            format,
            is_child: false,
            is_part: false,
            is_whole: false,
            has_end: false,
            is_dated: false,
            last: None,
            decoder,
            out,
        }
    }

    /// Notes whether all of the file was read, or only its beginning.
    fn set_whole(&mut self, is_whole: bool) {
        (self.is_whole, self.has_end, self.is_dated) = (is_whole, is_whole, is_whole);
    }

    /// Feeds a record to the decoder.
    pub(crate) fn feed(&mut self, file: u32, at: u64, bytes: &[u8], place: RecordPlace<'_>) {
        let origin = Origin {
            file: FileId(file),
            at,
            len: saturating_u32(bytes.len()),
            line: 0,
        };
        feed(
            &mut *self.decoder,
            Record { origin, bytes },
            place,
            &mut self.out,
        );
    }

    pub(crate) fn has_title(&self) -> bool {
        self.out
            .edits
            .iter()
            .any(|edit| matches!(edit, Edit::Meta(MetaEdit::Title { .. })))
    }

    /// Whether any edit from this index on has a timestamp.
    fn has_time_from(&self, number: usize) -> bool {
        self.out.edits.iter().skip(number).any(|edit| match edit {
            Edit::Entry(entry) => entry.last_time().is_some(),
            Edit::Result { result, .. } => result.at.is_some(),
            _ => false,
        })
    }

    /// The transcript of what was read, and the last timestamp of the session, if its end has one.
    pub(crate) fn dated_transcript(self) -> (Transcript, Option<Timestamp>) {
        let (last, is_dated) = (self.last, self.is_dated);
        let transcript = self.transcript();
        let own = || transcript.entries().filter_map(Entry::last_time).max();
        let last = last.or_else(|| is_dated.then(own).flatten());
        (transcript, last)
    }

    /// The transcript of what was read.
    pub(crate) fn transcript(mut self) -> Transcript {
        self.decoder.finish(&mut self.out);
        let mut transcript = Transcript::new();
        transcript.apply(self.out);
        transcript
    }
}

/// Reads the beginning and the end of a file. `None`: it is no session.
pub(crate) fn read_file(
    candidate: &Candidate,
    stubs_only: bool,
) -> io::Result<Option<SessionGlance>> {
    let path = &candidate.path;
    let is_lines = file_name(path).contains(".jsonl") && !is_packed(path);
    if let Some(format) = candidate.format.filter(|_| is_lines) {
        let file = regular::open(path)?;
        let head = read_range(&file, 0, STEP)?;
        if probe::certain(format, path, &head).is_some() {
            let mut glance = SessionGlance::empty(format, path, stubs_only);
            read_opened_lines(&file, path, head, &mut glance)?;
            return Ok(Some(glance));
        }
    }
    let FileHead {
        bytes: head,
        is_whole,
        packing,
    } = read_head(path)?;
    let Some((format, shape)) = format_of(candidate, &head, is_whole) else {
        return Ok(None);
    };
    let mut glance = SessionGlance::empty(format, path, stubs_only);
    match shape {
        _ if probe::foreign(&head).is_some() => {}
        Shape::Lines | Shape::Stream | Shape::Rows if packing.is_some() => {
            // Decompressing the file up to its end would take longer than the rest of the listing.
            glance.set_whole(is_whole);
            let whole = memchr::memrchr(b'\n', &head).filter(|_| !is_whole);
            decode_lines(
                whole.and_then(|end| head.get(..end)).unwrap_or(&head),
                0,
                &mut glance,
            );
        }
        Shape::Lines | Shape::Stream | Shape::Rows => read_lines(path, &mut glance)?,
        Shape::Document | Shape::Values => {
            glance.set_whole(is_whole);
            decode_document(&head, shape, &mut glance);
            if !is_whole && packing.is_none() {
                let file = regular::open(path)?;
                if !glance.has_title() {
                    let more = read_range(&file, 0, LONGEST)?;
                    glance = SessionGlance::empty(format, path, stubs_only);
                    decode_document(&more, shape, &mut glance);
                }
                if glance.has_time_from(0) {
                    let take = |bytes: &[u8], at, end: &mut SessionGlance| {
                        decode_elements(bytes, at, shape, end);
                    };
                    glance.last = last_at_end(&file, path, format, (&ENDS, take))?;
                }
            }
        }
        Shape::Text => {
            let text = String::from_utf8_lossy(&head);
            glance.set_whole(is_whole);
            for range in format.decoder(None).passages(&text) {
                let at = range.start as u64;
                glance.feed(
                    0,
                    at,
                    text.get(range).unwrap_or_default().as_bytes(),
                    RecordPlace::Passage,
                );
            }
        }
        Shape::Folder => {
            let text = String::from_utf8_lossy(&head);
            (glance.is_part, glance.is_dated) = (true, true);
            glance.is_child =
                json::parse(&text).is_ok_and(|session| !session.get("parentID").is_null());
            glance.feed(0, 0, &head, RecordPlace::File(path));
            // The first message has the start, the last one the model.
            let files = files_of(&format.files(path, FileRole::Part(&candidate.id))).into_iter();
            let mut files: Vec<_> = (1..).zip(files.filter(|file| file != path)).collect();
            let first = if glance.has_title() { FEW_FILES } else { FILES };
            let end = files.len().saturating_sub(FEW_FILES).max(first);
            drop(files.drain(first.min(files.len())..end.min(files.len())));
            for (number, file) in files {
                let FileHead { bytes, .. } = read_head(&file)?;
                glance.feed(number, 0, &bytes, RecordPlace::File(&file));
            }
        }
    }
    Ok(Some(glance))
}

/// Reads the beginning and the end of a line file beside a session.
pub(super) fn of_companion(path: &Path, format: &'static dyn Format) -> Option<SessionGlance> {
    let mut glance = SessionGlance::empty(format, path, true);
    let is_lines = path
        .extension()
        .is_some_and(|extension| extension == "jsonl");
    is_lines
        .then(|| read_lines(path, &mut glance).ok())
        .flatten()
        .map(|()| glance)
}

/// The files beside a session that its records reference.
pub(crate) fn referenced_files(
    path: &Path,
    format: &'static dyn Format,
    bytes: &[u8],
) -> Vec<PathBuf> {
    let mut glance = SessionGlance::empty(format, path, true);
    if file_name(path).contains(".jsonl") {
        LineBuffer::new(FileId(0)).feed(bytes, |line| decode_line(line, &mut glance));
    } else {
        decode_document(bytes, Shape::Document, &mut glance);
    }
    let patterns = glance
        .out
        .requested_files
        .iter()
        .flat_map(|wanted| format.files(&from_root(path), FileRole::Requested(wanted)));
    let patterns = patterns.map(|Pattern(pattern)| named_like(pattern, path));
    patterns
        .flat_map(|pattern| expand(&pattern).files)
        .collect()
}

/// Format and shape of a file. A file that no agent wrote is a session only if it was named.
fn format_of(
    candidate: &Candidate,
    head: &[u8],
    is_whole: bool,
) -> Option<(&'static dyn Format, Shape)> {
    if probe::foreign(head).is_some() {
        // A special file, which cannot be opened, is identified by path and name.
        return candidate.format.map(|format| (format, Shape::Lines));
    }
    let detection = probe::detect_file(&candidate.path, head, is_whole);
    let known = Some((detection.format, detection.verdict.shape));
    if candidate.is_asked {
        return known.filter(|_| !probe::is_unclaimed(&detection));
    }
    if probe::is_certain_of_agent(&detection) {
        let is_in_place =
            |(format, _): &(&dyn Format, _)| format.session_name(&candidate.path).is_some();
        return known.filter(|known| candidate.format.is_some() || is_in_place(known));
    }
    candidate
        .format
        .map(|format| (format, detection.verdict.shape))
}

/// Reads the beginning and the end of a line file.
fn read_lines(path: &Path, glance: &mut SessionGlance) -> io::Result<()> {
    let file = regular::open(path)?;
    let head = read_range(&file, 0, STEP)?;
    read_opened_lines(&file, path, head, glance)
}

/// Like [`read_lines`], for an open file of which the first step was read.
fn read_opened_lines(
    file: &File,
    path: &Path,
    head: Vec<u8>,
    glance: &mut SessionGlance,
) -> io::Result<()> {
    let len = file.metadata()?.len;
    if glance.format.head().continued.is_some() {
        read_first_file(path, &head, glance);
    }
    let mut buffer = LineBuffer::new(FileId(0));
    let mut at = 0;
    let mut chunk = head;
    while at < len && at < LONGEST as u64 && (at == 0 || !glance.has_title()) {
        if at > 0 {
            chunk = read_range(file, at, STEP)?;
        }
        if chunk.is_empty() {
            return Ok(());
        }
        at += chunk.len() as u64;
        buffer.feed(&chunk, |line| decode_line(line, glance));
    }
    let has_title = glance.has_title();
    let before = glance.out.edits.len();
    let end = at.max(len.saturating_sub(STEP as u64));
    let marks = &glance.format.head().titles;
    if !marks.is_empty() && end > at {
        let from = at.max(end.saturating_sub(MIDDLE as u64));
        let bytes = read_range(file, from, MIDDLE.saturating_add(STEP))?;
        let middle = usize::try_from(end - from).unwrap_or(usize::MAX);
        decode_titles(&bytes, (from, middle), marks, glance);
    }
    let chunk = read_range(file, end, STEP)?;
    glance.set_whole(true);
    glance.is_whole = end == at;
    if glance.is_whole {
        decode_buffered(buffer, &chunk, glance);
    } else {
        decode_lines(&chunk, end, glance);
        glance.is_dated = glance.has_time_from(before);
    }
    if !glance.is_dated && glance.has_time_from(0) {
        let [_, longer @ ..] = ENDS;
        glance.last = last_at_end(file, path, glance.format, (&longer, decode_lines))?;
    }
    if !has_title && end > at {
        // The first prompt in a later part is not that of the session.
        let is_later = |edit: &Edit| matches!(edit, Edit::Meta(MetaEdit::Title { rank: 0, .. }));
        glance.out.edits.retain(|edit| !is_later(edit));
    }
    Ok(())
}

/// Decodes the lines with titles that begin in the first `middle` bytes, and nothing else.
fn decode_titles(
    bytes: &[u8],
    (at, middle): (u64, usize),
    marks: &[TitleMark],
    glance: &mut SessionGlance,
) {
    let line_at = |place: usize| {
        let start = memchr::memrchr(b'\n', bytes.get(..place)?)? + 1;
        let end = memchr::memchr(b'\n', bytes.get(place..)?)? + place;
        (start < middle).then_some(start..end)
    };
    let mut lines: Vec<Range<usize>> = Vec::new();
    for mark in marks {
        match mark {
            TitleMark::Last(name) => {
                // Searching backwards would be many times slower.
                lines.extend(memmem::find_iter(bytes, *name).filter_map(line_at).last());
            }
            TitleMark::Of(name, id) => {
                let all: Vec<usize> = memmem::find_iter(bytes, *name).collect();
                for found in all.into_iter().rev().take(LINKED) {
                    let named = bytes.get(found + name.len()..).unwrap_or_default();
                    let named = named
                        .get(..memchr::memchr(b'"', named).unwrap_or_default())
                        .unwrap_or_default();
                    let of = memmem::find(bytes, &[id.as_bytes(), named, b"\""].concat());
                    lines.extend(
                        of.and_then(line_at)
                            .zip(line_at(found))
                            .into_iter()
                            .flat_map(|(of, own)| [of, own]),
                    );
                }
            }
        }
    }
    lines.sort_by_key(|line| line.start);
    lines.dedup();
    let before = glance.out.edits.len();
    for line in lines {
        glance.feed(
            0,
            at + line.start as u64,
            bytes.get(line).unwrap_or_default(),
            RecordPlace::Line,
        );
    }
    let others = glance
        .out
        .edits
        .split_off(before.min(glance.out.edits.len()));
    let is_title = |edit: &Edit| matches!(edit, Edit::Meta(MetaEdit::Title { rank: 1.., .. }));
    glance.out.edits.extend(others.into_iter().filter(is_title));
}

/// The last timestamp of a file, from the shortest end that has one. If the beginning has no
/// timestamp, the end is not searched.
fn last_at_end(
    file: &File,
    path: &Path,
    format: &'static dyn Format,
    (sizes, take): (&[usize], impl Fn(&[u8], u64, &mut SessionGlance)),
) -> io::Result<Option<Timestamp>> {
    let len = file.metadata()?.len;
    for size in sizes.iter().copied() {
        let from = len.saturating_sub(size as u64);
        let mut end = SessionGlance::empty(format, path, true);
        take(&read_range(file, from, size)?, from, &mut end);
        end.is_dated = true;
        let (_, last) = end.dated_transcript();
        if last.is_some() || from == 0 {
            return Ok(last);
        }
    }
    Ok(None)
}

/// Decodes the whole lines in a part of a file that begins at this offset, and the last one if it
/// only lacks its line end.
fn decode_lines(bytes: &[u8], at: u64, glance: &mut SessionGlance) {
    let first = if at == 0 {
        0
    } else {
        memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1)
    };
    let buffer = match at {
        0 => LineBuffer::new(FileId(0)),
        _ => LineBuffer::in_the_middle(FileId(0), at + first as u64),
    };
    decode_buffered(buffer, bytes.get(first..).unwrap_or_default(), glance);
}

fn decode_buffered(mut buffer: LineBuffer, bytes: &[u8], glance: &mut SessionGlance) {
    buffer.feed(bytes, |line| decode_line(line, glance));
    let is_ended = |line: &Line<'_>| matches!(line, Line::Whole(record) if record.bytes.trim_ascii().ends_with(b"}"));
    if let Some(line) = buffer.unfinished().filter(is_ended) {
        decode_line(line, glance);
    }
}

/// Decodes the whole messages at the end of a document that begins at this offset.
fn decode_elements(bytes: &[u8], at: u64, shape: Shape, glance: &mut SessionGlance) {
    if at == 0 {
        return decode_document(bytes, shape, glance);
    }
    for element in elements_at_end(bytes) {
        let place = at + element.start as u64;
        glance.feed(
            0,
            place,
            bytes.get(element).unwrap_or_default(),
            RecordPlace::Element,
        );
    }
}

/// Reads the first file of a session that continues in another one: its first prompt is the title.
fn read_first_file(path: &Path, head: &[u8], glance: &mut SessionGlance) {
    let first = earlier::first_file(glance.format, path, head);
    let Some(FileHead { bytes, .. }) = first.and_then(|first| read_head(&first).ok()) else {
        return;
    };
    LineBuffer::new(FileId(1)).feed(&bytes, |line| match line {
        Line::Whole(Record { origin, bytes }) if !glance.has_title() => {
            glance.feed(1, origin.at, bytes, RecordPlace::Line);
        }
        _ => {}
    });
}

fn decode_line(line: Line<'_>, glance: &mut SessionGlance) {
    if let Line::Whole(Record { origin, bytes }) = line {
        glance.feed(0, origin.at, bytes, RecordPlace::Line);
    }
}

/// Decodes the header and the complete messages at the beginning of a document, or of a sequence of
/// values.
fn decode_document(head: &[u8], shape: Shape, glance: &mut SessionGlance) {
    let split = if shape == Shape::Values {
        split_values(head)
    } else {
        split(head)
    };
    let Some(split) = split else { return };
    if let Some(header) = &split.header {
        glance.feed(0, split.root.start as u64, header, RecordPlace::Header);
    }
    for element in split.elements {
        let at = element.start as u64;
        glance.feed(
            0,
            at,
            head.get(element).unwrap_or_default(),
            RecordPlace::Element,
        );
    }
}

/// Reads the first and the last rows of a session in a database.
pub(crate) fn read_rows(
    candidate: &Candidate,
    format: &'static dyn Format,
    stubs_only: bool,
) -> Result<SessionGlance, DatabaseFailure> {
    let mut glance = SessionGlance::empty(format, &candidate.path, stubs_only);
    let database = Database::open(&candidate.path)?;
    let Some(queries) = catalog::queries(&database, format)? else {
        return Ok(glance);
    };
    let lines = format.files(&from_root(&candidate.path), FileRole::Lines(&candidate.id));
    for file in lines
        .into_iter()
        .flat_map(|Pattern(pattern)| expand(&pattern).files)
    {
        // The file may hold what came before the rows; if it cannot be read, the rows suffice.
        let _ = read_lines(&file, &mut glance);
    }
    let key = SqlValue::from(candidate.id.as_str());
    let newest = listed(&database, &candidate.id, &queries.newest, [])?;
    if newest.is_empty() {
        read_archive(&database, &queries, &key, &mut glance)?;
    }
    let rows = usize::try_from(ROWS).unwrap_or_default();
    let skipped = newest.len().saturating_sub(rows);
    let mut some: Vec<ListedRow> = match &queries.listing.single {
        Some(sql) => listed(&database, &candidate.id, sql, [])?,
        None => Vec::new(),
    };
    some.truncate(1);
    // A session without a title is named by its first prompt, and started with it.
    let are_lines = queries.tables.iter().all(|rows| rows.is_line);
    let count = if are_lines { ROWS } else { FEW_ROWS };
    let beginning = [SqlValue::FIRST, SqlValue::from(""), SqlValue::Int(count)];
    some.extend(listed(
        &database,
        &candidate.id,
        &queries.listing.portion,
        beginning,
    )?);
    some.truncate(rows);
    let first: HashSet<(usize, i64)> = some.iter().map(ListedRow::place).collect();
    let last = newest.into_iter().skip(skipped);
    some.extend(last.filter(|row| !first.contains(&row.place())));
    for ListedRow {
        table, at, record, ..
    } in some
    {
        let Some(rows) = queries.tables.get(table) else {
            continue;
        };
        let record = match record {
            None => database.value(&rows.one, &[key.clone(), SqlValue::Int(at)])?,
            record => record,
        };
        let place = if rows.is_line {
            RecordPlace::Line
        } else {
            RecordPlace::Row(rows.name)
        };
        if let Some(cell) = record
            && let Ok(bytes) = unpacked(&cell.content())
        {
            glance.feed(0, u64::try_from(at).unwrap_or_default(), &bytes, place);
        }
    }
    Ok(glance)
}

/// Reads the first lines of a session that its database stores in one value.
fn read_archive(
    database: &Database,
    queries: &Queries,
    key: &SqlValue,
    glance: &mut SessionGlance,
) -> Result<(), DatabaseFailure> {
    let Some(sql) = &queries.archive else {
        return Ok(());
    };
    let packed = database
        .value(sql, std::slice::from_ref(key))?
        .map(SqlValue::content)
        .unwrap_or_default();
    if let Ok(text) = unpacked(&packed) {
        decode_lines(&text, 0, glance);
    }
    Ok(())
}
