//! What changed in the session, brought to all that shows it.

use super::alarms;
use super::effect::Effect;
use super::filtering;
use super::news;
use super::reader::Reader;
use super::searching;
use super::viewport::Motion;
use crate::model::body::Held;
use crate::model::edit::Feed;
use crate::model::entry::EntryId;
use crate::model::record::Origin;
use crate::model::transcript::Touched;
use crate::session::{Change, Shown};

/// Takes one message of the feed.
pub fn take(reader: &mut Reader, feed: Feed) -> Vec<Effect> {
    let mut effects = Vec::new();
    for change in reader.session.take(feed) {
        effects.extend(note(reader, change));
    }
    effects.extend(alarms::actions::look(reader));
    effects
}

/// Shows the first entries, if others are shown and the whole is not known yet.
pub(crate) fn to_beginning(reader: &mut Reader) -> Vec<Effect> {
    let change = reader.session.show_beginning();
    change.map_or_else(Vec::new, |change| note(reader, change))
}

/// Shows the last entries, if the first ones are shown.
pub fn to_end(reader: &mut Reader) -> Vec<Effect> {
    let change = reader.session.show_end();
    change.map_or_else(Vec::new, |change| note(reader, change))
}

fn note(reader: &mut Reader, change: Change) -> Vec<Effect> {
    match change {
        Change::Touched(touched) => return note_touched(reader, &touched),
        Change::Replaced { shown, is_awaited } => return carry(reader, shown, is_awaited),
        Change::CaughtUp { is_first } => {
            if is_first {
                news::find::settle(reader);
                reader.text.stale.sequence |= reader.places.seen.is_some();
            }
            alarms::actions::begin(reader);
        }
        Change::Bodies(contents) => {
            let entries: Vec<EntryId> = in_sight(reader).collect();
            fill(reader, &entries, &contents);
        }
        Change::Pack(pages) => return pages.into_iter().map(Effect::Pack).collect(),
        Change::Said(words) => reader.screen.say(words),
    }
    Vec::new()
}

/// Entries of what is shown came, changed or went.
fn note_touched(reader: &mut Reader, touched: &Touched) -> Vec<Effect> {
    let Reader { session, text, outline, checks, alarms, .. } = reader;
    let transcript = &session.transcript;
    alarms.note(touched);
    outline.note(transcript, touched);
    checks.note(transcript, touched);
    text.forget_touched(transcript, touched);
    let mut effects = filtering::judge_new(reader, touched);
    let Reader { session, text, find, places, alarms, .. } = reader;
    // What is marked or was found may be an entry that comes only now.
    text.stale.spine |= find.search.is_some() || !places.marks.is_empty() || !alarms.marks.is_empty();
    text.grow(&session.transcript, touched, find.filter.as_ref());
    // Of the beginning nothing is new.
    if !session.ends.is_beginning() {
        text.count_unseen(&session.transcript, touched, find.filter.as_ref());
    }
    effects.extend(searching::note(reader, touched));
    let shown: Vec<EntryId> = in_sight(reader).collect();
    reader.session.release(|id| shown.contains(&id));
    effects
}

/// Another transcript of the session is shown: what is being read stays in its place.
fn carry(reader: &mut Reader, shown: Shown, is_awaited: bool) -> Vec<Effect> {
    let Reader { session, text, find, places, .. } = reader;
    let moved = |id: EntryId| session.moved(id);
    text.carry(&moved);
    find.carry(&moved);
    places.carry(&session.transcript, shown);
    reader.outline.clear();
    reader.checks.clear();
    reader.views.clear();
    reader.inspector.clear();
    reader.strip.clear();
    if shown != Shown::Whole {
        reader.text.unseen = 0;
    }
    let mut effects = filtering::again(reader);
    effects.extend(searching::again(reader));
    reader.session.forget_before();
    if is_awaited {
        reader.text.view.ask(Motion::Top);
    }
    effects
}

/// Entries of the window and of the inspector.
fn in_sight(reader: &Reader) -> impl Iterator<Item = EntryId> {
    let inspected = reader.inspector.shown().map(|focus| focus.entry);
    reader.text.view.lines.iter().map(|line| line.entry).chain(inspected)
}

/// Puts bodies back that were read again.
pub fn fill(reader: &mut Reader, entries: &[EntryId], contents: &[(Origin, Vec<Held>)]) {
    for id in reader.session.fill(entries, contents) {
        reader.text.asked.forget(id);
    }
    // Entries wait for the bodies of others, too.
    for id in entries {
        reader.text.cache.forget(*id);
    }
    let shown: Vec<EntryId> = in_sight(reader).chain(entries.iter().copied()).collect();
    reader.session.release(|id| shown.contains(&id));
}
