//! Definitions of reference links: `[name]: address`. The parser removes them from the text.
//!
//! Invariant: each definition either is the address of a visible link or is shown itself.

use std::collections::{HashSet, VecDeque};
use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag};

use super::{MarkdownMode, options};

/// Byte ranges of the definitions to be shown, in order.
pub(crate) struct Definitions(VecDeque<Range<usize>>);

impl Definitions {
    /// The definitions to be shown: all that were typed, and those of a model that no link uses.
    pub(crate) fn of(parser: &Parser<'_>, text: &str, manner: MarkdownMode) -> Self {
        let found = parser.reference_definitions();
        if found.iter().next().is_none() {
            return Self(VecDeque::new());
        }
        let used = if manner == MarkdownMode::Prose {
            addresses(text)
        } else {
            HashSet::new()
        };
        let unused = found
            .iter()
            .filter(|(_, one)| !used.contains(one.dest.as_ref()));
        let mut spans: Vec<Range<usize>> = unused.map(|(_, one)| one.span.clone()).collect();
        spans.sort_by_key(|span| span.start);
        Self(spans.into())
    }

    /// Removes and returns the definitions before an offset.
    pub(crate) fn before(&mut self, place: usize) -> impl Iterator<Item = Range<usize>> {
        let count = self.0.iter().take_while(|span| span.start < place).count();
        self.0.drain(..count)
    }
}

/// The addresses of all links in a text.
fn addresses(text: &str) -> HashSet<String> {
    let address = |event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(dest_url.into_string())
        }
        _ => None,
    };
    Parser::new_ext(text, options())
        .filter_map(address)
        .collect()
}
