//! File changes: patches of steps, changes of a turn or session, and plans, each as a list below a
//! line of summary.
//!
//! Invariant: a list depends on its record alone.

use itertools::Itertools as _;

use super::blocks::raw;
use crate::formats::json::Json;
use crate::formats::tools;
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Piece};
use crate::model::figures::count;
use crate::model::tool::ToolKind;

/// The files that a step changed.
pub(super) fn patch(json: &Json<'_>, out: &mut Batch) -> BlockKind {
    let files: Vec<&str> = json
        .get("files")
        .items()
        .iter()
        .filter_map(Json::str)
        .collect();
    raw(
        &format!("changed {}", count(files.len() as u64, "file")),
        &files.join("\n"),
        out,
    )
}

/// The files that a turn or a session changed, with the changed lines; `None` if there are none.
pub(super) fn diffs(what: &str, diffs: &[Json<'_>], out: &mut Batch) -> Option<BlockKind> {
    if diffs.is_empty() {
        return None;
    }
    let line = |diff: &Json<'_>| {
        let status = diff
            .get("status")
            .filled()
            .map(|status| format!(" {status}"))
            .unwrap_or_default();
        let file = diff.get("file").filled().unwrap_or("?");
        format!(
            "{file} {}{status}",
            lines(diff.get("additions").count(), diff.get("deletions").count())
        )
    };
    let sum = |name: &str| {
        diffs
            .iter()
            .filter_map(|diff| diff.get(name).count())
            .fold(0, u64::saturating_add)
    };
    let total = lines(Some(sum("additions")), Some(sum("deletions")));
    let list: Vec<String> = diffs.iter().map(line).collect();
    Some(raw(
        &format!(
            "{what} changed {} {total}",
            count(diffs.len() as u64, "file")
        ),
        &list.join("\n"),
        out,
    ))
}

/// The plan as a list; `None` if it is empty.
pub(super) fn plan(todos: &Json<'_>, out: &mut Batch) -> Option<BlockKind> {
    if todos.items().is_empty() {
        return None;
    }
    let input = Json::Object(vec![("todos".into(), todos.clone())]);
    let head = tools::headline(ToolKind::Plan, &input);
    let line = |todo: &Json<'_>| {
        let sign = match todo.get("status").str_or_empty() {
            "completed" => "[x]",
            "in_progress" => "[>]",
            "cancelled" => "[-]",
            _ => "[ ]",
        };
        format!("{sign} {}", todo.get("content").str_or_empty())
    };
    let list: Vec<String> = todos.items().iter().map(line).collect();
    Some(raw(&format!("plan {head}"), &list.join("\n"), out))
}

/// A hash by which equal plans are recognized.
pub(super) fn plan_mark(todos: &Json<'_>) -> Option<Piece> {
    let items = todos.items();
    let mut recorded = items
        .iter()
        .flat_map(|todo| [todo.get("content"), todo.get("status")])
        .map(Json::str_or_empty);
    (!items.is_empty()).then(|| Piece::of(&recorded.join("\n")))
}

fn lines(additions: Option<u64>, deletions: Option<u64>) -> String {
    format!("+{} -{}", additions.unwrap_or(0), deletions.unwrap_or(0))
}
