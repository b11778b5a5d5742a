//! The mouse: which part of the screen a cell belongs to, and what a gesture there does.
//!
//! Invariant: [`part_at`] is pure, and knows places only from [`super::layout::divide`].

use ratatui::layout::{Position, Rect};

use super::action::{Action, Way};
use super::effect::Effect;
use super::folding;
use super::inspector;
use super::layout::{Frame, divide};
use super::mode::Mode;
use super::moving::jump;
use super::palette;
use super::panes::{Pane, drag_divider};
use super::reader::Reader;
use super::state::App;
use super::update::{act, scroll_pop_up};
use super::viewport::{Mark, Motion, Selection, focus_of, mark_of};
use super::views;
use crate::render::glyphs::Glyphs;
use crate::render::row::{Row, RowKind};
use crate::render::source::Of;
use crate::render::wrap;

/// Lines that the wheel scrolls by.
const WHEEL: isize = 3;

/// Something that the mouse did at a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// What.
    pub gesture: Gesture,
    /// Column of the screen, from 0.
    pub column: u16,
    /// Line of the screen, from 0.
    pub line: u16,
}

/// What the mouse did; buttons are the left one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gesture {
    /// The button went down.
    Press,
    /// It went down again at the same place, soon after.
    Double,
    /// It moved while the button was down.
    Drag,
    /// The button went up.
    Release,
    /// The wheel turned towards the beginning.
    WheelUp,
    /// The wheel turned towards the end.
    WheelDown,
}

/// The mouse.
#[derive(Debug, Default)]
pub struct Mouse {
    /// Whether the terminal tells of it.
    pub is_on: bool,
    /// What it drags.
    pub dragged: Option<Dragged>,
}

/// What is being dragged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dragged {
    /// The divider of a pane.
    Divider(Pane),
    /// Rows are selected from this one on.
    Rows(Mark),
}

/// A part of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A line of the outline, from 0.
    Outline(usize),
    /// The divider of a pane.
    Divider(Pane),
    /// A line of the transcript, and the column within it.
    Text(usize, u16),
    /// A line of the spine.
    Spine(u16),
    /// The inspector.
    Inspector,
    /// A line of the page of a view.
    View(usize),
    /// What arrived below.
    Pill,
    /// Anything else.
    Other,
}

/// The part of the screen that a cell belongs to.
pub fn part_at(frame: &Frame, column: u16, line: u16) -> Part {
    let at = Position { x: column, y: line };
    let is_in = |area: Rect| area.contains(at);
    let below = |area: Rect| usize::from(line.saturating_sub(area.y));
    // It may lie over the others.
    if is_in(frame.inspector) {
        Part::Inspector
    } else if is_in(frame.outline_divider) {
        Part::Divider(Pane::Outline)
    } else if is_in(frame.inspector_divider) {
        Part::Divider(Pane::Inspector)
    } else if is_in(frame.view) {
        Part::View(below(frame.view))
    } else if is_in(frame.outline) {
        Part::Outline(below(frame.outline))
    } else if is_in(frame.transcript) {
        Part::Text(below(frame.transcript), column - frame.transcript.x)
    } else if is_in(frame.spine) {
        Part::Spine(line - frame.spine.y)
    } else if is_in(frame.pill) {
        Part::Pill
    } else {
        Part::Other
    }
}

/// Turns the mouse on or off.
pub fn switch(app: &mut App, is_on: bool) -> Vec<Effect> {
    app.mouse.is_on = is_on;
    app.mouse.dragged = None;
    app.reader.screen.say(if is_on {
        "mouse on; with shift the terminal selects text as usual"
    } else {
        "mouse off"
    });
    vec![Effect::Mouse(is_on)]
}

/// Carries out what the mouse did.
pub fn take(app: &mut App, pointer: Pointer) -> Vec<Effect> {
    if !app.mouse.is_on {
        return Vec::new();
    }
    let wheel = match pointer.gesture {
        Gesture::WheelUp => Some(-WHEEL),
        Gesture::WheelDown => Some(WHEEL),
        Gesture::Press | Gesture::Double | Gesture::Drag | Gesture::Release => None,
    };
    match (&app.mode, wheel) {
        (Mode::Help { .. } | Mode::Raw(_), Some(by)) => scroll_pop_up(app, by),
        (Mode::Picker | Mode::Palette(_), Some(by)) => scroll_pop_up(app, by.signum()),
        (_, Some(by)) => return turn_wheel(&mut app.reader, pointer, by),
        (Mode::Normal, None) => return touch(app, pointer),
        (_, None) => {}
    }
    Vec::new()
}

fn turn_wheel(reader: &mut Reader, pointer: Pointer, by: isize) -> Vec<Effect> {
    match part_at(&divide(reader), pointer.column, pointer.line) {
        Part::Outline(_) => {
            let way = if by < 0 { Way::Previous } else { Way::Next };
            super::moving::seek_on(reader, super::action::Kind::Prompt, way);
        }
        Part::Inspector => {
            let action = if by < 0 { Action::LineUp } else { Action::LineDown };
            return inspector::act(reader, action, by.unsigned_abs()).unwrap_or_default();
        }
        Part::View(_) => {
            let action = if by < 0 { Action::LineUp } else { Action::LineDown };
            return views::act(reader, action, by.unsigned_abs()).unwrap_or_default();
        }
        _ => reader.text.view.ask(Motion::Lines(by)),
    }
    Vec::new()
}

fn touch(app: &mut App, pointer: Pointer) -> Vec<Effect> {
    let frame = divide(&app.reader);
    let part = part_at(&frame, pointer.column, pointer.line);
    match (pointer.gesture, app.mouse.dragged) {
        (Gesture::Release, _) => app.mouse.dragged = None,
        (Gesture::Drag, Some(Dragged::Divider(pane))) => drag_divider(&mut app.reader, pane, pointer.column),
        (Gesture::Drag, Some(Dragged::Rows(anchor))) => {
            select_to(&mut app.reader, anchor, &frame, pointer.line);
        }
        (Gesture::Press | Gesture::Double, _) => return press(app, &frame, part, pointer.gesture),
        (Gesture::Drag | Gesture::WheelUp | Gesture::WheelDown, _) => {}
    }
    Vec::new()
}

fn press(app: &mut App, frame: &Frame, part: Part, gesture: Gesture) -> Vec<Effect> {
    app.mouse.dragged = None;
    match part {
        Part::Divider(pane) => app.mouse.dragged = Some(Dragged::Divider(pane)),
        Part::Outline(line) => to_outline_row(&mut app.reader, line),
        Part::Spine(line) => {
            app.reader.panes.focus = Pane::Transcript;
            let last = frame.spine.height.saturating_sub(1).max(1);
            palette::go_down(&mut app.reader, u64::from(line), u64::from(last));
        }
        Part::Inspector => app.reader.panes.focus = Pane::Inspector,
        Part::View(line) => views::press(&mut app.reader, line, gesture == Gesture::Double),
        Part::Pill => return act(app, Action::Bottom, 1),
        Part::Text(line, column) => return press_row(app, frame, (line, column), gesture),
        Part::Other => {}
    }
    Vec::new()
}

/// A row of the transcript: its item gets the focus; marks of what is folded away open.
fn press_row(app: &mut App, frame: &Frame, (line, column): (usize, u16), gesture: Gesture) -> Vec<Effect> {
    app.reader.panes.focus = Pane::Transcript;
    let Some(shown) = app.reader.text.view.lines.get(line) else { return Vec::new() };
    let (Some(focus), Some(mark), Some(row)) = (focus_of(shown), mark_of(shown), shown.row()) else {
        return Vec::new();
    };
    let within = column.checked_sub(frame.numbers + frame.left());
    let touched = touched(row, within, frame.text(), app.reader.screen.theme.glyphs());
    let was_selecting = app.reader.text.view.selection.take().is_some();
    app.mouse.dragged = Some(Dragged::Rows(mark));
    app.reader.text.view.focus = Some(focus);
    app.reader.text.view.ask(Motion::Pause);
    match touched {
        _ if gesture == Gesture::Double => return act(app, Action::Expand, 1),
        // The click that ends a selection does nothing else.
        _ if was_selecting => {}
        Touched::Hidden => folding::open(&mut app.reader, focus),
        Touched::Closed => return act(app, Action::Expand, 1),
        Touched::Open => return act(app, Action::Collapse, 1),
        Touched::Text => {}
    }
    Vec::new()
}

/// What of a row was touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Touched {
    /// `… +212 lines`
    Hidden,
    /// The sign of something that is folded.
    Closed,
    /// The sign of something that can be folded.
    Open,
    /// Something else.
    Text,
}

/// `within` counts from the left edge of the text, `width` is that of the text.
fn touched(row: &Row, within: Option<u16>, width: u16, glyphs: &Glyphs) -> Touched {
    let Some(within) = within else { return Touched::Text };
    let right = u16::try_from(wrap::width_of(&row.right)).unwrap_or(u16::MAX);
    let is_mark = row.source.of == Of::Nothing;
    if row.hides > 0 && row.kind == RowKind::Body && (is_mark || within >= width.saturating_sub(right)) {
        return Touched::Hidden;
    }
    let text: String = row.line.spans.iter().map(|span| span.content.as_ref()).collect();
    let words = text.trim_start_matches(' ');
    let indent = u16::try_from(text.len() - words.len()).unwrap_or(u16::MAX);
    let is_at_sign = is_mark && (indent..indent.saturating_add(2)).contains(&within);
    match () {
        () if is_at_sign && words.starts_with(glyphs.closed) => Touched::Closed,
        () if is_at_sign && words.starts_with(glyphs.open) => Touched::Open,
        () => Touched::Text,
    }
}

/// Selects the rows from one to that of a line of the screen; beyond the window it scrolls.
fn select_to(reader: &mut Reader, anchor: Mark, frame: &Frame, line: u16) {
    let area = frame.transcript;
    if line < area.y {
        reader.text.view.ask(Motion::Lines(-1));
    } else if line >= area.bottom() {
        reader.text.view.ask(Motion::Lines(1));
    }
    let within = usize::from(line.saturating_sub(area.y)).min(reader.text.view.lines.len().saturating_sub(1));
    let Some(cursor) = reader.text.view.lines.get(within).and_then(mark_of) else { return };
    if reader.text.view.selection.is_some() || cursor != anchor {
        reader.text.view.selection = Some(Selection { anchor, cursor });
        reader.text.view.ask(Motion::Select);
    }
}

fn to_outline_row(reader: &mut Reader, line: usize) {
    if let Some(focus) =
        reader.outline.click(line, &reader.session.transcript, &reader.session.indexes.files, &reader.checks)
    {
        jump(reader, focus);
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, Touched, part_at, touched};
    use crate::app::layout::Frame;
    use crate::app::panes::Pane;
    use crate::render::glyphs::Glyphs;
    use crate::render::row::{Row, RowKind};
    use crate::render::source::Source;
    use ratatui::layout::Rect;

    fn rect(x: u16, y: u16, width: u16, height: u16) -> Rect {
        Rect { x, y, width, height }
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
            (0, 0, Part::Other),
            (0, 1, Part::Outline(0)),
            (30, 36, Part::Outline(35)),
            (31, 5, Part::Divider(Pane::Outline)),
            (32, 1, Part::Text(0, 0)),
            (118, 35, Part::Text(34, 86)),
            (119, 3, Part::Spine(2)),
            (50, 36, Part::Pill),
            (50, 38, Part::Other),
            (500, 500, Part::Other),
        ] {
            assert_eq!(part_at(&frame, column, line), part, "{column}, {line}");
        }
        let pushed = Frame { inspector: rect(32, 1, 88, 35), is_pushed: true, ..frame };
        assert_eq!(part_at(&pushed, 40, 5), Part::Inspector);
    }

    #[test]
    fn marks_are_told_from_text() {
        let glyphs = &Glyphs::UNICODE;
        let hidden = Row { line: "  … +212 lines".into(), hides: 212, ..Row::default() };
        assert_eq!(touched(&hidden, Some(6), 80, glyphs), Touched::Hidden);
        assert_eq!(touched(&hidden, None, 80, glyphs), Touched::Text, "the margin");
        let last = Row {
            line: "  last line".into(),
            right: vec!["… +9 lines".into()],
            hides: 9,
            source: Source { of: crate::render::source::Of::Body(1), ..Source::line(4) },
            ..Row::default()
        };
        assert_eq!(touched(&last, Some(5), 80, glyphs), Touched::Text);
        assert_eq!(touched(&last, Some(72), 80, glyphs), Touched::Hidden);
        let lane = Row { line: format!("  {} reviewer", glyphs.closed).into(), ..Row::default() };
        assert_eq!(touched(&lane, Some(2), 80, glyphs), Touched::Closed);
        assert_eq!(touched(&lane, Some(8), 80, glyphs), Touched::Text);
        let head = Row { line: "bash  ls".into(), hides: 3, kind: RowKind::Head, ..Row::default() };
        assert_eq!(touched(&head, Some(2), 80, glyphs), Touched::Text);
    }
}
