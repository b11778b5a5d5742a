//! The search as the reader meets it: typing, hits that come in, going from hit to hit.

use std::sync::Arc;

use tui_input::{Input, InputRequest};

use super::action::Action;
use super::search::{self, Job, Search, blocks_with_hits};
use super::sequence::{place_in_file, starter_of};
use super::state::{Effect, Mode, Stand, State};
use super::viewport::{Focus, Motion};
use crate::model::entry::{Entry, EntryId};
use crate::model::transcript::Transcript;
use crate::render::row::Level;

/// Starts typing, or goes to another hit.
pub fn act(state: &mut State, action: Action, times: usize) -> Vec<Effect> {
    match action {
        Action::Search => {
            state.mode = Mode::Search { input: Input::default(), from: Box::new(state.stand()) };
        }
        Action::NextHit => (0..times.min(1_000)).for_each(|_| go(state, true)),
        _ => (0..times.min(1_000)).for_each(|_| go(state, false)),
    }
    Vec::new()
}

/// Changes what is typed and searches for it at once.
pub fn type_on(state: &mut State, request: InputRequest) -> Vec<Effect> {
    let Mode::Search { input, .. } = &mut state.mode else { return Vec::new() };
    input.handle(request);
    search_for_typed(state)
}

/// Moving the cursor changes nothing, and so it starts nothing.
fn search_for_typed(state: &mut State) -> Vec<Effect> {
    let Mode::Search { input, from } = &state.mode else { return Vec::new() };
    let typed = input.value().to_owned();
    if state.search.as_ref().is_some_and(|search| search.typed == typed) {
        return Vec::new();
    }
    if typed.is_empty() {
        let from = from.clone();
        state.go_back_to(&from);
    }
    start(state, &typed, true)
}

/// The typed search stands; with nothing typed the last one goes on.
pub fn accept(state: &mut State) {
    let Mode::Search { input, .. } = std::mem::take(&mut state.mode) else { return };
    state.searchable = None;
    if input.value().is_empty() {
        go(state, true);
    }
}

/// The search that is being typed is given up: the view goes back to where it stood.
pub fn give_up(state: &mut State, from: &Stand) -> Vec<Effect> {
    state.go_back_to(from);
    end(state)
}

/// Ends the search.
pub fn end(state: &mut State) -> Vec<Effect> {
    state.search = None;
    state.searchable = None;
    state.sought = None;
    state.stale.spine = true;
    vec![Effect::CancelSearch]
}

fn start(state: &mut State, typed: &str, seeks: bool) -> Vec<Effect> {
    state.generation = state.generation.wrapping_add(1);
    let Some(pattern) = search::compile(typed) else { return end(state) };
    let entries = state.searchable.get_or_insert_with(|| search::searchable(&state.transcript));
    let (generation, entries) = (state.generation, Arc::clone(entries));
    let job = Job { pattern: pattern.clone(), generation, entries };
    let hits = Vec::new();
    state.search =
        Some(Search { typed: typed.to_owned(), pattern, hits, seeks, is_complete: false, generation });
    state.stale.spine = true;
    vec![Effect::Search(job)]
}

/// Searches once more, because another transcript took the place of the searched one. The view stays.
pub fn again(state: &mut State) -> Vec<Effect> {
    state.searchable = None;
    let Some(search) = &state.search else { return Vec::new() };
    let (typed, seeks) = (search.typed.clone(), search.seeks);
    let effects = start(state, &typed, seeks);
    if !matches!(state.mode, Mode::Search { .. }) {
        state.searchable = None;
    }
    effects
}

/// Takes hits over. The view goes to the one nearest to where the reader stood.
pub fn found(state: &mut State, generation: u32, hits: Vec<Focus>, is_complete: bool) {
    let Some(search) = state.search.as_mut().filter(|search| search.generation == generation) else { return };
    let level = state.level;
    let is_shown = |hit: &Focus| state.transcript.get(hit.entry).is_some_and(|entry| has_rows(entry, level));
    search.add(&state.transcript, hits.into_iter().filter(is_shown).collect());
    search.is_complete = is_complete;
    state.stale.spine = true;
    if search.seeks {
        to_nearest(state);
    }
}

/// Bookkeeping is searched only where it is shown; prompts alone are a way to read, not all there is.
fn has_rows(entry: &Entry, level: Level) -> bool {
    !entry.marks.trace || level >= Level::Full
}

/// To the first hit behind the place where the reader stood, else to the last one before it.
fn to_nearest(state: &mut State) {
    let Some(search) = &state.search else { return };
    let start = match &state.mode {
        Mode::Search { from, .. } => from.focus,
        Mode::Normal | Mode::Palette(_) | Mode::Picker | Mode::Help { .. } | Mode::Raw { .. } => {
            state.view.focus
        }
    };
    let start = start.map(|focus| in_file(&state.transcript, focus));
    // Hits come in the order of the file, so the first one behind the start stays the first one.
    let behind = search.hits.partition_point(|hit| Some(in_file(&state.transcript, *hit)) < start);
    let last = search.hits.last().filter(|_| search.is_complete);
    let hit = search.hits.get(behind).or(last).copied();
    let (is_settled, is_vain) = (hit.is_some() || search.is_complete, hit.is_none() && search.is_complete);
    if let Some(search) = state.search.as_mut().filter(|_| is_settled) {
        search.seeks = false;
    }
    // What an earlier, shorter pattern opened closes again.
    if let Mode::Search { from, .. } = &state.mode
        && (hit.is_some() || is_vain)
    {
        let from = from.clone();
        state.go_back_to(&from);
    }
    if let Some(hit) = hit {
        show(state, hit);
    }
}

fn in_file(transcript: &Transcript, focus: Focus) -> (usize, usize) {
    (place_in_file(transcript, focus.entry).unwrap_or(0), focus.block)
}

/// To the next or previous hit, around the ends.
fn go(state: &mut State, forward: bool) {
    let Some(search) = &state.search else { return state.say("nothing is searched for; / starts a search") };
    if search.hits.is_empty() {
        let what = if search.is_complete { "no hits" } else { "still searching" };
        return state.say(what);
    }
    let here = state.view.focus.map(|focus| in_file(&state.transcript, focus));
    let is_before = |hit: &Focus| here.is_some_and(|here| in_file(&state.transcript, *hit) < here);
    let at = search.hits.partition_point(is_before);
    let is_on_hit = search.hits.get(at).copied() == state.view.focus && here.is_some();
    let (next, around) = if forward {
        (search.hits.get(at + usize::from(is_on_hit)), search.hits.first())
    } else {
        (at.checked_sub(1).and_then(|before| search.hits.get(before)), search.hits.last())
    };
    let wraps = next.is_none();
    if let Some(hit) = next.or(around).copied() {
        if wraps {
            state.say(if forward { "search goes on at the beginning" } else { "search goes on at the end" });
        }
        state.remember_place();
        show(state, hit);
    }
}

/// Focuses a hit. The next arrangement brings it into view: only that knows the rows.
fn show(state: &mut State, hit: Focus) {
    open_lanes_to(state, hit.entry);
    state.view.ask(Motion::Pause);
    state.view.focus = Some(hit);
    state.sought = Some(hit);
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
        let entry = state.transcript.get(*id).filter(|entry| has_rows(entry, state.level));
        let Some(entry) = entry else { continue };
        hits.extend(
            blocks_with_hits(&search.pattern, entry).into_iter().map(|block| Focus { entry: *id, block }),
        );
    }
    search.merge(&state.transcript, ids, hits);
    state.stale.spine = true;
}
