//! The files that a call uses: normalized paths of its headline, and files that a shell command
//! reads or writes by name.

use std::borrow::Cow;

use super::Op;
use crate::analysis::shell::simple_commands;
use crate::model::path::{listed, relative_to};
use crate::model::text::prefix;
use crate::model::text::{Text, without_sgr};
use crate::model::tool::{ToolCall, ToolKind};

/// Limit in bytes of a command that is parsed.
const LOOKED_AT: usize = 8_000;
/// Commands that print a file.
const READERS: [&str; 9] = [
    "cat", "head", "tail", "less", "more", "nl", "bat", "batcat", "view",
];
/// Commands that write to their last argument.
const WRITERS: [&str; 3] = ["mv", "cp", "install"];

/// Normalizes a path, relative to the working directory if it is inside.
pub(crate) fn normal(path: &str, cwd: Option<&str>) -> String {
    let clean = without_detours(path);
    relative_to(&clean, cwd).to_owned()
}

/// A path relative to the root of the transcript. `folder` is the session's own root, if that is
/// another one.
pub(super) fn path_from_root<'p>(
    path: &'p str,
    folder: Option<&str>,
    root: Option<&str>,
) -> Cow<'p, str> {
    let path = relative_to(path, root);
    match folder.filter(|_| is_relative(path)) {
        Some(folder) => normal(&format!("{folder}/{path}"), root).into(),
        None => path.into(),
    }
}

fn is_relative(path: &str) -> bool {
    !path.starts_with(['/', '~', '\\']) && !path.get(1..).is_some_and(|rest| rest.starts_with(':'))
}

fn without_detours(path: &str) -> Cow<'_, str> {
    let is_plain = !path.contains("./") && !path.contains("//") && !path.ends_with("/..");
    if is_plain {
        return path.into();
    }
    let is_absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if is_absolute => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if is_absolute {
        format!("/{joined}").into()
    } else {
        joined.into()
    }
}

/// The files that a call uses, each with the operation and whether it is by a shell command.
pub(super) fn used_by(call: &ToolCall) -> Vec<(String, Op, bool)> {
    let headline = without_sgr(call.headline.trim());
    // Truncated arguments may end within the path: the headline is JSON then.
    let is_path = |path: &&str| !(call.input.flags.broken_off && path.starts_with(['{', '"']));
    let of_tool = |op: Op| {
        let paths = listed(&headline).filter(is_path);
        paths
            .map(move |path| (without_detours(path).into_owned(), op, false))
            .collect::<Vec<_>>()
    };
    let mut used = match call.kind {
        ToolKind::Read => of_tool(Op::Read),
        ToolKind::Edit => of_tool(Op::Edit),
        ToolKind::Write => of_tool(Op::Write),
        ToolKind::Search => searched(call, &headline)
            .map(|path| vec![(without_detours(&path).into_owned(), Op::Grep, false)])
            .unwrap_or_default(),
        ToolKind::Run => {
            let command = call
                .input
                .tree()
                .and_then(|input| input.text_in(&["command"]));
            let plain = without_sgr(command.map_or(&*headline, Text::as_str));
            in_shell(&plain)
        }
        ToolKind::Fetch | ToolKind::Delegate | ToolKind::Plan | ToolKind::Other => Vec::new(),
    };
    used.dedup();
    used
}

/// The file that a search is limited to; `None` if it looks like a directory.
fn searched(call: &ToolCall, headline: &str) -> Option<String> {
    let of_input = call
        .input
        .tree()
        .and_then(|input| input.text_in(&["path"]).map(ToString::to_string));
    let place = of_input.or_else(|| {
        headline
            .rsplit_once(" in ")
            .map(|(_, place)| place.to_owned())
    })?;
    is_file(&place).then_some(place)
}

/// Whether the last component of a path has an extension.
fn is_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name
        .rsplit_once('.')
        .filter(|(stem, _)| !stem.is_empty())
        .map(|(_, ending)| ending);
    ending.is_some_and(|ending| {
        (1..=8).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

/// The files that a shell command reads or writes by name. Only literal names count, because
/// expansions are unknown.
fn in_shell(command: &str) -> Vec<(String, Op, bool)> {
    let mut used = Vec::new();
    let mut folder = String::new();
    for simple in simple_commands(prefix(command, LOOKED_AT)) {
        let spaced = simple.replace('>', " > ").replace(" >  > ", " >> ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let mut add = |path: &str, op: Op| {
            let path = path.trim_matches(['"', '\'']);
            let is_plain = is_file(path) && !path.contains(['$', '*', '`', '(', '{', '?']);
            if is_plain {
                let whole = if path.starts_with('/') {
                    path.to_owned()
                } else {
                    format!("{folder}{path}")
                };
                used.push((without_detours(&whole).into_owned(), op, true));
            }
        };
        let redirected = words
            .windows(2)
            .filter(|pair| matches!(pair, [">" | ">>", _]));
        for path in redirected.filter_map(|pair| pair.last()) {
            add(path, Op::Write);
        }
        let words: Vec<&str> = words
            .iter()
            .copied()
            .take_while(|word| !word.starts_with('>'))
            .collect();
        let Some((name, rest)) = words.split_first() else {
            continue;
        };
        let names = || rest.iter().copied().filter(|word| !word.starts_with('-'));
        let in_place = rest
            .iter()
            .any(|word| word.starts_with("-i") || *word == "-pi");
        match *name {
            "cd" => {
                folder = names()
                    .next()
                    .map(|to| entered(&folder, to))
                    .unwrap_or_default();
            }
            name if READERS.contains(&name) => names().for_each(|path| add(path, Op::Read)),
            "sed" | "perl" if in_place => names().for_each(|path| add(path, Op::Write)),
            "sed" => names().for_each(|path| add(path, Op::Read)),
            "git" if matches!(rest.first(), Some(&("checkout" | "restore"))) => {
                names().for_each(|path| add(path, Op::Write));
            }
            "tee" | "rm" | "truncate" => names().for_each(|path| add(path, Op::Write)),
            name if WRITERS.contains(&name) => {
                if let Some(path) = names().next_back() {
                    add(path, Op::Write);
                }
            }
            _ => {}
        }
    }
    used
}

/// The directory after `cd`, with a trailing slash.
fn entered(from: &str, to: &str) -> String {
    let to = to.trim_matches(['"', '\'']).trim_end_matches('/');
    if to.starts_with('/') {
        format!("{to}/")
    } else {
        format!("{from}{to}/")
    }
}

#[cfg(test)]
mod tests {
    use super::{in_shell, is_file, normal, path_from_root, used_by};
    use crate::model::edit::Batch;
    use crate::model::samples;
    use crate::model::tool::ToolKind;

    #[test]
    fn arguments_that_break_off_name_no_file_unless_it_was_written() {
        let mut call = samples::call(&mut Batch::default(), "c");
        call.kind = ToolKind::Write;
        call.input.flags.broken_off = true;
        call.headline = r#"{"path": "/"#.into();
        assert!(used_by(&call).is_empty());
        call.headline = "a.rs".into();
        assert_eq!(used_by(&call).len(), 1);
    }

    #[test]
    fn paths_lose_their_detours() {
        let cwd = Some("/home/mira/boats");
        for (written, path) in [
            ("/home/mira/boats/src/hull.rs", "src/hull.rs"),
            ("./src/hull.rs", "src/hull.rs"),
            ("src/../src//hull.rs", "src/hull.rs"),
            ("../sea.rs", "../sea.rs"),
            ("/etc/../etc/hosts", "/etc/hosts"),
            ("/home/mira/boatsmen/a.rs", "/home/mira/boatsmen/a.rs"),
        ] {
            assert_eq!(normal(written, cwd), path);
        }
    }

    #[test]
    fn commands_say_which_files_they_name() {
        let used_in = |command: &str| -> Vec<String> {
            let used = in_shell(command).into_iter();
            used.map(|(path, op, _)| format!("{op:?} {}", path_from_root(&path, None, Some("/b"))))
                .collect()
        };
        assert_eq!(used_in("cat src/a.rs | grep x"), ["Read src/a.rs"]);
        assert_eq!(
            used_in("cd /b/src && sed -i 's/a/b/' a.rs"),
            ["Write src/a.rs"]
        );
        assert_eq!(used_in("sed -n 1,20p a.rs"), ["Read a.rs"]);
        assert_eq!(
            used_in("echo x >> notes.md; cp a.rs b.rs"),
            ["Write notes.md", "Write b.rs"]
        );
        assert_eq!(used_in("cat > a.rs <<'EOF'\nrm b.rs\nEOF"), ["Write a.rs"]);
        assert_eq!(used_in("git checkout -- a.rs"), ["Write a.rs"]);
        for command in [
            "cargo test",
            "rm -rf target",
            "cat $FILE.rs",
            "ls *.rs",
            "grep a.rs",
        ] {
            assert!(used_in(command).is_empty(), "{command}");
        }
    }

    #[test]
    fn folders_are_no_files() {
        assert!(is_file("src/a.rs") && is_file("Cargo.toml"));
        assert!(!is_file("src") && !is_file(".git") && !is_file("a/b.c/d") && !is_file("."));
    }
}
