//! Control messages between the program and its host, and small events beside messages. The subtype
//! is under `request` or `response`; older writers put it beside the type.

use std::collections::{HashMap, HashSet};

use crate::formats::anthropic;
use crate::formats::claude::line::TranscriptLine;
use crate::formats::claude::system::{bookkeeping, setting};
use crate::formats::json::Json;
use crate::formats::tools;
use crate::formats::unknown::{self, NamedKind};
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{BlockKind, Break, Piece, Role};
use crate::model::tally::Fate;
use crate::model::text::{Name, Text, text};
use crate::model::tool::{ToolResult, ToolState, Verdict, identifies};

/// Open permission requests by request id.
#[derive(Debug, Default)]
pub(crate) struct PermissionRequests {
    open: HashMap<Text, PendingRequest>,
    /// Denied calls that have no result yet.
    denied: HashSet<Key>,
    /// Results of failed calls of this run, with their lanes: the end of the run may report that
    /// the calls were denied.
    failed: HashMap<Key, (ToolResult, Option<Name>)>,
}

/// Maximum size of a result that may be a denial, in bytes.
const DENIAL: u32 = 4 << 10;

#[derive(Debug)]
struct PendingRequest {
    entry: Key,
    /// The tool and its input, on one line.
    about: String,
    /// The call, if the request names one.
    call: Option<Key>,
}

impl PermissionRequests {
    fn add(&mut self, id: &Json<'_>, asked: PendingRequest) {
        if let Some(id) = id.text() {
            self.open.entry(id).or_insert(asked);
        }
    }

    /// Marks the results of denied calls among these edits as refused: the tool was not run.
    pub(crate) fn refuse(&mut self, edits: &mut [Edit]) {
        for edit in edits {
            let Edit::Result { call, result, lane } = edit else {
                continue;
            };
            if self.denied.remove(call) {
                refuse(result);
            } else if result.verdict == Verdict::Failed && result.body.bytes <= DENIAL {
                self.failed
                    .insert(call.clone(), ((**result).clone(), lane.clone()));
            }
        }
    }

    /// Marks the results of calls that were denied, as the end of the run reports. Returns those
    /// without a result.
    pub(crate) fn deny<'a>(
        &mut self,
        calls: impl Iterator<Item = &'a str>,
        out: &mut Batch,
    ) -> Vec<&'a str> {
        let mut failed = std::mem::take(&mut self.failed);
        let mut open = Vec::new();
        for call in calls {
            match failed.remove(&Text::clean(call)) {
                Some((mut result, lane)) => {
                    refuse(&mut result);
                    out.result(Text::clean(call), result, lane);
                }
                None => open.push(call),
            }
        }
        open
    }

    fn take(&mut self, id: &Json<'_>) -> Option<PendingRequest> {
        self.open.remove(&id.text()?)
    }
}

fn refuse(result: &mut ToolResult) {
    (result.verdict, result.facts) = (Verdict::Refused, Text::from("refused"));
}

/// The input of the tool, if the headline does not show all of it: it stays below the answer, which
/// replaces the question.
const INPUT: Piece = Piece(1);

/// Decodes a message of one of these types; `None` for another type.
pub(crate) fn decode(
    line: &TranscriptLine<'_>,
    requests: &mut PermissionRequests,
    out: &mut Batch,
) -> Option<Fate> {
    let json = line.json;
    let fate = match line.kind() {
        "control_request" => request(line, nested(json, "request"), requests, out),
        "control_response" => response(line, nested(json, "response"), requests, out),
        "control_cancel_request" => {
            let asked = requests.take(json.get("request_id"));
            answer(line, asked, ("request cancelled", ""), true, out)
        }
        "rate_limit_event" => rate_limit(line, json.get("rate_limit_info"), out),
        "tool_progress" => progress(line, out),
        "conversation_reset" => line.show(
            Break::Resumed(Text::clean("conversation reset")),
            false,
            out,
        ),
        _ => return None,
    };
    Some(fate)
}

fn nested<'j, 'a>(json: &'j Json<'a>, name: &str) -> &'j Json<'a> {
    if json.get(name).is_object() {
        json.get(name)
    } else {
        json
    }
}

fn request(
    line: &TranscriptLine<'_>,
    request: &Json<'_>,
    requests: &mut PermissionRequests,
    out: &mut Batch,
) -> Fate {
    let text = |member: &str| request.get(member).str_or_empty();
    match text("subtype") {
        "can_use_tool" => {
            let input = request.either("input", "tool_input");
            let tool = text("tool_name");
            let headline = tools::headline(tools::kind_of_call(tool, input), input);
            let about = format!("{tool}: {headline}");
            let waiting = text!("permission for {about}");
            let mut entry = line.entry(line.sub_key("question"), Role::Harness, out);
            entry.push(Break::Waiting(waiting));
            let is_shown =
                matches!(input.members(), [(_, only)] if only.str() == Some(headline.as_str()));
            if !is_shown && !input.is_null() {
                let body = input.to_body(&headline, out);
                entry.push_piece(INPUT, BlockKind::raw("input", body));
            }
            let call = request.get("tool_use_id").text();
            requests.add(
                line.json.get("request_id"),
                PendingRequest {
                    entry: entry.key.clone(),
                    about,
                    call,
                },
            );
            out.show(entry)
        }
        "interrupt" => line.show(Break::Interrupted(Text::default()), false, out),
        "set_model" => line.show(Break::ModelChange(Text::clean(text("model"))), false, out),
        "set_permission_mode" => setting(
            line,
            &format!("permission mode: {}", text("mode")),
            false,
            out,
        ),
        subtype => {
            let entry = line.entry(line.id.clone(), Role::Harness, out);
            unknown::record(NamedKind("request.subtype", subtype), line.json, entry, out)
        }
    }
}

fn response(
    line: &TranscriptLine<'_>,
    response: &Json<'_>,
    requests: &mut PermissionRequests,
    out: &mut Batch,
) -> Fate {
    let inner = nested(response, "response");
    let id = if response.has("request_id") {
        response.get("request_id")
    } else {
        line.json.get("request_id")
    };
    let asked = requests.take(id);
    if response.get("subtype").is("error") {
        let error = text!("control request: {}", response.get("error").str_or_empty());
        return line.show(Break::Error(error), false, out);
    }
    let is_denied = inner.get("behavior").is("deny") || *inner.get("allowed") == Json::Bool(false);
    if is_denied {
        requests
            .denied
            .extend(asked.as_ref().and_then(|asked| asked.call.clone()));
        let reason = inner
            .first(&["message", "reason"], Json::filled)
            .unwrap_or("");
        return answer(line, asked, ("permission denied", reason), false, out);
    }
    if inner.get("behavior").is("allow") || inner.get("allowed").is_true() {
        return answer(line, asked, ("permission granted", ""), true, out);
    }
    quiet_tree(line, response, "control response", false, out)
}

/// Shows an answer in the entry of its question, or alone if the question is not in the stream.
fn answer(
    line: &TranscriptLine<'_>,
    asked: Option<PendingRequest>,
    (what, why): (&str, &str),
    is_quiet: bool,
    out: &mut Batch,
) -> Fate {
    let about = asked
        .as_ref()
        .map(|asked| format!(" for {}", asked.about))
        .unwrap_or_default();
    let colon = if why.is_empty() { "" } else { ": " };
    let words = format!("{what}{about}{colon}{why}");
    let Some(asked) = asked else {
        return setting(line, &words, is_quiet, out);
    };
    let mut entry = line.entry(asked.entry, Role::Harness, out);
    entry.marks.quiet = is_quiet;
    let words = Break::setting(&words);
    entry.push(words);
    out.entry(entry);
    Fate::Merged
}

fn rate_limit(line: &TranscriptLine<'_>, limit: &Json<'_>, out: &mut Batch) -> Fate {
    let status = limit.get("status").str_or_empty();
    let kind = limit.get("rateLimitType").str_or_empty().replace('_', " ");
    let until = limit
        .get("resetsAt")
        .moment()
        .map(|at| format!(", resets {}", at.to_rfc3339()));
    let text = format!(
        "rate limit {}: {kind}{}",
        status.replace('_', " "),
        until.unwrap_or_default()
    );
    match status {
        "rejected" => line.show(Break::error(&text), false, out),
        "allowed" => setting(line, &text, true, out),
        "" => quiet_tree(line, line.json, "rate limit", false, out),
        _ => setting(line, &text, false, out),
    }
}

fn progress(line: &TranscriptLine<'_>, out: &mut Batch) -> Fate {
    let call = line.json.get("tool_use_id").str_or_empty();
    if !identifies(call) {
        return bookkeeping(line, "progress of a tool", out);
    }
    out.state(Text::clean(call), ToolState::Running);
    Fate::Merged
}

/// Shows a message between programs as a tree.
pub(crate) fn quiet_tree(
    line: &TranscriptLine<'_>,
    value: &Json<'_>,
    title: &str,
    is_trace: bool,
    out: &mut Batch,
) -> Fate {
    let mut entry = line.entry(line.id.clone(), Role::Harness, out);
    entry.marks.quiet = true;
    entry.marks.trace = is_trace;
    let block = anthropic::raw(value, title, out);
    entry.push_piece(line.piece(), block);
    out.show(entry)
}
