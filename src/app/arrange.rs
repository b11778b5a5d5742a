//! Before each frame: fills the window and what surrounds it. The only place where rows are made.
//!
//! Invariant: what is laid out depends on the screen, not on the session.

use std::collections::HashSet;

use super::as_of;
use super::branch_folds;
use super::branches;
use super::details;
use super::effect::Effect;
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
use super::text::rows_of;
use super::uncover::uncover;
use super::viewport::{Anchor, Focus, Line, Motion, Viewport};
use super::views;
use crate::analysis::awaited::Awaited;
use crate::analysis::phrases;
use crate::model::entry::{BlockKind, EntryId};
use crate::render::row::{Level, Look};
use crate::session::indexes::Around;

/// Fills the window, and says which bodies must be read for it.
pub fn arrange(state: &mut State) -> Vec<Effect> {
    if matches!(state.mode, Mode::Picker) {
        return picker::arrange(state);
    }
    state.session.transcript.settle();
    let mut effects = searching::catch_up(state);
    branch_folds::notice(state);
    state.session.refresh(state.screen.now);
    refresh_sequence(state);
    let seen = state.screen.colours.generation() + state.screen.pictures.generation();
    if state.text.colours_seen != seen {
        state.text.colours_seen = seen;
        state.text.cache.clear();
    }
    let mut frame = divide(state);
    let is_talk = state.text.level > Level::Prompts;
    let around = Around {
        lanes: is_talk && state.text.wrapping.lanes,
        files: frame.outline.width > 0 || state.views.open() == Some(views::View::Files),
    };
    state.session.indexes.follow_around(&state.session.transcript, around);
    effects.extend(hand_out(state));
    uncover(state, frame);
    let held = (!state.text.view.is_moving()).then_some(state.text.view.anchor);
    fill(state, frame);
    if divide(state) != frame {
        // What is new came into sight, and the pill's line is free: nothing gives way to it.
        frame = divide(state);
        state.text.view.anchor = held.unwrap_or(state.text.view.anchor);
        fill(state, frame);
    }
    let shown: HashSet<EntryId> = state.text.view.lines.iter().map(|line| line.entry).collect();
    state.text.cache.trim(|id| shown.contains(&id));
    for line in &state.text.view.lines {
        let portion = state.text.sequence.portions().at(line.place);
        if portion.of == 1 {
            state.text.heights.set(portion.place, u32::try_from(line.rows.len()).unwrap_or(u32::MAX));
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
    effects.extend(hand_out(state));
    effects
}

/// Entries that were looked at are to be packed, on another thread.
fn hand_out(state: &mut State) -> Vec<Effect> {
    state.session.hand_out().into_iter().map(Effect::Pack).collect()
}

/// Brings up to date what is known of calls, of time and of flaws, as far as what is in sight needs it. Entries
/// that were looked at for that are to be packed.
fn know(state: &mut State, frame: &Frame) -> Vec<Effect> {
    let mut wants = views::wants(state);
    let is_inspecting = frame.inspector.width > 1 && frame.inspector.height > 1;
    wants.findings |= frame.outline.width > 0 || state.alarms.want_findings();
    wants.calls |= is_inspecting;
    wants.windows |= state.text.as_of.is_on;
    state.session.indexes.follow(&state.session.transcript, wants);
    let effects = hand_out(state);
    // The end of a session alone lacks the calls of many results.
    if wants.findings && !state.session.ends.is_part() {
        state.session.indexes.follow_findings(&state.session.transcript, &mut state.session.findings);
    }
    effects
}

/// Fills the window; what is new and in sight is no longer unseen.
fn fill(state: &mut State, frame: Frame) {
    let arrange = |layouts: &mut Layouts<'_>, view: &mut Viewport| {
        view.arrange(layouts, usize::from(frame.lines()));
    };
    with_layouts(state, frame, arrange);
    if state.session.ends.is_beginning() && state.text.view.follows() {
        // What comes after the first entries is not new, and must not move what is read.
        state.text.view.ask(Motion::Pause);
        with_layouts(state, frame, arrange);
    }
    if state.text.view.is_at_end {
        state.text.unseen = 0;
    }
    let last = state.text.view.lines.last().and_then(|line| state.text.sequence.place_of(line.entry));
    if let Some(last) = last {
        state.text.unseen = state.text.unseen.min(state.text.sequence.len().saturating_sub(last + 1));
    }
}

/// Lends the layouts of all entries, with the window.
pub fn with_layouts<T>(
    state: &mut State,
    frame: Frame,
    work: impl FnOnce(&mut Layouts<'_>, &mut Viewport) -> T,
) -> T {
    let width = frame.text();
    state.text.cache.fit(width);
    let mut layouts = Layouts {
        transcript: &state.session.transcript,
        awaited: Awaited::of(&state.session.transcript),
        sequence: &state.text.sequence,
        folds: &state.text.folds,
        open_lanes: &state.text.open_lanes,
        filter: state.find.filter.as_ref(),
        news: state.places.news.as_ref(),
        account: &state.session.indexes.account,
        has_rulers: state.text.wrapping.rulers,
        look: Look {
            width,
            level: state.text.level,
            thinking: state.text.shows_thinking,
            times: width >= 60,
            theme: &state.screen.theme,
            colours: &state.screen.colours,
            sideways: state.text.wrapping.sideways,
            pictures: Some(&state.screen.pictures),
        },
        details: &state.text.details,
        cache: &mut state.text.cache,
    };
    work(&mut layouts, &mut state.text.view)
}

/// The cost of the focused turn, found anew if that is another one or has changed.
fn refresh_turn(state: &mut State, turn: Option<usize>) {
    let account = &state.session.indexes.account;
    let wanted = turn.map(|turn| (turn, account.revision()));
    if state.text.turn_cost.as_ref().map(|(turn, revision, _)| (*turn, *revision)) == wanted {
        return;
    }
    state.text.turn_cost = wanted.map(|(turn, revision)| {
        let known = Some(turn).filter(|turn| account.knows(&state.session.transcript, *turn));
        let spent = known.map(|turn| account.turn(&state.session.transcript, turn).cost());
        (turn, revision, spent.and_then(|spent| phrases::cost(&spent)).unwrap_or_default())
    });
}

/// Makes the sequence of visible entries anew, if it is no longer true.
pub fn refresh_sequence(state: &mut State) {
    if !state.text.stale.sequence {
        return;
    }
    state.text.stale.sequence = false;
    state.text.stale.spine = true;
    let before = std::mem::take(&mut state.text.sequence);
    let wanted = Wanted {
        open_lanes: &state.text.open_lanes,
        level: state.text.level,
        folded: &branches::hidden(&state.session.transcript, &state.text.folds),
        filter: state.find.filter.as_ref(),
    };
    state.text.sequence.rebuild(&state.session.transcript, &wanted);
    keep_place(state, &before);
    news::place(state);
    let rows = state
        .text
        .sequence
        .order()
        .iter()
        .map(|id| rows_of(&state.session.transcript, *id, state.text.level));
    state.text.heights.reset(rows);
    state.text.spine.rebuild(&state.session.transcript, &state.text.sequence);
}

/// What held the window or had the focus may no longer be shown: then the call of its sub-agent takes its
/// place, or the nearest entry before it.
fn keep_place(state: &mut State, before: &Sequence) {
    let instead_of = |id: EntryId| {
        let place = before.place_of(id).filter(|_| state.text.sequence.place_of(id).is_none())?;
        let entry = state.session.transcript.get(id)?;
        let starter = seek::starter(&state.session.transcript, entry);
        if let Some(starter) = starter.filter(|focus| state.text.sequence.place_of(focus.entry).is_some()) {
            return Some(starter);
        }
        let nearest = before.nearest_shown(place, &state.text.sequence)?;
        let blocks = &state.session.transcript.get(nearest)?.blocks;
        let text = blocks.iter().position(|block| matches!(block.kind, BlockKind::Text(_)));
        Some(Focus { entry: nearest, block: text.unwrap_or(0) })
    };
    if let Anchor::Row { entry, line, .. } = state.text.view.anchor
        && let Some(Focus { entry, block }) = instead_of(entry)
    {
        state.text.view.anchor = Anchor::Row { entry, block, row: 0, node: None, line };
    }
    if let Some(focus) = state.text.view.focus.and_then(|focus| instead_of(focus.entry)) {
        state.text.view.focus = Some(focus);
    }
}

fn arrange_sides(state: &mut State, frame: Frame) {
    let loops = state.session.indexes.loops.generation();
    state.text.stale.spine |= std::mem::replace(&mut state.text.spine.troubles_seen, loops) != loops;
    let current = state.focused_turn();
    refresh_turn(state, current);
    if frame.outline.width > 0 || state.views.open() == Some(views::View::Checks) {
        let (findings, loops) = (&state.session.findings, &state.session.indexes.loops);
        state.checks.refresh(&state.session.transcript, findings, loops, state.screen.theme.glyphs());
    }
    if frame.outline.width > 0 {
        let focused = state.text.view.focus.map(|focus| focus.entry);
        let has_keys = panes::focused(state) == Pane::Outline;
        state.outline.arrange(&outline::Wanted {
            transcript: &state.session.transcript,
            files: &state.session.indexes.files,
            focused,
            turn: current,
            height: usize::from(frame.outline.height),
            has_keys,
            glyphs: state.screen.theme.glyphs(),
            account: &state.session.indexes.account,
            then: state.text.as_of.then(),
            checks: &state.checks,
        });
    } else {
        state.outline.hide();
    }
    if state.text.stale.spine {
        state.text.stale.spine = false;
        let hits = state.find.search.iter().flat_map(|search| &search.hits).map(|hit| hit.focus.entry);
        let hits = hits.map(|id| (id, spine::Mark::Hit));
        let marks = marks::entries(state).map(|id| (id, spine::Mark::Marked));
        let loops = state.session.indexes.loops.entries().into_iter().map(|id| (id, spine::Mark::Trouble));
        let alarms = state.alarms.marks.iter().map(|id| (*id, spine::Mark::Alarm));
        let marked = hits.chain(marks).chain(loops).chain(alarms).collect();
        state.text.spine.mark(&state.text.sequence, marked);
    }
    state.text.spine.arrange(usize::from(frame.lines()), &state.text.heights);
}

/// The part of the spine that the window covers: first and last cell.
pub fn window_on_spine(state: &State, height: usize) -> Option<(usize, usize)> {
    let (first, last) = (state.text.view.lines.first()?, state.text.view.lines.last()?);
    let cell = |line: &Line| cell_of(row_of(state, line), state.text.heights.total(), height);
    Some((cell(first), cell(last)))
}

/// The row of a line among all; within an entry of several portions roughly.
fn row_of(state: &State, line: &Line) -> u64 {
    let portion = state.text.sequence.portions().at(line.place);
    let first = state.text.heights.before(portion.place);
    let rows = state.text.heights.before(portion.place + 1) - first;
    first + rows * portion.number as u64 / portion.of as u64 + line.row as u64
}

/// How far down the window's last line is, in percent.
pub fn percent(state: &State) -> u64 {
    let Some(last) = state.text.view.lines.last() else { return 100 };
    let row = row_of(state, last) + 1;
    if state.text.view.is_at_end { 100 } else { (row * 100 / state.text.heights.total().max(1)).min(99) }
}
