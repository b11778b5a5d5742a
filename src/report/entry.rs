//! One entry as JSON, schema `tv.entry/2`. CONTRACT: fields are only ever added; unknown is `null`.

use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::cell::RefCell;

use super::reading::{self, Contents, Reading, SessionFields};
use super::spent::CostFigures;
use crate::analysis::calls::awaited::Awaited;
use crate::analysis::calls::lifecycle::Lifecycle;
use crate::analysis::money::cost;
use crate::model::body::{Body, Image, Tree};
use crate::model::entry::details::{BlockRecord, Details};
use crate::model::entry::sender::Sender;
use crate::model::entry::{Block, BlockKind, Break, Entry, EntryId, Raw, StrayResult};
use crate::model::text::without_sgr;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolResult, Verdict};
use crate::model::transcript::Transcript;
use crate::model::usage::Usage;

/// An entry as a line of JSON.
#[derive(Serialize)]
pub struct EntryLine<'a> {
    schema: &'static str,
    #[serde(flatten)]
    of: SessionFields,
    id: u32,
    key: &'a str,
    parent: Option<&'a str>,
    lane: Option<&'a str>,
    at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<FromLine<'a>>,
    model: Option<&'a str>,
    blocks: Blocks<'a>,
    usage: Option<UsageLine>,
    cost: Option<CostFigures>,
    origin: OriginLine,
    active: bool,
    branch: Option<usize>,
}

/// The sender of an entry that was not written by a human.
#[derive(Serialize)]
pub(crate) struct FromLine<'a> {
    kind: &'static str,
    name: Option<&'a str>,
}

impl<'a> From<&'a Sender> for FromLine<'a> {
    fn from(sender: &'a Sender) -> Self {
        Self {
            kind: sender.kind.word(),
            name: sender.name.as_deref(),
        }
    }
}

/// The blocks of an entry. Each is read again from disk as it is written, because an entry may
/// exceed memory.
struct Blocks<'a> {
    id: EntryId,
    entry: &'a Entry,
    reading: &'a Reading,
    contents: RefCell<Contents<'a>>,
    is_over: bool,
}

impl Serialize for Blocks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self {
            id,
            entry,
            reading,
            contents,
            is_over,
        } = self;
        let is_open = entry.calls().any(|call| call.state.is_open());
        let transcript = &reading.transcript;
        let awaited = is_open.then(|| Awaited::of(transcript));
        let mut list = serializer.serialize_seq(Some(entry.blocks.len()))?;
        for (at, block) in entry.blocks.iter().enumerate() {
            let mut contents = contents.borrow_mut();
            let details = contents.details(entry, at..at + 1, None, false);
            // States come from the entry, because a block that is read again is decoded without
            // other records.
            let life = block
                .call()
                .map(|call| Life::of(transcript, (*id, entry), call, awaited.as_ref(), *is_over));
            list.serialize_element(&detailed(
                &contents.with_bodies(block),
                entry,
                life,
                &details,
            ))?;
        }
        list.end()
    }
}

/// How a call ran: its state in a word, its lifecycle, and when the model saw its end.
#[derive(Default)]
pub(crate) struct Life<'a> {
    state: &'static str,
    lifecycle: Lifecycle<'a>,
    seen: Option<Timestamp>,
}

impl<'a> Life<'a> {
    /// The life of a call of an entry. `awaited` is only needed for calls without a result.
    pub(crate) fn of(
        transcript: &Transcript,
        (id, entry): (EntryId, &'a Entry),
        call: &'a ToolCall,
        awaited: Option<&Awaited>,
        is_over: bool,
    ) -> Self {
        let word = match awaited {
            Some(awaited) => awaited.word(transcript, id, call),
            None => call.state.word(),
        };
        let life = Lifecycle::of(transcript, (id, &entry.key), call, is_over);
        let seen = life.first_answer(transcript, id).map(|(_, at)| at);
        Self {
            state: if life.is_running { "running" } else { word },
            lifecycle: life,
            seen,
        }
    }
}

fn detailed<'a>(
    block: &'a Block,
    entry: &Entry,
    life: Option<Life<'a>>,
    details: &'a [(usize, BlockRecord, Details)],
) -> DetailedLine<'a> {
    let fields = |of: BlockRecord| {
        let found = details.iter().filter(|(_, what, _)| *what == of);
        let found: Vec<&Details> = found.map(|(_, _, details)| details).collect();
        (!found.is_empty()).then_some(Fields(found))
    };
    DetailedLine {
        block: block_line(&block.kind, entry, life, fields(BlockRecord::Result)),
        details: fields(BlockRecord::Block),
    }
}

/// A block with the further details of its record.
#[derive(Serialize)]
struct DetailedLine<'a> {
    #[serde(flatten)]
    block: BlockLine<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Fields<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BlockLine<'a> {
    Text {
        text: Content<'a>,
    },
    Thinking {
        text: Content<'a>,
    },
    Call(Box<CallBlock<'a>>),
    Result {
        call_id: &'a str,
        duplicate: bool,
        result: ResultLine<'a>,
    },
    Image(ImageLine<'a>),
    Break(BreakLine<'a>),
    Raw {
        title: &'a str,
        body: Content<'a>,
        /// The loudness of an aside.
        #[serde(skip_serializing_if = "Option::is_none")]
        judged: Option<&'static str>,
    },
}

#[derive(Serialize)]
struct CallBlock<'a> {
    id: &'a str,
    #[serde(flatten)]
    call: CallLine<'a>,
    lane: Option<&'a str>,
}

/// A call with its result, without the fields that identify it.
#[derive(Serialize)]
pub(crate) struct CallLine<'a> {
    name: &'a str,
    kind: &'static str,
    input: Content<'a>,
    state: &'static str,
    result: Option<ResultLine<'a>>,
    started: Option<String>,
    ended: Option<String>,
    duration_ms: Option<u64>,
    acknowledged: Option<String>,
    polls: Vec<PollLine<'a>>,
    completed: Option<CompletedLine<'a>>,
    delivered: Option<DeliveredLine<'a>>,
    seen: Option<String>,
    detached: bool,
    undelivered: bool,
}

/// A request of the model for the state of a call; `key` is that of the result.
#[derive(Serialize)]
struct PollLine<'a> {
    at: Option<String>,
    key: &'a str,
}

/// The end of a call's work.
#[derive(Serialize)]
struct CompletedLine<'a> {
    at: Option<String>,
    exit: Option<i64>,
    by: &'a str,
}

/// The delivery of a call's end to the model.
#[derive(Serialize)]
struct DeliveredLine<'a> {
    at: Option<String>,
    by: &'a str,
}

#[derive(Serialize)]
struct ResultLine<'a> {
    text: Content<'a>,
    error: bool,
    patch: Option<Content<'a>>,
    images: Vec<ImageLine<'a>>,
    at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Fields<'a>>,
}

#[derive(Serialize)]
struct ImageLine<'a> {
    mime: Option<&'a str>,
    bytes: Option<u64>,
    source: Option<&'a str>,
}

#[derive(Serialize)]
struct BreakLine<'a> {
    what: &'static str,
    text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compaction: Option<CompactionLine<'a>>,
}

#[derive(Serialize)]
struct CompactionLine<'a> {
    tokens_before: Option<u64>,
    tokens_after: Option<u64>,
    trigger: Option<&'a str>,
    partial: bool,
    duration_ms: Option<u64>,
}

#[derive(Serialize)]
struct UsageLine {
    input: Option<u64>,
    output: Option<u64>,
    output_is_partial: bool,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    reasoning: Option<u64>,
}

#[derive(Serialize)]
struct OriginLine {
    file: String,
    line: Option<u32>,
    byte: u64,
    len: u32,
}

/// Builds the line of an entry. `is_over`: the session has ended.
pub(crate) fn of<'a>(
    (id, entry): (EntryId, &'a Entry),
    contents: Contents<'a>,
    reading: &'a Reading,
    is_over: bool,
) -> EntryLine<'a> {
    let origin = entry.origin;
    EntryLine {
        schema: "tv.entry/2",
        of: reading.fields(),
        id: id.0,
        key: &entry.key,
        parent: entry.parent.as_deref(),
        lane: entry.lane.as_deref(),
        at: entry.at.map(Timestamp::to_rfc3339),
        ended: entry.ended.map(Timestamp::to_rfc3339),
        role: entry.role.word(),
        from: entry.from.as_deref().map(Into::into),
        model: entry.model.as_deref(),
        blocks: Blocks {
            id,
            entry,
            reading,
            contents: RefCell::new(contents),
            is_over,
        },
        usage: entry.usage.as_deref().map(usage_line),
        cost: entry
            .usage
            .as_deref()
            .map(|usage| (&cost::of_request(usage, entry.model.as_ref())).into()),
        origin: OriginLine {
            file: reading::shown(reading.file(origin.file)).to_string(),
            line: (origin.line > 0).then_some(origin.line),
            byte: origin.at,
            len: origin.len,
        },
        active: !reading.transcript.branches().abandoned.contains(&id),
        branch: reading
            .transcript
            .branches()
            .of(id)
            .map(|branch| branch.number),
    }
}

fn block_line<'a>(
    block: &'a BlockKind,
    entry: &Entry,
    life: Option<Life<'a>>,
    details: Option<Fields<'a>>,
) -> BlockLine<'a> {
    match block {
        BlockKind::Text(body) => BlockLine::Text {
            text: Content(body),
        },
        BlockKind::Thinking(body) => BlockLine::Thinking {
            text: Content(body),
        },
        BlockKind::Call(call) => {
            let life = life.unwrap_or_default();
            BlockLine::Call(Box::new(CallBlock {
                id: &call.key,
                call: call_line(call, entry, life, details),
                lane: call.lane.as_deref(),
            }))
        }
        BlockKind::Result(stray) => {
            let StrayResult {
                call,
                result,
                duplicate,
            } = &**stray;
            BlockLine::Result {
                call_id: call,
                duplicate: *duplicate,
                result: result_line(result, details),
            }
        }
        BlockKind::Image(image) => BlockLine::Image(image_line(image)),
        BlockKind::Break(what) => BlockLine::Break(break_line(what)),
        BlockKind::Raw(raw) => raw_line(raw, None),
        BlockKind::Aside(judged, raw) => raw_line(raw, Some(judged.word())),
    }
}

fn raw_line<'a>(raw: &'a Raw, judged: Option<&'static str>) -> BlockLine<'a> {
    BlockLine::Raw {
        title: &raw.title,
        body: Content(&raw.body),
        judged,
    }
}

/// Builds the line of a call. Its bodies must be in memory.
pub(crate) fn call_line<'a>(
    call: &'a ToolCall,
    entry: &Entry,
    Life {
        state,
        lifecycle: life,
        seen,
    }: Life<'a>,
    details: Option<Fields<'a>>,
) -> CallLine<'a> {
    let time = |at: Option<Timestamp>| at.map(Timestamp::to_rfc3339);
    let result = call.state.result();
    let started = call.started.or(entry.at);
    let ended = result.and_then(ToolResult::ended);
    let measured = result
        .filter(|result| result.work.is_none())
        .and_then(|result| result.duration_ms);
    CallLine {
        name: &call.name,
        kind: call.kind.word(),
        input: Content(&call.input),
        state,
        result: result
            .filter(|_| !call.state.is_unrecorded())
            .map(|result| result_line(result, details)),
        started: started.map(Timestamp::to_rfc3339),
        ended: ended.map(Timestamp::to_rfc3339),
        duration_ms: measured.or_else(|| Some(ended?.since(started?))),
        acknowledged: time(life.acknowledged),
        polls: life
            .polls
            .iter()
            .map(|update| PollLine {
                at: time(update.at),
                key: &update.by,
            })
            .collect(),
        completed: life.completed.map(|end| CompletedLine {
            at: time(end.at),
            exit: end.exit,
            by: end.by,
        }),
        delivered: life
            .delivered
            .map(|(at, by)| DeliveredLine { at: time(at), by }),
        seen: time(seen),
        detached: life.is_detached,
        undelivered: life.is_undelivered,
    }
}

fn result_line<'a>(result: &'a ToolResult, details: Option<Fields<'a>>) -> ResultLine<'a> {
    ResultLine {
        text: Content(&result.body),
        error: result.verdict != Verdict::Done,
        patch: result.patch.as_ref().map(Content),
        images: result.images.iter().map(image_line).collect(),
        at: result.at.map(Timestamp::to_rfc3339),
        details,
    }
}

fn image_line(image: &Image) -> ImageLine<'_> {
    ImageLine {
        mime: not_empty(&image.mime),
        bytes: image.bytes,
        source: image.source.as_deref(),
    }
}

fn break_line(line: &Break) -> BreakLine<'_> {
    let own = |text| not_empty(text).map(Cow::Borrowed);
    let (what, text) = match line {
        Break::Compaction { .. } => ("compaction", None),
        Break::Branch(text) => ("branch", own(text)),
        Break::Interrupted(text) => ("interrupted", own(text)),
        Break::Resumed(text) => ("resumed", own(text)),
        Break::Error(text) => ("error", own(text)),
        Break::ModelChange(model) => ("model", own(model)),
        Break::Setting(text) => ("setting", own(text)),
        Break::Took(_) => ("setting", Some(Cow::Owned(line.words().to_string()))),
        Break::Ended(text) => ("ended", own(text)),
        Break::Continued(id) => ("continued", own(id)),
        Break::Waiting(text) => ("waiting", own(text)),
    };
    let compaction = match line {
        Break::Compaction {
            before,
            after,
            trigger,
            partial,
            took,
        } => Some(CompactionLine {
            tokens_before: *before,
            tokens_after: *after,
            trigger: not_empty(trigger),
            partial: *partial,
            duration_ms: *took,
        }),
        _ => None,
    };
    BreakLine {
        what,
        text,
        compaction,
    }
}

fn not_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn usage_line(usage: &Usage) -> UsageLine {
    let Usage {
        input,
        output,
        cache_read,
        cache_write,
        reasoning,
        is_partial,
        ..
    } = *usage;
    UsageLine {
        input,
        output,
        output_is_partial: is_partial,
        cache_read,
        cache_write,
        reasoning,
    }
}

/// A body: a string without colours, or a tree. A body whose record is gone is written as its stub.
pub(crate) struct Content<'a>(pub(crate) &'a Body);

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.tree() {
            Some(tree) => NodeJson(tree).serialize(serializer),
            None => without_sgr(self.0.text_or_stub()).serialize(serializer),
        }
    }
}

/// Details as an object with their paths as names. Details that were too large are written as their
/// size. The fields come from one record or several; a name that occurs in several lists all
/// values.
pub(crate) struct Fields<'a>(Vec<&'a Details>);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields: Vec<(&str, Vec<NodeJson<'_>>)> = Vec::new();
        for (path, value) in self.0.iter().flat_map(|details| &details.fields) {
            match fields
                .iter_mut()
                .find(|(known, _)| self.0.len() > 1 && *known == path.as_str())
            {
                Some((_, values)) => values.push(NodeJson(value)),
                None => fields.push((path.as_str(), vec![NodeJson(value)])),
            }
        }
        let mut map = serializer.serialize_map(None)?;
        for (path, values) in &fields {
            match values.as_slice() {
                [one] => map.serialize_entry(path, one)?,
                all => map.serialize_entry(path, all)?,
            }
        }
        let cut: u64 = self.0.iter().map(|details| details.cut).sum();
        if cut > 0 {
            map.serialize_entry("cut_bytes", &cut)?;
        }
        map.end()
    }
}

struct NodeJson<'a>(&'a Tree);

impl Serialize for NodeJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Tree::Null => serializer.serialize_unit(),
            Tree::Bool(value) => serializer.serialize_bool(*value),
            Tree::Number(digits) => number(digits)
                .map_err(S::Error::custom)?
                .serialize(serializer),
            Tree::Text(text) => without_sgr(text).serialize(serializer),
            Tree::List(items) => serializer.collect_seq(items.iter().map(NodeJson)),
            Tree::Map(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (key, value) in members {
                    map.serialize_entry(key.as_str(), &NodeJson(value))?;
                }
                map.end()
            }
        }
    }
}

/// A number exactly as written. Numbers out of the range of JSON readers become strings.
fn number(digits: &str) -> serde_json::Result<Box<RawValue>> {
    let is_finite = digits.parse::<f64>().is_ok_and(f64::is_finite);
    let as_written = RawValue::from_string(digits.to_owned())
        .ok()
        .filter(|_| is_finite);
    as_written.map_or_else(|| RawValue::from_string(serde_json::to_string(digits)?), Ok)
}

#[cfg(test)]
mod tests;
