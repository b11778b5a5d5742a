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

macro_rules! pages {
    ($($topic:literal)*) => {
        &[$(ManualPage {
            topic: $topic,
            markdown: include_str!(concat!("../../assets/manual/", $topic, ".md")),
        }),*]
    };
}

/// All pages, in the order for a new user.
pub const PAGES: &[ManualPage] = pages! {
    "reading"
    "finding"
    "views"
    "checks"
    "cost"
    "formats"
    "definitions"
    "command-line"
    "remote"
    "export"
    "engines"
    "json"
    "settings"
    "terminal"
    "contributing"
};

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
