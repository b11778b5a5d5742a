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
use super::layout;
use super::layout::{Frame, divide};
use super::marks;
use super::news;
use super::outline;
use super::paging;
use super::panes::Pane;
use super::reader::Reader;
use super::searching;
use super::seek;
use super::sequence::{Sequence, Wanted};
use super::spine::{self, cell_of};
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
pub fn arrange(reader: &mut Reader) -> Vec<Effect> {
    reader.session.transcript.settle();
    let mut effects = searching::catch_up(reader);
    branch_folds::notice(reader);
    reader.session.refresh(reader.screen.now);
    refresh_sequence(reader);
    let seen = reader.screen.colours.generation() + reader.screen.pictures.generation();
    if reader.text.colours_seen != seen {
        reader.text.colours_seen = seen;
        reader.text.cache.clear();
    }
    let mut frame = divide(reader);
    let is_talk = reader.text.level > Level::Prompts;
    let around = Around {
        lanes: is_talk && reader.text.wrapping.lanes,
        files: frame.outline.width > 0 || reader.views.open() == Some(views::View::Files),
    };
    reader.session.indexes.follow_around(&reader.session.transcript, around);
    effects.extend(hand_out(reader));
    uncover(reader, frame);
    let held = (!reader.text.view.is_moving()).then_some(reader.text.view.anchor);
    fill(reader, frame);
    if divide(reader) != frame {
        // What is new came into sight, and the pill's line is free: nothing gives way to it.
        frame = divide(reader);
        reader.text.view.anchor = held.unwrap_or(reader.text.view.anchor);
        fill(reader, frame);
    }
    let shown: HashSet<EntryId> = reader.text.view.lines.iter().map(|line| line.entry).collect();
    reader.text.cache.trim(|id| shown.contains(&id));
    for line in &reader.text.view.lines {
        let portion = reader.text.sequence.portions().at(line.place);
        if portion.of == 1 {
            reader.text.heights.set(portion.place, u32::try_from(line.rows.len()).unwrap_or(u32::MAX));
        }
    }
    gutter::arrange(reader, &frame);
    effects.extend(know(reader, &frame));
    as_of::arrange(reader);
    arrange_sides(reader, frame);
    views::arrange(reader);
    effects.extend(paging::page(reader));
    effects.extend(details::ask(reader));
    effects.extend(inspector::arrange(reader, &frame));
    strip::arrange(reader, &frame);
    effects.extend(hand_out(reader));
    effects
}

/// Entries that were looked at are to be packed, on another thread.
fn hand_out(reader: &mut Reader) -> Vec<Effect> {
    reader.session.hand_out().into_iter().map(Effect::Pack).collect()
}

/// Brings up to date what is known of calls, of time and of flaws, as far as what is in sight needs it. Entries
/// that were looked at for that are to be packed.
fn know(reader: &mut Reader, frame: &Frame) -> Vec<Effect> {
    let mut wants = views::wants(reader);
    let is_inspecting = frame.inspector.width > 1 && frame.inspector.height > 1;
    wants.findings |= frame.outline.width > 0 || reader.alarms.want_findings();
    wants.calls |= is_inspecting;
    wants.windows |= reader.text.as_of.is_on;
    reader.session.indexes.follow(&reader.session.transcript, wants);
    let effects = hand_out(reader);
    // The end of a session alone lacks the calls of many results.
    if wants.findings && !reader.session.ends.is_part() {
        reader.session.indexes.follow_findings(&reader.session.transcript, &mut reader.session.findings);
    }
    effects
}

/// Fills the window; what is new and in sight is no longer unseen.
fn fill(reader: &mut Reader, frame: Frame) {
    let arrange = |layouts: &mut Layouts<'_>, view: &mut Viewport| {
        view.arrange(layouts, usize::from(frame.lines()));
    };
    with_layouts(reader, frame, arrange);
    if reader.session.ends.is_beginning() && reader.text.view.follows() {
        // What comes after the first entries is not new, and must not move what is read.
        reader.text.view.ask(Motion::Pause);
        with_layouts(reader, frame, arrange);
    }
    if reader.text.view.is_at_end {
        reader.text.unseen = 0;
    }
    let last = reader.text.view.lines.last().and_then(|line| reader.text.sequence.place_of(line.entry));
    if let Some(last) = last {
        reader.text.unseen = reader.text.unseen.min(reader.text.sequence.len().saturating_sub(last + 1));
    }
}

/// Lends the layouts of all entries, with the window.
pub fn with_layouts<T>(
    reader: &mut Reader,
    frame: Frame,
    work: impl FnOnce(&mut Layouts<'_>, &mut Viewport) -> T,
) -> T {
    let width = frame.text();
    reader.text.cache.fit(width);
    let mut layouts = Layouts {
        transcript: &reader.session.transcript,
        awaited: Awaited::of(&reader.session.transcript),
        sequence: &reader.text.sequence,
        folds: &reader.text.folds,
        open_lanes: &reader.text.open_lanes,
        filter: reader.find.filter.as_ref(),
        news: reader.places.news.as_ref(),
        account: &reader.session.indexes.account,
        has_rulers: reader.text.wrapping.rulers,
        look: Look {
            width,
            level: reader.text.level,
            thinking: reader.text.shows_thinking,
            times: width >= 60,
            theme: &reader.screen.theme,
            colours: &reader.screen.colours,
            sideways: reader.text.wrapping.sideways,
            pictures: Some(&reader.screen.pictures),
        },
        details: &reader.text.details,
        cache: &mut reader.text.cache,
    };
    work(&mut layouts, &mut reader.text.view)
}

/// The cost of the focused turn, found anew if that is another one or has changed.
fn refresh_turn(reader: &mut Reader, turn: Option<usize>) {
    let account = &reader.session.indexes.account;
    let wanted = turn.map(|turn| (turn, account.revision()));
    if reader.text.turn_cost.as_ref().map(|(turn, revision, _)| (*turn, *revision)) == wanted {
        return;
    }
    reader.text.turn_cost = wanted.map(|(turn, revision)| {
        let known = Some(turn).filter(|turn| account.knows(&reader.session.transcript, *turn));
        let spent = known.map(|turn| account.turn(&reader.session.transcript, turn).cost());
        (turn, revision, spent.and_then(|spent| phrases::cost(&spent)).unwrap_or_default())
    });
}

/// Makes the sequence of visible entries anew, if it is no longer true.
pub fn refresh_sequence(reader: &mut Reader) {
    if !reader.text.stale.sequence {
        return;
    }
    reader.text.stale.sequence = false;
    reader.text.stale.spine = true;
    let before = std::mem::take(&mut reader.text.sequence);
    let wanted = Wanted {
        open_lanes: &reader.text.open_lanes,
        level: reader.text.level,
        folded: &branches::hidden(&reader.session.transcript, &reader.text.folds),
        filter: reader.find.filter.as_ref(),
    };
    reader.text.sequence.rebuild(&reader.session.transcript, &wanted);
    keep_place(reader, &before);
    news::place(reader);
    let rows = reader
        .text
        .sequence
        .order()
        .iter()
        .map(|id| rows_of(&reader.session.transcript, *id, reader.text.level));
    reader.text.heights.reset(rows);
    reader.text.spine.rebuild(&reader.session.transcript, &reader.text.sequence);
}

/// What held the window or had the focus may no longer be shown: then the call of its sub-agent takes its
/// place, or the nearest entry before it.
fn keep_place(reader: &mut Reader, before: &Sequence) {
    let instead_of = |id: EntryId| {
        let place = before.place_of(id).filter(|_| reader.text.sequence.place_of(id).is_none())?;
        let entry = reader.session.transcript.get(id)?;
        let starter = seek::starter(&reader.session.transcript, entry);
        if let Some(starter) = starter.filter(|focus| reader.text.sequence.place_of(focus.entry).is_some()) {
            return Some(starter);
        }
        let nearest = before.nearest_shown(place, &reader.text.sequence)?;
        let blocks = &reader.session.transcript.get(nearest)?.blocks;
        let text = blocks.iter().position(|block| matches!(block.kind, BlockKind::Text(_)));
        Some(Focus { entry: nearest, block: text.unwrap_or(0) })
    };
    if let Anchor::Row { entry, line, .. } = reader.text.view.anchor
        && let Some(Focus { entry, block }) = instead_of(entry)
    {
        reader.text.view.anchor = Anchor::Row { entry, block, row: 0, node: None, line };
    }
    if let Some(focus) = reader.text.view.focus.and_then(|focus| instead_of(focus.entry)) {
        reader.text.view.focus = Some(focus);
    }
}

fn arrange_sides(reader: &mut Reader, frame: Frame) {
    let loops = reader.session.indexes.loops.generation();
    reader.text.stale.spine |= std::mem::replace(&mut reader.text.spine.troubles_seen, loops) != loops;
    let current = reader.focused_turn();
    refresh_turn(reader, current);
    if frame.outline.width > 0 || reader.views.open() == Some(views::View::Checks) {
        let (findings, loops) = (&reader.session.findings, &reader.session.indexes.loops);
        reader.checks.refresh(&reader.session.transcript, findings, loops, reader.screen.theme.glyphs());
    }
    if frame.outline.width > 0 {
        let focused = reader.text.view.focus.map(|focus| focus.entry);
        let has_keys = layout::focused(reader) == Pane::Outline;
        reader.outline.arrange(&outline::Wanted {
            transcript: &reader.session.transcript,
            files: &reader.session.indexes.files,
            focused,
            turn: current,
            height: usize::from(frame.outline.height),
            has_keys,
            glyphs: reader.screen.theme.glyphs(),
            account: &reader.session.indexes.account,
            then: reader.text.as_of.then(),
            checks: &reader.checks,
        });
    } else {
        reader.outline.hide();
    }
    if reader.text.stale.spine {
        reader.text.stale.spine = false;
        let hits = reader.find.search.iter().flat_map(|search| &search.hits).map(|hit| hit.focus.entry);
        let hits = hits.map(|id| (id, spine::Mark::Hit));
        let marks = marks::entries(reader).map(|id| (id, spine::Mark::Marked));
        let loops = reader.session.indexes.loops.entries().into_iter().map(|id| (id, spine::Mark::Trouble));
        let alarms = reader.alarms.marks.iter().map(|id| (*id, spine::Mark::Alarm));
        let marked = hits.chain(marks).chain(loops).chain(alarms).collect();
        reader.text.spine.mark(&reader.text.sequence, marked);
    }
    reader.text.spine.arrange(usize::from(frame.lines()), &reader.text.heights);
}

/// The part of the spine that the window covers: first and last cell.
pub fn window_on_spine(reader: &Reader, height: usize) -> Option<(usize, usize)> {
    let (first, last) = (reader.text.view.lines.first()?, reader.text.view.lines.last()?);
    let cell = |line: &Line| cell_of(row_of(reader, line), reader.text.heights.total(), height);
    Some((cell(first), cell(last)))
}

/// The row of a line among all; within an entry of several portions roughly.
fn row_of(reader: &Reader, line: &Line) -> u64 {
    let portion = reader.text.sequence.portions().at(line.place);
    let first = reader.text.heights.before(portion.place);
    let rows = reader.text.heights.before(portion.place + 1) - first;
    first + rows * portion.number as u64 / portion.of as u64 + line.row as u64
}

/// How far down the window's last line is, in percent.
pub fn percent(reader: &Reader) -> u64 {
    let Some(last) = reader.text.view.lines.last() else { return 100 };
    let row = row_of(reader, last) + 1;
    if reader.text.view.is_at_end { 100 } else { (row * 100 / reader.text.heights.total().max(1)).min(99) }
}
