//! Entries for settings of a session and for the state of extensions.

use itertools::Itertools as _;

use super::block;
use super::message::MessageLine;
use crate::formats::json::Json;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{BlockKind, Break, Entry, Role};
use crate::model::tally::Fate;
use crate::model::text::Text;

pub(crate) fn shown(entry: Entry, out: &mut Batch) -> Fate {
    out.show(entry)
}

pub(crate) fn separator(line: &MessageLine, at: Break, out: &mut Batch) -> Fate {
    let mut entry = line.entry(Role::Harness, out);
    entry.push(at);
    shown(entry, out)
}

/// Emits a setting that applies from here on.
pub(crate) fn setting(line: &MessageLine, words: &str, out: &mut Batch) -> Fate {
    separator(line, Break::setting(words), out)
}

/// Emits a quiet record of the harness as a tree.
pub(crate) fn harness(line: &MessageLine, title: &str, json: &Json<'_>, out: &mut Batch) -> Fate {
    let mut entry = line.entry(Role::Harness, out);
    (entry.marks.quiet, entry.marks.unsent) = (true, true);
    entry.blocks.push(block::tree(title, json, out));
    shown(entry, out)
}

/// Emits a change of the model.
pub(crate) fn model_change(line: &MessageLine, json: &Json<'_>, out: &mut Batch) -> Fate {
    // Oh My Pi joins provider and model, and records the role in which the model is used.
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
    separator(line, Break::ModelChange(model), out)
}

/// Emits the state that an extension stores in the file. The model does not see it.
pub(crate) fn custom_state(line: &MessageLine, json: &Json<'_>, out: &mut Batch) -> Fate {
    let kind = json.get("customType").str_or_empty();
    let data = json.get("data");
    let mut entry = line.entry(Role::Harness, out);
    entry.marks.unsent = true;
    if kind == "openclaw:prompt-error" {
        let error = data.get("error").filled().unwrap_or("the prompt failed");
        entry.push(Break::error(error));
        // The other fields share one row, as they matter less than the error.
        let title = format!("{kind} · {}", brief(data, "error"));
        entry
            .blocks
            .push(block::raw_text(title.trim_end_matches(" · "), "", out));
        return shown(entry, out);
    }
    // Oh My Pi's own: the exit of a process, and the start of a call that the answer also records.
    if kind == "session_exit" {
        let why = data
            .first(&["reason", "kind"], Json::filled)
            .unwrap_or_default();
        return separator(line, Break::Ended(Text::clean(why)), out);
    }
    entry.marks.quiet = true;
    entry.marks.trace = kind == "tool_execution_start";
    let headline = Text::clean(&brief(data, ""));
    let body = data.to_body(&headline, out);
    entry.push(BlockKind::raw(kind, body));
    shown(entry, out)
}

/// The values of a flat object on one row, without the named member.
fn brief(data: &Json<'_>, without: &str) -> String {
    let members = data
        .members()
        .iter()
        .filter(|(name, _)| *name != without && *name != "timestamp");
    let mut words = members.filter_map(|(name, value)| match value {
        Json::Str(_) => value.filled().map(|text| format!("{name} {text}")),
        Json::Bool(_) | Json::Integer(_) | Json::Number(_) => {
            Some(format!("{name} {}", value.to_source()))
        }
        Json::Null | Json::Array(_) | Json::Object(_) | Json::Deep(_) => None,
    });
    words.join(" · ")
}

/// The text of a line that only changes a setting; `None` for other lines.
pub(crate) fn setting_of(kind: &str, json: &Json<'_>) -> Option<String> {
    Some(match kind {
        "label" => match json.get("label").filled() {
            Some(label) => format!("label of {}: {label}", json.get("targetId").str_or_empty()),
            None => format!("label of {} cleared", json.get("targetId").str_or_empty()),
        },
        "active_tools_change" => {
            let tools = json.members().iter().flat_map(|(_, value)| value.items());
            let mut names = tools.filter_map(|tool| tool.str().or_else(|| tool.get("name").str()));
            format!("tools: {}", names.join(", "))
        }
        _ => return None,
    })
}
