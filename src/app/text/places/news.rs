//! The line above the first entry that is new since the last visit.
//!
//! Invariants: the line is the last row of the entry above, so no row moves when it appears; it is
//! not an item, and is not counted. Entries that arrive while the session is open do not count as
//! new.

use crate::app::scene::Scene;
use crate::app::text::TextPane;
use crate::model::entry::EntryId;
use crate::render::entry::breaks::rule_line;
use crate::render::row::{Look, Row, RowKind};
use crate::session::news::LastView;

/// Position and text of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewsLine {
    /// The entry above: the last shown one that is not new.
    pub above: EntryId,
    /// The first shown new entry.
    pub first: EntryId,
    /// Text of the line.
    pub words: String,
}

/// The row of the line: `── new since Tue 10:41 ─────`.
pub fn row(words: &str, block: usize, look: &Look<'_>) -> Row {
    let (theme, width) = (look.theme, usize::from(look.width));
    Row {
        line: rule_line(words, theme.accent, 2, width, theme),
        kind: RowKind::News,
        block,
        ..Row::default()
    }
}

/// Drops the end of the last visit if no entry is new. Called when the session is read to its end;
/// entries that arrive later do not count.
pub fn finish(text: &mut TextPane, scene: &mut Scene<'_>) {
    let is_known = |seen: &LastView| {
        scene
            .session
            .entries_since(seen)
            .iter()
            .any(|id| scene.session.transcript.lane_at(*id).is_none())
    };
    text.places.is_first_visit = text.places.last_visit.is_none();
    if !text.places.last_visit.as_ref().is_some_and(is_known) {
        text.places.last_visit = None;
    }
}

/// Finds the position of the line among the shown entries.
pub fn update(text: &mut TextPane, scene: &Scene<'_>) {
    let news = find(text, scene);
    if news != text.places.news {
        let both = [&text.places.news, &news]
            .into_iter()
            .flatten()
            .map(|news| news.above)
            .collect::<Vec<_>>();
        for id in both {
            text.cache.remove(id);
        }
        text.places.news = news;
    }
}

fn find(text: &TextPane, scene: &Scene<'_>) -> Option<NewsLine> {
    let seen = text.places.last_visit.as_ref()?;
    let is_shown = |id: &EntryId| {
        scene.session.transcript.lane_at(*id).is_none() && text.sequence.place_of(*id).is_some()
    };
    let first = *scene
        .session
        .entries_since(seen)
        .iter()
        .find(|id| is_shown(id))?;
    let above = text.sequence.place_of(first)?.checked_sub(1)?;
    let words = format!("new since {}", seen.at.short(scene.screen.now));
    Some(NewsLine {
        above: text.sequence.at(above)?,
        first,
        words,
    })
}
