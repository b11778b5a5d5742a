//! Decodes a message to an entry, or to a result with the work of sub-agents within its call.
//!
//! **Sub-agents run within a call**: its result contains their messages, including results, and
//! nothing else records them. Each is a lane. Their messages have no lines of their own, so no line
//! has the time at which an answer was complete: its own time is that of its beginning. It was
//! complete before the next message began or arrived, and the time at which its calls started is
//! unknown.

use super::message::{self, MessageLine, ReadPrompt};
use super::{result, usage};
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{Entry, Role};
use crate::model::text::{Name, Text, text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolResult;
use crate::model::usage::{Scope, Usage};

/// The maximum length of a lane's label, in characters.
const LABEL_CHARS: usize = 120;

pub(crate) enum Decoded {
    Entry(Box<Entry>),
    Result {
        call: Key,
        result: Box<ToolResult>,
        /// The session of the sub-agent that the call started.
        child: Option<Name>,
        /// The usage of the tool itself.
        usage: Option<Box<Usage>>,
        /// The edits for sub-agents that ran within the call.
        inner: Vec<Edit>,
    },
}

pub(crate) fn decode(
    line: &MessageLine,
    message: &Json<'_>,
    read: ReadPrompt,
    out: &mut Batch,
) -> Decoded {
    match message.get("role").str() {
        Some("toolResult") => tool_result(line, message, read, out),
        _ => Decoded::Entry(Box::new(message::entry(line, message, read, out))),
    }
}

/// Emits a result. Its line remains a link of the tree.
pub(crate) fn emit_result(line: &MessageLine, decoded: Decoded, out: &mut Batch) {
    out.edits.extend(result_edits(line, decoded));
    out.push(Edit::Link {
        key: line.key.clone(),
        parent: line.parent.clone(),
    });
}

/// The edits of a result: usage, lanes and the result itself.
fn result_edits(line: &MessageLine, decoded: Decoded) -> Vec<Edit> {
    let Decoded::Result {
        call,
        result,
        child,
        usage,
        inner,
    } = decoded
    else {
        return Vec::new();
    };
    let usage = usage.map(|usage| Edit::Usage {
        of: result_key(&line.key),
        usage,
        model: None,
    });
    let lane = |name| {
        Edit::Meta(MetaEdit::Lane {
            name,
            label: None,
            call: Some(call.clone()),
        })
    };
    let child = child.map(lane);
    let result = Edit::Result {
        call,
        result,
        lane: line.lane.clone(),
    };
    usage
        .into_iter()
        .chain(child)
        .chain(inner)
        .chain([result])
        .collect()
}

/// The key of a result, distinct from that of its record.
pub(crate) fn result_key(of: &Key) -> Key {
    text!("result of {of}")
}

fn tool_result(
    line: &MessageLine,
    message: &Json<'_>,
    read: ReadPrompt,
    out: &mut Batch,
) -> Decoded {
    let result = result::read(line.key.clone(), message, line.at, out);
    let call = result::call_key(message.get("toolCallId"));
    Decoded::Result {
        inner: runs(line, &call, message.at("details.results"), read, out),
        call,
        result: Box::new(result),
        child: message.at("details.childSessionKey").text(),
        usage: usage::read(message.get("usage"), Scope::Extra, out).map(Box::new),
    }
}

// === sub-agents ===

/// The edits for sub-agents within a result. `line` is the line of that result.
fn runs(
    line: &MessageLine,
    call: &Key,
    results: &Json<'_>,
    read: ReadPrompt,
    out: &mut Batch,
) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (number, run) in results
        .items()
        .iter()
        .enumerate()
        .filter(|(_, run)| is_run(run))
    {
        let lane = text!("{}/{number}", line.key);
        edits.push(Edit::Meta(MetaEdit::Lane {
            name: lane.clone(),
            label: label(run),
            call: Some(call.clone()),
        }));
        let mut is_metered = false;
        let messages = run.get("messages").items();
        for ((place, message), next) in messages
            .iter()
            .enumerate()
            .zip(next_times(messages, line.at))
        {
            let line = MessageLine {
                key: text!("{lane}/{place}"),
                parent: None,
                at: message.get("timestamp").moment(),
                lane: Some(lane.clone()),
            };
            match decode(&line, message, read, out) {
                Decoded::Entry(mut entry) => {
                    end(&mut entry, next);
                    is_metered |= entry.usage.is_some();
                    edits.push(Edit::Entry(entry));
                }
                result @ Decoded::Result { .. } => edits.extend(result_edits(&line, result)),
            }
        }
        // The total of the run counts only if its messages have no usage.
        let sum = if is_metered {
            None
        } else {
            usage::read(run.get("usage"), Scope::Extra, out)
        };
        if let Some(usage) = sum.filter(|usage| !usage.is_zero()) {
            let model = run.get("model").text();
            edits.push(Edit::Usage {
                of: result_key(&lane),
                usage: Box::new(usage),
                model,
            });
        }
    }
    edits
}

/// The label of a sub-agent: its task, or else its name.
fn label(run: &Json<'_>) -> Option<Text> {
    let label = run.first(&["description", "task", "agent"], Json::filled)?;
    Some(Text::stub(label, LABEL_CHARS))
}

/// For each message the time of the next message that has one. For the last ones it is `brought`,
/// the time of the result.
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

/// Sets the latest time at which an answer can have been complete. Its calls began at an unknown
/// time before.
fn end(entry: &mut Entry, next: Option<Timestamp>) {
    if entry.role == Role::Assistant {
        entry.ended = next;
        entry.calls_mut().for_each(|call| call.started = None);
    }
}

/// Whether an element of a list of results is a sub-agent's, since other tools have such lists,
/// too.
fn is_run(run: &Json<'_>) -> bool {
    let messages = run.get("messages").items();
    let have_roles = messages
        .iter()
        .all(|message| message.get("role").filled().is_some());
    run.get("agent").filled().is_some()
        && have_roles
        && (!messages.is_empty() || run.get("usage").is_object())
}
