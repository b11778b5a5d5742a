//! Links within rows, and the addresses that may be written to a terminal.
//!
//! A span passes through wrapping, tables and indentation before it is drawn, and only its style
//! stays with it. So the index of its link is encoded as an underline colour, which nothing else
//! uses; when a row is drawn, the address is looked up and the colour removed.
//!
//! **Escape sequences are contained in cells.** A link's sequence starts and ends within each
//! cell, because the difference of two frames may consist of any of them alone.
//!
//! Invariant: addresses written here are printable ASCII, with a scheme that opens a page and runs
//! nothing.

use ratatui::style::{Color, Style};
use ratatui::text::Span;

use super::wrap::Piece;

/// Schemes that may be written to a terminal.
const SCHEMES: [&str; 3] = ["https://", "http://", "mailto:"];
/// Longer addresses are truncated or refused by terminals.
const LONGEST: usize = 2_000;
/// Limit of links in one text; more stay plain text.
const MOST: usize = 4_096;

/// The addresses of the links of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkTargets {
    addresses: Vec<String>,
}

impl LinkTargets {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }

    /// The address encoded in a style by [`LinkTargets::mark`].
    pub(crate) fn address_of(&self, style: Style) -> Option<&str> {
        self.addresses.get(number_of(style)?).map(String::as_str)
    }

    /// Encodes an address in a style; an address that may not be written leaves the style
    /// unchanged.
    pub(crate) fn mark(&mut self, style: Style, address: &str) -> Style {
        let Some(address) = printable(address) else {
            return style;
        };
        if self.addresses.last() != Some(&address) {
            self.addresses.push(address);
        }
        match u32::try_from(self.addresses.len() - 1) {
            Ok(number) if self.addresses.len() <= MOST => {
                let [_, r, g, b] = number.to_be_bytes();
                style.underline_color(Color::Rgb(r, g, b))
            }
            _ => style,
        }
    }

    pub(crate) fn mark_plain(&mut self, line: Vec<Piece>) -> Vec<Piece> {
        let text: String = line.iter().map(|span| span.content.as_ref()).collect();
        if !text.contains("://") {
            return line;
        }
        let mut found = plain_addresses(&text).into_iter().peekable();
        let mut out = Vec::with_capacity(line.len());
        let mut start = 0;
        for span in line {
            let end = start + span.content.len();
            let mut from = start;
            while let Some((first, to)) = found.peek().copied().filter(|(first, _)| *first < end) {
                let (at, stop) = (first.max(from), to.min(end));
                push(&mut out, text.get(from..at), span.style);
                let style = match (number_of(span.style), text.get(first..to)) {
                    (None, Some(address)) => self.mark(span.style, address),
                    _ => span.style,
                };
                push(&mut out, text.get(at..stop), style);
                from = stop;
                if to > end {
                    break;
                }
                found.next();
            }
            push(&mut out, text.get(from..end), span.style);
            start = end;
        }
        out
    }
}

/// The index encoded in a style.
fn number_of(style: Style) -> Option<usize> {
    match style.underline_color? {
        Color::Rgb(r, g, b) => usize::try_from(u32::from_be_bytes([0, r, g, b])).ok(),
        _ => None,
    }
}

/// The address in the form that may be written; `None` if it may not.
pub(crate) fn printable(address: &str) -> Option<String> {
    let is_known = SCHEMES.iter().any(|scheme| {
        address
            .get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
            && address.len() > scheme.len()
    });
    if !is_known || address.len() > LONGEST {
        return None;
    }
    let mut out = String::with_capacity(address.len());
    for byte in address.bytes() {
        match byte {
            b'!'..=b'~' => out.push(char::from(byte)),
            // Control characters are dropped.
            0..=0x1f | 0x7f => {}
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    Some(out)
}

/// Byte ranges of the addresses in a text, without the punctuation that ends a sentence.
fn plain_addresses(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(rest) = text.get(from..) {
        let starts = SCHEMES.iter().filter_map(|scheme| rest.find(scheme));
        let Some(start) = starts.min().map(|at| from + at) else {
            break;
        };
        let rest = text.get(start..).unwrap_or_default();
        let ends = |c: char| {
            c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"' | '`' | '│')
        };
        let whole = rest
            .get(..rest.find(ends).unwrap_or(rest.len()))
            .unwrap_or_default();
        let mut address =
            whole.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', '_', ']', '}']);
        while address.ends_with(')') && address.matches(')').count() > address.matches('(').count()
        {
            address = address
                .strip_suffix(')')
                .unwrap_or(address)
                .trim_end_matches(['.', ',', ';']);
        }
        if printable(address).is_some() {
            found.push((start, start + address.len()));
        }
        from = start + whole.len().max(1);
    }
    found
}

fn push(out: &mut Vec<Piece>, text: Option<&str>, style: Style) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        out.push(Span::styled(text.to_owned(), style));
    }
}

#[cfg(test)]
mod tests {
    use super::{LinkTargets, printable};
    use ratatui::style::Style;
    use ratatui::text::Span;

    #[test]
    fn only_what_opens_is_printable() {
        assert_eq!(
            printable("https://x.io/ä b\u{1b}\\"),
            Some("https://x.io/%C3%A4%20b\\".to_owned())
        );
        assert_eq!(printable("MAILTO:a@b"), Some("MAILTO:a@b".to_owned()));
        assert_eq!(
            printable("https://x.io/\u{9d}52;c;eA==\u{202e}"),
            Some("https://x.io/%C2%9D52;c;eA==%E2%80%AE".to_owned())
        );
        let others = [
            "javascript:alert(1)",
            " javascript:x",
            "data:text/html,x",
            "file:///etc/passwd",
            "vscode://x",
        ];
        for address in others
            .into_iter()
            .chain(["https://", "mailto:", "ssh://x", "x", "//x.io"])
        {
            assert_eq!(printable(address), None, "{address}");
        }
        assert_eq!(
            printable(&format!("https://x.io/{}", "y".repeat(3_000))),
            None
        );
    }

    #[test]
    fn addresses_in_plain_text_are_found() {
        let mut links = LinkTargets::default();
        let line = ["see (https://x.io/", "a_(b)), or http://y.io. and https://"]
            .map(Span::raw)
            .to_vec();
        let marked = links.mark_plain(line);
        let linked: Vec<(&str, Option<&str>)> = marked
            .iter()
            .map(|span| (span.content.as_ref(), links.address_of(span.style)))
            .collect();
        let x = Some("https://x.io/a_(b)");
        assert_eq!(
            linked,
            [
                ("see (", None),
                ("https://x.io/", x),
                ("a_(b)", x),
                ("), or ", None),
                ("http://y.io", Some("http://y.io")),
                (". and https://", None)
            ]
        );
        assert_eq!(links.address_of(Style::new()), None);
    }
}
