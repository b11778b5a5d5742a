//! Trees on one line: arguments of calls, closed nodes.
//!
//! Invariant: stops as soon as the line is long enough.

use super::MAX_DEPTH;
use crate::model::body::Tree;
use crate::model::text::without_sgr;
use crate::render::wrap;

/// A tree on one line, cut at `max` bytes.
pub(crate) fn compact(tree: &Tree, max: usize) -> String {
    let mut out = String::new();
    push_compact(&mut out, tree, max, 0);
    out
}

/// Members of an object as `key=value`, separated by blanks, with strings in full.
pub(crate) fn arguments(tree: &Tree, max: usize) -> String {
    let Tree::Map(members) = tree else {
        return compact(tree, max);
    };
    let mut out = String::new();
    for (key, value) in members {
        if out.len() > max {
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(key);
        out.push('=');
        push_compact(&mut out, value, max, 0);
    }
    out
}

/// Whether a string would be read as something else without quotes.
pub(super) fn needs_quotes(text: &str) -> bool {
    text.trim().len() != text.len()
        || matches!(text, "" | "null" | "true" | "false")
        || (text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
            && text.parse::<f64>().is_ok())
}

fn push_compact(out: &mut String, tree: &Tree, max: usize, depth: usize) {
    if out.len() > max {
        return;
    }
    match tree {
        Tree::Null => out.push_str("null"),
        Tree::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Tree::Number(number) => out.push_str(number),
        Tree::Text(text) => push_string(out, wrap::head(text, max)),
        Tree::List(items) if depth >= MAX_DEPTH => out.push_str(&format!("[{}]", items.len())),
        Tree::Map(members) if depth >= MAX_DEPTH => out.push_str(&format!("{{{}}}", members.len())),
        Tree::List(items) => {
            out.push('[');
            for (index, item) in items
                .iter()
                .enumerate()
                .take_while(|(index, _)| *index < max)
            {
                out.push_str(if index == 0 { "" } else { ", " });
                push_compact(out, item, max, depth + 1);
            }
            out.push(']');
        }
        Tree::Map(members) => {
            out.push('{');
            for (index, (key, value)) in members
                .iter()
                .enumerate()
                .take_while(|(index, _)| *index < max)
            {
                out.push_str(if index == 0 { "" } else { ", " });
                out.push_str(key);
                out.push_str(": ");
                push_compact(out, value, max, depth + 1);
            }
            out.push('}');
        }
    }
}

fn push_string(out: &mut String, text: &str) {
    let plain = without_sgr(text);
    let is_word = !plain.is_empty()
        && !plain.contains([' ', '"', ',', '=', '\n', '\t'])
        && !needs_quotes(&plain);
    if is_word {
        out.push_str(&plain);
        return;
    }
    out.push('"');
    for c in plain.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '"' => out.push_str("\\\""),
            c => out.push(c),
        }
    }
    out.push('"');
}
