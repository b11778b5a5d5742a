//! Marks that distinguish an OpenClaw session from one of pi, which uses the same container.

use std::path::Path;

use super::name::{FileName, TranscriptState};
use crate::formats::json::Json;
use crate::formats::openclaw::wakes;
use crate::formats::openclaw::wire::frame;
use crate::formats::probe::Probe;

/// The first mark of OpenClaw in the file, otherwise in its path, as text.
pub(crate) fn find(probe: &Probe<'_>) -> Option<String> {
    probe
        .lines
        .iter()
        .find_map(of_line)
        .or_else(|| of_path(probe.path))
}

fn of_line(line: &Json<'_>) -> Option<String> {
    if let Some(custom) = line.get("customType").str() {
        let is_own = custom.starts_with("openclaw") || custom == "model-snapshot";
        return is_own.then(|| format!("records of {custom}"));
    }
    if frame::is_decisive(line) {
        return Some("frames of the gateway".to_owned());
    }
    let message = line.get("message");
    let details = message.get("details");
    let mark = if message.get("provider").is("openclaw") {
        "messages of the gateway"
    } else if message.at("provenance.kind").str().is_some() {
        "messages from other sessions"
    } else if details.has("childSessionKey") || details.has("deniedReason") {
        "tool results of the gateway"
    } else if message.get("content").items().iter().any(is_wrapped_call) {
        "calls through tool_call"
    } else if starts_with_metadata(message) {
        "prompts from a chat"
    } else if line.kind() == "session" && is_in_state_dir(Path::new(line.get("cwd").str_or_empty()))
    {
        "a workspace of the gateway"
    } else {
        return None;
    };
    Some(mark.to_owned())
}

fn is_wrapped_call(block: &Json<'_>) -> bool {
    let arguments = block.get("arguments");
    block.get("name").is("tool_call") && arguments.has("id") && arguments.has("args")
}

fn starts_with_metadata(message: &Json<'_>) -> bool {
    // Only the first text of a user message is checked, since messages may be long.
    let content = Some(message.get("content")).filter(|_| message.get("role").is("user"));
    let first = content.and_then(|content| content.blocks().first());
    let text = first.and_then(|block| block.part_text());
    text.is_some_and(|text| {
        wakes::is_wake(text)
            || text.contains("[Subagent Context]")
            || text
                .lines()
                .next()
                .is_some_and(|line| line.ends_with("(untrusted metadata):"))
    })
}

fn of_path(path: &Path) -> Option<String> {
    let kept = FileName::of(path).map(|name| name.state);
    if matches!(kept, Some(TranscriptState::Archived(how, _)) if how != "bak")
        || kept == Some(TranscriptState::Checkpoint)
    {
        return Some("a name that the gateway gives".to_owned());
    }
    is_in_state_dir(path).then(|| "a path of the gateway".to_owned())
}

fn is_in_state_dir(path: &Path) -> bool {
    let names = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    names.into_iter().any(|name| {
        [".openclaw", ".clawdbot", ".moltbot"]
            .iter()
            .any(|dir| name == *dir || name.starts_with(&format!("{dir}-")))
    })
}
