//! How the model's window fills: every request of every lane with the size of its prompt, what that was made
//! of, where the cache was missed, and what compactions changed.
//!
//! Tokens of prompts are recorded; what they were made of is estimated from the sizes of what the model saw
//! by then. What no entry explains is the system prompt and the tools, which most files do not hold.
//!
//! Invariant: what grows with a session is what is found in the whole. An entry that changes costs what
//! stands behind it in its lane.

use std::collections::HashMap;

use crate::analysis::index::Index;
use crate::analysis::index::places::Places;
use crate::model::entry::EntryId;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;

pub mod shares;
mod sweep;
mod track;
pub(crate) mod weigh;

use super::cache_breaks::CacheBreak;
use super::seen::Cuts;
use track::Track;
use weigh::{Class, Sizes};

/// A request of a lane, or a compaction between two of them.
#[derive(Clone, Debug, PartialEq)]
pub enum ContextRow {
    /// A request.
    Request(Box<Request>),
    /// A compaction.
    Compaction(Compaction),
}

/// A request that records its prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The answer.
    pub(crate) entry: EntryId,
    /// When it was written.
    pub(crate) at: Option<Timestamp>,
    /// Tokens of the prompt.
    pub(crate) prompt: u64,
    /// Those that were read from the cache, if that is recorded.
    pub(crate) read: Option<u64>,
    /// Those that were written to the cache, if that is recorded.
    pub(crate) write: Option<u64>,
    /// Tokens of the answer, if they are recorded.
    pub(crate) output: Option<u64>,
    /// Size of the model's window in tokens, recorded or known from its name.
    pub(crate) limit: Option<u64>,
    /// What the model saw, in bytes by class.
    pub(crate) sizes: Sizes,
    /// Tokens of the prompt of the request before it on its path, unless a compaction stands between.
    pub(crate) before: Option<u64>,
    /// The largest of what was added since then.
    pub(crate) grown: Option<Grown>,
    /// The missed cache.
    pub(crate) cache_break: Option<CacheBreak>,
    /// The compaction since the request before.
    pub(crate) compacted: Option<EntryId>,
    /// Whether it is the first of its turn.
    pub(crate) opens_turn: bool,
    /// Whether it wrote the summary of a compaction: it is asked for with instructions of its own, so its
    /// cache is not judged.
    pub(crate) is_summary: bool,
}

/// Something that was added to the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grown {
    /// The entry that holds it.
    pub(crate) entry: EntryId,
    /// The block.
    pub(crate) block: usize,
    /// What it is.
    pub(crate) class: Class,
    /// Its size in bytes.
    pub(crate) bytes: u64,
}

/// A compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compaction {
    /// Its entry.
    pub(crate) entry: EntryId,
    /// Tokens before it.
    pub(crate) before: Option<TokenCount>,
    /// Tokens after it.
    pub(crate) after: Option<TokenCount>,
    /// Whether only outputs of tools were dropped.
    pub(crate) is_partial: bool,
}

/// A figure, and whether the agent recorded it. Else it is the prompt of the request beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenCount {
    /// Tokens.
    pub(crate) tokens: u64,
    /// Whether the agent recorded it.
    pub(crate) is_recorded: bool,
}

impl ContextRow {
    /// The entry that it stands for.
    pub(crate) fn entry(&self) -> EntryId {
        match self {
            Self::Request(request) => request.entry,
            Self::Compaction(compaction) => compaction.entry,
        }
    }

    /// The request.
    pub(crate) fn request(&self) -> Option<&Request> {
        match self {
            Self::Request(request) => Some(request),
            Self::Compaction(_) => None,
        }
    }
}

/// What is true of all requests of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// Requests.
    pub(crate) requests: usize,
    /// Tokens of all prompts whose requests report the cache.
    pub(crate) prompts: u64,
    /// Those of them that were read from the cache.
    pub(crate) read: u64,
    /// The same for the first requests of turns, but for the very first.
    pub(crate) first_prompts: u64,
    /// Those of them that were read from the cache.
    pub(crate) first_read: u64,
    /// Missed caches.
    pub(crate) breaks: usize,
    /// Their price in USD.
    pub(crate) usd: f64,
    /// How many of them have no price.
    pub(crate) unpriced: usize,
    /// The largest prompt.
    pub(crate) largest: u64,
    /// The window that it had.
    pub(crate) limit: Option<u64>,
    /// Compactions, without those that dropped only outputs of tools.
    pub(crate) compactions: usize,
}

/// The requests of all lanes.
#[derive(Clone, Debug, Default)]
pub struct Windows {
    branches: u32,
    cuts: Cuts,
    places: Places,
    numbers: HashMap<Option<Name>, usize>,
    tracks: Vec<Track>,
    /// Whether rows have changed.
    has_news: bool,
}

impl Index for Windows {
    type Reads = ();

    fn add(&mut self, transcript: &Transcript, place: usize, id: EntryId) {
        self.branches = transcript.branches_changed();
        self.cuts.add(transcript, place, id);
        let lane = transcript.lane_at(id).cloned();
        let number = *self.numbers.entry(lane.clone()).or_insert(self.tracks.len());
        if number == self.tracks.len() {
            self.tracks.push(Track::new(lane));
        }
        if let Some(track) = self.tracks.get_mut(number) {
            self.places.insert(id, number, track.len());
            track.push(id);
        }
    }

    fn change(&mut self, transcript: &Transcript, place: usize, id: EntryId) -> bool {
        self.cuts.change(transcript, place, id);
        let Some((number, place)) = self.places.get(id) else { return true };
        let Some(track) = self.tracks.get_mut(number) else { return true };
        track.roll_back(place);
        track.lane() == transcript.lane_at(id)
    }

    fn begins_again(&self, transcript: &Transcript) -> bool {
        self.branches != transcript.branches_changed()
    }

    fn settle(&mut self, transcript: &Transcript, _reads: &(), _most: usize) -> bool {
        for track in &mut self.tracks {
            self.has_news |= track.settle(transcript);
        }
        true
    }

    fn has_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }
}

impl Windows {
    /// Where compactions stand.
    pub(crate) fn cuts(&self) -> &Cuts {
        &self.cuts
    }

    /// Lanes with requests, in the order of their first entries; `None` is the main one.
    pub(crate) fn lanes(&self) -> impl Iterator<Item = Option<&Name>> {
        self.tracks.iter().filter(|track| track.sums().requests > 0).map(Track::lane)
    }

    /// Requests and compactions of a lane, in the order of the file.
    pub(crate) fn rows(&self, lane: Option<&Name>) -> &[ContextRow] {
        self.track(lane).map(Track::rows).unwrap_or_default()
    }

    /// What is true of all requests of a lane.
    pub(crate) fn sums(&self, lane: Option<&Name>) -> Sums {
        self.track(lane).map(Track::sums).unwrap_or_default()
    }

    /// Bytes of a lane's texts that made a token, as far as its requests show.
    pub(crate) fn density(&self, lane: Option<&Name>) -> f64 {
        self.track(lane).map_or(shares::USUAL, Track::density)
    }

    /// The number of the row that holds an entry: its own, else the last one before it.
    pub(crate) fn row_at(&self, id: EntryId) -> Option<(Option<&Name>, usize)> {
        let (number, place) = self.places.get(id)?;
        let track = self.tracks.get(number)?;
        Some((track.lane(), track.row_at(place)?))
    }

    fn track(&self, lane: Option<&Name>) -> Option<&Track> {
        self.tracks.get(*self.numbers.get(&lane.cloned())?)
    }
}

#[cfg(test)]
mod tests;
