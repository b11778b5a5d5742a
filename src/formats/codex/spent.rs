//! Usage records of responses, and the terms of requests.

use super::line::RolloutLine;
use super::thread::Thread;
use super::usage::{ResponseState, RolloutCounts};
use crate::formats::json::Json;
use crate::model::edit::Batch;
use crate::model::tally::Fate;
use crate::model::text::{Name, Text};
use crate::model::usage::{Scope, Usage};

/// Decodes the record of one response, on a line of its own or within that of a compaction.
pub(crate) fn record(record: &Json<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    let usage = record.get("usage");
    let Some(id) = record
        .get("response_id")
        .text()
        .filter(|_| usage.is_object())
    else {
        return Fate::Passed("tokens of no response");
    };
    let of = record.get("thread_id").text();
    let is_others = of.is_some() && thread.id.is_some() && of != thread.id;
    if is_others || thread.replay.is_active() {
        thread.responses.mark_inherited(id);
        return Fate::Merged;
    }
    let counts = RolloutCounts::read(usage);
    match thread.responses.record(&id, counts) {
        ResponseState::New => thread.add_response_usage(&id, counts, out),
        // The record may have more counts.
        ResponseState::Counted(key) => thread.push_usage(key, counts, out),
        ResponseState::Recorded => {}
    }
    Fate::Merged
}

/// Adds the usage of a compaction. Its request is recorded before it, or with it. Versions without
/// such records have no usage for it, unless the model wrote the summary as an answer: then it was
/// counted.
pub(crate) fn compaction(line: &RolloutLine<'_>, thread: &mut Thread, out: &mut Batch) {
    let id = line.payload.get("compaction_response_id").filled();
    let latest = line.payload.get("latest_token_usage_record");
    if id.is_some() && latest.get("response_id").filled() == id {
        record(latest, thread, out);
    }
    let is_recorded = id.is_some_and(|id| thread.responses.compacted(id));
    let is_counted = id.is_none() && line.payload.get("message").filled().is_some();
    if is_recorded || is_counted || thread.replay.is_active() {
        return;
    }
    let usage = Usage {
        scope: Scope::Extra,
        is_partial: true,
        lacks_cost: true,
        ..Usage::default()
    };
    let of = out.key("unrecorded");
    out.usage(of, usage, thread.model.clone());
}

/// Applies the settings of a thread, valid until the next ones: its service tier. The program's
/// name for the provider's `priority` tier is fast.
pub(crate) fn settings(settings: &Json<'_>, thread: &mut Thread) {
    const USUAL: [&str; 3] = ["default", "auto", "standard"];
    let tier = settings
        .get("service_tier")
        .filled()
        .filter(|tier| !USUAL.contains(tier));
    let named = |tier: &str| {
        if tier == "fast" {
            Name::from("priority")
        } else {
            Text::stub(tier, 40)
        }
    };
    thread.terms = tier.map(named).into_iter().collect();
}
