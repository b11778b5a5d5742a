//! Shell commands, as far as their plain words show what they do.

/// Words that stand before a command and do not change what it is.
const BEFORE: [&str; 9] = ["sudo", "time", "env", "command", "exec", "then", "do", "!", "("];
/// Programs that run the command behind them, with the words that belong to them.
const RUNNERS: [&[&str]; 9] = [
    &["npx"],
    &["bunx"],
    &["uv", "run"],
    &["poetry", "run"],
    &["pipenv", "run"],
    &["bundle", "exec"],
    &["python", "-m"],
    &["python3", "-m"],
    &["rtk"],
];

/// What a simple command does, if it is one of those that a reader asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    /// Runs tests.
    Test,
    /// Commits.
    Commit,
    /// Pushes.
    Push,
    /// Changes files, packages, branches or services in another way.
    Change,
}

/// The command up to the end of the line that begins its first here-document: what follows is text.
fn without_here_document(command: &str) -> &str {
    let Some((head, _)) = command.split_once("<<") else { return command };
    let rest = command.get(head.len()..).and_then(|rest| rest.find('\n')).unwrap_or(command.len());
    command.get(..head.len() + rest).unwrap_or(command)
}

/// The simple commands of a command, in their order. What is quoted stays in one piece.
pub(crate) fn simple_commands(command: &str) -> Vec<&str> {
    let command = without_here_document(command);
    let mut parts = Vec::new();
    let (mut quote, mut is_escaped, mut start, mut before) = (None, false, 0, ' ');
    for (at, c) in command.char_indices() {
        let last = std::mem::replace(&mut before, c);
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        match (quote, c) {
            (Some('\''), '\\') => {}
            (_, '\\') => is_escaped = true,
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            // `2>&1` and `&>` send output elsewhere and end nothing.
            (None, '&') if last == '>' || command.get(at + 1..).is_some_and(|rest| rest.starts_with('>')) => {
            }
            (None, '\n' | ';' | '|' | '&') => {
                parts.extend(command.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(command.get(start..));
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// What a simple command does.
pub(crate) fn does(simple: &str) -> Option<Does> {
    let is_setting = |word: &str| {
        let name = word.split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    };
    let words: Vec<&str> = simple.split_whitespace().collect();
    let mut words = words.as_slice();
    loop {
        let runner = RUNNERS.iter().find(|runner| words.starts_with(runner));
        words = match (words, runner) {
            ([first, rest @ ..], _) if BEFORE.contains(first) || is_setting(first) => rest,
            (words, Some(runner)) => words.get(runner.len()..).unwrap_or_default(),
            _ => break,
        };
    }
    let (name, rest) = words.split_first()?;
    let name = name.rsplit('/').next().unwrap_or(name);
    // Options before the word that says what is to be done.
    let mut plain = rest.iter().copied().filter(|word| !word.starts_with(['-', '+']));
    let first = if name == "git" { git_command(rest) } else { plain.next() }.unwrap_or_default();
    let second = plain.next().unwrap_or_default();
    if is_test(name, first, second, rest) {
        return Some(Does::Test);
    }
    let changes = match name {
        "git" => match first {
            "commit" => return Some(Does::Commit),
            "push" => return Some(Does::Push),
            "stash" => !rest.contains(&"list") && !rest.contains(&"show"),
            "merge" | "rebase" | "reset" | "revert" | "cherry-pick" | "clone" | "init" | "am" | "apply"
            | "rm" | "mv" | "restore" | "checkout" | "switch" | "pull" => true,
            _ => false,
        },
        "gh" => matches!(second, "create" | "merge" | "close" | "edit" | "comment" | "review" | "delete"),
        "npm" | "pnpm" | "yarn" | "bun" => {
            matches!(
                first,
                "install" | "i" | "add" | "remove" | "uninstall" | "ci" | "update" | "publish" | "init"
            )
        }
        "pip" | "pip3" | "brew" | "apt" | "apt-get" | "dnf" | "gem" | "cargo" | "go" | "rustup" => {
            matches!(
                first,
                "install" | "uninstall" | "remove" | "add" | "upgrade" | "publish" | "get" | "init" | "new"
            )
        }
        "uv" | "poetry" => matches!(first, "add" | "remove" | "sync" | "install" | "lock" | "init"),
        "kubectl" | "helm" => {
            matches!(first, "apply" | "delete" | "create" | "install" | "upgrade" | "scale")
        }
        "terraform" | "tofu" => matches!(first, "apply" | "destroy"),
        "systemctl" => matches!(first, "start" | "stop" | "restart" | "enable" | "disable"),
        "rm" | "mv" | "cp" | "mkdir" | "rmdir" | "ln" | "chmod" | "chown" | "patch" => true,
        "sed" | "perl" => rest.iter().any(|word| word.starts_with("-i") || *word == "-pi"),
        _ => false,
    };
    changes.then_some(Does::Change)
}

/// The word that says what git is to do: before it, some options have values of their own.
fn git_command<'a>(rest: &[&'a str]) -> Option<&'a str> {
    let mut words = rest.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "-C" | "-c" => drop(words.next()),
            option if option.starts_with('-') => {}
            word => return Some(word),
        }
    }
    None
}

fn is_test(name: &str, first: &str, second: &str, rest: &[&str]) -> bool {
    // Lists what there is, and says how it is used.
    if rest
        .iter()
        .any(|word| matches!(*word, "--help" | "--version" | "--collect-only" | "--no-run" | "--list"))
    {
        return false;
    }
    match name {
        "cargo" => first == "test" || first == "t" || (first == "nextest" && second == "run"),
        "npm" | "pnpm" | "yarn" | "bun" => {
            matches!(first, "test" | "t") || (first == "run" && second.starts_with("test"))
        }
        "go" | "dotnet" | "mix" | "deno" | "swift" | "zig" | "mvn" | "gradle" | "gradlew" | "flutter" => {
            first == "test"
        }
        "make" | "just" | "mise" | "task" | "rake" | "hatch" | "pdm" | "nx" | "turbo" | "bazel" => {
            [first, second].iter().any(|word| word.starts_with("test"))
                || (name == "make" && first == "check")
        }
        "pytest" | "py.test" | "unittest" | "jest" | "vitest" | "mocha" | "ctest" | "rspec" | "phpunit"
        | "tox" | "nox" => true,
        _ => false,
    }
}

/// Whether what a command gives back as its end is that of its last simple command alone.
pub(crate) fn ends_with(command: &str, simple: &str) -> bool {
    without_here_document(command).trim_end().ends_with(simple.trim()) && !command.contains('|')
}

#[cfg(test)]
mod tests {
    use super::{Does, does, ends_with, simple_commands};

    #[test]
    fn commands_are_cut_where_a_shell_cuts_them() {
        assert_eq!(simple_commands("cd a && make; ls | wc -l &"), ["cd a ", " make", " ls ", " wc -l "]);
        assert_eq!(
            simple_commands("git commit -m \"a; b && c\nd | e\""),
            ["git commit -m \"a; b && c\nd | e\""]
        );
        assert_eq!(simple_commands("echo 'it''s; \\' ; ls"), ["echo 'it''s; \\' ", " ls"]);
        assert_eq!(simple_commands("make 2>&1 | tail"), ["make 2>&1 ", " tail"]);
        assert_eq!(simple_commands("make &> log; ls"), ["make &> log", " ls"]);
        assert_eq!(simple_commands("cat > a <<'EOF'\nrm b\nEOF"), ["cat > a <<'EOF'"]);
        assert_eq!(simple_commands("echo \"open; ls"), ["echo \"open; ls"]);
        assert!(simple_commands(" ;; \n").is_empty());
    }

    #[test]
    fn what_a_command_does_is_in_its_words() {
        for (command, what) in [
            ("cargo test --locked watch", Some(Does::Test)),
            ("RUST_LOG=x cargo nextest run", Some(Does::Test)),
            ("python3 -m pytest tests/a.py", Some(Does::Test)),
            ("uv run pytest", Some(Does::Test)),
            ("npm run test:unit", Some(Does::Test)),
            ("./gradlew test", Some(Does::Test)),
            ("git -C /a/b commit -m 'x y'", Some(Does::Commit)),
            ("git push -u origin main", Some(Does::Push)),
            ("git -c user.name=a rebase main", Some(Does::Change)),
            ("gh pr create --title x", Some(Does::Change)),
            ("sudo apt-get -y install jq", Some(Does::Change)),
            ("sed -i s/a/b/ a.rs", Some(Does::Change)),
            ("git log --grep commit", None),
            ("git status", None),
            ("git stash list", None),
            ("cargo build", None),
            ("cargo test --no-run", None),
            ("pytest --version", None),
            ("echo git commit", None),
            ("grep -rn 'cargo test' .", None),
            ("sed -n 1p a.rs", None),
            ("", None),
        ] {
            assert_eq!(does(command), what, "{command}");
        }
    }

    #[test]
    fn an_end_is_that_of_a_test_only_if_nothing_stands_behind_it() {
        assert!(ends_with("cd a && cargo test", " cargo test"));
        assert!(!ends_with("cargo test | tail -3", "cargo test "));
        assert!(!ends_with("cargo test; echo done", "cargo test"));
    }
}
