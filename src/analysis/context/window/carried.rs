//! What it cost to carry each part of the context: a result is paid for with every request that it
//! was sent with, until a compaction drops it or its branch is left.
//!
//! Assumptions: what came between two requests has as many tokens as the prompt grew by, divided by
//! size; where that is not credible, a part has as many as its size suggests, at the bytes per token
//! that the prompts of its lane show. What no entry explains (the system prompt and the tools) stands first
//! in a prompt, then the parts in their order; the tokens that were read from the cache are the
//! first ones. A recorded cost is divided between prompt and answer as list prices would.
//!
//! Invariant: what all parts cost, what the rest of the prompts cost, and what the answers cost, add
//! up to the cost of all requests.

use std::collections::HashMap;
use std::hash::Hash;

use super::fact::EntryFact;
use super::sent::SentParts;
use super::sweep::{WindowSweep, sweep};
use super::weigh::ContextClass;
use super::{ContextRow, Windows};
use crate::analysis::calls::Place;
use crate::analysis::derived::{Derived, Facts, Memo, Out};
use crate::model::entry::{Entry, EntryId};
use crate::model::text::Name;
use crate::model::transcript::Transcript;

/// What a result cost to carry.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Carriage {
    /// Its size in tokens, estimated.
    pub tokens: u64,
    /// Requests that it was sent with.
    pub requests: u32,
    /// Its tokens in all of them.
    pub carried: u64,
    /// Their cost in pico-dollars.
    pub picos: i128,
    /// Whether no request that it was sent with has a price.
    pub is_unpriced: bool,
}

impl Carriage {
    fn with(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            requests: self.requests.saturating_add(other.requests),
            carried: self.carried.saturating_add(other.carried),
            picos: self.picos + other.picos,
            is_unpriced: self.is_unpriced && other.is_unpriced,
        }
    }
}

/// The cost of all requests, by what was sent and answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Carried {
    /// By the call, or by the result without a call.
    results: HashMap<Place, Carriage>,
    /// Pico-dollars by class, in the order of the classes.
    classes: [i128; ContextClass::ALL.len()],
    /// Pico-dollars of what no entry explains: the system prompt and the tools, as far as the file
    /// does not record them.
    pub unexplained: i128,
    /// Pico-dollars of answers.
    pub answers: i128,
}

impl Derived for Carried {
    type Row = ();
    type Reads = Memo<Windows>;

    fn rows(_: &Transcript, _: (EntryId, &Entry), _: &[()], _: &mut Out<'_, ()>) {}

    fn of(transcript: &Transcript, _: &Facts<()>, windows: &Memo<Windows>) -> Self {
        let mut ids: HashMap<Option<&Name>, Vec<EntryId>> = HashMap::new();
        for (_, id, _) in windows.facts.in_order(transcript) {
            ids.entry(transcript.lane_at(id)).or_default().push(id);
        }
        let mut carried = Self::default();
        // In the order of lanes, because sums of floats depend on the order.
        for lane in windows.lanes() {
            let mut session = WindowSweep {
                transcript,
                facts: &windows.facts,
                asks_for_summaries: windows.asks_for_summaries,
                windows: HashMap::new(),
                sent: Some(SentParts::new(windows.density(lane))),
            };
            let track = sweep(&mut session, ids.get(&lane).map_or(&[], Vec::as_slice));
            if let Some(sent) = session.sent {
                carried.add(sent, &track.rows, &windows.facts);
            }
        }
        carried
    }
}

impl Carried {
    /// Whether no result was sent.
    pub(crate) fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// What the result of a call cost to carry; `None` if it was not sent.
    pub fn of_call(&self, place: Place) -> Option<&Carriage> {
        self.results.get(&place)
    }

    /// In no particular order.
    pub fn results(&self) -> impl Iterator<Item = (Place, Carriage)> {
        self.results.iter().map(|(place, one)| (*place, *one))
    }

    /// All classes with their pico-dollars.
    pub fn classes(&self) -> impl Iterator<Item = (ContextClass, i128)> {
        ContextClass::ALL.into_iter().zip(self.classes)
    }

    /// Pico-dollars of all requests.
    pub fn total(&self) -> i128 {
        self.classes.iter().sum::<i128>() + self.unexplained + self.answers
    }

    /// The sum over some calls; `None` if none of their results was sent.
    pub(crate) fn sum(&self, calls: impl Iterator<Item = Place>) -> Option<Carriage> {
        let known = calls.filter_map(|place| self.of_call(place).copied());
        known.reduce(Carriage::with)
    }

    /// The sums over results by what `of` says of each.
    pub(crate) fn sums<K: Eq + Hash>(
        &self,
        of: impl Fn(Place) -> Option<K>,
    ) -> HashMap<K, Carriage> {
        let mut sums: HashMap<K, Carriage> = HashMap::new();
        for (place, one) in self.results() {
            if let Some(key) = of(place) {
                let sum = sums.entry(key);
                sum.and_modify(|sum| *sum = sum.with(one)).or_insert(one);
            }
        }
        sums
    }

    /// Calls whose results cost much more to carry than the average; at least the dearest.
    pub(crate) fn expensive(&self) -> impl Iterator<Item = Place> {
        let highest = self
            .results
            .values()
            .map(|one| one.picos)
            .max()
            .unwrap_or(0);
        let sum: i128 = self.results.values().map(|one| one.picos).sum();
        let average = sum / (self.results.len().max(1) as i128);
        let bound = (average * DEAR).min(highest).max(1);
        let dear = self.results.iter();
        dear.filter(move |(_, one)| one.picos >= bound)
            .map(|(place, _)| *place)
    }

    /// Adds the requests of a lane.
    fn add(&mut self, sent: SentParts, rows: &[ContextRow], facts: &Facts<EntryFact>) {
        let requests = rows.iter().filter_map(ContextRow::request);
        let paid = requests.filter_map(|row| {
            let shown = facts.get(row.entry).first()?;
            Some(shown.request.as_ref()?.paid)
        });
        let (mut all, mut prompts) = (0, 0.0);
        for paid in paid {
            all += paid.all;
            prompts += paid.cached + paid.uncached;
        }
        let prompts = round(prompts).clamp(all.min(0), all.max(0));
        let mut explained = 0;
        for (part, tokens, one) in sent.sums() {
            let picos = round(one.picos);
            explained += picos;
            if let Some(sum) = self.classes.get_mut(part.class as usize) {
                *sum += picos;
            }
            if part.class != ContextClass::Result {
                continue;
            }
            let place = Place {
                entry: part.entry,
                block: part.block as usize,
            };
            let known = self.results.entry(place).or_insert(Carriage {
                tokens: round_tokens(tokens),
                is_unpriced: true,
                ..Carriage::default()
            });
            known.requests = known.requests.saturating_add(one.requests);
            known.carried = known.carried.saturating_add(round_tokens(one.tokens));
            known.picos += picos;
            known.is_unpriced &= one.requests > 0 && picos == 0;
        }
        self.answers += all - prompts;
        self.unexplained += prompts - explained;
    }
}

/// The least cost of a dear result, as a multiple of the average.
const DEAR: i128 = 4;

#[expect(clippy::cast_possible_truncation, reason = "float casts saturate")]
fn round(picos: f64) -> i128 {
    picos.round() as i128
}

fn round_tokens(tokens: f64) -> u64 {
    u64::try_from(round(tokens)).unwrap_or(0)
}
