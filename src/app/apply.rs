//! What the session says: batches, progress, the fate of the file.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::alarms;
use super::effect::Effect;
use super::ends;
use super::filter::Filter;
use super::filtering;
use super::mode::Mode;
use super::moving;
use super::search::{AtHit, Sought};
use super::searching;
use super::sequence::{Wanted, starter_of};
use super::state::State;
use super::viewport::{Anchor, Focus, Mark, Selection};
use crate::model::body::{Held, Key};
use crate::model::edit::{Batch, Feed, LinkState, Polled, Stage};
use crate::model::entry::EntryId;
use crate::model::record::{FileId, Origin};
use crate::model::transcript::{Touched, Transcript};

/// Bytes of bodies that stay in memory. Entries whose bodies do are not packed, and take as much again.
pub const BODY_BUDGET: u64 = 8 << 20;

/// Takes one message of the feed.
pub fn take(state: &mut State, feed: Feed) -> Vec<Effect> {
    let mut effects = tell(state, feed);
    effects.extend(alarms::look(state));
    go_to_wanted(state);
    effects
}

/// Goes to the entry that the reader asked for by its key, or by the id of a call, as soon as it is there.
pub fn go_to_wanted(state: &mut State) {
    let Some(wanted) = &state.wanted else { return };
    let by_call = || state.transcript.entries_with_call(&Key::clean(wanted)).first().copied();
    if let Some(entry) = state.transcript.find(wanted).or_else(by_call) {
        state.wanted = None;
        moving::go(state, Focus { entry, block: 0 });
    } else if state.is_caught_up {
        let words = format!("no entry is called {}", Key::clean(wanted));
        state.wanted = None;
        state.say(words);
    }
}

fn tell(state: &mut State, feed: Feed) -> Vec<Effect> {
    match feed {
        Feed::Opened(opened) => state.opened = Some(*opened),
        Feed::Batch { stage: Stage::Preview, batch } => return ends::take_last(state, *batch),
        Feed::Batch { stage: Stage::Whole, batch } => return ends::take_whole(state, *batch),
        // Once caught up, reading on is following, however long a burst takes.
        Feed::Progress { done, total } => {
            state.progress = Some((done, total)).filter(|_| !state.is_caught_up);
        }
        Feed::CaughtUp => return ends::caught_up(state),
        Feed::Bodies(contents) => {
            let entries: Vec<EntryId> = in_sight(state).collect();
            fill(state, &entries, &contents);
        }
        Feed::File { id, path } => note_file(state, id, path),
        Feed::Link(link) => {
            if let LinkState::Reread(why) = &link {
                state.say(why.to_string());
                state.link = LinkState::Live;
            } else {
                state.link = link;
            }
        }
        Feed::Polled(why) => note_polled(state, why),
        Feed::Fault(what) => state.fault = Some(what),
    }
    Vec::new()
}

fn note_polled(state: &mut State, why: Polled) {
    if let Polled::Refused(what) = &why {
        state.say(format!("no file events ({what}): looking four times a second instead"));
    }
    state.polled = Some(why);
}

fn note_file(state: &mut State, id: FileId, path: Arc<Path>) {
    let number = usize::try_from(id.0).unwrap_or(usize::MAX);
    if number < 1_000_000 {
        if state.files.len() <= number {
            state.files.resize(number + 1, Arc::from(Path::new("")));
        }
        if let Some(place) = state.files.get_mut(number) {
            *place = path;
        }
    }
}

/// Applies a batch to what is on the screen.
pub fn apply(state: &mut State, batch: Batch) -> Vec<Effect> {
    let touched = state.transcript.apply(batch);
    state.findings.note(&touched);
    if touched.is_empty() {
        return Vec::new();
    }
    state.stale.facts = true;
    state.indexes.note(&state.transcript, &touched);
    state.alarms.note(&touched);
    note_rows(state, &touched);
    let mut effects = filtering::judge_new(state, &touched);
    grow_sequence(state, &touched);
    // Of the beginning nothing is new.
    if !state.view.follows() && !state.ends.is_beginning() {
        state.unseen += touched.added.iter().filter(|id| is_in_sequence(state, **id)).count();
    }
    if state.search.is_some() {
        let ids: Vec<EntryId> = touched.added.iter().chain(&touched.changed).copied().collect();
        searching::search_new(state, &ids);
        if touched.reordered && state.search.as_ref().is_some_and(|search| !search.is_complete) {
            effects.extend(searching::again(state));
        }
    }
    let shown: Vec<EntryId> = in_sight(state).collect();
    state.transcript.release(BODY_BUDGET, |id| shown.contains(&id));
    effects
}

/// Whether a new entry is shown, or will be as soon as the sequence is made anew.
fn is_in_sequence(state: &State, id: EntryId) -> bool {
    let will_be = || {
        // What was told and taken back at once is no news.
        let entry = state.transcript.get(id).filter(|entry| state.transcript.find(&entry.key) == Some(id));
        let is_of_main_lane = entry.is_some_and(|entry| entry.lane.is_none());
        let is_shown = |filter: &Filter| entry.is_some() && !filter.blocks(id).is_empty();
        state.filter.as_ref().map_or(is_of_main_lane, is_shown)
    };
    state.sequence.place_of(id).is_some() || (state.stale.sequence && will_be())
}

/// Forgets rows that are no longer true: of changed entries, of the prompts whose turns changed, and of
/// the calls whose sub-agents went on.
fn note_rows(state: &mut State, touched: &Touched) {
    if touched.reordered || !touched.moved.is_empty() {
        state.details.clear();
    }
    for id in touched.added.iter().chain(&touched.changed) {
        state.cache.forget(*id);
        state.asked.forget(*id);
    }
    for id in &touched.added {
        state.outline.note();
        state.checks.note(&state.transcript, *id);
    }
    for id in &touched.changed {
        state.checks.note(&state.transcript, *id);
        state.outline.change(&state.transcript, *id);
    }
    if touched.lanes {
        state.outline.clear();
        state.checks.clear();
    }
    if touched.reordered {
        state.cache.clear();
        state.outline.clear();
        state.checks.clear();
        state.asked.clear();
    }
    let lanes =
        touched.added.iter().chain(&touched.changed).filter_map(|id| state.transcript.get(*id)?.lane.clone());
    let starters: Vec<EntryId> =
        lanes.collect::<HashSet<_>>().iter().filter_map(|lane| starter_of(&state.transcript, lane)).collect();
    for id in &starters {
        state.cache.forget(*id);
    }
    state.transcript.settle();
}

fn grow_sequence(state: &mut State, touched: &Touched) {
    // A lane may have been attached to its call; a changed entry may have become a prompt.
    let may_move = touched.reordered || touched.lanes;
    if may_move || state.stale.sequence {
        state.stale.sequence = true;
        return;
    }
    for id in &touched.added {
        let before = state.sequence.len();
        let wanted = Wanted {
            open_lanes: &state.open_lanes,
            level: state.level,
            folded: &HashSet::new(),
            filter: state.filter.as_ref(),
        };
        if !state.sequence.append(&state.transcript, *id, &wanted) {
            state.stale.sequence = true;
            return;
        }
        if state.sequence.len() > before {
            let glance = state.transcript.glance(*id);
            let rows = glance.map_or(1, |glance| super::arrange::estimate(&glance, state.level));
            state.heights.push(rows);
        }
    }
    for id in &touched.changed {
        state.sequence.change(&state.transcript, *id);
    }
    let touched = touched.added.iter().chain(&touched.changed);
    for (id, place) in touched.filter_map(|id| Some((*id, state.sequence.place_of(*id)?))) {
        state.spine.note(&state.transcript, id, place);
    }
    // What is marked or was found may be an entry that comes only now.
    state.stale.spine |= state.search.is_some() || !state.marks.is_empty() || !state.alarms.marks.is_empty();
}

/// Shows another transcript of the session, with what is being read in its place, by key. Gives back the one that
/// was shown.
pub fn show(state: &mut State, transcript: Transcript) -> (Transcript, Vec<Effect>) {
    let before = std::mem::replace(&mut state.transcript, transcript);
    let key_of = |id: EntryId| before.get(id).map(|entry| entry.key.clone());
    let now_at = |key: Option<Key>| key.and_then(|key| state.transcript.find(&key));
    let moved = |focus: Focus| now_at(key_of(focus.entry)).map(|entry| Focus { entry, ..focus });
    let moved_anchor = |anchor: Anchor| match anchor {
        Anchor::Row { entry, block, row, node, line } => {
            now_at(key_of(entry)).map_or(Anchor::Tail, |entry| Anchor::Row { entry, block, row, node, line })
        }
        Anchor::Tail => Anchor::Tail,
    };
    state.view.anchor = moved_anchor(state.view.anchor);
    state.view.focus = state.view.focus.and_then(moved);
    let moved_mark = |mark: Mark| now_at(key_of(mark.entry)).map(|entry| Mark { entry, ..mark });
    state.view.selection = state.view.selection.and_then(|selection| {
        Some(Selection { anchor: moved_mark(selection.anchor)?, cursor: moved_mark(selection.cursor)? })
    });
    // Their entries have other numbers now.
    state.taking = None;
    for places in [&mut state.jumps, &mut state.ahead] {
        *places = std::mem::take(places).into_iter().filter_map(moved).collect();
    }
    state.sought = state.sought.map(|sought| Sought {
        block: sought.block.and_then(|(focus, edge)| Some((moved(focus)?, edge))),
        ..sought
    });
    state.same_id = state.same_id.take().and_then(|(focus, id)| Some((moved(focus)?, id)));
    state.at_hit = state.at_hit.and_then(|at| Some(AtHit { focus: moved(at.focus)?, ..at }));
    if let Mode::Search { from, .. } = &mut state.mode {
        from.anchor = moved_anchor(from.anchor);
        from.focus = from.focus.and_then(moved);
    }
    state.view.lines.clear();
    state.cache.clear();
    state.outline.clear();
    state.checks.clear();
    state.views.clear();
    state.inspector.clear();
    state.strip.clear();
    state.asked.clear();
    state.stale.sequence = true;
    state.stale.facts = true;
    state.transcript.settle();
    let mut effects = filtering::again(state, &before);
    effects.extend(searching::again(state));
    (before, effects)
}

/// Entries of the window and of the inspector.
fn in_sight(state: &State) -> impl Iterator<Item = EntryId> {
    let inspected = state.inspector.shown().map(|focus| focus.entry);
    state.view.lines.iter().map(|line| line.entry).chain(inspected)
}

/// Puts bodies back that were read again.
pub fn fill(state: &mut State, entries: &[EntryId], contents: &[(Origin, Vec<Held>)]) {
    for id in state.transcript.fill(entries, contents) {
        state.asked.forget(id);
    }
    // Entries wait for the bodies of others, too.
    for id in entries {
        state.cache.forget(*id);
    }
    state.indexes.learn(&state.transcript, entries);
    let shown: Vec<EntryId> = in_sight(state).chain(entries.iter().copied()).collect();
    state.transcript.release(BODY_BUDGET, |id| shown.contains(&id));
}
