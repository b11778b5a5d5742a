//! The terminal in other hands: an editor's, a command's, the shell's.
//!
//! Invariant: whatever they leave it like, it comes back as this program found it, and signals that end this
//! program do so meanwhile.

use std::io::{self, Write};
use std::process::Child;

use crossbeam_channel::select_biased;
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

use super::child::Outcome;
use super::input::Signal;
use super::{Viewer, child, input};
use crate::app::update::Event;
use crate::terminal;

impl Viewer {
    /// Gives the terminal to a program until it ends; then it is put right, but not taken yet.
    pub(super) fn lend(&mut self, start: impl FnOnce() -> io::Result<Child>) -> Outcome {
        self.input.pause();
        terminal::give_back();
        let outcome = child::wait(start(), &self.input.signals);
        terminal::put_right();
        outcome
    }

    /// Takes the terminal again.
    pub(super) fn come_back(&mut self) -> anyhow::Result<()> {
        terminal::take()?;
        self.input.resume();
        self.repaint()?;
        let (columns, lines) = self.screen.size();
        self.update(Event::Resize(columns, lines));
        Ok(())
    }

    /// Leaves what is on the terminal to be read. An exit code if the program is to end instead.
    pub(super) fn wait_for_key(&mut self, words: &str) -> Option<u8> {
        // Without a terminal nobody could press anything.
        enable_raw_mode().ok()?;
        let mut out = io::stdout();
        let _ = write!(out, "\r\n[{words}; press a key]");
        let _ = out.flush();
        self.input.resume();
        let end = self.next_key();
        let _ = write!(out, "\r\n");
        let _ = out.flush();
        terminal::put_right();
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
                    Err(_) => return Some(input::GONE),
                },
            }
        }
    }

    /// Stops until `fg`.
    pub(super) fn suspend(&mut self) -> anyhow::Result<()> {
        self.input.pause();
        terminal::give_back();
        input::stop_process();
        // What the reader has set meanwhile is what is found.
        terminal::find();
        self.come_back()
    }
}
