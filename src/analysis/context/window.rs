//! How the model's window fills: every request of every lane with the size of its prompt, what that was made
//! of, where the cache was missed, and what compactions changed.
//!
//! Tokens of prompts are recorded; what they were made of is estimated from the sizes of what the model saw
//! by then. What no entry explains is the system prompt and the tools, which most files do not hold.
//!
//! What an entry has to do with it is a fact of that entry; the rows of a lane are found in one walk over these facts,
//! which goes back to where a branch goes on from.

use std::collections::HashMap;

use crate::analysis::derived::{Derived, Facts, Out};
use crate::model::entry::EntryId;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;

mod fact;
pub mod shares;
mod sweep;
pub(crate) mod weigh;

use super::cache_breaks::CacheBreak;
use super::seen::Cuts;
use fact::Shown;
use sweep::{Session, sweep};
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
    pub(crate) cache_break: Option<Box<CacheBreak>>,
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Windows {
    pub(crate) cuts: Cuts,
    /// Lanes in the order of their first entries; `None` is the main one.
    lanes: Vec<Option<Name>>,
    tracks: HashMap<Option<Name>, Track>,
}

/// The requests of a lane.
#[derive(Clone, Debug, Default, PartialEq)]
struct Track {
    rows: Vec<ContextRow>,
    /// The place of the entry of each row in the order.
    places: Vec<usize>,
    sums: Sums,
    /// Growth of its prompts, in bytes and tokens.
    growth: (u64, u64),
}

impl Derived for Windows {
    type Row = Shown;
    type Reads = ();

    fn rows(transcript: &Transcript, id: EntryId, _before: &[Shown], out: &mut Out<'_, Shown>) {
        if let Some(shown) = Shown::of(transcript, id) {
            out.push(shown);
        }
    }

    fn of(transcript: &Transcript, facts: &Facts<Shown>, _reads: &()) -> Self {
        let mut windows = Self::default();
        let mut asks_for_summaries = false;
        let mut ids: HashMap<Option<&Name>, Vec<EntryId>> = HashMap::new();
        for (place, id, rows) in facts.in_order(transcript) {
            let lane = transcript.lane_at(id);
            let ids = ids.entry(lane).or_default();
            if ids.is_empty() {
                windows.lanes.push(lane.cloned());
            }
            ids.push(id);
            if let Some(shown) = rows.first().filter(|shown| shown.is_compaction) {
                windows.cuts.add(lane, place, id);
                asks_for_summaries |= !shown.says;
            }
        }
        let mut session = Session {
            transcript,
            facts,
            asks_for_summaries,
            windows: HashMap::new(),
        };
        for (lane, ids) in ids {
            windows
                .tracks
                .insert(lane.cloned(), sweep(&mut session, &ids));
        }
        windows
    }
}

impl Windows {
    /// Lanes with requests, in the order of their first entries; `None` is the main one.
    pub(crate) fn lanes(&self) -> impl Iterator<Item = Option<&Name>> {
        self.lanes
            .iter()
            .map(Option::as_ref)
            .filter(|lane| self.sums(*lane).requests > 0)
    }

    /// Requests and compactions of a lane, in the order of the file.
    pub(crate) fn rows(&self, lane: Option<&Name>) -> &[ContextRow] {
        self.track(lane)
            .map(|track| track.rows.as_slice())
            .unwrap_or_default()
    }

    /// What is true of all requests of a lane.
    pub(crate) fn sums(&self, lane: Option<&Name>) -> Sums {
        self.track(lane).map(|track| track.sums).unwrap_or_default()
    }

    /// Bytes of a lane's texts that made a token, as far as its requests show.
    pub(crate) fn density(&self, lane: Option<&Name>) -> f64 {
        self.track(lane).map_or(shares::USUAL, |track| {
            shares::density(track.growth.0, track.growth.1)
        })
    }

    /// The lane of an entry, and the number of the row that holds it: its own, else the last one before it, else the
    /// first.
    pub(crate) fn row_at<'t>(
        &self,
        transcript: &'t Transcript,
        id: EntryId,
    ) -> Option<(Option<&'t Name>, usize)> {
        let (lane, place) = (transcript.lane_at(id), transcript.place_of(id)?);
        let track = self.track(lane)?;
        let row = track
            .places
            .partition_point(|at| *at <= place)
            .saturating_sub(1);
        (row < track.rows.len()).then_some((lane, row))
    }

    fn track(&self, lane: Option<&Name>) -> Option<&Track> {
        self.tracks.get(&lane.cloned())
    }
}

#[cfg(test)]
mod tests;
