//! The picker: the sessions that were found, narrowed by what is typed, and the one that is chosen.
//!
//! **The picker is a mode, not a program of its own.** It lies over the session, or over nothing, so the loop, the
//! keys and the screen are the same. The session behind goes on being followed until another one is opened;
//! [`runtime`] drops it then, with its threads and whatever they still have to say. Sessions come one by one and are
//! matched in steps, so a key costs the same with ten sessions and with ten thousand.
//!
//! Invariant: a key or a sighting costs little however many sessions there are: they are matched in steps,
//! one for each arrangement. What the reader has chosen stays chosen while others come and go; until a key was pressed,
//! that is the first row.

pub mod actions;
mod sheet;
pub(crate) mod sieve;
pub mod texts;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use tui_input::{Input, InputRequest};

use self::sieve::{Grist, Sieve};
use self::texts::{Progress, TextHits};
use crate::analysis::wall::Glance;
use crate::app::views::list::List;
use crate::app::views::page::Sheet;
use crate::listing::found::FoundRow;
use crate::model::found::{Found, Place, Sighting, TextHit};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

/// What was read of so many sessions is kept; it is read again of others that come into sight again.
const GLANCES: usize = 300;

/// The sessions, and which one is chosen.
pub struct Picker {
    /// What is typed.
    pub input: Input,
    /// Whether all keys are letters of it, although none was typed yet.
    pub(crate) wants_letters: bool,
    /// Where is looked, for people.
    pub places: Vec<String>,
    /// Whether all places were looked at once.
    pub is_complete: bool,
    /// Why places that the reader named cannot be looked at.
    pub refused: Vec<Text>,
    /// What the screen shows of it.
    pub sheet: Sheet,
    /// Whether the preview is not wanted, where there is room.
    hides_preview: bool,
    /// In the order in which they came.
    sessions: Vec<Candidate>,
    by_place: HashMap<Place, usize>,
    /// Those that fit, the best first, else the newest; below them those whose text does.
    list: List<Place>,
    /// How many of these fit by their text alone.
    hits: usize,
    texts: TextHits,
    is_stale: bool,
    sieve: Sieve,
    /// All before this one were matched with what is typed.
    matched: usize,
    /// Distinguishes what was seen since the picker was opened from what was seen before.
    round: u32,
    /// What was read of sessions that were in sight.
    glances: HashMap<Place, Glance>,
    /// Of which it was asked for last, and as of when.
    asked: Vec<(Place, Option<Timestamp>)>,
    /// Those that are to be opened as one.
    marked: HashSet<Place>,
}

impl Default for Picker {
    fn default() -> Self {
        Self {
            input: Input::default(),
            wants_letters: false,
            places: Vec::new(),
            is_complete: false,
            refused: Vec::new(),
            sheet: Sheet::default(),
            hides_preview: false,
            sessions: Vec::new(),
            by_place: HashMap::new(),
            list: List::default().kept_on_top(),
            hits: 0,
            texts: TextHits::default(),
            is_stale: false,
            sieve: Sieve::default(),
            matched: 0,
            round: 0,
            glances: HashMap::new(),
            asked: Vec::new(),
            marked: HashSet::new(),
        }
    }
}

struct Candidate {
    found: Found,
    grist: Grist,
    score: Option<u32>,
    round: u32,
}

impl Picker {
    /// How many sessions fit what is typed by their facts, and how many there are.
    pub fn counts(&self) -> (usize, usize) {
        (self.list.keys().len() - self.hits, self.sessions.len())
    }

    /// How many fit by their text alone.
    pub fn hits(&self) -> usize {
        self.hits
    }

    /// How far looking through texts is.
    pub fn progress(&self) -> Progress {
        self.texts.progress
    }

    /// The session that is chosen, and what of its text has what is typed, where nothing else of it does.
    pub fn chosen(&self) -> Option<(&Found, Option<&TextHit>)> {
        self.at(self.list.chosen()?)
    }

    /// The sessions that are shown, in their order.
    pub fn shown(&self) -> impl Iterator<Item = (&Found, Option<&TextHit>)> {
        self.list.keys().iter().filter_map(|place| self.at(place))
    }

    fn at(&self, place: &Place) -> Option<(&Found, Option<&TextHit>)> {
        let known = self.known(place);
        if let Some(known) = known.filter(|known| known.score.is_some()) {
            return Some((&known.found, None));
        }
        let mut hits = self.texts.hits.iter();
        let hit = hits.find(|hit| hit.found.is_at(place))?;
        // What the list knows of it is newer.
        Some((known.map_or(&hit.found, |known| &known.found), Some(hit)))
    }

    fn known(&self, place: &Place) -> Option<&Candidate> {
        self.sessions.get(*self.by_place.get(place)?)
    }

    /// A row of the list.
    fn row(&self, place: &Place, twins: &HashSet<&str>, now: Timestamp) -> Option<FoundRow<'_>> {
        let (found, hit) = self.at(place)?;
        let title = found.title.as_deref();
        Some(FoundRow {
            found,
            hit,
            glance: self.glances.get(place),
            is_marked: self.marked.contains(place),
            is_twin: title.is_some_and(|title| twins.contains(title)),
            now,
        })
    }

    /// Whether not all sessions were matched yet.
    pub(crate) fn is_at_work(&self) -> bool {
        self.matched < self.sessions.len()
    }

    /// A new look at all places begins.
    pub(crate) fn begin(&mut self) {
        self.round += 1;
        self.is_complete = false;
        self.refused.clear();
        self.texts.stop();
    }

    /// Takes what was seen.
    pub fn see(&mut self, sighting: Sighting) {
        self.is_stale = true;
        match sighting {
            Sighting::Found(found) => self.put(*found),
            Sighting::Gone(place) => self.remove(&place),
            Sighting::Refused(why) => self.refused = why,
            Sighting::Complete => {
                self.is_complete = true;
                let round = self.round;
                let gone = self
                    .sessions
                    .iter()
                    .filter(|candidate| candidate.round != round);
                let gone: Vec<Place> = gone.map(|candidate| candidate.found.place()).collect();
                for place in &gone {
                    self.remove(place);
                }
            }
        }
    }

    fn put(&mut self, found: Found) {
        let place = found.place();
        let grist = Grist::of(&found);
        let mut candidate = Candidate {
            found,
            grist,
            score: None,
            round: self.round,
        };
        if let Some(index) = self.by_place.get(&place).copied() {
            if index < self.matched {
                candidate.score = self.sieve.score(&candidate.grist);
            }
            if let Some(known) = self.sessions.get_mut(index) {
                *known = candidate;
            }
        } else {
            self.by_place.insert(place, self.sessions.len());
            self.sessions.push(candidate);
        }
    }

    fn remove(&mut self, place: &Place) {
        self.texts.remove(place);
        let Some(index) = self.by_place.remove(place) else {
            return;
        };
        self.sessions.swap_remove(index);
        // The last one has taken its place, matched or not.
        self.matched = self.matched.min(index);
        if let Some(moved) = self.sessions.get(index) {
            self.by_place.insert(moved.found.place(), index);
        }
    }

    pub(crate) fn type_on(&mut self, request: InputRequest) {
        let before = self.input.value().to_owned();
        self.input.handle(request);
        if self.input.value() != before {
            self.sift();
        }
    }

    /// What is typed has changed: the best that fits is the chosen one.
    fn sift(&mut self) {
        self.sieve.set(self.input.value());
        self.texts.set(self.sieve.words());
        self.matched = 0;
        self.list = List::default().kept_on_top();
        self.is_stale = true;
    }

    /// Matches some of the sessions that were not matched yet.
    fn match_on(&mut self, most: usize) {
        let sieve = &mut self.sieve;
        let waiting = self.sessions.iter_mut().skip(self.matched).take(most);
        let mut done = 0;
        for candidate in waiting {
            candidate.score = sieve.score(&candidate.grist);
            done += 1;
        }
        self.matched += done;
        self.is_stale |= done > 0;
    }

    /// Puts those that fit in order.
    fn order(&mut self) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        let matched = self.sessions.iter().take(self.matched).enumerate();
        let fitting = matched.filter_map(|(index, candidate)| {
            Some((
                Reverse(candidate.score?),
                Reverse(candidate.found.modified),
                &candidate.found.path,
                index,
            ))
        });
        let mut fitting: Vec<_> = fitting.collect();
        fitting.sort_unstable();
        let fitting: Vec<usize> = fitting.into_iter().map(|(.., index)| index).collect();
        let place = |index: &usize| Some(self.sessions.get(*index)?.found.place());
        let mut keys: Vec<Place> = fitting.iter().filter_map(place).collect();
        let hits = self.hits_alone();
        self.hits = hits.len();
        keys.extend(hits);
        self.list.set(keys, false);
    }

    /// The hits in texts of sessions that do not fit by their facts, the newest first.
    fn hits_alone(&mut self) -> Vec<Place> {
        if self.is_at_work() {
            return Vec::new();
        }
        let mut alone = Vec::new();
        for hit in &self.texts.hits {
            let place = hit.found.place();
            let known = self
                .by_place
                .get(&place)
                .and_then(|index| self.sessions.get(*index));
            let passes = match known {
                Some(known) => known.score.is_none() && self.sieve.lets_pass(&known.grist),
                None => self.sieve.lets_pass(&Grist::of(&hit.found)),
            };
            let modified = known.map_or(hit.found.modified, |known| known.found.modified);
            alone.extend(passes.then_some((Reverse(modified), &hit.found.path, place)));
        }
        alone.sort_unstable_by(|one, other| (one.0, one.1).cmp(&(other.0, other.1)));
        alone.into_iter().map(|(.., place)| place).collect()
    }

    /// Takes a hit in a text.
    pub(crate) fn take_hit(&mut self, generation: u32, hit: TextHit) {
        self.texts.take(generation, hit);
        self.is_stale = true;
    }

    /// The texts were looked through.
    pub(crate) fn end_of_texts(&mut self, generation: u32, is_all: bool, failures: usize) {
        self.texts.end(generation, is_all, failures);
    }

    /// How many sessions are in sight.
    pub(crate) fn in_sight(&self) -> usize {
        self.list.window().count()
    }

    /// Goes so many rows on, or back.
    pub(crate) fn move_by(&mut self, by: isize) {
        self.list.step(by);
    }

    /// Marks the chosen session, to be opened with others, or takes the mark away.
    pub(crate) fn mark(&mut self) {
        if let Some(place) = self.list.chosen().cloned()
            && !self.marked.remove(&place)
        {
            self.marked.insert(place);
        }
        self.list.step(1);
    }

    /// What is to be read so that rows in sight can be shown with their facts, the chosen one first.
    fn ask(&mut self) -> Option<Vec<Found>> {
        let in_sight: Vec<(Place, bool)> = self
            .list
            .window()
            .map(|(_, place, is_chosen)| (place.clone(), is_chosen))
            .collect();
        if self.glances.len() > GLANCES {
            let is_in_sight = |known: &Place| in_sight.iter().any(|(place, _)| place == known);
            self.glances.retain(|place, _| is_in_sight(place));
        }
        let mut wanted: Vec<(bool, Found)> = Vec::new();
        for (place, is_chosen) in in_sight {
            let found = self.at(&place).map(|(found, _)| found);
            let Some(found) = found.filter(|found| found.unreadable.is_none()) else {
                continue;
            };
            let known = self.glances.get(&place);
            if known.is_none_or(|known| known.modified != found.modified) {
                wanted.push((is_chosen, found.clone()));
            }
        }
        wanted.sort_by_key(|(is_chosen, _)| Reverse(*is_chosen));
        let named = |found: &Found| (found.place(), found.modified);
        if wanted
            .iter()
            .all(|(_, found)| self.asked.contains(&named(found)))
        {
            return None;
        }
        self.asked = wanted.iter().map(|(_, found)| named(found)).collect();
        Some(wanted.into_iter().map(|(_, found)| found).collect())
    }
}
