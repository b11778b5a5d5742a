//! Gives records to a shell command while the terminal is its.

use std::io::{self, Write};
use std::process::{Child, Command, ExitStatus, Stdio};

/// Starts a command that gets a text. The command is the reader's own; no text of the session is a part of it.
pub(crate) fn start(command: &str, mut text: String) -> io::Result<Child> {
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(command)
        .stdin(Stdio::piped())
        .spawn()?;
    let input = child.stdin.take();
    text.push('\n');
    // A command need not read all of it, or any of it; and a process that it leaves behind may still hold the pipe.
    std::thread::spawn(move || {
        input.is_some_and(|mut input| input.write_all(text.as_bytes()).is_ok())
    });
    Ok(child)
}

/// How a command ended.
pub(crate) fn words_of(ended: io::Result<ExitStatus>) -> String {
    match ended {
        Ok(status) => status
            .code()
            .map_or_else(|| format!("{status}"), |code| format!("exit {code}")),
        Err(error) => format!("sh cannot be started: {error}"),
    }
}
