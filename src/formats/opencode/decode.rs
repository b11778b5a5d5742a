//! The decoder: sessions, messages and parts become entries, whether they come as files, rows, one
//! document or events.
//!
//! Invariant: an event and a file with the same object are decoded by the same function.

mod steps;

use std::collections::HashMap;

use self::steps::Steps;
use super::asks::{Asks, PermissionRequest};
use super::blocks::raw;
use super::deltas::Deltas;
use super::events;
use super::head::Owner;
use super::messages::{MessageStore, key_of};
use super::part::{self, DecodedPart};
use super::sessions::OpenCodeSessions;
use super::turns::{TurnStates, idle_entry};
use super::{changes, message, rows};
use crate::formats::decoder::{Decoder, Format, Input, RecordPlace};
use crate::formats::definition::head::Head;
use crate::formats::json::Json;
use crate::formats::unknown::{self, NamedKind};
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{Block, BlockKind, Break, Entry, Piece, Role};
use crate::model::tally::Fate;
use crate::model::text::{Text, text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::identifies;
use crate::model::tool::work::{Carrier, Update, WorkEnd, WorkReference};

/// Decodes one session with its child sessions.
#[derive(Default)]
pub(super) struct OpencodeDecoder {
    sessions: OpenCodeSessions,
    messages: MessageStore,
    deltas: Deltas,
    permissions: Asks,
    /// Plans and changes from files beside the session, held until the end of the reading: a call
    /// may record them as well.
    held_parts: HashMap<Key, HeldPart>,
    /// The latest plan that a call recorded, by session.
    plans: HashMap<Text, Piece>,
    turns: TurnStates,
    steps: Steps,
}

struct HeldPart {
    session: Text,
    plan: Option<Piece>,
    kind: BlockKind,
}

impl Decoder for OpencodeDecoder {
    fn head(&self) -> &'static Head {
        super::Opencode.head()
    }

    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        let Input { json, place } = input;
        let is_file = matches!(place, RecordPlace::File(_) | RecordPlace::Row(_));
        if place == RecordPlace::Header {
            return self.session(json.get("info"), true, out);
        }
        if json.get("info").is_object() && json.has("parts") {
            return self.whole_message(json.get("info"), json.get("parts").items(), out);
        }
        if events::is_event(json) {
            return self.event(input, out);
        }
        if json.get("part").is_object() {
            return self.part(json.get("part"), json.get("timestamp"), is_file, out);
        }
        if json.get("messageID").filled().is_some() && json.has("type") {
            return self.part(json, &Json::Null, is_file, out);
        }
        // Rows of the second generation have a type, so a record without one is a message.
        if json.get("role").filled().is_some() && json.has("sessionID") && !json.has("type") {
            return self.message(json, is_file, out);
        }
        if let Some(row) = rows::read(json) {
            return self.row(row, json, out);
        }
        self.other(input, out)
    }

    fn finish(&mut self, out: &mut Batch) {
        self.add_grown(out);
        self.messages.link(&mut self.sessions, out);
        self.turns
            .update_shown(&mut self.sessions, &self.messages, out);
        let mut held: Vec<(Key, HeldPart)> = self.held_parts.drain().collect();
        held.sort_by(|a, b| a.0.cmp(&b.0));
        for (key, held) in held {
            let is_known =
                held.plan.is_some() && self.plans.get(&held.session) == held.plan.as_ref();
            if !is_known {
                self.emit_single(key, &held.session, held.kind, true, out);
            }
        }
        for (session, claim) in self.sessions.totals() {
            match self.messages.total_usage(&session) {
                Some(spent) => self.sessions.resolve(&session, &claim, &spent, out),
                None => self.sessions.set_total(&session, Some(claim)),
            }
        }
    }
}

// === files, rows and elements ===

impl OpencodeDecoder {
    /// Decodes the facts of the session or one of its children. `is_final`: they include all of its
    /// messages.
    fn session(&mut self, info: &Json<'_>, is_final: bool, out: &mut Batch) -> Fate {
        let id = self.sessions.add(info, out);
        if is_final {
            let claim = if info.get("location").is_object() {
                rows::usage(info)
            } else {
                message::usage(info)
            };
            self.sessions.set_total(&id, claim);
        }
        self.turns.set_queued(&id, info, out);
        self.messages.mark_undone(&id, &self.sessions, out);
        Fate::Merged
    }

    fn whole_message(&mut self, info: &Json<'_>, parts: &[Json<'_>], out: &mut Batch) -> Fate {
        let key = key_of(info, out);
        let session = info.get("sessionID").clean();
        let mut recorded = Vec::new();
        for (index, json) in parts.iter().enumerate() {
            let name = name_of(json, || format!("{key}#{index}"));
            recorded.push(part::decode(json, Piece::of(&name), &name, out));
            self.update_plan(&session, json, out);
        }
        self.messages
            .add_whole(info, recorded, &mut self.sessions, out);
        Fate::Shown
    }

    fn message(&mut self, info: &Json<'_>, is_file: bool, out: &mut Batch) -> Fate {
        let (key, is_new) = self
            .messages
            .message(info, is_file, &mut self.sessions, out);
        if is_file {
            out.requested_files.push(text!("part/{key}"));
        }
        if is_new { Fate::Shown } else { Fate::Merged }
    }

    fn part(&mut self, json: &Json<'_>, at: &Json<'_>, is_file: bool, out: &mut Batch) -> Fate {
        let message = json.get("messageID").clean();
        if self.messages.is_removed(&message) {
            return Fate::Passed("part of a removed message");
        }
        let session = json.get("sessionID").clean();
        let name = name_of(json, || out.origin_key().to_string());
        let part = part::decode(json, Piece::of(&name), &name, out);
        self.update_plan(&session, json, out);
        if let (true, Some(child)) = (is_file, &part.child) {
            out.requested_files.push(text!("session/{child}"));
        }
        let ended = part.call().filter(|call| !call.state.is_open());
        if let Some(ask) = ended.and_then(|call| self.permissions.ended(&call.key)) {
            self.permission(&ask, out);
        }
        let record = is_file.then(|| out.origin());
        if let Some(end) = super::tool::task_end(json) {
            self.end_work(end, (message.clone(), at.moment()), &session, out);
        }
        let recorded = Owner {
            message,
            session,
            at: at.moment(),
            record,
        };
        if self.messages.part(&recorded, part, &mut self.sessions, out) {
            Fate::Shown
        } else {
            Fate::Merged
        }
    }

    fn row(&mut self, row: rows::DatabaseRow<'_>, json: &Json<'_>, out: &mut Batch) -> Fate {
        let session = json
            .get("sessionID")
            .text()
            .or_else(|| self.sessions.main().cloned())
            .unwrap_or_default();
        self.turns
            .emit_fork_origin(&session, json, &mut self.sessions, out);
        let (key, at) = (key_of(json, out), rows::time(json).moment());
        if let Some(end) = super::tool::end(json) {
            self.end_work(end, (key.clone(), at), &session, out);
        }
        let line = match row {
            rows::DatabaseRow::Message { info, parts } => {
                return self.whole_message(&with_session(info, &session), &parts, out);
            }
            rows::DatabaseRow::Idle(how) => {
                self.turns.mark_idle_recorded(&session);
                return self.idle(key, at, how, &session, out);
            }
            rows::DatabaseRow::Line(line) => line,
        };
        let mut entry = out.new_entry(key, Role::Harness, at);
        entry.lane = self.sessions.lane_of(&session, out);
        entry.marks.copy = json.get("copied").is_true();
        entry.push(line);
        out.show(entry)
    }

    /// Applies the end of background work, from a record by the program.
    fn end_work(
        &mut self,
        (about, end): (WorkReference, Option<WorkEnd>),
        (by, at): (Key, Option<Timestamp>),
        session: &Text,
        out: &mut Batch,
    ) {
        let update = Update {
            by,
            at,
            carrier: Carrier::Notice,
            end,
            reason: None,
        };
        let lane = self.sessions.lane_of(session, out);
        out.update(about, update, lane);
    }

    /// Shows that a session became idle after a turn that ended in this way.
    fn idle(
        &mut self,
        key: Key,
        at: Option<Timestamp>,
        how: Break,
        session: &Text,
        out: &mut Batch,
    ) -> Fate {
        let is_recorded = self.messages.has_failed(session);
        let mut entry = idle_entry(key, at, how, is_recorded, out);
        entry.lane = self.sessions.lane_of(session, out);
        out.show(entry)
    }

    /// Decodes a record that is neither a message nor a part.
    fn other(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        let json = input.json;
        let session = json.get("sessionID").clean();
        if json.get("id").str_or_empty().starts_with("ses_") {
            return self.session(json, true, out);
        }
        if !json.get("todos").items().is_empty() && !session.is_empty() {
            return self.plan(&session, json.get("todos"), true, out);
        }
        // `run --format json` records errors without a part.
        if json.kind() == "error" && !json.get("error").is_null() {
            return self.fail(&session, json, out);
        }
        if let (RecordPlace::File(path), Json::Array(items)) = (input.place, json) {
            let stem = Text::clean(&path.file_stem().unwrap_or_default().to_string_lossy());
            let is_plan = items
                .iter()
                .any(|item| item.has("content") && item.has("status"));
            if is_plan {
                return self.plan(&stem, json, true, out);
            }
            if items.iter().all(|item| item.has("file")) {
                return self.diff(&stem, items, true, out);
            }
        }
        let mut entry = out.new_entry(out.origin_key(), Role::Harness, rows::time(json).moment());
        entry.lane = self.sessions.lane_of(&session, out);
        let of_event = json
            .at("payload.type")
            .filled()
            .map(|name| NamedKind("event", name));
        let kind = of_event.unwrap_or(NamedKind("type", json.kind()));
        unknown::record(kind, json, entry, out)
    }

    /// A call that records the plan takes precedence over a separate list.
    fn update_plan(&mut self, session: &Text, part: &Json<'_>, out: &mut Batch) {
        let is_plan = part.get("tool").is("todowrite");
        let mark = if is_plan {
            changes::plan_mark(part.at("state.input.todos"))
        } else {
            None
        };
        if let Some(mark) = mark {
            self.plans.insert(session.clone(), mark);
            out.push(Edit::Retire(plan_key(session)));
        }
    }

    /// Emits the plan as a list. `is_beside`: it is in a file of its own, and calls that are read
    /// later may record it.
    fn plan(&mut self, session: &Text, todos: &Json<'_>, is_beside: bool, out: &mut Batch) -> Fate {
        let mark = changes::plan_mark(todos);
        let is_known = mark.is_some() && self.plans.get(session) == mark.as_ref();
        match changes::plan(todos, out).filter(|_| !is_known) {
            Some(kind) => self.list(
                plan_key(session),
                HeldPart {
                    session: session.clone(),
                    plan: mark,
                    kind,
                },
                is_beside,
                out,
            ),
            None => out.push(Edit::Retire(plan_key(session))),
        }
        Fate::Merged
    }

    fn diff(
        &mut self,
        session: &Text,
        diffs: &[Json<'_>],
        is_beside: bool,
        out: &mut Batch,
    ) -> Fate {
        if let Some(kind) = changes::diffs("the session", diffs, out) {
            let key = text!("diff:{session}");
            self.list(
                key,
                HeldPart {
                    session: session.clone(),
                    plan: None,
                    kind,
                },
                is_beside,
                out,
            );
        }
        Fate::Merged
    }

    fn list(&mut self, key: Key, list: HeldPart, is_beside: bool, out: &mut Batch) {
        if is_beside {
            self.held_parts.insert(key, list);
        } else {
            self.emit_single(key, &list.session, list.kind, true, out);
        }
    }
}

// === events ===

impl OpencodeDecoder {
    fn event(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        let event = events::within(input.json);
        if let Some(fate) = self.step_event(event, out) {
            return fate;
        }
        let (name, recorded) = (events::name_of(event), events::properties(event));
        let message = || recorded.get("messageID").clean();
        let session = || recorded.get("sessionID").clean();
        match name {
            "session.created" | "session.updated" => self.session(recorded.get("info"), false, out),
            "session.deleted" => self.deleted(recorded, out),
            "message.updated" => self.message(recorded.get("info"), false, out),
            "message.part.updated" => {
                let json = recorded.get("part");
                self.deltas
                    .set(Piece::of(json.get("id").str_or_empty()), json);
                self.part(json, &Json::Null, false, out)
            }
            "message.part.delta" => {
                // The growing text keeps the origin of its first record.
                if self.deltas.append(event.get("id").text(), recorded) {
                    self.add_grown(out);
                }
                Fate::Merged
            }
            "message.removed" => {
                self.messages.remove(message(), out);
                Fate::Merged
            }
            "message.part.removed" => {
                let piece = Piece::of(recorded.get("partID").str_or_empty());
                self.deltas.remove(piece);
                self.messages.remove_part(message(), piece, out);
                Fate::Merged
            }
            "session.error" => self.fail(&session(), recorded, out),
            "session.status" => self.status(&session(), recorded.get("status"), out),
            "session.idle" => self.set_live(&session(), None, out),
            "session.compacted" => self.compacted(&session(), out),
            "session.diff" => self.diff(&session(), recorded.get("diff").items(), false, out),
            "todo.updated" => self.plan(&session(), recorded.get("todos"), false, out),
            "permission.asked"
            | "permission.updated"
            | "permission.v2.asked"
            | "question.asked"
            | "question.v2.asked" => {
                let ask = self
                    .permissions
                    .add(recorded, event.get("created").moment());
                self.permission(&ask, out)
            }
            "permission.replied"
            | "permission.v2.replied"
            | "question.replied"
            | "question.v2.replied"
            | "question.rejected"
            | "question.v2.rejected" => {
                let ask = self
                    .permissions
                    .reply(recorded, event.get("created").moment());
                self.permission(&ask, out)
            }
            "file.edited" if self.messages.is_edited(recorded.get("file").str_or_empty()) => {
                Fate::Merged
            }
            "file.edited" | "file.watcher.updated" => self.file(recorded, out),
            "command.executed" => self.command(&message(), &session(), recorded, out),
            _ => {
                let mut entry =
                    out.new_entry(out.origin_key(), Role::Harness, rows::time(event).moment());
                entry.lane = self.sessions.lane_of(&session(), out);
                unknown::record(NamedKind("event", name), event, entry, out)
            }
        }
    }

    /// Emits a file that a tool or somebody else changed.
    fn file(&mut self, recorded: &Json<'_>, out: &mut Batch) -> Fate {
        let what = recorded.get("event").filled().unwrap_or("edited");
        let file = recorded.get("file").str_or_empty();
        let kind = raw(&format!("file {what}: {file}"), "", out);
        self.emit_single(text!("file:{file}"), &Text::default(), kind, true, out)
    }

    /// Emits a command that the user ran.
    fn command(
        &mut self,
        message: &Text,
        session: &Text,
        recorded: &Json<'_>,
        out: &mut Batch,
    ) -> Fate {
        let (name, words) = (
            recorded.get("name").str_or_empty(),
            recorded.get("arguments").str_or_empty(),
        );
        let line = Break::setting(format!("command /{name} {words}").trim_end());
        self.line(message, Piece::of("command"), session, line, out)
    }

    fn add_grown(&mut self, out: &mut Batch) {
        for grown in self.deltas.take(out) {
            let recorded = Owner {
                message: grown.message,
                session: grown.session,
                at: None,
                record: None,
            };
            let piece = grown.block.piece;
            self.messages.part(
                &recorded,
                DecodedPart::of(piece, vec![grown.block]),
                &mut self.sessions,
                out,
            );
        }
    }

    fn deleted(&mut self, recorded: &Json<'_>, out: &mut Batch) -> Fate {
        let id = recorded
            .first(&["sessionID", "info.id"], Json::text)
            .unwrap_or_default();
        let line = BlockKind::Break(Break::Ended(Text::from("the session was deleted")));
        self.emit_single(text!("deleted:{id}"), &id, line, false, out)
    }

    /// Emits an error within the answer that also records it, otherwise as an entry.
    fn fail(&mut self, session: &Text, recorded: &Json<'_>, out: &mut Batch) -> Fate {
        let Some(failure) = message::failure(recorded.get("error")) else {
            return Fate::Passed("event session.error without an error");
        };
        if self.messages.fail(session, &failure, out) {
            return Fate::Merged;
        }
        self.emit_single(
            out.origin_key(),
            session,
            BlockKind::Break(failure),
            false,
            out,
        )
    }

    fn status(&mut self, session: &Text, status: &Json<'_>, out: &mut Batch) -> Fate {
        match status.kind() {
            "retry" => {
                let open = self.messages.open_answer(session).unwrap_or_default();
                let piece = Piece::of(&format!("retry {:?}", status.get("attempt").count()));
                self.line(&open, piece, session, message::retry(status), out)
            }
            "idle" => self.set_live(session, None, out),
            _ => self.set_live(session, Some(true), out),
        }
    }

    /// An idle session has not ended, as a next prompt may come.
    fn set_live(&self, session: &Text, live: Option<bool>, out: &mut Batch) -> Fate {
        if self.sessions.is_main(session) {
            out.meta(MetaEdit::Live(live));
        }
        Fate::Merged
    }

    fn compacted(&mut self, session: &Text, out: &mut Batch) -> Fate {
        if self.messages.has_compaction(session) {
            return Fate::Merged;
        }
        let line = Break::compaction("");
        self.emit_single(
            out.origin_key(),
            session,
            BlockKind::Break(line),
            false,
            out,
        )
    }

    fn permission(&mut self, ask: &PermissionRequest, out: &mut Batch) -> Fate {
        let message = ask.message.clone().unwrap_or_default();
        if let (Some(_), Some(_)) = (ask.at, ask.replied) {
            return self.emit_answered(ask, message, out);
        }
        let block = Block::new(ask.piece(), ask.line.clone());
        if self.messages.add(&message, block, ask.at, out) {
            return Fate::Merged;
        }
        self.emit_line(ask.piece(), &ask.session, ask.line.clone(), out)
    }

    /// Emits an answered question as an entry with the time spent waiting, in place of a line in
    /// the message.
    fn emit_answered(&mut self, ask: &PermissionRequest, message: Key, out: &mut Batch) -> Fate {
        let mut entry = out.new_entry(line_key(&ask.session, ask.piece()), Role::Harness, ask.at);
        entry.ended = ask.replied;
        entry.lane = self.sessions.lane_of(&ask.session, out);
        entry.push(ask.line.clone());
        out.entry(entry);
        if !self.messages.contains(&message) {
            return Fate::Merged;
        }
        out.retire_piece(message, ask.piece());
        Fate::Shown
    }

    /// Emits a line within a message, or as an entry if the message has not been read.
    fn line(
        &mut self,
        of: &Key,
        piece: Piece,
        session: &Text,
        line: Break,
        out: &mut Batch,
    ) -> Fate {
        if self
            .messages
            .add(of, Block::new(piece, line.clone()), None, out)
        {
            return Fate::Merged;
        }
        self.emit_line(piece, session, line, out)
    }

    fn emit_line(&mut self, piece: Piece, session: &Text, line: Break, out: &mut Batch) -> Fate {
        let key = line_key(session, piece);
        self.emit_single(key, session, BlockKind::Break(line), false, out)
    }

    /// Emits an entry of the harness with one block.
    fn emit_single(
        &mut self,
        key: Key,
        session: &Text,
        kind: BlockKind,
        quiet: bool,
        out: &mut Batch,
    ) -> Fate {
        let mut entry: Entry = out.new_entry(key, Role::Harness, None);
        entry.origin = kind.bodies().next().map_or(entry.origin, |body| body.from);
        entry.lane = self.sessions.lane_of(session, out);
        entry.marks.quiet = quiet;
        entry.push(kind);
        out.show(entry)
    }
}

/// Adds the session id to a message of an export, which lacks it.
fn with_session<'a>(info: Json<'a>, session: &Text) -> Json<'a> {
    match info {
        Json::Object(mut members) if members.iter().all(|(name, _)| name != "sessionID") => {
            members.push(("sessionID".into(), Json::Str(session.to_string().into())));
            Json::Object(members)
        }
        info => info,
    }
}

fn line_key(session: &Text, piece: Piece) -> Key {
    text!("line:{session}:{:x}", piece.0)
}

fn plan_key(session: &Text) -> Key {
    text!("plan:{session}")
}

fn name_of(part: &Json<'_>, other: impl Fn() -> String) -> String {
    part.get("id")
        .str()
        .filter(|id| identifies(id))
        .map_or_else(other, str::to_owned)
}
