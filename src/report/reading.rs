//! A session read to its end: what every report starts from.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::UNIX_EPOCH;

use crossbeam_channel::bounded;
use serde::Serialize;

use super::outcome::{Missed, Outcome, ReportError};
use crate::analysis::account::Account;
use crate::analysis::activity::{self, Activity, LastWrite};
use crate::ingest::find::{self, Environment, Search};
use crate::ingest::{
    self, FormatVerdict, OpenError, Pager, Session, SessionHead, Target, WatchMode,
};
use crate::model::body::{Body, Held, Key};
use crate::model::coverage::Coverage;
use crate::model::edit::{Batch, Feed, Opened, Stage};
use crate::model::entry::details::{Details, Of, records_below};
use crate::model::entry::{Block, Entry, EntryId};
use crate::model::found::Found;
use crate::model::record::{FileId, Origin, Shape};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolKind, ToolState};
use crate::model::transcript::{Differences, Replaced, Touched, Transcript};

/// So many entries take some 50 MB; to pack fewer costs more time than their memory is worth.
const LARGE: usize = 1 << 15;

/// Batches that may wait between reading and taking them in.
const QUEUE: usize = 16;

/// A session read to its end.
pub struct Reading {
    /// What was asked for.
    pub(crate) target: Target,
    /// What was found.
    pub(crate) opened: Opened,
    /// How it lies on disk.
    pub(crate) shape: Shape,
    /// What every format says of it.
    pub(crate) verdicts: Vec<FormatVerdict>,
    /// The session.
    pub transcript: Transcript,
    /// What its turns and lanes came to; see [`Reading::settle`].
    pub account: Account,
    /// What its file holds since it was written anew, as far as that is read.
    pub(super) next: Option<Box<(Transcript, Differences)>>,
    /// Its files by the numbers in origins.
    pub(crate) files: BTreeMap<FileId, Arc<Path>>,
    /// Why reading stopped before the end, if it did.
    pub(crate) fault: Option<Text>,
    /// For what was left on disk.
    pub(crate) pager: Option<Pager>,
}

/// What came of a message.
pub(crate) enum Taken {
    /// So much was touched.
    Touched(Touched),
    /// Another transcript is there, because the file was written anew.
    Replaced(Replaced),
}

/// Opens and reads a session. With `stubs_only` bodies stay on disk.
pub fn read(target: &Target, stubs_only: bool) -> Result<Reading, OpenError> {
    read_as(target, |session, reading| {
        session.read_whole(stubs_only, &mut |feed| drop(reading.take(feed)));
        reading.settle();
    })
}

/// As [`read`], with bodies on disk, for who goes over the entries one after the other: those of a large session are packed
/// as they come.
pub fn read_packed(target: &Target) -> Result<Reading, OpenError> {
    read_as(target, |session, reading| {
        session.read_whole(true, &mut |feed| {
            if reading.transcript.ids() < LARGE {
                reading.take(feed);
            } else {
                reading.keep_up(feed);
            }
        });
        reading.settle();
    })
}

/// Opens several sessions, and reads them as one, merged by time.
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
        reading.take(feed);
        if is_end {
            break;
        }
    }
    stop.store(true, Ordering::Relaxed);
    drop(feeds);
    thread.thread().unpark();
    // A thread that panicked has said so in the feed.
    let _ = thread.join();
    reading.settle();
    Ok(reading)
}

/// As [`read`], of what was spent only; nothing else that is there of the session can be relied on, and turns, branches
/// and the account are not, unless it [may lack sub-agents](may_lack_agents). It was listed as a session of this format.
pub fn count(target: &Target, format: &str) -> Result<Reading, OpenError> {
    let mut lacks_results = false;
    let mut reading = read_session(
        target,
        ingest::open_listed(target, format)?,
        |session, reading| {
            lacks_results = session.read_counted(&mut |feed| drop(reading.take(feed)));
        },
    )?;
    let may_lack_agents = may_lack_agents(&reading.transcript);
    if lacks_results && (may_lack_agents || is_unsure(&reading.transcript)) {
        return read(target, true);
    }
    if may_lack_agents {
        reading.settle();
    }
    Ok(reading)
}

/// Whether records that were passed over may matter: what is recorded beside entries has the time of the one before it,
/// which a result without its call may be; what has no time was spent by the newest one, which may be a result; and what
/// seems to be of another session may repeat one of them.
fn is_unsure(transcript: &Transcript) -> bool {
    let has_no_time = |entry: &Entry| entry.usage.is_some() && entry.at.is_none();
    transcript.asides().next().is_some()
        || transcript
            .entries()
            .any(|entry| has_no_time(entry) || entry.blocks.iter().any(Block::is_resumption))
}

/// Whether there may be more calls that started a sub-agent than sub-agents that are here: then the account tells.
pub(crate) fn may_lack_agents(transcript: &Transcript) -> bool {
    let blocks = transcript.entries().flat_map(|entry| &entry.blocks);
    let starts = blocks
        .filter_map(Block::call)
        .filter(|call| call.kind == ToolKind::Delegate);
    // Counting reads no results: a call without one may have started a sub-agent.
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

/// As [`read`], with what each format says of it, and how much of the strings of its records is shown.
pub(crate) fn survey(target: &Target) -> Result<(Reading, Coverage), OpenError> {
    let mut coverage = Coverage::default();
    let verdicts = ingest::verdicts(target)?;
    let reading = read_as(target, |session, reading| {
        reading.verdicts = verdicts;
        coverage = session.survey(&mut |feed| drop(reading.take(feed)));
        reading.settle();
    })?;
    Ok((reading, coverage))
}

fn read_as(
    target: &Target,
    read: impl FnOnce(Session, &mut Reading),
) -> Result<Reading, OpenError> {
    read_session(target, ingest::open(target)?, read)
}

fn read_session(
    target: &Target,
    session: Session,
    read: impl FnOnce(Session, &mut Reading),
) -> Result<Reading, OpenError> {
    let mut reading = Reading::of(target, &session);
    read(session, &mut reading);
    // Of what could not be read at all there is nothing to report.
    if reading.transcript.tally().records() == 0
        && let Some(failure) = reading.failure()
    {
        return Err(failure);
    }
    // A file has only one session, so what is named behind it is an entry.
    let is_entry = !matches!(reading.shape, Shape::Folder | Shape::Rows) && target.path.is_file();
    if let Some(name) = target
        .session
        .as_ref()
        .filter(|name| is_entry && !name.is_empty())
    {
        reading.find(name)?;
    }
    Ok(reading)
}

/// How a report on sessions that are named treats what else lies in a folder that is named.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folders {
    /// Where the places of agents are, which tell what should be a session.
    pub environment: Environment,
    /// Whether it is a failure that something there cannot be read.
    pub strict: bool,
}

impl Folders {
    /// The sessions that an argument names: all that lie in a folder, newest first, or the one that it is.
    pub(crate) fn sessions(&self, target: &Target) -> Result<Vec<Target>, OpenError> {
        let named = sessions(target)?;
        if named.as_slice() != [target.clone()] || target.session.is_some() || !target.path.is_dir()
        {
            return Ok(named);
        }
        let search = Search::among(self.environment.clone(), [Ok(target.clone())], None);
        // Which sessions run is no matter here, so there is no time.
        let found = find::sessions(&search, Timestamp(0))
            .flatten()
            .filter(|found| found.unreadable.is_none());
        let found: Vec<Target> = found.map(|found| Target::of(found.place())).collect();
        // A folder may be one session, or hold one that no agent put there.
        Ok(if found.len() > 1 { found } else { named })
    }

    /// What could not be read of what was named, with what lies in it if that is a folder. Where nothing of it could be
    /// read, all that is wrong in it is the reason.
    pub(super) fn missed(
        &self,
        target: &Target,
        failures: Vec<OpenError>,
        has_some: bool,
    ) -> Missed {
        if target.session.is_some() || !target.path.is_dir() {
            return Missed {
                refused: failures,
                unreadable: Vec::new(),
            };
        }
        let search = Search::among(self.environment.clone(), [Ok(target.clone())], None);
        let unreadable: Vec<Found> = find::unreadable(&search).collect();
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

    /// How a report ended that missed this, and ends so otherwise.
    pub(super) fn outcome(&self, missed: Missed, otherwise: Outcome) -> Outcome {
        Outcome::of_many(missed, self.strict, otherwise)
    }
}

/// Reads each session that the arguments name, and reports it; what could not be read, or not to its end, is returned.
pub(super) fn each(
    targets: &[Result<Target, OpenError>],
    folders: &Folders,
    read: impl Fn(&Target) -> Result<Reading, OpenError>,
    mut report: impl FnMut(Reading) -> Result<(), ReportError>,
) -> Result<Missed, ReportError> {
    each_read(
        targets,
        folders,
        |session| read(session).map(|reading| (reading, ())),
        |reading, ()| report(reading),
    )
}

/// As [`each`], read in another way.
pub(super) fn each_read<T>(
    targets: &[Result<Target, OpenError>],
    folders: &Folders,
    read: impl Fn(&Target) -> Result<(Reading, T), OpenError>,
    mut report: impl FnMut(Reading, T) -> Result<(), ReportError>,
) -> Result<Missed, ReportError> {
    let mut missed = Missed::default();
    for target in targets {
        let target = match target {
            Ok(target) => target,
            Err(refusal) => {
                missed.refused.push(refusal.clone());
                continue;
            }
        };
        let (mut failures, mut has_some) = (Vec::new(), false);
        for session in folders.sessions(target).unwrap_or_else(|error| {
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
        missed.add(folders.missed(target, failures, has_some));
    }
    Ok(missed)
}

/// The sessions that an argument names: those in a folder, or the one that it is.
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

/// What names a session in each row of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SessionFields {
    pub(crate) path: String,
    pub(crate) session: Option<String>,
}

impl Reading {
    /// What names it.
    pub(crate) fn fields(&self) -> SessionFields {
        let named = self.target.session.as_deref();
        let id = self.transcript.meta().id.as_deref();
        SessionFields {
            path: shown(&self.target.path).to_string(),
            session: id.or(named).map(str::to_owned),
        }
    }

    /// What opens it.
    pub(crate) fn address(&self) -> String {
        let path = shown(&self.target.path);
        match &self.target.session {
            Some(session) => format!("{path}#{session}"),
            None => path.to_string(),
        }
    }

    /// A session of which nothing has been read yet.
    pub(crate) fn of(target: &Target, session: &Session) -> Self {
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

    /// A session made of edits, without a file.
    #[cfg(test)]
    pub(crate) fn from_batch(target: Target, batch: Batch) -> Self {
        let opened = Opened {
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
        transcript.settle();
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

    /// Takes what the session sends, and says what came of it. The preview of a large file is not needed here. Nothing
    /// is packed: most reports go over all of the entries several times.
    pub(crate) fn take(&mut self, feed: Feed) -> Taken {
        match feed {
            Feed::Opened(opened) => self.opened = *opened,
            Feed::Batch {
                stage: Stage::Whole,
                batch,
            } => return self.take_batch(*batch),
            Feed::File { id, path } => drop(self.files.insert(id, path)),
            Feed::Fault(what) => self.fault = Some(what),
            Feed::Batch {
                stage: Stage::Preview,
                ..
            }
            | Feed::Progress { .. }
            | Feed::CaughtUp
            | Feed::Bodies(_)
            | Feed::Link(_)
            | Feed::Polled(_) => {}
        }
        Taken::Touched(Touched::default())
    }

    fn take_batch(&mut self, batch: Batch) -> Taken {
        let mode = batch.mode;
        if mode.begins() {
            self.next = Some(Box::new((self.transcript.anew(), Differences::default())));
        }
        let Some(next) = &mut self.next else {
            let touched = self.transcript.apply(batch);
            self.account.note(&self.transcript, &touched);
            return Taken::Touched(touched);
        };
        let touched = next.0.apply(batch);
        next.1.note(&self.transcript, &next.0, &touched);
        let Some(next) = self.next.take_if(|_| mode.ends()) else {
            return Taken::Touched(Touched::default());
        };
        let (now, differences) = *next;
        self.account = Account::default();
        Taken::Replaced(differences.replace(&mut self.transcript, now))
    }

    /// As [`Reading::take`], of a session that is followed, maybe for days: the account takes in entries while they are
    /// at hand, and then they are packed.
    pub(crate) fn keep_up(&mut self, feed: Feed) -> Taken {
        let taken = self.take(feed);
        self.account.watch(&self.transcript, usize::MAX);
        self.transcript.tidy();
        taken
    }

    /// Brings turns, branches and the account up to date.
    pub(crate) fn settle(&mut self) {
        self.transcript.settle();
        self.account.follow(&self.transcript, usize::MAX);
    }

    /// The entry of this key, or with the call of this id.
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

    /// Why reading stopped, as a failure of this report.
    pub(crate) fn failure(&self) -> Option<OpenError> {
        let what = self.fault.as_ref()?;
        Some(OpenError(format!(
            "{}: reading stopped: {what}",
            shown(&self.target.path)
        )))
    }

    /// What the agent is doing.
    pub(crate) fn activity(&self, now: Timestamp) -> Activity {
        activity::judge(
            &self.transcript,
            self.last_write().map(LastWrite::found),
            now,
        )
    }

    /// When one of the session's files last changed; of one in a database, when its row says so.
    pub(crate) fn last_write(&self) -> Option<Timestamp> {
        if self.opened.written.is_some() {
            return self.opened.written;
        }
        let files = self.files.values().filter_map(|path| last_write(path));
        // What is written to a database lies in its log first.
        let mut log = self.target.path.as_os_str().to_owned();
        log.push("-wal");
        files
            .chain(last_write(&self.target.path))
            .chain(last_write(Path::new(&log)))
            .max()
    }

    /// The file that an origin speaks of.
    pub(crate) fn file(&self, id: FileId) -> &Path {
        self.files.get(&id).map_or(&self.opened.path, |path| path)
    }
}

fn last_write(path: &Path) -> Option<Timestamp> {
    let since_epoch = std::fs::metadata(path)
        .ok()?
        .modified()
        .ok()?
        .duration_since(UNIX_EPOCH)
        .ok()?;
    i64::try_from(since_epoch.as_millis()).ok().map(Timestamp)
}

/// A name on one line, whatever it holds.
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

/// Records whose contents are kept while blocks are gone over: those of a call and of its result come again with the
/// next call.
const KEPT: usize = 8;

/// What lies on disk of the blocks of an entry, read again for one after the other: an entry may say more than memory
/// holds. What cannot be read again is there as its stub.
pub(crate) struct Contents<'p> {
    pager: Option<&'p mut Pager>,
    /// The records that were read last, the newest one first.
    records: VecDeque<(Origin, Vec<Held>)>,
}

impl<'p> Contents<'p> {
    /// Those that a pager reads, if there is one.
    pub(crate) fn of(pager: Option<&'p mut Pager>) -> Self {
        Self {
            pager,
            records: VecDeque::new(),
        }
    }

    /// The block with its bodies in memory.
    pub(crate) fn whole<'b>(&mut self, block: &'b Block) -> Cow<'b, Block> {
        if self.pager.is_none() || !block.kind.bodies().iter().any(|body| body.is_away()) {
            return Cow::Borrowed(block);
        }
        let mut block = block.clone();
        block
            .kind
            .bodies_mut()
            .into_iter()
            .for_each(|body| self.fill(body));
        Cow::Owned(block)
    }

    /// The body with its content.
    pub(crate) fn whole_body(&mut self, body: &Body) -> Body {
        let mut whole = body.clone();
        self.fill(&mut whole);
        whole
    }

    fn fill(&mut self, body: &mut Body) {
        if body.is_away()
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

    /// What the records of some blocks hold that these do not show, or all of them, by block; but for a record that was
    /// told of above.
    pub(crate) fn details(
        &mut self,
        entry: &Entry,
        blocks: Range<usize>,
        above: Option<Origin>,
        is_whole: bool,
    ) -> Vec<(usize, Of, Details)> {
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
