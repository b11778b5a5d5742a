//! What all rows of the outline are, section by section.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::notes::{Notes, Uses};
use super::row::{Key, Part};
use crate::analysis::files::paths::below;
use crate::app::sequence::place_in_file;
use crate::model::text::Text;
use crate::model::transcript::Transcript;

/// Names of all rows.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    parts: [Vec<Key>; 5],
}

impl Keys {
    /// Finds all rows of a session.
    pub fn new(transcript: &Transcript, notes: &Notes, checks: usize) -> Self {
        let left = transcript.branches().list.iter().filter(|branch| !branch.is_active);
        Self {
            parts: [
                turns(transcript, notes),
                left.map(|branch| Key::Branch(branch.number)).collect(),
                (0..checks).map(Key::Check).collect(),
                files(notes, transcript.meta().cwd.as_deref()),
                (0..transcript.lanes().len()).map(Key::Agent).collect(),
            ],
        }
    }

    /// The rows of a section.
    pub fn of(&self, part: Part) -> &[Key] {
        self.parts.get(part as usize).map_or(&[], Vec::as_slice)
    }
}

/// Turns, each with its sub-agents and compactions; those before the first turn come first.
fn turns(transcript: &Transcript, notes: &Notes) -> Vec<Key> {
    let mut below: Vec<(Option<usize>, usize, Key)> = Vec::new();
    for (number, lane) in transcript.lanes().iter().enumerate() {
        let place = transcript.root_caller(lane).and_then(|id| place_in_file(transcript, id));
        if let Some(place) = place {
            below.push((transcript.turn_at(place), place, Key::Lane(number, false)));
        }
    }
    for id in &notes.compactions {
        let Some(place) = place_in_file(transcript, *id) else { continue };
        below.push((transcript.turn_at(place), place, Key::Compaction(*id)));
    }
    below.sort_by_key(|(turn, place, _)| (*turn, *place));
    let mut below = below.into_iter().peekable();
    let mut rows = Vec::new();
    for turn in std::iter::once(None).chain((0..transcript.turns().len()).map(Some)) {
        rows.extend(turn.map(Key::Turn));
        let first = rows.len();
        while let Some((_, _, key)) = below.next_if(|(of, ..)| *of == turn) {
            rows.push(key);
        }
        let last = rows.iter_mut().skip(first).rfind(|key| matches!(key, Key::Lane(..)));
        if let Some(Key::Lane(_, is_last)) = last {
            *is_last = true;
        }
    }
    rows
}

/// Files by their shortest names: changed ones first, then those that were used most.
fn files(notes: &Notes, cwd: Option<&str>) -> Vec<Key> {
    let mut files: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for (path, uses) in &notes.files {
        let sums = files.entry(shortest(path, cwd)).or_default();
        sums.0 += uses.edits + uses.writes;
        sums.1 += uses.reads;
    }
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_by_key(|(_, (changes, reads))| (Reverse(*changes), Reverse(*reads)));
    files.into_iter().map(|(path, _)| Key::File(Text::from(path))).collect()
}

/// How a file was used under all names that calls gave it.
pub fn uses_of(notes: &Notes, path: &Text, cwd: Option<&str>) -> Uses {
    let mut sum = Uses::default();
    let long = cwd.map(|cwd| format!("{cwd}/{path}"));
    for name in [Some(path.to_string()), Some(format!("./{path}")), long].into_iter().flatten() {
        if let Some(uses) = notes.files.get(&Text::from(name.as_str())) {
            sum.absorb(uses);
        }
    }
    sum
}

fn shortest<'a>(path: &'a str, cwd: Option<&str>) -> &'a str {
    let path = below(path, cwd);
    path.strip_prefix("./").filter(|rest| !rest.is_empty()).unwrap_or(path)
}
