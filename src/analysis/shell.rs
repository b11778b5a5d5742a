//! Parses shell commands, as far as their literal words show what they do.

use crate::model::text::is_listed;

/// Words before a command that do not change which program runs.
const BEFORE: &str = "sudo time env command exec then do ! (";
/// Programs that run the command after them, with their own arguments.
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
/// Programs, and subcommands of theirs that change something.
const CHANGES: [(&str, &str); 7] = [
    (
        "git",
        "merge rebase reset revert cherry-pick clone init am apply rm mv restore checkout switch pull",
    ),
    (
        "npm pnpm yarn bun",
        "install i add remove uninstall ci update publish init",
    ),
    (
        "pip pip3 brew apt apt-get dnf gem cargo go rustup",
        "install uninstall remove add upgrade publish get init new",
    ),
    ("uv poetry", "add remove sync install lock init"),
    ("kubectl helm", "apply delete create install upgrade scale"),
    ("terraform tofu", "apply destroy"),
    ("systemctl", "start stop restart enable disable"),
];
/// Programs with a subcommand `test`.
const TEST_BY_NAME: &str = "go dotnet mix deno swift zig mvn gradle gradlew flutter playwright";
/// Programs that run a task whose name begins with `test`.
const TEST_BY_TASK: &str = "make just mise task rake hatch pdm nx turbo bazel";
const TEST: &str =
    "pytest py.test unittest jest vitest mocha ctest rspec phpunit tox nox bats busted";

/// What a simple command does, if it is relevant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    Test,
    Commit,
    Push,
    /// Changes files, packages, branches or services in another way.
    Change,
}

/// The operator before a simple command, which determines whether it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// None, `;`, `&` or the end of a line: it runs.
    Then,
    /// `&&`: it runs if the one before succeeded.
    And,
    /// `||`: it runs if the one before failed.
    Or,
    /// `|`: it reads the output of the one before.
    Pipe,
}

/// A simple command with the operator before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SimpleCommand<'a> {
    pub(crate) text: &'a str,
    pub(crate) join: Join,
}

/// Splits a command into simple commands. Quoted text is not split, and here-documents are text.
pub(crate) fn simple_commands(command: &str) -> Vec<&str> {
    steps(command).into_iter().map(|step| step.text).collect()
}

/// Splits a command into simple commands with their operators; `sh -c "…"` is replaced by its own
/// commands.
pub(crate) fn steps_within(command: &str) -> Vec<SimpleCommand<'_>> {
    steps(command).into_iter().flat_map(within).collect()
}

fn within(step: SimpleCommand<'_>) -> Vec<SimpleCommand<'_>> {
    let Some(inner) = inner_command(step.text) else {
        return vec![step];
    };
    let mut inner = steps(inner);
    if let Some(first) = inner.first_mut() {
        first.join = step.join;
    }
    inner
}

fn steps(command: &str) -> Vec<SimpleCommand<'_>> {
    let mut steps: Vec<SimpleCommand<'_>> = Vec::new();
    let (mut quote, mut is_escaped, mut start, mut before) = (None, false, 0, ' ');
    let (mut join, mut here, mut resume) = (Join::Then, None, 0);
    for (at, c) in command.char_indices() {
        if at < resume {
            continue;
        }
        let last = std::mem::replace(&mut before, c);
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        let rest = command.get(at + c.len_utf8()..).unwrap_or_default();
        match (quote, c) {
            (Some('\''), '\\') => {}
            (_, '\\') => is_escaped = true,
            (None | Some('"'), '<') if last == '<' && here.is_none() => {
                let before = command.get(start..at).unwrap_or_default();
                let is_one = !rest.starts_with('<') && !before.ends_with("<<");
                here = here_document_end(rest)
                    .filter(|_| is_one && (quote.is_none() || before.contains("$(")));
            }
            (_, '\n') if here.is_some() => {
                let length = here.take().map_or(0, |end| here_document(rest, end));
                resume = at + 1 + length;
                if quote.is_none() {
                    steps.extend(
                        command
                            .get(start..at)
                            .map(|text| SimpleCommand { text, join }),
                    );
                    (join, start) = (Join::Then, resume);
                }
            }
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            // `2>&1` and `&>` are redirections.
            (None, '&') if last == '>' || rest.starts_with('>') => {}
            (None, '\n' | ';' | '|' | '&') => {
                let text = command.get(start..at).unwrap_or_default();
                // The second character of `&&` or `||`.
                let is_second = text.is_empty() && last == c && matches!(c, '&' | '|');
                steps.push(SimpleCommand { text, join });
                join = match c {
                    '&' if is_second => Join::And,
                    '|' if is_second => Join::Or,
                    '|' => Join::Pipe,
                    '\n' if text.trim().is_empty()
                        && matches!(join, Join::And | Join::Or | Join::Pipe) =>
                    {
                        join
                    }
                    _ => Join::Then,
                };
                start = at + 1;
            }
            _ => {}
        }
    }
    steps.extend(
        command
            .get(start..)
            .map(|text| SimpleCommand { text, join }),
    );
    steps.retain(|step| !step.text.trim().is_empty());
    steps
}

/// The delimiter of a here-document, from the text after `<<`.
fn here_document_end(rest: &str) -> Option<&str> {
    let word = rest.trim_start_matches(['-', ' ', '\'', '"', '\\']);
    let end = word
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(word.len());
    word.get(..end).filter(|word| !word.is_empty())
}

/// Length in bytes of a here-document, including its last line.
fn here_document(text: &str, end: &str) -> usize {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        length += line.len();
        if line.trim() == end {
            break;
        }
    }
    length
}

/// The command that a shell is given as one argument: `bash -lc "make test"`, `nix-shell --run
/// 'pytest -q'`.
fn inner_command(simple: &str) -> Option<&str> {
    let name = simple.split_whitespace().next()?;
    let options: &[&str] = match name.rsplit('/').next()? {
        "bash" | "sh" | "zsh" | "dash" => &[" -c ", " -lc ", " -ic "],
        "nix-shell" => &[" --run ", " --command "],
        "nix" => &[" -c ", " --command "],
        _ => return None,
    };
    let (_, inner) = options
        .iter()
        .find_map(|option| simple.split_once(option))?;
    let inner = inner.trim();
    let quote = inner.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let Some(quote) = quote else {
        return (name.ends_with("nix")).then_some(inner);
    };
    let inner = inner.get(1..)?;
    inner.get(..inner.rfind(quote)?)
}

/// The program that a simple command runs, and its arguments.
pub(crate) fn program(simple: &str) -> Option<(&str, Vec<&str>)> {
    let is_setting = |word: &str| {
        let name = word.split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    };
    let all: Vec<&str> = simple.split_whitespace().collect();
    let mut words = all.as_slice();
    loop {
        let runner = RUNNERS.iter().find(|runner| words.starts_with(runner));
        words = match (words, runner) {
            (["timeout", rest @ ..], _) => {
                let is_length =
                    |word: &&&str| word.starts_with(|c: char| c.is_ascii_digit() || c == '-');
                rest.get(rest.iter().take_while(is_length).count()..)
                    .unwrap_or_default()
            }
            ([first, rest @ ..], _) if is_listed(first, BEFORE) || is_setting(first) => rest,
            (words, Some(runner)) => words.get(runner.len()..).unwrap_or_default(),
            _ => break,
        };
    }
    let (name, rest) = words.split_first()?;
    Some((name.rsplit('/').next().unwrap_or(name), rest.to_vec()))
}

/// A simple command without shell keywords: `do cp a b` is `cp a b`.
pub(crate) fn without_keywords(simple: &str) -> &str {
    let mut simple = simple.trim();
    while let Some((first, rest)) = simple.split_once(char::is_whitespace)
        && is_listed(first, "do then else ! ( {")
    {
        simple = rest.trim_start();
    }
    simple
}

/// Whether a step may not have run, although the whole command succeeded.
pub(crate) fn is_conditional(step: &SimpleCommand<'_>) -> bool {
    let first = step.text.split_whitespace().next();
    step.join == Join::Or || matches!(first, Some("then" | "else" | "elif"))
}

/// What a simple command does.
pub(crate) fn does(simple: &str) -> Option<Does> {
    let (name, rest) = program(simple)?;
    let rest = rest.as_slice();
    // Options may precede the subcommand.
    let mut plain = plain_words(name, rest).into_iter();
    let first = if name == "git" {
        git_command(rest)
    } else {
        plain.next()
    }
    .unwrap_or_default();
    let second = plain.next().unwrap_or_default();
    if is_test(name, first, second, rest) {
        return Some(Does::Test);
    }
    let changes = match (name, first) {
        ("git", "commit") => return Some(Does::Commit),
        ("git", "push") => return (!rest.contains(&"--dry-run")).then_some(Does::Push),
        ("git", "stash") => !rest.contains(&"list") && !rest.contains(&"show"),
        ("gh", _) => is_listed(second, "create merge close edit comment review delete"),
        ("sed" | "perl", _) => rest
            .iter()
            .any(|word| word.starts_with("-i") || *word == "-pi"),
        _ => {
            is_listed(name, "rm mv cp mkdir rmdir ln chmod chown patch")
                || CHANGES
                    .iter()
                    .any(|(names, words)| is_listed(name, names) && is_listed(first, words))
        }
    };
    changes.then_some(Does::Change)
}

/// Arguments without options, and without the values of options that select a directory or package.
fn plain_words<'a>(name: &str, rest: &[&'a str]) -> Vec<&'a str> {
    let valued = match name {
        "npm" | "pnpm" | "yarn" | "bun" => "--filter -F --prefix -C --dir --cwd -w --workspace",
        "cargo" => "--manifest-path -p --package -Z --config",
        "make" | "just" => "-C -f -d --justfile",
        _ => "",
    };
    let mut words = rest.iter().copied();
    let mut plain = Vec::new();
    while let Some(word) = words.next() {
        if is_listed(word, valued) {
            words.next();
        } else if !word.starts_with(['-', '+']) {
            plain.push(word);
        }
    }
    plain
}

/// The subcommand of git, whose options before it may have values.
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
    // Lists tests or prints help.
    if rest
        .iter()
        .any(|word| is_listed(word, "--help --version --collect-only --no-run --list"))
    {
        return false;
    }
    match name {
        "cargo" => first == "test" || first == "t" || (first == "nextest" && second == "run"),
        "npm" | "pnpm" | "yarn" | "bun" => {
            matches!(first, "test" | "t")
                || first.starts_with("test:")
                || (first == "run" && second.starts_with("test"))
        }
        name if is_listed(name, TEST_BY_NAME) => first == "test",
        name if is_listed(name, TEST_BY_TASK) => {
            [first, second].iter().any(|word| word.starts_with("test"))
                || (name == "make" && first == "check")
        }
        "node" => rest.contains(&"--test"),
        "bash" | "sh" | "python" | "python3" => is_test_script(first),
        name => is_listed(name, TEST) || is_test_script(name),
    }
}

/// Whether a step succeeded, given whether the whole command did; `None` if that does not follow.
pub(crate) fn end_of(steps: &[SimpleCommand<'_>], number: usize, is_well: bool) -> Option<bool> {
    let behind = steps.get(number + 1..)?;
    if is_well {
        // If all following steps are joined by `&&`, all succeeded.
        return behind
            .iter()
            .all(|step| step.join == Join::And)
            .then_some(true);
    }
    let mut before = steps.get(..=number)?.iter().rev();
    // An earlier step may have failed instead, so that this one did not run.
    let is_first = loop {
        match before.next() {
            Some(SimpleCommand {
                join: Join::And, ..
            }) => {}
            Some(SimpleCommand {
                join: Join::Then, ..
            })
            | None => break true,
            Some(_) => break false,
        }
        let is_setting = before
            .clone()
            .next()
            .is_some_and(|step| prepares(step.text));
        if !is_setting {
            break false;
        }
    };
    (behind.is_empty() && is_first).then_some(false)
}

/// Whether a command only prepares for the next ones.
fn prepares(simple: &str) -> bool {
    let first = simple.split_whitespace().next();
    first.is_some_and(|first| is_listed(first, "cd pushd export set echo sleep"))
}

/// Whether a script is named like one that runs tests.
fn is_test_script(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    matches!(ending, "sh" | "py") && is_listed(stem, "test tests run_tests run-tests runtests")
}

#[cfg(test)]
mod tests {
    use super::{Does, Join, does, end_of, simple_commands, steps_within};

    #[test]
    fn commands_are_cut_where_a_shell_cuts_them() {
        assert_eq!(
            simple_commands("cd a && make; ls | wc -l &"),
            ["cd a ", " make", " ls ", " wc -l "]
        );
        assert_eq!(
            simple_commands("git commit -m \"a; b && c\nd | e\""),
            ["git commit -m \"a; b && c\nd | e\""]
        );
        assert_eq!(
            simple_commands("echo 'it''s; \\' ; ls"),
            ["echo 'it''s; \\' ", " ls"]
        );
        assert_eq!(simple_commands("make 2>&1 | tail"), ["make 2>&1 ", " tail"]);
        assert_eq!(simple_commands("make &> log; ls"), ["make &> log", " ls"]);
        assert_eq!(
            simple_commands("cat > a <<'EOF'\nrm b\nEOF"),
            ["cat > a <<'EOF'"]
        );
        assert_eq!(
            simple_commands("cat > a << EOF\nit's\nEOF\nls"),
            ["cat > a << EOF", "ls"]
        );
        let commit = "git commit -m \"$(cat <<'EOF'\nsay \"x\"; rm y\nEOF\n)\" && git push";
        assert_eq!(
            simple_commands(commit).last(),
            Some(&" git push"),
            "behind the text"
        );
        assert_eq!(
            simple_commands("wc <<< 'a; b'; ls"),
            ["wc <<< 'a; b'", " ls"]
        );
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
            ("pnpm --filter a test", Some(Does::Test)),
            ("timeout 60 ./run_tests.sh", Some(Does::Test)),
            ("git -c user.name=a rebase main", Some(Does::Change)),
            ("gh pr create --title x", Some(Does::Change)),
            ("sudo apt-get -y install jq", Some(Does::Change)),
            ("sed -i s/a/b/ a.rs", Some(Does::Change)),
            ("git log --grep commit", None),
            ("git status", None),
            ("git stash list", None),
            ("cargo build", None),
            ("npm run typecheck", None),
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
    fn an_end_is_known_where_nothing_else_may_have_caused_it() {
        for (command, well, badly) in [
            ("cd a && cargo test", Some(true), Some(false)),
            ("cargo test", Some(true), Some(false)),
            ("cargo test && cargo build", Some(true), None),
            ("cargo build && cargo test", Some(true), None),
            ("cargo build; cargo test", Some(true), Some(false)),
            ("cargo test | tail -3", None, None),
            ("cargo test; echo done", None, None),
            ("make || cargo test", Some(true), None),
        ] {
            let steps = steps_within(command);
            let number = steps
                .iter()
                .position(|step| does(step.text) == Some(Does::Test))
                .unwrap();
            assert_eq!(end_of(&steps, number, true), well, "{command}");
            assert_eq!(end_of(&steps, number, false), badly, "{command}");
        }
    }

    #[test]
    fn what_a_shell_is_given_is_what_runs() {
        let joins: Vec<(&str, Join)> = steps_within(
            "cd a && nix-shell --run \"pytest -q && pylint .\" 2>&1 | tail -3 || true",
        )
        .iter()
        .map(|step| (step.text.trim(), step.join))
        .collect();
        let expected = [
            ("cd a", Join::Then),
            ("pytest -q", Join::And),
            ("pylint .", Join::And),
            ("tail -3", Join::Pipe),
            ("true", Join::Or),
        ];
        assert_eq!(joins, expected);
    }
}
