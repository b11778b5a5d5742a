//! What is new since the reader last looked: a line across stands above it.
//!
//! Invariant: the line is the last row of the entry above it, so that no row moves when it comes; it is no
//! item, and nothing counts it. What comes while the reader looks is not new in this sense.

use ratatui::text::Span;

use super::reader::Reader;
use super::sequence::place_in_file;
use crate::model::body::Key;
use crate::model::entry::{Entry, EntryId};
use crate::model::timestamp::Timestamp;
use crate::render::row::{Look, Row, RowKind};
use crate::render::wrap;

/// The end of the session when the reader last looked at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The key of its last entry.
    pub key: Key,
    /// When that was.
    pub at: Timestamp,
}

/// Where the line stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// The entry above it, the last shown one that was there.
    pub above: EntryId,
    /// The first shown one that was not.
    pub first: EntryId,
    /// What it says.
    pub words: String,
}

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

/// The line: `── new since Tue 10:41 ─────`.
pub fn row(words: &str, block: usize, look: &Look<'_>) -> Row {
    let (theme, glyphs) = (look.theme, look.theme.glyphs());
    let width = usize::from(look.width);
    let front = if width > 24 { format!("{} ", glyphs.rule.repeat(2)) } else { String::new() };
    let spans = [Span::styled(front, theme.dim), Span::styled(words.to_owned(), theme.accent)];
    let mut line = wrap::fit(&spans, width, glyphs.cut);
    let left = width.saturating_sub(wrap::width_of(&line) + 1);
    if left > 0 {
        line.push(Span::styled(format!(" {}", glyphs.rule.repeat(left)), theme.dim));
    }
    Row { line: line.into(), kind: RowKind::News, block, ..Row::default() }
}
