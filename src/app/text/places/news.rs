//! What is new since the reader last looked: a line across stands above it.
//!
//! Invariant: the line is the last row of the entry above it, so that no row moves when it comes; it is no
//! item, and nothing counts it. What comes while the reader looks is not new in this sense.

use ratatui::text::Span;

use crate::app::scene::Scene;
use crate::app::text::TextPane;
use crate::model::entry::EntryId;
use crate::render::row::{Look, Row, RowKind};
use crate::render::wrap;
use crate::session::news::Seen;

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

/// The line: `── new since Tue 10:41 ─────`.
pub fn row(words: &str, block: usize, look: &Look<'_>) -> Row {
    let (theme, glyphs) = (look.theme, look.theme.glyphs());
    let width = usize::from(look.width);
    let front = if width > 24 {
        format!("{} ", glyphs.line.rule.repeat(2))
    } else {
        String::new()
    };
    let spans = [
        Span::styled(front, theme.dim),
        Span::styled(words.to_owned(), theme.accent),
    ];
    let mut line = wrap::fit(&spans, width, glyphs.cut);
    let left = width.saturating_sub(wrap::width_of(&line) + 1);
    if left > 0 {
        line.push(Span::styled(
            format!(" {}", glyphs.line.rule.repeat(left)),
            theme.dim,
        ));
    }
    Row {
        line: line.into(),
        kind: RowKind::News,
        block,
        ..Row::default()
    }
}

/// All of the session was read: if nothing is new by now, nothing will be.
pub fn settle(text: &mut TextPane, scene: &mut Scene<'_>) {
    let is_known = |seen: &Seen| {
        scene
            .session
            .after(seen)
            .iter()
            .any(|id| scene.session.transcript.lane_at(*id).is_none())
    };
    text.places.is_first_visit = text.places.seen.is_none();
    if !text.places.seen.as_ref().is_some_and(is_known) {
        text.places.seen = None;
    }
}

/// Finds the place of the line among the entries that are shown now.
pub fn place(text: &mut TextPane, scene: &Scene<'_>) {
    let news = find(text, scene);
    if news != text.places.news {
        let both = [&text.places.news, &news]
            .into_iter()
            .flatten()
            .map(|news| news.above)
            .collect::<Vec<_>>();
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
    let first = *scene.session.after(seen).iter().find(|id| is_shown(id))?;
    let above = text.sequence.place_of(first)?.checked_sub(1)?;
    let words = format!("new since {}", seen.at.spoken(scene.screen.now));
    Some(News {
        above: text.sequence.at(above)?,
        first,
        words,
    })
}
