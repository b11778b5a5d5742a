//! JSON trees as indented lines that fold: keys, scalars, lists with dashes, long strings below
//! their key.
//!
//! Invariant: the work is bounded by the number of rows, not by the tree. A JSON text that is too
//! large to parse is read only as far as its children are shown.

mod children;
mod compact;
mod depth;
mod writer;

use std::sync::Arc;

pub(crate) use compact::arguments;

use super::excerpt::Detail;
use super::json;
use super::nodes::ValueNodes;
use super::row::{Look, Row};
use super::sheet::hidden_row;
use crate::model::body::Tree;
use crate::model::figures;
use crate::model::text::Text;
use writer::{TreeOptions, TreeWriter};

/// Deeper values are shown as counts.
const MAX_DEPTH: usize = 24;
/// Row budget of a tree opened by hand, which decides how deep it opens.
const OVERVIEW: usize = 200;
/// Rows of a string: in a preview, in a tree opened by hand, at level 4.
const STRING: (usize, usize, usize) = (2, 12, 60);
/// Children shown at first, and with each further opening.
const PAGE: (usize, usize) = (100, 500);

/// Options for a whole tree as recorded.
const RAW: TreeOptions = TreeOptions {
    depth: usize::MAX,
    strings: usize::MAX,
    page: usize::MAX,
    by_hand: false,
    walks: false,
    is_raw: true,
};

/// A value to be shown.
#[derive(Clone, Copy)]
pub(crate) enum TreeValue<'a> {
    Tree(&'a Tree),
    /// A JSON text that is too large to be parsed.
    Json(&'a str),
}

impl<'a> TreeValue<'a> {
    /// A large text, if it looks like JSON.
    pub(crate) fn of_large(text: &'a str) -> Option<Self> {
        json::large(text).map(TreeValue::Json)
    }
}

/// The value shown by a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// Path in jq's notation: `.message.content[0].text`.
    pub(crate) path: Arc<str>,
    /// The string or number; `None` for other values.
    pub(crate) value: Option<Text>,
    /// Line number within the string, from 0.
    pub(crate) line: u32,
}

/// The rows of a whole tree up to `limit`, each with the value that it shows. A last row says how
/// much is hidden.
pub(crate) fn rows_with_leaves(
    tree: &Tree,
    width: usize,
    limit: usize,
    look: &Look<'_>,
) -> Vec<(Row, Leaf)> {
    let mut writer = TreeWriter::new(RAW, ValueNodes::of(None, 0, 0), (width, limit), look);
    writer.root(TreeValue::Tree(tree));
    let leaves = writer.leaves();
    let rows = finished(writer, look);
    let none = Leaf {
        path: Arc::from("."),
        value: None,
        line: 0,
    };
    rows.into_iter()
        .zip(leaves.into_iter().chain(std::iter::repeat(none)))
        .collect()
}

/// The rows of a whole tree up to `limit`; a last row says how much is hidden.
pub fn rows(tree: &Tree, width: usize, limit: usize, look: &Look<'_>) -> Vec<Row> {
    let nodes = ValueNodes::of(None, 0, 0);
    written(TreeValue::Tree(tree), RAW, nodes, (width, limit), look)
}

/// The rows of a tree with folds, up to `limit`.
pub(crate) fn folded(
    value: TreeValue<'_>,
    detail: Detail,
    nodes: ValueNodes<'_>,
    (width, limit): (usize, usize),
    look: &Look<'_>,
) -> Vec<Row> {
    let is_whole = nodes.is_fully_open() || detail == Detail::Raw;
    let (budget, strings) = match detail {
        Detail::Closed | Detail::Preview => (limit, STRING.0),
        Detail::Open => (OVERVIEW, STRING.1),
        Detail::Full | Detail::Raw => (limit, STRING.2),
    };
    let options = TreeOptions {
        depth: if is_whole {
            usize::MAX
        } else {
            depth::fitting(value, budget)
        },
        strings: if is_whole { usize::MAX } else { strings },
        page: if is_whole { usize::MAX } else { PAGE.0 },
        by_hand: matches!(detail, Detail::Open | Detail::Full),
        walks: detail == Detail::Open,
        is_raw: detail == Detail::Raw,
    };
    written(value, options, nodes, (width, limit), look)
}

fn written(
    value: TreeValue<'_>,
    options: TreeOptions,
    nodes: ValueNodes<'_>,
    (width, limit): (usize, usize),
    look: &Look<'_>,
) -> Vec<Row> {
    let mut writer = TreeWriter::new(options, nodes, (width, limit), look);
    writer.root(value);
    finished(writer, look)
}

fn finished(writer: TreeWriter<'_>, look: &Look<'_>) -> Vec<Row> {
    let (mut rows, hidden) = writer.finish();
    if hidden > 0 {
        let what = format!("+{}", figures::count(hidden as u64, "value"));
        rows.push(hidden_row(&what, hidden, look));
    }
    rows
}

/// Whether a list of scalars fits on one line: `[120, 180]`.
fn is_short(items: &[Tree]) -> bool {
    items.len() <= 6
        && items.iter().all(|item| match item {
            Tree::Null | Tree::Bool(_) | Tree::Number(_) => true,
            Tree::Text(text) => text.len() <= 16 && !text.contains('\n'),
            Tree::List(items) => items.is_empty(),
            Tree::Map(members) => members.is_empty(),
        })
}

/// Whether a value has rows of its own below its key.
fn has_children(tree: &Tree) -> bool {
    match tree {
        Tree::Map(members) => !members.is_empty(),
        Tree::List(items) => !items.is_empty() && !is_short(items),
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Text(_) => false,
    }
}

#[cfg(test)]
mod tests;
