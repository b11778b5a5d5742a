//! What the last answer claims, against what the session shows.
//!
//! The rules, all of them. A sentence is judged if it says plainly that
//!
//! * tests **pass**: proven by the last run of tests if it passed and nothing was changed after it. That *all tests* pass
//!   is not proven by a run of some; of tests with a name, `integration`, the last run counts that has it. It is contradicted if the summary of the last run says that some failed, nothing
//!   was changed by that call or after it, and no later command may have run tests;
//! * something was **committed**: proven by the commit whose hash it names, or by the last commit if nothing was changed
//!   after it;
//! * something was **pushed**: proven by the last push if it went well and no commit came after it. Contradicted if all
//!   pushes were turned down, as their output says;
//! * **tests** were **fixed**: proven by a last run in which tests passed that had failed before. Anything else that was
//!   fixed is judged only where the session changed nothing at all;
//! * a build, a check or tests have **no errors**: proven by the last of them if it ended well and nothing was changed
//!   after it. Never contradicted;
//! * files were **created**, written, added, updated, modified or edited, by their paths: proven by the call that did it.
//!   Contradicted if that call failed, nobody mended it, and nothing else may have written files.
//!
//! Where nothing of it is in the session, and no command and no unknown tool may have done it, the claim is unproven.
//! In all other cases there is no mark, nor is there for a sentence with a condition, a denial, a question or an address
//! to the reader, for what is quoted, and for headings and tables. A sentence that claims several things is as good as
//! the worst of them, and is not judged if one of them is not.

use super::notes::Like;
use super::{Brief, Change, TestRun};
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

/// Nothing, if a claim cannot be judged.
type Judged = Option<(Verdict, Option<EntryId>)>;

const UNPROVEN: Judged = Some((Verdict::Unproven, None));

/// Words that make a sentence no plain claim of what is so.
const DOUBTS: [&str; 59] = [
    "not",
    "no",
    "never",
    "cannot",
    "fail",
    "failed",
    "fails",
    "failing",
    "except",
    "but",
    "if",
    "once",
    "when",
    "should",
    "would",
    "will",
    "could",
    "may",
    "might",
    "can",
    "must",
    "until",
    "unless",
    "before",
    "you",
    "your",
    "after",
    "what",
    "which",
    "how",
    "where",
    "nothing",
    "none",
    "neither",
    "nobody",
    "without",
    "ensure",
    "ensures",
    "verify",
    "confirm",
    "please",
    "need",
    "needs",
    "want",
    "todo",
    "next",
    "remaining",
    "pending",
    "already",
    "previously",
    "previous",
    "earlier",
    "originally",
    "most",
    "consistently",
    "always",
    "across",
    "everywhere",
    "regardless",
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
const TRAILS: [&str; 14] =
    ["and", "to", "as", "in", "with", "on", "successfully", "it", "the", "this", "that", "both", "all", "a"];
const PASSES: [&str; 8] =
    ["pass", "passes", "passed", "passing", "green", "succeed", "succeeds", "succeeded"];
/// Words between tests and that they pass.
const BETWEEN: [&str; 12] =
    ["now", "still", "all", "are", "is", "have", "has", "successfully", "cleanly", "suite", "again", "also"];
/// Words before tests that do not say which.
const ANY_TESTS: [&str; 12] =
    ["all", "the", "of", "our", "existing", "these", "full", "whole", "entire", "and", "test", "now"];
const CHECKS: [&str; 18] = [
    "build",
    "builds",
    "built",
    "compile",
    "compiles",
    "compiled",
    "compilation",
    "typecheck",
    "typechecks",
    "type",
    "types",
    "lint",
    "lints",
    "linter",
    "linting",
    "tsc",
    "clippy",
    "checks",
];
const WROTE: [&str; 6] = ["created", "wrote", "added", "updated", "modified", "edited"];
/// Words between that and a path.
const BEFORE_PATH: [&str; 9] = ["a", "an", "the", "new", "file", "files", "called", "named", "and"];
/// Endings of files that nothing else is likely to have.
const ENDINGS: [&str; 44] = [
    "rs", "py", "js", "ts", "tsx", "jsx", "mjs", "cjs", "go", "java", "kt", "rb", "ex", "exs", "lua", "c",
    "h", "cpp", "cs", "php", "swift", "sh", "sql", "css", "scss", "html", "md", "txt", "json", "jsonl",
    "yaml", "yml", "toml", "lock", "xml", "svg", "csv", "ini", "cfg", "conf", "vue", "svelte", "proto",
    "ics",
];

/// The claims of an answer.
pub(super) fn of(brief: &Brief, answer: &str) -> Vec<Claim> {
    let mut claims = Vec::new();
    let mut list = None;
    for line in lines(answer) {
        let text = line.trim_start_matches(['-', '*', ' ']);
        let is_item = text.len() < line.len();
        // `Created:` speaks of the files in the list below it.
        if let Some(verb) = list.filter(|_| is_item) {
            let judged =
                paths(text).filter(|paths| !paths.is_empty()).and_then(|paths| wrote(brief, verb, &paths));
            claims.extend(judged.map(|(verdict, by)| Claim {
                text: format!("{verb} {}", text.replace("**", "")),
                verdict,
                by,
            }));
            continue;
        }
        list = heading_of_list(line);
        claims.extend(sentences(text).filter_map(|sentence| judge(brief, sentence)));
    }
    claims
}

/// Lines in which the answer itself speaks.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().map(str::trim).filter(move |line| {
        let is_fence = line.starts_with("```") || line.starts_with("~~~");
        is_code ^= is_fence;
        !is_code && !is_fence && !line.is_empty() && !line.starts_with(['>', '#', '|'])
    })
}

/// A sentence ends where a blank follows its sign: a path has signs of its own.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    let sentences = std::iter::from_fn(move || {
        let end = rest
            .char_indices()
            .find(|(at, c)| {
                let behind = rest.get(at + c.len_utf8()..).unwrap_or_default();
                matches!(c, '.' | '!' | '?' | ';')
                    && (behind.is_empty() || behind.starts_with([' ', '*', ')']))
            })
            .map_or(rest.len(), |(at, c)| at + c.len_utf8());
        let (sentence, behind) = rest.split_at_checked(end)?;
        rest = behind;
        (!sentence.is_empty()).then(|| sentence.trim_matches(['*', ' ', '(', ')']))
    });
    sentences.filter(|sentence| !sentence.is_empty())
}

/// The verb of a line that stands over a list of files.
fn heading_of_list(line: &str) -> Option<&'static str> {
    let heading = line.trim_matches(['*', ' ']).strip_suffix(':')?.trim_matches(['*', ' ']).to_lowercase();
    let words: Vec<&str> = heading.split_whitespace().collect();
    let ([verb] | ["files" | "i" | "i've", verb] | [verb, "files" | "file"]) = words.as_slice() else {
        return None;
    };
    match *verb {
        "created" => Some("Created"),
        "updated" => Some("Updated"),
        "modified" | "changed" => Some("Modified"),
        _ => None,
    }
}

fn judge(brief: &Brief, sentence: &str) -> Option<Claim> {
    let plain = unquoted(sentence).to_lowercase();
    let mut words: Vec<&str> =
        plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let has_no_errors = take_no_errors(&mut words);
    let is_fixed = does_say(&words, "fixed");
    if is_fixed {
        words.retain(|word| !matches!(*word, "failing" | "failed" | "failure" | "failures"));
    }
    let is_doubtful = words.iter().any(|word| DOUBTS.contains(word))
        || ["n't", "n’t", "?", "so that", "[ ]"].iter().any(|doubt| plain.contains(doubt));
    if is_doubtful {
        return None;
    }
    let mut judged: Vec<Judged> = Vec::new();
    if let Some(tests) = claimed_tests(&words) {
        judged.push(tests_pass(brief, &tests));
    } else if is_fixed {
        judged.push(fixed(brief, words.iter().any(|word| matches!(*word, "test" | "tests"))));
    }
    if has_no_errors {
        judged.push(no_errors(brief, &words));
    }
    if does_say(&words, "committed") {
        judged.push(committed(brief, sentence));
    }
    if does_say(&words, "pushed") {
        judged.push(pushed(brief));
    }
    if let Some((verb, paths)) = claimed_files(sentence) {
        judged.push(wrote(brief, &verb, &paths));
    }
    let judged: Option<Vec<_>> = judged.into_iter().collect();
    let (verdict, by) = judged?.into_iter().max_by_key(|(verdict, _)| *verdict)?;
    Some(Claim { text: sentence.replace("**", ""), verdict, by })
}

/// A sentence without what it quotes.
fn unquoted(sentence: &str) -> String {
    let mut open = None;
    let kept = sentence.chars().filter(|c| match (open, *c) {
        (Some(end), c) => {
            open = Some(end).filter(|end| *end != c);
            false
        }
        (None, '`' | '"') => {
            open = Some(*c);
            false
        }
        (None, '“') => {
            open = Some('”');
            false
        }
        (None, _) => true,
    });
    kept.collect()
}

/// Takes `no errors`, `without any errors or warnings` out of a sentence. Answers whether it was there.
fn take_no_errors(words: &mut Vec<&str>) -> bool {
    let starts = |word: &&str| matches!(*word, "no" | "0" | "zero" | "without");
    let Some(start) = words.iter().position(starts) else { return false };
    let behind = words.get(start + 1..).unwrap_or_default();
    let listed = ["any", "errors", "error", "warnings", "failures", "or", "and", "type", "compile", "lint"];
    let length = behind.iter().take_while(|word| listed.contains(word)).count();
    let found = behind.get(..length).is_some_and(|found| found.iter().any(|word| word.starts_with("error")));
    if found {
        words.drain(start..=start + length);
    }
    found
}

/// Whether a word says that something was done: `committed and pushed`, `everything is pushed`, but not `committed data`.
fn does_say(words: &[&str], what: &str) -> bool {
    words.iter().enumerate().filter(|(_, word)| **word == what).any(|(place, _)| {
        let before = place.checked_sub(1).and_then(|before| words.get(before));
        let after = words.get(place + 1);
        before.is_none_or(|word| LEADS.contains(word))
            && after.is_none_or(|word| TRAILS.contains(word) || is_hash(word))
    })
}

fn is_hash(word: &str) -> bool {
    (7..=40).contains(&word.len())
        && word.chars().all(|c| c.is_ascii_hexdigit())
        && word.contains(|c: char| c.is_ascii_digit())
        && word.contains(|c: char| c.is_ascii_alphabetic())
}

/// Which tests are said to pass.
struct Tests<'a> {
    are_all: bool,
    /// Words that say which: `unit`.
    which: Vec<&'a str>,
}

fn claimed_tests<'a>(words: &[&'a str]) -> Option<Tests<'a>> {
    let is_noun = |word: &&str| matches!(*word, "tests" | "test" | "suite");
    let place = words.iter().enumerate().position(|(place, word)| {
        let behind = words.get(place + 1..).unwrap_or_default();
        let passes = behind.iter().find(|word| !BETWEEN.contains(word));
        is_noun(word) && passes.is_some_and(|word| PASSES.contains(word))
    })?;
    let behind = words.get(place + 1..)?.iter().take_while(|word| BETWEEN.contains(word));
    let before: Vec<&str> = words.get(..place)?.iter().rev().take(3).copied().collect();
    let are_all =
        before.contains(&"all") || behind.clone().any(|word| *word == "all") || before.contains(&"full");
    let is_any = |word: &&str| ANY_TESTS.contains(word) || word.chars().all(|c| c.is_ascii_digit());
    let which: Vec<&str> = if are_all || before.first().is_some_and(|word| !is_any(word)) {
        before.iter().take_while(|word| **word != "all").filter(|word| !is_any(word)).copied().collect()
    } else {
        Vec::new()
    };
    Some(Tests { are_all, which })
}

/// A run before a later change proves nothing of what there is now, and contradicts nothing.
fn tests_pass(brief: &Brief, tests: &Tests<'_>) -> Judged {
    if brief.tests.is_empty() {
        return UNPROVEN.filter(|_| !brief.may.test);
    }
    let names = |run: &&TestRun| {
        let command = run.command.to_lowercase();
        tests.which.iter().all(|word| command.contains(word))
    };
    let run = brief.tests.iter().rfind(names).filter(|run| run.lane.is_none())?;
    let is_any = tests.which.is_empty();
    match run.passed {
        Some(true) if is_recent(brief, run) && !(tests.are_all && is_any && run.is_narrow) => {
            Some((Verdict::Proven, Some(run.entry)))
        }
        Some(false)
            if tests.are_all
                && is_any
                && run.summary.is_some()
                && brief.last_change < run.place
                && brief.last_may_test <= run.place =>
        {
            Some((Verdict::Contradicted, Some(run.entry)))
        }
        _ => None,
    }
}

fn is_recent(brief: &Brief, run: &TestRun) -> bool {
    brief.last_change <= run.place
}

fn fixed(brief: &Brief, are_tests: bool) -> Judged {
    let mending = brief
        .tests
        .last()
        .filter(|run| are_tests && run.has_mended && run.lane.is_none() && is_recent(brief, run));
    let has_done_nothing =
        brief.files.is_empty() && brief.commands.is_empty() && !brief.may.write && !brief.may.commit;
    match mending {
        Some(run) => Some((Verdict::Proven, Some(run.entry))),
        None => UNPROVEN.filter(|_| has_done_nothing),
    }
}

fn no_errors(brief: &Brief, words: &[&str]) -> Judged {
    if words.iter().any(|word| matches!(*word, "test" | "tests" | "suite")) {
        let run = brief.tests.last();
        let run = run.filter(|run| run.passed == Some(true) && run.lane.is_none() && is_recent(brief, run));
        return match run {
            Some(run) => Some((Verdict::Proven, Some(run.entry))),
            None => UNPROVEN.filter(|_| !brief.may.run),
        };
    }
    if !words.iter().any(|word| CHECKS.contains(word)) {
        return None;
    }
    match brief.last_check {
        Some(check) => (check.is_well == Some(true) && brief.last_change <= check.place)
            .then_some((Verdict::Proven, Some(check.entry))),
        None => UNPROVEN.filter(|_| !brief.may.run),
    }
}

fn committed(brief: &Brief, sentence: &str) -> Judged {
    let words = sentence.split(|c: char| !c.is_ascii_alphanumeric());
    let mut named = words.filter(|word| is_hash(word)).peekable();
    if named.peek().is_some() {
        let known = |hash: &str| {
            brief
                .commits
                .iter()
                .find(|commit| commit.hash.starts_with(hash) || hash.starts_with(&commit.hash))
        };
        let known: Option<Vec<_>> = named.map(known).collect();
        return known?.last().map(|commit| (Verdict::Proven, Some(commit.entry)));
    }
    match brief.last_commit {
        Some((entry, place)) => (brief.last_change <= place).then_some((Verdict::Proven, Some(entry))),
        None => UNPROVEN.filter(|_| !brief.may.commit),
    }
}

fn pushed(brief: &Brief) -> Judged {
    match brief.last_push {
        Some(push) if push.is_done => {
            let is_last = brief.last_commit.is_none_or(|(_, place)| place <= push.place);
            is_last.then_some((Verdict::Proven, Some(push.entry)))
        }
        Some(push) => {
            (!brief.has_pushed && !brief.may.push).then_some((Verdict::Contradicted, Some(push.entry)))
        }
        None => UNPROVEN.filter(|_| !brief.may.push),
    }
}

/// The files that a sentence says were written, and with which word.
fn claimed_files(sentence: &str) -> Option<(String, Vec<String>)> {
    let mut rest = sentence.trim_start_matches(['-', '*', ' ', '✅', '✓', '✔', '☑']);
    loop {
        let (word, behind) = rest.split_once(' ')?;
        let word = word.trim_matches(['*', ',', ':']).to_lowercase();
        rest = behind.trim_start();
        if WROTE.contains(&word.as_str()) {
            return Some((word, paths(rest)?)).filter(|(_, paths)| !paths.is_empty());
        }
        if !matches!(
            word.as_str(),
            "i" | "i've" | "i’ve" | "have" | "also" | "successfully" | "now" | "and" | "done" | "—" | "–"
        ) {
            return None;
        }
    }
}

/// The paths with which a text begins; nothing if it begins with something else.
fn paths(text: &str) -> Option<Vec<String>> {
    let mut rest = text;
    let mut paths = Vec::new();
    loop {
        rest = rest.trim_start_matches([' ', ',', '*', ':']);
        let (path, behind) = if let Some(quoted) = rest.strip_prefix('`') {
            quoted.split_once('`')?
        } else if let Some(link) = rest.strip_prefix('[') {
            let (_, behind) = link.split_once("](")?;
            behind.split_once(')')?
        } else {
            let end = rest.find([' ', ',']).unwrap_or(rest.len());
            rest.split_at_checked(end)?
        };
        let path = path.trim_end_matches(['.', ':', '!']);
        if is_path(path) {
            paths.push(path.to_owned());
        } else if !BEFORE_PATH.contains(&path.to_lowercase().as_str()) || path.is_empty() {
            return Some(paths);
        }
        rest = behind;
    }
}

fn is_path(path: &str) -> bool {
    let is_plain = !path.contains([' ', '(', '*', '<', '{', '$', ':', '@', '=']);
    is_plain
        && !path.starts_with('-')
        && (path.trim_matches('/').contains('/') && !path.ends_with('/') || has_ending(path))
}

fn has_ending(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && ENDINGS.contains(&ending))
}

fn wrote(brief: &Brief, verb: &str, paths: &[String]) -> Judged {
    let judged: Option<Vec<_>> = paths.iter().map(|path| wrote_one(brief, verb, path)).collect();
    judged?.into_iter().max_by_key(|(verdict, _)| *verdict)
}

fn wrote_one(brief: &Brief, verb: &str, path: &str) -> Judged {
    let path = path.trim_start_matches("./");
    let is_it = |known: &str| {
        let is_end =
            |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/'));
        known == path || is_end(known, path) || is_end(path, known)
    };
    let is_new = |change: &Change| change.writes > 0 || change.lines.is_some_and(|(_, removed)| removed == 0);
    if let Some((_, change)) = brief.files.iter().find(|(known, _)| is_it(known)) {
        let is_so = !matches!(verb.to_lowercase().as_str(), "created" | "wrote") || is_new(change);
        return is_so.then_some((Verdict::Proven, Some(change.last)));
    }
    if brief.may.write || !has_ending(path) {
        return None;
    }
    let failed = brief.failed.iter().rfind(|failure| {
        matches!(&failure.like, Like::File(known) if is_it(known)) && failure.mended.is_none()
    });
    failed.map_or(UNPROVEN, |failure| Some((Verdict::Contradicted, Some(failure.entry))))
}

#[cfg(test)]
mod tests {
    use super::{claimed_files, claimed_tests, does_say, sentences, take_no_errors};

    #[test]
    fn a_word_claims_only_where_it_is_a_verb() {
        for (sentence, is_claim) in [
            ("everything is pushed and clean", true),
            ("committed and pushed", true),
            ("i committed the fix", true),
            ("pushed to origin", true),
            ("committed", true),
            ("committed 1a2b3c4 the whole change", true),
            ("committed checkpoints section updated", false),
            ("shows committed data", false),
            ("the pushed branch is there", false),
        ] {
            let words: Vec<&str> = sentence.split(' ').collect();
            assert_eq!(does_say(&words, "committed") || does_say(&words, "pushed"), is_claim, "{sentence}");
        }
    }

    #[test]
    fn tests_are_claimed_where_they_are_said_to_pass() {
        for (sentence, claim) in [
            ("all tests pass", Some((true, ""))),
            ("all 12 tests passed", Some((true, ""))),
            ("tests are all green", Some((true, ""))),
            ("the test still passes", Some((false, ""))),
            ("the full test suite passes", Some((true, ""))),
            ("all integration tests pass", Some((true, "integration"))),
            ("the unit tests pass", Some((false, "unit"))),
            ("the tests take long to pass", None),
            ("i added tests for passing values", None),
        ] {
            let words: Vec<&str> = sentence.split(' ').collect();
            let found = claimed_tests(&words).map(|tests| (tests.are_all, tests.which.join(" ")));
            assert_eq!(found, claim.map(|(are_all, which)| (are_all, which.to_owned())), "{sentence}");
        }
    }

    #[test]
    fn sentences_end_where_a_blank_follows() {
        let found: Vec<&str> = sentences("Done. I wrote src/a.rs; all tests pass! **Pushed.**").collect();
        assert_eq!(found, ["Done.", "I wrote src/a.rs;", "all tests pass!", "Pushed."]);
    }

    #[test]
    fn no_errors_is_no_denial() {
        for (sentence, is_said, rest) in [
            ("the build has no errors or warnings", true, "the build has"),
            ("it compiles without any errors now", true, "it compiles now"),
            ("there is no test", false, "there is no test"),
        ] {
            let mut words: Vec<&str> = sentence.split(' ').collect();
            assert_eq!(take_no_errors(&mut words), is_said, "{sentence}");
            assert_eq!(words.join(" "), rest);
        }
    }

    #[test]
    fn files_are_claimed_by_their_paths() {
        for (sentence, files) in [
            ("Created `a/b.rs` with two tests", "created a/b.rs"),
            ("I've updated the file src/a.rs.", "updated src/a.rs"),
            ("Created [CODEOWNERS](.github/CODEOWNERS) for all", "created .github/CODEOWNERS"),
            ("✅ Added `a.md`, `b.md` and `c.md`", "added a.md b.md c.md"),
            ("Added a check of `a.id` to `b.rs`", ""),
            ("Updated it", ""),
            ("Created the table `users`", ""),
        ] {
            let found = claimed_files(sentence).map(|(verb, paths)| format!("{verb} {}", paths.join(" ")));
            assert_eq!(found.unwrap_or_default(), files, "{sentence}");
        }
    }
}
