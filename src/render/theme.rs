//! Roles of colour and the glyphs: the only place that names a colour.

use ratatui::style::{Color, Modifier, Style};

/// Colours by role, and whether Unicode glyphs may be used.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    /// `dark`, `light`, `mono`.
    pub name: &'static str,
    /// Prose.
    pub text: Style,
    /// Secondary facts.
    pub dim: Style,
    /// The human's prompts.
    pub user: Style,
    /// The model's name.
    pub assistant: Style,
    /// Thinking.
    pub thinking: Style,
    /// Tool names.
    pub tool: Style,
    /// Paths, commands, links.
    pub accent: Style,
    /// Success.
    pub good: Style,
    /// Trouble that can be lived with.
    pub warn: Style,
    /// Errors.
    pub bad: Style,
    /// Added lines of a diff.
    pub added: Style,
    /// Removed lines of a diff.
    pub removed: Style,
    /// Headings.
    pub heading: Style,
    /// Inline code and code fences.
    pub code: Style,
    /// A search hit.
    pub hit: Style,
    /// The focused item's mark, selected rows of lists.
    pub focus: Style,
    /// Header and status line.
    pub bar: Style,
    /// Whether only ASCII glyphs may be used.
    pub ascii: bool,
    /// Whether syntax colours are for a light background.
    pub is_light: bool,
    /// Whether any colour may be used.
    pub has_colour: bool,
}

impl Theme {
    /// For dark backgrounds.
    pub fn dark() -> Self {
        let plain = Style::new();
        Self {
            name: "dark",
            text: plain,
            dim: plain.fg(Color::DarkGray),
            user: plain.fg(Color::Cyan).add_modifier(Modifier::BOLD),
            assistant: plain.fg(Color::Green),
            thinking: plain.fg(Color::DarkGray).add_modifier(Modifier::ITALIC),
            tool: plain.fg(Color::Yellow),
            accent: plain.fg(Color::Blue),
            good: plain.fg(Color::Green),
            warn: plain.fg(Color::Yellow),
            bad: plain.fg(Color::Red).add_modifier(Modifier::BOLD),
            added: plain.fg(Color::Green),
            removed: plain.fg(Color::Red),
            heading: plain.add_modifier(Modifier::BOLD),
            code: plain.fg(Color::Magenta),
            hit: plain.add_modifier(Modifier::REVERSED),
            focus: plain.fg(Color::Cyan).add_modifier(Modifier::BOLD),
            bar: plain.add_modifier(Modifier::REVERSED),
            ascii: false,
            is_light: false,
            has_colour: true,
        }
    }
}
