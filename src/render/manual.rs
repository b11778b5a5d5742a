//! The manual: a page for each topic, written in Markdown and kept in the program.
//!
//! Invariant: a page begins with its heading and a line that says what it is about.

use super::markdown::{self, Manner};
use super::row::{Look, Row};
use crate::model::text::ascii;

/// Longer lines are hard to read.
const MOST_COLUMNS: u16 = 100;

/// A page of the manual.
#[derive(Debug, PartialEq, Eq)]
pub struct Page {
    /// What it is asked for by.
    pub topic: &'static str,
    markdown: &'static str,
}

/// All pages, in the order in which a newcomer reads them.
pub const PAGES: &[Page] = &[
    Page {
        topic: "reading",
        markdown: include_str!("../../assets/manual/reading.md"),
    },
    Page {
        topic: "finding",
        markdown: include_str!("../../assets/manual/finding.md"),
    },
    Page {
        topic: "views",
        markdown: include_str!("../../assets/manual/views.md"),
    },
    Page {
        topic: "checks",
        markdown: include_str!("../../assets/manual/checks.md"),
    },
    Page {
        topic: "money",
        markdown: include_str!("../../assets/manual/money.md"),
    },
    Page {
        topic: "formats",
        markdown: include_str!("../../assets/manual/formats.md"),
    },
    Page {
        topic: "definitions",
        markdown: include_str!("../../assets/manual/definitions.md"),
    },
    Page {
        topic: "command-line",
        markdown: include_str!("../../assets/manual/command-line.md"),
    },
    Page {
        topic: "json",
        markdown: include_str!("../../assets/manual/json.md"),
    },
    Page {
        topic: "settings",
        markdown: include_str!("../../assets/manual/settings.md"),
    },
    Page {
        topic: "terminal",
        markdown: include_str!("../../assets/manual/terminal.md"),
    },
    Page {
        topic: "contributing",
        markdown: include_str!("../../assets/manual/contributing.md"),
    },
];

/// The page on a topic.
pub(crate) fn find(topic: &str) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.topic == topic)
}

/// All topics in one line.
pub(crate) fn topics() -> String {
    let topics: Vec<&str> = PAGES.iter().map(|page| page.topic).collect();
    topics.join(", ")
}

impl Page {
    /// What it is about, in a line.
    pub fn about(&self) -> &'static str {
        self.markdown.lines().nth(2).unwrap_or_default()
    }

    /// The page in Markdown. A link to another page leads nowhere outside the repository; what to type for that page
    /// takes its place.
    pub fn text(&self, ask_for: fn(&str) -> String) -> String {
        let page = |text: String, page: &Self| {
            let topic = page.topic;
            text.replace(
                &format!("[{topic}]({topic}.md)"),
                &format!("`{}`", ask_for(topic)),
            )
        };
        PAGES.iter().fold(self.markdown.to_owned(), page)
    }
}

/// A page's text laid out.
pub fn rows(text: &str, look: &Look<'_>) -> Vec<Row> {
    let text = if look.theme.ascii {
        ascii(text)
    } else {
        text.into()
    };
    let width = usize::from(look.width.min(MOST_COLUMNS));
    markdown::rows(&text, Manner::Prose, width, usize::MAX, look)
}
