//! The pages that list sessions: picker, wall and ledger. Each is written out as a [`Sheet`](super::views::page::Sheet), as
//! the views of a session are; here is how much room it has, and what they say of a session alike.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::screen::Screen;
use super::views::page::{Sheet, SheetRow};
use crate::analysis::wall::{Said, Voice};
use crate::render::markdown::{self, MarkdownMode};
use crate::render::row::Look;
use crate::render::theme::Theme;
use crate::render::wrap::{self, Frame};

/// Lower screens have no line of hints, and still lower ones no heads of columns.
const HINTED: u16 = 10;
const HEADED: usize = 6;
/// Screens from this height on have room for a preview below the rows.
const TALL: usize = 26;
/// Columns of a page that no row has: the mark of the chosen one, and a column of air at each side.
const AIR: usize = 3;
/// Lines of each thing that was said, at most.
const MOST: usize = 80;

/// What a page has of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Columns.
    pub width: u16,
    /// Lines, the title included.
    pub height: u16,
    /// Whether there is a status line below it.
    pub has_status: bool,
    /// Whether there is a line of hints below that.
    pub has_hints: bool,
}

/// Where the preview is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PreviewPane {
    /// Nowhere.
    Hidden,
    /// Right of the rows, with so many columns.
    Beside(u16),
    /// Below them, with so many lines.
    Below(usize),
}

impl Room {
    /// Of this screen.
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

    /// Where the preview is: beside the rows on screens from this width on.
    pub(crate) fn preview(self, wide: u16) -> PreviewPane {
        let inner = self.lines();
        if self.width >= wide {
            PreviewPane::Beside(self.width * 2 / 5)
        } else if inner >= TALL {
            PreviewPane::Below(inner * 2 / 5)
        } else {
            PreviewPane::Hidden
        }
    }

    /// Lines below the title.
    pub(crate) fn lines(self) -> usize {
        usize::from(self.height.saturating_sub(1))
    }

    /// Whether there is room for the heads of columns.
    pub(crate) fn has_heads(self) -> bool {
        self.lines() >= HEADED
    }

    /// Columns of rows, beside a preview of so many.
    pub(crate) fn columns(self, side: u16) -> usize {
        usize::from(self.width.saturating_sub(side))
            .saturating_sub(AIR)
            .max(1)
    }
}

/// Why a preview that is wanted is not there, beside rows on screens from this width on.
pub(crate) fn no_room(wide: u16) -> String {
    format!("a preview needs {wide} columns or {} lines", TALL + 3)
}

impl Sheet {
    /// Why there is no row, in lines of so many columns.
    pub(crate) fn say_why(&mut self, why: &str, theme: &Theme, columns: usize) {
        let lines = std::iter::once(Line::default()).chain(lines_of(
            why,
            theme.text,
            (columns, usize::MAX),
        ));
        let row = |line| SheetRow {
            line,
            ..SheetRow::default()
        };
        self.rows = lines.map(row).collect();
    }

    /// Puts the lines of a preview where it is, cut to what has room there.
    pub(crate) fn with_preview(
        mut self,
        pane: PreviewPane,
        room: Room,
        write: impl FnOnce(usize, usize) -> Vec<Line<'static>>,
    ) -> Self {
        match pane {
            PreviewPane::Hidden => {}
            PreviewPane::Beside(width) => {
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

/// A text as lines of this width, at most so many.
pub(crate) fn lines_of(
    text: &str,
    style: Style,
    (width, most): (usize, usize),
) -> Vec<Line<'static>> {
    let measure = Frame::of(width.max(1));
    let mut lines = Vec::new();
    for line in text.lines() {
        if lines.len() >= most {
            break;
        }
        let head = wrap::head(line, width.saturating_mul(most).saturating_mul(4));
        let line = head.replace('\t', "    ");
        lines.extend(wrap::wrap(&[Span::styled(line, style)], &measure));
    }
    lines.truncate(most);
    lines
}

/// The last things that were said and done in a session, as lines.
pub(crate) fn end_of(screen: &Screen, last: &[Said], width: usize) -> Vec<Line<'static>> {
    let theme = &screen.theme;
    let mut lines: Vec<Line<'static>> = Vec::new();
    let measure = Frame::hanging(width.max(4), 2);
    for Said { voice, text } in last {
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

/// The sign of who said something, its style, and that of the text.
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
