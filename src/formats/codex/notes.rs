//! Notes that the program writes as records of their own, beside the conversation.

use super::line::RolloutLine;
use super::message;
use super::thread::Thread;
use crate::model::edit::Batch;
use crate::model::entry::Break;
use crate::model::tally::Fate;

/// Decodes a note by the type of its record.
pub(crate) fn note(line: &RolloutLine<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    let kind = line.input.json.kind();
    let payload = line.payload;
    match (kind, line.kind()) {
        ("inter_agent_communication", _) => message::between_agents(line, thread, out),
        ("retained_context", "verified_answer") => message::verified_answer(line, thread, out),
        ("realtime_item", _) if payload.get("text").filled().is_some() => {
            let title = format!(
                "speech of {}",
                payload.get("role").filled().unwrap_or("somebody")
            );
            thread.text(
                line,
                (&title, payload.get("text").str_or_empty()),
                false,
                out,
            )
        }
        _ => thread.unknown(line, ("type", kind), out),
    }
}

/// Decodes a change of the reasoning effort.
pub(crate) fn configuration(line: &RolloutLine<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    match line.payload.at("reasoning.effort").filled() {
        Some(effort) => thread.line(line, Break::setting(&format!("effort {effort}")), out),
        None => thread.tree(line, line.kind(), out),
    }
}
