//! OpenClaw (earlier clawdbot, moltbot): pi's container with OpenClaw's own marks, bare message
//! lines, session turns, protocol frames, trajectories, and the small files beside a session.

mod answer;
mod children;
pub mod envelope;
mod index;
pub(crate) mod marks;
mod name;
mod places;
mod tables;
mod trajectory;
mod turn;
pub(crate) mod wakes;
pub mod wire;

use std::path::{Path, PathBuf};

use self::children::Children;
use self::index::SessionIndex;
use self::name::FileName;
use super::decoder::{BESIDE, Decoder, Format, Input, RecordPlace};
use super::definition::head::Head;
use super::definition::heads::head;
use super::json::Json;
use super::pi::session::SessionDecoder;
use super::pi::{Container, container};
use super::probe::{Confidence, Probe, ProbeResult};
use super::roots::{FileRole, ListedSession, Pattern, SessionName};
use super::tables::{Queries, Tables};
use super::zeros::ZeroCosts;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::record::Shape;
use crate::model::tally::Fate;

pub(crate) struct Openclaw;

/// The minimum number of lines to judge by: a shorter file may have no mark of OpenClaw yet.
const LINES_TO_JUDGE: usize = 5;

impl Format for Openclaw {
    head!("openclaw");

    fn decoder(&self, path: Option<&Path>) -> Box<dyn Decoder> {
        Box::new(ZeroCosts::new(OpenclawDecoder::new(path)))
    }

    fn sniff(&self, probe: &Probe<'_>) -> ProbeResult {
        if let Some(verdict) = sniff_companion(probe) {
            return verdict;
        }
        if let Some(container) = container(probe.lines) {
            return sniff_container(container, probe);
        }
        if probe.is_document || probe.lines.is_empty() {
            return ProbeResult::no("no lines of messages");
        }
        if let Some(reason) = trajectory::sniff(probe) {
            return ProbeResult::yes(Confidence::Certain, Shape::Lines, reason);
        }
        if let Some(reason) = turn::sniff(probe.lines) {
            return ProbeResult::yes(Confidence::Likely, Shape::Lines, reason);
        }
        if let Some((confidence, reason)) = wire::frame::sniff(probe.lines, is_message) {
            return ProbeResult::yes(confidence, Shape::Lines, reason);
        }
        if let Some(reason) = turn::sniff_plain(probe.lines) {
            return ProbeResult::yes(Confidence::Maybe, Shape::Lines, reason);
        }
        ProbeResult::no("no session header and no messages of OpenClaw")
    }

    fn session_name<'p>(&self, path: &'p Path) -> Option<SessionName<'p>> {
        places::named(path)
    }

    fn files(&self, path: &Path, role: FileRole<'_>) -> Vec<Pattern> {
        let index = || Pattern::list(places::index(path));
        let lock = || Pattern::list(places::lock(path));
        match role {
            FileRole::Companion => [index(), lock()].concat(),
            FileRole::Index => index(),
            FileRole::Lock => lock(),
            FileRole::Archive => places::archives(path),
            FileRole::Home => Pattern::list(places::agents(path)),
            FileRole::Requested(wanted) => places::of_child(path, wanted),
            FileRole::Lines(session) => Pattern::list(places::lines_of(path, session)),
            _ => self.head().files(path, role),
        }
    }

    fn queries(&self, tables: &Tables) -> Option<Queries> {
        tables::queries(tables)
    }

    fn listings(&self, index: &Json<'_>) -> Vec<ListedSession> {
        let mut known = SessionIndex::default();
        known.read(index);
        known.listings()
    }
}

/// Whether a line is a message, alone or wrapped as an entry. These lines may occur among frames.
fn is_message(line: &Json<'_>) -> bool {
    turn::is_turn(line)
        || line.get("role").str().is_some()
        || line.at("message.role").str().is_some()
}

fn sniff_container(container: Container, probe: &Probe<'_>) -> ProbeResult {
    if let Some(mark) = marks::find(probe) {
        return ProbeResult::yes(
            Confidence::Certain,
            Shape::Lines,
            format!("pi's container with {mark}"),
        );
    }
    let may_follow =
        container == Container::Session && probe.lines.len() < LINES_TO_JUDGE && probe.is_whole;
    ProbeResult {
        confidence: if may_follow {
            Confidence::NeedMore
        } else {
            Confidence::No
        },
        ..ProbeResult::no("pi's container without a mark of OpenClaw")
    }
}

/// Detects the index of sessions, and the lock of a running session.
fn sniff_companion(probe: &Probe<'_>) -> Option<ProbeResult> {
    let root = probe.header.or(match probe.lines {
        [only] => Some(only),
        _ => None,
    })?;
    if index::is_index(root) {
        return Some(ProbeResult::yes(
            Confidence::Certain,
            Shape::Document,
            "OpenClaw's index of sessions",
        ));
    }
    let is_lock = is_lock(root)
        && probe
            .path
            .extension()
            .is_some_and(|extension| extension == "lock");
    is_lock.then(|| {
        ProbeResult::yes(
            Confidence::Likely,
            Shape::Document,
            "the lock of a running session",
        )
    })
}

fn is_lock(root: &Json<'_>) -> bool {
    root.has("pid") && root.has("createdAt") && root.members().len() <= 6
}

#[derive(Default)]
struct FileFacts {
    /// The file being read; `None` while a single record is read again.
    path: Option<PathBuf>,
    id: String,
    index: SessionIndex,
    has_model: bool,
    is_announced: bool,
}

impl FileFacts {
    fn announce(&mut self, out: &mut Batch) {
        let name = self
            .path
            .as_deref()
            .and_then(FileName::of)
            .filter(|_| !self.is_announced);
        self.is_announced = true;
        let Some(name) = name else { return };
        name.session.clone_into(&mut self.id);
        name.facts().into_iter().for_each(|fact| out.meta(fact));
    }

    fn update(&mut self, json: &Json<'_>, out: &mut Batch) {
        self.has_model |= json.at("message.model").filled().is_some();
        if let (Some("session"), Some(id)) = (json.get("type").str(), json.get("id").filled()) {
            id.clone_into(&mut self.id);
            self.emit_listing(out);
        }
    }

    /// Emits the facts that the index has about this session.
    fn emit_listing(&self, out: &mut Batch) {
        let live = self
            .path
            .as_deref()
            .and_then(FileName::of)
            .map(|name| name.live_name());
        let Some(known) = self.index.of_file(&live.unwrap_or_default(), &self.id) else {
            return;
        };
        known.emit(out);
        if let Some(model) = known.model.clone().filter(|_| !self.has_model) {
            out.meta(MetaEdit::Model(model));
        }
    }
}

struct OpenclawDecoder {
    session: SessionDecoder,
    turns: turn::SessionTurns,
    wire: wire::Wire,
    facts: FileFacts,
    children: Children,
}

impl OpenclawDecoder {
    fn new(path: Option<&Path>) -> Self {
        Self {
            session: SessionDecoder::new(envelope::open),
            turns: turn::SessionTurns::default(),
            wire: wire::Wire::default(),
            facts: FileFacts {
                path: path.map(Path::to_owned),
                ..FileFacts::default()
            },
            children: Children::default(),
        }
    }

    /// Decodes a small file. It is not a record of the session unless it was opened itself.
    fn decode_companion(&mut self, path: &Path, input: Input<'_>, out: &mut Batch) -> Fate {
        let is_opened = self.facts.path.as_deref().is_none_or(|own| own == path);
        if is_opened {
            return self.decode_record(input, out);
        }
        if index::is_index(input.json) {
            self.facts.index.read(input.json);
            self.facts.emit_listing(out);
            self.children.apply_index(&self.facts.index, out);
        } else if is_lock(input.json) {
            out.meta(MetaEdit::Live(Some(true)));
        }
        BESIDE
    }

    fn decode_record(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        let json = input.json;
        let is_index = index::is_index(json);
        let is_lock = is_lock(json) && !json.has("type");
        let is_frame =
            !is_index && !is_lock && !trajectory::is_record(json) && wire::is_frame(json);
        if !is_frame {
            self.wire.flush(out);
        }
        // Held edits precede the line, unless the line continues them.
        if is_index || is_lock || is_frame || trajectory::is_record(json) || turn::is_turn(json) {
            self.session.finish(out);
        }
        if is_index {
            return index::list(json, out);
        }
        if is_lock {
            return index::lock(json, out);
        }
        if let Some(fate) = trajectory::decode(json, out) {
            return fate;
        }
        if is_frame {
            return self.wire.decode(json, out);
        }
        if turn::is_turn(json) {
            return self.turns.decode(json, out);
        }
        let fate = answer::decode(&mut self.session, input, out);
        self.facts.update(json, out);
        self.children
            .find_starts(json, None, &self.facts.index, out);
        fate
    }
}

impl Decoder for OpenclawDecoder {
    fn head(&self) -> &'static Head {
        Openclaw.head()
    }

    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        self.facts.announce(out);
        match input.place {
            RecordPlace::File(path) => self.decode_companion(path, input, out),
            RecordPlace::CompanionLine(path) => {
                let id = FileName::of(path)
                    .map(|name| name.session)
                    .unwrap_or_default();
                let Self {
                    session,
                    facts,
                    children,
                    ..
                } = self;
                children.decode(
                    id,
                    input,
                    &facts.index,
                    |line| answer::is_known(session, line),
                    out,
                )
            }
            RecordPlace::Line
            | RecordPlace::Header
            | RecordPlace::Element
            | RecordPlace::Row(_)
            | RecordPlace::Text(_)
            | RecordPlace::Passage => self.decode_record(input, out),
        }
    }

    fn file_deleted(&mut self, path: &Path, out: &mut Batch) {
        if path
            .extension()
            .is_some_and(|extension| extension == "lock")
        {
            out.meta(MetaEdit::Live(None));
        }
    }

    fn finish(&mut self, out: &mut Batch) {
        self.facts.announce(out);
        self.wire.flush(out);
        self.session.finish(out);
        self.children
            .finish(self.facts.path.as_deref().is_some_and(has_neighbours), out);
    }
}

/// Whether files of sub-agents can be found, which is so in the folder of a transcript or in a
/// database of sessions. A compressed file is read alone.
fn has_neighbours(own: &Path) -> bool {
    let is = |known: &str| own.extension().is_some_and(|extension| extension == known);
    is("sqlite") || (FileName::of(own).is_some() && !is("zst") && !is("gz"))
}

#[cfg(test)]
mod tests;
