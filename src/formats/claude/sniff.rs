//! Detects sessions of Claude Code as stored on disk.

use crate::formats::json::Json;
use crate::formats::probe::{Confidence, Probe, ProbeResult};
use crate::model::record::Shape;

/// Types of lines in the chain.
const CHAIN: [&str; 5] = ["user", "assistant", "system", "progress", "attachment"];
/// Types of lines outside the chain.
const NOTES: [&str; 16] = [
    "summary",
    "file-history-snapshot",
    "queue-operation",
    "last-prompt",
    "ai-title",
    "custom-title",
    "tag",
    "agent-name",
    "agent-setting",
    "mode",
    "permission-mode",
    "pr-link",
    "bridge-session",
    "continued-in",
    "worktree-state",
    "content-replacement",
];

/// Judges by the first lines.
pub(crate) fn sniff(probe: &Probe<'_>) -> ProbeResult {
    if probe.is_document {
        return ProbeResult::no("the file is one JSON document");
    }
    if probe.lines.is_empty() {
        let more = ProbeResult::yes(Confidence::NeedMore, Shape::Lines, "no line yet");
        return if probe.is_whole {
            more
        } else {
            ProbeResult::no("no JSON line")
        };
    }
    if probe.lines.iter().any(is_qwen) {
        return ProbeResult::no("messages have parts, as Qwen Code writes them");
    }
    if probe.lines.iter().any(is_iflow) {
        return ProbeResult::no("sessions are named as iFlow names them");
    }
    if probe.lines.iter().any(is_chain_line) {
        return ProbeResult::yes(
            Confidence::Certain,
            Shape::Lines,
            "message lines with parentUuid or isSidechain",
        );
    }
    if probe.lines.iter().any(is_note) {
        return ProbeResult::yes(
            Confidence::Likely,
            Shape::Lines,
            "only lines beside the messages so far",
        );
    }
    ProbeResult::no("no line with parentUuid or isSidechain")
}

/// Whether a line is of Qwen Code, which adopted the envelope, but not the content of messages.
fn is_qwen(line: &Json<'_>) -> bool {
    line.has("systemPayload") || line.get("message").has("parts")
}

/// Whether a line is of iFlow, which adopted the envelope, but neither the names of sessions nor
/// the results of tools.
fn is_iflow(line: &Json<'_>) -> bool {
    line.get("sessionId").str_or_empty().starts_with("session-") && line.has("uuid")
}

fn is_chain_line(line: &Json<'_>) -> bool {
    CHAIN.contains(&line.kind()) && (line.has("parentUuid") || line.has("isSidechain"))
}

fn is_note(line: &Json<'_>) -> bool {
    NOTES.contains(&line.kind())
        && ["sessionId", "leafUuid", "messageId"]
            .iter()
            .any(|member| line.has(member))
        || line.kind() == "attachment" && line.get("attachment").get("type").filled().is_some()
}
