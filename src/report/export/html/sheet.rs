//! What HTML is written to: markup that stands in the program, and texts, which are escaped.

use std::io::{self, Write};

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;

use crate::render::colour::rgb;
use crate::render::row::Row;
use crate::render::theme::{ROLES, Theme};

/// What stands for a secret.
const MASK: &str = "[masked]";
/// The part of a colour that says that it names a role.
const NAMES: u8 = 254;

pub(super) struct HtmlWriter<'o> {
    out: &'o mut dyn Write,
    /// How many secrets were masked in what was written.
    pub(super) masked: usize,
}

impl<'o> HtmlWriter<'o> {
    pub(super) fn new(out: &'o mut dyn Write) -> Self {
        Self { out, masked: 0 }
    }

    /// Markup, which nothing of a transcript can be.
    pub(super) fn raw(&mut self, markup: &'static str) -> io::Result<()> {
        self.out.write_all(markup.as_bytes())
    }

    /// A text, as content or within the quotes of an attribute.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        self.masked += text.matches(MASK).count();
        let mut from = 0;
        for (at, c) in text.char_indices() {
            let escaped = match c {
                '&' => "&amp;",
                '<' => "&lt;",
                '>' => "&gt;",
                '"' => "&quot;",
                '\'' => "&#39;",
                '\n' | '\t' => continue,
                c if c.is_control() => "\u{fffd}",
                _ => continue,
            };
            self.out
                .write_all(text.get(from..at).unwrap_or_default().as_bytes())?;
            self.out.write_all(escaped.as_bytes())?;
            from = at + c.len_utf8();
        }
        self.out
            .write_all(text.get(from..).unwrap_or_default().as_bytes())
    }

    /// A key as the part of an address behind `#`.
    pub(super) fn fragment(&mut self, key: &str) -> io::Result<()> {
        let mut encoded = String::new();
        for byte in key.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~:/@".contains(&byte) {
                encoded.push(char::from(byte));
            } else {
                encoded.push_str(&format!("%{byte:02X}"));
            }
        }
        self.text(&encoded)
    }

    /// A number in markup.
    pub(super) fn number(&mut self, number: f64) -> io::Result<()> {
        write!(self.out, "{}", (number * 100.0).round() / 100.0)
    }

    /// Spans of a row with their styles and links.
    pub(super) fn spans(&mut self, row: &Row, spans: &[Span<'_>]) -> io::Result<()> {
        for span in spans {
            let style = row.line.style.patch(span.style);
            let address = row.links.as_ref().and_then(|links| links.address_of(style));
            if let Some(address) = address {
                self.raw("<a rel=\"noreferrer noopener\" href=\"")?;
                self.text(address)?;
                self.raw("\">")?;
            }
            self.styled(&span.content, style)?;
            if address.is_some() {
                self.raw("</a>")?;
            }
        }
        Ok(())
    }

    pub(super) fn styled(&mut self, text: &str, style: Style) -> io::Result<()> {
        let classes = classes(style);
        if classes.is_empty() || text.trim().is_empty() && style.bg.is_none() {
            return self.text(text);
        }
        self.raw("<span class=\"")?;
        self.text(&classes)?;
        self.raw("\">")?;
        self.text(text)?;
        self.raw("</span>")
    }

    /// The colours of roles and of terminals, on light and on dark ground.
    pub(super) fn palettes(&mut self) -> io::Result<()> {
        self.palette(&Theme::light(), darkened)?;
        self.raw("@media screen and (prefers-color-scheme:dark){\n")?;
        self.palette(&Theme::dark(), lightened)?;
        self.raw("}\n")
    }

    fn palette(
        &mut self,
        theme: &Theme,
        fit: impl Fn((u8, u8, u8)) -> (u8, u8, u8),
    ) -> io::Result<()> {
        let mut theme = theme.clone();
        for (number, role) in ROLES.iter().enumerate() {
            let colour = theme.role_mut(role).and_then(|style| style.fg);
            if let Some((r, g, b)) = colour.and_then(rgb).map(&fit) {
                writeln!(self.out, ".r{number}{{color:#{r:02x}{g:02x}{b:02x}}}")?;
            }
        }
        for index in 0..=255 {
            if let Some(colour) = rgb(Color::Indexed(index)) {
                let (r, g, b) = fit(colour);
                write!(self.out, ".f{index}{{color:#{r:02x}{g:02x}{b:02x}}}")?;
                let (r, g, b) = colour;
                writeln!(self.out, ".g{index}{{background:#{r:02x}{g:02x}{b:02x}}}")?;
            }
        }
        Ok(())
    }
}

/// A colour that can be read on white.
fn darkened((r, g, b): (u8, u8, u8)) -> (u8, u8, u8) {
    let light = (u32::from(r) * 3 + u32::from(g) * 6 + u32::from(b)) / 10;
    let most = 110;
    if light <= most {
        return (r, g, b);
    }
    let part = |value: u8| u8::try_from(u32::from(value) * most / light).unwrap_or(value);
    (part(r), part(g), part(b))
}

/// A colour that can be read on dark ground. Black stays: it is the text of coloured badges.
fn lightened((r, g, b): (u8, u8, u8)) -> (u8, u8, u8) {
    let light = (u32::from(r) * 3 + u32::from(g) * 6 + u32::from(b)) / 10;
    let least = 140;
    if light == 0 || light >= least {
        return (r, g, b);
    }
    let part = |value: u8| {
        let room = u32::from(u8::MAX - value);
        let more = room * (least - light) / (255 - light);
        value.saturating_add(u8::try_from(more).unwrap_or(0))
    };
    (part(r), part(g), part(b))
}

/// A theme whose colours are the numbers of roles.
pub(super) fn theme() -> Theme {
    let mut theme = Theme::dark();
    for (number, role) in (0..).zip(ROLES) {
        if let Some(style) = theme.role_mut(role).filter(|style| style.fg.is_some()) {
            style.fg = Some(Color::Rgb(NAMES, number, NAMES));
            style.bg = None;
        }
    }
    theme
}

fn classes(style: Style) -> String {
    let mut classes: Vec<String> = Vec::new();
    match style.fg {
        Some(Color::Rgb(NAMES, number, NAMES)) => classes.push(format!("r{number}")),
        Some(Color::Indexed(index)) => classes.push(format!("f{index}")),
        _ => {}
    }
    if let Some(Color::Indexed(index)) = style.bg {
        classes.push(format!("g{index}"));
    }
    let modifiers = [
        (Modifier::BOLD, "b"),
        (Modifier::DIM, "d"),
        (Modifier::ITALIC, "i"),
        (Modifier::UNDERLINED, "u"),
        (Modifier::CROSSED_OUT, "s"),
        (Modifier::REVERSED, "v"),
    ];
    let set = modifiers
        .iter()
        .filter(|(modifier, _)| style.add_modifier.contains(*modifier));
    classes.extend(set.map(|(_, class)| (*class).to_owned()));
    classes.join(" ")
}

#[cfg(test)]
mod tests {
    use super::HtmlWriter;

    #[test]
    fn a_text_is_never_markup() {
        let mut out = Vec::new();
        let mut sheet = HtmlWriter::new(&mut out);
        sheet
            .text("<a b='c' d=\"e\">&\u{0}\u{1b}\u{9b}\n[masked]")
            .unwrap();
        assert_eq!(sheet.masked, 1);
        sheet.fragment("a b\"#<é").unwrap();
        let expected = "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;\u{fffd}\u{fffd}\u{fffd}\n[masked]a%20b%22%23%3C%C3%A9";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
