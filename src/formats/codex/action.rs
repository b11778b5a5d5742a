//! Actions that the program reports: a command that ended, changed files, an MCP tool, a search. A
//! report with the id of a call adds to the call's result; in code mode it stands for a call that
//! has no other record.
//!
//! Invariant: a record gives the same bodies in both cases.

use itertools::Itertools as _;

use super::agents;
use super::content::text_of;
use super::line::RolloutLine;
use super::repeated_texts::{self, RepeatedAuthor, Side};
use super::thread::Thread;
use super::thread_calls::{CallRelation, ResultPart};
use crate::formats::inline;
use crate::formats::json::Json;
use crate::formats::tools;
use crate::model::edit::Batch;
use crate::model::tally::Fate;
use crate::model::text::Text;
use crate::model::tool::{ToolCall, ToolKind, Verdict};

/// Members of a sub-agent's state with its final message, or the reason why it failed.
const STATES: [&str; 3] = ["message", "completed", "errored"];

/// The exit code of a process whose end is unknown.
const LOST: i64 = -1;

pub(crate) struct ReportedAction {
    call: ToolCall,
    outcome: ResultPart,
    /// The process that has ended.
    process: Option<Text>,
    command: Option<Text>,
}

/// The subject of a report, by the type of event or item.
fn subject(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "exec_command_end" | "CommandExecution" => "command",
        "patch_apply_end" | "FileChange" => "files",
        "mcp_tool_call_end" | "McpToolCall" => "server",
        "dynamic_tool_call_response" | "DynamicToolCall" => "tool",
        "web_search_end" | "web_search_call" | "WebSearch" => "search",
        "image_generation_end" | "image_generation_call" => "picture",
        "view_image_tool_call" | "ImageView" => "view",
        "Extension" => "extension",
        "CollabAgentToolCall" => "company",
        _ => return None,
    })
}

/// Decodes any report from an event or the item in it; `None` if it is about something else.
pub(crate) fn other(
    line: &RolloutLine<'_>,
    json: &Json<'_>,
    thread: &mut Thread,
    out: &mut Batch,
) -> Option<Fate> {
    let is_deed = || subject(json.kind()).is_some();
    if out.is_counted
        && is_deed()
        && key_of(json).is_some_and(|key| thread.calls.can_skip_result(key))
    {
        return Some(Fate::Merged);
    }
    ReportedAction::read(line, json, out).map(|deed| deed.emit(line, thread, out))
}

fn key_of<'j>(json: &'j Json<'_>) -> Option<&'j str> {
    json.first(&["call_id", "callId", "id"], Json::filled)
}

impl ReportedAction {
    /// Parses an event or the item in it; `None` if it is about something else.
    pub(crate) fn read(line: &RolloutLine<'_>, json: &Json<'_>, out: &mut Batch) -> Option<Self> {
        let subject = subject(json.kind())?;
        let (name, input) = tool_and_input(subject, json);
        let mut call = tools::call(&name, &input, out);
        let output = output(subject, json);
        let body = out.output(&output);
        let patch = (subject == "files").then(|| out.prose(&patch(json.get("changes"))));
        let exit = json.get("exit_code").int();
        let images = match subject {
            "picture" => {
                let data = json.get("result").str_or_empty();
                vec![inline::image(data, "image/png".into(), true, out)]
            }
            _ => Vec::new(),
        };
        let word = json
            .get("status")
            .filled()
            .filter(|status| matches!(*status, "declined" | "in_progress"));
        let started = line.payload.get("started_at_ms").moment();
        // Without a start the timestamp says nothing about the duration.
        let at = line
            .at
            .filter(|_| started.is_some() || json.has("duration"));
        let outcome = ResultPart {
            patch: patch.filter(|patch| patch.bytes > 0),
            images,
            verdict: verdict(json, exit),
            exit,
            duration_ms: duration(json.get("duration")),
            words: word
                .map(|word| word.replace('_', " "))
                .into_iter()
                .collect(),
            is_end: exit.is_some(),
            work: (subject == "company")
                .then(|| agents::spawned(json))
                .flatten(),
            ..ResultPart::text(body, at)
        };
        call.key = key_of(json).map_or_else(|| out.origin_key(), Text::clean);
        call.started = started;
        Some(Self {
            outcome,
            process: json.get("process_id").text().filter(|_| exit.is_some()),
            command: (subject == "command").then(|| call.headline.clone()),
            call,
        })
    }

    /// Adds it to the result of its call, or shows it as a call of its own below the one that it
    /// was part of.
    pub(crate) fn emit(self, line: &RolloutLine<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
        let is_lost = self.outcome.exit == Some(LOST);
        self.process
            .iter()
            .filter(|_| !is_lost)
            .for_each(|process| thread.calls.end_process(process));
        let call = self.call;
        if thread.calls.contains(&call.key) {
            let outcome = if is_lost {
                self.outcome.unknown()
            } else {
                self.outcome
            };
            thread.result(call.key, outcome, out);
            return Fate::Merged;
        }
        match self
            .command
            .as_deref()
            .and_then(|command| thread.calls.within(command))
        {
            Some(CallRelation::Same(call)) => {
                thread.result(call, self.outcome, out);
                return Fate::Merged;
            }
            Some(CallRelation::Part(call)) if self.outcome.verdict == Verdict::Failed => {
                if let Some(failed) = thread.calls.fail_part(&call, self.outcome.exit, out) {
                    thread.result(call, failed, out);
                }
            }
            Some(CallRelation::Part(_)) | None => {}
        }
        thread.show_call(call, self.outcome, line, out)
    }
}

/// Decodes a web search, which is reported by an event and an item that may have different ids.
pub(crate) fn search(
    line: &RolloutLine<'_>,
    side: Side,
    json: &Json<'_>,
    thread: &mut Thread,
    out: &mut Batch,
) -> Fate {
    let (_, input) = tool_and_input("search", json);
    let print = repeated_texts::print(
        RepeatedAuthor::Search,
        &tools::headline(ToolKind::Fetch, &input),
    );
    let Some(mut deed) = ReportedAction::read(line, json, out) else {
        return Fate::Merged;
    };
    let key = json.first(&["call_id", "id"], Json::filled);
    if key.is_some_and(|key| thread.calls.contains(key)) {
        return deed.emit(line, thread, out);
    }
    let texts = &mut thread.repeated_texts;
    if let Some(twin) = texts.take(RepeatedAuthor::Search, side, print) {
        deed.call.key = twin.key;
    } else {
        let block = (deed.call.key.clone(), out.piece());
        texts.wait(RepeatedAuthor::Search, side, print, block);
    }
    deed.emit(line, thread, out)
}

fn tool_and_input<'j>(subject: &str, json: &'j Json<'j>) -> (String, Json<'j>) {
    let object = |names: &[&'static str]| {
        let members = names.iter().filter(|name| !json.get(name).is_null());
        Json::Object(
            members
                .map(|name| ((*name).into(), json.get(name).clone()))
                .collect(),
        )
    };
    match subject {
        "command" => ("exec_command".to_owned(), object(&["command", "cwd"])),
        "files" => {
            let paths = json
                .get("changes")
                .members()
                .iter()
                .map(|(path, _)| Json::Str(path.as_ref().into()));
            let input = Json::Object(vec![("paths".into(), Json::Array(paths.collect()))]);
            ("apply_patch".to_owned(), input)
        }
        "server" => {
            let invocation = if json.has("invocation") {
                json.get("invocation")
            } else {
                json
            };
            let name = |field: &str| invocation.get(field).str_or_empty();
            let arguments = invocation.get("arguments").clone();
            (
                format!("mcp__{}__{}", name("server"), name("tool")),
                arguments,
            )
        }
        "tool" => (
            json.get("tool").str_or_empty().to_owned(),
            json.get("arguments").clone(),
        ),
        "company" => (
            json.get("tool").str_or_empty().to_owned(),
            object(&["prompt", "model", "receiver_thread_ids"]),
        ),
        "search" | "extension" if json.has("action") || json.has("query") => {
            let action = json.get("action");
            let input = if action.is_object() {
                action.clone()
            } else {
                object(&["query"])
            };
            // The `type` of the action only repeats the tool.
            let members = input
                .members()
                .iter()
                .filter(|(name, value)| name != "type" && !value.is_null());
            (
                "web_search".to_owned(),
                Json::Object(members.cloned().collect()),
            )
        }
        "extension" => (
            json.get("kind").filled().unwrap_or("extension").to_owned(),
            object(&["query", "arguments", "prompt"]),
        ),
        "picture" => (
            "image_generation".to_owned(),
            object(&["revised_prompt", "saved_path"]),
        ),
        "view" => ("view_image".to_owned(), object(&["path"])),
        _ => ("web_search".to_owned(), Json::Null),
    }
}

/// The output of the action.
fn output(subject: &str, json: &Json<'_>) -> String {
    match subject {
        "command" => {
            let texts = ["aggregated_output", "formatted_output", "stdout"];
            let output = json.first(&texts, Json::filled).unwrap_or_default();
            let errors = json
                .get("stderr")
                .filled()
                .filter(|text| !output.contains(*text))
                .unwrap_or_default();
            format!("{output}{errors}")
        }
        "files" => {
            let mut said = ["stdout", "stderr"]
                .iter()
                .filter_map(|name| json.get(name).filled());
            said.join("\n")
        }
        "server" | "tool" => {
            let result = json.get("result");
            let content = [
                result.at("Ok.content"),
                result.get("content"),
                json.get("content_items"),
            ];
            let mut texts = content
                .iter()
                .flat_map(|content| content.items())
                .filter_map(|part| part.get("text").filled());
            let text = texts.join("\n");
            if !text.is_empty() {
                return text;
            }
            let error = json.first(&["result.Err", "error.message", "error"], Json::filled);
            error.unwrap_or_default().to_owned()
        }
        "company" => {
            let states = json.get("agents_states").members();
            states
                .iter()
                .filter_map(|(_, state)| state.first(&STATES, Json::filled))
                .join("\n")
        }
        "search" | "extension" => {
            let line = |found: &Json<'_>| {
                let part = |name: &str| found.get(name).str_or_empty().to_owned();
                format!("{}  {}\n{}\n", part("title"), part("url"), part("snippet"))
            };
            json.get("results").items().iter().map(line).collect()
        }
        _ => {
            let text = text_of(json.get("content"));
            if text.trim().is_empty() {
                String::new()
            } else {
                text.into_owned()
            }
        }
    }
}

fn verdict(json: &Json<'_>, exit: Option<i64>) -> Verdict {
    let has_failed = json.get("status").is("failed")
        || json.get("success") == &Json::Bool(false)
        || exit.is_some_and(|code| code != 0)
        || json.at("result.Err").filled().is_some()
        || json.at("result.Ok.isError").is_true()
        || json.at("result.isError").is_true()
        || !json.get("error").is_null();
    match json.get("status").str() {
        Some("declined") => Verdict::Refused,
        _ if has_failed => Verdict::Failed,
        _ => Verdict::Done,
    }
}

/// A duration in ms, from seconds and nanoseconds.
fn duration(json: &Json<'_>) -> Option<u64> {
    let seconds = json.get("secs").count()?;
    Some(
        seconds
            .saturating_mul(1000)
            .saturating_add(json.get("nanos").count().unwrap_or(0) / 1_000_000),
    )
}

/// Formats changes of files as one unified diff.
fn patch(changes: &Json<'_>) -> String {
    let mut diff = String::new();
    for (path, change) in changes.members() {
        let content = change.get("content").str_or_empty();
        let count = content.lines().count();
        let mut whole = |sign: char, head: String| {
            diff.push_str(&head);
            for line in content.lines() {
                diff.push(sign);
                diff.push_str(line);
                diff.push('\n');
            }
        };
        match change.kind() {
            "add" => whole(
                '+',
                format!("--- /dev/null\n+++ {path}\n@@ -0,0 +1,{count} @@\n"),
            ),
            "delete" => whole(
                '-',
                format!("--- {path}\n+++ /dev/null\n@@ -1,{count} +0,0 @@\n"),
            ),
            _ => {
                let moved = change.get("move_path").filled().unwrap_or(path);
                diff.push_str(&format!("--- {path}\n+++ {moved}\n"));
                diff.push_str(change.get("unified_diff").str_or_empty());
                if !diff.ends_with('\n') {
                    diff.push('\n');
                }
            }
        }
    }
    diff
}

#[cfg(test)]
mod tests {
    use super::patch;
    use crate::formats::json::parse;

    #[test]
    fn changes_of_all_kinds_are_one_diff() {
        let changes = r#"{"a.rs":{"type":"update","unified_diff":"@@ -1 +1 @@\n-old\n+new\n","move_path":null},"b":{"type":"add","content":"x\ny\n"},"c":{"type":"delete","content":"z"}}"#;
        let expected = "--- a.rs\n+++ a.rs\n@@ -1 +1 @@\n-old\n+new\n--- /dev/null\n+++ b\n@@ -0,0 +1,2 @@\n+x\n+y\n\
                        --- c\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-z\n";
        assert_eq!(patch(&parse(changes).unwrap()), expected);
    }
}
