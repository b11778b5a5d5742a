//! The calls of a session by tool, by arguments and by time, for what can be said of one of them: how it
//! compares with others of its tool, which ones ran meanwhile, which ones asked for the same before.
//!
//! Invariant: a question about a call costs as much in a long session as in a short one.

pub(crate) mod asking;
pub(crate) mod awaited;
pub(crate) mod durations;
pub mod flights;
pub(crate) mod lifecycle;
mod listing;
pub(crate) mod lookup;
pub mod pairing;
mod tools;

use std::collections::HashMap;
use std::num::NonZeroU64;

pub(crate) use self::tools::{Outcome, Tool, Tools};
use super::derived::{Derived, Facts, Out};
use crate::model::body::{Body, Held};
use crate::model::entry::{Entry, EntryId};
use crate::model::fingerprint::hash_of;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{Clocked, Took, ToolCall, ToolKind};
use crate::model::transcript::Transcript;

/// Where a block stands: a call, a text, what a reader goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The entry.
    pub entry: EntryId,
    /// Place of the block in it.
    pub block: usize,
}

impl Place {
    /// Where it stands in the order of the file.
    pub(crate) fn in_file(self, transcript: &Transcript) -> (usize, usize) {
        (transcript.place_of(self.entry).unwrap_or(0), self.block)
    }

    /// The call there.
    pub(crate) fn call(self, transcript: &Transcript) -> Option<&ToolCall> {
        transcript.get(self.entry)?.call(self.block)
    }
}

/// Calls that overlap are sought among so many that began before.
const LOOKED_AT: usize = 2_000;

/// Which calls ran at the same time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Overlaps {
    /// In the order in which they began, the latest first.
    pub(crate) calls: Vec<Place>,
    /// Whether there may be more.
    pub(crate) is_cut: bool,
}

/// Earlier calls of the same tool with the same arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    /// The latest first.
    pub(crate) calls: Vec<Place>,
    /// Whether only so many were looked at.
    pub(crate) is_cut: bool,
    /// Calls that look the same, but whose arguments are on disk.
    pub(crate) unread: Vec<EntryId>,
}

/// What is known of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    block: usize,
    name: Name,
    likeness: u64,
    /// A number for its arguments; nothing if they are on disk and were never read.
    print: Option<NonZeroU64>,
    took: Option<Took>,
    outcome: Outcome,
    /// Size of the result, in bytes.
    bytes: u64,
    starts_agent: bool,
    /// Whether work went on after its result.
    is_detached: bool,
    span: Option<(i64, i64)>,
}

/// The calls. Each is known by its number, from 0 on in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calls {
    all: Vec<Place>,
    /// What is known of them.
    facts: Facts<Known>,
    /// The number of the first call of each entry.
    firsts: HashMap<EntryId, usize>,
    pub(crate) tools: Tools,
    /// Calls that start sub-agents.
    delegates: Vec<Place>,
    /// Calls whose work went on after their results.
    pub(crate) detached: Vec<Place>,
    alike: HashMap<u64, Vec<usize>>,
    /// When calls began and ended, in the order of their beginnings.
    spans: Vec<(i64, usize, i64)>,
    longest: i64,
}

impl Derived for Calls {
    type Row = Known;
    type Reads = ();
    const IS_OF_ROWS: bool = true;

    fn rows(transcript: &Transcript, id: EntryId, before: &[Known], out: &mut Out<'_, Known>) {
        let entry = transcript.get(id).into_iter();
        entry
            .flat_map(|entry| known_of(entry, before))
            .for_each(|known| out.push(known));
    }

    fn of(transcript: &Transcript, facts: &Facts<Known>, _reads: &()) -> Self {
        let mut calls = Self {
            facts: facts.clone(),
            ..Self::default()
        };
        for (_, id, known) in facts
            .in_order(transcript)
            .filter(|(.., known)| !known.is_empty())
        {
            calls.firsts.insert(id, calls.all.len());
            for one in known {
                let (number, place) = (
                    calls.all.len(),
                    Place {
                        entry: id,
                        block: one.block,
                    },
                );
                calls.all.push(place);
                calls.alike.entry(one.likeness).or_default().push(number);
                calls.tools.add(place, one);
                if one.is_detached {
                    calls.detached.push(place);
                }
                if one.starts_agent {
                    calls.delegates.push(place);
                }
                if let Some((from, to)) = one.span {
                    calls.spans.push((from, number, to));
                    calls.longest = calls.longest.max(to - from);
                }
            }
        }
        calls.spans.sort_unstable();
        calls.tools.sort();
        calls
    }
}

impl Calls {
    /// The number of a call, and what is known of it.
    fn known(&self, place: Place) -> Option<(usize, &Known)> {
        let (first, calls) = (self.firsts.get(&place.entry)?, self.facts.get(place.entry));
        let at = calls
            .binary_search_by_key(&place.block, |known| known.block)
            .ok()?;
        Some((first + at, calls.get(at)?))
    }

    // === questions ===

    /// How many calls there are.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// The number of a call among all, from 1 in the order of the file.
    pub(crate) fn number(&self, place: Place) -> Option<usize> {
        self.known(place).map(|(number, _)| number + 1)
    }

    /// Calls that ran while this one did; at most `most`.
    pub(crate) fn overlaps(&self, place: Place, most: usize) -> Overlaps {
        let mut found = Overlaps::default();
        let Some((own, (from, to))) = self
            .known(place)
            .and_then(|(own, known)| Some((own, known.span?)))
        else {
            return found;
        };
        let end = self.spans.partition_point(|(start, ..)| *start < to);
        let before_its_end = self.spans.get(..end).unwrap_or_default().iter().rev();
        for (looked_at, (start, number, end)) in before_its_end.enumerate() {
            if *start < from.saturating_sub(self.longest) {
                return found;
            }
            if looked_at >= LOOKED_AT || found.calls.len() > most {
                found.is_cut = true;
                found.calls.truncate(most);
                return found;
            }
            if *number != own && *end > from {
                found.calls.extend(self.all.get(*number));
            }
        }
        found.is_cut = found.calls.len() > most;
        found.calls.truncate(most);
        found
    }

    /// Calls before this one that asked the same tool for the same, as far as their arguments were read; at most
    /// `most` are looked at.
    pub(crate) fn earlier(&self, place: Place, most: usize) -> Earlier {
        let mut found = Earlier::default();
        let Some((own, known)) = self.known(place) else {
            return found;
        };
        let alike = self
            .alike
            .get(&known.likeness)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let before = alike
            .get(..alike.partition_point(|number| *number < own))
            .unwrap_or_default();
        let before = before
            .iter()
            .rev()
            .filter_map(|number| self.all.get(*number));
        found.is_cut = before.clone().nth(most).is_some();
        for other in before.take(most) {
            match (
                known.print,
                self.known(*other).and_then(|(_, known)| known.print),
            ) {
                (Some(print), Some(other_print)) if print == other_print => {
                    found.calls.push(*other);
                }
                (Some(_), Some(_)) => {}
                (None, _) | (_, None) => found.unread.push(other.entry),
            }
        }
        if known.print.is_none() && !found.unread.is_empty() {
            found.unread.push(place.entry);
        }
        found
    }
}

/// The calls of an entry. `before` is what was known of them.
fn known_of(entry: &Entry, before: &[Known]) -> impl Iterator<Item = Known> {
    // A copy of an entry is no call of its own.
    let calls = entry.numbered_calls().filter(|_| !entry.marks.copy);
    calls.map(|(block, call)| {
        let likeness = likeness_of(call);
        let read = || {
            let known = before.get(
                before
                    .binary_search_by_key(&block, |known| known.block)
                    .ok()?,
            )?;
            Some(known)
                .filter(|known| known.likeness == likeness)?
                .print
        };
        Known {
            block,
            name: call.name.clone(),
            likeness,
            print: print_of(&call.input).or_else(read),
            took: call.took(entry.said(call)),
            outcome: Outcome::of(&call.state),
            bytes: call
                .state
                .result()
                .map_or(0, |result| u64::from(result.body.bytes)),
            is_detached: call.state.work().is_some(),
            starts_agent: call.kind == ToolKind::Delegate || call.lane.is_some(),
            span: life_of(call, entry.said(call)).map(|(from, to)| (from.0, to.0)),
        }
    })
}

/// From when to when a call ran, with the work that went on after its result, as far as its times say.
pub(crate) fn life_of(call: &ToolCall, said: Option<Timestamp>) -> Option<(Timestamp, Timestamp)> {
    if call.state.work().is_none() {
        return span_of(call, said);
    }
    let span = call.started.or(said).zip(call.state.result()?.ended());
    span.filter(|(from, to)| from <= to)
}

/// From when to when a call ran until its result came, as far as its times say.
pub(crate) fn span_of(call: &ToolCall, said: Option<Timestamp>) -> Option<(Timestamp, Timestamp)> {
    let result = call.state.result()?;
    let (started, ended) = (call.started.or(said), result.at);
    if result.work.is_some() {
        // What goes on after that is in the background.
        return started.zip(ended).filter(|(from, to)| from <= to);
    }
    let took = call.took(said)?;
    let ms = i64::try_from(took.ms).ok()?;
    match (started, ended) {
        (Some(from), Some(to)) if from <= to => Some((from, to)),
        (Some(from), None) if took.by == Clocked::Measured => {
            Some((from, Timestamp(from.0.checked_add(ms)?)))
        }
        (_, Some(to)) if took.by == Clocked::Measured => {
            Some((Timestamp(to.0.checked_sub(ms)?), to))
        }
        _ => None,
    }
}

/// A number for a call, the same for calls that may be the same: made of what is always in memory of their
/// arguments.
pub(crate) fn likeness_of(call: &ToolCall) -> u64 {
    let input = &call.input;
    hash_of(&(&call.name, &input.stub, input.bytes, input.lines))
}

/// A number for the whole of a body; nothing if that is on disk.
pub(crate) fn print_of(input: &Body) -> Option<NonZeroU64> {
    let hash = match &input.held {
        Held::Stub => hash_of(&input.stub),
        Held::Text(text) => hash_of(text),
        Held::Tree(tree) => hash_of(tree),
        Held::Away => return None,
    };
    NonZeroU64::new(hash).or(Some(NonZeroU64::MIN))
}

#[cfg(test)]
mod tests;
