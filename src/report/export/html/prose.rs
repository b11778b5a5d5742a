//! The prose of a model as HTML.
//!
//! Invariant: HTML in it is written as text, and only addresses of pages become links.

use std::io;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::sheet::HtmlWriter;
use crate::render::code::{self, Colours};
use crate::render::link;
use crate::render::theme::Theme;

pub(super) fn write(
    text: &str,
    theme: &Theme,
    colours: &Colours,
    sheet: &mut HtmlWriter<'_>,
) -> io::Result<()> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut prose = Prose {
        sheet,
        theme,
        colours,
        code: None,
        is_head: false,
        links: Vec::new(),
    };
    Parser::new_ext(text, options).try_for_each(|event| prose.event(event))
}

struct Prose<'s, 'o> {
    sheet: &'s mut HtmlWriter<'o>,
    theme: &'s Theme,
    colours: &'s Colours,
    /// An open block of code: its language and text.
    code: Option<(String, String)>,
    /// Whether the row of a table is its head.
    is_head: bool,
    /// Whether each open link has an address.
    links: Vec<bool>,
}

impl Prose<'_, '_> {
    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => match &mut self.code
            {
                Some((_, code)) => {
                    code.push_str(&text);
                    Ok(())
                }
                None => self.sheet.text(&text),
            },
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.sheet.raw("<code>")?;
                self.sheet.text(&text)?;
                self.sheet.raw("</code>")
            }
            Event::SoftBreak => self.sheet.raw("\n"),
            Event::HardBreak => self.sheet.raw("<br>\n"),
            Event::Rule => self.sheet.raw("<hr>\n"),
            Event::TaskListMarker(is_done) => self.sheet.raw(if is_done { "☑ " } else { "☐ " }),
            Event::FootnoteReference(name) => self.sheet.text(&format!("[{name}]")),
        }
    }

    fn start(&mut self, tag: Tag<'_>) -> io::Result<()> {
        let markup = match tag {
            Tag::Paragraph => "<p>",
            Tag::Heading { level, .. } => heading(level).0,
            Tag::BlockQuote(_) => "<blockquote>\n",
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(info) => code::language_of_fence(&info).to_owned(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
                ""
            }
            Tag::List(Some(first)) => {
                self.sheet.raw("<ol start=\"")?;
                self.sheet.text(&first.to_string())?;
                "\">\n"
            }
            Tag::List(None) => "<ul>\n",
            Tag::Item => "<li>",
            Tag::Table(_) => "<div class=\"scroll\"><table>\n",
            Tag::TableHead => {
                self.is_head = true;
                "<tr>"
            }
            Tag::TableRow => "<tr>",
            Tag::TableCell if self.is_head => "<th>",
            Tag::TableCell => "<td>",
            Tag::Emphasis => "<em>",
            Tag::Strong => "<strong>",
            Tag::Strikethrough => "<del>",
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                // An image would be loaded from elsewhere: its address is a link.
                let address = link::printable(&dest_url);
                self.links.push(address.is_some());
                let Some(address) = address else {
                    return Ok(());
                };
                self.sheet.raw("<a rel=\"noreferrer noopener\" href=\"")?;
                self.sheet.text(&address)?;
                "\">"
            }
            _ => "",
        };
        self.sheet.raw(markup)
    }

    fn end(&mut self, tag: TagEnd) -> io::Result<()> {
        self.sheet.raw(match tag {
            TagEnd::Paragraph => "</p>\n",
            TagEnd::Heading(level) => heading(level).1,
            TagEnd::BlockQuote(_) => "</blockquote>\n",
            TagEnd::CodeBlock => return self.end_code(),
            TagEnd::List(true) => "</ol>\n",
            TagEnd::List(false) => "</ul>\n",
            TagEnd::Item => "</li>\n",
            TagEnd::Table => "</table></div>\n",
            TagEnd::TableHead => {
                self.is_head = false;
                "</tr>\n"
            }
            TagEnd::TableRow => "</tr>\n",
            TagEnd::TableCell if self.is_head => "</th>",
            TagEnd::TableCell => "</td>",
            TagEnd::Emphasis => "</em>",
            TagEnd::Strong => "</strong>",
            TagEnd::Strikethrough => "</del>",
            TagEnd::Link | TagEnd::Image => return self.end_link(),
            _ => "",
        })
    }

    fn end_link(&mut self) -> io::Result<()> {
        match self.links.pop() {
            Some(true) => self.sheet.raw("</a>"),
            _ => Ok(()),
        }
    }

    fn end_code(&mut self) -> io::Result<()> {
        let Some((language, code)) = self.code.take() else {
            return Ok(());
        };
        self.sheet.raw("<pre><code>")?;
        let lines = code::lines(&code, &language, self.colours, self.theme, self.theme.text);
        for line in lines {
            for span in line {
                self.sheet.styled(&span.content, span.style)?;
            }
            self.sheet.raw("\n")?;
        }
        self.sheet.raw("</code></pre>\n")
    }
}

/// Headings of an answer stand below those of the page.
fn heading(level: HeadingLevel) -> (&'static str, &'static str) {
    match level {
        HeadingLevel::H1 | HeadingLevel::H2 => ("<h4>", "</h4>\n"),
        HeadingLevel::H3 => ("<h5>", "</h5>\n"),
        _ => ("<h6>", "</h6>\n"),
    }
}
