//! The result of a tool: a `toolResult` message, or the payload of an execution event.
//!
//! Invariant: whether a call failed follows from `isError`, `details.status` and `details.exitCode`
//! together; each of them alone is false on real failures.

use super::diff;
use super::image::image;
use crate::formats::json::Json;
use crate::model::body::{Image, Key};
use crate::model::edit::Batch;
use crate::model::moment::Moment;
use crate::model::text::Text;
use crate::model::tool::{ToolResult, Verdict};

/// The id of a call as results name it: OpenAI's `call_…|fc_…` may lose its second half.
pub fn call_key(id: &Json<'_>) -> Key {
    Text::clean(id.str_or_empty().split('|').next().unwrap_or(""))
}

/// Reads `content`, `details` and `isError` of a result.
pub fn read(key: Key, message: &Json<'_>, at: Option<Moment>, out: &mut Batch) -> ToolResult {
    let details = message.get("details");
    let (text, images) = content(message.get("content"), out);
    let text = without_echo(text);
    let told = if text.trim().is_empty() { details.get("aggregated").str_or_empty() } else { &text };
    let verdict = verdict(message);
    let mut body = out.output(told);
    body.signs.unmarked = verdict == Verdict::Failed && !message.get("isError").is_true();
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
    }
}

fn content(content: &Json<'_>, out: &Batch) -> (String, Vec<Image>) {
    let mut texts = Vec::new();
    let mut images = Vec::new();
    for block in content.blocks() {
        match (block.get("type").str(), block) {
            (Some("text"), _) => texts.push(block.get("text").str_or_empty().to_owned()),
            (Some("image"), _) => images.push(image(block, out)),
            (_, Json::Str(text)) => texts.push(text.to_string()),
            (_, other) => texts.push(other.to_source()),
        }
    }
    (texts.join("\n"), images)
}

/// A call that pi refuses is answered with all of its arguments, which stand right above.
fn without_echo(text: String) -> String {
    match text.split_once("\n\nReceived arguments:\n{") {
        Some((why, _)) if why.starts_with("Validation failed for tool") => why.to_owned(),
        _ => text,
    }
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

/// What the tool changed: a unified diff, or pi's older form with line numbers.
fn patch(details: &Json<'_>) -> Option<String> {
    let told = details.get("patch").filled().or_else(|| details.get("diff").filled())?;
    Some(diff::unified(told).unwrap_or_else(|| told.to_owned()))
}

fn facts(details: &Json<'_>, text: &str) -> Text {
    let mut facts = Vec::new();
    if let Some(code) = exit_code(details).or_else(|| told_exit_code(text)).filter(|code| *code != 0) {
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
        && let (Some(kept), Some(all)) = (cut.get("outputLines").count(), cut.get("totalLines").count())
    {
        facts.push(format!("{kept} of {all} lines"));
    }
    Text::clean(&facts.join(" · "))
}

/// pi's own bash tool tells the code in its last line only.
fn told_exit_code(text: &str) -> Option<i64> {
    text.lines().next_back()?.strip_prefix("Command exited with code ")?.trim().parse().ok()
}
