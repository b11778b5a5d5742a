//! Converts tool output with SGR colours to styled lines.
//!
//! Invariant: only SGR sequences have an effect; all others are dropped. No colour makes text
//! invisible.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use vte::{Params, Parser, Perform};

use super::colour::{Depth, Rgb, contrast, fit, rgb};
use super::theme::Theme;
use super::wrap::Piece;

/// Text below this contrast is invisible; the darkest blue on black is above it.
const LEAST_CONTRAST: f64 = 1.3;
const BLACK: Rgb = (0, 0, 0);
const WHITE: Rgb = (255, 255, 255);

/// The styled lines of a text, in colours that the terminal has. `base` is the style of text
/// without a colour; on a terminal without colours only the other attributes have an effect.
pub fn lines(text: &str, base: Style, theme: &Theme) -> Vec<Vec<Piece>> {
    if !text.contains('\u{1b}') {
        return text
            .lines()
            .map(|line| vec![Span::styled(line.to_owned(), base)])
            .collect();
    }
    let colours = theme.terminal.has_colour.then_some(theme.terminal.depth);
    let (ink, ground) = if theme.is_light {
        (BLACK, WHITE)
    } else {
        (WHITE, BLACK)
    };
    let mut parser = SgrParser {
        base,
        style: base,
        colours,
        ink,
        ground,
        ..SgrParser::default()
    };
    Parser::new().advance(&mut parser, text.as_bytes());
    parser.end_span();
    if !parser.line.is_empty() {
        parser.end_line();
    }
    parser.lines
}

#[derive(Default)]
struct SgrParser {
    base: Style,
    style: Style,
    colours: Option<Depth>,
    /// Assumed colours of the terminal for text and background.
    ink: Rgb,
    ground: Rgb,
    lines: Vec<Vec<Piece>>,
    line: Vec<Piece>,
    run: String,
}

impl SgrParser {
    fn end_span(&mut self) {
        if !self.run.is_empty() {
            let style = if self.hides_text() {
                self.without_colours()
            } else {
                self.style
            };
            self.line
                .push(Span::styled(std::mem::take(&mut self.run), style));
        }
    }

    /// Whether text in the current colours would be invisible.
    fn hides_text(&self) -> bool {
        let seen = |colour: Option<Color>, own: Rgb| match colour {
            None | Some(Color::Reset) => Some(own),
            Some(colour) => rgb(colour),
        };
        let has_colours = (self.style.fg, self.style.bg) != (self.base.fg, self.base.bg);
        let colours = seen(self.style.fg, self.ink).zip(seen(self.style.bg, self.ground));
        let is_hidden = colours.is_some_and(|(ink, ground)| contrast(ink, ground) < LEAST_CONTRAST);
        has_colours && is_hidden && !self.run.trim().is_empty()
    }

    fn without_colours(&self) -> Style {
        Style {
            fg: self.base.fg,
            bg: self.base.bg,
            ..self.style
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
                30..=37 | 90..=97 => self.foreground(basic_colour(first)),
                40..=47 | 100..=107 => self.background(basic_colour(first - 10)),
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

impl Perform for SgrParser {
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
        // Blinking is ignored because it distracts, and concealed text because it hides content.
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

fn basic_colour(code: u16) -> Option<Color> {
    let index = if code >= 90 { code - 90 + 8 } else { code - 30 };
    u8::try_from(index).ok().map(Color::Indexed)
}

/// Parses `38;5;n`, `38;2;r;g;b` and the forms with colons.
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
    use crate::render::theme::{TerminalSupport, Theme};
    use ratatui::style::{Color, Modifier, Style};

    fn with_depth(theme: Theme, depth: Depth) -> Theme {
        let terminal = TerminalSupport {
            depth,
            ..theme.terminal
        };
        Theme { terminal, ..theme }
    }

    fn theme(depth: Depth) -> Theme {
        with_depth(Theme::dark(), depth)
    }

    #[test]
    fn no_colours_hide_a_text() {
        for (codes, light) in [
            ("31;41", false),
            ("38;2;1;2;3;48;2;3;2;1", false),
            ("38;5;16;40", false),
            ("30", false),
            ("38;2;9;9;9", false),
            ("7;30", false),
            ("97", true),
            ("47;37", true),
            ("8", false),
            ("8", true),
        ] {
            let theme = if light { Theme::light() } else { Theme::dark() };
            for depth in [Depth::Sixteen, Depth::Indexed, Depth::True] {
                let theme = with_depth(theme.clone(), depth);
                let shown = lines(&format!("\u{1b}[{codes}mhidden"), Style::new(), &theme);
                let style = shown[0][0].style;
                assert_eq!((style.fg, style.bg), (None, None), "{codes}");
                assert!(!style.add_modifier.contains(Modifier::HIDDEN), "{codes}");
            }
        }
        for codes in [
            "34",
            "30;47",
            "30;100",
            "97;100",
            "38;5;236;48;5;252",
            "7;31",
        ] {
            let shown = lines(
                &format!("\u{1b}[{codes}mseen"),
                Style::new(),
                &theme(Depth::True),
            );
            let style = shown[0][0].style;
            assert_ne!((style.fg, style.bg), (None, None), "{codes}");
        }
        let bar = lines(
            "\u{1b}[42;32m   \u{1b}[0m",
            Style::new(),
            &theme(Depth::True),
        );
        assert_eq!(
            bar[0][0].style.bg,
            Some(Color::Indexed(2)),
            "blanks hide nothing"
        );
    }

    #[test]
    fn colours_become_styles() {
        let shown = lines(
            "\u{1b}[1;31mred\u{1b}[0m \u{1b}[38;5;200mx\u{1b}[38;2;201;2;3my\nz",
            Style::new(),
            &theme(Depth::True),
        );
        assert_eq!(shown.len(), 2);
        let line = &shown[0];
        assert_eq!(line[0].style.fg, Some(Color::Indexed(1)));
        assert!(line[0].style.add_modifier.contains(Modifier::BOLD));
        assert_eq!(line[1].style, Style::new());
        assert_eq!(line[2].style.fg, Some(Color::Indexed(200)));
        assert_eq!(line[3].style.fg, Some(Color::Rgb(201, 2, 3)));
        assert_eq!(shown[1][0].style.fg, Some(Color::Rgb(201, 2, 3)));
    }

    #[test]
    fn colours_that_the_terminal_lacks_give_way_to_the_nearest() {
        let text = "\u{1b}[38;2;250;10;5mx\u{1b}[0;48;5;46my";
        let few = lines(text, Style::new(), &theme(Depth::Sixteen));
        assert_eq!(few[0][0].style.fg, Some(Color::LightRed));
        assert_eq!(few[0][1].style.bg, Some(Color::LightGreen));
        let more = lines(text, Style::new(), &theme(Depth::Indexed));
        assert!(
            matches!(more[0][0].style.fg, Some(Color::Indexed(196))),
            "{more:?}"
        );
        assert_eq!(more[0][1].style.bg, Some(Color::Indexed(46)));
    }

    #[test]
    fn without_colour_only_modifiers_stay() {
        let shown = lines("\u{1b}[4;32mx", Style::new(), &Theme::mono());
        assert_eq!(
            shown[0][0].style,
            Style::new().add_modifier(Modifier::UNDERLINED)
        );
    }

    #[test]
    fn other_sequences_leave_no_trace() {
        let shown = lines(
            "a\u{1b}]0;title\u{7}\u{1b}[2J\u{1b}[?25lb",
            Style::new(),
            &theme(Depth::True),
        );
        let text: String = shown
            .iter()
            .flatten()
            .map(|span| span.content.to_string())
            .collect();
        assert_eq!(text, "ab");
    }
}
