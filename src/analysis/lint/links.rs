//! Cache of the parent links of records, for chains that are too long to be followed each time.
//!
//! Invariant: each record is visited once, whatever the links are; cycles are found once.

use std::collections::{HashMap, HashSet};

use crate::model::entry::Role;
use crate::model::fingerprint::Print;
use crate::model::transcript::Transcript;

/// What the links of a record lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Above {
    Rooted(RootedRecord),
    /// A record that is missing.
    Broken(Print),
    Circle,
}

/// A record whose links lead to a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RootedRecord {
    /// Number of links to the root.
    depth: u32,
    parent: Option<Print>,
    /// An ancestor, chosen so that a chain of n links takes about log n steps.
    jump: Print,
    pub(super) root: Print,
    /// The nearest record with a user message, including this one.
    last_user_message: Option<Print>,
}

impl RootedRecord {
    fn root(transcript: &Transcript, record: Print) -> Self {
        let said = has_user_message(transcript, record).then_some(record);
        Self {
            depth: 0,
            parent: None,
            jump: record,
            root: record,
            last_user_message: said,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct LinkCache {
    cache: HashMap<Print, Above>,
    /// Counter of link changes at which the cache is valid.
    relinked: u32,
}

impl LinkCache {
    /// Follows the links of a record. Adds the number of steps to `work`.
    pub(super) fn trace_to_root(
        &mut self,
        transcript: &Transcript,
        record: Print,
        work: &mut usize,
    ) -> Above {
        if self.relinked != transcript.relinked() {
            *self = Self {
                relinked: transcript.relinked(),
                ..Self::default()
            };
        }
        let mut way = Vec::new();
        let mut on_way = HashSet::new();
        let mut at = record;
        let mut above = loop {
            *work += 1;
            match self.cache.get(&at) {
                Some(Above::Broken(missing)) if transcript.parent_of(*missing).is_some() => {}
                Some(known) => break *known,
                None => {}
            }
            if !on_way.insert(at) {
                break Above::Circle;
            }
            match transcript.parent_of(at) {
                None => break Above::Broken(at),
                Some(parent) => {
                    way.push((at, parent));
                    let Some(parent) = parent else {
                        break Above::Circle;
                    };
                    at = parent;
                }
            }
        };
        while let Some((record, parent)) = way.pop() {
            above = match (above, parent) {
                (_, None) => Above::Rooted(RootedRecord::root(transcript, record)),
                (Above::Rooted(rooted), Some(parent)) => {
                    Above::Rooted(self.rooted_below(transcript, record, parent, rooted))
                }
                (other, Some(_)) => other,
            };
            self.cache.insert(record, above);
        }
        above
    }

    fn rooted_below(
        &self,
        transcript: &Transcript,
        record: Print,
        parent: Print,
        above: RootedRecord,
    ) -> RootedRecord {
        let depth = |print: Print| self.rooted(print).map_or(0, |rooted| rooted.depth);
        let far = self
            .rooted(above.jump)
            .map_or(above.jump, |rooted| rooted.jump);
        // Two jumps of the same length are joined into one of twice the length.
        let is_twice = above.depth - depth(above.jump) == depth(above.jump) - depth(far);
        let jump = if is_twice { far } else { parent };
        let said = if has_user_message(transcript, record) {
            Some(record)
        } else {
            above.last_user_message
        };
        RootedRecord {
            depth: above.depth + 1,
            parent: Some(parent),
            jump,
            root: above.root,
            last_user_message: said,
        }
    }

    fn rooted(&self, record: Print) -> Option<RootedRecord> {
        match self.cache.get(&record) {
            Some(Above::Rooted(rooted)) => Some(*rooted),
            _ => None,
        }
    }

    /// Whether one record is an ancestor of another. Both must have been passed to [`Self::trace_to_root`].
    pub(super) fn is_ancestor(&self, upper: Print, lower: Print, work: &mut usize) -> bool {
        let (Some(goal), Some(mut at)) = (self.rooted(upper), self.rooted(lower)) else {
            return false;
        };
        let mut here = lower;
        while at.depth > goal.depth {
            *work += 1;
            let jump = self.rooted(at.jump).filter(|jump| jump.depth >= goal.depth);
            here = if jump.is_some() {
                at.jump
            } else {
                at.parent.unwrap_or(at.root)
            };
            let Some(next) = self.rooted(here) else {
                return false;
            };
            at = next;
        }
        here == upper && lower != upper
    }

    /// The nearest records with user messages between a record and its ancestor, at most `most`.
    pub(super) fn user_messages_between(
        &self,
        upper: Print,
        lower: Print,
        most: usize,
    ) -> Vec<Print> {
        let end = self.rooted(upper).map_or(0, |rooted| rooted.depth);
        let above = |record: Print| {
            self.rooted(record)?
                .parent
                .and_then(|parent| self.rooted(parent)?.last_user_message)
        };
        let first = above(lower);
        let chain = std::iter::successors(first, |said| above(*said));
        chain
            .take_while(|said| self.rooted(*said).is_some_and(|rooted| rooted.depth > end))
            .take(most)
            .collect()
    }
}

pub(super) fn has_user_message(transcript: &Transcript, record: Print) -> bool {
    let id = transcript.find_print(record).filter(|id| {
        transcript
            .marks(*id)
            .is_some_and(|marks| marks.prompt && !marks.copy)
    });
    id.and_then(|id| transcript.get(id))
        .is_some_and(|entry| entry.role == Role::User)
}
