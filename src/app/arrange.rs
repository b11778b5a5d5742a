//! Layout before each frame: fills the window and the panes around it. No other module lays out
//! rows.
//!
//! Invariant: the cost of a frame depends on the size of the screen, not on the size of the
//! session.

use std::collections::HashSet;

use super::effect::Effect;
use super::input::action::View;
use super::layout::Frame;
use super::reader::{PanesMut, Reader};
use super::scene::Scene;
use super::side_pane::SidePane;
use super::text::find::reveal::reveal_sought;
use super::text::find::search;
use super::text::places::marks;
use super::text::window::{fill, refresh_sequence};
use super::text::{TextPane, as_of, auto_open, details, folds, gutter, paging, spine};
use crate::analysis::lint::Severity;
use crate::model::entry::EntryId;
use crate::session::Session;
use crate::session::indexes::Needs;

/// Lays out the window and the panes, and returns effects that read missing bodies.
pub fn arrange(reader: &mut Reader) -> Vec<Effect> {
    reader.session.transcript.update_derived();
    let mut effects = reader.with_text(search::run_typed);
    if folds::update_branches(&mut reader.text, &reader.session) {
        reader.outline.clear();
        reader.checks.invalidate();
    }
    reader.session.refresh(reader.screen.now);
    reader.with_text(|text, scene| auto_open::update(text, scene));
    reader.with_text(refresh_sequence);
    let seen = reader.screen.colours.generation() + reader.screen.pictures.generation();
    if reader.text.stale.colours_seen != seen {
        reader.text.stale.colours_seen = seen;
        reader.text.cache.clear();
    }
    let frame = reader.frame();
    let needs = needs(reader, &frame);
    let is_whole = !reader.session.is_part();
    reader
        .session
        .indexes
        .follow(&reader.session.transcript, needs, is_whole);
    reader.session.transcript.tidy();
    let frame = reader.with_text(|text, scene| arrange_text(text, scene, frame));
    refresh_checks(reader, &frame);
    effects.extend(reader.with_panes(|panes, scene| arrange_sides(panes, scene, &frame)));
    reader.session.transcript.tidy();
    effects
}

/// The indexes that the visible panes need.
fn needs(reader: &Reader, frame: &Frame) -> Needs {
    let watched = Needs {
        findings: reader.alarms.needs_findings(),
        ..Needs::default()
    };
    let panes: [&dyn SidePane; 3] = [&reader.outline, &reader.views, &reader.inspector];
    panes
        .into_iter()
        .fold(reader.text.needs() | watched, |needs, pane| {
            needs | pane.needs(frame)
        })
}

/// Fills the window and its gutter. Returns the areas of the screen, which may have changed.
fn arrange_text(text: &mut TextPane, scene: &mut Scene<'_>, mut frame: Frame) -> Frame {
    reveal_sought(text, scene);
    let held = (!text.view.is_moving()).then_some(text.view.anchor);
    fill(text, scene, frame);
    if text.frame(scene) != frame {
        // New entries are now visible, so the line of the pill is free: fill again without it.
        frame = text.frame(scene);
        text.view.anchor = held.unwrap_or(text.view.anchor);
        fill(text, scene, frame);
    }
    let shown: HashSet<EntryId> = text.view.lines.iter().map(|line| line.entry).collect();
    text.cache.trim(|id| shown.contains(&id));
    for line in &text.view.lines {
        let portion = text.sequence.portions().at(line.place);
        if portion.of == 1 {
            text.heights.set(
                portion.place,
                u32::try_from(line.rows.len()).unwrap_or(u32::MAX),
            );
        }
    }
    gutter::make::arrange(text, scene, &frame);
    as_of::make::arrange(text, scene);
    frame
}

fn refresh_checks(reader: &mut Reader, frame: &Frame) {
    let is_shown = frame.outline.width > 0 || frame.bar.height > 0;
    if is_shown || reader.views.open() == Some(View::Checks) {
        let Session {
            transcript,
            indexes,
            ..
        } = &reader.session;
        let glyphs = reader.screen.theme.glyphs();
        reader
            .checks
            .refresh(transcript, &indexes.findings, &indexes.loops, glyphs);
    }
}

fn arrange_sides(panes: PanesMut<'_>, scene: &Scene<'_>, frame: &Frame) -> Vec<Effect> {
    let PanesMut {
        text,
        outline,
        inspector,
        views,
        alarms,
    } = panes;
    text.stale.spine |= std::mem::take(&mut alarms.has_new_marks);
    arrange_spine(text, scene, &alarms.marks, usize::from(frame.lines()));
    let mut effects: Vec<Effect> = paging::page(text, scene).into_iter().collect();
    effects.extend(details::request(text, scene));
    let panes: [&mut dyn SidePane; 3] = [outline, views, inspector];
    for pane in panes {
        effects.extend(pane.arrange(text, scene, frame));
    }
    effects
}

/// Fills the spine: hits, marks, loops and alarms.
fn arrange_spine(text: &mut TextPane, scene: &Scene<'_>, alarms: &HashSet<EntryId>, lines: usize) {
    let loops = &scene.session.indexes.loops;
    let findings = &scene.session.indexes.findings;
    let seen = (loops.generation, findings.generation);
    text.stale.spine |= std::mem::replace(&mut text.spine.seen, seen) != seen;
    if std::mem::take(&mut text.stale.spine) {
        let hits = text
            .find
            .search
            .iter()
            .flat_map(|search| &search.hits)
            .map(|hit| hit.focus.entry);
        let hits = hits.map(|id| (id, spine::SpineMark::Hit));
        let marks = marks::entries(text, &scene.session.transcript)
            .map(|id| (id, spine::SpineMark::Marked));
        let loops = loops
            .entries()
            .into_iter()
            .map(|id| (id, spine::SpineMark::Loop));
        let alarms = alarms.iter().map(|id| (*id, spine::SpineMark::Alarm));
        let found = findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
            .map(|finding| (finding.entry, spine::SpineMark::Error));
        let marked = hits.chain(marks).chain(loops).chain(alarms).chain(found);
        let marked = marked.collect();
        text.spine.mark(&text.sequence, marked);
    }
    text.spine.arrange(lines, &text.heights);
}
