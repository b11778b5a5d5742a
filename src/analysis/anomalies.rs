//! Anomalies of a session as a whole: broken links, unpaired calls and results, decreasing
//! timestamps. Each kind is listed once, with its count and the first record.

use std::collections::{HashMap, HashSet};

use super::calls::awaited::Awaited;
use crate::model::body::Key;
use crate::model::entry::{BlockKind, Entry};
use crate::model::figures;
use crate::model::fingerprint::Print;
use crate::model::record::Origin;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::tool::identifies;
use crate::model::tool::{ToolCall, ToolState};
use crate::model::transcript::Transcript;

/// A kind of anomaly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Anomaly {
    /// Description on the screen: `calls without a result`.
    pub(crate) what: &'static str,
    /// Additional facts; may be empty.
    pub(crate) note: String,
    /// How often it occurs.
    pub(crate) count: u64,
    /// The first record with it.
    pub(crate) first: Origin,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Entries with a parent.
    pub(crate) linked: u64,
    /// Entries of the main lane that have children, but no parent.
    pub(crate) roots: u64,
    /// Missing parents, entries that are their own parent, cycles.
    pub(crate) anomalies: Vec<Anomaly>,
}

/// Timestamps of the session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SessionTimes {
    pub(crate) first: Option<Timestamp>,
    pub(crate) last: Option<Timestamp>,
    /// Entries without a timestamp, and entries that are older than the one before.
    pub(crate) anomalies: Vec<Anomaly>,
}

#[derive(Default)]
struct AnomalyCounts(Vec<Anomaly>);

impl AnomalyCounts {
    fn count(&mut self, what: &'static str, place: Origin) {
        match self.0.iter_mut().find(|anomaly| anomaly.what == what) {
            Some(anomaly) => anomaly.count += 1,
            None => self.0.push(Anomaly {
                what,
                note: String::new(),
                count: 1,
                first: place,
            }),
        }
    }

    fn set_note(&mut self, what: &str, note: impl FnOnce() -> String) {
        if let Some(anomaly) = self.0.iter_mut().find(|anomaly| anomaly.what == what) {
            anomaly.note = note();
        }
    }
}

/// Checks the links of all lanes. `None` unless the format links all records: otherwise a missing
/// parent is no anomaly.
pub(crate) fn of_links(transcript: &Transcript) -> Option<LinkCounts> {
    if !transcript.is_linked_tree() {
        return None;
    }
    let mut links = LinkCounts::default();
    let mut found = AnomalyCounts::default();
    let print = |key: &Key| transcript.print_of(key);
    let parents: HashSet<Print> = transcript
        .entries()
        .filter_map(|entry| entry.parent.as_ref())
        .map(print)
        .collect();
    let mut missing: HashSet<Print> = HashSet::new();
    let mut walked = HashMap::new();
    for entry in transcript.entries() {
        let Some(parent) = &entry.parent else {
            links.roots += u64::from(entry.lane.is_none() && parents.contains(&print(&entry.key)));
            continue;
        };
        links.linked += 1;
        if *parent == entry.key {
            found.count("entries that are their own parent", entry.origin);
        } else if transcript.parent_of(print(parent)).is_none() {
            if missing.insert(print(parent)) {
                found.count("parents that are not in the file", entry.origin);
            }
        } else if is_on_cycle(print(&entry.key), transcript, &mut walked) {
            found.count("entries whose parents lead back to them", entry.origin);
        }
    }
    links.anomalies = found.0;
    Some(links)
}

/// Whether a record is on a cycle; `walked` caches the result for each record on the way.
fn is_on_cycle(key: Print, transcript: &Transcript, walked: &mut HashMap<Print, bool>) -> bool {
    let mut path: Vec<Print> = Vec::new();
    let mut on_path: HashMap<Print, usize> = HashMap::new();
    let mut at = Some(key);
    let mut circle = usize::MAX;
    while let Some(key) = at.filter(|key| !walked.contains_key(key)) {
        if let Some(first) = on_path.get(&key) {
            circle = *first;
            break;
        }
        on_path.insert(key, path.len());
        path.push(key);
        at = transcript.parent_of(key).flatten();
    }
    for (place, key) in path.into_iter().enumerate() {
        walked.insert(key, place >= circle);
    }
    walked.get(&key).copied().unwrap_or(false)
}

/// Checks the pairing of calls and results, in all lanes and branches.
pub(crate) fn of_pairing(transcript: &Transcript) -> Vec<Anomaly> {
    let awaited = Awaited::of(transcript);
    let mut found = AnomalyCounts::default();
    let mut calls: HashMap<&Key, u32> = HashMap::new();
    for id in transcript.order() {
        let Some(entry) = transcript.get(*id) else {
            continue;
        };
        let may_go_on = awaited.has(transcript, *id);
        for call in entry.calls() {
            count_call(call, entry, may_go_on, &mut found);
            if identifies(&call.key) {
                let seen = calls.entry(&call.key).or_default();
                *seen += 1;
                if *seen == 2 {
                    found.count("ids that several calls share", entry.origin);
                }
            }
        }
        for block in &entry.blocks {
            let BlockKind::Result(stray) = &block.kind else {
                continue;
            };
            let has_call = stray.duplicate || !transcript.entries_with_call(&stray.call).is_empty();
            let what = if has_call {
                "further results of a call"
            } else {
                "results without a call"
            };
            found.count(what, entry.origin);
        }
    }
    found.0
}

fn count_call(call: &ToolCall, entry: &Entry, may_go_on: bool, found: &mut AnomalyCounts) {
    if !identifies(&call.key) {
        found.count("calls without an id", entry.origin);
    }
    match &call.state {
        ToolState::Lost => found.count("calls that were interrupted", entry.origin),
        state if state.is_open() && may_go_on => {
            found.count("calls whose result may still come", entry.origin);
        }
        state if state.is_open() => found.count("calls without a result", entry.origin),
        state => {
            let ended = state.result().and_then(|result| result.at);
            let started = call.started.or(entry.at);
            if ended
                .zip(started)
                .is_some_and(|(ended, started)| ended < started)
            {
                found.count("results that are older than their calls", entry.origin);
            }
        }
    }
}

/// Checks the timestamps against the order of the file.
pub(crate) fn of_times(transcript: &Transcript) -> SessionTimes {
    const BACKWARDS: &str = "entries that are older than the one before";
    let mut times = SessionTimes::default();
    let mut found = AnomalyCounts::default();
    let mut before: HashMap<Option<&Name>, Timestamp> = HashMap::new();
    let mut farthest = 0;
    for entry in transcript.entries() {
        let Some(at) = entry.at else {
            found.count("entries without a time", entry.origin);
            continue;
        };
        let results = entry.calls().filter_map(|call| call.state.result()?.at);
        for at in results.chain([at]).chain(entry.ended) {
            times.first = Some(times.first.map_or(at, |first| first.min(at)));
            times.last = Some(times.last.map_or(at, |last| last.max(at)));
        }
        if let Some(before) = before
            .insert(entry.lane.as_ref(), at)
            .filter(|before| *before > at)
        {
            farthest = farthest.max(before.since(at));
            found.count(BACKWARDS, entry.origin);
        }
    }
    found.set_note(BACKWARDS, || {
        format!("by {} at most", figures::duration(farthest))
    });
    times.anomalies = found.0;
    times
}

#[cfg(test)]
mod tests;
