//! What lies over the transcript: the help, and raw records.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::app::bindings::{BINDINGS, GROUPS};
use crate::app::state::{Mode, State};

/// Paints the pop-up of the mode over the whole screen but for the last line, which keeps the hints.
pub fn paint(state: &State, screen: Rect, buffer: &mut Buffer) {
    let area = Rect { height: screen.height.saturating_sub(u16::from(screen.height > 3)), ..screen };
    let (title, lines, top) = match &state.mode {
        Mode::Help { top } => (" All keys".to_owned(), help(state), *top),
        Mode::Raw { title, rows, top } => {
            (format!(" {title}"), rows.iter().map(|row| row.line.clone()).collect(), *top)
        }
        Mode::Normal | Mode::Search { .. } => return,
    };
    for y in area.y..area.bottom() {
        for x in area.x..area.right() {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.reset();
            }
        }
    }
    let height = usize::from(area.height.saturating_sub(1));
    let top = top.min(lines.len().saturating_sub(height));
    buffer.set_stringn(area.x, area.y, &title, usize::from(area.width), state.theme.bar);
    buffer.set_style(Rect { height: 1, ..area }, state.theme.bar);
    let dash = if state.theme.ascii { "-" } else { "–" };
    let place = format!("{}{dash}{} of {} ", top + 1, (top + height).min(lines.len()), lines.len());
    let width = u16::try_from(place.chars().count()).unwrap_or(0).min(area.width);
    buffer.set_stringn(area.right() - width, area.y, &place, usize::from(width), state.theme.bar);
    for (line, y) in lines.iter().skip(top).zip(area.y + 1..area.bottom()) {
        buffer.set_line(area.x + 1, y, line, area.width.saturating_sub(2));
    }
}

/// All bindings under their headings.
fn help(state: &State) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for group in GROUPS {
        lines.push(Line::from(Span::styled(group.title(), state.theme.heading)));
        for binding in BINDINGS.iter().filter(|binding| binding.group == group) {
            let keys = binding.keys.iter().map(|keys| keys.replace(' ', "")).collect::<Vec<_>>().join("  ");
            lines.push(Line::from(vec![
                Span::raw("  "),
                Span::styled(format!("{keys:<18}"), state.theme.accent),
                Span::raw(binding.doc),
                Span::styled(format!("  {}", binding.action), state.theme.dim),
            ]));
        }
        lines.push(Line::default());
    }
    lines
}
