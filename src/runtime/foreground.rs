//! Hands the terminal to a child process or to the shell, and takes it back.
//!
//! Invariant: whatever mode they leave the terminal in, it is restored to what this program found,
//! and signals that end this program do so meanwhile.

use std::io::{self, Write};
use std::process::Child;

use crossbeam_channel::select_biased;
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

use super::child::ChildExit;
use super::input::Signal;
use super::{Viewer, child, input};
use crate::app::update::Event;
use crate::terminal;

impl Viewer {
    /// Runs a child in the foreground until it exits. The terminal's modes are restored then, but
    /// the screen is not taken back yet.
    pub(super) fn run_in_foreground(
        &mut self,
        start: impl FnOnce() -> io::Result<Child>,
    ) -> ChildExit {
        self.input.pause();
        terminal::leave();
        let outcome = child::wait(start(), &self.input.signals);
        terminal::reset();
        outcome
    }

    /// Takes the terminal back and redraws the screen.
    pub(super) fn retake_terminal(&mut self) -> anyhow::Result<()> {
        terminal::enter()?;
        self.input.resume();
        self.repaint()?;
        let (columns, lines) = self.screen.size();
        self.update(Event::Resize(columns, lines));
        Ok(())
    }

    /// Waits for a key, so that the output on the terminal can be read. Returns an exit code if
    /// the program is to end instead.
    pub(super) fn wait_for_key(&mut self, words: &str) -> Option<u8> {
        // Without a terminal no key can be pressed.
        enable_raw_mode().ok()?;
        let mut out = io::stdout();
        let _ = write!(out, "\r\n[{words}; press a key]");
        let _ = out.flush();
        self.input.resume();
        let end = self.next_key();
        let _ = write!(out, "\r\n");
        let _ = out.flush();
        terminal::reset();
        end
    }

    fn next_key(&mut self) -> Option<u8> {
        loop {
            select_biased! {
                recv(self.input.signals) -> signal => match signal {
                    Ok(Signal::End(code)) => return Some(code),
                    Ok(Signal::Resize) => {}
                    Ok(Signal::Suspend) => {
                        let _ = disable_raw_mode();
                        input::stop_process();
                        let _ = enable_raw_mode();
                    }
                    Err(_) => return Some(1),
                },
                recv(self.input.events) -> event => match event {
                    Ok(Event::Key(_)) => return None,
                    Ok(event @ Event::Background(_)) => self.update(event),
                    Ok(_) => {}
                    Err(_) => return Some(input::TERMINAL_LOST),
                },
            }
        }
    }

    /// Stops the program until `fg`.
    pub(super) fn suspend(&mut self) -> anyhow::Result<()> {
        self.input.pause();
        terminal::leave();
        input::stop_process();
        // The shell may have changed the modes meanwhile, by `stty`.
        terminal::find();
        self.retake_terminal()
    }
}
