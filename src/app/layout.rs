//! Layout of the screen: the areas of header, panes, status and hints.
//!
//! Invariant: painters and motions use only the rectangles from [`LayoutInput::divide`]. They do
//! not overlap, except for a pushed inspector, which covers the transcript.

use ratatui::layout::Rect;

use super::input::action::View;
use super::panes::{Pane, Panes};
use super::screen::Screen;

/// Least and greatest width of the lane gutter; it is wider than the least if the text has its full
/// width.
const LANES: (u16, u16) = (2, 4);
/// Columns around the lane gutter: the focus mark before it, a blank after it.
const MARK_AND_AIR: u16 = 2;
/// Columns after the text: a blank and the spine.
pub(crate) const RIGHT: u16 = 2;
/// Greatest width of the text: longer lines are hard to read, so the inspector gets the remaining
/// columns.
const TEXT_MOST: u16 = 100;
/// Width of the text from which the side panes get more than their least width.
const TEXT_GOOD: u16 = 88;
/// Least width of the transcript, however far the dividers are moved.
const TRANSCRIPT_LEAST: u16 = 28;
/// Least width of the screen at which the outline is shown by default.
const OUTLINE_FROM: u16 = 100;
/// Least width of the screen for the outline if the user turned it on.
pub(crate) const OUTLINE_LEAST_SCREEN: u16 = 60;
/// Least and greatest width of the outline with its divider.
const OUTLINE: (u16, u16) = (32, 48);
/// Least width of the screen at which the inspector is a pane; on narrower screens it covers the
/// transcript.
pub(crate) const INSPECTOR_FROM: u16 = 160;
/// Least width of the inspector with its divider.
const INSPECTOR: u16 = 44;
/// Least width of the inspector at which its tabs show their names.
const INSPECTOR_NAMED: u16 = 59;
/// Least height of the screen, in lines, with the bar of views; smaller screens need each line for
/// text.
const BAR_FROM: u16 = 20;
/// Least width of any pane.
const NARROWEST: u16 = 16;

/// The areas of the screen; a hidden one has no columns or no lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    pub header: Rect,
    /// The bar of views, below the header.
    pub bar: Rect,
    pub outline: Rect,
    /// The divider between outline and transcript.
    pub outline_divider: Rect,
    /// Numbers, focus mark, lane gutter, text and a blank column.
    pub transcript: Rect,
    /// Width of the numbers.
    pub numbers: u16,
    /// Width of the lane gutter.
    pub lanes: u16,
    /// The column right of the transcript.
    pub spine: Rect,
    /// The divider between transcript and inspector.
    pub inspector_divider: Rect,
    pub inspector: Rect,
    /// Whether the inspector covers transcript and spine.
    pub is_pushed: bool,
    /// The open view: it covers transcript, spine and pill, or is below all panes.
    pub view: Rect,
    /// Whether the view covers transcript, spine and pill.
    pub covers: bool,
    /// The pill under the transcript, which counts new entries below.
    pub pill: Rect,
    pub status: Rect,
    /// The line of hints.
    pub hints: Rect,
}

impl Frame {
    /// Width of the text, at least 1.
    pub fn text(&self) -> u16 {
        let beside = self.numbers + self.left() + RIGHT;
        (self.transcript.width + self.spine.width)
            .saturating_sub(beside)
            .max(1)
    }

    /// Columns between the numbers and the text: focus mark, lane gutter, blank.
    pub fn left(&self) -> u16 {
        self.lanes + MARK_AND_AIR
    }

    /// Height of the transcript.
    pub fn lines(&self) -> u16 {
        self.transcript.height
    }

    /// The visible panes, from left to right.
    pub fn panes(&self) -> impl Iterator<Item = Pane> {
        let outline = (self.outline.width > 0).then_some(Pane::Outline);
        let middle = if self.covers {
            Pane::View
        } else {
            Pane::Transcript
        };
        let middle = (!self.is_pushed).then_some(middle);
        let inspector = (self.inspector.width > 0).then_some(Pane::Inspector);
        let below = (self.view.width > 0 && !self.covers).then_some(Pane::View);
        [outline, middle, inspector, below].into_iter().flatten()
    }
}

/// Width of the lane gutter, out of the columns that text and gutters share.
fn width_of_lanes(input: &LayoutInput<'_>, columns: u16) -> u16 {
    if !input.margin.has_lanes {
        return 0;
    }
    let (least, most) = LANES;
    let spare = columns.saturating_sub(TEXT_MOST + least + MARK_AND_AIR + RIGHT);
    least + spare.min(most - least)
}

/// Default width of the outline: beside an inspector the remaining columns, otherwise a fifth of
/// the columns beyond [`OUTLINE_FROM`].
fn width_of_outline(input: &LayoutInput<'_>, columns: u16) -> u16 {
    let (least, most) = OUTLINE;
    let taken = least + INSPECTOR_NAMED + TEXT_GOOD + LANES.1 + MARK_AND_AIR + RIGHT;
    let spare = if has_inspector_beside(input, columns) {
        columns.saturating_sub(taken)
    } else {
        columns.saturating_sub(OUTLINE_FROM) / 5
    };
    (least + spare).min(most)
}

/// Whether the inspector is a pane of its own.
fn has_inspector_beside(input: &LayoutInput<'_>, columns: u16) -> bool {
    columns >= INSPECTOR_FROM && input.panes.wants_inspector != Some(false)
}

/// Splits the outline off. A view that covers the text takes its columns, unless the user turned
/// the outline on. The result does not depend on the session: the text must not be wrapped again
/// when a second turn begins.
fn split_outline(input: &LayoutInput<'_>, is_paging: bool, rest: &mut Rect) -> (Rect, Rect) {
    let is_shown = match input.panes.wants_outline {
        Some(is_wanted) => is_wanted && rest.width >= OUTLINE_LEAST_SCREEN,
        None => rest.width >= OUTLINE_FROM && !is_paging,
    };
    if !is_shown {
        return (Rect { width: 0, ..*rest }, Rect { width: 0, ..*rest });
    }
    let width = input
        .panes
        .outline_width
        .unwrap_or_else(|| width_of_outline(input, rest.width));
    let width = within(width, rest.width);
    let pane = Rect {
        width: width - 1,
        ..*rest
    };
    let divider = Rect {
        x: pane.right(),
        width: 1,
        ..*rest
    };
    rest.x += width;
    rest.width -= width;
    (pane, divider)
}

fn split_inspector(input: &LayoutInput<'_>, columns: u16, rest: &mut Rect) -> (Rect, Rect) {
    if !has_inspector_beside(input, columns) {
        let nowhere = Rect {
            x: rest.right(),
            width: 0,
            ..*rest
        };
        return (nowhere, nowhere);
    }
    let beside = |text: u16| {
        rest.width
            .saturating_sub(text + LANES.1 + MARK_AND_AIR + RIGHT)
    };
    let least = if beside(TEXT_GOOD) >= INSPECTOR_NAMED {
        INSPECTOR_NAMED
    } else {
        INSPECTOR
    };
    let width = within(
        input
            .panes
            .inspector_width
            .unwrap_or(beside(TEXT_MOST).max(least)),
        rest.width,
    );
    rest.width -= width;
    let divider = Rect {
        x: rest.right(),
        width: 1,
        ..*rest
    };
    (
        Rect {
            x: divider.right(),
            width: width - 1,
            ..*rest
        },
        divider,
    )
}

/// Clamps the width of a side pane, so that the transcript has its least width.
fn within(width: u16, columns: u16) -> u16 {
    width
        .min(columns.saturating_sub(TRANSCRIPT_LEAST))
        .max(NARROWEST)
}

fn from_top(rest: &mut Rect, is_shown: bool) -> Rect {
    let height = u16::from(is_shown).min(rest.height);
    let taken = Rect { height, ..*rest };
    rest.y += height;
    rest.height -= height;
    taken
}

fn from_bottom(rest: &mut Rect, is_shown: bool) -> Rect {
    lines_from_bottom(rest, u16::from(is_shown))
}

fn lines_from_bottom(rest: &mut Rect, lines: u16) -> Rect {
    let height = lines.min(rest.height);
    rest.height -= height;
    Rect {
        y: rest.bottom(),
        height,
        ..*rest
    }
}

pub(crate) struct LayoutInput<'a> {
    pub(crate) screen: &'a Screen,
    /// Requested panes, and their widths.
    pub(crate) panes: &'a Panes,
    pub(crate) view: Option<View>,
    /// Margins beside and below the text.
    pub(crate) margin: Margin,
}

/// Margins beside and below the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Margin {
    /// Width of the numbers.
    pub(crate) numbers: u16,
    /// Whether the lane gutter is shown.
    pub(crate) has_lanes: bool,
    /// Whether the pill is shown.
    pub(crate) has_pill: bool,
}

impl LayoutInput<'_> {
    /// Divides the screen. Small screens drop the bar of views, hints, status and header, in this
    /// order.
    pub(crate) fn divide(&self) -> Frame {
        let view = self.view;
        let (columns, lines) = self.screen.size;
        let (x, y) = self.screen.at;
        let mut rest = Rect {
            x,
            y,
            width: columns,
            height: lines,
        };
        let header = from_top(&mut rest, lines >= 3);
        let bar = from_top(&mut rest, self.screen.shows_bar && lines >= BAR_FROM);
        let hints = from_bottom(&mut rest, self.screen.shows_hints && lines >= 10);
        let status = from_bottom(&mut rest, lines >= 2);
        let below = lines_from_bottom(&mut rest, view.map_or(0, |view| view.lines_below(lines)));
        let covers = view.is_some() && below.height == 0;
        let (outline, outline_divider) = split_outline(self, covers, &mut rest);
        let (mut inspector, inspector_divider) = split_inspector(self, columns, &mut rest);
        let view = match view {
            Some(_) if covers => rest,
            Some(_) => below,
            None => Rect { width: 0, ..rest },
        };
        let pill = from_bottom(&mut rest, self.margin.has_pill && lines >= 6);
        let is_pushed = self.panes.is_pushed && columns < INSPECTOR_FROM;
        if is_pushed {
            inspector = Rect {
                height: rest.height + pill.height,
                ..rest
            };
        }
        let spine_width = rest.width.min(1);
        let transcript = Rect {
            width: rest.width - spine_width,
            ..rest
        };
        let spine = Rect {
            x: transcript.right(),
            width: spine_width,
            ..rest
        };
        let numbers = self.margin.numbers;
        let numbers = if transcript.width >= numbers + TRANSCRIPT_LEAST {
            numbers
        } else {
            0
        };
        Frame {
            header,
            bar,
            numbers,
            lanes: width_of_lanes(self, rest.width.saturating_sub(numbers)),
            outline,
            outline_divider,
            transcript,
            spine,
            inspector_divider,
            inspector,
            is_pushed,
            view,
            covers,
            pill,
            status,
            hints,
        }
    }

    /// The focused pane; a hidden pane cannot have the focus.
    pub(crate) fn focused(&self) -> Pane {
        pane_with_keys(&self.divide(), self.panes.focus)
    }
}

fn pane_with_keys(frame: &Frame, wanted: Pane) -> Pane {
    if frame.panes().any(|pane| pane == wanted) {
        wanted
    } else if frame.is_pushed {
        Pane::Inspector
    } else if frame.covers {
        Pane::View
    } else {
        Pane::Transcript
    }
}
