//! The view of what the lint found: by severity, the worst first.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::list::List;
use super::page::{Answer, Page, Scene, Sheet, SheetRow};
use super::table::{Column, Table};
use crate::analysis::lint::{Finding, Findings, Severity};
use crate::app::action::Action;
use crate::app::viewport::Focus;
use crate::model::body::Key;
use crate::model::figures::count;
use crate::render::theme::Theme;
use crate::render::wrap::{self, Frame};

/// Lines of what follows from the chosen finding.
const FOOT: usize = 3;
/// Columns of the list.
const COLUMNS: &[Column] = &[
    Column::words("", 1, 9),
    Column::figures("line", 6, 5),
    Column::words("rule", 22, 4),
    Column::rest("what", 20),
];

/// The list of findings.
#[derive(Debug)]
pub struct Checks {
    rows: List<Row>,
    /// State of the findings that the rows were made for.
    generation: Option<u64>,
}

impl Default for Checks {
    fn default() -> Self {
        Self { rows: List::with_headings(|row| matches!(row, Row::Found { .. })), generation: None }
    }
}

/// A row of the list: texts may change while a session goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Row {
    /// How many of a severity follow.
    Heading(Severity, usize),
    /// A finding.
    Found { focus: Focus, rule: &'static str, call: Key },
}

impl Checks {
    fn refresh(&mut self, findings: &Findings, follows: bool) {
        if self.generation == Some(findings.generation()) {
            return;
        }
        self.generation = Some(findings.generation());
        self.rows.set(rows(findings), follows);
    }
}

/// Findings under the heading of their severity.
fn rows(findings: &Findings) -> Vec<Row> {
    let mut rows = Vec::new();
    for severity in [Severity::Error, Severity::Warning, Severity::Note] {
        let of_it: Vec<Row> =
            findings.iter().filter(|finding| finding.severity == severity).map(Row::of).collect();
        if !of_it.is_empty() {
            rows.push(Row::Heading(severity, of_it.len()));
            rows.extend(of_it);
        }
    }
    rows
}

impl Row {
    fn of(finding: &Finding) -> Self {
        let focus = Focus { entry: finding.entry, block: finding.block };
        Self::Found { focus, rule: finding.rule.id, call: finding.call.clone() }
    }
}

fn of_row<'a>(findings: &'a Findings, row: &Row) -> Option<&'a Finding> {
    let Row::Found { focus, .. } = row else { return None };
    findings.of_entry(focus.entry).iter().find(|finding| Row::of(finding) == *row)
}

impl Page for Checks {
    fn arrange(&mut self, scene: &Scene<'_>) -> Sheet {
        self.refresh(scene.findings, scene.follows);
        let (height, foot) = scene.divide(0, FOOT);
        self.rows.fit(height);
        let title = title(scene);
        if self.rows.keys().is_empty() {
            let word = if scene.is_whole {
                "Nothing found: every call has its result, and nothing else is odd."
            } else {
                "The session is still being read."
            };
            let line = Line::styled(word, scene.theme.dim);
            let rows = vec![SheetRow { line, ..SheetRow::default() }];
            return Sheet { title, rows, ..Sheet::default() };
        }
        let table = Table::fit(COLUMNS, scene.columns());
        let rows = self.rows.window().map(|(number, row, is_chosen)| {
            let line = match row {
                Row::Heading(severity, found) => heading(*severity, *found, scene.theme),
                Row::Found { .. } => of_row(scene.findings, row)
                    .map(|finding| table.row(cells(finding, is_chosen, scene.theme), scene.theme))
                    .unwrap_or_default(),
            };
            SheetRow { line, is_chosen, number }
        });
        let rows = rows.collect();
        let foot = if foot > 0 { self.foot(scene) } else { Vec::new() };
        Sheet { title, rows, foot, ..Sheet::default() }
    }

    fn act(&mut self, _: &Scene<'_>, action: Action, times: usize) -> Answer {
        if self.rows.act(action, times) { Answer::Done } else { Answer::Pass }
    }

    fn look_at(&mut self, scene: &Scene<'_>, focus: Focus) {
        let is_there = |finding: &&Finding| finding.block == focus.block;
        let of_entry = scene.findings.of_entry(focus.entry);
        if let Some(finding) = of_entry.iter().find(is_there).or(of_entry.first()) {
            self.rows.choose_key(&Row::of(finding));
        }
    }

    fn choose(&mut self, number: usize) {
        self.rows.choose(number);
    }

    fn forget(&mut self) {
        *self = Self::default();
    }

    fn target(&self, _: &Scene<'_>) -> Option<Focus> {
        match self.rows.chosen()? {
            Row::Found { focus, .. } => Some(*focus),
            Row::Heading(..) => None,
        }
    }
}

impl Checks {
    /// What is wrong with the chosen one, and what follows from it.
    fn foot(&self, scene: &Scene<'_>) -> Vec<Line<'static>> {
        let Some(finding) = self.rows.chosen().and_then(|row| of_row(scene.findings, row)) else {
            return Vec::new();
        };
        let words = [
            Span::styled(format!("{}: ", finding.message), scene.theme.text),
            Span::styled(finding.consequence(), scene.theme.dim),
        ];
        let mut lines = wrap::wrap(&words, &Frame::of(scene.columns()));
        lines.truncate(FOOT);
        lines
    }
}

fn title(scene: &Scene<'_>) -> Vec<Span<'static>> {
    let counts = scene.findings.counts();
    let parts = [(counts.errors, "error"), (counts.warnings, "warning"), (counts.notes, "note")];
    let parts = parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| count(*n as u64, what));
    let parts: Vec<String> = parts.collect();
    vec![Span::raw("CHECKS"), Span::raw(format!("  {}", parts.join(", ")))]
}

fn heading(severity: Severity, found: usize, theme: &Theme) -> Line<'static> {
    let what = match severity {
        Severity::Error => "ERRORS",
        Severity::Warning => "WARNINGS",
        Severity::Note => "NOTES",
    };
    Line::from(vec![Span::styled(what, theme.heading), Span::styled(format!("  {found}"), theme.dim)])
}

fn cells(finding: &Finding, is_chosen: bool, theme: &Theme) -> Vec<Span<'static>> {
    let (sign, style) = sign(finding.severity, theme);
    let line = finding.place.line;
    let line = if line > 0 { line.to_string() } else { String::new() };
    let words = if is_chosen { theme.focus } else { theme.text };
    vec![
        Span::styled(sign, style),
        Span::styled(line, theme.dim),
        Span::styled(finding.rule.id, theme.accent),
        Span::styled(finding.message.clone(), words),
    ]
}

/// The sign of a severity.
pub fn sign(severity: Severity, theme: &Theme) -> (&'static str, Style) {
    match severity {
        Severity::Error => (theme.glyphs().failed, theme.bad),
        Severity::Warning => ("!", theme.warn),
        Severity::Note => (theme.glyphs().dot, theme.dim),
    }
}
