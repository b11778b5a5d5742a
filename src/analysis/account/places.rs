//! Where each entry stands among those of its lane, for indexes that keep a list for each lane.

use crate::model::entry::EntryId;

/// Places in lists, by number of the entry. Entries that follow one another mostly stand so in their list,
/// too: these are kept as one.
#[derive(Clone, Debug, Default)]
pub struct Places(Vec<Run>);

/// Entries that follow one another, by their numbers and in their list.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u32,
    len: u32,
    list: u32,
    place: u32,
}

impl Run {
    fn of(id: EntryId, list: u32, place: u32) -> Self {
        Self { first: id.0, len: 1, list, place }
    }

    fn end(&self) -> u32 {
        self.first + self.len
    }

    fn get(&self, id: EntryId) -> Option<(u32, u32)> {
        let at = id.0.checked_sub(self.first).filter(|at| *at < self.len)?;
        Some((self.list, self.place + at))
    }

    /// What is before an entry of it, and what is behind that.
    fn around(&self, id: EntryId) -> [Self; 2] {
        let at = id.0 - self.first;
        let behind = at + 1;
        [
            Self { len: at, ..*self },
            Self { first: id.0 + 1, len: self.len - behind, place: self.place + behind, ..*self },
        ]
    }
}

impl Places {
    /// Notes where an entry stands.
    pub(crate) fn insert(&mut self, id: EntryId, list: usize, place: usize) {
        let (Ok(list), Ok(place)) = (u32::try_from(list), u32::try_from(place)) else { return };
        let run = Run::of(id, list, place);
        let behind = self.behind(id);
        let before = behind.checked_sub(1).and_then(|at| Some((at, self.0.get_mut(at)?)));
        match before {
            Some((_, before)) if before.get(id) == Some((list, place)) => {}
            Some((at, before)) if id.0 < before.end() => {
                let [head, tail] = before.around(id);
                let parts = [head, run, tail].into_iter().filter(|part| part.len > 0);
                self.0.splice(at..=at, parts);
            }
            Some((_, before))
                if id.0 == before.end() && list == before.list && place == before.place + before.len =>
            {
                before.len += 1;
            }
            _ => self.0.insert(behind, run),
        }
    }

    /// The list of an entry, and its place there.
    pub(crate) fn get(&self, id: EntryId) -> Option<(usize, usize)> {
        let (list, place) = self.0.get(self.behind(id).checked_sub(1)?)?.get(id)?;
        Some((usize::try_from(list).ok()?, usize::try_from(place).ok()?))
    }

    /// The place of the first run that begins behind an entry.
    fn behind(&self, id: EntryId) -> usize {
        // Mostly it is one of the last.
        let is_last = self.0.last().is_none_or(|last| last.first <= id.0);
        if is_last { self.0.len() } else { self.0.partition_point(|run| run.first <= id.0) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::{any, prop, proptest};

    use super::{EntryId, Places};

    #[test]
    fn what_goes_on_side_by_side_is_kept_as_one() {
        let mut places = Places::default();
        (0..1_000).for_each(|number| places.insert(EntryId(number + 5), 0, number as usize));
        assert_eq!((places.0.len(), places.get(EntryId(504))), (1, Some((0, 499))));
        assert_eq!((places.get(EntryId(4)), places.get(EntryId(1_005))), (None, None));
    }

    proptest! {
        #[test]
        fn it_is_a_map(steps in prop::collection::vec((any::<bool>(), 0u32..30, 0usize..3, 0usize..6), 0..60)) {
            let mut places = Places::default();
            let mut plain: HashMap<u32, (usize, usize)> = HashMap::new();
            let mut next = (0, 0, 0);
            for (goes_on, id, list, place) in steps {
                let (id, list, place) = if goes_on { next } else { (id, list, place) };
                next = (id + 1, list, place + 1);
                places.insert(EntryId(id), list, place);
                plain.insert(id, (list, place));
                for id in 0..100 {
                    assert_eq!(places.get(EntryId(id)), plain.get(&id).copied());
                }
            }
        }
    }
}
