//! Outputs of tools in the six shapes in which Codex sends them to the model: text, exit code and
//! duration.

use std::borrow::Cow;

use super::content::{image, text_of, texts};
use super::exits::{self, OutputHeader, head_of};
use super::thread_calls::ResultPart;
use crate::formats::json::{self, Json};
use crate::model::edit::Batch;
use crate::model::timestamp::Timestamp;
use crate::model::tool::Verdict;

/// First words of the outputs of failed calls.
const FAILURES: [&str; 10] = [
    "apply_patch verification failed",
    "failed in sandbox ",
    "failed to ",
    "Failed to ",
    "execution error",
    "exec_command failed",
    "write_stdin failed",
    "unsupported call",
    "Error: ",
    "error: ",
];
/// First word of the outputs of calls that were interrupted.
const STOPPED: &str = "aborted";
/// First words of the outputs of calls that were refused.
const REFUSALS: [&str; 4] = [
    "exec command rejected by user",
    "rejected by user",
    "patch rejected by user",
    "This action was rejected",
];
/// First words of failures and refusals that are a single line: longer texts are output of a
/// command.
const LINES: [(&str, Verdict); 9] = [
    ("err: \"tool call error", Verdict::Failed),
    ("unable to locate image at", Verdict::Failed),
    ("command timed out after", Verdict::Failed),
    ("collab spawn failed", Verdict::Failed),
    ("resources/list failed", Verdict::Failed),
    ("update_plan is a TODO/checklist", Verdict::Failed),
    ("user rejected MCP tool call", Verdict::Refused),
    ("user cancelled MCP tool call", Verdict::Refused),
    ("Rejected(\"", Verdict::Refused),
];
/// First words of heads.
const MARKS: [&str; 4] = ["Exit code: ", "Chunk ID: ", "Script ", "Wall time"];
/// Prefix of the command that some versions repeat above a head.
const COMMAND: &str = "Command: ";

/// Decodes the `output` of a call.
pub(crate) fn read(output: &Json<'_>, at: Option<Timestamp>, out: &mut Batch) -> ResultPart {
    let images = output
        .blocks()
        .iter()
        .filter_map(|part| image(part, out))
        .collect();
    let whole = full_text(output);
    let packed = if whole.trim_start().starts_with("{\"output\"") {
        json::parse(&whole).ok()
    } else {
        None
    };
    let outcome = match packed
        .as_ref()
        .and_then(|packed| Some((packed, packed.get("output").str()?)))
    {
        Some((packed, text)) => {
            let metadata = packed.get("metadata");
            let head = OutputHeader {
                exit: metadata.get("exit_code").int(),
                seconds: metadata.get("duration_seconds").number(),
                ..OutputHeader::default()
            };
            outcome(head, text, at, out)
        }
        None => match headed(&whole) {
            Some((head, text)) if head.is_script && head.exit.is_none() => {
                let printed = printed(output, text);
                let head = OutputHeader {
                    exit: exits::exit_of(&printed),
                    ..head
                };
                match exits::outputs(&printed) {
                    Some(outputs) => outcome(head, &outputs, at, out),
                    None => outcome(head, text, at, out),
                }
            }
            Some((head, text)) => outcome(head, text, at, out),
            None => outcome(
                OutputHeader {
                    exit: exit_in_sandbox(&whole),
                    ..OutputHeader::default()
                },
                &whole,
                at,
                out,
            ),
        },
    };
    let has_failed = output.get("success") == &Json::Bool(false);
    let verdict = if has_failed {
        Verdict::Failed
    } else {
        outcome.verdict
    };
    ResultPart {
        images,
        verdict,
        is_output: true,
        ..outcome
    }
}

/// The text of an output: a string, parts, or an object with `content`.
fn full_text<'j>(output: &'j Json<'_>) -> Cow<'j, str> {
    let text = text_of(output);
    let is_named = text.is_empty() && output.has("content");
    if is_named {
        text_of(output.get("content"))
    } else {
        text
    }
}

/// The texts that a script printed, one per time: parts of their own below the head. If the output
/// is one text, the boundaries are unknown.
fn printed<'t>(output: &'t Json<'_>, below: &'t str) -> Vec<&'t str> {
    let mut parts = texts(output);
    let in_first = parts
        .next()
        .and_then(|first| head_of(first))
        .map(|(_, rest)| rest);
    let mut all: Vec<&str> = in_first.into_iter().chain(parts).collect();
    if all.len() < 2 {
        all = vec![below];
    }
    all
}

/// The exit code in the text of the first generation about a command that its sandbox ended:
/// `failed in sandbox Seatbelt with execution error: sandbox denied exec error, exit code: 1,
/// stdout: , stderr: …`.
fn exit_in_sandbox(whole: &str) -> Option<i64> {
    let said = Some(whole).filter(|whole| whole.trim_start().starts_with("failed in sandbox "))?;
    let (_, code) = said.split_once("exit code: ")?;
    code.split(',').next()?.parse().ok()
}

fn outcome(head: OutputHeader, text: &str, at: Option<Timestamp>, out: &mut Batch) -> ResultPart {
    let begin = text.trim_start();
    let begins = |marks: &[&str]| marks.iter().any(|mark| begin.starts_with(mark));
    let has_head = head.exit.is_some() || head.seconds.is_some();
    let is_stopped = !has_head && begin.starts_with(STOPPED);
    let is_rejected =
        || begin.starts_with("exec_command failed") && text.contains("message: \"Rejected(");
    let verdict = if head.exit.is_some_and(|code| code != 0) || head.has_failed || is_stopped {
        Verdict::Failed
    } else if !has_head && (begins(&REFUSALS) || is_rejected()) {
        Verdict::Refused
    } else if !has_head && begins(&FAILURES) {
        Verdict::Failed
    } else if has_head {
        Verdict::Done
    } else {
        verdict_of_line(begin, text)
    };
    ResultPart {
        verdict,
        exit: head.exit,
        // A duration below the precision is not 0.
        duration_ms: head
            .seconds
            .filter(|seconds| *seconds > 0.0)
            .and_then(|seconds| Json::Number(seconds * 1000.0).count()),
        words: head
            .words
            .into_iter()
            .chain(is_stopped.then(|| "interrupted".to_owned()))
            .collect(),
        ..ResultPart::text(out.output(text), at)
    }
}

/// The verdict of an output that is a single line by the program.
fn verdict_of_line(begin: &str, text: &str) -> Verdict {
    let found = LINES
        .iter()
        .find(|(mark, _)| begin.starts_with(mark))
        .map(|(_, verdict)| *verdict);
    let is_agent = begin.starts_with("agent with id ");
    if found.is_none() && !is_agent {
        return Verdict::Done;
    }
    let line = text.trim();
    match found {
        _ if line.contains('\n') => Verdict::Done,
        None if !line.ends_with(" not found") => Verdict::Done,
        found => found.unwrap_or(Verdict::Failed),
    }
}

/// Parses the head above `Output:`. Returns it with the text below; `None` without a head.
fn headed(whole: &str) -> Option<(OutputHeader, &str)> {
    if whole.trim_start().starts_with(COMMAND) {
        return below_command(whole);
    }
    let has_head = MARKS
        .iter()
        .any(|mark| whole.trim_start().starts_with(mark));
    if has_head { head_of(whole) } else { None }
}

/// Parses the head below a command, which versions 0.115 to 0.119 repeat above it. The command may
/// have several lines, none of which is output.
fn below_command(text: &str) -> Option<(OutputHeader, &str)> {
    let begins = |mark: &&str| {
        text.find(&format!("\n{mark}"))
            .and_then(|at| head_of(text.get(at + 1..)?))
    };
    [
        "Chunk ID: ",
        "Exit code: ",
        "Wall time",
        "Process ",
        "Original token count: ",
        "Output:",
    ]
    .iter()
    .find_map(begins)
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::formats::json::parse;
    use crate::model::edit::Batch;
    use crate::model::tool::Verdict;

    /// An output, and what is expected: first words of its text, exit code, duration in ms,
    /// verdict.
    type Shape = (String, &'static str, Option<i64>, Option<u64>, Verdict);

    fn check(shapes: Vec<Shape>) {
        for (output, text, exit, ms, verdict) in shapes {
            let outcome = read(&parse(&output).unwrap(), None, &mut Batch::default());
            assert!(
                outcome.body.stub.trim().starts_with(text),
                "{output}: {}",
                outcome.body.stub
            );
            assert_eq!(
                (outcome.exit, outcome.duration_ms, outcome.verdict),
                (exit, ms, verdict),
                "{output}"
            );
        }
    }

    #[test]
    fn all_shapes_give_output_code_and_time() {
        let quoted = |text: &str| serde_json::json!(text).to_string();
        check(vec![
            (quoted("Exit code: 0\nWall time: 1.1 seconds\nOutput:\nok"), "ok", Some(0), Some(1100), Verdict::Done),
            (
                quoted("Chunk ID: a1\nWall time: 0.05 seconds\nProcess exited with code 101\nOriginal token count: 9\nOutput:\nboom"),
                "boom",
                Some(101),
                Some(50),
                Verdict::Failed,
            ),
            (
                quoted(r#"{"output":"a\nb","metadata":{"exit_code":1,"duration_seconds":0.4}}"#),
                "a",
                Some(1),
                Some(400),
                Verdict::Failed,
            ),
            (
                r#"[{"type":"input_text","text":"Script completed\nWall time 2.1 seconds\nOutput:\n"},{"type":"input_text","text":"1 failing"}]"#.to_owned(),
                "1 failing",
                None,
                Some(2100),
                Verdict::Done,
            ),
            (
                quoted("Script completed\nWall time 0.5 seconds\nOutput:\nExit code: 101\nWall time: 1 seconds\nOutput:\nno"),
                "no",
                Some(101),
                Some(500),
                Verdict::Failed,
            ),
            (
                quoted("Command: /bin/sh -lc 'cat <<X\nOutput:\nX'\nChunk ID: a1\nWall time: 0.5 seconds\nProcess exited with code 2\nOriginal token count: 9\nOutput:\nno"),
                "no",
                Some(2),
                Some(500),
                Verdict::Failed,
            ),
            (quoted("Command: /bin/sh -lc ls\nOutput:\nok"), "ok", None, None, Verdict::Done),
            (quoted("Command: is what it says\nand more"), "Command: is", None, None, Verdict::Done),
            (
                quoted("failed in sandbox Seatbelt with execution error: sandbox denied exec error, exit code: 7, stdout: , stderr: "),
                "failed in sandbox",
                Some(7),
                None,
                Verdict::Failed,
            ),
            (quoted("failed in sandbox None with execution error: command timed out"), "failed in", None, None, Verdict::Failed),
            (
                r#"[{"type":"input_text","text":"Script completed\nWall time 2.1 seconds\nOutput:\n"},{"type":"input_text","text":"a"},{"type":"input_text","text":"1 failed\nProcess exited with code 3"}]"#.to_owned(),
                "a",
                Some(3),
                Some(2100),
                Verdict::Failed,
            ),
            (quoted("Script failed\nWall time 0.1 seconds\nOutput:\nTypeError"), "TypeError", None, Some(100), Verdict::Failed),
        ]);
    }

    #[test]
    fn what_has_no_head_is_judged_by_its_words() {
        let quoted = |text: &str| serde_json::json!(text).to_string();
        check(vec![
            (
                quoted("Plan updated"),
                "Plan updated",
                None,
                None,
                Verdict::Done,
            ),
            (
                quoted("apply_patch verification failed: x"),
                "apply_patch verification failed: x",
                None,
                None,
                Verdict::Failed,
            ),
            (
                quoted("aborted by user after 3.1s"),
                "aborted by user after 3.1s",
                None,
                None,
                Verdict::Failed,
            ),
            (
                quoted("err: \"tool call error: no\""),
                "err: ",
                None,
                None,
                Verdict::Failed,
            ),
            (
                quoted("agent with id x not found"),
                "agent with",
                None,
                None,
                Verdict::Failed,
            ),
            (
                quoted("agent with id x is found"),
                "agent with",
                None,
                None,
                Verdict::Done,
            ),
            (
                quoted("user rejected MCP tool call"),
                "user rejected",
                None,
                None,
                Verdict::Refused,
            ),
            (
                quoted("command timed out after 9 ms\nsaid the log"),
                "command timed",
                None,
                None,
                Verdict::Done,
            ),
            (
                quoted(
                    "exec_command failed for `rm`: CreateProcess { message: \"Rejected(\\\"rejected by user\\\")\" }",
                ),
                "exec_command failed",
                None,
                None,
                Verdict::Refused,
            ),
            (
                quoted("Exit code: is what it printed\nfirst"),
                "Exit code: is what it printed",
                None,
                None,
                Verdict::Done,
            ),
            (
                r#"{"content":"denied","success":false}"#.to_owned(),
                "denied",
                None,
                None,
                Verdict::Failed,
            ),
        ]);
    }

    #[test]
    fn what_still_runs_says_so() {
        let output = r#""Chunk ID: 7\nWall time: 10.0 seconds\nProcess running with session ID 42\nOutput:\nlistening""#;
        let outcome = read(&parse(output).unwrap(), None, &mut Batch::default());
        assert_eq!(outcome.words, ["still running as 42"]);
    }
}
