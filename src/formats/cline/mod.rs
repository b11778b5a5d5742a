//! Cline: the messages file of its core (`<sid>.messages.json`) with the files of sub-agents and
//! the manifest beside it, and the two task files of the older VS Code extension, which Roo Code
//! and Kilo Code write as well.

mod call;
mod content;
mod history;
mod lanes;
mod manifest;
mod message;
mod metrics;
mod panel;
mod places;
mod result;
mod sniff;
mod task;
mod xml;

use std::path::Path;

use self::message::{KnownMessage, MessageFiles};
use self::panel::request::PanelRequest;
use super::decoder::{BESIDE, Decoder, Format, Input, RecordPlace};
use super::definition::head::Head;
use super::definition::heads::head;
use super::json::Json;
use super::probe::{Probe, ProbeResult};
use super::roots::{FileRole, Pattern, SessionName, file_name};
use super::unknown::{self, NamedKind};
use super::zeros::ZeroCosts;
use crate::model::edit::{Batch, MetaEdit, Severity};
use crate::model::entry::{Block, BlockKind, Break, Piece, Role};
use crate::model::record::FileId;
use crate::model::tally::Fate;
use crate::model::text::{Text, text};

pub(crate) struct Cline;

impl Format for Cline {
    head!("cline");

    fn decoder(&self, _: Option<&Path>) -> Box<dyn Decoder> {
        Box::new(ZeroCosts::new(ClineDecoder::default()))
    }

    fn sniff(&self, probe: &Probe<'_>) -> ProbeResult {
        sniff::sniff(probe)
    }

    fn session_name<'p>(&self, path: &'p Path) -> Option<SessionName<'p>> {
        places::named(path)
    }

    fn files(&self, path: &Path, role: FileRole<'_>) -> Vec<Pattern> {
        match role {
            FileRole::Companion => companions(path),
            FileRole::Manifest => Pattern::list(places::manifest(path)),
            FileRole::Instead => Pattern::list(places::instead(path)),
            FileRole::Requested(wanted) => {
                let messages = path.with_file_name(wanted);
                let beside = companions(&messages);
                std::iter::once(Pattern(messages)).chain(beside).collect()
            }
            _ => self.head().files(path, role),
        }
    }
}

/// The file in which Roo Code and its forks record the folder and the total usage of a task. The
/// messages have the usage in detail.
const TASK: &str = "history_item.json";

/// The files of a session besides the opened one. For the lead's messages: the manifest, the
/// compaction sidecar and the files of its agents. For a task's API history: the panel's messages.
/// For both task files: the facts of the task.
fn companions(path: &Path) -> Vec<Pattern> {
    let beside = |name: &str| Pattern(path.with_file_name(name));
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or("");
    match name {
        places::HISTORY => return vec![beside(places::SCREEN), beside(TASK)],
        places::SCREEN => return vec![beside(places::HISTORY), beside(TASK)],
        _ => {}
    }
    let Some(session) = name.strip_suffix(".messages.json") else {
        return Vec::new();
    };
    let mut patterns = vec![beside(&format!("{session}.json"))];
    if path
        .parent()
        .and_then(Path::file_name)
        .is_some_and(|folder| folder == session)
    {
        patterns.push(beside(&format!("{session}.compaction.json")));
        patterns.push(beside("*.messages.json"));
    }
    patterns
}

/// Decodes one session with its sub-agents.
#[derive(Default)]
struct ClineDecoder {
    messages: MessageFiles,
    panel: panel::Panel,
}

impl Decoder for ClineDecoder {
    fn head(&self) -> &'static Head {
        Cline.head()
    }

    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        let Input { json, place } = input;
        match place {
            RecordPlace::File(path) if json.has("messages") => self.file(path, json, out),
            RecordPlace::File(path) if path.ends_with(TASK) => {
                if let Some(folder) = json.get("workspace").text() {
                    out.meta(MetaEdit::Cwd(folder));
                }
                BESIDE
            }
            RecordPlace::File(_) if manifest::is_manifest(json) => {
                manifest::emit(json, &mut self.messages.bill, out);
                Fate::Shown
            }
            RecordPlace::File(path) if file_name(path) == places::HISTORY => {
                self.messages.read_usage(json.items(), out);
                let key_of = |request: &PanelRequest, _: &KnownMessage| request.key.clone();
                task::bill(
                    &self.panel.requests,
                    &mut self.messages.history,
                    key_of,
                    out,
                );
                BESIDE
            }
            RecordPlace::File(_) if !json.items().is_empty() => {
                task::emit(json.items(), &mut self.messages.history, out)
            }
            RecordPlace::Header if json.has("messages") => {
                Self::opened(json, out);
                self.header(json, out)
            }
            RecordPlace::Header if manifest::is_manifest(json) => {
                manifest::emit(json, &mut self.messages.bill, out);
                out.requested_files
                    .extend(manifest::messages_file(json).map(Text::clean));
                Fate::Shown
            }
            RecordPlace::Header if json.items().is_empty() && !json.is_object() => {
                Fate::Passed("the brackets of an array")
            }
            _ if panel::is_message(json) => self.panel.decode(json, out),
            _ if json.get("role").filled().is_some() => {
                self.message(json, out).unwrap_or(Fate::Merged)
            }
            _ => {
                let entry = out.new_entry(out.origin_key(), Role::Harness, None);
                unknown::record(NamedKind("type", json.kind()), json, entry, out)
            }
        }
    }

    fn finish(&mut self, out: &mut Batch) {
        self.messages.lanes.emit(out);
        self.messages.emit_unbilled(out);
        self.messages.bill.check(out);
    }
}

impl ClineDecoder {
    /// Emits the facts of the session from the opened file.
    fn opened(json: &Json<'_>, out: &mut Batch) {
        let id = json.first(&["sessionId", "conversation_id"], Json::text);
        let edits = [
            id.map(MetaEdit::Id),
            json.get("agent").text().map(MetaEdit::Agent),
            json.at("origin.version").text().map(MetaEdit::Version),
        ];
        edits.into_iter().flatten().for_each(|edit| out.meta(edit));
    }

    /// Decodes the header of a messages file: the system prompt, and the kind of a sidecar.
    fn header(&mut self, json: &Json<'_>, out: &mut Batch) -> Fate {
        let file = out.origin().file;
        if let Some(version) = sniff::unknown_version(json) {
            let what = format!("version {version} of the file: only version 1 is known");
            out.notice(Severity::Warning, &what);
        }
        let mut shown = Vec::new();
        if let Some(count) = json.get("source_message_count").count() {
            let what = format!(
                "a shortened copy for the model, made from {count} messages of the session"
            );
            shown.push(BlockKind::Break(Break::setting(&what)));
        }
        if let Some(prompt) = json.get("system_prompt").filled() {
            shown.push(BlockKind::Text(out.prose(prompt)));
        }
        if shown.is_empty() {
            return Fate::Merged;
        }
        let mut entry = out.new_entry(text!("system:{}", file.0), Role::System, None);
        entry.lane = self.messages.lanes.of(file);
        entry.marks.quiet = true;
        entry.blocks = shown
            .into_iter()
            .map(|kind| Block::new(Piece::default(), kind))
            .collect();
        out.show(entry)
    }

    /// Decodes a file beside the opened one. Its header and all of its messages are one record.
    fn file(&mut self, path: &Path, json: &Json<'_>, out: &mut Batch) -> Fate {
        if json.has("source_message_count") {
            return sidecar(json, out);
        }
        let file = out.origin().file;
        // If the manifest was opened, the lead's own file is a file beside it.
        if json.get("agent").is("lead") {
            Self::opened(json, out);
        } else {
            self.messages.lanes.begin(file, path, json);
        }
        self.header(json, out);
        self.messages.restart(file);
        let mut copied = 0_usize;
        for message in json.get("messages").items() {
            copied += usize::from(self.message(message, out).is_none());
        }
        if copied > 0 {
            let mut entry = out.new_entry(text!("copied:{}", file.0), Role::Harness, None);
            entry.lane = self.messages.lanes.of(file);
            let what = format!("holds {copied} messages of the session that it was forked from");
            entry.push_piece(Piece::default(), Break::Resumed(Text::clean(&what)));
            out.entry(entry);
        }
        Fate::Shown
    }

    /// Decodes a message; `None` for a copy.
    fn message(&mut self, json: &Json<'_>, out: &mut Batch) -> Option<Fate> {
        self.messages.decode(json, out).ok()
    }
}

/// Emits the compaction sidecar as a quiet entry: it has the model's shortened context, whose
/// messages are all in the complete file.
fn sidecar(json: &Json<'_>, out: &mut Batch) -> Fate {
    let file: FileId = out.origin().file;
    let mut entry = out.new_entry(text!("sidecar:{}", file.0), Role::Harness, None);
    entry.marks.quiet = true;
    let count = json.get("source_message_count").count().unwrap_or(0);
    let title = format!("compaction sidecar: the context that {count} messages were shortened to");
    entry.push_piece(Piece::default(), content::raw_tree(&title, json, out));
    out.show(entry)
}

#[cfg(test)]
mod tests;
