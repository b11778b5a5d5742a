//! Actions on the transcript pane.

use super::folding::{collapse, expand, fold_all, set_level, toggle_fold, unfold};
use super::folds::toggle_branch;
use super::jumps::{pair, same_id, scroll, seek};
use super::viewport::Motion;
use super::{TextPane, wrapping};
use crate::app::copying::clipboard;
use crate::app::effect::Effect;
use crate::app::input::action::Action;
use crate::app::scene::Scene;
use crate::render::row::Level;

pub(crate) fn act(text: &mut TextPane, scene: &mut Scene<'_>, action: Action) -> Vec<Effect> {
    if matches!(
        action,
        Action::Unfold | Action::Expand | Action::Collapse | Action::ToggleFold
    ) {
        text.auto_opened.release();
    }
    match action {
        Action::Next => scroll(text, Motion::Items(1)),
        Action::Previous => scroll(text, Motion::Items(-1)),
        Action::LineDown => scroll(text, Motion::Lines(1)),
        Action::LineUp => scroll(text, Motion::Lines(-1)),
        Action::PageDown => scroll(text, Motion::HalfPages(2)),
        Action::PageUp => scroll(text, Motion::HalfPages(-2)),
        Action::HalfDown => scroll(text, Motion::HalfPages(1)),
        Action::HalfUp => scroll(text, Motion::HalfPages(-1)),
        // The reader handles the other direction, since only part of the session may be read.
        Action::ToggleFollow => scroll(text, Motion::Pause),
        Action::Seek(kind, way) => seek(text, scene, kind, way),
        Action::Pair => pair(text, scene),
        Action::Collapse => collapse(text, scene),
        Action::Expand => return expand(text, scene),
        Action::Unfold => return unfold(text, scene),
        Action::ToggleFold => toggle_fold(text, scene),
        Action::FoldBranch => toggle_branch(text, scene),
        Action::OpenAll => fold_all(text, Level::Full),
        Action::CloseAll => fold_all(text, Level::Outline),
        Action::LevelUp => set_level(text, text.level.number() + 1),
        Action::LevelDown => set_level(text, text.level.number() - 1),
        Action::Level(number) => set_level(text, number),
        Action::ToggleTools => set_level(text, if text.level == Level::Preview { 4 } else { 3 }),
        Action::SameId(way) => same_id(text, scene, way),
        Action::Copy(what) => return clipboard::actions::copy(text, scene, what),
        Action::Sideways(way) => wrapping::actions::sideways(text, scene, way),
        // Views handle these.
        Action::Shift(_) | Action::Reverse => {
            scene.set_status("this is for the views; 2 to 7 open them");
        }
        // The selection or the viewer handles these.
        _ => {}
    }
    Vec::new()
}
