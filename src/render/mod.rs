//! Lays out entries: [`lay_out`] turns an entry into styled rows of a given width.
//!
//! Invariant: pure. It knows ratatui's text types, but no terminal, file or state of the viewer.

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
pub mod manual;
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

use std::borrow::Cow;
use std::sync::Arc;

use row::{Item, Look, Row};

use crate::model::entry::details::Details;
use crate::model::entry::rewording;
use crate::model::text::{Text, ascii, without_marks};

/// Lays out one entry.
pub fn lay_out(item: &Item<'_>, look: &Look<'_>) -> Vec<Row> {
    let reword: fn(&Text) -> Option<Text> = match (look.theme.has_marks, look.theme.ascii) {
        (true, false) => return entry::lay_out(item, look),
        (true, true) => in_ascii,
        (false, false) => |text| without_marks(text),
        (false, true) => |text| {
            without_marks(text)
                .map_or_else(|| in_ascii(text), |text| in_ascii(&text).or(Some(text)))
        },
    };
    let details: Vec<(usize, Arc<Details>)> = item
        .details
        .iter()
        .map(|(block, details)| (*block, in_words(details, reword)))
        .collect();
    let item = &Item {
        details: &details,
        ..*item
    };
    entry::lay_out_as(item, look, &|block| {
        let mut reworded = block.clone();
        rewording::block(&mut reworded, &mut |text| reword(text));
        Cow::Owned(reworded)
    })
}

fn in_words(details: &Details, reword: fn(&Text) -> Option<Text>) -> Arc<Details> {
    let mut reworded = details.clone();
    rewording::details(&mut reworded, &mut |text| reword(text));
    Arc::new(reworded)
}

/// The text in ASCII; `None` if it is already. Colours are preserved.
fn in_ascii(text: &Text) -> Option<Text> {
    (!text.is_ascii()).then(|| Text::output(&ascii(text)))
}
