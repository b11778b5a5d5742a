//! Sub-agents: who started whom.
//!
//! Invariant: lanes may name each other in a circle if a file lies; each is shown once.

use std::collections::{HashMap, HashSet};

use super::Transcript;
use crate::model::body::Key;
use crate::model::entry::EntryId;
use crate::model::meta::{LaneFacts, Share};
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;

/// All sub-agents. There may be thousands, so they are found by name and by call without a search.
#[derive(Clone, Debug, Default)]
pub(super) struct Lanes {
    list: Vec<LaneFacts>,
    by_name: HashMap<Name, usize>,
    /// Places in the list, in its order.
    by_call: HashMap<Key, Vec<usize>>,
}

impl Lanes {
    /// The sub-agent with this name.
    pub(super) fn get(&self, name: &Name) -> Option<&LaneFacts> {
        self.list.get(*self.by_name.get(name)?)
    }

    /// The sub-agent with this name, made if it is new.
    pub(super) fn of(&mut self, name: &Name) -> &mut LaneFacts {
        let place = *self.by_name.entry(name.clone()).or_insert_with(|| {
            self.list.push(LaneFacts {
                name: name.clone(),
                label: name.clone(),
                call: None,
                is_helper: false,
                is_session: false,
                root: None,
                same: None,
                shares: Vec::new(),
                heard: None,
                entries: Vec::new(),
            });
            self.list.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "the place was just found or made")]
        &mut self.list[place]
    }

    /// Something was heard of a sub-agent then.
    pub(super) fn hear(&mut self, name: Option<&Name>, at: Option<Timestamp>) {
        let known = name.and_then(|name| self.list.get_mut(*self.by_name.get(name)?));
        if let Some(lane) = known {
            lane.heard = lane.heard.max(at);
        }
    }

    /// Which of several sessions a lane belongs to, with its number: the names of its lanes begin with its own.
    pub(super) fn session_of(&self, lane: &Name) -> Option<(usize, &LaneFacts)> {
        let sessions = self.list.iter().take_while(|lane| lane.is_session);
        let is_of = |session: &LaneFacts| {
            lane.strip_prefix(session.name.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        sessions.enumerate().find(|(_, session)| is_of(session))
    }

    /// The session whose agent somebody speaks to in a lane; the only one in the main lane.
    pub(super) fn spoken_to(&self, lane: Option<&Name>) -> Option<usize> {
        let Some(lane) = lane else { return Some(0) };
        self.session_of(lane)
            .filter(|(_, session)| session.name == *lane)
            .map(|(number, _)| number)
    }

    /// Whether these are the same sub-agents, whatever their entries are.
    pub(super) fn are_same(&self, other: &Self) -> bool {
        let facts = |lane: &LaneFacts| {
            let names = (lane.name.clone(), lane.label.clone(), lane.call.clone());
            (
                names,
                lane.is_helper,
                lane.is_session,
                lane.root.clone(),
                lane.same,
                lane.shares.clone(),
            )
        };
        self.list.iter().map(facts).eq(other.list.iter().map(facts))
    }

    /// Takes in that a lane serves the session. Answers whether that is new.
    pub(super) fn note_helper(&mut self, name: &Name) -> bool {
        !std::mem::replace(&mut self.of(name).is_helper, true)
    }

    /// Takes in that a lane is a session by itself, and what is known of it: its name, where it began, which other one
    /// tells of the same requests, and what it has of older ones. Answers whether any is new.
    pub(super) fn note_session(
        &mut self,
        name: &Name,
        label: Text,
        root: Option<Text>,
        (same, shares): (Option<usize>, Vec<Share>),
    ) -> bool {
        let lane = self.of(name);
        let before = (
            lane.is_session,
            &lane.label,
            &lane.root,
            lane.same,
            &lane.shares,
        );
        let is_new = before != (true, &label, &root, same, &shares);
        (lane.is_session, lane.label, lane.root) = (true, label, root);
        (lane.same, lane.shares) = (same, shares);
        is_new
    }

    /// Takes in what is known of a sub-agent. Answers whether it is another one now, or belongs elsewhere.
    pub(super) fn note(&mut self, name: &Name, label: Option<Text>, call: Option<Key>) -> bool {
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

/// A key of one of several sessions, by its number: what two of them call the same is told apart.
pub(crate) fn key_of_session(key: &Key, session: u32) -> Key {
    Text::clean(&format!("{key}~{}", session + 1))
}

/// The same key as its file has it.
pub(crate) fn recorded_key(key: &str, is_joined: bool) -> &str {
    let own = key.rsplit_once('~').filter(|_| is_joined);
    own.map_or(key, |(own, _)| own)
}

impl Transcript {
    /// A key of an entry or a call as its file has it.
    pub(crate) fn recorded_key<'k>(&self, key: &'k str) -> &'k str {
        recorded_key(key, self.is_joined())
    }

    /// The sub-agents.
    pub fn lanes(&self) -> &[LaneFacts] {
        &self.lanes.list
    }

    /// The sub-agent whose entries carry this name.
    pub fn lane(&self, name: &Name) -> Option<&LaneFacts> {
        self.lanes.get(name)
    }

    /// Whether somebody speaks to the agent of a lane: to the main one, or to that of one of several sessions.
    pub(crate) fn is_spoken_to(&self, lane: Option<&Name>) -> bool {
        self.lanes.spoken_to(lane).is_some()
    }

    /// Which of several sessions an entry belongs to, with its number; none if there is only one.
    pub(crate) fn session_of(&self, id: EntryId) -> Option<(usize, &LaneFacts)> {
        self.session_of_lane(self.lane_at(id)?)
    }

    /// Which of several sessions a lane belongs to, with its number; none if there is only one.
    pub(crate) fn session_of_lane(&self, lane: &Name) -> Option<(usize, &LaneFacts)> {
        self.lanes.session_of(lane)
    }

    /// The lane of those to whom somebody speaks that an entry belongs to: the main one, or that of its session.
    pub(crate) fn main_lane_of(&self, id: EntryId) -> Option<&Name> {
        self.session_of(id).map(|(_, session)| &session.name)
    }

    /// Which of several sessions has this key; none if there is only one.
    pub(crate) fn session_of_key(&self, key: &Key) -> Option<usize> {
        self.ledger.session_of(key)
    }

    /// Whether several sessions are read as one.
    pub(crate) fn is_joined(&self) -> bool {
        self.lanes().first().is_some_and(|lane| lane.is_session)
    }

    /// The sub-agents that a call started, in the order in which they were recorded.
    pub(crate) fn lanes_of_call(&self, call: &Key) -> impl Iterator<Item = &LaneFacts> {
        let places = self.lanes.by_call.get(call).filter(|_| !call.is_empty());
        places
            .into_iter()
            .flatten()
            .filter_map(|place| self.lanes.list.get(*place))
    }

    /// The sub-agents that a call of an entry started. What repeats the call started none.
    pub(crate) fn lanes_begun<'a>(
        &'a self,
        id: EntryId,
        call: &Key,
    ) -> impl Iterator<Item = &'a LaneFacts> {
        self.lanes_of_call(call)
            .filter(move |lane| self.caller(lane) == Some(id))
    }

    /// The sub-agent that a call started; the first one, if there are several.
    pub fn lane_of_call(&self, call: &Key) -> Option<&LaneFacts> {
        self.lanes_of_call(call).next()
    }

    /// The entry with the call that started a sub-agent. Its own file may repeat the call, and so may others: the main
    /// agent's is meant if it has it, and never the sub-agent's own.
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

    /// When a sub-agent began, by what it says itself if it says anything.
    pub(crate) fn lane_began(&self, lane: &LaneFacts) -> Option<Timestamp> {
        let entries = || lane.entries.iter().filter_map(|id| self.get(*id));
        let own = entries()
            .filter(|entry| !entry.is_beside())
            .find_map(|entry| entry.at);
        own.or_else(|| entries().find_map(|entry| entry.at))
    }

    /// The sub-agent that started this one; none if the main agent of a session did, or nobody knows.
    pub(crate) fn parent_lane(&self, lane: &LaneFacts) -> Option<&LaneFacts> {
        let name = self.lane_at(self.caller(lane)?)?;
        self.lane(name)
            .filter(|parent| parent.name != lane.name && !parent.is_session)
    }

    /// The entry of the main lane that a sub-agent goes back to, over all that lie between.
    pub(crate) fn root_caller(&self, lane: &LaneFacts) -> Option<EntryId> {
        self.caller(self.top_lane(lane)?)
    }

    /// The sub-agent of the main lane that this one goes back to, over all that lie between; itself, if the main agent
    /// started it, or nobody knows who did. None if they started each other in a circle.
    pub(crate) fn top_lane<'a>(&'a self, lane: &'a LaneFacts) -> Option<&'a LaneFacts> {
        let mut at = lane;
        // More steps than sub-agents would go in a circle.
        for _ in self.lanes() {
            match self.parent_lane(at) {
                Some(parent) => at = parent,
                None => return Some(at),
            }
        }
        None
    }

    /// A sub-agent and all that it started, and they.
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
                // An id that repeats belongs to the first call that has it.
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
