//! What a message decodes to: an entry, or a result with what sub-agents did within its call.
//!
//! **Sub-agents run within a call**: its result holds their messages, results among them, and there is no other record
//! of them. Each is a lane. Their messages have no lines, so no line says when an answer was complete: its own time is
//! when it began. It was complete before the next message began or came, and when its call started is not known.

use super::message::{self, Line, ReadPrompt};
use super::{result, usage};
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{Entry, Role};
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolResult;
use crate::model::usage::{Scope, Usage};

/// Characters of a lane's label.
const LABEL_CHARS: usize = 120;

/// What a message turned out to be.
pub(crate) enum Decoded {
    /// An entry.
    Entry(Box<Entry>),
    /// A tool's result.
    Result {
        /// The id of the call.
        call: Key,
        /// The result.
        result: Box<ToolResult>,
        /// The session of the sub-agent that the call started.
        child: Option<Name>,
        /// What the tool itself spent.
        usage: Option<Box<Usage>>,
        /// What sub-agents did within the call.
        inner: Vec<Edit>,
    },
}

/// Decodes a message.
pub(crate) fn decode(
    line: &Line,
    message: &Json<'_>,
    read: ReadPrompt,
    out: &mut Batch,
) -> Decoded {
    match message.get("role").str() {
        Some("toolResult") => tool_result(line, message, read, out),
        _ => Decoded::Entry(Box::new(message::entry(line, message, read, out))),
    }
}

/// Joins a result to its call. The line that brings it stays a link of the tree.
pub(crate) fn emit_result(line: &Line, decoded: Decoded, out: &mut Batch) {
    out.edits.extend(result_edits(line, decoded));
    out.push(Edit::Link {
        key: line.key.clone(),
        parent: line.parent.clone(),
    });
}

/// The edits of a result: what it spent, who worked for it, and what came of it.
fn result_edits(line: &Line, decoded: Decoded) -> Vec<Edit> {
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

/// What the result of a call is known by beside the record that holds it.
pub(crate) fn result_key(of: &Key) -> Key {
    Text::clean(&format!("result of {of}"))
}

fn tool_result(line: &Line, message: &Json<'_>, read: ReadPrompt, out: &mut Batch) -> Decoded {
    let result = result::read(line.key.clone(), message, line.at, out);
    let call = result::call_key(message.get("toolCallId"));
    Decoded::Result {
        inner: runs(line, &call, message.at(&["details", "results"]), read, out),
        call,
        result: Box::new(result),
        child: message.at(&["details", "childSessionKey"]).text(),
        usage: usage::read(message.get("usage"), Scope::Extra, out).map(Box::new),
    }
}

// === sub-agents ===

/// The edits of the results of sub-agents. `line` holds the result of the call that started them.
fn runs(
    line: &Line,
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
        let lane = Text::clean(&format!("{}/{number}", line.key));
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
            let line = Line {
                key: Text::clean(&format!("{lane}/{place}")),
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
        // The sum of what the messages spent; only without them it counts.
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

/// What a sub-agent is for, else what it is called.
fn label(run: &Json<'_>) -> Option<Text> {
    let label = run.first(&["description", "task", "agent"], Json::filled)?;
    Some(Text::stub(label, LABEL_CHARS))
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

/// Whether an element of a list of results is about a sub-agent: other tools have results, too.
fn is_run(run: &Json<'_>) -> bool {
    let messages = run.get("messages").items();
    let have_roles = messages
        .iter()
        .all(|message| message.get("role").filled().is_some());
    run.get("agent").filled().is_some()
        && have_roles
        && (!messages.is_empty() || run.get("usage").is_object())
}
