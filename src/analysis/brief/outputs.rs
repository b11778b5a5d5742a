//! Parses outputs of commands: results of test runs, commits, pushes.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::rows::ROW;
use crate::model::text::{Text, prefix, tags, without_sgr};
use crate::model::tool::{ToolCall, ToolKind};

/// Whether tests passed, and the summary line. Any failed summary fails the whole run.
pub(super) fn end_of_tests(output: &str) -> Option<(bool, String)> {
    let judged = output
        .lines()
        .rev()
        .map(str::trim)
        .filter_map(|line| Some((judge(line)?, line.to_owned())));
    let mut last = None;
    for (passed, line) in judged {
        if !passed {
            return Some((false, line));
        }
        last = last.or(Some((true, line)));
    }
    last
}

/// Summary lines of test runners, and whether they mean success; the first match counts.
static SUMMARIES: LazyLock<Vec<(Regex, Option<bool>)>> = LazyLock::new(|| {
    let summaries = [
        // cargo
        (r"^test result: ok", Some(true)),
        (
            r"^test result: |^error: test failed|targets? failed:$",
            Some(false),
        ),
        // bun: `1 fail`; mocha: `1 failing`, `3 passing (20ms)`
        (r"^0+ (pass|fail)(ing( \(.*)?)?$", None),
        (r"^\d+ pass(ing( \(.*)?)?$", Some(true)),
        (r"^\d+ fail(ing( \(.*)?)?$", Some(false)),
        // go
        (r"^ok  \t", Some(true)),
        (r"^FAIL(\t|$)", Some(false)),
        // unittest
        (r"^FAILED \(", Some(false)),
    ];
    let summaries = summaries.into_iter();
    summaries
        .filter_map(|(line, passed)| Some((Regex::new(line).ok()?, passed)))
        .collect()
});

/// Whether a line is a summary of passed or failed tests.
fn judge(line: &str) -> Option<bool> {
    if let Some((_, passed)) = SUMMARIES.iter().find(|(summary, _)| summary.is_match(line)) {
        return *passed;
    }
    // ExUnit, RSpec, minitest: `2 doctests, 14 tests, 0 failures`
    let failures = ["failures", "failure", "errors", "error"];
    if line.starts_with(|c: char| c.is_ascii_digit())
        && count_of(line, &["tests", "test", "examples", "example", "runs"]) > Some(0)
        && count_of(line, &["failures", "failure"]).is_some()
    {
        return Some(count_of(line, &failures) == Some(0));
    }
    // pytest: `=== 1 failed, 3 passed in 0.12s ===`, without its frame if it is quiet
    let plain = line.trim_matches(['=', ' ']);
    let is_pytest = plain.contains(" in ") && plain.ends_with(['s', ')']);
    // jest and vitest: `Tests: 1 failed, 3 passed, 4 total`, `Tests  3 passed (3)`
    let of_jest = plain
        .strip_prefix("Tests:")
        .or_else(|| plain.strip_prefix("Tests "))
        .map(str::trim);
    let counts = of_jest.or_else(|| is_pytest.then_some(plain))?;
    if !counts.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let failed = count_of(counts, &["failed", "error", "errors"]) > Some(0);
    (failed || count_of(counts, &["passed"]) > Some(0)).then_some(!failed)
}

/// The sum of the numbers before these words; `None` without any.
fn count_of(line: &str, words: &[&str]) -> Option<u64> {
    let parts: Vec<&str> = line
        .split([' ', ',', '|'])
        .filter(|part| !part.is_empty())
        .collect();
    let numbers = parts.windows(2).filter_map(|pair| match pair {
        [number, word] if words.contains(word) => number.parse::<u64>().ok(),
        _ => None,
    });
    numbers.reduce(u64::saturating_add)
}

/// Hashes and subjects of commits in git's output: `[main 1a2b3c4] Mend the lamp`.
pub(super) fn commits_of(output: &str) -> Vec<(String, String)> {
    let commit = |line: &str| {
        let (head, subject) = line.trim().strip_prefix('[')?.split_once("] ")?;
        let hash = head.rsplit(' ').next().filter(|_| head.contains(' '))?;
        let is_hash = (7..=40).contains(&hash.len()) && hash.chars().all(|c| c.is_ascii_hexdigit());
        is_hash.then(|| (hash.to_owned(), subject.to_owned()))
    };
    output.lines().filter_map(commit).collect()
}

/// Whether a push succeeded, by git's output.
pub(super) fn end_of_push(output: &str) -> Option<bool> {
    let mut end = None;
    for line in output.lines().map(str::trim) {
        if line.contains("failed to push")
            || line.contains("[rejected]")
            || line.starts_with("fatal:")
        {
            return Some(false);
        }
        let has_gone = line == "Everything up-to-date"
            || line.contains(" -> ")
                && line.starts_with(|c: char| c.is_ascii_hexdigit() || "*+-".contains(c));
        end = end.or(has_gone.then_some(true));
    }
    end
}

/// Limit in bytes of an output that is searched for a complaint.
const LOOKED_AT: usize = 64 << 10;

/// Words of lines that explain a failure; `ValueError: x` matches as well.
static COMPLAINTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words =
        r"(?i)(error|exception|fatal|panicked|failed|denied|not found|no such|cannot|unable to)\b";
    Regex::new(words).ok()
});

/// Lines by which an agent ends the output of a command: they say its code, not why.
static ENDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = r"(?i)^\W*(command |process )?exited with (exit )?(code|status):? \d+\W*$";
    Regex::new(words).ok()
});

/// The line of a call's output that explains a failure best.
pub(crate) fn complaint_of(call: &ToolCall) -> Option<String> {
    let output = without_sgr(call.state.result()?.body.text_or_stub());
    complaint(&tags::readable_result(&output), call.kind == ToolKind::Run)
}

/// The line of an output that explains a failure best: the message of an error as JSON, the first
/// line with a complaint, otherwise the last line of a command and the first of any other tool.
fn complaint(output: &str, is_command: bool) -> Option<String> {
    if let Some(message) = message_of_json(output) {
        return Some(Text::stub(message.trim(), ROW).to_string());
    }
    let lines = |text| {
        str::lines(text)
            .map(|line| line.trim().trim_start_matches("<tool_use_error>"))
            .map(|line| line.trim_end_matches("</tool_use_error>"))
            .filter(|line| !line.is_empty() && !line.starts_with("Exit code "))
    };
    let explains = |line: &&str| ENDS.as_ref().is_none_or(|words| !words.is_match(line));
    let complains = |line: &&str| {
        COMPLAINTS
            .as_ref()
            .is_some_and(|words| words.is_match(line))
    };
    let found = lines(prefix(output, LOOKED_AT)).find(complains);
    let found = found.or_else(|| {
        let mut all = lines(output).filter(explains);
        if is_command {
            all.next_back()
        } else {
            all.next()
        }
    });
    let found = found.or_else(|| lines(output).next());
    found.map(|line| Text::stub(line, ROW).to_string())
}

/// Members of objects that explain an error, the best first.
const MESSAGES: [&str; 8] = [
    "message", "error", "errors", "detail", "details", "reason", "stderr", "code",
];

/// The message of an error that is JSON as a whole.
fn message_of_json(output: &str) -> Option<String> {
    let output = output.trim();
    if !output.starts_with(['{', '[']) || output.len() > LOOKED_AT {
        return None;
    }
    message_of(&serde_json::from_str(output).ok()?)
}

fn message_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(items) => items.iter().find_map(message_of),
        Value::Object(members) => MESSAGES
            .iter()
            .find_map(|name| message_of(members.get(*name)?)),
        Value::Null | Value::Bool(_) => None,
    }
}

/// Whether a call was interrupted, by the facts of its result.
pub(super) fn was_stopped(facts: &str) -> bool {
    ["interrupted", "timed out", "aborted"]
        .iter()
        .any(|word| facts.contains(word))
}

/// Whether a command is still running, by its facts and output.
pub(super) fn still_runs(facts: &str, output: &str) -> bool {
    facts.contains("in the background")
        || facts.contains("still running as ")
        || [
            "Command running in background",
            "Command still running",
            "Process running with session",
        ]
        .iter()
        .any(|words| output.starts_with(words))
}

/// Whether a filter passes lines that report failed tests.
pub(super) fn shows_failures(filter: &str) -> bool {
    let filter = filter.to_lowercase();
    ["fail", "test result", "tests"]
        .iter()
        .any(|word| filter.contains(word))
        && !filter.contains(" -v")
}

#[cfg(test)]
mod tests {
    use super::{commits_of, complaint, end_of_push, end_of_tests};

    #[test]
    fn summaries_of_tests_are_understood() {
        for (output, passed) in [
            ("test result: ok. 3 passed; 0 failed; 0 ignored", Some(true)),
            (
                "test result: ok. 3 passed\ntest result: FAILED. 1 passed; 2 failed",
                Some(false),
            ),
            (
                "test result: FAILED. 1 passed; 2 failed\ntest result: ok. 3 passed",
                Some(false),
            ),
            ("===== 2 failed, 30 passed in 1.20s =====", Some(false)),
            ("30 passed, 2 warnings in 1.20s", Some(true)),
            ("1 error in 0.10s", Some(false)),
            ("Tests:       1 failed, 3 passed, 4 total", Some(false)),
            ("      Tests  12 passed (12)", Some(true)),
            (
                "ok  \texample.com/a\t0.1s\nFAIL\texample.com/b\t0.2s",
                Some(false),
            ),
            ("FAILED (failures=1)", Some(false)),
            ("3 doctests, 128 tests, 0 failures", Some(true)),
            ("14 examples, 1 failure", Some(false)),
            (
                "4 runs, 9 assertions, 0 failures, 1 errors, 0 skips",
                Some(false),
            ),
            (
                " 528 pass\n 0 fail\nRan 528 tests across 22 files. [3.45s]",
                Some(true),
            ),
            (
                " 527 pass\n 1 fail\nRan 528 tests across 22 files. [3.45s]",
                Some(false),
            ),
            ("  3 passing (20ms)\n  1 failing\n\n  1) adds:", Some(false)),
            ("  3 passing (20ms)", Some(true)),
            ("2 failing tests to mend", None),
            ("error: test failed, to rerun pass `--lib`", Some(false)),
            ("no tests ran in 0.01s", None),
            ("I passed 3 tests in two hours", None),
            ("the build took 3 s", None),
            ("", None),
        ] {
            assert_eq!(
                end_of_tests(output).map(|(passed, _)| passed),
                passed,
                "{output}"
            );
        }
        let (_, line) =
            end_of_tests("test result: ok. 1 passed\n\ntest result: ok. 2 passed\n").unwrap();
        assert_eq!(line, "test result: ok. 2 passed", "the last one");
    }

    #[test]
    fn an_error_as_json_is_explained_by_its_message() {
        for (output, words) in [
            (
                "{\n  \"status\": \"error\",\n  \"error\": \"no such channel\"\n}",
                "no such channel",
            ),
            (
                r#"{"error": {"type": "invalid", "message": "limit is too high"}}"#,
                "limit is too high",
            ),
            (r#"{"errors": [{"detail": "gone"}], "ok": false}"#, "gone"),
            (r#"{"ok": false, "code": 404}"#, "404"),
            (r#"{"ok": false}"#, r#"{"ok": false}"#),
            ("{\nerror: a brace too many", "error: a brace too many"),
        ] {
            assert_eq!(complaint(output, false).as_deref(), Some(words), "{output}");
        }
    }

    #[test]
    fn a_command_is_explained_by_its_last_line_but_that_of_its_code() {
        let directory = "bash: line 1: /: Is a directory";
        for (output, words) in [
            (format!("one\n{directory}\n"), directory),
            (
                format!("{directory}\n\n\nCommand exited with code 1"),
                directory,
            ),
            (
                format!("{directory}\nProcess exited with code 126."),
                directory,
            ),
            (
                "Command exited with code 1".to_owned(),
                "Command exited with code 1",
            ),
        ] {
            assert_eq!(complaint(&output, true).as_deref(), Some(words), "{output}");
        }
    }

    #[test]
    fn a_commit_is_what_git_names() {
        let made = |output| {
            commits_of(output)
                .pop()
                .map(|(hash, subject)| format!("{hash} {subject}"))
        };
        let output = "[main 1a2b3c4] Mend the lamp\n 1 file changed, 2 insertions(+)\n";
        assert_eq!(made(output).as_deref(), Some("1a2b3c4 Mend the lamp"));
        let first = "[main (root-commit) 1a2b3c4d] Begin";
        assert_eq!(made(first).as_deref(), Some("1a2b3c4d Begin"));
        for output in [
            "nothing to commit",
            "[1a2b3c4] x",
            "[main short] x",
            "[main 1a2b3c4]",
        ] {
            assert_eq!(made(output), None, "{output}");
        }
    }

    #[test]
    fn a_push_ends_as_git_says() {
        for (output, end) in [
            ("To a:b.git\n   1a2b3c4..2b3c4d5  main -> main", Some(true)),
            ("To a:b.git\n * [new branch]      x -> x", Some(true)),
            ("Everything up-to-date", Some(true)),
            (
                " ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs",
                Some(false),
            ),
            (
                "fatal: The current branch x has no upstream branch.",
                Some(false),
            ),
            ("done", None),
        ] {
            assert_eq!(end_of_push(output), end, "{output}");
        }
    }
}
