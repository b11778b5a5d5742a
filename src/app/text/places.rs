//! Places in a session that the reader marked, came from, asked for, or has not seen.
//!
//! Invariant: what outlives the transcript that is shown is kept by the entry's key: another transcript of the same
//! session loses none of it.

pub mod marks;
pub mod news;
pub mod saved_position;

use std::collections::HashMap;

use self::news::News;
use super::viewport::{Anchor, Focus, Viewport};
use crate::model::body::Key;
use crate::model::entry::EntryId;
use crate::model::transcript::Transcript;
use crate::render::nodes::NodeId;
use crate::session::news::Seen;

/// Jumps that can be taken back.
const JUMPS_KEPT: usize = 100;

/// An entry, and the place of the block in it.
pub type Item = (Key, usize);

/// Marked items by letter.
pub type Marks = HashMap<char, Item>;

/// A row of an item at a line of the window, and the focused item: a place that outlives the transcript.
#[derive(Clone, Debug)]
pub(crate) struct Left {
    item: Item,
    row: usize,
    node: Option<NodeId>,
    line: usize,
    focus: Option<Item>,
}

impl Left {
    /// Where the window is; nothing if it follows the session.
    pub(crate) fn of(view: &Viewport, transcript: &Transcript) -> Option<Self> {
        let Anchor::Row {
            entry,
            block,
            row,
            node,
            line,
        } = view.anchor
        else {
            return None;
        };
        let item = item_of(transcript, Focus { entry, block })?;
        let focus = view.focus.and_then(|focus| item_of(transcript, focus));
        Some(Self {
            item,
            row,
            node,
            line,
            focus,
        })
    }

    /// The entries have other keys from now on.
    pub(crate) fn rename(&mut self, name: impl Fn(&Key) -> Key) {
        for (key, _) in self.focus.iter_mut().chain([&mut self.item]) {
            *key = name(key);
        }
    }

    /// The same row and item, if they are there.
    pub(crate) fn found(&self, transcript: &Transcript) -> Option<(Anchor, Option<Focus>)> {
        let here = |(key, block): &Item| {
            Some(Focus {
                entry: transcript.find(key)?,
                block: *block,
            })
        };
        let Focus { entry, block } = here(&self.item)?;
        let anchor = Anchor::Row {
            entry,
            block,
            row: self.row,
            node: self.node,
            line: self.line,
        };
        Some((anchor, self.focus.as_ref().and_then(here)))
    }
}

/// The reader's places.
#[derive(Debug, Default)]
pub struct Places {
    /// Items that the reader marked.
    pub marks: Marks,
    /// The end of the session when the reader looked at it before; `None` if nothing is new since then.
    pub seen: Option<Seen>,
    /// Whether nothing is known of an earlier time.
    pub(crate) is_first_visit: bool,
    /// Where what is new since then begins.
    pub(crate) news: Option<News>,
    /// The key of an entry that the reader asked for, until it has come.
    pub wanted: Option<String>,
    /// What is to be searched for from there.
    pub(crate) sought: Option<String>,
    /// Where the reader was when the session was read before, until that has come again.
    pub(crate) left: Option<Left>,
    trail: Trail,
    /// The last entry: what joins it may be new, too.
    pub(crate) tail: Tail,
    /// Whether the reader is to be taken to the beginning as soon as it is read.
    pub wants_beginning: bool,
}

/// The last entry that is shown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tail {
    /// The entry, and how much it holds: blocks and lines.
    pub(crate) last: Option<(EntryId, u32)>,
    /// The entry, if it has grown since the reader saw its end.
    pub(crate) grown: Option<EntryId>,
}

/// The way of the reader from jump to jump.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail {
    /// Where jumps came from.
    jumps: Vec<Item>,
    /// Where jumps led that were taken back.
    ahead: Vec<Item>,
}

impl Places {
    /// Remembers where a jump starts.
    pub(crate) fn remember(&mut self, transcript: &Transcript, focus: Option<Focus>) {
        self.trail.ahead.clear();
        let Some(item) = focus.and_then(|focus| item_of(transcript, focus)) else {
            return;
        };
        if self.trail.jumps.last() != Some(&item) {
            self.trail.jumps.push(item);
            if self.trail.jumps.len() > JUMPS_KEPT {
                self.trail.jumps.remove(0);
            }
        }
    }

    /// Where jumps came from, and where those led that were taken back.
    pub(crate) fn trail(&self) -> &Trail {
        &self.trail
    }

    /// Takes a trail that was there before.
    pub(crate) fn go_by(&mut self, trail: Trail) {
        self.trail = trail;
    }

    /// Takes the last jump back, or goes forward again, from where the reader is. Places that are not in the session any
    /// more are passed over.
    pub(crate) fn travel(
        &mut self,
        transcript: &Transcript,
        here: Option<Focus>,
        is_back: bool,
    ) -> Option<Focus> {
        let (from, onto) = if is_back {
            (&mut self.trail.jumps, &mut self.trail.ahead)
        } else {
            (&mut self.trail.ahead, &mut self.trail.jumps)
        };
        let focus = loop {
            let (key, block) = from.pop()?;
            if let Some(entry) = transcript.find(&key) {
                break Focus { entry, block };
            }
        };
        onto.extend(here.and_then(|here| item_of(transcript, here)));
        Some(focus)
    }
}

fn item_of(transcript: &Transcript, focus: Focus) -> Option<Item> {
    Some((transcript.get(focus.entry)?.key.clone(), focus.block))
}
