//! The keys of lists of sessions: picker, wall, ledger.

use crate::app::input::action::{Action, CopyTarget, LandmarkKind, PaneChange, QuickFilter, Way};
use crate::app::input::keymap::Keymap;
use crate::app::screens::AppScreen;

/// Keys of a screen that lists sessions, and what they do. The first ones are shown as hints, as
/// many as fit.
pub type Own = &'static [(&'static [Action], &'static str)];

/// Keys of the wall.
pub const ON_WALL: Own = &[
    (&[Action::Next, Action::Previous], "choose"),
    (&[Action::Unfold], "open"),
    (
        &[Action::Seek(LandmarkKind::Error, Way::Next)],
        "next that needs you",
    ),
    (&[Action::Filter], "filter"),
    (
        &[Action::Shift(Way::Previous), Action::Shift(Way::Next)],
        "sort",
    ),
    (&[Action::LevelUp, Action::LevelDown], "group"),
    (&[Action::ToggleWrap], "watch all"),
    (&[Action::Panes(PaneChange::Inspector)], "preview"),
    (
        &[Action::Seek(LandmarkKind::Error, Way::Previous)],
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
pub const IN_LEDGER: Own = &[
    (&[Action::Next, Action::Previous], "choose"),
    (&[Action::Unfold], "its sessions, or the session"),
    (
        &[Action::LevelUp, Action::LevelDown],
        "by what; so do 1 to 7",
    ),
    (
        &[Action::Shift(Way::Previous), Action::Shift(Way::Next)],
        "a shorter or a longer time",
    ),
    (&[Action::Filter], "since when: monday, 1w, 2026-11"),
    (
        &[Action::SameId(Way::Previous), Action::SameId(Way::Next)],
        "sort",
    ),
    (&[Action::Reverse], "the other way round"),
    (&[Action::Copy(CopyTarget::Path)], "copy the path"),
    (
        &[Action::Copy(CopyTarget::Id)],
        "copy the id of the session",
    ),
    (&[Action::Reload], "count anew"),
    (&[Action::Cancel, Action::Quit], "back"),
];

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
    ("F3", "wall: who needs you"),
    ("F4", "usage of all sessions"),
    ("F1", "this help"),
    ("ctrl-l", "draw the screen anew"),
    ("ctrl-z", "suspend"),
    ("esc", "clear what is typed, then back, then quit"),
    ("ctrl-c", "quit at once"),
];

/// The keys of a list, and what they do there.
pub(crate) fn keys_of(keymap: &Keymap, list: AppScreen) -> Vec<(String, &'static str)> {
    let of = |own: Own| {
        let keys = |actions: &[Action]| {
            let keys = actions
                .iter()
                .filter_map(|action| keymap.keys_of(*action).next());
            keys.map(|keys| keys.replace(' ', ""))
                .collect::<Vec<_>>()
                .join(" ")
        };
        own.iter()
            .map(|(actions, doc)| (keys(actions), *doc))
            .collect()
    };
    match list {
        AppScreen::Session => Vec::new(),
        AppScreen::Picker => IN_PICKER
            .iter()
            .map(|(keys, doc)| ((*keys).to_owned(), *doc))
            .collect(),
        AppScreen::Wall => of(ON_WALL),
        AppScreen::Ledger => of(IN_LEDGER),
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
