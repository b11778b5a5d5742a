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

    /// How it ended, and who tells it: of records that tell the same end the first, and its exit code if any of them
    /// knows it. What was taken up again ends anew: the last end counts.
    pub fn completed(&self) -> Option<(End, &Update)> {
        let ends = || self.updates.iter().filter_map(|update| Some((update.end?, update)));
        let (last, _) = ends().next_back()?;
        let same: Vec<(End, &Update)> =
            ends().rev().take_while(|(end, _)| end.verdict == last.verdict).collect();
        let (first, update) = *same.last()?;
        let exit = same.iter().rev().find_map(|(end, _)| end.exit);
        let at = first.at.or(update.at);
        Some((End { exit, at, ..first }, update))
    }

    /// What first told the model of the end.
    pub fn delivered(&self) -> Option<&Update> {
        let (end, _) = self.completed()?;
        let tells = |update: &&Update| update.end.is_some_and(|own| own.verdict == end.verdict);
        self.updates.iter().filter(tells).find(|update| update.carrier.is_seen())
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
