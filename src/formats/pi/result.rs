//! Decodes the result of a tool, from a `toolResult` message or the payload of an execution event.
//!
//! Invariant: whether a call failed follows from `isError`, `details.status` and `details.exitCode`
//! together; each of them alone misses real failures.

use std::borrow::Cow;

use super::diff;
use super::image::image;
use crate::formats::attached::joined;
use crate::formats::definition::heads;
use crate::formats::json::Json;
use crate::model::body::{Image, Key, OutputFailure};
use crate::model::edit::Batch;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::work::{Carrier, EndRecording, Update, Work, WorkEnd, WorkReference};
use crate::model::tool::{ToolResult, Verdict};

/// The id of the call that a result names. OpenAI's `call_…|fc_…` may lack its second half.
pub(crate) fn call_key(id: &Json<'_>) -> Key {
    Text::clean(id.str_or_empty().split('|').next().unwrap_or(""))
}

/// Decodes `content`, `details` and `isError` of a result.
pub fn read(key: Key, message: &Json<'_>, at: Option<Timestamp>, out: &mut Batch) -> ToolResult {
    let details = message.get("details");
    let (text, images) = content(message.get("content"), out);
    let text = without_echo(text);
    let aggregated = details
        .get("aggregated")
        .str()
        .filter(|_| text.trim().is_empty());
    let mut body =
        out.output(aggregated.unwrap_or(if text.trim().is_empty() { "" } else { &text }));
    let verdict = match verdict(message) {
        // Tools of OpenClaw that catch their own errors report them only in their output.
        Verdict::Done if body.flags.failure == Some(OutputFailure::Tool) => Verdict::Failed,
        verdict => verdict,
    };
    let session = details.get("sessionId").filled().map(Text::clean);
    let is_poll = message.get("toolName").is(POLLS);
    let end = session.as_ref().and_then(|_| end(details, verdict));
    if let Some(session) = session.clone().filter(|_| is_poll) {
        let update = Update {
            by: key.clone(),
            at,
            carrier: Carrier::Poll,
            end,
            reason: None,
        };
        let about = WorkReference::handle(session);
        out.update(about, update, None);
    }
    // A poll for the end of a command succeeds, however the command ended.
    let verdict = if is_poll && end.is_some() {
        Verdict::Done
    } else {
        verdict
    };
    let goes_on = details.get("status").is("running") && !is_poll;
    body.flags.unmarked = verdict == Verdict::Failed && !message.get("isError").is_true();
    ToolResult {
        key,
        tool: message.get("toolName").text(),
        verdict,
        body,
        patch: patch(details).map(|patch| out.prose(&patch)),
        images,
        facts: facts(details, &text),
        at,
        duration_ms: details.get("durationMs").count(),
        work: session
            .filter(|_| goes_on)
            .map(|id| heads::work(out.format, id))
            .or_else(|| spawned(details))
            .map(Box::new),
    }
}

/// The session of a sub-agent that a call started. Its parent is notified when it is done.
fn spawned(details: &Json<'_>) -> Option<Work> {
    let is_begun = details.get("status").is("accepted");
    let key = details.get("childSessionKey").text();
    key.filter(|_| is_begun)
        .map(|key| Work::begun(key, EndRecording::Announced))
}

/// The tool that polls background commands.
const POLLS: &str = "process";

/// How a background command ended; `None` while it runs.
fn end(details: &Json<'_>, verdict: Verdict) -> Option<WorkEnd> {
    match details.get("status").str_or_empty() {
        "completed" | "failed" | "error" | "timeout" | "killed" => {
            let verdict = if details.get("status").is("killed") {
                Verdict::Stopped
            } else {
                verdict
            };
            Some(WorkEnd {
                verdict,
                exit: exit_code(details),
                at: None,
            })
        }
        _ => None,
    }
}

fn content<'j>(content: &'j Json<'_>, out: &Batch) -> (Cow<'j, str>, Vec<Image>) {
    let mut texts: Vec<Cow<'_, str>> = Vec::new();
    let mut images = Vec::new();
    for block in content.blocks() {
        match (block.get("type").str(), block) {
            (Some("text"), _) => texts.push(Cow::Borrowed(block.get("text").str_or_empty())),
            (Some("image"), _) => images.push(image(block, out)),
            (_, Json::Str(text)) => texts.push(Cow::Borrowed(text)),
            (_, other) => texts.push(other.to_source().into()),
        }
    }
    (joined(texts), images)
}

/// Removes the arguments that pi repeats when it refuses a call, since the call itself shows them.
fn without_echo(text: Cow<'_, str>) -> Cow<'_, str> {
    const REFUSAL: &str = "Validation failed for tool";
    if !text.trim_start().starts_with(REFUSAL) {
        return text;
    }
    let why = text
        .split_once("\n\nReceived arguments:\n{")
        .map(|(why, _)| why.to_owned());
    let why = why.filter(|why| why.starts_with(REFUSAL));
    why.map_or(text, Cow::Owned)
}

fn verdict(message: &Json<'_>) -> Verdict {
    let details = message.get("details");
    match details.get("status").str() {
        Some("blocked" | "forbidden" | "approval-unavailable") => Verdict::Refused,
        Some("error" | "failed" | "timeout") => Verdict::Failed,
        _ if message.get("isError").is_true() => Verdict::Failed,
        _ if exit_code(details).is_some_and(|code| code != 0) => Verdict::Failed,
        _ => Verdict::Done,
    }
}

fn exit_code(details: &Json<'_>) -> Option<i64> {
    match details.get("exitCode") {
        Json::Str(_) => None,
        code => code.int(),
    }
}

/// The patch of the tool: a unified diff, or pi's older form with line numbers.
fn patch(details: &Json<'_>) -> Option<String> {
    let patch = details.first(&["patch", "diff"], Json::filled)?;
    Some(diff::unified(patch).unwrap_or_else(|| patch.to_owned()))
}

fn facts(details: &Json<'_>, text: &str) -> Text {
    let mut facts = Vec::new();
    if let Some(code) = exit_code(details)
        .or_else(|| written_exit_code(text))
        .filter(|code| *code != 0)
    {
        facts.push(format!("exit {code}"));
    }
    match details.get("status").str() {
        Some("running") => facts.push("still running".to_owned()),
        Some(status @ ("timeout" | "blocked" | "forbidden" | "approval-unavailable")) => {
            facts.push(status.to_owned());
        }
        _ => {}
    }
    let cut = details.get("truncation");
    if cut.get("truncated").is_true()
        && let (Some(kept), Some(all)) = (
            cut.get("outputLines").count(),
            cut.get("totalLines").count(),
        )
    {
        facts.push(format!("{kept} of {all} lines"));
    }
    Text::clean(&facts.join(" · "))
}

/// The exit code in the last line, which only pi's own bash tool writes.
fn written_exit_code(text: &str) -> Option<i64> {
    const MARK: &str = "Command exited with code ";
    text.lines()
        .next_back()?
        .strip_prefix(MARK)?
        .trim()
        .parse()
        .ok()
}
