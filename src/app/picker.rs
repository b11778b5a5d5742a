//! The picker: the sessions that were found, narrowed by what is typed, and the one that is chosen.
//!
//! **The picker is a mode, not a program of its own.** It lies over the session, or over nothing, so the loop, the
//! keys and the screen are the same. The session behind goes on being followed until another one is opened;
//! [`runtime`] drops it then, with its threads and whatever they still have to say. Sessions come one by one and are
//! matched in steps, so a key costs the same with ten sessions and with ten thousand.
//!
//! Invariant: a key or a sighting costs little however many sessions there are: they are matched in steps,
//! one for each arrangement. What the reader has chosen stays chosen while others come and go.

pub mod actions;
pub(crate) mod sieve;
pub mod texts;

use std::cmp::Reverse;
use std::collections::HashMap;

use tui_input::{Input, InputRequest};

use self::sieve::{Grist, Sieve};
use self::texts::{Progress, TextHits};
use crate::model::found::{Found, Place, Preview, Sighting, TextHit};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

/// The sessions, and which one is chosen.
#[derive(Default)]
pub struct Picker {
    /// What is typed.
    pub input: Input,
    /// Where is looked, for people.
    pub places: Vec<String>,
    /// Whether all places were looked at once.
    pub is_complete: bool,
    /// Why places that the reader named cannot be looked at.
    pub refused: Vec<Text>,
    /// Whether the preview is wanted, where there is room.
    pub(crate) hides_preview: bool,
    /// What is known of the chosen session beyond its row.
    pub(crate) previewed: Option<Previewed>,
    /// First row in sight.
    pub top: usize,
    /// In the order in which they came.
    sessions: Vec<Candidate>,
    by_place: HashMap<Place, usize>,
    /// Those that fit, the best first, else the newest; below them those whose text does.
    shown: Vec<Shown>,
    texts: TextHits,
    is_stale: bool,
    chosen: Option<Place>,
    /// The row of the chosen one when it was last in sight.
    row: usize,
    sieve: Sieve,
    /// All before this one were matched with what is typed.
    matched: usize,
    /// Distinguishes what was seen since the picker was opened from what was seen before.
    round: u32,
}

/// The preview of a session as it was at some time.
pub struct Previewed {
    /// Which one.
    pub place: Place,
    /// As of when.
    pub modified: Option<Timestamp>,
    /// What it is about, once that is known.
    pub preview: Option<Preview>,
}

/// A row: a session by its number, or a hit in the text of one.
#[derive(Clone, Copy)]
enum Shown {
    Session(usize),
    Hit(usize),
}

/// A row of the list.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    /// The session.
    pub found: &'a Found,
    /// What of its text has what is typed, where nothing else of it does.
    pub hit: Option<&'a TextHit>,
}

struct Candidate {
    found: Found,
    grist: Grist,
    score: Option<u32>,
    round: u32,
}

/// Where the parts of the screen are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Lines of the list.
    pub lines: u16,
    /// Columns of the list.
    pub columns: u16,
    /// Where the preview is.
    pub pane: Pane,
    /// Whether the header is shown.
    pub header: bool,
    /// Whether the line that is typed is shown.
    pub status: bool,
    /// Whether the line of hints is shown.
    pub hints: bool,
}

/// Where the preview is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    /// Nowhere.
    Hidden,
    /// Right of the list, with so many columns.
    Beside(u16),
    /// Below the list, with so many lines.
    Below(u16),
}

impl Picker {
    /// How many sessions fit what is typed by their facts, and how many there are.
    pub fn counts(&self) -> (usize, usize) {
        (self.shown.len() - self.hits(), self.sessions.len())
    }

    /// How many fit by their text alone.
    pub fn hits(&self) -> usize {
        // They stand below all others.
        self.shown
            .iter()
            .rev()
            .take_while(|shown| matches!(shown, Shown::Hit(_)))
            .count()
    }

    /// How far looking through texts is.
    pub fn progress(&self) -> Progress {
        self.texts.progress
    }

    /// The sessions in sight, and whether each is the chosen one.
    pub fn in_sight(&self, lines: usize) -> impl Iterator<Item = (Row<'_>, bool)> {
        let rows = self
            .shown
            .iter()
            .skip(self.top)
            .take(lines)
            .filter_map(|shown| self.row_of(*shown));
        rows.map(|row| (row, self.is_chosen(row.found)))
    }

    /// The session that is chosen.
    pub fn chosen(&self) -> Option<Row<'_>> {
        self.row_of(*self.shown.get(self.chosen_row()?)?)
    }

    fn row_of(&self, shown: Shown) -> Option<Row<'_>> {
        match shown {
            Shown::Session(index) => Some(Row {
                found: &self.sessions.get(index)?.found,
                hit: None,
            }),
            Shown::Hit(index) => {
                let hit = self.texts.hits.get(index)?;
                // What the list knows of it is newer.
                let known = self.known(&hit.found).map(|candidate| &candidate.found);
                Some(Row {
                    found: known.unwrap_or(&hit.found),
                    hit: Some(hit),
                })
            }
        }
    }

    fn known(&self, found: &Found) -> Option<&Candidate> {
        self.sessions.get(*self.by_place.get(&found.place())?)
    }

    fn is_chosen(&self, found: &Found) -> bool {
        self.chosen
            .as_ref()
            .is_some_and(|chosen| found.is_at(chosen))
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
        self.chosen = None;
        (self.top, self.row) = (0, 0);
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
        self.shown = fitting
            .into_iter()
            .map(|(_, _, _, index)| Shown::Session(index))
            .collect();
        let hits = self.hits_alone();
        self.shown.extend(hits);
        if !self.is_at_work() && self.chosen_row().is_none() {
            // Where the chosen one has gone, the one in its row takes its place.
            self.choose(self.row.min(self.shown.len().saturating_sub(1)));
        }
    }

    /// The hits in texts of sessions that do not fit by their facts, the newest first.
    fn hits_alone(&mut self) -> Vec<Shown> {
        if self.is_at_work() {
            return Vec::new();
        }
        let mut alone = Vec::new();
        for (index, hit) in self.texts.hits.iter().enumerate() {
            let known = self
                .by_place
                .get(&hit.found.place())
                .and_then(|index| self.sessions.get(*index));
            let passes = match known {
                Some(known) => known.score.is_none() && self.sieve.lets_pass(&known.grist),
                None => self.sieve.lets_pass(&Grist::of(&hit.found)),
            };
            let modified = known.map_or(hit.found.modified, |known| known.found.modified);
            alone.extend(passes.then_some((Reverse(modified), &hit.found.path, index)));
        }
        alone.sort_unstable();
        alone
            .into_iter()
            .map(|(_, _, index)| Shown::Hit(index))
            .collect()
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

    fn chosen_row(&self) -> Option<usize> {
        let index = self.by_place.get(self.chosen.as_ref()?);
        self.shown.iter().position(|shown| match shown {
            Shown::Session(session) => Some(session) == index,
            Shown::Hit(hit) => self
                .texts
                .hits
                .get(*hit)
                .is_some_and(|hit| self.is_chosen(&hit.found)),
        })
    }

    fn choose(&mut self, row: usize) {
        let row = self.shown.get(row).and_then(|shown| self.row_of(*shown));
        self.chosen = row.map(|row| row.found.place());
    }

    pub(crate) fn move_by(&mut self, by: isize) {
        let last = self.shown.len().saturating_sub(1);
        let row = self
            .chosen_row()
            .unwrap_or(0)
            .saturating_add_signed(by)
            .min(last);
        self.choose(row);
    }

    /// Brings the chosen one into sight.
    fn scroll(&mut self, lines: usize) {
        let row = self.chosen_row().unwrap_or(0);
        let lowest = row.saturating_sub(lines.saturating_sub(1));
        self.row = row;
        self.top = self
            .top
            .clamp(lowest, row)
            .min(self.shown.len().saturating_sub(lines));
    }

    /// What must be asked for, so that the preview can be shown.
    fn ask(&mut self) -> Option<Found> {
        let found = self.chosen()?.found;
        let known = self
            .previewed
            .as_ref()
            .filter(|known| known.place == found.place());
        if known.is_some_and(|known| known.modified == found.modified) {
            return None;
        }
        let found = found.clone();
        // Of a session that grows the earlier preview stays until there is a new one.
        let preview = self
            .previewed
            .take()
            .filter(|known| known.place == found.place());
        let preview = preview.and_then(|known| known.preview);
        self.previewed = Some(Previewed {
            place: found.place(),
            modified: found.modified,
            preview,
        });
        Some(found)
    }
}
