//! The account of a session: requests, tokens, cost and time of each turn, each lane and the whole
//! session. Every view reads its figures here, so no two of them differ.
//!
//! * A **prompt** is what a human typed, also while the agent was working. Messages between agents,
//!   summaries, and what the harness adds are not prompts.
//! * A **turn** is a prompt with all that follows until the next one, and the lanes that its calls
//!   started. A lane without a known call belongs to the turn in whose time its first record falls.
//! * **Overhead** is the rest: what precedes the first prompt, what runs count beyond their
//!   requests, and helper lanes, which serve the session rather than a turn: compaction, side
//!   questions, titles. So turns and overhead together are the session, in requests, tokens and
//!   money.
//! * The **time** of a turn is that of its main lane. *Work* is time of the model, of tools and of
//!   retries; *waiting* is the human's: a permission, a question, nothing to do; the rest is
//!   unknown. Where an agent records its work time, and its calls took longer, the difference is
//!   waiting as well. The *span* goes from the prompt to the last timestamp of anything that
//!   belongs to it, except bookkeeping. The time before a prompt belongs to no turn.
//!
//! The entries of each lane are judged page by page, because the class of time depends on the
//! entries before ([`Lanes`]); the sums of turns, lanes and the session are computed from the pages
//! on demand. A figure is shown once all entries that belong to it are processed.
//!
//! Invariant: every request counts once, and belongs to one turn or to overhead. A new or changed
//! entry costs a page of its lane.

use std::collections::HashMap;

use super::derived::Generation;
use super::money::cost::{self, Cost};
use crate::model::entry::EntryId;
use crate::model::text::Name;
use crate::model::transcript::{Touched, Transcript};
use crate::model::turn::TurnFacts;

mod as_of;
pub mod class;
pub mod figures;
mod homes;
mod lanes;
mod pages;
mod sweep;
mod time;

pub(crate) use as_of::AsOf;
pub(crate) use class::{Class, Sums, TimeSpan};
pub(crate) use figures::{Figures, PathFacts};
use homes::Homes;
use lanes::{Lanes, PAGE, Track};
use pages::PageTimes;

/// Time, requests and cost of a session, by turn and lane.
#[derive(Clone, Debug, Default)]
pub struct Account {
    lanes: Lanes,
    sums: PageSums,
    /// Whether `sums` is up to date with the pages.
    is_current: bool,
    pub(crate) generation: u64,
}

/// Sums over the pages.
#[derive(Clone, Debug, Default)]
struct PageSums {
    homes: Homes,
    /// Sums of the pages that belong to one turn, by lane number and prompt: a turn may span
    /// thousands of pages. The pages shared with other turns, two at most, are added on demand.
    whole_pages: HashMap<(usize, Option<EntryId>), Figures>,
    /// Time of each lane, by its number.
    times: Vec<Sums>,
    /// Calls that started a sub-agent.
    delegated: u32,
}

impl PageSums {
    fn of(transcript: &Transcript, lanes: &Lanes) -> Self {
        let mut sums = Self::default();
        for (number, track) in lanes.tracks.iter().enumerate() {
            let mut time = Sums::default();
            for page in &track.pages {
                time.merge(&page.time());
                sums.delegated += page
                    .parts
                    .iter()
                    .map(|part| part.facts.delegated)
                    .sum::<u32>();
                if let [part] = &*page.parts {
                    part.add_to(sums.whole_pages.entry((number, part.prompt)).or_default());
                }
            }
            sums.times.push(time);
        }
        let of_lane = |name: &Name| sums.lane(lanes, name).facts;
        let homes = Homes::of(transcript, &of_lane);
        Self { homes, ..sums }
    }

    /// The figures of a sub-agent alone.
    fn lane(&self, lanes: &Lanes, name: &Name) -> Figures {
        let Some((number, track)) = lanes.track_of(Some(name)) else {
            return Figures::default();
        };
        let last = track.pages.last().and_then(|page| page.parts.last());
        if last.is_some_and(|part| part.prompt.is_some()) {
            return path(track).work;
        }
        let mut figures = self
            .whole_pages
            .get(&(number, None))
            .cloned()
            .unwrap_or_default();
        add_times(&mut figures, &track.pages, None);
        figures
    }
}

/// Sums over all entries of a lane.
fn path(track: &Track) -> PathFacts {
    let mut facts = PathFacts::default();
    for part in track.pages.iter().flat_map(|page| &page.parts) {
        facts.entries += (part.entries - part.copies) as usize;
        part.add_to(&mut facts.work);
    }
    facts
}

impl Account {
    /// The account of a whole transcript.
    pub fn of(transcript: &Transcript) -> Self {
        let mut account = Self::default();
        account.follow(transcript, usize::MAX);
        account
    }

    /// Invalidates what a change of the session touched; [`Account::follow`] recomputes it.
    pub fn invalidate(&mut self, transcript: &Transcript, touched: &Touched) {
        if touched.reordered {
            self.lanes = Lanes::default();
        }
        for id in &touched.changed {
            self.change(transcript, *id);
        }
        self.is_current &= touched.is_empty();
    }

    /// Invalidates the page of an entry; [`Account::follow`] recomputes it.
    pub(crate) fn change(&mut self, transcript: &Transcript, id: EntryId) {
        if !self.lanes.change(transcript, id) {
            self.lanes = Lanes::default();
        }
        self.is_current = false;
    }

    /// Adds new and changed entries, at most `most` of each. Returns whether all are processed.
    pub(crate) fn watch(&mut self, transcript: &Transcript, most: usize) -> bool {
        for id in transcript.portion(self.lanes.read, most) {
            self.lanes.add(transcript, *id);
            // The work time of a call depends on its sub-agent, whose file may be read later.
            let lane = transcript
                .lane_at(*id)
                .and_then(|name| transcript.lane(name));
            if let Some(caller) = lane.and_then(|lane| transcript.caller(lane)) {
                // If the call has moved to another lane, that is reported as a change of its own.
                let _ = self.lanes.change(transcript, caller);
            }
            self.is_current = false;
        }
        self.lanes.refresh(transcript, most) && self.is_whole(transcript)
    }

    /// As [`Account::watch`], then recomputes the sums.
    pub fn follow(&mut self, transcript: &Transcript, most: usize) -> bool {
        let is_all = self.watch(transcript, most);
        if !self.is_current {
            self.sums = PageSums::of(transcript, &self.lanes);
            // If pages remain to be judged, the sums will change again.
            self.is_current = is_all;
            self.generation += 1;
        }
        is_all
    }

    /// The number of judged pages: a measure of cost that does not depend on the machine.
    #[cfg(test)]
    pub(crate) fn work(&self) -> u64 {
        self.lanes.judged
    }

    /// Continues the generations of the account that this one replaces, whose figures may differ.
    pub(crate) fn continue_from(&mut self, before: &Self) {
        self.generation += before.generation + 1;
    }

    /// Whether all entries are processed; before that, figures of lanes may be incomplete.
    pub(crate) fn is_whole(&self, transcript: &Transcript) -> bool {
        self.lanes.is_read_to(transcript.order().len())
    }

    /// Whether all entries of a turn are processed. With sub-agents, that takes all entries,
    /// because their lanes may be anywhere in the order.
    pub(crate) fn is_turn_complete(&self, transcript: &Transcript, turn: usize) -> bool {
        let end = transcript
            .turns()
            .get(turn + 1)
            .filter(|_| transcript.lanes().is_empty());
        self.lanes
            .is_read_to(end.map_or(transcript.order().len(), |next| next.first))
    }

    /// The figures of a turn, including its sub-agents.
    pub fn turn(&self, transcript: &Transcript, number: usize) -> Figures {
        let Some(turn) = transcript.turns().get(number) else {
            return Figures::default();
        };
        let homes = &self.sums.homes;
        let end = transcript.turn_after(number).map(|next| next.prompt);
        let mut figures = self.main_part(turn.prompt, end);
        if let Some(others) = homes.sums.get(&turn.prompt) {
            figures.facts.merge(others);
        }
        let callers = homes.callers.get(&Some(turn.prompt)).copied();
        figures.lacks_agents = figures.facts.delegated > callers.unwrap_or(0);
        figures.has_prompts = transcript.totals().has_summed_prompts();
        figures
    }

    /// Failed calls and errors of the session, its sub-agents included.
    pub(crate) fn errors(&self) -> u32 {
        let pages = self.lanes.tracks.iter().flat_map(|track| &track.pages);
        let parts = pages.flat_map(|page| &page.parts);
        parts.map(|part| part.facts.errors).sum()
    }

    /// The cost of the session.
    pub fn cost(&self, transcript: &Transcript) -> Cost {
        let parts: Vec<Cost> = transcript
            .parts()
            .iter()
            .map(|part| cost::of(&part.totals))
            .collect();
        let cost = Cost::sum(&parts).unwrap_or_else(|| cost::of(transcript.totals()));
        cost.partial_if(self.lacks_agents(transcript))
    }

    /// Whether the usage of some sub-agents is in files that are missing.
    pub(crate) fn lacks_agents(&self, transcript: &Transcript) -> bool {
        // A recorded cost of a whole run includes its sub-agents.
        self.sums.delegated > self.sums.homes.callers.values().sum::<u32>()
            && transcript
                .parts()
                .iter()
                .any(|part| part.totals.run_cost().is_none())
    }

    /// The figures of the main lane in a turn.
    fn main_part(&self, prompt: EntryId, end: Option<EntryId>) -> Figures {
        let Some((number, first)) = self.lanes.place_of(prompt) else {
            return Figures::default();
        };
        let Some(track) = self.lanes.tracks.get(number) else {
            return Figures::default();
        };
        let end = end
            .and_then(|end| self.lanes.place_of(end))
            .map_or(track.ids.len(), |(_, place)| place);
        let mut figures = self
            .sums
            .whole_pages
            .get(&(number, Some(prompt)))
            .cloned()
            .unwrap_or_default();
        let pages = track
            .pages
            .iter()
            .take(end.div_ceil(PAGE))
            .skip(first / PAGE);
        add_times(&mut figures, pages, Some(prompt));
        figures
    }

    /// The figures of a sub-agent without its own sub-agents. For the lane of a joined session,
    /// over all its turns.
    pub(crate) fn lane(&self, name: &Name) -> Figures {
        let mut figures = self.sums.lane(&self.lanes, name);
        if let Some(beside) = self.sums.homes.outside_entries.get(name) {
            figures.facts.totals.merge(beside);
        }
        figures
    }

    /// Sums over all entries of a lane; `None` is the main one.
    pub(crate) fn path(&self, lane: Option<&Name>) -> PathFacts {
        self.lanes.track(lane).map(path).unwrap_or_default()
    }

    /// Adds the facts of `ids` to `facts`, at most `most` entries one by one; a page whose entries
    /// are all included counts as one. Returns how many entries were added: 0 while pages remain to
    /// be judged.
    pub(crate) fn add_some(
        &self,
        transcript: &Transcript,
        ids: &[EntryId],
        most: &mut usize,
        facts: &mut TurnFacts,
    ) -> usize {
        if !self.is_whole(transcript) {
            return 0;
        }
        let mut passing = transcript.cursor();
        let mut rest = ids;
        while let Some((id, others)) = rest.split_first() {
            let Some(left) = most.checked_sub(1) else {
                break;
            };
            *most = left;
            if let Some((page, len)) = self.page_at_front(rest) {
                page.parts.iter().for_each(|part| facts.merge(&part.facts));
                rest = rest.get(len..).unwrap_or_default();
                continue;
            }
            passing
                .get(*id)
                .into_iter()
                .for_each(|entry| facts.add(entry));
            rest = others;
        }
        ids.len() - rest.len()
    }

    /// The page whose entries are the first of `ids`, and their number.
    fn page_at_front(&self, ids: &[EntryId]) -> Option<(&PageTimes, usize)> {
        let (number, place) = self.lanes.place_of(*ids.first()?)?;
        let track = self
            .lanes
            .tracks
            .get(number)
            .filter(|_| place.is_multiple_of(PAGE))?;
        let own = track.ids_of(place / PAGE);
        let page = track
            .pages
            .get(place / PAGE)
            .filter(|_| ids.starts_with(own))?;
        Some((page, own.len()))
    }

    /// All time of a lane; `None` is the main one, whose time includes that between turns.
    pub(crate) fn time(&self, lane: Option<&Name>) -> Sums {
        let number = self.lanes.track_of(lane).map(|(number, _)| number);
        number
            .and_then(|number| self.sums.times.get(number))
            .copied()
            .unwrap_or_default()
    }

    /// The number of the turn that an entry belongs to; `None` for overhead.
    pub fn turn_of(&self, transcript: &Transcript, id: EntryId) -> Option<usize> {
        match transcript
            .lane_at(id)
            .filter(|lane| !transcript.is_main_lane(Some(lane)))
        {
            Some(lane) => self.turn_of_lane(transcript, lane),
            None => transcript.turn_of(id),
        }
    }

    /// The number of the turn that a sub-agent belongs to; `None` for overhead.
    pub(crate) fn turn_of_lane(&self, transcript: &Transcript, lane: &Name) -> Option<usize> {
        let prompt = *self.sums.homes.of_lane.get(lane)?;
        transcript.turn_of(prompt)
    }
}

/// Adds a turn's parts of the pages that it shares with other turns, and sets its start and end.
fn add_times<'a>(
    figures: &mut Figures,
    pages: impl IntoIterator<Item = &'a PageTimes>,
    prompt: Option<EntryId>,
) {
    let (mut started, mut ended) = (None, None);
    for page in pages {
        for part in page.parts.iter().filter(|part| part.prompt == prompt) {
            if page.parts.len() > 1 {
                part.add_to(figures);
            }
            started = started.or(part.facts.started);
            ended = ended.max(part.facts.ended);
        }
    }
    figures.facts.started = started;
    figures.facts.ended = ended;
}

impl Generation for Account {
    fn generation(&self) -> u64 {
        self.generation
    }

    fn is_complete(&self) -> bool {
        self.is_current
    }
}

#[cfg(test)]
mod tests;
