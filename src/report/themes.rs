//! `tv themes`: lists the themes, the source of each, and samples of its roles.

use std::io::{self, Write};

use ratatui::text::Span;

use super::outcome::{ReportError, ReportOutcome};
use super::rows::Paper;
use crate::model::text::Text;
use crate::render::colour::Depth;
use crate::render::theme::{ROLES, Theme};
use crate::render::wrap::{self, LineFrame, Piece};

/// Width of the column of names.
const NAME: usize = 18;
/// Indent of the samples.
const INDENT: usize = 2;

/// Options of `tv themes`.
pub struct ThemeOptions {
    pub(crate) themes: Vec<Listed>,
    /// Colour depth of the terminal.
    pub(crate) depth: Depth,
    pub paper: Paper,
}

/// A theme and its source.
pub struct Listed {
    pub(crate) name: String,
    /// `comes with tv`, or its file.
    pub(crate) from: String,
    /// The theme, or its error with the position.
    pub(crate) theme: Result<Theme, String>,
}

/// Writes a line for each theme, and with colours its roles below it.
pub fn write(options: &ThemeOptions, out: &mut dyn Write) -> Result<ReportOutcome, ReportError> {
    list(options, out).map_err(ReportError::Write)?;
    Ok(ReportOutcome::Complete)
}

fn list(options: &ThemeOptions, out: &mut dyn Write) -> io::Result<()> {
    for listed in &options.themes {
        match &listed.theme {
            Ok(theme) => {
                writeln!(out, "{:<NAME$} {}", listed.name, Text::clean(&listed.from))?;
                if options.paper.colour {
                    sample(theme.clone().with_depth(options.depth), options.paper, out)?;
                }
            }
            Err(why) => writeln!(out, "{:<NAME$} {}", listed.name, Text::clean(why))?,
        }
    }
    Ok(())
}

/// Writes the names of the roles, each in its own style.
fn sample(mut theme: Theme, paper: Paper, out: &mut dyn Write) -> io::Result<()> {
    let mut spans: Vec<Piece> = Vec::new();
    for role in ROLES {
        let style = theme.role_mut(role).map(|style| *style).unwrap_or_default();
        spans.extend([Span::styled(role, style), Span::raw(" ")]);
    }
    let indent = vec![Span::raw(" ".repeat(INDENT))];
    let frame = LineFrame {
        first: indent.clone(),
        rest: indent,
        ..LineFrame::of(usize::from(paper.width))
    };
    for line in wrap::wrap(&spans, &frame) {
        writeln!(out, "{}", paper.bare_line(&line.spans))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ratatui::style::Color;

    use super::{Listed, ThemeOptions, write};
    use crate::render::colour::Depth;
    use crate::render::theme::{ROLES, Theme};
    use crate::report::rows::Paper;

    fn written(colour: bool) -> String {
        let dark = Listed {
            name: "dark".to_owned(),
            from: "comes with tv".to_owned(),
            theme: Ok(Theme::dark()),
        };
        let broken = Listed {
            name: "mine".to_owned(),
            from: "/a/mine.toml".to_owned(),
            theme: Err("/a/mine.toml:2:1: glow\u{1b}[2J".to_owned()),
        };
        let paper = Paper {
            width: 60,
            colour,
            ascii: false,
        };
        let options = ThemeOptions {
            themes: vec![dark, broken],
            depth: Depth::Sixteen,
            paper,
        };
        let mut out = Vec::new();
        write(&options, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn samples_have_no_more_colours_than_the_terminal() {
        let mut theme = Theme::dark();
        theme
            .role_mut("user")
            .into_iter()
            .for_each(|style| style.fg = Some(Color::Rgb(255, 0, 0)));
        let of = |depth| {
            let listed = Listed {
                name: "mine".to_owned(),
                from: String::new(),
                theme: Ok(theme.clone()),
            };
            let paper = Paper {
                width: 60,
                colour: true,
                ascii: false,
            };
            let mut out = Vec::new();
            write(
                &ThemeOptions {
                    themes: vec![listed],
                    depth,
                    paper,
                },
                &mut out,
            )
            .unwrap();
            String::from_utf8(out).unwrap()
        };
        assert!(of(Depth::True).contains("38;2;255;0;0"));
        assert!(!of(Depth::Sixteen).contains("38;2;"));
    }

    #[test]
    fn themes_are_listed_with_samples_where_there_are_colours() {
        let plain = written(false);
        assert_eq!(plain.lines().count(), 2);
        assert!(
            plain.contains("comes with tv")
                && plain.contains("mine               /a/mine.toml:2:1: glow"),
            "{plain}"
        );
        let coloured = written(true);
        for role in ROLES {
            assert!(coloured.contains(role), "{role}");
        }
        assert!(
            coloured.contains("\u{1b}[1;36muser") || coloured.contains("\u{1b}[36;1muser"),
            "{coloured:?}"
        );
        assert!(!coloured.contains("\u{1b}[2J"));
    }
}
