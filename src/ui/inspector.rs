//! Paints the inspector: its tabs, and the visible rows.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::app::input::action::Tab;
use crate::app::panes::Pane;
use crate::app::reader::Reader;

/// Least width for tabs with their names.
const WORDY: u16 = 46;

/// Paints the tabs and the rows of the current one.
pub fn paint(reader: &Reader, area: Rect, buffer: &mut Buffer) {
    if area.width < 2 {
        return;
    }
    let has_keys = reader.focused() == Pane::Inspector;
    buffer.set_line(
        area.x + 1,
        area.y,
        &tabs(reader, area.width),
        area.width - 1,
    );
    let glyphs = reader.screen.theme.glyphs();
    let (inspector, first) = (&reader.inspector, area.y + 1);
    let rows = inspector.rows.iter().enumerate().skip(inspector.top);
    for ((place, fact), y) in rows.zip(first..area.bottom()) {
        buffer.set_line(area.x + 1, y, &fact.line, area.width.saturating_sub(2));
        let mark = match (has_keys && place == inspector.at, fact.target.is_some()) {
            (true, true) => glyphs.closed,
            (true, false) => {
                if reader.screen.theme.ascii {
                    ">"
                } else {
                    "▌"
                }
            }
            (false, true) if has_keys => glyphs.closed,
            (false, _) => continue,
        };
        let style = if place == inspector.at {
            reader.screen.theme.focus
        } else {
            reader.screen.theme.dim
        };
        buffer.set_stringn(area.x, y, mark, 1, style);
    }
    let shown = inspector.top + usize::from(area.height.saturating_sub(1));
    if area.height > 2 && (inspector.is_cut || shown < inspector.rows.len()) {
        let below = inspector.rows.len().saturating_sub(shown);
        let more = if inspector.is_cut {
            "more".to_owned()
        } else {
            format!("+{below}")
        };
        let more = format!(" {} {more} ", glyphs.ellipsis);
        let width = u16::try_from(more.chars().count())
            .unwrap_or(0)
            .min(area.width);
        buffer.set_stringn(
            area.right() - width,
            area.bottom() - 1,
            &more,
            usize::from(width),
            reader.screen.theme.dim,
        );
    }
}

/// `[call+result] raw  diff …`; on a narrow pane the other tabs show only their first letters.
fn tabs(reader: &Reader, width: u16) -> Line<'static> {
    let mut spans = Vec::new();
    for tab in Tab::ALL {
        let is_shown = tab == reader.inspector.tab;
        let word = word(tab, reader.inspector.is_call);
        let words = match (is_shown, width >= WORDY) {
            (true, _) => format!("[{word}]"),
            (false, true) => format!(" {word} "),
            (false, false) => format!(" {} ", word.get(..1).unwrap_or_default()),
        };
        spans.push(Span::styled(
            words,
            if is_shown {
                reader.screen.theme.focus
            } else {
                reader.screen.theme.dim
            },
        ));
    }
    Line::from(spans)
}

fn word(tab: Tab, is_call: bool) -> &'static str {
    match tab {
        Tab::Item if is_call => "call+result",
        Tab::Item => "item",
        Tab::Raw => "raw",
        Tab::Diff => "diff",
        Tab::Context => "context",
        Tab::Timing => "timing",
        Tab::Why => "why",
    }
}
