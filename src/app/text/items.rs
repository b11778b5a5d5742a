//! Rows of entries: laid out on demand, and cached while their inputs are equal.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use ratatui::text::Span;

use super::folds::Folds;
use super::portions::EntryPortion;
use super::rulers::{self, Ruler};
use super::runs;
use super::sequence::{Sequence, depth_of};
use super::viewport::{Focus, RowSource};
use crate::analysis::account::Account;
use crate::analysis::agents::{self, AgentState};
use crate::analysis::calls::awaited::Awaited;
use crate::analysis::calls::lifecycle;
use crate::analysis::reading::helper_headed_by;
use crate::analysis::{phrases, plans};
use crate::app::text::places::news::{self, NewsLine};
use crate::model::body::Body;
use crate::model::branches::Branch;
use crate::model::entry::{Block, Entry, EntryId, Role};
use crate::model::meta::LaneFacts;
use crate::model::record::Origin;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::work::EndLine;
use crate::model::tool::{ToolCall, ToolState};
use crate::model::transcript::Transcript;
use crate::render;
use crate::render::row::{Item, LaneLine, Level, Look, Row, RowKind};
use crate::render::wrap;
use crate::session::details::KnownDetails;
use crate::session::filter::Filter;

/// Capacity of the cache in portions; when it is full, only those of the window stay.
const MAX_CACHED: usize = 600;

/// Number of latest steps that are listed for a running sub-agent.
const SIGNS: usize = 3;

/// Inputs of a layout besides the entry: cached rows are valid while these are equal.
#[derive(Clone, Debug, Default, PartialEq)]
struct LayoutInputs {
    /// Summary of the turn that the entry opens.
    turn: Option<String>,
    /// Generation of the account, if the entry shows figures of sub-agents.
    lanes: Option<u64>,
    ruler: Option<Ruler>,
    /// The day that begins with the next entry.
    day: Option<String>,
    /// Whether calls of the entry may still get their results.
    is_awaited: bool,
    /// Whether the entry is unfinished and may still grow.
    is_at_work: bool,
    /// Whether background work of its calls may still run.
    is_running: bool,
    /// Ends of background work that the entry reports.
    ends: Vec<EndLine>,
    /// For the first entry of a helper: whether the helper is folded.
    helper: Option<bool>,
    /// The joined session that begins with the entry.
    session: Option<usize>,
    /// Number of entries of the folded run that the row represents.
    run: usize,
}

/// Rows, with the inputs of their layout.
type CachedRows = (LayoutInputs, Arc<Vec<Row>>);

#[derive(Clone, Debug, Default)]
pub struct RowCache {
    /// Rows by entry and number of the portion.
    rows: BTreeMap<(EntryId, usize), CachedRows>,
    /// Width of the text, height of the screen, and whether entries have times: the cache is valid
    /// for these.
    conditions: (u16, u16, bool),
    root: Option<Text>,
    /// Number of layouts since the last reset; tests check that it depends on the screen only.
    pub laid_out: usize,
    /// Bodies that layouts need from disk: the shown entry, the entry that has the body, its
    /// record.
    pub(crate) needed_bodies: Vec<(EntryId, EntryId, Origin)>,
}

impl RowCache {
    pub(crate) fn remove(&mut self, id: EntryId) {
        while let Some((known, _)) = self.rows.range((id, 0)..=(id, usize::MAX)).next() {
            let known = *known;
            self.rows.remove(&known);
        }
    }

    pub fn clear(&mut self) {
        self.rows.clear();
    }

    /// Drops all rows if the width, the height, or the base directory of paths has changed.
    pub(crate) fn invalidate_if_changed(
        &mut self,
        conditions: (u16, u16, bool),
        root: Option<&Text>,
    ) {
        if self.conditions != conditions || self.root.as_ref() != root {
            (self.conditions, self.root) = (conditions, root.cloned());
            self.rows.clear();
        }
    }

    /// Drops all rows except those of some entries, if the cache is full.
    pub(crate) fn trim(&mut self, keeps: impl Fn(EntryId) -> bool) {
        if self.rows.len() > MAX_CACHED {
            self.rows.retain(|(id, _), _| keeps(*id));
        }
    }
}

/// The layout of entries: the cache and everything that a layout depends on.
pub struct Layouts<'a> {
    pub(crate) transcript: &'a Transcript,
    /// Which calls may still get their results.
    pub(crate) awaited: Awaited,
    pub(crate) sequence: &'a Sequence,
    pub(crate) folds: &'a Folds,
    /// Sub-agents whose entries are shown.
    pub(crate) open_lanes: &'a HashSet<Name>,
    pub(crate) filter: Option<&'a Filter>,
    /// The line above the first new entry.
    pub(crate) news: Option<&'a NewsLine>,
    /// Figures of turns, and the classes of the time between entries.
    pub(crate) account: &'a Account,
    /// Milliseconds since the last entry of the running turn.
    pub(crate) goes_on_ms: u64,
    pub(crate) is_at_work: bool,
    pub(crate) has_rulers: bool,
    /// Width, level, theme and settings.
    pub(crate) look: Look<'a>,
    /// Fields of records that no block shows.
    pub(crate) details: &'a KnownDetails,
    pub(crate) cache: &'a mut RowCache,
}

impl RowSource for Layouts<'_> {
    fn len(&self) -> usize {
        self.sequence.portions().count(self.sequence.len())
    }

    fn start(&self, place: usize) -> Option<Focus> {
        let portion = self.sequence.portions().at(place);
        Some(Focus {
            entry: self.sequence.at(portion.place)?,
            block: portion.blocks().start,
        })
    }

    fn place(&self, focus: Focus) -> Option<usize> {
        Some(
            self.sequence
                .portions()
                .of_block(self.sequence.place_of(focus.entry)?, focus.block),
        )
    }

    fn rows(&mut self, place: usize) -> Arc<Vec<Row>> {
        let portion = self.sequence.portions().at(place);
        let Some(id) = self.sequence.at(portion.place) else {
            return Arc::default();
        };
        let is_open = || {
            self.transcript
                .glance(id)
                .is_some_and(|glance| glance.open > 0)
        };
        let works = |entry: &Entry| {
            entry
                .calls()
                .any(|call| matches!(call.state, ToolState::Acknowledged(_)))
        };
        let is_written = || self.transcript.marks(id).is_some_and(|marks| marks.open);
        let inputs = LayoutInputs {
            turn: self.turn_line(id).filter(|_| portion.number == 0),
            lanes: (self.has_lanes(id, portion) || self.helper(id).is_some())
                .then_some(self.account.generation),
            ruler: self
                .ruler_below(portion.place, id)
                .filter(|_| portion.is_last()),
            day: self
                .day_below(portion.place, id)
                .filter(|_| portion.is_last()),
            is_awaited: self.awaited.has(self.transcript, id) && is_open(),
            is_at_work: self.is_at_work || !is_written(),
            is_running: self.is_at_work
                && (is_open() || self.transcript.get(id).is_some_and(works)),
            ends: self.work_ends(id),
            helper: self
                .helper(id)
                .map(|lane| !self.open_lanes.contains(&lane.name)),
            session: self.session_begins(portion, id).map(|(number, _)| number),
            run: self.run(id).len(),
        };
        let key = (id, portion.number);
        if let Some((known, rows)) = self.cache.rows.get(&key)
            && *known == inputs
        {
            return Arc::clone(rows);
        }
        let transcript = self.transcript;
        let entry = transcript.get(id);
        let mut rows =
            entry.map_or_else(Vec::new, |entry| self.lay_out(id, entry, portion, &inputs));
        if let Some((number, session)) = self.session_begins(portion, id) {
            let gaps = rows
                .iter()
                .take_while(|row| row.kind == RowKind::Gap)
                .count();
            rows.insert(gaps, self.session_row(number, session));
        }
        let rows = Arc::new(rows);
        self.cache.laid_out += 1;
        self.cache.rows.insert(key, (inputs, Arc::clone(&rows)));
        rows
    }
}

impl Layouts<'_> {
    /// The ends of background work that an entry reports.
    fn work_ends(&self, id: EntryId) -> Vec<EndLine> {
        let has_some = self
            .transcript
            .marks(id)
            .is_some_and(|marks| marks.reports || marks.again);
        let Some(entry) = self.transcript.get(id).filter(|_| has_some) else {
            return Vec::new();
        };
        let ends = lifecycle::reports(self.transcript, entry, !self.is_at_work);
        ends.iter()
            .map(|ends| phrases::end(ends, self.look.root, self.look.intents))
            .collect()
    }

    /// The ruler between an entry and the next shown one; `None` under a filter, since hidden
    /// entries took the time.
    fn ruler_below(&self, place: usize, id: EntryId) -> Option<Ruler> {
        let is_shown = self.look.level > Level::Prompts && self.filter.is_none();
        let below = self
            .sequence
            .at(place + 1)
            .filter(|_| is_shown && self.has_rulers)?;
        rulers::between(self.transcript, self.account, id, below)
    }

    /// The joined session of an entry; `None` if the entry above is of the same one.
    fn session_begins(&self, portion: EntryPortion, id: EntryId) -> Option<(usize, &LaneFacts)> {
        let (number, session) = self
            .transcript
            .session_of(id)
            .filter(|_| portion.number == 0)?;
        let before = portion
            .place
            .checked_sub(1)
            .and_then(|above| self.sequence.at(above));
        let before = before.and_then(|above| self.transcript.session_of(above));
        before
            .is_none_or(|(before, _)| before != number)
            .then_some((number, session))
    }

    /// The day that begins with the next shown entry.
    fn day_below(&self, place: usize, id: EntryId) -> Option<String> {
        rulers::new_day(self.transcript, id, self.sequence.at(place + 1)?)
    }

    /// Whether calls of a portion started sub-agents.
    fn has_lanes(&self, id: EntryId, portion: EntryPortion) -> bool {
        let Some(entry) = self
            .transcript
            .get(id)
            .filter(|_| !self.transcript.lanes().is_empty())
        else {
            return false;
        };
        let within = portion.blocks();
        let blocks = entry.blocks.iter().skip(within.start).take(within.len());
        blocks
            .filter_map(Block::call)
            .any(|call| self.transcript.lanes_begun(id, &call.key).next().is_some())
    }

    /// The entries of the folded run that the row of an entry represents.
    fn run(&self, id: EntryId) -> &[EntryId] {
        let is_folded = runs::fold_at(self.look.level) && self.filter.is_none();
        self.folds
            .runs
            .folded(id)
            .filter(|_| is_folded)
            .unwrap_or_default()
    }

    /// The helper whose first entry this is; `None` under a filter, which shows all its entries.
    fn helper(&self, id: EntryId) -> Option<&LaneFacts> {
        helper_headed_by(self.transcript, id).filter(|_| self.filter.is_none())
    }

    /// Summary of the turn that an entry opens.
    fn turn_line(&self, id: EntryId) -> Option<String> {
        self.transcript.marks(id).filter(|marks| marks.prompt)?;
        let turn = self.account.turn_of(self.transcript, id)?;
        let is_own = self
            .transcript
            .turns()
            .get(turn)
            .is_some_and(|turn| turn.prompt == id);
        let is_own = is_own && self.account.is_turn_complete(self.transcript, turn);
        let figures = self
            .account
            .turn(self.transcript, Some(turn).filter(|_| is_own)?);
        let goes_on_ms = if self.transcript.is_newest_turn(Some(turn)) {
            self.goes_on_ms
        } else {
            0
        };
        Some(phrases::turn(&figures, goes_on_ms, self.look.theme.ascii))
            .filter(|line| !line.is_empty())
    }

    /// The start time of a running sub-agent; `None` if it has ended or its turn is over.
    fn running_since(&self, id: EntryId, call: &ToolCall, lane: &LaneFacts) -> Option<Timestamp> {
        let turn = self.account.turn_of(self.transcript, id);
        let is_awaited = !self.awaited.has_ended && self.transcript.is_newest_turn(turn);
        let fate = agents::fate(self.transcript, Some(lane), Some(call), is_awaited);
        let began = || {
            lane.entries
                .iter()
                .find_map(|id| self.transcript.get(*id)?.at)
        };
        let since = call
            .started
            .or_else(|| self.transcript.get(id)?.at)
            .or_else(began)?;
        (fate == AgentState::Running).then_some(since)
    }

    /// The sub-agents that calls of these blocks started.
    fn lanes_of(&self, id: EntryId, entry: &Entry, within: Range<usize>) -> Vec<LaneLine> {
        let ascii = self.look.theme.ascii;
        let blocks = entry.blocks.iter().skip(within.start).take(within.len());
        blocks
            .filter_map(Block::call)
            .flat_map(|call| {
                self.transcript
                    .lanes_begun(id, &call.key)
                    .map(move |lane| (call, lane))
            })
            .map(|(call, lane)| {
                let is_open = self.open_lanes.contains(&lane.name);
                let since = self.running_since(id, call, lane);
                LaneLine {
                    call: call.key.clone(),
                    label: lane.label.clone(),
                    facts: phrases::lane(lane, self.transcript, self.account, ascii),
                    is_open,
                    last: phrases::last_signs(lane, self.transcript, since.map_or(1, |_| SIGNS)),
                    since,
                }
            })
            .collect()
    }

    fn lay_out(
        &mut self,
        id: EntryId,
        entry: &Entry,
        portion: EntryPortion,
        inputs: &LayoutInputs,
    ) -> Vec<Row> {
        let above = self.above(id, inputs);
        let is_folded = above.iter().any(|(_, is_folded)| *is_folded);
        if portion.number > 0 && is_folded {
            return Vec::new();
        }
        let within = portion.blocks();
        let ascii = self.look.theme.ascii;
        let spent = entry
            .usage
            .as_deref()
            .map(|usage| phrases::tokens_and_cost(usage, entry.model.as_ref(), ascii));
        let lanes = self.lanes_of(id, entry, within.clone());
        let earlier = plans::earlier(self.transcript, id, within.clone());
        let away = earlier.iter().filter(|(_, _, input)| input.is_on_disk());
        self.cache
            .needed_bodies
            .extend(away.map(|(_, holder, input)| (id, *holder, input.from)));
        let plans: Vec<(usize, &Body)> = earlier
            .iter()
            .map(|(block, _, input)| (*block, *input))
            .collect();
        let details = match self.look.level {
            Level::Full | Level::Raw => {
                self.details
                    .cached(entry, within.clone(), self.transcript.shown_above(id))
            }
            Level::Prompts | Level::Outline | Level::Preview => Vec::new(),
        };
        let run = self
            .run(id)
            .iter()
            .filter_map(|id| self.transcript.get(*id));
        let run: Vec<&Entry> = run.collect();
        let item = Item {
            run: &run,
            details: &details,
            folds: self.folds.of(&entry.key),
            nodes: self.folds.nodes(&entry.key),
            plans: &plans,
            turn: inputs.turn.as_deref(),
            usage: spent.as_deref().filter(|_| entry.role == Role::Assistant),
            dim: entry.marks.copy || self.transcript.branches().abandoned.contains(&id),
            is_awaited: inputs.is_awaited,
            is_running: inputs.is_running,
            ends: &inputs.ends,
            lanes: &lanes,
            depth: depth_of(self.transcript, entry),
            is_main_lane: self.transcript.is_main_lane(entry.lane.as_ref()),
            is_joined: self.transcript.is_joined(),
            is_at_work: inputs.is_at_work,
            only: self.filter.map(|filter| filter.blocks(id)),
            blocks: (within.start, within.end),
            ..Item::of(entry)
        };
        let mut rows = render::lay_out(&item, &self.look);
        if portion.number == 0 && !above.is_empty() {
            let gaps = rows
                .iter()
                .take_while(|row| row.kind == RowKind::Gap)
                .count();
            rows.truncate(if is_folded { gaps } else { rows.len() });
            let above = above
                .iter()
                .map(|(words, is_folded)| self.row_above(words, *is_folded));
            rows.splice(gaps..gaps, above);
        }
        if inputs.ruler.is_some() || inputs.day.is_some() {
            let block = rows.last().map_or(within.start, |row| row.block);
            rows.push(rulers::row(
                inputs.ruler.as_ref(),
                inputs.day.as_deref(),
                block,
                &self.look,
            ));
        }
        if let Some(news) = self
            .news
            .filter(|news| news.above == id && portion.is_last())
        {
            let block = rows.last().map_or(within.start, |row| row.block);
            rows.push(news::row(&news.words, block, &self.look));
        }
        rows
    }
}

impl Layouts<'_> {
    /// The rows above the head of a branch or helper, each with whether the branch or helper is
    /// folded into it.
    fn above(&self, id: EntryId, inputs: &LayoutInputs) -> Vec<(String, bool)> {
        let is_folded =
            |branch: &Branch| self.filter.is_none() && self.folds.branches.contains(&branch.number);
        let branch = self.transcript.branches().beginning_at(id);
        let branch =
            branch.map(|branch| (phrases::branch(branch, self.transcript), is_folded(branch)));
        let facts = |lane: &LaneFacts| {
            phrases::lane(lane, self.transcript, self.account, self.look.theme.ascii)
        };
        let helper = self.helper(id).zip(inputs.helper);
        let helper =
            helper.map(|(lane, is_folded)| (format!("{}  {}", lane.label, facts(lane)), is_folded));
        [branch, helper].into_iter().flatten().collect()
    }

    /// The row that names a joined session, above its entries.
    fn session_row(&self, number: usize, session: &LaneFacts) -> Row {
        let theme = self.look.theme;
        let glyphs = theme.glyphs();
        let words = Span::styled(
            format!("{} {}", glyphs.closed, session.label),
            theme.of_session(number),
        );
        Row {
            line: wrap::fit(&[words], usize::from(self.look.width), glyphs.cut).into(),
            kind: RowKind::Rule,
            ..Row::default()
        }
    }

    /// The row above a branch or helper, or the one that replaces it.
    fn row_above(&self, words: &str, is_folded: bool) -> Row {
        let glyphs = self.look.theme.glyphs();
        let mark = if is_folded {
            glyphs.closed
        } else {
            glyphs.open
        };
        let words = Span::styled(format!("{mark} {words}"), self.look.theme.dim);
        Row {
            line: wrap::fit(&[words], usize::from(self.look.width), glyphs.cut).into(),
            kind: if is_folded {
                RowKind::Head
            } else {
                RowKind::Rule
            },
            hides: u32::from(is_folded),
            ..Row::default()
        }
    }
}
