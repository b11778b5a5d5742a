//! Opens a file at a line in the user's editor.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// The command that opens a file. `editor` is a shell command line, as in git: it may contain
/// arguments and quotes. The file name is passed as an argument and is never part of that line.
pub(crate) fn command(editor: &str, path: &Path, line: u32) -> Result<Command, String> {
    let name = name_of(editor);
    if name.is_empty() {
        return Err("$EDITOR is empty".to_owned());
    }
    let mut command = Command::new("sh");
    let arguments = arguments(&name, &as_argument(path), line.max(1));
    command
        .arg("-c")
        .arg(format!("{editor} \"$@\""))
        .arg(&name)
        .args(arguments);
    Ok(command)
}

/// The error message, if the editor failed.
pub(crate) fn failure(editor: &str, ended: io::Result<ExitStatus>) -> Option<String> {
    let name = name_of(editor);
    match ended {
        Ok(status) if status.success() => None,
        Ok(status) if status.code() == Some(127) => Some(format!("{name} cannot be started")),
        Ok(status) => Some(format!("{name} ended with {status}")),
        Err(error) => Some(format!("sh cannot be started: {error}")),
    }
}

/// An absolute path, which no program takes for an option (`-…`) or for a command (`+…` in vi).
pub(crate) fn as_argument(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| Path::new(".").join(path))
}

/// The program's name without folder, arguments and the variables set in front of it.
fn name_of(editor: &str) -> String {
    let program = match editor.trim_start().split_once(['"', '\'']) {
        // Quoted, because the path contains blanks.
        Some(("", rest)) => rest.split(['"', '\'']).next().unwrap_or_default(),
        _ => editor
            .split_whitespace()
            .find(|word| !word.contains('='))
            .unwrap_or_default(),
    };
    Path::new(program)
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// The arguments that open a file at a line: `+LINE` for vi, emacs, nano, micro, kakoune, joe and
/// less, and what other editors expect instead.
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
                if name == "mate" || name == "kate" {
                    "-l"
                } else {
                    "--line"
                }
                .into(),
                line.to_string().into(),
                path.into(),
            ]
        }
        // These know the end of options.
        "vi" | "vim" | "nvim" | "gvim" | "view" | "ex" | "nano" | "less" | "emacs"
        | "emacsclient" => {
            vec![format!("+{line}").into(), "--".into(), path.into()]
        }
        _ => vec![format!("+{line}").into(), path.into()],
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{arguments, as_argument, command, failure, name_of};

    fn arguments_of(editor: &str) -> String {
        let arguments = arguments(&name_of(editor), Path::new("/a b.jsonl"), 7);
        arguments
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .collect::<Vec<_>>()
            .join(" | ")
    }

    fn run(editor: &str, path: &Path, line: u32) -> Option<String> {
        failure(editor, command(editor, path, line).unwrap().status())
    }

    #[test]
    fn editors_are_given_the_line_in_their_own_way() {
        assert_eq!(arguments_of("vim"), "+7 | -- | /a b.jsonl");
        assert_eq!(
            arguments_of("NVIM_APPNAME=x /usr/bin/nvim -R"),
            "+7 | -- | /a b.jsonl"
        );
        assert_eq!(arguments_of("micro"), "+7 | /a b.jsonl");
        assert_eq!(arguments_of("code --wait"), "--goto | /a b.jsonl:7");
        assert_eq!(arguments_of("hx"), "/a b.jsonl:7");
        assert_eq!(
            arguments_of("'/Applications/Some Folder/subl' -w"),
            "/a b.jsonl:7"
        );
        assert_eq!(arguments_of("idea"), "--line | 7 | /a b.jsonl");
    }

    /// Names that a shell, an editor or the reader of its options would carry out.
    pub(crate) const HOSTILE: [&str; 8] = [
        "+!touch X;:.jsonl",
        "+7",
        "--cmd=!touch X",
        "-c!touch X",
        "$(touch X).jsonl",
        "`touch X`;touch X\"'",
        "line\n+!touch X\n-x",
        "a:7|touch X &",
    ];

    #[test]
    fn no_name_of_a_file_is_a_command_or_an_option() {
        for name in HOSTILE {
            let absolute = as_argument(Path::new(name));
            assert!(
                absolute.is_absolute() && absolute.ends_with(name),
                "{name:?}"
            );
            for editor in ["vim", "micro", "code -w", "hx", "kate", "idea"] {
                let command = command(editor, Path::new(name), 7).unwrap();
                let arguments: Vec<_> = command.get_args().map(|it| it.to_string_lossy()).collect();
                // `sh -c LINE NAME`, then what the editor gets.
                assert_eq!(
                    arguments[..2],
                    ["-c".to_owned(), format!("{editor} \"$@\"")]
                );
                let ours = ["+7", "--", "--goto", "--line", "-l", "7"];
                for argument in &arguments[3..] {
                    let is_path = argument.starts_with(&*absolute.to_string_lossy());
                    assert!(
                        is_path || ours.contains(&&**argument),
                        "{editor} {argument:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn an_editor_gets_its_own_arguments_and_the_path_unbroken() {
        let folder = tempfile::tempdir().unwrap();
        let written = folder.path().join("written");
        let script = format!(
            "sh -c 'printf \"%s\\0\" \"$@\" > {}' x -n",
            written.display()
        );
        for name in HOSTILE.into_iter().chain(["a b.jsonl"]) {
            let path = folder.path().join(name);
            assert_eq!(run(&script, &path, 12), None);
            assert_eq!(
                std::fs::read_to_string(&written).unwrap(),
                format!("-n\0+12\0{}\0", path.display())
            );
        }
        let here = std::env::current_dir().unwrap();
        assert!(!here.join("X").exists() && !folder.path().join("X").exists());
        assert_eq!(
            run("no-such-editor-here", Path::new("x"), 1),
            Some("no-such-editor-here cannot be started".to_owned())
        );
    }
}
