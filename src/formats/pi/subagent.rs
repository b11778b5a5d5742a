//! Sub-agents that run within a call: the result of the call holds their messages, and has no other record
//! of them. Each is a lane.

use super::entry;
use super::message::{self, Line, ReadPrompt, Told};
use super::usage;
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::text::Text;
use crate::model::usage::Scope;

/// What the results of sub-agents tell. `line` holds the result of the call that started them.
pub fn edits(line: &Line, call: &Key, results: &Json<'_>, read: ReadPrompt, out: &mut Batch) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (number, run) in results.items().iter().enumerate().filter(|(_, run)| is_run(run)) {
        let lane = Text::clean(&format!("{}/{number}", line.key));
        let label = run.get("agent").text();
        edits.push(Edit::Meta(MetaEdit::Lane { name: lane.clone(), label, call: Some(call.clone()) }));
        let mut is_metered = false;
        for (place, message) in run.get("messages").items().iter().enumerate() {
            let line = Line {
                key: Text::clean(&format!("{lane}/{place}")),
                parent: None,
                at: message.get("timestamp").moment(),
                lane: Some(lane.clone()),
            };
            match message::decode(&line, message, read, out) {
                Told::Entry(entry) => {
                    is_metered |= entry.usage.is_some();
                    edits.push(Edit::Entry(entry));
                }
                result @ Told::Result { .. } => edits.extend(entry::result_edits(&line, result)),
            }
        }
        // The sum of what the messages tell; only without them it tells anything.
        let sum = if is_metered { None } else { usage::read(run.get("usage"), Scope::Extra, out) };
        if let Some(usage) = sum.filter(|usage| !usage.is_zero()) {
            let model = run.get("model").text();
            edits.push(Edit::Usage { of: entry::result_key(&lane), usage: Box::new(usage), model });
        }
    }
    edits
}

/// Whether an element of a list of results tells of a sub-agent: other tools have results, too.
fn is_run(run: &Json<'_>) -> bool {
    let messages = run.get("messages").items();
    let are_told = messages.iter().all(|message| message.get("role").filled().is_some());
    run.get("agent").filled().is_some() && are_told && (!messages.is_empty() || run.get("usage").is_object())
}
