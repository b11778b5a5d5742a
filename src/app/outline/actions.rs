//! The outline as a pane: what it is made of before a frame, and what actions do to it.

use super::{Outline, Wanted};
use crate::app::effect::Effect;
use crate::app::input::action::{Action, Kind, Way};
use crate::app::layout::Frame;
use crate::app::panes::Pane;
use crate::app::scene::{Ask, Scene};
use crate::app::side_pane::SidePane;
use crate::app::text::TextPane;
use crate::session::indexes::Needs;

impl SidePane for Outline {
    fn needs(&self, frame: &Frame) -> Needs {
        let is_shown = frame.outline.width > 0;
        Needs { files: is_shown, findings: is_shown, ..Needs::default() }
    }

    fn arrange(&mut self, text: &mut TextPane, scene: &Scene<'_>, frame: &Frame) -> Vec<Effect> {
        if frame.outline.width == 0 {
            self.hide();
            return Vec::new();
        }
        self.bring_up_to_date(&Wanted {
            transcript: &scene.session.transcript,
            files: &scene.session.indexes.files,
            focused: text.view.focus.map(|focus| focus.entry),
            turn: text.focused_turn(scene.session),
            height: usize::from(frame.outline.height),
            has_keys: text.focused_pane(scene) == Pane::Outline,
            glyphs: scene.screen.theme.glyphs(),
            account: &scene.session.indexes.account,
            then: text.as_of.then(),
            checks: scene.checks,
        });
        Vec::new()
    }

    fn act(
        &mut self,
        _: &mut TextPane,
        scene: &mut Scene<'_>,
        action: Action,
        times: usize,
    ) -> Option<Vec<Effect>> {
        let times = isize::try_from(times).unwrap_or(isize::MAX);
        let page = isize::try_from(self.height()).unwrap_or(1).max(1);
        match action {
            Action::Next | Action::LineDown => self.step(times),
            Action::Previous | Action::LineUp => self.step(-times),
            Action::PageDown => self.step(page.saturating_mul(times)),
            Action::PageUp => self.step(page.saturating_mul(-times)),
            Action::HalfDown => self.step((page / 2).max(1).saturating_mul(times)),
            Action::HalfUp => self.step((page / 2).max(1).saturating_mul(-times)),
            Action::Top => self.step(isize::MIN / 2),
            Action::Bottom => self.step(isize::MAX / 2),
            Action::Seek(Kind::Prompt, way) => self.step_section(way == Way::Next),
            Action::Expand => match self.target(scene) {
                Some(focus) => scene.asks.extend([Ask::Focus(Pane::Transcript), Ask::Jump(focus)]),
                None => scene.say("this leads nowhere"),
            },
            _ => return None,
        }
        Some(Vec::new())
    }
}

/// Goes to what the row in a line of the pane names.
pub(crate) fn press(outline: &mut Outline, scene: &mut Scene<'_>, line: usize) {
    let target = outline.click(line, scene);
    scene.asks.extend(target.map(Ask::Jump));
}
