//! What the program notes in records of their own, beside what was said and done.

use super::line::Line;
use super::message;
use super::thread::Thread;
use crate::model::edit::Batch;
use crate::model::entry::Break;
use crate::model::tally::Fate;

/// A note, by the type of its record.
pub(crate) fn note(line: &Line<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    let kind = line.input.json.get("type").str_or_empty();
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

/// How hard the model thinks from here on.
pub(crate) fn configuration(line: &Line<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    match line.payload.at(&["reasoning", "effort"]).filled() {
        Some(effort) => thread.line(line, Break::setting(&format!("effort {effort}")), out),
        None => thread.tree(line, line.kind(), out),
    }
}
