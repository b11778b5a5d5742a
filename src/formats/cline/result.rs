//! Decodes tool results: text, a list of `{query, result, success}`, content blocks, or any of
//! these in a JSON text.

use itertools::Itertools as _;

use crate::formats::inline::decoded_size;
use crate::formats::json::{self, Json};
use crate::model::body::{Body, Image, Key};
use crate::model::edit::Batch;
use crate::model::figures::count;
use crate::model::text::{Text, prefix, text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolResult, Verdict};

/// The number of leading bytes that show whether the tool was run.
const BEGIN: usize = 200;

/// Decodes a `tool_result` block. `key` is the key of the result.
pub(super) fn decode(
    block: &Json<'_>,
    key: Key,
    at: Option<Timestamp>,
    out: &mut Batch,
) -> ToolResult {
    let content = block.get("content");
    let parsed = content
        .str()
        .filter(|text| text.trim_start().starts_with(['{', '[']));
    let parsed = parsed.and_then(|text| json::parse(text).ok());
    let is_known = |value: &&Json<'_>| is_answers(value) || value.has("finishReason");
    let content = parsed.as_ref().filter(is_known).unwrap_or(content);
    let failed = block.get("is_error").is_true() || content.blocks().iter().any(is_failure);
    let images = content.items().iter().filter(|item| item.kind() == "image");
    let text = text(content);
    let verdict = match verdict(prefix(text.trim_start(), BEGIN)) {
        Verdict::Done if failed => Verdict::Failed,
        verdict => verdict,
    };
    let images = images.map(|item| image(item, out)).collect();
    let mut body = out.output(&text);
    body.flags.unmarked = failed && !block.get("is_error").is_true();
    let is_judged = block.has("is_error") || is_answers(content);
    body.flags.unjudged = !is_judged;
    ToolResult {
        images,
        facts: facts(content),
        ..ToolResult::new(key, verdict, body, at)
    }
}

/// A result in plain text, which has no exit code.
pub(super) fn plain(
    key: Key,
    verdict: Verdict,
    mut body: Body,
    at: Option<Timestamp>,
) -> ToolResult {
    body.flags.unjudged = true;
    ToolResult::new(key, verdict, body, at)
}

/// The image in a block, without its data.
pub(super) fn image(block: &Json<'_>, out: &Batch) -> Image {
    let source = if block.get("source").is_object() {
        block.get("source")
    } else {
        block
    };
    let mime = source.first(&["mediaType", "media_type"], Json::filled);
    Image {
        mime: Text::clean(mime.unwrap_or("")),
        bytes: source.get("data").str().map(decoded_size),
        source: source.get("url").text(),
        origin: out.origin(),
    }
}

/// Whether the value has answers to one or several queries. Some failures lack `is_error`, but
/// never `success`.
fn is_answers(value: &Json<'_>) -> bool {
    let mut items = value.blocks().iter().peekable();
    items.peek().is_some()
        && items.all(|item| item.has("success") || (item.has("query") && item.has("result")))
}

fn is_failure(item: &Json<'_>) -> bool {
    item.get("success") == &Json::Bool(false)
}

/// The output as a text.
pub(super) fn text(content: &Json<'_>) -> String {
    match content {
        Json::Str(text) => text.to_string(),
        Json::Null => String::new(),
        value if is_answers(value) => {
            let answers = value.blocks();
            answers
                .iter()
                .map(|answer| answer_text(answer, answers.len() > 1))
                .join("\n")
        }
        Json::Array(items) => {
            let parts = items.iter().filter(|item| item.kind() != "image");
            let text = |item: &Json<'_>| {
                item.part_text()
                    .map_or_else(|| item.to_source(), str::to_owned)
            };
            parts.map(text).join("\n")
        }
        // The answer of a sub-agent, with its duration.
        other if other.has("finishReason") && other.has("text") => {
            other.get("text").str_or_empty().to_owned()
        }
        other => other.to_source(),
    }
}

/// The text of one answer, with its query if there are several.
fn answer_text(answer: &Json<'_>, with_query: bool) -> String {
    let fields = ["result", "error"].map(|name| answer.get(name));
    let mut parts = fields.iter().filter_map(|field| match field {
        Json::Null => None,
        Json::Str(text) => Some(text.to_string()).filter(|text| !text.is_empty()),
        other => Some(other.to_source()),
    });
    let parts = parts.join("\n");
    match answer.get("query").filled() {
        Some(query) if with_query => format!("── {query}\n{parts}"),
        _ => parts,
    }
}

fn facts(content: &Json<'_>) -> Text {
    if let Some(iterations) = content
        .get("iterations")
        .count()
        .filter(|_| content.has("finishReason"))
    {
        let end = content
            .get("finishReason")
            .filled()
            .filter(|end| *end != "completed");
        let steps = count(iterations, "step");
        return Text::clean(&end.map_or(steps.clone(), |end| format!("{end}, {steps}")));
    }
    let answers = content.blocks();
    let failures = answers.iter().filter(|answer| is_failure(answer)).count();
    if answers.len() < 2 || failures == 0 {
        return Text::default();
    }
    text!("{failures} of {} failed", answers.len())
}

/// The verdict of a result in plain text.
pub(super) fn verdict(text: &str) -> Verdict {
    // The forms of Roo Code if tools are called by the API.
    const DENIED: &str = r#"{"status":"denied""#;
    const ERROR: &str = r#"{"status":"error""#;
    let text = text.trim_start();
    if text.starts_with(DENIED)
        || text.starts_with("The user denied this operation")
        || text.contains("was not executed because the user")
        || not_run(text).is_some()
    {
        Verdict::Refused
    } else if text.starts_with(ERROR)
        || text.starts_with("The tool execution failed")
        || text.starts_with("Error executing")
    {
        Verdict::Failed
    } else {
        Verdict::Done
    }
}

/// The title in a message that a call was not run: a message may use only one tool, and after a
/// refusal no further tool is run.
pub(super) fn not_run(text: &str) -> Option<&str> {
    const REASONS: [&str; 3] = [
        "] was not executed because",
        "] was interrupted and not executed",
        "] due to user rejecting",
    ];
    let rest = text
        .strip_prefix("Tool [")
        .or_else(|| text.strip_prefix("Skipping tool ["))?;
    let line = rest.lines().next()?;
    REASONS
        .iter()
        .find_map(|reason| line.split_once(reason))
        .map(|(title, _)| title)
}
