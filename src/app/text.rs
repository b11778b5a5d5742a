//! The transcript pane: which entries are shown, their layout, and the position of the window.

pub(crate) mod actions;
pub mod as_of;
pub(crate) mod auto_open;
pub(crate) mod branches;
pub mod compared;
pub mod details;
pub mod find;
pub mod folding;
pub mod folds;
pub(crate) mod goto;
pub mod gutter;
pub(crate) mod heights;
pub mod items;
pub mod jumps;
pub mod landmarks;
pub mod paging;
pub mod places;
pub(crate) mod portions;
pub mod rulers;
pub(crate) mod runs;
pub mod selecting;
pub mod sequence;
pub mod spine;
pub mod viewport;
pub mod window;
pub mod wrapping;

use std::collections::HashSet;

use super::comparison::Comparison;
use super::copying::clipboard::PendingCopy;
use super::layout::{Frame, Margin};
use super::panes::Pane;
use super::scene::Scene;
use super::text::as_of::AsOfCursor;
use super::text::auto_open::AutoOpened;
use super::text::find::Find;
use super::text::find::opened::FoldState;
use super::text::folds::Folds;
use super::text::gutter::LaneGutter;
use super::text::heights::Heights;
use super::text::items::RowCache;
use super::text::places::saved_position::SavedPosition;
use super::text::places::{SessionPlaces, TailState};
use super::text::sequence::{Sequence, Visibility, starter_of};
use super::text::spine::Spine;
use super::text::viewport::{Focus, Viewport};
use super::text::wrapping::Wrapping;
use crate::analysis::calls::lookup::Lookup;
use crate::model::entry::{Entry, EntryId};
use crate::model::text::Name;
use crate::model::transcript::{Touched, Transcript};
use crate::render::row::Level;
use crate::session::Session;
use crate::session::details::KnownDetails;
use crate::session::filter::Filter;
use crate::session::indexes::Needs;
use crate::session::paging::PendingPages;

#[derive(Debug)]
pub struct TextPane {
    pub view: Viewport,
    /// The item of the open page's chosen row, which the inspector shows. It differs from the
    /// reader's item until the page's cursor is moved.
    pub(crate) page_item: Option<Focus>,
    pub sequence: Sequence,
    /// Heights of entries, for the scrollbar.
    pub(crate) heights: Heights,
    /// Folds set by hand.
    pub folds: Folds,
    /// Sub-agents whose entries are shown.
    pub(crate) open_lanes: HashSet<Name>,
    /// The sub-agent that was opened automatically.
    pub(crate) auto_opened: AutoOpened,
    pub level: Level,
    /// Parts of entries with a setting of their own, independent of the level.
    pub shows: ShownParts,
    /// Wrapping of long lines, and the margins.
    pub wrapping: Wrapping,
    /// Calls in flight beside the window.
    pub gutter: LaneGutter,
    /// Marks in the last column.
    pub spine: Spine,
    /// Dimming of entries that the model did not see at the cursor.
    pub as_of: AsOfCursor,
    /// Number of new entries below since the window stopped following.
    pub unseen: usize,
    /// Bodies that are being read.
    pub pending_pages: PendingPages,
    /// Fields of records that no block shows, of the entries that were visible at level 4 or 5.
    pub details: KnownDetails,
    /// The cache of laid out rows.
    pub cache: RowCache,
    /// The search and the filter.
    pub find: Find,
    /// Marks, jump list, and positions whose entries are not read yet.
    pub places: SessionPlaces,
    /// The comparison with another run.
    pub compared: Option<Comparison>,
    /// A copy that is waiting for bodies.
    pub pending_copy: Option<PendingCopy>,
    /// Caches that must be rebuilt before the next frame.
    pub stale: Stale,
}

/// Parts of entries with a setting of their own, independent of the level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShownParts {
    pub thinking: bool,
    /// The purpose of calls, before what they do.
    pub intents: bool,
}

/// Caches that must be rebuilt before the next frame, and the generations that other caches were
/// built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The sequence of visible entries.
    pub sequence: bool,
    /// Marks of the spine.
    pub spine: bool,
    /// Generation of theme, level and width; other panes compare it to invalidate their rows.
    pub(crate) look_generation: u32,
    /// Generation of highlights and drawings at the last layout of rows.
    pub(crate) colours_seen: u64,
    /// Generation of the branches at the last layout of rows.
    pub(crate) branches_seen: u32,
}

impl TextPane {
    /// Creates an empty pane.
    pub fn new(level: Level) -> Self {
        Self {
            view: Viewport::default(),
            page_item: None,
            sequence: Sequence::default(),
            heights: Heights::default(),
            folds: Folds::default(),
            open_lanes: HashSet::new(),
            auto_opened: AutoOpened::default(),
            level,
            shows: ShownParts::default(),
            wrapping: Wrapping::default(),
            gutter: LaneGutter::default(),
            spine: Spine::default(),
            as_of: AsOfCursor::default(),
            unseen: 0,
            pending_pages: PendingPages::default(),
            details: KnownDetails::default(),
            cache: RowCache::default(),
            find: Find::default(),
            places: SessionPlaces::default(),
            compared: None,
            pending_copy: None,
            stale: Stale {
                sequence: true,
                spine: true,
                look_generation: 0,
                colours_seen: 0,
                branches_seen: 0,
            },
        }
    }

    /// Drops all cached rows, after a change of the level, the theme or a setting.
    pub fn invalidate_rows(&mut self) {
        self.cache.clear();
        self.stale.spine = true;
        self.stale.look_generation = self.stale.look_generation.wrapping_add(1);
    }

    /// The margins beside and below the text.
    pub(crate) fn margin(&self, transcript: &Transcript) -> Margin {
        Margin {
            numbers: self.wrapping.numbers.width(transcript),
            has_lanes: self.wrapping.lanes,
            has_pill: !self.view.follows() && self.unseen > 0,
        }
    }

    /// The areas of the screen.
    pub(crate) fn frame(&self, scene: &Scene<'_>) -> Frame {
        scene.divide(self.margin(&scene.session.transcript))
    }

    pub(crate) fn focused_pane(&self, scene: &Scene<'_>) -> Pane {
        scene.focused(self.margin(&scene.session.transcript))
    }

    /// The indexes that gutter and dimming need.
    pub(crate) fn needs(&self) -> Needs {
        let flights = self.level > Level::Prompts && self.wrapping.lanes;
        Needs {
            flights,
            findings: true,
            windows: self.as_of.is_on,
            ..Needs::default()
        }
    }

    /// The turn of the focused item, or the last one.
    pub(crate) fn focused_turn(&self, session: &Session) -> Option<usize> {
        let Session {
            transcript,
            indexes,
            ..
        } = session;
        match self.view.focus {
            Some(focus) => indexes.account.turn_of(transcript, focus.entry),
            None => transcript.turns().len().checked_sub(1),
        }
    }

    /// All state that hides items: folds, closed sub-agents, hidden thinking, the level.
    pub(crate) fn fold_state(&mut self) -> FoldState<'_> {
        let Self {
            folds,
            open_lanes,
            shows,
            level,
            ..
        } = self;
        FoldState {
            folds,
            lanes: open_lanes,
            thinking: &mut shows.thinking,
            level,
        }
    }

    /// The current position, to restore later.
    pub(crate) fn position(&self) -> SavedPosition {
        SavedPosition {
            anchor: self.view.anchor,
            focus: self.view.focus,
            folds: self.folds.clone(),
            open_lanes: self.open_lanes.clone(),
        }
    }

    pub(crate) fn restore(&mut self, to: &SavedPosition) {
        self.view.anchor = to.anchor;
        self.view.focus = to.focus;
        self.stale.sequence |= self.folds.branches != to.folds.branches;
        self.stale.sequence |= self.folds.runs.open != to.folds.runs.open;
        self.folds.clone_from(&to.folds);
        self.stale.sequence |= self.open_lanes != to.open_lanes;
        self.open_lanes.clone_from(&to.open_lanes);
        self.cache.clear();
    }

    /// Pushes the current position onto the jump list.
    pub(crate) fn remember_place(&mut self, session: &Session) {
        self.places.remember(&session.transcript, self.view.focus);
    }

    /// Drops cached rows of changed entries, and of the calls whose sub-agents have new entries.
    pub(crate) fn invalidate_touched(&mut self, transcript: &Transcript, touched: &Touched) {
        self.invalidate_details(transcript, touched);
        // Bodies requested at the old offsets may never arrive.
        touched
            .moved
            .iter()
            .for_each(|id| self.pending_pages.remove(*id));
        if touched.reordered {
            self.cache.clear();
            self.pending_pages.clear();
        }
        let mut lanes = HashSet::new();
        for id in touched.added.iter().chain(&touched.changed) {
            self.cache.remove(*id);
            self.pending_pages.remove(*id);
            lanes.extend(transcript.get(*id).and_then(|entry| entry.lane.clone()));
        }
        for starter in lanes.iter().filter_map(|lane| starter_of(transcript, lane)) {
            self.cache.remove(starter);
        }
    }

    /// Drops the details of records whose offsets may have changed.
    pub(crate) fn invalidate_details(&mut self, transcript: &Transcript, touched: &Touched) {
        if touched.reordered || !touched.moved.is_empty() {
            let anew = touched
                .moved
                .iter()
                .chain(&touched.added)
                .chain(&touched.changed);
            let anew: Vec<&Entry> = anew.filter_map(|id| transcript.get(*id)).collect();
            self.details.invalidate(&anew);
        }
    }

    /// Appends new entries to the sequence, or marks it for a rebuild.
    pub fn grow(&mut self, transcript: &Transcript, touched: &Touched) {
        let filter = self.find.filter.as_ref();
        // A lane may have been attached to its call; a changed entry may have become a prompt.
        self.stale.sequence |= touched.reordered || touched.lanes;
        if self.stale.sequence {
            return;
        }
        for id in &touched.added {
            let before = self.sequence.len();
            let (open_lanes, level, folded) = (&self.open_lanes, self.level, &HashSet::new());
            let runs = &self.folds.runs;
            if !self.sequence.append(
                transcript,
                *id,
                &Visibility {
                    open_lanes,
                    level,
                    folded,
                    runs,
                    filter,
                },
            ) {
                self.stale.sequence = true;
                return;
            }
            if self.sequence.len() > before {
                self.heights.push(rows_of(transcript, *id, level));
            }
        }
        for id in &touched.changed {
            self.sequence.change(transcript, *id);
        }
        let touched = touched.added.iter().chain(&touched.changed);
        for (id, place) in touched.filter_map(|id| Some((*id, self.sequence.place_of(*id)?))) {
            self.spine.update(transcript, id, place);
        }
    }

    /// Counts new entries below while the window does not follow.
    pub(crate) fn count_unseen(&mut self, transcript: &Transcript, touched: &Touched) {
        let has_grown = self.has_tail_grown(transcript);
        let filter = self.find.filter.as_ref();
        if self.view.follows() {
            return;
        }
        let will_be_shown = |id: EntryId| {
            // An entry that was added and removed within one batch is not new.
            let entry = transcript
                .get(id)
                .filter(|entry| transcript.find(&entry.key) == Some(id));
            let is_shown = |filter: &Filter| entry.is_some() && !filter.blocks(id).is_empty();
            let is_main = entry.is_some_and(|entry| transcript.is_main_lane(entry.lane.as_ref()));
            filter.map_or(is_main, is_shown)
        };
        let is_shown = |id: &&EntryId| {
            self.sequence.place_of(**id).is_some() || (self.stale.sequence && will_be_shown(**id))
        };
        self.unseen += touched.added.iter().filter(is_shown).count();
        // More text of an entry that is already counted is not counted again.
        if has_grown && self.unseen == 0 {
            self.unseen = 1;
            self.places.tail.grown_entry = self.places.tail.last.map(|(id, _)| id);
        }
    }

    /// Whether the last entry has grown since the last call.
    fn has_tail_grown(&mut self, transcript: &Transcript) -> bool {
        let size = self.tail_size(transcript);
        let before = std::mem::replace(&mut self.places.tail.last, size);
        before
            .zip(size)
            .is_some_and(|((known, before), (id, now))| known == id && before < now)
    }

    /// Stores the size of the last entry, if it is another entry than before.
    pub(crate) fn update_tail(&mut self, transcript: &Transcript) {
        let known = self.places.tail.last.map(|(id, _)| id);
        if known != self.sequence.order().last().copied() {
            self.places.tail.last = self.tail_size(transcript);
        }
    }

    fn tail_size(&self, transcript: &Transcript) -> Option<(EntryId, u32)> {
        // A stale sequence may belong to another transcript.
        let known = self.places.tail.last.map(|(id, _)| id);
        let id = if self.stale.sequence {
            known
        } else {
            self.sequence.order().last().copied()
        }?;
        let glance = transcript.glance(id)?;
        Some((id, glance.long.saturating_add(u32::from(glance.blocks))))
    }

    /// Maps all positions to another transcript of the session.
    pub(crate) fn remap(&mut self, lookup: &Lookup<'_>) {
        self.view.remap(lookup);
        self.find.remap(lookup);
        self.folds.remap(lookup);
        let TailState {
            last,
            grown_entry: grown,
        } = self.places.tail;
        self.places.tail = TailState {
            last: last.and_then(|(id, size)| Some((lookup.entry(id)?, size))),
            grown_entry: grown.and_then(|id| lookup.entry(id)),
        };
        self.sequence = Sequence::default();
        self.cache.clear();
        self.pending_pages.clear();
        self.pending_copy = None;
        self.stale.sequence = true;
        self.stale.spine = true;
    }
}

/// Estimated rows of an entry, for the scrollbar only.
pub(crate) fn rows_of(transcript: &Transcript, id: EntryId, level: Level) -> u32 {
    let Some(glance) = transcript.glance(id) else {
        return 1;
    };
    let blocks = u32::from(glance.blocks);
    let rows = match level {
        Level::Prompts | Level::Outline => blocks,
        Level::Preview => blocks + u32::from(glance.short),
        Level::Full | Level::Raw => blocks.saturating_add(glance.long),
    };
    rows.max(1)
}
