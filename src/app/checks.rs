//! Checks: problems and possible problems of the session, as a list of kinds with name, count and
//! position of the first. The outline and the checks view show the same list.
//!
//! Invariant: entries are counted when they are added or change; the list is rebuilt only when it
//! is shown and stale.

pub(crate) mod counts;

use std::borrow::Cow;

use counts::{CheckCounts, block_of};

use super::text::viewport::Focus;
use crate::analysis::calls::Place;
use crate::analysis::calls::awaited::Awaited;
use crate::analysis::derived::Memo;
use crate::analysis::lint::{Alike, Findings, Severity, group_findings};
use crate::analysis::loops::{CallRun, Loops, Undone, loop_words};
use crate::model::entry::{Block, BlockKind, EntryId};
use crate::model::figures::count;
use crate::model::record::Origin;
use crate::model::tool::is_textual;
use crate::model::transcript::{Touched, Transcript};
use crate::render::glyphs::Glyphs;

/// A status sign before a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatusSign {
    #[default]
    None,
    Good,
    Warn,
    Bad,
    /// Problems, with the number of failures.
    Failures(u32),
    Refused,
    /// A call without an end; while it runs, its own status sign is shown.
    Open(Place),
}

/// Number of loops that have a row each.
const LOOPS_MOST: usize = 6;

/// The position that a check leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CheckTarget {
    Item(Focus),
    /// The entry of a record.
    Record(Origin),
}

/// What a check counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckKind {
    /// Findings of the lint.
    Findings(Severity),
    /// Records that could not be read.
    Broken,
    /// Calls that failed, and errors of the agent.
    Failed,
    /// Records of unknown kinds.
    Unknown,
    /// Calls without results; the results may still arrive.
    Open,
    /// The loop that begins here.
    Loop(Place),
    Loops,
    /// Edits that a later edit undid.
    TurnedBack,
    /// Calls with their results.
    Paired,
}

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) kind: CheckKind,
    /// Severity, as a sign.
    pub(crate) sign: StatusSign,
    /// Number of occurrences; `None` for rows without a count.
    pub(crate) count: Option<u64>,
    /// Name; for findings the name of the rule.
    pub(crate) name: Cow<'static, str>,
    /// Explanation, shown in the checks view.
    pub(crate) what: String,
    /// Position of the first occurrence.
    at: Option<CheckTarget>,
}

impl Check {
    /// Creates a row with a count.
    fn counted(
        kind: CheckKind,
        sign: StatusSign,
        count: u64,
        words: Words,
        at: Option<CheckTarget>,
    ) -> Self {
        let (one, many, what) = words;
        let name = Cow::Borrowed(if count == 1 { one } else { many });
        Self {
            kind,
            sign,
            count: Some(count),
            name,
            what: what.to_owned(),
            at,
        }
    }

    /// Creates a row without a count.
    fn without_count(
        kind: CheckKind,
        sign: StatusSign,
        (name, what): (&str, &str),
        at: Option<CheckTarget>,
    ) -> Self {
        Self {
            kind,
            sign,
            count: None,
            name: Cow::Owned(name.to_owned()),
            what: what.to_owned(),
            at,
        }
    }

    /// Text of the row in the outline: `6 failures`.
    pub(crate) fn words(&self) -> String {
        match self.count {
            Some(count) => format!("{count} {}", self.name),
            None => format!("{} {}", self.name, self.what).trim_end().to_owned(),
        }
    }

    /// The item to jump to.
    pub(crate) fn target(&self, transcript: &Transcript) -> Option<Focus> {
        match self.at? {
            CheckTarget::Item(focus) => Some(focus),
            CheckTarget::Record(origin) => entry_of(transcript, origin),
        }
    }
}

/// All checks of a session.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    /// Counts of entries; `None` until the list is first shown.
    notes: Option<CheckCounts>,
    /// Findings, the worst first, other faults of calls and records, loops, notes of the lint, pairing.
    pub(crate) list: Vec<Check>,
    /// Generations of findings and loops that the list was built from; `None` if entries changed
    /// since.
    judged: Option<(u64, u64)>,
    /// Increases whenever the list is built anew.
    pub(crate) generation: u64,
}

impl Checks {
    /// Counts new and changed entries.
    pub fn update(&mut self, transcript: &Transcript, touched: &Touched) {
        if touched.lanes || touched.reordered {
            return self.clear();
        }
        if let Some(notes) = &mut self.notes {
            for id in touched.added.iter().chain(&touched.changed) {
                notes.add(transcript, *id);
            }
        }
        self.invalidate();
    }

    pub(crate) fn invalidate(&mut self) {
        self.judged = None;
    }

    /// Drops all counts, for another session or another order of entries.
    pub fn clear(&mut self) {
        self.notes = None;
        self.invalidate();
    }

    pub(crate) fn refresh(
        &mut self,
        transcript: &Transcript,
        findings: &Findings,
        loops: &Memo<Loops>,
        glyphs: &Glyphs,
    ) {
        let state = (findings.generation, loops.generation);
        if self.judged.replace(state) == Some(state) {
            return;
        }
        let notes = self
            .notes
            .get_or_insert_with(|| CheckCounts::of(transcript));
        let mut list = of_rules(findings, Severity::Error);
        list.extend(of_rules(findings, Severity::Warning));
        list.extend(of_session(transcript, notes));
        list.extend(of_loops(loops, glyphs));
        list.extend(of_rules(findings, Severity::Note));
        list.extend(of_pairing(notes));
        self.generation += 1;
        self.list = list;
    }

    /// Counts of failures and of other errors, for the bar of views.
    pub(crate) fn failures_and_errors(&self) -> (u64, u64) {
        let errors = self.count(CheckKind::Findings(Severity::Error));
        (self.count(CheckKind::Failed), errors)
    }

    /// The count of a kind; 0 if the list has none.
    pub(crate) fn count(&self, kind: CheckKind) -> u64 {
        let check = self.list.iter().find(|check| check.kind == kind);
        check.and_then(|check| check.count).unwrap_or(0)
    }

    /// Compactions of the main lane.
    pub(crate) fn compactions(&self) -> impl Iterator<Item = EntryId> {
        self.notes
            .iter()
            .flat_map(|notes| &notes.compactions)
            .copied()
    }
}

/// Findings of a severity, one row per rule; notes share one row.
fn of_rules(findings: &Findings, severity: Severity) -> Vec<Check> {
    let found = findings
        .iter()
        .filter(|finding| finding.severity == severity);
    let check = |(sign, one, many): (StatusSign, &'static str, &'static str), all: &Alike<'_>| {
        let at = CheckTarget::Item(Focus {
            entry: all.first.entry,
            block: all.first.block,
        });
        Check::counted(
            CheckKind::Findings(severity),
            sign,
            all.count,
            (one, many, ""),
            Some(at),
        )
    };
    let sign = match severity {
        Severity::Error => StatusSign::Bad,
        Severity::Warning => StatusSign::Warn,
        Severity::Note => {
            let all = Alike::of(found);
            return all
                .map(|all| check((StatusSign::None, "note", "notes"), &all))
                .into_iter()
                .collect();
        }
    };
    group_findings(found)
        .iter()
        .map(|all| check((sign, all.first.rule.id, all.first.rule.id), all))
        .collect()
}

/// Rows for the counts of entries and records.
fn of_session(transcript: &Transcript, notes: &CheckCounts) -> Vec<Check> {
    let awaited = Awaited::of(transcript);
    let open: Vec<EntryId> = notes
        .open
        .iter()
        .copied()
        .filter(|id| awaited.has(transcript, *id))
        .collect();
    let is_open = |block: &Block| matches!(&block.kind, BlockKind::Call(call) if call.state.result().is_none() && !is_textual(&call.key));
    let number = |ids: &[EntryId]| {
        let entries = ids.iter().filter_map(|id| transcript.get(*id));
        entries
            .flat_map(|entry| &entry.blocks)
            .filter(|block| is_open(block))
            .count() as u64
    };
    let at = |id: Option<&EntryId>, holds: &dyn Fn(&Block) -> bool| {
        let entry = *id?;
        Some(CheckTarget::Item(Focus {
            entry,
            block: block_of(transcript.get(entry)?, holds),
        }))
    };
    let is_raw = |block: &Block| matches!(block.kind, BlockKind::Raw(_));
    let tally = transcript.tally();
    let first_unknown = tally.loud_kinds().map(|(_, unknown)| unknown.first).min();
    let failed = notes.failed.first().and_then(|id| {
        let entry = transcript.get(*id)?;
        at(Some(id), &|block| entry.has_failed(&block.kind))
    });
    let rows = [
        (
            CheckKind::Broken,
            StatusSign::Bad,
            tally.faulty,
            BROKEN,
            at(notes.broken.first(), &is_raw),
        ),
        (
            CheckKind::Failed,
            StatusSign::Bad,
            notes.errors,
            FAILED,
            failed,
        ),
        (
            CheckKind::Unknown,
            StatusSign::Warn,
            tally.loud(),
            UNKNOWN,
            first_unknown.map(CheckTarget::Record),
        ),
        (
            CheckKind::Open,
            StatusSign::Warn,
            number(&open),
            OPEN,
            at(open.first(), &is_open),
        ),
    ];
    let rows = rows.into_iter().filter(|(_, _, number, ..)| *number > 0);
    rows.map(|(kind, sign, number, words, at)| Check::counted(kind, sign, number, words, at))
        .collect()
}

/// Singular, plural and explanation.
type Words = (&'static str, &'static str, &'static str);
const BROKEN: Words = (
    "broken record",
    "broken records",
    "cannot be read, and are shown as they are",
);
const FAILED: Words = (
    "failure",
    "failures",
    "calls that failed, and errors of the agent",
);
const UNKNOWN: Words = (
    "unknown record",
    "unknown records",
    "of kinds that tv does not know and that may hold a part of the conversation",
);
const OPEN: Words = (
    "open call",
    "open calls",
    "without a result, which may still come",
);
const LOOPS: Words = ("loop more", "loops more", "which began before these");
const TURNED_BACK: Words = ("edit turned back", "edits turned back", "by a later edit");

/// Rows of loops, the newest first, and of edits that were undone.
fn of_loops(loops: &Loops, glyphs: &Glyphs) -> Vec<Check> {
    let item = CheckTarget::Item;
    let runs = &loops.runs;
    let row = |run: &CallRun| {
        let first = run.places().next()?;
        let words = loop_words(run, glyphs.times);
        let words = words.split_once(' ').unwrap_or((&words, ""));
        Some(Check::without_count(
            CheckKind::Loop(first),
            StatusSign::Warn,
            words,
            Some(item(first)),
        ))
    };
    let mut found: Vec<Check> = runs.iter().rev().take(LOOPS_MOST).filter_map(row).collect();
    if runs.len() > LOOPS_MOST {
        let at = runs.first().and_then(|run| run.places().next()).map(item);
        let more = (runs.len() - LOOPS_MOST) as u64;
        found.push(Check::counted(
            CheckKind::Loops,
            StatusSign::Warn,
            more,
            LOOPS,
            at,
        ));
    }
    let undone: Vec<&Undone> = loops.undone.iter().collect();
    if let Some(first) = undone.first() {
        let at = Some(item(first.by));
        found.push(Check::counted(
            CheckKind::TurnedBack,
            StatusSign::Warn,
            undone.len() as u64,
            TURNED_BACK,
            at,
        ));
    }
    found
}

/// The row that says how many calls have results.
fn of_pairing(notes: &CheckCounts) -> Option<Check> {
    let sign = if notes.paired == notes.calls {
        StatusSign::Good
    } else {
        StatusSign::None
    };
    let words = format!("{}/{} paired", notes.paired, count(notes.calls, "call"));
    (notes.calls > 0).then(|| Check::without_count(CheckKind::Paired, sign, (&words, ""), None))
}

/// The entry of a record, or the next entry from the same file.
fn entry_of(transcript: &Transcript, origin: Origin) -> Option<Focus> {
    let is_it = |id: &EntryId| {
        let of = transcript.get(*id).map(|entry| entry.origin);
        of.is_some_and(|of| of.file == origin.file && of.at >= origin.at)
    };
    transcript
        .order()
        .iter()
        .copied()
        .find(is_it)
        .map(|entry| Focus { entry, block: 0 })
}
