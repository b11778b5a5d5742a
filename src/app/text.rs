//! The window onto the text of a session: what of it is shown, how, and where the reader is.

pub(crate) mod actions;
pub mod as_of;
pub(crate) mod attending;
pub(crate) mod branches;
pub mod details;
pub mod find;
pub mod folding;
pub mod folds;
pub(crate) mod goto;
pub mod gutter;
pub(crate) mod heights;
pub mod items;
pub mod landmarks;
pub mod moving;
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

use super::copying::clipboard::PendingCopy;
use super::layout::{Frame, Margin};
use super::panes::Pane;
use super::scene::Scene;
use super::text::as_of::AsOf;
use super::text::attending::Attending;
use super::text::find::Find;
use super::text::find::opened::Hiding;
use super::text::folds::Folds;
use super::text::gutter::Gutter;
use super::text::heights::Heights;
use super::text::items::RowCache;
use super::text::places::saved_position::SavedPosition;
use super::text::places::{Places, Tail};
use super::text::sequence::{Sequence, Wanted, starter_of};
use super::text::spine::Spine;
use super::text::viewport::Viewport;
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
use crate::session::paging::Asked;

/// The text of a session, as far as it is in sight.
#[derive(Debug)]
pub struct TextPane {
    /// The window.
    pub view: Viewport,
    /// The visible entries.
    pub sequence: Sequence,
    /// Heights for the scrollbar.
    pub(crate) heights: Heights,
    /// Folds by hand.
    pub folds: Folds,
    /// Sub-agents whose entries are shown.
    pub(crate) open_lanes: HashSet<Name>,
    /// The sub-agent among them that opened by itself.
    pub(crate) attending: Attending,
    /// Level of detail.
    pub level: Level,
    /// What of entries is shown besides.
    pub shows: Shows,
    /// What becomes of long lines, and what stands beside the text.
    pub wrapping: Wrapping,
    /// Calls in flight beside the window.
    pub gutter: Gutter,
    /// The last column.
    pub spine: Spine,
    /// What the model did not see at the cursor.
    pub as_of: AsOf,
    /// Entries that arrived below since the reader paused.
    pub unseen: usize,
    /// Bodies that were asked for.
    pub asked: Asked,
    /// What records hold that no block shows, as far as it was in sight.
    pub details: KnownDetails,
    /// Rows that are still valid.
    pub cache: RowCache,
    /// What is searched for, and what a filter hides.
    pub find: Find,
    /// Places that the reader marked, came from, or has not seen.
    pub places: Places,
    /// A copy that waits for texts to be read.
    pub pending_copy: Option<PendingCopy>,
    /// What must be made anew before the next frame.
    pub stale: Stale,
}

/// What of entries is shown, whatever the level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shows {
    /// Thinking.
    pub thinking: bool,
    /// What calls are for, before what they do.
    pub intents: bool,
}

/// What must be made anew before the next frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The sequence of visible entries.
    pub sequence: bool,
    /// Marks of the spine.
    pub spine: bool,
    /// How often the look has changed: other panes hold their rows against it.
    pub(crate) look: u32,
    /// State of the highlights when rows were last made.
    pub(crate) colours_seen: u64,
    /// Which state of the branches the rows were made for.
    pub(crate) branches_seen: u32,
}

impl TextPane {
    /// Nothing shown yet.
    pub fn new(level: Level) -> Self {
        Self {
            view: Viewport::default(),
            sequence: Sequence::default(),
            heights: Heights::default(),
            folds: Folds::default(),
            open_lanes: HashSet::new(),
            attending: Attending::default(),
            level,
            shows: Shows {
                thinking: true,
                intents: true,
            },
            wrapping: Wrapping::default(),
            gutter: Gutter::default(),
            spine: Spine::default(),
            as_of: AsOf::default(),
            unseen: 0,
            asked: Asked::default(),
            details: KnownDetails::default(),
            cache: RowCache::default(),
            find: Find::default(),
            places: Places::default(),
            pending_copy: None,
            stale: Stale {
                sequence: true,
                spine: true,
                look: 0,
                colours_seen: 0,
                branches_seen: 0,
            },
        }
    }

    /// Forgets all rows, because the look changed.
    pub fn look_changed(&mut self) {
        self.cache.clear();
        self.stale.spine = true;
        self.stale.look = self.stale.look.wrapping_add(1);
    }

    /// What stands beside it, and below it.
    pub(crate) fn margin(&self, transcript: &Transcript) -> Margin {
        Margin {
            numbers: self.wrapping.numbers.width(transcript),
            has_lanes: self.wrapping.lanes,
            has_pill: !self.view.follows() && self.unseen > 0,
        }
    }

    /// Where the parts of the screen are around it.
    pub(crate) fn frame(&self, scene: &Scene<'_>) -> Frame {
        scene.divide(self.margin(&scene.session.transcript))
    }

    /// The pane that has the keys.
    pub(crate) fn focused_pane(&self, scene: &Scene<'_>) -> Pane {
        scene.focused(self.margin(&scene.session.transcript))
    }

    /// What must be known of the session for what stands beside the text.
    pub(crate) fn needs(&self) -> Needs {
        let flights = self.level > Level::Prompts && self.wrapping.lanes;
        Needs {
            flights,
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

    /// What hides items of it.
    pub(crate) fn hiding(&mut self) -> Hiding<'_> {
        let Self {
            folds,
            open_lanes,
            shows,
            level,
            ..
        } = self;
        Hiding {
            folds,
            lanes: open_lanes,
            thinking: &mut shows.thinking,
            level,
        }
    }

    /// Where the reader is now.
    pub(crate) fn position(&self) -> SavedPosition {
        SavedPosition {
            anchor: self.view.anchor,
            focus: self.view.focus,
            folds: self.folds.clone(),
            open_lanes: self.open_lanes.clone(),
        }
    }

    /// Goes back to where the reader was.
    pub(crate) fn go_back(&mut self, to: &SavedPosition) {
        self.view.anchor = to.anchor;
        self.view.focus = to.focus;
        self.stale.sequence |= self.folds.branches() != to.folds.branches();
        self.stale.sequence |= self.folds.runs.open() != to.folds.runs.open();
        self.folds.clone_from(&to.folds);
        self.stale.sequence |= self.open_lanes != to.open_lanes;
        self.open_lanes.clone_from(&to.open_lanes);
        self.cache.clear();
    }

    /// Remembers where a jump starts.
    pub(crate) fn remember_place(&mut self, session: &Session) {
        self.places.remember(&session.transcript, self.view.focus);
    }

    /// Forgets rows that are no longer true: of changed entries, of the prompts whose turns changed, and of
    /// the calls whose sub-agents went on.
    pub(crate) fn forget_touched(&mut self, transcript: &Transcript, touched: &Touched) {
        self.forget_details(transcript, touched);
        // Bodies that were asked for where they stood before may not come.
        touched.moved.iter().for_each(|id| self.asked.forget(*id));
        if touched.reordered {
            self.cache.clear();
            self.asked.clear();
        }
        let mut lanes = HashSet::new();
        for id in touched.added.iter().chain(&touched.changed) {
            self.cache.forget(*id);
            self.asked.forget(*id);
            lanes.extend(transcript.get(*id).and_then(|entry| entry.lane.clone()));
        }
        for starter in lanes.iter().filter_map(|lane| starter_of(transcript, lane)) {
            self.cache.forget(starter);
        }
    }

    /// Forgets what is known of records that may be others by now.
    pub(crate) fn forget_details(&mut self, transcript: &Transcript, touched: &Touched) {
        if touched.reordered || !touched.moved.is_empty() {
            let anew = touched
                .moved
                .iter()
                .chain(&touched.added)
                .chain(&touched.changed);
            let anew: Vec<&Entry> = anew.filter_map(|id| transcript.get(*id)).collect();
            self.details.forget(&anew);
        }
    }

    /// Adds what is new to the sequence, or has it made anew.
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
                &Wanted {
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
            self.spine.note(transcript, id, place);
        }
    }

    /// Counts what came below while the reader is elsewhere.
    pub(crate) fn count_unseen(&mut self, transcript: &Transcript, touched: &Touched) {
        let has_grown = self.has_tail_grown(transcript);
        let filter = self.find.filter.as_ref();
        if self.view.follows() {
            return;
        }
        let will_be_shown = |id: EntryId| {
            // What came and was taken back at once is no news.
            let entry = transcript
                .get(id)
                .filter(|entry| transcript.find(&entry.key) == Some(id));
            let is_shown = |filter: &Filter| entry.is_some() && !filter.blocks(id).is_empty();
            let is_main = entry.is_some_and(|entry| transcript.is_spoken_to(entry.lane.as_ref()));
            filter.map_or(is_main, is_shown)
        };
        let is_shown = |id: &&EntryId| {
            self.sequence.place_of(**id).is_some() || (self.stale.sequence && will_be_shown(**id))
        };
        self.unseen += touched.added.iter().filter(is_shown).count();
        // What joins an entry that is new already is no more than that.
        if has_grown && self.unseen == 0 {
            self.unseen = 1;
            self.places.tail.grown = self.places.tail.last.map(|(id, _)| id);
        }
    }

    /// Whether more has joined the last entry since the last look.
    fn has_tail_grown(&mut self, transcript: &Transcript) -> bool {
        let size = self.tail_size(transcript);
        let before = std::mem::replace(&mut self.places.tail.last, size);
        before
            .zip(size)
            .is_some_and(|((known, before), (id, now))| known == id && before < now)
    }

    /// Looks at the last entry, if it is not known yet how much it holds: another transcript has others.
    pub(crate) fn note_tail(&mut self, transcript: &Transcript) {
        let known = self.places.tail.last.map(|(id, _)| id);
        if known != self.sequence.order().last().copied() {
            self.places.tail.last = self.tail_size(transcript);
        }
    }

    fn tail_size(&self, transcript: &Transcript) -> Option<(EntryId, u32)> {
        // A sequence that is to be made anew may be of another transcript.
        let known = self.places.tail.last.map(|(id, _)| id);
        let id = if self.stale.sequence {
            known
        } else {
            self.sequence.order().last().copied()
        }?;
        let glance = transcript.glance(id)?;
        Some((id, glance.long.saturating_add(u32::from(glance.blocks))))
    }

    /// Another transcript of the session is shown: all places are looked up there.
    pub(crate) fn look_up(&mut self, lookup: &Lookup<'_>) {
        self.view.look_up(lookup);
        self.find.look_up(lookup);
        self.folds.look_up(lookup);
        let Tail { last, grown } = self.places.tail;
        self.places.tail = Tail {
            last: last.and_then(|(id, size)| Some((lookup.entry(id)?, size))),
            grown: grown.and_then(|id| lookup.entry(id)),
        };
        self.sequence = Sequence::default();
        self.cache.clear();
        self.asked.clear();
        self.pending_copy = None;
        self.stale.sequence = true;
        self.stale.spine = true;
    }
}

/// Rows of an entry, roughly: for the scrollbar only.
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
