//! The manual: a Markdown page per topic, embedded in the program.
//!
//! Invariant: a page begins with a heading and a line that says what it is about.

use super::markdown::{self, MarkdownMode};
use super::row::{Look, Row};
use crate::model::text::ascii;

/// Longer lines are hard to read.
const MOST_COLUMNS: u16 = 100;

/// A page of the manual.
#[derive(Debug, PartialEq, Eq)]
pub struct Page {
    /// The name of the topic.
    pub topic: &'static str,
    markdown: &'static str,
}

/// All pages, in the order for a new user.
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
        topic: "cost",
        markdown: include_str!("../../assets/manual/cost.md"),
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
        topic: "remote",
        markdown: include_str!("../../assets/manual/remote.md"),
    },
    Page {
        topic: "export",
        markdown: include_str!("../../assets/manual/export.md"),
    },
    Page {
        topic: "engines",
        markdown: include_str!("../../assets/manual/engines.md"),
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
    /// Its summary line.
    pub fn about(&self) -> &'static str {
        self.markdown.lines().nth(2).unwrap_or_default()
    }

    /// The page in Markdown. Links to other pages do not work outside of the repository, and are
    /// replaced by what `ask_for` returns: the text to type for them.
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
    markdown::rows(&text, MarkdownMode::Prose, width, usize::MAX, look)
}
