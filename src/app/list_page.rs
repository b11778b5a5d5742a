//! Layout that the pages of sessions share: picker, wall and ledger. Each is written as a
//! [`Sheet`](super::views::page::Sheet), like the views of a session; this module computes the
//! space of a page, and writes the lines that they have in common.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::screen::Screen;
use super::views::page::{Sheet, SheetRow};
use crate::analysis::wall::{LastWords, Voice};
use crate::render::markdown::{self, MarkdownMode};
use crate::render::row::Look;
use crate::render::theme::Theme;
use crate::render::wrap::{self, LineFrame};

/// Least height in lines with a line of hints, and with headings of columns.
const HINTED: u16 = 10;
const HEADED: usize = 6;
/// Least height in lines with a preview below the rows.
const TALL: usize = 26;
/// Columns that no row uses: the mark of the chosen row, and a blank column at each side.
const AIR: usize = 3;
/// Limit of the lines of one message in a preview.
const MOST: usize = 80;

/// Space of a page on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Width in columns.
    pub width: u16,
    /// Height in lines, including the title.
    pub height: u16,
    /// Whether a status line is below.
    pub has_status: bool,
    /// Whether a line of hints is below the status line.
    pub has_hints: bool,
}

/// Position of the preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PreviewPane {
    Hidden,
    /// Right of the rows, with this width in columns.
    Right(u16),
    /// Below the rows, with this height in lines.
    Below(usize),
}

impl Room {
    /// The space of a page on this screen.
    pub fn of(screen: &Screen) -> Self {
        let (width, lines) = screen.size;
        let has_status = lines >= 2;
        let has_hints = screen.shows_hints && lines >= HINTED;
        Self {
            width,
            height: lines - u16::from(has_status) - u16::from(has_hints),
            has_status,
            has_hints,
        }
    }

    /// Position of the preview: beside the rows if the page has at least `wide` columns.
    pub(crate) fn preview(self, wide: u16, is_hidden: bool) -> PreviewPane {
        let inner = self.lines();
        if is_hidden {
            PreviewPane::Hidden
        } else if self.width >= wide {
            PreviewPane::Right(self.width * 2 / 5)
        } else if inner >= TALL {
            PreviewPane::Below(inner * 2 / 5)
        } else {
            PreviewPane::Hidden
        }
    }

    /// Number of lines below the title.
    pub(crate) fn lines(self) -> usize {
        usize::from(self.height.saturating_sub(1))
    }

    /// Whether there is room for headings of columns.
    pub(crate) fn has_heads(self) -> bool {
        self.lines() >= HEADED
    }

    /// Width of the rows in columns, beside a preview of width `side`.
    pub(crate) fn columns(self, side: u16) -> usize {
        usize::from(self.width.saturating_sub(side))
            .saturating_sub(AIR)
            .max(1)
    }
}

impl PreviewPane {
    /// The columns that it takes from the rows, and the lines with its rule.
    pub(crate) fn size(self) -> (u16, usize) {
        match self {
            Self::Hidden => (0, 0),
            Self::Right(width) => (width, 0),
            Self::Below(lines) => (0, lines + 1),
        }
    }
}

/// Shows or hides a preview that needs `wide` columns; a message if there is no room for it.
pub(crate) fn toggle_preview(hides: &mut bool, wide: u16, screen: &mut Screen) {
    *hides = !*hides;
    if !*hides && Room::of(screen).preview(wide, false) == PreviewPane::Hidden {
        screen.set_status(format!(
            "a preview needs {wide} columns or {} lines",
            TALL + 3
        ));
    }
}

impl Sheet {
    /// Replaces the rows by a message why there are none, wrapped to `columns`.
    pub(crate) fn show_message(&mut self, why: &str, theme: &Theme, columns: usize) {
        let lines = std::iter::once(Line::default()).chain(lines_of(
            why,
            theme.text,
            theme.glyphs().cut,
            (columns, usize::MAX),
        ));
        let row = |line| SheetRow {
            line,
            ..SheetRow::default()
        };
        self.rows = lines.map(row).collect();
    }

    /// Adds a preview at its position, cut to the available space.
    pub(crate) fn with_preview(
        mut self,
        pane: PreviewPane,
        room: Room,
        write: impl FnOnce(usize, usize) -> Vec<Line<'static>>,
    ) -> Self {
        match pane {
            PreviewPane::Hidden => {}
            PreviewPane::Right(width) => {
                let columns = usize::from(width).saturating_sub(AIR);
                self.side = Some((width, write(columns, room.lines())));
            }
            PreviewPane::Below(lines) => {
                let mut foot = write(room.columns(0), lines);
                foot.resize(lines, Line::default());
                self.foot = foot;
            }
        }
        self
    }
}

/// Wraps a text, to at most `most` lines; the last one ends with `cut` if there is more.
pub(crate) fn lines_of(
    text: &str,
    style: Style,
    cut: &'static str,
    (width, most): (usize, usize),
) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for line in text.lines() {
        if lines.len() >= most {
            break;
        }
        let measure = LineFrame {
            limit: most - lines.len(),
            cut,
            ..LineFrame::of(width.max(1))
        };
        let head = wrap::head(line, width.saturating_mul(most).saturating_mul(4));
        let line = head.replace('\t', "    ");
        lines.extend(wrap::wrap(&[Span::styled(line, style)], &measure));
    }
    lines
}

/// The last messages and calls of a session, as lines.
pub(crate) fn end_of(screen: &Screen, last: &[LastWords], width: usize) -> Vec<Line<'static>> {
    let theme = &screen.theme;
    let mut lines: Vec<Line<'static>> = Vec::new();
    let measure = LineFrame::hanging(width.max(4), 2);
    for LastWords { voice, text } in last {
        let (sign, sign_style, style) = sign_of(*voice, theme);
        let mut sign = Some(Span::styled(format!("{sign} "), sign_style));
        let mode = match voice {
            Voice::Agent => Some(MarkdownMode::Prose),
            Voice::User => Some(MarkdownMode::Typed),
            Voice::Done
            | Voice::Unrecorded
            | Voice::Failed
            | Voice::Refused
            | Voice::Stopped
            | Voice::Open
            | Voice::Note => None,
        };
        if let Some(mode) = mode {
            let columns = u16::try_from(width).unwrap_or(u16::MAX);
            let look = Look::full(columns, theme, &screen.colours);
            for row in markdown::rows(text, mode, width.saturating_sub(2).max(1), MOST, &look) {
                let front = sign.take().unwrap_or_else(|| Span::raw("  "));
                let own = row.line.spans.into_iter();
                let own =
                    own.map(|span| Span::styled(span.content, row.line.style.patch(span.style)));
                lines.push(std::iter::once(front).chain(own).collect());
            }
            continue;
        }
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let line = line.replace('\t', "    ");
            let front = sign.take().unwrap_or_else(|| Span::raw("  "));
            lines.extend(wrap::wrap(&[front, Span::styled(line, style)], &measure));
        }
    }
    lines
}

/// The sign of a voice, its style, and the style of the text.
fn sign_of(voice: Voice, theme: &Theme) -> (&'static str, Style, Style) {
    let outcome = theme.glyphs().outcome;
    let of = |ascii, unicode| if theme.ascii { ascii } else { unicode };
    match voice {
        Voice::User => (of(">", "❯"), theme.voice.user, theme.text),
        Voice::Agent => (of("*", "●"), theme.voice.assistant, theme.text),
        Voice::Done => (of("+", "✓"), theme.good, theme.tool),
        Voice::Unrecorded => (outcome.lost, theme.dim, theme.tool),
        Voice::Failed => (of("x", "✗"), theme.bad, theme.tool),
        Voice::Refused => (outcome.refused, theme.warn, theme.tool),
        Voice::Stopped => (outcome.lost, theme.warn, theme.tool),
        Voice::Open => (of("~", "◌"), theme.warn, theme.tool),
        Voice::Note => ("!", theme.warn, theme.dim),
    }
}
