//! Growing texts: deltas of a part, concatenated until the whole part comes.
//!
//! Invariant: no record contains the concatenated text, so it stays in memory, in the block's stub.

use std::collections::{HashMap, HashSet};

use crate::formats::json::Json;
use crate::model::body::{Body, Key};
use crate::model::edit::Batch;
use crate::model::entry::{Block, BlockKind, Piece};
use crate::model::text::Text;

/// Texts that are still being written.
#[derive(Debug, Default)]
pub(super) struct Deltas {
    growing: HashMap<Piece, GrowingText>,
    /// Ids of applied events, since a resumed stream may repeat some.
    seen: HashSet<Text>,
}

#[derive(Debug, Default)]
struct GrowingText {
    message: Key,
    session: Text,
    is_reasoning: bool,
    text: String,
    is_changed: bool,
}

/// A text that has grown since it was last emitted.
pub(super) struct TextGrowth {
    pub(super) message: Key,
    pub(super) session: Text,
    /// The text so far.
    pub(super) block: Block,
}

impl Deltas {
    /// Adds a whole part. A part that is still being written may grow further.
    pub(super) fn set(&mut self, piece: Piece, part: &Json<'_>) {
        let is_reasoning = part.kind() == "reasoning";
        let is_prose = is_reasoning || part.kind() == "text";
        let is_ended = !part.at("time.end").is_null() || part.get("time").is_null();
        if !is_prose || (is_ended && !part.get("text").str_or_empty().is_empty()) {
            self.remove(piece);
            return;
        }
        let growing = GrowingText {
            message: part.get("messageID").clean(),
            session: part.get("sessionID").clean(),
            is_reasoning,
            text: part.get("text").str_or_empty().to_owned(),
            is_changed: false,
        };
        self.growing.insert(piece, growing);
    }

    /// Appends a delta to a part. `id` is the id of the event, if it has one. Returns whether the
    /// part is new.
    pub(super) fn append(&mut self, id: Option<Text>, event: &Json<'_>) -> bool {
        let is_repeated = id.is_some_and(|id| !self.seen.insert(id));
        if is_repeated {
            return false;
        }
        let piece = Piece::of(event.get("partID").str_or_empty());
        let is_new = !self.growing.contains_key(&piece);
        let growing = self.growing.entry(piece).or_insert_with(|| GrowingText {
            message: event.get("messageID").clean(),
            session: event.get("sessionID").clean(),
            is_reasoning: event.get("field").is("reasoning"),
            ..GrowingText::default()
        });
        growing.text.push_str(event.get("delta").str_or_empty());
        growing.is_changed = true;
        is_new
    }

    pub(super) fn remove(&mut self, piece: Piece) {
        self.growing.remove(&piece);
        if self.growing.is_empty() {
            self.seen.clear();
        }
    }

    /// The texts that have grown since the last call, in the order of the messages.
    pub(super) fn take(&mut self, out: &Batch) -> Vec<TextGrowth> {
        let changed = self
            .growing
            .iter_mut()
            .filter(|(_, growing)| growing.is_changed);
        let mut grown: Vec<TextGrowth> = changed
            .map(|(piece, growing)| growing.emitted(*piece, out))
            .collect();
        grown.sort_by(|a, b| (&a.message, a.block.piece.0).cmp(&(&b.message, b.block.piece.0)));
        grown
    }
}

impl GrowingText {
    fn emitted(&mut self, piece: Piece, out: &Batch) -> TextGrowth {
        self.is_changed = false;
        let body = Body::in_memory(&self.text, out.origin());
        let kind = if self.is_reasoning {
            BlockKind::Thinking(body)
        } else {
            BlockKind::Text(body)
        };
        TextGrowth {
            message: self.message.clone(),
            session: self.session.clone(),
            block: Block::new(piece, kind),
        }
    }
}
