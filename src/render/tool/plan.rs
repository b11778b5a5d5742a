//! Plans: lists of tasks with boxes, and the difference from the previous plan.

mod change;

use std::borrow::Cow;

use ratatui::style::Style;
use ratatui::text::Span;

use self::change::{ComparedTask, TaskChange};
use crate::model::body::{Body, Tree};
use crate::model::figures;
use crate::model::text::{Text, without_sgr};
use crate::render::json;
use crate::render::row::{Look, Row};
use crate::render::sheet::hidden_row;
use crate::render::wrap::{self, LineFrame, Piece};

/// Up to this many unchanged tasks are not folded.
const FEW: usize = 2;
/// Limit of compared tasks; in longer lists all count as new.
const MOST: usize = 300;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskState {
    Todo,
    Doing,
    Done,
    Dropped,
}

/// A task of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) text: String,
    pub(super) state: TaskState,
}

/// The tasks of a plan, if the input contains any.
fn tasks_of(input: &Tree) -> Option<Vec<Task>> {
    let mut lists = ["todos", "plan", "items", "tasks", "steps", "todo_list"]
        .iter()
        .filter_map(|name| input.get(name));
    // Models sometimes write the list as a JSON string.
    let list = lists.find_map(|list| match list {
        Tree::Text(text) => json::parse(text).map(Cow::Owned),
        list => (!list.items().is_empty()).then_some(Cow::Borrowed(list)),
    })?;
    let tasks: Option<Vec<Task>> = list.items().iter().map(task_of).collect();
    tasks.filter(|tasks| !tasks.is_empty())
}

fn task_of(task: &Tree) -> Option<Task> {
    const CONTENT: [&str; 7] = [
        "content",
        "step",
        "title",
        "text",
        "description",
        "task",
        "subject",
    ];
    let content = task.text_in(&CONTENT).or(task.as_text())?;
    let is_done = task.get("done").or(task.get("completed")) == Some(&Tree::Bool(true));
    let state = match task.text_in(&["status", "state"]).map_or("", Text::as_str) {
        "completed" | "done" => TaskState::Done,
        "in_progress" | "in-progress" | "active" | "doing" => TaskState::Doing,
        "cancelled" | "canceled" => TaskState::Dropped,
        _ if is_done => TaskState::Done,
        _ => TaskState::Todo,
    };
    let text = without_sgr(content)
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned();
    Some(Task { text, state })
}

/// The rows of a plan. Changes since the previous plan are highlighted; runs of unchanged tasks are
/// dim and, without `whole`, folded to one row.
pub fn rows(
    input: &Tree,
    before: Option<&Body>,
    whole: bool,
    width: usize,
    look: &Look<'_>,
) -> Option<Vec<Row>> {
    let tasks = tasks_of(input)?;
    let before = before.and_then(Body::tree).and_then(tasks_of);
    let Some(before) = before.filter(|before| before.len().max(tasks.len()) <= MOST) else {
        return Some(
            tasks
                .iter()
                .flat_map(|task| task_rows(task, None, width, look))
                .collect(),
        );
    };
    let mut rows = Vec::new();
    let mut same: Vec<Task> = Vec::new();
    for ComparedTask { task, change } in change::between(&before, &tasks) {
        if change == TaskChange::None && task.state != TaskState::Doing {
            same.push(task);
            continue;
        }
        push_same(&mut rows, &mut same, whole, width, look);
        rows.extend(task_rows(&task, Some(&change), width, look));
    }
    push_same(&mut rows, &mut same, whole, width, look);
    Some(rows)
}

/// Adds a run of unchanged tasks.
fn push_same(
    rows: &mut Vec<Row>,
    same: &mut Vec<Task>,
    whole: bool,
    width: usize,
    look: &Look<'_>,
) {
    if whole || same.len() <= FEW {
        rows.extend(
            same.iter()
                .flat_map(|task| task_rows(task, Some(&TaskChange::None), width, look)),
        );
    } else {
        let done = same
            .iter()
            .filter(|task| task.state == TaskState::Done)
            .count();
        let tasks = figures::count(same.len() as u64, "task");
        let done = match done {
            0 => String::new(),
            done if done == same.len() => ", done".to_owned(),
            done => format!(", {done} done"),
        };
        rows.push(hidden_row(
            &format!("{tasks} as before{done}"),
            same.len(),
            look,
        ));
    }
    same.clear();
}

fn task_rows(task: &Task, change: Option<&TaskChange>, width: usize, look: &Look<'_>) -> Vec<Row> {
    let glyphs = look.theme.glyphs();
    let theme = look.theme;
    let (sign, sign_style, style) = match task.state {
        TaskState::Done => (glyphs.list.did, theme.good, theme.dim),
        TaskState::Doing => (glyphs.list.doing, theme.accent, theme.text),
        TaskState::Dropped => (glyphs.outcome.refused, theme.dim, theme.dim),
        TaskState::Todo => (glyphs.list.todo, theme.text, theme.text),
    };
    let style = match change {
        Some(TaskChange::None) if task.state != TaskState::Doing => theme.dim,
        Some(TaskChange::StateWas(_) | TaskChange::Added | TaskChange::Renamed(_)) => theme.text,
        Some(TaskChange::Gone) => theme.dim,
        Some(TaskChange::None) | None => style,
    };
    let first = vec![Span::styled(format!("{sign} "), sign_style)];
    let rest = vec![Span::raw(" ".repeat(wrap::width_of(&first)))];
    let mut spans = vec![Span::styled(task.text.clone(), style)];
    spans.extend(change.and_then(|change| change_words(task, change, look)));
    let frame = LineFrame {
        width,
        first,
        rest,
        limit: 3,
        cut: glyphs.cut,
        sideways: None,
    };
    wrap::wrap(&spans, &frame)
        .into_iter()
        .map(|line| Row {
            line,
            ..Row::default()
        })
        .collect()
}

/// The change in words, because the terminal may have no colours.
fn change_words(task: &Task, change: &TaskChange, look: &Look<'_>) -> Option<Piece> {
    let theme = look.theme;
    let (words, style): (Cow<'_, str>, Style) = match change {
        TaskChange::None => return None,
        TaskChange::Added => ("+ added".into(), theme.diff.added),
        TaskChange::Gone => (
            format!("{} dropped", theme.glyphs().minus).into(),
            theme.diff.removed,
        ),
        TaskChange::Renamed(was) => (format!("~ was: {was}").into(), theme.warn),
        TaskChange::StateWas(_) => match task.state {
            TaskState::Done => ("done now".into(), theme.good),
            TaskState::Doing => ("begun".into(), theme.accent),
            TaskState::Dropped => ("cancelled".into(), theme.warn),
            TaskState::Todo => ("open again".into(), theme.warn),
        },
    };
    Some(Span::styled(format!("  {words}"), style))
}

#[cfg(test)]
mod tests;
