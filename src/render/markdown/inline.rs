//! Collects the text of a paragraph: emphasis, code, links, line breaks.

use std::borrow::Cow;

use pulldown_cmark::{HeadingLevel, LinkType, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

use super::MarkdownMode;
use crate::model::text::Text;
use crate::render::link::{self, LinkTargets};
use crate::render::row::Look;
use crate::render::wrap::Piece;

/// The open paragraph as logical lines.
pub(crate) struct Inline<'a> {
    look: &'a Look<'a>,
    manner: MarkdownMode,
    lines: Vec<Vec<Piece>>,
    line: Vec<Piece>,
    base: Style,
    styles: Vec<Style>,
    open: Vec<Link>,
    links: LinkTargets,
    pub(crate) ink: usize,
}

/// An open link: its address, its title and its text so far.
struct Link {
    address: String,
    title: String,
    text: String,
}

impl<'a> Inline<'a> {
    pub(crate) fn new(manner: MarkdownMode, look: &'a Look<'a>) -> Self {
        let base = look.theme.text;
        Self {
            look,
            manner,
            lines: Vec::new(),
            line: Vec::new(),
            base,
            styles: Vec::new(),
            open: Vec::new(),
            links: LinkTargets::default(),
            ink: 0,
        }
    }

    /// Removes and returns the lines.
    pub(crate) fn take(&mut self) -> Vec<Vec<Piece>> {
        self.ink = 0;
        self.new_line();
        std::mem::take(&mut self.lines)
    }

    /// Ends the line, unless it is empty.
    pub(crate) fn new_line(&mut self) {
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.lines.push(self.links.mark_plain(line));
        }
    }

    /// Whether the paragraph is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.line.is_empty()
    }

    /// Adds dim text that is not part of the prose.
    pub(crate) fn aside(&mut self, text: &str) {
        self.push(safe(text).into_owned(), self.look.theme.dim);
    }

    /// The links of the spans.
    pub(crate) fn links(self) -> LinkTargets {
        self.links
    }

    /// Adds text in the current style.
    pub(crate) fn text(&mut self, text: &str) {
        let text = safe(text);
        for link in &mut self.open {
            link.text.push_str(&text);
        }
        let style = self.style();
        self.push(text.into_owned(), style);
    }

    pub(crate) fn code(&mut self, text: &str, source: &str) {
        let style = self.look.theme.code.add_modifier(self.style().add_modifier);
        let shown = if self.manner == MarkdownMode::Typed {
            source
        } else {
            text
        };
        for link in &mut self.open {
            link.text.push_str(shown);
        }
        self.push(safe(&shown.replace('\n', " ")).into_owned(), style);
    }

    /// A hard line break; `rest` begins with the indentation of the next line.
    pub(crate) fn line_break(&mut self, rest: &str) {
        if self.line.is_empty() {
            self.lines.push(Vec::new());
        }
        self.new_line();
        if self.manner == MarkdownMode::Typed {
            let after = rest.split_once('\n').map_or("", |(_, after)| after);
            let blanks: String = after
                .chars()
                .take_while(|c| matches!(c, ' ' | '\t'))
                .take(200)
                .collect();
            self.push(blanks, self.base);
        }
    }

    /// Switches to the style of a heading.
    pub(crate) fn heading(&mut self, level: HeadingLevel) {
        let theme = self.look.theme;
        self.base = Style {
            add_modifier: heading_modifier(level),
            ..theme.heading
        };
        if self.manner == MarkdownMode::Typed {
            self.push(format!("{} ", "#".repeat(level as usize)), theme.dim);
        }
    }

    /// Switches back to the style of prose.
    pub(crate) fn plain(&mut self) {
        self.base = self.look.theme.text;
        self.styles.clear();
    }

    pub(crate) fn start(&mut self, tag: Tag<'_>, source: &str) {
        match tag {
            Tag::Emphasis => self.marked(Modifier::ITALIC, source, 1),
            Tag::Strong => self.marked(Modifier::BOLD, source, 2),
            Tag::Strikethrough => {
                let marks = source.bytes().take_while(|byte| *byte == b'~').count();
                self.marked(Modifier::CROSSED_OUT, source, marks);
            }
            // A tag with a namespace is parsed as an autolink.
            Tag::Link {
                link_type: LinkType::Autolink,
                dest_url,
                ..
            } if !is_web(&dest_url) => {
                self.text("<");
                self.begin_link(String::new(), "", self.style());
            }
            Tag::Link {
                dest_url, title, ..
            } => {
                let address = safe(&dest_url).into_owned();
                let style = if is_web(&address) {
                    self.style()
                        .patch(self.look.theme.accent)
                        .add_modifier(Modifier::UNDERLINED)
                } else {
                    self.style()
                };
                let style = self.links.mark(style, &address);
                self.begin_link(address, &title, style);
            }
            Tag::Image {
                dest_url, title, ..
            } => {
                self.push("[image ".to_owned(), self.look.theme.dim);
                let address = safe(&dest_url).into_owned();
                let style = self.links.mark(self.look.theme.dim, &address);
                self.begin_link(address, &title, style);
            }
            _ => {}
        }
    }

    pub(crate) fn end(&mut self, end: TagEnd, source: &str) {
        match end {
            TagEnd::Emphasis => self.unmarked(source, 1),
            TagEnd::Strong => self.unmarked(source, 2),
            TagEnd::Strikethrough => {
                let marks = source
                    .bytes()
                    .rev()
                    .take_while(|byte| *byte == b'~')
                    .count();
                self.unmarked(source, marks);
            }
            TagEnd::Link => {
                let is_tag = source.starts_with('<')
                    && self.open.last().is_some_and(|link| link.address.is_empty());
                self.end_link();
                if is_tag {
                    self.text(">");
                }
            }
            TagEnd::Image => {
                self.end_link();
                self.push("]".to_owned(), self.look.theme.dim);
            }
            _ => {}
        }
    }

    fn begin_link(&mut self, address: String, title: &str, style: Style) {
        self.styles.push(style);
        self.open.push(Link {
            address,
            title: safe(title).into_owned(),
            text: String::new(),
        });
    }

    /// Adds title and address of a link, unless the terminal gets the address; a text that looks
    /// like another address is always followed by the real one.
    fn end_link(&mut self) {
        self.styles.pop();
        let Some(Link {
            address,
            title,
            text,
        }) = self.open.pop()
        else {
            return;
        };
        let bare = address.strip_prefix("mailto:").unwrap_or(&address);
        let is_said = address.is_empty() || text.trim() == address || text.trim() == bare;
        let is_known = self.look.theme.terminal.has_links
            && link::printable(&address).is_some()
            && !text.contains('.');
        let mut suffix = if is_said || is_known {
            String::new()
        } else {
            address.clone()
        };
        if !title.is_empty() {
            let blank = if suffix.is_empty() { "" } else { " " };
            suffix.push_str(&format!("{blank}\"{title}\""));
        }
        if !suffix.is_empty() {
            let style = self.links.mark(self.look.theme.dim, &address);
            self.push(" (".to_owned(), self.look.theme.dim);
            self.push(suffix, style);
            self.push(")".to_owned(), self.look.theme.dim);
        }
    }

    fn marked(&mut self, modifier: Modifier, source: &str, marks: usize) {
        if self.manner == MarkdownMode::Typed {
            self.push(
                source.get(..marks).unwrap_or_default().to_owned(),
                self.look.theme.dim,
            );
        }
        self.styles.push(self.style().add_modifier(modifier));
    }

    fn unmarked(&mut self, source: &str, marks: usize) {
        self.styles.pop();
        if self.manner == MarkdownMode::Typed {
            let from = source.len().saturating_sub(marks);
            self.push(
                source.get(from..).unwrap_or_default().to_owned(),
                self.look.theme.dim,
            );
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or(self.base)
    }

    fn push(&mut self, text: String, style: Style) {
        if !text.is_empty() {
            self.ink += ink(&text);
            self.line.push(Span::styled(text, style));
        }
    }
}

/// Number of visible characters of a text.
pub(crate) fn ink(text: &str) -> usize {
    text.chars().filter(|c| !c.is_whitespace()).count()
}

/// Cleans a text. Entities such as `&#27;` are decoded after the text was cleaned, so it must be
/// cleaned again.
pub(crate) fn safe(text: &str) -> Cow<'_, str> {
    if text
        .bytes()
        .all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'))
    {
        return text.into();
    }
    Text::clean(text).to_string().into()
}

fn is_web(address: &str) -> bool {
    let lower = address.get(..8).unwrap_or(address).to_ascii_lowercase();
    ["http://", "https://", "mailto:"]
        .iter()
        .any(|scheme| lower.starts_with(scheme))
}

/// Whether a tag is only a line break.
pub(crate) fn is_line_break(tag: &str) -> bool {
    let name = tag
        .trim_start_matches('<')
        .trim_end_matches(['>', '/', ' ']);
    name.eq_ignore_ascii_case("br")
}

/// Attributes of a heading, which show its level without markers.
fn heading_modifier(level: HeadingLevel) -> Modifier {
    match level {
        HeadingLevel::H1 => Modifier::BOLD | Modifier::UNDERLINED,
        HeadingLevel::H2 => Modifier::BOLD,
        HeadingLevel::H3 => Modifier::BOLD | Modifier::ITALIC,
        HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => Modifier::ITALIC,
    }
}
