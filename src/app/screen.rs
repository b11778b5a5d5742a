//! The screen: size, theme, time, and the message in the status line.

use std::fmt;
use std::sync::Arc;

use crate::model::timestamp::Timestamp;
use crate::render::code::Colours;
use crate::render::picture::Pictures;
use crate::render::theme::Theme;

/// How long a message is shown, in ms.
const MESSAGE_MS: i64 = 4_000;

/// Size, theme and time; read by all panes.
#[derive(Debug)]
pub struct Screen {
    /// Column and line of the top left corner in the terminal.
    pub at: (u16, u16),
    pub size: (u16, u16),
    pub theme: Theme,
    /// Syntax highlights, made by a worker.
    pub colours: Arc<Colours>,
    /// Drawn images, made by a worker.
    pub pictures: Arc<Pictures>,
    /// Time of the last tick; the app reads no clock.
    pub now: Timestamp,
    /// Whether the line of hints is shown.
    pub(crate) shows_hints: bool,
    /// Whether the bar of views is shown.
    pub shows_bar: bool,
    /// A message in the status line.
    pub message: Option<StatusMessage>,
}

/// A message in the status line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusMessage {
    pub text: String,
    /// When the message expires.
    pub until: Timestamp,
}

impl Screen {
    /// Creates a screen of 80 by 24, until the first resize.
    pub fn new(theme: Theme, colours: Arc<Colours>, now: Timestamp) -> Self {
        Self {
            at: (0, 0),
            size: (80, 24),
            theme,
            colours,
            pictures: Arc::default(),
            now,
            shows_hints: false,
            shows_bar: false,
            message: None,
        }
    }

    /// Shows a message for a few seconds.
    pub fn set_status(&mut self, text: impl Into<String>) {
        self.message = Some(StatusMessage {
            text: text.into(),
            until: Timestamp(self.now.0 + MESSAGE_MS),
        });
    }

    /// Shows a message that an action or command has no effect on a list.
    pub(crate) fn set_session_only_status(&mut self, what: &impl fmt::Display) {
        let name = what.to_string();
        let name = name.split(' ').next().unwrap_or_default();
        let name = name.trim_end_matches("-view");
        self.set_status(format!(
            "{name} is of one session; enter opens the chosen one"
        ));
    }

    /// Sets the time, and drops an expired message.
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
