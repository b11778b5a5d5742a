//! Sessions whose text contains the typed words; they are listed below the sessions whose facts
//! match.
//!
//! Invariant: all hits match the words that are typed now. Another letter drops the hits that do
//! not match any more, and answers to an earlier search are dropped.

use regex::Regex;

use crate::analysis::search::texts;
use crate::app::effect::Effect;
use crate::model::found::{Target, TextHit};

/// The shortest word to search for; a shorter one occurs in nearly all sessions.
const FEWEST: usize = 3;

/// Progress of the search through texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextProgress {
    #[default]
    Idle,
    /// The search is running.
    Underway,
    /// The search has ended.
    Done {
        /// Whether all sessions were searched; otherwise the limit of hits was reached.
        is_all: bool,
        /// Number of sessions that could not be read.
        failures: usize,
    },
}

/// Hits of the search through texts.
#[derive(Default)]
pub(crate) struct TextHits {
    /// Hits, at most one per session.
    pub(crate) hits: Vec<TextHit>,
    /// Progress of the search.
    pub(crate) progress: TextProgress,
    words: Vec<String>,
    /// The words behind each other.
    phrase: Option<Regex>,
    is_new: bool,
    generation: u32,
}

impl TextHits {
    /// Sets the words to search for. Keeps the hits that contain all of them.
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
        self.phrase = texts::pattern(&words.join(" "), true);
        self.words = words;
        self.is_new = true;
    }

    /// What to search for in a session with a hit: all words if they follow each other in its line,
    /// else the longest.
    pub(crate) fn sought(&self, hit: &TextHit) -> String {
        let longest = self.words.iter().rev().max_by_key(|word| word.len());
        let longest = longest.filter(|_| !self.has_phrase(hit)).cloned();
        longest.unwrap_or_else(|| self.words.join(" "))
    }

    /// Whether all words follow each other in the line of a hit.
    pub(crate) fn has_phrase(&self, hit: &TextHit) -> bool {
        let phrase = self.phrase.as_ref();
        phrase.is_some_and(|phrase| phrase.is_match(&hit.line))
    }

    /// Marks the search as interrupted, so that it is started again.
    pub(crate) fn stop(&mut self) {
        self.is_new |= !self.words.is_empty();
    }

    /// Whether hits may still come.
    pub(crate) fn is_awaited(&self) -> bool {
        self.progress == TextProgress::Underway || self.is_new && !self.words.is_empty()
    }

    /// The effect that starts the search, if the words have changed.
    pub(crate) fn start_search(&mut self) -> Option<Effect> {
        if !std::mem::take(&mut self.is_new) {
            return None;
        }
        self.generation += 1;
        self.progress = if self.words.is_empty() {
            TextProgress::Idle
        } else {
            TextProgress::Underway
        };
        Some(Effect::SearchTexts {
            generation: self.generation,
            words: self.words.clone(),
        })
    }

    /// Adds a hit, or replaces the one of its session.
    pub(crate) fn add(&mut self, generation: u32, hit: TextHit) {
        if generation != self.generation || self.is_new {
            return;
        }
        let place = hit.found.place();
        match self.hits.iter_mut().find(|known| known.found.is_at(&place)) {
            Some(known) => *known = hit,
            None => self.hits.push(hit),
        }
    }

    /// Sets the progress at the end of the search.
    pub(crate) fn end(&mut self, generation: u32, is_all: bool, failures: usize) {
        if generation == self.generation && !self.is_new {
            self.progress = TextProgress::Done { is_all, failures };
        }
    }

    /// Drops the hit of a session that no longer exists.
    pub(crate) fn remove(&mut self, place: &Target) {
        self.hits.retain(|hit| !hit.found.is_at(place));
    }
}
