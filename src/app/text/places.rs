//! Positions in a session: marks, the jump list, the end of the last visit, and positions whose
//! entries are not read yet.
//!
//! Invariant: everything that must survive a reload is stored by the entry's key.

pub mod marks;
pub mod news;
pub mod saved_position;

use std::collections::HashMap;

use self::news::NewsLine;
use super::viewport::{Anchor, Focus, Viewport};
use crate::model::body::Key;
use crate::model::entry::EntryId;
use crate::model::transcript::Transcript;
use crate::render::nodes::NodeId;
use crate::session::news::LastView;

/// Limit of the jump list.
const JUMPS_KEPT: usize = 100;

/// An item: the key of its entry and the index of its block.
pub type Item = (Key, usize);

/// Marked items by letter.
pub type Marks = HashMap<char, Item>;

/// Anchor and focus of the window by key, so that they survive a reload.
#[derive(Clone, Debug)]
pub(crate) struct KeyedPosition {
    item: Item,
    row: usize,
    node: Option<NodeId>,
    line: usize,
    focus: Option<Item>,
}

impl KeyedPosition {
    /// The position of the window; `None` if it follows the end.
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

    /// Maps the keys, for sessions that are joined.
    pub(crate) fn rename(&mut self, name: impl Fn(&Key) -> Key) {
        for (key, _) in self.focus.iter_mut().chain([&mut self.item]) {
            *key = name(key);
        }
    }

    /// Anchor and focus in a transcript; `None` if it does not have the entry.
    pub(crate) fn resolve(&self, transcript: &Transcript) -> Option<(Anchor, Option<Focus>)> {
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

/// Positions of one session.
#[derive(Debug, Default)]
pub struct SessionPlaces {
    /// Items marked with letters.
    pub marks: Marks,
    /// The end of the session at the last visit; `None` if no entry is new since.
    pub last_visit: Option<LastView>,
    /// Whether no earlier visit is recorded.
    pub(crate) is_first_visit: bool,
    /// The line above the first new entry.
    pub(crate) news: Option<NewsLine>,
    /// The key of the entry to go to, until it is read.
    pub requested_entry: Option<String>,
    /// The text to search for from that entry on.
    pub(crate) sought: Option<String>,
    /// The position before a reload, until its entry is read.
    pub(crate) return_to: Option<KeyedPosition>,
    pub(crate) jumps: JumpList,
    /// Size of the last entry; text that is added to it counts as new, too.
    pub(crate) tail: TailState,
    /// Whether to go to the beginning as soon as it is read.
    pub wants_beginning: bool,
}

/// The last shown entry.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TailState {
    /// The entry, and its size in blocks and lines.
    pub(crate) last: Option<(EntryId, u32)>,
    /// The entry, if it has grown since its end was visible.
    pub(crate) grown_entry: Option<EntryId>,
}

/// The jump list, as in vim.
#[derive(Clone, Debug, Default)]
pub(crate) struct JumpList {
    /// Positions to go back to.
    back: Vec<Item>,
    /// Positions to go forward to again.
    forward: Vec<Item>,
}

impl SessionPlaces {
    /// Pushes the position at which a jump starts.
    pub(crate) fn remember(&mut self, transcript: &Transcript, focus: Option<Focus>) {
        self.jumps.forward.clear();
        let Some(item) = focus.and_then(|focus| item_of(transcript, focus)) else {
            return;
        };
        if self.jumps.back.last() != Some(&item) {
            self.jumps.back.push(item);
            if self.jumps.back.len() > JUMPS_KEPT {
                self.jumps.back.remove(0);
            }
        }
    }

    /// Goes back or forward in the jump list. Positions whose entries no longer exist are dropped.
    pub(crate) fn step_jumps(
        &mut self,
        transcript: &Transcript,
        here: Option<Focus>,
        is_back: bool,
    ) -> Option<Focus> {
        let (from, onto) = if is_back {
            (&mut self.jumps.back, &mut self.jumps.forward)
        } else {
            (&mut self.jumps.forward, &mut self.jumps.back)
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

/// An item by the key of its entry; `None` if the entry does not exist.
pub(crate) fn item_of(transcript: &Transcript, focus: Focus) -> Option<Item> {
    Some((transcript.get(focus.entry)?.key.clone(), focus.block))
}
