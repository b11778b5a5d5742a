//! The threads behind the picker: one looks for sessions, one reads what they are about, one looks through their texts.
//!
//! Invariant: dropping this ends them all; of texts only what was asked for last is looked for.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, never, unbounded};

use super::clock::now;
use super::config::ViewConfig;
use crate::app::update::Event;
use crate::ingest::find::{self, Environment, Search, Watch};
use crate::model::found::{Found, Sighting};
use crate::model::text::Text;
use crate::report::sessions::grep::first_of_each;

/// Words that change faster than this are still being typed.
const TYPING: Duration = Duration::from_millis(60);

/// A search for sessions that goes on.
pub(crate) struct Discovery {
    /// What it comes by.
    pub(crate) sightings: Receiver<Sighting>,
    _watch: Watch,
    environment: Environment,
    wanted: Sender<Found>,
    words: Sender<Words>,
    generation: Arc<AtomicU32>,
    /// What they are about, and which of them have some words.
    pub(crate) previews: Receiver<Event>,
    _say: Sender<Event>,
}

/// What is looked for in texts; nothing ends that.
struct Words {
    generation: u32,
    words: Vec<String>,
}

/// What the picker of this viewer looks for.
pub(crate) fn search(config: &ViewConfig) -> Search {
    Search::among(
        config.environment.clone(),
        config.listed.iter().cloned().map(Ok),
        None,
    )
}

/// Where that is, for people.
pub(crate) fn places(search: &Search) -> Vec<String> {
    let shown = |place: PathBuf| Text::clean(&search.environment.shortened(&place)).to_string();
    search.places().into_iter().map(shown).collect()
}

impl Discovery {
    /// Starts looking.
    pub(crate) fn start(search: Search) -> Self {
        let environment = search.environment.clone();
        let (wanted, wanted_in) = unbounded::<Found>();
        let (say, previews) = unbounded();
        let read_out = say.clone();
        thread::spawn(move || read(&wanted_in, &read_out));
        let (words, words_in) = unbounded();
        let generation = Arc::new(AtomicU32::new(0));
        let (places, events, current) = (search.clone(), say.clone(), Arc::clone(&generation));
        thread::spawn(move || look_through(&places, &words_in, &current, &events));
        let watch = find::watch(search, now);
        let sightings = watch.sightings.clone();
        Self {
            sightings,
            _watch: watch,
            environment,
            wanted,
            words,
            generation,
            previews,
            _say: say,
        }
    }

    /// A sighting as an event: folders as people write them. Without a sighting the search has ended.
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
            other @ (Sighting::Gone(_) | Sighting::Refused(_) | Sighting::Complete) => other,
        }))
    }

    /// Reads what a session is about.
    pub(crate) fn preview(&self, found: Found) {
        let _ = self.wanted.send(found);
    }

    /// Looks for sessions whose text has these words, and no longer for others.
    pub(crate) fn look_for(&self, generation: u32, words: Vec<String>) {
        self.generation.store(generation, Ordering::Relaxed);
        let _ = self.words.send(Words { generation, words });
    }
}

impl Drop for Discovery {
    fn drop(&mut self) {
        self.generation.store(0, Ordering::Relaxed);
    }
}

/// Folders as people write them.
fn shorten(found: &mut Found, environment: &Environment) {
    let short = |cwd: Text| Text::clean(&environment.shortened(Path::new(cwd.as_str())));
    found.cwd = found.cwd.take().map(short);
    found.project = found.project.take().map(short);
}

/// Looks for one line of words after the other.
fn look_through(
    places: &Search,
    asked: &Receiver<Words>,
    current: &AtomicU32,
    say: &Sender<Event>,
) {
    while let Ok(mut newest) = asked.recv() {
        while let Ok(newer) = asked.recv_timeout(TYPING) {
            newest = newer;
        }
        let Words { generation, words } = newest;
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

/// Of what is asked for only the latest counts: the reader has gone on.
fn read(wanted: &Receiver<Found>, say: &Sender<Event>) {
    for first in wanted {
        let found = wanted.try_iter().last().unwrap_or(first);
        if say
            .send(Event::Previewed(found.place(), find::preview(&found)))
            .is_err()
        {
            return;
        }
    }
}
