//! Brings the hits of a search into sight, whatever hides them: the level, hidden thinking, a fold, lines
//! that a preview leaves out, a body that is still on disk. Goes from row to row with a hit within a block,
//! and on to the next block.

use std::sync::Arc;

use regex::Regex;

use super::layout::Frame;
use super::reach::reach;
use super::reader::Reader;
use super::search::{AtHit, Edge, Sought};
use super::searching::in_file;
use super::viewport::{Focus, Motion, Rows};
use super::window::{refresh_sequence, with_layouts};
use crate::model::text::without_sgr;
use crate::render::row::{Fold, Row};

/// Where a step leads.
enum Step {
    /// To another row of the same block.
    Row(AtHit),
    /// To a block.
    Block(Focus, Edge),
    /// Nowhere.
    Nowhere,
}

/// Asks for the motions to the sought hits. While a text is being read, its hit stays sought.
pub(crate) fn uncover(reader: &mut Reader, frame: Frame) {
    let Some(mut sought) = reader.find.sought.take() else { return };
    loop {
        let Some(pattern) = reader.find.search.as_ref().map(|search| search.pattern.clone()) else { return };
        if let Some((focus, edge)) = sought.block.take()
            && !arrive(reader, frame, &pattern, (focus, edge))
        {
            reader.find.sought = Some(Sought { block: Some((focus, edge)), ..sought });
            return;
        }
        if sought.steps == 0 {
            return;
        }
        let forward = sought.steps > 0;
        sought.steps -= sought.steps.signum();
        match step(reader, frame, &pattern, forward) {
            Step::Row(at) => {
                reader.find.at_hit = Some(at);
                reader.text.view.ask(Motion::ShowRow(at.focus, at.row));
            }
            Step::Block(focus, edge) => sought.block = Some((focus, edge)),
            Step::Nowhere => return,
        }
    }
}

/// Goes to a hit of a block. Answers whether its rows are known.
fn arrive(reader: &mut Reader, frame: Frame, pattern: &Regex, (focus, edge): (Focus, Edge)) -> bool {
    reach(reader, focus);
    refresh_sequence(reader);
    let known =
        reader.find.search.as_ref().and_then(|search| search.hits.iter().find(|hit| hit.focus == focus));
    let lines = known.map_or(0, |hit| hit.lines);
    let mut rows = rows_of(reader, frame, focus);
    let mut hits = rows_with_hits(&rows, pattern);
    let hides = rows.iter().any(|row| row.hides > 0 || row.is_away);
    if hits.is_empty() || (hits.len() < lines && hides) {
        open_fold(reader, focus);
        rows = rows_of(reader, frame, focus);
        hits = rows_with_hits(&rows, pattern);
        if hits.len() < lines.max(1) && open_nodes(reader, focus, &rows) {
            rows = rows_of(reader, frame, focus);
            hits = rows_with_hits(&rows, pattern);
        }
    }
    let is_away = rows.iter().any(|row| row.is_away);
    let number = if edge == Edge::First { 0 } else { hits.len().saturating_sub(1) };
    reader.text.view.focus = Some(focus);
    reader.text.view.ask(Motion::Pause);
    reader.find.at_hit = hits.get(number).map(|row| AtHit { focus, row: *row, number });
    match reader.find.at_hit {
        Some(at) => reader.text.view.ask(Motion::ShowRow(focus, at.row)),
        None => reader.text.view.ask(Motion::Show(focus)),
    }
    if let Some(search) = reader.find.search.as_mut().filter(|_| !is_away && !hits.is_empty()) {
        search.correct(focus, hits.len());
    }
    !(hits.is_empty() && is_away)
}

/// From the hit at which the reader is, to the next or previous one.
fn step(reader: &mut Reader, frame: Frame, pattern: &Regex, forward: bool) -> Step {
    let focus = reader.text.view.focus;
    let at = reader.find.at_hit.filter(|at| Some(at.focus) == focus);
    let hits = at.map_or_else(Vec::new, |at| rows_with_hits(&rows_of(reader, frame, at.focus), pattern));
    let is_at_row = at.is_some_and(|at| hits.contains(&at.row));
    if let Some(at) = at.filter(|_| is_at_row) {
        let mut numbered = hits.iter().copied().enumerate();
        let next = if forward {
            numbered.find(|(_, row)| *row > at.row)
        } else {
            numbered.rfind(|(_, row)| *row < at.row)
        };
        if let Some((number, row)) = next {
            return Step::Row(AtHit { row, number, ..at });
        }
    }
    next_block(reader, forward, at.is_some() && (is_at_row || hits.is_empty()))
}

/// The next block with hits, around the ends. A block whose hits were not looked at is gone to first.
fn next_block(reader: &mut Reader, forward: bool, is_done: bool) -> Step {
    let Some(search) = &reader.find.search else { return Step::Nowhere };
    let here = reader.text.view.focus.map(|focus| in_file(&reader.session.transcript, focus));
    let is_before = |focus: Focus| here.is_some_and(|here| in_file(&reader.session.transcript, focus) < here);
    let at = search.hits.partition_point(|hit| is_before(hit.focus));
    let is_on_hit = here.is_some() && search.hits.get(at).map(|hit| hit.focus) == reader.text.view.focus;
    let (next, around) = if forward {
        (search.hits.get(at + usize::from(is_on_hit && is_done)), search.hits.first())
    } else {
        (at.checked_sub(1).and_then(|before| search.hits.get(before)), search.hits.last())
    };
    let wraps = next.is_none();
    let Some(hit) = next.or(around).copied() else { return Step::Nowhere };
    if wraps {
        reader.screen.say(if forward {
            "search goes on at the beginning"
        } else {
            "search goes on at the end"
        });
    }
    Step::Block(hit.focus, if forward { Edge::First } else { Edge::Last })
}

fn open_fold(reader: &mut Reader, hit: Focus) {
    let Some(key) = reader.session.transcript.get(hit.entry).map(|entry| entry.key.clone()) else { return };
    if reader.text.folds.get(&key, hit.block) != Fold::Open {
        reader.text.folds.set(&key, hit.block, Fold::Open);
        reader.text.cache.forget(hit.entry);
    }
}

/// Opens the nodes of a block's trees, if some are closed. Answers whether it did.
fn open_nodes(reader: &mut Reader, hit: Focus, rows: &[Row]) -> bool {
    let is_closed = |row: &Row| row.node.is_some_and(|node| node.is_open == Some(false));
    let Some(entry) = reader.session.transcript.get(hit.entry).filter(|_| rows.iter().any(is_closed)) else {
        return false;
    };
    let is_news = reader.text.folds.open_nodes(&entry.key, hit.block);
    reader.text.cache.forget(hit.entry);
    is_news
}

/// The rows of the block.
fn rows_of(reader: &mut Reader, frame: Frame, hit: Focus) -> Vec<Row> {
    let laid: Arc<Vec<Row>> = with_layouts(reader, frame, |layouts, _| {
        layouts.place(hit).map(|place| layouts.rows(place)).unwrap_or_default()
    });
    laid.iter().filter(|row| row.block == hit.block).cloned().collect()
}

fn rows_with_hits(rows: &[Row], pattern: &Regex) -> Vec<usize> {
    let has_hit = |row: &Row| !row.kind.is_between() && pattern.is_match(&without_sgr(&row.line.to_string()));
    rows.iter().enumerate().filter(|(_, row)| has_hit(row)).map(|(place, _)| place).collect()
}
