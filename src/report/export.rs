//! `tv export`: sessions in a form for other programs, or for other people.
//!
//! **A form only arranges.** Each form is a small file that writes what other reports and views
//! compute. Figures, charges, calls and findings have one source each, so sums over an export equal
//! those of `tv stats` and `tv usage`.
//!
//! **Memory is bounded by two sessions.** Each session is read, written and dropped on one of the
//! threads of the walk. A stream takes the parts in the order of the sessions; a folder is written
//! by the threads themselves.

mod atif;
mod folder;
mod html;
mod jsonl;
mod markdown;
mod otlp;
mod pages;

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use self::folder::{Folder, replace};
use super::figures::{self, SessionReport};
use super::outcome::{Missed, ReportError, ReportOutcome};
use super::reading::{self, Reading};
use super::sessions::each::{ReadProgress, ReadToEnd, WhichFiles, each, each_result};
use super::stamps::Stamps;
use crate::analysis::expression::When;
use crate::analysis::lint::Findings;
use crate::ingest::find::{self, DiscoveryQuery};
use crate::ingest::fs;
use crate::ingest::{OpenError, Pager, Target};
use crate::model::entry::{Block, Entry, EntryId};
use crate::model::figures::count;
use crate::model::found::FoundSession;
use crate::model::timestamp::Timestamp;
use crate::model::tool;
use crate::model::transcript::Transcript;

/// Bytes that are buffered before they are sent on.
const CHUNK: usize = 64 << 10;

/// Options of `tv export`.
pub struct ExportOptions {
    /// Where to search for sessions.
    pub search: DiscoveryQuery,
    /// Only sessions that were written to since then.
    pub since: Option<When>,
    pub form: ExportForm,
    /// A file or a folder; `None` is standard output.
    pub to: Option<PathBuf>,
    /// Whether keys and tokens are masked.
    pub is_redacted: bool,
    /// The name of this machine.
    pub host: Option<String>,
    /// The only turn to export, by its number or the key of an entry in it; for people's forms.
    pub turn: Option<String>,
    /// The only entries to export, by their keys; all if empty; for people's forms.
    pub entries: Vec<String>,
    /// Whether unreadable sessions count as a failure.
    pub strict: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportForm {
    /// Rows for databases.
    Jsonl,
    Markdown,
    /// A page for a browser.
    Html,
    /// A trajectory.
    Atif,
    Otlp,
    OtlpProtobuf,
}

/// Writes one file of a session's export. The pager reads bodies that are on disk.
type WriteFile = fn(&Exported<'_>, Option<&mut Pager>, &mut dyn Write) -> io::Result<()>;

impl ExportForm {
    /// All forms with their names.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Html, "html"),
        (Self::Markdown, "md"),
        (Self::Jsonl, "jsonl"),
        (Self::Atif, "atif"),
        (Self::Otlp, "otlp"),
        (Self::OtlpProtobuf, "otlp-protobuf"),
    ];

    /// Whether the form is meant for other people rather than for the user's own programs.
    pub fn is_for_people(self) -> bool {
        matches!(self, Self::Markdown | Self::Html)
    }

    /// Whether several sessions can be concatenated in one file.
    fn has_streams(self) -> bool {
        matches!(self, Self::Jsonl | Self::Otlp | Self::OtlpProtobuf)
    }

    fn name(self) -> &'static str {
        let named = Self::ALL.iter().find(|(form, _)| *form == self);
        named.map_or("", |(_, name)| name)
    }

    /// The files of a session in a folder, by extension.
    fn files(self) -> &'static [(&'static str, WriteFile)] {
        match self {
            Self::Jsonl => &jsonl::FILES,
            Self::Markdown => &markdown::FILES,
            Self::Html => &html::FILES,
            Self::Atif => &atif::FILES,
            Self::Otlp => &otlp::FILES,
            Self::OtlpProtobuf => &otlp::PROTOBUF,
        }
    }
}

/// A session that is being exported.
struct Exported<'a> {
    reading: &'a Reading,
    findings: Findings,
    figures: SessionReport<'a>,
    extent: Extent,
    options: &'a ExportOptions,
    now: Timestamp,
}

/// How much of a session is exported.
enum Extent {
    Session,
    /// The turn with this index.
    Turn(usize),
    Entries(HashSet<EntryId>),
}

impl Extent {
    fn holds(&self, reading: &Reading, id: EntryId) -> bool {
        match self {
            Self::Session => true,
            Self::Turn(turn) => reading.account.turn_of(&reading.transcript, id) == Some(*turn),
            Self::Entries(entries) => entries.contains(&id),
        }
    }
}

/// A message about a session being exported.
enum ExportMessage {
    /// The next bytes of a stream.
    Bytes(Vec<u8>),
    /// The session's files were written to the folder.
    Written,
    /// The session's files in the folder are up to date.
    Unchanged,
    /// The session's files cannot be written.
    Unwritable(io::Error),
}

/// Writes all requested sessions. Meanwhile calls `progress` with the number done and the total.
pub fn write(
    options: &ExportOptions,
    now: Timestamp,
    progress: &mut dyn FnMut(usize, usize),
    out: &mut dyn Write,
) -> Result<ReportOutcome, ReportError> {
    let form = options.form;
    let is_part = options.turn.is_some() || !options.entries.is_empty();
    if is_part && !form.is_for_people() {
        return Err(OpenError("--turn and --entry are for html and md".to_owned()).into());
    }
    let since = When::option(options.since, now);
    let Some(to) = options.to.as_deref() else {
        refuse_several(options, now)?;
        return Ok(stream(options, (since, now), out)?.0);
    };
    let is_folder = to.is_dir() || to.as_os_str().to_string_lossy().ends_with('/');
    if is_folder || (!form.has_streams() && has_several(options, now)) {
        if to.is_file() {
            return Err(several(form).into());
        }
        let folder = Folder::open(to, options).map_err(|why| at(to, &why))?;
        return fill(&folder, options, (since, now), progress);
    }
    refuse_sessions(to, options)?;
    let mut outcome = Ok((ReportOutcome::Complete, true));
    let written = replace(to, |file| {
        outcome = stream(options, (since, now), file);
        match &outcome {
            Err(ReportError::Write(why)) => Err(io::Error::new(why.kind(), why.to_string())),
            // An error, so that no empty file is written.
            Err(ReportError::Open(_)) | Ok((_, false)) => Err(io::Error::other("no session")),
            Ok((_, true)) => Ok(()),
        }
    });
    match (outcome, written) {
        (Ok((outcome, false)), _) => Ok(outcome),
        (Err(ReportError::Open(why)), _) => Err(why.into()),
        (_, Err(why)) => Err(at(to, &why).into()),
        (outcome, Ok(())) => outcome.map(|(outcome, _)| outcome),
    }
}

/// Reads a session, and judges it if the form tells findings.
fn read_for(target: &Target, options: &ExportOptions) -> Result<(Reading, Findings), OpenError> {
    let mut reading = reading::read_packed(target)?;
    let findings = match options.form {
        ExportForm::Jsonl => reading.findings(),
        _ => Findings::default(),
    };
    Ok((reading, findings))
}

/// Writes the sessions one after the other. The second value is whether there was any session.
fn stream(
    options: &ExportOptions,
    (since, now): (Option<Timestamp>, Timestamp),
    out: &mut dyn Write,
) -> Result<(ReportOutcome, bool), ReportError> {
    let (mut written, mut has_some) = (Ok(()), false);
    let read = |target: &Target, _: FoundSession, say: &mut dyn FnMut(ExportMessage) -> bool| {
        let (mut reading, findings) = read_for(target, options)?;
        let mut pager = reading.pager.take();
        let exported = Exported::of(&reading, findings, options, now)?;
        let mut chunks = BufWriter::with_capacity(CHUNK, Chunks(say));
        // Writing fails only if the receiver is gone, which has the reason.
        let _ = (options.form.files().iter())
            .try_for_each(|(_, write)| write(&exported, pager.as_mut(), &mut chunks))
            .and_then(|()| chunks.flush());
        Ok(ReadToEnd::of(&reading))
    };
    let which = (since, WhichFiles::Newest);
    let missed = each_result(&options.search, which, now, read, |part| {
        if let ExportMessage::Bytes(bytes) = part {
            has_some = true;
            written = out.write_all(&bytes);
        }
        written.is_ok()
    });
    written?;
    out.flush()?;
    let outcome = ReportOutcome::of_many(missed, options.strict, ReportOutcome::Complete);
    Ok((options.with_warning(outcome), has_some))
}

/// Writes the sessions into a folder, except those whose files are up to date.
fn fill(
    folder: &Folder,
    options: &ExportOptions,
    (since, now): (Option<Timestamp>, Timestamp),
    progress: &mut dyn FnMut(usize, usize),
) -> Result<ReportOutcome, ReportError> {
    let mut missed = Missed::default();
    let mut unwritable = None;
    let (mut written, mut unchanged) = (0, 0);
    let (mut done, mut all) = (0, 0);
    let read =
        |target: &Target, found: FoundSession, say: &mut dyn FnMut(ExportMessage) -> bool| {
            // Files in the folder are earlier exports, not sessions of an agent.
            if folder.contains(&found.path) {
                return Ok(ReadToEnd::default());
            }
            if let Some(files) = folder.unchanged(&found) {
                say(ExportMessage::Unchanged);
                return Ok(ReadToEnd {
                    files,
                    failure: None,
                });
            }
            let before = Stamps::of([found.path.as_path()]);
            let (mut reading, findings) = read_for(target, options)?;
            let mut pager = reading.pager.take();
            let exported = Exported::of(&reading, findings, options, now)?;
            let end = ReadToEnd::of(&reading);
            let files = options.form.files().iter();
            let result = folder.write(&found, files, &mut |write, out| {
                write(&exported, pager.as_mut(), out)
            });
            let is_still = before == Stamps::of([found.path.as_path()]) && end.failure.is_none();
            let result = result.and_then(|names| {
                let shape = reading.shape;
                let stamps = is_still.then(|| Stamps::of_session(&end.files, &found, shape));
                folder.record(&found, names, stamps.flatten())
            });
            say(match result {
                Ok(()) => ExportMessage::Written,
                Err(why) => ExportMessage::Unwritable(why),
            });
            Ok(end)
        };
    each(
        &options.search,
        (since, WhichFiles::Newest),
        now,
        read,
        |step| {
            match step {
                ReadProgress::Found(found) => all = found,
                ReadProgress::Session(part) => match *part {
                    ExportMessage::Written => written += 1,
                    ExportMessage::Unchanged => unchanged += 1,
                    ExportMessage::Unwritable(why) => unwritable = Some(why),
                    ExportMessage::Bytes(_) => {}
                },
                ReadProgress::Done => done += 1,
                ReadProgress::Failure(failure) => missed.push(failure),
            }
            progress(done, all);
            unwritable.is_none()
        },
    );
    progress(all, all);
    if let Some(why) = unwritable {
        return Err(at(folder.path(), &why).into());
    }
    let mut said = format!("{} written", count(written, "session"));
    if unchanged > 0 {
        said += &format!(", {unchanged} lay there already");
    }
    let outcome = ReportOutcome::of_many(missed, options.strict, ReportOutcome::Complete);
    Ok(ReportOutcome::Saying(
        said,
        Box::new(options.with_warning(outcome)),
    ))
}

/// A writer that sends chunks of what is written to a callback.
struct Chunks<'a>(&'a mut dyn FnMut(ExportMessage) -> bool);

impl Write for Chunks<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if (self.0)(ExportMessage::Bytes(bytes.to_vec())) {
            Ok(bytes.len())
        } else {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> Exported<'a> {
    fn of(
        reading: &'a Reading,
        findings: Findings,
        options: &'a ExportOptions,
        now: Timestamp,
    ) -> Result<Self, OpenError> {
        let extent = match options.turn.as_deref() {
            Some(turn) => Extent::Turn(turn_of(reading, turn)?),
            None if options.entries.is_empty() => Extent::Session,
            None => {
                let entries = options.entries.iter().map(|key| reading.find(key));
                Extent::Entries(entries.collect::<Result<_, _>>()?)
            }
        };
        Ok(Self {
            extent,
            figures: figures::of(reading, now),
            reading,
            findings,
            options,
            now,
        })
    }
}

/// The index of a turn, by its number or the key of an entry in it.
fn turn_of(reading: &Reading, turn: &str) -> Result<usize, OpenError> {
    let transcript = &reading.transcript;
    let turns = transcript.turns().len();
    let number = turn.parse::<usize>().ok();
    if let Some(index) = number.and_then(|number| number.checked_sub(1)) {
        let none = || {
            OpenError(format!(
                "there is no turn {turn}, but {}",
                count(turns as u64, "turn")
            ))
        };
        return Some(index).filter(|index| *index < turns).ok_or_else(none);
    }
    let entry = reading.find(turn)?;
    let of_entry = reading.account.turn_of(transcript, entry);
    of_entry.ok_or_else(|| OpenError(format!("{turn} belongs to no turn")))
}

/// Ids of an entry's calls by block, none of which the session has twice: the agent's own, where they
/// tell its calls apart.
fn call_ids(transcript: &Transcript, entry: &Entry) -> Vec<String> {
    let mut seen = HashSet::new();
    let blocks = entry.blocks.iter().map(Block::call).enumerate();
    let ids = blocks.map(|(at, call)| {
        let Some(call) = call else {
            return String::new();
        };
        let is_own = tool::identifies(&call.key)
            && transcript.entries_with_call(&call.key).len() == 1
            && seen.insert(&call.key);
        if is_own {
            call.key.to_string()
        } else {
            format!("{}:{at}", entry.key)
        }
    });
    ids.collect()
}

impl ExportOptions {
    /// Adds a warning to the outcome unless keys and tokens are masked. The number of masked ones
    /// is reported at the end.
    fn with_warning(&self, outcome: ReportOutcome) -> ReportOutcome {
        if self.is_redacted {
            return outcome;
        }
        let words = "keys and tokens are not masked; --redact masks them".to_owned();
        ReportOutcome::Saying(words, Box::new(outcome))
    }
}

/// Whether more than one session was requested.
fn has_several(options: &ExportOptions, now: Timestamp) -> bool {
    let found = find::sessions(&options.search, now).flatten();
    let mut readable = found.filter(|found| found.unreadable.is_none());
    readable.nth(1).is_some()
}

fn refuse_several(options: &ExportOptions, now: Timestamp) -> Result<(), OpenError> {
    if !options.form.has_streams() && has_several(options, now) {
        return Err(several(options.form));
    }
    Ok(())
}

fn several(form: ExportForm) -> OpenError {
    OpenError(format!(
        "several sessions as {} need a folder to be written to: -o FOLDER/",
        form.name()
    ))
}

/// Refuses to overwrite a session.
fn refuse_sessions(to: &Path, options: &ExportOptions) -> Result<(), OpenError> {
    let same = |path: &PathBuf| {
        let whole = |path: &Path| fs::canonicalize(path).ok();
        whole(path).is_some_and(|path| whole(to) == Some(path))
    };
    let mut named = options.search.targets.iter().map(|target| &target.path);
    match named.find(|path| same(path)) {
        Some(path) => Err(OpenError(format!(
            "{}: the output goes into the session itself",
            path.display()
        ))),
        None => Ok(()),
    }
}

fn at(path: &Path, why: &io::Error) -> OpenError {
    OpenError(format!("cannot write to {}: {why}", path.display()))
}
