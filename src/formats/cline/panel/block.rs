//! Decodes a message of the panel to blocks.

use crate::formats::cline::call::{self, RecordedCall};
use crate::formats::cline::content::raw;
use crate::formats::cline::result;
use crate::formats::definition::kinds::KindRule;
use crate::formats::inline;
use crate::formats::json::{self, Json};
use crate::formats::unknown::{self, NamedKind};
use crate::model::body::{Body, Image, Key};
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Break, Role};
use crate::model::text::{Text, text};
use crate::model::tool::{ToolState, Verdict, ended};

/// Bookkeeping kinds that have code; they are shown at level 4.
const QUIET: [&str; 6] = [
    "api_req_started",
    "checkpoint_created",
    "checkpoint_saved",
    "deleted_api_reqs",
    "subagent_usage",
    "task_progress",
];

#[derive(Clone, Copy)]
pub(super) struct PanelMessage<'m> {
    pub(super) kind: &'m str,
    pub(super) text: &'m str,
    /// The text parsed as JSON, or null.
    pub(super) payload: &'m Json<'m>,
    pub(super) json: &'m Json<'m>,
    pub(super) key: &'m Key,
}

pub(super) fn role_of(kind: &str) -> Role {
    match kind {
        "user_feedback" | "user_feedback_diff" => Role::User,
        "text"
        | "reasoning"
        | "completion_result"
        | "plan_completion_result"
        | "tool"
        | "command"
        | "followup"
        | "use_mcp_server"
        | "plan_mode_respond"
        | "act_mode_respond"
        | "browser_action_launch"
        | "browser_action"
        | "use_subagents"
        | "subagent" => Role::Assistant,
        _ => Role::Harness,
    }
}

/// Whether a kind is bookkeeping that has code.
pub(super) fn is_quiet(kind: &str) -> bool {
    QUIET.contains(&kind)
}

pub(super) fn blocks(said: &PanelMessage<'_>, out: &mut Batch) -> Vec<BlockKind> {
    let mut shown = decoded(said, out);
    for kind in &mut shown {
        if let BlockKind::Call(call) = kind {
            call.input.flags.unnamed = true;
        }
    }
    shown
}

fn decoded(said: &PanelMessage<'_>, out: &mut Batch) -> Vec<BlockKind> {
    let PanelMessage {
        kind,
        text,
        payload,
        json,
        key,
    } = *said;
    let asked = |name, input, state| RecordedCall {
        key: key.clone(),
        name,
        input,
        state,
        at: json.get("ts").moment(),
    };
    let shown = match kind {
        "text" | "task" | "completion_result" | "plan_completion_result" | "user_feedback" => {
            BlockKind::Text(out.prose(text))
        }
        "reasoning" => BlockKind::Thinking(out.prose(text)),
        "tool" => match payload.get("tool").filled() {
            Some(name) => return call::blocks(asked(name, payload, ToolState::Pending), out),
            None => raw("tool", text, out),
        },
        "command" => {
            let input = Json::Object(vec![("command".into(), Json::Str(text.into()))]);
            return call::blocks(asked("execute_command", &input, ToolState::Pending), out);
        }
        "use_mcp_server" => {
            let name = payload.get("type").filled().unwrap_or("use_mcp_tool");
            return call::blocks(asked(name, payload, ToolState::Pending), out);
        }
        "browser_action" | "browser_action_launch" => {
            let launch = Json::Object(vec![("url".into(), Json::Str(text.into()))]);
            let input = if payload.is_object() {
                payload
            } else {
                &launch
            };
            return call::blocks(asked("browser_action", input, ToolState::Pending), out);
        }
        "task_progress" => return plan(text, key, out),
        "use_subagents" | "subagent" => return agents(payload, text, key, out),
        "api_req_started" => {
            let request = raw(
                "request to the model",
                payload.get("request").str().unwrap_or(text),
                out,
            );
            return std::iter::once(request)
                .chain(broken_off(payload).map(BlockKind::Break))
                .collect();
        }
        "user_feedback_diff" => raw("feedback in the files", text, out),
        "codebase_search_result" | "subtask_result" => raw(&kind.replace('_', " "), text, out),
        "deleted_api_reqs" => raw("spent by requests that were taken back", text, out),
        "subagent_usage" => raw("spent by sub-agents", text, out),
        "checkpoint_created" | "checkpoint_saved" => checkpoint(said, out),
        "command_output" | "mcp_server_response" | "browser_action_result" => {
            BlockKind::raw(&kind.replace('_', " "), output(said, out).0)
        }
        "followup" | "plan_mode_respond" | "act_mode_respond" => question(payload, text, out),
        _ => match line(kind, text, payload, json) {
            Some(line) => BlockKind::Break(line),
            None => other(kind, json, out),
        },
    };
    vec![shown]
}

/// The output of a command or a server, with screenshots of the browser.
pub(super) fn output(said: &PanelMessage<'_>, out: &mut Batch) -> (Body, Vec<Image>) {
    if said.kind == "browser_action_result" && said.payload.is_object() {
        let lines = ["currentUrl", "logs"].map(|name| said.payload.get(name).str_or_empty());
        let images = said
            .payload
            .get("screenshot")
            .filled()
            .map(|data| inline::image(data, Text::default(), true, out));
        return (out.output(&lines.join("\n")), images.into_iter().collect());
    }
    (out.output(said.text), Vec::new())
}

/// A checkpoint of the files.
pub(super) fn checkpoint(said: &PanelMessage<'_>, out: &mut Batch) -> BlockKind {
    raw(
        "checkpoint",
        said.json
            .get("lastCheckpointHash")
            .filled()
            .unwrap_or(said.text),
        out,
    )
}

/// The separator of a message.
fn line(kind: &str, text: &str, payload: &Json<'_>, json: &Json<'_>) -> Option<Break> {
    let short = |text: &str| Text::stub(text, 200);
    Some(match kind {
        "error"
        | "diff_error"
        | "api_req_failed"
        | "mistake_limit_reached"
        | "clineignore_error"
        | "rooignore_error"
        | "shell_integration_warning"
        | "command_permission_denied"
        | "condense_context_error" => {
            Break::Error(short(payload.get("message").filled().unwrap_or(text)))
        }
        "error_retry" => Break::error(&retry(payload)),
        "resume_task" => Break::Resumed(short("the task was interrupted and opened again")),
        "resume_completed_task" => Break::Resumed(short("the task was done and opened again")),
        "condense_context" => {
            let condensed = json.get("contextCondense");
            compacted(
                condensed.get("prevContextTokens"),
                condensed.get("newContextTokens"),
                "",
            )
        }
        "compaction" => match payload.get("status").str_or_empty() {
            "completed" => compacted(
                payload.get("tokensBefore"),
                payload.get("tokensAfter"),
                payload.get("mode").str_or_empty(),
            ),
            status => Break::setting(&format!("compaction {status}")),
        },
        _ => return None,
    })
}

fn compacted(before: &Json<'_>, after: &Json<'_>, trigger: &str) -> Break {
    let (before, after, trigger) = (before.count(), after.count(), Text::clean(trigger));
    Break::Compaction {
        before,
        after,
        trigger,
        partial: false,
        took: None,
    }
}

/// The text for a failed attempt of a request.
pub(super) fn retry(payload: &Json<'_>) -> String {
    let [attempt, of] =
        ["attempt", "maxAttempts"].map(|name| payload.get(name).count().unwrap_or(0));
    let end = if payload.get("failed").is_true() {
        "gave up"
    } else {
        "failed"
    };
    format!("request {end}, try {attempt} of {of}")
}

fn other(kind: &str, json: &Json<'_>, out: &mut Batch) -> BlockKind {
    unknown::block(name_of(kind, json), json, out)
}

/// The kind of a message with its class.
pub(in crate::formats::cline) fn name_of<'k>(kind: &'k str, json: &Json<'_>) -> NamedKind<'k> {
    NamedKind(class_of(json), kind)
}

fn class_of(json: &Json<'_>) -> &'static str {
    if json.kind() == "ask" { "ask" } else { "say" }
}

/// Whether the blocks are those of a message of an unknown kind.
pub(super) fn is_unknown(said: &PanelMessage<'_>, blocks: &[BlockKind], out: &Batch) -> bool {
    let is_aside = matches!(blocks, [BlockKind::Aside(..)]);
    is_aside && name_of(said.kind, said.json).rule(out).is_none()
}

/// Whether a kind has no code.
pub(in crate::formats::cline) fn is_unread(kind: &str, json: &Json<'_>) -> bool {
    let empty = PanelMessage {
        kind,
        text: "",
        payload: &Json::Null,
        json,
        key: &Key::default(),
    };
    matches!(
        decoded(&empty, &mut Batch::default()).as_slice(),
        [BlockKind::Aside(..)]
    )
}

/// Whether a message may not be in the API history beside the panel: its kind is unknown, or is a
/// note of the kinds list.
pub(in crate::formats::cline) fn is_panel_only(kind: &str, json: &Json<'_>, out: &Batch) -> bool {
    match name_of(kind, json).rule(out) {
        None => true,
        Some(known @ KindRule::Note(_)) => known.text(class_of(json), json).is_some(),
        Some(_) => false,
    }
}

/// The task list of the agent.
fn plan(text: &str, key: &Key, out: &mut Batch) -> Vec<BlockKind> {
    let Some(todos) = call::checklist(text) else {
        return vec![raw("task progress", text, out)];
    };
    let input = Json::Object(vec![("todos".into(), todos)]);
    let asked = RecordedCall {
        key: key.clone(),
        name: "task_progress",
        input: &input,
        state: ToolState::Pending,
        at: None,
    };
    with_result(call::blocks(asked, out), Verdict::Done, "", out)
}

/// Sub-agents of the extension, which have no files. Each is a call with its task and its answer.
fn agents(payload: &Json<'_>, text: &str, key: &Key, out: &mut Batch) -> Vec<BlockKind> {
    let (items, prompts) = (payload.get("items").items(), payload.get("prompts").items());
    let mut shown = Vec::new();
    for (number, item) in items.iter().chain(prompts).enumerate() {
        let prompt = Json::Object(vec![("prompt".into(), item.clone())]);
        let asked = RecordedCall {
            key: text!("{key}/{number}"),
            name: "subagent",
            input: if item.is_object() { item } else { &prompt },
            state: ToolState::Pending,
            at: None,
        };
        let blocks = call::blocks(asked, out);
        shown.extend(match item.get("status").str() {
            Some("completed") => with_result(
                blocks,
                Verdict::Done,
                item.get("result").str_or_empty(),
                out,
            ),
            Some("failed") => with_result(
                blocks,
                Verdict::Failed,
                item.get("error").str_or_empty(),
                out,
            ),
            _ => blocks,
        });
    }
    if shown.is_empty() {
        vec![raw("sub-agents", text, out)]
    } else {
        shown
    }
}

fn with_result(
    mut blocks: Vec<BlockKind>,
    verdict: Verdict,
    text: &str,
    out: &mut Batch,
) -> Vec<BlockKind> {
    if let Some(BlockKind::Call(call)) = blocks.last_mut() {
        let key = text!("{}:result", call.key);
        call.state = ended(result::plain(key, verdict, out.output(text), None));
    }
    blocks
}

/// A question with its options, the chosen one marked.
fn question(payload: &Json<'_>, text: &str, out: &mut Batch) -> BlockKind {
    let asked = payload
        .first(&["question", "response"], Json::filled)
        .unwrap_or(text);
    let selected = payload.get("selected").filled();
    let options = payload.get("options").items().iter().filter_map(Json::str);
    let mark = |option: &str| {
        if selected == Some(option) {
            format!("- **{option}**")
        } else {
            format!("- {option}")
        }
    };
    let lines: Vec<String> = std::iter::once(asked.to_owned())
        .chain(options.map(mark))
        .collect();
    BlockKind::Text(out.prose(&lines.join("\n")))
}

fn broken_off(payload: &Json<'_>) -> Option<Break> {
    // The message may itself be JSON in a text.
    let why = payload.get("streamingFailedMessage").filled();
    let parsed = why.and_then(|why| json::parse(why).ok());
    let why = parsed
        .as_ref()
        .and_then(|parsed| parsed.get("message").filled())
        .or(why);
    match (payload.get("cancelReason").filled(), why) {
        (Some("user_cancelled"), _) => {
            Some(Break::Interrupted(Text::clean("cancelled by the user")))
        }
        (None, None) => None,
        (reason, why) => {
            let reason = reason.unwrap_or("").replace('_', " ");
            Some(Break::Error(Text::stub(why.unwrap_or(&reason), 200)))
        }
    }
}
