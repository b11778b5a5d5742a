//! The view of checks: what the lint found, the worst first, and what else is wrong with calls and records.
//! What a rule finds several times is one row, which opens.

use std::collections::BTreeSet;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::list::List;
use super::page::{Answer, Hint, Page, PageScene, Sheet, SheetRow};
use super::table::{Column, Table};
use crate::analysis::lint::{Alike, Finding, Severity, alike};
use crate::app::checks::{self, Check, StatusSign};
use crate::app::input::action::Action;
use crate::app::text::viewport::Focus;
use crate::model::body::Key;
use crate::model::figures::count;
use crate::render::theme::Theme;
use crate::render::wrap::{self, Frame};
use crate::session::indexes::Needs;

/// Lines of what follows from the chosen finding.
const FOOT: usize = 3;
/// Columns of the list.
const COLUMNS: &[Column] = &[
    Column::words("", 1, 9),
    Column::figures("line", 6, 5),
    Column::figures("", 4, 3),
    Column::words("rule", 22, 4),
    Column::rest("what", 20),
];
/// The column of how many there are.
const NUMBER: usize = 2;
/// The column of what they are called.
const NAME: usize = 3;
/// What its keys do.
const HINTS: &[Hint] = &[(&[Action::Unfold, Action::Collapse], "open, close")];

/// The list of findings.
#[derive(Debug)]
pub(crate) struct Checks {
    rows: List<CheckRow>,
    /// Kinds whose findings are listed one by one.
    opened: BTreeSet<Kind>,
    /// State of the checks that the rows were made for.
    generation: Option<u64>,
}

impl Default for Checks {
    fn default() -> Self {
        let can_choose = |row: &CheckRow| {
            !matches!(row, CheckRow::Heading(..) | CheckRow::Good(_)) && *row != PAIRED
        };
        Self {
            rows: List::with_headings(can_choose),
            opened: BTreeSet::new(),
            generation: None,
        }
    }
}

/// It leads nowhere.
const PAIRED: CheckRow = CheckRow::Check(checks::CheckKind::Paired);

/// What a rule finds, and how bad that is.
type Kind = (&'static str, Severity);

/// A row of the list: texts may change while a session goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CheckRow {
    /// How many of a severity follow; none of the lint's where that is `None`.
    Heading(Option<Severity>, u64),
    /// Nothing is wrong, in words.
    Good(&'static str),
    /// Several findings of a kind.
    Kind(Kind),
    /// A finding, alone or below its kind.
    Found {
        focus: Focus,
        rule: &'static str,
        call: Key,
        is_below: bool,
    },
    /// What is no finding.
    Check(checks::CheckKind),
}

impl Checks {
    fn refresh(&mut self, scene: &PageScene<'_>) {
        if self.generation.replace(scene.checks.generation()) != Some(scene.checks.generation()) {
            self.rows.set(rows(scene, &self.opened), scene.follows);
        }
    }

    /// Lists the findings of a kind one by one, or not. The cursor goes to the kind if its row is gone.
    fn open(&mut self, scene: &PageScene<'_>, kind: Kind, is_open: bool) {
        if is_open {
            self.opened.insert(kind);
        } else {
            self.opened.remove(&kind);
        }
        self.rows.set(rows(scene, &self.opened), false);
        self.rows.choose_key(&CheckRow::Kind(kind));
    }
}

/// Findings under the heading of their severity; what else there is stands before what is only noted.
fn rows(scene: &PageScene<'_>, opened: &BTreeSet<Kind>) -> Vec<CheckRow> {
    let mut rows = Vec::new();
    let others = || others(scene).map(|check| CheckRow::Check(check.kind));
    if scene.findings.counts().total() == 0 {
        rows.push(CheckRow::Good(match scene.is_whole {
            false => "The session is still being read.",
            true if others().all(|row| row == PAIRED) => {
                "Nothing found: every call has its result, and nothing else is odd."
            }
            true => "No rule finds anything.",
        }));
    }
    for severity in [
        Some(Severity::Error),
        Some(Severity::Warning),
        None,
        Some(Severity::Note),
    ] {
        match severity {
            Some(severity) => rows.extend(of_lint(scene, opened, severity)),
            None if others().next().is_some() => {
                rows.push(CheckRow::Heading(None, 0));
                rows.extend(others());
            }
            None => {}
        }
    }
    rows
}

/// Findings of a severity, kind by kind.
fn of_lint(scene: &PageScene<'_>, opened: &BTreeSet<Kind>, severity: Severity) -> Vec<CheckRow> {
    let of_it = || {
        scene
            .findings
            .iter()
            .filter(|finding| finding.severity == severity)
    };
    let mut rows: Vec<CheckRow> = Alike::of(of_it())
        .map(|all| CheckRow::Heading(Some(severity), all.count()))
        .into_iter()
        .collect();
    for kind in alike(of_it()) {
        if kind.count() == 1 {
            rows.push(CheckRow::of(kind.first, false));
            continue;
        }
        let key = (kind.first.rule.id, severity);
        rows.push(CheckRow::Kind(key));
        if opened.contains(&key) {
            rows.extend(
                of_it()
                    .filter(|finding| kind.holds(finding))
                    .map(|finding| CheckRow::of(finding, true)),
            );
        }
    }
    rows
}

/// What the lint has no rule for.
fn others<'a>(scene: &PageScene<'a>) -> impl Iterator<Item = &'a Check> + use<'a> {
    scene
        .checks
        .list()
        .iter()
        .filter(|check| !matches!(check.kind, checks::CheckKind::Findings(_)))
}

impl CheckRow {
    fn of(finding: &Finding, is_below: bool) -> Self {
        let focus = Focus {
            entry: finding.entry,
            block: finding.block,
        };
        Self::Found {
            focus,
            rule: finding.rule.id,
            call: finding.call.clone(),
            is_below,
        }
    }
}

impl Page for Checks {
    fn needs(&self) -> Needs {
        Needs {
            findings: true,
            ..Needs::default()
        }
    }

    fn arrange(&mut self, scene: &PageScene<'_>) -> Sheet {
        self.refresh(scene);
        let (height, foot) = scene.divide(0, FOOT);
        self.rows.fit(height);
        let table = Table::fit(COLUMNS, scene.columns());
        let theme = scene.theme;
        let rows = self.rows.window().map(|(number, row, is_chosen)| {
            let line = match row {
                CheckRow::Heading(severity, found) => heading(*severity, *found, theme),
                CheckRow::Good(words) => Line::styled(*words, theme.dim),
                CheckRow::Kind(_) | CheckRow::Found { .. } | CheckRow::Check(_) => {
                    cells(scene, &table, row, is_chosen)
                        .map(|cells| table.row(cells, theme))
                        .unwrap_or_default()
                }
            };
            SheetRow {
                line,
                is_chosen,
                number,
            }
        });
        let rows = rows.collect();
        let foot = if foot > 0 {
            self.foot(scene)
        } else {
            Vec::new()
        };
        Sheet {
            title: title(scene),
            rows,
            foot,
            ..Sheet::default()
        }
    }

    fn act(&mut self, scene: &PageScene<'_>, action: Action, times: usize) -> Answer {
        if self.rows.act(action, times) {
            return Answer::Done;
        }
        let Some(row) = self.rows.chosen() else {
            return Answer::Pass;
        };
        let kind = match row {
            CheckRow::Kind(kind) => Some(*kind),
            CheckRow::Found { .. } => {
                found(scene, row).map(|finding| (finding.rule.id, finding.severity))
            }
            _ => None,
        };
        let Some(kind) = kind else {
            return Answer::Pass;
        };
        let is_open = self.opened.contains(&kind);
        match action {
            Action::Expand if !is_open && *row == CheckRow::Kind(kind) => {
                self.open(scene, kind, true);
            }
            Action::Collapse if is_open => self.open(scene, kind, false),
            Action::ToggleFold if is_open || *row == CheckRow::Kind(kind) => {
                self.open(scene, kind, !is_open);
            }
            _ => return Answer::Pass,
        }
        Answer::Done
    }

    fn look_at(&mut self, scene: &PageScene<'_>, focus: Focus) {
        let is_there = |finding: &&Finding| finding.block == focus.block;
        let of_entry = scene.findings.of_entry(focus.entry);
        if let Some(finding) = of_entry.iter().find(is_there).or(of_entry.first()) {
            self.rows
                .choose_key(&CheckRow::Kind((finding.rule.id, finding.severity)));
            self.rows.choose_key(&CheckRow::of(finding, false));
            self.rows.choose_key(&CheckRow::of(finding, true));
        }
    }

    fn choose(&mut self, number: usize) {
        self.rows.choose(number);
    }

    fn forget(&mut self) {
        *self = Self {
            opened: std::mem::take(&mut self.opened),
            ..Self::default()
        };
    }

    fn hints(&self) -> &'static [Hint] {
        if self
            .rows
            .keys()
            .iter()
            .any(|row| matches!(row, CheckRow::Kind(_)))
        {
            HINTS
        } else {
            &[]
        }
    }

    fn target(&self, scene: &PageScene<'_>) -> Option<Focus> {
        match self.rows.chosen()? {
            CheckRow::Found { focus, .. } => Some(*focus),
            CheckRow::Kind(kind) => alike_of(scene, *kind).map(|kind| Focus {
                entry: kind.first.entry,
                block: kind.first.block,
            }),
            CheckRow::Check(kind) => check(scene, *kind)?.target(scene.transcript),
            CheckRow::Heading(..) | CheckRow::Good(_) => None,
        }
    }
}

/// The finding of a row.
fn found<'a>(scene: &PageScene<'a>, row: &CheckRow) -> Option<&'a Finding> {
    let CheckRow::Found {
        focus, is_below, ..
    } = row
    else {
        return None;
    };
    scene
        .findings
        .of_entry(focus.entry)
        .iter()
        .find(|finding| CheckRow::of(finding, *is_below) == *row)
}

/// All findings of a kind.
fn alike_of<'a>(scene: &PageScene<'a>, (rule, severity): Kind) -> Option<Alike<'a>> {
    Alike::of(
        scene
            .findings
            .iter()
            .filter(|finding| (finding.rule.id, finding.severity) == (rule, severity)),
    )
}

/// What is listed as this, and is no finding.
fn check<'a>(scene: &PageScene<'a>, kind: checks::CheckKind) -> Option<&'a Check> {
    scene.checks.list().iter().find(|check| check.kind == kind)
}

impl Checks {
    /// What is wrong with the chosen one, and what follows from it.
    fn foot(&self, scene: &PageScene<'_>) -> Vec<Line<'static>> {
        let Some(row) = self.rows.chosen() else {
            return Vec::new();
        };
        let (before, finding) = match row {
            CheckRow::Kind(kind) => match alike_of(scene, *kind) {
                Some(kind) => (format!("The first of {}: ", kind.count()), kind.first),
                None => return Vec::new(),
            },
            _ => match found(scene, row) {
                Some(finding) => (String::new(), finding),
                None => return Vec::new(),
            },
        };
        let words = [
            Span::styled(format!("{before}{}: ", finding.message), scene.theme.text),
            Span::styled(finding.consequence(), scene.theme.dim),
        ];
        let mut lines = wrap::wrap(&words, &Frame::of(scene.columns()));
        lines.truncate(FOOT);
        lines
    }
}

fn title(scene: &PageScene<'_>) -> Vec<Span<'static>> {
    let counts = scene.findings.counts();
    let parts = [
        (counts.errors, "error"),
        (counts.warnings, "warning"),
        (counts.notes, "note"),
    ];
    let parts = parts
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| count(*n as u64, what));
    let parts: Vec<String> = parts.collect();
    vec![
        Span::raw("CHECKS"),
        Span::raw(format!("  {}", parts.join(", "))),
    ]
}

fn heading(severity: Option<Severity>, found: u64, theme: &Theme) -> Line<'static> {
    let what = match severity {
        Some(Severity::Error) => "ERRORS",
        Some(Severity::Warning) => "WARNINGS",
        Some(Severity::Note) => "NOTES",
        None => return Line::styled("CALLS AND RECORDS", theme.heading),
    };
    Line::from(vec![
        Span::styled(what, theme.heading),
        Span::styled(format!("  {found}"), theme.dim),
    ])
}

/// The cells of a row that is no heading. What has no room for its name has it before its words.
fn cells(
    scene: &PageScene<'_>,
    table: &Table,
    row: &CheckRow,
    is_chosen: bool,
) -> Option<Vec<Span<'static>>> {
    let theme = scene.theme;
    let (sign, number, line, name, what) = match row {
        CheckRow::Kind(kind) => {
            let kind = alike_of(scene, *kind)?;
            let Finding {
                severity,
                place,
                rule,
                message,
                ..
            } = kind.first;
            (
                of_severity(*severity, theme),
                Some(kind.count()),
                place.line,
                rule.id.to_owned(),
                message,
            )
        }
        CheckRow::Found { is_below, .. } => {
            let Finding {
                severity,
                place,
                rule,
                message,
                ..
            } = found(scene, row)?;
            let (sign, name) = if *is_below {
                (("", theme.dim), "")
            } else {
                (of_severity(*severity, theme), rule.id)
            };
            (sign, None, place.line, name.to_owned(), message)
        }
        CheckRow::Check(kind) => {
            let check = check(scene, *kind)?;
            let at = check
                .target(scene.transcript)
                .and_then(|at| scene.transcript.get(at.entry));
            let line = at.map_or(0, |entry| entry.origin.line);
            (
                of_check(check.sign, theme),
                check.count,
                line,
                check.name.to_string(),
                &check.what,
            )
        }
        CheckRow::Heading(..) | CheckRow::Good(_) => return None,
    };
    let number = number.map(|number| number.to_string()).unwrap_or_default();
    let mut words = String::new();
    if table.width_of(NUMBER).is_none() && !number.is_empty() {
        words += &format!("{number} ");
    }
    if table.width_of(NAME).is_none() && !matches!(row, CheckRow::Found { .. }) {
        words += &format!("{name} ");
    }
    Some(vec![
        Span::styled(sign.0, sign.1),
        Span::styled(
            if line > 0 {
                line.to_string()
            } else {
                String::new()
            },
            theme.dim,
        ),
        Span::styled(number, theme.text),
        Span::styled(name, theme.accent),
        Span::styled(
            words + what,
            if is_chosen { theme.focus } else { theme.text },
        ),
    ])
}

fn of_check(sign: StatusSign, theme: &Theme) -> (&'static str, Style) {
    match sign {
        StatusSign::Bad => (theme.glyphs().outcome.failed, theme.bad),
        StatusSign::Warn => ("!", theme.warn),
        StatusSign::Good => (theme.glyphs().outcome.done, theme.good),
        StatusSign::None | StatusSign::Refused | StatusSign::Open(_) => {
            (theme.glyphs().dot, theme.dim)
        }
    }
}

/// The sign of a severity.
pub(crate) fn of_severity(severity: Severity, theme: &Theme) -> (&'static str, Style) {
    match severity {
        Severity::Error => (theme.glyphs().outcome.failed, theme.bad),
        Severity::Warning => ("!", theme.warn),
        Severity::Note => (theme.glyphs().dot, theme.dim),
    }
}
