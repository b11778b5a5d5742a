//! What actions do to the session that is shown.

use super::action::Action;
use super::apply;
use super::as_of;
use super::branch_folds;
use super::clipboard;
use super::clipboard::actions::focused_origins;
use super::effect::Effect;
use super::folding::{collapse, expand, fold_all, set_level, toggle_fold};
use super::inspector;
use super::moving::{follow, go_to_wanted, pair, same_id, scroll, seek_on, to_branch};
use super::palette;
use super::panes;
use super::reader::Reader;
use super::viewport::Motion;
use super::views;
use super::wrapping;
use crate::model::edit::Feed;
use crate::render::row::Level;

fn to_top(reader: &mut Reader) -> Vec<Effect> {
    reader.remember_place();
    let effects = apply::to_beginning(reader);
    scroll(reader, Motion::Top);
    effects
}

fn to_bottom(reader: &mut Reader) -> Vec<Effect> {
    reader.remember_place();
    follow(reader)
}

fn toggle_thinking(reader: &mut Reader) {
    reader.text.shows_thinking = !reader.text.shows_thinking;
    reader.look_changed();
}

fn edit(reader: &mut Reader) -> Option<Effect> {
    focused_origins(reader)?.first().copied().map(Effect::Edit)
}

/// Takes one message of the feed; goes to the entry that the reader asked for as soon as it has come.
pub fn take(reader: &mut Reader, feed: Feed) -> Vec<Effect> {
    let effects = apply::take(reader, feed);
    go_to_wanted(reader);
    effects
}

/// Carries out an action on the session so many times.
pub fn act(reader: &mut Reader, action: Action, times: usize) -> Vec<Effect> {
    let n = isize::try_from(times).unwrap_or(isize::MAX);
    match action {
        Action::Next => scroll(reader, Motion::Items(n)),
        Action::Previous => scroll(reader, Motion::Items(-n)),
        Action::LineDown => scroll(reader, Motion::Lines(n)),
        Action::LineUp => scroll(reader, Motion::Lines(-n)),
        // Even numbers of half pages are whole pages.
        Action::PageDown => scroll(reader, Motion::HalfPages(n.saturating_mul(2))),
        Action::PageUp => scroll(reader, Motion::HalfPages(n.saturating_mul(-2))),
        Action::HalfDown => (0..times.min(1_000)).for_each(|_| scroll(reader, Motion::HalfPages(1))),
        Action::HalfUp => (0..times.min(1_000)).for_each(|_| scroll(reader, Motion::HalfPages(-1))),
        Action::Top => return to_top(reader),
        Action::Bottom => return to_bottom(reader),
        Action::ToggleFollow if reader.text.view.follows() => scroll(reader, Motion::Pause),
        Action::ToggleFollow => return follow(reader),
        Action::Seek(kind, way) => (0..times.min(1_000)).for_each(|_| seek_on(reader, kind, way)),
        // As in other pagers: half down is `50%`.
        Action::Pair if times > 1 => palette::actions::go_down(reader, times.min(100) as u64, 100),
        Action::Pair => pair(reader),
        Action::Collapse => collapse(reader),
        Action::Expand => return expand(reader),
        Action::ToggleFold => toggle_fold(reader),
        Action::FoldBranch => branch_folds::toggle(reader),
        Action::Branch => to_branch(reader, times),
        Action::OpenAll => fold_all(reader, Level::Full),
        Action::CloseAll => fold_all(reader, Level::Outline),
        Action::LevelUp => set_level(reader, reader.text.level.number() + 1),
        Action::LevelDown => set_level(reader, reader.text.level.number() - 1),
        Action::Level(number) => set_level(reader, number),
        Action::ToggleThinking => toggle_thinking(reader),
        Action::ToggleAsOf => as_of::make::switch(reader, !reader.text.as_of.is_on),
        Action::ToggleTools => set_level(reader, if reader.text.level == Level::Preview { 4 } else { 3 }),
        Action::SameId(way) => (0..times.min(1_000)).for_each(|_| same_id(reader, way)),
        Action::Copy(what) => return clipboard::actions::copy(reader, what, times),
        Action::Raw => return focused_origins(reader).map(Effect::ShowRecords).into_iter().collect(),
        Action::Edit => return edit(reader).into_iter().collect(),
        Action::Inspect(tab) => inspector::actions::choose(reader, tab),
        Action::Panes(change) => panes::actions::change(reader, change, times),
        Action::ToggleWrap | Action::Sideways(_) | Action::ToggleGutter => {
            wrapping::actions::act(reader, action, times);
        }
        Action::View(view) => views::actions::open(reader, view),
        // Taken by the views.
        Action::Shift(_) | Action::Reverse => {
            reader.screen.say("this is for the views; 2 to 7 open them");
        }
        // Taken by the selection, or by the viewer, whatever session is shown.
        _ => {}
    }
    Vec::new()
}
