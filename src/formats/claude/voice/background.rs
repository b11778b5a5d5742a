//! Background work: which results start it, and which records report on it.
//!
//! A notification about it is in up to three records with the same text: the line that queues it,
//! the attachment that delivers it within a turn, and the user line that begins a turn with it. The
//! first has the time at which the work ended, the others the time at which the agent was told.
//! Notifications name the call and the task; the exit code of a command is in the summary only.

use super::{ClaudeAuthor, TASK, TASK_TITLE, classify, element};
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::work::{Carrier, Update, WorkEnd, WorkReference};

/// The id of the work that a result starts. `details` is the result's structured copy.
pub(crate) fn begun(text: &str, details: &Json<'_>) -> Option<Key> {
    let named = |field: &str| details.get(field).filled().map(Text::clean);
    if let Some(task) = named("backgroundTaskId") {
        return Some(task);
    }
    let status = details.get("status").str_or_empty();
    if details.get("isAsync").is_true() || matches!(status, "async_launched" | "remote_launched") {
        return named("taskId")
            .or_else(|| named("agentId"))
            .or_else(|| parse_id(text));
    }
    if status == "teammate_spawned" {
        return named("name").or_else(|| named("teammate_id"));
    }
    if is_monitor(details) {
        return named("taskId");
    }
    parse_id(text)
}

/// Whether the end of the work is not always recorded: a monitor reports events until its timeout,
/// a member of a team runs until it is told to stop.
pub(crate) fn has_no_end(details: &Json<'_>) -> bool {
    is_monitor(details) || details.get("status").is("teammate_spawned")
}

fn is_monitor(details: &Json<'_>) -> bool {
    details.has("taskId") && (details.has("timeoutMs") || details.has("persistent"))
}

/// Parses the id from the text of the result, which is all that streams and old files have.
fn parse_id(text: &str) -> Option<Key> {
    let text = text.trim_start();
    let id = |rest: &str| {
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_')
            .unwrap_or(rest.len());
        rest.get(..end).filter(|id| !id.is_empty()).map(Text::clean)
    };
    let after = |mark: &str| {
        text.split_once(mark)
            .and_then(|(_, rest)| id(rest.trim_start()))
    };
    if text.starts_with("Command running in background")
        || text.starts_with("Command was manually backgrounded")
    {
        return after("ID:");
    }
    if text.starts_with("Async agent launched") {
        return after("agentId:");
    }
    if text.starts_with("Workflow launched in background") {
        return after("Task ID:");
    }
    let first = text.lines().next().unwrap_or_default();
    if first.starts_with("Command") && first.contains("moved to the background") {
        return after("ID:");
    }
    None
}

/// Parses the task notifications in a text by the program, each with the work that it is about.
pub(crate) fn notices(text: &str) -> Vec<(WorkReference, WorkEnd)> {
    if !text.contains(TASK)
        || !matches!(classify(text), ClaudeAuthor::Program(note) if note.title == TASK_TITLE)
    {
        return Vec::new();
    }
    text.split(&format!("<{TASK}>"))
        .skip(1)
        .filter_map(notice)
        .collect()
}

fn notice(text: &str) -> Option<(WorkReference, WorkEnd)> {
    let named = |name: &str| {
        element(text, name)
            .filter(|id| !id.is_empty())
            .map(Text::clean)
    };
    let about = WorkReference {
        call: named("tool-use-id"),
        handle: named("task-id"),
    };
    let summary = element(text, "summary").unwrap_or_default();
    let end = end(element(text, "status")?, summary)?;
    Some((about, end)).filter(|(about, _)| *about != WorkReference::default())
}

/// How work ended, by its status and summary.
pub(crate) fn end(status: &str, summary: &str) -> Option<WorkEnd> {
    let code = summary.rsplit_once("exit code ").map(|(_, rest)| rest);
    let exit = code.and_then(|rest| {
        rest.split(|c: char| !c.is_ascii_digit() && c != '-')
            .next()?
            .parse()
            .ok()
    });
    WorkEnd::from_word(Some(status), exit)
}

/// How a team member ended, by its message to the program.
pub(crate) fn of_mate(message: &Json<'_>) -> Option<(WorkReference, WorkEnd)> {
    let is_end = matches!(message.kind(), "shutdown_approved" | "teammate_terminated");
    let handle = message.get("from").text().filter(|_| is_end)?;
    let call = None;
    let handle = Some(handle);
    Some((
        WorkReference { call, handle },
        WorkEnd::from_word(None, None)?,
    ))
}

/// How a task ended, by an attachment; `None` if it is still running.
pub(crate) fn of_task(attachment: &Json<'_>) -> Option<(WorkReference, WorkEnd)> {
    let end = WorkEnd::from_word(Some(attachment.get("status").filled()?), None)?;
    let call = None;
    let handle = Some(attachment.get("taskId").text()?);
    Some((WorkReference { call, handle }, end))
}

/// What a result reports about the work of another call, and who is told: `TaskOutput` polls a
/// task, `TaskStop` ends one, and a message to a sub-agent that has ended resumes it. Before there
/// were tasks, `BashOutput` and `KillShell` did so.
pub(crate) fn polled_work(
    text: &str,
    details: &Json<'_>,
) -> Option<(WorkReference, Option<WorkEnd>, Carrier)> {
    if let Some(agent) = details.get("resumedAgentId").filled() {
        return Some((
            WorkReference::handle(Text::clean(agent)),
            None,
            Carrier::Record,
        ));
    }
    if let Some(rest) = text
        .trim_start()
        .strip_prefix("Successfully stopped task: ")
    {
        let handle = rest.split_whitespace().next().map(Text::clean);
        return Some((
            WorkReference { call: None, handle },
            WorkEnd::from_word(Some("stopped"), None),
            Carrier::Poll,
        ));
    }
    if let Some(killed) = details
        .get("shell_id")
        .text()
        .filter(|_| text.contains("Successfully killed shell"))
    {
        let handle = Some(killed);
        let end = WorkEnd::from_word(Some("killed"), None);
        return Some((WorkReference { call: None, handle }, end, Carrier::Poll));
    }
    let shell = details.get("shellId").text();
    if let Some((shell, status)) = shell.zip(details.get("status").filled()) {
        let handle = Some(shell);
        let end = WorkEnd::from_word(Some(status), details.get("exitCode").int());
        return Some((WorkReference { call: None, handle }, end, Carrier::Poll));
    }
    let task = details.get("task");
    let field = |name: &str| element(text, name);
    element(text, "retrieval_status").or(details.get("retrieval_status").str())?;
    let handle = task.get("task_id").filled().or_else(|| field("task_id"))?;
    let status = task
        .get("status")
        .filled()
        .or_else(|| field("status"))
        .unwrap_or_default();
    let exit = task.get("exitCode").int();
    let exit = exit.or_else(|| field("exit_code")?.parse().ok());
    let end = WorkEnd::from_word(Some(status), exit);
    Some((
        WorkReference::handle(Text::clean(handle)),
        end,
        Carrier::Poll,
    ))
}

/// Emits an update of work.
pub(crate) fn emit(
    (about, end): (WorkReference, Option<WorkEnd>),
    (by, at): (Key, Option<Timestamp>),
    carrier: Carrier,
    lane: Option<&Name>,
    out: &mut Batch,
) {
    let update = Update {
        by,
        at,
        carrier,
        end,
        reason: None,
    };
    out.update(about, update, lane.cloned());
}
