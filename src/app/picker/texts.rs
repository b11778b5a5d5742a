//! Sessions whose text has what is typed: they stand below those that it fits by their facts.
//!
//! Invariant: only hits of what stands in the line are kept: what the next letter belies goes with that letter, and what
//! was found for an earlier line comes too late.

use regex::Regex;

use crate::analysis::search::texts;
use crate::app::effect::Effect;
use crate::model::found::{Place, TextHit};

/// Fewer letters than this are in the text of all sessions.
const FEWEST: usize = 3;

/// How far looking through texts is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// Nothing is looked for.
    #[default]
    Idle,
    /// It goes on.
    Underway,
    /// It is done.
    Done {
        /// Whether all sessions were looked through; else there were hits enough before.
        is_all: bool,
        /// How many sessions could not be read.
        failures: usize,
    },
}

/// What was found in texts.
#[derive(Default)]
pub(crate) struct TextHits {
    /// One for a session.
    pub(crate) hits: Vec<TextHit>,
    /// How far it is.
    pub(crate) progress: Progress,
    words: Vec<String>,
    is_new: bool,
    generation: u32,
}

impl TextHits {
    /// From now on these words are looked for. What has all of them stays.
    pub(crate) fn set(&mut self, words: Vec<String>) {
        let is_worth_it = words.iter().any(|word| word.chars().count() >= FEWEST);
        let words = if is_worth_it { words } else { Vec::new() };
        if words == self.words {
            return;
        }
        let patterns: Vec<Regex> = words
            .iter()
            .filter_map(|word| texts::pattern(word, true))
            .collect();
        self.hits.retain_mut(|hit| {
            let all: Option<Vec<_>> = patterns
                .iter()
                .map(|pattern| pattern.find(&hit.line))
                .collect();
            let longest = all
                .into_iter()
                .flatten()
                .rev()
                .max_by_key(regex::Match::len);
            longest.map(|found| hit.at = found.range()).is_some()
        });
        self.words = words;
        self.is_new = true;
    }

    /// The word of which hits are shown.
    pub(crate) fn word(&self) -> Option<&String> {
        self.words.iter().rev().max_by_key(|word| word.len())
    }

    /// Nobody looks any more.
    pub(crate) fn stop(&mut self) {
        self.is_new |= !self.words.is_empty();
    }

    /// What must be asked for.
    pub(crate) fn ask(&mut self) -> Option<Effect> {
        if !std::mem::take(&mut self.is_new) {
            return None;
        }
        self.generation += 1;
        self.progress = if self.words.is_empty() {
            Progress::Idle
        } else {
            Progress::Underway
        };
        Some(Effect::SearchTexts {
            generation: self.generation,
            words: self.words.clone(),
        })
    }

    /// Takes a hit.
    pub(crate) fn take(&mut self, generation: u32, hit: TextHit) {
        if generation != self.generation || self.is_new {
            return;
        }
        let place = hit.found.place();
        match self.hits.iter_mut().find(|known| known.found.is_at(&place)) {
            Some(known) => *known = hit,
            None => self.hits.push(hit),
        }
    }

    /// That was all.
    pub(crate) fn end(&mut self, generation: u32, is_all: bool, failures: usize) {
        if generation == self.generation && !self.is_new {
            self.progress = Progress::Done { is_all, failures };
        }
    }

    /// A session is there no more.
    pub(crate) fn remove(&mut self, place: &Place) {
        self.hits.retain(|hit| !hit.found.is_at(place));
    }
}
