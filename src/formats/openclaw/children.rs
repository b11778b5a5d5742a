//! Sessions that calls of this session started. Each is read from its own file, or from its rows in
//! the database, into a lane of the call.
//!
//! A result has the session key of the child, and the index the file of a key. Without an index the
//! id in the key may be the file's name. Rows have the name that the file would have.
//!
//! Invariant: entries, calls and results of a child have keys with the name of its lane, so that
//! keys of two sessions never collide; facts about a child are not facts about the session.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::answer;
use super::envelope;
use super::index::{SessionIndex, agent_of};
use crate::formats::decoder::{Decoder, Input};
use crate::formats::json::Json;
use crate::formats::pi::lane::{inside, into_lane};
use crate::formats::pi::result;
use crate::formats::pi::session::SessionDecoder;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{Break, Role};
use crate::model::tally::Fate;
use crate::model::text::{Name, Text, text};
use crate::model::tool::work::{Carrier, Update, WorkEnd, WorkReference};

/// The maximum length of a lane's label, in characters.
const LABEL_CHARS: usize = 60;

/// The child sessions of a session, including those of its children.
#[derive(Default)]
pub(crate) struct Children {
    /// Sorted by name, so that held edits are emitted in a fixed order.
    sessions: BTreeMap<Name, Child>,
    /// Lanes by session id.
    lanes: HashMap<String, Name>,
    /// Labels from calls that may start a session.
    labels: HashMap<Key, Text>,
    asked: HashSet<String>,
}

struct Child {
    decoder: SessionDecoder,
    has_lines: bool,
    is_missed: bool,
}

impl Default for Child {
    fn default() -> Self {
        Self {
            decoder: SessionDecoder::new(envelope::open),
            has_lines: false,
            is_missed: false,
        }
    }
}

impl Children {
    /// Finds starts of sessions in a record of the lane or of the session itself.
    pub(crate) fn find_starts(
        &mut self,
        json: &Json<'_>,
        lane: Option<&Name>,
        index: &SessionIndex,
        out: &mut Batch,
    ) {
        let message = json.get("message");
        for block in message.get("content").items() {
            let asked = block.get("arguments");
            let label = asked.first(&["label", "task"], Json::filled);
            if let (Some("sessions_spawn"), Some(label)) = (block.get("name").str(), label) {
                let label = Text::stub(label.lines().next().unwrap_or_default(), LABEL_CHARS);
                self.labels
                    .insert(inside(lane, result::call_key(block.get("id"))), label);
            }
        }
        if let Some(key) = message.at("details.childSessionKey").text() {
            let call = inside(lane, result::call_key(message.get("toolCallId")));
            self.announce_lane(key, &call, index, out);
        }
    }

    fn announce_lane(&mut self, key: Name, call: &Key, index: &SessionIndex, out: &mut Batch) {
        let label = self
            .labels
            .get(call)
            .cloned()
            .or_else(|| index.get(&key)?.title.clone());
        let label = label.unwrap_or_else(|| short(&key));
        out.lane(key.clone(), Some(label), None);
        self.sessions.entry(key.clone()).or_default();
        let agent = agent_of(&key).unwrap_or_default().to_owned();
        // Requests the other agent's index.
        self.request(&agent, "", out);
        self.request_session(&key, index, out);
    }

    /// Requests the files of all children again after the index has changed.
    pub(crate) fn apply_index(&mut self, index: &SessionIndex, out: &mut Batch) {
        let keys: Vec<Name> = self.sessions.keys().cloned().collect();
        for key in keys {
            self.request_session(&key, index, out);
        }
    }

    fn request_session(&mut self, key: &Name, index: &SessionIndex, out: &mut Batch) {
        let agent = agent_of(key).unwrap_or_default();
        let ids = [
            index.get(key).map(|known| known.id.as_str()),
            key.rsplit(':').next(),
        ];
        for id in ids.into_iter().flatten() {
            self.lanes
                .entry(id.to_owned())
                .or_insert_with(|| key.clone());
            self.request(agent, id, out);
        }
    }

    fn request(&mut self, agent: &str, id: &str, out: &mut Batch) {
        let wanted = format!("{agent}/{id}");
        if self.asked.insert(wanted.clone()) {
            out.requested_files.push(Text::clean(&wanted));
        }
    }

    /// Decodes a line or row of the session with this id. `is_copied` returns whether the parent
    /// has the line as well.
    pub(crate) fn decode(
        &mut self,
        id: &str,
        input: Input<'_>,
        index: &SessionIndex,
        is_copied: impl Fn(&Json<'_>) -> bool,
        out: &mut Batch,
    ) -> Fate {
        let lane = self
            .lanes
            .get(id)
            .cloned()
            .unwrap_or_else(|| Text::clean(id));
        let is_new = !self
            .sessions
            .get(&lane)
            .is_some_and(|child| child.has_lines);
        let missed = is_new
            && self
                .sessions
                .get(&lane)
                .is_some_and(|child| child.is_missed);
        if missed {
            out.push(Edit::Retire(missing_key(&lane)));
        }
        let child = self.sessions.entry(lane.clone()).or_default();
        child.has_lines = true;
        // A session that was started with its parent's history begins with a copy of it.
        if is_copied(input.json) {
            return Fate::Merged;
        }
        let before = out.edits.len();
        let fate = answer::decode(&mut child.decoder, input, out);
        into_lane(before, &lane, out);
        emit_end(input.json, &lane, out);
        self.find_starts(input.json, Some(&lane), index, out);
        fate
    }

    /// Emits held edits. If `is_looked_for`, children without lines are reported as missing.
    pub(crate) fn finish(&mut self, is_looked_for: bool, out: &mut Batch) {
        let mut missed = Vec::new();
        for (lane, child) in &mut self.sessions {
            let before = out.edits.len();
            child.decoder.finish(out);
            into_lane(before, lane, out);
            if is_looked_for && !child.has_lines && !std::mem::replace(&mut child.is_missed, true) {
                missed.push(lane.clone());
            }
        }
        for lane in missed {
            let mut entry = out.new_entry(missing_key(&lane), Role::Harness, None);
            let emitted = Break::Setting("the session of this sub-agent is not here".into());
            entry.push(emitted);
            entry.lane = Some(lane);
            out.entry(entry);
        }
    }
}

/// Emits the end of a sub-agent's work with its last answer. Its parent is notified later.
fn emit_end(json: &Json<'_>, lane: &Name, out: &mut Batch) {
    let message = json.get("message");
    let is_last = message.get("role").is("assistant") && message.get("stopReason").is("stop");
    let Some(id) = json.get("id").text().filter(|_| is_last) else {
        return;
    };
    let at = json.get("timestamp").moment();
    let update = Update {
        by: inside(Some(lane), id),
        at: at.or_else(|| message.get("timestamp").moment()),
        carrier: Carrier::Record,
        end: WorkEnd::from_word(None, None),
        reason: None,
    };
    let about = WorkReference::handle(lane.clone());
    let lane = None;
    out.update(about, update, lane);
}

fn missing_key(lane: &Name) -> Key {
    text!("no session of {lane}")
}

/// A short label, such as `subagent 3f2a81c0` for `agent:main:subagent:3f2a81c0-…`.
fn short(key: &Name) -> Text {
    let mut parts = key.rsplit(':');
    let id: String = parts.next().unwrap_or_default().chars().take(8).collect();
    text!("{} {id}", parts.next().unwrap_or_default())
}
