//! The envelope that chain lines share: identity, parent, lane and time.

use crate::formats::decoder::{Input, Place};
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Entry, Piece, Role};
use crate::model::tally::Fate;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::identifies;

/// The lane of a sub-agent without an id, until its chain is known.
pub(crate) const SIDECHAIN: &str = "sidechain";

/// A line with its envelope read.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// The whole line.
    pub(crate) json: &'a Json<'a>,
    /// The record as the driver gave it.
    pub(crate) input: Input<'a>,
    /// Its `uuid`, else a name made from its place.
    pub(crate) id: Key,
    /// Whether the `uuid` distinguishes it from other lines.
    pub(crate) has_uuid: bool,
    /// `parentUuid`.
    pub(crate) parent: Option<Key>,
    /// The sub-agent that it belongs to.
    pub(crate) lane: Option<Name>,
    /// When it was written.
    pub(crate) at: Option<Timestamp>,
}

impl<'a> Line<'a> {
    /// Reads the envelope. `home` is the sub-agent whose own file was opened, if it is one.
    pub(crate) fn read(input: Input<'a>, home: Option<&Name>, out: &Batch) -> Self {
        let json = input.json;
        let uuid = json.get("uuid").str().filter(|id| identifies(id));
        // A compaction begins a new chain, but says what it goes on from.
        let parents = [json.get("parentUuid"), json.get("logicalParentUuid")];
        let parent = parents
            .iter()
            .find_map(|parent| parent.str().filter(|id| identifies(id)));
        Self {
            json,
            input,
            id: uuid.map_or_else(|| out.origin_key(), Text::clean),
            has_uuid: uuid.is_some(),
            parent: parent.map(Text::clean),
            lane: lane_of(input).filter(|lane| Some(lane) != home),
            at: json.get("timestamp").moment(),
        }
    }

    /// The `type`.
    pub(crate) fn kind(&self) -> &'a str {
        self.json.get("type").str_or_empty()
    }

    /// The answer that it is a part of: lines of one answer share the id of its message.
    pub(crate) fn answer(&self) -> Key {
        let message = self
            .json
            .at(&["message", "id"])
            .str()
            .filter(|id| identifies(id));
        message.map_or_else(|| self.id.clone(), Text::clean)
    }

    /// The piece that this line brings to its entry.
    pub(crate) fn piece(&self) -> Piece {
        Piece::of(&self.id)
    }

    /// An empty entry for this line.
    pub(crate) fn entry(&self, key: Key, role: Role, out: &Batch) -> Entry {
        let mut entry = out.new_entry(key, role, self.at);
        entry.parent.clone_from(&self.parent);
        entry.lane.clone_from(&self.lane);
        entry
    }

    /// An empty entry for bookkeeping.
    pub(crate) fn trace(&self, key: Key, out: &Batch) -> Entry {
        let mut entry = self.entry(key, Role::Harness, out);
        (entry.marks.quiet, entry.marks.trace) = (true, true);
        entry
    }

    /// Shows a block of the program.
    pub(crate) fn show(&self, kind: impl Into<BlockKind>, is_quiet: bool, out: &mut Batch) -> Fate {
        let mut entry = self.entry(self.id.clone(), Role::Harness, out);
        entry.marks.quiet = is_quiet;
        entry.push_piece(self.piece(), kind);
        out.show(entry)
    }

    /// Shows a block of bookkeeping.
    pub(crate) fn show_trace(&self, kind: impl Into<BlockKind>, out: &mut Batch) -> Fate {
        let mut entry = self.trace(self.id.clone(), out);
        entry.push_piece(self.piece(), kind);
        out.show(entry)
    }

    /// A key for a second entry made from this line.
    pub(crate) fn sub_key(&self, what: &str) -> Key {
        Text::clean(&format!("{}:{what}", self.id))
    }
}

/// The lane that a line names. Files of sub-agents repeat their id on each line; before they existed,
/// side chains lay in the session's file and had no name.
pub(crate) fn lane_of(input: Input<'_>) -> Option<Name> {
    let json = input.json;
    let agent = json.get("agentId").text();
    match input.place {
        Place::CompanionLine(path) => agent.or_else(|| {
            let stem = path.file_stem()?.to_str()?;
            Some(Text::clean(stem.strip_prefix("agent-").unwrap_or(stem)))
        }),
        Place::Line
        | Place::Header
        | Place::Element
        | Place::File(_)
        | Place::Text(_)
        | Place::Passage
        | Place::Row(_) => json
            .get("isSidechain")
            .is_true()
            .then(|| agent.unwrap_or_else(|| Text::clean(SIDECHAIN))),
    }
}
