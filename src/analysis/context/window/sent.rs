//! The parts of a lane's context with what requests paid for them.
//!
//! Parts form a tree, in which a branch goes on from the part where it was left. A request pays for
//! all parts from its last one up to the root, so that its cost is added at one or two parts, and
//! that of a part is the sum over all that follow it.

use super::fact::{Prompted, SentEntryPart};
use super::weigh::ContextClass;
use crate::model::edit::saturating_u32;
use crate::model::entry::EntryId;
use crate::model::timestamp::Timestamp;

/// Least and greatest bytes per token of what came between two requests that are believed: a prompt
/// may also grow by what the file does not record, and lose what the agent drops.
const CREDIBLE: (f64, f64) = (1.5, 8.0);

/// A place in the context: the index of its last part, 0 if it is empty.
pub(super) type Tip = u32;

/// All parts of a lane that were sent, as a tree: the first one is its root, which is no part.
pub(super) struct SentParts {
    nodes: Vec<SentNode>,
    /// Bytes per token.
    density: f64,
}

/// A part at a place of the context.
#[derive(Clone, Copy)]
pub(super) struct SentPart {
    pub(super) entry: EntryId,
    pub(super) block: u32,
    pub(super) class: ContextClass,
    until: Option<Timestamp>,
}

struct SentNode {
    /// `None` for the root.
    part: Option<SentPart>,
    above: Tip,
    /// A node further up: the search for one at a given size takes logarithmic time.
    jump: Tip,
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
pub(super) struct Payment {
    pub(super) requests: u32,
    pub(super) tokens: f64,
    pub(super) picos: f64,
}

impl SentParts {
    pub(super) fn new(density: f64) -> Self {
        let root = SentNode {
            part: None,
            above: 0,
            jump: 0,
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

    fn node(&self, tip: Tip) -> Option<&SentNode> {
        self.nodes.get(tip as usize)
    }

    /// Adds a part after the last one.
    pub(super) fn push(
        &mut self,
        after: Tip,
        entry: EntryId,
        part: SentEntryPart,
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
        let (near, further) = (
            above.jump,
            self.node(above.jump).map_or(0, |node| node.jump),
        );
        let is_same_step = above.depth - depth(near) == depth(near) - depth(further);
        let node = SentNode {
            part: Some(part),
            above: after,
            jump: if is_same_step { further } else { after },
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
    pub(super) fn add_request(&mut self, tip: Tip, request: &Prompted) {
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
        let add = |node: Option<&mut SentNode>, requests: u32, tokens: f64, picos: f64| {
            if let Some(SentNode { each, .. }) = node {
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
            found = if reaches(node.jump) {
                node.jump
            } else {
                node.above
            };
        }
        Some(found)
    }

    /// What all requests paid for each part.
    pub(super) fn sums(mut self) -> impl Iterator<Item = (SentPart, f64, Payment)> {
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
