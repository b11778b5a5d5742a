//! Converts pages of the manual to roff, for `man`. The crate for this replaces all characters
//! outside of ASCII, and half of the explanations in the manual are about such characters.

use clap_mangen::roff::{Inline, Roff, bold, italic, line_break, roman};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::render::manual::{ManualPage, PAGES};

/// The section of guides; commands have pages in section 1.
const SECTION: &str = "7";

/// The page on a topic.
pub fn page(page: &ManualPage) -> String {
    let name = name_of(page.topic);
    let mut writer = RoffWriter::default();
    writer
        .roff
        .control("TH", [name.as_str(), SECTION])
        .control("SH", ["NAME"]);
    writer
        .roff
        .text([roman(format!("{name} - {}", page.about()))])
        .control("SH", ["DESCRIPTION"]);
    let text = page.text(|topic| format!("{}({SECTION})", name_of(topic)));
    Parser::new_ext(&text, Options::ENABLE_TABLES).for_each(|event| writer.event(event));
    writer.roff.render()
}

/// The list of topics, for the page of the program.
pub(crate) fn topics() -> String {
    let mut roff = Roff::new();
    roff.control("SH", ["MANUAL"]).text([roman(
        "`tv man TOPIC` writes these pages, `tv help TOPIC` shows one:",
    )]);
    for page in PAGES {
        roff.control("TP", [])
            .text([bold(name_of(page.topic)), roman(format!("({SECTION})"))]);
        roff.text([roman(page.about())]);
    }
    roff.to_roff()
}

fn name_of(topic: &str) -> String {
    format!("tv-{topic}")
}

#[derive(Default)]
struct RoffWriter {
    roff: Roff,
    /// The line under construction.
    line: Vec<Inline>,
    is_strong: bool,
    is_code: bool,
    /// Whether a list item has just started; its first paragraph is beside the bullet.
    is_item: bool,
    /// The headings of the table, and the cells of the current row.
    names: Vec<String>,
    cells: Vec<Vec<Inline>>,
}

impl RoffWriter {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Text(text) if self.is_code => {
                for line in text.lines() {
                    self.roff.text([roman(line)]);
                }
            }
            Event::Text(text) if self.is_strong => self.line.push(bold(&*text)),
            Event::Text(text) => self.line.push(roman(&*text)),
            Event::Code(text) => self.line.push(bold(&*text)),
            Event::SoftBreak => self.line.push(roman(" ")),
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Strong => self.is_strong = true,
            Tag::Paragraph if !std::mem::take(&mut self.is_item) => {
                self.roff.control("PP", []);
            }
            Tag::Item => {
                self.flush();
                self.roff.control("IP", ["\\(bu", "2"]);
                self.is_item = true;
            }
            Tag::CodeBlock(_) => {
                self.flush();
                self.roff
                    .control("PP", [])
                    .control("RS", ["4"])
                    .control("nf", []);
                self.is_code = true;
            }
            Tag::Table(_) => self.names.clear(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Strong => self.is_strong = false,
            // The title is written separately.
            TagEnd::Heading(HeadingLevel::H1) => self.line.clear(),
            TagEnd::Heading(level) => {
                let words = words(&std::mem::take(&mut self.line));
                if level == HeadingLevel::H2 {
                    self.roff.control("SH", [words.to_uppercase().as_str()]);
                } else {
                    self.roff.control("SS", [words.as_str()]);
                }
            }
            TagEnd::CodeBlock => {
                self.is_code = false;
                self.roff.control("fi", []).control("RE", []);
            }
            TagEnd::TableCell => self.cells.push(std::mem::take(&mut self.line)),
            TagEnd::TableHead => {
                self.names = std::mem::take(&mut self.cells)
                    .iter()
                    .map(|cell| words(cell))
                    .collect();
            }
            TagEnd::TableRow => self.row(),
            TagEnd::Paragraph | TagEnd::Item => self.flush(),
            _ => {}
        }
    }

    /// Writes a row of a table, which would be too wide for `man`, as a list item: the first cell
    /// is its tag.
    fn row(&mut self) {
        let mut cells = std::mem::take(&mut self.cells).into_iter();
        let first = cells.next().unwrap_or_default();
        let has_names = self.names.len() > 2;
        let rest: Vec<_> = cells
            .zip(self.names.iter().skip(1))
            .filter(|(cell, _)| !cell.is_empty())
            .collect();
        self.roff
            .control(if rest.is_empty() { "PP" } else { "TP" }, [])
            .text(first);
        for (at, (cell, name)) in rest.into_iter().enumerate() {
            self.line.extend((at > 0).then(line_break));
            self.line
                .extend((has_names && !name.is_empty()).then(|| italic(format!("{name}: "))));
            self.line.extend(cell);
        }
        self.flush();
    }

    fn flush(&mut self) {
        if !self.line.is_empty() {
            self.roff.text(std::mem::take(&mut self.line));
        }
    }
}

/// The text of a line without its styles.
fn words(line: &[Inline]) -> String {
    let word = |inline: &Inline| match inline {
        Inline::Roman(text) | Inline::Bold(text) | Inline::Italic(text) => text.clone(),
        Inline::LineBreak => " ".to_owned(),
    };
    line.iter().map(word).collect()
}
