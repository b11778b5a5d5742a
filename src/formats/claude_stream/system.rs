//! System messages of a stream, by `subtype`, without the one that begins a run.

use crate::formats::claude::line::Line;
use crate::formats::claude::session::Session;
use crate::formats::claude::system::{compaction, retry, setting, show_break, show_text};
use crate::formats::decoder::show_raw;
use crate::formats::json::Json;
use crate::model::edit::Batch;
use crate::model::entry::Break;
use crate::model::tally::Fate;
use crate::model::text::Text;

/// A system message.
pub fn decode(line: &Line<'_>, session: &mut Session, out: &mut Batch) -> Fate {
    let json = line.json;
    let text = |member: &str| json.get(member).str_or_empty();
    match text("subtype") {
        "compact_boundary" => {
            session.set_boundary(line);
            show_break(line, compaction(json.get("compact_metadata")), false, out)
        }
        "hook_started" => Fate::Passed("start of a hook"),
        "hook_progress" => Fate::Passed("progress of a hook"),
        "hook_response" => hook(line, out),
        "api_retry" => {
            let attempt = json.get("attempt").int().zip(json.get("max_retries").int());
            let wait = json.get("retry_delay_ms").count();
            let error = retry(json.get("error_status").int(), json.get("error").filled(), attempt, wait);
            let is_retried = attempt.is_some_and(|(attempt, most)| attempt < most);
            show_break(line, Break::Error(error), is_retried, out)
        }
        "task_started" => {
            if let Some(label) = json.get("description").text() {
                session.lanes.name(&Text::clean(text("tool_use_id")), label, out);
            }
            setting(line, &format!("task started: {}", text("description")), true, out)
        }
        "task_progress" => Fate::Passed("progress of a task"),
        "task_notification" | "task_updated" => task(line, out),
        "notification" => {
            let is_quiet = !matches!(text("priority"), "immediate" | "high");
            setting(line, text("text"), is_quiet, out)
        }
        "status" => match json.get("status").filled() {
            Some(status) => setting(line, &format!("status: {status}"), true, out),
            None => Fate::Passed("status cleared"),
        },
        "local_command_output" => show_text(line, "command output", text("content"), false, out),
        other => {
            out.unknown(&format!("system/{other}"));
            show_raw(line.input, &format!("system/{other}"), out)
        }
    }
}

fn hook(line: &Line<'_>, out: &mut Batch) -> Fate {
    let json = line.json;
    let parts = [json.get("stdout").str_or_empty(), json.get("stderr").str_or_empty()].map(str::trim);
    let mut text = parts.join("\n");
    if text.trim().is_empty() {
        json.get("output").str_or_empty().clone_into(&mut text);
    }
    let code = json.get("exit_code").int().filter(|code| *code != 0);
    let exit = code.map(|code| format!(", exit {code}")).unwrap_or_default();
    let title = format!("hook {}{exit}", json.get("hook_name").str_or_empty());
    if text.trim().is_empty() {
        return setting(line, &title, code.is_none(), out);
    }
    show_text(line, &title, &text, code.is_none(), out)
}

fn task(line: &Line<'_>, out: &mut Batch) -> Fate {
    let json = line.json;
    let status = json.get("status").filled().unwrap_or("updated").replace('_', " ");
    let about = [json.get("summary"), json.get("description"), json.get("task_id")];
    let about = about.iter().find_map(|member| Json::filled(member)).unwrap_or("");
    let is_quiet = matches!(status.as_str(), "completed" | "updated" | "running");
    setting(line, &format!("task {status}: {about}"), is_quiet, out)
}
