//! Actions on the panes: show and hide, move dividers, move the focus.

use super::{Pane, Panes, STEP};
use crate::app::input::action::{PaneChange, Way};
use crate::app::layout::{Frame, INSPECTOR_FROM, OUTLINE_LEAST_SCREEN};
use crate::app::screen::Screen;

impl Panes {
    /// Applies a change; `here` is the focused pane. Returns the pane whose divider was moved.
    pub(crate) fn change(
        &mut self,
        frame: &Frame,
        here: Pane,
        screen: &mut Screen,
        change: PaneChange,
    ) -> Option<Pane> {
        match change {
            PaneChange::Outline if screen.size.0 < OUTLINE_LEAST_SCREEN => {
                screen.set_status(format!(
                    "the outline has room from {OUTLINE_LEAST_SCREEN} columns on"
                ));
            }
            PaneChange::Outline => self.wants_outline = Some(frame.outline.width == 0),
            PaneChange::Inspector => self.show_inspector(screen, frame.inspector.width == 0),
            PaneChange::Focus(Way::Next) => self.cycle(frame, here, screen, 1),
            // Enough steps forward to wrap around to the previous pane.
            PaneChange::Focus(Way::Previous) => {
                let steps = frame.panes().count().saturating_sub(1);
                self.cycle(frame, here, screen, steps);
            }
            PaneChange::DividerLeft => {
                return self.move_divider(frame, here, screen, -i32::from(STEP));
            }
            PaneChange::DividerRight => {
                return self.move_divider(frame, here, screen, i32::from(STEP));
            }
        }
        None
    }

    /// Moves the focus back to the transcript.
    pub(crate) fn focus_transcript(&mut self, here: Pane) {
        self.is_pushed &= self.focus != Pane::Inspector && here != Pane::Inspector;
        self.focus = Pane::Transcript;
    }

    fn cycle(&mut self, frame: &Frame, here: Pane, screen: &mut Screen, by: usize) {
        let shown: Vec<Pane> = frame.panes().collect();
        let at = shown.iter().position(|pane| *pane == here).unwrap_or(0);
        let next = shown
            .get((at + by) % shown.len().max(1))
            .copied()
            .unwrap_or_default();
        if next == here {
            screen.set_status("nothing else is shown; i opens the inspector, I the outline");
        }
        self.focus = next;
    }

    /// Shows the inspector, beside the transcript or covering it on a narrow screen; or hides it.
    pub(crate) fn show_inspector(&mut self, screen: &Screen, is_shown: bool) {
        if screen.size.0 >= INSPECTOR_FROM {
            self.wants_inspector = Some(is_shown);
        } else {
            self.is_pushed = is_shown;
            self.focus = if is_shown {
                Pane::Inspector
            } else {
                Pane::Transcript
            };
        }
    }

    /// Moves the divider of the focused pane; for the transcript the one at its right, or without
    /// one the one at its left.
    fn move_divider(
        &mut self,
        frame: &Frame,
        here: Pane,
        screen: &mut Screen,
        by: i32,
    ) -> Option<Pane> {
        let is_inspector_beside = frame.inspector_divider.width > 0;
        match here {
            Pane::Inspector | Pane::Transcript | Pane::View if is_inspector_beside => {
                self.inspector_width = Some(moved(frame.inspector.width + 1, -by));
                Some(Pane::Inspector)
            }
            Pane::Outline | Pane::Transcript | Pane::View if frame.outline.width > 0 => {
                self.outline_width = Some(moved(frame.outline.width + 1, by));
                Some(Pane::Outline)
            }
            Pane::Outline | Pane::Transcript | Pane::View | Pane::Inspector => {
                screen.set_status("there is no divider to move");
                None
            }
        }
    }

    /// Moves the divider of a pane to a column of the screen, as dragging it does.
    pub(crate) fn drag_divider(&mut self, frame: &Frame, pane: Pane, column: u16) {
        match pane {
            Pane::Outline if frame.outline.width > 0 => {
                let by = i32::from(column) - i32::from(frame.outline_divider.x);
                self.outline_width = Some(moved(frame.outline.width + 1, by));
            }
            Pane::Inspector if frame.inspector_divider.width > 0 => {
                let by = i32::from(frame.inspector_divider.x) - i32::from(column);
                self.inspector_width = Some(moved(frame.inspector.width + 1, by));
            }
            Pane::Outline | Pane::Inspector | Pane::View | Pane::Transcript => {}
        }
    }

    /// Clamps the stored width of a pane to its width in the layout.
    pub(crate) fn fit(&mut self, frame: &Frame, pane: Pane) {
        match pane {
            Pane::Outline if frame.outline.width > 0 => {
                self.outline_width = Some(frame.outline.width + 1);
            }
            Pane::Inspector if frame.inspector.width > 0 => {
                self.inspector_width = Some(frame.inspector.width + 1);
            }
            Pane::Outline | Pane::Inspector | Pane::View | Pane::Transcript => {}
        }
    }
}

fn moved(width: u16, by: i32) -> u16 {
    u16::try_from((i32::from(width) + by).max(0)).unwrap_or(u16::MAX)
}
