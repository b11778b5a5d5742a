//! Records are shown and copied.

use super::RawView;
use crate::app::action::What;
use crate::app::effect::Effect;
use crate::app::excerpt;
use crate::app::mode::Mode;
use crate::app::state::App;
use crate::model::body::Tree;
use crate::render::row::{Level, Look, Row};
use crate::render::tree;
use ratatui::text::Line;

/// Rows of a pop-up; what is beyond them is in the file, one key (`v`) away.
const MOST_ROWS: usize = 20_000;

/// Shows records, each under its title.
pub fn show(app: &mut App, title: String, trees: &[(String, Tree)]) {
    let look = Look {
        level: Level::Raw,
        times: false,
        ..Look::full(
            app.reader.screen.size.0.saturating_sub(2).max(1),
            &app.reader.screen.theme,
            &app.reader.screen.colours,
        )
    };
    let mut view = RawView { title, ..RawView::default() };
    for (name, tree) in trees {
        view.push(
            Row { line: Line::styled(name.clone(), app.reader.screen.theme.heading), ..Row::default() },
            None,
        );
        for (row, leaf) in tree::rows_with_leaves(tree, usize::from(look.width), MOST_ROWS, &look) {
            view.push(row, Some(leaf.path));
        }
        view.push(Row::default(), None);
        view.texts.push(excerpt::json(tree));
    }
    // The first title says nothing that could be copied.
    view.at = usize::from(view.rows.len() > 1);
    app.mode = Mode::Raw(view);
}

/// Copies the records that are shown, or the path of the row under the cursor.
pub fn copy(app: &mut App, what: What) -> Vec<Effect> {
    let Mode::Raw(view) = &app.mode else { return Vec::new() };
    if what != What::Query {
        return vec![Effect::Copy(view.texts.join("\n"))];
    }
    if let Some(path) = view.paths.get(view.at).cloned().flatten() {
        vec![Effect::Copy(path.to_string())]
    } else {
        app.reader.screen.say("no value stands in this row");
        Vec::new()
    }
}
