//! The keys of all rows of the outline, by section.

use std::cmp::Reverse;

use super::row::{OutlineKey, PARTS, SectionKind};
use crate::analysis::calls::Place;
use crate::analysis::files::{FileUses, Files};
use crate::app::checks::Checks;
use crate::model::meta::LaneFacts;
use crate::model::text::Text;
use crate::model::transcript::Transcript;

/// Keys of all rows.
#[derive(Clone, Debug, Default)]
pub struct OutlineKeys {
    parts: [Vec<OutlineKey>; PARTS],
}

impl OutlineKeys {
    /// Collects the keys of all rows of a session.
    pub(crate) fn new(
        transcript: &Transcript,
        checks: &Checks,
        files: &Files,
        running: &[Place],
    ) -> Self {
        let left = transcript
            .branches()
            .list
            .iter()
            .filter(|branch| !branch.is_active);
        let (sessions, agents) = (0..)
            .zip(transcript.lanes())
            .filter(|(_, lane)| !lane.is_helper)
            .partition::<Vec<(usize, &LaneFacts)>, _>(|(_, lane)| lane.is_session);
        let of_lanes = |lanes: Vec<(usize, &LaneFacts)>| {
            lanes
                .into_iter()
                .map(|(number, _)| OutlineKey::Agent(number))
                .collect()
        };
        Self {
            parts: [
                turns(transcript, checks),
                running.iter().copied().map(OutlineKey::Work).collect(),
                of_lanes(sessions),
                left.map(|branch| OutlineKey::Branch(branch.number))
                    .collect(),
                (0..checks.list.len()).map(OutlineKey::Check).collect(),
                of_files(files),
                of_lanes(agents),
            ],
        }
    }

    /// The rows of a section.
    pub(crate) fn of(&self, part: SectionKind) -> &[OutlineKey] {
        self.parts.get(part as usize).map_or(&[], Vec::as_slice)
    }
}

/// Turns, each followed by its sub-agents and compactions; those before the first turn come first.
fn turns(transcript: &Transcript, checks: &Checks) -> Vec<OutlineKey> {
    let mut below: Vec<(Option<usize>, usize, OutlineKey)> = Vec::new();
    for (number, lane) in transcript.lanes().iter().enumerate() {
        let place = transcript
            .root_caller(lane)
            .and_then(|id| transcript.place_of(id));
        if let Some(place) = place {
            below.push((
                transcript.turn_at(place),
                place,
                OutlineKey::Lane(number, false),
            ));
        }
    }
    for id in checks.compactions() {
        let Some(place) = transcript.place_of(id) else {
            continue;
        };
        below.push((transcript.turn_at(place), place, OutlineKey::Compaction(id)));
    }
    below.sort_by_key(|(turn, place, _)| (*turn, *place));
    let mut below = below.into_iter().peekable();
    let mut rows = Vec::new();
    for turn in std::iter::once(None).chain((0..transcript.turns().len()).map(Some)) {
        rows.extend(turn.map(OutlineKey::Turn));
        let first = rows.len();
        while let Some((_, _, key)) = below.next_if(|(of, ..)| *of == turn) {
            rows.push(key);
        }
        let last = rows
            .iter_mut()
            .skip(first)
            .rfind(|key| matches!(key, OutlineKey::Lane(..)));
        if let Some(OutlineKey::Lane(_, is_last)) = last {
            *is_last = true;
        }
    }
    rows
}

/// Changed files first, then the most used ones.
fn of_files(files: &Files) -> Vec<OutlineKey> {
    let mut files: Vec<(&Text, &FileUses)> = files.list().collect();
    files.sort_by_key(|(path, file)| {
        (
            Reverse(file.edits + file.writes),
            Reverse(file.reads),
            *path,
        )
    });
    files
        .into_iter()
        .map(|(path, _)| OutlineKey::File(path.clone()))
        .collect()
}
