//! The entries of each lane in pages, for indexes that judge an entry by those before it in its
//! lane: the position of each entry, a sheet per page, and the pages to be judged again.
//!
//! Invariant: once all entries are processed, the sheets equal those of one pass over each lane
//! from its beginning, whatever the order in which entries arrived. A new or changed entry costs
//! its page, and later pages only where their initial state changes; and no call costs more than
//! the limit that it is given, so that keys are never delayed.

use std::collections::{BTreeSet, HashMap};

use super::pages::{PageTimes, judge};
use crate::model::entry::EntryId;
use crate::model::text::Name;
use crate::model::transcript::Transcript;

/// Entries per page: about as many as arrive at once, because an incomplete page is judged again
/// with each new entry.
pub(crate) const PAGE: usize = 64;

/// The entries of a lane.
#[derive(Clone, Debug)]
pub(crate) struct Track {
    /// `None` is the main lane.
    pub(crate) lane: Option<Name>,
    /// The lane's entries in file order.
    pub(crate) ids: Vec<EntryId>,
    pub(crate) pages: Vec<PageTimes>,
    stale: BTreeSet<usize>,
}

/// The lanes of a session with their entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lanes {
    /// Entries of the order that were added.
    pub(crate) read: usize,
    /// Lane number by entry id, if there are several lanes.
    number_of: Vec<u32>,
    numbers: HashMap<Option<Name>, usize>,
    /// In the order of their first entries.
    pub(crate) tracks: Vec<Track>,
    /// Lanes with stale pages.
    stale: BTreeSet<usize>,
    /// Pages judged so far: a measure of cost that does not depend on the machine.
    pub(crate) judged: u64,
}

impl Lanes {
    /// Judges stale pages, of about `most` entries at most. Returns whether none remain.
    pub(crate) fn refresh(&mut self, transcript: &Transcript, most: usize) -> bool {
        // The minimum lets other pages proceed while one page becomes stale with every entry.
        let mut room = most.max(2 * PAGE);
        while let Some(number) = self.stale.first().copied() {
            let Some(track) = self.tracks.get_mut(number) else {
                break;
            };
            self.judged += track.refresh(transcript, &mut room);
            if !track.stale.is_empty() {
                return false;
            }
            self.stale.remove(&number);
        }
        true
    }

    /// Adds the next entry; takes effect with [`Lanes::refresh`].
    pub(crate) fn add(&mut self, transcript: &Transcript, id: EntryId) {
        self.read += 1;
        let lane = transcript.lane_at(id).cloned();
        let number = if let Some(number) = self.numbers.get(&lane) {
            *number
        } else {
            self.tracks.push(Track {
                lane: lane.clone(),
                ids: Vec::new(),
                pages: Vec::new(),
                stale: BTreeSet::new(),
            });
            self.numbers.insert(lane, self.tracks.len() - 1);
            self.tracks.len() - 1
        };
        let Some(track) = self.tracks.get_mut(number) else {
            return;
        };
        let place = track.ids.len();
        track.ids.push(id);
        track.stale.insert(place / PAGE);
        if number > 0 {
            self.number_of.resize(id.index(), 0);
            self.number_of
                .push(u32::try_from(number).unwrap_or(u32::MAX));
        }
        self.stale.insert(number);
    }

    /// Marks the page of an entry as stale; takes effect with [`Lanes::refresh`]. Returns false if
    /// the entry has moved to another lane, which invalidates all lanes.
    #[must_use]
    pub(crate) fn change(&mut self, transcript: &Transcript, id: EntryId) -> bool {
        let Some((number, place)) = self.place_of(id) else {
            return true;
        };
        let Some(track) = self.tracks.get_mut(number) else {
            return true;
        };
        if track.lane.as_ref() != transcript.lane_at(id) {
            return false;
        }
        track.stale.insert(place / PAGE);
        self.stale.insert(number);
        true
    }

    /// Whether all entries before this position of the order are processed.
    pub(crate) fn is_read_to(&self, place: usize) -> bool {
        self.read >= place && self.stale.is_empty()
    }

    /// A lane by name; `None` is the main one.
    pub(crate) fn track(&self, lane: Option<&Name>) -> Option<&Track> {
        self.track_of(lane).map(|(_, track)| track)
    }

    /// A lane with its number.
    pub(crate) fn track_of(&self, lane: Option<&Name>) -> Option<(usize, &Track)> {
        let number = *self.numbers.get(&lane.cloned())?;
        Some((number, self.tracks.get(number)?))
    }

    /// The number of an entry's lane, and its index there.
    pub(crate) fn place_of(&self, id: EntryId) -> Option<(usize, usize)> {
        let number = self
            .number_of
            .get(id.index())
            .map_or(0, |number| *number as usize);
        Some((
            number,
            self.tracks.get(number)?.ids.binary_search(&id).ok()?,
        ))
    }

    /// An entry's lane, and its index there.
    pub(crate) fn find(&self, id: EntryId) -> Option<(&Track, usize)> {
        let (number, place) = self.place_of(id)?;
        Some((self.tracks.get(number)?, place))
    }
}

impl Track {
    pub(crate) fn ids_of(&self, page: usize) -> &[EntryId] {
        self.ids.chunks(PAGE).nth(page).unwrap_or_default()
    }

    /// Judges stale pages in order while `room` entries remain. Returns the number of judged pages.
    fn refresh(&mut self, transcript: &Transcript, room: &mut usize) -> u64 {
        let mut judged = 0;
        while *room > 0
            && let Some(number) = self.stale.pop_first()
        {
            let before = number
                .checked_sub(1)
                .and_then(|before| self.pages.get(before));
            let enter = before.map(|page| page.exit).unwrap_or_default();
            let ids = self.ids_of(number);
            *room = room.saturating_sub(ids.len());
            let page = judge(transcript, ids, enter);
            judged += 1;
            let has_next = self.pages.len() > number + 1;
            match self.pages.get_mut(number) {
                Some(before) => {
                    if has_next && before.exit != page.exit {
                        self.stale.insert(number + 1);
                    }
                    *before = page;
                }
                None => self.pages.push(page),
            }
        }
        judged
    }
}
