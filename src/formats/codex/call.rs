//! Calls of the model and their outputs, as response items.

use itertools::Itertools as _;

use super::code_mode::{self, InnerCall};
use super::content::text_of;
use super::line::RolloutLine;
use super::output;
use super::thread::Thread;
use super::thread_calls::{CELL, ResultPart};
use crate::formats::json::{self, Json};
use crate::formats::tools;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::path::BETWEEN;
use crate::model::tally::Fate;
use crate::model::text::Text;
use crate::model::tool::{ToolCall, ToolKind, patch_of_command};

/// The tool that runs code, which calls other tools.
const CODE: &str = "exec";

/// The tools that write to a running command, or poll it or a script.
const POLL: &str = "write_stdin";
const WAIT: &str = "wait";
/// Length limit of the input to a running command in a headline, in characters.
const HEADLINE: usize = 200;
/// The namespace of the program's own tools.
const OWN: &str = "functions";

/// Decodes `function_call`, `custom_tool_call` and similar items.
pub(crate) fn call(line: &RolloutLine<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    let payload = line.payload;
    let written = ["arguments", "input", "action"]
        .iter()
        .map(|name| payload.get(name))
        .find(|json| !json.is_null());
    let written = written.unwrap_or(&Json::Null);
    // Arguments are JSON in a string; the input of a custom tool is a text of any syntax.
    let parsed = written.str().and_then(json::read).filter(Json::is_object);
    let input = parsed.as_ref().unwrap_or(written);
    let name = name(payload);
    // In a batch that is only counted the input matters only for code, which may start sub-agents.
    let is_plain = out.is_counted && name != CODE;
    let code = input.str().filter(|_| name == CODE);
    let inner = code.map(code_mode::calls).unwrap_or_default();
    let (kind, headline) = if is_plain {
        (tools::kind_of(&name), Text::default())
    } else {
        kind_and_headline(&name, input, &inner)
    };
    let key = call_key(payload, out);
    thread.calls.begin(&key, kind);
    if !out.is_counted {
        if let Some(process) = polled_process(&name, input) {
            thread.calls.poll(&key, process);
        }
        thread.agents.record_call(&key, &name, input);
        if let Some(code) = code {
            record_script(&key, &inner, code, thread);
        }
    }
    let mut entry = thread.answer(line, out);
    let call = ToolCall {
        key,
        started: line.at,
        ..tools::call_of(&name, kind, headline, input, out)
    };
    entry.push_piece(out.piece(), call);
    thread.emit(entry, out)
}

/// The name of a tool, prefixed with its namespace.
fn name(payload: &Json<'_>) -> String {
    let name = payload
        .get("name")
        .filled()
        .unwrap_or(match payload.kind() {
            "local_shell_call" => "local_shell",
            "tool_search_call" => "tool_search",
            _ => "",
        });
    match payload
        .get("namespace")
        .filled()
        .filter(|space| *space != OWN)
    {
        Some(space) => format!("{}__{name}", space.trim_end_matches("__")),
        None => name.to_owned(),
    }
}

/// The process or script that a call polls.
fn polled_process(name: &str, input: &Json<'_>) -> Option<String> {
    let number = |field: &str| {
        let value = input.get(field);
        value
            .count()
            .map(|number| number.to_string())
            .or_else(|| value.filled().map(str::to_owned))
    };
    match name {
        POLL => number("session_id"),
        WAIT => number("cell_id").map(|cell| format!("{CELL}{cell}")),
        _ => None,
    }
}

/// Records the commands that code runs: the records of their ends do not name the call.
fn record_script(call: &Key, inner: &[InnerCall], code: &str, thread: &mut Thread) {
    let commands = inner
        .iter()
        .filter(|one| one.kind == ToolKind::Run)
        .map(|one| one.headline.clone());
    let is_one = inner.len() == 1 && code.matches("tools.").count() == 1;
    thread.calls.add_script(call, commands.collect(), is_one);
}

/// The kind and headline of a call; for code, those of the calls in it.
fn kind_and_headline(name: &str, input: &Json<'_>, inner: &[InnerCall]) -> (ToolKind, Text) {
    let kind = tools::kind_of_call(name, input);
    if let Some(process) = polled_process(name, input) {
        let typed = input.get("chars").str_or_empty().trim_end_matches('\n');
        let words = if typed.is_empty() {
            format!("poll {process}")
        } else {
            format!("{process} < {typed}")
        };
        return (kind, Text::stub(&words, HEADLINE));
    }
    let patched = || patched(input).filter(|_| kind == ToolKind::Run);
    let usual = || {
        patched().map_or_else(
            || (kind, tools::headline(kind, input)),
            |paths| (ToolKind::Edit, paths),
        )
    };
    let Some(first) = inner.first() else {
        return usual();
    };
    let is_one_kind = inner.iter().all(|one| one.kind == first.kind);
    let words: Vec<String> = inner.iter().map(|one| words(one, is_one_kind)).collect();
    (
        if is_one_kind {
            first.kind
        } else {
            ToolKind::Run
        },
        Text::clean(&words.join(BETWEEN)),
    )
}

/// The paths of a patch that is applied by a shell command, as models did before there was a tool
/// for it.
fn patched(input: &Json<'_>) -> Option<Text> {
    let command = tools::command(input)?;
    let (folder, patch) = patch_of_command(&command)?;
    let paths = tools::headline(ToolKind::Edit, &Json::Str(patch.into()));
    let folders = [input.get("workdir").filled(), folder];
    let below = |folder: &str, path: String| {
        if path.starts_with('/') {
            path
        } else {
            format!("{}/{path}", folder.trim_end_matches('/'))
        }
    };
    let whole = |path: &str| {
        folders
            .iter()
            .flatten()
            .rfold(path.to_owned(), |path, folder| below(folder, path))
    };
    Some(Text::clean(&paths.split(BETWEEN).map(whole).join(BETWEEN)))
}

fn words(inner: &InnerCall, is_one_kind: bool) -> String {
    if is_one_kind && inner.kind != ToolKind::Other || inner.kind == ToolKind::Run {
        return inner.headline.clone();
    }
    format!("{} {}", inner.name, inner.headline)
        .trim_end()
        .to_owned()
}

fn call_key(payload: &Json<'_>, out: &Batch) -> Key {
    let id = payload.first(&["call_id", "id"], Json::filled);
    id.map_or_else(|| out.origin_key(), Text::clean)
}

/// Decodes the output of a call.
pub(crate) fn output(line: &RolloutLine<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    let payload = line.payload;
    if payload.get("call_id").filled().is_none() && payload.get("name").filled().is_some() {
        return program_output(line, payload, thread, out);
    }
    let call = payload.get("call_id").clean();
    thread.close_request();
    let is_known = thread.calls.contains(&call);
    if out.is_counted && thread.calls.can_skip_result(&call) {
        return Fate::Merged;
    }
    let outcome = if payload.has("tools") {
        let text = found_tools(payload.get("tools"));
        ResultPart {
            is_output: true,
            ..ResultPart::text(out.output(&text), line.at)
        }
    } else {
        output::read(payload.get("output"), line.at, out)
    };
    let lane = thread.lane.clone();
    let begun = {
        let text = text_of(payload.get("output"));
        let answer = (&*text, line.at);
        thread.agents.answer(&call, answer, lane.as_ref(), out)
    };
    let outcome = ResultPart {
        work: begun.or(outcome.work),
        ..outcome
    };
    let (outcome, end) = thread.calls.polled(&call, outcome);
    thread.result(call, outcome, out);
    if let Some((starter, end)) = end {
        thread.result(starter, end, out);
    }
    if is_known { Fate::Merged } else { Fate::Shown }
}

/// Decodes the output of a tool that the program ran by itself, without a call of the model.
pub(crate) fn program_output(
    line: &RolloutLine<'_>,
    json: &Json<'_>,
    thread: &mut Thread,
    out: &mut Batch,
) -> Fate {
    let name = name(json);
    let outcome = output::read(json.get("output"), line.at, out);
    let key = json.get("id").text().unwrap_or_else(|| out.origin_key());
    let mut call = ToolCall {
        key,
        ..tools::call_of(
            &name,
            tools::kind_of(&name),
            Text::default(),
            &Json::Null,
            out,
        )
    };
    // The record has no input.
    call.input.bytes = 0;
    thread.show_call(call, outcome, line, out)
}

/// Formats the tools that a search found, one line per group.
fn found_tools(tools: &Json<'_>) -> String {
    let name = |tool: &Json<'_>| tool.get("name").str_or_empty().to_owned();
    let line = |group: &Json<'_>| {
        let inner: Vec<String> = group.get("tools").items().iter().map(name).collect();
        format!(
            "{}  {}\n{}\n",
            name(group),
            inner.join(" "),
            group.get("description").str_or_empty()
        )
    };
    tools.items().iter().map(line).collect()
}

/// The thread and nickname of a sub-agent in an output: `{"agent_id": …, "nickname": …}`.
pub(crate) fn spawned(payload: &Json<'_>) -> Option<(Text, Option<Text>)> {
    let output = payload
        .get("output")
        .str()
        .filter(|text| text.trim_start().starts_with("{\"agent_id\""))?;
    let value = json::parse(output).ok()?;
    Some((value.get("agent_id").text()?, value.get("nickname").text()))
}
