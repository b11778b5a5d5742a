//! `tv wait`: waits until a condition holds in a session.
//!
//! Facts about the session that already hold end the wait at once; of entries and errors only new
//! ones count.

use std::collections::HashSet;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};

use super::follow::followed;
use super::outcome::{ReportError, ReportOutcome};
use super::reading::{Reading, Taken};
use crate::analysis::activity::{self, Activity, LastWrite};
use crate::analysis::alarm::{Alarm, AlarmStatus, Rung};
use crate::analysis::calls::Place;
use crate::analysis::calls::lookup::Lookup;
use crate::analysis::context;
use crate::analysis::derived::Memo;
use crate::analysis::expression::{Expr, State, Term};
use crate::analysis::lint::Findings;
use crate::analysis::loops::Loops;
use crate::ingest::fs;
use crate::ingest::{Target, WatchMode};
use crate::model::edit::{Feed, LinkState};
use crate::model::entry::EntryId;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::{Replaced, Transcript};

/// Options of `tv wait`.
pub struct WaitOptions {
    pub target: Target,
    pub(crate) until: Expr,
    /// Maximum time to wait.
    pub(crate) timeout: Option<Duration>,
    /// How changes of the file are detected.
    pub(crate) watch: WatchMode,
}

/// Interval at which conditions on time, such as silence, are checked without new records.
const TICK: Duration = Duration::from_millis(500);
/// Work that stopped without an end is given up after this time, in ms, because its agent may have
/// died.
const GIVEN_UP_MS: u64 = 60 * 60 * 1000;

/// Why the wait is over.
enum WaitEnd {
    Fired(Rung),
    /// The condition cannot hold any more, or not in time.
    Missed(String),
}

/// Waits, and writes why the wait ended.
pub fn write(
    options: &WaitOptions,
    now: fn() -> Timestamp,
    out: &mut dyn Write,
) -> Result<ReportOutcome, ReportError> {
    let (ended, was_interrupted, reading) =
        followed(&options.target, options.watch, |feed, stop, reading| {
            wait(options, now, feed, stop, reading)
        })?;
    match ended {
        Some(WaitEnd::Fired(rung)) => {
            writeln!(out, "{}", Text::clean(&rung.words))?;
            out.flush()?;
            Ok(ReportOutcome::Complete)
        }
        Some(WaitEnd::Missed(why)) => Ok(ReportOutcome::Missed(why)),
        None if was_interrupted => Ok(ReportOutcome::Interrupted),
        None => Ok(ReportOutcome::of(reading.failure().into_iter().collect())),
    }
}

/// `None` if reading failed or was interrupted.
fn wait(
    options: &WaitOptions,
    now: fn() -> Timestamp,
    feed: &Receiver<Feed>,
    stop: &AtomicBool,
    reading: &mut Reading,
) -> Option<WaitEnd> {
    let deadline = options
        .timeout
        .and_then(|timeout| Instant::now().checked_add(timeout));
    let mut watch = Watch::new(options);
    while !stop.load(Ordering::Relaxed) {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let mut is_closed = false;
        match feed.recv_timeout(left.map_or(TICK, |left| left.min(TICK))) {
            Ok(message) => {
                is_closed = matches!(message, Feed::Link(LinkState::Closed));
                let has_failed = matches!(message, Feed::Fault(_));
                watch.apply(message, reading);
                if has_failed {
                    return None;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => is_closed = true,
        }
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let is_late = left.is_some_and(|left| left.is_zero());
        // Messages that are queued are applied before the condition is checked.
        if !feed.is_empty() && !is_late {
            continue;
        }
        if let Some(end) = watch.check(now(), is_closed, reading) {
            return Some(end);
        }
        if is_late {
            let timeout = options.timeout.unwrap_or_default();
            let ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
            let time = crate::model::figures::duration(ms);
            return Some(WaitEnd::Missed(format!(
                "not within {time}: {}",
                options.until
            )));
        }
    }
    None
}

/// The state of a session that is waited for.
struct Watch<'a> {
    options: &'a WaitOptions,
    alarm: Alarm,
    patience: u64,
    loops: Memo<Loops>,
    findings: Findings,
    orphans: HashSet<Place>,
    touched: Vec<EntryId>,
    /// Last modification of the files at the first check.
    first_write: Option<Timestamp>,
    /// When a write to a session in a database was seen.
    seen: Option<LastWrite>,
    /// Whether batches were applied since the last check.
    has_changed: bool,
    /// Whether everything that existed at the start is read.
    is_whole: bool,
    has_begun: bool,
    link: LinkState,
}

impl<'a> Watch<'a> {
    fn new(options: &'a WaitOptions) -> Self {
        let bounds = options
            .until
            .terms()
            .into_iter()
            .filter_map(|term| match term {
                Term::State(State::Silent(_, ms)) => Some(ms.saturating_mul(2)),
                _ => None,
            });
        Self {
            options,
            alarm: Alarm::new(options.until.clone(), None),
            patience: bounds.max().unwrap_or(0).max(GIVEN_UP_MS),
            loops: Memo::default(),
            findings: Findings::default(),
            orphans: HashSet::new(),
            touched: Vec::new(),
            first_write: None,
            seen: None,
            has_changed: false,
            is_whole: false,
            has_begun: false,
            link: LinkState::Live,
        }
    }

    fn apply(&mut self, message: Feed, reading: &mut Reading) {
        match message {
            Feed::CaughtUp => self.is_whole = true,
            Feed::Link(link) => self.link = link,
            other => {
                self.has_changed |= self.is_whole && matches!(other, Feed::Batch { .. });
                let touched = match reading.apply_and_pack(other) {
                    Taken::Touched(touched) => {
                        self.findings.invalidate(&reading.transcript, &touched);
                        self.loops.invalidate(&reading.transcript, &touched);
                        touched
                    }
                    Taken::Replaced(Replaced { touched, before }) => {
                        (self.findings, self.loops) = (Findings::default(), Memo::default());
                        if let Some(before) = before {
                            self.remap(&before, &reading.transcript);
                        }
                        touched
                    }
                };
                self.loops.watch(&reading.transcript, usize::MAX);
                self.touched
                    .extend(touched.added.into_iter().chain(touched.changed));
            }
        }
    }

    /// Maps ids to another transcript of the session.
    fn remap(&mut self, before: &Transcript, now: &Transcript) {
        let lookup = Lookup { before, now };
        self.alarm.remap(&lookup);
        self.touched = lookup.entries(&self.touched);
        self.orphans = lookup.blocks(&self.orphans);
    }

    /// The last write to the session. Writes after the first check happened while the session was
    /// followed.
    fn last_write(&mut self, reading: &Reading, now: Timestamp) -> Option<LastWrite> {
        // The files of a database change with every session in it.
        if std::mem::take(&mut self.has_changed) && reading.opened.written.is_some() {
            self.seen = Some(LastWrite::observed(now));
        }
        if self.seen.is_some() {
            return self.seen;
        }
        let at = reading.last_write()?;
        let first = *self.first_write.get_or_insert(at);
        Some(LastWrite {
            at,
            is_seen: at > first,
        })
    }

    fn check(&mut self, now: Timestamp, is_closed: bool, reading: &mut Reading) -> Option<WaitEnd> {
        if !self.is_whole && !is_closed {
            return None;
        }
        reading.update_derived();
        let touched = std::mem::take(&mut self.touched);
        let transcript = &reading.transcript;
        let last_write = self.last_write(reading, now);
        // A closed pipe will not continue; a compressed file is unchanged.
        let is_broken_off = is_closed && !fs::is_file(&self.options.target.path);
        let activity = match activity::judge(transcript, last_write, now) {
            Activity::Waiting { .. } | Activity::Idle { .. } if is_broken_off => Activity::Ended,
            activity if is_broken_off && activity.is_work() => Activity::Unclean,
            activity => activity,
        };
        let orphan = self.orphan(reading);
        self.loops.follow(transcript, usize::MAX);
        let silence = activity::silence(transcript, &activity, last_write, now);
        let status = AlarmStatus {
            transcript,
            activity: &activity,
            silence,
            cost: &reading.account.cost(transcript),
            context: context::of(transcript),
            run: self.loops.current(transcript),
            orphan: orphan
                .as_ref()
                .map(|(place, words)| (*place, words.as_str())),
        };
        if !std::mem::replace(&mut self.has_begun, true) {
            // All entries of a pipe are new.
            if self.options.target.is_stdin() && self.is_whole {
                self.alarm.begin(
                    &AlarmStatus {
                        transcript: &Transcript::default(),
                        ..status
                    },
                    true,
                );
            } else {
                self.alarm.begin(&status, true);
            }
        }
        if let Some(rung) = self.alarm.check(&status, &touched) {
            return Some(WaitEnd::Fired(rung));
        }
        let gone = match &self.link {
            LinkState::Emptied => Some("the file was emptied".to_owned()),
            LinkState::Deleted => Some("the file is gone".to_owned()),
            LinkState::Moved(_) => Some("the file was moved away".to_owned()),
            LinkState::Archived(name) => Some(format!("archived as {name}")),
            _ => None,
        };
        let given_up = silence.is_some_and(|ms| ms > self.patience);
        let why = match activity {
            _ if is_closed => "the input ended".to_owned(),
            _ if gone.is_some() => gone.unwrap_or_default(),
            Activity::Ended => "the session ended".to_owned(),
            Activity::Unclean if given_up || transcript.has_ended() => {
                "the session stopped in the middle of work".to_owned()
            }
            _ => return None,
        };
        Some(WaitEnd::Missed(format!(
            "{why} without it: {}",
            self.options.until
        )))
    }

    /// A call or a result that lost its counterpart since the last check.
    fn orphan(&mut self, reading: &Reading) -> Option<(Place, String)> {
        if !self.alarm.has_state(|state| *state == State::Orphan) {
            return None;
        }
        self.findings.follow(&reading.transcript, usize::MAX);
        let orphans = self.findings.iter().filter(|finding| finding.is_orphan());
        let now: Vec<(Place, &str)> = orphans
            .map(|finding| {
                (
                    Place {
                        entry: finding.entry,
                        block: finding.block,
                    },
                    finding.message.as_str(),
                )
            })
            .collect();
        let is_news = |(place, _): &&(Place, &str)| self.has_begun && !self.orphans.contains(place);
        let news = now
            .iter()
            .find(is_news)
            .map(|(place, words)| (*place, (*words).to_owned()));
        self.orphans = now.into_iter().map(|(place, _)| place).collect();
        news
    }
}
