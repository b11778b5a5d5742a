//! The outline beside the transcript: turns with their cost and duration, their sub-agents, branches.

use std::collections::{HashMap, VecDeque};

use super::sequence::{depth_of, place_in_file};
use crate::analysis::{cost, phrases};
use crate::model::branch::{Branch, Why};
use crate::model::entry::{BlockKind, Entry, EntryId};
use crate::model::figures;
use crate::model::moment::Moment;
use crate::model::text::Text;
use crate::model::transcript::Transcript;
use crate::model::turn::TurnFacts;

/// A turn in the outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRow {
    /// The prompt.
    pub prompt: EntryId,
    /// Number of the turn, from 1.
    pub number: usize,
    /// First line of the prompt.
    pub title: Text,
    /// `0.21`, `~0.21` for an estimate: the column's head says that it is USD.
    pub cost: String,
    /// `1m52s`
    pub duration: String,
    /// Errors in the turn.
    pub errors: u32,
    /// Whether it lies on an abandoned branch.
    pub is_abandoned: bool,
}

/// A sub-agent under its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneRow {
    /// How deep in other sub-agents, from 0.
    pub depth: usize,
    /// Whether another one of the turn follows.
    pub is_last: bool,
    /// What to call it.
    pub label: Text,
    /// As for turns.
    pub cost: String,
    /// As for turns.
    pub duration: String,
    /// Errors in it.
    pub errors: u32,
}

/// A branch that the session left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchRow {
    /// Its number.
    pub number: usize,
    /// Why it was left, in a word.
    pub fate: &'static str,
    /// First line of what began it.
    pub title: Text,
    /// As for turns.
    pub cost: String,
    /// When it was left: `10:41`.
    pub left: String,
    /// Whether the focused item lies on it.
    pub is_current: bool,
}

/// A row of the outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutlineRow {
    /// A turn.
    Turn(TurnRow),
    /// A sub-agent under the turn above.
    Lane(LaneRow),
}

/// Rows made before; those of touched turns are forgotten.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    cache: HashMap<EntryId, TurnRow>,
    /// Sub-agents with their depth, by the turn that they go back to.
    lanes: Option<HashMap<usize, Vec<LaneRow>>>,
    left: HashMap<usize, BranchRow>,
    /// The rows that the pane shows, and the current turn among them.
    pub rows: Vec<OutlineRow>,
    /// Branches, at the foot of the pane.
    pub branches: Vec<BranchRow>,
    /// The turn of the focused item.
    pub current: Option<usize>,
}

impl Outline {
    /// Forgets the row of a turn, and those of sub-agents and branches.
    pub fn forget(&mut self, prompt: EntryId) {
        self.cache.remove(&prompt);
        self.lanes = None;
        self.left.clear();
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Collects the rows for a pane of this height around the focused item and its turn. Branches take
    /// a third of it at most, with a heading and an empty line.
    pub fn arrange(
        &mut self,
        transcript: &Transcript,
        focused: Option<EntryId>,
        current: Option<usize>,
        height: usize,
    ) {
        self.current = current;
        self.branches = self.branch_rows(transcript, focused, (height / 3).saturating_sub(2));
        let taken = if self.branches.is_empty() { 0 } else { self.branches.len() + 2 };
        let height = height.saturating_sub(taken);
        // What stands before the first prompt belongs to no turn; the outline begins with the first one.
        let at = current.unwrap_or(0);
        let lanes = self.lanes.take().unwrap_or_else(|| lanes_by_turn(transcript));
        let mut rows: VecDeque<OutlineRow> = self.turn(transcript, &lanes, at).into();
        let mut above = at;
        while rows.len() < height / 2
            && let Some(turn) = above.checked_sub(1)
        {
            above = turn;
            self.turn(transcript, &lanes, turn).into_iter().rev().for_each(|row| rows.push_front(row));
        }
        for turn in at + 1..transcript.turns().len() {
            if rows.len() >= height {
                break;
            }
            rows.extend(self.turn(transcript, &lanes, turn));
        }
        while rows.len() < height
            && let Some(turn) = above.checked_sub(1)
        {
            above = turn;
            self.turn(transcript, &lanes, turn).into_iter().rev().for_each(|row| rows.push_front(row));
        }
        // Too much above would push the current turn out of the pane.
        let is_current = |row: &OutlineRow| matches!(row, OutlineRow::Turn(turn) if turn.number == at + 1);
        let place = rows.iter().position(is_current).unwrap_or(0);
        let too_many = rows.len().saturating_sub(height).min(place.saturating_sub(height / 2));
        self.rows = rows.into_iter().skip(too_many).take(height).collect();
        self.lanes = Some(lanes);
    }

    /// A turn with its sub-agents.
    fn turn(
        &mut self,
        transcript: &Transcript,
        lanes: &HashMap<usize, Vec<LaneRow>>,
        turn: usize,
    ) -> Vec<OutlineRow> {
        let Some(row) = self.row(transcript, turn) else { return Vec::new() };
        let below = lanes.get(&turn).into_iter().flatten().cloned().map(OutlineRow::Lane);
        std::iter::once(OutlineRow::Turn(row)).chain(below).collect()
    }

    /// So many branches around the focused one that are not active.
    fn branch_rows(
        &mut self,
        transcript: &Transcript,
        focused: Option<EntryId>,
        most: usize,
    ) -> Vec<BranchRow> {
        let branches = transcript.branches();
        let current = focused.and_then(|id| branches.of(id)).map(|branch| branch.number);
        let left: Vec<&Branch> = branches.list.iter().filter(|branch| !branch.is_active).collect();
        let at = left.iter().position(|branch| Some(branch.number) >= current).unwrap_or(0);
        let first = at.saturating_sub(most / 2).min(left.len().saturating_sub(most));
        let row = |branch: &Branch| {
            let made = self.left.entry(branch.number).or_insert_with(|| branch_row(branch, transcript));
            BranchRow { is_current: current == Some(branch.number), ..made.clone() }
        };
        left.into_iter().skip(first).take(most).map(row).collect()
    }

    /// The row of a turn, counted from 0.
    pub fn row(&mut self, transcript: &Transcript, turn: usize) -> Option<TurnRow> {
        let prompt = transcript.turns().get(turn)?.prompt;
        if let Some(row) = self.cache.get(&prompt) {
            return Some(row.clone());
        }
        let facts = transcript.turn_facts(turn);
        let row = TurnRow {
            prompt,
            number: turn + 1,
            title: title_of(transcript.get(prompt)?),
            cost: cost_of(&facts),
            duration: duration_of(&facts),
            errors: facts.errors,
            is_abandoned: transcript.branches().abandoned.contains(&prompt),
        };
        self.cache.insert(prompt, row.clone());
        Some(row)
    }
}

fn lanes_by_turn(transcript: &Transcript) -> HashMap<usize, Vec<LaneRow>> {
    let mut found: HashMap<usize, Vec<LaneRow>> = HashMap::new();
    for lane in transcript.lanes() {
        let place = transcript.root_caller(lane).and_then(|id| place_in_file(transcript, id));
        let Some(turn) = place.and_then(|place| transcript.turn_at(place)) else { continue };
        let rows = found.entry(turn).or_default();
        if let Some(above) = rows.last_mut() {
            above.is_last = false;
        }
        let caller = transcript.caller(lane).and_then(|id| transcript.get(id));
        let facts = TurnFacts::of(lane.entries.iter().filter_map(|id| transcript.get(*id)));
        rows.push(LaneRow {
            depth: caller.map_or(0, |entry| usize::from(depth_of(transcript, entry))),
            is_last: true,
            label: lane.label.clone(),
            cost: cost_of(&facts),
            duration: duration_of(&facts),
            errors: facts.errors,
        });
    }
    found
}

fn branch_row(branch: &Branch, transcript: &Transcript) -> BranchRow {
    let entries = || branch.entries.iter().filter_map(|id| transcript.get(*id));
    BranchRow {
        number: branch.number,
        fate: match branch.why {
            Why::Prompt => "redone",
            Why::Left => "left",
            Why::Undone => "undone",
        },
        title: entries().find(|entry| has_text(entry)).map(title_of).unwrap_or_default(),
        cost: cost_of(&TurnFacts::of(entries())),
        left: transcript.left_at(branch).map(Moment::minute).unwrap_or_default(),
        is_current: false,
    }
}

fn cost_of(facts: &TurnFacts) -> String {
    phrases::cost(&cost::of(&facts.totals)).unwrap_or_default().replace('$', "")
}

fn duration_of(facts: &TurnFacts) -> String {
    facts.duration_ms().filter(|ms| *ms > 0).map(figures::duration).unwrap_or_default()
}

fn has_text(entry: &Entry) -> bool {
    entry.blocks.iter().any(|block| matches!(&block.kind, BlockKind::Text(body) if !body.stub.is_blank()))
}

/// The first line of a prompt.
pub fn title_of(entry: &Entry) -> Text {
    let text = entry.blocks.iter().find_map(|block| match &block.kind {
        BlockKind::Text(body) if !body.stub.is_blank() => Some(body.stub.clone()),
        _ => None,
    });
    text.unwrap_or_else(|| Text::from("(no text)"))
}
