//! The figures of a session, schema `tv.stats/2`. CONTRACT: fields are only ever added; unknown is
//! `null`, never 0.

use std::collections::BTreeMap;

use serde::Serialize;

use super::parts::{self, ActivePathSums, BranchFigures, LaneFigures, PartFigures};
use super::reading::{self, Reading};
use super::spent::{CostFigures, UsageFigures};
use super::turns::{self, OverheadFigures, TurnList};
use crate::analysis::activity::Wish;
use crate::analysis::background;
use crate::analysis::calls::pairing::{Pairing, PairingCounts};
use crate::ingest::find;
use crate::ingest::fs;
use crate::model::entry::{BlockKind, Entry, Role};
use crate::model::record::{FileId, Origin};
use crate::model::tally::unknown::Unknown;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::is_textual;

/// All figures of one session.
#[derive(Serialize)]
pub struct SessionReport<'r> {
    pub(crate) schema: &'static str,
    /// The path that was opened.
    pub(crate) path: String,
    pub(crate) format: &'static str,
    /// The confidence of the format's detection.
    pub(crate) confidence: &'static str,
    pub(crate) session: SessionFigures,
    pub(crate) records: RecordFigures,
    pub(crate) entries: EntryFigures,
    pub(crate) blocks: BlockFigures,
    /// Number of prompts of the main lane.
    pub(crate) turns: usize,
    /// The figures of each turn.
    pub(crate) turn_list: TurnList<'r>,
    /// The figures that belong to no turn.
    pub(crate) overhead: OverheadFigures,
    /// Number of sub-agents.
    pub(crate) lanes: usize,
    /// Number of abandoned branches.
    pub(crate) branches: usize,
    pub(crate) compactions: u64,
    /// Calls and results by how they pair up.
    #[serde(with = "PairingFigures")]
    pub(crate) pairing: PairingCounts,
    pub(crate) usage: UsageFigures,
    pub(crate) cost: CostFigures,
    /// The figures of the main lane without abandoned branches.
    pub(crate) active: PartFigures,
    /// Abandoned branches, by number.
    pub(crate) branch_list: Vec<BranchFigures>,
    /// Sub-agents, by name.
    pub(crate) lane_list: Vec<LaneFigures>,
}

/// Facts about the session.
#[derive(Debug, Serialize)]
pub(crate) struct SessionFigures {
    pub(crate) id: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) cwd: Option<String>,
    /// Models that answered, in the order of first use.
    pub(crate) models: Vec<String>,
    pub(crate) started: Option<String>,
    pub(crate) ended: Option<String>,
    /// What the agent is doing.
    pub(crate) state: &'static str,
    /// What the agent waits for: `prompt`, `permission` or `question`.
    pub(crate) waiting_for: Option<&'static str>,
    /// Number of sub-agents that are still at work while it waits.
    pub(crate) agents_at_work: usize,
    /// Number of calls and sub-agents that run in the background.
    pub(crate) running: usize,
    /// Facts that only some agents record, by name.
    pub(crate) facts: BTreeMap<&'static str, String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct RecordFigures {
    pub(crate) total: u64,
    /// Records that made an entry.
    pub(crate) shown: u64,
    /// Records that became part of another entry.
    pub(crate) merged: u64,
    /// Records with nothing to show.
    pub(crate) passed: u64,
    /// Records that could not be read.
    pub(crate) faulty: u64,
    /// The same counts in bytes.
    pub(crate) bytes: ByteFigures,
    pub(crate) passed_reasons: BTreeMap<&'static str, u64>,
    /// Types and fields that the format does not know.
    pub(crate) unknown: BTreeMap<String, u64>,
    /// The loudest fate of each unknown type.
    pub(crate) unknown_judged: BTreeMap<String, &'static str>,
    /// Positions of faulty records.
    pub(crate) faults: Vec<FaultFigures>,
}

/// Bytes of records by fate.
#[derive(Debug, Serialize)]
pub(crate) struct ByteFigures {
    pub(crate) total: u64,
    pub(crate) shown: u64,
    pub(crate) merged: u64,
    pub(crate) passed: u64,
    pub(crate) faulty: u64,
    /// Bytes of passed records, by reason.
    pub(crate) passed_reasons: BTreeMap<&'static str, u64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct FaultFigures {
    /// The line number; 0 if unknown.
    pub(crate) line: u32,
    /// The byte offset.
    pub(crate) byte: u64,
    /// What is wrong with the record.
    pub(crate) what: String,
    /// The file; `None` if it is the one that was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct EntryFigures {
    /// Messages of a human or of the calling agent.
    pub(crate) user: u64,
    /// Messages of the model.
    pub(crate) assistant: u64,
    pub(crate) system: u64,
    /// Messages of the agent program.
    pub(crate) harness: u64,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct BlockFigures {
    /// Texts that are not blank, and calls that the model wrote as text.
    pub(crate) text: u64,
    /// Thinking, including blocks of which only the presence is recorded.
    pub(crate) thinking: u64,
    pub(crate) calls: u64,
    pub(crate) images: u64,
    /// Breaks, such as compactions.
    pub(crate) breaks: u64,
    pub(crate) raw: u64,
}

/// The fields of [`PairingCounts`] as they are serialized, because analysis does not depend on
/// output formats.
#[derive(Debug, Serialize)]
#[serde(remote = "PairingCounts")]
pub(crate) struct PairingFigures {
    pub(crate) calls: u64,
    pub(crate) results: u64,
    /// Calls with their result.
    pub(crate) paired: u64,
    /// Results marked as errors.
    pub(crate) failed: u64,
    /// Results of calls that were not allowed.
    pub(crate) refused: u64,
    /// Results of calls that were stopped before their end.
    pub(crate) stopped: u64,
    /// Calls whose result only acknowledges the start, and whose work is running.
    pub(crate) running: u64,
    /// Further such calls, of which no end is recorded.
    pub(crate) without_end: u64,
    /// Calls whose end is recorded but was never delivered to the model.
    pub(crate) undelivered: u64,
    /// Calls whose result may still come.
    pub(crate) pending: u64,
    /// Calls whose result will not come.
    pub(crate) orphan_calls: u64,
    /// Results without a call.
    pub(crate) orphan_results: u64,
    /// Further results of a call.
    pub(crate) duplicate_results: u64,
    /// Calls written into a text; no other count of pairs includes them.
    pub(crate) textual_calls: u64,
}

/// The first and the last timestamp.
type Span = Option<(Timestamp, Timestamp)>;

/// Computes all figures of a session.
pub fn of(reading: &Reading, now: Timestamp) -> SessionReport<'_> {
    let transcript = &reading.transcript;
    // One pass over the entries, because those of long sessions are packed.
    let mut entries = EntryFigures::default();
    let mut blocks = BlockFigures::default();
    let mut compactions = 0;
    let mut span: Span = None;
    let mut pairing = Pairing::of(transcript, !reading.activity(now).is_ongoing(now));
    let mut active = ActivePathSums::of(transcript);
    let mut passing = transcript.cursor();
    for id in transcript.order() {
        let Some(entry) = passing.get(*id) else {
            continue;
        };
        pairing.add(*id, entry);
        active.add(*id, entry);
        entries.count(entry);
        blocks.count(entry);
        compactions += compactions_in(entry);
        for at in entry.times().filter(|_| !entry.is_aside()) {
            let (first, last) = span.unwrap_or((at, at));
            span = Some((first.min(at), last.max(at)));
        }
    }
    SessionReport {
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
        active: active.into_sums(),
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
    // A session read from a pipe has no path.
    let place = Some(&reading.opened.path).filter(|path| fs::is_file(path));
    let place = place.and_then(|path| find::name_of_file(path, reading.opened.format));
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
        running: background::count_running(transcript, &activity),
        facts: meta
            .facts
            .iter()
            .map(|(name, value)| (*name, value.to_string()))
            .collect(),
    }
}

/// Counts records by fate.
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
    /// Adds the blocks of an entry.
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
