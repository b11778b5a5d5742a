//! Brings the hit of a search into sight, whatever hides it: the level, hidden thinking, a fold, lines
//! that a preview leaves out, a body that is still on disk.

use std::sync::Arc;

use regex::Regex;

use super::arrange::{Frame, refresh_sequence, with_layouts};
use super::branch_folds;
use super::state::State;
use super::viewport::{Focus, Motion, Rows};
use crate::model::entry::BlockKind;
use crate::model::text::without_sgr;
use crate::render::row::{Fold, Level, Row};

/// Asks for the motion to the sought hit. While its text is being read, the hit stays sought.
pub fn uncover(state: &mut State, frame: Frame) {
    let Some(hit) = state.sought.take() else { return };
    let Some(pattern) = state.search.as_ref().map(|search| search.pattern.clone()) else { return };
    show_kind(state, hit);
    branch_folds::uncover(state, hit.entry);
    refresh_sequence(state);
    let mut found = row_with_hit(&rows_of(state, frame, hit), &pattern);
    if found.is_none() {
        open_fold(state, hit);
        let rows = rows_of(state, frame, hit);
        found = row_with_hit(&rows, &pattern);
        if found.is_none() && rows.iter().any(|row| row.is_away) {
            state.sought = Some(hit);
        }
    }
    state.view.ask(found.map_or(Motion::Show(hit), |row| Motion::ShowRow(hit, row)));
}

/// Thinking and level, if they leave out what the hit is in.
fn show_kind(state: &mut State, hit: Focus) {
    let Some(entry) = state.transcript.get(hit.entry) else { return };
    let kind = entry.blocks.get(hit.block).map(|block| &block.kind);
    let is_thinking = matches!(kind, Some(BlockKind::Thinking(_)));
    let is_prompt = entry.marks.prompt && matches!(kind, Some(BlockKind::Text(_)));
    if is_thinking && !state.shows_thinking {
        state.shows_thinking = true;
        state.look_changed();
    }
    if state.level == Level::Prompts && !is_prompt {
        state.level = Level::Outline;
        state.stale.sequence = true;
        state.look_changed();
    }
}

fn open_fold(state: &mut State, hit: Focus) {
    let Some(key) = state.transcript.get(hit.entry).map(|entry| entry.key.clone()) else { return };
    if state.folds.get(&key, hit.block) != Fold::Open {
        state.folds.set(&key, hit.block, Fold::Open);
        state.cache.forget(hit.entry);
    }
}

/// The rows of the block.
fn rows_of(state: &mut State, frame: Frame, hit: Focus) -> Vec<Row> {
    let laid: Arc<Vec<Row>> = with_layouts(state, frame, |layouts, _| {
        layouts.place(hit.entry).map(|place| layouts.rows(place)).unwrap_or_default()
    });
    laid.iter().filter(|row| row.block == hit.block).cloned().collect()
}

fn row_with_hit(rows: &[Row], pattern: &Regex) -> Option<usize> {
    rows.iter().position(|row| pattern.is_match(&without_sgr(&row.line.to_string())))
}
