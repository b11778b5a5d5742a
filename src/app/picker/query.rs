//! Matching of sessions against the typed words.
//!
//! Words are found as they are typed in the title, id, folder, agent or model. Letters scattered
//! over a title are a weaker match: they help to type a name in short, and never outrank a text
//! that has the words.
//!
//! Invariant: each typed word must match within one fact; its letters are not collected from
//! several.

use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32String};

use crate::model::found::FoundSession;

/// Least average score per letter; a lower one means that the letters are scattered over the text
/// by chance.
const LETTER: u32 = 13;
/// Score per letter for a part of an id, as high as for a whole word of a title.
const ID_LETTER: u32 = 20;
/// Bonus for a match in the title: of two equal matches that one comes first.
const TITLE: u32 = 8;

/// Words before a colon that restrict a word to one fact, as in filters on the wall.
const FIELDS: [&str; 3] = ["project", "agent", "model"];

/// How a session matches the typed words, with a score; the better match is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// The letters of a word are scattered over the title.
    Letters(u32),
    /// All words are in its facts.
    Words(u32),
}

impl Fit {
    /// Whether all words are in its facts.
    pub(crate) fn is_of_words(self) -> bool {
        matches!(self, Self::Words(_))
    }
}

/// The searched facts of a session, prepared for the matcher.
pub(crate) struct SessionFacts {
    title: Utf32String,
    /// In the order of [`FIELDS`].
    others: [Utf32String; 3],
    id: String,
}

impl SessionFacts {
    /// Collects the facts of a session.
    pub(crate) fn of(found: &FoundSession) -> Self {
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
pub(crate) struct SessionQuery {
    words: Vec<Word>,
    matcher: Matcher,
}

struct Word {
    /// The only fact that it is looked for in, by its index in [`FIELDS`].
    field: Option<usize>,
    /// The word as typed.
    whole: Atom,
    /// Its letters with others between them; `None` for an excluded word or a pattern.
    scattered: Option<Atom>,
    letters: String,
}

impl Word {
    fn of(atom: Atom) -> Self {
        let (field, atom) = split_field(atom);
        let letters = atom.needle_text().to_string().to_lowercase();
        let mut whole = atom.clone();
        if whole.kind == AtomKind::Fuzzy {
            whole.kind = AtomKind::Substring;
        }
        let is_loose = atom.kind == AtomKind::Fuzzy && !atom.negative && field.is_none();
        Self {
            field,
            whole,
            scattered: is_loose.then_some(atom),
            letters,
        }
    }

    /// Whether it is about the facts only, so that no text of a session can have it.
    fn is_condition(&self) -> bool {
        self.whole.negative || self.field.is_some()
    }

    fn length(&self) -> u32 {
        u32::try_from(self.letters.chars().count()).unwrap_or(u32::MAX)
    }

    /// The score of the word in the facts of a session; `None` if it is in none, or if an excluded
    /// word is in one.
    fn score(&self, facts: &SessionFacts, matcher: &mut Matcher) -> Option<u32> {
        let atom = &self.whole;
        let mut fits = |fact: &Utf32String| atom.score(fact.slice(..), matcher).map(u32::from);
        if let Some(fact) = self.field.and_then(|field| facts.others.get(field)) {
            return fits(fact);
        }
        let title = fits(&facts.title).map(|score| score + TITLE);
        let others = facts.others.each_ref().map(fits);
        let is_id = facts.id.contains(self.letters.as_str()) != atom.negative;
        let id = is_id.then_some(self.length().saturating_mul(ID_LETTER));
        let facts = others.into_iter().chain([title, id]);
        if atom.negative {
            facts.min().flatten().map(|_| 0)
        } else {
            facts.max().flatten()
        }
    }

    /// The score of its letters in the title.
    fn score_of_letters(&self, facts: &SessionFacts, matcher: &mut Matcher) -> Option<u32> {
        let score = self
            .scattered
            .as_ref()?
            .score(facts.title.slice(..), matcher)?;
        let least = self.length().saturating_mul(LETTER);
        Some(u32::from(score)).filter(|score| *score >= least)
    }
}

/// The field that a word names, and the word after its colon; a word behind `'` is text as it is.
fn split_field(atom: Atom) -> (Option<usize>, Atom) {
    let text = atom.needle_text().to_string();
    let may_name = atom.kind == AtomKind::Fuzzy || atom.negative;
    let named = text.split_once(':').filter(|_| may_name);
    let named = named.and_then(|(name, rest)| {
        let field = FIELDS.iter().position(|field| *field == name)?;
        Some((field, rest))
    });
    let Some((field, rest)) = named else {
        return (None, atom);
    };
    let (case, kind) = (CaseMatching::Smart, AtomKind::Substring);
    let mut word = Atom::new(rest, case, Normalization::Smart, kind, false);
    word.negative = atom.negative;
    (Some(field), word)
}

impl Default for SessionQuery {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            matcher: Matcher::new(Config::DEFAULT),
        }
    }
}

impl SessionQuery {
    /// Sets the typed words.
    pub(crate) fn set(&mut self, typed: &str) {
        let pattern = Pattern::parse(typed, CaseMatching::Smart, Normalization::Smart);
        self.words = pattern.atoms.into_iter().map(Word::of).collect();
    }

    /// The words that a session must have in its facts or in its text.
    pub(crate) fn words(&self) -> Vec<String> {
        let wanted = self.words.iter().filter(|word| !word.is_condition());
        wanted
            .map(|word| word.whole.needle_text().to_string())
            .collect()
    }

    /// How a session matches; `None` if it does not.
    pub(crate) fn fit(&mut self, facts: &SessionFacts) -> Option<Fit> {
        let matcher = &mut self.matcher;
        let (mut sum, mut is_whole) = (0, true);
        for word in &self.words {
            let whole = word.score(facts, matcher);
            is_whole &= whole.is_some();
            sum += whole.or_else(|| word.score_of_letters(facts, matcher))?;
        }
        Some(if is_whole {
            Fit::Words(sum)
        } else {
            Fit::Letters(sum)
        })
    }

    /// Whether a session has none of the excluded words, and has the facts that were named.
    pub(crate) fn passes(&mut self, facts: &SessionFacts) -> bool {
        let matcher = &mut self.matcher;
        let mut conditions = self.words.iter().filter(|word| word.is_condition());
        conditions.all(|word| word.score(facts, matcher).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::{Fit, SessionFacts, SessionQuery};
    use crate::model::found::FoundSession;
    use crate::model::text::Text;

    fn found() -> FoundSession {
        FoundSession {
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

    fn fit(typed: &str) -> Option<Fit> {
        let mut query = SessionQuery::default();
        query.set(typed);
        query.fit(&SessionFacts::of(&found()))
    }

    #[test]
    fn each_word_fits_one_fact() {
        for typed in [
            "",
            "watcher",
            "opus fix",
            "src/harb",
            "5d0c",
            "7F4E",
            "claude !codex",
            "agent:claude project:harb fix",
            "model:opus !model:sonnet",
        ] {
            assert!(fit(typed).is_some_and(Fit::is_of_words), "{typed}");
        }
        for typed in [
            "boat",
            "fix boat",
            "FIX",
            "tvopus",
            "5c5",
            "hrbr",
            "!watch",
            "!5d0c fix",
            "agent:opus",
            "project:watcher",
            "!agent:claude",
            "'agent:claude",
        ] {
            assert!(fit(typed).is_none(), "{typed}");
        }
        assert!(fit("watcher") > fit("harbour"), "the title counts more");
    }

    #[test]
    fn scattered_letters_are_less_than_words() {
        for typed in ["fxwtch", "fxwtch opus"] {
            assert!(matches!(fit(typed), Some(Fit::Letters(_))), "{typed}");
            assert!(fit(typed) < fit("opus"), "{typed}");
        }
    }

    #[test]
    fn letters_far_from_each_other_are_chance() {
        let alphabet = SessionFacts::of(&FoundSession {
            title: Some(Text::from("abcdefghijklmnopqrstuvwxyz")),
            ..found()
        });
        let fits = |typed: &str| {
            let mut query = SessionQuery::default();
            query.set(typed);
            query.fit(&alphabet).is_some()
        };
        assert!(fits("abd") && fits("cegi") && !fits("lz"));
    }
}
