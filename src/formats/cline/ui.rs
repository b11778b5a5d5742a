//! `ui_messages.json` of the VS Code extension: what its panel showed, as `ask` and `say` messages.
//! Usage is in the texts of its requests; results of most tools are not in this file at all.

use std::collections::{HashMap, VecDeque};

use super::{metrics, raw, raw_tree};
use crate::formats::json::{self, Json};
use crate::formats::tools;
use crate::model::body::{Image, Key};
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{BlockKind, Break, Entry, Piece, Raw, Role};
use crate::model::tally::Fate;
use crate::model::text::Text;
use crate::model::tool::{ToolCall, ToolKind, ToolResult, ToolState, Verdict};
use crate::model::usage::Scope;

/// What the panel shows so far.
#[derive(Default)]
pub(super) struct Screen {
    has_task: bool,
    /// How often a time and kind came, to tell twins apart.
    seen: HashMap<String, u32>,
    /// Commands and requests to servers that wait for output.
    open: VecDeque<Key>,
}

/// Whether a value is a message of the panel.
pub(super) fn is_message(json: &Json<'_>) -> bool {
    matches!(json.get("type").str(), Some("ask" | "say"))
        && json.has("ts")
        && (json.has("ask") || json.has("say"))
}

impl Screen {
    /// Decodes one message.
    pub(super) fn decode(&mut self, json: &Json<'_>, out: &mut Batch) -> Fate {
        let kind = json.get("say").filled().or(json.get("ask").filled()).unwrap_or("");
        let text = json.get("text").str_or_empty();
        let told = json::parse(text).unwrap_or(Json::Null);
        let key = self.key(json, kind);
        if let Some(reason) = passed(kind, text) {
            return Fate::Passed(reason);
        }
        let is_task = !std::mem::replace(&mut self.has_task, true) && matches!(kind, "text" | "task");
        if is_task {
            out.meta(MetaEdit::Title { rank: 0, title: Text::stub(text, 120) });
        }
        let role = if is_task || matches!(kind, "user_feedback" | "user_feedback_diff") {
            Role::User
        } else {
            role_of(kind)
        };
        let mut entry = out.new_entry(key.clone(), role, json.get("ts").moment());
        entry.marks.prompt = role == Role::User;
        entry.marks.open = json.get("partial").is_true() && role == Role::Assistant && kind == "tool";
        entry.model = json.at(&["modelInfo", "modelId"]).text();
        if is_output(kind) {
            return self.output(kind, text, entry, out);
        }
        let shown = block(kind, text, &told, json, &key, out);
        if let BlockKind::Call(call) = &shown
            && call.state.is_open()
        {
            self.open.push_back(key);
        }
        match kind {
            "api_req_started" => {
                entry.usage = metrics::ui_usage(&told, Scope::Request).map(Box::new);
                entry.marks.quiet = true;
            }
            "deleted_api_reqs" | "subagent_usage" => {
                entry.usage = metrics::ui_usage(&told, Scope::Extra).map(Box::new);
                entry.marks.quiet = true;
            }
            "checkpoint_created" | "task_progress" | "mcp_server_request_started" => entry.marks.quiet = true,
            _ => {}
        }
        let piece = Piece::default();
        entry.blocks.push(Batch::block(piece, shown));
        let stop = broken_off(kind, &told).map(|line| Batch::block(piece, BlockKind::Break(line)));
        entry.blocks.extend(stop);
        let images = json.get("images").items().iter().filter_map(Json::str);
        entry.blocks.extend(images.map(|data| Batch::block(piece, BlockKind::Image(image(data, out)))));
        let files = json.get("files").items().iter().filter_map(Json::str).collect::<Vec<_>>();
        for file in files {
            entry.blocks.push(Batch::block(piece, raw(&format!("file {file}"), "", out)));
        }
        out.entry(entry);
        Fate::Shown
    }

    /// A message is rewritten in its place while it grows; its time stays.
    fn key(&mut self, json: &Json<'_>, kind: &str) -> Key {
        let name = format!("{}:{kind}", json.get("ts").int().unwrap_or(0));
        let times = self.seen.entry(name.clone()).or_default();
        *times += 1;
        Text::clean(&if *times == 1 { name } else { format!("{name}#{times}") })
    }

    /// The first output after a command is its result; further ones are shown by themselves.
    fn output(&mut self, kind: &str, text: &str, mut entry: Entry, out: &mut Batch) -> Fate {
        let body = out.output(text);
        if let Some(call) = self.open.pop_front() {
            self.open.clear();
            let result = ToolResult {
                key: entry.key.clone(),
                verdict: Verdict::Done,
                body,
                patch: None,
                images: Vec::new(),
                facts: Text::default(),
                at: entry.at,
                duration_ms: None,
            };
            out.push(Edit::Result { call, result: Box::new(result), lane: None });
            return Fate::Merged;
        }
        let title =
            Text::clean(if kind == "command_output" { "command output" } else { "answer of the server" });
        let shown = BlockKind::Raw(Raw { title, body });
        entry.blocks.push(Batch::block(Piece::default(), shown));
        out.entry(entry);
        Fate::Shown
    }
}

/// Messages that only ask the panel for a button.
fn passed(kind: &str, text: &str) -> Option<&'static str> {
    let is_blank = text.trim().is_empty();
    match kind {
        "completion_result" if is_blank => Some("asks whether the task is done"),
        "command_output" if is_blank => Some("asks whether to go on while a command runs"),
        "api_req_retried" => Some("marks a request that was tried again"),
        "api_req_finished" => Some("marks the end of a request"),
        _ => None,
    }
}

fn is_output(kind: &str) -> bool {
    matches!(kind, "command_output" | "mcp_server_response")
}

fn role_of(kind: &str) -> Role {
    match kind {
        "text"
        | "reasoning"
        | "completion_result"
        | "tool"
        | "command"
        | "followup"
        | "use_mcp_server"
        | "plan_mode_respond"
        | "browser_action_launch"
        | "browser_action" => Role::Assistant,
        _ => Role::Harness,
    }
}

fn block(kind: &str, text: &str, told: &Json<'_>, json: &Json<'_>, key: &Key, out: &mut Batch) -> BlockKind {
    let line = |what: &str| Text::stub(what, 200);
    match kind {
        "text" | "task" | "completion_result" | "user_feedback" => BlockKind::Text(out.prose(text)),
        "reasoning" => BlockKind::Thinking(out.prose(text)),
        "tool" => tool(told, text, key, json, out),
        "command" => call("execute_command", &command_input(text), key, ToolState::Pending, out),
        "use_mcp_server" => server_tool(told, key, out),
        "api_req_started" => raw("request to the model", told.get("request").str().unwrap_or(text), out),
        "checkpoint_created" => raw("checkpoint", json.get("lastCheckpointHash").str_or_empty(), out),
        "task_progress" => raw("task progress", text, out),
        "followup" | "plan_mode_respond" => question(told, text, out),
        "error"
        | "diff_error"
        | "api_req_failed"
        | "mistake_limit_reached"
        | "clineignore_error"
        | "rooignore_error"
        | "shell_integration_warning" => {
            BlockKind::Break(Break::Error(line(told.get("message").filled().unwrap_or(text))))
        }
        "error_retry" => {
            let [attempt, of] = ["attempt", "maxAttempts"].map(|name| told.get(name).count().unwrap_or(0));
            BlockKind::Break(Break::Error(Text::clean(&format!("request failed, try {attempt} of {of}"))))
        }
        "resume_task" | "resume_completed_task" => BlockKind::Break(Break::Resumed(line(kind))),
        "condense_context" => {
            let condensed = json.get("contextCondense");
            BlockKind::Break(Break::Compaction {
                before: condensed.get("prevContextTokens").count(),
                after: condensed.get("newContextTokens").count(),
                trigger: Text::default(),
                partial: false,
            })
        }
        _ if text.is_empty() => raw_tree(kind, json, out),
        _ => raw(kind, text, out),
    }
}

/// The panel shows a tool when it ran or was allowed; what it gave back is in the API history.
fn tool(told: &Json<'_>, text: &str, key: &Key, json: &Json<'_>, out: &mut Batch) -> BlockKind {
    let Some(name) = told.get("tool").filled() else { return raw("tool", text, out) };
    let mut block = call(name, told, key, ToolState::Pending, out);
    if let BlockKind::Call(call) = &mut block {
        call.started = json.get("ts").moment();
        call.state = ToolState::Done(Box::new(ToolResult {
            key: key.clone(),
            verdict: Verdict::Done,
            body: out.output(""),
            patch: told.get("diff").filled().map(|diff| out.prose(diff)),
            images: Vec::new(),
            facts: Text::clean("result not in this file"),
            at: None,
            duration_ms: None,
        }));
    }
    block
}

fn server_tool(told: &Json<'_>, key: &Key, out: &mut Batch) -> BlockKind {
    let name = format!("{}.{}", told.get("serverName").str_or_empty(), told.get("toolName").str_or_empty());
    let arguments = told.get("arguments").str().and_then(|text| json::parse(text).ok());
    call(&name, arguments.as_ref().unwrap_or(told), key, ToolState::Pending, out)
}

fn command_input(text: &str) -> Json<'_> {
    Json::Object(vec![("command".into(), Json::Str(text.into()))])
}

fn call(name: &str, input: &Json<'_>, key: &Key, state: ToolState, out: &mut Batch) -> BlockKind {
    let kind = match name {
        "newFileCreated" => ToolKind::Write,
        "editedExistingFile" | "appliedDiff" | "fileDeleted" => ToolKind::Edit,
        "listFilesTopLevel" | "listFilesRecursive" => ToolKind::Search,
        other => tools::kind_of(other),
    };
    let headline = tools::headline(kind, input);
    let body = out.tree(&headline, input.weight(), || input.to_tree());
    let name = Text::clean(name);
    let (started, lane) = (None, None);
    BlockKind::Call(Box::new(ToolCall {
        key: key.clone(),
        name,
        kind,
        headline,
        input: body,
        state,
        started,
        lane,
    }))
}

/// A question with the answers that it offers.
fn question(told: &Json<'_>, text: &str, out: &mut Batch) -> BlockKind {
    let asked = told.get("question").filled().or(told.get("response").filled()).unwrap_or(text);
    let options = told.get("options").items().iter().filter_map(Json::str);
    let lines: Vec<String> =
        std::iter::once(asked.to_owned()).chain(options.map(|option| format!("- {option}"))).collect();
    BlockKind::Text(out.prose(&lines.join("\n")))
}

fn broken_off(kind: &str, told: &Json<'_>) -> Option<Break> {
    if kind != "api_req_started" {
        return None;
    }
    let why = told.get("streamingFailedMessage").filled();
    match (told.get("cancelReason").filled(), why) {
        (Some("user_cancelled"), _) => Some(Break::Interrupted(Text::clean("cancelled by the user"))),
        (None, None) => None,
        (reason, why) => Some(Break::Error(Text::stub(why.or(reason).unwrap_or(""), 200))),
    }
}

fn image(data: &str, out: &Batch) -> Image {
    let (head, data) = data.split_once(',').unwrap_or(("", data));
    let mime = head.strip_prefix("data:").and_then(|rest| rest.split(';').next()).unwrap_or("");
    let bytes = Some(data.trim_end_matches('=').len() as u64 * 3 / 4);
    Image { mime: Text::clean(mime), bytes, source: None, origin: out.origin() }
}
