//! The outline as a side pane: layout and actions.

use super::{Outline, OutlineInput};
use crate::app::effect::Effect;
use crate::app::input::action::{Action, LandmarkKind, Way};
use crate::app::layout::Frame;
use crate::app::panes::Pane;
use crate::app::scene::{Ask, Scene};
use crate::app::side_pane::SidePane;
use crate::app::text::TextPane;
use crate::session::indexes::Needs;

impl SidePane for Outline {
    fn needs(&self, frame: &Frame) -> Needs {
        let is_shown = frame.outline.width > 0;
        Needs {
            files: is_shown,
            findings: is_shown,
            ..Needs::default()
        }
    }

    fn arrange(&mut self, text: &mut TextPane, scene: &Scene<'_>, frame: &Frame) -> Vec<Effect> {
        if frame.outline.width == 0 {
            self.hide();
            return Vec::new();
        }
        self.update_rows(&OutlineInput {
            transcript: &scene.session.transcript,
            files: &scene.session.indexes.files,
            running: &scene.session.status.running,
            now: scene.screen.now,
            focused: text.view.focus.map(|focus| focus.entry),
            turn: text.focused_turn(scene.session),
            height: usize::from(frame.outline.height),
            has_keys: text.focused_pane(scene) == Pane::Outline,
            glyphs: scene.screen.theme.glyphs(),
            account: &scene.session.indexes.account,
            then: text.as_of.totals(),
            checks: scene.checks,
            goes_on_ms: scene.session.busy_ms(scene.screen.now),
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
        if let Some(by) = action.steps(self.height(), times) {
            self.step(by);
            return Some(Vec::new());
        }
        match action {
            Action::Seek(LandmarkKind::Prompt, way) => self.step_section(way == Way::Next),
            Action::Expand => match self.target(scene) {
                Some(focus) => scene
                    .requests
                    .extend([Ask::Focus(Pane::Transcript), Ask::Jump(focus)]),
                None => scene.set_status("this leads nowhere"),
            },
            _ => return None,
        }
        Some(Vec::new())
    }
}

/// Jumps to the item of the row in a line of the pane.
pub(crate) fn press(outline: &mut Outline, scene: &mut Scene<'_>, line: usize) {
    let target = outline.click(line, scene);
    scene.requests.extend(target.map(Ask::Jump));
}
