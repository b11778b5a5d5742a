//! The view of files: a list of all, or the history of one: which calls read, searched, changed and
//! wrote it, by time, over all lanes; or its lines with the call that wrote each.

mod history;
mod lines;

use history::{History, words_of};
use lines::FileLines;
use ratatui::text::{Line, Span};

use super::list::List;
use super::page::{Answer, Hint, Page, PageScene, REVERSE, SORT, Sheet};
use crate::analysis::files::FileUses;
use crate::app::input::action::Action;
use crate::app::text::viewport::Focus;
use crate::listing::files::{FileList, MOST_CHANGED, keys};
use crate::listing::sort::Sort;
use crate::model::entry::EntryId;
use crate::model::figures::count;
use crate::model::text::Text;
use crate::render::theme::Theme;
use crate::render::wrap;
use crate::session::indexes::Needs;

const HINTS: &[Hint] = &[(&[Action::Collapse], "all files"), SORT, REVERSE];

/// Lines about the chosen file.
const FOOT: usize = 3;

#[derive(Debug)]
pub(crate) struct FilesView {
    list: List<Text>,
    /// The path and history of the opened file; `None` shows the list.
    inside: Option<(Text, History)>,
    /// The lines of the opened file, if they are shown instead of its history.
    lines: Option<FileLines>,
    /// The state and order that the list was built from.
    built_from: Option<(u64, u64, Option<Sort>)>,
}

impl Default for FilesView {
    fn default() -> Self {
        Self {
            list: List::default().sorted(MOST_CHANGED),
            inside: None,
            lines: None,
            built_from: None,
        }
    }
}

impl FilesView {
    fn refresh(&mut self, scene: &PageScene<'_>) {
        let files = &scene.indexes.files;
        let carried = scene.indexes.carried.generation;
        let made = Some((files.generation, carried, self.list.sort()));
        if self.built_from != made {
            self.built_from = made;
            self.list.fill(&file_list(scene), keys(files), false);
        }
        if let Some((path, history)) = &mut self.inside {
            if let Some(file) = files.file(path) {
                history.refresh(file, files.generation, scene.follows);
            } else {
                (self.inside, self.lines) = (None, None);
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
        history.refresh(file, scene.indexes.files.generation, scene.follows);
        history.choose_focus(scene.focus.filter(|focus| is_use(file, *focus)));
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
            let why = if scene.is_whole {
                "No file was read or changed."
            } else {
                "The session is still being read."
            };
            return Sheet::empty(title, why, scene);
        }
        let (height, foot) = scene.divide(1, FOOT);
        self.list.fit(height);
        let (heads, rows) = self.list.write(&file_list(scene), scene);
        let foot = if foot > 0 {
            self.foot_lines(scene)
        } else {
            Vec::new()
        };
        Sheet {
            title,
            heads: vec![heads],
            rows,
            foot,
            ..Sheet::default()
        }
    }

    /// The full path of the chosen file, and its first problem.
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
            &scene.frame(FOOT - 1),
        ));
        lines
    }
}

fn is_use(file: &FileUses, focus: Focus) -> bool {
    file.uses.iter().any(|one| one.place == focus)
}

fn file_list<'a>(scene: &PageScene<'a>) -> FileList<'a> {
    let indexes = scene.indexes;
    FileList::of(scene.transcript, &indexes.files, &indexes.carried)
}

impl Page for FilesView {
    fn needs(&self) -> Needs {
        Needs {
            files: true,
            windows: true,
            carried: true,
            ..Needs::default()
        }
    }

    fn arrange(&mut self, scene: &PageScene<'_>) -> Sheet {
        self.refresh(scene);
        match (&mut self.inside, &mut self.lines) {
            (Some((path, _)), Some(lines)) => lines.arrange(path, scene),
            (Some((path, history)), None) => history.arrange(path, scene),
            (None, _) => self.all(scene),
        }
    }

    fn act(&mut self, scene: &PageScene<'_>, action: Action, times: usize) -> Answer {
        if let Some((_, history)) = &mut self.inside {
            match (action, &mut self.lines) {
                (Action::Collapse, _) => {
                    (self.inside, self.lines) = (None, None);
                    return Answer::Done;
                }
                (Action::LevelUp | Action::LevelDown, _) => {
                    let is_shown = action == Action::LevelUp;
                    self.lines = is_shown.then(|| self.lines.take().unwrap_or_default());
                    return Answer::Unfolded;
                }
                (action, Some(lines)) => {
                    return lines.act(action, times).unwrap_or(Answer::Pass);
                }
                (action, None) => return history.act(action, times).unwrap_or(Answer::Pass),
            }
        }
        match action {
            Action::Expand => self.open(scene),
            Action::Collapse => {
                Answer::Message("this is the list of all files; q leads back".to_owned())
            }
            action => self.list.act(action, times).unwrap_or(Answer::Pass),
        }
    }

    fn choose_focus(&mut self, scene: &PageScene<'_>, focus: Focus) {
        let files = &scene.indexes.files;
        let Some(path) = files.of_call(focus) else {
            return;
        };
        match &mut self.inside {
            Some((inside, history))
                if files.file(inside).is_some_and(|file| is_use(file, focus)) =>
            {
                history.choose_focus(Some(focus));
            }
            _ => {
                (self.inside, self.lines) = (None, None);
                self.list.choose_key(path);
            }
        }
    }

    fn choose(&mut self, number: usize) {
        match (&mut self.inside, &mut self.lines) {
            (Some(_), Some(lines)) => lines.choose(number),
            (Some((_, history)), None) => history.choose(number),
            (None, _) => self.list.choose(number),
        }
    }

    fn reset(&mut self) {
        *self = Self {
            list: self.list.emptied(),
            ..Self::default()
        };
    }

    fn ends_with_session(&self) -> bool {
        false
    }

    fn legend(&self, _: &Theme) -> Vec<(&'static str, &'static str)> {
        if self.inside.is_some() {
            return Vec::new();
        }
        vec![
            ("r e w", "read, edited, written"),
            ("carried", "its later cost"),
            ("lanes", "agents that did"),
            ("!", "stale read, undone, not applied"),
        ]
    }

    fn hints(&self) -> &'static [Hint] {
        HINTS
    }

    fn bodies(&self, _: &PageScene<'_>) -> Vec<EntryId> {
        self.lines
            .as_ref()
            .map(FileLines::bodies)
            .unwrap_or_default()
    }

    fn target(&self, scene: &PageScene<'_>) -> Option<Focus> {
        if let Some((_, history)) = &self.inside {
            let target = |lines: &FileLines| lines.target();
            return self.lines.as_ref().map_or_else(|| history.target(), target);
        }
        let file = scene.indexes.files.file(self.list.chosen()?)?;
        let here = scene.focus.filter(|focus| is_use(file, *focus));
        here.or_else(|| file.uses.first().map(|one| one.place))
    }
}
