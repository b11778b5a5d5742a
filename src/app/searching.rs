//! The search as the reader meets it: typing, hits that come in, going from hit to hit.

use tui_input::{Input, InputRequest};

use super::action::{Action, Way};
use super::effect::Effect;
use super::mention;
use super::mode::Mode;
use super::saved_position::SavedPosition;
use super::search::{Edge, Hit, Search, Seek, Sought, hits_of};
use super::sequence::place_in_file;
use super::state::State;
use super::viewport::{Focus, Motion};
use crate::analysis::texts;
use crate::model::entry::{Entry, EntryId};
use crate::model::transcript::{Touched, Transcript};
use crate::render::row::Level;

/// Hits that are gone over in one go.
const MOST_STEPS: isize = 1_000;

/// Starts typing, or goes to another hit.
pub fn act(state: &mut State, action: Action, times: usize) -> Vec<Effect> {
    let steps = isize::try_from(times).unwrap_or(MOST_STEPS).min(MOST_STEPS);
    match action {
        Action::Search => {
            state.history.searches.rest();
            state.mode =
                Mode::Search { input: Input::default(), from: Box::new(SavedPosition::of(&state.text)) };
        }
        Action::Mention(way) => return seek_mention(state, way),
        Action::NextHit => go(state, steps),
        _ => go(state, -steps),
    }
    Vec::new()
}

/// Changes what is typed. It is searched for before the next frame, or before anything else is done with it: keys may
/// come faster than patterns are made.
pub fn type_on(state: &mut State, request: InputRequest) {
    let Mode::Search { input, .. } = &mut state.mode else { return };
    input.handle(request);
    state.find.is_typed_anew = true;
}

/// Searches for what was typed since the last time.
pub fn catch_up(state: &mut State) -> Vec<Effect> {
    if std::mem::take(&mut state.find.is_typed_anew) { search_for_typed(state) } else { Vec::new() }
}

/// Takes the line that was typed before, or after, in its place.
pub fn recall(state: &mut State, is_older: bool) -> Vec<Effect> {
    let Mode::Search { input, .. } = &mut state.mode else { return Vec::new() };
    if let Some(line) = state.history.searches.recall(is_older, input.value()) {
        *input = Input::new(line);
    }
    search_for_typed(state)
}

/// Takes what is typed as a regular expression, or literally.
pub fn toggle_literal(state: &mut State) -> Vec<Effect> {
    state.find.is_literal = !state.find.is_literal;
    search_for_typed(state)
}

/// Moving the cursor changes nothing, and so it starts nothing.
fn search_for_typed(state: &mut State) -> Vec<Effect> {
    let Mode::Search { input, from } = &state.mode else { return Vec::new() };
    let typed = input.value().to_owned();
    let is_same = |search: &Search| search.typed == typed && search.is_literal == state.find.is_literal;
    if state.find.search.as_ref().is_some_and(is_same) {
        return Vec::new();
    }
    if typed.is_empty() {
        let from = from.clone();
        go_back(state, &from);
    }
    let search = Search::new(&typed, state.find.is_literal, state.find.next_generation());
    start(state, search, Some(Seek::Nearest))
}

/// The typed search stands; with nothing typed the last one goes on.
pub fn accept(state: &mut State) -> Vec<Effect> {
    let Mode::Search { input, .. } = std::mem::take(&mut state.mode) else { return Vec::new() };
    state.history.searches.keep(input.value());
    if !input.value().is_empty() {
        return Vec::new();
    }
    if state.find.search.is_some() {
        go(state, 1);
        return Vec::new();
    }
    let Some(last) = state.history.searches.recall(true, "") else { return Vec::new() };
    state.history.searches.rest();
    let search = Search::new(&last, state.find.is_literal, state.find.next_generation());
    let seeks = state.text.view.focus.map_or(Seek::Nearest, Seek::Behind);
    start(state, search, Some(seeks))
}

/// The search that is being typed is given up: the view goes back to where it stood.
pub fn give_up(state: &mut State, from: &SavedPosition) -> Vec<Effect> {
    go_back(state, from);
    end(state)
}

/// Ends the search.
pub fn end(state: &mut State) -> Vec<Effect> {
    state.find.search = None;
    state.find.sought = None;
    state.find.at_hit = None;
    state.text.stale.spine = true;
    vec![Effect::CancelSearch]
}

fn go_back(state: &mut State, from: &SavedPosition) {
    from.restore(&mut state.text);
    state.find.sought = None;
}

fn start(state: &mut State, search: Option<Search>, seeks: Option<Seek>) -> Vec<Effect> {
    let Some(mut search) = search else { return end(state) };
    search.seeks = seeks;
    let place = stands_at(state).and_then(|focus| place_in_file(&state.session.transcript, focus.entry));
    search.begin(place.unwrap_or(0), state.find.search.as_ref());
    state.find.search = Some(search);
    state.find.at_hit = None;
    go_on(state)
}

/// Has the next portions searched, as soon as there is room for them.
fn go_on(state: &mut State) -> Vec<Effect> {
    let mut effects = Vec::new();
    if let Some(search) = &mut state.find.search {
        while let Some(job) = search.hand_out(&state.session.transcript) {
            effects.push(Effect::Search(job));
        }
        let len = state.session.transcript.order().len();
        search.percent = search.progress.percent(len);
        search.is_complete = search.progress.is_complete(len);
    }
    narrow(state);
    to_sought(state);
    effects
}

/// Where the reader stands, or stood when the typing began.
fn stands_at(state: &State) -> Option<Focus> {
    match &state.mode {
        Mode::Search { from, .. } => from.focus,
        Mode::Normal
        | Mode::Filter { .. }
        | Mode::Pipe { .. }
        | Mode::Palette(_)
        | Mode::Picker
        | Mode::Help { .. }
        | Mode::Raw { .. } => state.text.view.focus,
    }
}

/// Searches once more, because another transcript took the place of the searched one. The view stays.
pub fn again(state: &mut State) -> Vec<Effect> {
    let Some(search) = state.find.search.take() else { return Vec::new() };
    let (typed, is_literal, at_hit) = (search.typed.clone(), search.is_literal, state.find.at_hit);
    let seeks = search.seeks.filter(|seeks| *seeks == Seek::Nearest);
    let search = Search::new(&typed, is_literal, state.find.next_generation());
    let effects = start(state, search, seeks);
    state.find.at_hit = at_hit;
    effects
}

/// Looks for what the focused item is about. As long as the reader goes from mention to mention, that
/// stays the same.
fn seek_mention(state: &mut State, way: Way) -> Vec<Effect> {
    let Some(focus) = state.text.view.focus else { return Vec::new() };
    let goes_on = state.find.at_hit.is_some_and(|at| at.focus == focus);
    let is_mention = |search: &Search| search.is_literal && search.scope.is_none();
    if goes_on && state.find.search.as_ref().is_some_and(is_mention) {
        go(state, if way == Way::Next { 1 } else { -1 });
        return Vec::new();
    }
    let root = state.session.transcript.meta().root.clone();
    let entry = state.session.transcript.get(focus.entry);
    let Some(word) = entry.and_then(|entry| mention::of_block(entry, focus.block, root.as_deref())) else {
        state.screen.say("nothing in this item to look for");
        return Vec::new();
    };
    state.remember_place();
    state.history.searches.keep(&word);
    let seeks = if way == Way::Next { Seek::Behind(focus) } else { Seek::Before(focus) };
    let search = Search::new(&word, true, state.find.next_generation());
    start(state, search, Some(seeks))
}

/// Takes the hits of a portion over. The view goes to the one that is sought.
pub fn found(state: &mut State, generation: u32, number: u32, hits: Vec<Hit>) -> Vec<Effect> {
    let Some(search) = state.find.search.as_mut().filter(|search| search.generation == generation) else {
        return Vec::new();
    };
    let level = state.text.level;
    let is_shown =
        |hit: &Hit| state.session.transcript.get(hit.focus.entry).is_some_and(|entry| has_rows(entry, level));
    for hits in search.progress.take(number, hits) {
        search.add(&state.session.transcript, hits.into_iter().filter(is_shown).collect());
    }
    go_on(state)
}

/// Leaves hits out that the filter hides.
pub fn narrow(state: &mut State) {
    let filter = state.find.filter.as_ref();
    if let Some(search) = &mut state.find.search {
        search.narrow(|focus| filter.is_none_or(|filter| filter.shows(focus)));
        state.text.stale.spine = true;
    }
}

/// Bookkeeping is searched only where it is shown; prompts alone are a way to read, not all there is.
fn has_rows(entry: &Entry, level: Level) -> bool {
    !entry.marks.trace || level >= Level::Full
}

/// To the hit that is sought, as soon as it is sure which one that is.
fn to_sought(state: &mut State) {
    let Some(search) = &state.find.search else { return };
    let Some(seeks) = search.seeks else { return };
    let hit = chosen(search, &state.session.transcript, seeks, stands_at(state));
    if hit.is_none() && !search.is_complete {
        return;
    }
    if let Some(search) = &mut state.find.search {
        search.seeks = None;
    }
    // What an earlier, shorter pattern opened closes again.
    if let Mode::Search { from, .. } = &state.mode {
        let from = from.clone();
        go_back(state, &from);
    }
    match (hit, seeks) {
        (Some(hit), Seek::Behind(from) | Seek::Before(from)) if hit == from => {
            state.screen.say("mentioned nowhere else");
        }
        (Some(hit), Seek::Before(_)) => {
            state.find.sought = Some(Sought { block: Some((hit, Edge::Last)), steps: 0 });
        }
        (Some(hit), _) => state.find.sought = Some(Sought { block: Some((hit, Edge::First)), steps: 0 }),
        (None, _) => {}
    }
}

/// The hit that is sought. It is sure as soon as all between it and the place is searched.
fn chosen(search: &Search, transcript: &Transcript, seeks: Seek, start: Option<Focus>) -> Option<Focus> {
    let place = |focus: Focus| in_file(transcript, focus);
    let at_or_behind =
        |focus: Option<Focus>| search.hits.partition_point(|hit| Some(place(hit.focus)) < focus.map(place));
    let complete = |hit: Option<&Hit>| hit.filter(|_| search.is_complete).copied();
    let done = search.progress.done();
    let of_entry = |focus: Focus| place(focus).0;
    let is_sure = |from: usize, to: usize| search.is_complete || (done.start <= from && to < done.end);
    let hit = match seeks {
        Seek::Nearest => {
            let (at, own) = (at_or_behind(start), start.map_or(0, of_entry));
            let behind = search.hits.get(at).filter(|hit| is_sure(own, of_entry(hit.focus)));
            let is_last_part = done.end >= transcript.order().len() && done.start <= own;
            let before = || search.hits.last().filter(|_| is_last_part && at == search.hits.len());
            behind.or_else(before).copied().or_else(|| complete(search.hits.last()))
        }
        Seek::Behind(from) => {
            let behind = search.hits.iter().find(|hit| place(hit.focus) > place(from));
            let behind = behind.filter(|hit| is_sure(of_entry(from), of_entry(hit.focus)));
            behind.copied().or_else(|| complete(search.hits.first()))
        }
        Seek::Before(from) => {
            let before = at_or_behind(Some(from)).checked_sub(1).and_then(|at| search.hits.get(at));
            let before = before.filter(|hit| is_sure(of_entry(hit.focus), of_entry(from)));
            before.copied().or_else(|| complete(search.hits.last()))
        }
    };
    hit.map(|hit| hit.focus)
}

/// A block's place in the order of the file.
pub fn in_file(transcript: &Transcript, focus: Focus) -> (usize, usize) {
    (place_in_file(transcript, focus.entry).unwrap_or(0), focus.block)
}

/// So many hits on, or back. Which ones these are, only the next arrangement knows.
fn go(state: &mut State, steps: isize) {
    let Some(search) = &state.find.search else {
        return state.screen.say("nothing is searched for; / starts a search");
    };
    if search.hits.is_empty() {
        let what = match (search.is_complete, state.find.filter.is_some()) {
            (true, true) => "no hits in what the filter shows",
            (true, false) => "no hits",
            (false, _) => "still searching",
        };
        return state.screen.say(what);
    }
    if state.find.sought.is_none() {
        state.remember_place();
    }
    let sought = state.find.sought.get_or_insert_default();
    sought.steps = (sought.steps + steps).clamp(-MOST_STEPS, MOST_STEPS);
    state.text.view.ask(Motion::Pause);
}

/// Searches entries that have just come or changed.
pub fn note(state: &mut State, touched: &Touched) -> Vec<Effect> {
    let ids: Vec<EntryId> = touched.added.iter().chain(&touched.changed).copied().collect();
    search_new(state, &ids);
    let is_underway = state.find.search.as_ref().is_some_and(|search| !search.is_complete);
    if touched.reordered && is_underway { again(state) } else { Vec::new() }
}

fn search_new(state: &mut State, ids: &[EntryId]) {
    let Some(search) = &mut state.find.search else { return };
    let mut hits = Vec::new();
    for id in ids {
        let entry = state.session.transcript.get(*id).filter(|entry| has_rows(entry, state.text.level));
        let Some(entry) = entry else { continue };
        let blocks = texts::of_entry(entry);
        hits.extend(hits_of(&search.pattern, search.scope, (*id, &blocks), &mut |_, _| None));
    }
    search.replace(&state.session.transcript, ids, hits);
    if search.is_complete {
        search.progress.grow(state.session.transcript.order().len());
    }
    narrow(state);
}
