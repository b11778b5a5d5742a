//! Scrolls to hits, whatever hides them: the level, hidden thinking, a fold, lines that a preview
//! omits, a body on disk. Steps from row to row with hits within a block, then to the next block.

use regex::Regex;

use super::{CurrentHit, Edge, PendingHit};
use crate::app::scene::Scene;
use crate::app::text::TextPane;
use crate::app::text::folds::reveal;
use crate::app::text::places::item_of;
use crate::app::text::viewport::{Focus, Motion};
use crate::app::text::window::{refresh_sequence, rows_of_block};
use crate::model::text::without_sgr;
use crate::render::row::{Fold, Row};

enum NextHit {
    /// Another row of the same block.
    Row(CurrentHit),
    Block(Focus, Edge),
    Nowhere,
}

/// Queues the motions to the pending hit. The hit stays pending while its body is being read.
pub(crate) fn reveal_sought(text: &mut TextPane, scene: &mut Scene<'_>) {
    let Some(mut sought) = text.find.sought.take() else {
        return;
    };
    loop {
        let Some(pattern) = text
            .find
            .search
            .as_ref()
            .map(|search| search.pattern.clone())
        else {
            return;
        };
        if let Some((focus, edge)) = sought.block.take()
            && !arrive(text, scene, &pattern, (focus, edge))
        {
            text.find.sought = Some(PendingHit {
                block: Some((focus, edge)),
                ..sought
            });
            return;
        }
        if sought.steps == 0 {
            return;
        }
        let forward = sought.steps > 0;
        sought.steps -= sought.steps.signum();
        match step(text, scene, &pattern, forward) {
            NextHit::Row(at) => {
                text.find.current_hit = Some(at);
                text.view.push_motion(Motion::ShowRow(at.focus, at.row));
            }
            NextHit::Block(focus, edge) => sought.block = Some((focus, edge)),
            NextHit::Nowhere => return,
        }
    }
}

/// Goes to a hit of a block. Returns `false` if its rows are not laid out.
fn arrive(
    text: &mut TextPane,
    scene: &mut Scene<'_>,
    pattern: &Regex,
    (focus, edge): (Focus, Edge),
) -> bool {
    let before = text.fold_state().snapshot();
    reveal(text, scene, focus);
    let mut opened = std::mem::take(&mut text.find.opened);
    opened.add_since(&before, &text.fold_state());
    text.find.opened = opened;
    refresh_sequence(text, scene);
    let known = text
        .find
        .search
        .as_ref()
        .and_then(|search| search.hits.iter().find(|hit| hit.focus == focus));
    let lines = known.map_or(0, |hit| hit.lines);
    let mut rows = rows_of_block(text, scene, focus);
    let mut hits = rows_with_hits(&rows, pattern);
    let hides = rows.iter().any(|row| row.hides > 0 || row.is_away);
    if hits.is_empty() || (hits.len() < lines && hides) {
        open_fold(text, scene, focus);
        rows = rows_of_block(text, scene, focus);
        hits = rows_with_hits(&rows, pattern);
        if hits.len() < lines.max(1) && open_nodes(text, scene, focus, &rows) {
            rows = rows_of_block(text, scene, focus);
            hits = rows_with_hits(&rows, pattern);
        }
    }
    let is_away = rows.iter().any(|row| row.is_away);
    let number = if edge == Edge::First {
        0
    } else {
        hits.len().saturating_sub(1)
    };
    text.view.focus = Some(focus);
    text.view.push_motion(Motion::Pause);
    text.find.current_hit = hits.get(number).map(|row| CurrentHit {
        focus,
        row: *row,
        number,
    });
    match text.find.current_hit {
        Some(at) => text.view.push_motion(Motion::ShowRow(focus, at.row)),
        None => text.view.push_motion(Motion::Show(focus)),
    }
    if let Some(search) = text
        .find
        .search
        .as_mut()
        .filter(|_| !is_away && !hits.is_empty())
    {
        search.set_line_count(focus, hits.len());
    }
    !(hits.is_empty() && is_away)
}

/// The hit after or before the current one.
fn step(text: &mut TextPane, scene: &mut Scene<'_>, pattern: &Regex, forward: bool) -> NextHit {
    let focus = text.view.focus;
    let at = text.find.current_hit.filter(|at| Some(at.focus) == focus);
    let hits = at.map_or_else(Vec::new, |at| {
        rows_with_hits(&rows_of_block(text, scene, at.focus), pattern)
    });
    let is_at_row = at.is_some_and(|at| hits.contains(&at.row));
    if let Some(at) = at.filter(|_| is_at_row) {
        let mut numbered = hits.iter().copied().enumerate();
        let next = if forward {
            numbered.find(|(_, row)| *row > at.row)
        } else {
            numbered.rfind(|(_, row)| *row < at.row)
        };
        if let Some((number, row)) = next {
            return NextHit::Row(CurrentHit { row, number, ..at });
        }
    }
    next_block(
        text,
        scene,
        forward,
        at.is_some() && (is_at_row || hits.is_empty()),
    )
}

/// The next block with hits, wrapping around at the ends. The focused block comes first if its hits
/// were not visited.
fn next_block(text: &mut TextPane, scene: &mut Scene<'_>, forward: bool, is_done: bool) -> NextHit {
    let Some(search) = &text.find.search else {
        return NextHit::Nowhere;
    };
    let rank = |focus: Focus| search.sort_key(&scene.session.transcript, focus);
    let here = text.view.focus.map(rank);
    let is_before = |focus: Focus| here.is_some_and(|here| rank(focus) < here);
    let at = search.hits.partition_point(|hit| is_before(hit.focus));
    let is_on_hit = here.is_some() && search.hits.get(at).map(|hit| hit.focus) == text.view.focus;
    let (next, around) = if forward {
        (
            search.hits.get(at + usize::from(is_on_hit && is_done)),
            search.hits.first(),
        )
    } else {
        (
            at.checked_sub(1).and_then(|before| search.hits.get(before)),
            search.hits.last(),
        )
    };
    let wraps = next.is_none();
    let Some(hit) = next.or(around).copied() else {
        return NextHit::Nowhere;
    };
    if wraps {
        scene.set_status(if forward {
            "search goes on at the beginning"
        } else {
            "search goes on at the end"
        });
    }
    NextHit::Block(hit.focus, if forward { Edge::First } else { Edge::Last })
}

fn open_fold(text: &mut TextPane, scene: &Scene<'_>, hit: Focus) {
    let Some((key, _)) = item_of(&scene.session.transcript, hit) else {
        return;
    };
    let before = text.folds.get(&key, hit.block);
    if before != Fold::Open {
        text.find.opened.add_fold(&key, hit.block, before);
        text.folds.set(&key, hit.block, Fold::Open);
        text.cache.remove(hit.entry);
    }
}

/// Opens the closed nodes of a block's trees. Returns `false` if there were none.
fn open_nodes(text: &mut TextPane, scene: &Scene<'_>, hit: Focus, rows: &[Row]) -> bool {
    let is_closed = |row: &Row| row.node.is_some_and(|node| node.is_open == Some(false));
    let Some(entry) = scene
        .session
        .transcript
        .get(hit.entry)
        .filter(|_| rows.iter().any(is_closed))
    else {
        return false;
    };
    let is_news = text.folds.open_nodes(&entry.key, hit.block);
    if is_news {
        text.find.opened.add_nodes(&entry.key, hit.block);
    }
    text.cache.remove(hit.entry);
    is_news
}

fn rows_with_hits(rows: &[Row], pattern: &Regex) -> Vec<usize> {
    let has_hit =
        |row: &Row| !row.kind.is_between() && pattern.is_match(&without_sgr(&row.line.to_string()));
    rows.iter()
        .enumerate()
        .filter(|(_, row)| has_hit(row))
        .map(|(place, _)| place)
        .collect()
}
