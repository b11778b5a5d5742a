//! Entries to rows: [`lay_out`] turns one entry into styled rows of a given width.
//!
//! Invariant: pure. Knows ratatui's text types, no terminal, no file, no state of the viewer.

pub mod code;
pub mod entry;
pub mod figures;
pub mod row;
pub mod theme;

use row::{Item, Look, Row};

/// Lays out one entry.
pub fn lay_out(item: &Item<'_>, look: &Look<'_>) -> Vec<Row> {
    entry::lay_out(item, look)
}
