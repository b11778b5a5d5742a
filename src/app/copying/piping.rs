//! Pipes the records of items to a shell command.

use tui_input::Input;

use super::clipboard::origins_of;
use crate::app::effect::Effect;
use crate::app::input::history::HistoryKind;
use crate::app::mode::Mode;
use crate::app::scene::{Ask, Scene};
use crate::app::text::TextPane;
use crate::app::text::viewport::Focus;
use crate::model::record::Origin;

/// Starts typing a command for the focused item.
pub fn begin(text: &TextPane, scene: &mut Scene<'_>) {
    if let Some(focus) = text.view.focus {
        open(scene, &[focus]);
    }
}

/// Starts typing a command for items.
pub fn open(scene: &mut Scene<'_>, items: &[Focus]) {
    let origins = origins_of(scene.session, items);
    if origins.is_empty() {
        return scene.set_status("nothing is focused");
    }
    scene.enter(Mode::Pipe {
        input: Input::default(),
        origins,
    });
}

/// Pipes the focused item to a command given with `:pipe`.
pub(crate) fn run_on_focus(text: &TextPane, scene: &mut Scene<'_>, command: &str) -> Vec<Effect> {
    let origins = text
        .view
        .focus
        .map(|focus| origins_of(scene.session, &[focus]))
        .unwrap_or_default();
    run(scene, command, origins)
}

/// Pipes records to a command, if it is not empty.
pub(crate) fn run(scene: &mut Scene<'_>, command: &str, origins: Vec<Origin>) -> Vec<Effect> {
    if command.is_empty() || origins.is_empty() {
        return Vec::new();
    }
    scene
        .requests
        .push(Ask::Keep(HistoryKind::Command, command.to_owned()));
    vec![Effect::Pipe {
        command: command.to_owned(),
        origins,
    }]
}
