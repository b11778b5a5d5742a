//! Messages and their parts, in any order: each message is one entry, each part a piece of it.
//!
//! Invariant: the blocks of a part are the same whether its message comes before or after it.

use std::collections::{HashMap, HashSet};

use super::head::{
    self, COMPACTION, CompactUsage, FAILURE, MessageHead, Owner, PartFacts, resolve_role, sum,
};
use super::message;
use super::part::DecodedPart;
use super::sessions::{OpenCodeSessions, TITLE_CHARS};
use crate::formats::json::Json;
use crate::formats::unknown::{self, NamedKind};
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::sender::{Sender, SenderKind};
use crate::model::entry::{Block, BlockKind, Break, Entry, Marks, Piece, Role, Stop};
use crate::model::fingerprint::ByKey;
use crate::model::text::{Name, Text, text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::identifies;
use crate::model::tool::{ToolKind, ToolState};
use crate::model::usage::Usage;

/// All messages read so far.
#[derive(Debug, Default)]
pub(super) struct MessageStore {
    // There may be hundreds of thousands of messages, so only a little is kept of each.
    heads: HashMap<Key, Box<MessageHead>>,
    facts: HashMap<Key, Box<PartFacts>>,
    removed: HashSet<Key>,
    /// Interned names, which many messages share.
    names: HashSet<Text>,
    /// The first part with each call id. Models repeat ids, but each part is a call of its own.
    call_owners: ByKey<Piece>,
    systems: HashSet<Piece>,
    /// The headlines of calls that edit files.
    edited: HashSet<Text>,
    /// Summarizing answers, by the message that requested the summary.
    summaries: HashMap<Key, Key>,
    /// Calls that start a sub-agent without naming its session: their message, time and headline.
    starters: HashMap<Key, (Key, Timestamp, Text)>,
}

impl MessageStore {
    pub(super) fn add_whole(
        &mut self,
        info: &Json<'_>,
        parts: Vec<DecodedPart>,
        sessions: &mut OpenCodeSessions,
        out: &mut Batch,
    ) {
        let key = key_of(info, out);
        let parts: Vec<DecodedPart> = parts
            .into_iter()
            .map(|part| self.record_part(&key, part, sessions, out))
            .collect();
        let lead = self.head(&key, info, sessions, out);
        let is_request = self.facts.get(&key).is_some_and(|facts| facts.is_request);
        let Some(head) = self.heads.get_mut(&key) else {
            return;
        };
        if !is_request {
            head.finish_without_request();
        }
        let mut entry = head.entry.clone();
        let mut addition = head::addition(&entry);
        offer_title(&entry, &parts, out);
        entry.blocks.extend(lead);
        let has_own = self
            .facts
            .get(&key)
            .is_some_and(|facts| !facts.own.is_empty());
        for mut part in parts {
            if head.is_closed {
                part.close();
            }
            entry.ended = entry.ended.max(part.until.filter(|_| !head.is_user));
            let is_apart = part.is_added && has_own;
            let blocks = if is_apart {
                &mut addition.blocks
            } else {
                &mut entry.blocks
            };
            blocks.extend(part.blocks);
        }
        entry.blocks.extend(head.tail.iter().cloned());
        let is_own = head.withheld_usage.is_none() && !head.entry.marks.copy;
        entry.usage = message::usage(info).filter(|_| is_own).map(Box::new);
        out.entry(entry);
        if !addition.blocks.is_empty() {
            out.entry(addition);
        }
        self.add_changes(&key, info, out);
    }

    /// Adds a message without its parts, as a record of its own (`is_file`) or from an event.
    /// Returns its key and whether it is new.
    pub(super) fn message(
        &mut self,
        info: &Json<'_>,
        is_file: bool,
        sessions: &mut OpenCodeSessions,
        out: &mut Batch,
    ) -> (Key, bool) {
        let key = key_of(info, out);
        self.removed.remove(&key);
        let is_new = !self.heads.contains_key(&key);
        let known = self
            .heads
            .get(&key)
            .filter(|head| head.withheld_usage.is_none());
        let had_cost = known.and_then(|head| head.cost);
        let lead = self.head(&key, info, sessions, out);
        if let Some(head) = self.heads.get(&key) {
            let mut entry = head.entry.clone();
            entry.records.extend(is_file.then(|| out.origin()));
            entry.blocks.extend(lead);
            entry.blocks.extend(head.tail.iter().cloned());
            let is_closed = head.is_closed;
            out.entry(entry);
            // Usage is emitted as an edit of its own, since usage within an entry never replaces
            // what parts recorded.
            let is_news = head.withheld_usage.is_none() && head.cost != had_cost;
            if let Some(usage) = message::usage(info).filter(|_| is_news) {
                let model = head.entry.model.clone();
                out.usage(key.clone(), usage, model);
            }
            if is_closed {
                self.close_calls(&key, out);
            }
            self.add_changes(&key, info, out);
        }
        (key, is_new)
    }

    /// Adds a part that is recorded separately. `owner` is its message. Returns whether a new entry
    /// was emitted.
    pub(super) fn part(
        &mut self,
        owner: &Owner,
        part: DecodedPart,
        sessions: &mut OpenCodeSessions,
        out: &mut Batch,
    ) -> bool {
        let is_first = self
            .facts
            .get(&owner.message)
            .is_none_or(|facts| !facts.read_parts.contains(part.piece));
        let mut part = self.record_part(&owner.message, part, sessions, out);
        let is_new = !self.heads.contains_key(&owner.message);
        let facts = self.facts.get(&owner.message);
        let head = self
            .heads
            .entry(owner.message.clone())
            .or_insert_with(|| Box::new(owner.head(sessions, out)));
        resolve_role(head, facts.map(|facts| &**facts));
        offer_title(&head.entry, std::slice::from_ref(&part), out);
        if head.is_closed {
            part.close();
        }
        let has_usage = part.usage.is_some() && !head.has_message;
        let mut entry = head.entry.clone();
        entry.ended = entry.ended.max(part.until.filter(|_| !head.is_user));
        if let Some(usage) = head.withheld_usage.take_if(|_| part.is_of_request) {
            out.usage(owner.message.clone(), usage, head.entry.model.clone());
        }
        if has_usage {
            let usage = facts.map(|facts| sum(facts.steps.iter().map(|(_, usage)| usage)));
            head.cost = usage.as_ref().map(CompactUsage::of);
            entry.usage = usage.map(Box::new);
        }
        let mut facts = self.facts.get_mut(&owner.message);
        let is_apart = facts
            .as_mut()
            .is_some_and(|facts| facts.move_additions(&part, &entry, out));
        if is_apart {
            return is_new;
        }
        entry
            .records
            .extend(owner.record.filter(|_| part.blocks.is_empty()));
        entry.blocks = part.blocks;
        if is_first && !head.tail.is_empty() {
            // The tail must stay after all parts, so its blocks are moved behind the new one.
            for block in &head.tail {
                out.retire_piece(owner.message.clone(), block.piece);
            }
            entry.blocks.extend(head.tail.iter().cloned());
        }
        let shows = !is_new || !entry.blocks.is_empty() || has_usage;
        match facts {
            Some(facts) if shows => entry.records.append(&mut facts.records),
            Some(facts) => facts.records.append(&mut entry.records),
            None => {}
        }
        if shows {
            out.entry(entry);
        } else {
            self.heads.remove(&owner.message);
        }
        is_new && shows
    }

    /// Adds a block that is not a part to a message. If `at` is given, it extends the message's
    /// end. Returns whether the message has been read.
    pub(super) fn add(
        &mut self,
        message: &Key,
        block: Block,
        at: Option<Timestamp>,
        out: &mut Batch,
    ) -> bool {
        let Some(head) = self.heads.get(message) else {
            return false;
        };
        let mut entry = head.entry.clone();
        entry.ended = entry.ended.max(at);
        entry.blocks.push(block);
        out.entry(entry);
        true
    }

    pub(super) fn remove(&mut self, key: Key, out: &mut Batch) {
        self.heads.remove(&key);
        self.facts.remove(&key);
        self.removed.insert(key.clone());
        out.push(Edit::Retire(head::addition_key(&key)));
        out.push(Edit::Retire(key));
    }

    /// Removes a part from its message.
    pub(super) fn remove_part(&mut self, of: Key, piece: Piece, out: &mut Batch) {
        out.retire_piece(of.clone(), piece);
        out.retire_piece(head::addition_key(&of), piece);
        let Some(facts) = self.facts.get_mut(&of) else {
            return;
        };
        facts.remove_part(piece);
        let Some(head) = self.heads.get_mut(&of) else {
            return;
        };
        let before = (head.entry.role, head.entry.marks);
        resolve_role(head, self.facts.get(&of).map(|facts| &**facts));
        if before != (head.entry.role, head.entry.marks) {
            out.entry(head.entry.clone());
        }
    }

    /// Whether the message has been read.
    pub(super) fn contains(&self, key: &Key) -> bool {
        self.heads.contains_key(key)
    }

    pub(super) fn is_removed(&self, key: &Key) -> bool {
        self.removed.contains(key)
    }

    /// Updates the undone marks of a session's messages after an undo or redo.
    pub(super) fn mark_undone(
        &mut self,
        session: &Text,
        sessions: &OpenCodeSessions,
        out: &mut Batch,
    ) {
        let mut changed: Vec<Entry> = Vec::new();
        for head in self
            .heads
            .values_mut()
            .filter(|head| head.session == *session)
        {
            let undone = sessions.is_undone(session, &head.entry.key);
            if head.entry.marks.undone != undone {
                head.entry.marks.undone = undone;
                changed.push(head.entry.clone());
                let has_more = self
                    .facts
                    .get(&head.entry.key)
                    .is_some_and(|facts| facts.has_addition);
                changed.extend(has_more.then(|| head::addition(&head.entry)));
            }
        }
        changed.sort_by(|a, b| a.key.cmp(&b.key));
        for entry in changed {
            out.entry(entry);
        }
    }

    /// Adds an error of a session to its open answer, which will also record it. Returns `false` if
    /// no answer is open and the last answer does not have the error already.
    pub(super) fn fail(&mut self, session: &Text, failure: &Break, out: &mut Batch) -> bool {
        let answers = self
            .heads
            .values_mut()
            .filter(|head| head.is_answer() && head.session == *session);
        let last =
            answers.max_by(|a, b| (a.entry.at, &a.entry.key).cmp(&(b.entry.at, &b.entry.key)));
        let Some(head) = last else { return false };
        let words = failure.words();
        if head.entry.marks.open {
            let mut entry = head.entry.clone();
            entry.push_piece(FAILURE, failure.clone());
            out.entry(entry);
            head.failure = Some(words);
            return true;
        }
        head.failure.as_ref() == Some(&words)
    }

    /// The answer of a session that is still being written.
    pub(super) fn open_answer(&self, session: &Text) -> Option<Key> {
        let is_open =
            |head: &&MessageHead| head.is_answer() && !head.is_closed && head.session == *session;
        let open = self.heads.values().map(|head| &**head).filter(is_open);
        open.map(|head| &head.entry.key).max().cloned()
    }

    /// The latest time in the messages of a session.
    pub(super) fn last_time(&self, session: &Text) -> Option<Timestamp> {
        let heads = self.heads.values().filter(|head| head.session == *session);
        heads.filter_map(|head| head.entry.end()).max()
    }

    /// Whether the last answer of a session records a failure.
    pub(super) fn has_failed(&self, session: &Text) -> bool {
        let answers = self
            .heads
            .values()
            .filter(|head| head.is_answer() && head.session == *session);
        let last =
            answers.max_by(|a, b| (a.entry.at, &a.entry.key).cmp(&(b.entry.at, &b.entry.key)));
        last.is_some_and(|head| head.failure.is_some())
    }

    /// Links sub-agents to the calls that started them if neither names the other: the last such
    /// call before the session was created.
    pub(super) fn link(&mut self, sessions: &mut OpenCodeSessions, out: &mut Batch) {
        for (id, parent, created) in sessions.unlinked() {
            let is_its = |message: &Key| {
                self.heads
                    .get(message)
                    .is_some_and(|head| head.session == parent)
            };
            let before = self
                .starters
                .iter()
                .filter(|(_, (message, at, _))| *at <= created && is_its(message));
            let last = before
                .max_by(|a, b| (a.1.1, a.0).cmp(&(b.1.1, b.0)))
                .map(|(call, _)| call.clone());
            if let Some(call) = last
                && let Some((_, _, headline)) = self.starters.remove(&call)
            {
                sessions.started(&id, &call, &headline, out);
            }
        }
    }

    /// Whether the messages of the session record a compaction.
    pub(super) fn has_compaction(&self, session: &Text) -> bool {
        self.heads.iter().any(|(key, head)| {
            let asks = || {
                self.facts
                    .get(key)
                    .is_some_and(|facts| !facts.compactions.is_empty())
            };
            head.session == *session && (head.summarizes.is_some() || asks())
        })
    }

    /// Whether a call has edited the file.
    pub(super) fn is_edited(&self, file: &str) -> bool {
        !file.is_empty() && self.edited.iter().any(|headline| headline.contains(file))
    }

    /// The total usage of a session's answers; `None` while one is still being written.
    pub(super) fn total_usage(&self, session: &Text) -> Option<Usage> {
        let heads = || self.heads.values().filter(|head| head.session == *session);
        let is_open = heads().any(|head| head.entry.marks.open);
        let costs = || {
            heads()
                .filter_map(|head| head.cost)
                .map(CompactUsage::usage)
                .collect::<Vec<_>>()
        };
        (!is_open).then(|| sum(costs().iter()))
    }

    /// Records the facts of a part about its message. A call whose id an earlier part already has
    /// gets a key of its own.
    fn record_part(
        &mut self,
        key: &Key,
        mut part: DecodedPart,
        sessions: &mut OpenCodeSessions,
        out: &mut Batch,
    ) -> DecodedPart {
        if let Some(call) = part.call() {
            let id = call.key.clone();
            let owner = self.call_owners.get(&id).copied();
            if identifies(&id) && owner.is_none() {
                self.call_owners.insert(&id, part.piece);
            }
            if identifies(&id) && owner.is_some_and(|owner| owner != part.piece) {
                part.rename_call(text!("part:{:x}", part.piece.0));
            }
        }
        let facts = self.facts.entry(key.clone()).or_default();
        facts.add_part(
            &part,
            self.heads.get(key).is_some_and(|head| head.has_message),
        );
        if let Some(call) = part.call() {
            if call.state.is_open() {
                facts.begin_call(part.piece, call.key.clone());
            } else {
                facts.end_call(part.piece);
            }
            if matches!(call.kind, ToolKind::Edit | ToolKind::Write) {
                self.edited.insert(call.headline.clone());
            }
            if let Some(child) = &part.child {
                sessions.started(child, &call.key, &call.headline, out);
                self.starters.remove(&call.key);
            } else if let (ToolKind::Delegate, Some(at)) = (call.kind, call.started) {
                self.starters
                    .insert(call.key.clone(), (key.clone(), at, call.headline.clone()));
            }
        }
        if let Some(first) = part.kept.clone() {
            out.meta(MetaEdit::FirstKept {
                compaction: key.clone(),
                first,
            });
        }
        // The request for the compaction shows the separator, so the summarizing answer need not.
        if let Some(of) = part.is_compaction.then(|| self.summary_of(key)).flatten() {
            out.retire_piece(of, COMPACTION);
        }
        part
    }

    fn shared(&mut self, name: Text) -> Text {
        if let Some(known) = self.names.get(&name) {
            return known.clone();
        }
        self.names.insert(name.clone());
        name
    }

    /// Makes or updates the head of a message. Returns a block to show before the parts.
    fn head(
        &mut self,
        key: &Key,
        info: &Json<'_>,
        sessions: &mut OpenCodeSessions,
        out: &mut Batch,
    ) -> Option<Block> {
        let session = self.shared(info.get("sessionID").clean());
        let entry = self.entry(key, info, &session, sessions, out);
        let known_failure = self.heads.get(key).and_then(|known| known.failure.clone());
        if entry.lane.is_none() {
            sessions.emit_agent(info.first(&["agent", "mode"], Json::text), out);
        }
        let asked = info.get("summary").is_true();
        let summarizes = asked.then(|| info.get("parentID").text().unwrap_or_default());
        let unknown = (entry.role == Role::Harness).then(|| self.unknown(key, info, out));
        let needs_line = summarizes.as_ref().is_some_and(|asked| {
            self.facts
                .get(asked)
                .is_none_or(|facts| facts.compactions.is_empty())
        });
        self.summaries
            .extend(summarizes.clone().map(|asked| (asked, key.clone())));
        let tail = head::tail(info);
        self.add_system(info, entry.lane.clone(), out);
        let failure = message::failure(info.get("error"))
            .map(|failure| failure.words())
            .or(known_failure);
        let usage = message::usage(info).filter(|_| !entry.marks.copy);
        let cost = usage.as_ref().map(CompactUsage::of);
        // The agent may write a call as a message of its own, without a request to the model. A
        // message with an error was always a request.
        let is_request = info.get("error").is_object()
            || self.facts.get(key).is_some_and(|facts| facts.is_request);
        let doubted = usage
            .filter(|usage| usage.is_zero() && !is_request)
            .map(Box::new);
        let mut head = MessageHead {
            entry,
            session,
            is_user: info.get("role").str_or_empty() == "user",
            is_closed: is_closed(info),
            has_message: true,
            cost,
            withheld_usage: doubted,
            failure,
            tail,
            summarizes,
        };
        resolve_role(&mut head, self.facts.get(key).map(|facts| &**facts));
        if head.withheld_usage.is_some() {
            head.finish_without_request();
        }
        self.heads.insert(key.clone(), Box::new(head));
        if let Some(facts) = self.facts.get_mut(key) {
            facts.steps = Vec::new();
        }
        unknown.or_else(|| needs_line.then(head::compaction_line))
    }

    /// The block of a message with an unknown role. The role is counted once, even if the message
    /// is sent again.
    fn unknown(&self, key: &Key, info: &Json<'_>, out: &mut Batch) -> Block {
        let is_again = self.heads.get(key).is_some_and(|head| head.has_message);
        let before = is_again.then(|| (out.tally.unknown.clone(), out.notices.len()));
        let block = unknown::block(
            NamedKind("info.role", info.get("role").str_or_empty()),
            info,
            out,
        );
        if let Some((counted, notices)) = before {
            out.tally.unknown = counted;
            out.notices.truncate(notices);
        }
        Block::new(head::UNKNOWN, block)
    }

    /// The entry of a message without its parts. A message that is sent again keeps its origin.
    fn entry(
        &mut self,
        key: &Key,
        info: &Json<'_>,
        session: &Name,
        sessions: &mut OpenCodeSessions,
        out: &mut Batch,
    ) -> Entry {
        let role = match info.get("role").str_or_empty() {
            "user" | "shell" => Role::User,
            "assistant" | "" => Role::Assistant,
            _ => Role::Harness,
        };
        let at = info.at("time.created").moment();
        let mut entry = out.new_entry(key.clone(), role, at);
        if let Some(known) = self.heads.get(key) {
            entry.origin = known.entry.origin;
        }
        entry.lane = sessions.lane_of(session, out);
        entry.parent = info.get("parentID").text();
        // Messages with a source are notices that background work has ended.
        entry.from = info
            .get("source")
            .filled()
            .map(|_| Box::new(Sender::of(SenderKind::Task)));
        entry.model = info.get("modelID").text().map(|model| self.shared(model));
        entry.stop = Stop::of(info.get("finish").str_or_empty());
        entry.ended = info.at("time.completed").moment();
        entry.marks = Marks {
            open: role == Role::Assistant && !is_closed(info),
            undone: sessions.is_undone(session, key),
            unsent: message::is_omitted(info.get("error")),
            copy: info.get("copied").is_true() || sessions.is_copied(session, at),
            ..Marks::default()
        };
        entry
    }

    fn add_changes(&self, key: &Key, info: &Json<'_>, out: &mut Batch) {
        let changes = self
            .heads
            .get(key)
            .and_then(|head| head::changes(&head.entry, info, out));
        if let Some(entry) = changes {
            out.entry(entry);
        }
    }

    /// Emits a system prompt once. Its body is the last one of its record, so that omitting it does
    /// not renumber other bodies.
    fn add_system(&mut self, info: &Json<'_>, lane: Option<Name>, out: &mut Batch) {
        let Some(prompt) = message::system(info) else {
            return;
        };
        let piece = Piece::of(&prompt);
        if !self.systems.insert(piece) {
            return;
        }
        let key = text!("system:{:x}", piece.0);
        let mut entry = out.new_entry(key, Role::System, None);
        entry.lane = lane;
        entry.marks.quiet = true;
        entry.push_piece(piece, BlockKind::Text(out.prose(&prompt)));
        out.entry(entry);
    }

    /// The answer that summarizes at this message's request.
    fn summary_of(&self, key: &Key) -> Option<Key> {
        let answer = self.summaries.get(key)?;
        self.heads
            .get(answer)
            .filter(|head| head.summarizes.as_ref() == Some(key))
            .map(|_| answer.clone())
    }

    fn close_calls(&mut self, key: &Key, out: &mut Batch) {
        let Some(facts) = self.facts.get_mut(key) else {
            return;
        };
        let open = facts
            .open_calls
            .take()
            .into_iter()
            .flat_map(|calls| calls.into_values());
        let mut open: Vec<Key> = open.collect();
        open.sort();
        for call in open {
            out.state(call, ToolState::Lost);
        }
    }
}

/// The key of a message: its id, or else its origin.
pub(super) fn key_of(info: &Json<'_>, out: &Batch) -> Key {
    info.get("id")
        .str()
        .filter(|id| identifies(id))
        .map_or_else(|| out.origin_key(), Text::clean)
}

/// Whether the message is complete.
fn is_closed(info: &Json<'_>) -> bool {
    !info.at("time.completed").is_null() || info.get("error").is_object()
}

/// Offers the first prompt as title, for sessions that have none.
fn offer_title(entry: &Entry, parts: &[DecodedPart], out: &mut Batch) {
    let is_prompt = entry.marks.prompt || (entry.marks.copy && entry.role == Role::User);
    if !is_prompt || entry.lane.is_some() {
        return;
    }
    if let Some(said) = parts.iter().find_map(DecodedPart::said) {
        out.title(0, Text::stub(said, TITLE_CHARS));
    }
}
