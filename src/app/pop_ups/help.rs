//! The help: all bindings by group, narrowed by typed words, and the pages of the manual.

use super::raw::RawView;
use crate::app::input::action::{Action, CopyTarget, LandmarkKind, PaneChange, QuickFilter, Way};
use crate::app::input::bindings::{BINDINGS, Binding, BindingGroup, GROUPS};
use crate::app::input::keymap::Keymap;
use crate::app::mode::Mode;
use crate::app::screen::Screen;
use crate::app::screens::AppScreen;
use crate::render::code::Colours;
use crate::render::manual::{self, Page};
use crate::render::row::{Look, Row};

/// One line of the help.
#[derive(Clone, Debug, PartialEq)]
pub enum HelpLine {
    /// The heading of a group.
    Heading(&'static str),
    /// A binding.
    Binding {
        /// Its keys.
        keys: String,
        /// What they do.
        doc: &'static str,
        /// Name of the action in palette and settings.
        action: String,
    },
    /// Between two groups.
    Gap,
}

/// What keys do on a screen that shows no session. The first ones are shown as hints, as many as fit.
pub type Own = &'static [(&'static [Action], &'static str)];

/// On the wall.
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

/// In the ledger.
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
const ANYWHERE: [Action; 8] = [
    Action::Sessions,
    Action::Wall,
    Action::Usage,
    Action::Help,
    Action::Redraw,
    Action::Suspend,
    Action::ToggleMouse,
    Action::QuitNow,
];

/// Keys of the picker. Letters are typed there, so its keys cannot be bound.
const IN_PICKER: &[(&str, &str)] = &[
    (
        "letters",
        "narrow the list to titles, folders and texts that have all of the words",
    ),
    (
        "up  down",
        "choose; pgup pgdn by pages, home end to the ends",
    ),
    ("enter", "open; where a line was found, there"),
    ("tab", "preview on or off"),
    ("ctrl-u", "clear what is typed"),
    (
        "space",
        "before anything is typed: mark, to open several as one; later ctrl-space",
    ),
    ("F3", "all sessions of the last hours"),
    ("F4", "what all sessions came to"),
    ("F1", "this help"),
    ("ctrl-l", "draw the screen anew"),
    ("ctrl-z", "suspend"),
    ("esc", "clear what is typed, then back, then quit"),
    ("ctrl-c", "quit at once"),
];

/// A page of the manual in a pop-up.
pub(crate) fn page(screen: &Screen, page: &'static Page, below: AppScreen) -> RawView {
    let title = format!("Help on {}", page.topic);
    let mut view = RawView::of_text(title, page_rows(screen, page), page.text(asked_for));
    (view.page, view.below) = (Some(page), below);
    view
}

/// Lays out the open page again after a resize; about the same part stays in sight.
pub(crate) fn fit_page(mode: &mut Mode, screen: &Screen) {
    let Mode::Raw(view) = mode else { return };
    let Some(page) = view.page else { return };
    let rows = page_rows(screen, page);
    let before = view.rows.len().max(1);
    // A cursor on the last row stays there.
    let now = |row: usize| ((row + 1) * rows.len() / before).saturating_sub(1);
    (view.top, view.at) = (now(view.top), now(view.at));
    view.rows = rows;
    view.scroll(0, usize::from(screen.size.1).saturating_sub(2));
}

fn page_rows(screen: &Screen, page: &Page) -> Vec<Row> {
    let width = screen.size.0.saturating_sub(2).max(1);
    // Code samples are few and short, so they are not highlighted.
    manual::rows(
        &page.text(asked_for),
        &Look::full(width, &screen.theme, &Colours::never()),
    )
}

fn asked_for(topic: &str) -> String {
    format!(":help {topic}")
}

/// The lines that match all wanted words; groups without one are left out. Keys are those of the screen below the help.
pub fn lines(keymap: &Keymap, wanted: &str, below: AppScreen) -> Vec<HelpLine> {
    let of_group = |group: BindingGroup| {
        let bindings = BINDINGS
            .iter()
            .filter(move |binding| binding.group == group);
        bindings.map(|binding| binding_line(keymap, binding))
    };
    let own = |own: Own| {
        own.iter()
            .map(|(actions, doc)| own_line(keymap, actions, doc))
    };
    let anywhere = BINDINGS
        .iter()
        .filter(|binding| ANYWHERE.contains(&binding.action));
    let anywhere = anywhere
        .map(|binding| binding_line(keymap, binding))
        .collect();
    let groups: Vec<(&str, Vec<HelpLine>)> = match below {
        AppScreen::Session => GROUPS
            .map(|group| (group.title(), of_group(group).collect()))
            .into(),
        AppScreen::Picker => vec![("Sessions", IN_PICKER.iter().map(fixed_line).collect())],
        AppScreen::Wall => vec![
            ("All sessions", own(ON_WALL).collect()),
            (BindingGroup::Program.title(), anywhere),
        ],
        AppScreen::Ledger => {
            vec![
                ("What all sessions came to", own(IN_LEDGER).collect()),
                (BindingGroup::Program.title(), anywhere),
            ]
        }
    };
    let mut lines = Vec::new();
    for (title, mut bindings) in groups {
        bindings.retain(|line| is_wanted(line, wanted));
        if !bindings.is_empty() {
            lines.push(HelpLine::Heading(title));
            lines.extend(bindings);
            lines.push(HelpLine::Gap);
        }
    }
    lines.pop();
    lines
}

fn own_line(keymap: &Keymap, actions: &[Action], doc: &'static str) -> HelpLine {
    let keys = actions.iter().flat_map(|action| keymap.keys_of(*action));
    let keys: Vec<String> = keys.map(|keys| keys.replace(' ', "")).collect();
    HelpLine::Binding {
        keys: keys.join("  "),
        doc,
        action: String::new(),
    }
}

fn fixed_line((keys, doc): &(&str, &'static str)) -> HelpLine {
    HelpLine::Binding {
        keys: (*keys).to_owned(),
        doc,
        action: String::new(),
    }
}

fn binding_line(keymap: &Keymap, binding: &Binding) -> HelpLine {
    let keys: Vec<String> = keymap
        .keys_of(binding.action)
        .map(|keys| keys.replace(' ', ""))
        .collect();
    HelpLine::Binding {
        keys: keys.join("  "),
        doc: binding.doc,
        action: binding.name.to_owned(),
    }
}

fn is_wanted(line: &HelpLine, wanted: &str) -> bool {
    let HelpLine::Binding { keys, doc, action } = line else {
        return false;
    };
    let doc = doc.to_lowercase();
    wanted.split_whitespace().all(|word| {
        let lower = word.to_lowercase();
        keys.split("  ").any(|keys| keys == word) || doc.contains(&lower) || action.contains(&lower)
    })
}

#[cfg(test)]
mod tests {
    use super::{HelpLine, lines};
    use crate::app::input::bindings::{BINDINGS, GROUPS};
    use crate::app::input::keymap::Keymap;
    use crate::app::screens::AppScreen;

    #[test]
    fn what_is_typed_narrows_the_help() {
        let keymap = Keymap::default();
        assert_eq!(
            lines(&keymap, "", AppScreen::Session).len(),
            BINDINGS.len() + 2 * GROUPS.len() - 1
        );
        let errors = lines(&keymap, "NEXT error", AppScreen::Session);
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert_eq!(errors.first(), Some(&HelpLine::Heading("Jump")));
        let by_key = lines(&keymap, "yj", AppScreen::Session);
        assert!(
            matches!(by_key.last(), Some(HelpLine::Binding { action, .. }) if action == "copy-json")
        );
        assert!(lines(&keymap, "nothing of the kind", AppScreen::Session).is_empty());
    }

    #[test]
    fn the_help_is_that_of_what_it_lies_over() {
        let keymap = Keymap::default();
        let doc_of = |wanted: &str, below: AppScreen| {
            let lines = lines(&keymap, "", below).into_iter();
            let docs: Vec<&str> = lines
                .filter_map(|line| match line {
                    HelpLine::Binding { keys, doc, .. } => {
                        keys.split("  ").any(|key| key == wanted).then_some(doc)
                    }
                    HelpLine::Heading(_) | HelpLine::Gap => None,
                })
                .collect();
            docs
        };
        assert_eq!(doc_of("e", AppScreen::Wall), ["next that needs you"]);
        assert_eq!(doc_of("+", AppScreen::Wall), ["group"]);
        assert_eq!(doc_of("R", AppScreen::Ledger), ["count anew"]);
        assert_eq!(doc_of("S", AppScreen::Ledger).len(), 1);
        assert!(
            doc_of("j", AppScreen::Picker).is_empty(),
            "a letter is typed"
        );
    }
}
