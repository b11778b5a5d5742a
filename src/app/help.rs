//! The help: all bindings under their headings, narrowed to what is typed, and the pages of the manual.

use super::bindings::{BINDINGS, Binding, GROUPS};
use super::keymap::Keymap;
use super::mode::Mode;
use super::raw::RawView;
use super::reader::Reader;
use super::state::App;
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
        /// Name of the action, as the palette and the settings know it.
        action: String,
    },
    /// Between two groups.
    Gap,
}

/// Opens a page of the manual.
pub(crate) fn open_page(app: &mut App, page: &'static Page) {
    let title = format!("Help on {}", page.topic);
    let mut view = RawView::of_text(title, page_rows(&app.reader, page), page.text(asked_for));
    view.page = Some(page);
    app.mode = Mode::Raw(view);
}

/// Lays the open page out again, for a screen of another size; about the same part stays in sight.
pub(crate) fn fit_page(app: &mut App) {
    let Mode::Raw(RawView { page: Some(page), .. }) = app.mode else { return };
    let rows = page_rows(&app.reader, page);
    let Mode::Raw(view) = &mut app.mode else { return };
    let before = view.rows.len().max(1);
    // The last row stays the last.
    let now = |row: usize| ((row + 1) * rows.len() / before).saturating_sub(1);
    (view.top, view.at) = (now(view.top), now(view.at));
    view.rows = rows;
    view.scroll(0, usize::from(app.reader.screen.size.1).saturating_sub(2));
}

fn page_rows(reader: &Reader, page: &Page) -> Vec<Row> {
    let width = reader.screen.size.0.saturating_sub(2).max(1);
    // The samples of code are few and short: nobody waits for their colours.
    manual::rows(&page.text(asked_for), &Look::full(width, &reader.screen.theme, &Colours::never()))
}

fn asked_for(topic: &str) -> String {
    format!(":help {topic}")
}

/// The lines whose words begin with all that is wanted; groups without such a line are left out.
pub fn lines(keymap: &Keymap, wanted: &str) -> Vec<HelpLine> {
    let mut lines = Vec::new();
    for group in GROUPS {
        let of_group = BINDINGS.iter().filter(|binding| binding.group == group);
        let told: Vec<HelpLine> =
            of_group.map(|binding| told(keymap, binding)).filter(|line| is_wanted(line, wanted)).collect();
        if !told.is_empty() {
            lines.push(HelpLine::Heading(group.title()));
            lines.extend(told);
            lines.push(HelpLine::Gap);
        }
    }
    lines.pop();
    lines
}

fn told(keymap: &Keymap, binding: &Binding) -> HelpLine {
    let keys: Vec<String> = keymap.keys_of(binding.action).map(|keys| keys.replace(' ', "")).collect();
    HelpLine::Binding { keys: keys.join("  "), doc: binding.doc, action: binding.action.to_string() }
}

fn is_wanted(line: &HelpLine, wanted: &str) -> bool {
    let HelpLine::Binding { keys, doc, action } = line else { return false };
    let doc = doc.to_lowercase();
    wanted.split_whitespace().all(|word| {
        let lower = word.to_lowercase();
        keys.split("  ").any(|keys| keys == word) || doc.contains(&lower) || action.contains(&lower)
    })
}

#[cfg(test)]
mod tests {
    use super::{HelpLine, lines};
    use crate::app::bindings::{BINDINGS, GROUPS};
    use crate::app::keymap::Keymap;

    #[test]
    fn what_is_typed_narrows_the_help() {
        let keymap = Keymap::default();
        assert_eq!(lines(&keymap, "").len(), BINDINGS.len() + 2 * GROUPS.len() - 1);
        let errors = lines(&keymap, "NEXT error");
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert_eq!(errors.first(), Some(&HelpLine::Heading("Jump")));
        let by_key = lines(&keymap, "yj");
        assert!(matches!(by_key.last(), Some(HelpLine::Binding { action, .. }) if action == "copy-json"));
        assert!(lines(&keymap, "nothing of the kind").is_empty());
    }
}
