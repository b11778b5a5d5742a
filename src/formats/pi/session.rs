//! Decodes the lines of pi's container: headers, entries of every type, version 4, events.
//!
//! Invariant: every line with an id remains a link of the tree, even if it makes no entry. The
//! children of a copied line are children of the original.

use super::copies::{Copies, is_of_an_answer};
use super::decode::{Decoded, decode, emit_result};
use super::entry;
use super::event::Events;
use super::message::{self, MessageLine, ReadPrompt};
use super::retries::Retries;
use super::{block, usage};
use crate::formats::decoder::{Decoder, Format, Input, show_raw};
use crate::formats::definition::head::Head;
use crate::formats::json::Json;
use crate::formats::openclaw::wakes;
use crate::formats::unknown::{self, NamedKind};
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit, saturating_u32};
use crate::model::entry::{Break, Piece, Role};
use crate::model::fingerprint::ByKey;
use crate::model::tally::Fate;
use crate::model::text::{Name, Text, text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::identifies;
use crate::model::tool::work::{Carrier, Update, WorkEnd, WorkReference};
use crate::model::usage::Scope;

/// The maximum length of a title that the user gave, in characters.
const TITLE_CHARS: usize = 200;

pub(crate) struct SessionDecoder {
    read_prompt: ReadPrompt,
    retries: Retries,
    events: Events,
    /// Id and time of the last header.
    head: Option<(Text, Option<Timestamp>)>,
    /// Time and size of each line by id. A line that repeats an id with other values is a new line.
    line_marks: ByKey<LineMark>,
    copies: Copies,
    /// A hash of the last answer's texts.
    last_answer_hash: Option<Piece>,
    /// The sessions of background commands and sub-agents, newest last.
    commands: Vec<Key>,
    /// Key of the current record, and how many lines without an id it had before the current one.
    nameless: (Key, u32),
}

/// The prefix of a sub-agent's session key.
const AGENT: &str = "agent:";
/// The maximum number of background commands and sub-agents that are tracked.
const COMMANDS: usize = 64;
/// The minimum length of an abbreviated session name, in letters.
const SHORTENED: usize = 8;

/// Distinguishes lines with the same id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LineMark {
    /// The bytes of the time, since an array needs no padding in the struct.
    at: Option<[u8; 8]>,
    size: u32,
}

impl LineMark {
    /// The mark of a line. The content of an answer is not included: it is identified by its usage,
    /// and a decoder that only counts does not parse the content.
    fn of(at: Option<Timestamp>, json: &Json<'_>) -> Self {
        let message = json.get("message");
        let is_answer = is_of_an_answer(message.get("usage"));
        let said = if is_answer {
            message.get("content").weight()
        } else {
            0
        };
        let size = saturating_u32(json.weight().saturating_sub(said));
        Self {
            at: at.map(|at| at.0.to_ne_bytes()),
            size,
        }
    }
}

impl SessionDecoder {
    /// Makes a decoder that parses prompts with `read_prompt`.
    pub(crate) fn new(read_prompt: ReadPrompt) -> Self {
        Self {
            read_prompt,
            retries: Retries::default(),
            events: Events::new(read_prompt),
            line_marks: ByKey::default(),
            copies: Copies::default(),
            last_answer_hash: None,
            commands: Vec::new(),
            head: None,
            nameless: (Key::default(), 0),
        }
    }

    /// Emits a message that is a whole line.
    pub(crate) fn bare_message(&mut self, json: &Json<'_>, out: &mut Batch) -> Fate {
        self.events.flush(out);
        let line = self.line(json, out);
        self.message(&line, json, out)
    }

    /// Whether the line has been decoded before, here or in a file that begins with a copy of this
    /// one.
    pub(crate) fn has(&self, json: &Json<'_>) -> bool {
        let mark = LineMark::of(json.get("timestamp").moment(), json);
        json.get("id")
            .text()
            .is_some_and(|id| self.line_marks.get(&id) == Some(&mark))
    }

    fn line(&mut self, json: &Json<'_>, out: &Batch) -> MessageLine {
        let at = json.get("timestamp").moment();
        let id = |name: &str| json.get(name).text().filter(|id| identifies(id));
        let own = id("id").filter(|id| {
            let mark = LineMark::of(at, json);
            let known = self.line_marks.get(id).copied();
            if known.is_none() {
                self.line_marks.insert(id, mark);
            }
            known.is_none_or(|known| known == mark)
        });
        let key = own.unwrap_or_else(|| self.nameless_key(out));
        let parent = id("parentId").map(|parent| self.copies.meant(parent));
        MessageLine {
            key,
            parent,
            at,
            lane: None,
        }
    }

    /// A key from the position of the record. Lines within one record (a transaction of version 4)
    /// are numbered.
    fn nameless_key(&mut self, out: &Batch) -> Key {
        let place = out.origin_key();
        let number = if self.nameless.0 == place {
            self.nameless.1 + 1
        } else {
            0
        };
        self.nameless = (place.clone(), number);
        if number == 0 {
            place
        } else {
            text!("{place}#{number}")
        }
    }
}

impl Decoder for SessionDecoder {
    fn head(&self) -> &'static Head {
        super::Pi.head()
    }

    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        match input.json {
            Json::Array(lines) => self.transaction(lines, input, out),
            Json::Object(_) => self.record(input.json, out),
            _ => {
                self.events.flush(out);
                let entry = out.new_entry(out.origin_key(), Role::Harness, None);
                unknown::record(NamedKind("line", "no object"), input.json, entry, out)
            }
        }
    }

    fn finish(&mut self, out: &mut Batch) {
        self.events.flush(out);
    }
}

impl SessionDecoder {
    /// Decodes an array of lines, which late builds of version 4 write for a transaction.
    fn transaction(&mut self, lines: &[Json<'_>], input: Input<'_>, out: &mut Batch) -> Fate {
        if lines.is_empty() {
            self.events.flush(out);
        }
        let fates: Vec<Fate> = lines.iter().map(|line| self.record(line, out)).collect();
        if fates.contains(&Fate::Shown) {
            return Fate::Shown;
        }
        fates
            .first()
            .copied()
            .unwrap_or_else(|| show_raw(input, "empty transaction", out))
    }

    fn record(&mut self, json: &Json<'_>, out: &mut Batch) -> Fate {
        let kind = json.get("kind").str();
        let version_4 =
            kind.filter(|kind| matches!(*kind, "header" | "entry" | "record" | "lane" | "fact"));
        if version_4.is_none()
            && let Some(fate) = self.events.decode(json, out)
        {
            return fate;
        }
        // Deltas that were held back precede a line that does not continue them.
        self.events.flush(out);
        if let Some(kind) = version_4 {
            return self.version_4(kind, json, out);
        }
        let Some(kind) = json.get("type").str() else {
            return match json.get("role").str() {
                Some(_) => self.bare_message(json, out),
                None => self.unnamed(json, "type", out),
            };
        };
        self.entry_line(kind, json, None, out)
    }

    fn entry_line(
        &mut self,
        kind: &str,
        json: &Json<'_>,
        lane: Option<Name>,
        out: &mut Batch,
    ) -> Fate {
        if kind == "session" {
            return self.header(json, out);
        }
        let id = json.get("id").str_or_empty();
        let came_before = self.line_marks.contains(id);
        let line = MessageLine {
            lane,
            ..self.line(json, out)
        };
        let fate = self.entry_of(kind, &line, json, out);
        // A line that repeats an id with other content has a key of its own.
        let is_repeated = came_before && line.key.as_str() == id;
        if is_repeated && fate == Fate::Shown {
            Fate::Merged
        } else {
            fate
        }
    }

    fn entry_of(
        &mut self,
        kind: &str,
        line: &MessageLine,
        json: &Json<'_>,
        out: &mut Batch,
    ) -> Fate {
        match kind {
            _ if self.is_copy(kind, line, json) => Fate::Merged,
            "message" => self.message(line, json.get("message"), out),
            "compaction" => {
                let entry = message::compaction(line, json, out);
                if let Some(Edit::Meta(MetaEdit::FirstKept { first, .. })) = out.edits.last_mut() {
                    *first = self.copies.meant(std::mem::take(first));
                }
                entry::shown(entry, out)
            }
            "branch_summary" => entry::shown(message::branch_summary(line, json, out), out),
            "custom_message" => entry::shown(message::custom(line, json, out), out),
            "custom" => entry::custom_state(line, json, out),
            // Oh My Pi stores the current title in the first line, which it overwrites.
            "title" => {
                if let Some(title) = json.get("title").filled() {
                    out.title(3, Text::stub(title, TITLE_CHARS));
                }
                Fate::Merged
            }
            // A request outside of the conversation, for example for a title.
            "model_usage" => {
                if let Some(usage) = usage::read(json.get("usage"), Scope::Extra, out) {
                    let model = json.get("model").text();
                    out.usage(line.key.clone(), usage, model);
                }
                let purpose = json.get("purpose").filled().unwrap_or("something else");
                entry::harness(line, &format!("request for {purpose}"), json, out)
            }
            "session_info" | "title_change" => {
                let name = json
                    .get("name")
                    .filled()
                    .unwrap_or_else(|| json.get("title").str_or_empty());
                let title = Text::stub(name, TITLE_CHARS);
                let words = if title.is_blank() {
                    "title cleared".into()
                } else {
                    format!("title: {title}")
                };
                out.title(3, title);
                entry::setting(line, &words, out)
            }
            "model_change" => entry::model_change(line, json, out),
            _ => {
                if let Some(words) = entry::setting_of(kind, json) {
                    return entry::setting(line, &words, out);
                }
                unknown::record(
                    NamedKind("type", kind),
                    json,
                    line.entry(Role::Harness, out),
                    out,
                )
            }
        }
    }

    fn header(&mut self, json: &Json<'_>, out: &mut Batch) -> Fate {
        out.meta(MetaEdit::Id(json.get("id").text().unwrap_or_default()));
        if let Some(cwd) = json.get("cwd").text() {
            out.meta(MetaEdit::Cwd(cwd));
        }
        if let Some(model) = json.get("modelId").text() {
            out.meta(MetaEdit::Model(model));
        }
        if let Some(title) = json.get("title").filled() {
            out.title(2, Text::stub(title, TITLE_CHARS));
        }
        // Version 1 has no ids; later versions link every line.
        if json
            .get("version")
            .int()
            .is_some_and(|version| version >= 2)
        {
            out.meta(MetaEdit::LinkedTree);
        }
        let origin = ["parentSession", "branchedFrom", "parentSessionId"];
        let from = json.first(&origin, Json::filled);
        let at = json.first(&["timestamp", "createdAt"], Json::moment);
        let before = self
            .head
            .replace((json.get("id").text().unwrap_or_default(), at));
        // Another file of the session has the same header.
        if at.is_some() && before == self.head {
            return Fate::Merged;
        }
        let words = match (from, before.is_some()) {
            (Some(from), _) => format!("forked from {from}"),
            (None, true) => "another session header".to_owned(),
            (None, false) => return Fate::Merged,
        };
        let line = MessageLine {
            key: self.nameless_key(out),
            parent: None,
            at,
            lane: None,
        };
        entry::separator(&line, Break::Resumed(Text::clean(&words)), out)
    }

    /// Emits a line of an unknown type. It remains a link of the tree.
    fn unnamed(&mut self, json: &Json<'_>, class: &'static str, out: &mut Batch) -> Fate {
        let entry = self.line(json, out).entry(Role::Harness, out);
        let name = ["kind", "event", "method"]
            .into_iter()
            .find_map(|name| json.get(name).filled());
        unknown::record(NamedKind(class, name.unwrap_or_default()), json, entry, out)
    }

    // === messages ===

    /// Whether the line repeats an earlier one with another id: the same message, or the same
    /// content below the same parent.
    fn is_copy(&mut self, kind: &str, line: &MessageLine, json: &Json<'_>) -> bool {
        if line.key.as_str() != json.get("id").str_or_empty() {
            return false;
        }
        let first = match (kind, &line.parent) {
            ("message", _) => self.copies.find_original(&line.key, json.get("message")),
            (_, Some(parent)) => self.copies.find_original_record(&line.key, parent, json),
            (_, None) => None,
        };
        let first = first.cloned();
        let is_copy = first.is_some();
        if let Some(first) = first {
            self.copies.record(line.key.clone(), first);
        }
        is_copy
    }

    fn message(&mut self, line: &MessageLine, message: &Json<'_>, out: &mut Batch) -> Fate {
        let line = MessageLine {
            at: line.at.or_else(|| message.get("timestamp").moment()),
            ..line.clone()
        };
        match decode(&line, message, self.read_prompt, out) {
            Decoded::Entry(mut entry) => {
                if entry.role == Role::Assistant {
                    let said = message::words(message);
                    // The delivered copy of an answer directly follows it.
                    entry.marks.quiet |=
                        entry.marks.copy && said.is_some() && said == self.last_answer_hash;
                    self.last_answer_hash =
                        said.filter(|_| !entry.marks.copy).or(self.last_answer_hash);
                }
                self.emit_ends(&line, message, out);
                message::title(&entry, out);
                out.edits.extend(self.retries.fold(&mut entry));
                entry::shown(*entry, out)
            }
            result @ Decoded::Result { .. } => {
                if let Decoded::Result { result, .. } = &result
                    && let Some(work) = &result.work
                {
                    self.commands.push(work.handle.clone());
                    self.commands
                        .drain(..self.commands.len().saturating_sub(COMMANDS));
                }
                emit_result(&line, result, out);
                Fate::Merged
            }
        }
    }

    /// Emits the ends of background commands and sub-agents in a message, which names commands by
    /// the beginnings of their session names.
    fn emit_ends(&self, line: &MessageLine, message: &Json<'_>, out: &mut Batch) {
        if self.commands.is_empty() || !message.get("role").is("user") {
            return;
        }
        let texts = message
            .get("content")
            .blocks()
            .iter()
            .filter_map(block::text_of);
        let provenance = message.get("provenance");
        let by_agent = provenance
            .get("sourceTool")
            .str_or_empty()
            .contains("subagent");
        let source = provenance.get("sourceSessionKey").filled();
        let source = source.filter(|_| by_agent);
        let texts: Vec<&str> = texts.collect();
        let said: Vec<_> = texts
            .iter()
            .flat_map(|text| wakes::ends_of_agents(text))
            .collect();
        // An announcement by a sub-agent means that it is done, whatever its text.
        let silent = source.filter(|_| said.is_empty());
        let announced =
            silent.and_then(|key| Some((Some(key), WorkEnd::from_word(None, None)?, None)));
        for (key, end, reason) in said.into_iter().chain(announced) {
            let key = key.or(source).or_else(|| self.only_agent());
            let is_it = |known: &&Key| Some(known.as_str()) == key;
            self.emit_end(line, is_it, (end, reason), out);
        }
        for text in texts {
            for (name, end) in wakes::ends_of_commands(text) {
                let is_it = |known: &&Key| {
                    known.as_str() == name || name.len() >= SHORTENED && known.starts_with(name)
                };
                self.emit_end(line, is_it, (end, None), out);
            }
        }
    }

    /// The session of the sub-agent, if exactly one was started.
    fn only_agent(&self) -> Option<&str> {
        let mut agents = self.commands.iter().filter(|key| key.starts_with(AGENT));
        let only = agents.next()?;
        agents.next().is_none().then_some(only)
    }

    fn emit_end(
        &self,
        line: &MessageLine,
        is_it: impl Fn(&&Key) -> bool,
        (end, reason): (WorkEnd, Option<Text>),
        out: &mut Batch,
    ) {
        let Some(handle) = self.commands.iter().rev().find(is_it) else {
            return;
        };
        let about = WorkReference::handle(handle.clone());
        let update = Update {
            by: line.key.clone(),
            at: line.at,
            carrier: Carrier::Notice,
            end: Some(end),
            reason,
        };
        out.update(about, update, line.lane.clone());
    }

    // === version 4 ===

    fn version_4(&mut self, kind: &str, json: &Json<'_>, out: &mut Batch) -> Fate {
        match kind {
            "header" => self.header(json, out),
            "entry" => {
                let lane = json
                    .get("lane")
                    .text()
                    .filter(|lane| lane.as_str() != "main");
                let entry = json.get("entry");
                match entry.get("type").str() {
                    Some(kind) => self.entry_line(kind, entry, lane, out),
                    None => self.unnamed(json, "entry.type", out),
                }
            }
            "fact" => {
                let line = self.line(json, out);
                let fact = if json.get("fact").is_object() {
                    json.get("fact")
                } else {
                    json
                };
                if let Some(name) = fact.get("name").text() {
                    out.title(3, name.clone());
                    return entry::setting(&line, &format!("title: {name}"), out);
                }
                entry::harness(&line, "fact", json, out)
            }
            _ => {
                let line = self.line(json, out);
                let record = if json.get("record").is_object() {
                    json.get("record")
                } else {
                    json
                };
                let name = record.get("type").filled().unwrap_or(kind);
                unknown::record(
                    NamedKind("record.type", name),
                    json,
                    line.entry(Role::Harness, out),
                    out,
                )
            }
        }
    }
}
