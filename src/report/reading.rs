//! A session read to its end, which every report starts from.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::bounded;
use serde::Serialize;

use super::outcome::{Missed, ReportError, ReportOutcome};
use crate::analysis::account::Account;
use crate::analysis::activity::{self, Activity, LastWrite};
use crate::analysis::lint::Findings;
use crate::ingest::find::{self, DiscoveryQuery, Environment};
use crate::ingest::fs;
use crate::ingest::{
    self, FormatVerdict, OpenError, Pager, SessionHead, SessionSource, Target, WatchMode,
};
use crate::model::body::{Body, Held, Image, Key};
use crate::model::coverage::Coverage;
use crate::model::edit::{Batch, Feed, OpenedSession, Stage};
use crate::model::entry::details::{BlockRecord, Details, records_below};
use crate::model::entry::{Block, Entry, EntryId};
use crate::model::found::FoundSession;
use crate::model::record::{FileId, Origin, Shape};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolKind, ToolState};
use crate::model::transcript::{Differences, Replaced, Touched, Transcript};

/// Number of entries from which they are packed: this many take about 50 MB, and packing fewer
/// costs more time than it saves memory.
const LARGE: usize = 1 << 15;

/// Entries that are judged before pages are packed again.
const PORTION: usize = 1 << 10;

/// Size in bytes above which bodies stay on disk.
const HELD_BELOW: u64 = 32 << 20;

/// Capacity of the queue between reading and applying, in batches.
const QUEUE: usize = 16;

/// A session read to its end.
pub struct Reading {
    pub(crate) target: Target,
    pub(crate) opened: OpenedSession,
    /// Storage shape of the session.
    pub(crate) shape: Shape,
    /// The verdict of every format.
    pub(crate) verdicts: Vec<FormatVerdict>,
    /// The entries and indexes of the session.
    pub transcript: Transcript,
    /// The figures of turns and lanes; see [`Reading::update_derived`].
    pub account: Account,
    /// The transcript of a file that was rewritten, while it is being read.
    pub(super) next: Option<Box<(Transcript, Differences)>>,
    /// The session's files by their ids in origins.
    pub(crate) files: BTreeMap<FileId, Arc<Path>>,
    /// Why reading stopped before the end, if it did.
    pub(crate) fault: Option<Text>,
    /// Reads bodies that are on disk.
    pub(crate) pager: Option<Pager>,
}

/// The effect of a message.
pub(crate) enum Taken {
    /// The entries that were touched.
    Touched(Touched),
    /// The transcript was replaced, because the file was rewritten.
    Replaced(Replaced),
}

/// Whether the bodies of a session stay on disk.
pub(super) fn is_large(target: &Target) -> bool {
    fs::metadata(&target.path).is_ok_and(|file| file.is_file() && file.len > HELD_BELOW)
}

/// Opens and reads a session. With `stubs_only` bodies stay on disk.
pub fn read(target: &Target, stubs_only: bool) -> Result<Reading, OpenError> {
    read_as(target, |session, reading| {
        session.read_whole(stubs_only, &mut |feed| drop(reading.apply(feed)));
        reading.update_derived();
    })
}

/// Reads a session as [`read`] does, with bodies on disk, for a single pass over its entries: those
/// of a large session are packed as they arrive.
pub fn read_packed(target: &Target) -> Result<Reading, OpenError> {
    read_as(target, |session, reading| {
        session.read_whole(true, &mut |feed| {
            if reading.transcript.ids() < LARGE {
                reading.apply(feed);
            } else {
                reading.apply_and_pack(feed);
            }
        });
        reading.update_derived();
    })
}

/// Opens several sessions and reads them as one, merged by time.
pub(crate) fn read_as_one(target: &Target, others: &[Target]) -> Result<Reading, OpenError> {
    let others = others
        .iter()
        .map(ingest::open)
        .collect::<Result<Vec<_>, _>>()?;
    let session = ingest::open(target)?.join(others);
    if !session.is_joined() {
        return read(target, false);
    }
    let mut reading = Reading::of(target, &session);
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, feeds) = bounded(QUEUE);
    let thread = session.follow(sender, WatchMode::Poll, Arc::clone(&stop), Box::new(|| {}));
    for feed in &feeds {
        let is_end = matches!(feed, Feed::CaughtUp | Feed::Fault(_));
        reading.apply(feed);
        if is_end {
            break;
        }
    }
    stop.store(true, Ordering::Relaxed);
    drop(feeds);
    thread.thread().unpark();
    // A panic of the thread is already reported in the feed.
    let _ = thread.join();
    reading.update_derived();
    Ok(reading)
}

/// Reads only the usage of a session, which was listed with this format. Nothing else of the result
/// is reliable. Turns, branches and the account are computed only if the session [may lack
/// sub-agents](may_miss_agents).
pub fn count(target: &Target, format: &str) -> Result<Reading, OpenError> {
    let mut lacks_results = false;
    let mut reading = read_session(
        target,
        ingest::open_listed(target, format)?,
        |session, reading| {
            lacks_results = session.read_counted(&mut |feed| drop(reading.apply(feed)));
        },
    )?;
    let may_lack_agents = may_miss_agents(&reading.transcript);
    if lacks_results && (may_lack_agents || is_unsure(&reading.transcript)) {
        return read(target, true);
    }
    if may_lack_agents {
        reading.update_derived();
    }
    Ok(reading)
}

/// Whether skipped records may matter. The time of an aside is that of the record before it, which
/// may be a stray; usage without a time has the time of the newest record, which may be a result;
/// and a record that seems to be of another session may repeat a skipped one.
fn is_unsure(transcript: &Transcript) -> bool {
    let has_no_time = |entry: &Entry| entry.usage.is_some() && entry.at.is_none();
    transcript.asides().next().is_some()
        || transcript
            .entries()
            .any(|entry| has_no_time(entry) || entry.blocks.iter().any(Block::is_resumption))
}

/// Whether calls may have started more sub-agents than are in the session. The account then
/// determines which are lacking.
pub(crate) fn may_miss_agents(transcript: &Transcript) -> bool {
    let blocks = transcript.entries().flat_map(|entry| &entry.blocks);
    let starts = blocks
        .filter_map(Block::call)
        .filter(|call| call.kind == ToolKind::Delegate);
    // Counting reads no results, so a call without one may have started a sub-agent.
    let may_have_started = |call: &&ToolCall| {
        call.has_started_agent()
            || !matches!(
                call.state,
                ToolState::Failed(_) | ToolState::Refused(_) | ToolState::Stopped(_)
            )
    };
    let here = transcript
        .lanes()
        .iter()
        .filter(|lane| lane.call.is_some() && !lane.entries.is_empty());
    starts.filter(may_have_started).count() > here.count()
}

/// Reads a session as [`read`] does, with the verdict of every format and the share of its strings
/// that is shown.
pub(crate) fn survey(target: &Target) -> Result<(Reading, Coverage), OpenError> {
    let mut coverage = Coverage::default();
    let verdicts = ingest::verdicts(target)?;
    let reading = read_as(target, |session, reading| {
        reading.verdicts = verdicts;
        coverage = session.survey(&mut |feed| drop(reading.apply(feed)));
        reading.update_derived();
    })?;
    Ok((reading, coverage))
}

fn read_as(
    target: &Target,
    read: impl FnOnce(SessionSource, &mut Reading),
) -> Result<Reading, OpenError> {
    read_session(target, ingest::open(target)?, read)
}

fn read_session(
    target: &Target,
    session: SessionSource,
    read: impl FnOnce(SessionSource, &mut Reading),
) -> Result<Reading, OpenError> {
    let mut reading = Reading::of(target, &session);
    read(session, &mut reading);
    // A session of which nothing could be read is an error.
    if reading.transcript.tally().records() == 0
        && let Some(failure) = reading.failure()
    {
        return Err(failure);
    }
    // A file has only one session, so a name after its path is that of an entry.
    let is_entry =
        !matches!(reading.shape, Shape::Folder | Shape::Rows) && fs::is_file(&target.path);
    if let Some(name) = target
        .session
        .as_ref()
        .filter(|name| is_entry && !name.is_empty())
    {
        reading.find(name)?;
    }
    Ok(reading)
}

/// The sessions that the arguments of a report name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedSessions {
    /// Files, folders, or sessions in folders; an error for an argument that is none of them.
    pub targets: Vec<Result<Target, OpenError>>,
    /// The folders of agents, which determine what in a named folder should be a session.
    pub environment: Environment,
    /// Whether unreadable files in a named folder count as a failure.
    pub strict: bool,
}

impl NamedSessions {
    /// The sessions that an argument names: all sessions of a folder, newest first, or the one of a
    /// file.
    pub(crate) fn sessions_of(&self, target: &Target) -> Result<Vec<Target>, OpenError> {
        let is_host = ingest::far::is_host(&target.path);
        let named = if is_host {
            Vec::new()
        } else {
            sessions(target)?
        };
        let is_folder = named.as_slice() == [target.clone()]
            && target.session.is_none()
            && fs::is_dir(&target.path);
        if !is_folder && !is_host {
            return Ok(named);
        }
        let search = DiscoveryQuery::among(self.environment.clone(), [Ok(target.clone())], None);
        // The time is irrelevant, because running sessions are not queried.
        let found = find::sessions(&search, Timestamp(0))
            .flatten()
            .filter(|found| found.unreadable.is_none());
        let found: Vec<Target> = found.map(|found| found.place()).collect();
        // A folder may be a single session, or contain one that no agent put there.
        Ok(if found.len() > 1 || is_host {
            found
        } else {
            named
        })
    }

    /// What of an argument could not be read, including unreadable files in a folder. If nothing
    /// was read, all unreadable files are reported as the reason.
    pub(super) fn missed(
        &self,
        target: &Target,
        failures: Vec<OpenError>,
        has_some: bool,
    ) -> Missed {
        if target.session.is_some() || !fs::is_dir(&target.path) {
            return Missed {
                refused: failures,
                unreadable: Vec::new(),
            };
        }
        let search = DiscoveryQuery::among(self.environment.clone(), [Ok(target.clone())], None);
        let unreadable: Vec<FoundSession> = find::unreadable(&search).collect();
        if has_some || unreadable.is_empty() {
            return Missed {
                refused: failures,
                unreadable,
            };
        }
        let reasons = unreadable
            .iter()
            .map(|found| OpenError(found.unread_line()));
        Missed {
            refused: reasons.collect(),
            unreadable: Vec::new(),
        }
    }

    /// The outcome of a report with these misses; `otherwise` if they do not count.
    pub(super) fn outcome(&self, missed: Missed, otherwise: ReportOutcome) -> ReportOutcome {
        ReportOutcome::of_many(missed, self.strict, otherwise)
    }

    /// Reads each session that the arguments name, and reports it. Returns what could not be read, or
    /// not to its end.
    pub(super) fn each(
        &self,
        read: impl Fn(&Target) -> Result<Reading, OpenError>,
        mut report: impl FnMut(Reading) -> Result<(), ReportError>,
    ) -> Result<Missed, ReportError> {
        self.each_read(
            |session| read(session).map(|reading| (reading, ())),
            |reading, ()| report(reading),
        )
    }

    /// As [`Self::each`], with a reader that returns a further value.
    pub(super) fn each_read<T>(
        &self,
        read: impl Fn(&Target) -> Result<(Reading, T), OpenError>,
        mut report: impl FnMut(Reading, T) -> Result<(), ReportError>,
    ) -> Result<Missed, ReportError> {
        let mut missed = Missed::default();
        for target in &self.targets {
            let target = match target {
                Ok(target) => target,
                Err(refusal) => {
                    missed.refused.push(refusal.clone());
                    continue;
                }
            };
            let (mut failures, mut has_some) = (Vec::new(), false);
            for session in self.sessions_of(target).unwrap_or_else(|error| {
                failures.push(error);
                Vec::new()
            }) {
                match read(&session) {
                    Ok((reading, more)) => {
                        has_some = true;
                        failures.extend(reading.failure());
                        report(reading, more)?;
                    }
                    Err(error) => failures.push(error),
                }
            }
            missed.add(self.missed(target, failures, has_some));
        }
        Ok(missed)
    }
}

/// The sessions that an argument names: those of a folder, or the one of a file.
pub fn sessions(target: &Target) -> Result<Vec<Target>, OpenError> {
    if target.session.is_some() {
        return Ok(vec![target.clone()]);
    }
    let heads = ingest::sessions(target)?;
    if heads.is_empty() {
        return Err(OpenError(format!(
            "{} holds no session; give a session file, or a folder of an agent's sessions",
            shown(&target.path)
        )));
    }
    let named = |head: SessionHead| Target {
        path: target.path.clone(),
        session: Some(head.id).filter(|id| !id.is_empty()),
    };
    Ok(heads.into_iter().map(named).collect())
}

/// The fields that identify a session in its rows.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SessionFields {
    pub(crate) path: String,
    pub(crate) session: Option<String>,
}

impl Reading {
    pub(crate) fn fields(&self) -> SessionFields {
        let named = self.target.session.as_deref();
        let id = self.transcript.meta().id.as_deref();
        SessionFields {
            path: shown(&self.target.path).to_string(),
            session: id.or(named).map(str::to_owned),
        }
    }

    /// The argument that opens the session.
    pub(crate) fn address(&self) -> String {
        let path = shown(&self.target.path);
        match &self.target.session {
            Some(session) => format!("{path}#{session}"),
            None => path.to_string(),
        }
    }

    /// A session before anything is read.
    pub(crate) fn of(target: &Target, session: &SessionSource) -> Self {
        Self {
            target: target.clone(),
            opened: session.opened.clone(),
            shape: session.shape(),
            verdicts: Vec::new(),
            transcript: Transcript::new(),
            account: Account::default(),
            next: None,
            files: BTreeMap::new(),
            fault: None,
            pager: Some(session.pager()),
        }
    }

    /// A session read to its end, with its bodies unless it is large.
    pub(crate) fn whole(target: &Target, session: SessionSource) -> Self {
        let mut reading = Self::of(target, &session);
        session.read_whole(is_large(target), &mut |feed| drop(reading.apply(feed)));
        reading.update_derived();
        reading
    }

    /// A session made of edits, without a file.
    #[cfg(test)]
    pub(crate) fn from_batch(target: Target, batch: Batch) -> Self {
        let opened = OpenedSession {
            format: "made",
            confidence: "certain",
            reason: Text::default(),
            path: target.path.clone(),
            resumes: &[],
            written: None,
            joined: Vec::new(),
        };
        let mut transcript = Transcript::new();
        transcript.apply(batch);
        transcript.update_derived();
        let account = Account::of(&transcript);
        let files = BTreeMap::new();
        Self {
            target,
            opened,
            shape: Shape::Lines,
            verdicts: Vec::new(),
            transcript,
            account,
            next: None,
            files,
            fault: None,
            pager: None,
        }
    }

    /// Applies a message and returns its effect. The preview of a large file is skipped. Nothing is
    /// packed, because most reports pass over the entries several times.
    pub(crate) fn apply(&mut self, feed: Feed) -> Taken {
        match feed {
            Feed::Opened(opened) => self.opened = *opened,
            Feed::Batch {
                stage: Stage::Whole,
                batch,
            } => return self.apply_batch(*batch),
            Feed::File { id, path } => drop(self.files.insert(id, path)),
            Feed::Fault(what) => self.fault = Some(what),
            Feed::Batch {
                stage: Stage::Preview,
                ..
            }
            | Feed::Progress { .. }
            | Feed::CaughtUp
            | Feed::Link(_)
            | Feed::Polled(_) => {}
        }
        Taken::Touched(Touched::default())
    }

    fn apply_batch(&mut self, batch: Batch) -> Taken {
        let mode = batch.mode;
        if mode.begins() {
            self.next = Some(Box::new((
                self.transcript.emptied(),
                Differences::default(),
            )));
        }
        let Some(next) = &mut self.next else {
            let touched = self.transcript.apply(batch);
            self.account.invalidate(&self.transcript, &touched);
            return Taken::Touched(touched);
        };
        let touched = next.0.apply(batch);
        next.1.compare(&self.transcript, &next.0, &touched);
        let Some(next) = self.next.take_if(|_| mode.ends()) else {
            return Taken::Touched(Touched::default());
        };
        let (now, differences) = *next;
        self.account = Account::default();
        Taken::Replaced(differences.replace(&mut self.transcript, now))
    }

    /// Applies a message as [`Reading::apply`] does, for a session that may be followed for days:
    /// the account reads new entries while they are in memory, then they are packed.
    pub(crate) fn apply_and_pack(&mut self, feed: Feed) -> Taken {
        let taken = self.apply(feed);
        self.account.watch(&self.transcript, usize::MAX);
        self.transcript.tidy();
        taken
    }

    /// Brings turns, branches and the account up to date.
    pub(crate) fn update_derived(&mut self) {
        self.transcript.update_derived();
        self.account.follow(&self.transcript, usize::MAX);
    }

    /// Judges the session. Pages of a large one that were unpacked for it are packed again.
    pub(crate) fn findings(&mut self) -> Findings {
        let mut findings = Findings::default();
        while !findings.follow(&self.transcript, PORTION) {
            if self.transcript.ids() >= LARGE {
                self.transcript.tidy();
            }
        }
        findings
    }

    /// The entry with this key, or with the call of this id.
    pub(crate) fn find(&self, name: &str) -> Result<EntryId, OpenError> {
        let by_call = || {
            self.transcript
                .entries_with_call(&Key::clean(name))
                .first()
                .copied()
        };
        self.transcript.find(name).or_else(by_call).ok_or_else(|| {
            let (path, name) = (shown(&self.target.path), Text::clean(name));
            OpenError(format!(
                "{path} has no entry {name}; `tv show --json` tells the key of each"
            ))
        })
    }

    /// The reason why reading stopped, as an error.
    pub(crate) fn failure(&self) -> Option<OpenError> {
        let what = self.fault.as_ref()?;
        Some(OpenError(format!(
            "{}: reading stopped: {what}",
            shown(&self.target.path)
        )))
    }

    pub(crate) fn activity(&self, now: Timestamp) -> Activity {
        activity::judge(
            &self.transcript,
            self.last_write().map(LastWrite::from_file_time),
            now,
        )
    }

    /// When one of the session's files last changed. For a session in a database, the time of its
    /// row.
    pub(crate) fn last_write(&self) -> Option<Timestamp> {
        if self.opened.written.is_some() {
            return self.opened.written;
        }
        let files = self.files.values().filter_map(|path| fs::written(path));
        // Writes to a database go to its write-ahead log first.
        let log = (self.shape == Shape::Rows).then(|| {
            let mut log = self.target.path.as_os_str().to_owned();
            log.push("-wal");
            fs::written(Path::new(&log))
        });
        files
            .chain(fs::written(&self.target.path))
            .chain(log.flatten())
            .max()
    }

    /// The path of a file id.
    pub(crate) fn file(&self, id: FileId) -> &Path {
        self.files.get(&id).map_or(&self.opened.path, |path| path)
    }
}

/// Escapes line breaks in a name.
pub fn on_one_line(name: &str) -> Cow<'_, str> {
    if name.contains('\n') {
        name.replace('\n', "\\n").into()
    } else {
        name.into()
    }
}

/// A path that is safe to print.
pub(crate) fn shown(path: &Path) -> Text {
    Text::clean(&path.to_string_lossy())
}

/// Number of records whose bodies are cached: the next call often has the same records of calls and
/// results.
const KEPT: usize = 8;

/// Bodies on disk of an entry's blocks, read one block at a time, because an entry may exceed
/// memory. What cannot be read again keeps its stub.
pub(crate) struct Contents<'p> {
    pager: Option<&'p mut Pager>,
    /// The records that were read last, newest first.
    records: VecDeque<(Origin, Vec<Held>)>,
}

impl<'p> Contents<'p> {
    /// Reads with `pager`; without one, bodies keep their stubs.
    pub(crate) fn of(pager: Option<&'p mut Pager>) -> Self {
        Self {
            pager,
            records: VecDeque::new(),
        }
    }

    pub(crate) fn with_bodies<'b>(&mut self, block: &'b Block) -> Cow<'b, Block> {
        if self.pager.is_none() || !block.kind.bodies().any(Body::is_on_disk) {
            return Cow::Borrowed(block);
        }
        let mut block = block.clone();
        block.kind.bodies_mut().for_each(|body| self.fill(body));
        Cow::Owned(block)
    }

    pub(crate) fn with_content(&mut self, body: &Body) -> Body {
        let mut whole = body.clone();
        self.fill(&mut whole);
        whole
    }

    /// The data of an image, if it can be read.
    pub(crate) fn image(&mut self, image: &Image) -> Option<Vec<u8>> {
        ingest::image_data(self.pager.as_deref_mut()?, image).ok()
    }

    fn fill(&mut self, body: &mut Body) {
        if body.is_on_disk()
            && let Some(held) = self.record(body.from).get(usize::from(body.slot))
        {
            body.held = held.clone();
        }
    }

    fn record(&mut self, origin: Origin) -> &[Held] {
        let Some(pager) = &mut self.pager else {
            return &[];
        };
        let known = self.records.iter().position(|(known, _)| *known == origin);
        let record = known.and_then(|at| self.records.remove(at));
        let record = record.unwrap_or_else(|| (origin, pager.read(origin)));
        self.records.truncate(KEPT - 1);
        self.records.push_front(record);
        self.records.front().map_or(&[], |(_, contents)| contents)
    }

    /// The details in the records of some blocks that the blocks do not show, or all details if
    /// `is_whole`, by block. Leaves out the record `above`, whose details are already shown.
    pub(crate) fn details(
        &mut self,
        entry: &Entry,
        blocks: Range<usize>,
        above: Option<Origin>,
        is_whole: bool,
    ) -> Vec<(usize, BlockRecord, Details)> {
        let Some(pager) = &mut self.pager else {
            return Vec::new();
        };
        let blocks = blocks.start..blocks.end.min(entry.blocks.len());
        let below = |block| {
            records_below(entry, block)
                .into_iter()
                .map(move |(of, origin)| (block, of, origin))
        };
        let all = blocks
            .flat_map(below)
            .filter(|(_, _, origin)| Some(*origin) != above);
        let found = all.map(|(block, of, origin)| (block, of, pager.details(origin, is_whole)));
        found
            .filter(|(_, _, details)| !details.is_empty())
            .collect()
    }
}
