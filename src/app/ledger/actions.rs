//! Actions in the ledger.

use tui_input::Input;

use super::{LedgerView, sheet};
use crate::analysis::by::By;
use crate::analysis::expression::parse::MOMENTS;
use crate::app::effect::Effect;
use crate::app::input::action::{Action, CopyTarget, PaneChange};
use crate::app::mode::{Mode, WallLine};
use crate::app::pop_ups::list_keys::ANYWHERE;
use crate::app::state::App;

/// Runs an action; `None` leaves it to the viewer.
pub(crate) fn act(app: &mut App, action: Action) -> Option<Vec<Effect>> {
    let (ledger, screen) = (&mut app.ledger, &mut app.reader.screen);
    if ledger.list.act(action, 1).is_some() {
        let keys = ledger.list.keys().to_vec();
        ledger.fill(keys);
        return Some(Vec::new());
    }
    match action {
        Action::Unfold | Action::Expand => return Some(enter(ledger)),
        Action::LevelUp | Action::LevelDown => {
            let since = sheet::neighbour_span(&ledger.since, action == Action::LevelDown);
            ledger.count_from(since, screen.now);
            return Some(count(ledger));
        }
        Action::GroupBy(number) => {
            let (by, _) = number.checked_sub(1).and_then(|at| By::ALL.get(at))?;
            return Some(group(ledger, *by));
        }
        Action::Panes(PaneChange::Focus(way)) => {
            let by = way.neighbour(&By::ALL.map(|(by, _)| by), ledger.question.by);
            return Some(group(ledger, by));
        }
        Action::Filter => {
            app.mode = Mode::OnWall {
                line: WallLine::Since,
                input: Input::default(),
            };
        }
        Action::Copy(what @ (CopyTarget::Path | CopyTarget::Id)) => {
            let found = ledger.chosen().and_then(|(_, found)| found.as_ref());
            let words = found.map(|found| {
                if what == CopyTarget::Id {
                    found.id.to_string()
                } else {
                    found.place().address()
                }
            });
            return Some(words.map(Effect::Copy).into_iter().collect());
        }
        Action::Reload => return Some(vec![Effect::CountAnew(ledger.question.clone())]),
        Action::Cancel | Action::Quit | Action::Collapse => {
            if ledger.go_back() {
                return Some(count(ledger));
            }
            return Some(if action == Action::Collapse {
                Vec::new()
            } else {
                app.leave_list()
            });
        }
        Action::Usage => return Some(app.leave_list()),
        Action::Palette | Action::Need(_) => return None,
        action if ANYWHERE.contains(&action) => return None,
        other => screen.set_session_only_status(&other),
    }
    Some(Vec::new())
}

/// Accepts a typed time. A line that does not parse stays open.
pub(crate) fn accept(app: &mut App, typed: &str) -> Vec<Effect> {
    if !app.ledger.count_from(typed, app.reader.screen.now) {
        app.reader
            .screen
            .set_status(format!("a time is written like {MOMENTS}"));
        return Vec::new();
    }
    app.mode = Mode::Ledger;
    count(&app.ledger)
}

/// Opens the sessions of a row, or the session of the row.
fn enter(ledger: &mut LedgerView) -> Vec<Effect> {
    if ledger.question.by == By::Session {
        let found = ledger.chosen().and_then(|(_, found)| found.as_ref());
        let place = found.map(|found| Effect::Open(found.place()));
        // Marks the row as chosen, so that it is still chosen after going back.
        ledger.move_by(0);
        return place.into_iter().collect();
    }
    if ledger.enter() {
        count(ledger)
    } else {
        Vec::new()
    }
}

fn group(ledger: &mut LedgerView, by: By) -> Vec<Effect> {
    ledger.group(by);
    count(ledger)
}

/// Asks for the usage that the page is of.
fn count(ledger: &LedgerView) -> Vec<Effect> {
    vec![Effect::Count(ledger.question.clone())]
}
