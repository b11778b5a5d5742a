//! kimi-cli: the wire of Kimi CLI, protocols 1.1 to 1.10: the events that the agent sent to its
//! terminal, including those of sub-agents.
//!
//! **Arguments are streamed.** A call may be recorded before its arguments are complete; the
//! following parts are appended. Other events may come in between: only the next call or step of
//! the agent ends the arguments. No line has all of them, so all lines from the call to its last
//! part are read again together.

mod result;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use itertools::Itertools as _;

use super::agent::Agent;
use super::content::{block, blocks, text_of};
use super::places;
use crate::formats::decoder::{BESIDE, Decoder, Format, Input, RecordPlace};
use crate::formats::definition::head::Head;
use crate::formats::definition::heads::head;
use crate::formats::json::{self, Json};
use crate::formats::roots::{FileRole, Pattern, SessionName};
use crate::formats::tools;
use crate::formats::unknown::{self, NamedKind};
use crate::model::body::{Body, BodyFlags, Held, Key};
use crate::model::edit::{Batch, MetaEdit, saturating_u32};
use crate::model::entry::{Break, Piece, Role, Stop};
use crate::model::record::Origin;
use crate::model::tally::Fate;
use crate::model::text::{Name, Text, text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolResult, ToolState, identifies};
use crate::model::usage::Usage;

pub(crate) struct KimiCli;

impl Format for KimiCli {
    head!("kimi-cli");

    fn decoder(&self, _: Option<&Path>) -> Box<dyn Decoder> {
        Box::new(KimiCliDecoder::default())
    }

    fn session_name<'p>(&self, path: &'p Path) -> Option<SessionName<'p>> {
        places::named(path)
    }

    /// The events of sub-agents are in the wire itself.
    fn files(&self, path: &Path, role: FileRole<'_>) -> Vec<Pattern> {
        match role {
            FileRole::Companion | FileRole::Manifest => Pattern::list(places::state(path)),
            _ => self.head().files(path, role),
        }
    }
}

/// The sub-agent of an event; `None` is the main agent.
type AgentLane = Option<Name>;

#[derive(Default)]
struct KimiCliDecoder {
    agents: BTreeMap<AgentLane, Agent>,
    /// The call with incomplete arguments, by agent.
    streams: BTreeMap<AgentLane, PartialCall>,
    /// Open questions, by their own id or that of their call.
    questions: BTreeMap<Key, OpenQuestion>,
    lanes: HashSet<Name>,
    counted: HashSet<Key>,
}

struct OpenQuestion {
    lane: AgentLane,
    entry: Key,
    words: Text,
}

/// A call with incomplete arguments.
struct PartialCall {
    entry: Key,
    piece: Piece,
    call: ToolCall,
    text: String,
    /// The origin of the call's line.
    origin: Origin,
    /// The range from the call's line to that of the last part.
    from: Origin,
    is_changed: bool,
}

/// A call with its arguments so far.
fn assemble_call(name: &str, text: &str, from: Origin, out: &Batch) -> ToolCall {
    let parsed = json::parse(text.trim()).ok();
    let bare = Json::Str(text.into());
    let value = parsed.as_ref().unwrap_or(&bare);
    let kind = tools::kind_of_call(name, value);
    let headline = tools::headline(kind, value);
    let flags = BodyFlags {
        broken_off: parsed.is_none(),
        ..BodyFlags::default()
    };
    // The body gets no slot number: it is emitted between bodies of other records, whose numbers
    // must not change.
    let input = match parsed.filter(Json::is_object) {
        Some(input) => Body {
            stub: headline.clone(),
            bytes: saturating_u32(input.weight()),
            lines: 1,
            from,
            slot: 0,
            flags,
            held: if out.stubs_only {
                Held::OnDisk
            } else {
                Held::Tree(Arc::new(input.to_tree()))
            },
        },
        None => Body {
            flags,
            ..Body::in_memory(text, from)
        },
    };
    ToolCall {
        key: Key::default(),
        name: Text::clean(name),
        kind,
        headline,
        input,
        state: ToolState::Pending,
        started: None,
        lane: None,
    }
}

#[derive(Clone, Copy)]
struct WireEvent<'a> {
    kind: &'a str,
    payload: &'a Json<'a>,
    at: Option<Timestamp>,
}

impl Decoder for KimiCliDecoder {
    fn head(&self) -> &'static Head {
        KimiCli.head()
    }

    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        let json = input.json;
        if matches!(input.place, RecordPlace::File(_)) {
            if let Some(title) = json.first(&["custom_title", "title"], Json::text) {
                out.title(2, title);
            }
            return BESIDE;
        }
        if json.kind() == "metadata" {
            if let Some(value) = json.get("protocol_version").text() {
                out.fact("protocol", value);
            }
            return Fate::Merged;
        }
        let message = json.get("message");
        let event = WireEvent {
            kind: message.kind(),
            payload: message.get("payload"),
            at: json.get("timestamp").moment(),
        };
        self.event(event, None, out).unwrap_or_else(|| {
            let entry = out.new_entry(out.origin_key(), Role::Harness, event.at);
            unknown::record(NamedKind("type", event.kind), json, entry, out)
        })
    }

    fn finish(&mut self, out: &mut Batch) {
        let lanes: Vec<AgentLane> = self.streams.keys().cloned().collect();
        for lane in lanes {
            self.show_stream(lane.as_ref(), out);
        }
    }
}

impl KimiCliDecoder {
    fn agent(&mut self, lane: Option<&Name>) -> &mut Agent {
        let new = || lane.map_or_else(Agent::default, |lane| Agent::of_lane(lane.clone()));
        self.agents.entry(lane.cloned()).or_insert_with(new)
    }

    /// Decodes an event of an agent; `None` if its type is unknown.
    fn event(
        &mut self,
        event: WireEvent<'_>,
        lane: Option<&Name>,
        out: &mut Batch,
    ) -> Option<Fate> {
        let WireEvent { kind, payload, at } = event;
        match kind {
            "ToolCallPart" => {}
            "ToolCall" | "StepBegin" | "TurnBegin" | "TurnEnd" | "StepInterrupted" => {
                self.close_stream(lane, out);
            }
            _ => self.show_stream(lane, out),
        }
        Some(match kind {
            "TurnBegin" | "SteerInput" => {
                let words = text_of(payload.get("user_input"));
                let mut entry = self.agent(lane).prompt(&words, at, out);
                entry.blocks = blocks(payload.get("user_input"), out.piece(), out);
                out.show(entry)
            }
            "TurnEnd" => self.agent(lane).stop(Stop::Done, at, out),
            "StepBegin" => {
                self.agent(lane).begin_step(out);
                Fate::Merged
            }
            "StepInterrupted" => {
                self.agent(lane).mark_lost(out);
                self.close_questions(|_| true, lane, out);
                self.agent(lane)
                    .line(Break::Interrupted(Text::default()), at, out)
            }
            "StepRetry" => self.retry(event, lane, out),
            "ContentPart" => {
                let (mut entry, fate) = self.agent(lane).answer(at, out);
                entry.blocks.extend(block(payload, out.piece(), out));
                out.entry(entry);
                fate
            }
            "ToolCall" => self.call(event, lane, out),
            "ToolCallPart" => self.grow(event, lane, out),
            "ToolResult" => self.result(event, lane, out),
            "StatusUpdate" => self.status(payload, lane, out),
            "SubagentEvent" => self.sub_agent(event, out)?,
            "ApprovalRequest" | "QuestionRequest" => self.ask(event, lane, out),
            "ApprovalResponse" | "ApprovalRequestResolved" | "QuestionResponse" => {
                self.allow(event, lane, out)
            }
            _ => return self.notice(event, lane, out),
        })
    }

    /// Decodes an event of the program; `None` if its type is unknown.
    fn notice(
        &mut self,
        event: WireEvent<'_>,
        lane: Option<&Name>,
        out: &mut Batch,
    ) -> Option<Fate> {
        let WireEvent { kind, payload, at } = event;
        Some(match kind {
            "CompactionBegin" => {
                let what = Break::compaction("");
                self.agent(lane).line(what, at, out)
            }
            "CompactionEnd" => Fate::Merged,
            "HookTriggered" | "HookResolved" => self.hook(event, lane, out),
            "Notification" => {
                let title = payload.get("title").filled().unwrap_or("notification");
                self.agent(lane)
                    .text((title, payload.get("body").str_or_empty()), false, at, out)
            }
            "PlanDisplay" => self.agent(lane).text(
                ("plan", payload.get("content").str_or_empty()),
                false,
                at,
                out,
            ),
            "BtwBegin" => self.agent(lane).text(
                ("by the way", payload.get("question").str_or_empty()),
                false,
                at,
                out,
            ),
            "BtwEnd" => {
                let answer = payload.first(&["response", "error"], Json::filled);
                let text = ("by the way, answered", answer.unwrap_or_default());
                self.agent(lane).text(text, false, at, out)
            }
            _ => return None,
        })
    }

    // === calls ===

    fn call(&mut self, event: WireEvent<'_>, lane: Option<&Name>, out: &mut Batch) -> Fate {
        let WireEvent { payload, at, .. } = event;
        let function = payload.get("function");
        let written = function.get("arguments");
        let parsed = written
            .str()
            .and_then(|text| json::parse(text).ok())
            .filter(Json::is_object);
        let id = payload.get("id").str_or_empty();
        let name = function.get("name").str_or_empty();
        let agent = self.agent(lane);
        let (mut entry, fate) = agent.answer(at, out);
        let piece = out.piece();
        let call = if let Some(input) = &parsed {
            agent.begin_call(id, tools::call(name, input, out), at)
        } else {
            let (text, from) = (written.str_or_empty(), out.origin());
            let call = agent.begin_call(id, assemble_call(name, text, from, out), at);
            let (entry, text) = (entry.key.clone(), text.to_owned());
            let stream = PartialCall {
                entry,
                piece,
                call: call.clone(),
                text,
                origin: from,
                from,
                is_changed: false,
            };
            self.streams.insert(lane.cloned(), stream);
            call
        };
        entry.push_piece(piece, call);
        out.entry(entry);
        fate
    }

    /// Appends a part of the arguments. A part without a call is shown as an entry.
    fn grow(&mut self, event: WireEvent<'_>, lane: Option<&Name>, out: &mut Batch) -> Fate {
        let text = event.payload.get("arguments_part").str_or_empty();
        let Some(stream) = self.streams.get_mut(&lane.cloned()) else {
            if text.is_empty() {
                return Fate::Merged;
            }
            return self
                .agent(lane)
                .text(("arguments of no call", text), false, event.at, out);
        };
        stream.text.push_str(text);
        stream.is_changed = true;
        let part = out.origin();
        let end = part.at + u64::from(part.len);
        stream.from.len = u32::try_from(end.saturating_sub(stream.from.at)).unwrap_or(u32::MAX);
        Fate::Merged
    }

    fn close_stream(&mut self, lane: Option<&Name>, out: &mut Batch) {
        self.show_stream(lane, out);
        self.streams.remove(&lane.cloned());
    }

    /// Emits a call whose arguments have grown. Its origin is the line of the call, since the time
    /// of emission depends on the portions in which the session is read.
    fn show_stream(&mut self, lane: Option<&Name>, out: &mut Batch) {
        let Some(stream) = self.streams.get_mut(&lane.cloned()) else {
            return;
        };
        if !std::mem::take(&mut stream.is_changed) {
            return;
        }
        let PartialCall {
            call, text, from, ..
        } = stream;
        *call = ToolCall {
            key: call.key.clone(),
            started: call.started,
            ..assemble_call(&call.name, text, *from, out)
        };
        let (key, piece, call) = (stream.entry.clone(), stream.piece, stream.call.clone());
        let origin = stream.origin;
        let mut entry = self.agent(lane).part(key, None, out);
        entry.origin = origin;
        entry.push_piece(piece, call);
        out.entry(entry);
    }

    fn result(&mut self, event: WireEvent<'_>, lane: Option<&Name>, out: &mut Batch) -> Fate {
        let WireEvent { payload, at, .. } = event;
        let call = payload.get("tool_call_id").clean();
        self.close_questions(|id| *id == call, lane, out);
        let is_known = self.agent(lane).end_call(&call);
        let key = ToolResult::key_of(&call, lane);
        let result = Box::new(result::read(key, payload.get("return_value"), at, out));
        out.result(call, result, lane.cloned());
        if is_known { Fate::Merged } else { Fate::Shown }
    }

    // === sub-agents ===

    /// Decodes an event of a sub-agent. Older versions only name its call.
    fn sub_agent(&mut self, event: WireEvent<'_>, out: &mut Batch) -> Option<Fate> {
        let payload = event.payload;
        let calls = ["parent_tool_call_id", "task_tool_call_id"];
        let call = payload
            .first(&calls, Json::text)
            .filter(|call| identifies(call));
        let name = payload.get("agent_id").text().or_else(|| call.clone())?;
        if self.lanes.insert(name.clone()) {
            let label = payload.get("subagent_type").text();
            out.lane(name.clone(), label, call);
        }
        let inner = payload.get("event");
        let event = WireEvent {
            kind: inner.kind(),
            payload: inner.get("payload"),
            at: event.at,
        };
        self.event(event, Some(&name), out)
    }

    // === questions ===

    fn ask(&mut self, event: WireEvent<'_>, lane: Option<&Name>, out: &mut Batch) -> Fate {
        let payload = event.payload;
        let mut questions = payload
            .get("questions")
            .items()
            .iter()
            .filter_map(|one| one.get("question").filled());
        let asked = payload.get("description").filled().map(str::to_owned);
        let asked = asked.unwrap_or_else(|| questions.join(" "));
        let verb = if event.kind == "ApprovalRequest" {
            "permission: "
        } else {
            ""
        };
        let words = text!("{verb}{asked}");
        let key = out.origin_key();
        self.agent(lane).line_of(
            key.clone(),
            Break::Waiting(words.clone()),
            (event.at, None),
            out,
        );
        // A permission has its own id; a question is answered by the result of its call.
        let names = if event.kind == "ApprovalRequest" {
            ["id", "tool_call_id"]
        } else {
            ["tool_call_id", "id"]
        };
        if let Some(id) = payload.first(&names, Json::text) {
            self.questions.insert(
                id,
                OpenQuestion {
                    lane: lane.cloned(),
                    entry: key,
                    words,
                },
            );
        }
        Fate::Shown
    }

    fn allow(&mut self, event: WireEvent<'_>, lane: Option<&Name>, out: &mut Batch) -> Fate {
        let payload = event.payload;
        let id = payload.get("request_id").str_or_empty();
        let response = payload.get("response").str_or_empty().replace('_', " ");
        match self.questions.remove(id) {
            Some(OpenQuestion { entry, words, .. }) => {
                let words = text!("{words}  {response}");
                self.agent(lane)
                    .line_of(entry, Break::Setting(words), (None, event.at), out);
                Fate::Merged
            }
            None => self
                .agent(lane)
                .line(Break::setting(&response), event.at, out),
        }
    }

    /// Closes the questions about calls that have results, or whose step was interrupted.
    fn close_questions(
        &mut self,
        is_over: impl Fn(&Key) -> bool,
        lane: Option<&Name>,
        out: &mut Batch,
    ) {
        let lane = lane.cloned();
        let (over, rest) = std::mem::take(&mut self.questions)
            .into_iter()
            .partition(|(id, question)| question.lane == lane && is_over(id));
        self.questions = rest;
        for OpenQuestion { entry, words, .. } in BTreeMap::into_values(over) {
            self.agent(lane.as_ref())
                .line_of(entry, Break::Setting(words), (None, None), out);
        }
    }

    // === the rest ===

    fn retry(&mut self, event: WireEvent<'_>, lane: Option<&Name>, out: &mut Batch) -> Fate {
        let payload = event.payload;
        let why = payload.first(&["error", "message", "reason", "error_type"], Json::filled);
        let words = text!("the request failed: {}", why.unwrap_or("it is made again"));
        let mut entry = self
            .agent(lane)
            .entry(out.origin_key(), Role::Harness, event.at, out);
        entry.marks.retried = true;
        entry.push(Break::Error(words));
        out.show(entry)
    }

    fn status(&mut self, payload: &Json<'_>, lane: Option<&Name>, out: &mut Batch) -> Fate {
        if let Some(tokens) = payload.get("max_context_tokens").count() {
            self.agent(lane).meta(MetaEdit::Window(tokens), out);
        }
        let tokens = payload.get("token_usage");
        if !tokens.is_object() {
            return Fate::Merged;
        }
        let is_repeated = payload
            .get("message_id")
            .text()
            .is_some_and(|id| !self.counted.insert(id));
        if !is_repeated {
            let usage = Usage {
                input: tokens.get("input_other").count(),
                output: tokens.get("output").count(),
                cache_read: tokens.get("input_cache_read").count(),
                cache_write: tokens.get("input_cache_creation").count(),
                ..Usage::default()
            };
            self.agent(lane).add_usage(usage, None, true, out);
        }
        Fate::Merged
    }

    fn hook(&mut self, event: WireEvent<'_>, lane: Option<&Name>, out: &mut Batch) -> Fate {
        let payload = event.payload;
        let part = |name: &str| payload.get(name).str_or_empty();
        let words = format!(
            "hook {} {} {} {}",
            part("event"),
            part("target"),
            part("action"),
            part("reason")
        );
        let what = Break::setting(words.split_whitespace().join(" ").as_str());
        if part("action") == "block" {
            return self.agent(lane).line(what, event.at, out);
        }
        self.agent(lane).trace(what, event.at, out)
    }
}

#[cfg(test)]
mod tests;
