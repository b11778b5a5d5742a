//! Decodes the messages of a sample.

use std::borrow::Cow;

use super::references::{EvalSample, EventFacts, usage_of};
use crate::formats::inline::image;
use crate::formats::json::Json;
use crate::formats::tools;
use crate::formats::unknown::{self, NamedKind};
use crate::model::edit::Batch;
use crate::model::entry::{Block, BlockKind, Piece, Role};
use crate::model::text::{Text, text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolResult, Verdict};

pub(super) fn message(
    json: &Json<'_>,
    number: usize,
    sample: &EvalSample<'_>,
    started: Option<Timestamp>,
    out: &mut Batch,
) {
    let known = json
        .get("id")
        .str()
        .and_then(|id| sample.known.get(&(id, 0)))
        .copied()
        .unwrap_or_default();
    let role = match json.get("role").str_or_empty() {
        "tool" => return result(json, sample, out),
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        other => {
            let key = text!("{}:{number}", sample.place);
            unknown::record(
                NamedKind("role", other),
                json,
                out.new_entry(key, Role::Harness, None),
                out,
            );
            return;
        }
    };
    let key = text!("{}:{number}", sample.place);
    // Only answers have times; the first message existed when the sample began.
    let at = known.began.or_else(|| started.filter(|_| number == 0));
    let mut entry = out.new_entry(key.clone(), role, at);
    entry.marks.prompt = role == Role::User;
    entry.marks.quiet = role == Role::System;
    entry.ended = known.ended;
    entry.model = json.get("model").text().filter(|_| role == Role::Assistant);
    entry.blocks = json
        .get("content")
        .blocks()
        .iter()
        .filter_map(|part| block(part, sample, out))
        .collect();
    for call in json.get("tool_calls").items() {
        let call = decode_call(call, sample, out);
        entry.push(call);
    }
    for (piece, block) in (0..).zip(&mut entry.blocks) {
        block.piece = Piece(piece);
    }
    let model = entry.model.clone();
    out.entry(entry);
    if let Some(usage) = known.usage {
        out.usage(key, usage_of(usage), model);
    }
}

/// Emits the text of the input, for a sample without messages.
pub(super) fn emit_input(
    words: &str,
    sample: &EvalSample<'_>,
    at: Option<Timestamp>,
    out: &mut Batch,
) {
    let mut entry = out.new_entry(text!("{}:input", sample.place), Role::User, at);
    entry.marks.prompt = true;
    let body = out.prose(&sample.attached.text(words));
    entry.push(BlockKind::Text(body));
    out.entry(entry);
}

fn block(part: &Json<'_>, sample: &EvalSample<'_>, out: &mut Batch) -> Option<Block> {
    let text = |name: &str| sample.attached.text(part.get(name).str_or_empty());
    let kind = match (part.kind(), part.str()) {
        (_, Some(whole)) => {
            let whole = sample.attached.text(whole);
            BlockKind::Text((!whole.trim().is_empty()).then(|| out.prose(&whole))?)
        }
        ("text", _) => {
            let said = text("text");
            BlockKind::Text((!said.trim().is_empty()).then(|| out.prose(&said))?)
        }
        ("reasoning", _) => {
            let is_hidden = part.get("redacted").is_true();
            let thought = if is_hidden {
                text("summary")
            } else {
                text("reasoning")
            };
            BlockKind::Thinking(out.prose(&thought))
        }
        ("image", _) => BlockKind::Image(image(&text("image"), Text::default(), false, out)),
        (kind, _) => unknown::block(NamedKind("content.type", kind), part, out),
    };
    Some(Block::new(Piece(0), kind))
}

/// The key of a call. Some models use names of functions as ids, which a sample has several times.
fn call_key(id: &str, nth: usize, sample: &EvalSample<'_>) -> Text {
    let name = &sample.name;
    Text::clean(&if nth == 0 {
        format!("{name}/{id}")
    } else {
        format!("{name}/{id}#{}", nth + 1)
    })
}

fn decode_call(json: &Json<'_>, sample: &EvalSample<'_>, out: &mut Batch) -> ToolCall {
    let id = json.get("id").str_or_empty();
    let name = json.get("function").str_or_empty();
    let input = json.get("arguments");
    let nth = sample.asked.next(id);
    let mut call = ToolCall {
        key: call_key(id, nth, sample),
        started: sample.known.get(&(id, nth)).and_then(|known| known.began),
        ..tools::call(name, input, out)
    };
    call.input.flags.broken_off = json.get("parse_error").filled().is_some();
    call
}

fn result(json: &Json<'_>, sample: &EvalSample<'_>, out: &mut Batch) {
    let id = json.get("tool_call_id").str_or_empty();
    // The result belongs to the oldest call without one.
    let nth = sample.answered.next(id);
    let EventFacts { began, ended, .. } = sample.known.get(&(id, nth)).copied().unwrap_or_default();
    let content = json.get("content").blocks();
    let texts = content.iter().filter_map(|part| part.part_text());
    let texts: Vec<Cow<'_, str>> = texts.map(|text| sample.attached.text(text)).collect();
    let error = json.get("error");
    let kind = error.kind();
    let said = texts.join("\n");
    let said = match error.get("message").filled() {
        Some(why) if said.trim().is_empty() => why.to_owned(),
        Some(why) if !said.contains(why) => format!("{said}\n{why}"),
        _ => said,
    };
    let call = call_key(id, nth, sample);
    let images = content.iter().filter(|part| part.kind() == "image");
    let is_refused = matches!(kind, "approval" | "permission");
    let verdict = Verdict::of(!error.is_null(), is_refused);
    let key = ToolResult::key_of(&call, None);
    let result = ToolResult {
        images: images
            .map(|part| {
                image(
                    &sample.attached.text(part.get("image").str_or_empty()),
                    Text::default(),
                    false,
                    out,
                )
            })
            .collect(),
        facts: Text::clean(kind),
        duration_ms: began.zip(ended).map(|(began, ended)| ended.since(began)),
        ..ToolResult::new(key, verdict, out.output(&said), ended.or(began))
    };
    out.result(call, result, None);
}
