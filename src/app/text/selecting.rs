//! Actions on selected rows. A copy has the text of the session, not that of the screen.

use super::viewport::{Focus, Motion, RowRef};
use crate::app::copying::clipboard::actions::items_between;
use crate::app::copying::clipboard::{self, CopyFormat, CopyItem};
use crate::app::copying::piping;
use crate::app::effect::Effect;
use crate::app::input::action::{Action, CopyTarget};
use crate::app::panes::Pane;
use crate::app::scene::Scene;
use crate::app::text::TextPane;

/// Runs an action on the selection. `None` passes it to the transcript, where motions extend the
/// selection.
pub fn act(text: &mut TextPane, scene: &mut Scene<'_>, action: Action) -> Option<Vec<Effect>> {
    if text.focused_pane(scene) != Pane::Transcript {
        if action == Action::Select {
            scene.set_status("rows are selected in the transcript; tab or esc leads there");
            return Some(Vec::new());
        }
        return None;
    }
    let Some(selection) = text.view.selection else {
        if action == Action::Select {
            text.view.push_motion(Motion::Pause);
            text.view.push_motion(Motion::Select);
            return Some(Vec::new());
        }
        return None;
    };
    match action {
        Action::Select | Action::Cancel | Action::Quit => {
            end_selection(text);
            Some(Vec::new())
        }
        Action::SameId(_) => {
            text.view.selection = Some(selection.swapped());
            text.view.push_motion(Motion::Select);
            Some(Vec::new())
        }
        Action::Copy(CopyTarget::Json) => {
            let items = items(text, scene);
            end_selection(text);
            Some(vec![Effect::CopyRecords(clipboard::origins_of(
                scene.session,
                &items,
            ))])
        }
        Action::Copy(_) => {
            let pieces = pieces(text, scene);
            end_selection(text);
            Some(clipboard::actions::begin(
                text,
                scene,
                pieces,
                CopyFormat::Selected,
            ))
        }
        Action::Pipe => {
            let items = items(text, scene);
            end_selection(text);
            piping::open(scene, &items);
            Some(Vec::new())
        }
        _ => None,
    }
}

fn items(text: &mut TextPane, scene: &Scene<'_>) -> Vec<Focus> {
    let pieces = pieces(text, scene);
    pieces.iter().map(|piece| piece.focus).collect()
}

fn end_selection(text: &mut TextPane) {
    text.view.selection = None;
    text.view.selected = None;
}

/// The selected items; the first and the last have a range of rows if they are selected in part.
pub fn pieces(text: &mut TextPane, scene: &Scene<'_>) -> Vec<CopyItem> {
    let Some(selection) = text.view.selection else {
        return Vec::new();
    };
    let place = |mark: RowRef| (text.sequence.place_of(mark.entry), mark.block, mark.row);
    let (first, last) = if place(selection.anchor) <= place(selection.cursor) {
        (selection.anchor, selection.cursor)
    } else {
        (selection.cursor, selection.anchor)
    };
    let (from, to) = (focus(first), focus(last));
    let items = items_between(text, scene, from, to);
    items
        .into_iter()
        .map(|item| piece(text, scene, item, (from, first.row), (to, last.row)))
        .collect()
}

fn piece(
    text: &mut TextPane,
    scene: &Scene<'_>,
    item: Focus,
    first: (Focus, usize),
    last: (Focus, usize),
) -> CopyItem {
    if item != first.0 && item != last.0 {
        return CopyItem {
            focus: item,
            rows: None,
        };
    }
    let count = clipboard::actions::rows_of(text, scene, item).len();
    let from = if item == first.0 { first.1 } else { 0 };
    let to = if item == last.0 { last.1 } else { usize::MAX };
    let is_whole = from == 0 && to.saturating_add(1) >= count;
    CopyItem {
        focus: item,
        rows: (!is_whole).then_some((from, to)),
    }
}

fn focus(mark: RowRef) -> Focus {
    Focus {
        entry: mark.entry,
        block: mark.block,
    }
}
