//! What keys do in the picker.

use tui_input::InputRequest;

use super::{Picker, sheet};
use crate::analysis::wall::Glance;
use crate::app::effect::Effect;
use crate::app::screen::Screen;

/// So many sessions are matched for one frame.
const STEP: usize = 4_000;

/// Shows or hides the preview.
pub(crate) fn toggle_preview(picker: &mut Picker, screen: &mut Screen) {
    sheet::toggle_preview(picker, screen);
}

/// Matches, orders, and writes out the rows in sight; says what must be read for them.
pub(crate) fn arrange(picker: &mut Picker, screen: &Screen) -> Vec<Effect> {
    picker.match_on(STEP);
    picker.order();
    sheet::arrange(picker, screen);
    let glances = picker.ask().map(Effect::Glance);
    picker.texts.ask().into_iter().chain(glances).collect()
}

impl Picker {
    /// Opens the chosen session, at what its text has of what is typed; or all that are marked, as one.
    pub(crate) fn accept(&mut self) -> Vec<Effect> {
        self.match_on(usize::MAX);
        self.order();
        if self.marked.len() > 1 {
            let mut marked: Vec<_> = std::mem::take(&mut self.marked).into_iter().collect();
            marked.sort_by(|one, other| one.path.cmp(&other.path));
            return vec![Effect::OpenJoined(marked)];
        }
        let Some((found, hit)) = self.chosen() else {
            return Vec::new();
        };
        let place = found.place();
        vec![match hit {
            None => Effect::Open(place),
            Some(hit) => Effect::OpenAt {
                place,
                entry: hit.entry.to_string(),
                text: self.texts.word().cloned().unwrap_or_default(),
            },
        }]
    }

    /// Clears what is typed, else the marks. Returns whether there was anything.
    pub(crate) fn clear_input(&mut self) -> bool {
        let is_typed = !self.input.value().is_empty();
        if is_typed {
            self.type_on(InputRequest::DeleteLine);
            return true;
        }
        !std::mem::take(&mut self.marked).is_empty()
    }

    /// Takes what was read of a session.
    pub(crate) fn take(&mut self, glance: Glance) {
        self.glances.insert(glance.row.place.clone(), glance);
    }
}
