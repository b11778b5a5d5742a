//! Cline: the messages file of its core (`<sid>.messages.json`), the session's manifest beside it, and
//! the two task files of the older VS Code extension, which Roo Code and Kilo Code write too.

mod core;
mod metrics;
mod places;
mod result;
mod ui;

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use super::decoder::{Confidence, Decoder, Format, Input, Pattern, Place, Probe, Verdict, show_raw};
use super::json::Json;
use super::roots::{Beside, Named, Root};
use crate::model::body::Key;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{BlockKind, Piece, Raw, Role};
use crate::model::record::{FileId, Shape};
use crate::model::tally::Fate;
use crate::model::text::{Name, Text};

/// The format.
pub struct Cline;

impl Format for Cline {
    fn name(&self) -> &'static str {
        "cline"
    }

    fn omits(&self) -> &'static str {
        "when tools started and ended; anything while a message is being written"
    }

    fn sniff(&self, probe: &Probe<'_>) -> Verdict {
        sniff(probe)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ClineDecoder::default())
    }

    fn companions(&self, path: &Path) -> Vec<Pattern> {
        companions(path)
    }

    fn roots(&self) -> &'static [Root] {
        places::ROOTS
    }

    fn named<'p>(&self, path: &'p Path) -> Option<Named<'p>> {
        places::named(path)
    }

    fn beside(&self, path: &Path) -> Beside {
        places::beside(path)
    }
}

/// The manifest, and for the lead of a session the files of its sub-agents in the same folder.
fn companions(path: &Path) -> Vec<Pattern> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
    let Some(session) = name.strip_suffix(".messages.json") else { return Vec::new() };
    let mut patterns = vec![Pattern(path.with_file_name(format!("{session}.json")))];
    if path.parent().and_then(Path::file_name).is_some_and(|folder| folder == session) {
        patterns.push(Pattern(path.with_file_name("*.messages.json")));
    }
    patterns
}

fn sniff(probe: &Probe<'_>) -> Verdict {
    let yes = |confidence, reason: &str| Verdict::yes(confidence, Shape::Document, reason);
    if let Some(header) = probe.header.filter(|header| header.is_object()) {
        let is_ours = matches!(header.get("agent").str(), Some("lead" | "subagent" | "teammate"));
        let has_version = header.get("version").number().is_some();
        if header.has("messages") && has_version && is_ours {
            return yes(
                Confidence::Certain,
                "version, messages and the agent's part (lead, subagent, teammate)",
            );
        }
        if header.has("messages") && header.has("source_message_count") {
            return yes(Confidence::Certain, "a compaction sidecar (source_message_count)");
        }
        if header.has("messages") && has_version && header.has("sessionId") && !header.has("projectHash") {
            return yes(Confidence::Likely, "version, sessionId and messages");
        }
        if is_manifest(header) {
            return yes(Confidence::Certain, "the manifest of a session (messages_path)");
        }
    }
    let mut elements = probe.elements.iter().filter(|element| element.is_object()).peekable();
    if elements.peek().is_none() {
        return Verdict::no("neither version, messages and agent, nor an array of messages");
    }
    if elements.clone().all(ui::is_message) {
        return yes(Confidence::Certain, "an array of ask and say messages (ui_messages.json)");
    }
    let is_history = |element: &Json<'_>| {
        element.has("role") && element.has("content") && !element.has("type") && !element.has("id")
    };
    let is_named = probe.path.file_name().is_some_and(|name| {
        name.to_str().is_some_and(|name| name.ends_with("api_conversation_history.json"))
    });
    let is_array = probe.header.is_none_or(|header| !header.is_object());
    if is_array && elements.clone().all(is_history) {
        if is_named {
            return yes(
                Confidence::Certain,
                "an array of role and content, named api_conversation_history.json",
            );
        }
        if elements.any(core::has_legacy_marks) {
            return yes(
                Confidence::Likely,
                "an array of role and content with <environment_details> or <task>",
            );
        }
    }
    Verdict::no("messages without Cline's marks")
}

fn is_manifest(header: &Json<'_>) -> bool {
    let names_messages = header.get("messages_path").str_or_empty().ends_with(".messages.json");
    header.has("session_id") && (names_messages || (header.has("started_at") && header.has("enable_tools")))
}

/// Decodes one session with its sub-agents.
#[derive(Default)]
struct ClineDecoder {
    /// Lanes by file: the opened one is the main lane, companions are sub-agents.
    lanes: HashMap<FileId, Name>,
    /// Calls of the older extension whose results come as plain text, in order.
    text_results: VecDeque<Key>,
    ui: ui::Screen,
    has_prompt: bool,
}

impl Decoder for ClineDecoder {
    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        let Input { json, place } = input;
        let has_messages = json.has("messages");
        match place {
            Place::File(_) if has_messages => self.whole_file(json, out),
            Place::File(_) if is_manifest(json) => manifest(json, out),
            Place::Header if has_messages => self.header(json, out),
            Place::Header if is_manifest(json) => {
                let title =
                    Text::clean("manifest of a session: its messages are in the file named messages_path");
                manifest(json, out);
                show_raw(input, &title, out)
            }
            Place::Header if json.items().is_empty() && !json.is_object() => {
                Fate::Passed("the brackets of an array")
            }
            _ if ui::is_message(json) => self.ui.decode(json, out),
            _ if json.get("role").filled().is_some() => self.message(json, None, out),
            _ => {
                out.unknown("record without role");
                show_raw(input, "record", out)
            }
        }
    }
}

impl ClineDecoder {
    fn header(&mut self, json: &Json<'_>, out: &mut Batch) -> Fate {
        let id = json.get("sessionId").filled().or(json.get("conversation_id").filled());
        let agent = json.get("agent").text();
        if out.origin().file == FileId::default() {
            let told = [id.map(|id| MetaEdit::Id(Text::clean(id))), agent.map(MetaEdit::Agent)];
            told.into_iter().flatten().for_each(|edit| out.meta(edit));
        } else {
            let name = lane_name(id.unwrap_or_default());
            let label = agent.map(|agent| Text::clean(&format!("{agent} {name}")));
            out.meta(MetaEdit::Lane { name: name.clone(), label, call: None });
            self.lanes.insert(out.origin().file, name);
        }
        let Some(prompt) = json.get("system_prompt").filled() else { return Fate::Merged };
        let key = Text::clean(&format!("system:{}", out.origin().file.0));
        let mut entry = out.new_entry(key, Role::System, None);
        entry.lane = self.lane(out);
        entry.marks.quiet = true;
        entry.blocks.push(Batch::block(Piece::default(), BlockKind::Text(out.prose(prompt))));
        out.entry(entry);
        Fate::Shown
    }

    /// A companion comes whole: its header and all of its messages in one record.
    fn whole_file(&mut self, json: &Json<'_>, out: &mut Batch) -> Fate {
        self.header(json, out);
        for (index, message) in json.get("messages").items().iter().enumerate() {
            self.message(message, Some(index), out);
        }
        Fate::Shown
    }

    /// The lane of the file that is being read.
    fn lane(&self, out: &Batch) -> Option<Name> {
        self.lanes.get(&out.origin().file).cloned()
    }

    fn first_prompt(&mut self, text: &str, out: &mut Batch) {
        if !self.has_prompt && out.origin().file == FileId::default() {
            self.has_prompt = true;
            out.meta(MetaEdit::Title { rank: 0, title: Text::stub(text, 120) });
        }
    }
}

/// `<sid>__<agent>` for sub-agents, `<sid>__teamtask__<agent>__<task>` for the tasks of team mates.
fn lane_name(session: &str) -> Name {
    let own = session.split_once("__").map_or(session, |(_, own)| own);
    Text::clean(own.strip_prefix("teamtask__").unwrap_or(own))
}

fn manifest(json: &Json<'_>, out: &mut Batch) -> Fate {
    let metadata = json.get("metadata");
    let live = match json.get("status").str_or_empty() {
        "running" | "pending" => Some(true),
        "completed" | "failed" | "cancelled" => Some(false),
        _ => None,
    };
    let told = [
        json.get("session_id").text().map(MetaEdit::Id),
        metadata.get("title").text().map(|title| MetaEdit::Title { rank: 2, title }),
        json.get("cwd").text().map(MetaEdit::Cwd),
        live.map(|live| MetaEdit::Live(Some(live))),
    ];
    told.into_iter().flatten().for_each(|edit| out.meta(edit));
    Fate::Merged
}

/// A block that shows text under a title.
fn raw(title: &str, text: &str, out: &mut Batch) -> BlockKind {
    BlockKind::Raw(Raw { title: Text::clean(title), body: out.prose(text) })
}

/// A block that shows a value for which there is no better form.
fn raw_tree(title: &str, json: &Json<'_>, out: &mut Batch) -> BlockKind {
    let title = Text::clean(title);
    let body = out.tree(&title, json.weight(), || json.to_tree());
    BlockKind::Raw(Raw { title, body })
}

#[cfg(test)]
mod tests;
