//! `tv diff A B`: where two runs parted, as text or as JSON (schema `tv.diff/1`, only ever added
//! to). A run is a session, or what an entry in it names: its sub-agent or its branch.

use std::collections::BTreeSet;
use std::io::{self, Write};

use ratatui::text::Span;
use serde::Serialize;

use super::json;
use super::outcome::{ReportError, ReportOutcome};
use super::reading::{self, Reading, SessionFields};
use super::rows::Paper;
use super::spent::CostFigures;
use crate::analysis::align::StepKind;
use crate::analysis::run_diff::{Run, RunDiff, RunSums, StepFacts, Stretch};
use crate::ingest::{OpenError, Target};
use crate::model::body::Key;
use crate::model::entry::EntryId;
use crate::render::wrap;

/// A session, and the key of an entry of the run in it.
pub type Named = Result<(Target, Option<String>), OpenError>;

/// Options of `tv diff`.
pub struct DiffOptions {
    pub runs: [Named; 2],
    /// Whether to write JSON.
    pub json: bool,
    pub paper: Paper,
}

/// Writes where two runs parted.
pub fn write(options: &DiffOptions, out: &mut dyn Write) -> Result<ReportOutcome, ReportError> {
    let (readings, diff) = match compare(&options.runs) {
        Ok(compared) => compared,
        Err(failures) => return Ok(ReportOutcome::Failed(failures)),
    };
    if options.json {
        let fields = readings.each_ref().map(Reading::fields);
        write_json(&diff, fields, out)?;
    } else {
        write_text(&diff, options.paper, out)?;
    }
    let failures: Vec<OpenError> = readings.iter().filter_map(Reading::failure).collect();
    Ok(match (failures.is_empty(), diff.parting) {
        (false, _) => ReportOutcome::Failed(failures),
        (true, Some(_)) => ReportOutcome::Found,
        (true, None) => ReportOutcome::Complete,
    })
}

/// Reads two runs and compares them.
pub fn compare(runs: &[Named; 2]) -> Result<([Reading; 2], RunDiff), Vec<OpenError>> {
    let [one, other] = runs.each_ref().map(|named| {
        let (target, key) = named.clone()?;
        let reading = reading::read(&target, false)?;
        let entry = key.map(|key| entry_of(&reading, &key)).transpose()?;
        Ok((reading, entry))
    });
    let [(one, our), (other, their)] = match (one, other) {
        (Ok(one), Ok(other)) => [one, other],
        (one, other) => return Err([one.err(), other.err()].into_iter().flatten().collect()),
    };
    let diff = RunDiff::of([
        Run::of(&one.transcript, &one.account, our),
        Run::of(&other.transcript, &other.account, their),
    ]);
    Ok(([one, other], diff))
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

fn write_text(diff: &RunDiff, paper: Paper, out: &mut dyn Write) -> io::Result<()> {
    let Some(sentence) = &diff.sentence else {
        return Ok(());
    };
    let mut line = |text: &str| {
        let text = [Span::raw(text.trim_end().to_owned())];
        writeln!(out, "{}", paper.bare_line(&text))
    };
    line(sentence)?;
    let Some(parting) = diff.parting else {
        return Ok(());
    };
    let cut = paper.theme().glyphs().cut;
    let half = usize::from(paper.width).saturating_sub(3) / 2;
    let column = |text: &str| {
        let spans = wrap::fit(&[Span::raw(text.to_owned())], half, cut);
        let text: String = spans.iter().map(|span| span.content.as_ref()).collect();
        let gap = half.saturating_sub(wrap::width_of(&spans));
        text + &" ".repeat(gap)
    };
    line("")?;
    line(&format!("{:<15}{:<16}B", "", "A"))?;
    let [ours, theirs] = diff.sums.each_ref().map(RunSums::figures);
    for ((label, one), (_, other)) in ours.iter().zip(&theirs) {
        line(&format!("{label:<15}{one:<16}{other}"))?;
    }
    line("")?;
    line(&format!("{}   {}", column("A"), "B"))?;
    for row in diff.rows(parting, |_| false) {
        let pair = match &row {
            Stretch::Same(same) => {
                line(&format!("... {}", diff.folded(same)))?;
                continue;
            }
            Stretch::Pair(at) => diff.steps.get(*at),
        };
        let Some(pair) = pair else { continue };
        let text = |step: &Option<StepFacts>| step.as_ref().map(StepFacts::line);
        let [our, their] = pair.sides.each_ref().map(text);
        let (our, their) = (our.unwrap_or_default(), their.unwrap_or_default());
        line(&format!("{} {} {their}", column(&our), RunDiff::sign(pair)))?;
    }
    Ok(())
}

fn write_json(diff: &RunDiff, fields: [SessionFields; 2], out: &mut dyn Write) -> io::Result<()> {
    let [one, other] = fields;
    let [our, their] = &diff.sums;
    let run = |fields: SessionFields, sums: &RunSums| RunLine {
        path: fields.path,
        session: fields.session,
        key: sums.key.as_ref().map(ToString::to_string),
        calls: sums.calls,
        failed: sums.failed,
        tests: sums.tests,
        passed: sums.passed,
        cost: (&sums.cost).into(),
        span_ms: sums.span_ms,
        files: sums.files.clone(),
    };
    let step = |step: &StepFacts| StepLine {
        key: step.key.to_string(),
        id: step.id.as_ref().map(ToString::to_string),
        turn: step.turn,
        what: match step.kind {
            StepKind::Prompt => "prompt",
            StepKind::Call => "call",
            StepKind::Answer => "answer",
        },
        name: step.tool.as_ref().map(ToString::to_string),
        words: step.words.clone(),
        state: step.state,
    };
    let lines = diff.steps.iter().map(|pair| {
        let [a, b] = pair.sides.each_ref().map(|side| side.as_ref().map(step));
        PairLine {
            same: pair.is_same,
            a,
            b,
        }
    });
    json::write_line(
        out,
        &DiffJson {
            schema: "tv.diff/1",
            parts: diff.parting.is_some(),
            parting: diff.parting,
            same_calls: diff.same,
            ended_otherwise: diff.otherwise,
            sentence: diff.sentence.as_deref(),
            a: run(one, our),
            b: run(other, their),
            steps: lines.collect(),
        },
    )
}

#[derive(Serialize)]
struct DiffJson<'a> {
    schema: &'static str,
    parts: bool,
    /// The index of the step at which they part.
    parting: Option<usize>,
    same_calls: usize,
    ended_otherwise: usize,
    sentence: Option<&'a str>,
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
    state: Option<&'static str>,
}
