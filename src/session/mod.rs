//! A session that is open: all that is known of it, and all that large ones need. No screen, no files, no clock.
//!
//! **The end of a large file is shown while the whole is read.** Its last mebibyte is on the screen at once, and goes on
//! growing; a second session that nobody sees is read from the start, and its transcript takes the place of the one that is
//! shown when it is complete. What is known of the second session is taken in batch by batch, while the entries are at
//! hand: later they are packed, and to unpack each of them costs more than to read them.
//!
//! **A file that was written anew is read in the same way**: a document that its agent rewrites with each answer, a file of
//! lines that was cut or replaced. Whoever was at an entry of the first transcript looks for it by its key
//! ([`Lookup`](crate::analysis::calls::lookup::Lookup)).
//! Ids are given in the order of reading; so in a file that only grew all entries have the same ones, and nobody has to
//! look for anything: what differs has come or changed as by any batch ([`Differences`]).
//!
//! Invariant: what is shown is one transcript at a time; [`Session::take`] alone changes which one, and says so.

mod change;
pub mod details;
mod file_state;
pub mod filter;
pub mod indexes;
pub mod news;
pub mod paging;
pub mod search;
mod status;

use std::collections::HashSet;

use crate::analysis::activity::{self, Activity};
use crate::analysis::alarm;
use crate::analysis::calls::Place;
use crate::analysis::calls::awaited::Awaited;
use crate::analysis::context;
use crate::analysis::expression::LOOP;
use crate::analysis::lint::Finding;
use crate::analysis::loops::Run;
use crate::model::body::Held;
use crate::model::edit::{Batch, Feed, LinkState, Polled, Stage};
use crate::model::entry::EntryId;
use crate::model::record::Origin;
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolCall;
use crate::model::transcript::{Differences, Replaced, Touched, Transcript};

pub(crate) use change::Change;
pub(crate) use file_state::FileState;
pub(crate) use indexes::Indexes;
use indexes::Needs;
use news::Seen;
pub(crate) use status::Status;

/// Bytes of bodies that stay in memory. Entries whose bodies do are not packed, and take as much again.
pub const BODY_BUDGET: u64 = 8 << 20;

/// For so long, in ms, nobody wonders why nothing is written.
const SILENT: u64 = 60_000;
const SILENT_TOOL: u64 = 300_000;

/// An open session.
#[derive(Debug, Default)]
pub struct Session {
    /// The transcript that is shown: the whole session, or the end of it while the whole is read.
    pub transcript: Transcript,
    /// What is known of it.
    pub indexes: Indexes,
    /// The files, and how reading them fares.
    pub file: FileState,
    /// How the session stands.
    pub status: Status,
    /// The whole session as far as it is read, while its end is shown; or what its file holds now, while what it held
    /// before is shown.
    whole: Option<Box<Self>>,
    /// While nobody sees it: what differs in it from what is shown of the file as it was before, if that is so.
    differences: Option<Differences>,
    /// While nobody sees it: entries there were when turns and branches were found from the beginning the last time.
    settled: usize,
}

impl Session {
    /// Takes a message of the feed.
    pub(crate) fn take(&mut self, feed: Feed) -> Vec<Change> {
        match feed {
            Feed::Opened(opened) => self.file.opened = Some(*opened),
            Feed::Batch {
                stage: Stage::Preview,
                batch,
            } => return self.take_last(*batch),
            Feed::Batch {
                stage: Stage::Whole,
                batch,
            } => return self.take_whole(*batch),
            // Once caught up, reading on is following, however long a burst takes.
            Feed::Progress { done, total } => {
                self.file.progress = Some((done, total)).filter(|_| !self.file.is_caught_up);
            }
            Feed::CaughtUp => return self.caught_up(),
            Feed::Bodies(contents) => return vec![Change::Bodies(contents)],
            Feed::File { id, path } => self.file.name(id, path),
            Feed::Link(LinkState::Reread(why)) => {
                self.file.link = LinkState::Live;
                return vec![Change::Said(why.to_string())];
            }
            Feed::Link(link) => self.file.link = link,
            Feed::Polled(why) => {
                let words = match &why {
                    Polled::Refused(what) => Some(format!(
                        "no file events ({what}): looking four times a second instead"
                    )),
                    _ => None,
                };
                self.file.polled = Some(why);
                return words.map(Change::Said).into_iter().collect();
            }
            Feed::Fault(what) => self.file.fault = Some(what),
        }
        Vec::new()
    }

    /// Whether what is shown is the end of the session, or all of it as far as it is read.
    pub fn is_part(&self) -> bool {
        self.whole.is_some() && !self.file.is_caught_up
    }

    /// Whether a transcript is being read that will take the place of the one that is shown.
    pub(crate) fn is_read_beside(&self) -> bool {
        self.whole.is_some()
    }

    /// Takes a batch of the last entries.
    fn take_last(&mut self, batch: Batch) -> Vec<Change> {
        // From here on the whole is read beside what is shown, however soon its first batch comes.
        self.whole.get_or_insert_default();
        self.apply(batch)
    }

    /// Takes a batch of the whole.
    fn take_whole(&mut self, batch: Batch) -> Vec<Change> {
        let mode = batch.mode;
        if mode.begins() {
            let (transcript, differences) = (self.transcript.anew(), Some(Differences::default()));
            self.whole = Some(Box::new(Self {
                transcript,
                differences,
                ..Self::default()
            }));
        }
        let Some(whole) = &mut self.whole else {
            return self.apply(batch);
        };
        whole.take_unseen(batch, self.indexes.needs, &self.transcript);
        if mode.ends() {
            self.show_whole()
        } else {
            Vec::new()
        }
    }

    /// Applies a batch to the transcript that is shown.
    fn apply(&mut self, batch: Batch) -> Vec<Change> {
        let touched = self.transcript.apply(batch);
        self.indexes.note(&self.transcript, &touched);
        if touched.is_empty() {
            return Vec::new();
        }
        self.status.is_stale = true;
        // What entries hold is in memory now, and may not be later.
        self.indexes.watch(&self.transcript, Needs::default());
        self.transcript.settle();
        vec![Change::Touched(touched)]
    }

    /// Takes a batch of a session that nobody sees, and what is needed to be known of it, the differences from what was
    /// `before` with it.
    fn take_unseen(&mut self, batch: Batch, needs: Needs, before: &Transcript) {
        let touched = self.transcript.apply(batch);
        if let Some(differences) = &mut self.differences {
            differences.note(before, &self.transcript, &touched);
        }
        self.indexes.note(&self.transcript, &touched);
        let (entries, is_anew) = (
            self.transcript.order().len(),
            self.transcript.settles_anew(),
        );
        // What must be found from the beginning again waits until the session is twice as long: so all of it together
        // costs no more than twice the session.
        if !is_anew || entries >= 2 * self.settled {
            self.transcript.settle();
            self.settled = if is_anew { entries } else { self.settled };
        }
        self.indexes.watch(&self.transcript, needs);
        self.transcript.tidy();
    }

    /// All is read.
    fn caught_up(&mut self) -> Vec<Change> {
        self.file.progress = None;
        self.file.is_caught_up = true;
        let mut changes = self.show_whole();
        changes.push(Change::CaughtUp);
        changes
    }

    /// The whole takes the place of what is shown, be it of the end or of the file as it was before.
    fn show_whole(&mut self) -> Vec<Change> {
        let Some(whole) = self.whole.take() else {
            return Vec::new();
        };
        let Self {
            transcript,
            mut indexes,
            differences,
            ..
        } = *whole;
        indexes.go_on_from(&self.indexes);
        self.indexes = indexes;
        self.status.is_stale = true;
        if let Some(differences) = differences {
            let Replaced { touched, before } =
                differences.replace(&mut self.transcript, transcript);
            return vec![match before {
                Some(before) => Change::Replaced { before, touched },
                None => Change::Touched(touched),
            }];
        }
        let before = Box::new(std::mem::replace(&mut self.transcript, transcript));
        self.transcript.settle();
        vec![Change::Replaced {
            before,
            touched: Touched::default(),
        }]
    }

    /// Takes bodies that were read again. Answers which entries have them.
    pub(crate) fn fill(
        &mut self,
        entries: &[EntryId],
        contents: &[(Origin, Vec<Held>)],
    ) -> Vec<EntryId> {
        let filled = self.transcript.fill(entries, contents);
        self.indexes.learn(&self.transcript, entries);
        filled
    }

    /// Lets go of bodies beyond the budget, but for those of entries in sight.
    pub(crate) fn release(&mut self, in_sight: impl Fn(EntryId) -> bool) {
        self.transcript.release(BODY_BUDGET, in_sight);
    }

    /// The end of the session as it is now; `None` while it is still being read.
    pub fn end(&self, now: Timestamp) -> Option<Seen> {
        if !self.is_at_its_end() {
            return None;
        }
        let mut entries = self
            .transcript
            .order()
            .iter()
            .rev()
            .filter_map(|id| self.transcript.get(*id));
        let last = entries.find(|entry| entry.lane.is_none())?;
        Some(Seen {
            key: last.key.clone(),
            at: now,
        })
    }

    /// Whether what comes is written now, and was not there before.
    pub(crate) fn is_at_its_end(&self) -> bool {
        self.file.is_caught_up || self.is_part()
    }

    /// Entries that came after what was seen.
    pub(crate) fn after(&self, seen: &Seen) -> &[EntryId] {
        seen.after(&self.transcript, self.file.is_caught_up)
    }

    /// Finds out how the session stands now.
    pub(crate) fn refresh(&mut self, now: Timestamp) {
        self.indexes.compute(&self.transcript);
        self.status.refresh(
            &self.transcript,
            &self.indexes.account,
            self.file.last_write,
            now,
        );
    }

    /// How long nothing was written at work, in ms.
    pub(crate) fn silence(&self, now: Timestamp) -> Option<u64> {
        activity::silence(
            &self.transcript,
            &self.status.activity,
            self.file.last_write,
            now,
        )
    }

    /// The same, once it lasts longer than anybody expects: tools often write nothing until they end. Work that was
    /// given up is not silent, it has stopped.
    pub(crate) fn long_silence(&self, now: Timestamp) -> Option<u64> {
        let activity = &self.status.activity;
        let bearable = if matches!(activity, Activity::Tool { .. }) {
            SILENT_TOOL
        } else {
            SILENT
        };
        self.silence(now)
            .filter(|ms| activity.is_work() && *ms >= bearable)
    }

    /// The loop that the agent is in right now.
    pub(crate) fn current_loop(&self) -> Option<&Run> {
        let run = self.indexes.loops.current(&self.transcript)?;
        (self.status.activity.is_work() && run.count() as u64 >= LOOP).then_some(run)
    }

    /// Whether the agent works on what is shown, or waits for somebody who may come.
    pub(crate) fn is_at_work(&self, now: Timestamp) -> bool {
        self.status.is_at_work(now)
    }

    /// How long the newest turn has been going on since the last sign of its main lane, in ms.
    pub(crate) fn goes_on_ms(&self, now: Timestamp) -> u64 {
        let is_open = self.status.activity.is_work();
        self.indexes
            .account
            .last_sign()
            .filter(|_| is_open)
            .map_or(0, |last| now.since(last))
    }

    /// Whether a call of an entry still runs: the agent is at work, and its result may come, or its work goes on.
    pub fn runs(&self, id: EntryId, call: &ToolCall, now: Timestamp) -> bool {
        self.is_at_work(now) && Awaited::of(&self.transcript).runs(&self.transcript, id, call)
    }

    /// Gives the session as it is now.
    pub(crate) fn with_status(
        &mut self,
        now: Timestamp,
        orphan: Option<(Place, &str)>,
        look: impl FnOnce(&alarm::Status<'_>),
    ) {
        self.transcript.settle();
        self.indexes.compute(&self.transcript);
        self.status.activity = activity::judge(&self.transcript, self.file.last_write, now);
        let cost = self.indexes.account.cost(&self.transcript);
        look(&alarm::Status {
            transcript: &self.transcript,
            activity: &self.status.activity,
            silence: self.silence(now),
            cost: &cost,
            context: context::of(&self.transcript),
            run: self.indexes.loops.current(&self.transcript),
            orphan,
        });
    }

    /// A call or a result that has lost its other half since the last look, by those that were `known` then.
    pub(crate) fn news_of_orphans(
        &mut self,
        known: &mut Option<HashSet<Place>>,
    ) -> Option<(Place, String)> {
        if self.is_part() || !self.indexes.follow_findings(&self.transcript) {
            return None;
        }
        let orphans = self
            .indexes
            .findings
            .iter()
            .filter(|finding| finding.is_orphan());
        let now: Vec<(Place, &Finding)> = orphans
            .map(|finding| (place_of(finding), finding))
            .collect();
        let before = known.take();
        let is_new = |place: &Place| {
            before
                .as_ref()
                .is_some_and(|before| !before.contains(place))
        };
        let news = now.iter().find(|(place, _)| is_new(place));
        let news = news.map(|(place, finding)| (*place, finding.message.clone()));
        *known = Some(now.into_iter().map(|(place, _)| place).collect());
        news
    }
}

fn place_of(finding: &Finding) -> Place {
    Place {
        entry: finding.entry,
        block: finding.block,
    }
}
