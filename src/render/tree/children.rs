//! The children of a value: the visible ones, how many are hidden, and their paths.

use super::compact::compact;
use super::{TreeValue, has_children};
use crate::model::body::Tree;
use crate::model::figures;
use crate::model::text::Text;
use crate::render::json::JsonChildren;
use crate::render::wrap;

/// A child of a node.
pub(super) struct TreeChild<'a> {
    /// Its key; `None` for an item of a list.
    pub(super) key: Option<Text>,
    pub(super) value: TreeValue<'a>,
}

/// The path element of a member: `.name` or `["name"]`.
pub(super) fn member(key: &str) -> String {
    let is_name = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !key.is_empty()
        && !key.starts_with(|c: char| c.is_ascii_digit());
    if is_name {
        return format!(".{key}");
    }
    let quoted = key
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
        .replace('\t', "\\t");
    format!(".[\"{quoted}\"]")
}

/// Children that are not shown.
pub(super) enum Hidden {
    Values(usize, &'static str),
    Bytes(usize),
}

/// The first children of a value.
pub(super) fn children_of(value: TreeValue<'_>, reach: usize) -> (Vec<TreeChild<'_>>, Hidden) {
    match value {
        TreeValue::Tree(Tree::Map(members)) => {
            let shown = members.iter().take(reach);
            let children = shown.map(|(key, value)| TreeChild {
                key: Some(key.clone()),
                value: TreeValue::Tree(value),
            });
            (
                children.collect(),
                Hidden::Values(members.len().saturating_sub(reach), "key"),
            )
        }
        TreeValue::Tree(tree) => {
            let items = tree.items();
            let children = items.iter().take(reach).map(|value| TreeChild {
                key: None,
                value: TreeValue::Tree(value),
            });
            (
                children.collect(),
                Hidden::Values(items.len().saturating_sub(reach), "item"),
            )
        }
        TreeValue::Json(text) => {
            let mut parts = JsonChildren::of(text);
            let children = parts.by_ref().take(reach);
            let children = children
                .map(|(key, value)| TreeChild {
                    key,
                    value: TreeValue::Json(value),
                })
                .collect();
            // The closing bracket is not a child.
            let left = parts.rest.trim().len().saturating_sub(1);
            (children, Hidden::Bytes(left))
        }
    }
}

pub(super) fn is_block(value: TreeValue<'_>) -> bool {
    match value {
        TreeValue::Tree(Tree::Text(text)) => text.contains('\n'),
        TreeValue::Tree(tree) => has_children(tree),
        TreeValue::Json(_) => false,
    }
}

pub(super) fn is_container(value: TreeValue<'_>) -> bool {
    matches!(value, TreeValue::Tree(tree) if has_children(tree))
}

pub(super) fn compact_of(value: TreeValue<'_>, max: usize) -> String {
    match value {
        TreeValue::Tree(tree) => compact(tree, max),
        TreeValue::Json(text) => wrap::head(text, max).to_owned(),
    }
}

impl Hidden {
    pub(super) fn values(&self) -> usize {
        match self {
            Self::Values(count, _) => *count,
            Self::Bytes(bytes) => usize::from(*bytes > 0),
        }
    }

    pub(super) fn words(&self) -> Option<String> {
        match self {
            Self::Values(0, _) | Self::Bytes(0) => None,
            Self::Values(left, what) => {
                Some(format!("{} more", figures::count(*left as u64, what)))
            }
            Self::Bytes(left) => Some(format!("{} more", figures::bytes(*left as u64))),
        }
    }
}
