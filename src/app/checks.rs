//! The list of what the lint found, over the transcript: by severity, the worst first.
//!
//! Invariant: what is chosen stays chosen while findings come and go.

use super::mode::Mode;
use super::moving::jump;
use super::state::State;
use super::viewport::Focus;
use crate::analysis::lint::{Finding, Findings, Severity};

/// Lines of the screen that are no rows of the list: its title, what follows from the chosen finding with
/// a rule above, and the hints.
pub const TAKEN: u16 = 6;

/// The list.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    /// Findings under the heading of their severity.
    pub rows: Vec<CheckRow>,
    /// Which row is chosen; a finding, if there is one.
    pub selected: usize,
    /// The first row shown.
    pub top: usize,
    /// State of the findings that the rows were made for.
    generation: u64,
}

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckRow {
    /// How many of a severity follow.
    Heading(Severity, usize),
    /// A finding.
    Found {
        /// Where it is.
        focus: Focus,
        /// How bad it is.
        severity: Severity,
        /// Name of the rule.
        rule: &'static str,
        /// Line or number of the record; 0 while unknown.
        line: u32,
        /// What is wrong.
        message: String,
        /// What follows from it.
        consequence: String,
    },
}

impl CheckRow {
    fn of(finding: &Finding) -> Self {
        Self::Found {
            focus: Focus { entry: finding.entry, block: finding.block },
            severity: finding.severity,
            rule: finding.rule.id,
            line: finding.place.line,
            message: finding.message.clone(),
            consequence: finding.consequence(),
        }
    }

    fn is_finding(&self) -> bool {
        matches!(self, Self::Found { .. })
    }

    /// Whether two rows speak of the same: texts may change while a session goes on.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Found { focus, rule, .. }, Self::Found { focus: at, rule: by, .. }) => {
                focus == at && rule == by
            }
            _ => false,
        }
    }
}

/// Opens the list.
pub fn open(state: &mut State) {
    state.mode = Mode::Checks(Checks { generation: u64::MAX, ..Checks::default() });
    refresh(state);
}

/// Brings the findings up to date, and the list with them if it is open.
pub fn refresh(state: &mut State) {
    // The end of a session alone lacks the calls of many results.
    if state.whole.is_none() {
        state.findings.update(&state.transcript);
    }
    let height = height(state);
    let Mode::Checks(checks) = &mut state.mode else { return };
    if checks.generation != state.findings.generation() {
        checks.generation = state.findings.generation();
        let chosen = checks.rows.get(checks.selected).cloned();
        checks.rows = rows(&state.findings);
        let same = chosen.and_then(|chosen| checks.rows.iter().position(|row| row.is_same(&chosen)));
        checks.selected = same.unwrap_or(checks.selected);
    }
    settle(checks, checks.selected, height);
}

fn rows(findings: &Findings) -> Vec<CheckRow> {
    let mut rows = Vec::new();
    for severity in [Severity::Error, Severity::Warning, Severity::Note] {
        let of_it = findings.iter().filter(|finding| finding.severity == severity);
        let first = rows.len();
        rows.push(CheckRow::Heading(severity, 0));
        rows.extend(of_it.map(CheckRow::of));
        let found = rows.len() - first - 1;
        if found == 0 {
            rows.pop();
        } else if let Some(heading) = rows.get_mut(first) {
            *heading = CheckRow::Heading(severity, found);
        }
    }
    rows
}

/// Rows of the list on the screen.
fn height(state: &State) -> usize {
    usize::from(state.size.1.saturating_sub(TAKEN)).max(1)
}

/// Chooses another finding.
pub fn select(state: &mut State, by: isize) {
    let height = height(state);
    let Mode::Checks(checks) = &mut state.mode else { return };
    let last = checks.rows.len().saturating_sub(1);
    let wanted = checks.selected.saturating_add_signed(by).min(last);
    let is_at = |at: &usize| checks.rows.get(*at).is_some_and(CheckRow::is_finding);
    // Headings are passed over in the direction of the motion.
    let ahead = if by < 0 { (0..=wanted).rev().find(is_at) } else { (wanted..=last).find(is_at) };
    settle(checks, ahead.unwrap_or(checks.selected), height);
}

/// Chooses the finding at or after a place, and keeps it in sight with the heading above it.
fn settle(checks: &mut Checks, at: usize, height: usize) {
    let is_at = |at: &usize| checks.rows.get(*at).is_some_and(CheckRow::is_finding);
    let at = at.min(checks.rows.len().saturating_sub(1));
    let found = (at..checks.rows.len()).find(is_at).or_else(|| (0..at).rev().find(is_at));
    checks.selected = found.unwrap_or(0);
    let above = checks.selected.checked_sub(1).filter(|above| !is_at(above));
    let most = checks.rows.len().saturating_sub(height);
    checks.top = checks.top.min(above.unwrap_or(checks.selected)).min(most);
    checks.top = checks.top.max((checks.selected + 1).saturating_sub(height));
}

/// Goes to what is chosen, and closes the list.
pub fn accept(state: &mut State) {
    let Mode::Checks(checks) = std::mem::take(&mut state.mode) else { return };
    if let Some(CheckRow::Found { focus, .. }) = checks.rows.get(checks.selected) {
        jump(state, *focus);
    }
}
