//! Work that goes on after the result of its call: a command in the background, a sub-agent that reports later, a
//! session that yields and is asked again. The result only acknowledges that it began ([`Work`]); how it went on is
//! told by other records ([`Update`]), some of which the model got to see and some not.

use serde::{Deserialize, Serialize};

use super::Verdict;
use crate::model::body::Key;
use crate::model::timestamp::Timestamp;

/// So many records about the same work are kept, and after them its last end: nobody asks so often.
const MOST_UPDATES: usize = 1_000;

/// What a result acknowledges.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The agent's id of the work; empty if it gave none.
    pub handle: Key,
    /// What was told of it, in the order of the records.
    pub updates: Vec<Update>,
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
        matches!(self, Self::Notice | Self::Poll)
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

impl<'a> Ending<'a> {
    fn is_end_of(&self, end: End, update: &Update) -> bool {
        let noticed = || self.all.iter().filter(|known| known.carrier == Carrier::Notice);
        let is_later =
            || noticed().any(|known| known.at.zip(update.at).is_some_and(|(known, at)| known < at));
        end.verdict == self.verdict && !(update.carrier == Carrier::Queue && is_later())
    }

    /// How and when it was, by the first that tells it, and its exit code if any of them knows it.
    pub(crate) fn first(&self) -> Option<(End, &'a Update)> {
        let first = *self.all.first()?;
        let end = first.end?;
        let exit = self.all.iter().find_map(|update| update.end?.exit);
        Some((End { exit, at: end.at.or(first.at), ..end }, first))
    }

    /// What first told the model.
    pub(crate) fn delivered(&self) -> Option<&'a Update> {
        self.all.iter().copied().find(|update| update.carrier.is_seen())
    }

    /// What stands for all that tells it: what first told the model, if anything did.
    pub(crate) fn foremost(&self) -> Option<&'a Update> {
        self.delivered().or(self.all.first().copied())
    }

    /// What a record of this key tells of it. What the model got by asking stands with the call that asked.
    pub(crate) fn by(&self, key: &Key) -> Option<&'a Update> {
        self.all.iter().copied().find(|update| update.by == *key && update.carrier != Carrier::Poll)
    }
}

impl End {
    /// How work ended, by the word of the agent for how it stands and the exit code of a command; without a word it
    /// ended. Nothing if it goes on.
    pub(crate) fn by_word(word: Option<&str>, exit: Option<i64>) -> Option<Self> {
        let verdict = match word.unwrap_or("completed").to_ascii_lowercase().as_str() {
            "completed" | "complete" | "done" | "exited" | "finished" | "success" | "succeeded" => {
                if exit.is_some_and(|code| code != 0) { Verdict::Failed } else { Verdict::Done }
            }
            "failed" | "error" | "errored" => Verdict::Failed,
            "stopped" | "killed" | "cancelled" | "canceled" | "interrupted" | "timed_out" | "lost"
            | "terminated" => Verdict::Stopped,
            _ => return None,
        };
        Some(Self { verdict, exit, at: None })
    }
}

impl Work {
    /// What a result says that began work of this id.
    pub(crate) fn begun(handle: Key) -> Self {
        Self { handle, updates: Vec::new() }
    }

    /// The ends that are told of it, each with what tells it. What was taken up again ends anew: then another end is
    /// told, or one is put into the queue after the model had notice of the one before.
    pub fn endings(&self) -> Vec<Ending<'_>> {
        let mut endings: Vec<Ending<'_>> = Vec::new();
        for update in &self.updates {
            let Some(end) = update.end else { continue };
            match endings.last_mut().filter(|ending| ending.is_end_of(end, update)) {
                Some(ending) => ending.all.push(update),
                None => endings.push(Ending { verdict: end.verdict, all: vec![update] }),
            }
        }
        endings
    }

    /// How it ended, and who tells it first. The last end counts.
    pub fn completed(&self) -> Option<(End, &Update)> {
        self.endings().pop()?.first()
    }

    /// What first told the model of the end.
    pub fn delivered(&self) -> Option<&Update> {
        self.endings().pop()?.delivered()
    }

    /// When the model asked how it stands.
    pub fn polls(&self) -> impl Iterator<Item = &Update> {
        self.updates.iter().filter(|update| update.carrier == Carrier::Poll)
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
                self.updates.push(update);
            }
        }
        true
    }
}
