//! Branches and sub-agents with figures of their own, which add up to those of the session: the
//! lists of schema `tv.stats/2`.
//!
//! Invariant: an entry counts as a part's own exactly once: for the active path, for the branch
//! that left it, or for its lane. The same holds for the requests made on its behalf.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::spent::{CostFigures, UsageFigures};
use crate::analysis::money::cost;
use crate::analysis::phrases;
use crate::model::branches::Branch;
use crate::model::entry::{Entry, EntryId};
use crate::model::meta::LaneFacts;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolState;
use crate::model::totals::Totals;
use crate::model::transcript::{Aside, Transcript};

/// The figures of a part of a session.
#[derive(Debug, Serialize)]
pub(crate) struct PartFigures {
    pub(crate) entries: u64,
    pub(crate) turns: u64,
    pub(crate) calls: u64,
    pub(crate) failed: u64,
    pub(crate) usage: UsageFigures,
    pub(crate) cost: CostFigures,
}

/// An abandoned branch.
#[derive(Debug, Serialize)]
pub(crate) struct BranchFigures {
    /// Number from 1, in the order in which branches were left; appends do not change it.
    pub(crate) number: usize,
    /// `prompt`, `left` or `undone`.
    pub(crate) why: &'static str,
    /// The reason as text.
    #[serde(skip)]
    pub(crate) reason: &'static str,
    /// Whether the session returned to the whole branch.
    pub(crate) active: bool,
    /// The branch that it continues; `null` for the active path.
    pub(crate) parent: Option<usize>,
    /// The key of the entry that it continues from.
    pub(crate) point: Option<String>,
    /// The key of its first entry.
    pub(crate) root: Option<String>,
    /// When the session continued on another path.
    pub(crate) left: Option<String>,
    /// The figures of its entries that are not active, without those of branches left before.
    #[serde(flatten)]
    pub(crate) own: PartFigures,
    /// Its own figures and those of the sub-agents that it started.
    pub(crate) total: PartFigures,
}

#[derive(Debug, Serialize)]
pub(crate) struct LaneFigures {
    /// The lane name of its entries.
    pub(crate) name: String,
    pub(crate) label: String,
    /// Whether it serves the session, as one that makes a compaction does, and is no sub-agent.
    pub(crate) helper: bool,
    /// The call that started it.
    pub(crate) call_id: Option<String>,
    /// The sub-agent that started it; `null` for the main agent.
    pub(crate) parent: Option<String>,
    /// The branch that it was started on, if that was abandoned.
    pub(crate) branch: Option<usize>,
    pub(crate) started: Option<String>,
    pub(crate) ended: Option<String>,
    /// The figures of its own entries.
    #[serde(flatten)]
    pub(crate) own: PartFigures,
    /// Its own figures and those of all sub-agents below it.
    pub(crate) total: PartFigures,
}

/// Running sums of a part.
#[derive(Clone, Default)]
struct PartSum {
    entries: u64,
    turns: u64,
    calls: u64,
    failed: u64,
    totals: Totals,
}

/// Sums of the main lane without abandoned branches, entry by entry.
pub(crate) struct ActivePathSums<'t> {
    beside: AsideRequests<'t>,
    part: PartSum,
}

impl<'t> ActivePathSums<'t> {
    /// Starts with nothing counted.
    pub(crate) fn of(transcript: &'t Transcript) -> Self {
        Self {
            beside: AsideRequests::of(transcript),
            part: PartSum::default(),
        }
    }

    /// Counts an entry, if it is active.
    pub(crate) fn add(&mut self, id: EntryId, entry: &Entry) {
        let abandoned = &self.beside.transcript.branches().abandoned;
        if entry.lane.is_none() && !abandoned.contains(&id) {
            self.part.count_with(id, entry, &self.beside);
        }
    }

    pub(crate) fn into_sums(self) -> PartFigures {
        let (mut part, transcript) = (self.part, self.beside.transcript);
        // What a run counts beyond its requests belongs to no branch or lane, so it counts only if
        // there is a single one.
        if transcript.branches().abandoned.is_empty() && transcript.lanes().is_empty() {
            part.totals.clone_from(transcript.totals());
        }
        PartFigures::from(&part)
    }
}

/// The branches by number.
pub(crate) fn branches(transcript: &Transcript) -> Vec<BranchFigures> {
    let beside = AsideRequests::of(transcript);
    let mut started: HashMap<usize, PartSum> = HashMap::new();
    for lane in transcript.lanes() {
        if let Some(branch) = branch_of(lane, transcript) {
            started
                .entry(branch.number)
                .or_default()
                .count_all(&lane.entries, &beside);
        }
    }
    let figures = |branch: &Branch| {
        let key = |id: EntryId| transcript.get(id).map(|entry| entry.key.to_string());
        let mut part = PartSum::default();
        let left = branch
            .entries
            .iter()
            .filter(|id| transcript.branches().abandoned.contains(*id));
        part.count_all(left, &beside);
        let own = PartFigures::from(&part);
        if let Some(lanes) = started.get(&branch.number) {
            part.join(lanes);
        }
        BranchFigures {
            number: branch.number,
            why: branch.why.word(),
            reason: phrases::abandoned_reason(branch.why),
            active: branch.is_active,
            parent: branch.parent,
            point: branch.point.and_then(key),
            root: branch.entries.first().copied().and_then(key),
            left: transcript.abandoned_at(branch).map(Timestamp::to_rfc3339),
            own,
            total: PartFigures::from(&part),
        }
    };
    transcript.branches().list.iter().map(figures).collect()
}

/// The sub-agents in the order of their first entries.
pub(crate) fn lanes(transcript: &Transcript) -> Vec<LaneFigures> {
    let beside = AsideRequests::of(transcript);
    let parts: BTreeMap<&Name, PartSum> = transcript
        .lanes()
        .iter()
        .map(|lane| {
            let mut part = PartSum::default();
            part.count_all(&lane.entries, &beside);
            (&lane.name, part)
        })
        .collect();
    let figures = |lane: &LaneFacts| {
        let mut total = PartSum::default();
        for part in transcript
            .with_nested(lane)
            .iter()
            .filter_map(|lane| parts.get(&lane.name))
        {
            total.join(part);
        }
        let entries = || {
            lane.entries
                .iter()
                .filter_map(|id| transcript.get(*id))
                .filter(|entry| !entry.is_aside())
        };
        LaneFigures {
            name: lane.name.to_string(),
            label: lane.label.to_string(),
            helper: lane.is_helper,
            call_id: lane.call.as_ref().map(Text::to_string),
            parent: transcript
                .parent_lane(lane)
                .map(|parent| parent.name.to_string()),
            branch: branch_of(lane, transcript).map(|branch| branch.number),
            started: entries()
                .filter_map(|entry| entry.at)
                .min()
                .map(Timestamp::to_rfc3339),
            ended: entries()
                .filter_map(Entry::end)
                .max()
                .map(Timestamp::to_rfc3339),
            own: PartFigures::from(parts.get(&lane.name).unwrap_or(&PartSum::default())),
            total: PartFigures::from(&total),
        }
    };
    transcript.lanes().iter().map(figures).collect()
}

/// The abandoned branch that a sub-agent descends from.
fn branch_of<'a>(lane: &LaneFacts, transcript: &'a Transcript) -> Option<&'a Branch> {
    transcript.branches().of(transcript.root_caller(lane)?)
}

/// A session with the requests made on behalf of its entries, such as an advisor's.
struct AsideRequests<'t> {
    transcript: &'t Transcript,
    requests: HashMap<EntryId, Vec<&'t Aside>>,
}

impl<'t> AsideRequests<'t> {
    fn of(transcript: &'t Transcript) -> Self {
        let mut requests: HashMap<EntryId, Vec<&Aside>> = HashMap::new();
        for (_, aside) in transcript
            .asides()
            .filter(|(_, aside)| aside.usage.scope.is_of_requests())
        {
            if let Some(of) = aside
                .after
                .and_then(|after| last_message_before(transcript, after))
            {
                requests.entry(of).or_default().push(aside);
            }
        }
        Self {
            transcript,
            requests,
        }
    }
}

/// The entry itself, or the last entry before it that is part of the conversation.
fn last_message_before(transcript: &Transcript, id: EntryId) -> Option<EntryId> {
    let before = transcript.order().get(..=transcript.place_of(id)?)?;
    transcript
        .last_such(before, |entry| !entry.is_aside())
        .and_then(|place| before.get(place))
        .copied()
}

impl PartSum {
    fn count_all<'a>(
        &mut self,
        ids: impl IntoIterator<Item = &'a EntryId>,
        beside: &AsideRequests<'_>,
    ) {
        let mut passing = beside.transcript.cursor();
        for id in ids {
            if let Some(entry) = passing.get(*id) {
                self.count_with(*id, entry, beside);
            }
        }
    }

    fn count_with(&mut self, id: EntryId, entry: &Entry, beside: &AsideRequests<'_>) {
        for request in beside.requests.get(&id).into_iter().flatten() {
            self.totals.add(&request.usage, request.model.as_ref());
        }
        self.count(entry);
    }

    fn count(&mut self, entry: &Entry) {
        self.entries += u64::from(entry.is_message());
        self.turns += u64::from(entry.marks.prompt);
        for call in entry.calls() {
            self.calls += 1;
            self.failed += u64::from(matches!(call.state, ToolState::Failed(_)));
        }
        if let Some(usage) = &entry.usage {
            self.totals.add(usage, entry.model.as_ref());
        }
    }

    fn join(&mut self, other: &Self) {
        self.entries += other.entries;
        self.turns += other.turns;
        self.calls += other.calls;
        self.failed += other.failed;
        self.totals.merge(&other.totals);
    }
}

impl From<&PartSum> for PartFigures {
    fn from(part: &PartSum) -> Self {
        Self {
            entries: part.entries,
            turns: part.turns,
            calls: part.calls,
            failed: part.failed,
            usage: (&part.totals.sum()).into(),
            cost: (&cost::of(&part.totals)).into(),
        }
    }
}

#[cfg(test)]
mod tests;
