//! Plans: lists of tasks with their boxes.

use ratatui::text::Span;

use crate::model::body::Tree;
use crate::model::text::Text;
use crate::render::row::{Look, Row};
use crate::render::wrap::{self, Frame};

/// The tasks of a plan, if the input holds some.
pub fn rows(input: &Tree, width: usize, look: &Look<'_>) -> Option<Vec<Row>> {
    let tasks = ["todos", "plan", "items", "tasks", "steps", "todo_list"]
        .iter()
        .map(|name| input.get(name).map(Tree::items).unwrap_or_default())
        .find(|items| !items.is_empty())?;
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
        let frame = Frame { width, first, rest, limit: 3, cut: glyphs.cut };
        let line = content.lines().next().unwrap_or_default().to_owned();
        let lines = wrap::wrap(&[Span::styled(line, style)], &frame);
        rows.extend(lines.into_iter().map(|line| Row { line, ..Row::default() }));
    }
    Some(rows)
}
