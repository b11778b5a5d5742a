//! How the model's window fills: every request of every lane with the size of its prompt and what
//! that consisted of, cache misses, and the effect of compactions.
//!
//! Tokens of prompts are recorded; their composition is estimated from the sizes of what the model
//! saw. What no entry explains is the system prompt and the tools, which most files do not record.
//!
//! Facts are extracted per entry; the rows of a lane are computed in one walk over these facts,
//! which returns to the entry from which a branch continues.

use std::collections::HashMap;

use crate::analysis::derived::{Derived, Facts, Out};
use crate::model::entry::{Entry, EntryId};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;

pub mod carried;
mod fact;
mod sent;
pub mod shares;
mod sweep;
pub mod weigh;

use super::cache_breaks::CacheBreak;
use super::seen::Cuts;
use fact::EntryFact;
use sweep::{WindowSweep, sweep};
use weigh::{ContextClass, Sizes};

/// A request of a lane, or a compaction between two requests.
#[derive(Clone, Debug, PartialEq)]
pub enum ContextRow {
    Request(Box<Request>),
    Compaction(Compaction),
}

/// A request that records its prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub(crate) entry: EntryId,
    /// When it was written.
    pub(crate) at: Option<Timestamp>,
    /// Tokens of the prompt.
    pub(crate) prompt: u64,
    /// Tokens read from the cache, if recorded.
    pub(crate) read: Option<u64>,
    /// Tokens written to the cache, if recorded.
    pub(crate) write: Option<u64>,
    /// Tokens of the answer, if recorded.
    pub(crate) output: Option<u64>,
    /// Size of the window in tokens, recorded or known from the model's name.
    pub(crate) limit: Option<u64>,
    /// What the model saw, in bytes by class.
    pub(crate) sizes: Sizes,
    /// Prompt tokens of the previous request on its path, unless a compaction stands between.
    pub(crate) before: Option<u64>,
    /// The largest addition since then.
    pub(crate) grown: Option<Grown>,
    pub(crate) cache_break: Option<Box<CacheBreak>>,
    /// The compaction since the previous request.
    pub(crate) compacted: Option<EntryId>,
    /// Whether it is the first request of its turn.
    pub(crate) opens_turn: bool,
    /// Whether it wrote the summary of a compaction. Such a request has instructions of its own, so
    /// its cache is not judged.
    pub(crate) is_summary: bool,
}

/// An addition to the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grown {
    pub(crate) entry: EntryId,
    /// Index of the block in it.
    pub(crate) block: usize,
    pub(crate) class: ContextClass,
    pub(crate) bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compaction {
    pub(crate) entry: EntryId,
    pub(crate) before: Option<TokenCount>,
    pub(crate) after: Option<TokenCount>,
    /// Whether only outputs of tools were dropped.
    pub(crate) is_partial: bool,
}

/// A number of tokens, recorded by the agent or taken from the prompt of the nearest request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenCount {
    pub(crate) tokens: u64,
    pub(crate) is_recorded: bool,
}

impl ContextRow {
    pub(crate) fn entry(&self) -> EntryId {
        match self {
            Self::Request(request) => request.entry,
            Self::Compaction(compaction) => compaction.entry,
        }
    }

    /// The request, unless the row is a compaction.
    pub(crate) fn request(&self) -> Option<&Request> {
        match self {
            Self::Request(request) => Some(request),
            Self::Compaction(_) => None,
        }
    }
}

/// Sums over the requests of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RequestSums {
    pub(crate) requests: usize,
    /// Prompt tokens of all requests that report the cache.
    pub(crate) prompts: u64,
    /// Tokens of them that were read from the cache.
    pub(crate) read: u64,
    /// Prompt tokens of the first requests of turns, except for the very first turn.
    pub(crate) first_prompts: u64,
    /// Tokens of them that were read from the cache.
    pub(crate) first_read: u64,
    pub(crate) breaks: usize,
    /// Extra cost of the misses in USD.
    pub(crate) usd: f64,
    /// Misses without a price.
    pub(crate) unpriced: usize,
    /// Tokens of the largest prompt.
    pub(crate) largest: u64,
    /// The window of that request.
    pub(crate) limit: Option<u64>,
    /// Compactions, except for those that only dropped outputs of tools.
    pub(crate) compactions: usize,
}

/// The requests of all lanes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Windows {
    pub(crate) cuts: Cuts,
    /// Lanes in the order of their first entries; `None` is the main lane.
    lanes: Vec<Option<Name>>,
    tracks: HashMap<Option<Name>, LaneRequests>,
    /// Whether there are compactions whose summary is requested within the session.
    asks_for_summaries: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct LaneRequests {
    rows: Vec<ContextRow>,
    /// Position of the entry of each row.
    places: Vec<usize>,
    sums: RequestSums,
    /// Growth of its prompts, in bytes and tokens.
    growth: (u64, u64),
}

impl Derived for Windows {
    type Row = EntryFact;
    type Reads = ();

    fn rows(
        transcript: &Transcript,
        (_, entry): (EntryId, &Entry),
        _before: &[EntryFact],
        out: &mut Out<'_, EntryFact>,
    ) {
        if let Some(shown) = EntryFact::of(transcript, entry) {
            out.push(shown);
        }
    }

    fn of(transcript: &Transcript, facts: &Facts<EntryFact>, _reads: &()) -> Self {
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
        let mut session = WindowSweep {
            transcript,
            facts,
            asks_for_summaries,
            windows: HashMap::new(),
            sent: None,
        };
        for (lane, ids) in ids {
            windows
                .tracks
                .insert(lane.cloned(), sweep(&mut session, &ids));
        }
        windows.asks_for_summaries = asks_for_summaries;
        windows
    }
}

impl Windows {
    /// Lanes with requests, in the order of their first entries; `None` is the main lane.
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

    pub(crate) fn sums(&self, lane: Option<&Name>) -> RequestSums {
        self.track(lane).map(|track| track.sums).unwrap_or_default()
    }

    /// Bytes per token of a lane's texts, as far as its requests show.
    pub(crate) fn density(&self, lane: Option<&Name>) -> f64 {
        self.track(lane).map_or(shares::USUAL, |track| {
            shares::density(track.growth.0, track.growth.1)
        })
    }

    /// The lane of an entry, and the index of its row: its own, else the last one before it, else
    /// the first one.
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

    fn track(&self, lane: Option<&Name>) -> Option<&LaneRequests> {
        self.tracks.get(&lane.cloned())
    }
}

#[cfg(test)]
mod tests;
