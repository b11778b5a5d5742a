//! Detection of Cline's files: messages files, manifests and compaction sidecars of the core, the two task files of the
//! extension.

use super::manifest::is_manifest;
use super::{history, panel};
use crate::formats::json::Json;
use crate::formats::probe::{Confidence, Probe, ProbeResult, nearly_all};
use crate::model::record::Shape;

pub(super) fn sniff(probe: &Probe<'_>) -> ProbeResult {
    if let Some(verdict) = probe
        .header
        .filter(|header| header.is_object())
        .and_then(of_object)
    {
        return verdict;
    }
    if probe.lines.iter().any(is_hook) && !probe.is_document {
        return ProbeResult::no(
            "hooks.jsonl logs what ran around a session, its messages are in the .messages.json beside it",
        );
    }
    of_array(probe)
}

fn yes(confidence: Confidence, reason: &str) -> ProbeResult {
    ProbeResult::yes(confidence, Shape::Document, reason)
}

fn of_object(header: &Json<'_>) -> Option<ProbeResult> {
    let is_ours = matches!(
        header.get("agent").str(),
        Some("lead" | "subagent" | "teammate")
    );
    let has_version = header.get("version").number().is_some();
    let has_messages = header.has("messages");
    if has_messages && has_version && is_ours {
        let reason = "version, messages and the agent's part (lead, subagent, teammate)";
        return Some(match unknown_version(header) {
            None => yes(Confidence::Certain, reason),
            Some(version) => yes(
                Confidence::Likely,
                &format!("{reason}, but version {version}; only version 1 is known"),
            ),
        });
    }
    if has_messages && header.has("source_message_count") {
        return Some(yes(
            Confidence::Certain,
            "a compaction sidecar (source_message_count)",
        ));
    }
    if has_messages && has_version && header.has("sessionId") && !header.has("projectHash") {
        return Some(yes(Confidence::Likely, "version, sessionId and messages"));
    }
    is_manifest(header).then(|| {
        yes(
            Confidence::Certain,
            "the manifest of a session (messages_path)",
        )
    })
}

/// The version of a messages file; `None` if it is the supported one.
pub(super) fn unknown_version(header: &Json<'_>) -> Option<String> {
    let version = header.get("version");
    let is_known = version.int() == Some(1) || !header.has("messages");
    version
        .number()
        .filter(|_| !is_known)
        .map(|_| version.to_source())
}

/// Whether the records are events of hooks, which are logged beside the session.
fn is_hook(line: &Json<'_>) -> bool {
    line.has("hookName")
        && (line.has("taskId") || line.has("sessionContext") || line.has("agent_id"))
}

fn of_array(probe: &Probe<'_>) -> ProbeResult {
    let mut elements = probe
        .elements
        .iter()
        .filter(|element| element.is_object())
        .peekable();
    if elements.peek().is_none() {
        return ProbeResult::no("neither version, messages and agent, nor an array of messages");
    }
    if nearly_all(elements.clone(), panel::is_message) {
        return yes(
            Confidence::Certain,
            "an array of ask and say messages (ui_messages.json)",
        );
    }
    let is_history = |element: &Json<'_>| {
        element.has("role") && element.has("content") && !element.has("type") && !element.has("id")
    };
    let is_array = probe.header.is_none_or(|header| !header.is_object());
    if !is_array || !nearly_all(elements.clone(), is_history) {
        return ProbeResult::no("messages without Cline's marks");
    }
    let name = probe
        .path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or("");
    if name.ends_with("api_conversation_history.json") {
        let reason = "an array of role and content, named api_conversation_history.json";
        return yes(Confidence::Certain, reason);
    }
    if elements.any(history::has_marks) {
        let reason = "an array of role and content with <environment_details> or <task>";
        return yes(Confidence::Likely, reason);
    }
    ProbeResult::no("messages without Cline's marks")
}
