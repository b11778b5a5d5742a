//! Searches one session: first its bytes, then the records that may have a hit.
//!
//! Invariant: a record that several sessions read is searched with only one of them, the session
//! whose files were sifted.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use regex::bytes::RegexBuilder;

use super::query::Query;
use crate::analysis::expression::judge::{Judge, Judgement};
use crate::analysis::search::texts;
use crate::ingest::find::{DiscoveryQuery, FactReader, Listings, Unread};
use crate::ingest::sift::{Picked, PickedLine, Sifted, lines_within};
use crate::ingest::{self, Pager, SessionSource, cannot_open};
use crate::model::body::{Held, Key};
use crate::model::entry::sender::Sender;
use crate::model::entry::{Block, BlockKind, Entry};
use crate::model::found::FoundSession;
use crate::model::record::{FileId, Origin, Shape};
use crate::model::text::{Name, prefix};
use crate::model::timestamp::Timestamp;
use crate::report::outcome::ReadFailure;
use crate::report::reading::Reading;

/// With more lines, or more bytes in them, the whole session is decoded, which is no slower and
/// needs less memory.
const MANY_LINES: usize = 2_000;
const MANY_BYTES: u64 = 64 << 20;
/// Bytes at the beginning of a file that are always read, for the facts of the session.
const HEAD: u64 = 16 << 10;
/// Ranges in front of a result, in bytes, that are searched for its call, one after the other.
const REACHES: [u64; 3] = [1 << 20, 64 << 20, u64::MAX];
/// Number of hits per message.
const TOGETHER: usize = 64;
/// Bytes of a line that are shown on each side of the hit.
const AROUND: usize = 1 << 10;

/// A message about a session.
pub(super) enum GrepMessage {
    /// Hits, with their session.
    Hits(Arc<FoundSession>, Vec<LineHit>),
    /// The session could not be read, or not to its end.
    Failure(ReadFailure),
}

/// A line with a match.
#[derive(Debug, PartialEq)]
pub(super) struct LineHit {
    /// The file of the record.
    pub(super) path: PathBuf,
    /// The line of the record, or its number if records are not lines.
    pub(super) line: Option<u32>,
    /// The key of the entry.
    pub(super) key: Key,
    pub(super) lane: Option<Name>,
    pub(super) at: Option<Timestamp>,
    /// The role for JSON, and the speaker for people.
    pub(super) role: &'static str,
    pub(super) speaker: String,
    pub(super) from: Option<Box<Sender>>,
    /// The kind of text.
    pub(super) field: &'static str,
    /// The name of the tool, and its word in the viewer.
    pub(super) tool: Option<(Name, String)>,
    /// The line, or the part of it around the match.
    pub(super) text: String,
    /// The range of the first match in `text`, in bytes.
    pub(super) found: Range<usize>,
}

pub(super) fn search(
    query: &Query,
    (reader, listings): (&mut FactReader, &Listings),
    unread: &Unread,
    (search, only_first): (&DiscoveryQuery, bool),
    say: &mut dyn FnMut(GrepMessage) -> bool,
) {
    let failed = |why| GrepMessage::Failure(ReadFailure::of(unread, search, why));
    let sifted = match unread.search(listings, &|text| query.lines_in(text)) {
        Ok(Sifted::Nothing) => return,
        Ok(sifted) => sifted,
        Err(error) => {
            say(failed(cannot_open(unread.path(), &error)));
            return;
        }
    };
    let found = reader.found(unread);
    let Some(found) = found.filter(|found| search.matches(found)) else {
        return;
    };
    if found.unreadable.is_some() {
        say(GrepMessage::Failure(ReadFailure::CameBy(Box::new(found))));
        return;
    }
    // No match, in a file that does not begin like a file of records: readable, so not a failure.
    if matches!(sifted, Sifted::NotRecords) {
        return;
    }
    let reading = ingest::open(&unread.target()).map(|session| {
        let has_lines = session.has_lines();
        (read(query, unread, session, &sifted), has_lines)
    });
    let (mut reading, has_lines) = match reading {
        Ok(reading) => reading,
        Err(failure) => {
            say(failed(failure));
            return;
        }
    };
    let own = Own::of(&sifted, &reading, has_lines);
    let head = Arc::new(found);
    // Hits in values come before names of fields.
    let (mut hits, mut names) = (Vec::new(), Vec::new());
    let mut is_wanted = true;
    each_hit(query, &mut reading, &own, &mut |hit, is_name| {
        if is_name {
            if !only_first || names.is_empty() {
                names.push(hit);
            }
            return true;
        }
        hits.push(hit);
        if only_first || hits.len() >= TOGETHER {
            is_wanted = say(GrepMessage::Hits(
                Arc::clone(&head),
                std::mem::take(&mut hits),
            )) && !only_first;
        }
        is_wanted
    });
    hits.extend(names);
    if is_wanted && !hits.is_empty() {
        is_wanted = say(GrepMessage::Hits(head, hits));
    }
    if let Some(failure) = reading.failure().filter(|_| is_wanted) {
        say(failed(failure));
    }
}

/// Reads the lines with matches if they suffice, else the whole session.
fn read(query: &Query, unread: &Unread, session: SessionSource, sifted: &Sifted) -> Reading {
    if let Sifted::Lines(picked) = sifted
        && query.is_local
        && picked.iter().map(|file| file.lines.len()).sum::<usize>() <= MANY_LINES
        && picked
            .iter()
            .flat_map(|file| &file.lines)
            .map(|line| u64::from(line.len))
            .sum::<u64>()
            <= MANY_BYTES
        && session.is_independent(picked)
    {
        return read_lines(&session, unread, picked);
    }
    Reading::whole(&unread.target(), session)
}

/// Reads lines of a session, and the lines with the calls of the results in them.
fn read_lines(session: &SessionSource, unread: &Unread, picked: &[Picked]) -> Reading {
    let mut picked = picked.to_vec();
    let path = unread.path();
    let head = lines_within(path, 0..HEAD, &all_lines).unwrap_or_default();
    add_lines(&mut picked, path, head);
    let mut reaches = REACHES.into_iter();
    loop {
        let mut reading = Reading::of(&unread.target(), session);
        session.read_lines(&picked, &mut |feed| drop(reading.apply(feed)));
        reading.update_derived();
        let strays = strays(&reading);
        let Some(reach) = reaches.next().filter(|_| !strays.is_empty()) else {
            return reading;
        };
        for (file, (part, ids)) in strays {
            let part = part.start.saturating_sub(reach)..part.end;
            let Ok(ids) = RegexBuilder::new(&ids.join("|")).unicode(false).build() else {
                continue;
            };
            let with_ids = |text: &[u8]| {
                let lines = all_lines(text).into_iter();
                lines
                    .filter(|line| {
                        text.get(line.clone())
                            .is_some_and(|line| ids.is_match(line))
                    })
                    .collect()
            };
            let lines = lines_within(&file, part, &with_ids).unwrap_or_default();
            add_lines(&mut picked, &file, lines);
        }
    }
}

/// The strays by file: the range of their offsets, and the ids of their calls.
fn strays(reading: &Reading) -> HashMap<PathBuf, (Range<u64>, Vec<String>)> {
    let mut strays: HashMap<PathBuf, (Range<u64>, Vec<String>)> = HashMap::new();
    for block in reading.transcript.entries().flat_map(|entry| &entry.blocks) {
        let BlockKind::Result(stray) = &block.kind else {
            continue;
        };
        let Origin { file, at, .. } = stray.result.body.from;
        if !stray.call.is_empty() {
            let known = strays
                .entry(reading.file(file).to_owned())
                .or_insert((at..at, Vec::new()));
            known.0 = known.0.start.min(at)..known.0.end.max(at);
            known.1.push(regex::escape(&stray.call));
        }
    }
    strays
}

/// The ranges of the lines of a text, without empty ones.
fn all_lines(text: &[u8]) -> Vec<Range<usize>> {
    let mut from = 0;
    let ends = memchr::memchr_iter(b'\n', text).chain(std::iter::once(text.len()));
    let lines = ends.map(|end| std::mem::replace(&mut from, end + 1)..end);
    lines.filter(|line| !line.is_empty()).collect()
}

/// Adds lines of a file; lines that are present keep their numbers.
fn add_lines(picked: &mut Vec<Picked>, path: &Path, lines: Vec<PickedLine>) {
    if lines.is_empty() {
        return;
    }
    let place = picked
        .iter()
        .position(|file| file.path == path)
        .unwrap_or_else(|| {
            // The file of the session is read before its companions.
            picked.insert(
                0,
                Picked {
                    path: path.to_owned(),
                    lines: Vec::new(),
                },
            );
            0
        });
    if let Some(file) = picked.get_mut(place) {
        let known: HashSet<u64> = file.lines.iter().map(|line| line.at).collect();
        file.lines
            .extend(lines.into_iter().filter(|line| !known.contains(&line.at)));
        file.lines.sort_unstable();
    }
}

/// The records of a reading that are searched.
enum Own {
    All,
    Files(HashSet<FileId>),
    Lines(HashMap<FileId, HashSet<u64>>),
}

impl Own {
    fn of(sifted: &Sifted, reading: &Reading, has_lines: bool) -> Self {
        let id = |path: &Path| {
            reading
                .files
                .iter()
                .find(|(_, known)| ***known == *path)
                .map(|(id, _)| *id)
        };
        match sifted {
            Sifted::Nothing | Sifted::NotRecords | Sifted::Whole(None) => Self::All,
            Sifted::Whole(Some(files)) => {
                Self::Files(files.iter().filter_map(|path| id(path)).collect())
            }
            // The file was sifted as lines but is one document.
            Sifted::Lines(picked) if !has_lines => {
                Self::Files(picked.iter().filter_map(|file| id(&file.path)).collect())
            }
            Sifted::Lines(picked) => {
                let lines = |file: &Picked| file.lines.iter().map(|line| line.at).collect();
                Self::Lines(
                    picked
                        .iter()
                        .filter_map(|file| Some((id(&file.path)?, lines(file))))
                        .collect(),
                )
            }
        }
    }

    fn has(&self, origin: Origin) -> bool {
        match self {
            Self::All => true,
            Self::Files(files) => files.contains(&origin.file),
            Self::Lines(lines) => lines
                .get(&origin.file)
                .is_some_and(|lines| lines.contains(&origin.at)),
        }
    }
}

/// Calls `take` with each hit of a session, and whether it is only the name of a field, until it
/// returns false.
fn each_hit(
    query: &Query,
    reading: &mut Reading,
    own: &Own,
    take: &mut dyn FnMut(LineHit, bool) -> bool,
) {
    let mut records = Records {
        pager: reading.pager.take(),
        read: None,
        time: None,
    };
    let transcript = &reading.transcript;
    let last = transcript.newest();
    let judge = query.filter.as_ref().map(|filter| Judge::new(filter, last));
    let mut passing = transcript.cursor();
    for id in transcript.order() {
        let Some(entry) = passing.get(*id) else {
            continue;
        };
        for (place, block) in entry.blocks.iter().enumerate() {
            let text = texts::of_block(entry, block, place);
            let mut lines = Vec::new();
            // The text that tv generates for a block may also be in its record.
            let own_words = record_of(entry, block);
            let own_words = own_words.filter(|origin| {
                let is_met = || texts::first_match(&query.pattern, &text).is_some();
                own.has(*origin) && is_met() && records.may_match(*origin, query)
            });
            let mut read = |origin, slot| {
                own.has(origin)
                    .then(|| records.body(origin, slot, &|record| query.may_be_in(record)))
                    .flatten()
            };
            texts::each_line(&query.pattern, query.scope, &text, &mut read, &mut |line| {
                let origin = origin_of(entry, block, line.piece)
                    .or(own_words)
                    .filter(|_| query.has_others(line.text));
                lines.extend(origin.filter(|origin| own.has(*origin)).map(|origin| {
                    let (text, found) = excerpt(line.text, line.found);
                    (line.piece, origin, text, found, line.is_name)
                }));
            });
            if query.is_filter_alone {
                lines.truncate(1);
            }
            if lines.is_empty() {
                continue;
            }
            let is_meant = judge.as_ref().is_none_or(|judge| {
                match judge.judge(transcript, entry, (place, block), true) {
                    Judgement::Known(holds) => holds,
                    Judgement::Unsure(unsure) => judge.read(&unsure, &mut |origin, slot| {
                        records.body(origin, slot, &|_| true)
                    }),
                }
            });
            for (piece, origin, text, found, is_name) in lines.into_iter().filter(|_| is_meant) {
                // The rows of a session have names that do not open anything, so the path is that
                // of the database.
                let path = if reading.shape == Shape::Rows {
                    &reading.target.path
                } else {
                    reading.file(origin.file)
                };
                let hit = LineHit {
                    path: path.to_owned(),
                    line: (origin.line > 0).then_some(origin.line),
                    key: entry.key.clone(),
                    lane: entry.lane.clone(),
                    at: at_of(entry, block, piece, || records.time(entry, origin)),
                    role: entry.role.word(),
                    speaker: entry.speaker().to_owned(),
                    from: entry.from.clone(),
                    field: field_of(block, piece),
                    tool: block
                        .call()
                        .map(|call| (call.name.clone(), call.shown_name())),
                    text,
                    found,
                };
                if !take(hit, is_name) {
                    return;
                }
            }
        }
    }
}

/// Reads records from disk, each once for all its bodies.
struct Records {
    pager: Option<Pager>,
    read: Option<(Origin, Vec<Held>)>,
    /// The time of the record that was queried last.
    time: Option<(Origin, Option<Timestamp>)>,
}

impl Records {
    /// When a record of an entry was written. `at` of an entry that is made of several records is
    /// that of the first.
    fn time(&mut self, entry: &Entry, origin: Origin) -> Option<Timestamp> {
        if origin == entry.origin {
            return entry.at;
        }
        if self.time.is_none_or(|(known, _)| known != origin) {
            self.time = Some((
                origin,
                self.pager.as_mut().and_then(|pager| pager.time(origin)),
            ));
        }
        self.time.and_then(|(_, at)| at).or(entry.at)
    }

    fn may_match(&mut self, origin: Origin, query: &Query) -> bool {
        let may_hold = Cell::new(false);
        let look = |record: &[u8]| {
            may_hold.set(query.may_be_in(record));
            false
        };
        self.pager
            .iter_mut()
            .for_each(|pager| drop(pager.read_next(origin, &look)));
        may_hold.get()
    }

    /// A body of a record; `None` if `is_worth` rejects the record.
    fn body(
        &mut self,
        origin: Origin,
        slot: u16,
        is_worth: &dyn Fn(&[u8]) -> bool,
    ) -> Option<Held> {
        if self
            .read
            .as_ref()
            .is_none_or(|(known, held)| *known != origin || held.is_empty())
        {
            self.read = Some((origin, self.pager.as_mut()?.read_next(origin, is_worth)));
        }
        self.read.as_ref()?.1.get(usize::from(slot)).cloned()
    }
}

/// The record of a block for which tv generates text: errors, and unknown records with their kind.
fn record_of(entry: &Entry, block: &Block) -> Option<Origin> {
    match &block.kind {
        BlockKind::Raw(raw) | BlockKind::Aside(_, raw) => Some(raw.body.from),
        BlockKind::Break(_) => Some(entry.origin),
        _ => None,
    }
}

/// The record of a piece of a block. `None` for text that tv generates.
fn origin_of(entry: &Entry, block: &Block, piece: Option<usize>) -> Option<Origin> {
    match (&block.kind, piece) {
        (BlockKind::Raw(_) | BlockKind::Aside(..) | BlockKind::Break(_), None) => None,
        (BlockKind::Image(image), None) => Some(image.origin),
        (kind, piece) => {
            let body = kind.bodies().nth(piece.unwrap_or(0));
            Some(body.map_or(entry.origin, |body| body.from))
        }
    }
}

/// The field of a piece of a block. The pieces of a call are its input, then its output, then its
/// patches.
fn field_of(block: &Block, piece: Option<usize>) -> &'static str {
    let in_result = |at: usize| if at == 0 { "output" } else { "patch" };
    match (&block.kind, piece) {
        (BlockKind::Text(_), _) => "text",
        (BlockKind::Thinking(_), _) => "thinking",
        (BlockKind::Call(_), None | Some(0)) => "input",
        (BlockKind::Call(_), Some(at)) => in_result(at - 1),
        (BlockKind::Result(_), at) => in_result(at.unwrap_or(0)),
        (BlockKind::Image(_), _) => "image",
        (BlockKind::Break(_), _) => "break",
        (BlockKind::Raw(_) | BlockKind::Aside(..), _) => "raw",
    }
}

/// The time of a piece; if it has none, that of its record.
fn at_of(
    entry: &Entry,
    block: &Block,
    piece: Option<usize>,
    written: impl FnOnce() -> Option<Timestamp>,
) -> Option<Timestamp> {
    match &block.kind {
        BlockKind::Call(call) => {
            let answered = call
                .state
                .result()
                .filter(|_| piece.unwrap_or(0) > 0)
                .and_then(|result| result.at);
            answered.or(call.started).or_else(written)
        }
        BlockKind::Result(stray) => stray.result.at.or(entry.at),
        _ => written(),
    }
}

/// A line without its indent. A long line is cut around the match.
fn excerpt(line: &str, found: Range<usize>) -> (String, Range<usize>) {
    let indent = (line.len() - line.trim_start().len()).min(found.start);
    let mut start = found.start.saturating_sub(AROUND).max(indent);
    while !line.is_char_boundary(start) {
        start += 1;
    }
    let rest = line.get(start..).unwrap_or_default();
    let text = prefix(rest, found.end - start + AROUND).trim_end();
    let within = |at: usize| (at - start).min(text.len());
    (text.to_owned(), within(found.start)..within(found.end))
}

#[cfg(test)]
mod tests {
    use super::{all_lines, excerpt};

    #[test]
    fn of_a_long_line_what_is_around_the_hit_is_kept() {
        assert_eq!(excerpt("  a keel \t", 4..8), ("a keel".to_owned(), 2..6));
        assert_eq!(excerpt("   ", 1..2), (String::new(), 0..0));
        let long = format!("{}keel{}", "é".repeat(2_000), "é".repeat(2_000));
        let (text, found) = excerpt(&long, 4_000..4_004);
        assert_eq!(
            (text.get(found.clone()).unwrap(), text.len(), found.start),
            ("keel", 2_052, 1_024)
        );
    }

    #[test]
    fn lines_are_cut_at_their_ends() {
        assert_eq!(all_lines(b"a\n\nbc\n"), [0..1, 3..5]);
        assert_eq!(all_lines(b"a").len(), 1);
        assert!(all_lines(b"").is_empty());
    }
}
