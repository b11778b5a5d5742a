//! What is wrong with the session, or may be: one list of kinds, each with its name, its count and its first
//! place. The outline and the page of checks show it, so neither of them counts.
//!
//! Invariant: an entry is noted when it comes or changes; the list is made anew when somebody looks at it and
//! something in it may have changed.

pub(crate) mod notes;

use std::borrow::Cow;

use notes::{Notes, block_of};

use super::text::viewport::Focus;
use crate::analysis::calls::Place;
use crate::analysis::calls::awaited::Awaited;
use crate::analysis::derived::Memo;
use crate::analysis::lint::{Alike, Findings, Severity, alike};
use crate::analysis::loops::{Loops, Run, Undone, loop_words};
use crate::model::entry::{Block, BlockKind, EntryId};
use crate::model::figures::count;
use crate::model::record::Origin;
use crate::model::tool::is_textual;
use crate::model::transcript::{Touched, Transcript};
use crate::render::glyphs::Glyphs;

/// How it stands with something: the sign before its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sign {
    /// Nothing.
    #[default]
    None,
    /// All is well.
    Good,
    /// May be wrong.
    Warn,
    /// Is wrong.
    Bad,
    /// Was not allowed.
    Refused,
    /// Has no end: works, if this call still runs.
    Open(Place),
}

/// Loops that are listed by themselves.
const LOOPS_MOST: usize = 6;

/// Where a check leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// To an item.
    Item(Focus),
    /// To what became of a record.
    Record(Origin),
}

/// What a check counts: the same however much of it there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Findings of the lint.
    Findings(Severity),
    /// Records that could not be read.
    Broken,
    /// Calls that failed, and errors of the agent.
    Failed,
    /// Records that nobody knows.
    Unknown,
    /// Calls that wait for their results.
    Open,
    /// The loop that begins here.
    Loop(Place),
    /// Loops that are not listed by themselves.
    Loops,
    /// Edits that later ones turned back.
    TurnedBack,
    /// Calls with their results.
    Paired,
}

/// A kind of thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    /// What it counts.
    pub(crate) kind: Kind,
    /// How bad it is.
    pub(crate) sign: Sign,
    /// How often it was found; `None` for what is not counted.
    pub(crate) count: Option<u64>,
    /// Its name: of findings the rule.
    pub(crate) name: Cow<'static, str>,
    /// What more there is to say.
    pub(crate) what: String,
    /// Where the first of it is.
    at: Option<Target>,
}

impl Check {
    /// So many of a kind.
    fn counted(kind: Kind, sign: Sign, count: u64, words: Words, at: Option<Target>) -> Self {
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

    /// Something that is named, and not counted.
    fn named(kind: Kind, sign: Sign, (name, what): (&str, &str), at: Option<Target>) -> Self {
        Self {
            kind,
            sign,
            count: None,
            name: Cow::Owned(name.to_owned()),
            what: what.to_owned(),
            at,
        }
    }

    /// It in a few words: `6 failures`.
    pub(crate) fn words(&self) -> String {
        match self.count {
            Some(count) => format!("{count} {}", self.name),
            None => format!("{} {}", self.name, self.what).trim_end().to_owned(),
        }
    }

    /// The item of the first of it.
    pub(crate) fn target(&self, transcript: &Transcript) -> Option<Focus> {
        match self.at? {
            Target::Item(focus) => Some(focus),
            Target::Record(origin) => entry_of(transcript, origin),
        }
    }
}

/// All checks of a session.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    /// `None` until they are collected.
    notes: Option<Notes>,
    list: Vec<Check>,
    /// State of the findings and of the loops that the list was made of; `None` if entries changed since.
    judged: Option<(u64, u64)>,
    generation: u64,
}

impl Checks {
    /// Takes in an entry that is new or has changed.
    pub fn note(&mut self, transcript: &Transcript, touched: &Touched) {
        if touched.lanes || touched.reordered {
            return self.clear();
        }
        if let Some(notes) = &mut self.notes {
            for id in touched.added.iter().chain(&touched.changed) {
                notes.note(transcript, *id);
            }
        }
        self.look_again();
    }

    /// What is true of the session as a whole may have changed.
    pub(crate) fn look_again(&mut self) {
        self.judged = None;
    }

    /// The session is another one, or has another order.
    pub fn clear(&mut self) {
        self.notes = None;
        self.look_again();
    }

    /// Makes the list anew if that may change it.
    pub(crate) fn refresh(
        &mut self,
        transcript: &Transcript,
        findings: &Findings,
        loops: &Memo<Loops>,
        glyphs: &Glyphs,
    ) {
        let state = (findings.generation(), loops.generation());
        if self.judged.replace(state) == Some(state) {
            return;
        }
        let notes = self.notes.get_or_insert_with(|| Notes::of(transcript));
        let mut list = of_rules(findings, Severity::Error);
        list.extend(of_rules(findings, Severity::Warning));
        list.extend(of_session(transcript, notes));
        list.extend(of_loops(loops, glyphs));
        list.extend(of_rules(findings, Severity::Note));
        list.extend(of_pairing(notes));
        self.generation += 1;
        self.list = list;
    }

    /// The list: findings, the worst first, then what else is wrong with calls and records, then notes.
    pub(crate) fn list(&self) -> &[Check] {
        &self.list
    }

    /// Rises whenever the list is made anew.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// Compactions of the main lane.
    pub(crate) fn compactions(&self) -> impl Iterator<Item = EntryId> {
        self.notes
            .iter()
            .flat_map(|notes| &notes.compactions)
            .copied()
    }
}

/// What the lint found that is as bad as this, rule by rule; what it only notes is one row.
fn of_rules(findings: &Findings, severity: Severity) -> Vec<Check> {
    let found = findings
        .iter()
        .filter(|finding| finding.severity == severity);
    let check = |(sign, one, many): (Sign, &'static str, &'static str), all: &Alike<'_>| {
        let at = Target::Item(Focus {
            entry: all.first.entry,
            block: all.first.block,
        });
        Check::counted(
            Kind::Findings(severity),
            sign,
            all.count(),
            (one, many, ""),
            Some(at),
        )
    };
    let sign = match severity {
        Severity::Error => Sign::Bad,
        Severity::Warning => Sign::Warn,
        Severity::Note => {
            let all = Alike::of(found);
            return all
                .map(|all| check((Sign::None, "note", "notes"), &all))
                .into_iter()
                .collect();
        }
    };
    alike(found)
        .iter()
        .map(|all| check((sign, all.first.rule.id, all.first.rule.id), all))
        .collect()
}

/// What is counted of entries and of records.
fn of_session(transcript: &Transcript, notes: &Notes) -> Vec<Check> {
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
        Some(Target::Item(Focus {
            entry,
            block: block_of(transcript.get(entry)?, holds),
        }))
    };
    let is_raw = |block: &Block| matches!(block.kind, BlockKind::Raw(_));
    let tally = transcript.tally();
    let first_unknown = tally.loud_kinds().map(|(_, unknown)| unknown.first).min();
    let failed = at(notes.failed.first(), &|block| block.kind.counts_as_error());
    let rows = [
        (
            Kind::Broken,
            Sign::Bad,
            tally.faulty,
            BROKEN,
            at(notes.broken.first(), &is_raw),
        ),
        (Kind::Failed, Sign::Bad, notes.errors, FAILED, failed),
        (
            Kind::Unknown,
            Sign::Warn,
            tally.loud(),
            UNKNOWN,
            first_unknown.map(Target::Record),
        ),
        (
            Kind::Open,
            Sign::Warn,
            number(&open),
            OPEN,
            at(open.first(), &is_open),
        ),
    ];
    let rows = rows.into_iter().filter(|(_, _, number, ..)| *number > 0);
    rows.map(|(kind, sign, number, words, at)| Check::counted(kind, sign, number, words, at))
        .collect()
}

/// One, several, and what that is.
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

/// Loops, the newest first, and edits that were turned back.
fn of_loops(loops: &Loops, glyphs: &Glyphs) -> Vec<Check> {
    let item = Target::Item;
    let runs = loops.loops();
    let row = |run: &Run| {
        let first = run.places().next()?;
        let words = loop_words(run, glyphs.times);
        let words = words.split_once(' ').unwrap_or((&words, ""));
        Some(Check::named(
            Kind::Loop(first),
            Sign::Warn,
            words,
            Some(item(first)),
        ))
    };
    let mut found: Vec<Check> = runs.iter().rev().take(LOOPS_MOST).filter_map(row).collect();
    if runs.len() > LOOPS_MOST {
        let at = runs.first().and_then(|run| run.places().next()).map(item);
        let more = (runs.len() - LOOPS_MOST) as u64;
        found.push(Check::counted(Kind::Loops, Sign::Warn, more, LOOPS, at));
    }
    let undone: Vec<&Undone> = loops.undone().collect();
    if let Some(first) = undone.first() {
        let at = Some(item(first.by));
        found.push(Check::counted(
            Kind::TurnedBack,
            Sign::Warn,
            undone.len() as u64,
            TURNED_BACK,
            at,
        ));
    }
    found
}

/// How many calls have their result.
fn of_pairing(notes: &Notes) -> Option<Check> {
    let sign = if notes.paired == notes.calls {
        Sign::Good
    } else {
        Sign::None
    };
    let words = format!("{}/{} paired", notes.paired, count(notes.calls, "call"));
    (notes.calls > 0).then(|| Check::named(Kind::Paired, sign, (&words, ""), None))
}

/// The entry of a record, or the next one of its file.
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
