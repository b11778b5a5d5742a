//! What it cost to carry each part of the context: a result is paid for with every request that it
//! was sent with, until a compaction drops it or its branch is left.
//!
//! Assumptions: what came between two requests has as many tokens as the prompt grew by, divided by
//! size; where that is not credible, a part has as many as its size suggests, at the bytes per token
//! that the prompts of its lane show. What no entry explains (the system prompt and the tools) stands first
//! in a prompt, then the parts in their order; the tokens that were read from the cache are the
//! first ones. A recorded cost is divided between prompt and answer as list prices would.
//!
//! Parts form a tree, in which a branch goes on from the part where it was left. A request pays for
//! all parts from its last one up to the root, so that its cost is added at one or two parts, and
//! that of a part is the sum over all that follow it.
//!
//! Invariant: what all parts cost, what the rest of the prompts cost, and what the answers cost, add
//! up to the cost of all requests.

use std::collections::HashMap;
use std::hash::Hash;

use super::fact::{Part, Prompted, Shown};
use super::sweep::{Session, sweep};
use super::weigh::Class;
use super::{ContextRow, Windows};
use crate::analysis::calls::Place;
use crate::analysis::derived::{Derived, Facts, Memo, Out};
use crate::model::edit::saturating_u32;
use crate::model::entry::EntryId;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
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
    classes: [i128; Class::ALL.len()],
    /// Pico-dollars of what no entry explains: the system prompt and the tools, as far as the file
    /// does not record them.
    pub unexplained: i128,
    /// Pico-dollars of answers.
    pub answers: i128,
}

impl Derived for Carried {
    type Row = ();
    type Reads = Memo<Windows>;

    fn rows(_: &Transcript, _: EntryId, _: &[()], _: &mut Out<'_, ()>) {}

    fn of(transcript: &Transcript, _: &Facts<()>, windows: &Memo<Windows>) -> Self {
        let mut ids: HashMap<Option<&Name>, Vec<EntryId>> = HashMap::new();
        for (_, id, _) in windows.facts.in_order(transcript) {
            ids.entry(transcript.lane_at(id)).or_default().push(id);
        }
        let mut carried = Self::default();
        // In the order of lanes, because sums of floats depend on the order.
        for lane in windows.lanes() {
            let mut session = Session {
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

    /// All results, unsorted.
    pub fn results(&self) -> impl Iterator<Item = (Place, Carriage)> {
        self.results.iter().map(|(place, one)| (*place, *one))
    }

    /// All classes with their pico-dollars.
    pub fn classes(&self) -> impl Iterator<Item = (Class, i128)> {
        Class::ALL.into_iter().zip(self.classes)
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
    pub(crate) fn dear(&self) -> impl Iterator<Item = Place> {
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
    fn add(&mut self, sent: SentParts, rows: &[ContextRow], facts: &Facts<Shown>) {
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
        let prompts = whole(prompts).clamp(all.min(0), all.max(0));
        let mut explained = 0;
        for (part, tokens, one) in sent.sums() {
            let picos = whole(one.picos);
            explained += picos;
            if let Some(sum) = self.classes.get_mut(part.class as usize) {
                *sum += picos;
            }
            if part.class != Class::Result {
                continue;
            }
            let place = Place {
                entry: part.entry,
                block: part.block as usize,
            };
            let known = self.results.entry(place).or_insert(Carriage {
                tokens: whole_tokens(tokens),
                is_unpriced: true,
                ..Carriage::default()
            });
            known.requests = known.requests.saturating_add(one.requests);
            known.carried = known.carried.saturating_add(whole_tokens(one.tokens));
            known.picos += picos;
            known.is_unpriced &= one.requests > 0 && picos == 0;
        }
        self.answers += all - prompts;
        self.unexplained += prompts - explained;
    }
}

/// The least cost of a dear result, as a multiple of the average.
const DEAR: i128 = 4;

/// Least and greatest bytes per token of what came between two requests that are believed: a prompt
/// may also grow by what the file does not record, and lose what the agent drops.
const CREDIBLE: (f64, f64) = (1.5, 8.0);

/// A place in the context: the index of its last part, 0 if it is empty.
pub(super) type Tip = u32;

/// All parts of a lane that were sent, as a tree: the first one is its root, which is no part.
pub(super) struct SentParts {
    nodes: Vec<Node>,
    /// Bytes per token.
    density: f64,
}

/// A part at a place of the context.
#[derive(Clone, Copy)]
struct SentPart {
    entry: EntryId,
    block: u32,
    class: Class,
    until: Option<Timestamp>,
}

struct Node {
    /// `None` for the root.
    part: Option<SentPart>,
    above: Tip,
    /// A node further up: the search for one at a given size takes logarithmic time.
    far: Tip,
    depth: u32,
    /// Its tokens, and those of all parts down to it.
    tokens: f64,
    size: f64,
    /// What requests pay for each token of this part and of all above it.
    each: Payment,
    /// What requests pay besides for the part itself.
    own: f64,
}

/// A sum over requests.
#[derive(Clone, Copy, Default)]
struct Payment {
    requests: u32,
    tokens: f64,
    picos: f64,
}

impl SentParts {
    pub(super) fn new(density: f64) -> Self {
        let root = Node {
            part: None,
            above: 0,
            far: 0,
            depth: 0,
            tokens: 0.0,
            size: 0.0,
            each: Payment::default(),
            own: 0.0,
        };
        Self {
            nodes: vec![root],
            density,
        }
    }

    fn node(&self, tip: Tip) -> Option<&Node> {
        self.nodes.get(tip as usize)
    }

    /// Adds a part after the last one.
    pub(super) fn push(
        &mut self,
        after: Tip,
        entry: EntryId,
        part: Part,
        until: Option<Timestamp>,
    ) -> Tip {
        let tokens = f64::from(part.bytes) / self.density;
        let part = SentPart {
            entry,
            block: part.block,
            class: part.class,
            until,
        };
        self.push_part(after, part, tokens)
    }

    fn push_part(&mut self, after: Tip, part: SentPart, tokens: f64) -> Tip {
        let Some(above) = self.node(after) else {
            return after;
        };
        let depth = |tip: Tip| self.node(tip).map_or(0, |node| node.depth);
        let (near, further) = (above.far, self.node(above.far).map_or(0, |node| node.far));
        let is_same_step = above.depth - depth(near) == depth(near) - depth(further);
        let node = Node {
            part: Some(part),
            above: after,
            far: if is_same_step { further } else { after },
            depth: above.depth + 1,
            tokens,
            size: above.size + tokens,
            each: Payment::default(),
            own: 0.0,
        };
        self.nodes.push(node);
        saturating_u32(self.nodes.len() - 1)
    }

    /// The same parts without those that are dropped by now.
    pub(super) fn without_dropped(&mut self, tip: Tip, now: Timestamp) -> Tip {
        let mut parts = Vec::new();
        let mut at = tip;
        while let Some(node) = self.node(at)
            && let Some(part) = node.part
        {
            parts.push((part, node.tokens));
            at = node.above;
        }
        let stays = |(part, _): &(SentPart, f64)| part.until.is_none_or(|until| until > now);
        let stays = parts.into_iter().rev().filter(stays);
        stays.fold(0, |tip, (part, tokens)| self.push_part(tip, part, tokens))
    }

    /// Sets the tokens of the parts that came after one to what the prompt grew by, if that is
    /// credible.
    pub(super) fn measure(&mut self, before: Tip, tip: Tip, grown: u64) {
        let mut new = Vec::new();
        let mut at = tip;
        // A part is above those that were added after it.
        while at > before {
            new.push(at);
            at = self.node(at).map_or(0, |node| node.above);
        }
        if at != before {
            return;
        }
        let size = |tip: Tip| self.node(tip).map_or(0.0, |node| node.size);
        let factor = grown as f64 / (size(tip) - size(before));
        let bytes = self.density / factor;
        if !(CREDIBLE.0..=CREDIBLE.1).contains(&bytes) {
            return;
        }
        let mut size = size(before);
        for tip in new.into_iter().rev() {
            if let Some(node) = self.nodes.get_mut(tip as usize) {
                node.tokens *= factor;
                size += node.tokens;
                node.size = size;
            }
        }
    }

    /// Adds a request with all parts up to this one.
    pub(super) fn ask(&mut self, tip: Tip, request: &Prompted) {
        let (seen, paid) = (request.seen, request.paid);
        let size = self.node(tip).map_or(0.0, |node| node.size);
        if size <= 0.0 {
            return;
        }
        let prompt = seen.prompt() as f64;
        let read = seen.cache_read.unwrap_or(0) as f64;
        // Where the sizes suggest more than was sent, they are scaled down to it.
        let share = (prompt / size).min(1.0);
        let rest = prompt - size * share;
        let cached_size = ((read - rest) / share).clamp(0.0, size);
        let each = |paid: f64, count: f64| if count > 0.0 { paid / count } else { 0.0 };
        let cached = each(paid.cached, read) * share;
        let uncached = each(paid.uncached, prompt - read) * share;
        let straddling = self.first_beyond(tip, cached_size);
        let add = |node: Option<&mut Node>, requests: u32, tokens: f64, picos: f64| {
            if let Some(Node { each, .. }) = node {
                each.requests = each.requests.saturating_add(requests);
                each.tokens += tokens;
                each.picos += picos;
            }
        };
        let Some(straddling) = straddling else {
            return add(self.nodes.get_mut(tip as usize), 1, share, cached);
        };
        add(self.nodes.get_mut(tip as usize), 1, share, uncached);
        let above = self.node(straddling).map_or(0, |node| node.above);
        let cached_above = self.node(above).map_or(0.0, |node| node.size);
        add(
            self.nodes.get_mut(above as usize),
            0,
            0.0,
            cached - uncached,
        );
        if let Some(node) = self.nodes.get_mut(straddling as usize) {
            node.own += (cached_size - cached_above) * (cached - uncached);
        }
    }

    /// The first part that reaches beyond a size, on the way to this one.
    fn first_beyond(&self, tip: Tip, size: f64) -> Option<Tip> {
        let reaches = |tip: Tip| self.node(tip).is_some_and(|node| node.size > size);
        let mut found = tip;
        if !reaches(tip) {
            return None;
        }
        while let Some(node) = self.node(found).filter(|node| reaches(node.above)) {
            found = if reaches(node.far) {
                node.far
            } else {
                node.above
            };
        }
        Some(found)
    }

    /// What all requests paid for each part.
    fn sums(mut self) -> impl Iterator<Item = (SentPart, f64, Payment)> {
        // A node comes after the one above it.
        for at in (1..self.nodes.len()).rev() {
            let Some((before, Some(node))) = self
                .nodes
                .split_at_mut_checked(at)
                .map(|(before, rest)| (before, rest.first()))
            else {
                continue;
            };
            if let Some(above) = before.get_mut(node.above as usize) {
                above.each.requests = above.each.requests.saturating_add(node.each.requests);
                above.each.tokens += node.each.tokens;
                above.each.picos += node.each.picos;
            }
        }
        self.nodes.into_iter().filter_map(|node| {
            let part = node.part?;
            let payment = Payment {
                requests: node.each.requests,
                tokens: node.each.tokens * node.tokens,
                picos: node.each.picos * node.tokens + node.own,
            };
            Some((part, node.tokens, payment))
        })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "float casts saturate")]
fn whole(picos: f64) -> i128 {
    picos.round() as i128
}

fn whole_tokens(tokens: f64) -> u64 {
    u64::try_from(whole(tokens)).unwrap_or(0)
}
