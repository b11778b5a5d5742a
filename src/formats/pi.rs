//! pi (badlogic/pi-mono) and its variants: session files of versions 1 to 4, those of Oh My Pi, and
//! the event stream of `pi --mode json`. OpenClaw uses the same container and is distinguished by
//! its own marks.
//!
//! pi finds a session by its id, first among those of the working directory (`pi --help`).

pub mod block;
pub(crate) mod copies;
mod decode;
mod diff;
mod entry;
mod event;
pub(crate) mod image;
pub(crate) mod lane;
pub mod message;
mod places;
mod prompt;
pub mod result;
mod retries;
mod runs;
pub(crate) mod session;
pub mod usage;

use std::path::Path;

use super::decoder::{Decoder, Format, Input, RecordPlace};

use super::probe::{Confidence, Probe, ProbeResult};

use super::definition::head::Head;
use super::definition::heads::head;
use super::json::Json;
use super::openclaw::marks;
use super::roots::{FileRole, Pattern, SessionName};
use super::zeros::ZeroCosts;
use crate::model::edit::Batch;
use crate::model::record::Shape;
use crate::model::tally::Fate;

pub(crate) struct Pi;

impl Format for Pi {
    head!("pi");

    fn sniff(&self, probe: &Probe<'_>) -> ProbeResult {
        // Late builds of version 4 may write each line as an array of records.
        let elements = if probe.lines.is_empty() {
            probe.elements
        } else {
            &[]
        };
        let harness =
            (container(elements) == Some(Container::Harness)).then_some(Container::Harness);
        let Some(container) = container(probe.lines).or(harness) else {
            return ProbeResult::no("no session header and no linked messages");
        };
        if let Some(mark) = marks::find(probe) {
            return ProbeResult::no(&format!("OpenClaw's: {mark}"));
        }
        let confidence = match container {
            Container::Headless => Confidence::Likely,
            _ => Confidence::Certain,
        };
        let header = probe.lines.iter().find(|line| line.kind() == "session");
        let version = header
            .filter(|_| container == Container::Session)
            .map(|line| {
                // Early headers have no version.
                format!(", version {}", line.get("version").count().unwrap_or(1))
            });
        ProbeResult::yes(
            confidence,
            Shape::Lines,
            format!("{}{}", container.reason(), version.unwrap_or_default()),
        )
    }

    fn decoder(&self, _: Option<&Path>) -> Box<dyn Decoder> {
        let session = session::SessionDecoder::new(prompt::open);
        Box::new(ZeroCosts::new(PiDecoder {
            session,
            runs: runs::AgentRuns::default(),
        }))
    }

    fn files(&self, path: &Path, role: FileRole<'_>) -> Vec<Pattern> {
        match role {
            FileRole::Owner => Pattern::list(runs::owner(path)),
            _ => self.head().files(path, role),
        }
    }

    fn session_name<'p>(&self, path: &'p Path) -> Option<SessionName<'p>> {
        places::named(path)
    }
}

/// Decodes one session with the runs of its sub-agents.
struct PiDecoder {
    session: session::SessionDecoder,
    runs: runs::AgentRuns,
}

impl Decoder for PiDecoder {
    fn head(&self) -> &'static Head {
        Pi.head()
    }

    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        let Self { session, runs } = self;
        if let RecordPlace::CompanionLine(path) = input.place {
            return runs.decode(path, input, |line| session.has(line), out);
        }
        let from = out.edits.len();
        let fate = session.decode(input, out);
        runs.find_runs(input.json, None, from, out);
        fate
    }

    fn finish(&mut self, out: &mut Batch) {
        self.session.finish(out);
        self.runs.finish(out);
    }
}

/// The forms of pi's container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    /// A `session` line and entries.
    Session,
    /// The event stream of `--mode json`.
    Events,
    /// Lines with a `kind`, version 4.
    Harness,
    /// Entries without a header: the tail of a file, or Oh My Pi.
    Headless,
}

impl Container {
    /// The reason given in the verdict.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Session => "a pi session header",
            Self::Events => "events of pi --mode json",
            Self::Harness => "a pi session of version 4",
            Self::Headless => "messages with id and parentId",
        }
    }
}

/// The form of pi's container that the lines have; `None` if they have none.
pub(crate) fn container(lines: &[Json<'_>]) -> Option<Container> {
    let kind = |line: &Json<'_>| line.kind().to_owned();
    let is_event = |line: &Json<'_>| {
        matches!(
            kind(line).as_str(),
            "agent_start" | "turn_start" | "message_start" | "message_update"
        ) || (matches!(kind(line).as_str(), "message_end" | "turn_end")
            && line.get("message").has("role"))
            || (kind(line) == "agent_end" && line.has("messages"))
            || (kind(line).starts_with("tool_execution_") && line.has("toolCallId"))
    };
    let is_header = |line: &Json<'_>| {
        kind(line) == "session"
            && line.has("id")
            && (line.has("cwd") || line.get("timestamp").moment().is_some())
            // Headers of other agents have this member.
            && !line.has("createdAt")
    };
    let is_v4 = |line: &Json<'_>| {
        line.get("kind").is("header")
            && [line.get("version"), line.get("v")]
                .iter()
                .any(|v| v.int() == Some(4))
    };
    let is_entry = |line: &Json<'_>| {
        let role = line.at("message.role").str_or_empty();
        kind(line) == "message"
            && line.has("parentId")
            && !role.is_empty()
            && !line.has("sessionId")
    };
    if lines.iter().any(is_v4) {
        Some(Container::Harness)
    } else if lines.iter().any(is_event) {
        Some(Container::Events)
    } else if lines.iter().any(is_header) {
        Some(Container::Session)
    } else {
        let is_headless = lines.iter().any(is_entry) && !lines.iter().any(is_of_droid);
        is_headless.then_some(Container::Headless)
    }
}

/// Whether a line is Factory Droid's, which links messages by the same fields, but has a header and
/// blocks of its own.
fn is_of_droid(line: &Json<'_>) -> bool {
    let is_foreign =
        |block: &Json<'_>| matches!(block.get("type").str(), Some("tool_use" | "tool_result"));
    line.kind() == "session_start" || line.at("message.content").items().iter().any(is_foreign)
}

#[cfg(test)]
mod tests;
