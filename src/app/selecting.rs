//! Selected rows: what keys do with them. Their text is that of the session, not that of the screen.

use super::action::{Action, What};
use super::clipboard::actions::items_between;
use super::clipboard::{self, Form, Piece};
use super::effect::Effect;
use super::layout::focused;
use super::panes::Pane;
use super::piping;
use super::reader::Reader;
use super::state::App;
use super::viewport::{Focus, Mark, Motion};

/// Carries out what concerns a selection. `None` leaves the action to the transcript, where motions extend
/// it.
pub fn act(app: &mut App, action: Action) -> Option<Vec<Effect>> {
    if focused(&app.reader) != Pane::Transcript {
        if action == Action::Select {
            app.reader.screen.say("rows are selected in the transcript; tab or esc leads there");
            return Some(Vec::new());
        }
        return None;
    }
    let Some(selection) = app.reader.text.view.selection else {
        if action == Action::Select {
            app.reader.text.view.ask(Motion::Pause);
            app.reader.text.view.ask(Motion::Select);
            return Some(Vec::new());
        }
        return None;
    };
    match action {
        Action::Select | Action::Cancel | Action::Quit => {
            leave(&mut app.reader);
            Some(Vec::new())
        }
        Action::SameId(_) => {
            app.reader.text.view.selection = Some(selection.swapped());
            app.reader.text.view.ask(Motion::Select);
            Some(Vec::new())
        }
        Action::Copy(What::Json) => {
            let items: Vec<Focus> = pieces(&mut app.reader).iter().map(|piece| piece.focus).collect();
            leave(&mut app.reader);
            Some(vec![Effect::CopyRecords(clipboard::origins_of(&app.reader.session, &items))])
        }
        Action::Copy(_) => {
            let pieces = pieces(&mut app.reader);
            leave(&mut app.reader);
            Some(clipboard::actions::begin(&mut app.reader, pieces, Form::Selected))
        }
        Action::Pipe => {
            let items: Vec<Focus> = pieces(&mut app.reader).iter().map(|piece| piece.focus).collect();
            leave(&mut app.reader);
            piping::open(app, &items);
            Some(Vec::new())
        }
        _ => None,
    }
}

fn leave(reader: &mut Reader) {
    reader.text.view.selection = None;
    reader.text.view.selected = None;
}

/// The selected items from the first to the last; of those at the ends, if they are not selected as a
/// whole, their rows.
pub fn pieces(reader: &mut Reader) -> Vec<Piece> {
    let Some(selection) = reader.text.view.selection else { return Vec::new() };
    let place = |mark: Mark| (reader.text.sequence.place_of(mark.entry), mark.block, mark.row);
    let (first, last) = if place(selection.anchor) <= place(selection.cursor) {
        (selection.anchor, selection.cursor)
    } else {
        (selection.cursor, selection.anchor)
    };
    let (from, to) = (focus(first), focus(last));
    let items = items_between(reader, from, to);
    items.into_iter().map(|item| piece(reader, item, (from, first.row), (to, last.row))).collect()
}

fn piece(reader: &mut Reader, item: Focus, first: (Focus, usize), last: (Focus, usize)) -> Piece {
    if item != first.0 && item != last.0 {
        return Piece { focus: item, rows: None };
    }
    let count = clipboard::actions::rows_of(reader, item).len();
    let from = if item == first.0 { first.1 } else { 0 };
    let to = if item == last.0 { last.1 } else { usize::MAX };
    let is_whole = from == 0 && to.saturating_add(1) >= count;
    Piece { focus: item, rows: (!is_whole).then_some((from, to)) }
}

fn focus(mark: Mark) -> Focus {
    Focus { entry: mark.entry, block: mark.block }
}
