//! Where what is new begins.

use super::News;
use super::Seen;
use crate::app::scene::Scene;
use crate::app::text::TextPane;
use crate::app::text::sequence::place_in_file;
use crate::model::entry::{Entry, EntryId};
use crate::model::timestamp::Timestamp;
use crate::session::Session;

/// The end of the session as it is now; `None` while it is still being read.
pub fn end_of(session: &Session, now: Timestamp) -> Option<Seen> {
    if !session.file.is_caught_up && !session.ends.is_part() {
        return None;
    }
    let transcript = session.last_entries();
    let entries = transcript.order().iter().rev().filter_map(|id| transcript.get(*id));
    let last = entries.into_iter().find(|entry| entry.lane.is_none())?;
    Some(Seen { key: last.key.clone(), at: now })
}

/// All of the session was read: if nothing is new by now, nothing will be.
pub fn settle(text: &mut TextPane, scene: &mut Scene<'_>) {
    let is_known = |seen: &Seen| {
        let is_new = |id: EntryId| scene.session.transcript.lane_at(id).is_none();
        candidates(scene.session, seen).any(is_new)
    };
    if !text.places.seen.as_ref().is_some_and(is_known) {
        text.places.seen = None;
    }
}

/// Finds the place of the line among the entries that are shown now.
pub fn place(text: &mut TextPane, scene: &Scene<'_>) {
    let news = find(text, scene);
    if news != text.places.news {
        let both =
            [&text.places.news, &news].into_iter().flatten().map(|news| news.above).collect::<Vec<_>>();
        for id in both {
            text.cache.forget(id);
        }
        text.places.news = news;
    }
}

fn find(text: &TextPane, scene: &Scene<'_>) -> Option<News> {
    let seen = text.places.seen.as_ref()?;
    let is_shown = |id: &EntryId| {
        scene.session.transcript.lane_at(*id).is_none() && text.sequence.place_of(*id).is_some()
    };
    let first = candidates(scene.session, seen).find(is_shown)?;
    let above = text.sequence.place_of(first)?.checked_sub(1)?;
    let words = format!("new since {}", seen.at.spoken(scene.screen.now));
    Some(News { above: text.sequence.at(above)?, first, words })
}

/// The entries that came after what was seen, in the order of the file. If its last entry is not in the
/// session any more, times decide; but not before all of it was read.
fn candidates<'s>(session: &'s Session, seen: &Seen) -> Box<dyn Iterator<Item = EntryId> + 's> {
    let order = session.transcript.order();
    let last = session.transcript.find(&seen.key).and_then(|id| place_in_file(&session.transcript, id));
    if let Some(last) = last {
        return Box::new(order.get(last + 1..).unwrap_or_default().iter().copied());
    }
    if !session.file.is_caught_up {
        return Box::new(std::iter::empty());
    }
    let at = seen.at;
    let is_older = |entry: &Entry| entry.at.is_some_and(|written| written <= at);
    let older = session.transcript.last_such(order, is_older).map_or(0, |last| last + 1);
    Box::new(order.get(older..).unwrap_or_default().iter().copied())
}
