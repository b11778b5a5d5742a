//! System messages of a stream, by `subtype`, except `init`, which begins a run.

use super::tasks::{self, Tasks};
use crate::formats::claude::line::TranscriptLine;
use crate::formats::claude::requests;
use crate::formats::claude::session::DecoderState;
use crate::formats::claude::system::{bookkeeping, compaction, retry, setting, show_text};
use crate::formats::unknown::{self, NamedKind};
use crate::model::edit::Batch;
use crate::model::entry::Role;
use crate::model::tally::Fate;

/// Decodes a system message.
pub(crate) fn decode(
    line: &TranscriptLine<'_>,
    session: &mut DecoderState,
    tasks: &mut Tasks,
    out: &mut Batch,
) -> Fate {
    let json = line.json;
    let text = |member: &str| json.get(member).str_or_empty();
    match text("subtype") {
        "compact_boundary" => {
            session.set_boundary(line);
            line.show(compaction(json.get("compact_metadata")), false, out)
        }
        "hook_started" | "hook_progress" | "hook_response" => tasks::hook(line, tasks, out),
        "api_retry" => {
            let attempt = json.get("attempt").int().zip(json.get("max_retries").int());
            let wait = json.get("retry_delay_ms").count();
            let error = retry(
                json.get("error_status").int(),
                json.get("error").filled(),
                attempt,
                wait,
            );
            requests::failed(line, attempt, error, &mut session.requests, out)
        }
        "task_started" | "task_progress" | "task_notification" | "task_updated" => {
            tasks::task(line, tasks, &mut session.lanes, out)
        }
        "notification" => {
            let is_quiet = !matches!(text("priority"), "immediate" | "high");
            setting(line, text("text"), is_quiet, out)
        }
        "status" => match json.get("status").filled() {
            Some(status) => setting(line, &format!("status: {status}"), true, out),
            None => bookkeeping(line, "status cleared", out),
        },
        "permission_denied" => setting(
            line,
            &format!(
                "permission denied: {} {}",
                text("tool_name"),
                text("message")
            ),
            false,
            out,
        ),
        "informational" => show_text(line, "notice", text("content"), false, out),
        other => {
            let entry = line.entry(line.id.clone(), Role::Harness, out);
            unknown::record(NamedKind("system.subtype", other), json, entry, out)
        }
    }
}
