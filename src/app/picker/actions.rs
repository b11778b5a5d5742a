//! Actions in the picker.

use tui_input::InputRequest;

use super::{Picker, sheet};
use crate::analysis::wall::Glance;
use crate::app::effect::Effect;
use crate::app::input::action::{Action, PaneChange, View};
use crate::app::pop_ups::list_keys::ANYWHERE;
use crate::app::screen::Screen;
use crate::app::state::App;
use crate::model::found::Target;
use crate::model::timestamp::Timestamp;

/// Sessions matched per frame.
const STEP: usize = 4_000;

/// Matches and sorts sessions, and writes the visible rows. Returns effects that read what the rows
/// lack.
pub(crate) fn arrange(picker: &mut Picker, screen: &Screen) -> Vec<Effect> {
    picker.match_some(STEP);
    picker.sort_matches(screen.now);
    sheet::arrange(picker, screen);
    let glances = picker.next_glances().map(Effect::Glance);
    picker
        .texts
        .start_search()
        .into_iter()
        .chain(glances)
        .collect()
}

/// Runs an action that was typed as a command; `None` leaves it to the viewer.
pub(crate) fn act(app: &mut App, action: Action) -> Option<Vec<Effect>> {
    if let Some(by) = action.steps(app.picker.visible_count(), 1) {
        app.picker.move_by(by);
        return Some(Vec::new());
    }
    if app.picker.sort(action) {
        return Some(Vec::new());
    }
    match action {
        Action::Unfold | Action::Expand => {
            return Some(app.picker.accept(app.reader.screen.now));
        }
        Action::View(View::Diff) if app.picker.has_two_marked() => {
            return Some(vec![Effect::OpenCompared(app.picker.take_marked())]);
        }
        Action::Quit => return Some(app.leave_list()),
        // The search is the filter of this list.
        Action::Search | Action::Filter => app.picker.wants_letters = true,
        Action::Panes(PaneChange::Inspector) => {
            sheet::toggle_preview(&mut app.picker, &mut app.reader.screen);
        }
        Action::Cancel | Action::Pick | Action::Palette | Action::Need(_) => return None,
        action if ANYWHERE.contains(&action) => return None,
        other => app.reader.screen.set_session_only_status(&other),
    }
    Some(Vec::new())
}

impl Picker {
    /// Opens the chosen session, at the hit in its text if there is one; or all marked sessions as
    /// one.
    pub(crate) fn accept(&mut self, now: Timestamp) -> Vec<Effect> {
        self.match_some(usize::MAX);
        self.sort_matches(now);
        if self.marked.len() > 1 {
            return vec![Effect::OpenJoined(self.take_marked())];
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
                text: Some(self.texts.sought(hit)),
            },
        }]
    }

    fn take_marked(&mut self) -> Vec<Target> {
        let mut marked: Vec<_> = std::mem::take(&mut self.marked).into_iter().collect();
        marked.sort_by(|one, other| one.path.cmp(&other.path));
        marked
    }

    /// Whether there are two marked sessions, which can be compared.
    pub(crate) fn has_two_marked(&self) -> bool {
        self.marked.len() == 2
    }

    /// Whether all keys are letters of the search: from the first letter on, or after `/`.
    pub(crate) fn is_typing(&self) -> bool {
        self.wants_letters || !self.input.value().is_empty()
    }

    /// Clears the typed text; without any, the marks. Returns `false` if there was neither.
    pub(crate) fn clear_input(&mut self) -> bool {
        let was_typing = self.is_typing();
        self.wants_letters = false;
        if was_typing {
            self.edit_input(InputRequest::DeleteLine);
            return true;
        }
        was_typing || !std::mem::take(&mut self.marked).is_empty()
    }

    /// Caches the facts read of a session.
    pub(crate) fn add_glance(&mut self, glance: Glance) {
        self.glances.insert(glance.row.place.clone(), glance);
    }
}
