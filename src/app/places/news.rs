//! What is new since the reader last looked: a line across stands above it.
//!
//! Invariant: the line is the last row of the entry above it, so that no row moves when it comes; it is no
//! item, and nothing counts it. What comes while the reader looks is not new in this sense.

pub mod find;

use ratatui::text::Span;

use crate::model::body::Key;
use crate::model::entry::EntryId;
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

/// The line: `── new since Tue 10:41 ─────`.
pub fn row(words: &str, block: usize, look: &Look<'_>) -> Row {
    let (theme, glyphs) = (look.theme, look.theme.glyphs());
    let width = usize::from(look.width);
    let front = if width > 24 { format!("{} ", glyphs.line.rule.repeat(2)) } else { String::new() };
    let spans = [Span::styled(front, theme.dim), Span::styled(words.to_owned(), theme.accent)];
    let mut line = wrap::fit(&spans, width, glyphs.cut);
    let left = width.saturating_sub(wrap::width_of(&line) + 1);
    if left > 0 {
        line.push(Span::styled(format!(" {}", glyphs.line.rule.repeat(left)), theme.dim));
    }
    Row { line: line.into(), kind: RowKind::News, block, ..Row::default() }
}
