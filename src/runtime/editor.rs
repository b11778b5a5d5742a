//! Opens a file in the reader's editor at a line.

use std::path::Path;
use std::process::Command;

/// Runs the editor and waits. The words of `editor` are the program and its arguments; the line is
/// told as `+LINE`, which vi, emacs, nano, micro and kakoune understand, and in their own way to
/// VS Code, Sublime, Helix and Zed.
pub fn run(editor: &str, path: &Path, line: u32) -> Result<(), String> {
    let mut words = editor.split_whitespace();
    let Some(program) = words.next() else { return Err("$EDITOR is empty".to_owned()) };
    let name =
        Path::new(program).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut command = Command::new(program);
    command.args(words);
    let line = line.max(1);
    match name.as_str() {
        "code" | "codium" | "cursor" => command.arg("--goto").arg(format!("{}:{line}", path.display())),
        "subl" | "hx" | "helix" | "zed" => command.arg(format!("{}:{line}", path.display())),
        _ => command.arg(format!("+{line}")).arg(path),
    };
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{name} ended with {status}")),
        Err(error) => Err(format!("{name} cannot be started: {error}")),
    }
}
