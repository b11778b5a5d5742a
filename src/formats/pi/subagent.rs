//! Sub-agents that run within a call: the result of the call holds their messages, and has no other record
//! of them. Each is a lane.
//!
//! Their messages have no lines, so no line tells when an answer was complete: its own time is when it began. It was
//! complete before the next message began or came, and when its call started is not known.

use super::entry;
use super::message::{self, Line, ReadPrompt, Told};
use super::usage;
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{Entry, Role};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::usage::Scope;

/// Characters of a lane's label.
const LABEL_CHARS: usize = 120;

/// What the results of sub-agents tell. `line` holds the result of the call that started them.
pub(crate) fn edits(
    line: &Line,
    call: &Key,
    results: &Json<'_>,
    read: ReadPrompt,
    out: &mut Batch,
) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (number, run) in results.items().iter().enumerate().filter(|(_, run)| is_run(run)) {
        let lane = Text::clean(&format!("{}/{number}", line.key));
        edits.push(Edit::Meta(MetaEdit::Lane {
            name: lane.clone(),
            label: label(run),
            call: Some(call.clone()),
        }));
        let mut is_metered = false;
        let messages = run.get("messages").items();
        for ((place, message), next) in messages.iter().enumerate().zip(next_times(messages, line.at)) {
            let line = Line {
                key: Text::clean(&format!("{lane}/{place}")),
                parent: None,
                at: message.get("timestamp").moment(),
                lane: Some(lane.clone()),
            };
            match message::decode(&line, message, read, out) {
                Told::Entry(mut entry) => {
                    end(&mut entry, next);
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

/// What a sub-agent is for, else what it is called.
fn label(run: &Json<'_>) -> Option<Text> {
    let told = ["description", "task", "agent"].iter().find_map(|name| run.get(name).filled())?;
    Some(Text::stub(told, LABEL_CHARS))
}

/// Of each message the time of the next one that has one; after the last one that is `brought`, the time of the result.
fn next_times(messages: &[Json<'_>], brought: Option<Timestamp>) -> Vec<Option<Timestamp>> {
    let mut next = brought;
    let mut times = Vec::with_capacity(messages.len());
    for message in messages.iter().rev() {
        times.push(next);
        next = message.get("timestamp").moment().or(next);
    }
    times.reverse();
    times
}

/// An answer was complete no later than this, and its calls began some time before.
fn end(entry: &mut Entry, next: Option<Timestamp>) {
    if entry.role == Role::Assistant {
        entry.ended = next;
        entry.calls_mut().for_each(|call| call.started = None);
    }
}

/// Whether an element of a list of results tells of a sub-agent: other tools have results, too.
fn is_run(run: &Json<'_>) -> bool {
    let messages = run.get("messages").items();
    let are_told = messages.iter().all(|message| message.get("role").filled().is_some());
    run.get("agent").filled().is_some() && are_told && (!messages.is_empty() || run.get("usage").is_object())
}
