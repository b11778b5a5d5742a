//! The messages of a stream that have been emitted. With them the summaries at the end of turns and
//! runs neither repeat nor lose a message.
//!
//! Invariant: the n-th message with an identity in a summary is the n-th one emitted with it. So
//! two prompts of the same millisecond remain two.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::record::Origin;

/// Identifies a message by role and time, and the call of a result; without a time by its content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct MessageIdentity {
    role: String,
    call: String,
    time: Option<i64>,
    content: u64,
}

impl MessageIdentity {
    /// The identity of a message, which may be incomplete.
    pub(crate) fn of(message: &Json<'_>) -> Self {
        let time = message.get("timestamp").moment().map(|at| at.0);
        Self {
            role: message.get("role").str_or_empty().to_owned(),
            call: message.get("toolCallId").str_or_empty().to_owned(),
            time,
            content: if time.is_some() { 0 } else { hash(message) },
        }
    }

    /// Whether a message that began with this identity may have the identity `whole` when complete.
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EmittedMessage {
    pub(crate) key: Key,
    /// The record that mentions it first.
    pub(crate) first: Origin,
    /// Whether it is complete.
    pub(crate) is_whole: bool,
}

#[derive(Debug, Default)]
pub struct KnownMessages {
    messages: HashMap<MessageIdentity, Vec<EmittedMessage>>,
    /// Complete messages with a time, also by content: an equal message is a repetition.
    contents: HashMap<(MessageIdentity, u64), EmittedMessage>,
    results: HashSet<Key>,
}

/// How many times a summary has had each identity so far.
#[derive(Debug, Default)]
pub(crate) struct IdentityCounts(HashMap<MessageIdentity, usize>);

impl IdentityCounts {
    /// Counts a message. Returns the number of earlier ones with this identity.
    pub(crate) fn count(&mut self, identity: &MessageIdentity) -> usize {
        let count = self.0.entry(identity.clone()).or_default();
        *count += 1;
        *count - 1
    }
}

impl KnownMessages {
    /// Begins a run: messages without a time in earlier runs no longer count.
    pub(crate) fn begin_run(&mut self) {
        self.messages.retain(|identity, _| identity.time.is_some());
    }

    /// Sets the identity of a message, in place of an earlier one if it had any.
    pub(crate) fn rename(
        &mut self,
        before: &MessageIdentity,
        identity: MessageIdentity,
        known: &EmittedMessage,
    ) {
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

    pub(crate) fn has(&self, identity: &MessageIdentity, known: &EmittedMessage) -> bool {
        self.messages
            .get(identity)
            .is_some_and(|same| same.iter().any(|other| other.key == known.key))
    }

    /// Marks a message as complete.
    pub(crate) fn complete(&mut self, message: &Json<'_>, known: &EmittedMessage) {
        let identity = MessageIdentity::of(message);
        let same = self.messages.get_mut(&identity).into_iter().flatten();
        same.filter(|other| other.key == known.key)
            .for_each(|other| other.is_whole = true);
        if identity.time.is_some() {
            self.contents
                .insert((identity, hash(message)), known.clone());
        }
    }

    /// An equal message that has a time and is complete.
    pub(crate) fn same(&self, message: &Json<'_>) -> Option<EmittedMessage> {
        self.contents
            .get(&(MessageIdentity::of(message), hash(message)))
            .cloned()
    }

    /// The next message of a summary, if it was emitted.
    pub(crate) fn next_in(
        &self,
        list: &mut IdentityCounts,
        identity: &MessageIdentity,
    ) -> Option<EmittedMessage> {
        let place = list.count(identity);
        self.messages.get(identity)?.get(place).cloned()
    }

    /// Records that the result of a call was sent as a message.
    pub(crate) fn result(&mut self, call: Key) {
        self.results.insert(call);
    }

    /// Whether the result of a call was sent as a message.
    pub(crate) fn has_result(&self, call: &Key) -> bool {
        self.results.contains(call)
    }
}
