//! The end of a transcript: the last message of a lane, and whether the session ended.

use super::Transcript;
use crate::model::entry::{BlockKind, Break, Entry, EntryId, Role, Stop};
use crate::model::text::Name;

impl Transcript {
    /// Entries of the main lane, latest first, without copies, noise and abandoned branches. Empty
    /// if several sessions are joined.
    pub(crate) fn main_lane_backwards(&self) -> impl Iterator<Item = &Entry> {
        self.lane_backwards(None)
    }

    /// Like [`Self::main_lane_backwards`], for any lane; `None` is the main one.
    pub(crate) fn lane_backwards<'a>(
        &'a self,
        lane: Option<&'a Name>,
    ) -> impl Iterator<Item = &'a Entry> {
        self.all_backwards(lane)
            .filter(|entry| !entry.marks.quiet || entry.marks.retried)
    }

    /// Like [`Self::lane_backwards`], including bookkeeping of the harness.
    fn all_backwards<'a>(&'a self, lane: Option<&'a Name>) -> impl Iterator<Item = &'a Entry> {
        let abandoned = &self.branches().abandoned;
        let order: &[EntryId] = match lane {
            Some(lane) => self.lane(lane).map_or(&[], |lane| &lane.entries),
            None if self.is_joined() => &[],
            None => self.order(),
        };
        let own = order
            .iter()
            .rev()
            .filter(move |id| self.lane_at(**id) == lane && !abandoned.contains(*id));
        own.filter_map(|id| self.get(*id))
            .filter(|entry| !entry.marks.copy)
    }

    /// Whether the harness recorded the end of the turn after an answer.
    pub(crate) fn has_turn_ended_after(&self, lane: Option<&Name>, answer: &Entry) -> bool {
        let ends = |entry: &Entry| {
            let is_time = |kind: &BlockKind| matches!(kind, BlockKind::Break(Break::Took(_)));
            entry.role == Role::Harness && (entry.stop == Stop::Done || entry.has(is_time))
        };
        self.all_backwards(lane)
            .take_while(|entry| !std::ptr::eq(*entry, answer))
            .any(ends)
    }

    /// Whether the session's last record says that it ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.meta().live == Some(false) || self.has_lane_ended(None)
    }

    /// Whether the lane's last record says that it ended.
    pub(crate) fn has_lane_ended(&self, lane: Option<&Name>) -> bool {
        let last = self.lane_backwards(lane).find_map(Entry::last_word);
        matches!(
            last,
            Some(BlockKind::Break(Break::Ended(_) | Break::Continued(_)))
        )
    }
}

impl Entry {
    /// The last block that tells the state of the work.
    pub(crate) fn last_word(&self) -> Option<&BlockKind> {
        self.blocks
            .iter()
            .rev()
            .map(|block| &block.kind)
            .find(|kind| match kind {
                // A message that no human wrote but that the model answers is open work, too.
                BlockKind::Text(_) | BlockKind::Image(_) | BlockKind::Raw(_)
                    if self.from.is_some() =>
                {
                    true
                }
                BlockKind::Text(_) | BlockKind::Image(_) => {
                    matches!(self.role, Role::User | Role::Assistant)
                }
                BlockKind::Thinking(_) | BlockKind::Call(_) | BlockKind::Result(_) => true,
                BlockKind::Break(what) => match what {
                    Break::Ended(_)
                    | Break::Continued(_)
                    | Break::Waiting(_)
                    | Break::Interrupted(_)
                    | Break::Error(_)
                    | Break::Resumed(_) => true,
                    Break::Compaction { .. }
                    | Break::Branch(_)
                    | Break::ModelChange(_)
                    | Break::Setting(_)
                    | Break::Took(_) => false,
                },
                BlockKind::Raw(_) | BlockKind::Aside(..) => false,
            })
    }
}
