//! Actions on the transcript pane.

use super::folding::{collapse, expand, fold_all, set_level, toggle_fold, unfold};
use super::folds::toggle_branch;
use super::goto::go_down;
use super::jumps::{pair, same_id, scroll, seek_on, to_branch};
use super::viewport::Motion;
use super::{TextPane, wrapping};
use crate::app::copying::clipboard;
use crate::app::effect::Effect;
use crate::app::input::action::Action;
use crate::app::scene::Scene;
use crate::render::row::Level;

/// Carries out an action `times` times.
pub(crate) fn act(
    text: &mut TextPane,
    scene: &mut Scene<'_>,
    action: Action,
    times: usize,
) -> Vec<Effect> {
    let n = isize::try_from(times).unwrap_or(isize::MAX);
    if matches!(
        action,
        Action::Unfold | Action::Expand | Action::Collapse | Action::ToggleFold
    ) {
        text.auto_opened.release();
    }
    match action {
        Action::Next => scroll(text, Motion::Items(n)),
        Action::Previous => scroll(text, Motion::Items(-n)),
        Action::LineDown => scroll(text, Motion::Lines(n)),
        Action::LineUp => scroll(text, Motion::Lines(-n)),
        // Even numbers of half pages are whole pages.
        Action::PageDown => scroll(text, Motion::HalfPages(n.saturating_mul(2))),
        Action::PageUp => scroll(text, Motion::HalfPages(n.saturating_mul(-2))),
        Action::HalfDown => (0..times.min(1_000)).for_each(|_| scroll(text, Motion::HalfPages(1))),
        Action::HalfUp => (0..times.min(1_000)).for_each(|_| scroll(text, Motion::HalfPages(-1))),
        // The reader handles the other direction, since only a part of the session may be read.
        Action::ToggleFollow => scroll(text, Motion::Pause),
        Action::Seek(kind, way) => {
            (0..times.min(1_000)).for_each(|_| seek_on(text, scene, kind, way));
        }
        // As in other pagers, `50%` goes half way down.
        Action::Pair if times > 1 => go_down(text, scene, times.min(100) as u64, 100),
        Action::Pair => pair(text, scene),
        Action::Collapse => collapse(text, scene),
        Action::Expand => return expand(text, scene),
        Action::Unfold => return unfold(text, scene),
        Action::ToggleFold => toggle_fold(text, scene),
        Action::FoldBranch => toggle_branch(text, scene),
        Action::Branch => to_branch(text, scene, times),
        Action::OpenAll => fold_all(text, Level::Full),
        Action::CloseAll => fold_all(text, Level::Outline),
        Action::LevelUp => set_level(text, text.level.number() + 1),
        Action::LevelDown => set_level(text, text.level.number() - 1),
        Action::Level(number) => set_level(text, number),
        Action::ToggleTools => set_level(text, if text.level == Level::Preview { 4 } else { 3 }),
        Action::SameId(way) => (0..times.min(1_000)).for_each(|_| same_id(text, scene, way)),
        Action::Copy(what) => return clipboard::actions::copy(text, scene, what, times),
        Action::Sideways(way) => wrapping::actions::sideways(text, scene, way, times),
        // Views handle these.
        Action::Shift(_) | Action::Reverse => scene.say("this is for the views; 2 to 7 open them"),
        // The selection or the viewer handles these.
        _ => {}
    }
    Vec::new()
}
