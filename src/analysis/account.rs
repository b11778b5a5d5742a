//! The account of a session: what each turn, each lane and all of it came to. Every surface that shows a turn, a
//! lane or the session reads it here, so that two of them never say different things.
//!
//! * A **prompt** is what a human typed, also while the agent was at work. What agents write to each other, summaries,
//!   and what the harness adds are none.
//! * A **turn** is a prompt with all that follows until the next one, and the lanes that its calls started. A lane
//!   whose call nobody knows belongs to the turn in whose time its first record stands.
//! * **Overhead** is all else: what stands before the first prompt, what runs count beyond their requests, and helper
//!   lanes, which serve the session and no turn: compaction, side questions, titles. So turns and overhead together
//!   are the session, in requests, tokens and money.
//! * The **time** of a turn is that of its main lane. *Work* is time of the model, of tools and of requests that were
//!   made again; *waiting* is the human's: a permission, a question, nothing to do; the rest is not known. Where an
//!   agent says how long it was at work, and its calls took longer, the difference is waiting, too. The *span* goes
//!   from the prompt to the last sign of anything that belongs to it but bookkeeping. The time before a prompt belongs
//!   to no turn.
//!
//! **There is one account** (`analysis::account`): which turn an entry, a request or a sub-agent belongs to, what is
//! overhead of the session, what was work and what was waiting. Every surface reads it and none reckons, so two of
//! them never differ. The entries of each lane are judged page by page, because whose time it was depends on what stood
//! before ([`Lanes`]); what turns, lanes and the session came to is computed whole from the pages when somebody looks.
//! A figure is shown when all that belongs to it was taken in.
//!
//! Invariant: every request counts once, and has one turn or is overhead. An entry that comes or changes costs a page
//! of its lane.

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
use pages::Sheet;

/// The account.
#[derive(Clone, Debug, Default)]
pub struct Account {
    lanes: Lanes,
    sums: PageSums,
    /// Whether the sums are those of the pages.
    is_current: bool,
    pub(crate) generation: u64,
}

/// What the pages come to.
#[derive(Clone, Debug, Default)]
struct PageSums {
    homes: Homes,
    /// Sums of pages that hold one turn only, by the number of the lane and the prompt: a turn may have thousands of
    /// pages. Of the others there are two at most, which are added when somebody asks.
    whole: HashMap<(usize, Option<EntryId>), Figures>,
    /// All time of lanes, by their numbers.
    times: Vec<Sums>,
    /// Calls that have started a sub-agent.
    delegated: u32,
}

impl PageSums {
    fn of(transcript: &Transcript, lanes: &Lanes) -> Self {
        let mut sums = Self::default();
        for (number, track) in lanes.tracks.iter().enumerate() {
            let mut time = Sums::default();
            for page in track.pages() {
                time.join(&page.time());
                sums.delegated += page
                    .parts
                    .iter()
                    .map(|part| part.facts.delegated)
                    .sum::<u32>();
                if let [part] = &*page.parts {
                    part.add_to(sums.whole.entry((number, part.prompt)).or_default());
                }
            }
            sums.times.push(time);
        }
        let of_lane = |name: &Name| sums.lane(lanes, name).facts;
        let homes = Homes::of(transcript, &of_lane);
        Self { homes, ..sums }
    }

    /// What a sub-agent did by itself.
    fn lane(&self, lanes: &Lanes, name: &Name) -> Figures {
        let Some((number, track)) = lanes.track_of(Some(name)) else {
            return Figures::default();
        };
        let last = track.pages().last().and_then(|page| page.parts.last());
        if last.is_some_and(|part| part.prompt.is_some()) {
            return path(track).work;
        }
        let mut figures = self.whole.get(&(number, None)).cloned().unwrap_or_default();
        add_times(&mut figures, track.pages(), None);
        figures
    }
}

/// All that lies in a lane.
fn path(track: &Track) -> PathFacts {
    let mut facts = PathFacts::default();
    for part in track.pages().flat_map(|page| &page.parts) {
        facts.entries += (part.entries - part.copies) as usize;
        part.add_to(&mut facts.work);
    }
    facts
}

impl Account {
    /// All of a transcript.
    pub fn of(transcript: &Transcript) -> Self {
        let mut account = Self::default();
        account.follow(transcript, usize::MAX);
        account
    }

    /// The session has changed; takes effect with [`Account::follow`].
    pub fn note(&mut self, transcript: &Transcript, touched: &Touched) {
        if touched.reordered {
            self.lanes = Lanes::default();
        }
        for id in &touched.changed {
            self.change(transcript, *id);
        }
        self.is_current &= touched.is_empty();
    }

    /// An entry has changed; takes effect with [`Account::follow`].
    pub(crate) fn change(&mut self, transcript: &Transcript, id: EntryId) {
        if !self.lanes.change(transcript, id) {
            self.lanes = Lanes::default();
        }
        self.is_current = false;
    }

    /// Takes in what came and changed, with no more work than so many entries are. Says whether that was all.
    pub(crate) fn watch(&mut self, transcript: &Transcript, most: usize) -> bool {
        for id in transcript.portion(self.lanes.read, most) {
            self.lanes.add(transcript, *id);
            // How long a call was at work is told by its sub-agent, whose file may come later.
            let lane = transcript
                .lane_at(*id)
                .and_then(|name| transcript.lane(name));
            if let Some(caller) = lane.and_then(|lane| transcript.caller(lane)) {
                // A call that stands in another lane by now is told as a change of its own.
                let _ = self.lanes.change(transcript, caller);
            }
            self.is_current = false;
        }
        self.lanes.settle(transcript, most) && self.is_whole(transcript)
    }

    /// As [`Account::watch`], and computes what all that comes to.
    pub fn follow(&mut self, transcript: &Transcript, most: usize) -> bool {
        let is_all = self.watch(transcript, most);
        if !self.is_current {
            self.sums = PageSums::of(transcript, &self.lanes);
            // Pages that are still to be judged change it again.
            self.is_current = is_all;
            self.generation += 1;
        }
        is_all
    }

    /// Pages that were judged: what it costs to keep up, whatever machine it runs on.
    #[cfg(test)]
    pub(crate) fn work(&self) -> u64 {
        self.lanes.judged
    }

    /// Takes the place of another one, from which this one may differ.
    pub(crate) fn go_on_from(&mut self, before: &Self) {
        self.generation += before.generation + 1;
    }

    /// Whether all of the transcript was taken in: before that a lane may lack some of what it came to.
    pub(crate) fn is_whole(&self, transcript: &Transcript) -> bool {
        self.lanes.is_read_to(transcript.order().len())
    }

    /// Whether all of a turn was taken in. Lanes may stand anywhere.
    pub(crate) fn knows(&self, transcript: &Transcript, turn: usize) -> bool {
        let end = transcript
            .turns()
            .get(turn + 1)
            .filter(|_| transcript.lanes().is_empty());
        self.lanes
            .is_read_to(end.map_or(transcript.order().len(), |next| next.first))
    }

    /// What a turn came to, with the lanes that belong to it.
    pub fn turn(&self, transcript: &Transcript, number: usize) -> Figures {
        let Some(turn) = transcript.turns().get(number) else {
            return Figures::default();
        };
        let homes = &self.sums.homes;
        let end = transcript.turn_after(number).map(|next| next.prompt);
        let mut figures = self.main_part(turn.prompt, end);
        if let Some(others) = homes.sums.get(&turn.prompt) {
            figures.facts.join(others);
        }
        let callers = homes.callers.get(&Some(turn.prompt)).copied();
        figures.lacks_agents = figures.facts.delegated > callers.unwrap_or(0);
        figures.has_prompts = transcript.totals().tells_prompts_as_sum();
        figures
    }

    /// What the session cost.
    pub fn cost(&self, transcript: &Transcript) -> Cost {
        let parts: Vec<Cost> = transcript
            .parts()
            .iter()
            .map(|part| cost::of(&part.totals))
            .collect();
        let cost = Cost::sum(&parts).unwrap_or_else(|| cost::of(transcript.totals()));
        cost.lacking(self.lacks_agents(transcript))
    }

    /// Whether sub-agents have spent what is recorded in files that are not here.
    pub(crate) fn lacks_agents(&self, transcript: &Transcript) -> bool {
        // What an agent says of a whole run has its sub-agents in it.
        self.sums.delegated > self.sums.homes.callers.values().sum::<u32>()
            && transcript
                .parts()
                .iter()
                .any(|part| part.totals.run_cost().is_none())
    }

    /// What the main lane did in a turn.
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
            .whole
            .get(&(number, Some(prompt)))
            .cloned()
            .unwrap_or_default();
        let pages = (first / PAGE..end.div_ceil(PAGE)).filter_map(|page| track.page(page));
        add_times(&mut figures, pages, Some(prompt));
        figures
    }

    /// What a sub-agent did by itself, without those that it started; one of several sessions with all its turns.
    pub(crate) fn lane(&self, name: &Name) -> Figures {
        let mut figures = self.sums.lane(&self.lanes, name);
        if let Some(beside) = self.sums.homes.beside.get(name) {
            figures.facts.totals.join(beside);
        }
        figures
    }

    /// All that lies in a lane; `None` is the main one.
    pub(crate) fn path(&self, lane: Option<&Name>) -> PathFacts {
        self.lanes.track(lane).map(path).unwrap_or_default()
    }

    /// Adds what happened in entries, until so many were taken one by one; a page that belongs to them as a whole
    /// counts as one. Answers how many were added: none as long as something is still to be judged.
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
        let mut passing = transcript.passing();
        let mut rest = ids;
        while let Some((id, others)) = rest.split_first() {
            let Some(left) = most.checked_sub(1) else {
                break;
            };
            *most = left;
            if let Some((page, len)) = self.page_at_front(rest) {
                facts.join(&page.facts());
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

    /// The page whose entries these begin with, and how many they are.
    fn page_at_front(&self, ids: &[EntryId]) -> Option<(&Sheet, usize)> {
        let (number, place) = self.lanes.place_of(*ids.first()?)?;
        let track = self
            .lanes
            .tracks
            .get(number)
            .filter(|_| place.is_multiple_of(PAGE))?;
        let own = track.ids_of(place / PAGE);
        let page = track.page(place / PAGE).filter(|_| ids.starts_with(own))?;
        Some((page, own.len()))
    }

    /// All time of a lane; `None` is the main one. That of the main one has the time between turns, too.
    pub(crate) fn time(&self, lane: Option<&Name>) -> Sums {
        let number = self.lanes.track_of(lane).map(|(number, _)| number);
        number
            .and_then(|number| self.sums.times.get(number))
            .copied()
            .unwrap_or_default()
    }

    /// The turn that an entry belongs to; none if it is overhead.
    pub fn turn_of(&self, transcript: &Transcript, id: EntryId) -> Option<usize> {
        match transcript
            .lane_at(id)
            .filter(|lane| !transcript.is_spoken_to(Some(lane)))
        {
            Some(lane) => self.turn_of_lane(transcript, lane),
            None => transcript.turn_at(transcript.place_of(id)?),
        }
    }

    /// The turn that a sub-agent belongs to; none if it is overhead.
    pub(crate) fn turn_of_lane(&self, transcript: &Transcript, lane: &Name) -> Option<usize> {
        let prompt = *self.sums.homes.of_lane.get(lane)?;
        transcript.turn_at(transcript.place_of(prompt)?)
    }
}

/// Adds what pages say of a part, where they hold others too, and from when to when it reached.
fn add_times<'a>(
    figures: &mut Figures,
    pages: impl Iterator<Item = &'a Sheet>,
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
