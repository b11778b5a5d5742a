//! What the last answer claims, against what the session shows.
//!
//! The rules, all of them: that tests pass, that something was committed, that something was pushed. A sentence with a
//! condition, a denial, a question or an address to the reader is not judged. Only a claim that *all tests pass* can be
//! contradicted, by a last run that failed with nothing changed after it.

use super::Facts;
use crate::model::entry::EntryId;

/// A sentence that claims something.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    /// The sentence.
    pub(crate) text: String,
    /// What the session shows of it.
    pub(crate) verdict: Verdict,
    /// What shows that.
    pub(crate) by: Option<EntryId>,
}

/// What a session shows of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// A call proves it.
    Proven,
    /// Nothing in the session shows it.
    Unproven,
    /// A call contradicts it.
    Contradicted,
}

impl Verdict {
    /// In a word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Contradicted => "contradicted",
            Self::Unproven => "unproven",
        }
    }
}

/// Words that make a sentence no plain claim.
const DOUBTS: [&str; 36] = [
    "not", "no", "never", "cannot", "fail", "failed", "fails", "failing", "except", "but", "if", "once",
    "when", "should", "would", "will", "could", "may", "might", "can", "must", "until", "unless", "before",
    "you", "your", "after", "what", "which", "how", "where", "nothing", "none", "neither", "nobody",
    "without",
];
const PASSES: [&str; 8] = [
    "tests pass",
    "tests passed",
    "tests now pass",
    "tests still pass",
    "tests are passing",
    "tests are green",
    "tests succeed",
    "tests green",
];

/// Words before one that says that something was done, and after it.
const LEADS: [&str; 14] = [
    "i",
    "ve",
    "and",
    "is",
    "are",
    "was",
    "were",
    "been",
    "everything",
    "all",
    "changes",
    "s",
    "now",
    "successfully",
];
const TRAILS: [&str; 9] = ["and", "to", "as", "in", "with", "on", "successfully", "it", "the"];

/// The claims of an answer.
pub(super) fn of(facts: &Facts, answer: &str) -> Vec<Claim> {
    sentences(answer).filter_map(|sentence| judge(facts, sentence)).collect()
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    let lines = text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence && !line.trim_start().starts_with('>')
    });
    lines.flat_map(|line| line.split_inclusive(['.', '!', '?', ';'])).map(str::trim)
}

fn judge(facts: &Facts, sentence: &str) -> Option<Claim> {
    let lower = sentence.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_doubtful =
        words.iter().any(|word| DOUBTS.contains(word)) || lower.contains("n't") || lower.contains('?');
    if is_doubtful {
        return None;
    }
    let plain = words.join(" ");
    let mut verdicts = Vec::new();
    if PASSES.iter().any(|claim| plain.contains(claim)) {
        verdicts.push(of_tests(facts, plain.contains("all tests"))?);
    }
    if says(&words, "committed") {
        verdicts.push(shown_by(facts.commits.last().map(|commit| commit.entry)));
    }
    if says(&words, "pushed") {
        let push = facts.commands.iter().rfind(|command| command.is_push);
        verdicts.push(shown_by(push.map(|push| push.entry)));
    }
    // A sentence that claims two things is as good as the worse of them.
    let (verdict, by) = verdicts.into_iter().max_by_key(|(verdict, _)| *verdict)?;
    let text = sentence.trim_start_matches(['-', '*', '#', ' ']).to_owned();
    Some(Claim { text, verdict, by })
}

/// Whether a word says that something was done: `committed and pushed`, `everything is pushed`, but not `committed data`.
fn says(words: &[&str], what: &str) -> bool {
    words.iter().enumerate().filter(|(_, word)| **word == what).any(|(place, _)| {
        let before = place.checked_sub(1).and_then(|before| words.get(before));
        let after = words.get(place + 1);
        before.is_some_and(|word| LEADS.contains(word)) && after.is_none_or(|word| TRAILS.contains(word))
            || before.is_none() && after.is_none_or(|word| TRAILS.contains(word))
    })
}

fn shown_by(entry: Option<EntryId>) -> (Verdict, Option<EntryId>) {
    (if entry.is_some() { Verdict::Proven } else { Verdict::Unproven }, entry)
}

/// A run before a later change proves nothing of what there is now, and contradicts nothing.
fn of_tests(facts: &Facts, is_of_all: bool) -> Option<(Verdict, Option<EntryId>)> {
    let Some((run, is_old)) = facts.last_tests() else {
        return (!facts.may_have_tested()).then_some((Verdict::Unproven, None));
    };
    match run.passed {
        Some(true) if !is_old => Some((Verdict::Proven, Some(run.entry))),
        Some(false) if !is_old && is_of_all => Some((Verdict::Contradicted, Some(run.entry))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{says, sentences};

    #[test]
    fn a_word_claims_only_where_it_is_a_verb() {
        for (sentence, is_claim) in [
            ("everything is pushed and clean", true),
            ("committed and pushed", true),
            ("i committed the fix", true),
            ("pushed to origin", true),
            ("committed", true),
            ("committed checkpoints section updated", false),
            ("shows committed data", false),
            ("the pushed branch is there", false),
        ] {
            let words: Vec<&str> = sentence.split(' ').collect();
            assert_eq!(says(&words, "committed") || says(&words, "pushed"), is_claim, "{sentence}");
        }
    }

    #[test]
    fn sentences_are_those_of_the_answer_itself() {
        let text = "Done. All tests pass!\n```\nok. pushed\n```\n> quoted\n- committed; pushed";
        let found: Vec<&str> = sentences(text).collect();
        assert_eq!(found, ["Done.", "All tests pass!", "- committed;", "pushed"]);
    }
}
