//! Detection of the wire of Kimi CLI.

use crate::formats::decoder::{Confidence, Probe, Verdict};
use crate::formats::json::Json;
use crate::model::record::Shape;

/// Decides by the first lines: the first one is the same in both generations.
pub(crate) fn sniff(probe: &Probe<'_>) -> Verdict {
    let lines = if probe.lines.is_empty() {
        probe.elements
    } else {
        probe.lines
    };
    if lines.iter().any(is_event) {
        return Verdict::yes(
            Confidence::Certain,
            Shape::Lines,
            "messages with a type and a payload",
        );
    }
    let is_other = |line: &Json<'_>| line.has("created_at") || !is_metadata(line);
    if lines.iter().any(is_metadata) && !lines.iter().any(is_other) {
        return Verdict::yes(
            Confidence::Likely,
            Shape::Lines,
            "the first line of a wire, and nothing else",
        );
    }
    Verdict::no("no messages with a type and a payload")
}

fn is_metadata(line: &Json<'_>) -> bool {
    line.get("type").str() == Some("metadata") && line.has("protocol_version")
}

fn is_event(line: &Json<'_>) -> bool {
    let message = line.get("message");
    line.get("timestamp").number().is_some()
        && message.has("payload")
        && message.get("type").filled().is_some()
}
