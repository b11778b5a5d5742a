//! The keys of lists of sessions: picker, wall, ledger.

use crate::app::input::action::{Action, CopyTarget, PaneChange, QuickFilter, Way};
use crate::app::input::keymap::Keymap;
use crate::app::screens::AppScreen;
use crate::app::views::page::{Hint, SORT};

/// Keys of the wall. The first ones are shown as hints, as many as fit.
pub const ON_WALL: &[Hint] = &[
    (&[Action::Next, Action::Previous], "choose"),
    (&[Action::Unfold], "open"),
    (&[Action::Need(Way::Next)], "next that needs you"),
    (&[Action::Filter], "filter"),
    SORT,
    (&[Action::LevelUp, Action::LevelDown], "group"),
    (&[Action::Watch], "watch all"),
    (&[Action::Panes(PaneChange::Inspector)], "preview"),
    (
        &[Action::Need(Way::Previous)],
        "previous one that needs you",
    ),
    (&[Action::Reverse], "the other way round"),
    (
        &[Action::Quick(QuickFilter::Errors)],
        "only those with errors",
    ),
    (&[Action::Quick(QuickFilter::Clear)], "show all again"),
    (&[Action::Copy(CopyTarget::Path)], "copy the path"),
    (&[Action::Copy(CopyTarget::Id)], "copy the id"),
    (&[Action::Palette], "type a command"),
    (&[Action::Cancel], "clear the filter, then back"),
    (&[Action::Quit], "back"),
];

/// Keys of the ledger.
pub const IN_LEDGER: &[Hint] = &[
    (&[Action::Next, Action::Previous], "choose"),
    (&[Action::Unfold], "its sessions, or the session"),
    (
        &[Action::LevelUp, Action::LevelDown],
        "a shorter or a longer time",
    ),
    (&[Action::Filter], "since when: monday, 1w, 2026-11"),
    (
        &[
            Action::Panes(PaneChange::Focus(Way::Next)),
            Action::Panes(PaneChange::Focus(Way::Previous)),
        ],
        "along what it can be by; branches, too",
    ),
    SORT,
    (&[Action::Reverse], "the other way round"),
    (&[Action::Copy(CopyTarget::Path)], "copy the path"),
    (
        &[Action::Copy(CopyTarget::Id)],
        "copy the id of the session",
    ),
    (&[Action::Reload], "count anew"),
    (&[Action::Cancel, Action::Quit], "back"),
];

/// Keys of the groupings in the ledger. Like the digits of the views, each opens a page that the screen names.
pub(crate) const GROUPS: &str = "1-7";

/// Actions that work on every screen.
pub(crate) const ANYWHERE: [Action; 8] = [
    Action::Sessions,
    Action::Wall,
    Action::Usage,
    Action::Help,
    Action::Redraw,
    Action::Suspend,
    Action::ToggleMouse,
    Action::QuitNow,
];

/// Keys of the picker. Letters are typed there, so these keys cannot be rebound.
const IN_PICKER: &[(&str, &str)] = &[
    (
        "letters",
        "find titles, folders and texts that have all words",
    ),
    ("agent:pi", "of one agent; also project: model: !word"),
    (
        "up  down",
        "choose; pgup pgdn by pages, home end to the ends",
    ),
    ("enter", "open; where a line was found, there"),
    ("tab", "preview on or off"),
    ("ctrl-u", "clear what is typed"),
    ("space", "mark, to open several; after a letter ctrl-space"),
    ("D", "compare the two that are marked"),
    ("S  $  :", "before a letter: wall, usage, command"),
    ("<  >", "before a letter: sort by another column"),
    ("/  &", "search: makes letters of them"),
    ("F1", "this help"),
    ("ctrl-l", "draw the screen anew"),
    ("ctrl-z", "suspend"),
    ("F12", "mouse on or off"),
    ("esc", "clear what is typed, then back, then quit"),
    ("ctrl-c", "quit at once"),
];

/// Keys that cannot be rebound, and what they do.
pub(crate) fn fixed(keys: &[(&str, &'static str)]) -> Vec<(String, &'static str)> {
    keys.iter()
        .map(|(keys, doc)| ((*keys).to_owned(), *doc))
        .collect()
}

/// The keys of a list, and what they do there.
pub(crate) fn keys_of(keymap: &Keymap, list: AppScreen) -> Vec<(String, &'static str)> {
    let of = |own: &[Hint]| {
        own.iter()
            .map(|(actions, doc)| (keymap.keys_of_all(actions, " "), *doc))
            .collect()
    };
    match list {
        AppScreen::Session => Vec::new(),
        AppScreen::Picker => fixed(IN_PICKER),
        AppScreen::Wall => of(ON_WALL),
        AppScreen::Ledger => {
            let mut keys = of(IN_LEDGER);
            keys.push((
                GROUPS.to_owned(),
                "by day, week, month, project, agent, model, session",
            ));
            keys
        }
    }
}

pub(crate) fn has_effect(list: AppScreen, action: Action) -> bool {
    let own = match list {
        AppScreen::Wall => ON_WALL,
        AppScreen::Ledger => IN_LEDGER,
        AppScreen::Session | AppScreen::Picker => &[],
    };
    ANYWHERE.contains(&action) || own.iter().any(|(actions, _)| actions.contains(&action))
}
