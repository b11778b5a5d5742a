//! OpenClaw (earlier clawdbot, moltbot): pi's container with marks of its own, bare message lines,
//! session turns, what travels over its wires, trajectories, and the small files beside a session.

mod answer;
mod children;
pub mod envelope;
mod index;
pub mod marks;
mod name;
mod trajectory;
mod turn;
mod wire;

use std::path::{Path, PathBuf};

use self::children::Children;
use self::index::Index;
use self::name::{FileName, Kept};
use super::decoder::{BESIDE, Confidence, Decoder, Format, Input, Pattern, Place, Probe, Verdict, show_raw};
use super::json::Json;
use super::pi::session::SessionDecoder;
use super::pi::{Container, container};
use crate::model::edit::{Batch, MetaEdit};
use crate::model::record::Shape;
use crate::model::tally::Fate;

/// The format.
pub struct Openclaw;

/// The index of an agent's sessions.
const INDEX: &str = "sessions.json";
/// A file with fewer lines than this may not have come to OpenClaw's marks yet.
const LINES_TO_TELL: usize = 5;

impl Format for Openclaw {
    fn name(&self) -> &'static str {
        "openclaw"
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
        Box::new(OpenclawDecoder::new(None))
    }

    fn decoder_of(&self, path: &Path) -> Box<dyn Decoder> {
        Box::new(OpenclawDecoder::new(Some(path)))
    }

    fn companions(&self, path: &Path) -> Vec<Pattern> {
        let Some(name) = FileName::of(path) else { return Vec::new() };
        let mut names = vec![INDEX.to_owned()];
        names.extend((name.kept == Kept::Live).then(|| format!("{}.lock", name.live)));
        names.into_iter().map(|name| Pattern(path.with_file_name(name))).collect()
    }

    fn follow_up(&self, path: &Path, wanted: &str) -> Vec<Pattern> {
        files_of_child(path, wanted)
    }

    fn archives(&self, path: &Path) -> Vec<Pattern> {
        let Some(name) = path.file_name().map(|name| name.to_string_lossy()) else { return Vec::new() };
        ARCHIVES.iter().map(|how| Pattern(path.with_file_name(format!("{name}.{how}*")))).collect()
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
    if index::is_index(root) {
        return Some(Verdict::yes(Confidence::Certain, Shape::Document, "OpenClaw's index of sessions"));
    }
    let is_lock = is_lock(root) && probe.path.extension().is_some_and(|extension| extension == "lock");
    is_lock.then(|| Verdict::yes(Confidence::Likely, Shape::Document, "the lock of a running session"))
}

fn is_lock(root: &Json<'_>) -> bool {
    root.has("pid") && root.has("createdAt") && root.members().len() <= 6
}

/// The names that a session's file gets when its agent puts it aside.
const ARCHIVES: [&str; 3] = ["reset", "deleted", "bak"];

/// The files of the session that a decoder asked for as `<agent>/<id>`; without an id, that agent's index.
fn files_of_child(path: &Path, wanted: &str) -> Vec<Pattern> {
    let Some((agent, id)) = wanted.split_once('/') else { return Vec::new() };
    // They come from the session itself and become parts of a path.
    let is_plain = |name: &str| {
        !name.contains("..") && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    let Some(home) = path.parent().filter(|_| is_plain(agent) && is_plain(id)) else { return Vec::new() };
    let agents = home.parent().filter(|_| home.file_name().is_some_and(|name| name == "sessions"));
    let other = agents.and_then(Path::parent).map(|agents| agents.join(agent).join("sessions"));
    let folders = other.into_iter().filter(|other| !agent.is_empty() && other != home);
    let folders: Vec<PathBuf> = folders.chain([home.to_owned()]).collect();
    let names: Vec<String> = if id.is_empty() {
        vec![INDEX.to_owned()]
    } else {
        let archives = ARCHIVES.iter().map(|how| format!("{id}.jsonl.{how}*"));
        std::iter::once(format!("{id}.jsonl")).chain(archives).collect()
    };
    folders.iter().flat_map(|folder| names.iter().map(|name| Pattern(folder.join(name)))).collect()
}

#[derive(Default)]
struct Facts {
    /// The file that is read; unknown while a single record is read again.
    path: Option<PathBuf>,
    id: String,
    index: Index,
    has_model: bool,
    is_announced: bool,
}

impl Facts {
    fn announce(&mut self, out: &mut Batch) {
        let name = self.path.as_deref().and_then(FileName::of).filter(|_| !self.is_announced);
        self.is_announced = true;
        let Some(name) = name else { return };
        self.id.clone_from(&name.session);
        name.facts().into_iter().for_each(|fact| out.meta(fact));
    }

    fn see(&mut self, json: &Json<'_>, out: &mut Batch) {
        self.has_model |= json.at(&["message", "model"]).filled().is_some();
        if let (Some("session"), Some(id)) = (json.get("type").str(), json.get("id").filled()) {
            id.clone_into(&mut self.id);
            self.tell(out);
        }
    }

    /// Tells what the index says of this session.
    fn tell(&self, out: &mut Batch) {
        let live = self.path.as_deref().and_then(FileName::of).map(|name| name.live);
        let Some(known) = self.index.of_file(&live.unwrap_or_default(), &self.id) else { return };
        known.tell(out);
        if let Some(model) = known.model.clone().filter(|_| !self.has_model) {
            out.meta(MetaEdit::Model(model));
        }
    }
}

struct OpenclawDecoder {
    session: SessionDecoder,
    wire: wire::Wire,
    facts: Facts,
    children: Children,
}

impl OpenclawDecoder {
    fn new(path: Option<&Path>) -> Self {
        Self {
            session: SessionDecoder::new(envelope::open),
            wire: wire::Wire::default(),
            facts: Facts { path: path.map(Path::to_owned), ..Facts::default() },
            children: Children::default(),
        }
    }

    /// A small file, which is none of the session's own records unless it was opened by itself.
    fn beside(&mut self, path: &Path, input: Input<'_>, out: &mut Batch) -> Fate {
        let is_opened = self.facts.path.as_deref().is_none_or(|own| own == path);
        if is_opened {
            return self.own(input, out);
        }
        if index::is_index(input.json) {
            self.facts.index.read(input.json);
            self.facts.tell(out);
            self.children.learn(&self.facts.index, out);
        } else if is_lock(input.json) {
            out.meta(MetaEdit::Live(Some(true)));
        }
        BESIDE
    }

    fn own(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        let json = input.json;
        if index::is_index(json) {
            return index::list(json, out);
        }
        if is_lock(json) && !json.has("type") {
            return index::lock(json, out);
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
        if let Some(fate) = self.wire.decode(json, out) {
            return fate;
        }
        let fate = answer::decode(&mut self.session, input, out);
        self.facts.see(json, out);
        self.children.see(json, None, &self.facts.index, out);
        fate
    }
}

impl Decoder for OpenclawDecoder {
    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        self.facts.announce(out);
        match input.place {
            Place::File(path) => self.beside(path, input, out),
            Place::CompanionLine(path) => {
                let id = FileName::of(path).map(|name| name.session).unwrap_or_default();
                let Self { session, facts, children, .. } = self;
                children.decode(&id, input, &facts.index, |line| answer::is_known(session, line), out)
            }
            Place::Line | Place::Header | Place::Element => self.own(input, out),
        }
    }

    fn lost(&mut self, path: &Path, out: &mut Batch) {
        if path.extension().is_some_and(|extension| extension == "lock") {
            out.meta(MetaEdit::Live(None));
        }
    }

    fn finish(&mut self, out: &mut Batch) {
        self.facts.announce(out);
        self.wire.give_out(out);
        self.session.finish(out);
        let own = self.facts.path.as_deref();
        let has_neighbours = own.is_some_and(|own| FileName::of(own).is_some() && !is_packed(own));
        self.children.finish(has_neighbours, out);
    }
}

/// A compressed file is read alone.
fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst" || extension == "gz")
}

#[cfg(test)]
mod tests;
