//! Tool parts: one part holds a call, its state and its result, and is rewritten as the call
//! progresses.
//!
//! Invariant: the result of decoding depends on the part alone.

use std::borrow::Cow;

use super::blocks::image;
use super::framing;
use crate::formats::definition::heads;
use crate::formats::json::Json;
use crate::formats::tools;
use crate::model::body::Body;
use crate::model::edit::Batch;
use crate::model::entry::BlockKind;
use crate::model::figures::count;
use crate::model::tally::unknown::Judged;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::work::{EndRecording, Work, WorkEnd, WorkReference};
use crate::model::tool::{ToolCall, ToolResult, ToolState, Verdict, ended};

/// The blocks of a call, including its output so far while it runs. `name` is a name for its
/// result.
pub(super) fn decode(json: &Json<'_>, name: &str, out: &mut Batch) -> Vec<BlockKind> {
    let state = json.get("state");
    let tool = json.get("tool").str_or_empty();
    let empty = Json::Object(Vec::new());
    let input = input(state, &empty);
    let kind = tools::kind_of_call(tool, input);
    let mut headline = tools::headline(kind, input);
    if headline.is_blank() {
        headline = Text::stub(state.get("title").str_or_empty(), 200);
    }
    let mut body = input.to_body(&headline, out);
    body.flags.broken_off = tools::is_truncated(input);
    let tool_state = match state.get("status").str_or_empty() {
        "completed" | "error" => ended(result(json, state, name, out)),
        "running" => ToolState::Running,
        "pending" | "streaming" | "" => ToolState::Pending,
        other => {
            out.unknown(&format!("tool status/{other}"), Judged::Loud);
            // A call with an output has ended, even if its status is unknown.
            if state.get("output").filled().is_some() {
                ended(result(json, state, name, out))
            } else {
                ToolState::Pending
            }
        }
    };
    let call = BlockKind::Call(Box::new(ToolCall {
        key: json.get("callID").clean(),
        name: Text::clean(tool),
        kind,
        headline,
        input: body,
        state: tool_state,
        started: state.at("time.start").moment(),
        lane: child(state),
    }));
    std::iter::once(call)
        .chain(output_so_far(state, out))
        .collect()
}

/// The session that a `task` call started.
pub(super) fn child(state: &Json<'_>) -> Option<Name> {
    let recorded = state.at("metadata.sessionId").filled();
    let recorded = recorded.or_else(|| state.at("metadata.sessionID").filled());
    let recorded = recorded.or_else(|| framing::task_session(state.get("output").str_or_empty()));
    recorded.map(Text::clean)
}

/// The arguments. While they are still being written, only their raw text is recorded.
fn input<'v, 'a>(state: &'v Json<'a>, empty: &'v Json<'a>) -> &'v Json<'a> {
    let input = state.get("input");
    // Lua writes empty objects as `[]`.
    let is_empty =
        input.items().is_empty() && input.members().is_empty() && input.filled().is_none();
    match (is_empty, state.get("raw").filled()) {
        (true, Some(_)) => state.get("raw"),
        (true, None) => empty,
        (false, _) => input,
    }
}

/// The result of a call, from a part that has only the result. `name` is a name for it.
pub(super) fn outcome(part: &Json<'_>, name: &str, out: &mut Batch) -> ToolResult {
    result(part, part.get("state"), name, out)
}

fn result(json: &Json<'_>, state: &Json<'_>, name: &str, out: &mut Batch) -> ToolResult {
    let metadata = state.get("metadata");
    let mut body = result_body(json, state, out);
    let verdict = verdict(json, state);
    body.flags.unmarked = verdict == Verdict::Failed && !state.get("status").is("error");
    body.flags.unjudged = metadata.get("exit").int().is_none();
    let patch = metadata.get("diff").filled().map(|diff| out.prose(diff));
    let attachments = state.get("attachments").items();
    let (start, end) = (
        state.at("time.start").moment(),
        state.at("time.end").moment(),
    );
    ToolResult {
        key: Text::clean(name),
        tool: None,
        verdict,
        body,
        patch,
        images: attachments
            .iter()
            .filter_map(|attachment| image(attachment, out))
            .collect(),
        facts: facts(json, state),
        at: end,
        duration_ms: start
            .zip(end)
            .map(|(start, end): (Timestamp, Timestamp)| end.since(start)),
        work: work(metadata, out),
    }
}

/// The background work of a call. Only shells, which exist since version 2, are certain to have
/// their ends recorded.
fn work(metadata: &Json<'_>, out: &Batch) -> Option<Box<Work>> {
    let goes_on = metadata.get("status").is("running") || metadata.get("background").is_true();
    // The end of a sub-agent's work names its session.
    let names = ["shellID", "sessionID", "sessionId", "jobId"];
    let id = metadata.first(&names, Json::filled).filter(|_| goes_on)?;
    let work = heads::work(out.format, Text::clean(id));
    let ends = if metadata.get("shellID").filled().is_some() {
        work.ends
    } else {
        EndRecording::Unrecorded
    };
    Some(Box::new(Work { ends, ..work }))
}

/// The end of background work, from a row written by the program.
pub(super) fn end(row: &Json<'_>) -> Option<(WorkReference, Option<WorkEnd>)> {
    let metadata = row.get("metadata");
    let handle = metadata.first(&["shellID", "childID", "jobID"], Json::filled)?;
    let end = WorkEnd::from_word(metadata.get("state").str(), metadata.get("exit").int());
    Some((WorkReference::handle(Text::clean(handle)), end))
}

/// The end of a background task, from a part written by the program.
pub(super) fn task_end(part: &Json<'_>) -> Option<(WorkReference, Option<WorkEnd>)> {
    let text = part
        .get("text")
        .str()
        .filter(|_| part.get("synthetic").is_true());
    let (session, state) = framing::task_end(text?)?;
    let about = WorkReference::handle(Text::clean(session));
    Some((about, WorkEnd::from_word(Some(state), None)))
}

/// The output. If the call failed, the error follows the output.
fn result_body(json: &Json<'_>, state: &Json<'_>, out: &mut Batch) -> Body {
    let tool = json.get("tool").str_or_empty();
    if state.get("status").is("error") {
        let error = error_of(state);
        let before = state.first(&["output", "metadata.output"], Json::filled);
        return match before {
            Some(before) if before.trim() != error.trim() => {
                out.output(&format!("{}\n\n{error}", before.trim_end()))
            }
            _ => out.output(&error),
        };
    }
    match state.get("output") {
        Json::Str(text) => out.output(&framing::unframed(tool, text)),
        Json::Null => out.output(""),
        other => out.output(&other.to_source()),
    }
}

/// The text of an error, which is a string, or since 2.0 an object with a type and a text.
fn error_of<'v>(state: &'v Json<'_>) -> Cow<'v, str> {
    match state.get("error") {
        Json::Str(text) => Cow::Borrowed(text),
        Json::Null => Cow::Borrowed(""),
        other => other
            .get("message")
            .filled()
            .map_or_else(|| other.to_source().into(), Cow::Borrowed),
    }
}

/// The verdict. A shell command that failed or was stopped and a call of an unknown tool all have
/// the status `completed`.
fn verdict(json: &Json<'_>, state: &Json<'_>) -> Verdict {
    let metadata = state.get("metadata");
    let error = error_of(state);
    let refusals = [
        "The user rejected permission",
        "The user has specified a rule which prevents",
    ];
    let is_refused = state.at("error.type").is("permission.rejected");
    if is_refused || refusals.iter().any(|refusal| error.starts_with(refusal)) {
        return Verdict::Refused;
    }
    if is_aborted(state) || metadata.get("interrupted").is_true() || note(json, state).is_some() {
        return Verdict::Stopped;
    }
    let failed = state.get("status").is("error")
        || json.get("tool").is("invalid")
        || metadata.get("exit").int().is_some_and(|code| code != 0);
    if failed {
        Verdict::Failed
    } else {
        Verdict::Done
    }
}

/// Whether the user aborted the call.
fn is_aborted(state: &Json<'_>) -> bool {
    state.at("error.type").is("aborted") || state.get("error").is("Tool execution aborted")
}

/// The note on a command that was stopped.
fn note<'v>(json: &'v Json<'_>, state: &'v Json<'_>) -> Option<&'v str> {
    let stopped = state.at("metadata.stopped").filled();
    stopped.or_else(|| {
        framing::shell_note(
            json.get("tool").str_or_empty(),
            state.get("output").str_or_empty(),
        )
    })
}

fn facts(json: &Json<'_>, state: &Json<'_>) -> Text {
    let metadata = state.get("metadata");
    let mut facts = Vec::new();
    if let Some(code) = metadata.get("exit").int().filter(|code| *code != 0) {
        facts.push(format!("exit {code}"));
    }
    if let Some(hits) = metadata.first(&["matches", "count"], Json::count) {
        facts.push(count(hits, "hit"));
    }
    let images = |file: &&Json<'_>| file.get("mime").str_or_empty().starts_with("image/");
    let attachments = state.get("attachments").items();
    let others = attachments.len() - attachments.iter().filter(images).count();
    if others > 0 {
        facts.push(format!("{others} attached"));
    }
    let note = note(json, state);
    let marks = [
        (note.is_some(), note.unwrap_or_default()),
        (is_aborted(state), "aborted"),
        (metadata.get("interrupted").is_true(), "interrupted"),
        (metadata.get("truncated").is_true(), "truncated"),
        (
            !state.at("time.compacted").is_null(),
            "hidden from the model",
        ),
    ];
    facts.extend(
        marks
            .iter()
            .filter(|(is_so, _)| *is_so)
            .map(|(_, mark)| (*mark).to_owned()),
    );
    Text::clean(&facts.join(" · "))
}

/// The output so far of a running command, which the completed call replaces.
fn output_so_far(state: &Json<'_>, out: &mut Batch) -> Option<BlockKind> {
    if !state.get("status").is("running") {
        return None;
    }
    let output = state.at("metadata.output").filled()?;
    Some(BlockKind::raw("output so far", out.output(output)))
}
