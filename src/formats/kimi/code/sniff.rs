//! Detection of the wire of Kimi Code.

use crate::formats::decoder::{Confidence, Probe, Verdict};
use crate::formats::json::Json;
use crate::model::record::Shape;

/// Prefixes of the types of operations.
const OPERATIONS: [&str; 6] = [
    "context.append_",
    "turn.prompt",
    "config.update",
    "llm.request",
    "usage.record",
    "profile.bind",
];

/// Decides by the first lines.
pub(crate) fn sniff(probe: &Probe<'_>) -> Verdict {
    let lines = if probe.lines.is_empty() {
        probe.elements
    } else {
        probe.lines
    };
    if lines.iter().any(is_operation) {
        return Verdict::yes(
            Confidence::Certain,
            Shape::Lines,
            "operations of Kimi Code with their time",
        );
    }
    if lines.iter().any(is_metadata) {
        return Verdict::yes(
            Confidence::Likely,
            Shape::Lines,
            "the first line of a wire, with its time",
        );
    }
    Verdict::no("no operations of Kimi Code")
}

fn is_metadata(line: &Json<'_>) -> bool {
    line.get("type").str() == Some("metadata")
        && line.has("protocol_version")
        && line.has("created_at")
}

fn is_operation(line: &Json<'_>) -> bool {
    let kind = line.get("type").str_or_empty();
    line.get("time").number().is_some() && OPERATIONS.iter().any(|begin| kind.starts_with(begin))
}
