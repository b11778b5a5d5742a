//! The decoder: sessions, messages and parts in whatever order they come become entries.
//!
//! Invariant: a part that comes before its message is held, and shown at the end of the reading at
//! the latest. What a part showed is the same either way.

use std::collections::{HashMap, HashSet};

use super::part::{self, Part};
use super::{event_of, events, is_event, message};
use crate::formats::decoder::{Decoder, Input, Place, show_raw};
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{Block, BlockKind, Break, Entry, Marks, Piece, Role};
use crate::model::pairing::identifies;
use crate::model::tally::Fate;
use crate::model::text::{Name, Text};
use crate::model::tool::ToolState;

/// Decodes one session with its child sessions.
#[derive(Default)]
pub(super) struct OpencodeDecoder {
    main: Option<Text>,
    /// Whether a message has confirmed which session is the main one.
    is_main_sure: bool,
    /// Sessions that others started.
    offspring: HashSet<Text>,
    /// From which message on a session is undone, and whether that message is too.
    undone: HashMap<Text, (Text, bool)>,
    pub(super) heads: HashMap<Key, Head>,
    facts: HashMap<Key, Facts>,
    held: Vec<(Key, Text, Part)>,
    pub(super) removed: HashSet<Key>,
    /// The part that first used a call id: models repeat ids, and one part is one call.
    call_owners: HashMap<Key, Piece>,
    children: HashMap<Text, (Text, Key)>,
    lanes: HashSet<Text>,
    systems: HashSet<Piece>,
    agent: Option<Text>,
}

/// A message without its parts.
pub(super) struct Head {
    pub(super) entry: Entry,
    pub(super) session: Text,
    is_user: bool,
    is_closed: bool,
    /// The message that asked for this compaction, if it answers one.
    summarizes: Option<Key>,
}

/// What the parts of a message say about it.
#[derive(Default)]
struct Facts {
    is_own: bool,
    is_compaction: bool,
    open_calls: HashMap<Piece, Key>,
}

impl Decoder for OpencodeDecoder {
    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        let Input { json, place } = input;
        let is_file = matches!(place, Place::File(_) | Place::Row(_));
        let event = event_of(json);
        if json.get("info").is_object() && (json.has("parts") || place == Place::Header) {
            return if place == Place::Header {
                self.session(json.get("info"), out)
            } else {
                self.message_with_parts(json, out)
            };
        }
        if is_event(json) {
            return events::decode(self, Input { json: event, place }, out);
        }
        if json.get("part").is_object() {
            return self.part(json.get("part"), is_file, out);
        }
        if json.get("messageID").filled().is_some() && json.has("type") {
            return self.part(json, is_file, out);
        }
        if json.get("role").filled().is_some() && json.has("sessionID") {
            return self.message(json, is_file, out);
        }
        match json {
            Json::Object(_) if json.get("id").str_or_empty().starts_with("ses_") => self.session(json, out),
            Json::Array(items) if items.is_empty() => Fate::Passed("the brackets of an array"),
            _ => {
                out.unknown("record without message or part");
                show_raw(input, "record", out)
            }
        }
    }

    fn finish(&mut self, out: &mut Batch) {
        for (key, session, part) in std::mem::take(&mut self.held) {
            let mut entry = out.new_entry(key, Role::Assistant, None);
            entry.lane = self.lane_of(&session, out);
            entry.origin =
                part.blocks.iter().flat_map(|b| b.kind.bodies()).next().map_or(entry.origin, |b| b.from);
            entry.usage = part.usage.clone().map(Box::new);
            entry.blocks = part.blocks;
            if !entry.blocks.is_empty() || entry.usage.is_some() {
                out.entry(entry);
            }
        }
    }
}

impl OpencodeDecoder {
    /// Facts about the session or one of its children.
    pub(super) fn session(&mut self, info: &Json<'_>, out: &mut Batch) -> Fate {
        let id = Text::clean(info.get("id").str_or_empty());
        let title = info.get("title").text().filter(|title| !is_default_title(title));
        if info.get("parentID").filled().is_some() {
            self.offspring.insert(id.clone());
        }
        if *self.main.get_or_insert_with(|| id.clone()) == id {
            out.meta(MetaEdit::Id(id.clone()));
            let told = [
                title.map(|title| MetaEdit::Title { rank: 2, title }),
                info.get("directory").text().map(MetaEdit::Cwd),
                info.get("version").text().map(MetaEdit::Version),
                info.get("agent").text().map(MetaEdit::Agent),
            ];
            told.into_iter().flatten().for_each(|edit| out.meta(edit));
        } else if self.lanes.contains(&id) && title.is_some() {
            out.meta(MetaEdit::Lane { name: id.clone(), label: title, call: None });
        } else if let Some(title) = title {
            self.children.entry(id.clone()).or_default().0 = title;
        }
        self.revert(id, info.get("revert"), out);
        Fate::Merged
    }

    /// Undo hides the messages from one on until the next prompt or a redo.
    fn revert(&mut self, session: Text, revert: &Json<'_>, out: &mut Batch) {
        let from = revert.get("messageID").text().map(|id| (id, revert.get("partID").is_null()));
        match from {
            Some(from) => self.undone.insert(session.clone(), from),
            None => self.undone.remove(&session),
        };
        let mut changed: Vec<Entry> = Vec::new();
        for head in self.heads.values_mut().filter(|head| head.session == session) {
            let is_undone = is_undone(&self.undone, &session, &head.entry.key);
            if head.entry.marks.undone != is_undone {
                head.entry.marks.undone = is_undone;
                changed.push(head.entry.clone());
            }
        }
        changed.sort_by(|a, b| a.key.cmp(&b.key));
        for entry in changed {
            out.entry(entry);
        }
    }

    fn message_with_parts(&mut self, json: &Json<'_>, out: &mut Batch) -> Fate {
        let info = json.get("info");
        let key = key_of(info, out);
        let mut parts = Vec::new();
        for (index, part) in json.get("parts").items().iter().enumerate() {
            let name = name_of(part, || format!("{key}#{index}"));
            let mut part = part::decode(part, Piece::of(&name), &name, out);
            self.see_part(&key, &mut part, out);
            parts.push(part);
        }
        self.head(&key, info, out);
        let Some(head) = self.heads.get(&key) else { return Fate::Merged };
        let mut entry = head.entry.clone();
        let is_closed = head.is_closed;
        for mut part in parts {
            if is_closed {
                part.close();
            }
            entry.blocks.extend(part.blocks);
        }
        entry.blocks.extend(self.own_blocks(&key, info));
        out.entry(entry);
        Fate::Shown
    }

    /// A message without its parts.
    pub(super) fn message(&mut self, info: &Json<'_>, is_file: bool, out: &mut Batch) -> Fate {
        let key = key_of(info, out);
        let is_new = !self.heads.contains_key(&key);
        self.head(&key, info, out);
        if is_file {
            out.wanted.push(Text::clean(&format!("part/{key}")));
        }
        let Some(head) = self.heads.get(&key) else { return Fate::Merged };
        let mut entry = head.entry.clone();
        let is_closed = head.is_closed;
        entry.blocks = self.own_blocks(&key, info);
        let (mine, others) = std::mem::take(&mut self.held).into_iter().partition(|(of, ..)| *of == key);
        self.held = others;
        let mine: Vec<(Key, Text, Part)> = mine;
        for (_, _, mut part) in mine {
            if is_closed {
                part.close();
            }
            entry.blocks.extend(part.blocks);
        }
        out.entry(entry);
        if is_closed {
            self.close_calls(&key, out);
        }
        if is_new { Fate::Shown } else { Fate::Merged }
    }

    /// A part by itself.
    pub(super) fn part(&mut self, json: &Json<'_>, is_file: bool, out: &mut Batch) -> Fate {
        let key = Text::clean(json.get("messageID").str_or_empty());
        if self.removed.contains(&key) {
            return Fate::Passed("part of a removed message");
        }
        let name = name_of(json, || out.origin_key().to_string());
        let mut part = part::decode(json, Piece::of(&name), &name, out);
        self.see_part(&key, &mut part, out);
        if let (true, Some(child)) = (is_file, &part.child) {
            out.wanted.push(Text::clean(&format!("session/{child}")));
        }
        if let Some(head) = self.heads.get_mut(&key) {
            settle_role(head, self.facts.get(&key));
            let mut entry = head.entry.clone();
            if head.is_closed {
                part.close();
            }
            entry.blocks = part.blocks;
            out.entry(entry);
        } else {
            let session = Text::clean(json.get("sessionID").str_or_empty());
            self.held.push((key, session, part));
        }
        Fate::Merged
    }

    /// Remembers what a part says about its message and gives its call a key of its own.
    fn see_part(&mut self, key: &Key, part: &mut Part, out: &mut Batch) {
        if let Some(call) = part.call() {
            let id = call.key.clone();
            if identifies(&id) && *self.call_owners.entry(id).or_insert(part.piece) != part.piece {
                part.rename_call(Text::clean(&format!("part:{:x}", part.piece.0)));
            }
        }
        let facts = self.facts.entry(key.clone()).or_default();
        facts.is_own |= part.is_own;
        facts.is_compaction |= part.is_compaction;
        // The message that asked for the compaction shows the line, so its answer need not.
        if let Some(of) = part.is_compaction.then(|| self.summary_of(key)).flatten() {
            out.push(Edit::RetirePiece { of, piece: COMPACTION });
        }
        let facts = self.facts.entry(key.clone()).or_default();
        let Some(call) = part.call() else { return };
        if call.state.is_open() {
            facts.open_calls.insert(part.piece, call.key.clone());
        } else {
            facts.open_calls.remove(&part.piece);
        }
        if let Some(child) = &part.child {
            let place = self.children.entry(child.clone()).or_default();
            if place.0.is_empty() {
                place.0.clone_from(&call.headline);
            }
            place.1.clone_from(&call.key);
            if self.lanes.contains(child) {
                out.meta(MetaEdit::Lane { name: child.clone(), label: None, call: Some(call.key.clone()) });
            }
        }
    }

    /// Builds or renews the head of a message.
    fn head(&mut self, key: &Key, info: &Json<'_>, out: &mut Batch) {
        let session = Text::clean(info.get("sessionID").str_or_empty());
        let is_user = info.get("role").str() == Some("user");
        let role = if is_user { Role::User } else { Role::Assistant };
        let created = info.at(&["time", "created"]).moment();
        let mut entry = out.new_entry(key.clone(), role, created);
        if let Some(known) = self.heads.get(key) {
            entry.origin = known.entry.origin;
        }
        entry.lane = self.lane_of(&session, out);
        entry.parent = info.get("parentID").text();
        entry.model = info.get("modelID").text();
        entry.usage = message::usage(info).map(Box::new);
        let is_closed = !info.at(&["time", "completed"]).is_null() || info.get("error").is_object();
        let undone = is_undone(&self.undone, &session, key);
        entry.marks = Marks { open: !is_user && !is_closed, undone, ..Marks::default() };
        self.tell_agent(info, entry.lane.is_none(), out);
        self.tell_system(info, entry.lane.clone(), out);
        let summarizes =
            info.get("summary").is_true().then(|| info.get("parentID").text().unwrap_or_default());
        let mut head = Head { entry, session, is_user, is_closed, summarizes };
        settle_role(&mut head, self.facts.get(key));
        self.heads.insert(key.clone(), head);
    }

    fn tell_agent(&mut self, info: &Json<'_>, is_main: bool, out: &mut Batch) {
        let agent = info.get("agent").text().or_else(|| info.get("mode").text());
        if let (true, Some(agent)) = (is_main, agent)
            && self.agent.as_ref() != Some(&agent)
        {
            out.meta(MetaEdit::Agent(agent.clone()));
            self.agent = Some(agent);
        }
    }

    /// Its body is made last of its record, so that showing it only once moves no other body.
    fn tell_system(&mut self, info: &Json<'_>, lane: Option<Name>, out: &mut Batch) {
        let Some(prompt) = message::system(info) else { return };
        let piece = Piece::of(&prompt);
        if !self.systems.insert(piece) {
            return;
        }
        let key = Text::clean(&format!("system:{:x}", piece.0));
        let mut entry = out.new_entry(key, Role::System, None);
        entry.lane = lane;
        entry.marks.quiet = true;
        entry.blocks.push(Batch::block(piece, BlockKind::Text(out.prose(&prompt))));
        out.entry(entry);
    }

    /// What a message shows besides its parts.
    fn own_blocks(&self, key: &Key, info: &Json<'_>) -> Vec<Block> {
        let asked = self.heads.get(key).and_then(|head| head.summarizes.as_ref());
        let told_by_part = asked.and_then(|parent| self.facts.get(parent)).is_some_and(|f| f.is_compaction);
        let line = asked.filter(|_| !told_by_part).map(|_| {
            let trigger = Text::default();
            let line = Break::Compaction { before: None, after: None, trigger, partial: false };
            Batch::block(COMPACTION, BlockKind::Break(line))
        });
        let failure = message::failure(info.get("error"));
        line.into_iter()
            .chain(failure.map(|failure| Batch::block(FAILURE, BlockKind::Break(failure))))
            .collect()
    }

    /// The answer that summarizes for this message.
    fn summary_of(&self, key: &Key) -> Option<Key> {
        let answer = self.heads.values().find(|head| head.summarizes.as_ref() == Some(key))?;
        Some(answer.entry.key.clone())
    }

    fn close_calls(&mut self, key: &Key, out: &mut Batch) {
        let Some(facts) = self.facts.get_mut(key) else { return };
        let mut open: Vec<Key> = facts.open_calls.drain().map(|(_, call)| call).collect();
        open.sort();
        for call in open {
            out.push(Edit::State { call, state: ToolState::Lost });
        }
    }

    /// The lane of a session: none for the main one, which is that of the first message. A stream may
    /// speak of other sessions before.
    pub(super) fn lane_of(&mut self, session: &Text, out: &mut Batch) -> Option<Name> {
        if session.is_empty() {
            return None;
        }
        let main = self.main.get_or_insert_with(|| session.clone());
        if !std::mem::replace(&mut self.is_main_sure, true)
            && main != session
            && !self.offspring.contains(session)
        {
            *main = session.clone();
            let title = self.children.remove(session).unwrap_or_default().0;
            out.meta(MetaEdit::Id(session.clone()));
            out.meta(MetaEdit::Title { rank: 2, title });
        }
        if self.main.as_ref() == Some(session) {
            return None;
        }
        if self.lanes.insert(session.clone()) {
            let (label, call) = self.children.get(session).cloned().unwrap_or_default();
            let label = (!label.is_empty()).then_some(label);
            let call = (!call.is_empty()).then_some(call);
            out.meta(MetaEdit::Lane { name: session.clone(), label, call });
        }
        Some(session.clone())
    }
}

/// The block of the error that ended a message.
pub(super) const FAILURE: Piece = Piece(1);
const COMPACTION: Piece = Piece(2);

/// Titles that stand until the session has a real one.
fn is_default_title(title: &str) -> bool {
    title.starts_with("New session - ") || title.starts_with("Child session - ")
}

/// Ids ascend in time, so their order is that of the messages.
fn is_undone(undone: &HashMap<Text, (Text, bool)>, session: &Text, key: &Key) -> bool {
    undone.get(session).is_some_and(|(from, included)| key > from || (*included && key == from))
}

/// A user message in which only the program speaks is the program's.
fn settle_role(head: &mut Head, facts: Option<&Facts>) {
    if !head.is_user {
        return;
    }
    let is_own = facts.is_some_and(|facts| facts.is_own);
    let is_compaction = facts.is_some_and(|facts| facts.is_compaction);
    head.entry.role = if is_own { Role::User } else { Role::Harness };
    head.entry.marks.prompt = is_own;
    head.entry.marks.quiet = !is_own && !is_compaction;
}

fn key_of(info: &Json<'_>, out: &Batch) -> Key {
    info.get("id").str().filter(|id| identifies(id)).map_or_else(|| out.origin_key(), Text::clean)
}

fn name_of(part: &Json<'_>, other: impl Fn() -> String) -> String {
    part.get("id").str().filter(|id| identifies(id)).map_or_else(other, str::to_owned)
}
