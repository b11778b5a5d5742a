//! What keys do in the picker.

use super::Division;
use super::Pane;
use crate::app::effect::Effect;
use crate::app::mode::Mode;
use crate::app::state::App;
use crate::model::found::{Place, Preview};
use tui_input::InputRequest;

/// Screens from this width on have room for the preview beside the list.
const WIDE: u16 = 120;

/// Screens from this height on have room for it below the list.
const TALL: u16 = 30;

/// So many sessions are matched for one frame.
const STEP: usize = 4_000;

/// Divides the screen. Small ones have no preview, tiny ones no hints and no header.
pub fn divide(app: &App) -> Division {
    let (columns, lines) = app.reader.screen.size;
    let (header, status) = (lines >= 3, lines >= 2);
    let hints = app.reader.screen.shows_hints && lines >= 10;
    let rest = lines.saturating_sub(u16::from(header) + u16::from(status) + u16::from(hints));
    let (list, width, pane) = match (app.picker.hides_preview, columns >= WIDE, lines >= TALL) {
        (false, true, _) => (rest, columns - columns * 2 / 5, Pane::Beside(columns * 2 / 5)),
        (false, false, true) => (rest - rest * 2 / 5, columns, Pane::Below(rest * 2 / 5)),
        (true, _, _) | (false, false, false) => (rest, columns, Pane::Hidden),
    };
    Division { lines: list, columns: width, pane, header, status, hints }
}

/// Opens the picker over whatever is shown.
pub fn open(app: &mut App) -> Vec<Effect> {
    app.mode = Mode::Picker;
    app.picker.begin();
    vec![Effect::Seek]
}

/// Changes what is typed.
pub(crate) fn type_on(app: &mut App, request: InputRequest) {
    app.picker.type_on(request);
}

/// Chooses another session.
pub fn select(app: &mut App, by: isize) {
    app.picker.move_by(by);
}

/// Shows or hides the preview.
pub(crate) fn toggle_preview(app: &mut App) {
    app.picker.hides_preview = !app.picker.hides_preview;
    if !app.picker.hides_preview && divide(app).pane == Pane::Hidden {
        app.reader.screen.say(format!("a preview needs {WIDE} columns or {TALL} lines"));
    }
}

/// Opens the chosen session.
pub(crate) fn accept(app: &mut App) -> Vec<Effect> {
    app.picker.match_on(usize::MAX);
    app.picker.order();
    app.picker.chosen().map(|found| Effect::Open(found.place())).into_iter().collect()
}

/// Clears what is typed, then goes back to the session behind, then ends.
pub fn cancel(app: &mut App) -> Vec<Effect> {
    if !app.picker.input.value().is_empty() {
        app.picker.type_on(InputRequest::DeleteLine);
        return Vec::new();
    }
    if app.reader.session.file.opened.is_none() {
        return vec![Effect::Quit];
    }
    app.mode = Mode::Normal;
    vec![Effect::EndSeeking]
}

/// Takes a preview that was asked for.
pub fn take(app: &mut App, place: &Place, preview: Preview) {
    if let Some(known) = app.picker.previewed.as_mut().filter(|known| known.place == *place) {
        known.preview = Some(preview);
    }
}

/// Matches, orders and scrolls; says what must be read for the preview.
pub fn arrange(app: &mut App) -> Vec<Effect> {
    let parts = divide(app);
    let picker = &mut app.picker;
    picker.match_on(STEP);
    picker.order();
    picker.scroll(usize::from(parts.lines));
    if parts.pane == Pane::Hidden {
        return Vec::new();
    }
    picker.ask().map(|found| Effect::Preview(Box::new(found))).into_iter().collect()
}
