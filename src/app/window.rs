//! The window onto the text: its rows, and the sequence of entries that they are of.

use super::branches;
use super::items::Layouts;
use super::layout::Frame;
use super::news;
use super::reader::Reader;
use super::seek;
use super::sequence::{Sequence, Wanted};
use super::spine::cell_of;
use super::text::rows_of;
use super::viewport::{Anchor, Focus, Line, Motion, Viewport};
use crate::analysis::awaited::Awaited;
use crate::model::entry::{BlockKind, EntryId};
use crate::render::row::Look;

/// Fills the window; what is new and in sight is no longer unseen.
pub fn fill(reader: &mut Reader, frame: Frame) {
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

/// Makes the sequence of visible entries anew, if it is no longer true.
pub(crate) fn refresh_sequence(reader: &mut Reader) {
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
    news::find::place(reader);
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

/// The part of the spine that the window covers: first and last cell.
pub(crate) fn window_on_spine(reader: &Reader, height: usize) -> Option<(usize, usize)> {
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
