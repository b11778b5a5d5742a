//! Decodes messages with role and content: those of the core, and of the extension's API history.

use std::collections::HashMap;

use super::call::{self, RecordedCall};
use super::content::{self, DecodedContent, MessageContext};
use super::history::TextResults;
use super::lanes::FileLanes;
use super::manifest::CostCheck;
use super::metrics;
use super::result;
use crate::formats::attached::block_type;
use crate::formats::json::Json;
use crate::formats::unknown::{self, NamedKind};
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{Block, BlockKind, Break, Piece, Role, Stop};
use crate::model::record::FileId;
use crate::model::tally::Fate;
use crate::model::text::{Name, Text, text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::identifies;
use crate::model::tool::{ToolState, Verdict, ended};
use crate::model::usage::Usage;

/// Prefixes of the kinds of messages that Cline writes in the user's role.
const INJECTED: [&str; 3] = ["compaction", "recovery_notice", "stop_notice"];

/// Known roles of messages; any other is shown as unknown.
const ROLES: [&str; 4] = ["user", "assistant", "error", ""];

/// All messages of a session, from all its files.
#[derive(Default)]
pub(super) struct MessageFiles {
    /// The lanes of the files beside the opened one.
    pub(super) lanes: FileLanes,
    /// The cost of the lead agent.
    pub(super) bill: CostCheck,
    /// The messages of the opened file in order.
    pub(super) history: Vec<KnownMessage>,
    results: TextResults,
    numbers: HashMap<FileId, usize>,
    /// The first file of each message id, with a hash to distinguish other messages with the same
    /// id.
    seen: HashMap<Key, (FileId, CopyHash)>,
    has_prompt: bool,
    mode: Option<Text>,
}

/// A message of the opened file, to which others refer by position or time.
pub(super) struct KnownMessage {
    pub(super) key: Key,
    pub(super) is_answer: bool,
    pub(super) at: Option<Timestamp>,
    pub(super) usage: Option<Usage>,
    model: Option<Name>,
    /// Whether its usage has been emitted. An answer of the extension first waits for the usage in
    /// the panel.
    pub(super) is_billed: bool,
}

/// Equal for copies of a message: the size of its content and its time.
type CopyHash = (usize, Option<i64>);

/// The message is a copy of one in another file.
pub(super) struct MessageCopy;

impl MessageFiles {
    /// Resets a file that may have been read before.
    pub(super) fn restart(&mut self, file: FileId) {
        self.numbers.remove(&file);
        if self.lanes.of(file).is_none() {
            self.bill.restart();
            self.history.clear();
        }
    }

    /// Decodes a message, unless it is a copy of one in another file. Forks copy the history.
    pub(super) fn decode(&mut self, json: &Json<'_>, out: &mut Batch) -> Result<Fate, MessageCopy> {
        let file = out.origin().file;
        let lane = self.lanes.of(file);
        let number = self.numbers.entry(file).or_default();
        let index = std::mem::replace(number, *number + 1);
        let key = self.key(json, index, lane.as_ref(), file)?;
        let role = json.get("role").str_or_empty();
        if !ROLES.contains(&role) {
            return Ok(self.unknown(role, json, (key, lane), out));
        }
        let metadata = json.get("metadata");
        let kind = metadata.get("kind").str_or_empty();
        let frame = MessageContext {
            key: &key,
            at: json.get("ts").moment(),
            is_user: role != "assistant",
            is_injected: INJECTED.iter().any(|injected| kind.starts_with(injected)),
        };
        let is_legacy = !json.has("id") && kind.is_empty();
        let mut content = match (is_legacy, frame.is_user) {
            (false, _) => content::content(json, &frame, out),
            (true, true) => self.results.prompt(json, &frame, out),
            (true, false) => self.results.answer(json, &frame, out),
        };
        if !frame.is_user {
            let activities = model_tools(metadata.get("modelToolActivities"), &frame, out);
            content.kinds.splice(0..0, activities);
        }
        let mark = mark_of(json, kind).or_else(|| self.mode_line(&content, lane.as_ref()));
        content.kinds.splice(0..0, mark.map(BlockKind::Break));
        let metrics = json.get("metrics");
        let usage = if frame.is_user {
            None
        } else {
            metrics::usage(metrics, out)
        };
        let model = json.get("modelInfo");
        let model = model.first(&["id", "modelId"], Json::text);
        self.record_facts(json, &frame, &content, lane.as_ref(), out);
        let waits = is_legacy && lane.is_none();
        if lane.is_none() {
            self.bill.add(usage.as_ref().and_then(|usage| usage.cost));
            self.history.push(KnownMessage {
                key: key.clone(),
                is_answer: !frame.is_user,
                at: frame.at,
                usage: usage.clone(),
                model: model.clone(),
                is_billed: !waits,
            });
        }
        let usage = usage.filter(|_| !waits);
        Ok(emit(
            json,
            &frame,
            AnswerFacts { model, usage },
            content,
            lane,
            out,
        ))
    }

    /// Emits a message of an unknown role. It is added to the history, as the panel counts it, too.
    fn unknown(
        &mut self,
        role: &str,
        json: &Json<'_>,
        of: (Key, Option<Name>),
        out: &mut Batch,
    ) -> Fate {
        let (key, lane) = of;
        let at = json.get("ts").moment();
        if lane.is_none() {
            let (key, is_answer, is_billed) = (key.clone(), false, true);
            self.history.push(KnownMessage {
                key,
                is_answer,
                at,
                usage: None,
                model: None,
                is_billed,
            });
        }
        let mut entry = out.new_entry(key, Role::Harness, at);
        entry.lane = lane;
        unknown::record(NamedKind("role", role), json, entry, out)
    }

    /// The key of a message: its id, or else its position in the file.
    fn key(
        &mut self,
        json: &Json<'_>,
        index: usize,
        lane: Option<&Name>,
        file: FileId,
    ) -> Result<Key, MessageCopy> {
        let Some(id) = json.get("id").str().filter(|id| identifies(id)) else {
            return Ok(text!("#{index}@{}", lane.map_or("", |lane| lane.as_str())));
        };
        let key = Text::clean(id);
        let mark = (json.get("content").weight(), json.get("ts").int());
        let (first, known) = self.seen.entry(key.clone()).or_insert((file, mark));
        if *first == file {
            return Ok(key);
        }
        if *known == mark {
            return Err(MessageCopy);
        }
        // The messages differ and have the same id by chance.
        Ok(text!("{}:{id}", lane.map_or("", |lane| lane.as_str())))
    }

    /// The separator for a change of mode by the user; `None` if the mode is the same.
    fn mode_line(&mut self, content: &DecodedContent, lane: Option<&Name>) -> Option<Break> {
        let mode = content.mode.as_ref().filter(|_| lane.is_none())?;
        let before = self.mode.replace(mode.clone());
        let is_news = before.map_or(mode.as_str() != "act", |before| before != *mode);
        is_news.then(|| Break::setting(&format!("{} mode", mode.as_str())))
    }

    /// Records the facts that other files and the end of the reading need.
    fn record_facts(
        &mut self,
        json: &Json<'_>,
        frame: &MessageContext<'_>,
        content: &DecodedContent,
        lane: Option<&Name>,
        out: &mut Batch,
    ) {
        let file = out.origin().file;
        if let Some(words) = content.first_words.as_ref().filter(|_| frame.is_user) {
            let mut texts = json
                .get("content")
                .blocks()
                .iter()
                .filter(|block| block_type(block) == "text");
            let first = texts.find_map(|block| block.str().or(block.get("text").filled()));
            self.lanes.first_prompt(file, first.unwrap_or(""), frame.at);
            if lane.is_none() && !std::mem::replace(&mut self.has_prompt, true) {
                out.title(0, words.clone());
            }
        }
        for block in json.get("content").blocks() {
            match block.get("type").str() {
                Some("tool_use") => self.lanes.call(block, lane, frame.at),
                Some("tool_result") => {
                    self.lanes.result(&block.get("tool_use_id").clean(), block);
                }
                _ => {}
            }
        }
        self.lanes.add_links(json);
    }

    /// Sets the history to the messages of a file beside the panel, for their usage only.
    pub(super) fn read_usage(&mut self, messages: &[Json<'_>], out: &mut Batch) {
        let mut known = |(index, json): (usize, &Json<'_>)| {
            let is_answer = json.get("role").is("assistant");
            let metrics = Some(json.get("metrics")).filter(|_| is_answer);
            KnownMessage {
                key: text!("history:{index}"),
                is_answer,
                at: json.get("ts").moment(),
                usage: metrics.and_then(|metrics| metrics::usage(metrics, out)),
                model: json.get("modelInfo").first(&["id", "modelId"], Json::text),
                is_billed: false,
            }
        };
        self.history = messages.iter().enumerate().map(&mut known).collect();
    }

    /// Emits the usage of answers for which the panel had none, at the end of the reading.
    pub(super) fn emit_unbilled(&mut self, out: &mut Batch) {
        for message in self.history.iter_mut().filter(|message| !message.is_billed) {
            message.is_billed = true;
            if let Some(usage) = message.usage.clone() {
                let (of, model) = (message.key.clone(), message.model.clone());
                out.usage(of, usage, model);
            }
        }
    }
}

/// The separator before the content of a message; `None` for most messages.
fn mark_of(json: &Json<'_>, kind: &str) -> Option<Break> {
    if kind.starts_with("compaction") {
        return Some(content::compaction(json.get("metadata")));
    }
    if json.get("isSummary").is_true() {
        return Some(Break::setting("summary of what came before"));
    }
    let is_notice = matches!(kind, "recovery_notice" | "stop_notice");
    let reason = || json.at("metadata.reason").str_or_empty().replace('_', " ");
    is_notice.then(|| Break::error(&format!("{} {}", kind.replace('_', " "), reason())))
}

/// The calls of tools that the provider ran, which are recorded outside of the content.
fn model_tools(
    activities: &Json<'_>,
    frame: &MessageContext<'_>,
    out: &mut Batch,
) -> Vec<BlockKind> {
    let mut shown = Vec::new();
    for activity in activities.items() {
        let key = activity.get("toolCallId").clean();
        let failed = activity.get("isError").is_true();
        let asked = RecordedCall {
            key: key.clone(),
            name: activity.get("toolName").str_or_empty(),
            input: activity.get("input"),
            state: ToolState::Pending,
            at: frame.at,
        };
        let mut blocks = call::blocks(asked, out);
        if let Some(BlockKind::Call(call)) = blocks.last_mut()
            && (activity.has("output") || failed)
        {
            let verdict = if failed {
                Verdict::Failed
            } else {
                Verdict::Done
            };
            let text = result::text(activity.get("output"));
            let key = text!("{key}:output");
            call.state = ended(result::plain(key, verdict, out.output(&text), None));
        }
        shown.extend(blocks);
    }
    shown
}

struct AnswerFacts {
    model: Option<Name>,
    usage: Option<Usage>,
}

fn is_call(kind: &BlockKind) -> bool {
    matches!(kind, BlockKind::Call(_))
}

fn emit(
    json: &Json<'_>,
    frame: &MessageContext<'_>,
    answer: AnswerFacts,
    content: DecodedContent,
    lane: Option<Name>,
    out: &mut Batch,
) -> Fate {
    let role = match (frame.is_user, content.is_own) {
        (false, _) => Role::Assistant,
        (true, true) if !json.get("role").is("error") => Role::User,
        (true, _) => Role::Harness,
    };
    let shows = role == Role::Assistant || !content.kinds.is_empty();
    let has_notices = !content.notices.is_empty();
    let piece = Piece::default();
    let block = |kind| Block::new(piece, kind);
    if shows {
        let mut entry = out.new_entry(frame.key.clone(), role, frame.at);
        entry.lane.clone_from(&lane);
        entry.marks.prompt = role == Role::User
            && content
                .kinds
                .iter()
                .any(|kind| !matches!(kind, BlockKind::Aside(..)));
        if role == Role::Assistant {
            entry.model = answer.model;
            entry.usage = answer.usage.map(Box::new);
            // Only the last answer of a turn has metrics.
            if json.get("metrics").is_object() && !content.kinds.iter().any(is_call) {
                entry.stop = Stop::Done;
            }
        }
        entry.blocks = content.kinds.into_iter().map(block).collect();
        out.entry(entry);
    }
    if has_notices {
        let key = if shows {
            text!("{}:notices", frame.key)
        } else {
            frame.key.clone()
        };
        let mut entry = out.new_entry(key, Role::Harness, frame.at);
        entry.lane.clone_from(&lane);
        entry.marks.quiet = true;
        entry.blocks = content.notices.into_iter().map(block).collect();
        out.entry(entry);
    }
    let has_results = !content.results.is_empty();
    for (call, result) in content.results {
        out.result(call, result, lane.clone());
    }
    match (shows || has_notices, has_results) {
        (true, _) => Fate::Shown,
        (false, true) => Fate::Merged,
        (false, false) => Fate::Passed("message without content"),
    }
}
