//! The trajectory beside a transcript: a run log of the gateway, not the conversation.
//!
//! Invariant: its usage repeats that of the transcript; it is shown and never counted.

use itertools::Itertools as _;

use crate::formats::json::Json;
use crate::formats::pi::block;
use crate::formats::probe::Probe;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{Block, Break, Piece, Role};
use crate::model::tally::Fate;
use crate::model::text::{Text, text};

/// Prefixes of the types of records that have `runId` and `sessionId` instead of a schema.
const KINDS: [&str; 4] = ["session.", "trace.", "model.", "context."];

/// The reason if a file is a trajectory.
pub(crate) fn sniff(probe: &Probe<'_>) -> Option<&'static str> {
    if probe.lines.iter().any(is_record) {
        return Some("records of a trajectory");
    }
    let name = probe.path.file_name()?.to_string_lossy().into_owned();
    name.contains(".trajectory.jsonl")
        .then_some("named as a trajectory")
}

pub(crate) fn is_record(line: &Json<'_>) -> bool {
    let kind = line.kind();
    let is_run = line.has("runId") && line.has("sessionId");
    line.get("traceSchema").is("openclaw-trajectory")
        || (is_run
            && (KINDS.iter().any(|start| kind.starts_with(start)) || kind.starts_with("prompt.")))
        || (is_run && kind.is_empty() && line.has("modelId") && line.has("ts"))
        || (kind.is_empty() && line.has("window") && line.has("paid_tokens"))
}

/// Decodes a record of a trajectory; `None` if it is not one.
pub(crate) fn decode(json: &Json<'_>, out: &mut Batch) -> Option<Fate> {
    if !is_record(json) {
        return None;
    }
    let data = json.get("data");
    let facts = [
        json.get("sessionId").text().map(MetaEdit::Id),
        json.get("workspaceDir").text().map(MetaEdit::Cwd),
        json.get("modelId").text().map(MetaEdit::Model),
        data.get("agentId").text().map(MetaEdit::Agent),
        data.at("harness.version").text().map(MetaEdit::Version),
    ];
    facts.into_iter().flatten().for_each(|fact| out.meta(fact));
    if let Some(of) = json.first(&["sessionKey", "sessionId"], Json::filled) {
        out.title(1, text!("run log of {of}"));
    }
    let mut entry = out.new_entry(out.origin_key(), Role::Harness, json.get("ts").moment());
    let kind = json.get("type").filled().unwrap_or("run");
    // The event is shown as text; the record itself is one row below it.
    entry.marks.quiet = true;
    entry.blocks.extend(happened(kind, data, out));
    let title = [kind, &headline(json)].join(" · ");
    entry
        .blocks
        .push(block::tree(title.trim_end_matches(" · "), json, out));
    out.entry(entry);
    Some(Fate::Shown)
}

fn happened(kind: &str, data: &Json<'_>, out: &mut Batch) -> Vec<Block> {
    let across = |at: Break| Block::new(Piece(0), at);
    let word = |name: &str| data.get(name).filled();
    let mut blocks = Vec::new();
    match kind {
        "session.started" => {
            let who = [word("trigger"), word("messageProvider")]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>();
            let tools = data
                .get("toolCount")
                .count()
                .map(|n| format!(" with {n} tools"))
                .unwrap_or_default();
            let recorded = format!(
                "run started by {}{tools}",
                if who.is_empty() {
                    "?".into()
                } else {
                    who.join(" through ")
                }
            );
            blocks.push(across(Break::setting(&recorded)));
        }
        "prompt.submitted" => blocks.extend(block::text(word("prompt").unwrap_or_default(), out)),
        "model.completed" => {
            let mut said = data
                .get("assistantTexts")
                .items()
                .iter()
                .filter_map(Json::filled);
            blocks.extend(block::text(&said.join("\n\n"), out));
            // Each later record of the run repeats the failure.
            blocks.extend(word("promptError").map(|error| across(Break::error(error))));
        }
        "session.ended" => {
            blocks.push(across(Break::Ended(Text::clean(
                word("status").unwrap_or("run"),
            ))));
        }
        _ => {}
    }
    blocks
}

fn headline(json: &Json<'_>) -> String {
    let data = json.get("data");
    let mut facts = Vec::new();
    let words = ["trigger", "status", "finalStatus", "window"];
    facts.extend(
        words
            .iter()
            .filter_map(|name| data.get(name).filled().or_else(|| json.get(name).filled()))
            .map(str::to_owned),
    );
    facts.extend(json.get("modelId").filled().map(str::to_owned));
    let usage = data.get("usage");
    for (name, word) in [("input", "in"), ("output", "out"), ("total", "total")] {
        facts.extend(usage.get(name).count().map(|n| format!("{n} {word}")));
    }
    for (name, word) in [("paid_tokens", "paid"), ("local_tokens", "local")] {
        facts.extend(json.get(name).count().map(|n| format!("{n} {word}")));
    }
    let flags = ["aborted", "timedOut"];
    facts.extend(
        flags
            .iter()
            .filter(|name| data.get(name).is_true())
            .map(|name| (*name).to_owned()),
    );
    facts.join(" · ")
}
