//! Removes the fixed framing that OpenCode's tools put around their output for the model.
//!
//! Invariant: only complete frames of a known form are removed; any other text is unchanged.

use std::borrow::Cow;

use itertools::Itertools as _;

/// The output of a tool without the tool's frame.
pub(super) fn unframed<'t>(tool: &str, output: &'t str) -> Cow<'t, str> {
    match tool {
        "read" => file(output),
        "task" => Cow::Borrowed(task(output)),
        "subagent" => Cow::Borrowed(subagent(output)),
        _ => Cow::Borrowed(output),
    }
}

/// The content that the read tool returned: since 1.2 in `<path>`, `<type>` and `<content>`, before
/// in `<file>` with line numbers of five digits. Text after the frame (reminders) stays.
pub(super) fn file(output: &str) -> Cow<'_, str> {
    if let Some((content, rest)) = inner(output, "<file>\n", "</file>") {
        let mut lines = without_end(content).lines().map(renumbered);
        return Cow::Owned(joined(&lines.join("\n"), rest));
    }
    if !output.starts_with("<path>") {
        return Cow::Borrowed(output);
    }
    let body = output.split_once("</type>\n").map_or("", |(_, body)| body);
    let found =
        inner(body, "<content>", "</content>").or_else(|| inner(body, "<entries>", "</entries>"));
    match found {
        Some((content, rest)) => {
            Cow::Owned(joined(without_end(content).trim_start_matches('\n'), rest))
        }
        None => Cow::Borrowed(output),
    }
}

/// The answer of a sub-agent, without the frame that names its session.
fn task(output: &str) -> &str {
    let found = output
        .split_once("<task_result>\n")
        .and_then(|(_, rest)| rest.split_once("</task_result>"));
    match found {
        Some((answer, rest)) if rest.trim().is_empty() || rest.trim() == "</task>" => {
            answer.trim_end()
        }
        _ => output,
    }
}

/// The answer of a sub-agent since 2.0, which has a line of facts before it.
fn subagent(output: &str) -> &str {
    let found = output
        .strip_prefix("<subagent ")
        .and_then(|rest| rest.split_once(">\n"))
        .and_then(|(_, rest)| rest.trim_end().strip_suffix("</subagent>"));
    found.map_or(output, str::trim_end)
}

/// The session that a `task` call names in its output. Versions without metadata have it only
/// there.
pub(super) fn task_session(output: &str) -> Option<&str> {
    let heads = ["task_id: ", "<task id=\"", "<subagent sessionID=\""];
    let rest = heads.iter().find_map(|head| output.strip_prefix(head))?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    rest.get(..end).filter(|id| id.starts_with("ses_"))
}

/// The session of a background task and how it ended, from a text by the program.
pub(super) fn task_end(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let session = task_session(text).filter(|_| text.starts_with("<task "))?;
    let (head, rest) = text.split_once('>')?;
    let state = head
        .split_once("state=\"")
        .and_then(|(_, state)| state.split('"').next());
    let usual = if rest.contains("<task_error>") {
        "error"
    } else {
        "completed"
    };
    Some((session, state.unwrap_or(usual)))
}

/// The exit code of a shell command, which is at the end of its output since 2.0.
pub(super) fn shell_exit(tool: &str, output: &str) -> Option<i64> {
    let last = output
        .trim_end()
        .lines()
        .next_back()
        .filter(|_| tool == "shell")?;
    last.strip_prefix("Command exited with code ")?
        .trim_end_matches('.')
        .parse()
        .ok()
}

/// The shell tool's note about a command that it terminated itself.
pub(super) fn shell_note(tool: &str, output: &str) -> Option<&'static str> {
    if tool == "shell"
        && output
            .trim_end()
            .ends_with("Command timed out before completion.")
    {
        return Some("timed out");
    }
    let (_, note) = output.rsplit_once("<bash_metadata>")?;
    if note.contains("exceeding timeout") || note.contains("timed out") {
        return Some("timed out");
    }
    note.contains("aborted").then_some("aborted")
}

fn inner<'t>(text: &'t str, open: &str, close: &str) -> Option<(&'t str, &'t str)> {
    text.strip_prefix(open)?.rsplit_once(close)
}

fn without_end(content: &str) -> &str {
    let content = content.trim_end();
    match content.rsplit_once('\n') {
        Some((head, last)) if last.starts_with("(End of file") => head.trim_end_matches('\n'),
        _ => content,
    }
}

/// Converts `00012| text` to `12: text`.
fn renumbered(line: &str) -> Cow<'_, str> {
    let Some((number, text)) = line.split_once('|') else {
        return Cow::Borrowed(line);
    };
    let is_number = number.len() >= 5 && number.bytes().all(|byte| byte.is_ascii_digit());
    match number.parse::<u64>() {
        Ok(number) if is_number => Cow::Owned(format!(
            "{number}: {}",
            text.strip_prefix(' ').unwrap_or(text)
        )),
        _ => Cow::Borrowed(line),
    }
}

fn joined(content: &str, rest: &str) -> String {
    let rest = rest.trim();
    if rest.is_empty() {
        content.to_owned()
    } else {
        format!("{content}\n\n{rest}")
    }
}

#[cfg(test)]
mod tests {
    use super::{shell_note, task_session, unframed};

    #[test]
    fn frames_are_taken_off() {
        for (tool, output, expected) in [
            (
                "read",
                "<file>\n00001| a\n00012|   b\n00013| \n\n(End of file - total 13 lines)\n</file>",
                "1: a\n12:   b\n13: ",
            ),
            (
                "read",
                "<path>/a</path>\n<type>file</type>\n<content>1: a\n2: <b>\n\n(End of file - total 2 lines)\n</content>",
                "1: a\n2: <b>",
            ),
            (
                "read",
                "<path>/a</path>\n<type>directory</type>\n<entries>\nx\ny/\n\n(2 entries)\n</entries>",
                "x\ny/\n\n(2 entries)",
            ),
            (
                "read",
                "<path>/a</path>\n<type>file</type>\n<content>1: a\n</content>\n\n<system-reminder>\nr\n</system-reminder>",
                "1: a\n\n<system-reminder>\nr\n</system-reminder>",
            ),
            (
                "task",
                "task_id: ses_1 (for resuming)\n\n<task_result>\nIt is so.\n</task_result>",
                "It is so.",
            ),
            (
                "task",
                "<task id=\"ses_1\" state=\"completed\">\n<task_result>\nIt is so.\n</task_result>\n</task>",
                "It is so.",
            ),
            ("bash", "<file>\nx\n</file>", "<file>\nx\n</file>"),
            ("read", "<file>\nhalf", "<file>\nhalf"),
        ] {
            assert_eq!(unframed(tool, output), expected, "{output}");
        }
    }

    #[test]
    fn a_task_says_how_it_ended_or_gives_its_result() {
        for (text, expected) in [
            (
                "<task id=\"ses_1\" state=\"error\">\nno",
                Some(("ses_1", "error")),
            ),
            (
                "<task id=\"ses_2\">\n<task_result>",
                Some(("ses_2", "completed")),
            ),
            (
                "<task id=\"ses_3\">\n<task_error>",
                Some(("ses_3", "error")),
            ),
            ("task_id: ses_4", None),
            ("see <task id=\"ses_5\">", None),
        ] {
            assert_eq!(super::task_end(text), expected, "{text}");
        }
    }

    #[test]
    fn notes_within_output_are_found() {
        assert_eq!(
            task_session("task_id: ses_1a (for resuming)"),
            Some("ses_1a")
        );
        assert_eq!(
            task_session("<task id=\"ses_1a\" state=\"completed\">"),
            Some("ses_1a")
        );
        assert_eq!(task_session("ses_1a"), None);
        let late = "x\n\n<bash_metadata>\nterminated command after exceeding timeout 10 ms\n</bash_metadata>";
        assert_eq!(shell_note("bash", late), Some("timed out"));
        assert_eq!(
            shell_note(
                "bash",
                "x\n<bash_metadata>\nUser aborted the command\n</bash_metadata>"
            ),
            Some("aborted")
        );
        assert_eq!(shell_note("bash", "aborted"), None);
    }
}
