//! `tv help`: the topics of the manual, or the page on one.

use std::io::{self, Write};

use super::outcome::{Outcome, ReportError};
use super::rows::Paper;
use crate::render::code::Colours;
use crate::render::manual::{self, PAGES, Page};
use crate::render::row::{Look, Row};
use crate::render::theme::Theme;

/// Columns where there is no terminal: the width of one that nobody made larger.
pub(crate) const PLAIN_WIDTH: u16 = 80;

/// What to write.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The page; without one the topics.
    pub(crate) page: Option<&'static Page>,
    /// Columns and colours.
    pub paper: Paper,
}

/// Writes the page, or which pages there are.
pub fn write(options: &Options, out: &mut dyn Write) -> Result<Outcome, ReportError> {
    let written = match options.page {
        Some(page) => rows(page, options.paper)
            .iter()
            .try_for_each(|row| writeln!(out, "{}", options.paper.bare_line(&row.line.spans))),
        None => list(out),
    };
    written.map_err(ReportError::Write)?;
    Ok(Outcome::Complete)
}

fn rows(page: &Page, paper: Paper) -> Vec<Row> {
    let (theme, colours) = if paper.colour {
        (Theme::dark(), Colours::now())
    } else {
        (Theme::mono(), Colours::never())
    };
    let theme = theme.with_ascii(paper.ascii);
    let text = page.text(|topic| format!("tv help {topic}"));
    let text = if paper.colour { text } else { marked(&text) };
    manual::rows(&text, &Look::full(paper.width, &theme, &colours))
}

/// Without colours capitals mark headings, and backticks what is to be typed.
fn marked(text: &str) -> String {
    let mut is_code = false;
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence {
            out.push_str(line);
        } else if line.starts_with('#') {
            out.push_str(&line.to_uppercase());
        } else {
            let part = |(at, part)| {
                if at % 2 == 0 {
                    str::to_owned(part)
                } else {
                    format!("`` `{part}` ``")
                }
            };
            out.extend(line.split('`').enumerate().map(part));
        }
        out.push('\n');
    }
    out
}

fn list(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "The manual, a page for each topic:\n")?;
    let width = PAGES.iter().map(|page| page.topic.len()).max().unwrap_or(0);
    for page in PAGES {
        writeln!(out, "  {:<width$}  {}", page.topic, page.about())?;
    }
    writeln!(
        out,
        "\n`tv help TOPIC` writes a page here, `:help TOPIC` shows it in the viewer."
    )?;
    writeln!(
        out,
        "`tv --help` lists the commands, `tv help COMMAND` explains one."
    )
}
