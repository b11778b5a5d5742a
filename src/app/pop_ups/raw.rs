//! A pop-up with a cursor: records, a list or a page of the manual. The text and the jq path of the
//! cursor's row can be copied.

use std::sync::Arc;

use ratatui::text::Line;

use crate::app::copying::excerpt;
use crate::app::input::action::CopyTarget;
use crate::app::screen::Screen;
use crate::app::screens::AppScreen;
use crate::model::body::Tree;

use crate::render::manual::ManualPage;
use crate::render::row::{Level, Look, Row, Times};
use crate::render::tree;

/// Limit of the rows; `v` opens the file for the rest.
const MOST_ROWS: usize = 20_000;

/// State of the pop-up.
#[derive(Clone, Debug, Default)]
pub struct RawView {
    pub title: String,
    pub rows: Vec<Row>,
    pub top: usize,
    /// The row of the cursor.
    pub at: usize,
    /// The jq path of the value of each row; `None` for titles.
    paths: Vec<Option<Arc<str>>>,
    /// The text to copy: the records as JSON, or the text of a list.
    texts: Vec<String>,
    /// Whether it is a list, which `y` copies without a second key.
    pub is_list: bool,
    /// The shown page of the manual; `None` for records and lists.
    pub page: Option<&'static ManualPage>,
    pub below: AppScreen,
}

impl RawView {
    /// Creates the view of a list, with its text for a copy.
    pub(crate) fn of_text(title: String, rows: Vec<Row>, text: String) -> Self {
        let paths = vec![None; rows.len()];
        Self {
            title,
            rows,
            paths,
            texts: vec![text],
            is_list: true,
            ..Self::default()
        }
    }

    /// Creates the view of records, each under its title.
    pub(crate) fn of_trees(title: String, trees: &[(String, Tree)], screen: &Screen) -> Self {
        let width = screen.size.0.saturating_sub(2).max(1);
        let look = Look {
            level: Level::Raw,
            times: Times::None,
            ..Look::full(width, &screen.theme, &screen.colours)
        };
        let mut view = Self {
            title,
            ..Self::default()
        };
        for (name, tree) in trees {
            let heading = Line::styled(name.clone(), screen.theme.heading);
            view.push(
                Row {
                    line: heading,
                    ..Row::default()
                },
                None,
            );
            for (row, leaf) in
                tree::rows_with_leaves(tree, usize::from(look.width), MOST_ROWS, &look)
            {
                view.push(row, Some(leaf.path));
            }
            view.push(Row::default(), None);
            view.texts.push(excerpt::json(tree));
        }
        // The first row is a title, which has no path.
        view.at = usize::from(view.rows.len() > 1);
        view
    }

    /// The text to copy: the path of the cursor's row, or the whole text.
    pub(crate) fn copy(&self, what: CopyTarget, screen: &mut Screen) -> Option<String> {
        if what != CopyTarget::Query {
            return Some(self.texts.join("\n"));
        }
        let path = self.paths.get(self.at).cloned().flatten();
        if path.is_none() {
            screen.set_status("no value stands in this row");
        }
        path.map(|path| path.to_string())
    }

    fn push(&mut self, row: Row, path: Option<Arc<str>>) {
        self.rows.push(row);
        self.paths.push(path);
    }

    /// Moves the cursor, and scrolls a window of `height` rows with it; pages move both.
    pub fn scroll(&mut self, by: isize, height: usize) {
        let last = self.rows.len().saturating_sub(1);
        self.at = self.at.saturating_add_signed(by).min(last);
        if by.unsigned_abs() > 1 {
            self.top = self.top.saturating_add_signed(by);
        }
        let most = self.rows.len().saturating_sub(height);
        self.top = self
            .top
            .min(self.at)
            .max((self.at + 1).saturating_sub(height))
            .min(most);
    }
}
