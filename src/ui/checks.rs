//! The list of what the lint found.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph, Widget, Wrap};

use crate::analysis::lint::Severity;
use crate::app::checks::{CheckRow, Checks};
use crate::app::state::State;
use crate::model::figures::count;

/// Lines for what follows from the chosen finding.
const FOOT: u16 = 3;
/// Columns of the name of a rule.
const RULE: usize = 22;
/// Columns of the number of a line.
const LINE: usize = 6;

/// Paints the list over the whole screen but for the last line, which keeps the hints.
pub fn paint(state: &State, checks: &Checks, screen: Rect, buffer: &mut Buffer) {
    let area = Rect { height: screen.height.saturating_sub(u16::from(screen.height > 3)), ..screen };
    Clear.render(area, buffer);
    buffer.set_stringn(area.x, area.y, title(state), usize::from(area.width), state.theme.bar);
    buffer.set_style(Rect { height: 1, ..area }, state.theme.bar);
    let has_foot = area.height > FOOT + 4 && !checks.rows.is_empty();
    let foot = if has_foot { FOOT + 1 } else { 0 };
    let list = Rect { y: area.y + 1, height: area.height.saturating_sub(1 + foot), ..area };
    if checks.rows.is_empty() {
        let word = if state.whole.is_some() || !state.is_caught_up {
            " The session is still being read."
        } else {
            " Nothing found: every call has its result, and nothing else is odd."
        };
        buffer.set_stringn(list.x, list.y, word, usize::from(list.width), state.theme.dim);
        return;
    }
    let shown = checks.rows.iter().enumerate().skip(checks.top);
    for ((place, row), y) in shown.zip(list.y..list.bottom()) {
        buffer.set_line(list.x, y, &line(state, row, place == checks.selected), list.width);
    }
    if let (true, Some(CheckRow::Found { message, consequence, .. })) =
        (has_foot, checks.rows.get(checks.selected))
    {
        let rule = state.theme.glyphs().rule.repeat(usize::from(area.width));
        buffer.set_stringn(area.x, list.bottom(), rule, usize::from(area.width), state.theme.dim);
        let below =
            Rect { x: area.x + 1, y: list.bottom() + 1, width: area.width.saturating_sub(2), height: FOOT };
        let words = Line::from(vec![
            Span::styled(format!("{message}: "), state.theme.text),
            Span::styled(consequence.clone(), state.theme.dim),
        ]);
        Paragraph::new(words).wrap(Wrap { trim: true }).render(below, buffer);
    }
}

fn title(state: &State) -> String {
    let counts = state.findings.counts();
    let parts = [(counts.errors, "error"), (counts.warnings, "warning"), (counts.notes, "note")];
    let parts = parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| count(*n as u64, what));
    let parts: Vec<String> = parts.collect();
    format!(" Checks  {}", parts.join(", "))
}

fn line(state: &State, row: &CheckRow, is_selected: bool) -> Line<'static> {
    let theme = &state.theme;
    match row {
        CheckRow::Heading(severity, found) => {
            let what = match severity {
                Severity::Error => "ERRORS",
                Severity::Warning => "WARNINGS",
                Severity::Note => "NOTES",
            };
            Line::from(vec![
                Span::styled(format!(" {what}"), theme.heading),
                Span::styled(format!("  {found}"), theme.dim),
            ])
        }
        CheckRow::Found { severity, rule, line, message, .. } => {
            let mark = if is_selected { theme.glyphs().closed } else { " " };
            let (sign, style) = sign(state, *severity);
            let number = if *line > 0 { line.to_string() } else { String::new() };
            let words = if is_selected { theme.focus } else { theme.text };
            Line::from(vec![
                Span::styled(format!("{mark} "), theme.focus),
                Span::styled(format!("{sign} "), style),
                Span::styled(format!("{number:>LINE$}  "), theme.dim),
                Span::styled(format!("{rule:<RULE$} "), theme.accent),
                Span::styled(message.clone(), words),
            ])
        }
    }
}

fn sign(state: &State, severity: Severity) -> (&'static str, Style) {
    match severity {
        Severity::Error => (state.theme.glyphs().failed, state.theme.bad),
        Severity::Warning => ("!", state.theme.warn),
        Severity::Note => (state.theme.glyphs().dot, state.theme.dim),
    }
}
