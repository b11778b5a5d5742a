//! Work that goes on after the result of its call: a command in the background, a sub-agent that reports later, a
//! session that yields and is asked again. The result only acknowledges that it began ([`Work`]); how it went on is
//! told by other records ([`Update`]), some of which the model got to see and some not.

use serde::{Deserialize, Serialize};

use super::Verdict;
use crate::model::body::Key;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

/// So many records about the same work are kept, and after them its last end: nobody asks so often.
const MOST_UPDATES: usize = 1_000;

/// What one program noted so many ms ago another may not know yet.
const ON_ITS_WAY_MS: i64 = 1_000;

/// What a result acknowledges.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The agent's id of the work; empty if it gave none.
    pub handle: Key,
    /// Whether the agent records how such work ends.
    pub ends: Ends,
    /// What was told of it, in the order of the records; what the program noted for itself stands at its time.
    pub updates: Vec<Update>,
}

/// Whether an agent records how work ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ends {
    /// It does not, or not always: that no end is there says nothing.
    #[default]
    Unrecorded,
    /// In what it answers when the model asks.
    Asked,
    /// Always: it tells the model without being asked.
    Announced,
}

/// What one record tells of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Update {
    /// The key of the entry or of the result that tells it.
    pub by: Key,
    /// When that was recorded.
    pub at: Option<Timestamp>,
    /// Who gets to see the record.
    pub carrier: Carrier,
    /// How the work ended; nothing if it goes on.
    pub end: Option<End>,
    /// Why it ended so, where that is said.
    pub reason: Option<Text>,
}

/// How work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// How that is to be judged.
    pub verdict: Verdict,
    /// The exit code of a command.
    pub exit: Option<i64>,
    /// When it ended, where that is recorded apart from the record's own time.
    pub at: Option<Timestamp>,
}

/// Who gets to see what is told of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Carrier {
    /// Nobody but the program: an event, a registry.
    Record,
    /// The same, and the program notes that the model was told: by what may stand elsewhere.
    Delivered,
    /// Nobody so far: it waits to be told to the model.
    Queue,
    /// The model: it is put into the conversation.
    Notice,
    /// The model, because it asked: the result of a call about the work.
    Poll,
}

impl Carrier {
    /// Whether the model gets to see it.
    pub(crate) fn is_seen(self) -> bool {
        matches!(self, Self::Delivered | Self::Notice | Self::Poll)
    }
}

/// What a record names of the work that it tells of. The id of the call goes first; an id of work may be given again,
/// and stands for the newest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The id of the call that began it.
    pub call: Option<Key>,
    /// The id of the work.
    pub handle: Option<Key>,
}

impl About {
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

/// One end of work, and all that tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending<'a> {
    verdict: Verdict,
    all: Vec<&'a Update>,
}

/// The end of work in the background, ready to print: `bash "cargo test" ended`, `exit 1`, `ran 5m01s`.
#[derive(Clone, Debug, PartialEq)]
pub struct EndLine {
    /// The tool: `bash`.
    pub tool: String,
    /// What its call was about.
    pub about: String,
    /// What became of it: `ended`.
    pub verb: &'static str,
    /// How it ended.
    pub verdict: Verdict,
    /// Its exit code, if it is not 0.
    pub exit: Option<String>,
    /// How long it took, and when the model was told.
    pub facts: Vec<String>,
    /// Whether that is worth a second look: late, or never.
    pub is_missed: bool,
}

impl EndLine {
    /// All of it, as its row says it.
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

impl<'a> Ending<'a> {
    fn is_end_of(&self, end: End, update: &Update) -> bool {
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

    /// How and when it was, by the first that tells it, and its exit code and its own time if any of them knows them.
    pub(crate) fn first(&self) -> Option<(End, &'a Update)> {
        let first = *self.all.first()?;
        let end = first.end?;
        let exit = self.all.iter().find_map(|update| update.end?.exit);
        let own = self.all.iter().filter_map(|update| update.end?.at).min();
        Some((
            End {
                exit,
                at: own.into_iter().chain(first.at).min(),
                ..end
            },
            first,
        ))
    }

    /// What first told the model.
    pub(crate) fn delivered(&self) -> Option<&'a Update> {
        let seen = || self.all.iter().copied().filter(|it| it.carrier.is_seen());
        seen()
            .find(|update| update.carrier != Carrier::Delivered)
            .or_else(|| seen().next())
    }

    /// What stands for all that tells it: what first told the model, if anything did.
    pub(crate) fn foremost(&self) -> Option<&'a Update> {
        self.delivered().or(self.all.first().copied())
    }

    /// What a record of this key tells of it. What the model got by asking stands with the call that asked.
    pub(crate) fn by(&self, key: &Key) -> Option<&'a Update> {
        self.all
            .iter()
            .copied()
            .find(|update| update.by == *key && update.carrier != Carrier::Poll)
    }
}

impl Update {
    fn stands_by_time(&self) -> bool {
        self.carrier == Carrier::Record && self.at.is_some()
    }

    /// Whether somebody who asked was told that it goes on, after an end of it. What the program noted for itself may not
    /// have reached who was asked.
    fn says_it_went_on_after(&self, end: &Self) -> bool {
        let on_its_way = if end.carrier == Carrier::Record {
            ON_ITS_WAY_MS
        } else {
            0
        };
        let times = self.at.zip(end.at);
        self.carrier == Carrier::Poll
            && times.is_some_and(|(at, ended)| at.0 > ended.0 + on_its_way)
    }

    /// Whether it tells that work that had ended was taken up again.
    fn takes_up(&self) -> bool {
        self.end.is_none() && matches!(self.carrier, Carrier::Record | Carrier::Delivered)
    }
}

impl End {
    /// Whether another end cannot be told of the same work.
    fn is_other(self, other: Self) -> bool {
        let codes = self.exit.zip(other.exit);
        self.verdict != other.verdict || codes.is_some_and(|(one, other)| one != other)
    }

    /// How work ended, by the word of the agent for how it stands and the exit code of a command; without a word it
    /// ended. Nothing if it goes on.
    pub(crate) fn by_word(word: Option<&str>, exit: Option<i64>) -> Option<Self> {
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

impl End {
    /// The same for work with several parts: it goes on while one of them does, and the worst of them counts.
    pub(crate) fn by_words(words: &[&str], exit: Option<i64>) -> Option<Self> {
        let mut ends = words.iter().map(|word| Self::by_word(Some(word), exit));
        let Some(mut worst) = ends.next() else {
            return Self::by_word(None, exit);
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
    /// What a result says that began work of this id.
    pub(crate) fn begun(handle: Key, ends: Ends) -> Self {
        Self {
            handle,
            ends,
            updates: Vec::new(),
        }
    }

    /// The ends that are told of it, each with what tells it. What was taken up again ends anew: a record says so, another
    /// end is told, or one is put into the queue after the model had notice of the one before.
    pub fn endings(&self) -> Vec<Ending<'_>> {
        let mut endings: Vec<Ending<'_>> = Vec::new();
        let mut is_again = false;
        for update in &self.updates {
            let Some(end) = update.end else {
                is_again |= update.takes_up();
                // A notice behind an end that does not say how the work stands tells the model of that.
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
                None => endings.push(Ending {
                    verdict: end.verdict,
                    all: vec![update],
                }),
            }
        }
        endings
    }

    /// How it ended, and who tells it first. The last end counts.
    pub fn completed(&self) -> Option<(End, &Update)> {
        self.endings().pop()?.first()
    }

    /// Two records of which one cannot be right: it ended, and then it went on or ended otherwise, though nothing tells
    /// that it was taken up again.
    pub(crate) fn contradiction(&self) -> Option<(&Update, &Update)> {
        let mut records: Vec<&Update> = self
            .updates
            .iter()
            .filter(|update| update.at.is_some())
            .collect();
        records.sort_by_key(|update| update.at);
        let mut ended: Option<(&Update, End)> = None;
        for update in records {
            match (update.end, ended) {
                (None, _) if update.takes_up() => ended = None,
                (None, Some((first, _))) if update.says_it_went_on_after(first) => {
                    return Some((first, update));
                }
                // What the model stopped may have ended by itself before that.
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

    /// Why it ended as it did, as the first says that knows.
    pub(crate) fn reason(&self) -> Option<&Text> {
        let last = self.endings().pop()?;
        last.all.iter().find_map(|update| update.reason.as_ref())
    }

    /// What first told the model of the end.
    pub fn delivered(&self) -> Option<&Update> {
        self.endings().pop()?.delivered()
    }

    /// Whether it is recorded what the model is told of it: where it is not, nothing that is missing says anything.
    pub(crate) fn is_reported(&self) -> bool {
        self.ends != Ends::Unrecorded || self.is_queued()
    }

    /// Whether its end was put into the queue of what is told to the model.
    pub(crate) fn is_queued(&self) -> bool {
        self.updates
            .iter()
            .any(|update| update.carrier == Carrier::Queue && update.end.is_some())
    }

    /// When the model asked how it stands.
    pub fn polls(&self) -> impl Iterator<Item = &Update> {
        self.updates
            .iter()
            .filter(|update| update.carrier == Carrier::Poll)
    }

    /// Where an update is inserted. What the program noted for itself may be in another file, so it stands by its time:
    /// before all others that are not earlier. The order does not depend on which file is read first.
    fn place_of(&self, update: &Update) -> usize {
        let is_after = |other: &Update, note: &Update| other.at >= note.at;
        let others_end = self
            .updates
            .iter()
            .rposition(|known| !known.stands_by_time())
            .map_or(0, |last| last + 1);
        if !update.stands_by_time() {
            let notes = self.updates.iter().skip(others_end);
            return others_end + notes.take_while(|note| is_after(update, note)).count();
        }
        let limit = self
            .updates
            .iter()
            .position(|known| !known.stands_by_time() && is_after(known, update))
            .unwrap_or(self.updates.len());
        let before = self.updates.iter().take(limit).rev();
        let later = before.take_while(|known| known.stands_by_time() && known.at > update.at);
        limit - later.count()
    }

    /// Takes in what a record tells. Whether that is news.
    pub(crate) fn take_in(&mut self, update: Update) -> bool {
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
