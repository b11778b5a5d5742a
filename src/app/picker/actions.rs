//! What keys do in the picker.

use tui_input::InputRequest;

use super::{Division, Pane, Picker, Row};
use crate::app::effect::Effect;
use crate::app::screen::Screen;
use crate::model::found::{Place, Preview};

/// Screens from this width on have room for the preview beside the list.
const WIDE: u16 = 120;

/// Screens from this height on have room for it below the list.
const TALL: u16 = 30;

/// So many sessions are matched for one frame.
const STEP: usize = 4_000;

/// Divides the screen. Small ones have no preview, tiny ones no hints and no header.
pub fn divide(picker: &Picker, screen: &Screen) -> Division {
    let (columns, lines) = screen.size;
    let (header, status) = (lines >= 3, lines >= 2);
    let hints = screen.shows_hints && lines >= 10;
    let rest = lines.saturating_sub(u16::from(header) + u16::from(status) + u16::from(hints));
    let (list, width, pane) = match (picker.hides_preview, columns >= WIDE, lines >= TALL) {
        (false, true, _) => (
            rest,
            columns - columns * 2 / 5,
            Pane::Beside(columns * 2 / 5),
        ),
        (false, false, true) => (rest - rest * 2 / 5, columns, Pane::Below(rest * 2 / 5)),
        (true, _, _) | (false, false, false) => (rest, columns, Pane::Hidden),
    };
    Division {
        lines: list,
        columns: width,
        pane,
        header,
        status,
        hints,
    }
}

/// Shows or hides the preview.
pub(crate) fn toggle_preview(picker: &mut Picker, screen: &mut Screen) {
    picker.hides_preview = !picker.hides_preview;
    if !picker.hides_preview && divide(picker, screen).pane == Pane::Hidden {
        screen.say(format!("a preview needs {WIDE} columns or {TALL} lines"));
    }
}

/// Matches, orders and scrolls; says what must be read for the preview.
pub(crate) fn arrange(picker: &mut Picker, screen: &Screen) -> Vec<Effect> {
    let parts = divide(picker, screen);
    picker.match_on(STEP);
    picker.order();
    picker.scroll(usize::from(parts.lines));
    let wanted = if parts.pane == Pane::Hidden {
        None
    } else {
        picker.ask()
    };
    let preview = wanted.map(|found| Effect::Preview(Box::new(found)));
    picker.texts.ask().into_iter().chain(preview).collect()
}

impl Picker {
    /// Opens the chosen session, at what its text has of what is typed.
    pub(crate) fn accept(&mut self) -> Vec<Effect> {
        self.match_on(usize::MAX);
        self.order();
        let word = self.texts.word().cloned();
        let open = |Row { found, hit }: Row<'_>| match hit {
            None => Effect::Open(found.place()),
            Some(hit) => Effect::OpenAt {
                place: found.place(),
                entry: hit.entry.to_string(),
                text: word.clone().unwrap_or_default(),
            },
        };
        self.chosen().map(open).into_iter().collect()
    }

    /// Clears what is typed. Returns whether there was anything.
    pub(crate) fn clear_input(&mut self) -> bool {
        let is_typed = !self.input.value().is_empty();
        if is_typed {
            self.type_on(InputRequest::DeleteLine);
        }
        is_typed
    }

    /// Takes a preview that was asked for.
    pub(crate) fn take(&mut self, place: &Place, preview: Preview) {
        if let Some(known) = self
            .previewed
            .as_mut()
            .filter(|known| known.place == *place)
        {
            known.preview = Some(preview);
        }
    }
}
