//! claude-code: sessions of Claude Code as stored on disk, with the transcripts, metadata and
//! stored outputs of their sub-agents.
//!
//! `claude --resume` looks for the id among the sessions of the working directory
//! (code.claude.com/docs/en/cli-reference). `--resume-session-at`, which drops later messages,
//! works in print mode only.
//!
//! Invariant: file order is reading order; `parentUuid` is evidence for rewinds only.

pub mod assistant;
mod attachment;
pub(crate) mod bill;
pub mod calls;
mod chains;
pub(crate) mod command;
pub(crate) mod duration;
pub(crate) mod hooks;
pub(crate) mod lanes;
pub mod line;
mod notes;
pub(crate) mod outcome;
mod places;
mod progress;
pub(crate) mod qoder;
pub(crate) mod queue;
pub(crate) mod requests;
pub mod session;
mod sniff;
pub mod stored;
pub(crate) mod system;
pub(crate) mod user;
pub(crate) mod voice;

#[cfg(test)]
mod tests;

use std::path::Path;

use super::decoder::{Decoder, Format, Input, RecordPlace};

use super::probe::{Probe, ProbeResult};

use super::definition::head::Head;
use super::definition::heads::head;
use super::roots::{FileRole, Pattern, SessionName};
use super::unknown::{self, NamedKind};
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{Break, Role};
use crate::model::tally::Fate;
use crate::model::text::Text;
use lanes::owners::{LineStanding, is_companion_line};
use lanes::{Trust, fork, workflow};
use line::{SIDECHAIN, TranscriptLine};
use session::DecoderState;

pub(crate) struct Claude;

impl Format for Claude {
    head!("claude-code");

    fn decoder(&self, _: Option<&Path>) -> Box<dyn Decoder> {
        Box::new(ClaudeDecoder::of(self.head()))
    }

    fn sniff(&self, probe: &Probe<'_>) -> ProbeResult {
        sniff::sniff(probe)
    }

    fn session_name<'p>(&self, path: &'p Path) -> Option<SessionName<'p>> {
        places::named(path)
    }

    fn files(&self, path: &Path, role: FileRole<'_>) -> Vec<Pattern> {
        match role {
            FileRole::Processes => Pattern::list(places::processes(path)),
            _ => places::files(self.head(), path, role),
        }
    }
}

/// Decoder of one session.
struct ClaudeDecoder {
    head: &'static Head,
    session: DecoderState,
}

impl Decoder for ClaudeDecoder {
    fn head(&self) -> &'static Head {
        self.head
    }

    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        if let Some(fate) = self.decode_companion(input, out) {
            self.session.lanes.link_calls(&self.session.calls, out);
            return fate;
        }
        let mut line = TranscriptLine::read(input, self.session.opened_agent(), out);
        if self.session.needs_opened_agent() && input.place == RecordPlace::Line && line.has_uuid {
            self.session.set_opened_agent(&line);
            line = TranscriptLine::read(input, self.session.opened_agent(), out);
        }
        let has_no_name =
            line.lane.as_deref() == Some(SIDECHAIN) && input.place == RecordPlace::Line;
        if has_no_name {
            line.lane = self.session.chains.lane_of(&line);
        }
        line.lane = line.lane.map(|lane| self.session.lanes.resolve(lane));
        let is_progress = line.kind() == "progress";
        if !is_progress {
            if (is_companion_line(&line) || self.session.opened_agent().is_some())
                && fork::has_fork_instructions(&line)
            {
                self.session.end_copy(&line, out);
            }
            match self.session.record_line(&line, out) {
                LineStanding::New => {}
                LineStanding::Known => return Fate::Merged,
                LineStanding::Copy => {
                    self.session.end_copy(&line, out);
                    return assistant::copy(&line, &mut self.session, out);
                }
            }
        }
        if let Some(words) = self.session.session_break(&line) {
            let mut entry = line.entry(line.sub_key("session"), Role::Harness, out);
            entry.push(Break::Resumed(words));
            out.entry(entry);
        }
        if line.lane.is_none() {
            self.session.emit_facts(input.json, out);
        }
        if let Some(lane) = line.lane.as_ref().filter(|_| !is_progress) {
            if self.session.lanes.enter(lane, out)
                && let RecordPlace::CompanionLine(path) = input.place
                && let Some(run) = workflow::run_of(path)
            {
                self.session.lanes.run_has(run, lane, out);
            }
            self.session
                .lanes
                .replace_copy(&progress::copy_key(&line.id), out);
            if let Some(call) = has_no_name
                .then(|| self.session.chains.caller(&line))
                .flatten()
            {
                self.session.lanes.link(lane, &call, Trust::Progress, out);
            }
        }
        if line.lane.is_none() && matches!(line.kind(), "user" | "assistant") {
            notes::revoke_continuation(&mut self.session, out);
        }
        let from = out.edits.len();
        let fate = self.dispatch(&line, out);
        if let Some(command) = &mut self.session.command {
            command.skip(&line);
        }
        self.session.lanes.link_calls(&self.session.calls, out);
        let is_own = line.lane.is_none() && input.place == RecordPlace::Line;
        if is_own && fate == Fate::Shown && self.session.opened_agent().is_some() {
            self.session.forks.count(from, out);
        }
        if line.has_uuid && is_own {
            link(&line, from, out);
        }
        fate
    }

    fn finish(&mut self, out: &mut Batch) {
        self.session.stored.report_missing(out);
    }
}

impl ClaudeDecoder {
    /// Decoder of Claude Code, or of an agent that writes the same format.
    fn of(head: &'static Head) -> Self {
        Self {
            head,
            session: DecoderState::default(),
        }
    }

    /// Decodes a record of a companion file that is not a transcript; `None` if it is one.
    fn decode_companion(&mut self, input: Input<'_>, out: &mut Batch) -> Option<Fate> {
        Some(match input.place {
            RecordPlace::File(path) if workflow::is_report(path) => {
                workflow::report(input.json, &mut self.session, out)
            }
            RecordPlace::File(path) => self.describe_agent(path, input, out),
            RecordPlace::CompanionLine(path) if workflow::is_journal(path) => {
                workflow::journal(path, input, &mut self.session, out)
            }
            RecordPlace::Text(path) => {
                self.session
                    .stored
                    .arrive(path, input.json.str_or_empty(), out)
            }
            _ => return None,
        })
    }

    fn dispatch(&mut self, line: &TranscriptLine<'_>, out: &mut Batch) -> Fate {
        match line.kind() {
            "assistant" => assistant::decode(line, &mut self.session, out),
            "user" => user::decode(line, &mut self.session, out),
            "system" => system::decode(line, &mut self.session, out),
            "progress" => progress::decode(line, &mut self.session, out),
            "attachment" => attachment::decode(line, &mut self.session, out),
            "cost-state"
                if line.input.place == RecordPlace::Line
                    && self.session.opened_agent().is_none() =>
            {
                self.session.bill.record(line, out)
            }
            "cost-state" => Fate::Passed("the cost of another session"),
            "fork-context-ref" => self.session.forks.begin(line, &mut self.session.lanes, out),
            "history-suppression" if line.json.get("cause").is("fork_inherit") => {
                fork::inherits(line, out)
            }
            kind => notes::decode(line, &mut self.session, out).unwrap_or_else(|| {
                let entry = line.own_entry(Role::Harness, out);
                // A line without a `uuid` is not part of the chain: it is state of the program.
                let show = if line.has_uuid {
                    unknown::record
                } else {
                    unknown::show_outside
                };
                show(NamedKind("type", kind), line.json, entry, out)
            }),
        }
    }

    /// Decodes `agent-<id>.meta.json`, which names the call that started the sub-agent.
    fn describe_agent(&mut self, path: &Path, input: Input<'_>, out: &mut Batch) -> Fate {
        let stem = path
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.strip_suffix(".meta.json"));
        let Some(agent) = stem.map(|stem| stem.strip_prefix("agent-").unwrap_or(stem)) else {
            let entry = out.new_entry(out.origin_key(), Role::Harness, None);
            return unknown::show_outside(NamedKind("file", ""), input.json, entry, out);
        };
        let json = input.json;
        let name = Text::clean(agent);
        if json.get("isFork").is_true() || json.get("agentType").is("fork") {
            self.session.lanes.mark_fork(&name);
        }
        if let Some(depth) = json.get("spawnDepth").count() {
            self.session.lanes.set_depth(&name, depth);
        }
        if let Some(call) = json.get("toolUseId").filled() {
            self.session.lanes.link(agent, call, Trust::Meta, out);
        } else if let Some(kind) = json.get("agentType").text() {
            self.session.lanes.set_agent_type(agent, kind, out);
        }
        let names = [("description", 2), ("name", 2), ("agentType", 1)];
        let label = names
            .iter()
            .find_map(|(name, rank)| Some((*rank, json.get(name).text()?)));
        if let Some((rank, label)) = label {
            self.session.lanes.name(&name, rank, label, out);
        }
        Fate::Merged
    }
}

/// Emits a link for a line without an entry of its own, so that the chain of parents has no gaps.
/// `from` is the index of the first edit of the line. A line of an answer has the answer as its
/// parent; what continues from the line has the line.
fn link(line: &TranscriptLine<'_>, from: usize, out: &mut Batch) {
    let made = out.edits.iter().skip(from).filter_map(|edit| match edit {
        Edit::Entry(entry) => Some(&entry.key),
        _ => None,
    });
    let made: Vec<&Key> = made.collect();
    if made.contains(&&line.id) {
        return;
    }
    let answer = made
        .first()
        .filter(|_| line.kind() == "assistant")
        .map(|key| (*key).clone());
    let parent = answer.or_else(|| line.parent.clone());
    out.push(Edit::Link {
        key: line.id.clone(),
        parent,
    });
}
