//! Roles of colour and the glyphs: the only place that names a colour.
//!
//! Accents are the terminal's own sixteen colours where those can be trusted. Greys, and the accents of
//! the light theme, are fixed colours of the 256: "bright black" is the background of some palettes,
//! and yellow or bright green on white cannot be read.
//!
//! Invariant: without `has_colour` no style has a colour, so meaning never hangs on one.

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
    /// Words of source code.
    pub syntax: Syntax,
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

/// Styles of source code by the role of a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Syntax {
    /// Comments.
    pub comment: Style,
    /// Keywords, storage classes, tags.
    pub keyword: Style,
    /// Strings.
    pub string: Style,
    /// Numbers, constants, escapes.
    pub constant: Style,
    /// Names of functions and macros.
    pub function: Style,
    /// Names of types, classes, attributes.
    pub kind: Style,
}

/// Names that [`Theme::named`] knows.
pub const NAMES: [&str; 3] = ["dark", "light", "mono"];

impl Theme {
    /// For dark backgrounds.
    pub fn dark() -> Self {
        let of = |colour: Color| Style::new().fg(colour);
        let dim = of(Color::Indexed(245));
        Self {
            name: "dark",
            text: Style::new(),
            dim,
            user: of(Color::Cyan).add_modifier(Modifier::BOLD),
            assistant: of(Color::Green).add_modifier(Modifier::BOLD),
            thinking: dim.add_modifier(Modifier::ITALIC),
            tool: of(Color::Yellow),
            accent: of(Color::LightBlue),
            good: of(Color::Green),
            warn: of(Color::Yellow),
            bad: of(Color::LightRed).add_modifier(Modifier::BOLD),
            added: of(Color::Green),
            removed: of(Color::LightRed),
            heading: Style::new().add_modifier(Modifier::BOLD),
            code: of(Color::LightMagenta),
            syntax: Syntax {
                comment: dim.add_modifier(Modifier::ITALIC),
                keyword: of(Color::LightMagenta),
                string: of(Color::Green),
                constant: of(Color::Yellow),
                function: of(Color::LightBlue),
                kind: of(Color::Cyan),
            },
            hit: Style::new().add_modifier(Modifier::REVERSED),
            focus: of(Color::Cyan).add_modifier(Modifier::BOLD),
            bar: Style::new().add_modifier(Modifier::REVERSED),
            ascii: false,
            is_light: false,
            has_colour: true,
        }
    }

    /// For light backgrounds.
    pub fn light() -> Self {
        let of = |colour: u8| Style::new().fg(Color::Indexed(colour));
        let dim = of(242);
        Self {
            name: "light",
            dim,
            user: of(25).add_modifier(Modifier::BOLD),
            assistant: of(22).add_modifier(Modifier::BOLD),
            thinking: dim.add_modifier(Modifier::ITALIC),
            tool: of(94),
            accent: of(25),
            good: of(28),
            warn: of(130),
            bad: of(160).add_modifier(Modifier::BOLD),
            added: of(28),
            removed: of(124),
            code: of(90),
            syntax: Syntax {
                comment: dim.add_modifier(Modifier::ITALIC),
                keyword: of(90),
                string: of(28),
                constant: of(130),
                function: of(25),
                kind: of(30),
            },
            focus: of(25).add_modifier(Modifier::BOLD),
            is_light: true,
            ..Self::dark()
        }
    }

    /// Without any colour: bold, dim, italic, underlined and reversed only.
    pub fn mono() -> Self {
        let plain = Style::new();
        let bold = plain.add_modifier(Modifier::BOLD);
        let dim = plain.add_modifier(Modifier::DIM);
        Self {
            name: "mono",
            dim,
            user: bold.add_modifier(Modifier::UNDERLINED),
            assistant: bold,
            thinking: dim.add_modifier(Modifier::ITALIC),
            tool: bold,
            accent: plain,
            good: plain,
            warn: bold,
            bad: bold.add_modifier(Modifier::REVERSED),
            added: bold,
            removed: dim,
            code: plain.add_modifier(Modifier::ITALIC),
            syntax: Syntax {
                comment: dim.add_modifier(Modifier::ITALIC),
                keyword: bold,
                string: plain,
                constant: plain,
                function: plain,
                kind: plain,
            },
            focus: bold,
            has_colour: false,
            ..Self::dark()
        }
    }

    /// The theme with this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "dark" => Some(Self::dark()),
            "light" => Some(Self::light()),
            "mono" => Some(Self::mono()),
            _ => None,
        }
    }

    /// The same with or without Unicode glyphs.
    #[must_use]
    pub fn with_ascii(self, ascii: bool) -> Self {
        Self { ascii, ..self }
    }

    /// The glyphs that may be used.
    pub fn glyphs(&self) -> &'static Glyphs {
        if self.ascii { &Glyphs::ASCII } else { &Glyphs::UNICODE }
    }
}

/// Signs that are not words. Each of them is one column wide but for `ellipsis`, `arrow` and the task
/// boxes in ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyphs {
    /// Stands for what was cut off within a row; one column in both sets.
    pub cut: &'static str,
    /// In front of the count of hidden lines.
    pub ellipsis: &'static str,
    /// A fold that is closed.
    pub closed: &'static str,
    /// A fold that is open.
    pub open: &'static str,
    /// Ended well.
    pub done: &'static str,
    /// Failed.
    pub failed: &'static str,
    /// Running.
    pub running: &'static str,
    /// Not allowed.
    pub refused: &'static str,
    /// Will never end.
    pub lost: &'static str,
    /// Head of a lane.
    pub lane_opens: &'static str,
    /// Lane.
    pub lane: &'static str,
    /// Lane of a call without a result.
    pub lane_waits: &'static str,
    /// End of a lane.
    pub lane_closes: &'static str,
    /// Head and end of a lane in one.
    pub lane_single: &'static str,
    /// Horizontal rule.
    pub rule: &'static str,
    /// Vertical bar of quotes and tables.
    pub bar: &'static str,
    /// Crossing of the two in a table.
    pub cross: &'static str,
    /// Bullet of a list.
    pub bullet: &'static str,
    /// Bullet of a list within a list.
    pub bullet_inner: &'static str,
    /// A task that is open.
    pub todo: &'static str,
    /// A task in work.
    pub doing: &'static str,
    /// A task that is done.
    pub did: &'static str,
    /// From here to there.
    pub arrow: &'static str,
    /// Compaction.
    pub compacted: &'static str,
    /// Removed lines in a count.
    pub minus: &'static str,
    /// Between facts.
    pub dot: &'static str,
}

impl Glyphs {
    /// For UTF-8 terminals.
    pub const UNICODE: Self = Self {
        cut: "…",
        ellipsis: "…",
        closed: "▸",
        open: "▾",
        done: "✓",
        failed: "✗",
        running: "●",
        refused: "⊘",
        lost: "╌",
        lane_opens: "╭",
        lane: "│",
        lane_waits: "╎",
        lane_closes: "╰",
        lane_single: "─",
        rule: "─",
        bar: "│",
        cross: "┼",
        bullet: "•",
        bullet_inner: "◦",
        todo: "☐",
        doing: "◐",
        did: "☑",
        arrow: "→",
        compacted: "↯",
        minus: "−",
        dot: "·",
    };

    /// For all others.
    pub const ASCII: Self = Self {
        cut: "~",
        ellipsis: "...",
        closed: ">",
        open: "v",
        done: "+",
        failed: "x",
        running: "*",
        refused: "/",
        lost: "?",
        lane_opens: ".",
        lane: "|",
        lane_waits: ":",
        lane_closes: "'",
        lane_single: "-",
        rule: "-",
        bar: "|",
        cross: "+",
        bullet: "*",
        bullet_inner: "-",
        todo: "[ ]",
        doing: "[~]",
        did: "[x]",
        arrow: "->",
        compacted: "#",
        minus: "-",
        dot: "-",
    };
}

#[cfg(test)]
mod tests {
    use super::{Glyphs, Theme};
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn mono_has_no_colour() {
        let shown = format!("{:?}", Theme::mono());
        assert!(!shown.contains("fg("), "{shown}");
    }

    #[test]
    fn ascii_glyphs_are_ascii_and_cuts_are_one_column() {
        let shown = format!("{:?}", Glyphs::ASCII);
        assert!(shown.is_ascii());
        for glyphs in [Glyphs::ASCII, Glyphs::UNICODE] {
            for glyph in [glyphs.cut, glyphs.bar, glyphs.rule, glyphs.cross, glyphs.done, glyphs.running] {
                assert_eq!(glyph.width(), 1, "{glyph}");
            }
        }
    }
}
