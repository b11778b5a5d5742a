//! The threads behind the picker: one looks for sessions, one reads what they are about.
//!
//! Invariant: dropping this ends both.

use std::path::{Path, PathBuf};
use std::thread;

use crossbeam_channel::{Receiver, Sender, never, unbounded};

use super::clock::now;
use super::config::ViewConfig;
use crate::app::update::Event;
use crate::ingest::find::{self, Environment, Search, Watch};
use crate::model::found::{Found, Sighting};
use crate::model::text::Text;

/// A search for sessions that goes on.
pub(crate) struct Discovery {
    /// What it comes by.
    pub(crate) sightings: Receiver<Sighting>,
    _watch: Watch,
    environment: Environment,
    wanted: Sender<Found>,
    /// What they are about.
    pub(crate) previews: Receiver<Event>,
    _say: Sender<Event>,
}

/// What the picker of this viewer looks for.
pub(crate) fn search(config: &ViewConfig) -> Search {
    Search { environment: config.environment.clone(), paths: config.listed.clone(), format: None }
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
        let watch = find::watch(search, now);
        let sightings = watch.sightings.clone();
        Self { sightings, _watch: watch, environment, wanted, previews, _say: say }
    }

    /// A sighting as an event: folders as people write them. Without a sighting the search has ended.
    pub(crate) fn event(&mut self, sighting: Option<Sighting>) -> Option<Event> {
        let Some(sighting) = sighting else {
            self.sightings = never();
            return None;
        };
        Some(Event::Seen(match sighting {
            Sighting::Found(mut found) => {
                let shorten = |cwd: Text| Text::clean(&self.environment.shortened(Path::new(cwd.as_str())));
                found.cwd = found.cwd.map(shorten);
                Sighting::Found(found)
            }
            other @ (Sighting::Gone(_) | Sighting::Refused(_) | Sighting::Complete) => other,
        }))
    }

    /// Reads what a session is about.
    pub(crate) fn preview(&self, found: Found) {
        let _ = self.wanted.send(found);
    }
}

/// Of what is asked for only the latest counts: the reader has gone on.
fn read(wanted: &Receiver<Found>, say: &Sender<Event>) {
    for first in wanted {
        let found = wanted.try_iter().last().unwrap_or(first);
        if say.send(Event::Previewed(found.place(), find::preview(&found))).is_err() {
            return;
        }
    }
}
