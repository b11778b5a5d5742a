//! All that the viewer knows: the session, what is looked at, and the mode of the keys.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::alarms::Alarms;
use super::as_of::AsOf;
use super::checks::Checks;
use super::clipboard::{Copying, PendingCopy};
use super::details::Shown;
use super::ends::Ends;
use super::filter::Filter;
use super::folds::Folds;
use super::gutter::Gutter;
use super::heights::Heights;
use super::history::History;
use super::inspector::Inspector;
use super::items::RowCache;
use super::keymap::Keymap;
use super::keys::Press;
use super::marks::Marks;
use super::mode::Mode;
use super::mouse::Dragged;
use super::news::{News, Seen};
use super::outline::Outline;
use super::paging::Asked;
use super::panes::Panes;
use super::picker::Picker;
use super::route;
use super::search::{AtHit, Search, Sought};
use super::sequence::Sequence;
use super::spine::Spine;
use super::strip::Strip;
use super::viewport::{Focus, Viewport};
use super::views::Views;
use super::whole::Whole;
use super::wrapping::Wrapping;
use crate::analysis::activity::{self, Activity, LastWrite};
use crate::analysis::awaited::Awaited;
use crate::analysis::context::ContextUse;
use crate::analysis::expression::LOOP;
use crate::analysis::lint::Findings;
use crate::analysis::loops::Run;
use crate::model::edit::{LinkState, Opened, Polled};
use crate::model::entry::EntryId;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;
use crate::render::code::Colours;
use crate::render::picture::Pictures;
use crate::render::row::Level;
use crate::render::theme::Theme;
use crate::session::indexes::Indexes;

/// The state of the viewer.
pub struct State {
    /// The session as shown.
    pub transcript: Transcript,
    /// The whole session while only an end of it is shown.
    pub whole: Option<Whole>,
    /// Which end that is, and the other one.
    pub ends: Ends,
    /// What was found when the session was opened.
    pub opened: Option<Opened>,
    /// Paths of the session's files by number.
    pub files: Vec<Arc<Path>>,
    /// How the file fares.
    pub link: LinkState,
    /// Why the files are looked at a few times a second, if they are.
    pub polled: Option<Polled>,
    /// Bytes read and bytes in the file, while the whole is being read.
    pub progress: Option<(u64, u64)>,
    /// Whether everything that was there at the start is shown.
    pub is_caught_up: bool,
    /// Why no more will come, if the reading thread gave up.
    pub fault: Option<Text>,

    /// The window.
    pub view: Viewport,
    /// The visible entries.
    pub sequence: Sequence,
    /// Heights for the scrollbar.
    pub heights: Heights,
    /// Folds by hand.
    pub folds: Folds,
    /// Sub-agents whose entries are shown.
    pub open_lanes: HashSet<Name>,
    /// Level of detail.
    pub level: Level,
    /// Whether thinking is shown.
    pub shows_thinking: bool,
    /// Which panes are shown, how wide, and which has the keys.
    pub panes: Panes,
    /// What becomes of long lines, and what stands beside the text.
    pub wrapping: Wrapping,
    /// Whether the line of hints is shown.
    pub shows_hints: bool,
    /// What becomes of copies.
    pub copying: Copying,
    /// Colours and glyphs.
    pub theme: Theme,
    /// Highlights made in the background.
    pub colours: Arc<Colours>,
    /// Images, where they are made.
    pub pictures: Arc<Pictures>,
    /// Calls in flight beside the window.
    pub gutter: Gutter,
    /// Rows that are still valid.
    pub cache: RowCache,
    /// What is wrong with the session, or may be.
    pub checks: Checks,
    /// The outline.
    pub outline: Outline,
    /// All about the focused item.
    pub inspector: Inspector,
    /// The turn's time on one line.
    pub strip: Strip,
    /// What is known of calls and of time.
    pub indexes: Indexes,
    /// What the model did not see at the cursor.
    pub as_of: AsOf,
    /// Alarms that the reader set.
    pub alarms: Alarms,
    /// The last column.
    pub spine: Spine,
    /// Columns and lines of the screen.
    pub size: (u16, u16),

    /// Pages over the transcript.
    pub views: Views,

    /// What keys mean to this reader.
    pub keymap: Keymap,
    /// What keys mean just now.
    pub mode: Mode,
    /// The sessions to choose from.
    pub picker: Picker,
    /// Whether the session was chosen there, so that leaving it leads back.
    pub is_picked: bool,
    /// Keys of an unfinished chord.
    pub pressed: Vec<Press>,
    /// A count typed before a key.
    pub count: Option<usize>,
    /// When a digit was typed that may be a count or a key of its own.
    pub typed_digit: Option<Timestamp>,
    /// The search.
    pub search: Option<Search>,
    /// A hit to be brought into view, as soon as its rows are known.
    pub sought: Option<Sought>,
    /// The hit that was brought into view last.
    pub at_hit: Option<AtHit>,
    /// The id that is gone along, while the reader is where that led.
    pub same_id: Option<(Focus, String)>,
    /// Whether searches take what is typed literally.
    pub is_literal: bool,
    /// Searches that were typed.
    pub searches: History,
    /// The filter in force.
    pub filter: Option<Filter>,
    /// A filter that takes its place as soon as all texts are read.
    pub next_filter: Option<Filter>,
    /// Filters that were typed.
    pub filters: History,
    /// Commands that records were piped to.
    pub commands: History,
    /// A copy that waits for texts to be read.
    pub taking: Option<PendingCopy>,
    /// What opens this session on the command line, if anything does.
    pub address: Option<String>,
    /// The key of an entry that the reader asked for, until it has come.
    pub wanted: Option<String>,
    /// Whether the terminal tells of the mouse.
    pub has_mouse: bool,
    /// What the mouse drags.
    pub dragged: Option<Dragged>,
    /// Items that the reader marked.
    pub marks: Marks,
    /// The end of the session when the reader looked at it before; `None` if nothing is new since then.
    pub seen: Option<Seen>,
    /// Where what is new since then begins.
    pub news: Option<News>,
    /// The key that ended the last chord, if it types a character.
    pub letter: Option<char>,
    /// A message in the status line.
    pub message: Option<Message>,
    /// Where jumps came from.
    pub jumps: Vec<Focus>,
    /// Where jumps led that were taken back.
    pub ahead: Vec<Focus>,
    /// Entries that arrived below since the reader paused.
    pub unseen: usize,

    /// What the lint found.
    pub findings: Findings,
    /// What the agent is doing.
    pub activity: Activity,
    /// What that was judged of: the state of the session, when it was written to, the second, and the state of the
    /// account.
    pub judged: Option<(u64, Option<LastWrite>, i64, u64)>,
    /// How full the context is.
    pub context: Option<ContextUse>,
    /// The session's cost, ready to print.
    pub cost: String,
    /// The focused turn with its cost; `None` until it is known.
    pub turn_cost: Option<(usize, u64, String)>,
    /// The time, as told by the runtime.
    pub now: Timestamp,
    /// When the file last changed.
    pub last_write: Option<LastWrite>,

    /// What [`super::arrange::arrange`] must make anew.
    pub stale: Stale,
    /// Bodies that were asked for.
    pub asked: Asked,
    /// What records hold that no block tells, as far as it was in sight.
    pub details: Shown,
    /// Tells answers for the current search from earlier ones.
    pub generation: u32,
    /// State of the highlights when rows were last made.
    pub colours_seen: u64,
    /// Which state of the branches the rows were made for.
    pub branches_seen: u32,
}

/// What must be made anew before the next frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The sequence of visible entries.
    pub sequence: bool,
    /// Marks of the spine.
    pub spine: bool,
    /// Activity, context and cost.
    pub facts: bool,
    /// The search: more was typed.
    pub search: bool,
}

/// A message in the status line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The words.
    pub text: String,
    /// When it goes away.
    pub until: Timestamp,
}

/// Of waiting that takes longer than this, nobody counts the seconds.
const HOUR_MS: u64 = 60 * 60 * 1000;
/// Jumps that can be taken back.
const JUMPS_KEPT: usize = 100;
/// How long a message stays, in ms.
const MESSAGE_MS: i64 = 4_000;

impl State {
    /// Nothing read yet.
    #[expect(clippy::too_many_lines, reason = "a line for each field")]
    pub fn new(theme: Theme, level: Level, colours: Arc<Colours>, now: Timestamp) -> Self {
        Self {
            transcript: Transcript::new(),
            whole: None,
            ends: Ends::default(),
            opened: None,
            files: Vec::new(),
            link: LinkState::Live,
            polled: None,
            progress: None,
            is_caught_up: false,
            fault: None,
            view: Viewport::default(),
            sequence: Sequence::default(),
            heights: Heights::default(),
            folds: Folds::default(),
            open_lanes: HashSet::new(),
            level,
            shows_thinking: true,
            panes: Panes::default(),
            wrapping: Wrapping::default(),
            shows_hints: true,
            copying: Copying::default(),
            theme,
            colours,
            pictures: Arc::default(),
            gutter: Gutter::default(),
            cache: RowCache::default(),
            checks: Checks::default(),
            outline: Outline::default(),
            inspector: Inspector::default(),
            strip: Strip::default(),
            indexes: Indexes::default(),
            as_of: AsOf::default(),
            alarms: Alarms::default(),
            spine: Spine::default(),
            size: (80, 24),
            views: Views::default(),
            keymap: Keymap::default(),
            mode: Mode::Normal,
            picker: Picker::default(),
            is_picked: false,
            pressed: Vec::new(),
            count: None,
            typed_digit: None,
            search: None,
            sought: None,
            at_hit: None,
            same_id: None,
            is_literal: false,
            searches: History::default(),
            filter: None,
            next_filter: None,
            filters: History::default(),
            commands: History::default(),
            taking: None,
            address: None,
            wanted: None,
            has_mouse: false,
            dragged: None,
            marks: Marks::default(),
            seen: None,
            news: None,
            letter: None,
            message: None,
            jumps: Vec::new(),
            ahead: Vec::new(),
            unseen: 0,
            findings: Findings::default(),
            activity: Activity::Unknown,
            judged: None,
            context: None,
            cost: String::new(),
            turn_cost: None,
            now,
            last_write: None,
            stale: Stale { sequence: true, spine: true, facts: true, search: false },
            asked: Asked::default(),
            details: Shown::default(),
            generation: 0,
            colours_seen: 0,
            branches_seen: 0,
        }
    }

    /// Shows a message for a few seconds.
    pub fn say(&mut self, text: impl Into<String>) {
        self.message = Some(Message { text: text.into(), until: Timestamp(self.now.0 + MESSAGE_MS) });
    }

    /// Whether the screen changes with every second: a second hand, or a message that goes away. The
    /// clocks of calls run only while the agent is at work.
    pub fn ticks(&self) -> bool {
        self.is_at_work() || self.message.is_some() || self.alarms.needs_clock()
    }

    /// Whether the next frame would show more, though nothing has happened.
    pub fn is_unfinished(&self) -> bool {
        match self.mode {
            Mode::Picker => self.picker.is_at_work(),
            _ => self.indexes.is_behind() || self.outline.is_behind(),
        }
    }

    /// In how many ms the next frame would show more, because the cursor rests.
    pub fn rests_for(&self) -> Option<u64> {
        [self.inspector.rests_for(self.now), route::waits_for(self)].into_iter().flatten().min()
    }

    /// Remembers where a jump starts.
    pub fn remember_place(&mut self) {
        self.ahead.clear();
        if let Some(focus) = self.view.focus.filter(|focus| self.jumps.last() != Some(focus)) {
            self.jumps.push(focus);
            if self.jumps.len() > JUMPS_KEPT {
                self.jumps.remove(0);
            }
        }
    }

    /// Whether the filter in force shows a block.
    pub fn shows(&self, focus: Focus) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.shows(focus))
    }

    /// Forgets all rows, because the look changed.
    pub fn look_changed(&mut self) {
        self.cache.clear();
        self.inspector.forget_rows();
        self.stale.spine = true;
    }

    /// The turn of the focused item, or the last one.
    pub fn focused_turn(&self) -> Option<usize> {
        match self.view.focus {
            Some(focus) => self.indexes.account.turn_of(&self.transcript, focus.entry),
            None => self.transcript.turns().len().checked_sub(1),
        }
    }

    /// Whether open calls of an entry are still waited for: the agent is at work, and results may come.
    pub fn is_at_work_on(&self, id: EntryId) -> bool {
        self.is_at_work() && Awaited::of(&self.transcript).has(&self.transcript, id)
    }

    /// How long nothing was written at work, in ms.
    pub fn silence(&self) -> Option<u64> {
        activity::silence(self.last_entries(), &self.activity, self.last_write, self.now)
    }

    /// The loop that the agent is in right now.
    pub fn current_loop(&self) -> Option<Run<'_>> {
        let run = self.indexes.loops.current(&self.transcript)?;
        (!self.ends.is_beginning() && self.activity.is_work() && run.count() as u64 >= LOOP).then_some(run)
    }

    /// Whether the agent works on what is shown, or waits for somebody who may come.
    pub fn is_at_work(&self) -> bool {
        if self.ends.is_beginning() {
            return false;
        }
        match self.activity {
            Activity::Tool { .. } | Activity::Model { .. } | Activity::Retry { .. } => true,
            Activity::Waiting { since, .. } => since.is_some_and(|since| self.now.since(since) < HOUR_MS),
            Activity::Idle { .. } | Activity::Ended | Activity::Unclean | Activity::Unknown => false,
        }
    }
}
