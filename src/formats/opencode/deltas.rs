//! Text that grows: deltas of a part, put together until the whole part comes.
//!
//! Invariant: no record holds what has grown, so it is held in its stub and never left on disk.

use std::collections::{HashMap, HashSet};

use crate::formats::json::Json;
use crate::model::body::{Body, Key};
use crate::model::edit::Batch;
use crate::model::entry::{Block, BlockKind, Piece};
use crate::model::text::Text;

/// Texts that are being written.
#[derive(Debug, Default)]
pub(super) struct Deltas {
    growing: HashMap<Piece, Growing>,
    /// Ids of the events that were taken: a stream that is resumed may repeat some.
    seen: HashSet<Text>,
}

#[derive(Debug, Default)]
struct Growing {
    message: Key,
    session: Text,
    is_reasoning: bool,
    text: String,
    is_changed: bool,
}

/// What grew since it was last shown.
pub(super) struct Grown {
    /// The message.
    pub(super) message: Key,
    /// Its session.
    pub(super) session: Text,
    /// The text so far.
    pub(super) block: Block,
}

impl Deltas {
    /// A part as a whole. One that is still being written may grow on.
    pub(super) fn whole(&mut self, piece: Piece, part: &Json<'_>) {
        let is_reasoning = part.get("type").is("reasoning");
        let is_prose = is_reasoning || part.get("type").is("text");
        let is_ended = !part.at(&["time", "end"]).is_null() || part.get("time").is_null();
        if !is_prose || (is_ended && !part.get("text").str_or_empty().is_empty()) {
            self.forget(piece);
            return;
        }
        let growing = Growing {
            message: part.get("messageID").clean(),
            session: part.get("sessionID").clean(),
            is_reasoning,
            text: part.get("text").str_or_empty().to_owned(),
            is_changed: false,
        };
        self.growing.insert(piece, growing);
    }

    /// A part grows. `id` is the id of the event, if it has one. Answers whether the part is new.
    pub(super) fn grow(&mut self, id: Option<Text>, event: &Json<'_>) -> bool {
        let is_repeated = id.is_some_and(|id| !self.seen.insert(id));
        if is_repeated {
            return false;
        }
        let piece = Piece::of(event.get("partID").str_or_empty());
        let is_new = !self.growing.contains_key(&piece);
        let growing = self.growing.entry(piece).or_insert_with(|| Growing {
            message: event.get("messageID").clean(),
            session: event.get("sessionID").clean(),
            is_reasoning: event.get("field").is("reasoning"),
            ..Growing::default()
        });
        growing.text.push_str(event.get("delta").str_or_empty());
        growing.is_changed = true;
        is_new
    }

    /// The part is gone.
    pub(super) fn forget(&mut self, piece: Piece) {
        self.growing.remove(&piece);
        if self.growing.is_empty() {
            self.seen.clear();
        }
    }

    /// What grew since the last time, in the order of the messages.
    pub(super) fn take(&mut self, out: &Batch) -> Vec<Grown> {
        let changed = self
            .growing
            .iter_mut()
            .filter(|(_, growing)| growing.is_changed);
        let mut grown: Vec<Grown> = changed
            .map(|(piece, growing)| growing.emitted(*piece, out))
            .collect();
        grown.sort_by(|a, b| (&a.message, a.block.piece.0).cmp(&(&b.message, b.block.piece.0)));
        grown
    }
}

impl Growing {
    fn emitted(&mut self, piece: Piece, out: &Batch) -> Grown {
        self.is_changed = false;
        let body = Body::in_memory(&self.text, out.origin());
        let kind = if self.is_reasoning {
            BlockKind::Thinking(body)
        } else {
            BlockKind::Text(body)
        };
        Grown {
            message: self.message.clone(),
            session: self.session.clone(),
            block: Block::new(piece, kind),
        }
    }
}
