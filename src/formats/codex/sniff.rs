//! Detects rollouts of Codex.

use super::line::{LineClass, class_of};
use crate::formats::definition::heads;
use crate::formats::json::Json;
use crate::formats::probe::{Confidence, Probe, ProbeResult};
use crate::formats::roots::file_name;
use crate::model::record::Shape;

/// Judges by the first lines. A bare message alone is ambiguous; the file name decides.
pub(crate) fn sniff(probe: &Probe<'_>) -> ProbeResult {
    let lines = if probe.lines.is_empty() {
        probe.elements
    } else {
        probe.lines
    };
    let yes = |confidence, reason: &str| ProbeResult::yes(confidence, Shape::Lines, reason);
    if lines.iter().any(is_enveloped) {
        let is_paginated = lines.iter().any(|line| line.has("ordinal"));
        let reason = if is_paginated {
            "lines of a rollout with ordinals"
        } else {
            "lines of a rollout"
        };
        return yes(Confidence::Certain, reason);
    }
    let is_header = |line: &Json<'_>| class_of(line) == LineClass::Meta;
    let is_state = |line: &Json<'_>| class_of(line) == LineClass::State;
    if lines.first().is_some_and(is_header) || lines.iter().any(is_state) {
        return yes(Confidence::Certain, "a rollout without envelopes");
    }
    let is_item = |line: &Json<'_>| class_of(line) == LineClass::Item;
    if file_name(probe.path).contains("rollout-") && lines.iter().any(is_item) {
        return yes(
            Confidence::Likely,
            "items of a model's answers, in a file that is named as a rollout",
        );
    }
    ProbeResult::no("no line of a rollout")
}

fn is_enveloped(line: &Json<'_>) -> bool {
    let is_known = match class_of(line) {
        LineClass::State => false,
        LineClass::Unknown => is_named(line.kind()),
        _ => true,
    };
    line.get("payload").is_object() && is_known && line.has("timestamp")
}

/// Whether a type is listed in the format's definition, without code for it.
fn is_named(kind: &str) -> bool {
    heads::of("codex").is_some_and(|head| head.kinds.get("type", kind).is_some())
}
