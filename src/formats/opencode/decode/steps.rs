//! Events of version 2: each contains one detail of a message, where those of version 1 contain a
//! whole message or part. A detail that is complete is decoded as the row that OpenCode makes of
//! it.
//!
//! Invariant: a body comes from a single event, so that it can be read again by itself. Facts that
//! later events of the same message or call need are small, and cached.

use std::collections::HashMap;

use super::OpencodeDecoder;
use crate::formats::json::Json;
use crate::formats::opencode::rows::{self, object};
use crate::formats::opencode::sessions::TITLE_CHARS;

use crate::formats::opencode::{events, message, tool};
use crate::model::body::{Body, Key};
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{Block, BlockKind, Break, Entry, Marks, Piece, Role};
use crate::model::tally::Fate;
use crate::model::text::{Text, text};
use crate::model::timestamp::Timestamp;
use crate::model::usage::{Scope, Usage};

/// Facts from events of messages that are still being written.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// The last step of each session.
    last: HashMap<Text, ModelStep>,
    /// Tool names by call id.
    tools: HashMap<Text, Text>,
    /// The keys of commands run by the user, by their ids.
    shells: HashMap<Text, Key>,
    /// Queued prompts of the user.
    queued: HashMap<Key, Entry>,
}

#[derive(Clone, Debug, Default)]
struct ModelStep {
    message: Key,
    agent: Text,
    model: Text,
    created: Option<Timestamp>,
    /// The number of texts begun.
    texts: u32,
}

/// An event with the fields that all events have.
struct SessionEvent<'v, 'a> {
    name: &'v str,
    data: &'v Json<'a>,
    session: Text,
    at: Option<Timestamp>,
    /// The key for a row made from this event alone.
    key: Key,
    id: Option<Text>,
}

fn text<'a>(text: &str) -> Json<'a> {
    Json::Str(text.to_owned().into())
}

fn moment<'a>(at: Option<Timestamp>) -> Json<'a> {
    at.map_or(Json::Null, |at| Json::Integer(at.0))
}

impl OpencodeDecoder {
    /// Decodes an event of version 2; `None` if it is not one.
    pub(super) fn step_event(&mut self, event: &Json<'_>, out: &mut Batch) -> Option<Fate> {
        let name = events::newer(event)?;
        let data = events::properties(event);
        let session = data
            .get("sessionID")
            .text()
            .or_else(|| event.get("aggregate_id").text())?;
        let own = || data.get("timestamp").moment();
        let at = event.get("created").moment().or_else(own);
        let at = at.or_else(|| event.at("time.created").moment());
        let id = event.get("id").text();
        let key = match id.as_ref().and_then(|id| id.strip_prefix("evt_")) {
            Some(id) => text!("msg_{id}"),
            None => out.origin_key(),
        };
        let this = SessionEvent {
            name,
            data,
            session,
            at,
            key,
            id,
        };
        Some(match name.split('.').next().unwrap_or_default() {
            "step" => self.step(&this, out),
            "text" | "reasoning" => self.prose(&this, out),
            "tool" => self.call(&this, out),
            "input" | "inbox" => self.queue(&this, out),
            "execution" => self.execution(&this, out),
            _ => self.single(&this, out),
        })
    }

    /// The message that an event is about: the one it names, otherwise the last step.
    fn message_of(&self, this: &SessionEvent<'_, '_>) -> Key {
        let last = || {
            self.steps
                .last
                .get(&this.session)
                .map(|step| step.message.clone())
        };
        named(this.data)
            .or_else(last)
            .unwrap_or_else(|| this.key.clone())
    }

    fn step(&mut self, this: &SessionEvent<'_, '_>, out: &mut Batch) -> Fate {
        let SessionEvent {
            name,
            data,
            session,
            at,
            key,
            ..
        } = this;
        if *name == "step.started" {
            let step = ModelStep {
                message: named(data).unwrap_or_else(|| key.clone()),
                agent: data.get("agent").text().unwrap_or_default(),
                model: rows::model(data).text().unwrap_or_default(),
                created: *at,
                texts: 0,
            };
            self.steps.last.insert(session.clone(), step);
        }
        let message = self.message_of(this);
        let step = self
            .steps
            .last
            .get(session)
            .filter(|step| step.message == message)
            .cloned()
            .unwrap_or_default();
        let is_over = *name != "step.started";
        let times = object([
            ("created", moment(step.created.or(*at))),
            ("completed", if is_over { moment(*at) } else { Json::Null }),
        ]);
        let info = object([
            ("id", text(&message)),
            ("sessionID", text(session)),
            ("role", text("assistant")),
            ("agent", text(&step.agent)),
            ("modelID", text(&step.model)),
            ("finish", data.get("finish").clone()),
            ("cost", data.get("cost").clone()),
            ("tokens", rows::tokens(data.get("tokens"))),
            ("error", data.get("error").clone()),
            ("time", times),
        ]);
        self.message(&info, false, out)
    }

    /// A text or a thought begins, grows, or is complete.
    fn prose(&mut self, this: &SessionEvent<'_, '_>, out: &mut Batch) -> Fate {
        let SessionEvent {
            name,
            data,
            session,
            ..
        } = this;
        let (kind, what) = name.split_once('.').unwrap_or((name, ""));
        let message = self.message_of(this);
        let step = self.steps.last.get_mut(session);
        let number = step.map_or(0, |step| {
            step.texts += u32::from(what == "started");
            step.texts
        });
        let named = data.first(&["ordinal", "textID", "reasoningID"], |id| match id {
            Json::Integer(number) => Some(number.to_string()),
            other => other.filled().map(str::to_owned),
        });
        let id = format!(
            "{message}/{kind}/{}",
            named.unwrap_or_else(|| number.to_string())
        );
        let part = |members: [_; 3]| {
            let same = [("messageID", text(&message)), ("sessionID", text(session))];
            object(same.into_iter().chain(members))
        };
        match what {
            "delta" => {
                let delta = data.get("delta").clone();
                let grown = part([
                    ("partID", text(&id)),
                    ("field", text(kind)),
                    ("delta", delta),
                ]);
                if self.deltas.append(this.id.clone(), &grown) {
                    self.add_grown(out);
                }
                Fate::Merged
            }
            "ended" => {
                let whole = part([
                    ("id", text(&id)),
                    ("type", text(kind)),
                    ("text", data.get("text").clone()),
                ]);
                self.deltas.set(Piece::of(&id), &whole);
                self.part(&whole, &Json::Null, false, out)
            }
            _ => Fate::Merged,
        }
    }

    fn call(&mut self, this: &SessionEvent<'_, '_>, out: &mut Batch) -> Fate {
        let SessionEvent {
            name,
            data,
            session,
            at,
            ..
        } = this;
        let call = data
            .first(&["callID", "id"], Json::text)
            .unwrap_or_default();
        if let Some(tool) = data.first(&["name", "tool"], Json::text) {
            self.steps.tools.insert(call.clone(), tool);
        }
        let tool_name = self.steps.tools.get(&call).cloned().unwrap_or_default();
        let (status, input) = match *name {
            "tool.input.started" => ("streaming", Json::Null),
            "tool.called" => ("running", data.get("input").clone()),
            "tool.success" | "tool.failed" | "tool.error" => {
                return self.outcome(this, &call, &tool_name, out);
            }
            _ => return Fate::Merged,
        };
        let message = self.message_of(this);
        let state = object([
            ("status", text(status)),
            ("input", input),
            ("time", object([("start", moment(*at))])),
        ]);
        let part = object([
            ("type", text("tool")),
            ("id", text(&format!("{message}/{call}"))),
            ("messageID", text(&message)),
            ("sessionID", text(session)),
            ("tool", text(&tool_name)),
            ("callID", text(&call)),
            ("state", state),
            ("isEvent", Json::Bool(true)),
        ]);
        self.part(&part, &Json::Null, false, out)
    }

    /// The result of a call. An earlier event has the arguments.
    fn outcome(
        &mut self,
        this: &SessionEvent<'_, '_>,
        call: &Text,
        tool_name: &Text,
        out: &mut Batch,
    ) -> Fate {
        let SessionEvent {
            name,
            data,
            session,
            at,
            key,
            ..
        } = this;
        let is_done = *name == "tool.success";
        let mut state = vec![(
            "status".into(),
            text(if is_done { "completed" } else { "error" }),
        )];
        let same = [
            "content",
            "structured",
            "metadata",
            "result",
            "output",
            "error",
        ];
        let same = same.into_iter().filter(|name| data.has(name));
        state.extend(same.map(|name| (name.into(), data.get(name).clone())));
        let item = object([
            ("type", text("tool")),
            ("id", text(call)),
            ("name", text(tool_name)),
            ("state", Json::Object(state)),
            ("time", object([("completed", moment(*at))])),
        ]);
        let part = rows::tool(&item);
        if let Some(child) = tool::child(part.get("state")) {
            self.sessions.started(&child, call, &Text::default(), out);
        }
        let lane = self.sessions.lane_of(session, out);
        let result = Box::new(tool::outcome(&part, key, out));
        out.result(call.clone(), result, lane);
        Fate::Merged
    }

    /// A prompt is queued, delivered or cancelled.
    fn queue(&mut self, this: &SessionEvent<'_, '_>, out: &mut Batch) -> Fate {
        let SessionEvent {
            name,
            data,
            session,
            at,
            ..
        } = this;
        let id = data
            .first(&["inputID", "inboxID"], Json::text)
            .unwrap_or_default();
        match *name {
            "input.admitted" | "inbox.enqueued" => {
                let item = data.either("item", "input");
                let content = item.either("payload", "data");
                let mut entry = out.new_entry(id.clone(), Role::Harness, *at);
                entry.lane = self.sessions.lane_of(session, out);
                entry.marks = Marks {
                    quiet: true,
                    unsent: true,
                    ..Marks::default()
                };
                let body = out.prose(content.get("text").str_or_empty());
                let kind = BlockKind::raw("queued", body);
                entry.push(kind);
                out.entry(entry.clone());
                if item.kind() != "synthetic" {
                    self.steps.queued.insert(id, entry);
                }
                Fate::Shown
            }
            "input.promoted" | "inbox.delivered" => {
                let Some(mut entry) = self.steps.queued.remove(&id) else {
                    return Fate::Merged;
                };
                let said = entry.blocks.first().and_then(|block| match &block.kind {
                    BlockKind::Raw(raw) => Some(raw.body.clone()),
                    _ => None,
                });
                let body: Body = said.unwrap_or_else(|| out.prose(""));
                out.push(Edit::Retire(id));
                if entry.lane.is_none() {
                    out.title(0, Text::stub(&body.stub, TITLE_CHARS));
                }
                entry.role = Role::User;
                entry.marks = Marks {
                    prompt: true,
                    ..Marks::default()
                };
                entry.blocks = vec![Block::new(Piece(0), BlockKind::Text(body))];
                out.entry(entry);
                Fate::Merged
            }
            "input.cancelled" | "inbox.cancelled" => {
                self.steps.queued.remove(&id);
                out.push(Edit::Retire(id));
                Fate::Merged
            }
            _ => Fate::Merged,
        }
    }

    /// A turn begins or has ended.
    fn execution(&mut self, this: &SessionEvent<'_, '_>, out: &mut Batch) -> Fate {
        let SessionEvent {
            name,
            data,
            session,
            at,
            key,
            ..
        } = this;
        let outcome = name.rsplit('.').next().unwrap_or_default();
        if outcome == "started" {
            return self.set_live(session, Some(true), out);
        }
        self.set_live(session, None, out);
        if outcome == "failed" {
            self.fail(session, data, out);
        }
        // After a shutdown the resumed work continues the same turn.
        if data.get("reason").is("shutdown") {
            return Fate::Merged;
        }
        self.idle(key.clone(), *at, rows::ended(outcome), session, out)
    }

    /// Decodes an event that is complete by itself.
    fn single(&mut self, this: &SessionEvent<'_, '_>, out: &mut Batch) -> Fate {
        let SessionEvent {
            name,
            data,
            session,
            key,
            ..
        } = this;
        match *name {
            "created" => self.session(&with(data, &[("id", text(session))]), false, out),
            "renamed" => {
                if let Some(title) = data
                    .get("title")
                    .text()
                    .filter(|_| self.sessions.is_main(session))
                {
                    out.title(2, title);
                }
                Fate::Merged
            }
            "usage.recorded" => {
                // The usage of a request without a message, for example for a title.
                if let Some(usage) = rows::usage(data) {
                    let usage = Box::new(Usage {
                        scope: Scope::Extra,
                        ..usage
                    });
                    out.usage(key.clone(), usage, None);
                }
                Fate::Merged
            }
            "retry.scheduled" | "retried" => {
                let piece = Piece::of(&format!("retry {:?}", data.get("attempt").count()));
                let message = self.message_of(this);
                self.line(&message, piece, session, message::retry(data), out)
            }
            "revert.staged" | "revert.cleared" => self.session(
                &object([
                    ("id", text(session)),
                    ("revert", data.get("revert").clone()),
                ]),
                false,
                out,
            ),
            "forked" => {
                let source = data.get("parentID").str_or_empty();
                let line = Break::setting(&format!("forked from session {source}"));
                self.emit_single(key.clone(), session, line.into(), false, out)
            }
            _ => match self.row_of(this) {
                Some(row) => match rows::read(&row) {
                    Some(read) => self.row(read, &row, out),
                    None => Fate::Merged,
                },
                // The event only announces a beginning; its outcome is recorded later.
                None => Fate::Merged,
            },
        }
    }

    /// The row that OpenCode makes from an event.
    fn row_of<'a>(&mut self, this: &SessionEvent<'_, 'a>) -> Option<Json<'a>> {
        let SessionEvent {
            name,
            data,
            session,
            at,
            key,
            ..
        } = this;
        let mut key = key.clone();
        let (kind, more) = match *name {
            "agent.selected" | "agent.switched" => ("agent-switched", vec![]),
            "model.selected" | "model.switched" => ("model-switched", vec![]),
            "moved" => ("location-switched", vec![]),
            "synthetic" => ("synthetic", vec![]),
            "skill.activated" => ("skill", vec![("skill", data.get("id").clone())]),
            "prompted" => {
                key = data.get("messageID").text().unwrap_or(key);
                let prompt = data.get("prompt");
                (
                    "user",
                    ["text", "files", "agents"]
                        .map(|name| (name, prompt.get(name).clone()))
                        .to_vec(),
                )
            }
            "compaction.ended" => (
                "compaction",
                vec![
                    ("status", text("completed")),
                    ("summary", data.get("text").clone()),
                ],
            ),
            "compaction.failed" => ("compaction", vec![("status", text("failed"))]),
            "shell.started" | "shell.ended" => {
                let shell = if data.has("shell") {
                    data.get("shell")
                } else {
                    *data
                };
                let id = shell
                    .first(&["id", "callID"], Json::text)
                    .unwrap_or_default();
                key = self.steps.shells.entry(id.clone()).or_insert(key).clone();
                let mut more = vec![("shellID", text(&id))];
                more.extend(
                    ["command", "status", "exit"].map(|name| (name, shell.get(name).clone())),
                );
                ("shell", more)
            }
            _ => return None,
        };
        let completed = if *name == "shell.ended" {
            moment(*at)
        } else {
            Json::Null
        };
        let times = object([("created", moment(*at)), ("completed", completed)]);
        let mut members = vec![
            ("type", text(kind)),
            ("id", text(&key)),
            ("sessionID", text(session)),
            ("time", times),
        ];
        members.extend(more);
        // A row is not part of another message.
        members.push(("messageID", Json::Null));
        Some(with(data, &members))
    }
}

/// The message that the data of an event names.
fn named(data: &Json<'_>) -> Option<Key> {
    data.first(&["assistantMessageID", "messageID"], Json::text)
}

/// A copy of an object with these members replaced or added.
fn with<'a>(json: &Json<'a>, members: &[(&'static str, Json<'a>)]) -> Json<'a> {
    let mut all = json.members().to_vec();
    all.retain(|(name, _)| members.iter().all(|(own, _)| own != name));
    all.extend(
        members
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| ((*name).into(), value.clone())),
    );
    Json::Object(all)
}
