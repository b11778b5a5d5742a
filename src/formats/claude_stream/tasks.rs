//! Background tasks and hooks of a stream: a message per step, merged into one entry keyed by the
//! id of the task or hook.

use std::collections::HashSet;

use crate::formats::claude::lanes::SubAgents;
use crate::formats::claude::line::TranscriptLine;
use crate::formats::claude::voice::background;
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Break, Marks, Piece, Raw, Role};
use crate::model::figures::count;
use crate::model::tally::Fate;
use crate::model::text::{Text, text};
use crate::model::tool::identifies;
use crate::model::tool::work::{Carrier, WorkReference};

/// Length limit of a sub-agent's label, in characters.
const LABEL_CHARS: usize = 200;

/// Keys of the tasks and hooks that have an entry.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    begun: HashSet<Key>,
}

/// Decodes a step of a task: `task_started`, `task_progress`, `task_updated`, `task_notification`.
/// The entry has the start and the newest later step.
pub(crate) fn task(
    line: &TranscriptLine<'_>,
    tasks: &mut Tasks,
    lanes: &mut SubAgents,
    out: &mut Batch,
) -> Fate {
    let json = line.json;
    let patch = json.get("patch");
    let text = |member: &str| {
        json.get(member)
            .filled()
            .or_else(|| patch.get(member).filled())
    };
    let step = json
        .get("subtype")
        .str_or_empty()
        .trim_start_matches("task_");
    // The notification of its end has an entry of its own.
    let key = match step {
        "notification" => line.id.clone(),
        _ => key("task", json.get("task_id"), line),
    };
    emit_update(line, step, (&key, text("status"), text("summary")), out);
    let is_first = tasks.begun.insert(key.clone());
    let call = json.get("tool_use_id").str_or_empty();
    if step == "started" && identifies(call) && !json.get("task_type").is("local_bash") {
        let label = Text::stub(text("description").unwrap_or_default(), LABEL_CHARS);
        lanes.name(&Text::clean(call), 2, label, out);
    }
    let state = text("status").unwrap_or(step).replace('_', " ");
    let members = [
        "summary",
        "description",
        "last_tool_name",
        "error",
        "reason",
        "output_file",
        "prompt",
    ];
    let mut words: Vec<String> = members
        .iter()
        .filter_map(|name| text(name))
        .map(str::to_owned)
        .collect();
    words.extend(
        json.at("usage.tool_uses")
            .count()
            .map(|calls| count(calls, "call")),
    );
    words.extend(
        json.at("usage.total_tokens")
            .count()
            .map(|n| format!("{n} tokens")),
    );
    let is_bad = matches!(state.as_str(), "failed" | "killed" | "stopped");
    let marks = Marks {
        quiet: !is_bad,
        trace: !is_bad,
        ..Marks::default()
    };
    let raw = BlockKind::raw(&format!("task {state}"), out.output(&words.join(" · ")));
    let piece = Piece(u64::from(step != "started"));
    emit(line, key, marks, piece, raw, out);
    if is_first { Fate::Shown } else { Fate::Merged }
}

/// Emits an update of background work from a step: its end, as the model is notified or the program
/// records it, or that it is running.
fn emit_update(
    line: &TranscriptLine<'_>,
    step: &str,
    (key, status, summary): (&Key, Option<&str>, Option<&str>),
    out: &mut Batch,
) {
    let carrier = if step == "notification" {
        Carrier::Notice
    } else {
        Carrier::Record
    };
    let end = status.and_then(|status| background::end(status, summary.unwrap_or_default()));
    let is_step = matches!(step, "notification" | "updated");
    if end.is_none() && status != Some("running") || !is_step {
        return;
    }
    let about = WorkReference {
        call: None,
        handle: line.json.get("task_id").text(),
    };
    let by = if carrier == Carrier::Notice {
        key.clone()
    } else {
        line.id.clone()
    };
    if about.handle.is_some() {
        let lane = line.lane.as_ref();
        background::emit((about, end), (by, line.at), carrier, lane, out);
    }
}

/// Decodes a step of a hook: `hook_started`, `hook_progress`, `hook_response`.
pub(crate) fn hook(line: &TranscriptLine<'_>, tasks: &mut Tasks, out: &mut Batch) -> Fate {
    let json = line.json;
    let key = key("hook", json.get("hook_id"), line);
    let is_first = tasks.begun.insert(key.clone());
    let name = json.get("hook_name").str_or_empty();
    let parts = [
        json.get("stdout").str_or_empty(),
        json.get("stderr").str_or_empty(),
    ]
    .map(str::trim);
    let mut text = parts.join("\n").trim().to_owned();
    if text.is_empty() {
        json.get("output").str_or_empty().clone_into(&mut text);
    }
    let code = json.get("exit_code").int().filter(|code| *code != 0);
    let exit = code
        .map(|code| format!(", exit {code}"))
        .unwrap_or_default();
    let title = text!("hook {name}{exit}");
    let block = if text.trim().is_empty() {
        BlockKind::Break(Break::Setting(title))
    } else {
        let body = out.output(&text);
        BlockKind::Raw(Raw { title, body })
    };
    // Output of a hook may be context for the model, so that it keeps its row; a run without output
    // does not.
    let marks = Marks {
        quiet: code.is_none(),
        trace: code.is_none() && text.is_empty(),
        ..Marks::default()
    };
    emit(line, key, marks, Piece(0), block, out);
    if is_first { Fate::Shown } else { Fate::Merged }
}

fn key(kind: &str, id: &Json<'_>, line: &TranscriptLine<'_>) -> Key {
    let id = id.str().filter(|id| identifies(id));
    id.map_or_else(|| line.id.clone(), |id| text!("{kind}:{id}"))
}

fn emit(
    line: &TranscriptLine<'_>,
    key: Key,
    marks: Marks,
    piece: Piece,
    block: BlockKind,
    out: &mut Batch,
) {
    let mut entry = line.entry(key, Role::Harness, out);
    entry.marks = marks;
    entry.push_piece(piece, block);
    out.entry(entry);
}
