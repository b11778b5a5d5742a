//! Laid-out rows as lines of text: gutter, facts at the right edge, and optional colours.
//!
//! Invariant: without colours no escape byte is written; with colours only our own SGR sequences.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;

use crate::render::glyphs::Glyphs;
use crate::render::row::{Gutter, Row};
use crate::render::theme::Theme;

/// Columns that the gutter takes in front of each row.
pub(crate) const GUTTER: u16 = 2;

/// Width and style of output lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paper {
    /// Width of a whole line in columns.
    pub width: u16,
    /// Whether to write colours.
    pub colour: bool,
    /// Whether to use only ASCII glyphs.
    pub ascii: bool,
}

impl Paper {
    /// The theme for these settings.
    pub(crate) fn theme(self) -> Theme {
        let theme = if self.colour {
            Theme::dark()
        } else {
            Theme::mono()
        };
        Theme {
            ascii: self.ascii,
            ..theme
        }
    }

    pub(crate) fn glyphs(self) -> &'static Glyphs {
        if self.ascii {
            &Glyphs::ASCII
        } else {
            &Glyphs::UNICODE
        }
    }

    /// The row as a line without a line break.
    pub(crate) fn line(self, row: &Row) -> String {
        let mut line = DroppedLine::new(self.colour);
        line.push(gutter(row.gutter, self.glyphs()), Style::new());
        line.push(" ", Style::new());
        for span in &row.line.spans {
            line.push(&span.content, row.line.style.patch(span.style));
        }
        let running = row
            .running_since
            .filter(|_| row.right.is_empty())
            .map(|_| Span::raw("running"));
        let right: Vec<Span<'_>> = row.right.iter().cloned().chain(running).collect();
        let right_width: usize = right.iter().map(Span::width).sum();
        if right_width > 0 {
            let gap = usize::from(self.width)
                .saturating_sub(line.columns + right_width)
                .max(1);
            line.push(&" ".repeat(gap), Style::new());
        }
        for span in &right {
            line.push(&span.content, span.style);
        }
        line.end()
    }

    /// Spans as a line without gutter and line break.
    pub(crate) fn bare_line(self, spans: &[Span<'_>]) -> String {
        let mut line = DroppedLine::new(self.colour);
        for span in spans {
            line.push(&span.content, span.style);
        }
        line.end()
    }
}

struct DroppedLine {
    text: String,
    columns: usize,
    colour: bool,
}

impl DroppedLine {
    fn new(colour: bool) -> Self {
        Self {
            text: String::new(),
            columns: 0,
            colour,
        }
    }

    fn end(mut self) -> String {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.text
    }

    fn push(&mut self, content: &str, style: Style) {
        let visible: String = content.chars().filter(|c| !c.is_control()).collect();
        self.columns += Span::raw(&visible).width();
        let codes = if self.colour {
            sgr(style)
        } else {
            String::new()
        };
        if codes.is_empty() {
            self.text.push_str(&visible);
        } else {
            self.text
                .push_str(&format!("\u{1b}[{codes}m{visible}\u{1b}[0m"));
        }
    }
}

fn gutter(gutter: Gutter, glyphs: &Glyphs) -> &'static str {
    match gutter {
        Gutter::None => " ",
        Gutter::Opens => glyphs.lane.opens,
        Gutter::Within => glyphs.lane.within,
        Gutter::Closes => glyphs.lane.closes,
        Gutter::Single => glyphs.lane.single,
        Gutter::Open => glyphs.lane.waits,
    }
}

/// The parameters of the SGR sequence for a style; empty for a plain one.
fn sgr(style: Style) -> String {
    const MODIFIERS: [(Modifier, &str); 7] = [
        (Modifier::BOLD, "1"),
        (Modifier::DIM, "2"),
        (Modifier::ITALIC, "3"),
        (Modifier::UNDERLINED, "4"),
        (Modifier::REVERSED, "7"),
        (Modifier::HIDDEN, "8"),
        (Modifier::CROSSED_OUT, "9"),
    ];
    let modifiers = MODIFIERS
        .iter()
        .filter(|(modifier, _)| style.add_modifier.contains(*modifier));
    let mut codes: Vec<String> = modifiers.map(|(_, code)| (*code).to_owned()).collect();
    codes.extend(style.fg.and_then(|colour| colour_code(colour, 30)));
    codes.extend(style.bg.and_then(|colour| colour_code(colour, 40)));
    codes.join(";")
}

/// `base` is 30 for the foreground and 40 for the background.
fn colour_code(colour: Color, base: u8) -> Option<String> {
    const BRIGHT: u8 = 60;
    let code = match colour {
        Color::Reset => return None,
        Color::Black => base,
        Color::Red => base + 1,
        Color::Green => base + 2,
        Color::Yellow => base + 3,
        Color::Blue => base + 4,
        Color::Magenta => base + 5,
        Color::Cyan => base + 6,
        Color::Gray => base + 7,
        Color::DarkGray => base + BRIGHT,
        Color::LightRed => base + BRIGHT + 1,
        Color::LightGreen => base + BRIGHT + 2,
        Color::LightYellow => base + BRIGHT + 3,
        Color::LightBlue => base + BRIGHT + 4,
        Color::LightMagenta => base + BRIGHT + 5,
        Color::LightCyan => base + BRIGHT + 6,
        Color::White => base + BRIGHT + 7,
        Color::Indexed(index) => return Some(format!("{};5;{index}", base + 8)),
        Color::Rgb(red, green, blue) => {
            return Some(format!("{};2;{red};{green};{blue}", base + 8));
        }
    };
    Some(code.to_string())
}

#[cfg(test)]
mod tests {
    use ratatui::style::{Color, Style};
    use ratatui::text::{Line, Span};

    use super::Paper;
    use crate::render::row::{Gutter, Row};

    fn row() -> Row {
        Row {
            line: Line::from(vec![
                Span::styled("bash", Style::new().fg(Color::Yellow)),
                Span::raw(" cargo \u{1b}[2Jtest"),
            ]),
            right: vec![Span::raw("41.2s")],
            gutter: Gutter::Opens,
            ..Row::default()
        }
    }

    #[test]
    fn facts_stand_at_the_right_edge() {
        let line = Paper {
            width: 40,
            colour: false,
            ascii: false,
        }
        .line(&row());
        assert_eq!(line, "╭ bash cargo [2Jtest               41.2s");
    }

    #[test]
    fn only_our_own_sequences_are_written() {
        let line = Paper {
            width: 40,
            colour: true,
            ascii: true,
        }
        .line(&row());
        assert_eq!(
            line,
            ". \u{1b}[33mbash\u{1b}[0m cargo [2Jtest               41.2s"
        );
    }

    #[test]
    fn a_line_that_is_too_long_for_its_facts_keeps_them_apart() {
        let line = Paper {
            width: 10,
            colour: false,
            ascii: false,
        }
        .line(&row());
        assert!(line.ends_with("test 41.2s"), "{line}");
    }
}
