//! Themes: styles by role. Colours are defined only here and in the files of `assets/themes`.
//!
//! Accents are among the terminal's own sixteen colours where those are reliable. Greys, and the
//! accents of the light theme, are fixed colours of the 256: "bright black" is the background of
//! some palettes, and yellow or bright green on white cannot be read.
//!
//! Invariant: on a terminal without colours no style has a colour, so no meaning depends on one.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;

use super::colour::{Depth, fit};
use super::glyphs::Glyphs;
use super::picture::canvas::Canvas;
use crate::model::figures;
use crate::model::tool::{Clocked, Took};

/// Styles by role, and what the terminal supports.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    /// Its name in the settings.
    pub name: String,
    pub text: Style,
    /// Secondary facts.
    pub dim: Style,
    pub voice: Voices,
    pub tool: Style,
    /// Paths, commands, links.
    pub accent: Style,
    pub good: Style,
    pub warn: Style,
    pub bad: Style,
    pub diff: DiffStyles,
    pub heading: Style,
    /// Inline code and code fences.
    pub code: Style,
    /// Words of source code.
    pub syntax: Syntax,
    /// Hits of a search.
    pub hit: HitStyles,
    /// The mark of the focused item, selected rows of lists.
    pub focus: Style,
    /// Header and status line.
    pub bar: Style,
    /// Whether only ASCII glyphs may be used.
    pub ascii: bool,
    /// Whether syntax colours are for a light background.
    pub is_light: bool,
    /// Features of the terminal.
    pub terminal: TerminalSupport,
    /// Whether invisible characters are shown by marks.
    pub has_marks: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Voices {
    pub user: Style,
    pub assistant: Style,
    pub thinking: Style,
}

/// Styles of search hits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HitStyles {
    /// A hit.
    pub(crate) any: Style,
    /// The hit at the cursor.
    pub(crate) current: Style,
}

/// Styles of changed lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiffStyles {
    pub(crate) added: Style,
    pub(crate) removed: Style,
}

/// Features of the terminal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TerminalSupport {
    /// Whether any colour may be used.
    pub has_colour: bool,
    /// Whether links are written with their addresses (OSC 8).
    pub has_links: bool,
    pub depth: Depth,
    /// Protocol and geometry for images.
    pub canvas: Canvas,
}

impl TerminalSupport {
    /// Assumed until the terminal has been queried.
    const UNKNOWN: Self = Self {
        has_colour: true,
        has_links: false,
        depth: Depth::Indexed,
        canvas: Canvas::BLOCKS,
    };
}

/// Backgrounds of changed lines: of the line, and of the words that differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tints {
    /// Backgrounds of added lines.
    pub(crate) added: (Color, Color),
    /// Backgrounds of removed lines.
    pub(crate) removed: (Color, Color),
    /// Text colour on these backgrounds, for text without a colour of its own.
    pub(crate) text: Color,
}

/// Styles of source code by the role of a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Syntax {
    pub(crate) comment: Style,
    /// Keywords, storage classes, tags.
    pub(crate) keyword: Style,
    pub(crate) string: Style,
    /// Numbers, constants, escapes.
    pub(crate) constant: Style,
    /// Names of functions and macros.
    pub(crate) function: Style,
    /// Names of types, classes, attributes.
    pub(crate) kind: Style,
}

/// Names of all roles in theme files.
pub const ROLES: [&str; 24] = [
    "text",
    "dim",
    "user",
    "assistant",
    "thinking",
    "tool",
    "accent",
    "good",
    "warn",
    "bad",
    "added",
    "removed",
    "heading",
    "code",
    "comment",
    "keyword",
    "string",
    "constant",
    "function",
    "type",
    "hit",
    "current",
    "focus",
    "bar",
];

/// Roles that default to the style of another one, so that a new role needs no line in each theme
/// file.
pub(crate) const LIKE: [(&str, &str); 5] = [
    ("added", "good"),
    ("comment", "thinking"),
    ("keyword", "code"),
    ("string", "good"),
    ("function", "accent"),
];
/// Distinct from other reversed styles.
const STANDS_OUT: Modifier = Modifier::REVERSED
    .union(Modifier::BOLD)
    .union(Modifier::UNDERLINED);

impl Theme {
    /// The sign of an upper bound.
    pub(crate) fn at_most(&self, is_bound: bool) -> &'static str {
        match (is_bound, self.ascii) {
            (false, _) => "",
            (true, false) => "≤",
            (true, true) => "<=",
        }
    }

    /// `41.2s`, and `≤41.2s` for a bound.
    pub(crate) fn duration(&self, ms: u64, is_bound: bool) -> String {
        format!("{}{}", self.at_most(is_bound), figures::duration(ms))
    }

    /// The duration of a call, as [`Self::duration`].
    pub(crate) fn took(&self, took: Took) -> String {
        self.duration(took.ms, took.by == Clocked::Bound)
    }

    pub fn dark() -> Self {
        let of = |colour: Color| Style::new().fg(colour);
        let dim = of(Color::Indexed(245));
        Self {
            name: "dark".to_owned(),
            text: Style::new(),
            dim,
            voice: Voices {
                user: of(Color::Cyan).add_modifier(Modifier::BOLD),
                assistant: of(Color::Green).add_modifier(Modifier::BOLD),
                thinking: dim.add_modifier(Modifier::ITALIC),
            },
            tool: of(Color::Yellow),
            accent: of(Color::LightBlue),
            good: of(Color::Green),
            warn: of(Color::Yellow),
            bad: of(Color::LightRed).add_modifier(Modifier::BOLD),
            diff: DiffStyles {
                added: of(Color::Green),
                removed: of(Color::LightRed),
            },
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
            hit: HitStyles {
                any: Style::new().add_modifier(Modifier::REVERSED),
                current: of(Color::Cyan).add_modifier(STANDS_OUT),
            },
            focus: of(Color::Cyan).add_modifier(Modifier::BOLD),
            // A shade of the background, because reversed text would be more prominent than the
            // content.
            bar: Style::new().fg(Color::Indexed(252)).bg(Color::Indexed(236)),
            ascii: false,
            is_light: false,
            terminal: TerminalSupport::UNKNOWN,
            has_marks: true,
        }
    }

    pub fn light() -> Self {
        let of = |colour: u8| Style::new().fg(Color::Indexed(colour));
        let dim = of(242);
        Self {
            name: "light".to_owned(),
            dim,
            voice: Voices {
                user: of(25).add_modifier(Modifier::BOLD),
                assistant: of(22).add_modifier(Modifier::BOLD),
                thinking: dim.add_modifier(Modifier::ITALIC),
            },
            tool: of(94),
            accent: of(25),
            good: of(28),
            warn: of(130),
            bad: of(160).add_modifier(Modifier::BOLD),
            diff: DiffStyles {
                added: of(28),
                removed: of(124),
            },
            code: of(90),
            syntax: Syntax {
                comment: dim.add_modifier(Modifier::ITALIC),
                keyword: of(90),
                string: of(28),
                constant: of(130),
                function: of(25),
                kind: of(23),
            },
            hit: HitStyles {
                current: of(25).add_modifier(STANDS_OUT),
                ..Self::dark().hit
            },
            focus: of(25).add_modifier(Modifier::BOLD),
            bar: of(236).bg(Color::Indexed(254)),
            is_light: true,
            ..Self::dark()
        }
    }

    /// No colour at all: bold, dim, italic, underlined and reversed only.
    pub fn mono() -> Self {
        let plain = Style::new();
        let bold = plain.add_modifier(Modifier::BOLD);
        let dim = plain.add_modifier(Modifier::DIM);
        Self {
            name: "mono".to_owned(),
            dim,
            voice: Voices {
                user: bold.add_modifier(Modifier::UNDERLINED),
                assistant: bold,
                thinking: dim.add_modifier(Modifier::ITALIC),
            },
            tool: bold,
            accent: plain,
            good: plain,
            warn: bold,
            bad: bold.add_modifier(Modifier::REVERSED),
            diff: DiffStyles {
                added: bold,
                removed: dim,
            },
            code: plain.add_modifier(Modifier::ITALIC),
            syntax: Syntax {
                comment: dim.add_modifier(Modifier::ITALIC),
                keyword: bold,
                string: plain,
                constant: plain,
                function: plain,
                kind: plain,
            },
            hit: HitStyles {
                current: plain.add_modifier(STANDS_OUT),
                ..Self::dark().hit
            },
            focus: bold,
            bar: bold.add_modifier(Modifier::UNDERLINED),
            terminal: TerminalSupport {
                has_colour: false,
                ..TerminalSupport::UNKNOWN
            },
            ..Self::dark()
        }
    }

    pub(crate) fn by_name(name: &str) -> Option<Self> {
        match name {
            "dark" => Some(Self::dark()),
            "light" => Some(Self::light()),
            "mono" => Some(Self::mono()),
            _ => None,
        }
    }

    /// The style of a role of [`ROLES`].
    pub fn role_mut(&mut self, role: &str) -> Option<&mut Style> {
        Some(match role {
            "text" => &mut self.text,
            "dim" => &mut self.dim,
            "user" => &mut self.voice.user,
            "assistant" => &mut self.voice.assistant,
            "thinking" => &mut self.voice.thinking,
            "tool" => &mut self.tool,
            "accent" => &mut self.accent,
            "good" => &mut self.good,
            "warn" => &mut self.warn,
            "bad" => &mut self.bad,
            "added" => &mut self.diff.added,
            "removed" => &mut self.diff.removed,
            "heading" => &mut self.heading,
            "code" => &mut self.code,
            "comment" => &mut self.syntax.comment,
            "keyword" => &mut self.syntax.keyword,
            "string" => &mut self.syntax.string,
            "constant" => &mut self.syntax.constant,
            "function" => &mut self.syntax.function,
            "type" => &mut self.syntax.kind,
            "hit" => &mut self.hit.any,
            "current" => &mut self.hit.current,
            "focus" => &mut self.focus,
            "bar" => &mut self.bar,
            _ => return None,
        })
    }

    /// The theme in colours that the terminal has.
    #[must_use]
    pub(crate) fn with_depth(mut self, depth: Depth) -> Self {
        self.terminal.depth = depth;
        for role in ROLES {
            if let Some(style) = self.role_mut(role) {
                style.fg = style.fg.map(|colour| fit(colour, depth));
                style.bg = style.bg.map(|colour| fit(colour, depth));
            }
        }
        self
    }

    /// Switches between Unicode and ASCII glyphs.
    #[must_use]
    pub fn with_ascii(self, ascii: bool) -> Self {
        Self { ascii, ..self }
    }

    /// Backgrounds of changed lines; only true colours are faint enough for text of any colour.
    pub(crate) fn tints(&self) -> Option<Tints> {
        let is_faint = self.terminal.has_colour && self.terminal.depth == Depth::True;
        let dark = Tints {
            added: (Color::Rgb(16, 42, 28), Color::Rgb(24, 82, 46)),
            removed: (Color::Rgb(54, 24, 28), Color::Rgb(110, 36, 40)),
            text: Color::Rgb(225, 228, 232),
        };
        let light = Tints {
            added: (Color::Rgb(225, 250, 230), Color::Rgb(170, 236, 186)),
            removed: (Color::Rgb(255, 235, 233), Color::Rgb(255, 200, 196)),
            text: Color::Rgb(36, 41, 47),
        };
        is_faint.then_some(if self.is_light { light } else { dark })
    }

    /// The number of one of several joined sessions, from 1, in its colour.
    pub(crate) fn session_mark(&self, session: Option<usize>) -> Span<'static> {
        session.map_or_else(Span::default, |session| {
            Span::styled((session + 1).to_string(), self.of_session(session))
        })
    }

    /// The colour of one of several joined sessions.
    pub(crate) fn of_session(&self, number: usize) -> Style {
        let styles = [
            self.accent,
            self.good,
            self.warn,
            self.code,
            self.syntax.keyword,
            self.syntax.function,
        ];
        styles
            .into_iter()
            .cycle()
            .nth(number % styles.len())
            .unwrap_or(self.accent)
    }

    /// Style of selected rows: a background of its own, or reversed.
    pub(crate) fn selected(&self) -> Style {
        if !self.terminal.has_colour || self.terminal.depth == Depth::Sixteen {
            return Style::new().add_modifier(Modifier::REVERSED);
        }
        let (text, ground) = if self.is_light { (16, 153) } else { (255, 24) };
        Style::new()
            .fg(Color::Indexed(text))
            .bg(Color::Indexed(ground))
    }

    /// Sets whether links are written with their addresses.
    #[must_use]
    pub fn with_links(mut self, has_links: bool) -> Self {
        self.terminal.has_links = has_links;
        self
    }

    #[must_use]
    pub(crate) fn with_marks(self, has_marks: bool) -> Self {
        Self { has_marks, ..self }
    }

    /// Sets how images are shown.
    #[must_use]
    pub fn with_canvas(mut self, canvas: Canvas) -> Self {
        self.terminal.canvas = canvas;
        self
    }

    /// The glyphs that may be used.
    pub fn glyphs(&self) -> &'static Glyphs {
        if self.ascii {
            &Glyphs::ASCII
        } else {
            &Glyphs::UNICODE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Theme;
    use crate::render::glyphs::Glyphs;
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
            for glyph in [
                glyphs.cut,
                glyphs.line.bar,
                glyphs.line.rule,
                glyphs.line.cross,
                glyphs.outcome.done,
                glyphs.outcome.running,
            ] {
                assert_eq!(glyph.width(), 1, "{glyph}");
            }
        }
    }
}
