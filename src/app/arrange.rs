//! Before each frame: fills the window and what surrounds it. The only place where rows are made.
//!
//! Invariant: what is laid out depends on the screen, not on the session.

use std::collections::HashSet;

use super::as_of;
use super::branch_folds;
use super::branches;
use super::details;
use super::effect::Effect;
use super::ends;
use super::gutter;
use super::inspector;
use super::items::Layouts;
use super::marks;
use super::mode::Mode;
use super::news;
use super::outline;
use super::paging;
use super::panes::{self, Frame, Pane, divide};
use super::picker;
use super::searching;
use super::seek;
use super::sequence::{Sequence, Wanted};
use super::spine::{self, cell_of};
use super::state::State;
use super::strip;
use super::uncover::uncover;
use super::viewport::{Anchor, Focus, Line, Motion, Viewport};
use super::views;
use crate::analysis::awaited::Awaited;
use crate::analysis::{activity, context, phrases};
use crate::model::entry::{BlockKind, EntryId};
use crate::model::glance::Glance;
use crate::model::transcript::Transcript;
use crate::render::row::{Level, Look};
use crate::session::indexes::Around;

/// Fills the window, and says which bodies must be read for it.
pub fn arrange(state: &mut State) -> Vec<Effect> {
    if matches!(state.mode, Mode::Picker) {
        return picker::arrange(state);
    }
    state.transcript.settle();
    let mut effects = searching::catch_up(state);
    branch_folds::notice(state);
    refresh_facts(state);
    refresh_sequence(state);
    let seen = state.colours.generation() + state.pictures.generation();
    if state.colours_seen != seen {
        state.colours_seen = seen;
        state.cache.clear();
    }
    let mut frame = divide(state);
    let is_talk = state.level > Level::Prompts;
    let around = Around {
        lanes: is_talk && state.wrapping.lanes,
        files: frame.outline.width > 0 || state.views.open() == Some(views::View::Files),
    };
    state.indexes.follow_around(&state.transcript, around);
    effects.extend(ends::hand_out(state));
    uncover(state, frame);
    let held = (!state.view.is_moving()).then_some(state.view.anchor);
    fill(state, frame);
    if divide(state) != frame {
        // What is new came into sight, and the pill's line is free: nothing gives way to it.
        frame = divide(state);
        state.view.anchor = held.unwrap_or(state.view.anchor);
        fill(state, frame);
    }
    let shown: HashSet<EntryId> = state.view.lines.iter().map(|line| line.entry).collect();
    state.cache.trim(|id| shown.contains(&id));
    for line in &state.view.lines {
        let portion = state.sequence.portions().at(line.place);
        if portion.of == 1 {
            state.heights.set(portion.place, u32::try_from(line.rows.len()).unwrap_or(u32::MAX));
        }
    }
    gutter::arrange(state, &frame);
    effects.extend(know(state, &frame));
    as_of::arrange(state);
    arrange_sides(state, frame);
    views::arrange(state);
    effects.extend(paging::page(state));
    effects.extend(details::ask(state));
    effects.extend(inspector::arrange(state, &frame));
    strip::arrange(state, &frame);
    effects.extend(ends::hand_out(state));
    effects
}

/// Brings up to date what is known of calls, of time and of flaws, as far as what is in sight needs it. Entries
/// that were looked at for that are to be packed.
fn know(state: &mut State, frame: &Frame) -> Vec<Effect> {
    let mut wants = views::wants(state);
    let is_inspecting = frame.inspector.width > 1 && frame.inspector.height > 1;
    wants.findings |= frame.outline.width > 0 || state.alarms.want_findings();
    wants.calls |= is_inspecting;
    wants.windows |= state.as_of.is_on;
    state.indexes.follow(&state.transcript, wants);
    let effects = ends::hand_out(state);
    // The end of a session alone lacks the calls of many results.
    if wants.findings && state.whole.is_none() {
        state.indexes.follow_findings(&state.transcript, &mut state.findings);
    }
    effects
}

/// Fills the window; what is new and in sight is no longer unseen.
fn fill(state: &mut State, frame: Frame) {
    let arrange = |layouts: &mut Layouts<'_>, view: &mut Viewport| {
        view.arrange(layouts, usize::from(frame.lines()));
    };
    with_layouts(state, frame, arrange);
    if state.ends.is_beginning() && state.view.follows() {
        // What comes after the first entries is not new, and must not move what is read.
        state.view.ask(Motion::Pause);
        with_layouts(state, frame, arrange);
    }
    if state.view.is_at_end {
        state.unseen = 0;
    }
    let last = state.view.lines.last().and_then(|line| state.sequence.place_of(line.entry));
    if let Some(last) = last {
        state.unseen = state.unseen.min(state.sequence.len().saturating_sub(last + 1));
    }
}

/// Lends the layouts of all entries, with the window.
pub fn with_layouts<T>(
    state: &mut State,
    frame: Frame,
    work: impl FnOnce(&mut Layouts<'_>, &mut Viewport) -> T,
) -> T {
    let width = frame.text();
    state.cache.fit(width);
    let mut layouts = Layouts {
        transcript: &state.transcript,
        awaited: Awaited::of(&state.transcript),
        sequence: &state.sequence,
        folds: &state.folds,
        open_lanes: &state.open_lanes,
        filter: state.filter.as_ref(),
        news: state.news.as_ref(),
        account: &state.indexes.account,
        has_rulers: state.wrapping.rulers,
        look: Look {
            width,
            level: state.level,
            thinking: state.shows_thinking,
            times: width >= 60,
            theme: &state.theme,
            colours: &state.colours,
            sideways: state.wrapping.sideways,
            pictures: Some(&state.pictures),
        },
        details: &state.details,
        cache: &mut state.cache,
    };
    work(&mut layouts, &mut state.view)
}

fn refresh_facts(state: &mut State) {
    // It depends on the session and on how many seconds have passed; the last answer may be very long.
    let (second, counted) = (state.now.0.div_euclid(1_000), state.indexes.account.revision());
    let seen = (state.last_entries().changes(), state.last_write, second, counted);
    let is_counted_anew = state.judged.is_none_or(|(.., before)| before != counted);
    if state.stale.facts || state.judged != Some(seen) {
        state.judged = Some(seen);
        state.activity = activity::judge(state.last_entries(), state.last_write, state.now);
    }
    let is_stale = std::mem::take(&mut state.stale.facts);
    if is_stale {
        state.context = context::of(state.last_entries());
    }
    if is_stale || is_counted_anew {
        state.cost = phrases::cost(&state.indexes.account.cost(&state.transcript))
            .unwrap_or_else(|| unknown_price(&state.transcript));
    }
}

/// The cost of the focused turn, found anew if that is another one or has changed.
fn refresh_turn(state: &mut State, turn: Option<usize>) {
    let account = &state.indexes.account;
    let wanted = turn.map(|turn| (turn, account.revision()));
    if state.turn_cost.as_ref().map(|(turn, revision, _)| (*turn, *revision)) == wanted {
        return;
    }
    state.turn_cost = wanted.map(|(turn, revision)| {
        let known = Some(turn).filter(|turn| account.knows(&state.transcript, *turn));
        let spent = known.map(|turn| account.turn(&state.transcript, turn).cost());
        (turn, revision, spent.and_then(|spent| phrases::cost(&spent)).unwrap_or_default())
    });
}

/// Tokens were spent, and no price is known.
fn unknown_price(transcript: &Transcript) -> String {
    let is_spent = transcript.totals().sum().output.total > 0;
    if is_spent { "$?".to_owned() } else { String::new() }
}

/// Makes the sequence of visible entries anew, if it is no longer true.
pub fn refresh_sequence(state: &mut State) {
    if !state.stale.sequence {
        return;
    }
    state.stale.sequence = false;
    state.stale.spine = true;
    let before = std::mem::take(&mut state.sequence);
    let wanted = Wanted {
        open_lanes: &state.open_lanes,
        level: state.level,
        folded: &branches::hidden(&state.transcript, &state.folds),
        filter: state.filter.as_ref(),
    };
    state.sequence.rebuild(&state.transcript, &wanted);
    keep_place(state, &before);
    news::place(state);
    let rows = state
        .sequence
        .order()
        .iter()
        .map(|id| state.transcript.glance(*id).map_or(1, |glance| estimate(&glance, state.level)));
    state.heights.reset(rows);
    state.spine.rebuild(&state.transcript, &state.sequence);
}

/// What held the window or had the focus may no longer be shown: then the call of its sub-agent takes its
/// place, or the nearest entry before it.
fn keep_place(state: &mut State, before: &Sequence) {
    let instead_of = |id: EntryId| {
        let place = before.place_of(id).filter(|_| state.sequence.place_of(id).is_none())?;
        let entry = state.transcript.get(id)?;
        let starter = seek::starter(&state.transcript, entry);
        if let Some(starter) = starter.filter(|focus| state.sequence.place_of(focus.entry).is_some()) {
            return Some(starter);
        }
        let nearest = before.nearest_shown(place, &state.sequence)?;
        let blocks = &state.transcript.get(nearest)?.blocks;
        let text = blocks.iter().position(|block| matches!(block.kind, BlockKind::Text(_)));
        Some(Focus { entry: nearest, block: text.unwrap_or(0) })
    };
    if let Anchor::Row { entry, line, .. } = state.view.anchor
        && let Some(Focus { entry, block }) = instead_of(entry)
    {
        state.view.anchor = Anchor::Row { entry, block, row: 0, node: None, line };
    }
    if let Some(focus) = state.view.focus.and_then(|focus| instead_of(focus.entry)) {
        state.view.focus = Some(focus);
    }
}

/// Rows of an entry, roughly: for the scrollbar only.
pub fn estimate(glance: &Glance, level: Level) -> u32 {
    let blocks = u32::from(glance.blocks);
    let rows = match level {
        Level::Prompts | Level::Outline => blocks,
        Level::Preview => blocks + u32::from(glance.short),
        Level::Full | Level::Raw => blocks.saturating_add(glance.long),
    };
    rows.max(1)
}

fn arrange_sides(state: &mut State, frame: Frame) {
    let loops = state.indexes.loops.generation();
    state.stale.spine |= std::mem::replace(&mut state.spine.troubles_seen, loops) != loops;
    let current = state.focused_turn();
    refresh_turn(state, current);
    if frame.outline.width > 0 || state.views.open() == Some(views::View::Checks) {
        let (findings, loops) = (&state.findings, &state.indexes.loops);
        state.checks.refresh(&state.transcript, findings, loops, state.theme.glyphs());
    }
    if frame.outline.width > 0 {
        let focused = state.view.focus.map(|focus| focus.entry);
        let has_keys = panes::focused(state) == Pane::Outline;
        state.outline.arrange(&outline::Wanted {
            transcript: &state.transcript,
            files: &state.indexes.files,
            focused,
            turn: current,
            height: usize::from(frame.outline.height),
            has_keys,
            glyphs: state.theme.glyphs(),
            account: &state.indexes.account,
            then: state.as_of.then(),
            checks: &state.checks,
        });
    } else {
        state.outline.hide();
    }
    if state.stale.spine {
        state.stale.spine = false;
        let hits = state.search.iter().flat_map(|search| &search.hits).map(|hit| hit.focus.entry);
        let hits = hits.map(|id| (id, spine::Mark::Hit));
        let marks = marks::entries(state).map(|id| (id, spine::Mark::Marked));
        let loops = state.indexes.loops.entries().into_iter().map(|id| (id, spine::Mark::Trouble));
        let alarms = state.alarms.marks.iter().map(|id| (*id, spine::Mark::Alarm));
        let marked = hits.chain(marks).chain(loops).chain(alarms).collect();
        state.spine.mark(&state.sequence, marked);
    }
    state.spine.arrange(usize::from(frame.lines()), &state.heights);
}

/// The part of the spine that the window covers: first and last cell.
pub fn window_on_spine(state: &State, height: usize) -> Option<(usize, usize)> {
    let (first, last) = (state.view.lines.first()?, state.view.lines.last()?);
    let cell = |line: &Line| cell_of(row_of(state, line), state.heights.total(), height);
    Some((cell(first), cell(last)))
}

/// The row of a line among all; within an entry of several portions roughly.
fn row_of(state: &State, line: &Line) -> u64 {
    let portion = state.sequence.portions().at(line.place);
    let first = state.heights.before(portion.place);
    let rows = state.heights.before(portion.place + 1) - first;
    first + rows * portion.number as u64 / portion.of as u64 + line.row as u64
}

/// How far down the window's last line is, in percent.
pub fn percent(state: &State) -> u64 {
    let Some(last) = state.view.lines.last() else { return 100 };
    let row = row_of(state, last) + 1;
    if state.view.is_at_end { 100 } else { (row * 100 / state.heights.total().max(1)).min(99) }
}
