//! The outline: turns, branches, checks, files and sub-agents, each a section that scrolls
//! independently.
//!
//! Invariant: only visible rows are made; the keys of all rows are rebuilt only when the session
//! changes.

pub(crate) mod actions;
mod keys;
pub mod row;
mod split;
mod sums;

use std::collections::HashMap;

use keys::OutlineKeys;
use row::{OutlineKey, OutlineRow, PARTS, SectionKind};
use split::{scrolled, split_lines};
use sums::BranchSums;

use super::checks::{Checks, counts};
use super::scene::Scene;
use super::text::as_of::SessionAtCursor;
use super::text::branches;
use super::text::viewport::Focus;
use crate::analysis::account::Account;
use crate::analysis::calls::Place;
use crate::analysis::derived::Memo;
use crate::analysis::files::Files;
use crate::model::entry::EntryId;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::{Touched, Transcript};
use crate::render::glyphs::Glyphs;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineSection {
    pub part: SectionKind,
    pub(crate) total: usize,
    /// Numbers of visible rows and of all rows; for turns without the sub-agents and compactions
    /// below them.
    pub counts: (usize, usize),
    pub rows: Vec<OutlineRow>,
    /// Index of the cursor's row among the visible rows.
    pub cursor: Option<usize>,
}

/// The row of the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OutlineCursor {
    part: SectionKind,
    place: usize,
}

#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// Keys of all rows; `None` if they are stale.
    keys: Option<OutlineKeys>,
    before: OutlineKeys,
    /// Cached rows of turns, by prompt.
    turns: HashMap<EntryId, OutlineRow>,
    /// Other cached rows, dropped at every change.
    cached_rows: Vec<(OutlineKey, OutlineRow)>,
    sums: BranchSums,
    /// Generation of the account that the cached rows show.
    added_up: u64,
    /// Generations of checks and files that the cached rows show.
    judged: (u64, u64),
    /// Background work that the cached rows show.
    running: Vec<Place>,
    tops: [usize; PARTS],
    cursor: Option<OutlineCursor>,
    pub sections: Vec<OutlineSection>,
}

pub(crate) struct OutlineInput<'a> {
    pub(crate) transcript: &'a Transcript,
    /// Figures of turns and lanes.
    pub(crate) account: &'a Account,
    /// Figures up to the cursor, if dimming is on.
    pub(crate) then: Option<&'a SessionAtCursor>,
    pub(crate) files: &'a Memo<Files>,
    /// Calls with running background work.
    pub(crate) running: &'a [Place],
    pub(crate) now: Timestamp,
    pub(crate) focused: Option<EntryId>,
    pub(crate) turn: Option<usize>,
    /// Height of the pane in lines.
    pub(crate) height: usize,
    /// Whether the pane has the focus.
    pub(crate) has_keys: bool,
    pub(crate) glyphs: &'a Glyphs,
    /// Problems of the session.
    pub(crate) checks: &'a Checks,
    /// Milliseconds since the last entry of the running turn.
    pub(crate) goes_on_ms: u64,
}

impl Outline {
    /// Drops the cached rows of changed entries.
    pub fn update(&mut self, transcript: &Transcript, touched: &Touched) {
        if touched.lanes || touched.reordered {
            return self.clear();
        }
        for id in &touched.changed {
            self.sums.change(transcript, *id);
        }
        self.invalidate();
    }

    /// Whether sums of visible rows are incomplete.
    pub fn is_incomplete(&self) -> bool {
        self.sums.incomplete > 0
    }

    /// Called instead of the layout while the pane is hidden.
    pub(crate) fn hide(&mut self) {
        self.sums.begin_frame();
    }

    fn invalidate(&mut self) {
        if let Some(keys) = self.keys.take() {
            self.before = keys;
        }
        self.cached_rows.clear();
    }

    /// Drops everything except the cursor.
    pub fn clear(&mut self) {
        self.invalidate();
        self.turns.clear();
        self.sums.clear();
    }

    /// Lays out the visible rows: around the cursor while the pane has the focus, otherwise around
    /// the focused turn and branch.
    fn update_rows(&mut self, wanted: &OutlineInput<'_>) {
        self.sums.begin_frame();
        let keys = self.refresh(wanted);
        let given = split_lines(
            wanted.height,
            SectionKind::ALL.map(|part| keys.of(part).len()),
        );
        self.place_cursor(wanted, &keys, &given);
        let current = wanted.turn.unwrap_or(0);
        let branch = wanted
            .focused
            .and_then(|id| wanted.transcript.branches().of(id))
            .map(|one| one.number);
        let session = wanted
            .focused
            .and_then(|id| wanted.transcript.session_of(id))
            .map(|(number, _)| number);
        let is_current = |key: &OutlineKey| match key {
            OutlineKey::Turn(turn) => *turn == current,
            OutlineKey::Branch(number) => Some(*number) == branch,
            OutlineKey::Agent(lane) => Some(*lane) == session,
            _ => false,
        };
        let mut sections = Vec::new();
        for ((part, lines), top) in SectionKind::ALL.into_iter().zip(given).zip(self.tops) {
            let all = keys.of(part);
            if lines == 0 {
                continue;
            }
            let cursor = self
                .cursor
                .filter(|cursor| wanted.has_keys && cursor.part == part);
            let held = cursor.map(|cursor| cursor.place).or_else(|| match part {
                SectionKind::Turns | SectionKind::Sessions | SectionKind::Branches => {
                    all.iter().position(is_current)
                }
                SectionKind::Running
                | SectionKind::Checks
                | SectionKind::Files
                | SectionKind::Agents => None,
            });
            let top = scrolled(top, held, lines, all.len());
            let in_sight = all.iter().skip(top).take(lines);
            let counted = |key: &&OutlineKey| {
                part != SectionKind::Turns || matches!(key, OutlineKey::Turn(_))
            };
            let counts = (
                in_sight.clone().filter(counted).count(),
                all.iter().filter(counted).count(),
            );
            let rows = in_sight.map(|key| OutlineRow {
                is_current: is_current(key),
                ..self.row_at_cursor(wanted, key)
            });
            let rows: Vec<OutlineRow> = rows.collect();
            let cursor = cursor.and_then(|cursor| cursor.place.checked_sub(top));
            sections.push((
                top,
                OutlineSection {
                    part,
                    total: all.len(),
                    counts,
                    rows,
                    cursor,
                },
            ));
        }
        for (top, section) in &sections {
            if let Some(kept) = self.tops.get_mut(section.part as usize) {
                *kept = *top;
            }
        }
        self.sections = sections.into_iter().map(|(_, section)| section).collect();
        self.keys = Some(keys);
    }

    /// Returns the keys of all rows, rebuilt if they are stale. The cursor stays on its row.
    fn refresh(&mut self, wanted: &OutlineInput<'_>) -> OutlineKeys {
        let generation = (wanted.checks.generation, wanted.files.generation);
        if self.added_up != wanted.account.generation {
            self.added_up = wanted.account.generation;
            self.turns.clear();
            self.cached_rows.clear();
        }
        if self.judged != generation {
            self.judged = generation;
            self.invalidate();
        }
        if self.running != wanted.running {
            self.running = wanted.running.to_vec();
            self.invalidate();
        }
        if let Some(keys) = self.keys.take() {
            return keys;
        }
        let keys = OutlineKeys::new(
            wanted.transcript,
            wanted.checks,
            wanted.files,
            wanted.running,
        );
        if let Some(cursor) = &mut self.cursor {
            let was = self.before.of(cursor.part).get(cursor.place);
            let now = was.and_then(|was| keys.of(cursor.part).iter().position(|key| key == was));
            cursor.place = now.unwrap_or(cursor.place);
        }
        keys
    }

    /// Puts the cursor on the focused turn when the pane gets the focus, and clamps it to the shown
    /// rows.
    fn place_cursor(
        &mut self,
        wanted: &OutlineInput<'_>,
        keys: &OutlineKeys,
        given: &[usize; PARTS],
    ) {
        if !wanted.has_keys {
            self.cursor = None;
            return;
        }
        let mut shown = SectionKind::ALL
            .into_iter()
            .zip(given)
            .filter(|(_, lines)| **lines > 0);
        let at_turn = || {
            let turn = OutlineKey::Turn(wanted.turn.unwrap_or(0));
            keys.of(SectionKind::Turns)
                .iter()
                .position(|key| *key == turn)
                .unwrap_or(0)
        };
        let first = shown.next().map(|(part, _)| part);
        let is_shown = |part: SectionKind| {
            first == Some(part) || given.get(part as usize).is_some_and(|n| *n > 0)
        };
        let cursor = self.cursor.filter(|cursor| is_shown(cursor.part));
        self.cursor = match (cursor, first) {
            (Some(cursor), _) => Some(cursor),
            (None, Some(SectionKind::Turns)) => Some(OutlineCursor {
                part: SectionKind::Turns,
                place: at_turn(),
            }),
            (None, first) => first.map(|part| OutlineCursor { part, place: 0 }),
        };
        if let Some(cursor) = &mut self.cursor {
            cursor.place = cursor
                .place
                .min(keys.of(cursor.part).len().saturating_sub(1));
        }
    }

    fn row_at_cursor(&mut self, wanted: &OutlineInput<'_>, key: &OutlineKey) -> OutlineRow {
        let row = self.row(wanted, key);
        let is_open =
            matches!(key, OutlineKey::Turn(turn) if wanted.transcript.is_newest_turn(Some(*turn)));
        if let OutlineKey::Work(place) = key {
            return row::with_clock(row, wanted.transcript, *place, wanted.now);
        }
        match wanted.then {
            Some(then) => row::as_of(row, wanted.transcript, wanted.account, then, key),
            None if is_open && wanted.goes_on_ms > 0 => {
                row::with_running_time(row, wanted.goes_on_ms)
            }
            None => row,
        }
    }

    fn row(&mut self, wanted: &OutlineInput<'_>, key: &OutlineKey) -> OutlineRow {
        let transcript = wanted.transcript;
        if let OutlineKey::Turn(turn) = key {
            let Some(prompt) = transcript.turns().get(*turn).map(|turn| turn.prompt) else {
                return OutlineRow::default();
            };
            if let Some(row) = self.turns.get(&prompt) {
                return row.clone();
            }
            let row = row::of_turn(transcript, wanted.account, *turn).unwrap_or_default();
            self.turns.insert(prompt, row.clone());
            return row;
        }
        if let Some((_, row)) = self.cached_rows.iter().find(|(known, _)| known == key) {
            return row.clone();
        }
        let lacking = self.sums.incomplete;
        let row = self.make(wanted, key).unwrap_or_default();
        if self.sums.incomplete == lacking {
            self.cached_rows.push((key.clone(), row.clone()));
        }
        row
    }

    fn make(&mut self, wanted: &OutlineInput<'_>, key: &OutlineKey) -> Option<OutlineRow> {
        let transcript = wanted.transcript;
        let Glyphs {
            compacted, arrow, ..
        } = wanted.glyphs;
        match key {
            OutlineKey::Turn(turn) => row::of_turn(transcript, wanted.account, *turn),
            OutlineKey::Lane(lane, is_last) => {
                let lane = transcript.lanes().get(*lane)?;
                Some(row::of_lane(transcript, wanted.account, lane, *is_last))
            }
            OutlineKey::Work(place) => row::of_work(transcript, *place),
            OutlineKey::Compaction(id) => row::of_compaction(transcript, *id, compacted, arrow),
            OutlineKey::Branch(number) => {
                let branch = transcript.branches().list.get(number.checked_sub(1)?)?;
                Some(self.sums.row_of(transcript, wanted.account, branch))
            }
            OutlineKey::Check(number) => {
                let check = wanted.checks.list.get(*number)?;
                Some(OutlineRow {
                    sign: check.sign,
                    title: check.words(),
                    ..OutlineRow::default()
                })
            }
            OutlineKey::File(path) => {
                Some(row::of_file(transcript, path, wanted.files.file(path)?))
            }
            OutlineKey::Agent(number) => {
                let lane = transcript.lanes().get(*number)?;
                let session = Some(*number).filter(|_| lane.is_session);
                Some(row::of_agent(transcript, wanted.account, lane, session))
            }
        }
    }

    // === the cursor ===

    /// Moves the cursor over the rows of all sections.
    pub(crate) fn step(&mut self, by: isize) {
        let Some(cursor) = self.cursor else { return };
        let totals = self
            .sections
            .iter()
            .map(|section| (section.part, section.total));
        let totals: Vec<(SectionKind, usize)> = totals.collect();
        let before: usize = totals
            .iter()
            .filter(|(part, _)| *part < cursor.part)
            .map(|(_, n)| n)
            .sum();
        let all: usize = totals.iter().map(|(_, total)| total).sum();
        let mut place = (before + cursor.place)
            .saturating_add_signed(by)
            .min(all.saturating_sub(1));
        for (part, total) in totals {
            if place < total {
                self.cursor = Some(OutlineCursor { part, place });
                return;
            }
            place -= total;
        }
    }

    /// Moves the cursor to the first row of the next section; back, to the first row of this
    /// section, then of the previous one.
    pub(crate) fn step_section(&mut self, forward: bool) {
        let Some(cursor) = self.cursor else { return };
        let mut parts = self.sections.iter().map(|section| section.part);
        let to = match forward {
            true => parts.find(|part| *part > cursor.part),
            false if cursor.place > 0 => Some(cursor.part),
            false => parts.rfind(|part| *part < cursor.part),
        };
        if let Some(part) = to {
            self.cursor = Some(OutlineCursor { part, place: 0 });
        }
    }

    pub(crate) fn height(&self) -> usize {
        self.sections.iter().map(|section| section.rows.len()).sum()
    }

    /// Puts the cursor on the row in a line of the pane. Returns the item that the row jumps to.
    pub(crate) fn click(&mut self, line: usize, scene: &Scene<'_>) -> Option<Focus> {
        let mut heading = 0;
        for section in &self.sections {
            let place = line
                .checked_sub(heading + 1)
                .filter(|place| *place < section.rows.len());
            if let Some(place) = place {
                let top = self.tops.get(section.part as usize).copied().unwrap_or(0);
                self.cursor = Some(OutlineCursor {
                    part: section.part,
                    place: top + place,
                });
                return self.target(scene);
            }
            heading += section.rows.len() + 2;
        }
        None
    }

    /// The item that the row of the cursor jumps to.
    pub(crate) fn target(&self, scene: &Scene<'_>) -> Option<Focus> {
        let (transcript, files) = (&scene.session.transcript, &scene.session.indexes.files);
        let cursor = self.cursor?;
        match self.keys.as_ref()?.of(cursor.part).get(cursor.place)? {
            OutlineKey::Turn(turn) => row::start_of_turn(transcript, *turn),
            OutlineKey::Lane(lane, _) | OutlineKey::Agent(lane) => {
                row::start_of_lane(transcript, transcript.lanes().get(*lane)?)
            }
            OutlineKey::Compaction(entry) => {
                let block =
                    counts::block_of(transcript.get(*entry)?, |block| block.kind.is_compaction());
                Some(Focus {
                    entry: *entry,
                    block,
                })
            }
            OutlineKey::Work(place) => Some(*place),
            OutlineKey::Branch(number) => branches::head_of(transcript, *number),
            OutlineKey::Check(number) => scene.checks.list.get(*number)?.target(transcript),
            OutlineKey::File(path) => Some(files.file(path)?.uses.first()?.place),
        }
    }
}
