//! The manual: a Markdown page per topic, embedded in the program.
//!
//! Invariant: a page begins with a heading and a line that says what it is about.

use super::markdown::{self, MarkdownMode};
use super::row::{Look, Row};
use crate::model::text::ascii;

/// Longer lines are hard to read.
const MOST_COLUMNS: u16 = 100;

#[derive(Debug, PartialEq, Eq)]
pub struct ManualPage {
    /// The name of the topic.
    pub topic: &'static str,
    markdown: &'static str,
}

/// All pages, in the order for a new user.
pub const PAGES: &[ManualPage] = &[
    ManualPage {
        topic: "reading",
        markdown: include_str!("../../assets/manual/reading.md"),
    },
    ManualPage {
        topic: "finding",
        markdown: include_str!("../../assets/manual/finding.md"),
    },
    ManualPage {
        topic: "views",
        markdown: include_str!("../../assets/manual/views.md"),
    },
    ManualPage {
        topic: "checks",
        markdown: include_str!("../../assets/manual/checks.md"),
    },
    ManualPage {
        topic: "cost",
        markdown: include_str!("../../assets/manual/cost.md"),
    },
    ManualPage {
        topic: "formats",
        markdown: include_str!("../../assets/manual/formats.md"),
    },
    ManualPage {
        topic: "definitions",
        markdown: include_str!("../../assets/manual/definitions.md"),
    },
    ManualPage {
        topic: "command-line",
        markdown: include_str!("../../assets/manual/command-line.md"),
    },
    ManualPage {
        topic: "remote",
        markdown: include_str!("../../assets/manual/remote.md"),
    },
    ManualPage {
        topic: "export",
        markdown: include_str!("../../assets/manual/export.md"),
    },
    ManualPage {
        topic: "engines",
        markdown: include_str!("../../assets/manual/engines.md"),
    },
    ManualPage {
        topic: "json",
        markdown: include_str!("../../assets/manual/json.md"),
    },
    ManualPage {
        topic: "settings",
        markdown: include_str!("../../assets/manual/settings.md"),
    },
    ManualPage {
        topic: "terminal",
        markdown: include_str!("../../assets/manual/terminal.md"),
    },
    ManualPage {
        topic: "contributing",
        markdown: include_str!("../../assets/manual/contributing.md"),
    },
];

pub(crate) fn find(topic: &str) -> Option<&'static ManualPage> {
    PAGES.iter().find(|page| page.topic == topic)
}

/// All topics in one line.
pub(crate) fn topics() -> String {
    let topics: Vec<&str> = PAGES.iter().map(|page| page.topic).collect();
    topics.join(", ")
}

impl ManualPage {
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
