//! Actions on the wall.

use tui_input::Input;

use super::sheet::WIDE;
use super::{Wall, WallGrouping};
use crate::analysis::expression::parse::Mistake;
use crate::analysis::wall::filter::SessionFilter;
use crate::analysis::wall::{News, Rang};
use crate::app::alarms::{AlarmNotice, AlarmSpec};
use crate::app::effect::Effect;
use crate::app::input::action::{Action, CopyTarget, PaneChange, QuickFilter, Way};
use crate::app::input::command::TypedCommand;
use crate::app::list_page::toggle_preview;
use crate::app::mode::{Mode, WallLine};
use crate::app::pop_ups::list_keys::ANYWHERE;
use crate::app::screen::Screen;
use crate::app::state::App;
use crate::listing::sessions::SessionRowKey;
use crate::model::found::Target;

/// Runs an action; `None` leaves it to the viewer.
pub(crate) fn act(app: &mut App, action: Action) -> Option<Vec<Effect>> {
    let screen = &mut app.reader.screen;
    let wall = &mut app.wall;
    if wall.list.act(action, 1).is_some() {
        wall.mark_stale();
        return Some(Vec::new());
    }
    match action {
        Action::Need(way) => to_next_need(wall, screen, way),
        Action::Unfold | Action::Expand => return Some(enter(wall)),
        Action::LevelUp => group(wall, Way::Next),
        Action::LevelDown => group(wall, Way::Previous),
        Action::Panes(PaneChange::Inspector) => {
            toggle_preview(&mut wall.hides_preview, WIDE, screen);
        }
        Action::Filter => app.mode = filter_line(wall),
        Action::Quick(QuickFilter::Errors) => wall.set_filter("err", screen),
        Action::Quick(QuickFilter::Clear) => wall.set_filter("", screen),
        Action::Watch => {
            let typed = wall.alarms.last().map(ToString::to_string);
            app.mode = Mode::OnWall {
                line: WallLine::Watch,
                input: Input::new(typed.unwrap_or_default()),
            };
        }
        Action::Copy(CopyTarget::Path) => return Some(copy(wall, Target::address)),
        Action::Copy(CopyTarget::Id) => {
            let id = wall.chosen().and_then(|row| row.head.id.clone());
            return Some(
                id.map(|id| Effect::Copy(id.to_string()))
                    .into_iter()
                    .collect(),
            );
        }
        Action::Cancel if wall.filter.is_some() => wall.set_filter("", screen),
        Action::Cancel | Action::Quit | Action::Wall => return Some(app.leave_list()),
        Action::Palette => return None,
        action if ANYWHERE.contains(&action) => return None,
        other => screen.set_session_only_status(&other),
    }
    Some(Vec::new())
}

/// The line of the filter, with the active filter to edit.
pub(crate) fn filter_line(wall: &Wall) -> Mode {
    let typed = wall.filter.as_ref().map(|filter| filter.typed.clone());
    Mode::OnWall {
        line: WallLine::Filter,
        input: Input::new(typed.unwrap_or_default()),
    }
}

fn group(wall: &mut Wall, way: Way) {
    wall.group = way.neighbour(&WallGrouping::ALL, wall.group);
    wall.mark_stale();
}

/// Opens the chosen session, or shows the sessions that ended some time ago.
fn enter(wall: &mut Wall) -> Vec<Effect> {
    // Marks the row as chosen, so that it is still chosen after going back.
    wall.list.step(0);
    if let Some(SessionRowKey::Old(..)) = wall.list.chosen() {
        wall.shows_old = true;
        wall.mark_stale();
        return Vec::new();
    }
    let place = wall.chosen().map(|row| row.place.clone());
    place.map(Effect::Open).into_iter().collect()
}

/// Goes to the next or previous session that needs somebody.
fn to_next_need(wall: &mut Wall, screen: &mut Screen, way: Way) {
    let keys = wall.list.keys();
    let here = keys
        .iter()
        .position(|key| Some(key) == wall.list.chosen())
        .unwrap_or(0);
    let needs = |at: &usize| {
        let place = keys.get(*at).and_then(SessionRowKey::place);
        let row = place.and_then(|place| wall.rows.get(place));
        row.is_some_and(|row| row.need.needs_user())
    };
    let (found, side) = match way {
        Way::Next => ((here + 1..keys.len()).find(needs), "below"),
        Way::Previous => ((0..here).rev().find(needs), "above"),
    };
    match found {
        Some(found) => wall.list.choose(found),
        None => screen.set_status(format!("none {side} needs you")),
    }
}

fn copy(wall: &Wall, what: impl Fn(&Target) -> String) -> Vec<Effect> {
    wall.chosen()
        .map(|row| Effect::Copy(what(&row.place)))
        .into_iter()
        .collect()
}

pub(crate) fn accept(app: &mut App, line: WallLine, typed: &str) -> Vec<Effect> {
    let (wall, screen) = (&mut app.wall, &mut app.reader.screen);
    let mistake = match line {
        WallLine::Filter => wall.try_filter(typed).err(),
        WallLine::Watch if typed.is_empty() => {
            wall.alarms.clear();
            None
        }
        WallLine::Watch => match typed.parse::<AlarmSpec>() {
            Ok(wish) => {
                screen.set_status(format!("watching all sessions: {wish}"));
                wall.alarms = vec![wish];
                None
            }
            Err(mistake) => Some(mistake),
        },
        WallLine::Since => None,
    };
    // A line that does not parse stays open, with the error in red.
    if mistake.is_some() {
        return Vec::new();
    }
    app.mode = Mode::Wall;
    if line == WallLine::Watch {
        vec![Effect::WatchAll(
            app.wall
                .alarms
                .iter()
                .map(|wish| wish.expr.clone())
                .collect(),
        )]
    } else {
        Vec::new()
    }
}

/// Runs a typed command; on the wall filters and alarms apply to all sessions.
pub(crate) fn command(app: &mut App, command: &TypedCommand) -> Vec<Effect> {
    let (line, typed) = match command {
        TypedCommand::Filter(expr) => (WallLine::Filter, expr.to_string()),
        TypedCommand::Watch(wish) => (WallLine::Watch, wish.to_string()),
        TypedCommand::Unwatch(_) => (WallLine::Watch, String::new()),
        other => {
            app.reader.screen.set_session_only_status(other);
            return Vec::new();
        }
    };
    // An alarm or filter with an error stays open as a typed line, with the error in red.
    app.mode = Mode::OnWall {
        line,
        input: Input::new(typed.clone()),
    };
    accept(app, line, &typed)
}

/// Applies news of a session; an alarm that rang is announced.
pub(crate) fn apply_news(app: &mut App, news: News) -> Vec<Effect> {
    let News::AlarmFired(rang) = news else {
        app.wall.apply(news);
        return Vec::new();
    };
    let Rang { row, alarm, words } = *rang;
    let Some(wish) = app.wall.alarms.get(alarm).cloned() else {
        return Vec::new();
    };
    let address = row.place.address();
    // The open session has alarms of its own.
    let is_read = app.reader.session.file.address.as_ref() == Some(&address);
    if is_read && app.reader.alarms.has(&wish) && !matches!(app.mode, Mode::Wall) {
        return Vec::new();
    }
    app.reader
        .screen
        .set_status(format!("! {}: {words}", row.name()));
    vec![Effect::Notify(AlarmNotice {
        session: row.name(),
        words,
        expression: wish.expr.to_string(),
        address: Some(address),
        activity: row.activity.word(),
        command: wish.command,
    })]
}

impl Wall {
    /// Sets the filter; an empty text removes it.
    pub(crate) fn try_filter(&mut self, typed: &str) -> Result<(), Mistake> {
        self.filter = if typed.is_empty() {
            None
        } else {
            Some(SessionFilter::of(typed)?)
        };
        self.mark_stale();
        Ok(())
    }

    fn set_filter(&mut self, typed: &str, screen: &mut Screen) {
        if let Err(mistake) = self.try_filter(typed) {
            screen.set_status(mistake.what);
        }
    }
}
