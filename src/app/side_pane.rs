//! The trait of the panes beside the text: outline, views, inspector.

use crate::app::effect::Effect;
use crate::app::input::action::Action;
use crate::app::layout::Frame;
use crate::app::scene::Scene;
use crate::app::text::TextPane;
use crate::session::indexes::Needs;

/// A pane beside the text, which follows the focus of the text.
pub(crate) trait SidePane {
    /// The indexes that the pane needs while it is shown.
    fn needs(&self, frame: &Frame) -> Needs;

    /// Lays out the visible rows. Returns effects that read missing bodies.
    fn arrange(&mut self, text: &mut TextPane, scene: &Scene<'_>, frame: &Frame) -> Vec<Effect>;

    /// Runs an action `times` times; `None` if the pane does not handle it.
    fn act(
        &mut self,
        text: &mut TextPane,
        scene: &mut Scene<'_>,
        action: Action,
        times: usize,
    ) -> Option<Vec<Effect>>;
}
