//! The search as the reader meets it: typing, hits that come in, going from hit to hit.

use tui_input::{Input, InputRequest};

use super::action::Action;
use super::search::{self, Job, Search, blocks_with_hits};
use super::sequence::starter_of;
use super::state::{Effect, Mode, State};
use super::viewport::{Focus, Motion};
use crate::model::entry::EntryId;
use crate::model::text::{Text, without_sgr};
use crate::render::row::Fold;

/// A paste longer than this is no pattern.
const LONGEST_PASTE: usize = 1_000;

/// Starts typing, or goes to another hit.
pub fn act(state: &mut State, action: Action, times: usize) -> Vec<Effect> {
    match action {
        Action::Search => state.mode = Mode::Search { input: Input::default(), from: state.view.focus },
        Action::NextHit => (0..times.min(1_000)).for_each(|_| go(state, true)),
        _ => (0..times.min(1_000)).for_each(|_| go(state, false)),
    }
    Vec::new()
}

/// Changes what is typed and searches for it at once.
pub fn type_on(state: &mut State, request: InputRequest) -> Vec<Effect> {
    let Mode::Search { input, .. } = &mut state.mode else { return Vec::new() };
    input.handle(request);
    let typed = input.value().to_owned();
    start(state, &typed)
}

/// Pasted text becomes part of what is typed, on one line.
pub fn paste(state: &mut State, text: &str) {
    if let Mode::Search { input, .. } = &mut state.mode {
        for c in Text::clean(text).chars().filter(|c| *c != '\n' && *c != '\t').take(LONGEST_PASTE) {
            input.handle(InputRequest::InsertChar(c));
        }
    }
}

/// The typed search stands; with nothing typed the last one goes on.
pub fn accept(state: &mut State) -> Vec<Effect> {
    let Mode::Search { input, .. } = std::mem::take(&mut state.mode) else { return Vec::new() };
    let typed = input.value().to_owned();
    if typed.is_empty() {
        go(state, true);
        return Vec::new();
    }
    if state.search.as_ref().is_some_and(|search| search.typed == typed) {
        return Vec::new();
    }
    start(state, &typed)
}

/// Leaves a pop-up, the typing, or the search, one at a time.
pub fn cancel(state: &mut State) -> Vec<Effect> {
    match std::mem::take(&mut state.mode) {
        Mode::Help { .. } | Mode::Raw { .. } => Vec::new(),
        Mode::Search { from, .. } => {
            if let Some(focus) = from {
                state.view.ask(Motion::Show(focus));
            }
            end(state)
        }
        Mode::Normal => end(state),
    }
}

fn end(state: &mut State) -> Vec<Effect> {
    state.search = None;
    state.stale.spine = true;
    vec![Effect::CancelSearch]
}

fn start(state: &mut State, typed: &str) -> Vec<Effect> {
    state.generation = state.generation.wrapping_add(1);
    let Some(pattern) = search::compile(typed) else { return end(state) };
    let search = Search {
        typed: typed.to_owned(),
        pattern,
        hits: Vec::new(),
        is_complete: false,
        generation: state.generation,
    };
    let job = Job::new(&search, &state.transcript);
    state.search = Some(search);
    state.stale.spine = true;
    vec![Effect::Search(job)]
}

/// Takes hits over. The first ones move the view to the hit nearest to where the reader stood.
pub fn found(state: &mut State, generation: u32, hits: Vec<Focus>, is_complete: bool) -> Vec<Effect> {
    let Some(search) = state.search.as_mut().filter(|search| search.generation == generation) else {
        return Vec::new();
    };
    let had_none = search.hits.is_empty();
    search.add(&state.transcript, hits);
    search.is_complete = is_complete;
    let has_some = !search.hits.is_empty();
    state.stale.spine = true;
    if is_complete && had_none && has_some {
        to_nearest(state);
    }
    Vec::new()
}

fn to_nearest(state: &mut State) {
    let from = match &state.mode {
        Mode::Search { from, .. } => *from,
        _ => state.view.focus,
    };
    let Some(search) = &state.search else { return };
    let order = |focus: &Focus| {
        (state.transcript.order().iter().position(|id| *id == focus.entry).unwrap_or(0), focus.block)
    };
    let start = from.as_ref().map(order);
    let next = search.hits.iter().copied().find(|hit| start.is_none_or(|start| order(hit) >= start));
    if let Some(hit) = next.or_else(|| search.hits.last().copied()) {
        show(state, hit);
    }
}

/// To the next or previous hit, around the ends.
fn go(state: &mut State, forward: bool) {
    let Some(search) = &state.search else { return state.say("nothing is searched for; / starts a search") };
    if search.hits.is_empty() {
        let what = if search.is_complete { "no hits" } else { "still searching" };
        return state.say(what);
    }
    let order: std::collections::HashMap<EntryId, usize> =
        state.transcript.order().iter().enumerate().map(|(place, id)| (*id, place)).collect();
    let key = |focus: Focus| (order.get(&focus.entry).copied().unwrap_or(0), focus.block);
    let here = state.view.focus.map(key);
    let after = search.hits.partition_point(|hit| here.is_some_and(|here| key(*hit) <= here));
    let at = search.hits.partition_point(|hit| here.is_some_and(|here| key(*hit) < here));
    let next = if forward {
        search.hits.get(after)
    } else {
        at.checked_sub(1).and_then(|before| search.hits.get(before))
    };
    let around = if forward { search.hits.first() } else { search.hits.last() };
    let wraps = next.is_none();
    if let Some(hit) = next.or(around).copied() {
        if wraps {
            state.say(if forward { "search goes on at the beginning" } else { "search goes on at the end" });
        }
        state.remember_place();
        show(state, hit);
    }
}

/// Brings a hit into view: opens the sub-agent that it is in and the fold that hides it.
fn show(state: &mut State, hit: Focus) {
    open_lanes_to(state, hit.entry);
    let Some(entry) = state.transcript.get(hit.entry) else { return };
    let key = entry.key.clone();
    let is_closed_by_hand = state.folds.get(&key, hit.block) == Fold::Closed;
    let is_in_sight = state.search.as_ref().is_some_and(|search| row_with_hit(state, search, hit).is_some());
    if is_closed_by_hand || !is_in_sight {
        state.folds.set(&key, hit.block, Fold::Open);
        state.cache.forget(hit.entry);
    }
    state.view.ask(Motion::Pause);
    let row = state.search.as_ref().and_then(|search| row_with_hit(state, search, hit));
    state.view.ask(row.map_or(Motion::Show(hit), |row| Motion::ShowRow(hit, row)));
    state.view.focus = Some(hit);
}

/// The row of the block that shows the hit, as far as the entry is in the window.
fn row_with_hit(state: &State, search: &Search, hit: Focus) -> Option<usize> {
    let line = state.view.lines.iter().find(|line| line.entry == hit.entry)?;
    let rows = line.rows.iter().filter(|row| row.block == hit.block);
    rows.map(|row| row.line.to_string()).position(|text| search.pattern.is_match(&without_sgr(&text)))
}

fn open_lanes_to(state: &mut State, id: EntryId) {
    let mut lane = state.transcript.get(id).and_then(|entry| entry.lane.clone());
    while let Some(name) = lane {
        let starter = starter_of(&state.transcript, &name);
        if !state.open_lanes.insert(name) {
            return;
        }
        state.stale.sequence = true;
        if let Some(starter) = starter {
            state.cache.forget(starter);
        }
        lane = starter.and_then(|id| state.transcript.get(id)).and_then(|entry| entry.lane.clone());
    }
}

/// Searches entries that have just come or changed.
pub fn search_new(state: &mut State, ids: &[EntryId]) {
    let Some(search) = &mut state.search else { return };
    let mut hits = Vec::new();
    for id in ids {
        let Some(entry) = state.transcript.get(*id) else { continue };
        hits.extend(
            blocks_with_hits(&search.pattern, entry).into_iter().map(|block| Focus { entry: *id, block }),
        );
    }
    search.merge(&state.transcript, ids, hits);
    state.stale.spine = true;
}
