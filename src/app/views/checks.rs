//! The view of checks: what the lint found, the worst first, and what else is wrong with calls and records.
//! What a rule finds several times is one row, which opens.

use std::collections::BTreeSet;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::list::List;
use super::page::{Answer, Hint, Page, PageScene, Sheet};
use crate::analysis::lint::{Alike, Finding, Severity, alike};
use crate::app::checks::{self, Check, StatusSign};
use crate::app::input::action::Action;
use crate::app::text::viewport::Focus;
use crate::listing::call::of_severity;
use crate::listing::sort::Value;
use crate::listing::table::{Column, Listing, cell};
use crate::model::body::Key;
use crate::model::figures::count;
use crate::render::theme::Theme;
use crate::render::wrap::{self, Frame};
use crate::session::indexes::Needs;

/// Lines of what follows from the chosen finding.
const FOOT: usize = 3;
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
        let (_, rows) = self.rows.write(&CheckList(scene), scene);
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
        if let Some(answer) = self.rows.act(action, times) {
            return answer;
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

/// The column of how many there are.
const NUMBER: usize = 2;
/// The column of what they are called.
const NAME: usize = 3;

/// The rows of the list.
struct CheckList<'a>(&'a PageScene<'a>);

/// A row that is no heading.
struct CheckCells<'a> {
    sign: (&'static str, Style),
    /// How many of them there are, if they are several.
    number: Option<u64>,
    /// The line of the first one, 0 if unknown.
    line: u32,
    name: &'a str,
    what: &'a str,
    /// Whether its name is said where the column of names has no room.
    needs_name: bool,
}

type CheckColumn<'a> = Column<CheckCells<'a>>;

impl<'a> Listing for CheckList<'a> {
    type Key = CheckRow;
    type Row = CheckCells<'a>;

    fn columns(&self, _: usize) -> Vec<CheckColumn<'a>> {
        vec![
            CheckColumn::words("", 1, 9).cell(|row, _| cell(row.sign.0, row.sign.1)),
            CheckColumn::figures("line", 6, 5)
                .value(|row| Value::int(Some(row.line)))
                .dim(),
            CheckColumn::figures("", 4, 3).value(|row| Value::int(row.number)),
            CheckColumn::words("rule", 22, 4)
                .value(|row| Value::text(Some(row.name)))
                .style(|_, look| look.theme.accent),
            CheckColumn::rest("what", 20).cell(|row, look| {
                let mut words = String::new();
                let has_room = |column: usize| look.widths.get(column).is_some_and(Option::is_some);
                if let Some(number) = row.number.filter(|_| !has_room(NUMBER)) {
                    words += &format!("{number} ");
                }
                if row.needs_name && !has_room(NAME) {
                    words += &format!("{} ", row.name);
                }
                cell(words + row.what, look.focus_or(look.theme.text))
            }),
        ]
    }

    fn row(&self, row: &CheckRow) -> Option<CheckCells<'a>> {
        let Self(scene) = self;
        let of_finding = |finding: &'a Finding| CheckCells {
            sign: of_severity(finding.severity, scene.theme),
            number: None,
            line: finding.place.line,
            name: finding.rule.id,
            what: &finding.message,
            needs_name: false,
        };
        match row {
            CheckRow::Kind(kind) => {
                let kind = alike_of(scene, *kind)?;
                Some(CheckCells {
                    number: Some(kind.count()),
                    needs_name: true,
                    ..of_finding(kind.first)
                })
            }
            CheckRow::Found { is_below: true, .. } => Some(CheckCells {
                sign: ("", scene.theme.dim),
                name: "",
                ..of_finding(found(scene, row)?)
            }),
            CheckRow::Found { .. } => Some(of_finding(found(scene, row)?)),
            CheckRow::Check(kind) => {
                let check = check(scene, *kind)?;
                let at = check.target(scene.transcript);
                let at = at.and_then(|at| scene.transcript.get(at.entry));
                Some(CheckCells {
                    sign: of_check(check.sign, scene.theme),
                    number: check.count,
                    line: at.map_or(0, |entry| entry.origin.line),
                    name: &check.name,
                    what: &check.what,
                    needs_name: true,
                })
            }
            CheckRow::Heading(..) | CheckRow::Good(_) => None,
        }
    }

    fn heading(&self, row: &CheckRow, _width: usize, theme: &Theme) -> Line<'static> {
        match row {
            CheckRow::Heading(severity, found) => heading(*severity, *found, theme),
            CheckRow::Good(words) => Line::styled(*words, theme.dim),
            CheckRow::Kind(_) | CheckRow::Found { .. } | CheckRow::Check(_) => Line::default(),
        }
    }
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
