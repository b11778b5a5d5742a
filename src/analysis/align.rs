//! Where two runs parted: their prompts, calls and answers, aligned by what was asked for and not
//! by position.
//!
//! Two calls are the same if tool and arguments are, but for what differs between any two runs: the
//! folder that the session began in, ids, times, temporary names, the order of keys, and what a
//! command is said to be for and how long it is waited for. Words between calls help to find which
//! calls belong together, but are never worded twice alike: they part two runs only if neither has calls.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use regex::Regex;

use super::calls::{Outcome, Place};
use crate::model::body::{Body, Held, Tree};
use crate::model::entry::{BlockKind, EntryId, Role};
use crate::model::fingerprint::hash_of;
use crate::model::text::Name;
use crate::model::tool::ToolKind;
use crate::model::transcript::Transcript;

/// What a step of a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum StepKind {
    Prompt,
    Call,
    Answer,
}

/// A prompt, a call or an answer of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunStep {
    pub(crate) place: Place,
    pub(crate) kind: StepKind,
    /// The number of its turn within the run, from 1.
    pub(crate) turn: usize,
    /// Equal for steps that are the same.
    likeness: u64,
    /// Equal for calls of the same tool.
    tool: u64,
    outcome: Option<Outcome>,
}

/// Two steps beside each other, by their indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) steps: [Option<usize>; 2],
    pub(crate) is_same: bool,
}

/// Two runs side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Alignment {
    pub(crate) runs: [Vec<RunStep>; 2],
    pub(crate) pairs: Vec<Pair>,
    /// The index of the pair at which the runs part; `None` if they do not.
    pub(crate) first_difference: Option<usize>,
    /// The same calls before that.
    pub(crate) same: usize,
    /// Same calls that ended in another way.
    pub(crate) otherwise: usize,
    has_calls: bool,
}

/// The entries of the run that an entry belongs to: its sub-agent, or the branch that it is on up
/// to its end; without an entry the main agent on the active path.
pub(crate) fn run_of(transcript: &Transcript, entry: Option<EntryId>) -> Vec<EntryId> {
    let lane = entry.and_then(|id| transcript.lane_at(id));
    let branches = transcript.branches();
    let left = entry.filter(|id| branches.abandoned.contains(id));
    let seen = left
        .and_then(|id| transcript.visible_on_branch(branches.of(id)?.number))
        .map(|seen| seen.into_iter().collect::<HashSet<_>>());
    let is_of_run = |id: &EntryId| {
        transcript.lane_at(*id) == lane
            && match &seen {
                Some(seen) => seen.contains(id),
                None => lane.is_some() || !branches.abandoned.contains(id),
            }
    };
    transcript
        .order()
        .iter()
        .copied()
        .filter(is_of_run)
        .collect()
}

pub(crate) fn steps_of(transcript: &Transcript, run: &[EntryId]) -> Vec<RunStep> {
    let meta = transcript.meta();
    let roots: Vec<&str> = [&meta.root, &meta.cwd]
        .into_iter()
        .flatten()
        .map(Name::as_str)
        .collect();
    let (mut steps, mut turn, mut has_own) = (Vec::new(), 0, false);
    let entries = run
        .iter()
        .filter_map(|id| Some((*id, transcript.get(*id)?)));
    for (id, entry) in entries {
        // A fork begins with copies of what it inherited; later ones repeat what is there already.
        let is_copy = entry.marks.copy;
        if is_copy && has_own {
            continue;
        }
        has_own |= !is_copy && matches!(entry.role, Role::User | Role::Assistant);
        let is_spoken_to = entry.lane.is_some() || is_copy;
        let is_prompt = entry.marks.prompt || (is_spoken_to && entry.role == Role::User);
        turn += usize::from(is_prompt);
        for (block, one) in entry.blocks.iter().enumerate() {
            let (kind, likeness, tool, outcome) = match &one.kind {
                BlockKind::Text(body) if is_prompt => {
                    (StepKind::Prompt, text_like(body, &roots), 0, None)
                }
                BlockKind::Text(body) if entry.role == Role::Assistant && !body.stub.is_blank() => {
                    (StepKind::Answer, text_like(body, &roots), 0, None)
                }
                BlockKind::Call(call) => {
                    let is_command = call.kind == ToolKind::Run;
                    let input = match &call.input.held {
                        Held::Tree(tree) => hash_of(&plain(tree, is_command, &roots)),
                        _ => text_like(&call.input, &roots),
                    };
                    let outcome = Some(Outcome::of(&call.state));
                    (
                        StepKind::Call,
                        hash_of(&(&call.name, input)),
                        hash_of(&call.name),
                        outcome,
                    )
                }
                _ => continue,
            };
            steps.push(RunStep {
                place: Place { entry: id, block },
                kind,
                turn,
                likeness: hash_of(&(kind, likeness)),
                tool: hash_of(&(kind, tool)),
                outcome,
            });
        }
    }
    steps
}

fn text_like(body: &Body, roots: &[&str]) -> u64 {
    hash_of(&(
        without_chance(body.text_or_stub(), roots),
        body.is_on_disk().then_some(body.bytes),
    ))
}

/// A value without what differs between any two runs, with its members in the order of their names.
fn plain(tree: &Tree, is_command: bool, roots: &[&str]) -> Tree {
    match tree {
        Tree::Text(text) => Tree::Text(Name::from(without_chance(text, roots).as_str())),
        Tree::List(items) => {
            Tree::List(items.iter().map(|item| plain(item, false, roots)).collect())
        }
        Tree::Map(members) => {
            let is_own = |key: &Name| !(is_command && BESIDE.contains(&key.as_str()));
            let mut members: Vec<_> = members
                .iter()
                .filter(|(key, value)| is_own(key) && *value != Tree::Null)
                .map(|(key, value)| (key.clone(), plain(value, false, roots)))
                .collect();
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            Tree::Map(members)
        }
        other => other.clone(),
    }
}

/// Members of a command's arguments that say what it is for, how long to wait, and where: not what is done.
const BESIDE: [&str; 8] = [
    "description",
    "justification",
    "shellId",
    "initial_wait",
    "timeout",
    "timeout_ms",
    "yield_time_ms",
    "max_output_tokens",
];

/// What chance puts into arguments, with what stands for it: ids, times, temporary names.
static CHANCE: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    compiled(&[
        (UUID, "<id>"),
        (
            r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?",
            "<time>",
        ),
        (
            r"(/private)?(/tmp|/var/tmp|/var/folders/[^/\s]+/[^/\s]+/T)/[^/\s'\x22;:,)]+",
            "<temporary>",
        ),
        (
            r"\b(toolu|call|chatcmpl|msg|item|task|sess)_[0-9A-Za-z_-]{8,}",
            "<id>",
        ),
        (r"\b1[4-9]\d{8}(\d{3})?\b", "<time>"),
    ])
});

pub(crate) const UUID: &str =
    r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b";

/// Patterns with what replaces their matches.
pub(crate) fn compiled<'w>(patterns: &[(&str, &'w str)]) -> Vec<(Regex, &'w str)> {
    let patterns = patterns.iter();
    patterns
        .filter_map(|(pattern, word)| Some((Regex::new(pattern).ok()?, *word)))
        .collect()
}

fn without_chance(text: &str, roots: &[&str]) -> String {
    let mut text = text.trim().to_owned();
    for root in roots.iter().filter(|root| root.len() > 1) {
        text = replace_folder(&text, root);
    }
    for (pattern, word) in CHANCE.iter() {
        if pattern.is_match(&text) {
            text = pattern.replace_all(&text, *word).into_owned();
        }
    }
    text
}

/// Replaces a folder by `.`, and what is in it by its path from there, but not a folder whose name
/// only begins with it.
fn replace_folder(text: &str, folder: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(folder) {
        out.push_str(before);
        let goes_on = after.starts_with(|c: char| c.is_alphanumeric() || "-_.".contains(c));
        let is_name = |rest: &&str| rest.starts_with(|c: char| !c.is_whitespace());
        let within = after.strip_prefix('/').filter(is_name);
        rest = match within {
            Some(within) if !goes_on => within,
            _ => {
                out.push_str(if goes_on { folder } else { "." });
                after
            }
        };
    }
    out + rest
}

impl Alignment {
    /// Aligns the steps of two runs.
    pub(crate) fn of(one: Vec<RunStep>, other: Vec<RunStep>) -> Self {
        let is_call = |step: &RunStep| step.kind == StepKind::Call;
        let has_calls = one.iter().chain(&other).any(is_call);
        let mut pairs = Vec::new();
        let mut from = [0, 0];
        let same = alike(&one, &other, |step| step.likeness);
        let end = (one.len(), other.len());
        for (is_same, (at, beside)) in same
            .into_iter()
            .map(|pair| (true, pair))
            .chain([(false, end)])
        {
            let ours = one.get(from[0]..at).unwrap_or_default();
            let theirs = other.get(from[1]..beside).unwrap_or_default();
            pairs.extend(by_tool(ours, theirs, from));
            if is_same {
                pairs.push(Pair {
                    steps: [Some(at), Some(beside)],
                    is_same,
                });
            }
            from = [at + 1, beside + 1];
        }
        let mut alignment = Self {
            runs: [one, other],
            pairs,
            has_calls,
            ..Self::default()
        };
        alignment.judge();
        alignment
    }

    /// Whether a pair is a difference: words between calls are none.
    pub(crate) fn parts(&self, pair: &Pair) -> bool {
        let mut steps = self.steps(pair).into_iter().flatten();
        let is_answer = steps.any(|step| step.kind == StepKind::Answer);
        !(pair.is_same || self.has_calls && is_answer)
    }

    fn judge(&mut self) {
        let parting = self.pairs.iter().position(|pair| self.parts(pair));
        let before = self
            .pairs
            .get(..parting.unwrap_or(self.pairs.len()))
            .unwrap_or_default();
        let calls = before.iter().filter_map(|pair| match self.steps(pair) {
            [Some(one), Some(other)] if pair.is_same && one.kind == StepKind::Call => {
                Some(one.outcome == other.outcome)
            }
            _ => None,
        });
        let ends: Vec<bool> = calls.collect();
        self.otherwise = ends.iter().filter(|is_same| !**is_same).count();
        self.same = ends.len();
        self.first_difference = parting;
    }

    pub(crate) fn steps(&self, pair: &Pair) -> [Option<&RunStep>; 2] {
        let [ours, theirs] = &self.runs;
        let [our, their] = pair.steps;
        [
            our.and_then(|at| ours.get(at)),
            their.and_then(|at| theirs.get(at)),
        ]
    }
}

/// Steps that differ, beside each other where both are calls of one tool, both prompts, or both
/// answers; `from` are the numbers of the first ones.
fn by_tool(ours: &[RunStep], theirs: &[RunStep], from: [usize; 2]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut push = |our: Option<usize>, their: Option<usize>| {
        pairs.push(Pair {
            steps: [our.map(|at| from[0] + at), their.map(|at| from[1] + at)],
            is_same: false,
        });
    };
    let (mut at, mut beside) = (0, 0);
    let matched = alike(ours, theirs, |step| step.tool);
    let end = (ours.len(), theirs.len());
    for (our, their) in matched.into_iter().chain([end]) {
        (at..our).for_each(|our| push(Some(our), None));
        (beside..their).for_each(|their| push(None, Some(their)));
        if (our, their) != end {
            push(Some(our), Some(their));
        }
        (at, beside) = (our + 1, their + 1);
    }
    pairs
}

/// How much it says that a step is the same in both runs: a call says more than words, which may
/// stand before it in one run and after it in the other.
fn weight(step: &RunStep) -> u64 {
    match step.kind {
        StepKind::Prompt | StepKind::Call => 3,
        StepKind::Answer => 1,
    }
}

/// Pairs of equal steps in the order of both runs, so that together they say the most. Of equally
/// good ones those are taken that begin first.
fn alike(
    ours: &[RunStep],
    theirs: &[RunStep],
    key: impl Fn(&RunStep) -> u64,
) -> Vec<(usize, usize)> {
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, step) in theirs.iter().enumerate() {
        places.entry(key(step)).or_default().push(at);
    }
    // The best chain that ends at or before each step of theirs, as a tree of prefixes.
    let mut best: Vec<Option<ChainLink>> = vec![None; theirs.len() + 1];
    let mut links: Vec<((usize, usize), Option<usize>)> = Vec::new();
    let mut seen: HashMap<u64, usize> = HashMap::new();
    for (at, step) in ours.iter().enumerate() {
        let Some(equal) = places.get(&key(step)) else {
            continue;
        };
        let count = seen.entry(key(step)).or_default();
        let first = count
            .saturating_sub(REPEATS / 2)
            .min(equal.len().saturating_sub(REPEATS));
        *count += 1;
        // From the last one on, so that a step is in a chain once.
        for beside in equal.iter().skip(first).take(REPEATS).rev() {
            let before = prefix_best(&best, *beside);
            let link = ChainLink {
                weight: weight(step) + before.map_or(0, |link| link.weight),
                end: Reverse(*beside),
                number: links.len(),
            };
            links.push(((at, *beside), before.map(|link| link.number)));
            let mut place = *beside + 1;
            while let Some(known) = best.get_mut(place) {
                if known.is_none_or(|known| (known.weight, known.end) < (link.weight, link.end)) {
                    *known = Some(link);
                }
                place += place & place.wrapping_neg();
            }
        }
    }
    let mut pairs = Vec::new();
    let mut next = prefix_best(&best, theirs.len()).map(|link| link.number);
    while let Some((pair, before)) = next.and_then(|number| links.get(number)) {
        pairs.push(*pair);
        next = *before;
    }
    pairs.reverse();
    pairs
}

/// How many of equal steps of the other run a step is tried with: a run may poll thousands of times.
const REPEATS: usize = 64;

/// The last pair of a chain of pairs.
#[derive(Clone, Copy)]
struct ChainLink {
    weight: u64,
    /// Its step in the other run; the earlier is the better.
    end: Reverse<usize>,
    number: usize,
}

/// The best chain that ends before a step of the other run.
fn prefix_best(best: &[Option<ChainLink>], mut place: usize) -> Option<ChainLink> {
    let mut found: Option<ChainLink> = None;
    while place > 0 {
        let link = best.get(place).copied().flatten();
        let is_better = |link: &ChainLink| {
            found.is_none_or(|found| (found.weight, found.end) < (link.weight, link.end))
        };
        found = link.filter(is_better).or(found);
        place &= place - 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{replace_folder, without_chance};

    #[test]
    fn what_differs_by_chance_is_the_same() {
        let one = without_chance("cd /home/a/boats && ls /tmp/x81k2/log", &["/home/a/boats"]);
        let other = without_chance("cd /work/boats && ls /tmp/q/log", &["/work/boats"]);
        assert_eq!(one, other);
        assert_eq!(one, "cd . && ls <temporary>/log");
        let same = [
            [
                "kill 0f0f0f0f-1111-2222-3333-444455556666",
                "kill 1e0f0f0f-1111-2222-3333-444455556666",
            ],
            [
                "since 2026-11-01T10:00:00Z",
                "since 2026-11-02T11:30:00.250+01:00",
            ],
            ["get call_AbCdEfGh12", "get call_zzCdEfGh99"],
        ];
        for [one, other] in same {
            assert_eq!(
                without_chance(one, &[]),
                without_chance(other, &[]),
                "{one}"
            );
        }
        assert_ne!(
            without_chance("cargo test a", &[]),
            without_chance("cargo test b", &[])
        );
        assert_ne!(
            without_chance("head -20 a", &[]),
            without_chance("head -30 a", &[])
        );
        assert_eq!(replace_folder("/a/b /a/bc /a/b/c", "/a/b"), ". /a/bc c");
    }
}
