//! The search as the reader meets it: typing, hits that come in, going from hit to hit.

use tui_input::{Input, InputRequest};

use super::action::{Action, Way};
use super::effect::Effect;
use super::find::Typing;
use super::mention;
use super::mode::Mode;
use super::reader::Reader;
use super::saved_position::SavedPosition;
use super::search::{Edge, Search, Seek, Sought, hits_of};
use super::search_progress::Hit;
use super::sequence::place_in_file;
use super::state::App;
use super::viewport::{Focus, Motion};
use crate::analysis::texts;
use crate::model::entry::{Entry, EntryId};
use crate::model::transcript::{Touched, Transcript};
use crate::render::row::Level;

/// Hits that are gone over in one go.
const MOST_STEPS: isize = 1_000;

/// Starts typing, or goes to another hit.
pub fn act(app: &mut App, action: Action, times: usize) -> Vec<Effect> {
    let steps = isize::try_from(times).unwrap_or(MOST_STEPS).min(MOST_STEPS);
    match action {
        Action::Search => {
            app.history.searches.rest();
            let from = SavedPosition::of(&app.reader.text);
            app.reader.find.typing = Some(Box::new(Typing { text: String::new(), is_new: false, from }));
            app.mode = Mode::Search { input: Input::default() };
        }
        Action::Mention(way) => return seek_mention(app, way),
        Action::NextHit => go(&mut app.reader, steps),
        _ => go(&mut app.reader, -steps),
    }
    Vec::new()
}

/// Changes what is typed. It is searched for before the next frame, or before anything else is done with it: keys may
/// come faster than patterns are made.
pub(crate) fn type_on(app: &mut App, request: InputRequest) {
    let (Mode::Search { input }, Some(typing)) = (&mut app.mode, &mut app.reader.find.typing) else { return };
    input.handle(request);
    input.value().clone_into(&mut typing.text);
    typing.is_new = true;
}

/// Takes the line that was typed before, or after, in its place.
pub(crate) fn recall(app: &mut App, is_older: bool) -> Vec<Effect> {
    let (Mode::Search { input }, Some(typing)) = (&mut app.mode, &mut app.reader.find.typing) else {
        return Vec::new();
    };
    if let Some(line) = app.history.searches.recall(is_older, input.value()) {
        typing.text.clone_from(&line);
        *input = Input::new(line);
    }
    search_for_typed(&mut app.reader)
}

/// Takes what is typed as a regular expression, or literally.
pub(crate) fn toggle_literal(reader: &mut Reader) -> Vec<Effect> {
    reader.find.is_literal = !reader.find.is_literal;
    search_for_typed(reader)
}

/// Searches for what was typed since the last time.
pub(crate) fn catch_up(reader: &mut Reader) -> Vec<Effect> {
    let is_new = |typing: &mut Box<Typing>| std::mem::take(&mut typing.is_new);
    if reader.find.typing.as_mut().is_some_and(is_new) { search_for_typed(reader) } else { Vec::new() }
}

/// Moving the cursor changes nothing, and so it starts nothing.
fn search_for_typed(reader: &mut Reader) -> Vec<Effect> {
    let Some(typing) = &reader.find.typing else { return Vec::new() };
    let (typed, is_literal) = (typing.text.clone(), reader.find.is_literal);
    let is_same = |search: &Search| search.typed == typed && search.is_literal == is_literal;
    if reader.find.search.as_ref().is_some_and(is_same) {
        return Vec::new();
    }
    if typed.is_empty() {
        go_back(reader);
    }
    let search = Search::new(&typed, is_literal, reader.find.next_generation());
    start(reader, search, Some(Seek::Nearest))
}

/// The typed search stands; with nothing typed the last one goes on.
pub(crate) fn accept(app: &mut App) -> Vec<Effect> {
    let Mode::Search { input } = std::mem::take(&mut app.mode) else { return Vec::new() };
    app.reader.find.typing = None;
    app.history.searches.keep(input.value());
    if !input.value().is_empty() {
        return Vec::new();
    }
    if app.reader.find.search.is_some() {
        go(&mut app.reader, 1);
        return Vec::new();
    }
    let Some(last) = app.history.searches.recall(true, "") else { return Vec::new() };
    app.history.searches.rest();
    let search = Search::new(&last, app.reader.find.is_literal, app.reader.find.next_generation());
    let seeks = app.reader.text.view.focus.map_or(Seek::Nearest, Seek::Behind);
    start(&mut app.reader, search, Some(seeks))
}

/// The search that is being typed is given up: the view goes back to where it was.
pub(crate) fn give_up(reader: &mut Reader) -> Vec<Effect> {
    go_back(reader);
    reader.find.typing = None;
    end(reader)
}

/// Ends the search.
pub fn end(reader: &mut Reader) -> Vec<Effect> {
    reader.find.search = None;
    reader.find.sought = None;
    reader.find.at_hit = None;
    reader.text.stale.spine = true;
    vec![Effect::CancelSearch]
}

/// To where the reader was when the typing began.
fn go_back(reader: &mut Reader) {
    if let Some(typing) = &reader.find.typing {
        typing.from.restore(&mut reader.text);
        reader.find.sought = None;
    }
}

fn start(reader: &mut Reader, search: Option<Search>, seeks: Option<Seek>) -> Vec<Effect> {
    let Some(mut search) = search else { return end(reader) };
    search.seeks = seeks;
    let place = stands_at(reader).and_then(|focus| place_in_file(&reader.session.transcript, focus.entry));
    search.begin(place.unwrap_or(0), reader.find.search.as_ref());
    reader.find.search = Some(search);
    reader.find.at_hit = None;
    go_on(reader)
}

/// Has the next portions searched, as soon as there is room for them.
fn go_on(reader: &mut Reader) -> Vec<Effect> {
    let mut effects = Vec::new();
    if let Some(search) = &mut reader.find.search {
        while let Some(job) = search.hand_out(&reader.session.transcript) {
            effects.push(Effect::Search(job));
        }
        let len = reader.session.transcript.order().len();
        search.percent = search.progress.percent(len);
        search.is_complete = search.progress.is_complete(len);
    }
    narrow(reader);
    to_sought(reader);
    effects
}

/// Where the reader is, or was when the typing began.
fn stands_at(reader: &Reader) -> Option<Focus> {
    reader.find.typing.as_ref().map_or(reader.text.view.focus, |typing| typing.from.focus)
}

/// Searches once more, because another transcript took the place of the searched one. The view stays.
pub fn again(reader: &mut Reader) -> Vec<Effect> {
    let Some(search) = reader.find.search.take() else { return Vec::new() };
    let (typed, is_literal, at_hit) = (search.typed.clone(), search.is_literal, reader.find.at_hit);
    let seeks = search.seeks.filter(|seeks| *seeks == Seek::Nearest);
    let search = Search::new(&typed, is_literal, reader.find.next_generation());
    let effects = start(reader, search, seeks);
    reader.find.at_hit = at_hit;
    effects
}

/// Looks for what the focused item is about. As long as the reader goes from mention to mention, that
/// stays the same.
fn seek_mention(app: &mut App, way: Way) -> Vec<Effect> {
    let Some(focus) = app.reader.text.view.focus else { return Vec::new() };
    let goes_on = app.reader.find.at_hit.is_some_and(|at| at.focus == focus);
    let is_mention = |search: &Search| search.is_literal && search.scope.is_none();
    if goes_on && app.reader.find.search.as_ref().is_some_and(is_mention) {
        go(&mut app.reader, if way == Way::Next { 1 } else { -1 });
        return Vec::new();
    }
    let root = app.reader.session.transcript.meta().root.clone();
    let entry = app.reader.session.transcript.get(focus.entry);
    let Some(word) = entry.and_then(|entry| mention::of_block(entry, focus.block, root.as_deref())) else {
        app.reader.screen.say("nothing in this item to look for");
        return Vec::new();
    };
    app.reader.remember_place();
    app.history.searches.keep(&word);
    let seeks = if way == Way::Next { Seek::Behind(focus) } else { Seek::Before(focus) };
    let search = Search::new(&word, true, app.reader.find.next_generation());
    start(&mut app.reader, search, Some(seeks))
}

/// Takes the hits of a portion over. The view goes to the one that is sought.
pub fn found(reader: &mut Reader, generation: u32, number: u32, hits: Vec<Hit>) -> Vec<Effect> {
    let Some(search) = reader.find.search.as_mut().filter(|search| search.generation == generation) else {
        return Vec::new();
    };
    let level = reader.text.level;
    let is_shown = |hit: &Hit| {
        reader.session.transcript.get(hit.focus.entry).is_some_and(|entry| has_rows(entry, level))
    };
    for hits in search.progress.take(number, hits) {
        search.add(&reader.session.transcript, hits.into_iter().filter(is_shown).collect());
    }
    go_on(reader)
}

/// Leaves hits out that the filter hides.
pub fn narrow(reader: &mut Reader) {
    let filter = reader.find.filter.as_ref();
    if let Some(search) = &mut reader.find.search {
        search.narrow(|focus| filter.is_none_or(|filter| filter.shows(focus)));
        reader.text.stale.spine = true;
    }
}

/// Bookkeeping is searched only where it is shown; prompts alone are a way to read, not all there is.
fn has_rows(entry: &Entry, level: Level) -> bool {
    !entry.marks.trace || level >= Level::Full
}

/// To the hit that is sought, as soon as it is sure which one that is.
fn to_sought(reader: &mut Reader) {
    let Some(search) = &reader.find.search else { return };
    let Some(seeks) = search.seeks else { return };
    let hit = chosen(search, &reader.session.transcript, seeks, stands_at(reader));
    if hit.is_none() && !search.is_complete {
        return;
    }
    if let Some(search) = &mut reader.find.search {
        search.seeks = None;
    }
    // What an earlier, shorter pattern opened closes again.
    go_back(reader);
    match (hit, seeks) {
        (Some(hit), Seek::Behind(from) | Seek::Before(from)) if hit == from => {
            reader.screen.say("mentioned nowhere else");
        }
        (Some(hit), Seek::Before(_)) => {
            reader.find.sought = Some(Sought { block: Some((hit, Edge::Last)), steps: 0 });
        }
        (Some(hit), _) => reader.find.sought = Some(Sought { block: Some((hit, Edge::First)), steps: 0 }),
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
pub(crate) fn in_file(transcript: &Transcript, focus: Focus) -> (usize, usize) {
    (place_in_file(transcript, focus.entry).unwrap_or(0), focus.block)
}

/// So many hits on, or back. Which ones these are, only the next arrangement knows.
fn go(reader: &mut Reader, steps: isize) {
    let Some(search) = &reader.find.search else {
        return reader.screen.say("nothing is searched for; / starts a search");
    };
    if search.hits.is_empty() {
        let what = match (search.is_complete, reader.find.filter.is_some()) {
            (true, true) => "no hits in what the filter shows",
            (true, false) => "no hits",
            (false, _) => "still searching",
        };
        return reader.screen.say(what);
    }
    if reader.find.sought.is_none() {
        reader.remember_place();
    }
    let sought = reader.find.sought.get_or_insert_default();
    sought.steps = (sought.steps + steps).clamp(-MOST_STEPS, MOST_STEPS);
    reader.text.view.ask(Motion::Pause);
}

/// Searches entries that have just come or changed.
pub fn note(reader: &mut Reader, touched: &Touched) -> Vec<Effect> {
    let ids: Vec<EntryId> = touched.added.iter().chain(&touched.changed).copied().collect();
    search_new(reader, &ids);
    let is_underway = reader.find.search.as_ref().is_some_and(|search| !search.is_complete);
    if touched.reordered && is_underway { again(reader) } else { Vec::new() }
}

fn search_new(reader: &mut Reader, ids: &[EntryId]) {
    let Some(search) = &mut reader.find.search else { return };
    let mut hits = Vec::new();
    for id in ids {
        let entry = reader.session.transcript.get(*id).filter(|entry| has_rows(entry, reader.text.level));
        let Some(entry) = entry else { continue };
        let blocks = texts::of_entry(entry);
        hits.extend(hits_of(&search.pattern, search.scope, (*id, &blocks), &mut |_, _| None));
    }
    search.replace(&reader.session.transcript, ids, hits);
    if search.is_complete {
        search.progress.grow(reader.session.transcript.order().len());
    }
    narrow(reader);
}
