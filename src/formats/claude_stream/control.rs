//! Control messages between the program and whoever drives it, and the small events beside messages.
//! The subtype lies under `request` or `response`, or, in older writers, beside the type.

use crate::formats::anthropic;
use crate::formats::claude::line::Line;
use crate::formats::claude::system::{setting, show_break, show_text};
use crate::formats::json::Json;
use crate::formats::tools;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{Break, Role};
use crate::model::pairing::identifies;
use crate::model::tally::Fate;
use crate::model::text::Text;
use crate::model::tool::ToolState;

/// A message of one of these types; `None` if the type is another.
pub fn decode(line: &Line<'_>, out: &mut Batch) -> Option<Fate> {
    let json = line.json;
    let fate = match line.kind() {
        "control_request" => request(line, nested(json, "request"), out),
        "control_response" => response(line, nested(json, "response"), out),
        "control_cancel_request" => setting(line, "request cancelled", true, out),
        "rate_limit_event" => rate_limit(line, json.get("rate_limit_info"), out),
        "tool_progress" => progress(json, out),
        "mcp_message" => quiet_tree(line, json, "MCP message", out),
        "conversation_reset" => {
            show_break(line, Break::Resumed(Text::clean("conversation reset")), false, out)
        }
        "tool_use_summary" => {
            show_text(line, "summary of calls", json.get("summary").str_or_empty(), true, out)
        }
        "prompt_suggestion" => {
            show_text(line, "suggested prompt", json.get("suggestion").str_or_empty(), true, out)
        }
        "auth_status" => quiet_tree(line, json, "authentication", out),
        "keep_alive" => Fate::Passed("keep alive"),
        _ => return None,
    };
    Some(fate)
}

fn nested<'j, 'a>(json: &'j Json<'a>, name: &str) -> &'j Json<'a> {
    if json.get(name).is_object() { json.get(name) } else { json }
}

fn request(line: &Line<'_>, request: &Json<'_>, out: &mut Batch) -> Fate {
    let text = |member: &str| request.get(member).str_or_empty();
    match text("subtype") {
        "can_use_tool" => {
            let input = if request.has("input") { request.get("input") } else { request.get("tool_input") };
            let tool = text("tool_name");
            let headline = tools::headline(tools::kind_of(tool), input);
            let waiting = Text::clean(&format!("permission for {tool}: {headline}"));
            show_break(line, Break::Waiting(waiting), false, out)
        }
        "interrupt" => show_break(line, Break::Interrupted(Text::default()), false, out),
        "set_model" => show_break(line, Break::ModelChange(Text::clean(text("model"))), false, out),
        "set_permission_mode" => setting(line, &format!("permission mode: {}", text("mode")), false, out),
        subtype => {
            let title = format!("control request {subtype}");
            quiet_tree(line, request, &title, out)
        }
    }
}

fn response(line: &Line<'_>, response: &Json<'_>, out: &mut Batch) -> Fate {
    let inner = nested(response, "response");
    if response.get("subtype").str() == Some("error") {
        let error = Text::clean(&format!("control request: {}", response.get("error").str_or_empty()));
        return show_break(line, Break::Error(error), false, out);
    }
    let is_denied = inner.get("behavior").str() == Some("deny") || *inner.get("allowed") == Json::Bool(false);
    if is_denied {
        let reason = inner.get("message").filled().or_else(|| inner.get("reason").filled()).unwrap_or("");
        return setting(line, &format!("permission denied: {reason}"), false, out);
    }
    if inner.get("behavior").str() == Some("allow") || inner.get("allowed").is_true() {
        return setting(line, "permission granted", true, out);
    }
    quiet_tree(line, response, "control response", out)
}

fn rate_limit(line: &Line<'_>, limit: &Json<'_>, out: &mut Batch) -> Fate {
    let status = limit.get("status").str_or_empty();
    let kind = limit.get("rateLimitType").str_or_empty().replace('_', " ");
    let until = limit.get("resetsAt").moment().map(|at| format!(", resets {}", at.to_rfc3339()));
    let text = format!("rate limit {}: {kind}{}", status.replace('_', " "), until.unwrap_or_default());
    match status {
        "rejected" => show_break(line, Break::Error(Text::clean(&text)), false, out),
        "allowed" => setting(line, &text, true, out),
        "" => quiet_tree(line, line.json, "rate limit", out),
        _ => setting(line, &text, false, out),
    }
}

fn progress(json: &Json<'_>, out: &mut Batch) -> Fate {
    let call = json.get("tool_use_id").str_or_empty();
    if !identifies(call) {
        return Fate::Passed("progress of a tool");
    }
    out.push(Edit::State { call: Text::clean(call), state: ToolState::Running });
    Fate::Merged
}

fn quiet_tree(line: &Line<'_>, value: &Json<'_>, title: &str, out: &mut Batch) -> Fate {
    let mut entry = line.entry(line.id.clone(), Role::Harness, out);
    entry.marks.quiet = true;
    let block = anthropic::raw(value, title, out);
    entry.blocks.push(Batch::block(line.piece(), block));
    out.entry(entry);
    Fate::Shown
}
