//! `tv diff A B`: where two runs parted, as text or as JSON (schema `tv.diff/1`, only ever added
//! to). A run is a session, or what an entry in it names: its sub-agent or its branch.

use std::collections::{BTreeSet, HashSet};
use std::io::{self, Write};

use ratatui::text::Span;
use serde::Serialize;

use super::json;
use super::outcome::{Outcome, ReportError};
use super::reading::{self, Reading, on_one_line};
use super::rows::Paper;
use super::spent::CostFigures;
use crate::analysis::account::PathFacts;
use crate::analysis::align::{Alignment, Pair, RunStep, StepKind, run_of, steps_of};
use crate::analysis::brief::Brief;
use crate::analysis::derived::Memo;
use crate::analysis::files::{Files, Op, Use};
use crate::analysis::money::cost::Cost;
use crate::analysis::phrases;
use crate::ingest::{OpenError, Target};
use crate::model::body::Key;
use crate::model::entry::{BlockKind, EntryId};
use crate::model::figures::{count, elapsed};
use crate::model::tool::{ToolCall, ToolKind};
use crate::render::wrap;

/// Same steps in a row that are shown; more are counted.
const SHOWN: usize = 2;
/// Length of a quoted step in the first sentence, in columns.
const QUOTED: usize = 60;

/// A session, and the key of an entry of the run in it.
pub type Named = Result<(Target, Option<String>), OpenError>;

/// Options of `tv diff`.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The two runs.
    pub runs: [Named; 2],
    /// Whether to write JSON.
    pub json: bool,
    /// Width and signs.
    pub paper: Paper,
}

/// Writes where two runs parted.
pub fn write(options: &Options, out: &mut dyn Write) -> Result<Outcome, ReportError> {
    let [one, other] = options.runs.each_ref().map(Run::read);
    let (one, other) = match (one, other) {
        (Ok(one), Ok(other)) => (one, other),
        (one, other) => {
            return Ok(Outcome::Failed(
                [one.err(), other.err()].into_iter().flatten().collect(),
            ));
        }
    };
    let alignment = Alignment::of(
        steps_of(&one.reading.transcript, &one.ids),
        steps_of(&other.reading.transcript, &other.ids),
    );
    let report = Report {
        runs: [one, other],
        alignment,
    };
    if options.json {
        report.write_json(out)?;
    } else {
        report.write_text(options.paper, out)?;
    }
    let failures: Vec<OpenError> = report
        .runs
        .iter()
        .filter_map(|run| run.reading.failure())
        .collect();
    Ok(match (failures.is_empty(), report.alignment.parting) {
        (false, _) => Outcome::Failed(failures),
        (true, Some(_)) => Outcome::Found,
        (true, None) => Outcome::Complete,
    })
}

struct Run {
    reading: Reading,
    /// The entry that names it.
    entry: Option<EntryId>,
    ids: Vec<EntryId>,
}

struct Report {
    runs: [Run; 2],
    alignment: Alignment,
}

/// What a run came to.
struct Sums {
    facts: PathFacts,
    cost: Cost,
    files: BTreeSet<String>,
    tests: usize,
    passed: usize,
}

impl Run {
    fn read(named: &Named) -> Result<Self, OpenError> {
        let (target, key) = named.clone()?;
        let reading = reading::read(&target, false)?;
        let entry = key.map(|key| entry_of(&reading, &key)).transpose()?;
        let ids = run_of(&reading.transcript, entry);
        Ok(Self {
            reading,
            entry,
            ids,
        })
    }

    fn call(&self, step: &RunStep) -> Option<&ToolCall> {
        step.place.call(&self.reading.transcript)
    }

    fn end_of(&self, step: &RunStep) -> Option<&'static str> {
        self.call(step).map(|call| call.state.word())
    }

    /// A step in words: `ran cargo test`.
    fn words(&self, step: &RunStep) -> String {
        let transcript = &self.reading.transcript;
        if let Some(call) = self.call(step) {
            let about = call.about(transcript.meta().root.as_deref());
            return format!("{} {about}", verb(call)).trim().to_owned();
        }
        let block = transcript
            .get(step.place.entry)
            .and_then(|entry| entry.blocks.get(step.place.block));
        let text = match block.map(|block| &block.kind) {
            Some(BlockKind::Text(body)) => body.text_or_stub().as_str(),
            _ => "",
        };
        let line = text
            .lines()
            .find(|line| !line.trim().is_empty())
            .unwrap_or_default();
        let who = if step.kind == StepKind::Prompt {
            "was asked"
        } else {
            "said"
        };
        format!("{who} {}", on_one_line(line.trim()))
    }

    fn sums(&self) -> Sums {
        let transcript = &self.reading.transcript;
        // A whole session includes its sub-agents.
        let all: HashSet<EntryId> = if self.entry.is_some() {
            self.ids.iter().copied().collect()
        } else {
            let abandoned = &transcript.branches().abandoned;
            let order = transcript.order().iter().copied();
            order.filter(|id| !abandoned.contains(id)).collect()
        };
        let in_order = transcript.order().iter().filter(|id| all.contains(id));
        let facts = PathFacts::of(in_order.filter_map(|id| transcript.get(*id)));
        let cost = match self.entry {
            Some(_) => facts.work.cost(),
            None => self.reading.account.cost(transcript),
        };
        let files = Memo::<Files>::of(transcript);
        let is_changed = |uses: &[Use]| {
            uses.iter().any(|one| {
                matches!(one.op, Op::Edit | Op::Write)
                    && one.outcome.is_good()
                    && all.contains(&one.place.entry)
            })
        };
        let changed = files.list().filter(|(_, file)| is_changed(&file.uses));
        let files = changed.map(|(path, _)| path.to_string()).collect();
        let brief = Memo::<Brief>::of(transcript);
        let tests: Vec<Option<bool>> = brief
            .tests
            .iter()
            .filter(|test| all.contains(&test.place.entry))
            .map(|test| test.passed)
            .collect();
        Sums {
            facts,
            cost,
            files,
            tests: tests.len(),
            passed: tests.iter().filter(|passed| **passed == Some(true)).count(),
        }
    }
}

/// The entry that a key names: of a call that started a sub-agent, or of the name of a sub-agent, one
/// of that.
fn entry_of(reading: &Reading, key: &str) -> Result<EntryId, OpenError> {
    let transcript = &reading.transcript;
    let key_of = Key::clean(key);
    let lane = transcript
        .lane_of_call(&key_of)
        .or_else(|| transcript.lane(&key_of));
    match lane.and_then(|lane| lane.entries.first().copied()) {
        Some(first) => Ok(first),
        None => reading.find(key),
    }
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

impl Report {
    /// `same for 14 calls; part at turn 2: A ran 'cargo test', B edited src/watch.rs first`.
    fn sentence(&self) -> Option<String> {
        let alignment = &self.alignment;
        let same = count(alignment.same as u64, "call");
        let otherwise = match alignment.otherwise {
            0 => String::new(),
            1 => ", 1 of which ended otherwise".to_owned(),
            several => format!(", {several} of which ended otherwise"),
        };
        if alignment.parting.is_none() {
            let is_all = alignment.pairs.iter().all(|pair| pair.is_same);
            return match (is_all, alignment.otherwise) {
                (true, 0) => None,
                (true, _) => Some(format!("same for {same}{otherwise}")),
                (false, _) => Some(format!("same for {same}{otherwise}; only the words differ")),
            };
        }
        let pair = alignment.parting.and_then(|at| alignment.pairs.get(at));
        let at = pair.map(|pair| pair.steps).unwrap_or_default();
        let next = alignment.next_steps();
        let turn = next
            .iter()
            .flatten()
            .map(|step| step.turn)
            .max()
            .unwrap_or(0);
        let words = |side: usize| {
            let (run, step) = (self.runs.get(side)?, next.get(side).copied().flatten()?);
            Some(wrap::head(&run.words(step), QUOTED).to_owned())
        };
        if let (Some(one), Some(other)) = (words(0), words(1))
            && one == other
        {
            return Some(format!(
                "same for {same}{otherwise}; part at turn {turn}: both {one}, but not alike"
            ));
        }
        let rest = alignment.pairs.iter().skip(alignment.parting.unwrap_or(0));
        let said = |side: usize, name: &str| {
            let Some(words) = words(side) else {
                return format!("{name} ended");
            };
            // What the other run did next, this one may have done later.
            let others = next.get(1 - side).copied().flatten();
            let is_later = others.is_some_and(|step| {
                rest.clone()
                    .any(|pair| pair.is_same && alignment.steps(pair).contains(&Some(step)))
            });
            let is_alone = at.get(side).is_some_and(Option::is_some) && is_later;
            format!("{name} {words}{}", if is_alone { " first" } else { "" })
        };
        Some(format!(
            "same for {same}{otherwise}; part at turn {turn}: {}, {}",
            said(0, "A"),
            said(1, "B")
        ))
    }

    fn write_text(&self, paper: Paper, out: &mut dyn Write) -> io::Result<()> {
        let Some(sentence) = self.sentence() else {
            return Ok(());
        };
        let mut line = |text: &str| {
            writeln!(
                out,
                "{}",
                paper.bare_line(&[Span::raw(text.trim_end().to_owned())])
            )
        };
        line(&sentence)?;
        let Some(parting) = self.alignment.parting else {
            return Ok(());
        };
        let width = usize::from(paper.width);
        let cut = paper.theme().glyphs().cut;
        let half = width.saturating_sub(3) / 2;
        let column = |text: &str| {
            let spans = wrap::fit(&[Span::raw(text.to_owned())], half, cut);
            let text: String = spans.iter().map(|span| span.content.as_ref()).collect();
            let gap = half.saturating_sub(wrap::width_of(&spans));
            text + &" ".repeat(gap)
        };
        line("")?;
        let [one, other] = self.runs.each_ref().map(Run::sums);
        for (label, words) in [
            ("", |_: &Sums| String::new()),
            ("calls", |sums: &Sums| {
                sums.facts.work.facts.calls.to_string()
            }),
            ("failed", |sums: &Sums| {
                sums.facts.work.facts.failed.to_string()
            }),
            ("files changed", |sums: &Sums| sums.files.len().to_string()),
            ("tests passed", |sums: &Sums| {
                format!("{} of {}", sums.passed, sums.tests)
            }),
            ("cost", |sums: &Sums| {
                phrases::cost(&sums.cost).unwrap_or_else(|| "$?".to_owned())
            }),
            ("time", |sums: &Sums| {
                sums.facts.work.span_ms().map(elapsed).unwrap_or_default()
            }),
        ] as [(&str, fn(&Sums) -> String); 7]
        {
            let [one, other] = if label.is_empty() {
                ["A".to_owned(), "B".to_owned()]
            } else {
                [words(&one), words(&other)]
            };
            line(&format!("{label:<15}{one:<16}{other}"))?;
        }
        line("")?;
        line(&format!("{}   {}", column("A"), "B"))?;
        let rest = self.alignment.pairs.get(parting..).unwrap_or_default();
        let mut same = 0;
        for (number, pair) in rest.iter().enumerate() {
            same = if pair.is_same { same + 1 } else { 0 };
            let ends = rest.get(number + 1).is_none_or(|next| !next.is_same);
            if same > SHOWN {
                if ends && same > SHOWN {
                    line(&format!("... {} more the same", same - SHOWN))?;
                }
                continue;
            }
            let [our, their] = self.texts(pair);
            let sign = match (pair.is_same, &our, &their) {
                (true, ..) => ' ',
                (false, Some(_), None) => '<',
                (false, None, Some(_)) => '>',
                _ => '|',
            };
            let their = their.unwrap_or_default();
            line(&format!(
                "{} {sign} {}",
                column(&our.unwrap_or_default()),
                column(&their)
            ))?;
        }
        Ok(())
    }

    fn texts(&self, pair: &Pair) -> [Option<String>; 2] {
        let [one, other] = self.alignment.steps(pair);
        let [ours, theirs] = &self.runs;
        let words = |run: &Run, step: &RunStep| {
            let failed = run.end_of(step).is_some_and(|state| state == "failed");
            format!(
                "{}{}",
                if failed { "failed: " } else { "" },
                run.words(step)
            )
        };
        [
            one.map(|step| words(ours, step)),
            other.map(|step| words(theirs, step)),
        ]
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let [a, b] = self.runs.each_ref().map(|run| {
            let sums = run.sums();
            let facts = &sums.facts.work.facts;
            RunLine {
                path: run.reading.fields().path,
                session: run.reading.fields().session,
                key: run
                    .entry
                    .and_then(|id| run.reading.transcript.get(id))
                    .map(|entry| entry.key.to_string()),
                calls: facts.calls,
                failed: facts.failed,
                tests: sums.tests,
                passed: sums.passed,
                cost: (&sums.cost).into(),
                span_ms: sums.facts.work.span_ms(),
                files: sums.files,
            }
        });
        let step = |side: usize, step: Option<&RunStep>| -> Option<StepLine> {
            let (run, step) = (self.runs.get(side)?, step?);
            let call = run.call(step);
            Some(StepLine {
                key: run
                    .reading
                    .transcript
                    .get(step.place.entry)?
                    .key
                    .to_string(),
                id: call
                    .map(|call| call.key.to_string())
                    .filter(|id| !id.is_empty()),
                turn: step.turn,
                what: match step.kind {
                    StepKind::Prompt => "prompt",
                    StepKind::Call => "call",
                    StepKind::Answer => "answer",
                },
                name: call.map(|call| call.name.to_string()),
                words: run.words(step),
                state: run.end_of(step).map(str::to_owned),
            })
        };
        let lines = self.alignment.pairs.iter().map(|pair| {
            let [one, other] = self.alignment.steps(pair);
            PairLine {
                same: pair.is_same,
                a: step(0, one),
                b: step(1, other),
            }
        });
        json::write_line(
            out,
            &DiffLine {
                schema: "tv.diff/1",
                parts: self.alignment.parting.is_some(),
                parting: self.alignment.parting,
                same_calls: self.alignment.same,
                ended_otherwise: self.alignment.otherwise,
                sentence: self.sentence(),
                a,
                b,
                steps: lines.collect(),
            },
        )
    }
}

#[derive(Serialize)]
struct DiffLine {
    schema: &'static str,
    parts: bool,
    /// The index of the step at which they part.
    parting: Option<usize>,
    same_calls: usize,
    ended_otherwise: usize,
    sentence: Option<String>,
    a: RunLine,
    b: RunLine,
    steps: Vec<PairLine>,
}

#[derive(Serialize)]
struct RunLine {
    path: String,
    session: Option<String>,
    key: Option<String>,
    calls: u32,
    failed: u32,
    files: BTreeSet<String>,
    tests: usize,
    passed: usize,
    cost: CostFigures,
    span_ms: Option<u64>,
}

#[derive(Serialize)]
struct PairLine {
    same: bool,
    a: Option<StepLine>,
    b: Option<StepLine>,
}

#[derive(Serialize)]
struct StepLine {
    key: String,
    id: Option<String>,
    turn: usize,
    what: &'static str,
    name: Option<String>,
    words: String,
    state: Option<String>,
}
