//! The envelope that lines of the chain share: id, parent, lane and timestamp.

use crate::formats::decoder::{Input, RecordPlace};
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Entry, Piece, Role};
use crate::model::tally::Fate;
use crate::model::text::{Name, Text, text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::identifies;

/// The lane of a sub-agent without an id, until its chain is identified.
pub(crate) const SIDECHAIN: &str = "sidechain";

/// A line with its parsed envelope.
#[derive(Clone, Debug)]
pub struct TranscriptLine<'a> {
    /// The whole line as JSON.
    pub(crate) json: &'a Json<'a>,
    /// The record as the decoder received it.
    pub(crate) input: Input<'a>,
    /// Its `uuid`; without one, a key made from its origin.
    pub(crate) id: Key,
    /// Whether the line has a `uuid` of its own.
    pub(crate) has_uuid: bool,
    /// `parentUuid`, else `logicalParentUuid`.
    pub(crate) parent: Option<Key>,
    /// The lane of its sub-agent; `None` for the main lane.
    pub(crate) lane: Option<Name>,
    pub(crate) at: Option<Timestamp>,
}

impl<'a> TranscriptLine<'a> {
    /// Parses the envelope. `home` is the sub-agent whose own file was opened, if any: its lines
    /// are on the main lane.
    pub(crate) fn read(input: Input<'a>, home: Option<&Name>, out: &Batch) -> Self {
        let json = input.json;
        let uuid = json.get("uuid").str().filter(|id| identifies(id));
        // A compaction begins a new chain, but names the parent that it continues from.
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

    pub(crate) fn kind(&self) -> &'a str {
        self.json.kind()
    }

    /// The key of the answer that it is part of: lines of one answer share `message.id`.
    pub(crate) fn answer(&self) -> Key {
        let message = self.json.at("message.id").str().filter(|id| identifies(id));
        message.map_or_else(|| self.id.clone(), Text::clean)
    }

    /// The key of the block that this line adds to its entry.
    pub(crate) fn piece(&self) -> Piece {
        Piece::of(&self.id)
    }

    /// Creates an empty entry with the envelope of this line.
    pub(crate) fn entry(&self, key: Key, role: Role, out: &Batch) -> Entry {
        let mut entry = out.new_entry(key, role, self.at);
        entry.parent.clone_from(&self.parent);
        entry.lane.clone_from(&self.lane);
        entry
    }

    /// Creates an empty entry with the key of this line.
    pub(crate) fn own_entry(&self, role: Role, out: &Batch) -> Entry {
        self.entry(self.id.clone(), role, out)
    }

    /// Creates an empty trace entry.
    pub(crate) fn trace(&self, key: Key, out: &Batch) -> Entry {
        let mut entry = self.entry(key, Role::Harness, out);
        (entry.marks.quiet, entry.marks.trace) = (true, true);
        entry
    }

    /// Shows a block by the harness as an entry of its own.
    pub(crate) fn show(&self, kind: impl Into<BlockKind>, is_quiet: bool, out: &mut Batch) -> Fate {
        let mut entry = self.own_entry(Role::Harness, out);
        entry.marks.quiet = is_quiet;
        entry.push_piece(self.piece(), kind);
        out.show(entry)
    }

    /// Shows a block as a trace entry.
    pub(crate) fn show_trace(&self, kind: impl Into<BlockKind>, out: &mut Batch) -> Fate {
        let mut entry = self.trace(self.id.clone(), out);
        entry.push_piece(self.piece(), kind);
        out.show(entry)
    }

    /// A key for a second entry made from this line.
    pub(crate) fn sub_key(&self, what: &str) -> Key {
        text!("{}:{what}", self.id)
    }
}

/// The lane that a line names. Transcripts of sub-agents repeat the agent's id on each line; before
/// they existed, sidechains were stored in the session's file without an id.
pub(crate) fn lane_of(input: Input<'_>) -> Option<Name> {
    let json = input.json;
    let agent = json.get("agentId").text();
    match input.place {
        RecordPlace::CompanionLine(path) => agent.or_else(|| {
            let stem = path.file_stem()?.to_str()?;
            Some(Text::clean(stem.strip_prefix("agent-").unwrap_or(stem)))
        }),
        RecordPlace::Line
        | RecordPlace::Header
        | RecordPlace::Element
        | RecordPlace::File(_)
        | RecordPlace::Text(_)
        | RecordPlace::Passage
        | RecordPlace::Row(_) => json
            .get("isSidechain")
            .is_true()
            .then(|| agent.unwrap_or_else(|| Text::clean(SIDECHAIN))),
    }
}
