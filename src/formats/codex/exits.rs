//! Exit codes of commands: in the head above an output, and in what a script of code mode printed
//! about the commands that it ran. A completed script says nothing about its commands: their codes
//! are in the printed text, in the program's form above an output, in the object that a tool
//! returned to the script, or in a line by the script.
//!
//! Invariant: a number that a command printed is not taken for its exit code, unless it is in a
//! position where only codes are written.

use std::borrow::Cow;
use std::sync::LazyLock;

use itertools::Itertools as _;
use regex::Regex;

use super::thread_calls::{CELL, RUNNING};
use crate::formats::json::{self, Json};

type Pattern = LazyLock<Option<Regex>>;

/// The program's own line about the exit code of a command.
static ENDED: Pattern = LazyLock::new(|| Regex::new(r"^Process exited with code (-?[0-9]+)$").ok());
/// The end of a line that a script printed about a command.
static AT_END: Pattern = LazyLock::new(|| {
    let words = "exited with code|exit[ _]?code|exit status";
    Regex::new(&format!(r"(?i-u)(?:{words})[ :=(`*]*(-?[0-9]+)[.)\]*`]*$")).ok()
});
/// The member of an object whose middle was truncated.
static IN_OBJECT: Pattern =
    LazyLock::new(|| Regex::new(r#""exit_code"\s*:\s*(-?[0-9]+)\s*(?:[,}]|$)"#).ok());
/// Members beside a code that mark an object as the result of a command.
const BESIDE: [&str; 8] = [
    "output",
    "stdout",
    "stderr",
    "aggregated_output",
    "wall_time_seconds",
    "chunk_id",
    "session_id",
    "original_token_count",
];
/// Size limit of the head of an output, in bytes.
const HEAD: usize = 400;
/// Depth to which printed values are searched for objects.
const DEEPEST: usize = 3;

/// The lines above an output.
#[derive(Debug, Default, PartialEq)]
pub(super) struct OutputHeader {
    pub(super) exit: Option<i64>,
    pub(super) seconds: Option<f64>,
    pub(super) words: Vec<String>,
    pub(super) has_failed: bool,
    /// Whether it is the head of a script that completed.
    pub(super) is_script: bool,
}

/// Parses the head at the beginning of a text. Returns it with the text below.
pub(super) fn head_of(text: &str) -> Option<(OutputHeader, &str)> {
    let mut head = OutputHeader::default();
    let mut rest = text;
    while let Some((line, after)) = rest
        .split_once('\n')
        .or(Some((rest, "")).filter(|_| !rest.is_empty()))
    {
        if text.len() - rest.len() > HEAD {
            return None;
        }
        rest = after;
        if line.trim_end() == "Output:" {
            return Some((head, rest));
        }
        head.apply_line(line)?;
    }
    Some((head, ""))
}

impl OutputHeader {
    /// Applies a line; `None` if it is not part of a head.
    fn apply_line(&mut self, line: &str) -> Option<()> {
        let line = line.trim();
        let number = |text: &str| text.split_whitespace().next()?.parse::<f64>().ok();
        if let Some(code) = line
            .strip_prefix("Exit code: ")
            .or(line.strip_prefix("Process exited with code "))
        {
            self.exit = code.trim().parse().ok();
        } else if let Some(time) = line
            .strip_prefix("Wall time: ")
            .or(line.strip_prefix("Wall time "))
        {
            self.seconds = number(time);
        } else if let Some(session) = line.strip_prefix("Process running with session ID ") {
            self.words.push(format!("{RUNNING}{session}"));
        } else if let Some(cell) = line.strip_prefix("Script running with cell ID ") {
            self.words.push(format!("{RUNNING}{CELL}{cell}"));
        } else if line.starts_with("Script failed") {
            self.has_failed = true;
        } else if line.starts_with("Script completed") || line.starts_with("Script terminated") {
            // It says nothing about the commands that the script ran.
            self.is_script = true;
        } else if let Some(lines) = line.strip_prefix("Total output lines: ") {
            self.words.push(format!("cut, of {lines} lines"));
        } else if !(line.is_empty()
            || line.starts_with("Chunk ID: ")
            || line.starts_with("Original token count: "))
        {
            return None;
        }
        Some(())
    }
}

/// The code of the first command that failed, else of the last one, in the texts that a script
/// printed.
pub(super) fn exit_of(printed: &[&str]) -> Option<i64> {
    let codes: Vec<i64> = printed.iter().flat_map(|text| codes(text.trim())).collect();
    codes
        .iter()
        .find(|code| **code != 0)
        .or(codes.last())
        .copied()
}

/// The texts that a script printed, without heads and enclosing objects; `None` if there are none
/// to remove.
pub(super) fn outputs(printed: &[&str]) -> Option<String> {
    let texts: Vec<Cow<'_, str>> = printed.iter().map(|text| output(text)).collect();
    let is_new = texts.iter().any(|text| matches!(text, Cow::Owned(_)));
    is_new.then(|| {
        texts
            .iter()
            .map(|text| text.trim_end_matches('\n'))
            .join("\n")
    })
}

fn output(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim();
    if trimmed.starts_with(['{', '[']) {
        let value = json::read(trimmed).unwrap_or(Json::Null);
        let all: Option<Vec<&str>> = match &value {
            Json::Array(items) if !items.is_empty() => items.iter().map(output_of).collect(),
            value => output_of(value).map(|output| vec![output]),
        };
        return all.map_or(Cow::Borrowed(text), |all| {
            Cow::Owned(
                all.iter()
                    .map(|text| text.trim_end_matches('\n'))
                    .join("\n"),
            )
        });
    }
    match head_of(trimmed) {
        Some((head, rest)) if head.exit.is_some() && !rest.is_empty() => {
            Cow::Owned(rest.to_owned())
        }
        _ => Cow::Borrowed(text),
    }
}

/// The output in an object that is the result of a command.
fn output_of<'j>(value: &'j Json<'_>) -> Option<&'j str> {
    value
        .get("exit_code")
        .int()
        .and_then(|_| value.get("output").str())
}

fn codes(text: &str) -> Vec<i64> {
    if text.starts_with(['{', '[']) {
        if let Ok(value) = json::parse(text) {
            return of_objects(&value, DEEPEST);
        }
        let is_beside = |name: &&str| text.contains(&format!("\"{name}\""));
        let code = find(&IN_OBJECT, text).filter(|_| BESIDE.iter().any(is_beside));
        return code.into_iter().collect();
    }
    let lines = || text.lines().map(str::trim);
    let of_head = || head_of(text).and_then(|(head, _)| head.exit);
    let ends = [lines().next(), lines().rfind(|line| !line.is_empty())];
    let of_ends = || {
        let ends = ends.into_iter().flatten();
        ends.filter_map(|line| find(&AT_END, line))
    };
    let codes: Vec<i64> = lines().filter_map(|line| find(&ENDED, line)).collect();
    if codes.is_empty() {
        of_head().into_iter().chain(of_ends()).collect()
    } else {
        codes
    }
}

/// The codes in objects that are results of commands.
fn of_objects(value: &Json<'_>, deep: usize) -> Vec<i64> {
    let inner = value
        .items()
        .iter()
        .chain(value.members().iter().map(|(_, value)| value));
    let own = value
        .get("exit_code")
        .int()
        .filter(|_| is_of_command(value));
    let inner = inner
        .filter(|_| deep > 0)
        .flat_map(|value| of_objects(value, deep - 1));
    own.into_iter().chain(inner).collect()
}

fn is_of_command(value: &Json<'_>) -> bool {
    value.members().len() == 1 || BESIDE.iter().any(|name| value.has(name))
}

/// The code that a pattern finds in a text.
fn find(pattern: &Pattern, text: &str) -> Option<i64> {
    pattern
        .as_ref()?
        .captures(text)?
        .get(1)?
        .as_str()
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::{exit_of, outputs};

    #[test]
    fn outputs_are_read_without_what_stands_around_them() {
        for (printed, expected) in [
            (
                vec!["Exit code: 2\nWall time: 1 seconds\nOutput:\nno"],
                Some("no"),
            ),
            (
                vec![r#"{"exit_code":0,"output":"a\nb\n"}"#, "done"],
                Some("a\nb\ndone"),
            ),
            (
                vec![r#"[{"exit_code":0,"output":"a\n"},{"exit_code":1,"output":"b"}]"#],
                Some("a\nb"),
            ),
            (vec![r#"{"exit_code":0}"#], None),
            (vec!["[1, 2]"], None),
            (vec!["plain", "text"], None),
        ] {
            assert_eq!(outputs(&printed).as_deref(), expected, "{printed:?}");
        }
    }

    #[test]
    fn codes_are_told_from_what_was_printed() {
        for (printed, expected) in [
            (
                vec!["test result: FAILED\nProcess exited with code 101"],
                Some(101),
            ),
            (vec!["Process exited with code 0\nok"], Some(0)),
            (
                vec!["Exit code: 2\nWall time: 1 seconds\nOutput:\nno"],
                Some(2),
            ),
            (
                vec![
                    "Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 4\nOutput:\nno",
                ],
                Some(4),
            ),
            (
                vec![r#"{"chunk_id":"a","exit_code":5,"output":"no"}"#],
                Some(5),
            ),
            (
                vec![r#"[{"exit_code":0,"output":"a"},{"exit_code":6,"output":"b"}]"#],
                Some(6),
            ),
            (vec![r#"{"tests":{"exit_code":7,"stderr":""}}"#], Some(7)),
            (
                vec![r#"{"exit_code": 8, "output":"a… 90 tokens truncated …z"#],
                Some(8),
            ),
            (vec![r#"{"exit_code":9}"#], Some(9)),
            (vec!["exit code: 10\nno such file"], Some(10)),
            (vec!["cargo: exited with code 11."], Some(11)),
            (vec!["fine", "exit_code=12"], Some(12)),
            (
                vec!["the log: it exited with code 2\nfine\nProcess exited with code 0"],
                Some(0),
            ),
            (vec!["exit 0 of it", "all good"], None),
            // Text that a command printed about other commands.
            (
                vec!["log:\nit exited with code 3 yesterday\nnow it runs"],
                None,
            ),
            (vec![r#"{"exit_code":3,"name":"a job in a file"}"#], None),
            (vec!["4711"], None),
            (vec!["exited with code\u{84} 3"], None),
            (vec!["Грузът\u{84}25"], None),
            (vec![""], None),
        ] {
            assert_eq!(exit_of(&printed), expected, "{printed:?}");
        }
    }
}
