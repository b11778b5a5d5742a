//! claude-stream-json: the output of `claude -p --output-format stream-json`, as lines or as one
//! array. Messages have the shape of the sessions on disk; the envelope differs, and runs have an
//! end.

mod control;
mod partial;
mod run;
mod sniff;
mod sums;
mod system;
mod tasks;

#[cfg(test)]
mod tests;

use std::path::Path;

use super::claude::lanes::Trust;
use super::claude::lanes::owners::LineStanding;
use super::claude::line::TranscriptLine;
use super::claude::session::DecoderState;
use super::claude::{assistant, user};
use super::decoder::{Decoder, Format, Input, RecordPlace};
use super::definition::head::Head;
use super::definition::heads::head;
use super::json::Json;
use super::probe::{Probe, ProbeResult};
use super::unknown::{self, NamedKind};
use crate::model::edit::Batch;
use crate::model::entry::Role;
use crate::model::tally::Fate;
use crate::model::text::Text;
use crate::model::tool::identifies;
use control::PermissionRequests;
use partial::Partials;
use run::StreamRun;
use tasks::Tasks;

pub(crate) struct ClaudeStream;

impl Format for ClaudeStream {
    head!("claude-stream-json");

    fn sniff(&self, probe: &Probe<'_>) -> ProbeResult {
        sniff::sniff(probe)
    }

    fn decoder(&self, _: Option<&Path>) -> Box<dyn Decoder> {
        Box::new(ClaudeStreamDecoder::default())
    }
}

#[derive(Default)]
struct ClaudeStreamDecoder {
    session: DecoderState,
    partials: Partials,
    run: StreamRun,
    tasks: Tasks,
    requests: PermissionRequests,
}

impl Decoder for ClaudeStreamDecoder {
    fn head(&self) -> &'static Head {
        ClaudeStream.head()
    }

    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        if input.place == RecordPlace::Header {
            return Fate::Passed("frame of the document");
        }
        let line = envelope(input, out);
        if self.session.record_line(&line, out) != LineStanding::New {
            return Fate::Merged;
        }
        if line.lane.is_none() {
            self.session.emit_facts(input.json, out);
        }
        if let Some(lane) = &line.lane {
            self.session.lanes.link(lane, lane, Trust::Result, out);
            self.session.lanes.enter(lane, out);
        }
        self.dispatch(&line, out)
    }

    fn finish(&mut self, out: &mut Batch) {
        self.partials.emit(out);
    }
}

impl ClaudeStreamDecoder {
    fn dispatch(&mut self, line: &TranscriptLine<'_>, out: &mut Batch) -> Fate {
        let json = line.json;
        match line.kind() {
            "assistant" => self.answer(line, out),
            "user" => {
                let from = out.edits.len();
                let fate = user::decode(line, &mut self.session, out);
                self.requests
                    .refuse(out.edits.get_mut(from..).unwrap_or_default());
                fate
            }
            "system" if json.get("subtype").is("init") => self.run.begin(line, out),
            "system" => system::decode(line, &mut self.session, &mut self.tasks, out),
            "result" => {
                self.partials.close_all(out);
                let denials = json.get("permission_denials").items().iter();
                let denied = denials.map(|denial| denial.get("tool_use_id").str_or_empty());
                let open = self.requests.deny(denied, out);
                match json.get("subtype").str() {
                    Some("input_required") => {}
                    // In a successful run no calls are lost but those that were denied.
                    Some("success") if !json.get("is_error").is_true() => {
                        for call in open {
                            self.session.calls.mark_call_lost(call, out);
                        }
                        self.session.calls.remove_lane(None);
                    }
                    _ => self.session.calls.mark_lost(None, out),
                }
                self.run.end(line, out)
            }
            "stream_event" => {
                let kind = json.first(&["event.type", "event_type"], Json::str);
                self.event(line, kind.unwrap_or(""), out)
            }
            "" if sniff::is_bare_event(json) => {
                self.event(line, json.get("event_type").str_or_empty(), out)
            }
            kind => control::decode(line, &mut self.requests, out).unwrap_or_else(|| {
                let entry = line.entry(line.id.clone(), Role::Harness, out);
                unknown::record(NamedKind("type", kind), json, entry, out)
            }),
        }
    }

    fn answer(&mut self, line: &TranscriptLine<'_>, out: &mut Batch) -> Fate {
        let from = out.edits.len();
        let mut entry = assistant::read(line, &mut self.session, out);
        let others = assistant::split_off_usages(from, out);
        let has_id = line.json.at("message.id").str().is_some_and(identifies);
        self.partials
            .complete(line.lane.as_ref(), has_id, &mut entry);
        self.run.add_message(&entry, out);
        let fate = assistant::add_part(entry, &mut self.session, out);
        out.edits.extend(others);
        fate
    }

    fn event(&mut self, line: &TranscriptLine<'_>, kind: &str, out: &mut Batch) -> Fate {
        let json = line.json;
        let event = json.either("event", "data");
        if let Some((of, usage)) = self
            .partials
            .final_usage(line.lane.as_ref(), kind, event, out)
        {
            self.run.add_usage(of, usage, out);
        }
        self.partials
            .apply(line.lane.as_ref(), kind, event, out)
            .unwrap_or_else(|| {
                let entry = line.entry(line.id.clone(), Role::Harness, out);
                unknown::record(NamedKind("stream_event.type", kind), json, entry, out)
            })
    }
}

/// Parses the envelope of a stream: no parents; the lane of a sub-agent is the id of the call that
/// started it.
fn envelope<'a>(input: Input<'a>, out: &Batch) -> TranscriptLine<'a> {
    let json = input.json;
    let uuid = json.get("uuid").str().filter(|id| identifies(id));
    let caller = json
        .get("parent_tool_use_id")
        .str()
        .filter(|id| identifies(id));
    TranscriptLine {
        json,
        input,
        id: uuid.map_or_else(|| out.origin_key(), Text::clean),
        has_uuid: uuid.is_some(),
        parent: None,
        lane: caller.map(Text::clean),
        at: json.get("timestamp").moment(),
    }
}
