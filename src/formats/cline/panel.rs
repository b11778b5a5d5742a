//! `ui_messages.json` of the extension: the messages of its panel, `ask` and `say`.
//!
//! The result of a tool is in the text of the next request, beside the usage of that request.
//! Messages that only continue an earlier one are added to its entry.

pub(super) mod block;
pub(super) mod request;

use std::collections::HashMap;

use super::content::raw;
use super::metrics;
use super::result;
use crate::formats::inline;
use crate::formats::json::{self, Json};
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{Block, BlockKind, Break, Entry, Piece, Role};
use crate::model::tally::Fate;
use crate::model::text::{Text, text};
use crate::model::tool::{ToolState, Verdict};
use crate::model::usage::Scope;
use block::PanelMessage;
use request::PanelRequest;

/// The piece of the line below a call that waits for permission.
const PERMISSION: Piece = Piece(u64::MAX);

/// The state of the panel.
#[derive(Default)]
pub(super) struct Panel {
    has_task: bool,
    /// How many messages had each time and kind, as part of their keys, and whether the last one
    /// was partial.
    seen: HashMap<String, (u32, bool)>,
    /// Calls whose results are in the next request, and whether each already has one.
    open: Vec<(Key, bool)>,
    /// The command or server request that gets the next output, and whether it has one.
    running: Option<(Key, bool)>,
    request: Option<Entry>,
    /// The entry of the last answer that ended the task.
    completion: Option<Entry>,
    /// The entry of the last failed request, with the error's text.
    failure: Option<(Entry, String)>,
    /// The last call, if it is partial.
    partial: Option<Key>,
    /// The last message, if it waits for permission.
    asking: Option<Key>,
    /// The range of messages that are no longer sent to the model.
    deleted: Option<String>,
    plan: Option<String>,
    /// All requests in order, which the history beside the panel completes.
    pub(super) requests: Vec<PanelRequest>,
}

/// Whether a value is a message of the panel.
pub(super) fn is_message(json: &Json<'_>) -> bool {
    matches!(json.get("type").str(), Some("ask" | "say"))
        && json.has("ts")
        && (json.has("ask") || json.has("say"))
}

/// The kind of a message: its `say` or `ask`.
pub(super) fn kind_of<'j>(json: &'j Json<'_>) -> &'j str {
    json.first(&["say", "ask"], Json::filled).unwrap_or("")
}

impl Panel {
    pub(super) fn decode(&mut self, json: &Json<'_>, out: &mut Batch) -> Fate {
        let kind = kind_of(json);
        let text = json.get("text").str_or_empty();
        let payload = json::read(text).unwrap_or(Json::Null);
        let (key, is_known) = self.key(json, kind);
        let said = PanelMessage {
            kind,
            text,
            payload: &payload,
            json,
            key: &key,
        };
        if let Some(fate) = self.decode_continuation(&said, out) {
            self.close_permission(out);
            return fate;
        }
        let blocks = block::blocks(&said, out);
        let is_unknown = block::is_unknown(&said, &blocks, out);
        if !is_unknown {
            self.close_permission(out);
            if let Some(call) = self.partial.take().filter(|_| !is_known) {
                out.state(call, ToolState::Lost);
            }
        }
        let is_task = !self.has_task && matches!(kind, "text" | "task");
        self.has_task |= !is_unknown;
        if is_task {
            out.title(0, Text::stub(text, 120));
        }
        let role = if is_task {
            Role::User
        } else {
            block::role_of(kind)
        };
        let mut entry = out.new_entry(key.clone(), role, json.get("ts").moment());
        entry.marks.prompt = role == Role::User;
        entry.marks.quiet = block::is_quiet(kind);
        entry.marks.retried = kind == "error_retry" && !payload.get("failed").is_true();
        entry.marks.open = json.get("partial").is_true() && role == Role::Assistant;
        entry.model = json.at("modelInfo.modelId").text();
        let condensing = json.get("contextCondense");
        let usage =
            request::usage(kind, &payload, out).or_else(|| request::of_condensing(condensing));
        if kind == "api_req_started" {
            let request = PanelRequest::new(json, key.clone(), usage.clone());
            self.requests.pop_if(|last| last.key == key);
            self.requests.push(request);
        }
        entry.usage = usage.map(Box::new);
        let mut shown = self
            .compaction(json)
            .into_iter()
            .map(BlockKind::Break)
            .collect::<Vec<_>>();
        shown.extend(blocks);
        if kind == "api_req_started" {
            shown.extend(self.results(
                request::results(payload.get("request").str_or_empty()),
                &entry,
                out,
            ));
        }
        shown.extend(attachments(json, out));
        let piece = Piece::default();
        entry.blocks = shown
            .into_iter()
            .map(|kind| Block::new(piece, kind))
            .collect();
        entry.mark_by_asides();
        // A command that runs without permission is a `say`.
        let asks = json.kind() == "ask" && !entry.marks.open;
        let about = entry
            .calls()
            .find(|call| asks && call.state.is_open())
            .map(|call| call.headline.clone());
        if let Some(about) = about {
            let what = Break::Waiting(text!("permission: {about}"));
            entry.push_piece(PERMISSION, what);
            self.asking = Some(key);
        }
        if kind == "task_progress" {
            self.plan = Some(text.to_owned());
        }
        self.remember(kind, &entry);
        out.entry(entry);
        if is_known { Fate::Merged } else { Fate::Shown }
    }

    /// Closes the last permission request, since another message follows it.
    fn close_permission(&mut self, out: &mut Batch) {
        if let Some(of) = self.asking.take() {
            out.retire_piece(of, PERMISSION);
        }
    }

    /// The key of a message, and whether it repeats a partial one. A message keeps its time while
    /// it grows, and one that was partial when the task was interrupted may be written again.
    fn key(&mut self, json: &Json<'_>, kind: &str) -> (Key, bool) {
        let name = format!("{}:{kind}", json.get("ts").int().unwrap_or(0));
        let (times, is_partial) = self.seen.entry(name.clone()).or_default();
        let is_known = std::mem::replace(is_partial, json.get("partial").is_true());
        *times += u32::from(!is_known);
        (
            Text::clean(&if *times == 1 {
                name
            } else {
                format!("{name}#{times}")
            }),
            is_known,
        )
    }

    /// Decodes a message that continues an earlier one; `None` if it does not.
    fn decode_continuation(&mut self, said: &PanelMessage<'_>, out: &mut Batch) -> Option<Fate> {
        let PanelMessage {
            kind,
            text,
            payload,
            json,
            key,
        } = *said;
        let is_blank = text.trim().is_empty();
        match kind {
            "completion_result" if is_blank => {
                let line = Break::Ended(Text::clean("the agent says that the task is done"));
                let mut entry = self.completion.take()?;
                entry.ended = json.get("ts").moment();
                add(&entry, key, BlockKind::Break(line), out);
            }
            "command_output" if is_blank && json.get("ask").str().is_some() => {
                let (call, has_output) = self.running.as_ref()?;
                if !has_output {
                    out.state(call.clone(), ToolState::Running);
                }
            }
            "command_output" | "mcp_server_response" | "browser_action_result" => {
                return self.output(said, out);
            }
            // A blank text is the placeholder of one that was never written: a tool call follows
            // instead.
            "text" if is_blank && json.get("images").items().is_empty() => {
                self.request.as_ref()?;
            }
            "api_req_retried" => {
                let (entry, line) = self.failure.as_ref()?;
                let line = Break::error(&format!("{line}, tried again"));
                let mut entry = entry.clone();
                // The wait until here was automatic, unless the extension gave up and the user
                // continued.
                entry.ended = json.get("ts").moment().filter(|_| entry.marks.retried);
                entry.marks.retried = true;
                add_piece(&entry, Piece::default(), BlockKind::Break(line), out);
            }
            "api_req_finished" => {
                let request = self.request.as_ref()?;
                let usage = metrics::of_request(payload, Scope::Request, out)?;
                let (of, model) = (request.key.clone(), request.model.clone());
                out.usage(of, usage, model);
            }
            "checkpoint_created" | "checkpoint_saved" => {
                let request = self.request.as_ref()?;
                let shown = block::checkpoint(said, out);
                add(request, key, shown, out);
            }
            "task_progress" => {
                return (self.plan.as_deref() == Some(text)).then_some(Fate::Merged);
            }
            _ => return None,
        }
        Some(Fate::Merged)
    }

    /// Adds an output. The first one after a command is its result; further ones become blocks
    /// below it.
    fn output(&mut self, said: &PanelMessage<'_>, out: &mut Batch) -> Option<Fate> {
        let (call, has_output) = self.running.as_mut()?;
        let (body, images) = block::output(said, out);
        if std::mem::replace(has_output, true) {
            let mut entry = out.new_entry(call.clone(), Role::Assistant, None);
            let shown = BlockKind::raw("further output", body);
            entry.push_piece(Piece::of(said.key), shown);
            out.entry(entry);
            return Some(Fate::Merged);
        }
        let at = said.json.get("ts").moment();
        let mut result = result::plain(said.key.clone(), Verdict::Done, body, at);
        result.images = images;
        let call = call.clone();
        for (open, has_result) in &mut self.open {
            *has_result |= *open == call;
        }
        out.result(call, result, None);
        Some(Fate::Merged)
    }

    /// Joins the results in a request with the preceding calls in order. Returns blocks for results
    /// without a call.
    fn results(
        &mut self,
        results: Vec<(&str, String)>,
        request: &Entry,
        out: &mut Batch,
    ) -> Vec<BlockKind> {
        let mut open = std::mem::take(&mut self.open);
        // Results without names are joined only if there is exactly one for each call.
        if results.iter().any(|(title, _)| request::is_unnamed(title))
            && results.len() != open.len()
        {
            open.clear();
        }
        let mut open = open.into_iter();
        let mut rest = Vec::new();
        for (number, (title, text)) in results.into_iter().enumerate() {
            let body = out.output(&text);
            let Some((call, _)) = open.next().filter(|(_, has_result)| !has_result) else {
                rest.push(BlockKind::raw(
                    format!("result of {title}").trim_end_matches(" of "),
                    body,
                ));
                continue;
            };
            let key = text!("{}/{number}", request.key);
            let verdict = match result::verdict(&text) {
                Verdict::Done if title == request::FAILED => Verdict::Failed,
                verdict => verdict,
            };
            let result = result::plain(key, verdict, body, request.at);
            out.result(call, result, None);
        }
        rest
    }

    /// The separator for a new range of messages that the extension omits from its requests because
    /// the context is full.
    fn compaction(&mut self, json: &Json<'_>) -> Option<Break> {
        let range = json.get("conversationHistoryDeletedRange");
        let [from, to] = range.items() else {
            return None;
        };
        let words = format!("messages {} to {} left out", from.count()?, to.count()?);
        let is_news = self.deleted.as_ref() != Some(&words);
        let compaction = Break::compaction(&words);
        self.deleted = Some(words);
        is_news.then_some(compaction)
    }

    /// Records the entry and call that later messages may continue.
    fn remember(&mut self, kind: &str, entry: &Entry) {
        let call = entry.blocks.iter().find_map(|block| match &block.kind {
            BlockKind::Call(call) if call.state.is_open() => Some(call.key.clone()),
            _ => None,
        });
        // The entry without blocks and usage, to which later parts are added.
        let head = || Entry {
            blocks: Vec::new(),
            usage: None,
            ..entry.clone()
        };
        match kind {
            "api_req_started" => {
                (self.request, self.failure, self.running) = (Some(head()), None, None);
            }
            "completion_result" => self.completion = Some(head()),
            "error_retry" | "api_req_failed" => {
                let line = entry.blocks.iter().find_map(|block| match &block.kind {
                    BlockKind::Break(line) => Some(line.words().to_string()),
                    _ => None,
                });
                self.failure = Some((head(), line.unwrap_or_default()));
            }
            _ => {}
        }
        let Some(call) = call else { return };
        if entry.marks.open {
            self.partial = Some(call);
        } else {
            if matches!(
                kind,
                "command" | "use_mcp_server" | "browser_action" | "browser_action_launch"
            ) {
                self.running = Some((call.clone(), false));
            }
            self.open.push((call, false));
        }
    }
}

/// Adds a block to an entry, with a piece for the message `key`.
fn add(entry: &Entry, key: &Key, shown: BlockKind, out: &mut Batch) {
    add_piece(entry, Piece::of(key), shown, out);
}

fn add_piece(entry: &Entry, piece: Piece, shown: BlockKind, out: &mut Batch) {
    let mut part = entry.clone();
    part.blocks = vec![Block::new(piece, shown)];
    out.entry(part);
}

fn attachments(json: &Json<'_>, out: &mut Batch) -> Vec<BlockKind> {
    let images = json.get("images").items().iter().filter_map(Json::str);
    let mut shown: Vec<BlockKind> = images
        .map(|data| BlockKind::Image(inline::image(data, Text::default(), true, out)))
        .collect();
    let files = json.get("files").items().iter().filter_map(Json::str);
    shown.extend(files.map(|file| raw(&format!("file {file}"), "", out)));
    shown
}
