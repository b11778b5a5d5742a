//! The view of files: all of them, or the history of one: who read, searched, changed and wrote it, in the
//! order of time, over all lanes.

mod history;

use std::cmp::Reverse;

use history::{History, words_of};
use ratatui::text::{Line, Span};

use super::list::List;
use super::page::{Answer, Hint, Page, PageScene, Sheet, SheetRow};
use super::table::{Column, Order, Table};
use crate::analysis::files::{File, Use};
use crate::app::input::action::{Action, Way};
use crate::app::text::viewport::Focus;
use crate::model::figures::count;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::render::wrap::{self, Frame};
use crate::session::indexes::Needs;

/// What its keys do.
const HINTS: &[Hint] = &[
    (&[Action::Collapse], "all files"),
    (
        &[Action::Shift(Way::Previous), Action::Shift(Way::Next)],
        "sort",
    ),
    (&[Action::Reverse], "reverse"),
];

/// Columns of the list.
const COLUMNS: &[Column] = &[
    Column::words("", 1, 9),
    Column::rest("file", 16),
    Column::figures("r", 4, 6),
    Column::figures("e", 4, 8),
    Column::figures("w", 4, 7),
    Column::figures("lanes", 5, 3),
    Column::words("last", 8, 5),
    Column::words("flags", 16, 4),
];
/// The column of paths.
const PATH: usize = 1;
/// Lines about the chosen file.
const FOOT: usize = 3;

/// What the list is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum By {
    /// Changes, then reads.
    #[default]
    Changes,
    /// The last use.
    Last,
    /// Flags.
    Flags,
    /// The path.
    Path,
}

impl By {
    const ALL: [Self; 4] = [Self::Path, Self::Changes, Self::Last, Self::Flags];

    fn column(self) -> usize {
        match self {
            Self::Path => PATH,
            Self::Changes => 3,
            Self::Last => 6,
            Self::Flags => 7,
        }
    }

    fn beside(self, way: Way) -> Self {
        let at = Self::ALL.iter().position(|by| *by == self).unwrap_or(0);
        let step = if way == Way::Next {
            1
        } else {
            Self::ALL.len() - 1
        };
        Self::ALL
            .get((at + step) % Self::ALL.len())
            .copied()
            .unwrap_or_default()
    }
}

/// The page.
#[derive(Debug, Default)]
pub(crate) struct Files {
    list: List<Text>,
    /// The file whose history is shown.
    inside: Option<(Text, History)>,
    by: By,
    is_reversed: bool,
    /// What the list was made for.
    made: Option<(u64, By, bool)>,
}

impl Files {
    fn refresh(&mut self, scene: &PageScene<'_>) {
        let files = &scene.indexes.files;
        let made = Some((files.generation(), self.by, self.is_reversed));
        if self.made != made {
            self.made = made;
            let mut rows: Vec<(&Text, &File)> = files.list().collect();
            rows.sort_by_key(|(path, _)| *path);
            match self.by {
                By::Path => {}
                By::Changes => {
                    rows.sort_by_key(|(_, file)| Reverse((file.edits + file.writes, file.reads)));
                }
                By::Last => rows.sort_by_key(|(_, file)| Reverse(file.last)),
                By::Flags => rows.sort_by_key(|(_, file)| Reverse(file.flags)),
            }
            if self.is_reversed {
                rows.reverse();
            }
            self.list.set(
                rows.into_iter().map(|(path, _)| path.clone()).collect(),
                false,
            );
        }
        if let Some((path, history)) = &mut self.inside {
            match files.file(path) {
                Some(file) => history.refresh(file, files.generation(), scene.follows),
                None => self.inside = None,
            }
        }
    }

    fn open(&mut self, scene: &PageScene<'_>) -> Answer {
        let chosen = self.list.chosen().cloned();
        let Some((path, file)) =
            chosen.and_then(|path| Some((path.clone(), scene.indexes.files.file(&path)?)))
        else {
            return Answer::Pass;
        };
        let mut history = History::default();
        history.refresh(file, scene.indexes.files.generation(), scene.follows);
        history.look_at(scene.focus.filter(|focus| is_use(file, *focus)));
        self.inside = Some((path, history));
        Answer::Done
    }

    fn all(&mut self, scene: &PageScene<'_>) -> Sheet {
        let files = &scene.indexes.files;
        let flagged = files.list().filter(|(_, file)| file.flags > 0).count();
        let mut words = format!("  {}", count(self.list.keys().len() as u64, "file"));
        if flagged > 0 {
            words += &format!(", {flagged} with flags");
        }
        let title = vec![Span::raw("FILES"), Span::raw(words)];
        if self.list.keys().is_empty() {
            let word = if scene.is_whole {
                "No file was read or changed."
            } else {
                "The session is still being read."
            };
            let rows = vec![SheetRow {
                line: Line::styled(word, scene.theme.dim),
                ..SheetRow::default()
            }];
            return Sheet {
                title,
                rows,
                ..Sheet::default()
            };
        }
        let table = Table::fit(COLUMNS, scene.columns());
        let (height, foot) = scene.divide(1, FOOT);
        self.list.fit(height);
        let rows = self.list.window().map(|(number, path, is_chosen)| {
            let cells = files
                .file(path)
                .map(|file| cells(path, file, is_chosen, &table, scene));
            SheetRow {
                line: table.row(cells.unwrap_or_default(), scene.theme),
                is_chosen,
                number,
            }
        });
        let rows = rows.collect();
        let order = if (self.by == By::Path) == self.is_reversed {
            Order::Falling
        } else {
            Order::Rising
        };
        let heads = vec![table.heads(Some((self.by.column(), order)), scene.theme)];
        let foot = if foot > 0 {
            self.foot_lines(scene)
        } else {
            Vec::new()
        };
        Sheet {
            title,
            heads,
            rows,
            foot,
            ..Sheet::default()
        }
    }

    /// The whole path of the chosen file, and what went wrong first.
    fn foot_lines(&self, scene: &PageScene<'_>) -> Vec<Line<'static>> {
        let Some((path, file)) = self
            .list
            .chosen()
            .and_then(|path| Some((path, scene.indexes.files.file(path)?)))
        else {
            return Vec::new();
        };
        let path = wrap::fit_path(path, scene.columns(), scene.theme.glyphs().cut);
        let first = file.uses.iter().find(|one| one.flag().is_some());
        let words = first.map(|one| words_of(one, scene)).unwrap_or_default();
        let mut lines = vec![Line::raw(path)];
        lines.extend(wrap::wrap(
            &[Span::styled(words, scene.theme.warn)],
            &Frame::of(scene.columns()),
        ));
        lines.truncate(FOOT);
        lines
    }
}

fn is_use(file: &File, focus: Focus) -> bool {
    file.uses.iter().any(|one| one.place == focus)
}

fn cells(
    path: &Text,
    file: &File,
    is_chosen: bool,
    table: &Table,
    scene: &PageScene<'_>,
) -> Vec<Span<'static>> {
    let theme = scene.theme;
    let figure = |n: usize| {
        Span::raw(if n == 0 {
            "-".to_owned()
        } else {
            n.to_string()
        })
    };
    let path = wrap::fit_path(path, table.width_of(PATH).unwrap_or(0), theme.glyphs().cut);
    let style = match (is_chosen, file.edits + file.writes) {
        (true, _) => theme.focus,
        (false, 0) => theme.dim,
        (false, _) => theme.text,
    };
    let sign = if file.flags > 0 { "!" } else { "" };
    let mut flags: Vec<(&str, usize)> = Vec::new();
    for flag in file.uses.iter().filter_map(Use::flag) {
        match flags.iter_mut().find(|(word, _)| *word == flag.word()) {
            Some((_, number)) => *number += 1,
            None => flags.push((flag.word(), 1)),
        }
    }
    let counted = |(word, number): (&str, usize)| {
        if number == 1 {
            word.to_owned()
        } else {
            format!("{number} {word}")
        }
    };
    let flags: Vec<String> = flags.into_iter().map(counted).collect();
    vec![
        Span::styled(sign, theme.warn),
        Span::styled(path, style),
        figure(file.reads),
        figure(file.edits),
        figure(file.writes),
        Span::styled(file.lanes.to_string(), theme.dim),
        Span::styled(
            file.last.map(Timestamp::clock).unwrap_or_default(),
            theme.dim,
        ),
        Span::styled(flags.join(", "), theme.warn),
    ]
}

impl Page for Files {
    fn needs(&self) -> Needs {
        Needs {
            files: true,
            ..Needs::default()
        }
    }

    fn arrange(&mut self, scene: &PageScene<'_>) -> Sheet {
        self.refresh(scene);
        match &mut self.inside {
            Some((path, history)) => history.arrange(path, scene),
            None => self.all(scene),
        }
    }

    fn act(&mut self, scene: &PageScene<'_>, action: Action, times: usize) -> Answer {
        if let Some((_, history)) = &mut self.inside {
            if action == Action::Collapse {
                self.inside = None;
                return Answer::Done;
            }
            return if history.act(action, times) {
                Answer::Done
            } else {
                Answer::Pass
            };
        }
        match action {
            Action::Expand => self.open(scene),
            Action::Collapse => {
                Answer::Say("this is the list of all files; q leads back".to_owned())
            }
            Action::Shift(way) => {
                self.by = self.by.beside(way);
                self.is_reversed = false;
                Answer::Unfolded
            }
            Action::Reverse => {
                self.is_reversed = !self.is_reversed;
                Answer::Unfolded
            }
            action if self.list.act(action, times) => Answer::Done,
            _ => Answer::Pass,
        }
    }

    fn look_at(&mut self, scene: &PageScene<'_>, focus: Focus) {
        let files = &scene.indexes.files;
        let Some(path) = files.of_call(focus) else {
            return;
        };
        match &mut self.inside {
            Some((inside, history))
                if files.file(inside).is_some_and(|file| is_use(file, focus)) =>
            {
                history.look_at(Some(focus));
            }
            _ => {
                self.inside = None;
                self.list.choose_key(path);
            }
        }
    }

    fn choose(&mut self, number: usize) {
        match &mut self.inside {
            Some((_, history)) => history.choose(number),
            None => self.list.choose(number),
        }
    }

    fn forget(&mut self) {
        *self = Self {
            by: self.by,
            is_reversed: self.is_reversed,
            ..Self::default()
        };
    }

    fn ends_with_session(&self) -> bool {
        false
    }

    fn hints(&self) -> &'static [Hint] {
        HINTS
    }

    fn target(&self, scene: &PageScene<'_>) -> Option<Focus> {
        if let Some((_, history)) = &self.inside {
            return history.target();
        }
        let file = scene.indexes.files.file(self.list.chosen()?)?;
        let here = scene.focus.filter(|focus| is_use(file, *focus));
        here.or_else(|| file.uses.first().map(|one| one.place))
    }
}
