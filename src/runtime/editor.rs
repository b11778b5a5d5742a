//! Opens a file in the reader's editor at a line.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Runs the editor and waits. `editor` is a line for the shell, as git takes it: it may have arguments and
/// quotes.
pub fn run(editor: &str, path: &Path, line: u32) -> Result<(), String> {
    let name = name_of(editor);
    if name.is_empty() {
        return Err("$EDITOR is empty".to_owned());
    }
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{editor} \"$@\"")).arg(&name).args(arguments(&name, path, line.max(1)));
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) if status.code() == Some(127) => Err(format!("{name} cannot be started")),
        Ok(status) => Err(format!("{name} ended with {status}")),
        Err(error) => Err(format!("sh cannot be started: {error}")),
    }
}

/// The program's name, without its folder, its arguments and what is set before it.
fn name_of(editor: &str) -> String {
    let program = match editor.trim_start().split_once(['"', '\'']) {
        // A folder with blanks in its name.
        Some(("", rest)) => rest.split(['"', '\'']).next().unwrap_or_default(),
        _ => editor.split_whitespace().find(|word| !word.contains('=')).unwrap_or_default(),
    };
    Path::new(program).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// How the editor is told the line: mostly as `+LINE`, which vi, emacs, nano, micro, kakoune, joe and less
/// understand.
fn arguments(name: &str, path: &Path, line: u32) -> Vec<OsString> {
    let mut place = path.as_os_str().to_owned();
    place.push(format!(":{line}"));
    match name.trim_end_matches(".exe") {
        "code" | "code-insiders" | "codium" | "vscodium" | "cursor" | "windsurf" => {
            vec!["--goto".into(), place]
        }
        "subl" | "sublime_text" | "hx" | "helix" | "zed" | "zeditor" => vec![place],
        "kate" | "mate" | "idea" | "pycharm" | "goland" | "rustrover" | "webstorm" | "clion" => {
            vec![
                if name == "mate" || name == "kate" { "-l" } else { "--line" }.into(),
                line.to_string().into(),
                path.into(),
            ]
        }
        _ => vec![format!("+{line}").into(), path.into()],
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{arguments, name_of, run};

    fn told(editor: &str) -> String {
        let arguments = arguments(&name_of(editor), Path::new("/a b.jsonl"), 7);
        arguments.iter().map(|part| part.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn editors_are_told_the_line_in_their_own_way() {
        assert_eq!(told("vim"), "+7 | /a b.jsonl");
        assert_eq!(told("NVIM_APPNAME=x /usr/bin/nvim -R"), "+7 | /a b.jsonl");
        assert_eq!(told("code --wait"), "--goto | /a b.jsonl:7");
        assert_eq!(told("hx"), "/a b.jsonl:7");
        assert_eq!(told("'/Applications/Some Folder/subl' -w"), "/a b.jsonl:7");
        assert_eq!(told("idea"), "--line | 7 | /a b.jsonl");
    }

    #[test]
    fn an_editor_gets_its_own_arguments_and_the_path_unbroken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b.jsonl");
        let told = folder.path().join("told");
        std::fs::write(&path, "").unwrap();
        let script = format!("sh -c 'printf \"%s\\n\" \"$@\" > {}' x -n", told.display());
        assert_eq!(run(&script, &path, 12), Ok(()));
        assert_eq!(std::fs::read_to_string(told).unwrap(), format!("-n\n+12\n{}\n", path.display()));
        assert_eq!(
            run("no-such-editor-here", &path, 1),
            Err("no-such-editor-here cannot be started".to_owned())
        );
    }
}
