//! Fills the window, and rebuilds the sequence of shown entries.

use super::items::Layouts;
use super::landmarks::starter;
use super::places::news;
use super::sequence::{Sequence, Visibility};
use super::spine::cell_of;
use super::viewport::{Anchor, Focus, RowSource, Viewport, WindowLine};
use super::{branches, rows_of, runs};
use crate::analysis::calls::awaited::Awaited;
use crate::app::layout::Frame;
use crate::app::scene::Scene;
use crate::app::text::TextPane;
use crate::model::entry::{BlockKind, EntryId};
use crate::model::transcript::Transcript;
use crate::render::row::{Level, Look, Row, Times};

/// Fills the window, and updates the count of unseen entries.
pub fn fill(text: &mut TextPane, scene: &Scene<'_>, frame: Frame) {
    with_layouts(text, scene, frame, |layouts, view| {
        view.arrange(layouts, usize::from(frame.lines()));
    });
    text.update_tail(&scene.session.transcript);
    if text.view.is_at_end {
        (text.unseen, text.places.tail.grown_entry) = (0, None);
    }
    let last = text
        .view
        .lines
        .last()
        .and_then(|line| text.sequence.place_of(line.entry));
    if let Some(last) = last {
        let has_grown = text.places.tail.grown_entry.is_some()
            && text.places.tail.grown_entry == text.sequence.order().last().copied();
        let below = text.sequence.len().saturating_sub(last + 1) + usize::from(has_grown);
        text.unseen = text.unseen.min(below);
    }
}

/// Runs `work` on the layouts and the window.
pub fn with_layouts<T>(
    text: &mut TextPane,
    scene: &Scene<'_>,
    frame: Frame,
    work: impl FnOnce(&mut Layouts<'_>, &mut Viewport) -> T,
) -> T {
    let width = frame.text();
    let transcript = &scene.session.transcript;
    let conditions = (width, scene.screen.size.1, transcript.has_times());
    text.cache
        .invalidate_if_changed(conditions, transcript.meta().root.as_ref());
    let mut layouts = Layouts {
        transcript: &scene.session.transcript,
        awaited: Awaited::of(&scene.session.transcript),
        sequence: &text.sequence,
        folds: &text.folds,
        open_lanes: &text.open_lanes,
        filter: text.find.filter.as_ref(),
        news: text.places.news.as_ref(),
        account: &scene.session.indexes.account,
        goes_on_ms: scene.session.busy_ms(scene.screen.now),
        is_at_work: scene.session.is_at_work(scene.screen.now),
        has_rulers: text.wrapping.rulers,
        look: Look {
            width,
            level: text.level,
            thinking: text.shows.thinking,
            intents: text.shows.intents,
            times: times_of(text.level, &scene.session.transcript),
            lines: scene.screen.size.1,
            theme: &scene.screen.theme,
            colours: &scene.screen.colours,
            sideways: (!text.wrapping.wraps).then_some(text.wrapping.first_column),
            root: scene.session.transcript.meta().root.as_deref(),
            pictures: Some(&scene.screen.pictures),
        },
        details: &text.details,
        cache: &mut text.cache,
    };
    work(&mut layouts, &mut text.view)
}

/// The rows of a block, with the gap after it.
pub(crate) fn rows_of_block(text: &mut TextPane, scene: &Scene<'_>, focus: Focus) -> Vec<Row> {
    let frame = text.frame(scene);
    with_layouts(text, scene, frame, |layouts, _| {
        let place = layouts.place(focus);
        let rows = place.map(|place| layouts.rows(place)).unwrap_or_default();
        let own = rows.iter().filter(|row| row.block == focus.block);
        own.cloned().collect()
    })
}

/// The format of times beside entries: with seconds at levels 4 and 5; none if no entry has a time.
fn times_of(level: Level, transcript: &Transcript) -> Times {
    match level {
        Level::Full | Level::Raw => Times::Seconds,
        _ if !transcript.has_times() => Times::None,
        Level::Prompts | Level::Outline | Level::Preview => Times::Minutes,
    }
}

/// Rebuilds the sequence of shown entries if it is stale or a scan found runs.
pub(crate) fn refresh_sequence(text: &mut TextPane, scene: &mut Scene<'_>) {
    let scans_runs = runs::are_folded(text) && scene.session.file.is_caught_up;
    let begins = scans_runs && !text.folds.runs.is_scanned_for(text.shows, text.level);
    if begins {
        text.folds.runs.clear_found();
    }
    let mut before = None;
    if std::mem::take(&mut text.stale.sequence) || begins {
        before = Some(rebuild(text, scene));
    }
    if begins {
        text.folds
            .runs
            .start_scan(text.sequence.order().to_vec(), text.shows, text.level);
    }
    if scans_runs && text.folds.runs.scan(&scene.session.transcript) {
        let unfolded = rebuild(text, scene);
        before.get_or_insert(unfolded);
    }
    let Some(before) = before else { return };
    text.stale.spine = true;
    move_to_shown(text, scene, &before);
    news::update(text, scene);
    let rows = text
        .sequence
        .order()
        .iter()
        .map(|id| rows_of(&scene.session.transcript, *id, text.level));
    text.heights.reset(rows);
    text.spine
        .rebuild(&scene.session.transcript, &text.sequence);
}

/// Rebuilds the sequence. Returns the previous one.
fn rebuild(text: &mut TextPane, scene: &Scene<'_>) -> Sequence {
    let before = std::mem::take(&mut text.sequence);
    let transcript = &scene.session.transcript;
    let wanted = Visibility {
        open_lanes: &text.open_lanes,
        level: text.level,
        folded: &branches::hidden(transcript, &text.folds),
        runs: &text.folds.runs,
        filter: text.find.filter.as_ref(),
    };
    text.sequence.rebuild(transcript, &wanted);
    before
}

/// Moves anchor and focus away from entries that are no longer shown: to the head of the run, to
/// the call of the sub-agent, or to the nearest entry before.
fn move_to_shown(text: &mut TextPane, scene: &Scene<'_>, before: &Sequence) {
    let folds_runs = runs::are_folded(text);
    let instead_of = |id: EntryId| {
        let place = before
            .place_of(id)
            .filter(|_| text.sequence.place_of(id).is_none())?;
        if let Some(entry) = text.folds.runs.hidden_by(id).filter(|_| folds_runs) {
            return Some(Focus { entry, block: 0 });
        }
        let entry = scene.session.transcript.get(id)?;
        let starter = starter(&scene.session.transcript, entry);
        if let Some(starter) = starter.filter(|focus| text.sequence.place_of(focus.entry).is_some())
        {
            return Some(starter);
        }
        let nearest = before.nearest_shown(place, &text.sequence)?;
        let blocks = &scene.session.transcript.get(nearest)?.blocks;
        let text = blocks
            .iter()
            .position(|block| matches!(block.kind, BlockKind::Text(_)));
        Some(Focus {
            entry: nearest,
            block: text.unwrap_or(0),
        })
    };
    if let Anchor::Row { entry, line, .. } = text.view.anchor
        && let Some(Focus { entry, block }) = instead_of(entry)
    {
        text.view.anchor = Anchor::Row {
            entry,
            block,
            row: 0,
            node: None,
            line,
        };
    }
    if let Some(focus) = text.view.focus.and_then(|focus| instead_of(focus.entry)) {
        text.view.focus = Some(focus);
    }
}

/// The first and the last cell of the spine that the window covers.
pub(crate) fn window_on_spine(text: &TextPane, height: usize) -> Option<(usize, usize)> {
    let (first, last) = (text.view.lines.first()?, text.view.lines.last()?);
    let cell = |line: &WindowLine| cell_of(row_of(text, line), text.heights.total(), height);
    Some((cell(first), cell(last)))
}

/// The index of a line's row among all rows; an estimate within an entry of several portions.
fn row_of(text: &TextPane, line: &WindowLine) -> u64 {
    let portion = text.sequence.portions().at(line.place);
    let first = text.heights.before(portion.place);
    let rows = text.heights.before(portion.place + 1) - first;
    first + rows * portion.number as u64 / portion.of as u64 + line.row as u64
}

/// Position of the window's last line among all rows, in percent.
pub fn percent(text: &TextPane) -> u64 {
    let Some(last) = text.view.lines.last() else {
        return 100;
    };
    let row = row_of(text, last) + 1;
    if text.view.is_at_end {
        100
    } else {
        (row * 100 / text.heights.total().max(1)).min(99)
    }
}
