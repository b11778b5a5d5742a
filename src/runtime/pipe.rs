//! Pipes records to a shell command.

use std::io::{self, Write};
use std::process::{Child, Command, ExitStatus, Stdio};

/// Starts a command with a text as its standard input. The command line is the user's own; no text
/// of the session is part of it.
pub(crate) fn start(command: &str, mut text: String) -> io::Result<Child> {
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(command)
        .stdin(Stdio::piped())
        .spawn()?;
    let input = child.stdin.take();
    text.push('\n');
    // The command need not read its input, and a process that it leaves behind may keep the pipe
    // open.
    std::thread::spawn(move || {
        input.is_some_and(|mut input| input.write_all(text.as_bytes()).is_ok())
    });
    Ok(child)
}

/// How the command ended.
pub(crate) fn words_of(ended: io::Result<ExitStatus>) -> String {
    match ended {
        Ok(status) => status
            .code()
            .map_or_else(|| format!("{status}"), |code| format!("exit {code}")),
        Err(error) => format!("sh cannot be started: {error}"),
    }
}
