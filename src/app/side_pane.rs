//! What a pane beside the text is.

use crate::app::effect::Effect;
use crate::app::input::action::Action;
use crate::app::layout::Frame;
use crate::app::scene::Scene;
use crate::app::text::TextPane;
use crate::session::indexes::Needs;

/// A pane beside the text. It shows the session in its own way, and follows the reader's place in the text.
pub(crate) trait SidePane {
    /// What must be known of the session while it is in sight.
    fn needs(&self, frame: &Frame) -> Needs;

    /// Makes what is in sight of it. Says what must be read for it.
    fn arrange(&mut self, text: &mut TextPane, scene: &Scene<'_>, frame: &Frame) -> Vec<Effect>;

    /// Carries out an action so many times, if it is its own.
    fn act(
        &mut self,
        text: &mut TextPane,
        scene: &mut Scene<'_>,
        action: Action,
        times: usize,
    ) -> Option<Vec<Effect>>;
}
