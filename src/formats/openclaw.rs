//! OpenClaw (earlier clawdbot, moltbot): pi's container with marks of its own, bare message lines,
//! session turns, what travels over its wires, trajectories, and the small files beside a session.

pub mod envelope;
pub mod marks;
mod trajectory;
mod turn;
mod wire;

use super::decoder::{Confidence, Decoder, Format, Input, Place, Probe, Verdict, show_raw};
use super::fields::{self, Fields};
use super::json::Json;
use super::pi::session::SessionDecoder;
use super::pi::{Container, container};
use crate::model::edit::Batch;
use crate::model::record::Shape;
use crate::model::tally::Fate;

/// The format.
pub struct Openclaw;

/// A file with fewer lines than this may not have come to OpenClaw's marks yet.
const LINES_TO_TELL: usize = 5;

impl Format for Openclaw {
    fn name(&self) -> &'static str {
        "openclaw"
    }

    fn omits(&self) -> &'static str {
        "prices of most providers: cost is unknown then, not 0; parent links are often broken, so \
         file order counts"
    }

    fn sniff(&self, probe: &Probe<'_>) -> Verdict {
        if let Some(verdict) = sniff_file_beside(probe) {
            return verdict;
        }
        if let Some(container) = container(probe.lines) {
            return sniff_container(container, probe);
        }
        if probe.is_document || probe.lines.is_empty() {
            return Verdict::no("no lines of messages");
        }
        if let Some(reason) = trajectory::sniff(probe) {
            return Verdict::yes(Confidence::Certain, Shape::Lines, reason);
        }
        if let Some(reason) = turn::sniff(probe.lines) {
            return Verdict::yes(Confidence::Likely, Shape::Lines, reason);
        }
        if let Some((confidence, reason)) = wire::sniff(probe.lines) {
            return Verdict::yes(confidence, Shape::Lines, reason);
        }
        Verdict::no("no session header and no messages of OpenClaw")
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(OpenclawDecoder {
            session: SessionDecoder::new(envelope::open),
            wire: wire::Wire::default(),
        })
    }

    fn roots(&self) -> &'static [&'static str] {
        &[".openclaw/agents", ".clawdbot/agents", ".moltbot/agents"]
    }
}

fn sniff_container(container: Container, probe: &Probe<'_>) -> Verdict {
    if let Some(mark) = marks::find(probe) {
        return Verdict::yes(Confidence::Certain, Shape::Lines, format!("pi's container with {mark}"));
    }
    let may_tell_later =
        container == Container::Session && probe.lines.len() < LINES_TO_TELL && probe.is_whole;
    Verdict {
        confidence: if may_tell_later { Confidence::NeedMore } else { Confidence::No },
        ..Verdict::no("pi's container without a mark of OpenClaw")
    }
}

/// The index of sessions, and the lock of a running one.
fn sniff_file_beside(probe: &Probe<'_>) -> Option<Verdict> {
    let root = probe.header.or(match probe.lines {
        [only] => Some(only),
        _ => None,
    })?;
    if is_index(root) {
        return Some(Verdict::yes(Confidence::Certain, Shape::Document, "OpenClaw's index of sessions"));
    }
    let is_lock = is_lock(root) && probe.path.extension().is_some_and(|extension| extension == "lock");
    is_lock.then(|| Verdict::yes(Confidence::Likely, Shape::Document, "the lock of a running session"))
}

fn is_index(root: &Json<'_>) -> bool {
    let is_session = |value: &Json<'_>| value.has("sessionId") && value.has("updatedAt");
    !root.members().is_empty() && root.members().iter().all(|(_, value)| is_session(value))
}

fn is_lock(root: &Json<'_>) -> bool {
    root.has("pid") && root.has("createdAt") && root.members().len() <= 6
}

struct OpenclawDecoder {
    session: SessionDecoder,
    wire: wire::Wire,
}

impl Decoder for OpenclawDecoder {
    fn fields(&self) -> &'static Fields {
        &fields::PI
    }

    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        let json = input.json;
        if is_index(json) {
            return show_raw(input, &format!("index of {} sessions", json.members().len()), out);
        }
        if is_lock(json) && !json.has("type") {
            return show_raw(input, &format!("a run is live: process {}", json.get("pid").to_source()), out);
        }
        if input.place == Place::Element {
            return show_raw(input, "part of an index", out);
        }
        if let Some(fate) = trajectory::decode(json, out) {
            return fate;
        }
        if turn::is_turn(json) {
            return turn::decode(json, out);
        }
        match self.wire.decode(json, out) {
            Some(fate) => fate,
            None => self.session.decode(input, out),
        }
    }

    fn finish(&mut self, out: &mut Batch) {
        self.wire.give_out(out);
        self.session.finish(out);
    }
}

#[cfg(test)]
mod tests;
