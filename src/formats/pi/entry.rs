//! Entries that say how a session goes on: settings and the state of extensions.

use super::block;
use super::message::Line;
use crate::formats::json::Json;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{BlockKind, Break, Entry, Role};
use crate::model::tally::Fate;
use crate::model::text::Text;

/// Adds an entry.
pub(crate) fn shown(entry: Entry, out: &mut Batch) -> Fate {
    out.show(entry)
}

/// A line across the transcript.
pub(crate) fn across(line: &Line, at: Break, out: &mut Batch) -> Fate {
    let mut entry = line.entry(Role::Harness, out);
    entry.push(at);
    shown(entry, out)
}

/// A line that says how the session goes on.
pub(crate) fn setting(line: &Line, words: &str, out: &mut Batch) -> Fate {
    across(line, Break::setting(words), out)
}

/// A quiet record of the program, as a tree.
pub(crate) fn harness(line: &Line, title: &str, json: &Json<'_>, out: &mut Batch) -> Fate {
    let mut entry = line.entry(Role::Harness, out);
    (entry.marks.quiet, entry.marks.unsent) = (true, true);
    entry.blocks.push(block::tree(title, json, out));
    shown(entry, out)
}

/// Another model from here on.
pub(crate) fn model_change(line: &Line, json: &Json<'_>, out: &mut Batch) -> Fate {
    // Oh My Pi joins provider and model, and names the role that the model plays.
    let model = json
        .first(&["modelId", "model"], Json::text)
        .unwrap_or_default();
    let is_main = json
        .get("role")
        .filled()
        .is_none_or(|role| role == "default");
    if is_main {
        out.meta(MetaEdit::Model(model.clone()));
    }
    across(line, Break::ModelChange(model), out)
}

/// State that an extension keeps in the file; the model does not see it.
pub(crate) fn custom_state(line: &Line, json: &Json<'_>, out: &mut Batch) -> Fate {
    let kind = json.get("customType").str_or_empty();
    let data = json.get("data");
    let mut entry = line.entry(Role::Harness, out);
    entry.marks.unsent = true;
    if kind == "openclaw:prompt-error" {
        let error = data.get("error").filled().unwrap_or("the prompt failed");
        entry.push(Break::error(error));
        // The rest on one row: it says less than the error.
        let title = format!("{kind} · {}", brief(data, "error"));
        entry
            .blocks
            .push(block::raw_text(title.trim_end_matches(" · "), "", out));
        return shown(entry, out);
    }
    // Oh My Pi's own: how a process ended, and when a call began that the answer tells.
    if kind == "session_exit" {
        let why = data
            .get("reason")
            .filled()
            .or(data.get("kind").filled())
            .unwrap_or_default();
        return across(line, Break::Ended(Text::clean(why)), out);
    }
    entry.marks.quiet = true;
    entry.marks.trace = kind == "tool_execution_start";
    let headline = Text::clean(&brief(data, ""));
    let body = data.to_body(&headline, out);
    entry.push(BlockKind::raw(kind, body));
    shown(entry, out)
}

/// The values of a flat object in a row, but one.
fn brief(data: &Json<'_>, without: &str) -> String {
    let members = data
        .members()
        .iter()
        .filter(|(name, _)| *name != without && *name != "timestamp");
    let words = members.filter_map(|(name, value)| match value {
        Json::Str(_) => value.filled().map(|text| format!("{name} {text}")),
        Json::Bool(_) | Json::Integer(_) | Json::Number(_) => {
            Some(format!("{name} {}", value.to_source()))
        }
        Json::Null | Json::Array(_) | Json::Object(_) | Json::Deep(_) => None,
    });
    words.collect::<Vec<_>>().join(" · ")
}

/// What a line says that only changes how the session goes on.
pub(crate) fn setting_of(kind: &str, json: &Json<'_>) -> Option<String> {
    Some(match kind {
        "label" => match json.get("label").filled() {
            Some(label) => format!("label of {}: {label}", json.get("targetId").str_or_empty()),
            None => format!("label of {} cleared", json.get("targetId").str_or_empty()),
        },
        "active_tools_change" => {
            let tools = json.members().iter().flat_map(|(_, value)| value.items());
            let names = tools.filter_map(|tool| tool.str().or_else(|| tool.get("name").str()));
            format!("tools: {}", names.collect::<Vec<_>>().join(", "))
        }
        _ => return None,
    })
}
