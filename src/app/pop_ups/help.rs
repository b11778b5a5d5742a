//! The help: all bindings under their headings, narrowed to what is typed, and the pages of the manual.

use super::raw::RawView;
use crate::app::input::bindings::{BINDINGS, Binding, GROUPS};
use crate::app::input::keymap::Keymap;
use crate::app::mode::{Below, Mode};
use crate::app::screen::Screen;
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

/// A page of the manual, over this.
pub(crate) fn page(screen: &Screen, page: &'static Page, below: Below) -> RawView {
    let title = format!("Help on {}", page.topic);
    let mut view = RawView::of_text(title, page_rows(screen, page), page.text(asked_for));
    (view.page, view.below) = (Some(page), below);
    view
}

/// Lays the open page out again, for a screen of another size; about the same part stays in sight.
pub(crate) fn fit_page(mode: &mut Mode, screen: &Screen) {
    let Mode::Raw(view) = mode else { return };
    let Some(page) = view.page else { return };
    let rows = page_rows(screen, page);
    let before = view.rows.len().max(1);
    // The last row stays the last.
    let now = |row: usize| ((row + 1) * rows.len() / before).saturating_sub(1);
    (view.top, view.at) = (now(view.top), now(view.at));
    view.rows = rows;
    view.scroll(0, usize::from(screen.size.1).saturating_sub(2));
}

fn page_rows(screen: &Screen, page: &Page) -> Vec<Row> {
    let width = screen.size.0.saturating_sub(2).max(1);
    // The samples of code are few and short: nobody waits for their colours.
    manual::rows(&page.text(asked_for), &Look::full(width, &screen.theme, &Colours::never()))
}

fn asked_for(topic: &str) -> String {
    format!(":help {topic}")
}

/// The lines whose words begin with all that is wanted; groups without such a line are left out.
pub fn lines(keymap: &Keymap, wanted: &str) -> Vec<HelpLine> {
    let mut lines = Vec::new();
    for group in GROUPS {
        let of_group = BINDINGS.iter().filter(|binding| binding.group == group);
        let bindings: Vec<HelpLine> = of_group
            .map(|binding| binding_line(keymap, binding))
            .filter(|line| is_wanted(line, wanted))
            .collect();
        if !bindings.is_empty() {
            lines.push(HelpLine::Heading(group.title()));
            lines.extend(bindings);
            lines.push(HelpLine::Gap);
        }
    }
    lines.pop();
    lines
}

fn binding_line(keymap: &Keymap, binding: &Binding) -> HelpLine {
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
    use crate::app::input::bindings::{BINDINGS, GROUPS};
    use crate::app::input::keymap::Keymap;

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
