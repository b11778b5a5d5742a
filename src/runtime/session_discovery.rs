//! The threads behind the picker: one finds sessions, one reads those in sight, one searches
//! their texts.
//!
//! Invariant: dropping the discovery ends all of them; only the latest text search runs.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, never, unbounded};

use super::clock::now;
use super::config::ViewConfig;
use crate::app::update::Event;
use crate::fleet;
use crate::ingest::find::{self, DiscoveryQuery, Environment, ScanWatch};
use crate::model::found::{FoundSession, Sighting};
use crate::model::text::Text;
use crate::report::sessions::grep::first_of_each;

/// A text search starts when the query has not changed for this long.
const TYPING: Duration = Duration::from_millis(60);

/// The running search for sessions.
pub(crate) struct Discovery {
    /// Sessions that were found or are gone.
    pub(crate) sightings: Receiver<Sighting>,
    _watch: ScanWatch,
    environment: Environment,
    read_requests: Sender<Vec<FoundSession>>,
    words: Sender<TextQuery>,
    generation: Arc<AtomicU32>,
    /// What was read of sessions, and results of text searches.
    pub(crate) previews: Receiver<Event>,
    _events: Sender<Event>,
}

/// A search for sessions whose text has these words.
struct TextQuery {
    generation: u32,
    words: Vec<String>,
}

/// What the picker of this viewer searches.
pub(crate) fn search(config: &ViewConfig) -> DiscoveryQuery {
    DiscoveryQuery::among(
        config.environment.clone(),
        config.listed.iter().cloned().map(Ok),
        None,
    )
}

/// The places it searches, for display.
pub(crate) fn places(search: &DiscoveryQuery) -> Vec<String> {
    let shown = |place: PathBuf| Text::clean(&search.environment.shortened(&place)).to_string();
    search.places().into_iter().map(shown).collect()
}

impl Discovery {
    pub(crate) fn start(search: DiscoveryQuery) -> Self {
        let environment = search.environment.clone();
        let (wanted, wanted_in) = unbounded::<Vec<FoundSession>>();
        let (say, previews) = unbounded();
        let read_out = say.clone();
        thread::spawn(move || read_glances(&wanted_in, &read_out));
        let (words, words_in) = unbounded();
        let generation = Arc::new(AtomicU32::new(0));
        let (places, events, current) = (search.clone(), say.clone(), Arc::clone(&generation));
        thread::spawn(move || run_text_searches(&places, &words_in, &current, &events));
        let watch = find::watch(search, now);
        let sightings = watch.sightings.clone();
        Self {
            sightings,
            _watch: watch,
            environment,
            read_requests: wanted,
            words,
            generation,
            previews,
            _events: say,
        }
    }

    /// Converts a sighting to an event, with folders shortened for display. `None`: the search has
    /// ended.
    pub(crate) fn event(&mut self, sighting: Option<Sighting>) -> Option<Event> {
        let Some(sighting) = sighting else {
            self.sightings = never();
            return None;
        };
        Some(Event::Seen(match sighting {
            Sighting::Found(mut found) => {
                shorten(&mut found, &self.environment);
                Sighting::Found(found)
            }
            other @ (Sighting::Removed(_) | Sighting::Refused(_) | Sighting::Complete) => other,
        }))
    }

    /// Reads how these sessions stand, and no others any more.
    pub(crate) fn glance(&self, found: Vec<FoundSession>) {
        let _ = self.read_requests.send(found);
    }

    /// Searches the texts of sessions; an earlier search stops.
    pub(crate) fn search_texts(&self, generation: u32, words: Vec<String>) {
        self.generation.store(generation, Ordering::Relaxed);
        let _ = self.words.send(TextQuery { generation, words });
    }
}

impl Drop for Discovery {
    fn drop(&mut self) {
        self.generation.store(0, Ordering::Relaxed);
    }
}

/// Shortens folders for display (`~/…`).
fn shorten(found: &mut FoundSession, environment: &Environment) {
    let short = |cwd: Text| Text::clean(&environment.shortened(Path::new(cwd.as_str())));
    found.cwd = found.cwd.take().map(short);
    found.project = found.project.take().map(short);
}

/// Runs text searches, one after the other.
fn run_text_searches(
    places: &DiscoveryQuery,
    asked: &Receiver<TextQuery>,
    current: &AtomicU32,
    say: &Sender<Event>,
) {
    while let Ok(mut newest) = asked.recv() {
        while let Ok(newer) = asked.recv_timeout(TYPING) {
            newest = newer;
        }
        let TextQuery { generation, words } = newest;
        let is_wanted = || current.load(Ordering::Relaxed) == generation;
        if words.is_empty() || !is_wanted() {
            continue;
        }
        let (is_all, failures) = first_of_each(places, &words, now(), is_wanted, |mut hit| {
            shorten(&mut hit.found, &places.environment);
            let _ = say.send(Event::TextHit(generation, Box::new(hit)));
        });
        let _ = say.send(Event::TextsSearched {
            generation,
            is_all,
            failures,
        });
    }
}

/// Reads how sessions stand that are in sight; what is in sight no more is not read.
fn read_glances(wanted: &Receiver<Vec<FoundSession>>, say: &Sender<Event>) {
    for first in wanted {
        let mut left: VecDeque<FoundSession> = first.into();
        loop {
            if let Some(newer) = wanted.try_iter().last() {
                left = newer.into();
            }
            let Some(found) = left.pop_front() else {
                break;
            };
            let glance = fleet::glance(&found, now(), || wanted.is_empty());
            let is_heard =
                glance.is_none_or(|glance| say.send(Event::Glanced(Box::new(glance))).is_ok());
            if !is_heard {
                return;
            }
        }
    }
}
