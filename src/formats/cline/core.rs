//! Messages of role and content: those of the core, and the API history of the older extension, whose
//! messages have no ids and often carry calls and results as plain text.

use super::{ClineDecoder, metrics, raw, raw_tree, result};
use crate::formats::json::{self, Json};
use crate::formats::tools;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{BlockKind, Break, Piece, Raw, Role};
use crate::model::moment::Moment;
use crate::model::pairing::identifies;
use crate::model::tally::Fate;
use crate::model::text::{Name, Text};
use crate::model::tool::{ToolCall, ToolResult, ToolState, Verdict};

/// How texts begin that Cline puts into the user's messages.
const NOTICES: [(&str, &str); 4] = [
    ("<SYSTEM_NOTICE>", "system notice"),
    ("<environment_details>", "environment details"),
    ("[ERROR]", "error notice"),
    ("[TASK RESUMPTION]", "task resumption"),
];

/// Tags around what the user said, in the older extension.
const SAID: [&str; 4] = ["task", "user_message", "feedback", "answer"];

/// What the blocks of a message came to.
#[derive(Default)]
struct Content {
    kinds: Vec<BlockKind>,
    results: Vec<(Key, ToolResult)>,
    /// Whether its author said something in it, and the first of that.
    is_own: bool,
    first_words: Option<Text>,
    /// Whether there is more than notices.
    is_telling: bool,
}

/// Where the message stands that is being decoded.
struct Frame<'m> {
    key: &'m Key,
    at: Option<Moment>,
    is_user: bool,
    is_legacy: bool,
    is_summary: bool,
}

/// Whether a message of an API history has texts as Cline and its kin wrap them.
pub(super) fn has_legacy_marks(message: &Json<'_>) -> bool {
    message.get("content").blocks().iter().any(|block| {
        let text = block.get("text").str().or(block.str()).unwrap_or("").trim_start();
        text.starts_with("<environment_details>")
            || text.starts_with("<task>")
            || result_title(text).is_some()
    })
}

impl ClineDecoder {
    /// Decodes a message. `index` is its number if it does not come as a record of its own.
    pub(super) fn message(&mut self, json: &Json<'_>, index: Option<usize>, out: &mut Batch) -> Fate {
        let id = json.get("id").str().filter(|id| identifies(id));
        let key = match (id, index) {
            (Some(id), _) => Text::clean(id),
            (None, None) => out.origin_key(),
            (None, Some(index)) => Text::clean(&format!("{}#{index}", out.origin_key())),
        };
        let metadata = json.get("metadata");
        let compaction = metadata.get("kind").str().filter(|kind| kind.starts_with("compaction"));
        let frame = Frame {
            key: &key,
            at: json.get("ts").moment(),
            is_user: json.get("role").str() != Some("assistant"),
            is_legacy: !json.has("id"),
            is_summary: compaction == Some("compaction_summary"),
        };
        let mut content = if frame.is_legacy && frame.is_user {
            self.legacy_content(json, &frame, out)
        } else {
            content(json, &frame, out)
        };
        if !frame.is_user && frame.is_legacy {
            self.expect_text_results(&content);
        }
        if compaction.is_some() {
            content.kinds.insert(0, BlockKind::Break(compaction_line(metadata)));
            content.is_telling = true;
        }
        if json.get("isSummary").is_true() {
            content
                .kinds
                .insert(0, BlockKind::Break(Break::Setting(Text::clean("summary of what came before"))));
        }
        let lane = self.lane(out);
        if let (true, Some(words)) = (frame.is_user, &content.first_words) {
            self.first_prompt(words, out);
        }
        emit(json, &frame, content, lane, out)
    }

    /// The extension hands results back as text in the order of the calls.
    fn expect_text_results(&mut self, content: &Content) {
        self.text_results.clear();
        for kind in &content.kinds {
            if let BlockKind::Call(call) = kind {
                self.text_results.push_back(call.key.clone());
            }
        }
    }

    fn legacy_content(&mut self, json: &Json<'_>, frame: &Frame<'_>, out: &mut Batch) -> Content {
        let mut content = Content::default();
        let mut open: Option<(Text, String)> = None;
        for (index, block) in json.get("content").blocks().iter().enumerate() {
            let text = match block.get("type").str() {
                Some("text") | None => block.str().or(block.get("text").str()),
                Some(_) => None,
            };
            let Some(text) = text else {
                self.text_result(open.take(), frame, &mut content, out);
                any_block(block, index, frame, &mut content, out);
                continue;
            };
            let said = said(text);
            if let Some((title, rest)) = result_title(text) {
                self.text_result(open.take(), frame, &mut content, out);
                open = Some((Text::clean(title), rest.to_owned()));
                if let Some(said) = said {
                    own_text(said, &mut content, out);
                }
            } else if let (Some((_, told)), None, None) = (&mut open, said, notice(text)) {
                told.push('\n');
                told.push_str(text);
            } else {
                self.text_result(open.take(), frame, &mut content, out);
                match said {
                    Some(said) => own_text(said, &mut content, out),
                    None => text_block(text, frame, &mut content, out),
                }
            }
        }
        self.text_result(open.take(), frame, &mut content, out);
        content
    }

    fn text_result(
        &mut self,
        told: Option<(Text, String)>,
        frame: &Frame<'_>,
        content: &mut Content,
        out: &mut Batch,
    ) {
        let Some((title, text)) = told else { return };
        content.is_telling = true;
        let body = out.output(text.trim_start_matches('\n'));
        let Some(call) = self.text_results.pop_front() else {
            let title = Text::clean(&format!("result of {title}"));
            content.kinds.push(BlockKind::Raw(Raw { title, body }));
            return;
        };
        let key = Text::clean(&format!("{}:{}", frame.key, content.results.len()));
        let (images, facts) = (Vec::new(), Text::default());
        let verdict = Verdict::Done;
        let result =
            ToolResult { key, verdict, body, patch: None, images, facts, at: frame.at, duration_ms: None };
        content.results.push((call, result));
    }
}

fn emit(json: &Json<'_>, frame: &Frame<'_>, content: Content, lane: Option<Name>, out: &mut Batch) -> Fate {
    let role = match (frame.is_user, content.is_own) {
        (false, _) => Role::Assistant,
        (true, true) => Role::User,
        (true, false) => Role::Harness,
    };
    let shows = role != Role::Harness || !content.kinds.is_empty();
    if shows {
        let mut entry = out.new_entry(frame.key.clone(), role, frame.at);
        entry.lane.clone_from(&lane);
        entry.marks.prompt = role == Role::User;
        entry.marks.quiet = role == Role::Harness && !content.is_telling;
        if role == Role::Assistant {
            let model = json.get("modelInfo");
            entry.model = model.get("id").text().or_else(|| model.get("modelId").text());
            entry.usage = metrics::usage(json.get("metrics")).map(Box::new);
        }
        let piece = Piece::default();
        entry.blocks = content.kinds.into_iter().map(|kind| Batch::block(piece, kind)).collect();
        out.entry(entry);
    }
    if !shows && content.results.is_empty() {
        return Fate::Passed("message without content");
    }
    for (call, result) in content.results {
        out.push(Edit::Result { call, result: Box::new(result), lane: lane.clone() });
    }
    if shows { Fate::Shown } else { Fate::Merged }
}

fn content(json: &Json<'_>, frame: &Frame<'_>, out: &mut Batch) -> Content {
    let mut content = Content::default();
    for (index, block) in json.get("content").blocks().iter().enumerate() {
        any_block(block, index, frame, &mut content, out);
    }
    content
}

fn any_block(block: &Json<'_>, index: usize, frame: &Frame<'_>, content: &mut Content, out: &mut Batch) {
    let kind = block.get("type").str().unwrap_or(if block.str().is_some() { "text" } else { "" });
    let shown = match kind {
        "text" => {
            let text = block.str().or(block.get("text").str()).unwrap_or("");
            return text_block(text, frame, content, out);
        }
        "tool_result" => {
            let key = Text::clean(&format!("{}:{index}", frame.key));
            let call = Text::clean(block.get("tool_use_id").str_or_empty());
            content.results.push((call, result::decode(block, key, frame.at, out)));
            return;
        }
        "thinking" => BlockKind::Thinking(out.prose(block.get("thinking").str_or_empty())),
        "redacted_thinking" => BlockKind::Thinking(out.prose("")),
        "tool_use" | "server_tool_use" => call(block, frame.at, out),
        "image" | "media" => BlockKind::Image(result::image(block, out)),
        "file" => {
            let title = format!("file {}", block.get("path").str_or_empty());
            raw(&title, block.get("content").str_or_empty(), out)
        }
        other => {
            out.unknown(&format!("content type {other}"));
            raw_tree(&format!("content of type {other}"), block, out)
        }
    };
    content.is_own = true;
    content.is_telling = true;
    content.kinds.push(shown);
}

fn text_block(text: &str, frame: &Frame<'_>, content: &mut Content, out: &mut Batch) {
    if let Some(title) = notice(text).filter(|_| frame.is_user) {
        content.kinds.push(raw(title, text, out));
        return;
    }
    content.is_telling = true;
    if frame.is_summary || (frame.is_legacy && frame.is_user) {
        content.kinds.push(BlockKind::Text(out.prose(text)));
    } else {
        own_text(without_input_tag(text), content, out);
    }
}

fn own_text(text: &str, content: &mut Content, out: &mut Batch) {
    content.is_own = true;
    content.is_telling = true;
    if content.first_words.is_none() && !text.trim().is_empty() {
        content.first_words = Some(Text::stub(text, 120));
    }
    content.kinds.push(BlockKind::Text(out.prose(text)));
}

fn notice(text: &str) -> Option<&'static str> {
    let text = text.trim_start();
    NOTICES.iter().find(|(mark, _)| text.starts_with(mark)).map(|(_, title)| *title)
}

/// The core wraps what the user typed in `<user_input mode="act">`.
fn without_input_tag(text: &str) -> &str {
    let inner = text.trim().strip_prefix("<user_input").and_then(|rest| rest.split_once('>'));
    inner.and_then(|(_, rest)| rest.strip_suffix("</user_input>")).unwrap_or(text)
}

/// What the user said within a text of the older extension.
fn said(text: &str) -> Option<&str> {
    SAID.iter().find_map(|tag| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        Some(rest.split_once(&format!("</{tag}>")).map_or(rest, |(inner, _)| inner).trim())
    })
}

/// `[read_file for 'a.rs'] Result:` and what follows.
fn result_title(text: &str) -> Option<(&str, &str)> {
    let (title, rest) = text.strip_prefix('[')?.split_once("] Result:")?;
    let name = title.split(' ').next().unwrap_or("");
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some((title, rest))
}

fn call(block: &Json<'_>, at: Option<Moment>, out: &mut Batch) -> BlockKind {
    let name = block.get("name").str_or_empty();
    let kind = tools::kind_of(name);
    let parsed = block.get("input").str().and_then(|text| json::parse(text).ok());
    let input = parsed.as_ref().filter(|value| value.is_object()).unwrap_or(block.get("input"));
    let headline = tools::headline(kind, input);
    let body = out.tree(&headline, input.weight(), || input.to_tree());
    BlockKind::Call(Box::new(ToolCall {
        key: Text::clean(block.get("id").str_or_empty()),
        name: Text::clean(name),
        kind,
        headline,
        input: body,
        state: ToolState::Pending,
        started: at,
        lane: None,
    }))
}

fn compaction_line(metadata: &Json<'_>) -> Break {
    Break::Compaction {
        before: metadata.get("tokensBefore").count(),
        after: metadata.get("tokensAfter").count(),
        trigger: Text::clean(metadata.get("reason").str_or_empty()),
        partial: false,
    }
}
