//! What was paid for and came to nothing, by kind, each with the place that shows it. The cost is
//! that which other views show of the same: extra cost of cache misses, cost of carrying results,
//! cost of requests, cost of sub-agents.
//!
//! Invariant: within a kind nothing is counted twice. Kinds overlap: a request that only repeats a
//! call may also pay for a cache again.

mod unused;

use std::collections::{HashMap, HashSet};

use super::calls::lifecycle::Lifecycle;
use super::calls::{Calls, Outcome, Place};
use super::context::seen::Sight;
use super::context::window::Windows;
use super::context::window::carried::Carried;
use super::files::{Files, Op};
use super::loops::{Loops, Results, loop_words};
use super::money::cost::picos;
use super::money::spending::amount::Amount;
use super::money::spending::statement::{Group, Grouping, Statement};
use super::shell;
use crate::model::entry::{Entry, EntryId};
use crate::model::meta::LaneFacts;
use crate::model::text::Name;
use crate::model::tool::{ToolCall, ToolKind, ToolState};
use crate::model::transcript::Transcript;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WasteKind {
    /// Tokens that had been in the cache and were paid for again.
    Cache,
    /// A file that was read again, though unchanged and still in the context.
    Reread,
    /// Requests that only repeated calls, with the same results.
    Repeated,
    /// Requests whose calls all failed, and were then tried again.
    Retried,
    /// A result of which nothing was taken up.
    Unused,
    /// A sub-agent whose answer no request got.
    Unread,
}

impl WasteKind {
    /// All kinds with their names, and those of their sums.
    pub const ALL: [(Self, &'static str, &'static str); 6] = [
        (Self::Cache, "cache", "cache_usd"),
        (Self::Reread, "reread", "reread_usd"),
        (Self::Repeated, "repeated", "repeated_usd"),
        (Self::Retried, "retried", "retried_usd"),
        (Self::Unused, "unused", "unused_usd"),
        (Self::Unread, "unread", "unread_usd"),
    ];

    /// The name of the kind.
    pub(crate) fn word(self) -> &'static str {
        let mut all = Self::ALL.iter();
        all.find(|(kind, ..)| *kind == self)
            .map_or("", |(_, word, _)| word)
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Cache => "caches paid for again",
            Self::Reread => "unchanged files read again",
            Self::Repeated => "identical calls repeated",
            Self::Retried => "failed calls tried again",
            Self::Unused => "results carried and never used",
            Self::Unread => "sub-agents whose answer nobody read",
        }
    }
}

/// Something that was paid for and came to nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Waste {
    pub(crate) kind: WasteKind,
    /// The entry at which a reader sees it.
    pub(crate) entry: EntryId,
    /// The call, if it is one.
    pub(crate) block: Option<usize>,
    /// Its cost in pico-dollars; `None` without a price.
    pub(crate) picos: Option<i128>,
    pub(crate) what: String,
}

/// The values that waste is found in.
pub(crate) struct WasteSources<'a> {
    pub(crate) transcript: &'a Transcript,
    pub(crate) calls: &'a Calls,
    pub(crate) windows: &'a Windows,
    pub(crate) carried: &'a Carried,
    pub(crate) files: &'a Files,
    pub(crate) loops: &'a Loops,
    pub(crate) statement: &'a Statement,
    /// Whether the session gets no more records.
    pub(crate) is_over: bool,
}

/// Earlier calls with the same arguments that are looked at.
const EARLIER: usize = 16;

impl WasteSources<'_> {
    /// All waste, by kind.
    pub(crate) fn waste(&self) -> Vec<Waste> {
        let requests = self.requests();
        let mut found = self.cache_misses();
        found.extend(self.rereads());
        found.extend(self.repeated(&requests));
        found.extend(self.retried(&requests));
        found.extend(unused::unused(self));
        found.extend(self.unread());
        found
    }

    /// What requests cost, by their entries.
    fn requests(&self) -> HashMap<EntryId, Amount> {
        let mut requests: HashMap<EntryId, Amount> = HashMap::new();
        for charge in self.statement.charges.iter().filter(|charge| charge.is_own) {
            if let Some(id) = charge.entry {
                requests.entry(id).or_default().plus(&charge.amount);
            }
        }
        requests
    }

    fn cache_misses(&self) -> Vec<Waste> {
        let rows = self
            .windows
            .lanes()
            .flat_map(|lane| self.windows.rows(lane));
        let requests = rows.filter_map(|row| row.request());
        let missed = requests.filter_map(|request| {
            let miss = request.cache_break.as_ref()?;
            Some(Waste {
                kind: WasteKind::Cache,
                entry: request.entry,
                block: None,
                picos: miss.usd.map(picos),
                what: miss.cause.words(),
            })
        });
        missed.collect()
    }

    /// A call whose result was carried, with the cost of that.
    fn of_call(&self, kind: WasteKind, place: Place, what: String) -> Option<Waste> {
        let carriage = self.carried.of_call(place).filter(|one| one.requests > 0)?;
        Some(Waste {
            kind,
            entry: place.entry,
            block: Some(place.block),
            picos: (!carriage.is_unpriced).then_some(carriage.picos),
            what,
        })
    }

    fn about(&self, call: &ToolCall) -> String {
        let root = self.transcript.meta().root.as_deref();
        format!("{} {}", call.shown_name(), call.about(root))
    }

    fn rereads(&self) -> Vec<Waste> {
        let again = self.calls.all().filter_map(|place| {
            let call = place.call(self.transcript)?;
            self.was_read(place, call)
                .then(|| self.of_call(WasteKind::Reread, place, self.about(call)))?
        });
        again.collect()
    }

    /// Whether the model had the same result of the same call before it.
    fn was_read(&self, place: Place, call: &ToolCall) -> bool {
        let ToolState::Done(result) = &call.state else {
            return false;
        };
        if call.kind != ToolKind::Read || result.body.bytes == 0 {
            return false;
        }
        let lane = self.transcript.lane_at(place.entry);
        let earlier = self.calls.earlier(place, EARLIER).calls.into_iter();
        let mut earlier = earlier.filter(|other| self.transcript.lane_at(other.entry) == lane);
        let is_same = |other: &Place| {
            let other = other.call(self.transcript);
            let state = other.map(|other| &other.state);
            matches!(state, Some(ToolState::Done(before)) if before.body.text().is_some()
                && before.body.text() == result.body.text())
        };
        let is_seen = |other: Place| {
            let sight = Sight::at(self.transcript, &self.windows.cuts, place.entry);
            let at = self.transcript.place_of(other.entry);
            sight.zip(at).is_some_and(|(sight, at)| {
                other.entry == place.entry || sight.sees(self.transcript, other.entry, at)
            })
        };
        earlier.any(|other| is_same(&other) && !self.is_changed(other, place) && is_seen(other))
    }

    /// Whether the file of two calls was changed between them, as far as calls tell.
    fn is_changed(&self, from: Place, to: Place) -> bool {
        let file = self
            .files
            .of_call(to)
            .and_then(|path| self.files.file(path));
        let Some(file) = file else { return false };
        let at = |place: Place| file.uses.iter().position(|one| one.place == place);
        let between = at(from).zip(at(to));
        let between = between.and_then(|(from, to)| file.uses.get(from..to));
        between.is_some_and(|uses| {
            let mut changes = uses
                .iter()
                .filter(|one| matches!(one.op, Op::Edit | Op::Write));
            changes.any(|one| one.outcome.is_good())
        })
    }

    fn repeated(&self, requests: &HashMap<EntryId, Amount>) -> Vec<Waste> {
        let runs = self.loops.runs.iter();
        // Calls that ask how work stands are made to be repeated.
        let runs = runs.filter(|run| {
            let call = run.last().and_then(|place| place.call(self.transcript));
            run.results() == Results::Same && !call.is_some_and(ToolCall::is_follow_up)
        });
        let runs: Vec<_> = runs.collect();
        let again: HashSet<Place> = runs.iter().flat_map(|run| run.places().skip(1)).collect();
        let mut counted: HashSet<EntryId> = HashSet::new();
        let rows = runs.into_iter().filter_map(|run| {
            let mut places: Vec<Place> = run.places().skip(1).collect();
            places.retain(|place| {
                let id = place.entry;
                let only_repeats = self.transcript.get(id).is_some_and(|entry| {
                    let mut calls = entry.numbered_calls();
                    calls.all(|(block, _)| again.contains(&Place { entry: id, block }))
                });
                only_repeats && counted.insert(id)
            });
            let first = *places.first()?;
            let mut sum = Amount::default();
            let own = places.iter().filter_map(|place| requests.get(&place.entry));
            own.for_each(|amount| sum.plus(amount));
            Some(Waste {
                kind: WasteKind::Repeated,
                entry: first.entry,
                block: Some(first.block),
                picos: priced(&sum),
                what: loop_words(run, "×"),
            })
        });
        rows.collect()
    }

    fn retried(&self, requests: &HashMap<EntryId, Amount>) -> Vec<Waste> {
        let mut found = Vec::new();
        // The last answer with calls of each lane, if all of these failed.
        let mut failed: HashMap<Option<&Name>, (EntryId, &Entry)> = HashMap::new();
        for id in self.transcript.order() {
            let Some(entry) = self.transcript.get(*id).filter(|entry| !entry.marks.copy) else {
                continue;
            };
            let lane = self.transcript.lane_at(*id);
            if entry.marks.prompt {
                failed.remove(&lane);
            }
            if entry.calls().next().is_none() {
                continue;
            }
            let retried = failed.remove(&lane).and_then(|(id, before)| {
                let mut calls = before.numbered_calls();
                let (block, call) =
                    calls.find(|(_, old)| entry.calls().any(|new| is_like(old, new)))?;
                Some(Waste {
                    kind: WasteKind::Retried,
                    entry: id,
                    block: Some(block),
                    picos: requests.get(&id).and_then(priced),
                    what: self.about(call),
                })
            });
            found.extend(retried);
            let has_failed = |call: &ToolCall| Outcome::of(&call.state) == Outcome::Failed;
            if entry.calls().all(has_failed) {
                failed.insert(lane, (*id, entry));
            }
        }
        found
    }

    fn unread(&self) -> Vec<Waste> {
        let sums: HashMap<Name, Amount> = self
            .statement
            .rows(Grouping::Lanes)
            .into_iter()
            .filter_map(|row| match row.group {
                Group::Lane(Some(lane)) => Some((lane, row.amount)),
                _ => None,
            })
            .collect();
        let calls = self.calls.all().filter_map(|place| {
            let call = place.call(self.transcript)?;
            Some((place, call)).filter(|(place, call)| self.is_unread(*place, call))
        });
        let begun: Vec<(Place, &LaneFacts)> = calls
            .flat_map(|(place, call)| {
                let lanes = self.transcript.lanes_begun(place.entry, &call.key);
                lanes.map(move |lane| (place, lane))
            })
            .collect();
        let names: HashSet<&Name> = begun.iter().map(|(_, lane)| &lane.name).collect();
        let rows = begun.iter().filter_map(|(place, lane)| {
            // What it started itself counts with it.
            let parent = std::iter::successors(self.transcript.parent_lane(lane), |lane| {
                self.transcript.parent_lane(lane)
            });
            if parent
                .take(names.len())
                .any(|lane| names.contains(&lane.name))
            {
                return None;
            }
            let mut sum = Amount::default();
            let nested = self.transcript.with_nested(lane).into_iter();
            let own = nested.filter_map(|lane| sums.get(&lane.name));
            own.for_each(|amount| sum.plus(amount));
            (sum.requests > 0).then(|| Waste {
                kind: WasteKind::Unread,
                entry: place.entry,
                block: Some(place.block),
                picos: priced(&sum),
                what: lane.title(),
            })
        });
        rows.collect()
    }

    /// Whether a call got an answer that no request of its lane had before it.
    fn is_unread(&self, place: Place, call: &ToolCall) -> bool {
        let Some(entry) = self.transcript.get(place.entry).filter(|_| self.is_over) else {
            return false;
        };
        let life = Lifecycle::of(self.transcript, (place.entry, &entry.key), call, true);
        let is_last = || {
            let is_delivered = life.delivered.is_some_and(|(at, _)| at.is_some());
            is_delivered && life.first_answer(self.transcript, place.entry).is_none()
        };
        call.state.result().is_some() && (life.is_undelivered || is_last())
    }
}

/// Whether a call does the same as another one: the tool is the same, and its file or the program
/// that it runs.
fn is_like(one: &ToolCall, other: &ToolCall) -> bool {
    let program = |call: &ToolCall| {
        let simple = shell::simple_commands(&call.headline);
        let simple = simple.last().and_then(|simple| shell::program(simple));
        simple.map(|(name, _)| name.to_owned())
    };
    one.name == other.name
        && match one.kind {
            ToolKind::Run => program(one).is_some() && program(one) == program(other),
            _ if one.is_on_file() => one.headline == other.headline,
            _ => true,
        }
}

/// The cost of a sum; `None` if all of it lacks a price.
fn priced(sum: &Amount) -> Option<i128> {
    let money = &sum.money;
    (sum.requests > 0 && (money.picos() != 0 || money.unpriced == 0)).then(|| money.picos())
}
