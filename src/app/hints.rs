//! The line of hints: the keys for the focused item, with the user's own bindings; the help starts
//! with the same keys. And the bar of views with their keys.

use unicode_width::UnicodeWidthStr;

use super::input::action::{Action, LandmarkKind, PaneChange, View, Way};
use super::input::bindings::{BINDINGS, Binding, BindingGroup};
use super::input::keymap::Keymap;
use super::mode::{Mode, WallLine};
use super::panes::Pane;
use super::pop_ups::list_keys::{GROUPS, ON_WALL, fixed};
use super::state::App;
use super::views::page::{HEADINGS, Hint, SORT};
use crate::analysis::by::By;
use crate::model::entry::BlockKind;

/// The keys for the focused item, and what they do.
pub fn of(app: &App) -> Vec<(String, &'static str)> {
    match &app.mode {
        Mode::Search { .. } => fixed(TYPING_SEARCH),
        Mode::Filter { .. } => fixed(TYPING_FILTER),
        Mode::Pipe { .. } => fixed(TYPING_COMMAND),
        Mode::Palette(_) => fixed(CHOOSING),
        Mode::Picker => in_picker(app),
        Mode::Wall => on_wall(app),
        Mode::Ledger => in_ledger(app),
        Mode::OnWall {
            line: WallLine::Filter,
            ..
        } => fixed(TYPING_WHICH),
        Mode::OnWall {
            line: WallLine::Watch,
            ..
        } => fixed(TYPING_ALARM),
        Mode::OnWall {
            line: WallLine::Since,
            ..
        } => fixed(TYPING_SINCE),
        Mode::Help {
            is_typing: true, ..
        } => fixed(&[("enter", "keep"), ("esc", "clear")]),
        Mode::Help { .. } => fixed(&[
            ("j/k", "scroll"),
            ("space/b", "page"),
            ("/", "find a key"),
            ("q", "close"),
        ]),
        Mode::Raw(view) if view.is_list => {
            let copies = if view.page.is_some() {
                "copy the page"
            } else {
                "copy the list"
            };
            fixed(&[
                ("j/k", "move"),
                ("space/b", "page"),
                ("y", copies),
                ("q", "close"),
            ])
        }
        Mode::Raw(_) => fixed(RECORD),
        Mode::Resume(_) => fixed(&[
            ("enter", "run it"),
            ("y", "copy"),
            ("j/k", "choose"),
            ("q", "close"),
        ]),
        Mode::Normal if app.reader.focused() == Pane::Inspector => fixed(INSPECTOR),
        Mode::Normal if app.reader.text.view.selection.is_some() => fixed(SELECTING),
        Mode::Normal => of_pane(app),
    }
}

/// Number of keys of the text in the head of the help.
const IN_HELP: usize = 4;

/// Keys of what is focused, for the head of the help: of the text only the first, and of a view only
/// its own, since all others follow there.
pub(crate) fn in_help(app: &App) -> Vec<(String, &'static str)> {
    match (&app.mode, app.reader.focused()) {
        (Mode::Normal, Pane::Transcript) => of(app).into_iter().take(IN_HELP).collect(),
        (Mode::Normal, Pane::View) => bound(app, &[PAGE, app.reader.views.hints()].concat()),
        _ => of(app),
    }
}

/// Hints of the focused pane.
fn of_pane(app: &App) -> Vec<(String, &'static str)> {
    let actions = match app.reader.focused() {
        Pane::Outline => OUTLINE,
        Pane::View => &[PAGE, app.reader.views.hints(), AFTER_PAGE].concat(),
        Pane::Transcript | Pane::Inspector if app.reader.text.find.search.is_some() => SEARCHING,
        Pane::Transcript | Pane::Inspector if is_on_call(app) => &[ON_CALL, READING].concat(),
        Pane::Transcript | Pane::Inspector => READING,
    };
    bound(app, actions)
}

/// Whether the focused item is a call, or a result without one.
fn is_on_call(app: &App) -> bool {
    let reader = &app.reader;
    let block = reader.text.view.focus.and_then(|focus| {
        let entry = reader.session.transcript.get(focus.entry)?;
        entry.blocks.get(focus.block)
    });
    block.is_some_and(|block| matches!(block.kind, BlockKind::Call(_) | BlockKind::Result(_)))
}

/// Hints of the picker: letters are typed, except that before the first one some keys open other
/// screens.
fn in_picker(app: &App) -> Vec<(String, &'static str)> {
    if app.picker.is_typing() {
        return fixed(&[
            ("enter", "open"),
            ("up/down", "choose"),
            ("tab", "preview"),
            ("esc", "clear"),
            ("F1", "keys"),
        ]);
    }
    let esc = if has_session_below(app) {
        "back"
    } else {
        "quit"
    };
    let mut hints = fixed(&[
        ("letters", "search"),
        ("enter", "open"),
        ("space", "mark"),
        ("esc", esc),
    ]);
    hints.extend(bound(
        app,
        &[
            (&[Action::Wall], "wall"),
            (&[Action::Usage], "usage"),
            (&[Action::Palette], "commands"),
        ],
    ));
    hints.extend(fixed(&[("</>", "sort"), ("tab", "preview")]));
    hints.extend(bound(app, &[(&[Action::Help], "all keys")]));
    hints
}

/// Whether leaving a list returns to a session.
fn has_session_below(app: &App) -> bool {
    !app.below.is_empty()
}

/// Number of hints on the wall.
const HINTS_ON_WALL: usize = 8;

/// Hints of the wall. The effect of `q` depends on whether a session is open.
fn on_wall(app: &App) -> Vec<(String, &'static str)> {
    let back = if has_session_below(app) {
        "back"
    } else {
        "quit"
    };
    let first = ON_WALL.get(..HINTS_ON_WALL).unwrap_or(ON_WALL);
    bound(
        app,
        &[
            first,
            &[(&[Action::Quit], back), (&[Action::Help], "all keys")],
        ]
        .concat(),
    )
}

fn in_ledger(app: &App) -> Vec<(String, &'static str)> {
    let enter = if app.ledger.question.by == By::Session {
        "open"
    } else {
        "its sessions"
    };
    let mut hints = bound(
        app,
        &[
            (&[Action::Next, Action::Previous], "choose"),
            (&[Action::Unfold], enter),
        ],
    );
    hints.push((GROUPS.to_owned(), "by what"));
    hints.extend(bound(
        app,
        &[
            (&[Action::LevelUp, Action::LevelDown], "time"),
            (&[Action::Filter], "since"),
            SORT,
            (&[Action::Quit], "back"),
            (&[Action::Help], "all keys"),
        ],
    ));
    hints
}

/// The user's keys for actions.
fn bound(app: &App, actions: &[Hint]) -> Vec<(String, &'static str)> {
    let keymap = &app.keys.keymap;
    let all = actions
        .iter()
        .map(|(actions, doc)| (keymap.keys_of_all(actions, "/"), *doc));
    all.filter(|(keys, _)| !keys.is_empty()).collect()
}

/// Keys that cannot be rebound, and what they do.
type Hints = &'static [(&'static str, &'static str)];

/// While a search is typed.
const TYPING_SEARCH: Hints = &[
    ("enter", "keep"),
    ("esc", "give up"),
    ("ctrl-r", "literal"),
    ("up/down", "earlier ones"),
    (
        "u: t: e: b: k: s:",
        "prompts, tools, errors, answers, thinking, notes",
    ),
    ("ctrl-u", "clear"),
];

/// While a filter is typed.
const TYPING_FILTER: Hints = &[
    ("enter", "filter; nothing shows all"),
    ("tab", "complete"),
    ("esc", "give up"),
    ("up/down", "earlier ones"),
    (
        "err tool:X dur>10s cost>.1 since:10m role:user \"text\" /re/ -x or",
        "",
    ),
    ("ctrl-u", "clear"),
];

/// While a filter of the wall is typed.
const TYPING_WHICH: Hints = &[
    ("enter", "filter; nothing shows all"),
    ("tab", "complete"),
    ("esc", "give up"),
    (
        "waiting tool err loop agent:X project:X model:X cost>1 ctx>80% since:10m \"text\" /re/ -x or",
        "",
    ),
    ("ctrl-u", "clear"),
];

/// While an alarm for all sessions is typed.
const TYPING_ALARM: Hints = &[
    ("enter", "watch; nothing ends it"),
    ("tab", "complete"),
    ("esc", "give up"),
    (
        "waiting or err or silent>5m or loop or cost>5 | command",
        "",
    ),
    ("ctrl-u", "clear"),
];

/// While a time is typed in the ledger.
const TYPING_SINCE: Hints = &[
    ("enter", "count from then on; nothing counts all"),
    ("esc", "give up"),
    ("today monday 7d 1w 2026-11", ""),
];

/// While a shell command for records is typed.
const TYPING_COMMAND: Hints = &[
    ("enter", "run"),
    ("esc", "give up"),
    ("up/down", "earlier ones"),
    ("ctrl-u", "clear"),
];

const CHOOSING: Hints = &[
    ("enter", "do it"),
    ("tab", "complete"),
    ("up/down", "choose"),
    ("esc", "give up"),
];

/// In the raw pop-up.
const RECORD: Hints = &[
    ("j/k", "move"),
    ("space/b", "page"),
    ("yy", "copy the record"),
    ("yq", "copy the jq path"),
    ("q", "close"),
];

const INSPECTOR: Hints = &[
    ("j/k", "row"),
    ("h/l", "tab"),
    ("enter", "go to what the row names"),
    ("yy", "copy"),
    ("tab", "next pane"),
    ("esc", "back to the text"),
    ("?", "all keys"),
];

/// While rows are selected.
const SELECTING: Hints = &[
    ("j/k { } G", "extend"),
    ("y", "copy"),
    ("|", "pipe"),
    (":export html rows", "share"),
    ("o", "other end"),
    ("esc", "leave"),
];

/// Hints on a call, shown before those of the transcript.
const ON_CALL: &[Hint] = &[(&[Action::Pair], "its end")];

/// Hints in the transcript.
const READING: &[Hint] = &[
    (&[Action::Next, Action::Previous], "move"),
    (
        &[
            Action::Seek(LandmarkKind::Prompt, Way::Previous),
            Action::Seek(LandmarkKind::Prompt, Way::Next),
        ],
        "prompt",
    ),
    (&[Action::Seek(LandmarkKind::Error, Way::Next)], "failure"),
    (&[Action::Unfold], "open"),
    (&[Action::LevelUp, Action::LevelDown], "detail"),
    (&[Action::Search], "search"),
    (&[Action::Raw], "raw"),
    (&[Action::Panes(PaneChange::Inspector)], "inspect"),
    (&[Action::Panes(PaneChange::Focus(Way::Next))], "panes"),
    (&[Action::ToggleFollow], "follow"),
    (&[Action::Palette], "commands"),
    (&[Action::Help], "all keys"),
];

/// Hints in the outline.
const OUTLINE: &[Hint] = &[
    (&[Action::Next, Action::Previous], "move"),
    HEADINGS,
    (&[Action::Unfold], "go there"),
    (&[Action::Cancel], "back"),
    (&[Action::Panes(PaneChange::Focus(Way::Next))], "next pane"),
    (
        &[
            Action::Panes(PaneChange::DividerLeft),
            Action::Panes(PaneChange::DividerRight),
        ],
        "width",
    ),
    (&[Action::Panes(PaneChange::Outline)], "hide"),
    (&[Action::Help], "all keys"),
];

const PAGE: &[Hint] = &[
    (&[Action::Next, Action::Previous], "choose"),
    (&[Action::Unfold], "go there"),
];

/// Hints that all views have in common.
const AFTER_PAGE: &[Hint] = &[
    (&[Action::Panes(PaneChange::Inspector)], "inspect"),
    (&[Action::View(View::Transcript)], "text"),
    (&[Action::Quit], "back"),
    (&[Action::Help], "all keys"),
];

/// Hints while a search is active.
const SEARCHING: &[Hint] = &[
    (&[Action::NextHit, Action::PreviousHit], "hit"),
    (&[Action::Cancel], "end search"),
    (&[Action::Next, Action::Previous], "move"),
    (&[Action::Unfold], "open"),
    (&[Action::Bottom], "follow"),
    (&[Action::Help], "all keys"),
];

/// A cell of the bar of views.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarCell {
    /// First column, from the left.
    pub column: u16,
    pub keys: String,
    /// Its name; that of the failures with their number.
    pub name: String,
    /// What a click on it does.
    pub action: Action,
}

impl BarCell {
    /// The column after the cell.
    pub fn end(&self) -> u16 {
        let columns = self.keys.width() + 1 + self.name.width();
        self.column + u16::try_from(columns).unwrap_or(u16::MAX)
    }
}

/// The cells of the bar: as many views as fit, then the lists and the help if there is room. The
/// failures have their number, and that of other errors after a plus.
pub fn bar(keymap: &Keymap, columns: u16, (failures, errors): (u64, u64)) -> Vec<BarCell> {
    let is_view = |binding: &&Binding| {
        matches!(binding.action, Action::View(_)) && binding.group == BindingGroup::Views
    };
    let views: Vec<BarCell> = BINDINGS
        .iter()
        .filter(is_view)
        .filter_map(|binding| {
            let keys = keymap.keys_of(binding.action).next()?;
            let mut name = binding
                .cell
                .split(':')
                .next()
                .unwrap_or_default()
                .to_owned();
            if binding.action == Action::View(View::Checks) {
                name += &match (failures, errors) {
                    (0, 0) => String::new(),
                    (failures, 0) => format!(" {failures}"),
                    (failures, errors) => format!(" {failures}+{errors}"),
                };
            }
            Some(cell(keys, name, binding.action))
        })
        .collect();
    let more = [
        (Action::Sessions, "sessions"),
        (Action::Wall, "wall"),
        (Action::Help, "help"),
    ];
    let more = more.into_iter().filter_map(|(action, name)| {
        Some(cell(
            keymap.keys_of(action).next()?,
            name.to_owned(),
            action,
        ))
    });
    let width = |cells: &[BarCell], gap: u16| {
        cells.iter().map(|cell| cell.end() + gap).sum::<u16>() + 1 - gap.min(1)
    };
    let all: Vec<BarCell> = views.iter().cloned().chain(more).collect();
    let (mut cells, gap) = match (width(&all, 2) <= columns, width(&views, 2) <= columns) {
        (true, _) => (all, 2),
        (false, true) => (views, 2),
        (false, false) => (views, 1),
    };
    let mut column = 1;
    for cell in &mut cells {
        cell.column = column;
        column = cell.end() + gap;
    }
    cells.retain(|cell| cell.end() <= columns);
    cells
}

fn cell(keys: String, name: String, action: Action) -> BarCell {
    BarCell {
        column: 0,
        keys: keys.replace(' ', ""),
        name,
        action,
    }
}

#[cfg(test)]
mod tests {
    use super::{AFTER_PAGE, ON_CALL, OUTLINE, PAGE, READING, SEARCHING, bar};
    use crate::app::input::bindings::BINDINGS;
    use crate::app::input::keymap::Keymap;
    use crate::app::pop_ups::list_keys::{IN_LEDGER, ON_WALL};
    use crate::app::views::Views;

    #[test]
    fn the_bar_has_all_views_at_80_columns_and_the_lists_beside_them_at_120() {
        let names = |columns, failures| -> Vec<String> {
            let cells = bar(&Keymap::default(), columns, (failures, 0));
            assert!(
                cells
                    .windows(2)
                    .all(|two| matches!(two, [a, b] if a.end() < b.column))
            );
            cells.into_iter().map(|cell| cell.name).collect()
        };
        let views = [
            "text", "time", "tools", "cost", "context", "tree", "files", "failures", "brief",
        ];
        assert_eq!(names(80, 0), views);
        assert_eq!(names(120, 0)[..9], views);
        assert_eq!(names(120, 0)[9..], ["sessions", "wall", "help"]);
        assert_eq!(names(40, 0), views[..5]);
        assert_eq!(names(80, 1_234)[7..], ["failures 1234", "brief"]);
        let with_errors = bar(&Keymap::default(), 80, (6, 60));
        assert!(with_errors.iter().any(|cell| cell.name == "failures 6+60"));
        assert!(with_errors.iter().any(|cell| cell.name == "brief"));
    }

    /// Words of a screen for keys whose line in the help has none of them, and why they are the same.
    const IN_OTHER_WORDS: &[(&[&str], &[&str], &str)] = &[
        (&["next", "previous"], &["move", "choose"], "by rows"),
        (
            &["unfold"],
            &["go there", "its sessions, or the session"],
            "a row of a list opens what it is of",
        ),
        (&["cancel", "quit"], &["back"], "closes what is open"),
        (
            &["collapse"],
            &["all files", "fold, unfold"],
            "to what holds the row",
        ),
        (
            &["level-up", "level-down", "level-1", "level-3"],
            &[
                "group",
                "zoom",
                "session, turn",
                "slowest first, in order",
                "tool against tool",
                "all rows, some",
                "all steps, some",
            ],
            "more and less of it",
        ),
        (
            &["shift-left", "shift-right"],
            &["pan", "window of another sub-agent"],
            "to what lies beside it",
        ),
        (&["pair"], &["the other run there"], "the other of two"),
        (
            &["filter-expression"],
            &["since when: monday, 1w, 2026-11"],
            "only a part is counted",
        ),
        (
            &["next-pane", "previous-pane"],
            &["along what it can be by; branches, too"],
            "one pane, many pages",
        ),
        (
            &["toggle-inspector"],
            &["preview"],
            "the pane of the chosen row",
        ),
        (&["divider-right"], &["width"], "of the pane"),
        (&["toggle-outline"], &["hide"], "off"),
    ];

    /// Words that tell nothing of a key.
    const EMPTY: [&str; 9] = [
        "next", "previous", "them", "that", "the", "and", "its", "all", "other",
    ];

    #[test]
    fn screens_say_of_a_key_what_the_help_says() {
        let views = Views::default();
        let tables = [
            READING, ON_CALL, SEARCHING, OUTLINE, PAGE, AFTER_PAGE, ON_WALL, IN_LEDGER,
        ];
        let of_views = views.of_all_pages();
        let stems = |text: &str| -> Vec<String> {
            let words = text.split(|c: char| !c.is_alphanumeric());
            let words = words.filter(|word| word.len() > 2 && !EMPTY.contains(word));
            words.map(|word| word.chars().take(4).collect()).collect()
        };
        let mut wrong = Vec::new();
        for (actions, words) in tables.into_iter().flatten().chain(of_views) {
            for action in *actions {
                let binding = BINDINGS.iter().find(|binding| binding.action == *action);
                let binding = binding.unwrap_or_else(|| panic!("{words} has no key"));
                let said = [binding.name, binding.doc, binding.cell, binding.also].join(" ");
                let said = stems(&said);
                let is_said = stems(words).iter().any(|stem| said.contains(stem));
                let is_excused = IN_OTHER_WORDS.iter().any(|(names, others, _)| {
                    names.contains(&binding.name) && others.contains(words)
                });
                if !is_said && !is_excused {
                    wrong.push(format!("{} is {words:?}: {}", binding.name, binding.doc));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
