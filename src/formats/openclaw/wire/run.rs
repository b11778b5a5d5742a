//! Runs of an agent in frames of the gateway: `chat` events with the text so far, `agent` events
//! with answers, tools and errors. All frames of a run make one entry.
//!
//! Invariant: each frame makes its bodies in the same order, independently of earlier frames. Texts
//! that no frame has as a whole (bare deltas) stay in their stubs.

mod parts;

use std::collections::HashMap;

use crate::formats::json::Json;
use crate::formats::pi::result::{self, call_key};
use crate::formats::pi::{block, usage};
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{Block, BlockKind, Break, Entry, Piece, Role, Stop};
use crate::model::record::Origin;
use crate::model::tally::Fate;
use crate::model::text::{Name, Text, text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolResult, ToolState, Verdict};
use crate::model::usage::{Scope, Usage};
use parts::{PartVoice, Parts};

/// Members of a frame that identify its run.
const NAMES: [&str; 3] = ["runId", "sessionKey", "agentId"];

#[derive(Debug, Default)]
pub(crate) struct WireRuns {
    known: HashMap<Key, WireRun>,
    /// The run whose text the next frame may repeat and extend.
    pending_run: Option<Key>,
    results: Vec<Edit>,
}

#[derive(Debug)]
struct WireRun {
    key: Key,
    /// The first frame of the run.
    first: Origin,
    at: Option<Timestamp>,
    lane: Option<Name>,
    model: Option<Name>,
    usage: Option<Box<Usage>>,
    /// A block that identifies the run.
    facts: Block,
    parts: Parts,
    /// How the run ended, once it has.
    stop: Stop,
}

impl WireRuns {
    /// Decodes a `chat` event; `None` if it does not belong to a run.
    pub(crate) fn chat(&mut self, payload: &Json<'_>, out: &mut Batch) -> Option<Fate> {
        let message = payload.get("message");
        let is_answer = !message.has("role") || message.get("role").is("assistant");
        let state = payload.get("state").filled().filter(|_| is_answer)?;
        let at = message
            .get("timestamp")
            .moment()
            .or_else(|| payload.get("ts").moment());
        let (run, is_new) = self.run(payload, at, out)?;
        let content = message.either("content", "text");
        let content = if message.str().is_some() {
            message
        } else {
            content
        };
        let blocks = block::all(content, block::AnswerEnding::Whole, out);
        let texts: Vec<&str> = content.blocks().iter().filter_map(block::text_of).collect();
        let said = texts.join("\n");
        let stop = match state {
            "delta" => Stop::Unrecorded,
            "final" => Stop::Done,
            _ => Stop::Other,
        };
        // A late frame does not reopen a run that has ended.
        run.stop = if stop == Stop::Unrecorded {
            run.stop
        } else {
            stop
        };
        if stop == Stop::Unrecorded {
            let is_cumulative = payload.has("deltaText") || payload.get("replace").is_true();
            run.parts.add_text(
                PartVoice::Answer,
                &said,
                blocks,
                is_cumulative,
                out.origin(),
            );
        } else {
            run.parts.conclude(&said, blocks, out.origin());
            run.model = message.get("model").text().or_else(|| run.model.take());
            let usage = usage::read(message.get("usage"), Scope::Request, out).map(Box::new);
            run.usage = usage.or_else(|| run.usage.take());
        }
        let recorded = payload.get("errorMessage").filled();
        let ending = match state {
            "error" => Some(Break::error(recorded.unwrap_or("the run failed"))),
            "aborted" => Some(Break::Interrupted(Text::clean(
                recorded.unwrap_or("aborted"),
            ))),
            _ => None,
        };
        if let Some(ending) = ending {
            run.parts
                .end(ending, block::tree(&format!("chat {state}"), payload, out));
        }
        Some(self.hold(payload, is_new, out))
    }

    /// Decodes an `agent` event; `None` if it does not belong to an answer.
    pub(crate) fn agent(&mut self, payload: &Json<'_>, out: &mut Batch) -> Option<Fate> {
        let stream = payload.get("stream").str_or_empty();
        let data = payload.get("data");
        let phase = data.get("phase").str_or_empty();
        let at = payload
            .get("ts")
            .moment()
            .or_else(|| data.get("startedAt").moment());
        match (stream, phase) {
            ("assistant", _) => self.add_text(payload, PartVoice::Answer, at, out),
            ("thinking" | "reasoning", _) => self.add_text(payload, PartVoice::Thought, at, out),
            ("tool", "start" | "update" | "result" | "end") if data.has("toolCallId") => {
                self.tool(payload, phase, at, out)
            }
            ("error", _) | ("lifecycle", "error") => {
                let recorded = data.first(&["error", "message", "errorMessage"], Json::filled);
                let (run, is_new) = self.run(payload, at, out)?;
                run.stop = Stop::Other;
                let error = Break::error(recorded.unwrap_or("the run failed"));
                run.parts
                    .end(error, block::tree(&format!("agent {stream}"), payload, out));
                Some(self.hold(payload, is_new, out))
            }
            ("lifecycle", "start") => Some(Fate::Passed("start of a run")),
            ("lifecycle", "end") => {
                let key = run_key(payload)?;
                let Some(run) = self.known.get_mut(&key) else {
                    return Some(Fate::Passed("end of a run"));
                };
                run.stop = if run.stop == Stop::Unrecorded {
                    Stop::Done
                } else {
                    run.stop
                };
                self.flush_others(&key, out);
                self.pending_run = Some(key);
                Some(Fate::Merged)
            }
            _ => None,
        }
    }

    /// Emits the run that was held back.
    pub(crate) fn flush(&mut self, out: &mut Batch) {
        if let Some(run) = self.pending_run.take().and_then(|key| self.known.get(&key)) {
            out.entry(run.entry(out));
        }
        out.edits.append(&mut self.results);
    }

    fn add_text(
        &mut self,
        payload: &Json<'_>,
        voice: PartVoice,
        at: Option<Timestamp>,
        out: &mut Batch,
    ) -> Option<Fate> {
        let data = payload.get("data");
        let (whole, delta) = (data.get("text").str(), data.get("delta").str());
        let said = whole.or(delta)?;
        let (run, is_new) = self.run(payload, at, out)?;
        let kind = |body| match voice {
            PartVoice::Answer => BlockKind::Text(body),
            PartVoice::Thought => BlockKind::Thinking(body),
        };
        let body = out.prose(said);
        let blocks = if said.trim().is_empty() {
            Vec::new()
        } else {
            vec![Block::new(Piece(0), kind(body))]
        };
        if whole.is_some() {
            run.parts
                .add_text(voice, said, blocks, delta.is_some(), out.origin());
        } else {
            run.parts.add(voice, said, out.origin());
        }
        Some(self.hold(payload, is_new, out))
    }

    fn tool(
        &mut self,
        payload: &Json<'_>,
        phase: &str,
        at: Option<Timestamp>,
        out: &mut Batch,
    ) -> Option<Fate> {
        let data = payload.get("data");
        let call = call_key(data.get("toolCallId"));
        let (run, is_new) = self.run(payload, at, out)?;
        if matches!(phase, "start" | "update") {
            let so_far = as_result(data.get("partialResult"));
            let output = result::read(Key::default(), &so_far, None, out).body;
            let made = block::call(&as_call(data), ToolState::Running, out);
            run.parts.call(made, ToolState::running(output), at);
            return Some(self.hold(payload, is_new, out));
        }
        let key = ToolResult::key_of(&call, None);
        let mut recorded = result::read(key, &as_result(data.get("result")), at, out);
        if data.get("isError").is_true() && recorded.verdict == Verdict::Done {
            recorded.verdict = Verdict::Failed;
        }
        recorded.duration_ms = recorded
            .duration_ms
            .or_else(|| run.parts.since_start(&call, at));
        run.parts.call(
            block::call(&as_call(data), ToolState::Running, out),
            ToolState::Running,
            None,
        );
        let lane = run.lane.clone();
        let fate = self.hold(payload, is_new, out);
        self.results.push(Edit::Result {
            call,
            result: Box::new(recorded),
            lane,
        });
        Some(fate)
    }

    /// The run that a frame belongs to, and whether it is new.
    fn run(
        &mut self,
        payload: &Json<'_>,
        at: Option<Timestamp>,
        out: &mut Batch,
    ) -> Option<(&mut WireRun, bool)> {
        let key = run_key(payload)?;
        let facts = facts(payload, out);
        let session = payload.get("sessionKey").str_or_empty();
        let is_new = !self.known.contains_key(&key);
        if is_new
            && let Some(agent) = session
                .strip_prefix("agent:")
                .and_then(|rest| rest.split(':').next())
        {
            out.meta(MetaEdit::Agent(Text::clean(agent)));
        }
        let run = self.known.entry(key.clone()).or_insert_with(|| WireRun {
            key,
            first: out.origin(),
            at,
            lane: session.contains(":subagent:").then(|| Text::clean(session)),
            model: None,
            usage: None,
            facts,
            parts: Parts::default(),
            stop: Stop::Unrecorded,
        });
        run.at = run.at.or(at);
        Some((run, is_new))
    }

    fn hold(&mut self, payload: &Json<'_>, is_new: bool, out: &mut Batch) -> Fate {
        let key = run_key(payload).unwrap_or_default();
        self.flush_others(&key, out);
        self.pending_run = Some(key);
        if is_new { Fate::Shown } else { Fate::Merged }
    }

    fn flush_others(&mut self, key: &Key, out: &mut Batch) {
        if self.pending_run.as_ref().is_some_and(|held| held != key) {
            self.flush(out);
        }
    }
}

impl WireRun {
    fn entry(&self, out: &Batch) -> Entry {
        let mut entry = out.new_entry(self.key.clone(), Role::Assistant, self.at);
        entry.origin = self.first;
        entry.lane.clone_from(&self.lane);
        entry.model.clone_from(&self.model);
        entry.usage.clone_from(&self.usage);
        entry.stop = self.stop;
        entry.marks.open = self.stop == Stop::Unrecorded;
        entry.blocks.push(self.facts.clone());
        entry.blocks.extend(self.parts.blocks());
        entry
    }
}

fn run_key(payload: &Json<'_>) -> Option<Key> {
    payload.get("runId").filled().map(|run| text!("run {run}"))
}

/// A block with the agent and the session of a run.
fn facts(payload: &Json<'_>, out: &mut Batch) -> Block {
    let mut named = Vec::new();
    for name in NAMES {
        let value = payload.get(name);
        if value.filled().is_some() {
            named.push((name.into(), value.clone()));
        }
    }
    let facts = Json::Object(named);
    let session = payload.get("sessionKey").filled();
    let title = match session {
        Some(session) => format!("run in {session}"),
        None => format!("run {}", payload.get("runId").str_or_empty()),
    };
    block::tree(&title, &facts, out)
}

/// A tool's start, in the form of a call within a message.
fn as_call<'a>(data: &Json<'a>) -> Json<'a> {
    let member = |name: &'static str, from: &str| (name.into(), data.get(from).clone());
    Json::Object(vec![
        member("id", "toolCallId"),
        member("name", "name"),
        member("arguments", "args"),
    ])
}

/// A tool's output, in the form of a result message.
fn as_result<'a>(recorded: &Json<'a>) -> Json<'a> {
    if recorded.has("content") || recorded.has("details") {
        return recorded.clone();
    }
    Json::Object(vec![("content".into(), recorded.clone())])
}
