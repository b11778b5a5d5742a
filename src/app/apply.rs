//! What changed in the session, brought to all that shows it.

use super::alarms;
use super::effect::Effect;
use super::filtering;
use super::mode::Mode;
use super::moving;
use super::news;
use super::searching;
use super::state::State;
use super::viewport::{Focus, Motion};
use crate::model::body::{Held, Key};
use crate::model::edit::Feed;
use crate::model::entry::EntryId;
use crate::model::record::Origin;
use crate::model::transcript::Touched;
use crate::session::{Change, Shown};

/// Takes one message of the feed.
pub fn take(state: &mut State, feed: Feed) -> Vec<Effect> {
    let mut effects = Vec::new();
    for change in state.session.take(feed) {
        effects.extend(note(state, change));
    }
    effects.extend(alarms::look(state));
    go_to_wanted(state);
    effects
}

/// Goes to the entry that the reader asked for by its key, or by the id of a call, as soon as it is there.
pub fn go_to_wanted(state: &mut State) {
    let Some(wanted) = &state.places.wanted else { return };
    let by_call = || state.session.transcript.entries_with_call(&Key::clean(wanted)).first().copied();
    if let Some(entry) = state.session.transcript.find(wanted).or_else(by_call) {
        state.places.wanted = None;
        moving::go(state, Focus { entry, block: 0 });
    } else if state.session.file.is_caught_up {
        let words = format!("no entry is called {}", Key::clean(wanted));
        state.places.wanted = None;
        state.screen.say(words);
    }
}

/// Shows the first entries, if others are shown and the whole is not known yet.
pub fn to_beginning(state: &mut State) -> Vec<Effect> {
    let change = state.session.to_beginning();
    change.map_or_else(Vec::new, |change| note(state, change))
}

/// Shows the last entries, if the first ones are shown.
pub fn to_end(state: &mut State) -> Vec<Effect> {
    let change = state.session.to_end();
    change.map_or_else(Vec::new, |change| note(state, change))
}

fn note(state: &mut State, change: Change) -> Vec<Effect> {
    match change {
        Change::Touched(touched) => return note_touched(state, &touched),
        Change::Replaced { shown, is_awaited } => return carry(state, shown, is_awaited),
        Change::CaughtUp { is_first } => {
            if is_first {
                news::settle(state);
                state.text.stale.sequence |= state.places.seen.is_some();
            }
            alarms::begin(state);
        }
        Change::Bodies(contents) => {
            let entries: Vec<EntryId> = in_sight(state).collect();
            fill(state, &entries, &contents);
        }
        Change::Pack(pages) => return pages.into_iter().map(Effect::Pack).collect(),
        Change::Said(words) => state.screen.say(words),
    }
    Vec::new()
}

/// Entries of what is shown came, changed or went.
fn note_touched(state: &mut State, touched: &Touched) -> Vec<Effect> {
    let State { session, text, outline, checks, alarms, .. } = state;
    let transcript = &session.transcript;
    alarms.note(touched);
    outline.note(transcript, touched);
    checks.note(transcript, touched);
    text.forget_touched(transcript, touched);
    let mut effects = filtering::judge_new(state, touched);
    let State { session, text, find, places, alarms, .. } = state;
    // What is marked or was found may be an entry that comes only now.
    text.stale.spine |= find.search.is_some() || !places.marks.is_empty() || !alarms.marks.is_empty();
    text.grow(&session.transcript, touched, find.filter.as_ref());
    // Of the beginning nothing is new.
    if !session.ends.is_beginning() {
        text.count_unseen(&session.transcript, touched, find.filter.as_ref());
    }
    effects.extend(searching::note(state, touched));
    let shown: Vec<EntryId> = in_sight(state).collect();
    state.session.release(|id| shown.contains(&id));
    effects
}

/// Another transcript of the session is shown: what is being read stays in its place.
fn carry(state: &mut State, shown: Shown, is_awaited: bool) -> Vec<Effect> {
    let State { session, text, find, places, mode, .. } = state;
    let moved = |id: EntryId| session.moved(id);
    text.carry(&moved);
    find.carry(&moved);
    places.carry(&session.transcript, shown);
    if let Mode::Search { from, .. } = mode {
        from.carry(&moved);
    }
    // Its entries have other numbers now.
    state.clipboard.taking = None;
    state.outline.clear();
    state.checks.clear();
    state.views.clear();
    state.inspector.clear();
    state.strip.clear();
    if shown != Shown::Whole {
        state.text.unseen = 0;
    }
    let mut effects = filtering::again(state);
    effects.extend(searching::again(state));
    state.session.forget_before();
    if is_awaited {
        state.text.view.ask(Motion::Top);
    }
    effects
}

/// Entries of the window and of the inspector.
fn in_sight(state: &State) -> impl Iterator<Item = EntryId> {
    let inspected = state.inspector.shown().map(|focus| focus.entry);
    state.text.view.lines.iter().map(|line| line.entry).chain(inspected)
}

/// Puts bodies back that were read again.
pub fn fill(state: &mut State, entries: &[EntryId], contents: &[(Origin, Vec<Held>)]) {
    for id in state.session.fill(entries, contents) {
        state.text.asked.forget(id);
    }
    // Entries wait for the bodies of others, too.
    for id in entries {
        state.text.cache.forget(*id);
    }
    let shown: Vec<EntryId> = in_sight(state).chain(entries.iter().copied()).collect();
    state.session.release(|id| shown.contains(&id));
}
