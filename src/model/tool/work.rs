//! Work that continues after the result of its call: a command in the background, a sub-agent that
//! reports later, a session that yields and is polled. The result only acknowledges that it began
//! ([`Work`]); other records report its progress ([`Update`]), some of which the model saw and some
//! it did not.

use serde::{Deserialize, Serialize};

use super::Verdict;
use crate::model::body::Key;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

/// Limit of the stored updates of one work, plus its last end; no agent polls that often.
const MOST_UPDATES: usize = 1_000;

/// Time in ms within which another program may not have seen a record yet.
const ON_ITS_WAY_MS: i64 = 1_000;

/// Work that a result acknowledges.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The agent's id of the work; empty if it has none.
    pub handle: Key,
    /// Whether the agent records how such work ends.
    pub ends: EndRecording,
    /// Reports in the order of their records; records that only the program sees are ordered by
    /// time.
    pub updates: Vec<Update>,
}

/// Whether and where an agent records the end of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum EndRecording {
    /// Not at all, or not always: a missing end means nothing.
    #[default]
    Unrecorded,
    /// In the result when the model polls.
    Asked,
    /// Always: it notifies the model.
    Announced,
}

/// What one record reports on work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Update {
    /// Key of the entry or result that reports.
    pub by: Key,
    /// Timestamp of the record.
    pub at: Option<Timestamp>,
    /// Who sees the record.
    pub carrier: Carrier,
    /// How the work ended; `None` if it continues.
    pub end: Option<WorkEnd>,
    /// Reason of the end, if recorded.
    pub reason: Option<Text>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkEnd {
    pub verdict: Verdict,
    /// Exit code of a command.
    pub exit: Option<i64>,
    /// When it ended, if that differs from the record's timestamp.
    pub at: Option<Timestamp>,
}

/// Who sees a report on work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Carrier {
    /// Only the program: an event, a registry.
    Record,
    /// Only the program, which records that the model was notified, perhaps by another record.
    Delivered,
    /// Nobody yet: it is queued for the model.
    Queue,
    /// The model: it is inserted into the conversation.
    Notice,
    /// The model, because it polled: the result of a call about the work.
    Poll,
}

impl Carrier {
    /// Whether the model sees it.
    pub(crate) fn is_seen(self) -> bool {
        matches!(self, Self::Delivered | Self::Notice | Self::Poll)
    }
}

/// Which work a record reports on. The id of the call is preferred; ids of work may be reused and
/// then mean the latest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkReference {
    /// Id of the call that began the work.
    pub call: Option<Key>,
    /// Id of the work.
    pub handle: Option<Key>,
}

impl WorkReference {
    pub(crate) fn call(call: Key) -> Self {
        let handle = None;
        Self {
            call: Some(call),
            handle,
        }
    }

    pub(crate) fn handle(handle: Key) -> Self {
        Self {
            call: None,
            handle: Some(handle),
        }
    }
}

/// One end of work, and all updates that report it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportedEnd<'a> {
    verdict: Verdict,
    all: Vec<&'a Update>,
}

/// The end of background work, formatted: `bash "cargo test" ended`, `exit 1`, `ran 5m01s`.
#[derive(Clone, Debug, PartialEq)]
pub struct EndLine {
    /// Name of the tool: `bash`.
    pub tool: String,
    /// Subject of the call.
    pub about: String,
    /// Outcome as a verb: `ended`.
    pub verb: &'static str,
    pub verdict: Verdict,
    /// Exit code, if it is not 0.
    pub exit: Option<String>,
    /// Duration, and when the model was notified.
    pub facts: Vec<String>,
    /// Whether the notification is late or missing, and worth a warning.
    pub is_missed: bool,
}

impl EndLine {
    /// The whole text, as in its row.
    pub(crate) fn words(&self) -> String {
        let about = match self.about.as_str() {
            "" => String::new(),
            about => format!(" \"{about}\""),
        };
        let facts: Vec<&str> = (self.exit.iter().chain(&self.facts))
            .map(String::as_str)
            .collect();
        let facts = facts.join(" · ");
        format!("{}{about} {}  {facts}", self.tool, self.verb)
    }
}

impl<'a> ReportedEnd<'a> {
    fn is_end_of(&self, end: WorkEnd, update: &Update) -> bool {
        let noticed = || {
            self.all
                .iter()
                .filter(|known| known.carrier == Carrier::Notice)
        };
        let is_later = || {
            noticed().any(|known| {
                known
                    .at
                    .zip(update.at)
                    .is_some_and(|(known, at)| known < at)
            })
        };
        end.verdict == self.verdict && !(update.carrier == Carrier::Queue && is_later())
    }

    /// The first report, with the exit code and the time of the end from any report that has them.
    pub(crate) fn first(&self) -> Option<(WorkEnd, &'a Update)> {
        let first = *self.all.first()?;
        let end = first.end?;
        let exit = self.all.iter().find_map(|update| update.end?.exit);
        let own = self.all.iter().filter_map(|update| update.end?.at).min();
        Some((
            WorkEnd {
                exit,
                at: own.into_iter().chain(first.at).min(),
                ..end
            },
            first,
        ))
    }

    /// The first update that notified the model.
    pub(crate) fn delivered(&self) -> Option<&'a Update> {
        let seen = || self.all.iter().copied().filter(|it| it.carrier.is_seen());
        seen()
            .find(|update| update.carrier != Carrier::Delivered)
            .or_else(|| seen().next())
    }

    /// The update that represents the end: the first that notified the model, else the first.
    pub(crate) fn representative(&self) -> Option<&'a Update> {
        self.delivered().or(self.all.first().copied())
    }

    /// The update of the record with this key. Polls are excluded, because they are shown at the
    /// polling call.
    pub(crate) fn of_record(&self, key: &Key) -> Option<&'a Update> {
        self.all
            .iter()
            .copied()
            .find(|update| update.by == *key && update.carrier != Carrier::Poll)
    }
}

impl Update {
    fn is_ordered_by_time(&self) -> bool {
        self.carrier == Carrier::Record && self.at.is_some()
    }

    /// Whether a poll reported that the work continued after `end`. A record that only the program
    /// sees may not have reached the polled program yet.
    fn reports_running_after(&self, end: &Self) -> bool {
        let on_its_way = if end.carrier == Carrier::Record {
            ON_ITS_WAY_MS
        } else {
            0
        };
        let times = self.at.zip(end.at);
        self.carrier == Carrier::Poll
            && times.is_some_and(|(at, ended)| at.0 > ended.0 + on_its_way)
    }

    /// Whether it reports that ended work was resumed.
    fn is_resumption(&self) -> bool {
        self.end.is_none() && matches!(self.carrier, Carrier::Record | Carrier::Delivered)
    }
}

impl WorkEnd {
    /// Whether another end contradicts this one.
    fn is_other(self, other: Self) -> bool {
        let codes = self.exit.zip(other.exit);
        self.verdict != other.verdict || codes.is_some_and(|(one, other)| one != other)
    }

    /// Converts an agent's status word and an exit code; without a word the work ended. `None` if
    /// it continues.
    pub(crate) fn from_word(word: Option<&str>, exit: Option<i64>) -> Option<Self> {
        let verdict = match word.unwrap_or("completed").to_ascii_lowercase().as_str() {
            "completed" | "complete" | "done" | "exited" | "finished" | "success" | "succeeded" => {
                if exit.is_some_and(|code| code != 0) {
                    Verdict::Failed
                } else {
                    Verdict::Done
                }
            }
            "failed" | "error" | "errored" => Verdict::Failed,
            "stopped" | "killed" | "cancelled" | "canceled" | "interrupted" | "aborted"
            | "timed_out" | "timeout" | "stalled" | "lost" | "terminated" | "shutdown" => {
                Verdict::Stopped
            }
            _ => return None,
        };
        Some(Self {
            verdict,
            exit,
            at: None,
        })
    }
}

impl WorkEnd {
    /// Like [`Self::from_word`] for work with several parts: it continues while any part does, and the
    /// worst outcome counts.
    pub(crate) fn from_words(words: &[&str], exit: Option<i64>) -> Option<Self> {
        let mut ends = words.iter().map(|word| Self::from_word(Some(word), exit));
        let Some(mut worst) = ends.next() else {
            return Self::from_word(None, exit);
        };
        for end in ends {
            let rank = |end: Self| (end.verdict == Verdict::Failed, end.verdict != Verdict::Done);
            worst = worst.zip(end).map(
                |(worst, end)| {
                    if rank(end) > rank(worst) { end } else { worst }
                },
            );
        }
        worst
    }
}

impl Work {
    /// Work of this id, without reports.
    pub(crate) fn begun(handle: Key, ends: EndRecording) -> Self {
        Self {
            handle,
            ends,
            updates: Vec::new(),
        }
    }

    /// All ends, each with the updates that report it. Resumed work ends again: a record says that
    /// it was resumed, reports another outcome, or is queued after the model was notified of the
    /// previous end.
    pub fn endings(&self) -> Vec<ReportedEnd<'_>> {
        let mut endings: Vec<ReportedEnd<'_>> = Vec::new();
        let mut is_again = false;
        for update in &self.updates {
            let Some(end) = update.end else {
                is_again |= update.is_resumption();
                // A notice after an end that has no status notifies the model of that end.
                let before = endings.last_mut();
                if let Some(ending) = before.filter(|_| update.carrier == Carrier::Notice) {
                    ending.all.push(update);
                }
                continue;
            };
            let is_new = std::mem::take(&mut is_again);
            match endings
                .last_mut()
                .filter(|ending| !is_new && ending.is_end_of(end, update))
            {
                Some(ending) => ending.all.push(update),
                None => endings.push(ReportedEnd {
                    verdict: end.verdict,
                    all: vec![update],
                }),
            }
        }
        endings
    }

    /// The last end, and the update that reported it first.
    pub fn completed(&self) -> Option<(WorkEnd, &Update)> {
        self.endings().pop()?.first()
    }

    /// Two updates that contradict each other: the work ended, and then continued or ended
    /// otherwise, although no record says that it was resumed.
    pub(crate) fn contradiction(&self) -> Option<(&Update, &Update)> {
        let mut records: Vec<&Update> = self
            .updates
            .iter()
            .filter(|update| update.at.is_some())
            .collect();
        records.sort_by_key(|update| update.at);
        let mut ended: Option<(&Update, WorkEnd)> = None;
        for update in records {
            match (update.end, ended) {
                (None, _) if update.is_resumption() => ended = None,
                (None, Some((first, _))) if update.reports_running_after(first) => {
                    return Some((first, update));
                }
                // Work that the model stopped may have ended by itself before.
                (Some(_), Some((first, before)))
                    if first.carrier == Carrier::Poll && before.verdict == Verdict::Stopped => {}
                (Some(end), Some((first, before))) if before.is_other(end) => {
                    return Some((first, update));
                }
                (Some(end), None) => ended = Some((update, end)),
                _ => {}
            }
        }
        None
    }

    /// Reason of the end, from the first update that has one.
    pub(crate) fn reason(&self) -> Option<&Text> {
        let last = self.endings().pop()?;
        last.all.iter().find_map(|update| update.reason.as_ref())
    }

    /// The first update that notified the model of the end.
    pub fn delivered(&self) -> Option<&Update> {
        self.endings().pop()?.delivered()
    }

    /// Whether the agent records notifications of the model; if not, a missing one means nothing.
    pub(crate) fn is_reported(&self) -> bool {
        self.ends != EndRecording::Unrecorded || self.is_queued()
    }

    /// Whether its end was queued for the model.
    pub(crate) fn is_queued(&self) -> bool {
        self.updates
            .iter()
            .any(|update| update.carrier == Carrier::Queue && update.end.is_some())
    }

    /// Updates by which the model polled the work.
    pub fn polls(&self) -> impl Iterator<Item = &Update> {
        self.updates
            .iter()
            .filter(|update| update.carrier == Carrier::Poll)
    }

    /// Index at which to insert an update. Records that only the program sees may be in another
    /// file, so they are ordered by time, before all others that are not earlier. The order does
    /// not depend on which file is read first.
    fn place_of(&self, update: &Update) -> usize {
        let is_after = |other: &Update, note: &Update| other.at >= note.at;
        let others_end = self
            .updates
            .iter()
            .rposition(|known| !known.is_ordered_by_time())
            .map_or(0, |last| last + 1);
        if !update.is_ordered_by_time() {
            let notes = self.updates.iter().skip(others_end);
            return others_end + notes.take_while(|note| is_after(update, note)).count();
        }
        let limit = self
            .updates
            .iter()
            .position(|known| !known.is_ordered_by_time() && is_after(known, update))
            .unwrap_or(self.updates.len());
        let before = self.updates.iter().take(limit).rev();
        let later = before.take_while(|known| known.is_ordered_by_time() && known.at > update.at);
        limit - later.count()
    }

    /// Adds or replaces an update. Returns whether anything changed.
    pub(crate) fn add_update(&mut self, update: Update) -> bool {
        let is_full = self.updates.len() >= MOST_UPDATES;
        match self.updates.iter_mut().find(|known| known.by == update.by) {
            Some(known) if *known == update => return false,
            Some(known) => *known = update,
            None if is_full && update.end.is_none() => return false,
            None => {
                self.updates.truncate(MOST_UPDATES - 1);
                let at = self.place_of(&update);
                self.updates.insert(at, update);
            }
        }
        true
    }
}
