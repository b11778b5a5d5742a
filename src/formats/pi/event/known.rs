//! Which messages a stream has brought, so that the summaries at the end of turns and runs add nothing
//! twice and lose nothing.
//!
//! Invariant: the n-th message of a summary with one identity is the n-th that came with it. So two prompts
//! of the same millisecond stay two.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::record::Origin;

/// What distinguishes messages: role and time, and the call of a result; without a time the content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    role: String,
    call: String,
    time: Option<i64>,
    content: u64,
}

impl Identity {
    /// Of a message, whole or in part.
    pub(crate) fn of(message: &Json<'_>) -> Self {
        let time = message.get("timestamp").moment().map(|at| at.0);
        Self {
            role: message.get("role").str_or_empty().to_owned(),
            call: message.get("toolCallId").str_or_empty().to_owned(),
            time,
            content: if time.is_some() { 0 } else { hash(message) },
        }
    }

    /// Whether a message that was begun with this identity may have the other one when it is complete.
    pub(crate) fn may_be(&self, whole: &Self) -> bool {
        let same_time = self.time == whole.time || self.time.is_none() || whole.time.is_none();
        self.role.is_empty() || (self.role == whole.role && self.call == whole.call && same_time)
    }
}

fn hash(message: &Json<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    message.get("content").to_source().hash(&mut hasher);
    hasher.finish()
}

/// A message that was emitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// Its key.
    pub(crate) key: Key,
    /// The record that mentioned it first.
    pub(crate) first: Origin,
    /// Whether it came to its end.
    pub(crate) is_whole: bool,
}

/// All messages that were emitted.
#[derive(Debug, Default)]
pub struct KnownMessages {
    messages: HashMap<Identity, Vec<Known>>,
    /// Complete messages with a time, by their content too: an equal one is the same, repeated.
    contents: HashMap<(Identity, u64), Known>,
    results: HashSet<Key>,
}

/// How often a summary has named each identity so far.
#[derive(Debug, Default)]
pub(crate) struct List(HashMap<Identity, usize>);

impl List {
    /// Counts a message, and says how many there were before it.
    pub(crate) fn see(&mut self, identity: &Identity) -> usize {
        let count = self.0.entry(identity.clone()).or_default();
        *count += 1;
        *count - 1
    }
}

impl KnownMessages {
    /// A new run: messages without a time are not those of the run before.
    pub(crate) fn begin_run(&mut self) {
        self.messages.retain(|identity, _| identity.time.is_some());
    }

    /// A message has another identity than before, or a first one.
    pub(crate) fn rename(&mut self, before: &Identity, identity: Identity, known: &Known) {
        if *before == identity && self.has(&identity, known) {
            return;
        }
        if let Some(same) = self.messages.get_mut(before) {
            same.retain(|other| other.key != known.key);
        }
        self.messages
            .entry(identity)
            .or_default()
            .push(known.clone());
    }

    /// Whether the message came with this identity.
    pub(crate) fn has(&self, identity: &Identity, known: &Known) -> bool {
        self.messages
            .get(identity)
            .is_some_and(|same| same.iter().any(|other| other.key == known.key))
    }

    /// A message came to its end.
    pub(crate) fn complete(&mut self, message: &Json<'_>, known: &Known) {
        let identity = Identity::of(message);
        let same = self.messages.get_mut(&identity).into_iter().flatten();
        same.filter(|other| other.key == known.key)
            .for_each(|other| other.is_whole = true);
        if identity.time.is_some() {
            self.contents
                .insert((identity, hash(message)), known.clone());
        }
    }

    /// An equal message with a time that came to its end.
    pub(crate) fn same(&self, message: &Json<'_>) -> Option<Known> {
        self.contents
            .get(&(Identity::of(message), hash(message)))
            .cloned()
    }

    /// The next message of a summary, if it is known.
    pub(crate) fn next_in(&self, list: &mut List, identity: &Identity) -> Option<Known> {
        let place = list.see(identity);
        self.messages.get(identity)?.get(place).cloned()
    }

    /// The result of a call came in a message of its own.
    pub(crate) fn result(&mut self, call: Key) {
        self.results.insert(call);
    }

    /// Whether it was.
    pub(crate) fn has_result(&self, call: &Key) -> bool {
        self.results.contains(call)
    }
}
