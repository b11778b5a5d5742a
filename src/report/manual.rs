//! `tv help`: the topics of the manual, or one page.

use std::io::{self, Write};

use super::outcome::{ReportError, ReportOutcome};
use super::rows::Paper;
use crate::render::code::Colours;
use crate::render::manual::{self, ManualPage, PAGES};
use crate::render::row::{Look, Row};
use crate::render::theme::Theme;

/// Width in columns if there is no terminal: that of a default terminal.
pub(crate) const PLAIN_WIDTH: u16 = 80;

/// Options of `tv help`.
pub struct ManualOptions {
    /// The page; `None` lists the topics.
    pub(crate) page: Option<&'static ManualPage>,
    pub paper: Paper,
}

/// Writes the page, or the list of pages.
pub fn write(options: &ManualOptions, out: &mut dyn Write) -> Result<ReportOutcome, ReportError> {
    let written = match options.page {
        Some(page) => rows(page, options.paper)
            .iter()
            .try_for_each(|row| writeln!(out, "{}", options.paper.bare_line(&row.line.spans))),
        None => list(out),
    };
    written.map_err(ReportError::Write)?;
    Ok(ReportOutcome::Complete)
}

fn rows(page: &ManualPage, paper: Paper) -> Vec<Row> {
    let (theme, colours) = if paper.colour {
        (Theme::dark(), Colours::immediate())
    } else {
        (Theme::mono(), Colours::never())
    };
    let theme = theme.with_ascii(paper.ascii);
    let text = page.text(|topic| format!("tv help {topic}"));
    let text = if paper.colour { text } else { marked(&text) };
    manual::rows(&text, &Look::full(paper.width, &theme, &colours))
}

/// Marks headings with capitals and code with backticks, for output without colours.
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
