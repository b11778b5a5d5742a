//! Where two runs parted, and what each came to. The command and the view write this value.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use super::account::{Account, PathFacts};
use super::align::{Alignment, RunStep, StepKind, run_of, steps_of};
use super::brief::Brief;
use super::calls::Place;
use super::derived::Memo;
use super::files::{Files, Op, Use};
use super::money::cost::Cost;
use super::phrases;
use crate::model::entry::{BlockKind, EntryId};
use crate::model::figures::{count, duration};
use crate::model::text::{Name, Text};
use crate::model::tool::{ToolCall, ToolKind};
use crate::model::transcript::Transcript;

/// Length of a quoted step in the sentence, in characters.
const QUOTED: usize = 60;
/// Steps beside a difference that are shown although they are the same.
const AROUND: usize = 1;
/// The shortest stretch that is worth a line that stands for it.
const FOLDED: usize = 3;

/// A run: a session, or a part of one that an entry names.
pub(crate) struct Run<'a> {
    transcript: &'a Transcript,
    account: &'a Account,
    entry: Option<EntryId>,
    ids: Vec<EntryId>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RunDiff {
    /// What each came to.
    pub(crate) sums: [RunSums; 2],
    /// All steps side by side.
    pub(crate) steps: Vec<StepPair>,
    /// The index of the step at which they part.
    pub(crate) parting: Option<usize>,
    /// Calls that are the same before that.
    pub(crate) same: usize,
    /// How many of these ended in another way.
    pub(crate) otherwise: usize,
    /// Where they part, in words; `None` if they are the same in all.
    pub(crate) sentence: Option<String>,
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunSums {
    /// The key of the entry that names it.
    pub(crate) key: Option<Text>,
    pub(crate) calls: u32,
    pub(crate) failed: u32,
    /// Paths of the files that it changed.
    pub(crate) files: BTreeSet<String>,
    /// Number of test runs.
    pub(crate) tests: usize,
    pub(crate) passed: usize,
    pub(crate) cost: Cost,
    pub(crate) span_ms: Option<u64>,
}

/// A step of each run beside each other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StepPair {
    pub(crate) sides: [Option<StepFacts>; 2],
    pub(crate) is_same: bool,
    /// Whether it is a difference: words between calls that differ are none.
    pub(crate) parts: bool,
}

/// A step of a run, in words.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StepFacts {
    /// The key of its entry, and the index of its block in it.
    pub(crate) key: Text,
    pub(crate) block: usize,
    /// The id of the call.
    pub(crate) id: Option<Text>,
    /// The number of its turn, from 1.
    pub(crate) turn: usize,
    pub(crate) kind: StepKind,
    pub(crate) tool: Option<Name>,
    /// What was done, in the words of a row: `ran cargo test`.
    pub(crate) words: String,
    /// How the call ended.
    pub(crate) state: Option<&'static str>,
}

/// Rows of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stretch {
    /// A pair of steps by its index.
    Pair(usize),
    /// Steps that are the same.
    Same(Range<usize>),
}

impl<'a> Run<'a> {
    /// The run that an entry belongs to; without one, the main agent on the active path.
    pub(crate) fn of(
        transcript: &'a Transcript,
        account: &'a Account,
        entry: Option<EntryId>,
    ) -> Self {
        Self {
            transcript,
            account,
            entry,
            ids: run_of(transcript, entry),
        }
    }

    fn call(&self, place: Place) -> Option<&ToolCall> {
        place.call(self.transcript)
    }

    fn facts(&self, step: &RunStep) -> Option<StepFacts> {
        let call = self.call(step.place);
        Some(StepFacts {
            key: self.transcript.get(step.place.entry)?.key.clone(),
            block: step.place.block,
            id: call
                .map(|call| call.key.clone())
                .filter(|id| !id.is_empty()),
            turn: step.turn,
            kind: step.kind,
            tool: call.map(|call| call.name.clone()),
            words: self.words(step),
            state: call.map(|call| call.state.word()),
        })
    }

    fn words(&self, step: &RunStep) -> String {
        if let Some(call) = self.call(step.place) {
            let about = call.about(self.transcript.meta().root.as_deref());
            return format!("{} {about}", verb(call)).trim().replace('\n', " ");
        }
        let entry = self.transcript.get(step.place.entry);
        let block = entry.and_then(|entry| entry.blocks.get(step.place.block));
        let text = match block.map(|block| &block.kind) {
            Some(BlockKind::Text(body)) => body.text_or_stub().as_str(),
            _ => "",
        };
        let line = text.lines().find(|line| !line.trim().is_empty());
        let who = if step.kind == StepKind::Prompt {
            "was asked"
        } else {
            "said"
        };
        format!("{who} {}", line.unwrap_or_default().trim())
    }

    fn sums(&self) -> RunSums {
        let transcript = self.transcript;
        // A whole session includes its sub-agents.
        let all: HashSet<EntryId> = if self.entry.is_some() {
            self.ids.iter().copied().collect()
        } else {
            let abandoned = &transcript.branches().abandoned;
            let order = transcript.order().iter().copied();
            order.filter(|id| !abandoned.contains(id)).collect()
        };
        let in_order = transcript.order().iter().filter(|id| all.contains(id));
        let facts = PathFacts::of(in_order.filter_map(|id| transcript.get(*id))).work;
        let files = Memo::<Files>::of(transcript);
        let is_changed = |uses: &[Use]| {
            uses.iter().any(|one| {
                matches!(one.op, Op::Edit | Op::Write)
                    && one.outcome.is_good()
                    && all.contains(&one.place.entry)
            })
        };
        let changed = files.list().filter(|(_, file)| is_changed(&file.uses));
        let brief = Memo::<Brief>::of(transcript);
        let tests = brief.tests.iter();
        let tests: Vec<Option<bool>> = tests
            .filter(|test| all.contains(&test.place.entry))
            .map(|test| test.passed)
            .collect();
        RunSums {
            key: self
                .entry
                .and_then(|id| Some(transcript.get(id)?.key.clone())),
            calls: facts.facts.calls,
            failed: facts.facts.failed,
            files: changed.map(|(path, _)| path.to_string()).collect(),
            tests: tests.len(),
            passed: tests.iter().filter(|passed| **passed == Some(true)).count(),
            cost: match self.entry {
                Some(_) => facts.cost(),
                None => self.account.cost(transcript),
            },
            span_ms: facts.span_ms(),
        }
    }
}

fn calls_of<'a>(pairs: impl Iterator<Item = &'a StepPair>) -> usize {
    let ours = pairs.filter_map(|pair| pair.sides.first()?.as_ref());
    ours.filter(|step| step.kind == StepKind::Call).count()
}

/// What a call did, in the past tense.
fn verb(call: &ToolCall) -> String {
    let known = match call.kind {
        ToolKind::Run => "ran",
        ToolKind::Read => "read",
        ToolKind::Edit => "edited",
        ToolKind::Write => "wrote",
        ToolKind::Search => "searched",
        ToolKind::Fetch => "fetched",
        ToolKind::Delegate => "started",
        ToolKind::Plan => "planned",
        ToolKind::Other => return format!("called {}", call.name),
    };
    known.to_owned()
}

impl RunSums {
    /// The figures with what they are of.
    pub(crate) fn figures(&self) -> [(&'static str, String); 6] {
        let cost = phrases::cost(&self.cost).unwrap_or_else(|| "$?".to_owned());
        [
            ("calls", self.calls.to_string()),
            ("failed", self.failed.to_string()),
            ("files changed", self.files.len().to_string()),
            ("tests passed", format!("{} of {}", self.passed, self.tests)),
            ("cost", cost),
            ("time", self.span_ms.map(duration).unwrap_or_default()),
        ]
    }
}

impl StepFacts {
    /// The step with what became of it, if it failed.
    pub(crate) fn line(&self) -> String {
        let failed = if self.has_failed() { "failed: " } else { "" };
        format!("{failed}{}", self.words)
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.state == Some("failed")
    }
}

impl RunDiff {
    pub(crate) fn of(runs: [Run<'_>; 2]) -> Self {
        let [one, other] = runs
            .each_ref()
            .map(|run| steps_of(run.transcript, &run.ids));
        let alignment = Alignment::of(one, other);
        let [one, other] = &runs;
        let steps = alignment.pairs.iter().map(|pair| {
            let [our, their] = alignment.steps(pair);
            StepPair {
                sides: [
                    our.and_then(|step| one.facts(step)),
                    their.and_then(|step| other.facts(step)),
                ],
                is_same: pair.is_same,
                parts: alignment.parts(pair),
            }
        });
        let mut diff = Self {
            steps: steps.collect(),
            sums: runs.each_ref().map(Run::sums),
            parting: alignment.first_difference,
            same: alignment.same,
            otherwise: alignment.otherwise,
            sentence: None,
        };
        diff.sentence = diff.in_words();
        diff
    }

    /// `same for 14 calls; part at turn 2: A ran cargo test, B edited watch.rs first`.
    fn in_words(&self) -> Option<String> {
        let same = count(self.same as u64, "call");
        let otherwise = match self.otherwise {
            0 => String::new(),
            1 => ", 1 of which ended otherwise".to_owned(),
            several => format!(", {several} of which ended otherwise"),
        };
        let same = format!("same for {same}{otherwise}");
        let Some(parting) = self.parting else {
            let is_all = self.steps.iter().all(|pair| pair.is_same);
            return match (is_all, self.otherwise) {
                (true, 0) => None,
                (true, _) => Some(same),
                (false, _) => Some(format!("{same}; only the words differ")),
            };
        };
        let rest = self.steps.get(parting..).unwrap_or_default();
        let has_calls = self.has_calls();
        let next = [0, 1].map(|side| {
            let mut steps = rest
                .iter()
                .filter_map(|pair| pair.sides.get(side)?.as_ref());
            steps.find(|step| !has_calls || step.kind != StepKind::Answer)
        });
        let turn = next.iter().flatten().map(|step| step.turn).max();
        let turn = turn.unwrap_or(0);
        let quote = |step: &StepFacts| Text::stub(&step.words, QUOTED).to_string();
        let is_pair = rest
            .first()
            .is_some_and(|pair| pair.sides.iter().all(Option::is_some));
        let are_prompts = |[one, other]: [&StepFacts; 2]| {
            is_pair && [one.kind, other.kind] == [StepKind::Prompt; 2]
        };
        let differs = matches!(next, [Some(one), Some(other)] if are_prompts([one, other]));
        let place = if differs {
            format!("prompt of turn {turn} differs")
        } else {
            format!("part at turn {turn}")
        };
        if let [Some(one), Some(other)] = next
            && quote(one) == quote(other)
        {
            let both = quote(one);
            return Some(format!("{same}; {place}: both {both}, but not alike"));
        }
        let said = |side: usize, name: &str| {
            let step = next.get(side).copied().flatten();
            let Some(step) = step else {
                return format!("{name} ended");
            };
            // What the other run did next, this one may have done later.
            let others = next.get(1 - side).copied().flatten();
            let is_later = others.is_some_and(|step| {
                let is_it = |pair: &&StepPair| {
                    pair.sides.get(1 - side).and_then(Option::as_ref) == Some(step)
                };
                rest.iter().find(is_it).is_some_and(|pair| pair.is_same)
            });
            let is_here = rest
                .first()
                .and_then(|pair| pair.sides.get(side)?.as_ref())
                .is_some();
            let first = if is_here && is_later { " first" } else { "" };
            format!("{name} {}{first}", quote(step))
        };
        let then = rest.iter().skip(1).take_while(|pair| !pair.parts);
        let then = match calls_of(then) {
            0 => String::new(),
            1 => "; the next call is the same".to_owned(),
            several => format!("; the next {several} calls are the same"),
        };
        let [one, other] = [said(0, "A"), said(1, "B")];
        let then = if differs { then } else { String::new() };
        Some(format!("{same}; {place}: {one}, {other}{then}"))
    }

    fn has_calls(&self) -> bool {
        let mut steps = self
            .steps
            .iter()
            .flat_map(|pair| pair.sides.iter().flatten());
        steps.any(|step| step.kind == StepKind::Call)
    }

    /// The rows from a step on, with what is the same for long as one; `is_open` says which of
    /// these are shown in full.
    pub(crate) fn rows(&self, from: usize, is_open: impl Fn(usize) -> bool) -> Vec<Stretch> {
        let mut rows = Vec::new();
        let mut at = from;
        while let Some(first) = self.steps.get(at) {
            let rest = self.steps.get(at..).unwrap_or_default();
            let length = rest
                .iter()
                .take_while(|pair| pair.parts == first.parts)
                .count();
            let end = at + length;
            let before = if at == 0 { 0 } else { AROUND };
            let after = if end == self.steps.len() { 0 } else { AROUND };
            let same = at + before..end.saturating_sub(after);
            if first.parts || same.len() < FOLDED || is_open(same.start) {
                rows.extend((at..end).map(Stretch::Pair));
            } else {
                rows.extend((at..same.start).map(Stretch::Pair));
                rows.push(Stretch::Same(same.clone()));
                rows.extend((same.end..end).map(Stretch::Pair));
            }
            at = end;
        }
        rows
    }

    /// What a stretch that stands for several steps says.
    pub(crate) fn folded(&self, same: &Range<usize>) -> String {
        let pairs = self.steps.get(same.clone()).unwrap_or_default();
        match calls_of(pairs.iter()) {
            0 => format!("{} more", count(pairs.len() as u64, "text")),
            calls => format!("{} the same", count(calls as u64, "call")),
        }
    }

    /// The sign of a pair: who did it.
    pub(crate) fn sign(pair: &StepPair) -> &'static str {
        match (pair.parts, &pair.sides) {
            (false, _) => " ",
            (true, [Some(_), None]) => "<",
            (true, [None, Some(_)]) => ">",
            (true, _) => "|",
        }
    }

    /// Indexes of the steps at which the runs begin to differ.
    pub(crate) fn differences(&self) -> impl Iterator<Item = usize> {
        let parts = |at: usize| self.steps.get(at).is_some_and(|pair| pair.parts);
        (0..self.steps.len()).filter(move |at| parts(*at) && !at.checked_sub(1).is_some_and(parts))
    }
}
