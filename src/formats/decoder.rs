//! Formats and decoders, and the driver that feeds records to decoders: it parses, repairs, splits
//! and counts them, so that no decoder can drop a record.
//!
//! **The driver counts, not the decoders.** [`feed`] parses a record, repairs it if it can, splits
//! lines that hold several values, and calls the decoder once for each value. The decoder returns a
//! `model::tally::Fate`, so that every record is counted. The records of a document are its
//! messages; the header around them is decoded, but not counted.
//!
//! **File names have facts that records lack.** A format defines which paths belong to a session:
//! companions, archives, and files that a record names. Small files beside a session give facts
//! about it, but are not records.

mod part;
mod torn;

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::definition::head::Head;
use super::definition::sniff;
use super::json::{self, Damage, Json};
use super::probe::{Probe, ProbeResult};
use super::roots::{FileRole, ListedSession, Pattern, SessionName};
use super::tables::{Queries, Tables};
use super::yaml;
use crate::model::edit::{Batch, Edit, Severity};
use crate::model::entry::{BlockKind, Role};
use crate::model::record::Record;
use crate::model::tally::Fate;
use crate::model::text::secrets;
use crate::model::text::{Text, text_of};
pub use part::unframed;
use part::{TextPart, ended, shifts, started};

/// The fate of a small file beside the session: it is no record, and not counted.
pub(crate) const BESIDE: Fate = Fate::Passed("beside the session");

/// The format in which an agent writes sessions: a head as data, and a decoder. `head!` implements
/// the first two methods from the head's file; of the others only [`Format::decoder`] has no default.
pub trait Format: Sync {
    /// The name in JSON outputs and on the screen, for which the head need not be parsed.
    fn name(&self) -> &'static str;

    /// The properties of the format. They are parsed on first use.
    fn head(&self) -> &'static Head;

    /// Creates a decoder for one session: for the one in the file at `path`, if its name matters.
    fn decoder(&self, path: Option<&Path>) -> Box<dyn Decoder>;

    /// Judges by content whether a file is of this format. Paths are only a tie-breaker.
    fn sniff(&self, probe: &Probe<'_>) -> ProbeResult {
        sniff::sniff(self.head(), probe)
    }

    /// The session id and agent in a file name. `None`: the file is not a session of its own, but a
    /// companion, a copy or an index.
    fn session_name<'p>(&self, path: &'p Path) -> Option<SessionName<'p>> {
        SessionName::stem(path)
    }

    /// The files that have a role for the session in the file or folder at `path`. They need not
    /// exist.
    fn files(&self, path: &Path, role: FileRole<'_>) -> Vec<Pattern> {
        self.head().files(path, role)
    }

    /// The queries for sessions in a database with these tables. `None` if they are not the
    /// format's.
    fn queries(&self, tables: &Tables) -> Option<Queries> {
        let _ = tables;
        None
    }

    /// Parses an index of sessions ([`FileRole::Index`]).
    fn listings(&self, index: &Json<'_>) -> Vec<ListedSession> {
        let _ = index;
        Vec::new()
    }
}

impl dyn Format + '_ {
    /// The first file with a role.
    pub(crate) fn file(&self, path: &Path, role: FileRole<'_>) -> Option<PathBuf> {
        let files = self.files(path, role).into_iter();
        files.map(|Pattern(file)| file).next()
    }

    /// The folder that contains all files of the session at `path`.
    pub(crate) fn home(&self, path: &Path) -> PathBuf {
        self.file(path, FileRole::Home)
            .unwrap_or_else(|| path.parent().unwrap_or(path).to_owned())
    }
}

/// What a record is in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordPlace<'a> {
    /// A line of the opened file.
    Line,
    /// A line of a companion file.
    CompanionLine(&'a Path),
    /// A document's root object with its array of messages emptied.
    Header,
    /// An element of a document's array of messages.
    Element,
    /// A whole small file: of a folder, or a companion.
    File(&'a Path),
    /// A row of a database's table with this name.
    Row(&'a str),
    /// A range of a text file, as a string.
    Passage,
    /// A companion that is the text of one body, as a string.
    Text(&'a Path),
}

impl RecordPlace<'_> {
    /// Whether the record is text, even if it looks like JSON.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Text(_) | Self::Passage)
    }
}

/// A parsed record with its place.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    pub(crate) json: &'a Json<'a>,
    pub(crate) place: RecordPlace<'a>,
}

/// Turns the records of one session into edits.
///
/// Invariant: the *content* of what a record yields depends on that record alone, so that it can be
/// decoded again by a fresh decoder; identity may depend on history. Bodies are made by
/// [`Batch::prose`], [`Batch::output`] and [`Batch::tree`] in the same order each time.
pub trait Decoder: Send {
    /// The head of the format. Its fields are those that records are expected to have; the driver
    /// counts all others.
    fn head(&self) -> &'static Head;

    /// Decodes one record. A kind for which there is no code goes to `formats::unknown`.
    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate;

    /// Reads a record of the session that this one was copied from, before its own records. It
    /// emits nothing.
    fn read_original(&mut self, original: &[u8]) {
        let _ = original;
    }

    /// Splits a text file into records: ranges that cover all of it.
    fn passages(&self, text: &str) -> Vec<Range<usize>> {
        std::iter::once(0..text.len()).collect()
    }

    /// Handles the deletion of a companion file that was decoded before.
    fn file_deleted(&mut self, path: &Path, out: &mut Batch) {
        let _ = (path, out);
    }

    /// Emits edits that were held back; called at the end of each read, also of a single record.
    fn finish(&mut self, out: &mut Batch) {
        let _ = out;
    }
}

/// A decoder that wraps another one, and reads or changes its edits.
pub(crate) trait DecoderWrapper: Send {
    fn inner(&self) -> &dyn Decoder;

    fn inner_mut(&mut self) -> &mut dyn Decoder;

    /// Decodes a record; without one, finishes a read.
    fn emit(&mut self, input: Option<Input<'_>>, out: &mut Batch) -> Option<Fate>;

    /// Decodes a record with the wrapped decoder; without one, finishes its read.
    fn emit_inner(&mut self, input: Option<Input<'_>>, out: &mut Batch) -> Option<Fate> {
        let decoder = self.inner_mut();
        if let Some(input) = input {
            return Some(decoder.decode(input, out));
        }
        decoder.finish(out);
        None
    }
}

impl<A: DecoderWrapper> Decoder for A {
    fn head(&self) -> &'static Head {
        self.inner().head()
    }

    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        self.emit(Some(input), out).unwrap_or(BESIDE)
    }

    fn read_original(&mut self, original: &[u8]) {
        self.inner_mut().read_original(original);
    }

    fn passages(&self, text: &str) -> Vec<Range<usize>> {
        self.inner().passages(text)
    }

    fn file_deleted(&mut self, path: &Path, out: &mut Batch) {
        self.inner_mut().file_deleted(path, out);
    }

    fn finish(&mut self, out: &mut Batch) {
        self.emit(None, out);
    }
}

/// Emits a record as a tree under a title: for files of no known format, and for malformed records
/// of known kinds.
pub(crate) fn show_raw(input: Input<'_>, title: &str, out: &mut Batch) -> Fate {
    let at = input.json.get("timestamp").moment();
    let mut entry = out.new_entry(out.origin_key(), Role::Harness, at);
    entry.push(input.json.to_block(title, out));
    out.show(entry)
}

/// The fate of a JSON value, and the number of bytes of the record that it takes.
type CountedValue = (Fate, usize);

/// Parses a record that is one whole value.
fn value_of(bytes: &[u8]) -> Option<Json<'_>> {
    value_without(bytes, &[])
}

/// As [`value_of`], with the values of these members left as source text.
pub(crate) fn value_without<'a>(
    bytes: &'a [u8],
    closed: &'static [&'static str],
) -> Option<Json<'a>> {
    json::read_without(trimmed(simdutf8::basic::from_utf8(bytes).ok()?), closed)
}

/// Whether bytes are no record, but only white space or the frame of an event.
pub(crate) fn is_blank(bytes: &[u8]) -> bool {
    trimmed(&text_of(bytes)).is_empty()
}

/// A record without the white space and the event frame around its value.
fn trimmed(text: &str) -> &str {
    unframed(ended(started(text)))
}

/// Feeds one record to a decoder. Each JSON value in it is counted exactly once, and each byte with
/// one of them; blank records are not counted.
pub fn feed(
    decoder: &mut dyn Decoder,
    record: Record<'_>,
    place: RecordPlace<'_>,
    out: &mut Batch,
) {
    let masked = masked_record(record, place);
    let record = masked
        .as_deref()
        .map_or(record, |bytes| Record { bytes, ..record });
    feed_as_is(decoder, record, place, out);
}

/// The bytes of a record with its secrets masked; `None` if it has none, or masking is off.
pub(crate) fn masked(bytes: &[u8], place: RecordPlace<'_>) -> Option<Vec<u8>> {
    secrets::with_mask(|mask| json::masked::masked(bytes, place.is_text(), mask)).flatten()
}

fn masked_record(record: Record<'_>, place: RecordPlace<'_>) -> Option<Vec<u8>> {
    secrets::with_mask(|mask| mask.begin_record(Some(record.origin)))?;
    let masked = masked(record.bytes, place);
    secrets::with_mask(|mask| mask.begin_record(None));
    masked
}

fn feed_as_is(
    decoder: &mut dyn Decoder,
    record: Record<'_>,
    place: RecordPlace<'_>,
    out: &mut Batch,
) {
    let is_yaml = |path: &Path| {
        path.extension()
            .is_some_and(|extension| extension == "yaml")
    };
    let value = match place {
        _ if place.is_text() => None,
        RecordPlace::File(path) if is_yaml(path) => Some(yaml::facts(&text_of(record.bytes))),
        _ => value_of(record.bytes),
    };
    feed_value(decoder, record, value.as_ref(), place, out);
}

/// As [`feed`], for a record that was parsed with [`value_of`].
pub(crate) fn feed_read(
    decoder: &mut dyn Decoder,
    record: Record<'_>,
    value: Option<&Json<'_>>,
    place: RecordPlace<'_>,
    out: &mut Batch,
) {
    match masked_record(record, place) {
        Some(bytes) => feed_as_is(
            decoder,
            Record {
                bytes: &bytes,
                ..record
            },
            place,
            out,
        ),
        None => feed_value(decoder, record, value, place, out),
    }
}

fn feed_value(
    decoder: &mut dyn Decoder,
    record: Record<'_>,
    value: Option<&Json<'_>>,
    place: RecordPlace<'_>,
    out: &mut Batch,
) {
    if out.format.is_empty() {
        out.format = decoder.head().name;
    }
    let Some(value) = value else {
        return feed_irregular(decoder, record, place, out);
    };
    out.begin_record(record.origin);
    let fate = decode(decoder, value, place, out);
    if is_counted(fate, place) {
        out.tally
            .count(fate, record.origin.file, record.bytes.len() as u64);
    }
}

/// Whether a record is counted. The header of a document counts only if it is broken; the text of a
/// body belongs to the record that names it.
fn is_counted(fate: Fate, place: RecordPlace<'_>) -> bool {
    fate != BESIDE
        && (fate == Fate::Faulty || !matches!(place, RecordPlace::Header | RecordPlace::Text(_)))
}

/// Feeds a record that is not one whole value.
fn feed_irregular(
    decoder: &mut dyn Decoder,
    record: Record<'_>,
    place: RecordPlace<'_>,
    out: &mut Batch,
) {
    let text = text_of(record.bytes);
    let was_invalid = matches!(text, Cow::Owned(_));
    let started = started(&text);
    let trimmed = trimmed(&text);
    if trimmed.is_empty() {
        return;
    }
    out.begin_record(record.origin);
    if was_invalid {
        out.notice(Severity::Warning, "bytes that are not UTF-8 were replaced");
    }
    let mut outcomes = if place.is_text() {
        let value = Json::Str(text.as_ref().into());
        vec![(
            decoder.decode(
                Input {
                    json: &value,
                    place,
                },
                out,
            ),
            record.bytes.len(),
        )]
    } else {
        let at = text.len() - started.len() + ended(started).len() - trimmed.len();
        let shifts = if was_invalid {
            shifts(record.bytes)
        } else {
            Vec::new()
        };
        feed_text(
            decoder,
            TextPart {
                record: record.origin,
                shifts: &shifts,
                at,
                text: trimmed,
            },
            place,
            out,
        )
    };
    outcomes.retain(|(fate, _)| is_counted(*fate, place));
    let mut left = record.bytes.len();
    let last = outcomes.len().saturating_sub(1);
    for (place, (fate, bytes)) in outcomes.into_iter().enumerate() {
        // The bytes between and around the values are counted with the last one.
        let bytes = if place == last { left } else { bytes.min(left) };
        left -= bytes;
        out.tally.count(fate, record.origin.file, bytes as u64);
    }
}

fn feed_text(
    decoder: &mut dyn Decoder,
    part: TextPart<'_>,
    place: RecordPlace<'_>,
    out: &mut Batch,
) -> Vec<CountedValue> {
    let text = part.text;
    let damage = match json::parse(text) {
        Ok(value) => return vec![(decode(decoder, &value, place, out), text.len())],
        Err(damage) => damage,
    };
    // Some values may be complete and still not readable, such as numbers out of range.
    let values = if text.starts_with(['{', '[']) {
        json::split(text)
    } else {
        Vec::new()
    };
    if values.len() > 1 || damage.trailing && !values.is_empty() {
        return feed_several(decoder, part, values, place, out);
    }
    let torn = torn::parts(text, &damage);
    if !torn.is_empty() {
        return feed_several(decoder, part, torn, place, out);
    }
    if let Some(mended) = json::repair::repair(text)
        && let Ok(value) = json::parse(&mended)
    {
        out.notice(
            Severity::Warning,
            &format!("broken text in a string was mended ({})", damage.what),
        );
        return vec![(decode(decoder, &value, place, out), text.len())];
    }
    vec![(show_damaged(text, &damage, out), text.len())]
}

fn decode(
    decoder: &mut dyn Decoder,
    json: &Json<'_>,
    place: RecordPlace<'_>,
    out: &mut Batch,
) -> Fate {
    if !out.is_counted {
        decoder.head().fields.check(json, out);
    }
    decoder.decode(Input { json, place }, out)
}

/// Feeds several values on one line: some agents omit the line break between two records.
fn feed_several(
    decoder: &mut dyn Decoder,
    part: TextPart<'_>,
    mut ranges: Vec<Range<usize>>,
    place: RecordPlace<'_>,
    out: &mut Batch,
) -> Vec<CountedValue> {
    let end = ranges.last().map_or(0, |range| range.end);
    ranges.push(end..part.text.len());
    let mut outcomes = Vec::new();
    for value in ranges
        .into_iter()
        .map(|range| part.within(range))
        .filter(|value| !value.text.is_empty())
    {
        out.begin_record(value.origin());
        outcomes.extend(feed_text(decoder, value, place, out));
    }
    out.notice(
        Severity::Note,
        &format!("{} JSON values on one line", outcomes.len()),
    );
    outcomes
}

fn show_damaged(text: &str, damage: &Damage, out: &mut Batch) -> Fate {
    let looks_like_json = text.starts_with(['{', '[']);
    let what = match (looks_like_json, damage.unfinished) {
        (true, true) => format!("incomplete record: {}", damage.what),
        (true, false) => format!("broken record at byte {}: {}", damage.at, damage.what),
        (false, _) => "not JSON".to_owned(),
    };
    let mut entry = out.new_entry(out.origin_key(), Role::Harness, None);
    let body = out.output(text);
    entry.push(BlockKind::raw(&what, body));
    out.push(Edit::Entry(Box::new(entry)));
    out.notice(Severity::Error, &what);
    out.tally.record_fault(out.origin(), Text::clean(&what));
    Fate::Faulty
}
