//! Frames, and what they look like: colours, images, and what the terminal is asked for the sake of both.
//!
//! Invariant: nothing waits for an answer of the terminal.

use std::time::{Duration, Instant};

use super::answers;
use super::clock::now;
use super::terminal_input::event::InputEvent;
use super::{Next, Viewer, look};
use crate::app::effect::Effect;
use crate::app::update::Event;
use crate::app::update::arrange;
use crate::render::picture::canvas::Choice;
use crate::terminal::{self, Screen};
use crate::ui;

/// A frame waits so long for bodies from the disk: most come sooner, and a frame without them would be followed by
/// another one that moves what was just shown.
const SOON: Duration = Duration::from_millis(3);

impl Viewer {
    /// Asks the terminal what it is: after the first frame, so that nothing waits for an answer.
    pub(super) fn ask(&mut self) -> anyhow::Result<()> {
        if look::asks_for_background(&self.config) {
            self.screen.send(answers::BACKGROUND)?;
        }
        self.ask_for_graphics()
    }

    fn ask_for_graphics(&mut self) -> anyhow::Result<()> {
        let questions = self.config.terminal.graphics.questions();
        if !questions.is_empty() {
            self.screen.send(&questions)?;
        }
        Ok(())
    }

    /// Shows images in another way.
    pub(super) fn set_images(&mut self, choice: Choice) -> anyhow::Result<()> {
        self.config.terminal.graphics.choice = choice;
        self.set_canvas();
        self.ask_for_graphics()
    }

    /// Lays out a frame, and asks for what it lacks. Says whether bodies are among that.
    fn arrange(&mut self) -> anyhow::Result<bool> {
        let effects = arrange(&mut self.app);
        let asks = effects
            .iter()
            .any(|effect| matches!(effect, Effect::Page { .. }));
        for effect in effects {
            self.carry_out(effect)?;
        }
        Ok(asks)
    }

    /// Waits a moment for the bodies that were asked for. Says whether anything came: whatever it was, the layout
    /// is older than the app now.
    fn hears_of_bodies(&mut self) -> bool {
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

    /// Paints a frame.
    pub(super) fn draw(&mut self) -> anyhow::Result<()> {
        self.app.reader.screen.now = now();
        if self.arrange()? && self.hears_of_bodies() {
            self.arrange()?;
        }
        let (app, gallery) = (&self.app, &mut self.gallery);
        let drawings = match app.mode {
            _ if app.mode.is_of_all() => Vec::new(),
            _ => ui::pictures::in_sight(&app.reader),
        };
        let sent = gallery.send(&drawings);
        if !sent.is_empty() {
            terminal::owe(gallery.farewell());
        }
        self.screen.draw(&sent, |frame| {
            // The terminal has another size than what was arranged: the signal that says so is on its way.
            if (frame.area().width, frame.area().height) != app.reader.screen.size {
                return String::new();
            }
            ui::view(app, frame);
            let placed = ui::pictures::place(&drawings, frame.buffer_mut());
            gallery.lay(&placed, frame.buffer_mut())
        })?;
        Ok(())
    }

    /// Shows images as the terminal can, by all that is known of it now.
    pub(super) fn set_canvas(&mut self) {
        let canvas = self
            .config
            .terminal
            .graphics
            .canvas(&self.answers, Screen::cell());
        if canvas != self.app.reader.screen.theme.terminal.canvas {
            self.app.reader.screen.theme.terminal.canvas = canvas;
            self.app.reader.text.look_changed();
        }
    }

    /// Takes an answer of the terminal.
    pub(super) fn hear(&mut self, heard: Option<InputEvent>) -> Next {
        if let Some(heard) = heard {
            self.answers.take(&heard, Screen::cell());
            self.set_canvas();
        }
        Next::Go
    }

    /// Makes the next frame paint everything, images included.
    pub(super) fn repaint(&mut self) -> anyhow::Result<()> {
        self.gallery.forget();
        Ok(self.screen.forget()?)
    }
}
