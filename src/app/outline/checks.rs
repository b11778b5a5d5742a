//! The section of checks: what is wrong with the session, or may be.

use super::notes::{Notes, block_of};
use super::row::Sign;
use crate::analysis::awaited::Awaited;
use crate::analysis::calls::Place;
use crate::analysis::lint::{Finding, Findings};
use crate::analysis::troubles::{Troubles, Undone, loop_words};
use crate::app::viewport::Focus;
use crate::model::edit::Severity;
use crate::model::entry::{Block, BlockKind, EntryId};
use crate::model::figures::count;
use crate::model::pairing::is_textual;
use crate::model::record::Origin;
use crate::model::transcript::Transcript;
use crate::render::glyphs::Glyphs;

/// Loops that are listed by themselves.
const LOOPS_MOST: usize = 6;

/// Where a check leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// To an item.
    Item(Focus),
    /// To what became of a record.
    Record(Origin),
}

/// Something that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// How bad it is.
    pub sign: Sign,
    /// What was found.
    pub words: String,
    /// Where the first of it is.
    pub at: Option<Target>,
}

/// All checks of a session, the worst first.
pub fn of(transcript: &Transcript, notes: &Notes, findings: &Findings, troubles: Vec<Check>) -> Vec<Check> {
    let awaited = Awaited::of(transcript);
    let open: Vec<EntryId> = notes.open.iter().copied().filter(|id| awaited.has(transcript, *id)).collect();
    let is_open = |block: &Block| matches!(&block.kind, BlockKind::Call(call) if call.state.result().is_none() && !is_textual(&call.key));
    let number = |ids: &[EntryId]| {
        let entries = ids.iter().filter_map(|id| transcript.get(*id));
        entries.flat_map(|entry| &entry.blocks).filter(|block| is_open(block)).count() as u64
    };
    let at = |id: Option<&EntryId>, holds: &dyn Fn(&Block) -> bool| {
        let entry = *id?;
        Some(Target::Item(Focus { entry, block: block_of(transcript.get(entry)?, holds) }))
    };
    let is_raw = |block: &Block| matches!(block.kind, BlockKind::Raw(_));
    let tally = transcript.tally();
    let unknown: u64 = tally.unknown.values().map(|(count, _)| count).sum();
    let first_unknown = tally.unknown.values().map(|(_, origin)| *origin).min();
    let rows = [
        (Sign::Bad, tally.faulty, "broken record", "broken records", at(notes.broken.first(), &is_raw)),
        (
            Sign::Bad,
            notes.errors,
            "error",
            "errors",
            at(notes.failed.first(), &|block| block.kind.counts_as_error()),
        ),
        (Sign::Warn, unknown, "unknown record", "unknown records", first_unknown.map(Target::Record)),
        (Sign::Warn, number(&open), "open call", "open calls", at(open.first(), &is_open)),
    ];
    let mut found = of_rules(findings);
    let counts =
        rows.into_iter().filter(|(_, number, ..)| *number > 0).map(|(sign, number, one, many, at)| Check {
            sign,
            words: if number == 1 { format!("1 {one}") } else { format!("{number} {many}") },
            at,
        });
    found.extend(counts);
    found.extend(troubles);
    found.sort_by_key(|check| check.sign != Sign::Bad);
    if notes.calls > 0 {
        let words = format!("{}/{} paired", notes.paired, count(notes.calls, "call"));
        let sign = if notes.paired == notes.calls { Sign::Good } else { Sign::None };
        found.push(Check { sign, words, at: None });
    }
    found
}

/// Loops, the newest first, and edits that were turned back.
pub fn of_troubles(troubles: &Troubles, glyphs: &Glyphs) -> Vec<Check> {
    let item = |place: Place| Target::Item(Focus { entry: place.entry, block: place.block });
    let loops = troubles.loops();
    let mut found: Vec<Check> = loops
        .iter()
        .rev()
        .take(LOOPS_MOST)
        .map(|run| Check {
            sign: Sign::Warn,
            words: loop_words(run, glyphs.times),
            at: run.places().next().map(item),
        })
        .collect();
    if loops.len() > LOOPS_MOST {
        let words = format!("{} loops more", loops.len() - LOOPS_MOST);
        found.push(Check {
            sign: Sign::Warn,
            words,
            at: loops.first().and_then(|run| run.places().next()).map(item),
        });
    }
    let undone: Vec<&Undone> = troubles.undone().collect();
    if let Some(first) = undone.first() {
        let words = if undone.len() == 1 {
            "1 edit turned back".to_owned()
        } else {
            format!("{} edits turned back", undone.len())
        };
        found.push(Check { sign: Sign::Warn, words, at: Some(item(first.by)) });
    }
    found
}

/// What the lint found, rule by rule; what it only notes is in its own view.
fn of_rules(findings: &Findings) -> Vec<Check> {
    let mut found: Vec<(&Finding, u64)> = Vec::new();
    for finding in findings.iter().filter(|finding| finding.severity != Severity::Note) {
        match found.iter_mut().find(|(first, _)| first.rule.id == finding.rule.id) {
            Some((_, count)) => *count += 1,
            None => found.push((finding, 1)),
        }
    }
    let check = |(first, count): (&Finding, u64)| {
        let rule = first.rule.id.replace('-', " ");
        Check {
            sign: if first.severity == Severity::Error { Sign::Bad } else { Sign::Warn },
            words: if count == 1 { rule } else { format!("{count} {rule}") },
            at: Some(Target::Item(Focus { entry: first.entry, block: first.block })),
        }
    };
    found.into_iter().map(check).collect()
}
