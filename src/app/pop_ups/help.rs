//! The help: a page with the keys for the focused item, views, signs and all other keys; the
//! results of a search in it; and the pages of the manual.

use unicode_width::UnicodeWidthStr;

use super::list_keys::{ANYWHERE, keys_of};
use super::raw::RawView;
use super::signs::signs;
use super::sought::rank;
use crate::app::input::bindings::{BINDINGS, Binding, BindingGroup, GROUPS};
use crate::app::input::command::COMMANDS;
use crate::app::input::keymap::Keymap;
use crate::app::mode::{HelpSubject, Mode};
use crate::app::screen::Screen;
use crate::app::screens::AppScreen;
use crate::render::code::Colours;
use crate::render::manual::{self, ManualPage};
use crate::render::row::{Look, Row};

#[derive(Clone, Debug, PartialEq)]
pub enum HelpLine {
    /// The heading of a group.
    Heading(&'static str),
    /// Keys and signs in columns.
    Cells(Vec<HelpCell>),
    /// A result of the search.
    Found {
        keys: String,
        doc: &'static str,
        /// Name of the action in palette and settings.
        action: &'static str,
    },
}

/// Keys or a sign, with their meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct HelpCell {
    pub keys: String,
    pub words: &'static str,
    /// Width in columns.
    pub columns: usize,
}

/// Inputs of the help.
#[derive(Clone, Copy, Debug)]
pub struct HelpScene<'a> {
    pub keymap: &'a Keymap,
    /// What had the focus when the help was opened.
    pub here: &'a HelpSubject,
    pub below: AppScreen,
    pub screen: &'a Screen,
}

/// A page of the manual in a pop-up.
pub(crate) fn page(screen: &Screen, page: &'static ManualPage, below: AppScreen) -> RawView {
    let title = format!("Help on {}", page.topic);
    let mut view = RawView::of_text(title, page_rows(screen, page), page.text(help_command));
    (view.page, view.below) = (Some(page), below);
    view
}

/// Lays out the open page again after a resize, and scrolls to about the same part.
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

fn page_rows(screen: &Screen, page: &ManualPage) -> Vec<Row> {
    let width = screen.size.0.saturating_sub(2).max(1);
    // Code samples are few and short, so they are not highlighted.
    manual::rows(
        &page.text(help_command),
        &Look::full(width, &screen.theme, &Colours::never()),
    )
}

fn help_command(topic: &str) -> String {
    format!(":help {topic}")
}

/// Least width of a cell.
const CELL: usize = 28;
/// Least width of the keys in a cell, so that the descriptions are aligned.
const KEYS: usize = 6;

/// The lines of the help, each with its columns: the page of keys and signs, or the results of a
/// search, the best first.
pub fn lines(scene: HelpScene<'_>, wanted: &str) -> Vec<Vec<HelpLine>> {
    if !wanted.trim().is_empty() {
        return found(scene, wanted)
            .into_iter()
            .map(|line| vec![line])
            .collect();
    }
    let columns = usize::from(scene.screen.size.0).saturating_sub(2);
    let mut left = page_of_keys(scene, columns / parts(columns));
    let mut beside: Vec<Vec<HelpLine>> = Vec::new();
    for rest in (1..=parts(columns)).rev() {
        let mut share = left.len().div_ceil(rest);
        // A heading must not be separated from its group.
        while share > 0 && matches!(left.get(share - 1), Some(HelpLine::Heading(_))) {
            share += 1;
        }
        let after = left.split_off(share.min(left.len()));
        beside.push(std::mem::replace(&mut left, after));
    }
    let longest = beside.iter().map(Vec::len).max().unwrap_or(0);
    let line = |part: &Vec<HelpLine>, place: usize| {
        let line = part.get(place).cloned();
        line.unwrap_or_else(|| HelpLine::Cells(Vec::new()))
    };
    let page = (0..longest).map(|place| beside.iter().map(|part| line(part, place)).collect());
    // Its meanings are sentences, which a part of the page would cut.
    let row = of_row(scene.here.signs.clone(), columns).into_iter();
    row.map(|line| vec![line]).chain(page).collect()
}

/// The kind of the chosen row and its marks, over the whole width.
fn of_row(signs: Vec<(String, &'static str)>, columns: usize) -> Vec<HelpLine> {
    if signs.is_empty() {
        return Vec::new();
    }
    let title = ("This row".to_owned(), "");
    rows_of_cells(std::iter::once(title).chain(signs).collect(), columns, 1)
}

/// Number of parts of the page that stand side by side, each with one or two columns of cells.
pub fn parts(columns: usize) -> usize {
    match columns / CELL {
        0..=2 => 1,
        3 => 3,
        _ => 2,
    }
}

/// The keys of what is focused, then views, marks and signs, then the rest.
fn page_of_keys(scene: HelpScene<'_>, columns: usize) -> Vec<HelpLine> {
    let signs = ("Marks and signs", signs(&scene.screen.theme));
    let of_group = |group: BindingGroup| {
        let bindings = BINDINGS
            .iter()
            .filter(move |binding| binding.group == group);
        (group.title(), cells(scene, bindings))
    };
    let mut groups: Vec<(&'static str, Vec<(String, &'static str)>)> = Vec::new();
    match scene.below {
        AppScreen::Session => {
            groups.push(("Here", scene.here.keys.clone()));
            let mut all = GROUPS.map(of_group).into_iter();
            groups.extend(all.next());
            groups.push(signs);
            groups.extend(all);
        }
        list => {
            let anywhere = BINDINGS
                .iter()
                .filter(|binding| ANYWHERE.contains(&binding.action));
            groups.push((list.title(), keys_of(scene.keymap, list)));
            // In the picker they are letters.
            if list != AppScreen::Picker {
                groups.push((BindingGroup::Program.title(), cells(scene, anywhere)));
            }
            groups.push(signs);
        }
    }
    let mut lines = Vec::new();
    for (title, cells) in groups.into_iter().filter(|(_, cells)| !cells.is_empty()) {
        lines.push(HelpLine::Heading(title));
        lines.extend(rows_of_cells(cells, columns, CELL));
    }
    lines
}

/// The first keys of bindings with their short descriptions; bindings without one share that of the
/// previous binding.
fn cells<'b>(
    scene: HelpScene<'_>,
    bindings: impl Iterator<Item = &'b Binding>,
) -> Vec<(String, &'static str)> {
    let mut cells: Vec<(Vec<String>, &'static str)> = Vec::new();
    for binding in bindings {
        let keys = scene
            .keymap
            .keys_of(binding.action)
            .next()
            .map(|keys| keys.replace(' ', ""));
        match cells.last_mut() {
            Some((known, _)) if binding.cell.is_empty() => known.extend(keys),
            _ => cells.push((keys.into_iter().collect(), binding.cell)),
        }
    }
    let cut = scene.screen.theme.glyphs().ellipsis;
    let joined = |keys: &[String]| match keys {
        [first, _, .., last] => format!("{first} {cut} {last}"),
        few => few.join(" "),
    };
    cells.retain(|(keys, _)| !keys.is_empty());
    cells
        .iter()
        .map(|(keys, words)| (joined(keys), *words))
        .collect()
}

/// Arranges cells of at least a width in rows, as many as fit; one that is too wide takes the space of
/// several.
fn rows_of_cells(
    cells: Vec<(String, &'static str)>,
    columns: usize,
    least: usize,
) -> Vec<HelpLine> {
    let across = (columns / least).max(1);
    let cell = (columns / across).max(1);
    let (mut rows, mut row, mut taken) = (Vec::new(), Vec::new(), 0);
    for (keys, words) in cells {
        let wide = keys.width().max(KEYS) + words.width() + 3;
        let takes = wide.div_ceil(cell).clamp(1, across);
        if taken + takes > across {
            rows.push(HelpLine::Cells(std::mem::take(&mut row)));
            taken = 0;
        }
        taken += takes;
        row.push(HelpCell {
            keys: format!("{keys:<KEYS$}"),
            words,
            columns: takes * cell,
        });
    }
    if !row.is_empty() {
        rows.push(HelpLine::Cells(row));
    }
    rows
}

/// Everything that matches all wanted words or has these keys: keys of the screen below, typed
/// commands, signs.
fn found(scene: HelpScene<'_>, wanted: &str) -> Vec<HelpLine> {
    let is_session = scene.below == AppScreen::Session;
    let is_list = scene.below != AppScreen::Picker;
    let bindings = BINDINGS
        .iter()
        .filter(|binding| is_session || is_list && ANYWHERE.contains(&binding.action))
        .map(|binding| {
            let keys: Vec<String> = scene
                .keymap
                .keys_of(binding.action)
                .map(|keys| keys.replace(' ', ""))
                .collect();
            (keys.join("  "), binding.doc, binding.name, binding.also)
        });
    let own = keys_of(scene.keymap, scene.below)
        .into_iter()
        .map(|(keys, doc)| (keys, doc, "", ""));
    let commands = COMMANDS.iter().map(|form| {
        (
            format!(":{} {}", form.name, form.argument),
            form.doc,
            form.name,
            "",
        )
    });
    let signs = signs(&scene.screen.theme)
        .into_iter()
        .map(|(sign, words)| (sign, words, "", "sign mark"));
    let mut found: Vec<(usize, HelpLine)> = bindings
        .chain(own)
        .chain(commands.filter(|_| is_session))
        .chain(signs)
        .filter_map(|(keys, doc, action, also)| {
            let has_keys = keys.split(' ').any(|keys| keys == wanted.trim());
            let rank = if has_keys {
                Some(0)
            } else {
                rank(wanted, action, doc, also)
            };
            rank.map(|rank| (rank, HelpLine::Found { keys, doc, action }))
        })
        .collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, line)| line).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{HelpLine, HelpScene, lines};
    use crate::app::hints;
    use crate::app::input::keymap::Keymap;
    use crate::app::mode::HelpSubject;
    use crate::app::screen::Screen;
    use crate::app::screens::AppScreen;
    use crate::app::state::App;
    use crate::model::timestamp::Timestamp;
    use crate::render::code::Colours;
    use crate::render::row::Level;
    use crate::render::theme::Theme;

    fn help(wanted: &str, below: AppScreen, size: (u16, u16)) -> Vec<HelpLine> {
        let mut screen = Screen::new(Theme::dark(), Arc::new(Colours::never()), Timestamp(0));
        screen.size = size;
        let app = App::new(
            Theme::dark(),
            Level::Preview,
            Arc::new(Colours::never()),
            Timestamp(0),
        );
        let here = HelpSubject {
            signs: vec![("bot".to_owned(), "an answer of the model")],
            keys: hints::in_help(&app),
        };
        let scene = HelpScene {
            keymap: &Keymap::default(),
            here: &here,
            below,
            screen: &screen,
        };
        let lines = lines(scene, wanted);
        if wanted.is_empty() && size.0 >= 100 {
            assert!(
                lines.len() <= usize::from(size.1) - 2,
                "{} lines are no page",
                lines.len()
            );
        }
        lines.into_iter().flatten().collect()
    }

    /// The first names that are found.
    fn names(wanted: &str) -> Vec<&'static str> {
        let found = help(wanted, AppScreen::Session, (120, 40)).into_iter();
        let name = |line| match line {
            HelpLine::Found { action, .. } => Some(action),
            HelpLine::Heading(_) | HelpLine::Cells(_) => None,
        };
        found.filter_map(name).collect()
    }

    #[test]
    fn all_keys_and_signs_are_one_page() {
        for below in [
            AppScreen::Session,
            AppScreen::Wall,
            AppScreen::Ledger,
            AppScreen::Picker,
        ] {
            let lines = help("", below, (120, 40));
            let first = match below {
                AppScreen::Session => "Here",
                list => list.title(),
            };
            let Some(HelpLine::Cells(row)) = lines.first() else {
                panic!("{lines:?}");
            };
            assert_eq!(row[1].words, "an answer of the model");
            assert_eq!(lines.get(1), Some(&HelpLine::Heading(first)));
            assert!(lines.contains(&HelpLine::Heading("Marks and signs")));
        }
        assert!(
            help("", AppScreen::Session, (80, 24)).len() > 40,
            "narrow screens scroll"
        );
        // As short as three parts side by side are.
        help("", AppScreen::Session, (100, 50));
    }

    #[test]
    fn words_that_people_use_find_what_answers_them() {
        for (typed, first) in [
            ("cost", "cost"),
            ("money", "cost"),
            ("slow", "time"),
            ("orphan", "failures"),
            ("failed", "failures"),
            ("save", "export"),
            ("share", "export"),
            ("why", "failures"),
            ("grep", "search"),
            ("previous failure", "previous-failure"),
            ("yj", "copy-json"),
        ] {
            assert_eq!(
                names(typed).first(),
                Some(&first),
                "{typed}: {:?}",
                names(typed)
            );
        }
        assert!(names("orphan").contains(&"pair"));
        assert!(names("nothing of the kind").is_empty());
        let plus = help("at least", AppScreen::Session, (120, 40));
        assert!(matches!(plus.first(), Some(HelpLine::Found { keys, .. }) if keys.contains('+')));
    }

    #[test]
    fn the_help_is_that_of_what_it_lies_over() {
        let doc_of = |wanted: &str, below: AppScreen| {
            let mut lines = help(wanted, below, (120, 40)).into_iter();
            let doc = |line| match line {
                HelpLine::Found { doc, .. } => Some(doc),
                HelpLine::Heading(_) | HelpLine::Cells(_) => None,
            };
            lines.find_map(doc)
        };
        assert_eq!(doc_of("]w", AppScreen::Wall), Some("next that needs you"));
        assert_eq!(doc_of("R", AppScreen::Ledger), Some("count anew"));
        assert_eq!(doc_of("j", AppScreen::Picker), None, "a letter is typed");
    }
}
