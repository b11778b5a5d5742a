//! Plans: lists of tasks with their boxes.

use std::borrow::Cow;

use ratatui::text::Span;

use crate::model::body::Tree;
use crate::model::text::Text;
use crate::render::json;
use crate::render::row::{Look, Row};
use crate::render::wrap::{self, Frame};

/// The tasks of a plan, if the input holds some.
pub fn rows(input: &Tree, width: usize, look: &Look<'_>) -> Option<Vec<Row>> {
    let mut lists =
        ["todos", "plan", "items", "tasks", "steps", "todo_list"].iter().filter_map(|name| input.get(name));
    // Models sometimes write the list as a string.
    let list = lists.find_map(|list| match list {
        Tree::Text(text) => json::parse(text).map(Cow::Owned),
        list => (!list.items().is_empty()).then_some(Cow::Borrowed(list)),
    })?;
    let tasks = list.items();
    if tasks.is_empty() {
        return None;
    }
    let glyphs = look.theme.glyphs();
    let theme = look.theme;
    let mut rows = Vec::new();
    for task in tasks {
        let text = |names: &[&str]| names.iter().find_map(|name| task.get(name).and_then(Tree::as_text));
        let content = text(&["content", "step", "title", "text", "description", "task", "subject"])
            .or(task.as_text())?;
        let status = text(&["status", "state"]).map_or("", Text::as_str);
        let is_done = task.get("done").or(task.get("completed")) == Some(&Tree::Bool(true));
        let (sign, sign_style, style) = match status {
            "completed" | "done" => (glyphs.did, theme.good, theme.dim),
            "in_progress" | "in-progress" | "active" | "doing" => (glyphs.doing, theme.accent, theme.text),
            "cancelled" | "canceled" => (glyphs.refused, theme.dim, theme.dim),
            _ if is_done => (glyphs.did, theme.good, theme.dim),
            _ => (glyphs.todo, theme.text, theme.text),
        };
        let first = vec![Span::styled(format!("{sign} "), sign_style)];
        let rest = vec![Span::raw(" ".repeat(wrap::width_of(&first)))];
        let frame = Frame { width, first, rest, limit: 3, cut: glyphs.cut, sideways: None };
        let line = content.lines().next().unwrap_or_default().to_owned();
        let lines = wrap::wrap(&[Span::styled(line, style)], &frame);
        rows.extend(lines.into_iter().map(|line| Row { line, ..Row::default() }));
    }
    Some(rows)
}
