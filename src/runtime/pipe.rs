//! Gives records to a shell command while the terminal is its.

use std::io::{self, Write};
use std::process::{Command, ExitStatus, Stdio};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

use super::input;

/// Runs a command on a text, and shows what it wrote until a key is pressed. Says how it ended.
pub fn run(command: &str, text: String) -> String {
    let outcome = carry_out(command, text);
    let words = match &outcome {
        Ok(status) => words_of(*status),
        Err(error) => format!("sh cannot be started: {error}"),
    };
    // Without a terminal nobody could press anything.
    if enable_raw_mode().is_ok() {
        let mut out = io::stdout();
        let _ = write!(out, "\r\n[{words}; press a key]");
        let _ = out.flush();
        let _ = input::wait_for_key();
        let _ = write!(out, "\r\n");
        let _ = disable_raw_mode();
    }
    words
}

fn carry_out(command: &str, mut text: String) -> io::Result<ExitStatus> {
    let mut child = Command::new("sh").arg("-c").arg(command).stdin(Stdio::piped()).spawn()?;
    let input = child.stdin.take();
    text.push('\n');
    // A command need not read all of it, or any of it.
    let feed =
        std::thread::spawn(move || input.is_some_and(|mut input| input.write_all(text.as_bytes()).is_ok()));
    let status = child.wait();
    // A process that the command left behind may still hold the pipe: nobody waits for that.
    drop(feed);
    status
}

fn words_of(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit {code}"),
        None => format!("{status}"),
    }
}
