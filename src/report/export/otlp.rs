//! A session as spans of OpenTelemetry, by the conventions for generative AI: `invoke_agent` for
//! the session and each sub-agent, `chat` for each answer, `execute_tool` for each call until its
//! work ended.
//!
//! Ids are hashes of the session's own ids, so a second export has the same. JSON and protobuf have
//! the same spans.

mod json;
mod protobuf;

use std::collections::HashMap;
use std::io::{self, Write};

use self::json::JsonSpans;
use self::protobuf::ProtobufSpans;
use super::pages::{name, title};
use super::{Exported, WriteFile, call_ids};
use crate::analysis::account::Class;
use crate::analysis::calls::awaited::Awaited;
use crate::analysis::calls::lifecycle::Lifecycle;
use crate::analysis::money::spending::amount::Amount;
use crate::analysis::money::spending::statement::{Group, Grouping, Statement};
use crate::analysis::money::spending::{Charge, For, RequestOutcome};
use crate::ingest::Pager;
use crate::model::entry::{BlockKind, Entry, EntryId, Piece, Role};
use crate::model::meta::LaneFacts;
use crate::model::text::{Name, Text, without_sgr};
use crate::model::timestamp::Timestamp;
use crate::model::tool::{self, ToolCall, ToolResult, ToolState};
use crate::report::entry::Content;
use crate::report::reading::{Contents, Reading};
use crate::report::spent::{CostFigures, UsageFigures};

/// The file of a session as JSON, a line.
pub(super) const FILES: [(&str, WriteFile); 1] = [("otlp.jsonl", write_json)];
/// The same as protobuf.
pub(super) const PROTOBUF: [(&str, WriteFile); 1] = [("otlp.pb", write_protobuf)];

/// The time of spans of a session that records no times. A span must have one.
const UNTIMED: Timestamp = Timestamp(0);

/// Ids of a trace and of a span.
type TraceId = [u8; 16];
type SpanId = [u8; 8];

enum AttributeValue {
    Text(String),
    Int(i64),
    Double(f64),
    Bool(bool),
    Texts(Vec<String>),
}

struct OtlpSpan {
    trace: TraceId,
    id: SpanId,
    parent: Option<SpanId>,
    name: String,
    kind: SpanKind,
    start: Timestamp,
    end: Timestamp,
    attributes: Vec<(&'static str, AttributeValue)>,
    /// The span of the answer that asked for it.
    cause: Option<SpanId>,
    error: Option<String>,
}

/// Whether it is within the agent, or a request to somebody else.
#[derive(Clone, Copy)]
enum SpanKind {
    Internal,
    Client,
}

/// What spans are written to.
trait SpanWriter {
    fn begin(&mut self, resource: &[(&'static str, AttributeValue)]) -> io::Result<()>;
    fn span(&mut self, span: &OtlpSpan) -> io::Result<()>;
    fn end(&mut self) -> io::Result<()>;
}

fn write_json(
    exported: &Exported<'_>,
    pager: Option<&mut Pager>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write(exported, pager, &mut JsonSpans::new(out))
}

fn write_protobuf(
    exported: &Exported<'_>,
    pager: Option<&mut Pager>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write(exported, pager, &mut ProtobufSpans::new(out))
}

fn write(
    exported: &Exported<'_>,
    pager: Option<&mut Pager>,
    out: &mut dyn SpanWriter,
) -> io::Result<()> {
    let reading = exported.reading;
    let statement = Statement::compute(&reading.transcript, &reading.account);
    let mut trace = Trace {
        reading,
        awaited: Awaited::of(&reading.transcript),
        is_over: !reading.activity(exported.now).is_ongoing(exported.now),
        session: name(exported),
        agent: exported.figures.format,
        contents: Contents::of(pager),
        inputs: HashMap::new(),
        out,
    };
    trace.write(exported, &statement)
}

/// What was said to an agent.
#[derive(Default)]
struct Inputs {
    said: Vec<serde_json::Value>,
    /// Results without calls, which have no spans.
    results: Vec<serde_json::Value>,
}

/// A session while its spans are written.
struct Trace<'a, 'p> {
    reading: &'a Reading,
    awaited: Awaited,
    is_over: bool,
    session: &'a str,
    agent: &'static str,
    contents: Contents<'p>,
    /// What was said to the agent of each lane since its last answer.
    inputs: HashMap<Option<&'a Name>, Inputs>,
    out: &'p mut dyn SpanWriter,
}

impl<'a> Trace<'a, '_> {
    fn write(&mut self, exported: &Exported<'_>, statement: &'a Statement) -> io::Result<()> {
        let transcript = &self.reading.transcript;
        let meta = transcript.meta();
        let project = meta
            .project()
            .or(meta.cwd.as_ref())
            .map_or("tv", Text::as_str);
        let mut resource = vec![
            ("service.name", text(self.agent)),
            ("openinference.project.name", text(project)),
        ];
        resource.extend(
            meta.versions
                .last()
                .map(|version| ("service.version", text(version))),
        );
        resource.extend(
            exported
                .options
                .host
                .as_ref()
                .map(|host| ("host.name", text(host))),
        );
        self.out.begin(&resource)?;
        let times = self.times();
        self.agent(None, &times, exported, run_sums(statement))?;
        for lane in transcript.lanes() {
            self.agent(Some(lane), &times, exported, None)?;
        }
        let mut own: HashMap<EntryId, &Charge> = HashMap::new();
        let mut beside: Vec<(usize, &Charge)> = Vec::new();
        for (number, charge) in statement.charges.iter().enumerate() {
            match charge.entry.filter(|_| charge.is_own) {
                Some(entry) if charge.what != For::Run && !own.contains_key(&entry) => {
                    own.insert(entry, charge);
                }
                _ => beside.push((number, charge)),
            }
        }
        let mut passing = transcript.cursor();
        for id in transcript.order() {
            if let Some(entry) = passing.get(*id).filter(|entry| !entry.marks.copy) {
                self.entry(*id, entry, own.get(id).copied())?;
            }
        }
        // What was spent beside the entries, or is counted by a run beyond them, has no words.
        for (number, charge) in beside {
            if charge.what == For::Run && charge.amount.is_nothing() {
                continue;
            }
            let at = charge.at.or_else(|| transcript.newest()).unwrap_or(UNTIMED);
            let mut attributes = self.common("chat", charge.lane.as_ref());
            attributes.push(("openinference.span.kind", text("LLM")));
            if !charge.model.is_empty() {
                attributes.push(("gen_ai.request.model", text(&charge.model)));
                attributes.push(("llm.model_name", text(&charge.model)));
            }
            attributes.push(("tv.charge", text(charge.what.word())));
            attributes.extend(usage_attributes(charge));
            let span = OtlpSpan {
                name: format!("chat {}", charge.model).trim_end().to_owned(),
                kind: SpanKind::Client,
                attributes,
                ..self.span(&format!("beside/{number}"), charge.lane.as_ref(), (at, at))
            };
            self.out.span(&span)?;
        }
        self.out.end()
    }

    /// From when to when each lane has entries.
    fn times(&self) -> HashMap<Option<&'a Name>, (Timestamp, Timestamp)> {
        let transcript = &self.reading.transcript;
        let mut times = HashMap::new();
        let mut passing = transcript.cursor();
        for id in transcript.order() {
            let lane = transcript.lane_at(*id);
            for at in passing.get(*id).into_iter().flat_map(Entry::times) {
                let (from, to) = times.entry(lane).or_insert((at, at));
                (*from, *to) = (at.min(*from), at.max(*to));
            }
        }
        times
    }

    /// The span of the session, or of a sub-agent.
    fn agent(
        &mut self,
        lane: Option<&LaneFacts>,
        times: &HashMap<Option<&Name>, (Timestamp, Timestamp)>,
        exported: &Exported<'_>,
        sums: Option<String>,
    ) -> io::Result<()> {
        let transcript = &self.reading.transcript;
        let name = lane.map(|lane| &lane.name);
        let times = times.get(&name).copied();
        if times.is_none() && lane.is_some_and(|lane| lane.entries.is_empty()) {
            return Ok(());
        }
        let times = times.unwrap_or((UNTIMED, UNTIMED));
        let label = lane.map_or(self.agent, |lane| lane.label.as_str());
        let mut attributes = self.common("invoke_agent", name);
        attributes.push(("openinference.span.kind", text("AGENT")));
        attributes.push(("gen_ai.agent.name", text(label)));
        if lane.is_none() {
            let is_shortened = exported.figures.compactions > 0;
            attributes.push((
                "gen_ai.conversation.compacted",
                AttributeValue::Bool(is_shortened),
            ));
            attributes.push(("tv.title", text(title(exported))));
            attributes.extend(sums.map(|sums| ("tv.usage", AttributeValue::Text(sums))));
        }
        let mut passing = transcript.cursor();
        let caller = lane.and_then(|lane| {
            let entry = passing.get(transcript.caller(lane)?)?;
            let calls = entry.blocks.iter().enumerate();
            let mut calls = calls.filter_map(|(at, block)| Some((at, block.call()?)));
            let (at, _) = calls.find(|(_, call)| Some(&call.key) == lane.call.as_ref())?;
            let id = call_ids(transcript, entry).swap_remove(at);
            Some((self.id(&format!("call/{}/{at}", entry.key)), id))
        });
        let parent = lane.map(|_| {
            let called = caller.as_ref().map(|(span, _)| *span);
            called.unwrap_or_else(|| self.agent_id(None))
        });
        attributes.extend(caller.map(|(_, id)| ("tv.call", AttributeValue::Text(id))));
        let span = OtlpSpan {
            id: self.agent_id(name),
            parent,
            name: format!("invoke_agent {label}"),
            attributes,
            ..self.span("", name, times)
        };
        self.out.span(&span)
    }

    fn entry(&mut self, id: EntryId, entry: &Entry, charge: Option<&Charge>) -> io::Result<()> {
        let transcript = &self.reading.transcript;
        let ids = call_ids(transcript, entry);
        let (mut said, mut parts, mut results) = (Vec::new(), Vec::new(), Vec::new());
        for (at, block) in entry.blocks.iter().enumerate() {
            let whole = self.contents.with_bodies(block);
            match &whole.kind {
                BlockKind::Text(body) if !body.stub.is_blank() => {
                    let words = without_sgr(body.text_or_stub()).into_owned();
                    parts.push(serde_json::json!({ "type": "text", "content": words }));
                    said.push(words);
                }
                BlockKind::Thinking(body) if !body.stub.is_blank() => {
                    let words = without_sgr(body.text_or_stub());
                    parts.push(serde_json::json!({ "type": "reasoning", "content": words }));
                }
                BlockKind::Call(call) => {
                    let arguments = serde_json::to_value(Content(&call.input)).unwrap_or_default();
                    let id = ids.get(at);
                    parts.push(serde_json::json!({ "type": "tool_call", "id": id,
                        "name": call.name.as_str(), "arguments": arguments }));
                }
                BlockKind::Result(stray)
                    if transcript.entries_with_call(&stray.call).is_empty() =>
                {
                    let id = if tool::identifies(&stray.call) {
                        stray.call.to_string()
                    } else {
                        format!("{}:{at}", entry.key)
                    };
                    results.push(serde_json::json!({ "type": "tool_call_response", "id": id,
                        "response": words_of(&stray.result),
                        "tv.state": stray.result.verdict.word() }));
                }
                _ => {}
            }
        }
        let lane = transcript.lane_at(id);
        if !results.is_empty() {
            self.inputs.entry(lane).or_default().results.extend(results);
        }
        let is_answer = entry.role == Role::Assistant || charge.is_some();
        let chat = self.id(&format!("chat/{}", entry.key));
        if is_answer && (!parts.is_empty() || charge.is_some()) {
            self.chat((id, entry), charge, parts)?;
        } else if entry.role == Role::User || entry.marks.prompt {
            let said = said.into_iter();
            let said = said.map(|words| serde_json::json!({ "type": "text", "content": words }));
            self.inputs.entry(lane).or_default().said.extend(said);
        }
        for (at, (block, own)) in entry.blocks.iter().zip(ids).enumerate() {
            if let Some(call) = block.call() {
                let whole = self.contents.with_bodies(block);
                let whole = whole.call().unwrap_or(call);
                let cause = is_answer.then_some(chat);
                self.call((id, entry, at), (call, whole), own, cause)?;
            }
        }
        Ok(())
    }

    fn chat(
        &mut self,
        (id, entry): (EntryId, &Entry),
        charge: Option<&Charge>,
        parts: Vec<serde_json::Value>,
    ) -> io::Result<()> {
        let lane = self.reading.transcript.lane_at(id);
        let end = entry.end().or(charge.and_then(|charge| charge.at));
        let end = end.or_else(|| self.reading.transcript.newest());
        let end = end.unwrap_or(UNTIMED);
        // The model was at work from what it was asked on.
        let before = self.reading.account.before(id);
        let before = before.filter(|span| span.class == Class::Model && span.from <= end);
        let start = before.map_or(entry.at.unwrap_or(end).min(end), |span| span.from);
        let mut attributes = self.common("chat", lane);
        attributes.push(("openinference.span.kind", text("LLM")));
        let model = entry.model.as_deref().unwrap_or_default();
        if !model.is_empty() {
            attributes.push(("gen_ai.request.model", text(model)));
            attributes.push(("gen_ai.response.model", text(model)));
            attributes.push(("llm.model_name", text(model)));
        }
        let Inputs { said, results } = self.inputs.remove(&lane).unwrap_or_default();
        let messages: serde_json::Value = [("tool", results), ("user", said)]
            .into_iter()
            .filter(|(_, parts)| !parts.is_empty())
            .map(|(role, parts)| serde_json::json!({ "role": role, "parts": parts }))
            .collect();
        if messages != serde_json::json!([]) {
            attributes.push((
                "gen_ai.input.messages",
                AttributeValue::Text(messages.to_string()),
            ));
        }
        let messages = serde_json::json!([{ "role": "assistant", "parts": parts }]);
        attributes.push((
            "gen_ai.output.messages",
            AttributeValue::Text(messages.to_string()),
        ));
        attributes.push(("tv.key", text(&entry.key)));
        let extra = charge.filter(|charge| charge.what == For::Extra);
        attributes.extend(extra.map(|charge| ("tv.charge", text(charge.what.word()))));
        attributes.extend(charge.into_iter().flat_map(usage_attributes));
        let error = charge.and_then(|charge| match charge.fate {
            RequestOutcome::Fine => None,
            RequestOutcome::Failed => Some("failed"),
            RequestOutcome::Aborted => Some("stopped"),
        });
        attributes.extend(error.map(|error| ("error.type", text(error))));
        let span = OtlpSpan {
            name: format!("chat {model}").trim_end().to_owned(),
            kind: SpanKind::Client,
            attributes,
            error: error.map(str::to_owned),
            ..self.span(&format!("chat/{}", entry.key), lane, (start, end))
        };
        self.out.span(&span)
    }

    fn call(
        &mut self,
        (id, entry, at): (EntryId, &Entry, usize),
        (call, whole): (&ToolCall, &ToolCall),
        own: String,
        cause: Option<SpanId>,
    ) -> io::Result<()> {
        let transcript = &self.reading.transcript;
        let life = Lifecycle::of(transcript, (id, &entry.key), call, self.is_over);
        let ended = life.completed.and_then(|end| end.at);
        let took = call.duration(entry.call_time(call));
        let start = call.started.or(entry.call_time(call)).or(ended);
        let start = start.or_else(|| transcript.newest());
        let start = start.unwrap_or(UNTIMED);
        let measured = took.and_then(|took| i64::try_from(took.ms).ok());
        let measured = measured.map(|ms| Timestamp(start.0.saturating_add(ms)));
        let end = ended.or(measured).unwrap_or(start).max(start);
        let name = if call.name.is_empty() {
            "unknown"
        } else {
            call.name.as_str()
        };
        let arguments = serde_json::to_string(&Content(&whole.input)).unwrap_or_default();
        let mut attributes = self.common("execute_tool", entry.lane.as_ref());
        attributes.push(("openinference.span.kind", text("TOOL")));
        attributes.push(("gen_ai.tool.name", text(name)));
        attributes.push(("tool.name", text(name)));
        attributes.push(("gen_ai.tool.call.id", AttributeValue::Text(own)));
        attributes.push(("gen_ai.tool.call.arguments", text(&arguments)));
        attributes.push(("input.value", AttributeValue::Text(arguments)));
        attributes.push(("input.mime_type", text("application/json")));
        let state = if life.is_running {
            "running"
        } else {
            self.awaited.word(transcript, id, call)
        };
        attributes.push(("tv.state", text(state)));
        attributes.push(("tv.key", text(&entry.key)));
        let result = whole
            .state
            .result()
            .filter(|_| !whole.state.is_unrecorded());
        if let Some(result) = result {
            let words = words_of(result);
            attributes.push(("output.value", text(&words)));
            attributes.push(("gen_ai.tool.call.result", AttributeValue::Text(words)));
        }
        let error = match call.state {
            ToolState::Failed(_) => Some("failed"),
            ToolState::Refused(_) => Some("refused"),
            ToolState::Stopped(_) => Some("stopped"),
            ToolState::Lost => Some("lost"),
            _ => None,
        };
        attributes.extend(error.map(|error| ("error.type", text(error))));
        let span = OtlpSpan {
            name: format!("execute_tool {name}"),
            attributes,
            cause,
            error: error.map(str::to_owned),
            ..self.span(
                &format!("call/{}/{at}", entry.key),
                entry.lane.as_ref(),
                (start, end),
            )
        };
        self.out.span(&span)
    }

    /// A span of a lane of which nothing else is known.
    fn span(
        &self,
        name: &str,
        lane: Option<&Name>,
        (start, end): (Timestamp, Timestamp),
    ) -> OtlpSpan {
        OtlpSpan {
            trace: self.trace(),
            id: self.id(name),
            parent: Some(self.agent_id(lane)),
            name: String::new(),
            kind: SpanKind::Internal,
            start,
            end,
            attributes: Vec::new(),
            cause: None,
            error: None,
        }
    }

    fn common(
        &self,
        operation: &'static str,
        lane: Option<&Name>,
    ) -> Vec<(&'static str, AttributeValue)> {
        let mut common = vec![
            ("gen_ai.operation.name", text(operation)),
            ("gen_ai.conversation.id", text(self.session)),
            ("session.id", text(self.session)),
        ];
        common.extend(lane.map(|lane| ("tv.lane", text(lane))));
        common
    }

    fn agent_id(&self, lane: Option<&Name>) -> SpanId {
        self.id(&format!("agent/{}", lane.map_or("", Text::as_str)))
    }

    fn id(&self, name: &str) -> SpanId {
        Piece::of(&format!("{}:{}/{name}", self.agent, self.session)).into()
    }

    fn trace(&self) -> TraceId {
        let [one, two]: [[u8; 8]; 2] = ["trace", "session"].map(|part| self.id(part));
        let mut id = [0; 16];
        for (to, from) in id.iter_mut().zip(one.into_iter().chain(two)) {
            *to = from;
        }
        id
    }
}

fn text(text: &str) -> AttributeValue {
    AttributeValue::Text(text.to_owned())
}

fn words_of(result: &ToolResult) -> String {
    match result.body.tree() {
        Some(_) => serde_json::to_string(&Content(&result.body)).unwrap_or_default(),
        None => without_sgr(result.body.text_or_stub()).into_owned(),
    }
}

/// What a session came to by model, if a run counts other than its requests. What it counts less is
/// no usage of a request.
fn run_sums(statement: &Statement) -> Option<String> {
    let is_rest = |charge: &Charge| charge.what == For::Run && !charge.amount.is_nothing();
    if !statement.charges.iter().any(is_rest) {
        return None;
    }
    let sums = statement.rows(Grouping::Models).into_iter().map(|row| {
        let model = match row.group {
            Group::Model(model) => model,
            _ => Name::default(),
        };
        let usage = UsageFigures::from(&row.amount);
        let cost: CostFigures = (&row.amount.money.cost()).into();
        serde_json::json!({ "model": model.as_str(), "input": usage.input, "output": usage.output,
            "cache_read": usage.cache_read, "cache_write": usage.cache_write,
            "reasoning": usage.reasoning, "usd": cost.usd })
    });
    Some(sums.collect::<serde_json::Value>().to_string())
}

/// Tokens and cost. Cache writes have two names: the conventions renamed them, and some programs
/// read only the old name.
fn usage_attributes(charge: &Charge) -> impl Iterator<Item = (&'static str, AttributeValue)> {
    let amount: &Amount = &charge.amount;
    let prompt = [amount.input, amount.cache_read, amount.cache_write];
    let prompt = prompt.iter().any(|tokens| tokens.value().is_some());
    let prompt = prompt.then(|| amount.prompt());
    let (output, read) = (amount.output.value(), amount.cache_read.value());
    let written = amount.cache_write.value();
    let total = prompt.zip(output).map(|(prompt, output)| prompt + output);
    let counts = [
        ("gen_ai.usage.input_tokens", prompt),
        ("gen_ai.usage.output_tokens", output),
        ("gen_ai.usage.cache_read.input_tokens", read),
        ("gen_ai.usage.cache_write.input_tokens", written),
        ("gen_ai.usage.cache_creation.input_tokens", written),
        (
            "gen_ai.usage.reasoning.output_tokens",
            amount.reasoning.value(),
        ),
        ("llm.token_count.prompt", prompt),
        ("llm.token_count.completion", output),
        ("llm.token_count.total", total),
        ("llm.token_count.prompt_details.cache_read", read),
        ("llm.token_count.prompt_details.cache_write", written),
    ];
    let cost: CostFigures = (&amount.money.cost()).into();
    let finish = match charge.fate {
        RequestOutcome::Fine => None,
        RequestOutcome::Failed => Some("error"),
        RequestOutcome::Aborted => Some("stopped"),
    };
    let finish = finish.map(|word| {
        (
            "gen_ai.response.finish_reasons",
            AttributeValue::Texts(vec![word.to_owned()]),
        )
    });
    let cost = cost
        .usd
        .map(|usd| ("llm.cost.total", AttributeValue::Double(usd)));
    let counts = counts
        .into_iter()
        .filter_map(|(name, count)| Some((name, AttributeValue::Int(count?))));
    counts.chain(cost).chain(finish)
}
