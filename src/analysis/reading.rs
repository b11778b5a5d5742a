//! The reading order of a transcript: that of its file, except for lanes with files of their own
//! that no call in the transcript started. These are inserted by time, because otherwise all of
//! them would follow the last answer.

use std::collections::{HashMap, HashSet};

use crate::model::entry::{Block, BlockKind, Entry, EntryId};
use crate::model::meta::LaneFacts;
use crate::model::tally::unknown::Judged;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;

/// Lanes that are moved in the reading order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Displaced {
    lanes: HashSet<Name>,
    /// By the entry of the main lane that they follow; `None` for those before all of it.
    behind: HashMap<Option<EntryId>, Vec<Name>>,
}

impl Displaced {
    /// The moved lanes of a transcript, among those that are not shown under their calls.
    pub(crate) fn of(transcript: &Transcript, is_attached: impl Fn(&LaneFacts) -> bool) -> Self {
        let mut displaced = Self::default();
        let mut main: Option<Vec<EntryId>> = None;
        for lane in transcript.lanes().iter().filter(|lane| !is_attached(lane)) {
            let Some(began) = began_elsewhere(transcript, lane) else {
                continue;
            };
            let main = main.get_or_insert_with(|| {
                let order = transcript.order().iter().copied();
                order
                    .filter(|id| transcript.lane_at(*id).is_none())
                    .collect()
            });
            let is_earlier =
                |id: &EntryId| transcript.get(*id).and_then(|entry| entry.at) <= Some(began);
            let before = main.partition_point(is_earlier).checked_sub(1);
            let before = before.and_then(|place| main.get(place)).copied();
            displaced.lanes.insert(lane.name.clone());
            displaced
                .behind
                .entry(before)
                .or_default()
                .push(lane.name.clone());
        }
        displaced
    }

    pub(crate) fn contains(&self, lane: &Name) -> bool {
        self.lanes.contains(lane)
    }

    /// The lanes that follow an entry; for `None` those before all entries.
    pub(crate) fn following(&self, id: Option<EntryId>) -> &[Name] {
        self.behind.get(&id).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The helper lane whose first shown entry this is. A helper serves the session and no call started
/// it, so this entry represents the lane while it is folded.
pub(crate) fn helper_headed_by(transcript: &Transcript, id: EntryId) -> Option<&LaneFacts> {
    let lane = transcript
        .lane(transcript.lane_at(id)?)
        .filter(|lane| lane.is_helper)?;
    let is_shown = |id: &&EntryId| {
        transcript
            .marks(**id)
            .is_some_and(|marks| !marks.is_hidden() && !marks.copy)
    };
    let head = lane
        .entries
        .iter()
        .find(is_shown)
        .or_else(|| lane.entries.first());
    (head == Some(&id) && transcript.caller(lane).is_none()).then_some(lane)
}

/// Minimum number of traces that are joined into one row.
pub(crate) const LEAST_TRACES: usize = 2;

/// The name of a trace: successive traces of one name and lane are one row, with their number.
pub(crate) fn trace_of(entry: &Entry) -> Option<&Text> {
    let is_said = |block: &&Block| !matches!(&block.kind, BlockKind::Text(body) if body.bytes == 0);
    let mut blocks = entry.blocks.iter().filter(is_said);
    match (blocks.next().map(|block| &block.kind), blocks.next()) {
        (Some(BlockKind::Aside(Judged::Trace, raw)), None) if entry.marks.trace => Some(&raw.title),
        _ => None,
    }
}

/// Whether there is another line between the rows of two entries, or they are on different
/// branches.
pub(crate) fn has_line_between(transcript: &Transcript, above: EntryId, below: EntryId) -> bool {
    transcript.branches().beginning_at(below).is_some()
        || helper_headed_by(transcript, below).is_some()
        || transcript.branches().of(above).map(|branch| branch.number)
            != transcript.branches().of(below).map(|branch| branch.number)
}

/// The runs of equal traces among successive entries.
pub(crate) fn runs_of_traces(transcript: &Transcript, order: &[EntryId]) -> Vec<Vec<EntryId>> {
    let goes_on = |above: &EntryId, below: &EntryId| {
        let (Some(one), Some(other)) = (transcript.get(*above), transcript.get(*below)) else {
            return false;
        };
        let name = trace_of(one);
        name.is_some()
            && name == trace_of(other)
            && one.lane == other.lane
            && !has_line_between(transcript, *above, *below)
    };
    let runs = order
        .chunk_by(goes_on)
        .filter(|run| run.len() >= LEAST_TRACES);
    runs.map(<[EntryId]>::to_vec).collect()
}

/// When a lane began, if it has a file of its own.
fn began_elsewhere(transcript: &Transcript, lane: &LaneFacts) -> Option<Timestamp> {
    let main = transcript
        .order()
        .iter()
        .copied()
        .find(|id| transcript.lane_at(*id).is_none());
    let own = transcript.get(*lane.entries.first()?)?.origin.file;
    let of_main = transcript.get(main?)?.origin.file;
    transcript.lane_began(lane).filter(|_| own != of_main)
}

/// All entries in reading order.
pub(crate) fn order(transcript: &Transcript) -> Vec<EntryId> {
    let displaced = Displaced::of(transcript, |lane| transcript.caller(lane).is_some());
    if displaced.lanes.is_empty() {
        return transcript.order().to_vec();
    }
    let mut order = Vec::with_capacity(transcript.order().len());
    let lanes = |id: Option<EntryId>, order: &mut Vec<EntryId>| {
        let lanes = displaced
            .following(id)
            .iter()
            .filter_map(|name| transcript.lane(name));
        lanes.for_each(|lane| order.extend(&lane.entries));
    };
    lanes(None, &mut order);
    for id in transcript.order() {
        if transcript
            .lane_at(*id)
            .is_none_or(|lane| !displaced.contains(lane))
        {
            order.push(*id);
            lanes(Some(*id), &mut order);
        }
    }
    order
}
