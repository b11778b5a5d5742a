//! The entries of each turn, for an agent that takes its last turns back.

use std::collections::VecDeque;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{Entry, Marks, Role};
use crate::model::text::Name;

/// A part belongs to one of so many entries.
const NEWEST: usize = 32;
/// So many turns are deflated together, and as many stay as they are: the last ones are taken back most.
const TOGETHER: usize = 64;

/// What the turns hold.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// Those of long ago, deflated: a long session has hundreds of thousands of entries, whose keys are much alike.
    old: Vec<Box<[u8]>>,
    /// The entries of each one since, packed. The first of all holds what came before any.
    recent: Vec<Vec<u8>>,
    /// The newest of them.
    newest: VecDeque<Key>,
}

impl Turns {
    /// A turn begins with what comes next.
    pub(crate) fn begin(&mut self) {
        if self.recent.is_empty() {
            self.recent.push(Vec::new());
        }
        self.recent.push(Vec::new());
        if self.recent.len() > 2 * TOGETHER {
            self.old.extend(deflated(self.recent.get(..TOGETHER).unwrap_or_default()));
            self.recent.drain(..TOGETHER);
        }
    }

    /// Notes an entry, or a part of one. Whether it is known already.
    pub(crate) fn note(&mut self, entry: &Entry) -> bool {
        if self.recent.is_empty() {
            self.recent.push(Vec::new());
        }
        let is_known = self.newest.contains(&entry.key);
        if let Some(turn) = self.recent.last_mut().filter(|_| !is_known) {
            let packed = postcard::to_extend(&(&entry.key, entry.role, entry.marks), std::mem::take(turn));
            *turn = packed.unwrap_or_default();
            if self.newest.len() == NEWEST {
                self.newest.pop_front();
            }
            self.newest.push_back(entry.key.clone());
        }
        is_known
    }

    /// The last turns were taken back: says so of their entries.
    pub(crate) fn take_back(&mut self, turns: u64, lane: Option<&Name>, out: &mut Batch) {
        let turns = usize::try_from(turns).unwrap_or(usize::MAX);
        while self.recent.len() <= turns
            && let Some(old) = self.old.pop()
        {
            self.recent.splice(..0, inflated(&old));
        }
        let count = turns.min(self.recent.len().saturating_sub(1));
        let from = self.recent.len() - count;
        for turn in self.recent.drain(from..) {
            let mut rest = turn.as_slice();
            while let Ok(((key, role, marks), behind)) = postcard::take_from_bytes::<(Key, Role, Marks)>(rest)
            {
                rest = behind;
                self.newest.retain(|known| *known != key);
                let mut entry = out.new_entry(key, role, None);
                entry.lane = lane.cloned();
                entry.marks = Marks { undone: true, ..marks };
                out.entry(entry);
            }
        }
    }
}

fn deflated(turns: &[Vec<u8>]) -> Option<Box<[u8]>> {
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::fast());
    deflate.write_all(&postcard::to_allocvec(turns).ok()?).ok()?;
    deflate.finish().ok().map(Vec::into_boxed_slice)
}

fn inflated(old: &[u8]) -> Vec<Vec<u8>> {
    let mut packed = Vec::new();
    let read = DeflateDecoder::new(old).read_to_end(&mut packed);
    read.ok().and_then(|_| postcard::from_bytes(&packed).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Turns;
    use crate::model::edit::{Batch, Edit};
    use crate::model::entry::Role;

    /// What is taken back of so many turns with two entries each, in one step after the other.
    fn taken_back(turns: usize, steps: &[u64]) -> (Turns, Vec<String>) {
        let (mut known, mut out) = (Turns::default(), Batch::default());
        for turn in 0..=turns {
            if turn > 0 {
                known.begin();
            }
            for part in ["prompt", "answer"] {
                let key = format!("@0:{}:{part}", turn * 1_000);
                assert!(!known.note(&out.new_entry(key.as_str().into(), Role::User, None)));
            }
        }
        for step in steps {
            known.take_back(*step, None, &mut out);
        }
        let key = |edit: Edit| match edit {
            Edit::Entry(entry) if entry.marks.undone => entry.key.to_string(),
            other => panic!("{other:?}"),
        };
        (known, out.edits.into_iter().map(key).collect())
    }

    #[test]
    fn the_last_turns_are_taken_back_however_long_ago_they_began() {
        for (turns, steps) in
            [(3, vec![1, 1]), (500, vec![1, 70, 200, 3]), (500, vec![500]), (300, vec![900])]
        {
            let (_, keys) = taken_back(turns, &steps);
            let mut left = turns;
            let mut expected = Vec::new();
            for step in steps {
                let first = left.saturating_sub(usize::try_from(step).unwrap());
                for turn in first + 1..=left {
                    expected.extend(["prompt", "answer"].map(|part| format!("@0:{}:{part}", turn * 1_000)));
                }
                left = first;
            }
            assert_eq!(keys, expected, "{turns}");
        }
    }

    #[test]
    fn turns_of_long_ago_take_little_room() {
        let (known, _) = taken_back(10_000, &[]);
        let room: usize = known.old.iter().map(|old| old.len()).sum();
        assert!(room < 10_000 * 2 * 12, "{room} bytes");
        assert!(known.recent.len() < 200);
    }
}
