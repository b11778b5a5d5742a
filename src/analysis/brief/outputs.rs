//! What outputs of commands say: how tests ended, which commit was made.

/// Lines of an output that are looked at: summaries stand at its end.
const LOOKED_AT: usize = 80;

/// Whether tests passed, and the line that says so. A failure anywhere is a failure of the whole.
pub(super) fn end_of_tests(output: &str) -> Option<(bool, String)> {
    let lines: Vec<&str> = output.lines().rev().take(LOOKED_AT).map(str::trim).collect();
    let judged = lines.iter().filter_map(|line| Some((judge(line)?, (*line).to_owned())));
    let mut last = None;
    for (passed, line) in judged {
        if !passed {
            return Some((false, line));
        }
        last = last.or(Some((true, line)));
    }
    last
}

/// What a line says of tests, if it is a summary of a tool that runs them.
fn judge(line: &str) -> Option<bool> {
    // cargo
    if let Some(rest) = line.strip_prefix("test result: ") {
        return Some(rest.starts_with("ok"));
    }
    // go
    if line == "FAIL" || line.starts_with("FAIL\t") {
        return Some(false);
    }
    if line.starts_with("ok  \t") {
        return Some(true);
    }
    // unittest
    if line.starts_with("FAILED (") {
        return Some(false);
    }
    // ExUnit, RSpec, minitest: `2 doctests, 14 tests, 0 failures`
    if ["tests", "test", "examples", "example", "runs"].iter().any(|word| count_of(line, word) > 0)
        && ["failures", "failure"].iter().any(|word| names(line, word))
        && line.starts_with(|c: char| c.is_ascii_digit())
    {
        return Some(["failures", "failure", "errors", "error"].iter().all(|word| count_of(line, word) == 0));
    }
    // pytest: `=== 1 failed, 3 passed in 0.12s ===`, without its frame if it is quiet
    let plain = line.trim_matches(['=', ' ']);
    let is_pytest = plain.contains(" in ") && plain.ends_with(['s', ')']);
    // jest and vitest: `Tests: 1 failed, 3 passed, 4 total`, `Tests  3 passed (3)`
    let of_jest = plain.strip_prefix("Tests:").or_else(|| plain.strip_prefix("Tests ")).map(str::trim);
    let counts = of_jest.or_else(|| is_pytest.then_some(plain))?;
    let is_summary = counts.starts_with(|c: char| c.is_ascii_digit());
    if !is_summary {
        return None;
    }
    let failed = ["failed", "error", "errors"].iter().any(|word| count_of(counts, word) > 0);
    (failed || count_of(counts, "passed") > 0).then_some(!failed)
}

/// Whether a number stands before a word.
fn names(line: &str, word: &str) -> bool {
    let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    words.windows(2).any(|pair| matches!(pair, [n, it] if it == &word && n.parse::<u64>().is_ok()))
}

/// The number before a word.
fn count_of(line: &str, word: &str) -> u64 {
    let words: Vec<&str> = line.split([' ', ',', '|']).filter(|word| !word.is_empty()).collect();
    let pair = words.windows(2).find(|pair| matches!(pair, [_, second] if second == &word));
    pair.and_then(|pair| pair.first()?.parse().ok()).unwrap_or(0)
}

/// Hash and subject of the commit that git says it made: `[main 1a2b3c4] Mend the lamp`.
pub(super) fn commit_of(output: &str) -> Option<(String, String)> {
    output.lines().rev().find_map(|line| {
        let (head, subject) = line.trim().strip_prefix('[')?.split_once("] ")?;
        let hash = head.rsplit(' ').next().filter(|_| head.contains(' '))?;
        let is_hash = (7..=40).contains(&hash.len()) && hash.chars().all(|c| c.is_ascii_hexdigit());
        is_hash.then(|| (hash.to_owned(), subject.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::{commit_of, end_of_tests};

    #[test]
    fn summaries_of_tests_are_understood() {
        for (output, passed) in [
            ("test result: ok. 3 passed; 0 failed; 0 ignored", Some(true)),
            ("test result: ok. 3 passed\ntest result: FAILED. 1 passed; 2 failed", Some(false)),
            ("test result: FAILED. 1 passed; 2 failed\ntest result: ok. 3 passed", Some(false)),
            ("===== 2 failed, 30 passed in 1.20s =====", Some(false)),
            ("30 passed, 2 warnings in 1.20s", Some(true)),
            ("1 error in 0.10s", Some(false)),
            ("Tests:       1 failed, 3 passed, 4 total", Some(false)),
            ("      Tests  12 passed (12)", Some(true)),
            ("ok  \texample.com/a\t0.1s\nFAIL\texample.com/b\t0.2s", Some(false)),
            ("FAILED (failures=1)", Some(false)),
            ("3 doctests, 128 tests, 0 failures", Some(true)),
            ("14 examples, 1 failure", Some(false)),
            ("4 runs, 9 assertions, 0 failures, 1 errors, 0 skips", Some(false)),
            ("no tests ran in 0.01s", None),
            ("I passed 3 tests in two hours", None),
            ("the build took 3 s", None),
            ("", None),
        ] {
            assert_eq!(end_of_tests(output).map(|(passed, _)| passed), passed, "{output}");
        }
        let (_, line) = end_of_tests("test result: ok. 1 passed\n\ntest result: ok. 2 passed\n").unwrap();
        assert_eq!(line, "test result: ok. 2 passed", "the last one");
    }

    #[test]
    fn a_commit_is_what_git_names() {
        let made = |output| commit_of(output).map(|(hash, subject)| format!("{hash} {subject}"));
        let output = "[main 1a2b3c4] Mend the lamp\n 1 file changed, 2 insertions(+)\n";
        assert_eq!(made(output).as_deref(), Some("1a2b3c4 Mend the lamp"));
        let first = "[main (root-commit) 1a2b3c4d] Begin";
        assert_eq!(made(first).as_deref(), Some("1a2b3c4d Begin"));
        for output in ["nothing to commit", "[1a2b3c4] x", "[main short] x", "[main 1a2b3c4]"] {
            assert_eq!(made(output), None, "{output}");
        }
    }
}
