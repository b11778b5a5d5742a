//! The lines of pi's container: header, entries of every type, version 4, events.
//!
//! Invariant: every line with an id stays a link of the tree, also when it makes no entry.

use std::collections::HashMap;

use super::block;
use super::entry;
use super::event::{Held, Step, Stream};
use super::message::{self, Line, ReadPrompt, Told};
use super::result;
use super::retries::Retries;
use crate::formats::decoder::{Decoder, Input, show_raw};
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{BlockKind, Break, Piece, Role};
use crate::model::moment::Moment;
use crate::model::pairing::{calls_of, identifies};
use crate::model::record::Origin;
use crate::model::tally::Fate;
use crate::model::text::{Name, Text};
use crate::model::tool::{ToolState, Verdict};

/// Characters of a title that the user gave.
const TITLE_CHARS: usize = 200;

/// Decodes one session.
pub struct SessionDecoder {
    read_prompt: ReadPrompt,
    stream: Stream,
    retries: Retries,
    held: Held,
    is_headed: bool,
    /// Time and size of the lines with ids so far: an id that comes again with others is a new line.
    seen: HashMap<Key, (Option<Moment>, usize)>,
    /// How many lines without an id the record that is being decoded has had.
    nameless: (Key, u32),
}

impl SessionDecoder {
    /// A decoder that takes prompts apart in the given way.
    pub fn new(read_prompt: ReadPrompt) -> Self {
        Self {
            read_prompt,
            stream: Stream::default(),
            retries: Retries::default(),
            held: Held::default(),
            seen: HashMap::new(),
            is_headed: false,
            nameless: (Key::default(), 0),
        }
    }

    /// Shows a message that stands alone on its line.
    pub fn bare_message(&mut self, json: &Json<'_>, out: &mut Batch) -> Fate {
        let line = self.line(json, out);
        self.tell(&line, json, out)
    }

    /// Whether the line was decoded before, here or in a file that begins with a copy of this one.
    pub fn has(&self, json: &Json<'_>) -> bool {
        let line = (json.get("timestamp").moment(), json.weight());
        json.get("id").text().is_some_and(|id| self.seen.get(&id) == Some(&line))
    }

    fn line(&mut self, json: &Json<'_>, out: &Batch) -> Line {
        let at = json.get("timestamp").moment();
        let id = |name: &str| json.get(name).text().filter(|id| identifies(id));
        let own = id("id").filter(|id| {
            let line = (at, json.weight());
            *self.seen.entry(id.clone()).or_insert(line) == line
        });
        let key = own.unwrap_or_else(|| self.nameless_key(out));
        Line { key, parent: id("parentId"), at, lane: None }
    }

    /// A key from the place; lines of one record (a transaction of version 4) are numbered.
    fn nameless_key(&mut self, out: &Batch) -> Key {
        let place = out.origin_key();
        let number = if self.nameless.0 == place { self.nameless.1 + 1 } else { 0 };
        self.nameless = (place.clone(), number);
        if number == 0 { place } else { Text::clean(&format!("{place}#{number}")) }
    }
}

impl Decoder for SessionDecoder {
    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        match input.json {
            Json::Array(lines) => self.transaction(lines, input, out),
            Json::Object(_) => self.record(input.json, out),
            _ => {
                out.unknown("line that is no object");
                show_raw(input, "value", out)
            }
        }
    }

    fn finish(&mut self, out: &mut Batch) {
        self.held.give_out(out);
    }
}

impl SessionDecoder {
    /// Late builds of version 4 write the lines of one transaction as an array.
    fn transaction(&mut self, lines: &[Json<'_>], input: Input<'_>, out: &mut Batch) -> Fate {
        let fates: Vec<Fate> = lines.iter().map(|line| self.record(line, out)).collect();
        if fates.contains(&Fate::Shown) {
            return Fate::Shown;
        }
        fates.first().copied().unwrap_or_else(|| show_raw(input, "empty transaction", out))
    }

    fn record(&mut self, json: &Json<'_>, out: &mut Batch) -> Fate {
        if let Some(kind @ ("header" | "entry" | "record" | "lane" | "fact")) = json.get("kind").str() {
            return self.version_4(kind, json, out);
        }
        let Some(kind) = json.get("type").str() else {
            return match json.get("role").str() {
                Some(_) => self.bare_message(json, out),
                None => self.unnamed(json, "line without a type", out),
            };
        };
        match self.stream.step(json, out) {
            Step::Other => {
                self.held.give_out(out);
                self.entry_line(kind, json, None, out)
            }
            step => self.event(json, step, out),
        }
    }

    fn entry_line(&mut self, kind: &str, json: &Json<'_>, lane: Option<Name>, out: &mut Batch) -> Fate {
        if kind == "session" {
            return self.header(json, out);
        }
        let id = json.get("id").str_or_empty();
        let came_before = self.seen.contains_key(id);
        let line = Line { lane, ..self.line(json, out) };
        let fate = self.entry_of(kind, &line, json, out);
        // A line with a known id and other content has got a key of its own.
        let is_repeated = came_before && line.key.as_str() == id;
        if is_repeated && fate == Fate::Shown { Fate::Merged } else { fate }
    }

    fn entry_of(&mut self, kind: &str, line: &Line, json: &Json<'_>, out: &mut Batch) -> Fate {
        match kind {
            "message" => self.tell(line, json.get("message"), out),
            "compaction" => entry::shown(message::compaction(line, json, out), out),
            "branch_summary" => entry::shown(message::branch_summary(line, json, out), out),
            "custom_message" => entry::shown(message::custom(line, json, out), out),
            "custom" => entry::custom_state(line, json, out),
            "session_info" => {
                let title = Text::stub(json.get("name").str_or_empty(), TITLE_CHARS);
                let told = if title.is_blank() { "title cleared".into() } else { format!("title: {title}") };
                out.meta(MetaEdit::Title { rank: 3, title });
                entry::setting(line, &told, out)
            }
            "model_change" => entry::model_change(line, json, out),
            _ => {
                if let Some(told) = entry::setting_of(kind, json) {
                    return entry::setting(line, &told, out);
                }
                out.unknown(&format!("type {kind}"));
                let mut entry = line.entry(Role::Harness, out);
                entry.blocks.push(block::tree(kind, json, out));
                entry::shown(entry, out)
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
        // Version 1 has no ids; later ones link every line.
        if json.get("version").int().is_some_and(|version| version >= 2) {
            out.meta(MetaEdit::LinkedTree);
        }
        let origin = ["parentSession", "branchedFrom", "parentSessionId"];
        let from = origin.iter().find_map(|name| json.get(name).filled());
        let told = match (from, std::mem::replace(&mut self.is_headed, true)) {
            (Some(from), _) => format!("forked from {from}"),
            (None, true) => "another session header".to_owned(),
            (None, false) => return Fate::Merged,
        };
        let at = json.get("timestamp").moment().or_else(|| json.get("createdAt").moment());
        let line = Line { key: self.nameless_key(out), parent: None, at, lane: None };
        entry::across(&line, Break::Resumed(Text::clean(&told)), out)
    }

    /// Shows a line of a type that is not named here. It stays a link of the tree.
    fn unnamed(&mut self, json: &Json<'_>, what: &str, out: &mut Batch) -> Fate {
        out.unknown(what);
        let line = self.line(json, out);
        let mut entry = line.entry(Role::Harness, out);
        entry.blocks.push(block::tree(what, json, out));
        entry::shown(entry, out)
    }

    // === messages ===

    fn tell(&mut self, line: &Line, message: &Json<'_>, out: &mut Batch) -> Fate {
        let line = Line { at: line.at.or_else(|| message.get("timestamp").moment()), ..line.clone() };
        match message::decode(&line, message, self.read_prompt, out) {
            Told::Entry(mut entry) => {
                message::title(&entry, out);
                out.edits.extend(self.retries.fold(&mut entry));
                entry::shown(*entry, out)
            }
            result @ Told::Result { .. } => {
                entry::tell_result(&line, result, out);
                Fate::Merged
            }
        }
    }

    // === events ===

    fn event(&mut self, json: &Json<'_>, step: Step<'_, '_>, out: &mut Batch) -> Fate {
        match step {
            Step::Message { key, message, first, is_open, is_new } => {
                let line = Line { key, parent: None, at: message.get("timestamp").moment(), lane: None };
                let told = self.part(&line, message, first, is_open, out);
                if told && is_new { Fate::Shown } else { Fate::Merged }
            }
            Step::Messages(messages) => {
                let fates: Vec<Fate> = messages.into_iter().map(|one| self.bare_message(one, out)).collect();
                if fates.contains(&Fate::Shown) { Fate::Shown } else { Fate::Merged }
            }
            Step::Running => {
                self.held.give_out_entry(out);
                self.running(json, out)
            }
            Step::Ended => {
                self.held.give_out_entry(out);
                self.ended(json, out)
            }
            Step::Repeated => {
                self.held.give_out(out);
                Fate::Merged
            }
            Step::Border(what) => {
                self.held.give_out(out);
                Fate::Passed(what)
            }
            Step::Other => self.unnamed(json, "event", out),
        }
    }

    /// Tells a message as far as it is. Whether it is an entry.
    fn part(
        &mut self,
        line: &Line,
        message: &Json<'_>,
        first: Origin,
        is_open: bool,
        out: &mut Batch,
    ) -> bool {
        match message::decode(line, message, self.read_prompt, out) {
            Told::Entry(mut entry) => {
                entry.marks.open = is_open;
                entry.origin = first;
                calls_of(&entry).for_each(|call| self.stream.see_call(call.key.clone()));
                message::title(&entry, out);
                self.held.entry(entry);
                if !is_open {
                    self.held.give_out_entry(out);
                }
                true
            }
            Told::Result { call, mut result, child, usage } => {
                // The execution of the tool told the same result before.
                result.key = entry::result_key(&call);
                if is_open {
                    self.held.result(call, result);
                } else {
                    self.held.forget_result(&result.key);
                    entry::tell_result(line, Told::Result { call, result, child, usage }, out);
                }
                false
            }
        }
    }

    /// A call that no message told is shown by its execution.
    fn running(&mut self, json: &Json<'_>, out: &mut Batch) -> Fate {
        let call = result::call_key(json.get("toolCallId"));
        if self.stream.knows_call(&call) {
            out.push(Edit::State { call, state: ToolState::Running });
            return Fate::Merged;
        }
        self.stream.see_call(call.clone());
        let line = self.line(json, out);
        let mut entry = line.entry(Role::Assistant, out);
        entry
            .blocks
            .push(Batch::block(Piece(0), BlockKind::Call(Box::new(block::execution(json, call, out)))));
        entry::shown(entry, out)
    }

    fn ended(&mut self, json: &Json<'_>, out: &mut Batch) -> Fate {
        let call = result::call_key(json.get("toolCallId"));
        // First, so that its bodies have the same numbers whether or not the call was told before.
        let mut told =
            result::read(entry::result_key(&call), json.get("result"), json.get("timestamp").moment(), out);
        if json.get("isError").is_true() && told.verdict == Verdict::Done {
            told.verdict = Verdict::Failed;
        }
        let fate = self.running(json, out);
        self.held.result(call, Box::new(told));
        fate
    }

    // === version 4 ===

    fn version_4(&mut self, kind: &str, json: &Json<'_>, out: &mut Batch) -> Fate {
        match kind {
            "header" => self.header(json, out),
            "entry" => {
                let lane = json.get("lane").text().filter(|lane| lane.as_str() != "main");
                let entry = json.get("entry");
                match entry.get("type").str() {
                    Some(kind) => self.entry_line(kind, entry, lane, out),
                    None => self.unnamed(json, "entry without a type", out),
                }
            }
            "fact" => {
                let line = self.line(json, out);
                let fact = if json.get("fact").is_object() { json.get("fact") } else { json };
                if let Some(name) = fact.get("name").text() {
                    out.meta(MetaEdit::Title { rank: 3, title: name.clone() });
                    return entry::setting(&line, &format!("title: {name}"), out);
                }
                entry::harness(&line, "fact", json, out)
            }
            _ => {
                let line = self.line(json, out);
                let record = if json.get("record").is_object() { json.get("record") } else { json };
                let title = record.get("type").filled().unwrap_or(kind).to_owned();
                entry::harness(&line, &title, json, out)
            }
        }
    }
}
