//! What a format is, and the one driver that feeds records to decoders: it parses, repairs, splits
//! and counts, so that no decoder can drop a record.
//!
//! **The driver counts, not the decoders.** `formats::decoder::feed` parses a record, mends what can be mended,
//! splits lines that hold several values, and calls the decoder once for each value; records and their bytes are
//! counted alike. The decoder answers with a `model::tally::Fate`, so a record that nobody counts cannot be written.
//! Records of a document are its messages; what surrounds them is read, but is no record.
//!
//! **Names say what records cannot.** A format is asked for a decoder of a path, for what an archived file may be
//! called, and for files that records ask for. Facts from small files beside a session are facts about it, but no
//! records.

mod part;
mod torn;

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::counting::Counting;
use super::definition::head;
use super::fields::{self, Fields};
use super::json::{self, Damage, Json};
use super::roots::{Beside, Listing, Named, Process, Root};
use super::tables::{Queries, Tables};
use super::yaml;
use crate::model::edit::{Batch, Edit, Severity};
use crate::model::entry::{BlockKind, Piece, Raw, Role};
use crate::model::record::{Record, Shape};
use crate::model::resume::Resume;
use crate::model::tally::Fate;
use crate::model::text::secrets;
use crate::model::text::{Text, text_of};
pub use part::unframed;
use part::{TextPart, ended, shifts, started};

/// The fate of a small file that gives facts about the session, or none: it is no record, and not counted.
pub(crate) const BESIDE: Fate = Fate::Passed("beside the session");

/// One agent's way to write sessions.
pub trait Format: Sync {
    /// The name used in JSON outputs and on the screen.
    fn name(&self) -> &'static str;

    /// The agent that writes it, for people.
    fn agent(&self) -> &'static str {
        head::of(self.name()).map_or(self.name(), |head| head.agent)
    }

    /// What the agent does not record, for the reader; empty if nothing can be said. The
    /// manual repeats it.
    fn omits(&self) -> &'static str {
        head::of(self.name()).map_or("", |head| head.omits)
    }

    /// Decides by content whether a file is of this format. Paths are only a tie-breaker.
    fn sniff(&self, probe: &Probe<'_>) -> Verdict;

    /// Decides of a text that is no JSON, by its beginning. `None`: it is not of this format.
    fn sniff_text(&self, text: &str) -> Option<Verdict> {
        let _ = text;
        None
    }

    /// What a file is that belongs to the agent but is no session, and which one to open: half a sentence.
    fn aside(&self, probe: &Probe<'_>) -> Option<&'static str> {
        let _ = probe;
        None
    }

    /// A decoder for one session.
    fn decoder(&self) -> Box<dyn Decoder>;

    /// A decoder for the session in the file at `path`, for formats whose file names say something.
    fn decoder_of(&self, path: &Path) -> Box<dyn Decoder> {
        let _ = path;
        self.decoder()
    }

    /// Words in records that tell something else alone than among all others: what only says how it goes on with others,
    /// what other records or files complete. A search decodes all other records with a hit by themselves, and with
    /// what they are paired with. `None`: in this format entries are made of what stands around them.
    fn entangled(&self) -> Option<&'static [&'static str]> {
        None
    }

    /// Which records of a file counting can do without, by their bytes. `None`: each may count.
    fn counting(&self, place: Place<'_>) -> Option<Counting> {
        let _ = place;
        None
    }

    /// What records have, in quotes, in which pieces of texts come. No record tells then what is in such a text.
    fn pieces(&self) -> Option<&'static str> {
        None
    }

    /// What tells of titles in lines that may stand anywhere.
    fn titles(&self) -> &'static [TitleMark] {
        &[]
    }

    /// What the file at `path` may be called once its agent has put it aside.
    fn archives(&self, path: &Path) -> Vec<Pattern> {
        let _ = path;
        Vec::new()
    }

    /// Files that belong to the session in the file at `path` besides that file, now or later.
    fn companions(&self, path: &Path) -> Vec<Pattern> {
        let _ = path;
        Vec::new()
    }

    /// A database of the agent, if there is one, with rows on the session in the file at `path` that the file lacks.
    fn rows_beside(&self, path: &Path) -> Option<PathBuf> {
        let _ = path;
        None
    }

    /// How these rows are read from a database with these tables, as one JSON value, and the session's name in it.
    fn query_beside(&self, path: &Path, tables: &Tables) -> Option<(String, String)> {
        let _ = (path, tables);
        None
    }

    /// The session that the file at `path` lies beside.
    fn owner(&self, path: &Path) -> Option<PathBuf> {
        let _ = path;
        None
    }

    /// The session with this id that the file at `path` lies beside, where only its content tells which that is.
    fn owner_of_id(&self, path: &Path, id: &str) -> Option<PathBuf> {
        let _ = (path, id);
        None
    }

    /// Where the session may lie that started the one at `path`, by what its content says of it: nowhere if that does not
    /// tell which session it was. `None`: nothing is known of where such sessions lie.
    fn starter(&self, path: &Path, by: &str) -> Option<Vec<Pattern>> {
        let _ = (path, by);
        None
    }

    /// The folder in which the files beside the session in the file or folder at `path` lie. A link out of it is
    /// not followed.
    fn home(&self, path: &Path) -> PathBuf {
        path.parent().unwrap_or(path).to_owned()
    }

    /// Files that a decoder asked for with [`Batch::wanted`].
    fn follow_up(&self, path: &Path, wanted: &str) -> Vec<Pattern> {
        let _ = (path, wanted);
        Vec::new()
    }

    /// A word in each record that asks for files, where those lie among the sessions and do not say whose they are.
    fn asks(&self) -> Option<&'static str> {
        None
    }

    /// Whether a session may go on from the middle of another file.
    fn may_go_on(&self) -> bool {
        false
    }

    /// Whether the name of a file says that it is of this format, wherever it lies.
    fn claims(&self, path: &Path) -> bool {
        let _ = path;
        false
    }

    /// Where the session in the file at `path`, which begins with this record, began: it may go on from the middle of
    /// another file.
    fn goes_on_from(&self, path: &Path, first: &Json<'_>) -> Option<Earlier> {
        let _ = (path, first);
        None
    }

    /// Where the session may lie of which the one in the file at `path` has copies at its beginning, as the first records
    /// in this text say.
    fn copied_from(&self, path: &Path, head: &str) -> Vec<Pattern> {
        let _ = (path, head);
        Vec::new()
    }

    /// For a folder: files whose stems are the ids of its sessions.
    fn sessions(&self, path: &Path) -> Vec<Pattern> {
        let _ = path;
        Vec::new()
    }

    /// For a folder: the first files of a session; more may be asked for while decoding.
    fn files(&self, path: &Path, session: &str) -> Vec<Pattern> {
        let _ = (path, session);
        Vec::new()
    }

    /// Whether sessions lie in files, and a database has less of the same: it counts only where the file is gone.
    fn has_index(&self) -> bool {
        false
    }

    /// A file of lines beside a database in which one of its sessions may stand, too: some of its lines are rows.
    fn lines_of(&self, database: &Path, session: &str) -> Option<Pattern> {
        let _ = (database, session);
        None
    }

    /// For a database with these tables: how sessions are read from it. `None` if they are not the format's.
    fn queries(&self, tables: &Tables) -> Option<Queries> {
        let _ = tables;
        None
    }

    /// How the agent itself goes on with the session in the file or folder at `path`.
    fn resumes(&self, path: &Path) -> &'static [Resume] {
        let _ = path;
        &[]
    }

    /// Where the agent keeps sessions.
    fn roots(&self) -> &'static [Root] {
        head::of(self.name()).map_or(&[], |head| head.roots)
    }

    /// What the name of a file of this format says. `None`: it is no session of its own, but a
    /// companion, a copy or an index.
    fn named<'p>(&self, path: &'p Path) -> Option<Named<'p>> {
        Named::stem(path)
    }

    /// Small files beside a session that say more of it.
    fn beside(&self, path: &Path) -> Beside {
        let _ = path;
        Beside::default()
    }

    /// What the file of a process says that has a session open.
    fn process(&self, file: &Json<'_>) -> Option<Process> {
        let _ = file;
        None
    }

    /// What the index beside sessions says of them.
    fn listings(&self, index: &Json<'_>) -> Vec<Listing> {
        let _ = index;
        Vec::new()
    }
}

/// The beginning of a session that goes on in another file.
pub struct Earlier {
    /// Names of the files that it may be in.
    pub(crate) files: Vec<Pattern>,
    /// So many bytes of the file are a part of the session; what follows was taken back.
    pub(crate) bytes: u64,
    /// Whether a record is the last one of that part.
    pub(crate) is_last: Box<dyn Fn(&Json<'_>) -> bool>,
}

/// A path whose components may be `*` wildcards (`agent-*.jsonl`), or `**` for any depth.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern(pub PathBuf);

/// The beginning of what is to be opened.
#[derive(Debug)]
pub struct Probe<'a> {
    /// Its path; `-` for standard input.
    pub path: &'a Path,
    /// Names in the folder, if it is one.
    pub children: &'a [String],
    /// The first objects of the file read as lines (about 50; lines that do not parse are left out).
    pub lines: &'a [Json<'a>],
    /// The file read as one JSON value: the root object with its longest array of objects emptied.
    pub header: Option<&'a Json<'a>>,
    /// The first elements of that array, or of the root array.
    pub elements: &'a [Json<'a>],
    /// Whether the file is one JSON value over several lines, or an array.
    pub is_document: bool,
    /// Whether all of the file was seen.
    pub is_whole: bool,
}

impl<'a> Probe<'a> {
    /// Something at a path of which nothing is known yet.
    pub(crate) fn at(path: &'a Path) -> Self {
        Self {
            path,
            children: &[],
            lines: &[],
            header: None,
            elements: &[],
            is_document: false,
            is_whole: false,
        }
    }
}

/// What a format says of a file.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// How sure it is.
    pub confidence: Confidence,
    /// Why, in a sentence for the reader, without a full stop.
    pub reason: String,
    /// How the session lies on disk.
    pub shape: Shape,
}

/// Whether values are of a kind, but for an odd one among several: what is damaged or was put in by another hand is
/// shown as such, and the others are still what they are.
pub(crate) fn nearly_all<'a, 'j: 'a>(
    values: impl IntoIterator<Item = &'a Json<'j>>,
    mut is_such: impl FnMut(&'a Json<'j>) -> bool,
) -> bool {
    let (mut all, mut odd) = (0_usize, 0_usize);
    for value in values {
        all += 1;
        odd += usize::from(!is_such(value));
    }
    all > 0 && odd * 4 <= all + usize::from(all > 1)
}

/// How sure a format is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// It is another format.
    No,
    /// There is not enough of the file yet to decide.
    NeedMore,
    /// It can be read so, but nothing proves it.
    Maybe,
    /// Several marks fit.
    Likely,
    /// A decisive mark.
    Certain,
}

impl Confidence {
    /// The word used in JSON outputs.
    pub fn word(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::NeedMore => "need-more",
            Self::Maybe => "maybe",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}

impl Verdict {
    /// Not this format.
    pub(crate) fn no(reason: &str) -> Self {
        Self {
            confidence: Confidence::No,
            reason: reason.to_owned(),
            shape: Shape::Lines,
        }
    }

    /// This format.
    pub(crate) fn yes(confidence: Confidence, shape: Shape, reason: impl Into<String>) -> Self {
        Self {
            confidence,
            reason: reason.into(),
            shape,
        }
    }
}

/// What a record is within its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
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
    /// A part of a file that is no JSON: the value is a string.
    Passage,
    /// A companion that is no JSON but the text of one body: the value is a string.
    Text(&'a Path),
}

impl Place<'_> {
    /// Whether the record is no JSON, whatever it looks like.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Text(_) | Self::Passage)
    }
}

/// A record, parsed.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Its value.
    pub(crate) json: &'a Json<'a>,
    /// What it is.
    pub(crate) place: Place<'a>,
}

/// Turns the records of one session into edits.
///
/// Invariant: the *content* of what a record yields depends on that record alone, so that it can be
/// decoded again by a fresh decoder; identity may depend on history. Bodies are made by
/// [`Batch::prose`], [`Batch::output`] and [`Batch::tree`] in the same order each time.
pub trait Decoder: Send {
    /// The name of the format.
    fn format(&self) -> &'static str;

    /// Decodes one record and says what became of it. What there is no code for goes to `formats::unknown`.
    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate;

    /// A record of the session of which this one has copies. Those come first, and are not decoded.
    fn learn(&mut self, original: &[u8]) {
        let _ = original;
    }

    /// The records of a text that is no JSON: ranges that are all of it.
    fn passages(&self, text: &str) -> Vec<Range<usize>> {
        std::iter::once(0..text.len()).collect()
    }

    /// A small file beside the session, which was decoded before, is gone.
    fn lost(&mut self, path: &Path, out: &mut Batch) {
        let _ = (path, out);
    }

    /// Which fields the records are known to have; the driver notes all others.
    fn fields(&self) -> &'static Fields {
        &fields::NONE
    }

    /// Gives out what was held back; called at the end of each reading, also of a single record.
    fn finish(&mut self, out: &mut Batch) {
        let _ = out;
    }
}

/// A decoder around another one: it looks at what that one emits, and may change it.
pub(crate) trait Around: Send {
    /// The other one.
    fn inner(&self) -> &dyn Decoder;

    /// The same, to be used.
    fn inner_mut(&mut self) -> &mut dyn Decoder;

    /// Lets it emit what a record yields, or at the end of a reading what it held back.
    fn emit(&mut self, input: Option<Input<'_>>, out: &mut Batch) -> Option<Fate>;

    /// What the other one emits.
    fn emit_inner(&mut self, input: Option<Input<'_>>, out: &mut Batch) -> Option<Fate> {
        let decoder = self.inner_mut();
        if let Some(input) = input {
            return Some(decoder.decode(input, out));
        }
        decoder.finish(out);
        None
    }
}

impl<A: Around> Decoder for A {
    fn format(&self) -> &'static str {
        self.inner().format()
    }

    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        self.emit(Some(input), out).unwrap_or(BESIDE)
    }

    fn learn(&mut self, original: &[u8]) {
        self.inner_mut().learn(original);
    }

    fn passages(&self, text: &str) -> Vec<Range<usize>> {
        self.inner().passages(text)
    }

    fn lost(&mut self, path: &Path, out: &mut Batch) {
        self.inner_mut().lost(path, out);
    }

    fn fields(&self) -> &'static Fields {
        self.inner().fields()
    }

    fn finish(&mut self, out: &mut Batch) {
        self.emit(None, out);
    }
}

/// Shows a record as a tree under a title: for files of no known format, and known records of an odd shape.
pub(crate) fn show_raw(input: Input<'_>, title: &str, out: &mut Batch) -> Fate {
    let mut entry = out.new_entry(
        out.origin_key(),
        Role::Harness,
        input.json.get("timestamp").moment(),
    );
    let title = Text::clean(title);
    let body = out.tree(&title, input.json.weight(), || input.json.to_tree());
    entry
        .blocks
        .push(Batch::block(Piece(0), BlockKind::Raw(Raw { title, body })));
    out.entry(entry);
    Fate::Shown
}

/// What a line with a title has, as it is written.
#[derive(Clone, Copy, Debug)]
pub enum TitleMark {
    /// This; of several lines the last one counts.
    Last(&'static str),
    /// What begins so and goes on with the id of another line, which has that behind the second of these: only beside
    /// that line it is a title of this session.
    Of(&'static str, &'static str),
}

/// What became of a JSON value in a record, and how many bytes of the record it takes.
type Outcome = (Fate, usize);

/// The value of a record that is one as it stands. Depends on the bytes alone, so that any thread may ask.
pub(crate) fn value_of(bytes: &[u8]) -> Option<Json<'_>> {
    value_without(bytes, &[])
}

/// As [`value_of`], in which the values of members of these names are as they are written.
pub(crate) fn value_without<'a>(
    bytes: &'a [u8],
    closed: &'static [&'static str],
) -> Option<Json<'a>> {
    json::read_without(trimmed(simdutf8::basic::from_utf8(bytes).ok()?), closed)
}

/// Whether bytes are no record: nothing, or only what may stand around one.
pub(crate) fn is_blank(bytes: &[u8]) -> bool {
    trimmed(&text_of(bytes)).is_empty()
}

/// A record without what may stand around its value.
fn trimmed(text: &str) -> &str {
    unframed(ended(started(text)))
}

/// Feeds one record to a decoder. Counts every JSON value in it exactly once, and every byte with one
/// of them; blank records are none.
pub fn feed(decoder: &mut dyn Decoder, record: Record<'_>, place: Place<'_>, out: &mut Batch) {
    let masked = masked(record.bytes, place);
    let record = masked
        .as_deref()
        .map_or(record, |bytes| Record { bytes, ..record });
    feed_as_is(decoder, record, place, out);
}

/// The bytes of a record without the secrets in them, if they are to be masked and there are some.
pub(crate) fn masked(bytes: &[u8], place: Place<'_>) -> Option<Vec<u8>> {
    secrets::with_mask(|mask| json::masked::masked(bytes, place.is_text(), mask)).flatten()
}

fn feed_as_is(decoder: &mut dyn Decoder, record: Record<'_>, place: Place<'_>, out: &mut Batch) {
    let is_yaml = |path: &Path| {
        path.extension()
            .is_some_and(|extension| extension == "yaml")
    };
    let value = match place {
        _ if place.is_text() => None,
        Place::File(path) if is_yaml(path) => Some(yaml::facts(&text_of(record.bytes))),
        _ => value_of(record.bytes),
    };
    feed_value(decoder, record, value.as_ref(), place, out);
}

/// As [`feed`], for a record of which [`value_of`] was asked already.
pub(crate) fn feed_read(
    decoder: &mut dyn Decoder,
    record: Record<'_>,
    value: Option<&Json<'_>>,
    place: Place<'_>,
    out: &mut Batch,
) {
    match masked(record.bytes, place) {
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
    place: Place<'_>,
    out: &mut Batch,
) {
    if out.format.is_empty() {
        out.format = decoder.format();
    }
    let Some(value) = value else {
        return feed_odd(decoder, record, place, out);
    };
    out.begin_record(record.origin);
    let fate = decode(decoder, value, place, out);
    if is_counted(fate, place) {
        out.tally
            .count(fate, record.origin.file, record.bytes.len() as u64);
    }
}

/// The records of a document are its messages; what surrounds them counts only if it is broken. A text is
/// a part of the record that names it.
fn is_counted(fate: Fate, place: Place<'_>) -> bool {
    fate != BESIDE && (fate == Fate::Faulty || !matches!(place, Place::Header | Place::Text(_)))
}

/// Feeds a record that is no single value.
fn feed_odd(decoder: &mut dyn Decoder, record: Record<'_>, place: Place<'_>, out: &mut Batch) {
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
        // What stands between and around the values belongs to the last one.
        let bytes = if place == last { left } else { bytes.min(left) };
        left -= bytes;
        out.tally.count(fate, record.origin.file, bytes as u64);
    }
}

fn feed_text(
    decoder: &mut dyn Decoder,
    part: TextPart<'_>,
    place: Place<'_>,
    out: &mut Batch,
) -> Vec<Outcome> {
    let text = part.text;
    let damage = match json::parse(text) {
        Ok(value) => return vec![(decode(decoder, &value, place, out), text.len())],
        Err(damage) => damage,
    };
    // Values that are whole but cannot be read, such as numbers beyond all bounds, are among them.
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

fn decode(decoder: &mut dyn Decoder, json: &Json<'_>, place: Place<'_>, out: &mut Batch) -> Fate {
    if !out.is_counted {
        decoder.fields().check(json, out);
    }
    decoder.decode(Input { json, place }, out)
}

/// Some agents lose the newline between two records.
fn feed_several(
    decoder: &mut dyn Decoder,
    part: TextPart<'_>,
    mut ranges: Vec<Range<usize>>,
    place: Place<'_>,
    out: &mut Batch,
) -> Vec<Outcome> {
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
    entry.blocks.push(Batch::block(
        Piece(0),
        BlockKind::Raw(Raw {
            title: Text::clean(&what),
            body,
        }),
    ));
    out.push(Edit::Entry(Box::new(entry)));
    out.notice(Severity::Error, &what);
    out.tally.note_fault(out.origin(), Text::clean(&what));
    Fate::Faulty
}
