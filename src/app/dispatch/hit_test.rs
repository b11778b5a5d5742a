//! Hit test: the part of the screen, and the part of a row, at a position of the mouse.

use ratatui::layout::{Position, Rect};

use crate::app::layout::Frame;
use crate::app::panes::Pane;
use crate::render::glyphs::Glyphs;
use crate::render::row::{Row, RowKind};
use crate::render::source::SourceText;
use crate::render::wrap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreenPart {
    /// A line of the outline, from 0.
    Outline(usize),
    Divider(Pane),
    /// A line of the transcript, and the column within it.
    Text(usize, u16),
    /// A line of the spine.
    Spine(u16),
    Inspector,
    /// A line of a view's page.
    View(usize),
    /// The pill, which counts new entries below.
    Pill,
    Other,
}

/// The part of the screen that a cell belongs to.
pub(crate) fn part_at(frame: &Frame, column: u16, line: u16) -> ScreenPart {
    let at = Position { x: column, y: line };
    let is_in = |area: Rect| area.contains(at);
    let below = |area: Rect| usize::from(line.saturating_sub(area.y));
    // The inspector may cover the other parts.
    if is_in(frame.inspector) {
        ScreenPart::Inspector
    } else if is_in(frame.outline_divider) {
        ScreenPart::Divider(Pane::Outline)
    } else if is_in(frame.inspector_divider) {
        ScreenPart::Divider(Pane::Inspector)
    } else if is_in(frame.view) {
        ScreenPart::View(below(frame.view))
    } else if is_in(frame.outline) {
        ScreenPart::Outline(below(frame.outline))
    } else if is_in(frame.transcript) {
        ScreenPart::Text(below(frame.transcript), column - frame.transcript.x)
    } else if is_in(frame.spine) {
        ScreenPart::Spine(line - frame.spine.y)
    } else if is_in(frame.pill) {
        ScreenPart::Pill
    } else {
        ScreenPart::Other
    }
}

/// The part of a row under the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowPart {
    /// The row that stands for hidden ones: `… +212 lines`.
    Hidden,
    /// The sign of a closed fold.
    Closed,
    /// The sign of an open fold.
    Open,
    Text,
}

/// The part of a row at a column. `within` counts from the left edge of the text, `width` is the
/// width of the text.
pub(super) fn row_part_at(row: &Row, within: Option<u16>, width: u16, glyphs: &Glyphs) -> RowPart {
    let Some(within) = within else {
        return RowPart::Text;
    };
    let right = u16::try_from(wrap::width_of(&row.right)).unwrap_or(u16::MAX);
    let is_mark = row.source.of == SourceText::None;
    if row.hides > 0
        && row.kind == RowKind::Body
        && (is_mark || within >= width.saturating_sub(right))
    {
        return RowPart::Hidden;
    }
    let text: String = row
        .line
        .spans
        .iter()
        .map(|span| span.content.as_ref())
        .collect();
    let words = text.trim_start_matches(' ');
    let indent = u16::try_from(text.len() - words.len()).unwrap_or(u16::MAX);
    let is_at_sign = is_mark && (indent..indent.saturating_add(2)).contains(&within);
    match () {
        () if is_at_sign && words.starts_with(glyphs.closed) => RowPart::Closed,
        () if is_at_sign && words.starts_with(glyphs.open) => RowPart::Open,
        () => RowPart::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::{RowPart, ScreenPart, part_at, row_part_at};
    use crate::app::layout::Frame;
    use crate::app::panes::Pane;
    use crate::render::glyphs::Glyphs;
    use crate::render::row::{Row, RowKind};
    use crate::render::source::Source;
    use ratatui::layout::Rect;

    fn rect(x: u16, y: u16, width: u16, height: u16) -> Rect {
        Rect {
            x,
            y,
            width,
            height,
        }
    }

    fn frame() -> Frame {
        Frame {
            header: rect(0, 0, 120, 1),
            outline: rect(0, 1, 31, 36),
            outline_divider: rect(31, 1, 1, 36),
            transcript: rect(32, 1, 87, 35),
            spine: rect(119, 1, 1, 35),
            pill: rect(32, 36, 88, 1),
            status: rect(0, 38, 120, 1),
            hints: rect(0, 39, 120, 1),
            ..Frame::default()
        }
    }

    #[test]
    fn every_cell_belongs_to_one_part() {
        let frame = frame();
        for (column, line, part) in [
            (0, 0, ScreenPart::Other),
            (0, 1, ScreenPart::Outline(0)),
            (30, 36, ScreenPart::Outline(35)),
            (31, 5, ScreenPart::Divider(Pane::Outline)),
            (32, 1, ScreenPart::Text(0, 0)),
            (118, 35, ScreenPart::Text(34, 86)),
            (119, 3, ScreenPart::Spine(2)),
            (50, 36, ScreenPart::Pill),
            (50, 38, ScreenPart::Other),
            (500, 500, ScreenPart::Other),
        ] {
            assert_eq!(part_at(&frame, column, line), part, "{column}, {line}");
        }
        let pushed = Frame {
            inspector: rect(32, 1, 88, 35),
            is_pushed: true,
            ..frame
        };
        assert_eq!(part_at(&pushed, 40, 5), ScreenPart::Inspector);
    }

    #[test]
    fn marks_are_distinguished_from_text() {
        let glyphs = &Glyphs::UNICODE;
        let hidden = Row {
            line: "  … +212 lines".into(),
            hides: 212,
            ..Row::default()
        };
        assert_eq!(row_part_at(&hidden, Some(6), 80, glyphs), RowPart::Hidden);
        assert_eq!(
            row_part_at(&hidden, None, 80, glyphs),
            RowPart::Text,
            "the margin"
        );
        let last = Row {
            line: "  last line".into(),
            right: vec!["… +9 lines".into()],
            hides: 9,
            source: Source {
                of: crate::render::source::SourceText::Body(1),
                ..Source::line(4)
            },
            ..Row::default()
        };
        assert_eq!(row_part_at(&last, Some(5), 80, glyphs), RowPart::Text);
        assert_eq!(row_part_at(&last, Some(72), 80, glyphs), RowPart::Hidden);
        let lane = Row {
            line: format!("  {} reviewer", glyphs.closed).into(),
            ..Row::default()
        };
        assert_eq!(row_part_at(&lane, Some(2), 80, glyphs), RowPart::Closed);
        assert_eq!(row_part_at(&lane, Some(8), 80, glyphs), RowPart::Text);
        let head = Row {
            line: "bash  ls".into(),
            hides: 3,
            kind: RowKind::Head,
            ..Row::default()
        };
        assert_eq!(row_part_at(&head, Some(2), 80, glyphs), RowPart::Text);
    }
}
