//! Draws frames, and queries the terminal for what affects them: its background and its graphics.
//!
//! Invariant: nothing waits for a reply of the terminal.

use std::time::{Duration, Instant};

use super::clock::now;
use super::terminal_input::event::InputEvent;
use super::terminal_queries;
use super::{Flow, Viewer, theme_choice};
use crate::app::effect::Effect;
use crate::app::update::Event;
use crate::app::update::arrange;
use crate::render::picture::canvas::ImageProtocol;
use crate::terminal::{self, TerminalScreen};
use crate::ui;

/// How long a frame waits for bodies from the disk. Most arrive sooner; a frame without them would
/// be followed by another one that moves what was just shown.
const SOON: Duration = Duration::from_millis(3);

impl Viewer {
    /// Sends the queries to the terminal, after the first frame.
    pub(super) fn send_queries(&mut self) -> anyhow::Result<()> {
        if theme_choice::needs_background(&self.config) {
            self.screen.send(terminal_queries::BACKGROUND)?;
        }
        self.send_graphics_queries()
    }

    fn send_graphics_queries(&mut self) -> anyhow::Result<()> {
        let questions = self.config.terminal.graphics.questions();
        if !questions.is_empty() {
            self.screen.send(&questions)?;
        }
        Ok(())
    }

    /// Changes how images are shown.
    pub(super) fn set_images(&mut self, choice: ImageProtocol) -> anyhow::Result<()> {
        self.config.terminal.graphics.choice = choice;
        self.set_canvas();
        self.send_graphics_queries()
    }

    /// Lays out a frame, and requests the bodies that it lacks. Returns whether any were requested.
    fn arrange(&mut self) -> anyhow::Result<bool> {
        let effects = arrange(&mut self.app);
        let asks = effects
            .iter()
            .any(|effect| matches!(effect, Effect::Page { .. }));
        for effect in effects {
            self.run_effect(effect)?;
        }
        Ok(asks)
    }

    /// Waits [`SOON`] for the requested bodies. Returns whether any event arrived: after any of
    /// them the layout is out of date.
    fn wait_for_bodies(&mut self) -> bool {
        let deadline = Instant::now() + SOON;
        let mut hears = false;
        while let Some(Ok(event)) = self
            .opened
            .as_ref()
            .map(|opened| opened.answers.recv_deadline(deadline))
        {
            hears = true;
            let is_it = matches!(event, Event::Paged { .. });
            self.update(event);
            if is_it {
                break;
            }
        }
        hears
    }

    /// Lays out and draws a frame.
    pub(super) fn draw(&mut self) -> anyhow::Result<()> {
        self.app.reader.screen.now = now();
        if self.arrange()? && self.wait_for_bodies() {
            self.arrange()?;
        }
        let (app, images) = (&self.app, &mut self.images);
        let drawings = match app.mode {
            _ if app.mode.is_of_all() => Vec::new(),
            _ => ui::pictures::in_sight(&app.reader),
        };
        let sent = images.send(&drawings);
        if !sent.is_empty() {
            terminal::set_exit_sequence(images.delete_all());
        }
        self.screen.draw(&sent, |frame| {
            // The terminal was resized after the layout; the signal for that is on its way.
            if (frame.area().width, frame.area().height) != app.reader.screen.size {
                return String::new();
            }
            ui::view(app, frame);
            let placed = ui::pictures::place(&drawings, frame.buffer_mut());
            images.overlay(&placed, frame.buffer_mut())
        })?;
        Ok(())
    }

    /// Decides how images are drawn by what is known of the terminal now.
    pub(super) fn set_canvas(&mut self) {
        let canvas = self
            .config
            .terminal
            .graphics
            .canvas(&self.answers, TerminalScreen::cell());
        if canvas != self.app.reader.screen.theme.terminal.canvas {
            self.app.reader.screen.theme.terminal.canvas = canvas;
            self.app.reader.text.invalidate_rows();
        }
    }

    /// Stores a reply of the terminal.
    pub(super) fn apply_reply(&mut self, heard: Option<InputEvent>) -> Flow {
        if let Some(heard) = heard {
            self.answers.push(&heard, TerminalScreen::cell());
            self.set_canvas();
        }
        Flow::Continue
    }

    /// Makes the next frame draw everything, images included.
    pub(super) fn repaint(&mut self) -> anyhow::Result<()> {
        self.images.clear();
        Ok(self.screen.invalidate()?)
    }
}
