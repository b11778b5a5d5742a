//! The entries of each lane, for values that judge an entry by those before it in its lane.

use std::collections::HashMap;

use crate::model::entry::EntryId;
use crate::model::text::Name;
use crate::model::transcript::Transcript;

/// The entries of each lane.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lanes {
    /// In the order of their first entries.
    list: Vec<Vec<EntryId>>,
    /// By id: the number of the lane, and the place in it.
    places: Vec<Option<(u32, u32)>>,
}

impl Lanes {
    /// Of these entries, which stand in the order of the session.
    pub(crate) fn of(transcript: &Transcript, ids: impl Iterator<Item = EntryId>) -> Self {
        let mut lanes = Self { list: Vec::new(), places: vec![None; transcript.ids()] };
        let mut numbers: HashMap<Option<&Name>, usize> = HashMap::new();
        for id in ids {
            let number = *numbers.entry(transcript.lane_at(id)).or_insert(lanes.list.len());
            if number == lanes.list.len() {
                lanes.list.push(Vec::new());
            }
            let (Some(lane), Some(place)) = (lanes.list.get_mut(number), lanes.places.get_mut(id.index()))
            else {
                continue;
            };
            *place = u32::try_from(number).ok().zip(u32::try_from(lane.len()).ok());
            lane.push(id);
        }
        lanes
    }

    /// All lanes, by their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[EntryId]> {
        self.list.iter().map(Vec::as_slice)
    }

    /// The number of the lane of an entry, and its place there.
    pub(crate) fn place_of(&self, id: EntryId) -> Option<(usize, usize)> {
        let (number, place) = (*self.places.get(id.index())?)?;
        Some((usize::try_from(number).ok()?, usize::try_from(place).ok()?))
    }

    /// Entries of the same lane behind one.
    pub(crate) fn behind(&self, id: EntryId) -> &[EntryId] {
        let found = self.place_of(id);
        found.and_then(|(number, place)| self.list.get(number)?.get(place + 1..)).unwrap_or_default()
    }
}
