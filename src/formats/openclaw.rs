//! OpenClaw (earlier clawdbot, moltbot): pi's container with marks of its own, bare message lines,
//! session turns, what travels over its wires, trajectories, and the small files beside a session.

pub mod envelope;
mod lanes;
pub mod marks;
mod places;
mod tables;
mod trajectory;
mod turn;
pub mod wire;

use std::path::Path;

use self::lanes::Lanes;
use super::decoder::{Confidence, Decoder, Format, Input, Place, Probe, Verdict, show_raw};
use super::fields::{self, Fields};
use super::json::Json;
use super::pi::session::SessionDecoder;
use super::pi::{Container, container};
use super::roots::{Beside, Listing, Named, Root};
use super::tables::{Queries, Tables};
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
        if let Some((confidence, reason)) = wire::frame::sniff(probe.lines, is_message) {
            return Verdict::yes(confidence, Shape::Lines, reason);
        }
        if let Some(reason) = turn::sniff_plain(probe.lines) {
            return Verdict::yes(Confidence::Maybe, Shape::Lines, reason);
        }
        Verdict::no("no session header and no messages of OpenClaw")
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(OpenclawDecoder {
            session: SessionDecoder::new(envelope::open),
            turns: turn::Turns::default(),
            wire: wire::Wire::default(),
            lanes: Lanes::default(),
        })
    }

    fn queries(&self, tables: &Tables) -> Option<Queries> {
        tables::queries(tables)
    }

    fn roots(&self) -> &'static [Root] {
        places::ROOTS
    }

    fn named<'p>(&self, path: &'p Path) -> Option<Named<'p>> {
        places::named(path)
    }

    fn beside(&self, path: &Path) -> Beside {
        places::beside(path)
    }

    fn listings(&self, index: &Json<'_>) -> Vec<Listing> {
        places::listings(index)
    }
}

/// Whether a line is a message by itself or wrapped as an entry: such lines may stand among frames.
fn is_message(line: &Json<'_>) -> bool {
    turn::is_turn(line) || line.get("role").str().is_some() || line.at(&["message", "role"]).str().is_some()
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
    turns: turn::Turns,
    wire: wire::Wire,
    lanes: Lanes,
}

impl Decoder for OpenclawDecoder {
    fn fields(&self) -> &'static Fields {
        &fields::PI
    }

    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        let json = input.json;
        if let Place::CompanionLine(path) = input.place {
            return self.lanes.decode(path, input, out);
        }
        if is_index(json) {
            return show_raw(input, &format!("index of {} sessions", json.members().len()), out);
        }
        if is_lock(json) && !json.has("type") {
            return show_raw(input, &format!("a run is live: process {}", json.get("pid").to_source()), out);
        }
        if let Some(fate) = trajectory::decode(json, out) {
            return fate;
        }
        if wire::is_frame(json) {
            self.session.finish(out);
            return self.wire.decode(json, out);
        }
        self.wire.give_out(out);
        if turn::is_turn(json) {
            self.session.finish(out);
            return self.turns.decode(json, out);
        }
        self.lanes.see(json, out);
        self.session.decode(input, out)
    }

    fn finish(&mut self, out: &mut Batch) {
        self.wire.give_out(out);
        self.session.finish(out);
        self.lanes.finish(out);
    }
}

#[cfg(test)]
mod tests;
