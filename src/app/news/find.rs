//! Where what is new begins.

use super::News;
use super::Seen;
use crate::app::reader::Reader;
use crate::app::sequence::place_in_file;
use crate::model::entry::{Entry, EntryId};
use crate::model::timestamp::Timestamp;

/// The end of the session as it is now; `None` while it is still being read.
pub fn end_of(reader: &Reader, now: Timestamp) -> Option<Seen> {
    if !reader.session.file.is_caught_up && !reader.session.ends.is_part() {
        return None;
    }
    let transcript = reader.session.last_entries();
    let entries = transcript.order().iter().rev().filter_map(|id| transcript.get(*id));
    let last = entries.into_iter().find(|entry| entry.lane.is_none())?;
    Some(Seen { key: last.key.clone(), at: now })
}

/// All of the session was read: if nothing is new by now, nothing will be.
pub fn settle(reader: &mut Reader) {
    let is_known = |seen: &Seen| {
        let is_new = |id: EntryId| reader.session.transcript.lane_at(id).is_none();
        candidates(reader, seen).any(is_new)
    };
    if !reader.places.seen.as_ref().is_some_and(is_known) {
        reader.places.seen = None;
    }
}

/// Finds the place of the line among the entries that are shown now.
pub fn place(reader: &mut Reader) {
    let news = find(reader);
    if news != reader.places.news {
        let both =
            [&reader.places.news, &news].into_iter().flatten().map(|news| news.above).collect::<Vec<_>>();
        for id in both {
            reader.text.cache.forget(id);
        }
        reader.places.news = news;
    }
}

fn find(reader: &Reader) -> Option<News> {
    let seen = reader.places.seen.as_ref()?;
    let is_shown = |id: &EntryId| {
        reader.session.transcript.lane_at(*id).is_none() && reader.text.sequence.place_of(*id).is_some()
    };
    let first = candidates(reader, seen).find(is_shown)?;
    let above = reader.text.sequence.place_of(first)?.checked_sub(1)?;
    let words = format!("new since {}", seen.at.as_told(reader.screen.now));
    Some(News { above: reader.text.sequence.at(above)?, first, words })
}

/// The entries that came after what was seen, in the order of the file. If its last entry is not in the
/// session any more, times decide; but not before all of it was read.
fn candidates<'s>(reader: &'s Reader, seen: &Seen) -> Box<dyn Iterator<Item = EntryId> + 's> {
    let order = reader.session.transcript.order();
    let last = reader
        .session
        .transcript
        .find(&seen.key)
        .and_then(|id| place_in_file(&reader.session.transcript, id));
    if let Some(last) = last {
        return Box::new(order.get(last + 1..).unwrap_or_default().iter().copied());
    }
    if !reader.session.file.is_caught_up {
        return Box::new(std::iter::empty());
    }
    let at = seen.at;
    let is_older = |entry: &Entry| entry.at.is_some_and(|told| told <= at);
    let older = reader.session.transcript.last_such(order, is_older).map_or(0, |last| last + 1);
    Box::new(order.get(older..).unwrap_or_default().iter().copied())
}
