//! Definitions of reference links: `[name]: address`. The parser takes them out of the text.
//!
//! Invariant: each definition is either the address of a link that is shown, or shown by itself.

use std::collections::{HashSet, VecDeque};
use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag};

use super::{Manner, options};

/// Where definitions stand in a text, in the order of the text.
pub(crate) struct Definitions(VecDeque<Range<usize>>);

impl Definitions {
    /// The definitions that must be shown: what was typed is, what a model wrote only if no link uses it.
    pub(crate) fn of(parser: &Parser<'_>, text: &str, manner: Manner) -> Self {
        let found = parser.reference_definitions();
        if found.iter().next().is_none() {
            return Self(VecDeque::new());
        }
        let used = if manner == Manner::Prose {
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

    /// Takes those before a place of the text.
    pub(crate) fn before(&mut self, place: usize) -> impl Iterator<Item = Range<usize>> {
        let count = self.0.iter().take_while(|span| span.start < place).count();
        self.0.drain(..count)
    }
}

/// The addresses of all links.
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
