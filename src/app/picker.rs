//! The picker: the sessions that were found, narrowed by the typed text, and the chosen one.
//!
//! **The picker is a mode, not a separate program.** It covers the session, or nothing, so the
//! loop, the keys and the screen are the same. The session below is followed until another one is
//! opened; `runtime` then drops it, with its threads and their pending messages. Sessions arrive
//! one by one and are matched in steps, so a key costs the same with ten sessions and with ten
//! thousand.
//!
//! Invariants: the work per key press or new session is bounded, because matching is done in steps,
//! one per frame. The chosen session stays chosen while others are added and removed; before the
//! first key press, the first row is chosen.

pub mod actions;
pub(crate) mod query;
pub(crate) mod sheet;
pub mod texts;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use tui_input::{Input, InputRequest};

use self::query::{Fit, SessionFacts, SessionQuery};
use self::texts::TextHits;
use crate::analysis::wall::{Glance, SessionRow};
use crate::app::input::action::Action;
use crate::app::views::list::List;
use crate::app::views::page::Sheet;
use crate::listing::found::{FoundColumn, FoundRow, columns};
use crate::listing::sort::{Order, Sort};
use crate::listing::table::Listing;
use crate::model::found::{FoundSession, Sighting, Target, TextHit};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

/// Limit of the cached facts of sessions; those out of sight are then dropped, and read again when
/// needed.
const GLANCES: usize = 300;

/// The best match first, then the newest.
const BY_AGE: Sort = Sort {
    by: PickerList::ORDER,
    order: Order::Rising,
};

/// The list of sessions, and the chosen one.
pub struct Picker {
    pub input: Input,
    /// Whether all keys are letters of the search, although none has been typed yet.
    pub(crate) wants_letters: bool,
    /// The searched places, for messages.
    pub places: Vec<String>,
    /// Whether the scan of all places has ended once.
    pub is_complete: bool,
    /// Errors for places requested by the user that cannot be searched.
    pub refused: Vec<Text>,
    /// The page as written for the screen.
    pub sheet: Sheet,
    /// Whether the user has hidden the preview.
    hides_preview: bool,
    /// Sessions in the order of arrival.
    sessions: Vec<RankedSession>,
    by_place: HashMap<Target, usize>,
    /// Sessions whose facts have the typed words, by score, then the newest first; after them those
    /// whose texts have them. If there are none, those with the letters in their title.
    list: List<Target>,
    /// Number of sessions with hits in their texts only.
    pub hits: usize,
    /// Whether the listed sessions only have the letters of the typed words.
    is_guess: bool,
    pub(crate) texts: TextHits,
    is_stale: bool,
    query: SessionQuery,
    /// Number of sessions that were matched against the typed text, from the start of `sessions`.
    matched: usize,
    /// Number of the current scan; sessions from an earlier one are removed when it is complete.
    scan: u32,
    /// What was read of visible sessions.
    glances: HashMap<Target, Glance>,
    /// The last request: sessions, and their times of modification.
    last_request: Vec<(Target, Option<Timestamp>)>,
    /// Sessions marked to be opened as one.
    marked: HashSet<Target>,
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
            list: List::default().kept_on_top().sorted(BY_AGE),
            hits: 0,
            is_guess: false,
            texts: TextHits::default(),
            is_stale: false,
            query: SessionQuery::default(),
            matched: 0,
            scan: 0,
            glances: HashMap::new(),
            last_request: Vec::new(),
            marked: HashSet::new(),
        }
    }
}

struct RankedSession {
    found: FoundSession,
    facts: SessionFacts,
    fit: Option<Fit>,
    scan: u32,
}

/// The shown sessions as rows.
struct PickerList<'a> {
    picker: &'a Picker,
    /// Titles that several sessions have.
    shared_titles: HashSet<&'a str>,
    /// Whether a row has a second line for what else is known.
    has_two_lines: bool,
    now: Timestamp,
}

impl<'a> PickerList<'a> {
    fn of(picker: &'a Picker, now: Timestamp) -> Self {
        Self {
            picker,
            shared_titles: HashSet::new(),
            has_two_lines: false,
            now,
        }
    }
}

impl<'a> Listing for PickerList<'a> {
    type Key = Target;
    type Row = FoundRow<'a>;
    const ORDER: &'static str = "age";
    const GAP: usize = 2;
    const SHRINKS: bool = true;

    fn columns(&self, _: usize) -> Vec<FoundColumn<'a>> {
        columns(self.has_two_lines)
    }

    fn row(&self, place: &Target) -> Option<FoundRow<'a>> {
        let (picker, now) = (self.picker, self.now);
        let (found, hit) = picker.at(place)?;
        let title = found.title.as_deref();
        Some(FoundRow {
            found,
            hit,
            glance: picker.glances.get(place),
            is_marked: picker.marked.contains(place),
            has_shared_title: title.is_some_and(|title| self.shared_titles.contains(title)),
            now,
        })
    }
}

impl Picker {
    /// Number of sessions whose facts match the typed text, and of all sessions.
    pub fn counts(&self) -> (usize, usize) {
        (self.list.keys().len() - self.hits, self.sessions.len())
    }

    /// The chosen session, with the hit in its text if its facts do not match.
    pub fn chosen(&self) -> Option<(&FoundSession, Option<&TextHit>)> {
        self.at(self.list.chosen()?)
    }

    /// What was read of the chosen session.
    pub(crate) fn chosen_row(&self) -> Option<&SessionRow> {
        let glance = self.glances.get(self.list.chosen()?);
        glance.map(|glance| &glance.row)
    }

    /// The shown sessions in order.
    pub fn shown(&self) -> impl Iterator<Item = (&FoundSession, Option<&TextHit>)> {
        self.list.keys().iter().filter_map(|place| self.at(place))
    }

    fn at(&self, place: &Target) -> Option<(&FoundSession, Option<&TextHit>)> {
        let known = self.candidate(place);
        let is_of = |is_such: fn(Fit) -> bool| known.filter(|known| known.fit.is_some_and(is_such));
        if let Some(known) = is_of(Fit::is_of_words) {
            return Some((&known.found, None));
        }
        let mut hits = self.texts.hits.iter();
        match hits.find(|hit| hit.found.is_at(place)) {
            // The facts in the list are newer than those of the hit.
            Some(hit) => Some((known.map_or(&hit.found, |known| &known.found), Some(hit))),
            None => is_of(|_| true).map(|known| (&known.found, None)),
        }
    }

    fn candidate(&self, place: &Target) -> Option<&RankedSession> {
        self.sessions.get(*self.by_place.get(place)?)
    }

    /// Whether sessions remain to be matched.
    pub(crate) fn is_at_work(&self) -> bool {
        self.matched < self.sessions.len()
    }

    /// Starts a new scan of all places.
    pub(crate) fn begin(&mut self) {
        self.scan += 1;
        self.is_complete = false;
        self.refused.clear();
        self.texts.stop();
    }

    /// Applies a result of the scan.
    pub fn apply(&mut self, sighting: Sighting) {
        self.is_stale = true;
        match sighting {
            Sighting::Found(found) => self.insert(*found),
            Sighting::Removed(place) => self.remove(&place),
            Sighting::Refused(why) => self.refused = why,
            Sighting::Complete => {
                self.is_complete = true;
                let round = self.scan;
                let gone = self
                    .sessions
                    .iter()
                    .filter(|candidate| candidate.scan != round);
                let gone: Vec<Target> = gone.map(|candidate| candidate.found.place()).collect();
                for place in &gone {
                    self.remove(place);
                }
            }
        }
    }

    fn insert(&mut self, found: FoundSession) {
        let place = found.place();
        let facts = SessionFacts::of(&found);
        let mut candidate = RankedSession {
            found,
            facts,
            fit: None,
            scan: self.scan,
        };
        if let Some(index) = self.by_place.get(&place).copied() {
            if index < self.matched {
                candidate.fit = self.query.fit(&candidate.facts);
            }
            if let Some(known) = self.sessions.get_mut(index) {
                *known = candidate;
            }
        } else {
            self.by_place.insert(place, self.sessions.len());
            self.sessions.push(candidate);
        }
    }

    fn remove(&mut self, place: &Target) {
        self.texts.remove(place);
        let Some(index) = self.by_place.remove(place) else {
            return;
        };
        self.sessions.swap_remove(index);
        // The last session was moved to this index, whether it was matched or not.
        self.matched = self.matched.min(index);
        if let Some(moved) = self.sessions.get(index) {
            self.by_place.insert(moved.found.place(), index);
        }
    }

    pub(crate) fn edit_input(&mut self, request: InputRequest) {
        let before = self.input.value().to_owned();
        self.input.handle(request);
        if self.input.value() != before {
            self.restart_matching();
        }
    }

    /// Applies a change of the typed text; the best match becomes the chosen session.
    fn restart_matching(&mut self) {
        self.query.set(self.input.value());
        self.texts.set(self.query.words());
        self.matched = 0;
        self.list = List::default().kept_on_top().sorted(BY_AGE);
        self.is_stale = true;
    }

    /// Matches the next sessions, at most `most`.
    fn match_some(&mut self, most: usize) {
        let query = &mut self.query;
        let waiting = self.sessions.iter_mut().skip(self.matched).take(most);
        let mut done = 0;
        for candidate in waiting {
            candidate.fit = query.fit(&candidate.facts);
            done += 1;
        }
        self.matched += done;
        self.is_stale |= done > 0;
    }

    /// Sorts by another column, or the other way round. Returns `false` for other actions.
    pub(crate) fn sort(&mut self, action: Action) -> bool {
        let sorts = matches!(action, Action::Shift(_) | Action::Reverse)
            && self.list.act(action, 1).is_some();
        self.is_stale |= sorts;
        sorts
    }

    /// Sorts the matching sessions.
    fn sort_matches(&mut self, now: Timestamp) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        let mut keys = self.fitting(Fit::is_of_words);
        let hits = self.hits_without_match();
        self.hits = hits.len();
        keys.extend(hits);
        // Letters scattered over a title are a guess, made only if the words are nowhere.
        self.is_guess = keys.is_empty() && !self.texts.is_awaited();
        if self.is_guess {
            keys = self.fitting(|_| true);
        }
        let mut list = std::mem::take(&mut self.list);
        list.fill(&PickerList::of(self, now), keys, false);
        self.list = list;
    }

    /// The sessions that match in such a way, by score, then the newest first.
    fn fitting(&self, is_such: fn(Fit) -> bool) -> Vec<Target> {
        let matched = self.sessions.iter().take(self.matched);
        let fitting = matched.filter_map(|candidate| {
            Some((
                Reverse(candidate.fit.filter(|fit| is_such(*fit))?),
                Reverse(candidate.found.modified),
                &candidate.found,
            ))
        });
        let mut fitting: Vec<_> = fitting.collect();
        fitting.sort_unstable_by(|one, other| {
            let key = |fitting: &(_, _, &FoundSession)| (fitting.0, fitting.1);
            key(one)
                .cmp(&key(other))
                .then_with(|| one.2.path.cmp(&other.2.path))
        });
        fitting
            .into_iter()
            .map(|(.., found)| found.place())
            .collect()
    }

    /// The sessions with hits in their texts whose facts do not match: first those with the words as
    /// they were typed, each the newest first.
    fn hits_without_match(&mut self) -> Vec<Target> {
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
                Some(known) => {
                    !known.fit.is_some_and(Fit::is_of_words) && self.query.passes(&known.facts)
                }
                None => self.query.passes(&SessionFacts::of(&hit.found)),
            };
            let modified = known.map_or(hit.found.modified, |known| known.found.modified);
            let order = (!self.texts.has_phrase(hit), Reverse(modified));
            alone.extend(passes.then_some((order, &hit.found.path, place)));
        }
        alone.sort_unstable_by(|one, other| (one.0, one.1).cmp(&(other.0, other.1)));
        alone.into_iter().map(|(.., place)| place).collect()
    }

    pub(crate) fn add_hit(&mut self, generation: u32, hit: TextHit) {
        self.texts.add(generation, hit);
        self.is_stale = true;
    }

    /// Called when the search through texts has ended.
    pub(crate) fn end_of_texts(&mut self, generation: u32, is_all: bool, failures: usize) {
        self.texts.end(generation, is_all, failures);
        self.is_stale = true;
    }

    /// Number of visible sessions.
    pub(crate) fn visible_count(&self) -> usize {
        self.list.window().count()
    }

    /// Moves the cursor by rows.
    pub(crate) fn move_by(&mut self, by: isize) {
        self.list.step(by);
    }

    /// Toggles the mark of the chosen session; marked sessions are opened as one.
    pub(crate) fn mark(&mut self) {
        if let Some(place) = self.list.chosen().cloned()
            && !self.marked.remove(&place)
        {
            self.marked.insert(place);
        }
        self.list.step(1);
    }

    /// The visible sessions that must be read to show their facts, the chosen one first; `None` if
    /// there are none or they were already requested.
    fn next_glances(&mut self) -> Option<Vec<FoundSession>> {
        let in_sight: Vec<(Target, bool)> = self
            .list
            .window()
            .map(|(_, place, is_chosen)| (place.clone(), is_chosen))
            .collect();
        if self.glances.len() > GLANCES {
            let is_in_sight = |known: &Target| in_sight.iter().any(|(place, _)| place == known);
            self.glances.retain(|place, _| is_in_sight(place));
        }
        let mut wanted: Vec<(bool, FoundSession)> = Vec::new();
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
        let named = |found: &FoundSession| (found.place(), found.modified);
        if wanted
            .iter()
            .all(|(_, found)| self.last_request.contains(&named(found)))
        {
            return None;
        }
        self.last_request = wanted.iter().map(|(_, found)| named(found)).collect();
        Some(wanted.into_iter().map(|(_, found)| found).collect())
    }
}
