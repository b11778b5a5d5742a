//! The figures of a session: schema `tv.stats/2`. CONTRACT: fields are only ever added; unknown is
//! `null`, never 0.

use std::collections::BTreeMap;

use serde::Serialize;

use super::parts::{self, Active, BranchFigures, LaneFigures, PartFigures};
use super::reading::{self, Reading};
use super::spent::{CostFigures, UsageFigures};
use super::turns::{self, OverheadFigures, TurnList};
use crate::analysis::activity::Wish;
use crate::analysis::background;
use crate::analysis::calls::pairing::{Pairing, PairingCounts};
use crate::ingest::find;
use crate::model::entry::{BlockKind, Entry, Role};
use crate::model::record::{FileId, Origin};
use crate::model::tally::unknown::Unknown;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::is_textual;

/// All figures of one session.
#[derive(Serialize)]
pub struct Figures<'r> {
    /// `tv.stats/2`.
    pub(crate) schema: &'static str,
    /// What was opened.
    pub(crate) path: String,
    /// The format's name.
    pub(crate) format: &'static str,
    /// How sure that is.
    pub(crate) confidence: &'static str,
    /// Facts about the session.
    pub(crate) session: SessionFigures,
    /// What became of the records.
    pub(crate) records: RecordFigures,
    /// Messages by who speaks.
    pub(crate) entries: EntryFigures,
    /// Blocks by kind.
    pub(crate) blocks: BlockFigures,
    /// Prompts of the main lane.
    pub(crate) turns: usize,
    /// What each of them came to.
    pub(crate) turn_list: TurnList<'r>,
    /// What belongs to none of them.
    pub(crate) overhead: OverheadFigures,
    /// Sub-agents.
    pub(crate) lanes: usize,
    /// Abandoned branches.
    pub(crate) branches: usize,
    /// How often the history was shortened.
    pub(crate) compactions: u64,
    /// How calls and results pair up.
    #[serde(with = "PairingFigures")]
    pub(crate) pairing: PairingCounts,
    /// What was spent.
    pub(crate) usage: UsageFigures,
    /// What that cost.
    pub(crate) cost: CostFigures,
    /// The main lane without abandoned branches.
    pub(crate) active: PartFigures,
    /// What the session left, by number.
    pub(crate) branch_list: Vec<BranchFigures>,
    /// Sub-agents by name.
    pub(crate) lane_list: Vec<LaneFigures>,
}

/// Facts about the session.
#[derive(Debug, Serialize)]
pub(crate) struct SessionFigures {
    /// Its id.
    pub(crate) id: Option<String>,
    /// Its title.
    pub(crate) title: Option<String>,
    /// The agent's name.
    pub(crate) agent: Option<String>,
    /// The working directory.
    pub(crate) cwd: Option<String>,
    /// Models that answered, in the order seen.
    pub(crate) models: Vec<String>,
    /// First time seen.
    pub(crate) started: Option<String>,
    /// Last time seen.
    pub(crate) ended: Option<String>,
    /// What the agent is doing.
    pub(crate) state: &'static str,
    /// What its user is waited for: `prompt`, `permission` or `question`.
    pub(crate) waiting_for: Option<&'static str>,
    /// How many sub-agents are still at work while it waits.
    pub(crate) agents_at_work: usize,
    /// How many calls and sub-agents go on in the background.
    pub(crate) running: usize,
    /// Facts that only some agents record, by name.
    pub(crate) facts: BTreeMap<&'static str, String>,
}

/// What became of the records.
#[derive(Debug, Serialize)]
pub(crate) struct RecordFigures {
    /// All of them.
    pub(crate) total: u64,
    /// Made an entry.
    pub(crate) shown: u64,
    /// Became part of another entry.
    pub(crate) merged: u64,
    /// Hold nothing to show.
    pub(crate) passed: u64,
    /// Could not be read.
    pub(crate) faulty: u64,
    /// The same in bytes.
    pub(crate) bytes: ByteFigures,
    /// Why records were passed.
    pub(crate) passed_reasons: BTreeMap<&'static str, u64>,
    /// Types and fields that the format does not know.
    pub(crate) unknown: BTreeMap<String, u64>,
    /// The loudest fate of each of them.
    pub(crate) unknown_judged: BTreeMap<String, &'static str>,
    /// Where faulty records are.
    pub(crate) faults: Vec<FaultFigures>,
}

/// Bytes of records by what became of them.
#[derive(Debug, Serialize)]
pub(crate) struct ByteFigures {
    /// Bytes of all records.
    pub(crate) total: u64,
    /// Of those that made an entry.
    pub(crate) shown: u64,
    /// Of those that became part of another entry.
    pub(crate) merged: u64,
    /// Of those that hold nothing to show.
    pub(crate) passed: u64,
    /// Of those that could not be read.
    pub(crate) faulty: u64,
    /// Of passed records, by reason.
    pub(crate) passed_reasons: BTreeMap<&'static str, u64>,
}

/// A faulty record.
#[derive(Debug, Serialize)]
pub(crate) struct FaultFigures {
    /// The line, 0 if unknown.
    pub(crate) line: u32,
    /// The byte offset.
    pub(crate) byte: u64,
    /// What is wrong.
    pub(crate) what: String,
    /// The file, unless it is the one that was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
}

/// Messages by who speaks.
#[derive(Debug, Default, Serialize)]
pub(crate) struct EntryFigures {
    /// A human or the calling agent.
    pub(crate) user: u64,
    /// The model.
    pub(crate) assistant: u64,
    /// The system prompt.
    pub(crate) system: u64,
    /// The agent program.
    pub(crate) harness: u64,
}

/// Blocks by kind.
#[derive(Debug, Default, Serialize)]
pub(crate) struct BlockFigures {
    /// Prose that is not blank, and calls that the model wrote as text.
    pub(crate) text: u64,
    /// Thinking, also where only its presence is recorded.
    pub(crate) thinking: u64,
    /// Tool calls.
    pub(crate) calls: u64,
    /// Images of messages.
    pub(crate) images: u64,
    /// Lines across the transcript.
    pub(crate) breaks: u64,
    /// Blocks without a better form.
    pub(crate) raw: u64,
}

/// How [`PairingCounts`] are written: analysis knows of no files.
#[derive(Debug, Serialize)]
#[serde(remote = "PairingCounts")]
pub(crate) struct PairingFigures {
    /// Distinct calls.
    pub(crate) calls: u64,
    /// Distinct results.
    pub(crate) results: u64,
    /// Calls with their result.
    pub(crate) paired: u64,
    /// Results marked as errors.
    pub(crate) failed: u64,
    /// Results of calls that were not allowed.
    pub(crate) refused: u64,
    /// Results of calls that were stopped before their end.
    pub(crate) stopped: u64,
    /// Calls whose results only say that they began, and that go on.
    pub(crate) running: u64,
    /// Others of them, of which nothing tells how they ended.
    pub(crate) without_end: u64,
    /// Calls whose end is recorded and was never told to the model.
    pub(crate) undelivered: u64,
    /// Calls whose result may still come.
    pub(crate) pending: u64,
    /// Calls whose result will not come.
    pub(crate) orphan_calls: u64,
    /// Results without a call.
    pub(crate) orphan_results: u64,
    /// Further results of a call.
    pub(crate) duplicate_results: u64,
    /// Calls written into a text, which none of the other counts of pairs holds.
    pub(crate) textual_calls: u64,
}

/// The first and the last time.
type Span = Option<(Timestamp, Timestamp)>;

/// Counts everything in a session.
pub fn of(reading: &Reading, now: Timestamp) -> Figures<'_> {
    let transcript = &reading.transcript;
    // Entries of long sessions are packed: one way through them.
    let mut entries = EntryFigures::default();
    let mut blocks = BlockFigures::default();
    let mut compactions = 0;
    let mut span: Span = None;
    let mut pairing = Pairing::of(transcript, !reading.activity(now).goes_on(now));
    let mut active = Active::of(transcript);
    let mut passing = transcript.passing();
    for id in transcript.order() {
        let Some(entry) = passing.get(*id) else {
            continue;
        };
        pairing.add(*id, entry);
        active.add(*id, entry);
        entries.count(entry);
        blocks.count(entry);
        compactions += compactions_in(entry);
        for at in entry.times().filter(|_| !entry.is_beside()) {
            let (first, last) = span.unwrap_or((at, at));
            span = Some((first.min(at), last.max(at)));
        }
    }
    Figures {
        schema: "tv.stats/2",
        path: reading::shown(&reading.target.path).to_string(),
        format: reading.opened.format,
        confidence: reading.opened.confidence,
        session: session(reading, span, now),
        records: records(reading),
        entries,
        blocks,
        turns: transcript.turns().len(),
        turn_list: TurnList(reading),
        overhead: turns::overhead(reading),
        lanes: transcript.lanes().len(),
        branches: transcript.branches().roots.len(),
        compactions,
        pairing: pairing.counts(),
        usage: (&transcript.totals().sum()).into(),
        cost: (&reading.account.cost(transcript)).into(),
        active: active.figures(),
        branch_list: parts::branches(transcript),
        lane_list: parts::lanes(transcript),
    }
}

fn session(reading: &Reading, span: Span, now: Timestamp) -> SessionFigures {
    let transcript = &reading.transcript;
    let meta = transcript.meta();
    let string = |text: Option<&Text>| text.map(Text::to_string);
    let activity = reading.activity(now);
    let id = string(meta.id.as_ref());
    let of_target = || {
        reading
            .target
            .session
            .as_deref()
            .map(|id| Text::clean(id).to_string())
    };
    // What came through a pipe has no place.
    let place = Some(&reading.opened.path).filter(|path| path.is_file());
    let place = place.and_then(|path| find::named(path, reading.opened.format));
    let (place_id, place_agent) = place.unzip();
    SessionFigures {
        id: id.or_else(of_target).or_else(|| string(place_id.as_ref())),
        title: string(meta.title()),
        agent: string(meta.agent.as_ref().or(place_agent.flatten().as_ref())),
        cwd: string(meta.cwd.as_ref()),
        models: meta.models().map(Text::to_string).collect(),
        started: span.map(|(first, _)| first.to_rfc3339()),
        ended: span.map(|(_, last)| last.to_rfc3339()),
        state: activity.word(),
        waiting_for: activity.wish().map(Wish::word),
        agents_at_work: activity.agents(),
        running: background::running(transcript, &activity),
        facts: meta
            .facts
            .iter()
            .map(|(name, value)| (*name, value.to_string()))
            .collect(),
    }
}

/// Counts what became of the records.
pub(crate) fn records(reading: &Reading) -> RecordFigures {
    let tally = reading.transcript.tally();
    let file = |id: FileId| (id != FileId(0)).then(|| reading::shown(reading.file(id)).to_string());
    let judged = |(kind, found): (&Text, &Unknown)| (kind.to_string(), found.judged().word());
    let fault = |(origin, what): &(Origin, Text)| FaultFigures {
        line: origin.line,
        byte: origin.at,
        what: what.to_string(),
        file: file(origin.file),
    };
    RecordFigures {
        total: tally.records(),
        shown: tally.shown,
        merged: tally.merged,
        passed: tally.passed,
        faulty: tally.faulty,
        bytes: ByteFigures {
            total: tally.bytes.total(),
            shown: tally.bytes.shown,
            merged: tally.bytes.merged,
            passed: tally.bytes.passed,
            faulty: tally.bytes.faulty,
            passed_reasons: tally.bytes.reasons.clone(),
        },
        passed_reasons: tally.reasons.clone(),
        unknown: tally
            .unknown
            .iter()
            .map(|(kind, found)| (kind.to_string(), found.count()))
            .collect(),
        unknown_judged: tally.unknown.iter().map(judged).collect(),
        faults: tally.faults.iter().map(fault).collect(),
    }
}

fn compactions_in(entry: &Entry) -> u64 {
    entry
        .blocks
        .iter()
        .map(|block| u64::from(block.kind.is_compaction()))
        .sum()
}

impl EntryFigures {
    fn count(&mut self, entry: &Entry) {
        if !entry.is_message() {
            return;
        }
        match entry.role {
            Role::User => self.user += 1,
            Role::Assistant => self.assistant += 1,
            Role::System => self.system += 1,
            Role::Harness => self.harness += 1,
        }
    }
}

impl BlockFigures {
    /// Counts the blocks of an entry.
    pub(crate) fn count(&mut self, entry: &Entry) {
        for block in &entry.blocks {
            match &block.kind {
                BlockKind::Text(body) => self.text += u64::from(!body.stub.is_blank()),
                BlockKind::Thinking(_) => self.thinking += 1,
                BlockKind::Call(call) if is_textual(&call.key) => self.text += 1,
                BlockKind::Call(_) => self.calls += 1,
                BlockKind::Image(_) => self.images += 1,
                BlockKind::Break(_) => self.breaks += 1,
                BlockKind::Raw(_) | BlockKind::Aside(..) => self.raw += 1,
                BlockKind::Result(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
