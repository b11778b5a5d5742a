//! The entries of each lane, for values that judge an entry by those before it in its lane.

use std::collections::HashMap;

use crate::model::entry::EntryId;
use crate::model::text::Name;
use crate::model::transcript::Transcript;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LaneEntries {
    /// In the order of their first entries.
    list: Vec<Vec<EntryId>>,
    /// Lane number by entry id, if there are several lanes.
    numbers: Vec<u32>,
}

impl LaneEntries {
    /// Distributes entries, which are in the order of the session.
    pub(crate) fn of(transcript: &Transcript, ids: impl Iterator<Item = EntryId>) -> Self {
        let mut lanes = Self::default();
        let mut known: HashMap<Option<&Name>, usize> = HashMap::new();
        let mut last = None;
        for id in ids {
            let lane = transcript.lane_at(id);
            let same = last
                .filter(|(before, _)| *before == lane)
                .map(|(_, number)| number);
            let number = same.unwrap_or_else(|| *known.entry(lane).or_insert(lanes.list.len()));
            last = Some((lane, number));
            if number == lanes.list.len() {
                lanes.list.push(Vec::new());
            }
            if number > 0 {
                lanes.numbers.resize(id.index(), 0);
                lanes
                    .numbers
                    .push(u32::try_from(number).unwrap_or(u32::MAX));
            }
            lanes
                .list
                .get_mut(number)
                .into_iter()
                .for_each(|lane| lane.push(id));
        }
        lanes
    }

    /// All lanes, by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[EntryId]> {
        self.list.iter().map(Vec::as_slice)
    }

    /// The number of an entry's lane, and its index there.
    pub(crate) fn place_of(&self, id: EntryId) -> Option<(usize, usize)> {
        let number = self
            .numbers
            .get(id.index())
            .map_or(0, |number| *number as usize);
        Some((number, self.list.get(number)?.binary_search(&id).ok()?))
    }

    /// The following entries of the same lane.
    pub(crate) fn following(&self, id: EntryId) -> &[EntryId] {
        let found = self.place_of(id);
        found
            .and_then(|(number, place)| self.list.get(number)?.get(place + 1..))
            .unwrap_or_default()
    }
}
