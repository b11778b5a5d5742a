//! Fuzzy matching of sessions against the typed words, with a score.
//!
//! Invariant: each typed word must match within one fact; its letters are not collected from
//! several.

use nucleo_matcher::pattern::{Atom, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32String};

use crate::model::found::Found;

/// Least average score per letter; a lower one means that the letters are scattered over the text
/// by chance.
const LETTER: u32 = 13;
/// Score per letter for a part of an id, as high as for a whole word of a title.
const ID_LETTER: u32 = 20;
/// Bonus for a match in the title: of two equal matches that one comes first.
const TITLE: u32 = 8;

/// The searched facts of a session, prepared for the matcher.
pub(crate) struct Grist {
    title: Utf32String,
    /// Folder, agent, model.
    others: [Utf32String; 3],
    id: String,
}

impl Grist {
    /// Collects the facts of a session.
    pub(crate) fn of(found: &Found) -> Self {
        let own = |text: Option<&str>| Utf32String::from(text.unwrap_or_default());
        let agent = format!(
            "{} {}",
            found.format,
            found.agent.as_deref().unwrap_or_default()
        );
        let key = found.key.as_deref().unwrap_or_default();
        Self {
            title: own(found.title.as_deref()),
            others: [
                own(found.cwd.as_deref()),
                own(Some(&agent)),
                own(found.model.as_deref()),
            ],
            id: format!("{} {key}", found.id).to_lowercase(),
        }
    }
}

/// The typed words, prepared for the matcher.
pub(crate) struct Sieve {
    words: Vec<(Atom, String)>,
    matcher: Matcher,
}

impl Default for Sieve {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            matcher: Matcher::new(Config::DEFAULT),
        }
    }
}

impl Sieve {
    /// Sets the typed words.
    pub(crate) fn set(&mut self, typed: &str) {
        let pattern = Pattern::parse(typed, CaseMatching::Smart, Normalization::Smart);
        let word = |atom: Atom| {
            let letters = atom.needle_text().to_string().to_lowercase();
            (atom, letters)
        };
        self.words = pattern.atoms.into_iter().map(word).collect();
    }

    /// The words that a session must have.
    pub(crate) fn words(&self) -> Vec<String> {
        let wanted = self.words.iter().filter(|(atom, _)| !atom.negative);
        wanted
            .map(|(atom, _)| atom.needle_text().to_string())
            .collect()
    }

    /// The score of a session; `None` if it does not match.
    pub(crate) fn score(&mut self, grist: &Grist) -> Option<u32> {
        self.score_of(grist, |_| true)
    }

    /// Whether a session has none of the excluded words.
    pub(crate) fn lets_pass(&mut self, grist: &Grist) -> bool {
        self.score_of(grist, |atom| atom.negative).is_some()
    }

    fn score_of(&mut self, grist: &Grist, counts: impl Fn(&Atom) -> bool) -> Option<u32> {
        let matcher = &mut self.matcher;
        let mut sum = 0;
        for (atom, letters) in self.words.iter().filter(|(atom, _)| counts(atom)) {
            let length = u32::try_from(letters.chars().count()).unwrap_or(u32::MAX);
            let least = if atom.negative {
                0
            } else {
                length.saturating_mul(LETTER)
            };
            let mut fits = |fact: &Utf32String| {
                atom.score(fact.slice(..), matcher)
                    .map(u32::from)
                    .filter(|score| *score >= least)
            };
            let title = fits(&grist.title).map(|score| score + TITLE);
            let others = grist.others.each_ref().map(fits);
            let is_id = grist.id.contains(letters.as_str()) != atom.negative;
            let id = is_id.then_some(length.saturating_mul(ID_LETTER));
            let facts = others.into_iter().chain([title, id]);
            sum += if atom.negative {
                facts.min().flatten().map(|_| 0)?
            } else {
                facts.max().flatten()?
            };
        }
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::{Grist, Sieve};
    use crate::model::found::Found;
    use crate::model::text::Text;

    fn found() -> Found {
        Found {
            path: "/s/5d0c1c52.jsonl".into(),
            session: None,
            format: "claude-code",
            id: Text::from("5d0c1c52-7f4e"),
            key: None,
            agent: None,
            title: Some(Text::from("Fix the watcher")),
            cwd: Some(Text::from("~/src/harbour")),
            model: Some(Text::from("claude-opus-4-6")),
            started: None,
            modified: None,
            size: None,
            live: None,
            unreadable: None,
            project: None,
        }
    }

    fn score(typed: &str) -> Option<u32> {
        let mut sieve = Sieve::default();
        sieve.set(typed);
        sieve.score(&Grist::of(&found()))
    }

    #[test]
    fn each_word_fits_one_fact() {
        for typed in [
            "",
            "watcher",
            "fxwtch",
            "opus fix",
            "src/harb",
            "5d0c",
            "7F4E",
            "claude !codex",
        ] {
            assert!(score(typed).is_some(), "{typed}");
        }
        for typed in [
            "boat",
            "fix boat",
            "FIX",
            "tvopus",
            "5c5",
            "!watch",
            "!5d0c fix",
        ] {
            assert!(score(typed).is_none(), "{typed}");
        }
        assert!(
            score("watcher") > score("wter"),
            "letters in a row are better"
        );
    }

    #[test]
    fn letters_far_from_each_other_are_chance() {
        let alphabet = Grist::of(&Found {
            title: Some(Text::from("abcdefghijklmnopqrstuvwxyz")),
            ..found()
        });
        let fits = |typed: &str| {
            let mut sieve = Sieve::default();
            sieve.set(typed);
            sieve.score(&alphabet).is_some()
        };
        assert!(fits("abd") && fits("cegi") && !fits("lz"));
    }
}
