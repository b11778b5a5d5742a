//! Before each frame: fills the window and what surrounds it. The only place where rows are made.
//!
//! Invariant: what is laid out depends on the screen, not on the session.

use std::collections::HashSet;

use super::action::View;
use super::as_of;
use super::branch_folds;
use super::details;
use super::effect::Effect;
use super::gutter;
use super::inspector;
use super::layout;
use super::layout::{Frame, divide};
use super::marks;
use super::outline;
use super::paging;
use super::panes::Pane;
use super::reader::Reader;
use super::searching;
use super::spine::{self};
use super::strip;
use super::uncover::uncover;
use super::views;
use super::window::{fill, refresh_sequence};
use crate::analysis::phrases;
use crate::model::entry::EntryId;
use crate::render::row::Level;
use crate::session::indexes::Needs;

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
    let needs = needs(reader, &frame);
    let is_whole = !reader.session.ends.is_part();
    reader.session.indexes.follow(&reader.session.transcript, needs, is_whole);
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
    gutter::make::arrange(reader, &frame);
    as_of::make::arrange(reader);
    arrange_sides(reader, frame);
    views::actions::arrange(reader);
    effects.extend(paging::ask::page(reader));
    effects.extend(details::ask::ask(reader));
    effects.extend(inspector::actions::arrange(reader, &frame));
    strip::make::arrange(reader, &frame);
    effects.extend(hand_out(reader));
    effects
}

/// Entries that were looked at are to be packed, on another thread.
fn hand_out(reader: &mut Reader) -> Vec<Effect> {
    reader.session.hand_out().into_iter().map(Effect::Pack).collect()
}

/// What must be known of the session for what is in sight.
fn needs(reader: &Reader, frame: &Frame) -> Needs {
    let has_outline = frame.outline.width > 0;
    let around = Needs {
        flights: reader.text.level > Level::Prompts && reader.text.wrapping.lanes,
        files: has_outline,
        findings: has_outline || reader.alarms.want_findings(),
        calls: frame.inspector.width > 1 && frame.inspector.height > 1,
        windows: reader.text.as_of.is_on,
        ..Needs::default()
    };
    around | views::actions::needs(reader)
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

fn arrange_sides(reader: &mut Reader, frame: Frame) {
    let loops = reader.session.indexes.loops.generation();
    reader.text.stale.spine |= std::mem::replace(&mut reader.text.spine.troubles_seen, loops) != loops;
    let current = reader.focused_turn();
    refresh_turn(reader, current);
    if frame.outline.width > 0 || reader.views.open() == Some(View::Checks) {
        let (findings, loops) = (&reader.session.indexes.findings, &reader.session.indexes.loops);
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
