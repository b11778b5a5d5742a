//! Lanes of sub-agents, and the calls that started them.
//!
//! Invariant: lanes may form a cycle in a damaged file; each is shown once.

use std::collections::{HashMap, HashSet};

use super::Transcript;
use crate::model::body::Key;
use crate::model::entry::EntryId;
use crate::model::meta::{LaneFacts, RepeatedRequests};
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;

/// All lanes. There may be thousands, so there are indexes by name and by call.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneTable {
    list: Vec<LaneFacts>,
    by_name: HashMap<Name, usize>,
    /// Indexes into the list, in its order.
    by_call: HashMap<Key, Vec<usize>>,
}

impl LaneTable {
    pub(super) fn get(&self, name: &Name) -> Option<&LaneFacts> {
        self.list.get(*self.by_name.get(name)?)
    }

    /// The lane with this name, created if it is new.
    pub(super) fn of(&mut self, name: &Name) -> &mut LaneFacts {
        let place = *self.by_name.entry(name.clone()).or_insert_with(|| {
            self.list.push(LaneFacts {
                name: name.clone(),
                label: name.clone(),
                call: None,
                is_helper: false,
                is_session: false,
                root: None,
                duplicate_of: None,
                shares: Vec::new(),
                last_time: None,
                entries: Vec::new(),
            });
            self.list.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "the place was just found or made")]
        &mut self.list[place]
    }

    pub(super) fn update_last_time(&mut self, name: Option<&Name>, at: Option<Timestamp>) {
        let known = name.and_then(|name| self.list.get_mut(*self.by_name.get(name)?));
        if let Some(lane) = known {
            lane.last_time = lane.last_time.max(at);
        }
    }

    /// The joined session of a lane, and its number: lane names begin with the name of their
    /// session.
    pub(super) fn session_of(&self, lane: &Name) -> Option<(usize, &LaneFacts)> {
        let sessions = self.list.iter().take_while(|lane| lane.is_session);
        let is_of = |session: &LaneFacts| {
            lane.strip_prefix(session.name.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        sessions.enumerate().find(|(_, session)| is_of(session))
    }

    /// Number of the joined session whose main agent this lane is; 0 for the main lane.
    pub(super) fn session_of_main_agent(&self, lane: Option<&Name>) -> Option<usize> {
        let Some(lane) = lane else { return Some(0) };
        self.session_of(lane)
            .filter(|(_, session)| session.name == *lane)
            .map(|(number, _)| number)
    }

    /// Whether the lanes are equal, apart from their entries.
    pub(super) fn are_same(&self, other: &Self) -> bool {
        let facts = |lane: &LaneFacts| {
            let names = (lane.name.clone(), lane.label.clone(), lane.call.clone());
            (
                names,
                lane.is_helper,
                lane.is_session,
                lane.root.clone(),
                lane.duplicate_of,
                lane.shares.clone(),
            )
        };
        self.list.iter().map(facts).eq(other.list.iter().map(facts))
    }

    /// Marks a lane as a helper. Returns whether that is new.
    pub(super) fn mark_helper(&mut self, name: &Name) -> bool {
        !std::mem::replace(&mut self.of(name).is_helper, true)
    }

    /// Marks a lane as a joined session, with its label, its folder, the session that records the
    /// same requests, and its shares of older sessions. Returns whether anything changed.
    pub(super) fn mark_session(
        &mut self,
        name: &Name,
        label: Text,
        root: Option<Text>,
        (same, shares): (Option<usize>, Vec<RepeatedRequests>),
    ) -> bool {
        let lane = self.of(name);
        let before = (
            lane.is_session,
            &lane.label,
            &lane.root,
            lane.duplicate_of,
            &lane.shares,
        );
        let is_new = before != (true, &label, &root, same, &shares);
        (lane.is_session, lane.label, lane.root) = (true, label, root);
        (lane.duplicate_of, lane.shares) = (same, shares);
        is_new
    }

    /// Updates label and call of a lane. Returns whether anything changed.
    pub(super) fn update(&mut self, name: &Name, label: Option<Text>, call: Option<Key>) -> bool {
        let lane = self.of(name);
        let is_new = label.as_ref().is_some_and(|label| lane.label != *label)
            || call
                .as_ref()
                .is_some_and(|call| lane.call.as_ref() != Some(call));
        if let Some(label) = label {
            lane.label = label;
        }
        let Some(call) = call else { return is_new };
        let before = lane.call.replace(call.clone());
        if before.as_ref() != Some(&call)
            && let Some(place) = self.by_name.get(name).copied()
        {
            if let Some(places) = before.and_then(|before| self.by_call.get_mut(&before)) {
                places.retain(|known| *known != place);
            }
            let places = self.by_call.entry(call).or_default();
            places.insert(places.partition_point(|known| *known < place), place);
        }
        is_new
    }
}

/// The key with the number of a joined session appended: keys of different sessions may be equal.
pub(crate) fn key_of_session(key: &Key, session: u32) -> Key {
    Text::clean(&format!("{key}~{}", session + 1))
}

/// The key as recorded in its file.
pub(crate) fn recorded_key(key: &str, is_joined: bool) -> &str {
    let own = key.rsplit_once('~').filter(|_| is_joined);
    own.map_or(key, |(own, _)| own)
}

impl Transcript {
    /// The key of an entry or call as recorded in its file.
    pub(crate) fn recorded_key<'k>(&self, key: &'k str) -> &'k str {
        recorded_key(key, self.is_joined())
    }

    /// All lanes of sub-agents.
    pub fn lanes(&self) -> &[LaneFacts] {
        &self.lanes.list
    }

    pub fn lane(&self, name: &Name) -> Option<&LaneFacts> {
        self.lanes.get(name)
    }

    /// Whether a lane is the main lane, or that of a joined session.
    pub(crate) fn is_main_lane(&self, lane: Option<&Name>) -> bool {
        self.lanes.session_of_main_agent(lane).is_some()
    }

    /// The joined session of an entry, and its number; `None` if there is only one session.
    pub(crate) fn session_of(&self, id: EntryId) -> Option<(usize, &LaneFacts)> {
        self.session_of_lane(self.lane_at(id)?)
    }

    /// The joined session of a lane, and its number; `None` if there is only one session.
    pub(crate) fn session_of_lane(&self, lane: &Name) -> Option<(usize, &LaneFacts)> {
        self.lanes.session_of(lane)
    }

    /// The main lane of an entry: `None`, or the lane of its joined session.
    pub(crate) fn main_lane_of(&self, id: EntryId) -> Option<&Name> {
        self.session_of(id).map(|(_, session)| &session.name)
    }

    /// The lanes of the joined sessions; none if there is only one session.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = &LaneFacts> {
        self.lanes().iter().take_while(|lane| lane.is_session)
    }

    /// Columns for the number of a joined session; 0 if there is only one session.
    pub(crate) fn sessions_width(&self) -> usize {
        match self.sessions().count() {
            0 => 0,
            sessions => sessions.to_string().len(),
        }
    }

    /// The folder in which the agent began whose entry this is.
    pub(crate) fn root_of(&self, id: EntryId) -> Option<&Text> {
        match self.session_of(id) {
            Some((_, session)) => session.root.as_ref(),
            None => self.meta().root.as_ref(),
        }
    }

    /// Number of the joined session with this key; `None` if there is only one session.
    pub(crate) fn session_of_key(&self, key: &Key) -> Option<usize> {
        self.ledger.session_of(key)
    }

    /// Whether several sessions are joined.
    pub(crate) fn is_joined(&self) -> bool {
        self.lanes().first().is_some_and(|lane| lane.is_session)
    }

    /// The lanes of the sub-agents that a call started, in recorded order.
    pub(crate) fn lanes_of_call(&self, call: &Key) -> impl Iterator<Item = &LaneFacts> {
        let places = self.lanes.by_call.get(call).filter(|_| !call.is_empty());
        places
            .into_iter()
            .flatten()
            .filter_map(|place| self.lanes.list.get(*place))
    }

    /// The lanes of the sub-agents that a call of an entry started; empty for a copy of the call.
    pub(crate) fn lanes_begun<'a>(
        &'a self,
        id: EntryId,
        call: &Key,
    ) -> impl Iterator<Item = &'a LaneFacts> {
        self.lanes_of_call(call)
            .filter(move |lane| self.caller(lane) == Some(id))
    }

    /// The lane of the first sub-agent that a call started.
    pub fn lane_of_call(&self, call: &Key) -> Option<&LaneFacts> {
        self.lanes_of_call(call).next()
    }

    /// The entry with the call that started a sub-agent. Several files may repeat the call: the
    /// main agent's entry is preferred, and never the sub-agent's own.
    pub(crate) fn caller(&self, lane: &LaneFacts) -> Option<EntryId> {
        let entries = self.entries_with_call(lane.call.as_ref()?);
        let first = entries
            .first()
            .filter(|_| entries.len() == 1 || self.is_joined());
        let main = first.or_else(|| entries.iter().find(|id| self.lane_at(**id).is_none()));
        let caller = main.or_else(|| {
            entries
                .iter()
                .find(|id| self.lane_at(**id) != Some(&lane.name))
        });
        caller
            .copied()
            .filter(|id| self.lane_at(*id) != Some(&lane.name))
    }

    /// Start of a sub-agent, from its own records if they have timestamps.
    pub(crate) fn lane_began(&self, lane: &LaneFacts) -> Option<Timestamp> {
        let entries = || lane.entries.iter().filter_map(|id| self.get(*id));
        let own = entries()
            .filter(|entry| !entry.is_aside())
            .find_map(|entry| entry.at);
        own.or_else(|| entries().find_map(|entry| entry.at))
    }

    /// The lane of the sub-agent that started this one; `None` if the main agent of a session did,
    /// or it is unknown.
    pub(crate) fn parent_lane(&self, lane: &LaneFacts) -> Option<&LaneFacts> {
        let name = self.lane_at(self.caller(lane)?)?;
        self.lane(name)
            .filter(|parent| parent.name != lane.name && !parent.is_session)
    }

    /// The entry of the main lane from which a sub-agent descends.
    pub(crate) fn root_caller(&self, lane: &LaneFacts) -> Option<EntryId> {
        self.caller(self.top_lane(lane)?)
    }

    /// The top-level ancestor of a lane; the lane itself if the main agent started it, or that is
    /// unknown. `None` if the lanes form a cycle.
    pub(crate) fn top_lane<'a>(&'a self, lane: &'a LaneFacts) -> Option<&'a LaneFacts> {
        let mut at = lane;
        // More steps than there are lanes mean a cycle.
        for _ in self.lanes() {
            match self.parent_lane(at) {
                Some(parent) => at = parent,
                None => return Some(at),
            }
        }
        None
    }

    /// A lane and all its descendants.
    pub fn with_nested<'a>(&'a self, lane: &'a LaneFacts) -> Vec<&'a LaneFacts> {
        let mut found = vec![lane];
        let mut seen = HashSet::from([&lane.name]);
        let mut next = 0;
        while let Some(above) = found.get(next).copied() {
            let callers = above
                .entries
                .iter()
                .filter_map(|id| Some((*id, self.get(*id)?)));
            for (id, call) in
                callers.flat_map(|(id, entry)| entry.calls().map(move |call| (id, call)))
            {
                // A repeated id belongs to the first call that has it.
                let begun = self
                    .lanes_of_call(&call.key)
                    .filter(|lane| self.caller(lane) == Some(id));
                found.extend(begun.filter(|lane| seen.insert(&lane.name)));
            }
            next += 1;
        }
        found
    }
}
