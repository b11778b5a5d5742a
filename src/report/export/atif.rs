//! A session as a trajectory: ATIF v1.8, one object.
//!
//! The form forbids unknown fields, so tv's own facts are in `extra`. A sub-agent is a trajectory
//! within the object, referenced by the call that started it. Steps are written one by one, so
//! memory does not depend on the length of the session.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Value, json};

use super::pages::{name, title};
use super::{Exported, WriteFile, call_ids};
use crate::analysis::calls::awaited::Awaited;
use crate::analysis::money::spending::Charge;
use crate::analysis::money::spending::amount::Amount;
use crate::analysis::money::spending::statement::{Group, Grouping, Statement};
use crate::ingest::Pager;
use crate::model::body::Tree;
use crate::model::entry::{BlockKind, Break, Entry, EntryId, Role};
use crate::model::figures::bytes;
use crate::model::meta::LaneFacts;
use crate::model::text::{Name, Text, without_sgr};
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolResult};
use crate::report::entry::Content;
use crate::report::json::write_line;
use crate::report::reading::{Contents, Reading};
use crate::report::spent::CostFigures;

/// The file of a session.
pub(super) const FILES: [(&str, WriteFile); 1] = [("atif.json", write)];

/// What the form requires and nobody recorded.
const UNKNOWN: &str = "unknown";

#[derive(Serialize)]
struct TrajectoryStep<'a> {
    step_id: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<String>,
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_name: Option<&'a str>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<Vec<AtifCall<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observation: Option<Observation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<Metrics>,
    #[serde(skip_serializing_if = "Option::is_none")]
    llm_call_count: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_copied_context: Option<bool>,
    extra: Value,
}

#[derive(Serialize)]
struct AtifCall<'a> {
    tool_call_id: String,
    function_name: &'a str,
    arguments: Value,
    extra: Value,
}

#[derive(Serialize)]
struct Observation {
    results: Vec<Observed>,
}

#[derive(Serialize)]
struct Observed {
    #[serde(skip_serializing_if = "Option::is_none")]
    source_call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subagent_trajectory_ref: Vec<Value>,
    extra: Value,
}

#[derive(Serialize)]
struct Metrics {
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_tokens: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completion_tokens: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cached_tokens: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    extra: Value,
}

impl Metrics {
    fn of(amount: &Amount) -> Self {
        let prompt = [amount.input, amount.cache_read, amount.cache_write];
        let known = prompt.iter().any(|tokens| tokens.value().is_some());
        let cost: CostFigures = (&amount.money.cost()).into();
        Self {
            prompt_tokens: known.then(|| amount.prompt()),
            completion_tokens: amount.output.value(),
            cached_tokens: amount.cache_read.value(),
            cost_usd: cost.usd,
            extra: json!({ "cache_write_tokens": amount.cache_write.value(),
                "reasoning_tokens": amount.reasoning.value(), "cost_source": cost.source }),
        }
    }
}

/// What all steps of a trajectory need.
struct Trajectories<'a, 'p> {
    reading: &'a Reading,
    awaited: Awaited,
    contents: Contents<'p>,
    charges: HashMap<EntryId, &'a Charge>,
    sums: HashMap<Option<Name>, Amount>,
    /// The sub-agents that have a trajectory.
    lanes: HashSet<&'a Name>,
}

fn write(
    exported: &Exported<'_>,
    pager: Option<&mut Pager>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let reading = exported.reading;
    let statement = Statement::compute(&reading.transcript, &reading.account);
    let own = statement.charges.iter().filter(|charge| charge.is_own);
    let lanes = reading.transcript.lanes().iter();
    let mut trajectories = Trajectories {
        reading,
        awaited: Awaited::of(&reading.transcript),
        contents: Contents::of(pager),
        charges: own
            .filter_map(|charge| Some((charge.entry?, charge)))
            .collect(),
        sums: sums(&statement),
        lanes: lanes
            .filter(|lane| !lane.entries.is_empty())
            .map(|lane| &lane.name)
            .collect(),
    };
    trajectories.write(exported, out)
}

/// What was spent by lane; what runs count beyond their requests is the session's.
fn sums(statement: &Statement) -> HashMap<Option<Name>, Amount> {
    let mut sums: HashMap<Option<Name>, Amount> = HashMap::new();
    for row in statement.rows(Grouping::Lanes) {
        let lane = match row.group {
            Group::Lane(lane) => lane,
            _ => None,
        };
        sums.entry(lane).or_default().plus(&row.amount);
    }
    sums
}

impl<'a> Trajectories<'a, '_> {
    fn write(&mut self, exported: &Exported<'_>, out: &mut dyn Write) -> io::Result<()> {
        let session = &exported.figures.session;
        let transcript = &self.reading.transcript;
        let main = transcript.order().iter();
        let main: Vec<EntryId> = main
            .filter(|id| transcript.lane_at(**id).is_none())
            .copied()
            .collect();
        let extra =
            json!({ "path": exported.figures.path, "cwd": session.cwd, "title": title(exported) });
        self.begin(exported, name(exported), out)?;
        self.steps(&main, None, out)?;
        write!(out, ",\"extra\":")?;
        write_line(out, &extra)?;
        let mut lanes = transcript
            .lanes()
            .iter()
            .filter(|lane| !lane.entries.is_empty());
        if let Some(first) = lanes.next() {
            write!(out, ",\"subagent_trajectories\":[")?;
            self.lane(exported, first, out)?;
            for lane in lanes {
                write!(out, ",")?;
                self.lane(exported, lane, out)?;
            }
            write!(out, "]")?;
        }
        writeln!(out, "}}")
    }

    fn lane(
        &mut self,
        exported: &Exported<'_>,
        lane: &'a LaneFacts,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.begin(exported, &lane.name, out)?;
        self.steps(&lane.entries, Some(&lane.name), out)?;
        write!(out, ",\"extra\":")?;
        write_line(out, &json!({ "subagent_type": lane.label.as_str() }))?;
        write!(out, "}}")
    }

    fn begin(
        &self,
        exported: &Exported<'_>,
        trajectory: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let meta = self.reading.transcript.meta();
        let version = meta.versions.last().map_or(UNKNOWN, Text::as_str);
        let mut head = json!({ "name": exported.figures.format, "version": version });
        if let (Some(model), Value::Object(head)) =
            (exported.figures.session.models.first(), &mut head)
        {
            head.insert("model_name".to_owned(), json!(model));
        }
        write!(out, "{{\"schema_version\":\"ATIF-v1.8\",\"session_id\":")?;
        write_line(out, &name(exported))?;
        write!(out, ",\"trajectory_id\":")?;
        write_line(out, &trajectory)?;
        write!(out, ",\"agent\":")?;
        write_line(out, &head)
    }

    fn steps(
        &mut self,
        ids: &[EntryId],
        lane: Option<&Name>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        write!(out, ",\"steps\":[")?;
        let mut written = 0;
        let mut passing = self.reading.transcript.cursor();
        for id in ids {
            let Some(entry) = passing.get(*id) else {
                continue;
            };
            let Some(step) = self.step(written + 1, *id, entry) else {
                continue;
            };
            if written > 0 {
                write!(out, ",")?;
            }
            write_line(out, &step)?;
            written += 1;
        }
        if written == 0 {
            // Of a session in which nothing was said yet.
            let empty = json!({ "step_id": 1, "source": "system", "message": "" });
            write_line(out, &empty)?;
        }
        let sum = self.sums.get(&lane.cloned()).copied().unwrap_or_default();
        let sum = Metrics::of(&sum);
        let mut totals: BTreeMap<&str, Value> = BTreeMap::new();
        let mut put = |name, value: Option<Value>| totals.extend(value.map(|value| (name, value)));
        put(
            "total_prompt_tokens",
            sum.prompt_tokens.map(|n| json!(n.max(0))),
        );
        put(
            "total_completion_tokens",
            sum.completion_tokens.map(|n| json!(n.max(0))),
        );
        put(
            "total_cached_tokens",
            sum.cached_tokens.map(|n| json!(n.max(0))),
        );
        put("total_cost_usd", sum.cost_usd.map(|usd| json!(usd)));
        put("total_steps", Some(json!(written.max(1))));
        put("extra", Some(sum.extra));
        write!(out, "],\"final_metrics\":")?;
        write_line(out, &totals)
    }

    fn step<'e>(
        &mut self,
        number: usize,
        id: EntryId,
        entry: &'e Entry,
    ) -> Option<TrajectoryStep<'e>> {
        let (mut message, mut reasoning) = (String::new(), String::new());
        let (mut calls, mut observed) = (Vec::new(), Vec::new());
        let mut compaction = None;
        let ids = call_ids(&self.reading.transcript, entry);
        for (at, block) in entry.blocks.iter().enumerate() {
            let whole = self.contents.with_bodies(block);
            match &whole.kind {
                BlockKind::Text(body) => join(&mut message, body.text_or_stub()),
                BlockKind::Thinking(body) => join(&mut reasoning, body.text_or_stub()),
                BlockKind::Call(call) => {
                    let name = block.call().map_or("", |call| call.name.as_str());
                    let own = ids.get(at).cloned().unwrap_or_default();
                    let (called, result) = self.call((id, own), call, name);
                    calls.push(called);
                    observed.extend(result);
                }
                BlockKind::Result(stray) => observed.push(Observed {
                    source_call_id: None,
                    content: Some(content(&stray.result)),
                    subagent_trajectory_ref: Vec::new(),
                    extra: json!({ "call": stray.call.as_str(), "state": stray.result.verdict.word() }),
                }),
                BlockKind::Image(image) => {
                    let size = image.bytes.map(bytes).unwrap_or_default();
                    join(&mut message, &format!("[image {} {size}]", image.mime));
                }
                BlockKind::Break(Break::Compaction { .. }) => {
                    compaction = Some(json!({ "type": "compaction" }));
                    join(&mut message, "compaction");
                }
                BlockKind::Break(line) => join(&mut message, &line.words()),
                BlockKind::Raw(raw) if !entry.marks.trace => join(&mut message, &raw.title),
                BlockKind::Raw(_) | BlockKind::Aside(..) => {}
            }
        }
        let charge = self.charges.get(&id);
        let is_said = !message.is_empty() || !reasoning.is_empty() || !observed.is_empty();
        if !is_said && calls.is_empty() && charge.is_none() {
            return None;
        }
        let is_model = entry.role == Role::Assistant || charge.is_some();
        let is_agent = is_model || !calls.is_empty() || !reasoning.is_empty();
        let source = match entry.role {
            _ if is_agent => "agent",
            Role::User => "user",
            _ => "system",
        };
        let mut extra = json!({ "key": entry.key.as_str() });
        if let Value::Object(extra) = &mut extra {
            let branch = self.reading.transcript.branches().of(id);
            extra.extend(branch.map(|branch| ("branch".to_owned(), json!(branch.number))));
            extra.extend(compaction.map(|what| ("context_management".to_owned(), what)));
        }
        let has_reasoning = is_model && !reasoning.is_empty();
        Some(TrajectoryStep {
            step_id: number,
            timestamp: entry.at.map(Timestamp::to_rfc3339),
            source,
            model_name: entry.model.as_deref().filter(|_| is_agent),
            message,
            reasoning_content: has_reasoning.then_some(reasoning),
            tool_calls: (!calls.is_empty()).then_some(calls),
            observation: (!observed.is_empty()).then_some(Observation { results: observed }),
            metrics: charge.map(|charge| Metrics::of(&charge.amount)),
            llm_call_count: is_agent.then_some(u32::from(is_model)),
            is_copied_context: entry.marks.copy.then_some(true),
            extra,
        })
    }

    fn call<'e>(
        &self,
        (id, own): (EntryId, String),
        call: &ToolCall,
        name: &'e str,
    ) -> (AtifCall<'e>, Option<Observed>) {
        let input = serde_json::to_value(Content(&call.input)).unwrap_or_default();
        let arguments = match input {
            Value::Object(_) => input,
            other => json!({ "input": other }),
        };
        let begun = self.reading.transcript.lanes_begun(id, &call.key);
        let begun = begun.filter(|lane| self.lanes.contains(&lane.name));
        let references: Vec<Value> = begun
            .map(|lane| json!({ "trajectory_id": lane.name.as_str() }))
            .collect();
        let result = call.state.result();
        let is_known = result.is_some_and(|_| !call.state.is_unrecorded());
        let extra = json!({ "state": self.awaited.word(&self.reading.transcript, id, call) });
        let observed = (is_known || !references.is_empty()).then(|| Observed {
            source_call_id: Some(own.clone()),
            content: result.map(content),
            subagent_trajectory_ref: references,
            extra: extra.clone(),
        });
        let called = AtifCall {
            tool_call_id: own,
            function_name: if name.is_empty() { UNKNOWN } else { name },
            arguments,
            extra,
        };
        (called, observed)
    }
}

fn content(result: &ToolResult) -> String {
    match result.body.tree() {
        Some(Tree::Text(text)) => without_sgr(text).into_owned(),
        Some(_) => serde_json::to_string(&Content(&result.body)).unwrap_or_default(),
        None => without_sgr(result.body.text_or_stub()).into_owned(),
    }
}

fn join(text: &mut String, more: &str) {
    if more.trim().is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(&without_sgr(more));
}
