//! Entries to rows: [`lay_out`] turns one entry into styled rows of a given width.
//!
//! Invariant: pure. Knows ratatui's text types, no terminal, no file, no state of the viewer.

pub mod ansi;
pub mod body;
pub mod code;
pub mod colour;
pub mod diff;
pub mod entry;
pub mod excerpt;
pub mod glyphs;
pub mod json;
pub mod link;
pub mod markdown;
pub mod nodes;
pub mod output;
pub mod picture;
pub mod results;
pub mod row;
pub mod sheet;
pub mod source;
pub mod theme;
pub mod tool;
pub mod tree;
pub mod wrap;

use row::{Item, Look, Row};

use crate::model::rewording;
use crate::model::text::without_marks;

/// Lays out one entry.
pub fn lay_out(item: &Item<'_>, look: &Look<'_>) -> Vec<Row> {
    if look.theme.has_marks {
        return entry::lay_out(item, look);
    }
    let mut unmarked = item.entry.clone();
    rewording::entry(&mut unmarked, &mut |text| without_marks(text));
    entry::lay_out(&Item { entry: &unmarked, ..*item }, look)
}
