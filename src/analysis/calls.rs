//! Index of a session's calls by tool, arguments and time: percentiles of durations, parallel
//! calls, earlier calls with the same arguments.
//!
//! Invariant: the cost of a query about a call does not depend on the length of the session.

pub(crate) mod asking;
pub(crate) mod awaited;
pub(crate) mod durations;
pub mod everywhere;
pub mod flights;
pub(crate) mod lifecycle;
mod listing;
pub(crate) mod lookup;
pub mod pairing;
mod tools;

use std::collections::HashMap;
use std::num::NonZeroU64;

pub(crate) use self::tools::{CallSums, Outcome, Tool, Tools};
use super::derived::{Derived, Facts, Out};
use crate::model::body::{Body, Held};
use crate::model::entry::{Entry, EntryId};
use crate::model::fingerprint::hash_of;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{Clocked, Took, ToolCall, ToolKind};
use crate::model::transcript::Transcript;

/// Position of a block: an entry and the index of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The entry of the block.
    pub entry: EntryId,
    /// Index of the block in the entry.
    pub block: usize,
}

impl Place {
    /// A sort key in file order.
    pub(crate) fn file_order(self, transcript: &Transcript) -> (usize, usize) {
        (transcript.place_of(self.entry).unwrap_or(0), self.block)
    }

    /// The call at this position.
    pub(crate) fn call(self, transcript: &Transcript) -> Option<&ToolCall> {
        transcript.get(self.entry)?.call(self.block)
    }
}

/// Limit of earlier calls that are checked for overlap.
const LOOKED_AT: usize = 2_000;

/// Calls that ran in parallel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Overlaps {
    /// In the order of their starts, the latest first.
    pub(crate) calls: Vec<Place>,
    /// Whether there may be more.
    pub(crate) is_cut: bool,
}

/// Earlier calls of the same tool with the same arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    /// The latest first.
    pub(crate) calls: Vec<Place>,
    /// Whether the limit of calls was reached.
    pub(crate) is_cut: bool,
    /// Candidates whose arguments are on disk.
    pub(crate) unread: Vec<EntryId>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CallFacts {
    block: usize,
    name: Name,
    likeness: u64,
    /// Hash of its arguments; `None` if they are on disk and were never read.
    print: Option<NonZeroU64>,
    took: Option<Took>,
    outcome: Outcome,
    /// Size of the result in bytes.
    bytes: u64,
    starts_agent: bool,
    /// Whether it has work that continues after its result.
    is_detached: bool,
    span: Option<(i64, i64)>,
}

/// All calls, numbered from 0 in file order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calls {
    all: Vec<Place>,
    facts: Facts<CallFacts>,
    /// The number of the first call of each entry.
    firsts: HashMap<EntryId, usize>,
    pub(crate) tools: Tools,
    /// Calls that start sub-agents.
    delegates: Vec<Place>,
    /// Calls with work that continues after their results.
    pub(crate) detached: Vec<Place>,
    alike: HashMap<u64, Vec<usize>>,
    /// Start, number and end of calls, sorted by start.
    spans: Vec<(i64, usize, i64)>,
    longest: i64,
}

impl Derived for Calls {
    type Row = CallFacts;
    type Reads = ();
    const IS_OF_ROWS: bool = true;

    fn rows(
        _transcript: &Transcript,
        (_, entry): (EntryId, &Entry),
        before: &[CallFacts],
        out: &mut Out<'_, CallFacts>,
    ) {
        facts_of(entry, before).for_each(|known| out.push(known));
    }

    fn of(transcript: &Transcript, facts: &Facts<CallFacts>, _reads: &()) -> Self {
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
    /// The number of a call, and its facts.
    fn find(&self, place: Place) -> Option<(usize, &CallFacts)> {
        let (first, calls) = (self.firsts.get(&place.entry)?, self.facts.get(place.entry));
        let at = calls
            .binary_search_by_key(&place.block, |known| known.block)
            .ok()?;
        Some((first + at, calls.get(at)?))
    }

    // === queries ===

    /// The number of calls.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Whether the first and the last call were made on different days.
    pub(crate) fn are_of_days(&self) -> bool {
        let ends = self.spans.first().zip(self.spans.last());
        ends.is_some_and(|((first, ..), (last, ..))| {
            !Timestamp(*first).is_same_day(Timestamp(*last))
        })
    }

    /// The number of a call, from 1 in file order.
    pub(crate) fn number(&self, place: Place) -> Option<usize> {
        self.find(place).map(|(number, _)| number + 1)
    }

    /// Calls that ran in parallel with this one; at most `most`.
    pub(crate) fn overlaps(&self, place: Place, most: usize) -> Overlaps {
        let mut found = Overlaps::default();
        let Some((own, (from, to))) = self
            .find(place)
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

    /// Earlier calls with the same tool and arguments, as far as their arguments were read; checks
    /// at most `most`.
    pub(crate) fn earlier(&self, place: Place, most: usize) -> Earlier {
        let mut found = Earlier::default();
        let Some((own, known)) = self.find(place) else {
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
                self.find(*other).and_then(|(_, known)| known.print),
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

/// The facts of an entry's calls. `before` are the earlier facts, which may have hashes of
/// arguments that are on disk by now.
fn facts_of(entry: &Entry, before: &[CallFacts]) -> impl Iterator<Item = CallFacts> {
    // A copy of an entry has no calls of its own.
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
        CallFacts {
            block,
            name: call.name.clone(),
            likeness,
            print: print_of(&call.input).or_else(read),
            took: call.duration(entry.call_time(call)),
            outcome: Outcome::of(&call.state),
            bytes: call
                .state
                .result()
                .map_or(0, |result| u64::from(result.body.bytes)),
            is_detached: call.state.work().is_some(),
            starts_agent: call.kind == ToolKind::Delegate || call.lane.is_some(),
            span: lifetime_of(call, entry.call_time(call)).map(|(from, to)| (from.0, to.0)),
        }
    })
}

/// Start and end of a call including its work, if the timestamps are recorded.
pub(crate) fn lifetime_of(
    call: &ToolCall,
    said: Option<Timestamp>,
) -> Option<(Timestamp, Timestamp)> {
    if call.state.work().is_none() {
        return span_of(call, said);
    }
    let span = call.started.or(said).zip(call.state.result()?.ended());
    span.filter(|(from, to)| from <= to)
}

/// Start and end of a call up to its result, if the timestamps are recorded.
pub(crate) fn span_of(call: &ToolCall, said: Option<Timestamp>) -> Option<(Timestamp, Timestamp)> {
    let result = call.state.result()?;
    let (started, ended) = (call.started.or(said), result.at);
    if result.work.is_some() {
        // What follows the result is background work.
        return started.zip(ended).filter(|(from, to)| from <= to);
    }
    let took = call.duration(said)?;
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

/// Hash of what is always in memory of a call's arguments: equal for equal calls, and possibly for
/// different ones.
pub(crate) fn likeness_of(call: &ToolCall) -> u64 {
    let input = &call.input;
    hash_of(&(&call.name, &input.stub, input.bytes, input.lines))
}

/// Hash of a whole body; `None` if it is on disk.
pub(crate) fn print_of(input: &Body) -> Option<NonZeroU64> {
    let hash = match &input.held {
        Held::Stub => hash_of(&input.stub),
        Held::Text(text) => hash_of(text),
        Held::Tree(tree) => hash_of(tree),
        Held::OnDisk => return None,
    };
    NonZeroU64::new(hash).or(Some(NonZeroU64::MIN))
}

#[cfg(test)]
mod tests;
