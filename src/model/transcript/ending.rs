//! The end of a transcript: what its main lane said last, and whether that was that it ended.

use super::Transcript;
use crate::model::entry::{BlockKind, Break, Entry, EntryId, Role, Stop};
use crate::model::text::Name;

impl Transcript {
    /// What the main lane says, newest first: no copies, no noise, no abandoned branch. Where several sessions are read
    /// as one there is none.
    pub(crate) fn main_lane_backwards(&self) -> impl Iterator<Item = &Entry> {
        self.lane_backwards(None)
    }

    /// The same of a lane; `None` is the main one.
    pub(crate) fn lane_backwards<'a>(
        &'a self,
        lane: Option<&'a Name>,
    ) -> impl Iterator<Item = &'a Entry> {
        self.all_backwards(lane)
            .filter(|entry| !entry.marks.quiet || entry.marks.retried)
    }

    /// The same with what the harness notes for itself.
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

    /// Whether the harness notes behind an answer that the turn of its lane is over.
    pub(crate) fn is_over_behind(&self, lane: Option<&Name>, answer: &Entry) -> bool {
        let ends = |entry: &Entry| {
            let is_time = |kind: &BlockKind| matches!(kind, BlockKind::Break(Break::Took(_)));
            entry.role == Role::Harness && (entry.stop == Stop::Done || entry.has(is_time))
        };
        self.all_backwards(lane)
            .take_while(|entry| !std::ptr::eq(*entry, answer))
            .any(ends)
    }

    /// Whether the session says that it ended, and nothing came after that.
    pub(crate) fn has_ended(&self) -> bool {
        self.meta().live == Some(false) || self.has_lane_ended(None)
    }

    /// Whether a lane says so.
    pub(crate) fn has_lane_ended(&self, lane: Option<&Name>) -> bool {
        let last = self.lane_backwards(lane).find_map(Entry::last_word);
        matches!(
            last,
            Some(BlockKind::Break(Break::Ended(_) | Break::Continued(_)))
        )
    }
}

impl Entry {
    /// The last block that says where the work stands.
    pub(crate) fn last_word(&self) -> Option<&BlockKind> {
        self.blocks
            .iter()
            .rev()
            .map(|block| &block.kind)
            .find(|kind| match kind {
                // What no human wrote and the model answers all the same is work to be done, too.
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
