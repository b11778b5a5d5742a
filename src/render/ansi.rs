//! Tool output with SGR colours as styled lines.
//!
//! Invariant: of all escape sequences only SGR has an effect; the others leave no trace.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use vte::{Params, Parser, Perform};

use super::colour::{Depth, fit};
use super::wrap::Piece;

/// The lines of a text, styled by the colours in it, as near as the terminal has them. `base` is the style
/// without any; without colours only bold, dim, italic, underline, reverse and strike have an effect.
pub fn lines(text: &str, base: Style, colours: Option<Depth>) -> Vec<Vec<Piece>> {
    if !text.contains('\u{1b}') {
        return text.lines().map(|line| vec![Span::styled(line.to_owned(), base)]).collect();
    }
    let mut painter = Painter { base, style: base, colours, ..Painter::default() };
    Parser::new().advance(&mut painter, text.as_bytes());
    painter.end_span();
    if !painter.line.is_empty() {
        painter.end_line();
    }
    painter.lines
}

#[derive(Default)]
struct Painter {
    base: Style,
    style: Style,
    colours: Option<Depth>,
    lines: Vec<Vec<Piece>>,
    line: Vec<Piece>,
    run: String,
}

impl Painter {
    fn end_span(&mut self) {
        if !self.run.is_empty() {
            self.line.push(Span::styled(std::mem::take(&mut self.run), self.style));
        }
    }

    fn end_line(&mut self) {
        self.lines.push(std::mem::take(&mut self.line));
    }

    fn set(&mut self, codes: &mut dyn Iterator<Item = &[u16]>) {
        while let Some(code) = codes.next() {
            let first = code.first().copied().unwrap_or(0);
            match first {
                0 => self.style = self.base,
                1..=9 => self.style = with(self.style, first),
                21..=29 => self.style = without(self.style, first),
                30..=37 | 90..=97 => self.foreground(named(first)),
                40..=47 | 100..=107 => self.background(named(first - 10)),
                38 => {
                    let colour = extended(code, codes);
                    self.foreground(colour);
                }
                48 => {
                    let colour = extended(code, codes);
                    self.background(colour);
                }
                39 => self.style.fg = self.base.fg,
                49 => self.style.bg = self.base.bg,
                _ => {}
            }
        }
    }

    fn foreground(&mut self, colour: Option<Color>) {
        if let (Some(colour), Some(depth)) = (colour, self.colours) {
            self.style.fg = Some(fit(colour, depth));
        }
    }

    fn background(&mut self, colour: Option<Color>) {
        if let (Some(colour), Some(depth)) = (colour, self.colours) {
            self.style.bg = Some(fit(colour, depth));
        }
    }
}

impl Perform for Painter {
    fn print(&mut self, c: char) {
        self.run.push(c);
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                self.end_span();
                self.end_line();
            }
            b'\t' => self.run.push('\t'),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], _ignore: bool, action: char) {
        if action == 'm' && intermediates.is_empty() {
            self.end_span();
            self.set(&mut params.iter());
        }
    }
}

fn with(style: Style, code: u16) -> Style {
    let modifier = match code {
        1 => Modifier::BOLD,
        2 => Modifier::DIM,
        3 => Modifier::ITALIC,
        4 => Modifier::UNDERLINED,
        7 => Modifier::REVERSED,
        9 => Modifier::CROSSED_OUT,
        // Blinking distracts, and hidden text would hide something.
        _ => Modifier::empty(),
    };
    style.add_modifier(modifier)
}

fn without(style: Style, code: u16) -> Style {
    let modifier = match code {
        21 | 22 => Modifier::BOLD | Modifier::DIM,
        23 => Modifier::ITALIC,
        24 => Modifier::UNDERLINED,
        27 => Modifier::REVERSED,
        29 => Modifier::CROSSED_OUT,
        _ => Modifier::empty(),
    };
    style.remove_modifier(modifier)
}

fn named(code: u16) -> Option<Color> {
    let index = if code >= 90 { code - 90 + 8 } else { code - 30 };
    u8::try_from(index).ok().map(Color::Indexed)
}

/// `38;5;n`, `38;2;r;g;b` and their forms with colons.
fn extended(code: &[u16], codes: &mut dyn Iterator<Item = &[u16]>) -> Option<Color> {
    let byte = |n: Option<u16>| n.and_then(|n| u8::try_from(n).ok());
    if code.len() > 1 {
        let at = |index: usize| byte(code.get(index).copied());
        return match code.get(1) {
            Some(5) => at(2).map(Color::Indexed),
            // `38:2::r:g:b` has an empty colour space before the colours.
            Some(2) if code.len() >= 6 => Some(Color::Rgb(at(3)?, at(4)?, at(5)?)),
            Some(2) => Some(Color::Rgb(at(2)?, at(3)?, at(4)?)),
            _ => None,
        };
    }
    let mut next = || codes.next().and_then(|part| part.first().copied());
    match next() {
        Some(5) => byte(next()).map(Color::Indexed),
        Some(2) => Some(Color::Rgb(byte(next())?, byte(next())?, byte(next())?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::lines;
    use crate::render::colour::Depth;
    use ratatui::style::{Color, Modifier, Style};

    #[test]
    fn colours_become_styles() {
        let shown = lines(
            "\u{1b}[1;31mred\u{1b}[0m \u{1b}[38;5;200mx\u{1b}[38;2;1;2;3my\nz",
            Style::new(),
            Some(Depth::True),
        );
        assert_eq!(shown.len(), 2);
        let line = &shown[0];
        assert_eq!(line[0].style.fg, Some(Color::Indexed(1)));
        assert!(line[0].style.add_modifier.contains(Modifier::BOLD));
        assert_eq!(line[1].style, Style::new());
        assert_eq!(line[2].style.fg, Some(Color::Indexed(200)));
        assert_eq!(line[3].style.fg, Some(Color::Rgb(1, 2, 3)));
        assert_eq!(shown[1][0].style.fg, Some(Color::Rgb(1, 2, 3)));
    }

    #[test]
    fn colours_that_the_terminal_lacks_give_way_to_the_nearest() {
        let text = "\u{1b}[38;2;250;10;5mx\u{1b}[0;48;5;46my";
        let few = lines(text, Style::new(), Some(Depth::Sixteen));
        assert_eq!(few[0][0].style.fg, Some(Color::LightRed));
        assert_eq!(few[0][1].style.bg, Some(Color::LightGreen));
        let more = lines(text, Style::new(), Some(Depth::Indexed));
        assert!(matches!(more[0][0].style.fg, Some(Color::Indexed(196))), "{more:?}");
        assert_eq!(more[0][1].style.bg, Some(Color::Indexed(46)));
    }

    #[test]
    fn without_colour_only_modifiers_stay() {
        let shown = lines("\u{1b}[4;32mx", Style::new(), None);
        assert_eq!(shown[0][0].style, Style::new().add_modifier(Modifier::UNDERLINED));
    }

    #[test]
    fn other_sequences_leave_no_trace() {
        let shown = lines("a\u{1b}]0;title\u{7}\u{1b}[2J\u{1b}[?25lb", Style::new(), Some(Depth::True));
        let text: String = shown.iter().flatten().map(|span| span.content.to_string()).collect();
        assert_eq!(text, "ab");
    }
}
