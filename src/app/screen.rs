//! The screen: its size, its colours, the time, and a message at its foot.

use std::sync::Arc;

use crate::model::timestamp::Timestamp;
use crate::render::code::Colours;
use crate::render::picture::Pictures;
use crate::render::theme::Theme;

/// How long a message stays, in ms.
const MESSAGE_MS: i64 = 4_000;

/// The screen, and how it looks.
#[derive(Debug)]
pub struct Screen {
    /// Column and line of the terminal at which it begins.
    pub at: (u16, u16),
    /// Columns and lines.
    pub size: (u16, u16),
    /// Colours and glyphs.
    pub theme: Theme,
    /// Highlights made in the background.
    pub colours: Arc<Colours>,
    /// Images, where they are made.
    pub pictures: Arc<Pictures>,
    /// The time, as the runtime gives it.
    pub now: Timestamp,
    /// Whether the line of hints is shown.
    pub(crate) shows_hints: bool,
    /// A message in the status line.
    pub message: Option<Message>,
}

/// A message in the status line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The words.
    pub text: String,
    /// When it goes away.
    pub until: Timestamp,
}

impl Screen {
    /// A screen of the usual size.
    pub fn new(theme: Theme, colours: Arc<Colours>, now: Timestamp) -> Self {
        Self {
            at: (0, 0),
            size: (80, 24),
            theme,
            colours,
            pictures: Arc::default(),
            now,
            shows_hints: true,
            message: None,
        }
    }

    /// Shows a message for a few seconds.
    pub fn say(&mut self, text: impl Into<String>) {
        self.message = Some(Message {
            text: text.into(),
            until: Timestamp(self.now.0 + MESSAGE_MS),
        });
    }

    /// It is now. A message that was there long enough goes away.
    pub fn tick(&mut self, now: Timestamp) {
        self.now = now;
        if self
            .message
            .as_ref()
            .is_some_and(|message| message.until <= now)
        {
            self.message = None;
        }
    }
}
