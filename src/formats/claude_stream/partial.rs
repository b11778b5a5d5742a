//! Partial messages (`stream_event`): the raw events of the API, followed by the full message. The
//! entry of an answer is open while it is being written; each full block replaces its partial one.
//!
//! Invariant: the text of a partial block is in no record, so its body is held in memory and cannot
//! be read from disk. Blocks pair by their order among those of the same kind, as full lines have
//! no index.

use std::collections::BTreeMap;

use crate::formats::anthropic::spent;
use crate::formats::json::Json;
use crate::model::body::{Body, Key};
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Entry, Piece, Raw, Role};
use crate::model::tally::Fate;
use crate::model::text::{Name, Text};
use crate::model::tool::identifies;
use crate::model::usage::Usage;

/// Answers that are being written, one per lane.
#[derive(Debug, Default)]
pub(crate) struct Partials {
    open: BTreeMap<Option<Name>, Partial>,
}

#[derive(Debug, Default)]
struct Partial {
    key: Key,
    model: Option<Name>,
    usage: Usage,
    blocks: BTreeMap<u64, Live>,
    is_changed: bool,
    is_emitted: bool,
}

#[derive(Debug)]
struct Live {
    kind: BlockPartKind,
    text: String,
    is_full: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum BlockPartKind {
    Text,
    Thinking,
    Call(String),
}

impl Partials {
    /// Applies an event; `None` if its type is unknown.
    pub(crate) fn apply(
        &mut self,
        lane: Option<&Name>,
        kind: &str,
        event: &Json<'_>,
        out: &mut Batch,
    ) -> Option<Fate> {
        match kind {
            "message_start" => {
                self.close(lane, out);
                let message = event.get("message");
                let id = message
                    .get("id")
                    .str()
                    .or_else(|| event.get("message_id").str());
                let key = id
                    .filter(|id| identifies(id))
                    .map_or_else(|| out.origin_key(), Text::clean);
                let usage = spent::usage(message.get("usage"), out).unwrap_or_default();
                let model = message.get("model").text();
                let partial = Partial {
                    key,
                    model,
                    usage,
                    ..Partial::default()
                };
                self.open.insert(lane.cloned(), partial);
                Some(Fate::Merged)
            }
            "content_block_start" => {
                let block = event.get("content_block");
                let kind = match block.kind() {
                    "thinking" | "redacted_thinking" => BlockPartKind::Thinking,
                    other if other.ends_with("tool_use") => {
                        BlockPartKind::Call(block.get("name").str_or_empty().to_owned())
                    }
                    _ => BlockPartKind::Text,
                };
                let text = block.get("text").str_or_empty();
                self.grow(lane, event, kind, text, out);
                Some(Fate::Merged)
            }
            "content_block_delta" => {
                let (kind, text) = delta(event);
                self.grow(lane, event, kind, text, out);
                Some(Fate::Merged)
            }
            // They end the block or message, or keep the connection alive.
            "content_block_stop" | "message_delta" | "message_stop" | "ping" => Some(Fate::Merged),
            _ => None,
        }
    }

    /// The usage of a complete answer, with the key of its entry: the message itself has the usage
    /// of when it began.
    pub(crate) fn final_usage(
        &self,
        lane: Option<&Name>,
        kind: &str,
        event: &Json<'_>,
        out: &mut Batch,
    ) -> Option<(Key, Usage)> {
        let recorded = event.get("usage");
        let partial = self
            .open
            .get(&lane.cloned())
            .filter(|_| kind == "message_delta")?;
        let usage = later(spent::usage(recorded, out)?, partial.usage.clone());
        let usage = Box::new(usage);
        out.usage(partial.key.clone(), usage.clone(), partial.model.clone());
        Some((partial.key.clone(), *usage))
    }

    fn grow(
        &mut self,
        lane: Option<&Name>,
        event: &Json<'_>,
        kind: BlockPartKind,
        text: &str,
        out: &Batch,
    ) {
        let index = event.get("index").count().unwrap_or(0);
        let partial = self.open.entry(lane.cloned()).or_insert_with(|| Partial {
            key: out.origin_key(),
            ..Partial::default()
        });
        let live = partial.blocks.entry(index).or_insert(Live {
            kind,
            text: String::new(),
            is_full: false,
        });
        if !live.is_full {
            live.text.push_str(text);
            partial.is_changed |= !text.is_empty();
        }
    }

    /// Sets the key and pieces of a full line to those of the partial answer that it completes.
    pub(crate) fn complete(&mut self, lane: Option<&Name>, has_id: bool, entry: &mut Entry) {
        let Some(partial) = self.open.get_mut(&lane.cloned()) else {
            return;
        };
        if has_id && partial.key != entry.key {
            return;
        }
        if partial.blocks.values().any(|live| !live.is_full) {
            entry.key = partial.key.clone();
        }
        if let Some(usage) = &entry.usage {
            partial.usage = later((**usage).clone(), std::mem::take(&mut partial.usage));
        }
        for block in &mut entry.blocks {
            if let Some((index, live)) = partial.waiting_for(&block.kind) {
                block.piece = Piece(index);
                live.is_full = true;
                live.text.clear();
            }
        }
        entry.marks.open = partial.is_emitted && partial.blocks.values().any(Live::is_waiting);
    }

    /// Closes the answer of a lane, which was abandoned: its text so far remains.
    pub(crate) fn close(&mut self, lane: Option<&Name>, out: &mut Batch) {
        let Some(partial) = self.open.remove(&lane.cloned()) else {
            return;
        };
        if partial.blocks.values().any(Live::is_waiting) {
            out.entry(partial.entry(lane, false, out));
        }
    }

    /// Closes the answers of all lanes.
    pub(crate) fn close_all(&mut self, out: &mut Batch) {
        let lanes: Vec<Option<Name>> = self.open.keys().cloned().collect();
        for lane in lanes {
            self.close(lane.as_ref(), out);
        }
    }

    /// Emits the answers that have grown since the last batch.
    pub(crate) fn emit(&mut self, out: &mut Batch) {
        for (lane, partial) in &mut self.open {
            let is_due = std::mem::take(&mut partial.is_changed)
                && partial.blocks.values().any(Live::is_waiting);
            if is_due {
                partial.is_emitted = true;
                out.entry(partial.entry(lane.as_ref(), true, out));
            }
        }
    }
}

impl Partial {
    /// The first block that a full one of this kind completes. Blank texts have no full block, so
    /// that only non-blank texts pair.
    fn waiting_for(&mut self, full: &BlockKind) -> Option<(u64, &mut Live)> {
        let fitting = |live: &Live| !live.is_full && fits(&live.kind, full);
        let is_like = |live: &Live| match full {
            BlockKind::Text(body) | BlockKind::Thinking(body) => {
                live.is_waiting() != body.stub.is_blank()
            }
            _ => true,
        };
        let found = self
            .blocks
            .iter()
            .find(|(_, live)| fitting(live) && is_like(live));
        let index = *found
            .or_else(|| self.blocks.iter().find(|(_, live)| fitting(live)))?
            .0;
        Some((index, self.blocks.get_mut(&index)?))
    }

    fn entry(&self, lane: Option<&Name>, is_open: bool, out: &Batch) -> Entry {
        let mut entry = out.new_entry(self.key.clone(), Role::Assistant, None);
        entry.lane = lane.cloned();
        entry.model.clone_from(&self.model);
        entry.marks.open = is_open;
        for (index, live) in self.blocks.iter().filter(|(_, live)| live.is_waiting()) {
            let body = Body::in_memory(&live.text, out.origin());
            let kind = match &live.kind {
                BlockPartKind::Text => BlockKind::Text(body),
                BlockPartKind::Thinking => BlockKind::Thinking(body),
                // A call is shown as one only when its input is complete.
                BlockPartKind::Call(name) => BlockKind::Raw(Raw {
                    title: Text::stub(name, 80),
                    body,
                }),
            };
            entry.push_piece(Piece(*index), kind);
        }
        entry
    }
}

impl Live {
    fn is_waiting(&self) -> bool {
        !self.is_full && !self.text.trim().is_empty()
    }
}

/// Merges later usage over earlier usage.
fn later(now: Usage, before: Usage) -> Usage {
    Usage {
        input: now.input.or(before.input),
        output: now.output.or(before.output),
        cache_read: now.cache_read.or(before.cache_read),
        cache_write: now.cache_write.or(before.cache_write),
        cache_write_1h: now.cache_write_1h.or(before.cache_write_1h),
        searches: now.searches.or(before.searches),
        is_partial: now.is_partial,
        ..before
    }
}

fn fits(kind: &BlockPartKind, block: &BlockKind) -> bool {
    match block {
        BlockKind::Text(_) => *kind == BlockPartKind::Text,
        BlockKind::Thinking(_) => *kind == BlockPartKind::Thinking,
        BlockKind::Call(_) => matches!(kind, BlockPartKind::Call(_)),
        BlockKind::Result(_)
        | BlockKind::Image(_)
        | BlockKind::Break(_)
        | BlockKind::Raw(_)
        | BlockKind::Aside(..) => false,
    }
}

/// The kind and text of a delta. Signatures and citations have no text.
fn delta<'j>(event: &'j Json<'_>) -> (BlockPartKind, &'j str) {
    let delta = event.get("delta");
    if let Some(text) = delta.get("thinking").str() {
        return (BlockPartKind::Thinking, text);
    }
    if let Some(json) = delta.get("partial_json").str() {
        return (BlockPartKind::Call(String::new()), json);
    }
    let kind = if delta.kind() == "signature_delta" {
        BlockPartKind::Thinking
    } else {
        BlockPartKind::Text
    };
    (
        kind,
        delta
            .get("text")
            .str()
            .or_else(|| event.get("text").str())
            .unwrap_or(""),
    )
}
